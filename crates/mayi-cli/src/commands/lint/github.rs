//! Diagnostics as annotations of GitHub Actions: one workflow command per line.

use std::io::{self, Write};

use mayi::lint::{Linted, Severity};

use super::text::{left_out, more};
use crate::text::shown;

pub(super) fn write(out: &mut impl Write, file: &str, linted: &Linted<'_>) -> io::Result<()> {
    for found in linted.diagnostics() {
        let command = match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let place = found.place.map(|place| {
            format!(",line={},col={},endColumn={}", place.line, place.column, place.end_column)
        });
        let title = format!("{} {}", found.lint.code, found.lint.name);
        let fix = found.fix.as_ref().map(|fix| format!(" Fix: {}.", fix.label)).unwrap_or_default();
        let more = more(found).map(|more| format!(" {}.", capitalised(&more))).unwrap_or_default();
        let message = format!("{}. {}{more}{fix}", capitalised(&found.message), found.reading);
        writeln!(
            out,
            "::{command} file={}{},title={}::{}",
            property(file),
            place.unwrap_or_default(),
            property(&title),
            data(&shown(message.as_bytes()))
        )?;
    }
    match left_out(linted) {
        Some(left_out) => writeln!(out, "::notice file={},title=mayi lint::{left_out}", property(file)),
        None => Ok(()),
    }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

/// Escapes what would end the command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes what would end a property, too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_file_ends_the_command() {
        let octets = b"User-agent: *\nDisallow: a\x0bb::error::%0A\n";
        let linted = mayi::lint::lint(octets, &mayi::lint::Options::default());
        let mut out = Vec::new();
        write(&mut out, "a,b:c\n.txt", &linted).expect("it is written");
        let text = String::from_utf8(out).expect("text");
        assert!(text.lines().all(|line| line.starts_with("::")), "{text}");
        assert!(text.contains("file=a%2Cb%3Ac%0A.txt,line=2,"), "{text}");
        assert!(text.contains("%250A") && text.contains("a\\u{b}b"), "{text}");
    }
}
