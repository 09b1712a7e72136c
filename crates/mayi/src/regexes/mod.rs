//! The regular expressions among the group-start lines of a file, compiled within a limit (AIA-3).
//!
//! An expression of ten octets can compile to thousands of steps, and each octet of a product token can visit all of them.
//! Only repetitions with counts make that possible: everything else takes at most one step for each of its octets. So an
//! expression has as many steps as octets, and a file has [`STEPS_BEYOND`] more, which its repetitions share in its order. Trying all
//! expressions of a file then takes time linear in its size, however short it is, and a long file has [`STEPS_IN_ALL`]. So what
//! people write is never too much: names, lists of names and wildcards. No other line of the file makes a difference either: a
//! file that is formatted uses the same expressions.
//!
//! An expression that is left out names no crawler and is reported
//! ([`IrregularityKind::UnusableRegex`](crate::IrregularityKind::UnusableRegex), lint `G008`); whether
//! an expression is run for a crawler depends only on the length of its token ([`LONGEST_TOKEN`]).
//!
//! `selection` decides which values are expressions, [`expression`] reads one, [`program`] compiles and runs it.

mod expression;
mod program;

use program::{Compiler, Counter, Parts, Step, UNITS_FOR_OCTET, UNITS_FOR_PROGRAM, UNITS_FOR_STEP};

/// The longest regular expression that is read, in octets, and the longest that it may be with its counts written out.
const LONGEST: usize = 1000;

/// How many steps the expressions of a file may take together beyond one for each octet.
const STEPS_BEYOND: usize = 512;

/// How many steps they may take in all. That is room for 2,700 expressions such as `.*-ai$`.
const STEPS_IN_ALL: usize = 1 << 14;

/// The longest product token that expressions are run over, in octets. The longest that any known crawler
/// has is a quarter of that. A longer one matches no expression.
pub(crate) const LONGEST_TOKEN: usize = 128;

/// The expressions of a file, in its order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Regexes {
    programs: Vec<Result<Place, Unused>>,
    parts: Parts,
}

/// Where the steps of a program are.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: u32,
    len: u16,
    /// The first step.
    first: u16,
    counters: u16,
}

/// A compiled expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program<'r> {
    parts: &'r Parts,
    place: Place,
}

impl Program<'_> {
    /// Whether it matches a product token from start to end.
    pub(crate) fn matches(&self, token: &str) -> bool {
        self.run(token, usize::MAX).is_some_and(|(is_match, _)| is_match)
    }

    /// How many units of work it takes to find that out, if no more than `most`.
    pub(crate) fn work(&self, token: &str, most: usize) -> Option<usize> {
        self.run(token, most).map(|(_, work)| work)
    }

    fn run(&self, token: &str, most: usize) -> Option<(bool, usize)> {
        let Place { start, len, first, counters } = self.place;
        let steps = &self.parts.steps[start as usize..][..usize::from(len)];
        if token.len() > LONGEST_TOKEN {
            return Some((false, 0));
        }
        program::run(self.parts, steps, first, counters.into(), token.as_bytes(), most)
    }

    /// The maximum cost of that, in units of work.
    #[cfg(any(feature = "lint", feature = "report"))]
    pub(crate) fn cost(&self, token: &str) -> usize {
        cost_of_programs(1, self.steps(), token)
    }

    /// How many steps it has.
    pub(crate) fn steps(&self) -> usize {
        self.place.len.into()
    }
}

/// The maximum cost of trying so many programs that have so many steps together on a product token, in units of work: each
/// octet may visit all steps of a program.
pub(crate) fn cost_of_programs(programs: usize, steps: usize, token: &str) -> usize {
    let octets = token.len().min(LONGEST_TOKEN) + 1;
    programs * (UNITS_FOR_PROGRAM + UNITS_FOR_OCTET * octets) + UNITS_FOR_STEP * steps * octets
}

/// Why a regular expression is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unused {
    /// It does not compile.
    NotOne,
    /// It alone is too large.
    TooLarge,
    /// Together with the expressions before it, it is more than a file may have.
    OneTooMany,
}

