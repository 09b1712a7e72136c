//! One file and its crawlers → reports for many URLs, with the parts that all of them share made once.
//!
//! A report has a hundred octets that depend on the URL and several hundred that do not, unless the
//! file has paths outside of its rules. The constant octets are prepared here and copied. For a file
//! with such paths [`Question`] makes the report, and a test checks that both give the same octets.
//!
//! Nearly all of the constant octets depend on the groups that apply, not on the crawler. A file can have tens of thousands
//! of records, and a batch can ask about it for thousands of crawlers. So [`PreparedFile`] makes them once for all crawlers
//! that get the same groups.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::parts::is_surely_absolute;
use super::{Access, FileReport, Question, Report, Rule};
use crate::access::SiteFile;
use crate::crawler::Crawler;
use crate::decision::{Decision, Reason};
use crate::directive::{ALLOW_AI_TRAINING, DISALLOW_AI_TRAINING, Role};
use crate::page::PageRules;
use crate::regexes::LONGEST_TOKEN;
use crate::robots_txt::RobotsTxt;
use crate::ruleset::{CrawlerRules, RulesByGroups};
use crate::selection::{Named, Selection, select};
use crate::target::Target;

/// What is prepared for groups is kept up to this many times the octets of the file, and some more.
const KEPT: usize = 4;
const MORE_KEPT: usize = 256 << 10;

/// How many octets it is expected to take for each octet of the file.
const OCTETS_OF_AN_OCTET: usize = 2;

/// Answers many questions about one file for one crawler.
///
/// ```
/// use mayi::access::SiteFile;
/// use mayi::report::{Prepared, Request, answer};
/// use mayi::{Crawler, ReadOptions, Target};
///
/// let file = "User-agent: *\nDisallow: /a\n";
/// let site = SiteFile::read(file.as_bytes().to_vec(), &ReadOptions::default());
/// let prepared = Prepared::new(site, Crawler::new("ExampleBot")?, None);
/// let mut json = Vec::new();
/// let allowed = prepared.write(&Target::parse("https://example.com/a?b")?, &mut json);
/// assert!(!allowed);
///
/// let mut request = Request::new("https://example.com/a?b", "ExampleBot");
/// request.robots = Some(mayi::report::RobotsInput::Text(file.into()));
/// assert_eq!(json, serde_json::to_vec(&answer(&request)?)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Prepared {
    file: SiteFile<'static>,
    crawler: Crawler,
    selection: Option<Arc<Selection>>,
    rules: CrawlerRules,
    story: Option<FileReport>,
    /// What all reports share, where they do.
    shared: Option<Shared>,
}

/// The octets between and after what depends on the URL.
#[derive(Debug)]
struct Shared {
    /// From after the URL to the start of the access part.
    agent: Vec<u8>,
    /// From after the reason to before the rule.
    for_training: Vec<u8>,
    of_groups: Arc<OfGroups>,
    /// Where the file came from, to the end.
    story: Vec<u8>,
}

/// The octets that depend on the groups that apply.
#[derive(Debug)]
struct OfGroups {
    /// The groups, as every decision by rules has them.
    group: Vec<u8>,
    /// From after the access part to where the file came from, where the URL may be fetched, and where it may not.
    allowed: Vec<u8>,
    disallowed: Vec<u8>,
}

/// What the part after access begins with. It can't be part of a text: a quotation mark is escaped
/// there.
const BEHIND_ACCESS: &[u8] = b",\"directives\":";

impl Prepared {
    /// Prepares the answers about a file, with where it came from. The URLs are of one origin.
    pub fn new(file: SiteFile<'static>, crawler: Crawler, story: Option<FileReport>) -> Self {
        let robots = file.robots_txt();
        let selection = robots.and_then(|robots| select(robots, &crawler, &mut ()));
        let rules = match robots {
            Some(robots) => CrawlerRules::new(robots, selection.as_ref()),
            None => file.for_crawler(&crawler),
        };
        let of_groups = OfGroups::of(&file, &crawler, selection.as_ref(), &rules).map(Arc::new);
        let selection = selection.map(Arc::new);
        Self { file, crawler, selection, rules, story, shared: None }.with_shared(of_groups)
    }

