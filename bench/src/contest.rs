//! Hostile cases and engines → what each case costs each engine, or that there was no answer in time.
//!
//! Each engine reads each case in a separate process, which is ended when its time is up. That way
//! the bench always comes to its end, and an engine that falls over takes nothing with it.

use std::hint::black_box;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::corpus::CRAWLERS;
use crate::engines::{Asker, Engine, MayiOwned, MayiPrepared, Robotstxt, Robotxt, TextingRobots};
use crate::heap;
use crate::hostile::{self, Case, RECIPES, Recipe};
use crate::measure::{median, repeat};

/// One engine that takes part.
pub struct Contestant {
    pub name: &'static str,
    /// Meets a case and prints what it cost.
    pub meet: fn(&Case) -> io::Result<()>,
    /// Keeps the file of a case and asks about each of its URLs, each as often as it shall.
    pub work: fn(&Case, Times),
}

/// How often something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    pub keep: usize,
    pub ask: usize,
}

pub const CONTESTANTS: &[Contestant] = &[
    contestant::<MayiPrepared>(),
    contestant::<MayiOwned>(),
    contestant::<Robotxt>(),
    contestant::<TextingRobots>(),
    contestant::<Robotstxt>(),
];

const fn contestant<E: Engine>() -> Contestant {
    Contestant { name: E::NAME, meet: meet::<E>, work: work::<E> }
}

pub fn find(name: &str) -> Option<&'static Contestant> {
    CONTESTANTS.iter().find(|contestant| contestant.name == name)
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Answered(Cost),
    /// The engine refused the file.
    Refused,
    /// The answer was another one than the right one.
    Wrong,
    /// It was read, but no question was answered in time: the cost is what is known of it.
    NoDecision(Cost),
    /// It was not even read in time.
    NoReading,
    /// The process ended by itself before it had an answer.
    Fell,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Seconds to read and keep the file.
    pub keep: f64,
    /// Seconds for one decision; not a number where there was none.
    pub decide: f64,
    /// Octets on the heap for what was kept.
    pub heap: f64,
}

/// Runs every case with every engine, in turns. The outcomes of a case stand in the order of
/// [`CONTESTANTS`].
pub fn run(quick: bool) -> io::Result<Vec<(&'static Recipe, Vec<Outcome>)>> {
    let (rounds, patience) = if quick { (1, 2) } else { (3, 8) };
    let patience = Duration::from_secs(patience);
    let mut results = Vec::new();
    for recipe in RECIPES {
        eprintln!("hostile: {}", recipe.title);
        let mut met = vec![Vec::new(); CONTESTANTS.len()];
        for _ in 0..rounds {
            for (contestant, outcomes) in CONTESTANTS.iter().zip(&mut met) {
                // One round without an answer is enough.
                if outcomes.iter().all(|outcome| matches!(outcome, Outcome::Answered(_))) {
                    let arguments = ["meet", recipe.name, contestant.name];
                    outcomes.push(meet_in_time(&arguments, patience)?);
                }
            }
        }
        results.push((recipe, met.into_iter().map(summary).collect()));
    }
    Ok(results)
}

fn summary(outcomes: Vec<Outcome>) -> Outcome {
    let cost = |outcome: &Outcome| match outcome {
        Outcome::Answered(cost) => Some(*cost),
        _ => None,
    };
    let costs: Vec<_> = outcomes.iter().filter_map(cost).collect();
    if costs.len() < outcomes.len() {
        return outcomes.into_iter().next_back().expect("there was a round");
    }
    let median_of = |part: fn(&Cost) -> f64| median(costs.iter().map(part).collect());
    Outcome::Answered(Cost {
        keep: median_of(|cost| cost.keep),
        decide: median_of(|cost| cost.decide),
        heap: median_of(|cost| cost.heap),
    })
}

/// Starts this program again with these arguments, for one case and one engine, and waits only so long.
pub fn meet_in_time(arguments: &[&str], patience: Duration) -> io::Result<Outcome> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let start = Instant::now();
    let mut in_time = true;
    while child.try_wait()?.is_none() {
        if start.elapsed() > patience {
            in_time = false;
            child.kill()?;
            child.wait()?;
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut said = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_string(&mut said)?;
    }
    Ok(outcome(&said, in_time))
}

/// Reads what the process said, which may have been ended at any point.
fn outcome(said: &str, in_time: bool) -> Outcome {
    let value = |name: &str| {
        said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse::<f64>().ok())
    };
    if said.lines().any(|line| line == "refused") {
        return Outcome::Refused;
    }
    if said.lines().any(|line| line == "wrong") {
        return Outcome::Wrong;
    }
    match (value("keep"), value("heap"), value("decide")) {
        (Some(keep), Some(heap), Some(decide)) => Outcome::Answered(Cost { keep, decide, heap }),
        _ if in_time => Outcome::Fell,
        (Some(keep), Some(heap), _) => Outcome::NoDecision(Cost { keep, decide: f64::NAN, heap }),
        _ => Outcome::NoReading,
    }
}

/// Measures one case in this process, saying each figure as soon as it is known.
fn meet<E: Engine>(case: &Case) -> io::Result<()> {
    let asker = Asker::new(CRAWLERS[0]);
    let mut out = io::stdout();
    // What a program makes for itself the first time, such as its tables, is no part of a file.
    work::<E>(&hostile::harmless(), Times { keep: 1, ask: 1 });
    let (kept, heap) = heap::count(|| E::keep(&case.file, &asker));
    let Some(kept) = kept else { return writeln!(out, "refused") };
    let (seconds, _) = repeat(|| E::read(&case.file, &asker));
    writeln!(out, "keep {seconds}\nheap {}", heap.live)?;
    let is_right = |url: &String| E::allows_url(&kept, &asker, black_box(url)) == case.allowed;
    let (seconds, right) = repeat(|| case.urls.iter().filter(|url| is_right(url)).count());
    if right < case.urls.len() {
        return writeln!(out, "wrong");
    }
    writeln!(out, "decide {}", seconds / case.urls.len() as f64)
}

fn work<E: Engine>(case: &Case, times: Times) {
    let asker = Asker::new(CRAWLERS[0]);
    for _ in 1..times.keep {
        black_box(E::keep(black_box(&case.file), &asker));
    }
    let Some(kept) = black_box(E::keep(&case.file, &asker)) else { return };
    for _ in 0..times.ask {
        for url in &case.urls {
            black_box(E::allows_url(&kept, &asker, black_box(url)));
        }
    }
}
