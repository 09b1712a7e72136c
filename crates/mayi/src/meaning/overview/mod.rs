//! One file → who may do what with the site: every known crawler by what it is for, and plain sentences.
//!
//! Crawlers that read the same groups have the same answer, so each answer is worked out once, as a [`SharedAnswer`].
//! Every statement of an answer is shown by URLs that were really decided: "a part" has an example that may
//! be fetched and one that may not. "Everything" and "nothing" are proved, or the answer says that they are
//! not.

mod crawling;
mod sentences;
mod using;

pub use crawling::{Crawling, Fetchable, RuleWithExample};
pub use using::{UseAnswer, UseElsewhere, UseGrounds, UseSource};

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::readers::Readers;
use crate::access::SiteFile;
use crate::crawler::Crawler;
use crate::registry::{Agent, AgentKind};
use crate::robots_txt::{ReadOptions, RobotsTxt};
use crate::selection::{GroupBy, Selection, cost_of_selecting, select};
use crate::target::Target;
use crate::work::{Spent, Work};

/// Who may do what with a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Overview {
    /// The dialect that the file was read in.
    pub dialect: Cow<'static, str>,
    /// The result of the request for the file: `successful`, or why there is none.
    pub access: Cow<'static, str>,
    /// What the file says, in plain sentences: one for each kind of crawler, or one for all, and one for each
    /// use that the file mentions.
    pub summary: Vec<String>,
    /// The crawlers, by what they are for. The last kind, `other`, has the crawlers that the file names and the registry
    /// does not have, and `*`, which stands for every crawler that is not named.
    pub kinds: Vec<KindOverview>,
    /// The answers that crawlers share.
    pub answers: Vec<SharedAnswer>,
    /// How many crawlers were left out, because there are very many.
    pub crawlers_left_out: usize,
    /// What it cost beyond reading the file.
    #[serde(skip)]
    pub spent: Spent,
}

/// The crawlers of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KindOverview {
    /// The kind, as in the registry, or `other`.
    pub kind: Cow<'static, str>,
    /// What people call crawlers of this kind.
    pub label: Cow<'static, str>,
    /// What they may do, in a sentence.
    pub summary: String,
    /// How many may fetch everything.
    pub everything: usize,
    /// How many may fetch a part.
    pub part: usize,
    /// How many may fetch nothing.
    pub nothing: usize,
    /// The crawlers.
    pub crawlers: Vec<CrawlerOverview>,
}

/// A crawler, and which of the answers is for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CrawlerOverview {
    /// Its product token; `*` for one that is not named. A purpose or a regular expression that the file
    /// names is described in words.
    pub token: String,
    /// Its operator, if it is known.
    pub operator: Option<String>,
    /// Whether it is listed here because its data is used for this: it collects for something else, and is listed there
    /// too.
    pub by_use: bool,
    /// Whether its product token is for robots.txt alone: no request is made with it.
    pub control_only: bool,
    /// Whether the groups of `*` do not apply to it (WILD-6).
    pub ignores_global: bool,
    /// The group that applies to it, if one does.
    pub group: Option<GroupAt>,
    /// The place of its answer in [`Overview::answers`].
    pub answer: usize,
}

/// How a crawler comes to its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupAt {
    /// How the group was found.
    pub by: GroupBy,
    /// The first line that names the crawler.
    pub line: u32,
}

/// What some crawlers may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SharedAnswer {
    /// What they may fetch.
    pub crawling: Crawling,
    /// What they may do with what they fetch.
    pub uses: Vec<UseAnswer>,
}

