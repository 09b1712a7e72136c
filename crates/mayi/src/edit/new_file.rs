//! Answers of a site's owner → the first robots.txt of a site.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::wish::{path_of, there};
use crate::preference::Preference;
use crate::target::Target;

/// What a new file is to say to everybody. Wishes about crawlers come on top of it, by [`edit`](super::edit).
///
/// ```
/// let mut file = mayi::edit::NewFile::default();
/// file.keep_out.push("/cart/".into());
/// file.sitemaps.push("https://example.com/sitemap.xml".into());
/// assert_eq!(
///     file.text()?,
///     "User-agent: *\nDisallow: /cart/\n\nSitemap: https://example.com/sitemap.xml\n",
/// );
/// # Ok::<(), mayi::edit::InvalidFile>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NewFile<'a> {
    /// Paths that nobody may fetch.
    #[serde(borrow)]
    pub keep_out: Vec<Cow<'a, str>>,
    /// Exceptions to them.
    #[serde(borrow)]
    pub let_in: Vec<Cow<'a, str>>,
    /// The addresses of sitemaps.
    #[serde(borrow)]
    pub sitemaps: Vec<Cow<'a, str>>,
    /// What a `Content-Usage` line says (draft-ietf-aipref-attach).
    #[serde(deserialize_with = "there", skip_serializing_if = "Option::is_none")]
    pub content_usage: Option<Preferences>,
    /// What a `Content-Signal` line says.
    #[serde(deserialize_with = "there", skip_serializing_if = "Option::is_none")]
    pub content_signal: Option<Preferences>,
    /// Purposes whose crawlers may fetch nothing, in a `User-Agent-Purpose` group.
    #[serde(borrow)]
    pub refused_purposes: Vec<Cow<'a, str>>,
}

/// What may be done with what is fetched. What is unknown is not said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Preferences {
    /// To show it in search results.
    pub search: Preference,
    /// To give it to a model as input. `Content-Usage` has no word for it.
    pub ai_input: Preference,
    /// To train models with it.
    pub train: Preference,
}

impl Default for Preferences {
    fn default() -> Self {
        Self { search: Preference::Unknown, ai_input: Preference::Unknown, train: Preference::Unknown }
    }
}

impl Preferences {
    /// The preferences by these names, with these words for yes and no.
    fn written(self, names: [Option<&str>; 3], [yes, no]: [&str; 2]) -> Option<String> {
        let members = names.into_iter().zip([self.search, self.ai_input, self.train]);
        let said = members.filter_map(|(name, preference)| match preference {
            Preference::Allowed => Some(format!("{}={yes}", name?)),
            Preference::Disallowed => Some(format!("{}={no}", name?)),
            Preference::Unknown => None,
        });
        let said: Vec<_> = said.collect();
        (!said.is_empty()).then(|| said.join(", "))
    }
}

impl NewFile<'_> {
    /// The text of the file.
    ///
    /// # Errors
    ///
    /// If a path, a purpose or the address of a sitemap can't stand in a file.
    pub fn text(&self) -> Result<String, InvalidFile> {
        let wrong = |what: &str| InvalidFile(what.to_owned());
        let mut lines = vec!["User-agent: *".to_owned()];
        if let Some(usage) = self.content_usage
            && let Some(said) = usage.written([Some("search"), None, Some("train-ai")], ["y", "n"])
        {
            lines.push(format!("Content-Usage: {said}"));
        }
        if let Some(signal) = self.content_signal {
            let names = [Some("search"), Some("ai-input"), Some("ai-train")];
            if let Some(said) = signal.written(names, ["yes", "no"]) {
                lines.push(format!("Content-Signal: {said}"));
            }
        }
        for path in &self.let_in {
            lines.push(format!("Allow: {}", path_of(path).map_err(|error| wrong(&error.to_string()))?));
        }
        for path in &self.keep_out {
            lines.push(format!(
                "Disallow: {}",
                path_of(path).map_err(|error| wrong(&error.to_string()))?
            ));
        }
        if self.keep_out.is_empty() {
            lines.push("Disallow:".to_owned());
        }
        if !self.refused_purposes.is_empty() {
            lines.push(String::new());
            for purpose in &self.refused_purposes {
                if crate::Crawler::unnamed().with_purpose(purpose).is_err() {
                    return Err(wrong(&format!("`{purpose}` is no purpose token")));
                }
                lines.push(format!("User-Agent-Purpose: {purpose}"));
            }
            lines.push("Disallow: /".to_owned());
        }
        if !self.sitemaps.is_empty() {
            lines.push(String::new());
        }
        for sitemap in &self.sitemaps {
            let is_whole = sitemap.starts_with("http://") || sitemap.starts_with("https://");
            let is_one_word =
                !sitemap.contains(|c: char| c.is_whitespace() || c.is_control() || c == '#');
            if !is_whole || !is_one_word || Target::parse(sitemap).is_err() {
                return Err(wrong(&format!(
                    "`{sitemap}` is no address of a sitemap: give a whole URL such as https://example.com/sitemap.xml"
                )));
            }
            lines.push(format!("Sitemap: {sitemap}"));
        }
        lines.push(String::new());
        Ok(lines.join("\n"))
    }
}

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidFile(String);

impl fmt::Display for InvalidFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidFile {}
