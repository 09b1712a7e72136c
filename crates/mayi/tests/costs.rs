//! No input costs more than its size, as far as work is counted: what lint, compare, diff and overview spend beyond
//! reading grows no faster than the file, and where the budget ends an answer, the answer says so.
//!
//! The tool in `bench/worst` looks for input that breaks this, by time and by instructions. What it found is
//! here, made small. Nothing is timed: units of work are the same on every machine.

use mayi::access::SiteFile;
use mayi::edit::{Goal, MOST_GOALS, Unedited, edit};
use mayi::lint::{Options, lint};
use mayi::meaning::{Meaning, compare, diff, diff_within, overview};
use mayi::page::PageControls;
use mayi::registry::Registry;
use mayi::report::LintReport;
use mayi::{Crawler, Dialect, Limits, ReadOptions, RobotsTxt, Spent, Target};

/// One kind of line, by its number.
type Kind = fn(usize) -> String;

/// Lines that made something quadratic, or worse, when they were found.
const KINDS: &[(&str, Kind)] = &[
    ("groups", |n| format!("User-agent: a{n}x\nDisallow: /{n}")),
    ("names", |n| format!("User-agent: bot{n}")),
    ("near names", |n| format!("User-agent: Goglebot{n}")),
    ("unnamed", |n| format!("User-agent: unnamed-crawler{}", "-x".repeat(n % 300))),
    ("versions", |n| format!("User-agent: a{n}b/1.{n} x")),
    ("long names", |n| format!("User-agent: {}", "ab".repeat(n % 700))),
    ("expressions", |n| format!("User-agent: .*a{n}")),
    ("large expressions", |n| format!("User-agent: ({}b{n})*c", "a?|.a|".repeat(60))),
    ("counted expressions", |_| "User-agent: (?:.*x?){60}N".to_owned()),
    ("broken expressions", |n| format!("User-agent: [{n}")),
    ("rules", |n| format!("Disallow: /{n}")),
    ("wildcards", |n| format!("Allow: /*{n}*a")),
    ("literal stars", |n| format!("Disallow: /%2A{n}")),
    ("literal dollars", |n| format!("Disallow: /*$$$%24{n}")),
    ("index pages", |n| format!("Allow: /%2A{n}/index.html")),
    ("folders", |n| format!("Disallow: /{n}/a/b/c/d/E/f")),
    ("blank rules", |_| "Disallow:".to_owned()),
    ("signals", |n| format!("Content-Signal: k{n}=yes, ai-train=no")),
    ("statements", |n| format!("Content-Usage: /{n} k{n}=y")),
    ("applications", |n| format!("App-Directives: /a examplesearch;w{n}=1")),
    ("silences", |_| format!("# mayi: allow({})", "P001,".repeat(40))),
    ("unknown silences", |n| format!("# mayi: allow(missing-{n},near-crawlr)")),
    ("one application", |n| format!("App-Directives: examplesearch{}", format!(";w{n}").repeat(30))),
    ("labels", |n| format!("Content-Usage: {}", format!("k{n}=y,").repeat(30).trim_end_matches(','))),
    ("cases of letters", |n| format!("Disallow: /{}/x{n}", ["Ab", "aB", "AB"][n % 3])),
    ("unreadable", |_| "x".to_owned()),
    ("runs of wildcards", |n| format!("Disallow: /{}{n}{}$", "*".repeat(n % 90), "*".repeat(n % 70))),
    ("mixed line ends", |n| format!("Disallow: /{n}\r\nAllow: /{n}\n\rDisallow:\r\r\n\rx\r")),
    ("sets of names", |n| {
        format!("User-agent: a{}\nUser-agent: b{}\nUser-agent: c{n}\nDisallow: /*{n}", n % 3, n % 50)
    }),
    ("one name again", |n| format!("User-agent: ExampleBot\nDisallow: /{n}")),
    ("one signal again", |n| {
        format!("Content-Signal: {}k{n}=yes", "ai-train=no,AI-Train=yes,".repeat(20))
    }),
    ("short silences", |_| format!("# mayi: allow({})", "a,".repeat(40))),
    ("colons", |_| ":".to_owned()),
    ("hosts", |_| "Host:a".to_owned()),
    ("short expressions", |_| "User-agent:.*\nAllow:/".to_owned()),
    ("short statements", |_| "Content-Usage:a".to_owned()),
];

