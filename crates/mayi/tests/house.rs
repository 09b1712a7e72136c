//! How the house is built, checked over its sources: a module uses its own level and those below it, and no file but
//! `dialect.rs` knows a dialect by its name.

#[path = "laws/sources.rs"]
mod sources;

use std::fs;
use std::path::{Path, PathBuf};

use mayi::Dialect;
use sources::{code_of, sources};

/// A dialect is a value. Code that asks for one by its name has to be found and changed when another one comes.
#[test]
fn only_dialect_rs_knows_the_names_of_dialects() {
    let mut found = Vec::new();
    for krate in ["mayi", "mayi-audit", "mayi-cli", "mayi-fetch", "mayi-server"] {
        for path in product_sources(&workspace().join("crates").join(krate).join("src")) {
            if path.ends_with("mayi/src/dialect.rs") {
                continue;
            }
            let source = fs::read_to_string(&path).expect("a source can be read");
            let code = code_of(&source).to_ascii_lowercase();
            for name in Dialect::ALL.iter().map(Dialect::name) {
                let identifier = name.replace('-', "_");
                let by_text = [format!("named(\"{name}\")"), format!("default_value = \"{name}\"")];
                if code.contains(&identifier) || by_text.iter().any(|text| source.contains(text)) {
                    found.push(format!("{} knows {name}", path.display()));
                }
            }
        }
    }
    assert!(found.is_empty(), "ask for a property of the dialect, or for those that files meet: {found:#?}");
}

/// The files of a package that are not for its tests alone.
fn product_sources(folder: &Path) -> Vec<PathBuf> {
    let all = sources(folder);
    assert!(all.len() > 5, "the sources were found");
    let is_test =
        |path: &PathBuf| path.ends_with("corpus_test.rs") || path.ends_with("registry/making.rs");
    all.into_iter().filter(|path| !is_test(path)).collect()
}

fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
