//! A file and a crawler → the groups whose rules apply to it (REP-4 to REP-6, PUR-3, AIA-2, WILD-6).

mod by_name;

pub(crate) use by_name::{GroupsByName, Named};

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

use crate::crawler::{Crawler, Manners, ProductToken, is_in_token};
use crate::dialect::{Dialect, GlobalGroups, Lines, Naming};
use crate::directive::{GroupStart, Role};
use crate::extension::Extension;
#[cfg(feature = "report")]
use crate::regexes::LONGEST_TOKEN;
use crate::regexes::Regexes;
use crate::robots_txt::{Record, RobotsTxt, start_lines};

/// How the groups that apply were found, the strongest first (PUR-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "report", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum GroupBy {
    /// A group-start line has the crawler's product token, or one that it falls back to.
    ProductToken,
    /// None has it, and a group-start line is a regular expression that matches it.
    Regex,
    /// None does, and a group-start line has one of its purposes.
    Purpose,
    /// None does, and a group-start line has `*`.
    Global,
}

impl GroupBy {
    /// As in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProductToken => "product-token",
            Self::Regex => "regex",
            Self::Purpose => "purpose",
            Self::Global => "global",
        }
    }
}

/// How strongly a group-start line names a crawler: by what, and by which of its tokens, the first being its
/// own and the others those that it falls back to. Less is stronger.
type Strength = (GroupBy, usize);

/// The groups that apply, combined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    strength: Strength,
    pub(crate) by: GroupBy,
    /// The records of the group-start lines that matched.
    pub(crate) starts: Vec<usize>,
    /// The records of each group, in file order.
    pub(crate) groups: Vec<Range<usize>>,
}

impl Selection {
    /// How many octets of memory it takes beside its own.
    pub(crate) fn octets(&self) -> usize {
        self.starts.capacity() * size_of::<usize>() + self.groups.capacity() * size_of::<Range<usize>>()
    }

    /// One group alone, for those that it names.
    #[cfg(feature = "report")]
    pub(crate) fn of_group(group: Range<usize>) -> Self {
        Self::of_groups(GroupBy::ProductToken, Vec::new(), vec![group])
    }

    /// Groups that are known already, for those whose own name selects them.
    fn of_groups(by: GroupBy, starts: Vec<usize>, groups: Vec<Range<usize>>) -> Self {
        Self { strength: (by, 0), by, starts, groups }
    }

    /// Whether the crawler's own product token selected them, not one that it falls back to.
    #[cfg(feature = "report")]
    pub(crate) fn is_by_own_name(&self) -> bool {
        self.strength == (GroupBy::ProductToken, 0)
    }

    /// The records of all groups, in file order.
    pub(crate) fn records<'r>(
        &self,
        robots: &'r RobotsTxt<'_>,
    ) -> impl Iterator<Item = Record> + use<'_, 'r> {
        self.groups.iter().flat_map(|group| &robots.records()[group.clone()]).copied()
    }

    /// Those of them that are not rules and start no group.
    pub(crate) fn non_rules<'r>(
        &self,
        robots: &'r RobotsTxt<'_>,
    ) -> impl Iterator<Item = Record> + use<'_, 'r> {
        robots.non_rules().of_groups(robots, &self.groups)
    }
}

/// Observes the selection of groups and the comparison of rules.
pub(crate) trait Observer {
    /// Whether it observes at all: then also facts that can't change the result are computed.
    const WATCHES: bool = false;
    /// A group-start line was read: how it names the crawler, if it does, and whether it is the
    /// first of its group.
    fn start_line(&mut self, _record: usize, _by: Option<GroupBy>, _first: bool) {}
    /// A rule was found to match, with this many octets.
    fn matching_rule(&mut self, _record: usize, _octets: usize) {}
}

/// Observes nothing.
impl Observer for () {}

/// Selects the groups of a crawler.
pub(crate) fn select(
    robots: &RobotsTxt<'_>,
    crawler: &Crawler,
    observer: &mut impl Observer,
) -> Option<Selection> {
    with_wanted(robots, crawler, |wanted| wanted.select(robots, observer))
}

