//! What lines say, by dialect: whether an edit changes it, and what Google makes of a line.

use super::context::directive_of;
use crate::dialect::Dialect;
use crate::directive::{Directive, Role};
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

/// Whether one line can be written as another (or several) and nothing that is decided changes: all
/// that it says in the dialect of the file stays, and what it says about access to Google.
pub(super) fn is_kept(before: &[u8], after: &[u8], dialect: &Dialect) -> bool {
    let about_access = |text| -> Vec<Said<'_>> {
        let all = said(text, &Dialect::GOOGLE).into_iter();
        all.filter(Said::is_about_access).collect()
    };
    said(before, dialect) == said(after, dialect) && about_access(before) == about_access(after)
}
