//! `mayi bulk` as data teams use it: formats, columns, files of hosts, bad rows, and that its answers
//! are those of `mayi decide`.

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use common::mayi;
use serde_json::{Value, json};

const FILE: &str = "User-agent: *\nDisallow: /private/\nAllow: /private/press\n";

/// A folder of robots.txt files.
fn robots(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

/// Runs it over `FILE` for all hosts.
fn bulk(words: &[&str], stdin: &str) -> common::Run {
    let folder = robots(&[("robots.txt", FILE)]);
    let path = folder.path().join("robots.txt").to_string_lossy().into_owned();
    let all = [&["bulk", "--robots", &path, "--agent", "ExampleBot"], words].concat();
    mayi(&all, stdin.as_bytes())
}

/// Runs it over a folder.
fn bulk_in(folder: &Path, words: &[&str], stdin: &[u8]) -> common::Run {
    let path = folder.to_string_lossy();
    let all = [&["bulk", "--robots-dir", &path, "--agent", "ExampleBot"], words].concat();
    mayi(&all, stdin)
}

#[test]
fn tsv_rows_get_columns_behind_their_own() {
    let run =
        bulk(&[], "id\turl\r\n1\thttps://a/private/x\r\n\r\n2\thttps://a/private/press\n3\thttps://b");
    assert_eq!((run.status, &*run.stderr), (Some(0), ""));
    assert_eq!(
        run.stdout,
        "id\turl\tallowed\treason\trule\trule_line\terror\n\
         1\thttps://a/private/x\tfalse\trule\t/private/\t2\t\n\
         2\thttps://a/private/press\ttrue\trule\t/private/press\t3\t\n\
         3\thttps://b\ttrue\tno-rule\t\t\t\n"
    );
    let run = bulk(&[], "https://a/robots.txt\nhttps://a/private/\n");
    assert_eq!(
        run.stdout,
        "https://a/robots.txt\ttrue\trobots-txt\t\t\t\nhttps://a/private/\tfalse\trule\t/private/\t2\t\n"
    );
}

#[test]
fn csv_has_quotes_line_ends_and_a_byte_order_mark() {
    let input = "\u{feff}\"title\",url\r\n\"a \"\"b\"\",\r\nc\",\"https://a/private/\"\"x\"\r\n5\" disk,https://a/\r\n";
    let run = bulk(&["--format", "csv"], input);
    assert_eq!(
        run.stdout,
        "title,url,allowed,reason,rule,rule_line,error\n\
         \"a \"\"b\"\",\r\nc\",\"https://a/private/\"\"x\",false,rule,/private/,2,\n\
         5\" disk,https://a/,true,no-rule,,,\n"
    );
    let run = bulk(&["--format", "csv", "--output-format", "tsv", "--columns", "*,allowed"], input);
    assert_eq!(
        run.stdout,
        "title\turl\tallowed\na \"b\",\\r\\nc\thttps://a/private/\"x\tfalse\n5\" disk\thttps://a/\ttrue\n"
    );
    let run = bulk(&["--format", "csv", "--output-format", "ndjson"], input);
    let first: Value = serde_json::from_str(run.stdout.lines().next().expect("a row")).expect("JSON");
    assert_eq!(
        first,
        json!({ "title": "a \"b\",\r\nc", "url": "https://a/private/\"x", "allowed": false,
            "reason": "rule", "rule": "/private/", "rule_line": 2 })
    );
}

#[test]
fn ndjson_keeps_its_members() {
    let input =
        "\u{feff}{\"n\": 1.50, \"url\": \"https:\\/\\/a/private/x\"}\n\n {\"url\":\"https://a/\"} \r\n";
    let run = bulk(&["--format", "ndjson"], input);
    assert_eq!(
        run.stdout,
        "{\"n\": 1.50, \"url\": \"https:\\/\\/a/private/x\",\"allowed\":false,\"reason\":\"rule\",\"rule\":\"/private/\",\"rule_line\":2}\n\
         {\"url\":\"https://a/\",\"allowed\":true,\"reason\":\"no-rule\",\"rule\":null,\"rule_line\":null}\n"
    );
    let words = ["--format", "ndjson", "--output-format", "csv", "--columns", "n,m,url,allowed"];
    let run = bulk(&words, "{\"n\":[1,2],\"m\":\"x\",\"url\":\"https://a/\"}\n");
    assert_eq!(run.stdout, "n,m,url,allowed\n\"[1,2]\",x,https://a/,true\n");
    let run = bulk(
        &["--format", "ndjson", "--columns", "n,allowed"],
        "{\"n\":[1, 2],\"url\":\"https://a/\"}",
    );
    assert_eq!(run.stdout, "{\"n\":[1, 2],\"allowed\":true}\n");
}

#[test]
fn bad_rows_get_an_error_in_their_place() {
    let input = b"url\tid\nnonsense\t1\n\t2\nhttps://a/\ngopher://a/\t4\nhttps://a/\xFF\t5\nhttps://a/\t6\t7\nhttps://a/\t\xFF\n";
    let folder = robots(&[("a.txt", FILE)]);
    let path = folder.path().to_string_lossy().into_owned();
    let output = Command::new(env!("CARGO_BIN_EXE_mayi"))
        .args(["bulk", "--robots-dir", &path, "--agent", "x", "--columns", "*,allowed,error"])
        .stdin(Stdio::from(fs::File::open(written(&folder, "rows", input)).expect("a file")))
        .output()
        .expect("it runs");
    let rows: Vec<_> = output.stdout.split(|&octet| octet == b'\n').collect();
    for (row, start) in rows.iter().zip([
        &b"url\tid\tallowed\terror"[..],
        b"nonsense\t1\t\tinvalid-url: `nonsense` has no scheme",
        b"\t2\t\tinvalid-url: the row has no URL",
        b"https://a/\t\t\tinvalid-request: the row has 1 of 2 columns",
        b"gopher://a/\t4\t\tunsupported-scheme: ",
        b"https://a/\xFF\t5\t\tinvalid-request: the URL has to be UTF-8",
        b"https://a/\t6\t\tinvalid-request: the row has 3 of 2 columns",
        b"https://a/\t\xFF\ttrue\t",
    ]) {
        assert!(row.starts_with(start), "{}", row.escape_ascii());
    }
    assert_eq!(rows.len(), 9);
    assert_eq!(output.status.code(), Some(0));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("6 of 7 rows have an error"), "{message}");

    let rows = "{\"url\":1}\n{\n{\"a\":\"\"}\n{\"url\":\"x\",\"url\":\"y\"}\n{\"url\":\"https://a/\",\"reason\":1}\n7\n";
    let run = bulk_in(folder.path(), &["--format", "ndjson", "--fail-on-error"], rows.as_bytes());
    assert_eq!(run.status, Some(2));
    let codes: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["error"]["code"].take())
        .collect();
    let wrong = "invalid-request";
    assert_eq!(codes, [wrong, "invalid-json", "invalid-url", wrong, wrong, wrong]);
    assert!(run.stdout.contains("rename the answers with `--prefix`"), "{}", run.stdout);
    let run =
        bulk_in(folder.path(), &["--format", "csv"], b"https://a/,\"never\nclosed\nhttps://a/,\n");
    assert!(run.stdout.ends_with("invalid-request: a quote is never closed\n"), "{}", run.stdout);
    let fields = "https://a/,\"never\nclosed\nhttps://a/,\n\",,";
    assert!(run.stdout.starts_with(fields), "it can be read again: {}", run.stdout);
}

