//! Everything that was measured on the corpus → the first half of the report.
//!
//! [`crate::report_hostile`] writes the second.

use crate::answers::Answers;
use crate::corpus::Corpus;
use crate::engines::{
    Engine as _, Mayi, MayiGoogle, MayiGooglePrepared, MayiOwned, MayiPrepared, Robotstxt, Robotxt,
    TextingRobots, title,
};
use crate::figures::{count, instructions, number, seconds, times};
#[cfg(google_robotstxt)]
use crate::google::Google;
use crate::measure::{HeapRow, Measure, Timed};
use crate::table::Table;

pub struct Measured {
    pub timed: Timed,
    /// Over the whole corpus, where valgrind is there.
    pub instructions: Option<u64>,
}

/// What was measured on the corpus.
pub struct OnCorpus {
    pub answers: Vec<Answers>,
    pub measures: Vec<(Measure, Vec<Measured>)>,
    pub heap: Vec<HeapRow>,
    pub rounds: usize,
}

pub const NOT_MEASURED: &str = "not measured";

/// Whether the engine in C++ takes part.
const GOOGLE: &str = if cfg!(google_robotstxt) {
    "google/robotstxt itself, in C++, was built from the checkout that `MAYI_GOOGLE_ROBOTSTXT` names; it keeps \
     nothing and parses the text for each question."
} else {
    "google/robotstxt itself, in C++, was left out: `MAYI_GOOGLE_ROBOTSTXT` names no checkout of it."
};

pub fn write(corpus: &Corpus, results: &OnCorpus, quick: bool) -> String {
    let mut text = introduction(corpus, results, quick);
    text += &summary(corpus, results);
    text += &answers(corpus, results);
    for (measure, rows) in &results.measures {
        text += &measure_section(corpus, *measure, rows);
    }
    text += &heap(corpus, results);
    text
}

fn introduction(corpus: &Corpus, results: &OnCorpus, quick: bool) -> String {
    let Corpus { origin, reference, .. } = corpus;
    let decisions: usize = results.answers.iter().map(|answers| answers.asked).max().unwrap_or(0);
    let mut sizes: Vec<_> = corpus.sites.iter().map(|site| site.octets.len()).collect();
    sizes.sort_unstable();
    let rivals = [Robotxt::NAME, TextingRobots::NAME, Robotstxt::NAME].map(title).join(", ");
    let mut text = format!(
        "# Benchmarks\n\n\
         Made by `cargo run --release --manifest-path bench/Cargo.toml -- --write docs/benchmarks.md`; \
         [bench/README.md](../bench/README.md) says what each column means. This compares the engines \
         for robots.txt that cargo can build: {rivals}. {GOOGLE}\n\n\
         Times are processor time: medians of {} rounds in which the engines take turns. Read the \
         ratios: they were taken within each round, on a machine that others use too. × 2 means twice \
         as long, or twice as many instructions, as mayi.\n\n",
        results.rounds
    );
    if quick {
        text += "**This was a quick run**, over a small part of the workload and with few rounds.\n\n";
    }
    let mut table = Table::new(2, ["workload", ""]);
    table.row(["files", &count(corpus.sites.len())]);
    table.row(["what they are", origin]);
    table.row(["octets", &count(corpus.octets())]);
    let size = |place: usize| count(*sizes.get(place).unwrap_or(&0));
    table.row(["octets of the median file", &size(sizes.len() / 2)]);
    table.row(["octets of the largest file", &size(sizes.len().saturating_sub(1))]);
    table.row(["decisions that are checked, of two crawlers", &count(decisions)]);
    table.row(["the reference for them", reference]);
    table.row(["decisions on a kept file that are timed", &count(corpus.questions())]);
    table.row(["one-shot decisions that are timed", &count(corpus.one_shot_questions())]);
    text + &table.markdown()
}

