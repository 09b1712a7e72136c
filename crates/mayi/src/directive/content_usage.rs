//! `Content-Usage`: AI usage preferences (USE-1).

use super::{Clause, Directive, Extension, Role};

/// `Content-Usage: /path train-ai=n` prefers that `/path` is not used for training.
pub static CONTENT_USAGE: Directive = Directive {
    name: "Content-Usage",
    aliases: &[],
    misspellings: &[],
    role: Role::Statement,
    extension: Some(Extension::UsagePreferences),
    listed_as: None,
    clause: Clause::USE_1,
    summary: "usage preferences for URLs that the path pattern matches",
};
