//! The laws of the library, tried on what proptest makes up and on the seeds of the fuzz targets.
//!
//! A vector says what one file and one URL come to; a law says what holds for all of them. The bodies
//! are in `laws/` and are shared with `fuzz/`, where libFuzzer looks for what is not thought of here.
//! A failure prints the smallest input that it could be reduced to: it becomes a vector or a seed.

#[path = "laws/generators.rs"]
mod generators;
#[path = "laws/mod.rs"]
mod laws;
#[path = "laws/messages.rs"]
mod messages;
#[path = "laws/purity.rs"]
mod purity;
#[path = "laws/sources.rs"]
mod sources;

use std::fs;
use std::path::Path;

use mayi::access::{AfterUnreachable, Keeping};
use proptest::prelude::*;

use generators::{choices, question, question_of};
use laws::{
    Question, access, decide, doors, edit, extensions, format, google, json, lint, matcher, meaning,
    overview, page, text, url, uses,
};

/// So many cases, unless PROPTEST_CASES says otherwise, and no files of earlier failures beside the
/// tests: those become vectors and seeds.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(50_000))]

    /// Law 1 (REP-11, REP-12, REP-15, REP-16): without it the quick matcher is only thought to be
    /// right.
    #[test]
    fn the_matcher_equals_a_naive_one((pattern, url) in generators::pattern_and_url()) {
        matcher::fast_equals_naive(pattern.as_bytes(), &url);
    }

    /// The law of REP-11: what a site copies from its address line into a pattern matches.
    #[test]
    fn a_start_matches(url in generators::url(), octets in 1..40_usize) {
        let path = url.strip_prefix("https://h").unwrap_or_default();
        matcher::a_start_matches(path, octets);
    }

    /// The law of REP-7: what is decided about is what a client would ask for, and at the same host.
    #[test]
    fn a_url_is_what_clients_read(url in generators::untidy_url()) {
        url::a_url_is_what_clients_read(&url);
    }
}

