//! An array of URLs → arrays of answers.
//!
//! ```
//! use arrow_array::{Array, StringArray};
//! use arrow_array::cast::AsArray;
//! use mayi::access::SiteFile;
//! use mayi::{Crawler, ReadOptions};
//! use mayi_tables::answer::RowAnswer;
//! use mayi_tables::files::{Files, RobotsSource};
//! use mayi_tables::kernel::RowQuestion;
//!
//! let options = ReadOptions::default();
//! let file = SiteFile::read(b"User-agent: *\nDisallow: /private/\n".to_vec(), &options);
//! let files = Files::new(RobotsSource::One(file), options, 1 << 20);
//! let answers = [RowAnswer::Allowed, RowAnswer::RuleLine, RowAnswer::Error];
//! let crawlers = [Crawler::new("ExampleBot")?];
//! let question = RowQuestion { files: &files, crawlers: &crawlers, answers: &answers };
//! let urls = StringArray::from(vec![Some("https://example.com/private/x"), None]);
//! let decided = question.decide(&urls)?;
//! assert_eq!(decided.column(0).as_boolean().value(0), false);
//! assert!(decided.column(0).is_null(1) && decided.column(2).is_valid(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread;

use arrow_array::builder::{BooleanBuilder, Int8Builder, StringBuilder, UInt32Builder};
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, StringArray, StructArray};
use arrow_schema::{DataType, Field, Fields};
use mayi::access::Origin;
use mayi::report::RequestError;
use mayi::{Crawler, Decision, UseAnswers};

use crate::answer::RowAnswer;
use crate::asking::{Asker, use_answers};
use crate::files::Files;
use crate::texts::{NotText, Texts};

/// The question about every URL.
#[derive(Clone, Copy, Debug)]
pub struct RowQuestion<'a> {
    /// The files. They must be for that ([`Files::asking_for_uses`]) if answers about uses are
    /// requested.
    pub files: &'a Files,
    /// Who asks.
    pub crawlers: &'a [Crawler],
    /// What is to be known.
    pub answers: &'a [RowAnswer],
}

impl RowQuestion<'_> {
    /// Answers an array of URLs: a struct with a field for each of the answers. With several crawlers it has
    /// a field for each of them, named by its product token, which is such a struct. The row of a URL that
    /// can't be answered has an error, and null for all other answers.
    ///
    /// # Errors
    /// When the array has no strings.
    ///
    /// # Panics
    /// Never: a struct is made of columns that have the types of its fields.
    pub fn decide(&self, urls: &dyn Array) -> Result<StructArray, NotText> {
        let texts = Texts::of(urls)?;
        let mut asker = Asker::of_crawlers(self.files, self.crawlers);
        let of_crawler =
            |number| self.answers.iter().map(move |&answer| AnswerColumn::new(answer, number));
        let mut columns: Vec<_> = (0..self.crawlers.len()).flat_map(of_crawler).collect();
        decide_into(&mut asker, &texts, |_, _| Ok(()), &mut columns);
        let fields = self.fields_of_crawler();
        let mut columns = columns.iter_mut().map(AnswerColumn::finish);
        let mut next = || {
            let columns = columns.by_ref().take(fields.len()).collect();
            // The number of rows is given, so that it is right without answers too.
            StructArray::try_new_with_length(fields.clone(), columns, None, texts.len())
        };
        let all = match self.crawlers {
            [_] => next(),
            crawlers => crawlers
                .iter()
                .map(|_| next().map(|column| Arc::new(column) as ArrayRef))
                .collect::<Result<_, _>>()
                .and_then(|columns| {
                    StructArray::try_new_with_length(self.fields(), columns, None, texts.len())
                }),
        };
        Ok(all.expect("every column has the type of its field, and all have a value for each row"))
    }

    /// Answers arrays of URLs in the same order, on as many threads as are useful. The arrays of the result
    /// need not have the lengths of the input arrays.
    ///
    /// # Errors
    /// When an array has no strings.
    pub fn decide_all(&self, urls: &[ArrayRef]) -> Result<Vec<ArrayRef>, NotText> {
        in_parallel(urls, |urls| Ok(Arc::new(self.decide(urls)?)))
    }

    /// The fields of what is answered.
    pub fn fields(&self) -> Fields {
        let fields = self.fields_of_crawler();
        if let [_] = self.crawlers {
            return fields;
        }
        let of = |crawler: &Crawler| {
            Field::new(crawler.product_token().as_str(), DataType::Struct(fields.clone()), true)
        };
        self.crawlers.iter().map(of).collect()
    }

    fn fields_of_crawler(&self) -> Fields {
        let field = |answer: &RowAnswer| Field::new(answer.field_name(), data_type(*answer), true);
        self.answers.iter().map(field).collect()
    }
}

