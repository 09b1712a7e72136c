//! Servers that break, stall, drip and talk nonsense: every one of them ends, and none of them lets
//! anybody in (REP-21).

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mayi::access::{AccessResult, Origin, Unreachable};
use mayi::report::FileSource;
use mayi_fetch::clock::Later;
use mayi_fetch::dial::{Connector, Resolver, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};

use crate::support::*;

#[tokio::test]
async fn resets() {
    // In the head, before it, and in the body, however the body's end is told.
    for octets in [
        String::new(),
        "HTTP/1.1 200 OK\r\nContent-Le".to_owned(),
        format!("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{FILE}"),
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n22\r\n{FILE}\r\n"),
        format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{FILE}"),
        format!("HTTP/1.0 200 OK\r\n\r\n{FILE}"),
    ] {
        let octets: Arc<str> = octets.into();
        let server =
            Server::of_requests(move |exchange| exchange.say_and_reset(octets.to_string())).await;
        let robots = fetch(&server).await;
        let AccessResult::Unreachable(Unreachable::Network(_)) = robots.access() else {
            panic!("{}", robots.access())
        };
        assert!(!allows(&robots, "/open"));
    }
}

/// A part of a file that nobody asked a part of lacks the rest, as any body that ends early does.
#[tokio::test]
async fn parts_of_a_file() {
    let length = FILE.len();
    for (range, is_whole) in [
        (format!("bytes 0-{}/{length}", length - 1), true),
        (format!("Bytes 0-{}/{length}", length - 1), true),
        (format!("bytes 0-{}/{}", length - 1, length + 1), false),
        (format!("bytes 1-{length}/{}", length + 1), false),
        (format!("bytes 0-{}/*", length - 1), false),
        (format!("bytes 0-{}/0", u64::MAX), false),
        ("lines 0-1/2".to_owned(), false),
    ] {
        let fields = format!("Content-Range: {range}\r\n");
        let robots = fetch(&Server::saying(response("206 Partial Content", &fields, FILE)).await).await;
        if is_whole {
            assert_file(&robots);
        } else {
            assert_failed(&robots, "truncated");
        }
    }
}

/// A body that has a length and chunks ends in one place for one reader and in another for the next
/// (RFC 9112 §6.3), whichever of the two stands first and whether they agree.
#[tokio::test]
async fn two_ends_of_one_body() {
    let chunks = format!("{:x}\r\n{FILE}\r\n0\r\n\r\n", FILE.len());
    let (length, chunked) = ("Content-Length: ", "Transfer-Encoding: chunked\r\n");
    for status in ["200 OK", "404 Not Found", "302 Found\r\nLocation: /elsewhere"] {
        for number in [chunks.len(), FILE.len(), 0] {
            for fields in
                [format!("{length}{number}\r\n{chunked}"), format!("{chunked}{length}{number}\r\n")]
            {
                let answer = format!("HTTP/1.1 {status}\r\n{fields}\r\n{chunks}");
                let robots = fetch(&Server::saying(answer.clone()).await).await;
                let AccessResult::Unreachable(Unreachable::Network(error)) = robots.access() else {
                    panic!("{}: {answer}", robots.access())
                };
                assert!(error.starts_with("protocol"), "{error}");
                assert!(!allows(&robots, "/open"), "{answer}");
            }
        }
    }
}

#[tokio::test]
async fn connections_that_end_before_they_begin() {
    let closing = Server::of_connections(|stream, _| async move { drop(stream) }).await;
    assert!(!allows(&fetch(&closing).await, "/open"));
    let resetting = Server::of_connections(|stream, _| async move {
        let _ = stream.set_zero_linger();
    })
    .await;
    assert!(!allows(&fetch(&resetting).await, "/open"));
}

#[tokio::test]
async fn ports_that_are_closed() {
    // Bound and not listening: nobody else gets the port, and connections are refused.
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a port");
    let address = socket.local_addr().expect("its address");
    let origin = Origin::of_url(&format!("http://{address}/")).expect("an origin");
    let robots = builder().build().robots(&origin).await;
    assert_failed(&robots, "connect");
    // In words alone: the system's number for the error is in its source.
    let said = robots.access().to_string();
    assert!(said.ends_with("Connection refused"), "{said}");
}

#[tokio::test]
async fn silence() {
    // After each octet of an answer that says nothing more.
    let whole = format!("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{FILE}");
    let ends = [0, 5, 17, whole.len() - FILE.len(), whole.len()];
    let fetched = ends.map(|end| {
        let said: Arc<str> = whole[..end].into();
        tokio::spawn(async move {
            let server =
                Server::of_requests(move |exchange| exchange.say_and_stall(said.to_string())).await;
            fetch_hastily(&server).await
        })
    });
    for robots in fetched {
        assert_failed(&robots.await.expect("a fetch"), "timeout");
    }
}

