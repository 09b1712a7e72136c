//! The kinds of line, element, field, URL and crawler that input is made from.
//!
//! A kind makes its so-manieth piece, within so many octets. Most pieces are short; a few take all the room
//! there is, as one line or one element. Pieces differ by their number where that makes them dearer: names
//! that are all known, patterns that are all compared.

/// One kind of piece.
pub struct Kind {
    pub name: &'static str,
    pub make: fn(usize, usize) -> String,
}

macro_rules! kinds {
    ($($name:literal => |$n:pat_param, $room:pat_param| $make:expr;)*) => {
        &[$(Kind { name: $name, make: |$n, $room| $make },)*]
    };
}

/// A part of text over and over, up to so many octets.
fn fill(part: &str, room: usize) -> String {
    part.repeat(room / part.len().max(1))
}

/// Parts that differ, up to so many octets.
fn series(room: usize, part: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for n in 0.. {
        let part = part(n);
        if text.len() + part.len() > room {
            break;
        }
        text += &part;
    }
    text
}

/// A number in letters, as names may not have digits everywhere.
fn letters(mut n: usize) -> String {
    let mut text = String::new();
    loop {
        text.insert(0, char::from(b'a' + (n % 26) as u8));
        n /= 26;
        if n == 0 {
            return text;
        }
    }
}

