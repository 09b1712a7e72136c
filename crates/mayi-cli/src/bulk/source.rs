//! An origin → its robots.txt: a folder with a file for each, or what a store keeps.
//!
//! Host names are not trusted. Only letters, digits, dots, hyphens and underscores of them reach the file
//! system.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use mayi::access::Origin;
use mayi_fetch::blocking::Fetcher;
use mayi_fetch::kept::FileCopy;
use mayi_tables::files::{Found, History, Source};

/// A folder with a file for each origin.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// How many octets of a file are of interest.
    most: usize,
    /// The kinds of names that it had when the run began. Most folders have one kind, so that one name
    /// is tried for an origin and not six.
    kinds: Kinds,
}

impl Folder {
    /// The folder at a path, which has to be one.
    pub(crate) fn new(path: &Path, most: usize) -> io::Result<Self> {
        let kinds = Kinds::of(fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.file_name())));
        Ok(Self { path: path.to_owned(), most, kinds })
    }

    /// What an entry of the folder says about an origin, if it is there.
    fn look(&self, name: &str) -> Option<Found> {
        let path = self.path.join(name);
        let read = match read(&path, self.most) {
            Ok(Entry::Folder) if !is_text(name.as_bytes()) => read(&path.join("robots.txt"), self.most),
            read => read,
        };
        match read {
            Ok(Entry::File(octets)) => Some(Found::File(octets, None)),
            Ok(Entry::Folder | Entry::Absent) => None,
            Err(error) => Some(Found::Unreadable(error.to_string())),
        }
    }
}

impl Source for Folder {
    fn find(&self, origin: &Origin) -> Found {
        let Some([long, short]) = stems(origin) else { return Found::Missing };
        let names = [format!("{long}.txt"), long, format!("{short}.txt"), short];
        let (likely, other): (Vec<_>, Vec<_>) =
            names.iter().partition(|name| self.kinds.has(name.as_bytes()));
        // The folder may have got names of another kind since the run began.
        let found = likely.into_iter().chain(other).find_map(|name| self.look(name));
        found.unwrap_or(Found::Missing)
    }
}

/// Which kinds of names a folder has: whether one starts with a scheme, and whether it ends in `.txt`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Kinds([[bool; 2]; 2]);

impl Kinds {
    /// So many names are looked at; a larger folder is taken to have all kinds.
    const MOST_NAMES: usize = 1_000_000;

    const ALL: Self = Self([[true; 2]; 2]);

    fn of(names: impl Iterator<Item = io::Result<OsString>>) -> Self {
        let mut kinds = Self::default();
        for (count, name) in names.enumerate() {
            let Ok(name) = name else { return Self::ALL };
            let (scheme, text) = Self::kind(name.as_encoded_bytes());
            kinds.0[scheme][text] = true;
            if kinds == Self::ALL || count == Self::MOST_NAMES {
                return Self::ALL;
            }
        }
        kinds
    }

    fn has(self, name: &[u8]) -> bool {
        let (scheme, text) = Self::kind(name);
        self.0[scheme][text]
    }

    /// A name that is there has the kind that it is looked for by, also where the case of letters does
    /// not matter to the file system.
    fn kind(name: &[u8]) -> (usize, usize) {
        let starts = |scheme: &&str| {
            let start = name.get(..scheme.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
        };
        let has_scheme = ["http_", "https_", "ftp_"].iter().any(starts);
        (usize::from(has_scheme), usize::from(is_text(name)))
    }
}

/// Whether a name ends in `.txt`.
fn is_text(name: &[u8]) -> bool {
    name.last_chunk().is_some_and(|end: &[u8; 4]| end.eq_ignore_ascii_case(b".txt"))
}

/// The entry of each origin in a store, however old it is: nothing is fetched.
pub(crate) struct Stored(pub(crate) Fetcher);

impl Source for Stored {
    fn find(&self, origin: &Origin) -> Found {
        let robots = self.0.robots(origin);
        match (robots.robots_txt(), &robots.kept().copy) {
            _ if !robots.is_known() => Found::Missing,
            (Some(_), Some(copy)) => Found::File(copy.body.to_vec(), copy.content_type.clone()),
            _ => Found::Ended(robots.access().clone()),
        }
    }

