//! What lines say in each dialect: whether an edit changes it, and how the other dialects that have a reader
//! read a line.

use super::context::directive_of;
use crate::dialect::Dialect;
use crate::directive::{Directive, GroupStep, Role, RuleKind};
use crate::syntax::{self, Content};

/// What a line says to those who read it in a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said<'l> {
    pub(super) directive: &'static Directive,
    pub(super) value: &'l [u8],
}

impl Said<'_> {
    /// Whether it can matter to who may fetch what.
    fn is_about_access(&self) -> bool {
        matches!(self.directive.role, Role::StartsGroup(_) | Role::Rule(_))
    }
}

/// What a text of one line or several says, record by record.
pub(super) fn said<'l>(text: &'l [u8], dialect: &Dialect) -> Vec<Said<'l>> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(line) = syntax::line_from(text, at) {
        at = line.next;
        let Content::Record(mut record) = syntax::read_line(&text[line.start..line.end], dialect)
        else {
            continue;
        };
        let inline = syntax::inline_rule(&record, dialect);
        if let Some((value, _)) = inline {
            record.value = value;
        }
        for record in std::iter::once(record).chain(inline.map(|(_, rule)| rule)) {
            let directive = directive_of(&record);
            all.extend(directive.map(|directive| Said { directive, value: record.value }));
        }
    }
    all
}

/// Whether one line can be replaced by another (or several) without changing a decision: everything that it
/// says in the dialect of the file stays, and so does what it says about access in the others.
pub(super) fn is_kept(before: &[u8], after: &[u8], dialect: &Dialect) -> bool {
    fn about_access<'l>(text: &'l [u8], dialect: &Dialect) -> impl Iterator<Item = Said<'l>> {
        said(text, dialect).into_iter().filter(Said::is_about_access)
    }
    said(before, dialect) == said(after, dialect)
        && Dialect::met().all(|(met, _)| about_access(before, met).eq(about_access(after, met)))
}

/// The first of those who read by another dialect that finds a record in this text, and the record.
pub(super) fn said_to_another(text: &[u8]) -> Option<(&'static str, Said<'_>)> {
    Dialect::met().find_map(|(dialect, reader)| Some((reader, *said(text, dialect).first()?)))
}

/// What one reader finds in a line that others drop, as the end of a sentence about them.
pub(super) fn but_read_by(line: &[u8]) -> String {
    match said_to_another(line) {
        Some((reader, said)) => {
            let value = super::quoted(said.value);
            format!(", but {reader} reads `{}: {}`", said.directive.name, value.trim_matches('`'))
        }
        None => String::new(),
    }
}

/// The groups of a file in one of the dialects that have a reader.
pub(super) struct MetGroups<'l> {
    pub(super) dialect: &'static Dialect,
    /// For each line, the group that it is in.
    of_line: Vec<u32>,
    /// Every rule: what it says, and its pattern.
    pub(super) rules: Vec<(RuleKind, &'l [u8])>,
}

impl<'l> MetGroups<'l> {
    pub(super) fn of(dialect: &'static Dialect, lines: impl Iterator<Item = &'l [u8]>) -> Self {
        let mut groups = Self { dialect, of_line: Vec::new(), rules: Vec::new() };
        let mut group = 0;
        let mut walk = dialect.group_walk();
        for line in lines {
            let all = if line.is_empty() { Vec::new() } else { said(line, dialect) };
            for said in all {
                let role = said.directive.role;
                if walk.step(role) == GroupStep::Starts {
                    group += 1;
                }
                if let Role::Rule(kind) = role
                    && !said.value.is_empty()
                {
                    groups.rules.push((kind, said.value));
                }
            }
            groups.of_line.push(group);
        }
        groups
    }

    /// Whether two lines are in the same group.
    pub(super) fn are_together(&self, one: usize, other: usize) -> bool {
        self.of_line[one] == self.of_line[other]
    }
}
