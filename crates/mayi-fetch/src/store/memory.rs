//! A store in the memory of the process, bounded by octets.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use mayi::access::Origin;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::{Store, StoreSize, Storing, entry};
use crate::held;
use crate::kept::{Kept, milliseconds};

/// A store in memory. The least used origins are evicted first.
///
/// ```
/// use mayi_fetch::store::{MemoryStore, Store};
///
/// let store = MemoryStore::new(64 << 20);
/// assert_eq!(store.describe(), "memory, at most 67108864 octets");
/// ```
#[derive(Debug)]
pub struct MemoryStore {
    most_octets: u64,
    packed: Cache<Origin, Packed, PackedWeight>,
    /// Only one task at a time compares and saves, so that of two attempts the later one wins.
    saving: Mutex<()>,
}

/// Something kept, compressed.
#[derive(Clone, Debug)]
struct Packed {
    at: SystemTime,
    octets: Arc<[u8]>,
}

#[derive(Clone, Debug)]
struct PackedWeight;

impl Weighter<Origin, Packed> for PackedWeight {
    fn weight(&self, origin: &Origin, packed: &Packed) -> u64 {
        // The key, the value and their place in the table.
        (packed.octets.len() + origin.host().len() + 160) as u64
    }
}

impl MemoryStore {
    /// A store of at most this many octets.
    pub fn new(most_octets: u64) -> Self {
        let packed = held::cache(most_octets, 1024, 0, PackedWeight);
        Self { most_octets, packed, saving: Mutex::default() }
    }
}

impl Store for MemoryStore {
    fn load<'a>(&'a self, origin: &'a Origin) -> Storing<'a, Option<Arc<Kept>>> {
        Box::pin(async move {
            let Some(packed) = self.packed.get(origin) else { return Ok(None) };
            entry::read(&origin.to_string(), Some(milliseconds(packed.at)), &packed.octets)
        })
    }

    fn save<'a>(&'a self, kept: &'a Arc<Kept>) -> Storing<'a, ()> {
        Box::pin(async move {
            let octets = kept.encode().into();
            let _saving = self.saving.lock().unwrap_or_else(PoisonError::into_inner);
            if self.packed.peek(&kept.origin).is_none_or(|packed| packed.at <= kept.last.at) {
                self.packed.insert(kept.origin.clone(), Packed { at: kept.last.at, octets });
            }
            Ok(())
        })
    }

    fn remove<'a>(&'a self, origin: &'a Origin) -> Storing<'a, bool> {
        Box::pin(async move { Ok(self.packed.remove(origin).is_some()) })
    }

    fn list<'a>(&'a self, after: Option<&'a str>, limit: usize) -> Storing<'a, Vec<Arc<Kept>>> {
        Box::pin(async move {
            let mut found: Vec<_> = self
                .packed
                .iter()
                .map(|(origin, packed)| (origin.to_string(), packed))
                .filter(|(origin, _)| after.is_none_or(|after| **origin > *after))
                .collect();
            found.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            let read = |(origin, packed): &(String, Packed)| {
                entry::read(origin, Some(milliseconds(packed.at)), &packed.octets).ok().flatten()
            };
            Ok(found.iter().filter_map(read).take(limit).collect())
        })
    }

    fn size(&self) -> Storing<'_, StoreSize> {
        Box::pin(async { Ok(StoreSize::new(self.packed.len() as u64, self.packed.weight())) })
    }

    fn clear(&self) -> Storing<'_, u64> {
        Box::pin(async {
            let origins = self.packed.len() as u64;
            self.packed.clear();
            Ok(origins)
        })
    }

    fn describe(&self) -> String {
        format!("memory, at most {} octets", self.most_octets)
    }
}
