//! Servers on loopback that do what a closure says, and what the fetchers of the tests have in common.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use mayi::access::{AccessResult, Origin, Unreachable};
use mayi::{Crawler, Target};
use mayi_fetch::clock::{Clock, Later};
use mayi_fetch::dial::{Connector, Resolver, Stream};
use mayi_fetch::guard::Guard;
use mayi_fetch::transport::Patience;
use mayi_fetch::{Builder, Fetcher, Robots};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;

/// The User-Agent string of the tests.
pub(crate) const USER_AGENT: &str = "ExampleBot/1.0 (+https://example.com/bot)";

/// A file that disallows `/private/` and nothing else.
pub(crate) const FILE: &str = "User-agent: *\nDisallow: /private/\n";

/// A server on loopback.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

/// A connection whose request has been read.
pub(crate) struct Exchange {
    /// The request line and the header fields, as they came.
    pub(crate) head: String,
    pub(crate) stream: TcpStream,
}

impl Exchange {
    /// What the request asks for.
    pub(crate) fn path(&self) -> String {
        self.head.split(' ').nth(1).unwrap_or_default().to_owned()
    }

    /// Sends this and ends the connection in an orderly way.
    pub(crate) async fn say(mut self, octets: impl AsRef<[u8]>) {
        // Whoever asked may have heard enough.
        let _ = self.stream.write_all(octets.as_ref()).await;
        let _ = self.stream.shutdown().await;
        let _ = self.stream.read_to_end(&mut Vec::new()).await;
    }

    /// Sends this and breaks the connection with a reset.
    pub(crate) async fn say_and_reset(mut self, octets: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(octets.as_ref()).await;
        // What was sent should arrive before the reset does.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let _ = self.stream.set_zero_linger();
    }

    /// Sends this and then nothing, for as long as the other side stays.
    pub(crate) async fn say_and_stall(mut self, octets: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(octets.as_ref()).await;
        let _ = self.stream.read_to_end(&mut Vec::new()).await;
    }

    /// Sends this, then these octets again and again until the other side has had enough.
    pub(crate) async fn say_for_ever(mut self, octets: &[u8], again: &[u8], pause: Duration) {
        let mut sent = self.stream.write_all(octets).await;
        while sent.is_ok() {
            sent = self.stream.write_all(again).await;
            tokio::time::sleep(pause).await;
        }
    }
}

impl Server {
    /// A server that has every connection handled by this, without reading from it first.
    #[expect(clippy::unused_async, reason = "servers start alike, and some have to wait for it")]
    pub(crate) async fn of_connections<F, H>(handle: H) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
        H: Fn(TcpStream, Arc<Mutex<Vec<String>>>) -> F + Send + Sync + 'static,
    {
        let socket = TcpSocket::new_v4().expect("a socket");
        // A small buffer is soon full: who does not read is felt by who writes.
        socket.set_recv_buffer_size(4096).expect("a buffer");
        socket.bind((Ipv4Addr::LOCALHOST, 0).into()).expect("a port on loopback");
        let listener = socket.listen(1024).expect("a port to listen on");
        let address = listener.local_addr().expect("its address");
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let server = Self { address, heads: Arc::clone(&heads) };
        // It ends with the runtime of its test.
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(handle(stream, Arc::clone(&heads)));
            }
        });
        server
    }

    /// A server that reads requests and has each handled by this.
    pub(crate) async fn of_requests<F, H>(handle: H) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
        H: Fn(Exchange) -> F + Send + Sync + 'static,
    {
        let handle = Arc::new(handle);
        Self::of_connections(move |mut stream, heads| {
            let handle = Arc::clone(&handle);
            async move {
                let Some(head) = read_head(&mut stream).await else { return };
                heads.lock().unwrap_or_else(PoisonError::into_inner).push(head.clone());
                handle(Exchange { head, stream }).await;
            }
        })
        .await
    }

    /// A server that answers as long as the gate is open.
    pub(crate) async fn gated(gate: &Arc<Semaphore>) -> Self {
        let gate = Arc::clone(gate);
        Self::of_requests(move |exchange| {
            let gate = Arc::clone(&gate);
            async move {
                let turn = gate.acquire().await;
                exchange.say(ok(FILE)).await;
                drop(turn);
            }
        })
        .await
    }

    /// A server that says the same to every request.
    pub(crate) async fn saying(octets: impl Into<Vec<u8>>) -> Self {
        let octets: Arc<[u8]> = octets.into().into();
        Self::of_requests(move |exchange| exchange.say(Arc::clone(&octets))).await
    }

    /// A server whose answer depends on the request.
    pub(crate) async fn answering<A>(answer: A) -> Self
    where
        A: Fn(&Exchange) -> Vec<u8> + Send + Sync + 'static,
    {
        Self::of_requests(move |exchange| {
            let octets = answer(&exchange);
            exchange.say(octets)
        })
        .await
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// A URL on this server.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin::of_url(&self.url("/")).expect("an origin")
    }

    /// The heads of all requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn requests(&self) -> usize {
        self.heads().len()
    }
}

/// Reads up to the empty line that ends the head of a request.
pub(crate) async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

