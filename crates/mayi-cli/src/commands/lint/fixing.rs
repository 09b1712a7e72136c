//! Fixes a file in its place, or shows what would change.

use std::io::{self, Write};

use mayi::lint::{Fixed, Options, fix};
use similar::TextDiff;

use super::sources::Source;
use crate::commands::fmt::replace;
use crate::exit::Failure;
use crate::input;
use crate::text::{BAD, DIM, GOOD, shown, styled};

/// A file before and after its fixes.
pub(super) struct Fixing {
    before: Vec<u8>,
    after: Fixed,
}

impl Fixing {
    pub(super) fn of(octets: &[u8], options: &Options) -> Self {
        Self { before: octets.to_vec(), after: fix(octets, options) }
    }

    /// Whether there is anything to fix.
    pub(super) fn changes(&self) -> bool {
        self.before != self.after.octets
    }

    pub(super) fn into_octets(self) -> Vec<u8> {
        self.after.octets
    }

    /// The difference, as `diff -u` prints it. Octets that a terminal could take as a command are
    /// escaped, so that it is for people and not for `patch`.
    pub(super) fn write_diff(&self, out: &mut impl Write, name: &str) -> io::Result<()> {
        if !self.changes() {
            return Ok(());
        }
        let diff = TextDiff::from_lines(&self.before[..], &self.after.octets[..]);
        writeln!(out, "--- {name}\n+++ {name} (fixed)")?;
        for hunk in diff.unified_diff().context_radius(2).iter_hunks() {
            writeln!(out, "{}", styled(DIM, hunk.header()))?;
            for change in hunk.iter_changes() {
                let line: &[u8] = change.value();
                let line = line.strip_suffix(b"\n").unwrap_or(line);
                let line = shown(line.strip_suffix(b"\r").unwrap_or(line));
                match change.tag() {
                    similar::ChangeTag::Equal => writeln!(out, " {line}")?,
                    similar::ChangeTag::Delete => {
                        writeln!(out, "{}", styled(BAD, format_args!("-{line}")))?;
                    }
                    similar::ChangeTag::Insert => {
                        writeln!(out, "{}", styled(GOOD, format_args!("+{line}")))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts the fixed file in its place. Where it has none, gives it, to be printed.
    pub(super) fn write(&self, source: &Source) -> Result<Option<Vec<u8>>, Failure> {
        match source {
            Source::StandardInput | Source::Url(_) => return Ok(Some(self.after.octets.clone())),
            Source::Path(path) if self.changes() => {
                replace(path, &self.after.octets).map_err(|error| {
                    Failure::new(format_args!("`{}` can't be written: {error}", input::name(path)))
                })?;
            }
            Source::Path(_) => {}
        }
        Ok(None)
    }
}
