//! Spans reach a collector: the request id is in them, a client's trace goes on, and the end waits for them.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{Service, Site, config};

/// A collector that notes what it is sent: the head and the body of each request.
struct Collector {
    url: String,
    taken: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Collector {
    /// One that answers with this status.
    async fn new(status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let taken = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&taken);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let notes = Arc::clone(&notes);
                tokio::spawn(async move {
                    let mut octets = Vec::new();
                    while stream.read_buf(&mut octets).await.is_ok_and(|count| count > 0) {
                        let Some(end) = octets.windows(4).position(|it| it == b"\r\n\r\n") else {
                            continue;
                        };
                        let head = String::from_utf8_lossy(&octets[..end]).to_ascii_lowercase();
                        let length =
                            head.lines().find_map(|line| line.strip_prefix("content-length: "));
                        let length: usize = length.expect("a length").parse().expect("a number");
                        if octets.len() < end + 4 + length {
                            continue;
                        }
                        let body = serde_json::from_slice(&octets[end + 4..end + 4 + length]);
                        octets.drain(..end + 4 + length);
                        notes.lock().expect("no panic").push((head, body.expect("JSON")));
                        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{{}}");
                        stream.write_all(answer.as_bytes()).await.expect("it reads");
                    }
                });
            }
        });
        Self { url, taken }
    }

    /// The spans that came, each with its attributes as an object.
    fn spans(&self) -> Vec<(Value, Value)> {
        let taken = self.taken.lock().expect("no panic");
        let spans = taken.iter().flat_map(|(_, body)| {
            body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans").clone()
        });
        let with_attributes = spans.map(|span| {
            let attributes = span["attributes"].as_array().expect("attributes").iter().map(|one| {
                let value = one["value"].as_object().expect("a value").values().next();
                (one["key"].as_str().expect("a name").to_owned(), value.expect("a value").clone())
            });
            let attributes = Value::Object(attributes.collect());
            (span, attributes)
        });
        with_attributes.collect()
    }
}

