//! Which lints run, their severities, and what is known in addition to the file.

use std::error::Error;
use std::fmt;

use super::{LINTS, Lint, LintSet, Severity, nearest};
use crate::crawler::Crawler;
use crate::page::PageControls;
use crate::robots_txt::ReadOptions;

/// How a file is linted.
///
/// ```
/// use mayi::lint::{Options, Severity, lint};
///
/// let file = b"User-agent: *\nDisallow /private/\n";
/// let mut options = Options::default();
/// options.set_severity("S001", Severity::Error)?;
/// assert_eq!(lint(file, &options).diagnostics()[0].severity, Severity::Error);
/// options.choose(&["style"], &["missing-colon"])?;
/// assert!(lint(file, &options).diagnostics().is_empty());
/// let error = options.choose(&["missing-colom"], &[]).unwrap_err();
/// assert!(error.to_string().contains("missing-colon"));
/// # Ok::<(), mayi::lint::UnknownLint>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    reading: ReadOptions,
    enabled: Vec<bool>,
    severities: Vec<Option<Severity>>,
    most_of_each: usize,
    agents: Vec<Crawler>,
    page: Option<Page>,
    site: Option<String>,
}

/// A page of the site, for the lints that look at a file and a page together.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its URL.
    pub url: String,
    /// Its page rules.
    pub controls: PageControls,
    /// The header fields that came with it.
    pub fields: Vec<(String, String)>,
}

impl Options {
    /// Reads the file in this way; spans and decisions are those of its dialect, which should be one
    /// that reads everything.
    #[must_use]
    pub fn with_reading(self, reading: ReadOptions) -> Self {
        Self { reading, ..self }
    }

    /// Lists no more than this many diagnostics of each lint; the others are counted. At most a thousand
    /// places of a lint are listed, and once five thousand are listed, at most a hundred of each further
    /// lint: see [`Linted::left_out`](super::Linted::left_out).
    #[must_use]
    pub fn with_most_of_each(self, most: usize) -> Self {
        Self { most_of_each: most, ..self }
    }

    /// Uses these crawlers, in addition to those that no group names, when a lint has to decide what may be fetched.
    /// By default these are Googlebot and Bingbot.
    #[must_use]
    pub fn with_agents(self, agents: Vec<Crawler>) -> Self {
        Self { agents, ..self }
    }

    /// Looks at this page together with the file.
    #[must_use]
    pub fn with_page(self, page: Page) -> Self {
        Self { page: Some(page), ..self }
    }

    /// Sets the site of the file, by a URL of it, for lints that can then say more.
    ///
    /// ```
    /// use mayi::lint::{Options, lint};
    ///
    /// let file = b"User-agent: *\nDisallow:\nSitemap: https://www.example.com/sitemap.xml\n";
    /// assert!(lint(file, &Options::default()).diagnostics().is_empty());
    /// let options = Options::default().with_site("https://shop.test/robots.txt");
    /// assert_eq!(lint(file, &options).diagnostics()[0].lint.name, "template-leftover");
    /// ```
    #[must_use]
    pub fn with_site(self, url: &str) -> Self {
        Self { site: Some(url.to_owned()), ..self }
    }

    /// Switches lints on and off, each given by its code or name, or a set of them by the name of the set.
    /// What is said about a lint overrides what is said about its set, and switching on overrides switching
    /// off.
    ///
    /// # Errors
    /// When there is no such lint or set. Then nothing changes.
    pub fn choose<S: AsRef<str>>(&mut self, select: &[S], ignore: &[S]) -> Result<(), UnknownLint> {
        let choices = |names: &[S]| {
            let choices = names.iter().map(|name| LintChoice::named(name.as_ref()));
            choices.collect::<Result<Vec<_>, _>>()
        };
        self.switch(&choices(select)?, &choices(ignore)?);
        Ok(())
    }

    /// Sets the severity of a lint, given by code or name.
    ///
    /// # Errors
    /// When there is no such lint.
    pub fn set_severity(&mut self, lint: &str, severity: Severity) -> Result<(), UnknownLint> {
        self.weigh(Lint::find(lint)?, severity);
        Ok(())
    }

    /// Switches lints on and off, as [`choose`](Self::choose) does.
    pub(super) fn switch(&mut self, select: &[LintChoice], ignore: &[LintChoice]) {
        for is_set in [true, false] {
            for (choices, is_enabled) in [(ignore, false), (select, true)] {
                for choice in
                    choices.iter().filter(|choice| matches!(choice, LintChoice::Set(_)) == is_set)
                {
                    let chosen = LINTS.iter().zip(&mut self.enabled);
                    let chosen = chosen.filter(|(lint, _)| choice.has(lint));
                    chosen.for_each(|(_, enabled)| *enabled = is_enabled);
                }
            }
        }
    }

    pub(super) fn weigh(&mut self, lint: &Lint, severity: Severity) {
        self.severities[lint.index()] = Some(severity);
    }

    pub(super) fn reading(&self) -> &ReadOptions {
        &self.reading
    }

    pub(super) fn is_enabled(&self, index: usize) -> bool {
        self.enabled[index]
    }

    pub(super) fn severity(&self, index: usize) -> Option<Severity> {
        self.severities[index]
    }

    pub(super) fn most_of_each(&self) -> usize {
        self.most_of_each
    }

    pub(super) fn agents(&self) -> &[Crawler] {
        &self.agents
    }

    pub(super) fn page(&self) -> Option<&Page> {
        self.page.as_ref()
    }

    /// A URL of the site of the file.
    pub(super) fn site(&self) -> Option<&str> {
        self.site.as_deref().or_else(|| self.page.as_ref().map(|page| &*page.url))
    }
}

impl Default for Options {
    fn default() -> Self {
        let known = ["Googlebot", "Bingbot"].map(|token| Crawler::new(token).expect("a token"));
        Self {
            reading: ReadOptions::default(),
            enabled: LINTS.iter().map(|lint| lint.set == LintSet::Default).collect(),
            severities: vec![None; LINTS.len()],
            most_of_each: 100,
            agents: known.to_vec(),
            page: None,
            site: None,
        }
    }
}

impl Lint {
    /// The lint of this code or name.
    ///
    /// # Errors
    /// When there is none; the error says which is probably meant.
    pub fn find(name: &str) -> Result<&'static Self, UnknownLint> {
        Self::named(name).ok_or_else(|| UnknownLint { name: name.into() })
    }
}

/// A lint or a set of lints, as people choose them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LintChoice {
    One(&'static Lint),
    Set(LintSet),
}

impl LintChoice {
    /// The set of this name, or the lint of this code or name.
    pub(super) fn named(name: &str) -> Result<Self, UnknownLint> {
        LintSet::named(name).map_or_else(|| Lint::find(name).map(Self::One), |set| Ok(Self::Set(set)))
    }

    fn has(self, lint: &Lint) -> bool {
        match self {
            Self::One(chosen) => chosen == lint,
            Self::Set(set) => lint.set == set,
        }
    }
}

/// A name that is neither a lint nor a set of lints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLint {
    name: Box<str>,
}

impl fmt::Display for UnknownLint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no lint is called `{}`", self.name.escape_debug())?;
        let sets = LintSet::ALL.iter().map(|set| set.name());
        let names = LINTS.iter().flat_map(|lint| [lint.name, lint.code]).chain(sets);
        match nearest(&self.name, names) {
            Some(name) => write!(f, "; did you mean `{name}`?"),
            None => write!(f, "; `mayi lint --list` prints them all"),
        }
    }
}

impl Error for UnknownLint {}
