//! Rows of URLs in, the same rows with decisions out: what `mayi bulk` is made of.
//!
//! [`run`] goes through the files that [`inputs`] lists, [`rows`] reads rows, [`columns`] says what their fields are and which ones are written, [`source`]
//! finds the robots.txt of an origin, [`worker`] answers and [`write`] writes; `tables` is for tables that are no text.
//! Rules are kept, and questions asked, in the crate `mayi-tables`. Only `columns` knows the command-line
//! options, and none of them opens a socket.

pub(crate) mod archives;
pub(crate) mod columns;
pub(crate) mod inputs;
pub(crate) mod rows;
pub(crate) mod run;
pub(crate) mod source;
#[cfg(feature = "columns")]
pub(crate) mod tables;
pub(crate) mod worker;
pub(crate) mod write;
