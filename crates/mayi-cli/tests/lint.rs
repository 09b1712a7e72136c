//! `mayi lint` as people, scripts and code scanning use it.

mod common;

use std::fs;
use std::path::Path;

use common::{Run, mayi};
use serde_json::Value;

const FILE: &str = "useragent: *\r\nDisallow /a # why\r\nDisallow: private/\r\nAllow: /bbbb*\r\n";

fn lint(words: &[&str], stdin: &str) -> Run {
    mayi(&[&["lint"], words].concat(), stdin.as_bytes())
}

fn json_lines(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn text_shows_the_line_and_what_to_do() {
    let run = lint(&["--select", "style", "-"], FILE);
    assert_eq!(run.status, Some(1));
    for part in [
        "standard input:2:1: warning[S001 missing-colon]: there is no colon after `Disallow`",
        "    2 | Disallow /a # why\n      | ^^^^^^^^\n",
        "      = fix: write a colon after `Disallow`",
        "standard input:3:11: error[P001 missing-slash]",
        "      = suggestion: write `/private/`",
        "standard input: 1 error, 2 warnings, 1 note; --fix removes 3",
    ] {
        assert!(run.stdout.contains(part), "{part} is not in:\n{}", run.stdout);
    }
    assert!(!run.stdout.contains('\u{1b}'));
    let run = lint(&["-"], FILE);
    assert!(
        run.stdout.contains("standard input: 1 error, 2 warnings; --fix removes 2"),
        "{}",
        run.stdout
    );
}

/// One cause in many places is one finding, in every format.
#[test]
fn what_is_repeated_is_counted() {
    let file = format!("User-agent: *\n{}Disallow: b/\nDisallow: c/\n", "Disallow: a/\n".repeat(20));
    let run = lint(&["-"], &file);
    let more = "      = and 21 more: lines 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 …\n";
    assert!(run.stdout.contains(more), "{}", run.stdout);
    assert!(run.stdout.ends_with("standard input: 22 errors\n"), "{}", run.stdout);
    assert_eq!(run.stdout.matches("missing-slash").count(), 1, "{}", run.stdout);

    let run = lint(&["--format", "github", "-"], "User-agent: *\nDisallow: a\nDisallow: b\n");
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
    assert!(
        run.stdout.contains(" And 1 more: line 3. Fix: write `/a`, and the same in 1 other place.")
    );

    let run = lint(&["--format", "sarif", "-"], &file);
    let log: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert_eq!((results.len(), &results[0]["occurrenceCount"]), (1, &22.into()));
    let others = results[0]["relatedLocations"].as_array().expect("locations");
    assert_eq!((others.len(), &others[0]["message"]["text"]), (21, &"the same here".into()));

    let run = lint(&["--format", "json", "-"], &file);
    let found = &json_lines(&run)[0]["diagnostics"];
    assert_eq!((&found[0]["count"], found.as_array().map(Vec::len)), (&22.into(), Some(1)));
    assert_eq!(found[0]["lines"].as_array().map(Vec::len), Some(22));
}

#[test]
fn a_file_without_findings_is_clean() {
    let run = lint(&["-"], "User-agent: *\nDisallow: /a\n");
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), "standard input: nothing to report\n"));
}

#[test]
fn what_is_quoted_is_escaped() {
    let run = lint(&["-"], "User-agent: *\nDisallow: \u{1b}[31mx\u{202e}y\n");
    assert_eq!(run.status, Some(1));
    assert!(run.stdout.contains("\\u{1b}[31mx\\u{202e}y"), "{}", run.stdout);
    assert!(!run.stdout.contains('\u{1b}') && !run.stdout.contains('\u{202e}'));
}

