//! Lines → figures: the loop that every line of a log goes through.
//!
//! What is the same for many lines is cached: the crawler of a User-Agent string, the site of a host, the
//! rules of a file for a crawler. All caches are bounded, and eviction changes no figure.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use mayi::registry::Claim;
use mayi::{Crawler, Target};

use crate::address::add_to_key;
use crate::audit::Audit;
use crate::bounded::Map;
use crate::files::{File, Site, Verdict};
use crate::format::{Format, Unreadable, address};
use crate::hit::Hit;
use crate::identity::Identity;
use crate::octets::{as_text, stable_hash};
use crate::rules::{KnownRules, RulesFor};
use crate::tally::{AuditTally, ChangeKey, CrawlerTally, MOST_OCTETS, RuleKey, place_of};
use crate::time::day_of;

/// Whole lines of one log.
#[derive(Clone, Copy, Debug)]
pub struct Block<'b> {
    /// The lines, with their ends.
    pub octets: &'b [u8],
    /// Which log they are of; of two lines that are wrong in the same way, the one of the first log is
    /// shown.
    pub source: u32,
    /// The number of the first line in its log.
    pub first_line: u64,
    /// How they are written.
    pub format: &'b Format,
}

/// Counts the lines of blocks. Each thread has its own, and their tallies are merged.
pub struct Worker<'a> {
    audit: &'a Audit,
    tally: AuditTally,
    /// Who User-Agent strings name; none who is not looked at.
    claims: Map<Box<[u8]>, Option<Who>>,
    sites: Map<Box<[u8]>, Option<Arc<Site>>>,
    only: Option<Arc<Site>>,
    rules: KnownRules,
    key: Vec<u8>,
}

impl fmt::Debug for Worker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("audit", self.audit).finish_non_exhaustive()
    }
}

/// Who made a request.
#[derive(Clone, Debug)]
enum Who {
    /// The crawler at this place of the registry.
    Known(u32),
    Other(Arc<str>),
    Browser,
    Nameless,
}

/// How many octets a line may have: a longer one is not a line of a log. Code that cuts input into blocks need not keep
/// more of a line than this.
pub const MOST_LINE: usize = 1 << 20;

/// How much is kept: User-Agent strings, hosts, prepared rules.
const MOST_CLAIMS: usize = 32_768;
const MOST_CLAIM_OCTETS: usize = 1024;
const MOST_SITES: usize = 16_384;

/// The decision about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Allowed(Option<RuleKey>),
    Refused(Option<RuleKey>),
    /// Refused, but by a file that is so new that a crawler may not have it yet.
    Excused(Option<RuleKey>),
    /// There is nothing to decide about, or no file to decide by.
    Undecided,
    /// It would cost too much to find out which rules of the file are for the crawler.
    TooCostly,
}

impl<'a> Worker<'a> {
    /// A worker that has counted nothing.
    pub fn new(audit: &'a Audit) -> Self {
        Self {
            audit,
            tally: AuditTally::new(audit.registry.agents().len()),
            claims: Map::default(),
            sites: Map::default(),
            only: audit.sites.only(),
            rules: KnownRules::default(),
            key: Vec::new(),
        }
    }

    /// What has been counted so far.
    pub fn tally(&self) -> &AuditTally {
        &self.tally
    }

    /// Counts the lines of a block.
    pub fn take(&mut self, block: &Block<'_>) {
        self.each_hit(block, Self::count);
    }

    /// Counts a line that was too long to be read completely; its start is given.
    pub fn take_too_long(&mut self, source: u32, number: u64, start: &[u8]) {
        self.tally.lines.unreadable(Unreadable::TooLong, (source, number), start);
    }

    /// The crawlers and addresses in a block that reverse DNS could verify, each once: so that many can be
    /// looked up at a time before the block is counted. Nothing is counted here.
    pub fn claims_in(&mut self, block: &Block<'_>) -> Vec<(usize, IpAddr)> {
        let counted = std::mem::take(&mut self.tally.lines);
        let mut found = std::collections::BTreeSet::new();
        self.each_hit(block, |worker, hit| {
            if !worker.audit.selection.holds_at(hit.time) {
                return;
            }
            if let Some(Who::Known(place)) = worker.who(&hit.user_agent)
                && let Some(address) = address(&hit.address)
            {
                found.insert((place as usize, address));
            }
        });
        self.tally.lines = counted;
        found.into_iter().collect()
    }

