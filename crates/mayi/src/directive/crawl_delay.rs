//! `Crawl-delay`: seconds to wait between requests; never a matter of access (REP-17).

use super::{Clause, Directive, Role, Spec};

/// `Crawl-delay: 5` asks the crawlers of the group to wait five seconds between requests.
pub static CRAWL_DELAY: Directive = Directive {
    name: "Crawl-delay",
    misspellings: &[],
    role: Role::GroupRecord,
    spec: Spec::Wild,
    clause: Clause::REP_17,
    summary: "how many seconds to wait between two requests",
};
