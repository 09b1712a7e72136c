//! WARCs and tables of robots.txt files: `mayi bulk --robots-warc`, `--robots-table`, `mayi cache import` and `export`.

mod common;

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use common::mayi;

struct Place(tempfile::TempDir);

impl Place {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let place = Self(tempfile::tempdir().expect("a folder"));
        for (name, octets) in files {
            let path = place.path(name);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
            fs::write(path, octets).expect("a file");
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the command; words that start with `@` are files.
    fn run(&self, words: &[&str], stdin: &str) -> common::Run {
        let word = |word: &&str| match word.strip_prefix('@') {
            Some(name) => self.path(name).to_string_lossy().into_owned(),
            None => (*word).to_owned(),
        };
        let words: Vec<String> = words.iter().map(word).collect();
        mayi(&words.iter().map(|word| &**word).collect::<Vec<_>>(), stdin.as_bytes())
    }

    /// What is decided for the URLs with these words.
    fn decided(&self, words: &[&str]) -> common::Run {
        let all = [&["bulk", "-a", "ExampleBot", "--columns", "allowed,reason,error"], words].concat();
        self.run(&all, &format!("{}\n", URLS.join("\n")))
    }
}

/// A record of a WARC with a response in it.
fn response(date: &str, url: &str, status: u16, fields: &str, body: &str) -> Vec<u8> {
    let block = format!("HTTP/1.1 {status} Status\r\n{fields}\r\n{body}");
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: {date}\r\nWARC-Target-URI: {url}\r\n\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
    .into_bytes()
}

fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(octets).expect("it is compressed");
    encoder.finish().expect("gzip")
}

const DAY: &str = "2026-01-02T00:00:00Z";
const RULES: &str = "User-agent: *\nDisallow: /private/\n";

const URLS: [&str; 9] = [
    "https://www.example/private/",
    "http://example/private/",
    "https://example/private/",
    "https://gone.example/private/",
    "https://down.example/private/",
    "https://html.example/private/",
    "https://later.example/private/",
    "https://half.example/private/",
    "https://other.example/private/",
];

/// The records, in the layout of Common Crawl: redirects and what they lead to are records of their own.
fn records() -> Vec<Vec<u8>> {
    vec![
        b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Type: application/warc-fields\r\nContent-Length: 17\r\n\r\nrobots: classic\r\n\r\n\r\n".to_vec(),
        response(DAY, "http://example/robots.txt", 301, "Location: https://example/robots.txt\r\n", ""),
        response(DAY, "https://later.example/robots.txt", 200, "", RULES),
        response(DAY, "https://example/robots.txt", 302, "Location: https://www.example/robots.txt\r\n", "<html>"),
        response(DAY, "https://www.example/robots.txt", 200, "Content-Type: text/plain\r\n", RULES),
        response(DAY, "https://gone.example/robots.txt", 404, "", "not here"),
        response(DAY, "https://down.example/robots.txt", 503, "", ""),
        response(DAY, "https://html.example/robots.txt", 200, "Content-Type: text/html\r\n", "<!doctype html><title>x</title>"),
        response("2026-01-03T00:00:00Z", "https://later.example/robots.txt", 200, "", "User-agent: *\nDisallow:\n"),
        response(DAY, "https://half.example/robots.txt", 308, "Location: https://away.example/robots.txt\r\n", ""),
    ]
}

const DECIDED: [&str; 9] = [
    "false\trule\t",
    "false\trule\t",
    "false\trule\t",
    "true\tunavailable\t",
    "false\tunreachable\t",
    "true\tno-group\t",
    "true\tno-rule\t",
    "\t\tinvalid-robots: the file for https://half.example can't be read: it redirects to https://away.example/robots.txt, which the archive does not have",
    "\t\tno-robots: there is no file for https://other.example; the option `missing` says what to do without one",
];

#[test]
fn warcs_are_a_source_of_files() {
    let members: Vec<u8> = records().iter().flat_map(|record| gzip(record)).collect();
    let half = records().len() / 2;
    let (first, second) = (records()[..half].concat(), gzip(&records()[half..].concat()));
    let place =
        Place::new(&[("one.warc.gz", &members), ("two/a.warc", &first), ("two/b.warc.gz", &second)]);
    for words in [
        &["--robots-warc", "@one.warc.gz"][..],
        &["--robots-warc", "@two"],
        &["--robots-warc", "@two/b.warc.gz", "--robots-warc", "@two/a.warc"],
    ] {
        let run = place.decided(words);
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        assert_eq!(run.stdout.lines().collect::<Vec<_>>(), DECIDED, "{words:?}");
    }
}

