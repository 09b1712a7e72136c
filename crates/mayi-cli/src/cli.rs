//! The words that the command takes. Help, completions and the manual page are made from this.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::builder::PossibleValue;
use clap::{Args, Parser, Subcommand, ValueEnum};
use mayi::{Dialect, Extension};

use crate::commands::bulk::Bulk;
use crate::commands::cache::CacheArgs;
use crate::commands::fetch::FetchArgs;
use crate::fetching::Fetching;
use crate::progress::ProgressArgs;

const EXAMPLES: &str = "\
Examples:
  mayi check --agent ExampleBot https://example.com/private/
  mayi check --robots robots.txt --agent ExampleBot https://example.com/private/
  mayi explain --robots robots.txt --agent ExampleBot https://example.com/private/
  mayi check --robots robots.txt --agent ExampleBot --urls urls.txt --json
  mayi check --robots robots.txt --agent ExampleBot --purpose EXAMPLE-PURPOSE-1 --app examplesearch \
      https://example.com/
  mayi decide < requests.ndjson > decisions.ndjson
  mayi bulk --robots-dir robots --agent ExampleBot < urls.tsv > out.tsv
  mayi audit --robots robots.txt /var/log/nginx/access.log*
  mayi page --agent ExampleBot --header 'X-Robots-Tag: noindex' --html page.html
  mayi fetch https://example.com/
  mayi fmt robots.txt
  mayi compare robots.txt --agents Googlebot,GPTBot
  mayi diff old/robots.txt new/robots.txt
  mayi lint robots.txt
  mayi serve
  mayi registry show GPTBot

Exit status:
  0  every URL is allowed, or the command has done its work
  1  at least one URL is not allowed (check, explain), something is wrong with a file (lint), there is
     a difference (fmt --check, compare, diff), or a condition holds (audit --fail-if)
  2  there is no answer: a word, a file or a URL is wrong";

/// May this crawler fetch this URL? Answers from its robots.txt, fetched or given, and says why.
#[derive(Debug, Parser)]
#[command(name = "mayi", version, after_help = EXAMPLES, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say for each URL whether it is allowed, with the line that decided
    Check(Check),
    /// Show how the decision about each URL is reached
    Explain(Explain),
    /// Answer requests in JSON, one a line, in order
    Decide(Decide),
    /// Get the robots.txt of a site, and tell how that went
    Fetch(FetchArgs),
    /// List, show, purge or export the files that are kept
    Cache(CacheArgs),
    /// Answer rows of URLs as TSV, CSV or NDJSON, in order: for millions of them
    Bulk(Bulk),
    /// Say which crawlers came, by access logs, and which asked for what robots.txt refuses
    Audit(Box<crate::commands::audit::AuditArgs>),
    /// Say what may be done with a page, from its header fields and HTML
    Page(Page),
    /// Lay files out well, with nothing changed that any crawler reads in them
    Fmt(crate::commands::fmt::Fmt),
    /// Show where dialects and crawlers read a file differently
    Compare(crate::commands::compare::Compare),
    /// Show what changed in meaning from one file to another
    Diff(crate::commands::diff::DiffArgs),
    /// Say what is wrong with robots.txt files, and fix what can be fixed safely
    Lint(crate::commands::lint::LintArgs),
    /// Run the decision service: the same answers over HTTP
    Serve(Box<crate::commands::serve::ServeArgs>),
    /// Print or check the registries: purposes, applications, directives, categories, agents
    Registry(RegistryArgs),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page, or write one for each command into a folder
    Man(Man),
}

/// The question, as check and explain ask it.
#[derive(Debug, Args)]
pub(crate) struct Question {
    /// The robots.txt file; `-` reads it from standard input. Without it, the file of each URL's site
    /// is fetched
    #[arg(long, value_name = "FILE")]
    pub(crate) robots: Option<PathBuf>,

    /// The crawler's product token, e.g. ExampleBot
    #[arg(long, value_name = "TOKEN")]
    pub(crate) agent: String,

    #[command(flatten)]
    pub(crate) claims: Claims,

