//! Every kind of attacker that once did harm, and the costliest request known of each kind.

use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use crate::service::{request, two_without_window};
use crate::sites::Sites;

/// How long an attacker stays on one connection.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often anybody has struck.
static STRIKES: AtomicUsize = AtomicUsize::new(0);

/// What an attacker does once it has sent what it sends.
#[derive(Clone, Copy)]
enum Then {
    Read,
    Leave,
    /// It stays without reading, until it is thrown out.
    Hold,
}

/// So many of a kind, from the address with this last number.
struct Kind {
    from: u8,
    count: usize,
    octets: Vec<u8>,
    then: Then,
}

/// Attacks until standard input ends, and prints how often.
pub(crate) async fn attack(service: SocketAddr, sites: &Sites) {
    for Kind { from, count, octets, then } in kinds(sites) {
        let octets = Arc::new(octets);
        for _ in 0..count {
            let octets = Arc::clone(&octets);
            tokio::spawn(async move {
                loop {
                    // What comes of an attack is for those to say who are attacked.
                    let _ = strike(from, service, &octets, then).await;
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            });
        }
    }
    for site in [sites.large, sites.hostile] {
        tokio::spawn(new_names(service, site));
    }
    let over = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink()));
    let _ = over.await;
    println!("{}", STRIKES.load(Relaxed));
    // Those who hold on to something are not waited for.
    std::process::exit(0);
}

