//! Any header fields and any HTML are read, in chunks as at once, and more of them is more restrictive
//! (TAG-4, TAG-8, TAG-10, TAG-12).

#![no_main]

#[allow(dead_code, reason = "a target calls one door of all")]
#[path = "../../crates/mayi/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| laws::doors::page(input));
