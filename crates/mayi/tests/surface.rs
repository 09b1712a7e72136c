//! What the libraries offer, in files that a change has to touch: `public-api.txt` beside each manifest.
//!
//! The lists are made from the sources. That is enough because nothing is `pub` that can't be reached (the lint
//! `unreachable_pub`). What is derived or implemented for a public type is listed too, and which types may grow.

#[path = "laws/sources.rs"]
mod sources;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use sources::{code_of, sources};

/// The lists say what the sources say. `MAYI_WRITE_DOCS=1` writes them again.
#[test]
fn what_is_public_is_listed() {
    for library in ["mayi", "mayi-audit", "mayi-cli", "mayi-fetch", "mayi-server", "mayi-tables"] {
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(library);
        let (mut surface, mut traits) = (BTreeSet::new(), Traits::default());
        for path in sources(&package.join("src")) {
            let place =
                path.strip_prefix(package.join("src")).expect("it is below it").with_extension("");
            let module: Vec<_> = place.iter().map(|part| part.to_string_lossy()).collect();
            let module = module.join("::");
            let module = if module == "lib" { library } else { module.trim_end_matches("::mod") };
            let code = code_of(&fs::read_to_string(&path).expect("a source can be read"));
            list(&code, module, &mut surface);
            traits.read(&code, module);
        }
        assert!(!surface.is_empty(), "{library} offers something");
        let implemented: Vec<_> = traits.of_public_types(&surface).collect();
        surface.extend(implemented);
        let unlisted: Vec<_> = exported(&surface).filter(|name| !is_listed(name, &surface)).collect();
        assert!(unlisted.is_empty(), "{library} exports what is not listed: {unlisted:?}");
        let mut text = format!(
            "What {library} offers, made from its sources by the tests; do not edit it here.\n\
             `MAYI_WRITE_DOCS=1 cargo test -p mayi --test surface` writes it again.\n\n"
        );
        text.extend(surface.iter().flat_map(|item| [item, "\n"]));
        let file = package.join("public-api.txt");
        if std::env::var_os("MAYI_WRITE_DOCS").is_some() {
            fs::write(&file, &text).expect("it can be written");
        }
        let written = fs::read_to_string(&file).unwrap_or_default();
        let more: Vec<_> = text.lines().filter(|line| !written.lines().any(|it| it == *line)).collect();
        let less: Vec<_> = written.lines().filter(|line| !text.lines().any(|it| it == *line)).collect();
        assert!(
            written == text,
            "{library} offers something else than public-api.txt says: {more:#?} instead of {less:#?}. If that is \
             meant, run the tests with MAYI_WRITE_DOCS=1, and say it in CHANGELOG.md"
        );
    }
}

/// The names that are exported from another place than their own: all that a missing list would not show.
fn exported(surface: &BTreeSet<String>) -> impl Iterator<Item = &str> {
    let uses = surface.iter().filter_map(|item| item.split_once(": pub use "));
    uses.flat_map(|(_, path)| path.split(['{', '}', ',', ';'])).filter_map(|part| {
        let name = part.trim().split(" as ").next()?.rsplit("::").next()?.trim();
        Some(name).filter(|name| !name.is_empty())
    })
}

