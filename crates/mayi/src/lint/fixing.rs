//! Applies the fixes that change no decision.

use std::collections::BTreeMap;

use super::context::Context;
use super::diagnostic::Edit;
use super::found::Found;
use super::look_until;
use super::options::Options;
use crate::robots_txt::RobotsTxt;
use crate::span::Span;

/// A file with its fixes applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fixed {
    /// The octets of the file.
    pub octets: Vec<u8>,
    /// How many fixes of each code were applied.
    pub applied: BTreeMap<&'static str, usize>,
}

/// Applies every safe fix, until none is left. Comments and line ends stay. A file
/// whose octets had to be decoded, or that is larger than the limit, is left as it is.
///
/// ```
/// use mayi::lint::{Options, fix};
///
/// let fixed = fix(b"user agent: *\r\nDisallow /a # why\r\n", &Options::default());
/// assert_eq!(fixed.octets, b"User-agent: *\r\nDisallow: /a # why\r\n");
/// assert_eq!(fixed.applied["S001"], 1);
/// ```
pub fn fix(octets: &[u8], options: &Options) -> Fixed {
    let mut fixed = Fixed { octets: octets.to_vec(), applied: BTreeMap::new() };
    // One lint at a time: the fixes of one lint are compatible, but those of different lints may not be.
    for _ in 0..MOST_ROUNDS {
        let Some((code, count, changed)) = fix_one_lint(&fixed.octets, options) else { break };
        *fixed.applied.entry(code).or_default() += count;
        fixed.octets = changed;
    }
    fixed
}

/// More rounds than there are lints whose fixes could lead to each other.
const MOST_ROUNDS: usize = 40;

/// Applies the safe fixes of the first lint that has some: its code, how many, and the file then.
fn fix_one_lint(octets: &[u8], options: &Options) -> Option<(&'static str, usize, Vec<u8>)> {
    let robots = RobotsTxt::read(octets, options.reading());
    // A fix could move lines from after the limit to before it, and they would suddenly count.
    if robots.cut().is_some() {
        return None;
    }
    let context = Context::new(octets, &robots, options);
    let start = context.text_start()?;
    let mut found = Found::fixes_alone(&context, options);
    let code = look_until(&context, options, &mut found, |lint| lint.fixes, Found::has_fixes)?.code;
    let fixes = found.into_fixes();
    // The stored lines take as much memory as their fixes.
    drop(context);
    let (text, count) = fixes.applied_to(robots.text());
    let text_end = start + robots.text().len();
    let changed = [&octets[..start], &text, &octets[text_end..]].concat();
    (changed.len() <= options.reading().limits().file_octets()).then_some((code, count, changed))
}

/// The edits of many fixes. They are kept without what else a finding has, as there can be one on every line.
#[derive(Default)]
pub(super) struct SafeFixes {
    /// What is replaced, and where its replacement ends in `replacements`.
    edits: Vec<(Span, u32)>,
    replacements: Vec<u8>,
    /// Where the edits of each fix end.
    ends: Vec<u32>,
}

impl SafeFixes {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    /// Adds a fix of these edits, which are in order and do not overlap.
    pub(super) fn add(&mut self, edits: &[Edit]) {
        for edit in edits {
            self.replacements.extend_from_slice(&edit.replacement);
            self.edits.push((edit.span, self.replacements.len() as u32));
        }
        self.ends.push(self.edits.len() as u32);
    }

    /// A text with the fixes applied that do not touch each other, and how many these are.
    fn applied_to(&self, text: &[u8]) -> (Vec<u8>, usize) {
        let edits_of = |fix: usize| {
            let start = fix.checked_sub(1).map_or(0, |before| self.ends[before]);
            start as usize..self.ends[fix] as usize
        };
        let mut in_order: Vec<u32> = (0..self.count() as u32).collect();
        in_order.sort_by_key(|fix| self.edits[edits_of(*fix as usize)].first().map(|(span, _)| *span));
        let (mut edited, mut at, mut count) = (Vec::with_capacity(text.len()), 0, 0);
        for fix in in_order {
            let places = edits_of(fix as usize);
            if self.edits[places.clone()].first().is_none_or(|(first, _)| (first.start as usize) < at) {
                continue;
            }
            for place in places {
                let (span, end) = self.edits[place];
                let start = place.checked_sub(1).map_or(0, |before| self.edits[before].1);
                edited.extend_from_slice(&text[at..span.start as usize]);
                edited.extend_from_slice(&self.replacements[start as usize..end as usize]);
                at = span.end as usize;
            }
            count += 1;
        }
        edited.extend_from_slice(&text[at..]);
        (edited, count)
    }
}
