//! Real files and reference decisions: the dialect `google` agrees with every one, and each
//! difference of the default dialect has a cause that a clause names. After formatting, no file gives other
//! decisions in any dialect.
//!
//! The corpus is not part of the repository. It is looked for in the folder that `MAYI_CORPUS` names,
//! or in `../shared/corpus` beside the checkout; where there is none, the test says so and that it
//! checked nothing. It has a `robots.tar.gz` with one file per host and a `google_decisions.tsv.gz` with
//! host, agent, URL and 1 (allowed) or 0 in each line.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use crate::dialect::{Comparison, Names};
use crate::forms::Folds;
use crate::{Crawler, Dialect, Extension, Limits, ReadOptions, RobotsTxt, Target};

#[test]
fn the_corpus_decides_as_the_reference_does() {
    let Some(folder) = corpus() else {
        say("not run: the corpus test, as there is no corpus of real files here (set MAYI_CORPUS)");
        return;
    };
    let files = read_files(&folder.join("robots.tar.gz"));
    let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut decisions = 0;
    let mut wrong = Vec::new();
    let mut asked = Asked::default();
    for line in lines(&folder.join("google_decisions.tsv.gz")) {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().expect("four cells a line");
        let (host, agent, url, expected) = (cell(), cell(), cell(), cell() == "1");
        decisions += 1;
        let crawler = Crawler::new(agent).expect("the corpus has good tokens");
        let target = Target::parse(url).expect("the corpus has good URLs");
        let file = &files[host];
        if asked.decide(&Dialect::GOOGLE, host, file, &crawler, &target) != expected {
            wrong.push(format!("google: {line}"));
        }
        if asked.decide(&Dialect::RFC9309, host, file, &crawler, &target) != expected {
            match cause(file, &crawler, &target, expected) {
                Some(cause) => *causes.entry(cause).or_default() += 1,
                None => wrong.push(format!("rfc9309, without a cause: {line}")),
            }
        }
    }
    say(&format!("corpus: {decisions} decisions; rfc9309 differs by cause: {causes:?}"));
    assert!(decisions > 0, "an empty corpus proves nothing");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

#[test]
fn laying_out_the_corpus_changes_no_decision() {
    let Some(folder) = corpus() else {
        say("not run: the corpus test of format, as there is no corpus of real files here");
        return;
    };
    let files = read_files(&folder.join("robots.tar.gz"));
    let laid_out: HashMap<&String, Vec<u8>> = files
        .iter()
        .map(|(host, file)| (host, crate::format(file).into_octets().into_owned()))
        .collect();
    let changed = files.iter().filter(|(host, file)| laid_out[host] != **file).count();
    let (mut asked, mut asked_after) = (Asked::default(), Asked::default());
    let mut decisions = 0;
    for line in lines(&folder.join("google_decisions.tsv.gz")) {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().expect("four cells a line");
        let (host, agent, url) = (cell(), cell(), cell());
        let crawler = Crawler::new(agent).expect("the corpus has good tokens");
        let target = Target::parse(url).expect("the corpus has good URLs");
        let after = &laid_out[&host.to_owned()];
        for dialect in Dialect::ALL {
            decisions += 1;
            let before = asked.decide(dialect, host, &files[host], &crawler, &target);
            let after = asked_after.decide(dialect, host, after, &crawler, &target);
            assert_eq!(before, after, "{dialect}: {line}");
        }
    }
    say(&format!(
        "corpus: {changed} of {} files changed by formatting, {decisions} decisions",
        files.len()
    ));
    assert!(changed > 0, "a corpus of files that are all laid out proves nothing");
}

/// Says something also where the output of a test that passes is not shown.
fn say(what: &str) {
    // Nobody may be there to read it; the test is no less right for that.
    let _ = writeln!(std::io::stderr(), "{what}");
}

type Change = fn(Dialect) -> Dialect;

/// The readings in which the two dialects differ, each with the clause that asks for it.
fn readings() -> [(&'static str, Change); 6] {
    [
        ("REP-10", |dialect| Dialect { allows_robots_txt: true, ..dialect }),
        ("AIA-5", |dialect| Dialect {
            extensions: dialect.extensions.with(Extension::AiAgents),
            ..dialect
        }),
        ("WILD-7", |dialect| Dialect { names: Names::Whole, ..dialect }),
        ("google's index pages", |dialect| Dialect { index_pages: false, ..dialect }),
        ("REP-2", |dialect| Dialect { lines: Dialect::RFC9309.lines, ..dialect }),
        ("REP-11", |dialect| Dialect { comparison: Comparison::Normalised, ..dialect }),
    ]
}

/// The one reading that, taken over into the dialect google, gives the default dialect's answer.
fn cause(file: &[u8], crawler: &Crawler, target: &Target<'_>, google: bool) -> Option<&'static str> {
    let (name, _) = readings().into_iter().find(|(_, change)| {
        let dialect = change(Dialect::GOOGLE);
        read(file, &dialect).decide(crawler, target).is_allowed() != google
    })?;
    if name != "REP-11" {
        return Some(name);
    }
    // The comparison is one reading in three clauses: look at what it was that mattered.
    let written = target.url().split_once("://").map_or("", |(_, rest)| rest);
    let path = written.split(['?', '#']).next().unwrap_or_default();
    let has_dot_segment = path.split('/').any(|segment| matches!(segment, "." | ".."));
    if has_dot_segment {
        Some("REP-7")
    } else if target.folds().has(Folds::QUERY) {
        Some("REP-12")
    } else {
        Some("REP-11")
    }
}

/// Rules that were prepared for the last host, by dialect and crawler.
#[derive(Default)]
struct Asked {
    host: String,
    rules: HashMap<(&'static str, String), crate::CrawlerRules>,
}

impl Asked {
    /// Asks the file directly and through prepared rules, which must agree.
    fn decide(
        &mut self,
        dialect: &Dialect,
        host: &str,
        file: &[u8],
        crawler: &Crawler,
        target: &Target<'_>,
    ) -> bool {
        if self.host != host {
            self.rules.clear();
            host.clone_into(&mut self.host);
        }
        let key = (dialect.name(), crawler.product_token().to_string());
        let rules = self.rules.entry(key).or_insert_with(|| read(file, dialect).for_crawler(crawler));
        rules.decide(target).is_allowed()
    }
}

fn read<'f>(file: &'f [u8], dialect: &Dialect) -> RobotsTxt<'f> {
    // The reference has no size limit, and one file needs that.
    let limits = Limits::with_file_octets(4 << 20).expect("a good limit");
    RobotsTxt::read(file, &ReadOptions::default().with_dialect(dialect.clone()).with_limits(limits))
}

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("MAYI_CORPUS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"),
        PathBuf::from,
    );
    folder.join("robots.tar.gz").exists().then_some(folder)
}

fn read_files(path: &Path) -> HashMap<String, Vec<u8>> {
    let open = File::open(path).expect("the corpus can be read");
    let mut archive = tar::Archive::new(GzDecoder::new(open));
    let mut files = HashMap::new();
    for entry in archive.entries().expect("a tar archive") {
        let mut entry = entry.expect("an entry");
        let path = entry.path().expect("a path").into_owned();
        let mut octets = Vec::new();
        entry.read_to_end(&mut octets).expect("its octets");
        if let Some(host) = path.file_name() {
            files.insert(host.to_string_lossy().into_owned(), octets);
        }
    }
    files
}

fn lines(path: &Path) -> impl Iterator<Item = String> {
    let open = File::open(path).expect("the corpus can be read");
    BufReader::new(GzDecoder::new(open)).lines().map(|line| line.expect("text"))
}
