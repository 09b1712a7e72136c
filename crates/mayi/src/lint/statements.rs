//! What lints about structured values share: the lines that have them, and where a word stands.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::context::{Context, Entry};
use crate::directive::{APP_DIRECTIVES, Directive};
use crate::span::Span;
use crate::structured::{Member, each_member, split_path};

/// A record with a structured value.
pub(super) struct Structured<'c> {
    pub(super) entry: Entry<'c>,
    /// The value without the path before it.
    pub(super) value: &'c [u8],
    /// Where each word of the value first stands.
    words: OnceCell<HashMap<&'c [u8], usize>>,
}

/// Every record of a directive with a structured value.
pub(super) fn of<'c>(
    context: &Context<'c, '_>,
    directive: &'static Directive,
) -> impl Iterator<Item = Structured<'c>> {
    context.known_records().filter(move |entry| entry.is(directive)).map(|entry| {
        let (_, value) = split_path(entry.record.value);
        Structured { entry, value, words: OnceCell::new() }
    })
}

/// Every application that a line of App-Directives names, with the directives it is given. Lines that do
/// not parse, and members that are no tokens, have lints of their own (APP-3, APP-4).
pub(super) fn each_application<'c>(
    context: &Context<'c, '_>,
    mut visit: impl FnMut(&Structured<'c>, &str, &sfv::Parameters),
) {
    for line in of(context, &APP_DIRECTIVES) {
        each_member(line.value, |member| {
            if let Member::Item(item) = member
                && let Some(application) = item.bare_item.as_token()
            {
                visit(&line, application.as_str(), &item.params);
            }
        });
    }
}

impl Structured<'_> {
    /// Where a word stands in the value, alone; the whole value where it can't be found.
    pub(super) fn span_of(&self, word: &str, context: &Context<'_, '_>) -> Span {
        let belongs = |octet: &u8| octet.is_ascii_alphanumeric() || b"-_.*".contains(octet);
        let value = context.span(self.value);
        let words = self.words.get_or_init(|| {
            let mut words = HashMap::new();
            let mut start = 0;
            for piece in self.value.split(|octet| !belongs(octet)) {
                words.entry(piece).or_insert(start);
                start += piece.len() + 1;
            }
            words
        });
        // A String may be of several words, and is looked for as far as there is budget.
        let is_word = word.as_bytes().iter().all(belongs);
        let looked_for = || {
            let can_look = !is_word && context.spend(1 + self.value.len() / 16);
            can_look.then(|| memchr::memmem::find(self.value, word.as_bytes())).flatten()
        };
        let found = words.get(word.as_bytes()).copied().or_else(looked_for);
        found.filter(|_| !word.is_empty()).map_or(value, |at| {
            let start = value.start + at as u32;
            Span { start, end: start + word.len() as u32 }
        })
    }
}
