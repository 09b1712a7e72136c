//! The text of a regular expression, read into what it is made of (AIA-2, AIA-3).
//!
//! The syntax is that of the crate `regex-lite`, which tests compare with (but repetitions can be nested more deeply): it is
//! known from many languages, and has nothing that can't be matched in linear time. Letters match in both cases, as AIA-2 says. So a flag changes nothing that a
//! product token could show: `(?i)` is accepted and ignored, as are the others.
//!
//! Every part knows how many steps it takes, so an expression that is too large is refused before it is compiled.

use std::sync::LazyLock;

use super::LONGEST_TOKEN;
use super::program::steps_of_repeated;

/// How many brackets may be inside each other.
const DEEPEST: usize = 50;

/// A part of an expression.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) kind: Kind,
    /// Whether it matches the empty text, wherever that is.
    is_optional: bool,
    /// How many steps it compiles to.
    pub(super) steps: usize,
    /// How many octets it matches at most if each `*` and `+` is used once: its length with all counts written out.
    pub(super) written_out: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Empty,
    One(Octets),
    Assertion(Assertion),
    Sequence(Vec<Part>),
    /// At least two.
    Alternatives(Vec<Part>),
    /// A part so many times at least, and at most so many times if there is a limit.
    Repeated(Box<Part>, usize, Option<usize>),
}

/// Some of the 128 octets of ASCII, with a bit for each. No product token has others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Octets(pub(super) u128);

/// What has to be true between two octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    Start,
    End,
    WordBoundary,
    NoWordBoundary,
    WordStart,
    WordEnd,
    WordStartHalf,
    WordEndHalf,
}

impl Assertion {
    /// All, each at its number.
    pub(super) const ALL: [Self; 8] = [
        Self::Start,
        Self::End,
        Self::WordBoundary,
        Self::NoWordBoundary,
        Self::WordStart,
        Self::WordEnd,
        Self::WordStartHalf,
        Self::WordEndHalf,
    ];
}

impl Octets {
    const NONE: Self = Self(0);
    /// What a dot matches.
    pub(super) const ALL_IN_LINE: Self = Self(!(1 << b'\n'));

    /// The octet in lower case, if there is only this one, perhaps in both cases.
    pub(super) fn only(self) -> Option<u8> {
        let octet = (127 - self.0.leading_zeros().min(127)) as u8;
        (self == Self(1 << octet).folded()).then_some(octet)
    }

    pub(super) fn contains(self, octet: u8) -> bool {
        octet < 128 && self.0 >> octet & 1 == 1
    }

    fn range(first: char, last: char) -> Self {
        if !first.is_ascii() {
            return Self::NONE;
        }
        Self((u128::MAX >> (127 - (last as u32).min(127))) & (u128::MAX << first as u32))
    }

    fn of(is_one: impl Fn(&u8) -> bool) -> Self {
        Self((0..128).filter(is_one).fold(0, |set, octet| set | 1 << octet))
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn negated(self) -> Self {
        Self(!self.0)
    }

    /// With both cases of its letters.
    fn folded(self) -> Self {
        const UPPER: u128 = 0x07ff_fffe << 64;
        const LOWER: u128 = UPPER << 32;
        Self(self.0 | (self.0 & UPPER) << 32 | (self.0 & LOWER) >> 32)
    }

    /// The octets that a name stands for in `[[:name:]]`.
    fn named(name: &str) -> Option<Self> {
        static ALL: LazyLock<[(&str, Octets); 14]> = LazyLock::new(|| {
            [
                ("alnum", Octets::of(u8::is_ascii_alphanumeric)),
                ("alpha", Octets::of(u8::is_ascii_alphabetic)),
                ("ascii", Octets::of(u8::is_ascii)),
                ("blank", Octets::of(|octet| b"\t ".contains(octet))),
                ("cntrl", Octets::of(u8::is_ascii_control)),
                ("digit", Octets::of(u8::is_ascii_digit)),
                ("graph", Octets::of(u8::is_ascii_graphic)),
                ("lower", Octets::of(u8::is_ascii_lowercase)),
                ("print", Octets::of(|octet| octet.is_ascii_graphic() || *octet == b' ')),
                ("punct", Octets::of(u8::is_ascii_punctuation)),
                ("space", Octets::of(|octet| b"\t\n\x0B\x0C\r ".contains(octet))),
                ("upper", Octets::of(u8::is_ascii_uppercase)),
                ("word", Octets::of(|octet| is_in_word(*octet))),
                ("xdigit", Octets::of(u8::is_ascii_hexdigit)),
            ]
        });
        ALL.iter().find(|(known, _)| *known == name).map(|(_, octets)| *octets)
    }
}

/// Whether an octet is part of a word, for `\w` and `\b`.
pub(super) fn is_in_word(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || octet == b'_'
}

impl Part {
    fn empty() -> Self {
        Self { kind: Kind::Empty, is_optional: true, steps: 0, written_out: 0 }
    }

