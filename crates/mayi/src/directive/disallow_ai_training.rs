//! `DisallowAITraining`: a path pattern that is not for training (WILD-1).

use super::{Clause, Directive, Extension, Role};

/// `DisallowAITraining: /path` is about training only, never about access.
pub static DISALLOW_AI_TRAINING: Directive = Directive {
    name: "DisallowAITraining",
    aliases: &[],
    misspellings: &[],
    role: Role::GroupRecord,
    extension: Some(Extension::Records),
    listed_as: None,
    clause: Clause::WILD_1,
    summary: "URLs that the path pattern matches may not be used for training",
};
