//! A row and its answer → a row of output.

use std::borrow::Cow;

use mayi::report::RequestError;
use mayi::{Crawler, CrawlerUses, Decision, Target, UseAnswers};
use mayi_tables::answer::RowAnswer;
use mayi_tables::asking;

use super::columns::{Columns, Written};
use super::rows::{Fields, Format, Members, push_csv, push_tsv, text_of};
use crate::parallel::Answers;

/// A row of the input.
#[derive(Clone, Copy)]
pub(crate) enum Row<'r> {
    /// A row of TSV or CSV without its line end.
    Separated { text: &'r [u8], fields: &'r Fields },
    /// A JSON object.
    Object { text: &'r str, members: &'r Members },
    /// A row of a table.
    #[cfg(feature = "columns")]
    Record { record: &'r super::tables::Record<'r>, row: usize },
    /// Nothing that could be read.
    Unreadable,
}

impl<'r> Row<'r> {
    /// Whether there is such a field, and it is not null.
    #[cfg(feature = "columns")]
    pub(crate) fn has(&self, index: usize) -> bool {
        match self {
            Self::Separated { fields, .. } => index < fields.len(),
            Self::Object { text, members } => members.value(text, index).is_some(),
            Self::Record { record, row } => record.has(index, *row),
            Self::Unreadable => false,
        }
    }

    /// The text of a field, for people; empty if there is none.
    pub(crate) fn octets(&self, index: usize) -> Cow<'r, [u8]> {
        match self {
            Self::Separated { text, fields } => fields.octets(text, index),
            Self::Object { text, members } => {
                let Some(value) = members.value(text, index) else { return Cow::Borrowed(b"") };
                match text_of(value) {
                    Some(Cow::Borrowed(text)) => Cow::Borrowed(text.as_bytes()),
                    Some(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
                    None => Cow::Borrowed(value.as_bytes()),
                }
            }
            #[cfg(feature = "columns")]
            Self::Record { record, row } => record.octets(index, *row),
            Self::Unreadable => Cow::Borrowed(b""),
        }
    }
}

/// What came of a row.
pub(crate) struct Answered<'a> {
    pub(crate) url: &'a str,
    /// Who asked, where that is known.
    pub(crate) crawler: Option<&'a Crawler>,
    pub(crate) outcome: Result<Decided<'a>, &'a RequestError>,
}

/// The decision, and what it takes to say more.
pub(crate) struct Decided<'a> {
    pub(crate) decision: Decision<'a>,
    pub(crate) target: &'a Target<'a>,
    /// What may be done, where that is asked for.
    pub(crate) uses: Option<&'a CrawlerUses<'static>>,
}

/// Where rows with their answers go.
pub(crate) trait RowSink {
    /// Adds a row with the answer of each crawler. There is one at least: an error is the same for all.
    fn push_row(&mut self, columns: &Columns, row: &Row<'_>, answers: &[Answered<'_>]);

    /// How much is there.
    fn mark(&self) -> usize;

    /// Removes what was written after a mark.
    fn undo(&mut self, mark: usize);

    /// Announces this many octets of rows.
    fn expect_input(&mut self, octets: usize) {
        let _ = octets;
    }
}

/// Rows as text.
impl RowSink for Vec<u8> {
    fn push_row(&mut self, columns: &Columns, row: &Row<'_>, answers: &[Answered<'_>]) {
        write_row(columns, row, answers, self);
    }

    fn mark(&self) -> usize {
        self.len()
    }

    fn undo(&mut self, mark: usize) {
        self.truncate(mark);
    }

    fn expect_input(&mut self, octets: usize) {
        self.reserve(octets + octets / 2);
    }
}

/// Rows that are passed on in parts.
impl RowSink for Answers<'_, Vec<u8>> {
    fn push_row(&mut self, columns: &Columns, row: &Row<'_>, answers: &[Answered<'_>]) {
        self.current.push_row(columns, row, answers);
        self.pass_on_part();
    }

    fn mark(&self) -> usize {
        self.current.mark()
    }

    fn undo(&mut self, mark: usize) {
        self.current.undo(mark);
    }

    fn expect_input(&mut self, octets: usize) {
        self.current.expect_input(octets);
    }
}

