//! HTTP/2, which is spoken where a server offers it: an honest server of hyper, and frames by hand for
//! what no honest server sends (RFC 9113).

use std::convert::Infallible;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use mayi_fetch::Robots;
use mayi_fetch::transport::Patience;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::support::*;
use crate::tls::{Authority, fetch_over_tls, tls_server, trusting};

type Seen = Arc<Mutex<Vec<hyper::Request<Incoming>>>>;
type Reply = hyper::Response<Full<Bytes>>;

/// An honest server that speaks HTTP/2, and what it was asked.
async fn honest(
    authority: &Authority,
    answer: impl Fn(&hyper::Request<Incoming>) -> Reply + Send + Sync + 'static,
) -> (Server, Seen) {
    let (answer, seen) = (Arc::new(answer), Seen::default());
    let acceptor = authority.acceptor(&["a.test", "b.test"], &["h2", "http/1.1"]);
    let server = tls_server(acceptor, {
        let seen = Arc::clone(&seen);
        move |stream| {
            let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
            async move {
                assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]), "it is offered");
                let service = service_fn(move |request| {
                    let reply = answer(&request);
                    seen.lock().unwrap_or_else(PoisonError::into_inner).push(request);
                    async move { Ok::<_, Infallible>(reply) }
                });
                let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            }
        }
    })
    .await;
    (server, seen)
}

fn reply(status: u16, fields: &[(&str, &str)], body: impl Into<Bytes>) -> Reply {
    let mut reply = hyper::Response::builder().status(status);
    for (name, value) in fields {
        reply = reply.header(*name, *value);
    }
    reply.body(Full::new(body.into())).expect("a response")
}

#[tokio::test]
async fn files_statuses_and_codings() {
    let authority = Authority::new();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(FILE.as_bytes()).expect("memory");
    let gzip = encoder.finish().expect("memory");
    let (server, seen) = honest(&authority, move |request| match request.uri().path() {
        "/robots.txt" => reply(301, &[("location", "/r")], ""),
        _ => reply(200, &[("content-encoding", "gzip")], gzip.clone()),
    })
    .await;
    assert_file(&fetch_over_tls(trusting(&authority), &server, "a.test").await);
    let seen = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    for request in &seen {
        assert_eq!(request.version(), hyper::Version::HTTP_2);
        let authority = request.uri().authority().map(ToString::to_string);
        assert_eq!(authority, Some(format!("a.test:{}", server.port())));
        let names: Vec<_> = request.headers().keys().map(|name| name.as_str().to_owned()).collect();
        assert_eq!(names, ["user-agent", "accept", "accept-encoding"]);
        assert_eq!(request.headers()["user-agent"], USER_AGENT);
    }
    assert_eq!(seen.len(), 2);

    let (server, _) = honest(&authority, |_| reply(404, &[], "nothing here")).await;
    let robots = fetch_over_tls(trusting(&authority), &server, "a.test").await;
    assert!(allows(&robots, "/private/x"));
    let (server, _) = honest(&authority, |_| reply(500, &[], "nothing here")).await;
    let robots = fetch_over_tls(trusting(&authority), &server, "a.test").await;
    assert!(!allows(&robots, "/open"));
}

/// A redirect can carry a name and a password; they are not passed on.
#[tokio::test]
async fn nobody_logs_in() {
    let authority = Authority::new();
    let (server, seen) = honest(&authority, |request| match request.uri().path() {
        "/robots.txt" => {
            let port = request.uri().port_u16().unwrap_or_default();
            reply(302, &[("location", &format!("https://user:secret@b.test:{port}/r?q#f"))], "")
        }
        _ => reply(200, &[], FILE),
    })
    .await;
    assert_file(&fetch_over_tls(trusting(&authority), &server, "a.test").await);
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let last = seen.last().expect("a request");
    assert_eq!(last.uri().to_string(), format!("https://b.test:{}/r?q", server.port()));
    assert!(!last.headers().contains_key("authorization"));
}

