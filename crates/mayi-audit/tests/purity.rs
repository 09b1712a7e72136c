//! What the audit does not do, checked over its source: no input or output, no clock, no thread.

use std::fs;
use std::path::{Path, PathBuf};

/// Ways out of a pure function.
const WAYS_OUT: &[&str] = &[
    "std::fs",
    "std::io",
    "std::process",
    "std::env",
    "std::thread",
    "Socket",
    "TcpStream",
    "SystemTime",
    "Instant",
];

#[test]
fn the_audit_does_no_input_or_output() {
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(sources.len() > 20, "the sources were found");
    for path in sources {
        let source = fs::read_to_string(&path).expect("a source can be read");
        for way in WAYS_OUT {
            assert!(!source.contains(way), "{} has {way}", path.display());
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of sources");
    let paths = entries.map(|entry| entry.expect("an entry of it").path());
    paths
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}
