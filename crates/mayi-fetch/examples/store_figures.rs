//! What a store does in a second: `cargo run --release --example store_figures -- STORE ORIGINS [FOLDER]`.
//!
//! The store is one that `mayi_fetch::store::open` takes; it should be empty. Files have about 800
//! octets of robots.txt, each its own; where a folder is given, its files are taken in turn, up to the
//! limit of a file. They are saved by another process that ends without closing the
//! store, so the time to open it again is that after a crash.

use std::sync::{Arc, OnceLock};
use std::time::{Instant, SystemTime};

use mayi::access::{AccessResult, Origin};
use mayi_fetch::kept::{FileCopy, Kept, LastAttempt};
use mayi_fetch::store::{Store, StoreError, open};

/// How many tasks save or read at the same time.
const TASKS: usize = 1024;
const MOST_OCTETS: u64 = 64 << 30;

/// Set in the process that writes.
const WRITER: &str = "STORE_FIGURES_WRITER";

/// The files to take in turn; where there are none, each is made.
static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("which store?")?;
    let origins: usize = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    let folder = arguments.next();
    let files = folder.as_deref().map_or_else(|| Ok(Vec::new()), files)?;
    FILES.set(files).map_err(|_| "it is set once")?;
    match std::env::var_os(WRITER) {
        Some(_) => write(&name, origins).await,
        None if name == "memory" => Err("what is in memory can't be opened again".into()),
        None => {
            let mut writer = std::process::Command::new(std::env::current_exe()?);
            writer.args([&name, &origins.to_string()]).args(folder).env(WRITER, "1");
            let status = writer.status()?;
            if !status.success() {
                return Err("writing failed".into());
            }
            read(&name, origins).await
        }
    }
}

async fn write(name: &str, origins: usize) -> Result<(), Box<dyn std::error::Error>> {
    let started = Instant::now();
    let store = open(name, MOST_OCTETS)?;
    println!("made in {:?}: {}", started.elapsed(), store.describe());
    for (what, count) in [("saved", origins), ("saved again", origins / 10)] {
        let started = Instant::now();
        let save = |store: Arc<dyn Store>, number| async move { store.save(&kept(number)).await };
        each(&store, count, origins, save).await?;
        said(what, count, started);
        println!("size {:?}, octets of the file {:?}", store.size().await?, file_octets(name));
    }
    // Without closing anything, as if it were killed.
    std::process::exit(0)
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
    let each_second = count as u128 * 1_000_000 / took.as_micros().max(1);
    println!("{what} {count} in {took:.1?}: {each_second} a second");
}

fn file_octets(name: &str) -> Option<u64> {
    std::fs::metadata(name).ok().map(|file| file.len())
}

fn origin(number: usize) -> Origin {
    Origin::of_url(&format!("https://host{number}.example")).expect("an origin")
}

/// The files of a folder.
fn files(folder: &str) -> std::io::Result<Vec<Vec<u8>>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let mut octets = std::fs::read(entry?.path())?;
        octets.truncate(mayi::Limits::default().file_octets());
        files.push(octets);
    }
    Ok(files)
}

/// A file with words that compress as those of a robots.txt do.
fn kept(number: usize) -> Arc<Kept> {
    let mut random = fastrand::Rng::with_seed(number as u64);
    let mut body = String::from("User-agent: *\n");
    while body.len() < 800 {
        body.push_str(["Disallow: /", "Allow: /"][random.usize(..2)]);
        for _ in 0..random.usize(4..20) {
            body.push(random.lowercase());
        }
        body.push('\n');
    }
    let files = FILES.get().map(Vec::as_slice).unwrap_or_default();
    let body = if files.is_empty() { body.into_bytes() } else { files[number % files.len()].clone() };
    let now = SystemTime::now();
    let origin = origin(number);
    let copy = FileCopy::new(origin.robots_url(), body, now);
    Arc::new(Kept::new(origin, Some(copy), LastAttempt::new(now, AccessResult::Successful)))
}
