//! Which of many rules are worth trying for a target.
//!
//! Every rule is filed under one thing that must be there if it is to match: a rule without wildcards
//! under its whole text, which is a prefix of the target; a rule with wildcards under its head where
//! few others have the same one, or else under the rarest four octets of one of its pieces, or under
//! two or one octet where no piece is longer. A target is then looked up once for each length of head
//! and once at each of its positions. Building takes two passes over the patterns and one table
//! insertion a rule: it is cheap enough to be done for every long group.

use super::Rule;
use crate::forms::Folds;

/// Up to here, trying one rule after the other is quicker than looking anything up.
const SHORT_LIST: usize = 96;

/// How many runs of four octets of a rule are looked at for the rarest one. More of them would hardly
/// be rarer, and take longer than they save.
const MOST_RUNS: usize = 64;

/// A head that this many rules with wildcards share is no good to file them under.
const CROWDED: u8 = 8;

pub(super) struct Index {
    /// Rules by the hash of a prefix of the target.
    heads: Table,
    /// The lengths that those prefixes have, ascending.
    head_lengths: Box<[u32]>,
    /// Rules by a run of octets that the target has somewhere: four, two or one of them.
    fours: Option<Table>,
    twos: Option<Table>,
    ones: Option<Table>,
    /// Rules with nothing to go by, by rank.
    always: Box<[u32]>,
    /// For each rank, the next one that is filed under the same thing.
    next: Box<[u32]>,
}

impl Index {
    /// An index of the rules, or nothing where there are only a few.
    pub(super) fn new(rules: &[Rule], arena: &[u8]) -> Option<Self> {
        if rules.len() <= SHORT_LIST {
            return None;
        }
        let mut crowds = Counters::new(arena.len());
        for rule in rules.iter().filter(|rule| rule.shape().has_wildcard()) {
            crowds.add(hash(rule.head(arena)));
            for four in fours_of(rule, arena) {
                crowds.add(key(four));
            }
        }

        let literal = rules.iter().filter(|rule| !rule.shape().has_wildcard()).count();
        let mut heads = TableBuilder::new(literal);
        let [mut fours, mut twos, mut ones] = [(); 3].map(|()| TableBuilder::new(0));
        let mut head_lengths = Vec::new();
        let mut always = Vec::new();
        let mut next = vec![NONE; rules.len()].into_boxed_slice();
        // From the lowest rank up, so that each chain of the tables starts at its best rule.
        for (rank, rule) in rules.iter().enumerate().rev() {
            let head = rule.head(arena);
            let head_crowd = crowds.count(hash(head));
            let four = fours_of(rule, arena).min_by_key(|four| crowds.count(key(four)));
            let by_head = !rule.shape().has_wildcard()
                || head.len() >= 2
                    && head_crowd <= four.map_or(CROWDED, |four| crowds.count(key(four)));
            let longest = || pieces(rule, arena).max_by_key(|piece| piece.len()).unwrap_or_default();
            if by_head {
                next[rank] = heads.insert(hash(head), rank);
                head_lengths.push(head.len() as u32);
            } else if let Some(four) = four {
                next[rank] = fours.insert(key(four), rank);
            } else if let Some(two) = longest().windows(2).next() {
                next[rank] = twos.insert(key(two), rank);
            } else if let one @ [_] = longest() {
                next[rank] = ones.insert(key(one), rank);
            } else {
                always.push(rank as u32);
            }
        }
        head_lengths.sort_unstable();
        head_lengths.dedup();
        always.reverse();
        Some(Self {
            heads: heads.finish(),
            head_lengths: head_lengths.into(),
            fours: fours.finish_some(),
            twos: twos.finish_some(),
            ones: ones.finish_some(),
            always: always.into(),
            next,
        })
    }