#[test]
fn the_exit_status_follows_fail_on() {
    let file = "User-agent: *\nDisallow: /a*\n"; // a note
    for (words, expected) in [
        (&["--fail-on", "note"][..], 0),
        (&["--select", "style"], 0),
        (&["--select", "P006", "--fail-on", "note"], 1),
        (&["--select", "style", "--fail-on", "note"], 1),
        (&["--select", "style", "--fail-on", "error"], 0),
        (&["--select", "style", "--severity", "P006=error"], 1),
        (&["--select", "style", "--severity", "redundant-wildcard=error", "--fail-on", "never"], 0),
        (&["--select", "style", "--ignore", "p006", "--fail-on", "note"], 0),
        (&["--ignore", "style", "--select", "P006", "--fail-on", "note"], 1),
        // As these options were called once.
        (&["--disable", "p006", "--enable", "P006", "--fail-on", "note"], 1),
    ] {
        let run = lint(&[words, &["-"]].concat(), file);
        assert_eq!(run.status, Some(expected), "{words:?}: {}", run.stderr);
    }
    for (words, part) in [
        (&["--ignore", "missing-colom", "-"][..], "did you mean `missing-colon`?"),
        (&["--select", "styles", "-"], "did you mean `style`?"),
        (&["--severity", "S001=bad", "-"], "is not a severity: give note, warning or error"),
        (&["--explain", "S999"], "no lint is called `S999`"),
        (&["/no/such/file"], "can't be read"),
        (
            &["--offline", "--store", "memory", "https://example.com/a"],
            "offline: there is no cached copy",
        ),
        (&["--page-url", "nonsense", "-"], "has no scheme"),
        (&["--agent", "a b", "-"], "is not a product token"),
    ] {
        let run = lint(words, file);
        assert_eq!(run.status, Some(2), "{words:?}");
        assert!(run.stderr.contains(part), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn json_has_an_object_a_file() {
    let run = lint(&["--format", "json", "-"], FILE);
    let report = &json_lines(&run)[0];
    assert_eq!(report["file"], "standard input");
    assert_eq!(report["totals"]["S001"], 1);
    let found = &report["diagnostics"][1];
    assert_eq!((&found["code"], &found["severity"]), (&"S001".into(), &"warning".into()));
    assert_eq!(found["place"]["line"], 2);
    assert_eq!(found["fix"]["safe"], true);
    assert_eq!(found["fix"]["edits"][0]["replacement"], ":");
    assert_eq!(found["clauses"][0], "WILD-2");
}

/// The types of `serde-sarif` are made from the schema of SARIF 2.1.0: what does not fit into them is an
/// error, and a member that they do not have would be lost on the way back.
#[test]
fn sarif_fits_its_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a b%.robots.txt");
    fs::write(
        &path,
        "\u{feff}Disallow: /a\nUser-agent: *\nDisallow: x\u{e9}\nDisallow: /a\nAllow: /a\n",
    )
    .expect("a file");
    let run = lint(&["--format", "sarif", &folder.path().to_string_lossy(), "-"], FILE);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    let log: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let typed: serde_sarif::sarif::Sarif =
        serde_json::from_value(log.clone()).expect("it fits the types of the schema");
    assert_eq!(without_nulls(serde_json::to_value(&typed).expect("JSON")), log);

    let results = log["runs"][0]["results"].as_array().expect("results");
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
    assert!(results.len() >= 6, "{results:?}");
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(region["startColumn"].as_u64() <= region["endColumn"].as_u64(), "{result}");
    }
    let uri = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert!(uri.as_str().is_some_and(|uri| uri.ends_with("/a%20b%25.robots.txt")), "{uri}");
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name, without_nulls(value)))
                .collect(),
        ),
        Value::Array(values) => values.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

#[test]
fn github_gets_a_command_a_diagnostic() {
    let run = lint(&["--format", "github", "--select", "style", "-"], FILE);
    let lines: Vec<_> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(
        lines[1].starts_with(
            "::warning file=standard input,line=2,col=1,endColumn=9,title=S001 missing-colon::There is no colon"
        ),
        "{}",
        lines[1]
    );
}

