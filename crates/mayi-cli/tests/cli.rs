//! The command as people and scripts use it: what it prints, and how it ends.

mod common;
#[path = "common/endless.rs"]
mod endless;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use common::mayi;
use serde_json::Value;

const FILE: &str = "User-agent: *\nDisallow: /private/\nAllow: /private/press\n";

fn check(words: &[&str], stdin: &str) -> common::Run {
    let all = [&["check", "--robots", "-", "--agent", "ExampleBot"], words].concat();
    mayi(&all, stdin.as_bytes())
}

#[test]
fn check_says_what_decided_and_ends_accordingly() {
    let run = check(&["https://example.com/"], FILE);
    assert_eq!(run.status, Some(0));
    assert!(run.stdout.starts_with("allowed "), "{}", run.stdout);
    assert!(run.stdout.contains("no rule of this group matches"), "{}", run.stdout);

    let run = check(&["https://example.com/private/press", "https://example.com/private/x"], FILE);
    assert_eq!(run.status, Some(1));
    let lines: Vec<_> = run.stdout.lines().collect();
    assert!(lines[0].contains("standard input:3: Allow: /private/press"), "{}", lines[0]);
    assert!(lines[1].starts_with("disallowed  https://example.com/private/x"), "{}", lines[1]);
    assert!(!run.stdout.contains('\u{1b}'), "no colour where there is no terminal");
}

#[test]
fn a_wrong_url_does_not_keep_the_others_from_an_answer() {
    let run = check(&["nonsense", "https://example.com/private/x"], FILE);
    assert_eq!(run.status, Some(2));
    assert!(run.stdout.contains("disallowed"), "{}", run.stdout);
    assert!(run.stderr.contains("`nonsense` has no scheme"), "{}", run.stderr);

    let run = check(&["--json", "nonsense", "https://example.com/"], FILE);
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines[0]["error"]["code"], "invalid-url");
    assert_eq!(lines[1]["access"]["allowed"], true);
}

#[test]
fn what_the_caller_got_wrong_is_said() {
    for (words, part) in [
        (&["--agent", "Example Bot"][..], "is not a product token"),
        (&["--agent", "a", "--purpose", "x y"], "is not a purpose token"),
        (&["--agent", "a", "--app", "1"], "is not an application identifier"),
        (&["--agent", "a", "--user-agent", "b/1.0"], "does not have `a` in it"),
        (&["--agent", "a", "--max-octets", "10"], "at least 512000"),
        (&["--agent", "a", "--registry", "/no/such/file"], "can't be read"),
        (&["--agent", "a", "--urls", "-"], "can be only one of the inputs"),
    ] {
        let all = [&["check", "--robots", "-"], words, &["https://example.com/"]].concat();
        let run = mayi(&all, FILE.as_bytes());
        assert_eq!(run.status, Some(2), "{words:?}");
        assert!(run.stderr.contains(part), "{words:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{words:?}");
    }
    let run =
        mayi(&["check", "--robots", "/no/such/file", "--agent", "a", "https://example.com/"], b"");
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("`/no/such/file` can't be read"), "{}", run.stderr);
}

#[test]
fn urls_come_from_files_and_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(path("robots.txt"), FILE).expect("a file");
    std::fs::write(path("urls"), "https://example.com/\r\n\nhttps://example.com/private/\n")
        .expect("a file");
    let (robots, urls) = (path("robots.txt"), path("urls"));
    let from_file = mayi(&["check", "--robots", &robots, "--agent", "a", "--urls", &urls], b"");
    let input = b"https://example.com/\nhttps://example.com/private/\n";
    let from_input = mayi(&["check", "--robots", &robots, "--agent", "a", "-"], input);
    assert_eq!(from_file.status, Some(1));
    assert_eq!(from_file.stdout.lines().count(), 2);
    assert_eq!(from_file.stdout, from_input.stdout);
}