    /// The same with what all reports share, unless something beside the rules depends on the URL.
    fn with_shared(self, of_groups: Option<Arc<OfGroups>>) -> Self {
        let Self { file, crawler, story, .. } = &self;
        let shared =
            of_groups.and_then(|of_groups| Shared::of(file, crawler, of_groups, story.as_ref()));
        Self { shared, ..self }
    }

    /// The file.
    pub fn file(&self) -> &SiteFile<'static> {
        &self.file
    }

    /// Who asks.
    pub fn crawler(&self) -> &Crawler {
        &self.crawler
    }

    /// The report about a target, and about what is already known about its page.
    pub fn report<'a>(
        &'a self,
        target: &'a Target<'a>,
        fields: &'a [(&'a str, &'a str)],
        page: Option<&'a PageRules>,
    ) -> Report<'a> {
        let Self { file, crawler, selection, .. } = self;
        let question = Question { file, crawler, target, fields, page };
        let report = question.report_of(&self.rules.decide(target), selection.as_deref());
        Report { file: self.story.clone(), ..report }
    }

    /// About how many octets of memory it takes, without the file, which it shares.
    pub fn octets(&self) -> usize {
        let shared = self.shared.as_ref().map_or(0, |shared| {
            let Shared { agent, for_training, of_groups, story } = shared;
            [agent, for_training, story].map(Vec::capacity).iter().sum::<usize>() + of_groups.octets()
        });
        let selection = self.selection.as_deref().map_or(0, Selection::octets);
        size_of::<Self>() + self.rules.octets() + selection + shared
    }

    /// Appends the report about a target, and returns whether it may be fetched.
    ///
    /// # Panics
    /// Never: writing to memory does not fail.
    pub fn write(&self, target: &Target<'_>, out: &mut Vec<u8>) -> bool {
        let Some(shared) = &self.shared else {
            let report = self.report(target, &[], None);
            serde_json::to_writer(&mut *out, &report).expect("a report is JSON");
            return report.access.allowed;
        };
        let decision = self.rules.decide(target);
        shared.write(target, &decision, out);
        decision.is_allowed()
    }
}

/// Answers the questions of many crawlers about one file, for all threads. Crawlers that get the same groups share what is
/// prepared.
///
/// ```
/// use mayi::access::SiteFile;
/// use mayi::report::PreparedFile;
/// use mayi::{Crawler, ReadOptions, Target};
///
/// let site = SiteFile::read(b"User-agent: *\nDisallow: /a\n".to_vec(), &ReadOptions::default());
/// let file = PreparedFile::new(site);
/// for token in ["OneBot", "OtherBot"] {
///     let prepared = file.for_crawler(Crawler::new(token)?, None);
///     assert!(!prepared.write(&Target::from_path("/a")?, &mut Vec::new()));
/// }
/// assert!(file.file().robots_txt().is_some() && file.expected_octets() > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PreparedFile {
    rules: RulesByGroups,
    kept: Mutex<KeptForGroups>,
}

/// What is prepared for groups, by the lines that name their crawlers; none of them names some. It is nothing if something
/// beside the rules depends on the URL.
#[derive(Debug, Default)]
struct KeptForGroups {
    by_lines: HashMap<Option<Named>, Option<Arc<OfGroups>>>,
    octets: usize,
}

impl PreparedFile {
    /// Nothing is prepared yet.
    pub fn new(file: SiteFile<'static>) -> Self {
        Self { rules: RulesByGroups::new(file), kept: Mutex::default() }
    }

