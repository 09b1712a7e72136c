//! A `log_format` of nginx or a `LogFormat` of Apache, and the formats that they have names for → hits.
//!
//! A template is fields with text between them. A field ends before the text that follows it; a field in
//! quotes ends at the next quote that is not escaped. Text after the last field is ignored, so logs with
//! further fields at the end are read too.

use std::borrow::Cow;

use super::{Unreadable, status};
use crate::hit::{Hit, present};
use crate::octets::unescaped;
use crate::time;

#[derive(Clone, Debug)]
pub(super) struct Template {
    /// The text before the first field.
    start: Box<[u8]>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Step {
    field: Field,
    is_quoted: bool,
    /// The text after the field.
    end: Box<[u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Ignored,
    Address,
    /// The addresses that a proxy forwards for; they count if the log has no other.
    Forwarded,
    Time,
    Request,
    Target,
    Query,
    /// `?` where there is a query: `$is_args`.
    QueryMark,
    Status,
    Host,
    /// A host with the target right after it.
    HostAndTarget,
    UserAgent,
}

/// Variables of nginx; all others are ignored.
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
    ("is_args", Field::QueryMark),
    ("http_x_forwarded_for", Field::Forwarded),
    ("proxy_add_x_forwarded_for", Field::Forwarded),
    ("status", Field::Status),
    ("host", Field::Host),
    ("http_host", Field::Host),
    ("server_name", Field::Host),
    ("http_user_agent", Field::UserAgent),
];

/// Directives of Apache; all others are ignored.
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
                Some(before) if text.is_empty() => {
                    if let Some(together) = together(before.field, field) {
                        before.field = together;
                        rest = &rest[length..];
                        continue;
                    }
                    return Err("two fields of a log_format are next to each other: there has to be something between them, to show where the first one ends"
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
        if ![Field::Request, Field::Target, Field::HostAndTarget].into_iter().any(has) {
            return Err("a log_format needs the request: $request or $request_uri, %r or %U".to_owned());
        }
        Ok(Self { start: start.unwrap_or_default().into_bytes().into(), steps })
    }

    pub(super) fn read<'l>(&self, line: &'l [u8]) -> Result<Hit<'l>, Unreadable> {
        let mut rest = line.strip_prefix(&*self.start).ok_or(Unreadable::Fields)?;
        let mut hit = Hit::default();
        let mut query = None;
        let mut forwarded = None;
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
                Field::Ignored | Field::QueryMark => {}
                Field::Address => hit.address = Cow::Borrowed(value),
                Field::Forwarded => forwarded = forwarded.or(present(value)),
                Field::Time => hit.time = Some(time::any(value).ok_or(Unreadable::Date)?),
                Field::Request => hit.set_request(value),
                Field::Target => hit.target = Cow::Borrowed(value),
                Field::Query => query = present(value),
                Field::Status => hit.status = status(value),
                Field::Host => hit.host = hit.host.or(present(value).map(Cow::Borrowed)),
                Field::HostAndTarget => {
                    let (host, target) = value.split_at(memchr::memchr(b'/', value).unwrap_or(0));
                    hit.host = hit.host.or(present(host).map(Cow::Borrowed));
                    hit.target = Cow::Borrowed(target);
                }
                Field::UserAgent => hit.user_agent = unescaped(present(value).unwrap_or_default()),
            }
        }
        if let (Some(forwarded), None) = (forwarded, present(&hit.address)) {
            hit.address = Cow::Borrowed(forwarded);
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

/// What two adjacent fields are, if that is clear: a path and its query, or a host and a path.
fn together(before: Field, field: Field) -> Option<Field> {
    match (before, field) {
        (Field::Target | Field::HostAndTarget, Field::Query | Field::QueryMark) => Some(before),
        (Field::QueryMark, Field::Query) => Some(Field::Query),
        (Field::Host, Field::Target) => Some(Field::HostAndTarget),
        _ => None,
    }
}

/// The text of a format from a configuration file of nginx (`log_format main '…' '…';`) or Apache
/// (`LogFormat "…" name`), without the directive around it.
pub(super) fn without_directive(text: &str) -> String {
    let trimmed = text.trim();
    let word = trimmed.split_whitespace().next().unwrap_or_default();
    let is_nginx = word == "log_format" || trimmed.starts_with('\'');
    let is_apache = ["LogFormat", "CustomLog"].iter().any(|name| word.eq_ignore_ascii_case(name));
    if !is_nginx && !is_apache {
        return text.to_owned();
    }
    let mut format = String::new();
    let mut rest = &trimmed[if trimmed.starts_with('\'') { 0 } else { word.len() }..];
    while let Some(start) = rest.find(['\'', '"']) {
        let quote = rest.as_bytes()[start];
        let inner = &rest[start + 1..];
        let mut end = 0;
        let octets = inner.as_bytes();
        while end < octets.len() && octets[end] != quote {
            end += if octets[end] == b'\\' { 2 } else { 1 };
        }
        format.push_str(inner.get(..end).unwrap_or(inner));
        rest = inner.get(end + 1..).unwrap_or_default();
        if is_apache {
            // What follows is the nickname, or where to write.
            break;
        }
    }
    if format.is_empty() { text.to_owned() } else { format }
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
        (Some(name), 'i') if name.eq_ignore_ascii_case("x-forwarded-for") => Field::Forwarded,
        (Some(_), 't') => Field::Time,
        (Some("c"), 'a') | (None, _) => {
            let name = letter.to_string();
            APACHE.iter().find(|(known, _)| *known == name).map_or(Field::Ignored, |(_, field)| *field)
        }
        _ => Field::Ignored,
    };
    Some((field, length))
}

