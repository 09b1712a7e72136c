//! Files → the crawlers to compare: those that the files name, one that no file names, and those that a
//! purpose or a regular expression names (REP-4, PUR-1, AIA-2).
//!
//! Only the group-start lines that name a crawler decide which groups apply. So it is enough to decide for
//! each token that a line names, and for one that no line names.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::BuildHasher;
use std::ops::Range;

use crate::crawler::{Crawler, ProductToken, is_letter_of_token, split_token};
use crate::dialect::Naming;
use crate::directive::{GroupStart, Role};
use crate::extension::Extension;
use crate::regexes::Regexes;
use crate::robots_txt::{Record, RobotsTxt};
use crate::selection;
use crate::work::Work;

use super::rules::{EffectiveRule, effective_rules};

/// A reader.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    /// What people call it: a product token, `*`, a purpose or a regular expression.
    pub(super) label: String,
    pub(super) crawler: Crawler,
    /// Whether a line names it explicitly. `MJ12bot` names `MJ` too, but nobody means that.
    pub(super) is_meant: bool,
}

/// Who reads some files.
#[derive(Debug, Default)]
pub(super) struct Readers {
    pub(super) all: Vec<Reader>,
    /// How many more are named; a file can name very many.
    pub(super) left_out: usize,
}

/// The maximum number of readers. Each of them costs a pass over the file.
const MOST_READERS: usize = 1500;

/// For how many regular expressions to find a matching crawler.
const MOST_REGEX_READERS: usize = 16;

impl Readers {
    /// Everyone that one of the files names, in file order, after the one that none names.
    pub(super) fn of(files: &[&RobotsTxt<'_>], work: &Work) -> Self {
        let unnamed = Crawler::unnamed();
        let mut readers = Self {
            all: vec![Reader { label: "*".to_owned(), crawler: unnamed.clone(), is_meant: true }],
            left_out: 0,
        };
        let mut known = Known::default();
        let mut regexes = BTreeSet::new();
        for robots in files {
            for record in robots.records() {
                let Role::StartsGroup(start) = record.role() else { continue };
                let value = robots.value(*record);
                if start == GroupStart::Purpose {
                    let purpose = String::from_utf8_lossy(value);
                    let label = format!("purpose {purpose}");
                    if let Ok(crawler) = unnamed.clone().with_purpose(&purpose) {
                        readers.add(&mut known, label, crawler, true);
                    }
                } else if selection::is_global(value, robots.dialect()) {
                    // The one that none names.
                } else if robots.dialect().reads(Extension::AiAgents) && selection::is_regex(value) {
                    regexes.insert(value);
                } else if robots.dialect().naming == Naming::Token {
                    readers.add_tokens(&mut known, value);
                } else {
                    let name = String::from_utf8_lossy(value);
                    let crawler = Crawler::new(&name).unwrap_or_else(|_| Crawler::unnamed());
                    readers.add(&mut known, name.clone().into_owned(), crawler.sending(&name), true);
                }
            }
        }
        for regex in regexes.into_iter().take(MOST_REGEX_READERS) {
            if let Some(crawler) = matching_crawler(regex, files[0], &readers, work) {
                let label = format!("{} ({})", String::from_utf8_lossy(regex), crawler.product_token());
                readers.add(&mut known, label, crawler, true);
            }
        }
        readers
    }

    /// A reader with this token, unless there is one.
    pub(super) fn add_token(&mut self, token: &ProductToken) {
        let is = |reader: &Reader| {
            reader.crawler.product_token().as_str().eq_ignore_ascii_case(token.as_str())
                && reader.crawler.purposes().next().is_none()
        };
        if !self.all.iter().any(is) {
            let crawler = Crawler::from(token.clone());
            self.all.push(Reader { label: token.to_string(), crawler, is_meant: true });
        }
    }

    /// The tokens that a value names: the one that it starts with (REP-4), and the letters at the start of
    /// that one, because Google reads only these.
    fn add_tokens(&mut self, known: &mut Known, value: &[u8]) {
        let Ok(token) = str::from_utf8(split_token(value).0) else { return };
        // Dots alone are never meant as a name, as in `.*-ai` if it is not an expression.
        let is_name = token.bytes().any(|octet| octet.is_ascii_alphanumeric());
        let letters = token.bytes().position(|octet| !is_letter_of_token(octet));
        for (end, is_meant) in [(Some(token.len()), is_name), (letters, false)] {
            let Some(token) = end.map(|end| &token[..end]) else { continue };
            // When there are enough, the others are only counted.
            if self.all.len() >= MOST_READERS {
                self.left_out += usize::from(known.is_new_and_many(token));
            } else if let Ok(crawler) = Crawler::new(token) {
                self.add(known, token.to_owned(), crawler, is_meant);
            }
        }
    }

    fn add(&mut self, known: &mut Known, label: String, crawler: Crawler, meant: bool) {
        if self.all.len() >= MOST_READERS {
            self.left_out += usize::from(known.is_new_and_many(&label));
            return;
        }
        let key = label.to_ascii_lowercase();
        if let Some(&place) = known.places.get(&key) {
            if let Some(reader) = self.all.get_mut(place) {
                reader.is_meant |= meant;
            }
            return;
        }
        known.places.insert(key, self.all.len());
        self.all.push(Reader { label, crawler, is_meant: meant });
    }

    /// Keeps only this many, from the first on.
    pub(super) fn keep_first(&mut self, count: usize) {
        self.left_out += self.all.len().saturating_sub(count);
        self.all.truncate(count);
    }
}

/// The labels so far, in lower case, with the place of each. Of labels beyond the maximum only a hash is
/// kept, because a file can name very many.
#[derive(Default)]
struct Known {
    places: HashMap<String, usize>,
    too_many: HashSet<u64>,
}

impl Known {
    /// Whether a label is one that was not seen before, where no more are taken.
    fn is_new_and_many(&mut self, label: &str) -> bool {
        let key = label.to_ascii_lowercase();
        let hash = self.places.hasher().hash_one(&key);
        !self.places.contains_key(&key) && self.too_many.insert(hash)
    }
}

/// The names on the group-start lines of a file, as they are written, in its order and in lower case.
pub(super) fn names_in(robots: &RobotsTxt<'_>) -> impl Iterator<Item = String> {
    let starts = |record: &&Record| record.starts_group();
    let names = robots.records().iter().filter(starts).map(|record| robots.value(*record));
    names.map(|name| String::from_utf8_lossy(name).to_lowercase())
}

/// A crawler that a regular expression of a file matches: a known one, or a name made of the letters of the
/// expression.
fn matching_crawler(
    regex: &[u8],
    robots: &RobotsTxt<'_>,
    readers: &Readers,
    work: &Work,
) -> Option<Crawler> {
    let regexes = Regexes::of(std::iter::once(regex));
    let program = regexes.get(0).ok()?;
    let text = String::from_utf8_lossy(regex).replace([')', '('], "|");
    let spelled = text.split('|').map(|part| {
        part.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect::<String>()
    });
    let spelled = spelled.flat_map(|letters| {
        let longer = [format!("example{letters}"), format!("{letters}bot"), format!("{letters}-ai")];
        std::iter::once(letters).chain(longer)
    });
    let known = robots.registry().agents().iter().map(|agent| agent.token.to_string());
    let is_named = |token: &str| {
        !work.spend(readers.all.len() / 2, "regular expressions")
            || readers.all.iter().any(|reader| reader.label.eq_ignore_ascii_case(token))
    };
    let tokens = known
        .chain(spelled)
        .take_while(|token| work.spend(program.cost(token) + 10, "regular expressions"));
    let mut tokens = tokens.filter(|token| program.matches(token));
    tokens.find_map(|token| Crawler::new(&token).ok().filter(|_| !is_named(&token)))
}

/// The regular expressions of a file, each with the groups that it starts.
pub(super) struct RegexGroups<'r, 't> {
    robots: &'r RobotsTxt<'t>,
    groups: Vec<Range<usize>>,
    pub(super) starts: BTreeMap<&'r [u8], Vec<usize>>,
}

/// What groups contain: their rules, and their other records as they are written.
pub(super) type Brought<'r> = (BTreeSet<EffectiveRule<'r>>, BTreeSet<(&'static str, &'r [u8])>);

