//! The service as a process, under attack: each test is something that once froze it, filled its memory or lost answers.
//! Addresses of loopback stand for clients.
#![cfg(target_os = "linux")]

#[path = "common/service.rs"]
mod service;

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Deref;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use service::{Process, request, two_without_window};

/// No answer takes this long, however busy the machine is: what does hangs.
const HANGS: Duration = Duration::from_mins(1);

/// A running `mayi serve`, and how it is asked.
struct Service(Process);

impl Deref for Service {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.0
    }
}

impl Service {
    fn start(words: &[&str]) -> Self {
        Self::with_stderr(words, Stdio::null())
    }

    fn with_stderr(words: &[&str], stderr: Stdio) -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_mayi"));
        // With an arena for each thread, how much memory the allocator holds depends on which threads had the work.
        program.env("MALLOC_ARENA_MAX", "2");
        Self(Process::start(program, words, stderr))
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(HANGS)).expect("a timeout");
        stream.set_write_timeout(Some(HANGS)).expect("a timeout");
        stream
    }

    /// Sends a request, and leaves it to others to read the answer.
    fn send(&self, method: &str, path: &str, body: &[u8]) -> TcpStream {
        let mut stream = self.connect();
        // A body that is refused is not read to its end.
        let _ = stream.write_all(&request(method, path, body));
        stream
    }

    fn ask(&self, method: &str, path: &str, body: &[u8]) -> String {
        let mut octets = Vec::new();
        let mut stream = self.send(method, path, body);
        // It may be reset behind the answer where not all of the body was read.
        let _ = stream.read_to_end(&mut octets);
        String::from_utf8_lossy(&octets).into_owned()
    }

    fn metric(&self, name: &str) -> u64 {
        let metrics = self.ask("GET", "/metrics", b"");
        let line = metrics.lines().find(|line| line.split(' ').next() == Some(name));
        line.and_then(|line| line.split(' ').nth(1)?.parse().ok())
            .unwrap_or_else(|| panic!("{metrics}"))
    }
}

/// A site that answers with this file after a while.
fn site(file: String, after: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || serve(&listener, &file, after));
    url
}

/// A site that has this file at every address of loopback, at the port that is given.
fn site_everywhere(file: String) -> u16 {
    let listener = TcpListener::bind("0.0.0.0:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || serve(&listener, &file, Duration::ZERO));
    port
}

fn serve(listener: &TcpListener, file: &str, after: Duration) {
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { return };
        let _ = stream.read(&mut [0; 4096]);
        std::thread::sleep(after);
        let length = file.len();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
        let _ = stream.write_all((head + file).as_bytes());
    }
}

