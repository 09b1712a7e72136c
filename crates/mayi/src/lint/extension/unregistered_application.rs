//! An application, or one of its directives, is not registered.
//!
//! ## What is wrong
//!
//! No known application has this identifier, or the application has no known directive with this name.
//!
//! ## What crawlers do
//!
//! An application with this identifier may still use it: `mayi` passes on what is not registered,
//! unchanged (APP-8). If the name is misspelled, no application uses it.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! App-Directives: examplesaerch;widgets=?0
//! ```
//!
//! Write `examplesearch`. `mayi registry list` prints what is registered, and `--registry` adds to it.

use crate::directive::APP_DIRECTIVES;
use crate::lint::nearest;
use crate::lint::prelude::*;
use crate::lint::statements;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X006",
    name: "unregistered-application",
    summary: "an application, or one of its directives, is not registered",
    severity: Severity::Note,
    other_severities: &[Severity::Warning],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::APP_8],
    source: include_str!("unregistered_application.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let registry = context.robots.registry();
    for line in statements::of(context, &APP_DIRECTIVES) {
        line.each_application(|application, directive| {
            let is_registered = registry.application(application).is_some();
            match directive {
                None if !is_registered => {
                    let known = registry.applications().iter().map(|known| &*known.identifier);
                    let message = format!("no application is registered as `{application}`");
                    report(context, found, application, message, nearest(application, known));
                }
                Some((name, _)) if is_registered && registry.directive(application, name).is_none() => {
                    let own = registry.directives().iter();
                    let own = own.filter(|known| known.application == application);
                    let near = nearest(name, own.map(|known| &*known.name));
                    let message = format!("`{application}` has no directive registered as `{name}`");
                    report(context, found, name, message, near);
                }
                _ => {}
            }
        });
    }
}

fn report(
    context: &Context<'_, '_>,
    found: &mut Found<'_>,
    word: &str,
    message: String,
    near: Option<&str>,
) {
    let span = context.span(word.as_bytes());
    found.report(span, || {
        let fix = near.map(|near| Fix::unsafe_(format!("write `{near}`"), vec![Edit::new(span, near)]));
        let severity = if fix.is_some() { Severity::Warning } else { Severity::Note };
        Draft::new(
            message,
            "An application with that name may use it; if the name is misspelled, none does.",
        )
        .about(word)
        .with_severity(severity)
        .fixed_by(fix)
    });
}
