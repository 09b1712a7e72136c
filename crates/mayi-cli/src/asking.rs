//! The words of a question and its URLs → each URL decided, with the file that decides: the one that
//! was given, or the one of its site, fetched.

use mayi::access::Origin;
use mayi::page::PageRules;
use mayi::report::{Answering, FileReport};
use mayi::{Crawler, CrawlerRules, Decision, InvalidUrl, RobotsTxt, Target};
use mayi_fetch::blocking;

use crate::cli::Question;
use crate::exit::Failure;
use crate::fetching::{self, Ahead};
use crate::input;
use crate::progress::{self, Progress};

/// Who asks, and where the files come from.
pub(crate) struct Asking<'q> {
    pub(crate) crawler: Crawler,
    fields: Vec<(&'q str, &'q str)>,
    page: Option<PageRules>,
    files: Files,
    question: &'q Question,
}

enum Files {
    Given { name: String, robots: Box<RobotsTxt<'static>>, rules: Box<CrawlerRules> },
    Fetched { fetcher: blocking::Fetcher, none: Box<RobotsTxt<'static>> },
}

/// A URL that was asked about.
pub(crate) struct Asked<'a> {
    pub(crate) url: &'a str,
    /// What is to be decided about, and the decision; or what is wrong with the URL.
    pub(crate) decided: Result<(Target<'a>, Decision<'a>), InvalidUrl>,
    /// The file; an empty one where there is none.
    pub(crate) robots: &'a RobotsTxt<'a>,
    /// What the file is called.
    pub(crate) file: &'a str,
    /// Where it came from, where it was fetched.
    pub(crate) story: Option<FileReport>,
}

impl<'q> Asking<'q> {
    pub(crate) fn new(question: &'q Question) -> Result<Self, Failure> {
        let crawler = input::crawler(question)?;
        let files = if let Some(path) = &question.robots {
            let robots = input::robots(question, path)?;
            let rules = Box::new(robots.for_crawler(&crawler));
            Files::Given { name: input::name(path), robots: Box::new(robots), rules }
        } else {
            let options = input::read_options(question)?;
            let none = Box::new(RobotsTxt::read(&b""[..], &options));
            let answering = Answering::default().with_options(options);
            Files::Fetched { fetcher: fetching::fetcher(&question.fetching, answering)?, none }
        };
        let page = input::page_rules(question, &crawler)?;
        Ok(Self { crawler, fields: input::borrowed(&question.headers), page, files, question })
    }

    /// The question about a target, to its file.
    pub(crate) fn question<'a>(
        &'a self,
        robots: &'a RobotsTxt<'a>,
        target: &'a Target<'a>,
    ) -> mayi::report::Question<'a> {
        let page = self.page.as_ref();
        mayi::report::Question { robots, crawler: &self.crawler, target, fields: &self.fields, page }
    }

    /// Decides about every URL, in order.
    pub(crate) fn each(
        &self,
        urls: impl Iterator<Item = Result<String, Failure>>,
        mut answer: impl FnMut(&Asked<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let total = self.question.urls.as_deref().and_then(|path| progress::total_size([path]));
        let progress = Progress::start(&self.question.progress, "URLs", total);
        let mut answer = |asked: &Asked<'_>| {
            progress.add_one_of(asked.url.len() as u64 + 1);
            answer(asked)
        };
        match &self.files {
            Files::Given { name, robots, rules } => {
                for url in urls {
                    let url = url?;
                    let decided = Target::parse(&url).map(|target| {
                        let decision = rules.decide(&target);
                        (target, decision)
                    });
                    answer(&Asked { url: &url, decided, robots, file: name, story: None })?;
                }
                Ok(())
            }
            Files::Fetched { fetcher, none } => {
                let questions = urls.map(|url| {
                    let url = url?;
                    let origin = Origin::of_url(&url).ok();
                    Ok((url, origin))
                });
                Ahead::new(fetcher).each(questions, |url, fetched| {
                    let Some(fetched) = fetched else {
                        let decided = Err(wrong(&url));
                        return answer(&Asked {
                            url: &url,
                            decided,
                            robots: none,
                            file: "",
                            story: None,
                        });
                    };
                    let robots = fetched.robots_txt().map_or(&**none, |robots| robots);
                    let decided = Target::parse(&url).map(|target| {
                        let decision = fetched.decide(&self.crawler, &target);
                        (target, decision)
                    });
                    let (file, story) = (fetched.origin().robots_url(), Some(fetched.file_report()));
                    answer(&Asked { url: &url, decided, robots, file: &file, story })
                })?;
                fetching::tell(fetcher);
                Ok(())
            }
        }
    }
}

/// What is wrong with a URL that has no origin.
fn wrong(url: &str) -> InvalidUrl {
    match (Target::parse(url), Origin::of_url(url)) {
        (Err(error), _) | (Ok(_), Err(error)) => error,
        (Ok(_), Ok(_)) => unreachable!("a URL that can be asked about has an origin"),
    }
}
