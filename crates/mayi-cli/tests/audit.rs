//! `mayi audit` as people run it: logs compressed or not, files with dates and by host, DNS, conditions,
//! and what it prints.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use common::mayi;
use serde_json::Value;

const ROBOTS: &str = "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /\n";

fn line(address: &str, day: u32, path: &str, agent: &str) -> String {
    format!(
        "{address} - - [{day:02}/Oct/2026:12:00:00 +0000] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"{agent}\"\n"
    )
}

/// A log of ten lines: what is in it is counted by hand below.
fn log() -> String {
    let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0";
    [
        line("192.0.2.1", 1, "/robots.txt", "GPTBot/1.2"),
        line("192.0.2.1", 1, "/", "GPTBot/1.2"),
        line("192.0.2.2", 2, "/private/a", "GPTBot/1.2"),
        line(
            "198.51.100.1",
            2,
            "/",
            "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        ),
        line(
            "198.51.100.1",
            3,
            "/private/b?c",
            "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        ),
        line("203.0.113.1", 3, "/private/b", firefox),
        line("203.0.113.1", 3, "/", firefox),
        line("203.0.113.2", 3, "/private/b", "ExampleBot/1.0"),
        "this is no line of a log\n".to_owned(),
        "\x1b[31m\0\n".to_owned(),
    ]
    .concat()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder"));
        folder.write("robots.txt", ROBOTS.as_bytes());
        folder.write("access.log", log().as_bytes());
        folder
    }

    fn write(&self, name: &str, octets: &[u8]) -> String {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(&path, octets).expect("it can be written");
        path.display().to_string()
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

fn json(words: &[&str], stdin: &[u8]) -> Value {
    let run = mayi(&[&["audit", "--json"], words].concat(), stdin);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    serde_json::from_str(&run.stdout).expect("one object of JSON")
}

fn crawler<'r>(report: &'r Value, name: &str) -> &'r Value {
    let crawlers = report["crawlers"].as_array().expect("a list");
    crawlers
        .iter()
        .find(|crawler| crawler["crawler"] == name)
        .unwrap_or_else(|| panic!("no {name} in {report}"))
}

/// The figures of a crawler: requests, allowed, refused, for robots.txt, verified, unverified, contradicted.
fn figures(report: &Value, name: &str) -> [u64; 7] {
    let of = crawler(report, name);
    ["requests", "allowed", "refused", "robots_txt_requests", "verified", "unverified", "contradicted"]
        .map(|figure| of[figure].as_u64().expect("a number"))
}

#[test]
fn the_json_has_what_was_counted_by_hand() {
    let folder = Folder::new();
    let report = json(&["--robots", &folder.path("robots.txt"), &folder.path("access.log")], b"");
    assert_eq!(
        (report["lines"]["read"].as_u64(), report["lines"]["unreadable"].as_u64()),
        (Some(8), Some(2))
    );
    assert_eq!(figures(&report, "GPTBot"), [3, 1, 2, 1, 0, 3, 0]);
    assert_eq!(figures(&report, "Googlebot"), [2, 1, 1, 0, 0, 2, 0]);
    assert_eq!(figures(&report, "ExampleBot"), [1, 0, 1, 0, 0, 1, 0]);
    assert_eq!(report["crawlers"].as_array().map(Vec::len), Some(3));
    assert_eq!(report["browsers"]["requests"], 2);
    let rules: Vec<_> = report["rules"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|rule| (rule["line"].as_u64(), rule["text"].as_str(), rule["requests"].as_u64()))
        .collect();
    assert_eq!(
        rules,
        [(Some(2), Some("Disallow: /private/"), Some(2)), (Some(5), Some("Disallow: /"), Some(2))]
    );
    let asked =
        |name: &str| crawler(&report, name)["identities"]["unverified"]["asked_for_robots_txt"].clone();
    assert_eq!((asked("GPTBot"), asked("Googlebot")), ("before".into(), "never".into()));
}

#[test]
fn compressed_logs_and_standard_input_are_the_same() {
    let folder = Folder::new();
    let robots = folder.path("robots.txt");
    let expected = json(&["--robots", &robots, &folder.path("access.log")], b"");
    let log = log();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(log.as_bytes()).expect("it is compressed");
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bzip2.write_all(log.as_bytes()).expect("it is compressed");
    let gzip = gzip.finish().expect("gzip");
    let packed = [
        ("access.log.1", gzip.clone()),
        ("b.bin", bzip2.finish().expect("bzip2")),
        ("c", zstd::encode_all(log.as_bytes(), 3).expect("zstd")),
    ];
    for (name, octets) in packed {
        let path = folder.write(name, &octets);
        for report in
            [json(&["--robots", &robots, &path], b""), json(&["--robots", &robots, "-"], &octets)]
        {
            assert_eq!(report["crawlers"], expected["crawlers"], "{name}");
            assert_eq!(report["lines"]["unreadable"], 2);
        }
    }
}

/// A compressed file that is damaged in the middle, or cut off: the lines before that count, and the end says
/// that it is not all.
#[test]
fn lines_before_damage_count() {
    let folder = Folder::new();
    let robots = folder.path("robots.txt");
    // What a line has from a seed does not pack well, so that damage in the middle is in the middle.
    let mut seed = 7_u64;
    let lines: Vec<_> = (0..8_000)
        .map(|_| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            line("192.0.2.1", 1, &format!("/private/{seed:x}"), "CCBot/2.0")
        })
        .collect();
    let log = lines.concat();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(log.as_bytes()).expect("it is compressed");
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(log.as_bytes()).expect("it is compressed");
    // As the program `zstd` does; without a checksum, damage may go unseen.
    let mut zstd = zstd::Encoder::new(Vec::new(), 3).expect("an encoder");
    zstd.include_checksum(true).expect("a checksum");
    zstd.write_all(log.as_bytes()).expect("it is compressed");
    let packed = [
        ("a.gz", gzip.finish().expect("gzip")),
        ("a.bz2", bzip2.finish().expect("bzip2")),
        ("a.zst", zstd.finish().expect("zstd")),
    ];
    for (name, octets) in packed {
        let middle = octets.len() / 2;
        let mut damaged = octets.clone();
        damaged[middle..middle + 64].fill(0xA5);
        for (how, octets) in [("cut", octets[..middle].to_vec()), ("damaged", damaged)] {
            let path = folder.write(name, &octets);
            let run = mayi(&["audit", "--robots", &robots, "--json", &path], b"");
            assert_eq!(run.status, Some(2), "{how} {name}: {}", run.stderr);
            let told = format!("{name}` can't be read to its end");
            assert!(run.stderr.contains(&told), "{how} {name}: {}", run.stderr);
            let report: Value = serde_json::from_str(&run.stdout).expect("one object of JSON");
            let read = report["lines"]["read"].as_u64().expect("a number");
            // Damage may be found by nothing but a checksum at the end.
            assert!((1_000..=8_000).contains(&read), "{how} {name}: {read} lines");
            if how == "cut" {
                assert!(read < 8_000, "{how} {name}: {read} lines");
                assert_eq!(report["lines"]["unreadable"], 0, "{name}: no half of a line counts");
            }
        }
    }
}

