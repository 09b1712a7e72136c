//! What large groups and hostile files cost → the second half of the report.

use std::fmt::Write as _;

use crate::contest::{CONTESTANTS, Cost, Outcome};
use crate::engines::{Engine as _, MayiOwned, MayiPrepared, Robotstxt, title};
use crate::figures::{count, instructions, octets, seconds, times};
use crate::hostile::Recipe;
use crate::preparation::Preparation;
use crate::report::NOT_MEASURED;
use crate::table::Table;

/// A case, what came of it, and its instructions where they were counted.
pub struct Contest {
    pub recipe: &'static Recipe,
    pub outcomes: Vec<Outcome>,
    pub instructions: Option<Vec<Option<[u64; 2]>>>,
}

pub fn write(preparations: &[Preparation], contests: &[Contest]) -> String {
    let mut text = preparation(preparations);
    let _ = write!(
        text,
        "## Large and hostile files\n\n\
         Each engine reads each file in a separate process, and has 8 seconds (2 in a quick run). {} \
         is asked through the rules of one crawler, {} straight from the text of all. The mean over the \
         questions of a case is given. robotxt reads 500 KiB of a file: of the 40,000 groups, that is \
         the first two fifths.\n\n",
        title(MayiPrepared::NAME),
        title(MayiOwned::NAME),
    );
    text += &no_answers(contests);
    text += "### Time of a decision on the kept file\n\n\
             robotstxt has no kept file; its time is that of parsing and deciding.\n\n";
    text += &table(contests, MayiPrepared::NAME, |cost| cost.decide, seconds);
    text += "### Time to read and keep the file\n\nFor robotstxt: parse events alone.\n\n";
    text += &table(contests, MayiOwned::NAME, |cost| cost.keep, seconds);
    text += "### Memory kept\n\n";
    text += &table(contests, MayiOwned::NAME, |cost| cost.heap, octets);
    text += "### Instructions to read and keep the file, and of a decision\n\n\
             Not counted where one run takes more than 0.15 seconds without valgrind.\n\n";
    text + &counted(contests)
}

fn preparation(preparations: &[Preparation]) -> String {
    let mut table = Table::new(
        1,
        [
            "group",
            "rules",
            "parse, all crawlers",
            "`for_crawler`",
            "heap of the prepared rules",
            "decide directly",
            "decide, prepared",
            "pays after, questions",
        ],
    );
    for row in preparations {
        table.row([
            row.title.clone(),
            count(row.rules),
            seconds(row.parse),
            seconds(row.prepare),
            octets(row.heap as f64),
            seconds(row.direct),
            seconds(row.prepared),
            row.pays_after().map_or("never".to_owned(), |questions| count(questions as usize)),
        ]);
    }
    format!(
        "## Preparing a group for many questions\n\n\
         `RobotsTxt::decide` asks the text, `RobotsTxt::for_crawler` ranks and indexes the rules of one \
         crawler first. Files are read up to the default limit.\n\n{}",
        table.markdown()
    )
}

/// Who gave no answer, in sentences.
fn no_answers(contests: &[Contest]) -> String {
    let mut text = String::new();
    for contest in contests {
        for (contestant, outcome) in CONTESTANTS.iter().zip(&contest.outcomes) {
            let what = match outcome {
                Outcome::Answered(_) => continue,
                Outcome::Refused => "refuses the file",
                Outcome::Wrong => "gives a wrong answer",
                Outcome::NoDecision(_) | Outcome::NoReading => "gives no answer in time",
                Outcome::Fell => "ends without an answer",
            };
            let _ = writeln!(text, "- {} {what}: {}", title(contestant.name), contest.recipe.title);
        }
    }
    if text.is_empty() {
        "Every engine answered every case in time.\n\n".to_owned()
    } else {
        text + "\n"
    }
}

fn engines_head() -> Table {
    let engines = CONTESTANTS.iter().map(|contestant| title(contestant.name));
    Table::new(1, ["case".to_owned()].into_iter().chain(engines))
}

fn table(
    contests: &[Contest],
    base: &str,
    part: fn(&Cost) -> f64,
    written: fn(f64) -> String,
) -> String {
    let mut table = engines_head();
    for contest in contests {
        let base_place = CONTESTANTS.iter().position(|contestant| contestant.name == base);
        let base = base_place.and_then(|place| match &contest.outcomes[place] {
            Outcome::Answered(cost) => Some(part(cost)),
            _ => None,
        });
        let cells = contest.outcomes.iter().enumerate().map(|(place, outcome)| match outcome {
            Outcome::Answered(cost) if Some(place) == base_place => written(part(cost)),
            Outcome::Answered(cost) | Outcome::NoDecision(cost) if part(cost) > 0.0 => {
                match base.filter(|base| *base > 0.0) {
                    Some(base) => format!("{} ({})", written(part(cost)), times(part(cost) / base)),
                    None => written(part(cost)),
                }
            }
            Outcome::Answered(_) => "–".to_owned(),
            Outcome::NoDecision(cost) if part(cost) == 0.0 => "–".to_owned(),
            Outcome::Refused => "refused".to_owned(),
            Outcome::Wrong => "wrong answer".to_owned(),
            Outcome::NoDecision(_) | Outcome::NoReading => "no answer".to_owned(),
            Outcome::Fell => "fell over".to_owned(),
        });
        table.row([contest.recipe.title.to_owned()].into_iter().chain(cells));
    }
    table.markdown()
}

fn counted(contests: &[Contest]) -> String {
    let mut table = engines_head();
    for contest in contests {
        let cell = |(place, count): (usize, &Option<[u64; 2]>)| match count {
            Some([_, decide]) if CONTESTANTS[place].name == Robotstxt::NAME => {
                format!("– / {}", instructions(*decide as f64))
            }
            Some([keep, decide]) => {
                format!("{} / {}", instructions(*keep as f64), instructions(*decide as f64))
            }
            None => "–".to_owned(),
        };
        let cells: Vec<_> = match &contest.instructions {
            Some(counts) => counts.iter().enumerate().map(cell).collect(),
            None => CONTESTANTS.iter().map(|_| NOT_MEASURED.to_owned()).collect(),
        };
        table.row([contest.recipe.title.to_owned()].into_iter().chain(cells));
    }
    table.markdown()
}
