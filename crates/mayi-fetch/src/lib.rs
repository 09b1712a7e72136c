//! The access method of mayi: fetch robots.txt, keep it, and survive its server.

pub mod kept;
pub mod store;