fn written(folder: &tempfile::TempDir, name: &str, octets: &[u8]) -> String {
    let path = folder.path().join(name);
    fs::write(&path, octets).expect("a file");
    path.to_string_lossy().into_owned()
}

#[test]
fn each_host_has_its_file() {
    let folder = robots(&[
        ("inside/example.com.txt", "User-agent: *\nDisallow: /dot-txt\n"),
        ("inside/plain.example", "User-agent: *\nDisallow: /plain\n"),
        ("inside/folder.example/robots.txt", "User-agent: *\nDisallow: /folder\n"),
        ("inside/http_both.example_80.txt", "User-agent: *\nDisallow: /http\n"),
        ("inside/both.example.txt", "User-agent: *\nDisallow: /other\n"),
        ("inside/example.com_8080.txt", "User-agent: *\nDisallow: /port\n"),
        ("inside/xn--bcher-kva.example.txt", "User-agent: *\nDisallow: /idna\n"),
        ("inside/[2001_db8__1].txt", "User-agent: *\nDisallow: /six\n"),
        ("inside/127.0.0.1.txt", "User-agent: *\nDisallow: /four\n"),
        ("robots.txt", "User-agent: *\nDisallow: /outside\n"),
        ("inside/robots.txt", "User-agent: *\nDisallow: /outside\n"),
    ]);
    let rules = [
        ("https://example.com/dot-txt", "/dot-txt"),
        ("HTTPS://EXAMPLE.com:443/dot-txt", "/dot-txt"),
        ("http://user:word@example.com?x", ""),
        ("http://plain.example/plain", "/plain"),
        ("http://folder.example/folder", "/folder"),
        ("http://both.example/http", "/http"),
        ("https://both.example/other", "/other"),
        ("http://example.com:8080/port", "/port"),
        ("http://example.com:8081/port", "no-robots"),
        ("https://b\u{fc}cher.example/idna", "/idna"),
        ("https://B\u{dc}CHER.example/idna", "/idna"),
        ("https://[2001:DB8:0::1]/six", "/six"),
        ("http://127.1/four", "/four"),
        ("http://../outside", "no-robots"),
        ("http://../../etc/passwd", "no-robots"),
        ("http://./outside", "no-robots"),
        ("http://..%2F/outside", "invalid-url"),
        ("http://a%2F..%2Fb/outside", "invalid-url"),
        ("http://a\\..\\b/outside", "no-robots"),
        ("http://robots.txt/outside", "/outside"),
        ("http://missing.example/", "no-robots"),
        ("https://example.com/dot-txt", "/dot-txt"),
    ];
    let mut input = String::new();
    for (url, _) in rules {
        writeln!(input, "{url}").expect("writing to memory does not fail");
    }
    let inside = folder.path().join("inside");
    let run = bulk_in(&inside, &["--columns", "rule,error"], input.as_bytes());
    assert_eq!(run.stdout.lines().count(), rules.len());
    for (line, (url, expected)) in run.stdout.lines().zip(rules) {
        let (rule, error) = line.split_once('\t').expect("two columns");
        let said = if error.is_empty() { rule } else { error.split(':').next().unwrap_or_default() };
        assert_eq!(said, expected, "{url}");
    }
    for (missing, said) in [("allow", "true\tunavailable"), ("disallow", "false\tunreachable")] {
        let words = ["--columns", "allowed,reason", "--missing", missing];
        let run =
            bulk_in(&inside, &words, b"http://missing.example/\nhttp://missing.example/robots.txt\n");
        assert_eq!(run.stdout, format!("{said}\ntrue\trobots-txt\n"));
    }
}