/// A server on loopback that has robots.txt and counts who asks for it.
struct Site {
    url: String,
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<usize>>,
}

impl Site {
    fn start(robots: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("it does not wait");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut asked = 0;
            while !stopped.load(Ordering::Relaxed) {
                let Ok((mut stream, _)) = listener.accept() else {
                    thread::sleep(Duration::from_millis(5));
                    continue;
                };
                stream.set_nonblocking(false).expect("it waits");
                stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
                let mut request = [0; 2048];
                let length = stream.read(&mut request).unwrap_or(0);
                asked += usize::from(request[..length].starts_with(b"GET /robots.txt "));
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{robots}",
                    robots.len()
                );
            }
            asked
        });
        Self { url, stop, thread: Some(thread) }
    }

    /// Ends it, and says how often robots.txt was asked for.
    fn end(mut self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().expect("it runs").join().expect("it ends")
    }
}

/// `--site` fetches the file of the site and no other, whatever hosts the log has; `--store` alone has what was
/// kept then, and asks nobody.
#[test]
fn the_file_is_fetched_or_comes_from_a_store() {
    let folder = Folder::new();
    let site = Site::start(ROBOTS);
    let store = folder.path("robots.store");
    let hosts = ["127.0.0.1", "other.example"]
        .map(|host| format!("{host} {}", line("192.0.2.1", 1, "/private/a", "CCBot/2.0")));
    let log = folder.write("vhost.log", hosts.concat().as_bytes());
    let fetched = json(&["--site", &site.url, "--allow-private", "--store", &store, &log], b"");
    assert_eq!(figures(&fetched, "CCBot")[..3], [2, 0, 2], "one site is for all requests");
    assert_eq!(fetched["rules"][0]["file"], format!("{}robots.txt", site.url));
    let url = site.url.clone();
    assert_eq!(site.end(), 1, "asked for once, and nobody else");
    // The server is gone. What is kept is for its host; of the other nobody knows the file.
    let log = folder.write(
        "port.log",
        hosts.concat().replace("127.0.0.1 ", &format!("{} ", &url[7..url.len() - 1])).as_bytes(),
    );
    let kept = json(&["--store", &store, &log], b"");
    assert_eq!(figures(&kept, "CCBot")[..3], [2, 0, 1]);
    assert_eq!(crawler(&kept, "CCBot")["undecided"], 1);
    let missing = mayi(&["audit", "--store", &folder.path("no.store"), &log], b"");
    assert_eq!(missing.status, Some(2));
    assert!(missing.stderr.contains("there is no store"), "{}", missing.stderr);
}

