//! What is too much is refused, and says when to come back.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
#[cfg(target_os = "linux")]
use tokio::net::TcpSocket;
use tokio::net::{TcpListener, TcpStream};

use crate::support::{Answer, Service, config};

#[tokio::test]
async fn bodies_that_are_too_large() {
    let mut config = config();
    config.limits.body_octets = 1000;
    let service = Service::with(config).await;
    let answer = service.post("/v1/decide", vec![b' '; 1001]).await;
    assert_eq!((answer.status, &*answer.problem()), (413, "too-large"));
    // The same without a length that could be looked at first.
    let head = "POST /v1/lint HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    let body = format!("3e9\r\n{}\r\n0\r\n\r\n", " ".repeat(1001));
    let answer = service.send(head, body.as_bytes()).await;
    assert_eq!((answer.status, &*answer.problem()), (413, "too-large"));
    assert_eq!(service.post("/v1/decide", vec![b' '; 1000]).await.status, 400);
    // A line that is too long gets its error, and the next one its answer.
    let good = r#"{"url": "https://a/", "agent": "a", "robots": ""}"#;
    let lines = format!("{}\n{good}\n", " ".repeat(5000));
    let answer = service.post_as("/v1/decide", "application/x-ndjson", lines).await;
    let text = String::from_utf8(answer.body).expect("text");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].contains("invalid-request") && lines[1].contains("\"allowed\":true"), "{text}");
}

#[tokio::test]
async fn arrays_that_are_too_long_and_types_that_are_not_read() {
    let mut config = config();
    config.limits.array = 2;
    let service = Service::with(config).await;
    assert_eq!(service.post("/v1/decide", "[{}, {}]").await.status, 200);
    let answer = service.post("/v1/decide", "[{}, {}, {}]").await;
    assert_eq!((answer.status, &*answer.problem()), (422, "invalid-request"));
    let answer = service.post_as("/v1/decide", "text/plain", "{}").await;
    assert_eq!((answer.status, &*answer.problem()), (415, "unsupported-media-type"));
    for path in ["/v1/decide", "/v1/lint"] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Encoding: gzip\r\n\
             Content-Length: 2\r\n\r\n"
        );
        let answer = service.send(&head, b"{}").await;
        assert_eq!((answer.status, &*answer.problem()), (415, "unsupported-coding"));
    }
}

#[tokio::test]
async fn every_refusal_is_a_problem() {
    let service = Service::start().await;
    for (path, status) in [("/v1/registry/%ff", 404), ("/v1/registry/agents/%ff", 404), ("/%ff", 404)] {
        let answer = service.get(path).await;
        assert_eq!((answer.status, &*answer.problem()), (status, "not-found"), "{path}");
    }
    for path in ["/v1/decide", "/v1/lint", "/v1/page", "/v1/compare"] {
        for body in ["1", "null", "\"a\"", "true"] {
            let answer = service.post(path, body).await;
            assert_eq!((answer.status, &*answer.problem()), (422, "invalid-request"), "{path} {body}");
            // Names of the code are no words for a client.
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            assert!(!text.contains("struct"), "{text}");
        }
        let answer = service.post(path, "nonsense").await;
        assert_eq!((answer.status, &*answer.problem()), (400, "invalid-json"), "{path}");
    }
}

#[tokio::test]
async fn work_that_costs_too_much() {
    let mut config = config();
    config.limits.work = 10;
    let service = Service::with(config).await;
    let body = json!({ "robots": "User-agent: *\nDisallow: /*a\nAllow: /*b\n" }).to_string();
    let answer = service.post("/v1/lint", body.clone()).await;
    assert_eq!((answer.status, &*answer.problem()), (422, "too-costly"));
    let detail = answer.json()["detail"].as_str().expect("a detail").to_owned();
    assert!(detail.contains("`shadowed-rule`") && detail.contains("limits.work"), "{detail}");
    // Comparing draws on it too, and names its own parts.
    let answer = service.post("/v1/compare", body.clone()).await;
    assert_eq!((answer.status, &*answer.problem()), (422, "too-costly"));
    let detail = answer.json()["detail"].as_str().expect("a detail").to_owned();
    assert!(detail.contains("`crawlers`"), "{detail}");
    let metrics = String::from_utf8(service.get("/metrics").await.body).expect("text");
    assert!(metrics.contains("mayi_too_costly_total 2"), "{metrics}");
    let roomy = Service::start().await;
    for path in ["/v1/lint", "/v1/compare"] {
        assert_eq!(roomy.post(path, body.clone()).await.status, 200, "{path}");
    }
}