#[test]
fn columns_are_chosen_by_name_and_number() {
    let folder = robots(&[(
        "a.txt",
        "User-agent: One\nDisallow: /\n\nUser-Agent-Purpose: EXAMPLE-PURPOSE-1\nDisallow: /p\n\nUser-agent: *\nContent-Usage: train-ai=n\n",
    )]);
    let path = folder.path().to_string_lossy().into_owned();
    let run = |words: &[&str], input: &str| {
        mayi(&[&["bulk", "--robots-dir", &path], words].concat(), input.as_bytes())
    };
    let words =
        ["--url-column", "link", "--agent-column", "who", "--columns", "who,group,link,allowed"];
    let output = run(&words, "who\tlink\nOne\thttps://a/\nTwo\thttps://a/p\n\thttps://a/\n");
    assert_eq!(
        output.stdout,
        "who\tgroup\tlink\tallowed\nOne\tproduct-token\thttps://a/\tfalse\nTwo\tglobal\thttps://a/p\ttrue\n\t\thttps://a/\t\n"
    );
    let words =
        ["--agent", "Two", "--agent-column", "1", "--url-column", "2", "--columns", "agent,allowed,2"];
    let output = run(&words, "One\thttps://a/\n\thttps://a/\n");
    assert_eq!(output.stdout, "One\tfalse\thttps://a/\nTwo\ttrue\thttps://a/\n");
    let words = ["--purposes-column", "for", "--user-agent-column", "sent", "--columns", "group,error"];
    let input = "{\"url\":\"https://a/p\",\"agent\":\"x\",\"for\":[\"example-purpose-1\"],\"sent\":\"x (example-purpose-1)\"}\n\
                 {\"url\":\"https://a/p\",\"agent\":\"x\",\"for\":\"EXAMPLE-PURPOSE-1\"}\n\
                 {\"url\":\"https://a/p\",\"agent\":\"x\",\"for\":[\"a b\"]}\n\
                 {\"url\":\"https://a/p\",\"agent\":\"x\",\"for\":[1]}\n\
                 {\"url\":\"https://a/p\",\"agent\":\"x\",\"sent\":\"y\"}\n\
                 {\"url\":\"https://a/p\",\"agent\":\"x y\"}\n";
    let words = [&["--format", "ndjson", "--output-format", "tsv"], &words[..]].concat();
    let output = run(&words, input);
    let said: Vec<_> = output.stdout.lines().map(|line| line.split(':').next().unwrap_or("")).collect();
    assert_eq!(
        said,
        [
            "group\terror",
            "purpose\t",
            "purpose\t",
            "\tinvalid-purpose",
            "\tinvalid-request",
            "\tinvalid-user-agent",
            "\tinvalid-agent"
        ]
    );
    let words = ["--agent", "x", "--columns", "origin,train,search,ai-input,octets"];
    let output = run(&words, "https://A:443/\n");
    assert_eq!(output.stdout, "https://a\tdisallowed\tunknown\tunknown\t\n");
}

