//! `Disallow`: a path pattern that may not be fetched (REP-8).

use super::{Clause, Directive, Role, RuleKind};

/// `Disallow: /path` does not let the crawlers of the group fetch what the pattern matches.
pub static DISALLOW: Directive = Directive {
    name: "Disallow",
    aliases: &[],
    misspellings: &["disalow", "dissallow", "dissalow", "diasllow", "disallaw"],
    role: Role::Rule(RuleKind::Disallow),
    extension: None,
    listed_as: None,
    clause: Clause::REP_8,
    summary: "URLs that the path pattern matches may not be fetched, unless an allow rule is at least as long",
};
