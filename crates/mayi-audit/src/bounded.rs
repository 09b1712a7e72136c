//! A map with a limited size that still does not depend on the order of its input.
//!
//! Up to the bound it is exact. Beyond it, the keys with the smallest hashes are kept: once a key has
//! been left out, it is never taken in again, and a key that is kept at the end has been kept from its
//! first time on, so its figures are exact. What was left out is counted together.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

use crate::octets::stable_hash;

/// Figures that can be added up.
pub(crate) trait Sum {
    /// Adds those of another.
    fn add(&mut self, other: &Self);
    /// How many requests they are of.
    fn requests(&self) -> u64;
}

/// What a key is ordered by when there are too many.
pub(crate) trait Key: Eq + Hash {
    fn hash_of(&self) -> u64;
}

impl Key for Box<[u8]> {
    fn hash_of(&self) -> u64 {
        stable_hash(self)
    }
}

impl Key for [u8] {
    fn hash_of(&self) -> u64 {
        stable_hash(self)
    }
}

impl Key for i32 {
    fn hash_of(&self) -> u64 {
        stable_hash(&self.to_le_bytes())
    }
}

/// What a key is looked up by, and made from when it is new.
pub(crate) trait ToKey<K>: Key {
    fn to_key(&self) -> K;
}

impl ToKey<Box<[u8]>> for [u8] {
    fn to_key(&self) -> Box<[u8]> {
        self.into()
    }
}

impl ToKey<i32> for i32 {
    fn to_key(&self) -> i32 {
        *self
    }
}

pub(crate) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

#[derive(Clone, Debug)]
pub(crate) struct Bounded<K, V> {
    most: usize,
    kept: Map<K, V>,
    /// Keys with a hash from here on have been left out.
    threshold: Option<u64>,
    /// The requests of what has been left out.
    left_out: u64,
}

impl<K: Key + Clone, V: Sum + Default + Clone> Bounded<K, V> {
    /// An empty one for so many keys.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, kept: Map::default(), threshold: None, left_out: 0 }
    }

    /// The figures of a key, or none if it is left out; then its requests are counted with the others that
    /// were left out.
    pub(crate) fn entry<Q>(&mut self, key: &Q, requests: u64) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: ToKey<K> + ?Sized,
    {
        if self.threshold.is_some_and(|threshold| key.hash_of() >= threshold) {
            self.left_out += requests;
            return None;
        }
        if !self.kept.contains_key(key) {
            // Trimmed only now and then: twice the bound is still a bound.
            if self.kept.len() >= self.most * 2 {
                self.trim();
                return self.entry(key, requests);
            }
            self.kept.insert(key.to_key(), V::default());
        }
        self.kept.get_mut(key)
    }

    /// Adds what another has.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.left_out += other.left_out;
        if let Some(threshold) = other.threshold {
            self.leave_out_from(threshold);
        }
        for (key, figures) in &other.kept {
            if self.threshold.is_some_and(|threshold| key.hash_of() >= threshold) {
                self.left_out += figures.requests();
            } else {
                self.kept.entry(key.clone()).or_default().add(figures);
            }
        }
        if self.kept.len() >= self.most * 2 {
            self.trim();
        }
    }

    /// Everything that is kept, within the bound, in no order.
    pub(crate) fn trimmed(&self) -> Self {
        let mut copy = self.clone();
        copy.trim();
        copy
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.kept.iter()
    }

    /// The requests of what has been left out; 0 if everything is exact.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    fn trim(&mut self) {
        if self.kept.len() <= self.most {
            return;
        }
        let mut hashes: Vec<_> = self.kept.keys().map(Key::hash_of).collect();
        let (_, &mut threshold, _) = hashes.select_nth_unstable(self.most);
        self.leave_out_from(threshold);
    }

    fn leave_out_from(&mut self, threshold: u64) {
        if self.threshold.is_some_and(|known| known <= threshold) {
            return;
        }
        self.threshold = Some(threshold);
        let left_out = &mut self.left_out;
        self.kept.retain(|key, figures| {
            let keeps = key.hash_of() < threshold;
            if !keeps {
                *left_out += figures.requests();
            }
            keeps
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Sum for u64 {
        fn add(&mut self, other: &Self) {
            *self += other;
        }

        fn requests(&self) -> u64 {
            *self
        }
    }

    fn filled(numbers: impl Iterator<Item = i32>) -> Bounded<Box<[u8]>, u64> {
        let mut map = Bounded::new(16);
        for number in numbers {
            if let Some(count) = map.entry(&number.to_le_bytes()[..], 1) {
                *count += 1;
            }
        }
        map
    }

    /// What is kept, and how much is not.
    type Sorted = (Vec<(Box<[u8]>, u64)>, u64);

    fn sorted(map: &Bounded<Box<[u8]>, u64>) -> Sorted {
        let map = map.trimmed();
        let mut kept: Vec<_> = map.iter().map(|(key, count)| (key.clone(), *count)).collect();
        kept.sort();
        (kept, map.left_out())
    }

    #[test]
    fn neither_order_nor_parts_matter() {
        for count in [5, 16, 17, 40, 1000] {
            let numbers = || (0..count * 3).map(move |number| number % count);
            let whole = sorted(&filled(numbers()));
            assert_eq!(sorted(&filled(numbers().rev())), whole, "{count} keys");
            let mut parts = filled(numbers().take(7));
            parts.merge(&filled(numbers().skip(7)));
            assert_eq!(sorted(&parts), whole, "{count} keys");
            assert!(whole.0.len() <= 16 && whole.0.iter().all(|(_, times)| *times == 3));
            let total: u64 = whole.0.iter().map(|(_, times)| times).sum();
            assert_eq!(total + whole.1, u64::from(count.unsigned_abs()) * 3);
        }
    }
}
