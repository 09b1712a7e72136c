//! Files and questions that grow in one direction → how the cost of each engine grows with them.
//!
//! Each point is measured as a hostile case is: the engine meets the file in a process of its own, which
//! is ended when its time is up, and the answers are checked. Times are processor time: the median of
//! repetitions. An engine that had no answer is not asked about anything larger.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::contest::{self, CONTESTANTS, Cost, Outcome};
use crate::engines::{Engine as _, MayiOwned, MayiPrepared, Robotstxt, Robotxt, TextingRobots, title};
use crate::hostile::Case;
use crate::plot::{Line, Plot};

/// What grows, and what is measured.
pub struct Curve {
    /// Of the file that it is drawn to, and on the command line.
    pub name: &'static str,
    title: &'static str,
    grows: &'static str,
    part: Part,
    at: &'static [usize],
    pub make: fn(usize) -> Case,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Keep,
    Decide,
}

const RULES: &[usize] = &[1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 20_000, 50_000];

pub const CURVES: &[Curve] = &[
    Curve {
        name: "literal-rules",
        title: "A decision against literal rules in the group, none of which matches",
        grows: "rules of the form /dNNNNN/ in the group",
        part: Part::Decide,
        at: RULES,
        make: |rules| group(rules, "/d", "/"),
    },
    Curve {
        name: "wildcard-rules",
        title: "A decision against wildcard rules in the group, none of which matches",
        grows: "rules of the form /*dNNNNN/ in the group",
        part: Part::Decide,
        at: RULES,
        make: |rules| group(rules, "/*d", "/"),
    },
    Curve {
        name: "wildcards",
        title: "A decision against wildcards in one pattern",
        grows: "n in the pattern /(*a)ⁿ*b; the path has 8,000 times a",
        part: Part::Decide,
        at: &[1, 4, 16, 64, 256, 1_024, 4_096],
        make: |wildcards| one_rule(&format!("/{}*b", "*a".repeat(wildcards)), 8_000),
    },
    Curve {
        name: "pattern-length",
        title: "A decision against the length of one pattern",
        grows: "n in the pattern /*aⁿba; the path has 32,000 times a",
        part: Part::Decide,
        at: &[10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000],
        make: |octets| one_rule(&format!("/*{}ba", "a".repeat(octets)), 32_000),
    },
    Curve {
        name: "path-length",
        title: "A decision against the length of a hostile path",
        grows: "octets a of the path; the pattern is /*a¹⁰⁰ba*c",
        part: Part::Decide,
        at: &[10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000],
        make: |octets| one_rule(&format!("/*{}ba*c", "a".repeat(100)), octets),
    },
    Curve {
        name: "url-length",
        title: "A decision against the length of an ordinary URL",
        grows: "octets of the path; the group has 40 ordinary rules",
        part: Part::Decide,
        at: &[10, 30, 100, 300, 1_000, 3_000, 10_000],
        make: ordinary_url,
    },
    Curve {
        name: "file-size",
        title: "Reading and keeping a file against its size",
        grows: "octets of the file: groups of 20 ordinary rules",
        part: Part::Keep,
        at: &[300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 500_000],
        make: ordinary_file,
    },
    Curve {
        name: "groups",
        title: "Reading and keeping a file against its groups",
        grows: "groups of one rule",
        part: Part::Keep,
        at: &[1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000],
        make: groups,
    },
];

pub fn find(name: &str) -> Option<&'static Curve> {
    CURVES.iter().find(|curve| curve.name == name)
}

/// Measures every curve, and draws each into a file of the folder, with the figures beside them.
pub fn draw_all(folder: &Path, quick: bool) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut figures = "curve\tengine\tat\tseconds\n".to_owned();
    for curve in CURVES {
        eprintln!("curves: {}", curve.title);
        let plot = curve.measure(quick)?;
        for line in &plot.lines {
            for (at, seconds) in &line.points {
                let _ = writeln!(figures, "{}\t{}\t{at}\t{seconds:.3e}", curve.name, line.name);
            }
        }
        std::fs::write(folder.join(format!("{}.svg", curve.name)), plot.svg())?;
    }
    std::fs::write(folder.join("figures.tsv"), figures)
}

