//! `mayi fmt`, `mayi overview`, `mayi compare` and `mayi diff` as people and scripts use them.

mod common;

use std::fs;
use std::path::Path;

use common::mayi;
use serde_json::Value;

const UNTIDY: &str = "user-agent:*\ndisallow: /a  # why\nUSER-AGENT: b\nallow:/\n";
const TIDY: &str = "User-agent: *\nDisallow: /a # why\n\nUser-agent: b\nAllow: /\n";

fn path_in(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("a file");
    path.to_string_lossy().into_owned()
}

/// Into a pipe a difference is what `patch` takes, octet by octet: ends of lines, a last line without one,
/// and what a terminal would take as a command.
#[test]
fn differences_are_patches() {
    let folder = tempfile::tempdir().expect("a folder");
    for file in [
        UNTIDY,
        "user-agent:*\r\nDisallow: /a\r\n",
        "User-agent: *\r\nDisallow: /a\nDisallow: /b\r\n",
        "user-agent:*\rDisallow /a\rdisallow: /b",
        "user-agent:*\n\n\n\nDisallow /a\u{1b}[31m\u{7}\nDisallow: /b\nDisallow: /b\nDisallow: /b",
        "\u{feff}useragent: *\nDisallow: /a*\n\n\n\n\n\n\n\n\n\n\nDisallow: /b*\n\n",
    ] {
        let path = path_in(folder.path(), "a robots.txt", file);
        for command in [&["fmt"][..], &["lint", "--fix", "--summary"]] {
            let diff = mayi(&[&command[..1], &["--diff", &path]].concat(), b"").stdout;
            assert_eq!(fs::read_to_string(&path).expect("a file"), file, "nothing is written");
            mayi(&[command, &[&path]].concat(), b"");
            let after = fs::read_to_string(&path).expect("a file");
            assert_eq!(patched(file, &diff), after, "{command:?}: {diff}");
            assert!(diff.is_empty() == (file == after), "{command:?}: {diff}");
            fs::write(&path, file).expect("a file");
        }
    }
}

/// What `patch` makes of a text and a difference of it.
fn patched(text: &str, diff: &str) -> String {
    let mut old = text.split_inclusive('\n');
    let mut new = String::new();
    let mut lines = diff.split_inclusive('\n').peekable();
    let mut at = 1;
    while let Some(line) = lines.next() {
        if let Some(head) = line.strip_prefix("@@ -") {
            let mut numbers = head.split([',', ' ']).map_while(|number| number.parse::<usize>().ok());
            let (from, count) = (numbers.next().expect("a line"), numbers.next().expect("a count"));
            while at < from + usize::from(count == 0) {
                new.push_str(old.next().expect("a line before the hunk"));
                at += 1;
            }
        } else if !line.starts_with("--- ") && !line.starts_with("+++ ") {
            let (sign, line) = line.split_at(1);
            let has_no_end = lines.next_if(|next| next.starts_with('\\')).is_some();
            let line = if has_no_end { line.trim_end_matches('\n') } else { line };
            if sign != "+" {
                assert_eq!(old.next(), Some(line), "the difference is of this text");
                at += 1;
            }
            if sign != "-" {
                new.push_str(line);
            }
        }
    }
    new.extend(old);
    new
}

#[test]
fn fmt_replaces_files_and_filters() {
    let folder = tempfile::tempdir().expect("a folder");
    let (untidy, tidy) =
        (path_in(folder.path(), "robots.txt", UNTIDY), path_in(folder.path(), "tidy", TIDY));

    let run = mayi(&["fmt", "--check", &untidy, &tidy], b"");
    assert_eq!((run.status, run.stdout), (Some(1), format!("{untidy}\n")));
    let run = mayi(&["fmt", "--diff", &untidy], b"");
    assert_eq!(run.status, Some(1));
    assert!(run.stdout.contains("@@ -1,4 +1,5 @@\n-user-agent:*\n"), "{}", run.stdout);
    assert!(run.stdout.contains("\n+Disallow: /a # why\n+\n+User-agent: b\n"), "{}", run.stdout);
    assert_eq!(fs::read_to_string(&untidy).expect("a file"), UNTIDY, "nothing is written");

    let run = mayi(&["fmt", &untidy, &tidy], b"");
    let said = format!("formatted {untidy}\nunchanged {tidy}\n");
    assert_eq!((run.status, &*run.stdout, &*run.stderr), (Some(0), &*said, ""));
    assert_eq!(fs::read_to_string(&untidy).expect("a file"), TIDY);
    assert_eq!(mayi(&["fmt", "--check", &untidy, &tidy], b"").status, Some(0));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "nothing is left over");

    let run = mayi(&["fmt", "-"], UNTIDY.as_bytes());
    assert_eq!((run.status, &*run.stdout), (Some(0), TIDY));
}

