//! `Content-Signal`: what content may be used for, for a group or, before any, for the file (WILD-1).

use super::{Clause, Directive, Extension, Role};

/// `Content-Signal: search=yes, ai-train=no` is about search, AI input and AI training.
pub static CONTENT_SIGNAL: Directive = Directive {
    name: "Content-Signal",
    aliases: &[],
    misspellings: &[],
    role: Role::GroupRecord,
    extension: Some(Extension::Records),
    listed_as: None,
    clause: Clause::WILD_1,
    summary: "whether content may be used for search, as AI input and for AI training",
};
