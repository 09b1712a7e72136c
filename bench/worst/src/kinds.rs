//! The kinds of line, element, field, URL and crawler that input is made from.
//!
//! A kind makes a piece from its number and from how many octets it may have. Most pieces are short; a few take all the room
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
pub fn letters(mut n: usize) -> String {
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
    "tiny-colon" => |_, _| ":".into();
    "tiny-host" => |_, _| "Host:a".into();
    "tiny-usage" => |_, _| "Content-Usage:a".into();
    "tiny-regex" => |_, _| "User-agent:.*\nAllow:/".into();
    "one-nul" => |_, room| format!("Disallow: /{}", fill("\0", room.saturating_sub(11)));
    "global" => |_, _| "User-agent: *\nDisallow: /p".into();
    "near-name" => |n, _| format!("User-agent: Gogle{}bot", letters(n));
    "version" => |n, _| format!("User-agent: a{}/1.{n} x", letters(n));
    "digits" => |n, _| format!("User-agent: a1b2c3d4e5f6g7h8i9{n}");
    "unnamed" => |n, _| format!("User-agent: unnamed-crawler{}", "-x".repeat(n % 2000));
    "regex" => |n, _| format!("User-agent: .*{}", letters(n));
    "regex-large" => |_, _| "User-agent: (?:.*x?){60}N".into();
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
    "comment-directives" => |n, _| format!("# User-agent: {} # Disallow: /{n} # Allow: /", letters(n));
    "rule-with-comment" => |n, _| format!("Disallow: /{n} # Allow: /{n} # mayi: allow(P005) # x");
    "byte-order-mark" => |n, _| format!("\u{FEFF}Disallow: /{n}");
    "one-byte-order-mark" => |_, room| fill("\u{FEFF}", room);
    "mixed-ends" => |n, _| format!("Disallow: /{n}\r\nAllow: /{n}\n\rDisallow:\r\r\n\rx\r");
    "odd-separators" => |n, _| format!("Disallow: /{n}\u{2028}Allow: /{n}\u{85}Disallow: /\u{b}User-agent: a\u{c}");
    "half-escapes" => |n, _| format!("Disallow: /%{:x}%%4%C3%28%ff%2{n}%", n % 256);
    "escaped-escapes" => |n, _| format!("Allow: /%25%32%46%252A{n}%2525%5E%7C");
    "one-half-escapes" => |_, room| format!("Allow: /{}", fill("%%%2", room.saturating_sub(8)));
    "purpose-group" => |n, _| format!("User-Agent-Purpose: search\nUser-Agent-Purpose: p{n}\nUser-agent: {}\nAllow: /{n}", letters(n));
    "purpose-case" => |n, _| format!("User-Agent-Purpose: {}", if n.is_multiple_of(2) { letters(n).to_uppercase() } else { letters(n - 1) });
    "apps-overlap" => |n, _| format!("App-Directives: /a*{} examplesearch;w=1;w=2;w{n}=?0, a{n};w;w;w, examplesearch", n % 7);
    "apps-values" => |n, _| format!("App-Directives: /{n} examplesearch;a=1.5;b=\"x\\\"y\";c=:YWJj:;d=@{n};e=%\"f%c3\";f=-1");
    "one-app-lists" => |_, room| format!("App-Directives: {}(a)", fill("(a b;c=1 \"d\");e=(f,", room.saturating_sub(22)));
    "one-app-brackets" => |_, room| format!("App-Directives: {}", fill("((", room.saturating_sub(16)));
    "usage-lists" => |n, _| format!("Content-Usage: /{n} train-ai=(n y;q=1);a=b, x=?1, search=y;train-ai=n");
    "one-usage-same" => |_, room| format!("Content-Usage: {}search=y", fill("train-ai=n,train-ai=y,", room.saturating_sub(25)));
    "one-signal-same" => |_, room| format!("Content-Signal: {}", fill("ai-train=no,AI-Train=yes,", room.saturating_sub(16)));
    "one-signal-broken" => |_, room| format!("Content-Signal: {}", fill("=,a,b==c,", room.saturating_sub(16)));
    "sitemap-relative" => |n, _| format!("Sitemap: ../{n}/./s.xml");
    "sitemap-odd" => |n, _| format!("Sitemap: HTTP://[::1]:{n}/../%zz?#");
    "sitemap-of-rule" => |n, _| format!("Sitemap: https://example.com/{n}/s.xml\nDisallow: /{n}/");
    "near-directives" => |n, _| format!("{}: /{n}", ["Sitemp", "Crawldelay", "Alow", "Usr-agent", "Host name", "Cleanparam", "Content-Signals", "Content_Usage", "App-Directive", "Dis allow", "User-agents", "Useragentpurpose"][n % 12]);
    "near-directives-bare" => |n, _| format!("{} {n}", ["Sitmap", "Crawl delay", "Allows", "User Agent", "Dissalow", "Noindx"][n % 6]);
    "silenced-line" => |n, _| format!("Disalow: /{n} # mayi: allow(misspelled-name, S003, near-record)");
    "silences-in-line" => |n, _| format!("# mayi: allow(P001) mayi: allow(P00{}) # mayi:allow(", n % 9);
    "one-silences" => |_, room| fill("# mayi: allow(S001) ", room);
    "one-short-silence" => |_, room| format!("# mayi: allow({})", fill("a,", room.saturating_sub(16)));
    "one-empty-silence" => |_, room| format!("# mayi: allow({})", fill(",", room.saturating_sub(16)));
    "star-runs" => |n, _| format!("Disallow: /{}{n}{}$", "*".repeat(n % 90), "*".repeat(n % 70));
    "one-stars" => |_, room| format!("Disallow: /{}a", fill("*", room.saturating_sub(12)));
    "dollar-runs" => |n, _| format!("Allow: /{n}{}x$", "$".repeat(n % 90));
    "one-dollars" => |_, room| format!("Disallow: /*{}", fill("$", room.saturating_sub(12)));
    "one-star-dollars" => |_, room| format!("Disallow: /{}", fill("*$", room.saturating_sub(11)));
    "combining" => |n, _| format!("Disallow: /e\u{301}\u{1F1E9}\u{200D}\u{202E}{n}\u{10FFFF}");
    "names-not-ascii" => |n, _| format!("User-agent: \u{1F916}b\u{43e}t{n}");
    "nested-names" => |n, _| format!("User-agent: a{}\nUser-agent: b{}\nUser-agent: c{}\nDisallow: /*{n}", n % 3, n % 50, n % 1000);
    "same-group" => |n, _| format!("User-agent: ExampleBot\nDisallow: /{n}");
    "known-names" => |n, _| format!("User-agent: {}\nDisallow: /{n}", ["Googlebot-Image", "Googlebot", "AdsBot-Google", "bingbot", "GPTBot", "Googlebot-News"][n % 6]);
    "name-case" => |n, _| format!("uSeR-aGeNt: {}\nDISALLOW: /{n}", if n.is_multiple_of(2) { "EXAMPLEBOT" } else { "examplebot" });
    "regex-names" => |n, _| format!("User-agent: a{n}|b{n}|(c{n}|d{n})");
    "regex-classes" => |n, _| format!("User-agent: [a-z0-9_.-]*{}[^a]+?", letters(n));
    "regex-optional" => |n, _| format!("User-agent: ({}b{n})*c", "a?|.a|".repeat(60));
    "regex-asserted" => |n, _| format!("User-agent: (.{}b{n})*c", "|\\Ba".repeat(90));
    "regex-counts" => |n, _| format!("User-agent: .*{}b{n}", "[a-z]{2,9}".repeat(30));
    "regex-stars" => |n, _| format!("User-agent: {}b{n}", ".*a?".repeat(80));
    "regex-long" => |n, _| format!("User-agent: {}.*{n}", "a|".repeat(450));
    "white-space" => |n, _| format!("\t \tDisallow \t:{}/{n}{}", " ".repeat(n % 200), "\t".repeat(n % 100));
    "one-white-space" => |_, room| format!("Disallow:{}/", fill(" \t", room.saturating_sub(10)));
    "glued-records" => |n, _| format!("Disallow:Disallow:Allow: /{n}Sitemap:User-agent:*");
    "deep-folders" => |n, _| format!("Disallow: /{}{n}/x", if n.is_multiple_of(2) { "A/b/" } else { "a/B/" }.repeat(12));
    "deep-exceptions" => |n, _| format!("Allow: /{}{n}/x", "a/b/".repeat(n % 40));
    "resources" => |n, _| format!("Disallow: /*.{}?{n}", ["css", "js", "png$", "woff2"][n % 4]);
    "records" => |n, _| format!("{}: {n}/{n}s", ["Request-rate", "Visit-time", "Host", "Clean-param", "Crawl-delay"][n % 5]);
    "delay-odd" => |n, _| format!("Crawl-delay: {}1e{n}.5", "0".repeat(n % 60));
    "one-clean-param" => |_, room| format!("Clean-param: {}", fill("a&", room.saturating_sub(13)));
    "one-no-colon" => |_, room| format!("Disallow {}", fill("/a Disallow ", room.saturating_sub(9)));
    "one-colon-marks" => |_, room| fill("Disallow\u{FF1A}", room);
    "one-template" => |_, room| format!("Disallow: /{}", fill("{{a}}${b}<%c%>[d]", room.saturating_sub(11)));
};