    fn each_hit(&mut self, block: &Block<'_>, mut each: impl FnMut(&mut Self, &Hit<'_>)) {
        let mut octets = block.octets;
        if block.first_line == 1 {
            octets = octets.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(octets);
        }
        let mut changed: Option<Format> = None;
        let mut number = block.first_line;
        while !octets.is_empty() {
            let end = memchr::memchr(b'\n', octets).unwrap_or(octets.len());
            let mut line = &octets[..end];
            octets = octets.get(end + 1..).unwrap_or_default();
            if let [before @ .., b'\r'] = line {
                line = before;
            }
            let format = changed.as_ref().unwrap_or(block.format);
            if line.len() > MOST_LINE {
                self.take_too_long(block.source, number, line);
            } else if format.is_directive(line) {
                changed = format.after_directive(line).or(changed);
            } else if !line.trim_ascii().is_empty() {
                match format.read(line) {
                    Ok(hit) => each(self, &hit),
                    Err(kind) => self.tally.lines.unreadable(kind, (block.source, number), line),
                }
            }
            number += 1;
        }
    }

    fn count(&mut self, hit: &Hit<'_>) {
        self.tally.lines.read += 1;
        if !self.audit.selection.holds_at(hit.time) {
            self.tally.lines.left_out += 1;
            return;
        }
        let Some(who) = self.who(&hit.user_agent) else {
            self.tally.lines.left_out += 1;
            return;
        };
        if let Some(time) = hit.time {
            self.tally.first = Some(self.tally.first.map_or(time, |first| first.min(time)));
            self.tally.last = self.tally.last.max(Some(time));
        }
        let text = as_text(&hit.target);
        let target = Target::from_path(&text).ok();
        let is_robots_txt = target.as_ref().is_some_and(Target::is_robots_txt);
        match who {
            Who::Browser => {
                self.tally.browsers.requests += 1;
                self.tally.browsers.robots_txt += u64::from(is_robots_txt);
            }
            Who::Nameless => {
                self.tally.nameless.requests += 1;
                self.tally.nameless.robots_txt += u64::from(is_robots_txt);
            }
            who => self.count_crawler(&who, hit, target.as_ref(), is_robots_txt),
        }
    }

    fn count_crawler(
        &mut self,
        who: &Who,
        hit: &Hit<'_>,
        target: Option<&Target<'_>>,
        is_robots_txt: bool,
    ) {
        let address = address(&hit.address);
        let identity = self.identity(who, address);
        let outcome = self.outcome(who, hit, target);
        let proposed = self.proposed(who, target);
        let place = place_of(identity);
        self.count_for_all(who, hit, outcome, proposed, place);
        // If there are too many crawlers, only figures that are not of a single crawler are counted.
        let Some(tally) = tally_of(&mut self.tally, who) else { return };

        let figures = &mut tally.figures[place];
        figures.requests += 1;
        figures.robots_txt += u64::from(is_robots_txt);
        match outcome {
            Outcome::Allowed(_) => figures.allowed += 1,
            Outcome::Refused(_) => figures.refused += 1,
            Outcome::Excused(_) => figures.excused += 1,
            Outcome::Undecided | Outcome::TooCostly => figures.undecided += 1,
        }
        if let Outcome::Allowed(Some(rule))
        | Outcome::Refused(Some(rule))
        | Outcome::Excused(Some(rule)) = outcome
        {
            let rule = tally.rules.entry(rule).or_default();
            let counts = if matches!(outcome, Outcome::Excused(_)) {
                &mut rule.excused
            } else {
                &mut rule.requests
            };
            counts[place] += 1;
            rule.example.offer(&hit.target);
        }
        if let Some(time) = hit.time {
            tally.seen[place].note(time, is_robots_txt);
            if let Some(day) = tally.days.entry(&day_of(time), 1) {
                let counts = match outcome {
                    Outcome::Allowed(_) => &mut day.allowed,
                    Outcome::Refused(_) => &mut day.refused,
                    Outcome::Excused(_) | Outcome::Undecided | Outcome::TooCostly => &mut day.others,
                };
                counts[place] += 1;
            }
        }
        if is_robots_txt && let Some(status) = hit.status {
            tally.statuses.entry(status).or_default()[place] += 1;
        }
        // An address is the same one however it is written, and whatever its port was.
        tally.addresses[place].insert(match address {
            Some(IpAddr::V4(address)) => stable_hash(&address.octets()),
            Some(IpAddr::V6(address)) => stable_hash(&address.octets()),
            None => stable_hash(&hit.address),
        });

        if let Some(verdict) = proposed {
            let proposed = &mut tally.proposed;
            let now = match outcome {
                Outcome::Allowed(rule) => Some((true, rule)),
                Outcome::Refused(rule) | Outcome::Excused(rule) => Some((false, rule)),
                Outcome::Undecided | Outcome::TooCostly => None,
            };
            let becomes =
                if verdict.is_allowed { &mut proposed.allowed } else { &mut proposed.refused };
            becomes[place] += 1;
            if let Some((was_allowed, rule)) = now
                && was_allowed != verdict.is_allowed
            {
                let changed =
                    if was_allowed { &mut proposed.newly_refused } else { &mut proposed.newly_allowed };
                changed[place] += 1;
                let key = ChangeKey { is_refused: !verdict.is_allowed, now: rule, then: verdict.line };
                let change = proposed.changes.entry(key).or_default();
                change.requests[place] += 1;
                change.example.offer(&hit.target);
            }
        }
    }

    /// Counts the figures of all crawlers together.
    fn count_for_all(
        &mut self,
        who: &Who,
        hit: &Hit<'_>,
        outcome: Outcome,
        proposed: Option<Verdict>,
        place: usize,
    ) {
        if let Some(line) = proposed.and_then(|verdict| verdict.line) {
            self.tally.proposed_rules.entry(line).or_default()[place] += 1;
        }
        self.tally.too_costly += u64::from(outcome == Outcome::TooCostly);
        let is_refused = matches!(outcome, Outcome::Refused(_));
        if is_refused {
            let path = &hit.target
                [..memchr::memchr(b'?', &hit.target).unwrap_or(hit.target.len()).min(MOST_OCTETS)];
            if let Some(path) = self.tally.paths.entry(path, 1) {
                path.0[place] += 1;
            }
        }
        let is_contradicted = place == place_of(Identity::Contradicted);
        if is_contradicted || is_refused && place != place_of(Identity::Verified) {
            self.count_address(who, hit, place, is_refused);
        }
        if self.only.is_none() {
            self.count_host(hit, outcome, place);
        }
    }

    /// Counts an address that did what its owner may want to look into.
    fn count_address(&mut self, who: &Who, hit: &Hit<'_>, place: usize, is_refused: bool) {
        self.key.clear();
        match who {
            Who::Known(place) => {
                self.key
                    .extend_from_slice(self.audit.registry.agents()[*place as usize].token.as_bytes());
            }
            Who::Other(name) => self.key.extend_from_slice(name.as_bytes()),
            Who::Browser | Who::Nameless => return,
        }
        self.key.push(0);
        add_to_key(&mut self.key, &hit.address, self.audit.full_addresses);
        if let Some(address) = self.tally.addresses.entry(&*self.key, 1) {
            address.requests[place] += 1;
            address.refused += u64::from(is_refused);
        }
    }

    fn count_host(&mut self, hit: &Hit<'_>, outcome: Outcome, place: usize) {
        let host = hit.host.as_deref().map(host_name).unwrap_or_default();
        if let Some(tally) = self.tally.hosts.entry(host.as_bytes(), 1) {
            let counts = match outcome {
                Outcome::Allowed(_) => &mut tally.allowed,
                Outcome::Refused(_) => &mut tally.refused,
                Outcome::Excused(_) => &mut tally.excused,
                Outcome::Undecided | Outcome::TooCostly => &mut tally.undecided,
            };
            counts[place] += 1;
        }
    }

    /// Who a User-Agent string names, or none who is not looked at.
    fn who(&mut self, user_agent: &[u8]) -> Option<Who> {
        if let Some(who) = self.claims.get(user_agent) {
            return who.clone();
        }
        let audit = self.audit;
        let selection = &audit.selection;
        let who = match audit.registry.claim(user_agent) {
            Claim::Known(agent) => selection.holds_for(&agent.token, Some(agent.kind)).then(|| {
                let place = audit.registry.agents().iter().position(|known| std::ptr::eq(known, agent));
                Who::Known(place.unwrap_or_default() as u32)
            }),
            Claim::Other(token) => selection.holds_for(token, None).then(|| Who::Other(token.into())),
            Claim::Browser => (!selection.is_by_crawler()).then_some(Who::Browser),
            _ => (!selection.is_by_crawler()).then_some(Who::Nameless),
        };
        if user_agent.len() <= MOST_CLAIM_OCTETS {
            if self.claims.len() >= MOST_CLAIMS {
                self.claims.clear();
            }
            self.claims.insert(user_agent.into(), who.clone());
        }
        who
    }

    fn identity(&self, who: &Who, address: Option<IpAddr>) -> Identity {
        let Who::Known(place) = who else { return Identity::Unverified };
        let agent = &self.audit.registry.agents()[*place as usize];
        if agent.control_only {
            // No request is made with this name (WILD-6).
            return Identity::Contradicted;
        }
        if self.audit.ranges.is_empty() && self.audit.confirmations.is_none() {
            return Identity::Unverified;
        }
        let Some(address) = address else { return Identity::Unverified };
        let by_ranges = self.audit.ranges.identity(agent, address);
        match &self.audit.confirmations {
            Some(confirmations) => by_ranges.or(confirmations.identity(agent, address)),
            None => by_ranges,
        }
    }

    fn outcome(&mut self, who: &Who, hit: &Hit<'_>, target: Option<&Target<'_>>) -> Outcome {
        let Some(target) = target else { return Outcome::Undecided };
        // Taken and put back: a reference count would make threads wait for each other at every line.
        let outcome = if let Some(only) = self.only.take() {
            let outcome = self.outcome_at(&only, who, hit.time, target);
            self.only = Some(only);
            outcome
        } else {
            match self.site(hit) {
                Some(site) => self.outcome_at(&site, who, hit.time, target),
                None => Outcome::Undecided,
            }
        };
        // Without a file, too, robots.txt itself is always allowed (REP-10).
        if outcome == Outcome::Undecided && target.is_robots_txt() {
            return Outcome::Allowed(None);
        }
        outcome
    }

    fn outcome_at(
        &mut self,
        site: &Site,
        who: &Who,
        time: Option<i64>,
        target: &Target<'_>,
    ) -> Outcome {
        let Some((file, older)) = site.at(time) else { return Outcome::Undecided };
        let Some(verdict) = self.decide(file, who, target) else { return Outcome::TooCostly };
        let rule = verdict.line.map(|line| RuleKey { file: file.number, line });
        if verdict.is_allowed {
            return Outcome::Allowed(rule);
        }
        for file in older {
            match self.decide(file, who, target) {
                Some(older) if older.is_allowed => return Outcome::Excused(rule),
                Some(_) => {}
                None => return Outcome::TooCostly,
            }
        }
        Outcome::Refused(rule)
    }

    fn proposed(&mut self, who: &Who, target: Option<&Target<'_>>) -> Option<Verdict> {
        let verdict = self.decide(self.audit.proposal.as_ref()?, who, target?);
        self.tally.proposed_too_costly += u64::from(verdict.is_none());
        verdict
    }

    fn site(&mut self, hit: &Hit<'_>) -> Option<Arc<Site>> {
        let host = hit.host.as_deref()?;
        if let Some(site) = self.sites.get(host) {
            return site.clone();
        }
        let site = self.audit.sites.site(&host_name(host));
        if self.sites.len() >= MOST_SITES {
            self.sites.clear();
        }
        self.sites.insert(host.into(), site.clone());
        site
    }

    /// What a file decides, unless it would cost too much.
    fn decide(&mut self, file: &File, who: &Who, target: &Target<'_>) -> Option<Verdict> {
        let whose = match who {
            Who::Known(place) => RulesFor::Known(*place),
            Who::Other(name) => RulesFor::Named(Arc::clone(name)),
            Who::Browser | Who::Nameless => RulesFor::Anyone,
        };
        let registry = &self.audit.registry;
        // Names are of the registry or made of the characters of product tokens.
        let named = |token: &str| Crawler::new(token).unwrap_or_else(|_| Crawler::unnamed());
        let crawler = |whose: &RulesFor| match whose {
            RulesFor::Known(place) => named(&registry.agents()[*place as usize].token),
            RulesFor::Named(name) => named(name),
            RulesFor::Anyone => Crawler::unnamed(),
        };
        match self.rules.of(file, whose, crawler) {
            Some(rules) => Some(Verdict::of(rules, target)),
            // For every crawler (REP-10).
            None => target.is_robots_txt().then_some(Verdict { is_allowed: true, line: None }),
        }
    }
}

