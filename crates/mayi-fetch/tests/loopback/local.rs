//! What this machine lacks is no failure of a site: nothing of it is kept, and the next question asks.

use std::io;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::time::Duration;

use mayi::access::Origin;
use mayi_fetch::Lack;
use mayi_fetch::clock::Later;
use mayi_fetch::dial::{Connector, Resolver, Stream, SystemResolver, TcpConnector};
use mayi_fetch::store::{MemoryStore, Store};

use crate::support::*;

/// Set in the process that has few file descriptors.
const IS_CHILD: &str = "MAYI_TEST_FEW_DESCRIPTORS";

/// A process without free file descriptors, for real: the test runs itself again with a limit of 64.
#[test]
fn no_descriptor_is_free() {
    if std::env::var_os(IS_CHILD).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        return runtime.expect("a runtime").block_on(without_descriptors());
    }
    let program = std::env::current_exe().expect("the program of the tests");
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 64 && exec \"$0\" --exact local::no_descriptor_is_free --nocapture"])
        .arg(program)
        .env(IS_CHILD, "1")
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "the test ran in the other process: {said}");
}

async fn without_descriptors() {
    let server = Server::saying(ok(FILE)).await;
    let store = Arc::new(MemoryStore::new(1 << 20));
    let fetcher = builder().resolver(Arc::new(SystemResolver)).store(Arc::clone(&store) as _).build();
    let by_name = Origin::of_url(&format!("http://localhost:{}/", server.port())).expect("an origin");
    let origins = [server.origin(), by_name];
    let mut taken = Vec::new();
    let full = loop {
        match std::fs::File::open("/dev/null") {
            Ok(file) => taken.push(file),
            Err(error) => break error,
        }
    };
    assert_eq!(full.raw_os_error(), Some(24), "this is what EMFILE is");
    for origin in &origins {
        let robots = fetcher.robots(origin).await;
        assert_failed(&robots, "local");
        assert!(store.load(origin).await.expect("an answer").is_none(), "nothing is kept of {origin}");
    }
    drop(taken);
    for origin in &origins {
        assert_file(&fetcher.robots(origin).await);
    }
}

/// Fails as the system would, for as long as it is told to.
struct Failing(AtomicI32);

impl Failing {
    fn error(&self) -> io::Result<()> {
        match self.0.load(Ordering::SeqCst) {
            0 => Ok(()),
            number => Err(io::Error::from_raw_os_error(number)),
        }
    }
}

impl Connector for Failing {
    fn connect(&self, address: SocketAddr) -> Later<'_, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            self.error()?;
            TcpConnector.connect(address).await
        })
    }
}

/// The numbers are those of Linux.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_this_machine_lacks_is_never_kept() {
    let (permitted, no_memory, no_files, full, no_buffers) = (1, 12, 23, 24, 105);
    let (no_address, net_down, no_network) = (99, 100, 101);
    for number in [permitted, no_memory, no_files, full, no_buffers, no_address, net_down, no_network] {
        let server = Server::saying(ok(FILE)).await;
        let connector = Arc::new(Failing(number.into()));
        let store = Arc::new(MemoryStore::new(1 << 20));
        let clock = Arc::new(Ahead::default());
        let fetcher = builder()
            .connector(Arc::clone(&connector) as _)
            .store(Arc::clone(&store) as _)
            .clock(Arc::clone(&clock) as _)
            .build();
        assert_failed(&fetcher.robots(&server.origin()).await, "local");
        assert!(store.load(&server.origin()).await.expect("an answer").is_none(), "{number}");
        connector.0.store(0, Ordering::SeqCst);
        // A machine that has no route gets one seldom: it is not tried again at once.
        clock.go_on(Duration::from_secs(if [net_down, no_network].contains(&number) { 5 } else { 0 }));
        assert_file(&fetcher.robots(&server.origin()).await);
    }
    // Refused, reset, no route to the host: these are the site's, and are kept.
    for number in [111, 104, 113] {
        let server = Server::saying(ok(FILE)).await;
        let connector = Arc::new(Failing(number.into()));
        let fetcher = builder().connector(Arc::clone(&connector) as _).build();
        assert_failed(&fetcher.robots(&server.origin()).await, "connect");
        connector.0.store(0, Ordering::SeqCst);
        assert_failed(&fetcher.robots(&server.origin()).await, "connect");
    }
}