fn kinds(sites: &Sites) -> Vec<Kind> {
    let post = |path: &str, body: &str| request("POST", path, body.as_bytes());
    let get = |path: &str| request("GET", path, b"");
    let regexes = format!(r"User-agent: ({}b)*c\n", "a?|.a|".repeat(160)).repeat(16);
    let agent = "a".repeat(128);
    let frozen = format!(r#"{{"url":"https://a/","agent":"{agent}","robots":"{regexes}"}}"#);
    let wild = r"Disallow: /%2A*a$b*\nAllow: /a*/index.html\n".repeat(10_000);
    let costly = format!(r#"{{"robots":"User-agent: *\n{wild}"}}"#);
    // The costliest that are known to fit into what is called small.
    let wild = r"Disallow: /%2A*a$b*\nAllow: /a*/index.html\n".repeat(1_300);
    let small_and_costly = format!(r#"{{"robots":"User-agent: *\n{wild}"}}"#);
    let silenced = format!(r##"{{"robots":"# mayi: allow({})\n"}}"##, "P001,".repeat(12_000));
    let mut nested = String::new();
    for number in 1..500 {
        write!(nested, r"User-agent: a{{0,{number}}}|b\nDisallow: /{number}\n")
            .expect("writing to memory does not fail");
    }
    let nested = format!(r#"{{"robots":"{nested}"}}"#);
    let dollars = format!(r"Disallow: /*{}%24x\n", "$".repeat(100)).repeat(400);
    let long = "$".repeat(16_000);
    let dollars =
        format!(r#"{{"url":"https://a/{long}","agent":"a","robots":"User-agent: *\n{dollars}"}}"#);
    let stars = r"Disallow: /%2A%2A%2A\n".repeat(1_500);
    let long = "%2A".repeat(8_000);
    let stars =
        format!(r#"{{"url":"https://a/{long}","agent":"a","robots":"User-agent: *\n{stars}"}}"#);
    let lists = format!("{}:{}", "t".repeat(30_000), "x,".repeat(15_000));
    let lists = format!(r#"{{"html":"<meta name=robots content='{lists}'>"}}"#);
    let fields = vec![r#"["",""]"#; 500_000].join(",");
    let fields = format!(r#"{{"headers":[{fields}]}}"#);
    let items = format!("[{}]", vec![&*dollars; 20].join(","));
    let sites_that_stall =
        sites.stalling.iter().map(|site| format!(r#"{{"url":"http://{site}/","agent":"a"}}"#));
    let stalling = format!("[{}]", sites_that_stall.collect::<Vec<_>>().join(","));
    let robots = format!("/v1/robots?url=http://{}/", sites.large);
    let explain = format!("/v1/decide?agent=a&explain=true&url=http://{}/", sites.large);
    let hostile = sites.hostile;
    let half = format!("{{\"url\":\"http://{hostile}/\",\"agent\":\"a\"}}\n").repeat(5) + "{\"url";
    let broken = format!(
        "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n\
         Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{half}\r\nno size\r\n",
        half.len()
    );
    let kind = |from, count, then, octets| Kind { from, count, octets, then };
    vec![
        kind(2, 6, Then::Read, post("/v1/decide", &frozen)),
        kind(3, 3, Then::Read, post("/v1/compare", &costly)),
        kind(3, 3, Then::Read, post("/v1/lint", &costly)),
        kind(4, 4, Then::Leave, post("/v1/compare", &costly)),
        kind(4, 4, Then::Leave, post("/v1/lint", &costly)),
        kind(5, 20, Then::Hold, get(&robots)),
        kind(5, 20, Then::Hold, get(&explain)),
        kind(6, 4, Then::Hold, two_without_window(&robots, 40)),
        kind(7, 20, Then::Hold, Vec::new()),
        kind(7, 20, Then::Hold, b"GET / HTTP/1.1\r\nHost: loc".to_vec()),
        kind(7, 10, Then::Hold, two_without_window("/healthz", 1)),
        kind(8, 10, Then::Leave, post("/v1/decide", &stalling)),
        kind(9, 4, Then::Read, broken.into_bytes()),
        kind(10, 2, Then::Read, post("/v1/page", &fields)),
        kind(11, 20, Then::Read, b"GET /v1/decide HTTP/1.1\r\nHost: x\r\n\r\n\0\0".to_vec()),
        kind(13, 2, Then::Read, post("/v1/compare", &small_and_costly)),
        kind(14, 2, Then::Read, post("/v1/lint", &small_and_costly)),
        kind(15, 2, Then::Read, post("/v1/lint", &silenced)),
        kind(16, 2, Then::Read, post("/v1/compare", &nested)),
        kind(17, 2, Then::Read, post("/v1/decide", &dollars)),
        kind(18, 2, Then::Read, post("/v1/decide", &stars)),
        kind(19, 2, Then::Read, post("/v1/page", &lists)),
        kind(20, 2, Then::Read, post("/v1/decide", &items)),
        kind(21, 2, Then::Read, get(&robots)),
        kind(22, 2, Then::Read, get(&explain)),
    ]
}

/// New names all the time: nothing that was prepared is of use, and everything is kept.
async fn new_names(service: SocketAddr, site: SocketAddr) {
    let mut body = String::new();
    for number in 0_u64.. {
        body.clear();
        let letters: String = number.to_string().bytes().map(|digit| char::from(digit + 49)).collect();
        write!(body, r#"{{"url":"http://{site}/","agent":"{letters}"}}"#)
            .expect("writing to memory does not fail");
        let octets = request("POST", "/v1/decide", body.as_bytes());
        let _ = strike(12, service, &octets, Then::Read).await;
    }
}

async fn strike(from: u8, to: SocketAddr, octets: &[u8], then: Then) -> io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((Ipv4Addr::new(127, 0, 0, from), 0)))?;
    let mut stream = socket.connect(to).await?;
    STRIKES.fetch_add(1, Relaxed);
    let sent = tokio::time::timeout(PATIENCE, stream.write_all(octets)).await;
    if sent.is_err() {
        return Ok(());
    }
    match then {
        Then::Leave => {}
        Then::Read => {
            let mut buffer = vec![0; 64 << 10];
            let reading =
                async { while stream.read(&mut buffer).await.is_ok_and(|octets| octets > 0) {} };
            let _ = tokio::time::timeout(PATIENCE, reading).await;
        }
        Then::Hold => {
            let _ = tokio::time::timeout(PATIENCE, stream.ready(tokio::io::Interest::ERROR)).await;
        }
    }
    Ok(())
}
