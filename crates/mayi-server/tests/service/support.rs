//! A service on loopback, a client that says exactly what it is told to, and sites to fetch from.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use mayi_server::{Config, Server};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A service that runs until it is stopped or dropped.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
}

/// A configuration for tests: a free port, memory, nobody but loopback to fetch from.
pub(crate) fn config() -> Config {
    let mut config = Config::default();
    config.listen.set_port(0);
    config.fetch.allow_addresses = vec!["127.0.0.0/8".to_owned()];
    config
}

impl Service {
    pub(crate) async fn start() -> Self {
        Self::with(config()).await
    }

    pub(crate) async fn with(config: Config) -> Self {
        let server = Server::bind(config).await.expect("a free port");
        let address = server.address();
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(server.run_until(async {
            let _ = stopped.await;
        }));
        Self { address, stop: Some(stop), running }
    }

    /// Asks the service to end, without waiting for it.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(self) {
        self.running.await.expect("the service does not panic");
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"), b"")
            .await
    }

    pub(crate) async fn post(&self, path: &str, body: impl AsRef<[u8]>) -> Answer {
        self.post_as(path, "application/json", body).await
    }

    pub(crate) async fn post_as(&self, path: &str, kind: &str, body: impl AsRef<[u8]>) -> Answer {
        let length = body.as_ref().len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind}\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        self.send(&head, body.as_ref()).await
    }

    pub(crate) async fn send(&self, head: &str, body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.expect("the service listens");
        stream.write_all(head.as_bytes()).await.expect("it reads");
        // A service that refuses a body may have closed before all of it was sent.
        let _ = stream.write_all(body).await;
        Answer::read(&mut stream).await
    }
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Reads until the service closes.
    pub(crate) async fn read(stream: &mut TcpStream) -> Self {
        let mut octets = Vec::new();
        // It may be reset after the answer where the service did not read all that was sent.
        let _ = stream.read_to_end(&mut octets).await;
        Self::parse(&octets)
    }

    pub(crate) fn parse(octets: &[u8]) -> Self {
        let end = octets.windows(4).position(|it| it == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&octets[..end]).into_owned();
        let mut lines = head.lines();
        let status = lines.next().expect("a status line").split(' ').nth(1).expect("a status");
        let status = status.parse().expect("a number");
        let headers: HashMap<String, String> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let mut body = octets[end + 4..].to_vec();
        if headers.get("transfer-encoding").is_some_and(|it| it == "chunked") {
            body = dechunked(&body);
        }
        Self { status, headers, body }
    }

    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The code of a problem, which has to be one through and through.
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
        let body = self.json();
        assert_eq!(body["status"], self.status);
        assert_eq!(body["detail"], body["error"]["message"]);
        assert!(body["title"].is_string() && body["type"].is_string(), "{body}");
        body["error"]["code"].as_str().expect("a code").to_owned()
    }
}

fn dechunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|it| it == b"\r\n").expect("a chunk's size");
        let size =
            usize::from_str_radix(std::str::from_utf8(&rest[..end]).expect("hex"), 16).expect("hex");
        rest = &rest[end + 2..];
        if size == 0 {
            return body;
        }
        body.extend_from_slice(&rest[..size]);
        rest = &rest[size + 2..];
    }
}

/// A site with a robots.txt, which notes how often it was asked.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    pub(crate) asked: Arc<Mutex<usize>>,
}

impl Site {
    /// A site that answers every request with this.
    pub(crate) async fn new(answer: impl Into<String>) -> Self {
        let answer = answer.into();
        Self::answering(move |_| answer.clone()).await
    }

    /// A site whose answer depends on the path.
    pub(crate) async fn answering(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::new(Mutex::new(0));
        let (counter, answer) = (Arc::clone(&asked), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                *counter.lock().expect("no panic") += 1;
                let answer = Arc::clone(&answer);
                tokio::spawn(async move {
                    let mut buffer = vec![0; 4096];
                    let length = stream.read(&mut buffer).await.unwrap_or_default();
                    let head = String::from_utf8_lossy(&buffer[..length]).into_owned();
                    let path = head.split(' ').nth(1).unwrap_or_default();
                    let _ = stream.write_all(answer(path).as_bytes()).await;
                });
            }
        });
        Self { address, asked }
    }

    pub(crate) async fn with_file(file: &str) -> Self {
        let length = file.len();
        Self::new(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{file}"
        ))
        .await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn asked(&self) -> usize {
        *self.asked.lock().expect("no panic")
    }
}
