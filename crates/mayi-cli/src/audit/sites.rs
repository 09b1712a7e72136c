//! Options → the files of sites: one, several with dates, a folder, a store, or fetched.
//!
//! The hosts in a log come from the clients of the server. So a host in a log never causes a fetch: only the
//! sites that the caller names are fetched.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use mayi::ReadOptions;
use mayi::access::{Origin, SiteFile};
use mayi::report::{Answering, rfc3339_of};
use mayi_audit::{File, Moment, OneSite, Site, Sites};
use mayi_tables::files::{Found, Source};

use crate::bulk::source::{Folder, Stored};
use crate::exit::Failure;
use crate::fetching::{self, Fetching};
use crate::input;

/// How many hosts are remembered that have no file.
const MOST_HOSTS: usize = 65_536;

/// `2026-10-01=old.txt` → the time and the path; a path alone applies from the beginning.
pub(crate) fn dated(word: &str) -> (Option<Moment>, &str) {
    match word.split_once('=') {
        Some((date, path)) => match date.parse() {
            Ok(moment) => (Some(moment), path),
            Err(_) => (None, word),
        },
        None => (None, word),
    }
}

/// One site with the files of these words.
pub(crate) fn of_files(words: &[String], options: &ReadOptions) -> Result<Box<dyn Sites>, Failure> {
    let mut versions = Vec::new();
    for word in words {
        let (moment, path) = dated(word);
        let loaded = input::load_file(path)?;
        let file = File::read(&loaded.name, loaded.octets, options);
        versions.push((moment.map(Moment::start), file));
    }
    let site = Site::changing(versions).map_err(|name| {
        Failure::new(format_args!("`{name}` applies from the same time as another file; give each a date, such as 2026-10-01={name}"))
    })?;
    Ok(Box::new(OneSite::new(site)))
}

/// The sites of these URLs, fetched.
pub(crate) fn of_urls(
    urls: &[String],
    fetching: &Fetching,
    options: &ReadOptions,
) -> Result<Box<dyn Sites>, Failure> {
    let fetcher = fetching::fetcher(fetching, Answering::default().with_options(options.clone()))?;
    let mut sites = HashMap::new();
    let mut files = Vec::new();
    for url in urls {
        let origin = Origin::of_url(url).map_err(Failure::new)?;
        let robots = fetcher.robots(&origin);
        let name = origin.robots_url();
        if robots.robots_txt().is_none() {
            let sentence = robots.file_report().sentence();
            anstream::eprintln!("mayi: {name}: {}", crate::text::shown(sentence.as_bytes()));
        }
        // The fetcher reads it with these options.
        let file = File::new(&name, robots.file().clone());
        files.push(Arc::clone(&file));
        let site = Arc::new(Site::always(file));
        // A server behind a proxy may write another port than the one of the site, or none.
        sites.insert(format!("{}:{}", origin.host(), origin.port()), Arc::clone(&site));
        sites.entry(origin.host().to_owned()).or_insert(site);
    }
    fetching::tell(&fetcher);
    if let [file] = &files[..] {
        return Ok(Box::new(OneSite::new(Site::always(Arc::clone(file)))));
    }
    Ok(Box::new(Named { sites, files }))
}

/// A host without its port.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|octet| octet.is_ascii_digit()) => name,
        _ => host,
    }
}

/// The seconds since 1970.
fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Sites that are known by their hosts from the start.
struct Named {
    sites: HashMap<String, Arc<Site>>,
    files: Vec<Arc<File>>,
}

impl Sites for Named {
    fn site(&self, host: &str) -> Option<Arc<Site>> {
        self.sites.get(host).or_else(|| self.sites.get(without_port(host))).cloned()
    }

    fn files(&self) -> Vec<Arc<File>> {
        self.files.clone()
    }
}

/// Sites with a file each, in folders or in a store, looked up when a host first appears.
pub(crate) struct ByHost {
    sources: Vec<(Option<i64>, Box<dyn Source + Send>)>,
    options: ReadOptions,
    found: Mutex<FoundSites>,
}

#[derive(Default)]
struct FoundSites {
    sites: HashMap<String, Option<Arc<Site>>>,
    files: Vec<Arc<File>>,
}

