//! `License`: where the terms for using the content are (WILD-1).

use super::{Clause, Directive, Extension, Role};

/// `License: https://example.com/license.xml` points at machine-readable terms.
pub static LICENSE: Directive = Directive {
    name: "License",
    aliases: &[],
    misspellings: &[],
    role: Role::FileRecord,
    extension: Some(Extension::Records),
    listed_as: Some("license"),
    clause: Clause::WILD_1,
    summary: "the URL of the terms on which the content may be used",
};
