//! Many who ask at once: one fetch for each origin, limits on connections, stores that fail, and the
//! face that waits.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use mayi::access::{AccessResult, Origin};
use mayi::report::{FileSource, Request};
use mayi_fetch::clock::{Clock, Later};
use mayi_fetch::dial::Resolver;
use mayi_fetch::kept::Kept;
use mayi_fetch::store::{FetchClaim, MemoryStore, Store, StoreError, StoreSize, Storing};
use mayi_fetch::transport::Patience;
use mayi_fetch::{Backoff, Fetcher, Policy, blocking};
use tokio::sync::Semaphore;

use crate::support::*;

/// A server that answers nobody before it is told to.
async fn gated() -> (Server, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let server = Server::of_requests({
        let gate = Arc::clone(&gate);
        move |exchange| {
            let gate = Arc::clone(&gate);
            async move {
                let turn = gate.acquire().await;
                exchange.say(ok(FILE)).await;
                drop(turn);
            }
        }
    })
    .await;
    (server, gate)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_who_ask_are_one_request() {
    let (server, gate) = gated().await;
    let fetcher = builder().build();
    let url: Arc<str> = server.url("/private/x").into();
    let askers: Vec<_> = (0..500)
        .map(|_| {
            let (fetcher, url) = (fetcher.clone(), Arc::clone(&url));
            tokio::spawn(async move {
                let request = Request::new(&url, "ExampleBot");
                let answer = fetcher.decide(&request).await.expect("a right request");
                answer.report().access.allowed
            })
        })
        .collect();
    eventually("the server is asked", || server.requests() == 1).await;
    assert_eq!(fetcher.stats().in_flight, 1);
    gate.add_permits(1);
    for asker in askers {
        assert!(!asker.await.expect("an answer"));
    }
    assert_eq!(server.requests(), 1);
    let stats = fetcher.stats();
    assert_eq!((stats.successful, stats.in_flight, stats.ready), (1, 0, 1));
    assert_eq!(stats.answered_by_fetch + stats.answered_from_kept, 500);
}

/// Whoever stops waiting does not take the fetch away from the others, or from those who come later.
#[tokio::test]
async fn a_flight_goes_on_without_its_first_asker() {
    let (server, gate) = gated().await;
    let fetcher = builder().build();
    let ask = || {
        let (fetcher, origin) = (fetcher.clone(), server.origin());
        tokio::spawn(async move { fetcher.robots(&origin).await })
    };
    let first = ask();
    eventually("the server is asked", || server.requests() == 1).await;
    let second = ask();
    first.abort();
    assert!(first.await.is_err_and(|error| error.is_cancelled()));
    gate.add_permits(1);
    assert_file(&second.await.expect("an answer"));
    assert_eq!(server.requests(), 1);

    let (server, gate) = gated().await;
    let only = {
        let (fetcher, origin) = (fetcher.clone(), server.origin());
        tokio::spawn(async move { fetcher.robots(&origin).await })
    };
    eventually("the server is asked", || server.requests() == 1).await;
    only.abort();
    gate.add_permits(1);
    eventually("the file is ready", || fetcher.ready(&server.origin()).is_some()).await;
    assert_eq!(server.requests(), 1);
}

/// A copy that is nearly stale answers at once, while one flight renews it.
#[tokio::test]
async fn a_refresh_holds_nobody_up() {
    let (server, gate) = gated().await;
    gate.add_permits(1);
    let clock = Arc::new(Ahead::default());
    let fetcher = builder().clock(Arc::clone(&clock) as _).build();
    assert_file(&fetcher.robots(&server.origin()).await);
    gate.forget_permits(1);
    clock.go_on(Duration::from_hours(24) - Duration::from_mins(5));
    for _ in 0..50 {
        let robots = fetcher.robots(&server.origin()).await;
        assert_eq!(robots.source(), FileSource::Fresh);
    }
    eventually("the server is asked again", || server.requests() == 2).await;
    gate.add_permits(1);
    eventually("the flight is over", || fetcher.stats().in_flight == 0).await;
    assert_eq!(server.requests(), 2);
}

/// A server that notes how many are with it at once.
async fn crowded() -> (Server, Arc<Gauge>) {
    let gauge = Arc::new(Gauge::default());
    let server = Server::of_requests({
        let gauge = Arc::clone(&gauge);
        move |mut exchange| {
            let within = gauge.enter();
            async move {
                tokio::time::sleep(Duration::from_millis(5)).await;
                // Counted out before the answer, so that nobody is counted twice.
                drop(within);
                let _ = tokio::io::AsyncWriteExt::write_all(&mut exchange.stream, &ok(FILE)).await;
                let _ = tokio::io::AsyncReadExt::read(&mut exchange.stream, &mut [0]).await;
            }
        }
    })
    .await;
    (server, gauge)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_in_total() {
    let (server, gauge) = crowded().await;
    let fetcher = builder().connections(2, 7).build();
    let askers: Vec<_> = (0..100)
        .map(|n| {
            let url = format!("http://h{n}.test:{}/", server.port());
            let (fetcher, origin) = (fetcher.clone(), Origin::of_url(&url).expect("an origin"));
            tokio::spawn(async move { fetcher.robots(&origin).await })
        })
        .collect();
    for asker in askers {
        assert_file(&asker.await.expect("an answer"));
    }
    assert_eq!(server.requests(), 100);
    assert!((2..=7).contains(&gauge.most()), "{} at once", gauge.most());
}

/// One host is one host, however many ports it has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_of_a_host() {
    let gauge = Arc::new(Gauge::default());
    let mut servers = Vec::new();
    for _ in 0..12 {
        let gauge = Arc::clone(&gauge);
        servers.push(
            Server::of_requests(move |exchange| {
                let within = gauge.enter();
                async move {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    drop(within);
                    exchange.say(ok(FILE)).await;
                }
            })
            .await,
        );
    }
    let fetcher = builder().connections(2, 100).build();
    let askers: Vec<_> = servers
        .iter()
        .map(|server| {
            let (fetcher, origin) = (fetcher.clone(), server.origin());
            tokio::spawn(async move { fetcher.robots(&origin).await })
        })
        .collect();
    for asker in askers {
        assert_file(&asker.await.expect("an answer"));
    }
    assert!((1..=2).contains(&gauge.most()), "{} at once", gauge.most());
    assert!(servers.iter().all(|server| server.requests() == 1));
}

/// Slow hosts do not keep the others waiting while there is room.
#[tokio::test]
async fn a_stalled_host_keeps_no_other() {
    let (stalled, _gate) = gated().await;
    let fetcher = builder().connections(1, 2).build();
    for scheme in ["http", "https", "ftp"] {
        let url = format!("{scheme}://{}/", stalled.address);
        let (fetcher, origin) = (fetcher.clone(), Origin::of_url(&url).expect("an origin"));
        drop(tokio::spawn(async move { fetcher.robots(&origin).await }));
        // The first has the only turn with this host, the others wait for it.
        eventually("the flight is on", || stalled.requests() == 1).await;
    }
    let quick = Server::saying(ok(FILE)).await;
    for n in 0..5 {
        let url = format!("http://h{n}.test:{}/", quick.port());
        assert_file(&fetcher.robots(&Origin::of_url(&url).expect("an origin")).await);
    }
}

/// A store that fails in everything.
struct Broken;

fn broken<'a, T>() -> Storing<'a, T> {
    Box::pin(async { Err(StoreError::new("the store is down")) })
}

impl Store for Broken {
    fn load<'a>(&'a self, _: &'a Origin) -> Storing<'a, Option<Arc<Kept>>> {
        broken()
    }

    fn save<'a>(&'a self, _: &'a Arc<Kept>) -> Storing<'a, ()> {
        broken()
    }

    fn remove<'a>(&'a self, _: &'a Origin) -> Storing<'a, bool> {
        broken()
    }

    fn list<'a>(&'a self, _: Option<&'a str>, _: usize) -> Storing<'a, Vec<Arc<Kept>>> {
        broken()
    }

    fn size(&self) -> Storing<'_, StoreSize> {
        broken()
    }

    fn claim<'a>(&'a self, _: &'a Origin, _: Duration) -> Storing<'a, FetchClaim> {
        broken()
    }

    fn describe(&self) -> String {
        "a store that is down".to_owned()
    }
}

