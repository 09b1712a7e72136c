//! An entry and the time → whether to send a request; the result of an attempt → the next entry.
//!
//! Pure: the time and the random number are arguments. A success is cached as RFC 9111 says, a failure for
//! longer each time it is repeated; no failure ever replaces the last good copy (REP-20, REP-21, REP-23).

use std::time::{Duration, SystemTime};

use mayi::access::{
    AccessResult, AttemptOptions, Keeping, MOST_FRESH, Origin, Validators, explicit_fresh_for,
    stale_while_revalidate,
};

use crate::kept::{FileCopy, Hop, Kept, LastAttempt};
use crate::transport::{Cause, Response};

/// How far a clock may be behind the one that wrote an entry; if it is more, the entry is not used.
pub(crate) const CLOCK_SKEW: Duration = Duration::from_mins(5);

/// The maximum time between two attempts, whatever is set: later times can't be represented.
const LONGEST_BACKOFF: Duration = Duration::from_hours(366 * 24);

/// The longest validator that is sent back. Servers accept 4 to 8 KiB for a whole head.
const LONGEST_VALIDATOR: usize = 1024;

/// How many octets the earlier copies of one file may have together.
const MOST_EARLIER_OCTETS: usize = 1 << 20;

/// How files are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Policy {
    /// What applies while a file is unavailable or unreachable (REP-20, REP-21).
    pub keeping: Keeping,
    /// How statuses are read (REP-21).
    pub attempts: AttemptOptions,
    /// The minimum time for which a copy is fresh, whatever its server says, so that not every question sends
    /// a request.
    pub least_fresh: Duration,
    /// For how long a stale copy may be used while it is revalidated, if its server does not say; never for
    /// longer than 24 hours in total.
    pub stale_while_revalidate: Duration,
    /// How long before it is stale a copy that is in use is refreshed, or in the last tenth of its time if
    /// that is shorter.
    pub refresh_ahead: Duration,
    /// How long an unavailable file is not requested again.
    pub unavailable: Backoff,
    /// How long an unreachable file is not requested again.
    pub unreachable: Backoff,
    /// The part by which a backoff is randomly longer or shorter, so that not all retries come at once.
    pub jitter: f64,
    /// How many earlier copies of a file are kept when its text changes, to find out which rules applied when;
    /// default: none. Copies that are already kept stay.
    pub earlier: usize,
}

/// How long to wait after a failure: longer each time, up to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// After the first failure.
    pub first: Duration,
    /// At most. Every failure in a row doubles the time up to this.
    pub most: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            keeping: Keeping::default(),
            attempts: AttemptOptions::default(),
            least_fresh: Duration::from_mins(1),
            stale_while_revalidate: Duration::ZERO,
            refresh_ahead: Duration::from_mins(10),
            unavailable: Backoff { first: Duration::from_hours(1), most: MOST_FRESH },
            unreachable: Backoff { first: Duration::from_mins(1), most: Duration::from_hours(1) },
            jitter: 0.2,
            earlier: 0,
        }
    }
}

/// What an origin needs before a question can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing.
    Nothing,
    /// The entry answers, and should be revalidated in the background.
    Refresh,
    /// An attempt, before anything is answered.
    Attempt,
}

/// What came of an attempt.
#[derive(Clone, Debug)]
pub(crate) struct Attempted {
    pub(crate) result: AccessResult,
    pub(crate) hops: Vec<Hop>,
    /// The last response, if there was one.
    pub(crate) response: Option<Response>,
    /// Whether that response says that the copy is unchanged.
    pub(crate) is_unchanged: bool,
    /// Whose failure it is, if there was no response.
    pub(crate) cause: Cause,
}

impl Policy {
    /// What an origin needs now.
    pub(crate) fn need(&self, kept: &Kept, now: SystemTime) -> Need {
        let last = &kept.last;
        if now + CLOCK_SKEW < last.at {
            return Need::Attempt;
        }
        match (&last.result, &kept.copy) {
            (AccessResult::Successful, Some(copy)) if now < copy.fresh_until => {
                let lifetime = copy.fresh_until.duration_since(copy.checked).unwrap_or_default();
                let ahead = self.refresh_ahead.min(lifetime / 10);
                if now + ahead < copy.fresh_until { Need::Nothing } else { Need::Refresh }
            }
            (AccessResult::Successful, Some(copy)) if now < copy.stale_until => Need::Refresh,
            (AccessResult::Successful, _) => Need::Attempt,
            _ if now < last.not_before => Need::Nothing,
            // A copy that is in force anyway is used for one more round; after that its server has not been
            // asked for a long time, and the next question waits for it.
            (AccessResult::Unreachable(_), Some(_)) => {
                let round = last.not_before.duration_since(last.at).unwrap_or_default();
                if now < last.not_before + round { Need::Refresh } else { Need::Attempt }
            }
            _ => Need::Attempt,
        }
    }

