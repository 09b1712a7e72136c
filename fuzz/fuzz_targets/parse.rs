//! Any octets are a file, and its lines joined are its text (laws 6 and 8; REP-2, REP-14, REP-22).

#![no_main]

#[allow(dead_code, reason = "a target calls one door of all")]
#[path = "../../crates/mayi/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| laws::doors::parse(input));
