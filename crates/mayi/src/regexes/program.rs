//! Regular expressions compiled to steps, and run over a product token.
//!
//! All steps that can be next are tried side by side, octet by octet (Thompson's construction), so that a match takes time
//! linear in steps times octets. Three things make that cheap here, where a general library has to be ready for any text.
//! Only a yes or a no is asked for, so the steps that are next are bits. `a?` and `a*` are one step each, because a step for
//! one octet knows whether it can be left out and come again. And a token has at most 128 octets, so what a repetition such
//! as `[a-z]{2,50}` has counted is bits too: one for each number of octets, which move up with each octet that matches.

use indexmap::IndexSet;

use super::expression::{Assertion, Kind, Octets, Part, is_in_word};
use super::{LONGEST, LONGEST_TOKEN, STEPS_BEYOND};

/// A step. All kinds have the same fields, so that running a program is mostly looking at bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// What it does.
    does: u8,
    /// The octet that it reads, in lower case if it is a letter: letters match in both cases. Otherwise [`NONE`].
    octet: u8,
    /// The step behind it, by its place in the program.
    next: u16,
    /// The number of its set, of its counter or of its assertion, or the other step behind it.
    more: u32,
}

// What a step does, in bits.
/// It can be left out: whoever can take it can also take the next one.
const LEFT_OUT: u8 = 1;
/// It can be taken again after it was taken.
const AGAIN: u8 = 2;
/// It reads an octet of a set.
const SET: u8 = 4;
/// It counts octets.
const COUNTED: u8 = 8;
/// It reads nothing, and the other step can be taken too.
const EITHER: u8 = 16;
/// It reads nothing, and the next one can be taken if an assertion is true.
const ASSERTION: u8 = 32;
/// It reads any octet.
const ANY: u8 = 64;

/// It can be passed without an octet.
const PASSED: u8 = LEFT_OUT | EITHER | ASSERTION;

/// The octet of a step that reads no certain one: no text has it.
const NONE: u8 = 0xFF;

/// A repetition of single octets: of which, and how many. At least 1 and at most 129, one more than a token can have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    octets: Octets,
    min: u8,
    max: u8,
    /// How many repetitions the program has before this one.
    place: u16,
}

/// What the programs of a file consist of.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub(super) steps: Vec<Step>,
    pub(super) counters: Vec<Counter>,
    pub(super) sets: Vec<Octets>,
}

/// Adds programs to the parts of a file.
#[derive(Default)]
pub(super) struct Compiler {
    parts: Parts,
    /// The sets of all programs, each once.
    sets: IndexSet<Octets>,
    /// Where the program starts, and its counters.
    start: usize,
    counters: usize,
}

impl Compiler {
    /// Adds the program of an expression. Returns its first step, its steps among those of all programs, and how
    /// many counters it has.
    pub(super) fn compile(&mut self, expression: &Part) -> (u16, std::ops::Range<usize>, usize) {
        (self.start, self.counters) = (self.parts.steps.len(), self.parts.counters.len());
        let end = self.push(Step { does: 0, octet: NONE, next: 0, more: 0 });
        let first = self.add(expression, end);
        (first, self.start..self.parts.steps.len(), self.parts.counters.len() - self.counters)
    }

    /// All programs that were added.
    pub(super) fn finish(mut self) -> Parts {
        self.parts.steps.shrink_to_fit();
        self.parts.counters.shrink_to_fit();
        Parts { sets: self.sets.into_iter().collect(), ..self.parts }
    }

    fn push(&mut self, step: Step) -> u16 {
        self.parts.steps.push(step);
        (self.parts.steps.len() - 1 - self.start) as u16
    }

    /// Adds a part that is followed by the step `next`. Returns where it starts.
    fn add(&mut self, part: &Part, next: u16) -> u16 {
        match &part.kind {
            Kind::Empty => next,
            Kind::One(octets) => self.add_one(*octets, 0, next),
            Kind::Assertion(assertion) => {
                self.push(Step { does: ASSERTION, octet: NONE, next, more: *assertion as u32 })
            }
            Kind::Sequence(parts) => parts.iter().rev().fold(next, |next, part| self.add(part, next)),
            Kind::Alternatives(parts) => {
                let starts: Vec<u16> = parts.iter().map(|part| self.add(part, next)).collect();
                // The other step is one that mostly reads an octet, which is the quicker way.
                let either = |next, other| self.add_either(other, next);
                starts.into_iter().reduce(either).unwrap_or(next)
            }
            Kind::Repeated(part, min, max) => self.add_repeated(part, *min, *max, next),
        }
    }

    fn add_one(&mut self, octets: Octets, does: u8, next: u16) -> u16 {
        let (does, octet, more) = match octets.only() {
            Some(octet) => (does, octet, 0),
            None if octets == Octets::ALL_IN_LINE => (does | ANY, NONE, 0),
            None => (does | SET, NONE, self.sets.insert_full(octets).0),
        };
        self.push(Step { does, octet, next, more: more as u32 })
    }

