//! A directive of an application is deprecated.
//!
//! ## What is wrong
//!
//! The registry lists the directive as deprecated.
//!
//! ## What crawlers do
//!
//! The application may still support the directive, but may stop at any time (APP-8).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! App-Directives: examplesearch;gadgets=?0
//! ```
//!
//! Look for its replacement in the documentation that the registry links to:
//! `mayi registry show gadgets`.

use crate::directive::APP_DIRECTIVES;
use crate::lint::prelude::*;
use crate::lint::statements;
use crate::registry::Status;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X005",
    name: "deprecated-directive",
    summary: "a directive of an application is deprecated",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::APP_8],
    source: include_str!("deprecated_directive.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let registry = context.robots.registry();
    for line in statements::of(context, &APP_DIRECTIVES) {
        line.each_application(|application, directive| {
            let Some((name, _)) = directive else { return };
            let known = registry.directive(application, name);
            let Some(known) = known.filter(|known| known.status == Status::Deprecated) else {
                return;
            };
            found.report(context.span(name.as_bytes()), || {
                let (about, more) = (&known.description, &known.documentation);
                Draft::new(
                    format!("`{name}` of `{application}` is deprecated ({about}; see {more})"),
                    format!("`{application}` may still support it, but may stop at any time."),
                )
            });
        });
    }
}