/// Kinds of element in the head of a page.
pub const ELEMENTS: &[Kind] = kinds! {
    "meta" => |_, _| "<meta name=robots content=noindex>".into();
    "meta-token" => |n, _| format!("<meta name={} content=nofollow>", letters(n));
    "meta-unsupported" => |n, _| format!("<meta name=robots content=x{n}>");
    "meta-tiny" => |_, _| "<meta>".into();
    "meta-half" => |_, room| format!("<meta name=robots content=\"{}:{}\">", fill("t", room.saturating_sub(40) / 2), fill("x,", room.saturating_sub(40) / 2));
    "meta-repeated" => |_, room| format!("<meta name=robots content=\"{}\">", fill("all,", room.saturating_sub(40)));
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
    "numeric-references" => |_, room| format!("<meta name=&#114;obots content='{}'>", fill("&#x6e;&#111", room.saturating_sub(40)));
    "meta-snippets" => |_, room| format!("<meta name=robots content='{}'>", fill("max-snippet:1,max-image-preview:none,", room.saturating_sub(40)));
    "meta-equals" => |_, room| format!("<meta name=googlebot content={}>", fill("=\"", room.saturating_sub(40)));
    "meta-names" => |n, _| format!("<META NAME='{}' CONTENT='noindex,{}:nofollow'/>", letters(n), letters(n + 1));
    "nul-tags" => |n, _| format!("<\0meta\0 name=robots\0 content=\0{n}>");
    "foreign" => |_, _| "<svg><meta name=robots content=none></svg><base><link>".into();
    "doctypes" => |_, room| fill("<!DOCTYPE html SYSTEM 'a'>", room);
    "bogus-ends" => |_, room| fill("</head></noscript></title></x ", room);
    "usage-meta" => |n, _| format!("<meta http-equiv=Content-Usage name=content-usage content='train-ai=n,k{n}=y'>");
};