    fn add_either(&mut self, other: u16, next: u16) -> u16 {
        self.push(Step { does: EITHER, octet: NONE, next, more: other.into() })
    }

    fn add_repeated(&mut self, part: &Part, min: usize, max: Option<usize>, next: u16) -> u16 {
        match (&part.kind, of_one(min, max), max) {
            (Kind::One(octets), Some(does), _) => self.add_one(*octets, does, next),
            (Kind::One(octets), None, Some(max)) => self.add_counted(*octets, min, max, next),
            (Kind::One(octets), None, None) => {
                let rest = self.add_one(*octets, LEFT_OUT | AGAIN, next);
                self.add_counted(*octets, min, min, rest)
            }
            (_, _, Some(max)) => {
                let optional = (min..max).fold(next, |behind, _| {
                    let other = self.add(part, behind);
                    self.add_either(other, next)
                });
                (0..min).fold(optional, |next, _| self.add(part, next))
            }
            (_, _, None) => {
                // The step that leads back is needed before what it leads back to.
                let again = self.add_either(next, next);
                let last = self.add(part, again);
                self.parts.steps[self.start + usize::from(again)].more = last.into();
                let first = if min == 0 { again } else { last };
                (1..min).fold(first, |next, _| self.add(part, next))
            }
        }
    }

    fn add_counted(&mut self, octets: Octets, min: usize, max: usize, next: u16) -> u16 {
        let number = self.parts.counters.len();
        let place = (number - self.counters) as u16;
        self.parts.counters.push(Counter { octets, min: min.max(1) as u8, max: max as u8, place });
        let step = self.push(Step { does: COUNTED, octet: NONE, next, more: number as u32 });
        if min == 0 { self.add_either(step, next) } else { step }
    }
}

/// What a step for one octet does that comes so many times, if that needs no counter.
fn of_one(min: usize, max: Option<usize>) -> Option<u8> {
    Some(match (min, max) {
        (1, Some(1)) => 0,
        (0, Some(1)) => LEFT_OUT,
        (0, None) => LEFT_OUT | AGAIN,
        (1, None) => AGAIN,
        _ => return None,
    })
}

/// How many steps a part takes that comes so many times.
pub(super) fn steps_of_repeated(part: &Part, min: usize, max: Option<usize>) -> usize {
    match (&part.kind, of_one(min, max), max) {
        (Kind::One(_), Some(_), _) => 1,
        (Kind::One(_), None, Some(_)) => 1 + usize::from(min == 0),
        (Kind::One(_), None, None) => 2,
        (_, _, Some(max)) => part.steps.saturating_mul(max).saturating_add(max - min),
        (_, _, None) => part.steps.saturating_mul(min.max(1)).saturating_add(1),
    }
}

/// How many steps a program can have: as many as the longest expression has octets, as many as a file may have beyond that,
/// and the end.
const MOST_STEPS: usize = LONGEST + STEPS_BEYOND + 1;

/// A set of steps of a program, with a bit for each. Its length is a power of two, so that no access needs a check.
type Steps = [u64; WORDS];
const WORDS: usize = MOST_STEPS.div_ceil(64).next_power_of_two();

/// A program that runs over a product token.
struct Run<'p> {
    parts: &'p Parts,
    steps: &'p [Step],
    token: &'p [u8],
    /// The steps that can be taken here, and those that could be taken before the last octet. If a step that reads nothing is
    /// in it, or one that can be left out, so are those behind it (behind an assertion only if it is true here).
    here: Steps,
    before: Steps,
    /// The repetitions that can go on here, and those that could before the last octet.
    going_on: Steps,
    went_on: Steps,
    /// What each repetition has counted, with a bit for each number of octets; the lowest is for one.
    counted: Vec<u128>,
    /// The assertions that are true here, with a bit for each.
    are_true: u32,
    /// How many units of work were done.
    work: usize,
    /// Steps that are still to be added.
    others: Vec<u16>,
}

/// Whether a program with this first step and so many counters matches a token from start to end, and how many units of work
/// it took to find out. None if it would be more than `most`.
pub(super) fn run(
    parts: &Parts,
    steps: &[Step],
    first: u16,
    counters: usize,
    token: &[u8],
    most: usize,
) -> Option<(bool, usize)> {
    let mut run = Run {
        parts,
        steps,
        token,
        here: [0; WORDS],
        before: [0; WORDS],
        going_on: [0; WORDS],
        went_on: [0; WORDS],
        counted: vec![0; counters],
        are_true: 0,
        work: UNITS_FOR_PROGRAM,
        others: Vec::new(),
    };
    run.look_around(0);
    run.go_to(first);
    let goes_on = (0..token.len()).all(|at| run.read(at) && run.work <= most);
    (run.work <= most).then_some((goes_on && run.here[0] & 1 == 1, run.work))
}

