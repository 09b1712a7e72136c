//! The group-start lines of a file, sorted by what they name: for those who ask for the groups of many crawlers.
//!
//! [`select`](super::select) reads all start lines of a file, which is the quickest way for one crawler. A log can name
//! thousands of crawlers, and a file can have tens of thousands of start lines: reading all of them for each crawler would
//! take seconds. Here the lines are read once, and those that name a crawler are found by a binary search. A law checks
//! that both ways select the same groups.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::ops::Range;

use super::{GroupBy, Selection, Wanted, names_by, with_wanted};
use crate::crawler::{Crawler, ProductToken, token_named_by};
use crate::dialect::GlobalGroups;
use crate::extension::Extension;
use crate::regexes::cost_of_programs;
use crate::robots_txt::{RobotsTxt, start_lines};
use crate::span::LineNumber;

/// The group-start lines of one file.
#[derive(Debug)]
pub(crate) struct GroupsByName {
    /// In file order. The other lists have places in this one.
    starts: Vec<Start>,
    /// The first line of each group and the records behind that, in file order.
    groups: Vec<(LineNumber, Range<u32>)>,
    /// By the token that each names, then in file order.
    tokens: Vec<u32>,
    /// How many octets these have together.
    octets_of_tokens: usize,
    /// By purpose, then in file order.
    purposes: Vec<u32>,
    /// Regular expressions, in file order.
    regexes: Vec<u32>,
    /// Those of them that are used, from when one is tried.
    used: OnceCell<UsedRegexes>,
    global: Vec<u32>,
}

/// The regular expressions that are used.
#[derive(Debug)]
struct UsedRegexes {
    /// The place of each among all expressions of the file, and among the start lines.
    places: Vec<(u32, u32)>,
    /// How many steps they have together.
    steps: usize,
}

/// A group-start line.
#[derive(Clone, Copy, Debug)]
struct Start {
    record: u32,
    line: LineNumber,
    group: u32,
    /// Where in the text the token or the purpose is that it names. A name can be as long as the file, and is compared with
    /// thousands of others: so where it ends is not looked for again.
    name_at: u32,
    name: u32,
}

/// The start lines that name a crawler, by the place of each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Named {
    /// All lines with the token that this one names.
    Token(u32),
    /// All lines for everybody.
    Global,
    /// These lines.
    Lines(GroupBy, Box<[u32]>),
}

impl Named {
    /// How they name it.
    pub(crate) fn by(&self) -> GroupBy {
        match self {
            Self::Token(_) => GroupBy::ProductToken,
            Self::Global => GroupBy::Global,
            Self::Lines(by, _) => *by,
        }
    }

    /// How many octets of memory it takes beside its own.
    pub(crate) fn octets(&self) -> usize {
        if let Self::Lines(_, lines) = self { size_of_val(&**lines) } else { 0 }
    }
}

impl GroupsByName {
    pub(crate) fn of(robots: &RobotsTxt<'_>) -> Self {
        let dialect = robots.dialect();
        let reads_regex = dialect.reads(Extension::AiAgents);
        let mut found = Self {
            starts: Vec::new(),
            groups: Vec::new(),
            tokens: Vec::new(),
            octets_of_tokens: 0,
            purposes: Vec::new(),
            regexes: Vec::new(),
            used: OnceCell::new(),
            global: Vec::new(),
        };
        let mut lines = robots.record_lines();
        for (index, start, first) in start_lines(robots.records(), dialect) {
            let (record, line) = (index as u32, lines.line_of(index));
            if first || found.groups.is_empty() {
                if let Some((_, records)) = found.groups.last_mut() {
                    records.end = record;
                }
                found.groups.push((line, record + 1..robots.records().len() as u32));
            }
            let place = found.starts.len() as u32;
            let range = robots.range(robots.records()[index]);
            let value = &robots.text()[range.clone()];
            let by = names_by(value, start, reads_regex, dialect);
            let is_token = by == GroupBy::ProductToken && dialect.compares_product_tokens();
            let name = if is_token { token_named_by(value, dialect.tokens) } else { value };
            let (name_at, name) = (range.start as u32, name.len() as u32);
            match by {
                GroupBy::ProductToken => {
                    found.octets_of_tokens += name as usize;
                    found.tokens.push(place);
                }
                GroupBy::Regex => found.regexes.push(place),
                GroupBy::Purpose => found.purposes.push(place),
                GroupBy::Global => found.global.push(place),
            }
            let group = found.groups.len() as u32 - 1;
            found.starts.push(Start { record, line, group, name_at, name });
        }
        if dialect.global_groups == GlobalGroups::First {
            let group_of = |place: &u32| found.starts[*place as usize].group;
            let first = found.global.first().map(group_of);
            found.global.retain(|place| Some(found.starts[*place as usize].group) == first);
        }
        let [mut tokens, mut purposes] = [&mut found.tokens, &mut found.purposes].map(std::mem::take);
        for places in [&mut tokens, &mut purposes] {
            places.sort_by(|a, b| in_order(found.name(robots, *a), found.name(robots, *b)));
        }
        Self { tokens, purposes, ..found }
    }

