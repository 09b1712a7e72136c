//! Octets of a file → what is wrong with it, for its authors.
//!
//! Parsing never fails, so nobody notices when a file does not do what its author meant. Lints report
//! that. A lint is one file in a folder beside this one, and one word in the list below; look-up, `mayi
//! lint --explain`, `docs/lints/` and SARIF's rules derive from it. Its `//!` comment is its manual
//! page, read from the source, so it is never out of date.
//!
//! Linting is pure and never fails, like reading, and its work is bounded: every lint is a pass over
//! the lines or the rules, and work beyond that uses one budget for the whole file ([`Linted::spent`]).
//!
//! ```
//! use mayi::lint::{Options, Severity, lint};
//!
//! let linted = lint(b"User-agent: *\nDisallow: private/\n", &Options::default());
//! let found = &linted.diagnostics()[0];
//! assert_eq!((found.lint.code, found.lint.name), ("P001", "missing-slash"));
//! assert_eq!((found.severity, found.place.expect("it is in the file").line.number()), (Severity::Error, 2));
//! assert!(found.fix.as_ref().is_some_and(|fix| fix.label.contains("/private/")));
//! ```

mod characters;
mod configuration;
mod context;
mod diagnostic;
mod fixing;
mod found;
mod groups;
mod lines;
mod nearest;
mod oddity;
mod options;
mod readings;
mod rules;
mod silence;
mod statements;

pub use configuration::{Configuration, FailOn, InvalidConfiguration};
pub use diagnostic::{Diagnostic, Edit, Fix, Place, Related, Tally};
pub use fixing::{Fixed, fix};
pub use nearest::nearest;
pub use options::{Options, Page, UnknownLint};

use std::collections::BTreeMap;
use std::fmt;

use crate::robots_txt::RobotsTxt;
use crate::spec::Clause;
use crate::work::Spent;
use context::Context;
use found::Found;

/// What nearly every lint needs.
mod prelude {
    pub(super) use super::context::{Context, Entry, directive_of};
    pub(super) use super::diagnostic::{Draft, Edit, Fix};
    pub(super) use super::found::Found;
    pub(super) use super::lines::LineView;
    pub(super) use super::{Lint, LintSet, Severity, quoted};
    pub(super) use crate::span::Span;
    pub(super) use crate::spec::Clause;
}

/// Declares the file of each lint and puts it into the registry.
macro_rules! lints {
    ($($folder:ident { $($file:ident,)* })*) => {
        $(mod $folder { $(pub(super) mod $file;)* })*

        /// Every lint, in the order of their codes.
        pub static LINTS: &[&Lint] = &[$($(&$folder::$file::LINT,)*)*];
    };
}

lints! {
    syntax {
        missing_colon,
        misspelled_name,
        unknown_record,
        unreadable_line,
        not_text,
        utf_16,
        stray_byte_order_mark,
        invisible_character,
        look_alike,
        wrong_colon,
        markup,
        template_leftover,
        file_too_large,
        line_too_long,
        missing_line_break,
    }
    group {
        rule_outside_group,
        repeated_crawler,
        repeats_global,
        names_nobody,
        joined_groups,
        blank_rule,
        crawler_name,
        unusable_regex,
        wildcard_crawler,
        near_crawler,
        unreachable_group,
        partial_regex,
        repeated_name,
        crawler_version,
    }
    pattern {
        missing_slash,
        whole_url,
        fragment,
        repeated_rule,
        shadowed_rule,
        redundant_wildcard,
        percent_encoding,
        dollar_in_the_middle,
        letter_case,
        page_resources,
        sitemap_disallowed,
        exception_in_another_case,
        several_paths,
        regex_pattern,
    }
    extension {
        unregistered_purpose,
        unreadable_value,
        member_not_a_token,
        wrong_value_type,
        deprecated_directive,
        unregistered_application,
        app_directives_in_named_group,
        usage_label,
        usage_value,
        content_signal,
        noindex_record,
        crawl_delay_value,
        sitemap_url,
    }
    dialect {
        read_differently,
        compared_differently,
        grouped_differently,
        regex_not_read,
        index_page,
    }
    page {
        hidden_noindex,
        bare_robots_tag,
    }
    comment {
        unused_allow,
    }
}

