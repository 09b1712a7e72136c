//! The command `mayi`: words in, an answer on standard output, an exit status that scripts can use.
//!
//! Only here and in `cli` can the caller be wrong; what is wrong with a file is never an error.

mod asking;
mod bulk;
mod cli;
mod commands;
mod cut;
mod exit;
mod fetching;
mod input;
mod parallel;
mod progress;
mod text;
mod unified;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::exit::{Exit, Failure};

fn main() -> std::process::ExitCode {
    let exit = match run() {
        Ok(exit) => exit,
        Err(Failure::BrokenPipe) => Exit::Allowed, // whoever read us has read enough
        Err(Failure::Message(message)) => {
            // A message may quote a file: what is in there is not for the terminal to obey.
            let lines: Vec<_> = message.lines().map(|line| text::shown(line.as_bytes())).collect();
            anstream::eprintln!("mayi: {}", lines.join("\n"));
            Exit::NoAnswer
        }
    };
    exit.into()
}

fn run() -> Result<Exit, Failure> {
    match Cli::parse().command {
        Command::Check(check) => commands::check::run(&check),
        Command::Explain(explain) => commands::explain::run(&explain),
        Command::Decide(decide) => commands::decide::run(&decide),
        Command::Fetch(fetch) => commands::fetch::run(&fetch),
        Command::Cache(cache) => commands::cache::run(&cache),
        Command::Bulk(bulk) => commands::bulk::run(&bulk),
        Command::Page(page) => commands::page::run(&page),
        Command::Fmt(fmt) => commands::fmt::run(&fmt),
        Command::Compare(compare) => commands::compare::run(&compare),
        Command::Diff(diff) => commands::diff::run(&diff),
        Command::Lint(lint) => commands::lint::run(&lint),
        Command::Serve(serve) => commands::serve::run(&serve),
        Command::Registry(registry) => commands::registry::run(&registry.command),
        Command::Completions(completions) => commands::generate::completions(&completions),
        Command::Man(man) => commands::generate::man(&man),
    }
}