#[tokio::test]
async fn a_store_that_is_down_is_done_without() {
    let server = Server::saying(ok(FILE)).await;
    let missing = Server::saying(response("404 Not Found", "", "")).await;
    let failing = Server::saying(response("500 Down", "", "")).await;
    let fetcher = builder().store(Arc::new(Broken)).build();
    for _ in 0..3 {
        assert_file(&fetcher.robots(&server.origin()).await);
        assert!(allows(&fetcher.robots(&missing.origin()).await, "/private/x"));
        assert!(!allows(&fetcher.robots(&failing.origin()).await, "/open"));
    }
    // What is in memory is enough to leave the servers in peace.
    assert_eq!([&server, &missing, &failing].map(Server::requests), [1, 1, 1]);
    let stats = fetcher.stats();
    assert_eq!(stats.store_errors, 7, "three origins: load, claim, and save where there is a copy");
    assert_eq!(stats.last_store_error.as_deref(), Some("the store is down"));
    assert!(fetcher.forget(&server.origin()).await.is_err());
    // Without memory as well, every question is a fetch, and its answer right.
    let fetcher = builder().store(Arc::new(Broken)).ready_octets(0).build();
    for _ in 0..3 {
        assert_file(&fetcher.robots(&server.origin()).await);
    }
    assert_eq!(server.requests(), 4);
}