impl Regexes {
    /// Compiles the expressions of a file.
    pub(crate) fn of<'v>(values: impl Iterator<Item = &'v [u8]>) -> Self {
        let mut left = Left { in_all: STEPS_IN_ALL, beyond: STEPS_BEYOND };
        let mut compiler = Compiler::default();
        let mut programs: Vec<_> =
            values.map(|value| compile(value, &mut left, &mut compiler)).collect();
        programs.shrink_to_fit();
        Self { programs, parts: compiler.finish() }
    }

    /// How many octets these expressions of a file take at most. They are not compiled for that.
    pub(crate) fn most_octets<'v>(values: impl Iterator<Item = &'v [u8]>) -> usize {
        // Each step can have a counter, which takes more than a set.
        const OF_A_STEP: usize = size_of::<Step>() + size_of::<Counter>();
        let of_value =
            |value: &[u8]| (size_of::<Result<Place, Unused>>(), value.len().min(LONGEST) + 1);
        let add = |(octets, steps), (more, more_steps)| (octets + more, steps + more_steps);
        match values.map(of_value).fold((0, 0), add) {
            (0, _) => 0,
            (octets, steps) => octets + OF_A_STEP * (steps + STEPS_BEYOND).min(STEPS_IN_ALL),
        }
    }

    /// The expression at this place in the order of the file, or why it is not used.
    pub(crate) fn get(&self, place: usize) -> Result<Program<'_>, Unused> {
        let place = self.programs.get(place).map_or(Err(Unused::OneTooMany), |place| *place)?;
        Ok(Program { parts: &self.parts, place })
    }

    /// Whether the expression at this place in the file matches a product token.
    pub(crate) fn matches(&self, place: usize, token: &str) -> bool {
        self.get(place).is_ok_and(|program| program.matches(token))
    }

    /// What it costs at most to try all of them on a product token, in units of work.
    #[cfg(feature = "report")]
    pub(crate) fn cost(&self, token: &str) -> usize {
        let programs = self.programs.iter().flatten().count();
        cost_of_programs(programs, self.parts.steps.len(), token)
    }

    /// Whether all of them that are expressions are used.
    #[cfg(feature = "report")]
    pub(crate) fn all_fit(&self) -> bool {
        !self.programs.iter().any(|program| matches!(program, Err(Unused::OneTooMany)))
    }
}

/// What is before the first white space. No product token has any, so what follows is neither part of an
/// expression nor part of a name (AIA-2).
pub(crate) fn first_word(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|octet| b" \t".contains(octet)).unwrap_or(value.len());
    &value[..end]
}

/// How many steps the expressions of a file may still take.
struct Left {
    in_all: usize,
    beyond: usize,
}

