//! Any file can be linted, in bounded work, and fixes that are called safe change no decision.

#![no_main]

#[allow(dead_code, reason = "a target calls one door of all")]
#[path = "../../crates/mayi/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| laws::doors::lint(input));