/// Reports who may do what with a site, for the crawlers of the registry that its file is read with. The
/// options give the budget of work.
///
/// ```
/// use mayi::ReadOptions;
/// use mayi::access::SiteFile;
/// use mayi::meaning::overview;
///
/// let options = ReadOptions::default();
/// let file = SiteFile::read(b"User-agent: *\nDisallow: /cart/\n", &options);
/// assert_eq!(overview(&file, &options).summary[0], "Crawlers may fetch everything but /cart/.");
/// ```
pub fn overview(file: &SiteFile<'_>, options: &ReadOptions) -> Overview {
    let view = file.view();
    let work = options.work_for(view.robots.map_or(0, |robots| robots.text().len()));
    let mut asked = AnswersSoFar::new(file, &work);
    let mut kinds = Vec::new();
    // The crawler that is not named comes first, so that there is an answer for it even with a small budget.
    let unnamed = asked.ask("*".to_owned(), None, &Crawler::unnamed());
    let mut left_out = 0;
    for &kind in AgentKind::ALL {
        let agents = view.registry.agents().iter().filter(|agent| agent.serves(kind));
        let mut crawlers = Vec::new();
        for agent in agents {
            let crawler = Crawler::new(&agent.token).ok();
            match crawler.and_then(|it| asked.ask(agent.token.to_string(), Some(agent), &it)) {
                Some(crawler) => {
                    crawlers.push(CrawlerOverview { by_use: agent.kind != kind, ..crawler });
                }
                None => left_out += 1,
            }
        }
        kinds.push(asked.kind(kind.name(), crawlers));
    }
    let mut others: Vec<CrawlerOverview> = unnamed.into_iter().collect();
    if let Some(robots) = view.robots {
        let readers = Readers::of(&[robots], &work.split_off(8));
        left_out += readers.left_out;
        let is_other = |crawler: &Crawler| {
            !crawler.is_unnamed() && view.registry.agent(crawler.product_token().as_str()).is_none()
                || crawler.purposes().next().is_some()
        };
        for reader in readers.all.into_iter().filter(|it| it.is_meant && is_other(&it.crawler)) {
            match asked.ask(reader.label, None, &reader.crawler) {
                Some(crawler) => others.push(crawler),
                None => left_out += 1,
            }
        }
    }
    kinds.push(asked.kind("other", others));
    let (answers, proofs) = (asked.answers, asked.proofs.done());
    let summary = sentences::of_file(file, &kinds, &answers);
    kinds.retain(|kind| !kind.crawlers.is_empty());
    Overview {
        dialect: view.dialect.name().into(),
        access: file.access().name().into(),
        summary,
        kinds,
        answers,
        crawlers_left_out: left_out,
        spent: Spent { units: work.done().units + proofs.units, ..work.done() },
    }
}

/// A file as it was asked so far.
struct AnswersSoFar<'a, 't> {
    file: &'a SiteFile<'t>,
    work: &'a Work,
    /// The budget to check whether rules have no effect, which needs a look at all other rules. If it is used
    /// up, they are not listed.
    proofs: Work,
    known: HashMap<Option<Vec<Range<usize>>>, usize>,
    answers: Vec<SharedAnswer>,
}

impl<'a, 't> AnswersSoFar<'a, 't> {
    fn new(file: &'a SiteFile<'t>, work: &'a Work) -> Self {
        Self { file, work, proofs: work.split_off(4), known: HashMap::new(), answers: Vec::new() }
    }

    /// What a crawler may do. None where there is too little left to find out.
    fn ask(
        &mut self,
        token: String,
        agent: Option<&Agent>,
        crawler: &Crawler,
    ) -> Option<CrawlerOverview> {
        let (group, answer) = match self.file.robots_txt() {
            Some(robots) => self.ask_file(robots, crawler)?,
            None => (None, self.without_file()),
        };
        Some(CrawlerOverview {
            token,
            operator: agent.map(|agent| agent.operator.to_string()),
            by_use: false,
            control_only: agent.is_some_and(|agent| agent.control_only),
            ignores_global: agent.is_some_and(Agent::ignores_global),
            group,
            answer,
        })
    }

    fn ask_file(
        &mut self,
        robots: &RobotsTxt<'_>,
        crawler: &Crawler,
    ) -> Option<(Option<GroupAt>, usize)> {
        let is_first = self.answers.is_empty();
        let cost = cost_of_selecting(robots, crawler) + robots.text().len() / 64;
        if !self.work.spend(cost, "crawlers") && !is_first {
            return None;
        }
        let selection = select(robots, crawler, &mut ());
        let group = selection.as_ref().and_then(|selection| {
            let first = robots.lines_of(selection.starts.first().copied().into_iter());
            first.first().map(|line| GroupAt { by: selection.by, line: line.number() })
        });
        let key = selection.as_ref().map(|selection| selection.groups.clone());
        if let Some(&answer) = self.known.get(&key) {
            return Some((group, answer));
        }
        if !self.work.spend(cost_of_answer(robots, selection.as_ref()), "crawlers") && !is_first {
            return None;
        }
        let asking = crawling::FileOfGroups { robots, selection: selection.as_ref(), work: self.work };
        let (crawling, place) = asking.crawling(&self.proofs);
        let uses = using::uses(&asking, &crawling, &place);
        self.answers.push(SharedAnswer { crawling, uses });
        self.known.insert(key, self.answers.len() - 1);
        Some((group, self.answers.len() - 1))
    }

