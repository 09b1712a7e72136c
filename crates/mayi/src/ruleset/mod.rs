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
use crate::dialect::Dialect;
use crate::directive::{Role, RuleKind};
use crate::evaluation::Forms;
use crate::pattern::{Folds, PathPattern, Shape, index_page_folder, matches};
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
    dialect: Dialect,
    group: Option<(GroupBy, Box<[LineNumber]>)>,
    /// By rank.
    rules: Box<[Rule]>,
    /// The first octets of each rule, by rank: what most rules are told from a target by.
    heads: Box<[Head]>,
    /// The texts of all patterns.
    arena: Box<[u8]>,
    index: Option<Index>,
}

/// A rule whose pattern has been prepared.
struct Rule {
    kind: RuleKind,
    shape: Shape,
    folds: Folds,
    octets: u32,
    line: LineNumber,
    /// Where the pattern stands in the file.
    span: Span,
    /// The pattern as written and what is compared of it, in the arena.
    written: Piece,
    body: Piece,
}

/// Up to eight octets that a target has to start with.
#[derive(Clone, Copy)]
struct Head {
    octets: u64,
    mask: u64,
}

impl Head {
    fn of(octets: &[u8]) -> Self {
        let length = octets.len().min(8);
        let mask = if length == 8 { u64::MAX } else { (1 << (8 * length)) - 1 };
        Self { octets: first_octets(octets) & mask, mask }
    }

    /// Whether a target that starts with these octets may match.
    fn admits(self, first_octets: u64) -> bool {
        first_octets & self.mask == self.octets
    }
}

/// The first eight octets of a text as a number; there are zeros behind a shorter one, which no
/// pattern has.
fn first_octets(text: &[u8]) -> u64 {
    let mut first = [0; 8];
    let length = text.len().min(8);
    first[..length].copy_from_slice(&text[..length]);
    u64::from_le_bytes(first)
}

/// A part of the arena.
#[derive(Clone, Copy)]
struct Piece {
    start: u32,
    end: u32,
}

impl Piece {
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl CrawlerRules {
    /// Prepares the rules of the selected groups.
    pub(crate) fn new(robots: &RobotsTxt<'_>, selection: Option<Selection>) -> Self {
        let dialect = robots.dialect().clone();
        let Some(selection) = selection else {
            let (rules, heads, arena) = (Box::default(), Box::default(), Box::default());
            let prepared = Prepared { dialect, group: None, rules, heads, arena, index: None };
            return Self { prepared: Arc::new(prepared) };
        };
        let lines = robots.lines_of(selection.starts.iter().copied()).into();
        let (mut rules, arena) = prepare(robots, &selection);
        rules.sort_by_key(|rule| (std::cmp::Reverse(rule.octets), rule.kind));
        let index = Index::new(&rules, &arena);
        let group = Some((selection.by, lines));
        let heads = rules.iter().map(|rule| rule.first_octets(&arena)).collect();
        let (rules, arena) = (rules.into(), arena.into());
        Self { prepared: Arc::new(Prepared { dialect, group, rules, heads, arena, index }) }
    }

    /// May the crawler fetch this target?
    pub fn decide(&self, target: &Target<'_>) -> Decision<'_> {
        let prepared = &*self.prepared;
        if prepared.dialect.allows_robots_txt && target.is_robots_txt() {
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
            .field("dialect", &self.prepared.dialect.name())
            .finish()
    }
}

impl Prepared {
    fn most_specific(&self, target: &Target<'_>) -> Option<DecidingRule<'_>> {
        let forms = Forms::of(target, &self.dialect);
        let mut rank = self.rank_of_match(&forms.first, self.rules.len());
        if let Some(second) = forms.second {
            rank = self.rank_of_match(second, rank);
        }
        let rule = self.rules.get(rank)?;
        Some(DecidingRule {
            kind: rule.kind,
            pattern: &self.arena[rule.written.range()],
            octets: rule.octets as usize,
            line: rule.line,
            span: rule.span,
        })
    }

    /// The rank of the first rule that matches the text and goes before `best`, or else `best`.
    fn rank_of_match(&self, text: &[u8], best: usize) -> usize {
        let matches = |rank: usize| self.rules[rank].matches(text, &self.arena);
        if let Some(index) = &self.index {
            return index.first_match(text, best, matches);
        }
        let first = first_octets(text);
        let mut heads = self.heads[..best].iter().enumerate();
        heads.find(|&(rank, head)| head.admits(first) && matches(rank)).map_or(best, |(rank, _)| rank)
    }
}

impl Rule {
    fn body<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &arena[self.body.range()]
    }

    /// What a target has to start with. Folded text is not the target's own, so nothing is said then.
    fn first_octets(&self, arena: &[u8]) -> Head {
        let head = if self.folds.any() { 0 } else { self.shape.head as usize };
        Head::of(&self.body(arena)[..head])
    }

    fn matches(&self, text: &[u8], arena: &[u8]) -> bool {
        if self.folds.any() {
            return self.folds.matches(self.body(arena), self.shape, text);
        }
        matches(self.body(arena), self.shape, text)
    }
}

/// Reads the patterns of the selected groups, in file order. Rules that can never match are left
/// out: they count for nothing but that the group has rules.
fn prepare(robots: &RobotsTxt<'_>, selection: &Selection) -> (Vec<Rule>, Vec<u8>) {
    let dialect = robots.dialect();
    let mut rules = Vec::new();
    let mut arena = Vec::new();
    let mut counter = LineCounter::new(robots.text());
    for record in selection.groups.iter().flat_map(|group| &robots.records()[group.clone()]) {
        let Role::Rule(kind) = record.role() else { continue };
        let value = robots.value(*record);
        if value.is_empty() {
            continue; // REP-9
        }
        let line = counter.line_at(record.start());
        let span = Span { start: record.start(), end: record.start() + value.len() as u32 };
        let written = push(&mut arena, value);
        let mut add = |pattern: &PathPattern<'_>| {
            let body = if pattern.body() == &value[..pattern.body().len().min(value.len())] {
                Piece { start: written.start, end: written.start + pattern.body().len() as u32 }
            } else {
                push(&mut arena, pattern.body())
            };
            let (shape, folds) = (pattern.shape(), pattern.folds());
            let octets = pattern.octets() as u32;
            rules.push(Rule { kind, shape, folds, octets, line, span, written, body });
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

fn push(arena: &mut Vec<u8>, text: &[u8]) -> Piece {
    let start = arena.len() as u32;
    arena.extend_from_slice(text);
    Piece { start, end: arena.len() as u32 }
}