    /// The file, or why there is none.
    pub fn file(&self) -> &SiteFile<'static> {
        self.rules.file()
    }

    /// Prepares the answers for a crawler, as [`Prepared::new`] does.
    pub fn for_crawler(&self, crawler: Crawler, story: Option<FileReport>) -> Prepared {
        let (named, rules) = self.rules.with_lines(&crawler);
        let selection = named.as_ref().and_then(|named| self.rules.selection(named));
        let of_groups = self.of_groups(named, &crawler, selection.as_deref(), &rules);
        let file = self.file().clone();
        Prepared { file, crawler, selection, rules, story, shared: None }.with_shared(of_groups)
    }

    fn of_groups(
        &self,
        named: Option<Named>,
        crawler: &Crawler,
        selection: Option<&Selection>,
        rules: &CrawlerRules,
    ) -> Option<Arc<OfGroups>> {
        let make = || OfGroups::of(self.file(), crawler, selection, rules).map(Arc::new);
        // The answers to others depend on more than their groups.
        let is_ordinary = crawler.applications().next().is_none()
            && crawler.product_token().as_str().len() <= LONGEST_TOKEN;
        if !is_ordinary {
            return make();
        }
        if let Some(known) = self.kept().by_lines.get(&named) {
            return known.clone();
        }
        let of_groups = make();
        let octets = size_of::<(Option<Named>, Option<Arc<OfGroups>>)>()
            + named.as_ref().map_or(0, Named::octets)
            + of_groups.as_deref().map_or(0, OfGroups::octets);
        let mut kept = self.kept();
        if kept.octets + octets <= KEPT * self.octets_of_text() + MORE_KEPT {
            kept.octets += octets;
            kept.by_lines.insert(named, of_groups.clone());
        }
        of_groups
    }

    /// About how many octets of memory it will take, for a cache that has to know that in advance. It is more than usual.
    /// With files that are made for it, it can be three times as much.
    pub fn expected_octets(&self) -> usize {
        self.rules.expected_octets() + OCTETS_OF_AN_OCTET * self.octets_of_text()
    }

    fn octets_of_text(&self) -> usize {
        self.file().robots_txt().map_or(0, |robots| robots.text().len())
    }

    fn kept(&self) -> MutexGuard<'_, KeptForGroups> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OfGroups {
    /// `None` if something beside the rules depends on the URL.
    fn of(
        file: &SiteFile<'_>,
        crawler: &Crawler,
        selection: Option<&Selection>,
        rules: &CrawlerRules,
    ) -> Option<Self> {
        if file.robots_txt().is_some_and(speaks_of_paths) {
            return None;
        }
        let target = Target::from_path("/").ok()?;
        let question = Question { file, crawler, target: &target, fields: &[], page: None };
        // One decision represents all with the same result.
        let behind = |reason| -> Option<Vec<u8>> {
            let report = question.report_of(&Decision::without_group(reason), selection);
            let json = serde_json::to_vec(&report).ok()?;
            let start = memchr::memmem::find(&json, BEHIND_ACCESS)?;
            // Where the file came from stands before the last brace.
            json[start..].strip_suffix(b"}").map(<[u8]>::to_vec)
        };
        let group = serde_json::to_vec(&Access::of(&rules.decide(&target), crawler).group).ok()?;
        let (allowed, disallowed) = (behind(Reason::Unavailable)?, behind(Reason::Unreachable)?);
        Some(Self { group, allowed, disallowed })
    }

    fn octets(&self) -> usize {
        let Self { group, allowed, disallowed } = self;
        size_of::<Self>() + [group, allowed, disallowed].map(Vec::capacity).iter().sum::<usize>()
    }
}

impl Shared {
    fn of(
        file: &SiteFile<'_>,
        crawler: &Crawler,
        of_groups: Arc<OfGroups>,
        story: Option<&FileReport>,
    ) -> Option<Self> {
        let mut agent = b",\"agent\":".to_vec();
        serde_json::to_writer(&mut agent, crawler.product_token().as_str()).ok()?;
        agent.extend_from_slice(b",\"dialect\":");
        serde_json::to_writer(&mut agent, file.dialect().name()).ok()?;
        agent.extend_from_slice(b",\"access\":{\"allowed\":");
        let is_for_training = crawler.is_for_training();
        let for_training = format!(",\"for_training\":{is_for_training},\"rule\":").into_bytes();
        let mut end = Vec::new();
        if let Some(story) = story {
            end.extend_from_slice(b",\"file\":");
            serde_json::to_writer(&mut end, story).ok()?;
        }
        end.push(b'}');
        Some(Self { agent, for_training, of_groups, story: end })
    }

