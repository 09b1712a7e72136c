//! The store in a file: being killed, a full disk, files that are something else, and what goes first.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mayi_fetch::store::{DiskStore, Store};

use crate::support::{kept, origin, time};

/// Set in a process that a test has started, to the file it shall use.
const CHILD: &str = "MAYI_TEST_STORE";

#[test]
fn what_was_acknowledged_survives_being_killed() {
    if let Some(path) = std::env::var_os(CHILD) {
        return save_until_killed(Path::new(&path), false);
    }
    let saved = kill_many_times("disk::what_was_acknowledged_survives_being_killed", 25);
    assert!(saved > 1000, "under load: {saved}");
}

/// The same while the file is made smaller all the time.
#[test]
fn it_survives_being_killed_while_it_is_made_smaller() {
    if let Some(path) = std::env::var_os(CHILD) {
        return save_until_killed(Path::new(&path), true);
    }
    let saved = kill_many_times("disk::it_survives_being_killed_while_it_is_made_smaller", 16);
    assert!(saved > 100, "under load: {saved}");
}

/// Has a test save in a process of its own, which is killed, and looks for all that it acknowledged; says
/// how many times something was.
fn kill_many_times(test: &str, rounds: u64) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut acknowledged: HashMap<String, u64> = HashMap::new();
    let mut saved = 0;
    for round in 0..rounds {
        // Some are killed while they start: before the file is made, and while it is opened.
        let when = match round {
            0..8 => When::After(Duration::from_millis(round)),
            _ => When::HasSaved(fastrand::usize(60..200)),
        };
        for (name, at) in child_killed(test, &path, when) {
            saved += 1;
            let highest = acknowledged.entry(name).or_default();
            *highest = at.max(*highest);
        }
        let store = DiskStore::open(&path, 1 << 30).expect("the file opens");
        runtime.block_on(async {
            for (name, at) in &acknowledged {
                let there = store.load(&origin(name)).await.expect("an answer");
                let there = there.unwrap_or_else(|| panic!("round {round}: {name} is lost"));
                assert!(there.last.at >= time(*at), "round {round}: {name} is older");
            }
            let listed = store.list(None, usize::MAX).await.expect("a list").len();
            assert_eq!(store.size().await.expect("an answer").origins, listed as u64);
        });
    }
    saved
}

/// Damage anywhere in the file is an error, an entry that is gone, or not felt at all.
#[tokio::test]
async fn damage_is_no_panic() {
    const PAGE: usize = 4096;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let store = DiskStore::open(&path, 1 << 30).expect("a store");
    for n in 0..50 {
        store.save(&kept(&format!("h{n}"), n, 1000)).await.expect("saved");
    }
    drop(store);
    let whole = std::fs::read(&path).expect("a file");
    let mut damaged = 0;
    for start in (0..whole.len()).step_by(PAGE) {
        for octet in [0, 0xff] {
            let mut octets = whole.clone();
            octets[start..(start + PAGE).min(whole.len())].fill(octet);
            std::fs::write(&path, octets).expect("a file");
            match DiskStore::open(&path, 1 << 30) {
                Ok(store) => {
                    for n in 0..50 {
                        drop(store.load(&origin(&format!("h{n}"))).await);
                    }
                    drop(store.save(&kept("another", 1, 1000)).await);
                }
                Err(_) => damaged += 1,
            }
        }
    }
    assert!(damaged > 0, "some of it can't be opened any more");
}

/// A store that only answers while nobody writes would have a crawler fetch what is kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_reads_is_answered_while_others_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = DiskStore::open(folder.path().join("store"), 1 << 30).expect("a store");
    store.save(&kept("there", 1, 100)).await.expect("saved");
    let store = Arc::new(store);
    let writing = tokio::spawn({
        let store = Arc::clone(&store);
        async move {
            for at in 0..100 {
                store.save(&kept("other", at, 100)).await.expect("saved");
            }
        }
    });
    let mut reads = 0;
    while !writing.is_finished() || reads < 1000 {
        let there = store.load(&origin("there")).await.expect("an answer, whoever writes");
        assert!(there.is_some());
        reads += 1;
    }
    writing.await.expect("all is written");
}

