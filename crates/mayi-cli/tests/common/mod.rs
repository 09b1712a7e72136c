//! Runs the binary with words and standard input.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

/// What came of a run.
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `mayi` with these words and this standard input.
pub(crate) fn mayi(words: &[&str], stdin: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mayi"))
        .args(words)
        // What a terminal is like must not matter here.
        .env_remove("COLUMNS")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut input = child.stdin.take().expect("it has standard input");
    let stdin = stdin.to_vec();
    // Fed from a thread of its own: the command answers while it reads.
    let feeder = thread::spawn(move || {
        // A command that needs no input may be gone already.
        let _ = input.write_all(&stdin);
    });
    let output = child.wait_with_output().expect("the binary ends");
    feeder.join().expect("the feeder does not panic");
    let text = |octets| String::from_utf8(octets).expect("the command prints UTF-8");
    Run { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}
