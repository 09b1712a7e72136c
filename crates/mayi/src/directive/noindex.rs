//! `Noindex`: a path pattern that should not be indexed (WILD-1).

use super::{Clause, Directive, Extension, Role};

/// `Noindex: /path` was once read by some crawlers. It is reported and never changes access.
pub static NOINDEX: Directive = Directive {
    name: "Noindex",
    aliases: &[],
    misspellings: &[],
    role: Role::GroupRecord,
    extension: Some(Extension::Records),
    listed_as: Some("noindex"),
    clause: Clause::WILD_1,
    summary: "URLs that the path pattern matches should not be indexed",
};
