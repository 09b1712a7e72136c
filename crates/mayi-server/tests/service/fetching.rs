//! Files that are fetched: once for many, told with their story, and never from an internal address.

use base64::Engine;
use serde_json::{Value, json};

use crate::document::Document;
use crate::support::{Service, Site, config};

#[tokio::test]
async fn a_file_is_fetched_once_and_tells_its_story() {
    let service = Service::start().await;
    let site = Site::with_file("User-agent: *\nDisallow: /private/\n").await;
    let requests: Vec<_> = (0..1500)
        .map(|n| {
            json!({ "url": site.url(&format!("/private/{n}")), "agent": "ExampleBot" }).to_string()
        })
        .collect();
    let answer = service.post("/v1/decide", format!("[{}]", requests.join(","))).await.json();
    let decisions = answer.as_array().expect("an array");
    assert_eq!(decisions.len(), 1500);
    for (n, decision) in decisions.iter().enumerate() {
        assert_eq!(decision["url"], site.url(&format!("/private/{n}")), "answers are in order");
        assert_eq!(decision["access"]["allowed"], false);
    }
    assert_eq!(site.asked(), 1, "one fetch for all of them");
    let request = json!({ "url": site.url("/x"), "agent": "ExampleBot" });
    let first = service.post("/v1/decide", request.to_string()).await.json();
    assert_eq!(first["file"]["from"], "fresh");
    // What was prepared says what is said without preparation.
    let explained = json!({ "url": site.url("/x"), "agent": "ExampleBot", "explain": true });
    let mut explained = service.post("/v1/decide", explained.to_string()).await.json();
    explained.as_object_mut().expect("an object").remove("explanation");
    assert_eq!(first, explained);
    let query = format!("/v1/decide?url={}&agent=ExampleBot", site.url("/x"));
    assert_eq!(service.get(&query).await.json(), first);
    assert_eq!(site.asked(), 1);
}

#[tokio::test]
async fn each_crawler_and_dialect_has_its_own_answer() {
    let service = Service::start().await;
    let site = Site::with_file("User-agent: a\nDisallow: /\nUser-agent: *\nDisallowed: /x\n").await;
    let ask = async |agent: &str, dialect: &str| {
        let request = json!({ "url": site.url("/x"), "agent": agent, "dialect": dialect });
        let answer = service.post("/v1/decide", request.to_string()).await.json();
        assert_eq!(answer["dialect"], dialect);
        answer["access"]["allowed"].as_bool().expect("a decision")
    };
    for _ in 0..3 {
        assert!(!ask("a", "rfc9309").await);
        assert!(ask("b", "rfc9309").await);
        assert!(!ask("b", "google").await);
    }
    assert_eq!(site.asked(), 1);
}

#[tokio::test]
async fn what_is_not_there_or_fails_is_part_of_the_answer() {
    let service = Service::start().await;
    for (status, reason, allowed) in
        [("404 Not Found", "unavailable", true), ("503 No", "unreachable", false)]
    {
        let site =
            Site::new(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
                .await;
        for _ in 0..2 {
            let request = json!({ "url": site.url("/x"), "agent": "a" });
            let answer = service.post("/v1/decide", request.to_string()).await.json();
            assert_eq!(answer["access"]["reason"], reason);
            assert_eq!(answer["access"]["allowed"], allowed);
            assert_eq!(answer["file"]["from"], "none");
        }
        assert_eq!(site.asked(), 1);
        let robots = service.get(&format!("/v1/robots?url={}", site.url("/"))).await.json();
        Document::new().check("SiteFile", &robots).expect("as documented");
        assert!(robots["copy"].is_null() && robots["groups"] == json!([]), "{robots}");
    }
}

#[tokio::test]
async fn the_file_of_a_site_is_shown() {
    let service = Service::start().await;
    let text = "User-agent: a\nuser-agent: b\nDisallow: /a\nAllow: /b\nSitemap: https://x/s\noops\n";
    let site = Site::with_file(text).await;
    let robots = service.get(&format!("/v1/robots?url={}", site.url("/any"))).await;
    let robots = robots.json();
    Document::new().check("SiteFile", &robots).expect("as documented");
    assert_eq!(robots["copy"]["robots"], text);
    assert_eq!(robots["access"], "successful");
    assert_eq!(robots["groups"][0]["starts"][1], json!({ "line": 2, "value": "b" }));
    assert_eq!(robots["groups"][0]["rules"][1], json!({ "line": 4, "kind": "allow", "pattern": "/b" }));
    assert_eq!(robots["sitemaps"], json!(["https://x/s"]));
    assert_eq!(robots["irregularities"], 1);
}

/// A file in another charset is shown as it is read, so that what asks with it again is answered alike.
#[tokio::test]
async fn a_file_in_another_charset_is_shown_decoded() {
    let service = Service::start().await;
    // As Latin-1 this is é, and as UTF-8 too: the charset decides which.
    let file = "User-agent: *\nDisallow: /caf\u{e9}\n";
    let latin = Site::new(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{file}",
        file.len()
    ))
    .await;
    let robots = service.get(&format!("/v1/robots?url={}", latin.url("/"))).await.json();
    assert_eq!(robots["copy"]["text"], "User-agent: *\nDisallow: /caf\u{c3}\u{a9}\n");
    assert_eq!(robots["groups"][0]["rules"][0]["pattern"], "/caf\u{c3}\u{a9}");
    // What reads it otherwise needs what came.
    let base64 = base64::engine::general_purpose::STANDARD.encode(file);
    let kept = json!({ "base64": base64, "charset": "windows-1252" });
    assert_eq!(robots["copy"]["robots"], kept);
    assert_eq!(robots["copy"]["content_type"], "text/plain; charset=iso-8859-1");
    Document::new().check("SiteFile", &robots).expect("as documented");
    let marked = Site::with_file("\u{feff}User-agent: *\n").await;
    let robots = service.get(&format!("/v1/robots?url={}", marked.url("/"))).await.json();
    assert_eq!(robots["copy"]["robots"], "\u{feff}User-agent: *\n", "as it came");
}

