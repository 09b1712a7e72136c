//! The groups of a crawler → answers about the uses of many targets.
//!
//! [`Usage`] says all that is known about a target, with every line that spoke. That takes time and memory
//! proportional to the lines, for each target. A table needs the answers alone. So what decides them is
//! prepared here: records without a path are read once, and of those with a path, the one that decides is found as a
//! rule is found. A test compares both ways.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use super::{Response, Usage, Use, usage_of};
use crate::access::{SiteFile, View};
use crate::application::token_of;
use crate::crawler::{Crawler, ProductToken};
use crate::dialect::Comparison;
use crate::directive::{ALLOW_AI_TRAINING, APP_DIRECTIVES, CONTENT_USAGE, DISALLOW_AI_TRAINING};
use crate::forms::Forms;
use crate::preference::{Preference, Statement};
use crate::records::{ContentSignal, content_signals};
use crate::registry::ApplicationDirective;
use crate::robots_txt::RobotsTxt;
use crate::ruleset::{RankedPaths, RulesByGroups};
use crate::selection::{Selection, select, select_for_application};
use crate::structured::{Part, Value, each_part, split_path};
use crate::target::Target;

/// The answers about the uses of a target, without the signals that they come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UseAnswers {
    of_uses: [Preference; Use::ALL.len()],
}

impl UseAnswers {
    /// The answer about a use, as [`Usage::answer`] gives it.
    pub fn answer(&self, about: Use) -> Preference {
        self.of_uses[about as usize]
    }
}

/// What one crawler may do with the targets of one site: `site_file.uses_for(&crawler)`. The groups that apply to the
/// crawler are selected once, for many targets.
///
/// ```
/// use mayi::access::SiteFile;
/// use mayi::{Crawler, ReadOptions, Target, Use};
///
/// let text = b"User-agent: *\nContent-Usage: /a train-ai=n\n".to_vec();
/// let file = SiteFile::read(text, &ReadOptions::default());
/// let uses = file.uses_for(&Crawler::new("ExampleBot")?);
/// for (path, expected) in [("/a", "disallowed"), ("/b", "unknown")] {
///     let target = Target::from_path(path)?;
///     let answers = uses.answers(&target).expect("there is a file");
///     assert_eq!(answers.answer(Use::Train).name(), expected);
///     assert_eq!(uses.usage(&target).expect("there is a file").answer(Use::Train).name(), expected);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CrawlerUses<'t> {
    file: SiteFile<'t>,
    crawler: Crawler,
    selection: Option<Arc<Selection>>,
    of_groups: Arc<UsesOfGroups>,
    of_applications: Arc<UsesOfApplications>,
}

impl<'t> SiteFile<'t> {
    /// Selects the groups that apply to this crawler, for many questions about the use of what was fetched.
    pub fn uses_for(&self, crawler: &Crawler) -> CrawlerUses<'t> {
        let robots = self.robots_txt();
        let selection = robots.and_then(|robots| select(robots, crawler, &mut ()));
        let of_groups = robots.map(|robots| UsesOfGroups::of(robots, selection.as_ref()));
        let of_applications = robots.map(|robots| {
            let wanted = WantedDirectives::of(robots, crawler);
            let select = |token| select_for_application(robots, token).map(Arc::new);
            let selections: Vec<_> = wanted.tokens().map(select).collect();
            wanted.read(robots, &selections)
        });
        CrawlerUses {
            file: self.clone(),
            crawler: crawler.clone(),
            selection: selection.map(Arc::new),
            of_groups: Arc::new(of_groups.unwrap_or_default()),
            of_applications: Arc::new(of_applications.unwrap_or_default()),
        }
    }
}