/// REP-21: a store that could not be read for a moment still has the good copy afterwards, whatever has
/// failed meanwhile.
#[tokio::test]
async fn a_failure_replaces_no_copy_that_nobody_saw() {
    let is_up = Arc::new(AtomicBool::new(true));
    let server = Server::answering({
        let is_up = Arc::clone(&is_up);
        move |_| if is_up.load(SeqCst) { ok(FILE) } else { response("500 Down", "", "") }
    })
    .await;
    let store = Arc::new(Moody { is_down: AtomicBool::new(false), store: MemoryStore::new(1 << 20) });
    let clock = Arc::new(Ahead::default());
    // Each is another process: it has nothing in memory.
    let fetcher = || builder().clock(Arc::clone(&clock) as _).store(Arc::clone(&store) as _).build();
    assert_file(&fetcher().robots(&server.origin()).await);
    clock.go_on(Duration::from_hours(25));
    is_up.store(false, SeqCst);
    store.is_down.store(true, SeqCst);
    assert!(!allows(&fetcher().robots(&server.origin()).await, "/open"));
    store.is_down.store(false, SeqCst);
    let robots = fetcher().robots(&server.origin()).await;
    assert_eq!(robots.source(), FileSource::StaleUnreachable);
    assert_file(&robots);
}

/// A store that can't always be read, and can always be written to.
struct Moody {
    is_down: AtomicBool,
    store: MemoryStore,
}

impl Store for Moody {
    fn load<'a>(&'a self, origin: &'a Origin) -> Storing<'a, Option<Arc<Kept>>> {
        if self.is_down.load(SeqCst) { broken() } else { self.store.load(origin) }
    }

    fn save<'a>(&'a self, kept: &'a Arc<Kept>) -> Storing<'a, ()> {
        self.store.save(kept)
    }

    fn remove<'a>(&'a self, origin: &'a Origin) -> Storing<'a, bool> {
        self.store.remove(origin)
    }

    fn list<'a>(&'a self, after: Option<&'a str>, limit: usize) -> Storing<'a, Vec<Arc<Kept>>> {
        self.store.list(after, limit)
    }

    fn size(&self) -> Storing<'_, StoreSize> {
        self.store.size()
    }

    fn describe(&self) -> String {
        "a store with moods".to_owned()
    }
}

