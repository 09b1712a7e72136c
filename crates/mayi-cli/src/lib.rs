//! The command `mayi`: options in, an answer on standard output, an exit status that scripts can use.
//!
//! Only here and in `cli` can a call be invalid; problems in a file are never errors. It is a library so that
//! the Python package can include the command without a second program.

mod asking;
mod audit;
mod bulk;
mod cli;
mod commands;
mod cut;
mod exit;
mod fetching;
mod input;
mod output;
mod parallel;
mod progress;
mod snippet;
mod text;
mod unified;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};

use crate::cli::{Cli, Command};
use crate::exit::{Exit, Failure};

/// Runs the command with these arguments, the first of which is its own name, and returns its exit status.
/// Help and unknown arguments end the process.
pub fn main_of(words: impl IntoIterator<Item = OsString>) -> u8 {
    exit::status_of(run(words))
}

fn run(words: impl IntoIterator<Item = OsString>) -> Result<Exit, Failure> {
    let mut known = without_empty_variables(Cli::command());
    let matches = known.try_get_matches_from_mut(words).unwrap_or_else(|error| error.exit());
    let cli = Cli::from_arg_matches(&matches);
    match cli.unwrap_or_else(|error| error.format(&mut known).exit()).command {
        Command::Check(check) => commands::check::run(&check),
        Command::Explain(explain) => commands::explain::run(&explain),
        Command::Decide(decide) => commands::decide::run(&decide),
        Command::Fetch(fetch) => commands::fetch::run(&fetch),
        Command::Cache(cache) => commands::cache::run(&cache),
        Command::Bulk(bulk) => commands::bulk::run(&bulk),
        Command::Audit(audit) => commands::audit::run(&audit),
        Command::Page(page) => commands::page::run(&page),
        Command::Fmt(fmt) => commands::fmt::run(&fmt),
        Command::Overview(overview) => commands::overview::run(&overview),
        Command::Compare(compare) => commands::compare::run(&compare),
        Command::Diff(diff) => commands::diff::run(&diff),
        Command::Edit(edit) => commands::edit::run(&edit),
        Command::Lint(lint) => commands::lint::run(&lint),
        Command::Serve(serve) => commands::serve::run(&serve),
        Command::Registry(registry) => commands::registry::run(&registry.command),
        Command::Completions(completions) => commands::generate::completions(&completions),
        Command::Man(man) => commands::generate::man(&man),
    }
}

/// The same arguments; empty environment variables are ignored, because scripts and service files unset
/// variables in this way.
fn without_empty_variables(mut words: clap::Command) -> clap::Command {
    let is_empty = |arg: &clap::Arg| {
        arg.get_env().is_some_and(|name| std::env::var_os(name).is_some_and(|it| it.is_empty()))
    };
    let empty: Vec<_> =
        words.get_arguments().filter(|arg| is_empty(arg)).map(|arg| arg.get_id().clone()).collect();
    for id in empty {
        words = words.mut_arg(id, |arg| arg.env(None::<&str>));
    }
    let commands: Vec<_> =
        words.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    for name in commands {
        words = words.mut_subcommand(name, without_empty_variables);
    }
    words
}
