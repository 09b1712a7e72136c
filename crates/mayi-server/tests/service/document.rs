//! The document at `/openapi.json` says what is true: every path of it answers, every answer is of its
//! shape, and nothing answers that it does not name.

use serde_json::{Value, json};

use crate::support::{Service, Site};

/// The schemas of the document, and as much of JSON Schema as they use.
pub(crate) struct Document(Value);

impl Document {
    pub(crate) fn new() -> Self {
        Self(serde_json::from_str(mayi_server::OPENAPI).expect("the document is JSON"))
    }

    /// Whether a value is of the schema of this name.
    pub(crate) fn check(&self, name: &str, value: &Value) -> Result<(), String> {
        let schema = &self.0["components"]["schemas"][name];
        assert!(schema.is_object(), "there is a schema {name}");
        self.is_of(schema, value, name)
    }

    fn is_of(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let Some(schema) = schema.as_object() else {
            let nothing = *schema == Value::Bool(false);
            return if nothing { Err(format!("{at}: there should be nothing")) } else { Ok(()) };
        };
        for (keyword, says) in schema {
            match &**keyword {
                "$ref" => {
                    let path = says.as_str().and_then(|it| it.strip_prefix('#')).expect("a reference");
                    let target = self.0.pointer(path).expect("what is referred to is there");
                    self.is_of(target, value, at)?;
                }
                "type" => {
                    let types = match says {
                        Value::Array(types) => types.iter().collect(),
                        one => vec![one],
                    };
                    if !types.iter().any(|name| is_type(name.as_str().expect("a type"), value)) {
                        return Err(format!("{at}: {value} is not {says}"));
                    }
                }
                "enum" => {
                    if !says.as_array().expect("a list").contains(value) {
                        return Err(format!("{at}: {value} is not one of {says}"));
                    }
                }
                "anyOf" => {
                    let tries = says.as_array().expect("a list").iter();
                    let tries: Vec<_> = tries.map(|schema| self.is_of(schema, value, at)).collect();
                    if tries.iter().all(Result::is_err) {
                        let why: Vec<_> = tries.into_iter().filter_map(Result::err).collect();
                        return Err(format!("{at}: none of [{}]", why.join("; ")));
                    }
                }
                "minimum" => {
                    if value.is_number() && value.as_f64() < says.as_f64() {
                        return Err(format!("{at}: {value} is less than {says}"));
                    }
                }
                // The first five are looked at below; the others are about requests.
                "properties"
                | "required"
                | "additionalProperties"
                | "items"
                | "prefixItems"
                | "minItems"
                | "maxItems"
                | "minLength"
                | "minProperties"
                | "maxProperties"
                | "maximum"
                | "pattern"
                | "description"
                | "contentEncoding"
                | "format"
                | "dependentRequired" => {}
                other => panic!("{at}: the tests do not know the keyword {other}"),
            }
        }
        if let Some(members) = value.as_object() {
            let known = schema.get("properties").and_then(Value::as_object);
            for (name, member) in members {
                let at = format!("{at}.{name}");
                match (known.and_then(|known| known.get(name)), schema.get("additionalProperties")) {
                    (Some(schema), _) | (None, Some(schema)) => self.is_of(schema, member, &at)?,
                    (None, None) => {}
                }
            }
            for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                if !members.contains_key(name.as_str().expect("a name")) {
                    return Err(format!("{at}: {name} is missing"));
                }
            }
        }
        if let (Some(items), Some(of)) = (value.as_array(), schema.get("items"))
            && schema.get("prefixItems").is_none()
        {
            for (place, item) in items.iter().enumerate() {
                self.is_of(of, item, &format!("{at}[{place}]"))?;
            }
        }
        Ok(())
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

fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("no type {other}"),
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
        ("Problem", json!(null)),
    ] {
        assert!(document.check(schema, &value).is_err(), "{schema} {value}");
    }
    assert_eq!(document.check("Error", &json!({ "error": { "code": "a", "message": "b" } })), Ok(()));
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
    let asked = [
        ("post", "/v1/decide", "/v1/decide", Some(decide), 200),
        ("post", "/v1/decide", "/v1/decide", Some(String::new()), 400),
        ("post", "/v1/decide", "/v1/decide", Some("{}".to_owned()), 422),
        ("get", "/v1/decide", &decide_query, None, 200),
        ("get", "/v1/decide", "/v1/decide", None, 422),
        ("post", "/v1/lint", "/v1/lint", Some(file.clone()), 200),
        ("post", "/v1/lint", "/v1/lint", Some("{".to_owned()), 400),
        ("post", "/v1/compare", "/v1/compare", Some(file), 200),
        ("post", "/v1/compare", "/v1/compare", Some("{}".to_owned()), 422),
        ("post", "/v1/page", "/v1/page", Some("{}".to_owned()), 200),
        ("post", "/v1/page", "/v1/page", Some("1".to_owned()), 422),
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
