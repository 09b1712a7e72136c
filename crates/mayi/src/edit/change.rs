//! Changes of a file by whole lines: which are removed, which are added and where, and which new groups it
//! gets.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use crate::crawler::ProductToken;
use crate::directive::Role;
use crate::format::dominant_end;
use crate::limits::Limits;
use crate::robots_txt::RobotsTxt;

use super::Unedited;

/// What is to change in a file. Lines are counted from 0.
pub(super) struct Change<'r, 't> {
    robots: &'r RobotsTxt<'t>,
    /// The line of each record.
    line_of: Vec<usize>,
    removed: BTreeSet<usize>,
    /// Lines to insert after this many lines of the file.
    inserted: BTreeMap<usize, Vec<Vec<u8>>>,
    /// The lines of new groups below their group-start lines, with the crawlers that they are for.
    groups: IndexMap<Vec<Vec<u8>>, Vec<ProductToken>>,
    /// How many octets their lines have.
    group_octets: usize,
    /// A line to add at the end, after a blank one.
    last: Option<Vec<u8>>,
}

impl<'r, 't> Change<'r, 't> {
    pub(super) fn of(robots: &'r RobotsTxt<'t>) -> Self {
        let lines = robots.lines_of(0..robots.records().len());
        let line_of = lines.iter().map(|line| line.number() as usize - 1).collect();
        let (removed, inserted, groups) = (BTreeSet::new(), BTreeMap::new(), IndexMap::new());
        Self { robots, line_of, removed, inserted, groups, group_octets: 0, last: None }
    }

    /// Removes the line of a record.
    pub(super) fn remove(&mut self, record: usize) -> Result<(), Unedited> {
        let line = self.line_of[record];
        let is_on_it = |other: Option<usize>| other.and_then(|it| self.line_of.get(it)) == Some(&line);
        // `User-agent: a Disallow: /` is a group-start line and a rule (AIA-5): one can't go without the other.
        if is_on_it(record.checked_sub(1)) || is_on_it(Some(record + 1)) {
            return Err(Unedited::TwoOnOneLine { line: line as u32 + 1 });
        }
        self.removed.insert(line);
        Ok(())
    }

    /// Gives a record another value. What else is on its line stays.
    pub(super) fn replace_value(&mut self, record: usize, value: &[u8]) -> Result<(), Unedited> {
        self.remove(record)?;
        let of_record = self.robots.records()[record];
        let (start, octets) = (of_record.start() as usize, self.robots.value(of_record).len());
        let text = self.robots.text();
        let is_end = |octet: &u8| matches!(octet, b'\n' | b'\r');
        let line_start = text[..start].iter().rposition(is_end).map_or(0, |end| end + 1);
        let rest = &text[start + octets..];
        let rest = &rest[..rest.iter().position(is_end).unwrap_or(rest.len())];
        self.insert_at(record, [&text[line_start..start], value, rest].concat());
        Ok(())
    }

    /// Inserts a line where the line of this record is.
    pub(super) fn insert_at(&mut self, record: usize, line: Vec<u8>) {
        self.inserted.entry(self.line_of[record]).or_default().push(line);
    }

    /// Inserts a line after that of this record.
    pub(super) fn insert_after(&mut self, record: usize, line: Vec<u8>) {
        self.inserted.entry(self.line_of[record] + 1).or_default().push(line);
    }

    /// Adds a group. Crawlers that get the same lines get one group together.
    pub(super) fn add_group(
        &mut self,
        lines: Vec<Vec<u8>>,
        crawlers: &[ProductToken],
    ) -> Result<(), Unedited> {
        let octets: usize = lines.iter().map(Vec::len).sum();
        let known = self.groups.entry(lines).or_insert_with(|| {
            self.group_octets += octets;
            Vec::new()
        });
        known.extend_from_slice(crawlers);
        // Each crawler can get a copy of what many groups say: the copies end when no file has room for them.
        if self.group_octets > Limits::LEAST_FILE_OCTETS { Err(Unedited::TooLarge) } else { Ok(()) }
    }

    /// Adds a group of `*` with these lines.
    pub(super) fn add_group_of_all(&mut self, lines: &[&[u8]]) {
        let lines = std::iter::once(&b"User-agent: *"[..]).chain(lines.iter().copied());
        self.groups.insert(lines.map(<[u8]>::to_vec).collect(), Vec::new());
    }

