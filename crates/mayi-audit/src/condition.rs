//! `refuses Googlebot > 0` → whether it is true for a report: the value of `--fail-if`.
//!
//! ```text
//! condition = measure who comparison number ["%"]
//! measure   = "refuses" | "allows" | "newly-refuses" | "newly-allows" | "requests" | "contradicted"
//! who       = product token | "*" for all crawlers together | "kind:" kind
//! comparison = ">" | ">=" | "<" | "<=" | "=" | "!="
//! ```
//!
//! With a proposed file, `refuses` and `allows` are about that file. A percentage is of the requests of
//! the same crawlers. Requests that are contradicted are not the crawler's and do not count, except for
//! the measure of that name.

use std::fmt;
use std::str::FromStr;

use mayi::registry::AgentKind;

use crate::identity::Identity;
use crate::report::{AuditReport, CrawlerReport, Figures, ProposedPart};

/// A condition on a report.
///
/// ```
/// use mayi_audit::Condition;
///
/// let condition: Condition = "refuses Googlebot > 0".parse()?;
/// assert_eq!(condition.to_string(), "refuses Googlebot > 0");
/// let error = "refuse Googlebot > 0".parse::<Condition>().unwrap_err();
/// assert!(error.to_string().contains("newly-refuses"));
/// # Ok::<(), mayi_audit::InvalidCondition>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    measure: Measure,
    who: Who,
    comparison: &'static str,
    number: f64,
    is_percentage: bool,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Refuses,
    Allows,
    NewlyRefuses,
    NewlyAllows,
    Requests,
    Contradicted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Who {
    All,
    Crawler(String),
    Kind(AgentKind),
}

const MEASURES: &[(&str, Measure)] = &[
    ("refuses", Measure::Refuses),
    ("allows", Measure::Allows),
    ("newly-refuses", Measure::NewlyRefuses),
    ("newly-allows", Measure::NewlyAllows),
    ("requests", Measure::Requests),
    ("contradicted", Measure::Contradicted),
];

/// The identities whose requests are the crawler's own.
const OWN: [Identity; 2] = [Identity::Verified, Identity::Unverified];

const COMPARISONS: &[&str] = &[">", ">=", "<", "<=", "=", "!="];

impl Condition {
    /// Whether it is true, and the number that was compared.
    pub fn holds(&self, report: &AuditReport) -> (bool, f64) {
        let (mut counted, mut requests) = (0, 0);
        for (place, crawler) in report.crawlers.iter().enumerate() {
            if !self.who.is(crawler) {
                continue;
            }
            requests += crawler.verified + crawler.unverified;
            let proposed = report.proposal.as_ref().and_then(|proposal| proposal.crawlers.get(place));
            // Contradicted requests are not from the crawler.
            let own = |figure: fn(&Figures) -> u64| -> u64 {
                let own = OWN.iter().filter_map(|name| crawler.identities.get(name));
                own.map(|identity| figure(&identity.figures)).sum()
            };
            let then = |figure: fn(&ProposedPart) -> u64| -> u64 {
                let parts = proposed.into_iter().flat_map(|proposed| &proposed.identities);
                parts.filter(|(name, _)| OWN.contains(name)).map(|(_, part)| figure(part)).sum()
            };
            counted += match (self.measure, proposed) {
                (Measure::Refuses, Some(_)) => then(|part| part.refused),
                (Measure::Refuses, None) => own(|figures| figures.refused),
                (Measure::Allows, Some(_)) => then(|part| part.allowed),
                (Measure::Allows, None) => own(|figures| figures.allowed),
                (Measure::NewlyRefuses, _) => then(|part| part.newly_refused),
                (Measure::NewlyAllows, _) => then(|part| part.newly_allowed),
                (Measure::Requests, _) => crawler.verified + crawler.unverified,
                (Measure::Contradicted, _) => crawler.contradicted,
            };
        }
        #[allow(clippy::cast_precision_loss)]
        let value = match (self.is_percentage, requests) {
            (false, _) => counted as f64,
            (true, 0) => 0.0,
            (true, requests) => 100.0 * counted as f64 / requests as f64,
        };
        let holds = match self.comparison {
            ">" => value > self.number,
            ">=" => value >= self.number,
            "<" => value < self.number,
            "<=" => value <= self.number,
            "=" => (value - self.number).abs() < f64::EPSILON,
            _ => (value - self.number).abs() >= f64::EPSILON,
        };
        (holds, value)
    }

