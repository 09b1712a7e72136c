//! The `mayi.toml` that applies to a file, and the command-line options → the options of the file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use mayi::lint::{Configuration, FailOn, Options};

use super::sources::Source;
use super::{LintArgs, crawlers};
use crate::exit::Failure;
use crate::input;

/// What holds for a file.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) options: Options,
    pub(super) fail_on: FailOn,
}

/// Finds the configuration of each file, and reads each once.
pub(super) struct Configurations<'a> {
    args: &'a LintArgs,
    base: Options,
    /// By folder, what was found for it.
    known: Mutex<HashMap<PathBuf, Result<Arc<Settings>, String>>>,
}

impl<'a> Configurations<'a> {
    pub(super) fn new(args: &'a LintArgs, base: Options) -> Self {
        Self { args, base, known: Mutex::default() }
    }

    /// The settings of a source.
    pub(super) fn of(&self, source: &Source) -> Result<Arc<Settings>, Failure> {
        let folder = if self.args.config.is_some() { PathBuf::new() } else { source.folder() };
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let settings = known.entry(folder).or_insert_with_key(|folder| {
            self.read(folder).map(Arc::new).map_err(|failure| match failure {
                Failure::Message(message) => message,
                Failure::BrokenPipe => String::new(),
            })
        });
        settings.clone().map_err(Failure::new)
    }

    fn read(&self, folder: &Path) -> Result<Settings, Failure> {
        let path = match &self.args.config {
            Some(path) => Some(path.clone()),
            None => above(folder),
        };
        let mut settings = Settings { options: self.base.clone(), fail_on: FailOn::Warning };
        if let Some(path) = path {
            let name = input::name(&path);
            let text =
                std::fs::read_to_string(&path).map_err(|error| input::unreadable(&path, &error))?;
            let configuration = Configuration::parse(&text)
                .map_err(|error| Failure::new(format_args!("{name}: {error}")))?;
            settings.options = configuration.over(settings.options);
            settings.fail_on = configuration.fail_on().unwrap_or(settings.fail_on);
        }
        let args = self.args;
        if !args.agents.is_empty() {
            settings.options = settings.options.with_agents(crawlers(&args.agents)?);
        }
        settings.options.choose(&args.select, &args.ignore).map_err(Failure::new)?;
        for (name, severity) in &args.severity {
            settings.options.set_severity(name, *severity).map_err(Failure::new)?;
        }
        settings.fail_on = args.fail_on.unwrap_or(settings.fail_on);
        Ok(settings)
    }
}

/// The `mayi.toml` in a folder, or in one above it.
fn above(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().map(|folder| folder.join("mayi.toml")).find(|path| path.is_file())
}