impl Curve {
    fn measure(&self, quick: bool) -> io::Result<Plot> {
        let patience = Duration::from_secs(if quick { 1 } else { 3 });
        let mut lines = Vec::new();
        for contestant in CONTESTANTS {
            let (name, class) = name_and_class(contestant.name, self.part);
            let mut line = Line { name, class, points: Vec::new(), broken: false };
            for &at in self.at {
                // What this engine does not read costs it nothing: that would be no point of its curve.
                const READ_BY_ROBOTXT: usize = 500 << 10;
                if contestant.name == Robotxt::NAME && (self.make)(at).file.len() > READ_BY_ROBOTXT {
                    break;
                }
                let arguments = ["curve", self.name, &at.to_string(), contestant.name];
                let mut outcome = contest::meet_in_time(&arguments, patience)?;
                if !matches!(outcome, Outcome::Answered(_)) {
                    // A machine that others use can make anybody late once.
                    outcome = contest::meet_in_time(&arguments, 4 * patience)?;
                }
                let Outcome::Answered(cost) = outcome else {
                    if contestant.name.starts_with("mayi") {
                        let (name, engine) = (self.name, contestant.name);
                        return Err(io::Error::other(format!("{name}: {engine} fails at {at}")));
                    }
                    line.broken = true;
                    break;
                };
                line.points.push((at as f64, self.part.of(&cost)));
            }
            lines.push(line);
        }
        let y_axis = match self.part {
            Part::Keep => {
                "Processor time to read and keep the file. For robotstxt, which keeps nothing: parse events."
            }
            Part::Decide => {
                "Processor time of a decision. For robotstxt, which keeps nothing: with parsing. × no answer in time."
            }
        };
        Ok(Plot { title: self.title, x_axis: self.grows, y_axis, lines })
    }
}

impl Part {
    fn of(self, cost: &Cost) -> f64 {
        match self {
            Self::Keep => cost.keep,
            Self::Decide => cost.decide,
        }
    }
}

fn name_and_class(engine: &str, part: Part) -> (String, &'static str) {
    match engine {
        MayiPrepared::NAME if part == Part::Keep => ("mayi, and prepared".to_owned(), "own-direct"),
        MayiPrepared::NAME => ("mayi, prepared".to_owned(), "own"),
        MayiOwned::NAME if part == Part::Keep => ("mayi, all crawlers".to_owned(), "own"),
        MayiOwned::NAME => ("mayi, from the text".to_owned(), "own-direct"),
        Robotxt::NAME => (title(engine), "first"),
        TextingRobots::NAME => (title(engine), "second"),
        Robotstxt::NAME => (title(engine), "third"),
        _ => (title(engine), "guide"),
    }
}

fn group(rules: usize, before: &str, behind: &str) -> Case {
    let mut file = "User-agent: *\n".to_owned();
    for rule in 0..rules {
        let _ = writeln!(file, "Disallow: {before}{rule:05}{behind}");
    }
    let paths =
        ["/", "/search?q=robots&page=2", "/d1234/page.html", "/articles/2019/08/a-long-title.html"];
    case(file, &paths, true)
}

fn one_rule(pattern: &str, path_octets: usize) -> Case {
    let path = format!("/{}", "a".repeat(path_octets));
    case(format!("User-agent: *\nDisallow: {pattern}\n"), &[&path], true)
}

/// Rules as sites write them, a few of each kind.
fn push_rules(file: &mut String, from: usize, rules: usize) {
    for rule in from..from + rules {
        let _ = match rule % 8 {
            0 => writeln!(file, "Disallow: /*?sort{rule}="),
            1 => writeln!(file, "Disallow: /*.p{rule}df$"),
            2 => writeln!(file, "Allow: /content/public{rule}/"),
            _ => writeln!(file, "Disallow: /folder{rule}/private/"),
        };
    }
}

fn ordinary_url(octets: usize) -> Case {
    let mut file = "User-agent: *\n".to_owned();
    push_rules(&mut file, 0, 40);
    let mut path = "/articles/some-words-".repeat(octets / 21 + 1);
    path.truncate(octets);
    case(file, &[&path], true)
}

fn ordinary_file(octets: usize) -> Case {
    let mut file = String::new();
    let mut rules = 0;
    while file.len() < octets {
        let _ = write!(file, "User-agent: crawler{rules}\n# what it should leave alone\n");
        push_rules(&mut file, rules, 20);
        rules += 20;
        file.push('\n');
    }
    file.truncate(octets);
    case(file, &["/"], true)
}

fn groups(groups: usize) -> Case {
    let mut file = String::new();
    for group in 0..groups {
        let _ = write!(file, "User-agent: crawler{group}\nDisallow: /{group}\n\n");
    }
    case(file, &["/"], true)
}

fn case(file: String, paths: &[&str], allowed: bool) -> Case {
    let urls = paths.iter().map(|path| format!("https://example.com{path}")).collect();
    Case { file: file.into_bytes(), urls, allowed }
}
