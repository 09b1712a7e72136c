//! `mayi decide`: requests in, decisions out, one per line and in order.

use std::borrow::Cow;
use std::convert::Infallible;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use mayi::access::Origin;
use mayi::report::{Answer, Answering, ErrorCode, Request, RequestError};
use mayi_fetch::Robots;
use mayi_fetch::blocking::Fetcher;

use crate::bulk::rows::split_line;
use crate::cli::Decide;
use crate::exit::{Exit, Failure};
use crate::fetching;
use crate::input;
use crate::parallel::{self, Answers, Lines};
use crate::progress::{self, Progress};

pub(crate) fn run(decide: &Decide) -> Result<Exit, Failure> {
    let requests = decide.input.as_deref().unwrap_or(Path::new("-"));
    let registries = decide.reading.registries.iter().map(|path| &**path);
    input::one_reader(registries.chain(decide.fetching.roots.as_deref()).chain([requests]))?;
    let input = input::open(requests)?;
    let answering = Answering::default()
        .with_options(input::reading(&decide.reading)?)
        .with_page_options(input::page_options(&decide.page_reading))
        .with_registered_purposes_only(decide.claims.registered_purposes_only);
    let without = decide.reading.no_extensions.iter().map(|name| name.0);
    let door = Door {
        decide,
        answering: without.fold(answering, Answering::without),
        fetcher: OnceLock::new(),
        failure: Mutex::new(None),
    };
    let progress = Progress::start(&decide.progress, "requests", progress::total_size([requests]));
    let input = progress.reading(input);
    let jobs = parallel::jobs(decide.jobs);
    parallel::map_lines(input, io::stdout().lock(), jobs, decide.max_line, |lines, answers| {
        progress.add(match lines {
            Lines::Whole(lines) => door.answer_lines(lines, answers),
            Lines::TooLong => {
                write_error(&too_long(decide.max_line), &mut answers.current);
                1
            }
        });
    })?;
    if let Some(Some(fetcher)) = door.fetcher.get() {
        fetching::tell(fetcher);
    }
    match door.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(failure) => Err(failure),
        None => Ok(Exit::Allowed),
    }
}

/// How many requests are read before they are answered: enough to fetch files ahead of time.
const AT_ONCE: usize = 1 << 10;

/// Answers requests, from any thread.
struct Door<'d> {
    decide: &'d Decide,
    answering: Answering,
    /// Made for the first request that has no file: most runs need none.
    fetcher: OnceLock<Option<Fetcher>>,
    /// Why there is no fetcher although one is needed.
    failure: Mutex<Option<Failure>>,
}

/// What a line of the input asks, or what is wrong with it.
type Asked<'l> = Result<Request<'l>, RequestError>;

impl Door<'_> {
    /// Answers lines, and says how many there are.
    fn answer_lines(&self, lines: &[u8], answers: &mut Answers<'_, Vec<u8>>) -> u64 {
        let (mut rest, mut count) = (lines, 0);
        while !rest.is_empty() {
            let mut asked = Vec::new();
            while !rest.is_empty() && asked.len() < AT_ONCE {
                let line;
                (line, rest) = split_line(rest);
                asked.extend(self.read(line));
            }
            count += asked.len() as u64;
            self.answer_all(asked, answers);
        }
        count
    }

    fn answer_all(&self, asked: Vec<Asked<'_>>, answers: &mut Answers<'_, Vec<u8>>) {
        let needed = |asked: &Asked<'_>| {
            let request = asked.as_ref().ok().filter(|request| request.robots.is_none())?;
            Origin::of_url(&request.url).ok()
        };
        let mut answer = |asked: &Asked<'_>, robots: Option<&Robots>| {
            self.answer(asked, robots, &mut answers.current);
            answers.pass_on_part();
        };
        let needs_file = asked.iter().any(|asked| needed(asked).is_some());
        match needs_file.then(|| self.fetcher()).flatten() {
            None => asked.iter().for_each(|asked| answer(asked, None)),
            Some(fetcher) => {
                let questions = asked.into_iter().map(|asked| {
                    let origin = needed(&asked);
                    Ok((asked, origin))
                });
                let answered = fetcher.ahead().each(questions, |asked, robots| {
                    answer(&asked, robots.as_ref());
                    Ok::<_, Infallible>(())
                });
                answered.unwrap_or_else(|never| match never {});
            }
        }
    }

    fn read<'l>(&'l self, line: &'l [u8]) -> Option<Asked<'l>> {
        if line.len() > self.decide.max_line {
            return Some(Err(too_long(self.decide.max_line)));
        }
        // Some programs start a text with a byte order mark, which is no part of it.
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        let mut request = Request::from_json(line);
        if let Ok(request) = &mut request {
            complete(request, self.decide);
        }
        Some(request)
    }

    fn answer(&self, asked: &Asked<'_>, robots: Option<&Robots>, out: &mut Vec<u8>) {
        let request = match asked {
            Ok(request) => request,
            Err(error) => return write_error(error, out),
        };
        let start = out.len();
        // A panic in one answer must not affect the others.
        let answered = catch_unwind(AssertUnwindSafe(|| {
            let answer = self.answer_of(request, robots)?;
            serde_json::to_writer(&mut *out, &answer).expect("writing to memory does not fail");
            out.push(b'\n');
            Ok(())
        }));
        let error = match answered {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(_) => RequestError::new(ErrorCode::Internal, "a fault in mayi; please report it"),
        };
        out.truncate(start);
        write_error(&error.about(&request.url, &request.agent), out);
    }

    fn answer_of<'a>(
        &self,
        request: &'a Request<'_>,
        robots: Option<&Robots>,
    ) -> Result<Answer<'a>, RequestError> {
        match (robots, self.fetcher.get()) {
            (Some(robots), Some(Some(fetcher))) => fetcher.inner().decide_from(request, robots),
            // A URL without an origin is invalid, and its request gets an error.
            (None, Some(Some(fetcher))) if request.robots.is_none() => fetcher.decide(request),
            _ => self.answering.answer(request),
        }
    }

    fn fetcher(&self) -> Option<&Fetcher> {
        let made = || match fetching::fetcher(&self.decide.fetching, self.answering.clone()) {
            Ok(fetcher) => Some(fetcher),
            Err(failure) => {
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
                None
            }
        };
        self.fetcher.get_or_init(made).as_ref()
    }
}

/// Adds the options of the command line to a request that does not have them.
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

fn too_long(limit: usize) -> RequestError {
    let message = format!("the line is longer than {limit} octets; `--max-line` sets the limit");
    RequestError::new(ErrorCode::InvalidRequest, message)
}

fn write_error(error: &RequestError, out: &mut Vec<u8>) {
    serde_json::to_writer(&mut *out, &error.report()).expect("writing to memory does not fail");
    out.push(b'\n');
}
