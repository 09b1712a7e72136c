//! Tables of URLs and the robots.txt files of their hosts → a decision for every row.
//!
//! `mayi bulk` and other programs that process whole tables share this crate. It opens no socket.
//!
//! - [`files`] finds the file of an origin, and caches its prepared rules in bounded memory.
//! - [`asking`] decides about URL after URL, and keeps what it used last.
//! - [`archive`] is a source of files: responses of servers, with redirects followed; [`warc`] reads it from
//!   WARCs.
//! - [`compressed`] decompresses and compresses files.
//! - With the feature `columns`, `kernel` answers arrays of Arrow (`texts` says which), and `reading` and
//!   `writing` read and write Parquet and Arrow IPC files.
//!
//! ```
//! use mayi::access::SiteFile;
//! use mayi::{Crawler, ReadOptions};
//! use mayi_tables::asking::Asker;
//! use mayi_tables::files::{Files, RobotsSource};
//!
//! let options = ReadOptions::default();
//! let file = SiteFile::read(b"User-agent: *\nDisallow: /private/\n".to_vec(), &options);
//! let files = Files::new(RobotsSource::One(file), options, 1 << 20);
//! let mut asker = Asker::of_crawlers(&files, &[Crawler::new("ExampleBot")?]);
//! let target = asker.ask("https://example.com/private/x")?;
//! assert!(asker.decide(0, &target).is_ok_and(|decision| !decision.is_allowed()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod answer;
pub mod archive;
pub mod asking;
pub mod compressed;
pub mod files;
#[cfg(feature = "columns")]
pub mod kernel;
#[cfg(feature = "columns")]
pub mod reading;
#[cfg(feature = "columns")]
pub mod robots_table;
#[cfg(feature = "columns")]
pub mod texts;
pub mod warc;
#[cfg(feature = "columns")]
pub mod writing;
