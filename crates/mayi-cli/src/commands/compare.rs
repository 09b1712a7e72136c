//! `mayi compare`: where dialects and crawlers read a file differently, as a table.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use mayi::meaning::{Comparison, DifferingPatterns, Reading, ReadingGrounds};
use mayi::{Dialect, ProductToken};

use super::check::write_json;
use super::diff::{crawlers_left_out, grounds};
use crate::cli::ReadingArgs;
use crate::exit::{Exit, Failure};
use crate::fetching::{Fetching, Online};
use crate::input;
use crate::text::{DIM, STRONG, clipped, columns, counted, listed, shown, styled};

#[derive(Debug, Args)]
#[command(after_help = "\
Without --agents, these crawlers are compared: those that the file names, `*` for
one that it does not name, and Googlebot, Bingbot, GPTBot, ClaudeBot and CCBot.
Each is compared in every dialect that names crawlers by product tokens: rfc9309,
koster-00 and google. Every example URL was checked. If a row has several
patterns, the example and the reasons belong to the first.

Examples:
  mayi compare robots.txt
  mayi compare example.com --agents Googlebot,GPTBot

Exit status: 0 no difference was found, 1 a difference was found, 2 error:
a wrong option, file or URL.")]
pub(crate) struct Compare {
    /// The file, `-` for standard input, or the URL of a site to fetch it from
    #[arg(value_name = "FILE")]
    file: String,

    /// The crawlers to compare, separated by commas; `*` is a crawler that the file does not name
    #[arg(short, long, visible_alias = "agent", value_name = "TOKENS", value_delimiter = ',')]
    agents: Vec<String>,

    #[command(flatten)]
    reading: ReadingArgs,

    /// List everything; by default long lists are cut
    #[arg(long)]
    all: bool,

    /// Print the comparison as JSON
    #[arg(short, long)]
    json: bool,

    #[command(flatten)]
    fetching: Fetching,
}

pub(crate) fn run(args: &Compare) -> Result<Exit, Failure> {
    let registries = args.reading.registries.iter().map(|path| &**path);
    input::one_reader(std::iter::once(Path::new(&args.file)).chain(registries))?;
    let agents = args.agents.iter().map(|token| ProductToken::unless_global(token));
    let agents = agents.collect::<Result<Vec<_>, _>>().map_err(Failure::new)?;
    let loaded = input::load(&args.file, &Online::new(&args.fetching))?;
    let options = loaded.reading(&input::reading(&args.reading)?);
    let dialects = Dialect::BY_TOKEN.iter().map(|dialect| args.reading.of_dialect(dialect));
    let dialects: Vec<_> = dialects.collect();
    let agents = (!agents.is_empty()).then_some(&*agents);
    let comparison = mayi::meaning::compare(&loaded.octets, &options, &dialects, agents);
    let mut out = crate::text::out();
    if args.json {
        write_json(&mut out, &comparison)?;
    } else {
        let most = if args.all { usize::MAX } else { MOST_ROWS };
        Drawing { out: &mut out, columns: columns(), most }.draw(&comparison, &loaded.name)?;
    }
    out.flush()?;
    Ok(if comparison.rows.is_empty() { Exit::Allowed } else { Exit::Disallowed })
}

/// How many rows are shown before the rest is only counted.
const MOST_ROWS: usize = 25;

/// How many patterns of a row are shown.
const MOST_PATTERNS: usize = 3;

struct Drawing<'o, W> {
    out: &'o mut W,
    columns: usize,
    most: usize,
}

