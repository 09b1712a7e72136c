//! The page rules that are understood, and what their values mean (TAG-9, WILD-3).

use super::date;
use super::{FoundAt, WrittenRule};

/// A page rule that holds.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRule {
    pub(super) name: String,
    pub(super) value: RuleValue,
    pub(super) found: FoundAt,
}

/// The value of a page rule.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RuleValue {
    /// The rule has no value, and is set.
    Set,
    /// A limit; -1 is none.
    Number(i64),
    /// A word.
    Word(String),
    /// A date as written, and in seconds since 1970.
    Date(String, i64),
}

impl PageRule {
    /// Its name, in lower case.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its value.
    pub fn value(&self) -> &RuleValue {
        &self.value
    }

    /// Where it was found first.
    pub fn found(&self) -> &FoundAt {
        &self.found
    }

    /// What it means, in a sentence.
    pub fn meaning(&self) -> &'static str {
        RULES.iter().find(|(name, ..)| *name == self.name).map_or("", |(_, _, meaning)| meaning)
    }

    /// Combines it with another value of the same rule: the most restrictive one stays.
    pub(super) fn restrict(&mut self, other: RuleValue) {
        let replaces = match (&self.value, &other) {
            (RuleValue::Number(known), RuleValue::Number(other)) => limit(*other) < limit(*known),
            (RuleValue::Word(known), RuleValue::Word(other)) => preview(other) < preview(known),
            (RuleValue::Date(_, known), RuleValue::Date(_, other)) => other < known,
            _ => false,
        };
        if replaces {
            self.value = other;
        }
    }
}

/// What kind of value a rule has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// None.
    Plain,
    /// A number from -1 on.
    Number,
    /// One of [`PREVIEWS`].
    Preview,
    Date,
    /// None, and no effect either: the rule states the default.
    Default,
}

/// From the most restrictive on.
const PREVIEWS: [&str; 3] = ["none", "standard", "large"];

/// Every rule that is understood.
const RULES: &[(&str, Kind, &str)] = &[
    ("all", Kind::Plain, "no restriction"),
    ("none", Kind::Plain, "neither index the page nor follow its links"),
    ("noindex", Kind::Plain, "do not index the page"),
    ("nosnippet", Kind::Plain, "show no part of the page"),
    ("nofollow", Kind::Plain, "do not follow the links of the page"),
    ("noarchive", Kind::Plain, "offer no copy of the page"),
    ("nocache", Kind::Plain, "offer no copy of the page"),
    ("notranslate", Kind::Plain, "offer no translation of the page"),
    ("noimageindex", Kind::Plain, "do not index the images of the page"),
    ("indexifembedded", Kind::Plain, "index the page when it is embedded, despite noindex"),
    ("max-snippet", Kind::Number, "show at most this many characters of the page"),
    ("max-image-preview", Kind::Preview, "show images at most this large"),
    ("max-video-preview", Kind::Number, "show at most this many seconds of videos"),
    ("unavailable_after", Kind::Date, "do not show the page after this date"),
    ("noai", Kind::Plain, "do not use the page for training"),
    ("noimageai", Kind::Plain, "do not use the images of the page for training"),
    ("index", Kind::Default, ""),
    ("follow", Kind::Default, ""),
];

fn kind_of(name: &str) -> Option<Kind> {
    let found = RULES.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name));
    found.map(|(_, kind, _)| *kind)
}

/// Whether a name is that of a rule.
pub(super) fn is_rule(name: &str) -> bool {
    kind_of(name).is_some()
}

/// Whether a name is that of a rule with a value: the closed list that tells `name: value` from a
/// product token (TAG-5).
pub(super) fn takes_value(name: &str) -> bool {
    matches!(kind_of(name), Some(Kind::Number | Kind::Preview | Kind::Date))
}

/// Whether a name is that of the rule whose value may have commas in it.
pub(super) fn takes_date(name: &str) -> bool {
    kind_of(name) == Some(Kind::Date)
}

/// What a written rule means.
pub(super) enum Understood {
    Rule(RuleValue),
    /// It is known and changes nothing.
    NoEffect,
    /// It is not known, or its value can't be read.
    Unsupported,
}

/// Reads a rule and its value.
pub(super) fn understand(written: &WrittenRule) -> Understood {
    let value = written.value.as_deref().map(str::trim);
    let kind = kind_of(&written.name);
    let read = match (kind, value) {
        // Structured Fields can say that a rule is not set.
        (Some(Kind::Default), _) | (Some(Kind::Plain), Some("?0")) => return Understood::NoEffect,
        (Some(Kind::Plain), None | Some("" | "?1")) => Some(RuleValue::Set),
        (Some(Kind::Number), Some(value)) => {
            value.parse().ok().filter(|number| *number >= -1).map(RuleValue::Number)
        }
        (Some(Kind::Preview), Some(value)) => {
            let word = value.to_ascii_lowercase();
            PREVIEWS.contains(&&*word).then_some(RuleValue::Word(word))
        }
        (Some(Kind::Date), Some(value)) => {
            date::seconds(value).map(|seconds| RuleValue::Date(value.to_owned(), seconds))
        }
        _ => None,
    };
    read.map_or(Understood::Unsupported, Understood::Rule)
}

/// A number as a limit: -1 is none.
fn limit(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn preview(word: &str) -> usize {
    PREVIEWS.iter().position(|known| *known == word).unwrap_or(PREVIEWS.len())
}
