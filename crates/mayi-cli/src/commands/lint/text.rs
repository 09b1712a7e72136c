//! Diagnostics for people: the line, what is wrong with it, how crawlers read it, what to do.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use mayi::lint::{Diagnostic, Linted, Place, Severity, Tally};

use crate::snippet;
use crate::text::{BAD, DIM, STRONG, counted, shown, styled};

const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// How many lines of a finding are named.
const MOST_LINES: usize = 10;

/// How many places of a lint a list has at the most.
const MOST_OF_A_LINT: usize = 1000;

pub(super) fn write(out: &mut impl Write, file: &str, linted: &Linted<'_>) -> io::Result<()> {
    for found in linted.diagnostics() {
        write_one(out, file, linted, found)?;
    }
    write_more(out, file, linted)?;
    write_counts(out, file, linted)
}

fn write_one(
    out: &mut impl Write,
    file: &str,
    linted: &Linted<'_>,
    found: &Diagnostic,
) -> io::Result<()> {
    let style = match found.severity {
        Severity::Error => BAD,
        Severity::Warning => WARNING,
        Severity::Note => NOTE,
    };
    let severity =
        styled(style, format_args!("{}[{} {}]", found.severity, found.lint.code, found.lint.name));
    let message = styled(STRONG, shown(found.message.as_bytes()));
    let place =
        found.place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
    writeln!(out, "{file}{place}: {severity}: {message}")?;
    if let Some(place) = found.place {
        write_line(out, linted, place, style)?;
    }
    if let Some(more) = more(found) {
        writeln!(out, "      {} {more}", styled(DIM, "="))?;
    }
    let also =
        |sign: &str, text: &str| format!("      {} {}", styled(DIM, sign), shown(text.as_bytes()));
    writeln!(out, "{}", also("=", &found.reading))?;
    for other in &found.related {
        let text = format!("line {}: {}", other.place.line, other.message);
        writeln!(out, "{}", also("=", &text))?;
    }
    if let Some(fix) = &found.fix {
        let how = if fix.safe { "fix" } else { "suggestion" };
        writeln!(out, "{}", also("=", &format!("{how}: {}", fix.label)))?;
    }
    writeln!(out)
}

/// Where else a finding is: `and 197 more: lines 4, 7, 9 …`.
pub(super) fn more(found: &Diagnostic) -> Option<String> {
    let count = found.count.checked_sub(1).filter(|count| *count > 0)?;
    let lines: Vec<_> = found.lines().into_iter().map(|line| line.to_string()).skip(1).collect();
    let shown = lines[..lines.len().min(MOST_LINES)].join(", ");
    Some(match lines.len() {
        0 => format!("and {count} more on the same line"),
        1 if count == 1 => format!("and 1 more: line {shown}"),
        length if length <= MOST_LINES && length == count => format!("and {count} more: lines {shown}"),
        _ => format!("and {count} more: lines {shown} …"),
    })
}

/// The line, or what is around the place in it, with the place underlined.
fn write_line(out: &mut impl Write, linted: &Linted<'_>, place: Place, style: Style) -> io::Result<()> {
    let text = linted.robots().text();
    let (start, end) = (place.span.start as usize, place.span.end as usize);
    let is_end = |octet: &u8| *octet == b'\n' || *octet == b'\r';
    let line_start = text[..start].iter().rposition(is_end).map_or(0, |at| at + 1);
    let line_end = text[end..].iter().position(is_end).map_or(text.len(), |at| end + at);
    let (line, place_in_line) = (&text[line_start..line_end], start - line_start..end - line_start);
    snippet::write_marked(out, ("", ""), place.line, line, place_in_line, style)
}

/// How many there are that were not shown.
fn write_more(out: &mut impl Write, file: &str, linted: &Linted<'_>) -> io::Result<()> {
    for (code, total) in linted.totals() {
        let shown_ones = linted.diagnostics().iter().filter(|found| found.lint.code == *code);
        let (places, counts): (Vec<_>, Vec<_>) =
            shown_ones.map(|found| (1 + found.others.len(), found.count)).unzip();
        let more = total - counts.iter().sum::<usize>();
        // A list has a limit of its own, whatever --most says.
        let is_full = places.iter().sum::<usize>() >= MOST_OF_A_LINT;
        let hint = if is_full { "" } else { " (--most shows more)" };
        if more > 0 {
            writeln!(out, "{file}: {code}: {more} more{hint}")?;
        }
    }
    if let Some(left_out) = left_out(linted) {
        writeln!(out, "{file}: {left_out}")?;
    }
    match linted.spent().ran_out {
        Some(lint) => writeln!(out, "{file}: {lint} ended early: there may be more findings"),
        None => Ok(()),
    }
}

/// What a list that is not whole says about that.
pub(super) fn left_out(linted: &Linted<'_>) -> Option<String> {
    match linted.left_out() {
        0 => None,
        1 => Some("and 1 more place left out".to_owned()),
        count => Some(format!("and {count} more places left out")),
    }
}

fn write_counts(out: &mut impl Write, file: &str, linted: &Linted<'_>) -> io::Result<()> {
    if linted.totals().is_empty() {
        return writeln!(out, "{file}: nothing to report");
    }
    let counts: Vec<_> = [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .map(|severity| (linted.count(severity), severity.name()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| counted(count, name))
        .collect();
    // A file that was decoded or cut is left as it is.
    let is_fixed = linted.text_start().is_some() && linted.robots().cut().is_none();
    let fixable = match linted.tallies().values().map(Tally::safe_fixes).sum() {
        _ if !is_fixed => String::new(),
        0_usize => String::new(),
        count => format!("; --fix removes {count}"),
    };
    writeln!(out, "{file}: {}{fixable}", counts.join(", "))
}
