//! Every public function that takes what a stranger wrote, each as one piece of work.

use std::hint::black_box;

use mayi::access::SiteFile;
use mayi::edit::{Carrier, Goal, Preferences};
use mayi::lint::Options;
use mayi::page::{PageControls, PageOptions};
use mayi::registry::Registry;
use mayi::report::{Prepared, Request, answer};
use mayi::{Crawler, Dialect, Preference, ReadOptions, RobotsTxt, RulesByGroups, Target};

/// One public function, asked about input of one sort.
pub struct Function {
    pub name: &'static str,
    pub run: fn(&str),
}

macro_rules! functions {
    ($($name:literal => |$input:ident| $work:expr;)*) => {
        &[$(Function { name: $name, run: |$input| { let _ = black_box($work); } },)*]
    };
}

const URL: &str = "https://example.com/a/1/b.html?u=http%3A%2F%2Fa/*$";

fn crawler() -> Crawler {
    let crawler = Crawler::new("examplebot").expect("a token");
    crawler.with_application("examplesearch").expect("an application")
}

fn target(url: &str) -> Target<'_> {
    Target::parse(url).expect("a URL")
}

/// A URL with many `?` and encoded delimiters in its query.
fn long_query(octets: usize) -> String {
    format!("https://example.com/{}", "a?b%2F".repeat(octets / 6))
}

/// A request as a client sends it, with everything that it can ask for.
fn request(robots: &str, page: Option<(&str, &str)>) -> String {
    let page = page.map(|(field, html)| {
        serde_json::json!({"headers": [["X-Robots-Tag", field], ["Content-Usage", field]], "html": html})
    });
    serde_json::json!({"url": URL, "agent": "examplebot", "apps": ["examplesearch"], "robots": robots,
                       "page": page, "explain": true})
    .to_string()
}

fn answered(request: &str) -> usize {
    let request = Request::from_json(request.as_bytes()).expect("a request");
    let answered = answer(&request).expect("an answer");
    serde_json::to_string(&answered).expect("JSON").len()
}

/// Every 512 octets of a file as a file of its own, in the request of a crawler with a long name, as batches have them. What
/// every file may cost, however small it is, shows here.
fn many_answered(file: &str) -> usize {
    let mut octets = 0;
    let mut part = String::new();
    for line in file.split_inclusive('\n').chain([""]) {
        if part.len() + line.len() > 512 || line.is_empty() {
            let agent = "a".repeat(100);
            octets +=
                answered(&serde_json::json!({"url": URL, "agent": agent, "robots": part}).to_string());
            part.clear();
        }
        part += line;
    }
    octets
}