    fn one(octets: Octets) -> Self {
        Self { kind: Kind::One(octets), is_optional: false, steps: 1, written_out: 1 }
    }

    fn assertion(assertion: Assertion) -> Self {
        Self { kind: Kind::Assertion(assertion), is_optional: false, steps: 1, written_out: 1 }
    }

    fn sequence(mut parts: Vec<Self>) -> Self {
        parts.retain(|part| part.kind != Kind::Empty);
        match parts.len() {
            0 => Self::empty(),
            1 => parts.remove(0),
            _ => Self {
                is_optional: parts.iter().all(|part| part.is_optional),
                steps: sum(&parts, |part| part.steps),
                written_out: sum(&parts, |part| part.written_out),
                kind: Kind::Sequence(parts),
            },
        }
    }

    fn alternatives(mut parts: Vec<Self>) -> Self {
        // Alternatives of one octet are a set, and each that reads nothing is needed once.
        let mut one = None;
        let mut reading_nothing = Vec::new();
        parts.retain(|part| {
            let assertion = match part.kind {
                Kind::One(octets) => {
                    one = Some(octets.and(one.unwrap_or(Octets::NONE)));
                    return false;
                }
                Kind::Empty => None,
                Kind::Assertion(assertion) => Some(assertion),
                _ => return true,
            };
            let is_new = !reading_nothing.contains(&assertion);
            reading_nothing.extend(is_new.then_some(assertion));
            is_new
        });
        parts.extend(one.map(Self::one));
        if parts.len() == 1 {
            return parts.remove(0);
        }
        Self {
            is_optional: parts.iter().any(|part| part.is_optional),
            steps: sum(&parts, |part| part.steps).saturating_add(parts.len() - 1),
            written_out: sum(&parts, |part| part.written_out),
            kind: Kind::Alternatives(parts),
        }
    }

    /// This part at least `min` times and at most `max` times.
    fn repeated(self, min: usize, max: Option<usize>) -> Self {
        if self.kind == Kind::Empty || max == Some(0) {
            return Self::empty();
        }
        if (min, max) == (1, Some(1)) {
            return self;
        }
        // A product token has no place for more.
        let most = LONGEST_TOKEN + 1;
        let least = if self.is_optional { 0 } else { min.min(most) };
        let times = max.map(|max| max.min(most));
        let written_out = self.written_out.saturating_mul(max.unwrap_or(min).max(1));
        // `a**` is `a*`, and so is `(a*){2,9}`: so only brackets can make an expression deep.
        if let Kind::Repeated(inner, inner_least, inner_times) = self.kind {
            let is_plain =
                |least: usize, times: Option<usize>| least <= 1 && matches!(times, None | Some(1));
            let is_any = inner_least == 0 && inner_times.is_none();
            if is_any || is_plain(inner_least, inner_times) && is_plain(least, times) {
                let times = inner_times.and(times);
                return Self::times(*inner, inner_least * least, times, written_out);
            }
            let itself = Self { kind: Kind::Repeated(inner, inner_least, inner_times), ..self };
            return Self::times(itself, least, times, written_out);
        }
        Self::times(self, least, times, written_out)
    }

    fn times(self, least: usize, times: Option<usize>, written_out: usize) -> Self {
        Self {
            is_optional: least == 0,
            steps: steps_of_repeated(&self, least, times),
            written_out,
            kind: Kind::Repeated(Box::new(self), least, times),
        }
    }
}

fn sum(parts: &[Part], of: impl Fn(&Part) -> usize) -> usize {
    parts.iter().map(of).fold(0, usize::saturating_add)
}

/// Reads an expression; none if the text is not one.
pub(super) fn read(text: &str) -> Option<Part> {
    let mut reader = Reader { text, at: 0, names: Vec::new() };
    let part = reader.alternatives(0)?;
    // A bracket that nothing opened would end the reading early.
    (reader.at == text.len()).then_some(part)
}

/// How far a text is read.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// The names of groups, of which each may be used once.
    names: Vec<&'t str>,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Passes over a text if it is next.
    fn skip(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        self.at += if is_next { text.len() } else { 0 };
        is_next
    }

