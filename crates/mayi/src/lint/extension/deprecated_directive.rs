//! A directive of an application is no longer to be used.
//!
//! ## What is wrong
//!
//! The registry has the directive as deprecated.
//!
//! ## What crawlers make of it
//!
//! Its application may still heed it, and may stop to at any time (APP-8).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! App-Directives: examplesearch;gadgets=?0
//! ```
//!
//! Look up what stands for it in the documentation that the registry names: `mayi registry show gadgets`.

use crate::lint::prelude::*;
use crate::lint::statements;
use crate::registry::Status;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X005",
    name: "deprecated-directive",
    summary: "a directive of an application is no longer to be used",
    severity: Severity::Warning,
    by_default: true,
    clauses: &[Clause::APP_8],
    source: include_str!("deprecated_directive.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let registry = context.robots.registry();
    statements::each_application(context, |line, application, parameters| {
        for name in parameters.keys() {
            let known = registry.directive(application, name.as_str());
            let Some(known) = known.filter(|known| known.status == Status::Deprecated) else {
                continue;
            };
            found.report(line.span_of(name.as_str(), context), || {
                let (about, more) = (&known.description, &known.documentation);
                Draft::new(
                    format!("`{name}` of `{application}` is deprecated ({about}; see {more})"),
                    format!("`{application}` may still heed it, and may stop to at any time."),
                )
            });
        }
    });
}
