//! Runs of rows → runs of answers: what one thread does.
//!
//! Nothing is allocated for a row that has an answer, unless its URL has to be normalised.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::from_utf8;
use std::sync::atomic::{AtomicU64, Ordering};

use mayi::report::{ErrorCode, RequestError};
use mayi::{CrawlerParts, Target};
use mayi_tables::asking::Asker;
use mayi_tables::files::Files;

use super::columns::Columns;
use super::rows::{Fields, Format, Members, split_line, text_of};
use super::write::{Answered, Decided, Row, RowSink};
use crate::cli::Claims;
use crate::parallel::Lines;
use crate::progress::Progress;

/// What all workers share.
pub(crate) struct Shared<'b> {
    pub(crate) columns: &'b Columns,
    pub(crate) files: &'b Files,
    /// Who asks, where rows do not say.
    pub(crate) agents: &'b [String],
    pub(crate) claims: &'b Claims,
    pub(crate) longest: usize,
    pub(crate) counts: &'b Counts,
    pub(crate) progress: &'b Progress,
}

impl<'b> Shared<'b> {
    /// What a thread asks with. No crawler is set yet.
    pub(crate) fn asker(&self) -> Asker<'b> {
        let new = if self.columns.has_crawlers() { Asker::for_crawlers_of_rows } else { Asker::new };
        new(self.files)
    }

    /// Counts rows that are answered.
    pub(crate) fn count(&self, rows: u64, errors: u64) {
        self.counts.rows.fetch_add(rows, Ordering::Relaxed);
        self.counts.errors.fetch_add(errors, Ordering::Relaxed);
        self.progress.add(rows);
    }
}

/// How many rows there were.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) rows: AtomicU64,
    pub(crate) errors: AtomicU64,
}

/// One thread's part of the work.
pub(crate) struct Worker<'b> {
    shared: &'b Shared<'b>,
    asking: RowAnswerer<'b>,
    fields: Fields,
    members: Members,
    errors: u64,
    rows: u64,
}

impl<'b> Worker<'b> {
    pub(crate) fn new(shared: &'b Shared<'b>) -> Self {
        let asking = RowAnswerer { shared, asker: shared.asker() };
        let (fields, members) = (Fields::default(), Members::default());
        Self { shared, asking, fields, members, errors: 0, rows: 0 }
    }

    /// Answers a run of rows.
    pub(crate) fn answer(&mut self, lines: Lines<'_>, out: &mut impl RowSink) {
        match lines {
            Lines::Whole(run) => {
                out.expect_input(run.len());
                match self.shared.columns.input {
                    Format::Tsv => self.answer_tsv(run, out),
                    Format::Csv => self.answer_csv(run, out),
                    Format::Ndjson => self.answer_ndjson(run, out),
                    #[cfg(feature = "columns")]
                    Format::Parquet | Format::Arrow => {} // is no text, and is not cut into runs
                }
            }
            Lines::TooLong => self.refuse(&Row::Unreadable, &self.too_long(), out),
        }
        let (rows, errors) = self.counted();
        self.shared.count(rows, errors);
    }

