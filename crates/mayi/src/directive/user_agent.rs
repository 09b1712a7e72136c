//! `User-agent`: names the crawlers of a group (REP-4).

use super::{Clause, Directive, GroupStart, Role};

/// `User-agent: ExampleBot` starts a group for ExampleBot; `*` starts one for all others.
pub static USER_AGENT: Directive = Directive {
    name: "User-agent",
    aliases: &[],
    misspellings: &["useragent", "user agent"],
    role: Role::StartsGroup(GroupStart::ProductToken),
    extension: None,
    listed_as: None,
    clause: Clause::REP_4,
    summary: "names a crawler that the group is for, by its product token, or `*` for all others",
};