/// Kinds of value for the fields Robots-Tag, X-Robots-Tag and Content-Usage.
pub const FIELDS: &[Kind] = kinds! {
    "list" => |_, room| fill("a,", room);
    "half" => |_, room| format!("{}:{}", fill("t", room.saturating_sub(1) / 2), fill("x,", room.saturating_sub(1) / 2));
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
    "nested" => |_, room| fill("((a b);c=(d),", room);
    "bare-items" => |_, room| fill("a=:YWJj:;b=@1;c=%\"f%c3\";d=1.5,", room);
    "same-labels" => |_, room| fill("train-ai=n,train-ai=y;a,", room);
    "prefixed" => |_, room| series(room, |n| format!("bot{n}: noindex, "));
    "ages" => |_, room| fill("max-age=1,s-maxage=\"2\",no-cache=\"x,y\",", room);
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
    "half-escapes" => |_, room| fill("%%%2%u0041", room);
    "parameters" => |_, room| fill(";a=b/..;/%2e.", room);
    "user-info" => |_, room| fill("a@b:", room);
    "labels" => |_, room| fill("xn--a.\u{e9}.", room);
    "numbers" => |_, room| fill("0x7f.1.", room);
    "tabs" => |_, room| fill("a\t\r\nb ", room);
    "not-characters" => |_, room| fill("%ED%A0%80\u{10FFFF}%C0%AF", room);
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
