//! The same answers as everywhere else: every vector through HTTP, by each of the ways.

use std::collections::BTreeMap;

use base64::Engine;
use mayi_vectors::Case;
use serde_json::{Value, json};

use crate::document::Document;
use crate::support::{Service, config};

/// Every vector in an array and in lines, with the service set up as each of them wants it.
#[tokio::test(flavor = "multi_thread")]
async fn every_vector_is_decided_as_expected() {
    let vectors = mayi_vectors::all();
    let document = Document::new();
    let mut by_extensions: BTreeMap<&[String], Vec<&Case>> = BTreeMap::new();
    for case in &vectors.cases {
        by_extensions.entry(&case.without).or_default().push(case);
    }
    let mut failures = Vec::new();
    let mut asked = 0;
    for (without, cases) in by_extensions {
        let mut config = config();
        config.reading.no_extensions = without.to_vec();
        config.limits.body_octets = 64 << 20;
        let service = Service::with(config).await;
        let requests: Vec<_> = cases.iter().map(|case| case.request.to_string()).collect();
        let array = service.post("/v1/decide", format!("[{}]", requests.join(", "))).await;
        assert_eq!(array.status, 200);
        let array = array.json();
        let array = array.as_array().expect("an array");
        assert_eq!(array.len(), cases.len(), "one decision a request");
        let lines = service.post_as("/v1/decide", "application/x-ndjson", requests.join("\n")).await;
        assert_eq!(lines.headers["content-type"], "application/x-ndjson");
        let lines = String::from_utf8(lines.body).expect("text");
        let lines: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(&lines, array);
        for (case, decision) in cases.iter().zip(array) {
            failures.extend(case.check(decision).err());
            let schema = if decision.get("error").is_some() { "Error" } else { "Decision" };
            failures.extend(
                document.check(schema, decision).err().map(|why| format!("{}: {why}", case.about.id)),
            );
            asked += 1;
        }
    }
    assert_eq!(asked, vectors.cases.len());
    assert!(failures.is_empty(), "{} cases fail:\n{}", failures.len(), failures.join("\n"));
}

#[tokio::test]
async fn one_request_is_answered_as_in_an_array_or_by_a_problem() {
    let service = Service::start().await;
    let mut seen = std::collections::BTreeSet::new();
    for case in mayi_vectors::all().cases.iter().filter(|case| case.without.is_empty()).step_by(7) {
        let request = case.request.to_string();
        let one = service.post("/v1/decide", &request).await;
        let array = service.post("/v1/decide", format!("[{request}]")).await.json();
        if one.status == 200 {
            assert_eq!(one.json(), array[0], "{request}");
        } else {
            assert_eq!(one.status, 422, "{request}");
            assert_eq!(one.problem(), array[0]["error"]["code"], "{request}");
            assert_eq!(one.json()["error"], array[0]["error"], "{request}");
        }
        seen.insert(one.status);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [200, 422]);
}