#[cfg(unix)]
#[test]
fn fmt_keeps_permissions_and_links() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().expect("a folder");
    let file = path_in(folder.path(), "robots.txt", UNTIDY);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("its permissions");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    assert_eq!(mayi(&["fmt", &link.to_string_lossy()], b"").status, Some(0));
    assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
    assert_eq!(fs::read_to_string(&file).expect("a file"), TIDY);
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o640);
}

#[test]
fn fmt_says_what_it_leaves_and_what_it_can_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let large = path_in(folder.path(), "large", &"disallow:/\n".repeat(60_000));
    let untidy = path_in(folder.path(), "robots.txt", UNTIDY);
    let run = mayi(&["fmt", &large, "/no/such/file", &untidy], b"");
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("larger than 500 KiB"), "{}", run.stderr);
    assert!(run.stderr.contains("`/no/such/file` can't be read"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(&untidy).expect("a file"), TIDY, "the others are laid out");
    let run = mayi(&["fmt", "https://example.com/robots.txt"], b"");
    assert_eq!(run.status, Some(2));
    assert_eq!(mayi(&["fmt", "-", "-"], b"").status, Some(2));
}

#[test]
fn compare_draws_who_may_and_why() {
    let file = b"User-agent: *\nDisallow: /a\nDisallowed: /b\n\nUser-agent: GPTBot\nDisallow: /\n";
    let run = mayi(&["compare", "-"], file);
    assert_eq!(run.status, Some(1));
    for part in [
        "standard input: 3 patterns, read in 3 ways",
        "  A   in rfc9309 and koster-00: * (crawlers that are not named) and 4 more (--all)\n",
        "  C   GPTBot\n",
        "PATTERN       MAY  MAY NOT  WHY\n",
        "/             A B  C        e.g. /\n",
        "line 6: Disallow: /\n",
    ] {
        assert!(run.stdout.contains(part), "{part} is not in:\n{}", run.stdout);
    }
    let run = mayi(&["compare", "-", "--agents", "GPTBot,OtherBot,*", "--json"], file);
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(report["readings"][0]["of"][0]["crawler"], "GPTBot");
    assert_eq!(report["rows"][0]["why"][0]["grounds"]["rule"]["line"], 6);

    let run = mayi(&["compare", "-"], b"User-agent: *\nDisallow: /a\n");
    assert_eq!(run.status, Some(0));
    assert!(run.stdout.ends_with("; no difference between crawlers was found.\n"), "{}", run.stdout);
    assert_eq!(mayi(&["compare", "-", "--agents", "a b"], b"").status, Some(2));
    assert_eq!(mayi(&["compare", "/no/such/file"], b"").status, Some(2));
}

#[test]
fn overview_says_who_may_do_what() {
    let file = b"User-agent: *\nContent-Signal: ai-train=no\nDisallow: /cart/\n\nUser-agent: GPTBot\nDisallow: /\n";
    let run = mayi(&["overview", "-"], file);
    assert_eq!(run.status, Some(0));
    for part in [
        "Archives may fetch everything but /cart/.\n",
        "AI training crawlers, 1 is refused; the other ",
        "\nAI training crawlers (",
        "  nothing\n      GPTBot\n      Disallow: /  line 6\n",
        "      Disallow: /cart/  line 3\n      train: disallowed  line 2\n",
    ] {
        assert!(run.stdout.contains(part), "{part} is not in:\n{}", run.stdout);
    }
    let run = mayi(&["overview", "-", "--json"], file);
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(
        (&report["access"], &report["kinds"][0]["kind"]),
        (&"successful".into(), &"search".into())
    );
    assert_eq!(
        mayi(&["overview", "-"], b"").stdout.lines().next(),
        Some("Crawlers may fetch everything.")
    );
    assert_eq!(mayi(&["overview", "/no/such/file"], b"").status, Some(2));
}

