//! Runs of rows → runs of answers: what one thread does.
//!
//! A row whose URL starts as the one before it, up to the end of its authority, needs no look-up at
//! all: that is what makes input that is sorted by host quick. Nothing is allocated for a row that
//! has an answer, unless its URL has to be normalised.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::from_utf8;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayi::access::Origin;
use mayi::report::{ErrorCode, RequestError};
use mayi::{Crawler, CrawlerParts, Target};
use mayi_fetch::prepared::Key;

use super::columns::Columns;
use super::kept::{Keeper, Kept, Wanted};
use super::rows::{Fields, Format, Members, split_line, text_of};
use super::write::{Answered, Decided, Row, write_row};
use crate::cli::Claims;
use crate::parallel::Lines;
use crate::progress::Progress;

/// What all workers share.
pub(crate) struct Shared<'b> {
    pub(crate) columns: &'b Columns,
    pub(crate) keeper: &'b Keeper,
    /// Who asks, where rows do not say.
    pub(crate) agents: &'b [String],
    pub(crate) claims: &'b Claims,
    pub(crate) longest: usize,
    pub(crate) counts: &'b Counts,
    pub(crate) progress: &'b Progress,
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
        let asking = RowAnswerer {
            shared,
            crawlers: Vec::new(),
            key: Key::default(),
            next_key: Key::default(),
            last: None,
            prefix: Vec::new(),
        };
        let (fields, members) = (Fields::default(), Members::default());
        Self { shared, asking, fields, members, errors: 0, rows: 0 }
    }

    /// Answers a run of rows.
    pub(crate) fn answer(&mut self, lines: Lines<'_>, out: &mut Vec<u8>) {
        (self.rows, self.errors) = (0, 0);
        match lines {
            Lines::Whole(run) => {
                out.reserve(run.len() + run.len() / 2);
                match self.shared.columns.input {
                    Format::Tsv => self.answer_tsv(run, out),
                    Format::Csv => self.answer_csv(run, out),
                    Format::Ndjson => self.answer_ndjson(run, out),
                }
            }
            Lines::TooLong => self.refuse(&Row::Unreadable, &self.too_long(), out),
        }
        let counts = self.shared.counts;
        counts.rows.fetch_add(self.rows, Ordering::Relaxed);
        counts.errors.fetch_add(self.errors, Ordering::Relaxed);
        self.shared.progress.add(self.rows);
    }

    fn answer_tsv(&mut self, run: &[u8], out: &mut Vec<u8>) {
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

    fn answer_csv(&mut self, run: &[u8], out: &mut Vec<u8>) {
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

    fn answer_fields(&mut self, text: &[u8], fields: &Fields, out: &mut Vec<u8>) {
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

    fn answer_ndjson(&mut self, run: &[u8], out: &mut Vec<u8>) {
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

    fn answer_row(&mut self, row: &Row<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        // A fault of ours in one answer must not cost the others theirs.
        let answered = catch_unwind(AssertUnwindSafe(|| self.asking.answer_row(row, out)));
        let is_error = answered.unwrap_or_else(|_| {
            out.truncate(start);
            self.asking.forget();
            let error =
                RequestError::new(ErrorCode::Internal, "an internal error in mayi; please report it");
            write_refusal(self.shared.columns, row, &error, out);
            true
        });
        self.rows += 1;
        self.errors += u64::from(is_error);
    }

    /// Writes an error in the place of a row's answer.
    fn refuse(&mut self, row: &Row<'_>, error: &RequestError, out: &mut Vec<u8>) {
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

fn write_refusal(columns: &Columns, row: &Row<'_>, error: &RequestError, out: &mut Vec<u8>) {
    let url = row.octets(columns.url);
    let url = from_utf8(&url).unwrap_or_default();
    write_row(columns, row, &[Answered { url, crawler: None, outcome: Err(error) }], out);
}

/// Asks for one row after another, holding on to what was used last.
struct RowAnswerer<'b> {
    shared: &'b Shared<'b>,
    /// Who asks, all at once.
    crawlers: Vec<Crawler>,
    /// What tells the first of them from others, and its last site.
    key: Key,
    /// A buffer for the next row's.
    next_key: Key,
    /// What is known of the last origin, for the crawlers, and how its URLs start.
    last: Option<Arc<Kept>>,
    prefix: Vec<u8>,
}

impl RowAnswerer<'_> {
    /// Answers a row, and says whether with an error.
    fn answer_row(&mut self, row: &Row<'_>, out: &mut Vec<u8>) -> bool {
        let columns = self.shared.columns;
        let url = match text(row, Some(columns.url), "the URL") {
            Ok(url) => url.unwrap_or_default(),
            Err(error) => {
                write_refusal(columns, row, &error, out);
                return true;
            }
        };
        let url = &*url;
        let target = self.prepare(row, url);
        let answered = |number: usize| {
            let crawler = self.crawlers.get(number);
            let target = match &target {
                Err(error) => return Answered { url, crawler, outcome: Err(error) },
                Ok(target) => target,
            };
            let kept = self.last.as_deref().expect("it was just found");
            let decided = |decision| Decided { decision, target, file: kept.file() };
            Answered { url, crawler, outcome: kept.decide(number, target).map(decided) }
        };
        let first = answered(0);
        let is_error = first.outcome.is_err();
        if self.crawlers.len() > 1 {
            let all: Vec<_> =
                [first].into_iter().chain((1..self.crawlers.len()).map(answered)).collect();
            write_row(columns, row, &all, out);
        } else {
            write_row(columns, row, &[first], out);
        }
        is_error
    }

    /// Reads who asks and what about, and has the rules for it at hand.
    fn prepare<'u>(&mut self, row: &Row<'_>, url: &'u str) -> Result<Target<'u>, RequestError> {
        if self.crawlers.is_empty() || self.shared.columns.has_crawlers() {
            self.read_crawler(row)?;
        }
        if url.is_empty() {
            return Err(RequestError::new(ErrorCode::InvalidUrl, "the row has no URL"));
        }
        let target = Target::parse(url)?;
        if self.last.is_none() || !self.is_of_last_origin(url.as_bytes()) {
            self.find(url)?;
        }
        Ok(target)
    }

    /// Whether a URL starts as the last one, up to the end of its authority.
    fn is_of_last_origin(&self, url: &[u8]) -> bool {
        // Where there is one file for all origins, nothing is to be compared.
        !self.shared.keeper.is_by_origin()
            || !self.prefix.is_empty()
                && url.strip_prefix(&*self.prefix).is_some_and(|rest| {
                    rest.first().is_none_or(|octet| matches!(octet, b'/' | b'?' | b'#'))
                })
    }

    fn find(&mut self, url: &str) -> Result<(), RequestError> {
        self.last = None;
        let prefix = Origin::prefix_of(url).map(str::len);
        let wanted = Wanted { url, prefix, crawlers: &self.crawlers };
        self.last = Some(self.shared.keeper.find(wanted, &mut self.key)?);
        self.prefix.clear();
        self.prefix.extend_from_slice(&url.as_bytes()[..prefix.unwrap_or_default()]);
        Ok(())
    }

    /// Reads who asks, unless it is the one that asked last.
    fn read_crawler(&mut self, row: &Row<'_>) -> Result<(), RequestError> {
        let (columns, shared) = (self.shared.columns, self.shared);
        let agent = text(row, columns.agent, "the product token")?;
        let first = shared.agents.first().map_or("", String::as_str);
        let purposes = list(row, columns.purposes, &shared.claims.purposes, "the purposes")?;
        let apps = list(row, columns.apps, &shared.claims.apps, "the applications")?;
        let user_agent = text(row, columns.user_agent, "the User-Agent string")?;
        let user_agent = user_agent.as_deref().or(shared.claims.user_agent.as_deref());

        let parts = |product_token| CrawlerParts {
            product_token,
            purposes: &purposes,
            registered_purposes_only: shared.claims.registered_purposes_only,
            applications: &apps,
            user_agent,
        };
        let first = agent.as_deref().unwrap_or(first);
        if columns.has_crawlers() {
            self.next_key.set_crawler(&parts(first), None);
            if !self.crawlers.is_empty() && self.next_key.is_of_crawler(&self.key) {
                return Ok(());
            }
        }
        self.forget();
        let mut crawlers = vec![Crawler::of_parts(parts(first))?];
        if agent.is_none() {
            for product_token in shared.agents.iter().skip(1) {
                crawlers.push(Crawler::of_parts(parts(product_token))?);
            }
        }
        self.crawlers = crawlers;
        std::mem::swap(&mut self.key, &mut self.next_key);
        Ok(())
    }

    /// Lets go of what was used last.
    fn forget(&mut self) {
        self.crawlers.clear();
        self.last = None;
    }
}

/// The text of a field, or nothing where it is empty or there is none.
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

/// The words of a field, with white space in between, or of a JSON list; where there are none, those
/// that hold for all rows.
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
        let list: Vec<String> = serde_json::from_str(value)
            .map_err(|_| wrong(what, "have to be strings in a list, or one with white space"))?;
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