/// Writes the header, where the output gets one.
pub(crate) fn write_header(columns: &Columns, out: &mut Vec<u8>) {
    let Some(names) = columns.output_header() else { return };
    for (at, name) in names.iter().enumerate() {
        if at > 0 {
            out.push(separator(columns.output));
        }
        push_field(columns.output, out, name.as_bytes());
    }
    out.push(b'\n');
}

/// Writes a row with the answers.
fn write_row(columns: &Columns, row: &Row<'_>, answers: &[Answered<'_>], out: &mut Vec<u8>) {
    match columns.output {
        Format::Ndjson => write_object(columns, row, answers, out),
        format => {
            let all_uses = all_uses(columns, answers);
            for (at, written) in columns.written.iter().enumerate() {
                if at > 0 {
                    out.push(separator(format));
                }
                match written {
                    Written::Input => write_input(columns, row, out),
                    Written::Field(index, _) => push_field(format, out, &row.octets(*index)),
                    Written::Answer(answer, crawler, _) => {
                        let (answered, uses) = of_crawler(*crawler, answers, &all_uses);
                        push_answer(format, answered, *answer, uses, out);
                    }
                    // Only an object has lists.
                    Written::List(..) => {}
                }
            }
        }
    }
    out.push(b'\n');
}

fn separator(format: Format) -> u8 {
    if format == Format::Csv { b',' } else { b'\t' }
}

fn push_field(format: Format, out: &mut Vec<u8>, field: &[u8]) {
    match format {
        Format::Csv => push_csv(out, field),
        _ => push_tsv(out, field),
    }
}

/// All columns of the input, unchanged if input and output have the same format.
fn write_input(columns: &Columns, row: &Row<'_>, out: &mut Vec<u8>) {
    if let Row::Separated { text, fields } = row
        && columns.input == columns.output
        && fields.len() == columns.width
        && !fields.is_open
    {
        out.extend_from_slice(text);
        return;
    }
    for index in 0..columns.width {
        if index > 0 {
            out.push(separator(columns.output));
        }
        push_field(columns.output, out, &row.octets(index));
    }
}

/// What each crawler may do with the target, where that is asked for.
fn all_uses(columns: &Columns, answers: &[Answered<'_>]) -> Vec<Option<UseAnswers>> {
    if !columns.has_uses() {
        return Vec::new();
    }
    answers.iter().map(uses_of).collect()
}

/// What one of the crawlers is answered.
fn of_crawler<'a>(
    number: usize,
    answers: &'a [Answered<'a>],
    all_uses: &[Option<UseAnswers>],
) -> (&'a Answered<'a>, Option<UseAnswers>) {
    let answered = answers.get(number).unwrap_or(&answers[0]);
    (answered, all_uses.get(number).copied().flatten())
}

/// What may be done with the target, where there is something to say.
fn uses_of(answered: &Answered<'_>) -> Option<UseAnswers> {
    let decided = answered.outcome.as_ref().ok()?;
    asking::use_answers(decided.uses, &decided.decision, decided.target)
}

/// What is said of a use.
fn says(answer: RowAnswer, uses: Option<UseAnswers>) -> &'static str {
    match (answer.of_use(), uses) {
        (Some(of_use), Some(uses)) => uses.answer(of_use).name(),
        _ => "unknown",
    }
}

