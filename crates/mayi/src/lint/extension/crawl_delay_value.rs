//! The value of `Crawl-delay` is not a number of seconds.
//!
//! ## What is wrong
//!
//! `Crawl-delay` is a number, `10` or `0.5`, without a unit.
//!
//! ## What crawlers do
//!
//! Crawlers that support `Crawl-delay` ignore a value that is not a number. Google does not support it
//! at all. A few libraries can't read the whole file because of one bad value.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Crawl-delay: 10 seconds
//! ```
//!
//! Write `Crawl-delay: 10`.

use crate::directive::CRAWL_DELAY;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X012",
    name: "crawl-delay-value",
    summary: "the value of Crawl-delay is not a number of seconds",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::WILD_1],
    source: include_str!("crawl_delay_value.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for entry in context.records_of(&CRAWL_DELAY) {
        let value = entry.record.value;
        let number = str::from_utf8(value).ok().and_then(|text| text.parse::<f64>().ok());
        if number.is_some_and(|number| number.is_finite() && number >= 0.0) {
            continue;
        }
        let span = if value.is_empty() { context.span(entry.record.name) } else { context.span(value) };
        found.report(span, || {
            let digits =
                value.iter().take_while(|octet| octet.is_ascii_digit() || **octet == b'.').count();
            let fix = (digits > 0).then(|| {
                let number = &value[..digits];
                Fix::unsafe_(format!("write {}", quoted(number)), vec![Edit::new(span, number)])
            });
            let message = if value.is_empty() {
                "`Crawl-delay` has no value".to_owned()
            } else {
                format!("{} is not a number of seconds", quoted(value))
            };
            Draft::new(
                message,
                "Crawlers that support Crawl-delay ignore the line; Google ignores every such line.",
            )
            .fixed_by(fix)
        });
    }
}
