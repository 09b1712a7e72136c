//! Besieges `mayi serve`: honest clients ask it while every known kind of attacker does its worst, all on loopback.
//!
//! `siege PROGRAM SECONDS [strict]`. It passes when every honest request gets the right answer, nothing panics, resident
//! memory stays below the sum of the documented bounds, and descriptors and threads return to where they were. With
//! `strict` the honest requests also have to be quick: that is for a machine on which nothing else runs. Addresses of
//! loopback stand for clients. The attackers are a process of their own (`siege attack …`) at a low priority: they would
//! be on other machines, and what they take of this one's processors is not what the service is asked about. See
//! scripts/siege.

mod attackers;
mod honest;
#[path = "../../tests/common/service.rs"]
mod service;
mod sites;

use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use honest::Heard;
use service::Process;
use sites::Sites;

/// The sum of what docs/operations.md says may be taken: files that are ready, what is prepared, bodies and answers, the
/// log, and 128 MiB for the program, its threads and its connections.
const MOST_MEMORY_MIB: u64 = 512 + 64 + 256 + 4 + 128;

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &*words {
        [word, service, rest @ ..] if word == "attack" => {
            attackers::attack(service.parse().expect("an address"), &Sites::of_words(rest)).await;
            ExitCode::SUCCESS
        }
        [program, seconds, rest @ ..] => {
            let seconds = seconds.parse().expect("a number of seconds");
            besiege(program, seconds, rest.iter().any(|word| word == "strict")).await
        }
        _ => {
            eprintln!("siege PROGRAM SECONDS [strict]");
            ExitCode::from(2)
        }
    }
}

async fn besiege(program: &str, seconds: u64, is_strict: bool) -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let words = "limits.idle_seconds=10 limits.header_seconds=5 fetch.timeout_seconds=10";
    let words: Vec<&str> = words.split(' ').flat_map(|word| ["--set", word]).collect();
    let stderr = std::fs::File::create(&log).expect("a file");
    let process = Process::start(Command::new(program), &words, stderr.into());
    let service = process.address.parse().expect("an address");
    let sites = Sites::start().await;
    let quiet = Duration::from_secs((seconds / 6).max(5));
    let before = honest::ask_for(quiet, service, &sites).await;
    let (threads, descriptors) = (process.status("Threads:"), descriptors_of(&process));
    println!("without attackers: {before}; {threads} threads, {descriptors} descriptors");

    let attackers = Attackers::start(&process.address, &sites);
    let besieged = Duration::from_secs(seconds).saturating_sub(quiet);
    let during = honest::ask_for(besieged, service, &sites).await;
    println!("with attackers:    {during}");
    println!("the attackers struck {} times", attackers.end());

    let mut checks = Checks::of([&before, &during]);
    let peak = process.peak();
    checks.expect(peak <= MOST_MEMORY_MIB, format!("{peak} MiB at the most, of {MOST_MEMORY_MIB}"));
    // Connections end by the limits that they were started with.
    let mut left = (0, 0);
    for _ in 0..60 {
        left = (process.status("Threads:"), descriptors_of(&process));
        if left.0 <= threads + 2 && left.1 <= descriptors + 8 {
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    checks.expect(left.0 <= threads + 2, format!("{} threads, {threads} before", left.0));
    checks.expect(left.1 <= descriptors + 8, format!("{} descriptors, {descriptors} before", left.1));
    let log = std::fs::read_to_string(&log).unwrap_or_default();
    let lines = log.lines().count();
    checks.expect(!log.contains("panicked"), format!("no panic in {lines} lines of log"));
    if is_strict {
        let (p99, ratio) = (during.p99(), during.p99() / before.p99().max(0.001));
        checks.expect(p99 < 50.0, format!("p99 {p99:.1} ms, and may be 50"));
        checks
            .expect(ratio <= 5.0, format!("{ratio:.1} times the p99 without attackers, and may be 5"));
    }
    checks.result()
}

fn descriptors_of(process: &Process) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", process.child.id())).expect("the service runs").count()
}

/// The process of the attackers, which ends with this.
struct Attackers(Child);

impl Attackers {
    fn start(service: &str, sites: &Sites) -> Self {
        let program = std::env::current_exe().expect("a program");
        let child = Command::new("nice")
            .args(["-n", "10"])
            .arg(program)
            .args(["attack", service])
            .args(sites.words())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        Self(child.expect("the attackers run"))
    }

    /// Calls them back, and gives how often they have struck.
    fn end(mut self) -> String {
        drop(self.0.stdin.take());
        let mut text = String::new();
        let mut stdout = self.0.stdout.take().expect("it was piped");
        let _ = std::io::Read::read_to_string(&mut stdout, &mut text);
        text.trim().to_owned()
    }
}

impl Drop for Attackers {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What was expected, and what did not hold.
struct Checks(Vec<String>);

impl Checks {
    fn of(heard: [&Heard; 2]) -> Self {
        Self(heard.iter().flat_map(|heard| heard.failures.clone()).collect())
    }

    fn expect(&mut self, holds: bool, what: String) {
        println!("{} {what}", if holds { "holds: " } else { "BROKEN:" });
        if !holds {
            self.0.push(what);
        }
    }

    fn result(&self) -> ExitCode {
        for failure in self.0.iter().take(20) {
            println!("FAILED: {failure}");
        }
        if self.0.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
