//! REP-18 to REP-22 with servers that answer: redirects, statuses, framing, what is sent.

use mayi::access::{AccessResult, Origin, Unavailable, Unreachable};
use mayi::report::{FileSource, Request};
use mayi_fetch::{Fetcher, Policy};

use crate::support::*;

/// REP-19: five redirects in a row are followed, and a sixth is not.
#[tokio::test]
async fn five_redirects_are_followed() {
    for hops in 0..=7_usize {
        let server = Server::answering(move |exchange| {
            let at = exchange.path().trim_start_matches('/').parse().unwrap_or(0);
            if at < hops { redirect(&format!("/{}", at + 1)) } else { ok(FILE) }
        })
        .await;
        let robots = fetch(&server).await;
        if hops <= 5 {
            assert_file(&robots);
            assert_eq!(server.requests(), hops + 1);
        } else {
            let expected = AccessResult::Unavailable(Unavailable::TooManyRedirects);
            assert_eq!(*robots.access(), expected, "{hops} redirects");
            assert!(allows(&robots, "/private/x"));
            assert_eq!(server.requests(), 6, "the first URL and five more");
        }
    }
}

/// REP-19: a loop, and a redirect to what is not http or https, count as more than five.
#[tokio::test]
async fn loops_and_other_schemes_are_unavailable() {
    let unavailable = AccessResult::Unavailable;
    for (location, expected) in [
        ("/robots.txt", unavailable(Unavailable::RedirectLoop)),
        ("/robots.txt#again", unavailable(Unavailable::RedirectLoop)),
        ("/there-and-back", unavailable(Unavailable::RedirectLoop)),
        ("ftp://h.test/robots.txt", unavailable(Unavailable::RedirectElsewhere)),
        ("file:///etc/passwd", unavailable(Unavailable::RedirectElsewhere)),
        ("data:text/plain,Allow:/", unavailable(Unavailable::RedirectElsewhere)),
        ("mailto:a@example.com", unavailable(Unavailable::RedirectElsewhere)),
        ("http://", unavailable(Unavailable::RedirectElsewhere)),
        ("http://h.test:99999/", unavailable(Unavailable::RedirectElsewhere)),
    ] {
        let server = Server::answering(move |exchange| match exchange.path().as_str() {
            "/there-and-back" => redirect("/robots.txt"),
            _ => redirect(location),
        })
        .await;
        let robots = fetch(&server).await;
        assert_eq!(*robots.access(), expected, "{location}");
        assert!(allows(&robots, "/private/x"), "{location}");
    }
}

#[tokio::test]
async fn every_kind_of_redirect_and_of_location() {
    for status in ["301 a", "302 b", "303 c", "307 d", "308 e"] {
        for location in ["/r", "r", "./a/../r", "//h.test:PORT/r", "http://127.0.0.1:PORT/r#here"] {
            let server = Server::answering(move |exchange| {
                let port = exchange.stream.local_addr().expect("an address").port();
                let location = location.replace("PORT", &port.to_string());
                match exchange.path().as_str() {
                    "/robots.txt" => response(status, &format!("Location: {location}\r\n"), "moved"),
                    "/r" => ok(FILE),
                    _ => response("410 Gone", "", ""),
                }
            })
            .await;
            assert_file(&fetch(&server).await);
        }
    }
}

/// REP-19, REP-21: what looks like a redirect and is none has no meaning here.
#[tokio::test]
async fn a_redirect_to_nowhere_is_unreachable() {
    for (status, fields) in [
        ("302 Found", ""),
        ("300 Multiple Choices", "Location: /r\r\n"),
        ("304 Not Modified", "Location: /r\r\n"),
        ("305 Use Proxy", "Location: /r\r\n"),
        ("306 Unused", "Location: /r\r\n"),
    ] {
        let server = Server::saying(response(status, fields, "")).await;
        let robots = fetch(&server).await;
        let status = status[..3].parse().expect("a status");
        let expected = AccessResult::Unreachable(Unreachable::Status(status));
        assert_eq!(*robots.access(), expected, "{status}");
        assert!(!allows(&robots, "/open"));
        assert_eq!(server.requests(), 1);
    }
}

/// REP-19: the rules hold for the authority that was asked about, not for the one they are found at.
#[tokio::test]
async fn the_rules_belong_to_the_first_authority() {
    let server = Server::answering(|exchange| {
        let port = exchange.stream.local_addr().expect("an address").port();
        match (exchange.head.contains("host: a.test"), exchange.path().as_str()) {
            (true, _) => redirect(&format!("http://b.test:{port}/rules-of-a")),
            (false, "/rules-of-a") => ok(FILE),
            (false, _) => ok("User-agent: *\nDisallow: /of-b/\n"),
        }
    })
    .await;
    let fetcher = builder().build();
    let origin = |host| Origin::of_url(&format!("http://{host}:{}/", server.port())).expect("origin");
    let first = fetcher.robots(&origin("a.test")).await;
    assert_file(&first);
    assert!(allows(&first, "/of-b/"));
    assert_eq!(first.kept().origin, origin("a.test"));
    let found = first.kept().copy.as_ref().map(|copy| copy.url.to_string());
    assert_eq!(found, Some(format!("http://b.test:{}/rules-of-a", server.port())));
    // What was learnt for one says nothing about the other.
    let second = fetcher.robots(&origin("b.test")).await;
    assert!(allows(&second, "/private/x") && !allows(&second, "/of-b/"));
    assert_eq!(server.requests(), 3);
}