impl RulesByGroups {
    /// The same as [`SiteFile::uses_for`]. Crawlers that get the same groups share what was prepared.
    pub fn uses_for(&self, crawler: &Crawler) -> CrawlerUses<'static> {
        let (selection, of_groups, of_applications) = self.prepared_uses(crawler);
        let (file, crawler) = (self.file().clone(), crawler.clone());
        CrawlerUses { file, crawler, selection, of_groups, of_applications }
    }

    /// The same unless it may take more than so many units of work to find out which groups are for the crawler and for its
    /// applications. The units are those of [`for_crawler_within`](Self::for_crawler_within).
    ///
    /// ```
    /// use mayi::access::SiteFile;
    /// use mayi::{Crawler, ReadOptions, RulesByGroups};
    ///
    /// let file = format!("{}User-agent: OneBot\nDisallow: /a\n", "User-agent: .*-ai$\n".repeat(1_000));
    /// let rules = RulesByGroups::new(SiteFile::read(file.into_bytes(), &ReadOptions::default()));
    /// assert!(rules.uses_within(10_000, &Crawler::new("OneBot")?).is_some());
    /// assert!(rules.uses_within(10_000, &Crawler::new("OtherBot")?).is_none());
    /// # Ok::<(), mayi::InvalidProductToken>(())
    /// ```
    pub fn uses_within(&self, units: usize, crawler: &Crawler) -> Option<CrawlerUses<'static>> {
        self.finds_groups_of_uses_within(units, crawler).then(|| self.uses_for(crawler))
    }
}

impl<'t> CrawlerUses<'t> {
    /// What may be done with a target that may be fetched, as [`RobotsTxt::usage`] says; none if there is no file.
    pub fn usage(&self, target: &Target<'_>) -> Option<Usage> {
        let robots = self.file.robots_txt()?;
        let directives = robots.app_directives(&self.crawler, target);
        let selection = self.selection.as_deref();
        Some(usage_of(View::of(robots), selection, target, Response::default(), &directives))
    }

    /// The answers of [`usage`](Self::usage) alone. However many lines a file has, few of them are looked at.
    pub fn answers(&self, target: &Target<'_>) -> Option<UseAnswers> {
        let robots = self.file.robots_txt()?;
        let UsesOfGroups { signals, categories, training } = &*self.of_groups;
        // Most files say nothing about paths.
        let mut forms = None;
        let mut says = |by_path: &ByPath| {
            if by_path.is_constant {
                return by_path.everywhere;
            }
            let comparison = robots.dialect().comparison;
            by_path.says(forms.get_or_insert_with(|| Forms::of(target, comparison)))
        };
        let trained = says(training).unwrap_or_default();
        let directives = &self.of_applications.directives;
        let spoken: Vec<_> = directives.iter().map(|of_one| says(&of_one.says)).collect();
        let mut answers = UseAnswers::default();
        for (place, &about) in Use::ALL.iter().enumerate() {
            let stated = says(&categories[place]).unwrap_or_default();
            let of_use = || {
                let of_use = directives.iter().zip(&spoken).filter(|(of_one, _)| of_one.about == about);
                of_use.filter_map(|(of_one, says)| Some((of_one.application, (*says)?)))
            };
            let mut answer = signals[place];
            if about == Use::Train {
                answer = answer.most_restrictive(trained);
            }
            answer = of_use().map(|(_, says)| says).fold(answer, Preference::most_restrictive);
            if !self.of_applications.override_all(stated, of_use()) {
                answer = answer.most_restrictive(stated);
            }
            answers.of_uses[place] = answer;
        }
        Some(answers)
    }

    /// The file, or why there is none.
    pub fn file(&self) -> &SiteFile<'t> {
        &self.file
    }

    /// About how many octets of memory it takes, without its file.
    pub fn octets(&self) -> usize {
        let selection = self.selection.as_deref().map_or(0, Selection::octets);
        size_of::<Self>() + selection + self.of_groups.octets() + self.of_applications.octets()
    }
}

/// What the records of a crawler's groups say about uses.
#[derive(Debug, Default)]
pub(crate) struct UsesOfGroups {
    /// Content-Signal, for each use.
    signals: [Preference; Use::ALL.len()],
    /// Content-Usage, for each use that is a category of it.
    categories: [ByPath; Use::ALL.len()],
    /// DisallowAITraining and AllowAITraining.
    training: ByPath,
}

