//! A file as lints look at it: its lines with what is on them, its groups with their records, and the
//! budget for work beyond one pass over them.

use std::cell::{Cell, OnceCell};
use std::collections::HashSet;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use encoding_rs::Encoding as Charset;

use super::Lint;
use super::groups::{GroupView, Groups};
use super::lines::{LineView, Lines};
use super::options::Options;
use super::readings::{MetGroups, said};
use super::rules::Names;
use crate::crawler::Crawler;
use crate::decision::Decision;
use crate::dialect::Dialect;
use crate::directive::{
    CRAWL_DELAY, DIRECTIVES, Directive, GroupStep, REQUEST_RATE, Role, RuleKind, SITEMAP, VISIT_TIME,
};
use crate::robots_txt::RobotsTxt;
use crate::ruleset::{CrawlerRules, SharedRules};
use crate::span::Span;
use crate::syntax::RawRecord;
use crate::target::{Target, split_url};
use crate::work::{Spent, Work};

/// The input of every lint.
pub(super) struct Context<'c, 't> {
    octets: &'c [u8],
    pub(super) robots: &'c RobotsTxt<'t>,
    pub(super) text: &'c [u8],
    pub(super) options: &'c Options,
    pub(super) lines: Lines<'c>,
    pub(super) groups: Groups<'c>,
    rules_for: OnceCell<Vec<(Crawler, CrawlerRules)>>,
    met: OnceCell<Vec<MetGroups<'c>>>,
    /// The values of group-start lines, as `name_hash` makes them.
    names: OnceCell<HashSet<u64>>,
    /// The same, each with the number of the rules of its group.
    named_with_rules: OnceCell<HashSet<(u64, u64)>>,
    host: OnceCell<Option<String>>,
    hasher: RandomState,
    work: Work,
    /// The lint that looks now, for which work is done.
    current: Cell<&'static str>,
}

/// A record of a group.
#[derive(Clone, Copy)]
pub(super) struct Entry<'c> {
    /// The line that it is on, by its index.
    pub(super) line: usize,
    pub(super) record: RawRecord<'c>,
    pub(super) role: Role,
}

impl Entry<'_> {
    pub(super) fn is(&self, directive: &'static Directive) -> bool {
        directive_of(&self.record).is_some_and(|known| std::ptr::eq(known, directive))
    }

    /// What it says about access, if it is a rule.
    pub(super) fn kind(&self) -> Option<RuleKind> {
        if let Role::Rule(kind) = self.role { Some(kind) } else { None }
    }
}

impl<'c, 't> Context<'c, 't> {
    pub(super) fn new(octets: &'c [u8], robots: &'c RobotsTxt<'t>, options: &'c Options) -> Self {
        let text = robots.text();
        let lines = Lines::of(text, robots.dialect());
        let groups = groups_of(&lines);
        Self {
            octets,
            robots,
            text,
            options,
            lines,
            groups,
            rules_for: OnceCell::new(),
            met: OnceCell::new(),
            names: OnceCell::new(),
            named_with_rules: OnceCell::new(),
            host: OnceCell::new(),
            hasher: RandomState::new(),
            work: options.reading().work_for(text.len()),
            current: Cell::new("reading"),
        }
    }

