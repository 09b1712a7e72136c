//! Rows → standard output, or a file that appears only when it is complete.
//!
//! If the system supports it, a new file has no name while it is written, so that nothing is left behind
//! however the process ends. Otherwise it has a temporary name, and is removed if something goes wrong.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mayi_tables::compressed::{Compression, Compressor};

use crate::exit::Failure;
use crate::text::RowsOut;

/// Where rows go.
pub(crate) struct Output {
    to: Compressor<BufWriter<Place>>,
    /// The file, for messages.
    path: Option<PathBuf>,
    /// Whether the reader has closed it.
    is_closed: Arc<AtomicBool>,
}

enum Place {
    Stdout(RowsOut),
    /// A pipe or a device, which is written to as it is.
    There(File),
    New(NewFile),
}

impl Output {
    /// Standard output, or a file that is none of the inputs. It is compressed as its ending says.
    pub(crate) fn create<'p>(
        path: Option<&Path>,
        inputs: impl IntoIterator<Item = &'p Path>,
    ) -> Result<Self, Failure> {
        let path = path.filter(|path| *path != Path::new("-"));
        let compression = path.and_then(Compression::of_name);
        let place = match path {
            None => Place::Stdout(RowsOut::new()),
            Some(path) => Place::open(path, inputs).map_err(|error| unwritable(path, &error))?,
        };
        // Rows come in large pieces; small ones go to a terminal or a pipe at once all the same.
        let to = Compressor::new(BufWriter::with_capacity(1 << 16, place), compression)?;
        Ok(Self { to, path: path.map(Path::to_owned), is_closed: Arc::default() })
    }

    /// The file, where there is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Whether it is shown to a person.
    pub(crate) fn is_terminal(&self) -> bool {
        self.path.is_none() && io::stdout().is_terminal()
    }

    /// Whether the reader has closed it, for callers that do not get the kind of an error.
    #[cfg(feature = "columns")]
    pub(crate) fn is_closed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_closed)
    }

    /// Ends the output, and moves a new file into its place. Without this call there is no file.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let Self { to, path, .. } = self;
        let finish = || match to.finish()?.into_inner().map_err(io::IntoInnerError::into_error)? {
            Place::Stdout(mut stdout) => stdout.flush(),
            Place::There(_) => Ok(()),
            Place::New(file) => file.finish(),
        };
        finish().map_err(|error| told(path.as_deref(), error).into())
    }
}

impl Write for Output {
    fn write(&mut self, rows: &[u8]) -> io::Result<usize> {
        self.to.write(rows).map_err(|error| {
            self.is_closed.store(error.kind() == io::ErrorKind::BrokenPipe, Ordering::Relaxed);
            told(self.path.as_deref(), error)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush().map_err(|error| told(self.path.as_deref(), error))
    }
}

/// An error with the name of the file.
fn told(path: Option<&Path>, error: io::Error) -> io::Error {
    match path {
        None => error,
        Some(path) => io::Error::new(error.kind(), format!("`{}`: {error}", path.display())),
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format_args!("`{}` can't be written: {error}", path.display()))
}

impl Place {
    fn open<'p>(path: &Path, inputs: impl IntoIterator<Item = &'p Path>) -> io::Result<Self> {
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                fs::canonicalize(folder.unwrap_or(Path::new(".")))?.join(name)
            }
            Err(error) => return Err(error),
        };
        if inputs.into_iter().any(|input| fs::canonicalize(input).is_ok_and(|input| input == real)) {
            return Err(io::Error::other("it is one of the inputs; choose another name"));
        }
        match fs::metadata(&real) {
            Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => {
                Ok(Self::There(OpenOptions::new().write(true).open(&real)?))
            }
            there => {
                let file = NewFile::create(real)?;
                if let Ok(there) = there {
                    file.file.set_permissions(there.permissions())?;
                }
                Ok(Self::New(file))
            }
        }
    }
}

impl Write for Place {
    fn write(&mut self, rows: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(rows),
            Self::There(file) => file.write(rows),
            Self::New(new) => new.file.write(rows),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Self::Stdout(stdout) = self { stdout.flush() } else { Ok(()) }
    }
}

/// A file that is not in its place yet. If it is dropped before that, it is removed.
struct NewFile {
    file: File,
    /// Where it is to be.
    path: PathBuf,
    /// Its other name, and whether it has that by now.
    beside: PathBuf,
    is_named: bool,
}

impl NewFile {
    fn create(path: PathBuf) -> io::Result<Self> {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}.part", std::process::id()));
        let beside = path.with_file_name(name);
        if let Some(file) = nameless(&path) {
            return Ok(Self { file, path, beside, is_named: false });
        }
        let file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
        Ok(Self { file, path, beside, is_named: true })
    }

    fn finish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        if !self.is_named {
            name(&self.file, &self.beside)?;
            self.is_named = true;
        }
        fs::rename(&self.beside, &self.path)?;
        self.is_named = false;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.is_named {
            // What can't be removed stays, and the failure that led here was already reported.
            let _ = fs::remove_file(&self.beside);
        }
    }
}

/// A file without a name on the disk of a path, where the system has such files.
#[cfg(target_os = "linux")]
fn nameless(path: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = open(path.parent()?, flags, Mode::from_raw_mode(0o666)).ok()?;
    // Its name is given to it by way of this folder.
    Path::new("/proc/self/fd").is_dir().then(|| File::from(file))
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> Option<File> {
    None
}

/// Gives a name to a file without one.
#[cfg(target_os = "linux")]
fn name(file: &File, path: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let follow = rustix::fs::AtFlags::SYMLINK_FOLLOW;
    Ok(rustix::fs::linkat(rustix::fs::CWD, &*link, rustix::fs::CWD, path, follow)?)
}

#[cfg(not(target_os = "linux"))]
fn name(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is in a folder.
    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_when_it_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.tsv");
        fs::write(&path, "old").expect("a file");
        for finishes in [false, true] {
            let mut output = Output::create(Some(&path), []).expect("it opens");
            output.write_all(b"new\n").expect("it is written");
            output.flush().expect("it is written");
            assert_eq!(fs::read(&path).expect("a file"), b"old");
            if finishes {
                output.finish().expect("it is moved");
            }
        }
        assert_eq!(fs::read(&path).expect("a file"), b"new\n");
        assert_eq!(names(folder.path()), ["out.tsv"]);
    }

    /// For systems that do not support files without a name.
    #[test]
    fn a_file_with_another_name_is_removed_or_moved() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out");
        let beside = folder.path().join(".out.part");
        for finishes in [false, true] {
            let file = File::create(&beside).expect("a file");
            let new = NewFile { file, path: path.clone(), beside: beside.clone(), is_named: true };
            if finishes {
                new.finish().expect("it is moved");
            } else {
                drop(new);
                assert_eq!(names(folder.path()), [""; 0]);
            }
        }
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    fn what_must_not_be_written_to_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let input = folder.path().join("in.tsv");
        fs::write(&input, "x").expect("a file");
        let same = folder.path().join(".").join("in.tsv");
        for (path, part) in [
            (&*same, "one of the inputs"),
            (folder.path(), "directory"),
            (&*folder.path().join("none").join("out"), "can't be written"),
        ] {
            let Err(Failure::Message(message)) = Output::create(Some(path), [&*input]) else {
                panic!("{} is refused", path.display());
            };
            assert!(message.contains(part), "{message}");
        }
    }
}