impl UsesOfGroups {
    pub(crate) fn of(robots: &RobotsTxt<'_>, selection: Option<&Selection>) -> Self {
        let comparison = robots.dialect().comparison;
        let mut signals = [Preference::Unknown; Use::ALL.len()];
        for (_, value) in content_signals(robots, selection) {
            let signal = ContentSignal::parse(value);
            for (combined, about) in signals.iter_mut().zip(Use::ALL) {
                *combined = combined.most_restrictive(signal.preference(about.signal_key()));
            }
        }
        let mut training = Vec::new();
        let mut usage: [Vec<Said<'_>>; Use::ALL.len()] = Default::default();
        for record in selection.into_iter().flat_map(|selection| selection.non_rules(robots)) {
            let value = robots.value(record);
            if record.is(&CONTENT_USAGE) {
                let (path, dictionary) = split_path(value);
                // One that can't be read still counts for its path (USE-3).
                let statement = Statement::parse(dictionary).unwrap_or_default();
                for (said, about) in usage.iter_mut().zip(Use::ALL) {
                    let Some(label) = about.category() else { continue };
                    let says = Some(statement.preference(label));
                    said.push((path, says.filter(|says| *says != Preference::Unknown)));
                }
            } else if record.is(&ALLOW_AI_TRAINING) || record.is(&DISALLOW_AI_TRAINING) {
                let allows = record.is(&ALLOW_AI_TRAINING);
                training.push((Some(value), Some(Preference::of(allows))));
            }
        }
        // Of equally many octets, the most restrictive wins; about training, the least.
        let categories = usage.map(|mut said| {
            said.sort_by_key(|(_, says)| Reverse(*says));
            ByPath::new(&said, comparison)
        });
        training.sort_by_key(|(_, says)| *says);
        Self { signals, categories, training: ByPath::new(&training, comparison) }
    }

    pub(crate) fn octets(&self) -> usize {
        let by_path = self.categories.iter().chain([&self.training]);
        size_of::<Self>() + by_path.map(ByPath::octets).sum::<usize>()
    }
}

/// What App-Directives say about uses to the applications of a crawler (APP-9).
#[derive(Debug, Default)]
pub(crate) struct UsesOfApplications {
    /// How many different applications there are. Most registered directives are about no use.
    applications: usize,
    /// The directives that are about a use.
    directives: Vec<UseDirective>,
}

/// A directive of an application that is about a use.
#[derive(Debug)]
struct UseDirective {
    application: usize,
    about: Use,
    /// None where it is not set, can't be used or means nothing.
    says: ByPath,
}

/// The directives that can speak about uses to the applications of a crawler, before the file is read.
#[derive(Debug)]
pub(crate) struct WantedDirectives<'r> {
    applications: IndexSet<&'r str>,
    /// By the product token whose groups apply, and by application.
    of_tokens: IndexMap<&'r str, (&'r ProductToken, Registered<'r>)>,
}

impl<'r> WantedDirectives<'r> {
    pub(crate) fn of(robots: &'r RobotsTxt<'_>, crawler: &'r Crawler) -> Self {
        let applications: IndexSet<&str> = crawler.applications().collect();
        let mut of_tokens: IndexMap<&str, (&ProductToken, Registered<'_>)> = IndexMap::new();
        let registered = if applications.is_empty() { &[] } else { robots.registry().directives() };
        for directive in registered {
            let Some(overrides) = &directive.overrides else { continue };
            let about = Use::ALL.iter().find(|about| about.category() == Some(&*overrides.category));
            let application = applications.get(&*directive.application);
            let (Some(&about), Some(&application)) = (about, application) else { continue };
            let token = token_of(robots.registry(), crawler, application);
            let of_token = of_tokens.entry(token.as_str()).or_insert_with(|| (token, IndexMap::new()));
            of_token.1.entry(application).or_default().push((about, directive));
        }
        Self { applications, of_tokens }
    }

    /// The product tokens whose groups are to be read.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = &'r ProductToken> {
        self.of_tokens.values().map(|(token, _)| *token)
    }

