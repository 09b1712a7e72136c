//! What lints about structured values share: the lines that have them, and where a word is.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::context::{Context, Entry};
use crate::directive::Directive;
use crate::span::Span;
use crate::structured::{Part, each_part, split_path};

/// A record with a structured value.
pub(super) struct Structured<'c> {
    pub(super) entry: Entry<'c>,
    /// The value without the path before it.
    pub(super) value: &'c [u8],
    /// The first place of each word in the value.
    words: OnceCell<HashMap<&'c [u8], usize>>,
}

/// Every record of a directive with a structured value.
pub(super) fn of<'c>(
    context: &Context<'c, '_>,
    directive: &'static Directive,
) -> impl Iterator<Item = Structured<'c>> {
    context.records_of(directive).map(|entry| {
        let (_, value) = split_path(entry.record.value);
        Structured { entry, value, words: OnceCell::new() }
    })
}

impl<'c> Structured<'c> {
    /// Tells of the applications that a line of App-Directives names, each time alone and then with each of the
    /// directives that it is given. A value that does not parse, and members that are not tokens, have lints of
    /// their own (APP-3, APP-4).
    pub(super) fn each_application(
        &self,
        mut tell: impl FnMut(&'c str, Option<(&'c str, sfv::BareItemFromInput<'c>)>),
    ) {
        let mut application = None;
        each_part(self.value, |part| match part {
            Part::Item(sfv::BareItemFromInput::Token(name)) => {
                application = Some(name.as_str());
                tell(name.as_str(), None);
            }
            Part::Item(_) | Part::InnerList => application = None,
            Part::Parameter(name, value) => {
                if let Some(application) = application {
                    tell(application, Some((name, value)));
                }
            }
        });
    }
}

impl Structured<'_> {
    /// The span of a whole word in the value; the span of the value if it can't be found.
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
