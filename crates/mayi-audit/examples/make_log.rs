//! Makes an access log whose truth is known: crawlers, some that only use their names, a change of robots.txt,
//! and lines that can't be read. The generator is the one of the tests.
//!
//! ```console
//! $ cargo run --release -p mayi-audit --example make_log -- FOLDER [MEGABYTES] [FORMAT] [SEED]
//! ```
//!
//! Into the folder go `access.log`, `old.txt` and `new.txt` (the robots.txt before and after 2026-10-10),
//! `ranges/`, and `truth.json` with the figures that an audit has to come to.

#[path = "../tests/support/mod.rs"]
mod support;

use std::error::Error;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::json;
use support::{FORMATS, Maker, NEW, OLD, Plan, RANGES, Truth, line, log};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let word = |place: usize| words.get(place).map(String::as_str);
    let folder = Path::new(word(0).ok_or("which folder? make_log FOLDER [MEGABYTES] [FORMAT] [SEED]")?);
    let octets = word(1).unwrap_or("10").parse::<usize>()? * 1_000_000;
    let format = word(2).unwrap_or("combined");
    if !FORMATS.contains(&format) {
        return Err(format!("`{format}` is not one of {}", FORMATS.join(", ")).into());
    }
    let seed = word(3).unwrap_or("1").parse()?;

    fs::create_dir_all(folder.join("ranges"))?;
    fs::write(folder.join("old.txt"), OLD)?;
    fs::write(folder.join("new.txt"), NEW)?;
    for (name, text) in RANGES {
        fs::write(folder.join("ranges").join(name), text)?;
    }
    let mut out = BufWriter::new(fs::File::create(folder.join("access.log"))?);
    let mut maker = Maker::new(Plan { seed, browsers: 14, pages: 20_000, slips: 10_000 });
    let mut text = log(&[], format);
    let mut written = 0;
    while written < octets {
        line(&mut text, &maker.make(), format);
        if text.len() > 1 << 20 || written + text.len() >= octets {
            out.write_all(text.as_bytes())?;
            written += text.len();
            text.clear();
        }
    }
    out.flush()?;
    fs::write(folder.join("truth.json"), truth(&maker.truth).to_string())?;
    println!("{written} octets, {} lines", maker.truth.read + maker.truth.unreadable);
    Ok(())
}

/// The figures, by the names that the report has for them.
fn truth(truth: &Truth) -> serde_json::Value {
    let crawlers = truth.crawlers.iter().map(|(name, of)| {
        json!({
            "crawler": name,
            "requests": of.requests,
            "allowed": of.allowed,
            "refused": of.refused,
            "excused": of.excused,
            "undecided": of.undecided,
            "robots_txt_requests": of.robots_txt,
            "verified": of.verified,
            "unverified": of.unverified,
            "contradicted": of.contradicted,
        })
    });
    let rules = truth.rules.iter().map(|((file, line), (requests, excused))| {
        let requests: u64 = requests.iter().sum();
        json!({ "file": file, "line": line, "requests": requests, "excused": excused })
    });
    json!({
        "lines": { "read": truth.read, "unreadable": truth.unreadable },
        "browsers": truth.browsers,
        "nameless": truth.nameless,
        "crawlers": crawlers.collect::<Vec<_>>(),
        "rules": rules.collect::<Vec<_>>(),
    })
}
