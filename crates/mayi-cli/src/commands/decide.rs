//! `mayi decide`: requests in, decisions out, one a line and in order.

use std::io::{self, Write};
use std::path::Path;

use mayi::report::{Answering, ErrorCode, Request, RequestError};

use crate::cli::Decide;
use crate::exit::{Exit, Failure};
use crate::input;
use crate::parallel::{self, Lines};

pub(crate) fn run(decide: &Decide) -> Result<Exit, Failure> {
    let input = input::open(decide.input.as_deref().unwrap_or(Path::new("-")))?;
    let answering = Answering::default().with_options(input::reading(&decide.reading)?);
    let without = decide.reading.no_extensions.iter().map(|name| name.0);
    let answering = without.fold(answering, Answering::without);
    let jobs = decide.jobs.or_else(|| std::thread::available_parallelism().ok());
    parallel::map_lines(
        input,
        io::stdout().lock(),
        jobs.map_or(1, std::num::NonZero::get),
        decide.max_line,
        |lines| match lines {
            Lines::Whole(lines) => answer_lines(lines, &answering),
            Lines::TooLong => too_long(decide.max_line),
        },
    )?;
    Ok(Exit::Allowed)
}

fn answer_lines(lines: &[u8], answering: &Answering) -> Vec<u8> {
    let mut out = Vec::with_capacity(lines.len() / 2);
    for line in lines.split(|&octet| octet == b'\n') {
        if !line.trim_ascii().is_empty() {
            answer_line(line, answering, &mut out);
        }
    }
    out
}

fn answer_line(line: &[u8], answering: &Answering, out: &mut Vec<u8>) {
    let answered = Request::from_json(line).and_then(|request| {
        let answer = answering.answer(&request)?;
        serde_json::to_writer(&mut *out, &answer).expect("a report is JSON, and memory takes it");
        Ok(())
    });
    if let Err(error) = answered {
        write_error(&error, out);
    }
    out.push(b'\n');
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
