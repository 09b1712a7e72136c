//! Every way gives the same decision, the one that the clauses give, from the chosen groups alone
//! (laws 2, 3 and 4; REP-1, REP-4 to REP-10).

#![no_main]

#[allow(dead_code, reason = "a target calls one door of all")]
#[path = "../../crates/mayi/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| laws::doors::decide(input));
