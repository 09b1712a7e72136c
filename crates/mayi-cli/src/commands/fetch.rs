//! `mayi fetch`: the robots.txt of a site on standard output, and what happened on standard error.

use std::io::{self, BufWriter, IsTerminal, Write};

use clap::Args;
use mayi::access::{AccessResult, Origin};
use mayi::report::{Answering, rfc3339_of};
use mayi_fetch::Robots;
use mayi_fetch::kept::{Kept, Said};

use super::check::write_json;
use crate::exit::{Exit, Failure};
use crate::fetching::{self, Fetching};
use crate::input;
use crate::text::{DIM, STRONG, shown, styled};

#[derive(Debug, Args)]
#[command(after_help = "\
The file is printed on standard output as it was received and decoded, up to 512 KiB. What happened is \
printed on standard error.

Examples:
  mayi fetch example.com
  mayi fetch --fresh https://example.com/ > robots.txt

Exit status: 0 there is a file, 1 there is none (unavailable), 2 it can't be reached, so it is not known \
(unreachable).")]
pub(crate) struct FetchArgs {
    /// A URL of the site, or its name: example.com means https://example.com/
    #[arg(value_name = "URL")]
    url: String,

    /// Print what happened and the file as JSON
    #[arg(short, long)]
    json: bool,

    /// Fetch now, even if the cached file is fresh
    #[arg(long, conflicts_with = "offline")]
    fresh: bool,

    #[command(flatten)]
    fetching: Fetching,
}

pub(crate) fn run(fetch: &FetchArgs) -> Result<Exit, Failure> {
    let origin = origin_of(&fetch.url)?;
    let fetcher = fetching::fetcher(&fetch.fetching, Answering::default())?;
    let robots = if fetch.fresh {
        fetcher.wait(fetcher.inner().refresh(&origin))
    } else {
        fetcher.robots(&origin)
    };
    fetching::tell(&fetcher);
    if fetch.json {
        write_json(&mut io::stdout().lock(), &robots.site_report())?;
    } else {
        tell(&mut anstream::stderr().lock(), &robots)?;
        if robots.robots_txt().is_some() {
            write_file(robots.kept())?;
        }
    }
    Ok(match robots.access() {
        AccessResult::Successful => Exit::Allowed,
        AccessResult::Unavailable(_) => Exit::Disallowed,
        AccessResult::Unreachable(_) => Exit::NoAnswer,
    })
}

/// The origin of a URL, or of a name without a scheme.
pub(crate) fn origin_of(url: &str) -> Result<Origin, Failure> {
    Origin::of_url(&input::with_scheme(url)).map_err(Failure::new)
}

/// The file itself. Control characters are escaped on a terminal, and only there.
pub(crate) fn write_file(kept: &Kept) -> io::Result<()> {
    let Some(copy) = &kept.copy else { return Ok(()) };
    let mut out = BufWriter::new(io::stdout().lock());
    if io::stdout().is_terminal() {
        for line in copy.body.split_inclusive(|&octet| octet == b'\n') {
            writeln!(out, "{}", shown(line.trim_ascii_end()))?;
        }
    } else {
        out.write_all(&copy.body)?;
    }
    out.flush()
}

fn tell(out: &mut impl Write, robots: &Robots) -> io::Result<()> {
    let story = robots.file_report();
    let url = robots.origin().robots_url();
    writeln!(out, "{}  {}", styled(STRONG, url), shown(story.sentence().as_bytes()))?;
    tell_kept(out, robots.kept())
}

/// What is known about an origin, one fact per line.
pub(crate) fn tell_kept(out: &mut impl Write, kept: &Kept) -> io::Result<()> {
    let mut fact = |name: &str, text: String| {
        writeln!(out, "  {} {}", styled(DIM, format!("{name:<12}")), shown(text.as_bytes()))
    };
    for hop in &kept.last.hops {
        match &hop.said {
            Said::Status(status) => fact("asked", format!("{}: status {status}", hop.url))?,
            Said::Error(error) => fact("asked", format!("{}: {error}", hop.url))?,
            _ => fact("asked", hop.url.to_string())?,
        }
    }
    fact("access", kept.last.result.to_string())?;
    if let Some(copy) = &kept.copy {
        let cut = if copy.is_cut { ", and the file is longer" } else { "" };
        fact("file", format!("{} octets{cut}, from {}", copy.body.len(), copy.url))?;
        if let Some(content_type) = &copy.content_type {
            fact("type", content_type.to_string())?;
        }
        if looks_like_html(&copy.body) {
            fact("note", "it looks like an HTML page, not like robots.txt".to_owned())?;
        }
        fact("fetched", rfc3339_of(copy.fetched))?;
        if copy.checked != copy.fetched {
            fact("unchanged at", rfc3339_of(copy.checked))?;
        }
        fact("fresh until", rfc3339_of(copy.fresh_until))?;
    }
    if let Some(since) = kept.last.failing_since {
        // A missing file is an answer, not a failure.
        let is_answer = matches!(kept.last.result, AccessResult::Unavailable(_));
        let (name, asked) = if is_answer { ("none", "asked") } else { ("failing", "failed") };
        let times = if kept.last.failures == 1 { "time" } else { "times" };
        fact(name, format!("since {}, {asked} {} {times}", rfc3339_of(since), kept.last.failures))?;
        fact("asked again", format!("not before {}", rfc3339_of(kept.last.not_before)))?;
    }
    Ok(())
}

/// Whether a file begins as an HTML page does.
fn looks_like_html(body: &[u8]) -> bool {
    let start = body.trim_ascii_start();
    let starts = |with: &[u8]| start.get(..with.len()).is_some_and(|it| it.eq_ignore_ascii_case(with));
    starts(b"<!doctype") || starts(b"<html") || starts(b"<head") || starts(b"<?xml")
}
