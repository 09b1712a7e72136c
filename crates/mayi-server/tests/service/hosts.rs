//! A page of somebody else, in a browser on this machine, can't use a service that asks for no keys.

use crate::support::{Answer, Service, config};

async fn get(service: &Service, path: &str, fields: &str) -> Answer {
    let head = format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{fields}\r\n");
    service.send(&head, b"").await
}

#[tokio::test]
async fn a_name_that_is_pointed_at_us_is_not_answered() {
    let service = Service::start().await;
    let port = service.address.port();
    for (host, status) in [
        (format!("127.0.0.1:{port}"), 200),
        (format!("localhost:{port}"), 200),
        (format!("[::1]:{port}"), 200),
        (format!("evil.example:{port}"), 421),
        ("evil.example".to_owned(), 421),
        ("127.0.0.1.evil.example".to_owned(), 421),
    ] {
        for path in ["/v1/dialects", "/", "/metrics"] {
            let answer = get(&service, path, &format!("Host: {host}\r\n")).await;
            assert_eq!(answer.status, status, "{path} {host}");
            if status == 421 {
                assert_eq!(answer.problem(), "misdirected");
            }
        }
    }
    // Whoever watches asks by whatever name there is.
    assert_eq!(get(&service, "/healthz", "Host: mayi.internal\r\n").await.status, 200);
    // The name in the target goes before Host (RFC 9112 §3.2.2).
    let answer = get(&service, "http://evil.example/v1/dialects", "Host: localhost\r\n").await;
    assert_eq!(answer.status, 421);
    for fields in ["", "Host: localhost\r\nHost: localhost\r\n", "Host: \u{e9}\r\n"] {
        let answer = get(&service, "/v1/dialects", fields).await;
        assert_eq!((answer.status, &*answer.problem()), (400, "invalid-host"), "{fields}");
    }
}

#[tokio::test]
async fn names_can_be_given() {
    let mut config = config();
    config.hosts = vec!["Mayi.Example".to_owned()];
    let service = Service::with(config).await;
    for (host, status) in [("mayi.example", 200), ("MAYI.example:8443", 200), ("a.mayi.example", 421)] {
        let answer = get(&service, "/v1/dialects", &format!("Host: {host}\r\n")).await;
        assert_eq!(answer.status, status, "{host}");
    }
    // A proxy in front may speak TLS, and may have changed Host.
    let fields = "Host: 127.0.0.1:9309\r\nOrigin: https://mayi.example\r\n";
    assert_eq!(get(&service, "/v1/dialects", fields).await.status, 200);
}

#[tokio::test]
async fn a_page_of_another_site_can_not_have_files_fetched() {
    let service = Service::start().await;
    let port = service.address.port();
    let own = format!("Host: 127.0.0.1:{port}\r\n");
    for (fields, status) in [
        (String::new(), 200),
        ("Sec-Fetch-Site: same-origin\r\n".to_owned(), 200),
        ("Sec-Fetch-Site: none\r\n".to_owned(), 200),
        (format!("Origin: http://127.0.0.1:{port}\r\n"), 200),
        ("Sec-Fetch-Site: cross-site\r\n".to_owned(), 403),
        ("Sec-Fetch-Site: same-site\r\n".to_owned(), 403),
        ("Origin: https://evil.example\r\n".to_owned(), 403),
        ("Origin: http://127.0.0.1:1\r\n".to_owned(), 403),
        ("Origin: null\r\n".to_owned(), 403),
    ] {
        let answer = get(&service, "/v1/dialects", &format!("{own}{fields}")).await;
        assert_eq!(answer.status, status, "{fields}");
        if status == 403 {
            assert_eq!(answer.problem(), "cross-site");
        }
        // A body of no type, as a page can have sent without asking first.
        let body = r#"{"url": "https://a/", "agent": "a", "robots": ""}"#;
        let head = format!(
            "POST /v1/decide HTTP/1.1\r\n{own}Connection: close\r\n{fields}Content-Length: {}\r\n\r\n",
            body.len()
        );
        assert_eq!(service.send(&head, body.as_bytes()).await.status, status, "{fields}");
        // A link to the page is a link.
        assert_eq!(get(&service, "/", &format!("{own}{fields}")).await.status, 200, "{fields}");
    }
    // No page of another site is told that it may.
    let answer =
        get(&service, "/v1/dialects", &format!("{own}Origin: http://127.0.0.1:{port}\r\n")).await;
    assert!(!answer.headers.keys().any(|name| name.starts_with("access-control-")), "{answer:?}");
    let preflight = format!(
        "OPTIONS /v1/decide HTTP/1.1\r\n{own}Connection: close\r\nOrigin: https://evil.example\r\n\
         Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n\r\n"
    );
    assert_eq!(service.send(&preflight, b"").await.status, 403);
}