/// A check: its name, its subject, and the function that finds it.
///
/// ```
/// use mayi::lint::Lint;
///
/// let lint = Lint::named("missing-colon").expect("it is in the registry");
/// assert_eq!(lint.code, "S001");
/// assert!(lint.manual().starts_with("# S001 missing-colon"));
/// assert_eq!(Lint::named("s001"), Some(lint));
/// ```
#[non_exhaustive]
pub struct Lint {
    /// Its code: a letter for its kind and a number, which never changes.
    pub code: &'static str,
    /// Its name, which says what is wrong.
    pub name: &'static str,
    /// What is wrong, in a sentence.
    pub summary: &'static str,
    /// The severity of most of its findings.
    pub severity: Severity,
    /// Other severities that its findings can have, if they matter more or less.
    other_severities: &'static [Severity],
    /// The set that it belongs to.
    pub set: LintSet,
    /// Whether it can find something with a safe fix. Only these lints look when a file is fixed.
    fixes: bool,
    /// The clauses that it is about.
    pub clauses: &'static [Clause],
    /// Its own source, whose head is its manual page.
    source: &'static str,
    check: fn(&Context<'_, '_>, &mut Found<'_>),
}

impl Lint {
    /// The lint with this code or this name, ignoring case.
    pub fn named(name: &str) -> Option<&'static Self> {
        LINTS
            .iter()
            .copied()
            .find(|lint| lint.code.eq_ignore_ascii_case(name) || lint.name.eq_ignore_ascii_case(name))
    }

    /// Its manual page, in Markdown.
    pub fn manual(&self) -> String {
        let comment = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        let text: Vec<_> = comment.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        let clauses: Vec<_> = self.clauses.iter().map(|clause| clause.id()).collect();
        let (code, name, severities) = (self.code, self.name, self.severities_in_words());
        let set = match self.set {
            LintSet::Default => "",
            LintSet::Style => ", only with `--select style`",
        };
        let about = clauses.join(", ");
        format!("# {code} {name}\n\n*{severities}{set}* · {about}\n\n{}\n", text.join("\n").trim())
    }

    /// The severities that its findings can have, the usual one first.
    pub fn severities(&self) -> impl Iterator<Item = Severity> {
        std::iter::once(self.severity).chain(self.other_severities.iter().copied())
    }

    /// The same as text: `error or warning`.
    pub fn severities_in_words(&self) -> String {
        self.severities().map(Severity::name).collect::<Vec<_>>().join(" or ")
    }

    /// Its place in the registry.
    fn index(&self) -> usize {
        LINTS.iter().position(|lint| lint.code == self.code).expect("every lint is in the registry")
    }
}

impl PartialEq for Lint {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl Eq for Lint {}

impl fmt::Debug for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.name)
    }
}

/// Lints that are switched on and off together.
///
/// ```
/// use mayi::lint::{Lint, LintSet, Options, lint};
///
/// let file = b"User-agent: *\nDisallow: /a*\n";
/// assert!(lint(file, &Options::default()).diagnostics().is_empty());
/// let mut options = Options::default();
/// options.choose(&[LintSet::Style.name()], &[])?;
/// assert_eq!(lint(file, &options).diagnostics()[0].lint.code, "P006");
/// # Ok::<(), mayi::lint::UnknownLint>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LintSet {
    /// What an owner wants to know: what changes a decision for some crawler, what is certainly a mistake, and
    /// lines that nobody reads. On by default.
    Default,
    /// What could be written more simply without any effect. Off by default.
    Style,
}

impl LintSet {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Default, Self::Style];

    /// `default` or `style`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Style => "style",
        }
    }

    /// The set of this name, ignoring case.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|set| set.name().eq_ignore_ascii_case(name))
    }
}

/// How much a diagnostic matters, by what happens to the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "report", serde(rename_all = "kebab-case"))]
pub enum Severity {
    /// It has no effect, or only an intended one; the file could be simpler.
    Note,
    /// Some crawlers read it differently from how it looks, or it has a cost that is easy to miss.
    Warning,
    /// The file does not do what it seems to say.
    Error,
}

impl Severity {
    /// All of them, the least first.
    pub const ALL: &[Self] = &[Self::Note, Self::Warning, Self::Error];

    /// `note`, `warning` or `error`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// The severity of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|severity| severity.name() == name)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Looks for everything that is wrong with a file. It can't fail.
pub fn lint<'t>(octets: &'t [u8], options: &Options) -> Linted<'t> {
    let robots = RobotsTxt::read(octets, options.reading());
    let context = Context::new(octets, &robots, options);
    let mut found = Found::new(&context, options);
    look_until(&context, options, &mut found, |_| true, |_| false);
    let spent = context.spent();
    let text_start = context.text_start();
    let (diagnostics, tallies) = found.finish();
    let totals = tallies.iter().map(|(code, tally)| (*code, tally.total())).collect();
    Linted { robots, text_start, diagnostics, totals, tallies, spent }
}

