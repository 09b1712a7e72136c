//! Limits for the work and the memory that a file can cost.
//!
//! A file that exceeds its limit is still read up to it, and this is reported
//! ([`RobotsTxt::cut`](crate::RobotsTxt::cut)).

use std::error::Error;
use std::fmt;

use crate::work::Work;

const WORK_AT_LEAST: u64 = 8_000_000;
const WORK_PER_OCTET: u64 = 12;

/// How much of a file is read (REP-24).
///
/// With a limit of *n* octets a parsed file keeps at most *n* octets of text (3 *n* if a charset had to be
/// decoded to UTF-8) and 8 octets for each of its at most *n* / 3 records. If user-agent lines are regular
/// expressions, these are added: at most 16,384 steps of up to 40 octets, and 20 octets for each expression.
///
/// ```
/// use mayi::Limits;
///
/// assert_eq!(Limits::default().file_octets(), 512 * 1024);
/// assert_eq!(Limits::with_file_octets(1 << 20)?.file_octets(), 1 << 20);
/// assert!(Limits::with_file_octets(100_000).is_err());
/// # Ok::<(), mayi::InvalidLimit>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    file_octets: u32,
    work: Option<u64>,
}

impl Limits {
    /// The least that may be set: 500 KiB.
    pub const LEAST_FILE_OCTETS: usize = 500 * 1024;
    /// The most that may be set: 1 GiB, so that offsets into decoded text fit into 32 bits.
    pub const MOST_FILE_OCTETS: usize = 1 << 30;

    /// Reads up to this many octets of a file.
    ///
    /// # Errors
    /// When it is below [`LEAST_FILE_OCTETS`](Self::LEAST_FILE_OCTETS), which no crawler may go
    /// below, or above [`MOST_FILE_OCTETS`](Self::MOST_FILE_OCTETS).
    pub const fn with_file_octets(octets: usize) -> Result<Self, InvalidLimit> {
        if octets < Self::LEAST_FILE_OCTETS || octets > Self::MOST_FILE_OCTETS {
            return Err(InvalidLimit { octets });
        }
        Ok(Self { file_octets: octets as u32, work: None })
    }

    /// Ends work that is more than a pass over its input, in [`lint`](crate::lint::lint) and in the functions
    /// of `meaning`, after this many units of work. The answer is then what was found so far, and its
    /// [`Spent`] names what was left out. The default is 8,000,000 and 12 per octet of the input. A unit is
    /// some 40 instructions.
    ///
    /// ```
    /// use mayi::lint::{Options, lint};
    /// use mayi::{Limits, ReadOptions, Spent};
    ///
    /// let reading = ReadOptions::default().with_limits(Limits::default().with_work(10));
    /// let linted = lint(b"User-agent: *\nDisallow: /*a\nAllow: /*b\n", &Options::default().with_reading(reading));
    /// let spent: Spent = linted.spent();
    /// assert!(spent.units <= 10 && spent.ran_out == Some("shadowed-rule"));
    /// ```
    ///
    /// [`Spent`]: crate::Spent
    #[must_use]
    pub const fn with_work(self, units: u64) -> Self {
        Self { work: Some(units), ..self }
    }

    /// The budget for an answer about input of this many octets.
    pub(crate) fn work_for(self, octets: usize) -> Work {
        let by_size = WORK_AT_LEAST + WORK_PER_OCTET * octets as u64;
        Work::of(self.work.unwrap_or(by_size))
    }

    /// How many octets of a file are read.
    pub const fn file_octets(self) -> usize {
        self.file_octets as usize
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { file_octets: 512 * 1024, work: None }
    }
}

/// A limit that is not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidLimit {
    octets: usize,
}

impl fmt::Display for InvalidLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a limit of {} octets: at least {} (500 KiB) of a robots.txt must be read (REP-24), and \
             at most {} (1 GiB) can be",
            self.octets,
            Limits::LEAST_FILE_OCTETS,
            Limits::MOST_FILE_OCTETS
        )
    }
}

impl Error for InvalidLimit {}
