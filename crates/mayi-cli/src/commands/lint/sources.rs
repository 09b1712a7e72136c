//! Words → the files that are linted, and their octets.

use std::borrow::Cow;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::exit::Failure;
use crate::fetching::Online;
use crate::input::{self, Loaded};

/// Where a file comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Path(PathBuf),
    StandardInput,
    Url(String),
}

impl Source {
    fn of(word: &str) -> Self {
        match word {
            "-" => Self::StandardInput,
            word => match input::url_of(word) {
                Some(url) => Self::Url(url.into_owned()),
                None => Self::Path(PathBuf::from(word)),
            },
        }
    }

    /// Whether it is a file that can be replaced.
    pub(super) fn is_file(&self) -> bool {
        matches!(self, Self::Path(_))
    }

    /// Its name in messages for people.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Path(path) => input::name(path),
            Self::StandardInput => input::name(Path::new("-")),
            Self::Url(url) => crate::text::shown(url.as_bytes()),
        }
    }

    /// The same for programs, which must find the file by it: nothing in it is escaped.
    pub(super) fn exactly<'n>(&'n self, name: &'n str) -> Cow<'n, str> {
        match self {
            Self::Path(path) => path.to_string_lossy(),
            Self::StandardInput | Self::Url(_) => Cow::Borrowed(name),
        }
    }

    /// The folder whose configuration applies to it.
    pub(super) fn folder(&self) -> PathBuf {
        let folder = match self {
            Self::Path(path) => path.parent().map(Path::to_owned).unwrap_or_default(),
            Self::StandardInput | Self::Url(_) => PathBuf::new(),
        };
        if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder }
    }
}

/// The octets of a source. No more is read than can matter, so that a file without an end costs no
/// more than a large one.
pub(super) fn load(source: &Source, limit: usize, online: &Online<'_>) -> Result<Loaded, Failure> {
    let path = match source {
        Source::Path(path) => path.as_path(),
        Source::StandardInput => Path::new("-"),
        Source::Url(url) => return online.load(url),
    };
    let mut octets = Vec::new();
    let most = limit.max(MOST_READ) as u64 + 1;
    let file = input::open(path)?;
    file.take(most).read_to_end(&mut octets).map_err(|error| input::unreadable(path, &error))?;
    Ok(Loaded { name: source.name(), octets, content_type: None })
}

/// How much of a file is read at least, to say how large it is.
const MOST_READ: usize = 16 << 20;

/// The sources that the arguments name, in order, and the folders that could not be read.
pub(super) fn find(words: &[String], every_file: bool) -> (Vec<Source>, Vec<String>) {
    let (mut sources, mut unreadable) = (Vec::new(), Vec::new());
    for word in words {
        match Source::of(word) {
            Source::Path(path) if path.is_dir() => {
                walk(&path, every_file, &mut sources, &mut unreadable);
            }
            source => sources.push(source),
        }
    }
    (sources, unreadable)
}

/// The files below a folder, by name. Links to folders are not followed, and what is hidden is passed
/// over.
fn walk(folder: &Path, every_file: bool, sources: &mut Vec<Source>, unreadable: &mut Vec<String>) {
    let before = unreadable.len();
    let mut pending = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = pending.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                unreadable.push(format!("`{}` can't be read: {error}", folder.display()));
                continue;
            }
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if name.starts_with('.') {
                continue;
            }
            if is_folder {
                pending.push(entry.path());
            } else if (every_file || is_robots_txt(&name)) && entry.path().is_file() {
                files.push(entry.path());
            }
        }
    }
    if files.is_empty() && unreadable.len() == before {
        let (what, hint) =
            if every_file { ("", "") } else { (" robots.txt", "; --every-file accepts any name") };
        unreadable.push(format!("there is no{what} file below `{}`{hint}", folder.display()));
    }
    files.sort();
    sources.extend(files.into_iter().map(Source::Path));
}

/// Whether a file of this name is a robots.txt.
fn is_robots_txt(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let stem = name.strip_suffix(".txt");
    stem.is_some_and(|stem| {
        stem == "robots" || stem.ends_with(".robots") || stem.starts_with("robots.")
    })
}
