//! How the house is built, checked over its sources: a module uses its own level and those below it, and no file but
//! `dialect.rs` knows a dialect by its name.

#[path = "laws/sources.rs"]
mod sources;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mayi::Dialect;
use sources::{code_of, sources};

/// A dialect is a value. Code that asks for one by its name has to be found and changed when another one comes.
#[test]
fn only_dialect_rs_knows_the_names_of_dialects() {
    let mut found = Vec::new();
    for krate in ["mayi", "mayi-audit", "mayi-cli", "mayi-fetch", "mayi-server", "mayi-tables"] {
        for path in product_sources(&workspace().join("crates").join(krate).join("src")) {
            if path.ends_with("mayi/src/dialect.rs") {
                continue;
            }
            let source = fs::read_to_string(&path).expect("a source can be read");
            let code = code_of(&source).to_ascii_lowercase();
            for name in Dialect::ALL.iter().map(Dialect::name) {
                let identifier = name.replace('-', "_");
                let by_text = ["named(", "find(", "== ", "!= ", "default_value = "];
                let by_text = by_text.map(|before| format!("{before}\"{name}\""));
                if code.contains(&identifier) || by_text.iter().any(|text| source.contains(text)) {
                    found.push(format!("{} knows {name}", path.display()));
                }
            }
        }
    }
    assert!(
        found.is_empty(),
        "ask for a property of the dialect, or for those that files meet: {found:#?}"
    );
}

/// A name that means different things in two crates has to be looked up each time. The lists of what the libraries offer
/// have every public type.
#[test]
fn no_two_public_types_have_one_name() {
    // What blocks has the name of what does not, in a module of its own, as in other clients.
    let twins = "blocking";
    let mut homes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for krate in ["mayi", "mayi-audit", "mayi-fetch", "mayi-server", "mayi-tables"] {
        let list = workspace().join("crates").join(krate).join("public-api.txt");
        let list = fs::read_to_string(list).expect("the list of what a library offers");
        for (module, item) in list.lines().filter_map(|line| line.split_once(": pub ")) {
            let (kind, rest) = item.split_once(' ').unwrap_or((item, ""));
            let name = words(rest).next().unwrap_or_default();
            if ["struct", "enum", "trait", "type"].contains(&kind) && module != twins {
                homes.entry(name.to_owned()).or_default().push(format!("{krate}::{module}"));
            }
        }
    }
    assert!(homes.len() > 200, "the lists are read: {}", homes.len());
    homes.retain(|_, homes| homes.len() > 1);
    assert!(homes.is_empty(), "give each its own name: {homes:#?}");
}

/// The picture in ARCHITECTURE.md is true: it has every module of the core once, and no module uses one that stands
/// higher.
#[test]
fn no_module_uses_a_higher_level() {
    let levels = levels();
    let src = workspace().join("crates/mayi/src");
    let root = fs::read_to_string(src.join("lib.rs")).expect("the root of the core");
    let exported = exported_by_module(&code_of(&root));
    let mut drawn: Vec<&str> = levels.keys().map(String::as_str).collect();
    let mut there: Vec<&str> = modules_of(&root).filter(|module| *module != "corpus_test").collect();
    drawn.sort_unstable();
    there.sort_unstable();
    assert_eq!(drawn, there, "the modules of the picture, and those of lib.rs");

    let mut upwards = Vec::new();
    for path in product_sources(&src).iter().filter(|path| !path.ends_with("mayi/src/lib.rs")) {
        let place = path.strip_prefix(&src).expect("it is below it");
        let module = place.iter().next().and_then(|part| part.to_str()).expect("a name");
        let module = module.trim_end_matches(".rs");
        let level = levels[module];
        let code = code_of(&fs::read_to_string(path).expect("a source can be read"));
        for name in names_at_root(&code, depth_of(place)) {
            let used = exported.get(name).map_or(name, String::as_str);
            if levels.get(used).is_some_and(|higher| *higher > level) {
                upwards.push(format!("{} is at level {level} and uses {used}", place.display()));
            }
        }
    }
    assert!(upwards.is_empty(), "what is used from below stands too high: {upwards:#?}");
}