/// Passes on what a group-start line must have to match a crawler.
fn with_wanted<T>(robots: &RobotsTxt<'_>, crawler: &Crawler, then: impl FnOnce(&Wanted<'_>) -> T) -> T {
    let dialect = robots.dialect();
    let manners = match crawler.manners() {
        Some(manners) => Cow::Borrowed(manners),
        None if dialect.reads(Extension::Agents) => {
            robots.registry().manners_of(crawler.product_token())
        }
        None => Cow::Owned(Manners::default()),
    };
    let only_registered = crawler.has_registered_purposes_only();
    let counts = |purpose: &str| !only_registered || robots.registry().purpose(purpose).is_some();
    let wanted = Wanted {
        token: crawler.product_token().to_be_named(),
        fallbacks: &manners.fallbacks,
        heeds_global: !manners.ignores_global,
        reads_regex: dialect.reads(Extension::AiAgents),
        purposes: crawler.purposes().filter(|purpose| counts(purpose)).collect(),
        written: AsWritten::of(crawler.sent(), dialect),
        dialect,
    };
    then(&wanted)
}

/// What it costs at most to select the groups of a crawler, in units of work. Names can be as long as the file:
/// each is read once, and compared with the crawler's as far as both go.
#[cfg(feature = "report")]
pub(crate) fn cost_of_selecting(robots: &RobotsTxt<'_>, crawler: &Crawler) -> usize {
    let (starts, octets) = robots.non_rules().starts();
    let is_by_token = robots.dialect().compares_product_tokens();
    let as_written = if is_by_token { 0 } else { crawler.sent().len() };
    let of_starts = starts * (4 + crawler.purposes().count() + as_written / 2);
    let of_regexes = robots.regexes().cost(crawler.product_token().as_str());
    20 + robots.records().len() / 2 + of_starts + octets / OCTETS_A_UNIT + of_regexes
}

/// How many octets of a name are looked at for a unit of work.
#[cfg(feature = "report")]
const OCTETS_A_UNIT: usize = 4;

/// Selects the groups of an application: those that its product token selects by name, or else by
/// regular expression, or else those of `*` (APP-5).
pub(crate) fn select_for_application(
    robots: &RobotsTxt<'_>,
    token: &ProductToken,
) -> Option<Selection> {
    Wanted::by_application(robots, token).select(robots, &mut ())
}

/// What a group-start line must have to match.
struct Wanted<'w> {
    /// None if no line can name it.
    token: Option<&'w ProductToken>,
    fallbacks: &'w [ProductToken],
    heeds_global: bool,
    /// Whether a value can be a regular expression, which is then no name (AIA-2).
    reads_regex: bool,
    purposes: Vec<&'w str>,
    /// How names are compared, in a dialect that compares them as they are written.
    written: Option<AsWritten>,
    dialect: &'w Dialect,
}

impl<'w> Wanted<'w> {
    /// What names an application with this product token.
    fn by_application(robots: &'w RobotsTxt<'_>, token: &'w ProductToken) -> Self {
        Self {
            token: token.to_be_named(),
            fallbacks: &[],
            heeds_global: true,
            reads_regex: robots.dialect().reads(Extension::AiAgents),
            purposes: Vec::new(),
            written: AsWritten::of(token.as_str(), robots.dialect()),
            dialect: robots.dialect(),
        }
    }

    /// One pass over the records. A stronger kind of match discards what a weaker one has collected.
    fn select<O: Observer>(&self, robots: &RobotsTxt<'_>, observer: &mut O) -> Option<Selection> {
        let mut selection: Option<Selection> = None;
        let mut group_start = 0;
        let mut group_is_chosen = false;
        let mut regexes = 0;

        let close = |selection: &mut Option<Selection>, end: usize| {
            let last = selection.as_mut().and_then(|selection| selection.groups.last_mut());
            if let Some(group) = last {
                group.end = end;
            }
        };

        for (index, start, first) in start_lines(robots.records(), self.dialect) {
            if first {
                if group_is_chosen {
                    close(&mut selection, index);
                }
                (group_start, group_is_chosen) = (index, false);
            }
            let strongest = selection.as_ref().map(|selection| selection.strength);
            let enough = if O::WATCHES { None } else { strongest };
            let strength = self.named_by(robots, index, start, enough, &mut regexes);
            observer.start_line(index, strength.map(|(by, _)| by), first);
            let Some(strength) = strength else { continue };
            if strongest.is_none_or(|strongest| strength < strongest) {
                // Mostly there is one of each.
                let (starts, groups) = (Vec::with_capacity(1), Vec::with_capacity(1));
                selection = Some(Selection { strength, by: strength.0, starts, groups });
                group_is_chosen = false;
            }
            let Some(selection) = selection.as_mut().filter(|found| found.strength == strength) else {
                continue;
            };
            let only_first =
                selection.by == GroupBy::Global && self.dialect.global_groups == GlobalGroups::First;
            if only_first && !group_is_chosen && !selection.groups.is_empty() {
                continue;
            }
            selection.starts.push(index);
            if !group_is_chosen {
                selection.groups.push(group_start..index);
                group_is_chosen = true;
            }
        }
        if group_is_chosen {
            close(&mut selection, robots.records().len());
        }
        selection
    }