#[test]
fn fixes_are_shown_and_applied() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("robots.txt");
    let name = path.to_string_lossy().into_owned();
    fs::write(&path, FILE).expect("a file");

    let run = lint(&["--diff", &name], "");
    assert_eq!(run.status, Some(1));
    assert!(run.stdout.contains("-Disallow /a # why\r\n"), "{}", run.stdout);
    assert!(run.stdout.contains("+Disallow: /a # why\r\n"), "{}", run.stdout);
    assert_eq!(fs::read_to_string(&path).expect("the file"), FILE, "nothing is written without --fix");

    let run = lint(&["--fix", "--select", "style", &name], "");
    assert_eq!(run.status, Some(1), "the pattern without a slash is still there");
    let fixed = "User-agent: *\r\nDisallow: /a # why\r\nDisallow: private/\r\nAllow: /bbbb\r\n";
    assert_eq!(fs::read_to_string(&path).expect("the file"), fixed);
    assert!(!run.stdout.contains("S001"), "{}", run.stdout);
    assert_eq!(
        fs::read_dir(folder.path()).expect("the folder").count(),
        1,
        "nothing is left beside it"
    );

    let run = lint(&["--fix", "-"], FILE);
    let fixed = fixed.replace("/bbbb", "/bbbb*");
    assert_eq!(
        run.stdout, fixed,
        "of standard input the fixed file is printed, and what is selected is fixed"
    );
}

#[test]
fn configuration_is_found_above_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let below = folder.path().join("site/public");
    fs::create_dir_all(&below).expect("a folder");
    let write = |path: &Path, text: &str| fs::write(path, text).expect("a file");
    let robots = below.join("robots.txt");
    let name = robots.to_string_lossy().into_owned();
    write(&robots, "User-agent: *\nDisallow: /a*\nDisallow /b\n");
    let configuration = folder.path().join("mayi.toml");

    write(
        &configuration,
        "[lint]\nselect = [\"style\"]\nignore = [\"S001\"]\nseverity = { P006 = \"error\" }\nagents = [\"Googlebot\"]\n",
    );
    let run = lint(&["--format", "json", &name], "");
    let found = &json_lines(&run)[0]["diagnostics"];
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert_eq!((found.as_array().map(Vec::len), &found[0]["severity"]), (Some(1), &"error".into()));
    let run = lint(&["--fail-on", "never", "--select", "S001", "--format", "json", &name], "");
    assert_eq!(json_lines(&run)[0]["totals"]["S001"], 1, "words go before it");
    assert_eq!(run.status, Some(0));

    write(&configuration, "[lint]\nselct = []\n");
    let run = lint(&[&name], "");
    assert_eq!(run.status, Some(2));
    assert!(
        run.stderr.contains("line 2: unknown field `selct`")
            && run.stderr.contains("did you mean `select`?"),
        "{}",
        run.stderr
    );
    let other = folder.path().join("other.toml");
    write(&other, "[lint]\nfail-on = \"never\"\n");
    let run = lint(&["--config", &other.to_string_lossy(), &name], "");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
}

#[test]
fn folders_are_looked_through_and_summed_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    for number in 0..40 {
        put(&format!("{number:02}/robots.txt"), "User-agent: *\nDisallow /a\n");
    }
    put("clean/www.robots.txt", "User-agent: *\nDisallow: /a\n");
    put("clean/readme.txt", "not for crawlers\n");
    put(".hidden/robots.txt", "x\n");
    let name = folder.path().to_string_lossy().into_owned();

    let run = lint(&["--summary", &name], "");
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert!(
        run.stdout.contains("S001  missing-colon                  warning        40      40\n"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.ends_with("41 files, 1 with nothing to report\n"), "{}", run.stdout);

    let run = lint(&["--format", "json", "--jobs", "3", "--every-file", &name], "");
    let files: Vec<String> = json_lines(&run).iter().map(|line| line["file"].to_string()).collect();
    assert_eq!(files.len(), 42, "the other text too, and nothing that is hidden");
    assert!(files.is_sorted(), "in order, whoever is done first");
    let run = lint(&["--summary", &name, "/no/such/file"], "");
    assert_eq!(run.status, Some(2), "what can't be read keeps nothing from its answer");
    assert!(run.stdout.contains("41 files"), "{}", run.stdout);
}

