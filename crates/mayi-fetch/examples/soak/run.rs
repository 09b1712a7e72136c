//! A plan → origins on loopback, honest and hostile → whether every answer about them was right.
//!
//! What an origin says, and what the right answers about it are, follows from its number, so that the
//! server and the one who asks need not speak to each other. The server is in the same process: what
//! is measured is both together.

use std::fmt;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mayi::report::Request;
use mayi_fetch::clock::Later;
use mayi_fetch::dial::Resolver;
use mayi_fetch::guard::Guard;
use mayi_fetch::store::MemoryStore;
use mayi_fetch::transport::Patience;
use mayi_fetch::{Fetcher, Stats};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;

/// So many ports, so that the system has always one left for the other end.
const PORTS: usize = 16;

/// What is held of files in memory, ready and in the store: far less than all of them.
const READY_OCTETS: u64 = 32 << 20;
const STORE_OCTETS: u64 = 16 << 20;

/// More wrong answers than this are counted only.
const MOST_SHOWN: usize = 20;

/// What to run.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) origins: usize,
    pub(crate) at_once: usize,
    pub(crate) patience: Patience,
}

/// What came of it.
pub(crate) struct Outcome {
    pub(crate) decisions: usize,
    pub(crate) wrong: usize,
    /// The first of the wrong answers.
    pub(crate) shown: Vec<String>,
    pub(crate) stats: Stats,
    pub(crate) wall: Duration,
    pub(crate) processor: Option<Duration>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) left_open: usize,
}

/// How things stand after a part of the origins.
pub(crate) struct Sample {
    percent: usize,
    /// Memory that is resident, in KiB, where the system says so.
    resident: Option<u64>,
    open: usize,
}

impl Outcome {
    pub(crate) fn is_good(&self) -> bool {
        self.wrong == 0 && self.left_open == 0
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "decisions          {}, of which wrong: {}", self.decisions, self.wrong)?;
        for wrong in &self.shown {
            writeln!(f, "  {wrong}")?;
        }
        let stats = &self.stats;
        let (successful, unavailable) = (stats.successful, stats.unavailable);
        writeln!(
            f,
            "fetches            {successful} successful, {unavailable} unavailable, {} unreachable",
            stats.unreachable
        )?;
        writeln!(f, "ready at the end   {} files, {} octets", stats.ready, stats.ready_octets)?;
        writeln!(f, "wall time          {:.1} s", self.wall.as_secs_f64())?;
        if let Some(processor) = self.processor {
            writeln!(f, "processor time     {:.1} s", processor.as_secs_f64())?;
        }
        for sample in &self.samples {
            let resident = sample.resident.map_or("unknown".to_owned(), |kib| format!("{kib} KiB"));
            let Sample { percent, open, .. } = sample;
            writeln!(f, "after {percent:>3} %        {resident} resident, {open} connections open")?;
        }
        writeln!(f, "left open          {} connections", self.left_open)
    }
}

/// What an origin is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Chunked,
    Gzip,
    UntilTheEnd,
    Redirected,
    Missing,
    Reset,
    Stalled,
    Dripping,
    Bomb,
    Failing,
    Looping,
    Nonsense,
    Truncated,
    EndlessHead,
    Refused,
}

impl Kind {
    /// Of ten origins nine are honest.
    fn of(origin: usize) -> Self {
        const HONEST: [Kind; 6] = [
            Kind::Plain,
            Kind::Chunked,
            Kind::Gzip,
            Kind::UntilTheEnd,
            Kind::Redirected,
            Kind::Missing,
        ];
        const HOSTILE: [Kind; 10] = [
            Kind::Reset,
            Kind::Stalled,
            Kind::Dripping,
            Kind::Bomb,
            Kind::Failing,
            Kind::Looping,
            Kind::Nonsense,
            Kind::Truncated,
            Kind::EndlessHead,
            Kind::Refused,
        ];
        if origin.is_multiple_of(10) {
            HOSTILE[origin / 10 % HOSTILE.len()]
        } else {
            HONEST[origin % HONEST.len()]
        }
    }

    /// Whether the three paths that are asked about are allowed.
    fn right_answers(self) -> [bool; 3] {
        match self {
            // Of the bomb too: its rules stand before what goes off.
            Self::Plain
            | Self::Chunked
            | Self::Gzip
            | Self::UntilTheEnd
            | Self::Redirected
            | Self::Bomb => [false, true, true],
            Self::Missing | Self::Looping => [true; 3],
            Self::Reset
            | Self::Stalled
            | Self::Dripping
            | Self::Failing
            | Self::Nonsense
            | Self::Truncated
            | Self::EndlessHead
            | Self::Refused => [false; 3],
        }
    }
}

/// The paths that an origin is asked about.
fn paths(origin: usize) -> [String; 3] {
    [
        format!("/private-{origin}/x?y=z"),
        format!("/private-{origin}/open/x"),
        format!("/{}/x", origin + 1),
    ]
}

