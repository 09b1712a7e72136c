//! The guard sees the address that is connected to: no name, no odd way of writing an address, no
//! redirect and no second answer of a name server gets past it.
//!
//! Nothing here dials what it speaks of: the connector writes down the address and connects to a
//! server on loopback.

use std::sync::Arc;

use mayi::access::Origin;
use mayi_fetch::guard::Guard;
use mayi_fetch::{Builder, Fetcher};

use crate::support::*;

/// An address that is public, and whose server is on loopback here.
const PUBLIC: &str = "93.184.215.14";

/// Ways to write addresses that nobody outside should make us connect to.
const SPECIAL: &[&str] = &[
    "127.0.0.1",
    "127.1",
    "127.0.0.1.",
    "0x7f.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "169.254.169.254",
    "0xA9FEA9FE",
    "100.64.0.1",
    "192.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:169.254.169.254]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "[2001:db8::1]",
    "[fc00::1]",
    "[fd12:3456::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "１２７.０.０.１",
];

fn scripted(guard: Guard, recorder: &Arc<Recorder>) -> Builder {
    Fetcher::builder(USER_AGENT)
        .expect("a User-Agent string")
        .guard(guard)
        .resolver(Script::new(&[("public.test", &[&[PUBLIC]])]))
        .connector(Arc::clone(recorder) as _)
}

fn origin(url: &str) -> Origin {
    Origin::of_url(url).unwrap_or_else(|error| panic!("{url}: {error}"))
}

#[tokio::test]
async fn special_addresses_however_they_are_written() {
    let server = Server::saying(ok(FILE)).await;
    let recorder = Recorder::new(server.address);
    let fetcher = scripted(Guard::default(), &recorder).build();
    for host in SPECIAL {
        for url in [format!("http://{host}/"), format!("https://{host}/"), format!("ftp://{host}/")] {
            let robots = fetcher.robots(&origin(&url)).await;
            assert_failed(&robots, "guard");
        }
    }
    assert_eq!(recorder.dialled(), [""; 0], "nobody was connected to");
    // The same servers, where somebody wants them.
    let fetcher = scripted(Guard::allowing_all(), &recorder).build();
    assert_file(&fetcher.robots(&origin("http://10.0.0.1/")).await);
    assert_file(&fetcher.robots(&origin(&format!("http://{PUBLIC}/"))).await);
    assert_eq!(recorder.dialled(), ["10.0.0.1:80".to_owned(), format!("{PUBLIC}:80")]);
}

#[tokio::test]
async fn redirects_to_special_addresses() {
    for host in SPECIAL {
        // As a server would write it: octets beyond ASCII are not for header fields.
        if !host.is_ascii() {
            continue;
        }
        let server = Server::saying(redirect(&format!("http://{host}/robots.txt"))).await;
        let recorder = Recorder::new(server.address);
        let robots = scripted(Guard::default(), &recorder).build();
        let robots = robots.robots(&origin("http://public.test/")).await;
        assert_failed(&robots, "guard");
        assert_eq!(recorder.dialled(), [format!("{PUBLIC}:80")], "{host}");
    }
}

/// A name that is public for the guard and private for the connection gains nothing: it is resolved
/// once, and what is checked is what is connected to.
#[tokio::test]
async fn names_that_change_their_mind() {
    let private: &[&str] = &["10.0.0.1"];
    let public: &[&str] = &[PUBLIC];
    let names = || Script::new(&[("public.test", &[public]), ("rebinding.test", &[public, private])]);
    let server = Server::answering(|exchange| match exchange.path().as_str() {
        "/robots.txt" => redirect("http://rebinding.test/again"),
        _ => ok(FILE),
    })
    .await;
    let recorder = Recorder::new(server.address);
    let fetcher = scripted(Guard::default(), &recorder).resolver(names()).build();
    // The first connection goes to the public address; the redirect resolves the name again.
    let robots = fetcher.robots(&origin("http://rebinding.test/")).await;
    assert_failed(&robots, "guard");
    assert_eq!(recorder.dialled(), [format!("{PUBLIC}:80")]);

    let recorder = Recorder::new(server.address);
    let fetcher = scripted(Guard::default(), &recorder).resolver(names()).build();
    assert_file(&fetcher.robots(&origin("http://public.test/")).await);
    assert_eq!(recorder.dialled(), [format!("{PUBLIC}:80"), format!("{PUBLIC}:80")]);
}

#[tokio::test]
async fn names_of_special_addresses() {
    let server = Server::saying(ok(FILE)).await;
    let mixed: &[&str] = &["10.0.0.1", PUBLIC, "::1", "fd00::1"];
    let special: &[&str] = &["127.0.0.1", "::ffff:192.168.0.1", "fe80::1", "100.100.100.200"];
    let names = Script::new(&[("mixed.test", &[mixed]), ("special.test", &[special])]);
    let recorder = Recorder::new(server.address);
    let fetcher = scripted(Guard::default(), &recorder).resolver(names).build();
    assert_failed(&fetcher.robots(&origin("http://special.test/")).await, "guard");
    assert_eq!(recorder.dialled(), [""; 0]);
    // Of several addresses, those that are public are connected to.
    assert_file(&fetcher.robots(&origin("http://mixed.test/")).await);
    assert_eq!(recorder.dialled(), [format!("{PUBLIC}:80")]);
}

