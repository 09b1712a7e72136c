//! What a store does in a second: `cargo run --release --example store_figures -- STORE ORIGINS`.
//!
//! The store is one that `mayi_fetch::store::open` takes; it should be empty. Files have about 800
//! octets of robots.txt, each its own. A store in a file is killed at the end, so that the time to open
//! it again is that after a crash.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use mayi::access::{AccessResult, Origin};
use mayi_fetch::kept::{FileCopy, Kept, LastAttempt};
use mayi_fetch::store::{Store, StoreError, open};

const TASKS: usize = 256;
const MOST_OCTETS: u64 = 64 << 30;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("which store?")?;
    let origins: usize = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    if arguments.next().as_deref() == Some("read") {
        return read(&name, origins).await;
    }
    let started = Instant::now();
    let store = open(&name, MOST_OCTETS)?;
    println!("made in {:?}: {}", started.elapsed(), store.describe());

    let started = Instant::now();
    each(&store, origins, origins, |store, number| async move { store.save(&kept(number)).await })
        .await?;
    said("saved", origins, started);
    println!("size {:?}, file {:?}", store.size().await?, file_octets(&name));
    let again = origins / 10;
    let started = Instant::now();
    each(&store, again, origins, |store, number| async move { store.save(&kept(number)).await })
        .await?;
    said("saved again", again, started);
    println!("size {:?}, file {:?}", store.size().await?, file_octets(&name));
    // Another process opens the file after this one has ended without closing it.
    if file_octets(&name).is_some() {
        let me = std::env::current_exe()?;
        let mut reader = std::process::Command::new("sh");
        reader.args(["-c", "kill -9 $PPID; sleep 1; exec \"$0\" \"$@\""]).arg(me);
        reader.args([&name, &origins.to_string(), "read"]).spawn()?.wait()?;
    }
    drop(store);
    read(&name, origins).await
}

async fn read(name: &str, origins: usize) -> Result<(), Box<dyn std::error::Error>> {
    let started = Instant::now();
    let store = open(name, MOST_OCTETS)?;
    println!("opened again in {:?}", started.elapsed());
    let reads = origins.min(300_000);
    for round in ["read", "read again"] {
        let started = Instant::now();
        each(&store, reads, origins, |store, number| async move {
            let there = store.load(&origin(number)).await?;
            there.map(|_| ()).ok_or_else(|| StoreError::new("an origin is missing"))
        })
        .await?;
        said(round, reads, started);
    }
    let started = Instant::now();
    let page = store.list(Some("https://host5"), 1000).await?.len();
    println!("a page of {page} in {:?}", started.elapsed());
    let started = Instant::now();
    let size = store.size().await?;
    println!("{size:?} in {:?}", started.elapsed());
    let started = Instant::now();
    drop(store);
    println!("closed in {:?}", started.elapsed());
    Ok(())
}

/// Does something with `count` numbers below `below`, spread over them, from many tasks.
async fn each<F>(
    store: &Arc<dyn Store>,
    count: usize,
    below: usize,
    job: impl Fn(Arc<dyn Store>, usize) -> F + Copy + Send + 'static,
) -> Result<(), StoreError>
where
    F: Future<Output = Result<(), StoreError>> + Send + 'static,
{
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..TASKS {
        let store = Arc::clone(store);
        tasks.spawn(async move {
            for step in (task..count).step_by(TASKS) {
                job(Arc::clone(&store), step.wrapping_mul(7_919) % below).await?;
            }
            Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("a task that ends")?;
    }
    Ok(())
}

fn said(what: &str, count: usize, started: Instant) {
    let took = started.elapsed();
    println!("{what} {count} in {took:.1?}: {:.0} a second", count as f64 / took.as_secs_f64());
}

fn file_octets(name: &str) -> Option<u64> {
    std::fs::metadata(name).ok().map(|file| file.len())
}

fn origin(number: usize) -> Origin {
    Origin::of_url(&format!("https://host{number}.example")).expect("an origin")
}

/// A file with words that compress as those of a robots.txt do.
fn kept(number: usize) -> Arc<Kept> {
    let mut random = fastrand::Rng::with_seed(number as u64);
    let mut body = String::from("User-agent: *\n");
    while body.len() < 800 {
        body.push_str(["Disallow: /", "Allow: /"][random.usize(..2)]);
        body.extend(std::iter::repeat_with(|| random.lowercase()).take(random.clone().usize(4..20)));
        body.push('\n');
    }
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let origin = origin(number);
    let copy = FileCopy::new(origin.robots_url(), body, now);
    Arc::new(Kept::new(origin, Some(copy), LastAttempt::new(now, AccessResult::Successful)))
}