    /// How the value of a group-start line names the crawler, if it does. Costly checks are skipped if their
    /// result would be weaker than the current one.
    fn named_by(
        &self,
        robots: &RobotsTxt<'_>,
        record: usize,
        start: GroupStart,
        enough: Option<Strength>,
        regexes: &mut usize,
    ) -> Option<Strength> {
        let value = robots.value(robots.records()[record]);
        match names_by(value, start, self.reads_regex, self.dialect) {
            GroupBy::Purpose => {
                let is_one = |purpose: &&str| purpose.as_bytes().eq_ignore_ascii_case(value);
                return self.purposes.iter().any(is_one).then_some((GroupBy::Purpose, 0));
            }
            GroupBy::Global => return self.heeds_global.then_some((GroupBy::Global, 0)),
            GroupBy::Regex => {
                let place = *regexes;
                *regexes += 1;
                let matters = enough.is_none_or(|enough| (GroupBy::Regex, 0) <= enough);
                let is_match = |token: &ProductToken| robots.regexes().matches(place, token.as_str());
                let matches = matters && self.token.is_some_and(is_match);
                return matches.then_some((GroupBy::Regex, 0));
            }
            GroupBy::ProductToken => {}
        }
        if let Some(written) = &self.written {
            return written.strength_of(value);
        }
        let mut tokens = self.token.into_iter().chain(self.fallbacks);
        let at = tokens.position(|token| token.is_named_by(value, self.dialect.tokens))?;
        Some((GroupBy::ProductToken, at))
    }
}

/// What a group-start line with this value names crawlers by.
#[inline]
fn names_by(value: &[u8], start: GroupStart, reads_regex: bool, dialect: &Dialect) -> GroupBy {
    match start {
        GroupStart::Purpose => GroupBy::Purpose,
        GroupStart::ProductToken if is_global(value, dialect) => GroupBy::Global,
        GroupStart::ProductToken if reads_regex && is_regex(value) => GroupBy::Regex,
        GroupStart::ProductToken => GroupBy::ProductToken,
    }
}

/// Chooses one of the names of a file, which are compared as they are written.
struct AsWritten {
    naming: Naming,
    /// The crawler's name, in lower case.
    sent: String,
    /// The name that is chosen so far and its rank. Less is stronger.
    chosen: RefCell<Option<(usize, String)>>,
}

impl AsWritten {
    fn of(sent: &str, dialect: &Dialect) -> Option<Self> {
        let naming = dialect.naming;
        let of_sent = || Self { naming, sent: sent.to_lowercase(), chosen: RefCell::default() };
        (!dialect.compares_product_tokens()).then(of_sent)
    }

    /// How strongly the next name of the file names the crawler. One name is chosen, and all lines that have it.
    #[cold]
    fn strength_of(&self, name: &[u8]) -> Option<Strength> {
        // Upper case can take two octets where lower case takes one. A longer name does not occur in what is sent.
        if name.len() > 2 * self.sent.len() {
            return None;
        }
        let name = String::from_utf8_lossy(name).to_lowercase();
        let (rank, name) = match self.naming {
            Naming::Token => None,
            Naming::FirstWithin => first_within(name, &self.sent),
            Naming::LongestWithin => longest_within(name, &self.sent),
        }?;
        let mut chosen = self.chosen.borrow_mut();
        let is_chosen =
            |(best, best_name): &(usize, String)| rank < *best || rank == *best && name == *best_name;
        if !chosen.as_ref().is_none_or(is_chosen) {
            return None;
        }
        *chosen = Some((rank, name));
        // A crawler called `*` is first matched by `*`. Only an empty name gets here for it.
        let by = if self.sent == "*" { GroupBy::Global } else { GroupBy::ProductToken };
        Some((by, rank))
    }
}

