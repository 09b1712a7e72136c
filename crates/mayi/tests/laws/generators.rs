//! What the laws are tried on: files, URLs and patterns made of few words, so that they meet.
//!
//! A random pattern hardly ever matches a random URL. Here both come from the same small alphabet,
//! and half of the URLs are made from the pattern they are asked about, with its wildcards filled and
//! its characters written another way.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::laws::Question;

/// Words of paths and patterns.
const WORDS: &[&str] = &[
    "/",
    "/",
    "/",
    "a",
    "a",
    "b",
    "ab",
    "aaaa",
    "*",
    "*",
    "$",
    "%",
    "2",
    "A",
    "4",
    "F",
    "?",
    "?",
    ":",
    "@",
    "[",
    "=",
    "&",
    ";",
    ".",
    "%2A",
    "%2a",
    "%24",
    "%2F",
    "%2f",
    "%3A",
    "%3a",
    "%3F",
    "%40",
    "%41",
    "%61",
    "%25",
    "%zz",
    "%7e",
    "~",
    "é",
    "%C3%A9",
    "%c3",
    " ",
    "%20",
    "|",
    "\\",
    "\0",
    "/./",
    "/../",
    "%2e",
    "index.htm",
    "/index.htm",
    "index.html",
    "robots.txt",
    "http://a",
    "#",
    "%23",
    "(",
    "%28",
    "'",
    "%27",
    "%5B",
    "\t",
    "\u{c}",
];

/// Other ways to write a word, some of which mean the same.
fn rewritten(word: &str, choice: u8) -> &str {
    let ways: &[&str] = match word {
        "*" => &["", "a", "/b", "*", "%2A", "?a:b", "aab"],
        "%2A" | "%2a" => &["*", "%2A", "%2a", "a"],
        "$" => &["$", "%24", ""],
        "%24" => &["$", "%24", "a"],
        ":" | "%3A" | "%3a" => &[":", "%3A", "%3a"],
        "?" | "%3F" => &["?", "?", "%3F"],
        "/" | "%2F" | "%2f" => &["/", "/", "/", "%2F", "%2f", "//"],
        "@" | "%40" => &["@", "%40"],
        "(" | "%28" => &["(", "%28"],
        "'" | "%27" => &["'", "%27"],
        "[" | "%5B" => &["[", "%5B", "%5b"],
        "A" | "%41" => &["A", "%41", "a"],
        "a" | "%61" => &["a", "a", "%61", "A"],
        "é" | "%C3%A9" => &["é", "%C3%A9", "%c3%a9"],
        " " | "%20" => &[" ", "%20", "+"],
        "~" | "%7e" => &["~", "%7E"],
        other => return other,
    };
    ways[usize::from(choice) % ways.len()]
}

fn words(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    vec(select(WORDS), 0..most)
}

/// A pattern as it may stand in a file.
pub(crate) fn pattern() -> impl Strategy<Value = String> {
    let start = select(&["/", "/", "/", "/", "*", "", "/*"][..]);
    let end = select(&["", "", "", "$", "*", "*$", "%24"][..]);
    (start, words(7), end).prop_map(|(start, words, end)| format!("{start}{}{end}", words.concat()))
}

/// A URL with these words behind its authority.
fn url_with(path: &str) -> String {
    let path = path.replace(['\r', '\n'], "");
    if path.starts_with(['/', '?', '#']) || path.is_empty() {
        format!("https://h{path}")
    } else {
        format!("https://h/{path}")
    }
}

/// A URL, now and then an odd one.
pub(crate) fn url() -> impl Strategy<Value = String> {
    let plain = words(9).prop_map(|words| url_with(&format!("/{}", words.concat())));
    let odd = (select(&["", "?", "#", "//", "/robots.txt", "/?#", "/a#b"][..]), words(4))
        .prop_map(|(start, words)| url_with(&format!("{start}{}", words.concat())));
    let strange =
        select(&["http://h;p/a", "ftp://h/a", "https://u@h:8/a", "https://[::1]?a", "h/a"][..]);
    prop_oneof![8 => plain, 2 => odd, 1 => strange.prop_map(str::to_owned)]
}

