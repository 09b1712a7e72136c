//! `User-Agent-Purpose`: names the crawlers of a group by what they crawl for (PUR-1).

use super::{Clause, Directive, Extension, GroupStart, Role};

/// `User-Agent-Purpose: EXAMPLE-PURPOSE-1` starts a group for crawlers that have that purpose.
pub static USER_AGENT_PURPOSE: Directive = Directive {
    name: "User-Agent-Purpose",
    aliases: &[],
    misspellings: &[],
    role: Role::StartsGroup(GroupStart::Purpose),
    extension: Some(Extension::Purposes),
    listed_as: None,
    clause: Clause::PUR_1,
    summary: "names a purpose; the group is for crawlers with that purpose",
};
