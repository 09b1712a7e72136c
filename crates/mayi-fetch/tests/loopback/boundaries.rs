//! What this crate keeps apart, checked over its source: one file names the HTTP client, and one reads
//! the clock. So there is one place to change for another client, or for a scripted clock.

use std::fs;
use std::path::Path;

/// Words, and the only file that may have them.
const BOUNDARIES: &[(&str, &[&str])] = &[
    ("http.rs", &["hyper", "http_body_util"]),
    ("clock.rs", &["SystemTime::now", "Instant::now", "tokio::time"]),
    ("dial.rs", &["TcpStream", "lookup_host", "ToSocketAddrs"]),
];

/// The code of a file: without its comments, and without its tests, which stand last.
fn code(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let source = source.split("#[cfg(test)]\npub(crate) mod tests").next().unwrap_or_default();
    let lines = source.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Which words of others a file has.
fn trespasses<'w>(name: &str, source: &str, boundaries: &[(&str, &[&'w str])]) -> Vec<&'w str> {
    let code = code(source);
    let others = boundaries.iter().filter(|(owner, _)| *owner != name);
    others.flat_map(|(_, words)| words.iter().copied()).filter(|word| code.contains(word)).collect()
}

fn walk(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            found.push((name, fs::read_to_string(&path).expect("a source")));
        }
    }
}

#[test]
fn every_word_is_in_its_file() {
    let mut sources = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut sources);
    assert!(sources.len() > 15, "the sources were found");
    for (name, source) in &sources {
        let found = trespasses(name, source, BOUNDARIES);
        assert!(found.is_empty(), "{name} has {}", found.join(", "));
    }
    for (owner, words) in BOUNDARIES {
        let (_, source) = sources.iter().find(|(name, _)| name == owner).expect("the owner");
        assert!(words.iter().any(|word| code(source).contains(word)), "{owner} has nothing to own");
    }
}

#[test]
fn a_trespass_is_found() {
    let source = "//! Not hyper.\nfn f() {\n    hyper::f(); // tokio::time\n}\n";
    assert_eq!(trespasses("a.rs", source, BOUNDARIES), ["hyper"]);
    assert_eq!(trespasses("http.rs", source, BOUNDARIES), [""; 0]);
    let tested = "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    use tokio::time;\n}\n";
    assert_eq!(trespasses("a.rs", tested, BOUNDARIES), [""; 0]);
    let late = "fn f() -> SystemTime {\n    SystemTime::now()\n}\n";
    assert_eq!(trespasses("a.rs", late, BOUNDARIES), ["SystemTime::now"]);
}