/// Whether an item of this name is declared, or it is a module.
fn is_listed(name: &str, surface: &BTreeSet<String>) -> bool {
    let words = ["struct", "enum", "trait", "fn", "const fn", "const", "static", "type", "mod"];
    let heads = words.map(|word| format!(": pub {word} {name}"));
    surface.iter().any(|item| {
        let rest = heads.iter().find_map(|head| item.split_once(head.as_str())).map(|(_, rest)| rest);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// Adds the public items of some code, each with the module or the type that it belongs to.
fn list(code: &str, owner: &str, into: &mut BTreeSet<String>) {
    for Statement { marks, head, body } in statements(code) {
        let name = |keyword: &str| {
            let rest = head.strip_prefix(keyword)?;
            rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
        };
        if let Some(implemented) = head.strip_prefix("impl").filter(|_| !head.contains(" for ")) {
            // Without the parameters of the implementation itself.
            let of = if implemented.starts_with('<') {
                implemented.find("> ").map_or(implemented, |end| &implemented[end + 2..])
            } else {
                implemented
            };
            list(body, &format!("{owner}::{}", of.trim()), into);
            continue;
        }
        if !head.starts_with("pub ") {
            continue;
        }
        let is_value = ["pub const ", "pub static "].iter().any(|it| head.starts_with(it));
        let shown = match head.split_once(" = ") {
            Some((shown, _)) if is_value && !head.contains(" fn ") => shown,
            _ => &head,
        };
        into.insert(format!("{owner}: {shown}{marks}"));
        if let Some(name) = name("pub enum ") {
            into.extend(parts(body).map(|variant| format!("{owner}::{name}: {variant}")));
        } else if let Some(name) = name("pub struct ") {
            let fields = parts(body).filter(|field| field.starts_with("pub "));
            into.extend(fields.map(|field| format!("{owner}::{name}: {field}")));
        } else if let Some(name) = name("pub trait ") {
            let methods = statements(body).into_iter().map(|method| method.head);
            into.extend(methods.map(|method| format!("{owner}::{name}: {method}")));
        } else if let Some(name) = name("pub mod ").filter(|_| !body.is_empty()) {
            list(body, &format!("{owner}::{name}"), into);
        }
    }
}

/// The traits that are implemented, with the module and the head of each, and those that are not public.
#[derive(Default)]
struct Traits {
    implemented: Vec<(String, String)>,
    private: BTreeSet<String>,
}

impl Traits {
    fn read(&mut self, code: &str, module: &str) {
        for Statement { head, body, .. } in statements(code) {
            let declared = ["trait ", "pub(crate) trait ", "pub(super) trait "];
            if let Some(rest) = declared.iter().find_map(|it| head.strip_prefix(it)) {
                self.private.extend(first_word(rest).map(str::to_owned));
            } else if head.starts_with("impl") && head.contains(" for ") {
                self.implemented.push((module.to_owned(), head));
            } else if head.contains("mod ") {
                self.read(body, module);
            }
        }
    }

    /// Those of types that are listed, by traits that everybody can name.
    fn of_public_types<'a>(&'a self, surface: &BTreeSet<String>) -> impl Iterator<Item = String> + 'a {
        let types = surface.iter().filter_map(|item| {
            let (_, head) = item.split_once(": pub ")?;
            first_word(head.strip_prefix("struct ").or_else(|| head.strip_prefix("enum "))?)
        });
        let types: BTreeSet<_> = types.map(str::to_owned).collect();
        self.implemented.iter().filter_map(move |(module, head)| {
            let (of, owner) = head.split_once(" for ")?;
            let of = of.rsplit("> ").next()?.trim_start_matches("impl ");
            let of = of.split('<').next()?.rsplit("::").next()?;
            let owner = owner.split(['<', ' ']).next()?.rsplit("::").next()?;
            let is_public = types.contains(owner) && !self.private.contains(of);
            is_public.then(|| format!("{module}: {head}"))
        })
    }
}

fn first_word(text: &str) -> Option<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|word| !word.is_empty())
}

/// A statement: what stands before its body or semicolon, in one line; what its attributes say that users depend on; its
/// body.
struct Statement<'c> {
    marks: String,
    head: String,
    body: &'c str,
}

fn statements(code: &str) -> Vec<Statement<'_>> {
    let mut all = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(next) = code[at..].find(['(', '[', '{', '}', ';']) {
        at += next;
        let is_use = || plain(&code[start..at]).trim_start_matches("pub ").starts_with("use ");
        let (body, end) = match &code[at..=at] {
            "{" if !is_use() => {
                let end = matching(code, at);
                (&code[at + 1..end], end)
            }
            ";" | "}" => ("", at),
            _ => {
                at = matching(code, at) + 1;
                continue;
            }
        };
        let (marks, head) = (marks(&code[start..at]), plain(&code[start..at]));
        all.push(Statement { marks, head, body });
        at = end + 1;
        start = at;
    }
    all.retain(|statement| !statement.head.is_empty());
    all
}

/// The parts of a body that commas part: fields and variants.
fn parts(body: &str) -> impl Iterator<Item = String> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    let mut angles = 0_u32;
    while let Some(next) = body[at..].find(['(', '[', '{', ',', '<', '>']) {
        at += next;
        match &body[at..=at] {
            "<" => angles += 1,
            ">" => angles = angles.saturating_sub(1),
            "," if angles == 0 => {
                parts.push(plain(&body[start..at]));
                start = at + 1;
            }
            "," => {}
            _ => at = matching(body, at),
        }
        at += 1;
    }
    parts.push(plain(&body[start..]));
    parts.into_iter().filter(|part| !part.is_empty())
}

/// Where the bracket ends that starts here.
fn matching(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, octet) in code.bytes().enumerate().skip(open) {
        match octet {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    code.len() - 1
}

/// Code in one line, without attributes.
fn plain(code: &str) -> String {
    in_one_line(split_attributes(code).1)
}

/// The attributes that users of an item depend on: what is derived, and that more may come.
fn marks(code: &str) -> String {
    let attributes = split_attributes(code).0.into_iter();
    let counts = |it: &&str| it.contains("derive(") || it.contains("non_exhaustive");
    let counting: Vec<_> = attributes.filter(counts).map(in_one_line).collect();
    if counting.is_empty() { String::new() } else { format!(" {}", counting.join(" ")) }
}

/// The attributes before some code, and the rest.
fn split_attributes(code: &str) -> (Vec<&str>, &str) {
    let (mut attributes, mut rest) = (Vec::new(), code.trim_start());
    while let Some(attribute) = rest.strip_prefix('#') {
        let open = rest.len() - attribute.len() + attribute.find('[').unwrap_or_default();
        let (attribute, behind) = rest.split_at(matching(rest, open) + 1);
        attributes.push(attribute);
        rest = behind.trim_start();
    }
    (attributes, rest)
}

fn in_one_line(code: &str) -> String {
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}
