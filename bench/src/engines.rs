//! Engines of very different shapes → one trait: keep a file, then say what it allows.
//!
//! Nothing here helps or hinders a rival: each is called as its own documentation shows, with what
//! it asks for. One that parses for a single crawler is given that crawler; one that takes a parsed
//! URL has the parsing counted, since a crawler has URLs as text.

use std::borrow::Cow;
use std::hint::black_box;

use mayi::{Crawler, CrawlerRules, Dialect, Limits, ReadOptions, RobotsTxt, Target};
use robotstxt::{DefaultMatcher, RobotsParseHandler};
use url::Url;

/// A crawler that asks, in the forms that the engines want.
pub struct Asker {
    pub name: &'static str,
    crawler: Crawler,
}

impl Asker {
    pub fn new(name: &'static str) -> Self {
        Self { name, crawler: Crawler::new(name).expect("a product token") }
    }
}

/// One engine, used in one way.
pub trait Engine: 'static {
    /// How the command line and the tables call it; the tables add a rival's version.
    const NAME: &'static str;
    /// What of a file is there after reading it.
    const KEEPS: &'static str;
    /// A file that was read.
    type Kept<'t>: 't;

    /// Reads a file, or refuses it whole.
    fn keep<'t>(octets: &'t [u8], asker: &Asker) -> Option<Self::Kept<'t>>;

    fn allows_url(kept: &Self::Kept<'_>, asker: &Asker, url: &str) -> bool;

    /// Is asked with the path and query already cut out of the URL.
    fn allows_path(kept: &Self::Kept<'_>, asker: &Asker, path: &str) -> bool;

    /// Reads a file only to have read it; whether it was not refused.
    fn read(octets: &[u8], asker: &Asker) -> bool {
        black_box(Self::keep(octets, asker)).is_some()
    }
}

/// Reads in a dialect of mayi. The largest file of the corpus is over the default limit, and the
/// reference decisions were made without one.
fn read_in(octets: &[u8], dialect: Dialect) -> RobotsTxt<'_> {
    const LIMITS: Limits = match Limits::with_file_octets(4 << 20) {
        Ok(limits) => limits,
        Err(_) => panic!("it is between the least and the most"),
    };
    RobotsTxt::read(octets, &ReadOptions::default().with_dialect(dialect).with_limits(LIMITS))
}

fn target(url: &str) -> Target<'_> {
    Target::parse(url).expect("the workloads have good URLs")
}

fn target_of_path(path: &str) -> Target<'_> {
    Target::from_path(path).expect("the workloads have good paths")
}