/// A listener whose queue nobody empties: the connection is there, and nobody is behind it.
#[tokio::test]
async fn nobody_accepts() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("its address");
    let origin = Origin::of_url(&format!("http://{address}/")).expect("an origin");
    assert_failed(&builder().patience(hasty()).build().robots(&origin).await, "timeout");
}

/// An octet now and then keeps a connection alive, but not the attempt.
#[tokio::test]
async fn drips() {
    let pause = Duration::from_millis(20);
    let cases: [(&str, &str); 4] = [
        ("HTTP/1.1 200 OK\r\nX: ", "a"),
        ("HTTP/1.1 200 OK\r\n", "A: b\r\n"),
        ("HTTP/1.1 200 OK\r\n\r\n", "#"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n#\r\n"),
    ];
    let fetched = cases.map(|(head, again)| {
        tokio::spawn(async move {
            let server = Server::of_requests(move |exchange| async move {
                exchange.say_for_ever(head.as_bytes(), again.as_bytes(), pause).await;
            })
            .await;
            fetch_hastily(&server).await
        })
    });
    for robots in fetched {
        assert_failed(&robots.await.expect("a fetch"), "timeout");
    }
}

/// Heads have a limit, in octets and in fields, and are not kept in memory for ever.
#[tokio::test]
async fn heads_without_an_end() {
    for (head, again) in [
        ("HTTP/1.1 200 OK\r\n", "A: b\r\n".repeat(100)),
        ("HTTP/1.1 200 OK\r\nA: ", "b".repeat(1000)),
        ("HTTP/1.1 200 ", "OK".repeat(1000)),
        ("", "x".repeat(1000)),
    ] {
        let again: Arc<str> = again.into();
        let server = Server::of_requests(move |exchange| {
            let again = Arc::clone(&again);
            async move {
                exchange.say_for_ever(head.as_bytes(), again.as_bytes(), Duration::ZERO).await;
            }
        })
        .await;
        assert_failed(&fetch(&server).await, "protocol");
    }
    let large = format!("A: {}\r\n", "b".repeat(1 << 20));
    let robots = fetch(&Server::saying(response("200 OK", &large, FILE)).await).await;
    assert_failed(&robots, "protocol");
    let many = "A: b\r\n".repeat(257);
    let robots = fetch(&Server::saying(response("200 OK", &many, FILE)).await).await;
    assert_failed(&robots, "protocol");
    let enough = "A: b\r\n".repeat(200);
    assert_file(&fetch(&Server::saying(response("200 OK", &enough, FILE)).await).await);
}

/// Every piece of the framing has a limit, not only the head.
#[tokio::test]
async fn framing_without_an_end() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (head, again) in [
        (format!("{chunked}1;extension="), "x".repeat(1000)),
        (format!("{chunked}0\r\n"), "Trailer: x\r\n".repeat(100)),
        (chunked.to_owned(), "0".repeat(1000)),
        (chunked.to_owned(), "1;a=b\r\n#\r\n".repeat(10_000)),
    ] {
        let (head, again): (Arc<str>, Arc<str>) = (head.into(), again.into());
        let server = Server::of_requests(move |exchange| {
            let (head, again) = (Arc::clone(&head), Arc::clone(&again));
            async move {
                exchange.say_for_ever(head.as_bytes(), again.as_bytes(), Duration::ZERO).await;
            }
        })
        .await;
        let robots = fetch_hastily(&server).await;
        let AccessResult::Unreachable(Unreachable::Network(_)) = robots.access() else {
            panic!("{}", robots.access())
        };
    }
}

#[tokio::test]
async fn nonsense() {
    let binary: Vec<u8> = (0..4096_u32).map(|n| (n * 31 % 251) as u8).collect();
    let cases: [&[u8]; 9] = [
        // HTTP/0.9 has no head at all.
        FILE.as_bytes(),
        b"<html><body>Hello</body></html>",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"220 ready\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/3.0 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno field\r\n\r\n",
        &binary,
    ];
    for octets in cases {
        assert_failed(&fetch(&Server::saying(octets).await).await, "protocol");
    }
}