    fn write(&self, target: &Target<'_>, decision: &Decision<'_>, out: &mut Vec<u8>) {
        let fits = "writing to memory does not fail";
        out.extend_from_slice(b"{\"url\":");
        serde_json::to_writer(&mut *out, target.url()).expect(fits);
        out.extend_from_slice(&self.agent);
        let is_allowed = decision.is_allowed();
        let reason: &[u8] = if is_allowed { b"true,\"reason\":\"" } else { b"false,\"reason\":\"" };
        out.extend_from_slice(reason);
        out.extend_from_slice(decision.reason().name().as_bytes());
        out.push(b'"');
        out.extend_from_slice(&self.for_training);
        match decision.rule() {
            Some(rule) => serde_json::to_writer(&mut *out, &Rule::of(rule)).expect(fits),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"group\":");
        match decision.group() {
            Some(_) => out.extend_from_slice(&self.of_groups.group),
            None => out.extend_from_slice(b"null"),
        }
        out.push(b'}');
        let OfGroups { allowed, disallowed, .. } = &*self.of_groups;
        out.extend_from_slice(if is_allowed { allowed } else { disallowed });
        out.extend_from_slice(&self.story);
    }
}

/// Whether something beside the rules of a file depends on the URL.
fn speaks_of_paths(robots: &RobotsTxt<'_>) -> bool {
    let is_about_paths = robots.non_rules().all(robots).any(|record| {
        let is_training = record.is(&ALLOW_AI_TRAINING) || record.is(&DISALLOW_AI_TRAINING);
        record.role() == Role::Statement || is_training
    });
    // A sitemap that is not absolute is resolved with the URL.
    is_about_paths || robots.sitemaps().any(|sitemap| !is_surely_absolute(sitemap))
}

#[cfg(test)]
mod tests {
    use mayi_vectors::Case;

    use super::super::{Answering, FileReport, FileSource, Request, RobotsInput};
    use super::*;
    use crate::access::AccessResult;

    /// The request of a vector without what is said of the page.
    fn without_page(case: &Case) -> String {
        let mut request = case.request.clone();
        let members = request.as_object_mut().expect("a request is an object");
        members.remove("page");
        members.remove("explain");
        request.to_string()
    }

    #[test]
    fn prepared_reports_are_the_reports() {
        let answering = Answering::default();
        let (mut asked, mut shared) = (0, 0);
        for case in mayi_vectors::all().cases {
            let json = without_page(&case);
            let Ok(request) = Request::from_json(json.as_bytes()) else { continue };
            let Ok(answer) = answering.answer(&request) else { continue };
            let options = answering.reading(answering.dialect_of(&request).expect("known"), None);
            let file = match &request.robots {
                Some(RobotsInput::Text(text)) => SiteFile::read(text.as_bytes().to_vec(), &options),
                Some(RobotsInput::Ended(result)) => {
                    SiteFile::ended(result.clone(), &options).expect("it was answered")
                }
                _ => continue,
            };
            let crawler = request.crawler().expect("it was answered");
            // What others with the same groups were answered, or groups of theirs, make no difference.
            let for_all = PreparedFile::new(file.clone());
            let long = Crawler::new(&"x".repeat(LONGEST_TOKEN + 1)).expect("a token");
            let own =
                Crawler::new(crawler.product_token().as_str()).unwrap_or_else(|_| Crawler::unnamed());
            for other in [Crawler::unnamed(), long, own] {
                for_all.for_crawler(other, None);
            }
            let of_file = for_all.for_crawler(crawler.clone(), None);
            let of_crawler = Prepared::new(file, crawler, None);
            let id = &case.about.id;
            for prepared in [&of_crawler, &of_file] {
                let mut written = b"before".to_vec();
                let target = Target::parse(&request.url).expect("it was answered");
                let allowed = prepared.write(&target, &mut written);
                let expected = serde_json::to_string(&answer).expect("a report");
                assert_eq!(String::from_utf8_lossy(&written[6..]), expected, "{id}");
                assert_eq!(allowed, answer.report().access.allowed, "{id}");
                assert_eq!(prepared.report(&target, &[], None), answer.report(), "{id}");
            }
            asked += 1;
            shared += usize::from(of_crawler.shared.is_some());
        }
        assert!(asked > 1000, "most vectors can be asked so: {asked}");
        assert!(shared > 500 && shared < asked, "both ways are asked: {shared} of {asked}");
    }

