//! Engines and a corpus → rows of work that can be timed, counted and checked alike.
//!
//! A row is prepared once (files that are asked about are read, for the measures of questions) and
//! then done any number of times. Time is that of the processor for this thread. All rows of a measure
//! take turns, round by round, so that whatever slows the machine falls on all of them; the ratio of a
//! row is the median of its ratios to the base row of the same round.

use std::hint::black_box;
use std::time::Duration;

use cpu_time::ThreadTime;

use crate::corpus::Corpus;
use crate::engines::{
    Engine, Mayi, MayiGoogle, MayiGooglePrepared, MayiOwned, MayiPrepared, Robotstxt, Robotxt,
    TextingRobots,
};
#[cfg(google_robotstxt)]
use crate::google::Google;
use crate::heap::{self, Heap};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Read every file and keep what is needed to ask.
    Keep,
    /// Read a file for one question, three times a site.
    OneShot,
    /// Ask a kept file, by URL.
    DecideUrl,
    /// Ask a kept file, by path.
    DecidePath,
}

impl Measure {
    pub const ALL: [Self; 4] = [Self::Keep, Self::OneShot, Self::DecideUrl, Self::DecidePath];

    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::OneShot => "one-shot",
            Self::DecideUrl => "decide-url",
            Self::DecidePath => "decide-path",
        }
    }

    /// The engine that the others are compared with.
    pub fn base(self) -> &'static str {
        match self {
            Self::Keep => MayiOwned::NAME,
            Self::OneShot => Mayi::NAME,
            Self::DecideUrl | Self::DecidePath => MayiPrepared::NAME,
        }
    }

    /// How many files or questions one round has.
    pub fn operations(self, corpus: &Corpus) -> usize {
        match self {
            Self::Keep => corpus.sites.len(),
            Self::OneShot => corpus.one_shot_questions(),
            Self::DecideUrl | Self::DecidePath => corpus.questions(),
        }
    }
}

/// What one round came to: it must be the same in every round, and what the check said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Files that were kept, or questions that were answered with "allowed".
    pub yes: usize,
    /// Files that were refused, or questions about them.
    pub unanswered: usize,
}

impl Tally {
    pub fn add(&mut self, answer: Option<bool>) {
        match answer {
            Some(yes) => self.yes += usize::from(yes),
            None => self.unanswered += 1,
        }
    }
}

pub type Work<'w> = Box<dyn Fn() -> Tally + 'w>;

/// One engine in one measure.
pub struct Row {
    pub measure: Measure,
    pub engine: &'static str,
    pub keeps: &'static str,
    pub prepare: for<'w> fn(&'w Corpus) -> Work<'w>,
}

pub fn rows(measure: Measure) -> Vec<Row> {
    fn row<E: Engine>(measure: Measure) -> Row {
        let prepare = match measure {
            Measure::Keep => keep_all::<E>,
            Measure::OneShot => one_shot::<E>,
            Measure::DecideUrl => decide_urls::<E>,
            Measure::DecidePath => decide_paths::<E>,
        };
        Row { measure, engine: E::NAME, keeps: E::KEEPS, prepare }
    }
    let rows: &[fn(Measure) -> Row] = match measure {
        Measure::Keep => &[
            row::<MayiOwned>,
            row::<Mayi>,
            row::<MayiPrepared>,
            row::<MayiGoogle>,
            row::<Robotxt>,
            row::<TextingRobots>,
            row::<Robotstxt>,
            #[cfg(google_robotstxt)]
            row::<Google>,
        ],
        Measure::OneShot => &[
            row::<Mayi>,
            row::<MayiGoogle>,
            row::<Robotxt>,
            row::<TextingRobots>,
            row::<Robotstxt>,
            #[cfg(google_robotstxt)]
            row::<Google>,
        ],
        Measure::DecideUrl => &[
            row::<MayiPrepared>,
            row::<Mayi>,
            row::<MayiGooglePrepared>,
            row::<MayiGoogle>,
            row::<Robotxt>,
            row::<TextingRobots>,
            #[cfg(google_robotstxt)]
            row::<Google>,
        ],
        Measure::DecidePath => &[row::<MayiPrepared>, row::<Robotxt>, row::<TextingRobots>],
    };
    rows.iter().map(|row| row(measure)).collect()
}

fn keep_all<E: Engine>(corpus: &Corpus) -> Work<'_> {
    Box::new(move || {
        let mut tally = Tally::default();
        for site in &corpus.sites {
            let kept = E::read(black_box(&site.octets), &corpus.askers[0]);
            tally.add(kept.then_some(true));
        }
        tally
    })
}

fn one_shot<E: Engine>(corpus: &Corpus) -> Work<'_> {
    let questions: Vec<_> = corpus
        .sites
        .iter()
        .flat_map(|site| site.one_shot_questions().map(move |question| (site, question)))
        .collect();
    Box::new(move || {
        let mut tally = Tally::default();
        for (site, question) in &questions {
            let asker = &corpus.askers[0];
            let kept = E::keep(black_box(&site.octets), asker);
            tally.add(kept.map(|kept| E::allows_url(&kept, asker, black_box(&question.url))));
        }
        tally
    })
}

