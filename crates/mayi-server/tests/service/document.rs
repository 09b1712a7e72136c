//! The document at `/openapi.json` says what is true: every path of it answers, every answer is of its
//! shape, and nothing answers that it does not name.

use serde_json::{Value, json};

use crate::support::{Service, Site};

/// The document, and its schemas as `jsonschema` reads them.
pub(crate) struct Document(Value);

impl Document {
    pub(crate) fn new() -> Self {
        Self(serde_json::from_str(mayi_server::OPENAPI).expect("the document is JSON"))
    }

    /// Whether a value is of the schema of this name.
    pub(crate) fn check(&self, name: &str, value: &Value) -> Result<(), String> {
        assert!(self.0["components"]["schemas"][name].is_object(), "there is a schema {name}");
        self.is_of(&json!({ "$ref": format!("#/components/schemas/{name}") }), value, name)
    }

    /// Whether a value is of a schema that stands somewhere in the document: all that it refers to is there.
    fn is_of(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let mut whole = schema.clone();
        whole["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        whole["components"] = self.0["components"].clone();
        let validator =
            jsonschema::validator_for(&whole).expect("the schemas of the document are right");
        let wrong =
            validator.iter_errors(value).map(|error| format!("{at}{}: {error}", error.instance_path()));
        let wrong: Vec<_> = wrong.collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    }

    /// The response that an operation documents for a status.
    fn response(&self, path: &str, method: &str, status: u16) -> Option<&Value> {
        let response = self.0["paths"][path][method]["responses"].get(status.to_string())?;
        match response.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.0.pointer(reference.strip_prefix('#')?),
            None => Some(response),
        }
    }
}

#[test]
fn the_reader_of_schemas_can_say_no() {
    let document = Document::new();
    for (schema, value) in [
        ("Error", json!({ "error": { "code": "a" } })),
        ("Error", json!({ "error": { "code": "a", "message": "b" }, "more": 1 })),
        ("Error", json!({ "error": { "code": 1, "message": "b" } })),
        ("Dialects", json!({ "dialects": [1] })),
        ("FileReport", json!({ "from": "elsewhere", "access": "" })),
        ("FileReport", json!({ "from": "none", "access": "", "fetched": "yesterday" })),
        ("RobotsInput", json!({ "status": 1000 })),
        ("PageInput", json!({ "headers": [["Robots-Tag"]] })),
        ("Problem", json!(null)),
    ] {
        assert!(document.check(schema, &value).is_err(), "{schema} {value}");
    }
    assert_eq!(document.check("Error", &json!({ "error": { "code": "a", "message": "b" } })), Ok(()));
}

/// The document names every lint and every set of lints that a request can choose.
#[test]
fn every_dialect_can_be_chosen() {
    let names: Vec<_> = mayi::Dialect::ALL.iter().map(mayi::Dialect::name).collect();
    assert_eq!(Document::new().0["components"]["schemas"]["Dialect"]["enum"], json!(names));
}

#[test]
fn every_lint_can_be_chosen() {
    let document = Document::new();
    let lints = mayi::lint::LINTS.iter().flat_map(|lint| [lint.code, lint.name]);
    let sets = mayi::lint::LintSet::ALL.iter().map(|set| set.name());
    let expected: Vec<_> = sets.chain(lints).collect();
    assert_eq!(document.0["components"]["schemas"]["LintOrSet"]["enum"], json!(expected));
}

