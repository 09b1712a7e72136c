//! Octets → the input of a law: one function for each fuzz target.
//!
//! An input is split at 0xFF into its parts, the longest last, so that seeds are texts that can be
//! read. In an input that starts with 0xFE every octet from 0x80 on stands for a word of the grammar,
//! so that a mutation of one octet is a change of one word. `tests/laws.rs` sends the seeds of every
//! target through these doors too: a finding that was kept as a seed stays found without a fuzzer.

use mayi::access::{AfterUnreachable, Keeping};

use super::access::Response;
use super::{
    Question, access, decide, edit, extensions, format, google, json, lint, matcher, meaning, overview,
    page, text, url, uses,
};

/// A fuzz target: its name, and what it does with an input.
pub(crate) type Door = (&'static str, fn(&[u8]));

/// Every fuzz target.
pub(crate) const ALL: &[Door] = &[
    ("parse", parse),
    ("matcher", matcher),
    ("starts", starts),
    ("url", url),
    ("decide", decide),
    ("line_ends", line_ends),
    ("request_json", request_json),
    ("google_model", google_model),
    ("access", access),
    ("extensions", extensions),
    ("format", format),
    ("meaning", meaning),
    ("edit", edit),
    ("overview", overview),
    ("page", page),
    ("lint", lint),
];

/// `charset FF file`: laws 6 and 8.
pub(crate) fn parse(input: &[u8]) {
    let [charset, file] = parts(input);
    let charset = String::from_utf8_lossy(&charset);
    text::any_octets_are_a_file(&file, Some(&*charset).filter(|label| !label.is_empty()));
    text::lines_joined_are_the_text(&file);
}

/// `path FF pattern`: law 1.
pub(crate) fn matcher(input: &[u8]) {
    let [path, pattern] = parts(input);
    matcher::fast_equals_naive(&pattern, &url_of(&path));
}

/// `choices FF path`: the law of REP-11. The length of the choices says how much of the path is the pattern.
pub(crate) fn starts(input: &[u8]) {
    let [choices, path] = parts(input);
    matcher::a_start_matches(&lossy(&path), choices.len());
    for octets in 1..path.len().min(64) {
        matcher::a_start_matches(&lossy(&path), octets);
    }
}

/// A URL: the law of REP-7.
pub(crate) fn url(input: &[u8]) {
    let [url] = parts(input);
    url::a_url_is_what_clients_read(&lossy(&url));
}

/// `agent FF path FF choices FF file`: laws 2, 3 and 4.
pub(crate) fn decide(input: &[u8]) {
    let (question, choices) = question(input);
    decide::every_way_gives_the_same_decision(&question);
    decide::the_decision_is_the_naive_one(&question);
    decide::other_groups_do_not_matter(&question, &choices);
}

/// `agent FF path FF choices FF file`: laws 5 and 7.
pub(crate) fn line_ends(input: &[u8]) {
    let (question, choices) = question(input);
    text::line_ends_do_not_matter(&question, &choices);
    text::other_lines_do_not_matter(&question, &choices);
}

/// Either JSON, or `agent FF path FF choices FF file` to be made into JSON: law 9.
pub(crate) fn request_json(input: &[u8]) {
    json::any_octets_get_an_answer(input);
    let (question, choices) = question(input);
    json::a_request_is_answered_like_the_question(&question, !choices.is_empty());
}

/// `agent FF path FF choices FF file`: law 12. There is nothing to choose.
pub(crate) fn google_model(input: &[u8]) {
    google::the_dialect_is_the_model(&question(input).0);
}

/// `url FF times FF responses FF header fields`: law 10. Times are three numbers in a row, a response
/// is a status and a location on a line of its own, or anything else for an error, and a header field
/// is a line as HTTP has it.
pub(crate) fn access(input: &[u8]) {
    let [url, times, responses, fields] = parts(input).map(|part| lossy(&part));
    let response = |line: &str| -> Response {
        let (status, location) = line.split_once(' ').map_or((line, None), |(s, l)| (s, Some(l)));
        Some((status.parse().ok()?, location.map(str::to_owned)))
    };
    access::an_attempt_is_short(&url, &responses.lines().map(response).collect::<Vec<_>>());

    let mut times = times.split(' ').map(|time| time.parse().ok());
    let mut time = || times.next().flatten();
    let (now, since, copy) = (time().unwrap_or_default(), time().unwrap_or_default(), time());
    let field = |line: &str| line.split_once(':').map(|(n, v)| (n.to_owned(), v.to_owned()));
    access::freshness_is_bounded(&fields.lines().filter_map(field).collect::<Vec<_>>(), now);
    for after_unreachable in [AfterUnreachable::Copy, AfterUnreachable::Unavailable] {
        let mut keeping = Keeping::default();
        keeping.after_unreachable = after_unreachable;
        keeping.unavailable_uses_copy = now.is_multiple_of(2);
        access::what_is_in_force_is_there(&keeping, copy, since, now);
    }
}

/// `agent FF path FF choices FF file`: the laws of the extensions. The choices are the applications and
/// what the header says.
pub(crate) fn extensions(input: &[u8]) {
    let (question, choices) = question(input);
    uses::uses_never_contradict_each_other(&question, &choices);
    extensions::directives_do_not_depend_on_access(&question);
    extensions::a_header_only_restricts(&question);
    extensions::what_is_switched_off_does_not_matter(&question);
}

/// `agent FF path FF choices FF file`: law 13. The choices say which extensions are off.
pub(crate) fn format(input: &[u8]) {
    let (question, choices) = question(input);
    format::laying_out_changes_nothing(&question, &choices);
}

/// `agent FF path FF choices FF file`: laws 14 and 15. The choices make another file of it.
pub(crate) fn meaning(input: &[u8]) {
    let (question, choices) = question(input);
    let robots = meaning::nearly_the_same(&question.robots, &choices);
    meaning::a_diff_is_true(&question, &Question { robots, ..question.clone() });
    meaning::a_comparison_is_true(&question);
}

/// `agent FF path FF choices FF file`: law 16. The choices make the goal.
pub(crate) fn edit(input: &[u8]) {
    let (question, choices) = question(input);
    edit::an_edit_does_what_was_asked(&question, &choices);
    edit::a_statement_is_said_and_nothing_else(&question, &choices);
}

/// `agent FF path FF choices FF file`: law 17.
pub(crate) fn overview(input: &[u8]) {
    let (question, choices) = question(input);
    overview::an_overview_is_true(&question, &choices);
}

/// `Robots-Tag FF X-Robots-Tag FF HTML`: the laws of page controls. The length of the first says how
/// long the chunks are.
pub(crate) fn page(input: &[u8]) {
    let [tag, old, html] = parts(input);
    page::chunks_do_not_matter(&html, tag.len());
    let fields = [("Robots-Tag".to_owned(), lossy(&tag)), ("X-Robots-Tag".to_owned(), lossy(&old))];
    page::more_is_more_restrictive(&fields, &lossy(&html));
}

/// `agent FF path FF choices FF file`: the laws of linting. There is nothing to choose.
pub(crate) fn lint(input: &[u8]) {
    let (question, _) = question(input);
    lint::any_octets_can_be_linted(&question.robots);
    lint::safe_fixes_are_safe(&question);
}

/// A question, and the choices that a law may have to make.
fn question(input: &[u8]) -> (Question, Vec<u8>) {
    let [agent, path, choices, robots] = parts(input);
    let agent = if agent.is_empty() { "a".to_owned() } else { lossy(&agent) };
    (Question { robots, agent, url: url_of(&path) }, choices)
}

/// A whole URL as it is; anything else as what stands behind an authority.
fn url_of(path: &[u8]) -> String {
    let path = lossy(path);
    if path.starts_with("http") { path } else { format!("https://h{path}") }
}

/// Splits an input, and spells out the words where it is made of them. Parts that are not there are
/// empty.
fn parts<const COUNT: usize>(input: &[u8]) -> [Vec<u8>; COUNT] {
    let words = input.strip_prefix(b"\xFE");
    let mut parts = words.unwrap_or(input).splitn(COUNT, |&octet| octet == 0xFF);
    std::array::from_fn(|_| {
        let part = parts.next().unwrap_or_default();
        if words.is_some() { spelled_out(part) } else { part.to_vec() }
    })
}

fn spelled_out(words: &[u8]) -> Vec<u8> {
    let spell = |word: &u8| match word.checked_sub(0x80) {
        Some(index) => WORDS[usize::from(index) % WORDS.len()].to_vec(),
        None => vec![*word],
    };
    words.iter().flat_map(spell).collect()
}

/// The words of the grammar, and of its edges.
const WORDS: &[&[u8]] = &[
    b"\nUser-agent: *\n",
    b"\nUser-agent: a\n",
    b"\nUser-agent: ",
    b"\nDisallow: /",
    b"\nAllow: /",
    b"\nDisallow: ",
    b"\nAllow: ",
    b"\nDisallow: *",
    b"\nX-Thing: ",
    b"\nSitemap: ",
    b"\nCrawl-delay: ",
    b"\nUser-agent-purpose: ",
    b"\nApp-Directives: ",
    b"\nContent-Usage: ",
    b".*",
    b"|",
    b" Disallow: ",
    b"\ndisalow ",
    b"\nuseragent\t",
    b"\nDisallowed : ",
    b"/",
    b"*",
    b"$",
    b"%2A",
    b"%2a",
    b"%24",
    b"%2F",
    b"%2f",
    b"%3A",
    b"%3F",
    b"%41",
    b"%25",
    b"%",
    b"?",
    b":",
    b"#",
    b"/../",
    b"/./",
    b"%2e",
    b"index.html",
    b"/robots.txt",
    b"\xC3\xA9",
    b"%C3%A9",
    b"\xE9",
    b"\r",
    b"\n",
    b"\r\n",
    b"\0",
    b" ",
    b"\t",
    b"\x0B",
    b"\xEF\xBB\xBF",
    b"aaaa",
    b"abab",
];

fn lossy(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}
