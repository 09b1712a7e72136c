//! Line ends, blank lines, comments and other records change no decision (laws 5 and 7; REP-2,
//! REP-3, REP-17, REP-22).

#![no_main]

#[allow(dead_code, reason = "a target calls one door of all")]
#[path = "../../crates/mayi/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| laws::doors::line_ends(input));
