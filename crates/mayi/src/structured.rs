//! Structured Fields (RFC 9651) → values of our own, and what stands before them on a line.
//!
//! Parsing is the library's; here is only what the drafts take from it.

use std::borrow::Cow;
use std::fmt;

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
    Bytes,
    /// Date.
    Date,
    /// Display String.
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

    /// As the registry has it.
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

impl From<sfv::BareItem> for Value {
    fn from(item: sfv::BareItem) -> Self {
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
    item.params.is_empty().then(|| item.bare_item.into())
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

/// How many octets a path has that matches the target; no path has none and matches everything.
pub(crate) fn octets_of_path(
    path: Option<&[u8]>,
    forms: &Forms<'_>,
    comparison: Comparison,
) -> Option<usize> {
    let Some(path) = path else { return Some(0) };
    let pattern = PathPattern::read(path, comparison);
    pattern.matches_one_of(forms).then(|| pattern.octets())
}

#[cfg(test)]
mod tests {
    use super::*;

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