/// Every documented operation, asked in a right and in a wrong way.
#[tokio::test]
async fn every_operation_answers_as_documented() {
    let service = Service::start().await;
    let site = Site::with_file("User-agent: *\nDisallow: /a\nSitemap: /s\nx\n").await;
    let document = Document::new();
    let decide = json!({ "url": site.url("/a"), "agent": "a", "explain": true }).to_string();
    let decide_query = format!("/v1/decide?url={}&agent=a&explain=true", site.url("/a"));
    let robots = format!("/v1/robots?url={}", site.url("/"));
    let file = json!({ "robots": "User-agent: *\nDisalow: /\n" }).to_string();
    let page = format!("/v1/page?url={}&agent=Googlebot", site.url("/b"));
    let two = json!({ "old": "", "new": "User-agent: *\nDisallow: /\nSitemap: /s\n" }).to_string();
    let asked = [
        ("post", "/v1/decide", "/v1/decide", Some(decide), 200),
        ("post", "/v1/decide", "/v1/decide", Some(String::new()), 400),
        ("post", "/v1/decide", "/v1/decide", Some("{}".to_owned()), 422),
        ("get", "/v1/decide", &decide_query, None, 200),
        ("get", "/v1/decide", "/v1/decide", None, 422),
        ("post", "/v1/lint", "/v1/lint", Some(file.clone()), 200),
        ("post", "/v1/lint", "/v1/lint", Some("{".to_owned()), 400),
        ("post", "/v1/compare", "/v1/compare", Some(file.clone()), 200),
        ("post", "/v1/compare", "/v1/compare", Some("{}".to_owned()), 422),
        (
            "post",
            "/v1/edit",
            "/v1/edit",
            Some(r#"{"robots": "", "wishes": [{"say": "refuse", "who": ["training"]}]}"#.to_owned()),
            200,
        ),
        ("post", "/v1/edit", "/v1/edit", Some("{}".to_owned()), 422),
        ("post", "/v1/overview", "/v1/overview", Some(file.clone()), 200),
        ("post", "/v1/overview", "/v1/overview", Some("{}".to_owned()), 422),
        ("post", "/v1/crawler", "/v1/crawler", Some(r#"{"text": "a bingbot/2"}"#.to_owned()), 200),
        ("post", "/v1/crawler", "/v1/crawler", Some(r#"{"text": 1}"#.to_owned()), 422),
        ("post", "/v1/diff", "/v1/diff", Some(two), 200),
        ("post", "/v1/diff", "/v1/diff", Some("{}".to_owned()), 422),
        ("post", "/v1/format", "/v1/format", Some(file), 200),
        ("post", "/v1/format", "/v1/format", Some("[".to_owned()), 400),
        ("post", "/v1/page", "/v1/page", Some("{}".to_owned()), 200),
        ("post", "/v1/page", "/v1/page", Some("1".to_owned()), 422),
        ("get", "/v1/page", &page, None, 200),
        ("get", "/v1/page", "/v1/page", None, 422),
        ("get", "/v1/robots", &robots, None, 200),
        ("get", "/v1/robots", "/v1/robots?url=x", None, 422),
        ("get", "/v1/registry/{which}", "/v1/registry/agents", None, 200),
        ("get", "/v1/registry/{which}", "/v1/registry/x", None, 404),
        ("get", "/v1/registry/{which}/{name}", "/v1/registry/agents/GPTBot", None, 200),
        ("get", "/v1/registry/{which}/{name}", "/v1/registry/agents/x", None, 404),
        ("get", "/v1/dialects", "/v1/dialects", None, 200),
        ("get", "/healthz", "/healthz", None, 200),
        ("get", "/readyz", "/readyz", None, 200),
        ("get", "/metrics", "/metrics", None, 200),
        ("get", "/openapi.json", "/openapi.json", None, 200),
    ];
    let mut seen = std::collections::BTreeSet::new();
    for (method, path, target, body, status) in asked {
        let answer = match &body {
            Some(body) => service.post(target, body).await,
            None => service.get(target).await,
        };
        assert_eq!(answer.status, status, "{method} {target}");
        let response = document.response(path, method, status);
        let response = response.unwrap_or_else(|| panic!("{method} {path} {status} is documented"));
        let kind = answer.headers["content-type"].split(';').next().expect("a type").to_owned();
        let schema = &response["content"][&kind]["schema"];
        assert!(schema.is_object(), "{method} {path} {status} {kind} is documented");
        if kind.contains("json") {
            let checked = document.is_of(schema, &answer.json(), target);
            assert_eq!(checked, Ok(()), "{method} {target}");
        }
        for name in response["headers"].as_object().into_iter().flat_map(|headers| headers.keys()) {
            assert!(answer.headers.contains_key(&name.to_ascii_lowercase()), "{target} has {name}");
        }
        seen.insert((path.to_owned(), method.to_owned()));
    }
    let paths = document.0["paths"].as_object().expect("paths");
    let documented = paths.iter().flat_map(|(path, operations)| {
        let methods = operations.as_object().expect("operations").keys();
        methods.map(move |method| (path.clone(), method.clone()))
    });
    assert_eq!(documented.collect::<std::collections::BTreeSet<_>>(), seen, "all of them were asked");
    assert_eq!(service.get("/openapi.json").await.json(), document.0);
}

#[tokio::test]
async fn other_methods_are_refused_by_name() {
    let service = Service::start().await;
    for (path, allow) in
        [("/v1/decide", "POST,GET,HEAD"), ("/v1/lint", "POST"), ("/healthz", "GET,HEAD")]
    {
        let head = format!("DELETE {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let answer = service.send(&head, b"").await;
        assert_eq!((answer.status, &*answer.problem()), (405, "method-not-allowed"));
        let mut methods: Vec<_> = answer.headers["allow"].split(',').map(str::trim).collect();
        let mut expected: Vec<_> = allow.split(',').collect();
        methods.sort_unstable();
        expected.sort_unstable();
        assert_eq!(methods, expected, "{path}");
    }
}