#[test]
fn what_the_caller_got_wrong_is_said() {
    for (words, input, part) in [
        (&["--url-column", "link"][..], "url\n", "no column `link`; the header has url"),
        (&["--columns", "*,alowed"], "url\n", "the answers are *, url, agent"),
        (&[], "url\treason\n", "rename the answer columns with `--prefix`"),
        (&["--format", "ndjson", "--header"], "{}\n", "NDJSON has no header"),
        (&["--format", "ndjson", "--output-format", "csv", "--columns", "*"], "{}\n", "name those"),
        (&["--agent", "Example Bot"], "", "is not a product token"),
        (&["--max-octets", "10"], "", "at least 512000"),
        (&["--max-line", "4"], "https://a/\n", "the first row of `-` is longer than 4 octets"),
        (&["/no/such/file"], "", "`/no/such/file` can't be read"),
        (&["-", "-"], "", "can be only one of the inputs"),
        (&["--robots-dir", "x"], "", "cannot be used with"),
    ] {
        let run = bulk(words, input);
        assert_eq!((run.status, &*run.stdout), (Some(2), ""), "{words:?}");
        assert!(run.stderr.contains(part), "{words:?}: {}", run.stderr);
    }
    for (words, part) in [
        (&["--robots", "-"][..], "no crawler is given"),
        (&["--robots-dir", "/no/such/folder", "--agent", "a"], "can't be read"),
        (&["--robots", "-", "--agent", "a b"], "is not a product token"),
        (&["--agent", "a"], "required"),
    ] {
        let folder = robots(&[("in.tsv", "https://a/\n")]);
        let path = folder.path().join("in.tsv").to_string_lossy().into_owned();
        let run = mayi(&[&["bulk", &path], words].concat(), b"");
        assert_eq!((run.status, &*run.stdout), (Some(2), ""), "{words:?}");
        assert!(run.stderr.contains(part), "{words:?}: {}", run.stderr);
    }
    let folder = robots(&[("a.txt", FILE)]);
    let path = written(&folder, "rows.tsv.gz", b"\x1F\x8B\x08\0");
    let run = bulk_in(folder.path(), &[&path], b"");
    assert!(run.stderr.contains("its gzip data is cut off: it ends at octet 4"), "{}", run.stderr);
    assert_eq!(bulk(&[], "").stdout, "");
}

#[test]
fn files_follow_each_other_under_one_header() {
    let folder = robots(&[
        ("a.txt", FILE),
        ("1.csv", "url,n\nhttps://a/,1\n"),
        ("2.csv", "url,n\nhttps://a/private/,2"),
        ("3.ndjson", "{\"url\":\"https://a/\"}\n"),
        ("4.csv", "n,url\n"),
    ]);
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let words = ["--columns", "url,allowed"];
    let (first, second, third) = (path("1.csv"), path("2.csv"), path("3.ndjson"));
    let all = [&[&*first, &*second, &*third], &words[..]].concat();
    let run = bulk_in(folder.path(), &all, b"");
    assert_eq!(run.stdout, "url,allowed\nhttps://a/,true\nhttps://a/private/,false\nhttps://a/,true\n");
    let run = bulk_in(folder.path(), &[&path("1.csv"), &path("4.csv")], b"");
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("has other columns than the first file"), "{}", run.stderr);
}

