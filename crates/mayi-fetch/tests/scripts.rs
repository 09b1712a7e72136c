//! The scripts of `vectors/access`: servers and a clock that say what they are told to, and questions
//! whose answers and whose requests must be the expected ones. No socket is opened.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use mayi::access::AfterUnreachable;
use mayi::report::Request;
use mayi_fetch::clock::{Clock, Later};
use mayi_fetch::transport::{Get, Response, Transport, TransportError, TransportErrorKind as Kind};
use mayi_fetch::{Fetcher, Policy};
use mayi_vectors::{Access, Script, ScriptServer, ScriptStep};

/// A clock that is set by hand. Nobody's time is ever over.
struct Told(Mutex<SystemTime>);

impl Clock for Told {
    fn now(&self) -> SystemTime {
        *lock(&self.0)
    }

    fn sleep(&self, _: Duration) -> Later<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// Servers that say what they are told to, and remember what they were asked.
#[derive(Default)]
struct Servers {
    said: Mutex<Vec<ScriptServer>>,
    asked: Mutex<Vec<String>>,
}

impl Transport for Servers {
    fn get<'a>(&'a self, get: Get<'a>) -> Later<'a, Result<Response, TransportError>> {
        let url = get.url.to_string();
        let asks_for_changes = get
            .validators
            .is_some_and(|validators| validators.etag.is_some() || validators.last_modified.is_some());
        let asked = if asks_for_changes { format!("{url} (unchanged?)") } else { url.clone() };
        lock(&self.asked).push(asked);
        let answer = match lock(&self.said).iter().find(|server| server.url == url) {
            None => Err(TransportError::new(Kind::Connect, "nobody is there")),
            Some(ScriptServer { error: Some(error), .. }) => {
                Err(TransportError::of_message(error.as_str()))
            }
            Some(server) => {
                let status = server.status.expect("a server has a status or an error");
                let response = Response::of_status(status).with_body(server.body.clone());
                let headers = server.headers.iter();
                Ok(headers.fold(response, |response, (name, value)| response.with_field(name, value)))
            }
        };
        Box::pin(async { answer })
    }
}

#[tokio::test]
async fn every_script_goes_as_expected() {
    let scripts = mayi_vectors::all().scripts;
    assert!(scripts.len() > 30, "only {} scripts", scripts.len());
    let mut failures = Vec::new();
    for script in &scripts {
        if let Err(difference) = play(script).await {
            failures.push(format!("{}: {difference}\n  as {}", script.about.id, script.about.why));
        }
    }
    assert!(failures.is_empty(), "{} scripts fail:\n{}", failures.len(), failures.join("\n"));
}

/// The vectors of one attempt come to the same through the fetcher as through the core's steps.
#[tokio::test]
async fn every_attempt_comes_to_what_is_expected() {
    let vectors = mayi_vectors::all().access;
    assert!(!vectors.is_empty());
    for Access { about, url, responses, result, treat_429_as_unreachable } in vectors {
        let servers = Arc::new(Servers::default());
        let said = responses.iter().map(|response| ScriptServer {
            url: response.url.clone(),
            status: response.status,
            headers: response.location.iter().map(|to| ("Location".to_owned(), to.clone())).collect(),
            body: String::new(),
            error: response.error.clone(),
        });
        *lock(&servers.said) = said.collect();
        let mut policy = Policy::default();
        policy.attempts.treat_429_as_unreachable = treat_429_as_unreachable;
        let fetcher = Fetcher::builder("ExampleBot/1.0").expect("a good name");
        let fetcher = fetcher.transport(Arc::clone(&servers) as _).policy(policy).build();
        let origin = mayi::access::Origin::of_url(&url).expect("a good URL");
        let robots = fetcher.robots(&origin).await;
        assert_eq!(robots.access().name(), result, "{}", about.id);
        let expected: Vec<_> = responses.iter().map(|response| response.url.clone()).collect();
        assert_eq!(*lock(&servers.asked), expected, "{}", about.id);
    }
}

async fn play(script: &Script) -> Result<(), String> {
    let start = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
    let clock = Arc::new(Told(Mutex::new(start)));
    let servers = Arc::new(Servers::default());
    let fetcher = Fetcher::builder("ExampleBot/1.0")
        .expect("a good name")
        .clock(Arc::clone(&clock) as _)
        .transport(Arc::clone(&servers) as _)
        .policy(policy(script))
        .offline(script.options.offline)
        .build();
    for step in &script.steps {
        *lock(&clock.0) = start + Duration::from_secs(step.at);
        if let Some(said) = &step.servers {
            lock(&servers.said).clone_from(said);
        }
        let Some(url) = &step.ask else { continue };
        ask(&fetcher, &servers, step, url).await.map_err(|it| format!("at {}: {it}", step.at))?;
    }
    Ok(())
}

async fn ask(fetcher: &Fetcher, servers: &Servers, step: &ScriptStep, url: &str) -> Result<(), String> {
    lock(&servers.asked).clear();
    let request = Request::new(url, "ExampleBot");
    let answer = fetcher.decide(&request).await.map_err(|error| error.to_string())?;
    while fetcher.stats().in_flight > 0 {
        tokio::task::yield_now().await;
    }
    step.check(&serde_json::to_value(answer).expect("a report is JSON"))?;
    let asked = lock(&servers.asked).clone();
    match &step.requests {
        Some(expected) if *expected != asked => Err(format!("{asked:?} were asked, not {expected:?}")),
        _ => Ok(()),
    }
}

fn policy(script: &Script) -> Policy {
    let options = &script.options;
    let mut policy = Policy::default();
    policy.jitter = 0.0;
    policy.keeping.unavailable_uses_copy = options.unavailable_uses_copy;
    policy.attempts.treat_429_as_unreachable = options.treat_429_as_unreachable;
    if let Some(seconds) = options.unreachable_for_seconds {
        policy.keeping.unreachable_for = Duration::from_secs(seconds);
    }
    if let Some(after) = &options.after_unreachable {
        policy.keeping.after_unreachable = match &**after {
            "unavailable" => AfterUnreachable::Unavailable,
            "copy" => AfterUnreachable::Copy,
            other => panic!("{}: after_unreachable = {other}", script.about.id),
        };
    }
    if let Some(seconds) = options.stale_while_revalidate_seconds {
        policy.stale_while_revalidate = Duration::from_secs(seconds);
    }
    policy
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics with it")
}
