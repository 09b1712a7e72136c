//! Runs of whole rows → rows, and rows → fields: TSV, CSV (RFC 4180) and NDJSON.
//!
//! Fields are stored as places in the run until their text is needed. This file does not know what they mean.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use clap::ValueEnum;
use mayi_tables::compressed::plain_name;
use memchr::{memchr, memchr_iter, memchr2};
use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Fields between tabs, with no quotes and no escapes
    Tsv,
    /// Fields between commas, quoted where needed (RFC 4180)
    Csv,
    /// One JSON object per line
    Ndjson,
    /// Apache Parquet
    #[cfg(feature = "columns")]
    Parquet,
    /// The file format of Arrow IPC (Feather V2)
    #[cfg(feature = "columns")]
    Arrow,
}

impl Format {
    /// The format that the first octets of a file say, if they do.
    pub(crate) fn of_start(start: &[u8]) -> Option<Self> {
        #[cfg(feature = "columns")]
        match mayi_tables::reading::TableFormat::of_start(start) {
            Some(mayi_tables::reading::TableFormat::Parquet) => return Some(Self::Parquet),
            Some(mayi_tables::reading::TableFormat::Ipc) => return Some(Self::Arrow),
            _ => {}
        }
        let _ = start;
        None
    }

    /// Whether fields have something between them.
    pub(crate) fn is_separated(self) -> bool {
        matches!(self, Self::Tsv | Self::Csv)
    }

    /// Whether it is no text.
    pub(crate) fn is_table(self) -> bool {
        !matches!(self, Self::Tsv | Self::Csv | Self::Ndjson)
    }

    /// How tables are written in it.
    #[cfg(feature = "columns")]
    pub(crate) fn kind(self) -> Option<mayi_tables::reading::TableFormat> {
        match self {
            Self::Parquet => Some(mayi_tables::reading::TableFormat::Parquet),
            Self::Arrow => Some(mayi_tables::reading::TableFormat::Ipc),
            Self::Tsv | Self::Csv | Self::Ndjson => None,
        }
    }

    /// The format that a file's name says, if it does: before the ending that says how it is compressed.
    pub(crate) fn of_name(path: &std::path::Path) -> Option<Self> {
        match plain_name(path).extension()?.to_ascii_lowercase().to_str()? {
            "tsv" | "tab" => Some(Self::Tsv),
            "csv" => Some(Self::Csv),
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            #[cfg(feature = "columns")]
            "parquet" => Some(Self::Parquet),
            #[cfg(feature = "columns")]
            "arrow" | "feather" => Some(Self::Arrow),
            _ => None,
        }
    }
}

/// The fields of a row, as places in its text. It is reused for row after row.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    fields: Vec<Field>,
    /// Whether the last field opens with a quote that nothing closes.
    pub(crate) is_open: bool,
}

#[derive(Clone, Debug)]
struct Field {
    at: Range<usize>,
    quoted: bool,
}

impl Fields {
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// The octets of a field in the text that it was read from, without quotes; none if there is no such
    /// field.
    pub(crate) fn octets<'r>(&self, text: &'r [u8], index: usize) -> Cow<'r, [u8]> {
        match self.fields.get(index) {
            None => Cow::Borrowed(b""),
            Some(Field { at, quoted: false }) => Cow::Borrowed(&text[at.clone()]),
            Some(Field { at, quoted: true }) => unquoted(&text[at.clone()]),
        }
    }

    /// Reads the fields of a line without its line end.
    pub(crate) fn read_tsv(&mut self, line: &[u8]) {
        self.fields.clear();
        let mut start = 0;
        for tab in memchr_iter(b'\t', line) {
            self.fields.push(Field { at: start..tab, quoted: false });
            start = tab + 1;
        }
        self.fields.push(Field { at: start..line.len(), quoted: false });
    }

    /// Reads the first row of a text that is not empty, and says where its octets and its line end
    /// are over.
    pub(crate) fn read_csv(&mut self, text: &[u8]) -> (usize, usize) {
        self.fields.clear();
        self.is_open = false;
        let mut start = 0;
        loop {
            let quoted = text.get(start) == Some(&b'"');
            let mut at = start;
            if quoted {
                at += 1;
                loop {
                    let Some(quote) = memchr(b'"', &text[at..]) else {
                        self.is_open = true;
                        at = text.len();
                        break;
                    };
                    at += quote + 1;
                    if text.get(at) != Some(&b'"') {
                        break;
                    }
                    at += 1;
                }
            }
            let end = memchr2(b',', b'\n', &text[at..]).map_or(text.len(), |found| at + found);
            let is_last = text.get(end) != Some(&b',');
            let content = if is_last && !self.is_open { without_cr(&text[..end]).len() } else { end };
            self.fields.push(Field { at: start..content.max(start), quoted });
            if is_last {
                return (content.max(start), (end + 1).min(text.len()));
            }
            start = end + 1;
        }
    }
}

