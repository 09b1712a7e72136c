//! Law 1: the matcher equals a naive one.
//!
//! The naive one is written from REP-7, REP-9, REP-11, REP-12, REP-15 and REP-16 alone. It keeps, for
//! every pattern character, the list of all places of the target that the pattern can have reached:
//! slow, and with nothing in it that could be wrong. It says what the right answer is; the library
//! may only be quicker.

use mayi::{PathPattern, Target};

/// The law: pattern and URL match in the library exactly when they do here (REP-15), both sides have
/// the same normal form (REP-11), and so the same octets compete (REP-8).
pub(crate) fn fast_equals_naive(pattern: &[u8], url: &str) {
    let Ok(target) = Target::parse(url) else { return };
    let fast = PathPattern::new(pattern);
    assert_eq!(show(fast.normalised()), show(&normalise(pattern)), "REP-11: {}", show(pattern));
    assert_eq!(fast.octets(), normalise(pattern).len(), "REP-8: {}", show(pattern));
    let Some(text) = path_and_query(url) else { return };
    assert_eq!(show(target.normalised()), show(&text), "REP-7: {url}");
    let context = || format!("{} against {url}", show(pattern));
    assert_eq!(fast.matches(&target), matches(pattern, &text), "REP-15: {}", context());
}

/// The law at the end of REP-11: a pattern without `*` and `$` that is, octet for octet, how a path and
/// query start, matches them. The path and query are those that a client asks for (REP-7), as they were
/// written where nothing in them is dropped, resolved or another character, and as a client writes them.
/// A pattern that ends within an escape is another text, and is not spoken of.
pub(crate) fn a_start_matches(path: &str, octets: usize) {
    let url = format!("https://h{path}");
    let Ok(target) = Target::parse(&url) else { return };
    let Ok(asked) = url::Url::parse(&url) else { return };
    if goes_up_from_a_drive(&url) {
        return;
    }
    let asked = &asked[url::Position::BeforePath..url::Position::AfterQuery];
    let segments = path.split('?').next().unwrap_or_default().split('/');
    let is_dots =
        |segment: &str| matches!(&*segment.to_ascii_lowercase().replace("%2e", "."), "." | "..");
    let is_as_written = path.starts_with('/')
        && !path.contains(['\\', '#', '\t', '\r', '\n'])
        && !path.ends_with(|c| c <= ' ')
        && !segments.into_iter().any(is_dots);
    for text in [Some(asked), Some(path).filter(|_| is_as_written)].into_iter().flatten() {
        let start = &text.as_bytes()[..octets.min(text.len())];
        let last_two = |text: &[u8]| text[text.len().saturating_sub(2)..].contains(&b'%');
        let is_cut = start.len() < text.len() && (last_two(start) || last_two(&normalise(start)));
        if start.is_empty() || is_cut || start.contains(&b'*') || start.contains(&b'$') {
            continue;
        }
        assert!(PathPattern::new(start).matches(&target), "REP-11: {} against {url}", show(start));
    }
}

/// Whether the URL is that of a robots.txt itself (REP-10).
pub(crate) fn is_robots_txt(text: &[u8]) -> bool {
    text == b"/robots.txt"
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
    /// A literal `*`, however it is written.
    Star,
    /// A literal `$`, however it is written.
    Dollar,
    /// A `/`, `?` or `#` of a query, however it is written.
    Delimiter(u8),
}

/// A character of a target, and whether it is a raw `?`.
type OfTarget = (Character, bool);

