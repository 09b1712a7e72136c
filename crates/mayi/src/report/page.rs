//! What may be done with a page, as JSON.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::file::FileHop;
use super::members::{Members, ReadMembers};
use super::request::HtmlInput;
use super::warning::Warning;
use crate::crawler::Crawler;
use crate::page::{FoundAt, PageControls, PageOptions, PageRule, PageRules, RuleValue};

/// What may be done with a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PageReport {
    /// The rules that apply, with their values.
    pub rules: PageRuleValues,
    /// May it be indexed?
    pub index: bool,
    /// May parts of it be shown?
    pub snippet: bool,
    /// May its links be followed?
    pub follow: bool,
    /// For how many seconds from when it was made the response is fresh, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh_seconds: Option<u64>,
    /// What was lost of the response, if the question is only about the page; a decision has its own list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Where each rule was found, if an explanation is requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Vec<FoundRule>>,
    /// What was not understood, if an explanation is requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsupported: Option<Vec<FoundRule>>,
}

/// The rules that apply, with their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRuleValues(Vec<(String, PageRuleValue)>);

/// The value of a page rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum PageRuleValue {
    /// `true`: the rule has no value, and is set.
    Set(bool),
    /// A limit; -1 is none.
    Number(i64),
    /// A word or a date, as written.
    Text(String),
}

impl PageRuleValue {
    fn of(value: &RuleValue) -> Self {
        match value {
            RuleValue::Set => Self::Set(true),
            RuleValue::Number(number) => Self::Number(*number),
            RuleValue::Word(text) | RuleValue::Date(text, _) => Self::Text(text.clone()),
        }
    }
}

impl PageRuleValues {
    /// The rules, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PageRuleValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

/// A rule and where it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FoundRule {
    /// The rule, or what was written as one.
    pub rule: String,
    /// Where.
    pub at: String,
}

impl PageReport {
    /// The serialisable view of page rules.
    pub fn of(rules: &PageRules) -> Self {
        let value = |rule: &PageRule| (rule.name().to_owned(), PageRuleValue::of(rule.value()));
        let values = rules.rules().iter().map(value);
        Self {
            rules: PageRuleValues(values.collect()),
            index: rules.may_index(),
            snippet: rules.may_show_snippet(),
            follow: rules.may_follow(),
            fresh_seconds: rules.fresh_for().map(|fresh| fresh.as_secs()),
            warnings: Vec::new(),
            found: None,
            unsupported: None,
        }
    }

    /// The same, with where each rule was found and what was not understood.
    pub fn explained(rules: &PageRules) -> Self {
        let found = |rule: &str, at: &FoundAt| FoundRule { rule: rule.to_owned(), at: at.to_string() };
        let all = rules.rules().iter().map(|rule| found(rule.name(), rule.found()));
        let unsupported = rules.unsupported().iter().map(|(text, at)| found(text, at));
        Self { found: Some(all.collect()), unsupported: Some(unsupported.collect()), ..Self::of(rules) }
    }
}

impl PageReport {
    /// The same with an explanation and what was lost, for a question that is only about a page.
    pub fn alone(rules: &PageRules) -> Self {
        Self { warnings: Warning::of_page(rules), ..Self::explained(rules) }
    }
}

/// A page that was fetched, what was read of it, and what may be done with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LivePageReport {
    /// The URL of the last request: redirects are followed.
    pub url: String,
    /// The crawler that fetched it, by its product token. The robots.txt of the site was checked for this
    /// crawler.
    pub fetched_by: String,
    /// The requests, in order.
    pub asked: Vec<FileHop>,
    /// What happened, in a sentence.
    pub message: String,
    /// The status, or null if there is no answer.
    pub status: Option<u16>,
    /// The header fields, in order.
    pub headers: Vec<(String, String)>,
    /// What was read of the document, or null if it is not HTML.
    #[serde(deserialize_with = "owned_html")]
    pub html: Option<HtmlInput<'static>>,
    /// Whether the document is longer than that.
    pub cut: bool,
    /// What may be done with the page, or null if there is no answer.
    pub page: Option<PageReport>,
}

impl LivePageReport {
    /// A page without an answer.
    pub fn new(url: &str, fetched_by: &str, asked: Vec<FileHop>, message: String) -> Self {
        Self {
            url: url.to_owned(),
            fetched_by: fetched_by.to_owned(),
            asked,
            message,
            status: None,
            headers: Vec::new(),
            html: None,
            cut: false,
            page: None,
        }
    }

    /// The same with an answer: its status, its header fields, and its body as far as it was read. The rules are those for
    /// this crawler.
    #[must_use]
    pub fn with_answer(
        self,
        status: u16,
        fields: &[(&str, &str)],
        (body, cut): (&[u8], bool),
        crawler: &Crawler,
        options: PageOptions,
    ) -> Self {
        let mut types = fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let is_html = types.all(|(_, value)| value.to_ascii_lowercase().contains("html"));
        let html = if is_html { body } else { b"" };
        let controls = PageControls::read_with(fields, html, options);
        Self {
            status: Some(status),
            headers: fields.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
            html: (is_html && !body.is_empty()).then(|| match str::from_utf8(body) {
                Ok(text) => HtmlInput::Text(text.to_owned().into()),
                Err(_) => HtmlInput::Octets(body.to_vec()),
            }),
            cut,
            page: Some(PageReport::alone(&controls.for_crawler(crawler))),
            ..self
        }
    }
}

fn owned_html<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<HtmlInput<'static>>, D::Error> {
    let html = Option::<HtmlInput<'_>>::deserialize(deserializer)?;
    Ok(html.map(|html| match html {
        HtmlInput::Text(text) => HtmlInput::Text(text.into_owned().into()),
        HtmlInput::Octets(octets) => HtmlInput::Octets(octets),
    }))
}

impl Serialize for PageRuleValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Members(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PageRuleValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ReadMembers::deserialize(deserializer).map(|ReadMembers(rules)| Self(rules))
    }
}
