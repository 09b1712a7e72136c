//! Structured values and regular expressions of any shape keep to the laws of the extensions (APP-7,
//! APP-9, USE-3, USE-5, USE-6, REP-17).

#![no_main]

#[allow(dead_code, reason = "a target calls one door of all")]
#[path = "../../crates/mayi/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| laws::doors::extensions(input));