/// The level of each module, as ARCHITECTURE.md draws them.
fn levels() -> BTreeMap<String, u8> {
    let page = fs::read_to_string(workspace().join("ARCHITECTURE.md")).expect("it is there");
    let core = page.split("┌").nth(1).and_then(|rest| rest.split('└').next()).expect("a picture");
    let mut levels = BTreeMap::new();
    let mut level = None;
    for row in core.lines().filter_map(|line| line.split('│').nth(1)) {
        let row = row.trim_start();
        let (number, row) = row.split_at(usize::from(row.starts_with(|c: char| c.is_ascii_digit())));
        level = number.parse().ok().or(level);
        // Two blanks part the names; what stands in brackets, or behind more blanks, explains one.
        let names = row.trim_start().split("      ").next().unwrap_or_default();
        for name in names.split("  ").filter_map(|name| name.split_whitespace().next()) {
            let level = level.expect("the first row has a number");
            assert_eq!(levels.insert(name.to_owned(), level), None, "{name} is drawn twice");
        }
    }
    levels
}

/// The modules that the root declares.
fn modules_of(root: &str) -> impl Iterator<Item = &str> {
    let lines = root.lines().map(|line| line.trim_start_matches("pub "));
    lines.filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
}

/// For each name that the root takes from a module for everybody, the module.
fn exported_by_module(root: &str) -> BTreeMap<String, String> {
    let uses = root.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next());
    let uses = uses.filter_map(|used| used.split_once("::"));
    let names = |names: &str, module: &str| -> Vec<_> {
        words(names).map(|name| (name.to_owned(), module.to_owned())).collect()
    };
    uses.flat_map(|(module, used)| names(used, module)).collect()
}

/// How many modules a file is below the root.
fn depth_of(place: &Path) -> usize {
    let parts = place.iter().count();
    if place.ends_with("mod.rs") { parts - 1 } else { parts }
}

/// The names that a file takes from the root of the crate: `crate::name`, `crate::{name, …}`, and behind as many
/// `super::` as lead there.
fn names_at_root(code: &str, depth: usize) -> Vec<&str> {
    let up = "super::".repeat(depth);
    let mut names = Vec::new();
    for way in ["crate::", up.as_str()] {
        for (at, _) in code.match_indices(way) {
            let before = &code[..at];
            // Who may see something is no use of it, and more ways up lead to a module on the way.
            if before.ends_with("pub(in ") || before.ends_with("super::") {
                continue;
            }
            let rest = &code[at + way.len()..];
            let end = if rest.starts_with('{') {
                let mut depth = 0_usize;
                rest.find(|c| {
                    depth = depth + usize::from(c == '{') - usize::from(c == '}');
                    depth == 0
                })
            } else {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_')
            };
            let end = end.unwrap_or(rest.len());
            names.extend(words(&rest[..end]));
        }
    }
    names
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// A program in the README comes with the dependencies that it needs, in versions that there are. That the programs
/// run is tested as documentation of `mayi-fetch`.
#[test]
fn programs_of_the_readme_have_their_dependencies() {
    let readme = fs::read_to_string(workspace().join("README.md")).expect("it is there");
    let fenced = |kind: &str| -> Vec<String> {
        let fence = format!("```{kind}\n");
        let parts = readme.split(&fence).skip(1);
        parts.filter_map(|part| Some(part.split("```").next()?.to_owned())).collect()
    };
    let (manifests, programs) = (fenced("toml"), fenced("rust"));
    assert_eq!((manifests.len(), programs.len()), (2, 2), "two programs, each with its dependencies");
    for (manifest, program) in manifests.iter().zip(&programs) {
        assert!(program.contains("fn main()"), "it is a whole program: {program}");
        let manifest: toml::Table = manifest.parse().expect("it is TOML");
        let listed = manifest["dependencies"].as_table().expect("a table");
        for (name, version) in listed {
            let version = version.as_str().expect("a version");
            assert!(env!("CARGO_PKG_VERSION").starts_with(version), "{name} {version} is there");
            assert!(workspace().join("crates").join(name).is_dir(), "{name} is there");
        }
        let used =
            ["mayi", "mayi_fetch", "tokio", "serde_json"].map(|name| (name, format!("{name}::")));
        let used = used.iter().filter(|(_, path)| program.contains(&format!(" {path}")));
        let used: Vec<_> = used.map(|(name, _)| name.replace('_', "-")).collect();
        assert!(used.iter().eq(listed.keys()), "{used:?} are used, {listed:?} are listed");
    }
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