    /// A header field of the response, for its preferences and page rules; may be given several times
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header_field)]
    pub(crate) headers: Vec<(String, String)>,

    /// The HTML of the response, for its page rules
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// How the file is read
    #[arg(long, value_name = "NAME", default_value = mayi::Dialect::default().name())]
    pub(crate) dialect: DialectName,

    #[command(flatten)]
    pub(crate) reading: Reading,

    #[command(flatten)]
    pub(crate) page_reading: PageReading,

    /// The charset that came with the file in its Content-Type
    #[arg(long, value_name = "LABEL")]
    pub(crate) charset: Option<String>,

    /// How many octets of the file are read: 512000 (500 KiB) at the least
    #[arg(long, value_name = "OCTETS", default_value_t = mayi::Limits::default().file_octets())]
    pub(crate) max_octets: usize,

    /// A file with a URL a line; `-` reads them from standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) urls: Option<PathBuf>,

    /// The URLs; `-` reads them from standard input
    #[arg(value_name = "URL", required_unless_present = "urls")]
    pub(crate) url: Vec<String>,

    /// Print each decision as JSON, one a line, as `mayi decide` does
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) progress: ProgressArgs,

    #[command(flatten)]
    pub(crate) fetching: Fetching,
}

/// What the crawler says of itself beside its name.
#[derive(Debug, Args)]
pub(crate) struct Claims {
    /// What the crawler crawls for; may be given several times
    #[arg(long = "purpose", value_name = "TOKEN")]
    pub(crate) purposes: Vec<String>,

    /// Let purposes count only where a registry has them
    #[arg(long)]
    pub(crate) registered_purposes_only: bool,

    /// An application that it gathers for; may be given several times
    #[arg(long = "app", value_name = "IDENTIFIER")]
    pub(crate) apps: Vec<String>,

    /// The User-Agent string that it sends, checked to have its token and purposes
    #[arg(long, value_name = "TEXT")]
    pub(crate) user_agent: Option<String>,
}

/// What holds for every file that is read.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// Switch an extension off; may be given several times
    #[arg(long = "no-extension", value_name = "NAME")]
    pub(crate) no_extensions: Vec<ExtensionName>,

    /// A registry file to lay over the built-in registries; may be given several times
    #[arg(long = "registry", value_name = "FILE")]
    pub(crate) registries: Vec<PathBuf>,
}

/// What holds for every page that is read.
#[derive(Debug, Args)]
pub(crate) struct PageReading {
    /// Unite a crawler's own entry of a structured Robots-Tag with the global one, as the later text of the
    /// draft has it
    #[arg(long)]
    pub(crate) union: bool,

    /// The time at which the answer is to hold, as in 2026-11-15T13:00:00Z: for page rules that end at a
    /// date. Without it, now
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<SystemTime>,
}

/// A time of RFC 3339.
pub(crate) fn time(text: &str) -> Result<SystemTime, &'static str> {
    mayi::report::time_of_rfc3339(text)
        .ok_or("a time is written as RFC 3339 has it: 2026-11-15T13:00:00Z")
}

pub(crate) fn header_field(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header field is `Name: value`")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 all are allowed, 1 one is not, 2 there is no answer.")]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) question: Question,

    #[command(flatten)]
    pub(crate) service: crate::commands::served::ServiceArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 all are allowed, 1 one is not, 2 there is no answer.")]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) question: Question,

    /// How many lines of the file to show around the one that decided
    #[arg(long, value_name = "LINES", default_value_t = 2)]
    pub(crate) context: u32,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A request has the members url and agent (required), user_agent, purposes, registered_purposes_only, apps,
