//! A file and a crawler → the groups whose rules hold for it (REP-4, REP-5, REP-6).

use std::ops::Range;

use crate::crawler::Crawler;
use crate::dialect::{Dialect, GlobalGroups, Lines, Tokens};
use crate::directive::Role;
use crate::robots_txt::RobotsTxt;

/// How the groups that apply were found, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum GroupBy {
    /// A group-start line has the crawler's product token.
    ProductToken,
    /// None has it, and a group-start line has `*`.
    Global,
}

impl GroupBy {
    /// As reports have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProductToken => "product-token",
            Self::Global => "global",
        }
    }
}

/// The groups that apply, combined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) by: GroupBy,
    /// The records of the group-start lines that matched.
    pub(crate) starts: Vec<usize>,
    /// The records of each group, in file order.
    pub(crate) groups: Vec<Range<usize>>,
}

/// Sees how groups are selected and rules compared, if anybody watches.
pub(crate) trait Observer {
    /// A group-start line was read: how it names the crawler, if it does, and whether it is the
    /// first of its group.
    fn start_line(&mut self, _record: usize, _by: Option<GroupBy>, _first: bool) {}
    /// A rule was found to match, with this many octets.
    fn matching_rule(&mut self, _record: usize, _octets: usize) {}
}

/// Nobody watches.
impl Observer for () {}

/// Selects the groups of a crawler in one pass over the records. A stronger way of matching throws
/// away what a weaker one has gathered.
pub(crate) fn select(
    robots: &RobotsTxt<'_>,
    crawler: &Crawler,
    observer: &mut impl Observer,
) -> Option<Selection> {
    let dialect = robots.dialect();
    let mut selection: Option<Selection> = None;
    let mut group_start = 0;
    let mut group_is_chosen = false;
    let mut in_rules = true; // so that the first group-start line starts a group

    let close = |selection: &mut Option<Selection>, end: usize| {
        let last = selection.as_mut().and_then(|selection| selection.groups.last_mut());
        if let Some(group) = last {
            group.end = end;
        }
    };

    for (index, record) in robots.records().iter().enumerate() {
        match record.role() {
            Role::StartsGroup => {}
            Role::Rule(_) => {
                in_rules = true;
                continue;
            }
            Role::GroupRecord | Role::FileRecord => continue,
        }
        let first = in_rules;
        if first {
            if group_is_chosen {
                close(&mut selection, index);
            }
            (group_start, group_is_chosen, in_rules) = (index, false, false);
        }
        let by = named_by(robots.value(*record), crawler, dialect);
        observer.start_line(index, by, first);
        let Some(by) = by else { continue };
        if selection.as_ref().is_none_or(|selection| by < selection.by) {
            selection = Some(Selection { by, starts: Vec::new(), groups: Vec::new() });
            group_is_chosen = false;
        }
        let Some(selection) = selection.as_mut().filter(|selection| selection.by == by) else {
            continue;
        };
        let only_first = by == GroupBy::Global && dialect.global_groups == GlobalGroups::First;
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

/// How the value of a group-start line names the crawler (REP-4).
fn named_by(value: &[u8], crawler: &Crawler, dialect: &Dialect) -> Option<GroupBy> {
    if let Some(rest) = value.strip_prefix(b"*") {
        let ends_token = match (rest.first(), dialect.lines) {
            (None | Some(b' ' | b'\t'), _) => true,
            (Some(octet), Lines::Cut(_)) => matches!(octet, b'\t'..=b'\r'),
            (Some(_), Lines::Whole) => false,
        };
        return ends_token.then_some(GroupBy::Global);
    }
    let token = crawler.product_token();
    let can_be_named = match dialect.tokens {
        Tokens::WithDigitsAndDots => true,
        Tokens::LettersOnly => token.is_letters_only(),
    };
    (can_be_named && token.is_named_by(value)).then_some(GroupBy::ProductToken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots_txt::ReadOptions;

    /// How, the records of the start lines, and the first and last record of each group.
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
    fn no_group_at_all() {
        check(Dialect::RFC9309, "Disallow: /", None);
        check(Dialect::RFC9309, "User-agent: b\nDisallow: /", None);
        check(Dialect::RFC9309, "", None);
    }
}
