//! Applies the fixes that change no decision.

use std::collections::BTreeMap;

use super::diagnostic::{Edit, Fix};
use super::options::Options;
use super::{LINTS, lint};

/// A file with its fixes applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fixed {
    /// The octets of the file.
    pub octets: Vec<u8>,
    /// How many fixes of each code were applied.
    pub applied: BTreeMap<&'static str, usize>,
}

/// Applies every fix that is safe, until none is left. Comments and line ends stay. A file
/// whose octets had to be decoded, or that is larger than the limit, is left as it is.
///
/// ```
/// use mayi::lint::{Options, fix};
///
/// let fixed = fix(b"user agent: *\r\nDisallow /a # why\r\n", &Options::default());
/// assert_eq!(fixed.octets, b"User-agent: *\r\nDisallow: /a # why\r\n");
/// assert_eq!(fixed.applied["S001"], 1);
/// ```
pub fn fix(octets: &[u8], options: &Options) -> Fixed {
    let options = options.clone().with_most_of_each(usize::MAX);
    let mut fixed = Fixed { octets: octets.to_vec(), applied: BTreeMap::new() };
    // One lint at a time: each knows that its own fixes go together, and none knows of the others'.
    for _ in 0..MOST_ROUNDS {
        let linted = lint(&fixed.octets, &options);
        let Some(start) = linted.text_start() else { break };
        // Lines behind the limit would come within it, and say something that nobody has read before.
        if linted.robots().cut().is_some() {
            break;
        }
        let is_safe = |fix: &&Fix| fix.safe;
        let safe = |code: &str| -> Vec<&Fix> {
            let of_code = linted.diagnostics().iter().filter(|found| found.lint.code == code);
            of_code.filter_map(|found| found.fix.as_ref()).filter(is_safe).collect()
        };
        let Some((code, safe_ones)) = LINTS
            .iter()
            .map(|lint| (lint.code, safe(lint.code)))
            .find(|(_, safe_ones)| !safe_ones.is_empty())
        else {
            break;
        };
        let (edits, count) = apart(&safe_ones);
        let text_end = start + linted.robots().text().len();
        let mut changed = fixed.octets[..start].to_vec();
        changed.extend(edited(linted.robots().text(), &edits));
        changed.extend_from_slice(&fixed.octets[text_end..]);
        if changed.len() > options.reading().limits().file_octets() {
            break;
        }
        *fixed.applied.entry(code).or_default() += count;
        fixed.octets = changed;
    }
    fixed
}

/// More rounds than there are lints with a fix that could make work for each other.
const MOST_ROUNDS: usize = 40;

/// The edits of the fixes that do not touch each other, in order, and of how many fixes they are.
fn apart<'f>(fixes: &[&'f Fix]) -> (Vec<&'f Edit>, usize) {
    let mut sorted = fixes.to_vec();
    sorted.sort_by_key(|fix| fix.edits.first().map(|edit| edit.span));
    let (mut edits, mut count, mut end) = (Vec::new(), 0, 0);
    for fix in sorted {
        let (Some(first), Some(last)) = (fix.edits.first(), fix.edits.last()) else { continue };
        if first.span.start >= end {
            edits.extend(&fix.edits);
            end = last.span.end;
            count += 1;
        }
    }
    (edits, count)
}

/// A text with edits made that are in order and do not overlap.
fn edited(text: &[u8], edits: &[&Edit]) -> Vec<u8> {
    let mut edited = Vec::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        edited.extend_from_slice(&text[at..edit.span.start as usize]);
        edited.extend_from_slice(&edit.replacement);
        at = edit.span.end as usize;
    }
    edited.extend_from_slice(&text[at..]);
    edited
}