/// What came before the cut is answered, and the end says that it is not all.
#[test]
fn a_warc_that_is_cut_off_is_told() {
    let members: Vec<u8> = records().iter().flat_map(|record| gzip(record)).collect();
    let all = records().concat();
    let place = Place::new(&[
        ("cut.warc.gz", &members[..members.len() - 10]),
        ("cut.warc", &all[..all.len() - 40]),
        ("no.warc", b"nonsense\n"),
    ]);
    for (name, part) in [
        ("cut.warc.gz", "its gzip data is cut off"),
        ("cut.warc", "it ends in the middle of a record (after 9 complete records"),
    ] {
        let run = place.decided(&["--robots-warc", &format!("@{name}")]);
        assert_eq!(run.status, Some(2), "{}", run.stderr);
        assert_eq!(run.stdout.lines().take(7).collect::<Vec<_>>(), DECIDED[..7]);
        assert!(
            run.stderr.contains(&format!("{name}` can't be read to its end: {part}")),
            "{}",
            run.stderr
        );
    }
    let run = place.decided(&["--robots-warc", "@no.warc"]);
    assert!(
        run.status == Some(2) && run.stderr.contains("has to begin with `WARC/`"),
        "{}",
        run.stderr
    );
}

/// A store that was filled from a WARC answers as the WARC does, and so does a table that was written from the store.
#[test]
fn a_store_is_filled_from_a_warc_and_written_as_a_table() {
    let members: Vec<u8> = records().iter().flat_map(|record| gzip(record)).collect();
    let place = Place::new(&[("in.warc.gz", &members)]);
    let run = place.run(&["cache", "import", "--warc", "@in.warc.gz", "--store", "@store"], "");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(
        run.stderr.contains("7 sites imported") && run.stderr.contains("1 site left out"),
        "{}",
        run.stderr
    );
    // The one that redirects to what is not there is not in the store.
    let without_half = |run: &common::Run| {
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        let rows: Vec<_> = run.stdout.lines().map(str::to_owned).collect();
        assert_eq!(rows[..7], DECIDED[..7]);
        assert!(
            rows[7].contains("no-robots: there is no file for https://half.example"),
            "{}",
            rows[7]
        );
        assert_eq!(rows[8], DECIDED[8]);
    };
    without_half(&place.decided(&["--store", "@store"]));
    if cfg!(feature = "columns") {
        for (format, name) in [("parquet", "@table.parquet"), ("arrow", "@table.arrow")] {
            let run = place
                .run(&["cache", "export", "--format", format, "-o", name, "--store", "@store"], "");
            assert_eq!(run.status, Some(0), "{}", run.stderr);
            assert!(run.stderr.contains("7 sites exported"), "{}", run.stderr);
            without_half(&place.decided(&["--robots-table", name]));
            let run = place.run(&["cache", "import", "--table", name, "--store", "@again"], "");
            assert_eq!(run.status, Some(0), "{}", run.stderr);
        }
        without_half(&place.decided(&["--store", "@again"]));
    }
    // What is newer stays.
    let old = response("2020-01-01T00:00:00Z", "https://www.example/robots.txt", 404, "", "");
    fs::write(place.path("old.warc"), old).expect("a file");
    let run = place.run(&["cache", "import", "--warc", "@old.warc", "--store", "@store"], "");
    assert!(
        run.stderr.contains("0 sites imported") && run.stderr.contains("1 site unchanged"),
        "{}",
        run.stderr
    );
    without_half(&place.decided(&["--store", "@store"]));
}

#[cfg(feature = "columns")]
#[test]
fn a_table_without_its_columns_is_a_clear_error() {
    let place = Place::new(&[
        ("rows.csv", b"url,status\nhttps://a/,200\n"),
        ("robots.txt", b""),
        (
            "good.csv",
            b"url,origin,status,body\nhttps://a/,nonsense,200,x\nhttps://a/,https://example,200,x\n",
        ),
    ]);
    for name in ["rows", "good"] {
        let (input, output) = (format!("@{name}.csv"), format!("@{name}.parquet"));
        let run = place.run(
            &["bulk", "-r", "@robots.txt", "-a", "x", &input, "-o", &output, "--columns", "*"],
            "",
        );
        assert_eq!(run.status, Some(0), "{}", run.stderr);
    }
    let run = place.decided(&["--robots-table", "@rows.parquet"]);
    assert_eq!((run.status, &*run.stdout), (Some(2), ""));
    assert!(run.stderr.contains("it has no column `origin`"), "{}", run.stderr);
    let run = place.decided(&["--robots-table", "@good.parquet"]);
    assert_eq!(run.status, Some(2), "{}", run.stderr);
    assert_eq!(run.stdout.lines().nth(2), Some("true\tno-group\t"));
    assert!(
        run.stderr.contains("1 rows of") && run.stderr.contains("the first is row 1"),
        "{}",
        run.stderr
    );
}
