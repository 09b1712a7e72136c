//! Law 1: the matcher equals a naive one.
//!
//! The naive one is written from REP-7, REP-9, REP-11, REP-12, REP-15 and REP-16 alone. It keeps, for
//! every pattern character, the list of all places of the target that the pattern can have reached:
//! slow, and with nothing in it that could be wrong. It says what the right answer is; the library
//! may only be quicker.

use mayi::{PathPattern, Target};

/// The law: pattern and URL match in the library exactly when they do here (REP-15), both sides have
/// the same normal form (REP-11, REP-12), and so the same octets compete (REP-8).
pub(crate) fn fast_equals_naive(pattern: &[u8], url: &str) {
    let Ok(target) = Target::parse(url) else { return };
    let fast = PathPattern::new(pattern);
    assert_eq!(show(fast.normalised()), show(&normalise(pattern)), "REP-11: {}", show(pattern));
    assert_eq!(fast.octets(), normalise(pattern).len(), "REP-8: {}", show(pattern));
    let forms = forms(url);
    assert_eq!(show(target.normalised()), show(&forms[0]), "REP-7: {url}");
    let encoded = target.with_encoded_query().unwrap_or(target.normalised());
    assert_eq!(show(encoded), show(&forms[1]), "REP-12: {url}");
    if may_be_too_slow(pattern, &forms) {
        return;
    }
    let context = || format!("{} against {url}", show(pattern));
    assert_eq!(fast.matches(&target), matches(pattern, &forms), "REP-15: {}", context());
}

/// Whether a pattern has a `$` of its own beside an escaped one, and is so long that the library may
/// run out of the time that REP-25 gives it: then it takes all dollars for alike.
pub(crate) fn may_be_too_slow(pattern: &[u8], forms: &Forms) -> bool {
    let pattern = normalise(pattern);
    let both = contains(&pattern, b"%24") && contains(&pattern, b"$");
    let longest = forms.iter().map(Vec::len).max().unwrap_or_default();
    both && pattern.len() * longest > 32 * (pattern.len() + longest)
}

/// Whether a pattern matches a URL, given as its two forms: one of them is enough (REP-12).
pub(crate) fn matches(pattern: &[u8], forms: &Forms) -> bool {
    forms.iter().any(|form| matches_form(pattern, form))
}

/// Whether the URL is that of a robots.txt itself (REP-10).
pub(crate) fn is_robots_txt(forms: &Forms) -> bool {
    forms[0] == b"/robots.txt"
}

/// How many octets of a pattern count (REP-8).
pub(crate) fn octets(pattern: &[u8]) -> usize {
    normalise(pattern).len()
}

/// A character of a pattern or of a target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Character {
    Octet(u8),
    /// In a pattern, a raw `*`.
    Wildcard,
    /// In a pattern, `%2A`; in a target of such a pattern, a star however it is written.
    Star,
    /// In a pattern, `%24`; in a target of such a pattern, the same escape.
    EscapedDollar,
    /// In a target of a pattern that has `%24`, a raw `$`.
    RawDollar,
}

impl Character {
    /// Whether a character of a pattern stands for this one of a target (REP-16).
    fn stands_for(self, other: Self) -> bool {
        self == other
            || self == Self::EscapedDollar && other == Self::RawDollar
            || self == Self::Octet(b'$') && other == Self::RawDollar
    }
}

/// REP-15 by dynamic programming: the places that the pattern read so far can have led to.
fn matches_form(pattern: &[u8], form: &[u8]) -> bool {
    let mut pattern = normalise(pattern);
    if pattern.is_empty() {
        return false; // REP-9
    }
    let anchored = pattern.ends_with(b"$");
    pattern.truncate(pattern.len() - usize::from(anchored));
    let pattern = all_raw_if_mixed(&pattern);

    // Where the pattern escapes a star or a dollar, each one in the target is a character of its own
    // that no wildcard can split (REP-16).
    let stars = contains(&pattern, b"%2A");
    let dollars = contains(&pattern, b"%24");
    let target = characters(form, |rest| match rest {
        [b'%', b'2', b'A', ..] if stars => (Character::Star, 3),
        [b'*', ..] if stars => (Character::Star, 1),
        [b'%', b'2', b'4', ..] if dollars => (Character::EscapedDollar, 3),
        [b'$', ..] if dollars => (Character::RawDollar, 1),
        _ => (Character::Octet(rest[0]), 1),
    });
    let pattern = characters(&pattern, |rest| match rest {
        [b'%', b'2', b'A', ..] => (Character::Star, 3),
        [b'%', b'2', b'4', ..] => (Character::EscapedDollar, 3),
        [b'*', ..] => (Character::Wildcard, 1),
        _ => (Character::Octet(rest[0]), 1),
    });

    let mut reached = vec![false; target.len() + 1];
    reached[0] = true;
    for character in pattern {
        let mut next = vec![false; target.len() + 1];
        for place in (0..=target.len()).filter(|&place| reached[place]) {
            if character == Character::Wildcard {
                next[place..].fill(true);
            } else if target.get(place).is_some_and(|&other| character.stands_for(other)) {
                next[place + 1] = true;
            }
        }
        reached = next;
    }
    if anchored { reached[target.len()] } else { reached.contains(&true) }
}

