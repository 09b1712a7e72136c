//! `mayi overview`: who may do what with a site, by what crawlers are for.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use mayi::Preference;
use mayi::access::{AccessResult, SiteFile};
use mayi::meaning::{Crawling, Fetchable, KindOverview, Overview, SharedAnswer, UseAnswer, UseSource};

use super::check::write_json;
use crate::cli::{DialectName, ReadingArgs};
use crate::exit::{Exit, Failure};
use crate::fetching::{Fetching, Online};
use crate::input;
use crate::text::{BAD, DIM, GOOD, STRONG, clipped, columns, counted, listed, shown, styled};

#[derive(Debug, Args)]
#[command(after_help = "\
The overview has every crawler of the registry, those that the file names, and `*`
for one that it does not name. `probably` means that mayi found no exception but
can't prove that there is none. A crawler can't use what it may not fetch, so a
training crawler that may fetch nothing is shown as not allowed to train.

Examples:
  mayi overview robots.txt
  mayi overview https://example.com/ --json

Exit status: 0 the overview is printed, 2 error: a wrong option, file or URL, 3 it
is printed, but the file can't be reached, so no crawler may fetch anything.")]
pub(crate) struct OverviewArgs {
    /// The file, `-` for standard input, or the URL of a site to fetch it from
    #[arg(value_name = "FILE")]
    file: String,

    /// The dialect to read the file in
    #[arg(long, value_name = "NAME", default_value = mayi::Dialect::default().name())]
    dialect: DialectName,

    #[command(flatten)]
    reading: ReadingArgs,

    /// List everything; by default long lists are cut
    #[arg(long)]
    all: bool,

    /// Print the overview as JSON
    #[arg(short, long)]
    json: bool,

    #[command(flatten)]
    fetching: Fetching,
}

pub(crate) fn run(args: &OverviewArgs) -> Result<Exit, Failure> {
    let registries = args.reading.registries.iter().map(|path| &**path);
    input::one_reader(std::iter::once(Path::new(&args.file)).chain(registries))?;
    let dialect = args.reading.of_dialect(&args.dialect.0);
    let options = input::reading(&args.reading)?.with_dialect(dialect);
    let online = Online::new(&args.fetching);
    let file = match input::url_of(&args.file) {
        Some(url) => online.site_file(&url, &options)?,
        None => SiteFile::read(input::load_file(&args.file)?.octets, &options),
    };
    let overview = mayi::meaning::overview(&file, &options);
    let mut out = crate::text::out();
    if args.json {
        write_json(&mut out, &overview)?;
    } else {
        Drawing { out: &mut out, columns: columns(), all: args.all }.draw(&overview)?;
    }
    out.flush()?;
    let is_reached = !matches!(file.access(), AccessResult::Unreachable(_));
    Ok(if is_reached { Exit::Allowed } else { Exit::Unreachable })
}

/// How many rules of an answer are shown.
const MOST_RULES: usize = 5;

struct Drawing<'o, W> {
    out: &'o mut W,
    columns: usize,
    all: bool,
}

impl<W: Write> Drawing<'_, W> {
    fn draw(&mut self, overview: &Overview) -> io::Result<()> {
        for sentence in &overview.summary {
            writeln!(self.out, "{}", shown(sentence.as_bytes()))?;
        }
        for kind in &overview.kinds {
            self.draw_kind(kind, &overview.answers)?;
        }
        if overview.crawlers_left_out > 0 {
            let left_out = counted(overview.crawlers_left_out, "crawler");
            writeln!(self.out, "\n{left_out} were left out: there are too many.")?;
        }
        Ok(())
    }

    fn draw_kind(&mut self, kind: &KindOverview, answers: &[SharedAnswer]) -> io::Result<()> {
        let count = kind.crawlers.len();
        writeln!(self.out, "\n{}", styled(STRONG, format_args!("{} ({count})", kind.label)))?;
        let mut places: Vec<usize> = kind.crawlers.iter().map(|crawler| crawler.answer).collect();
        places.sort_unstable();
        places.dedup();
        for place in places {
            let crawlers = kind.crawlers.iter().filter(|crawler| crawler.answer == place);
            let names: Vec<String> = crawlers.map(|crawler| shown(crawler.token.as_bytes())).collect();
            let answer = &answers[place];
            writeln!(self.out, "  {}", headline(&answer.crawling))?;
            writeln!(self.out, "      {}", listed(&names, self.columns.saturating_sub(6), self.all))?;
            self.draw_rules(&answer.crawling)?;
            for answer in &answer.uses {
                self.draw_use(answer)?;
            }
        }
        Ok(())
    }

    fn draw_rules(&mut self, crawling: &Crawling) -> io::Result<()> {
        let most = if self.all { usize::MAX } else { MOST_RULES };
        for rule in crawling.rules.iter().take(most) {
            let name = rule.kind.directive().name;
            let pattern = clipped(&shown(rule.pattern.as_bytes()), self.columns.saturating_sub(32));
            let line = styled(DIM, format_args!("line {}", rule.line));
            writeln!(self.out, "      {name}: {pattern}  {line}")?;
        }
        let more = crawling.rules.len().saturating_sub(most) + crawling.rules_left_out;
        if more > 0 {
            let more = counted(more, "more rule");
            writeln!(self.out, "      {}", styled(DIM, format_args!("{more} (--all)")))?;
        }
        Ok(())
    }

    fn draw_use(&mut self, answer: &UseAnswer) -> io::Result<()> {
        let is_said = answer.answer != Preference::Unknown || !answer.elsewhere.is_empty();
        let is_of_access = answer.because.iter().any(|because| because.source == UseSource::Access);
        if !is_said || is_of_access {
            return Ok(());
        }
        let lines: Vec<String> = answer
            .because
            .iter()
            .filter_map(|because| because.line)
            .map(|line| format!("line {line}"))
            .collect();
        let elsewhere = if answer.elsewhere.is_empty() { "" } else { "; different on some paths" };
        let (name, says) = (answer.about.name(), answer.answer.name());
        let lines = styled(DIM, lines.join(", "));
        writeln!(self.out, "      {name}: {says}{elsewhere}  {lines}")
    }
}

/// How much may be fetched, in a word or two.
fn headline(crawling: &Crawling) -> String {
    let surely = if crawling.proved { "" } else { "probably " };
    match crawling.answer {
        Fetchable::Everything => styled(GOOD, format_args!("{surely}everything")),
        Fetchable::Nothing => styled(BAD, format_args!("{surely}nothing")),
        Fetchable::Part if crawling.otherwise => styled(STRONG, "everything but"),
        Fetchable::Part => styled(STRONG, "nothing but"),
    }
}