/// One address leaves connections to others, and is told why it has no more. All of loopback is there on Linux alone.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_client_has_half_of_the_connections() {
    let mut config = config();
    config.limits.connections = 4;
    let service = Service::with(config).await;
    let mut silent = Vec::new();
    for _ in 0..4 {
        silent.push(TcpStream::connect(service.address).await.expect("it listens"));
    }
    let mut refused = Vec::new();
    silent[3].read_to_end(&mut refused).await.expect("it is closed");
    let refused = Answer::parse(&refused);
    assert_eq!((refused.status, &*refused.headers["retry-after"]), (503, "1"));
    assert!(String::from_utf8_lossy(&refused.body).contains("connections"));
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.2:0".parse().expect("an address")).expect("loopback has it");
    let asking = async {
        let mut other = socket.connect(service.address).await.expect("it listens");
        let head = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        other.write_all(head.as_bytes()).await.expect("it reads");
        Answer::read(&mut other).await
    };
    let answer = tokio::time::timeout(Duration::from_mins(1), asking).await;
    let answer = answer.expect("all connections are one client's");
    let metrics = String::from_utf8(answer.body).expect("text");
    assert!(metrics.contains("mayi_connections_refused_total 2"), "{metrics}");
    // Its own come back with what it gives back.
    drop(silent);
    while service.get("/healthz").await.status == 503 {
        tokio::task::yield_now().await;
    }
}

/// One client leaves places to others.
#[tokio::test]
async fn a_client_has_half_of_the_places() {
    let mut config = config();
    config.limits.in_flight = 4;
    let service = Service::with(config).await;
    let (url, site) = silent_site().await;
    let request = asking(&url);
    let mut first = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(service.address).await.expect("it listens");
        stream.write_all(request.as_bytes()).await.expect("it reads");
        first.push(stream);
    }
    let _fetched = site.accept().await.expect("the requests are being answered");
    while service.get("/v1/dialects").await.status == 200 {
        tokio::task::yield_now().await;
    }
    assert_eq!(service.get("/v1/dialects").await.problem(), "overloaded");
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 2], 0).into()).expect("another address of loopback");
    let mut other = socket.connect(service.address).await.expect("it listens");
    let head = "GET /v1/dialects HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    other.write_all(head.as_bytes()).await.expect("it reads");
    assert_eq!(Answer::read(&mut other).await.status, 200);
}

/// Each claim is looked for in the whole file: very many of them would keep a thread busy for minutes.
#[tokio::test]
async fn claims_and_fields_that_are_too_many() {
    let service = Service::start().await;
    let request = |member: &str, count: usize| {
        let mut request = json!({ "url": "https://a/", "agent": "a", "robots": "" });
        match member {
            "headers" => request["page"] = json!({ "headers": vec![["a", "b"]; count] }),
            member => request[member] = json!(vec!["a"; count]),
        }
        request.to_string()
    };
    for (member, most) in [("apps", 100), ("purposes", 100), ("headers", 10_000)] {
        assert_eq!(service.post("/v1/decide", request(member, most)).await.status, 200, "{member}");
        let answer = service.post("/v1/decide", request(member, most + 1)).await;
        assert_eq!((answer.status, &*answer.problem()), (422, "invalid-request"), "{member}");
    }
    let query = format!("/v1/decide?url=https://a/&agent=a{}", "&app=a".repeat(101));
    assert_eq!(service.get(&query).await.status, 422);
}

#[tokio::test]
async fn a_client_that_asks_too_often() {
    let mut config = config();
    config.limits.rate = 1;
    config.limits.burst = 3;
    let service = Service::with(config).await;
    for _ in 0..3 {
        assert_eq!(service.get("/v1/dialects").await.status, 200);
    }
    let answer = service.get("/v1/dialects").await;
    assert_eq!((answer.status, &*answer.problem()), (429, "too-many-requests"));
    assert!(answer.headers["retry-after"].parse::<u64>().is_ok_and(|seconds| seconds >= 1));
    assert_eq!(service.get("/healthz").await.status, 200, "who watches is not counted");
}

