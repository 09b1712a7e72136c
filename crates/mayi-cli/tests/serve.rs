//! The service as a process: how it starts, how it is asked, how it ends, and what a crash costs.

mod common;
#[path = "common/endless.rs"]
mod endless;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::mayi;

/// A running `mayi serve`.
struct Service {
    child: Child,
    url: String,
}

impl Service {
    fn start(words: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mayi"))
            .args(["serve", "--listen", "127.0.0.1:0", "--allow-address", "127.0.0.0/8"])
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it has standard output");
        BufReader::new(stdout).read_line(&mut line).expect("it says where it is");
        let url = line.trim().strip_prefix("mayi listens on ").expect("it says where it is").to_owned();
        Self { child, url }
    }

    fn post(&self, path: &str, body: &str) -> String {
        let address = self.url.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(address).expect("it listens");
        let length = body.len();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it has ended");
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sites with this file, one a port.
fn sites(file: &'static str, count: usize) -> (Vec<String>, Arc<AtomicUsize>) {
    let length = file.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    sites_answering(head + file, count)
}

/// Sites that answer everything so, one a port.
fn sites_answering(answer: impl Into<String>, count: usize) -> (Vec<String>, Arc<AtomicUsize>) {
    let answer = answer.into();
    let asked = Arc::new(AtomicUsize::new(0));
    let site = |_| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (asked, answer) = (Arc::clone(&asked), answer.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                asked.fetch_add(1, Ordering::SeqCst);
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        url
    };
    ((0..count).map(site).collect(), asked)
}

#[test]
fn a_killed_service_has_lost_nothing_that_it_acknowledged() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("store").display().to_string();
    let (sites, asked) = sites("User-agent: *\nDisallow: /private/\n", 20);
    let service = Service::start(&["--store", &store]);
    for site in &sites {
        let answer =
            service.post("/v1/decide", &format!(r#"{{"url": "{site}/private/", "agent": "a"}}"#));
        assert!(answer.contains(r#""from":"fetched""#), "{answer}");
    }
    service.kill();
    assert_eq!(asked.load(Ordering::SeqCst), sites.len());
    let service = Service::start(&["--store", &store, "--offline"]);
    for site in &sites {
        let answer =
            service.post("/v1/decide", &format!(r#"{{"url": "{site}/private/", "agent": "a"}}"#));
        assert!(
            answer.contains(r#""allowed":false"#) && answer.contains(r#""from":"fresh""#),
            "{answer}"
        );
    }
    assert_eq!(asked.load(Ordering::SeqCst), sites.len(), "nobody is asked again");
}

#[cfg(unix)]
#[test]
fn a_service_that_is_asked_to_end_ends_well() {
    let mut service = Service::start(&["--store", "memory"]);
    let id = service.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
    assert_eq!(service.child.wait().expect("it ends").code(), Some(0));
}

/// A second signal does not wait for what is being answered.
#[cfg(unix)]
#[test]
fn a_service_that_is_told_twice_ends_at_once() {
    // A site that accepts and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/", silent.local_addr().expect("an address"));
    let mut service = Service::start(&["--store", "memory"]);
    let body = format!(r#"{{"url": "{url}", "agent": "a"}}"#);
    let address = service.url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut stream = TcpStream::connect(&address).expect("it listens");
    let length = body.len();
    write!(
        stream,
        "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .expect("it reads");
    let _asked = silent.accept().expect("the request is being answered");
    let id = service.child.id().to_string();
    let tell =
        || assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
    tell();
    // Once it does not listen any more, it has heard the first.
    while TcpStream::connect(&address).is_ok() {
        std::thread::yield_now();
    }
    assert_eq!(service.child.try_wait().expect("it can be asked"), None, "it waits for the answer");
    tell();
    assert_eq!(service.child.wait().expect("it ends").code(), Some(2));
}

/// What differs between two runs that ask at different times.
fn without_times(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    let is_time = |text: &str| {
        let octets = text.as_bytes();
        octets.len() >= 20
            && octets[..20]
                .iter()
                .zip(b"0000-00-00T00:00:00Z")
                .all(|(octet, form)| if *form == b'0' { octet.is_ascii_digit() } else { octet == form })
    };
    while let Some(character) = rest.chars().next() {
        if is_time(rest) {
            out.push_str("TIME");
            rest = &rest[20..];
        } else {
            out.push(character);
            rest = &rest[character.len_utf8()..];
        }
    }
    out
}

#[test]
fn check_says_the_same_by_a_service() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("store").display().to_string();
    let robots = folder.path().join("robots.txt").display().to_string();
    let html = folder.path().join("page.html").display().to_string();
    let urls_file = folder.path().join("urls").display().to_string();
    let long = folder.path().join("long.txt").display().to_string();
    let file = "User-agent: *\ndisallow : /private/ # not here \u{1b}[31m\u{202e}\nCrawl-delay: 2.50\n\
                Content-Signal: ai-train=no\nContent-Usage: train-ai=y, search=n\n\
                App-Directives: zebra;z=1;a=?0;m=\"x\", apple;b=tok\nSitemap: /s\n\
                User-agent: other\nDisallow: /\nUser-agent-purpose: EXAMPLE-PURPOSE-1\nDisallow: /p\n";
    std::fs::write(&robots, file).expect("a file");
    std::fs::write(&html, "<meta name=robots content='nofollow, wibble'>").expect("a file");
    // More than a service takes at once, and than anybody reads.
    std::fs::write(&long, format!("{file}#{}\nUser-agent: a\nDisallow: /\n", "x".repeat(20 << 20)))
        .expect("a file");
    let (found, _) = sites(file, 1);
    let (latin, _) = sites_answering(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=iso-8859-1\r\nConnection: close\r\n\r\n\
         User-agent: *\nDisallow: / # caf\u{e9}\n",
        1,
    );
    let (missing, _) = sites_answering("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", 1);
    let (failing, _) = sites_answering("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", 1);
    let service = Service::start(&["--store", "memory"]);
    let urls = [
        format!("{}/private/x", found[0]),
        format!("{}/", found[0]),
        format!("{}/robots.txt", found[0]),
        format!("{}/caf%C3%A9", latin[0]),
        format!("{}/a", missing[0]),
        format!("{}/a", failing[0]),
    ];
    std::fs::write(&urls_file, format!("{}\n\n  {}  \nnonsense\n", urls[0], urls[5])).expect("a file");
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let fetched = ["--allow-address", "127.0.0.0/8", "--store", &store];
    // So that both have the files already, and tell of them alike but for the second they were fetched in.
    mayi(&[&["check", "--agent", "a"], &fetched[..], &urls].concat(), b"");
    mayi(&[&["check", "--agent", "a", "--server", &service.url], &urls[..]].concat(), b"");
    let same = |words: &[&str], more: &[&str], stdin: &str| {
        let here = mayi(&[words, more].concat(), stdin.as_bytes());
        let there = [words, &["--server", &service.url]].concat();
        let there = mayi(&there, stdin.as_bytes());
        let parts = |run: &common::Run| (without_times(&run.stdout), run.status, run.stderr.clone());
        assert_eq!(parts(&there), parts(&here), "{words:?}");
        here
    };
    for asker in [
        &["--agent", "a"][..],
        &["--agent", "other"],
        &["--agent", "a-ai"],
        &["--agent", "a", "--dialect", "google"],
        &["--agent", "a", "--dialect", "koster-00"],
        &["--agent", "a", "--app", "zebra", "--app", "apple", "--app", "none"],
        &["--agent", "a", "--purpose", "EXAMPLE-PURPOSE-1"],
        &["--agent", "a", "--user-agent", "Mozilla (a/1.0)"],
        &["--agent", "a", "--header", "X-Robots-Tag: noindex", "--header", "Content-Usage: search=n"],
        &["--agent", "a", "--html", &html],
        // Wrong in words.
        &["--agent", "a b"],
        &["--agent", ""],
        &["--agent", "a", "--purpose", " "],
        &["--agent", "a", "--app", "\u{e9}"],
        &["--agent", "a", "--user-agent", "b"],
        &["--agent", "a", "--html", "/no/such/file"],
        &["--agent", "a", "--dialect", "none"],
    ] {
        for form in [&[][..], &["--json"]] {
            for asked in [
                &urls[..],
                &urls[..1],
                &[urls[1], "nonsense", "gopher://a/", "https://[/", "", urls[0], "https://a b/\u{7f}"],
                &["--urls", &urls_file],
                &["-"],
            ] {
                let words = [&["check"][..], asker, form, asked].concat();
                same(&words, &fetched, &format!("{}\n{}\n", urls[1], urls[0]));
                let given = ["--robots", &robots];
                same(&[&words[..], &given].concat(), &[], "https://a/private/\n");
            }
        }
    }
    let asked = ["check", "--agent", "a", "https://a/private/", "https://a/x"];
    let long = same(&[&asked[..], &["--robots", &long]].concat(), &[], "");
    assert_eq!(long.status, Some(1));
    same(&[&asked[..], &["--robots", "/no/such/file"]].concat(), &[], "");
    same(&[&asked[..], &["--robots", "-"]].concat(), &[], file);
    same(&[&asked[..], &["--robots", "-", "--charset", "utf-16le"]].concat(), &[], "U\0s\0e\0r\0-\0");
    let url = service.url.clone();
    service.kill();
    let run = mayi(&["check", "--agent", "a", "--server", &url, urls[0]], b"");
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("no answer from"), "{}", run.stderr);
    // Something that is no service.
    let run = mayi(&["check", "--agent", "a", "--server", &found[0], urls[0]], b"");
    assert_eq!((run.status, &*run.stdout), (Some(2), ""), "{}", run.stderr);
}

#[test]
fn a_service_is_set_up_by_file_environment_and_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mayi.toml");
    std::fs::write(&path, "listen = '127.0.0.1:1'\n[limits]\narray = 1\nqueue = 1\nrate = 1\n")
        .expect("a file");
    let printed = |words: &[&str], variables: &[(&str, &str)]| {
        let output = Command::new(env!("CARGO_BIN_EXE_mayi"))
            .args(["serve", "--print-config", "--store", "memory"])
            .args(words)
            .envs(variables.iter().copied())
            .output()
            .expect("the binary runs");
        let text = |octets: Vec<u8>| String::from_utf8(octets).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let config = path.display().to_string();
    let variables = [("MAYI_LIMITS_QUEUE", "2"), ("MAYI_LIMITS_RATE", "2"), ("MAYI_CONFIG", &*config)];
    let (status, text, _) = printed(&["--set", "limits.rate=3"], &variables);
    assert_eq!(status, Some(0));
    for line in ["listen = \"127.0.0.1:1\"", "array = 1", "queue = 2", "rate = 3", "store = \"memory\""]
    {
        assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
    }
    for (words, variables, why) in [
        (&["--set", "limits.rat=3"][..], &[][..], "unknown field `rat`"),
        (&["--set", "limits=3"], &[], "limits"),
        (&["--listen", "0.0.0.0:9309"], &[], "listen_openly"),
        (&[], &[("MAYI_LIMITS_ARRAY", "many")], "array"),
        (&["--config", "/no/such/file"], &[], "can't be read"),
    ] {
        let (status, _, stderr) = printed(words, variables);
        assert_eq!(status, Some(2), "{words:?}");
        assert!(stderr.contains(why), "{words:?}: {stderr}");
    }
    // Lists are given one by one, or with commas between them; the usual variables for traces count.
    let variables = [
        ("MAYI_HOSTS", "a.example, b.example"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318/"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret"),
    ];
    let (_, text, _) = printed(&[], &variables);
    for line in [
        "hosts = [\"a.example\", \"b.example\"]",
        "traces = \"http://127.0.0.1:4318/v1/traces\"",
        "trace_headers = [\"authorization=***\"]",
    ] {
        assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
    }
    let (_, text, _) = printed(&["--host", "c.example", "--otlp", "http://127.0.0.1:1"], &variables);
    for line in ["hosts = [\"c.example\"]", "traces = \"http://127.0.0.1:1\""] {
        assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
    }
    let (_, text, _) = printed(&[], &[variables[1], ("OTEL_SDK_DISABLED", "true")]);
    assert!(!text.contains("4318"), "{text}");
    let key = mayi(&["serve", "--new-key", "me"], b"");
    assert!(key.stdout.starts_with("\"me\" = \"sha256:"), "{}", key.stdout);
    assert!(key.stderr.contains("\nmayi_") && !key.stdout.contains("mayi_"), "{}", key.stderr);
}

#[test]
fn a_list_without_an_end_ends_with_its_reader_too_when_a_service_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let robots = folder.path().join("robots.txt").to_string_lossy().into_owned();
    std::fs::write(&robots, "User-agent: *\nDisallow: /\n").expect("a file");
    let service = Service::start(&["--store", "memory"]);
    let words = ["check", "--robots", &robots, "--agent", "a", "--server", &service.url, "--urls", "-"];
    assert_eq!(endless::status_of_endless_input(&words, "https://example.com/x\n"), Some(1));
}
