//! Fixes a file in its place, or shows what would change.

use mayi::lint::{Fixed, Options, fix};

use super::sources::Source;
use crate::commands::fmt::replace;
use crate::exit::Failure;
use crate::input;
use crate::unified;

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

    /// The difference, as `diff -u` prints it.
    pub(super) fn difference(&self, name: &str, is_file: bool) -> Vec<u8> {
        if !self.changes() {
            return Vec::new();
        }
        unified::difference(name, is_file, &self.before, &self.after.octets, unified::steps)
    }

    /// Writes the fixed file in its place. If it has no place, returns it, to be printed.
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