/// One row an engine, with the ratio in time and, in brackets, in instructions.
fn summary(corpus: &Corpus, results: &OnCorpus) -> String {
    let cell = |measure: Measure, engine: &str| {
        let rows = results.measures.iter().find(|(known, _)| *known == measure);
        let rows = rows.map_or(&[][..], |(_, rows)| rows);
        let base = rows.iter().find(|row| row.timed.row.engine == measure.base());
        // A file of mayi that is kept has its text; where nothing is kept, the text is borrowed.
        let is_kept = engine == Mayi::NAME && measure == Measure::Keep;
        let engine = if is_kept { MayiOwned::NAME } else { engine };
        let Some(row) = rows.iter().find(|row| row.timed.row.engine == engine) else {
            return "–".to_owned();
        };
        let counts = row.instructions.zip(base.and_then(|base| base.instructions));
        let counted = counts
            .map_or(NOT_MEASURED.to_owned(), |(own, base)| times(own as f64 / base.max(1) as f64));
        format!("{} ({counted})", times(row.timed.ratio[0]))
    };
    let mut table = Table::new(
        1,
        [
            "engine",
            "differs from the reference",
            "parse and keep",
            "parse and decide once",
            "decide, kept file, URL",
            "decide, kept file, path",
            "heap kept, octets per file",
        ],
    );
    for engine in [
        Mayi::NAME,
        MayiPrepared::NAME,
        Robotxt::NAME,
        TextingRobots::NAME,
        Robotstxt::NAME,
        #[cfg(google_robotstxt)]
        Google::NAME,
    ] {
        let differing = |engine: &str| {
            let found =
                results.answers.iter().find(|answers| answers.engine == engine && !answers.by_path);
            found.map_or("–".to_owned(), |answers| count(answers.differing()))
        };
        let in_google = match engine {
            Mayi::NAME => Some(MayiGoogle::NAME),
            MayiPrepared::NAME => Some(MayiGooglePrepared::NAME),
            _ => None,
        };
        let differs = in_google.map_or(differing(engine), |google| {
            format!("{}; dialect google: {}", differing(engine), differing(google))
        });
        let heap_engine = if engine == Mayi::NAME { MayiOwned::NAME } else { engine };
        let heap = results
            .heap
            .iter()
            .find(|row| row.engine == heap_engine)
            .map_or(format!("{} (the text)", per_file(corpus, corpus.octets() as f64)), |row| {
                per_file(corpus, row.kept.live as f64)
            });
        table.row([
            title(engine),
            differs,
            cell(Measure::Keep, engine),
            cell(Measure::OneShot, engine),
            cell(Measure::DecideUrl, engine),
            cell(Measure::DecidePath, engine),
            heap,
        ]);
    }
    let keeps = "mayi keeps a file whole and for all crawlers, and can prepare the rules of one crawler for \
         many questions: that has a row of its own, with the preparing in its first figure. robotxt and \
         texting_robots keep a file for one crawler. robotstxt keeps nothing: its first figure is for \
         parse events alone, and each decision parses the text again. × 1.00 marks what the others are \
         compared with; the figure in brackets is in instructions.";
    format!("## In one table\n\n{keeps}\n\n{}", table.markdown())
}

fn answers(corpus: &Corpus, results: &OnCorpus) -> String {
    let mut table = Table::new(
        2,
        [
            "engine",
            "asked by",
            "decisions",
            "differs from the reference",
            "allows what the reference does not",
            "does not allow what the reference does",
            "no answer",
        ],
    );
    for answers in &results.answers {
        let asked_by = if answers.by_path { "path" } else { "URL" };
        let counts = [
            answers.asked,
            answers.differing(),
            answers.allows_more,
            answers.allows_less,
            answers.unanswered,
        ];
        let counts = counts.map(count);
        table.row([title(answers.engine), asked_by.to_owned()].into_iter().chain(counts));
    }
    format!(
        "## Answers\n\n\
         Every engine is asked every question first. The reference is {}. The dialect google has to agree \
         with all of it, or nothing is measured. The default dialect follows RFC 9309, from which the \
         reference is known to differ; the core's test over the corpus has a clause for each difference. \
         Every timed round has to come to the same number of allowed questions as this check.\n\n{}",
        corpus.reference,
        table.markdown()
    )
}

