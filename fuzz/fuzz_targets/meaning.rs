//! What is said to differ between files or readings does, and what is said to be the same is (laws 14
//! and 15).

#![no_main]

#[allow(dead_code, reason = "a target calls one door of all")]
#[path = "../../crates/mayi/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| laws::doors::meaning(input));