#[test]
fn order_is_kept_and_every_order_of_hosts_is_answered() {
    let names: Vec<_> =
        (0..40).map(|n| (format!("h{n}.txt"), format!("User-agent: *\nDisallow: /{n}$\n"))).collect();
    let files: Vec<_> = names.iter().map(|(name, text)| (&**name, &**text)).collect();
    let folder = robots(&files);
    let mut input = String::from("n,\"a\nb\",url\n");
    let mut expected = String::from("n,allowed\n");
    let mut random = 1_u64;
    for n in 0..30_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (host, path) = (random >> 40 & 31, random >> 50 & 31);
        let quoted = if n % 3 == 0 { "\"x\n\"\"y\"\",\n\"" } else { "z" };
        writeln!(input, "{n},{quoted},https://h{host}/{path}")
            .expect("writing to memory does not fail");
        writeln!(expected, "{n},{}", host != path).expect("writing to memory does not fail");
    }
    for (jobs, cache) in [("1", "100000000"), ("4", "100000000"), ("3", "2000"), ("2", "0")] {
        let words =
            ["--format", "csv", "--jobs", jobs, "--cache-size", cache, "--columns", "n,allowed"];
        let run = bulk_in(folder.path(), &words, input.as_bytes());
        assert!(run.stdout == expected, "{jobs} jobs, a cache of {cache}: {}", run.stderr);
    }
}

#[test]
fn a_row_that_is_too_long_gets_an_error_in_its_place() {
    let long = "x".repeat(600_000);
    for (format, input) in [
        ("tsv", format!("https://a/\t1\nhttps://a/{long}\t2\nhttps://a/\t3\n")),
        ("csv", format!("https://a/,1\nhttps://a/,\"{long}\n\"\"\n{long}\"\nhttps://a/,3\n")),
        (
            "ndjson",
            format!("{{\"url\":\"https://a/\"}}\n{{\"url\":\"{long}\"}}\n{{\"url\":\"https://a/\"}}\n"),
        ),
    ] {
        let columns = "allowed,error";
        let words =
            ["--format", format, "--output-format", "tsv", "--columns", columns, "--max-line", "1000"];
        let run = bulk(&words, &input);
        let rows: Vec<_> = run.stdout.lines().collect();
        let rows = if format == "ndjson" { &rows[1..] } else { &rows[..] };
        assert_eq!(rows.len(), 3, "{format}: {}", run.stdout);
        assert_eq!((rows[0], rows[2]), ("true\t", "true\t"), "{format}");
        assert!(
            rows[1].starts_with("\tinvalid-request: the row is longer than 1000 octets"),
            "{format}"
        );
    }
}

#[test]
fn progress_is_shown_where_it_is_asked_for() {
    let shown = |when| bulk(&["--progress", when], &"https://a/\n".repeat(100)).stderr;
    assert_eq!(shown("auto"), "", "standard error is no terminal here");
    assert_eq!(shown("never"), "");
    assert!(shown("always").ends_with("\r\x1b[K"), "the line is taken away again");
    let run = mayi(&["decide", "--progress", "always"], b"");
    assert!(run.stderr.ends_with("\r\x1b[K"), "{}", run.stderr);
}

/// `docs/bulk.md` shows a run as it is.
#[test]
fn the_page_shows_what_it_says() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bulk.md"))
        .expect("the page is there");
    let folder = robots(&[("example.com.txt", FILE)]);
    let (_, example) = page.split_once("$ cat urls.tsv\n").expect("the page has the example");
    let (input, shown) = example
        .split_once("$ mayi bulk --robots-dir robots --agent ExampleBot urls.tsv\n")
        .expect("the page has the command");
    let run = bulk_in(folder.path(), &[], input.as_bytes());
    assert!(
        shown.starts_with(&format!("{}{}", run.stdout, run.stderr)),
        "{}{}",
        run.stdout,
        run.stderr
    );
}

