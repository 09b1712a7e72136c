//! What a file has that the grammar does not derive: read as meant, or dropped, line by line.
//!
//! Found by reading the text again, so that deciding pays nothing for it. This is the raw material of
//! a lint, not a lint: it says what happened, with position and clause, and passes no judgement.

use crate::directive::Role;
use crate::robots_txt::{Line, LineRecord, RobotsTxt};
use crate::span::{LineNumber, Span};
use crate::spec::Clause;

/// One place where a file is irregular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Irregularity {
    kind: IrregularityKind,
    line: LineNumber,
    span: Span,
}

/// What is irregular about a line, or about the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IrregularityKind {
    /// The line is neither a record nor a comment, and was dropped.
    Unreadable,
    /// The name is a misspelling that is read as meant.
    Misspelled,
    /// White space stands for the colon, and is read as meant.
    MissingColon,
    /// The rule stands before every group-start line, and was ignored.
    RuleOutsideGroup,
    /// The pattern starts with neither `/` nor `*` and can't match anything.
    NeverMatches,
    /// The size limit was reached here, and the rest of the file was not read.
    FileTooLarge,
}

impl Irregularity {
    /// What it is.
    pub fn kind(&self) -> IrregularityKind {
        self.kind
    }

    /// The line that it is on.
    pub fn line(&self) -> LineNumber {
        self.line
    }

    /// Where in the text it is.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The clause that says how it is read.
    pub fn clause(&self) -> Clause {
        match self.kind {
            IrregularityKind::Unreadable => Clause::REP_22,
            IrregularityKind::Misspelled | IrregularityKind::MissingColon => Clause::WILD_2,
            IrregularityKind::RuleOutsideGroup => Clause::REP_13,
            IrregularityKind::NeverMatches => Clause::WILD_4,
            IrregularityKind::FileTooLarge => Clause::REP_24,
        }
    }

    /// What happened, as a part of a sentence.
    pub fn summary(&self) -> &'static str {
        match self.kind {
            IrregularityKind::Unreadable => "neither a record nor a comment: dropped",
            IrregularityKind::Misspelled => "a misspelled name: read as meant",
            IrregularityKind::MissingColon => "no colon: read as meant",
            IrregularityKind::RuleOutsideGroup => "a rule before any user-agent line: ignored",
            IrregularityKind::NeverMatches => "a pattern without a leading `/` or `*`: matches nothing",
            IrregularityKind::FileTooLarge => {
                "the file is larger than the limit: the rest was not read"
            }
        }
    }
}

/// The irregularities of a file, in order.
pub(crate) fn of<'r>(robots: &'r RobotsTxt<'_>) -> impl Iterator<Item = Irregularity> + 'r {
    let mut in_group = false;
    let of_lines = robots.lines().flat_map(move |line| of_line(&line, &mut in_group));
    let end = robots.text().len() as u32;
    let cut = robots.cut().map(|_| Irregularity {
        kind: IrregularityKind::FileTooLarge,
        line: crate::span::line_at(robots.text(), end),
        span: Span { start: end, end },
    });
    of_lines.chain(cut)
}

fn of_line(line: &Line<'_>, in_group: &mut bool) -> impl Iterator<Item = Irregularity> + use<> {
    let (number, whole) = (line.number(), line.span());
    let found = move |kind, span| Some(Irregularity { kind, line: number, span });
    let Some(record) = line.record() else {
        let unreadable = line.is_unreadable().then_some(IrregularityKind::Unreadable);
        return [unreadable.and_then(|kind| found(kind, whole)), None, None].into_iter().flatten();
    };
    let slip = if record.is_misspelled() {
        found(IrregularityKind::Misspelled, whole)
    } else if record.lacks_colon() {
        found(IrregularityKind::MissingColon, whole)
    } else {
        None
    };
    let (mut outside, mut never) = (None, None);
    let mut never_matches = |rule: &LineRecord<'_>| {
        if rule.value().first().is_some_and(|octet| !b"/*".contains(octet)) {
            never = found(IrregularityKind::NeverMatches, rule.value_span());
        }
    };
    match record.directive().map(|directive| directive.role) {
        Some(Role::StartsGroup(_)) => {
            *in_group = true;
            line.inline_rule().iter().for_each(never_matches);
        }
        Some(role @ (Role::Rule(_) | Role::Statement)) => {
            if !*in_group {
                outside = found(IrregularityKind::RuleOutsideGroup, whole);
            }
            if role != Role::Statement {
                never_matches(&record);
            }
        }
        Some(Role::GroupRecord | Role::FileRecord) | None => {}
    }
    [slip, outside, never].into_iter().flatten()
}
