//! Laying a file out changes nothing that a reader makes of it, and a second time nothing at all
//! (law 13).

#![no_main]

#[allow(dead_code, reason = "a target calls one door of all")]
#[path = "../../crates/mayi/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| laws::doors::format(input));
