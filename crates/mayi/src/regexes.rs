//! The regular expressions among the group-start lines of a file, compiled within a budget (AIA-3).
//!
//! An expression of ten octets can compile to a program of thousands of states, and each octet of a
//! product token can visit all of them. So neither the length nor the number of expressions limits
//! their cost: the size of the programs does. A file's expressions are compiled in order while their
//! sizes fit into a budget that depends on the size of the file alone. The budget of a short file is small: a batch can have
//! thousands of requests, each with its own file, and each may cost only what its octets are worth. An expression takes
//! at most half of what is left, so that a large one does not take the room of all those behind it. An expression that is
//! left out names no crawler and is reported
//! ([`IrregularityKind::UnusableRegex`](crate::IrregularityKind::UnusableRegex), lint `G008`); whether
//! an expression is run for a crawler depends only on the length of its token ([`LONGEST_TOKEN`]).
//!
//! `selection` decides which values are expressions.

use std::sync::LazyLock;

use regex_lite::{Error, Regex, RegexBuilder};

/// The longest regular expression that is read, in octets.
const LONGEST: usize = 1000;

/// The size limits, in octets, with which compiling is tried, the smallest first. The first that is large
/// enough is taken as the size of the program, because the library does not report it.
const PROGRAM_SIZES: [usize; 8] =
    [1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16];

/// What the programs of a file may take together, in octets. It is room for all expressions of a short file, as people write
/// them, and for hundreds in a long one.
const fn budget(file_octets: usize) -> usize {
    let of_short = 32 * 1024 + 96 * file_octets;
    let of_long = 512 * 1024 + 2 * file_octets;
    if of_short < of_long { of_short } else { of_long }
}

/// The longest product token that expressions are run over, in octets. The longest that any known crawler
/// has is a quarter of that. A longer one matches no expression.
pub(crate) const LONGEST_TOKEN: usize = 128;

/// The expressions of a file, in its order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Regexes(Vec<Result<Program, Unused>>);

/// A compiled expression.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    regex: Regex,
    /// What it takes, in octets.
    size: usize,
}

impl Program {
    /// Whether it matches a product token from start to end.
    pub(crate) fn matches(&self, token: &str) -> bool {
        // An expression keeps the memory that it was run in, which is larger than its program, and a file can
        // have thousands. A clone shares the program, and its memory is freed afterwards.
        token.len() <= LONGEST_TOKEN && self.regex.clone().is_match(token)
    }

    /// The maximum cost of that, in units of work.
    #[cfg(any(feature = "lint", feature = "report"))]
    pub(crate) fn cost(&self, token: &str) -> usize {
        cost_of_programs(1, self.states(), token)
    }

    /// How many states it has at most.
    pub(crate) fn states(&self) -> usize {
        self.size / OCTETS_OF_A_STATE
    }
}

/// The maximum cost of trying so many programs that have so many states together on a product token, in units of work: an
/// octet may visit all states of a program, and each program gets memory to run in.
pub(crate) fn cost_of_programs(programs: usize, states: usize, token: &str) -> usize {
    70 * programs + states * (token.len().min(LONGEST_TOKEN) + 1)
}

/// The maximum size of a program for each octet of its text.
const OCTETS_A_LETTER: usize = 256;

/// How much a state of a program takes at least.
const OCTETS_OF_A_STATE: usize = 32;

/// Why a regular expression is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unused {
    /// It does not compile.
    NotOne,
    /// It alone is too large.
    TooLarge,
    /// It takes more than the expressions before it have left of the budget of the file.
    OneTooMany,
}

impl Regexes {
    /// Compiles the expressions of a file of this many octets.
    pub(crate) fn of<'v>(values: impl Iterator<Item = &'v [u8]>, file_octets: usize) -> Self {
        let mut left = budget(file_octets);
        let compiled = values.map(|value| {
            let program = compile(value, left / 2);
            left -= match &program {
                Ok(program) => program.size,
                Err((_, tried)) => *tried,
            };
            program.map_err(|(why, _)| why)
        });
        Self(compiled.collect())
    }

    /// How many octets these expressions of a file may take at most: what they compile to, and as much again while they are
    /// run. They are not compiled for that: without a counted repetition, a program is not much longer than its text.
    pub(crate) fn most_octets<'v>(values: impl Iterator<Item = &'v [u8]>, file_octets: usize) -> usize {
        let largest = PROGRAM_SIZES[PROGRAM_SIZES.len() - 1];
        let size = |value: &[u8]| {
            let by_text = PROGRAM_SIZES[0] + OCTETS_A_LETTER * value.len();
            if value.contains(&b'{') { largest } else { largest.min(by_text) }
        };
        2 * values.map(size).sum::<usize>().min(budget(file_octets))
    }

    /// The expression at this place in the order of the file, or why it is not used.
    pub(crate) fn get(&self, place: usize) -> Result<&Program, Unused> {
        self.0
            .get(place)
            .map_or(Err(Unused::OneTooMany), |program| program.as_ref().map_err(|why| *why))
    }

    /// Whether the expression at this place in the file matches a product token.
    pub(crate) fn matches(&self, place: usize, token: &str) -> bool {
        self.get(place).is_ok_and(|program| program.matches(token))
    }

    /// What it costs at most to try all of them on a product token, in units of work.
    #[cfg(feature = "report")]
    pub(crate) fn cost(&self, token: &str) -> usize {
        let programs = self.0.iter().flatten();
        cost_of_programs(programs.clone().count(), programs.map(Program::states).sum(), token)
    }

    /// Whether all of them that are expressions are used.
    #[cfg(feature = "report")]
    pub(crate) fn all_fit(&self) -> bool {
        !self.0.iter().any(|program| matches!(program, Err(Unused::OneTooMany)))
    }
}

