//! Any octets are a log in every format: every line is counted once, figures add up, and nothing raw is
//! shown; parts and order do not matter, and the same file proposed changes nothing.

#![no_main]

use mayi_audit::Format;

#[path = "../../crates/mayi-audit/tests/laws/mod.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    laws::any_octets_are_a_log(input);
    let format = Format::detect(input);
    laws::the_same_file_changes_nothing(input, &format);
    let lines: Vec<_> = input.split(|&octet| octet == b'\n').map(<[u8]>::to_vec).collect();
    // Directives say what the lines behind them are, so their order does matter.
    if !matches!(format.name(), "w3c" | "cloudfront") {
        laws::parts_and_order_do_not_matter(&lines, &[1, 2], &format);
    }
});
