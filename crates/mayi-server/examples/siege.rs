//! Besieges `mayi serve`: honest clients ask it while every known kind of attacker does its worst, all on loopback.
//!
//! `siege PROGRAM SECONDS [strict]`. It passes when every honest request gets the right answer, nothing panics, resident
//! memory stays below the sum of the documented bounds, and descriptors and threads return to where they were. With
//! `strict` the honest requests also have to be quick: that is for a machine on which nothing else runs. Addresses of
//! loopback stand for clients; see scripts/siege.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// The sum of what docs/operations.md says may be taken: files that are ready, what is prepared, bodies and answers, the
/// log, and 128 MiB for the program, its threads and its connections.
const MOST_MEMORY_MIB: u64 = 512 + 64 + 256 + 4 + 128;

/// How long an honest client waits before it says that it was not answered.
const PATIENCE: Duration = Duration::from_secs(30);

const GOOD: &str = "User-agent: *\nDisallow: /private/\n";

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [program, seconds, rest @ ..] = &*words else {
        eprintln!("siege PROGRAM SECONDS [strict]");
        return ExitCode::from(2);
    };
    let seconds: u64 = seconds.parse().expect("a number of seconds");
    let is_strict = rest.iter().any(|word| word == "strict");
    let field = Field::new(program).await;
    let quiet = Duration::from_secs((seconds / 6).max(5));
    let before = field.honest_for(quiet).await;
    let (threads, descriptors) = (field.status("Threads:"), field.descriptors());
    println!("without attackers: {before}; {threads} threads, {descriptors} descriptors");

    let is_over = Arc::new(AtomicBool::new(false));
    let attackers = field.attack(&is_over);
    let during = field.honest_for(Duration::from_secs(seconds).saturating_sub(quiet)).await;
    is_over.store(true, Relaxed);
    for attacker in attackers {
        attacker.abort();
    }
    println!("with attackers:    {during}");

    let mut failures = [before.failures.clone(), during.failures.clone()].concat();
    let mut expect = |holds: bool, what: String| {
        println!("{} {what}", if holds { "holds: " } else { "BROKEN:" });
        if !holds {
            failures.push(what);
        }
    };
    let peak = field.status("VmHWM:") / 1024;
    expect(peak <= MOST_MEMORY_MIB, format!("{peak} MiB at the most, of {MOST_MEMORY_MIB}"));
    // Connections end by the limits that they were started with.
    let mut left = (0, 0);
    for _ in 0..60 {
        left = (field.status("Threads:"), field.descriptors());
        if left.0 <= threads + 2 && left.1 <= descriptors + 8 {
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    expect(left.0 <= threads + 2, format!("{} threads, {threads} before", left.0));
    expect(left.1 <= descriptors + 8, format!("{} descriptors, {descriptors} before", left.1));
    let log = std::fs::read_to_string(&field.log).unwrap_or_default();
    expect(!log.contains("panicked"), format!("no panic in {} lines of log", log.lines().count()));
    if is_strict {
        let ratio = during.p99() / before.p99().max(0.001);
        expect(during.p99() < 50.0, format!("p99 {:.1} ms, and may be 50", during.p99()));
        expect(ratio <= 5.0, format!("{ratio:.1} times the p99 without attackers, and may be 5"));
    }
    for failure in failures.iter().take(20) {
        println!("FAILED: {failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The service, and the sites that it is asked about.
struct Field {
    child: Child,
    service: SocketAddr,
    log: std::path::PathBuf,
    _folder: tempfile::TempDir,
    good: SocketAddr,
    /// Good sites that nobody has asked about yet.
    fresh: Vec<SocketAddr>,
    next_fresh: AtomicUsize,
    hostile: SocketAddr,
    large: SocketAddr,
    stalling: Vec<SocketAddr>,
}

impl Drop for Field {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Field {
    async fn new(program: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--allow-address", "127.0.0.0/8"])
            .args(["--store", "memory", "--set", "limits.idle_seconds=10"])
            .args(["--set", "limits.header_seconds=5", "--set", "fetch.timeout_seconds=10"])
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&log).expect("a file"))
            .spawn()
            .expect("the program runs");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it has standard output");
        io::BufRead::read_line(&mut io::BufReader::new(stdout), &mut line).expect("a line");
        let url = line.trim().strip_prefix("mayi listens on http://").expect("it says where it is");
        let service = url.trim_end_matches('/').parse().expect("an address");
        let mut hostile = r"User-agent: (?:.*){540}N".to_owned() + "\n";
        hostile = hostile.repeat(1500) + GOOD;
        let large = "User-agent: *\n".to_owned() + &"Allow:/\nDisallow:/a*b$\n".repeat(22_000);
        let mut stalling = Vec::new();
        // Sites of one kind have one address, as there are few connections to one.
        for _ in 0..32 {
            stalling.push(site(2, None).await);
        }
        let mut fresh = Vec::new();
        for _ in 0..64 {
            fresh.push(site(3, Some(GOOD.to_owned())).await);
        }
        Self {
            child,
            service,
            log,
            _folder: folder,
            good: site(4, Some(GOOD.to_owned())).await,
            fresh,
            next_fresh: AtomicUsize::new(0),
            hostile: site(5, Some(hostile)).await,
            large: site(6, Some(large)).await,
            stalling,
        }
    }

    /// A number of `/proc/…/status`.
    fn status(&self, name: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let text = text.expect("the service runs");
        let line = text.lines().find(|line| line.starts_with(name)).expect("a number");
        line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
    }

    fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).expect("the service runs").count()
    }

    /// Eight honest clients for a while.
    async fn honest_for(&self, time: Duration) -> Heard {
        let end = Instant::now() + time;
        let heard = Mutex::new(Heard::default());
        let clients = (0..8).map(|client| self.honest(client, end, &heard));
        for_all(clients).await;
        heard.into_inner().expect("no panic")
    }

    async fn honest(&self, client: usize, end: Instant, heard: &Mutex<Heard>) {
        let mut line = None;
        let mut turn = client;
        while Instant::now() < end {
            turn += 1;
            let (name, start, body, wanted) = self.question(turn);
            let begun = Instant::now();
            let answer =
                tokio::time::timeout(PATIENCE, ask(&mut line, self.service, &start, &body)).await;
            let took = begun.elapsed();
            let is_right =
                matches!(&answer, Ok(Ok(text)) if text.matches(wanted.0).count() == wanted.1);
            {
                let mut heard = heard.lock().expect("no panic");
                heard.times.entry(name).or_default().push(took.as_secs_f64() * 1000.0);
                if !is_right {
                    line = None;
                    let said = match answer {
                        Ok(Ok(text)) => text.chars().take(300).collect(),
                        Ok(Err(error)) => error.to_string(),
                        Err(_) => "nothing".to_owned(),
                    };
                    heard.failures.push(format!("{name} got {said}"));
                }
            }
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    }

    /// An honest question: its name, head and body, and what its answer has how often.
    fn question(&self, turn: usize) -> (&'static str, String, String, (&'static str, usize)) {
        let disallowed = (r#""allowed":false"#, 1);
        let decide = |url: String| format!(r#"{{"url":"{url}/private/x","agent":"ExampleBot"}}"#);
        let good = format!("http://{}", self.good);
        let post = |path: &str| format!("POST {path} HTTP/1.1\r\nContent-Type: application/json\r\n");
        match turn % 10 {
            0 => ("health", "GET /healthz HTTP/1.1\r\n".to_owned(), String::new(), ("alive", 1)),
            1 => {
                let body = r#"{"robots":"User-agent: *\nDisalow: /a\n"}"#.to_owned();
                ("lint", post("/v1/lint"), body, ("misspelled-name", 1))
            }
            2 => {
                let path = format!("/v1/decide?agent=ExampleBot&url={good}/private/x");
                ("get", format!("GET {path} HTTP/1.1\r\n"), String::new(), disallowed)
            }
            3 => {
                let items = vec![decide(good); 50].join(",");
                ("array", post("/v1/decide"), format!("[{items}]"), (r#""allowed":false"#, 50))
            }
            4 => {
                let lines = vec![decide(good); 20].join("\n");
                let head = "POST /v1/decide HTTP/1.1\r\nContent-Type: application/x-ndjson\r\n";
                ("lines", head.to_owned(), lines, (r#""allowed":false"#, 20))
            }
            5 => {
                let body = r#"{"url":"https://a/private/","agent":"a","robots":"User-agent: *\nDisallow: /private/\n"}"#;
                ("with file", post("/v1/decide"), body.to_owned(), disallowed)
            }
            6 if turn.is_multiple_of(7) => {
                let next = self.next_fresh.fetch_add(1, Relaxed) % self.fresh.len();
                let url = format!("http://{}", self.fresh[next]);
                ("fresh site", post("/v1/decide"), decide(url), disallowed)
            }
            _ => ("kept site", post("/v1/decide"), decide(good), disallowed),
        }
    }

    /// Starts all attackers, each from an address of its own.
    fn attack(&self, is_over: &Arc<AtomicBool>) -> Vec<tokio::task::JoinHandle<()>> {
        let to = self.service;
        let regexes = r"User-agent: (?:.*){540}N\n".repeat(100);
        let agent = "a".repeat(1310);
        let frozen = format!(r#"{{"url":"https://a/","agent":"{agent}","robots":"{regexes}"}}"#);
        let wild = r"Disallow: /%2A*a$b*\nAllow: /a*/index.html\n".repeat(10_000);
        let costly = format!(r#"{{"robots":"User-agent: *\n{wild}"}}"#);
        let fields = vec![r#"["",""]"#; 500_000].join(",");
        let fields = format!(r#"{{"headers":[{fields}]}}"#);
        let stalling: Vec<_> = self
            .stalling
            .iter()
            .map(|site| format!(r#"{{"url":"http://{site}/","agent":"a"}}"#))
            .collect();
        let stalling = format!("[{}]", stalling.join(","));
        let robots = format!("/v1/robots?url=http://{}/", self.large);
        let explain = format!("/v1/decide?agent=a&explain=true&url=http://{}/", self.large);
        let hostile = self.hostile;
        let large = self.large;
        let half = format!("{{\"url\":\"http://{hostile}/\",\"agent\":\"a\"}}\n").repeat(5) + "{\"url";
        let broken = format!(
            "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n\
             Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{half}\r\nno size\r\n",
            half.len()
        );
        let read = |octets: Vec<u8>| (octets, Then::Read);
        let leave = |octets: Vec<u8>| (octets, Then::Leave);
        let hold = |octets: Vec<u8>| (octets, Then::Hold);
        let kinds: Vec<(u8, usize, (Vec<u8>, Then))> = vec![
            (2, 6, read(posted("/v1/decide", &frozen))),
            (3, 3, read(posted("/v1/compare", &costly))),
            (3, 3, read(posted("/v1/lint", &costly))),
            (4, 4, leave(posted("/v1/compare", &costly))),
            (4, 4, leave(posted("/v1/lint", &costly))),
            (5, 20, hold(format!("GET {robots} HTTP/1.1\r\nHost: localhost\r\n\r\n").into())),
            (5, 20, hold(format!("GET {explain} HTTP/1.1\r\nHost: localhost\r\n\r\n").into())),
            (6, 4, hold(two_without_window(&robots, 40))),
            (7, 20, hold(Vec::new())),
            (7, 20, hold(b"GET / HTTP/1.1\r\nHost: loc".to_vec())),
            (7, 10, hold(two_without_window("/healthz", 1))),
            (8, 10, leave(posted("/v1/decide", &stalling))),
            (9, 4, read(broken.into_bytes())),
            (10, 2, read(posted("/v1/page", &fields))),
            (11, 20, read(b"GET /v1/decide HTTP/1.1\r\nHost: x\r\n\r\n\0\0".to_vec())),
        ];
        let mut attackers = Vec::new();
        for (address, count, (octets, then)) in kinds {
            let octets = Arc::new(octets);
            for _ in 0..count {
                let (octets, is_over) = (Arc::clone(&octets), Arc::clone(is_over));
                attackers.push(tokio::spawn(async move {
                    while !is_over.load(Relaxed) {
                        // What comes of an attack is for those to say who are attacked.
                        let _ = strike(address, to, &octets, then).await;
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                }));
            }
        }
        // New names all the time: nothing that was prepared is of use, and everything is kept.
        for site in [large, hostile] {
            let is_over = Arc::clone(is_over);
            attackers.push(tokio::spawn(async move {
                let mut name = String::new();
                for number in 0_u64.. {
                    if is_over.load(Relaxed) {
                        return;
                    }
                    name.clear();
                    let letters = number
                        .to_string()
                        .bytes()
                        .map(|digit| char::from(digit + 49))
                        .collect::<String>();
                    write!(name, r#"{{"url":"http://{site}/","agent":"{letters}"}}"#)
                        .expect("memory takes text");
                    let _ = strike(12, to, &posted("/v1/decide", &name), Then::Read).await;
                }
            }));
        }
        attackers
    }
}

/// What an attacker does once it has sent what it sends.
#[derive(Clone, Copy)]
enum Then {
    Read,
    Leave,
    /// It stays without reading, until it is thrown out.
    Hold,
}

async fn strike(from: u8, to: SocketAddr, octets: &[u8], then: Then) -> io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((Ipv4Addr::new(127, 0, 0, from), 0)))?;
    let mut stream = socket.connect(to).await?;
    let sent = tokio::time::timeout(PATIENCE, stream.write_all(octets)).await;
    if sent.is_err() {
        return Ok(());
    }
    match then {
        Then::Leave => {}
        Then::Read => {
            let mut buffer = vec![0; 64 << 10];
            let reading =
                async { while stream.read(&mut buffer).await.is_ok_and(|octets| octets > 0) {} };
            let _ = tokio::time::timeout(PATIENCE, reading).await;
        }
        Then::Hold => {
            let _ = tokio::time::timeout(PATIENCE, stream.ready(tokio::io::Interest::ERROR)).await;
        }
    }
    Ok(())
}

fn posted(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The start of an HTTP/2 connection that takes nothing, and requests by it.
fn two_without_window(path: &str, requests: u32) -> Vec<u8> {
    let frame = |kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        let length = u32::try_from(payload.len()).expect("it is short").to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    };
    let mut octets = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    octets.extend(frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]));
    for number in 0..requests {
        let mut fields = vec![0x82, 0x86, 0x01, 9];
        fields.extend_from_slice(b"localhost");
        fields.extend_from_slice(&[0x04, u8::try_from(path.len()).expect("it is short")]);
        fields.extend_from_slice(path.as_bytes());
        octets.extend(frame(1, 5, 2 * number + 1, &fields));
    }
    octets
}

/// Asks by a connection that is kept, and gives the whole answer.
async fn ask(
    line: &mut Option<BufReader<TcpStream>>,
    to: SocketAddr,
    head: &str,
    body: &str,
) -> io::Result<String> {
    let stream = match line {
        Some(stream) => stream,
        None => line.insert(BufReader::new(TcpStream::connect(to).await?)),
    };
    let length = body.len();
    let request = format!("{head}Host: localhost\r\nContent-Length: {length}\r\n\r\n{body}");
    stream.get_mut().write_all(request.as_bytes()).await?;
    let (mut text, mut length, mut is_chunked) = (String::new(), 0, false);
    loop {
        let start = text.len();
        if stream.read_line(&mut text).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let field = text[start..].trim_end().to_ascii_lowercase();
        if let Some(value) = field.strip_prefix("content-length: ") {
            length = value.parse().map_err(io::Error::other)?;
        }
        is_chunked |= field == "transfer-encoding: chunked";
        if field.is_empty() {
            break;
        }
    }
    let mut octets = Vec::new();
    loop {
        if is_chunked {
            let mut size = String::new();
            stream.read_line(&mut size).await?;
            length = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
        }
        let mut piece = vec![0; length + if is_chunked { 2 } else { 0 }];
        stream.read_exact(&mut piece).await?;
        octets.extend_from_slice(&piece[..length]);
        if !is_chunked || length == 0 {
            break;
        }
    }
    text.push_str(&String::from_utf8_lossy(&octets));
    Ok(text)
}

/// A site with a file, or one that accepts and says nothing.
async fn site(kind: u8, file: Option<String>) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::new(127, 0, kind, 1), 0)).await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let file = Arc::new(file);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let file = Arc::clone(&file);
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                match &*file {
                    None => tokio::time::sleep(Duration::from_secs(20)).await,
                    Some(file) => {
                        let length = file.len();
                        let head = format!(
                            "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                        );
                        let _ = stream.write_all((head + file).as_bytes()).await;
                    }
                }
            });
        }
    });
    address
}

async fn for_all<F: Future<Output = ()>>(futures: impl Iterator<Item = F>) {
    let mut futures: Vec<_> = futures.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        futures.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if futures.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

/// What honest clients heard: times in milliseconds by kind of question, and what was wrong.
#[derive(Default)]
struct Heard {
    times: BTreeMap<&'static str, Vec<f64>>,
    failures: Vec<String>,
}

impl Heard {
    fn p99(&self) -> f64 {
        p99(self.times.values().flatten().copied().collect())
    }
}

fn p99(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() * 99 / 100).copied().unwrap_or_default()
}

impl std::fmt::Display for Heard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count: usize = self.times.values().map(Vec::len).sum();
        write!(f, "{count} answers, {} wrong, p99 {:.1} ms (", self.failures.len(), self.p99())?;
        for (place, (name, times)) in self.times.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(f, "{comma}{name} {:.1}", p99(times.clone()))?;
        }
        f.write_str(")")
    }
}
