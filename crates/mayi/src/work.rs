//! A budget of work: how much an answer may cost, counted in units, so that it ends at the same place
//! everywhere.
//!
//! Reading, deciding and formatting are passes over their input. Comparing two files, comparing rules
//! with each other and searching for similar names are not: they work on pairs, and a file can have
//! billions of pairs. Such work takes units from a [`Work`] before it starts a step. If there are none
//! left, it leaves the rest out and says so. Units are counted, never timed: the same question gets the
//! same answer on a slow machine and under load.
//!
//! One unit is about what it takes to look at an octet and to do a little with it: some 40
//! instructions.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The budget for one answer, and how much of it was spent.
#[derive(Debug)]
pub(crate) struct Work {
    left: Cell<u64>,
    spent: Cell<u64>,
    ran_out: Cell<Option<&'static str>>,
    stop: Option<Stop>,
}

/// Ends work from another thread, when its answer is no longer needed. Clones share one state.
///
/// Work that was told to stop behaves as if its budget were used up: it ends after the passes over its input
/// that have begun, and its [`Spent`] names the part that was left out.
///
/// ```
/// use mayi::lint::{Options, lint};
/// use mayi::{ReadOptions, Stop};
///
/// let stop = Stop::default();
/// let options = Options::default().with_reading(ReadOptions::default().with_stop(stop.clone()));
/// let file = b"User-agent: *\nDisallow: /*a\nAllow: /*b\n";
/// assert_eq!(lint(file, &options).spent().ran_out, None);
/// stop.stop();
/// assert!(stop.is_stopped());
/// assert_eq!(lint(file, &options).spent().ran_out, Some("shadowed-rule"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Tells the work that knows this to stop.
    pub fn stop(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether it was told to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// What an answer has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spent {
    /// How many units of work were spent, beyond the passes over the input. A unit is some 40 instructions.
    pub units: u64,
    /// What was being done when there were too few units left for it, so that a part of it was left out.
    pub ran_out: Option<&'static str>,
}

impl Work {
    pub(crate) fn of(units: u64) -> Self {
        Self { left: Cell::new(units), spent: Cell::new(0), ran_out: Cell::new(None), stop: None }
    }

    /// The same, which also ends when it is told to.
    pub(crate) fn until(self, stop: Option<Stop>) -> Self {
        Self { stop, ..self }
    }

    /// Takes units for a part of the work. Where there are too few left, the part is to be left out.
    pub(crate) fn spend(&self, units: usize, part: &'static str) -> bool {
        if self.stop.as_ref().is_some_and(Stop::is_stopped) {
            self.left.set(0);
        }
        let (left, units) = (self.left.get(), units as u64);
        let is_enough = units <= left;
        if is_enough {
            self.left.set(left - units);
            self.spent.set(self.spent.get() + units);
        } else if self.ran_out.get().is_none() {
            self.ran_out.set(Some(part));
        }
        is_enough
    }

    /// Takes units for what was done already, as far as there are any.
    pub(crate) fn charge(&self, units: usize, part: &'static str) {
        if !self.spend(units, part) {
            self.spent.set(self.spent.get() + self.left.get());
            self.left.set(0);
        }
    }

    /// How many units are left.
    #[cfg(feature = "report")]
    pub(crate) fn left(&self) -> u64 {
        self.left.get()
    }

    /// A share of what is left, as a budget of its own, so that something is left for later work.
    #[cfg(feature = "report")]
    pub(crate) fn share(&self, parts: u64) -> Self {
        Self::of(self.left.get() / parts).until(self.stop.clone())
    }

    /// The same, taken from what is left, for work that goes on beside this.
    #[cfg(feature = "report")]
    pub(crate) fn split_off(&self, parts: u64) -> Self {
        let share = self.share(parts);
        self.left.set(self.left.get() - share.left());
        share
    }

    /// Takes what was spent of a share.
    #[cfg(feature = "report")]
    pub(crate) fn account_for(&self, share: &Self) {
        let Spent { units, ran_out } = share.done();
        self.left.set(self.left.get().saturating_sub(units));
        self.spent.set(self.spent.get() + units);
        self.ran_out.set(self.ran_out.get().or(ran_out));
    }

    pub(crate) fn done(&self) -> Spent {
        Spent { units: self.spent.get(), ran_out: self.ran_out.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_left_out_and_said() {
        let work = Work::of(10);
        assert!(work.spend(7, "one"));
        assert!(!work.spend(4, "two"));
        assert!(work.spend(3, "three"));
        assert!(!work.spend(1, "four"));
        assert_eq!(work.done(), Spent { units: 10, ran_out: Some("two") });
    }

    #[test]
    fn what_is_told_to_stop_has_nothing_left() {
        let stop = Stop::default();
        let work = Work::of(10).until(Some(stop.clone()));
        assert!(work.spend(7, "one"));
        stop.stop();
        assert!(!work.spend(1, "two"));
        assert_eq!(work.done(), Spent { units: 7, ran_out: Some("two") });
    }
}
