//! The laws of the audit, on logs that proptest makes up and on the seeds of the fuzz target.

#[path = "laws/mod.rs"]
mod laws;

use std::fs;
use std::path::Path;

use mayi_audit::Format;
use proptest::collection::vec;
use proptest::prelude::*;

/// A line of a combined log, mostly good, with parts that matter.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let agent = prop_oneof![
        Just("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)".to_owned()),
        Just("GPTBot/1.2".to_owned()),
        Just("Foo-ai/1".to_owned()),
        Just("Google-Extended".to_owned()),
        Just("Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1".to_owned()),
        Just("-".to_owned()),
        "[A-Za-z]{1,4}[Bb]ot/[0-9]",
        "[ -~]{0,20}",
    ];
    let path = prop_oneof![
        Just("/robots.txt".to_owned()),
        Just("/private/press/x".to_owned()),
        Just("/private/x?y".to_owned()),
        Just("http://example.com/a.pdf".to_owned()),
        Just("*".to_owned()),
        "/[a-c/.%?]{0,8}",
    ];
    let good = (0..4_u8, 1..29_u8, 0..24_u8, path, agent, 100..600_u16).prop_map(|(address, day, hour, path, agent, status)| {
        format!("192.0.2.{address} - - [{day:02}/Oct/2026:{hour:02}:00:00 +0200] \"GET {path} HTTP/1.1\" {status} 1 \"-\" \"{agent}\"").into_bytes()
    });
    prop_oneof![9 => good, 1 => vec(any::<u8>().prop_filter("a line", |octet| *octet != b'\n'), 0..40)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_octets_are_a_log(octets in vec(any::<u8>(), 0..400)) {
        laws::any_octets_are_a_log(&octets);
    }

    #[test]
    fn lines_of_all_kinds_are_a_log(lines in vec(line(), 0..12)) {
        laws::any_octets_are_a_log(&lines.join(&b'\n'));
    }

    #[test]
    fn parts_and_order_do_not_matter(lines in vec(line(), 0..30), cuts in vec(0..8_usize, 0..4)) {
        laws::parts_and_order_do_not_matter(&lines, &cuts, &Format::named("combined").expect("a name"));
    }

    #[test]
    fn the_same_file_changes_nothing(lines in vec(line(), 0..30)) {
        laws::the_same_file_changes_nothing(&lines.join(&b'\n'), &Format::named("combined").expect("a name"));
    }
}

/// More names, paths and days than are told apart: still the same in every order.
#[test]
fn beyond_the_bounds_order_does_not_matter_either() {
    let lines: Vec<Vec<u8>> = (0..5_000)
        .map(|number| {
            let day = 1 + number % 28;
            format!("192.0.{}.{} - - [{day:02}/Oct/2026:00:00:00 +0000] \"GET /private/{number} HTTP/1.1\" 200 1 \"-\" \"N{number}bot/1\"", number / 256 % 256, number % 256)
                .into_bytes()
        })
        .collect();
    laws::parts_and_order_do_not_matter(
        &lines,
        &[1, 3_000, 700],
        &Format::named("combined").expect("a name"),
    );
}

/// What the fuzzer found worth keeping holds without a fuzzer too; there is a seed for each format.
#[test]
fn the_seeds_of_the_fuzz_target_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/audit");
    let mut formats = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder of the seeds") {
        let path = entry.expect("an entry of the folder").path();
        println!("{}", path.display()); // shown where it fails
        let input = fs::read(&path).expect("a seed can be read");
        formats.push(Format::detect(&input).name());
        laws::door(&input);
    }
    for (name, _) in Format::names() {
        assert!(formats.contains(name), "no seed is a log in the format {name}");
    }
}