/// A URL as nobody should write it, and as clients read it all the same.
pub(crate) fn untidy_url() -> impl Strategy<Value = String> {
    let before = select(&["", "", "", " ", "\u{1}", "\n ", "\u{a0}"][..]);
    let scheme = select(&["https", "http", "HTTP", "ht\ttps", "ftp", "h", "https "][..]);
    let slashes = select(&["://", "://", ":", ":/", ":///", ":\\\\", ":/\\", ":\t/\n/", ""][..]);
    let host = select(
        &[
            "h",
            "h",
            "EXAMPLE.com",
            "example.com:443",
            "h:80",
            "h:",
            "h:00080",
            "h:x",
            "h:99999",
            "h:80:80",
            "u@h",
            "u:p@h",
            "u@i@h",
            "@h",
            "@",
            "u@",
            ":80",
            "[::1]",
            "[::1]:8",
            "[::1",
            "::1]",
            "[::1]x:8",
            "127.1",
            "0x7f.1",
            "1.2.3.4.5",
            "256.256.256.256",
            "bücher.example",
            "xn--",
            "h%41",
            "h%2Fx",
            "a b",
            "a\tb",
            "h|",
            "",
            "..",
            "h\\@i",
        ][..],
    );
    let after = select(&["", "", "", " ", "\n", "\u{1f} ", "\u{a0}"][..]);
    let tail = select(&["", "/", "\\", "?", "#", "/", "/"][..]);
    (before, scheme, slashes, host, tail, words(6), after).prop_map(
        |(before, scheme, slashes, host, tail, words, after)| {
            let words = if tail.is_empty() { String::new() } else { words.concat() };
            format!("{before}{scheme}{slashes}{host}{tail}{words}{after}")
        },
    )
}

/// A pattern, and a URL that is made from it or from nothing.
pub(crate) fn pattern_and_url() -> impl Strategy<Value = (String, String)> {
    let related = (words(9), vec(any::<u8>(), 9), select(&["", "$", "*$", "*"][..]), words(2))
        .prop_map(|(words, choices, end, more)| {
            let path: String =
                words.iter().zip(choices).map(|(word, choice)| rewritten(word, choice)).collect();
            let url = url_with(&format!("/{path}{}", more.concat()));
            (format!("/{}{end}", words.concat()), url)
        });
    prop_oneof![2 => related, 1 => (pattern(), url())]
}

/// The product token of a crawler.
pub(crate) fn agent() -> impl Strategy<Value = String> {
    let others = select(&["b", "ab", "a-b", "a_", "a1", "a.b", "MJ12bot"][..]);
    prop_oneof![3 => select(&["a", "A"][..]), 1 => others].prop_map(str::to_owned)
}

fn line_end() -> impl Strategy<Value = &'static str> {
    select(&["\n", "\n", "\r\n", "\r"][..])
}

fn user_agent_line() -> impl Strategy<Value = String> {
    let names = &[
        "User-agent:",
        "User-agent: ",
        "user-AGENT :\t",
        "useragent:",
        "User agent: ",
        "User-agent ",
        "User-Agent-Purpose: ",
    ];
    let values = &[
        "*", "*", "a", "a", "A/1.0", "ab", "a-b", "a*", "b", "a1", "a b", "* x", "*\tx", "*\u{c}x",
        "*x", "", "a.b c", "MJ12bot",
    ];
    // Regular expressions, and rules on the same line (AIA-2, AIA-5).
    let extended =
        &[".*", "[ab]+", "a|b", "^a$", "(", "a Disallow: /", "* Allow : /a", "b.* Disallow:/"];
    let name = prop_oneof![4 => Just("User-agent: "), 1 => select(&names[..])];
    let value = prop_oneof![9 => select(&values[..]), 1 => select(&extended[..])];
    (name, value).prop_map(|(name, value)| format!("{name}{value}"))
}

