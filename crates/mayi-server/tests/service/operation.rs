//! How the service is watched, and how it ends.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{Answer, Service, Site};

#[tokio::test]
async fn numbers_tell_what_was_done() {
    let service = Service::start().await;
    let site = Site::with_file("User-agent: *\nDisallow: /a\n").await;
    let request = |path: &str| json!({ "url": site.url(path), "agent": "a" }).to_string();
    service.post("/v1/decide", format!("[{}, {}, {{}}]", request("/a"), request("/b"))).await;
    service.post("/v1/decide", request("/a")).await;
    service.post("/v1/decide", "{}").await;
    let metrics = service.get("/metrics").await;
    assert_eq!(metrics.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let text = String::from_utf8(metrics.body).expect("text");
    for line in [
        "mayi_decisions_total{outcome=\"allowed\"} 1",
        "mayi_decisions_total{outcome=\"disallowed\"} 2",
        "mayi_decisions_total{outcome=\"error\"} 2",
        "mayi_http_requests_total{status=\"200\"} 2",
        "mayi_http_requests_total{status=\"422\"} 1",
        "mayi_http_requests_in_flight 1",
        "mayi_fetches_total{result=\"successful\"} 1",
        "mayi_ready_origins 1",
        "mayi_store_errors_total 0",
    ] {
        assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
    }
}

/// Answers are right without the store, so work may be sent; but whoever runs the service has to see it.
#[tokio::test]
async fn a_store_that_fails_is_seen() {
    let mut config = crate::support::config();
    // Nobody listens there.
    config.fetch.store = "redis://127.0.0.1:1".to_owned();
    let service = Service::with(config).await;
    let site = Site::with_file("User-agent: *\nDisallow: /a\n").await;
    let request = json!({ "url": site.url("/a"), "agent": "a" }).to_string();
    let answer = service.post("/v1/decide", request).await;
    assert_eq!(answer.json()["access"]["allowed"], false);
    let ready = service.get("/readyz").await;
    assert_eq!((ready.status, ready.json()), (200, json!({ "status": "degraded" })));
    let metrics = String::from_utf8(service.get("/metrics").await.body).expect("text");
    assert!(!metrics.contains("mayi_store_errors_total 0"), "{metrics}");
}

#[tokio::test]
async fn requests_have_ids() {
    let service = Service::start().await;
    let first = service.get("/healthz").await.headers["x-request-id"].clone();
    let second = service.get("/none").await.headers["x-request-id"].clone();
    assert_ne!(first, second);
    for (sent, is_kept) in [("abc-1", true), ("a b", false), (&*"x".repeat(129), false)] {
        let head = format!(
            "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Request-Id: {sent}\r\n\r\n"
        );
        let answer = service.send(&head, b"").await;
        assert_eq!(answer.headers["x-request-id"] == sent, is_kept, "{sent}");
    }
}

#[tokio::test]
async fn the_page_runs_nothing_of_others() {
    let service = Service::start().await;
    let page = service.get("/").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    assert!(page.headers["content-security-policy"].starts_with("default-src 'self';"));
    assert_eq!(page.headers["x-content-type-options"], "nosniff");
}

#[tokio::test]
async fn what_was_accepted_is_answered_at_the_end() {
    let mut service = Service::start().await;
    let site = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/", site.local_addr().expect("an address"));
    let body = json!({ "url": url, "agent": "a" }).to_string();
    let head = format!(
        "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut client = TcpStream::connect(service.address).await.expect("it listens");
    client.write_all(head.as_bytes()).await.expect("it reads");
    // Lines that are still being sent are answered too, to their end.
    let mut lines = TcpStream::connect(service.address).await.expect("it listens");
    let head = "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n\
                Transfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n";
    lines.write_all(head.as_bytes()).await.expect("it reads");
    let mut started = Vec::new();
    while !started.ends_with(b"}\n\r\n") {
        started.push(lines.read_u8().await.expect("an answer to the first line"));
    }
    let (mut fetched, _) = site.accept().await.expect("the request is being answered");
    let address = service.address;
    service.stop();
    // Nobody else is let in.
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    fetched
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .await
        .expect("it is read");
    drop(fetched);
    assert_eq!(Answer::read(&mut client).await.status, 200);
    lines.write_all(b"3\r\n{}\n\r\n0\r\n\r\n").await.expect("it reads");
    let mut rest = Vec::new();
    lines.read_to_end(&mut rest).await.expect("the end");
    started.extend(rest);
    let answer = Answer::parse(&started);
    assert_eq!(String::from_utf8_lossy(&answer.body).lines().count(), 2);
    service.ended().await;
}

/// Lines are answered while more are sent, in their order; and a client that reads nothing is not
/// answered without bound.
#[tokio::test(flavor = "multi_thread")]
async fn lines_are_answered_as_they_come_and_no_faster_than_they_are_read() {
    let service = Service::start().await;
    let mut stream = TcpStream::connect(service.address).await.expect("it listens");
    let head = "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.expect("it reads");
    let line = |n: usize| {
        let request = json!({ "url": format!("https://a/{n}"), "agent": "a", "robots": "" });
        let line = format!("{request}\n");
        format!("{:x}\r\n{line}\r\n", line.len())
    };
    let mut octets = Vec::new();
    for n in 0..3 {
        stream.write_all(line(n).as_bytes()).await.expect("it reads");
        let wanted = format!("https://a/{n}");
        while !String::from_utf8_lossy(&octets).contains(&wanted) {
            octets.push(stream.read_u8().await.expect("an answer before the next line is sent"));
        }
    }
    // Written without reading, sooner or later nothing more is taken: both sides' buffers are full.
    let many: String = (3..103).map(line).collect();
    let mut sent = 3;
    loop {
        let write =
            tokio::time::timeout(std::time::Duration::from_secs(3), stream.write_all(many.as_bytes()));
        match write.await {
            Ok(written) => written.expect("it reads"),
            Err(_) => break,
        }
        sent += 100;
        assert!(sent < 1_000_000, "it takes requests whose answers nobody reads");
    }
}
