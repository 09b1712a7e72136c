//! Which of many rules are worth trying for a target.
//!
//! Every rule is filed under one key that a target must have to match it: a rule without wildcards
//! under its whole text, which is a prefix of the target; a rule with wildcards under its head where
//! few others have the same one, or else under the rarest four octets of one of its pieces, or under
//! two or one octet where no piece is longer. A target is then looked up once for each length of head
//! and once at each of its positions. Building takes two passes over the patterns and one table entry
//! per rule, which is cheap enough for every long group.
//!
//! Why four octets: a run of four is mostly rare enough to name a few rules, is found at each position of a target by one
//! shift, and fits into a word together with its length. Longer runs would be rarer, but fewer pieces have one. Why the
//! rarest: patterns of one file have much in common (`.php`, `?sid`), and if half of the rules were filed
//! under one key, half of them would be tried. The frequency of a run is only estimated; a wrong estimate
//! costs time but changes no answer.
//!
//! The index only says which rules are worth trying: each of them is then compared in full. So the index may
//! name a rule too many, if two texts share a hash, but never one too few. A law checks that both ways give
//! the same answer.
//!
//! The author of a file chooses what its rules are filed under. So the tables use a [`Seed`] that
//! nobody outside of the process knows, and no file can force many rules into one bucket.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use super::rule::{Compared, Rules};
use crate::octets::first_eight;

/// Up to this number, trying one rule after the other is faster than a look-up: sixteen rules are compared
/// with a target in one step (`heads`), and a look-up reads the target at every position.
const SHORT_LIST: usize = 256;

/// How many runs of four octets of a rule are looked at for the rarest one. More of them would hardly
/// be rarer, and take longer than they save.
const MOST_RUNS: usize = 64;

/// If this many rules with wildcards share a head, they are not filed under it.
const CROWDED: u8 = 8;

pub(super) struct Index {
    seed: Seed,
    /// Rules by the hash of a prefix of the target.
    heads: Table,
    /// The lengths that those prefixes have, ascending.
    head_lengths: Box<[u32]>,
    /// Rules by a run of octets that the target has somewhere: four, two or one of them.
    fours: Option<Table>,
    twos: Option<Table>,
    ones: Option<Table>,
    /// Rules without any key, by rank.
    always: Box<[u32]>,
}

impl Index {
    /// An index of the rules, or nothing where there are only a few.
    pub(super) fn new(rules: &Rules) -> Option<Self> {
        (rules.len() > SHORT_LIST).then(|| Self::seeded(rules, Seed::of_this_process()))
    }

    fn seeded(rules: &Rules, seed: Seed) -> Self {
        let wild_rules = (0..rules.len()).filter(|&rank| rules.has_wildcard(rank));
        let wild_rules: Vec<_> = wild_rules.map(|rank| rules.compared(rank)).collect();
        let mut crowds = Counters::new(wild_rules.iter().map(|rule| rule.body.len()).sum(), seed);
        for &rule in &wild_rules {
            crowds.add(seed.hash(rule.head()));
            fours_of(rule).for_each(|four| crowds.add(four));
        }

        let [mut heads, mut fours, mut twos, mut ones] = [(); 4].map(|()| TableBuilder::new(seed));
        heads.reserve(rules.len());
        let mut head_lengths = Lengths::default();
        let mut always = Vec::new();
        let mut wild_rules = wild_rules.into_iter();
        for rank in 0..rules.len() {
            let head = rules.head(rank);
            let head_key = seed.hash(head);
            let wild_rule = if rules.has_wildcard(rank) { wild_rules.next() } else { None };
            let Some(rule) = wild_rule else {
                heads.add(head_key, rank);
                head_lengths.add(head.len());
                continue;
            };
            let four = fours_of(rule).min_by_key(|four| crowds.count(*four));
            let by_head = head.len() >= 2
                && crowds.count(head_key) <= four.map_or(CROWDED, |four| crowds.count(four));
            let longest = || rule.pieces().max_by_key(|piece| piece.len()).unwrap_or_default();
            if by_head {
                heads.add(head_key, rank);
                head_lengths.add(head.len());
            } else if let Some(four) = four {
                fours.add(four, rank);
            } else if let Some(two) = longest().windows(2).next() {
                twos.add(key(two), rank);
            } else if let one @ [_] = longest() {
                ones.add(key(one), rank);
            } else {
                always.push(rank as u32);
            }
        }
        Self {
            seed,
            heads: heads.finish(),
            head_lengths: head_lengths.finish(),
            fours: fours.finish_some(),
            twos: twos.finish_some(),
            ones: ones.finish_some(),
            always: always.into(),
        }
    }

