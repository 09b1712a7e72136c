//! The command where no file is given: real servers on loopback, a store in a folder of the test's own.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use common::{Run, mayi};
use serde_json::Value;
use tempfile::TempDir;

const FILE: &str = "User-agent: *\nDisallow: /private/\nCrawl-delay: 2\n";

/// A server that says one thing to everybody, and counts them.
struct Site {
    url: String,
    asked: Arc<AtomicUsize>,
    said: Arc<Mutex<String>>,
}

impl Site {
    fn new(status: &str, body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(AtomicUsize::new(0));
        let said = Arc::new(Mutex::new(answer(status, body)));
        let (count, says) = (Arc::clone(&asked), Arc::clone(&said));
        thread::spawn(move || {
            for stream in listener.incoming().take(100).flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let said = says.lock().expect("nobody panics with it").clone();
                let _ = serve(stream, &said);
            }
        });
        Self { url, asked, said }
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn says(&self, status: &str, body: &str) {
        *self.said.lock().expect("nobody panics with it") = answer(status, body);
    }
}

fn answer(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn serve(mut stream: TcpStream, said: &str) -> std::io::Result<()> {
    for line in BufReader::new(stream.try_clone()?).lines() {
        if line?.is_empty() {
            break;
        }
    }
    stream.write_all(said.as_bytes())
}

/// A place for a store.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn store(&self) -> PathBuf {
        self.0.path().join("store")
    }

    /// Runs a command that may connect to this machine, with the store of this place.
    fn run(&self, command: &[&str], words: &[&str], stdin: &str) -> Run {
        let store = self.store();
        let store = store.to_str().expect("a plain path");
        let online = ["--store", store, "--allow-address", "127.0.0.0/8"];
        mayi(&[command, &online, words].concat(), stdin.as_bytes())
    }

    fn check(&self, words: &[&str]) -> Run {
        self.run(&["check", "--agent", "ExampleBot"], words, "")
    }

    fn cache(&self, words: &[&str]) -> Run {
        let store = self.store();
        mayi(&[&["cache"], words, &["--store", store.to_str().expect("a plain path")]].concat(), b"")
    }
}

#[test]
fn check_fetches_once_and_then_has_it() {
    let (place, site) = (Place::new(), Site::new("200 OK", FILE));
    let run = place.check(&[&site.at("/private/x"), &site.at("/")]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    let lines: Vec<_> = run.stdout.lines().collect();
    let expected = format!("{}:2: Disallow: /private/", site.at("/robots.txt"));
    assert!(lines[0].starts_with("disallowed") && lines[0].contains(&expected), "{}", lines[0]);
    assert!(run.stdout.contains("fetched now") && run.stdout.contains("2 s"), "{}", run.stdout);
    assert_eq!(site.asked(), 1);
    let run = place.check(&["--json", &site.at("/private/x")]);
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(report["file"]["from"], "fresh", "{report}");
    assert_eq!(report["file"]["url"], site.at("/robots.txt"));
    assert_eq!(site.asked(), 1, "the second run has what the first one kept");
}

#[test]
fn what_is_not_public_is_not_connected_to() {
    let (place, site) = (Place::new(), Site::new("200 OK", "User-agent: *\nAllow: /\n"));
    let store = place.store();
    let store = ["--store", store.to_str().expect("a plain path")];
    let url = site.at("/");
    let run = mayi(&[&["check", "--agent", "ExampleBot"], &store[..], &[&url]].concat(), b"");
    assert_eq!((run.status, site.asked()), (Some(3), 0), "{}", run.stdout);
    assert!(run.stdout.contains("127.0.0.1 is a loopback address"), "{}", run.stdout);
    assert!(run.stderr.contains("--allow-address"), "{}", run.stderr);
    // That was our own doing, and is not held against the site.
    assert_eq!(place.check(&[&url]).status, Some(0));
}

#[test]
fn failures_are_told_and_never_let_anybody_in() {
    let place = Place::new();
    let (down, gone) = (Site::new("503 Service Unavailable", ""), Site::new("404 Not Found", ""));
    let run = place.check(&[&down.at("/a")]);
    assert_eq!(run.status, Some(3), "no rule forbids it, and nobody could say that it is allowed");
    assert!(run.stdout.contains("none (unreachable: status 503)"), "{}", run.stdout);
    let run = place.check(&[&gone.at("/a")]);
    assert_eq!(run.status, Some(0));
    assert!(run.stdout.contains("none (unavailable: status 404)"), "{}", run.stdout);
    let run = place.run(&["explain", "--agent", "ExampleBot"], &[&down.at("/a")], "");
    assert!(run.stdout.contains("access    ") && run.stdout.contains("REP-21"), "{}", run.stdout);
    let run = place.run(&["check", "--agent", "ExampleBot", "--offline"], &["https://never.test/"], "");
    assert_eq!(run.status, Some(3));
    assert!(run.stdout.contains("offline: there is no cached copy"), "{}", run.stdout);
}

/// A site without a file lets everybody in; one whose file can't be reached lets nobody in. Both are answers.
#[test]
fn a_site_without_a_file_has_an_overview() {
    let place = Place::new();
    let (down, gone) = (Site::new("503 Service Unavailable", ""), Site::new("404 Not Found", ""));
    let run = place.run(&["overview"], &[&gone.at("/")], "");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stdout.starts_with("There is no robots.txt, so every crawler may fetch everything."));
    assert!(run.stderr.contains("none (unavailable: status 404)"), "{}", run.stderr);
    let run = place.run(&["overview"], &[&down.at("/")], "");
    assert_eq!(run.status, Some(3), "{}", run.stderr);
    assert!(
        run.stdout.starts_with("The robots.txt can't be reached, so no crawler may fetch anything.")
    );
    let run = place.run(&["overview", "--offline"], &["never.test"], "");
    assert_eq!((run.status, &*run.stdout), (Some(2), ""));
    assert!(run.stderr.contains("there is no file `never.test`: using the URL https://never.test"));
}

