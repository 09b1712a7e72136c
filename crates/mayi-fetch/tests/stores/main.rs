//! The stores, against real files and real servers: what all of them do, and what each survives.

mod conformance;
mod disk;
mod redis;
mod servers;
mod support;
mod tls;
