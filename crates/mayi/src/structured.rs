//! Structured Fields (RFC 9651) → values of our own, and the path before them on a line.
//!
//! A library does the parsing; this file has only what the drafts use of it.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;

use sfv::visitor::{
    EntryVisitor, Ignored, InnerListVisitor, ItemVisitor, ListVisitor, ParameterVisitor,
};

use crate::dialect::Comparison;
use crate::forms::Forms;
use crate::pattern::PathPattern;

/// A bare item: the value of a directive. Texts are borrowed where they are in the program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// `?1` or `?0`.
    Boolean(bool),
    /// `10`.
    Integer(i64),
    /// `0.5`.
    Decimal(f64),
    /// `"text"`.
    String(Cow<'static, str>),
    /// `word`.
    Token(Cow<'static, str>),
    /// `:aGk=:`.
    Bytes(Cow<'static, [u8]>),
    /// `@1700000000`, in seconds since 1970.
    Date(i64),
    /// `%"text"`.
    Display(Cow<'static, str>),
}

/// The type of a bare item, as the registry of directives names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ValueType {
    /// Boolean.
    Boolean,
    /// Integer.
    Integer,
    /// Decimal.
    Decimal,
    /// String.
    String,
    /// Token.
    Token,
    /// Byte Sequence.
    #[cfg_attr(feature = "report", serde(rename = "Byte Sequence"))]
    Bytes,
    /// Date.
    Date,
    /// Display String.
    #[cfg_attr(feature = "report", serde(rename = "Display String"))]
    Display,
}

impl ValueType {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Boolean,
        Self::Integer,
        Self::Decimal,
        Self::String,
        Self::Token,
        Self::Bytes,
        Self::Date,
        Self::Display,
    ];

    /// As in the registry.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Boolean => "Boolean",
            Self::Integer => "Integer",
            Self::Decimal => "Decimal",
            Self::String => "String",
            Self::Token => "Token",
            Self::Bytes => "Byte Sequence",
            Self::Date => "Date",
            Self::Display => "Display String",
        }
    }
}

impl Value {
    /// Its type.
    pub fn value_type(&self) -> ValueType {
        match self {
            Self::Boolean(_) => ValueType::Boolean,
            Self::Integer(_) => ValueType::Integer,
            Self::Decimal(_) => ValueType::Decimal,
            Self::String(_) => ValueType::String,
            Self::Token(_) => ValueType::Token,
            Self::Bytes(_) => ValueType::Bytes,
            Self::Date(_) => ValueType::Date,
            Self::Display(_) => ValueType::Display,
        }
    }
}

/// As Structured Fields write it; a value that they could not write is shown as it is kept.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_item() {
            Some(item) => f.write_str(&sfv::ItemSerializer::new().bare_item(item).finish()),
            None => fmt::Debug::fmt(self, f),
        }
    }
}

impl Value {
    fn as_item(&self) -> Option<sfv::RefBareItem<'_>> {
        Some(match self {
            Self::Boolean(value) => sfv::RefBareItem::Boolean(*value),
            Self::Integer(value) => sfv::RefBareItem::Integer((*value).try_into().ok()?),
            Self::Decimal(value) => sfv::RefBareItem::Decimal((*value).try_into().ok()?),
            Self::String(value) => sfv::RefBareItem::String(sfv::StringRef::from_str(value).ok()?),
            Self::Token(value) => sfv::RefBareItem::Token(sfv::TokenRef::from_str(value).ok()?),
            Self::Bytes(value) => sfv::RefBareItem::ByteSequence(value),
            Self::Date(value) => {
                sfv::RefBareItem::Date(sfv::Date::from_unix_seconds((*value).try_into().ok()?))
            }
            Self::Display(value) => sfv::RefBareItem::DisplayString(value),
        })
    }
}

impl Value {
    pub(crate) fn of(item: sfv::BareItem) -> Self {
        match item {
            sfv::BareItem::Boolean(value) => Self::Boolean(value),
            sfv::BareItem::Integer(value) => Self::Integer(value.into()),
            sfv::BareItem::Decimal(value) => Self::Decimal(value.into()),
            sfv::BareItem::String(value) => Self::String(String::from(value).into()),
            sfv::BareItem::Token(value) => Self::Token(String::from(value).into()),
            sfv::BareItem::ByteSequence(value) => Self::Bytes(value.into()),
            sfv::BareItem::Date(value) => Self::Date(value.unix_seconds().into()),
            sfv::BareItem::DisplayString(value) => Self::Display(value.into()),
        }
    }
}

/// A bare item alone.
pub(crate) fn parse_bare_item(octets: &[u8]) -> Option<Value> {
    let item: sfv::Item = sfv::Parser::new(octets).parse().ok()?;
    item.params.is_empty().then(|| Value::of(item.bare_item))
}

/// Cuts the value of a rule into its path, if it has one, and what follows (APP-2, USE-1).
pub(crate) fn split_path(value: &[u8]) -> (Option<&[u8]>, &[u8]) {
    if value.first() != Some(&b'/') {
        return (None, value);
    }
    let end = value.iter().position(|octet| b" \t".contains(octet)).unwrap_or(value.len());
    let (path, rest) = value.split_at(end);
    (Some(path), rest.trim_ascii_start())
}