/// Whether a pattern matches a normalised path and query: REP-15 by dynamic programming, over the places
/// that the pattern read so far can have led to.
pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let mut pattern = normalise(pattern);
    if pattern.is_empty() {
        return false; // REP-9
    }
    let anchored = pattern.ends_with(b"$");
    pattern.truncate(pattern.len() - usize::from(anchored));

    // REP-16: a pattern with a literal star or dollar meets both ways to write it. Each one in the target
    // is then a character of its own, that no wildcard can split.
    let stars = contains(&pattern, b"%2A");
    let dollars = contains(&pattern, b"%24") || contains(&pattern, b"$");
    let literal = |rest: &[u8]| match rest {
        [b'%', b'2', b'A', ..] if stars => Some((Character::Star, 3)),
        [b'%', b'2', b'4', ..] if dollars => Some((Character::Dollar, 3)),
        [b'$', ..] if dollars => Some((Character::Dollar, 1)),
        _ => None,
    };
    let of_target = |rest: &[u8]| match rest {
        [b'*', ..] if stars => (Character::Star, 1),
        _ => literal(rest).unwrap_or((Character::Octet(rest[0]), 1)),
    };
    let of_pattern = |rest: &[u8]| match rest {
        [b'*', ..] => (Character::Wildcard, 1),
        _ => literal(rest).unwrap_or((Character::Octet(rest[0]), 1)),
    };
    let as_it_stands: Vec<OfTarget> = characters(text, of_target);

    // REP-12: up to the first `?` of the pattern itself, all is compared as it stands; that `?` meets a
    // raw one.
    let Some(mark) = pattern.iter().position(|&octet| octet == b'?') else {
        let reached = after(&characters(&pattern, of_pattern), &as_it_stands, &[0]);
        return is_end(&reached, as_it_stands.len(), anchored);
    };
    let (before, behind) = (&pattern[..mark], &pattern[mark + 1..]);
    let reached = after(&characters(before, of_pattern), &as_it_stands, &[0]);
    let marks = |text: &[OfTarget]| -> Vec<usize> {
        text.iter().enumerate().filter(|(_, (_, is_mark))| *is_mark).map(|(at, _)| at).collect()
    };
    let query_at = text.iter().position(|&octet| octet == b'?').map_or(text.len(), |mark| mark + 1);

    // REP-12: behind it, delimiters are compared in either spelling with those behind the first `?` of the
    // URL.
    let in_query = |rest: &[u8]| {
        let escape =
            [&b"/"[..], b"?", b"#"].into_iter().find(|delim| rest.starts_with(&escape(delim[0])));
        match (escape, rest[0]) {
            (Some(delim), _) => Some((Character::Delimiter(delim[0]), 3)),
            (None, delim @ (b'/' | b'?' | b'#')) => Some((Character::Delimiter(delim), 1)),
            (None, _) => None,
        }
    };
    let mut folded = characters(&text[..query_at], of_target);
    folded.extend(characters(&text[query_at..], |rest| {
        in_query(rest).unwrap_or_else(|| of_target(rest))
    }));
    let behind = characters(behind, |rest| in_query(rest).unwrap_or_else(|| of_pattern(rest)));
    let pairs = marks(&as_it_stands).into_iter().zip(marks(&folded));
    let in_query_from: Vec<usize> =
        pairs.filter(|(mark, _)| reached.contains(mark)).map(|(_, mark)| mark + 1).collect();
    is_end(&after(&behind, &folded, &in_query_from), folded.len(), anchored)
}

fn is_end(reached: &[usize], end: usize, anchored: bool) -> bool {
    if anchored { reached.contains(&end) } else { !reached.is_empty() }
}

/// The places that a pattern leads to from some places of a target.
fn after(pattern: &[OfTarget], target: &[OfTarget], places: &[usize]) -> Vec<usize> {
    let mut reached = vec![false; target.len() + 1];
    for &place in places {
        reached[place] = true;
    }
    for &(character, _) in pattern {
        let mut next = vec![false; target.len() + 1];
        for place in (0..=target.len()).filter(|&place| reached[place]) {
            if character == Character::Wildcard {
                next[place..].fill(true);
            } else if target.get(place).is_some_and(|&(other, _)| character == other) {
                next[place + 1] = true;
            }
        }
        reached = next;
    }
    (0..=target.len()).filter(|&place| reached[place]).collect()
}

/// Reads a text character by character.
fn characters(mut text: &[u8], read: impl Fn(&[u8]) -> (Character, usize)) -> Vec<OfTarget> {
    let mut characters = Vec::new();
    while !text.is_empty() {
        let (character, octets) = read(text);
        characters.push((character, text[0] == b'?'));
        text = &text[octets..];
    }
    characters
}

/// Path and query of an http or https URL as clients read it (REP-7), normalised (REP-11): what a client
/// asks for is what the crate `url` makes of it, where that does not differ from the standard.
pub(crate) fn path_and_query(url: &str) -> Option<Vec<u8>> {
    let read = url::Url::parse(url).ok().filter(|url| ["http", "https"].contains(&url.scheme()))?;
    let text = read[url::Position::BeforePath..url::Position::AfterQuery].as_bytes();
    (!goes_up_from_a_drive(url)).then(|| normalise(text))
}

/// Whether a path has `..` and a segment that looks like a drive of Windows. The standard treats those
/// apart in file URLs only, the crate `url` in all.
fn goes_up_from_a_drive(url: &str) -> bool {
    let path = url.replace(['\t', '\r', '\n'], "").replace('\\', "/").to_ascii_lowercase();
    let is_drive =
        |four: &[u8]| matches!(four, [b'/', letter, b':' | b'|', b'/'] if letter.is_ascii_alphabetic());
    path.replace("%2e", ".").contains("/..") && path.as_bytes().windows(4).any(is_drive)
}

/// RFC 3986 §2.2.
const GEN_DELIMS: &[u8] = b":/?#[]@";
const SUB_DELIMS: &[u8] = b"!$&'()*+,;=";

/// REP-11.
pub(crate) fn normalise(octets: &[u8]) -> Vec<u8> {
    let unreserved = |octet: u8| octet.is_ascii_alphanumeric() || b"-._~".contains(&octet);
    let means_the_same = |octet: u8| unreserved(octet) || b"!'(),:;@[]".contains(&octet);
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
        let stands = if escaped { means_the_same(octet) } else { may_stand(octet) };
        if stands {
            normalised.push(octet);
        } else {
            normalised.extend(escape(octet));
        }
        at += if escaped { 3 } else { 1 };
    }
    normalised
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
