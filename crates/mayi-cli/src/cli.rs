//! The commands and options that people type. Help, completions and the manual page are made from this.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::builder::PossibleValue;
use clap::{Args, Parser, Subcommand, ValueEnum};
use mayi::{CrawlerParts, Dialect, Extension};

use crate::commands::bulk::Bulk;
use crate::commands::cache::CacheArgs;
use crate::commands::fetch::FetchArgs;
use crate::fetching::Fetching;
use crate::progress::ProgressArgs;

const EXAMPLES: &str = "\
Examples:
  mayi check -a ExampleBot https://example.com/private/
  mayi lint robots.txt

`mayi help COMMAND` shows all options of a command.";

const ALL_EXAMPLES: &str = "\
Examples:
  mayi check -a ExampleBot https://example.com/private/
  mayi check -r robots.txt -a ExampleBot https://example.com/private/
  mayi explain -r robots.txt -a ExampleBot https://example.com/private/
  mayi check -r robots.txt -a ExampleBot --urls urls.txt --json
  mayi check -r robots.txt -a ExampleBot --purpose EXAMPLE-PURPOSE-1 --app examplesearch \
      https://example.com/
  mayi decide < requests.ndjson > decisions.ndjson
  mayi bulk --robots-dir robots -a ExampleBot < urls.tsv > out.tsv
  mayi audit -r robots.txt /var/log/nginx/access.log*
  mayi page -a ExampleBot --header 'X-Robots-Tag: noindex' --html page.html
  mayi fetch https://example.com/
  mayi fmt robots.txt
  mayi overview robots.txt
  mayi compare robots.txt --agents Googlebot,GPTBot
  mayi diff old/robots.txt new/robots.txt
  mayi lint robots.txt
  mayi serve
  mayi registry show GPTBot

Exit status:
  0  every URL is allowed, or the command did its work
  1  a URL is not allowed (check, explain), a file has problems (lint), there is a difference
     (fmt --check, compare, diff), or a condition is true (audit --fail-if)
  2  error: a wrong option, file or URL
  3  no rule forbids a URL, but the robots.txt of a site can't be reached (check, explain)";

/// May this crawler fetch this URL? Answers from the site's robots.txt, and says why.
#[derive(Debug, Parser)]
#[command(name = "mayi", version, after_help = EXAMPLES, after_long_help = ALL_EXAMPLES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say whether a crawler may fetch each URL, and which line decides
    Check(Check),
    /// Show step by step how each URL is decided
    Explain(Explain),
    /// Answer requests in JSON, one per line, in order
    Decide(Decide),
    /// Fetch the robots.txt of a site, and show what happened
    Fetch(FetchArgs),
    /// List, show, remove, import or export cached robots.txt files
    Cache(CacheArgs),
    /// Decide millions of URLs in tables: TSV, CSV, NDJSON, Parquet or Arrow
    Bulk(Bulk),
    /// Read access logs: which crawlers came, and which fetched what robots.txt forbids
    Audit(Box<crate::commands::audit::AuditArgs>),
    /// Show what may be done with a page, from its header fields and HTML
    Page(Page),
    /// Format files without changing what any crawler reads in them
    Fmt(crate::commands::fmt::Fmt),
    /// Show who may do what with a site: search engines, AI crawlers, archives, tools
    Overview(crate::commands::overview::OverviewArgs),
    /// Show where crawlers and dialects read a file differently
    Compare(crate::commands::compare::Compare),
    /// Show what a change to a file means for crawlers
    Diff(crate::commands::diff::DiffArgs),
    /// Change who may fetch what, by the smallest edit of a file
    Edit(crate::commands::edit::EditArgs),
    /// Find problems in robots.txt files, and fix what can be fixed safely
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

/// The examples and the exit status of `check` and `explain`; the short help has the examples alone.
macro_rules! question_help {
    ($command:literal) => {
        concat!(
            "Examples:\n  mayi ",
            $command,
            " -a ExampleBot https://example.com/private/\n  mayi ",
            $command,
            " -r robots.txt -a ExampleBot example.com/a example.com/b"
        )
    };
    ($command:literal, with status) => {
        concat!(
            question_help!($command),
            "\n\nExit status: 0 all URLs are allowed; 1 a rule forbids a URL; 2 error: a wrong \
             option, file or URL; 3 no rule forbids a URL, but the robots.txt of a site can't be \
             reached, so nothing may be fetched there."
        )
    };
}

