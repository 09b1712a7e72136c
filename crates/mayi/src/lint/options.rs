//! Which lints run, their severities, and what is known in addition to the file.

use std::error::Error;
use std::fmt;

use super::{LINTS, Lint, Severity, nearest};
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
/// options.disable("missing-colon")?;
/// assert!(lint(file, &options).diagnostics().is_empty());
/// assert!(options.enable("missing-colom").unwrap_err().to_string().contains("missing-colon"));
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

    /// Lists no more than this many diagnostics of each lint; the others are counted. More than a thousand of
    /// a lint are never listed, and of those that look when five thousand are, a hundred: see
    /// [`Linted::left_out`](super::Linted::left_out).
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

    /// Knows the site that the file is of, by a URL of it, where a lint can tell more by that.
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

    /// Disables a lint, given by code or name.
    ///
    /// # Errors
    /// When there is no such lint.
    pub fn disable(&mut self, lint: &str) -> Result<(), UnknownLint> {
        self.switch(find(lint)?, false);
        Ok(())
    }

    /// Enables a lint, given by code or name.
    ///
    /// # Errors
    /// When there is no such lint.
    pub fn enable(&mut self, lint: &str) -> Result<(), UnknownLint> {
        self.switch(find(lint)?, true);
        Ok(())
    }

    /// Sets the severity of a lint, given by code or name.
    ///
    /// # Errors
    /// When there is no such lint.
    pub fn set_severity(&mut self, lint: &str, severity: Severity) -> Result<(), UnknownLint> {
        self.weigh(find(lint)?, severity);
        Ok(())
    }

    pub(super) fn switch(&mut self, lint: &Lint, is_enabled: bool) {
        self.enabled[lint.index()] = is_enabled;
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

    /// A URL of the site that the file is of.
    pub(super) fn site(&self) -> Option<&str> {
        self.site.as_deref().or_else(|| self.page.as_ref().map(|page| &*page.url))
    }
}

impl Default for Options {
    fn default() -> Self {
        let known = ["Googlebot", "Bingbot"].map(|token| Crawler::new(token).expect("a token"));
        Self {
            reading: ReadOptions::default(),
            enabled: LINTS.iter().map(|lint| lint.by_default).collect(),
            severities: vec![None; LINTS.len()],
            most_of_each: 100,
            agents: known.to_vec(),
            page: None,
            site: None,
        }
    }
}

/// The lint of this code or name.
pub(super) fn find(name: &str) -> Result<&'static Lint, UnknownLint> {
    Lint::named(name).ok_or_else(|| UnknownLint { name: name.into() })
}

/// A code or a name that no lint has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLint {
    name: Box<str>,
}

impl fmt::Display for UnknownLint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no lint is called `{}`", self.name.escape_debug())?;
        let names = LINTS.iter().flat_map(|lint| [lint.name, lint.code]);
        match nearest(&self.name, names) {
            Some(name) => write!(f, "; perhaps `{name}` is meant"),
            None => write!(f, "; `mayi lint --list` prints them all"),
        }
    }
}

impl Error for UnknownLint {}
