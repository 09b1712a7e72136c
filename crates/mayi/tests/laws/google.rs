//! Law 12: the google dialect decides as google/robotstxt does.
//!
//! The model below is written from what that parser and matcher do, as the dialect lists it under
//! "Dialects" and as their code shows it; it shares nothing with the library. It walks over the lines
//! once, with the state that the original has: which kinds of agent the current group was seen to
//! name, whether a rule has been seen behind them, and the best rules so far.

use mayi::Dialect;

use super::{Question, read};

/// The dialect allows what the model allows, by the rule on the same line.
pub(crate) fn the_dialect_is_the_model(question: &Question) {
    let Some((crawler, target)) = question.asked() else { return };
    if authority_has_nul(&question.url) {
        return;
    }
    let model = model(&question.robots, &question.agent, &question.url);
    let robots = read(&question.robots, &Dialect::GOOGLE);
    let decision = robots.decide(&crawler, &target);
    assert_eq!(decision.is_allowed(), model.is_none_or(|best| best.allows), "{question:?}");
    let line = decision.rule().map(|rule| rule.line().number());
    assert_eq!(line, model.map(|best| best.line), "{question:?}");
    let octets = decision.rule().map(mayi::DecidingRule::octets);
    assert_eq!(octets, model.map(|best| best.length), "{question:?}");
}

/// The rule that decides in the model.
#[derive(Clone, Copy, Debug)]
struct Best {
    allows: bool,
    length: usize,
    line: u32,
}

/// The best rules of one kind of group.
#[derive(Clone, Copy, Default)]
struct Scores {
    allow: Option<Best>,
    disallow: Option<Best>,
}

impl Scores {
    /// Takes a rule that matches. At equal length the earlier line stays; an empty pattern matches
    /// and decides nothing.
    fn take(&mut self, rule: Best) {
        let score = if rule.allows { &mut self.allow } else { &mut self.disallow };
        if rule.length > score.map_or(0, |best| best.length) {
            *score = Some(rule);
        }
    }

    /// A disallow rule has to be longer than the allow rules.
    fn winner(self) -> Option<Best> {
        match (self.allow, self.disallow) {
            (Some(allow), Some(disallow)) if disallow.length <= allow.length => Some(allow),
            (allow, disallow) => disallow.or(allow),
        }
    }
}

fn model(robots: &[u8], agent: &str, url: &str) -> Option<Best> {
    let path = path_of(url);
    let [mut specific, mut global] = [Scores::default(); 2];
    let (mut in_specific, mut in_global, mut rule_seen, mut ever_specific) =
        (false, false, false, false);
    for (line, number) in lines(robots).into_iter().zip(1..) {
        let Some((key, value)) = key_and_value(&line) else { continue };
        match kind_of(&key) {
            Kind::UserAgent => {
                if rule_seen {
                    (in_specific, in_global, rule_seen) = (false, false, false);
                }
                match value[..] {
                    [b'*'] => in_global = true,
                    [b'*', next, ..] if is_space(next) => in_global = true,
                    _ => {
                        let in_name = |octet: &u8| octet.is_ascii_alphabetic() || b"-_".contains(octet);
                        let name: Vec<u8> = value.iter().copied().take_while(|o| in_name(o)).collect();
                        if name.eq_ignore_ascii_case(agent.as_bytes()) {
                            (in_specific, ever_specific) = (true, true);
                        }
                    }
                }
            }
            Kind::Rule { allows } if in_specific || in_global => {
                rule_seen = true;
                let scores = if in_specific { &mut specific } else { &mut global };
                let pattern = escape_pattern(&value);
                let length = pattern.len();
                if matches(&pattern, &path) {
                    scores.take(Best { allows, length, line: number });
                } else if allows && let Some(folder) = folder_of_index_page(&pattern) {
                    let length = folder.len();
                    if matches(&folder, &path) {
                        scores.take(Best { allows, length, line: number });
                    }
                }
            }
            Kind::Rule { .. } | Kind::Other => {}
        }
    }
    if ever_specific { specific.winner() } else { global.winner() }
}

/// The lines, as much of each as is read: what fits into 16,663 octets, up to a NUL. As much of a
/// byte order mark as stands at the start is passed over.
fn lines(robots: &[u8]) -> Vec<Vec<u8>> {
    let mut body = robots;
    for mark in [0xEF, 0xBB, 0xBF] {
        match body.split_first() {
            Some((&first, rest)) if first == mark => body = rest,
            _ => break,
        }
    }
    let mut lines = vec![Vec::new()];
    let mut previous = 0;
    for &octet in body {
        match octet {
            b'\n' if previous == b'\r' => {}
            b'\n' | b'\r' => lines.push(Vec::new()),
            _ => lines.last_mut().expect("there is one").push(octet),
        }
        previous = octet;
    }
    for line in &mut lines {
        line.truncate(16_663);
        line.truncate(line.iter().position(|&octet| octet == 0).unwrap_or(line.len()));
    }
    lines
}

