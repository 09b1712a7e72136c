//! The access method of mayi: get robots.txt, keep it, and survive its server.
//!
//! A [`Fetcher`] answers requests that come without their file. It asks what is kept first, then the
//! server; what it does with redirects, statuses and failures is the core's [`mayi::access`], what it
//! keeps and for how long is the [`Policy`]. It never takes a failure for an invitation: a file that
//! can't be reached disallows everything (REP-21), and the last good copy is not lost to a failure.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`guard`] | which addresses may be connected to |
//! | [`store`] | where files are kept: memory, disk, Redis or Valkey |
//! | [`kept`] | what is kept of an origin |
//! | [`events`] | what whoever runs it should know: failures of the store, what this machine lacks |
//! | [`blocking`] | the same without `async` |
//! | [`clock`], [`dial`], [`transport`] | the outside world, as traits that tests can script |

mod ahead;
mod attempt;
pub mod blocking;
mod builder;
pub mod clock;
mod coding;
pub mod dial;
pub mod events;
mod fault;
mod fetcher;
mod flight;
#[cfg(feature = "ftp")]
mod ftp;
pub mod guard;
mod held;
mod http;
pub mod kept;
mod lifecycle;
mod manners;
mod options;
mod page;
pub mod prepared;
mod robots;
mod roots;
mod stats;
pub mod store;
pub mod transport;

pub use ahead::Ahead;
pub use builder::{Builder, InvalidUserAgent};
pub use fault::Lack;
pub use fetcher::Fetcher;
pub use lifecycle::{Backoff, Policy};
pub use options::{FetchOptions, InvalidOption};
pub use page::{FetchedPage, NoPage};
pub use robots::Robots;
pub use roots::InvalidRoots;
pub use stats::Stats;

/// The programs in the README of the whole, and the example in that of this crate, are compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../README.md")]
struct Readme;