/// How strongly a name, in lower case, names the crawler that sends this by [`Naming::FirstWithin`].
fn first_within(name: String, sent: &str) -> Option<(usize, String)> {
    if name == sent {
        return Some((0, name));
    }
    let before_version = sent.split('/').next().unwrap_or(sent);
    // An empty name occurs in every name.
    before_version.contains(&name).then_some((1, name))
}

/// The same by [`Naming::LongestWithin`].
fn longest_within(name: String, sent: &str) -> Option<(usize, String)> {
    let goes_on_before = |place: usize| {
        let before = sent[..place].chars().next_back();
        before.is_some_and(|before| before.is_alphanumeric() || "-_".contains(before))
    };
    let is_within = |name: &String| {
        !name.is_empty() && sent.match_indices(name).any(|(place, _)| !goes_on_before(place))
    };
    let without_stars = || Some(name.replace('*', "")).filter(is_within);
    let name = if is_within(&name) { name } else { without_stars()? };
    Some((usize::MAX - name.chars().count(), name))
}

/// Whether a value is the global token: `*`, alone or before white space (REP-4).
pub(crate) fn is_global(value: &[u8], dialect: &Dialect) -> bool {
    let Some(rest) = value.strip_prefix(b"*") else { return false };
    match (rest.first(), dialect.lines) {
        // Where names are compared as they are written, this is one.
        (Some(_), _) if !dialect.compares_product_tokens() => false,
        (None | Some(b' ' | b'\t'), _) => true,
        (Some(octet), Lines::Cut(_)) => matches!(octet, b'\t'..=b'\r'),
        (Some(_), Lines::Whole) => false,
    }
}

/// Whether a value that is not the global token is a regular expression: its first word says so (AIA-2).
pub(crate) fn is_regex(value: &[u8]) -> bool {
    // Nearly all values are a product token, or one with something behind white space. Every name of a file
    // may be checked for every crawler, so this is one pass: no sign of an expression can be in a token.
    let Some(odd) = value.iter().position(|&octet| !is_in_token(octet)) else { return false };
    let mut last = if odd == 0 { None } else { Some(value[odd - 1]) };
    for &octet in &value[odd..] {
        match octet {
            b' ' | b'\t' => break,
            b'[' | b'|' | b'^' | b'\\' => return true,
            b'*' | b'+' | b'?' if last == Some(b'.') => return true,
            _ => last = Some(octet),
        }
    }
    last == Some(b'$')
}

/// The regular expressions among the group-start lines of a file.
pub(crate) fn regexes_of(robots: &RobotsTxt<'_>) -> Regexes {
    Regexes::of(regex_records(robots).map(|record| robots.value(record)))
}

/// How many octets they take at most when they are compiled.
pub(crate) fn most_octets_of_regexes(robots: &RobotsTxt<'_>) -> usize {
    Regexes::most_octets(regex_records(robots).map(|record| robots.value(record)))
}

/// The first regular expression that is not run because the crawler's product token is too long (AIA-3), where
/// it could have chosen other groups than these.
#[cfg(feature = "report")]
pub(crate) fn first_not_run(
    robots: &RobotsTxt<'_>,
    crawler: &Crawler,
    selection: Option<&Selection>,
) -> Option<Record> {
    let is_too_long = crawler.product_token().as_str().len() > LONGEST_TOKEN;
    let is_named = || selection.is_some_and(|selection| selection.by == GroupBy::ProductToken);
    if is_too_long && !is_named() { regex_records(robots).next() } else { None }
}