/// Reads a text character by character.
fn characters(mut text: &[u8], read: impl Fn(&[u8]) -> (Character, usize)) -> Vec<Character> {
    let mut characters = Vec::new();
    while !text.is_empty() {
        let (character, octets) = read(text);
        characters.push(character);
        text = &text[octets..];
    }
    characters
}

/// REP-12 for a pattern that writes some gen-delims raw and some encoded behind its own raw `?`: it
/// is compared as if all were raw there, as else it would meet neither form of any target.
fn all_raw_if_mixed(pattern: &[u8]) -> Vec<u8> {
    let Some(mark) = pattern.iter().position(|&octet| octet == b'?') else { return pattern.to_vec() };
    let (before, query) = pattern.split_at(mark + 1);
    let has_raw = query.iter().any(|octet| GEN_DELIMS.contains(octet));
    let has_encoded = GEN_DELIMS.iter().any(|&delim| place_of_escape(query, delim).is_some());
    if has_raw && has_encoded { [before, &raw_gen_delims(query)].concat() } else { pattern.to_vec() }
}

/// The two forms of a URL: its path and query with the query's gen-delims raw, and encoded (REP-12).
pub(crate) type Forms = [Vec<u8>; 2];

pub(crate) fn forms(url: &str) -> Forms {
    let url = url.split('#').next().unwrap_or_default();
    let (_, behind_scheme) = url.split_once("://").expect("an absolute URL");
    let start = behind_scheme.find(['/', '?']).unwrap_or(behind_scheme.len());
    let (path, query) = match behind_scheme[start..].split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (&behind_scheme[start..], None),
    };
    let path = without_dot_segments(&normalise(path.as_bytes()));
    let Some(query) = query.map(|query| normalise(query.as_bytes())) else {
        return [path.clone(), path];
    };
    let mut encoded = Vec::new();
    for &octet in &query {
        encoded.extend(if GEN_DELIMS.contains(&octet) { escape(octet) } else { vec![octet] });
    }
    [[&path[..], b"?", &raw_gen_delims(&query)].concat(), [&path[..], b"?", &encoded].concat()]
}

/// RFC 3986 §5.2.4, step by step as it is printed there (REP-7).
fn without_dot_segments(path: &[u8]) -> Vec<u8> {
    let mut input = path.to_vec();
    let mut output: Vec<Vec<u8>> = Vec::new();
    while !input.is_empty() {
        if input.starts_with(b"/./") {
            input.drain(..2);
        } else if input == b"/." {
            input = b"/".to_vec();
        } else if input.starts_with(b"/../") {
            input.drain(..3);
            output.pop();
        } else if input == b"/.." {
            input = b"/".to_vec();
            output.pop();
        } else {
            let next = input[1..].iter().position(|&octet| octet == b'/');
            let segment = input.drain(..next.map_or(input.len(), |at| at + 1));
            output.push(segment.collect());
        }
    }
    if output.is_empty() { b"/".to_vec() } else { output.concat() }
}

/// RFC 3986 §2.2.
const GEN_DELIMS: &[u8] = b":/?#[]@";
const SUB_DELIMS: &[u8] = b"!$&'()*+,;=";

/// REP-11.
fn normalise(octets: &[u8]) -> Vec<u8> {
    let unreserved = |octet: u8| octet.is_ascii_alphanumeric() || b"-._~".contains(&octet);
    let may_stand = |octet: u8| {
        unreserved(octet) || GEN_DELIMS.contains(&octet) || SUB_DELIMS.contains(&octet) || octet == b'%'
    };
    let mut normalised = Vec::new();
    let mut at = 0;
    while at < octets.len() {
        let (octet, escaped) = match octets[at..] {
            [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digits = String::from_utf8(vec![high, low]).expect("digits are ASCII");
                (u8::from_str_radix(&digits, 16).expect("two digits are an octet"), true)
            }
            [octet, ..] => (octet, false),
            [] => break,
        };
        let stands = if escaped { unreserved(octet) } else { may_stand(octet) };
        if stands {
            normalised.push(octet);
        } else {
            normalised.extend(escape(octet));
        }
        at += if escaped { 3 } else { 1 };
    }
    normalised
}

/// A normalised text with every encoded gen-delim decoded. What is decoded is neither `%` nor a digit,
/// so that no new escape can come up.
fn raw_gen_delims(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    for &delim in GEN_DELIMS {
        while let Some(at) = place_of_escape(&text, delim) {
            text.splice(at..at + 3, [delim]);
        }
    }
    text
}

/// Where a gen-delim stands encoded. REP-11 leaves no lower-case digits in an escape that was written,
/// but where it decodes `%%32f` to `%2f` there is one that was not. No clause speaks of those; they
/// are read as what they look like.
fn place_of_escape(text: &[u8], delim: u8) -> Option<usize> {
    let escape = escape(delim);
    text.windows(3).position(|window| window.eq_ignore_ascii_case(&escape))
}

fn escape(octet: u8) -> Vec<u8> {
    format!("%{octet:02X}").into_bytes()
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Octets for a message.
fn show(octets: &[u8]) -> String {
    octets.escape_ascii().to_string()
}
