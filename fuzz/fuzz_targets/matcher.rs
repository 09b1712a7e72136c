//! The matcher equals a naive one (law 1; REP-11, REP-12, REP-15, REP-16).

#![no_main]

#[allow(dead_code, reason = "a target calls one door of all")]
#[path = "../../crates/mayi/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| laws::doors::matcher(input));