/// A store that is down may also say nothing at all.
#[tokio::test]
async fn a_store_that_never_answers_is_done_without() {
    let server = Server::saying(ok(FILE)).await;
    let fetcher = builder().clock(Arc::new(Hurried)).store(Arc::new(Silent)).build();
    assert_file(&fetcher.robots(&server.origin()).await);
    assert_file(&fetcher.robots(&server.origin()).await);
    assert_eq!(server.requests(), 1);
    assert_eq!(fetcher.stats().store_errors, 3, "load, claim, save");
}

/// A store that never says anything.
struct Silent;

fn silent<'a, T: Send + 'a>() -> Storing<'a, T> {
    Box::pin(std::future::pending())
}

impl Store for Silent {
    fn load<'a>(&'a self, _: &'a Origin) -> Storing<'a, Option<Arc<Kept>>> {
        silent()
    }

    fn save<'a>(&'a self, _: &'a Arc<Kept>) -> Storing<'a, ()> {
        silent()
    }

    fn remove<'a>(&'a self, _: &'a Origin) -> Storing<'a, bool> {
        silent()
    }

    fn list<'a>(&'a self, _: Option<&'a str>, _: usize) -> Storing<'a, Vec<Arc<Kept>>> {
        silent()
    }

    fn size(&self) -> Storing<'_, StoreSize> {
        silent()
    }

    fn claim<'a>(&'a self, _: &'a Origin, _: Duration) -> Storing<'a, FetchClaim> {
        silent()
    }

    fn describe(&self) -> String {
        "a store that is silent".to_owned()
    }
}

/// The time of the system, with short nights.
struct Hurried;

impl Clock for Hurried {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn sleep(&self, duration: Duration) -> Later<'_, ()> {
        Box::pin(tokio::time::sleep(duration / 10))
    }
}

/// A copy that was in a store before it went down is lost, and nobody is let in because of that.
#[tokio::test]
async fn a_store_that_goes_down_lets_nobody_in() {
    let failing = Server::saying(response("500 Down", "", "")).await;
    let fetcher = builder().store(Arc::new(Broken)).ready_octets(0).build();
    for _ in 0..3 {
        assert!(!allows(&fetcher.robots(&failing.origin()).await, "/open"));
    }
}

/// What another process has claimed is waited for, but not for ever.
#[tokio::test]
async fn a_claim_that_is_never_given_back() {
    struct Taken(MemoryStore, AtomicUsize);

    impl Store for Taken {
        fn load<'a>(&'a self, origin: &'a Origin) -> Storing<'a, Option<Arc<Kept>>> {
            self.0.load(origin)
        }

        fn save<'a>(&'a self, kept: &'a Arc<Kept>) -> Storing<'a, ()> {
            self.0.save(kept)
        }

        fn remove<'a>(&'a self, origin: &'a Origin) -> Storing<'a, bool> {
            self.0.remove(origin)
        }

        fn list<'a>(&'a self, after: Option<&'a str>, limit: usize) -> Storing<'a, Vec<Arc<Kept>>> {
            self.0.list(after, limit)
        }

        fn size(&self) -> Storing<'_, StoreSize> {
            self.0.size()
        }

        fn claim<'a>(&'a self, _: &'a Origin, _: Duration) -> Storing<'a, FetchClaim> {
            self.1.fetch_add(1, SeqCst);
            Box::pin(async { Ok(FetchClaim::Taken) })
        }

        fn describe(&self) -> String {
            "somebody else's".to_owned()
        }
    }

    let server = Server::saying(ok(FILE)).await;
    let clock = Arc::new(Ahead::default());
    let store = Arc::new(Taken(MemoryStore::new(1 << 20), AtomicUsize::new(0)));
    let fetcher = builder().clock(Arc::clone(&clock) as _).store(Arc::clone(&store) as _).build();
    let asked = tokio::spawn({
        let (fetcher, origin) = (fetcher.clone(), server.origin());
        async move { fetcher.robots(&origin).await }
    });
    // Whoever asks a second time has heard what was said the first time, and began to wait then.
    eventually("the claim was heard of", || store.1.load(SeqCst) > 1).await;
    clock.go_on(Duration::from_mins(10));
    assert_file(&asked.await.expect("an answer"));
    assert_eq!(server.requests(), 1);
}