    fn history(&self, origin: &Origin) -> History {
        let robots = self.0.robots(origin);
        let kept = robots.kept();
        let version = |copy: &FileCopy| (copy.since, copy.body.to_vec(), copy.content_type.clone());
        let mut earlier: Vec<_> = kept.earlier.iter().map(version).collect();
        let since = if robots.robots_txt().is_some() {
            kept.copy.as_ref().map(|copy| copy.since)
        } else {
            // There was a file, and now there is none.
            earlier.extend(kept.copy.as_ref().map(version));
            kept.last.failing_since
        };
        History::new(since, earlier)
    }
}

/// What is at a path.
enum Entry {
    /// A regular file, with its first octets.
    File(Vec<u8>),
    Folder,
    /// Nothing, or nothing that can be read as a file.
    Absent,
}

/// Reads up to so many octets of a regular file.
fn read(path: &Path, most: usize) -> io::Result<Entry> {
    let is_absent = |error: &io::Error| {
        use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
        matches!(error.kind(), NotFound | NotADirectory | InvalidFilename)
    };
    // Opening a pipe would block, and a folder is not a file.
    let size = match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => usize::try_from(metadata.len()).unwrap_or(usize::MAX),
        Ok(metadata) if metadata.is_dir() => return Ok(Entry::Folder),
        Ok(_) => return Ok(Entry::Absent),
        Err(error) if is_absent(&error) => return Ok(Entry::Absent),
        Err(error) => return Err(error),
    };
    read_sized(&mut File::open(path)?, size, most).map(Entry::File)
}

