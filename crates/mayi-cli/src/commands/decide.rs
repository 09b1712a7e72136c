//! `mayi decide`: requests in, decisions out, one a line and in order.

use std::borrow::Cow;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use mayi::report::{Answering, ErrorCode, Request, RequestError};

use crate::cli::Decide;
use crate::exit::{Exit, Failure};
use crate::input;
use crate::parallel::{self, Lines};
use crate::progress::{self, Progress};

pub(crate) fn run(decide: &Decide) -> Result<Exit, Failure> {
    let requests = decide.input.as_deref().unwrap_or(Path::new("-"));
    input::one_reader(decide.reading.registries.iter().map(|path| &**path).chain([requests]))?;
    let input = input::open(requests)?;
    let answering = Answering::default()
        .with_options(input::reading(&decide.reading)?)
        .with_page_options(input::page_options(&decide.reading));
    let without = decide.reading.no_extensions.iter().map(|name| name.0);
    let answering = without.fold(answering, Answering::without);
    let progress = Progress::start(&decide.progress, "requests", progress::total_size([requests]));
    let input = progress.reading(input);
    let jobs = parallel::jobs(decide.jobs);
    parallel::map_lines(input, io::stdout().lock(), jobs, decide.max_line, |lines| {
        let (answers, count) = match lines {
            Lines::Whole(lines) => answer_lines(lines, &answering, decide),
            Lines::TooLong => (too_long(decide.max_line), 1),
        };
        progress.add(count);
        answers
    })?;
    Ok(Exit::Allowed)
}

/// The answers to lines, and how many there are.
fn answer_lines(lines: &[u8], answering: &Answering, decide: &Decide) -> (Vec<u8>, u64) {
    let mut out = Vec::with_capacity(lines.len() / 2);
    let mut count = 0;
    for line in lines.split(|&octet| octet == b'\n') {
        if line.len() > decide.max_line {
            out.extend(too_long(decide.max_line));
            count += 1;
        } else if !line.trim_ascii().is_empty() {
            answer_line(line, answering, decide, &mut out);
            count += 1;
        }
    }
    (out, count)
}

fn answer_line(line: &[u8], answering: &Answering, decide: &Decide, out: &mut Vec<u8>) {
    let start = out.len();
    // A fault of ours in one answer must not cost the others theirs.
    let answered = catch_unwind(AssertUnwindSafe(|| {
        Request::from_json(line).and_then(|mut request| {
            complete(&mut request, decide);
            let answer = answering.answer(&request)?;
            serde_json::to_writer(&mut *out, &answer).expect("a report is JSON, and memory takes it");
            Ok(())
        })
    }));
    let error = match answered {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error),
        Err(_) => Some(RequestError::new(ErrorCode::Internal, "a fault in mayi; please report it")),
    };
    if let Some(error) = error {
        out.truncate(start);
        write_error(&error, out);
    }
    out.push(b'\n');
}

/// Gives a request what the command line says and it does not.
fn complete<'a>(request: &mut Request<'a>, decide: &'a Decide) {
    let borrowed = |words: &'a [String]| words.iter().map(|word| Cow::Borrowed(&**word)).collect();
    if request.purposes.is_empty() {
        request.purposes = borrowed(&decide.claims.purposes);
    }
    if request.apps.is_empty() {
        request.apps = borrowed(&decide.claims.apps);
    }
    if request.user_agent.is_none() {
        request.user_agent = decide.claims.user_agent.as_deref().map(Cow::Borrowed);
    }
}

fn too_long(limit: usize) -> Vec<u8> {
    let message = format!("the line is longer than {limit} octets; `--max-line` sets the limit");
    let mut out = Vec::new();
    write_error(&RequestError::new(ErrorCode::InvalidRequest, message), &mut out);
    out.write_all(b"\n").expect("memory takes everything");
    out
}

fn write_error(error: &RequestError, out: &mut Vec<u8>) {
    serde_json::to_writer(out, &error.report()).expect("an error is JSON, and memory takes it");
}
