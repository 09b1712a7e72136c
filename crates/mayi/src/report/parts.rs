//! The parts of a decision other than access, as JSON.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value as Json, json};
use url::ParseError::RelativeUrlWithoutBase;

use crate::access::Origin;
use crate::application::AppDirectives;
use crate::decision::Decision;
use crate::page::PageRules;
use crate::preference::Preference;
use crate::records::ContentSignal;
use crate::robots_txt::RobotsTxt;
use crate::selection::Selection;
use crate::structured::Value;
use crate::target::Target;
use crate::uses::{Usage, Use};

/// What the file asks of each application that it asks something of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directives(Vec<(String, Vec<(String, Json)>)>);

impl Directives {
    /// The serialisable view of directives.
    pub fn of(asked: &[AppDirectives]) -> Self {
        let all = asked.iter().map(|asked| {
            let directives = asked.directives().map(|(name, value)| (name.to_owned(), json_of(value)));
            (asked.application().to_owned(), directives.collect::<Vec<_>>())
        });
        Self(all.filter(|(_, directives)| !directives.is_empty()).collect())
    }

    /// The applications with their directives.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[(String, Json)])> {
        self.0.iter().map(|(application, directives)| (application.as_str(), &**directives))
    }
}

impl Serialize for Directives {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (application, directives) in &self.0 {
            map.serialize_entry(application, &Members(directives))?;
        }
        map.end()
    }
}

/// Pairs that are an object in JSON, in their own order.
struct Members<'m, V>(&'m [(String, V)]);

impl<V: Serialize> Serialize for Members<'_, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// A structured value: the JSON value if there is one, or else an object that names the type.
pub(super) fn json_of(value: &Value) -> Json {
    match value {
        Value::Boolean(value) => json!(value),
        Value::Integer(value) => json!(value),
        Value::Decimal(value) => json!(value),
        Value::String(value) => json!(value),
        Value::Token(value) => json!({ "token": value }),
        Value::Bytes(value) => json!({ "bytes": STANDARD.encode(value) }),
        Value::Date(value) => json!({ "date": value }),
        Value::Display(value) => json!({ "display": value }),
    }
}

/// The usage preferences that apply: each category of the vocabulary, and other labels apart.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageReport {
    categories: Vec<(String, Preference)>,
    other: Vec<(String, Preference)>,
}

impl UsageReport {
    /// The serialisable view of preferences.
    pub fn of(usage: &Usage) -> Self {
        let owned = |(label, preference): (&str, Preference)| (label.to_owned(), preference);
        Self {
            categories: usage.categories().map(owned).collect(),
            other: usage.other().map(owned).collect(),
        }
    }
}

impl Serialize for UsageReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (label, preference) in &self.categories {
            map.serialize_entry(label, preference.name())?;
        }
        if !self.other.is_empty() {
            let named = self.other.iter().map(|(label, preference)| (label.clone(), preference.name()));
            map.serialize_entry("other", &Members(&named.collect::<Vec<_>>()))?;
        }
        map.end()
    }
}

/// A directive that overrides a preference (APP-9).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct OverrideReport {
    /// The usage category.
    pub category: String,
    /// The application.
    pub application: String,
    /// The directive.
    pub directive: String,
    /// What the file's Content-Usage says.
    pub preference: &'static str,
    /// What the directive makes of it.
    pub outcome: &'static str,
}

impl OverrideReport {
    pub(super) fn all(usage: &Usage) -> Vec<Self> {
        let one = |over: &crate::Override| Self {
            category: over.category.clone(),
            application: over.application.clone(),
            directive: over.directive.clone(),
            preference: over.preference.name(),
            outcome: over.outcome.name(),
        };
        usage.overrides().iter().map(one).collect()
    }
}

/// One answer for each use (USE-6).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Uses {
    /// May it be fetched?
    pub crawl: &'static str,
    /// May it be indexed?
    pub index: &'static str,
    /// May parts of it be shown?
    pub snippet: &'static str,
    /// May its links be followed?
    pub follow: &'static str,
    /// May it be used for training?
    pub train: &'static str,
    /// May it be used in search?
    pub search: &'static str,
    /// May it be given to a model as input?
    #[serde(rename = "ai-input")]
    pub ai_input: &'static str,
}

