//! The service as a process, under attack: each test is something that once froze it, filled its memory or lost answers.
//! Addresses of loopback stand for clients.
#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// No answer takes this long, however busy the machine is: what does hangs.
const HANGS: Duration = Duration::from_mins(1);

/// A running `mayi serve`.
struct Service {
    child: Child,
    address: String,
}

impl Service {
    fn start(words: &[&str]) -> Self {
        Self::with_stderr(words, Stdio::null())
    }

    fn with_stderr(words: &[&str], stderr: Stdio) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mayi"))
            .args(["serve", "--listen", "127.0.0.1:0", "--allow-address", "127.0.0.0/8"])
            .args(["--store", "memory"])
            .args(words)
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .expect("the binary runs");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it has standard output");
        BufReader::new(stdout).read_line(&mut line).expect("it says where it is");
        let url = line.trim().strip_prefix("mayi listens on http://").expect("it says where it is");
        let address = url.trim_end_matches('/').to_owned();
        Self { child, address }
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
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("it reads");
        // A body that is refused is not read to its end.
        let _ = stream.write_all(body);
        stream
    }

    fn ask(&self, method: &str, path: &str, body: &[u8]) -> String {
        let mut octets = Vec::new();
        let mut stream = self.send(method, path, body);
        // It may be reset behind the answer where not all of the body was read.
        let _ = stream.read_to_end(&mut octets);
        String::from_utf8_lossy(&octets).into_owned()
    }

    /// A number of `/proc/…/status`, which gives memory in KiB.
    fn status(&self, name: &str) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = text.lines().find(|line| line.starts_with(name)).expect("a number");
        line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
    }

    /// The most memory that it ever took, in MiB.
    fn peak(&self) -> u64 {
        self.status("VmHWM:") / 1024
    }

    fn metric(&self, name: &str) -> u64 {
        let metrics = self.ask("GET", "/metrics", b"");
        let line = metrics.lines().find(|line| line.split(' ').next() == Some(name));
        line.and_then(|line| line.split(' ').nth(1)?.parse().ok())
            .unwrap_or_else(|| panic!("{metrics}"))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A site that answers with this file after a while.
fn site(file: String, after: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            std::thread::sleep(after);
            let length = file.len();
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all((head + &file).as_bytes());
        }
    });
    url
}

/// The start of an HTTP/2 connection that takes nothing, and requests by it.
fn two_without_window(path: &str, requests: u32) -> Vec<u8> {
    let frame = |kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        let length = u32::try_from(payload.len()).expect("it is short").to_be_bytes();
        let mut frame = length[1..].to_vec();
        frame.extend_from_slice(&[kind, flags]);
        frame.extend_from_slice(&stream.to_be_bytes());
        frame.extend_from_slice(payload);
        frame
    };
    let mut octets = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    // SETTINGS_INITIAL_WINDOW_SIZE is 4.
    octets.extend(frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]));
    for number in 0..requests {
        // GET, http, and two fields as they are (RFC 7541).
        let mut fields = vec![0x82, 0x86, 0x01, 9];
        fields.extend_from_slice(b"localhost");
        fields.extend_from_slice(&[0x04, u8::try_from(path.len()).expect("it is short")]);
        fields.extend_from_slice(path.as_bytes());
        octets.extend(frame(1, 5, 2 * number + 1, &fields));
    }
    octets
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
        writeln!(lines, r#"{{"url":"{url}/a/{number}","agent":"a"}}"#).expect("memory takes text");
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

#[test]
fn what_is_prepared_keeps_to_its_bound() {
    let service = Service::start(&[]);
    let mut file = "User-agent: *\n".to_owned();
    for number in 0..40_000 {
        writeln!(file, "Allow:/{number:x}").expect("memory takes text");
    }
    let url = site(file, Duration::ZERO);
    service.ask("POST", "/v1/decide", format!(r#"{{"url":"{url}/","agent":"a"}}"#).as_bytes());
    let before = service.peak();
    let letters = b"abcdefghijklmnopqrstuvwxyz";
    for number in 0..120 {
        let agent: String =
            [number / 26, number % 26].map(|place| char::from(letters[place])).iter().collect();
        let body = format!(r#"{{"url":"{url}/","agent":"{agent}"}}"#);
        let answer = service.ask("POST", "/v1/decide", body.as_bytes());
        assert!(answer.contains(r#""allowed":true"#), "{answer}");
    }
    let grown = service.peak() - before;
    assert!(grown < 64 + 48, "{grown} MiB where 64 MiB are the bound");
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

/// A hundred expressions that were slow, and a name that is long.
#[test]
fn expressions_do_not_freeze_the_service() {
    let service = Service::start(&[]);
    let file = r"User-agent: (?:.*){540}N\n".repeat(100);
    let body = format!(r#"{{"url":"https://a/","agent":"{}","robots":"{file}"}}"#, "a".repeat(1310));
    let left: Vec<_> = (0..12).map(|_| service.send("POST", "/v1/decide", body.as_bytes())).collect();
    assert!(service.ask("GET", "/healthz", b"").starts_with("HTTP/1.1 200"));
    drop(left);
}

#[test]
fn a_log_that_nobody_reads_holds_up_nobody() {
    let mut service = Service::with_stderr(&["--set", "log.requests=true"], Stdio::piped());
    let unread = service.child.stderr.take().expect("a pipe");
    let path = format!("/{}", "x".repeat(30_000));
    for _ in 0..200 {
        assert!(service.ask("GET", &path, b"").starts_with("HTTP/1.1 404"));
    }
    assert!(service.metric("mayi_log_lines_dropped_total") > 0);
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
