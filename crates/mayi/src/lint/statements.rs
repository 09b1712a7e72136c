//! What lints about structured values share: the lines that have them, and where a word stands.

use memchr::memmem;

use super::context::{Context, Entry};
use crate::directive::{APP_DIRECTIVES, Directive};
use crate::span::Span;
use crate::structured::split_path;

/// A record with a structured value.
pub(super) struct Structured<'c> {
    pub(super) entry: Entry<'c>,
    /// The value without the path before it.
    pub(super) value: &'c [u8],
}

/// Every record of a directive with a structured value.
pub(super) fn of<'c>(
    context: &Context<'c, '_>,
    directive: &'static Directive,
) -> impl Iterator<Item = Structured<'c>> {
    context.known_records().filter(move |entry| entry.is(directive)).map(|entry| {
        let (_, value) = split_path(entry.record.value);
        Structured { entry, value }
    })
}

/// Every application that a line of App-Directives names, with the directives it is given. Lines that do
/// not parse, and members that are no tokens, have lints of their own (APP-3, APP-4).
pub(super) fn each_application<'c>(
    context: &Context<'c, '_>,
    mut visit: impl FnMut(&Structured<'c>, &str, &sfv::Parameters),
) {
    for line in of(context, &APP_DIRECTIVES) {
        let Ok(list) = sfv::Parser::new(line.value).parse::<sfv::List>() else { continue };
        for entry in &list {
            let sfv::ListEntry::Item(item) = entry else { continue };
            if let Some(application) = item.bare_item.as_token() {
                visit(&line, application.as_str(), &item.params);
            }
        }
    }
}

impl Structured<'_> {
    /// Where a word stands in the value, alone; the whole value where it can't be found.
    pub(super) fn span_of(&self, word: &str, context: &Context<'_, '_>) -> Span {
        let in_word = |octet: Option<&u8>| {
            octet.is_some_and(|octet| octet.is_ascii_alphanumeric() || b"-_.*".contains(octet))
        };
        let is_alone = |at: &usize| {
            let before = at.checked_sub(1).and_then(|before| self.value.get(before));
            !in_word(before) && !in_word(self.value.get(at + word.len()))
        };
        let value = context.span(self.value);
        let found = memmem::find_iter(self.value, word.as_bytes()).find(is_alone);
        found.filter(|_| !word.is_empty()).map_or(value, |at| {
            let start = value.start + at as u32;
            Span { start, end: start + word.len() as u32 }
        })
    }
}
