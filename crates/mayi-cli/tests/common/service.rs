//! A running `mayi serve` on loopback, and what attackers send to one: for the tests of attacks and for the siege.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A running `mayi serve`, which ends with this.
pub(crate) struct Process {
    pub(crate) child: Child,
    /// Where it listens.
    pub(crate) address: String,
}

impl Process {
    /// Starts the program on a free port, with a store in memory and sites on loopback allowed.
    pub(crate) fn start(mut program: Command, words: &[&str], stderr: Stdio) -> Self {
        let mut child = program
            .args(["serve", "--listen", "127.0.0.1:0", "--allow-address", "127.0.0.0/8"])
            .args(["--store", "memory"])
            .args(words)
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .expect("the program runs");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it has standard output");
        BufReader::new(stdout).read_line(&mut line).expect("it says where it is");
        let url = line.trim().strip_prefix("mayi listens on http://").expect("it says where it is");
        let address = url.trim_end_matches('/').to_owned();
        Self { child, address }
    }

    /// A number of `/proc/…/status`, which gives memory in KiB.
    pub(crate) fn status(&self, name: &str) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = text.lines().find(|line| line.starts_with(name)).expect("a number");
        line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
    }

    /// The most memory that it ever took, in MiB.
    pub(crate) fn peak(&self) -> u64 {
        self.status("VmHWM:") / 1024
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request with a body of JSON, for a connection of its own.
pub(crate) fn request(method: &str, path: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut octets = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n"
    )
    .into_bytes();
    octets.extend_from_slice(body);
    octets
}

/// The start of an HTTP/2 connection that takes nothing, and requests by it.
pub(crate) fn two_without_window(path: &str, requests: u32) -> Vec<u8> {
    let frame = |kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        let length = u32::try_from(payload.len()).expect("it is short").to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    };
    let mut octets = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    // SETTINGS_INITIAL_WINDOW_SIZE is 4.
    octets.extend(frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]));
    for number in 0..requests {
        // GET, http, and two fields as they are (RFC 7541).
        let mut fields = vec![0x82, 0x86, 0x01, 9];
        fields.extend_from_slice(b"localhost");
        fields.extend_from_slice(&[0x04, u8::try_from(path.len()).expect("it is short")]);
        fields.extend_from_slice(path.as_bytes());
        octets.extend(frame(1, 5, 2 * number + 1, &fields));
    }
    octets
}