#[test]
fn a_page_is_looked_at_together_with_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let html = folder.path().join("page.html");
    fs::write(&html, "<meta name=robots content=noindex>").expect("a file");
    let words = ["--page-url", "https://example.com/a/x", "--html", &html.to_string_lossy(), "-"];
    let run = lint(&words, "User-agent: *\nDisallow: /a/\n");
    assert_eq!(run.status, Some(1));
    assert!(run.stdout.contains("2:11: error[H001 hidden-noindex]"), "{}", run.stdout);
}

#[test]
fn lints_are_listed_and_explained() {
    let run = lint(&["--list"], "");
    assert_eq!(run.status, Some(0));
    assert!(
        run.stdout.lines().count() > 50 && run.stdout.contains("S001 missing-colon"),
        "{}",
        run.stdout
    );
    let (by_code, by_name) =
        (lint(&["--explain", "s001"], ""), lint(&["--explain", "missing-colon"], ""));
    assert_eq!(by_code.stdout, by_name.stdout);
    assert!(
        by_code.stdout.starts_with("# S001 missing-colon\n") && by_code.stdout.contains("## Example")
    );
}

/// How much is shown must not say whether a build fails.
#[test]
fn the_exit_status_does_not_depend_on_what_is_shown() {
    let file = format!("User-agent: Example Bot\n{}", "Disallow: /aaa*\n".repeat(12));
    for most in ["0", "1", "100"] {
        let run = lint(&["--most", most, "--select", "style", "-"], &file);
        assert_eq!(run.status, Some(1), "{most}: {}", run.stdout);
        let counts = "standard input: 1 warning, 23 notes; --fix removes ";
        assert!(run.stdout.contains(counts), "{most}: {}", run.stdout);
    }
    let run = lint(&["--summary", "--severity", "G007=error", "-"], &file);
    assert!(run.stdout.contains("crawler-name                   error"), "{}", run.stdout);
}

/// What a terminal would take as a command is a part of the file.
#[test]
fn a_fixed_file_is_printed_octet_by_octet() {
    let run = lint(&["--fix", "-"], "User-agent: *\nDisallow /a\u{1b}[31mb\u{7}\u{b}c\0d\n");
    assert_eq!(run.stdout, "User-agent: *\nDisallow: /a\u{1b}[31mb\u{7}\u{b}c\0d\n");
}

#[test]
fn json_has_every_character_of_the_file() {
    let run = lint(&["--format", "json", "-"], "User-agent: *\nDisallow: a\u{7f}\u{1b}[31mb\n");
    let edit = &json_lines(&run)[0]["diagnostics"][0]["fix"]["edits"][0];
    assert_eq!(edit["replacement"], "/a\u{7f}\u{1b}[31mb");
}

#[test]
fn a_file_that_is_read_only_is_not_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("robots.txt");
    fs::write(&path, "User-agent: *\nDisallow /a\n").expect("a file");
    let mut permissions = fs::metadata(&path).expect("a file").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).expect("they can be set");
    let run = lint(&["--fix", path.to_str().expect("text")], "");
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("read-only"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(&path).expect("a file"), "User-agent: *\nDisallow /a\n");
}

/// `--fix` leaves a file alone that had to be decoded, and does not say that it would not.
#[test]
fn no_fix_is_announced_that_is_not_made() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let octets: Vec<u8> =
        "\u{feff}User-agent: *\nDisallow /a\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(file.path(), octets).expect("it is written");
    let run = lint(&[file.path().to_str().expect("text")], "");
    assert!(run.stdout.contains("S001") && !run.stdout.contains("--fix removes"), "{}", run.stdout);
}

#[test]
fn a_folder_without_files_is_no_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("text");
    let run = lint(&[path], "");
    assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("--every-file accepts any name"), "{}", run.stderr);
    fs::write(folder.path().join("a\tb.txt"), "User-agent: *\nDisallow: /a\n").expect("a file");
    let run = lint(&["--every-file", "--format", "json", path], "");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let file = json_lines(&run)[0]["file"].as_str().expect("a name").to_owned();
    assert!(Path::new(&file).exists(), "{file:?}");
}