#[test]
fn explain_draws_the_line_and_escapes_what_is_not_text() {
    let file = b"User-agent: ExampleBot\nDisallow: /\x1b[31m\xff\n";
    let run = mayi(
        &["explain", "--robots", "-", "--agent", "ExampleBot", "https://example.com/%1b[31m%ff"],
        file,
    );
    assert_eq!(run.status, Some(1));
    for part in [
        ">     2 | Disallow: /\\u{1b}[31m\\xFF",
        "|           ^^^^",
        "compared as /%1B[31m%FF",
        "11 octets",
        "+ line 1: ExampleBot (product-token)",
        "REP-4, REP-11, REP-8",
    ] {
        assert!(run.stdout.contains(part), "{part} is not in:\n{}", run.stdout);
    }
    assert!(!run.stdout.contains('\u{1b}'));
}

#[test]
fn explain_shows_every_part() {
    let file = b"User-agent: *\nApp-Directives: /a/ examplesearch;widgets\nApp-Directives: examplesearch;widgets=?0\nContent-Usage: train-ai=n\n";
    let words = [
        "explain",
        "--robots",
        "-",
        "--agent",
        "a",
        "--app",
        "examplesearch",
        "https://example.com/a/b",
    ];
    let run = mayi(&words, file);
    for part in [
        "examplesearch: the groups of `*` are for it",
        "+ line 2: 3 octets  applies",
        "- line 3: 0 octets  loses to a longer one",
        "examplesearch widgets=true",
        "train disallowed (content-usage at line 4: disallowed)",
    ] {
        assert!(run.stdout.contains(part), "{part} is not in:\n{}", run.stdout);
    }
}

#[test]
fn decide_answers_in_order_and_in_place() {
    let good = |path: &str| {
        format!(
            r#"{{"url":"https://example.com{path}","agent":"a","robots":"User-agent: *\nDisallow: /x"}}"#
        )
    };
    let requests = [
        good("/x"),
        "{".to_owned(),
        String::new(),
        good("/y"),
        r#"{"url":"https://example.com/","agent":"a"}"#.to_owned(),
        r#"{"url":"https://example.com/","agent":"a","robots":"","bot":1}"#.to_owned(),
        good("/robots.txt"),
    ];
    let words = ["decide", "--offline", "--store", "memory"];
    let run = mayi(&words, requests.join("\n").as_bytes());
    assert_eq!(run.status, Some(0));
    let decisions: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(decisions.len(), 6, "a blank line has no answer");
    assert_eq!(decisions[0]["access"]["allowed"], false);
    assert_eq!(decisions[1]["error"]["code"], "invalid-json");
    assert_eq!(decisions[2]["access"]["allowed"], true);
    assert_eq!(decisions[3]["access"]["reason"], "unreachable", "nothing is kept, and nobody is asked");
    assert_eq!(decisions[4]["error"]["code"], "invalid-request");
    assert_eq!(decisions[5]["access"]["reason"], "robots-txt");
}

#[test]
fn decide_passes_over_a_byte_order_mark() {
    let request =
        r#"{"url":"https://example.com/x","agent":"a","robots":"User-agent: *\nDisallow: /x"}"#;
    let run = mayi(&["decide"], format!("\u{feff}{request}\n{request}\n\u{feff}\n").as_bytes());
    let lines: Vec<_> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", run.stdout);
    assert_eq!(lines[0], lines[1]);
    assert!(lines[0].contains(r#""allowed":false"#), "{}", lines[0]);
}

#[test]
fn decide_takes_words_for_what_requests_lack() {
    let robots =
        r"User-Agent-Purpose: EXAMPLE-PURPOSE-1\nDisallow: /\n\nUser-agent: *\nApp-Directives: x;y";
    let request = format!(r#"{{"url":"https://example.com/","agent":"a","robots":"{robots}"}}"#);
    let words = [
        "decide",
        "--purpose",
        "example-purpose-1",
        "--app",
        "x",
        "--user-agent",
        "a (EXAMPLE-PURPOSE-1)",
    ];
    let decision: Value = serde_json::from_str(&mayi(&words, request.as_bytes()).stdout).expect("JSON");
    assert_eq!(decision["access"]["group"]["by"], "purpose");
    assert_eq!(decision["directives"]["x"]["y"], true);
    let words = ["decide", "--user-agent", "b/1.0"];
    let decision: Value = serde_json::from_str(&mayi(&words, request.as_bytes()).stdout).expect("JSON");
    assert_eq!(decision["error"]["code"], "invalid-user-agent");
}

#[test]
fn a_request_that_is_too_long_gets_an_error_in_its_place() {
    let good = r#"{"url":"https://example.com/","agent":"a","robots":""}"#;
    let long = good.replace("example.com/", &format!("example.com/{}", "x".repeat(100)));
    let run = mayi(&["decide", "--max-line", "100"], format!("{good}\n{long}\n{good}\n").as_bytes());
    let codes: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["error"]["code"].clone())
        .collect();
    assert_eq!(codes, [Value::Null, Value::from("invalid-request"), Value::Null]);
}

#[test]
fn only_one_input_is_standard_input() {
    let words = ["check", "--robots", "-", "--html", "-", "--agent", "a", "https://example.com/"];
    let run = mayi(&words, b"");
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("can be only one of the inputs"), "{}", run.stderr);
    assert_eq!(mayi(&["decide", "--registry", "-"], b"").status, Some(2));
}

#[test]
fn a_message_that_quotes_a_file_is_escaped() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.toml").to_string_lossy().into_owned();
    let file = "[[category]]\nlabel = \"\\u001b]0;x\"\nname = \"a\"\ndescription = \"b\"\n";
    std::fs::write(&path, file).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_mayi"))
        .args(["registry", "check", &path])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .expect("the binary runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("\\u{1b}]0;x") && !message.contains('\u{1b}'), "{message}");
}