#[tokio::test]
async fn a_span_with_the_id_of_its_request_arrives() {
    let collector = Collector::new("200 OK").await;
    let mut config = config();
    config.log.traces = Some(collector.url.clone());
    config.log.trace_headers = vec!["X-Token=a%20b".to_owned()];
    config.log.service_name = "crawl-1".to_owned();
    let mut service = Service::with(config).await;
    let body = json!({ "url": "https://a/", "agent": "a", "robots": "" }).to_string();
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let post = |fields: &str| {
        format!(
            "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{fields}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let recorded = format!("X-Request-Id: one\r\ntraceparent: 00-{trace}-00f067aa0ba902b7-01\r\n");
    assert_eq!(service.send(&post(&recorded), b"").await.status, 200);
    let silent = format!("X-Request-Id: two\r\ntraceparent: 00-{trace}-00f067aa0ba902b7-00\r\n");
    assert_eq!(service.send(&post(&silent), b"").await.status, 200);
    let missing = service.get("/missing/of/many").await;
    service.get("/healthz").await;
    // Lines have a span too, which ends with their answer.
    let lines = format!("{body}\n{body}\n");
    let lines = service.post_as("/v1/decide", "application/x-ndjson", lines).await;
    // What waits to be sent is sent at the end.
    service.stop();
    service.ended().await;
    let spans = collector.spans();
    let ids: Vec<_> = spans.iter().map(|(_, attributes)| &attributes["mayi.request_id"]).collect();
    let expected =
        [json!("one"), json!(missing.headers["x-request-id"]), json!(lines.headers["x-request-id"])];
    assert_eq!(ids, expected.iter().collect::<Vec<_>>());
    let (span, attributes) = &spans[0];
    assert_eq!(span["traceId"], trace);
    assert_eq!(span["parentSpanId"], "00f067aa0ba902b7");
    assert_eq!((&span["name"], &span["kind"]), (&json!("POST /v1/decide"), &json!(2)));
    assert_eq!(span["spanId"].as_str().map(str::len), Some(16));
    assert_eq!(attributes["http.request.method"], "POST");
    assert_eq!(attributes["url.path"], "/v1/decide");
    assert_eq!(attributes["http.response.status_code"], "200");
    assert_eq!(attributes["client.address"], "127.0.0.1");
    let time = |name: &str| span[name].as_str().expect("digits").parse::<u128>().expect("a number");
    assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
    let (span, attributes) = &spans[1];
    assert_eq!(
        (&span["name"], &attributes["http.response.status_code"]),
        (&json!("GET"), &json!("404"))
    );
    assert_ne!(span["traceId"], trace);
    assert!(span.get("parentSpanId").is_none());
    let taken = collector.taken.lock().expect("no panic");
    let (head, body) = &taken[0];
    assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
    assert!(head.contains("content-type: application/json") && head.contains("x-token: a b"), "{head}");
    let service = &body["resourceSpans"][0]["resource"]["attributes"][0];
    assert_eq!(service["value"]["stringValue"], "crawl-1");
}

/// What a request waits for has spans of its own, below that of the request and in its trace.
#[tokio::test]
async fn fetches_and_store_accesses_are_below_their_request() {
    let collector = Collector::new("200 OK").await;
    let mut config = config();
    config.log.traces = Some(collector.url.clone());
    let mut service = Service::with(config).await;
    let site = Site::with_file("User-agent: *\nDisallow: /a\n").await;
    for url in [site.url("/a"), "http://127.0.0.1:1/".to_owned()] {
        let answer = service.get(&format!("/v1/decide?url={url}&agent=a")).await;
        assert_eq!(answer.status, 200);
    }
    // Lines are answered on other tasks than their request is read on.
    let other = Site::with_file("User-agent: *\n").await;
    let line = json!({ "url": other.url("/"), "agent": "a" }).to_string();
    service.post_as("/v1/decide", "application/x-ndjson", line).await;
    service.stop();
    service.ended().await;
    let spans = collector.spans();
    let requests: Vec<_> = spans.iter().filter(|(span, _)| span["kind"] == 2).collect();
    assert_eq!(requests.len(), 3);
    for (place, (request, _)) in requests.into_iter().enumerate() {
        let below = |(span, _): &&(Value, Value)| span["parentSpanId"] == request["spanId"];
        let below: Vec<_> = spans.iter().filter(below).collect();
        let names: Vec<_> = below.iter().filter_map(|(span, _)| span["name"].as_str()).collect();
        assert!(names.contains(&"store reading") && names.contains(&"store writing"), "{names:?}");
        assert!(
            below.iter().all(|(span, _)| span["traceId"] == request["traceId"] && span["kind"] == 3)
        );
        let (fetch, attributes) =
            below.iter().find(|(span, _)| span["name"] == "fetch").expect("a fetch");
        let origins = [site.url(""), "http://127.0.0.1:1".to_owned(), other.url("")];
        assert_eq!(attributes["mayi.origin"], origins[place].trim_end_matches('/'));
        let is_failure = fetch["status"]["code"] == 2;
        assert_eq!(is_failure, place == 1, "{fetch}");
    }
}

/// A collector that fails costs its spans, which are counted, and no answer.
#[tokio::test]
async fn a_collector_that_refuses_or_is_gone_is_counted() {
    let refusing = Collector::new("503 No").await;
    for url in [refusing.url.clone(), "http://127.0.0.1:1".to_owned()] {
        let mut config = config();
        config.log.traces = Some(url);
        let service = Service::with(config).await;
        loop {
            let metrics = service.get("/metrics").await;
            assert_eq!(metrics.status, 200);
            let text = String::from_utf8(metrics.body).expect("text");
            let dropped = text.lines().find_map(|line| line.strip_prefix("mayi_spans_dropped_total "));
            if dropped.expect("it is counted").parse::<u64>().expect("a number") > 0 {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_collector_that_can_not_be_asked_is_told_of_at_the_start() {
    for (traces, headers, why) in [
        ("grpc://a", "", "log.traces"),
        ("http://a", "no name=x", "log.trace_headers"),
        ("nonsense", "", "log.traces"),
    ] {
        let mut config = config();
        config.log.traces = Some(traces.to_owned());
        config.log.trace_headers = vec![headers.to_owned()];
        config.log.trace_headers.retain(|field| !field.is_empty());
        let error = mayi_server::Server::bind(config).await.expect_err("it can't start").to_string();
        assert!(error.contains(why), "{error}");
    }
}