fn measure_section(corpus: &Corpus, measure: Measure, rows: &[Measured]) -> String {
    let operations = measure.operations(corpus) as f64;
    let (heading, note, each) = match measure {
        Measure::Keep => (
            "Parse and keep",
            "Each file is read and freed. robotxt reads no more than 500 KiB of a file; all others \
             read the largest one whole.",
            "per file",
        ),
        Measure::OneShot => (
            "Parse and decide once",
            "Three URLs per host; the file is parsed again for each. This includes parsing the URL.",
            "per decision",
        ),
        Measure::DecideUrl => (
            "Decide on a kept file, by URL",
            "Taking the URL apart and normalising it is part of it; for robotxt that is `Url::parse`. \
             robotstxt has no kept form: each of its decisions costs what is in the table above.",
            "per decision",
        ),
        Measure::DecidePath => (
            "Decide on a kept file, by path",
            "The path and query are handed over ready; normalising them is still part of it.",
            "per decision",
        ),
    };
    let mut head = vec!["engine", "keeps", "× mayi, time", "least – most"];
    let (time, counted) = (format!("time {each}"), format!("instructions {each}"));
    head.push(&time);
    if measure == Measure::Keep {
        head.push("MB/s");
    }
    head.extend(["M instructions", "× mayi, instructions", &counted]);
    let mut table = Table::new(2, head);
    let base = rows.iter().find(|row| row.timed.row.engine == measure.base());
    let base = base.and_then(|base| base.instructions);
    for Measured { timed, instructions: counted } in rows {
        let round = timed.round.as_secs_f64();
        let [ratio, least, most] = timed.ratio;
        let name = title(timed.row.engine);
        let is_base = timed.row.engine == measure.base();
        let name = if is_base { format!("**{name}**") } else { name };
        let mut cells = vec![
            name,
            timed.row.keeps.to_owned(),
            number(ratio),
            format!("{} – {}", number(least), number(most)),
            seconds(round / operations),
        ];
        if measure == Measure::Keep {
            cells.push(number(corpus.octets() as f64 / round / 1e6));
        }
        match (counted, base) {
            (Some(own), Some(base)) => cells.extend([
                number(*own as f64 / 1e6),
                number(*own as f64 / base.max(1) as f64),
                instructions(*own as f64 / operations),
            ]),
            _ => cells.extend([NOT_MEASURED; 3].map(str::to_owned)),
        }
        table.row(cells);
    }
    format!(
        "## {heading}\n\n{note} The row in bold is the one that the others are compared with.\n\n{}",
        table.markdown()
    )
}

fn heap(corpus: &Corpus, results: &OnCorpus) -> String {
    let mut table = Table::new(
        2,
        [
            "engine",
            "keeps",
            "octets per file",
            "× text",
            "allocations per file",
            "octets per file, after the questions",
        ],
    );
    for row in &results.heap {
        table.row([
            title(row.engine),
            row.keeps.to_owned(),
            per_file(corpus, row.kept.live as f64),
            number(row.kept.live as f64 / corpus.octets().max(1) as f64),
            per_file(corpus, row.kept.requests as f64),
            per_file(corpus, (row.kept.live + row.asked.live) as f64),
        ]);
    }
    format!(
        "## Memory kept\n\n\
         Octets on the heap when all files are read, as asked for from the allocator. The text of a file \
         has {} octets in the mean; what borrows it needs that too. robotstxt keeps nothing but the \
         text.\n\n{}",
        per_file(corpus, corpus.octets() as f64),
        table.markdown()
    )
}

fn per_file(corpus: &Corpus, amount: f64) -> String {
    number(amount / corpus.sites.len().max(1) as f64)
}
