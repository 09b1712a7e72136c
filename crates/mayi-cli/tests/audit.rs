//! `mayi audit` as people run it: logs compressed or not, files with dates and by host, DNS, conditions,
//! and what it prints.

mod common;

use std::fs;
use std::io::Write;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

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
    // Half of a compressed file: what was read counts, and the end says that it is not all.
    let half = folder.write("half.gz", &gzip[..gzip.len() / 2]);
    let run = mayi(&["audit", "--robots", &robots, "--json", &half], b"");
    assert_eq!(run.status, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("half.gz` can't be read to its end"), "{}", run.stderr);
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
    assert!(run.stderr.contains("not asked about 3 more addresses"), "{}", run.stderr);
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
    assert!(failed.stderr.contains("`refuses Googlebot > 0` holds: it is 2"), "{}", failed.stderr);
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
