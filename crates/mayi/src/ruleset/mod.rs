//! The rules that hold for one crawler, prepared for many questions.
//!
//! Rules are ranked once: the most octets first, allow before disallow, then file order. The answer
//! is the matching rule of the lowest rank (REP-8), so a short list is tried from the top and the
//! first match wins. A long one has an index that names the few rules worth trying.

mod index;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use self::index::Index;
use crate::decision::{ChosenGroup, DecidingRule, Decision, Reason};
use crate::dialect::Comparison;
use crate::directive::{Role, RuleKind};
use crate::forms::{Folds, Forms};
use crate::octets::{first_eight, mask_of};
use crate::pattern::{PathPattern, Shape, Wildcards, index_page_folder, matches_one_of};
use crate::robots_txt::RobotsTxt;
use crate::selection::{GroupBy, Selection};
use crate::span::{LineCounter, LineNumber, Span};
use crate::target::Target;

/// The rules of a file that hold for one crawler: `robots.for_crawler(&crawler)`.
///
/// It borrows nothing, is a pointer to clone, and is asked through `&self` from any thread.
///
/// ```
/// use mayi::{Crawler, RobotsTxt, Target};
///
/// let robots = RobotsTxt::parse(b"User-agent: *\nDisallow: /*.pdf$\n");
/// let rules = robots.for_crawler(&Crawler::new("ExampleBot")?);
/// drop(robots);
/// let shared = rules.clone();
/// std::thread::spawn(move || {
///     let target = Target::parse("https://example.com/a.pdf").expect("a good URL");
///     assert!(!shared.decide(&target).is_allowed());
/// });
/// # Ok::<(), mayi::InvalidProductToken>(())
/// ```
#[derive(Clone)]
pub struct CrawlerRules {
    prepared: Arc<Prepared>,
}

struct Prepared {
    /// What counts of the dialect that the file was read in.
    dialect: &'static str,
    comparison: Comparison,
    allows_robots_txt: bool,
    group: Option<(GroupBy, Box<[LineNumber]>)>,
    /// By rank.
    rules: Box<[Rule]>,
    /// What any of the rules asks for.
    folds: Folds,
    /// The texts of all patterns.
    arena: Box<[u8]>,
    search: Search,
}

/// How the rules worth trying are found.
enum Search {
    /// From the top, by the first octets of each rule, by rank: they tell most rules from a target.
    Heads(Box<[Head]>),
    /// By an index, where there are many.
    Index(Box<Index>),
}

/// A rule whose pattern has been prepared. There can be tens of thousands, and many files are kept: what
/// follows from the rest is not in here.
struct Rule {
    /// Where the pattern stands in the file, and on which line.
    start: u32,
    line: LineNumber,
    /// Where the pattern as written stands in the arena, and what of it is compared. That is its start,
    /// or stands right behind it where that is something else or the written one is not normalised.
    written_at: u32,
    body_at: u32,
    body_octets: u32,
    octets: u32,
    head: u32,
    wildcards: Wildcards,
    anchored: bool,
    kind: RuleKind,
    folds: Folds,
}

/// Up to eight octets that a target has to start with.
#[derive(Clone, Copy)]
struct Head {
    octets: u64,
    mask: u64,
}

impl Head {
    fn of(octets: &[u8]) -> Self {
        Self { octets: first_eight(octets), mask: mask_of(octets.len()) }
    }

    /// Whether a target that starts with these octets may match.
    fn admits(self, first_eight: u64) -> bool {
        first_eight & self.mask == self.octets
    }
}

impl CrawlerRules {
    /// Prepares the rules of the selected groups.
    pub(crate) fn new(robots: &RobotsTxt<'_>, selection: Option<Selection>) -> Self {
        let mut prepared = Prepared {
            dialect: robots.dialect().name(),
            comparison: robots.dialect().comparison,
            allows_robots_txt: robots.dialect().allows_robots_txt,
            group: None,
            rules: Box::default(),
            folds: Folds::NONE,
            arena: Box::default(),
            search: Search::Heads(Box::default()),
        };
        let Some(selection) = selection else { return Self { prepared: Arc::new(prepared) } };
        let lines = robots.lines_of(selection.starts.iter().copied()).into();
        let (mut rules, arena) = prepare(robots, &selection);
        rules.sort_by_key(|rule| (std::cmp::Reverse(rule.octets), rule.kind));
        prepared.search = match Index::new(&rules, &arena) {
            Some(index) => Search::Index(Box::new(index)),
            None => Search::Heads(rules.iter().map(|rule| rule.first_octets(&arena)).collect()),
        };
        prepared.folds = rules.iter().fold(Folds::NONE, |all, rule| all | rule.folds);
        prepared.group = Some((selection.by, lines));
        prepared.rules = rules.into();
        prepared.arena = arena.into();
        Self { prepared: Arc::new(prepared) }
    }

    /// About how many octets of memory they take.
    pub fn octets(&self) -> usize {
        let prepared = &*self.prepared;
        // A rule is filed in the search once: a head of 16 octets, or its places in the tables of the index.
        const FILED: usize = 32;
        let lines = prepared.group.as_ref().map_or(0, |(_, lines)| lines.len());
        size_of::<Prepared>()
            + prepared.rules.len() * (size_of::<Rule>() + FILED)
            + prepared.arena.len()
            + lines * size_of::<LineNumber>()
    }

