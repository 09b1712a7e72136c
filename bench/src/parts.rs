//! mayi compared with itself: what the extensions cost a crawler that uses none, and what a page costs.
//!
//! Each part runs alone in a process of its own under callgrind, as often as it says, and what loading
//! the program costs is taken off.

use std::fmt::Write as _;
use std::io;
use std::process::{Command, Stdio};

use cpu_time::ThreadTime;
use mayi::page::{PageControls, PageOptions};
use mayi::{Crawler, RobotsTxt, Target};

/// How often a part is done.
const TIMES: usize = 500;

/// Does one part.
pub fn run(name: &str) -> Result<(), String> {
    let crawler = Crawler::new("ExampleBot").map_err(|error| error.to_string())?;
    let target =
        Target::parse("https://example.com/section-41/page.html").map_err(|error| error.to_string())?;
    let (plain, extended) = (file(false), file(true));
    let (page, head) = (page(100 * 1024), page(0));
    match name {
        "nothing" => {}
        "plain" | "extended" => {
            let octets = if name == "plain" { plain.as_bytes() } else { extended.as_bytes() };
            let robots = RobotsTxt::parse(octets);
            for _ in 0..TIMES {
                assert!(!std::hint::black_box(&robots).decide(&crawler, &target).is_allowed());
            }
        }
        "page" | "head" => {
            let html = if name == "page" { page.as_bytes() } else { head.as_bytes() };
            for _ in 0..TIMES {
                let controls = PageControls::read(&[], std::hint::black_box(html));
                assert!(!controls.for_crawler(&crawler).may_index());
            }
        }
        _ => return Err("no such part".to_owned()),
    }
    Ok(())
}

/// A file as sites have them, with or without lines of every extension.
fn file(with_extensions: bool) -> String {
    let mut file = String::from("User-agent: OtherBot\nDisallow: /\n\nUser-agent: *\n");
    for number in 0..60 {
        writeln!(file, "Disallow: /section-{number}/").expect("writing to memory does not fail");
        if with_extensions && number % 6 == 0 {
            writeln!(
                file,
                "App-Directives: /section-{number}/ examplesearch;widgets=?0\n\
                 Content-Usage: /section-{number}/ train-ai=n\nDisallowAITraining: /section-{number}/x"
            )
            .expect("writing to memory does not fail");
        }
    }
    if with_extensions {
        file += "Content-Signal: search=yes, ai-train=no, use=reference\nCrawl-delay: 2\n\n\
                 User-Agent-Purpose: EXAMPLE-PURPOSE-1\nDisallow: /purpose\n\n\
                 User-agent: .*-ai$\nDisallow: /training\n\nLicense: https://example.com/license.xml\n";
    }
    file
}

/// A page with a head of 4 KiB and a body of so many octets, if any.
fn page(body: usize) -> String {
    let mut page = String::from("<!doctype html><html><head><title>A page</title>");
    while page.len() < 4000 {
        page += "<link rel=stylesheet href=/style.css>";
    }
    page += "<meta name=robots content=noindex></head>";
    if body > 0 {
        page += "<body>";
        page += &"<p class=text>Some text.</p>".repeat(body / 28);
    }
    page
}

/// The section of the report.
pub fn report(counts: bool) -> io::Result<String> {
    let mut report = String::from("\n## Extensions and pages\n\nmayi compared with itself.\n\n");
    if counts {
        eprintln!("instructions: extensions and pages");
        let nothing = instructions("nothing")?;
        let each = |part| -> io::Result<u64> {
            Ok(instructions(part)?.saturating_sub(nothing) / TIMES as u64)
        };
        let (plain, extended) = (each("plain")?, each("extended")?);
        let (head, page) = (each("head")?, each("page")?);
        report += "| part | instructions | ratio |\n| --- | ---: | ---: |\n";
        let mut row = |what: &str, count: u64, of: u64| {
            let ratio = count as f64 / of as f64;
            writeln!(report, "| {what} | {count} | × {ratio:.2} |")
                .expect("writing to memory does not fail");
        };
        row("decide, a file of 60 rules without extensions", plain, plain);
        row(
            "decide, the same file with lines of every extension, for a crawler that uses none",
            extended,
            plain,
        );
        row("page rules, a head of 4 KiB alone", head, head);
        row("page rules, the same head and a body of 100 KiB", page, head);
    } else {
        report += "Instructions were not measured: valgrind is not installed.\n";
    }
    report += "\nHostile pages, with the limit raised to take them whole: milliseconds by size.\n\n\
               | page | 2.5 MiB | 5 MiB | 10 MiB |\n| --- | ---: | ---: | ---: |\n";
    for (name, unit) in [
        ("a head without an end", "<link>"),
        ("one tag", "a"),
        ("attributes", " a=b"),
        ("a comment without an end", "-"),
        ("one robots meta after the other", "<meta name=robots content=x>"),
        ("nested templates", "<template>"),
    ] {
        let start = match name {
            "one tag" | "attributes" => "<a",
            "a comment without an end" => "<!--",
            _ => "",
        };
        let times: Vec<String> =
            [5, 10, 20].into_iter().map(|half_mib| time(start, unit, half_mib << 19)).collect();
        writeln!(report, "| {name} | {} |", times.join(" | "))
            .expect("writing to memory does not fail");
    }
    Ok(report)
}

fn time(start: &str, unit: &str, octets: usize) -> String {
    let html = format!("{start}{}", unit.repeat(octets / unit.len()));
    let mut options = PageOptions::default();
    options.html_octets = html.len();
    let began = ThreadTime::now();
    std::hint::black_box(PageControls::read_with(&[], html.as_bytes(), options));
    format!("{:.1}", began.elapsed().as_secs_f64() * 1000.0)
}

/// How many instructions this program takes to do a part.
fn instructions(part: &str) -> io::Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args(["part", part])
        .stdout(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    count.ok_or_else(|| io::Error::other(format!("callgrind said no number for `{part}`: {said}")))
}