/// What stands before and behind the colon, or the white space that does for one between exactly two
/// words. A key is never empty.
fn key_and_value(line: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let line = line.split(|&octet| octet == b'#').next().unwrap_or_default();
    let line = stripped(line);
    let blank = |octet: &u8| b" \t".contains(octet);
    let separator = if let Some(colon) = line.iter().position(|&octet| octet == b':') {
        colon
    } else {
        let words = line.split(blank).filter(|word| !word.is_empty()).count();
        if words != 2 {
            return None;
        }
        line.iter().position(blank)?
    };
    let key = stripped(&line[..separator]);
    (!key.is_empty()).then(|| (key.to_vec(), stripped(&line[separator + 1..]).to_vec()))
}

enum Kind {
    UserAgent,
    Rule { allows: bool },
    Other,
}

/// A key counts by how it starts, ignoring case.
fn kind_of(key: &[u8]) -> Kind {
    let key = String::from_utf8_lossy(key).to_ascii_lowercase();
    let starts_with_one_of = |names: &[&str]| names.iter().any(|name| key.starts_with(name));
    if starts_with_one_of(&["user-agent", "useragent", "user agent"]) {
        Kind::UserAgent
    } else if starts_with_one_of(&["allow"]) {
        Kind::Rule { allows: true }
    } else if starts_with_one_of(&[
        "disallow",
        "dissallow",
        "dissalow",
        "disalow",
        "diasllow",
        "disallaw",
    ]) {
        Kind::Rule { allows: false }
    } else {
        Kind::Other
    }
}

/// Escapes get upper-case digits, octets outside ASCII become escapes, the rest stays.
fn escape_pattern(value: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::new();
    let mut rest = value;
    while let [first, behind @ ..] = rest {
        rest = behind;
        match (first, behind) {
            (b'%', [high, low, behind @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                escaped.extend([b'%', high.to_ascii_uppercase(), low.to_ascii_uppercase()]);
                rest = behind;
            }
            (0x80.., _) => escaped.extend(format!("%{first:02X}").bytes()),
            _ => escaped.push(*first),
        }
    }
    escaped
}

/// `/a/index.html` allows `/a/` too.
fn folder_of_index_page(pattern: &[u8]) -> Option<Vec<u8>> {
    let slash = pattern.iter().rposition(|&octet| octet == b'/')?;
    let (folder, name) = pattern.split_at(slash + 1);
    name.starts_with(b"index.htm").then(|| [folder, b"$"].concat())
}

/// `*` is any run, `$` the end where it is last; an empty pattern matches everything. The places that
/// the pattern can have led to are kept in a list, without any cleverness.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let mut places = vec![0];
    for (at, &octet) in pattern.iter().enumerate() {
        if octet == b'$' && at + 1 == pattern.len() {
            return places.contains(&path.len());
        }
        places = match octet {
            b'*' => places.first().map_or(Vec::new(), |&first| (first..=path.len()).collect()),
            _ => {
                places.into_iter().filter(|&at| path.get(at) == Some(&octet)).map(|at| at + 1).collect()
            }
        };
    }
    !places.is_empty()
}

/// From the first `/`, `?` or `;` behind the scheme up to the fragment; `/` where there is none. What
/// is behind a NUL in it is not compared.
fn path_of(url: &str) -> Vec<u8> {
    const STARTS: [char; 3] = ['/', '?', ';'];
    let behind_scheme = match (url.find("://"), url.find(STARTS)) {
        (Some(scheme), first) if first.is_none_or(|first| first > scheme) => scheme + 3,
        _ => 0,
    };
    let end = url.find('#').unwrap_or(url.len());
    let path = match url[behind_scheme..].find(STARTS).map(|start| behind_scheme + start) {
        Some(start) if start < end && url[start..].starts_with('/') => url[start..end].to_owned(),
        Some(start) if start < end => format!("/{}", &url[start..end]),
        _ => "/".to_owned(),
    };
    path.split('\0').next().unwrap_or_default().as_bytes().to_vec()
}

fn stripped(octets: &[u8]) -> &[u8] {
    let Some(start) = octets.iter().position(|&octet| !is_space(octet)) else { return &[] };
    let end = octets.iter().rposition(|&octet| !is_space(octet)).map_or(start, |last| last + 1);
    &octets[start..end]
}

/// White space as C has it, the vertical tab included.
fn is_space(octet: u8) -> bool {
    matches!(octet, b' ' | b'\t'..=b'\r')
}

/// A NUL in the authority is where the two part: the original looks for the path behind it, the
/// library ends the URL there. No URL that was ever fetched has one.
fn authority_has_nul(url: &str) -> bool {
    let authority = url.split_once("://").map_or("", |(_, behind)| behind);
    let end = authority.find(['/', '?', '#', ';']).unwrap_or(authority.len());
    authority[..end].contains('\0')
}
