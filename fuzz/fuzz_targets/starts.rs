//! A start of a path and query matches them (the law of REP-11).

#![no_main]

#[allow(dead_code, reason = "a target calls one door of all")]
#[path = "../../crates/mayi/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| laws::doors::starts(input));