#[test]
fn decide_answers_each_request_before_the_next_is_there() {
    use std::io::{BufRead, BufReader};
    let mut child = Command::new(env!("CARGO_BIN_EXE_mayi"))
        .arg("decide")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut input = child.stdin.take().expect("standard input");
    let mut output = BufReader::new(child.stdout.take().expect("standard output"));
    for number in 0..5 {
        writeln!(input, r#"{{"url":"https://example.com/{number}","agent":"a","robots":""}}"#)
            .expect("it reads");
        let mut answer = String::new();
        output.read_line(&mut answer).expect("it answers");
        assert!(answer.contains(&format!("example.com/{number}")), "{answer}");
    }
    drop(input);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn page_says_what_holds_and_where_it_was_found() {
    let html =
        b"<!doctype html>\n<title>x</title>\n <meta name=robots content='noindex, frobnicate'>\n<p>";
    let words = [
        "page",
        "--agent",
        "ExampleBot",
        "--header",
        "X-Robots-Tag: otherbot: none, examplebot: max-snippet: 0",
        "--html",
        "-",
    ];
    let run = mayi(&words, html);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    for part in [
        "for ExampleBot",
        "index    disallowed",
        "snippet  disallowed",
        "follow   allowed",
        "noindex  do not index the page  HTML 3:2",
        "max-snippet: 0  show at most this many characters of the page  X-Robots-Tag, line 1, member 2",
        "frobnicate  HTML 3:2",
    ] {
        assert!(run.stdout.contains(part), "{part} is not in:\n{}", run.stdout);
    }

    let proxied =
        b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK\r\nX-Robots-Tag: noindex\r\n\r\n";
    assert!(mayi(&["page", "--response", "-"], proxied).stdout.contains("index    disallowed"));

    let response = b"HTTP/1.1 301 Moved\r\nX-Robots-Tag: noindex\r\n\r\nHTTP/2 200\r\nRobots-Tag: *;nosnippet,\r\n ExampleBot;nofollow\r\nCache-Control: max-age=60\r\n\r\n<meta name=robots content=notranslate>";
    let json = |words: &[&str]| -> Value {
        let all = [&["page", "--json", "--response", "-"], words].concat();
        serde_json::from_str(&mayi(&all, response).stdout).expect("JSON")
    };
    let report = json(&["--agent", "ExampleBot"]);
    assert_eq!(report["rules"], serde_json::json!({ "nofollow": true, "notranslate": true }));
    assert_eq!(report["fresh_seconds"], 60);
    assert_eq!(json(&["--agent", "ExampleBot", "--union"])["snippet"], false);
    assert_eq!(json(&[])["snippet"], false);
    assert_eq!(mayi(&["page", "--response", "-"], b"<html>").status, Some(2));
}

/// The exit status of a command whose output is closed before it writes.
fn status_with_closed_output(words: &[&str], stdin: &str) -> Option<i32> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mayi"))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("its input");
    input.write_all(stdin.as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.stderr.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.status.code()
}

#[test]
fn a_closed_output_keeps_the_exit_status() {
    assert_eq!(status_with_closed_output(&["registry", "list"], ""), Some(0));
    let check = |path: &str| {
        let url = format!("https://example.com{path}");
        // More than a buffer, so that the command writes before it has decided all of them.
        let mut words = vec!["check", "--json", "--robots", "-", "--agent", "a"];
        words.extend(std::iter::repeat_n("https://example.com/", 200));
        words.push(&url);
        status_with_closed_output(&words, FILE)
    };
    assert_eq!((check("/private/x"), check("/")), (Some(1), Some(0)));
    assert_eq!(status_with_closed_output(&["lint", "-"], "Disallow: /a\n"), Some(1));
    let file = "User-agent: *\nDisallowed: /a\n";
    assert_eq!(status_with_closed_output(&["compare", "-"], file), Some(1));
    assert_eq!(status_with_closed_output(&["fmt", "--check", "-"], "user-agent:a\n"), Some(1));
}

#[test]
fn a_list_without_an_end_ends_with_its_reader() {
    let folder = tempfile::tempdir().expect("a folder");
    let robots = folder.path().join("robots.txt").to_string_lossy().into_owned();
    std::fs::write(&robots, FILE).expect("a file");
    for command in ["check", "explain"] {
        let words = [command, "--robots", &robots, "--agent", "a", "--urls", "-"];
        let status = endless::status_of_endless_input(&words, "https://example.com/private/x\n");
        assert_eq!(status, Some(1), "{command}");
    }
}

#[test]
fn a_url_that_is_typed_needs_no_scheme() {
    let run = check(&["example.com/private/x", "localhost:8080/private/press"], FILE);
    assert_eq!(run.status, Some(1));
    assert!(run.stdout.starts_with("disallowed  https://example.com/private/x "), "{}", run.stdout);
    assert!(run.stdout.contains("allowed     https://localhost:8080/private/press"), "{}", run.stdout);
    let said = "example.com/private/x is read as https://example.com/private/x";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    for url in ["/private/x", "mailto:a@example.com", "nonsense", ""] {
        assert_eq!(check(&[url], FILE).status, Some(2), "{url}");
    }
}

#[test]
fn short_options_are_the_long_ones() {
    let long = ["check", "--robots", "-", "--agent", "a", "--json", "https://example.com/private/"];
    let short = ["check", "-r", "-", "-a", "a", "-j", "https://example.com/private/"];
    let (long, short) = (mayi(&long, FILE.as_bytes()), mayi(&short, FILE.as_bytes()));
    assert_eq!((short.status, &short.stdout), (Some(1), &long.stdout));
    assert!(short.stdout.contains("\"allowed\":false"), "{}", short.stdout);
}

/// The lines that a small terminal shows at once.
const SCREEN: usize = 42;

#[test]
fn the_short_help_of_every_command_fits_a_screen_and_has_examples() {
    let all = mayi(&["-h"], b"").stdout;
    let commands = all.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands: Vec<_> = commands
        .map_while(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    for command in commands {
        let short = mayi(&[command, "-h"], b"").stdout;
        assert!(short.lines().count() <= SCREEN, "{command}:\n{short}");
        let (long, help) = (mayi(&[command, "--help"], b""), mayi(&["help", command], b""));
        assert_eq!((help.status, help.stdout), (Some(0), long.stdout), "{command}");
        let examples = short.lines().skip_while(|line| *line != "Examples:");
        let examples = examples.filter(|line| line.starts_with("  ") && line.contains("mayi "));
        assert!(examples.count() >= 2, "{command}:\n{short}");
    }
}

#[test]
fn registries_are_listed_shown_and_checked() {
    let run = mayi(&["registry", "list", "categories"], b"");
    assert_eq!((run.status, run.stdout.lines().count()), (Some(0), 2));
    let run = mayi(&["registry", "show", "gptbot"], b"");
    assert!(run.stdout.contains("operator: OpenAI"), "{}", run.stdout);
    assert_eq!(mayi(&["registry", "show", "no-such-thing"], b"").status, Some(2));

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.toml").to_string_lossy().into_owned();
    let good = "[[application]]\nidentifier = \"mine\"\nproduct_token = \"Mine\"\nchange_controller = \"me\"\n\n[[directive]]\napplication = \"mine\"\nname = \"learn\"\ntype = \"Boolean\"\ndescription = \"x\"\ndocumentation = \"https://example.com/\"\nstatus = \"active\"\noverrides = { category = \"train-ai\", values = { \"?1\" = \"allowed\" } }\n";
    std::fs::write(&path, good).expect("a file");
    assert_eq!(mayi(&["registry", "check", &path], b"").status, Some(0));

    let file = b"User-agent: *\nContent-Usage: train-ai=n\nApp-Directives: mine;learn\n";
    let words = [
        "check",
        "--robots",
        "-",
        "--agent",
        "a",
        "--app",
        "mine",
        "--registry",
        &path,
        "--json",
        "https://example.com/",
    ];
    let report: Value = serde_json::from_str(&mayi(&words, file).stdout).expect("JSON");
    assert_eq!(report["usage"]["train-ai"], "allowed");

    for (from, to, message) in [
        ("\"Boolean\"", "\"Bool\"", ":9: `Bool` is not one of Boolean, Integer"),
        ("\"mine\"\nname", "\"other\"\nname", ":7: no application `other` is registered"),
        ("name = \"learn\"", "name = \"Learn\"", ":8: `Learn` is not a directive name"),
        ("\"?1\"", "\"yes\"", ":13: `yes` is not a value of the type Boolean"),
        ("status = \"active\"", "status = \"new\"", ":12: `new` is not one of active, deprecated"),
        ("\"Mine\"", "\"My Mine\"", ":3: `My Mine` is not a product token"),
        ("train-ai", "train", ":13: no usage category `train`; there are"),
        ("documentation = \"https://example.com/\"\n", "", "missing field `documentation`"),
        (
            "change_controller = \"me\"\n\n[[directive]]",
            "change_controller = \"me\"\n\n[[directive]]\nchange_controller = \"you\"",
            "only they may register",
        ),
        ("identifier", "identifer", ":2: unknown field `identifer`"),
    ] {
        assert!(good.contains(from), "{from}");
        std::fs::write(&path, good.replace(from, to)).expect("a file");
        let run = mayi(&["registry", "check", &path], b"");
        assert_eq!(run.status, Some(2), "{to}");
        assert!(run.stderr.contains(message), "{message} is not in: {}", run.stderr);
        assert!(run.stderr.contains("mine.toml:"), "{}", run.stderr);
    }
}

#[test]
fn completions_and_manual_pages_are_made() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = mayi(&["completions", shell], b"");
        assert!(run.status == Some(0) && run.stdout.contains("explain"), "{shell}");
    }
    assert!(mayi(&["man"], b"").stdout.contains(".TH mayi 1"));
    let folder = tempfile::tempdir().expect("a folder");
    let run = mayi(&["man", "--folder", &folder.path().to_string_lossy()], b"");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(folder.path().join("mayi-check.1").exists());
    assert!(mayi(&["--version"], b"").stdout.starts_with("mayi "));
}

/// Writes the help of a command, and of those below it, in the order in which it lists them.
fn write_help(words: &[&str], page: &mut String) {
    let run = mayi(&[words, &["--help"]].concat(), b"");
    assert_eq!(run.status, Some(0));
    let name = [&["mayi"], words].concat().join(" ");
    let help: Vec<_> = run.stdout.lines().map(str::trim_end).collect();
    let text = help.join("\n");
    writeln!(page, "\n## {name}\n\n```text\n{}\n```", text.trim())
        .expect("writing to memory does not fail");
    let listed = help.iter().skip_while(|line| **line != "Commands:").skip(1);
    for line in listed.take_while(|line| !line.is_empty()) {
        // What a long summary goes on with stands further to the right.
        let command = line.strip_prefix("  ").filter(|line| !line.starts_with(' '));
        let command = command.and_then(|line| line.split(' ').next()).filter(|name| *name != "help");
        if let Some(command) = command {
            write_help(&[words, &[command]].concat(), page);
        }
    }
}

/// `docs/cli.md` has the help of every command. To write it again, run the tests with
/// `MAYI_WRITE_DOCS=1`.
#[test]
fn the_help_is_as_documented() {
    let mut page = String::from(
        "# The command\n\nThe help of every command, as the command prints it. Made by the tests; do not edit it here.\n",
    );
    write_help(&[], &mut page);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    if std::env::var_os("MAYI_WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/cli.md is stale: run the tests with MAYI_WRITE_DOCS=1");
}

/// A flag that a command takes does something there.
#[test]
fn union_is_for_commands_that_read_pages() {
    for command in ["bulk", "compare", "diff", "fmt", "overview"] {
        let help = mayi(&[command, "--help"], b"").stdout;
        assert!(!help.contains("--union"), "{command}");
    }
    for command in ["check", "explain", "decide", "lint", "page"] {
        let help = mayi(&[command, "--help"], b"").stdout;
        assert!(help.contains("--union"), "{command}");
    }
}

#[test]
fn an_edit_is_written_shown_or_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("robots.txt").to_string_lossy().into_owned();
    let read = || std::fs::read_to_string(&path).expect("a file");
    let run = mayi(&["edit", &path, "--new", "--keep-out", "/cart/", "--refuse", "GPTBot"], b"");
    assert_eq!((run.status, &*run.stderr), (Some(0), ""), "{}", run.stdout);
    assert_eq!(read(), "User-agent: *\nDisallow: /cart/\n\nUser-agent: GPTBot\nDisallow: /\n");

    let words = ["edit", &path, "--allow", "GPTBot", "/press/", "--refuse", "*", "/drafts/"];
    let shown = mayi(&[&words[..], &["--diff"]].concat(), b"");
    assert_eq!(shown.status, Some(1));
    assert!(shown.stdout.contains("\n+Allow: /press/\n"), "{}", shown.stdout);
    assert!(!read().contains("press"), "nothing is written");
    let run = mayi(&words, b"");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("now may fetch /press/: GPTBot"), "{}", run.stdout);
    assert!(
        read().contains("Allow: /press/\n") && read().contains("Disallow: /drafts/\n"),
        "{}",
        read()
    );
    let again = mayi(&words, b"");
    assert!(again.stdout.starts_with("unchanged "), "{}", again.stdout);

    let words = ["--content-usage", "train=no", "--content-signal", "ai-train=no, search=yes"];
    let more = ["--refuse-purpose", "SHOPPING", "--sitemap", "https://example.com/s.xml"];
    let run = mayi(&[&["edit", &path][..], &words, &more].concat(), b"");
    assert_eq!((run.status, &*run.stderr), (Some(0), ""));
    assert!(run.stdout.contains("now says how pages may be used (Content-Usage)"), "{}", run.stdout);
    assert!(
        read().starts_with(
            "User-agent: *\nContent-Usage: train-ai=n\nContent-Signal: search=yes, ai-train=no\nDisallow: /cart/\n"
        ) && read().ends_with(
            "\nUser-Agent-Purpose: SHOPPING\nDisallow: /\n\nSitemap: https://example.com/s.xml\n"
        ),
        "{}",
        read()
    );

    let before = read();
    for (words, expected) in [
        (&["edit", &path][..], "say what to change"),
        (&["edit", &path, "--content-usage", "train"][..], "does not say yes or no"),
        (&["edit", &path, "--content-usage", "ai-input=no"][..], "a value for search or train"),
        (&["edit", &path, "--content-signal", "sell=no"][..], "`sell` is not a use"),
        (&["edit", &path, "--sitemap", "s.xml"][..], "give a whole URL"),
        (&["edit", &path, "--new"][..], "can't be written"),
        (&["edit", &path, "--refuse", "a b"][..], "`a b` is not a crawler"),
        (&["edit", &path, "--refuse", "A", "/#"][..], "write %23"),
    ] {
        let run = mayi(words, b"");
        assert_eq!(run.status, Some(2), "{words:?}");
        assert!(run.stderr.contains(expected), "{words:?}: {}", run.stderr);
    }
    let run = mayi(&["edit", "-", "--refuse", "A", "/p/"], b"User-agent: A\nAllow: /*.html$\n");
    assert_eq!((run.status, &*run.stdout), (Some(2), ""));
    assert!(run.stderr.contains("line 2 (`Allow: /*.html$`)"), "{}", run.stderr);
    assert_eq!(read(), before);
}

