//! Every vector through the library, and the page that lists them.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use mayi::access::{
    AccessResult, AfterUnreachable, Attempt, AttemptOptions, InForce, Keeping, Origin, Outcome, Step,
    fresh_for,
};
use mayi::report::{Answering, Request};
use mayi::{Clause, Extension};
use mayi_vectors::{About, Access, Case, Keep, Locate, Vectors};
use serde_json::Value;

#[test]
fn every_case_is_decided_as_expected() {
    let vectors = mayi_vectors::all();
    assert!(!vectors.cases.is_empty());
    let decide = |case: &Case| -> Value {
        let extension = |name: &String| Extension::named(name).expect("a vector names an extension");
        let without = case.without.iter().map(extension);
        let answering = without.fold(Answering::default(), Answering::without);
        let json = case.request.to_string();
        let answered = Request::from_json(json.as_bytes()).and_then(|request| {
            let answer = answering.answer(&request)?;
            Ok(serde_json::to_value(answer).expect("a report is JSON"))
        });
        answered.unwrap_or_else(|error| serde_json::to_value(error.report()).expect("JSON"))
    };
    let failures = vectors.cases.iter().filter_map(|case| case.check(&decide(case)).err());
    let failures: Vec<_> = failures.collect();
    assert!(failures.is_empty(), "{} cases fail:\n{}", failures.len(), failures.join("\n"));
}

/// With every extension off, the REP vectors are decided all the same: none of them sways a decision.
#[test]
fn without_extensions_the_rep_vectors_hold() {
    let all = Extension::ALL.iter().copied();
    // The default dialect reads misspellings, and some REP vectors are about lines with them.
    let off = all.filter(|extension| *extension != Extension::Misspellings);
    let answering = off.fold(Answering::default(), Answering::without);
    let mut checked = 0;
    for case in mayi_vectors::all().cases {
        let Some(expected) = case.expect.get("access") else { continue };
        if !case.about.id.starts_with("rep-") || !case.without.is_empty() {
            continue;
        }
        let json = case.request.to_string();
        let request = Request::from_json(json.as_bytes()).expect("a good request");
        let report =
            serde_json::to_value(answering.answer(&request).expect("an answer")).expect("JSON");
        let allowed = expected.get("allowed").unwrap_or(&Value::Null);
        assert_eq!(&report["access"]["allowed"], allowed, "{}", case.about.id);
        checked += 1;
    }
    assert!(checked > 500, "only {checked} vectors say whether access is allowed");
}

#[test]
fn every_file_is_located_as_expected() {
    for Locate { about, url, robots_url, error } in mayi_vectors::all().locate {
        let located = Origin::of_url(&url).map(|origin| origin.robots_url());
        match located {
            Ok(located) => assert_eq!(Some(located), robots_url, "{}", about.id),
            Err(found) => {
                let code =
                    if found.is_unsupported_scheme() { "unsupported-scheme" } else { "invalid-url" };
                assert_eq!(Some(code), error.as_deref(), "{}: {found}", about.id);
            }
        }
    }
}

#[test]
fn every_attempt_comes_to_what_is_expected() {
    for Access { about, url, responses, result, treat_429_as_unreachable } in mayi_vectors::all().access
    {
        let id = &about.id;
        let origin = Origin::of_url(&url).expect("a good URL");
        let mut options = AttemptOptions::default();
        options.treat_429_as_unreachable = treat_429_as_unreachable;
        let mut attempt = Attempt::with_options(&origin, options);
        let mut came_to: Option<AccessResult> = None;
        for response in responses {
            assert_eq!(came_to, None, "{id}: it is over before the script is");
            assert_eq!(attempt.url(), response.url, "{id}");
            let step = match (response.status, response.error) {
                (Some(status), None) => attempt.answered(status, response.location.as_deref()),
                (None, Some(error)) => attempt.failed(&error),
                _ => panic!("{id}: a response has either `status` or `error`"),
            };
            if let Step::Done(result) = step {
                came_to = Some(result);
            }
        }
        assert_eq!(came_to.map(|result| result.name()), Some(&*result), "{id}");
    }
}