    /// Reads the groups of each product token, in the order of [`tokens`](Self::tokens).
    pub(crate) fn read(
        self,
        robots: &RobotsTxt<'_>,
        selections: &[Option<Arc<Selection>>],
    ) -> UsesOfApplications {
        let comparison = robots.dialect().comparison;
        let mut directives = Vec::new();
        for ((_, (_, registered)), selection) in self.of_tokens.into_iter().zip(selections) {
            let rules = rules_of(robots, selection.as_deref(), &registered);
            for ((application, of_it), rules) in registered.iter().zip(rules) {
                let application = self.applications.get_index_of(application).unwrap_or_default();
                for (place, (about, _)) in of_it.iter().enumerate() {
                    let says = ByPath::of_directive(&rules, place, comparison);
                    directives.push(UseDirective { application, about: *about, says });
                }
            }
        }
        UsesOfApplications { applications: self.applications.len(), directives }
    }
}

impl UsesOfApplications {
    /// Whether the directives of every application override what the file states: they are about it and say
    /// something else (APP-9). `spoken` has what the directives say about the use, each with its application.
    fn override_all(
        &self,
        stated: Preference,
        spoken: impl Iterator<Item = (usize, Preference)>,
    ) -> bool {
        if self.applications == 0 || stated == Preference::Unknown {
            return false;
        }
        let mut of_applications: IndexMap<usize, Preference> = IndexMap::new();
        for (application, says) in spoken {
            let combined = of_applications.entry(application).or_insert(says);
            *combined = combined.most_restrictive(says);
        }
        of_applications.len() == self.applications
            && of_applications.values().all(|says| *says != stated)
    }

    pub(crate) fn octets(&self) -> usize {
        let of_one = |of_one: &UseDirective| size_of::<UseDirective>() + of_one.says.octets();
        size_of::<Self>() + self.directives.iter().map(of_one).sum::<usize>()
    }
}

/// The directives of each application that are about a use.
type Registered<'r> = IndexMap<&'r str, Vec<(Use, &'r ApplicationDirective)>>;

/// A rule of an application: its path, and what it says by each of the application's directives; a directive that it does
/// not have says nothing, and leaves what others say as it is.
type AppRuleSays<'r> = (Option<&'r [u8]>, Vec<Option<Option<Preference>>>);

/// The rules of these groups that name each of the applications, in file order.
fn rules_of<'r>(
    robots: &'r RobotsTxt<'_>,
    selection: Option<&Selection>,
    registered: &Registered<'_>,
) -> Vec<Vec<AppRuleSays<'r>>> {
    let mut rules: Vec<Vec<AppRuleSays<'r>>> = registered.iter().map(|_| Vec::new()).collect();
    let records = selection.into_iter().flat_map(|selection| selection.non_rules(robots));
    for record in records.filter(|record| record.is(&APP_DIRECTIVES)) {
        let (path, list) = split_path(robots.value(record));
        // An application may be named twice on a line.
        let mut named = HashSet::new();
        let mut current = None;
        each_part(list, |part| match part {
            Part::Item(sfv::BareItemFromInput::Token(name)) => {
                current = registered.get_index_of(name.as_str());
                if let Some(place) = current
                    && named.insert(place)
                {
                    rules[place].push((path, vec![None; registered[place].len()]));
                }
            }
            Part::Item(_) | Part::InnerList => current = None,
            Part::Parameter(key, value) => {
                let Some(place) = current else { return };
                let directives = &registered[place];
                let Some(of_key) = directives.iter().position(|(_, known)| known.name == key) else {
                    return;
                };
                let (_, directive) = directives[of_key];
                let value = Value::of(value.into());
                // With another type it is unusable (APP-8).
                let is_usable = directive.value_type == value.value_type();
                let scope = directive.overrides.as_ref().filter(|_| is_usable);
                let says = scope.and_then(|scope| scope.meaning(&value));
                if let Some((_, said)) = rules[place].last_mut() {
                    said[of_key] = Some(says);
                }
            }
        });
    }
    rules
}

