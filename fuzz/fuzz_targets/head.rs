//! The head of a document has the robots meta elements that a whole HTML parser finds there (TAG-8).

#![no_main]

#[path = "../../crates/mayi/tests/head/mod.rs"]
mod head;

libfuzzer_sys::fuzz_target!(|input: &[u8]| head::check(&String::from_utf8_lossy(input)));