    /// Reads up to the end of the text or of the brackets.
    fn alternatives(&mut self, depth: usize) -> Option<Part> {
        let (mut alternatives, mut sequence) = (Vec::new(), Vec::new());
        while let Some(next) = self.peek().filter(|next| *next != ')') {
            match next {
                '|' => {
                    self.at += 1;
                    alternatives.push(Part::sequence(std::mem::take(&mut sequence)));
                }
                '(' if depth == DEEPEST => return None,
                '(' => self.group(depth, &mut sequence)?,
                '?' | '*' | '+' | '{' => {
                    let part = sequence.pop()?;
                    let (min, max) = self.count()?;
                    // Greedy or not makes no difference to what matches.
                    self.skip("?");
                    sequence.push(Part::repeated(part, min, max));
                }
                _ => sequence.push(self.single()?),
            }
        }
        alternatives.push(Part::sequence(sequence));
        Some(Part::alternatives(alternatives))
    }

    /// Reads brackets with what is inside, and adds it to a sequence; flags alone are no part.
    fn group(&mut self, depth: usize, sequence: &mut Vec<Part>) -> Option<()> {
        self.skip("(");
        let is_look_around =
            ["?=", "?!", "?<=", "?<!"].iter().any(|start| self.rest().starts_with(start));
        if is_look_around {
            return None;
        }
        if self.skip("?P<") || self.skip("?<") {
            self.name()?;
        } else if self.skip("?") && self.flags()? {
            return Some(());
        }
        sequence.push(self.alternatives(depth + 1)?);
        self.skip(")").then_some(())
    }

    /// Reads the name of a group and the `>` behind it.
    fn name(&mut self) -> Option<()> {
        let (name, _) = self.rest().split_once('>')?;
        let goes_on = |c: char| c == '_' || c.is_alphanumeric() || ".[]".contains(c);
        let starts = |c: char| c == '_' || c.is_alphabetic();
        let is_name = name.starts_with(starts) && name.chars().all(goes_on);
        if !is_name || self.names.contains(&name) {
            return None;
        }
        self.names.push(name);
        self.at += name.len() + 1;
        Some(())
    }

    /// Reads flags, which change nothing, and the `)` or `:` behind them. Returns whether that ended the brackets.
    fn flags(&mut self) -> Option<bool> {
        let end = self.rest().find([')', ':'])?;
        let flags = &self.rest()[..end];
        let ends_group = self.rest()[end..].starts_with(')');
        let (on, off) = flags.split_once('-').map_or((flags, None), |(on, off)| (on, Some(off)));
        let all = || on.chars().chain(off.unwrap_or_default().chars());
        let is_known =
            |c: char| "imsURxu".contains(c) && all().filter(|other| *other == c).count() == 1;
        let is_empty = flags.is_empty() && ends_group || off == Some("");
        if is_empty || !all().all(is_known) {
            return None;
        }
        self.at += end + 1;
        Some(ends_group)
    }

    /// Reads how often the part before may come.
    fn count(&mut self) -> Option<(usize, Option<usize>)> {
        match self.next()? {
            '?' => return Some((0, Some(1))),
            '*' => return Some((0, None)),
            '+' => return Some((1, None)),
            _ => {}
        }
        let min = self.number()?;
        let max = match self.next()? {
            '}' => return Some((min, Some(min))),
            ',' if self.skip("}") => return Some((min, None)),
            ',' => self.number()?,
            _ => return None,
        };
        (self.skip("}") && min <= max).then_some((min, Some(max)))
    }

    fn number(&mut self) -> Option<usize> {
        let rest = self.rest();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number: u32 = rest[..digits].parse().ok()?;
        self.at += digits;
        usize::try_from(number).ok()
    }

    /// Reads what stands for one character or for none.
    fn single(&mut self) -> Option<Part> {
        if self.rest().starts_with('[') {
            return self.class().map(Part::one);
        }
        match self.next()? {
            '.' => Some(Part::one(Octets::ALL_IN_LINE)),
            '^' => Some(Part::assertion(Assertion::Start)),
            '$' => Some(Part::assertion(Assertion::End)),
            '\\' => {
                self.assertion().or_else(|| self.escaped().map(|one| Part::one(one.octets().folded())))
            }
            c => Some(Part::one(One::Character(c).octets().folded())),
        }
    }