const CHECK_EXAMPLES: &str = question_help!("check");
const CHECK_MORE: &str = question_help!("check", with status);
const EXPLAIN_EXAMPLES: &str = question_help!("explain");
const EXPLAIN_MORE: &str = question_help!("explain", with status);

/// The question, as check and explain ask it.
#[derive(Debug, Args)]
pub(crate) struct QuestionArgs {
    /// The robots.txt file, `-` for standard input. If not given, it is fetched from the site of each
    /// URL
    #[arg(short, long, value_name = "FILE")]
    pub(crate) robots: Option<PathBuf>,

    /// The crawler's product token, for example ExampleBot, or its whole User-Agent string
    #[arg(short, long, value_name = "TOKEN")]
    pub(crate) agent: String,

    #[command(flatten)]
    pub(crate) claims: Claims,

    /// A header field of the response, for page rules and preferences. Can be repeated
    #[arg(hide_short_help = true, long = "header", value_name = "NAME: VALUE", value_parser = header_field)]
    pub(crate) headers: Vec<(String, String)>,

    /// The HTML of the response, for page rules
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// The dialect to read the file in
    #[arg(long, value_name = "NAME", default_value = mayi::Dialect::default().name())]
    pub(crate) dialect: DialectName,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) page_reading: PageReading,

    /// The charset from the Content-Type of the file
    #[arg(hide_short_help = true, long, value_name = "LABEL")]
    pub(crate) charset: Option<String>,

    /// Read at most this many octets of the file; 512000 (500 KiB) is the minimum
    #[arg(hide_short_help = true, long, value_name = "OCTETS", default_value_t = mayi::Limits::default().file_octets())]
    pub(crate) max_octets: usize,

    /// A file with one URL per line, `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) urls: Option<PathBuf>,

    /// The URLs; `-` reads them from standard input. `example.com/x` means `https://example.com/x`
    #[arg(value_name = "URL", required_unless_present = "urls")]
    pub(crate) url: Vec<String>,

    /// Print decisions as JSON, one per line, as `mayi decide` does
    #[arg(short, long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) progress: ProgressArgs,

    #[command(flatten)]
    pub(crate) fetching: Fetching,
}

/// What the crawler says about itself besides its name.
#[derive(Debug, Args)]
pub(crate) struct Claims {
    /// A purpose that the crawler crawls for. Can be repeated
    #[arg(long = "purpose", value_name = "TOKEN")]
    pub(crate) purposes: Vec<String>,

    /// Ignore purposes that are not registered
    #[arg(hide_short_help = true, long)]
    pub(crate) registered_purposes_only: bool,

    /// An application that the crawler collects data for. Can be repeated
    #[arg(long = "app", value_name = "IDENTIFIER")]
    pub(crate) apps: Vec<String>,

    /// The User-Agent string that the crawler sends; it must contain the token and the purposes
    #[arg(hide_short_help = true, long, value_name = "TEXT")]
    pub(crate) user_agent: Option<String>,
}

impl Claims {
    /// All parts of the crawler with this name.
    pub(crate) fn of_crawler<'a>(&'a self, product_token: &'a str) -> CrawlerParts<'a, String> {
        CrawlerParts {
            product_token,
            purposes: &self.purposes,
            registered_purposes_only: self.registered_purposes_only,
            applications: &self.apps,
            user_agent: self.user_agent.as_deref(),
        }
    }
}

/// Options for every file that is read.
#[derive(Debug, Args)]
pub(crate) struct ReadingArgs {
    /// Switch an extension off. Can be repeated
    #[arg(hide_short_help = true, long = "no-extension", value_name = "NAME")]
    pub(crate) no_extensions: Vec<ExtensionName>,

    /// A registry file that extends the built-in registries. Can be repeated
    #[arg(hide_short_help = true, long = "registry", value_name = "FILE")]
    pub(crate) registries: Vec<PathBuf>,
}

impl ReadingArgs {
    /// A dialect without the extensions that are switched off.
    pub(crate) fn of_dialect(&self, dialect: &Dialect) -> Dialect {
        self.no_extensions.iter().map(|name| name.0).fold(dialect.clone(), Dialect::without)
    }
}

/// Options for every page that is read.
#[derive(Debug, Args)]
pub(crate) struct PageReading {
    /// In a structured Robots-Tag, apply the global entry together with the crawler's own, as later
    /// versions of the Robots-Tag draft say
    #[arg(hide_short_help = true, long)]
    pub(crate) union: bool,

    /// The time to decide for, such as 2026-11-15T13:00:00Z: some page rules end at a date. Default: now
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<SystemTime>,
}

