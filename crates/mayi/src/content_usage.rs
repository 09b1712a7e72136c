//! The Content-Usage rules of a file → what they say about a target (USE-1 to USE-3).

use crate::directive::CONTENT_USAGE;
use crate::forms::Forms;
use crate::preference::Statement;
use crate::robots_txt::{Record, RobotsTxt};
use crate::selection::Selection;
use crate::span::{LineCounter, LineNumber};
use crate::structured::{octets_of_path, split_path};

/// The Content-Usage rules of a file that decide about a target: the longest that match, combined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FilePreferences {
    /// Each with its line, in file order.
    pub(crate) deciding: Vec<(LineNumber, Said)>,
}

/// What a Content-Usage rule says. One that can't be read still counts for its path: no shorter path is used
/// instead (USE-3).
pub(crate) type Said = Result<Statement, Unread>;

/// Why nothing can be read from a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Its Dictionary does not parse.
    NoDictionary,
    /// It has none.
    Missing,
}

impl FilePreferences {
    /// What the rules say together. A rule that can't be read means unknown, so the other rules of the same
    /// path still count.
    pub(crate) fn combined(&self) -> Statement {
        let all = self.deciding.iter().filter_map(|(_, said)| said.as_ref().ok());
        all.fold(Statement::default(), Statement::combined)
    }
}

/// What the groups of a crawler say about a target.
pub(crate) fn of_file(
    robots: &RobotsTxt<'_>,
    selection: &Selection,
    forms: &Forms<'_>,
) -> FilePreferences {
    let mut deciding = Vec::new();
    let mut most = 0;
    for record in selection.non_rules(robots).filter(|record| record.is(&CONTENT_USAGE)) {
        let (path, dictionary) = split_path(robots.value(record));
        let Some(octets) = octets_of_path(path, forms, robots.dialect().comparison) else { continue };
        if octets < most {
            continue;
        }
        if octets > most {
            deciding.clear();
            most = octets;
        }
        deciding.push((record, dictionary));
    }
    let mut counter = LineCounter::new(robots.text());
    let with_line = |(record, dictionary): (Record, &[u8])| {
        let said = match Statement::parse(dictionary) {
            _ if dictionary.is_empty() => Err(Unread::Missing),
            Some(statement) => Ok(statement),
            None => Err(Unread::NoDictionary),
        };
        (counter.line_at(record.start()), said)
    };
    FilePreferences { deciding: deciding.into_iter().map(with_line).collect() }
}
