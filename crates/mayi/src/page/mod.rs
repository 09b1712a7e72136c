//! A response → what may be done with the page, for a crawler (TAG, WILD-3).
//!
//! Three carriers have page rules: the fields Robots-Tag and X-Robots-Tag, and robots meta elements.
//! [`PageControls`] reads them once for every crawler and remembers where each rule was found;
//! [`PageControls::for_crawler`] gives those that apply to one.
//!
//! ```
//! use mayi::{Crawler, page::PageControls};
//!
//! let fields = [("Robots-Tag", "*;noindex;nosnippet, ExampleBot;")];
//! let html = b"<title>x</title><meta name=robots content=nofollow>";
//! let controls = PageControls::read(&fields, html);
//!
//! let rules = controls.for_crawler(&Crawler::new("ExampleBot")?);
//! assert!(rules.may_index() && rules.may_show_snippet() && !rules.may_follow());
//! let rules = controls.for_crawler(&Crawler::new("OtherBot")?);
//! assert!(!rules.may_index());
//! # Ok::<(), mayi::InvalidProductToken>(())
//! ```

mod date;
mod head;
mod html_text;
mod robots_tag;
mod rule;
mod x_robots_tag;

#[cfg(feature = "report")]
pub(crate) use date::{days_in, days_since_1970};
pub use head::{HeadReader, Progress};
pub use rule::{PageRule, RuleValue};

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::access::lifetime_from_date;
use crate::crawler::Crawler;

/// How page controls are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageOptions {
    /// Whether a crawler's own entry and the global one of a structured field are combined, as the later text
    /// of the draft says, instead of the first replacing the second (TAG-4).
    pub union: bool,
    /// How many octets of a header field are read, over all of its lines: at least 8 KiB (TAG-6).
    pub field_octets: usize,
    /// How many octets of HTML are read (TAG-8).
    pub html_octets: usize,
    /// The time for which the rules are evaluated: for `unavailable_after`, which takes effect at its date,
    /// and for an Expires without a Date (TAG-11). Without it a date is only reported.
    pub now: Option<SystemTime>,
}

impl Default for PageOptions {
    fn default() -> Self {
        Self { union: false, field_octets: 16 * 1024, html_octets: 1024 * 1024, now: None }
    }
}

/// The page rules of a response, for all crawlers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageControls {
    union: bool,
    statements: Vec<Statement>,
    fresh_for: Option<Duration>,
    now: Option<SystemTime>,
    losses: Vec<Loss>,
}

/// What one place in a response says to one crawler, or to all.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    /// The product token; all crawlers if there is none. Many statements can share one.
    token: Option<Arc<str>>,
    grammar: Grammar,
    rules: Vec<WrittenRule>,
    found: FoundAt,
}

/// How a statement is related to the global one of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grammar {
    /// It may replace it (TAG-4).
    Structured,
    /// Both count.
    United,
}

/// A rule as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenRule {
    name: String,
    value: Option<String>,
}

/// Where a rule was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FoundAt {
    /// In a header field.
    Field {
        /// The name of the field, as written.
        name: String,
        /// The number of the line among those of that name, from 1.
        line: usize,
        /// The number of the member in the line, from 1.
        member: usize,
    },
    /// In a robots meta element.
    Meta {
        /// The line of the element in the HTML, from 1.
        line: u32,
        /// Its column, from 1 in characters.
        column: u32,
    },
}

impl fmt::Display for FoundAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field { name, line, member } => write!(f, "{name}, line {line}, member {member}"),
            Self::Meta { line, column } => write!(f, "HTML {line}:{column}"),
        }
    }
}

/// A part of a response that was not read, or could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// Why.
    pub kind: LossKind,
    /// Where the lost part begins.
    pub found: FoundAt,
}

/// Why a part of a response is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LossKind {
    /// A header field is longer than its limit: the member that the limit cuts and all after it do not
    /// count (TAG-6).
    FieldCut,
    /// A member of a structured field can't be read, and was dropped alone.
    UnreadableMember,
    /// The head of the HTML does not end within the limit (TAG-8).
    HtmlCut,
}