#[test]
fn what_is_kept_is_in_force_as_expected() {
    let some_day = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
    for keep in mayi_vectors::all().keep {
        let Keep { about, copy, last, expect, .. } = &keep;
        let id = &about.id;
        // A copy with a date was fetched then; without one, any day will do.
        let date = copy.iter().flat_map(|copy| &copy.headers).find(|(name, _)| name == "Date");
        let date = date.and_then(|(_, date)| httpdate::parse_http_date(date).ok());
        let age = Duration::from_secs(copy.as_ref().map_or(0, |copy| copy.fetched_seconds_ago));
        let now = date.unwrap_or(some_day) + age;
        let ago = |seconds| now - Duration::from_secs(seconds);
        let mut keeping = Keeping::default();
        keeping.unavailable_uses_copy = keep.unavailable_uses_copy;
        if let Some(seconds) = keep.unreachable_for_seconds {
            keeping.unreachable_for = Duration::from_secs(seconds);
        }
        if let Some(after) = &keep.after_unreachable {
            keeping.after_unreachable = match after.as_str() {
                "copy" => AfterUnreachable::Copy,
                "unavailable" => AfterUnreachable::Unavailable,
                other => panic!("{id}: after_unreachable = {other}"),
            };
        }
        let outcome = match last.result.as_str() {
            "successful" => Outcome::Successful,
            "unavailable" => Outcome::Unavailable,
            "unreachable" => {
                Outcome::Unreachable { since: ago(last.since_seconds_ago.unwrap_or(last.seconds_ago)) }
            }
            other => panic!("{id}: last.result = {other}"),
        };
        let fetched = copy.as_ref().map(|copy| ago(copy.fetched_seconds_ago));
        if let Some(in_force) = &expect.in_force {
            let name = match keeping.in_force(&outcome, fetched, now) {
                InForce::Copy => "copy",
                InForce::AllowAll => "allow-all",
                InForce::DisallowAll => "disallow-all",
            };
            assert_eq!(name, in_force, "{id}");
        }
        let Some(copy) = copy else { continue };
        let headers = copy.headers.iter().map(|(name, value)| (&**name, &**value));
        let fresh = fresh_for(headers, ago(copy.fetched_seconds_ago));
        let more = fresh.saturating_sub(Duration::from_secs(copy.fetched_seconds_ago));
        if let Some(seconds) = expect.fresh_seconds {
            assert_eq!(more.as_secs(), seconds, "{id}");
        }
        if let Some(fresh) = expect.fresh {
            assert_eq!(more > Duration::ZERO, fresh, "{id}");
        }
    }
}

#[test]
fn ids_are_unique_and_clauses_are_known() {
    let vectors = mayi_vectors::all();
    let mut ids = HashSet::new();
    for about in vectors.summaries() {
        assert!(ids.insert(&about.id), "{} is there twice", about.id);
        for clause in &about.clauses {
            assert!(Clause::named(clause).is_some(), "{} cites {clause}", about.id);
        }
        let home = about.clauses.first().expect("a vector cites a clause").to_lowercase();
        assert!(about.id.starts_with(&format!("{home}-")), "{} is not of {home}", about.id);
    }
}

/// `docs/conformance.md` is made from the clauses and the vectors. To write it again, run the tests
/// with `MAYI_WRITE_DOCS=1`.
#[test]
fn every_clause_has_a_vector_and_the_page_says_so() {
    let vectors = mayi_vectors::all();
    let page = conformance_page(&vectors);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance.md");
    if std::env::var_os("MAYI_WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/conformance.md is stale: run the tests with MAYI_WRITE_DOCS=1");
}

fn conformance_page(vectors: &Vectors) -> String {
    let summaries = vectors.summaries();
    let mut page = String::from(
        "# Conformance\n\n\
         Made from the registry of clauses and from `vectors/` by the tests; do not edit it here. Each\n\
         clause is followed by the vectors that show it. Decisions run through the library and through\n\
         the binary, the access method through the library and the fetcher; the format is in [vectors/README.md](../vectors/README.md).\n",
    );
    let clauses = Clause::all().len();
    let (asks, count) = (vectors.cases.len(), summaries.len());
    writeln!(page, "\n{clauses} clauses, {count} vectors, {asks} decisions.").expect("text");
    for clause in Clause::all() {
        let shows = |about: &&&About| about.clauses.iter().any(|id| id == clause.id());
        let found: Vec<_> = summaries.iter().filter(shows).collect();
        assert!(!found.is_empty(), "no vector shows {clause}");
        writeln!(page, "\n## {clause} ({})\n\n{}\n", clause.section(), clause.requirement())
            .expect("text");
        for about in found {
            writeln!(page, "- `{}`: {}", about.id, about.why).expect("text");
        }
    }
    page
}
