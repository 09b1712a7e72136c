//! A short list of rules, tried from the top by the first octets of each.
//!
//! A few octets tell most rules from a target. They stand side by side, so that a look at each takes a few
//! steps and little memory. Whether a rule really matches is for others to say.

use super::rule::{Compared, Rules};
use crate::octets::first_eight;

/// What a target has to start with to match each rule, by rank.
#[derive(Default)]
pub(super) struct Heads(Box<[Head]>);

/// Up to seven octets behind a first `/`, the first one highest but for one bit, which is clear. The low bits
/// say how far a number has to be shifted for only as many as there are to be left.
#[derive(Clone, Copy)]
struct Head(u64);

impl Head {
    /// Nothing is said of a pattern that starts with anything else than `/`.
    fn of(rule: Compared<'_>) -> Self {
        let octets = rule.head().strip_prefix(b"/").unwrap_or_default();
        let octets = &octets[..octets.len().min(7)];
        Self(seven_octets(octets) | (63 - 8 * octets.len() as u64))
    }

    /// Whether a text may match of which these are the [`seven_octets`] behind its first one.
    #[inline]
    fn admits(self, behind_slash: u64) -> bool {
        (self.0 ^ behind_slash) >> (self.0 & 63) == 0
    }
}

/// The first seven octets of a text below the highest bit of a number, with its low bits clear.
fn seven_octets(text: &[u8]) -> u64 {
    first_eight(text).swap_bytes() >> 8 << 7
}

impl Heads {
    pub(super) fn new(rules: &Rules) -> Self {
        Self(rules.iter().map(Head::of).collect())
    }

    /// How many octets of memory they take.
    pub(super) fn octets(&self) -> usize {
        size_of_val(&*self.0)
    }

    /// The lowest rank below `best` whose rule matches, or else `best`.
    pub(super) fn first_match(
        &self,
        text: &[u8],
        best: usize,
        matches: impl Fn(usize) -> bool,
    ) -> usize {
        let behind_slash = seven_octets(text.get(1..).unwrap_or_default());
        let mut heads = self.0[..best].iter().enumerate();
        let found = heads.find(|&(rank, head)| head.admits(behind_slash) && matches(rank));
        found.map_or(best, |(rank, _)| rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::Folds;
    use crate::pattern::Shape;

    #[test]
    fn what_starts_as_a_rule_does_is_admitted() {
        let texts =
            ["/", "/a", "/b", "/ab", "/abcdef", "/abcdefg", "/abcdefgh", "/abcdefxh", "", "abc"];
        for body in ["", "/", "/a", "/ab*c", "/*", "*", "abc", "/abcdefg", "/abcdefghi*"] {
            let body = body.as_bytes();
            let shape = Shape::of(body, false);
            let head = Head::of(Compared { body, shape, folds: Folds::NONE });
            let known = body[..shape.head as usize].strip_prefix(b"/").unwrap_or_default();
            let known = &known[..known.len().min(7)];
            for text in texts.map(str::as_bytes) {
                let behind_slash = text.get(1..).unwrap_or_default();
                let expected = behind_slash.starts_with(known);
                assert_eq!(head.admits(seven_octets(behind_slash)), expected, "{body:?} {text:?}");
            }
        }
    }
}