proptest! {
    #![proptest_config(cases(8000))]

    /// Law 2 (REP-8): a crawler may prepare, keep or watch, and must not get another answer for it.
    #[test]
    fn every_way_gives_the_same_decision(question in question()) {
        decide::every_way_gives_the_same_decision(&question);
    }

    /// Law 3 (REP-1, REP-4 to REP-10): the decision is what the clauses say, word by word.
    #[test]
    fn the_decision_is_the_naive_one(question in question()) {
        decide::the_decision_is_the_naive_one(&question);
    }

    /// Law 4 (REP-5, REP-6, REP-13): what is written for others is not for us.
    #[test]
    fn other_groups_do_not_matter(question in question(), choices in choices()) {
        decide::other_groups_do_not_matter(&question, &choices);
    }

    /// Law 5 (REP-2): files are edited on every system there is.
    #[test]
    fn line_ends_do_not_matter(question in question(), choices in choices()) {
        text::line_ends_do_not_matter(&question, &choices);
    }

    /// Law 6 (principle 1): what is shown of a file, and pointed at in it, is the file.
    #[test]
    fn lines_joined_are_the_text(robots in generators::robots()) {
        text::lines_joined_are_the_text(&robots);
    }

    /// Law 7 (REP-3, REP-17, REP-22): an extension that we do not know must not change what we do know.
    #[test]
    fn other_lines_do_not_matter(question in question(), choices in choices()) {
        text::other_lines_do_not_matter(&question, &choices);
    }

    /// Law 8 (REP-14, REP-22): reading can't fail, and points nowhere outside of the text.
    #[test]
    fn any_octets_are_a_file(
        robots in generators::robots(),
        charset in prop::option::of(messages::charset()),
    ) {
        text::any_octets_are_a_file(&robots, charset);
    }

    /// Law 9: whoever sends anything to a front end gets JSON for it.
    #[test]
    fn any_octets_get_an_answer(json in messages::nearly_json()) {
        json::any_octets_get_an_answer(&json);
    }

    /// Law 10 (REP-19): no server can keep a crawler busy with redirects.
    #[test]
    fn an_attempt_is_short(url in generators::url(), responses in messages::responses()) {
        access::an_attempt_is_short(&url, &responses);
    }

    /// Law 10 (REP-23): no server can keep its rules from being asked for again.
    #[test]
    fn freshness_is_bounded(fields in messages::fields(), received in any::<u64>()) {
        access::freshness_is_bounded(&fields, received);
        access::freshness_is_bounded(&fields, 784_111_777); // when the dates of the generator are
    }

    /// Law 10 (REP-20, REP-21): what is in force is there, and nothing is allowed by an accident.
    #[test]
    fn what_is_in_force_is_there(
        (uses_copy, gives_up) in any::<(bool, bool)>(),
        copy in prop::option::of(any::<u64>()),
        (since, now) in (0..6_000_000_u64, 0..6_000_000_u64),
    ) {
        let mut keeping = Keeping::default();
        keeping.unavailable_uses_copy = uses_copy;
        keeping.after_unreachable =
            if gives_up { AfterUnreachable::Unavailable } else { AfterUnreachable::Copy };
        access::what_is_in_force_is_there(&keeping, copy, since, now);
    }

    /// Law 12 (Dialects): who says "as google/robotstxt" must mean it, line by line.
    #[test]
    fn the_google_dialect_is_the_model(question in question()) {
        google::the_dialect_is_the_model(&question);
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    /// Laws 2, 3 and 12 where a group can be so large that its rules are looked up in an index, which
    /// has to find the same rule as trying them one by one, and of equal rules the same line.
    #[test]
    fn a_large_group_is_decided_alike(question in generators::question_of(generators::large_group())) {
        format::laying_out_changes_nothing(&question, &[]);
        decide::every_way_gives_the_same_decision(&question);
        decide::the_decision_is_the_naive_one(&question);
        google::the_dialect_is_the_model(&question);
    }

    /// Law 9: a question has one answer, through JSON and without.
    #[test]
    fn a_request_is_answered_like_the_question(question in question(), explain in any::<bool>()) {
        json::a_request_is_answered_like_the_question(&question, explain);
    }
}

proptest! {
    #![proptest_config(cases(100))]

    /// Law 11 (REP-24): half a pattern is another pattern, so the line that is cut does not count.
    #[test]
    fn a_cut_file_is_its_whole_lines(
        question in question(),
        half in 0..200_usize,
        beyond in any::<usize>(),
        in_utf_16 in any::<bool>(),
    ) {
        text::a_cut_file_is_its_whole_lines(&question, half, beyond, in_utf_16);
    }
}

proptest! {
    #![proptest_config(cases(30))]

    /// Laws 2, 3, 8 and 12 where a value is longer than what is kept about it can say (REP-22): the
    /// rule counts, and the ones around it too.
    #[test]
    fn a_long_value_is_read_whole(question in generators::question_of_long_value()) {
        text::any_octets_are_a_file(&question.robots, None);
        decide::every_way_gives_the_same_decision(&question);
        decide::the_decision_is_the_naive_one(&question);
        google::the_dialect_is_the_model(&question);
        format::laying_out_changes_nothing(&question, &[]);
        // As much of the pattern as the google dialect reads of its line, asked about itself.
        let url = format!("https://h/{}", "a".repeat(16_663 - " Disallow: /".len()));
        for url in [format!("{url}a"), url] {
            google::the_dialect_is_the_model(&Question { url, ..question.clone() });
        }
    }
}

proptest! {
    #![proptest_config(cases(24))]

    /// Law 8 (REP-25): nobody who writes a file can keep those busy who read it.
    #[test]
    fn what_repeats_is_read_soon((start, unit) in generators::what_repeats()) {
        text::what_repeats_is_read_soon(start.as_bytes(), unit.as_bytes());
    }
}

proptest! {
    #![proptest_config(cases(3000))]

    /// APP-7, USE-5, REP-17: what an application is asked, what a header adds, and what is switched off.
    #[test]
    fn the_extensions_keep_to_their_own(question in question_of(generators::extended())) {
        extensions::directives_do_not_depend_on_access(&question);
        extensions::a_header_only_restricts(&question);
        extensions::what_is_switched_off_does_not_matter(&question);
    }

    /// APP-9, USE-3, USE-5, USE-6: whoever reads one part of a decision must not find another that says the
    /// opposite.
    #[test]
    fn uses_never_contradict_each_other(
        question in question_of(generators::preferring()),
        choices in any::<[u8; 2]>(),
    ) {
        uses::uses_never_contradict_each_other(&question, &choices);
    }

    /// Law 13: who lays out a file must be able to trust that it stays the same file.
    #[test]
    fn laying_out_changes_nothing(
        question in prop_oneof![3 => question(), 1 => question_of(generators::extended())],
        choices in choices(),
    ) {
        format::laying_out_changes_nothing(&question, &choices);
    }

    /// Law 14: who reviews a change must not be told of one that is none, nor that there is none.
    #[test]
    fn a_diff_is_true(
        question in prop_oneof![2 => question(), 1 => question_of(generators::extended())],
        other in question(),
        choices in choices(),
        is_nearly_the_same in prop::bool::weighted(0.8),
    ) {
        let mut other = other;
        if is_nearly_the_same {
            other.robots = meaning::nearly_the_same(&question.robots, &choices);
        }
        meaning::a_diff_is_true(&question, &other);
    }

    /// Law 16: what an owner asks for is done, and nothing changes for others.
    #[test]
    fn an_edit_does_what_was_asked(question in question(), choices in choices()) {
        edit::an_edit_does_what_was_asked(&question, &choices);
    }

    /// Law 16: what a file says besides rules changes no rule.
    #[test]
    fn a_statement_is_said_and_nothing_else(
        question in question_of(prop_oneof![generators::preferring(), generators::extended(), generators::robots()]),
        choices in choices(),
    ) {
        edit::a_statement_is_said_and_nothing_else(&question, &choices);
    }

    /// Law 15: what is told of readings is what they decide.
    #[test]
    fn a_comparison_is_true(question in question()) {
        meaning::a_comparison_is_true(&question);
    }

    /// TAG-4, TAG-8, TAG-10: chunks do not matter, and more is more restrictive.
    #[test]
    fn page_controls_add_up(
        (tag, old, html) in (messages::tag(), messages::tag(), messages::html()),
        size in 1..9_usize,
    ) {
        page::chunks_do_not_matter(html.as_bytes(), size);
        let fields = [("Robots-Tag".to_owned(), tag), ("X-Robots-Tag".to_owned(), old)];
        page::more_is_more_restrictive(&fields, &html);
    }
}

proptest! {
    #![proptest_config(cases(500))]

    /// Law 17: who reads that search engines may fetch everything relies on it.
    #[test]
    fn an_overview_is_true(
        question in prop_oneof![2 => question(), 1 => question_of(generators::preferring())],
        choices in choices(),
    ) {
        overview::an_overview_is_true(&question, &choices);
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    /// Linting is total, and points nowhere outside of the text.
    #[test]
    fn any_octets_can_be_linted(robots in prop_oneof![generators::robots(), generators::extended(), generators::untidy()]) {
        lint::any_octets_can_be_linted(&robots);
    }

    /// Whoever lets a machine edit the rules of a site must be able to.
    #[test]
    fn safe_fixes_are_safe(question in question_of(generators::untidy())) {
        lint::safe_fixes_are_safe(&question);
    }

    /// And on files that nobody made for it.
    #[test]
    fn safe_fixes_are_safe_on_any_file(question in question()) {
        lint::safe_fixes_are_safe(&question);
    }
}

proptest! {
    #![proptest_config(cases(24))]

    /// Nobody who writes a file can keep those busy who lint it.
    #[test]
    fn what_repeats_is_linted_soon((start, unit) in generators::what_repeats()) {
        lint::what_repeats_is_linted_soon(start.as_bytes(), unit.as_bytes());
    }
}

/// What the fuzzers found worth keeping holds without a fuzzer too.
#[test]
fn the_seeds_of_every_fuzz_target_hold() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for (target, door) in doors::ALL {
        let folder = seeds.join(target);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{target}: {error}"));
        for entry in entries {
            let path = entry.expect("an entry of the folder").path();
            let input = fs::read(&path).expect("a seed can be read");
            println!("{}", path.display()); // shown where it fails
            door(&input);
        }
    }
}

/// Principle 7: the core is pure.
#[test]
fn the_core_does_no_input_or_output() {
    purity::the_core_does_no_input_or_output();
}

/// Principle 7: and stays small.
#[test]
fn the_dependencies_are_the_known_ones() {
    purity::the_dependencies_are_the_known_ones();
}
