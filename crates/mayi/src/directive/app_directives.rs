//! `App-Directives`: what the site asks of named applications (APP-1).

use super::{Clause, Directive, Extension, Role};

/// `App-Directives: /path examplesearch;widgets=?0` asks examplesearch to leave `/path` out of widgets.
pub static APP_DIRECTIVES: Directive = Directive {
    name: "App-Directives",
    aliases: &["App-Directive"],
    misspellings: &[],
    role: Role::Statement,
    extension: Some(Extension::AppDirectives),
    listed_as: None,
    clause: Clause::APP_1,
    summary: "what applications are asked to do with URLs that the path pattern matches",
};