fn rule_line() -> impl Strategy<Value = String> {
    let usual = select(&["Disallow: ", "Allow: "][..]);
    let odd = select(
        &[
            "disallow:",
            "ALLOW :\t",
            " Disallow: ",
            "Disallow ",
            "Allow\t",
            "dissallow: ",
            "disalow ",
            "Disallowed: ",
            "Allowance: ",
            "diasllow:",
        ][..],
    );
    let comment = select(&["", "", "", " # c", "#", " ", "\t", "\u{b}"][..]);
    let name = prop_oneof![4 => usual, 1 => odd];
    (name, pattern(), comment).prop_map(|(name, pattern, comment)| format!("{name}{pattern}{comment}"))
}

fn other_line() -> impl Strategy<Value = String> {
    let lines = &[
        "",
        "",
        "#",
        "# User-agent: a",
        " \t",
        "X-Thing: y",
        "Sitemap: https://h/s.xml",
        "site-map s",
        "Crawl-delay: 1.5",
        "Crawl-delay: x",
        "what is this",
        ": /",
        "Disallow",
        "\u{0}Disallow: /",
        "User-agent",
        "Noindex: /",
        "\u{feff}Disallow: /",
        "User-Agent-Purpose: a",
        "App-Directives: /a x;y",
        "Content-Usage: train-ai=n",
        "DisallowAITraining: /",
        "Content-Signal: a=b",
    ];
    select(&lines[..]).prop_map(str::to_owned)
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![3 => user_agent_line(), 5 => rule_line(), 2 => other_line()]
}

/// A file of a few groups, with every kind of line end, mark and slip. Most have rules for somebody.
pub(crate) fn robots() -> impl Strategy<Value = Vec<u8>> {
    let start = select(&["User-agent: *\n", "User-agent: a\n", "user-agent:a/2\r\n", ""][..]);
    let text =
        (start, vec((line(), line_end()), 0..14), any::<bool>()).prop_map(|(start, lines, ends)| {
            let lines = lines.into_iter().flat_map(|(line, end)| [line, end.to_owned()]);
            let mut text: String = std::iter::once(start.to_owned()).chain(lines).collect();
            if !ends {
                text.truncate(text.trim_end_matches(['\r', '\n']).len());
            }
            text
        });
    let marks: &[&[u8]] = &[b"", b"", b"", b"", b"\xEF\xBB\xBF", b"\xEF\xBB", b"\xEF\xBB\xBF\xEF"];
    let marked = (select(marks), text).prop_flat_map(|(mark, text)| {
        let octets = [mark, text.as_bytes()].concat();
        prop_oneof![9 => Just(octets), 1 => Just(utf_16(&text))]
    });
    let marked = marked.boxed();
    let read = prop_oneof![5 => marked.clone(), 1 => strewn(marked)];
    prop_oneof![19 => read, 1 => vec(any::<u8>(), 0..60)]
}

/// Octets that hardly anybody writes: white space that is not trimmed everywhere, controls, and parts of
/// characters.
const ODD_OCTETS: &[u8] = b"\x0C\x0B\0\x1C\x7F\x80\xBF\xC3\xE2\xF0\xFE\xFF";

/// A file with odd octets in it, at the ends of its values above all.
fn strewn(file: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let places = vec((any::<prop::sample::Index>(), select(ODD_OCTETS), 0..4_u8), 1..4);
    (file, places).prop_map(|(mut octets, places)| {
        for (index, odd, how) in places {
            let ends: Vec<usize> = (0..=octets.len())
                .filter(|at| octets.get(*at).is_none_or(|octet| b"\r\n:".contains(octet)))
                .collect();
            let at = *index.get(&ends);
            match how {
                // A value that is nothing else.
                0 => {
                    let colon = octets[..at].iter().rposition(|octet| b"\r\n:".contains(octet));
                    octets.splice(colon.map_or(at, |colon| colon + 1)..at, [b' ', odd]);
                }
                1 => octets.insert(index.index(octets.len() + 1), odd),
                _ => octets.insert(at + usize::from(how == 3 && at < octets.len()), odd),
            }
        }
        octets
    })
}

fn utf_16(text: &str) -> Vec<u8> {
    let octets = text.encode_utf16().flat_map(u16::to_le_bytes);
    [0xFF, 0xFE].into_iter().chain(octets).collect()
}