    /// The octets of the file.
    pub(super) fn octets(&self) -> &'c [u8] {
        self.octets
    }

    /// Where the text starts in the octets, unless they had to be decoded.
    pub(super) fn text_start(&self) -> Option<usize> {
        let mark = Charset::for_bom(self.octets).map_or(0, |(_, length)| length);
        self.octets[mark..].starts_with(self.text).then_some(mark)
    }

    /// From now on, spent units are for this lint.
    pub(super) fn start(&self, lint: &'static Lint) {
        self.current.set(lint.name);
    }

    /// Takes units from the budget; if there are too few, the work that they were for must be left out.
    pub(super) fn spend(&self, units: usize) -> bool {
        self.work.spend(units, self.current.get())
    }

    /// What a crawler's rules decide about a target, as far as there is budget to find out.
    pub(super) fn decide<'r>(
        &self,
        rules: &'r CrawlerRules,
        target: &Target<'_>,
    ) -> Option<Decision<'r>> {
        if !self.spend(1) {
            return None;
        }
        let (decision, cost) = rules.decide_counted(target);
        self.work.charge(cost, self.current.get());
        Some(decision)
    }

    /// Whether a group-start line has this name and nothing else, ignoring case.
    pub(super) fn has_name(&self, name: &str) -> bool {
        let names = self.names.get_or_init(|| {
            let starts = self.groups.starts().iter();
            starts.map(|start| self.name_hash(start.record.value)).collect()
        });
        names.contains(&self.name_hash(name.as_bytes()))
    }

    /// Whether a group-start line has this name, ignoring case, with nothing but a version after it, and its
    /// group has the rules of this number.
    pub(super) fn has_name_with_rules(&self, name: &str, rules: u64) -> bool {
        let named = self.named_with_rules.get_or_init(|| {
            let names = self.groups.iter().flat_map(|group| {
                let rules = self.rules_hash(group);
                let names = group.starts.iter().filter_map(|start| Names::of(start, self).named(start));
                names.map(move |(_, name)| (self.name_hash(name), rules))
            });
            names.collect()
        });
        named.contains(&(self.name_hash(name.as_bytes()), rules))
    }

    /// A number for the rules of a group, as they are written.
    pub(super) fn rules_hash(&self, group: GroupView<'_, '_>) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        for (kind, rule) in group.rules() {
            (kind, rule.record.value).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// A number for a name, the same in upper and lower case. A file can have tens of thousands of names, and a
    /// copy of each takes several times the memory of its line. No file can choose names with the same number: a
    /// random key is part of it.
    pub(super) fn name_hash(&self, name: &[u8]) -> u64 {
        self.hasher.hash_one(name.to_ascii_lowercase())
    }

    /// The host of the file, if it is known: that of the site, or of all sitemaps.
    pub(super) fn host(&self) -> Option<&str> {
        self.host.get_or_init(|| self.host_of_site_or_sitemaps()).as_deref()
    }

    fn host_of_site_or_sitemaps(&self) -> Option<String> {
        let host = |url: &str| Some(split_url(url).ok()?.authority.to_ascii_lowercase());
        if let Some(site) = self.options.site() {
            return host(site);
        }
        let mut hosts = self.records_of(&SITEMAP).map(|sitemap| {
            str::from_utf8(sitemap.record.value).ok().and_then(host).filter(|host| !host.is_empty())
        });
        let first = hosts.next()??;
        hosts.all(|other| other.as_ref() == Some(&first)).then_some(first)
    }

    pub(super) fn spent(&self) -> Spent {
        self.work.done()
    }

    /// The span of a part of the text.
    pub(super) fn span(&self, part: &[u8]) -> Span {
        Span::of(part, self.text)
    }

    /// The text of a line.
    pub(super) fn line_text(&self, line: &LineView<'_>) -> &'c [u8] {
        &self.text[line.span.range()]
    }

    /// Every record of a directive that is not a rule, which can be on a user-agent line (AIA-5).
    pub(super) fn records_of(&self, directive: &'static Directive) -> impl Iterator<Item = Entry<'c>> {
        debug_assert!(!matches!(directive.role, Role::Rule(_)), "{}", directive.name);
        let records = self.lines.of_directive(directive);
        records
            .filter_map(|(line, view)| Some(Entry { line, record: view.record?, role: directive.role }))
    }

    /// Every record that a directive knows, including those outside of groups.
    pub(super) fn known_records(&self) -> impl Iterator<Item = Entry<'c>> {
        self.lines.known().flat_map(|(line, view)| {
            let records = view.record.into_iter().chain(view.inline_rule);
            records.filter_map(move |record| {
                let role = directive_of(&record)?.role;
                Some(Entry { line, record, role })
            })
        })
    }

    /// The groups as the other dialects read them; their names and rules can differ.
    pub(super) fn met(&self) -> &[MetGroups<'c>] {
        self.met.get_or_init(|| {
            let dialects = Dialect::met().map(|(dialect, _)| dialect);
            dialects.map(|dialect| MetGroups::of(dialect, self.lines.texts())).collect()
        })
    }

    /// Whether the other dialects read a line as exactly this record, so that an edit changes all readings in the
    /// same way.
    pub(super) fn is_read_alike(&self, entry: &Entry<'_>) -> bool {
        let line = self.line_text(&self.lines.at(entry.line));
        Dialect::met().all(|(dialect, _)| {
            matches!(&said(line, dialect)[..], [said] if said.directive.role == entry.role && said.value == entry.record.value)
        })
    }

    /// The prepared rules of a crawler that no group names, and of those that the options name.
    pub(super) fn rules_for(&self) -> &[(Crawler, CrawlerRules)] {
        self.rules_for.get_or_init(|| {
            let crawlers =
                std::iter::once(Crawler::unnamed()).chain(self.options.agents().iter().cloned());
            // A large group may be for many of them, and each may have a small one too: then hardly anything is shared.
            let text = self.robots.text().len();
            let most_octets = 3 * text + (2 << 20);
            let mut shared = SharedRules::default();
            let mut all = Vec::new();
            for crawler in crawlers {
                let units = if shared.octets() > most_octets { usize::MAX } else { text / 8 };
                if !all.is_empty() && !self.spend(units) {
                    break;
                }
                let before = shared.octets();
                let rules = shared.for_crawler(self.robots, &crawler);
                self.work.charge(shared.octets() - before, self.current.get());
                all.push((crawler, rules));
            }
            all
        })
    }
}

/// The directive of a record.
pub(super) fn directive_of(record: &RawRecord<'_>) -> Option<&'static Directive> {
    Some(DIRECTIVES[usize::from(record.directive?)])
}

/// Whether a record that is not a rule is of no use outside a group.
fn is_for_a_group(entry: &Entry<'_>) -> bool {
    [&CRAWL_DELAY, &REQUEST_RATE, &VISIT_TIME].iter().any(|directive| entry.is(directive))
}

/// Groups as REP-1 makes them, and what should be in one but is before the first.
fn groups_of<'c>(lines: &Lines<'c>) -> Groups<'c> {
    let (starts, others) = lines.count_known(|role| matches!(role, Role::StartsGroup(_)));
    let mut groups = Groups::with_room(starts, others);
    let mut walk = lines.dialect().group_walk();
    for (line, view) in lines.known() {
        for record in view.record.into_iter().chain(view.inline_rule) {
            let Some(role) = directive_of(&record).map(|directive| directive.role) else { continue };
            let entry = Entry { line, record, role };
            match walk.step(role) {
                GroupStep::Starts => groups.start(entry),
                GroupStep::Joins => groups.join(entry),
                GroupStep::Within => groups.add(entry),
                GroupStep::Outside => {
                    if role.ends_group_start() || is_for_a_group(&entry) {
                        groups.add(entry);
                    }
                }
            }
        }
    }
    groups
}