    /// The lines that name a crawler, of the strongest kind that there is (PUR-3), as [`select`](super::select) selects.
    pub(crate) fn select(&self, robots: &RobotsTxt<'_>, crawler: &Crawler) -> Option<Named> {
        with_wanted(robots, crawler, |wanted| self.select_wanted(robots, wanted))
    }

    /// The lines that name an application with this product token, as
    /// [`select_for_application`](super::select_for_application) selects.
    pub(crate) fn select_for_application(
        &self,
        robots: &RobotsTxt<'_>,
        token: &ProductToken,
    ) -> Option<Named> {
        self.select_wanted(robots, &Wanted::by_application(robots, token))
    }

    fn select_wanted(&self, robots: &RobotsTxt<'_>, wanted: &Wanted<'_>) -> Option<Named> {
        match &wanted.written {
            Some(_) => self.select_as_written(robots, wanted),
            None => self.select_token(robots, wanted).or_else(|| self.select_others(robots, wanted)),
        }
    }

    /// What it costs to select, in units of work, beside some for each crawler: at most, if that is no more than `most`, or
    /// else as it was found out by trying. If it is more than `most`, how much more is not found out.
    pub(crate) fn cost(&self, robots: &RobotsTxt<'_>, crawler: &Crawler, most: usize) -> usize {
        with_wanted(robots, crawler, |wanted| self.cost_of_wanted(robots, wanted, most))
    }

    /// The same for an application with this product token.
    pub(crate) fn cost_for_application(
        &self,
        robots: &RobotsTxt<'_>,
        token: &ProductToken,
        most: usize,
    ) -> usize {
        self.cost_of_wanted(robots, &Wanted::by_application(robots, token), most)
    }

    fn cost_of_wanted(&self, robots: &RobotsTxt<'_>, wanted: &Wanted<'_>, most: usize) -> usize {
        match &wanted.written {
            Some(written) => {
                let (lines, sent) = (self.tokens.len(), written.sent.len());
                lines * (4 + sent / 2) + self.octets_of_tokens.min(lines * sent)
            }
            None if self.regexes.is_empty() || self.select_token(robots, wanted).is_some() => 0,
            None => {
                let UsedRegexes { places, steps } = self.used(robots);
                let Some(token) = wanted.token.map(ProductToken::as_str) else { return 0 };
                let at_most = cost_of_programs(places.len(), *steps, token);
                if at_most <= most {
                    return at_most;
                }
                // Mostly it is much less: a list of names ends at the first letter.
                let mut left = most;
                for (regex, _) in places {
                    let program = robots.regexes().get(*regex as usize);
                    match program.ok().and_then(|program| program.work(token, left)) {
                        Some(work) => left -= work,
                        None => return most.saturating_add(1),
                    }
                }
                most - left
            }
        }
    }

    /// How many group-start lines there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// About how many octets of memory it takes.
    pub(crate) fn octets(&self) -> usize {
        let places = [&self.tokens, &self.purposes, &self.regexes, &self.global];
        self.starts.capacity() * size_of::<Start>()
            + self.groups.capacity() * size_of::<(LineNumber, Range<u32>)>()
            + places.map(|places| places.capacity() * size_of::<u32>()).iter().sum::<usize>()
    }