/// Reads up to so many octets of what is expected to have `size` of them. The buffer has room for one more
/// octet, so that a read that does not fill it has reached the end, and no second read is needed.
fn read_sized(file: &mut impl Read, size: usize, most: usize) -> io::Result<Vec<u8>> {
    let mut octets = vec![0; size.saturating_add(1).min(most)];
    let mut filled = 0;
    while filled < most {
        if filled == octets.len() {
            // It has grown, or does not know its size.
            octets.resize(filled.saturating_mul(2).max(8192).min(most), 0);
        }
        match file.read(&mut octets[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        if filled == size && filled < octets.len() {
            break;
        }
    }
    octets.truncate(filled);
    Ok(octets)
}

/// The names that an origin's file may have, without their endings: the most specific first.
/// There are none for a host that could lead out of the folder.
fn stems(origin: &Origin) -> Option<[String; 2]> {
    let (scheme, port) = (origin.scheme(), origin.port());
    // Not every system allows a colon in a file name.
    let host = origin.host().replace(':', "_");
    let name = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
    let is_plain = |octet: u8| octet.is_ascii_alphanumeric() || b"._-".contains(&octet);
    if name.starts_with('.') || name.is_empty() || !name.bytes().all(is_plain) {
        return None;
    }
    let is_default = origin.to_string() == format!("{scheme}://{}", origin.host());
    let short = if is_default { host.clone() } else { format!("{host}_{port}") };
    Some([format!("{scheme}_{host}_{port}"), short])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(url: &str) -> Option<[String; 2]> {
        stems(&Origin::of_url(url).expect(url))
    }

    #[test]
    fn names_of_files() {
        for (url, long, short) in [
            ("https://Example.com/a", "https_example.com_443", "example.com"),
            ("http://example.com:80", "http_example.com_80", "example.com"),
            ("http://example.com:443/", "http_example.com_443", "example.com_443"),
            ("https://bücher.example/", "https_xn--bcher-kva.example_443", "xn--bcher-kva.example"),
            ("http://[2001:DB8::1]:8080/", "http_[2001_db8__1]_8080", "[2001_db8__1]_8080"),
            ("http://127.1/", "http_127.0.0.1_80", "127.0.0.1"),
        ] {
            assert_eq!(names(url), Some([long.to_owned(), short.to_owned()]));
        }
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        for url in ["http://../../etc/passwd", "http://./x", "http://.hidden/", "http://..%2f/"] {
            if let Ok(origin) = Origin::of_url(url) {
                assert_eq!(stems(&origin), None, "{url}");
            }
        }
        for url in ["http://a%2f..%2fb/", "http://a%5C..%5Cb/", "http://a\0b/"] {
            assert!(Origin::of_url(url).is_err(), "{url}");
        }
        // A backslash ends the authority.
        for (url, host) in [("http://a\\..\\b/", "a"), ("http://C:\\x/", "c")] {
            assert_eq!(Origin::of_url(url).expect(url).host(), host);
        }
    }

    #[test]
    fn a_name_of_any_kind_is_found_whatever_the_folder_had_at_first() {
        let forms = [
            "https_example.com_443.txt",
            "https_example.com_443/robots.txt",
            "https_example.com_443",
            "example.com.txt",
            "example.com/robots.txt",
            "example.com",
        ];
        let origin = Origin::of_url("https://example.com/").expect("a URL");
        let write = |folder: &Path, form: &str, text: &str| {
            let path = folder.join(form);
            fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
            fs::write(path, text).expect("it can be written");
        };
        for form in forms {
            let folder = tempfile::tempdir().expect("a folder");
            let before = Folder::new(folder.path(), 100).expect("it is one");
            // A folder of another kind, from which the kind of this name is missing.
            for other in ["other.example", "other.example.txt", "http_other.example_80"] {
                let folder = tempfile::tempdir().expect("a folder");
                write(folder.path(), other, "");
                let source = Folder::new(folder.path(), 100).expect("it is one");
                write(folder.path(), form, form);
                let found = source.find(&origin);
                assert!(matches!(found, Found::File(octets, _) if octets == form.as_bytes()), "{form}");
            }
            write(folder.path(), form, form);
            let after = Folder::new(folder.path(), 100).expect("it is one");
            for source in [before, after] {
                let found = source.find(&origin);
                assert!(matches!(found, Found::File(octets, _) if octets == form.as_bytes()), "{form}");
            }
        }
        // Of a host that ends as a text file does, the name without another ending is a file too.
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), "a.txt", "x");
        let source = Folder::new(folder.path(), 100).expect("it is one");
        let found = source.find(&Origin::of_url("https://a.txt/").expect("a URL"));
        assert!(matches!(found, Found::File(octets, _) if octets == b"x"));
    }

    /// Gives at most so many octets at once.
    struct Slow<'o>(&'o [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(buffer.len());
            self.0.read(&mut buffer[..count])
        }
    }

    #[test]
    fn a_file_is_read_whole_whatever_its_size_was_said_to_be() {
        let octets: Vec<u8> = (0..20_000_u32).map(|number| number as u8).collect();
        for said in [0, 1, 19_999, 20_000, 20_001, 30_000] {
            for at_once in [1, 4096, usize::MAX] {
                for most in [0, 1, 19_999, 20_000, 20_001, 1 << 20] {
                    let read = read_sized(&mut Slow(&octets, at_once), said, most).expect("it can");
                    let expected = &octets[..most.min(octets.len())];
                    // Who says its size and gives it in one piece is not asked for more.
                    let is_cut = read.len() == said && said < expected.len();
                    assert!(read == expected || is_cut, "{said} {at_once} {most}: {}", read.len());
                }
            }
        }
        let whole = read_sized(&mut Slow(&octets, usize::MAX), 20_000, 1 << 20).expect("it can");
        assert_eq!(whole, octets);
    }

    #[test]
    fn the_most_telling_name_is_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = Folder::new(folder.path(), 100).expect("it is one");
        let find = || match source.find(&Origin::of_url("https://example.com/").expect("a URL")) {
            Found::File(octets, _) => Some(String::from_utf8(octets).expect("UTF-8")),
            Found::Missing => None,
            found => panic!("{found:?}"),
        };
        assert_eq!(find(), None);
        for name in ["example.com.txt", "https_example.com_443", "https_example.com_443.txt"] {
            fs::write(folder.path().join(name), name).expect("it can be written");
            assert_eq!(find().as_deref(), Some(name));
        }
        let folder = tempfile::tempdir().expect("a folder");
        let source = Folder::new(folder.path(), 4).expect("it is one");
        fs::create_dir(folder.path().join("example.com")).expect("a folder");
        let find = |url| source.find(&Origin::of_url(url).expect("a URL"));
        assert!(matches!(find("http://example.com/"), Found::Missing), "a folder is no file");
        fs::write(folder.path().join("example.com/robots.txt"), "inner").expect("it can be written");
        assert!(matches!(find("http://example.com/"), Found::File(octets, _) if octets == b"inne"));
        assert!(matches!(find("http://example.com:81/"), Found::Missing), "another authority");
        let long = format!("http://{}/", "a".repeat(5000));
        assert!(matches!(find(&long), Found::Missing), "no file can have that name");
    }
}
