//! The access method against real servers on loopback: honest ones, broken ones and hostile ones.
//!
//! No test dials an address that is not on loopback: where one is in question, the resolver and the
//! connector are scripted and say what they were asked. No test asserts how long something takes; that
//! it ends at all is what counts.

// What the servers' file offers is the vocabulary of all the others.
#![allow(clippy::wildcard_imports)]

#[path = "loopback/boundaries.rs"]
mod boundaries;
#[path = "loopback/codings.rs"]
mod codings;
#[path = "loopback/events.rs"]
mod events;
#[path = "loopback/faults.rs"]
mod faults;
#[path = "loopback/flights.rs"]
mod flights;
#[path = "loopback/ftp.rs"]
mod ftp;
#[path = "loopback/guard.rs"]
mod guard;
#[path = "loopback/http2.rs"]
mod http2;
#[path = "loopback/local.rs"]
mod local;
#[path = "loopback/pages.rs"]
mod pages;
#[path = "loopback/queue.rs"]
mod queue;
#[path = "loopback/servers.rs"]
mod servers;
#[path = "loopback/soak.rs"]
mod soak;
#[path = "loopback/support.rs"]
mod support;
#[path = "loopback/tls.rs"]
mod tls;
#[path = "loopback/turns.rs"]
mod turns;
#[path = "loopback/validators.rs"]
mod validators;
