//! A piece of work → the most octets that it had on the heap at once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The allocator of the system, watched.
pub struct Watched;

thread_local! {
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

/// Does the work, and says how many octets it had at most beyond those that were there before it. The counters are those
/// of the thread, so that nothing else counts.
pub fn peak<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let before = LIVE.get();
    PEAK.set(before);
    let done = work();
    (done, PEAK.get() - before)
}

fn note(octets: i64) {
    let live = LIVE.get() + octets;
    LIVE.set(live);
    PEAK.set(PEAK.get().max(live));
}

fn signed(octets: usize) -> i64 {
    i64::try_from(octets).unwrap_or(i64::MAX)
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory of its own
// but two numbers of the thread, which need no destructor.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(signed(layout.size()));
        // SAFETY: the caller keeps to the contract, which is passed on as it is.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(-signed(layout.size()));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(signed(size) - signed(layout.size()));
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
