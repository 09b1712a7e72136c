//! One crawler and one file → reports for many URLs, with the parts that all of them share made once.
//!
//! A report has a hundred octets that depend on the URL and several hundred that do not, unless the
//! file has paths outside of its rules. The constant octets are prepared here and copied. For a file
//! with such paths [`Question`] makes the report, and a test checks that both give the same octets.

use super::parts::is_surely_absolute;
use super::{Access, FileReport, Question, Report, Rule};
use crate::access::SiteFile;
use crate::crawler::Crawler;
use crate::decision::{Decision, Reason};
use crate::directive::{ALLOW_AI_TRAINING, DISALLOW_AI_TRAINING, Role};
use crate::page::PageRules;
use crate::robots_txt::RobotsTxt;
use crate::ruleset::{CrawlerRules, RulesByGroups};
use crate::selection::{Selection, select};
use crate::target::Target;

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
    selection: Option<Selection>,
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
    /// The groups that apply, as every decision by rules has them.
    group: Vec<u8>,
    /// From after the access part to the end, where the URL may be fetched, and where it may not.
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
        Self::of_rules(file, crawler, selection, rules, story)
    }

    /// The same with rules that many crawlers of the file share.
    ///
    /// ```
    /// use mayi::access::SiteFile;
    /// use mayi::report::Prepared;
    /// use mayi::{Crawler, ReadOptions, RulesByGroups, Target};
    ///
    /// let site = SiteFile::read(b"User-agent: *\nDisallow: /a\n".to_vec(), &ReadOptions::default());
    /// let rules = RulesByGroups::new(site);
    /// for token in ["OneBot", "OtherBot"] {
    ///     let prepared = Prepared::sharing(&rules, Crawler::new(token)?, None);
    ///     assert!(!prepared.write(&Target::from_path("/a")?, &mut Vec::new()));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sharing(rules: &RulesByGroups, crawler: Crawler, story: Option<FileReport>) -> Self {
        let file = rules.file().clone();
        let selection = file.robots_txt().and_then(|robots| select(robots, &crawler, &mut ()));
        let rules = rules.for_crawler(&crawler);
        Self::of_rules(file, crawler, selection, rules, story)
    }

    fn of_rules(
        file: SiteFile<'static>,
        crawler: Crawler,
        selection: Option<Selection>,
        rules: CrawlerRules,
        story: Option<FileReport>,
    ) -> Self {
        let shared = Shared::of(&file, &crawler, selection.as_ref(), &rules, story.as_ref());
        Self { file, crawler, selection, rules, story, shared }
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
        let report = question.report_of(&self.rules.decide(target), selection.as_ref());
        Report { file: self.story.clone(), ..report }
    }

    /// About how many octets of memory it takes, without the file, which it shares.
    pub fn octets(&self) -> usize {
        let shared = self.shared.as_ref().map_or(0, |shared| {
            let Shared { agent, for_training, group, allowed, disallowed } = shared;
            [agent, for_training, group, allowed, disallowed].map(Vec::capacity).iter().sum()
        });
        let selection = self.selection.as_ref().map_or(0, Selection::octets);
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

impl Shared {
    /// `None` if something beside the rules depends on the URL.
    fn of(
        file: &SiteFile<'_>,
        crawler: &Crawler,
        selection: Option<&Selection>,
        rules: &CrawlerRules,
        story: Option<&FileReport>,
    ) -> Option<Self> {
        if file.robots_txt().is_some_and(speaks_of_paths) {
            return None;
        }
        let target = Target::from_path("/").ok()?;
        let question = Question { file, crawler, target: &target, fields: &[], page: None };
        // One decision represents all with the same result.
        let behind = |reason| -> Option<Vec<u8>> {
            let mut report = question.report_of(&Decision::without_group(reason), selection);
            report.file = story.cloned();
            let json = serde_json::to_vec(&report).ok()?;
            let start = memchr::memmem::find(&json, BEHIND_ACCESS)?;
            Some(json[start..].to_vec())
        };
        let decision = rules.decide(&target);
        let access = Access::of(&decision, crawler);
        let mut agent = b",\"agent\":".to_vec();
        serde_json::to_writer(&mut agent, crawler.product_token().as_str()).ok()?;
        agent.extend_from_slice(b",\"dialect\":");
        serde_json::to_writer(&mut agent, file.dialect().name()).ok()?;
        agent.extend_from_slice(b",\"access\":{\"allowed\":");
        let for_training = format!(",\"for_training\":{},\"rule\":", access.for_training).into_bytes();
        let group = serde_json::to_vec(&access.group).ok()?;
        let (allowed, disallowed) = (behind(Reason::Unavailable)?, behind(Reason::Unreachable)?);
        Some(Self { agent, for_training, group, allowed, disallowed })
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
            Some(_) => out.extend_from_slice(&self.group),
            None => out.extend_from_slice(b"null"),
        }
        out.push(b'}');
        out.extend_from_slice(if is_allowed { &self.allowed } else { &self.disallowed });
    }
}

/// Whether something beside the rules of a file depends on the URL.
fn speaks_of_paths(robots: &RobotsTxt<'_>) -> bool {
    let is_about_paths = robots.records().iter().any(|record| {
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
            let prepared = Prepared::new(file, crawler, None);
            let mut written = b"before".to_vec();
            let target = Target::parse(&request.url).expect("it was answered");
            let allowed = prepared.write(&target, &mut written);
            let expected = serde_json::to_string(&answer).expect("a report");
            let id = &case.about.id;
            assert_eq!(String::from_utf8_lossy(&written[6..]), expected, "{id}");
            assert_eq!(allowed, answer.report().access.allowed, "{id}");
            asked += 1;
            shared += usize::from(prepared.shared.is_some());
        }
        assert!(asked > 1000, "most vectors can be asked so: {asked}");
        assert!(shared > 500 && shared < asked, "both ways are asked: {shared} of {asked}");
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