/// The file of an origin: a few rules that matter, and up to some kilobytes of others.
fn file(origin: usize) -> String {
    let others = (0..origin * 7919 % 200).map(|n| format!("Disallow: /other-{n}/*.pdf$\n"));
    let others: String = others.collect();
    format!(
        "# {origin}\nUser-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /private-{origin}/\n\
         Allow: /private-{origin}/open/\n{others}\nSitemap: https://h{origin}.test/sitemap.xml\n"
    )
}

/// Runs a plan. Everything that it starts has ended when it returns, but for what a hostile server
/// sleeps through.
pub(crate) async fn run(plan: Plan) -> Outcome {
    let start = Instant::now();
    let processor_before = processor_time();
    let server = Arc::new(Server::start().expect("ports on loopback"));
    let guard = Guard::default().allowing("127.0.0.0/8".parse().expect("a range"));
    let fetcher = Fetcher::builder("SoakBot/1.0 (+https://example.com/bot)")
        .expect("a User-Agent string")
        .guard(guard)
        .resolver(Arc::new(OnLoopback))
        .connections(2, plan.at_once)
        .patience(plan.patience)
        .ready_octets(READY_OCTETS)
        .store(Arc::new(MemoryStore::new(STORE_OCTETS)))
        .build();
    let next = Arc::new(AtomicUsize::new(0));
    let told = Arc::new(Told::default());
    let mut askers = JoinSet::new();
    for _ in 0..plan.at_once {
        let (fetcher, server) = (fetcher.clone(), Arc::clone(&server));
        let (next, told) = (Arc::clone(&next), Arc::clone(&told));
        askers.spawn(async move {
            loop {
                let origin = next.fetch_add(1, Ordering::Relaxed);
                if origin >= plan.origins {
                    return;
                }
                ask(&fetcher, &server, origin, &told).await;
                told.sample(&plan, &server);
            }
        });
    }
    while let Some(asker) = askers.join_next().await {
        asker.expect("nobody panics");
    }
    // Servers learn of the end of a connection a little later than those who end it.
    for _ in 0..1000 {
        if server.open.load(Ordering::SeqCst) == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let told = Arc::into_inner(told).expect("all who asked have ended");
    let shown = told.shown.into_inner().unwrap_or_else(PoisonError::into_inner);
    Outcome {
        decisions: told.decisions.into_inner(),
        wrong: told.wrong.into_inner(),
        shown,
        stats: fetcher.stats(),
        wall: start.elapsed(),
        processor: processor_time().zip(processor_before).map(|(now, then)| now.saturating_sub(then)),
        samples: told.samples.into_inner().unwrap_or_else(PoisonError::into_inner),
        left_open: server.open.load(Ordering::SeqCst),
    }
}

/// Asks about one origin.
async fn ask(fetcher: &Fetcher, server: &Server, origin: usize, told: &Told) {
    let kind = Kind::of(origin);
    let port =
        if kind == Kind::Refused { server.refusing_port() } else { server.ports[origin % PORTS] };
    for (path, is_right) in paths(origin).iter().zip(kind.right_answers()) {
        let url = format!("http://h{origin}.test:{port}{path}");
        let request = Request::new(&url, "SoakBot");
        let answer = fetcher.decide(&request).await.expect("a request that is right");
        let report = answer.report();
        told.decisions.fetch_add(1, Ordering::Relaxed);
        if report.access.allowed != is_right {
            told.wrong.fetch_add(1, Ordering::Relaxed);
            let mut shown = told.shown.lock().unwrap_or_else(PoisonError::into_inner);
            if shown.len() < MOST_SHOWN {
                let story = report.file.map(|file| file.sentence()).unwrap_or_default();
                shown.push(format!("{kind:?} {url}: {} ({story})", report.access.allowed));
            }
        }
    }
}

/// What those who ask have to tell.
#[derive(Default)]
struct Told {
    done: AtomicUsize,
    decisions: AtomicUsize,
    wrong: AtomicUsize,
    shown: Mutex<Vec<String>>,
    samples: Mutex<Vec<Sample>>,
}

impl Told {
    /// Notes how things stand after every tenth part.
    fn sample(&self, plan: &Plan, server: &Server) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let tenth = plan.origins.div_ceil(10);
        if !done.is_multiple_of(tenth) && done != plan.origins {
            return;
        }
        let open = server.open.load(Ordering::SeqCst);
        let sample = Sample { percent: done * 100 / plan.origins, resident: resident(), open };
        self.samples.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
    }
}

/// Every name is on loopback.
struct OnLoopback;

impl Resolver for OnLoopback {
    fn resolve<'a>(&'a self, _: &'a str, port: u16) -> Later<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(vec![(Ipv4Addr::LOCALHOST, port).into()]) })
    }
}

/// All origins.
struct Server {
    ports: Vec<u16>,
    /// Bound and not listening, so that nobody else gets its port.
    refusing: TcpSocket,
    open: Arc<AtomicUsize>,
}

