//! A name is written with letters that look like ASCII's and are others.
//!
//! ## What is wrong
//!
//! A Cyrillic or Greek letter or a full-width form stands in a name, mostly from a keyboard that was
//! switched to another script. `Disаllow` with a Cyrillic а is not `Disallow`.
//!
//! ## What crawlers make of it
//!
//! The name is not recognised, and the line is passed over.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disаllow: /private/
//! ```
//!
//! Type the name anew.

use crate::lint::characters::ascii_of;
use crate::lint::meaning::but_google;
use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S009",
    name: "look-alike",
    summary: "a name has letters that only look like the right ones",
    severity: Severity::Error,
    by_default: true,
    clauses: &[Clause::REP_2],
    source: include_str!("look_alike.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for line in &context.lines {
        let Some(Oddity::LookAlike(directive)) = line.oddity else { continue };
        let body = line.content_span(context.text);
        let text = String::from_utf8_lossy(&context.text[body.range()]);
        let Some((at, odd)) = text.char_indices().find(|(_, c)| *c != ascii_of(*c)) else { continue };
        let start = body.start + at as u32;
        let span = Span { start, end: start + odd.len_utf8() as u32 };
        found.report(span, || {
            let name = directive.name;
            // Up to the colon, or what looks like one, everything is typed anew.
            let colon = text.char_indices().find(|(_, c)| ascii_of(*c) == ':');
            let fix = colon.map(|(at, colon)| {
                let end = body.start + (at + colon.len_utf8()) as u32;
                let edit = Edit::new(Span { start: body.start, end }, format!("{name}:"));
                Fix::unsafe_(format!("write `{name}:`"), vec![edit])
            });
            let (code, like) = (u32::from(odd), ascii_of(odd));
            Draft::new(
                format!("`{odd}` (U+{code:04X}) is not `{like}`, so that this is not `{name}`"),
                format!(
                    "Crawlers do not recognise the name and pass the line over{}.",
                    but_google(context.line_text(line))
                ),
            )
            .fixed_by(fix)
        });
    }
}
