//! What `scripts/load` measures the service with: a server that does nothing else, and clients that
//! send batches. `docs/operations.md` has its figures and how they are read.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::routing::any;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use mayi::access::{AccessResult, SiteFile};
use mayi::report::{FileReport, FileSource, Prepared, Request};
use mayi::{Crawler, ReadOptions, Target};

const FILE: &str = "User-agent: *\nDisallow: /private/\nAllow: /private/press/\nDisallow: /*.pdf$\n\
                    Disallow: /search?q=\nCrawl-delay: 1\nSitemap: https://example.com/sitemap.xml\n\n\
                    User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["hello", port] => hello(port.parse().expect("a port")),
        ["site", port] => site(port.parse().expect("a port")),
        ["inside"] => inside(),
        ["wire", address, site, process] => wire(address, site, process),
        _ => eprintln!("load hello PORT | site PORT | inside | wire ADDRESS SITE PROCESS"),
    }
}

/// The least that a server can do: the same connection code and router, and a body that is always the same.
fn hello(port: u16) {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let router = Router::new().route("/v1/decide", any(|| async { "hello" }));
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.expect("a port");
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let router = router.clone();
            tokio::spawn(async move {
                let service = hyper::service::service_fn(move |request: hyper::Request<_>| {
                    tower_service::Service::call(&mut router.clone(), request.map(Body::new))
                });
                let builder = auto::Builder::new(TokioExecutor::new());
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
}

/// A site with a file of usual size.
fn site(port: u16) {
    let listener = std::net::TcpListener::bind(("127.0.0.1", port)).expect("a port");
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { continue };
        let _ = stream.read(&mut [0; 4096]);
        let length = FILE.len();
        let _ = write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{FILE}"
        );
    }
}

fn requests(site: &str, count: usize) -> Vec<String> {
    let request = |n: usize| match n % 4 {
        0 => format!(r#"{{"url":"{site}/articles/2026/{n}","agent":"ExampleBot"}}"#),
        1 => format!(r#"{{"url":"{site}/private/{n}?a=b","agent":"ExampleBot"}}"#),
        2 => format!(r#"{{"url":"{site}/files/{n}.pdf","agent":"ExampleBot"}}"#),
        _ => format!(r#"{{"url":"{site}/search?q={n}&page=2","agent":"ExampleBot"}}"#),
    };
    (0..count).map(request).collect()
}

/// Decisions a second of one core, from JSON to JSON, without a socket.
fn inside() {
    let requests = requests("https://example.com", 10_000);
    let story = FileReport::new(FileSource::Fresh, &AccessResult::Successful);
    let file = SiteFile::read(FILE.as_bytes().to_vec(), &ReadOptions::default());
    let crawler = Crawler::new("ExampleBot").expect("a token");
    let prepared = Prepared::new(file, crawler, Some(story));
    let mut out = Vec::new();
    let (start, mut count) = (processor_time("self"), 0);
    let wall = Instant::now();
    while wall.elapsed() < Duration::from_secs(5) {
        out.clear();
        for json in &requests {
            let request = Request::from_json(json.as_bytes()).expect("a request");
            let target = Target::parse(&request.url).expect("a URL");
            prepared.write(&target, &mut out);
        }
        count += requests.len();
    }
    tell("inside, one thread", count, processor_time("self").saturating_sub(start), wall.elapsed());
}

/// Decisions a second over the wire, in arrays of 10,000, by as many clients as there are cores.
fn wire(address: &str, site: &str, process: &str) {
    let body = format!("[{}]", requests(site, 10_000).join(","));
    let mut request = String::new();
    let length = body.len();
    write!(
        request,
        "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .expect("writing to memory does not fail");
    let ask = || {
        let mut stream = TcpStream::connect(address).expect("the service listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = Vec::with_capacity(16 << 20);
        stream.read_to_end(&mut answer).expect("it answers");
        assert!(answer.starts_with(b"HTTP/1.1 200"), "it decides");
        let decisions = answer.windows(9).filter(|it| it == b"\"allowed\"").count();
        assert!(decisions >= 10_000, "all of them");
    };
    ask();
    let (start, wall) = (processor_time(process), Instant::now());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let count: usize = std::thread::scope(|scope| {
        let one = || {
            let mut count = 0;
            while wall.elapsed() < Duration::from_secs(8) {
                ask();
                count += 10_000;
            }
            count
        };
        let clients: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        clients.into_iter().map(|client| client.join().expect("no panic")).sum()
    });
    tell("over the wire", count, processor_time(process).saturating_sub(start), wall.elapsed());
}

fn tell(what: &str, count: usize, processor: Duration, wall: Duration) {
    #[allow(clippy::cast_precision_loss)]
    let count_of = count as f64;
    let (of_core, of_wall) = (count_of / processor.as_secs_f64(), count_of / wall.as_secs_f64());
    println!(
        "{what}: {count} decisions, {of_core:.0} a second of processor time, {of_wall:.0} a second"
    );
}

/// The time that a process has had of the processors.
fn processor_time(process: &str) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("a process of Linux");
    let fields: Vec<u64> =
        stat.rsplit(')').next().expect("fields").split(' ').map(|it| it.parse().unwrap_or(0)).collect();
    // utime and stime, in hundredths of a second.
    Duration::from_millis(10 * (fields[12] + fields[13]))
}
