//! A line that crawlers ignore → the one reason why, so that exactly one lint reports it.

use super::characters::{
    self, folded, folded_further, is_folded_further, is_invisible, without_invisible,
};
use super::nearest::nearest;
use crate::dialect::Dialect;
use crate::directive::{DIRECTIVES, Role, SITEMAP, USER_AGENT};
use crate::syntax::RawRecord;

/// Why a line is not a record that a directive knows. It is stored for each such line, and a file can have very
/// many: so a directive is given by its place in [`DIRECTIVES`], and no more of a line is looked at than fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Oddity {
    /// A byte order mark is in it.
    ByteOrderMark,
    /// Without its invisible characters, it would be read.
    Invisible,
    /// It is HTML, or what PHP prints.
    Markup,
    /// It is a placeholder that was not filled in.
    Template,
    /// Another character is in the place of the colon: where, and how many octets it has.
    WrongColon { at: u16, length: u8 },
    /// Some of its letters only look like ASCII letters.
    LookAlike(u8),
    /// It starts with a name of this many octets without a colon after it, and is not read as a record.
    MissingColon { directive: u8, length: u16 },
    /// Its name is nearly one that is known.
    NearlyNamed(u8),
    /// It has octets that are not text.
    NotText,
    /// It is a record with an unknown name.
    UnknownName,
    /// It is anything else.
    Unreadable,
}

/// Why a line, given without its comment, is not read.
pub(super) fn oddity_of(line: &[u8], record: Option<&RawRecord<'_>>, dialect: &Dialect) -> Oddity {
    let line = line.trim_ascii();
    // What is shorter than any name was not meant as a name. There can be very many such lines, so they are not searched for
    // markup and placeholders unless they have one of their signs.
    let is_plain = |octet: &u8| octet.is_ascii_graphic() && !b"<{[%$@_?-&".contains(octet);
    if record.is_none() && line.len() < SHORTEST_NAME && line.iter().all(is_plain) {
        return Oddity::Unreadable;
    }
    let lossy = String::from_utf8_lossy(&line[..line.len().min(MOST_LOOKED_AT)]);
    let directive = |name: &[u8]| dialect.directive(name).map(|(directive, _)| directive);

    if lossy.contains('\u{feff}') {
        return Oddity::ByteOrderMark;
    }
    if !lossy.is_ascii() && lossy.chars().any(is_invisible) {
        let plain = without_invisible(&lossy);
        let is_read_without =
            || known_start(&plain, &directive).is_some() || without_colon(&plain, &directive).is_some();
        if plain.trim_ascii().is_empty() || is_read_without() {
            return Oddity::Invisible;
        }
    }
    if characters::is_markup(&lossy) {
        return Oddity::Markup;
    }
    if characters::template_in(&lossy).is_some() {
        return Oddity::Template;
    }
    if let Some((at, length)) = characters::wrong_colon(&lossy)
        && directive(lossy[..at].trim_end().as_bytes()).is_some()
    {
        return Oddity::WrongColon { at: at as u16, length: length as u8 };
    }
    if !lossy.is_ascii()
        && let Some(known) = known_start(&folded(&lossy), &directive)
    {
        return Oddity::LookAlike(known);
    }
    let known = if lossy.is_ascii() && !lossy.bytes().any(is_folded_further) {
        known_start(&lossy, &directive)
    } else {
        folded_further(&lossy).iter().find_map(|text| known_start(text, &directive))
    };
    if let Some(known) = known {
        return Oddity::LookAlike(known);
    }
    let missing = || {
        let (directive, length) = without_colon(&lossy, &directive)?;
        Some(Oddity::MissingColon { directive, length: length as u16 })
    };
    if record.is_none()
        && let Some(missing) = missing()
    {
        return missing;
    }
    if let Some(record) = record {
        let name = String::from_utf8_lossy(&record.name[..record.name.len().min(MOST_LOOKED_AT)]);
        // A list has bullets or numbers before its lines.
        let name = name.trim_start_matches(|c: char| !c.is_alphabetic());
        let known = nearest(name, DIRECTIVES.iter().map(|directive| directive.name));
        if let Some(known) = known.or_else(|| otherwise_named(name)) {
            let place = DIRECTIVES.iter().position(|directive| directive.name == known);
            return Oddity::NearlyNamed(place.expect("it is one of these") as u8);
        }
        // The colon further on is one of the value.
        if name.contains([' ', '\t'])
            && let Some(missing) = missing()
        {
            return missing;
        }
    }
    match record {
        _ if std::str::from_utf8(line).is_err() || line.contains(&0) => Oddity::NotText,
        Some(_) => Oddity::UnknownName,
        None => Oddity::Unreadable,
    }
}

