//! The law of the usage preferences: `usage`, `overrides`, `signals` and `uses` of one decision never
//! contradict each other (APP-9, USE-3, USE-5, USE-6).

use mayi::report::{Request, answer};
use serde_json::{Value, json};

use super::Question;

/// The applications that a crawler may gather for, of which the registry gives one directives that
/// mean something for usage categories.
const APPLICATIONS: [&str; 4] = ["exampleassistant", "examplesearch", "x", "exampletypes"];

/// What a response may have to say about it. Some of it can't be read.
const HEADERS: [(&str, &str); 8] = [
    ("Content-Usage", "train-ai=n"),
    ("Content-Usage", "train-ai=y, search=y, x=n"),
    ("Content-Usage", "search=n, train-ai"),
    ("Content-Usage", "Train-AI=n"),
    ("Content-Usage", ""),
    ("Content-Signal", "ai-train=no, search=yes, ai-input=no"),
    ("Content-Signal", "ai-train=yes, search=no"),
    ("Robots-Tag", "*;noai"),
];

/// Asked for any applications and with any header, the parts of the decision agree; and what several
/// applications come to is what each of them comes to, put together.
pub(crate) fn uses_never_contradict_each_other(question: &Question, choices: &[u8]) {
    let choice = |at: usize| choices.get(at).copied().unwrap_or_default();
    let is_chosen = |(at, _): &(usize, &&str)| choice(0) >> at & 1 == 1;
    let apps: Vec<&str> =
        APPLICATIONS.iter().enumerate().filter(is_chosen).map(|(_, app)| *app).collect();
    let headers = |at: &usize| choice(1) >> at & 1 == 1;
    let headers: Vec<(&str, &str)> = (0..HEADERS.len()).filter(headers).map(|at| HEADERS[at]).collect();

    let Some(report) = report(question, &apps, &headers) else { return };
    check_uses(&report, question);
    check_overrides(&report, &apps, question);
    check_usage(&report, question);

    let alone = |apps: &[&str], headers: &[(&str, &str)]| {
        let report = self::report(question, apps, headers).expect("it could be asked before");
        check_uses(&report, question);
        report["usage"].clone()
    };
    let stated = alone(&[], &[]);
    if report["usage"].is_null() {
        assert!(stated.is_null(), "{question:?}");
        return;
    }
    for label in ["train-ai", "search"] {
        let of_each = apps.iter().map(|app| alone(&[app], &[])[label].clone());
        let of_file = of_each
            .reduce(|one, other| most_restrictive(&one, &other))
            .unwrap_or_else(|| stated[label].clone());
        // A header alone is what it says beside a file that says nothing.
        let silent = Question { robots: Vec::new(), ..question.clone() };
        let of_header = self::report(&silent, &[], &headers).expect("a question");
        let expected = most_restrictive(&of_file, &of_header["usage"][label]);
        assert_eq!(report["usage"][label], expected, "{label}: {apps:?} {headers:?} {question:?}");
        // Where nothing is stated nothing can be overridden.
        assert!(stated[label] != "unknown" || of_file == "unknown", "{label}: {apps:?} {question:?}");
    }
}

/// The decision as JSON.
fn report(question: &Question, apps: &[&str], headers: &[(&str, &str)]) -> Option<Value> {
    let robots = String::from_utf8_lossy(&question.robots);
    let request = json!({
        "url": question.url, "agent": question.agent, "apps": apps, "robots": robots,
        "page": { "headers": headers },
    });
    let request = request.to_string();
    let request = Request::from_json(request.as_bytes()).expect("it is a request");
    let answer = answer(&request).ok()?;
    Some(serde_json::to_value(answer).expect("a report is JSON"))
}

/// Each use is the most restrictive of the signals that count.
fn check_uses(report: &Value, question: &Question) {
    for about in ["train", "search", "ai-input"] {
        let counting = signals(report, about).filter(|signal| signal["overridden"] != true);
        let says = counting
            .map(|signal| signal["says"].clone())
            .reduce(|one, other| most_restrictive(&one, &other));
        let expected = says.unwrap_or_else(|| json!("unknown"));
        assert_eq!(report["uses"][about], expected, "{about}: {question:?}");
    }
    let is_allowed = report["access"]["allowed"] == true;
    assert_eq!(report["uses"]["crawl"] == "allowed", is_allowed);
    assert!(is_allowed || report["signals"] == json!({}), "{question:?}");
    assert_eq!(report["usage"].is_null(), !is_allowed, "{question:?}");
}

/// An override is of something that the file states, makes something else of it, and is a directive
/// that the decision shows; what is marked as overridden is so for every application.
fn check_overrides(report: &Value, apps: &[&str], question: &Question) {
    let none = Vec::new();
    let overrides = report["overrides"].as_array().unwrap_or(&none);
    for over in overrides {
        let text = |name: &str| over[name].as_str().expect("a text");
        let about = if text("category") == "train-ai" { "train" } else { "search" };
        assert_ne!(text("preference"), "unknown", "{question:?}");
        assert_ne!(text("preference"), text("outcome"), "{question:?}");
        assert!(!report["directives"][text("application")][text("directive")].is_null());
        let spoke = |source: &str, says: &str| {
            signals(report, about).any(|signal| signal["signal"] == source && signal["says"] == says)
        };
        assert!(spoke("content-usage", text("preference")), "{question:?}");
        assert!(spoke("app-directive", text("outcome")), "{question:?}");
    }
    for (about, category) in [("train", "train-ai"), ("search", "search")] {
        let mut of_file = signals(report, about).filter(|signal| signal["signal"] == "content-usage");
        let is_overridden = of_file.any(|signal| signal["overridden"] == true);
        let of_app = |app: &&str| {
            let is_one = |over: &&Value| over["application"] == *app && over["category"] == category;
            overrides.iter().any(|over| is_one(&over))
        };
        let has_all = !apps.is_empty() && apps.iter().all(of_app);
        let is_stated = signals(report, about).any(|signal| signal["signal"] == "content-usage");
        assert_eq!(is_overridden, has_all && is_stated, "{about}: {question:?}");
    }
}

/// A preference is the most restrictive of what the file states and no directive overrides, of what
/// directives make of it, and of what the header says.
fn check_usage(report: &Value, question: &Question) {
    if report["usage"].is_null() {
        return;
    }
    for (about, category) in [("train", "train-ai"), ("search", "search")] {
        let counts = |signal: &&Value| {
            signal["signal"] == "content-usage" && signal["overridden"] != true
                || signal["signal"] == "content-usage-header"
        };
        let stated = signals(report, about).filter(counts).map(|signal| signal["says"].clone());
        let overrides = report["overrides"].as_array().into_iter().flatten();
        let outcomes =
            overrides.filter(|over| over["category"] == category).map(|over| over["outcome"].clone());
        let expected = stated.chain(outcomes).reduce(|one, other| most_restrictive(&one, &other));
        let expected = expected.unwrap_or_else(|| json!("unknown"));
        assert_eq!(report["usage"][category], expected, "{category}: {question:?}");
    }
}

fn signals<'r>(report: &'r Value, about: &str) -> impl Iterator<Item = &'r Value> {
    report["signals"][about].as_array().into_iter().flatten()
}

/// Disallowed if one is, or else allowed if one is, as the vocabulary's draft combines them.
fn most_restrictive(one: &Value, other: &Value) -> Value {
    ["disallowed", "allowed"]
        .into_iter()
        .find(|says| *one == **says || *other == **says)
        .map_or_else(|| json!("unknown"), Value::from)
}