/// A question about a URL, by whoever asks once.
fn asking(url: &str) -> String {
    let body = json!({ "url": url, "agent": "a" }).to_string();
    let fields = format!("Host: localhost\r\nConnection: close\r\nContent-Length: {}", body.len());
    format!("POST /v1/decide HTTP/1.1\r\n{fields}\r\n\r\n{body}")
}

/// A site that accepts and says nothing, so that a request about it takes its time.
async fn silent_site() -> (String, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    (format!("http://{address}/"), listener)
}

#[tokio::test]
async fn more_than_can_be_answered() {
    let mut config = config();
    config.limits.in_flight = 1;
    config.limits.queue = 1;
    config.limits.queue_milliseconds = 60_000;
    let service = Service::with(config).await;
    let (url, site) = silent_site().await;
    let request = asking(&url);
    let mut first = TcpStream::connect(service.address).await.expect("it listens");
    first.write_all(request.as_bytes()).await.expect("it reads");
    let (mut fetched, _) = site.accept().await.expect("the first request has its place");
    let mut second = TcpStream::connect(service.address).await.expect("it listens");
    second.write_all(request.as_bytes()).await.expect("it reads");
    // The second one waits; once it does, there is no room for a third.
    loop {
        let third = service.get("/v1/dialects").await;
        if third.status == 503 {
            assert_eq!(third.problem(), "overloaded");
            assert!(third.headers.contains_key("retry-after"));
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(service.get("/readyz").await.status, 200, "who watches does not wait");
    let file = "HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    fetched.write_all(file.as_bytes()).await.expect("it is read");
    drop(fetched);
    for stream in [&mut first, &mut second] {
        assert_eq!(Answer::read(stream).await.status, 200, "what was let in is answered");
    }
}

#[tokio::test]
async fn bodies_that_together_take_too_much() {
    let mut config = config();
    config.limits.body_octets = 1 << 20;
    config.limits.all_bodies_octets = 1 << 20;
    let service = Service::with(config).await;
    // A body that is said to be large and is sent slowly holds its share.
    let head = "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n[";
    let mut slow = TcpStream::connect(service.address).await.expect("it listens");
    slow.write_all(head.as_bytes()).await.expect("it reads");
    loop {
        let answer = service.post("/v1/decide", vec![b' '; 200_000]).await;
        if answer.status == 503 {
            assert_eq!(answer.problem(), "overloaded");
            break;
        }
        tokio::task::yield_now().await;
    }
    drop(slow);
    while service.post("/v1/decide", vec![b' '; 200_000]).await.status == 503 {
        tokio::task::yield_now().await;
    }
}

/// Starts to send lines, and sends these octets of them.
async fn lines_that_go_on(service: &Service, octets: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(service.address).await.expect("it listens");
    let head = "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.expect("it reads");
    send_chunk(&mut stream, octets).await;
    stream
}

async fn send_chunk(stream: &mut TcpStream, octets: &[u8]) {
    stream.write_all(format!("{:x}\r\n", octets.len()).as_bytes()).await.expect("it reads");
    stream.write_all(octets).await.expect("it reads");
    stream.write_all(b"\r\n").await.expect("it reads");
}

/// Reads until these octets came.
async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut octets = Vec::new();
    while !octets.ends_with(end.as_bytes()) {
        octets.push(stream.read_u8().await.expect("an answer"));
    }
    String::from_utf8(octets).expect("text")
}

/// Whoever sends lines slowly must not keep others from being answered.
#[tokio::test]
async fn lines_that_are_waited_for_take_no_place() {
    let mut config = config();
    config.limits.in_flight = 1;
    config.limits.queue = 0;
    let service = Service::with(config).await;
    let good = br#"{"url": "https://a/", "agent": "a", "robots": ""}"#;
    let mut slow = Vec::new();
    for _ in 0..3 {
        let mut stream = lines_that_go_on(&service, &[&good[..], b"\n", b"{"].concat()).await;
        read_until(&mut stream, "}\n\r\n").await;
        slow.push(stream);
    }
    // The place of an answer is given back when it has been sent, which its reader can see a little earlier.
    while service.get("/v1/dialects").await.status == 503 {
        tokio::task::yield_now().await;
    }
    for mut stream in slow {
        send_chunk(&mut stream, b"}\n").await;
        assert!(read_until(&mut stream, "}\n\r\n").await.contains("missing field"));
    }
}

#[tokio::test]
async fn lines_that_together_take_too_much() {
    let mut config = config();
    config.limits.body_octets = 1 << 20;
    config.limits.all_bodies_octets = 1 << 20;
    config.limits.queue_milliseconds = 10;
    let service = Service::with(config).await;
    // A long line that never ends holds its share while it is read.
    let head = "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n\
                Content-Length: 2000000\r\n\r\n";
    let good = r#"{"url": "https://a/", "agent": "a", "robots": ""}"#;
    let lines = format!("{good}\n{}\n{good}\n", " ".repeat(900_000));
    let is_refused = |line: &str| line.starts_with(r#"{"error":{"code":"overloaded","#);
    let is_answered = |line: &str| line.contains(r#""allowed":true"#);
    // How much of the long line has arrived is not to be seen. If the other takes its share first, the long line is the one
    // that is refused, and another one is sent.
    let mut slow = None;
    let mut was_refused = false;
    for attempt in 0..1000 {
        if attempt % 50 == 0 {
            let mut stream = TcpStream::connect(service.address).await.expect("it listens");
            stream.write_all(head.as_bytes()).await.expect("it reads");
            stream.write_all(&vec![b' '; 900_000]).await.expect("it reads");
            slow = Some(stream);
        }
        let answer = service.post_as("/v1/decide", "application/x-ndjson", lines.clone()).await;
        assert_eq!(answer.status, 200);
        let text = String::from_utf8(answer.body).expect("text");
        let answers: Vec<_> = text.lines().collect();
        assert!(is_answered(answers[0]) && is_answered(answers[answers.len() - 1]), "{text}");
        was_refused = answers.len() == 3 && is_refused(answers[1]);
        if was_refused {
            break;
        }
        assert_eq!(answers.len(), 2, "white space has no answer: {text}");
    }
    assert!(was_refused, "a second long line was let in beside the first");
    drop(slow);
    let mut was_let_in = false;
    for _ in 0..1000 {
        let answer = service.post_as("/v1/decide", "application/x-ndjson", lines.clone()).await;
        was_let_in = String::from_utf8(answer.body).expect("text").lines().count() == 2;
        if was_let_in {
            break;
        }
    }
    assert!(was_let_in, "the share of a client that is gone was not given back");
}

#[tokio::test]
async fn a_request_that_takes_too_long_and_a_client_that_says_nothing() {
    let mut config = config();
    config.limits.request_seconds = 1;
    config.limits.idle_seconds = 2;
    let service = Service::with(config).await;
    let mut silent = TcpStream::connect(service.address).await.expect("it listens");
    let (url, _site) = silent_site().await;
    let answer = service.post("/v1/decide", json!({ "url": url, "agent": "a" }).to_string()).await;
    assert_eq!((answer.status, &*answer.problem()), (504, "timeout"));
    let mut buffer = [0; 1];
    let closed = tokio::time::timeout(Duration::from_mins(1), silent.read(&mut buffer)).await;
    assert!(matches!(closed, Ok(Ok(0) | Err(_))), "{closed:?}");
}

#[tokio::test]
async fn keys_are_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("keys.toml");
    let (key, line) = mayi_server::new_key("me");
    std::fs::write(&path, line).expect("a file");
    let mut config = config();
    config.keys = Some(path);
    let service = Service::with(config).await;
    let get = |path: &str, field: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{field}\r\n")
    };
    for (path, field, status) in [
        ("/v1/dialects", String::new(), 401),
        ("/v1/dialects", "Authorization: Bearer x\r\n".to_owned(), 401),
        ("/v1/dialects", format!("Authorization: Basic {key}\r\n"), 401),
        ("/metrics", String::new(), 401),
        ("/v1/dialects", format!("Authorization: Bearer {key}\r\n"), 200),
        ("/v1/dialects", format!("X-Api-Key: {key}\r\n"), 200),
        ("/metrics", format!("Authorization: bearer {key}\r\n"), 200),
        ("/healthz", String::new(), 200),
        ("/", String::new(), 200),
    ] {
        let answer = service.send(&get(path, &field), b"").await;
        assert_eq!(answer.status, status, "{path} {field}");
        if status == 401 {
            assert_eq!(answer.problem(), "missing-key");
            assert_eq!(answer.headers["www-authenticate"], "Bearer");
        }
        assert_eq!(answer.headers["vary"], "authorization, x-api-key", "{path}");
    }
}
