//! The store in memory takes what it says, by what the system says of this process. It is the only test of its
//! program, as others beside it would take memory too.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mayi::access::{AccessResult, Origin};
use mayi_fetch::kept::{FileCopy, Kept, LastAttempt};
use mayi_fetch::store::{MemoryStore, Store as _};

#[test]
fn the_store_in_memory_takes_no_more_than_it_may() {
    const MOST: u64 = 16 << 20;
    let Some(before) = resident() else {
        println!("not measured: this system does not say how much memory is resident");
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    // Files that hardly weigh anything beside what keeps them, then larger ones.
    for (octets, count) in [(20, 200_000), (4_000, 12_000)] {
        let store = MemoryStore::new(MOST);
        runtime.block_on(async {
            for number in 0..count {
                store.save(&kept(number, octets)).await.expect("saved");
            }
            let size = store.size().await.expect("a size");
            assert!(size.origins < count, "some have gone");
            assert!(size.octets > MOST / 2, "it is full: {size:?}");
        });
        let taken = resident().expect("it was told before").saturating_sub(before);
        println!("{octets} octets per file: {} KiB of {}", taken >> 10, MOST >> 10);
        // A quarter more is for what the allocator takes beside and keeps for later.
        assert!(taken < MOST + MOST / 4, "{octets} octets per file: {taken} of {MOST}");
    }
}

fn kept(number: u64, octets: usize) -> Arc<Kept> {
    let host = format!("n{number}.example");
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + number);
    // Nothing that could be compressed.
    let body = std::iter::repeat_with(|| fastrand::u8(..)).take(octets).collect::<Vec<_>>();
    let copy = FileCopy::new(format!("https://{host}/robots.txt"), body, at);
    let origin = Origin::of_url(&format!("https://{host}/")).expect("an origin");
    Arc::new(Kept::new(origin, Some(copy), LastAttempt::new(at, AccessResult::Successful)))
}

/// The memory of this process that is resident, in octets, where the system says so.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kib| kib << 10)
}
