//! A directive of an application has a value of the wrong type.
//!
//! ## What is wrong
//!
//! The registry says which type the values of a directive have: a Boolean is written `?1` or `?0`, a
//! Token as a word, a String in quotes.
//!
//! ## What crawlers do
//!
//! Crawlers can't use the directive; it is as if it were not there (APP-8).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! App-Directives: examplesearch;widgets=no
//! ```
//!
//! Write `widgets=?0`.

use indexmap::IndexMap;

use crate::directive::APP_DIRECTIVES;
use crate::lint::prelude::*;
use crate::lint::statements;
use crate::structured::{Value, ValueType};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X004",
    name: "wrong-value-type",
    summary: "a directive of an application has a value of the wrong type",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::APP_8],
    source: include_str!("wrong_value_type.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let registry = context.robots.registry();
    for line in statements::of(context, &APP_DIRECTIVES) {
        // Of a directive that is given twice, the later value counts.
        let mut given = IndexMap::new();
        line.each_application(|application, directive| {
            let Some((name, value)) = directive else { return };
            if let Some(known) = registry.directive(application, name) {
                given.insert((application, name), (known.value_type, value));
            }
        });
        for ((application, name), (right, value)) in given {
            let value = Value::of(value.into());
            if value.value_type() == right {
                continue;
            }
            found.report(context.span(name.as_bytes()), || {
                let example = match right {
                    ValueType::Boolean => ", `?1` or `?0`",
                    ValueType::String => ", in double quotes",
                    _ => "",
                };
                Draft::new(
                    format!(
                        "the value {value} of `{name}` is {}, not {}{example}",
                        with_article(value.value_type()),
                        with_article(right)
                    ),
                    format!("`{application}` can't use the directive; it is as if it were not there."),
                )
            });
        }
    }
}

/// The name of a type with its article, for use in a sentence.
fn with_article(value_type: ValueType) -> String {
    let article = if value_type == ValueType::Integer { "an" } else { "a" };
    format!("{article} {}", value_type.name())
}