#[test]
fn decide_fetches_what_requests_do_not_bring() {
    let (place, one, other) =
        (Place::new(), Site::new("200 OK", FILE), Site::new("200 OK", "User-agent: *\nAllow: /\n"));
    let urls = [one.at("/private/x"), other.at("/private/x")];
    let request = |n: usize| format!("{{\"url\": \"{}\", \"agent\": \"ExampleBot\"}}\n", urls[n % 2]);
    let mut requests: String = (0..50).map(request).collect();
    requests += "{\"url\": \"https://a.test/\", \"agent\": \"a\", \"robots\": \"\"}\nnonsense\n";
    let run = place.run(&["decide"], &[], &requests);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 52);
    for (n, line) in lines[..50].iter().enumerate() {
        assert_eq!(line["access"]["allowed"], n % 2 == 1, "{n}: {line}");
    }
    assert_eq!(lines[50]["file"], Value::Null, "it brought its own");
    assert_eq!(lines[51]["error"]["code"], "invalid-json");
    assert_eq!((one.asked(), other.asked()), (1, 1));
}

#[test]
fn decide_opens_no_store_where_none_is_needed() {
    let place = Place::new();
    let request = "{\"url\": \"https://a.test/\", \"agent\": \"a\", \"robots\": \"\"}\n";
    assert_eq!(place.run(&["decide"], &[], request).status, Some(0));
    assert!(!place.store().exists());
}

#[test]
fn fetch_prints_the_file_and_tells_its_story() {
    let (place, site) = (Place::new(), Site::new("200 OK", FILE));
    let run = place.run(&["fetch"], &[&site.at("/some/page")], "");
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), FILE));
    assert!(run.stderr.contains("fetched now") && run.stderr.contains("status 200"), "{}", run.stderr);
    site.says("404 Not Found", "");
    let run = place.run(&["fetch"], &[&site.at("/")], "");
    assert_eq!(run.status, Some(0), "what is kept is fresh");
    let run = place.run(&["fetch", "--fresh"], &[&site.at("/")], "");
    assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""));
    let run = place.run(&["fetch", "--json"], &[&site.at("/")], "");
    let story: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(story["access"], "unavailable: status 404");
    let run = place.run(&["fetch"], &["http://127.0.0.1:1/"], "");
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("unreachable: connect"), "{}", run.stderr);
}

