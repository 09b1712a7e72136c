//! `Visit-time`: when to visit the site (WILD-1).

use super::{Clause, Directive, Extension, Role};

/// `Visit-time: 0600-0845` asks crawlers to come in these hours.
pub static VISIT_TIME: Directive = Directive {
    name: "Visit-time",
    aliases: &[],
    misspellings: &[],
    role: Role::GroupRecord,
    extension: Some(Extension::Records),
    listed_as: Some("visit_time"),
    clause: Clause::WILD_1,
    summary: "the hours in which crawlers may visit the site",
};
