//! A line that nobody reads → the one reason why, so that one lint speaks of it and no other.

use super::characters::{self, folded, is_invisible, without_invisible};
use super::nearest::nearest;
use crate::dialect::Dialect;
use crate::directive::{DIRECTIVES, Directive, USER_AGENT};
use crate::syntax::RawRecord;

/// Why a line is no record that a directive knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Oddity {
    /// A byte order mark is in it.
    ByteOrderMark,
    /// Without the characters that can't be seen, it would be read.
    Invisible,
    /// It is HTML, or what PHP prints.
    Markup,
    /// It is a placeholder that nobody filled.
    Template,
    /// Something that looks like a colon stands for it: where, and how many octets.
    WrongColon { at: usize, length: usize },
    /// Letters that look like ASCII's stand for them.
    LookAlike(&'static Directive),
    /// It starts with a name, has no colon, and more than two words.
    MissingColon(&'static Directive),
    /// Its name is nearly one that is known.
    NearlyNamed(&'static Directive),
    /// It has octets that are no text.
    NotText,
    /// It is a record of a name that is not known.
    UnknownName,
    /// It is anything else.
    Unreadable,
}

/// Tells why a line, given without its comment, is not read.
pub(super) fn oddity_of(line: &[u8], record: Option<&RawRecord<'_>>, dialect: &Dialect) -> Oddity {
    let line = line.trim_ascii();
    let lossy = String::from_utf8_lossy(&line[..line.len().min(MOST_LOOKED_AT)]);
    let directive = |name: &[u8]| dialect.directive(name).map(|(id, _)| DIRECTIVES[usize::from(id)]);

    if lossy.contains('\u{feff}') {
        return Oddity::ByteOrderMark;
    }
    let plain = without_invisible(&lossy);
    if lossy.chars().any(is_invisible) && known_start(&plain, &directive).is_some() {
        return Oddity::Invisible;
    }
    if characters::is_markup(&lossy) {
        return Oddity::Markup;
    }
    if characters::template_in(&lossy).is_some() {
        return Oddity::Template;
    }
    if let Some((at, length)) = characters::wrong_colon(&lossy)
        && directive(lossy[..at].trim_end().as_bytes()).is_some()
    {
        return Oddity::WrongColon { at, length };
    }
    if !lossy.is_ascii()
        && let Some(known) = known_start(&folded(&lossy), &directive)
    {
        return Oddity::LookAlike(known);
    }
    let mut words = lossy.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    if record.is_none()
        && let Some(known) = directive(name.as_bytes())
        && words.next().is_some_and(|value| value.starts_with(['/', '*']) || known.is_start())
    {
        return Oddity::MissingColon(known);
    }
    if let Some(record) = record {
        let name = String::from_utf8_lossy(&record.name[..record.name.len().min(MOST_LOOKED_AT)]);
        if let Some(known) = nearest(&name, DIRECTIVES.iter().map(|directive| directive.name)) {
            let named = DIRECTIVES.iter().find(|directive| directive.name == known);
            return Oddity::NearlyNamed(named.expect("it is one of these"));
        }
    }
    match record {
        _ if std::str::from_utf8(line).is_err() || line.contains(&0) => Oddity::NotText,
        Some(_) => Oddity::UnknownName,
        None => Oddity::Unreadable,
    }
}

/// How much of a line is looked at: more than any name has.
const MOST_LOOKED_AT: usize = 1000;

/// The directive whose name, and then a colon, a line starts with.
fn known_start(
    line: &str,
    directive: &impl Fn(&[u8]) -> Option<&'static Directive>,
) -> Option<&'static Directive> {
    let (name, _) = line.split_once(':')?;
    directive(name.trim().as_bytes())
}

impl Directive {
    fn is_start(&self) -> bool {
        self.name == USER_AGENT.name
    }
}