/// REP-21: no failure takes the last good copy away, not even one that was asked for.
#[test]
fn fetch_refreshes_without_forgetting() {
    let (place, site) = (Place::new(), Site::new("200 OK", FILE));
    assert_eq!(place.run(&["fetch"], &[&site.at("/")], "").status, Some(0));
    site.says("503 Down", "");
    let run = place.run(&["fetch", "--fresh"], &[&site.at("/")], "");
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), FILE), "{}", run.stderr);
    assert!(run.stderr.contains("unreachable: status 503"), "{}", run.stderr);
    let run = place.run(&["fetch", "--fresh", "--offline"], &[&site.at("/")], "");
    assert_eq!(run.status, Some(2), "nobody can be asked again offline");
    assert_eq!(place.cache(&["show", &site.url]).stdout, FILE);
    for no_site in ["file:/etc/passwd", "mailto:a@b.test", "file:", "gopher://a.test/"] {
        let run = place.run(&["fetch"], &[no_site], "");
        assert!(run.status == Some(2) && run.stderr.contains(no_site), "{}", run.stderr);
    }
    let run = place.run(&["fetch"], &[site.url.trim_start_matches("http://")], "");
    assert!(run.stderr.contains("https://127.0.0.1"), "a name with a port: {}", run.stderr);
}

#[test]
fn the_cache_is_listed_shown_exported_and_purged() {
    let (place, site) = (Place::new(), Site::new("200 OK", FILE));
    assert_eq!(place.check(&[&site.at("/")]).status, Some(0));
    let run = place.cache(&["list"]);
    assert!(run.stdout.starts_with(&format!("{}  successful", site.url)), "{}", run.stdout);
    assert!(run.stderr.starts_with("1 site, "), "{}", run.stderr);
    let run = place.cache(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(listed["copy"]["robots"], Value::Null);
    let run = place.cache(&["show", &site.url]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), FILE));
    assert_eq!(place.cache(&["show", "never.test"]).status, Some(1));
    let run = place.cache(&["export"]);
    let exported: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(exported["copy"]["robots"], FILE);

    let folder = place.0.path().join("files");
    let folder = folder.to_str().expect("a plain path");
    assert_eq!(place.cache(&["export", "--folder", folder]).status, Some(0));
    let rows = format!("{}\n{}\n", site.at("/private/x"), site.at("/x"));
    let bulk = |words: &[&str]| {
        let columns = ["--columns", "allowed"];
        mayi(&[&["bulk", "--agent", "ExampleBot"], words, &columns[..]].concat(), rows.as_bytes())
    };
    let run = bulk(&["--robots-dir", folder]);
    assert_eq!(run.stdout, "false\ntrue\n", "{}", run.stderr);
    let run = bulk(&["--store", place.store().to_str().expect("a plain path")]);
    assert_eq!(run.stdout, "false\ntrue\n", "{}", run.stderr);

    assert_eq!(place.cache(&["purge", "--all"]).status, Some(0));
    assert_eq!(place.cache(&["list"]).stdout, "");
    assert_eq!(site.asked(), 1);
}

#[test]
fn lint_compare_and_diff_take_urls() {
    let (place, site) = (Place::new(), Site::new("200 OK", "User-agent: *\nDisalow: /a\n"));
    let run = place.run(&["lint"], &[&site.at("/")], "");
    assert!(run.stdout.contains("Disalow"), "{}{}", run.stdout, run.stderr);
    let run = place.run(&["diff"], &[&site.at("/"), "-"], "User-agent: *\nDisallow: /b\n");
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert!(run.stdout.contains("/b"), "{}", run.stdout);
    let run = place.run(&["compare"], &[&site.at("/")], "");
    assert!(run.status.is_some_and(|status| status < 2), "{}", run.stderr);
    let run = place.run(&["compare"], &["http://127.0.0.1:1/"], "");
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("unreachable"), "{}", run.stderr);
    assert_eq!(site.asked(), 1);
}

#[test]
fn a_store_that_was_asked_for_and_can_t_be_had_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let no_store = folder.path().join("file");
    std::fs::write(&no_store, "something else").expect("it can be written");
    let check = |store: &Path| {
        let store = store.to_str().expect("a plain path");
        mayi(&["check", "--agent", "a", "--store", store, "https://example.test/"], b"")
    };
    let run = check(&no_store);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("not a store"), "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(&no_store).expect("it is there"), "something else");
    let absent = folder.path().join("absent");
    let run = mayi(&["cache", "list", "--store", absent.to_str().expect("a plain path")], b"");
    assert_eq!((run.status, absent.exists()), (Some(2), false), "{}", run.stderr);
    let run = mayi(&["cache", "list", "--store", "mysql://x"], b"");
    assert!(run.stderr.contains("redis://"), "{}", run.stderr);
}