/// What it takes at least to run a program, in units of work.
pub(super) const UNITS_FOR_PROGRAM: usize = 10;

/// What each octet takes beside the steps, and each step that can be taken before an octet.
pub(super) const UNITS_FOR_OCTET: usize = 2;
pub(super) const UNITS_FOR_STEP: usize = 2;

impl Run<'_> {
    /// Reads an octet. Returns whether there is any step to be taken after it.
    fn read(&mut self, at: usize) -> bool {
        let octet = self.token[at].to_ascii_lowercase();
        self.look_around(at + 1);
        let words = self.steps.len().div_ceil(64);
        let mut can_be_taken = 0;
        for word in 0..words.min(WORDS) {
            self.before[word] = std::mem::take(&mut self.here[word]);
            self.went_on[word] = std::mem::take(&mut self.going_on[word]);
            can_be_taken += (self.before[word] | self.went_on[word]).count_ones() as usize;
        }
        self.work += UNITS_FOR_OCTET + UNITS_FOR_STEP * can_be_taken;
        for word in 0..words {
            let mut bits = self.before[word] | self.went_on[word];
            while bits != 0 {
                let place = word * 64 + bits.trailing_zeros() as usize;
                let bit = bits & bits.wrapping_neg();
                bits ^= bit;
                let step = self.steps[place];
                let is_read = if step.octet == octet || step.does & ANY != 0 {
                    true
                } else if step.does & SET != 0 {
                    self.parts.sets[step.more as usize].contains(octet)
                } else {
                    step.does & COUNTED != 0 && self.count(word, bit, step.more, octet)
                };
                if is_read {
                    if step.does & AGAIN != 0 {
                        self.here[word] |= bit;
                    }
                    self.go_to(step.next);
                }
            }
        }
        (0..words).any(|word| self.here[word] | self.going_on[word] != 0)
    }

    /// Counts an octet in the repetition at this place. Returns whether it has as many as it needs.
    fn count(&mut self, word: usize, bit: u64, counter: u32, octet: u8) -> bool {
        let Counter { octets, min, max, place } = self.parts.counters[counter as usize];
        let (starts, goes_on) = (self.before[word] & bit != 0, self.went_on[word] & bit != 0);
        let before = if goes_on { self.counted[usize::from(place)] } else { 0 };
        let unused = LONGEST_TOKEN.saturating_sub(usize::from(max));
        let now = (before << 1 | u128::from(starts)) & (u128::MAX >> unused);
        if now == 0 || !octets.contains(octet) {
            return false;
        }
        self.counted[usize::from(place)] = now;
        self.going_on[word] |= bit;
        now.checked_shr(u32::from(min) - 1).is_some_and(|enough| enough != 0)
    }

    /// Adds a step to those that can be taken at this place, and all that are behind it without an octet between.
    #[inline]
    fn go_to(&mut self, first: u16) {
        let mut place = first;
        loop {
            let (word, bit) = (usize::from(place / 64) % WORDS, 1 << (place % 64));
            if self.here[word] & bit == 0 {
                self.here[word] |= bit;
                let step = self.steps[usize::from(place)];
                if step.does & PASSED != 0 {
                    if step.does & EITHER != 0 {
                        let other = step.more as u16;
                        let after = self.steps[usize::from(other)];
                        if after.does & PASSED == 0
                            || after.does & PASSED == LEFT_OUT && self.is_here(after.next)
                        {
                            self.here[usize::from(other / 64) % WORDS] |= 1 << (other % 64);
                        } else {
                            self.others.push(other);
                        }
                    }
                    if step.does & ASSERTION == 0 || self.are_true >> step.more & 1 == 1 {
                        place = step.next;
                        continue;
                    }
                }
            }
            let Some(other) = self.others.pop() else { return };
            place = other;
        }
    }

    fn is_here(&self, place: u16) -> bool {
        self.here[usize::from(place / 64) % WORDS] >> (place % 64) & 1 == 1
    }

    /// Finds out which assertions are true at a place.
    fn look_around(&mut self, at: usize) {
        let is_before = at > 0 && is_in_word(self.token[at - 1]);
        let is_behind = self.token.get(at).is_some_and(|octet| is_in_word(*octet));
        let is_true = |assertion: &Assertion| match assertion {
            Assertion::Start => at == 0,
            Assertion::End => at == self.token.len(),
            Assertion::WordBoundary => is_before != is_behind,
            Assertion::NoWordBoundary => is_before == is_behind,
            Assertion::WordStart => !is_before && is_behind,
            Assertion::WordEnd => is_before && !is_behind,
            Assertion::WordStartHalf => !is_before,
            Assertion::WordEndHalf => !is_behind,
        };
        let all = Assertion::ALL.iter().filter(|assertion| is_true(assertion));
        self.are_true = all.fold(0, |all, assertion| all | 1 << *assertion as u32);
    }
}