#[test]
fn diff_tells_meaning_from_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let old = path_in(folder.path(), "old", UNTIDY);
    let same = path_in(folder.path(), "same", TIDY);
    let run = mayi(&["diff", &old, &same], b"");
    assert_eq!((run.status, &*run.stdout), (Some(0), "Only the text changed, not the meaning.\n"));
    let run = mayi(&["diff", &old, "-"], UNTIDY.as_bytes());
    assert_eq!((run.status, &*run.stdout), (Some(0), "The files are the same.\n"));

    let new = "User-agent: *\nDisallow: /c/\nCrawl-delay: 5\n\nUser-agent: b\nAllow: /\nSitemap: s\n";
    let run = mayi(&["diff", &old, "-"], new.as_bytes());
    assert_eq!(run.status, Some(1));
    let expected = "\
for * (crawlers that are not named)
  now disallowed
    /c/  e.g. /c/
         no rule matches → line 2: Disallow
  now allowed
    /a  e.g. /a
        line 2: Disallow → no rule matches
  Crawl-delay
    + 5  line 3

the file
  Sitemap
    + s  line 7
";
    assert_eq!(run.stdout, expected);

    let run = mayi(&["diff", &old, "-", "--json"], new.as_bytes());
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(report["meaning"], "changed");
    let change = &report["crawlers"][0]["changes"][0];
    assert_eq!((&change["became"], &change["example"]), (&"allowed".into(), &"/a".into()));
    for words in [&["diff", "-", "-"][..], &["diff", "-", "/no/such/file"], &["diff", "-"]] {
        assert_eq!(mayi(words, b"").status, Some(2), "{words:?}");
    }
    let offline = ["--offline", "--store", "memory"];
    let run = mayi(&[&["diff", "https://example.com/robots.txt", "-"], &offline[..]].concat(), b"");
    assert!(run.stderr.contains("offline: there is no cached copy"), "{}", run.stderr);
}

#[test]
fn what_is_not_proved_is_not_said() {
    // The second rule matches nothing that the first does not, but no prefix says so.
    let folder = tempfile::tempdir().expect("a folder");
    let old = path_in(folder.path(), "old", "User-agent: *\nDisallow: /*a\nDisallow: /*ab\n");
    let run = mayi(&["diff", &old, "-"], b"User-agent: *\nDisallow: /*a\n");
    assert_eq!(run.status, Some(1));
    assert!(
        run.stdout.starts_with("Rules changed. No URL with a different decision was found"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("line 3: Disallow: /*ab"), "{}", run.stdout);
}

#[test]
fn nothing_in_a_file_reaches_the_terminal_as_a_command() {
    let file = b"User-agent: \x1b[31m\nUser-agent: b\nDisallow: /\x1b[31m\nSitemap: \x1b[31m\n";
    let empty = tempfile::NamedTempFile::new().expect("a file");
    let empty = empty.path().to_string_lossy();
    for words in [
        &["compare", "-"][..],
        &["overview", "-", "--all"],
        &["diff", &empty, "-"],
        &["fmt", "--diff", "-"],
    ] {
        let run = mayi(words, file);
        assert!(!run.stdout.contains('\u{1b}'), "{words:?}: {}", run.stdout);
    }
}

#[test]
fn very_many_rules_are_not_very_slow() {
    // Each list is asked by several readers; with work in the product of the rules, this would not end.
    let rules = |from: usize| {
        let rules = (from..from + 20_000).map(|n| format!("Disallow: /p{n}/*.html$"));
        rules.collect::<Vec<_>>().join("\n")
    };
    let folder = tempfile::tempdir().expect("a folder");
    let old = format!("User-agent: *\n{}\nUser-agent: b\nAllow: /\n", rules(0));
    let new = format!("User-agent: *\n{}\nUser-agent: b\nAllow: /\n", rules(10_000));
    let old = path_in(folder.path(), "old", &old);
    let run = mayi(&["diff", &old, "-"], new.as_bytes());
    assert_eq!(run.status, Some(1));
    assert!(run.stdout.contains("20000 patterns changed in all"), "{}", run.stdout);
    assert_eq!(mayi(&["compare", &old], b"").status, Some(1));
}