/// Whoever asks about a name learns that it leads nowhere public, and not where: a list of the hosts inside, with
/// their addresses, is of use to an attacker.
#[tokio::test]
async fn the_address_inside_of_a_name_is_not_told() {
    let inside: &[&str] = &["10.11.12.13", "fd00::1234"];
    let allowed: &[&str] = &["10.99.98.97"];
    let names = || Script::new(&[("inside.test", &[inside]), ("allowed.test", &[allowed])]);
    let fetcher = scripted(Guard::default(), &Recorder::new(nobody())).resolver(names()).build();
    let robots = fetcher.robots(&origin("http://inside.test/")).await;
    assert_failed(&robots, "guard: inside.test has no address that may be connected to");
    let told = format!("{:?}", robots.kept());
    assert!(
        !told.contains("10.11.12.13") && !told.contains("fd00") && !told.contains("private"),
        "{told}"
    );
    // The same by a redirect of somebody outside.
    let server = Server::saying(redirect("http://inside.test/robots.txt")).await;
    let names_and_public = Script::new(&[("public.test", &[&[PUBLIC]]), ("inside.test", &[inside])]);
    let recorder = Recorder::new(server.address);
    let fetcher = scripted(Guard::default(), &recorder).resolver(names_and_public).build();
    let told = format!("{:?}", fetcher.robots(&origin("http://public.test/")).await.kept());
    assert!(told.contains("guard") && !told.contains("10.11.12.13"), "{told}");
    // Where somebody allows the address, that it does not answer does not name it either.
    let guard = Guard::default().allowing("10.0.0.0/8".parse().expect("a range"));
    let fetcher = scripted(guard, &Recorder::new(nobody())).resolver(names()).build();
    let robots = fetcher.robots(&origin("http://allowed.test/")).await;
    assert_failed(&robots, "connect");
    let told = format!("{:?}", robots.kept());
    assert!(!told.contains("10.99.98.97"), "{told}");
}

/// An address on loopback where nobody listens.
fn nobody() -> std::net::SocketAddr {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a port");
    socket.local_addr().expect("its address")
}

#[tokio::test]
async fn odd_ports_are_for_whoever_names_them() {
    let named = Server::saying(ok(FILE)).await;
    let recorder = Recorder::new(named.address);
    let fetcher = scripted(Guard::default(), &recorder).build();
    assert_file(&fetcher.robots(&origin("http://public.test:8080/")).await);
    assert_eq!(recorder.dialled(), [format!("{PUBLIC}:8080")]);

    for (location, is_followed) in [
        ("http://public.test:22/", false),
        ("http://public.test:6379/", false),
        ("http://public.test:21/", false),
        ("http://public.test:0/", false),
        ("http://public.test:80/r", true),
        ("http://public.test:443/r", true),
        ("http://public.test:8080/r", true),
    ] {
        let server = Server::answering(move |exchange| match exchange.path().as_str() {
            "/robots.txt" => redirect(location),
            _ => ok(FILE),
        })
        .await;
        let recorder = Recorder::new(server.address);
        let fetcher = scripted(Guard::default(), &recorder).build();
        let robots = fetcher.robots(&origin("http://public.test:8080/")).await;
        if is_followed {
            assert_file(&robots);
        } else {
            assert_failed(&robots, "guard");
            assert_eq!(recorder.dialled(), [format!("{PUBLIC}:8080")], "{location}");
            let fetcher = scripted(Guard::default().allowing_any_port(), &recorder).build();
            assert_file(&fetcher.robots(&origin("http://public.test:8080/")).await);
        }
    }
}

/// An address of IPv6 is a host as any other: it is connected to, and named to its server, as it is written.
#[tokio::test]
async fn addresses_as_hosts() {
    let server = Server::saying(ok(FILE)).await;
    let recorder = Recorder::new(server.address);
    let fetcher = scripted(Guard::default(), &recorder).build();
    for url in ["http://[2606:2800:21F:0::1]/", "http://[2606:2800:21f::1]:8080/"] {
        assert_file(&fetcher.robots(&origin(url)).await);
    }
    assert_eq!(recorder.dialled(), ["[2606:2800:21f::1]:80", "[2606:2800:21f::1]:8080"]);
    let heads = server.heads();
    assert!(heads[0].contains("\r\nhost: [2606:2800:21f::1]\r\n"), "{}", heads[0]);
    assert!(heads[1].contains("\r\nhost: [2606:2800:21f::1]:8080\r\n"), "{}", heads[1]);
    assert!(Origin::of_url("http://[fe80::1%25eth0]/").is_err(), "an address has no zone in a URL");
}

/// What is allowed is allowed, and nothing beside it.
#[tokio::test]
async fn ranges_that_are_allowed() {
    let server = Server::saying(ok(FILE)).await;
    let recorder = Recorder::new(server.address);
    let guard = Guard::default().allowing("10.1.0.0/16".parse().expect("a range"));
    let fetcher = scripted(guard, &recorder).build();
    assert_file(&fetcher.robots(&origin("http://10.1.2.3/")).await);
    assert_file(&fetcher.robots(&origin("http://[::ffff:10.1.2.3]/")).await);
    assert_failed(&fetcher.robots(&origin("http://10.2.2.3/")).await, "guard");
    assert_failed(&fetcher.robots(&origin("http://127.0.0.1/")).await, "guard");
    assert_eq!(recorder.dialled(), ["10.1.2.3:80", "[::ffff:10.1.2.3]:80"]);
}

/// The tests themselves need the option, or they would connect to nobody.
#[tokio::test]
async fn loopback_is_special_by_default() {
    let server = Server::saying(ok(FILE)).await;
    let fetcher = Fetcher::builder(USER_AGENT).expect("a User-Agent string").build();
    assert_failed(&fetcher.robots(&server.origin()).await, "guard");
    assert_eq!(server.requests(), 0);
    let fetcher = Fetcher::builder(USER_AGENT).expect("a User-Agent string").guard(on_loopback());
    assert_file(&fetcher.build().robots(&server.origin()).await);
}