    /// How many rows were answered since the last call, and how many of them with an error.
    pub(crate) fn counted(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.rows), std::mem::take(&mut self.errors))
    }

    fn answer_tsv(&mut self, run: &[u8], out: &mut impl RowSink) {
        let mut fields = std::mem::take(&mut self.fields);
        let mut rest = run;
        while !rest.is_empty() {
            let line;
            (line, rest) = split_line(rest);
            if line.is_empty() {
                continue;
            }
            if line.len() > self.shared.longest {
                self.refuse(&Row::Unreadable, &self.too_long(), out);
                continue;
            }
            fields.read_tsv(line);
            self.answer_fields(line, &fields, out);
        }
        self.fields = fields;
    }

    fn answer_csv(&mut self, run: &[u8], out: &mut impl RowSink) {
        let mut fields = std::mem::take(&mut self.fields);
        let mut rest = run;
        while !rest.is_empty() {
            let (end, next) = fields.read_csv(rest);
            let text = &rest[..end];
            rest = &rest[next..];
            if text.is_empty() {
                continue;
            }
            if text.len() > self.shared.longest {
                self.refuse(&Row::Unreadable, &self.too_long(), out);
                continue;
            }
            self.answer_fields(text, &fields, out);
        }
        self.fields = fields;
    }

    fn answer_fields(&mut self, text: &[u8], fields: &Fields, out: &mut impl RowSink) {
        let row = Row::Separated { text, fields };
        let width = self.shared.columns.width;
        if fields.is_open {
            let error = RequestError::new(ErrorCode::InvalidRequest, "a quote is never closed");
            self.refuse(&row, &error, out);
        } else if fields.len() == width {
            self.answer_row(&row, out);
        } else {
            let message = format!("the row has {} of {width} columns", fields.len());
            self.refuse(&row, &RequestError::new(ErrorCode::InvalidRequest, message), out);
        }
    }

    fn answer_ndjson(&mut self, run: &[u8], out: &mut impl RowSink) {
        let mut members = std::mem::take(&mut self.members);
        let mut rest = run;
        while !rest.is_empty() {
            let line;
            (line, rest) = split_line(rest);
            if line.trim_ascii().is_empty() {
                continue;
            }
            let read = if line.len() > self.shared.longest {
                Err(self.too_long())
            } else {
                self.read_object(line, &mut members)
            };
            match read {
                Ok(text) => self.answer_row(&Row::Object { text, members: &members }, out),
                Err(error) => self.refuse(&Row::Unreadable, &error, out),
            }
        }
        self.members = members;
    }

    fn read_object<'r>(&self, line: &'r [u8], members: &mut Members) -> Result<&'r str, RequestError> {
        let not_text = |error| {
            RequestError::new(ErrorCode::InvalidJson, format_args!("the row is not UTF-8: {error}"))
        };
        let text = from_utf8(line).map_err(not_text)?;
        members.read(text, &self.shared.columns.members).map_err(|error| {
            let code = match error.classify() {
                serde_json::error::Category::Data => ErrorCode::InvalidRequest,
                _ => ErrorCode::InvalidJson,
            };
            RequestError::new(code, error)
        })?;
        Ok(text)
    }

    /// Answers a row, or writes an internal error in its place.
    pub(crate) fn answer_row(&mut self, row: &Row<'_>, out: &mut impl RowSink) {
        let start = out.mark();
        // A panic in one answer must not affect the others.
        let answered = catch_unwind(AssertUnwindSafe(|| self.asking.answer_row(row, out)));
        let is_error = answered.unwrap_or_else(|_| {
            out.undo(start);
            self.asking.asker.forget();
            let error =
                RequestError::new(ErrorCode::Internal, "an internal error in mayi; please report it");
            write_refusal(self.shared.columns, row, &error, out);
            true
        });
        self.rows += 1;
        self.errors += u64::from(is_error);
    }

    /// Writes an error in the place of a row's answer.
    fn refuse(&mut self, row: &Row<'_>, error: &RequestError, out: &mut impl RowSink) {
        self.rows += 1;
        self.errors += 1;
        write_refusal(self.shared.columns, row, error, out);
    }

    fn too_long(&self) -> RequestError {
        let limit = self.shared.longest;
        let message = format!("the row is longer than {limit} octets; `--max-line` sets the limit");
        RequestError::new(ErrorCode::InvalidRequest, message)
    }
}

fn write_refusal(columns: &Columns, row: &Row<'_>, error: &RequestError, out: &mut impl RowSink) {
    let url = row.octets(columns.url);
    let url = from_utf8(&url).unwrap_or_default();
    out.push_row(columns, row, &[Answered { url, crawler: None, outcome: Err(error) }]);
}

/// Answers one row after another.
struct RowAnswerer<'b> {
    shared: &'b Shared<'b>,
    asker: Asker<'b>,
}