    /// Whether it needs a proposed file.
    pub fn needs_proposal(&self) -> bool {
        matches!(self.measure, Measure::NewlyRefuses | Measure::NewlyAllows)
    }
}

impl Who {
    fn is(&self, crawler: &CrawlerReport) -> bool {
        match self {
            Self::All => true,
            Self::Crawler(token) => crawler.crawler.eq_ignore_ascii_case(token),
            Self::Kind(kind) => crawler.kind == Some(*kind),
        }
    }
}

impl FromStr for Condition {
    type Err = InvalidCondition;

    fn from_str(text: &str) -> Result<Self, InvalidCondition> {
        let wrong = |what: String| InvalidCondition { text: text.into(), what };
        // Blanks around the comparison may be missing.
        let at =
            text.find(['>', '<', '=', '!']).ok_or_else(|| wrong("it has no comparison".to_owned()))?;
        let (subject, rest) = text.split_at(at);
        let length = if rest[1..].starts_with('=') { 2 } else { 1 };
        let (comparison, number) = rest.split_at(length);
        let comparison = COMPARISONS.iter().find(|known| **known == comparison);
        let comparison = comparison.ok_or_else(|| wrong("`!` is not a comparison".to_owned()))?;
        let words: Vec<_> = subject.split_whitespace().collect();
        let &[measure, who] = &words[..] else {
            return Err(wrong(
                "before the comparison there have to be a measure and a crawler".to_owned(),
            ));
        };
        let known = MEASURES.iter().find(|(name, _)| *name == measure);
        let &(_, measure) = known.ok_or_else(|| {
            let names: Vec<_> = MEASURES.iter().map(|(name, _)| *name).collect();
            wrong(format!(
                "`{}` is not a measure: it is one of {}",
                measure.escape_debug(),
                names.join(", ")
            ))
        })?;
        let who = match who.strip_prefix("kind:") {
            _ if who == "*" => Who::All,
            Some(name) => {
                let kind = AgentKind::ALL.iter().find(|kind| kind.name() == name);
                let kinds: Vec<_> = AgentKind::ALL.iter().map(|kind| kind.name()).collect();
                let unknown = || {
                    wrong(format!(
                        "`{}` is not a kind: it is one of {}",
                        name.escape_debug(),
                        kinds.join(", ")
                    ))
                };
                Who::Kind(*kind.ok_or_else(unknown)?)
            }
            None => Who::Crawler(
                mayi::ProductToken::new(who).map_err(|error| wrong(error.to_string()))?.to_string(),
            ),
        };
        let number = number.trim();
        let (digits, is_percentage) = match number.strip_suffix('%') {
            Some(digits) => (digits.trim_end(), true),
            None => (number, false),
        };
        let parsed = digits.parse::<f64>().ok().filter(|parsed| parsed.is_finite() && *parsed >= 0.0);
        let parsed =
            parsed.ok_or_else(|| wrong(format!("`{}` is not a number", number.escape_debug())))?;
        Ok(Self {
            measure,
            who,
            comparison,
            number: parsed,
            is_percentage,
            text: text.trim().to_owned(),
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Text that is not a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCondition {
    text: Box<str>,
    what: String,
}

impl fmt::Display for InvalidCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.escape_debug();
        write!(f, "`{text}` is not a condition such as `refuses Googlebot > 0`: {}", self.what)
    }
}

impl std::error::Error for InvalidCondition {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_condition() {
        for text in [
            "refuses Googlebot > 0",
            "refuses Googlebot>0",
            "newly-refuses * >= 1.5%",
            "allows kind:search = 0",
            "contradicted GPTBot != 7",
            "requests a < 1 %",
        ] {
            assert!(text.parse::<Condition>().is_ok(), "{text}");
        }
        for text in [
            "",
            "refuses",
            "refuses > 0",
            "refuses a b > 0",
            "refuses a > x",
            "refuses a ! 1",
            "refuses a > -1",
            "refuses a/1 > 0",
            "refuses kind:x > 0",
            "refuses a > NaN",
            "refuses a é> 0",
        ] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
    }
}