/// A path, none for everywhere, and what is said about the targets that it matches.
type Said<'r> = (Option<&'r [u8]>, Option<Preference>);

/// What records say, by the path that wins.
#[derive(Default)]
struct ByPath {
    paths: RankedPaths,
    /// What is said about targets that no path matches.
    everywhere: Option<Preference>,
    /// Whether that is said about all targets.
    is_constant: bool,
}

impl ByPath {
    /// Of paths with equally many octets, the first one that matches wins.
    fn new(said: &[Said<'_>], comparison: Comparison) -> Self {
        let everywhere = said.iter().find(|(path, _)| path.is_none()).and_then(|(_, says)| *says);
        // Where nothing is said, it makes no difference which of them wins.
        let is_constant =
            said.iter().all(|(_, says)| says.is_none()) || said.iter().all(|(path, _)| path.is_none());
        if is_constant {
            return Self { paths: RankedPaths::default(), everywhere, is_constant };
        }
        let paths = said.iter().filter_map(|(path, says)| Some(((*path)?, number(*says))));
        let paths: Vec<_> = paths.collect();
        Self { paths: RankedPaths::new(paths.into_iter(), comparison), everywhere, is_constant }
    }

    /// What one directive of an application says: of rules with equally many octets, the last one that has it counts
    /// (APP-4, APP-6).
    fn of_directive(rules: &[AppRuleSays<'_>], place: usize, comparison: Comparison) -> Self {
        let with_it = rules.iter().rev().filter_map(|(path, said)| Some((*path, said[place]?)));
        let without = rules.iter().filter(|(_, said)| said[place].is_none());
        let without = without.map(|(path, _)| (*path, None));
        Self::new(&with_it.chain(without).collect::<Vec<_>>(), comparison)
    }

    fn says(&self, forms: &Forms<'_>) -> Option<Preference> {
        self.paths.winner(forms).map_or(self.everywhere, says_of)
    }

    fn octets(&self) -> usize {
        self.paths.octets()
    }
}

impl fmt::Debug for ByPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { paths, everywhere, is_constant: _ } = self;
        f.debug_struct("ByPath").field("paths", paths).field("everywhere", everywhere).finish()
    }
}

/// What is said, as the number of a path.
fn number(says: Option<Preference>) -> u32 {
    says.map_or(0, |says| 1 + says as u32)
}