    /// Reads what is behind a `\`, if it is an assertion.
    fn assertion(&mut self) -> Option<Part> {
        const ASSERTIONS: [(&str, Assertion); 10] = [
            ("A", Assertion::Start),
            ("z", Assertion::End),
            ("b{start}", Assertion::WordStart),
            ("b{end}", Assertion::WordEnd),
            ("b{start-half}", Assertion::WordStartHalf),
            ("b{end-half}", Assertion::WordEndHalf),
            ("b", Assertion::WordBoundary),
            ("B", Assertion::NoWordBoundary),
            ("<", Assertion::WordStart),
            (">", Assertion::WordEnd),
        ];
        let (_, assertion) = ASSERTIONS.iter().find(|(text, _)| self.skip(text))?;
        Some(Part::assertion(*assertion))
    }

    /// Reads what is behind a `\` that stands for characters.
    fn escaped(&mut self) -> Option<One> {
        let class = |name| Octets::named(name).map(One::Class);
        let not = |name| Octets::named(name).map(|octets| One::Class(octets.negated()));
        match self.next()? {
            'd' => class("digit"),
            's' => class("space"),
            'w' => class("word"),
            'D' => not("digit"),
            'S' => not("space"),
            'W' => not("word"),
            'x' => self.hexadecimal(2),
            'u' => self.hexadecimal(4),
            'U' => self.hexadecimal(8),
            'a' => Some(One::Character('\x07')),
            'f' => Some(One::Character('\x0C')),
            't' => Some(One::Character('\t')),
            'n' => Some(One::Character('\n')),
            'r' => Some(One::Character('\r')),
            'v' => Some(One::Character('\x0B')),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() && !"<>".contains(c) => {
                Some(One::Character(c))
            }
            _ => None,
        }
    }

    /// Reads the number of a character: so many digits, or any in braces.
    fn hexadecimal(&mut self, digits: usize) -> Option<One> {
        let digits = if self.skip("{") {
            let (digits, _) = self.rest().split_once('}')?;
            self.at += digits.len() + 1;
            digits
        } else {
            let taken = self.rest().get(..digits)?;
            self.at += digits;
            taken
        };
        let are_digits = digits.bytes().all(|octet| octet.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| are_digits)?;
        char::from_u32(number).map(One::Character)
    }

    /// Reads a class in brackets.
    fn class(&mut self) -> Option<Octets> {
        self.skip("[");
        let is_negated = self.skip("^");
        let mut octets = Octets::NONE;
        let start = self.at;
        while self.skip("-") {
            octets = octets.and(One::Character('-').octets());
        }
        // An empty class can't be written.
        if self.at == start && self.skip("]") {
            octets = One::Character(']').octets();
        }
        while !self.skip("]") {
            let is_operator = ["&&", "--", "~~"].iter().any(|sign| self.rest().starts_with(sign));
            if is_operator {
                return None;
            }
            octets = octets.and(if self.rest().starts_with('[') {
                self.named_class()?
            } else {
                self.range()?
            });
        }
        let octets = octets.folded();
        Some(if is_negated { octets.negated() } else { octets })
    }

    /// Reads a class with a name, in brackets of its own. Other classes can't be inside a class.
    fn named_class(&mut self) -> Option<Octets> {
        let (inside, _) = self.rest().strip_prefix("[:")?.split_once(":]")?;
        self.at += inside.len() + 4;
        match inside.strip_prefix('^') {
            Some(name) => Octets::named(name).map(Octets::negated),
            None => Octets::named(inside),
        }
    }

    /// Reads one item of a class, or a range from one to another.
    fn range(&mut self) -> Option<Octets> {
        let first = self.item()?;
        let goes_on = self.rest().starts_with('-')
            && !["-]", "--"].iter().any(|end| self.rest().starts_with(end));
        if !goes_on {
            return Some(first.octets());
        }
        self.skip("-");
        match (first, self.item()?) {
            (One::Character(first), One::Character(last)) if first <= last => {
                Some(Octets::range(first, last))
            }
            _ => None,
        }
    }

    fn item(&mut self) -> Option<One> {
        if self.skip("\\") { self.escaped() } else { self.next().map(One::Character) }
    }
}

/// What stands for one character.
enum One {
    Character(char),
    Class(Octets),
}

impl One {
    /// The octets among those of ASCII.
    fn octets(&self) -> Octets {
        match self {
            Self::Character(c) if c.is_ascii() => Octets(1 << *c as u32),
            Self::Character(_) => Octets::NONE,
            Self::Class(octets) => *octets,
        }
    }
}
