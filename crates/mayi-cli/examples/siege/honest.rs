//! Honest clients: what they ask, what they have to hear, and how long it took.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpSocket, TcpStream};

use crate::sites::Sites;

/// How long an honest client waits before it says that it was not answered.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whose turn it is among the sites that nobody has asked about yet.
static NEXT_FRESH: AtomicUsize = AtomicUsize::new(0);

/// Eight honest clients for a while, each with an address of its own.
pub(crate) async fn ask_for(time: Duration, service: SocketAddr, sites: &Sites) -> Heard {
    let end = Instant::now() + time;
    let heard = Mutex::new(Heard::default());
    for_all((0..8).map(|number| Client { number, service, sites }.ask_until(end, &heard))).await;
    heard.into_inner().expect("no panic")
}

struct Client<'s> {
    number: u8,
    service: SocketAddr,
    sites: &'s Sites,
}

impl Client<'_> {
    async fn ask_until(self, end: Instant, heard: &Mutex<Heard>) {
        let mut line = None;
        let mut turn = usize::from(self.number);
        while Instant::now() < end {
            turn += 1;
            let (name, start, body, wanted) = self.question(turn);
            let begun = Instant::now();
            let answer = tokio::time::timeout(PATIENCE, self.ask(&mut line, &start, &body)).await;
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
        let good = format!("http://{}", self.sites.good);
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
                let fresh = &self.sites.fresh;
                let url = format!("http://{}", fresh[NEXT_FRESH.fetch_add(1, Relaxed) % fresh.len()]);
                ("fresh site", post("/v1/decide"), decide(url), disallowed)
            }
            _ => ("kept site", post("/v1/decide"), decide(good), disallowed),
        }
    }

    /// Asks by a connection that is kept, and gives the whole answer.
    async fn ask(
        &self,
        line: &mut Option<BufReader<TcpStream>>,
        head: &str,
        body: &str,
    ) -> io::Result<String> {
        let stream = if let Some(stream) = line {
            stream
        } else {
            let socket = TcpSocket::new_v4()?;
            socket.bind((Ipv4Addr::new(127, 0, 1, self.number + 1), 0).into())?;
            line.insert(BufReader::new(socket.connect(self.service).await?))
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
pub(crate) struct Heard {
    times: BTreeMap<&'static str, Vec<f64>>,
    pub(crate) failures: Vec<String>,
}

impl Heard {
    pub(crate) fn p99(&self) -> f64 {
        share(&self.all(), 99)
    }

    /// All times, the shortest first.
    fn all(&self) -> Vec<f64> {
        sorted(self.times.values().flatten().copied().collect())
    }
}

fn sorted(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    times
}

/// The time that so many of a hundred did not exceed.
fn share(times: &[f64], percent: usize) -> f64 {
    times.get(times.len() * percent / 100).copied().unwrap_or_default()
}

impl fmt::Display for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.all();
        let [middle, p99] = [50, 99].map(|percent| share(&all, percent));
        let most = all.last().copied().unwrap_or_default();
        let (count, wrong) = (all.len(), self.failures.len());
        write!(f, "{count} answers, {wrong} wrong, p50 {middle:.1}, p99 {p99:.1}, max {most:.1} ms (")?;
        for (place, (name, times)) in self.times.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "p99 of " };
            write!(f, "{comma}{name} {:.1}", share(&sorted(times.clone()), 99))?;
        }
        f.write_str(")")
    }
}