/// Kinds of line in robots.txt.
pub const LINES: &[Kind] = kinds! {
    "group" => |n, _| format!("User-agent: {}\nDisallow: /{n}", letters(n));
    "start" => |n, _| format!("User-agent: {}", letters(n));
    "same-start" => |_, _| "User-agent: examplebot".into();
    "global" => |_, _| "User-agent: *\nDisallow: /p".into();
    "near-name" => |n, _| format!("User-agent: Gogle{}bot", letters(n));
    "version" => |n, _| format!("User-agent: a{}/1.{n} x", letters(n));
    "digits" => |n, _| format!("User-agent: a1b2c3d4e5f6g7h8i9{n}");
    "unnamed" => |n, _| format!("User-agent: unnamed-crawler{}", "-x".repeat(n % 2000));
    "regex" => |n, _| format!("User-agent: .*{}", letters(n));
    "regex-large" => |_, _| "User-agent: (?:.*){540}N".into();
    "regex-brackets" => |_, _| "User-agent: ()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()x.*".into();
    "regex-nested" => |n, _| format!("User-agent: (a{}.*|b(c.*|d(e.*|f.*)))+", letters(n));
    "regex-broken" => |n, _| format!("User-agent: [{}", letters(n));
    "purpose" => |n, _| format!("User-Agent-Purpose: P{n}");
    "inline-rule" => |n, _| format!("User-agent: {} Disallow: /{n}", letters(n));
    "disallow" => |n, _| format!("Disallow: /{n}");
    "allow" => |n, _| format!("Allow: /{n}");
    "tiny" => |_, _| "Allow:/".into();
    "blank-rule" => |_, _| "Disallow:".into();
    "wildcards" => |n, _| format!("Disallow: /*{n}*a*b*c$");
    "wild-allow" => |n, _| format!("Allow: /*{n}");
    "stars" => |n, _| format!("Disallow: /{}{n}", "*a".repeat(20));
    "star-literal" => |n, _| format!("Disallow: /%2A{n}");
    "dollar-literal" => |n, _| format!("Disallow: /*$$$$$$$$%24x{n}");
    "index-page" => |n, _| format!("Allow: /%2A{n}/index.html");
    "index-plain" => |n, _| format!("Allow: /{n}/index.html");
    "query" => |n, _| format!("Disallow: /a?u=http://{n}/%2F");
    "across" => |n, _| format!("Disallow: /*a?b/{n}");
    "across-names" => |n, _| format!("Disallow: /*a{n}?b{n}/");
    "across-pieces" => |n, _| format!("Allow: /*{n}*a?b/*c{n}$");
    "mixed-faults" => |n, _| ["Disallow /a", "Disalow: /b", "x", "Disallow： /c", "Disallow: d", "Disallow: /a%2f", "Allow: /*e*", "User agent: f", "Crawl-delay: g", "Sitemap: h", "Disallow:", "Allow: /a"][n % 12].into();
    "long-prefix" => |n, _| format!("Disallow: /{}{n}", "a/".repeat(60));
    "encoded" => |n, _| format!("Disallow: /%61%C3%A9%zz%2f{n}");
    "letter-case" => |n, _| format!("Disallow: /Path{}/X", if n.is_multiple_of(2) { letters(n).to_uppercase() } else { letters(n - 1) });
    "no-slash" => |n, _| format!("Disallow: private{n}/");
    "whole-url" => |n, _| format!("Disallow: https://example.com/{n}");
    "one-pattern" => |_, room| format!("Disallow: /{}", fill("a*", room.saturating_sub(11)));
    "one-plain-pattern" => |_, room| format!("Disallow: /{}", fill("ab", room.saturating_sub(11)));
    "one-encoded" => |_, room| format!("Disallow: /{}", fill("%2A", room.saturating_sub(11)));
    "one-name" => |_, room| format!("User-agent: {}", fill("ab", room.saturating_sub(12)));
    "one-dotted-name" => |_, room| format!("User-agent: {}", fill("a.", room.saturating_sub(12)));
    "one-spaced-name" => |_, room| format!("User-agent: {}", fill("a ", room.saturating_sub(12)));
    "one-comment" => |_, room| format!("#{}", fill(" x", room.saturating_sub(1)));
    "one-unreadable" => |_, room| fill("x ", room);
    "one-colons" => |_, room| fill("a:", room);
    "one-braces" => |_, room| format!("Disallow: /{}", fill("{%", room.saturating_sub(11)));
    "one-percent-words" => |_, room| format!("Disallow: /{}", fill("%A", room.saturating_sub(11)));
    "one-angles" => |_, room| format!("Disallow: /{}", fill("<b", room.saturating_sub(11)));
    "one-ampersands" => |_, room| format!("Disallow: /{}", fill("&amp", room.saturating_sub(11)));
    "one-glued" => |_, room| format!("Disallow: /{}", fill("aDisallow:", room.saturating_sub(11)));
    "one-look-alike" => |_, room| format!("Disallоw: /{}", fill("а", room.saturating_sub(12)));
    "one-invisible" => |_, room| format!("Disallow: /{}", fill("\u{200B}", room.saturating_sub(11)));
    "usage" => |n, _| format!("Content-Usage: /{n} train-ai=n");
    "usage-same" => |_, _| "Content-Usage: /a train-ai=n".into();
    "usage-labels" => |n, _| format!("Content-Usage: l{n}=y");
    "one-usage" => |_, room| format!("Content-Usage: {}", series(room.saturating_sub(17), |n| format!("k{n}=y,")).trim_end_matches(','));
    "usage-broken" => |n, _| format!("Content-Usage: /{n} ((train-ai");
    "apps" => |n, _| format!("App-Directives: /{n} examplesearch;widgets=?0");
    "apps-same" => |n, _| format!("App-Directives: /a examplesearch;w{n}=1");
    "one-app-members" => |_, room| format!("App-Directives: {}x", series(room.saturating_sub(18), |n| format!("a{n},")));
    "one-app-parameters" => |_, room| format!("App-Directives: examplesearch{}", series(room.saturating_sub(30), |n| format!(";w{n}")));
    "one-app-strings" => |_, room| format!("App-Directives: examplesearch;w=\"{}\"", fill("\\\\", room.saturating_sub(34)));
    "one-app-inner" => |_, room| format!("App-Directives: ({})", fill("a ", room.saturating_sub(18)));
    "signal" => |n, _| format!("Content-Signal: ai-train=no, k{n}=yes");
    "one-signal" => |_, room| format!("Content-Signal: {}", series(room.saturating_sub(17), |n| format!("k{n}=y,")));
    "training" => |n, _| format!("DisallowAITraining: /{n}");
    "training-wild" => |n, _| format!("AllowAITraining: /*{n}%2A");
    "sitemap" => |n, _| format!("Sitemap: https://example.com/{n}.xml");
    "sitemap-hosts" => |n, _| format!("Sitemap: https://h{n}.example/s");
    "one-sitemap" => |_, room| format!("Sitemap: https://example.com/{}", fill("a/", room.saturating_sub(30)));
    "clean-param" => |n, _| format!("Clean-param: a{n}&b /p{n}");
    "delay" => |n, _| format!("Crawl-delay: {n}");
    "noindex" => |n, _| format!("Noindex: /{n}");
    "misspelled" => |n, _| format!("Dissallow: /{n}");
    "near-record" => |n, _| format!("Disalow{}: /{n}", letters(n));
    "unknown" => |n, _| format!("X-{}: y", letters(n));
    "no-colon" => |n, _| format!("Disallow /{n}");
    "unreadable" => |_, _| "x".into();
    "empty-line" => |_, _| String::new();
    "nul" => |n, _| format!("\0Disallow: /{n}\0");
    "odd-octets" => |n, _| format!("Disallow: \u{b}\u{c}{n}\u{80}");
    "not-ascii" => |n, _| format!("Disallow: /é\u{200B}а{n}");
    "markup" => |n, _| format!("<p>Disallow: /{n}</p>");
    "template" => |n, _| format!("Disallow: /{{{{ page{n} }}}}");
    "carriage" => |n, _| format!("Disallow: /{n}\rAllow: /{n}\r\r");
    "silence" => |n, _| format!("# mayi: allow(P00{})", n % 9);
    "one-silence" => |_, room| format!("# mayi: allow({})", fill("P001,", room.saturating_sub(16)));
    "one-unknown-silence" => |_, room| format!("# mayi: allow({})", series(room.saturating_sub(16), |n| format!("missing-{n},")));
};