fn keep_each<E: Engine>(corpus: &Corpus) -> Vec<Option<E::Kept<'_>>> {
    corpus.sites.iter().map(|site| E::keep(&site.octets, &corpus.askers[0])).collect()
}

fn decide_urls<E: Engine>(corpus: &Corpus) -> Work<'_> {
    let kept = keep_each::<E>(corpus);
    Box::new(move || {
        let mut tally = Tally::default();
        for (site, kept) in corpus.sites.iter().zip(&kept) {
            for question in &site.questions[0] {
                let ask = |kept| E::allows_url(kept, &corpus.askers[0], black_box(&question.url));
                tally.add(kept.as_ref().map(ask));
            }
        }
        tally
    })
}

fn decide_paths<E: Engine>(corpus: &Corpus) -> Work<'_> {
    let kept = keep_each::<E>(corpus);
    Box::new(move || {
        let mut tally = Tally::default();
        for (site, kept) in corpus.sites.iter().zip(&kept) {
            for question in &site.questions[0] {
                let ask = |kept| E::allows_path(kept, &corpus.askers[0], black_box(&question.path));
                tally.add(kept.as_ref().map(ask));
            }
        }
        tally
    })
}

/// How long a row takes.
pub struct Timed {
    pub row: Row,
    /// The median round.
    pub round: Duration,
    /// The median of the ratios to the base row, and the least and greatest of them.
    pub ratio: [f64; 3],
}

/// Times all rows of a measure in turns. `expected` says what a row's tally has to be.
pub fn time(
    corpus: &Corpus,
    measure: Measure,
    rounds: usize,
    expected: impl Fn(&Row) -> Tally,
) -> Result<Vec<Timed>, String> {
    let rows = rows(measure);
    let works: Vec<_> = rows.iter().map(|row| (row.prepare)(corpus)).collect();
    let mut times = vec![Vec::new(); rows.len()];
    // The first round warms caches and branch predictors, and is not counted.
    for round in 0..=rounds {
        for ((row, work), times) in rows.iter().zip(&works).zip(&mut times) {
            let start = ThreadTime::now();
            let tally = black_box(work());
            let took = start.elapsed();
            if tally != expected(row) {
                let (engine, measure, expected) = (row.engine, measure.name(), expected(row));
                return Err(format!("{engine} in {measure}: {tally:?} instead of {expected:?}"));
            }
            if round > 0 {
                times.push(took.as_secs_f64());
            }
        }
    }
    let base = rows.iter().position(|row| row.engine == measure.base()).expect("it is a row");
    let base = times[base].clone();
    let rows = rows.into_iter().zip(times).map(|(row, times)| {
        let mut ratios: Vec<_> = times.iter().zip(&base).map(|(time, base)| time / base).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = [ratios[ratios.len() / 2], ratios[0], ratios[ratios.len() - 1]];
        Timed { row, round: Duration::from_secs_f64(median(times)), ratio }
    });
    Ok(rows.collect())
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median time of some work that is repeated for a short while; its seconds, and what it gave.
/// Work that is shorter than it takes to read the clock is done many times between two readings.
pub fn repeat<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    const LONG_ENOUGH: f64 = 500e-6;
    const ENOUGH: f64 = 60e-3;
    let start = ThreadTime::now();
    let mut done = black_box(work());
    let first = start.elapsed().as_secs_f64();
    if first > ENOUGH {
        return (first, done);
    }
    let times_each = (LONG_ENOUGH / first.max(1e-9)).ceil() as usize;
    let mut times = Vec::new();
    while times.iter().sum::<f64>() * (times_each as f64) < ENOUGH {
        let start = ThreadTime::now();
        for _ in 0..times_each {
            done = black_box(work());
        }
        times.push(start.elapsed().as_secs_f64() / times_each as f64);
    }
    (median(times), done)
}

/// What the kept files of an engine take on the heap: when they are read, and when all questions
/// have been asked.
pub struct HeapRow {
    pub engine: &'static str,
    pub keeps: &'static str,
    pub kept: Heap,
    pub asked: Heap,
}

pub fn heap_rows(corpus: &Corpus) -> Vec<HeapRow> {
    fn row<E: Engine>(corpus: &Corpus) -> HeapRow {
        let mut files = Vec::with_capacity(corpus.sites.len());
        let ((), kept) = heap::count(|| {
            files.extend(corpus.sites.iter().map(|site| E::keep(&site.octets, &corpus.askers[0])));
        });
        let ((), asked) = heap::count(|| {
            for (site, kept) in corpus.sites.iter().zip(&files) {
                for (question, kept) in site.questions[0].iter().zip(kept.iter().cycle()) {
                    black_box(E::allows_url(kept, &corpus.askers[0], &question.url));
                }
            }
        });
        HeapRow { engine: E::NAME, keeps: E::KEEPS, kept, asked }
    }
    let rows =
        [row::<MayiOwned>, row::<Mayi>, row::<MayiPrepared>, row::<Robotxt>, row::<TextingRobots>];
    rows.iter().map(|row| row(corpus)).collect()
}