impl RowAnswerer<'_> {
    /// Answers a row, and says whether with an error.
    fn answer_row(&mut self, row: &Row<'_>, out: &mut impl RowSink) -> bool {
        let columns = self.shared.columns;
        let url = match text(row, Some(columns.url), "the URL") {
            Ok(url) => url.unwrap_or_default(),
            Err(error) => {
                write_refusal(columns, row, &error, out);
                return true;
            }
        };
        let url = &*url;
        let target = self.ask(row, url);
        let asker = &self.asker;
        let answered = |number: usize| {
            let crawler = asker.crawlers().get(number);
            let target = match &target {
                Err(error) => return Answered { url, crawler, outcome: Err(error) },
                Ok(target) => target,
            };
            let decided = |decision| Decided { decision, target, uses: asker.uses(number) };
            Answered { url, crawler, outcome: asker.decide(number, target).map(decided) }
        };
        let first = answered(0);
        let is_error = first.outcome.is_err();
        let count = asker.crawlers().len();
        if count > 1 {
            let all: Vec<_> = [first].into_iter().chain((1..count).map(answered)).collect();
            out.push_row(columns, row, &all);
        } else {
            out.push_row(columns, row, &[first]);
        }
        is_error
    }

    fn ask<'u>(&mut self, row: &Row<'_>, url: &'u str) -> Result<Target<'u>, RequestError> {
        if self.asker.crawlers().is_empty() || self.shared.columns.has_crawlers() {
            read_crawlers(row, self.shared, &mut self.asker)?;
        }
        self.asker.ask(url)
    }
}

/// Reads who asks.
pub(crate) fn read_crawlers(
    row: &Row<'_>,
    shared: &Shared<'_>,
    asker: &mut Asker<'_>,
) -> Result<(), RequestError> {
    let (columns, claims) = (shared.columns, shared.claims);
    let agent = text(row, columns.agent, "the product token")?;
    let purposes = list(row, columns.purposes, &claims.purposes, "the purposes")?;
    let apps = list(row, columns.apps, &claims.apps, "the applications")?;
    let user_agent = text(row, columns.user_agent, "the User-Agent string")?;
    let user_agent = user_agent.as_deref().or(claims.user_agent.as_deref());
    let parts = |product_token| CrawlerParts {
        product_token,
        purposes: &purposes,
        registered_purposes_only: claims.registered_purposes_only,
        applications: &apps,
        user_agent,
    };
    let first = agent.as_deref().or(shared.agents.first().map(String::as_str)).unwrap_or_default();
    let others = if agent.is_none() { shared.agents.get(1..).unwrap_or_default() } else { &[] };
    asker.set_crawlers(parts(first), others.iter().map(|agent| parts(agent)))
}

/// The text of a field; none if it is empty or missing.
fn text<'r>(
    row: &Row<'r>,
    index: Option<usize>,
    what: &str,
) -> Result<Option<Cow<'r, str>>, RequestError> {
    let Some(index) = index else { return Ok(None) };
    if let Row::Object { text, members } = row {
        let Some(value) = members.value(text, index) else { return Ok(None) };
        return text_of(value).map(Some).ok_or_else(|| wrong(what, "has to be a string"));
    }
    let text = match row.octets(index) {
        Cow::Borrowed(octets) => from_utf8(octets).map(Cow::Borrowed).ok(),
        Cow::Owned(octets) => String::from_utf8(octets).map(Cow::Owned).ok(),
    };
    let text = text.ok_or_else(|| wrong(what, "has to be UTF-8"))?;
    Ok((!text.is_empty()).then_some(text))
}

/// The words of a field, with white space in between, or of a JSON list; if there are none, those for all
/// rows.
fn list<'r>(
    row: &Row<'r>,
    index: Option<usize>,
    default: &'r [String],
    what: &str,
) -> Result<Vec<Cow<'r, str>>, RequestError> {
    let mut words: Vec<Cow<'r, str>> = Vec::new();
    if let (Row::Object { text, members }, Some(index)) = (row, index)
        && let Some(value) = members.value(text, index)
        && value.starts_with('[')
    {
        let list: Vec<String> = serde_json::from_str(value).map_err(|_| {
            wrong(what, "have to be a list of strings, or one string with spaces between them")
        })?;
        words.extend(list.into_iter().map(Cow::Owned));
    } else {
        match text(row, index, what)? {
            None => {}
            Some(Cow::Borrowed(text)) => words.extend(text.split_whitespace().map(Cow::Borrowed)),
            Some(Cow::Owned(text)) => {
                words.extend(text.split_whitespace().map(|word| Cow::Owned(word.to_owned())));
            }
        }
    }
    if words.is_empty() {
        words.extend(default.iter().map(|word| Cow::Borrowed(&**word)));
    }
    Ok(words)
}

fn wrong(what: &str, how: &str) -> RequestError {
    RequestError::new(ErrorCode::InvalidRequest, format_args!("{what} {how}"))
}
