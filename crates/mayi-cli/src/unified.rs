//! Two texts and how the lines of one become those of the other → a unified difference.
//!
//! In a file or a pipe, the difference of a file is octet for octet what `patch` and `git apply` accept,
//! whatever the line ends. On a terminal, and for standard input, to which nothing can be applied, control
//! characters are escaped, and line ends are shown if they change.

use std::io::{self, IsTerminal, Write};

use anstyle::Style;
use similar::{DiffTag, TextDiff};

use crate::text::{BAD, DIM, GOOD, STRONG, shown, styled};

/// How a line becomes another.
pub(crate) enum Step<'f> {
    Same(&'f [u8]),
    Gone(&'f [u8]),
    New(&'f [u8]),
}

/// The shortest way from some lines to others.
pub(crate) fn steps<'f>(old: &[&'f [u8]], new: &[&'f [u8]]) -> Vec<Step<'f>> {
    let mut steps = Vec::new();
    for change in TextDiff::from_slices(old, new).ops() {
        let (gone, come) = (&old[change.old_range()], &new[change.new_range()]);
        if change.tag() == DiffTag::Equal {
            steps.extend(gone.iter().map(|line| Step::Same(line)));
        } else {
            steps.extend(gone.iter().map(|line| Step::Gone(line)));
            steps.extend(come.iter().map(|line| Step::New(line)));
        }
    }
    steps
}

/// How many lines are shown around what changes.
const CONTEXT: usize = 3;

/// Whether a difference is for people, rather than for programs that apply it to a file.
fn is_for_people(is_file: bool) -> bool {
    !is_file || io::stdout().is_terminal()
}

/// Prints a difference on standard output, after the contents of `out`, which may remove the colours of text
/// for people.
pub(crate) fn print(out: &mut impl Write, difference: &[u8], is_file: bool) -> io::Result<()> {
    if is_for_people(is_file) {
        return out.write_all(difference);
    }
    out.flush()?;
    let mut stdout = io::stdout().lock();
    stdout.write_all(difference)?;
    stdout.flush()
}

/// How a file becomes another, for standard output.
pub(crate) fn difference(
    name: &str,
    is_file: bool,
    old: &[u8],
    new: &[u8],
    steps: impl for<'f> Fn(&[&'f [u8]], &[&'f [u8]]) -> Vec<Step<'f>>,
) -> Vec<u8> {
    let is_shown = is_for_people(is_file);
    let mut out = Vec::new();
    let plain = Style::new();
    let (strong, dim) = if is_shown { (STRONG, DIM) } else { (plain, plain) };
    // A line ends with LF to `patch`, and with CR too to a crawler.
    let ends: &[u8] = if is_shown { b"\r\n" } else { b"\n" };
    let (old_lines, new_lines) = (lines(old, ends), lines(new, ends));
    let steps = steps(&old_lines, &new_lines);
    let end = end_of_all(&old_lines).filter(|end| end_of_all(&new_lines) == Some(end)).unwrap_or(b"\n");
    let text_of = |line: &[u8]| {
        if is_shown {
            shown_line(line.strip_suffix(end).unwrap_or(line)).into_bytes()
        } else {
            line.strip_suffix(b"\n").unwrap_or(line).to_vec()
        }
    };
    let name = if is_shown { shown(name.as_bytes()) } else { name.to_owned() };
    // Behind a name with a space, a tab says where it ends.
    let tab = if name.contains(' ') { "\t" } else { "" };
    for sign in ["---", "+++"] {
        out.extend(format!("{}\n", styled(strong, format_args!("{sign} {name}{tab}"))).into_bytes());
    }
    let is_change = |step: &Step<'_>| !matches!(step, Step::Same(_));
    let changes: Vec<usize> = (0..steps.len()).filter(|&index| is_change(&steps[index])).collect();
    // Lines before the next step, in the old file and in the new one.
    let (mut at, mut old_line, mut new_line) = (0, 0, 0);
    let mut next = 0;
    while let Some(&first) = changes.get(next) {
        // A hunk goes on while the next change is within the lines shown around this one.
        let mut last = first;
        while let Some(&change) = changes.get(next).filter(|change| **change <= last + 2 * CONTEXT) {
            (last, next) = (change, next + 1);
        }
        let start = first.saturating_sub(CONTEXT);
        let end = (last + CONTEXT + 1).min(steps.len());
        let count = |steps: &[Step<'_>]| {
            let new = steps.iter().filter(|step| matches!(step, Step::New(_))).count();
            let gone = steps.iter().filter(|step| matches!(step, Step::Gone(_))).count();
            (steps.len() - new, steps.len() - gone)
        };
        let (skipped_old, skipped_new) = count(&steps[at..start]);
        (old_line, new_line) = (old_line + skipped_old, new_line + skipped_new);
        let (old_count, new_count) = count(&steps[start..end]);
        // An empty range is said to start at the line before it.
        let from = |line: usize, count: usize| if count == 0 { line } else { line + 1 };
        let (old_from, new_from) = (from(old_line, old_count), from(new_line, new_count));
        let head = format!("@@ -{old_from},{old_count} +{new_from},{new_count} @@");
        out.extend(format!("{}\n", styled(dim, head)).into_bytes());
        for step in &steps[start..end] {
            let (line, sign, style) = match step {
                Step::Same(line) => (line, b' ', plain),
                Step::Gone(line) => (line, b'-', BAD),
                Step::New(line) => (line, b'+', GOOD),
            };
            let style = if is_shown { style } else { plain };
            out.extend(style.render().to_string().into_bytes());
            out.push(sign);
            out.extend(text_of(line));
            out.extend(style.render_reset().to_string().into_bytes());
            out.push(b'\n');
            let has_end = line.ends_with(b"\n") || is_shown && line.ends_with(b"\r");
            if !has_end {
                out.extend(b"\\ No newline at end of file\n");
            }
        }
        (at, old_line, new_line) = (end, old_line + old_count, new_line + new_count);
    }
    out
}

/// Lines with their ends, each of these octets or CR and LF.
fn lines<'t>(text: &'t [u8], ends: &[u8]) -> Vec<&'t [u8]> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let length = match rest.iter().position(|octet| ends.contains(octet)) {
            None => rest.len(),
            Some(end) if rest[end..].starts_with(b"\r\n") => end + 2,
            Some(end) => end + 1,
        };
        let (line, after) = rest.split_at(length);
        lines.push(line);
        rest = after;
    }
    lines
}

/// How all lines end, where they end alike; the last line may have no end.
fn end_of_all(lines: &[&[u8]]) -> Option<&'static [u8]> {
    let ends: [&[u8]; 3] = [b"\r\n", b"\n", b"\r"];
    let mut found = lines.iter().filter_map(|line| ends.into_iter().find(|end| line.ends_with(end)));
    let first = found.next()?;
    found.all(|end| end == first).then_some(first)
}

/// A line as it is shown: with its tabs, because white space often changes.
fn shown_line(line: &[u8]) -> String {
    line.split(|octet| *octet == b'\t').map(shown).collect::<Vec<_>>().join("\t")
}
