//! `Clean-param`: query parameters that do not change the page (WILD-1).

use super::{Clause, Directive, Extension, Role};

/// `Clean-param: ref /articles/` says that `ref` makes no difference below `/articles/`.
pub static CLEAN_PARAM: Directive = Directive {
    name: "Clean-param",
    aliases: &[],
    misspellings: &[],
    role: Role::FileRecord,
    extension: Some(Extension::Records),
    listed_as: Some("clean_param"),
    clause: Clause::WILD_1,
    summary: "query parameters that do not change the page",
};