/// How many octets the shortest name of a directive has.
const SHORTEST_NAME: usize = 4;

/// How much of a line is looked at: more than any name has, and, with each octet that is not text shown by three,
/// no more than 16 bits count.
const MOST_LOOKED_AT: usize = 1000;

/// The directive whose name, and then a colon, a line starts with.
fn known_start(line: &str, directive: &impl Fn(&[u8]) -> Option<u8>) -> Option<u8> {
    let (name, _) = line.split_once(':')?;
    directive(name.trim_ascii().as_bytes())
}

/// The directive whose name a line without a colon starts with, and how long that name is: alone, right
/// before a path, or before words of which one is a value. Anything else is a sentence that happens to
/// start so.
fn without_colon(line: &str, directive: &impl Fn(&[u8]) -> Option<u8>) -> Option<(u8, usize)> {
    // Right before a path or a wildcard.
    if let Some(at) = line.find(['/', '*'])
        && !line[..at].contains([':', ' ', '\t'])
        && let Some(known) = directive(&line.as_bytes()[..at])
    {
        return Some((known, at));
    }
    let is_value = |word: &&str| {
        word.starts_with(['/', '*'])
            || ["http://", "https://"].iter().any(|start| word.starts_with(start))
    };
    let mut words = [""; 10];
    let count =
        words.iter_mut().zip(line.split_ascii_whitespace()).map(|(to, word)| *to = word).count();
    let words = &words[..count];
    // `User agent` is a name of two words.
    for length in [2, 1] {
        let Some((name, values)) = words.split_at_checked(length) else { continue };
        let place = match name {
            [name] => directive(name.as_bytes()),
            several => directive(several.join(" ").as_bytes()),
        };
        let Some(place) = place else { continue };
        let known = DIRECTIVES[usize::from(place)];
        let is_start = known.name == USER_AGENT.name;
        let is_rule = matches!(known.role, Role::Rule(_)) || is_start || *known == SITEMAP;
        let is_meant = match values {
            [] => is_rule,
            [_] if is_start => true,
            values => is_start && length == 1 || values.iter().any(is_value),
        };
        if let (true, Some(last)) = (is_meant, name.last()) {
            let end = last.as_ptr() as usize - line.as_ptr() as usize + last.len();
            return Some((place, end));
        }
    }
    None
}

/// What other words for a directive are meant to say.
fn otherwise_named(name: &str) -> Option<&'static str> {
    let (disallow, allow, user_agent) = ("Disallow", "Allow", USER_AGENT.name);
    let meant = [
        ("allowed", allow),
        ("permit", allow),
        ("deny", disallow),
        ("denied", disallow),
        ("forbid", disallow),
        ("block", disallow),
        ("not allow", disallow),
        ("agent", user_agent),
        ("robot", user_agent),
        ("crawler", user_agent),
        ("bot", user_agent),
        ("video sitemap", SITEMAP.name),
        ("image sitemap", SITEMAP.name),
        ("news sitemap", SITEMAP.name),
        ("xml sitemap", SITEMAP.name),
    ];
    meant.iter().find(|(word, _)| name.trim_end().eq_ignore_ascii_case(word)).map(|(_, meant)| *meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_shorter_than_the_shortest() {
        let names = DIRECTIVES.iter().flat_map(|directive| {
            let others = directive.aliases.iter().chain(directive.misspellings);
            std::iter::once(&directive.name).chain(others)
        });
        assert_eq!(names.map(|name| name.len()).min(), Some(SHORTEST_NAME));
    }
}