#[test]
fn the_face_that_waits() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = runtime.block_on(Server::saying(ok(FILE)));
    let clock = Arc::new(Ahead::default());
    let fetcher = builder().clock(Arc::clone(&clock) as _).build();
    let fetcher = blocking::Fetcher::new(fetcher).expect("a thread");
    let url = server.url("/private/x");
    let request = Request::new(&url, "ExampleBot");
    let answer = fetcher.decide(&request).expect("a right request");
    assert!(!answer.report().access.allowed);
    assert_file(&fetcher.robots(&server.origin()));
    assert_eq!(fetcher.stats().successful, 1);
    let forgotten = fetcher.wait(fetcher.inner().forget(&server.origin()));
    assert!(forgotten.is_ok_and(|was_there| was_there));
    assert_file(&fetcher.robots(&server.origin()));
    assert_eq!(server.requests(), 2);
    // Outside of any runtime, what is ready is given, and nothing can be started.
    clock.go_on(Duration::from_hours(24) - Duration::from_mins(5));
    assert!(fetcher.inner().ready(&server.origin()).is_some());
    clock.go_on(Duration::from_mins(10));
    assert!(fetcher.inner().ready(&server.origin()).is_none());
    assert_eq!(server.requests(), 2);
}

/// A name that nobody resolves holds nobody up who is done.
#[test]
fn the_face_that_waits_is_dropped_while_a_name_is_resolved() {
    struct Stuck(Arc<Mutex<Receiver<()>>>);

    impl Resolver for Stuck {
        fn resolve<'a>(&'a self, _: &'a str, _: u16) -> Later<'a, io::Result<Vec<SocketAddr>>> {
            let release = Arc::clone(&self.0);
            // As the system's resolver does it: on a thread that can't be stopped.
            let stuck = tokio::task::spawn_blocking(move || {
                let release = release.lock().expect("nobody else");
                // The limit is only there so that a failure is no hang.
                let _ = release.recv_timeout(Duration::from_secs(20));
            });
            Box::pin(async move {
                let _ = stuck.await;
                Ok(Vec::new())
            })
        }
    }

    let (release, stuck) = channel();
    let stuck = Arc::new(Mutex::new(stuck));
    let builder = builder().patience(hasty()).resolver(Arc::new(Stuck(Arc::clone(&stuck))));
    let fetcher = blocking::Fetcher::new(builder.build()).expect("a thread");
    let robots = fetcher.robots(&Origin::of_url("http://slow.test/").expect("an origin"));
    assert_failed(&robots, "timeout");
    drop(fetcher);
    assert!(stuck.try_lock().is_err(), "nobody has waited until the name was resolved");
    drop(release);
}

/// It can't be used within a runtime, but whoever has it may be done with it there.
#[tokio::test]
async fn the_face_that_waits_is_dropped_within_a_runtime() {
    drop(blocking::Fetcher::new(builder().build()).expect("a thread"));
}

/// What nobody would set is no reason to fail.
#[tokio::test]
async fn settings_beyond_all_bounds() {
    for (duration, jitter) in
        [(Duration::MAX, 0.2), (Duration::MAX, f64::NAN), (Duration::ZERO, f64::INFINITY)]
    {
        let mut policy = Policy::default();
        policy.least_fresh = duration;
        policy.stale_while_revalidate = duration;
        policy.refresh_ahead = duration;
        policy.unavailable = Backoff { first: duration, most: duration };
        policy.unreachable = policy.unavailable;
        policy.jitter = jitter;
        let mut patience = Patience::default();
        (patience.connect, patience.first_byte) = (Duration::MAX, Duration::MAX);
        patience.total = Duration::MAX;
        for (status, expected) in [
            ("200 OK", AccessResult::Successful),
            ("404 Not Found", AccessResult::of_status(404)),
            ("503 Unavailable", AccessResult::of_status(503)),
        ] {
            let server = Server::saying(response(status, "", FILE)).await;
            let fetcher = builder().policy(policy).patience(patience).build();
            for _ in 0..3 {
                assert_eq!(*fetcher.robots(&server.origin()).await.access(), expected);
            }
        }
    }
}