impl Uses {
    pub(super) fn of(decision: &Decision<'_>, usage: Option<&Usage>, page: Option<&PageRules>) -> Self {
        let unknown = Preference::Unknown.name();
        let answer = |about| usage.map_or(unknown, |usage| usage.answer(about).name());
        // What can't be fetched can't be read (USE-6).
        let page = page.filter(|_| decision.is_allowed());
        let rule =
            |may: fn(&PageRules) -> bool| page.map_or(unknown, |page| Preference::of(may(page)).name());
        Self {
            crawl: Preference::of(decision.is_allowed()).name(),
            index: rule(PageRules::may_index),
            snippet: rule(PageRules::may_show_snippet),
            follow: rule(PageRules::may_follow),
            train: answer(Use::Train),
            search: answer(Use::Search),
            ai_input: answer(Use::AiInput),
        }
    }
}

/// The signals about each use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signals(Vec<(&'static str, Vec<SignalReport>)>);

/// A signal about a use.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct SignalReport {
    /// What it is.
    pub signal: &'static str,
    /// What it says.
    pub says: &'static str,
    /// Its line in the file, where it is in there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// True where it is a preference that directives override, and no longer counts (APP-9).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub overridden: bool,
}

impl Signals {
    /// The serialisable view of signals.
    pub fn of(usage: &Usage) -> Self {
        let about = |about: &Use| {
            let spoke = usage.signals().iter().filter(|signal| signal.about == *about);
            let reports = spoke.map(|signal| SignalReport {
                signal: signal.source.name(),
                says: signal.says.name(),
                line: signal.line.map(crate::LineNumber::number),
                overridden: signal.is_overridden,
            });
            (about.name(), reports.collect::<Vec<_>>())
        };
        Self(Use::ALL.iter().map(about).filter(|(_, signals)| !signals.is_empty()).collect())
    }

    /// The uses that have signals.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &[SignalReport])> {
        self.0.iter().map(|(about, signals)| (*about, &**signals))
    }
}

impl Serialize for Signals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// What the file says besides rules and statements.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Records<'a> {
    /// The sitemaps of the file, made absolute.
    pub sitemaps: Vec<Cow<'a, str>>,
    /// The seconds to wait between requests.
    pub crawl_delay: Option<f64>,
    /// The values of other kinds of record, as written, for each kind that there is.
    pub listed: Vec<(&'static str, Vec<Cow<'a, str>>)>,
    /// What `Content-Signal` says to the crawler.
    pub content_signal: ContentSignal,
}

impl<'a> Records<'a> {
    /// The records that apply to a crawler with these groups.
    pub(super) fn of(
        robots: &'a RobotsTxt<'_>,
        selection: Option<&Selection>,
        target: &Target<'_>,
    ) -> Self {
        let records = robots.other_records_of(selection);
        let texts = |values: &[&'a [u8]]| values.iter().copied().map(String::from_utf8_lossy).collect();
        let mut sitemaps = robots.sitemaps().map(String::from_utf8_lossy).collect::<Vec<_>>();
        let is_relative = |sitemap: &str| {
            !is_surely_absolute(sitemap.as_bytes())
                && matches!(url::Url::parse(sitemap), Err(RelativeUrlWithoutBase))
        };
        if sitemaps.iter().any(|sitemap| is_relative(sitemap))
            && let Ok(origin) = Origin::of_url(target.url())
        {
            for sitemap in sitemaps.iter_mut().filter(|sitemap| is_relative(sitemap)) {
                if let Some(absolute) = origin.resolve(sitemap) {
                    *sitemap = Cow::Owned(absolute);
                }
            }
        }
        Self {
            sitemaps,
            crawl_delay: robots.crawl_delay_of(selection),
            listed: records.kinds().map(|(kind, values)| (kind, texts(values))).collect(),
            content_signal: records.content_signal().clone(),
        }
    }
}

/// Whether a sitemap starts as a whole URL does: one look at its first octets tells so for nearly all.
pub(super) fn is_surely_absolute(sitemap: &[u8]) -> bool {
    let starts = |scheme: &[u8]| {
        sitemap.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    starts(b"https://") || starts(b"http://")
}

impl Serialize for Records<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sitemaps", &self.sitemaps)?;
        map.serialize_entry("crawl_delay", &self.crawl_delay)?;
        for (kind, values) in &self.listed {
            map.serialize_entry(kind, values)?;
        }
        let signal: Vec<_> =
            self.content_signal.values().map(|(key, value)| (key.to_owned(), value)).collect();
        if !signal.is_empty() {
            map.serialize_entry("content_signal", &Members(&signal))?;
        }
        map.end()
    }
}