/// Runs each enabled and requested lint, one after the other, until enough was found, and returns the lint
/// that found it.
fn look_until<'c>(
    context: &Context<'_, '_>,
    options: &Options,
    found: &mut Found<'c>,
    is_wanted: impl Fn(&Lint) -> bool,
    is_enough: impl Fn(&Found<'c>) -> bool,
) -> Option<&'static Lint> {
    let enabled = LINTS.iter().enumerate().filter(|(index, _)| options.is_enabled(*index));
    let mut looked = enabled.filter(|(_, lint)| is_wanted(lint)).map(|(index, lint)| {
        found.start(index);
        context.start(lint);
        (lint.check)(context, found);
        is_enough(found).then_some(*lint)
    });
    looked.find_map(|lint| lint)
}

/// Octets of a file for a message: as text, between backquotes, and not too long.
fn quoted(octets: &[u8]) -> String {
    const MOST: usize = 80;
    let text = String::from_utf8_lossy(&octets[..octets.len().min(4 * MOST)]);
    if text.chars().count() <= MOST && octets.len() <= 4 * MOST {
        return format!("`{text}`");
    }
    let start: String = text.chars().take(MOST - 1).collect();
    format!("`{start}…`")
}

/// What was found in a file.
#[derive(Clone, Debug)]
pub struct Linted<'t> {
    robots: RobotsTxt<'t>,
    text_start: Option<usize>,
    diagnostics: Vec<Diagnostic>,
    totals: BTreeMap<&'static str, usize>,
    tallies: BTreeMap<&'static str, Tally>,
    spent: Spent,
}

impl<'t> Linted<'t> {
    /// The diagnostics in the order of the file, one for each cause. Of each lint there are no more than the
    /// options allow. They list at most a thousand places of a lint, and at most a hundred of each further
    /// lint once five thousand are listed.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// How many places of each code there are, including those that are not listed.
    pub fn totals(&self) -> &BTreeMap<&'static str, usize> {
        &self.totals
    }

    /// The same with their severities, and how many of them have a fix that is safe.
    pub fn tallies(&self) -> &BTreeMap<&'static str, Tally> {
        &self.tallies
    }

    /// How many there are of a severity, including those that are not listed.
    pub fn count(&self, severity: Severity) -> usize {
        self.tallies.values().map(|tally| tally.of(severity)).sum()
    }

    /// How many places are in none of the diagnostics.
    pub fn left_out(&self) -> usize {
        let listed: usize = self.diagnostics.iter().map(|found| found.count).sum();
        self.totals.values().sum::<usize>() - listed
    }

    /// The file as it was read; spans are into its text.
    pub fn robots(&self) -> &RobotsTxt<'t> {
        &self.robots
    }

    /// Where the text starts in the octets of the file: after a byte order mark. None if the octets had to
    /// be decoded, because then there is no such place.
    pub fn text_start(&self) -> Option<usize> {
        self.text_start
    }

    /// The cost beyond one pass over the file, in units of work; and the lint that ran out of them, if any: it
    /// may not have found everything.
    pub fn spent(&self) -> Spent {
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_are_in_order_and_unique() {
        for pair in LINTS.windows(2) {
            let kind = |lint: &Lint| "SGPXDHC".find(&lint.code[..1]).expect("a kind");
            let number = |lint: &Lint| lint.code[1..].parse::<u32>().expect("a number");
            let (one, next) = (pair[0], pair[1]);
            let follows = kind(one) == kind(next) && number(next) == number(one) + 1;
            assert!(follows || kind(one) < kind(next) && number(next) == 1, "{one:?}, {next:?}");
        }
        for lint in LINTS {
            assert!(std::ptr::eq(Lint::named(lint.name).expect("a name"), *lint), "{lint:?}");
            assert!(!lint.clauses.is_empty() && lint.code.len() == 4, "{lint:?}");
        }
    }

    #[test]
    fn every_manual_page_has_its_parts() {
        for lint in LINTS {
            let page = lint.manual();
            for part in ["\n## What is wrong\n", "\n## What crawlers do\n", "\n## Example\n"] {
                assert!(page.contains(part), "{lint:?} lacks {}", part.trim());
            }
        }
    }
}