impl Server {
    fn start() -> io::Result<Self> {
        let refusing = TcpSocket::new_v4()?;
        refusing.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let mut server = Self { ports: Vec::new(), refusing, open: Arc::default() };
        let bomb: Arc<[u8]> = bomb()?.into();
        for _ in 0..PORTS {
            let socket = TcpSocket::new_v4()?;
            socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
            let listener = socket.listen(4096)?;
            server.ports.push(listener.local_addr()?.port());
            tokio::spawn(serve(listener, Arc::clone(&server.open), Arc::clone(&bomb)));
        }
        Ok(server)
    }

    fn refusing_port(&self) -> u16 {
        self.refusing.local_addr().expect("it is bound").port()
    }
}

async fn serve(listener: TcpListener, open: Arc<AtomicUsize>, bomb: Arc<[u8]>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors, perhaps: the next one may have more luck.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        open.fetch_add(1, Ordering::SeqCst);
        let (open, bomb) = (Arc::clone(&open), Arc::clone(&bomb));
        tokio::spawn(async move {
            // Whoever asked may have gone before the end.
            let _ = answer(stream, &bomb).await;
            open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

/// Answers one request as the origin that it names would.
async fn answer(mut stream: TcpStream, bomb: &[u8]) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default();
    let host = head.lines().find_map(|line| line.strip_prefix("host: h")).unwrap_or_default();
    let origin = host.split('.').next().and_then(|digits| digits.parse().ok()).unwrap_or(0);
    let file = file(origin);
    let ok = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
    let whole = format!("{ok}Content-Length: {}\r\n\r\n{file}", file.len());
    match Kind::of(origin) {
        Kind::Redirected if path == "/robots.txt" => {
            stream
                .write_all(b"HTTP/1.1 301 Moved\r\nLocation: /r\r\nContent-Length: 0\r\n\r\n")
                .await?;
        }
        Kind::Plain | Kind::Redirected | Kind::Refused => stream.write_all(whole.as_bytes()).await?,
        Kind::UntilTheEnd => {
            stream.write_all(format!("{ok}Connection: close\r\n\r\n{file}").as_bytes()).await?;
            return stream.shutdown().await;
        }
        Kind::Chunked => {
            let mut octets = format!("{ok}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
            for chunk in file.as_bytes().chunks(1000) {
                write!(octets, "{:x}\r\n", chunk.len())?;
                octets.extend(chunk);
                octets.extend(b"\r\n");
            }
            octets.extend(b"0\r\n\r\n");
            stream.write_all(&octets).await?;
        }
        Kind::Gzip => {
            let body = gzip(file.as_bytes())?;
            let head = format!("{ok}Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all(&[head.as_bytes(), &body].concat()).await?;
        }
        Kind::Bomb => {
            let head = format!("{ok}Content-Encoding: gzip\r\n\r\n");
            stream.write_all(&[head.as_bytes(), &gzip(file.as_bytes())?, bomb].concat()).await?;
            return stream.shutdown().await;
        }
        Kind::Missing => stream.write_all(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n").await?,
        Kind::Failing => stream.write_all(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n").await?,
        Kind::Looping => {
            let location = if path == "/robots.txt" { "/there" } else { "/robots.txt" };
            let head =
                format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
        }
        Kind::Reset => {
            stream.write_all(&whole.as_bytes()[..whole.len() / 2]).await?;
            return stream.set_zero_linger();
        }
        Kind::Truncated => {
            stream.write_all(&whole.as_bytes()[..whole.len() - 1]).await?;
            return stream.shutdown().await;
        }
        Kind::Nonsense => {
            let octets: Vec<u8> = (0..2048).map(|n| (n * (origin | 1)) as u8).collect();
            stream.write_all(&octets).await?;
            return stream.shutdown().await;
        }
        Kind::Stalled => {}
        Kind::Dripping => {
            stream.write_all(ok.as_bytes()).await?;
            stream.write_all(b"\r\n").await?;
            loop {
                stream.write_all(b"#").await?;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        Kind::EndlessHead => {
            stream.write_all(ok.as_bytes()).await?;
            loop {
                stream.write_all(&b"X-And-So-On: and so on\r\n".repeat(100)).await?;
            }
        }
    }
    // The one who asked ends the connection; whoever stalls waits for that too.
    stream.read_to_end(&mut Vec::new()).await?;
    Ok(())
}

fn gzip(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain)?;
    encoder.finish()
}

/// 64 MiB of comment in a few kilobytes.
fn bomb() -> io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let comment = vec![b'#'; 1 << 20];
    for _ in 0..64 {
        encoder.write_all(&comment)?;
    }
    encoder.finish()
}

/// The memory of this process that is resident, in KiB, where the system says so.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// The processor time of this process, where the system says so: user and system, in hundredths.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the process is in parentheses and may have spaces.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(Duration::from_millis((user + system) * 10))
}