/// A line without the CR of its line end.
pub(crate) fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The first line of a text without its line end, and the rest.
pub(crate) fn split_line(text: &[u8]) -> (&[u8], &[u8]) {
    match memchr(b'\n', text) {
        Some(end) => (without_cr(&text[..end]), &text[end + 1..]),
        None => (without_cr(text), b""),
    }
}

/// A quoted field without its quotes. Text after the closing quote belongs to it, as in other readers.
fn unquoted(field: &[u8]) -> Cow<'_, [u8]> {
    let inner = &field[1..];
    match memchr(b'"', inner) {
        None => return Cow::Borrowed(inner),
        Some(end) if end + 1 == inner.len() => return Cow::Borrowed(&inner[..end]),
        Some(_) => {}
    }
    let mut text = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(quote) = memchr(b'"', rest) {
        text.extend_from_slice(&rest[..quote]);
        rest = &rest[quote + 1..];
        if rest.first() == Some(&b'"') {
            text.push(b'"');
            rest = &rest[1..];
        } else {
            break;
        }
    }
    text.extend_from_slice(rest);
    Cow::Owned(text)
}

/// A field as CSV: quoted if necessary.
pub(crate) fn push_csv(out: &mut Vec<u8>, field: &[u8]) {
    if !field.iter().any(|octet| matches!(octet, b',' | b'"' | b'\n' | b'\r')) {
        out.extend_from_slice(field);
        return;
    }
    out.push(b'"');
    let mut rest = field;
    while let Some(quote) = memchr(b'"', rest) {
        out.extend_from_slice(&rest[..=quote]);
        out.push(b'"');
        rest = &rest[quote + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// A field as TSV, which can't contain a tab or a line end: they are written as `\t`, `\r` and `\n`, and a
/// backslash is not escaped.
pub(crate) fn push_tsv(out: &mut Vec<u8>, field: &[u8]) {
    let mut rest = field;
    while let Some(at) = memchr::memchr3(b'\t', b'\n', b'\r', rest) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(match rest[at] {
            b'\t' => b"\\t",
            b'\n' => b"\\n",
            _ => b"\\r",
        });
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// The wanted members of a JSON object, as places of their values in its text. It is reused for row after
/// row.
#[derive(Debug, Default)]
pub(crate) struct Members {
    values: Vec<Option<Range<usize>>>,
    /// Whether the object has no member at all.
    pub(crate) is_empty: bool,
}

impl Members {
    /// Reads the wanted members of an object.
    pub(crate) fn read(&mut self, text: &str, names: &Names) -> Result<(), serde_json::Error> {
        self.values.clear();
        self.values.resize(names.wanted.len(), None);
        self.is_empty = true;
        let mut deserializer = serde_json::Deserializer::from_str(text);
        deserializer.deserialize_map(MembersVisitor { text, names, members: self })?;
        deserializer.end()
    }

    /// The JSON text of a member's value; none if there is no such member, or if it is null.
    pub(crate) fn value<'r>(&self, text: &'r str, index: usize) -> Option<&'r str> {
        let value = &text[self.values.get(index)?.clone()?];
        (value != "null").then_some(value)
    }
}

/// Which members of an object are wanted, and which ones it must not have.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) wanted: Vec<String>,
    /// The names of what is written beside the object's own members.
    pub(crate) ours: Vec<String>,
}

impl Names {
    /// The place of a member among the wanted ones, to which it is added where it is new.
    pub(crate) fn want(&mut self, name: &str) -> usize {
        self.wanted.iter().position(|wanted| wanted == name).unwrap_or_else(|| {
            self.wanted.push(name.to_owned());
            self.wanted.len() - 1
        })
    }
}

struct MembersVisitor<'a> {
    text: &'a str,
    names: &'a Names,
    members: &'a mut Members,
}

impl<'de> Visitor<'de> for MembersVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object with a member for the URL")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(name)) = map.next_key()? {
            self.members.is_empty = false;
            if self.names.ours.iter().any(|ours| *ours == name) {
                return Err(de::Error::custom(format_args!(
                    "the row already has a member `{}`; rename the answers with `--prefix`",
                    name.escape_debug()
                )));
            }
            let Some(index) = self.names.wanted.iter().position(|wanted| *wanted == name) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = map.next_value::<&RawValue>()?.get();
            // A raw value is a part of the text that it is read from.
            let start = value.as_ptr().addr() - self.text.as_ptr().addr();
            if self.members.values[index].replace(start..start + value.len()).is_some() {
                return Err(de::Error::custom(format_args!(
                    "the member `{}` is given twice",
                    name.escape_debug()
                )));
            }
        }
        Ok(())
    }
}

