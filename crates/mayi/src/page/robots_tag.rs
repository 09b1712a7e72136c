//! `Robots-Tag`, and what in `X-Robots-Tag` is structured: members with rules as parameters (TAG-2).
//!
//! The draft's own examples are not valid Structured Fields, and keys have to be lower-case although
//! sites write `NoIndex`. So the grammar is read tolerantly, member by member. A member that can't be
//! read is ignored, and only that member.

use std::borrow::Cow;

use super::rule::is_rule;
use super::{FoundAt, Grammar, Loss, LossKind, PageControls, Statement, WrittenRule};

/// The members of a field line.
pub(super) fn members(value: &str) -> Vec<&str> {
    let mut start = 0;
    let ends = separators(value).chain([value.len()]);
    let member = |end: usize| {
        let member = value[start..end].trim();
        start = end + 1;
        member
    };
    ends.map(member).collect()
}

/// The places of the commas that separate members. Commas in quotes or brackets do not, unless the quote or
/// bracket is never closed: it would hide all that follows.
pub(super) fn separators(value: &str) -> impl Iterator<Item = usize> {
    let is_closed = is_closed(value);
    let (mut quoted, mut escaped, mut depth) = (false, false, 0_usize);
    let mut separates = move |octet: u8| {
        match octet {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' if is_closed => quoted = !quoted,
            _ if quoted => {}
            b'(' if is_closed => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b',' => return depth == 0,
            _ => {}
        }
        false
    };
    let octets = value.bytes().enumerate();
    octets.filter_map(move |(at, octet)| separates(octet).then_some(at))
}

/// Whether every quote and bracket is closed.
fn is_closed(value: &str) -> bool {
    let (mut quoted, mut escaped, mut depth) = (false, false, 0_usize);
    for octet in value.bytes() {
        match octet {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    !quoted && depth == 0
}

/// Whether a member of an X-Robots-Tag line is structured: it has parameters or is a bare `*` (TAG-5).
/// Parameters without a token before them are the old syntax, with a slip.
pub(super) fn is_structured(member: &str) -> bool {
    let head = member.split(';').next().unwrap_or_default();
    let name = unquoted(head.split('=').next().unwrap_or_default().trim());
    let name = &*name;
    let is_name = matches!(name, "" | "*") || is_token(name) && !is_rule(name);
    member == "*" || member.contains(';') && is_name
}

/// Reads members as statements.
pub(super) fn read(members: &[&str], found: impl Fn(usize) -> FoundAt, into: &mut PageControls) {
    for (place, member) in members.iter().enumerate().filter(|(_, member)| !member.is_empty()) {
        let found = found(place + 1);
        let (token, rules): (Option<String>, _) = read_member(member).unwrap_or_else(|| {
            into.losses.push(Loss { kind: LossKind::UnreadableMember, found: found.clone() });
            // It is kept as an unknown rule, so that it can be listed.
            (None, vec![WrittenRule { name: (*member).to_owned(), value: None }])
        });
        let token = token.map(Into::into);
        into.statements.push(Statement { token, grammar: Grammar::Structured, rules, found });
    }
}

/// The token of a member, which is none for all crawlers, and its rules.
fn read_member(member: &str) -> Option<(Option<String>, Vec<WrittenRule>)> {
    let mut parameters = split(member, ';').into_iter();
    let head = parameters.next()?.trim();
    let (name, value) = head.split_once('=').unwrap_or((head, ""));
    // A String instead of a Token.
    let (name, value) = (unquoted(name.trim()), value.trim());
    let name = &*name;
    // A rule where a token should be is that rule for all (TAG-5), also in `noindex; nofollow`: no
    // crawler has such a name, and the site's rules would be lost.
    if value.is_empty() && is_rule(name) {
        let mut rules = vec![written(name)];
        rules.extend(parameters.map(written));
        rules.retain(|rule| !rule.name.is_empty());
        return Some((None, rules));
    }
    let token = match name {
        "" | "*" => None,
        _ if is_token(name) => Some(name.to_owned()),
        _ => return None,
    };
    let mut rules = Vec::new();
    if let Some(list) = value.strip_prefix('(') {
        let list = list.strip_suffix(')')?;
        rules.extend(list.split_ascii_whitespace().map(|word| written(&unquoted(word))));
    } else if is_rule(&unquoted(value)) {
        rules.push(written(&unquoted(value)));
    } else if !matches!(value, "" | "?1") {
        return None;
    }
    rules.extend(parameters.map(written));
    rules.retain(|rule| !rule.name.is_empty());
    Some((token, rules))
}

/// `name` or `name=value`, the value without its quotes.
fn written(rule: &str) -> WrittenRule {
    let rule = rule.trim();
    let (name, value) = match rule.split_once('=') {
        Some((name, value)) => (name.trim(), Some(unquoted(value.trim()).into_owned())),
        None => (rule, None),
    };
    WrittenRule { name: name.to_owned(), value }
}

fn unquoted(value: &str) -> Cow<'_, str> {
    match value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) {
        Some(inner) if inner.contains('\\') => {
            Cow::Owned(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
        }
        Some(inner) => Cow::Borrowed(inner),
        None => Cow::Borrowed(value),
    }
}

/// Splits at a separator that is not in quotes.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    let outside = |c: char| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => return c == separator && !quoted,
        }
        false
    };
    text.split(outside).collect()
}

/// A product token, which may start with a digit (TAG-9).
fn is_token(name: &str) -> bool {
    crate::ProductToken::new(name).is_ok()
}
