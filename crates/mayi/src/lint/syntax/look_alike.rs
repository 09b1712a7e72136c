//! A name has letters that look like ASCII letters but are different characters.
//!
//! ## What is wrong
//!
//! A name contains a Cyrillic or Greek letter or a full-width form, usually typed on a keyboard that
//! was switched to another script; or it has a digit in place of a letter. `Disаllow` with a Cyrillic а
//! is not `Disallow`, and `Googlеbot` with a Cyrillic е is not `Googlebot`.
//!
//! ## What crawlers do
//!
//! If the letter is in the name of a record, crawlers do not recognise the name and ignore the line. If
//! it is in the name of a crawler, the line does not match that crawler.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disаllow: /private/
//! ```
//!
//! Type the name again.

use crate::directive::DIRECTIVES;
use crate::lint::characters::{ascii_of, folded};
use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;
use crate::lint::readings::but_read_by;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S009",
    name: "look-alike",
    summary: "a name has letters that only look like the right ones",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_2],
    source: include_str!("look_alike.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for line in context.lines.odd(|oddity| matches!(oddity, Oddity::LookAlike(_))) {
        let Some(Oddity::LookAlike(directive)) = line.oddity else { continue };
        let directive = DIRECTIVES[usize::from(directive)];
        let body = line.content_span(context.text);
        let text = String::from_utf8_lossy(&context.text[body.range()]);
        let is_odd = |(place, c): &(usize, char)| *c != meant(*c, directive.name, *place);
        let mut placed = text.chars().enumerate().zip(text.char_indices());
        let Some(((place, odd), (at, _))) = placed.find(|(character, _)| is_odd(character)) else {
            continue;
        };
        let start = body.start + at as u32;
        let span = Span { start, end: start + odd.len_utf8() as u32 };
        found.report(span, || {
            let name = directive.name;
            // The fix replaces everything up to the colon, or up to what looks like one.
            let colon = text.char_indices().find(|(_, c)| ascii_of(*c) == ':');
            let fix = colon.map(|(at, colon)| {
                let end = body.start + (at + colon.len_utf8()) as u32;
                let edit = Edit::new(Span { start: body.start, end }, format!("{name}:"));
                Fix::unsafe_(format!("write `{name}:`"), vec![edit])
            });
            Draft::new(
                format!("{}, so this is not `{name}`", is_not(odd, meant(odd, name, place))),
                format!(
                    "Crawlers do not recognise the name and ignore the line{}.",
                    but_read_by(context.line_text(&line))
                ),
            )
            .fixed_by(fix)
        });
    }
    for start in context.groups.starts() {
        let Some(name) = look_alike_name(start.record.value) else { continue };
        let text = String::from_utf8_lossy(start.record.value);
        let Some((at, odd)) = text.char_indices().find(|(_, c)| *c != ascii_of(*c)) else { continue };
        let whole = context.span(start.record.value);
        let begin = whole.start + at as u32;
        let span = Span { start: begin, end: begin + odd.len_utf8() as u32 };
        found.report(span, || {
            Draft::new(
                format!("{}, so this is not `{name}`", is_not(odd, ascii_of(odd))),
                format!("Names are compared letter by letter, so the line does not match `{name}`."),
            )
            .fixed_by(Fix::unsafe_(format!("write `{name}`"), vec![Edit::new(whole, name.as_str())]))
        });
    }
}

/// The crawler's name, or `*`, that the value of a user-agent line only looks like.
pub(in crate::lint) fn look_alike_name(value: &[u8]) -> Option<String> {
    if value.is_ascii() || value.len() > 200 {
        return None;
    }
    let name = folded(str::from_utf8(value).ok()?);
    let in_token = |octet: u8| octet.is_ascii_alphanumeric() || b"_-.".contains(&octet);
    (name == "*" || !name.is_empty() && name.bytes().all(in_token)).then_some(name)
}

/// The character that was meant at a place of a directive's name: the one that it looks like, or, of a
/// digit or a capital that looks like another letter, the one that the name has there.
fn meant(character: char, name: &str, place: usize) -> char {
    let letter = name.chars().nth(place);
    match character {
        '0' | '1' | '|' | '5' | '$' | 'I' => {
            letter.filter(|letter| !letter.eq_ignore_ascii_case(&character)).unwrap_or(character)
        }
        other => ascii_of(other),
    }
}

fn is_not(odd: char, meant: char) -> String {
    if odd.is_ascii() {
        return format!("`{odd}` is not `{meant}`");
    }
    format!("`{odd}` (U+{:04X}) is not `{meant}`", u32::from(odd))
}