/// The name of a member, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

/// The text of a JSON string; none if the value is not a string.
pub(crate) fn text_of(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    if memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(value).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All rows of a text, with their fields.
    fn csv_rows(text: &str) -> Vec<Vec<String>> {
        let (mut fields, mut rest, mut rows) = (Fields::default(), text.as_bytes(), Vec::new());
        while !rest.is_empty() {
            let (end, next) = fields.read_csv(rest);
            assert!(end <= next && next > 0, "{text:?}");
            let field = |index| String::from_utf8_lossy(&fields.octets(rest, index)).into_owned();
            rows.push((0..fields.len()).map(field).collect());
            rest = &rest[next..];
        }
        rows
    }

    #[test]
    fn csv_is_read_by_rfc_4180() {
        assert_eq!(csv_rows("a,b\r\nc,\n"), [["a", "b"], ["c", ""]]);
        assert_eq!(csv_rows("\"a\r\nb\",\"c\"\"d\"\r\n"), [["a\r\nb", "c\"d"]]);
        assert_eq!(csv_rows("\"\",\"\"\"\"\nx,y"), [["", "\""], ["x", "y"]]);
        assert_eq!(csv_rows(",\n"), [["", ""]]);
        assert_eq!(csv_rows("\n\r\n\"\"\n"), [[""], [""], [""]]);
    }

    #[test]
    fn csv_that_no_grammar_has_is_read_as_others_do() {
        assert_eq!(csv_rows("5\" disk,b\n"), [["5\" disk", "b"]]);
        assert_eq!(csv_rows("\"a\"b\"c,d\n"), [["ab\"c", "d"]]);
        assert_eq!(csv_rows("\"a,b\nc"), [["a,b\nc"]]);
    }

    #[test]
    fn rows_are_where_the_cutter_cuts() {
        use crate::cut::{CsvCutter, Cutter};
        let text = "a,\"b\nc\",d\n\"\"\n\"x\"\"\n\",\"\"\"\"\n5\" e\n\"d\"e\"f\n,\"g\n\"\nlast\n";
        let (mut fields, mut cutter, mut rest) = (Fields::default(), CsvCutter::default(), text);
        while !rest.is_empty() {
            let (_, next) = fields.read_csv(rest.as_bytes());
            assert_eq!(Some(next), cutter.first_end(rest.as_bytes()), "{rest:?}");
            rest = &rest[next..];
        }
    }

    #[test]
    fn what_csv_writes_it_reads() {
        for field in ["", "a", "a,b", "\"", "a\"\"b", "\r\n", " a "] {
            let mut row = Vec::new();
            push_csv(&mut row, field.as_bytes());
            row.extend_from_slice(b",x\n");
            let row = String::from_utf8(row).expect("UTF-8");
            assert_eq!(csv_rows(&row), [[field, "x"]]);
        }
    }

    #[test]
    fn tsv_has_no_quotes() {
        let mut fields = Fields::default();
        let line = b"\"a\t\tb\"";
        fields.read_tsv(line);
        let all: Vec<_> = (0..fields.len()).map(|index| fields.octets(line, index)).collect();
        assert_eq!(all, [&b"\"a"[..], b"", b"b\""]);
        let mut out = Vec::new();
        push_tsv(&mut out, b"a\tb\\\r\n");
        assert_eq!(out, b"a\\tb\\\\r\\n");
    }

    #[test]
    fn members_are_read_once_and_others_passed_over() {
        let mut names = Names { ours: vec!["allowed".to_owned()], ..Names::default() };
        assert_eq!((names.want("url"), names.want("n"), names.want("url")), (0, 1, 0));
        let mut members = Members::default();
        let text = r#" {"x": [{"url": 1}], "u\u0072l": "a\u0062", "n": null} "#;
        members.read(text, &names).expect("an object");
        assert_eq!(members.value(text, 0).and_then(text_of).as_deref(), Some("ab"));
        assert_eq!(members.value(text, 1), None);
        for wrong in [r#"{"url":"a","url":"b"}"#, r#"{"allowed":1}"#, "[]", "{} {}", r#"{"url":}"#] {
            assert!(members.read(wrong, &names).is_err(), "{wrong}");
        }
    }
}