#[tokio::test]
async fn every_class_of_status() {
    let unavailable = |status| AccessResult::Unavailable(Unavailable::Status(status));
    let unreachable = |status| AccessResult::Unreachable(Unreachable::Status(status));
    let successful = [200, 201, 203, 206, 226, 299].map(|it| (it, AccessResult::Successful));
    let none = [400, 401, 403, 404, 410, 418, 429, 451, 499].map(|it| (it, unavailable(it)));
    let unknown = [500, 502, 503, 599, 600, 777, 999].map(|it| (it, unreachable(it)));
    for (status, expected) in successful.into_iter().chain(none).chain(unknown) {
        let server = Server::saying(response(&format!("{status} x"), "", FILE)).await;
        let robots = fetch(&server).await;
        assert_eq!(*robots.access(), expected, "{status}");
        let (open, private) = (allows(&robots, "/open"), allows(&robots, "/private/x"));
        let holds = match expected {
            AccessResult::Successful => (true, false),
            AccessResult::Unavailable(_) => (true, true),
            AccessResult::Unreachable(_) => (false, false),
        };
        assert_eq!((open, private), holds, "{status}");
    }
}

/// A file without octets is a file: it has no rules.
#[tokio::test]
async fn no_content() {
    for octets in [
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 204 No Content\r\nContent-Length: 34\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ] {
        let robots = fetch(&Server::saying(octets).await).await;
        assert_eq!(*robots.access(), AccessResult::Successful, "{octets}");
        assert!(allows(&robots, "/private/x"), "{octets}");
        assert_eq!(robots.source(), FileSource::Fetched);
    }
}

#[tokio::test]
async fn too_many_requests_by_option() {
    let server = Server::saying(response("429 Too Many", "Retry-After: 7200\r\n", "slow down")).await;
    let mut policy = Policy::default();
    policy.attempts.treat_429_as_unreachable = true;
    let fetcher = builder().policy(policy).build();
    let robots = fetcher.robots(&server.origin()).await;
    assert_eq!(*robots.access(), AccessResult::Unreachable(Unreachable::Status(429)));
    // Who asks for patience gets it, and is not asked again meanwhile.
    let last = &robots.kept().last;
    let wait = last.not_before.duration_since(last.at).expect("a time to wait");
    assert_eq!(wait.as_secs(), 7200);
    for _ in 0..5 {
        fetcher.robots(&server.origin()).await;
    }
    assert_eq!(server.requests(), 1);
}

/// REP-21: a body that ends before its end is none.
#[tokio::test]
async fn truncated_bodies_are_unreachable() {
    for octets in [
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{FILE}", FILE.len() + 1),
        format!("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n{FILE}"),
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n22\r\n{FILE}"),
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n22\r\n{FILE}\r\n"),
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFF\r\n{FILE}"),
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n".to_owned(),
        "HTTP/1.1 20".to_owned(),
        String::new(),
    ] {
        let robots = fetch(&Server::saying(octets.clone()).await).await;
        assert_failed(&robots, "truncated");
        assert!(robots.kept().copy.is_none(), "{octets}");
    }
}

/// What the framing says is the body, is the body.
#[tokio::test]
async fn the_framing_decides_where_a_body_ends() {
    let more = "Disallow: /\n";
    for octets in [
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{FILE}{more}", FILE.len()),
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n22\r\n{FILE}\r\n0\r\n\r\n{more}"),
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nConnection: close\r\n\r\n{FILE}", FILE.len()),
        format!("HTTP/1.0 200 OK\r\n\r\n{FILE}"),
        format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{FILE}"),
        format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\n\r\nHTTP/1.0 200 OK\r\n\r\n{FILE}"),
    ] {
        assert_eq!(FILE.len(), 0x22);
        assert_file(&fetch(&Server::saying(octets).await).await);
    }
}

/// Framing that can be read in two ways is not read in either.
#[tokio::test]
async fn contradictions_are_unreachable() {
    for head in [
        "Content-Length: 34\r\nContent-Length: 13",
        "Content-Length: 34, 13",
        "Content-Length: -1",
        "Content-Length: 0x22",
        "Content-Length: 99999999999999999999999999",
        "Transfer-Encoding: chunked\r\nX: chunk sizes are no numbers",
    ] {
        let octets = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{FILE}");
        let robots = fetch(&Server::saying(octets).await).await;
        let AccessResult::Unreachable(Unreachable::Network(_)) = robots.access() else {
            panic!("{head}: {}", robots.access())
        };
        assert!(!allows(&robots, "/open"), "{head}");
    }
}

