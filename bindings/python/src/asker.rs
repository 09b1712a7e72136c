//! A file, or why there is none, and a crawler: what a decision is made from.

use std::sync::Arc;

use mayi::access::SiteFile;
use mayi::page::PageRules;
use mayi::report::{FileReport, Question};
use mayi::{Crawler, CrawlerRules, RulesByGroups, Target};

/// A site's file, or why there is none.
#[derive(Debug)]
pub(crate) struct Site {
    /// Where it came from, if it was fetched.
    pub(crate) story: Option<FileReport>,
    /// The file, and its rules for those crawlers that were asked for often.
    rules: RulesByGroups,
}

impl Site {
    pub(crate) fn new(file: SiteFile<'static>, story: Option<FileReport>) -> Self {
        Self { story, rules: RulesByGroups::new(file) }
    }

    pub(crate) fn file(&self) -> &SiteFile<'static> {
        self.rules.file()
    }
}

/// A crawler and one file.
#[derive(Debug)]
pub(crate) struct Asker {
    pub(crate) site: Arc<Site>,
    pub(crate) crawler: Arc<Crawler>,
}

impl Asker {
    /// Its rules, made ready for many questions.
    pub(crate) fn prepared(&self) -> CrawlerRules {
        self.site.rules.for_crawler(&self.crawler)
    }

    /// May it fetch this target? By prepared rules, or by reading the file.
    pub(crate) fn decide<'a>(
        &'a self,
        rules: Option<&'a CrawlerRules>,
        target: &Target<'_>,
    ) -> mayi::Decision<'a> {
        match rules {
            Some(rules) => rules.decide(target),
            None => self.site.file().decide(&self.crawler, target),
        }
    }

    /// The seconds that the file asks it to wait between requests.
    pub(crate) fn crawl_delay(&self) -> Option<f64> {
        self.site.file().robots_txt()?.crawl_delay(&self.crawler)
    }

    /// The whole report about a target, as JSON.
    pub(crate) fn json(&self, target: &Target<'_>, about: &About<'_>) -> String {
        let (file, crawler) = (self.site.file(), &*self.crawler);
        let question = Question { file, crawler, target, fields: about.fields, page: about.page };
        let mut report = if about.explain { question.explained() } else { question.report() };
        report.file.clone_from(&self.site.story);
        serde_json::to_string(&report).unwrap_or_default()
    }
}

/// The other parts of a question: a response, and whether an explanation is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct About<'a> {
    pub(crate) fields: &'a [(&'a str, &'a str)],
    pub(crate) page: Option<&'a PageRules>,
    pub(crate) explain: bool,
}