/// What bulk says of access and uses is what decide says: for every vector whose file is text. Only of a file that is made to
/// be costly for every crawler it says that.
#[test]
fn bulk_is_decide() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut requests, mut rows, mut asked) = (String::new(), String::new(), Vec::new());
    for (number, case) in mayi_vectors::all().cases.iter().enumerate() {
        let mut request = case.request.clone();
        let text = request["robots"].as_str().map(str::to_owned);
        let path = request["url"].as_str().and_then(|url| url.strip_prefix("https://example.com"));
        let (Some(text), Some(path), true) = (text, path, case.without.is_empty()) else { continue };
        // These are options of the command, not columns of a row.
        let is_told_apart = ["dialect", "page", "registered_purposes_only", "union", "now"];
        if is_told_apart.iter().any(|member| request.get(member).is_some()) {
            continue;
        }
        fs::write(folder.path().join(format!("h{number}.test.txt")), text).expect("a file");
        request["url"] = format!("https://h{number}.test{path}").into();
        request.as_object_mut().expect("an object").remove("explain");
        writeln!(requests, "{request}").expect("writing to memory does not fail");
        request.as_object_mut().expect("an object").remove("robots");
        writeln!(rows, "{request}").expect("writing to memory does not fail");
        asked.push(case.about.id.clone());
    }
    let decisions = mayi(&["decide"], requests.as_bytes()).stdout;
    let folder = folder.path().to_string_lossy();
    let columns = "url,allowed,reason,rule,rule_line,octets,group,train,search,ai-input,error";
    let words = [
        &["bulk", "--robots-dir", &*folder, "--format", "ndjson", "--columns", columns][..],
        &["--purposes-column", "purposes", "--apps-column", "apps"],
        &["--user-agent-column", "user_agent"],
    ]
    .concat();
    let answers = mayi(&words, rows.as_bytes()).stdout;
    let (mut compared, mut too_costly) = (0, BTreeSet::new());
    for ((decision, answer), id) in decisions.lines().zip(answers.lines()).zip(asked) {
        let decision: Value = serde_json::from_str(decision).expect("JSON");
        let answer: Value = serde_json::from_str(answer).expect("JSON");
        let (access, uses) = (&decision["access"], &decision["uses"]);
        let mut expected = json!({
            "url": decision["url"], "allowed": access["allowed"], "reason": access["reason"],
            "rule": access["rule"]["pattern"], "rule_line": access["rule"]["line"],
            "octets": access["rule"]["octets"], "group": access["group"]["by"],
            "train": uses["train"], "search": uses["search"], "ai-input": uses["ai-input"],
        });
        if !decision["error"].is_null() {
            expected = json!({ "url": answer["url"], "error": decision["error"] });
        }
        compared += 1;
        if answer["error"]["code"] == "too-costly" {
            too_costly.insert(id);
            continue;
        }
        assert_eq!(answer, expected, "{decision}");
    }
    assert_eq!(compared, requests.lines().count());
    assert_eq!(too_costly.into_iter().collect::<Vec<_>>(), ["aia-3-few-octets-many-steps"]);
    assert!(compared > 100, "only {compared} vectors can be asked here");
}

/// A slip in the path of a store is told, and no store is made of it.
#[test]
fn a_store_that_is_not_there_is_no_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("nothing");
    let words = ["bulk", "--agent", "ExampleBot", "--store", path.to_str().expect("a plain path")];
    let run = mayi(&words, b"https://a.example/\n");
    assert_eq!((run.status, &*run.stdout), (Some(2), ""));
    assert!(run.stderr.contains("there is no store"), "{}", run.stderr);
    assert!(!path.exists());
}

