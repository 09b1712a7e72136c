//! What lints about structured values share: the lines that have them, and where a word stands.

use memchr::memmem;

use super::context::{Context, Entry};
use crate::directive::Directive;
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