/// How many octets a path has, if it matches the target; without a path it is 0, which matches everything.
pub(crate) fn octets_of_path(
    path: Option<&[u8]>,
    forms: &Forms<'_>,
    comparison: Comparison,
) -> Option<usize> {
    let Some(path) = path else { return Some(0) };
    let pattern = PathPattern::read(path, comparison);
    pattern.matches_one_of(forms).then(|| pattern.octets())
}

/// A part of a List: a member, or a parameter of the Item before it. Of two parameters with one key, the
/// later one counts (RFC 9651 §3.1.2).
pub(crate) enum Part<'t> {
    Item(sfv::BareItemFromInput<'t>),
    Parameter(&'t str, sfv::BareItemFromInput<'t>),
    InnerList,
}

/// Whether a text is a List.
pub(crate) fn is_list(text: &[u8]) -> bool {
    sfv::Parser::new(text).parse_list_with_visitor(Ignored).is_ok()
}

/// Reports the parts of a List, one by one: a long List would take many times its size in memory.
/// A text that is not a List has no parts: it is ignored as a whole (RFC 9651 §4.2).
pub(crate) fn each_part<'t>(text: &'t [u8], tell: impl FnMut(Part<'t>)) {
    if is_list(text) {
        let told = sfv::Parser::new(text).parse_list_with_visitor(Parts { tell });
        debug_assert!(told.is_ok(), "it was one a moment ago");
    }
}

struct Parts<F> {
    tell: F,
}

impl<'t, F: FnMut(Part<'t>)> ListVisitor<'t> for Parts<F> {
    type Out = ();
    type Error = Infallible;

    fn entry(&mut self) -> Result<impl EntryVisitor<'t>, Infallible> {
        Ok(PartsOfMember { tell: &mut self.tell })
    }

    fn finish(self) -> Result<(), Infallible> {
        Ok(())
    }
}

struct PartsOfMember<'m, F> {
    tell: &'m mut F,
}

impl<'t, F: FnMut(Part<'t>)> EntryVisitor<'t> for PartsOfMember<'_, F> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'t>, Infallible> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'t>, Infallible> {
        (self.tell)(Part::InnerList);
        Ok(Ignored)
    }
}

impl<'t, F: FnMut(Part<'t>)> ItemVisitor<'t> for PartsOfMember<'_, F> {
    type Out = ();
    type Error = Infallible;

    fn bare_item(
        self,
        item: sfv::BareItemFromInput<'t>,
    ) -> Result<impl ParameterVisitor<'t, Out = ()>, Infallible> {
        (self.tell)(Part::Item(item));
        Ok(self)
    }
}

impl<'t, F: FnMut(Part<'t>)> ParameterVisitor<'t> for PartsOfMember<'_, F> {
    type Out = ();
    type Error = Infallible;

    fn parameter(
        &mut self,
        key: &'t sfv::KeyRef,
        value: sfv::BareItemFromInput<'t>,
    ) -> Result<(), Infallible> {
        (self.tell)(Part::Parameter(key.as_str(), value));
        Ok(())
    }

    fn finish(self) -> Result<(), Infallible> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_of_one_by_one() {
        let told = |text: &str| {
            let mut told = Vec::new();
            let value = |item: sfv::BareItemFromInput<'_>| Value::of(item.into());
            each_part(text.as_bytes(), |part| {
                told.push(match part {
                    Part::Item(item) => value(item).to_string(),
                    Part::Parameter(key, item) => format!(";{key}={}", value(item)),
                    Part::InnerList => "an inner list".to_owned(),
                });
            });
            told
        };
        assert_eq!(
            told("a;x=1;y;x=2, (b c);z, \"d\""),
            ["a", ";x=1", ";y=?1", ";x=2", "an inner list", "\"d\""]
        );
        assert!(told("").is_empty());
        // What is not a List is skipped as a whole.
        assert!(told("a, b;c, !").is_empty() && !is_list(b"a, b;c, !") && is_list(b"a"));
    }

    #[test]
    fn paths_and_what_follows() {
        assert_eq!(split_path(b"/a b;c=1"), (Some(&b"/a"[..]), &b"b;c=1"[..]));
        assert_eq!(split_path(b"/a \t b"), (Some(&b"/a"[..]), &b"b"[..]));
        assert_eq!(split_path(b"/a"), (Some(&b"/a"[..]), &b""[..]));
        assert_eq!(split_path(b"b;c"), (None, &b"b;c"[..]));
    }

    #[test]
    fn every_type_of_bare_item() {
        for (text, expected) in [
            ("?0", Value::Boolean(false)),
            ("-7", Value::Integer(-7)),
            ("0.5", Value::Decimal(0.5)),
            ("\"a\"", Value::String("a".into())),
            ("a:b/*", Value::Token("a:b/*".into())),
            (":aGk=:", Value::Bytes(b"hi".into())),
            ("@1700000000", Value::Date(1_700_000_000)),
            ("%\"f%c3%bc\"", Value::Display("fü".into())),
        ] {
            assert_eq!(expected.to_string(), text);
            assert_eq!(parse_bare_item(text.as_bytes()), Some(expected), "{text}");
        }
        assert_eq!(parse_bare_item(b"a;b"), None);
    }
}
