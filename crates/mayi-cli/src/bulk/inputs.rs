//! The caller's files and folders → the inputs, in a fixed order.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::exit::Failure;
use crate::input;

/// The files that were named, in their order. In the place of a folder come all files in it and in its folders, in the
/// order of the octets of their names. Names that start with `.` or `_` are left out: programs that write
/// folders use them for files without rows. Without any name, the input is standard input.
pub(crate) fn expanded(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in named {
        let is_folder = path.as_os_str() != "-"
            && fs::metadata(path).map_err(|error| input::unreadable(path, &error))?.is_dir();
        if !is_folder {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        add_folder(path, &mut files)?;
        if files.len() == before {
            return Err(Failure::new(format_args!("there are no files in `{}`", input::name(path))));
        }
    }
    if named.is_empty() {
        files.push(PathBuf::from("-"));
    }
    Ok(files)
}

fn add_folder(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unreadable = |error: io::Error| input::unreadable(folder, &error);
    let entries = fs::read_dir(folder).map_err(unreadable)?.collect::<io::Result<Vec<_>>>();
    let mut entries = entries.map_err(unreadable)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        if matches!(entry.file_name().as_encoded_bytes().first(), Some(b'.' | b'_')) {
            continue;
        }
        // A link to a folder is not followed: it could lead back to where it is.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            add_folder(&entry.path(), files)?;
        } else if entry.path().is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}
