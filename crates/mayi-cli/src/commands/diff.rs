//! `mayi diff`: what changed in meaning from one file to another, and for whom.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use mayi::meaning::{Became, Change, Diff, Grounds, Meaning, PartChange, ReaderDiff, RuleAt, ValueAt};
use mayi::{Reason, RobotsTxt};

use super::check::write_json;
use crate::cli::{DialectName, ReadingArgs};
use crate::exit::{Exit, Failure};
use crate::fetching::{Fetching, Online};
use crate::input::{self, Loaded};
use crate::text::{BAD, DIM, GOOD, STRONG, clipped, columns, counted, listed, shown, styled};

#[derive(Debug, Args)]
#[command(after_help = "\
The crawlers that either file names are compared, `*` for one that neither
names, and one for each purpose. Every example URL was checked in both files.
mayi says that the files mean the same only if that is proved.

Examples:
  mayi diff old/robots.txt new/robots.txt
  mayi diff https://example.com/ robots.txt

Exit status: 0 the files mean the same, 1 they do not or it is not proved, 2
error: a wrong option, file or URL.")]
pub(crate) struct DiffArgs {
    /// The old file, `-` for standard input, or the URL of a site to fetch it from
    #[arg(value_name = "OLD")]
    old: String,

    /// The new file, given in the same ways
    #[arg(value_name = "NEW")]
    new: String,

    /// The dialect to read the files in
    #[arg(long, value_name = "NAME", default_value = mayi::Dialect::default().name())]
    dialect: DialectName,

    #[command(flatten)]
    reading: ReadingArgs,

    /// List everything; by default long lists are cut
    #[arg(long)]
    all: bool,

    /// Print the changes as JSON
    #[arg(short, long)]
    json: bool,

    #[command(flatten)]
    fetching: Fetching,
}

pub(crate) fn run(args: &DiffArgs) -> Result<Exit, Failure> {
    let registries = args.reading.registries.iter().map(|path| &**path);
    input::one_reader([Path::new(&args.old), Path::new(&args.new)].into_iter().chain(registries))?;
    let dialect = args.reading.of_dialect(&args.dialect.0);
    let options = input::reading(&args.reading)?.with_dialect(dialect);
    let online = Online::new(&args.fetching);
    let (old, new) = (input::load(&args.old, &online)?, input::load(&args.new, &online)?);
    let same_octets = old.octets == new.octets;
    let read = |loaded: &Loaded| RobotsTxt::read(loaded.octets.clone(), &loaded.reading(&options));
    let diff = mayi::meaning::diff(&read(&old), &read(&new));
    let mut out = crate::text::out();
    if args.json {
        write_json(&mut out, &diff)?;
    } else {
        let most = if args.all { usize::MAX } else { MOST_LISTED };
        Drawing { out: &mut out, columns: columns(), most }.draw(&diff, same_octets)?;
    }
    out.flush()?;
    Ok(if diff.meaning == Meaning::Same { Exit::Allowed } else { Exit::Disallowed })
}

/// How many changes of a kind are listed before the rest is only counted.
const MOST_LISTED: usize = 10;

struct Drawing<'o, W> {
    out: &'o mut W,
    columns: usize,
    most: usize,
}

