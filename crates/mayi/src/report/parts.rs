//! The parts of a decision other than access, as JSON.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use url::ParseError::RelativeUrlWithoutBase;

use super::members::{Members, ReadMembers};
use super::request::owned;
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
use crate::uses::{SignalSource, Usage, Use};

/// What the file asks of each application that it has directives for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directives(Vec<(String, Vec<(String, Value)>)>);

impl Directives {
    /// The serialisable view of directives.
    pub fn of(asked: &[AppDirectives]) -> Self {
        let all = asked.iter().map(|asked| {
            let directives = asked.directives().map(|(name, value)| (name.to_owned(), value.clone()));
            (asked.application().to_owned(), directives.collect::<Vec<_>>())
        });
        Self(all.filter(|(_, directives)| !directives.is_empty()).collect())
    }

    /// The applications with their directives.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[(String, Value)])> {
        self.0.iter().map(|(application, directives)| (application.as_str(), &**directives))
    }
}

impl Serialize for Directives {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all = self.0.iter().map(|(application, directives)| (application, Members(directives)));
        serializer.collect_map(all)
    }
}

impl<'de> Deserialize<'de> for Directives {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ReadMembers(all) = ReadMembers::<String, ReadMembers<_, _>>::deserialize(deserializer)?;
        Ok(Self(all.into_iter().map(|(name, ReadMembers(directives))| (name, directives)).collect()))
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

    /// The categories of the vocabulary, with the preference for each.
    pub fn categories(&self) -> &[(String, Preference)] {
        &self.categories
    }

    /// Labels that are not in the vocabulary (USE-2).
    pub fn other(&self) -> &[(String, Preference)] {
        &self.other
    }
}

impl Serialize for UsageReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (label, preference) in &self.categories {
            map.serialize_entry(label, preference)?;
        }
        if !self.other.is_empty() {
            map.serialize_entry("other", &Members(&self.other))?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for UsageReport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged, expecting = "a preference, or other labels with theirs")]
        enum Member {
            Category(Preference),
            Other(ReadMembers<String, Preference>),
        }
        let ReadMembers(members) = ReadMembers::<String, Member>::deserialize(deserializer)?;
        let mut usage = Self { categories: Vec::new(), other: Vec::new() };
        for (label, member) in members {
            match member {
                Member::Category(preference) => usage.categories.push((label, preference)),
                Member::Other(ReadMembers(labels)) => usage.other.extend(labels),
            }
        }
        Ok(usage)
    }
}

/// A directive that overrides a preference (APP-9).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct OverrideReport {
    /// The usage category.
    pub category: String,
    /// The application.
    pub application: String,
    /// The directive.
    pub directive: String,
    /// What the file's Content-Usage says.
    pub preference: Preference,
    /// What the directive makes of it.
    pub outcome: Preference,
}

impl OverrideReport {
    pub(super) fn all(usage: &Usage) -> Vec<Self> {
        let one = |over: &crate::Override| Self {
            category: over.category.clone(),
            application: over.application.clone(),
            directive: over.directive.clone(),
            preference: over.preference,
            outcome: over.outcome,
        };
        usage.overrides().iter().map(one).collect()
    }
}

/// One answer for each use (USE-6).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Uses {
    /// May it be fetched?
    pub crawl: Preference,
    /// May it be indexed?
    pub index: Preference,
    /// May parts of it be shown?
    pub snippet: Preference,
    /// May its links be followed?
    pub follow: Preference,
    /// May it be used for training?
    pub train: Preference,
    /// May it be used in search?
    pub search: Preference,
    /// May it be given to a model as input?
    #[serde(rename = "ai-input")]
    pub ai_input: Preference,
}

impl Uses {
    pub(super) fn of(decision: &Decision<'_>, usage: Option<&Usage>, page: Option<&PageRules>) -> Self {
        let answer = |about| usage.map_or(Preference::Unknown, |usage| usage.answer(about));
        // What can't be fetched can't be read (USE-6).
        let page = page.filter(|_| decision.is_allowed());
        let rule = |may: fn(&PageRules) -> bool| {
            page.map_or(Preference::Unknown, |page| Preference::of(may(page)))
        };
        Self {
            crawl: Preference::of(decision.is_allowed()),
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
pub struct Signals(Vec<(Use, Vec<SignalReport>)>);

/// A signal about a use.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct SignalReport {
    /// What it is.
    pub signal: SignalSource,
    /// What it says.
    pub says: Preference,
    /// Its line, if it is in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// True if it is a preference that directives override, so that it no longer counts (APP-9).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overridden: bool,
}

impl Signals {
    /// The serialisable view of signals.
    pub fn of(usage: &Usage) -> Self {
        let about = |about: &Use| {
            let spoke = usage.signals().iter().filter(|signal| signal.about == *about);
            let reports = spoke.map(|signal| SignalReport {
                signal: signal.source,
                says: signal.says,
                line: signal.line.map(crate::LineNumber::number),
                overridden: signal.is_overridden,
            });
            (*about, reports.collect::<Vec<_>>())
        };
        Self(Use::ALL.iter().map(about).filter(|(_, signals)| !signals.is_empty()).collect())
    }

    /// The uses that have signals.
    pub fn iter(&self) -> impl Iterator<Item = (Use, &[SignalReport])> {
        self.0.iter().map(|(about, signals)| (*about, &**signals))
    }
}

impl Serialize for Signals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Signals {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ReadMembers::deserialize(deserializer).map(|ReadMembers(all)| Self(all))
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
    pub listed: Vec<(Cow<'a, str>, Vec<Cow<'a, str>>)>,
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
            listed: records.kinds().map(|(kind, values)| (kind.into(), texts(values))).collect(),
            content_signal: records.content_signal,
        }
    }

    pub(super) fn into_owned(self) -> Records<'static> {
        let texts = |texts: Vec<Cow<'_, str>>| texts.into_iter().map(owned).collect();
        let listed = self.listed.into_iter().map(|(kind, values)| (owned(kind), texts(values)));
        Records {
            sitemaps: texts(self.sitemaps),
            crawl_delay: self.crawl_delay,
            listed: listed.collect(),
            content_signal: self.content_signal,
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
        if self.content_signal.values().next().is_some() {
            map.serialize_entry("content_signal", &SignalMembers(&self.content_signal))?;
        }
        map.end()
    }
}

/// What `Content-Signal` says, as an object.
struct SignalMembers<'s>(&'s ContentSignal);

impl Serialize for SignalMembers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.values())
    }
}

/// What is neither of the members that have a name of their own is a kind of record.
impl<'de> Deserialize<'de> for Records<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Records<'static>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of records")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut records = Records::default();
                while let Some(name) = map.next_key::<String>()? {
                    match &*name {
                        "sitemaps" => records.sitemaps = map.next_value()?,
                        "crawl_delay" => records.crawl_delay = map.next_value()?,
                        "content_signal" => {
                            let ReadMembers(values) = map.next_value()?;
                            records.content_signal = ContentSignal::of_values(values);
                        }
                        _ => records.listed.push((name.into(), map.next_value()?)),
                    }
                }
                Ok(records)
            }
        }
        deserializer.deserialize_map(Reader)
    }
}