    /// The numbers of the lines, in file order.
    pub(crate) fn lines(&self, robots: &RobotsTxt<'_>, named: &Named) -> Box<[LineNumber]> {
        self.places(robots, named).iter().map(|place| self.starts[*place as usize].line).collect()
    }

    /// The groups that they start, each with its first line and the records behind that.
    pub(crate) fn groups(
        &self,
        robots: &RobotsTxt<'_>,
        named: &Named,
    ) -> Vec<(LineNumber, Range<usize>)> {
        let group_of = |place: &u32| self.starts[*place as usize].group;
        let mut groups: Vec<u32> = self.places(robots, named).iter().map(group_of).collect();
        groups.dedup();
        let records = |group: u32| {
            let (line, Range { start, end }) = self.groups[group as usize].clone();
            (line, start as usize..end as usize)
        };
        groups.into_iter().map(records).collect()
    }

    /// The same as [`select`](super::select) gives them.
    pub(crate) fn selection(&self, robots: &RobotsTxt<'_>, named: &Named) -> Selection {
        let record_of = |place: &u32| self.starts[*place as usize].record as usize;
        let starts = self.places(robots, named).iter().map(record_of).collect();
        let groups = self.groups(robots, named).into_iter();
        let groups = groups.map(|(_, records)| records.start - 1..records.end).collect();
        Selection::of_groups(named.by(), starts, groups)
    }

    fn places<'a>(&'a self, robots: &RobotsTxt<'_>, named: &'a Named) -> &'a [u32] {
        match named {
            Named::Token(place) => self.with_name(&self.tokens, robots, self.name(robots, *place)),
            Named::Global => &self.global,
            Named::Lines(_, places) => places,
        }
    }

    fn used(&self, robots: &RobotsTxt<'_>) -> &UsedRegexes {
        self.used.get_or_init(|| {
            let regexes = self.regexes.iter().enumerate();
            let used = regexes.filter_map(|(regex, place)| {
                let program = robots.regexes().get(regex).ok()?;
                Some((program.steps(), (regex as u32, *place)))
            });
            let (steps, places): (Vec<_>, _) = used.unzip();
            UsedRegexes { places, steps: steps.iter().sum() }
        })
    }

    fn select_token(&self, robots: &RobotsTxt<'_>, wanted: &Wanted<'_>) -> Option<Named> {
        let tokens = wanted.token.into_iter().chain(wanted.fallbacks);
        let mut texts = tokens.map(|token| token.compared(wanted.dialect.tokens).as_bytes());
        texts
            .find_map(|text| self.with_name(&self.tokens, robots, text).first().copied())
            .map(Named::Token)
    }

    fn select_others(&self, robots: &RobotsTxt<'_>, wanted: &Wanted<'_>) -> Option<Named> {
        let lines =
            |by, places: Vec<u32>| (!places.is_empty()).then(|| Named::Lines(by, places.into()));
        let by_regex = || {
            let token = wanted.token?;
            let matches =
                |(regex, _): &&(u32, u32)| robots.regexes().matches(*regex as usize, token.as_str());
            let matching = self.used(robots).places.iter().filter(matches);
            lines(GroupBy::Regex, matching.map(|(_, place)| *place).collect())
        };
        let by_purpose = || {
            let found = |purpose: &&str| self.with_name(&self.purposes, robots, purpose.as_bytes());
            let mut places: Vec<u32> = wanted.purposes.iter().flat_map(found).copied().collect();
            places.sort_unstable();
            places.dedup();
            lines(GroupBy::Purpose, places)
        };
        let global = || (wanted.heeds_global && !self.global.is_empty()).then_some(Named::Global);
        by_regex().or_else(by_purpose).or_else(global)
    }

    /// In a dialect in which a name is any part of what a crawler sends, all lines are read.
    fn select_as_written(&self, robots: &RobotsTxt<'_>, wanted: &Wanted<'_>) -> Option<Named> {
        let selection = wanted.select(robots, &mut ())?;
        let place_of = |index: &usize| {
            self.starts.partition_point(|start| (start.record as usize) < *index) as u32
        };
        let places: Box<[u32]> = selection.starts.iter().map(place_of).collect();
        let is_global = selection.by == GroupBy::Global && *places == *self.global;
        Some(if is_global { Named::Global } else { Named::Lines(selection.by, places) })
    }

    /// Those of sorted places that have this name.
    fn with_name<'a>(&self, places: &'a [u32], robots: &RobotsTxt<'_>, name: &[u8]) -> &'a [u32] {
        let compare = |place: &u32| in_order(self.name(robots, *place), name);
        let start = places.partition_point(|place| compare(place) == Ordering::Less);
        let found = &places[start..];
        &found[..found.partition_point(|place| compare(place) == Ordering::Equal)]
    }

    fn name<'r>(&self, robots: &'r RobotsTxt<'_>, place: u32) -> &'r [u8] {
        let Start { name_at, name, .. } = self.starts[place as usize];
        &robots.text()[name_at as usize..][..name as usize]
    }
}

