//! The options of a question and its URLs → each URL with the file that decides about it: the given one, or
//! the one that was fetched from its site.

use mayi::access::{Origin, SiteFile};
use mayi::page::PageRules;
use mayi::report::{Answering, FileReport, Prepared, Report};
use mayi::{Crawler, Explanation, InvalidUrl, Target};
use mayi_fetch::blocking;

use crate::cli::QuestionArgs;
use crate::exit::Failure;
use crate::fetching;
use crate::input;
use crate::progress::{self, Progress};

/// The crawler, and where the files come from.
pub(crate) struct Asking<'q> {
    crawler: Crawler,
    fields: Vec<(&'q str, &'q str)>,
    page: Option<PageRules>,
    files: Files,
    question: &'q QuestionArgs,
}

enum Files {
    /// One for all URLs.
    Given {
        name: String,
        prepared: Box<Prepared>,
    },
    Fetched(blocking::Fetcher),
}

/// A URL that was asked about, and the file that decides.
pub(crate) struct Asked<'a> {
    asking: &'a Asking<'a>,
    pub(crate) target: Target<'a>,
    pub(crate) file: &'a SiteFile<'static>,
    /// What the file is called.
    pub(crate) name: &'a str,
    /// The prepared answers, if there is one file for all questions.
    prepared: Option<&'a Prepared>,
    /// Where the file came from, if it was fetched.
    story: Option<FileReport>,
}

impl Asked<'_> {
    pub(crate) fn crawler(&self) -> &Crawler {
        &self.asking.crawler
    }

    /// The decision in all its parts.
    pub(crate) fn report(&self) -> Report<'_> {
        let page = self.asking.page.as_ref();
        let mut report = match self.prepared {
            Some(prepared) => prepared.report(&self.target, &self.asking.fields, page),
            None => self.question().report(),
        };
        report.file.clone_from(&self.story);
        report
    }

    /// The same from an existing explanation.
    pub(crate) fn explained_by<'a>(&'a self, explanation: &Explanation<'a>) -> Report<'a> {
        let mut report = self.question().explained_by(explanation);
        report.file.clone_from(&self.story);
        report
    }

    fn question(&self) -> mayi::report::Question<'_> {
        let Asking { crawler, fields, page, .. } = self.asking;
        let (file, target) = (self.file, &self.target);
        mayi::report::Question { file, crawler, target, fields, page: page.as_ref() }
    }
}

impl<'q> Asking<'q> {
    pub(crate) fn new(question: &'q QuestionArgs) -> Result<Self, Failure> {
        let (crawler, files) = if let Some(path) = &question.robots {
            let robots = input::robots(question, path)?;
            let crawler = input::crawler(question, Some(&robots))?;
            let prepared = Box::new(Prepared::new(robots.into(), crawler.clone(), None));
            (crawler, Files::Given { name: input::name(path), prepared })
        } else {
            let crawler = input::crawler(question, None)?;
            let answering = Answering::default().with_options(input::read_options(question)?);
            (crawler, Files::Fetched(fetching::fetcher(&question.fetching, answering)?))
        };
        let page = input::page_rules(question, &crawler)?;
        Ok(Self { crawler, fields: input::borrowed(&question.headers), page, files, question })
    }

    /// Decides about every URL, in order: the callback gets the URL, and its error if it has one.
    pub(crate) fn each(
        &self,
        urls: impl Iterator<Item = Result<String, Failure>>,
        mut answer: impl FnMut(&str, Result<&Asked<'_>, InvalidUrl>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let total = self.question.urls.as_deref().and_then(|path| progress::total_size([path]));
        let progress = Progress::start(&self.question.progress, "URLs", total);
        let mut answer = |url: &str, asked: Result<&Asked<'_>, InvalidUrl>| {
            progress.add_one_of(url.len() as u64 + 1);
            answer(url, asked)
        };
        match &self.files {
            Files::Given { name, prepared } => {
                for url in urls {
                    let url = url?;
                    match Target::parse(&url) {
                        Ok(target) => {
                            let (file, prepared) = (prepared.file(), Some(&**prepared));
                            let asking = self;
                            let asked = Asked { asking, target, file, name, prepared, story: None };
                            answer(&url, Ok(&asked))?;
                        }
                        Err(error) => answer(&url, Err(error))?,
                    }
                }
                Ok(())
            }
            Files::Fetched(fetcher) => {
                let questions = urls.map(|url| {
                    let url = url?;
                    let origin = Origin::of_url(&url).ok();
                    Ok((url, origin))
                });
                fetcher.ahead().each(questions, |url, fetched| {
                    let asked = Target::parse(&url).and_then(|target| match &fetched {
                        Some(robots) => Ok((target, robots)),
                        None => Err(Origin::of_url(&url).expect_err("it has no origin")),
                    });
                    match asked {
                        Ok((target, robots)) => {
                            let (name, story) = (robots.origin().robots_url(), robots.file_report());
                            let (asking, file, name) = (self, robots.file(), &*name);
                            let (prepared, story) = (None, Some(story));
                            let asked = Asked { asking, target, file, name, prepared, story };
                            answer(&url, Ok(&asked))
                        }
                        Err(error) => answer(&url, Err(error)),
                    }
                })?;
                fetching::tell(fetcher);
                Ok(())
            }
        }
    }
}