/// Whether a connection is closed by the other side, sooner or later.
fn is_closed(stream: &mut TcpStream) -> bool {
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn whoever_is_silent_makes_room_for_others() {
    let service = Service::start(&[
        "--set",
        "limits.connections=6",
        "--set",
        "limits.connections_per_client=6",
        "--set",
        "limits.idle_seconds=2",
        "--set",
        "limits.header_seconds=2",
    ]);
    let mut silent = Vec::new();
    for kind in 0..6 {
        let mut stream = service.connect();
        match kind {
            // HTTP/2 that has asked once and says nothing more.
            0 | 1 => stream.write_all(&two_without_window("/healthz", 1)).expect("it reads"),
            // Lines that are waited for.
            2 | 3 => {
                let line = "{}\n";
                let head = "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\
                            Content-Type: application/x-ndjson\r\n\r\n";
                write!(stream, "{head}{:x}\r\n{line}\r\n", line.len()).expect("it reads");
            }
            // Half of a head, and nothing at all.
            4 => stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").expect("it reads"),
            _ => {}
        }
        silent.push(stream);
    }
    assert!(
        service.ask("GET", "/v1/dialects", b"").starts_with("HTTP/1.1 200"),
        "somebody is locked out"
    );
    for stream in &mut silent {
        assert!(is_closed(stream));
    }
}

#[test]
fn a_connection_is_kept_for_as_long_as_the_limit_says() {
    let service =
        Service::start(&["--set", "limits.header_seconds=1", "--set", "limits.idle_seconds=600"]);
    let mut stream = service.connect();
    for _ in 0..2 {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it is open");
        let mut octets = Vec::new();
        while !octets.ends_with(b"}") {
            let mut octet = [0];
            assert_eq!(stream.read(&mut octet).expect("an answer"), 1, "it was closed early");
            octets.push(octet[0]);
        }
        std::thread::sleep(Duration::from_secs(3));
    }
    // And a head that comes octet by octet has its own time.
    stream.write_all(b"GET / HTTP/1.1\r\n").expect("it is open");
    assert!(is_closed(&mut stream));
}

#[test]
fn lines_that_break_off_are_answered_and_do_not_end_well() {
    let service = Service::start(&[]);
    let url = site("User-agent: *\nDisallow: /a\n".to_owned(), Duration::from_millis(300));
    let mut stream = service.connect();
    let mut lines = String::new();
    for number in 0..5 {
        writeln!(lines, r#"{{"url":"{url}/a/{number}","agent":"a"}}"#)
            .expect("writing to memory does not fail");
    }
    lines.push_str(r#"{"url":"#);
    write!(
        stream,
        "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n\
         Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{lines}\r\nno size\r\n",
        lines.len()
    )
    .expect("it reads");
    let mut octets = Vec::new();
    // How it ends is looked at below.
    let _ = stream.read_to_end(&mut octets);
    let answer = String::from_utf8_lossy(&octets);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(answer.matches(r#""allowed":false"#).count(), 5, "{answer}");
    assert!(!answer.ends_with("0\r\n\r\n"), "nobody can tell this from a good end: {answer}");
}

#[test]
fn answers_that_nobody_reads_are_bounded() {
    let service = Service::start(&["--set", "limits.all_bodies_octets=33554432"]);
    let file = "User-agent:*\n".to_owned() + &"Allow:/\n".repeat(60_000);
    let url = site(file, Duration::ZERO);
    let path = format!("/v1/robots?url={url}/");
    let whole = service.ask("GET", &path, b"");
    assert!(whole.starts_with("HTTP/1.1 200") && whole.len() > 2_000_000, "{}", whole.len());
    let before = service.peak();
    let mut left: Vec<_> = (0..60).map(|_| service.send("GET", &path, b"")).collect();
    for _ in 0..4 {
        let mut stream = service.connect();
        stream.write_all(&two_without_window(&path, 40)).expect("it reads");
        left.push(stream);
    }
    // Whoever asks later than these is answered, so they have been.
    assert!(service.ask("GET", "/healthz", b"").starts_with("HTTP/1.1 200"));
    std::thread::sleep(Duration::from_secs(5));
    let grown = service.peak() - before;
    assert!(grown < 32 + 64, "{grown} MiB for 32 MiB of answers");
}

#[test]
fn lists_keep_to_their_bounds_before_they_take_memory() {
    let service = Service::start(&[]);
    let before = service.peak();
    for (path, start, item) in [
        ("/v1/page", r#"{"headers":["#, r#"["",""]"#),
        ("/v1/lint", r#"{"robots":"","agents":["#, r#""""#),
        ("/v1/compare", r#"{"robots":"","agents":["#, r#""""#),
    ] {
        let items = vec![item; (15 << 20) / (item.len() + 1)].join(",");
        let body = format!("{start}{items}]}}");
        let answer = service.ask("POST", path, body.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 422") && answer.contains("at most"), "{path}: {answer}");
    }
    let grown = service.peak() - before;
    assert!(grown < 64, "{grown} MiB for bodies of 15 MiB");
}

/// Names of crawlers that nobody has.
fn names() -> impl Iterator<Item = String> {
    let letter = |place: usize| char::from(b"abcdefghijklmnopqrstuvwxyz"[place % 26]);
    (0..).map(move |number| [number / 676, number / 26, number].map(letter).iter().collect())
}

#[test]
fn what_is_prepared_keeps_to_its_bound() {
    let service = Service::start(&[]);
    let mut file = "User-agent: *\n".to_owned();
    for number in 0..40_000 {
        writeln!(file, "Allow:/{number:x}").expect("writing to memory does not fail");
    }
    let url = site(file, Duration::ZERO);
    // In another dialect the file is read again for each of them.
    for dialect in ["rfc9309", "google"] {
        let ask = |agent: &str| {
            let body = format!(r#"{{"url":"{url}/","agent":"{agent}","dialect":"{dialect}"}}"#);
            let answer = service.ask("POST", "/v1/decide", body.as_bytes());
            assert!(answer.contains(r#""allowed":true"#), "{answer}");
        };
        ask("a");
        let before = service.peak();
        names().take(120).for_each(|agent| ask(&agent));
        let grown = service.peak() - before;
        assert!(grown < 64 + 48, "{dialect}: {grown} MiB where 64 MiB are the bound");
    }
}

/// Files of the costliest kinds by what they take in memory: short records, expressions that compile to much, and those
/// from which next to nothing is prepared.
#[test]
fn files_that_are_ready_keep_to_their_bound() {
    let records = "User-agent:*\n".to_owned() + &"Allow:/\n".repeat(60_000);
    let expressions = "User-agent: (?:.*){500}N\n".repeat(1_000) + "Disallow: /a\n";
    let comments = "# nothing\n".repeat(50_000);
    // What is prepared for crawlers holds files too, within its own bound.
    for (file, path, bound) in [
        (&records, "/v1/robots?url=", 24),
        (&expressions, "/v1/robots?url=", 24),
        (&expressions, "/v1/decide?agent=a&url=", 24),
        (&comments, "/v1/decide", 24 + 64),
        (&records, "/v1/decide", 24 + 64),
    ] {
        let words = ["fetch.ready_octets=25165824", "fetch.store_octets=1048576"];
        let service = Service::start(&words.map(|word| ["--set", word]).concat());
        let port = site_everywhere(file.clone());
        let ask = |number: u8| {
            let url = format!("http://127.0.9.{number}:{port}/");
            // What was fetched just now is not what is prepared: the second question is.
            for _ in 0..2 {
                let answer = if path.contains('?') {
                    service.ask("GET", &format!("{path}{url}"), b"")
                } else {
                    let body = format!(r#"{{"url":"{url}","agent":"a"}}"#);
                    service.ask("POST", path, body.as_bytes())
                };
                assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            }
        };
        ask(1);
        let before = service.peak();
        (2..=150).for_each(ask);
        let grown = service.peak() - before;
        // What the allocator keeps for later, and a file that is being read, come on top of it.
        assert!(grown < bound + 24, "{path}: {grown} MiB where {bound} MiB are the bound");
        let ready = service.metric("mayi_ready_octets");
        assert!(ready <= 24 << 20, "{ready} octets are said to be ready");
    }
}

#[test]
fn bodies_keep_to_their_bound() {
    let service = Service::start(&["--set", "limits.all_bodies_octets=33554432"]);
    let before = service.peak();
    let mut left = Vec::new();
    for _ in 0..40 {
        let mut stream = service.connect();
        let head = "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\n[";
        stream.write_all(head.as_bytes()).expect("it reads");
        // What is refused is not read to its end.
        let _ = stream.write_all(&vec![b' '; 3_900_000]);
        left.push(stream);
    }
    // One client has half of the bound, which is room for four of these.
    let mut refused = 0;
    for stream in &mut left {
        stream.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
        let mut octets = [0; 12];
        let is_refused = stream.read_exact(&mut octets).is_ok() && &octets == b"HTTP/1.1 503";
        refused += usize::from(is_refused);
    }
    assert!(refused >= 30, "only {refused} of 40 were refused");
    let grown = service.peak() - before;
    assert!(grown < 16 + 24, "{grown} MiB where one client may have 16 MiB");
}

/// A thousand connections that have asked and are kept, against what docs/operations.md says that the program takes with
/// as many.
#[test]
fn the_program_with_a_thousand_connections_keeps_to_its_bound() {
    let service = Service::start(&[]);
    let mut kept = Vec::new();
    for _ in 0..500 {
        let mut stream = service.connect();
        stream.write_all(b"GET /v1/dialects HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it reads");
        assert_eq!(stream.read(&mut [0; 9]).expect("an answer"), 9);
        kept.push(stream);
        let mut stream = service.connect();
        stream.write_all(&two_without_window("/healthz", 1)).expect("it reads");
        kept.push(stream);
    }
    assert!(service.metric("mayi_http_connections") >= 1000);
    let peak = service.peak();
    println!("{peak} MiB with 1,000 connections");
    assert!(peak < 128, "{peak} MiB where 128 MiB are the bound");
}

#[test]
fn work_that_was_left_takes_no_threads_and_holds_up_nobody() {
    let service = Service::start(&[]);
    let file = "User-agent: *\\n".to_owned() + &"Disallow: /a*b\\nAllow: /b*a$\\n".repeat(8000);
    let body = format!(r#"{{"robots":"{file}"}}"#);
    let before = service.status("Threads:");
    for number in 0..100 {
        let path = ["/v1/compare", "/v1/lint"][number % 2];
        drop(service.send("POST", path, body.as_bytes()));
    }
    let threads = service.status("Threads:");
    assert!(threads <= before + 4, "{before} threads have become {threads}");
    let begun = Instant::now();
    let small = br#"{"robots":"User-agent: *\nDisalow: /\n"}"#;
    assert!(service.ask("POST", "/v1/lint", small).starts_with("HTTP/1.1 200"));
    assert!(begun.elapsed() < HANGS);
    while service.metric("mayi_work_waiting") > 0 {
        assert!(begun.elapsed() < HANGS, "what nobody waits for is worked on");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Work that has begun is told to stop when its client goes, and makes room for others. Without that, and with a limit
/// that lets it, this comparison goes on for minutes.
#[test]
fn work_that_has_begun_ends_with_its_client() {
    let service = Service::start(&["--set", "limits.work=1000000000000"]);
    let mut file = String::new();
    for (number, name) in names().take(15_000).enumerate() {
        write!(file, r"User-agent: {name}\nDisallow: /{number:x}\n")
            .expect("writing to memory does not fail");
    }
    let body = format!(r#"{{"robots":"{file}"}}"#);
    let left = service.send("POST", "/v1/compare", body.as_bytes());
    let begun = Instant::now();
    // Who asks for the metrics is in flight as well.
    while service.metric("mayi_http_requests_in_flight") < 2 || service.metric("mayi_work_waiting") > 0
    {
        assert!(begun.elapsed() < HANGS, "it does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(left);
    // This is large too, and waits for the same thread.
    let large = format!(r#"{{"robots":"{}"}}"#, r"# a\n".repeat(20_000));
    let answer = service.ask("POST", "/v1/lint", large.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 200"), "what nobody waits for goes on: {answer}");
}

/// A hundred expressions that were slow, and a name that is long.
#[test]
fn expressions_do_not_freeze_the_service() {
    let service = Service::start(&[]);
    let file = format!(r"User-agent: ({}b)*c\n", "a?|.a|".repeat(160)).repeat(100);
    let body = format!(r#"{{"url":"https://a/","agent":"{}","robots":"{file}"}}"#, "a".repeat(128));
    let left: Vec<_> = (0..12).map(|_| service.send("POST", "/v1/decide", body.as_bytes())).collect();
    assert!(service.ask("GET", "/healthz", b"").starts_with("HTTP/1.1 200"));
    drop(left);
}

#[test]
fn a_log_that_nobody_reads_holds_up_nobody() {
    let mut service = Service::with_stderr(&["--set", "log.requests=true"], Stdio::piped());
    let unread = service.0.child.stderr.take().expect("a pipe");
    let path = format!("/{}", "x".repeat(30_000));
    assert!(service.ask("GET", &path, b"").starts_with("HTTP/1.1 404"));
    let before = service.peak();
    for _ in 0..1000 {
        assert!(service.ask("GET", &path, b"").starts_with("HTTP/1.1 404"));
    }
    assert!(service.metric("mayi_log_lines_dropped_total") > 0);
    // Lines that wait have 4 MiB, and those that came here were 30.
    let grown = service.peak() - before;
    assert!(grown < 4 + 12, "{grown} MiB where lines have 4 MiB");
    drop(unread);
}

#[test]
fn a_hangup_reads_the_keys_again_and_loses_no_connection() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("keys.toml");
    let (first, first_line) = mayi_server::new_key("first");
    let (second, second_line) = mayi_server::new_key("second");
    fs::write(&path, first_line).expect("a file");
    let service = Service::start(&["--keys", path.to_str().expect("a path")]);
    let ask = |stream: &mut TcpStream, key: &str| {
        write!(
            stream,
            "GET /v1/dialects HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n"
        )
        .expect("it is open");
        let mut buffer = vec![0; 16 << 10];
        let octets = stream.read(&mut buffer).expect("an answer");
        String::from_utf8_lossy(&buffer[9..octets.min(12)]).into_owned()
    };
    let mut stream = service.connect();
    assert_eq!(ask(&mut stream, &first), "200");
    let hang_up = || {
        let id = service.child.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &id]).status().expect("kill").success());
    };
    fs::write(&path, second_line).expect("a file");
    hang_up();
    let begun = Instant::now();
    while ask(&mut stream, &second) != "200" {
        assert!(begun.elapsed() < HANGS, "the new key is not let in");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(ask(&mut stream, &first), "401");
    // A file that can't be used changes nothing.
    fs::write(&path, "").expect("a file");
    hang_up();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(ask(&mut stream, &second), "200");
}
