//! Flights that wait for their turn, and flights that fall.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mayi::access::Origin;
use mayi::report::FileSource;
use mayi_fetch::clock::Later;
use mayi_fetch::kept::Kept;
use mayi_fetch::store::{ClaimToken, FetchClaim, MemoryStore, Store, StoreSize, Storing};
use mayi_fetch::transport::{Get, Response, Transport, TransportError};
use tokio::sync::Semaphore;

use crate::support::*;

/// A store that writes down what is claimed and given back.
struct Claims {
    store: MemoryStore,
    said: Mutex<Vec<String>>,
}

impl Claims {
    fn said(&self) -> Vec<String> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, what: &str, origin: &Origin) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.push(format!("{what} {}", origin.host()));
    }
}

impl Store for Claims {
    fn load<'a>(&'a self, origin: &'a Origin) -> Storing<'a, Option<Arc<Kept>>> {
        self.store.load(origin)
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

    fn claim<'a>(&'a self, origin: &'a Origin, _: Duration) -> Storing<'a, FetchClaim> {
        self.note("claim", origin);
        Box::pin(async { Ok(FetchClaim::Granted(ClaimToken(1))) })
    }

    fn release<'a>(&'a self, origin: &'a Origin, _: ClaimToken) -> Storing<'a, ()> {
        self.note("release", origin);
        Box::pin(async { Ok(()) })
    }

    fn describe(&self) -> String {
        self.store.describe()
    }
}

/// A claim ends by itself after the time of an attempt. Held while its holder waits in a queue, it would be
/// over before the attempt begins, and another process would make the same one.
#[tokio::test]
async fn nobody_claims_before_it_is_their_turn() {
    let gate = Arc::new(Semaphore::new(0));
    let server = Server::gated(&gate).await;
    let store = Arc::new(Claims { store: MemoryStore::new(1 << 20), said: Mutex::default() });
    let fetcher = builder().connections(1, 1).store(Arc::clone(&store) as _).build();
    let ask = |host: &str| {
        let url = format!("http://{host}:{}/", server.port());
        let (fetcher, origin) = (fetcher.clone(), Origin::of_url(&url).expect("an origin"));
        tokio::spawn(async move { fetcher.robots(&origin).await })
    };
    let first = ask("a.test");
    eventually("the only turn is taken", || server.requests() == 1).await;
    let second = ask("b.test");
    eventually("both are on", || fetcher.stats().in_flight == 2).await;
    // However long the queue is moved.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(store.said(), ["claim a.test"]);
    gate.add_permits(1);
    assert_file(&first.await.expect("an answer"));
    assert_file(&second.await.expect("an answer"));
    let said = ["claim a.test", "release a.test", "claim b.test", "release b.test"];
    eventually("both claims are given back", || store.said().len() == 4).await;
    let mut heard = store.said();
    heard.sort_unstable();
    let mut said = said.map(str::to_owned);
    said.sort_unstable();
    assert_eq!(heard, said);
}

/// A fault of ours lets nobody in, and keeps nobody waiting.
#[tokio::test]
async fn a_flight_that_panics() {
    struct Faulty;

    impl Transport for Faulty {
        fn get<'a>(&'a self, _: Get<'a>) -> Later<'a, Result<Response, TransportError>> {
            Box::pin(async { panic!("a fault, as this test wants it") })
        }
    }

    let fetcher = builder().transport(Arc::new(Faulty)).connections(1, 1).build();
    let origin = Origin::of_url("http://a.test/").expect("an origin");
    for _ in 0..3 {
        let asked: Vec<_> = (0..10)
            .map(|_| {
                let (fetcher, origin) = (fetcher.clone(), origin.clone());
                tokio::spawn(async move { fetcher.robots(&origin).await })
            })
            .collect();
        for asked in asked {
            assert_failed(&asked.await.expect("an answer"), "internal");
        }
    }
    assert_eq!(fetcher.stats().in_flight, 0);
}

/// What another process has kept answers at once, and is asked for again in the background, as what was in
/// memory does.
#[tokio::test]
async fn a_refresh_of_what_was_in_the_store_holds_nobody_up() {
    let gate = Arc::new(Semaphore::new(1));
    let server = Server::gated(&gate).await;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(1 << 20));
    assert_file(&builder().store(Arc::clone(&store)).build().robots(&server.origin()).await);
    let clock = Arc::new(Ahead::default());
    clock.go_on(Duration::from_mins(24 * 60 - 5));
    let fetcher = builder().store(store).clock(clock).build();
    // The server answers nobody any more.
    gate.forget_permits(1);
    let robots = fetcher.robots(&server.origin()).await;
    assert_file(&robots);
    assert_eq!(robots.source(), FileSource::Fresh);
    eventually("its server is asked meanwhile", || server.requests() == 2).await;
    gate.add_permits(1);
    eventually("the news is there", || fetcher.stats().in_flight == 0).await;
    assert_eq!((fetcher.stats().successful, server.requests()), (1, 2));
}
