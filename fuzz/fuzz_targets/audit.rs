//! Any octets are a log in every format: every line is counted once, figures add up, and nothing raw is
//! shown; parts and order do not matter, and the same file proposed changes nothing.

#![no_main]

#[path = "../../crates/mayi-audit/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| laws::door(input));
