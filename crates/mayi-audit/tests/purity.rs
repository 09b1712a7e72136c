//! What the audit does not do, checked over its source: no input or output, no clock, no thread.

#[path = "../../mayi/tests/laws/sources.rs"]
mod sources;

use std::fs;
use std::path::Path;

use sources::sources;

/// Ways out of a pure function.
const WAYS_OUT: &[&str] = &[
    "std::fs",
    "std::io",
    "std::process",
    "std::env",
    "std::thread",
    "UdpSocket",
    "TcpListener",
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