#[tokio::test]
async fn a_large_file_is_cut_at_the_limit() {
    let authority = Authority::new();
    let large = format!("{FILE}{}", "# and so on\n".repeat(1_000_000));
    let (server, _) = honest(&authority, move |_| reply(200, &[], large.clone())).await;
    let robots = fetch_over_tls(trusting(&authority), &server, "a.test").await;
    assert_file(&robots);
    assert!(robots.kept().copy.as_ref().is_some_and(|copy| copy.is_cut));
}

#[tokio::test]
async fn heads_have_a_limit() {
    let authority = Authority::new();
    let long = "x".repeat(1 << 20);
    let (server, _) = honest(&authority, move |_| reply(200, &[("x", &long)], FILE)).await;
    let robots = fetch_over_tls(trusting(&authority).patience(hasty()), &server, "a.test").await;
    assert!(!allows(&robots, "/open"), "{}", robots.access());
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// RFC 9113 §4.1.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = &(payload.len() as u32).to_be_bytes()[1..];
    [length, &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// `:status: 200`, from the static table, and maybe a content coding.
fn head(coding: Option<&str>) -> Vec<u8> {
    let mut block = vec![0x88];
    if let Some(coding) = coding {
        // `content-encoding` is entry 26 of the static table; a literal that is not indexed.
        block.extend([0x0f, 26 - 15, coding.len() as u8]);
        block.extend(coding.as_bytes());
    }
    frame(HEADERS, END_HEADERS, 1, &block)
}

/// Takes a request, and then sends these frames and ends or stays.
async fn by_hand(authority: &Authority, frames: Vec<u8>, stays: bool) -> Server {
    let frames: Arc<[u8]> = frames.into();
    tls_server(authority.acceptor(&["a.test"], &["h2"]), move |stream| {
        let frames = Arc::clone(&frames);
        async move {
            let mut stream = after_request(stream).await;
            let _ = stream.write_all(&frames).await;
            let _ = stream.flush().await;
            if stays {
                let _ = stream.read_to_end(&mut Vec::new()).await;
            } else {
                let _ = stream.shutdown().await;
            }
        }
    })
    .await
}

/// Says hello and waits until a HEADERS frame has come.
async fn after_request(mut stream: TlsStream<TcpStream>) -> TlsStream<TcpStream> {
    let _ = stream.write_all(&frame(SETTINGS, 0, 0, &[])).await;
    let _ = stream.flush().await;
    let mut preface = [0; 24];
    let _ = stream.read_exact(&mut preface).await;
    loop {
        let mut start = [0; 9];
        if stream.read_exact(&mut start).await.is_err() {
            return stream;
        }
        let length = u32::from_be_bytes([0, start[0], start[1], start[2]]);
        let mut payload = vec![0; length as usize];
        let _ = stream.read_exact(&mut payload).await;
        if start[3] == HEADERS {
            return stream;
        }
    }
}

async fn fetch_by_hand(frames: Vec<u8>, stays: bool, patience: Patience) -> Robots {
    let authority = Authority::new();
    let server = by_hand(&authority, frames, stays).await;
    fetch_over_tls(trusting(&authority).patience(patience), &server, "a.test").await
}

/// The frames are a whole answer, and the server stays.
async fn assert_file_by_hand(frames: &[Vec<u8>]) {
    assert_file(&fetch_by_hand(frames.concat(), true, Patience::default()).await);
}

#[tokio::test]
async fn frames_by_hand() {
    let body = frame(DATA, END_STREAM, 1, FILE.as_bytes());
    assert_file_by_hand(&[head(None), body]).await;
    // Once the stream has ended, nothing that follows takes it back (RFC 9113 §8.1).
    let body = frame(DATA, END_STREAM, 1, FILE.as_bytes());
    let reset = frame(RESET_STREAM, 0, 1, &0_u32.to_be_bytes());
    assert_file_by_hand(&[head(None), body, reset]).await;
    let pieces: Vec<u8> = FILE.bytes().flat_map(|octet| frame(DATA, 0, 1, &[octet])).collect();
    let end = frame(DATA, END_STREAM, 1, &[]);
    assert_file_by_hand(&[head(None), pieces, end]).await;
}

/// A coding that has ended, and then a frame that only says that the stream has too.
#[tokio::test]
async fn a_last_frame_without_octets() {
    let zstd = zstd::bulk::compress(FILE.as_bytes(), 3).expect("memory");
    let body = frame(DATA, 0, 1, &zstd);
    let end = frame(DATA, END_STREAM, 1, &[]);
    assert_file_by_hand(&[head(Some("zstd")), body, end]).await;
}

#[tokio::test]
async fn streams_that_break() {
    let start = [head(None), frame(DATA, 0, 1, FILE.as_bytes())].concat();
    let reset = frame(RESET_STREAM, 0, 1, &2_u32.to_be_bytes());
    let refused = frame(RESET_STREAM, 0, 1, &7_u32.to_be_bytes());
    let cancelled = frame(RESET_STREAM, 0, 1, &8_u32.to_be_bytes());
    let no_error = frame(RESET_STREAM, 0, 1, &0_u32.to_be_bytes());
    // The last stream that was handled, and an error.
    let away = frame(GO_AWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 2]);
    let away_unheard = frame(GO_AWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 0]);
    for (name, frames, stays) in [
        ("a reset within the body", [start.clone(), reset.clone()].concat(), true),
        ("a reset without an error", [start.clone(), no_error].concat(), true),
        ("a reset that takes it back", [start.clone(), cancelled].concat(), true),
        ("a reset instead of an answer", refused, true),
        ("the connection is given up", [start.clone(), away].concat(), false),
        ("the request was not heard", away_unheard, true),
        ("an end within the body", start.clone(), false),
        ("an end instead of an answer", Vec::new(), false),
        ("silence within the body", start.clone(), true),
        ("silence", Vec::new(), true),
        (
            "a push that nobody wants",
            [start, frame(PUSH_PROMISE, 4, 1, &[0, 0, 0, 2, 0x82])].concat(),
            true,
        ),
        ("a frame that is too large", frame(DATA, 0, 1, &vec![b'#'; 1 << 17]), true),
        ("nonsense", b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n".to_vec(), true),
    ] {
        let robots = fetch_by_hand(frames, stays, hasty()).await;
        assert!(robots.robots_txt().is_none(), "{name}: {}", robots.access());
        assert!(!allows(&robots, "/open"), "{name}: {}", robots.access());
    }
}

/// Frames that cost their sender little, without an end, from a server that never listens: the fetch
/// ends, and so does the connection.
#[tokio::test]
async fn floods_end() {
    let ping = frame(PING, 0, 0, &[0; 8]).repeat(1000);
    let settings = frame(SETTINGS, 0, 0, &[]).repeat(1000);
    let nothing = [head(None), frame(DATA, 0, 1, &[])].concat();
    let headers = frame(HEADERS, 0, 1, &[0x88]);
    let continuation = frame(CONTINUATION, 0, 1, &[]).repeat(1000);
    // Long enough for answers that nobody reads to fill what is between the two.
    let mut patience = hasty();
    patience.first_byte = Duration::from_secs(2);
    patience.total = Duration::from_secs(2);
    for (name, start, again) in [
        ("ping", Vec::new(), ping),
        ("settings", Vec::new(), settings),
        ("empty data", nothing, frame(DATA, 0, 1, &[]).repeat(1000)),
        ("continuation", headers, continuation),
    ] {
        let authority = Authority::new();
        let gauge = Arc::new(Gauge::default());
        let server = tls_server(authority.acceptor(&["a.test"], &["h2"]), {
            let gauge = Arc::clone(&gauge);
            move |stream| {
                let (start, again) = (start.clone(), again.clone());
                let within = gauge.enter();
                async move {
                    let mut stream = after_request(stream).await;
                    let mut sent = stream.write_all(&start).await;
                    while sent.is_ok() {
                        sent = stream.write_all(&again).await;
                    }
                    drop(within);
                }
            }
        })
        .await;
        let builder = trusting(&authority).patience(patience);
        let robots = fetch_over_tls(builder, &server, "a.test").await;
        assert!(!allows(&robots, "/open"), "{name}: {}", robots.access());
        eventually(name, || gauge.now() == 0).await;
        assert_eq!(gauge.most(), 1, "{name}");
    }
}