/// What the library says of an expression that is too large: it has no other way to be asked.
static TOO_LARGE: LazyLock<Option<Error>> =
    LazyLock::new(|| RegexBuilder::new("a").size_limit(0).build().err());

/// What is before the first white space. No product token has any, so what follows is neither part of an
/// expression nor part of a name (AIA-2).
pub(crate) fn first_word(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|octet| b" \t".contains(octet)).unwrap_or(value.len());
    &value[..end]
}

/// The regular expression that a value starts with, anchored at both ends, if its program takes at most so many octets. If
/// it is not used, it still costs what was tried.
fn compile(value: &[u8], most: usize) -> Result<Program, (Unused, usize)> {
    let smallest = PROGRAM_SIZES[0];
    if most < smallest {
        return Err((Unused::OneTooMany, 0));
    }
    let value = first_word(value);
    if value.len() > LONGEST {
        return Err((Unused::TooLarge, smallest));
    }
    let value = str::from_utf8(value).map_err(|_| (Unused::NotOne, smallest))?;
    // `a)(b` is valid inside the brackets below, but not alone.
    if value.contains(')') {
        build(value, most)?;
    }
    let (regex, tried) = build(&format!("^(?:{value})$"), most)?;
    // While it runs, a program has room for what each of its brackets matches, in each of its states.
    let size = tried * (1 + value.bytes().filter(|octet| *octet == b'(').count());
    if size > 4 * PROGRAM_SIZES[PROGRAM_SIZES.len() - 1] {
        return Err((Unused::TooLarge, tried));
    }
    if size > most {
        return Err((Unused::OneTooMany, tried));
    }
    Ok(Program { regex, size })
}

fn build(text: &str, most: usize) -> Result<(Regex, usize), (Unused, usize)> {
    let mut tried = PROGRAM_SIZES[0];
    for size in PROGRAM_SIZES.into_iter().take_while(|size| *size <= most) {
        tried = size;
        match RegexBuilder::new(text).case_insensitive(true).size_limit(size).build() {
            Ok(regex) => return Ok((regex, size)),
            Err(error) if TOO_LARGE.as_ref() == Some(&error) => {}
            Err(_) => return Err((Unused::NotOne, PROGRAM_SIZES[0])),
        }
    }
    let is_largest = tried == PROGRAM_SIZES[PROGRAM_SIZES.len() - 1];
    Err((if is_largest { Unused::TooLarge } else { Unused::OneTooMany }, tried))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Regexes {
        Regexes::of(values.iter().map(|value| value.as_bytes()), 0)
    }

    #[test]
    fn what_a_regular_expression_matches() {
        for (value, expected) in [
            (".*?-ai$", true),
            ("^cohere", false),
            ("^cohere.*", true),
            ("other|cohere-ai", true),
            ("a)(b", false),
            ("[]a(]a)|(cohere-ai", false),
            ("[", false),
            (".*-ai and others", true),
            ("(a{1000}){1000}.*", false),
        ] {
            assert_eq!(of(&[value]).matches(0, "Cohere-AI"), expected, "{value}");
        }
    }

    #[test]
    fn why_one_is_not_used() {
        let long = ".*".repeat(600);
        let brackets = format!("{}.*", "()".repeat(300));
        let values = ["[", "(a{1000}){1000}", &long, &brackets, ".*"];
        let seen = |file_octets| {
            let regexes = Regexes::of(values.iter().map(|value| value.as_bytes()), file_octets);
            [0, 1, 2, 3, 4, 5].map(|place| regexes.get(place).err())
        };
        let (too_large, too_many) = (Some(Unused::TooLarge), Some(Unused::OneTooMany));
        assert_eq!(
            seen(512 * 1024),
            [Some(Unused::NotOne), too_large, too_large, too_large, None, too_many]
        );
        // Where there is less room, it is not found out how large they are.
        assert_eq!(seen(0), [Some(Unused::NotOne), too_many, too_large, too_many, None, too_many]);
    }

    #[test]
    fn few_large_ones_are_used_and_many_small_ones() {
        let used = |value: &str, file_octets| {
            let regexes = Regexes::of((0..5000).map(|_| value.as_bytes()), file_octets);
            (0..5000).filter(|place| regexes.get(*place).is_ok()).count()
        };
        assert_eq!([0, 10_000, 512 * 1024].map(|octets| used("(?:.*){540}N", octets)), [0, 3, 11]);
        assert_eq!([0, 10_000, 512 * 1024].map(|octets| used(".*-ai$", octets)), [63, 1062, 3071]);
    }

    /// Files of any size have room for what people write.
    #[test]
    fn all_ordinary_expressions_of_a_file_are_used() {
        for value in
            [".*-ai$", "^cohere.*", ".{4,9}", "(Google|Bing|Yandex|Apple)bot.*", "[a-z0-9.]+-ai"]
        {
            for count in [1, 10, 100] {
                let octets = count * ("User-agent: \n".len() + value.len());
                let regexes = Regexes::of((0..count).map(|_| value.as_bytes()), octets);
                let is_used = |place: usize| regexes.get(place).is_ok();
                assert!((0..count).all(is_used), "{count} of {value}");
            }
        }
    }

    #[test]
    fn a_long_token_matches_none() {
        let regexes = of(&["a+"]);
        assert!(regexes.matches(0, &"a".repeat(LONGEST_TOKEN)));
        assert!(!regexes.matches(0, &"a".repeat(LONGEST_TOKEN + 1)));
    }
}
