//! `X-Robots-Tag` in the syntax in use, and the content of robots meta elements: rules separated by
//! commas, with values behind a colon (TAG-5, TAG-7).

use super::date;
use super::rule::{is_rule, takes_date, takes_value};
use super::{FoundAt, Grammar, Statement, WrittenRule};

/// Reads a field line: `token:` names a product token for what follows on the line.
pub(super) fn read(line: &str, found: impl Fn(usize) -> FoundAt) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    let mut token: Option<String> = None;
    let mut rest = line;
    let mut member = 0;
    while !rest.is_empty() {
        member += 1;
        let (piece, after) = rest.split_once(',').unwrap_or((rest, ""));
        let (prefix, rule) = token_prefix(piece);
        let mut next = after;
        if let Some(prefix) = prefix {
            token = (!is_global(prefix)).then(|| prefix.to_owned());
        }
        let rules = match valued(rule) {
            Some((name, value)) if takes_date(name) => {
                // The date may go on behind the comma.
                let start = value.as_ptr().addr() - line.as_ptr().addr();
                let length = date_length(&line[start..]);
                let end = start + length.max(value.len());
                next = line[end..].strip_prefix(',').unwrap_or_default();
                vec![WrittenRule {
                    name: name.to_owned(),
                    value: Some(line[start..end].trim().to_owned()),
                }]
            }
            Some((name, value)) => {
                vec![WrittenRule { name: name.to_owned(), value: Some(value.trim().to_owned()) }]
            }
            None => words(rule),
        };
        rest = next;
        if !rules.is_empty() {
            let (token, found) = (token.clone(), found(member));
            statements.push(Statement { token, grammar: Grammar::United, rules, found });
        }
    }
    statements
}

/// Reads the content of a robots meta element, which names its token elsewhere.
pub(super) fn read_content(content: &str) -> Vec<WrittenRule> {
    let nowhere = |_| FoundAt::Meta { line: 0, column: 0 };
    // A prefix has no meaning here; what has one is not understood.
    read(content, nowhere)
        .into_iter()
        .flat_map(|statement| match statement.token {
            None => statement.rules,
            Some(token) => vec![WrittenRule { name: token, value: Some(String::new()) }],
        })
        .collect()
}

/// `robots` and `*` name every crawler.
fn is_global(name: &str) -> bool {
    name == "*" || name.eq_ignore_ascii_case("robots")
}

/// A product token before a colon, and what follows: `googlebot: noindex`. A closed list of rules
/// has colons of its own. A word that can't be a product token still names somebody, and not us.
fn token_prefix(piece: &str) -> (Option<&str>, &str) {
    match piece.split_once(':').map(|(name, rest)| (name.trim(), rest)) {
        Some((name, rest)) if !takes_value(name) && !name.contains(char::is_whitespace) => {
            (Some(name), rest)
        }
        _ => (None, piece),
    }
}

/// A rule with a value, behind a colon or an equals sign.
fn valued(rule: &str) -> Option<(&str, &str)> {
    let (name, value) = rule.split_once([':', '='])?;
    takes_value(name.trim()).then_some((name.trim(), value))
}

/// The rules of a piece without values: one, or several words where commas were forgotten.
fn words(piece: &str) -> Vec<WrittenRule> {
    let piece = piece.trim();
    let rule = |name: &str| WrittenRule { name: name.to_owned(), value: None };
    if piece.is_empty() {
        Vec::new()
    } else if piece.split_ascii_whitespace().all(is_rule) {
        piece.split_ascii_whitespace().map(rule).collect()
    } else {
        // Unknown words may still have known ones, and a value, among them: `noindex max-snippet:5`.
        let mut rules = Vec::new();
        let mut words = piece.split_ascii_whitespace().peekable();
        while let Some(word) = words.next() {
            match word.split_once([':', '=']) {
                Some((name, "")) if takes_value(name) => {
                    let value = words.next().unwrap_or_default().to_owned();
                    rules.push(WrittenRule { name: name.to_owned(), value: Some(value) });
                }
                Some((name, value)) if takes_value(name) => {
                    rules.push(WrittenRule { name: name.to_owned(), value: Some(value.to_owned()) });
                }
                _ => rules.push(rule(word)),
            }
        }
        rules
    }
}

/// How long the date at the start of a text is: as many pieces between commas as still make a date
/// together, or none.
fn date_length(text: &str) -> usize {
    let ends = text.match_indices(',').map(|(at, _)| at).chain([text.len()]);
    // A date has at most two commas.
    let mut longest = 0;
    for end in ends.take(3) {
        if date::seconds(&text[..end]).is_some() {
            longest = end;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[(&str, &str, &str)]) {
        let found = |member| FoundAt::Field { name: String::new(), line: 1, member };
        let statements = read(line, found);
        let read: Vec<_> = statements
            .iter()
            .flat_map(|statement| {
                let token = statement.token.as_deref().unwrap_or("*");
                statement.rules.iter().map(move |rule| {
                    (token, rule.name.as_str(), rule.value.as_deref().unwrap_or_default())
                })
            })
            .collect();
        assert_eq!(read, expected, "{line}");
    }

    #[test]
    fn lines_in_use() {
        check("noindex, nofollow", &[("*", "noindex", ""), ("*", "nofollow", "")]);
        check(
            "googlebot: noindex, nofollow",
            &[("googlebot", "noindex", ""), ("googlebot", "nofollow", "")],
        );
        check(
            "BadBot: noindex, googlebot:nofollow",
            &[("BadBot", "noindex", ""), ("googlebot", "nofollow", "")],
        );
        check("max-snippet: 20, noindex", &[("*", "max-snippet", "20"), ("*", "noindex", "")]);
        check("googlebot: max-snippet:20", &[("googlebot", "max-snippet", "20")]);
        check(
            "unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, noindex",
            &[("*", "unavailable_after", "Friday, 25-Jun-10 15:00:00 GMT"), ("*", "noindex", "")],
        );
        check(
            "otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST, noindex",
            &[
                ("otherbot", "unavailable_after", "25 Jun 2010 15:00:00 PST"),
                ("otherbot", "noindex", ""),
            ],
        );
        check(
            "unavailable_after: soon, noindex",
            &[("*", "unavailable_after", "soon"), ("*", "noindex", "")],
        );
        check("noindex nofollow", &[("*", "noindex", ""), ("*", "nofollow", "")]);
        check("max-image-preview:none", &[("*", "max-image-preview", "none")]);
        check("ботик: noindex", &[("ботик", "noindex", "")]);
        check("noindex max-snippet: 5", &[("*", "noindex", ""), ("*", "max-snippet", "5")]);
        check(",, ,", &[]);
    }
}