/// When a child is killed.
#[derive(Clone, Copy)]
enum When {
    After(Duration),
    HasSaved(usize),
}

/// What a child acknowledged until it was killed.
fn child_killed(test: &str, path: &Path, when: When) -> Vec<(String, u64)> {
    let mut child = myself(test, path).stdout(Stdio::piped()).spawn().expect("a child");
    let output = BufReader::new(child.stdout.take().expect("its output"));
    let (said, heard) = std::sync::mpsc::channel();
    let reading = std::thread::spawn(move || {
        let read = |line: String| {
            let (name, at) = line.strip_prefix("saved ")?.strip_suffix(" .")?.split_once(' ')?;
            Some((name.to_owned(), at.parse().ok()?))
        };
        for saved in output.lines().map_while(Result::ok).filter_map(read) {
            said.send(saved).expect("somebody listens");
        }
    });
    let mut saved = Vec::new();
    match when {
        When::After(after) => std::thread::sleep(after),
        When::HasSaved(count) => saved.extend(heard.iter().take(count)),
    }
    child.kill().expect("a child");
    child.wait().expect("a child");
    saved.extend(heard.iter());
    reading.join().expect("what it said");
    saved
}

fn save_until_killed(path: &Path, is_made_smaller: bool) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = Arc::new(DiskStore::open(path, 1 << 30).expect("the file opens"));
        let now = std::time::SystemTime::now().duration_since(time(0)).expect("a time");
        let start = u64::try_from(now.as_millis()).expect("a time");
        let mut tasks = tokio::task::JoinSet::new();
        if is_made_smaller {
            let store = Arc::clone(&store);
            tasks.spawn(async move {
                loop {
                    store.compact().await.expect("made small");
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            });
        }
        for task in 0..32 {
            let store = Arc::clone(&store);
            tasks.spawn(async move {
                for at in start.. {
                    let name = format!("t{task}-{}", at % 40);
                    let octets = if at % 50 == 0 { 60_000 } else { fastrand::usize(0..2_000) };
                    store.save(&kept(&name, at, octets)).await.expect("saved");
                    println!("saved {name} {at} .");
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.expect("a task that only ends with the process");
        }
    });
}

/// The limit on the size of files stands for the end of the disk: both are errors of writing.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_of_saving_and_of_nothing_else() {
    if let Some(path) = std::env::var_os(CHILD) {
        return fill(Path::new(&path));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let test = myself("disk::a_full_disk_is_an_error_of_saving_and_of_nothing_else", &path);
    // The signal that comes with the limit would end the process; who runs the program ignores it.
    let output = Command::new("prlimit")
        .args(["--fsize=6000000:unlimited", "sh", "-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
        .arg(test.get_program())
        .args(test.get_args())
        .env(CHILD, &path)
        .output()
        .expect("prlimit, of util-linux");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("filled and emptied"), "{said}{errors}");
}

#[cfg(target_os = "linux")]
fn fill(path: &Path) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = DiskStore::open(path, 1 << 30).expect("a store");
        let mut saved = Vec::new();
        let error = loop {
            let next = kept(&format!("n{}", saved.len()), 1_000, 20_000);
            match store.save(&next).await {
                Ok(()) => saved.push(next),
                Err(error) => break error,
            }
        };
        assert!(error.to_string().contains("File too large"), "{error}");
        assert!(saved.len() > 20, "some could be saved: {}", saved.len());
        for kept in &saved {
            let there = store.load(&kept.origin).await.expect("reading goes on");
            assert_eq!(there.as_ref(), Some(kept));
        }
        for _ in 0..3 {
            let big = kept("big", 1_000, 4_000_000);
            store.save(&big).await.expect_err("there is still no room");
        }
        assert_eq!(store.size().await.expect("an answer").origins, saved.len() as u64);

        let me = std::process::id().to_string();
        let lifted = Command::new("prlimit").args(["--fsize=unlimited", "--pid", &me]).status();
        assert!(lifted.expect("prlimit").success());
        let more = kept("more", 1_000, 4_000_000);
        store.save(&more).await.expect("there is room again");
        saved.push(more);
        drop(store);
        let store = DiskStore::open(path, 1 << 30).expect("the file opens");
        for kept in &saved {
            let there = store.load(&kept.origin).await.expect("an answer");
            assert_eq!(there.as_ref(), Some(kept));
        }
        println!("filled and emptied");
    });
}

