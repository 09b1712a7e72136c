//! A seed → sites that look like real ones, for a checkout that has no corpus.
//!
//! The shares and sizes are those that were counted over four thousand real files: half of the files
//! have up to 13 rules, one in ten more than 84; a third ends its lines in CRLF; half of the files have
//! wildcards at all. The same seed always makes the same files, so that figures can be compared.

use std::fmt::Write as _;

use mayi::{Crawler, Dialect, ReadOptions, RobotsTxt, Target};

use crate::corpus::{CRAWLERS, Corpus, Question, Site};
use crate::engines::Asker;

const SITES: u64 = 2_000;

/// One file in the collection is a giant, as in the real one.
const GIANT: u64 = 777;
const GIANT_RULES: usize = 20_000;

/// Makes one site in `share`, with nothing decided yet.
pub fn corpus(share: usize) -> Corpus {
    Corpus {
        origin: "files that a seeded generator made in the shape of real ones (no corpus was found)",
        reference: "mayi in the dialect google, asked directly",
        sites: (0..SITES).step_by(share).map(site).collect(),
        askers: CRAWLERS.map(Asker::new),
    }
}

/// Gives every question the answer that the others are compared with.
pub fn answer(corpus: &mut Corpus) {
    let google = ReadOptions::default().with_dialect(Dialect::GOOGLE);
    for site in &mut corpus.sites {
        let robots = RobotsTxt::read(&site.octets[..], &google);
        for (name, questions) in CRAWLERS.iter().zip(&mut site.questions) {
            let crawler = Crawler::new(name).expect("a product token");
            for question in questions {
                let target = Target::parse(&question.url).expect("a good URL was made");
                question.allowed = robots.decide(&crawler, &target).is_allowed();
            }
        }
    }
}

fn site(number: u64) -> Site {
    let mut random = Random(0x6D61_7969 ^ (number << 32));
    let mut rules = Vec::new();
    let octets = file(&mut random, number, &mut rules);
    let host = format!("site{number}.example");
    let asked = 5 + random.below(46);
    let urls: Vec<_> = (0..asked).map(|_| url(&mut random, &host, &rules)).collect();
    let questions = CRAWLERS.map(|_| urls.iter().map(|url| Question::new(url, false)).collect());
    Site { octets, questions }
}

/// Makes a file and collects the patterns of its rules.
fn file(random: &mut Random, number: u64, patterns: &mut Vec<String>) -> Vec<u8> {
    const NAMES: [&str; 6] = ["Googlebot", "bingbot", "MJ12bot", "AhrefsBot", "Slurp", "ia_archiver"];
    let line_end = if random.in_thousand(318) { "\r\n" } else { "\n" };
    let has_wildcards = random.in_thousand(488);
    // Half of the files have one group; few have very many.
    let mut groups = random.around(1.0, 1.26).max(1);
    if random.in_thousand(20) {
        groups *= 12;
    }
    let rules = if number == GIANT { GIANT_RULES } else { random.around(13.0, 1.46) };

    let mut text = String::new();
    let mut line = |parts: &[&str]| {
        text.extend(parts.iter().copied());
        text.push_str(line_end);
    };
    if random.in_thousand(15) {
        line(&["\u{FEFF}# a byte order mark stands before this"]);
    }
    if random.in_thousand(367) {
        line(&["# robots.txt of a site that does not exist"]);
        line(&[]);
    }
    for group in 0..groups {
        // Most files have a group for everybody, and its rules are most of the rules.
        let for_all = group == 0 && !random.in_thousand(25);
        let name = NAMES[random.below(NAMES.len())];
        let many = number == GIANT && group > 0;
        line(&["User-agent: ", if for_all { "*" } else { name }]);
        if random.in_thousand(190) {
            line(&["Crawl-delay: ", ["1", "5", "10", "0.5"][random.below(4)]]);
        }
        let of_group = match group {
            0 => rules.max(1),
            _ if many => 1,
            _ => random.around(1.0, 1.6).clamp(1, 138),
        };
        for _ in 0..of_group {
            let kind = if random.in_thousand(79) { "Allow: " } else { "Disallow: " };
            if random.in_thousand(5) {
                line(&["Disallow:"]);
                continue;
            }
            let pattern = pattern(random, has_wildcards);
            let comment = if random.in_thousand(10) { " # for a reason" } else { "" };
            line(&[kind, &pattern, comment]);
            patterns.push(pattern);
        }
        line(&[]);
    }
    if random.in_thousand(549) {
        line(&["Sitemap: https://site", &number.to_string(), ".example/sitemap.xml"]);
    }
    if random.in_thousand(41) {
        line(&["Noindex: /noindexed/"]);
    }
    text.into_bytes()
}