#[tokio::test]
async fn every_wrong_request_has_its_code() {
    let service = Service::start().await;
    let robots = r#""robots": "User-agent: *""#;
    for (body, status, code) in [
        ("{", 400, "invalid-json"),
        ("", 400, "invalid-json"),
        ("\u{feff}{}", 400, "invalid-json"),
        ("[{}", 400, "invalid-json"),
        ("1", 422, "invalid-request"),
        ("{}", 422, "invalid-request"),
        (r#"{"url": "https://a/", "agent": "a", "bot": 1}"#, 422, "invalid-request"),
        (r#"{"url": "a", "agent": "a", ROBOTS}"#, 422, "invalid-url"),
        (r#"{"url": "gopher://a/", "agent": "a", ROBOTS}"#, 422, "unsupported-scheme"),
        (r#"{"url": "https://a/", "agent": "a b", ROBOTS}"#, 422, "invalid-agent"),
        (r#"{"url": "https://a/", "agent": "a", "purposes": ["a b"], ROBOTS}"#, 422, "invalid-purpose"),
        (r#"{"url": "https://a/", "agent": "a", "apps": ["a b"], ROBOTS}"#, 422, "invalid-app"),
        (
            r#"{"url": "https://a/", "agent": "a", "user_agent": "x", ROBOTS}"#,
            422,
            "invalid-user-agent",
        ),
        (r#"{"url": "https://a/", "agent": "a", "dialect": "x", ROBOTS}"#, 422, "unknown-dialect"),
        (r#"{"url": "https://a/", "agent": "a", "robots": {"status": 200}}"#, 422, "invalid-robots"),
        (r#"{"url": "https://[/", "agent": "a"}"#, 422, "invalid-url"),
        (r#"{"url": "https://a/", "agent": "a b"}"#, 422, "invalid-agent"),
    ] {
        let body = body.replace("ROBOTS", robots);
        let answer = service.post("/v1/decide", &body).await;
        assert_eq!((answer.status, &*answer.problem()), (status, code), "{body}");
    }
}

#[tokio::test]
async fn a_wrong_request_costs_the_others_nothing() {
    let service = Service::start().await;
    let good = r#"{"url": "https://a/", "agent": "a", "robots": ""}"#;
    let answer = service.post("/v1/decide", format!("[{good}, [], {good}, null, {{}}]")).await.json();
    let codes: Vec<_> =
        answer.as_array().expect("an array").iter().map(|it| &it["error"]["code"]).collect();
    let wrong = json!("invalid-request");
    assert_eq!(codes, [&Value::Null, &wrong, &Value::Null, &wrong, &wrong]);
    assert_eq!(service.post("/v1/decide", "[]").await.json(), json!([]));
    let lines = format!("{good}\n\n{{\n  \n{good}");
    let answer = service.post_as("/v1/decide", "application/x-ndjson; charset=utf-8", lines).await;
    let lines: Vec<Value> = String::from_utf8(answer.body)
        .expect("text")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[1]["error"]["code"], "invalid-json");
    assert_eq!(lines[0], lines[2]);
}

#[tokio::test]
async fn other_operations_answer_as_the_library_does() {
    let service = Service::start().await;
    let document = Document::new();
    let file = "User-agent: *\nDisalow: /a\nDisallow private/\n";
    let lint = service.post("/v1/lint", json!({ "robots": file }).to_string()).await.json();
    let options = mayi::lint::Options::default();
    let linted = mayi::lint::lint(file.as_bytes(), &options);
    let expected = mayi::report::LintReport::of("robots.txt", &linted);
    assert_eq!(lint, serde_json::to_value(expected).expect("JSON"));
    document.check("LintReport", &lint).expect("as documented");
    let styled = json!({ "robots": "User-agent: *\nDisallow: /a*\nDisallow b\n", "select": ["style"], "ignore": ["P001", "S001"] });
    let styled = service.post("/v1/lint", styled.to_string()).await.json();
    document.check("LintReport", &styled).expect("as documented");
    assert_eq!(
        (&styled["totals"], &styled["diagnostics"][0]["lines"]),
        (&json!({ "P006": 1 }), &json!([2]))
    );
    let with_page = json!({
        "robots": "User-agent: *\nDisallow: /a\n", "agents": ["Googlebot"], "url": "https://example.com/a",
        "page": { "headers": [["X-Robots-Tag", "noindex"]], "html": { "base64": "PHA+" } },
    });
    let lint = service.post("/v1/lint", with_page.to_string()).await.json();
    document.check("LintReport", &lint).expect("as documented");
    assert!(lint["diagnostics"].as_array().is_some_and(|found| !found.is_empty()), "{lint}");

    let compare = json!({ "robots": file, "agents": ["Googlebot", "*"] }).to_string();
    let compare = service.post("/v1/compare", compare).await.json();
    document.check("Comparison", &compare).expect("as documented");
    let agents = [mayi::ProductToken::new("Googlebot").ok(), None];
    let expected = mayi::meaning::compare(
        file.as_bytes(),
        &mayi::ReadOptions::default(),
        mayi::Dialect::BY_TOKEN,
        Some(&agents),
    );
    assert_eq!(compare, serde_json::to_value(expected).expect("JSON"));

    let goal = json!({ "say": "refuse", "who": ["ExampleBot"], "path": "/p/" });
    let edit = json!({ "robots": "User-agent: *\nDisallow: /a\n", "wishes": [goal] });
    let edit = service.post("/v1/edit", edit.to_string()).await.json();
    document.check("Edit", &edit).expect("as documented");
    let edited = "User-agent: *\nDisallow: /a\n\nUser-agent: ExampleBot\nDisallow: /a\nDisallow: /p/\n";
    assert_eq!((&edit["robots"], &edit["refused"]), (&json!(edited), &json!(null)));
    let goals = json!([
        { "say": "prefer", "by": "content-signal", "uses": { "train": "disallowed" } },
        { "say": "refuse-purposes", "purposes": ["SHOPPING"] },
        { "say": "sitemap", "url": "https://example.com/sitemap.xml" },
    ]);
    for goal in goals.as_array().expect("a list") {
        document.check("Goal", goal).expect("as documented");
    }
    let new = json!({ "new": { "keep_out": ["/cart/"] }, "wishes": goals });
    let new = service.post("/v1/edit", new.to_string()).await.json();
    document.check("Edit", &new).expect("as documented");
    assert_eq!(
        new["robots"],
        "User-agent: *\nContent-Signal: ai-train=no\nDisallow: /cart/\n\n\
         User-Agent-Purpose: SHOPPING\nDisallow: /\n\nSitemap: https://example.com/sitemap.xml\n"
    );
    let refused = json!({ "robots": "User-agent: ExampleBot\nAllow: /*.html$\n", "wishes": [goal] });
    let refused = service.post("/v1/edit", refused.to_string()).await.json();
    document.check("Edit", &refused).expect("as documented");
    assert_eq!((&refused["refused"]["line"], &refused["robots"]), (&json!(2), &json!(null)));
    let new = "User-agent: *\nDisallow: /b\n";
    let diff = json!({ "old": file, "new": { "base64": base64_of(new) }, "dialect": "google" });
    let diff = service.post("/v1/diff", diff.to_string()).await.json();
    document.check("Diff", &diff).expect("as documented");
    let read = |text: &'static str| {
        let options = mayi::ReadOptions::default().with_dialect(mayi::Dialect::GOOGLE);
        mayi::RobotsTxt::read(text.as_bytes(), &options)
    };
    let expected = mayi::meaning::diff(&read(file), &read(new));
    assert_eq!(diff, serde_json::to_value(expected).expect("JSON"));
    assert_eq!((&diff["meaning"], &diff["dialect"]), (&json!("changed"), &json!("google")));

    for robots in [json!(file), json!({ "status": 404 }), json!({ "error": "timeout" })] {
        let overview = json!({ "robots": robots }).to_string();
        let overview = service.post("/v1/overview", overview).await.json();
        document.check("Overview", &overview).expect("as documented");
        assert!(overview["summary"].as_array().is_some_and(|it| !it.is_empty()), "{overview}");
    }
    let overview = service.post("/v1/overview", json!({ "robots": file }).to_string()).await.json();
    let options = mayi::ReadOptions::default();
    let site = mayi::access::SiteFile::read(file.as_bytes(), &options);
    let expected = mayi::meaning::overview(&site, &options);
    assert_eq!(overview, serde_json::to_value(expected).expect("JSON"));

    let text = "Mozilla/5.0 (compatible; AcmeBot/1; bingbot/2.0; +https://acme.example/)";
    let crawler = json!({ "text": text, "robots": "User-agent: acmebot\nDisallow: /\n" });
    let crawler = service.post("/v1/crawler", crawler.to_string()).await.json();
    document.check("AgentReport", &crawler).expect("as documented");
    let known = crawler["known"].as_array().expect("a list").iter().map(|it| &it["token"]);
    assert_eq!(known.collect::<Vec<_>>(), ["AcmeBot", "bingbot"]);

    let format =
        service.post("/v1/format", json!({ "robots": "user-agent:*\n" }).to_string()).await.json();
    document.check("Formatted", &format).expect("as documented");
    assert_eq!(format, json!({ "robots": "User-agent: *\n", "changed": true, "unformatted": null }));
    let latin = json!({ "robots": { "base64": "VXNlci1hZ2VudDogKgpEaXNhbGxvdzogL+kK" } });
    let format = service.post("/v1/format", latin.to_string()).await.json();
    document.check("Formatted", &format).expect("as documented");
    assert_eq!((&format["robots"], &format["changed"]), (&latin["robots"], &json!(false)));

    let page = json!({ "headers": [["X-Robots-Tag", "noindex"]], "html": "<meta name=robots content=nosnippet>" });
    let page = service.post("/v1/page", page.to_string()).await.json();
    document.check("PageReport", &page).expect("as documented");
    assert_eq!((&page["index"], &page["snippet"]), (&json!(false), &json!(false)));
    assert_eq!(page["found"].as_array().map(Vec::len), Some(2));

    for (path, body) in [
        ("/v1/lint", json!({})),
        ("/v1/lint", json!([""])),
        ("/v1/lint", json!({ "robots": { "status": 404 } })),
        ("/v1/lint", json!({ "robots": "", "agents": ["a b"] })),
        ("/v1/lint", json!({ "robots": "", "select": ["styel"] })),
        ("/v1/lint", json!({ "robots": "", "ignore": [1] })),
        ("/v1/lint", json!({ "robots": "", "page": {} })),
        ("/v1/lint", json!({ "robots": "", "url": "https://a/", "page": [] })),
        ("/v1/lint", json!({ "robots": "", "url": "a" })),
        ("/v1/lint", json!({ "robots": "", "url": null })),
        ("/v1/lint", json!({ "robots": "", "page": null, "url": "https://a/" })),
        ("/v1/compare", json!({ "robots": "", "agents": vec!["a"; 101] })),
        ("/v1/compare", json!({ "robots": "", "agent": "a" })),
        ("/v1/edit", json!({ "robots": "", "new": {} })),
        ("/v1/edit", json!({ "robots": "", "new": null })),
        (
            "/v1/edit",
            json!({ "robots": "", "wishes": [{ "say": "refuse", "who": ["a"], "path": null }] }),
        ),
        (
            "/v1/edit",
            json!({ "robots": "", "wishes": [{ "say": "prefer", "by": "content-usage", "uses": {} }] }),
        ),
        ("/v1/edit", json!({ "robots": "", "wishes": [{ "say": "refuse-purposes", "purposes": [] }] })),
        (
            "/v1/edit",
            json!({ "robots": "", "wishes": [{ "say": "sitemap", "url": "https://a/", "who": ["a"] }] }),
        ),
        ("/v1/edit", json!({ "robots": { "status": 404 }, "wishes": [goal] })),
        ("/v1/edit", json!({ "robots": "", "wishes": [{ "say": "refuse", "who": ["a b"] }] })),
        ("/v1/edit", json!({ "robots": "", "wishes": [{ "say": "refuse", "who": [], "path": "/" }] })),
        (
            "/v1/edit",
            json!({ "robots": "", "wishes": [{ "say": "refuse", "who": ["a"], "path": "x" }] }),
        ),
        ("/v1/edit", json!({ "robots": "", "wishes": vec![goal.clone(); 33] })),
        ("/v1/edit", json!({ "robots": "", "wishes": [{ "say": "refuse", "who": vec!["a"; 101] }] })),
        ("/v1/edit", json!({ "new": { "keep_out": ["/a\nUser-agent: x"] } })),
        ("/v1/edit", json!({ "new": {}, "wishes": [{ "say": "sitemap", "url": "sitemap.xml" }] })),
        ("/v1/overview", json!({ "robots": { "status": 200 } })),
        ("/v1/overview", json!({ "robots": "", "dialect": "none" })),
        ("/v1/overview", json!({ "robots": "", "agents": ["a"] })),
        ("/v1/crawler", json!({})),
        ("/v1/crawler", json!({ "text": "", "robots": null })),
        ("/v1/crawler", json!({ "text": "", "robots": { "status": 404 } })),
        ("/v1/diff", json!({ "old": "" })),
        ("/v1/diff", json!({ "old": "", "new": { "status": 404 } })),
        ("/v1/diff", json!({ "old": "", "new": "", "dialect": "none" })),
        ("/v1/diff", json!({ "old": "", "new": "", "agents": [] })),
        ("/v1/diff", json!(["", ""])),
        ("/v1/format", json!({ "robots": { "error": "timeout" } })),
        ("/v1/format", json!({ "robots": { "base64": "*" } })),
        ("/v1/format", json!({ "text": "" })),
        ("/v1/page", json!({ "agent": "a b" })),
        ("/v1/page", json!({ "headers": [["a"]] })),
    ] {
        let answer = service.post(path, body.to_string()).await;
        assert_eq!(answer.status, 422, "{path} {body}");
        answer.problem();
    }
    let lines = service.post_as("/v1/lint", "application/x-ndjson", "{}").await;
    assert_eq!((lines.status, &*lines.problem()), (415, "unsupported-media-type"));
}

fn base64_of(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

#[tokio::test]
async fn registries_and_dialects_can_be_looked_up() {
    let service = Service::start().await;
    let document = Document::new();
    let dialects = service.get("/v1/dialects").await.json();
    document.check("Dialects", &dialects).expect("as documented");
    assert_eq!(dialects["dialects"].as_array().map(Vec::len), Some(mayi::Dialect::ALL.len()));
    for which in ["purposes", "applications", "directives", "categories", "agents", "lints"] {
        let list = service.get(&format!("/v1/registry/{which}")).await.json();
        assert!(list[which].as_array().is_some_and(|it| !it.is_empty()), "{which}");
    }
    let gptbot = service.get("/v1/registry/agents/gptbot").await.json();
    assert_eq!((&gptbot["token"], &gptbot["operator"]), (&json!("GPTBot"), &json!("OpenAI")));
    let lint = service.get("/v1/registry/lints/s002").await.json();
    assert_eq!((&lint["name"], &lint["severity"]), (&json!("misspelled-name"), &json!("error")));
    assert!(lint["manual"].as_str().is_some_and(|page| page.starts_with("# S002 misspelled-name")));
    for path in ["/v1/registry/agents/none", "/v1/registry/none", "/v1/registry/none/none", "/none"] {
        let answer = service.get(path).await;
        assert_eq!((answer.status, &*answer.problem()), (404, "not-found"), "{path}");
    }
}
