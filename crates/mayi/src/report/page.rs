//! What may be done with a page, as JSON.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::warning::Warning;
use crate::page::{FoundAt, PageRules, RuleValue};

/// What may be done with a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh_seconds: Option<u64>,
    /// What was lost of the response, where the page is asked about alone: a decision says it itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Where each rule was found, if an explanation is requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Vec<FoundRule>>,
    /// What was not understood, if an explanation is requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsupported: Option<Vec<FoundRule>>,
}

/// The rules that apply: `true`, or their values.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRuleValues(Vec<(String, RuleValue)>);

/// A rule and where it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
        let values = rules.rules().iter().map(|rule| (rule.name().to_owned(), rule.value().clone()));
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
    /// The same, explained and with what was lost, for a page that is asked about alone.
    pub fn alone(rules: &PageRules) -> Self {
        Self { warnings: Warning::of_page(rules), ..Self::explained(rules) }
    }
}

impl Serialize for PageRuleValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            match value {
                RuleValue::Set => map.serialize_entry(name, &true)?,
                RuleValue::Number(number) => map.serialize_entry(name, number)?,
                RuleValue::Word(text) | RuleValue::Date(text, _) => map.serialize_entry(name, text)?,
            }
        }
        map.end()
    }
}
