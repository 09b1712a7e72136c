//! A member of `App-Directives` is not the name of an application.
//!
//! ## What is wrong
//!
//! The members of the List have to be Tokens: the identifiers of applications, without quotes and
//! brackets.
//!
//! ## What crawlers do
//!
//! Crawlers ignore the member and use the others (APP-3).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! App-Directives: "examplesearch";widgets=?0
//! ```
//!
//! Write `examplesearch;widgets=?0`.

use crate::directive::APP_DIRECTIVES;
use crate::lint::prelude::*;
use crate::lint::statements;
use crate::structured::{Part, each_part};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X003",
    name: "member-not-a-token",
    summary: "a member of App-Directives is not the name of an application",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::APP_3],
    source: include_str!("member_not_a_token.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for line in statements::of(context, &APP_DIRECTIVES) {
        let mut place = 0;
        each_part(line.value, |part| {
            place += usize::from(!matches!(part, Part::Parameter(..)));
            let (what, word) = match &part {
                Part::Item(sfv::BareItemFromInput::Token(_)) | Part::Parameter(..) => return,
                Part::Item(item) => match item.as_string() {
                    Some(text) => ("a String", text.as_str()),
                    None => ("not a Token", ""),
                },
                Part::InnerList => ("an Inner List", ""),
            };
            found.report(line.span_of(word, context), || {
                Draft::new(
                    format!("member {place} of the List is {what}, not the identifier of an application"),
                    "Crawlers that read App-Directives ignore the member; others ignore the line anyway.",
                )
            });
        });
    }
}