/// REP-22: a page where the file should be loses nothing that is written in it, and adds nothing.
#[tokio::test]
async fn wrong_types_and_pages_are_read_line_by_line() {
    let page = format!(
        "<!DOCTYPE html>\n<html><head><title>Not found: /robots.txt</title>\n\
         <p>Disallow: of the house</p>\n{FILE}</body>\n</html>\n"
    );
    for content_type in ["text/html", "text/html; charset=utf-8", "application/pdf", "/;;=", ""] {
        let fields = format!("Content-Type: {content_type}\r\n");
        assert_file(&fetch(&Server::saying(response("200 OK", &fields, FILE)).await).await);
        assert_file(&fetch(&Server::saying(response("200 OK", &fields, &page)).await).await);
    }
    let soft = "<html><body><h1>Welcome</h1>\n<a href=\"/\">Home</a></body></html>";
    let robots = fetch(&Server::saying(response("200 OK", "", soft)).await).await;
    assert_eq!(*robots.access(), AccessResult::Successful);
    assert!(allows(&robots, "/private/x"), "a page without rules disallows nothing");
}

/// REP-14: the charset of a file is what its byte order mark or its server says.
#[tokio::test]
async fn charsets() {
    let text = "User-agent: *\nDisallow: /priv\u{e9}/\n";
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [&b"\xff\xfe"[..], &wide].concat();
    let narrow: Vec<u8> = text.chars().map(|char| u32::from(char) as u8).collect();
    for (charset, body) in [
        ("", text.as_bytes()),
        ("; charset=utf-8", text.as_bytes()),
        ("", &marked),
        ("; charset=UTF-16LE", &wide),
        ("; charset=\"iso-8859-1\"", &narrow),
    ] {
        let fields = format!("Content-Type: text/plain{charset}\r\n");
        let robots = fetch(&Server::saying(response("200 OK", &fields, body)).await).await;
        assert!(!allows(&robots, "/priv%C3%A9/x"), "{charset}");
        assert!(allows(&robots, "/other"), "{charset}");
    }
}

/// A request says who asks, and nothing that could be held against anybody.
#[tokio::test]
async fn what_is_sent() {
    let server = Server::answering(|exchange| match exchange.path().as_str() {
        "/robots.txt" => {
            let port = exchange.stream.local_addr().expect("an address").port();
            let fields = format!(
                "Location: http://user:secret@h.test:{port}/r?q=1#f\r\nSet-Cookie: a=b; Path=/\r\n\
                 WWW-Authenticate: Basic\r\n"
            );
            response("301 Moved", &fields, "")
        }
        _ => ok(FILE),
    })
    .await;
    let url = format!("http://me:hidden@127.0.0.1:{}/private/x?secret=1", server.port());
    let fetcher = builder().build();
    let request = Request::new(&url, "ExampleBot");
    let answer = fetcher.decide(&request).await.expect("a request that is right");
    assert!(!answer.report().access.allowed);
    // Nor is it told to whoever reads of it.
    let report = serde_json::to_string(&answer).expect("JSON");
    let kept = fetcher.robots(&server.origin()).await;
    assert!(!report.contains("secret@") && report.contains("h.test"), "{report}");
    assert!(!format!("{:?}", kept.kept()).contains("secret"), "{:?}", kept.kept());
    let [first, second] = server.heads().try_into().expect("two requests");
    assert!(first.starts_with("GET /robots.txt HTTP/1.1\r\n"), "{first}");
    assert!(second.starts_with("GET /r?q=1 HTTP/1.1\r\n"), "{second}");
    assert!(second.contains(&format!("\r\nhost: h.test:{}\r\n", server.port())), "{second}");
    for head in [first, second] {
        let names: Vec<_> = head.lines().skip(1).filter_map(|line| line.split(':').next()).collect();
        let names: Vec<_> = names.into_iter().filter(|name| !name.is_empty()).collect();
        assert_eq!(names, ["user-agent", "accept", "accept-encoding", "host"], "{head}");
        assert!(head.contains(&format!("\r\nuser-agent: {USER_AGENT}\r\n")), "{head}");
        assert!(!head.contains("secret") && !head.contains("hidden"), "{head}");
    }
}

#[test]
fn a_user_agent_string_that_names_nobody() {
    for text in ["", "  ", "(compatible)", "Bot\r\nCookie: a", "Böt/1.0", "/1.0"] {
        assert!(Fetcher::builder(text).is_err(), "{text}");
    }
    assert!(Fetcher::builder("ExampleBot/1.0").is_ok_and(|it| it.advice().is_some()));
    assert!(Fetcher::builder(USER_AGENT).is_ok_and(|it| it.advice().is_none()));
}