/// The origins of URLs, by which their files are found: scheme, host and port, normalised. Text that is not a
/// URL of a site with a robots.txt has none.
///
/// # Errors
/// When an array has no strings.
pub fn origins(urls: &[ArrayRef]) -> Result<Vec<ArrayRef>, NotText> {
    in_parallel(urls, |urls| {
        let texts = Texts::of(urls)?;
        let mut origins = StringBuilder::with_capacity(texts.len(), 32 * texts.len());
        // Most rows have the origin of the row before them.
        let (mut prefix, mut last) = (None, None);
        for row in 0..texts.len() {
            let url = texts.get(row).unwrap_or_default();
            let next = Origin::prefix_of(url);
            if next.is_none() || next != prefix {
                prefix = next;
                last = Origin::of_url(url).ok().map(|origin| origin.to_string());
            }
            origins.append_option(last.as_deref());
        }
        Ok(Arc::new(origins.finish()))
    })
}

/// This many rows are worth a separate thread, and are answered as one part.
const WORTH_A_THREAD: usize = 1 << 15;

/// Makes arrays from arrays, on as many threads as are useful.
fn in_parallel(
    arrays: &[ArrayRef],
    of: impl Fn(&dyn Array) -> Result<ArrayRef, NotText> + Sync,
) -> Result<Vec<ArrayRef>, NotText> {
    let rows: usize = arrays.iter().map(Array::len).sum();
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = (rows / WORTH_A_THREAD).min(cores);
    if threads < 2 {
        return arrays.iter().map(|array| of(array)).collect();
    }
    let parts: Vec<ArrayRef> = arrays.iter().flat_map(parts).collect();
    let made = Mutex::new(Vec::with_capacity(parts.len()));
    let next = AtomicUsize::new(0);
    let work = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(part) = parts.get(number) else { break };
        let part = of(part);
        made.lock().unwrap_or_else(PoisonError::into_inner).push((number, part));
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_unstable_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, part)| part).collect()
}

/// An array as slices that are short enough for the threads.
fn parts(array: &ArrayRef) -> impl Iterator<Item = ArrayRef> {
    let starts = (0..array.len()).step_by(WORTH_A_THREAD);
    starts.map(|start| array.slice(start, WORTH_A_THREAD.min(array.len() - start)))
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
            let uses = match (&decision, target) {
                (Ok(decision), Ok(target)) if has_uses => {
                    use_answers(asker.uses(number), decision, target)
                }
                _ => None,
            };
            let decision = decision.as_ref().map_err(|error| *error);
            let answered = Answered { url, crawler, decision, uses };
            for column in columns.iter_mut().filter(|column| column.crawler == number) {
                column.push(&answered);
            }
            if is_error {
                // There are no crawlers, or the error is the same for all of them.
                for column in columns.iter_mut().filter(|column| column.crawler > number) {
                    let crawler = asker.crawlers().get(column.crawler);
                    column.push(&Answered { crawler, ..answered });
                }
                break;
            }
        }
        errors += usize::from(is_error);
    }
    errors
}

/// The result of a row for one crawler.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// The URL as it was asked about.
    pub url: &'a str,
    /// The crawler, if it is known.
    pub crawler: Option<&'a Crawler>,
    /// The decision, or why there is none.
    pub decision: Result<&'a Decision<'a>, &'a RequestError>,
    /// What may be done with it, if that was requested and there is an answer.
    pub uses: Option<UseAnswers>,
}

/// A column of answers while it is being made.
#[derive(Debug)]
pub struct AnswerColumn {
    answer: RowAnswer,
    crawler: usize,
    making: Making,
}

