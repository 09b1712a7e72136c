//! The Rust files of a package, for tests over their text.

use std::fs;
use std::path::{Path, PathBuf};

/// Every Rust file below a folder.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of sources");
    let paths = entries.map(|entry| entry.expect("an entry of it").path());
    paths
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// The code of a file as it is compiled into the product: without its tests, which stand last in it, and with blanks
/// in the place of comments and of what stands in quotes.
#[allow(dead_code, reason = "not everybody who walks over sources looks into them")]
pub(crate) fn code_of(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => quoted_length(rest),
            'r' if rest.starts_with("r\"") || rest.starts_with("r#\"") => {
                let marks = rest[1..].find('"').expect("it was seen");
                let end = format!("\"{}", "#".repeat(marks));
                let start = marks + 2;
                rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len())
            }
            '\'' => character_length(rest),
            _ => 0,
        };
        if skipped == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.extend(rest[..skipped].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[skipped..];
        }
    }
    code
}

/// How many octets a character in quotes takes that starts here. None if it is a lifetime.
fn character_length(text: &str) -> usize {
    if let Some(escape) = text.strip_prefix("'\\") {
        // What is escaped may be a quote itself.
        return escape.char_indices().skip(1).find(|(_, c)| *c == '\'').map_or(0, |(at, _)| at + 3);
    }
    let mut characters = text[1..].char_indices();
    match (characters.next(), characters.next()) {
        (Some(_), Some((at, '\''))) => at + 2,
        _ => 0,
    }
}

/// How many octets a string takes that starts here, with its quotes.
fn quoted_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
