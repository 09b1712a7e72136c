//! Lines of a file that do not match the grammar: read as intended, or ignored.
//!
//! They are found by reading the text again, so they cost nothing when a decision is made. This is not
//! a lint: it says what happened, with position and clause, without advice.

use crate::directive::{APP_DIRECTIVES, GroupStart, GroupStep, GroupWalk, Role};
use crate::extension::Extension;
use crate::preference::Statement;
use crate::robots_txt::{Line, LineRecord, RobotsTxt};
use crate::selection;
use crate::span::{LineNumber, Span, line_at};
use crate::spec::Clause;
use crate::structured::{is_list, split_path};

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
    /// The name is a misspelling that is read as intended.
    Misspelled,
    /// There is white space instead of the colon, and the line is read as intended.
    MissingColon,
    /// The rule is before every group-start line, and was ignored.
    RuleOutsideGroup,
    /// The pattern starts with neither `/` nor `*` and can't match anything.
    NeverMatches,
    /// The regular expression does not compile, is too large or one too many, and names no crawler.
    UnusableRegex,
    /// The value starts with `*` and is not the global token: it names no crawler.
    NamesNobody,
    /// The purpose is in no registry: it names the crawlers that claim it, unless only registered purposes
    /// are accepted.
    UnregisteredPurpose,
    /// The structured value does not parse, and the line says nothing.
    UnreadableValue,
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
            IrregularityKind::Unreadable | IrregularityKind::UnreadableValue => Clause::REP_22,
            IrregularityKind::Misspelled | IrregularityKind::MissingColon => Clause::WILD_2,
            IrregularityKind::RuleOutsideGroup => Clause::REP_13,
            IrregularityKind::NeverMatches => Clause::WILD_4,
            IrregularityKind::UnusableRegex => Clause::AIA_3,
            IrregularityKind::NamesNobody => Clause::AIA_2,
            IrregularityKind::UnregisteredPurpose => Clause::PUR_2,
            IrregularityKind::FileTooLarge => Clause::REP_24,
        }
    }

    /// What happened, as a part of a sentence.
    pub fn summary(&self) -> &'static str {
        match self.kind {
            IrregularityKind::Unreadable => "neither a record nor a comment: ignored",
            IrregularityKind::Misspelled => "a misspelled name: read as intended",
            IrregularityKind::MissingColon => "no colon: read as intended",
            IrregularityKind::RuleOutsideGroup => "a rule before any user-agent line: ignored",
            IrregularityKind::NeverMatches => "a pattern without a leading `/` or `*`: matches nothing",
            IrregularityKind::UnusableRegex => {
                "a regular expression that can't be used: names no crawler"
            }
            IrregularityKind::NamesNobody => "`*` with more text after it: names no crawler",
            IrregularityKind::UnregisteredPurpose => {
                "an unregistered purpose: names the crawlers that claim it"
            }
            IrregularityKind::UnreadableValue => "a structured value that does not parse: says nothing",
            IrregularityKind::FileTooLarge => {
                "the file is larger than the limit: the rest was not read"
            }
        }
    }
}

impl RobotsTxt<'_> {
    /// What is not in the grammar but was read, and what was dropped, in file order.
    ///
    /// ```
    /// let robots = mayi::RobotsTxt::parse(b"Disallow: /a\nUser-agent: *\ndisalow: /b\nwhat?\n");
    /// let clauses: Vec<_> = robots.irregularities().map(|found| found.clause().id()).collect();
    /// assert_eq!(clauses, ["REP-13", "WILD-2", "REP-22"]);
    /// ```
    pub fn irregularities(&self) -> impl Iterator<Item = Irregularity> {
        let mut walk = self.dialect().group_walk();
        let mut regexes = 0;
        let of_lines = self.lines().flat_map(move |line| of_line(self, &line, &mut walk, &mut regexes));
        let end = self.text().len() as u32;
        let cut = self.cut().map(|_| Irregularity {
            kind: IrregularityKind::FileTooLarge,
            line: line_at(self.text(), end),
            span: Span { start: end, end },
        });
        of_lines.chain(cut)
    }
}

fn of_line(
    robots: &RobotsTxt<'_>,
    line: &Line<'_>,
    walk: &mut GroupWalk,
    regexes: &mut usize,
) -> impl Iterator<Item = Irregularity> + use<> {
    let (number, whole) = (line.number(), line.span());
    let found = move |kind, span| Some(Irregularity { kind, line: number, span });
    let Some(record) = line.record() else {
        let unreadable = line.is_unreadable().then_some(IrregularityKind::Unreadable);
        return [unreadable.and_then(|kind| found(kind, whole)), None, None, None]
            .into_iter()
            .flatten();
    };
    let slip = if record.is_misspelled() {
        found(IrregularityKind::Misspelled, whole)
    } else if record.lacks_colon() {
        found(IrregularityKind::MissingColon, whole)
    } else {
        None
    };
    let (mut outside, mut never, mut value) = (None, None, None);
    let mut never_matches = |rule: &LineRecord<'_>| {
        if rule.value().first().is_some_and(|octet| !b"/*".contains(octet)) {
            never = found(IrregularityKind::NeverMatches, rule.value_span());
        }
    };
    let role = record.directive().map(|directive| directive.role);
    let step = role.map(|role| walk.step(role));
    match role {
        Some(Role::StartsGroup(start)) => {
            line.inline_rule().iter().for_each(never_matches);
            value = unusable_start(robots, start, record.value(), regexes);
        }
        Some(role @ (Role::Rule(_) | Role::Statement)) => {
            if step == Some(GroupStep::Outside) {
                outside = found(IrregularityKind::RuleOutsideGroup, whole);
            }
            if role == Role::Statement {
                value = unreadable_value(&record);
            } else {
                never_matches(&record);
            }
        }
        Some(Role::GroupRecord | Role::FileRecord) | None => {}
    }
    let value = value.and_then(|kind| found(kind, record.value_span()));
    [slip, outside, never, value].into_iter().flatten()
}

/// Why a group-start line names no crawler, if that is not what it looks like.
fn unusable_start(
    robots: &RobotsTxt<'_>,
    start: GroupStart,
    value: &[u8],
    regexes: &mut usize,
) -> Option<IrregularityKind> {
    let dialect = robots.dialect();
    match start {
        GroupStart::Purpose => {
            let known =
                str::from_utf8(value).is_ok_and(|purpose| robots.registry().purpose(purpose).is_some());
            (!known).then_some(IrregularityKind::UnregisteredPurpose)
        }
        GroupStart::ProductToken if selection::is_global(value, dialect) => None,
        GroupStart::ProductToken
            if dialect.reads(Extension::AiAgents) && selection::is_regex(value) =>
        {
            let place = *regexes;
            *regexes += 1;
            robots.regexes().get(place).is_err().then_some(IrregularityKind::UnusableRegex)
        }
        GroupStart::ProductToken => value.starts_with(b"*").then_some(IrregularityKind::NamesNobody),
    }
}

/// Whether the structured value of a statement does not parse.
fn unreadable_value(record: &LineRecord<'_>) -> Option<IrregularityKind> {
    let (_, value) = split_path(record.value());
    let parses = if record.directive().is_some_and(|directive| directive.name == APP_DIRECTIVES.name) {
        is_list(value)
    } else {
        Statement::parse(value).is_some()
    };
    (!parses).then_some(IrregularityKind::UnreadableValue)
}
