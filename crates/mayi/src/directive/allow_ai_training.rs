//! `AllowAITraining`: a path pattern that is for training too (WILD-1).

use super::{Clause, Directive, Extension, Role};

/// `AllowAITraining: /path` is about training only, never about access.
pub static ALLOW_AI_TRAINING: Directive = Directive {
    name: "AllowAITraining",
    aliases: &[],
    misspellings: &[],
    role: Role::GroupRecord,
    extension: Some(Extension::Records),
    listed_as: None,
    clause: Clause::WILD_1,
    summary: "URLs that the path pattern matches may be used for training",
};