/// What a program reads is whole: it is people whom too much would not help.
#[test]
fn programs_get_every_diagnostic() {
    let file = format!("User-agent: *\n{}", unknown_records(30));
    let run = lint(&["--format", "json", "-"], &file);
    let count = |found: &Value| found.as_array().map(Vec::len);
    assert_eq!(count(&json_lines(&run)[0]["diagnostics"]), Some(30));
    let run = lint(&["--format", "json", "--most", "3", "-"], &file);
    assert_eq!(count(&json_lines(&run)[0]["diagnostics"]), Some(3));
    let run = lint(&["--format", "sarif", "-"], &file);
    let log: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(count(&log["runs"][0]["results"]), Some(30));
    let run = lint(&["-"], &file);
    assert!(run.stdout.contains("S003: 20 more (--most shows more)"), "{}", run.stdout);
}

/// As many records with names that nobody knows, all of them different.
fn unknown_records(count: usize) -> String {
    let lines: Vec<_> = (0..count).map(|number| format!("x{number}: y\n")).collect();
    lines.concat()
}

/// A list of findings has a limit, which is said in every format. What is counted has none, nor has what is fixed.
#[test]
fn what_a_list_leaves_out_is_said_in_every_format() {
    let file = format!("User-agent: *\nDisallow: /\n{}", unknown_records(1500));
    let said = "and 500 more places left out";
    let run = lint(&["--most", "9999", "-"], &file);
    assert!(run.stdout.contains(&format!("standard input: {said}\n")), "{}", run.stdout);
    assert!(run.stdout.ends_with("standard input: 1500 notes\n"));
    let run = lint(&["--format", "github", "--most", "9999", "-"], &file);
    assert!(run.stdout.contains(&format!("title=mayi lint::{said}\n")), "{}", run.stdout);
    assert_eq!(run.stdout.lines().count(), 1001);

    let run = lint(&["--format", "json", "-"], &file);
    let report = &json_lines(&run)[0];
    assert_eq!(report["diagnostics"].as_array().map(Vec::len), Some(1000));
    assert_eq!((&report["left_out"], &report["severities"]["note"]), (&500.into(), &1500.into()));
    let run = lint(&["--format", "sarif", "-"], &file);
    let log: serde_sarif::sarif::Sarif = serde_json::from_str(&run.stdout).expect("SARIF");
    let invocation = &log.runs[0].invocations.as_ref().expect("an invocation")[0];
    let notification = &invocation.tool_execution_notifications.as_ref().expect("a notification")[0];
    assert_eq!(notification.message.text.as_deref(), Some(said));

    let fixable = format!("User-agent: *\nDisallow: /\n{}", "x\n".repeat(1500));
    let run = lint(&["--fix", "-"], &fixable);
    assert_eq!(run.stdout.matches("# x\n").count(), 1500);
    // What is left out counts for how the command ends.
    let run = lint(&["--most", "0", "--fail-on", "note", "-"], &file);
    assert_eq!(run.status, Some(1));
}

#[test]
fn the_summary_is_there_for_programs_too() {
    let run = lint(&["--summary", "--format", "json", "-"], FILE);
    let summary = &json_lines(&run)[0];
    assert_eq!((&summary["files"], &summary["clean"]), (&1.into(), &0.into()));
    let of_lint = &summary["lints"]["S001"];
    assert_eq!((&of_lint["findings"], &of_lint["severity"]), (&1.into(), &"warning".into()));
    let run = lint(&["--summary", "--format", "sarif", "-"], FILE);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("--summary goes with"), "{}", run.stderr);
}

/// Where the fixed file goes to standard output, the difference does not.
#[test]
fn standard_input_is_fixed_and_the_difference_told_apart() {
    let run = lint(&["--fix", "--diff", "-"], "User-agent: *\nDisallow /a\n");
    assert_eq!(run.stdout, "User-agent: *\nDisallow: /a\n");
    assert!(run.stderr.contains("+Disallow: /a\n"), "{}", run.stderr);
}