impl<'r, 't> RegexGroups<'r, 't> {
    pub(super) fn of(robots: &'r RobotsTxt<'t>) -> Self {
        let mut of_file = Self { robots, groups: Vec::new(), starts: BTreeMap::new() };
        if !robots.dialect().reads(Extension::AiAgents) {
            return of_file;
        }
        let is_regex = |value: &&[u8]| {
            !selection::is_global(value, robots.dialect()) && selection::is_regex(value)
        };
        for group in robots.group_ranges() {
            let records = &robots.records()[group.clone()];
            let starts = records
                .iter()
                .filter(|record| record.role() == Role::StartsGroup(GroupStart::ProductToken));
            for start in starts.map(|record| robots.value(*record)).filter(is_regex) {
                let groups = of_file.starts.entry(start).or_default();
                if groups.last() != Some(&of_file.groups.len()) {
                    groups.push(of_file.groups.len());
                }
            }
            of_file.groups.push(group);
        }
        of_file
    }

    /// What some groups bring together to those that an expression matches. A crawler may match several, so
    /// what is to be the same for all crawlers has to be the same for each expression. None where there is
    /// too little left to find out.
    pub(super) fn brought_by(&self, groups: &[usize], work: &Work) -> Option<Brought<'r>> {
        let mut brought = Brought::default();
        for group in groups.iter().map(|place| &self.groups[*place]) {
            let records = &self.robots.records()[group.clone()];
            let octets = records.iter().map(|record| self.robots.value(*record).len()).sum::<usize>();
            if !work.spend(40 * records.len() + octets, "regular expressions") {
                return None;
            }
            brought
                .0
                .extend(effective_rules(self.robots, records.iter().copied()).map(|(rule, _)| rule));
            let is_other =
                |record: &&Record| matches!(record.role(), Role::GroupRecord | Role::Statement);
            let written = |record: &Record| (record.directive().name, self.robots.value(*record));
            brought.1.extend(records.iter().filter(is_other).map(written));
        }
        Some(brought)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_named() {
        let robots = RobotsTxt::parse(
            b"User-agent: MJ12bot\nUser-agent: a/1\nUser-agent: A\nUser-agent: *\nUser-agent: .*-ai$\n\
              User-agent: unnamed-crawler\nUser-Agent-Purpose: P\nDisallow: /\n",
        );
        let readers = Readers::of(&[&robots], &Work::of(1_000_000));
        let meant: Vec<_> =
            readers.all.iter().filter(|reader| reader.is_meant).map(|reader| &*reader.label).collect();
        assert_eq!(meant[..5], ["*", "MJ12bot", "a", "unnamed-crawler", "purpose P"]);
        assert!(meant[5].starts_with(".*-ai$ ("), "{meant:?}");
        let shorter: Vec<_> =
            readers.all.iter().filter(|reader| !reader.is_meant).map(|reader| &*reader.label).collect();
        assert_eq!(shorter, ["MJ"]);
        assert_eq!(readers.all[0].crawler, Crawler::unnamed());
    }
}