/// A store keeps the versions of a file, each with the time when it came.
#[test]
fn the_history_of_a_store_says_which_file_held() {
    use mayi_fetch::kept::{FileCopy, Kept, LastAttempt};
    let folder = Folder::new();
    let store = folder.path("robots.store");
    let at =
        |day: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_812_800 + (day - 1) * 86_400);
    let copy = |text: &'static str, at: SystemTime| {
        FileCopy::new("https://example.com/robots.txt", text.as_bytes(), at)
    };
    let origin = mayi::access::Origin::of_url("https://example.com").expect("an origin");
    let last = LastAttempt::new(at(20), mayi::access::AccessResult::Successful);
    let mut kept = Kept::new(origin, Some(copy(ROBOTS, at(2))), last);
    kept.earlier = vec![copy("User-agent: *\nDisallow: /never/\n", at(1))];
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = mayi_fetch::store::open(&store, 1 << 30).expect("a store");
        store.save(&Arc::new(kept)).await.expect("it is kept");
    });
    let vhost = format!("example.com {}", log().trim_end().replace('\n', "\nexample.com "));
    let log = folder.write("vhost.log", vhost.as_bytes());
    let report = json(&["--store", &store, &log], b"");
    // On the 1st the old file held; on the 2nd the new one was a few hours old (REP-23).
    assert_eq!(figures(&report, "GPTBot")[..3], [3, 2, 0]);
    assert_eq!(crawler(&report, "GPTBot")["excused"], 1);
    assert_eq!(figures(&report, "Googlebot")[..3], [2, 1, 1]);
    let rules: Vec<_> =
        report["rules"].as_array().expect("a list").iter().map(|rule| &rule["file"]).collect();
    assert!(rules.iter().all(|file| *file == "example.com/robots.txt"), "{rules:?}");
    assert_eq!(report["unmet_rules"][0]["file"], "example.com/robots.txt of 2026-10-01T00:00:00Z");
    let shown = mayi(&["cache", "show", "--json", "--store", &store, "https://example.com"], b"");
    let shown: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!(shown["earlier"][0]["since"], "2026-10-01T00:00:00Z");
    assert_eq!(shown["copy"]["since"], "2026-10-02T00:00:00Z");
}

