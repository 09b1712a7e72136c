//! A folder with real files and reference decisions → the sites that every engine is asked about.
//!
//! The corpus is not part of the repository: it is looked for in the folder that `MAYI_CORPUS` names,
//! or in `../shared/corpus` beside the checkout. Where there is none, the bench makes a stand-in of
//! the same shape, and the report says so.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use crate::engines::Asker;
use crate::stand_in;

/// The crawlers that ask. The first one is the one that is timed.
pub const CRAWLERS: [&str; 2] = ["ExampleBot", "Googlebot"];

/// Of a quick run, one site in this many is used.
const QUICK_SHARE: usize = 10;

pub struct Corpus {
    /// Where it comes from, for the report.
    pub origin: &'static str,
    /// Where its expected answers come from.
    pub reference: &'static str,
    pub sites: Vec<Site>,
    pub askers: [Asker; 2],
}

pub struct Site {
    pub octets: Vec<u8>,
    /// What each crawler asks, in the order of [`CRAWLERS`].
    pub questions: [Vec<Question>; 2],
}

pub struct Question {
    pub url: String,
    /// The path and query of the URL, as written.
    pub path: String,
    /// What the reference decided.
    pub allowed: bool,
}

impl Question {
    pub fn new(url: &str, allowed: bool) -> Self {
        Self { url: url.to_owned(), path: path_of(url), allowed }
    }
}

impl Corpus {
    /// Loads the corpus, or makes a stand-in; a part of it for a quick run.
    pub fn load(quick: bool) -> Result<Self, Box<dyn Error>> {
        let mut corpus = Self::load_questions(quick)?;
        if folder()?.is_none() {
            stand_in::answer(&mut corpus);
        }
        Ok(corpus)
    }

    /// The same, but the answers of a stand-in are not worked out: that takes longer than all else,
    /// and who only counts instructions does not look at them.
    pub fn load_questions(quick: bool) -> Result<Self, Box<dyn Error>> {
        let share = if quick { QUICK_SHARE } else { 1 };
        let Some(folder) = folder()? else { return Ok(stand_in::corpus(share)) };
        Ok(Self {
            origin: "robots.txt files of real sites, as fetched for the tests of Protego",
            reference: "google/robotstxt",
            sites: read_sites(&folder)?.into_iter().step_by(share).collect(),
            askers: CRAWLERS.map(Asker::new),
        })
    }

    pub fn octets(&self) -> usize {
        self.sites.iter().map(|site| site.octets.len()).sum()
    }

    /// How many questions the crawler that is timed asks.
    pub fn questions(&self) -> usize {
        self.sites.iter().map(|site| site.questions[0].len()).sum()
    }

    /// How many of them are asked of a file that is parsed for this one question.
    pub fn one_shot_questions(&self) -> usize {
        self.sites.iter().map(|site| site.one_shot_questions().count()).sum()
    }
}

impl Site {
    /// Three questions of the crawler that is timed: the first, the middle and the last.
    pub fn one_shot_questions(&self) -> impl Iterator<Item = &Question> {
        let questions = &self.questions[0];
        let mut places = vec![0, questions.len() / 2, questions.len().saturating_sub(1)];
        places.dedup();
        places.into_iter().filter_map(|place| questions.get(place))
    }
}

/// Where the corpus is. A folder that was named has to have it; the usual one may be missing.
fn folder() -> Result<Option<PathBuf>, String> {
    let has_files = |folder: &Path| folder.join("robots.tar.gz").exists();
    if let Some(named) = std::env::var_os("MAYI_CORPUS").map(PathBuf::from) {
        return if has_files(&named) {
            Ok(Some(named))
        } else {
            Err(format!("MAYI_CORPUS names {}, which has no robots.tar.gz", named.display()))
        };
    }
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    Ok(has_files(&usual).then_some(usual))
}

fn read_sites(folder: &Path) -> Result<Vec<Site>, Box<dyn Error>> {
    let mut sites = BTreeMap::new();
    let archive = GzDecoder::new(File::open(folder.join("robots.tar.gz"))?);
    for entry in tar::Archive::new(archive).entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let Some(host) = path.file_name() else { continue };
        let host = host.to_string_lossy().into_owned();
        let mut octets = Vec::new();
        entry.read_to_end(&mut octets)?;
        sites.insert(host, Site { octets, questions: Default::default() });
    }

    let decisions = GzDecoder::new(File::open(folder.join("google_decisions.tsv.gz"))?);
    for line in BufReader::new(decisions).lines() {
        let line = line?;
        let mut cells = line.split('\t');
        let mut cell = || cells.next().ok_or("a line of the decisions has too few cells");
        let (host, crawler, url, allowed) = (cell()?, cell()?, cell()?, cell()? == "1");
        let site = sites.get_mut(host).ok_or("a decision is about a host without a file")?;
        let place = CRAWLERS.iter().position(|known| *known == crawler);
        site.questions[place.ok_or("a decision is for an unexpected crawler")?]
            .push(Question::new(url, allowed));
    }
    let mut sites: Vec<_> = sites.into_values().collect();
    sites.retain(|site| !site.questions[0].is_empty());
    Ok(sites)
}

/// What stands behind the authority of a URL, up to its fragment.
fn path_of(url: &str) -> String {
    let behind_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let behind_scheme = behind_scheme.split('#').next().unwrap_or_default();
    match behind_scheme.find(['/', '?']) {
        Some(at) if behind_scheme[at..].starts_with('/') => behind_scheme[at..].to_owned(),
        Some(at) => format!("/{}", &behind_scheme[at..]),
        None => "/".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn a_path_is_cut_out_of_its_url() {
        assert_eq!(path_of("https://example.com/a?b#c"), "/a?b");
        assert_eq!(path_of("https://example.com"), "/");
        assert_eq!(path_of("https://example.com?a/b"), "/?a/b");
        assert_eq!(path_of("https://example.com#a/b"), "/");
    }
}
