//! Rows of URLs in, the same rows with decisions out: what `mayi bulk` is made of.
//!
//! [`inputs`] lists the files, [`rows`] reads rows, [`columns`] says what their fields are and which ones are written, [`source`]
//! finds the robots.txt of an origin, [`kept`] keeps what was prepared from it, [`worker`] answers
//! and [`write`] writes. None of them knows the command line's words but `columns`, and none of them
//! opens a socket.

pub(crate) mod columns;
pub(crate) mod inputs;
pub(crate) mod kept;
pub(crate) mod rows;
pub(crate) mod source;
pub(crate) mod worker;
pub(crate) mod write;
