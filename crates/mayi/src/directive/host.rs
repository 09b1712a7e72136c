//! `Host`: the preferred mirror of a site (WILD-1).

use super::{Clause, Directive, Extension, Role};

/// `Host: www.example.com` names the mirror to prefer.
pub static HOST: Directive = Directive {
    name: "Host",
    aliases: &[],
    misspellings: &[],
    role: Role::FileRecord,
    extension: Some(Extension::Records),
    listed_as: Some("host"),
    clause: Clause::WILD_1,
    summary: "the preferred mirror of the site",
};