/// A file of about so many octets: lines of two kinds in turn, or one kind in each half, in a group.
fn file(first: Kind, second: Kind, in_turn: bool, octets: usize) -> String {
    let mut text = String::from("User-agent: *\nUser-agent: examplebot\n");
    let mut n = 0;
    while text.len() < octets {
        let is_first = if in_turn { n % 2 == 0 } else { text.len() < octets / 2 };
        text += &(if is_first { first } else { second })(n);
        text.push('\n');
        n += 1;
    }
    text
}

/// What is spent on a file, by what is asked.
fn spent(text: &str) -> [(&'static str, Spent); 5] {
    let octets = text.as_bytes();
    let old = RobotsTxt::parse(octets);
    let turned: Vec<&str> = text.lines().rev().collect();
    let turned = turned.join("\n");
    let allowed = text.replace("Disallow: /", "Allow: /x");
    let against = |new: &str| diff(&old, &RobotsTxt::parse(new.as_bytes())).spent;
    let options = ReadOptions::default();
    [
        ("overview", overview(&SiteFile::read(octets, &options), &options).spent),
        ("lint", lint(octets, &Options::default()).spent()),
        ("compare", compare(octets, &ReadOptions::default(), Dialect::BY_TOKEN, None).spent),
        ("diff with turned", against(&turned)),
        ("diff with allowed", against(&allowed)),
    ]
}

/// What any answer about input of so many octets may cost: the budget that the documentation gives.
fn budget(octets: usize) -> u64 {
    8_000_000 + 12 * octets as u64
}

#[test]
fn work_is_within_its_budget_for_pairs_of_kinds() {
    for (place, (name, kind)) in KINDS.iter().enumerate() {
        // Alone, and with the kind that stands seven further on: in turn, and in halves.
        let (other_name, other) = KINDS[(place + 7) % KINDS.len()];
        for (second, in_turn) in [(*kind, true), (other, true), (other, false)] {
            let text = file(*kind, second, in_turn, 12 * 1024);
            for (what, spent) in spent(&text) {
                let most = budget(3 * text.len());
                assert!(spent.units <= most, "{what} of {name} and {other_name}: {spent:?}");
            }
        }
    }
}

/// An edit has one budget for all of its goals. Each goal is checked for every known crawler, which takes hundreds of
/// passes over the file.
#[test]
fn goals_of_an_edit_share_a_budget() {
    let text = file(|n| format!("User-agent: bot{n}"), |n| format!("Disallow: /{n}"), false, 8 * 1024);
    let goal =
        |n| Goal::refuse(&["training"], &format!("/a{n}/"), &Registry::built_in()).expect("a goal");
    let goals: Vec<Goal> = (0..MOST_GOALS).map(goal).collect();
    let options = ReadOptions::default();
    assert!(edit(text.as_bytes(), &goals[..1], &options).is_ok());
    assert_eq!(edit(text.as_bytes(), &goals, &options), Err(Unedited::TooCostly));
    // So do the looks at purposes.
    let purposes: Vec<String> = (0..100).map(|n| format!("purpose-{n}")).collect();
    let purposes = Goal::refuse_purposes(&purposes).expect("a goal");
    assert!(edit(text.as_bytes(), std::slice::from_ref(&purposes), &options).is_ok());
    let purposes = vec![purposes; MOST_GOALS];
    assert_eq!(edit(text.as_bytes(), &purposes, &options), Err(Unedited::TooCostly));
}

/// What is a matter of pairs, by what is asked and the kind of line: the budget keeps it in its bounds, and
/// nothing else does.
const PAIRS: &[(&str, &str)] = &[
    ("overview", "groups"),
    ("diff with turned", "groups"),
    ("diff with allowed", "groups"),
    ("lint", "names"),
    ("overview", "near names"),
    ("diff with turned", "near names"),
    ("diff with allowed", "near names"),
    ("compare", "unnamed"),
    ("diff with turned", "unnamed"),
    ("diff with allowed", "unnamed"),
    ("overview", "versions"),
    ("diff with turned", "versions"),
    ("diff with allowed", "versions"),
    ("compare", "long names"),
    ("diff with turned", "long names"),
    ("diff with allowed", "long names"),
    ("diff with allowed", "rules"),
    ("lint", "wildcards"),
    ("lint", "literal dollars"),
    ("overview", "index pages"),
    ("diff with turned", "index pages"),
    ("lint", "runs of wildcards"),
    ("overview", "sets of names"),
];

/// From a file to one of eight times its size, work grows eight times, but for what is known to be a matter of
/// pairs. What is not linear any more fails here at a size at which the budget has ended little.
#[test]
fn work_grows_no_faster_than_the_file() {
    let mut grown = Vec::new();
    for (name, kind) in KINDS {
        let (small, large) = (file(*kind, *kind, true, 3 * 1024), file(*kind, *kind, true, 24 * 1024));
        for ((what, of_small), (_, of_large)) in spent(&small).into_iter().zip(spent(&large)) {
            assert!(of_large.units <= budget(3 * large.len()), "{what} of {name}: {of_large:?}");
            if of_large.units > 12 * of_small.units.max(2000) {
                grown.push((what, *name));
            }
        }
    }
    assert_eq!(grown, PAIRS, "what grows faster than the file, and what is known to");
}

/// What a budget ends says so: the lint that stopped, what was left out of a comparison, a diff that is not
/// called the same.
#[test]
fn what_is_left_out_is_said() {
    let text = file(
        |n| format!("User-agent: a{n}x\nDisallow: /*{n}"),
        |n| format!("Allow: /*{n}a"),
        true,
        20_000,
    );
    let limits = Limits::default().with_work(2_000);
    let reading = ReadOptions::default().with_limits(limits);

    let linted = lint(text.as_bytes(), &Options::default().with_reading(reading.clone()));
    assert!(linted.spent().ran_out.is_some() && linted.spent().units <= 2_000, "{:?}", linted.spent());

    assert_eq!(LintReport::of("robots.txt", &linted).ended_early.as_deref(), linted.spent().ran_out);

    let compared = compare(text.as_bytes(), &reading, Dialect::BY_TOKEN, None);
    assert!(compared.spent.ran_out.is_some(), "{:?}", compared.spent);
    assert!(compared.patterns_left_out > 0 && compared.crawlers_left_out > 0);

    let other = text.replace("Allow: /*1", "Disallow: /*1");
    let (old, new) = (RobotsTxt::parse(text.as_bytes()), RobotsTxt::parse(other.as_bytes()));
    let differing = diff_within(&old, &new, &reading);
    assert!(differing.spent.ran_out.is_some() && differing.left_out > 0, "{:?}", differing.spent);
    assert_ne!(differing.meaning, Meaning::Same);
}

/// A decision is never guessed: what limits there are do not reach it.
#[test]
fn a_decision_has_no_budget() {
    let limits = Limits::default().with_work(0);
    let reading = ReadOptions::default().with_limits(limits);
    let text = file(|n| format!("Disallow: /*{n}%2A"), |n| format!("Allow: /{n}"), true, 20_000);
    let robots = RobotsTxt::read(text.as_bytes(), &reading);
    let crawler = Crawler::new("examplebot").expect("a token");
    let target = Target::parse("https://example.com/a100%2A").expect("a URL");
    assert!(!robots.decide(&crawler, &target).is_allowed());
    assert!(!robots.for_crawler(&crawler).decide(&target).is_allowed());
}

/// A prefix before a list was kept once for each member: 64 KB took a gigabyte. And a restriction behind
/// very many words that nobody knows is still one.
#[test]
fn a_long_list_of_page_rules_is_kept_within_its_size() {
    let crawler = Crawler::new("examplebot").expect("a token");
    let html = format!(
        "<meta name=robots content=\"{}:{}\"><meta name=robots content=\"{}noindex\">",
        "t".repeat(100_000),
        "x,".repeat(50_000),
        "y,".repeat(50_000)
    );
    let rules = PageControls::read(&[], html.as_bytes()).for_crawler(&crawler);
    assert!(!rules.may_index());
    let listed = rules.unsupported();
    let octets: usize = listed.iter().map(|(text, _)| text.len()).sum();
    assert!(listed.len() <= 1100 && octets < 2 * html.len(), "{} of {octets} octets", listed.len());
    assert!(listed.iter().any(|(text, _)| text == "… and 49000 more"), "what was not kept is told");
}

/// The limit on words that nobody knows was one for each element: 128 KB of elements took 8 MB.
#[test]
fn many_lists_of_page_rules_share_their_room() {
    let crawler = Crawler::new("examplebot").expect("a token");
    let element = format!("<meta name=robots content=\"{}all,all,ALL\">", "x,".repeat(700));
    let rules = PageControls::read(&[], format!("{}noindex", element.repeat(90)).as_bytes())
        .for_crawler(&crawler);
    assert_eq!(rules.rules().len(), 1);
    let listed = rules.unsupported();
    assert_eq!(listed.iter().filter(|(text, _)| text == "x").count(), 1000);
    let told: Vec<_> = listed.iter().filter(|(text, _)| text != "x").map(|(text, _)| &**text).collect();
    assert_eq!((told.len(), told[0], told[88]), (89, "… and 400 more", "… and 700 more"));
}
