//! Law 10: an attempt at a file is short, and its answer is never fresh for long.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use mayi::access::{
    AccessResult, AfterUnreachable, Attempt, AttemptOptions, InForce, Keeping, MOST_FRESH, Origin,
    Outcome, Step, Validators, fresh_for,
};

/// What a server says: a status and a location, or nothing at all.
pub(crate) type Response = Option<(u16, Option<String>)>;

/// Five redirects in a row are followed and no more (REP-19), so an attempt asks at most six times,
/// each time for another http or https URL, and comes to a result. The responses are given over and
/// over, for as long as the attempt goes on.
pub(crate) fn an_attempt_is_short(url: &str, responses: &[Response]) {
    let Ok(origin) = Origin::of_url(url) else { return };
    let again = Origin::of_url(&origin.robots_url()).expect("the URL of a file is one");
    assert_eq!(again, origin, "an origin is that of its own robots.txt (REP-18)");

    let mut options = AttemptOptions::default();
    options.treat_429_as_unreachable = url.len().is_multiple_of(2);
    let mut attempt = Attempt::with_options(&origin, options);
    assert_eq!(attempt.url(), origin.robots_url());
    let mut asked = HashSet::from([attempt.url().to_owned()]);
    let mut responses = responses.iter().cycle();
    let result = loop {
        let step = match responses.next() {
            Some(Some((status, location))) => attempt.answered(*status, location.as_deref()),
            Some(None) | None => attempt.failed("timeout"),
        };
        match step {
            Step::Get(next) => {
                assert_eq!(next, attempt.url());
                assert!(next.starts_with("http://") || next.starts_with("https://"), "{next}");
                assert!(!next.contains('#'), "{next}");
                assert!(asked.insert(next), "no URL is asked for twice");
                assert!(asked.len() <= 6, "five redirects at most");
                assert_eq!(attempt.redirects(), asked.len() - 1);
            }
            Step::Done(result) => break result,
        }
    };
    let successful = result == AccessResult::Successful;
    assert_eq!(result.name() == "successful", successful);
    assert!(result.to_string().starts_with(result.name()));
}

/// No copy is fresh for more than 24 hours, whatever its header fields say (REP-23). `no-store` makes
/// it stale at once, and an `Age` never makes it fresher.
pub(crate) fn freshness_is_bounded(fields: &[(String, String)], received: u64) {
    let received = SystemTime::UNIX_EPOCH
        .checked_add(Duration::from_secs(received))
        .unwrap_or(SystemTime::UNIX_EPOCH);
    let borrowed = || fields.iter().map(|(name, value)| (&**name, &**value));
    let fresh = fresh_for(borrowed(), received);
    assert!(fresh <= MOST_FRESH, "{fields:?}");
    assert_eq!(MOST_FRESH, Duration::from_hours(24));

    let no_store = [("Cache-Control", "no-store")];
    assert_eq!(fresh_for(borrowed().chain(no_store), received), Duration::ZERO, "{fields:?}");
    let older = fresh_for(borrowed().chain([("age", "60")]), received);
    assert!(older <= fresh, "{fields:?}");

    let validators = Validators::of(borrowed());
    let has = |wanted: &str| fields.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    assert_eq!(validators.etag.is_some(), has("etag"));
    assert_eq!(validators.last_modified.is_some(), has("last-modified"));
}

/// A copy is in force only where there is one; while a file is unreachable, everything is allowed only
/// by the option that says so, and only after the time that it says (REP-20, REP-21). Times are
/// seconds, and may run backwards.
pub(crate) fn what_is_in_force_is_there(keeping: &Keeping, copy: Option<u64>, since: u64, now: u64) {
    let time = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds % (1 << 40));
    let outcomes =
        [Outcome::Successful, Outcome::Unavailable, Outcome::Unreachable { since: time(since) }];
    for last in outcomes {
        let in_force = keeping.in_force(&last, copy.map(time), time(now));
        assert!(in_force != InForce::Copy || copy.is_some(), "{last:?}");
        match last {
            Outcome::Successful => assert_ne!(in_force, InForce::AllowAll),
            Outcome::Unavailable => assert_ne!(in_force, InForce::DisallowAll),
            Outcome::Unreachable { since } => {
                let long =
                    time(now).duration_since(since).unwrap_or_default() > keeping.unreachable_for;
                let given_up = long && keeping.after_unreachable == AfterUnreachable::Unavailable;
                assert_eq!(in_force == InForce::AllowAll, given_up);
            }
        }
    }
}