fn myself(test: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args([test, "--exact", "--nocapture"]).env(CHILD, path);
    command
}

#[tokio::test]
async fn dropping_it_writes_everything_and_frees_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    for round in 0..3 {
        let store = Arc::new(DiskStore::open(&path, 1 << 30).expect("a store"));
        assert_eq!(store.size().await.expect("an answer").origins, round * 50);
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..50 {
            let store = Arc::clone(&store);
            let kept = kept(&format!("r{round}-{number}"), 1_000, 100);
            tasks.spawn(async move { store.save(&kept).await });
        }
        drop(store);
        while let Some(done) = tasks.join_next().await {
            done.expect("a task that ends").expect("saved");
        }
    }
}

#[tokio::test]
async fn what_was_saved_or_asked_for_lately_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let store = DiskStore::open(&path, 200_000).expect("a store");
    for number in 0..60 {
        store.save(&kept(&format!("n{number}"), 1_000, 1_000)).await.expect("saved");
    }
    // The order of the saves is known after the file was opened again.
    drop(store);
    let store = DiskStore::open(&path, 200_000).expect("a store");
    let favourite = origin("n0");
    for number in 60..140 {
        assert!(store.load(&favourite).await.expect("an answer").is_some(), "before {number}");
        store.save(&kept(&format!("n{number}"), 1_000, 1_000)).await.expect("saved");
    }
    for (name, is_there) in [("n0", true), ("n1", false), ("n50", false), ("n139", true)] {
        let there = store.load(&origin(name)).await.expect("an answer");
        assert_eq!(there.is_some(), is_there, "{name}");
    }
    // A smaller bound holds soon after it was set, and nobody has to save for it.
    drop(store);
    let store = DiskStore::open(&path, 40_000).expect("a store");
    crate::support::until("the store has become smaller", || async {
        store.size().await.expect("an answer").octets <= 40_000
    })
    .await;
    assert!(store.load(&origin("n139")).await.expect("an answer").is_some());
    let error = store.save(&kept("n139", 2_000, 30_000)).await.expect_err("larger than all of it");
    assert!(error.to_string().contains("the whole store has 40000"), "{error}");
}

#[tokio::test]
async fn what_is_forgotten_gives_its_room_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let octets = || std::fs::metadata(&path).expect("the file").len();
    let store = DiskStore::open(&path, 1 << 30).expect("a store");
    for number in 0..400 {
        store.save(&kept(&format!("n{number}"), 1_000, 50_000)).await.expect("saved");
    }
    let full = octets();
    assert!(full > 20_000_000, "{full}");
    for number in 0..300 {
        assert!(store.remove(&origin(&format!("n{number}"))).await.expect("forgotten"));
    }
    assert_eq!(octets(), full, "the room is kept for others until somebody wants it back");
    store.compact().await.expect("made small");
    let compacted = octets();
    assert!(compacted < full / 2, "{compacted} of {full}");
    for number in 300..400 {
        let there = store.load(&origin(&format!("n{number}"))).await.expect("an answer");
        assert!(there.is_some(), "n{number}");
    }
    assert_eq!(store.clear().await.expect("cleared"), 100);
    store.compact().await.expect("made small");
    let empty = octets();
    assert!(empty < 3_000_000, "{empty}");
    store.save(&kept("n0", 1, 50_000)).await.expect("saved");
    drop(store);
    let store = DiskStore::open(&path, 1 << 30).expect("the file opens");
    assert_eq!(store.size().await.expect("an answer").origins, 1);
}