/// A copy stays in force, and its time to be asked for does not move.
#[tokio::test]
async fn a_copy_stays_in_force_meanwhile() {
    let server = Server::saying(ok(FILE)).await;
    let clock = Arc::new(Ahead::default());
    let connector = Arc::new(Failing(0.into()));
    let fetcher =
        builder().clock(Arc::clone(&clock) as _).connector(Arc::clone(&connector) as _).build();
    assert_file(&fetcher.robots(&server.origin()).await);
    clock.go_on(std::time::Duration::from_hours(25));
    connector.0.store(24, Ordering::SeqCst);
    let robots = fetcher.robots(&server.origin()).await;
    assert_file(&robots);
    assert_eq!(robots.source(), mayi::report::FileSource::StaleUnreachable);
    connector.0.store(0, Ordering::SeqCst);
    let robots = fetcher.robots(&server.origin()).await;
    assert_eq!(robots.source(), mayi::report::FileSource::Fetched, "it is asked for at once");
}

/// Of several addresses one that was asked and refused makes it the site's failure: a machine without
/// IPv6 has no route to half of the addresses of most sites.
#[tokio::test]
async fn one_address_that_was_asked_decides() {
    struct TwoNetworks;
    impl Connector for TwoNetworks {
        fn connect(&self, address: SocketAddr) -> Later<'_, io::Result<Box<dyn Stream>>> {
            let number = if address.is_ipv6() { 101 } else { 111 };
            Box::pin(async move { Err(io::Error::from_raw_os_error(number)) })
        }
    }
    let both: &[&str] = &["93.184.215.14", "2606:2800:21f::1"];
    let names = Script::new(&[("both.test", &[both]), ("six.test", &[&["2606:2800:21f::1"]])]);
    let fetcher = builder().resolver(names).connector(Arc::new(TwoNetworks)).build();
    let ask = async |url| fetcher.robots(&Origin::of_url(url).expect("an origin")).await;
    assert_failed(&ask("http://both.test/").await, "connect");
    assert_failed(&ask("http://six.test/").await, "local");
}

/// A site that has only addresses of IPv6, asked about on a machine that has no IPv6: the name is not looked up for
/// every question, and nothing of it is kept as what the site did.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_route_that_is_missing_is_not_tried_for_every_question() {
    struct Counting(AtomicUsize);
    impl Resolver for Counting {
        fn resolve<'a>(&'a self, _: &'a str, port: u16) -> Later<'a, io::Result<Vec<SocketAddr>>> {
            self.0.fetch_add(1, Ordering::SeqCst);
            let address = "2606:2800:21f::1".parse().expect("an address");
            Box::pin(async move { Ok(vec![SocketAddr::new(address, port)]) })
        }
    }
    let (names, clock) = (Arc::new(Counting(0.into())), Arc::new(Ahead::default()));
    let (connector, store) = (Arc::new(Failing(101.into())), Arc::new(MemoryStore::new(1 << 20)));
    let fetcher = builder()
        .resolver(Arc::clone(&names) as _)
        .connector(connector)
        .store(Arc::clone(&store) as _)
        .clock(Arc::clone(&clock) as _)
        .build();
    let origin = Origin::of_url("http://six.test/").expect("an origin");
    for _ in 0..20 {
        let robots = fetcher.robots(&origin).await;
        assert_failed(&robots, "local");
        assert_eq!(robots.lack(), Some(Lack::Route));
    }
    assert_eq!(names.0.load(Ordering::SeqCst), 1, "one look-up for twenty questions");
    fetcher.refresh(&origin).await;
    assert_eq!(names.0.load(Ordering::SeqCst), 2, "who wants news gets them");
    clock.go_on(Duration::from_secs(5));
    fetcher.robots(&origin).await;
    assert_eq!(names.0.load(Ordering::SeqCst), 3, "it is tried again after a while");
    assert!(store.load(&origin).await.expect("an answer").is_none(), "nothing is kept");
}

/// A resolver that could not open a socket says so, where it says anything.
#[tokio::test]
async fn a_resolver_that_lacks_something() {
    struct Lacking;
    impl Resolver for Lacking {
        fn resolve<'a>(&'a self, _: &'a str, _: u16) -> Later<'a, io::Result<Vec<SocketAddr>>> {
            Box::pin(async { Err(io::Error::from_raw_os_error(24)) })
        }
    }
    let fetcher = builder().resolver(Arc::new(Lacking)).build();
    let origin = Origin::of_url("http://name.test/").expect("an origin");
    assert_failed(&fetcher.robots(&origin).await, "local");
}
