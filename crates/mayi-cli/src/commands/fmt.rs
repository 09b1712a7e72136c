//! `mayi fmt`: formats files in place, without changing what any crawler reads in them.
//!
//! `mayi::format` formats, and checks that nothing changes; this file replaces files and shows differences.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::exit::{Exit, Failure};
use crate::input::{self, Loaded};
use crate::text::shown;
use crate::unified::{self, Step};

#[derive(Debug, Args)]
#[command(after_help = "\
Directive names get their usual spelling, `Name: value` gets one space, groups
get one blank line between them, and all lines end in the same way. No crawler
reads the file differently afterwards, in any dialect: misspelled names stay,
because not every crawler accepts them, and no line is moved. A file over 500 KiB
or in UTF-16 is not changed.

Examples:
  mayi fmt robots.txt
  mayi fmt --check robots.txt

Exit status: 0 every file is formatted, 1 one is not (--check, --diff), 2 one
could not be read or written.")]
pub(crate) struct Fmt {
    /// The files to format in place; `-` reads standard input and prints the result
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,

    /// Change nothing; list the files that would change
    #[arg(long)]
    check: bool,

    /// Change nothing; show what would change
    #[arg(long)]
    diff: bool,
}

pub(crate) fn run(fmt: &Fmt) -> Result<Exit, Failure> {
    input::one_reader(fmt.files.iter().map(Path::new))?;
    let mut out = crate::text::out();
    let mut exit = Exit::Allowed;
    for source in &fmt.files {
        match run_one(fmt, source, &mut out) {
            Ok(changes) if changes => exit = exit.max(Exit::Disallowed),
            Ok(_) => {}
            Err(Failure::Message(message)) => {
                // The other files are still formatted.
                out.flush()?;
                anstream::eprintln!("mayi: {}", shown(message.as_bytes()));
                exit = Exit::NoAnswer;
            }
            Err(broken) => return Err(broken),
        }
    }
    out.flush()?;
    Ok(exit)
}

/// Formats one file. Returns whether it would change and was not written.
fn run_one(fmt: &Fmt, source: &str, out: &mut impl Write) -> Result<bool, Failure> {
    let Loaded { name, octets, .. } = input::load_file(source)?;
    let formatted = mayi::format(&octets);
    if let Some(why) = formatted.unformatted() {
        out.flush()?;
        anstream::eprintln!("mayi: {name} is not changed: {}", why.summary());
    }
    if fmt.check || fmt.diff {
        if formatted.is_changed() {
            if fmt.check {
                writeln!(out, "{name}")?;
            }
            if fmt.diff {
                let is_file = source != "-";
                let difference =
                    unified::difference(source, is_file, &octets, formatted.octets(), steps);
                unified::print(out, &difference, is_file)?;
            }
        }
        return Ok(formatted.is_changed());
    }
    if source == "-" {
        out.flush()?;
        // The octets as they are: a file that is filtered is not shown.
        let mut stdout = io::stdout().lock();
        stdout.write_all(formatted.octets())?;
        stdout.flush()?;
    } else if formatted.is_changed() {
        let path = Path::new(source);
        replace(path, formatted.octets()).map_err(|error| {
            Failure::new(format_args!("`{}` can't be written: {error}", path.display()))
        })?;
        writeln!(out, "formatted {name}")?;
    } else if formatted.unformatted().is_none() {
        writeln!(out, "unchanged {name}")?;
    }
    Ok(false)
}

/// Replaces what a file has, at once and as a whole, with its permissions kept. Where the path is a
/// link, what it leads to is replaced.
pub(crate) fn replace(path: &Path, octets: &[u8]) -> io::Result<()> {
    let path = path.canonicalize()?;
    let permissions = fs::metadata(&path)?.permissions();
    if permissions.readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
    }
    let (new, mut file) = beside(&path)?;
    let written = file
        .write_all(octets)
        .and_then(|()| file.set_permissions(permissions))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&new, &path));
    if written.is_err() {
        // Only the first error is reported.
        let _ = fs::remove_file(&new);
    }
    written
}

/// A new file in the folder of another, so that it can be renamed to that.
fn beside(path: &Path) -> io::Result<(PathBuf, fs::File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut attempt = 0;
    loop {
        let new = path.with_file_name(format!(".{name}.{}-{attempt}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&new) {
            Ok(file) => return Ok((new, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Formatting keeps the lines that are not blank, in their order, so the two files can be compared line by
/// line without a search. Removed lines come before added ones.
fn steps<'f>(old: &[&'f [u8]], new: &[&'f [u8]]) -> Vec<Step<'f>> {
    let (mut steps, mut come) = (Vec::new(), Vec::new());
    let (mut old, mut new) = (old.iter().copied().peekable(), new.iter().copied().peekable());
    let is_blank = |line: &[u8]| line.trim_ascii().is_empty();
    loop {
        let (one, other) = match (old.peek().copied(), new.peek().copied()) {
            (None, None) => break,
            (Some(one), Some(other)) if is_blank(one) != is_blank(other) => {
                if is_blank(one) {
                    (old.next(), None)
                } else {
                    (None, new.next())
                }
            }
            _ => (old.next(), new.next()),
        };
        if one == other {
            steps.append(&mut come);
            steps.extend(one.map(Step::Same));
        } else {
            steps.extend(one.map(Step::Gone));
            come.extend(other.map(Step::New));
        }
    }
    steps.append(&mut come);
    steps
}