/// A response of this status line and these fields, with the length of its body.
pub(crate) fn response(status: &str, fields: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub(crate) fn ok(body: impl AsRef<[u8]>) -> Vec<u8> {
    response("200 OK", "Content-Type: text/plain\r\n", body)
}

pub(crate) fn redirect(location: &str) -> Vec<u8> {
    response("302 Found", &format!("Location: {location}\r\n"), "")
}

/// A fetcher that may connect to loopback, and for which every name that ends in `.test` is there.
pub(crate) fn builder() -> Builder {
    Fetcher::builder(USER_AGENT)
        .expect("a User-Agent string")
        .guard(on_loopback().allowing_any_port())
        .resolver(Arc::new(TestNames))
}

pub(crate) fn on_loopback() -> Guard {
    Guard::default().allowing("127.0.0.0/8".parse().expect("a range"))
}

/// Waits hardly at all: for servers that never answer.
pub(crate) fn hasty() -> Patience {
    let mut patience = Patience::default();
    patience.connect = Duration::from_millis(400);
    patience.first_byte = Duration::from_millis(400);
    patience.total = Duration::from_millis(700);
    patience
}

/// What a fetcher makes of a server.
pub(crate) async fn fetch(server: &Server) -> Robots {
    builder().build().robots(&server.origin()).await
}

/// The same with little patience.
pub(crate) async fn fetch_hastily(server: &Server) -> Robots {
    builder().patience(hasty()).build().robots(&server.origin()).await
}

/// Whether a path of the origin is allowed.
pub(crate) fn allows(robots: &Robots, path: &str) -> bool {
    let url = format!("{}{path}", robots.origin());
    let target = Target::parse(&url).expect("a target");
    let crawler = Crawler::new("ExampleBot").expect("a product token");
    robots.decide(&crawler, &target).is_allowed()
}

/// The file was read, and says what [`FILE`] says.
#[track_caller]
pub(crate) fn assert_file(robots: &Robots) {
    assert_eq!(*robots.access(), AccessResult::Successful, "{:?}", robots.kept().last.hops);
    assert!(allows(robots, "/open") && !allows(robots, "/private/x"), "the rules of the file hold");
}

/// The file is unreachable for a reason of this kind, and nothing is allowed.
#[track_caller]
pub(crate) fn assert_failed(robots: &Robots, kind: &str) {
    let AccessResult::Unreachable(Unreachable::Network(error)) = robots.access() else {
        panic!("{} instead of trouble of the kind {kind}", robots.access())
    };
    assert!(error.starts_with(kind), "`{error}` is not of the kind {kind}");
    assert!(!allows(robots, "/open") && !allows(robots, "/private/x"), "nothing is allowed");
}

/// Every name that ends in `.test` is on loopback; no other name is known.
pub(crate) struct TestNames;

impl Resolver for TestNames {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Later<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move {
            if host.trim_end_matches('.').rsplit('.').next() == Some("test") {
                Ok(vec![(Ipv4Addr::LOCALHOST, port).into()])
            } else {
                Err(io::Error::new(io::ErrorKind::NotFound, "no such name"))
            }
        })
    }
}

/// Answers that are given one after the other, the last for ever.
pub(crate) struct Script {
    answers: Mutex<HashMap<&'static str, Vec<Vec<IpAddr>>>>,
}

impl Script {
    pub(crate) fn new(answers: &[(&'static str, &[&[&str]])]) -> Arc<Self> {
        let addresses = |texts: &&[&str]| texts.iter().map(|text| text.parse().expect("IP")).collect();
        let answers = answers
            .iter()
            .map(|(host, answers)| (*host, answers.iter().rev().map(addresses).collect()));
        Arc::new(Self { answers: Mutex::new(answers.collect()) })
    }
}

impl Resolver for Script {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Later<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move {
            let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(answers) = answers.get_mut(host) else {
                return Err(io::Error::new(io::ErrorKind::NotFound, "no such name"));
            };
            let answer = if answers.len() > 1 { answers.pop() } else { answers.last().cloned() };
            let answer = answer.unwrap_or_default().into_iter();
            Ok(answer.map(|address| SocketAddr::new(address, port)).collect())
        })
    }
}

/// Writes down what it is asked to connect to, and connects to a server on loopback instead.
pub(crate) struct Recorder {
    dialled: Mutex<Vec<SocketAddr>>,
    instead: SocketAddr,
}

impl Recorder {
    pub(crate) fn new(instead: SocketAddr) -> Arc<Self> {
        Arc::new(Self { dialled: Mutex::default(), instead })
    }

    pub(crate) fn dialled(&self) -> Vec<String> {
        let dialled = self.dialled.lock().unwrap_or_else(PoisonError::into_inner);
        dialled.iter().map(ToString::to_string).collect()
    }
}

impl Connector for Recorder {
    fn connect(&self, address: SocketAddr) -> Later<'_, io::Result<Box<dyn Stream>>> {
        self.dialled.lock().unwrap_or_else(PoisonError::into_inner).push(address);
        Box::pin(async {
            assert!(self.instead.ip().is_loopback(), "the tests stay on loopback");
            Ok(Box::new(TcpStream::connect(self.instead).await?) as Box<dyn Stream>)
        })
    }
}

/// The time of the system and some more, as much as a test says.
#[derive(Default)]
pub(crate) struct Ahead(AtomicU64);

impl Ahead {
    pub(crate) fn go_on(&self, duration: Duration) {
        self.0.fetch_add(duration.as_secs(), Ordering::SeqCst);
    }
}

impl Clock for Ahead {
    fn now(&self) -> SystemTime {
        SystemTime::now() + Duration::from_secs(self.0.load(Ordering::SeqCst))
    }

    fn sleep(&self, duration: Duration) -> Later<'_, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Counts how many are within at once, and how many at most.
#[derive(Default)]
pub(crate) struct Gauge {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Gauge {
    pub(crate) fn enter(self: &Arc<Self>) -> Within {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        Within(Arc::clone(self))
    }

    pub(crate) fn now(&self) -> usize {
        self.now.load(Ordering::SeqCst)
    }

    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

pub(crate) struct Within(Arc<Gauge>);

impl Drop for Within {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits until something holds.
pub(crate) async fn eventually(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..3000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came to this: {what}");
}
