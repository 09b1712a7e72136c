//! `User-agent`: names the crawlers of a group (REP-4).

use super::{Clause, Directive, Role, Spec};

/// `User-agent: ExampleBot` starts a group for ExampleBot; `*` starts one for all others.
pub static USER_AGENT: Directive = Directive {
    name: "User-agent",
    misspellings: &["useragent", "user agent"],
    role: Role::StartsGroup,
    spec: Spec::Rep,
    clause: Clause::REP_4,
    summary: "names a crawler that the group is for, by its product token, or `*` for all others",
};