impl<W: Write> Drawing<'_, W> {
    fn draw(&mut self, diff: &Diff, same_octets: bool) -> io::Result<()> {
        match diff.meaning {
            Meaning::Same if same_octets => writeln!(self.out, "The files are the same.")?,
            Meaning::Same if diff.same_text => {
                writeln!(self.out, "The text that is read is the same in both files.")?;
            }
            Meaning::Same => writeln!(self.out, "Only the text changed, not the meaning.")?,
            Meaning::Changed => {}
            Meaning::Unproved => writeln!(
                self.out,
                "Rules changed. No URL with a different decision was found, but it is not proved \
                 that there is none."
            )?,
        }
        let mut is_first = diff.meaning == Meaning::Changed;
        let most_crawlers = self.most.saturating_mul(2);
        for readers in diff.crawlers.iter().take(most_crawlers) {
            if !std::mem::take(&mut is_first) {
                writeln!(self.out)?;
            }
            self.draw_readers(readers)?;
        }
        self.left_out(diff.crawlers.len(), most_crawlers, "set of crawlers with changes")?;
        if !diff.file.is_empty() {
            if !is_first {
                writeln!(self.out)?;
            }
            writeln!(self.out, "{}", styled(STRONG, "the file"))?;
            diff.file.iter().try_for_each(|part| self.draw_part(part))?;
        }
        if diff.meaning == Meaning::Unproved && !diff.regexes.is_empty() {
            writeln!(
                self.out,
                "\nuser-agent lines with regular expressions: crawlers that they match may get \
                 different rules now"
            )?;
            for regex in diff.regexes.iter().take(self.most) {
                writeln!(self.out, "    {}", shown(regex.as_bytes()))?;
            }
            self.left_out(diff.regexes.len(), self.most, "line")?;
        }
        if diff.left_out > 0 {
            writeln!(self.out, "\n{}", crawlers_left_out(diff.left_out))?;
        }
        Ok(())
    }

    fn draw_readers(&mut self, readers: &ReaderDiff) -> io::Result<()> {
        let name = |name: &String| match &**name {
            "*" => "* (crawlers that are not named)".to_owned(),
            name => shown(name.as_bytes()),
        };
        let names: Vec<_> = readers.crawlers.iter().map(name).collect();
        let names = listed(&names, self.columns, self.most == usize::MAX);
        writeln!(self.out, "{}", styled(STRONG, format_args!("for {names}")))?;
        for (became, style, word) in
            [(Became::Disallowed, BAD, "disallowed"), (Became::Allowed, GOOD, "allowed")]
        {
            let changes: Vec<_> =
                readers.changes.iter().filter(|change| change.became == became).collect();
            if changes.is_empty() {
                continue;
            }
            writeln!(self.out, "  {}", styled(style, format_args!("now {word}")))?;
            self.draw_changes(&changes)?;
            self.left_out(changes.len(), self.most, "pattern")?;
        }
        let unlisted = readers.change_count - readers.changes.len();
        if unlisted > 0 {
            let all = counted(readers.change_count, "pattern");
            writeln!(self.out, "  {}", styled(DIM, format_args!("{all} changed in all")))?;
        }
        readers.records.iter().try_for_each(|part| self.draw_part(part))?;
        if !readers.unproved.is_empty() {
            writeln!(self.out, "  rules that only one of the files has")?;
            for rule in readers.unproved.iter().take(self.most) {
                writeln!(self.out, "    {}", rule_at(rule, &rule.pattern))?;
            }
            self.left_out(readers.unproved.len(), self.most, "rule")?;
        }
        Ok(())
    }

    /// The patterns, each with an example where that says more, and the lines that decide.
    fn draw_changes(&mut self, changes: &[&Change]) -> io::Result<()> {
        let changes = &changes[..changes.len().min(self.most)];
        let half = (self.columns / 2).saturating_sub(8).max(16);
        let left = |change: &Change| clipped(&shown(change.pattern.as_bytes()), half);
        let width = changes.iter().map(|change| left(change).chars().count()).max().unwrap_or(0);
        for change in changes {
            let pattern = left(change);
            let padding = " ".repeat(width - pattern.chars().count());
            let room = self.columns.saturating_sub(width + 6).max(20);
            let example = clipped(&format!("e.g. {}", shown(change.example.as_bytes())), room);
            writeln!(self.out, "    {}{padding}  {example}", styled(STRONG, pattern))?;
            let [old, new] = [&change.old, &change.new].map(|of_file| match &of_file.rule {
                // The pattern stands beside it already.
                Some(rule) if rule.pattern == change.pattern => rule_at(rule, ""),
                _ => grounds(of_file),
            });
            let indent = " ".repeat(width + 6);
            let both = format!("{old} → {new}");
            if both.chars().count() <= room {
                writeln!(self.out, "{indent}{}", styled(DIM, both))?;
            } else {
                writeln!(self.out, "{indent}{}", styled(DIM, clipped(&old, room)))?;
                writeln!(self.out, "{indent}{}", styled(DIM, clipped(&format!("→ {new}"), room)))?;
            }
        }
        Ok(())
    }

    fn draw_part(&mut self, part: &PartChange) -> io::Result<()> {
        writeln!(self.out, "  {}", part.directive)?;
        if part.reordered {
            return writeln!(self.out, "    in another order, and the later value wins");
        }
        for (mark, style, values) in [("-", BAD, &part.removed), ("+", GOOD, &part.added)] {
            for ValueAt { value, line, .. } in values.iter().take(self.most) {
                let room = self.columns.saturating_sub(20).max(20);
                let value = clipped(&shown(value.as_bytes()), room);
                let line = styled(DIM, format_args!("line {line}"));
                writeln!(self.out, "    {}  {line}", styled(style, format_args!("{mark} {value}")))?;
            }
            self.left_out(values.len(), self.most, "value")?;
        }
        Ok(())
    }

    fn left_out(&mut self, all: usize, most: usize, thing: &str) -> io::Result<()> {
        match all.saturating_sub(most) {
            0 => Ok(()),
            more => {
                let text =
                    format!("and {} (--all lists them)", counted(more, &format!("more {thing}")));
                writeln!(self.out, "    {}", styled(DIM, text))
            }
        }
    }
}

/// How many crawlers were not compared, as a sentence.
pub(crate) fn crawlers_left_out(count: usize) -> String {
    let were = if count == 1 { "was" } else { "were" };
    format!("{} {were} not compared: there are too many.", counted(count, "more crawler"))
}

/// What a decision rests on.
pub(crate) fn grounds(grounds: &Grounds) -> String {
    match &grounds.rule {
        Some(rule) => rule_at(rule, &rule.pattern),
        None => without_rule(grounds.reason).to_owned(),
    }
}

fn rule_at(rule: &RuleAt, pattern: &str) -> String {
    let name = rule.kind.directive().name;
    let colon = if pattern.is_empty() { "" } else { ": " };
    format!("line {}: {name}{colon}{}", rule.line, shown(pattern.as_bytes()))
}

/// Why something is decided by no rule.
fn without_rule(reason: Reason) -> &'static str {
    match reason {
        Reason::NoRule => "no rule matches",
        Reason::NoGroup => "no group is for it",
        _ => "robots.txt itself may always be fetched",
    }
}
