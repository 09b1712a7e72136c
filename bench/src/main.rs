//! A corpus, hostile files and the engines → one report in Markdown.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml` does everything and prints the report to
//! standard output, and what it is at to standard error. README.md says how to read it. The program
//! starts itself again for what has to be in a process of its own: an engine that may never answer,
//! and one whose instructions are counted.

mod answers;
mod contest;
mod corpus;
mod curves;
mod engines;
mod figures;
#[cfg(google_robotstxt)]
mod google;
mod heap;
mod hostile;
mod instructions;
mod measure;
mod parts;
mod plot;
mod preparation;
mod report;
mod report_hostile;
mod stand_in;
mod table;

use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::contest::Times;
use crate::corpus::Corpus;
use crate::instructions::{Counter, Step};
use crate::measure::Measure;
use crate::report::{Measured, OnCorpus};
use crate::report_hostile::Contest;

#[global_allocator]
static ALLOCATOR: heap::Watched = heap::Watched;

const USAGE: &str = "\
Measures mayi and its rivals, and prints a report in Markdown.

Usage: cargo run --release --manifest-path bench/Cargo.toml -- [options]

  --quick        a tenth of the corpus, few rounds
  --write FILE   write the report to this file, and the curves into the folder `curves` beside it
  --curves DIR   measure the curves only, and write them into this folder
  --help         print this";

fn main() -> ExitCode {
    heap::settle();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    match arguments {
        // How this program calls itself.
        ["meet", case, engine] => {
            let recipe = hostile::find(case).ok_or("no such case")?;
            let contestant = contest::find(engine).ok_or("no such engine")?;
            Ok((contestant.meet)(&(recipe.make)())?)
        }
        ["step", step, workload, engine, rest @ ..] => {
            let step = Step::named(step).ok_or("no such step")?;
            instructions::run_to(step, workload, engine, rest == ["--quick"])
        }
        ["case", step, case, engine, keep, ask] => {
            let step = Step::named(step).ok_or("no such step")?;
            let times = Times { keep: keep.parse()?, ask: ask.parse()? };
            instructions::run_case(step, case, engine, times)
        }
        ["curve", curve, at, engine] => {
            let curve = curves::find(curve).ok_or("no such curve")?;
            let contestant = contest::find(engine).ok_or("no such engine")?;
            Ok((contestant.meet)(&(curve.make)(at.parse()?))?)
        }
        ["part", part] => Ok(parts::run(part)?),
        ["--help"] => {
            println!("{USAGE}");
            Ok(())
        }
        options => {
            let options = Options::read(options)?;
            if let Some(folder) = options.curves {
                return Ok(curves::draw_all(&folder, options.quick)?);
            }
            if let Some(path) = &options.write {
                curves::draw_all(&path.with_file_name("curves"), options.quick)?;
            }
            let report = measure_all(options.quick)?;
            match options.write {
                Some(path) => Ok(std::fs::write(path, report)?),
                None => Ok(std::io::stdout().write_all(report.as_bytes())?),
            }
        }
    }
}

#[derive(Default)]
struct Options {
    quick: bool,
    write: Option<PathBuf>,
    curves: Option<PathBuf>,
}

impl Options {
    fn read(mut arguments: &[&str]) -> Result<Self, String> {
        let mut options = Self::default();
        loop {
            arguments = match arguments {
                [] => return Ok(options),
                ["--quick", rest @ ..] => {
                    options.quick = true;
                    rest
                }
                ["--write", path, rest @ ..] => {
                    options.write = Some(PathBuf::from(path));
                    rest
                }
                ["--curves", folder, rest @ ..] => {
                    options.curves = Some(PathBuf::from(folder));
                    rest
                }
                [other, ..] => return Err(format!("`{other}` is not understood\n\n{USAGE}")),
            }
        }
    }
}

fn measure_all(quick: bool) -> Result<String, Box<dyn Error>> {
    let rounds = if quick { 3 } else { 15 };
    let corpus = Corpus::load(quick)?;
    eprintln!("corpus: {} files, {} octets", corpus.sites.len(), corpus.octets());

    eprintln!("answers: every engine is asked everything");
    let answers = answers::ask_all(&corpus);
    answers::demand(&answers)?;

    let mut counter = Counter::new(quick);
    if counter.is_none() {
        eprintln!("instructions: not measured, valgrind is not installed");
    }
    let mut measures = Vec::new();
    for measure in Measure::ALL {
        eprintln!("times: {}", measure.name());
        let expected = |row: &measure::Row| answers::expected(&answers, row);
        let mut rows = Vec::new();
        for timed in measure::time(&corpus, measure, rounds, expected)? {
            rows.push(Measured { timed, instructions: None });
        }
        measures.push((measure, rows));
    }
    eprintln!("memory");
    let heap = measure::heap_rows(&corpus);
    eprintln!("preparation of large groups");
    let preparations = preparation::run(&corpus);
    let mut contests = Vec::new();
    for (recipe, outcomes) in contest::run(quick)? {
        contests.push(Contest { recipe, outcomes, instructions: None });
    }

    // Counting comes last: it takes longest, and nothing is timed beside it.
    if let Some(counter) = &mut counter {
        for row in measures.iter_mut().flat_map(|(_, rows)| rows) {
            row.instructions = Some(counter.row(&row.timed.row)?);
        }
        // The hostile files are many and the same in a quick run: there they are left out.
        for contest in contests.iter_mut().filter(|_| !quick) {
            contest.instructions = Some(counter.case(contest.recipe, &contest.outcomes)?);
        }
    }
    let on_corpus = OnCorpus { answers, measures, heap, rounds };
    let text = report::write(&corpus, &on_corpus, quick);
    let text = text + &report_hostile::write(&preparations, &contests);
    let text = text + &parts::report(counter.is_some())?;
    Ok(text.trim_end().to_owned() + "\n")
}