    /// Adds a line at the end of the file, which is for everybody.
    pub(super) fn add_at_end(&mut self, line: Vec<u8>) {
        self.last = Some(line);
    }

    /// The text after the change.
    pub(super) fn applied(mut self) -> Vec<u8> {
        self.join_groups();
        let end = dominant_end(self.robots.text());
        let (open_group, mut text) = (self.open_group(), Vec::new());
        let mut count = 0;
        for (index, line) in self.robots.lines().enumerate() {
            self.write_before(index, open_group, &mut text, end);
            if !self.removed.contains(&index) {
                text.extend_from_slice(line.text());
                text.extend_from_slice(line.end());
            }
            count = index + 1;
        }
        self.write_before(count, open_group, &mut text, end);
        if open_group.is_none() {
            self.write_groups(&mut text, end);
        }
        if let Some(line) = &self.last {
            write_blank(&mut text, end);
            text.extend_from_slice(line);
            text.extend_from_slice(end);
        }
        text
    }

    fn write_before(&self, index: usize, open: Option<usize>, text: &mut Vec<u8>, end: &[u8]) {
        for line in self.inserted.get(&index).into_iter().flatten() {
            end_line(text, end);
            text.extend_from_slice(line);
            text.extend_from_slice(end);
        }
        if open == Some(index) {
            self.write_groups(text, end);
            if !self.groups.is_empty() {
                text.extend_from_slice(end);
            }
        }
    }

    fn write_groups(&self, text: &mut Vec<u8>, end: &[u8]) {
        for (lines, crawlers) in &self.groups {
            write_blank(text, end);
            for token in crawlers {
                text.extend_from_slice(start_line(token).as_slice());
                text.extend_from_slice(end);
            }
            for line in lines {
                text.extend_from_slice(line);
                text.extend_from_slice(end);
            }
        }
    }

    /// If a group of the file has exactly one rule and nothing else, and a new group would be the same, its
    /// crawlers are added to the existing group.
    fn join_groups(&mut self) {
        let records = self.robots.records();
        for group in self.robots.group_ranges() {
            let is_start = |index: &usize| records[*index].starts_group();
            let (starts, others): (Vec<_>, Vec<_>) = group.partition(is_start);
            let ([rule], Some(last)) = (&others[..], starts.last()) else { continue };
            let record = records[*rule];
            if !matches!(record.role(), Role::Rule(_)) || self.removed.contains(&self.line_of[*rule]) {
                continue;
            }
            let same = vec![written(record.directive().name, self.robots.value(record))];
            if let Some(crawlers) = self.groups.shift_remove(&same) {
                for token in &crawlers {
                    self.insert_after(*last, start_line(token));
                }
            }
        }
    }

    /// The line before which new groups must be inserted, if not at the end: if the last group has only
    /// group-start lines, anything after it would join it.
    fn open_group(&self) -> Option<usize> {
        let mut walk = self.robots.dialect().group_walk();
        let mut first = None;
        for (record, line) in self.robots.records().iter().zip(&self.line_of) {
            if self.removed.contains(line) {
                continue;
            }
            if walk.step(record.role()) == crate::directive::GroupStep::Starts {
                first = Some(*line);
            }
        }
        first.filter(|_| !walk.is_behind_rule())
    }
}

/// A record as a line.
pub(super) fn written(name: &str, value: &[u8]) -> Vec<u8> {
    [name.as_bytes(), b": ", value].concat()
}

fn start_line(token: &ProductToken) -> Vec<u8> {
    written("User-agent", token.as_str().as_bytes())
}

/// A blank line below what is there.
fn write_blank(text: &mut Vec<u8>, end: &[u8]) {
    end_line(text, end);
    if !text.is_empty() && !text.ends_with(&[end, end].concat()) {
        text.extend_from_slice(end);
    }
}

/// Ends the last line of a text that has no end.
fn end_line(text: &mut Vec<u8>, end: &[u8]) {
    if !text.is_empty() && !text.ends_with(b"\n") && !text.ends_with(b"\r") {
        text.extend_from_slice(end);
    }
}
