//! A path pattern → paths that it matches, or almost matches: the questions that show differences
//! between readings.
//!
//! A mistake here can't make an answer wrong, because every path is decided before it is shown. It can
//! only make differences harder to find.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use memchr::memmem;

/// A word that stands for what a wildcard matches, and for what follows a pattern: one that is in none of the
/// patterns, so that it does not match anything else by accident.
pub(super) fn filler<'p>(patterns: &(impl Iterator<Item = &'p [u8]> + Clone)) -> &'static str {
    let words = ["x", "page", "example", "any-page"];
    let is_free = |word: &&&str| {
        !patterns.clone().any(|pattern| memmem::find(pattern, word.as_bytes()).is_some())
    };
    words.iter().find(is_free).copied().unwrap_or("no-such-page")
}

/// Paths that a pattern matches, the simplest first: with wildcards filled and left empty, with nothing after
/// the pattern and with something after it. They are made one by one, because a pattern can be as long as the file.
pub(super) fn paths<'p>(pattern: &'p [u8], filler: &'p str) -> impl Iterator<Item = String> + use<'p> {
    let exact = exact_paths(pattern, filler);
    let longer = exact.clone().flat_map(move |exact| {
        let longer = move |number: usize| match number {
            0 => format!("{exact}{filler}"),
            1 => format!("{}/{filler}", exact.strip_suffix('/').unwrap_or(&exact)),
            _ => format!("{exact}{}{filler}", if exact.contains('?') { '&' } else { '?' }),
        };
        (0..3).map(longer)
    });
    distinct(exact.chain(longer))
}

/// Each of some paths once. They are known by their hashes, which nobody can predict: of two with the same hash, one would
/// not be tried.
pub(super) fn distinct(paths: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let (mut seen, hasher) = (HashSet::new(), RandomState::new());
    paths.filter(move |path| seen.insert(hasher.hash_one(path)))
}

/// Paths that a pattern matches with nothing after it.
fn exact_paths<'p>(
    pattern: &'p [u8],
    filler: &'p str,
) -> impl Iterator<Item = String> + Clone + use<'p> {
    let body = str::from_utf8(pattern.strip_suffix(b"$").unwrap_or(pattern)).ok();
    let is_odd = |c: char| c.is_whitespace() || c.is_control();
    let body = body.filter(|body| body.starts_with(['/', '*']) && !body.contains(is_odd));
    let fillings = body.filter(|body| body.contains('*')).map(|_| filler).into_iter().chain([""]);
    body.into_iter().flat_map(move |body| {
        fillings.clone().map(move |with| {
            let path = body.replace('*', with);
            if path.starts_with('/') { path } else { format!("/{path}") }
        })
    })
}

/// The maximum length of patterns that are combined: this takes time in the product of their lengths.
const LONGEST_LAID_OVER: usize = 256;

/// A shortest text that two patterns both match, if there is one and they are short enough to look.
///
/// A breadth-first search over the positions in both patterns. If both are at a wildcard, the search moves on
/// without an octet.
pub(super) fn shared_path(one: &[u8], other: &[u8]) -> Option<String> {
    if one.len().max(other.len()) > LONGEST_LAID_OVER {
        return None;
    }
    let (one, other) = (steps(one), steps(other));
    let width = other.len() + 1;
    let start = 0;
    let goal = one.len() * width + other.len();
    // How each position was reached: from where, and by which octet.
    let mut from: Vec<Option<(usize, Option<u8>)>> = vec![None; (one.len() + 1) * width];
    from[start] = Some((start, None));
    let mut places = std::collections::VecDeque::from([start]);
    while let Some(place) = places.pop_front() {
        if place == goal {
            break;
        }
        let (at, other_at) = (place / width, place % width);
        let mut go = |to: usize, octet: Option<u8>| {
            if from[to].is_none() {
                from[to] = Some((place, octet));
                // A step without an octet has no cost.
                if octet.is_none() { places.push_front(to) } else { places.push_back(to) }
            }
        };
        match (one.get(at), other.get(other_at)) {
            (Some(Step::Octet(octet)), Some(Step::Octet(same))) if octet == same => {
                go(place + width + 1, Some(*octet));
            }
            (Some(Step::Wildcard), Some(Step::Octet(octet))) => {
                go(place + width, None);
                go(place + 1, Some(*octet));
            }
            (Some(Step::Octet(octet)), Some(Step::Wildcard)) => {
                go(place + 1, None);
                go(place + width, Some(*octet));
            }
            (Some(Step::Wildcard), Some(Step::Wildcard)) => {
                go(place + width, None);
                go(place + 1, None);
            }
            (Some(Step::Wildcard), None) => go(place + width, None),
            (None, Some(Step::Wildcard)) => go(place + 1, None),
            _ => {}
        }
    }
    let mut text = Vec::new();
    let mut place = goal;
    while place != start {
        let (before, octet) = from[place]?;
        text.extend(octet);
        place = before;
    }
    text.reverse();
    if text.first() != Some(&b'/') {
        text.insert(0, b'/'); // matched by the wildcard at the start
    }
    String::from_utf8(text).ok()
}

enum Step {
    Octet(u8),
    Wildcard,
}

fn steps(pattern: &[u8]) -> Vec<Step> {
    let (body, end) = match pattern.strip_suffix(b"$") {
        Some(body) => (body, None),
        None => (pattern, Some(Step::Wildcard)),
    };
    let step = |octet: &u8| if *octet == b'*' { Step::Wildcard } else { Step::Octet(*octet) };
    let mut steps: Vec<Step> = body.iter().map(step).chain(end).collect();
    // Wildcards that follow each other are one.
    steps.dedup_by(|one, other| matches!((one, other), (Step::Wildcard, Step::Wildcard)));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_their_paths() {
        assert!(paths(b"/a/", "x").eq(["/a/", "/a/x", "/a/?x"]));
        assert!(exact_paths(b"/*.pdf$", "x").eq(["/x.pdf", "/.pdf"]));
        assert!(exact_paths(b"*b", "x").eq(["/xb", "/b"]));
        assert_eq!(paths(b"a", "x").chain(paths(b"/a b", "x")).count(), 0);
        for pattern in [&b"/a*b*"[..], b"/", b"*", b"/a%2A$", b"/a?b"] {
            for path in paths(pattern, "x") {
                let target = crate::Target::from_path(&path).expect("a path");
                let anchored = pattern.ends_with(b"$");
                assert!(anchored || crate::PathPattern::new(pattern).matches(&target), "{path}");
            }
        }
    }

    #[test]
    fn what_two_patterns_share() {
        let shared = |one: &str, other: &str| shared_path(one.as_bytes(), other.as_bytes());
        assert_eq!(shared("/a", "/*.css$").as_deref(), Some("/a.css"));
        assert_eq!(shared("/a*z", "/*b$").as_deref(), Some("/azb"));
        assert_eq!(shared("*a", "*b").map(|path| path.len()), Some(3));
        assert_eq!(shared("/", "/a$").as_deref(), Some("/a"));
        assert_eq!(shared("/a$", "/b"), None);
        assert_eq!(shared("/a$", "/a/"), None);
    }

    #[test]
    fn the_filler_is_in_no_pattern() {
        assert_eq!(filler(&[&b"/a"[..]].into_iter()), "x");
        assert_eq!(filler(&[&b"/index"[..], b"/page"].into_iter()), "example");
    }
}