fn says_of(number: u32) -> Option<Preference> {
    let all = [Preference::Unknown, Preference::Allowed, Preference::Disallowed];
    all.into_iter().find(|says| number == 1 + *says as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use crate::robots_txt::ReadOptions;

    /// Crawlers that share what was selected get the same answers as each by itself, in any order.
    #[test]
    fn uses_of_shared_groups_are_those_of_each_crawler() {
        let text = "Content-Signal: search=no\nUser-agent: a\nUser-agent: .*bot\nContent-Usage: /x train-ai=n\n\
                    Disallow: /y\nUser-agent: a\nDisallowAITraining: /z\nUser-agent: c\nDisallow: /\n\
                    User-agent: *\nContent-Usage: search=y\nContent-Signal: ai-input=no\n";
        let file = SiteFile::read(text.as_bytes().to_vec(), &ReadOptions::default());
        let crawlers = ["a", "abot", "bbot", "c", "d", "e"];
        let crawlers = crawlers.map(|token| Crawler::new(token).expect("a token"));
        let mut different = Vec::new();
        for first in 0..crawlers.len() {
            let shared = RulesByGroups::new(file.clone());
            for place in first..first + crawlers.len() {
                let crawler = &crawlers[place % crawlers.len()];
                let (of_all, of_one) = (shared.uses_for(crawler), file.uses_for(crawler));
                for path in ["/", "/x", "/z"] {
                    let target = Target::from_path(path).expect("a path");
                    let usage = of_all.usage(&target);
                    assert_eq!(usage, of_one.usage(&target), "{crawler:?} {path}");
                    if !different.contains(&usage) {
                        different.push(usage);
                    }
                }
            }
        }
        assert_eq!(different.len(), 4, "{different:?}");
    }

    /// Files of a few lines: the answers alone are those that all signals together give.
    #[test]
    fn answers_are_those_of_the_usage() {
        let lines = [
            "User-agent: a\n",
            "User-agent: ExampleAssistant\n",
            "User-agent: *\n",
            "Disallow: /x\n",
            "Content-Usage: train-ai=n\n",
            "Content-Usage: train-ai=y, search=n\n",
            "Content-Usage: /1 train-ai=y\n",
            "Content-Usage: /* train-ai=n, search=y\n",
            "Content-Usage: /1/ oops=\n",
            "Content-Usage: /1/\n",
            "Content-Usage: /%31/ search=n\n",
            "Content-Signal: ai-train=yes, search=no\n",
            "Content-Signal: ai-input=no\n",
            "DisallowAITraining: /1\n",
            "AllowAITraining: /*\n",
            "AllowAITraining:\n",
            "App-Directives: exampleassistant;learn=?0, examplesearch;x\n",
            "App-Directives: exampleassistant;learn;listing=full\n",
            "App-Directives: /1 exampleassistant;learn, exampleassistant;learn=?0\n",
            "App-Directives: /* exampleassistant\n",
            "App-Directives: /2 exampleassistant;learn=7, examplesearch;trains=?0\n",
            "App-Directives: examplesearch;trains\n",
        ];
        let more = "[[directive]]\napplication = \"examplesearch\"\nname = \"trains\"\ntype = \"Boolean\"\n\
                    description = \"d\"\ndocumentation = \"https://example.com/\"\nstatus = \"active\"\n\
                    overrides = { category = \"train-ai\", values = { \"?1\" = \"allowed\", \"?0\" = \"disallowed\" } }\n";
        let registry = Registry::built_in().extended("more.toml", more).expect("a registry");
        let paths = ["/", "/1", "/1/", "/%31/2", "/2", "/1?x"];
        let targets = paths.map(|path| Target::from_path(path).expect("a path"));
        let crawler = |names: &[&str]| {
            let add = |crawler: Crawler, name: &&str| crawler.with_application(name).expect("a name");
            names.iter().fold(Crawler::new("a").expect("a token"), add)
        };
        let crawlers = [
            &[][..],
            &["exampleassistant"],
            &["exampleassistant", "examplesearch"],
            &["examplesearch", "examplesearch"],
            &["exampleassistant", "nobody"],
        ]
        .map(crawler);
        let options = ReadOptions::default().with_registry(Arc::new(registry));
        let mut state = 9_u32;
        let mut next = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        let mut told = [[0; 3]; 3];
        for _ in 0..3_000 {
            let text: String = (0..2 + next(12)).map(|_| lines[next(lines.len())]).collect();
            let file = SiteFile::read(text.clone().into_bytes(), &options);
            let shared = RulesByGroups::new(file.clone());
            for crawler in &crawlers {
                for uses in [file.uses_for(crawler), shared.uses_for(crawler)] {
                    for target in &targets {
                        let (usage, answers) = (uses.usage(target), uses.answers(target));
                        let (usage, answers) = (usage.expect("a file"), answers.expect("a file"));
                        for (place, &about) in Use::ALL.iter().enumerate() {
                            let answer = answers.answer(about);
                            assert_eq!(answer, usage.answer(about), "{about:?} {target:?}:\n{text}");
                            told[place][answer as usize] += 1;
                        }
                    }
                }
            }
        }
        assert!(told[0].iter().chain(&told[1]).all(|count| *count > 1_000), "{told:?}");
    }
}
