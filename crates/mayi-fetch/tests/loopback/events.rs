//! What whoever runs a fetcher is told: failures of the store, what the guard refused, what is lacking.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mayi::access::Origin;
use mayi_fetch::clock::Later;
use mayi_fetch::dial::{Connector, Stream};
use mayi_fetch::events::{Event, Listener, StoreWork};
use mayi_fetch::guard::Guard;
use mayi_fetch::kept::Kept;
use mayi_fetch::store::{MemoryStore, Store, StoreError, StoreErrorKind, StoreSize, Storing};

use crate::support::*;

/// Writes down what it hears.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Heard {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Listener for Heard {
    fn hear(&self, event: &Event<'_>) {
        let said = format!("{}: {event}", event.name());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(said);
    }
}

/// A store whose disk is full from time to time, and that has one damaged entry.
struct Troubled {
    store: MemoryStore,
    is_full: AtomicBool,
    is_damaged: AtomicBool,
}

impl Store for Troubled {
    fn load<'a>(&'a self, origin: &'a Origin) -> Storing<'a, Option<Arc<Kept>>> {
        if self.is_damaged.load(Ordering::SeqCst) {
            let damaged = StoreError::of(StoreErrorKind::DamagedEntry, "its checksum is wrong");
            return Box::pin(async { Err(damaged) });
        }
        self.store.load(origin)
    }

    fn save<'a>(&'a self, kept: &'a Arc<Kept>) -> Storing<'a, ()> {
        if self.is_full.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::of(StoreErrorKind::Full, "no space left")) });
        }
        self.is_damaged.store(false, Ordering::SeqCst);
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

    fn check(&self) -> Storing<'_, ()> {
        Box::pin(async { Err(StoreError::of(StoreErrorKind::Refused, "the password is wrong")) })
    }

    fn describe(&self) -> String {
        self.store.describe()
    }
}

#[tokio::test]
async fn a_store_that_fails_is_told_until_it_works_again() {
    let (is_full, is_damaged) = (AtomicBool::new(true), AtomicBool::new(false));
    let store = Arc::new(Troubled { store: MemoryStore::new(1 << 20), is_full, is_damaged });
    let heard = Arc::new(Heard::default());
    let listener = Arc::clone(&heard) as Arc<dyn Listener>;
    let fetcher = builder().store(Arc::clone(&store) as _).listener(listener).build();
    assert!(!fetcher.store_health().is_degraded(), "nothing was asked of it yet");

    let server = Server::saying(ok(FILE)).await;
    assert_file(&fetcher.robots(&server.origin()).await);
    let health = fetcher.store_health();
    let failing: Vec<_> =
        health.failing.iter().map(|it| (it.work, it.error.kind(), it.failures)).collect();
    assert_eq!(failing, [(StoreWork::Writing, StoreErrorKind::Full, 1)], "reading goes on");
    assert_eq!(heard.take(), ["store-failed: the store failed at writing (full): no space left"]);

    store.is_full.store(false, Ordering::SeqCst);
    let other = Server::saying(ok(FILE)).await;
    assert_file(&fetcher.robots(&other.origin()).await);
    assert!(!fetcher.store_health().is_degraded());
    assert_eq!(heard.take(), ["store-recovered: the store works again at writing, after 1 failures"]);
    assert_eq!(fetcher.stats().store_errors, 1);

    let health = fetcher.check_store().await;
    assert!(health.failing.iter().any(|it| it.error.kind() == StoreErrorKind::Refused));
    assert_eq!(
        heard.take(),
        ["store-failed: the store failed at reading (refused): the password is wrong"]
    );
}

/// A damaged entry is as good as absent: what comes of the next attempt is saved over it, also a failure.
#[tokio::test]
async fn a_damaged_entry_is_absent_and_counted() {
    let (is_full, is_damaged) = (AtomicBool::new(false), AtomicBool::new(true));
    let store = Arc::new(Troubled { store: MemoryStore::new(1 << 20), is_full, is_damaged });
    let heard = Arc::new(Heard::default());
    let listener = Arc::clone(&heard) as Arc<dyn Listener>;
    let fetcher = builder().store(Arc::clone(&store) as _).listener(listener).build();
    let server = Server::saying(response("503 Service Unavailable", "", "")).await;
    assert!(!allows(&fetcher.robots(&server.origin()).await, "/open"));
    assert!(store.load(&server.origin()).await.expect("an answer").is_some(), "it was written over");
    let stats = fetcher.stats();
    // It is read once before the claim, and once after it.
    assert!(stats.damaged_entries >= 1 && stats.store_errors == 0, "{stats:?}");
    assert!(!fetcher.store_health().is_degraded(), "one entry is not the store");
    let said = heard.take();
    assert!(said.iter().all(|said| said.starts_with("entry-damaged: ")), "{said:?}");
}

/// The log has what the answer leaves out.
#[tokio::test]
async fn what_the_guard_refused_and_what_is_lacking() {
    struct Full;
    impl Connector for Full {
        fn connect(&self, _: SocketAddr) -> Later<'_, io::Result<Box<dyn Stream>>> {
            Box::pin(async { Err(io::Error::from_raw_os_error(24)) })
        }
    }
    let heard = Arc::new(Heard::default());
    let names =
        Script::new(&[("inside.test", &[&["10.11.12.13"]]), ("outside.test", &[&["93.184.215.14"]])]);
    let fetcher = builder()
        .guard(Guard::default())
        .resolver(names)
        .connector(Arc::new(Full))
        .listener(Arc::clone(&heard) as Arc<dyn Listener>)
        .build();
    let ask = async |url| fetcher.robots(&Origin::of_url(url).expect("an origin")).await;
    assert_failed(&ask("http://inside.test/").await, "guard");
    let [said] = <[String; 1]>::try_from(heard.take()).expect("one event");
    assert!(
        said.starts_with("guarded: ") && said.contains("10.11.12.13 is a private address"),
        "{said}"
    );
    assert_failed(&ask("http://outside.test/").await, "local");
    let [said] = <[String; 1]>::try_from(heard.take()).expect("one event");
    assert!(said.starts_with("local-fault: ") && said.contains("93.184.215.14:80"), "{said}");
    let stats = fetcher.stats();
    assert_eq!((stats.guarded, stats.local_faults, stats.unreachable), (1, 1, 1));
}
