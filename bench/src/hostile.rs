//! Files that are large or hostile by construction, each with the one right answer to its questions.
//!
//! Half of them exist in the wild: one real file has 31,843 rules in a group. The others are what
//! somebody would serve to make a crawler stand still.

use std::fmt::Write as _;

pub struct Case {
    pub file: Vec<u8>,
    /// What is asked: a decision's time is the mean over these.
    pub urls: Vec<String>,
    /// What the right answer is to every one of them.
    pub allowed: bool,
}

/// A case that can be made.
pub struct Recipe {
    /// How the command line calls it.
    pub name: &'static str,
    /// What it is, for the tables.
    pub title: &'static str,
    pub make: fn() -> Case,
}

const fn recipe(name: &'static str, title: &'static str, make: fn() -> Case) -> Recipe {
    Recipe { name, title, make }
}

pub const RECIPES: &[Recipe] = &[
    recipe("literal-miss", "20,000 literal rules, miss", || many_rules("/d", "/", &MISSES, true)),
    recipe("literal-hit", "20,000 literal rules, the last one hit", || {
        many_rules("/d", "/", &["/d19999/page.html"], false)
    }),
    recipe("wildcard-miss", "20,000 × `/*dNNNNN/`, miss", || many_rules("/*d", "/", &MISSES, true)),
    recipe("anchored-miss", "20,000 × `/*dNNNNN$`, miss", || many_rules("/*d", "$", &MISSES, true)),
    recipe("tiny-groups", "40,000 groups of one rule", tiny_groups),
    recipe("stars-8-64", "`/` + `*a`×8 + `*b`, 64 × `a`", || stars(1, 8, 64)),
    recipe("stars-64-500", "`/` + `*a`×64 + `*b`, 500 × `a`", || stars(1, 64, 500)),
    recipe("stars-256-2000", "`/` + `*a`×256 + `*b`, 2,000 × `a`", || stars(1, 256, 2_000)),
    recipe("stars-1024-2000", "`/` + `*a`×1,024 + `*b`, 2,000 × `a`", || stars(1, 1_024, 2_000)),
    recipe("stars-4096-8000", "`/` + `*a`×4,096 + `*b`, 8,000 × `a`", || stars(1, 4_096, 8_000)),
    recipe("stars-file", "240 rules of 1,000 wildcards, 2,000 × `a`", || stars(240, 1_000, 2_000)),
    recipe("needles-file", "120 × `/*` + 4,000 × `a` + `b`, 8,000 × `a`", needles),
    recipe("long-line", "one line of 500 KiB", long_line),
    recipe("many-agents", "10,000 group-start lines, one rule", || agents_and_rules(10_000, 1)),
    recipe("square-500", "500 group-start lines, 500 rules", || agents_and_rules(500, 500)),
    recipe("square-2000", "2,000 group-start lines, 2,000 rules", || agents_and_rules(2_000, 2_000)),
    recipe("square-8000", "8,000 group-start lines, 8,000 rules", || agents_and_rules(8_000, 8_000)),
];

/// Paths that no rule of the large groups matches; half of them share a good deal with some rule.
const MISSES: [&str; 8] = [
    "/",
    "/articles/2019/08/a-rather-long-title-with-many-words.html",
    "/search?q=robots&page=2",
    "/images/logo.png",
    "/d1234/page.html",
    "/d12345-archive/page.html",
    "/catalogue/d1999/d1998/d1997.html",
    "/e19999/d19999x?from=d00001.",
];

pub fn find(name: &str) -> Option<&'static Recipe> {
    RECIPES.iter().find(|recipe| recipe.name == name)
}

/// A file that is neither large nor hostile, with something of everything.
pub fn harmless() -> Case {
    let file = "User-agent: *\nDisallow: /a/\nAllow: /*/b/*c$\nDisallow: /%7e\n";
    case(file.to_owned(), &["/a/", "/b/c?d=e", "/~"], false)
}

fn case(file: String, paths: &[&str], allowed: bool) -> Case {
    let urls = paths.iter().map(|path| format!("https://example.com{path}")).collect();
    Case { file: file.into_bytes(), urls, allowed }
}

/// 20,000 rules in one group, each with a number of its own.
fn many_rules(before: &str, behind: &str, paths: &[&str], allowed: bool) -> Case {
    let mut file = String::from("User-agent: *\n");
    for number in 0..20_000 {
        let _ = writeln!(file, "Disallow: {before}{number:05}{behind}");
    }
    case(file, paths, allowed)
}

/// 40,000 groups that name somebody else, behind one for everybody.
fn tiny_groups() -> Case {
    let mut file = String::from("User-agent: *\nDisallow: /private/\n");
    for number in 0..40_000 {
        let _ = writeln!(file, "User-agent: bot{}\nDisallow: /", letters(number));
    }
    case(file, &["/private/x", "/private/"], false)
}

/// Rules that a matcher which tries again and again never comes to the end of.
fn stars(rules: usize, wildcards: usize, length: usize) -> Case {
    let mut file = String::from("User-agent: *\n");
    for rule in 0..rules {
        // Each rule ends differently, so that none can be left out as a copy of another.
        let _ = writeln!(file, "Disallow: /{}*b{rule}", "*a".repeat(wildcards));
    }
    case(file, &[&format!("/{}", "a".repeat(length))], true)
}

/// Rules with a long piece that nearly is everywhere.
fn needles() -> Case {
    let mut file = String::from("User-agent: *\n");
    for rule in 0..120 {
        let _ = writeln!(file, "Disallow: /*{}b{rule}", "a".repeat(4_000));
    }
    case(file, &[&format!("/{}", "a".repeat(8_000))], true)
}

fn long_line() -> Case {
    let start = "User-agent: *\nDisallow: /private/\nDisallow: /";
    let file = format!("{start}{}\n", "x".repeat(500 * 1024 - start.len() - 1));
    case(file, &["/private/x"], false)
}

/// One group with many group-start lines and many rules: a copy of the rules for each would be a
/// square.
fn agents_and_rules(agents: usize, rules: usize) -> Case {
    let mut file = String::new();
    for number in 0..agents - 1 {
        let _ = writeln!(file, "User-agent: bot{}", letters(number));
    }
    file.push_str("User-agent: *\n");
    for number in 0..rules {
        let _ = writeln!(file, "Disallow: /d{number:05}/");
    }
    case(file, &[&format!("/d{:05}/x", rules - 1)], false)
}

/// A number in letters only, which every engine reads as a product token.
fn letters(mut number: usize) -> String {
    let mut written = String::new();
    for _ in 0..4 {
        written.push(char::from(b'a' + (number % 26) as u8));
        number /= 26;
    }
    written
}