impl<W: Write> Drawing<'_, W> {
    fn draw(&mut self, comparison: &Comparison, file: &str) -> io::Result<()> {
        let asked: usize = comparison
            .readings
            .iter()
            .flat_map(|reading| &reading.of)
            .map(|of| of.dialects.len())
            .sum();
        let patterns = counted(comparison.pattern_count, "pattern");
        if comparison.rows.is_empty() {
            writeln!(self.out, "{file}: {patterns}; no difference between crawlers was found.")?;
        } else {
            let count = comparison.readings.len();
            writeln!(self.out, "{file}: {patterns}, read in {count} ways\n")?;
            for reading in &comparison.readings {
                self.draw_reading(reading)?;
            }
            writeln!(self.out)?;
            self.draw_rows(&comparison.rows)?;
        }
        if comparison.patterns_left_out > 0 {
            let left_out = counted(comparison.patterns_left_out, "pattern");
            writeln!(
                self.out,
                "\n{left_out} were not compared: there are too many for {asked} readers."
            )?;
        }
        if comparison.crawlers_left_out > 0 {
            let left_out = crawlers_left_out(comparison.crawlers_left_out);
            writeln!(self.out, "\n{left_out}")?;
        }
        Ok(())
    }

    /// The readers of a reading. If a crawler has it only in some dialects, these are named.
    fn draw_reading(&mut self, reading: &Reading) -> io::Result<()> {
        let mut names: Vec<String> = Vec::new();
        // Crawlers with the same dialects stand together.
        let mut by_dialects: Vec<(&[Cow<'_, str>], Vec<String>)> = Vec::new();
        for of in &reading.of {
            let name = if of.crawler == "*" {
                "* (crawlers that are not named)".to_owned()
            } else {
                shown(of.crawler.as_bytes())
            };
            if of.every_dialect {
                names.push(name);
                continue;
            }
            match by_dialects.iter_mut().find(|(dialects, _)| *dialects == of.dialects) {
                Some((_, names)) => names.push(name),
                None => by_dialects.push((&of.dialects, vec![name])),
            }
        }
        let room = self.columns.saturating_sub(5);
        let mut lines = Vec::new();
        if !names.is_empty() {
            lines.push(listed(&names, room, self.most == usize::MAX));
        }
        for (dialects, names) in by_dialects {
            let dialects = format!("in {}: ", dialects.join(" and "));
            let room = room.saturating_sub(dialects.len());
            lines.push(format!("{dialects}{}", listed(&names, room, self.most == usize::MAX)));
        }
        for (place, line) in lines.iter().enumerate() {
            let name = if place == 0 { &*reading.name } else { "" };
            writeln!(self.out, "  {}  {line}", styled(STRONG, format_args!("{name:<2}")))?;
        }
        Ok(())
    }

    fn draw_rows(&mut self, rows: &[DifferingPatterns]) -> io::Result<()> {
        let shown_rows = &rows[..rows.len().min(self.most)];
        let joined = |names: &[String]| names.join(" ");
        let cells: Vec<_> =
            shown_rows.iter().map(|row| (row, joined(&row.may), joined(&row.may_not))).collect();
        let widest = |side: fn(&(&DifferingPatterns, String, String)) -> usize, least: usize| {
            cells.iter().map(side).max().unwrap_or(0).clamp(least, 16)
        };
        let may_width = widest(|cell| cell.1.len(), 3);
        let may_not_width = widest(|cell| cell.2.len(), 7);
        let room = self.columns.saturating_sub(may_width + may_not_width + 6);
        let longest = shown_rows.iter().flat_map(|row| row.patterns.iter().take(self.patterns()));
        let longest =
            longest.map(|pattern| shown(pattern.pattern.as_bytes()).chars().count()).max().unwrap_or(0);
        let width = longest.clamp(12, (room / 2).clamp(12, 40));
        let why_room = room.saturating_sub(width).max(24);
        let head =
            format!("{:<width$}  {:<may_width$}  {:<may_not_width$}  WHY", "PATTERN", "MAY", "MAY NOT");
        writeln!(self.out, "{}", styled(STRONG, head))?;
        for (row, may, may_not) in &cells {
            let mut left: Vec<String> = Vec::new();
            for pattern in row.patterns.iter().take(self.patterns()) {
                left.push(clipped(&shown(pattern.pattern.as_bytes()), width));
            }
            let more = row.pattern_count.saturating_sub(left.len());
            if more > 0 {
                left.push(clipped(&format!("and {more} more"), width));
                left.extend((self.most < usize::MAX).then(|| "(--all)".to_owned()));
            }
            let mut right = vec![format!("e.g. {}", shown(row.patterns[0].example.as_bytes()))];
            right.extend(why(&row.why));
            let sides = [wrapped(may, may_width), wrapped(may_not, may_not_width)];
            let lines = left.len().max(right.len()).max(sides[0].len()).max(sides[1].len());
            for line in 0..lines {
                let cell = |cells: &[String]| cells.get(line).cloned().unwrap_or_default();
                let (pattern, may, may_not) = (cell(&left), cell(&sides[0]), cell(&sides[1]));
                let padding = " ".repeat(width - pattern.chars().count());
                let why = clipped(&cell(&right), why_room);
                let start =
                    format!("{pattern}{padding}  {may:<may_width$}  {may_not:<may_not_width$}  ");
                let why = if line == 0 || why.is_empty() { why } else { styled(DIM, why) };
                writeln!(self.out, "{}", format_args!("{start}{why}").to_string().trim_end())?;
            }
        }
        if rows.len() > self.most {
            let more = counted(rows.len() - self.most, "more row");
            writeln!(self.out, "{}", styled(DIM, format_args!("and {more} (--all lists them)")))?;
        }
        Ok(())
    }

    fn patterns(&self) -> usize {
        if self.most == usize::MAX { usize::MAX } else { MOST_PATTERNS }
    }
}

/// What decides, once for the readings that it decides for.
fn why(of_readings: &[ReadingGrounds]) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for of in of_readings {
        let reason = grounds(&of.grounds);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, readings)) => readings.push(&of.reading),
            None => reasons.push((reason, vec![&of.reading])),
        }
    }
    reasons.into_iter().map(|(reason, readings)| format!("{}  {reason}", readings.join(" "))).collect()
}

/// Words in lines of some width.
fn wrapped(words: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split(' ') {
        match lines.last_mut().filter(|line| line.len() + 1 + word.len() <= width) {
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}
