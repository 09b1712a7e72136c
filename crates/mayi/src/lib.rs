//! May I? One engine for robots.txt: octets in, a decision out, an explanation on request.
//!
//! ```
//! use mayi::{Crawler, RobotsTxt, Target};
//!
//! let robots = RobotsTxt::parse(b"User-agent: *\nDisallow: /private/\n");
//! let crawler = Crawler::new("ExampleBot")?;
//! let target = Target::parse("https://example.com/private/x")?;
//!
//! let decision = robots.decide(&crawler, &target);
//! assert!(!decision.is_allowed());
//! assert_eq!(decision.rule().expect("a rule decided").line().number(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Overview
//!
//! [`RobotsTxt`] is a parsed file, for all crawlers. [`Crawler`] is the crawler of a question,
//! [`Target`] its URL. [`RobotsTxt::decide`] gives a [`Decision`] with its evidence;
//! [`RobotsTxt::explain`] gives the same decision with everything that was considered. For many URLs of
//! one crawler, [`RobotsTxt::for_crawler`] prepares its rules once. [`access`] says where the file is,
//! what the result of a fetch means and how long it may be used. [`report`] has requests and decisions
//! as JSON.
//!
//! # What it does not do
//!
//! It opens no socket and no file, reads no clock and has no `unsafe` code. Reading a file can't fail:
//! a line that can't be used is ignored, and listed by [`RobotsTxt::irregularities`]. An error is for a
//! wrong *call* ([`InvalidUrl`], [`InvalidProductToken`], [`InvalidLimit`]), never for a wrong file.
//!
//! # Bounds
//!
//! Reading takes time linear in the file and keeps its text plus 8 octets per record; [`Limits`] says
//! how much is read. Comparing one pattern takes time linear in pattern plus URL, whatever the pattern
//! (REP-25). A decision on a prepared group of thousands of rules tries the few that can match.
//!
//! Linting, comparing and diffing work on pairs, and a file can have billions of pairs. They have a
//! budget in units of work, by default in proportion to the input ([`Limits::with_work`]), and say what
//! they left out when it is used up ([`Spent`]). Regular expressions on user-agent lines are compiled
//! within a budget for the whole file; those that do not fit are ignored and listed (AIA-3). A decision
//! has no budget: it is always exact.
//!
//! # Features
//!
//! All are on by default; reading and deciding need none of them.
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `lint` | [`lint`]: what is wrong with a file, and the reading of `mayi.toml`; with `page` |
//! | `page` | [`page`]: Robots-Tag, X-Robots-Tag and robots meta elements |
//! | `report` | [`report`]: requests and decisions as JSON; [`meaning`]: comparing readings and files; with `page` |
//!
//! # Clauses
//!
//! Comments, vectors and explanations cite clauses such as `REP-12`; [`Clause`] is their registry.

#![cfg_attr(docsrs, feature(doc_cfg))]
// Helpers of a part that is switched off are unused.
#![cfg_attr(not(all(feature = "lint", feature = "page", feature = "report")), allow(dead_code))]

pub mod access;
pub mod directive;
#[cfg(feature = "report")]
pub mod edit;
#[cfg(feature = "lint")]
pub mod lint;
#[cfg(feature = "report")]
pub mod meaning;
#[cfg(feature = "page")]
pub mod page;
pub mod registry;
#[cfg(feature = "report")]
pub mod report;

mod application;
mod content_usage;
#[cfg(test)]
mod corpus_test;
mod crawler;
mod crossing;
mod decision;
mod decoding;
mod dialect;
mod encoding;
mod evaluation;
mod explanation;
mod extension;
mod format;
mod forms;
mod irregularity;
mod limits;
mod octets;
mod pattern;
mod percent;
mod places;
mod preference;
mod records;
mod regexes;
mod robots_txt;
mod ruleset;
mod selection;
mod span;
mod spec;
mod structured;
mod syntax;
mod target;
mod uses;
mod work;

pub use application::{AppDirectives, AppRule};
pub use crawler::{Crawler, CrawlerParts, InvalidCrawler, InvalidProductToken, ProductToken};
pub use decision::{ChosenGroup, DecidingRule, Decision, Reason};
pub use dialect::{Dialect, Naming};
pub use directive::RuleKind;
pub use encoding::Cut;
pub use explanation::{ConsideredGroup, Explanation, MatchingRule, StartLine};
pub use extension::{Extension, UnknownName};
pub use format::{Formatted, Unformatted, format};
pub use irregularity::{Irregularity, IrregularityKind};
pub use limits::{InvalidLimit, Limits};
pub use pattern::PathPattern;
pub use preference::{Preference, Statement};
pub use records::{ContentSignal, OtherRecords};
pub use robots_txt::{Group, Line, LineRecord, Octets, ReadOptions, RobotsTxt};
pub use ruleset::{CrawlerRules, RulesByGroups};
pub use selection::GroupBy;
pub use span::{LineNumber, Span};
pub use spec::Clause;
pub use structured::{Value, ValueType};
pub use target::{InvalidUrl, Target};
pub use uses::{CrawlerUses, Override, Signal, SignalSource, UnreadableUsage, Usage, Use, UseAnswers};
pub use work::{Spent, Stop};

/// The example in the README is compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