/// Implements the engine for a file of mayi that is asked directly.
macro_rules! mayi_file {
    ($(#[$doc:meta])* $type:ident, $name:literal, $keeps:literal, $read:expr) => {
        $(#[$doc])*
        pub struct $type;

        impl Engine for $type {
            const NAME: &'static str = $name;
            const KEEPS: &'static str = $keeps;
            type Kept<'t> = RobotsTxt<'t>;

            fn keep<'t>(octets: &'t [u8], _: &Asker) -> Option<RobotsTxt<'t>> {
                let read: fn(&'t [u8]) -> RobotsTxt<'t> = $read;
                Some(read(octets))
            }

            fn allows_url(kept: &RobotsTxt<'_>, asker: &Asker, url: &str) -> bool {
                kept.decide(&asker.crawler, &target(url)).is_allowed()
            }

            fn allows_path(kept: &RobotsTxt<'_>, asker: &Asker, path: &str) -> bool {
                kept.decide(&asker.crawler, &target_of_path(path)).is_allowed()
            }
        }
    };
}

/// Implements the engine for mayi with the rules of one crawler prepared.
macro_rules! mayi_prepared {
    ($(#[$doc:meta])* $type:ident, $name:literal, $dialect:expr) => {
        $(#[$doc])*
        pub struct $type;

        impl Engine for $type {
            const NAME: &'static str = $name;
            const KEEPS: &'static str = "one crawler, indexed, without the text";
            type Kept<'t> = CrawlerRules;

            fn keep(octets: &[u8], asker: &Asker) -> Option<CrawlerRules> {
                Some(read_in(octets, $dialect).for_crawler(&asker.crawler))
            }

            fn allows_url(kept: &CrawlerRules, _: &Asker, url: &str) -> bool {
                kept.decide(&target(url)).is_allowed()
            }

            fn allows_path(kept: &CrawlerRules, _: &Asker, path: &str) -> bool {
                kept.decide(&target_of_path(path)).is_allowed()
            }
        }
    };
}

mayi_file!(
    /// The default dialect, reading text that the caller keeps.
    Mayi,
    "mayi",
    "all crawlers; borrows the text",
    |octets| read_in(octets, Dialect::RFC9309)
);
mayi_file!(
    /// The default dialect, with the text copied.
    MayiOwned,
    "mayi-owned",
    "all crawlers and the text",
    |octets| read_in(octets, Dialect::RFC9309).into_owned()
);
mayi_file!(
    /// The dialect that must give the reference decisions.
    MayiGoogle,
    "mayi-google",
    "all crawlers; borrows the text",
    |octets| read_in(octets, Dialect::GOOGLE)
);
mayi_prepared!(
    /// The default dialect, for many questions of one crawler.
    MayiPrepared,
    "mayi-prepared",
    Dialect::RFC9309
);
mayi_prepared!(
    /// The dialect that must give the reference decisions, for many questions of one crawler.
    MayiGooglePrepared,
    "mayi-google-prepared",
    Dialect::GOOGLE
);

/// The crate robotxt: reads for one crawler, and the first 500 KiB only.
pub struct Robotxt;

impl Engine for Robotxt {
    const NAME: &'static str = "robotxt";
    const KEEPS: &'static str = "one crawler";
    type Kept<'t> = robotxt::Robots;

    fn keep(octets: &[u8], asker: &Asker) -> Option<robotxt::Robots> {
        Some(robotxt::Robots::parse(octets, asker.name))
    }

    fn allows_url(kept: &robotxt::Robots, _: &Asker, url: &str) -> bool {
        kept.is_url_allowed(&Url::parse(url).expect("the workloads have good URLs"))
    }

    fn allows_path(kept: &robotxt::Robots, _: &Asker, path: &str) -> bool {
        kept.is_allowed(path)
    }
}

/// The crate texting_robots: reads for one crawler, and may refuse a file.
pub struct TextingRobots;

impl Engine for TextingRobots {
    const NAME: &'static str = "texting_robots";
    const KEEPS: &'static str = "one crawler";
    type Kept<'t> = texting_robots::Robot;

    fn keep(octets: &[u8], asker: &Asker) -> Option<texting_robots::Robot> {
        texting_robots::Robot::new(asker.name, octets).ok()
    }

    fn allows_url(kept: &texting_robots::Robot, _: &Asker, url: &str) -> bool {
        kept.allowed(url)
    }

    fn allows_path(kept: &texting_robots::Robot, _: &Asker, path: &str) -> bool {
        kept.allowed(path)
    }
}

/// The crate robotstxt, a port of google/robotstxt: keeps nothing, parses the text for each question.
pub struct Robotstxt;

impl Engine for Robotstxt {
    const NAME: &'static str = "robotstxt";
    const KEEPS: &'static str = "nothing: parse events only";
    type Kept<'t> = Cow<'t, str>;

    fn keep<'t>(octets: &'t [u8], _: &Asker) -> Option<Cow<'t, str>> {
        Some(String::from_utf8_lossy(octets))
    }

    fn allows_url(kept: &Cow<'_, str>, asker: &Asker, url: &str) -> bool {
        DefaultMatcher::default().one_agent_allowed_by_robots(kept, asker.name, url)
    }

    fn allows_path(kept: &Cow<'_, str>, asker: &Asker, path: &str) -> bool {
        Self::allows_url(kept, asker, path)
    }

    fn read(octets: &[u8], _: &Asker) -> bool {
        let mut values = Values(0);
        robotstxt::parse_robotstxt(&String::from_utf8_lossy(octets), &mut values);
        black_box(values.0);
        true
    }
}

/// The least that a handler can do and still need every event: it adds up the lengths of values.
struct Values(usize);

impl RobotsParseHandler for Values {
    fn handle_robots_start(&mut self) {}
    fn handle_robots_end(&mut self) {}
    fn handle_user_agent(&mut self, _: u32, value: &str) {
        self.0 += value.len();
    }
    fn handle_allow(&mut self, _: u32, value: &str) {
        self.0 += value.len();
    }
    fn handle_disallow(&mut self, _: u32, value: &str) {
        self.0 += value.len();
    }
    fn handle_sitemap(&mut self, _: u32, value: &str) {
        self.0 += value.len();
    }
    fn handle_unknown_action(&mut self, _: u32, _: &str, value: &str) {
        self.0 += value.len();
    }
}

/// An engine's name with the version that the lock file has: a report can't name another.
pub fn title(name: &str) -> String {
    let lock = include_str!("../Cargo.lock");
    let entry = format!("name = \"{name}\"\nversion = \"");
    match lock.split_once(&entry).and_then(|(_, rest)| rest.split_once('"')) {
        Some((version, _)) if !name.starts_with("mayi") => format!("{name} {version}"),
        _ => name.replacen('-', ", ", 1).replace('-', " "),
    }
}
