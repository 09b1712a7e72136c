//! The service as a process: how it starts, how it is asked, how it ends, and what a crash costs.

mod common;

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
            "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n\
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
    let asked = Arc::new(AtomicUsize::new(0));
    let site = |_| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                asked.fetch_add(1, Ordering::SeqCst);
                let _ = stream.read(&mut [0; 4096]);
                let length = file.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{file}"
                );
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

#[test]
fn check_says_the_same_by_a_service() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("store").display().to_string();
    let robots = folder.path().join("robots.txt").display().to_string();
    let file = "User-agent: *\ndisallow : /private/ # not here\nCrawl-delay: 2\nContent-Signal: ai-train=no\n\
                User-agent: other\nDisallow: /\n";
    std::fs::write(&robots, file).expect("a file");
    let (sites, _) = sites(file, 1);
    let site = &sites[0];
    let service = Service::start(&["--store", "memory"]);
    let urls = [format!("{site}/private/x"), format!("{site}/"), format!("{site}/robots.txt")];
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let fetched = ["--allow-address", "127.0.0.0/8", "--store", &store];
    let page = ["--header", "X-Robots-Tag: noindex", "--header", "Content-Usage: search=n"];
    // So that both have the file already, and tell of it alike but for the second it was fetched in.
    mayi(&[&["check", "--agent", "a"], &fetched[..], &urls[..1]].concat(), b"");
    mayi(&["check", "--agent", "a", "--server", &service.url, urls[0]], b"");
    let without_times = |text: &str| -> String {
        let time = |word: &str| {
            word.len() >= 20 && word.contains('T') && word.contains(':') && word.contains('Z')
        };
        text.split(' ').map(|word| if time(word) { "TIME" } else { word }).collect::<Vec<_>>().join(" ")
    };
    for words in [
        &["check", "--agent", "a"][..],
        &["check", "--agent", "other"],
        &["check", "--agent", "a", "--dialect", "google"],
        &[&["check", "--agent", "a"][..], &page].concat(),
    ] {
        let here = mayi(&[words, &fetched, &urls].concat(), b"");
        let there = mayi(&[words, &["--server", &service.url], &urls].concat(), b"");
        assert_eq!(without_times(&there.stdout), without_times(&here.stdout), "{words:?}");
        assert_eq!((there.status, &there.stderr), (here.status, &here.stderr), "{words:?}");
        for more in [&["--json"][..], &[], &["nonsense"], &["--json", "nonsense"]] {
            let given = [words, &["--robots", &robots], more, &urls].concat();
            let here = mayi(&given, b"");
            let there = mayi(&[&given[..], &["--server", &service.url]].concat(), b"");
            assert_eq!(there.stdout, here.stdout, "{given:?}");
            assert_eq!((there.status, &there.stderr), (here.status, &here.stderr), "{given:?}");
        }
    }
    let url = service.url.clone();
    service.kill();
    let run = mayi(&["check", "--agent", "a", "--server", &url, urls[0]], b"");
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("gives no answer"), "{}", run.stderr);
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
    let key = mayi(&["serve", "--new-key", "me"], b"");
    assert!(key.stdout.contains("\"me\" = \"sha256:"), "{}", key.stdout);
}
