//! Collects what lints find: applies silences, counts, and limits the list to the requested number per
//! lint and to a sensible length. A finding takes a hundred times the memory of a short line, and a
//! file can have a finding on every line.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use super::context::Context;
use super::diagnostic::{Diagnostic, Draft, Place, Related, Tally};
use super::fixing::SafeFixes;
use super::lines::Lines;
use super::options::Options;
use super::silence::{self, Silence};
use super::{LINTS, Severity};
use crate::span::{LineCounter, Position, Span};

/// How many findings of a lint are listed for a file, whatever the options say. Those of others find room in
/// every list: once there are many, fewer are listed of each lint that comes after.
const MOST_OF_A_LINT: usize = 1000;
const MANY_LISTED: usize = 5000;
const FEW_OF_A_LINT: usize = 100;

/// What was found so far.
pub(super) struct Found<'c> {
    text: &'c [u8],
    lines: &'c Lines<'c>,
    /// Whether the file starts with a part of a byte order mark.
    has_partial_mark: bool,
    options: &'c Options,
    silences: Vec<Silence>,
    /// For each line and lint that is silenced there, whether there was something to silence.
    silenced: HashMap<(u32, u8), Cell<bool>>,
    /// The lint that looks now.
    current: usize,
    drafts: Vec<(usize, Draft)>,
    /// What is collected instead of drafts, where that is all that is wanted.
    fixes: Option<SafeFixes>,
    tallies: Vec<Tally>,
}

impl<'c> Found<'c> {
    pub(super) fn new(context: &'c Context<'_, '_>, options: &'c Options) -> Self {
        let silences = silence::of_lines(context.text, &context.lines);
        let known = silences.iter().filter_map(|silence| Some((silence.line, silence.lint?)));
        Self {
            silenced: known.map(|place| (place, Cell::new(false))).collect(),
            text: context.text,
            lines: &context.lines,
            has_partial_mark: context.text_start() == Some(0)
                && context.octets().first() == Some(&0xEF),
            options,
            silences,
            current: 0,
            drafts: Vec::new(),
            fixes: None,
            tallies: vec![Tally::default(); LINTS.len()],
        }
    }

    /// The same for the fixes that are safe alone.
    pub(super) fn fixes_alone(context: &'c Context<'_, '_>, options: &'c Options) -> Self {
        Self { fixes: Some(SafeFixes::default()), ..Self::new(context, options) }
    }

    /// The fixes that were found.
    pub(super) fn into_fixes(self) -> SafeFixes {
        self.fixes.unwrap_or_default()
    }

    /// Whether a fix was found.
    pub(super) fn has_fixes(&self) -> bool {
        self.fixes.as_ref().is_some_and(|fixes| fixes.count() > 0)
    }

    /// What is reported from now on is of this lint.
    pub(super) fn start(&mut self, lint: usize) {
        self.current = lint;
    }

    /// A finding at a place, which does not go over the end of its line.
    pub(super) fn report(&mut self, span: Span, draft: impl FnOnce() -> Draft) {
        if self.is_silenced(span) {
            return;
        }
        self.keep(|| Draft { span: Some(span), ..draft() });
    }

    /// A finding about the page or the whole file.
    pub(super) fn report_whole(&mut self, draft: impl FnOnce() -> Draft) {
        self.keep(draft);
    }

    /// Every silence, for the lint that looks for those that nothing is silenced by.
    pub(super) fn unused_silences(&self) -> Vec<(Span, bool)> {
        let is_used = |silence: &Silence, lint: u8| self.silenced[&(silence.line, lint)].get();
        let is_enabled = |lint: u8| self.options.is_enabled(usize::from(lint));
        let is_unused = |silence: &&Silence| {
            silence.lint.is_none_or(|lint| is_enabled(lint) && !is_used(silence, lint))
        };
        let unused = self.silences.iter().filter(is_unused);
        unused.map(|silence| (silence.span, silence.lint.is_some())).collect()
    }

