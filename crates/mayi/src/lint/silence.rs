//! Comments that silence a lint: `# mayi: allow(S001, shadowed-rule)`, on the line itself or alone on
//! the line above it.

use memchr::memmem;

use super::Lint;
use super::lines::Lines;
use crate::span::Span;

/// One name in a silencing comment. A comment can have hundreds of thousands, so each is kept small.
pub(super) struct Silence {
    /// The name as written.
    pub(super) span: Span,
    /// The lint that it silences, by its place in the registry, if there is one of that name.
    pub(super) lint: Option<u8>,
    /// The line, by its index, on which it does.
    pub(super) line: u32,
}

/// Every silence of a file, in its order.
pub(super) fn of_lines(text: &[u8], lines: &Lines<'_>) -> Vec<Silence> {
    let mut silences = Vec::new();
    if memmem::find(text, b"mayi:").is_none() {
        return silences;
    }
    for (index, line) in lines.iter().enumerate() {
        let Some(comment) = line.comment else { continue };
        let octets = &text[comment.range()];
        let Some(names) = names_in(octets) else { continue };
        // Alone on its line it is for the next one.
        let is_alone = text[line.span.start as usize..comment.start as usize].trim_ascii().is_empty();
        for name in names.split(|&octet| octet == b',') {
            let name = name.trim_ascii();
            if name.is_empty() {
                continue;
            }
            silences.push(Silence {
                span: Span::of(name, text),
                lint: str::from_utf8(name).ok().and_then(Lint::named).map(|lint| lint.index() as u8),
                line: (index + usize::from(is_alone)) as u32,
            });
        }
    }
    silences
}

/// The text in the brackets of `# mayi: allow(…)`.
fn names_in(comment: &[u8]) -> Option<&[u8]> {
    let rest = without_hash(comment).strip_prefix(b"mayi:")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"allow")?.trim_ascii_start().strip_prefix(b"(")?;
    Some(&rest[..memmem::find(rest, b")")?])
}

/// A comment without all of its leading `#` and the white space after them.
fn without_hash(comment: &[u8]) -> &[u8] {
    let hashes = comment.iter().take_while(|&&octet| octet == b'#').count();
    comment[hashes..].trim_ascii_start()
}