robots, page, union, now, dialect and explain. `page` has the response's `headers`, as pairs, and its `html`. `robots` is the file's text, or {\"base64\": \"…\", \"charset\": \"…\"}, {\"status\": 503} or {\"error\": \"timeout\"}; without it the file is fetched.
A wrong request gets {\"error\": {\"code\": \"…\", \"message\": \"…\"}} in its place, with its url and agent
where they can be read, and the next one is still answered. Blank lines are passed over. --purpose, --app,
--user-agent and --now stand for the members that a request does not have; --union and
--registered-purposes-only hold for every request.

Exit status: 0 the input was read to its end, 2 it could not be read.")]
pub(crate) struct Decide {
    /// Where the requests are; standard input where no file is given
    #[arg(value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,

    /// How many threads answer; all cores where nothing is given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: Option<u16>,

    #[command(flatten)]
    pub(crate) claims: Claims,

    /// How long a request may be; a longer one gets an error in its place
    #[arg(long, value_name = "OCTETS", default_value_t = 64 << 20)]
    pub(crate) max_line: usize,

    #[command(flatten)]
    pub(crate) progress: ProgressArgs,

    #[command(flatten)]
    pub(crate) reading: Reading,

    #[command(flatten)]
    pub(crate) page_reading: PageReading,

    #[command(flatten)]
    pub(crate) fetching: Fetching,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A response file has a status line, header fields, a blank line and the body, as `curl -i` prints them;
of several in a row, the last one counts. Without --agent, what holds for a crawler that is not named
is shown.

Exit status: 0 the page was read, 2 it could not be.")]
#[command(group(clap::ArgGroup::new("source").args(["headers", "html", "response"]).required(true).multiple(true)))]
pub(crate) struct Page {
    /// The crawler's product token, e.g. ExampleBot
    #[arg(long, value_name = "TOKEN")]
    pub(crate) agent: Option<String>,

    /// A header field of the response; may be given several times
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header_field)]
    pub(crate) headers: Vec<(String, String)>,

    /// The HTML of the response; `-` reads it from standard input
    #[arg(long, value_name = "FILE", conflicts_with = "response")]
    pub(crate) html: Option<PathBuf>,

    /// A whole HTTP response; `-` reads it from standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) response: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: PageReading,

    /// How many octets of HTML are read
    #[arg(long, value_name = "OCTETS", default_value_t = mayi::page::PageOptions::default().html_octets)]
    pub(crate) max_html: usize,

    /// Print the rules as JSON: the `page` of a decision, with where each rule was found
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RegistryArgs {
    #[command(subcommand)]
    pub(crate) command: RegistryCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RegistryCommand {
    /// List the entries of all registries, or of one
    List {
        /// The registry
        which: Option<RegistryName>,
        #[command(flatten)]
        from: RegistryFiles,
    },
    /// Show every entry of a name: a purpose, an application, a directive, a category or a crawler
    Show {
        /// The name, in any case
        name: String,
        #[command(flatten)]
        from: RegistryFiles,
    },
    /// Check registry files against the rules for registrations
    Check {
        /// The files, each laid over the built-in registries and those before it
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

/// The registry files to look in, beside the built-in ones.
#[derive(Debug, Args)]
pub(crate) struct RegistryFiles {
    /// A registry file to lay over the built-in registries; may be given several times
    #[arg(long = "registry", value_name = "FILE")]
    pub(crate) registries: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RegistryName {
    Purposes,
    Applications,
    Directives,
    Categories,
    Agents,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// A folder to write a page for each command into, instead of printing the main one
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

/// The name of a built-in dialect.
#[derive(Clone, Debug)]
pub(crate) struct DialectName(pub(crate) Dialect);

impl ValueEnum for DialectName {
    fn value_variants<'a>() -> &'a [Self] {
        static NAMES: std::sync::LazyLock<Vec<DialectName>> =
            std::sync::LazyLock::new(|| Dialect::ALL.iter().cloned().map(DialectName).collect());
        &NAMES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.summary()))
    }
}

/// The name of an extension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExtensionName(pub(crate) Extension);

impl ValueEnum for ExtensionName {
    fn value_variants<'a>() -> &'a [Self] {
        static NAMES: std::sync::LazyLock<Vec<ExtensionName>> =
            std::sync::LazyLock::new(|| Extension::ALL.iter().copied().map(ExtensionName).collect());
        &NAMES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.0.name()).help(self.0.summary());
        Some(value.alias(self.0.clauses()))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        super::Cli::command().debug_assert();
    }
}