/// A file with much in it that a lint has a fix for: repeated lines, wildcards at the end, names with
/// versions, blank rules, slips and remarks.
pub(crate) fn untidy() -> impl Strategy<Value = Vec<u8>> {
    let start = select(
        &[
            "User-agent: a",
            "user-agent: a # c",
            "User-agent: *",
            "User-agent: a/1.0",
            "User-agent: b*",
            "useragent: ab",
            "User-agents: b",
            "User-agent a",
        ][..],
    );
    let rule = select(
        &[
            "Disallow: /a*",
            "Allow: /a*",
            "Disallow: /a",
            "Allow: /ab",
            "Disallow: /*",
            "Disallow: /ab*$",
            "Disallow:",
            "Allow: # all",
            "Disallow /a",
            "disalow: /b # d",
            "Allowed: /a",
            "Disallow: /%61*",
            "DisallowAITraining: /a",
            "Content-Usage: train-ai=n",
        ][..],
    );
    let other =
        select(&["", "a remark", "# e", "\u{feff}# f", "Crawl-delay: 1", "/a", "X: y", "mayi"][..]);
    let line = prop_oneof![3 => start, 6 => rule, 2 => other];
    let file = (vec((line, line_end()), 1..16), any::<bool>()).prop_map(|(lines, ends)| {
        let mut text: String = lines.into_iter().flat_map(|(line, end)| [line, end]).collect();
        if !ends {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text.into_bytes()
    });
    let file = file.boxed();
    prop_oneof![5 => file.clone(), 1 => strewn(file)]
}

/// A file with one group of many rules, every other time so many that preparing it makes an index. Some rules
/// are there twice.
pub(crate) fn large_group() -> impl Strategy<Value = Vec<u8>> {
    let repeated = vec(any::<prop::sample::Index>(), 0..20);
    let rules = prop_oneof![vec(rule_line(), 20..240), vec(rule_line(), 257..300)];
    (rules, repeated).prop_map(|(mut rules, repeated)| {
        let copies: Vec<_> = repeated.iter().map(|index| index.get(&rules).clone()).collect();
        rules.extend(copies);
        format!("User-agent: *\n{}\n", rules.join("\n")).into_bytes()
    })
}

/// A question about a file with one very long value, as long as a record can say and longer, or as
/// long as the google dialect reads a line and longer.
pub(crate) fn question_of_long_value() -> impl Strategy<Value = Question> {
    let around = |length: usize| length - 16..length + 4;
    let length = prop_oneof![around(16_663), around(65_535), around(65_535 * 2)];
    let end = select(&["", "$", "*", " # c", "\t", "%41", "\0b"][..]);
    (length, end, rule_line(), select(&["aa", "b"][..])).prop_map(|(length, end, rule, path)| {
        let pattern = "a".repeat(length);
        let robots = format!("User-agent: a\n Disallow: /{pattern}{end}\r\n{rule}\n").into_bytes();
        Question { robots, agent: "a".to_owned(), url: url_with(path) }
    })
}

/// A question about such a file. Most of the URLs are made from a pattern of the file.
pub(crate) fn question_of(robots: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Question> {
    let index = any::<prop::sample::Index>();
    let choices = vec(any::<u8>(), 8);
    let related = prop::bool::weighted(0.75);
    (robots, agent(), url(), index, choices, related).prop_map(
        |(robots, agent, url, index, choices, related)| {
            let text = String::from_utf8_lossy(&robots).replace('\0', "");
            let lines = text.split(['\r', '\n']).filter_map(|line| line.split('#').next());
            let patterns: Vec<_> =
                lines.filter_map(|line| line.find('/').map(|at| line[at..].trim())).collect();
            let url = if related && !patterns.is_empty() {
                let pattern = index.get(&patterns);
                url_with(&filled(pattern.strip_suffix('$').unwrap_or(pattern), &choices))
            } else {
                url
            };
            Question { robots, agent, url }
        },
    )
}

/// A pattern with something in the place of each wildcard.
fn filled(pattern: &str, choices: &[u8]) -> String {
    let mut pieces = pattern.split('*');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for (piece, &choice) in pieces.zip(choices.iter().cycle()) {
        filled += rewritten("*", choice);
        filled += piece;
    }
    filled
}

/// A question about a small file.
pub(crate) fn question() -> impl Strategy<Value = Question> {
    question_of(robots())
}

/// What the laws that change a file choose by.
pub(crate) fn choices() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 1..12)
}

