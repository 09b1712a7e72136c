//! Law 9: JSON in, JSON out, whatever comes in.

use std::fmt::Debug;

use mayi::report::{Request, answer};
use mayi::{Crawler, Dialect, RobotsTxt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Question, read};

/// Any octets are a request or an error with a message; and what comes out for either is JSON that
/// names the request's own URL and crawler. Nothing panics.
pub(crate) fn any_octets_get_an_answer(json: &[u8]) {
    if json.trim_ascii_start().first() == Some(&b'{') {
        let plainly = serde_json::from_slice::<Request<'_>>(json).ok();
        assert_eq!(Request::from_json(json).ok(), plainly, "the text of a file is cut out of it");
    }
    let request = match Request::from_json(json) {
        Ok(request) => request,
        Err(error) => {
            comes_back(&error.report());
            let error = parsed(&error.report());
            check_error(&error);
            check_names(json, &error);
            return;
        }
    };
    let written = serde_json::to_string(&request).expect("a request is JSON");
    assert_eq!(Request::from_json(written.as_bytes()).expect("it was written"), request);
    match answer(&request) {
        Ok(answer) => {
            comes_back(&answer.report());
            assert_eq!(answer.report().into_owned(), answer.report());
            let report = parsed(&answer);
            assert_eq!(report["url"], Value::from(&*request.url));
            assert_eq!(report["agent"], Value::from(&*request.agent));
            assert!(report["access"]["allowed"].is_boolean());
            assert!(report["access"]["reason"].is_string());
            assert_eq!(report["access"]["rule"].is_object(), report["access"]["reason"] == "rule");
            let dialect = report["dialect"].as_str().expect("the name of a dialect");
            assert!(Dialect::named(dialect).is_some());
        }
        Err(error) => {
            comes_back(&error.report());
            let error = parsed(&error.report());
            check_error(&error);
            assert_eq!(error["url"], Value::from(&*request.url));
            assert_eq!(error["agent"], Value::from(&*request.agent));
        }
    }
}

/// The URL and the crawler of a request that is wrong are in its error, where it is JSON and names each
/// of them once.
fn check_names(json: &[u8], error: &Value) {
    let Ok(Value::Object(members)) = serde_json::from_slice(json) else { return };
    let text = String::from_utf8_lossy(json);
    for name in ["url", "agent"] {
        let is_one = text.matches(&format!("\"{name}\"")).count() == 1;
        if let Some(Value::String(given)) = members.get(name).filter(|_| is_one) {
            assert_eq!(error[name], **given, "{text}");
        }
    }
}

/// A question through JSON has the answer that it has without: the report shows the decision.
pub(crate) fn a_request_is_answered_like_the_question(question: &Question, explain: bool) {
    let Some((_, target)) = question.asked() else { return };
    let crawler = Crawler::new(&question.agent).expect("it was asked");
    let text = String::from_utf8_lossy(&question.robots);
    for dialect in Dialect::ALL {
        let request = json!({
            "url": question.url, "agent": question.agent, "robots": text,
            "dialect": dialect.name(), "explain": explain,
        });
        let request = request.to_string();
        any_octets_get_an_answer(request.as_bytes());
        let request = Request::from_json(request.as_bytes()).expect("it is a request");
        let answered = answer(&request).expect("it can be answered");
        let report = parsed(&answered);

        let robots: RobotsTxt<'_> = read(text.as_bytes(), dialect);
        let decision = robots.decide(&crawler, &target);
        let access = &report["access"];
        assert_eq!(access["allowed"], decision.is_allowed(), "{dialect}: {question:?}");
        assert_eq!(access["reason"], decision.reason().name(), "{dialect}: {question:?}");
        let line = decision.rule().map(|rule| rule.line().number());
        assert_eq!(access["rule"]["line"].as_u64(), line.map(u64::from), "{dialect}: {question:?}");
        let sitemaps = report["records"]["sitemaps"].as_array().map(Vec::len);
        assert_eq!(sitemaps, Some(robots.sitemaps().count()), "{dialect}: {question:?}");
        assert_eq!(report["explanation"].is_object(), explain, "{dialect}: {question:?}");
    }
}

/// What is written as JSON and read again is the same.
#[track_caller]
pub(crate) fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(written: &T) {
    let text = serde_json::to_string(written).expect("it is JSON");
    let read: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(read, *written, "{text}");
}

fn check_error(error: &Value) {
    assert!(error["error"]["code"].is_string());
    let message = error["error"]["message"].as_str().expect("a message");
    assert!(!message.is_empty());
}

/// Writes something as JSON and reads it again.
fn parsed(shown: &impl serde::Serialize) -> Value {
    let text = serde_json::to_string(shown).expect("a report is JSON");
    serde_json::from_str(&text).expect("what was written can be read")
}