/// By default nothing but the public internet is connected to, by whatever way it is asked for.
#[tokio::test]
async fn an_internal_address_is_never_read() {
    let mut config = config();
    config.fetch.allow_addresses.clear();
    let service = Service::with(config).await;
    let site = Site::with_file("secret\n").await;
    let port = site.address.port();
    for url in [
        site.url("/"),
        format!("http://localhost:{port}/"),
        format!("http://127.1:{port}/"),
        format!("http://0x7f000001:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        "http://169.254.169.254/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://[fd00::1]/".to_owned(),
    ] {
        let robots = service.get(&format!("/v1/robots?url={url}")).await;
        assert_eq!(robots.status, 200, "{url}");
        let robots = robots.json();
        assert_eq!(robots["file"]["from"], "none", "{url}: {robots}");
        assert!(robots["access"].as_str().is_some_and(|it| it.starts_with("unreachable")), "{robots}");
        assert!(!robots.to_string().contains("secret"), "{url}");
        let request = json!({ "url": url, "agent": "a" }).to_string();
        let decision = service.post("/v1/decide", &request).await.json();
        assert_eq!(decision["access"]["reason"], "unreachable", "{url}");
    }
    assert_eq!(site.asked(), 0);
}

#[tokio::test]
async fn nor_by_a_redirect() {
    let inner = Site::with_file("secret\n").await;
    let location = inner.url("/robots.txt").replace("127.0.0.1", "127.0.0.2");
    let outer = Site::new(format!(
        "HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    ))
    .await;
    let mut config = config();
    config.fetch.allow_addresses = vec!["127.0.0.1".to_owned()];
    let service = Service::with(config).await;
    let robots = service.get(&format!("/v1/robots?url={}", outer.url("/"))).await.json();
    assert_eq!(robots["file"]["from"], "none");
    assert_eq!((outer.asked(), inner.asked()), (1, 0), "{robots}");
}

#[tokio::test]
async fn a_query_is_checked_as_a_body_is() {
    let service = Service::start().await;
    for (query, code) in [
        ("", "invalid-request"),
        ("?url=https://a/", "invalid-request"),
        ("?url=https://a/&agent=a&agent=b", "invalid-request"),
        ("?url=https://a/&agent=a&x=y", "invalid-request"),
        ("?url=https://a/&agent=a&explain=yes", "invalid-request"),
        ("?url=a&agent=a", "invalid-url"),
        ("?url=gopher://a/&agent=a", "unsupported-scheme"),
        ("?url=https://a/&agent=a%20b", "invalid-agent"),
        ("?url=https://a/&agent=a&purpose=%20", "invalid-purpose"),
        ("?url=https://a/&agent=a&app=%20", "invalid-app"),
        ("?url=https://a/&agent=a&user_agent=b", "invalid-user-agent"),
        ("?url=https://a/&agent=a&dialect=b", "unknown-dialect"),
    ] {
        let answer = service.get(&format!("/v1/decide{query}")).await;
        assert_eq!((answer.status, &*answer.problem()), (422, code), "{query}");
    }
}

#[tokio::test]
async fn answers_can_be_asked_for_again_by_their_tag() {
    let service = Service::start().await;
    let site = Site::with_file("User-agent: *\n").await;
    let decide = format!("/v1/decide?url={}&agent=a", site.url("/"));
    service.get(&decide).await;
    for path in [&*decide, "/v1/dialects", "/v1/registry/agents", "/openapi.json", "/"] {
        let first = service.get(path).await;
        let tag = &first.headers["etag"];
        assert!(first.headers.contains_key("cache-control"), "{path}");
        for (sent, status) in [
            (tag.clone(), 304),
            (format!("\"x\", W/{tag}"), 304),
            ("*".to_owned(), 304),
            ("\"x\"".to_owned(), 200),
        ] {
            let head = format!(
                "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nIf-None-Match: {sent}\r\n\r\n"
            );
            let again = service.send(&head, b"").await;
            assert_eq!((again.status, &again.headers["etag"]), (status, tag), "{path} {sent}");
            assert_eq!(again.body.is_empty(), status == 304);
        }
    }
    let post = service.post("/v1/decide", "{}").await;
    assert_eq!(post.headers["cache-control"], "no-store");
    let _: Value = post.json();
}

#[tokio::test]
async fn a_file_can_be_asked_for_again_but_not_at_once() {
    let service = Service::start().await;
    let site = Site::with_file("User-agent: *\nDisallow: /a\n").await;
    let path = format!("/v1/robots?url={}&fresh=true", site.url("/"));
    let first = service.get(&path).await;
    assert_eq!(first.headers["cache-control"], "no-cache");
    assert_eq!((first.json()["file"]["from"].as_str(), site.asked()), (Some("fetched"), 1));
    let second = service.get(&path).await.json();
    assert_eq!((second["file"]["from"].as_str(), site.asked()), (Some("fresh"), 1));
    for query in ["fresh=1", "fresh=true&fresh=true", "fresh=true&url=https://a/", "age=1"] {
        let answer = service.get(&format!("/v1/robots?url={}&{query}", site.url("/"))).await;
        assert_eq!((answer.status, &*answer.problem()), (422, "invalid-request"), "{query}");
    }
}

/// A site with pages: one with rules, one that is no HTML, and one that may not be fetched.
async fn site_with_pages() -> Site {
    Site::answering(|path| {
        let (kind, body) = match path {
            "/robots.txt" => ("text/plain", "User-agent: *\nAllow: /\n\nUser-agent: mayi\nDisallow: /no\n"),
            "/data" => ("application/json", "<meta name=robots content=noindex>"),
            _ => ("text/html", "<title>\u{e9}</title><meta name=robots content=nosnippet><meta name=bingbot content=nofollow>"),
        };
        let length = body.len();
        format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nX-Robots-Tag: googlebot: noindex\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
    })
    .await
}

#[tokio::test]
async fn a_live_page_is_read() {
    let service = Service::start().await;
    let document = Document::new();
    let ask = async |site: &Site, path: &str, more: &str| {
        let answer = service.get(&format!("/v1/page?url={}{more}", site.url(path))).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        document.check("LivePage", &answer.json()).expect("as documented");
        answer.json()
    };
    let site = site_with_pages().await;
    let page = ask(&site, "/page", "&agent=Googlebot").await;
    assert_eq!((&page["status"], &page["fetched_by"]), (&json!(200), &json!("mayi")), "{page}");
    assert_eq!((&page["page"]["index"], &page["page"]["snippet"]), (&json!(false), &json!(false)));
    assert_eq!(page["page"]["follow"], true);
    assert!(page["html"].as_str().is_some_and(|html| html.starts_with("<title>\u{e9}")), "{page}");
    assert_eq!(site.asked(), 2, "robots.txt and the page");
    let again = service.get(&format!("/v1/page?url={}", site.url("/other"))).await;
    assert_eq!((again.status, &*again.problem()), (429, "too-many-requests"));
    assert!(again.headers.contains_key("retry-after"));

    let data = ask(&site_with_pages().await, "/data", "").await;
    assert_eq!((&data["html"], &data["page"]["index"]), (&Value::Null, &json!(true)));

    let site = site_with_pages().await;
    let refused = ask(&site, "/no/page", "").await;
    assert_eq!((&refused["status"], &refused["page"]), (&Value::Null, &Value::Null));
    assert!(refused["message"].as_str().is_some_and(|it| it.ends_with("(line 5).")), "{refused}");
    assert_eq!(site.asked(), 1, "robots.txt alone");

    for query in
        ["", "url=a", "url=ftp://127.0.0.1/", "url=https://a/&agent=a%20b", "url=https://a/&x=1"]
    {
        let answer = service.get(&format!("/v1/page?{query}")).await;
        assert_eq!(answer.status, 422, "{query}");
        answer.problem();
    }
}

#[tokio::test]
async fn no_page_of_an_internal_address_is_read() {
    let mut config = config();
    config.fetch.allow_addresses.clear();
    let service = Service::with(config).await;
    let site = site_with_pages().await;
    let page = service.get(&format!("/v1/page?url={}", site.url("/page"))).await.json();
    assert_eq!((&page["status"], &page["html"], site.asked()), (&Value::Null, &Value::Null, 0));
}
