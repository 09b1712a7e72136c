//! A piece of work → the octets that it left on the heap, and how often it asked for some.
//!
//! The allocator of the system does the work. It is watched only while something is counted: at other
//! times the watching is one load and one branch, the same for every engine.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

pub struct Watched;

static COUNTING: AtomicBool = AtomicBool::new(false);
static LIVE: AtomicI64 = AtomicI64::new(0);
static REQUESTS: AtomicU64 = AtomicU64::new(0);

/// What some work did to the heap.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heap {
    /// Octets asked for and not given back.
    pub live: i64,
    /// How often memory was asked for, growing what was there included.
    pub requests: u64,
}

/// Does the work and counts. The counters are the program's: only one thread may count at a time,
/// and this program has one.
pub fn count<T>(work: impl FnOnce() -> T) -> (T, Heap) {
    LIVE.store(0, Relaxed);
    REQUESTS.store(0, Relaxed);
    COUNTING.store(true, Relaxed);
    let done = work();
    COUNTING.store(false, Relaxed);
    (done, Heap { live: LIVE.load(Relaxed), requests: REQUESTS.load(Relaxed) })
}

/// Makes the allocator keep what it gets from the system, as it does by itself in a process that has
/// run for a while. Otherwise every large file has its pages mapped again, which takes longer than
/// reading it, and what is timed is the system.
pub fn settle() {
    // An allocator that sets its thresholds by what it has seen takes this for the usual size.
    const LARGE: usize = 30 << 20;
    drop(black_box(Vec::<u8>::with_capacity(LARGE)));
}

fn note(octets: i64, requests: u64) {
    if COUNTING.load(Relaxed) {
        LIVE.fetch_add(octets, Relaxed);
        REQUESTS.fetch_add(requests, Relaxed);
    }
}

fn signed(octets: usize) -> i64 {
    i64::try_from(octets).unwrap_or(i64::MAX)
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory of its own
// but atomics.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(signed(layout.size()), 1);
        // SAFETY: the caller keeps the contract of this very function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(signed(layout.size()), 1);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(-signed(layout.size()), 0);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(signed(new_size) - signed(layout.size()), 1);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}
