//! `Crawl-delay`: seconds to wait between requests; it never changes access (REP-17).

use super::{Clause, Directive, Extension, Role};

/// `Crawl-delay: 5` asks the crawlers of the group to wait five seconds between requests.
pub static CRAWL_DELAY: Directive = Directive {
    name: "Crawl-delay",
    aliases: &[],
    misspellings: &[],
    role: Role::GroupRecord,
    extension: Some(Extension::Records),
    listed_as: None,
    clause: Clause::WILD_1,
    summary: "how many seconds to wait between two requests",
};
