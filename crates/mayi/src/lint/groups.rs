//! The groups of a file as lints look at them.
//!
//! A file can have tens of thousands of groups, so the records of all groups are in two lists, and a group is a part
//! of each. What is before the first group is at the start of the second list.

use super::context::Entry;
use crate::directive::RuleKind;

/// The groups of a file (REP-1).
#[derive(Default)]
pub(super) struct Groups<'c> {
    starts: Vec<Entry<'c>>,
    entries: Vec<Entry<'c>>,
    /// Where each group begins in the two lists.
    begins: Vec<(u32, u32)>,
}

/// A group: its group-start lines and what follows them.
#[derive(Clone, Copy)]
pub(super) struct GroupView<'x, 'c> {
    pub(super) starts: &'x [Entry<'c>],
    /// Rules, statements and records, in the order of the file.
    pub(super) entries: &'x [Entry<'c>],
}

impl<'x, 'c> GroupView<'x, 'c> {
    /// Its rules about access.
    pub(super) fn rules(self) -> impl Iterator<Item = (RuleKind, &'x Entry<'c>)> {
        self.entries.iter().filter_map(|entry| Some((entry.kind()?, entry)))
    }
}

impl<'c> Groups<'c> {
    /// None yet, with room for this many records.
    pub(super) fn with_room(starts: usize, entries: usize) -> Self {
        let (starts, entries) = (Vec::with_capacity(starts), Vec::with_capacity(entries));
        Self { starts, entries, begins: Vec::new() }
    }

    /// Adds a group that starts at this line.
    pub(super) fn start(&mut self, start: Entry<'c>) {
        self.begins.push((self.starts.len() as u32, self.entries.len() as u32));
        self.join(start);
    }

    /// Adds a group-start line to the last group.
    pub(super) fn join(&mut self, start: Entry<'c>) {
        self.starts.push(start);
    }

    /// Adds a record to the last group, or to those before the first.
    pub(super) fn add(&mut self, entry: Entry<'c>) {
        self.entries.push(entry);
    }

    /// Rules, statements and records of a group that are before every group-start line.
    pub(super) fn outside(&self) -> &[Entry<'c>] {
        let end = self.begins.first().map_or(self.entries.len(), |(_, entries)| *entries as usize);
        &self.entries[..end]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.begins.is_empty()
    }

    /// The group at a place.
    pub(super) fn at(&self, place: usize) -> GroupView<'_, 'c> {
        let (starts, entries) = self.begins[place];
        let end = self.begins.get(place + 1).copied();
        let (starts_end, entries_end) =
            end.unwrap_or((self.starts.len() as u32, self.entries.len() as u32));
        GroupView {
            starts: &self.starts[starts as usize..starts_end as usize],
            entries: &self.entries[entries as usize..entries_end as usize],
        }
    }

    /// All of them, in the order of the file.
    pub(super) fn iter(&self) -> impl Iterator<Item = GroupView<'_, 'c>> {
        (0..self.begins.len()).map(|place| self.at(place))
    }

    /// The group-start lines of all of them.
    pub(super) fn starts(&self) -> &[Entry<'c>] {
        &self.starts
    }

    /// The rules about access of all of them.
    pub(super) fn rules(&self) -> impl Iterator<Item = (RuleKind, &Entry<'c>)> {
        let entries = &self.entries[self.outside().len()..];
        GroupView { starts: &self.starts, entries }.rules()
    }
}