    /// The entry after an attempt. The random number is between -1 and 1.
    pub(crate) fn after(
        &self,
        before: Option<&Kept>,
        origin: &Origin,
        attempted: Attempted,
        now: SystemTime,
        dice: f64,
    ) -> Kept {
        let Attempted { result, hops, response, is_unchanged, cause: _ } = attempted;
        let copy_before = before.and_then(|kept| kept.copy.as_ref());
        let copy = match (&result, &response) {
            (AccessResult::Successful, Some(response)) if is_unchanged => {
                copy_before.map(|copy| self.confirmed(copy, response, now))
            }
            (AccessResult::Successful, Some(response)) => {
                let url = hops.last().map(|hop| &*hop.url).unwrap_or_default();
                Some(self.copy_of(response, url, now))
            }
            _ => copy_before.cloned(),
        };
        let (copy, earlier) = self.with_earlier(before, copy);
        let repeats = before.filter(|kept| {
            kept.last.result != AccessResult::Successful && kept.last.result.name() == result.name()
        });
        let failures = repeats.map_or(0, |kept| kept.last.failures).saturating_add(1);
        let since = repeats.and_then(|kept| kept.last.failing_since).unwrap_or(now);
        let wait =
            response.as_ref().and_then(|response| retry_after(response, now)).unwrap_or_default();
        let (failures, failing_since, not_before) = match &result {
            AccessResult::Successful => (0, None, now),
            AccessResult::Unavailable(_) => {
                let explicit = response.as_ref().and_then(|it| explicit_fresh_for(it.fields(), now));
                let kept_for = match explicit {
                    Some(fresh) if fresh > self.least_fresh => self.bounded(fresh),
                    // Many servers mark every error as not cacheable. That does not mean that they want a
                    // request every minute for ever.
                    Some(_) => {
                        let most = self.unavailable.first.max(self.least_fresh);
                        let backoff = Backoff { first: self.least_fresh, most };
                        self.jittered(backoff.after(failures), dice).max(self.bounded(Duration::ZERO))
                    }
                    None => self.jittered(self.unavailable.after(failures), dice),
                };
                (failures, Some(since), now + kept_for.max(wait))
            }
            AccessResult::Unreachable(_) => {
                let backoff = self.jittered(self.unreachable.after(failures), dice);
                (failures, Some(since), now + backoff.max(wait))
            }
        };
        let last = LastAttempt { at: now, result, hops, failing_since, failures, not_before };
        Kept { origin: origin.clone(), copy, last, earlier }
    }

    /// The next copy, with the time since when its text is known, and the earlier copies.
    fn with_earlier(
        &self,
        before: Option<&Kept>,
        copy: Option<FileCopy>,
    ) -> (Option<FileCopy>, Vec<FileCopy>) {
        let Some(before) = before else { return (copy, Vec::new()) };
        let mut earlier = before.earlier.clone();
        let Some(mut new) = copy else { return (None, earlier) };
        match &before.copy {
            Some(old) if old.body == new.body => new.since = old.since,
            Some(old) if self.earlier > 0 => earlier.push(old.clone()),
            _ => {}
        }
        let mut octets: usize = earlier.iter().map(|copy| copy.body.len()).sum();
        while earlier.len() > self.earlier.max(before.earlier.len())
            || octets > MOST_EARLIER_OCTETS && !earlier.is_empty()
        {
            octets -= earlier.remove(0).body.len();
        }
        (Some(new), earlier)
    }

    fn copy_of(&self, response: &Response, url: &str, now: SystemTime) -> FileCopy {
        let fresh = explicit_fresh_for(response.fields(), now).unwrap_or(MOST_FRESH);
        let fresh = self.bounded(fresh);
        FileCopy {
            body: response.body.clone(),
            is_cut: response.is_cut,
            content_type: response.field("content-type").map(Into::into),
            url: url.into(),
            validators: validators_of(response),
            since: now,
            fetched: now,
            checked: now,
            fresh_until: now + fresh,
            stale_until: now + fresh + self.stale_for(response, fresh),
        }
    }

    /// A copy that is unchanged: fresh for as long as the response says, or else as before (RFC 9111 §4.3.4).
    fn confirmed(&self, copy: &FileCopy, response: &Response, now: SystemTime) -> FileCopy {
        let before = copy.fresh_until.duration_since(copy.checked).unwrap_or(MOST_FRESH);
        let fresh = explicit_fresh_for(response.fields(), now).unwrap_or(before);
        let fresh = self.bounded(fresh);
        let said = validators_of(response);
        let mut validators = copy.validators.clone();
        validators.etag = said.etag.or(validators.etag);
        validators.last_modified = said.last_modified.or(validators.last_modified);
        FileCopy {
            checked: now,
            fresh_until: now + fresh,
            stale_until: now + fresh + self.stale_for(response, fresh),
            validators,
            ..copy.clone()
        }
    }

