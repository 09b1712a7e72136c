//! What an audit is about: the sites, the period, the crawlers, what is known about addresses, and
//! another file to try. Shared by all workers.

use std::fmt;
use std::sync::Arc;

use mayi::registry::{AgentKind, Registry};

use crate::files::{File, Sites};
use crate::identity::Confirmations;
use crate::ranges::Ranges;
use crate::report::AuditReport;
use crate::tally::AuditTally;

/// An audit of access logs.
pub struct Audit {
    pub(crate) sites: Box<dyn Sites>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) selection: Selection,
    pub(crate) ranges: Ranges,
    pub(crate) confirmations: Option<Box<dyn Confirmations>>,
    pub(crate) proposal: Option<Arc<File>>,
    pub(crate) full_addresses: bool,
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit").field("selection", &self.selection).finish_non_exhaustive()
    }
}

/// Which requests are looked at; default: all of them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Selection {
    /// From this second on.
    pub since: Option<i64>,
    /// Up to this second, which is not included.
    pub until: Option<i64>,
    /// The crawlers with these product tokens, ignoring case.
    pub crawlers: Vec<String>,
    /// The crawlers of these kinds.
    pub kinds: Vec<AgentKind>,
}

impl Audit {
    /// An audit of everything, by the files of these sites.
    pub fn new(sites: Box<dyn Sites>) -> Self {
        Self {
            sites,
            registry: Registry::built_in(),
            selection: Selection::default(),
            ranges: Ranges::default(),
            confirmations: None,
            proposal: None,
            full_addresses: false,
        }
    }

    /// The same with another registry of crawlers.
    #[must_use]
    pub fn with_registry(self, registry: Arc<Registry>) -> Self {
        Self { registry, ..self }
    }

    /// The same, looking at some of the requests only.
    #[must_use]
    pub fn with_selection(self, selection: Selection) -> Self {
        Self { selection, ..self }
    }

    /// The same, checking addresses by these ranges.
    #[must_use]
    pub fn with_ranges(self, ranges: Ranges) -> Self {
        Self { ranges, ..self }
    }

    /// The same, checking addresses by look-ups that were made elsewhere.
    #[must_use]
    pub fn with_confirmations(self, confirmations: Box<dyn Confirmations>) -> Self {
        Self { confirmations: Some(confirmations), ..self }
    }

    /// The same, also evaluating another file for the same requests, on every host.
    #[must_use]
    pub fn with_proposal(self, file: Arc<File>) -> Self {
        Self { proposal: Some(file), ..self }
    }

    /// The same with addresses as they are, not shortened.
    #[must_use]
    pub fn with_full_addresses(self, full_addresses: bool) -> Self {
        Self { full_addresses, ..self }
    }

    /// The report of what was counted. `sources` are the names of the logs, by their numbers.
    pub fn report(&self, tally: &AuditTally, sources: &[String]) -> AuditReport {
        crate::reporting::of(self, tally, sources)
    }
}

impl Selection {
    pub(crate) fn holds_at(&self, time: Option<i64>) -> bool {
        match (self.since, self.until, time) {
            (None, None, _) => true,
            (_, _, None) => false,
            (since, until, Some(time)) => {
                since.is_none_or(|since| since <= time) && until.is_none_or(|until| time < until)
            }
        }
    }

    /// Whether only some crawlers are looked at.
    pub(crate) fn is_by_crawler(&self) -> bool {
        !self.crawlers.is_empty() || !self.kinds.is_empty()
    }

    pub(crate) fn holds_for(&self, token: &str, kind: Option<AgentKind>) -> bool {
        if !self.is_by_crawler() {
            return true;
        }
        let is_named = self.crawlers.iter().any(|known| known.eq_ignore_ascii_case(token));
        is_named || kind.is_some_and(|kind| self.kinds.contains(&kind))
    }
}
