//! The access method of mayi: fetches robots.txt, caches it, and handles servers that fail or misbehave.
//!
//! A [`Fetcher`] answers requests that do not include their file. It looks in the cache first, then asks the
//! server. The core's [`mayi::access`] says what redirects, statuses and failures mean; the [`Policy`] says
//! what is cached and for how long. A failure never allows anything: a file that can't be reached disallows
//! everything (REP-21), and a failure never removes the last good copy.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`guard`] | which addresses may be connected to |
//! | [`store`] | where files are cached: memory, disk, Redis or Valkey |
//! | [`kept`] | the cached entry of an origin |
//! | [`events`] | events for the operator: failures of the store, faults of this machine |
//! | [`blocking`] | the same without `async` |
//! | [`clock`], [`dial`], [`transport`] | the outside world, as traits that tests can script |

#![cfg_attr(docsrs, feature(doc_cfg))]

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