/// Common Crawl archives the web, and its archive is used to train models: who refuses training refuses it.
#[test]
fn refusing_training_refuses_the_archive_that_is_used_for_it() {
    let file = b"User-agent: *\nDisallow:\n";
    let run = mayi(&["edit", "-", "--refuse", "training"], file);
    assert!(run.stdout.contains("User-agent: CCBot\n"), "{}", run.stdout);
    let run = mayi(&["edit", "-", "--refuse", "training", "--allow", "archive"], file);
    assert!(run.stdout.contains("User-agent: CCBot\n"), "a refusal counts: {}", run.stdout);
    let run = mayi(&["edit", "-", "--refuse", "training", "--allow", "CCBot"], file);
    assert!(!run.stdout.contains("CCBot\nDisallow: /\n"), "a name counts: {}", run.stdout);
    let check =
        mayi(&["check", "-r", "-", "-a", "CCBot", "https://example.com/"], run.stdout.as_bytes());
    assert_eq!(check.status, Some(0), "{}", run.stdout);
}

#[test]
fn a_whole_user_agent_string_names_its_crawler() {
    let file = "User-agent: bingbot\nDisallow: /private/\n\nUser-agent: OurBot\nDisallow: /\n";
    let ask = |agent: &str| {
        mayi(&["check", "-r", "-", "-a", agent, "https://example.com/private/x"], file.as_bytes())
    };
    let run = ask("Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)");
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert!(run.stdout.contains("2: Disallow: /private/"), "{}", run.stdout);
    assert!(run.stderr.contains("is read as the crawler `bingbot`"), "{}", run.stderr);
    let run = ask("Mozilla/5.0 (compatible; OurBot/1)");
    assert!(run.stderr.contains("is read as the crawler `OurBot`"), "{}", run.stderr);
    assert_eq!(run.status, Some(1));
    let run = ask("Mozilla/5.0 (Linux; bingbot/2.0; OurBot/1)");
    assert!(run.stderr.contains("`bingbot`") && run.stderr.contains("`OurBot`"), "{}", run.stderr);
    assert_eq!(ask("bing bot").status, Some(2));
    assert_eq!(ask("/").status, Some(2));
}

