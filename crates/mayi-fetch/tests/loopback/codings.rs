//! Content codings and the limit of a file (REP-24), with bodies that go off.

use std::io::Write;
use std::time::Duration;

use crate::support::*;

/// The limit of a file.
const LIMIT: usize = 512 * 1024;

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(plain).and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}

fn brotli(plain: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut encoder = brotli::CompressorWriter::new(&mut octets, 4096, 5, 22);
    encoder.write_all(plain).expect("writing to memory does not fail");
    drop(encoder);
    octets
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(plain, 3).expect("writing to memory does not fail")
}

fn coded(coding: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    response("200 OK", &format!("Content-Encoding: {coding}\r\n"), body)
}

#[tokio::test]
async fn every_coding_that_was_asked_for() {
    // As long as buffers tend to be, and an octet more and less.
    for length in [FILE.len(), 4096, 8191, 8192, 8193, 65_536, LIMIT] {
        let comment = "#".repeat(length - FILE.len());
        let file = format!("{FILE}{comment}");
        for (coding, body) in [
            ("identity", file.clone().into_bytes()),
            ("gzip", gzip(file.as_bytes())),
            ("X-GZIP", gzip(file.as_bytes())),
            ("br", brotli(file.as_bytes())),
            ("zstd", zstd(file.as_bytes())),
        ] {
            let robots = fetch(&Server::saying(coded(coding, body)).await).await;
            assert_file(&robots);
            let copy = robots.kept().copy.as_ref().expect("a copy");
            assert_eq!((copy.body.len(), copy.is_cut), (length, false), "{coding}");
        }
    }
    let server = Server::saying(ok(FILE)).await;
    fetch(&server).await;
    assert!(server.heads()[0].contains("accept-encoding: gzip, br, zstd\r\n"));
}

#[tokio::test]
async fn broken_codings_are_unreachable() {
    let plain: Vec<u8> = (0..5000_u32).flat_map(|n| format!("Disallow: /{n}\n").into_bytes()).collect();
    for (coding, body) in [("gzip", gzip(&plain)), ("br", brotli(&plain)), ("zstd", zstd(&plain))] {
        for end in [1, body.len() / 2, body.len() - 1] {
            let robots = fetch(&Server::saying(coded(coding, &body[..end])).await).await;
            assert!(robots.robots_txt().is_none() && !allows(&robots, "/open"), "{coding} to {end}");
        }
        let robots = fetch(&Server::saying(coded(coding, FILE)).await).await;
        assert!(!allows(&robots, "/open"), "{coding} was said, and it is none");
    }
}

#[tokio::test]
async fn codings_that_nobody_asked_for() {
    let twice = gzip(&gzip(FILE.as_bytes()));
    for fields in [
        "Content-Encoding: gzip, gzip\r\n",
        "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n",
        "Content-Encoding: compress\r\n",
        "Content-Encoding: deflate\r\n",
        "Content-Encoding: dcb\r\n",
        "Content-Encoding: \u{e9}\r\n",
    ] {
        let robots = fetch(&Server::saying(response("200 OK", fields, &twice)).await).await;
        assert_failed(&robots, "coding");
    }
}

/// A transfer coding that nobody takes off would leave octets without any rule in them.
#[tokio::test]
async fn transfer_codings_that_nobody_asked_for() {
    let chunked = |octets: &[u8]| {
        [format!("{:x}\r\n", octets.len()).as_bytes(), octets, b"\r\n0\r\n\r\n"].concat()
    };
    let packed = gzip(FILE.as_bytes());
    for (fields, body) in [
        ("Transfer-Encoding: gzip, chunked", chunked(&packed)),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", chunked(&packed)),
        ("Transfer-Encoding: chunked, chunked", chunked(&chunked(FILE.as_bytes()))),
        ("Transfer-Encoding: gzip", packed),
    ] {
        let answer = [format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n").as_bytes(), &body].concat();
        assert_failed(&fetch(&Server::saying(answer).await).await, "coding");
    }
    let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n";
    let answer = [answer.as_bytes(), &chunked(FILE.as_bytes())].concat();
    assert_file(&fetch(&Server::saying(answer).await).await);
}

/// The limit is on what comes out, so that a bomb ends there; what stood before it counts (REP-24).
#[tokio::test]
async fn bombs_end_at_the_limit() {
    let mut plain = FILE.as_bytes().to_vec();
    plain.resize(64 << 20, b'#');
    for (coding, body) in [("gzip", gzip(&plain)), ("br", brotli(&plain)), ("zstd", zstd(&plain))] {
        assert!(body.len() < 100_000, "{coding} is a bomb");
        let robots = fetch(&Server::saying(coded(coding, body)).await).await;
        assert_file(&robots);
        let copy = robots.kept().copy.as_ref().expect("a copy");
        assert!(copy.is_cut && copy.body.len() < LIMIT + 10, "{coding}: {}", copy.body.len());
    }
}

/// A body can also unpack to nothing, for as long as somebody reads it.
#[tokio::test]
async fn endless_nothing_ends_too() {
    let server = Server::of_requests(|exchange| async move {
        let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
        exchange.say_for_ever(head, &gzip(b"").repeat(1000), Duration::ZERO).await;
    })
    .await;
    assert_failed(&fetch(&server).await, "coding");
}

/// An endless file is read up to the limit, and its server is left alone then.
#[tokio::test]
async fn endless_files_end_at_the_limit() {
    let server = Server::of_requests(|exchange| async move {
        let head = format!("HTTP/1.1 200 OK\r\n\r\n{FILE}");
        exchange.say_for_ever(head.as_bytes(), &b"# and so on\n".repeat(1000), Duration::ZERO).await;
    })
    .await;
    let robots = fetch(&server).await;
    assert_file(&robots);
    assert!(
        robots.kept().copy.as_ref().is_some_and(|copy| copy.is_cut && copy.body.len() < LIMIT + 10)
    );
}

/// REP-24: the line that the limit cuts through is dropped whole; the one that just fits counts.
#[tokio::test]
async fn the_limit_cuts_between_lines() {
    let allow = "Allow: /private/open/\n";
    // With the octet behind it, a line is whole that lacks only its end.
    for (beyond, is_open) in [(0, true), (1, true), (2, false), (5, false), (allow.len(), false)] {
        let filler = LIMIT + beyond - FILE.len() - allow.len() - 1;
        let file = format!("{FILE}{}\n{allow}Allow: /private/late/\n", "#".repeat(filler));
        let robots = fetch(&Server::saying(ok(&file)).await).await;
        assert_file(&robots);
        assert_eq!(allows(&robots, "/private/open/x"), is_open, "{beyond} octets behind the limit");
        assert!(!allows(&robots, "/private/late/x"));
    }
}