impl ByHost {
    /// The folders of these options, each with the time from which its files applied.
    pub(crate) fn folders(words: &[String], options: &ReadOptions) -> Result<Box<dyn Sites>, Failure> {
        let mut sources: Vec<(Option<i64>, Box<dyn Source + Send>)> = Vec::new();
        for word in words {
            let (moment, path) = dated(word);
            let path = Path::new(path);
            let most = options.limits().file_octets() + 4;
            let folder = Folder::new(path, most).map_err(|error| input::unreadable(path, &error))?;
            sources.push((moment.map(Moment::start), Box::new(folder)));
        }
        Ok(Self::from_sources(sources, options))
    }

    /// The copies of each host's file in a store, however old they are, each from the time when it was first
    /// fetched.
    pub(crate) fn store(place: &str, options: &ReadOptions) -> Result<Box<dyn Sites>, Failure> {
        let stored = Stored(fetching::of_store(place)?);
        Ok(Self::from_sources(vec![(None, Box::new(stored))], options))
    }

    fn from_sources(
        sources: Vec<(Option<i64>, Box<dyn Source + Send>)>,
        options: &ReadOptions,
    ) -> Box<dyn Sites> {
        Box::new(Self { sources, options: options.clone(), found: Mutex::default() })
    }

    fn read(&self, name: &str, octets: Vec<u8>, content_type: Option<Box<str>>) -> Arc<File> {
        let options = match content_type {
            Some(content_type) => self.options.clone().with_content_type(&content_type),
            None => self.options.clone(),
        };
        File::read(name, octets, &options)
    }

    fn find(&self, host: &str) -> (Option<Arc<Site>>, Vec<Arc<File>>) {
        let mut versions = Vec::new();
        // A log does not say by which scheme it was asked; most sites have one file for both.
        let origins =
            ["https", "http"].map(|scheme| Origin::of_url(&format!("{scheme}://{host}/")).ok());
        for (since, source) in &self.sources {
            for origin in origins.iter().flatten() {
                let name = format!("{host}/robots.txt");
                let file = match source.find(origin) {
                    Found::File(octets, content_type) => self.read(&name, octets, content_type),
                    Found::Ended(result) => match SiteFile::ended(result, &self.options) {
                        Some(file) => File::new(&name, file),
                        None => continue,
                    },
                    _ => continue,
                };
                let history = source.history(origin);
                // The first copy that is known counts for what was before it, too.
                let mut from = *since;
                for (next, octets, content_type) in history.earlier {
                    if from.is_some() || !versions.is_empty() {
                        from = Some(seconds(next));
                    }
                    let name = format!("{name} of {}", rfc3339_of(next));
                    versions.push((from, self.read(&name, octets, content_type)));
                }
                if !versions.is_empty() && since.is_none() {
                    from = history.since.map(seconds);
                }
                versions.push((from, file));
                break;
            }
        }
        // Of two that came in the same second, the later one counts.
        versions.reverse();
        versions.sort_by_key(|(since, _)| *since);
        versions.dedup_by_key(|(since, _)| *since);
        let files: Vec<_> = versions.iter().map(|(_, file)| Arc::clone(file)).collect();
        if files.is_empty() {
            return (None, files);
        }
        (Site::changing(versions).ok().map(Arc::new), files)
    }
}

impl Sites for ByHost {
    fn site(&self, host: &str) -> Option<Arc<Site>> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(site) = found.sites.get(host) {
            return site.clone();
        }
        let (mut site, mut files) = self.find(host);
        if site.is_none() && without_port(host) != host {
            // A server behind a proxy writes its own port.
            (site, files) = self.find(without_port(host));
        }
        if site.is_some() || found.sites.len() < MOST_HOSTS {
            found.sites.insert(host.to_owned(), site.clone());
            found.files.extend(files);
        }
        site
    }

    fn files(&self) -> Vec<Arc<File>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).files.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_before_files() {
        assert_eq!(dated("2026-10-01=old.txt"), ("2026-10-01".parse().ok(), "old.txt"));
        assert_eq!(dated("old.txt"), (None, "old.txt"));
        assert_eq!(dated("a=b.txt"), (None, "a=b.txt"));
    }
}