    /// The lowest rank below `best` whose rule matches, or else `best`.
    pub(super) fn first_match(
        &self,
        text: &[u8],
        mut best: usize,
        matches: impl Fn(usize) -> bool,
    ) -> usize {
        // Ranks ascend along a chain: what is not before the best is of no more use.
        let mut try_chain = |first: u32| {
            let mut rank = first as usize;
            while rank < best {
                if matches(rank) {
                    best = rank;
                    return;
                }
                rank = self.next[rank] as usize;
            }
        };

        let mut hashed = Hash::START;
        let mut done = 0;
        for &length in &self.head_lengths {
            let Some(more) = text.get(done..length as usize) else { break };
            hashed = hashed.with(more);
            done = length as usize;
            if let Some((_, first)) = self.heads.find(hashed.key()) {
                try_chain(first);
            }
        }
        for (table, length) in [(&self.fours, 4), (&self.twos, 2), (&self.ones, 1)] {
            let Some(table) = table else { continue };
            let mut tried = Tried::default();
            let Some((start, rest)) = text.split_at_checked(length - 1) else { continue };
            let mut run = key(start);
            for &octet in rest {
                run = next_key(run, octet, length);
                if let Some((slot, first)) = table.find(run)
                    && tried.is_new(slot, table)
                {
                    try_chain(first);
                }
            }
        }
        for &rank in self.always.iter().take_while(|&&rank| (rank as usize) < best) {
            if matches(rank as usize) {
                return rank as usize;
            }
        }
        best
    }
}

/// The pieces of a rule behind its first wildcard. One that reaches over a `?` is two: what stands before
/// it may be in another form of the target than what stands behind it (REP-12).
fn pieces<'a>(rule: &Rule, arena: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    let behind_head = &rule.body(arena)[rule.head as usize..];
    let mark = if rule.folds.has(Folds::QUERY) { memchr::memchr(b'?', behind_head) } else { None };
    let (before, behind) = behind_head.split_at(mark.unwrap_or(behind_head.len()));
    [before, behind].into_iter().flat_map(|part| part.split(|&octet| octet == b'*'))
}

/// Runs of four octets that a target has to have if the rule matches it.
fn fours_of<'a>(rule: &Rule, arena: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    pieces(rule, arena).flat_map(|piece| piece.windows(4)).take(MOST_RUNS)
}

/// A run of at most four octets as a key.
fn key(run: &[u8]) -> u64 {
    run.iter().fold(1, |key, &octet| key << 8 | u64::from(octet))
}

/// The key of the run of so many octets that ends in `octet`, from that of the run before it, or of the
/// octets before the first one.
fn next_key(key: u64, octet: u8, length: usize) -> u64 {
    let mark = 1 << (8 * length);
    (key << 8 | u64::from(octet)) & (mark - 1) | mark
}

fn hash(octets: &[u8]) -> u64 {
    Hash::START.with(octets).key()
}

/// A hash that can be continued, so that all prefixes of a target are hashed in one pass (FNV-1a).
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    const START: Self = Self(0xCBF2_9CE4_8422_2325);

    fn with(self, octets: &[u8]) -> Self {
        let step = |hash: u64, &octet: &u8| (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01B3);
        Self(octets.iter().fold(self.0, step))
    }

    fn key(self) -> u64 {
        self.0
    }
}

