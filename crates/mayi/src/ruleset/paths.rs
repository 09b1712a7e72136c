//! Path patterns of records that are no rules → which of them applies to a target.
//!
//! Content-Usage, App-Directives and the records about AI training have patterns that compete as those of rules do: the most
//! octets win (USE-3, APP-6, WILD-1). A file can have tens of thousands of them, and a table asks about thousands of
//! targets. So they are ranked and found as rules are. It knows nothing of what they say: each has a number, which
//! its owner understands.

use super::packed::Place;
use super::rule::RulesBuilder;
use super::{Ranked, Search};
use crate::dialect::{Comparison, Specificity};
use crate::directive::RuleKind;
use crate::forms::Forms;
use crate::pattern::PathPattern;
use crate::span::LineNumber;

/// Path patterns, each with a number, ranked.
#[derive(Default)]
pub(crate) struct RankedPaths {
    ranked: Ranked,
}

impl RankedPaths {
    /// Ranks patterns by their octets. Of those with equally many, the first one that matches wins. One that is empty
    /// matches nothing (REP-9).
    pub(crate) fn new<'p>(
        paths: impl ExactSizeIterator<Item = (&'p [u8], u32)>,
        comparison: Comparison,
    ) -> Self {
        let mut rules = RulesBuilder::new(paths.len(), 0);
        for (path, number) in paths {
            let pattern = PathPattern::read(path, comparison);
            if !pattern.normalised().is_empty() {
                // They are all of one kind, so that the order in which they are added settles what octets do not.
                let place = Place { start: number, line: LineNumber::FIRST };
                rules.add_pattern(RuleKind::Allow, path, &pattern, place);
            }
        }
        Self { ranked: Ranked::of_rules(rules.finish()) }
    }

    /// The number of the pattern that wins, if one matches.
    pub(crate) fn winner(&self, forms: &Forms<'_>) -> Option<u32> {
        Some(self.ranked.most_specific(Specificity::Pattern, forms, &|_| ())?.span.start)
    }

    /// About how many octets of memory they take.
    pub(crate) fn octets(&self) -> usize {
        self.ranked.octets()
    }
}

impl std::fmt::Debug for RankedPaths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let has_index = matches!(self.ranked.search, Search::Index(_));
        let patterns = self.ranked.rules.len();
        f.debug_struct("RankedPaths")
            .field("patterns", &patterns)
            .field("has_index", &has_index)
            .finish()
    }
}
