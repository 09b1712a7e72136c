//! The shared store: claims between processes, a server that dies and comes back, and entries of others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mayi::access::{AccessResult, Origin};
use mayi_fetch::Fetcher;
use mayi_fetch::guard::Guard;
use mayi_fetch::kept::SCHEMA;
use mayi_fetch::store::{FetchClaim, RedisOptions, RedisStore, Store, StoreErrorKind, open};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::servers::{Cluster, Server};
use crate::support::{kept, origin, until};

/// A store with more patience than usual: a machine may be busy while it tests.
pub(crate) fn connect(url: &str) -> RedisStore {
    let mut options = RedisOptions::default();
    options.timeout = Duration::from_secs(10);
    RedisStore::connect(url, options).expect("a URL of Redis")
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_gets_a_claim() {
    let server = Server::start(&[]);
    let cluster = Cluster::start();
    for url in [server.url(), cluster.url()] {
        let stores: Vec<Arc<RedisStore>> = (0..4).map(|_| Arc::new(connect(&url))).collect();
        let place = origin("wanted");
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..40 {
            let store = Arc::clone(&stores[number % 4]);
            let place = place.clone();
            tasks.spawn(async move { store.claim(&place, Duration::from_mins(10)).await });
        }
        let mut granted = Vec::new();
        while let Some(claim) = tasks.join_next().await {
            if let FetchClaim::Granted(token) = claim.expect("a task").expect("an answer") {
                granted.push(token);
            }
        }
        assert_eq!(granted.len(), 1, "one of forty");

        let other = origin("other");
        let claim = stores[0].claim(&other, Duration::from_mins(10)).await.expect("an answer");
        let FetchClaim::Granted(token_of_other) = claim else { panic!("another origin is free") };
        stores[1].release(&place, token_of_other).await.expect("an answer");
        let claim = stores[1].claim(&place, Duration::from_mins(10)).await.expect("an answer");
        assert_eq!(claim, FetchClaim::Taken, "only its own token gives a claim back");
        stores[2].release(&place, granted[0]).await.expect("an answer");
        let claim = stores[3].claim(&place, Duration::from_millis(30)).await.expect("an answer");
        let FetchClaim::Granted(late) = claim else { panic!("it was given back") };

        // Whoever dies with a claim keeps the others from it for no longer than it asked for.
        let next = std::sync::Mutex::new(None);
        until("the claim ends by itself", || async {
            let claim = stores[0].claim(&place, Duration::from_mins(10)).await.expect("an answer");
            *next.lock().expect("a lock") = Some(claim);
            claim != FetchClaim::Taken
        })
        .await;
        stores[3].release(&place, late).await.expect("an answer");
        let claim = stores[1].claim(&place, Duration::from_mins(10)).await.expect("an answer");
        assert_eq!(claim, FetchClaim::Taken, "a late holder takes nobody's claim away");
    }
}

/// Fetchers that share nothing but the server, as processes do: however many ask, the site is asked once,
/// and without the server each of them asks for itself.
#[tokio::test(flavor = "multi_thread")]
async fn many_who_share_a_store_ask_once() {
    let mut server = Server::start(&[]);
    let (site, asked) = slow_site().await;
    let fetchers = || -> Vec<Fetcher> {
        let fetcher = |_| {
            let guard = Guard::default().allowing("127.0.0.0/8".parse().expect("a range"));
            let builder = Fetcher::builder("ExampleBot/1.0 (+https://example.com/bot)");
            let store = Arc::new(connect(&server.url()));
            builder.expect("a User-Agent string").guard(guard).store(store).build()
        };
        (0..5).map(fetcher).collect()
    };
    let (first, second) = (fetchers(), fetchers());
    ask_all(&first, &site).await;
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    // Who comes later has what is kept.
    ask_all(&second[..2], &site).await;
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    server.kill();
    ask_all(&second[2..], &site).await;
    assert_eq!(asked.load(Ordering::SeqCst), 4);
}

/// Each of these is asked ten times at once.
async fn ask_all(fetchers: &[Fetcher], site: &Origin) {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..10 {
        for fetcher in fetchers {
            let (fetcher, site) = (fetcher.clone(), site.clone());
            tasks.spawn(async move { fetcher.robots(&site).await });
        }
    }
    while let Some(robots) = tasks.join_next().await {
        assert_eq!(*robots.expect("a task").access(), AccessResult::Successful);
    }
}

/// A site that takes its time, and how often it was asked.
async fn slow_site() -> (Origin, Arc<AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port on loopback");
    let url = format!("http://{}/", listener.local_addr().expect("its address"));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(300)).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n# a\n").await;
                let _ = stream.read_to_end(&mut Vec::new()).await;
            });
        }
    });
    (Origin::of_url(&url).expect("an origin"), asked)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_gives_errors_until_it_is_back() {
    let mut server = Server::start(&[]);
    let store = Arc::new(connect(&server.url()));
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..32 {
        let store = Arc::clone(&store);
        // Until there is an error: nobody waits for ever.
        tasks.spawn(async move {
            for at in 1_000.. {
                let kept = kept(&format!("t{task}"), at, 500);
                let saved = store.save(&kept).await;
                let loaded = store.load(&kept.origin).await;
                if let (Ok(()), Ok(there)) = (&saved, &loaded) {
                    assert_eq!(there.as_ref(), Some(&kept));
                } else {
                    break;
                }
            }
        });
    }
    until("there is load", || async { store.size().await.is_ok_and(|size| size.origins == 32) }).await;
    server.kill();
    while let Some(done) = tasks.join_next().await {
        done.expect("a task that ends");
    }
    let error = store.load(&origin("t0")).await.expect_err("nobody is there").to_string();
    assert!(error.starts_with(&format!("Redis at 127.0.0.1:{}: ", server.port)), "{error}");
    until("nobody is asked for a while", || async {
        let error = store.load(&origin("t0")).await.expect_err("nobody is there");
        error.to_string().contains(": it did not respond a moment ago: ")
    })
    .await;
    store.claim(&origin("t0"), Duration::from_secs(1)).await.expect_err("nobody is there");
    store.list(None, 10).await.expect_err("nobody is there");

    server.restart();
    until("the server is found again", || async { store.load(&origin("t0")).await.is_ok() }).await;
    let kept = kept("t0", 5, 10);
    store.save(&kept).await.expect("saved");
    assert_eq!(store.load(&kept.origin).await.expect("an answer"), Some(kept));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_down_at_first_is_found_later() {
    let mut server = Server::start(&[]);
    server.kill();
    let store = open(&server.url(), 0).expect("a store");
    store.load(&origin("a")).await.expect_err("nobody is there");
    server.restart();
    until("the server is found", || async { store.load(&origin("a")).await.is_ok() }).await;
}

/// A server that takes connections and says nothing.
#[tokio::test]
async fn silence_is_an_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("redis://{}", listener.local_addr().expect("an address"));
    let mut options = RedisOptions::default();
    options.timeout = Duration::from_millis(50);
    let store = RedisStore::connect(&url, options).expect("a URL of Redis");
    store.load(&origin("a")).await.expect_err("no answer comes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_dies_takes_only_its_own_origins_along() {
    let mut cluster = Cluster::start();
    let store = connect(&cluster.url());
    let entries: Vec<_> = (0..60).map(|n| kept(&format!("n{n}"), 1_000, 50)).collect();
    for kept in &entries {
        store.save(kept).await.expect("saved");
    }
    cluster.nodes[2].kill();
    until("the others answer, and it does not", || async {
        let (mut found, mut errors) = (0, 0);
        for kept in &entries {
            match store.load(&kept.origin).await {
                Ok(there) => {
                    assert_eq!(there.as_ref(), Some(kept), "an answer is never a wrong one");
                    found += 1;
                }
                Err(_) => errors += 1,
            }
        }
        assert!(errors > 0, "a third of the slots is gone");
        found > 20 && found + errors == 60
    })
    .await;
    let list = store.list(None, 100).await.map(|list| list.len());
    list.expect_err("a list without a third of it would mislead");
    cluster.nodes[2].restart();
    until("the node is found again", || async {
        let mut all = true;
        for kept in &entries {
            all &= store.load(&kept.origin).await.is_ok();
        }
        all
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_takes_over_with_what_it_has() {
    let mut cluster = Cluster::start();
    let store = connect(&cluster.url());
    let entries: Vec<_> = (0..60).map(|n| kept(&format!("n{n}"), 1_000, 50)).collect();
    for kept in &entries {
        store.save(kept).await.expect("saved");
    }
    cluster.add_replica_of_last();
    cluster.nodes[2].kill();
    for entry in &entries {
        until("reading works as before", || async {
            let there = store.load(&entry.origin).await;
            there.is_ok_and(|there| {
                assert_eq!(there.as_ref(), Some(entry), "an answer is never a wrong one");
                true
            })
        })
        .await;
    }
    for number in 0..60 {
        let next = kept(&format!("n{number}"), 2_000, 50);
        until("saving works as before", || async { store.save(&next).await.is_ok() }).await;
        assert_eq!(store.load(&next.origin).await.expect("an answer"), Some(next));
    }
    until("the list is whole", || async {
        store.list(None, 100).await.is_ok_and(|list| {
            assert_eq!(list.len(), 60);
            true
        })
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_is_absence_and_a_full_server_is_an_error() {
    let server = Server::start(&[]);
    let store = connect(&server.url());
    for (name, value) in [("cut", "0000"), ("odd", "00000000000000001000odd"), ("text", "text")] {
        server.say(&format!("SET mayi:{SCHEMA}:kept:{{https://{name}.example}} {value}"));
        match store.load(&origin(name)).await {
            // What begins with another version is that of somebody else.
            Ok(there) => assert_eq!(there, None, "{name}"),
            Err(error) => assert_eq!(error.kind(), StoreErrorKind::DamagedEntry, "{error}"),
        }
        let kept = kept(name, 2_000, 10);
        store.save(&kept).await.expect("it is written over");
        assert_eq!(store.load(&kept.origin).await.expect("an answer"), Some(kept));
    }
    server.say(&format!("SET mayi:{SCHEMA}:kept:{{https://a.example}} odd"));
    assert_eq!(store.list(None, 3).await.expect("a list").len(), 3, "damage makes no page shorter");

    let full = Server::start(&["--maxmemory", "1mb", "--maxmemory-policy", "noeviction"]);
    let store = connect(&full.url());
    let error = store.save(&kept("a", 1_000, 10)).await.expect_err("there is no room");
    assert!(error.to_string().contains("maxmemory"), "{error}");
    assert_eq!(store.load(&origin("a")).await.expect("reading goes on"), None);
}

/// A claim is short, and is renewed while its holder is at work; whoever dies with one holds nobody up for longer
/// than that.
#[tokio::test(flavor = "multi_thread")]
async fn a_claim_ends_soon_after_its_holder() {
    let server = Server::start(&[]);
    let site = StallingSite::start().await;
    let key = format!("mayi:{SCHEMA}:claim:{{{}}}", site.origin);
    let left = || -> i64 {
        let said = server.say(&format!("PTTL {key}")).expect("an answer");
        said.trim_start_matches(':')
            .lines()
            .next()
            .and_then(|left| left.parse().ok())
            .expect("a number")
    };
    // A process of its own, as far as the store can tell.
    let holder = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let holder = holder.expect("a runtime");
    let (url, origin) = (server.url(), site.origin.clone());
    holder.spawn(async move { on_loopback(&url).robots(&origin).await });
    until("the holder is at work", || async { site.asked.load(Ordering::SeqCst) == 1 }).await;
    // For longer than a claim holds that nobody renews.
    let start = std::time::Instant::now();
    while start.elapsed() < Duration::from_secs(6) {
        let left = left();
        assert!(left > 0, "it is renewed while its holder is at work: {left}");
        assert!(left <= 5_000, "it ends within five seconds of its holder's death: {left}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let next = on_loopback(&server.url());
    let asking = tokio::spawn({
        let origin = site.origin.clone();
        async move { next.robots(&origin).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(site.asked.load(Ordering::SeqCst), 1, "the next one waits for the holder");
    // The holder dies: nothing is given back.
    holder.shutdown_background();
    assert!(left() <= 5_000);
    until("the next one asks", || async { site.asked.load(Ordering::SeqCst) == 2 }).await;
    site.gate.add_permits(10);
    let robots = asking.await.expect("a task");
    assert_eq!(*robots.access(), AccessResult::Successful);
    until("the claim is given back", || async { left() == -2 }).await;
}

fn on_loopback(url: &str) -> Fetcher {
    let guard = Guard::default().allowing("127.0.0.0/8".parse().expect("a range"));
    let builder = Fetcher::builder("ExampleBot/1.0 (+https://example.com/bot)");
    builder.expect("a User-Agent string").guard(guard).store(Arc::new(connect(url))).build()
}

/// A site that answers when its gate is open.
struct StallingSite {
    origin: Origin,
    asked: Arc<AtomicUsize>,
    gate: Arc<tokio::sync::Semaphore>,
}

impl StallingSite {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port on loopback");
        let url = format!("http://{}/", listener.local_addr().expect("its address"));
        let origin = Origin::of_url(&url).expect("an origin");
        let (asked, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(tokio::sync::Semaphore::new(0)));
        let site = Self { origin, asked: Arc::clone(&asked), gate: Arc::clone(&gate) };
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                asked.fetch_add(1, Ordering::SeqCst);
                let gate = Arc::clone(&gate);
                tokio::spawn(async move {
                    let _turn = gate.acquire().await;
                    let _ =
                        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n# a\n").await;
                    let _ = stream.read_to_end(&mut Vec::new()).await;
                });
            }
        });
        site
    }
}

/// What went wrong has a kind: a log and an alarm can act on it.
#[tokio::test(flavor = "multi_thread")]
async fn troubles_have_kinds() {
    let locked = Server::start(&[]);
    assert!(locked.say("CONFIG SET requirepass secret").is_some_and(|said| said.starts_with("+OK")));
    for url in [locked.url(), locked.url().replace("redis://", "redis://:wrong@")] {
        let store = connect(&url);
        let kinds = [
            store.check().await.expect_err("it is locked").kind(),
            store.load(&origin("a")).await.expect_err("it is locked").kind(),
            store.save(&kept("a", 1, 1)).await.expect_err("it is locked").kind(),
        ];
        assert_eq!(kinds, [StoreErrorKind::Refused; 3], "{url}");
    }
    let full = Server::start(&["--maxmemory", "1mb", "--maxmemory-policy", "noeviction"]);
    let store = connect(&full.url());
    store.check().await.expect("it answers");
    let error = store.save(&kept("a", 1_000, 10)).await.expect_err("there is no room");
    assert_eq!(error.kind(), StoreErrorKind::Full, "{error}");
    let mut gone = Server::start(&[]);
    let store = connect(&gone.url());
    store.check().await.expect("it answers");
    gone.kill();
    let error = store.load(&origin("a")).await.expect_err("nobody is there");
    assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
}

/// Every bit of an entry, one after the other, and the name of another site: no other file comes of it.
#[tokio::test(flavor = "multi_thread")]
async fn no_flipped_bit_gives_another_file() {
    let server = Server::start(&[]);
    let store = connect(&server.url());
    let entry = kept("a", 1_700_000_000_000, 8);
    let key = format!("mayi:{SCHEMA}:kept:{{{}}}", entry.origin);
    store.save(&entry).await.expect("saved");
    let length = server.say(&format!("STRLEN {key}")).expect("an answer");
    let length = length.trim_start_matches(':').lines().next().and_then(|length| length.parse().ok());
    let bits = 8 * length.unwrap_or(0_usize);
    assert!(bits > 500, "{bits}");
    let flip = "\"return redis.call('SETBIT',KEYS[1],ARGV[1],1-redis.call('GETBIT',KEYS[1],ARGV[1]))\"";
    for bit in 0..bits {
        server.say(&format!("EVAL {flip} 1 {key} {bit}"));
        match store.load(&entry.origin).await {
            Ok(there) => assert_eq!(there, None, "bit {bit}"),
            Err(error) => assert_eq!(error.kind(), StoreErrorKind::DamagedEntry, "bit {bit}"),
        }
        // Whatever the bit was, of the time too, what is saved next is there.
        store.save(&entry).await.expect("saved");
        if bit % 32 == 0 {
            let there = store.load(&entry.origin).await.expect("an answer");
            assert_eq!(there.as_ref(), Some(&entry), "bit {bit}");
        }
    }
    let other = format!("mayi:{SCHEMA}:kept:{{{}}}", origin("b"));
    assert!(server.say(&format!("RENAME {key} {other}")).is_some_and(|said| said.starts_with("+OK")));
    let error = store.load(&origin("b")).await.expect_err("it is that of another site");
    assert_eq!(error.kind(), StoreErrorKind::DamagedEntry);
}
