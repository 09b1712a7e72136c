//! `Allow`: a path pattern that may be fetched (REP-8).

use super::{Clause, Directive, Role, RuleKind};

/// `Allow: /path` lets the crawlers of the group fetch what the pattern matches.
pub static ALLOW: Directive = Directive {
    name: "Allow",
    aliases: &[],
    misspellings: &[],
    role: Role::Rule(RuleKind::Allow),
    extension: None,
    listed_as: None,
    clause: Clause::REP_8,
    summary: "URLs that the path pattern matches may be fetched, unless a longer pattern disallows them",
};