/// Libraries that compare the names of a file with the whole string find other groups than a crawler's own name would.
/// `urllib.robotparser` and Protego give these answers.
#[test]
fn a_whole_user_agent_string_is_compared_as_the_dialect_compares_it() {
    let file = "User-agent: mybot\nDisallow: /a\n\nUser-agent: mozilla\nDisallow: /b\n\n\
                User-agent: überbot\nDisallow: /c\n";
    let is_allowed = |dialect: &str, agent: &str, path: &str| {
        let url = format!("https://example.com{path}");
        let run = mayi(&["check", "-r", "-", "--dialect", dialect, "-a", agent, &url], file.as_bytes());
        assert!(matches!(run.status, Some(0 | 1)), "{dialect} {agent}: {}", run.stderr);
        run.status == Some(0)
    };
    let agent = "Mozilla/5.0 (compatible; MyBot/1.0)";
    for (dialect, allowed) in
        [("rfc9309", [false, true]), ("urllib", [true, false]), ("protego", [true, false])]
    {
        let answers = ["/a", "/b"].map(|path| is_allowed(dialect, agent, path));
        assert_eq!(answers, allowed, "{dialect}");
    }
    for dialect in ["urllib", "protego"] {
        assert!(is_allowed(dialect, "MyBot", "/b") && !is_allowed(dialect, "MyBot", "/a"));
        assert!(!is_allowed(dialect, "ÜberBot", "/c") && is_allowed(dialect, "ÜberBot", "/a"));
    }
}