/// An answer as a field; empty if there is none.
fn push_answer(
    format: Format,
    answered: &Answered<'_>,
    answer: RowAnswer,
    uses: Option<UseAnswers>,
    out: &mut Vec<u8>,
) {
    let decided = match &answered.outcome {
        _ if answer == RowAnswer::Url => return push_field(format, out, answered.url.as_bytes()),
        _ if answer == RowAnswer::Agent => {
            let agent = answered.crawler.map_or("", |crawler| crawler.product_token().as_str());
            return push_field(format, out, agent.as_bytes());
        }
        Err(error) if answer == RowAnswer::Error => {
            let text = format!("{}: {error}", error.code().name());
            return push_field(format, out, text.as_bytes());
        }
        Err(_) => return,
        Ok(decided) => decided,
    };
    let decision = &decided.decision;
    match answer {
        RowAnswer::Allowed => {
            out.extend_from_slice(if decision.is_allowed() { b"true" } else { b"false" });
        }
        RowAnswer::Reason => out.extend_from_slice(decision.reason().name().as_bytes()),
        RowAnswer::Rule => {
            if let Some(rule) = decision.rule() {
                push_pattern(format, out, rule.pattern());
            }
        }
        RowAnswer::RuleLine => {
            if let Some(rule) = decision.rule() {
                push_number(out, u64::from(rule.line().number()));
            }
        }
        RowAnswer::Octets => {
            if let Some(rule) = decision.rule() {
                push_number(out, rule.octets() as u64);
            }
        }
        RowAnswer::Group => {
            if let Some(group) = decision.group() {
                out.extend_from_slice(group.by().name().as_bytes());
            }
        }
        RowAnswer::Origin => push_field(format, out, origin(answered.url).as_bytes()),
        RowAnswer::Train | RowAnswer::Search | RowAnswer::AiInput => {
            let says = says(answer, uses);
            out.extend_from_slice(says.as_bytes());
        }
        _ => {}
    }
}

/// The origin of the URL of a question; none if its host is invalid.
fn origin(url: &str) -> String {
    mayi::access::Origin::of_url(url).map(|origin| origin.to_string()).unwrap_or_default()
}

/// A pattern as written, in UTF-8 as reports have it. In TSV a tab is percent-encoded, which in a
/// pattern is the same (REP-11).
fn push_pattern(format: Format, out: &mut Vec<u8>, pattern: &[u8]) {
    let text = String::from_utf8_lossy(pattern);
    match (format, memchr::memchr(b'\t', text.as_bytes())) {
        (Format::Tsv, Some(_)) => out.extend_from_slice(text.replace('\t', "%09").as_bytes()),
        // A pattern has no line ends.
        (Format::Tsv, None) => out.extend_from_slice(text.as_bytes()),
        _ => push_field(format, out, text.as_bytes()),
    }
}

fn push_number(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0; 20];
    let (mut at, mut rest) = (digits.len(), number);
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Writes a row as a JSON object.
fn write_object(columns: &Columns, row: &Row<'_>, answers: &[Answered<'_>], out: &mut Vec<u8>) {
    let all_uses = all_uses(columns, answers);
    let mut object = ObjectWriter::new(out);
    let mut has_error = false;
    for written in &columns.written {
        match written {
            Written::Input => match row {
                Row::Object { text, members } => object.append(text, members.is_empty),
                #[cfg(feature = "columns")]
                Row::Record { record, row } => {
                    for (index, name) in columns.header.iter().flatten().enumerate() {
                        object.raw(name, &record.json(index, *row));
                    }
                }
                Row::Separated { .. } | Row::Unreadable => {
                    let count = if matches!(row, Row::Unreadable) { 0 } else { columns.width };
                    for index in 0..count {
                        let name = columns.header.as_ref().map(|names| Cow::Borrowed(&*names[index]));
                        let name = name.unwrap_or_else(|| Cow::Owned((index + 1).to_string()));
                        object.text(&name, &String::from_utf8_lossy(&row.octets(index)));
                    }
                }
            },
            Written::Field(index, name) => match row {
                Row::Object { text, members } => {
                    object.raw(name, members.value(text, *index).unwrap_or("null"));
                }
                #[cfg(feature = "columns")]
                Row::Record { record, row } => object.raw(name, &record.json(*index, *row)),
                Row::Separated { .. } => {
                    object.text(name, &String::from_utf8_lossy(&row.octets(*index)));
                }
                Row::Unreadable => {}
            },
            Written::Answer(RowAnswer::Error, _, name) => {
                has_error = true;
                object.error(name, &answers[0]);
            }
            Written::Answer(answer, crawler, name) => {
                let (answered, uses) = of_crawler(*crawler, answers, &all_uses);
                object.answer(name, *answer, answered, uses);
            }
            // A row without an answer has an error in its place.
            Written::List(..) if answers[0].outcome.is_err() => {}
            Written::List(listed, name) => {
                object.name(name);
                for number in 0..answers.len() {
                    object.out.push(if number == 0 { b'[' } else { b',' });
                    let (answered, uses) = of_crawler(number, answers, &all_uses);
                    let mut entry = ObjectWriter::new(object.out);
                    for answer in listed {
                        entry.answer(answer.name(), *answer, answered, uses);
                    }
                    entry.end();
                }
                object.out.push(b']');
            }
        }
    }
    if !has_error {
        object.error(&columns.error_name, &answers[0]);
    }
    object.end();
}