/// The group-start lines that are regular expressions, in a dialect that reads any.
fn regex_records(robots: &RobotsTxt<'_>) -> impl Iterator<Item = Record> {
    let dialect = robots.dialect();
    let is_one = move |record: &Record| {
        let value = robots.value(*record);
        record.role() == Role::StartsGroup(GroupStart::ProductToken)
            && !is_global(value, dialect)
            && is_regex(value)
    };
    let reads_any = dialect.reads(Extension::AiAgents);
    let records: &[Record] = if reads_any { robots.records() } else { &[] };
    records.iter().copied().filter(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots_txt::ReadOptions;

    /// The kind of match, the records of the start lines, and the first and last record of each group.
    type Expected<'e> = Option<(GroupBy, &'e [usize], &'e [[usize; 2]])>;

    #[track_caller]
    fn check(dialect: Dialect, file: &str, expected: Expected<'_>) {
        let options = ReadOptions::default().with_dialect(dialect);
        let robots = RobotsTxt::read(file.as_bytes(), &options);
        let crawler = Crawler::new("a").expect("a token");
        let selection = select(&robots, &crawler, &mut ());
        let groups = selection.iter().flat_map(|s| &s.groups).map(|group| [group.start, group.end]);
        let groups: Vec<_> = groups.collect();
        let seen = selection.as_ref().map(|s| (s.by, &s.starts[..], &groups[..]));
        assert_eq!(seen, expected, "{file}");
    }

    #[test]
    fn the_token_goes_before_the_global_group() {
        let file = "User-agent: *\nDisallow: /\nUser-agent: b\nUser-agent: a\nAllow: /\nUser-agent: c";
        check(Dialect::RFC9309, file, Some((GroupBy::ProductToken, &[3], &[[2, 5]])));
    }

    #[test]
    fn matching_groups_are_combined() {
        let file = "User-agent: a\nDisallow: /x\nUser-agent: b\nDisallow: /\nUser-agent: A/2\nUser-agent: *\nAllow: /";
        check(Dialect::RFC9309, file, Some((GroupBy::ProductToken, &[0, 4], &[[0, 2], [4, 7]])));
    }

    #[test]
    fn global_groups_by_dialect() {
        let file = "User-agent: *\nUser-agent: * x\nDisallow: /x\nUser-agent: *y\nDisallow: /y\nUser-agent: *\nDisallow: /z";
        check(Dialect::RFC9309, file, Some((GroupBy::Global, &[0, 1, 5], &[[0, 3], [5, 7]])));
        check(Dialect::KOSTER_00, file, Some((GroupBy::Global, &[0, 1], &[[0, 3]])));
    }

    #[test]
    fn names_as_they_are_written() {
        let file = "User-agent: b\nDisallow: /1\nUser-agent: Bot\nDisallow: /2\n\
                    User-agent: UnicödeBÖt/2\nDisallow: /3\nUser-agent: *\nDisallow: /4\n\
                    User-agent: bot\nDisallow: /5";
        for (naming, sent, expected) in [
            (Naming::FirstWithin, "BOT", &[2, 8][..]),
            (Naming::FirstWithin, "Bot/1.0", &[0]),
            (Naming::FirstWithin, "x/bot", &[6]),
            (Naming::FirstWithin, "unicödeböt/2", &[4]),
            (Naming::FirstWithin, "*", &[6]),
            (Naming::LongestWithin, "Mozilla/5.0 (compatible; Bot/1.0; b)", &[2, 8]),
            (Naming::LongestWithin, "Mozilla/5.0 (compatible; b/1.0; x-Bot)", &[0]),
            (Naming::LongestWithin, "UnicödeBöt/2.1", &[4]),
            (Naming::LongestWithin, "äb", &[6]),
            (Naming::LongestWithin, "", &[6]),
        ] {
            let dialect = Dialect::RFC9309.with_naming(naming);
            let options = ReadOptions::default().with_dialect(dialect);
            let robots = RobotsTxt::read(file.as_bytes(), &options);
            let crawler = Crawler::from_user_agent(sent);
            let starts = select(&robots, &crawler, &mut ()).map(|found| found.starts);
            assert_eq!(starts.as_deref(), Some(expected), "{naming:?} {sent}");
        }
    }

    #[test]
    fn nobody_names_a_crawler_without_a_product_token() {
        let file =
            "User-agent: .*\nDisallow: /\nUser-agent: */x\nDisallow: /\nUser-agent: * x\nAllow: /";
        let robots = RobotsTxt::parse(file.as_bytes());
        let found = select(&robots, &Crawler::unnamed(), &mut ()).expect("the global group");
        assert_eq!((found.by, &found.starts[..]), (GroupBy::Global, &[4][..]));
        let app = select_for_application(&robots, Crawler::unnamed().product_token());
        assert_eq!(app.map(|found| found.starts), Some(vec![4]));
    }

    #[test]
    fn what_is_a_regular_expression() {
        for value in [".*", ".*?-ai$", "[a-z]+", "a|b", "^a", r"\w+", "a.+b", "a.* b", "a(b)$"] {
            assert!(is_regex(value.as_bytes()), "{value}");
        }
        for value in [
            "FooBot",
            "quillbot.com",
            "FooBot (http://foo.test)",
            "FrontPage [NC,OR]",
            "foo bar$",
            "*-ai",
            "a/1.0",
            "a+b",
            "",
        ] {
            assert!(!is_regex(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn long_tokens_and_large_expressions() {
        let file = format!("{}User-agent: a+.*\nDisallow: /", "User-agent: b.*\n".repeat(63));
        let robots = RobotsTxt::parse(file.as_bytes());
        for (length, is_found) in [(1, true), (128, true), (129, false), (1_000_000, false)] {
            let crawler = Crawler::new(&"a".repeat(length)).expect("a token");
            let found = select(&robots, &crawler, &mut ()).map(|found| found.starts);
            assert_eq!(found, is_found.then(|| vec![63]), "{length}");
        }
        // What repetitions with counts take is limited for all together; other expressions behind them are used.
        let behind = |last: &str| {
            format!("{}User-agent: {last}\nDisallow: /", "User-agent: (?:.*x?){60}N\n".repeat(20))
        };
        check(Dialect::RFC9309, &behind("a.*"), Some((GroupBy::Regex, &[20], &[[0, 22]])));
        check(Dialect::RFC9309, &behind("(?:a.?){1,20}"), None);
        let file = behind("a.*").replacen("User-agent: ", "User-agent: (?:a.?){1,20}\nUser-agent: ", 1);
        check(Dialect::RFC9309, &file, Some((GroupBy::Regex, &[0, 21], &[[0, 23]])));
    }

    /// The records that are not rules are found by their own list as by reading all records of the groups.
    #[test]
    fn non_rules_of_groups() {
        let lines = [
            "User-agent: a\n",
            "User-agent: b\n",
            "User-agent: *\n",
            "Disallow: /\n",
            "Crawl-delay: 1\n",
            "Content-Usage: bots=y\n",
            "Sitemap: s\n",
        ];
        let mut state = 5_u32;
        let mut next = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        let is_non_rule =
            |record: &Record| !matches!(record.role(), Role::Rule(_) | Role::StartsGroup(_));
        let mut found = 0;
        for _ in 0..2_000 {
            let text: String = (0..next(30)).map(|_| lines[next(lines.len())]).collect();
            let robots = RobotsTxt::parse(text.as_bytes());
            let records = robots.records();
            let all: Vec<_> = records.iter().copied().filter(is_non_rule).collect();
            assert!(robots.non_rules().all(&robots).eq(all), "{text}");
            let before = records.iter().copied().take_while(|record| !record.starts_group());
            assert!(robots.non_rules().before_groups(&robots).eq(before.filter(is_non_rule)), "{text}");
            for token in ["a", "b", "c"] {
                let crawler = Crawler::new(token).expect("a token");
                let Some(selection) = select(&robots, &crawler, &mut ()) else { continue };
                let expected: Vec<_> = selection.records(&robots).filter(is_non_rule).collect();
                let seen: Vec<_> = selection.non_rules(&robots).collect();
                assert_eq!(seen, expected, "{text}");
                found += seen.len();
            }
        }
        assert!(found > 10_000, "{found}");
    }

    #[test]
    fn no_group_at_all() {
        check(Dialect::RFC9309, "Disallow: /", None);
        check(Dialect::RFC9309, "User-agent: b\nDisallow: /", None);
        check(Dialect::RFC9309, "", None);
    }
}
