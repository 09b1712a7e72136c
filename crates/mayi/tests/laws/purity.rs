//! What the core does not do, checked over its source: no input or output, no clock, and no
//! dependency that nobody decided on (principle 7 of the design: state what is absent, and test it).

use std::fs;
use std::path::Path;

use crate::sources::sources;

/// The crates that the core depends on. To add one is an architectural change: add it here too, and
/// say why in the commit.
const DEPENDENCIES: &[&str] = &[
    "base64",
    "encoding_rs",
    "html5gum",
    "httpdate",
    "indexmap",
    "memchr",
    "serde",
    "serde_json",
    "sfv",
    "toml",
    "url",
    "wide",
];

/// Ways out of a pure function.
const WAYS_OUT: &[&str] = &[
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "std::io",
    "SystemTime::now",
    "Instant::now",
    "include_bytes!(env",
];

/// Files that are compiled for tests alone.
const TEST_FILES: &[&str] = &["corpus_test.rs", "making.rs"];

/// The core opens nothing and reads no clock.
pub(crate) fn the_core_does_no_input_or_output() {
    let sources = sources(&package().join("src"));
    assert!(sources.len() > 20, "the sources were found");
    let mut found = Vec::new();
    for path in sources {
        let is_test = path.file_name().is_some_and(|name| TEST_FILES.iter().any(|test| name == *test));
        if is_test {
            continue;
        }
        let source = fs::read_to_string(&path).expect("a source can be read");
        // The tests of a file stand last in it.
        let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let ways = WAYS_OUT.iter().filter(|way| source.contains(**way));
        found.extend(ways.map(|way| format!("{} has {way}", path.display())));
    }
    assert!(found.is_empty(), "the core is pure, but {}", found.join(", "));
}

/// The core depends on what it was decided to depend on, no more and no less.
pub(crate) fn the_dependencies_are_the_known_ones() {
    let manifest = fs::read_to_string(package().join("Cargo.toml")).expect("the manifest");
    let mut section = "";
    let mut dependencies = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
            assert!(!line.starts_with("[dependencies."), "{line}: write it as one line");
            assert!(!line.starts_with("[target."), "{line}: the core is the same everywhere");
            assert_ne!(line, "[build-dependencies]", "the core needs no build script");
        } else if section == "[dependencies]" && !line.is_empty() && !line.starts_with('#') {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            dependencies.push(name.to_owned());
        }
    }
    dependencies.sort_unstable();
    assert_eq!(dependencies, DEPENDENCIES);
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