/// Kinds of element in the head of a page.
pub const ELEMENTS: &[Kind] = kinds! {
    "meta" => |_, _| "<meta name=robots content=noindex>".into();
    "meta-token" => |n, _| format!("<meta name={} content=nofollow>", letters(n));
    "meta-unsupported" => |n, _| format!("<meta name=robots content=x{n}>");
    "meta-tiny" => |_, _| "<meta>".into();
    "meta-half" => |_, room| format!("<meta name=robots content=\"{}:{}\">", fill("t", room / 2), fill("x,", room / 2));
    "meta-list" => |_, room| format!("<meta name=robots content=\"{}\">", fill("x,", room.saturating_sub(30)));
    "meta-words" => |_, room| format!("<meta name=robots content=\"{}\">", fill("x ", room.saturating_sub(30)));
    "meta-dates" => |_, room| format!("<meta name=robots content=\"{}\">", fill("unavailable_after: 25 Jun 2010,", room.saturating_sub(30)));
    "meta-long-date" => |_, room| format!("<meta name=robots content=\"unavailable_after: {}\">", fill("1 ", room.saturating_sub(50)));
    "meta-date-commas" => |_, room| format!("<meta name=robots content=\"{}\">", fill("unavailable_after:,", room.saturating_sub(30)));
    "meta-prefixes" => |_, room| format!("<meta name=robots content=\"{}\">", fill("a:b;", room.saturating_sub(30)));
    "meta-long-token" => |_, room| format!("<meta name={} content=noindex>", fill("t", room.saturating_sub(40)));
    "attributes" => |_, room| format!("<meta {}>", series(room.saturating_sub(8), |n| format!("a{n} ")));
    "same-attributes" => |_, room| format!("<meta {}>", fill("name=robots ", room.saturating_sub(8)));
    "references" => |_, room| format!("<meta name=robots content=\"{}\">", fill("&amp;", room.saturating_sub(30)));
    "title" => |_, room| format!("<title>{}</title>", fill("<meta name=robots>", room.saturating_sub(16)));
    "comment" => |n, _| format!("<!--{n}-->");
    "open-comments" => |_, room| fill("<!--", room);
    "templates" => |_, _| "<template>".into();
    "noscript" => |_, _| "<noscript><meta name=robots content=noindex></noscript>".into();
    "script" => |n, _| format!("<script>{n}</script>");
    "script-escapes" => |_, room| format!("<script>{}", fill("<!--<script>", room.saturating_sub(8)));
    "unclosed" => |_, room| fill("<a", room);
    "lines" => |_, _| "\n".into();
};

/// Kinds of value for the fields Robots-Tag, X-Robots-Tag and Content-Usage.
pub const FIELDS: &[Kind] = kinds! {
    "list" => |_, room| fill("a,", room);
    "half" => |_, room| format!("{}:{}", fill("t", room / 2), fill("x,", room / 2));
    "members" => |_, room| series(room, |n| format!("b{n};noindex,"));
    "parameters" => |_, room| format!("*{}", series(room.saturating_sub(1), |n| format!(";r{n}")));
    "brackets" => |_, room| fill("(", room);
    "inner" => |_, room| format!("a=({})", fill("noindex ", room.saturating_sub(4)));
    "quotes" => |_, room| fill("\"", room);
    "escapes" => |_, room| format!("\"{}\"", fill("\\\\", room.saturating_sub(2)));
    "dates" => |_, room| fill("unavailable_after: Friday, 25-Jun-10 15:00:00 GMT,", room);
    "commas" => |_, room| fill("unavailable_after:,", room);
    "long-date" => |_, room| format!("unavailable_after: {}", fill("1 ", room.saturating_sub(20)));
    "semicolons" => |_, room| fill("a;b:", room);
    "labels" => |_, room| series(room, |n| format!("k{n}=y,"));
};

/// Kinds of path.
pub const PATHS: &[Kind] = kinds! {
    "letters" => |_, room| fill("a", room);
    "slashes" => |_, room| fill("/", room);
    "dots" => |_, room| fill("../", room);
    "dot-segments" => |_, room| fill("a/../", room);
    "encoded-dots" => |_, room| fill("%2e%2e/", room);
    "encoded" => |_, room| fill("%61", room);
    "star-literals" => |_, room| fill("%2A", room);
    "stars" => |_, room| fill("*", room);
    "dollars" => |_, room| fill("$", room);
    "query" => |_, room| format!("?{}", fill("u=http%3A%2F%2Fa/&", room.saturating_sub(1)));
    "questions" => |_, room| fill("?", room);
    "not-ascii" => |_, room| fill("é", room);
    "backslashes" => |_, room| fill("\\", room);
    "fragments" => |_, room| fill("#", room);
    "abc" => |_, room| fill("abc", room);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_to_their_room_and_names_are_unique() {
        for kinds in [LINES, ELEMENTS, FIELDS, PATHS] {
            let mut names: Vec<_> = kinds.iter().map(|kind| kind.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), kinds.len());
            for kind in kinds {
                assert!((kind.make)(7, 1000).len() <= 1000, "{}", kind.name);
            }
        }
        assert!(LINES.len() >= 40);
    }
}