#[derive(Debug)]
enum Making {
    Flags(BooleanBuilder),
    Numbers(UInt32Builder),
    Texts(StringBuilder),
    /// Indices of words that are known in advance, so that every part of a table has the same dictionary.
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
pub fn data_type(answer: RowAnswer) -> DataType {
    match answer {
        RowAnswer::Allowed => DataType::Boolean,
        RowAnswer::RuleLine | RowAnswer::Octets => DataType::UInt32,
        RowAnswer::Reason
        | RowAnswer::Group
        | RowAnswer::Train
        | RowAnswer::Search
        | RowAnswer::AiInput => {
            DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
        }
        RowAnswer::Url | RowAnswer::Agent | RowAnswer::Origin | RowAnswer::Rule | RowAnswer::Error => {
            DataType::Utf8
        }
    }
}

impl AnswerColumn {
    /// An empty one, for the crawler of this number.
    pub fn new(answer: RowAnswer, crawler: usize) -> Self {
        let making = match answer {
            RowAnswer::Allowed => Making::Flags(BooleanBuilder::new()),
            RowAnswer::RuleLine | RowAnswer::Octets => Making::Numbers(UInt32Builder::new()),
            RowAnswer::Reason => Making::Words(&REASONS, Int8Builder::new()),
            RowAnswer::Group => Making::Words(&GROUPS, Int8Builder::new()),
            RowAnswer::Train | RowAnswer::Search | RowAnswer::AiInput => {
                Making::Words(&USES, Int8Builder::new())
            }
            RowAnswer::Url
            | RowAnswer::Agent
            | RowAnswer::Origin
            | RowAnswer::Rule
            | RowAnswer::Error => Making::Texts(StringBuilder::new()),
        };
        Self { answer, crawler, making }
    }

    /// Adds the answer of a row.
    pub fn push(&mut self, answered: &Answered<'_>) {
        let decision = answered.decision.ok();
        let rule = decision.and_then(Decision::rule);
        match (&mut self.making, self.answer) {
            (Making::Flags(flags), _) => flags.append_option(decision.map(Decision::is_allowed)),
            (Making::Numbers(numbers), RowAnswer::RuleLine) => {
                numbers.append_option(rule.map(|rule| rule.line().number()));
            }
            (Making::Numbers(numbers), _) => {
                numbers.append_option(rule.and_then(|rule| u32::try_from(rule.octets()).ok()));
            }
            (Making::Words(words, keys), answer) => {
                let word = match (decision, answer) {
                    (None, _) => None,
                    (Some(decision), RowAnswer::Reason) => Some(decision.reason().name()),
                    (Some(decision), RowAnswer::Group) => {
                        decision.group().map(|group| group.by().name())
                    }
                    (Some(_), answer) => answer.of_use().map(|of_use| {
                        answered.uses.map_or("unknown", |uses| uses.answer(of_use).name())
                    }),
                };
                let place = word.and_then(|word| words.iter().position(|known| known == Some(word)));
                debug_assert_eq!(word.is_some(), place.is_some(), "{word:?} is a known word");
                keys.append_option(place.map(|place| place as i8));
            }
            (Making::Texts(texts), RowAnswer::Url) => texts.append_value(answered.url),
            (Making::Texts(texts), RowAnswer::Agent) => {
                texts.append_option(answered.crawler.map(|crawler| crawler.product_token().as_str()));
            }
            (Making::Texts(texts), RowAnswer::Origin) => {
                let origin = decision.and_then(|_| Origin::of_url(answered.url).ok());
                texts.append_option(origin.map(|origin| origin.to_string()));
            }
            (Making::Texts(texts), RowAnswer::Rule) => {
                texts.append_option(rule.map(|rule| shortened(rule.pattern())));
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

/// The maximum length of a pattern that is written in full.
const MOST_OF_A_PATTERN: usize = 4096;

/// A pattern as text. A file can have one of half a megabyte that matches everything, which would be in every
/// row: so a long one is cut and ends in `…`. Its line says where the whole pattern is.
fn shortened(pattern: &[u8]) -> Cow<'_, str> {
    if pattern.len() <= MOST_OF_A_PATTERN {
        return String::from_utf8_lossy(pattern);
    }
    let start = String::from_utf8_lossy(&pattern[..MOST_OF_A_PATTERN]);
    Cow::Owned(start.into_owned() + "…")
}
