//! `mayi check`: a short answer for each URL, with the line that decided.

use std::io::{self, Write};

use mayi::report::{FileReport, FileSource, Report, RequestError, WarningSource};
use mayi::{LineNumber, Preference, Reason, RobotsTxt};

use crate::asking::Asking;
use crate::cli::{Check, QuestionArgs};
use crate::exit::{Exit, Failure};
use crate::input;
use crate::text::{BAD, DIM, GOOD, STRONG, shown, styled};

pub(crate) fn run(check: &Check) -> Result<Exit, Failure> {
    let question = &check.question;
    if let Some(server) = &check.service.server {
        return super::served::run(question, server, check.service.key()?.as_deref());
    }
    let asking = Asking::new(question)?;
    let urls = input::urls(question)?;
    let mut out = crate::text::out();
    let mut exit = Exit::Allowed;
    asking.each(urls, |url, asked| {
        let asked = match asked {
            Ok(asked) => asked,
            Err(error) => {
                exit = Exit::NoAnswer;
                wrong_url(&mut out, error, url, question)?;
                return Ok(());
            }
        };
        let report = asked.report();
        exit = exit.max(exit_of(&report));
        if question.json {
            write_json(&mut out, &report)?;
        } else {
            write_answer(&mut out, &report, asked.name, asked.file.robots_txt())?;
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(exit)
}

pub(crate) fn exit_of(report: &Report<'_>) -> Exit {
    Exit::of(report.access.allowed, report.access.reason)
}

/// A short answer: a line with what decided, and the other parts of the decision below it. `file` is what the
/// file is called; the line that decided is quoted from it.
pub(crate) fn write_answer(
    out: &mut impl Write,
    report: &Report<'_>,
    file: &str,
    robots: Option<&RobotsTxt<'_>>,
) -> io::Result<()> {
    let why = match (report.access.reason, &report.access.rule, &report.access.group) {
        (Reason::Rule, Some(rule), _) => {
            let line = LineNumber::new(rule.line).zip(robots);
            let line = line.and_then(|(number, robots)| robots.line(number));
            let text = line.map(|line| line.text()).unwrap_or_default();
            format!("{file}:{}: {}", rule.line, shown(text.trim_ascii()))
        }
        (Reason::NoRule, _, Some(group)) => {
            let lines: Vec<_> = group.lines.iter().map(ToString::to_string).collect();
            format!("{file}:{}: no rule of this group matches", lines.join(","))
        }
        (Reason::Unavailable | Reason::Unreachable, ..) => {
            format!("{file}: {}", report.file.as_ref().map(FileReport::sentence).unwrap_or_default())
        }
        (Reason::RobotsTxt, ..) => "robots.txt itself may always be fetched".to_owned(),
        _ => format!("{file}: no group is for this crawler"),
    };
    let (verdict, url) = (verdict(report), shown(report.url.as_bytes()));
    writeln!(out, "{verdict}  {url}  {}", styled(DIM, why))?;
    if let Some(story) = report.file.as_ref().filter(|story| story.from != FileSource::None) {
        write_part(out, "robots.txt", &story.sentence())?;
    }
    write_parts(out, report)
}

fn write_part(out: &mut impl Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "            {} {}", styled(STRONG, name), shown(text.as_bytes()))
}

/// The other parts of the decision, where they say something.
pub(crate) fn write_parts(out: &mut impl Write, report: &Report<'_>) -> io::Result<()> {
    let mut part = |name: &str, text: String| write_part(out, name, &text);
    for warning in &report.warnings {
        let line = warning.place.line;
        let line = line.filter(|_| warning.place.within == WarningSource::RobotsTxt);
        let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        part("warning", format!("{place}{}", warning.message))?;
    }
    if report.access.for_training {
        let training = "the product token says that the crawler collects data for training";
        part("training", training.to_owned())?;
    }
    for (application, directives) in report.directives.iter() {
        // A value is written as JSON has it, which can be told apart from others.
        let written = |(name, value): &(String, _)| {
            serde_json::to_string(value).map(|value| format!("{name}={value}"))
        };
        let directives = directives.iter().map(written).collect::<Result<Vec<_>, _>>()?;
        part(application, directives.join(" "))?;
    }
    for over in &report.overrides {
        let (category, before, after) = (&over.category, over.preference.name(), over.outcome.name());
        let (app, directive) = (&over.application, &over.directive);
        part("override", format!("{category}: {before}, but {after} by {app};{directive}"))?;
    }
    let uses = [
        ("index", report.uses.index),
        ("snippet", report.uses.snippet),
        ("follow", report.uses.follow),
        ("train", report.uses.train),
        ("search", report.uses.search),
        ("ai-input", report.uses.ai_input),
    ];
    for (name, answer) in uses.into_iter().filter(|(_, answer)| *answer != Preference::Unknown) {
        let spoke = report.signals.iter().find(|(about, _)| about.name() == name);
        let spoke = spoke.into_iter().flat_map(|(_, signals)| signals).map(|signal| {
            let (source, says) = (signal.signal.name(), signal.says.name());
            match signal.line {
                Some(line) if signal.overridden => {
                    format!("{source} at line {line}: {says}, overridden")
                }
                Some(line) => format!("{source} at line {line}: {says}"),
                None => format!("{source}: {says}"),
            }
        });
        let spoke: Vec<_> = spoke.collect();
        let answer = answer.name();
        let signals = if spoke.is_empty() { String::new() } else { format!(" ({})", spoke.join("; ")) };
        part(name, format!("{answer}{signals}"))?;
    }
    if let Some(seconds) = report.records.crawl_delay {
        part("crawl-delay", format!("{seconds} s"))?;
    }
    Ok(())
}

/// `allowed` or `disallowed`, padded to one width.
pub(crate) fn verdict(report: &Report<'_>) -> String {
    if report.access.allowed { styled(GOOD, "allowed   ") } else { styled(BAD, "disallowed") }
}

pub(crate) fn write_json(out: &mut impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(EscapingDel(out), value)?;
    writeln!(out)
}

/// Writes what is JSON already.
pub(crate) fn write_json_text(out: &mut impl Write, json: &str) -> io::Result<()> {
    EscapingDel(out).write_all(json.as_bytes())?;
    writeln!(out)
}

/// JSON lets DEL stand as it is, and what is written for terminals would drop it. A report can be many times as large as a
/// file, so it is not copied for that.
struct EscapingDel<'w, W>(&'w mut W);

impl<W: Write> Write for EscapingDel<'_, W> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        if octets.first() == Some(&0x7f) {
            self.0.write_all(b"\\u007f")?;
            return Ok(1);
        }
        self.0.write(&octets[..memchr::memchr(0x7f, octets).unwrap_or(octets.len())])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Reports what is wrong with a URL: in its place in JSON, or on standard error.
pub(crate) fn wrong_url(
    out: &mut impl Write,
    error: mayi::InvalidUrl,
    url: &str,
    question: &QuestionArgs,
) -> io::Result<()> {
    if question.json {
        return write_json(out, &RequestError::from(error).about(url, &question.agent).report());
    }
    out.flush()?;
    anstream::eprintln!("mayi: {error}");
    Ok(())
}