    /// How many octets of memory it takes.
    pub(super) fn octets(&self) -> usize {
        let tables = [Some(&self.heads), self.fours.as_ref(), self.twos.as_ref(), self.ones.as_ref()];
        let table = |table: &Table| size_of_val(&*table.starts) + size_of_val(&*table.entries);
        size_of::<Self>()
            + tables.into_iter().flatten().map(table).sum::<usize>()
            + size_of_val(&*self.head_lengths)
            + size_of_val(&*self.always)
    }

    /// The lowest rank below `best` whose rule matches, or else `best`.
    pub(super) fn first_match(
        &self,
        text: &[u8],
        mut best: usize,
        matches: impl Fn(usize) -> bool,
    ) -> usize {
        // The answer is the match of the lowest rank (REP-8). The ranks of a key ascend: a rank that is not
        // below the best is of no use, and the better the best, the fewer rules are tried.
        let mut try_each = |ranks: Ranks<'_>| {
            let before_best = |rank: &usize| *rank < best;
            if let Some(rank) = ranks.take_while(before_best).find(|&rank| matches(rank)) {
                best = rank;
            }
        };

        let mut hashes = self.seed.hashes();
        for &length in &self.head_lengths {
            let Some(prefix) = text.get(..length as usize) else { break };
            if let Some((_, ranks)) = self.heads.find(self.seed.spread(hashes.of(prefix))) {
                try_each(ranks);
            }
        }
        for (table, length) in [(&self.fours, 4), (&self.twos, 2), (&self.ones, 1)] {
            let Some(table) = table else { continue };
            let mut tried = Tried::default();
            let Some((start, rest)) = text.split_at_checked(length - 1) else { continue };
            let mut run = key(start);
            for &octet in rest {
                run = next_key(run, octet, length);
                if let Some((entry, ranks)) = table.find(self.seed.spread(run))
                    && tried.is_new(entry, table)
                {
                    try_each(ranks);
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

/// The keys of runs of four octets that a target has to have if the rule matches it.
fn fours_of(rule: Compared<'_>) -> impl Iterator<Item = u64> {
    let fours = rule.pieces().flat_map(<[u8]>::array_windows).take(MOST_RUNS);
    // As `key` has it, in one step.
    fours.map(|four| 1 << 32 | u64::from(u32::from_be_bytes(*four)))
}

/// A run of at most four octets as a key.
fn key(run: &[u8]) -> u64 {
    run.iter().fold(1, |key, &octet| key << 8 | u64::from(octet))
}

/// The key of the run of this many octets that ends in `octet`, from that of the run before it, or of the
/// octets before the first one.
fn next_key(key: u64, octet: u8, length: usize) -> u64 {
    let mark = 1 << (8 * length);
    (key << 8 | u64::from(octet)) & (mark - 1) | mark
}

/// Numbers that decide where in a table a key goes. They are drawn once per process, which is all that the core
/// ever asks of the system. No answer depends on them.
#[derive(Clone, Copy)]
struct Seed {
    start: u64,
    /// Two odd numbers to multiply by.
    step: u64,
    spread: u64,
}

impl Seed {
    fn of_this_process() -> Self {
        static SEED: LazyLock<Seed> = LazyLock::new(|| {
            let random = RandomState::new();
            Seed::new([0, 1, 2].map(|number: u64| random.hash_one(number)))
        });
        *SEED
    }

    fn new([start, step, spread]: [u64; 3]) -> Self {
        Self { start, step: step | 1, spread: spread | 1 }
    }

    #[inline]
    fn hash(self, text: &[u8]) -> u64 {
        self.hashes().of(text)
    }

    #[inline]
    fn hashes(self) -> PrefixHashes {
        PrefixHashes { state: self.start, step: self.step, done: 0 }
    }

    /// Spreads a key over 32 bits.
    fn spread(self, key: u64) -> u32 {
        ((key ^ key >> 32).wrapping_mul(self.spread) >> 32) as u32
    }
}

/// The hashes of prefixes of one text, each longer than the one before, in one pass over the text. Eight octets go
/// into each step, a multiplication by a number that nobody outside of the process knows. All bits of the product
/// count, the high ones too: so no difference between two texts can be chosen that another one undoes.
struct PrefixHashes {
    /// The hash of the octets that are done, a multiple of eight.
    state: u64,
    step: u64,
    done: usize,
}

impl PrefixHashes {
    #[inline]
    fn of(&mut self, prefix: &[u8]) -> u64 {
        let (eights, _) = prefix[self.done..].as_chunks::<8>();
        for eight in eights {
            self.state = self.mix(self.state ^ u64::from_le_bytes(*eight));
        }
        self.done += 8 * eights.len();
        // The last eight octets, some of which may be done: that is quicker than to put together what is left. With
        // the length, prefixes of one repeated octet differ too.
        let last =
            prefix.last_chunk().map_or_else(|| first_eight(prefix), |last| u64::from_le_bytes(*last));
        self.mix(self.state.wrapping_add(prefix.len() as u64) ^ last)
    }

    #[inline]
    fn mix(&self, number: u64) -> u64 {
        let product = u128::from(number) * u128::from(self.step);
        product as u64 ^ (product >> 64) as u64
    }
}

/// Collects lengths, of which many that follow each other are the same.
#[derive(Default)]
struct Lengths(Vec<u32>);

impl Lengths {
    #[inline]
    fn add(&mut self, length: usize) {
        if self.0.last() != Some(&(length as u32)) {
            self.0.push(length as u32);
        }
    }

    /// Each of them once, ascending.
    fn finish(mut self) -> Box<[u32]> {
        self.0.sort_unstable();
        self.0.dedup();
        self.0.into()
    }
}

/// Roughly how many rules have a key. Two keys may share a counter: that costs a worse choice, not a
/// wrong answer.
struct Counters {
    counts: Box<[u8]>,
    shift: u32,
    seed: Seed,
}

impl Counters {
    /// Counters for about this many different keys, within reason.
    fn new(expected: usize, seed: Seed) -> Self {
        let bits = expected.next_power_of_two().trailing_zeros().clamp(8, 18);
        Self { counts: vec![0; 1 << bits].into(), shift: 32 - bits, seed }
    }

    fn add(&mut self, key: u64) {
        let count = &mut self.counts[(self.seed.spread(key) >> self.shift) as usize];
        *count = count.saturating_add(1);
    }

    fn count(&self, key: u64) -> u8 {
        self.counts[(self.seed.spread(key) >> self.shift) as usize]
    }
}

/// Keys to the ranks that are filed under each. The first bits of a spread key choose a bucket. An entry of a
/// bucket is a number of 32 bits: a rank in its low ones, as many as the greatest rank needs, and above them
/// what there is room for of the spread key. If two keys have all of that in common, they share their ranks,
/// and the rules of one are then tried for the other too. That costs time but changes no answer.
struct Table {
    /// Where the entries of each bucket start, and where the last one's end.
    starts: Box<[u32]>,
    /// By bucket, and by rank in it.
    entries: Box<[u32]>,
    /// How far a spread key is shifted for its bucket.
    shift: u32,
    /// The bits of an entry that are its rank.
    rank_mask: u32,
}

impl Table {
    /// The first entry of a spread key, and all ranks that are filed under it.
    #[inline]
    fn find(&self, spread: u32) -> Option<(usize, Ranks<'_>)> {
        let bucket = (spread >> self.shift) as usize;
        let (start, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        let tag = spread.rotate_left(self.tag_rotation()) & !self.rank_mask;
        let entries = &self.entries[start..end];
        let first = entries.iter().position(|entry| entry & !self.rank_mask == tag)?;
        let ranks = Ranks { entries: entries[first..].iter(), tag, rank_mask: self.rank_mask };
        Some((start + first, ranks))
    }

    /// The bits that did not choose the bucket come first in a tag.
    fn tag_rotation(&self) -> u32 {
        32 - self.shift
    }
}

/// The ranks that are filed under one key, ascending.
struct Ranks<'t> {
    entries: std::slice::Iter<'t, u32>,
    tag: u32,
    rank_mask: u32,
}

impl Iterator for Ranks<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let (tag, rank_mask) = (self.tag, self.rank_mask);
        let entry = self.entries.find(|entry| *entry & !rank_mask == tag)?;
        Some((entry & rank_mask) as usize)
    }
}

/// The entries of a table whose rules were tried for a target, so that a repeated run of octets costs nothing
/// more.
#[derive(Default)]
struct Tried {
    /// The first few.
    few: Vec<usize>,
    /// All of them, one bit each, once there are more.
    all: Vec<u64>,
}

impl Tried {
    fn is_new(&mut self, entry: usize, table: &Table) -> bool {
        if self.all.is_empty() {
            if self.few.contains(&entry) {
                return false;
            }
            self.few.push(entry);
            if self.few.len() == 16 {
                self.all = vec![0; table.entries.len().div_ceil(64)];
                for entry in &self.few {
                    self.all[entry / 64] |= 1 << (entry % 64);
                }
            }
            return true;
        }
        let (word, bit) = (&mut self.all[entry / 64], 1 << (entry % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// Collects what a table is made of, by ascending rank.
struct TableBuilder {
    /// Spread keys and ranks.
    filed: Vec<(u32, u32)>,
    seed: Seed,
}

impl TableBuilder {
    fn new(seed: Seed) -> Self {
        Self { filed: Vec::new(), seed }
    }

    /// Makes room for this many ranks.
    fn reserve(&mut self, ranks: usize) {
        self.filed.reserve(ranks);
    }

    /// Files a rank, which is greater than all before, under a key.
    fn add(&mut self, key: u64, rank: usize) {
        self.filed.push((self.seed.spread(key), rank as u32));
    }

    fn finish(self) -> Table {
        // One or two entries per bucket: fewer would take more memory, more would take longer to search.
        let bits = (self.filed.len() / 2 + 1).next_power_of_two().trailing_zeros().max(1);
        let shift = 32 - bits;
        let last_rank = self.filed.last().map_or(0, |(_, rank)| *rank);
        let rank_mask = (last_rank + 1).next_power_of_two() - 1;

        // How many entries each bucket has, then where each ends, then, filled from the end, where it starts.
        let mut starts = vec![0; (1 << bits) + 1].into_boxed_slice();
        for (spread, _) in &self.filed {
            starts[(spread >> shift) as usize] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut entries = vec![0; self.filed.len()].into_boxed_slice();
        for (spread, rank) in self.filed.iter().rev() {
            let place = &mut starts[(spread >> shift) as usize];
            *place -= 1;
            entries[*place as usize] = spread.rotate_left(bits) & !rank_mask | rank;
        }
        Table { starts, entries, shift, rank_mask }
    }

    fn finish_some(self) -> Option<Table> {
        (!self.filed.is_empty()).then(|| self.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::Folds;
    use crate::pattern::Shape;

    const SEED: Seed =
        Seed { start: 0xCBF2_9CE4_8422_2325, step: 0x0100_0000_01B3, spread: 0x9E37_79B9_7F4A_7C15 };

    fn longest_bucket(table: &Table) -> u32 {
        table.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
    }

    #[test]
    fn ranks_ascend_and_are_found_by_their_key() {
        for keys in [1, 3, 100, 999] {
            let mut builder = TableBuilder::new(SEED);
            for rank in 0..1000 {
                builder.add(rank % keys, rank as usize);
            }
            let table = builder.finish();
            for key in 0..keys {
                let (_, ranks) = table.find(SEED.spread(key)).expect("it was added");
                let expected = (0..1000).filter(|rank| rank % keys == key);
                assert!(ranks.eq(expected.map(|rank| rank as usize)), "{key} of {keys}");
            }
            assert!(table.find(SEED.spread(keys + 1000)).is_none());
        }
        assert!(TableBuilder::new(SEED).finish().find(SEED.spread(0)).is_none());
        assert!(TableBuilder::new(SEED).finish_some().is_none());
    }

    #[test]
    fn no_file_can_bring_rules_together() {
        // Somebody who knew the seed could choose texts that all go into one bucket of 256 …
        let texts = (0u32..).map(|number| format!("/{number:x}"));
        let chosen: Vec<_> = texts
            .filter(|text| SEED.spread(SEED.hash(text.as_bytes())) >> 24 == 0)
            .take(2000)
            .collect();
        let table_of = |seed: Seed| {
            let mut builder = TableBuilder::new(seed);
            for (rank, text) in chosen.iter().enumerate() {
                builder.add(seed.hash(text.as_bytes()), rank);
            }
            builder.finish()
        };
        assert!(longest_bucket(&table_of(SEED)) > 200);
        // … but nobody knows it. By chance, no bucket ever gets so many.
        assert!(longest_bucket(&table_of(Seed::of_this_process())) < 40);

        let runs = (0u32..).map(|run| key(&run.to_be_bytes()));
        let chosen: Vec<_> = runs.filter(|&run| SEED.spread(run) >> 24 == 0).take(2000).collect();
        let table_of = |seed: Seed| {
            let mut builder = TableBuilder::new(seed);
            (0..).zip(&chosen).for_each(|(rank, &run)| builder.add(run, rank));
            builder.finish()
        };
        assert!(longest_bucket(&table_of(SEED)) > 200);
        let other = Seed::new([1, 2, 0x2545_F491_4F6C_DD1D]);
        assert!(longest_bucket(&table_of(other)) < 40);
    }

    #[test]
    fn an_entry_is_new_once() {
        let mut builder = TableBuilder::new(SEED);
        (0..100).for_each(|rank| builder.add(rank, rank as usize));
        let table = builder.finish();
        let mut tried = Tried::default();
        for _ in 0..2 {
            let new = (0..40).filter(|entry| tried.is_new(*entry, &table)).count();
            assert!(new == 40 || new == 0);
        }
        assert!(!tried.is_new(3, &table) && tried.is_new(99, &table));
    }

    #[test]
    fn prefixes_have_the_hashes_of_their_text() {
        let text = b"/abcdefghijklmnopqrstuvwxyz/abcdefghijklmnopqrstuvwxyz";
        for between in [1, 2, 7, 8, 9, 20] {
            let mut hashes = SEED.hashes();
            for length in (0..text.len()).step_by(between) {
                assert_eq!(hashes.of(&text[..length]), SEED.hash(&text[..length]), "{length}");
            }
        }
    }

    #[test]
    fn texts_that_differ_have_different_hashes() {
        let one_octet = (0..40).map(|length| vec![b'a'; length]);
        let one_other = (0..40).flat_map(|place| {
            [0x01, 0x20, 0x80].map(|bit| {
                let mut text = vec![b'a'; 40];
                text[place] ^= bit;
                text
            })
        });
        let mut hashes: Vec<_> = one_octet.chain(one_other).map(|text| SEED.hash(&text)).collect();
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
    }

    #[test]
    fn keys_of_runs_follow_from_each_other() {
        assert_eq!(next_key(key(b"abcd"), b'e', 4), key(b"bcde"));
        assert_eq!(next_key(key(b"abc"), b'd', 4), key(b"abcd"));
        let rule =
            Compared { body: b"/*abcde*", shape: Shape::of(b"/*abcde*", false), folds: Folds::NONE };
        assert!(fours_of(rule).eq([key(b"abcd"), key(b"bcde")]));
        assert_eq!(next_key(key(b""), b'a', 1), key(b"a"));
    }

    #[test]
    fn runs_of_different_lengths_have_different_keys() {
        assert_ne!(key(b"a"), key(b"\0a"));
        assert_ne!(key(b"\0\0\0a"), key(b"\0a"));
    }
}