impl PageControls {
    /// Reads the header fields and the HTML of a response.
    pub fn read(fields: &[(&str, &str)], html: &[u8]) -> Self {
        Self::read_with(fields, html, PageOptions::default())
    }

    /// The same, with options.
    pub fn read_with(fields: &[(&str, &str)], html: &[u8], options: PageOptions) -> Self {
        let mut head = HeadReader::new(fields, options);
        head.push_last(html);
        Self::of_head(fields, head, options)
    }

    /// Reads the header fields of a response, and HTML that is text already.
    pub fn read_text(fields: &[(&str, &str)], html: &str, options: PageOptions) -> Self {
        let mut head = HeadReader::of_text(options);
        head.push_last(html.as_bytes());
        Self::of_head(fields, head, options)
    }

    /// Reads the header fields of a response whose HTML was pushed chunk by chunk.
    pub fn of_head(fields: &[(&str, &str)], head: HeadReader, options: PageOptions) -> Self {
        let mut controls = Self {
            union: options.union,
            now: options.now,
            fresh_for: lifetime_from_date(fields.iter().copied(), options.now),
            ..Self::default()
        };
        controls.read_fields(fields, options.field_octets);
        let (statements, cut) = head.finish();
        controls.statements.extend(statements);
        controls.losses.extend(cut);
        controls
    }

    /// The rules that apply to a crawler.
    pub fn for_crawler(&self, crawler: &Crawler) -> PageRules {
        let token = crawler.product_token().to_be_named();
        let is_own = |statement: &Statement| {
            let both = statement.token.as_deref().zip(token);
            both.is_some_and(|(known, token)| known.eq_ignore_ascii_case(token.as_str()))
        };
        let is_structured = |statement: &Statement| statement.grammar == Grammar::Structured;
        let has_own_entry = self.statements.iter().any(|s| is_structured(s) && is_own(s));
        let mut rules = PageRules {
            fresh_for: self.fresh_for,
            now: self.now,
            losses: self.losses.clone(),
            ..PageRules::default()
        };
        for statement in &self.statements {
            let stood_for = is_structured(statement) && has_own_entry && !self.union;
            if is_own(statement) || statement.token.is_none() && !stood_for {
                for written in &statement.rules {
                    rules.add(written, &statement.found);
                }
            }
        }
        rules
    }

    /// Reads the statements of the header fields, in the order of the fields.
    fn read_fields(&mut self, fields: &[(&str, &str)], octets: usize) {
        for (name, is_old) in [("robots-tag", false), ("x-robots-tag", true)] {
            let (mut left, mut is_over) = (octets, false);
            let lines = fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
            for (line, (field, value)) in lines.enumerate() {
                // A cut is reported once per field, not for each of its lines.
                let is_cut = value.len() > left && !is_over;
                is_over |= is_cut;
                let value = within(value, &mut left);
                let found =
                    |member| FoundAt::Field { name: (*field).to_owned(), line: line + 1, member };
                let members = robots_tag::members(value);
                if is_old {
                    self.read_mixed(&members, found);
                } else {
                    robots_tag::read(&members, found, self);
                }
                if is_cut {
                    let whole = if value.is_empty() { 0 } else { members.len() };
                    self.losses.push(Loss { kind: LossKind::FieldCut, found: found(whole + 1) });
                }
            }
        }
    }

    /// Reads the statements of an X-Robots-Tag line: each member is in one grammar or the other (TAG-5).
    fn read_mixed(&mut self, members: &[&str], found: impl Fn(usize) -> FoundAt) {
        let mut old = x_robots_tag::Reader::default();
        let mut place = 0;
        while let Some(member) = members.get(place) {
            place += 1;
            if robots_tag::is_structured(member) {
                robots_tag::read(&[member], |_| found(place), self);
            } else {
                place += old.read(&members[place - 1..], &mut self.statements, || found(place));
            }
        }
        self.statements.extend(old.left_out().map(|rule| Statement {
            token: None,
            grammar: Grammar::United,
            rules: vec![rule],
            found: found(place),
        }));
    }
}

