//! An attempt is short and its answer not fresh for long (law 10; REP-18 to REP-21, REP-23).

#![no_main]

#[allow(dead_code, reason = "a target calls one door of all")]
#[path = "../../crates/mayi/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| laws::doors::access(input));
