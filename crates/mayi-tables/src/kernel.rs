//! An array of URLs → arrays of answers.
//!
//! ```
//! use arrow_array::{Array, StringArray};
//! use arrow_array::cast::AsArray;
//! use mayi::{CrawlerParts, ReadOptions};
//! use mayi_tables::answer::Answer;
//! use mayi_tables::files::{Files, Robots};
//! use mayi_tables::kernel;
//!
//! let robots = Robots::One(b"User-agent: *\nDisallow: /private/\n".to_vec());
//! let files = Files::new(robots, ReadOptions::default(), 1 << 20);
//! let urls = StringArray::from(vec![Some("https://example.com/private/x"), None]);
//! let answers = [Answer::Allowed, Answer::RuleLine, Answer::Error];
//! let crawler = CrawlerParts::<&str>::new("ExampleBot");
//! let decided = kernel::decide(&urls, &files, crawler, &answers)?;
//! assert_eq!(decided.column(0).as_boolean().value(0), false);
//! assert!(decided.column(0).is_null(1) && decided.column(2).is_valid(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::sync::{Arc, LazyLock};

use arrow_array::builder::{BooleanBuilder, Int8Builder, StringBuilder, UInt32Builder};
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, StringArray, StructArray};
use arrow_schema::{DataType, Field, Fields};
use mayi::access::{Origin, SiteFile};
use mayi::report::RequestError;
use mayi::{Crawler, CrawlerParts, Decision, Target, Usage};

use crate::answer::Answer;
use crate::asking::Asker;
use crate::files::Files;
use crate::texts::{NotText, Texts};

/// Answers an array of URLs for one crawler: a struct with a field for each of the answers, by its name. A URL that can't
/// be answered has an error in its row, and null in the place of the other answers. Use this with files that keep the
/// file itself ([`Files::keeping_files`]) where uses are asked for.
///
/// # Errors
/// When the array has no strings, or there can be no such crawler.
pub fn decide<'a, S: AsRef<str> + 'a>(
    urls: &dyn Array,
    files: &Files,
    crawler: CrawlerParts<'a, S>,
    answers: &[Answer],
) -> Result<StructArray, Undecidable> {
    let texts = Texts::of(urls).map_err(Undecidable::Urls)?;
    let mut asker = Asker::new(files);
    asker.set_crawlers(crawler, []).map_err(Undecidable::Crawler)?;
    let mut columns: Vec<_> = answers.iter().map(|&answer| AnswerColumn::new(answer, 0)).collect();
    decide_into(&mut asker, &texts, |_, _| Ok(()), &mut columns);
    let fields = answers.iter().map(|&answer| Field::new(answer.name(), data_type(answer), true));
    let fields: Fields = fields.collect();
    let columns = columns.iter_mut().map(AnswerColumn::finish).collect();
    // The number of rows is given, so that it is right without answers too.
    StructArray::try_new_with_length(fields, columns, None, texts.len()).map_err(|error| {
        Undecidable::Crawler(RequestError::new(mayi::report::ErrorCode::Internal, error))
    })
}

/// Answers URLs into columns, and says how many have an error. `who` sets the crawlers of a row, where rows have their
/// own.
pub fn decide_into(
    asker: &mut Asker<'_>,
    urls: &Texts<'_>,
    mut who: impl FnMut(&mut Asker<'_>, usize) -> Result<(), RequestError>,
    columns: &mut [AnswerColumn],
) -> usize {
    let has_uses = columns.iter().any(|column| column.answer.is_use());
    let mut errors = 0;
    for row in 0..urls.len() {
        let url = urls.get(row).unwrap_or_default();
        let parsed = match who(asker, row) {
            Ok(()) => asker.ask(url),
            Err(error) => Err(error),
        };
        let target = parsed.as_ref();
        let mut is_error = false;
        for number in 0..asker.crawlers().len().max(1) {
            let crawler = asker.crawlers().get(number);
            let decision = target.and_then(|target| asker.decide(number, target));
            is_error |= decision.is_err();
            let usage = match (&decision, target) {
                (Ok(decision), Ok(target)) if has_uses => {
                    usage(asker.file(), decision, crawler, target)
                }
                _ => None,
            };
            let decision = decision.as_ref().map_err(|error| *error);
            let answered = Answered { url, crawler, decision, usage: usage.as_ref() };
            for column in columns.iter_mut().filter(|column| column.crawler == number) {
                column.push(&answered);
            }
            if is_error {
                // There are no crawlers, or the error is the same for all of them.
                for column in columns.iter_mut().filter(|column| column.crawler > number) {
                    column.push(&answered);
                }
                break;
            }
        }
        errors += usize::from(is_error);
    }
    errors
}

/// What may be done with the target, where there is something to say: what can't be fetched has no preferences (USE-4).
pub fn usage(
    file: Option<&SiteFile<'_>>,
    decision: &Decision<'_>,
    crawler: Option<&Crawler>,
    target: &Target<'_>,
) -> Option<Usage> {
    let file = file.filter(|_| decision.is_allowed())?;
    Some(file.robots_txt()?.usage(crawler?, target, &[]))
}

/// What came of a row for one crawler.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// The URL as it was asked about.
    pub url: &'a str,
    /// Who asked, where that is known.
    pub crawler: Option<&'a Crawler>,
    /// The decision, or why there is none.
    pub decision: Result<&'a Decision<'a>, &'a RequestError>,
    /// What may be done with it, where that was asked for and there is something to say.
    pub usage: Option<&'a Usage>,
}