/// Compares names; the case of letters makes no difference (REP-4).
fn in_order(a: &[u8], b: &[u8]) -> Ordering {
    a.iter().map(u8::to_ascii_lowercase).cmp(b.iter().map(u8::to_ascii_lowercase))
}

#[cfg(test)]
mod tests {
    use super::super::select;
    use super::*;
    use crate::dialect::Dialect;
    use crate::robots_txt::ReadOptions;

    /// Files of lines that name crawlers in all ways, in all orders of a few, in all dialects.
    #[test]
    fn what_is_selected_is_what_reading_all_lines_selects() {
        let lines = [
            "User-agent: a\n",
            "User-agent: A/1.0 b\n",
            "User-agent: b...\n",
            "User-agent: *\n",
            "User-agent: * c\n",
            "User-agent: .*b$\n",
            "User-agent: a|b2\n",
            "User-agent: ab\n",
            "User-agent:\n",
            "User-agent-purpose: search\n",
            "User-agent-purpose: Train\n",
            "Disallow: /x\n",
            "Crawl-delay: 1\n",
            "\n",
        ];
        let tokens = ["a", "B", "ab", "b2", "A.", "zb", "Applebot", "a-c"];
        let with_purposes = |token: &&str, purposes: &[&str]| {
            let crawler = Crawler::new(token).expect("a token");
            purposes
                .iter()
                .fold(crawler, |crawler, purpose| crawler.with_purpose(purpose).expect("a purpose"))
        };
        let purposes: [&[&str]; 3] = [&[], &["search"], &["train", "search"]];
        let crawlers = tokens.iter().flat_map(|token| purposes.map(|some| with_purposes(token, some)));
        let crawlers: Vec<_> = crawlers.chain([Crawler::unnamed()]).collect();
        let mut state = 7_u32;
        let mut next = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        let mut ways = std::collections::HashSet::new();
        for _ in 0..400 {
            let text: String = (0..=next(9)).map(|_| lines[next(lines.len())]).collect();
            for dialect in Dialect::ALL {
                let options = ReadOptions::default().with_dialect(dialect.clone());
                let robots = RobotsTxt::read(text.as_bytes(), &options);
                let groups = GroupsByName::of(&robots);
                for crawler in &crawlers {
                    let named = groups.select(&robots, crawler);
                    let seen = named.as_ref().map(|named| {
                        ways.insert(named.by());
                        let lines = groups.lines(&robots, named).into_vec();
                        (named.by(), lines, groups.groups(&robots, named))
                    });
                    let selection = named.as_ref().map(|named| {
                        let found = groups.selection(&robots, named);
                        (found.by, found.starts, found.groups)
                    });
                    let line_of = |record: &usize| robots.line_of(robots.records()[*record]);
                    let expected = select(&robots, crawler, &mut ());
                    let found = expected.clone().map(|it| (it.by, it.starts, it.groups));
                    assert_eq!(selection, found, "{} of {crawler:?}:\n{text}", dialect.name());
                    let expected = expected.map(|found| {
                        let lines = found.starts.iter().map(line_of).collect();
                        let group = |records: &Range<usize>| {
                            (line_of(&records.start), records.start + 1..records.end)
                        };
                        (found.by, lines, found.groups.iter().map(group).collect())
                    });
                    assert_eq!(seen, expected, "{} of {crawler:?}:\n{text}", dialect.name());
                }
            }
        }
        assert_eq!(ways.len(), 4);
    }
}
