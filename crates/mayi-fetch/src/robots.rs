//! The cached entry of an origin, parsed and ready to answer, with where it came from.

use std::sync::Arc;
use std::time::SystemTime;

use mayi::access::{AccessResult, InForce, Origin, SiteFile};
use mayi::report::{Answer, Answering, FileReport, FileSource, Request, RequestError, SiteReport};
use mayi::{Crawler, Decision, Dialect, RobotsTxt, Target};

use crate::fault::Lack;
use crate::fetcher::result_in_force;
use crate::kept::{Hop, Kept};

/// The cached entry of an origin, with its parsed file.
pub(crate) struct Ready {
    pub(crate) kept: Arc<Kept>,
    /// The copy, read in the fetcher's own dialect.
    robots: Option<Arc<RobotsTxt<'static>>>,
}

impl Ready {
    pub(crate) fn new(kept: Arc<Kept>, answering: &Answering) -> Self {
        let robots = read(&kept, answering, answering.dialect()).map(Arc::new);
        Self { kept, robots }
    }

    /// About how many octets it takes in memory: the entry, and the parsed file.
    pub(crate) fn octets(&self) -> usize {
        self.kept.octets() + self.robots.as_ref().map_or(0, |it| it.octets_in_memory()) + 256
    }
}

/// The cached copy, read in a dialect.
fn read(kept: &Kept, answering: &Answering, dialect: Dialect) -> Option<RobotsTxt<'static>> {
    let copy = kept.copy.as_ref()?;
    let options = answering.reading(dialect, copy.content_type.as_deref());
    Some(RobotsTxt::read(copy.body.to_vec(), &options))
}

/// Where a ready file came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// From memory, or from the store.
    Kept,
    /// Its server was asked, whatever the result.
    Fetched,
    /// Its server was asked, and answered that it is unchanged.
    Revalidated,
}

/// The file of an origin, or why there is none, and where that comes from.
#[derive(Clone)]
pub struct Robots {
    ready: Arc<Ready>,
    file: SiteFile<'static>,
    source: FileSource,
    lack: Option<Lack>,
}

impl Robots {
    pub(crate) fn new(
        ready: Arc<Ready>,
        how: How,
        in_force: InForce,
        now: SystemTime,
        is_offline: bool,
        lack: Option<Lack>,
        answering: &Answering,
    ) -> Self {
        let file = match result_in_force(in_force, &ready.kept) {
            AccessResult::Successful => ready.robots.clone().map(SiteFile::Read),
            ended => SiteFile::ended(ended, &answering.reading(answering.dialect(), None)),
        };
        let file = file.expect("a copy is in force where there is one, and otherwise there is none");
        let source = match (in_force, &ready.kept.last.result, how) {
            (InForce::AllowAll | InForce::DisallowAll, ..) => FileSource::None,
            (InForce::Copy, AccessResult::Unreachable(_), _) => FileSource::StaleUnreachable,
            (InForce::Copy, AccessResult::Unavailable(_), _) => FileSource::StaleUnavailable,
            (InForce::Copy, AccessResult::Successful, How::Fetched) => FileSource::Fetched,
            (InForce::Copy, AccessResult::Successful, How::Revalidated) => FileSource::Revalidated,
            (InForce::Copy, AccessResult::Successful, How::Kept) => {
                let is_fresh = ready.kept.copy.as_ref().is_some_and(|copy| now < copy.fresh_until);
                match (is_fresh, is_offline) {
                    (true, _) => FileSource::Fresh,
                    (false, true) => FileSource::StaleOffline,
                    (false, false) => FileSource::StaleWhileRevalidating,
                }
            }
        };
        Self { ready, file, source, lack }
    }

    /// Whose file it is.
    pub fn origin(&self) -> &Origin {
        &self.ready.kept.origin
    }

    /// The file whose rules are in force, read in the fetcher's own dialect, or why there is none.
    pub fn file(&self) -> &SiteFile<'static> {
        &self.file
    }

    /// The same in a dialect that may be another.
    pub fn file_in(&self, answering: &Answering, dialect: Dialect) -> SiteFile<'static> {
        if dialect == *self.file.dialect() {
            return self.file.clone();
        }
        let read = || read(&self.ready.kept, answering, dialect.clone());
        match self.file.robots_txt().and_then(|_| read()) {
            Some(robots) => robots.into(),
            None => SiteFile::ended(self.access().clone(), &answering.reading(dialect, None))
                .unwrap_or_else(|| self.file.clone()),
        }
    }

    /// The file, if its rules are in force.
    pub fn robots_txt(&self) -> Option<&RobotsTxt<'static>> {
        self.file.robots_txt()
    }

    /// What applies: successful if the rules of the file apply.
    pub fn access(&self) -> &AccessResult {
        self.file.access()
    }

    /// Whether anything is known about the origin: not if nothing is cached and no request may be sent.
    pub fn is_known(&self) -> bool {
        let kept = &self.ready.kept;
        kept.copy.is_some() || !kept.last.hops.is_empty()
    }

    /// Where the file came from.
    pub fn source(&self) -> FileSource {
        self.source
    }

    /// What this machine lacked, if its server was not asked for that reason. A service may then answer that
    /// it is overloaded.
    pub fn lack(&self) -> Option<Lack> {
        self.lack
    }

    /// The whole cached entry of the origin.
    pub fn kept(&self) -> &Arc<Kept> {
        &self.ready.kept
    }

    /// May this crawler fetch this target?
    pub fn decide(&self, crawler: &Crawler, target: &Target<'_>) -> Decision<'_> {
        self.file.decide(crawler, target)
    }

    /// The seconds that the file asks this crawler to wait between two requests.
    pub fn crawl_delay(&self, crawler: &Crawler) -> Option<f64> {
        self.robots_txt()?.crawl_delay(crawler)
    }

    /// Where the file came from, as in reports.
    pub fn file_report(&self) -> FileReport {
        let last = &self.ready.kept.last;
        let mut report = FileReport::new(self.source, &last.result);
        if self.source == FileSource::None {
            report.fresh_until = Some(last.not_before.into());
        } else if let Some(copy) = &self.ready.kept.copy {
            report.url = Some(copy.url.clone());
            report.fetched = Some(copy.fetched.into());
            report.checked = Some(copy.checked.into());
            report.fresh_until = Some(copy.fresh_until.into());
        }
        report.failing_since = last.failing_since.map(Into::into);
        if last.hops.len() > 1 || last.result != AccessResult::Successful {
            report.hops = last.hops.iter().map(Hop::report).collect();
        }
        report
    }

    /// All that is known about the site's file, as JSON.
    pub fn site_report(&self) -> SiteReport {
        let mut report = self.kept().site_report(self.access());
        report.file = Some(self.file_report());
        match self.robots_txt() {
            Some(robots) => report.with_file(robots),
            None => report,
        }
    }

    /// Answers a request from it, in a dialect that may be another than the fetcher's own.
    pub(crate) fn answer<'a>(
        &self,
        answering: &Answering,
        dialect: Dialect,
        request: &'a Request<'_>,
    ) -> Result<Answer<'a>, RequestError> {
        answering.answer_about(request, self.file_in(answering, dialect), self.file_report())
    }
}

impl std::fmt::Debug for Robots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Robots")
            .field("origin", self.origin())
            .field("access", self.access())
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}
