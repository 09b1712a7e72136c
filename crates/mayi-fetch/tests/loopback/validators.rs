//! Asking for changes (REP-23): what is sent to whom, and what a 304 is worth.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use mayi::access::{AccessResult, Origin, Unreachable};
use mayi::report::FileSource;
use mayi_fetch::Fetcher;

use crate::support::*;

const FIELDS: &str = "ETag: \"a1\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n";

fn fetcher() -> (Fetcher, Arc<Ahead>) {
    let clock = Arc::new(Ahead::default());
    (builder().clock(Arc::clone(&clock) as _).build(), clock)
}

fn is_conditional(head: &str) -> bool {
    head.contains("if-none-match:") || head.contains("if-modified-since:")
}

#[tokio::test]
async fn an_unchanged_file_is_not_sent_again() {
    let server = Server::answering(|exchange| {
        let is_known = exchange.head.contains("if-none-match: \"a1\"\r\n")
            && exchange.head.contains("if-modified-since: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
        if is_known {
            b"HTTP/1.1 304 Not Modified\r\nETag: \"a1\"\r\n\r\n".to_vec()
        } else {
            response("200 OK", FIELDS, FILE)
        }
    })
    .await;
    let (fetcher, clock) = fetcher();
    let first = fetcher.robots(&server.origin()).await;
    assert_eq!(first.source(), FileSource::Fetched);
    assert_eq!(fetcher.robots(&server.origin()).await.source(), FileSource::Fresh);
    clock.go_on(Duration::from_hours(25));
    let second = fetcher.robots(&server.origin()).await;
    assert_eq!(second.source(), FileSource::Revalidated);
    assert_file(&second);
    assert!(!is_conditional(&server.heads()[0]));
    assert_eq!(server.requests(), 2);
    let (first, second) = (first.kept().copy.as_ref(), second.kept().copy.as_ref());
    assert_eq!(first.map(|copy| copy.fetched), second.map(|copy| copy.fetched));
    assert!(first.map(|copy| copy.checked) < second.map(|copy| copy.checked));
}

#[tokio::test]
async fn a_changed_file_replaces_the_copy() {
    let server = Server::answering(|exchange| {
        let etag = if is_conditional(&exchange.head) { "b2" } else { "a1" };
        let file = if is_conditional(&exchange.head) { FILE } else { "User-agent: *\nDisallow: /\n" };
        response("200 OK", &format!("ETag: \"{etag}\"\r\n"), file)
    })
    .await;
    let (fetcher, clock) = fetcher();
    assert!(!allows(&fetcher.robots(&server.origin()).await, "/open"));
    clock.go_on(Duration::from_hours(25));
    let robots = fetcher.robots(&server.origin()).await;
    assert_eq!(robots.source(), FileSource::Fetched);
    assert_file(&robots);
}

/// REP-21: a 304 to somebody who has nothing, or did not ask for changes, has no meaning.
#[tokio::test]
async fn a_304_that_nobody_asked_for() {
    let server = Server::saying("HTTP/1.1 304 Not Modified\r\n\r\n").await;
    let robots = fetch(&server).await;
    assert_eq!(*robots.access(), AccessResult::Unreachable(Unreachable::Status(304)));
    assert!(!allows(&robots, "/open"));

    let server = Server::of_requests({
        let requests = Arc::new(Gauge::default());
        move |exchange| {
            // The first gets a file without validators, whoever comes later a 304.
            std::mem::forget(requests.enter());
            let is_first = requests.now() == 1;
            exchange.say(if is_first { ok(FILE) } else { b"HTTP/1.1 304 N\r\n\r\n".to_vec() })
        }
    })
    .await;
    let (fetcher, clock) = fetcher();
    assert_file(&fetcher.robots(&server.origin()).await);
    clock.go_on(Duration::from_hours(25));
    let robots = fetcher.robots(&server.origin()).await;
    assert!(!is_conditional(&server.heads()[1]));
    assert_eq!(robots.kept().last.result, AccessResult::Unreachable(Unreachable::Status(304)));
    // The copy goes on, as with every failure.
    assert_eq!(robots.source(), FileSource::StaleUnreachable);
    assert_file(&robots);
}

/// A server that refuses its own entity tag would have let everybody in: a request with it is as long as
/// the tag, and 4xx means that there is no file.
#[tokio::test]
async fn a_validator_that_is_too_long_is_not_sent_back() {
    let tag = "x".repeat(20_000);
    let server = Server::answering(move |exchange| {
        if exchange.head.len() > 8192 {
            return response("431 Request Header Fields Too Large", "", "");
        }
        response("200 OK", &format!("ETag: \"{tag}\"\r\nLast-Modified: {tag}\r\n"), FILE)
    })
    .await;
    let (fetcher, clock) = fetcher();
    assert_file(&fetcher.robots(&server.origin()).await);
    clock.go_on(Duration::from_hours(25));
    assert_file(&fetcher.robots(&server.origin()).await);
    assert_eq!(server.requests(), 2);
    assert!(!is_conditional(&server.heads()[1]));
}

/// What is held in memory is bounded by all that a server has said, not by its file alone.
#[tokio::test]
async fn long_header_fields_count_as_well() {
    let long = "x".repeat(50_000);
    let fields = format!("Content-Type: text/plain; note={long}\r\n");
    let server = Server::saying(response("200 OK", &fields, FILE)).await;
    let fetcher = builder().ready_octets(1 << 20).build();
    for number in 0..100 {
        let url = format!("http://h{number}.test:{}/", server.port());
        assert_file(&fetcher.robots(&Origin::of_url(&url).expect("an origin")).await);
    }
    let stats = fetcher.stats();
    assert!(stats.ready < 25, "{} of 50,000 octets each in a mebibyte", stats.ready);
}

/// What a URL gave is sent to that URL alone: an entity tag can name the one who asks.
#[tokio::test]
async fn validators_go_to_the_url_that_they_came_from() {
    let server = Server::answering(|exchange| match exchange.path().as_str() {
        "/robots.txt" => response("302 Found", "Location: /rules\r\nETag: \"not-a-file\"\r\n", ""),
        "/rules" if is_conditional(&exchange.head) => b"HTTP/1.1 304 Not Modified\r\n\r\n".to_vec(),
        _ => response("200 OK", FIELDS, FILE),
    })
    .await;
    let (fetcher, clock) = fetcher();
    assert_file(&fetcher.robots(&server.origin()).await);
    clock.go_on(Duration::from_hours(25));
    let robots = fetcher.robots(&server.origin()).await;
    assert_eq!(robots.source(), FileSource::Revalidated);
    assert_file(&robots);
    let conditional: Vec<_> = server.heads().iter().map(|head| is_conditional(head)).collect();
    assert_eq!(conditional, [false, false, false, true]);
    assert!(server.heads().iter().all(|head| !head.contains("not-a-file")));
}

/// The redirect that led to a copy may lead elsewhere today.
#[tokio::test]
async fn a_redirect_that_moved_gets_no_validators() {
    let moved = Arc::new(AtomicBool::new(false));
    let server = Server::answering({
        let moved = Arc::clone(&moved);
        move |exchange| match exchange.path().as_str() {
            "/robots.txt" if moved.load(SeqCst) => redirect("/new"),
            "/robots.txt" => redirect("/old"),
            "/old" => response("200 OK", FIELDS, "User-agent: *\nDisallow: /\n"),
            _ => response("200 OK", FIELDS, FILE),
        }
    })
    .await;
    let (fetcher, clock) = fetcher();
    assert!(!allows(&fetcher.robots(&server.origin()).await, "/open"));
    moved.store(true, SeqCst);
    clock.go_on(Duration::from_hours(25));
    let robots = fetcher.robots(&server.origin()).await;
    assert_file(&robots);
    assert!(server.heads().iter().all(|head| !is_conditional(head)));
}

/// REP-21: a failure takes nothing away.
#[tokio::test]
async fn the_copy_survives_its_server() {
    let server = Server::of_requests({
        let requests = Arc::new(Gauge::default());
        move |exchange| {
            std::mem::forget(requests.enter());
            let is_first = requests.now() == 1;
            exchange.say(if is_first { ok(FILE) } else { response("503 Down", "", "") })
        }
    })
    .await;
    let (fetcher, clock) = fetcher();
    assert_file(&fetcher.robots(&server.origin()).await);
    for day in 1..4 {
        clock.go_on(Duration::from_hours(25));
        let robots = fetcher.robots(&server.origin()).await;
        assert_eq!(robots.source(), FileSource::StaleUnreachable, "day {day}");
        assert_file(&robots);
    }
    assert!(server.requests() >= 3);
}
