//! What `mayi audit` does around `mayi-audit`: read and decompress logs, find the files of sites, ask DNS,
//! and draw the report for a terminal. Figures and decisions are not made here.

pub(crate) mod dns;
pub(crate) mod draw;
pub(crate) mod logs;
pub(crate) mod resolver;
pub(crate) mod sites;