    fn stale_for(&self, response: &Response, fresh: Duration) -> Duration {
        let stale = stale_while_revalidate(response.fields()).unwrap_or(self.stale_while_revalidate);
        stale.min(MOST_FRESH.saturating_sub(fresh))
    }

    /// A freshness time within its minimum and maximum; the maximum wins (REP-23).
    fn bounded(&self, fresh: Duration) -> Duration {
        fresh.max(self.least_fresh).min(MOST_FRESH)
    }

    fn jittered(&self, duration: Duration, dice: f64) -> Duration {
        let factor = 1.0 + self.jitter * dice;
        // NaN makes nothing longer or shorter.
        let factor = if factor.is_nan() { 1.0 } else { factor.clamp(0.0, 2.0) };
        duration.min(LONGEST_BACKOFF).mul_f64(factor)
    }
}

impl Backoff {
    fn after(self, failures: u32) -> Duration {
        let doubled = 2_u32.checked_pow(failures.saturating_sub(1)).unwrap_or(u32::MAX);
        self.first.saturating_mul(doubled).min(self.most)
    }
}

/// The validators for the next request. A very long validator is ignored: servers would refuse a request with
/// it, and a refusal means that there is no file.
fn validators_of(response: &Response) -> Validators {
    let mut validators = Validators::of(response.fields());
    for validator in [&mut validators.etag, &mut validators.last_modified] {
        validator.take_if(|validator| validator.len() > LONGEST_VALIDATOR);
    }
    validators
}

/// For how long a server asks for no further request: `Retry-After` of 429 and 503, at most a day.
fn retry_after(response: &Response, now: SystemTime) -> Option<Duration> {
    if !matches!(response.status, 429 | 503) {
        return None;
    }
    mayi::access::retry_after(response.fields(), now).map(|wait| wait.min(MOST_FRESH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(body: &'static [u8], at: u64) -> FileCopy {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(at);
        FileCopy::new("https://example.com/robots.txt", body, at)
    }

    fn kept(policy: &Policy, before: Option<&Kept>, next: FileCopy) -> Kept {
        let (copy, earlier) = policy.with_earlier(before, Some(next));
        let origin = Origin::of_url("https://example.com").expect("an origin");
        let last = LastAttempt::new(SystemTime::UNIX_EPOCH, AccessResult::Successful);
        Kept { earlier, ..Kept::new(origin, copy, last) }
    }

    fn story(kept: &Kept) -> Vec<(&[u8], u64)> {
        let seconds =
            |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |it| it.as_secs());
        kept.earlier.iter().chain(&kept.copy).map(|copy| (&*copy.body, seconds(copy.since))).collect()
    }

    #[test]
    fn earlier_texts_are_kept_with_their_times() {
        let policy = Policy { earlier: 2, ..Policy::default() };
        let mut now = kept(&policy, None, copy(b"a", 10));
        for (body, at) in [(&b"a"[..], 20), (b"b", 30), (b"b", 40), (b"a", 50)] {
            now = kept(&policy, Some(&now), copy(body, at));
        }
        assert_eq!(story(&now), [(&b"a"[..], 10), (b"b", 30), (b"a", 50)]);
        assert_eq!(now.earlier[0].fetched, SystemTime::UNIX_EPOCH + Duration::from_secs(20));
        // No more of them than the policy says; a policy that keeps none adds none, and leaves existing ones.
        now = kept(&policy, Some(&now), copy(b"c", 60));
        assert_eq!(story(&now), [(&b"b"[..], 30), (b"a", 50), (b"c", 60)]);
        now = kept(&Policy::default(), Some(&now), copy(b"d", 70));
        assert_eq!(story(&now), [(&b"b"[..], 30), (b"a", 50), (b"d", 70)]);
        assert_eq!(policy.with_earlier(Some(&now), now.copy.clone()).1.len(), 2);
        let fresh = kept(&Policy::default(), None, copy(b"a", 10));
        assert_eq!(story(&kept(&Policy::default(), Some(&fresh), copy(b"b", 20))), [(&b"b"[..], 20)]);
    }

    #[test]
    fn earlier_texts_have_a_size_together() {
        let policy = Policy { earlier: 16, ..Policy::default() };
        let mut now = kept(&policy, None, copy(b"a", 1));
        for number in 0..8_u8 {
            let mut next = copy(b"", u64::from(number) + 2);
            next.body = vec![number; MOST_EARLIER_OCTETS / 3].into();
            now = kept(&policy, Some(&now), next);
        }
        assert_eq!(now.earlier.len(), 3);
        assert_eq!(now.earlier[0].body[0], 4);
        let mut large = copy(b"", 20);
        large.body = vec![9; MOST_EARLIER_OCTETS + 1].into();
        now = kept(&policy, Some(&now), large);
        now = kept(&policy, Some(&now), copy(b"z", 30));
        assert_eq!(now.earlier.len(), 0);
    }
}