/// What is asked of a file.
pub const OF_FILES: &[Function] = functions! {
    "read" => |file| RobotsTxt::parse(file.as_bytes()).text().len();
    "lines" => |file| RobotsTxt::parse(file.as_bytes()).lines().filter(|line| line.record().is_some() && !line.is_unreadable()).count();
    "groups" => |file| {
        let robots = RobotsTxt::parse(file.as_bytes());
        robots.groups().map(|group| group.start_lines().count() + group.rules().count()).sum::<usize>()
    };
    "irregularities" => |file| RobotsTxt::parse(file.as_bytes()).irregularities().count();
    "records" => |file| {
        let robots = RobotsTxt::parse(file.as_bytes());
        (black_box(robots.other_records(&crawler())).content_signal().values().count(), robots.sitemaps().count(), robots.crawl_delay(&crawler()))
    };
    "usage" => |file| RobotsTxt::parse(file.as_bytes()).usage(&crawler(), &target(URL), &[]);
    "app_directives" => |file| RobotsTxt::parse(file.as_bytes()).app_directives(&crawler(), &target(URL));
    "format" => |file| mayi::format(file.as_bytes()).octets().len();
    "lint" => |file| mayi::lint::lint(file.as_bytes(), &Options::default());
    "lint all" => |file| {
        let mut options = Options::default().with_most_of_each(usize::MAX);
        options.choose(&["style"], &[]).expect("it is a set");
        mayi::lint::lint(file.as_bytes(), &options)
    };
    "fix" => |file| mayi::lint::fix(file.as_bytes(), &Options::default());
    "compare" => |file| mayi::meaning::compare(file.as_bytes(), &ReadOptions::default(), Dialect::BY_TOKEN, None);
    "diff with half" => |file| {
        let half = file.char_indices().nth(file.chars().count() / 2).map_or(0, |(at, _)| at);
        mayi::meaning::diff(&RobotsTxt::parse(file.as_bytes()), &RobotsTxt::parse(&file.as_bytes()[..half]))
    };
    "diff with turned" => |file| {
        let turned: Vec<&str> = file.lines().rev().collect();
        let turned = turned.join("\n");
        mayi::meaning::diff(&RobotsTxt::parse(file.as_bytes()), &RobotsTxt::parse(turned.as_bytes()))
    };
    "diff with allowed" => |file| {
        let other = file.replace("Disallow: /", "Allow: /x");
        mayi::meaning::diff(&RobotsTxt::parse(file.as_bytes()), &RobotsTxt::parse(other.as_bytes()))
    };
    "overview" => |file| {
        let options = ReadOptions::default();
        mayi::meaning::overview(&SiteFile::read(file.as_bytes(), &options), &options)
    };
    "edit, access" => |file| edited(file, &[refusal("/a/"), permission("/a/b")]);
    "edit, everybody" => |file| edited(file, &[Goal::allow(&["*"], "/a/", &Registry::built_in()).expect("a goal")]);
    "edit, statements" => |file| edited(file, &[training(Carrier::ContentUsage), training(Carrier::ContentSignal)]);
    "edit, purposes" => |file| edited(file, &[purposes()]);
    "edit, many goals" => |file| {
        let kinds = [refusal("/"), permission("/a/"), training(Carrier::ContentUsage), purposes()];
        edited(file, &kinds.into_iter().cycle().take(mayi::edit::MOST_GOALS).collect::<Vec<_>>())
    };
    "decide" => |file| RobotsTxt::parse(file.as_bytes()).decide(&crawler(), &target(URL)).is_allowed();
    "decide, long URL" => |file| {
        let url = format!("https://example.com/{}", "ab*$1".repeat(file.len() / 5));
        RobotsTxt::parse(file.as_bytes()).decide(&crawler(), &target(&url)).is_allowed()
    };
    "decide, long query" => |file| RobotsTxt::parse(file.as_bytes()).decide(&crawler(), &target(&long_query(file.len()))).is_allowed();
    "prepared, long query" => |file| {
        let rules = RobotsTxt::parse(file.as_bytes()).for_crawler(&crawler());
        rules.decide(&target(&long_query(file.len()))).is_allowed()
    };
    "decide, long token" => |file| {
        let crawler = Crawler::new(&"a".repeat(file.len())).expect("a token");
        RobotsTxt::parse(file.as_bytes()).decide(&crawler, &target(URL)).is_allowed()
    };
    "decide, google" => |file| {
        let options = ReadOptions::default().with_dialect(Dialect::GOOGLE);
        RobotsTxt::read(file.as_bytes(), &options).decide(&crawler(), &target(URL)).is_allowed()
    };
    "decide, urllib" => |file| as_sent(file, Dialect::URLLIB);
    "decide, protego" => |file| as_sent(file, Dialect::PROTEGO);
    "for_crawler" => |file| RobotsTxt::parse(file.as_bytes()).for_crawler(&crawler());
    "prepared" => |file| {
        let rules = RobotsTxt::parse(file.as_bytes()).for_crawler(&crawler());
        rules.decide(&target(URL)).is_allowed()
    };
    "rules of all crawlers" => |file| rules_of_all(file, Dialect::RFC9309);
    "rules of all crawlers, google" => |file| rules_of_all(file, Dialect::GOOGLE);
    "explain" => |file| {
        let robots = RobotsTxt::parse(file.as_bytes());
        let (crawler, target) = (crawler(), target(URL));
        robots.explain(&crawler, &target).matches().len()
    };
    "request" => |file| answered(&request(file, None));
    "many requests" => |file| many_answered(file);
    "prepared report" => |file| {
        let file = SiteFile::read(file.as_bytes().to_vec(), &ReadOptions::default());
        let mut out = Vec::new();
        Prepared::new(file, crawler(), None).write(&target(URL), &mut out)
    };
    "UTF-16" => |file| {
        let octets: Vec<u8> = [0xFF, 0xFE].into_iter().chain(file.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        mayi::lint::lint(&octets, &Options::default()).diagnostics().len()
    };
    "lint, not text" => |file| mayi::lint::lint(&not_text(file), &Options::default()).diagnostics().len();
    "format, not text" => |file| mayi::format(&not_text(file)).octets().len();
    "diff, not text" => |file| mayi::meaning::diff(&RobotsTxt::parse(file.as_bytes()), &RobotsTxt::parse(&not_text(file)));
    "report, not text" => |file| {
        let file = SiteFile::read(not_text(file), &ReadOptions::default());
        serde_json::to_string(&file.report(&crawler(), &target(URL))).expect("JSON").len()
    };
};

/// The report of an edit, as the service answers it.
fn edited(file: &str, goals: &[Goal]) -> usize {
    let report = mayi::edit::report(file.as_bytes(), goals, &ReadOptions::default());
    serde_json::to_string(&report).expect("JSON").len()
}

fn refusal(path: &str) -> Goal {
    Goal::refuse(&["training", "examplebot"], path, &Registry::built_in()).expect("a goal")
}

fn permission(path: &str) -> Goal {
    Goal::allow(&["search", "examplebot"], path, &Registry::built_in()).expect("a goal")
}

fn training(carrier: Carrier) -> Goal {
    let mut preferences = Preferences::default();
    preferences.train = Preference::Disallowed;
    Goal::prefer(carrier, preferences).expect("a goal")
}

fn purposes() -> Goal {
    let names: Vec<String> = (0..100).map(|n| format!("purpose-{n}")).collect();
    Goal::refuse_purposes(&names).expect("a goal")
}

/// The rules of each crawler that the file names, and of one more for each line, as an audit of a log that names them all
/// asks for them.
fn rules_of_all(file: &str, dialect: Dialect) -> usize {
    let options = ReadOptions::default().with_dialect(dialect);
    let rules = RulesByGroups::new(SiteFile::read(file.as_bytes().to_vec(), &options));
    let mut found = 0;
    for (number, line) in file.lines().enumerate() {
        let name = line.split_once(':').map_or("", |(_, value)| value.trim());
        let end = name.find(|letter: char| !(letter.is_ascii_alphanumeric() || "._-".contains(letter)));
        let other = format!("bot{number}");
        for name in [&name[..end.unwrap_or(name.len())], &other] {
            let Ok(crawler) = Crawler::new(name) else { continue };
            // As an audit, whose lines have 75 octets and more, and get 4,096. Here two crawlers share a line.
            let units = 27 * line.len();
            found += rules.for_crawler_within(units, &crawler).map_or(0, |rules| rules.len());
        }
    }
    found
}

/// A decision for a crawler with a long User-Agent string, in a dialect that compares names as they are written.
fn as_sent(file: &str, dialect: Dialect) -> bool {
    let sent = format!("Mozilla/5.0 (compatible; {}bot/1.0)", "examplebot ".repeat(90));
    let robots = RobotsTxt::read(file.as_bytes(), &ReadOptions::default().with_dialect(dialect));
    robots.decide(&Crawler::from_user_agent(&sent), &target(URL)).is_allowed()
}

/// The file with octets that are no text where it has digits.
fn not_text(file: &str) -> Vec<u8> {
    file.bytes().map(|octet| if octet.is_ascii_digit() { octet | 0xC0 } else { octet }).collect()
}

/// What is asked of the head of a page.
pub const OF_PAGES: &[Function] = functions! {
    "page rules" => |html| PageControls::read(&[], html.as_bytes()).for_crawler(&crawler());
    "page rules of text" => |html| PageControls::read_text(&[], html, PageOptions::default()).for_crawler(&crawler());
    "request with page" => |html| answered(&request("", Some(("", html))));
};

/// What is asked of a header field.
pub const OF_FIELDS: &[Function] = functions! {
    "Robots-Tag" => |field| PageControls::read(&[("Robots-Tag", field)], b"").for_crawler(&crawler());
    "X-Robots-Tag" => |field| PageControls::read(&[("X-Robots-Tag", field)], b"").for_crawler(&crawler());
    "X-Robots-Tag, all read" => |field| {
        let mut options = PageOptions::default();
        options.field_octets = usize::MAX;
        PageControls::read_with(&[("X-Robots-Tag", field)], b"", options).for_crawler(&crawler())
    };
    "Content-Usage" => |field| RobotsTxt::parse(b"").usage(&crawler(), &target(URL), &[("Content-Usage", field)]);
    "Content-Signal" => |field| RobotsTxt::parse(b"").usage(&crawler(), &target(URL), &[("Content-Signal", field)]);
    "freshness" => |field| mayi::access::fresh_for([("Cache-Control", field), ("Expires", field)], std::time::SystemTime::UNIX_EPOCH);
    "request with field" => |field| answered(&request("", Some((field, ""))));
};

/// What is asked of a path.
pub const OF_PATHS: &[Function] = functions! {
    "target" => |path| Target::parse(&format!("https://example.com/{path}")).map(|target| target.normalised().len());
    "target from path" => |path| Target::from_path(&format!("/{path}")).map(|target| target.normalised().len());
    "decide about it" => |path| {
        let url = format!("https://example.com/{path}");
        let robots = RobotsTxt::parse(b"User-agent: *\nDisallow: /*a*b*c$\nDisallow: /*%2A%2A$x\nAllow: /*?u=http://a\n");
        Target::parse(&url).map(|target| (robots.decide(&crawler(), &target).is_allowed(), robots.explain(&crawler(), &target).matches().len()))
    };
    "origin" => |path| mayi::access::Origin::of_url(&format!("https://example.com/{path}"));
    "origin's host" => |path| mayi::access::Origin::of_url(&format!("https://{path}.example/"));
    "pattern" => |path| mayi::PathPattern::new(format!("/{path}").as_bytes()).matches(&target(URL));
    "crawler" => |path| Crawler::new(path).and_then(|_| Crawler::new("a")).map(|crawler| crawler.with_user_agent(path));
};
