//! Every engine's decisions on the corpus → how many differ from the reference, and in which way.
//!
//! A wrong answer is not a benchmark: mayi in the dialect google has to give every reference
//! decision, prepared or not, or nothing is measured at all. What the others answer is counted, and
//! each timed round has to come to the very same number of allowed questions.

use crate::corpus::Corpus;
use crate::engines::{
    Engine, Mayi, MayiGoogle, MayiGooglePrepared, MayiPrepared, Robotstxt, Robotxt, TextingRobots,
};
#[cfg(google_robotstxt)]
use crate::google::Google;
use crate::measure::{Measure, Row, Tally};

/// What came of asking one engine everything.
pub struct Answers {
    pub engine: &'static str,
    /// Whether it was asked by path; by URL otherwise.
    pub by_path: bool,
    pub asked: usize,
    pub unanswered: usize,
    /// It allows what the reference does not.
    pub allows_more: usize,
    /// It does not allow what the reference allows.
    pub allows_less: usize,
    /// Some of the questions in which it differs.
    pub examples: Vec<String>,
    /// How the rounds that are timed have to come out.
    questions: Tally,
    one_shots: Tally,
    files: Tally,
}

impl Answers {
    pub fn differing(&self) -> usize {
        self.allows_more + self.allows_less + self.unanswered
    }
}

/// Asks every engine every question of every crawler.
pub fn ask_all(corpus: &Corpus) -> Vec<Answers> {
    vec![
        ask::<Mayi>(corpus, false),
        ask::<MayiPrepared>(corpus, false),
        ask::<MayiPrepared>(corpus, true),
        ask::<MayiGoogle>(corpus, false),
        ask::<MayiGooglePrepared>(corpus, false),
        ask::<Robotxt>(corpus, false),
        ask::<Robotxt>(corpus, true),
        ask::<TextingRobots>(corpus, false),
        ask::<TextingRobots>(corpus, true),
        ask::<Robotstxt>(corpus, false),
        #[cfg(google_robotstxt)]
        ask::<Google>(corpus, false),
    ]
}

/// An error where mayi's answers are not what they have to be.
pub fn demand(answers: &[Answers]) -> Result<(), String> {
    for answers in answers.iter().filter(|answers| answers.engine.starts_with(MayiGoogle::NAME)) {
        if answers.differing() > 0 {
            let (count, examples) = (answers.differing(), answers.examples.join("\n"));
            return Err(format!(
                "{} differs from the reference {count} times:\n{examples}",
                answers.engine
            ));
        }
    }
    let default = |engine| {
        let found = answers.iter().find(|answers| answers.engine == engine && !answers.by_path);
        found.map(|answers| (answers.allows_more, answers.allows_less, answers.questions))
    };
    if default(Mayi::NAME) != default(MayiPrepared::NAME) {
        return Err("mayi answers otherwise when its rules are prepared".to_owned());
    }
    Ok(())
}

/// How a timed round of a row has to come out.
pub fn expected(answers: &[Answers], row: &Row) -> Tally {
    // What is read is the same whether or not the text is copied.
    let engine = if row.measure == Measure::Keep && row.engine.starts_with(Mayi::NAME) {
        Mayi::NAME
    } else {
        row.engine
    };
    let by_path = row.measure == Measure::DecidePath;
    let answers = answers.iter().find(|answers| answers.engine == engine && answers.by_path == by_path);
    let answers = answers.expect("every engine that is timed has been asked");
    match row.measure {
        Measure::Keep => answers.files,
        Measure::OneShot => answers.one_shots,
        Measure::DecideUrl | Measure::DecidePath => answers.questions,
    }
}

fn ask<E: Engine>(corpus: &Corpus, by_path: bool) -> Answers {
    const EXAMPLES: usize = 5;
    let mut answers = Answers {
        engine: E::NAME,
        by_path,
        asked: 0,
        unanswered: 0,
        allows_more: 0,
        allows_less: 0,
        examples: Vec::new(),
        questions: Tally::default(),
        one_shots: Tally::default(),
        files: Tally::default(),
    };
    for site in &corpus.sites {
        for (place, asker) in corpus.askers.iter().enumerate() {
            let kept = E::keep(&site.octets, asker);
            let ask = |url: &str, path: &str| {
                let kept = kept.as_ref()?;
                Some(if by_path {
                    E::allows_path(kept, asker, path)
                } else {
                    E::allows_url(kept, asker, url)
                })
            };
            let is_timed = place == 0;
            if is_timed {
                answers.files.add(kept.is_some().then_some(true));
                for question in site.one_shot_questions() {
                    answers.one_shots.add(ask(&question.url, &question.path));
                }
            }
            for question in &site.questions[place] {
                let answer = ask(&question.url, &question.path);
                answers.asked += 1;
                match answer {
                    None => answers.unanswered += 1,
                    Some(true) if !question.allowed => answers.allows_more += 1,
                    Some(false) if question.allowed => answers.allows_less += 1,
                    Some(_) => {}
                }
                if answer != Some(question.allowed) && answers.examples.len() < EXAMPLES {
                    answers.examples.push(format!("{} as {}", question.url, asker.name));
                }
                if is_timed {
                    answers.questions.add(answer);
                }
            }
        }
    }
    answers
}