    /// What applies to everybody if there is no file.
    fn without_file(&mut self) -> usize {
        if self.answers.is_empty() {
            let target = Target::from_path("/").expect("a path");
            let decision = self.file.decide(&Crawler::unnamed(), &target);
            let crawling = Crawling::without_file(&decision);
            let uses = using::without_file(&crawling);
            self.answers.push(SharedAnswer { crawling, uses });
        }
        0
    }

    fn kind(&self, kind: &'static str, crawlers: Vec<CrawlerOverview>) -> KindOverview {
        let count = |answer: Fetchable| {
            let is = |it: &&CrawlerOverview| self.answers[it.answer].crawling.answer == answer;
            crawlers.iter().filter(is).count()
        };
        KindOverview {
            kind: kind.into(),
            label: sentences::label(kind).into(),
            summary: sentences::of_kind(kind, &crawlers, &self.answers),
            everything: count(Fetchable::Everything),
            part: count(Fetchable::Part),
            nothing: count(Fetchable::Nothing),
            crawlers,
        }
    }
}

/// What it costs to lay out the rules and the statements of some groups, without asking about any.
fn cost_of_answer(robots: &RobotsTxt<'_>, selection: Option<&Selection>) -> usize {
    let records = selection.into_iter().flat_map(|selection| selection.records(robots));
    records.map(|record| 100 + 2 * robots.value(record).len()).sum::<usize>() + robots.text().len() / 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::AccessResult;

    fn of(text: &str) -> Overview {
        let options = ReadOptions::default();
        overview(&SiteFile::read(text.as_bytes(), &options), &options)
    }

    fn crawler<'o>(overview: &'o Overview, token: &str) -> (&'o CrawlerOverview, &'o SharedAnswer) {
        let mut all = overview.kinds.iter().flat_map(|kind| &kind.crawlers);
        let crawler = all.find(|crawler| crawler.token == token).expect("it is listed");
        (crawler, &overview.answers[crawler.answer])
    }

    /// What crawlers that the file does not name may fetch, whether that is proved, and the patterns that say so.
    #[track_caller]
    fn check(rules: &str, answer: Fetchable, proved: bool, patterns: &[&str]) {
        let overview = of(&format!("User-agent: *\n{rules}"));
        let (_, shared) = crawler(&overview, "*");
        let listed: Vec<_> = shared.crawling.rules.iter().map(|rule| &*rule.pattern).collect();
        let found = (shared.crawling.answer, shared.crawling.proved, &*listed);
        assert_eq!(found, (answer, proved, patterns), "{rules}");
    }

    #[test]
    fn what_may_be_fetched() {
        check("", Fetchable::Everything, true, &[]);
        check("Disallow:\n", Fetchable::Everything, true, &[]);
        check("Allow: /a\n", Fetchable::Everything, true, &[]);
        check("Disallow: a\n", Fetchable::Everything, true, &[]);
        check("Disallow: /a\nAllow: /a\n", Fetchable::Everything, true, &["/a"]);
        check("Disallow: /\nAllow: /\n", Fetchable::Everything, true, &[]);
        check("Disallow: /\n", Fetchable::Nothing, true, &["/"]);
        check("Disallow: *\n", Fetchable::Nothing, true, &["*"]);
        check("Disallow: /*\nAllow: /\nDisallow: /b\n", Fetchable::Nothing, true, &["/*"]);
        check("Disallow: /\nAllow: /press/\n", Fetchable::Part, true, &["/", "/press/"]);
        check("Disallow: /a\nDisallow: /b\n", Fetchable::Part, true, &["/a", "/b"]);
        check("Allow: /a/b\nDisallow: /a\nAllow: /c\n", Fetchable::Part, true, &["/a/b", "/a"]);
        check("Disallow: /*?\n", Fetchable::Part, true, &["/*?"]);
        check("Disallow: /*e\n", Fetchable::Part, true, &["/*e"]);
        check("Disallow: /$\nDisallow: /?\n", Fetchable::Part, true, &["/$", "/?"]);
        // The second rule always wins, and that is more than can be proved.
        check("Disallow: /*a\nAllow: /*a*\n", Fetchable::Everything, false, &["/*a*"]);
    }

    #[test]
    fn both_sides_of_a_part_have_an_example() {
        let overview = of("User-agent: *\nDisallow: /\nAllow: /press/\n");
        let crawling = &crawler(&overview, "*").1.crawling;
        assert_eq!(crawling.may.as_deref(), Some("/press/"));
        assert_eq!(crawling.may_not.as_deref(), Some("/x"));
        assert!(!crawling.otherwise);
        assert_eq!(crawling.grounds.rule.as_ref().map(|rule| rule.line), Some(2));
    }

    #[test]
    fn crawlers_come_to_their_groups() {
        let overview =
            of("User-agent: GPTBot\nUser-agent: SomeBot\nDisallow: /\n\nUser-agent: *\nDisallow: /a\n");
        let (gptbot, answer) = crawler(&overview, "GPTBot");
        assert_eq!(gptbot.operator.as_deref(), Some("OpenAI"));
        assert_eq!(gptbot.group, Some(GroupAt { by: GroupBy::ProductToken, line: 1 }));
        assert_eq!(answer.crawling.answer, Fetchable::Nothing);
        let (other, same) = crawler(&overview, "SomeBot");
        assert_eq!((other.group.map(|group| group.line), same), (Some(2), answer));
        assert_eq!(
            crawler(&overview, "Googlebot").0.group,
            Some(GroupAt { by: GroupBy::Global, line: 5 })
        );
        // `*` does not apply to AdsBot-Google (WILD-6).
        assert_eq!(crawler(&overview, "AdsBot-Google").0.group, None);
        let training = overview.kinds.iter().find(|kind| kind.kind == "training").expect("it is there");
        assert_eq!((training.nothing, training.part), (1, training.crawlers.len() - 1));
    }

    #[test]
    fn uses_with_their_lines() {
        let overview = of(
            "User-agent: *\nContent-Signal: ai-train=no, search=yes\nContent-Usage: /free/ train-ai=y\n\
             DisallowAITraining: /x\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /\n",
        );
        let uses = &crawler(&overview, "*").1.uses;
        assert_eq!(
            uses.iter().map(|it| it.about.name()).collect::<Vec<_>>(),
            ["train", "search", "ai-input"]
        );
        assert_eq!(uses[0].answer, crate::Preference::Disallowed);
        assert_eq!(
            (uses[0].because[0].source, uses[0].because[0].line),
            (UseSource::Signal(crate::SignalSource::ContentSignal), Some(2))
        );
        assert_eq!(uses[1].answer, crate::Preference::Allowed);
        assert_eq!(uses[2].answer, crate::Preference::Unknown);
        // A crawler that may fetch nothing may not use the site for training.
        let refused = &crawler(&overview, "GPTBot").1.uses[0];
        assert_eq!(refused.answer, crate::Preference::Disallowed);
        assert_eq!((refused.because[0].source, refused.because[0].line), (UseSource::Access, Some(8)));
        let elsewhere =
            of("User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /free/ train-ai=y\n");
        let train = &crawler(&elsewhere, "*").1.uses[0];
        assert_eq!((train.answer, train.elsewhere.len()), (crate::Preference::Disallowed, 1));
        assert_eq!(
            (train.elsewhere[0].answer, &*train.elsewhere[0].example),
            (crate::Preference::Allowed, "/free/")
        );
        assert_eq!(train.elsewhere[0].because[0].line, Some(3));
    }

    #[test]
    fn without_a_file() {
        let options = ReadOptions::default();
        for (status, answer) in [(404, Fetchable::Everything), (503, Fetchable::Nothing)] {
            let file = SiteFile::ended(AccessResult::of_status(status), &options).expect("no file");
            let overview = overview(&file, &options);
            assert_eq!(overview.answers.len(), 1);
            assert_eq!(crawler(&overview, "GPTBot").1.crawling.answer, answer);
            assert_eq!(overview.summary.len(), 1, "{:?}", overview.summary);
        }
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let options = ReadOptions::default().with_limits(crate::Limits::default().with_work(500));
        let file = SiteFile::read(b"User-agent: *\nDisallow: /a\n", &options);
        let overview = overview(&file, &options);
        assert!(overview.crawlers_left_out > 0 && overview.spent.ran_out.is_some());
        assert_eq!(crawler(&overview, "*").0.answer, 0);
    }
}
