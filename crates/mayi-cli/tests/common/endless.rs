//! Runs the binary with input that has no end and with an output that nobody reads.

use std::io::Write;
use std::process::{Command, Stdio};

/// The exit status of a command that reads this line without end while nobody reads its output. Fails if the
/// command goes on reading.
pub(crate) fn status_of_endless_input(words: &[&str], line: &str) -> Option<i32> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mayi"))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("its input");
    let lines = line.repeat(64);
    let goes_on = (0..(1 << 19) / lines.len()).all(|_| input.write_all(lines.as_bytes()).is_ok());
    if goes_on {
        child.kill().expect("it can be ended");
    }
    let status = child.wait().expect("it ends").code();
    assert!(!goes_on, "{words:?} goes on although its output is closed");
    status
}