const WORDS: [&str; 24] = [
    "admin",
    "search",
    "cgi-bin",
    "wp-content",
    "user",
    "login",
    "cart",
    "checkout",
    "tag",
    "print",
    "private",
    "images",
    "tmp",
    "node",
    "includes",
    "feed",
    "api",
    "account",
    "en",
    "2019",
    "archive",
    "ajax",
    "comment",
    "profile",
];

fn pattern(random: &mut Random, has_wildcards: bool) -> String {
    let mut pattern = String::new();
    let starred = has_wildcards && random.in_thousand(370);
    for _ in 0..=random.below(3) {
        pattern.push('/');
        pattern.push_str(WORDS[random.below(WORDS.len())]);
        if random.in_thousand(300) {
            let _ = write!(pattern, "{}", random.below(1_000));
        }
    }
    match random.below(1_000) {
        0..9 => pattern.push_str("/%C3%A9t%C3%A9"),
        9..11 => pattern.push_str("/été"),
        11..14 => pattern.push_str("/two words"),
        14..300 => pattern.push('/'),
        300..420 => pattern.push_str(".php"),
        420..460 => pattern.push_str(".html?id="),
        _ => {}
    }
    if starred {
        let half = pattern.len() / 2;
        match random.below(100) {
            0..23 => pattern.push('*'),
            23..60 => pattern.insert_str(0, "/*"),
            60..80 => pattern.push_str("/*?sort="),
            80..90 if pattern.is_char_boundary(half) => pattern.insert(half, '*'),
            _ => pattern.push_str("*.pdf"),
        }
    }
    if random.in_thousand(if starred { 60 } else { 8 }) {
        pattern.push('$');
    }
    pattern
}

/// Makes a URL out of one of the site's own patterns, or one that nothing matches.
fn url(random: &mut Random, host: &str, patterns: &[String]) -> String {
    let generic = || format!("https://{host}/{}", WORDS[7]);
    if patterns.is_empty() || random.in_thousand(90) {
        return generic();
    }
    if random.in_thousand(67) {
        return format!("https://{host}/zz-never-{:x}/item.html?utm_source=newsletter", random.next());
    }
    let pattern = &patterns[random.below(patterns.len())];
    let mut path = pattern.trim_end_matches('$').replace('*', "abc").replace(' ', "%20");
    match random.below(10) {
        0..4 => path.push_str("page/1.html?x=1"),
        4..6 => {
            let cut = path.len() * 2 / 3;
            path.truncate((1..=cut).rev().find(|&at| path.is_char_boundary(at)).unwrap_or(0));
        }
        _ => {}
    }
    format!("https://{host}{path}")
}

/// The generator splitmix64: good enough for files, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn in_thousand(&mut self, share: usize) -> bool {
        self.below(1_000) < share
    }

    /// A number whose logarithm is spread normally around that of the median.
    fn around(&mut self, median: f64, spread: f64) -> usize {
        // Twelve evenly spread numbers add up to nearly the normal curve.
        let sum: f64 = (0..12).map(|_| self.below(1 << 20) as f64 / f64::from(1 << 20)).sum();
        (median * ((sum - 6.0) * spread).exp()).round() as usize
    }
}
