//! How many different addresses there were, in constant memory: exact up to a few, an estimate beyond.
//!
//! The estimate is a HyperLogLog of 1024 registers: about 3 % off, the same for the same addresses in
//! any order, and two of them can be put together.

/// Up to so many, addresses are counted exactly.
const EXACT: usize = 256;

/// The registers of the estimate.
const REGISTERS: usize = 1024;

#[derive(Clone, Debug)]
pub(crate) enum Sketch {
    /// The hashes, in order.
    Exact(Vec<u64>),
    Registers(Box<[u8; REGISTERS]>),
}

impl Default for Sketch {
    fn default() -> Self {
        Self::Exact(Vec::new())
    }
}

impl Sketch {
    /// Notes a hash.
    pub(crate) fn insert(&mut self, hash: u64) {
        match self {
            Self::Registers(registers) => note(registers, hash),
            Self::Exact(hashes) => {
                let Err(place) = hashes.binary_search(&hash) else { return };
                if hashes.len() < EXACT {
                    hashes.insert(place, hash);
                    return;
                }
                let mut registers = Box::new([0; REGISTERS]);
                for &hash in hashes.iter() {
                    note(&mut registers, hash);
                }
                note(&mut registers, hash);
                *self = Self::Registers(registers);
            }
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        match (&mut *self, other) {
            (_, Self::Exact(hashes)) => hashes.iter().for_each(|&hash| self.insert(hash)),
            (Self::Registers(ours), Self::Registers(theirs)) => {
                for (our, their) in ours.iter_mut().zip(theirs.iter()) {
                    *our = (*our).max(*their);
                }
            }
            (Self::Exact(hashes), Self::Registers(theirs)) => {
                let mut registers = theirs.clone();
                for &hash in hashes.iter() {
                    note(&mut registers, hash);
                }
                *self = Self::Registers(registers);
            }
        }
    }

    /// How many different ones there were.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Exact(hashes) => hashes.len() as u64,
            Self::Registers(registers) => estimate(&registers[..]),
        }
    }

    /// Whether the count is an estimate.
    pub(crate) fn is_estimate(&self) -> bool {
        matches!(self, Self::Registers(_))
    }
}

fn note(registers: &mut [u8; REGISTERS], hash: u64) {
    let register = (hash % REGISTERS as u64) as usize;
    let rank = ((hash / REGISTERS as u64) | 1 << 54).trailing_zeros() as u8 + 1;
    registers[register] = registers[register].max(rank);
}

#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)]
fn estimate(registers: &[u8]) -> u64 {
    let count = registers.len() as f64;
    let sum: f64 = registers.iter().map(|&rank| 0.5_f64.powi(i32::from(rank))).sum();
    let raw = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
    let empty = memchr::memchr_iter(0, registers).count() as f64;
    // With many registers empty, how many are is the better measure.
    let estimate = if raw <= 2.5 * count && empty > 0.0 { count * (count / empty).ln() } else { raw };
    estimate.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::octets::stable_hash;

    fn sketch(numbers: impl Iterator<Item = u32>) -> Sketch {
        let mut sketch = Sketch::default();
        numbers.for_each(|number| sketch.insert(stable_hash(&number.to_le_bytes())));
        sketch
    }

    #[test]
    fn few_are_exact_and_many_are_near() {
        assert_eq!(sketch((0..200).chain(0..200)).count(), 200);
        for count in [300, 1_000, 3_000, 10_000, 1_000_000] {
            let found = sketch(0..count).count();
            assert!(found.abs_diff(count.into()) < u64::from(count) / 10, "{found} for {count}");
        }
    }

    #[test]
    fn parts_and_order_do_not_matter() {
        for count in [10, 256, 257, 5_000] {
            let whole = sketch(0..count).count();
            assert_eq!(sketch((0..count).rev()).count(), whole);
            for cut in [0, 5, count / 2, count] {
                let mut parts = sketch(0..cut.min(count));
                parts.merge(&sketch(cut.min(count)..count));
                assert_eq!(parts.count(), whole, "{count} at {cut}");
            }
        }
    }
}
