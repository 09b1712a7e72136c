//! A number of octets → a cache in memory that holds this many, on every machine.

use std::hash::Hash;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

/// The minimum size of a part of a cache. A value that is larger than a part is not held at all, and would be
/// fetched for every question.
const LEAST_PART: u64 = 4 << 20;

/// A cache of so many octets for values of about this size, and of up to this one. The library divides it
/// into parts that can be used in parallel, more of them on more cores; here there are only so many that each
/// has room for the largest value.
pub(crate) fn cache<K: Eq + Hash, V: Clone, W: Weighter<K, V> + Clone>(
    octets: u64,
    usual: u64,
    largest: u64,
    weighter: W,
) -> Cache<K, V, W> {
    let count = |octets: u64, each: u64| usize::try_from(octets / each).unwrap_or(usize::MAX);
    let cores = std::thread::available_parallelism().map_or(4, std::num::NonZero::get);
    let parts = count(octets, largest.max(LEAST_PART)).clamp(1, 4 * cores);
    let options = OptionsBuilder::new()
        .weight_capacity(octets)
        .estimated_items_capacity(count(octets, usual).clamp(16, 1 << 20))
        // The library rounds up to a power of two, and parts would be smaller than they have to be.
        .shards(1 << parts.ilog2())
        .build()
        .expect("both capacities are set");
    Cache::with_options(options, weighter, DefaultHashBuilder::default(), DefaultLifecycle::default())
}