/// Many who make the same store at once: one has it, the others are told so, and nothing that the one
/// saves is lost. To the system, an open file of this process is as one of another.
#[test]
fn one_of_many_makes_the_store() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for round in 0..30 {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        if round % 2 == 1 {
            std::fs::write(&path, "").expect("an empty file");
        }
        let is_taken = AtomicBool::new(false);
        let make = |number: usize| {
            let store = loop {
                match DiskStore::open(&path, 1 << 30) {
                    Ok(store) => break Some(store),
                    Err(error) => {
                        let error = error.to_string();
                        assert!(error.contains("another process has this store open"), "{error}");
                    }
                }
                if is_taken.load(Ordering::SeqCst) {
                    break None;
                }
            };
            is_taken.store(true, Ordering::SeqCst);
            let saved = kept(&format!("t{number}"), 1_000, 10);
            store.map(|store| {
                runtime.block_on(store.save(&saved)).expect("saved");
                (store, saved)
            })
        };
        // Whoever has it keeps it until all have tried.
        let open: Vec<_> = std::thread::scope(|scope| {
            let make = &make;
            let makers: Vec<_> = (0..4).map(|number| scope.spawn(move || make(number))).collect();
            makers.into_iter().filter_map(|maker| maker.join().expect("a thread")).collect()
        });
        assert_eq!(open.len(), 1, "round {round}: one has it");
        let saved: Vec<_> = open.into_iter().map(|(_, saved)| saved).collect();
        let store = DiskStore::open(&path, 1 << 30).expect("the file opens");
        let there = runtime.block_on(store.load(&saved[0].origin)).expect("an answer");
        assert_eq!(there.as_ref(), saved.first(), "round {round}");
        drop(store);
        let left = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 1, "round {round}: nothing but the store is left");
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_also_to_what_is_not_there_yet() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("there")).expect("a folder");
    let link = folder.path().join("link");
    symlink("there/again", &link).expect("a link");
    symlink("store", folder.path().join("there/again")).expect("a link");
    DiskStore::open(&link, 1 << 20).expect("a store");
    assert!(std::fs::symlink_metadata(&link).expect("the link").is_symlink(), "the link stays one");
    assert!(std::fs::metadata(folder.path().join("there/store")).expect("the store").len() > 0);
    DiskStore::open(&link, 1 << 20).expect("the same store");

    let nowhere = folder.path().join("nowhere");
    symlink("no/such/folder", &nowhere).expect("a link");
    let error = DiskStore::open(&nowhere, 1 << 20).expect_err("no folder").to_string();
    assert!(error.contains("No such file"), "{error}");
    let circle = folder.path().join("circle");
    symlink("circle", &circle).expect("a link");
    let error = DiskStore::open(&circle, 1 << 20).expect_err("no end").to_string();
    assert!(error.contains("points to itself"), "{error}");
}

#[test]
fn files_that_are_no_store_are_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = |path: &Path| DiskStore::open(path, 1 << 20).expect_err("no store").to_string();

    let text = folder.path().join("text");
    std::fs::write(&text, "User-agent: *\n".repeat(1000)).expect("written");
    assert!(error(&text).ends_with("this file is not a store of mayi; name another file"));
    assert_eq!(std::fs::read(&text).expect("it is there").len(), 14_000);
    assert!(error(folder.path()).contains("directory"), "{}", error(folder.path()));
    assert!(error(&folder.path().join("none/store")).contains("No such file"));

    let other = folder.path().join("other");
    write_fact(&other, "users", 7);
    assert!(error(&other).contains("not a store of mayi"), "{}", error(&other));
    let newer = folder.path().join("newer");
    write_fact(&newer, "schema", 2);
    assert!(error(&newer).contains("schema version 2, and this program knows 1"), "{}", error(&newer));

    let path = folder.path().join("store");
    let open = DiskStore::open(&path, 1 << 20).expect("a store");
    assert!(error(&path).contains("another process has this store open"), "{}", error(&path));
    drop(open);
    DiskStore::open(&path, 1 << 20).expect("it is free again");

    let empty = folder.path().join("empty");
    std::fs::write(&empty, "").expect("written");
    DiskStore::open(&empty, 1 << 20).expect("an empty file becomes a store");
    // What a process leaves that was killed while it made a store.
    let unmade = folder.path().join("unmade");
    std::fs::write(folder.path().join("unmade.new"), [0; 5000]).expect("written");
    DiskStore::open(&unmade, 1 << 20).expect("a store");
}

fn write_fact(path: &Path, name: &str, value: u64) {
    let table = redb::TableDefinition::<&str, u64>::new("facts");
    let database = redb::Database::create(path).expect("a file");
    let transaction = database.begin_write().expect("a transaction");
    transaction.open_table(table).expect("a table").insert(name, value).expect("written");
    transaction.commit().expect("written");
}
