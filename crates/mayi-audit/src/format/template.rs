//! A `log_format` of nginx or a `LogFormat` of Apache, and the formats that they have names for → hits.
//!
//! A template is fields with text between them. A field goes as far as the text behind it; one in quotes
//! goes to the next quote that is not escaped. What stands behind the last field is not looked at, so
//! logs with further fields at the end are read too.

use std::borrow::Cow;

use super::{Unreadable, status};
use crate::hit::{Hit, present};
use crate::octets::unescaped;
use crate::time;

#[derive(Clone, Debug)]
pub(super) struct Template {
    /// What stands before the first field.
    start: Box<[u8]>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Step {
    field: Field,
    is_quoted: bool,
    /// What stands behind the field.
    end: Box<[u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Ignored,
    Address,
    Time,
    Request,
    Target,
    Query,
    Status,
    Host,
    UserAgent,
}

/// Variables of nginx; all others are passed over.
const NGINX: &[(&str, Field)] = &[
    ("remote_addr", Field::Address),
    ("realip_remote_addr", Field::Ignored),
    ("time_local", Field::Time),
    ("time_iso8601", Field::Time),
    ("msec", Field::Time),
    ("request", Field::Request),
    ("request_uri", Field::Target),
    ("uri", Field::Target),
    ("args", Field::Query),
    ("query_string", Field::Query),
    ("status", Field::Status),
    ("host", Field::Host),
    ("http_host", Field::Host),
    ("server_name", Field::Host),
    ("http_user_agent", Field::UserAgent),
];

/// Directives of Apache; all others are passed over.
const APACHE: &[(&str, Field)] = &[
    ("h", Field::Address),
    ("a", Field::Address),
    ("t", Field::Time),
    ("r", Field::Request),
    ("U", Field::Target),
    ("q", Field::Query),
    ("s", Field::Status),
    ("v", Field::Host),
    ("V", Field::Host),
];

impl Template {
    /// Reads the text of a format.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        // `\"` is how it stands in the files of Apache, and `%t` brings brackets along.
        let text = text.replace("\\\"", "\"").replace("%t", "[%t]").replace("[[%t]]", "[%t]");
        let mut start = None;
        let mut steps: Vec<Step> = Vec::new();
        let mut literal = String::new();
        let mut rest = &*text;
        while let Some(character) = rest.chars().next() {
            let Some((field, length)) = field_at(rest) else {
                if character == '%' && rest[1..].starts_with('%') {
                    rest = &rest[1..];
                }
                literal.push(character);
                rest = &rest[character.len_utf8()..];
                continue;
            };
            let text = std::mem::take(&mut literal);
            let is_quoted = text.ends_with('"');
            match steps.last_mut() {
                None => start = Some(text),
                Some(_) if text.is_empty() => {
                    return Err("two fields of a log_format stand side by side: something has to be \
                                between them that says where the first one ends"
                        .to_owned());
                }
                Some(before) => {
                    before.end = text.into_bytes().into();
                    before.is_quoted &= before.end.first() == Some(&b'"');
                }
            }
            steps.push(Step { field, is_quoted, end: Box::default() });
            rest = &rest[length..];
        }
        if let Some(last) = steps.last_mut() {
            last.end = literal.into_bytes().into();
            last.is_quoted &= last.end.first() == Some(&b'"');
        }
        let has = |wanted: Field| steps.iter().any(|step| step.field == wanted);
        if !has(Field::Request) && !has(Field::Target) {
            return Err("a log_format needs the request: $request or $request_uri, %r or %U".to_owned());
        }
        Ok(Self { start: start.unwrap_or_default().into_bytes().into(), steps })
    }

    pub(super) fn read<'l>(&self, line: &'l [u8]) -> Result<Hit<'l>, Unreadable> {
        let mut rest = line.strip_prefix(&*self.start).ok_or(Unreadable::Fields)?;
        let mut hit = Hit::default();
        let mut query = None;
        for step in &self.steps {
            let end = if step.end.is_empty() {
                rest.len()
            } else if step.is_quoted {
                quote_in(rest, &step.end).ok_or(Unreadable::Fields)?
            } else {
                find(rest, &step.end).ok_or(Unreadable::Fields)?
            };
            let value = &rest[..end];
            rest = &rest[end + step.end.len()..];
            match step.field {
                Field::Ignored => {}
                Field::Address => hit.address = Cow::Borrowed(value),
                Field::Time => hit.time = Some(time::any(value).ok_or(Unreadable::Date)?),
                Field::Request => hit.set_request(value),
                Field::Target => hit.target = Cow::Borrowed(value),
                Field::Query => query = present(value),
                Field::Status => hit.status = status(value),
                Field::Host => hit.host = present(value).map(Cow::Borrowed),
                Field::UserAgent => hit.user_agent = unescaped(present(value).unwrap_or_default()),
            }
        }
        if let Cow::Borrowed(target) = hit.target {
            hit.target = unescaped(target);
        }
        if let Some(query) = query
            && !hit.target.contains(&b'?')
        {
            let target = hit.target.to_mut();
            if query.first() != Some(&b'?') {
                target.push(b'?');
            }
            target.extend_from_slice(query);
        }
        Ok(hit)
    }
}