/// How a line starts, and what comes behind that again and again.
pub(crate) fn what_repeats() -> impl Strategy<Value = (&'static str, String)> {
    let starts = &[
        "",
        "User-agent: ",
        "User-agent: a",
        "Disallow: ",
        "Disallow: /",
        "Disallow: /*$%24",
        "Disallow: /?:",
        "useragent ",
        "App-Directives: ",
        "Content-Usage: ",
        "Content-Signal: ",
        "Sitemap: ",
        "x",
    ];
    let words = &[
        " ",
        "\t",
        ":",
        "/",
        "a",
        "b",
        "*",
        "$",
        "%24",
        "%2A",
        "%3A",
        "?",
        "#",
        ";",
        ",",
        "=",
        "(",
        "[",
        "|",
        ".*",
        "\"",
        " Disallow: ",
        "\nDisallow: /",
        "\nUser-agent: ",
        "\r",
        "\n",
        "..",
        "/../",
        "\u{e9}",
        "%",
        "\0",
    ];
    (select(&starts[..]), vec(select(&words[..]), 1..4).prop_map(|words| words.concat()))
}

/// Files that speak about uses, in lines that are mostly right.
pub(crate) fn preferring() -> impl Strategy<Value = Vec<u8>> {
    let line = select(vec![
        "User-agent: *",
        "User-agent: a",
        "User-agent: ExampleAssistant",
        "User-agent: Example.*",
        "Disallow: /a/b",
        "Content-Usage: train-ai=n",
        "Content-Usage: train-ai=y, search=n",
        "Content-Usage: /a search=y, x=n",
        "Content-Usage: /a train-ai=y",
        "Content-Usage: /a train-ai=n search=n",
        "Content-Usage: /a",
        "Content-Usage: Search=n",
        "App-Directives: exampleassistant;learn",
        "App-Directives: exampleassistant;learn=?0;listing=full",
        "App-Directives: /a exampleassistant;listing=none, x;learn",
        "App-Directives: /a exampleassistant;listing=partial;learn=1",
        "Content-Signal: ai-train=no, ai-input=yes",
        "Content-Signal: search=no",
        "DisallowAITraining: /a",
        "AllowAITraining: /",
    ]);
    let lines = vec(line, 0..8).prop_map(|lines| format!("User-agent: *\n{}\n", lines.join("\n")));
    lines.prop_map(String::into_bytes)
}

/// Files with lines of every extension, made of few words.
pub(crate) fn extended() -> impl Strategy<Value = Vec<u8>> {
    let names = select(vec![
        "User-agent",
        "User-agent",
        "User-Agent-Purpose",
        "Allow",
        "Disallow",
        "App-Directives",
        "Content-Usage",
        "Content-Signal",
        "DisallowAITraining",
        "AllowAITraining",
        "Sitemap",
        "X",
    ]);
    let words = vec(
        select(vec![
            "*",
            "a",
            "/",
            "/a",
            " ",
            "x",
            ";",
            "=",
            "?0",
            "?1",
            ",",
            "y",
            "n",
            "no",
            "yes",
            "train-ai",
            "ai-train",
            "examplesearch",
            "exampleassistant",
            ";learn",
            ";widgets",
            "EXAMPLE-PURPOSE-1",
            ".*",
            "[",
            "]",
            "(",
            ")",
            "|",
            "$",
            "^",
            "\\",
            "\"",
            ":",
            "@1",
            "%\"",
            "1.5",
            "{9}",
            "Disallow: ",
        ]),
        0..7,
    );
    let line = (names, words).prop_map(|(name, words)| format!("{name}: {}\n", words.concat()));
    vec(line, 0..14).prop_map(|lines| lines.concat().into_bytes())
}
