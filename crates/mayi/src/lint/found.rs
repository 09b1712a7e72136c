//! Collects what lints find: applies silences, counts, reports one cause in many places as one finding, and
//! limits the list to the requested number per lint and to a sensible length. A finding takes a hundred times
//! the memory of a short line, and a file can have a finding on every line.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hasher, RandomState};

use super::context::Context;
use super::diagnostic::{Diagnostic, Draft, Fix, Place, Related, Tally};
use super::fixing::SafeFixes;
use super::lines::Lines;
use super::options::Options;
use super::silence::{self, Silence};
use super::{LINTS, Severity};
use crate::span::{LineCounter, Position, Span};

/// How many places of a lint are listed for a file, whatever the options say. Once many are listed, fewer are
/// listed of each further lint, so that every lint has some.
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
    findings: Vec<Finding>,
    /// Where the finding of each cause is in the list.
    by_cause: HashMap<u64, usize>,
    hasher: RandomState,
    /// The last message and what it hashes to: a file can have the same finding on each of its lines.
    last_message: (Cow<'static, str>, u64),
    /// How many findings and places of the current lint are listed, and how many places of all.
    listed: usize,
    placed: usize,
    placed_in_all: usize,
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
            findings: Vec::new(),
            by_cause: HashMap::new(),
            hasher: RandomState::new(),
            last_message: Default::default(),
            listed: 0,
            placed: 0,
            placed_in_all: 0,
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
        (self.listed, self.placed) = (0, 0);
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
        let lint = LINTS[self.current];
        debug_assert!(
            draft.severity.is_none_or(|severity| lint.severities().any(|known| known == severity)),
            "{lint:?} does not say that it has this severity"
        );
        let severity = severity.unwrap_or(lint.severity);
        draft.severity = Some(severity);
        let tally = &mut self.tallies[self.current];
        let safe_fix = draft.fix.as_ref().filter(|fix| fix.safe);
        debug_assert!(safe_fix.is_none() || lint.fixes, "{lint:?} has fixes");
        tally.add(severity, safe_fix.is_some());
        if let Some(fixes) = &mut self.fixes {
            if let Some(fix) = safe_fix {
                fixes.add(&fix.edits);
            }
            return;
        }
        self.list(draft);
    }

    /// Lists a finding, or another place of one that is listed, as far as there is room.
    fn list(&mut self, draft: Draft) {
        let has_room = self.placed < self.room();
        let cause = self.cause(&draft);
        if let Some(place) = self.by_cause.get(&cause) {
            self.findings[*place].add(draft, has_room);
        } else if has_room && self.listed < self.options.most_of_each() {
            self.by_cause.insert(cause, self.findings.len());
            self.findings.push(Finding::new(self.current, draft));
            self.listed += 1;
        } else {
            return;
        }
        self.placed += usize::from(has_room);
        self.placed_in_all += usize::from(has_room);
    }

    /// What makes two findings of a lint one: they say the same, but for what they quote from the file and for
    /// numbers, and are about the same subject, if the lint names one. Findings that `--fix` removes are not put
    /// together with others.
    fn cause(&mut self, draft: &Draft) -> u64 {
        if self.last_message.0 != draft.message {
            let mut hasher = self.hasher.build_hasher();
            for part in draft.message.split('`').step_by(2) {
                part.split(|c: char| c.is_ascii_digit()).for_each(|part| hasher.write(part.as_bytes()));
            }
            self.last_message.0.clone_from(&draft.message);
            self.last_message.1 = hasher.finish();
        }
        let is_fixed = draft.fix.as_ref().is_some_and(|fix| fix.safe);
        let of_draft = (self.current, draft.severity, &draft.subject, is_fixed);
        self.hasher.hash_one((of_draft, self.last_message.1))
    }

    /// Whether the next place would be listed. If not, nobody reads its message.
    pub(super) fn lists_more(&self) -> bool {
        self.fixes.is_none() && self.options.most_of_each() > 0 && self.placed < self.room()
    }

    /// How many places of the current lint are listed.
    fn room(&self) -> usize {
        if self.placed_in_all < MANY_LISTED { MOST_OF_A_LINT } else { FEW_OF_A_LINT }
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
        self.findings.sort_by_key(|finding| (finding.first.span, finding.lint));
        for finding in &mut self.findings {
            finding.others.sort_unstable();
        }
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
        let diagnostics = self.findings.into_iter().map(|finding| {
            let (lint, first) = (LINTS[finding.lint], finding.first);
            Diagnostic {
                lint,
                severity: first.severity.unwrap_or(lint.severity),
                place: first.span.map(place),
                count: finding.count,
                others: finding.others.into_iter().map(place).collect(),
                message: first.message.into_owned(),
                reading: first.reading.into_owned(),
                fix: joined(first.fix, finding.fixes),
                related: first
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
        let spans = self.findings.iter().flat_map(|finding| {
            let related = finding.first.related.iter().map(|(span, _)| *span);
            finding.first.span.into_iter().chain(related).chain(finding.others.iter().copied())
        });
        let mut offsets: Vec<u32> = spans.flat_map(|span| [span.start, span.end]).collect();
        offsets.sort_unstable();
        offsets.dedup();
        let mut counter = LineCounter::new(self.text);
        offsets.into_iter().map(|offset| (offset, counter.position_at(offset))).collect()
    }
}

/// One cause, with the places where it is.
struct Finding {
    lint: usize,
    /// The draft for the first place in the file.
    first: Draft,
    count: usize,
    /// The places but the first, as far as they are listed.
    others: Vec<Span>,
    /// Their fixes.
    fixes: Vec<Fix>,
}

impl Finding {
    fn new(lint: usize, first: Draft) -> Self {
        Self { lint, first, count: 1, others: Vec::new(), fixes: Vec::new() }
    }

    /// Adds another place, which is listed only if there is room for it.
    fn add(&mut self, mut draft: Draft, has_room: bool) {
        self.count += 1;
        if !has_room {
            return;
        }
        // Lints look at some lines before others that are above them.
        if draft.span < self.first.span {
            std::mem::swap(&mut self.first, &mut draft);
        }
        self.fixes.extend(draft.fix);
        self.others.extend(draft.span);
    }
}

/// The fix of the first place, and those of the others with it. Where two touch each other, the later one is left out.
fn joined(first: Option<Fix>, mut others: Vec<Fix>) -> Option<Fix> {
    let mut all = first?;
    others.sort_by_key(|fix| fix.edits.first().map(|edit| edit.span));
    let mut places = 0;
    for mut fix in others {
        let end = all.edits.last().map_or(0, |edit| edit.span.end);
        if fix.edits.first().is_some_and(|edit| edit.span.start >= end) {
            all.edits.append(&mut fix.edits);
            places += 1;
        }
    }
    let more = match places {
        0 => String::new(),
        1 => ", and the same in 1 other place".to_owned(),
        _ => format!(", and the same in {places} other places"),
    };
    all.label.push_str(&more);
    Some(all)
}