    /// Counts a finding, and lists it unless there are enough. One that is not listed also counts by its
    /// severity: the exit status of a command must not depend on how much it shows.
    fn keep(&mut self, draft: impl FnOnce() -> Draft) {
        let mut draft = draft();
        if let (Some(fix), true) = (&mut draft.fix, self.has_partial_mark) {
            // Some crawlers skip part of a byte order mark, so they read another first line.
            let first_end = self.lines.end_of_first();
            fix.safe &= fix.edits.iter().all(|edit| edit.span.start >= first_end);
        }
        let severity: Option<Severity> = self.options.severity(self.current).or(draft.severity);
        let severity = severity.unwrap_or(LINTS[self.current].severity);
        draft.severity = Some(severity);
        let tally = &mut self.tallies[self.current];
        let safe_fix = draft.fix.as_ref().filter(|fix| fix.safe);
        debug_assert!(
            safe_fix.is_none() || LINTS[self.current].fixes,
            "{:?} has fixes",
            LINTS[self.current]
        );
        tally.add(severity, safe_fix.is_some());
        if let Some(fixes) = &mut self.fixes {
            if let Some(fix) = safe_fix {
                fixes.add(&fix.edits);
            }
            return;
        }
        if self.tallies[self.current].total() <= self.room() {
            self.drafts.push((self.current, draft));
        }
    }

    /// Whether the next finding would be listed. If not, nobody reads its message.
    pub(super) fn lists_more(&self) -> bool {
        self.fixes.is_none() && self.tallies[self.current].total() < self.room()
    }

    /// How many findings of the current lint are listed.
    fn room(&self) -> usize {
        let room = if self.drafts.len() < MANY_LISTED { MOST_OF_A_LINT } else { FEW_OF_A_LINT };
        self.options.most_of_each().min(room)
    }

    fn is_silenced(&self, span: Span) -> bool {
        if self.silences.is_empty() {
            return false;
        }
        let line = self.lines.index_at(span.start);
        let silenced = self.silenced.get(&(line as u32, self.current as u8));
        silenced.inspect(|used| used.set(true)).is_some()
    }

    /// The diagnostics, in the order of the text, and how many of each code there are.
    pub(super) fn finish(mut self) -> (Vec<Diagnostic>, BTreeMap<&'static str, Tally>) {
        self.drafts.sort_by_key(|(lint, draft)| (draft.span, *lint));
        let places = self.places();
        let place = |span: Span| {
            let (start, end) = (places[&span.start], places[&span.end]);
            Place {
                span,
                line: start.line,
                column: start.column,
                end_column: end.column,
                utf16_column: start.utf16_column,
                utf16_end_column: end.utf16_column,
            }
        };
        let diagnostics = self.drafts.into_iter().map(|(index, draft)| {
            let lint = LINTS[index];
            Diagnostic {
                lint,
                severity: draft.severity.unwrap_or(lint.severity),
                place: draft.span.map(place),
                message: draft.message,
                reading: draft.reading,
                fix: draft.fix,
                related: draft
                    .related
                    .into_iter()
                    .map(|(span, message)| Related { place: place(span), message })
                    .collect(),
            }
        });
        let diagnostics = diagnostics.collect();
        let tallies = self.tallies.iter().zip(LINTS).filter(|(tally, _)| tally.total() > 0);
        (diagnostics, tallies.map(|(tally, lint)| (lint.code, *tally)).collect())
    }

    /// Line and column of every offset that a draft names, found in one pass.
    fn places(&self) -> BTreeMap<u32, Position> {
        let spans = self.drafts.iter().flat_map(|(_, draft)| {
            draft.span.into_iter().chain(draft.related.iter().map(|(span, _)| *span))
        });
        let mut offsets: Vec<u32> = spans.flat_map(|span| [span.start, span.end]).collect();
        offsets.sort_unstable();
        offsets.dedup();
        let mut counter = LineCounter::new(self.text);
        offsets.into_iter().map(|offset| (offset, counter.position_at(offset))).collect()
    }
}