/// The figures of a crawler; none if there are too many crawlers.
fn tally_of<'t>(tally: &'t mut AuditTally, who: &Who) -> Option<&'t mut CrawlerTally> {
    match who {
        Who::Known(place) => Some(tally.known[*place as usize].get_or_insert_default()),
        Who::Other(name) => {
            let mut lower = [0; 64];
            let lower = &mut lower[..name.len().min(64)];
            lower.copy_from_slice(&name.as_bytes()[..lower.len()]);
            lower.make_ascii_lowercase();
            let found = tally.others.entry(&*lower, 1)?;
            found.name(name);
            Some(found)
        }
        Who::Browser | Who::Nameless => None,
    }
}

/// A host in lower case, without the dot at its end, and without its port where that is the one of HTTP or HTTPS.
fn host_name(host: &[u8]) -> String {
    let text = String::from_utf8_lossy(&host[..host.len().min(255)]).to_ascii_lowercase();
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port))
            if port.bytes().all(|octet| octet.is_ascii_digit()) && !name.ends_with(':') =>
        {
            (name, port)
        }
        _ => (&*text, ""),
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    if matches!(port, "" | "80" | "443") { name.to_owned() } else { format!("{name}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_one_form() {
        assert_eq!(host_name(b"Example.COM:443"), "example.com");
        assert_eq!(host_name(b"example.com."), "example.com");
        assert_eq!(host_name(b"[2001:db8::1]:80"), "[2001:db8::1]");
        assert_eq!(host_name(b"[2001:db8::1]"), "[2001:db8::1]");
        assert_eq!(host_name(b"example.com.:8080"), "example.com:8080");
        assert_eq!(host_name(b"2001:db8::1"), "2001:db8::1");
    }
}