/// A script, or the file of a service, unsets a variable by setting it to nothing.
#[test]
fn a_variable_that_is_set_to_nothing_is_not_set() {
    let (folder, site) = (tempfile::tempdir().expect("a folder"), Site::new("200 OK", FILE));
    let run = |words: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_mayi"))
            .args(words)
            .env("XDG_CACHE_HOME", folder.path())
            .env("MAYI_STORE", "")
            .env("MAYI_FETCH_AS", "")
            .output()
            .expect("the binary runs");
        let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (status, _, stderr) = run(&["fetch", "--allow-private", &site.at("/")]);
    assert_eq!(status, Some(0), "{stderr}");
    assert!(folder.path().join("mayi/robots.store").is_file(), "it is kept where nothing is said");
    let (status, stdout, stderr) = run(&["cache", "list"]);
    assert_eq!((status, stdout.lines().count()), (Some(0), 1), "{stderr}");
    // Who writes nothing behind the word itself has made a mistake.
    let (status, _, stderr) = run(&["cache", "list", "--store", ""]);
    assert_eq!(status, Some(2), "{stderr}");
    let (status, stdout, _) = run(&["cache", "list", "--help"]);
    assert_eq!(status, Some(0));
    assert!(stdout.contains("--store"), "{stdout}");
}

#[test]
fn a_purge_gives_room_back() {
    let place = Place::new();
    let file = format!("{FILE}{}", "# no two files are alike\n".repeat(10));
    let sites: Vec<_> = (0..8).map(|_| Site::new("200 OK", &file)).collect();
    let urls: Vec<_> = sites.iter().map(|site| site.at("/")).collect();
    let urls: Vec<&str> = urls.iter().map(|url| &**url).collect();
    assert_eq!(place.check(&urls).status, Some(0));
    let octets = || std::fs::metadata(place.store()).expect("the store").len();
    let before = octets();
    let run = place.cache(&["purge", urls[0], urls[1], "never.test"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("https://never.test was not cached"), "{}", run.stderr);
    assert!(run.stderr.ends_with("2 sites forgotten\n"), "{}", run.stderr);
    let after = octets();
    assert!(after < before, "{after} of {before}");
    let run = place.cache(&["list"]);
    assert_eq!(run.stdout.lines().count(), 6, "{}", run.stdout);
    let run = place.cache(&["purge", "--all"]);
    assert!(run.stderr.ends_with("6 sites forgotten\n"), "{}", run.stderr);
    assert_eq!(place.cache(&["list"]).stdout, "");
}

/// The charset that came with a file says how it is read (REP-14), and the site whose file it is.
#[test]
fn lint_reads_a_fetched_file_as_it_came() {
    let file = "User-agent: *\nDisallow: /caf\u{e9}\nSitemap: https://www.example.com/sitemap.xml\n";
    let site = Site::new("200 OK", file);
    let plain = Place::new().run(&["lint"], &[&site.at("/")], "");
    assert!(!plain.stdout.contains("S006"), "{}", plain.stdout);
    assert!(plain.stdout.contains("S012 template-leftover"), "it is not example.com: {}", plain.stdout);
    let said = answer("200 OK", file).replace("text/plain", "text/plain; charset=windows-1252");
    *site.said.lock().expect("nobody panics with it") = said;
    let decoded = Place::new().run(&["lint"], &[&site.at("/")], "");
    assert!(decoded.stdout.contains("S006 utf-16"), "{}", decoded.stdout);
    let told = Place::new().run(&["lint", "--charset", "utf-8"], &[&site.at("/")], "");
    assert!(!told.stdout.contains("S006"), "{}", told.stdout);
}

/// The TLS library is built as `.cargo/config.toml` says: it gathers no entropy from the jitter of the
/// processor, which would take 40 ms before the first octet is sent.
#[test]
fn the_program_has_no_source_of_jitter() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_mayi")).expect("the program can be read");
    let has = |name: &str| memchr::memmem::find(&program, name.as_bytes()).is_some();
    assert!(has("RAND_bytes"), "the program has the names of the library's functions");
    assert!(
        !has("jent_read_entropy"),
        "AWS_LC_SYS_NO_JITTER_ENTROPY was not set: build in the repository, whose .cargo/config.toml sets it"
    );
}