/// Whoever wants to know it now asks the server, and a failure costs nobody the copy.
#[tokio::test]
async fn refreshed() {
    let is_down = Arc::new(AtomicBool::new(false));
    let server = Server::answering({
        let is_down = Arc::clone(&is_down);
        move |_| if is_down.load(SeqCst) { response("503 Down", "", "") } else { ok(FILE) }
    })
    .await;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(1 << 20));
    let fetcher = builder().store(Arc::clone(&store)).build();
    assert_file(&fetcher.robots(&server.origin()).await);
    let robots = fetcher.refresh(&server.origin()).await;
    assert_file(&robots);
    assert_eq!((robots.source(), server.requests()), (FileSource::Fetched, 2));
    is_down.store(true, SeqCst);
    for fetcher in [fetcher, builder().store(Arc::clone(&store)).build()] {
        let robots = fetcher.refresh(&server.origin()).await;
        assert_file(&robots);
        assert_eq!(robots.source(), FileSource::StaleUnreachable);
    }
    assert_eq!(server.requests(), 4);
    let kept = store.load(&server.origin()).await.expect("an answer").expect("something kept");
    assert_eq!((kept.last.failures, kept.copy.is_some()), (2, true));
    let offline = builder().store(store).offline(true).build();
    assert_file(&offline.refresh(&server.origin()).await);
    assert_eq!(server.requests(), 4);
}

/// What a clock that was far ahead has written is not believed, and must not stay in the way either.
#[tokio::test]
async fn what_was_kept_in_the_future_is_replaced() {
    let server = Server::saying(ok(FILE)).await;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(1 << 20));
    let clock = Arc::new(Ahead::default());
    clock.go_on(Duration::from_hours(1000));
    let ahead = builder().clock(clock).store(Arc::clone(&store)).build();
    assert_file(&ahead.robots(&server.origin()).await);
    for _ in 0..3 {
        let fetcher = builder().store(Arc::clone(&store)).build();
        assert_file(&fetcher.robots(&server.origin()).await);
    }
    assert_eq!(server.requests(), 2, "once by the wrong clock, and once by the right one");
}

/// Offline, nothing has failed and nobody will be asked: the story says neither.
#[tokio::test]
async fn the_story_of_what_is_kept_offline() {
    let server = Server::saying(ok(FILE)).await;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(1 << 20));
    assert_file(&builder().store(Arc::clone(&store)).build().robots(&server.origin()).await);
    let clock = Arc::new(Ahead::default());
    clock.go_on(Duration::from_hours(1000));
    let offline = builder().clock(clock).store(store).offline(true).build();
    let robots = offline.robots(&server.origin()).await;
    assert_file(&robots);
    let sentence = robots.file_report().sentence();
    assert!(sentence.contains("stale since") && !sentence.contains("asked"), "{sentence}");
    let unknown = offline.robots(&Origin::of_url("http://unknown.test/").expect("an origin")).await;
    assert!(!allows(&unknown, "/open") && !unknown.is_known());
    assert_eq!((unknown.kept().last.failing_since, unknown.kept().last.failures), (None, 0));
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn wrong_requests_ask_nobody() {
    let server = Server::saying(ok(FILE)).await;
    let fetcher: Fetcher = builder().policy(Policy::default()).build();
    let url = server.url("/");
    for (url, agent) in [(&*url, ""), (&*url, "not a token"), ("gopher://h.test/", "A"), ("/x", "A")] {
        assert!(fetcher.decide(&Request::new(url, agent)).await.is_err(), "{url} {agent}");
    }
    assert_eq!(server.requests(), 0);
}