/// The field that a text starts with, and how long its name is there.
fn field_at(text: &str) -> Option<(Field, usize)> {
    let rest = text.get(1..)?;
    if text.starts_with('$') {
        let (braces, name) = if let Some(inner) = rest.strip_prefix('{') {
            (2, inner.split_once('}')?.0)
        } else {
            let length = rest
                .bytes()
                .take_while(|octet| octet.is_ascii_alphanumeric() || *octet == b'_')
                .count();
            (0, &rest[..length])
        };
        let field =
            NGINX.iter().find(|(known, _)| *known == name).map_or(Field::Ignored, |(_, field)| *field);
        return (!name.is_empty()).then_some((field, 1 + braces + name.len()));
    }
    if !text.starts_with('%') || rest.starts_with('%') {
        return None;
    }
    // Between the sign and the letter: conditions (`!200,304`), `<` or `>`, and an argument in braces.
    let modifiers =
        rest.bytes().take_while(|octet| octet.is_ascii_digit() || b"!,<>".contains(octet)).count();
    let mut behind = &rest[modifiers..];
    let mut argument = None;
    if let Some(inner) = behind.strip_prefix('{') {
        let (name, after) = inner.split_once('}')?;
        (argument, behind) = (Some(name), after);
    }
    let letter = behind.chars().next().filter(char::is_ascii_alphabetic)?;
    // `%^FB` is of two letters more.
    let length = text.len() - behind.len() + letter.len_utf8();
    let field = match (argument, letter) {
        (Some(name), 'i') if name.eq_ignore_ascii_case("user-agent") => Field::UserAgent,
        (Some(name), 'i') if name.eq_ignore_ascii_case("host") => Field::Host,
        (Some(_), 't') => Field::Time,
        (Some("c"), 'a') | (None, _) => {
            let name = letter.to_string();
            APACHE.iter().find(|(known, _)| *known == name).map_or(Field::Ignored, |(_, field)| *field)
        }
        _ => Field::Ignored,
    };
    Some((field, length))
}

/// Where a text stands in a line.
fn find(line: &[u8], text: &[u8]) -> Option<usize> {
    let (&first, others) = text.split_first()?;
    let mut from = 0;
    loop {
        let at = from + memchr::memchr(first, &line[from..])?;
        if line[at + 1..].starts_with(others) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Where the quote stands that ends a field; one behind a backslash does not.
fn quote_in(line: &[u8], end: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', &line[from..])?;
        if line[at] == b'\\' {
            from = at + 2;
            if from > line.len() {
                return None;
            }
        } else if line[at..].starts_with(end) {
            return Some(at);
        } else {
            // Not every writer escapes quotes.
            from = at + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(template: &str, line: &str) -> Hit<'static> {
        let template = Template::new(template).expect("a template");
        let hit = template.read(line.as_bytes()).expect("a line of it");
        Hit {
            time: hit.time,
            address: hit.address.into_owned().into(),
            target: hit.target.into_owned().into(),
            status: hit.status,
            host: hit.host.map(|host| host.into_owned().into()),
            user_agent: hit.user_agent.into_owned().into(),
        }
    }

    #[test]
    fn combined_lines() {
        let hit = read(
            super::super::COMBINED,
            r#"2001:db8::1 - a b [10/Oct/2000:13:55:36 -0700] "GET /a\x22b HTTP/1.1" 404 - "http://x/\"" "Foo\"Bar/1" "more""#,
        );
        assert_eq!(hit.time, Some(971_211_336));
        assert_eq!(&*hit.address, b"2001:db8::1");
        assert_eq!(&*hit.target, b"/a\"b");
        assert_eq!(hit.status, Some(404));
        assert_eq!(&*hit.user_agent, b"Foo\"Bar/1");
    }

    #[test]
    fn formats_of_ones_own() {
        let hit = read(
            "$host | ${remote_addr} | $msec | $uri | $args | $status | $http_user_agent",
            "example.com | 192.0.2.1 | 971211336.123 | /a | b=c | 200 | curl/8",
        );
        assert_eq!((hit.time, &*hit.target), (Some(971_211_336), &b"/a?b=c"[..]));
        assert_eq!(hit.host.as_deref(), Some(&b"example.com"[..]));
        assert_eq!(&*hit.user_agent, b"curl/8");
        let hit = read(
            r#"%{c}a %!200,304{X}i %{%Y-%m-%dT%H:%M:%S%z}t \"%m %U%q\" %>s \"%{User-agent}i\""#
                .replace("%U%q", "%U %q")
                .as_str(),
            r#"192.0.2.1 - 2000-10-10T13:55:36-0700 "GET /a ?b" 200 "curl/8""#,
        );
        assert_eq!((hit.time, &*hit.target), (Some(971_211_336), &b"/a?b"[..]));
    }

    #[test]
    fn what_no_template_can_be() {
        assert!(Template::new("$remote_addr$request").unwrap_err().contains("side by side"));
        assert!(Template::new("$remote_addr $status").unwrap_err().contains("$request_uri"));
    }

    #[test]
    fn bad_lines_say_what_is_wrong() {
        let template = Template::new(super::super::COMBINED).expect("a template");
        assert_eq!(template.read(b""), Err(Unreadable::Fields));
        assert_eq!(
            template.read(b"1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5"),
            Err(Unreadable::Fields)
        );
        assert_eq!(
            template.read(b"1 - - [10/Oct/20:13:55:36 -0700] \"G\" 200 5 \"-\" \"-\""),
            Err(Unreadable::Date)
        );
        assert_eq!(template.read(b"1 - - [10/Oct/2000:13:55:36 -0700] \"\\"), Err(Unreadable::Fields));
    }
}