    /// May the crawler fetch this target?
    pub fn decide(&self, target: &Target<'_>) -> Decision<'_> {
        let prepared = &*self.prepared;
        if prepared.allows_robots_txt && target.is_robots_txt() {
            return Decision::without_group(Reason::RobotsTxt);
        }
        let Some((by, lines)) = &prepared.group else {
            return Decision::without_group(Reason::NoGroup);
        };
        let group = ChosenGroup { by: *by, lines: Cow::Borrowed(lines) };
        Decision::of_group(group, prepared.most_specific(target))
    }

    /// How many rules there are to try.
    pub fn len(&self) -> usize {
        self.prepared.rules.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.prepared.rules.is_empty()
    }
}

impl fmt::Debug for CrawlerRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CrawlerRules")
            .field("by", &self.prepared.group.as_ref().map(|(by, _)| by))
            .field("rules", &self.len())
            .field("dialect", &self.prepared.dialect)
            .finish()
    }
}

impl Prepared {
    fn most_specific(&self, target: &Target<'_>) -> Option<DecidingRule<'_>> {
        let forms = Forms::of(target, self.comparison);
        // Each rule is compared with the form that it asks for; nearly always that is one and the same.
        let mut rank = self.rules.len();
        for folds in forms.that_matter(self.folds).subsets() {
            rank = self.rank_of_match(&forms, folds, rank);
        }
        let rule = self.rules.get(rank)?;
        Some(DecidingRule {
            kind: rule.kind,
            pattern: &self.arena[rule.written()],
            octets: rule.octets as usize,
            line: rule.line,
            span: Span { start: rule.start, end: rule.start + rule.written().len() as u32 },
        })
    }

    /// The rank of the first rule that is compared with this form, matches it and goes before `best`,
    /// or else `best`.
    fn rank_of_match(&self, forms: &Forms<'_>, folds: Folds, best: usize) -> usize {
        let text = forms.folded(folds).octets();
        let matches = |rank: usize| {
            let rule = &self.rules[rank];
            forms.that_matter(rule.folds) == folds && rule.matches(forms, &self.arena)
        };
        match &self.search {
            Search::Index(index) => {
                let best = index.first_match(text, best, matches);
                if !folds.has(Folds::QUERY) {
                    return best;
                }
                // The index may know a rule by what stands before its `?`, which is in this form.
                let as_it_stands = forms.folded(folds.without(Folds::QUERY)).octets();
                index.first_match(as_it_stands, best, matches)
            }
            Search::Heads(heads) => {
                let first = first_eight(text);
                let mut heads = heads[..best].iter().enumerate();
                let found = heads.find(|&(rank, head)| head.admits(first) && matches(rank));
                found.map_or(best, |(rank, _)| rank)
            }
        }
    }
}

impl Rule {
    fn written(&self) -> Range<usize> {
        let end =
            if self.body_at == self.written_at { self.written_at + self.octets } else { self.body_at };
        self.written_at as usize..end as usize
    }

    fn body<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &arena[self.body_at as usize..(self.body_at + self.body_octets) as usize]
    }

    /// What stands before the first wildcard.
    fn head<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &self.body(arena)[..self.head as usize]
    }

    fn shape(&self) -> Shape {
        Shape { head: self.head, wildcards: self.wildcards, anchored: self.anchored }
    }

    /// What the form of a target that it is compared with has to start with.
    fn first_octets(&self, arena: &[u8]) -> Head {
        Head::of(self.head(arena))
    }

    fn matches(&self, forms: &Forms<'_>, arena: &[u8]) -> bool {
        matches_one_of(self.body(arena), self.shape(), self.folds, forms)
    }
}

/// Reads the patterns of the selected groups, in file order. Rules that can never match are left
/// out: they count for nothing but that the group has rules.
fn prepare(robots: &RobotsTxt<'_>, selection: &Selection) -> (Vec<Rule>, Vec<u8>) {
    let dialect = robots.dialect();
    let mut rules = Vec::with_capacity(selection.groups.iter().map(Range::len).sum());
    let mut arena = Vec::new();
    let mut counter = LineCounter::new(robots.text());
    for record in selection.groups.iter().flat_map(|group| &robots.records()[group.clone()]) {
        let Role::Rule(kind) = record.role() else { continue };
        let value = robots.value(*record);
        if value.is_empty() {
            continue; // REP-9
        }
        let line = counter.line_at(record.start());
        let mut add = |pattern: &PathPattern<'_>| {
            let written_at = arena.len() as u32;
            arena.extend_from_slice(value);
            let mut body_at = written_at;
            if pattern.normalised() != value || !value.starts_with(pattern.body()) {
                body_at = arena.len() as u32;
                arena.extend_from_slice(pattern.body());
            }
            let Shape { head, wildcards, anchored } = pattern.shape();
            rules.push(Rule {
                start: record.start(),
                line,
                written_at,
                body_at,
                body_octets: pattern.body().len() as u32,
                octets: pattern.octets() as u32,
                head,
                wildcards,
                anchored,
                kind,
                folds: pattern.folds(),
            });
        };
        let pattern = PathPattern::read(value, dialect.comparison);
        add(&pattern);
        if dialect.index_pages
            && kind == RuleKind::Allow
            && let Some(folder) = index_page_folder(pattern.normalised())
        {
            add(&PathPattern::read(&folder, dialect.comparison));
        }
    }
    (rules, arena)
}