/// Compiles the regular expression that a value starts with, if it takes no more steps than are left.
fn compile(value: &[u8], left: &mut Left, compiler: &mut Compiler) -> Result<Place, Unused> {
    let value = first_word(value);
    if value.len() > LONGEST {
        return Err(Unused::TooLarge);
    }
    let text = str::from_utf8(value).map_err(|_| Unused::NotOne)?;
    let expression = expression::read(text).ok_or(Unused::NotOne)?;
    let beyond = expression.steps.saturating_sub(text.len());
    // One more is the end.
    let steps = expression.steps.saturating_add(1);
    if expression.written_out > LONGEST {
        return Err(Unused::TooLarge);
    }
    if beyond > left.beyond || steps > left.in_all {
        return Err(Unused::OneTooMany);
    }
    left.beyond -= beyond;
    left.in_all -= steps;
    let (first, steps, counters) = compiler.compile(&expression);
    Ok(Place { start: steps.start as u32, len: steps.len() as u16, first, counters: counters as u16 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[&str]) -> Regexes {
        Regexes::of(values.iter().map(|value| value.as_bytes()))
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
            ("(?-i)cohere-ai", true),
            ("[\\x41-\\x5A-]+", true),
            ("\\x63o[^i]*i", true),
            (".{9}", true),
            (".{10,}|.{1,8}|.{300}", false),
            ("([a-z]{2,}-?){2,3}", true),
            ("([a-z]{3}){2}-[a-z]{0,128}", true),
        ] {
            assert_eq!(of(&[value]).matches(0, "Cohere-AI"), expected, "{value}");
        }
    }

    #[test]
    fn why_one_is_not_used() {
        let long = ".*".repeat(600);
        let many = ["(ab){100}(cd){100}"; 2];
        let values = ["[", "(a{1000}){1000}", &long, "(?:(?:ab?c?){100}){3}", many[0], many[1], ".*"];
        let regexes = of(&values);
        let seen = [0, 1, 2, 3, 4, 5, 6, 7].map(|place| regexes.get(place).err());
        let (large, many) = (Some(Unused::TooLarge), Some(Unused::OneTooMany));
        assert_eq!(seen, [Some(Unused::NotOne), large, large, many, None, many, None, many]);
    }

    /// A step for each octet is enough for everything but repetitions with counts.
    #[test]
    fn all_that_people_write_is_used() {
        let names = "GPTBot|ChatGPT-User|OAI-SearchBot|CCBot|anthropic-ai|ClaudeBot|Claude-Web|Google-Extended|Bytespider";
        let list = format!("^(({names})(-[a-z]+)?(/[0-9]+(.[0-9]+)*)?)$");
        for (value, most) in [
            (".*-ai$", 2730),
            ("^cohere.*", 1820),
            (".{0,255}", 5461),
            ("[a-z0-9.-]{3,20}bot", 3276),
            ("(Google|Bing)bot.*", 1024),
            ("||", 16384),
            (&list, 146),
        ] {
            let regexes = Regexes::of((0..20_000).map(|_| value.as_bytes()));
            let used = (0..20_000).take_while(|place| regexes.get(*place).is_ok()).count();
            assert_eq!(used, most, "{value}");
        }
    }

    #[test]
    fn a_long_token_matches_none() {
        let regexes = of(&["a+", "a{128}", "a{2,}", "a{129,}"]);
        let [most, more] = [0, 1].map(|more| "a".repeat(LONGEST_TOKEN + more));
        let seen =
            [0, 1, 2, 3].map(|place| [regexes.matches(place, &most), regexes.matches(place, &more)]);
        assert_eq!(seen, [[true, false], [true, false], [true, false], [false, false]]);
    }

    /// What an estimate of memory promises, for expressions that take most.
    #[test]
    fn the_estimate_of_memory_is_not_exceeded() {
        for value in [&*"a{2}".repeat(250), "\\w", "[ab][bc]", "|", "a{2}", ".*-ai$"] {
            for count in [1, 60, 3000] {
                let values = || (0..count).map(|_| value.as_bytes());
                let Regexes { programs, parts: Parts { steps, counters, sets } } =
                    Regexes::of(values());
                let taken = programs.capacity() * size_of::<Result<Place, Unused>>()
                    + steps.capacity() * size_of::<Step>()
                    + counters.capacity() * size_of::<Counter>()
                    + sets.capacity() * size_of::<expression::Octets>();
                let most = Regexes::most_octets(values());
                assert!((taken..=taken.max(1000) * 50).contains(&most), "{value}: {taken}, {most}");
            }
        }
    }

    /// A `*` behind another is none more, so brackets alone can be deep.
    #[test]
    fn repetitions_of_repetitions_are_one() {
        for (value, same) in [
            ("a**", "a*"),
            ("a+*", "a*"),
            ("a+?+", "a+"),
            ("(?:a?)?", "a?"),
            ("(?:a+){1,}", "a+"),
            ("(?:(?:ab)*){540}", "(?:ab)*"),
        ] {
            let read = |text| expression::read(text).map(|part| part.kind);
            assert_eq!(read(value), read(same), "{value}");
        }
        assert!(of(&[&("a".to_owned() + &"*".repeat(999))]).matches(0, "aaa"));
    }

    /// What expressions are put together from: all that the syntax has, and what is nearly right. `regex-lite` takes no letter
    /// by its number in a range, and finds no other case of letters in ranges such as `[A-a]`, so there are none here.
    const PIECES: [&str; 72] = [
        "a",
        "A",
        "b",
        "k",
        "-",
        "_",
        "0",
        "9",
        ".",
        "\\.",
        "*",
        "+",
        "?",
        "*?",
        "??",
        "{2}",
        "{0}",
        "{0,3}",
        "{2,}",
        "{3,4}",
        "{3,2}",
        "{,3}",
        "{1",
        "}",
        "|",
        "||",
        "(",
        "(?:",
        "(?i:",
        "(?i)",
        "(?sm-U)",
        "(?)",
        "(?-:",
        "(?ii)",
        "(?P<n>",
        "(?<m>",
        "(?<1>",
        "(?=",
        ")",
        "()",
        "(|",
        "[",
        "[^",
        "]",
        "[a-c]",
        "[^a-c]",
        "[]a]",
        "[^]a]",
        "[-a]",
        "[a-]",
        "[b-a]",
        "[--a]",
        "[a&&b]",
        "[[:alpha:]]",
        "[[:^upper:]0]",
        "[[:no:]]",
        "[\\w-]",
        "[\\b]",
        "\\d",
        "\\D",
        "\\w",
        "\\W",
        "\\s",
        "\\b",
        "\\B",
        "\\b{start}",
        "\\<",
        "\\>",
        "^",
        "$",
        "\\A",
        "\\z",
    ];
    const ESCAPES: [&str; 16] = [
        "\\x30",
        "\\x{2d}",
        "\\x4",
        "\\u005F",
        "\\U00000039",
        "\\x{}",
        "\\n",
        "\\e",
        "\\1",
        "\\pL",
        "\\-",
        "\\%",
        "\\ä",
        "ä",
        "[ä-ö]",
        "\\",
    ];

    fn expression() -> impl Strategy<Value = String> {
        let piece = prop_oneof![4 => proptest::sample::select(&PIECES[..]), 1 => proptest::sample::select(&ESCAPES[..])];
        prop_oneof![prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()), whole()]
    }

    /// Expressions with nothing wrong in them.
    fn whole() -> impl Strategy<Value = String> {
        const SINGLE: [&str; 14] =
            ["a", "A", "b", "k", "0", "-", ".", "[ab]", "[^a]", "\\w", "\\b", "\\B", "^", "$"];
        const COUNTS: [&str; 9] = ["*", "+", "?", "{0}", "{1}", "{2}", "{0,2}", "{2,}", "{2,3}"];
        let single = proptest::sample::select(&SINGLE[..]).prop_map(str::to_owned);
        single.prop_recursive(4, 24, 4, |inner| {
            let count = proptest::sample::select(&COUNTS[..]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(|parts| parts.concat()),
                prop::collection::vec(inner.clone(), 1..4)
                    .prop_map(|parts| format!("({})", parts.join("|"))),
                (inner, count).prop_map(|(part, count)| format!("(?:{part}){count}")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        /// Law: the crate `regex-lite` accepts the same expressions, and they match the same tokens.
        #[test]
        fn expressions_are_what_they_are_elsewhere(
            expression in expression(),
            tokens in prop::collection::vec("[aAbkK09_.-]{0,6}", 1..12),
        ) {
            let build = |text: &str| regex_lite::RegexBuilder::new(text).case_insensitive(true).build();
            let other = build(&expression).and_then(|_| build(&format!("^(?:{expression})$")));
            let ours = of(&[&expression]);
            prop_assert_eq!(ours.get(0).err() == Some(Unused::NotOne), other.is_err(), "{}", expression);
            if let (Ok(program), Ok(other)) = (ours.get(0), other) {
                for token in tokens {
                    prop_assert_eq!(program.matches(&token), other.is_match(&token), "{} {}", expression, token);
                }
            }
        }

        /// Law: an expression takes as many steps as were counted before it was compiled.
        #[test]
        fn steps_are_counted_before_they_are_made(expression in expression()) {
            if let Some(part) = expression::read(&expression).filter(|part| part.steps <= STEPS_BEYOND) {
                let (_, steps, _) = Compiler::default().compile(&part);
                prop_assert_eq!(steps.len(), part.steps + 1, "{}", expression);
            }
        }
    }
}
