//! One engine on one workload, done once under callgrind → how many instructions that takes.
//!
//! Times depend on the machine and on who else uses it; the number of instructions hardly does. This
//! program starts itself again under valgrind, once up to the point where the work begins and once
//! with the work done, and takes the difference.

use std::collections::BTreeMap;
use std::io;
use std::process::{Command, Stdio};

use crate::contest::{self, CONTESTANTS, Outcome, Times};
use crate::corpus::Corpus;
use crate::engines::Engine as _;
use crate::engines::Robotstxt;
use crate::hostile::{self, Recipe};
use crate::measure::{self, Measure, Row};

/// Counts, and remembers what it has counted.
pub struct Counter {
    quick: bool,
    counted: BTreeMap<Vec<String>, u64>,
}

/// What is done under valgrind: everything up to here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The workload is in memory.
    Load,
    /// What the work needs has been prepared: the files that will be asked about are kept.
    Prepare,
    /// The work has been done.
    Work,
}

impl Step {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Load, "load"), (Self::Prepare, "prepare"), (Self::Work, "work")];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(step, _)| *step == self).map_or("", |(_, name)| name)
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(step, _)| *step)
    }
}

impl Counter {
    /// A counter, where valgrind is installed.
    pub fn new(quick: bool) -> Option<Self> {
        let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
        version.is_ok_and(|status| status.success()).then(|| Self { quick, counted: BTreeMap::new() })
    }

    /// The instructions of a row, over the whole corpus.
    pub fn row(&mut self, row: &Row) -> io::Result<u64> {
        let place = [row.measure.name(), row.engine];
        eprintln!("instructions: {}, {}", row.measure.name(), row.engine);
        let until_work = match row.measure {
            // Nothing is prepared: all engines start from the same loaded corpus.
            Measure::Keep | Measure::OneShot => self.until(Step::Load, ["corpus", ""])?,
            Measure::DecideUrl | Measure::DecidePath => {
                self.until(Step::Prepare, [Measure::DecideUrl.name(), row.engine])?
            }
        };
        Ok(self.until(Step::Work, place)?.saturating_sub(until_work))
    }

    /// The instructions to keep a hostile file, and those of a decision on it; nothing where that
    /// would take minutes.
    pub fn case(&mut self, recipe: &Recipe, outcomes: &[Outcome]) -> io::Result<Vec<Option<[u64; 2]>>> {
        const SHORT_ENOUGH: f64 = 0.15;
        eprintln!("instructions: {}", recipe.title);
        let questions = (recipe.make)().urls.len();
        let mut counts = Vec::new();
        for (contestant, outcome) in CONTESTANTS.iter().zip(outcomes) {
            let count = match outcome {
                Outcome::Answered(cost)
                    if cost.keep + cost.decide * (questions as f64) < SHORT_ENOUGH =>
                {
                    // A program never takes quite the same number of instructions to start. What is short
                    // is done many times, so that this does not show.
                    let times =
                        |seconds: f64| (SHORT_ENOUGH / seconds / 10.0).clamp(1.0, 1000.0) as usize;
                    let (keep, ask) = (times(cost.keep), times(cost.decide * (questions as f64)));
                    let place = [recipe.name, contestant.name];
                    let loaded = self.of_case(Step::Load, place, Times { keep: 1, ask: 0 })?;
                    let kept_often = self.of_case(Step::Prepare, place, Times { keep, ask: 0 })?;
                    let kept = kept_often.saturating_sub(loaded) / keep as u64;
                    let asked = self.of_case(Step::Work, place, Times { keep: 1, ask })?;
                    let decisions = (ask * questions) as u64;
                    Some([kept, asked.saturating_sub(loaded + kept) / decisions])
                }
                _ => None,
            };
            // The parsing of an engine that keeps nothing is part of each of its decisions.
            let keeps_nothing = contestant.name == Robotstxt::NAME;
            counts.push(count.map(|[keep, decide]| [if keeps_nothing { 0 } else { keep }, decide]));
        }
        Ok(counts)
    }

    fn until(&mut self, step: Step, place: [&str; 2]) -> io::Result<u64> {
        let mut arguments = vec!["step".to_owned(), step.name().to_owned()];
        arguments.extend(place.map(str::to_owned));
        if self.quick {
            arguments.push("--quick".to_owned());
        }
        self.count(arguments)
    }

    fn of_case(&mut self, step: Step, place: [&str; 2], times: Times) -> io::Result<u64> {
        let mut arguments = vec!["case".to_owned(), step.name().to_owned()];
        arguments.extend(place.map(str::to_owned));
        arguments.extend([times.keep.to_string(), times.ask.to_string()]);
        self.count(arguments)
    }

    /// Counts the instructions of this program with these arguments.
    fn count(&mut self, arguments: Vec<String>) -> io::Result<u64> {
        if let Some(count) = self.counted.get(&arguments) {
            return Ok(*count);
        }
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe()?)
            .args(&arguments)
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let collected = said.lines().find_map(|line| line.split_once("Collected :"));
        let count = collected.and_then(|(_, count)| count.trim().parse().ok());
        let count = count.filter(|_| output.status.success()).ok_or_else(|| {
            io::Error::other(format!("callgrind has no count for {arguments:?}:\n{said}"))
        })?;
        self.counted.insert(arguments, count);
        Ok(count)
    }
}

/// What runs under valgrind: one engine on a hostile case, up to a step, each so many times.
pub fn run_case(
    step: Step,
    case: &str,
    engine: &str,
    times: Times,
) -> Result<(), Box<dyn std::error::Error>> {
    let case = (hostile::find(case).ok_or("no such case")?.make)();
    let contestant = contest::find(engine).ok_or("no such engine")?;
    // What a program does the first time only, such as binding a library, is done before.
    (contestant.work)(&hostile::harmless(), Times { keep: 1, ask: 1 });
    if step != Step::Load {
        (contestant.work)(&case, times);
    }
    Ok(())
}

/// What runs under valgrind: one engine on the corpus, up to a step.
pub fn run_to(
    step: Step,
    workload: &str,
    engine: &str,
    quick: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let corpus = Corpus::load_questions(quick)?;
    if step == Step::Load {
        return Ok(());
    }
    let measure = Measure::ALL.into_iter().find(|measure| measure.name() == workload);
    let rows = measure::rows(measure.ok_or("no such workload")?);
    let row = rows.into_iter().find(|row| row.engine == engine).ok_or("no such engine")?;
    let work = (row.prepare)(&corpus);
    if step == Step::Work {
        std::hint::black_box(work());
    }
    // Dropping what was prepared is done in either case, and so cancels out.
    Ok(())
}