/// The members of a Robots-Tag line that have no parameters.
pub(crate) fn bare_rules(value: &str) -> impl Iterator<Item = &str> {
    let members = robots_tag::members(value).into_iter().map(str::trim);
    members.filter(|member| !member.contains([';', '=']))
}

/// Whether a name, ignoring case, is that of a page rule.
pub(crate) fn is_page_rule(name: &str) -> bool {
    rule::is_rule(&name.to_ascii_lowercase())
}

/// The members of a field line that are whole within what is left of the limit (TAG-6).
fn within<'v>(value: &'v str, left: &mut usize) -> &'v str {
    let octets = *left;
    *left = left.saturating_sub(value.len());
    if value.len() <= octets {
        return value;
    }
    let ends = robots_tag::separators(value).take_while(|&comma| comma <= octets);
    &value[..ends.last().unwrap_or(0)]
}

/// The page rules that apply to one crawler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageRules {
    rules: Vec<PageRule>,
    unsupported: Vec<(String, FoundAt)>,
    fresh_for: Option<Duration>,
    now: Option<SystemTime>,
    losses: Vec<Loss>,
}

impl PageRules {
    /// The rules, each once, in the order in which they were first found.
    pub fn rules(&self) -> &[PageRule] {
        &self.rules
    }

    /// The rule of this name.
    pub fn rule(&self, name: &str) -> Option<&PageRule> {
        self.rules.iter().find(|rule| rule.name() == name)
    }

    /// Words in the place of a rule that are unknown, or have a value that can't be read (TAG-9).
    pub fn unsupported(&self) -> &[(String, FoundAt)] {
        &self.unsupported
    }

    /// What was not read of the response, or could not be read, for any crawler.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Whether the page may be indexed: not if a rule says so, and not from the date of `unavailable_after`
    /// on, if the time is known.
    pub fn may_index(&self) -> bool {
        !self.has_any(&["noindex", "none"]) && !self.is_unavailable()
    }

    /// Whether the date of `unavailable_after` has come, as far as the time is known.
    pub fn is_unavailable(&self) -> bool {
        let (Some(rule), Some(now)) = (self.rule("unavailable_after"), self.now) else { return false };
        matches!(rule.value(), RuleValue::Date(_, seconds) if has_come(*seconds, now))
    }

    /// Whether its links may be followed.
    pub fn may_follow(&self) -> bool {
        !self.has_any(&["nofollow", "none"])
    }

    /// Whether parts of it may be shown.
    pub fn may_show_snippet(&self) -> bool {
        let limit = self.rule("max-snippet").map(PageRule::value);
        !self.has_any(&["nosnippet"]) && limit != Some(&RuleValue::Number(0))
    }

    /// Whether it says that it is not for training.
    pub fn has_noai(&self) -> bool {
        self.has_any(&["noai"])
    }

    /// For how long the response says that it is fresh, counted from when it was made; without that, the
    /// rules apply until the page changes (TAG-11).
    pub fn fresh_for(&self) -> Option<Duration> {
        self.fresh_for
    }

    fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.rule(name).is_some())
    }

    fn add(&mut self, written: &WrittenRule, found: &FoundAt) {
        match rule::understand(written) {
            rule::Understood::Rule(value) => {
                let name = written.name.to_ascii_lowercase();
                match self.rules.iter_mut().find(|rule| rule.name == name) {
                    Some(known) => known.restrict(value),
                    None => self.rules.push(PageRule { name, value, found: found.clone() }),
                }
            }
            rule::Understood::NoEffect => {}
            rule::Understood::Unsupported => {
                let text = match &written.value {
                    Some(value) => format!("{}: {value}", written.name),
                    None => written.name.clone(),
                };
                self.unsupported.push((text, found.clone()));
            }
        }
    }
}

/// Whether a time, in seconds since 1970, has come.
fn has_come(seconds: i64, now: SystemTime) -> bool {
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let time = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    };
    // A time that can't be represented is in the far past or in the far future.
    time.map_or(seconds < 0, |time| now >= time)
}
