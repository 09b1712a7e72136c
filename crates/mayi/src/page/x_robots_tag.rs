//! `X-Robots-Tag` in the syntax in use, and the content of robots meta elements: rules separated by
//! commas, with values after a colon (TAG-5, TAG-7).

use std::sync::Arc;

use super::date;
use super::rule::{is_rule, takes_date, takes_value};
use super::{FoundAt, Grammar, Statement, WrittenRule};

/// Reads the members of a field line: `token:` names a product token for what follows on the line.
pub(super) struct Reader {
    token: Option<Arc<str>>,
    /// How many words that are not rules are kept.
    room: usize,
    /// How many were read.
    unknown: usize,
}

/// How many words that are not rules are kept, to be listed. A page has room for half a million.
pub(super) const MOST_UNKNOWN: usize = 1000;

impl Default for Reader {
    fn default() -> Self {
        Self::with_room(MOST_UNKNOWN)
    }
}

impl Reader {
    fn with_room(room: usize) -> Self {
        Self { token: None, room, unknown: 0 }
    }

    /// Reads the first member. Says how many of those after it belong to it, as the pieces of a date
    /// do.
    pub(super) fn read(
        &mut self,
        members: &[&str],
        statements: &mut Vec<Statement>,
        found: impl Fn() -> FoundAt,
    ) -> usize {
        let mut joined = 0;
        // A semicolon where a comma should be.
        let pieces: Vec<&str> = members[0].split(';').collect();
        for (place, piece) in pieces.iter().enumerate() {
            let (prefix, rule) = token_prefix(piece);
            if let Some(prefix) = prefix {
                self.token = (!is_global(prefix)).then(|| prefix.into());
            }
            let rules = match valued(rule) {
                Some((name, value)) if takes_date(name) => {
                    let is_last = place + 1 == pieces.len();
                    let (value, more) =
                        if is_last { date(value, &members[1..]) } else { (value.trim().to_owned(), 0) };
                    joined = more;
                    vec![WrittenRule { name: name.to_owned(), value: Some(value) }]
                }
                Some((name, value)) => {
                    vec![WrittenRule { name: name.to_owned(), value: Some(value.trim().to_owned()) }]
                }
                None => self.words(rule),
            };
            if !rules.is_empty() {
                let (token, found) = (self.token.clone(), found());
                statements.push(Statement { token, grammar: Grammar::United, rules, found });
            }
        }
        joined
    }

    /// The entry for the words that were not kept.
    pub(super) fn left_out(&self) -> Option<WrittenRule> {
        let count = self.unknown.checked_sub(self.room).filter(|count| *count > 0)?;
        Some(WrittenRule { name: format!("… and {count} more"), value: None })
    }

    /// The words of a piece, if commas were forgotten; even then a word may have a value:
    /// `noindex max-snippet: 5`.
    fn words(&mut self, piece: &str) -> Vec<WrittenRule> {
        let mut rules = Vec::new();
        let mut words = piece.split_ascii_whitespace();
        while let Some(word) = words.next() {
            let (name, value) = match word.split_once([':', '=']) {
                Some((name, "")) if takes_value(name) => (name, Some(words.next().unwrap_or_default())),
                Some((name, value)) if takes_value(name) => (name, Some(value)),
                _ => (word, None),
            };
            if !is_rule(name) {
                self.unknown += 1;
                if self.unknown > self.room {
                    continue;
                }
            }
            rules.push(WrittenRule { name: name.to_owned(), value: value.map(str::to_owned) });
        }
        rules
    }
}

/// Reads the content of a robots meta element, which names its token elsewhere. Of words that are not rules, as many are
/// kept as there is room for, in all elements together; a rule without a value is kept once.
pub(super) fn read_content(content: &str, room: &mut usize) -> Vec<WrittenRule> {
    let members: Vec<&str> = content.split(',').collect();
    let mut reader = Reader::with_room(*room);
    let (mut statements, mut rules) = (Vec::new(), Vec::new());
    let mut known = Vec::new();
    let mut is_new = |rule: &WrittenRule| {
        let is_plain = rule.value.is_none() && is_rule(&rule.name);
        let is_known =
            is_plain && known.iter().any(|known: &String| known.eq_ignore_ascii_case(&rule.name));
        if is_plain && !is_known {
            known.push(rule.name.clone());
        }
        !is_known
    };
    let mut told: Option<Arc<str>> = None;
    let mut place = 0;
    while place < members.len() {
        let nowhere = || FoundAt::Meta { line: 0, column: 0 };
        place += 1 + reader.read(&members[place..], &mut statements, nowhere);
        for statement in statements.drain(..) {
            match statement.token {
                None => rules.extend(statement.rules.into_iter().filter(&mut is_new)),
                // A prefix has no meaning here; what has one is not understood, and reported once.
                Some(token) if !told.as_ref().is_some_and(|told| Arc::ptr_eq(told, &token)) => {
                    rules.push(WrittenRule { name: token.to_string(), value: Some(String::new()) });
                    told = Some(token);
                }
                Some(_) => {}
            }
        }
    }
    rules.extend(reader.left_out());
    *room = room.saturating_sub(reader.unknown);
    rules
}

/// A date that starts with this value and may go on in the members after it: as many of them as still
/// make a date together, and how many those are. A date has at most two commas.
fn date(value: &str, members: &[&str]) -> (String, usize) {
    let mut longest = (value.trim().to_owned(), 0);
    let mut text = value.to_owned();
    for (more, member) in members.iter().take(2).enumerate() {
        text = format!("{},{}{}", text, if member.starts_with(' ') { "" } else { " " }, member);
        if date::seconds(&text).is_some() {
            longest = (text.trim().to_owned(), more + 1);
        }
    }
    longest
}

/// `robots` and `*` name every crawler.
fn is_global(name: &str) -> bool {
    name == "*" || name.eq_ignore_ascii_case("robots")
}

/// A product token before a colon, and what follows: `googlebot: noindex`. The rules of a closed list have a
/// colon too, and are not tokens. A word that can't be a product token still names some other crawler.
fn token_prefix(piece: &str) -> (Option<&str>, &str) {
    match piece.split_once(':').map(|(name, rest)| (name.trim(), rest)) {
        Some((name, rest)) if !takes_value(name) && !name.contains(char::is_whitespace) => {
            (Some(name), rest)
        }
        _ => (None, piece),
    }
}

/// A rule with a value, after a colon or an equals sign.
fn valued(rule: &str) -> Option<(&str, &str)> {
    let (name, value) = rule.split_once([':', '='])?;
    takes_value(name.trim()).then_some((name.trim(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[(&str, &str, &str)]) {
        let members: Vec<&str> = line.split(',').collect();
        let (mut reader, mut statements) = (Reader::default(), Vec::new());
        let mut place = 0;
        while place < members.len() {
            let found = || FoundAt::Meta { line: 0, column: 0 };
            place += 1 + reader.read(&members[place..], &mut statements, found);
        }
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
        check("a: noindex; nofollow", &[("a", "noindex", ""), ("a", "nofollow", "")]);
        check(",, ,", &[]);
    }
}
