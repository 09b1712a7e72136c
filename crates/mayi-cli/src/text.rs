//! Text from the network → text that is safe to show on a terminal.

use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};

pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const STRONG: Style = Style::new().bold();

/// Escapes what a terminal could take as a command or that would hide or reorder text: control characters,
/// invisible characters, and octets that are not text.
pub(crate) fn shown(octets: &[u8]) -> String {
    let mut shown = String::with_capacity(octets.len());
    for chunk in octets.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == '\t' {
                shown.push(' ');
            } else if character.is_control() || is_invisible(character) {
                shown.extend(character.escape_unicode());
            } else {
                shown.push(character);
            }
        }
        for octet in chunk.invalid() {
            write!(shown, "\\x{octet:02X}").expect("writing to memory does not fail");
        }
    }
    shown
}

/// Standard output for people. If its reader closes it, the rest is dropped without an error: what the command
/// found out still decides its exit status.
pub(crate) type Out = BufWriter<UntilClosed>;

pub(crate) fn out() -> Out {
    BufWriter::new(UntilClosed(anstream::AutoStream::auto(io::stdout())))
}

/// Whether the reader of standard output has closed it. A process has one standard output, so this is global.
/// Work without an end checks here whether it should stop.
pub(crate) fn is_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

pub(crate) struct UntilClosed(anstream::AutoStream<io::Stdout>);

/// The value, or the one for a closed output.
fn unless_closed<T>(written: io::Result<T>, closed: T) -> io::Result<T> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            IS_CLOSED.store(true, Ordering::Relaxed);
            Ok(closed)
        }
        written => written,
    }
}

impl Write for UntilClosed {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if is_closed() {
            return Ok(text.len());
        }
        unless_closed(self.0.write(text), text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if is_closed() {
            return Ok(());
        }
        unless_closed(self.0.flush(), ())
    }
}

/// Standard output for rows of others' text: octet by octet into a file or a pipe, and escaped on a
/// terminal. It is written to by whole lines.
pub(crate) struct RowsOut {
    stdout: io::Stdout,
    is_terminal: bool,
}

impl RowsOut {
    pub(crate) fn new() -> Self {
        let stdout = io::stdout();
        Self { is_terminal: stdout.is_terminal(), stdout }
    }
}

impl Write for RowsOut {
    fn write(&mut self, rows: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.stdout.write(rows);
        }
        self.stdout.write_all(&shown_rows(rows))?;
        Ok(rows.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

/// The same as [`shown`], but line ends and tabs are kept.
fn shown_rows(rows: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(rows.len());
    for part in rows.split_inclusive(|octet| matches!(octet, b'\n' | b'\t')) {
        let (text, end) = match part.split_last() {
            Some((b'\n' | b'\t', text)) => part.split_at(text.len()),
            _ => (part, &b""[..]),
        };
        out.extend_from_slice(shown(text).as_bytes());
        out.extend_from_slice(end);
    }
    out
}

/// Zero-width characters, direction marks and overrides, line separators, byte order marks.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}'
    )
}

/// `text` in a style.
pub(crate) fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// `1 octet`, `2 octets`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// How wide the output may be: as the terminal is, as `COLUMNS` says, or 80.
pub(crate) fn columns() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    said.or_else(terminal).unwrap_or(80).clamp(60, 200)
}

/// Text that is no longer than some characters; what is left out, nearer to its end, is `…`.
pub(crate) fn clipped(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    // The end of a path says what it is, and the start of a sentence does.
    let end = most / 4;
    let start = most.saturating_sub(end + 1);
    let start: String = text.chars().take(start).collect();
    let end: String = text.chars().skip(length - end).collect();
    format!("{start}…{end}")
}

/// Names with commas between them: all of them, or as many as there is room for and how many more.
pub(crate) fn listed(names: &[String], room: usize, all: bool) -> String {
    let mut text = String::new();
    for (place, name) in names.iter().enumerate() {
        let more = names.len() - place;
        let is_room = text.chars().count() + name.chars().count() + 22 <= room || more == 1;
        if place > 0 && !all && !is_room {
            return format!("{text} and {more} more (--all)");
        }
        if place > 0 {
            text.push_str(", ");
        }
        text.push_str(name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_and_lists() {
        assert_eq!(clipped("abcdef", 6), "abcdef");
        assert_eq!(clipped("abcdefgh", 6), "abcd…h");
        let names: Vec<_> = ["one", "two", "three"].map(str::to_owned).into();
        assert_eq!(listed(&names, 80, false), "one, two, three");
        assert_eq!(listed(&names, 27, false), "one and 2 more (--all)");
        assert_eq!(listed(&names, 27, true), "one, two, three");
    }

    #[test]
    fn nothing_reaches_the_terminal_as_a_command() {
        assert_eq!(shown(b"/a\x1b[31m\tb\x07\xff"), "/a\\u{1b}[31m b\\u{7}\\xFF");
        assert_eq!(shown_rows(b"a\tb\x1b[31m\r\n\xff"), b"a\tb\\u{1b}[31m\\u{d}\n\\xFF");
        assert_eq!(shown("é\u{202e}x\u{9b}".as_bytes()), "é\\u{202e}x\\u{9b}");
    }
}
