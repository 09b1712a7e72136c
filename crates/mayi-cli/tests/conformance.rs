//! Every vector through the binary: requests on standard input, decisions on standard output.

mod common;

use std::collections::BTreeMap;

use common::mayi;
use mayi_vectors::Case;
use serde_json::Value;

#[test]
fn every_case_is_decided_as_expected() {
    let vectors = mayi_vectors::all();
    let mut by_extensions: BTreeMap<&[String], Vec<&Case>> = BTreeMap::new();
    for case in &vectors.cases {
        by_extensions.entry(&case.without).or_default().push(case);
    }
    let mut failures = Vec::new();
    let mut asked = 0;
    for (without, cases) in by_extensions {
        let mut words = vec!["decide"];
        for name in without {
            words.extend(["--no-extension", name]);
        }
        let requests: Vec<_> = cases.iter().map(|case| case.request.to_string()).collect();
        let run = mayi(&words, requests.join("\n").as_bytes());
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        let decisions: Vec<&str> = run.stdout.lines().collect();
        assert_eq!(decisions.len(), cases.len(), "one decision a request");
        for (case, decision) in cases.iter().zip(decisions) {
            let decision: Value = serde_json::from_str(decision).expect("a decision is JSON");
            failures.extend(case.check(&decision).err());
            asked += 1;
        }
    }
    assert_eq!(asked, vectors.cases.len());
    assert!(failures.is_empty(), "{} cases fail:\n{}", failures.len(), failures.join("\n"));
}