/// Where a text is in a line.
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

/// Where the quote is that ends a field; a quote after a backslash does not.
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
            r#"%{c}a %!200,304{X}i %{%Y-%m-%dT%H:%M:%S%z}t \"%m %U%q %H\" %>s \"%{User-agent}i\""#,
            r#"192.0.2.1 - 2000-10-10T13:55:36-0700 "GET /a?b HTTP/1.1" 200 "curl/8""#,
        );
        assert_eq!((hit.time, &*hit.target), (Some(971_211_336), &b"/a?b"[..]));
    }

    #[test]
    fn fields_side_by_side() {
        let hit = read(
            "$http_x_forwarded_for - [$time_local] \"$request_method $scheme://$host$uri$is_args$args\" \
             $status \"$http_user_agent\"",
            "192.0.2.1, 10.0.0.1 - [10/Oct/2000:13:55:36 -0700] \"GET https://example.com/a?b\" 200 \"curl/8\"",
        );
        assert_eq!((&*hit.target, hit.host.as_deref()), (&b"/a?b"[..], Some(&b"example.com"[..])));
        assert_eq!(&*hit.address, b"192.0.2.1, 10.0.0.1");
        let hit = read(
            "$remote_addr $http_x_forwarded_for \"$request\"",
            "192.0.2.1 10.0.0.1 \"GET /a HTTP/1.1\"",
        );
        assert_eq!(&*hit.address, b"192.0.2.1", "who connected is known, what it says is not");
    }

    #[test]
    fn formats_as_they_stand_in_files() {
        let nginx = "log_format main escape=default '$remote_addr - $remote_user [$time_local] \"$request\" '\n    '$status \"$http_user_agent\"';";
        let line = r#"192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 404 "curl/8""#;
        for text in [nginx, nginx.split_once("default ").expect("the quotes").1] {
            let hit = read(&without_directive(text), line);
            assert_eq!(
                (&*hit.target, hit.status, &*hit.user_agent),
                (&b"/a"[..], Some(404), &b"curl/8"[..])
            );
        }
        let apache = r#"LogFormat "%h %l %u %t \"%r\" %>s \"%{User-agent}i\"" own"#;
        assert_eq!(read(&without_directive(apache), line).status, Some(404));
        for text in ["log_format", "log_format main '", "'\\", "LogFormat \"", "%r"] {
            without_directive(text);
        }
    }

    #[test]
    fn what_no_template_can_be() {
        assert!(Template::new("$remote_addr$request").unwrap_err().contains("next to each other"));
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
