//! `mayi completions` and `mayi man`: made from the definition of the command itself.

use std::io::{self, Write};

use clap::CommandFactory;

use crate::cli::{Cli, Completions, Man};
use crate::exit::{Exit, Failure};

pub(crate) fn completions(completions: &Completions) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut Cli::command(), "mayi", &mut script);
    io::stdout().write_all(&script)?;
    Ok(Exit::Allowed)
}

pub(crate) fn man(man: &Man) -> Result<Exit, Failure> {
    let command = Cli::command();
    if let Some(folder) = &man.folder {
        clap_mangen::generate_to(command, folder).map_err(|error| {
            Failure::new(format_args!("`{}` can't be written: {error}", folder.display()))
        })?;
    } else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        io::stdout().write_all(&page)?;
    }
    Ok(Exit::Allowed)
}