/// Spreads a key over 32 bits.
fn spread(key: u64) -> u32 {
    ((key ^ key >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

/// Roughly how many rules have a key. Two keys may share a counter: that costs a worse choice, not a
/// wrong answer.
struct Counters {
    counts: Box<[u8]>,
    shift: u32,
}

impl Counters {
    /// Counters for about so many different keys, within reason.
    fn new(expected: usize) -> Self {
        let bits = expected.next_power_of_two().trailing_zeros().clamp(8, 18);
        Self { counts: vec![0; 1 << bits].into(), shift: 32 - bits }
    }

    fn add(&mut self, key: u64) {
        let count = &mut self.counts[(spread(key) >> self.shift) as usize];
        *count = count.saturating_add(1);
    }

    fn count(&self, key: u64) -> u8 {
        self.counts[(spread(key) >> self.shift) as usize]
    }
}

/// Keys to the best rank that is filed under each, in open addressing. Of a key, 32 bits are kept: two
/// keys that have these in common share a chain, and the rules of one are then tried for the other too,
/// which costs time but never an answer.
struct Table {
    slots: Box<[Slot]>,
    shift: u32,
}

#[derive(Clone, Copy)]
struct Slot {
    tag: u32,
    /// The best rank, or [`NONE`] where the slot is empty.
    first: u32,
}

impl Slot {
    const EMPTY: Self = Self { tag: 0, first: NONE };
}

/// Stands for no rank: it comes behind all others.
const NONE: u32 = u32::MAX;

impl Table {
    /// The slot of a key and the best rank filed under it.
    fn find(&self, key: u64) -> Option<(usize, u32)> {
        let slot = find_slot(&self.slots, self.shift, spread(key));
        let first = self.slots[slot].first;
        (first != NONE).then_some((slot, first))
    }
}

/// The slots of a table whose rules were tried for a target, so that a run of octets that comes again
/// and again costs nothing more.
#[derive(Default)]
struct Tried {
    /// The first few.
    few: Vec<usize>,
    /// All of them, a bit each, once there are more.
    all: Vec<u64>,
}

impl Tried {
    fn is_new(&mut self, slot: usize, table: &Table) -> bool {
        if self.all.is_empty() {
            if self.few.contains(&slot) {
                return false;
            }
            self.few.push(slot);
            if self.few.len() == 16 {
                self.all = vec![0; table.slots.len().div_ceil(64)];
                for slot in &self.few {
                    self.all[slot / 64] |= 1 << (slot % 64);
                }
            }
            return true;
        }
        let (word, bit) = (&mut self.all[slot / 64], 1 << (slot % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// The slot of a spread key: where it is, or where it would go. There always is an empty one.
fn find_slot(slots: &[Slot], shift: u32, spread: u32) -> usize {
    let mut slot = (spread >> shift) as usize;
    while slots[slot].first != NONE && slots[slot].tag != spread {
        slot = (slot + 1) & (slots.len() - 1);
    }
    slot
}

struct TableBuilder {
    slots: Vec<Slot>,
    used: usize,
    shift: u32,
}

impl TableBuilder {
    /// A table that need not grow for so many keys.
    fn new(expected: usize) -> Self {
        let bits = (expected * 4 / 3 + 1).next_power_of_two().trailing_zeros().max(4);
        Self { slots: vec![Slot::EMPTY; 1 << bits], used: 0, shift: 32 - bits }
    }

    /// Files a rank under a key, and says which one was the best there.
    fn insert(&mut self, key: u64, rank: usize) -> u32 {
        if self.used * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let tag = spread(key);
        let slot = find_slot(&self.slots, self.shift, tag);
        let next = self.slots[slot].first;
        self.used += usize::from(next == NONE);
        self.slots[slot] = Slot { tag, first: rank as u32 };
        next
    }

    fn grow(&mut self) {
        self.shift -= 1;
        let larger = vec![Slot::EMPTY; self.slots.len() * 2];
        for filed in std::mem::replace(&mut self.slots, larger) {
            if filed.first != NONE {
                let slot = find_slot(&self.slots, self.shift, filed.tag);
                self.slots[slot] = filed;
            }
        }
    }

    fn finish(self) -> Table {
        Table { slots: self.slots.into(), shift: self.shift }
    }

    fn finish_some(self) -> Option<Table> {
        (self.used > 0).then(|| self.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_ascend_and_tables_grow() {
        let mut builder = TableBuilder::new(0);
        let mut next = vec![NONE; 1000];
        for rank in (0..1000).rev() {
            next[rank] = builder.insert(rank as u64 % 100, rank);
        }
        let table = builder.finish();
        let (_, first) = table.find(7).expect("it was inserted");
        let chain = std::iter::successors(Some(first), |rank| next.get(*rank as usize).copied());
        let chain: Vec<_> = chain.take_while(|rank| *rank != NONE).collect();
        assert_eq!(chain, [7, 107, 207, 307, 407, 507, 607, 707, 807, 907]);
        assert!(table.find(100).is_none());
    }

    #[test]
    fn a_slot_is_new_once() {
        let mut builder = TableBuilder::new(100);
        builder.insert(1, 1);
        let table = builder.finish();
        let mut tried = Tried::default();
        for _ in 0..2 {
            let new = (0..40).filter(|slot| tried.is_new(*slot, &table)).count();
            assert!(new == 40 || new == 0);
        }
        assert!(!tried.is_new(3, &table) && tried.is_new(99, &table));
    }

    #[test]
    fn a_hash_can_be_continued() {
        assert_eq!(Hash::START.with(b"/a").with(b"bc").key(), hash(b"/abc"));
    }

    #[test]
    fn keys_of_runs_follow_from_each_other() {
        assert_eq!(next_key(key(b"abcd"), b'e', 4), key(b"bcde"));
        assert_eq!(next_key(key(b"abc"), b'd', 4), key(b"abcd"));
        assert_eq!(next_key(key(b""), b'a', 1), key(b"a"));
    }

    #[test]
    fn runs_of_different_lengths_have_different_keys() {
        assert_ne!(key(b"a"), key(b"\0a"));
        assert_ne!(key(b"\0\0\0a"), key(b"\0a"));
    }
}