/// A column of answers while it is being made.
#[derive(Debug)]
pub struct AnswerColumn {
    answer: Answer,
    crawler: usize,
    making: Making,
}

#[derive(Debug)]
enum Making {
    Flags(BooleanBuilder),
    Numbers(UInt32Builder),
    Texts(StringBuilder),
    /// Numbers of words that are known beforehand, so that every part of a table has the same dictionary.
    Words(&'static LazyLock<Arc<StringArray>>, Int8Builder),
}

static REASONS: LazyLock<Arc<StringArray>> = LazyLock::new(|| {
    words(&["rule", "no-rule", "no-group", "robots-txt", "unavailable", "unreachable"])
});
static GROUPS: LazyLock<Arc<StringArray>> =
    LazyLock::new(|| words(&["product-token", "regex", "purpose", "global"]));
static USES: LazyLock<Arc<StringArray>> =
    LazyLock::new(|| words(&["allowed", "disallowed", "unknown"]));

fn words(words: &[&str]) -> Arc<StringArray> {
    Arc::new(StringArray::from(words.to_vec()))
}

/// The type of an answer's column.
pub fn data_type(answer: Answer) -> DataType {
    match answer {
        Answer::Allowed => DataType::Boolean,
        Answer::RuleLine | Answer::Octets => DataType::UInt32,
        Answer::Reason | Answer::Group | Answer::Train | Answer::Search | Answer::AiInput => {
            DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
        }
        Answer::Url | Answer::Agent | Answer::Origin | Answer::Rule | Answer::Error => DataType::Utf8,
    }
}

impl AnswerColumn {
    /// An empty one, for the crawler of this number.
    pub fn new(answer: Answer, crawler: usize) -> Self {
        let making = match answer {
            Answer::Allowed => Making::Flags(BooleanBuilder::new()),
            Answer::RuleLine | Answer::Octets => Making::Numbers(UInt32Builder::new()),
            Answer::Reason => Making::Words(&REASONS, Int8Builder::new()),
            Answer::Group => Making::Words(&GROUPS, Int8Builder::new()),
            Answer::Train | Answer::Search | Answer::AiInput => {
                Making::Words(&USES, Int8Builder::new())
            }
            Answer::Url | Answer::Agent | Answer::Origin | Answer::Rule | Answer::Error => {
                Making::Texts(StringBuilder::new())
            }
        };
        Self { answer, crawler, making }
    }

    /// Adds the answer of a row.
    pub fn push(&mut self, answered: &Answered<'_>) {
        let decision = answered.decision.ok();
        let rule = decision.and_then(Decision::rule);
        match (&mut self.making, self.answer) {
            (Making::Flags(flags), _) => flags.append_option(decision.map(Decision::is_allowed)),
            (Making::Numbers(numbers), Answer::RuleLine) => {
                numbers.append_option(rule.map(|rule| rule.line().number()));
            }
            (Making::Numbers(numbers), _) => {
                numbers.append_option(rule.and_then(|rule| u32::try_from(rule.octets()).ok()));
            }
            (Making::Words(words, keys), answer) => {
                let word = match (decision, answer) {
                    (None, _) => None,
                    (Some(decision), Answer::Reason) => Some(decision.reason().name()),
                    (Some(decision), Answer::Group) => decision.group().map(|group| group.by().name()),
                    (Some(_), answer) => answer.of_use().map(|of_use| {
                        answered.usage.map_or("unknown", |usage| usage.answer(of_use).name())
                    }),
                };
                let place = word.and_then(|word| words.iter().position(|known| known == Some(word)));
                debug_assert_eq!(word.is_some(), place.is_some(), "{word:?} is a known word");
                keys.append_option(place.map(|place| place as i8));
            }
            (Making::Texts(texts), Answer::Url) => texts.append_value(answered.url),
            (Making::Texts(texts), Answer::Agent) => {
                texts.append_option(answered.crawler.map(|crawler| crawler.product_token().as_str()));
            }
            (Making::Texts(texts), Answer::Origin) => {
                let origin = decision.and_then(|_| Origin::of_url(answered.url).ok());
                texts.append_option(origin.map(|origin| origin.to_string()));
            }
            (Making::Texts(texts), Answer::Rule) => {
                texts.append_option(rule.map(|rule| String::from_utf8_lossy(rule.pattern())));
            }
            (Making::Texts(texts), _) => {
                let error = answered.decision.err();
                texts.append_option(error.map(|error| format!("{}: {error}", error.code().name())));
            }
        }
    }

    /// The column, and an empty one in its place.
    pub fn finish(&mut self) -> ArrayRef {
        match &mut self.making {
            Making::Flags(flags) => Arc::new(flags.finish()),
            Making::Numbers(numbers) => Arc::new(numbers.finish()),
            Making::Texts(texts) => Arc::new(texts.finish()),
            Making::Words(words, keys) => {
                let words: Arc<StringArray> = Arc::clone(words);
                // Every number is that of a word.
                Arc::new(DictionaryArray::<Int8Type>::new(keys.finish(), words))
            }
        }
    }
}

/// Why no URL of an array can be answered.
#[derive(Debug)]
#[non_exhaustive]
pub enum Undecidable {
    /// The array has no strings.
    Urls(NotText),
    /// There can be no such crawler.
    Crawler(RequestError),
}

impl fmt::Display for Undecidable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Urls(error) => write!(f, "the array can't be one of URLs: {error}"),
            Self::Crawler(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Undecidable {}
