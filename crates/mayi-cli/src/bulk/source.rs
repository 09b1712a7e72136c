//! An origin → its robots.txt: one file for all, a folder with a file for each, or what a store keeps.
//!
//! The names of hosts come from others. Nothing of them reaches the file system that is not a letter,
//! a digit, a dot, a hyphen or an underscore.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use mayi::access::{AccessResult, Origin};
use mayi_fetch::blocking::Fetcher;

/// What is known of an origin's robots.txt.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// Its octets, and the Content-Type that came with them, if one did.
    File(Vec<u8>, Option<Box<str>>),
    /// There is no file, and that was an answer.
    Ended(AccessResult),
    /// Nobody asked for it yet.
    Missing,
    /// It is there, but can't be read.
    Unreadable(String),
}

/// Where the files are.
pub(crate) enum Robots {
    /// This is the file of every origin.
    One(Vec<u8>),
    /// Each origin has its own.
    Each(Box<dyn Source>),
}

/// Finds the robots.txt of an origin.
pub(crate) trait Source: Sync {
    /// What is known of it.
    fn find(&self, origin: &Origin) -> Found;
}

/// A folder with a file for each origin.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// How many octets of a file are of interest.
    most: u64,
}

impl Folder {
    /// The folder at a path, which has to be one.
    pub(crate) fn new(path: &Path, most: u64) -> io::Result<Self> {
        fs::read_dir(path)?;
        Ok(Self { path: path.to_owned(), most })
    }
}

impl Source for Folder {
    fn find(&self, origin: &Origin) -> Found {
        for stem in stems(origin).into_iter().flatten() {
            for name in [format!("{stem}.txt"), format!("{stem}/robots.txt"), stem] {
                match read(&self.path.join(name), self.most) {
                    Ok(Some(octets)) => return Found::File(octets, None),
                    Ok(None) => {}
                    Err(error) => return Found::Unreadable(error.to_string()),
                }
            }
        }
        Found::Missing
    }
}

/// What a store keeps of each origin, however old it is: nobody is asked.
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
}

/// The octets of a regular file, or nothing where there is none.
fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let is_absent = |error: &io::Error| {
        use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
        matches!(error.kind(), NotFound | NotADirectory | InvalidFilename)
    };
    // A pipe would be waited for, and a folder is no file.
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut octets = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut octets)?;
    Ok(Some(octets))
}

/// The names that an origin's file may have, without what stands behind them: the most telling first.
/// There are none for a host that could lead out of the folder.
fn stems(origin: &Origin) -> Option<[String; 2]> {
    let (scheme, port) = (origin.scheme(), origin.port());
    // A colon is no part of a file's name everywhere.
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
        for url in ["http://a%2f..%2fb/", "http://a\\..\\b/", "http://a\0b/", "http://C:\\x/"] {
            assert!(Origin::of_url(url).is_err(), "{url}");
        }
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