/// Several crawlers are answered in one pass: a column for each, or a list in an object.
#[test]
fn several_crawlers_get_a_column_each() {
    let folder = robots(&[(
        "a.txt",
        "User-agent: *\nDisallow: /private/\n\nUser-agent: OtherBot\nDisallow: /x\nContent-Signal: ai-train=no\n",
    )]);
    let words = ["--agent", "OtherBot", "--agent", "Third"];
    let rows = b"url\tid\nhttps://a/private/\t1\nhttps://a/x\t2\nnonsense\t3\nhttps://b/\t4\n";
    let run = bulk_in(folder.path(), &words, rows);
    let wrong = "invalid-url: `nonsense` has no scheme; give an absolute URL such as `https://example.com/path`";
    let missing =
        "no-robots: there is no file for https://b; the option `missing` says what to do without one";
    assert_eq!(
        run.stdout,
        format!(
            "url\tid\tallowed_ExampleBot\tallowed_OtherBot\tallowed_Third\terror\n\
             https://a/private/\t1\tfalse\ttrue\tfalse\t\n\
             https://a/x\t2\ttrue\tfalse\ttrue\t\n\
             nonsense\t3\t\t\t\t{wrong}\n\
             https://b/\t4\t\t\t\t{missing}\n"
        )
    );
    let list =
        ["--agent", "OtherBot", "--format", "tsv", "--output-format", "ndjson", "--prefix", "m_"];
    let list = [&list[..], &["--columns", "id,allowed,rule_line,train,error"]].concat();
    let run = bulk_in(folder.path(), &list, b"url\tid\nhttps://a/private/\t1\nnonsense\t3\n");
    let rows: Vec<Value> =
        run.stdout.lines().map(|row| serde_json::from_str(row).expect("JSON")).collect();
    assert_eq!(
        rows[0],
        json!({ "id": "1", "m_answers": [
            { "agent": "ExampleBot", "allowed": false, "rule_line": 2, "train": "unknown" },
            { "agent": "OtherBot", "allowed": true, "rule_line": null, "train": "disallowed" },
        ]})
    );
    assert_eq!(rows[1]["m_error"]["code"], "invalid-url");
    assert_eq!(rows[1].get("m_answers"), None);
}

/// What several crawlers are answered at once is what each is answered alone.
#[test]
fn several_crawlers_at_once_are_each_of_them() {
    let files: Vec<_> = (0..20)
        .map(|n| {
            let text = format!(
                "User-agent: One\nDisallow: /{n}\n\nUser-agent: Two\nDisallow: /\nAllow: /{n}\n\nUser-agent: *\nDisallow: /*{n}$\n"
            );
            (format!("h{n}.txt"), text)
        })
        .collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
    let folder = robots(&files);
    let path = folder.path().to_string_lossy().into_owned();
    let urls: Vec<_> = (0..2_000).map(|n| format!("https://h{}/{}\n", n % 21, n * 7 % 40)).collect();
    let input = urls.concat();
    let columns = "allowed,reason,rule,rule_line,group,search";
    let run_for = |agents: &[&str]| {
        let mut words =
            vec!["bulk", "--robots-dir", &path, "--columns", columns, "--cache-size", "20000"];
        for agent in agents {
            words.extend(["--agent", agent]);
        }
        mayi(&words, input.as_bytes()).stdout
    };
    let agents = ["One", "Two", "Other"];
    let alone = agents.map(|agent| run_for(&[agent]));
    let together = run_for(&agents);
    let lines = together.lines().zip(alone[0].lines().zip(alone[1].lines().zip(alone[2].lines())));
    let mut count = 0;
    for (all, (first, (second, third))) in lines {
        let each: Vec<Vec<&str>> = [first, second, third].map(|row| row.split('\t').collect()).into();
        let expected: Vec<&str> = (0..6).flat_map(|at| each.iter().map(move |row| row[at])).collect();
        assert_eq!(all.split('\t').collect::<Vec<_>>(), expected);
        count += 1;
    }
    assert_eq!(count, 2_000);
}

#[test]
fn crawlers_that_can_not_ask_together_are_refused() {
    for (words, part) in [
        (&["--agent", "examplebot"][..], "`--agent examplebot` is given twice"),
        (&["--agent", "b", "--agent-column", "a"], "`--agent-column` names one crawler for each row"),
        (&["--agent", "no token"], "no token"),
        (
            &["--agent", "line_x", "--agent", "x", "--columns", "rule,rule_line"],
            "two columns would be called `rule_line_x`",
        ),
    ] {
        let run = bulk(words, "url\ta\nhttps://a/\tx\n");
        assert_eq!((run.status, &*run.stdout), (Some(2), ""), "{words:?}");
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
}