/// A time of RFC 3339.
pub(crate) fn time(text: &str) -> Result<SystemTime, &'static str> {
    mayi::report::time_of_rfc3339(text).ok_or("write the time as in RFC 3339: 2026-11-15T13:00:00Z")
}

pub(crate) fn header_field(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("write a header field as `Name: value`")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES, after_long_help = CHECK_MORE)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) question: QuestionArgs,

    #[command(flatten)]
    pub(crate) service: crate::commands::served::ServiceArgs,
}

#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_EXAMPLES, after_long_help = EXPLAIN_MORE)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) question: QuestionArgs,

    /// How many lines of the file to show around the line that decides
    #[arg(long, value_name = "LINES", default_value_t = 2)]
    pub(crate) context: u32,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A request is a JSON object. It must have `url` and `agent`. It can have user_agent, purposes, \
registered_purposes_only, apps, robots, page, union, now, dialect and explain. `page` has the `headers` of the \
response, as pairs, and its `html`. `robots` is the text of the file, or {\"base64\": \"…\", \"charset\": \"…\"}, \
{\"status\": 503} or {\"error\": \"timeout\"}. Without `robots`, the file is fetched.

A wrong request is answered with {\"error\": {\"code\": \"…\", \"message\": \"…\"}}, with its url and agent if \
they can be read. The next request is still answered. Blank lines are skipped. --purpose, --app, --user-agent \
and --now are defaults for requests without these members; --union and --registered-purposes-only apply to \
every request.

Examples:
  mayi decide requests.ndjson > decisions.ndjson
  echo '{\"url\": \"https://example.com/\", \"agent\": \"ExampleBot\"}' | mayi decide

Exit status: 0 the input was read to its end, 2 it could not be read.")]
pub(crate) struct Decide {
    /// The file with the requests; default: standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,

    /// The number of threads; default: one for each core
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: Option<u16>,

    #[command(flatten)]
    pub(crate) claims: Claims,

    /// The maximum length of a request; a longer one is answered with an error
    #[arg(hide_short_help = true, long, value_name = "OCTETS", default_value_t = 64 << 20)]
    pub(crate) max_line: usize,

    #[command(flatten)]
    pub(crate) progress: ProgressArgs,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) page_reading: PageReading,

    #[command(flatten)]
    pub(crate) fetching: Fetching,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A response file has a status line, header fields, a blank line and the body, as `curl -i` prints them. \
If it has several responses, the last one counts. Without --agent, the answer is for a crawler that is \
not named.

Examples:
  curl -si https://example.com/ | mayi page --response -
  mayi page -a ExampleBot --header 'X-Robots-Tag: noindex' --html page.html

Exit status: 0 the page was read, 2 it could not be read.")]
#[command(group(clap::ArgGroup::new("source").args(["headers", "html", "response"]).required(true).multiple(true)))]
pub(crate) struct Page {
    /// The crawler's product token, for example ExampleBot
    #[arg(short, long, value_name = "TOKEN")]
    pub(crate) agent: Option<String>,

    /// A header field of the response. Can be repeated
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header_field)]
    pub(crate) headers: Vec<(String, String)>,

    /// The HTML of the response, `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "response")]
    pub(crate) html: Option<PathBuf>,

    /// A whole HTTP response, `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) response: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: PageReading,

    /// Read at most this many octets of HTML
    #[arg(hide_short_help = true, long, value_name = "OCTETS", default_value_t = mayi::page::PageOptions::default().html_octets)]
    pub(crate) max_html: usize,

    /// Print the rules as JSON: the `page` of a decision, and where each rule was found
    #[arg(short, long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mayi registry list agents
  mayi registry show GPTBot")]
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
    /// Show all entries with a name: a purpose, an application, a directive, a category or a crawler
    Show {
        /// The name, in upper or lower case
        name: String,
        #[command(flatten)]
        from: RegistryFiles,
    },
    /// Check registry files against the rules for registrations
    Check {
        /// The files; each extends the built-in registries and the files before it
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

/// The registry files to look in, beside the built-in ones.
#[derive(Debug, Args)]
pub(crate) struct RegistryFiles {
    /// A registry file that extends the built-in registries. Can be repeated
    #[arg(hide_short_help = true, long = "registry", value_name = "FILE")]
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
#[command(after_help = "\
Examples:
  mayi completions bash > ~/.local/share/bash-completion/completions/mayi
  mayi completions fish > ~/.config/fish/completions/mayi.fish")]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mayi man > mayi.1
  mayi man --folder ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write a page for each command into this folder, instead of printing the main page
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