/// Each of several sites is for the requests of its host.
#[test]
fn several_sites_are_told_apart_by_host() {
    let folder = Folder::new();
    let site = Site::start(ROBOTS);
    let second = site.url.replace("127.0.0.1", "localhost");
    let hosts = ["127.0.0.1", "localhost", "other.example"]
        .map(|host| format!("{host} {}", line("192.0.2.1", 1, "/private/a", "CCBot/2.0")));
    let log = folder.write("vhost.log", hosts.concat().as_bytes());
    let words = ["--site", &site.url, "--site", &second, "--allow-private", "--store", "memory", &log];
    let report = json(&words, b"");
    assert_eq!(figures(&report, "CCBot")[..3], [3, 0, 2]);
    assert_eq!(crawler(&report, "CCBot")["undecided"], 1);
    assert_eq!(site.end(), 2);
}

/// An audit of a stream on its standard input, which reports every second and has a condition.
fn reporting(folder: &Folder) -> Child {
    Command::new(env!("CARGO_BIN_EXE_mayi"))
        .args(["audit", "--json", "--every", "1", "--robots", &folder.path("robots.txt")])
        .args(["--fail-if", "refuses GPTBot > 1", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs")
}

/// A stream that goes on, and nobody reads the reports: the command ends by itself, with its condition.
#[test]
fn a_stream_ends_with_the_reader_of_its_reports() {
    let folder = Folder::new();
    let mut child = reporting(&folder);
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("it has standard input");
    input.write_all(log().as_bytes()).expect("it reads");
    let mut ended = None;
    for _ in 0..300 {
        ended = child.try_wait().expect("it can be asked");
        if ended.is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    if ended.is_none() {
        child.kill().expect("it can be ended");
        child.wait().expect("it ends");
    }
    assert_eq!(ended.expect("it goes on although nobody reads").code(), Some(1), "the condition holds");
    drop(input);
}

/// A stream that goes on: the report comes every so often, and at Ctrl-C.
#[cfg(unix)]
#[test]
fn a_stream_that_goes_on_is_reported_and_ended() {
    let folder = Folder::new();
    let mut child = reporting(&folder);
    let mut input = child.stdin.take().expect("it has standard input");
    let mut output = BufReader::new(child.stdout.take().expect("it has standard output"));
    // The lines come in pieces, and no end of the stream comes.
    let log = log();
    let (first, second) = log.as_bytes().split_at(200);
    let mut report_with = |read: u64| {
        for _ in 0..60 {
            let mut line = String::new();
            output.read_line(&mut line).expect("a report");
            let report: Value = serde_json::from_str(&line).expect("one object of JSON on each line");
            if report["lines"]["read"] == read {
                return report;
            }
        }
        panic!("{read} lines were never reported")
    };
    input.write_all(first).expect("it reads");
    input.flush().expect("it reads");
    report_with(2);
    input.write_all(second).expect("it reads");
    input.flush().expect("it reads");
    let report = report_with(8);
    assert_eq!(figures(&report, "GPTBot"), [3, 1, 2, 1, 0, 3, 0]);
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.expect("kill runs").success());
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("the last report");
    let last: Value = serde_json::from_str(rest.lines().last().expect("a last report")).expect("JSON");
    assert_eq!(last["crawlers"], report["crawlers"]);
    assert_eq!(child.wait().expect("it ends").code(), Some(1), "the condition holds");
    drop(input);
}

/// Directives of a W3C log come before the line that tells what it is, one at a time.
#[test]
fn a_stream_may_start_with_directives() {
    let folder = Folder::new();
    let log = b"#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n#Date: 2026-10-01 00:00:00\r\n\
        #Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status cs(User-Agent)\r\n\
        2026-10-01 12:00:00 192.0.2.1 GET /private/a - 200 CCBot/2.0\r\n\
        #Fields: date time cs-uri-stem c-ip cs(User-Agent)\r\n\
        2026-10-01 12:00:00 /private/b 192.0.2.1 CCBot/2.0\r\n";
    let mut child = Command::new(env!("CARGO_BIN_EXE_mayi"))
        .args(["audit", "--json", "--robots", &folder.path("robots.txt"), "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut input = child.stdin.take().expect("it has standard input");
    for line in log.split_inclusive(|octet| *octet == b'\n') {
        input.write_all(line).expect("it reads");
        input.flush().expect("it reads");
        thread::sleep(Duration::from_millis(30));
    }
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["lines"]["read"], &report["lines"]["unreadable"]), (&2.into(), &0.into()));
    assert_eq!(figures(&report, "CCBot")[..3], [2, 0, 2]);
}

#[test]
fn neither_the_order_of_files_nor_threads_matter() {
    let folder = Folder::new();
    let lines: Vec<_> = log().lines().map(|line| format!("{line}\n")).collect();
    let first = folder.write("1.log", lines[..4].concat().as_bytes());
    let second = folder.write("2.log", lines[4..].concat().as_bytes());
    let robots = folder.path("robots.txt");
    let run =
        |words: &[&str]| mayi(&[&["audit", "--robots", &robots, "--json"], words].concat(), b"").stdout;
    let expected = run(&[&first, &second]);
    assert_eq!(run(&[&second, &first]), expected);
    assert_eq!(run(&[&second, &first, "--jobs", "1"]), expected);
    assert_eq!(run(&[&second, &first, "--jobs", "7"]), expected);
    let whole: Value = serde_json::from_str(&run(&[&folder.path("access.log")])).expect("JSON");
    let parts: Value = serde_json::from_str(&expected).expect("JSON");
    assert_eq!(whole["crawlers"], parts["crawlers"]);
    assert_eq!(whole["rules"], parts["rules"]);
}

/// REP-23: a crawler may use its copy for 24 hours.
#[test]
fn the_day_after_a_change_is_told_apart() {
    let folder = Folder::new();
    let old = format!("2026-09-01={}", folder.write("old.txt", b"User-agent: *\nDisallow: /never/\n"));
    let new = format!("2026-10-02={}", folder.path("robots.txt"));
    for words in [["--robots", &old, "--robots", &new], ["--robots", &new, "--robots", &old]] {
        let report = json(&[&words[..], &[&folder.path("access.log")]].concat(), b"");
        // On the 1st the old file held; on the 2nd the new one was a few hours old.
        assert_eq!(figures(&report, "GPTBot")[..3], [3, 2, 0]);
        assert_eq!(crawler(&report, "GPTBot")["excused"], 1);
        assert_eq!(figures(&report, "Googlebot")[..3], [2, 1, 1]);
        let broken = report["rules"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|rule| rule["line"] == 5)
            .expect("the rule");
        assert_eq!((broken["requests"].as_u64(), broken["excused"].as_u64()), (Some(0), Some(1)));
    }
    // Before the first file nobody knows, but that robots.txt itself is allowed (REP-10).
    let report = json(&["--robots", &new, &folder.path("access.log")], b"");
    assert_eq!(figures(&report, "GPTBot")[..3], [3, 1, 1]);
    assert_eq!(crawler(&report, "GPTBot")["undecided"], 1);
}

#[test]
fn hosts_have_files_of_their_own() {
    let folder = Folder::new();
    folder.write("sites/a.example.txt", b"User-agent: *\nDisallow: /\n");
    folder.write("sites/b.example/robots.txt", b"User-agent: *\nAllow: /\n");
    let vhost = |host: &str| format!("{host}:443 {}", line("192.0.2.1", 1, "/x", "CCBot/2.0"));
    let hosts = ["a.example", "A.example", "b.example", "c.example", "../../etc"].map(vhost).concat();
    let log = folder.write("vhost.log", hosts.as_bytes());
    let report = json(&["--robots-dir", &folder.path("sites"), &log], b"");
    assert_eq!(figures(&report, "CCBot")[..3], [5, 1, 2]);
    assert_eq!(crawler(&report, "CCBot")["undecided"], 2);
    let hosts: Vec<_> = report["hosts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|host| host["host"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(hosts[0], "a.example");
}

#[test]
fn ranges_say_who_it_was() {
    let folder = Folder::new();
    folder.write(
        "ranges/gptbot.json",
        br#"{"creationTime": "x", "prefixes": [{"ipv4Prefix": "192.0.2.1/32"}]}"#,
    );
    folder.write("ranges/googlebot.json", br#"{"prefixes": [{"ipv6Prefix": "2001:db8::/32"}]}"#);
    folder.write("ranges/notes.txt", b"192.0.2.0/24");
    let words = [
        "--robots",
        &folder.path("robots.txt"),
        "--ranges",
        &folder.path("ranges"),
        &folder.path("access.log"),
    ];
    let report = json(&words, b"");
    assert_eq!(figures(&report, "GPTBot"), [3, 1, 2, 1, 2, 0, 1]);
    assert_eq!(figures(&report, "Googlebot"), [2, 1, 1, 0, 0, 0, 2]);
    assert_eq!(figures(&report, "ExampleBot"), [1, 0, 1, 0, 0, 1, 0]);
    assert_eq!(crawler(&report, "GPTBot")["identities"]["contradicted"]["refused"], 1);
    let addresses = report["addresses"].to_string();
    assert!(addresses.contains("192.0.2.0/24") && !addresses.contains("192.0.2.2"), "{addresses}");
    let full = json(&[&words[..], &["--full-addresses"]].concat(), b"");
    assert!(full["addresses"].to_string().contains("\"192.0.2.2\""));
    let run = mayi(&[&["audit"], &words[..]].concat(), b"");
    assert!(run.stderr.contains("notes.txt") && run.stderr.contains("product token"), "{}", run.stderr);
}

/// A DNS server on loopback that knows one address of Googlebot and one that only says so.
struct Server {
    address: String,
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<usize>>,
}

impl Server {
    fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
        socket.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
        let address = socket.local_addr().expect("an address").to_string();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let (mut buffer, mut asked) = ([0; 512], 0);
            while !stopped.load(Ordering::Relaxed) {
                let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
                asked += 1;
                let _ = socket.send_to(&answer(&buffer[..length]), from);
            }
            asked
        });
        Self { address, stop, thread: Some(thread) }
    }

    /// Ends it, and says how many questions there were.
    fn end(mut self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().expect("it runs").join().expect("it ends")
    }
}

fn answer(question: &[u8]) -> Vec<u8> {
    let mut name = String::new();
    let mut at = 12;
    while question[at] > 0 {
        let end = at + 1 + usize::from(question[at]);
        name.push_str(std::str::from_utf8(&question[at + 1..end]).expect("a label"));
        name.push('.');
        at = end;
    }
    let kind = question[at + 2];
    let labels = |name: &str| {
        let mut octets = Vec::new();
        for label in name.split('.') {
            octets.push(label.len() as u8);
            octets.extend(label.as_bytes());
        }
        octets.push(0);
        octets
    };
    let data = match (&*name, kind) {
        ("1.100.51.198.in-addr.arpa.", 12) => labels("crawl-1.googlebot.com"),
        ("2.100.51.198.in-addr.arpa.", 12) => labels("crawl-2.googlebot.com"),
        ("3.100.51.198.in-addr.arpa.", 12) => labels("host.evil.example"),
        ("crawl-1.googlebot.com.", 1) => vec![198, 51, 100, 1],
        // What says it is Googlebot has another address.
        ("crawl-2.googlebot.com.", 1) => vec![198, 51, 100, 99],
        ("host.evil.example.", 1) => vec![198, 51, 100, 3],
        _ => Vec::new(),
    };
    let mut message = question.to_vec();
    message[2] |= 0x80;
    if name.starts_with("5.100") {
        message[3] = 2; // it fails
    } else if data.is_empty() {
        message[3] = 3; // there is no such name
    } else {
        message[7] = 1;
        message.extend([0xC0, 12, 0, kind, 0, 1, 0, 0, 0, 60, 0, data.len() as u8]);
        message.extend(data);
    }
    message
}

#[test]
fn reverse_dns_is_confirmed_forwards() {
    let folder = Folder::new();
    let server = Server::start();
    let lines: String = (1..=5)
        .flat_map(|last| {
            [
                line(&format!("198.51.100.{last}"), 1, "/", "Googlebot/2.1"),
                line(&format!("198.51.100.{last}"), 1, "/private/", "Googlebot/2.1"),
            ]
        })
        .chain([line("198.51.100.9", 1, "/", "GPTBot/1")])
        .collect();
    let log = folder.write("dns.log", lines.as_bytes());
    let report = json(
        &["--robots", &folder.path("robots.txt"), "--verify", "--resolver", &server.address, &log],
        b"",
    );
    // 1 is confirmed; 2 points elsewhere, 3 is somebody else, 4 has no name; about 5 there is no answer.
    assert_eq!(figures(&report, "Googlebot"), [10, 5, 5, 0, 2, 2, 6]);
    // OpenAI publishes no host names: nobody is asked.
    assert_eq!(figures(&report, "GPTBot")[4..], [0, 1, 0]);
    assert_eq!(server.end(), 8, "five addresses and three names, each once");
    let server = Server::start();
    let run = mayi(
        &[
            "audit",
            "--robots",
            &folder.path("robots.txt"),
            "--verify",
            "--resolver",
            &server.address,
            "--verify-limit",
            "2",
            &log,
        ],
        b"",
    );
    assert!(run.stderr.contains("3 more addresses were not looked up"), "{}", run.stderr);
    assert_eq!(server.end(), 4);
}

#[test]
fn conditions_guard_a_release() {
    let folder = Folder::new();
    let new = folder.write("new.txt", b"User-agent: *\nDisallow: /\n\nUser-agent: GPTBot\nAllow: /\n\nUser-agent: Nobody\nDisallow: /x\n");
    let (robots, log) = (folder.path("robots.txt"), folder.path("access.log"));
    let run = |words: &[&str]| mayi(&[&["audit", "--robots", &robots], words, &[&log]].concat(), b"");
    let failed = run(&["--propose", &new, "--fail-if", "refuses Googlebot > 0"]);
    assert_eq!(failed.status, Some(1));
    assert!(
        failed.stderr.contains("`refuses Googlebot > 0` is true: the value is 2"),
        "{}",
        failed.stderr
    );
    assert!(
        failed.stdout.contains("1 newly refused") && failed.stdout.contains("Disallow: /x"),
        "{}",
        failed.stdout
    );
    assert_eq!(run(&["--propose", &new, "--fail-if", "refuses GPTBot > 0"]).status, Some(0));
    assert_eq!(run(&["--fail-if", "refuses GPTBot > 1"]).status, Some(1));
    assert_eq!(run(&["--fail-if", "newly-refuses GPTBot > 1"]).status, Some(2));
    let wrong = run(&["--fail-if", "refuse GPTBot"]);
    assert_eq!(wrong.status, Some(2));
    let report = json(&["--robots", &robots, "--propose", &robots, &log], b"");
    assert!(
        report["proposal"]["crawlers"]
            .as_array()
            .expect("a list")
            .iter()
            .all(|of| of["newly_refused"] == 0 && of["newly_allowed"] == 0)
    );
}

#[test]
fn nothing_raw_reaches_the_terminal_or_the_page() {
    let folder = Folder::new();
    let evil =
        line("192.0.2.1", 1, "/private/\x1b[31m<script>alert(1)</script>\x07", "Evil\x1b]0;bot/1");
    let log = folder.write("evil.log", format!("{}{evil}{}\n", log(), "z".repeat(11 << 20)).as_bytes());
    let page = folder.path("report.html");
    let run = mayi(&["audit", "--robots", &folder.path("robots.txt"), "--html", &page, &log], b"");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(
        run.stdout.chars().all(|character| !character.is_control() || character == '\n'),
        "{:?}",
        run.stdout
    );
    assert!(run.stdout.contains("the line is too long"));
    let page = fs::read_to_string(page).expect("the page");
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;") && !page.contains('\x1b'));
    for table in ["crawlers", "rules", "days", "paths", "addresses", "changes"] {
        let run = mayi(&["audit", "--robots", &folder.path("robots.txt"), "--csv", table, &log], b"");
        assert_eq!(run.status, Some(0));
        assert!(run.stdout.lines().count() > usize::from(table != "changes"), "{table}");
        assert!(!run.stdout.contains('\x1b'));
    }
}

#[test]
fn what_the_caller_got_wrong_is_said() {
    let folder = Folder::new();
    let (robots, log) = (folder.path("robots.txt"), folder.path("access.log"));
    for (words, says) in [
        (&["audit", &log][..], "--robots"),
        (&["audit", "--robots", &robots, "no-such.log"], "no-such.log"),
        (&["audit", "--robots", "no-such.txt", &log], "no-such.txt"),
        (&["audit", "--robots", &robots, "--format", "apache3", &log], "combined, vhost"),
        (&["audit", "--robots", &robots, "--since", "yesterday", &log], "2026-10-01"),
        (&["audit", "--robots", &robots, "--robots", &robots, &log], "give each a date"),
        (&["audit", "--robots", &robots, "--ranges", "no-such", &log], "no-such"),
        (&["audit", "--robots", &robots, "--format", "caddy", &log], "not one line could be read"),
    ] {
        let run = mayi(words, b"");
        assert_eq!(run.status, Some(2), "{words:?}: {}", run.stderr);
        assert!(run.stderr.contains(says), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn a_file_of_many_rules_does_not_make_a_report_of_as_many() {
    let folder = Folder::new();
    let many = format!("User-agent: *\n{}", "Allow: /never\n".repeat(10_007));
    let (robots, log) = (folder.write("many.txt", many.as_bytes()), folder.path("access.log"));
    let words = ["--robots", &robots, "--propose", &robots, &log];
    let report = json(&words, b"");
    for (rules, left_out) in [
        (&report["unmet_rules"], &report["bounds"]["unmet_rules_left_out"]),
        (&report["proposal"]["unmet_rules"], &report["proposal"]["unmet_rules_left_out"]),
    ] {
        assert_eq!((rules.as_array().map(Vec::len), left_out), (Some(10_000), &7.into()));
        assert_eq!(rules[9_999]["line"], 10_001);
    }
    let run = mayi(&[&["audit"], &words[..]].concat(), b"");
    assert!(run.stdout.contains("\n7 more rules that decided no request\n"), "{}", run.stdout);
    assert!(run.stdout.contains("\n7 more rules of the proposed file that"), "{}", run.stdout);
}

#[test]
fn a_part_of_the_requests() {
    let folder = Folder::new();
    let robots = folder.path("robots.txt");
    let log = folder.path("access.log");
    let report =
        json(&["--robots", &robots, "--since", "2026-10-02", "--until", "2026-10-02", &log], b"");
    assert_eq!(figures(&report, "GPTBot")[..3], [1, 0, 1]);
    assert_eq!(report["lines"]["left_out"], 6);
    let report = json(&["--robots", &robots, "--kind", "training", &log], b"");
    assert_eq!(report["crawlers"].as_array().map(Vec::len), Some(1));
    let report = json(&["--robots", &robots, "--crawler", "examplebot", &log], b"");
    assert_eq!(report["crawlers"][0]["crawler"], "ExampleBot");
    let own = r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#;
    let report = json(&["--robots", &robots, "--format", own, &log], b"");
    assert_eq!(figures(&report, "GPTBot")[..3], [3, 1, 2]);
}
