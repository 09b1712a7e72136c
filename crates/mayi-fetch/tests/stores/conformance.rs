//! What every store does, asked of every store.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mayi_fetch::kept::Kept;
use mayi_fetch::store::{DiskStore, FetchClaim, MemoryStore, Store, open};

use crate::redis::connect;
use crate::servers::{Cluster, Server};
use crate::support::{kept, origin, time};

#[tokio::test(flavor = "multi_thread")]
async fn memory() {
    conforms(Arc::new(MemoryStore::new(16 << 20))).await;
    bounded(&MemoryStore::new(1 << 20), 1 << 20).await;
}

/// A file that is not kept would be fetched for every question.
#[tokio::test]
async fn memory_has_room_for_a_large_file_on_any_machine() {
    let store = MemoryStore::new(4 << 20);
    let large = kept("large", 1_000, 2 << 20);
    store.save(&large).await.expect("saved");
    let there = store.load(&large.origin).await.expect("an answer");
    assert!(there == Some(large), "it is not kept, or not as it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    conforms(open(path.to_str().expect("text"), 16 << 20).expect("a store")).await;
    bounded(&DiskStore::open(folder.path().join("small"), 1 << 20).expect("a store"), 1 << 20).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redis() {
    let server = Server::start(&[]);
    conforms(Arc::new(connect(&server.url()))).await;
    // The bound is the server's own.
    let small = Server::start(&["--maxmemory", "6mb", "--maxmemory-policy", "allkeys-lru"]);
    bounded(&connect(&small.url()), 6 << 20).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_cluster() {
    let cluster = Cluster::start();
    conforms(Arc::new(connect(&cluster.url()))).await;
}

pub(crate) async fn conforms(store: Arc<dyn Store>) {
    keeps_the_later(&*store).await;
    lists_in_pages(&*store).await;
    claims(&*store).await;
    many_at_once(Arc::clone(&store)).await;
    forgets_everything(&*store).await;
}

async fn keeps_the_later(store: &dyn Store) {
    let place = origin("a");
    assert_eq!(store.load(&place).await.expect("an answer"), None);
    assert!(!store.remove(&place).await.expect("an answer"), "there is nothing yet");
    assert_eq!(store.size().await.expect("an answer").origins, 0);

    let second = kept("a", 2_000, 300);
    store.save(&second).await.expect("saved");
    assert_eq!(store.load(&place).await.expect("an answer"), Some(Arc::clone(&second)));
    store.save(&kept("a", 1_000, 10)).await.expect("an earlier attempt is no error");
    assert_eq!(store.load(&place).await.expect("an answer"), Some(second));
    let same_time = kept("a", 2_000, 200);
    store.save(&same_time).await.expect("saved");
    assert_eq!(store.load(&place).await.expect("an answer"), Some(same_time));
    let third = kept("a", 3_000, 0);
    store.save(&third).await.expect("saved");
    assert_eq!(store.load(&place).await.expect("an answer"), Some(third));

    let other_scheme = mayi::access::Origin::of_url("http://a.example").expect("an origin");
    assert_eq!(store.load(&other_scheme).await.expect("an answer"), None);
    let size = store.size().await.expect("an answer");
    assert_eq!(size.origins, 1);
    assert!(size.octets > 0);
    assert!(store.remove(&place).await.expect("an answer"), "there was something");
    assert_eq!(store.load(&place).await.expect("an answer"), None);
    assert_eq!(store.size().await.expect("an answer").origins, 0);
    // What was forgotten may come back with any time.
    store.save(&kept("a", 1, 1)).await.expect("saved");
    assert!(store.remove(&place).await.expect("an answer"), "there was something");
}

async fn lists_in_pages(store: &dyn Store) {
    let mut expected: Vec<String> = Vec::new();
    for number in 0..57 {
        let kept = kept(&format!("host-{}", number * 7919 % 1000), 1_000, 5);
        store.save(&kept).await.expect("saved");
        expected.push(kept.origin.to_string());
    }
    expected.sort_unstable();
    for limit in [1, 10, 19, 57, 58, usize::MAX] {
        let mut found = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = store.list(after.as_deref(), limit).await.expect("a page");
            found.extend(page.iter().map(|kept| kept.origin.to_string()));
            if page.len() < limit {
                break;
            }
            after = found.last().cloned();
        }
        assert_eq!(found, expected, "in pages of {limit}");
    }
    assert!(store.list(None, 0).await.expect("a page").is_empty());
    assert!(store.list(Some("z"), 10).await.expect("a page").is_empty());
    // Anything may stand where a page is to begin.
    let page = store.list(Some("https://host-5"), 1).await.expect("a page");
    let next = expected.iter().find(|origin| &***origin > "https://host-5");
    assert_eq!(page.first().map(|kept| kept.origin.to_string()).as_ref(), next);
    assert_eq!(store.size().await.expect("an answer").origins, 57);
    for kept in store.list(None, 100).await.expect("a page") {
        assert!(store.remove(&kept.origin).await.expect("an answer"));
    }
}

async fn claims(store: &dyn Store) {
    let place = origin("claimed");
    let claim = store.claim(&place, Duration::from_mins(1)).await.expect("an answer");
    let FetchClaim::Granted(token) = claim else { panic!("nobody else has it") };
    store.release(&place, token).await.expect("given back");
    let claim = store.claim(&place, Duration::from_mins(1)).await.expect("an answer");
    let FetchClaim::Granted(token) = claim else { panic!("it was given back") };
    store.release(&place, token).await.expect("given back");
    assert_eq!(store.load(&place).await.expect("an answer"), None, "a claim is no entry");
}

/// Tasks that save the same origins in any order, while others read: the latest attempt stays.
async fn many_at_once(store: Arc<dyn Store>) {
    let mut attempts: Vec<(usize, u64)> = (0..400).map(|n| (n % 8, 1_000 + n as u64)).collect();
    fastrand::shuffle(&mut attempts);
    let mut tasks = tokio::task::JoinSet::new();
    for chunk in attempts.chunks(25) {
        let (store, chunk) = (Arc::clone(&store), chunk.to_vec());
        tasks.spawn(async move {
            for (name, at) in chunk {
                let saved = kept(&format!("busy-{name}"), at, 700);
                store.save(&saved).await.expect("saved");
                let there: Option<Arc<Kept>> = store.load(&saved.origin).await.expect("an answer");
                let there = there.expect("something is there");
                assert!(there.last.at >= time(at), "what was saved is there, or something later");
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("a task that ends");
    }
    for name in 0..8_u64 {
        let there = store.load(&origin(&format!("busy-{name}"))).await.expect("an answer");
        assert_eq!(there.expect("an entry").last.at, time(1_392 + name));
    }
    assert_eq!(store.size().await.expect("an answer").origins, 8);
}

async fn forgets_everything(store: &dyn Store) {
    for number in 0..700 {
        store.save(&kept(&format!("gone-{number}"), 1_000, 5)).await.expect("saved");
    }
    let before = store.size().await.expect("an answer").origins;
    assert_eq!(store.clear().await.expect("cleared"), before);
    assert_eq!(store.size().await.expect("an answer").origins, 0);
    assert!(store.list(None, 10).await.expect("a page").is_empty());
    assert_eq!(store.clear().await.expect("cleared"), 0);
    store.compact().await.expect("made small");
    let again = kept("gone-1", 1, 5);
    store.save(&again).await.expect("saved");
    assert_eq!(store.load(&again.origin).await.expect("an answer"), Some(again));
}

/// Three times as much as the store may have: it stays within the bound and has the newest.
async fn bounded(store: &dyn Store, most: u64) {
    let octets = 10_000;
    let count = 3 * most / octets as u64;
    for number in 0..count {
        store.save(&kept(&format!("n{number}"), 1_000 + number, octets)).await.expect("saved");
        assert!(store.size().await.expect("an answer").octets <= most, "after {number}");
    }
    let size = store.size().await.expect("an answer");
    assert!(size.origins < count, "some have gone");
    assert!(size.octets > most / 4, "not all have gone: {size:?}");
    let listed = store.list(None, usize::MAX).await.expect("a list");
    // A server may let something go for the room that the list itself takes.
    assert!(listed.len() as u64 <= size.origins && listed.len() as u64 > size.origins / 2);
    let names: BTreeSet<String> = listed.iter().map(|kept| kept.origin.to_string()).collect();
    let last = format!("https://n{}.example", count - 1);
    assert!(names.contains(&last), "the newest is there");
}