#[tokio::test]
async fn informational_for_ever() {
    for pause in [Duration::ZERO, Duration::from_millis(10)] {
        let server = Server::of_requests(move |exchange| async move {
            exchange.say_for_ever(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", pause).await;
        })
        .await;
        assert_failed(&fetch_hastily(&server).await, "timeout");
    }
    let switching = Server::saying("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n").await;
    assert!(!allows(&fetch(&switching).await, "/open"));
}

/// A server that never reads can't keep anybody.
#[tokio::test]
async fn nobody_reads() {
    let server = Server::of_connections(|mut stream, _| async move {
        let _ = stream.write_all(&ok(FILE)).await;
        let mut one = [0];
        // Waits for the other side without taking what it says.
        while stream.peek(&mut one).await.is_ok_and(|octets| octets > 0) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let _ = stream.read(&mut one).await;
    })
    .await;
    let robots = fetch_hastily(&server).await;
    // It has answered before it was asked: whether that counts is the client's choice.
    assert!(!allows(&robots, "/private/x"));
}

#[tokio::test]
async fn names_without_addresses() {
    let fetcher = builder().build();
    let origin = |url| Origin::of_url(url).expect("an origin");
    assert_failed(&fetcher.robots(&origin("http://nowhere.invalid/")).await, "dns");
    let empty = builder().resolver(Script::new(&[("empty.test", &[&[]])])).build();
    assert_failed(&empty.robots(&origin("http://empty.test/")).await, "dns");
    let silent = builder().resolver(Arc::new(Silent)).patience(hasty()).build();
    assert_failed(&silent.robots(&origin("http://silent.test/")).await, "timeout");
}

#[tokio::test]
async fn addresses_that_never_answer() {
    let fetcher = builder().connector(Arc::new(Silent)).patience(hasty()).build();
    let origin = Origin::of_url("http://a.test/").expect("an origin");
    assert_failed(&fetcher.robots(&origin).await, "timeout");
}

/// One address of a name is dead, the next one is tried beside it.
#[tokio::test]
async fn one_address_of_several() {
    let server = Server::saying(ok(FILE)).await;
    let names = Script::new(&[("a.test", &[&["127.0.0.77", "127.0.0.78", "127.0.0.1"]])]);
    let origin = Origin::of_url(&format!("http://a.test:{}/", server.port())).expect("an origin");
    // Nothing listens on the first two.
    assert_file(&builder().resolver(Arc::clone(&names) as _).build().robots(&origin).await);
    // The first one does not even refuse.
    let connector = Arc::new(SilentBut("127.0.0.1".parse().expect("an address")));
    assert_file(&builder().resolver(names).connector(connector).build().robots(&origin).await);
}

/// All redirects of an attempt share one time.
#[tokio::test]
async fn slow_redirects_end_at_the_total_time() {
    let server = Server::of_requests(|exchange| async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let at: u32 = exchange.path().trim_start_matches('/').parse().unwrap_or(0);
        exchange.say(redirect(&format!("/{}", at + 1))).await;
    })
    .await;
    assert_failed(&fetch_hastily(&server).await, "timeout");
    assert!(server.requests() < 5, "{}", server.requests());
}

/// Once a fetch is over, its connection is too, whatever the server thinks of it.
#[tokio::test]
async fn no_connection_is_left_behind() {
    let gauge = Arc::new(Gauge::default());
    let server = Server::of_requests({
        let gauge = Arc::clone(&gauge);
        move |exchange| {
            let within = gauge.enter();
            async move {
                // Keeps the connection for as long as the other side does.
                exchange.say_and_stall(ok(FILE)).await;
                drop(within);
            }
        }
    })
    .await;
    let fetcher = builder().build();
    for n in 0..20 {
        let url = format!("http://h{n}.test:{}/", server.port());
        assert_file(&fetcher.robots(&Origin::of_url(&url).expect("an origin")).await);
    }
    eventually("no connection is open", || gauge.now() == 0).await;
    assert!(gauge.most() > 0);
    assert_eq!(fetcher.stats().in_flight, 0);
}

#[tokio::test]
async fn offline_asks_nobody() {
    let server = Server::saying(ok(FILE)).await;
    let offline = builder().offline(true).build();
    let robots = offline.robots(&server.origin()).await;
    assert_failed(&robots, "offline");
    assert_eq!(server.requests(), 0);
    // What is kept answers, however old it is.
    let clock = Arc::new(Ahead::default());
    let online = builder().clock(Arc::clone(&clock) as _).build();
    assert_file(&online.robots(&server.origin()).await);
    clock.go_on(Duration::from_hours(1000));
    let offline = builder().store(Arc::clone(online.store())).clock(clock).offline(true).build();
    let robots = offline.robots(&server.origin()).await;
    assert_file(&robots);
    assert_eq!(robots.source(), FileSource::StaleOffline, "nobody revalidates it");
    assert_eq!(server.requests(), 1);
}

/// Never says anything.
struct Silent;

impl Resolver for Silent {
    fn resolve<'a>(&'a self, _: &'a str, _: u16) -> Later<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(std::future::pending())
    }
}

impl Connector for Silent {
    fn connect(&self, _: SocketAddr) -> Later<'_, io::Result<Box<dyn Stream>>> {
        Box::pin(std::future::pending())
    }
}

/// Says something for one address only.
struct SilentBut(std::net::IpAddr);

impl Connector for SilentBut {
    fn connect(&self, address: SocketAddr) -> Later<'_, io::Result<Box<dyn Stream>>> {
        if address.ip() == self.0 {
            Box::pin(async move {
                Ok(Box::new(tokio::net::TcpStream::connect(address).await?) as Box<dyn Stream>)
            })
        } else {
            Box::pin(std::future::pending())
        }
    }
}