    /// Crawlers with the same groups, of which some have more to be told, in any order.
    #[test]
    fn what_crawlers_share_is_only_what_is_the_same() {
        let text = "Sitemap: https://example.com/s.xml\nUser-agent: .*\nDisallow: /a\nCrawl-delay: 2\n\
                    User-agent: b\nApp-Directives: c;d\nContent-Signal: search=no\nUser-agent: *\n\
                    Allow: /\nHost: h\n";
        let without_paths = text.replace("App-Directives: c;d\n", "");
        let crawler = |token: &str| Crawler::new(token).expect("a token");
        let with_application = |token| crawler(token).with_application("c").expect("a name");
        let long = "x".repeat(LONGEST_TOKEN + 1);
        let crawlers = ["a", "b", "c", "GPTBot", &long].map(crawler).into_iter();
        let crawlers = crawlers.chain(["a", "b"].map(with_application)).chain([Crawler::unnamed()]);
        let crawlers: Vec<_> = crawlers.collect();
        for text in [text, &without_paths] {
            let file = SiteFile::read(text.as_bytes().to_vec(), &crate::ReadOptions::default());
            for first in 0..crawlers.len() {
                let for_all = PreparedFile::new(file.clone());
                for place in 0..=crawlers.len() {
                    let crawler = &crawlers[(first + place) % crawlers.len()];
                    for path in ["/", "/a", "/robots.txt"] {
                        let target = Target::from_path(path).expect("a path");
                        let (mut shared, mut own) = (Vec::new(), Vec::new());
                        for_all.for_crawler(crawler.clone(), None).write(&target, &mut shared);
                        Prepared::new(file.clone(), crawler.clone(), None).write(&target, &mut own);
                        let [shared, own] = [&shared, &own].map(|json| String::from_utf8_lossy(json));
                        assert_eq!(shared, own, "{crawler:?}");
                    }
                }
                // By the expression, by `b`, and by `*`.
                assert_eq!(for_all.kept().by_lines.len(), 3);
            }
        }
    }

    /// What is kept for groups does not grow with the number of crawlers.
    #[test]
    fn little_is_kept_of_many_groups() {
        let group = |number: usize| format!("User-agent: bot{number}\nDisallow: /{number}\n");
        let text: String = (0..3_000).map(group).collect();
        let octets = text.len();
        let file = SiteFile::read(text.into_bytes(), &crate::ReadOptions::default());
        let for_all = PreparedFile::new(file);
        for number in 0..3_000 {
            let crawler = Crawler::new(&format!("bot{number}")).expect("a token");
            let path = format!("/{number}");
            let target = Target::from_path(&path).expect("a path");
            assert!(!for_all.for_crawler(crawler, None).write(&target, &mut Vec::new()));
        }
        let kept = for_all.kept().octets;
        assert!((octets..=KEPT * octets + MORE_KEPT).contains(&kept), "{kept} for {octets}");
    }

    #[test]
    fn the_story_of_a_file_is_told() {
        let file = b"User-agent: *\nDisallow: /a\nSitemap: https://example.com/s.xml\nCrawl-delay: 2\n";
        let story = FileReport::new(FileSource::Fresh, &AccessResult::Successful);
        let request = Request::new("https://example.com/\u{e9}\"\\?,\"directives\":", "ExampleBot");
        let file = SiteFile::from(RobotsTxt::parse(file).into_owned());
        let answering = Answering::default();
        let answer = answering.answer_about(&request, file.clone(), story.clone());
        let expected = serde_json::to_string(&answer.expect("a good request")).expect("a report");
        let crawler = request.crawler().expect("a good request");
        let prepared = Prepared::new(file, crawler, Some(story));
        assert!(prepared.shared.is_some());
        let mut written = Vec::new();
        prepared.write(&Target::parse(&request.url).expect("a good URL"), &mut written);
        assert_eq!(String::from_utf8_lossy(&written), expected);
    }
}
