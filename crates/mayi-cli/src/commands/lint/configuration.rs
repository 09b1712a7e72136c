//! `mayi.toml` and the words of the command line → the options of each file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use mayi::lint::{Options, Severity, nearest};
use toml::Table;

use super::sources::Source;
use super::{FailOn, LintArgs, crawlers};
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
            apply(&text, &mut settings)
                .map_err(|message| Failure::new(format_args!("{name}: {message}")))?;
        }
        let args = self.args;
        if !args.agents.is_empty() {
            settings.options = settings.options.with_agents(crawlers(&args.agents)?);
        }
        for name in &args.disable {
            settings.options.disable(name).map_err(Failure::new)?;
        }
        for name in &args.enable {
            settings.options.enable(name).map_err(Failure::new)?;
        }
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

const TABLES: &[&str] = &["lint"];
const KEYS: &[&str] = &["disable", "enable", "fail-on", "severity", "agents"];

/// Lays what a configuration file says over settings.
fn apply(text: &str, settings: &mut Settings) -> Result<(), String> {
    let table: Table = text.parse().map_err(|error| unparsed(text, &error))?;
    let check_keys = |before: &str, table: &Table, known: &[&str]| {
        check_keys(before, table, known).map_err(|(key, message)| match line_of(text, key) {
            Some(line) => format!("line {line}: {message}"),
            None => message,
        })
    };
    check_keys("", &table, TABLES)?;
    let Some(lint) = table.get("lint") else { return Ok(()) };
    let lint = lint.as_table().ok_or("`lint` is a table: `[lint]`")?;
    check_keys("lint.", lint, KEYS)?;
    for name in strings(lint, "disable")? {
        settings.options.disable(&name).map_err(|error| error.to_string())?;
    }
    for name in strings(lint, "enable")? {
        settings.options.enable(&name).map_err(|error| error.to_string())?;
    }
    if let Some(value) = lint.get("fail-on") {
        settings.fail_on = match value.as_str() {
            Some("note") => FailOn::Note,
            Some("warning") => FailOn::Warning,
            Some("error") => FailOn::Error,
            Some("never") => FailOn::Never,
            _ => {
                return Err(
                    "`lint.fail-on` is \"note\", \"warning\", \"error\" or \"never\"".to_owned()
                );
            }
        };
    }
    if let Some(value) = lint.get("severity") {
        let table = value.as_table().ok_or("`lint.severity` is a table: { S001 = \"error\" }")?;
        for (name, value) in table {
            let severity = value.as_str().and_then(Severity::named);
            let severity = severity.ok_or_else(|| {
                format!("`lint.severity.{name}` is \"note\", \"warning\" or \"error\"")
            })?;
            settings.options.set_severity(name, severity).map_err(|error| error.to_string())?;
        }
    }
    let agents = strings(lint, "agents")?;
    if !agents.is_empty() {
        let agents = crawlers(&agents).map_err(|failure| match failure {
            Failure::Message(message) => message,
            Failure::BrokenPipe => String::new(),
        })?;
        settings.options = settings.options.clone().with_agents(agents);
    }
    Ok(())
}

/// What is wrong with a file that is not TOML, and on which line.
fn unparsed(text: &str, error: &toml::de::Error) -> String {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
    format!("line {line}: {}", error.message())
}

/// The line that a key stands on, as a table or with a value.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let is_it = |line: &str| {
        let name = line.trim_start().trim_start_matches(['[', '"', ' ']);
        let behind = name.strip_prefix(key).map(|behind| behind.trim_start_matches(['"', ' ', '\t']));
        behind.is_some_and(|behind| behind.starts_with(['=', ']', '.']))
    };
    text.lines().position(is_it).map(|place| place + 1)
}

/// Fails at the first key that nobody knows, and names the one that is probably meant.
fn check_keys<'t>(before: &str, table: &'t Table, known: &[&str]) -> Result<(), (&'t str, String)> {
    let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
    let meant = match nearest(key, known.iter().copied()) {
        Some(near) => format!("perhaps `{before}{near}` is meant"),
        None => format!("known are {}", known.join(", ")),
    };
    Err((key, format!("`{before}{key}` is not known; {meant}")))
}

fn strings(table: &Table, key: &str) -> Result<Vec<String>, String> {
    let Some(value) = table.get(key) else { return Ok(Vec::new()) };
    let wrong = || format!("`lint.{key}` is a list of names: [\"…\"]");
    let values = value.as_array().ok_or_else(wrong)?;
    values.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn wrong(text: &str) -> String {
        let mut settings = Settings { options: Options::default(), fail_on: FailOn::Warning };
        apply(text, &mut settings).expect_err("it is wrong")
    }

    #[test]
    fn unknown_keys_name_the_nearest_known_one() {
        assert_eq!(wrong("[lnit]"), "line 1: `lnit` is not known; perhaps `lint` is meant");
        assert_eq!(
            wrong("[lint]\ndisabel = []"),
            "line 2: `lint.disabel` is not known; perhaps `lint.disable` is meant"
        );
        assert!(wrong("[lint]\nx = 1").contains("known are disable, enable"));
        let broken = wrong("[lint]\nx =\n");
        assert!(broken.starts_with("line 2: ") && !broken.contains('\n'), "{broken}");
        assert!(wrong("[lint]\ndisable = [\"missing-colons\"]").contains("`missing-colon`"));
        assert!(wrong("[lint]\nfail-on = \"bad\"").contains("\"never\""));
        assert!(wrong("[lint]\nseverity = { S001 = 1 }").contains("lint.severity.S001"));
        assert!(wrong("[lint]\nagents = [\"a b\"]").contains("is not a product token"));
    }
}