struct ObjectWriter<'o> {
    out: &'o mut Vec<u8>,
    has_members: bool,
}

impl<'o> ObjectWriter<'o> {
    fn new(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, has_members: false }
    }

    fn end(self) {
        self.out.push(b'}');
    }

    /// All members of another object, unchanged.
    fn append(&mut self, object: &str, is_empty: bool) {
        if is_empty {
            return;
        }
        self.comma();
        let object = object.trim_ascii();
        let inner = object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        self.out.extend_from_slice(inner.unwrap_or_default().as_bytes());
    }

    fn comma(&mut self) {
        if self.has_members {
            self.out.push(b',');
        }
        self.has_members = true;
    }

    fn name(&mut self, name: &str) {
        self.comma();
        self.value(name);
        self.out.push(b':');
    }

    fn value(&mut self, value: &(impl serde::Serialize + ?Sized)) {
        serde_json::to_writer(&mut *self.out, value).expect("writing to memory does not fail");
    }

    fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        self.value(text);
    }

    fn raw(&mut self, name: &str, json: &str) {
        self.name(name);
        self.out.extend_from_slice(json.as_bytes());
    }

    /// The error, where there is one.
    fn error(&mut self, name: &str, answered: &Answered<'_>) {
        if let Err(error) = answered.outcome {
            self.name(name);
            self.value(&error.report().error);
        }
    }

    /// An answer, where there is one; null where a decision has no such part.
    fn answer(
        &mut self,
        name: &str,
        answer: RowAnswer,
        answered: &Answered<'_>,
        uses: Option<UseAnswers>,
    ) {
        let decided = match &answered.outcome {
            Ok(decided) => Some(decided),
            Err(_) if answer == RowAnswer::Url && !answered.url.is_empty() => None,
            Err(_) if answer == RowAnswer::Agent && answered.crawler.is_some() => None,
            Err(_) => return,
        };
        let rule = decided.and_then(|decided| decided.decision.rule());
        self.name(name);
        match answer {
            RowAnswer::Allowed => {
                self.value(&decided.is_some_and(|decided| decided.decision.is_allowed()));
            }
            RowAnswer::Rule => self.value(&rule.map(|rule| String::from_utf8_lossy(rule.pattern()))),
            RowAnswer::RuleLine => self.value(&rule.map(|rule| rule.line().number())),
            RowAnswer::Octets => self.value(&rule.map(mayi::DecidingRule::octets)),
            RowAnswer::Group => {
                let group = decided.and_then(|decided| decided.decision.group());
                self.value(&group.map(|group| group.by().name()));
            }
            RowAnswer::Reason => self.value(&decided.map(|decided| decided.decision.reason().name())),
            RowAnswer::Url => self.value(answered.url),
            RowAnswer::Agent => {
                self.value(&answered.crawler.map(|crawler| crawler.product_token().as_str()));
            }
            RowAnswer::Origin => self.value(&origin(answered.url)),
            RowAnswer::Train | RowAnswer::Search | RowAnswer::AiInput => {
                self.value(says(answer, uses));
            }
            _ => self.value(&()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_all_their_digits() {
        for number in [0, 7, 10, 12_345, u64::MAX] {
            let mut out = Vec::new();
            push_number(&mut out, number);
            assert_eq!(out, number.to_string().as_bytes());
        }
    }
}
