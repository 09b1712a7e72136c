//! Live pages, and files that a person wants to see fresh: asked for as politely as everything else.

use std::sync::Arc;
use std::time::Duration;

use mayi_fetch::NoPage;

use crate::support::*;

const PAGE: &str = "<title>x</title><meta name=robots content=noindex>";

/// A site with a robots.txt, and a page at every other path.
async fn site(robots: &'static str) -> Server {
    Server::answering(move |exchange| match &*exchange.path() {
        "/robots.txt" => ok(robots),
        "/moved" => redirect("/page"),
        "/round" => redirect("/round"),
        "/ftp" => redirect("ftp://127.0.0.1/page"),
        "/port" => redirect("http://127.0.0.1:1/page"),
        "/to-private" => redirect("/private/page"),
        _ => response("200 OK", "Content-Type: text/html\r\nX-Robots-Tag: nosnippet\r\n", PAGE),
    })
    .await
}

fn paths(server: &Server) -> Vec<String> {
    server.heads().iter().map(|head| head.split(' ').nth(1).expect("a path").to_owned()).collect()
}

#[tokio::test]
async fn a_page_is_fetched_after_robots_txt() {
    let server = site(FILE).await;
    let page = builder().build().page(&server.url("/moved")).await.expect("a URL");
    assert_eq!(paths(&server), ["/robots.txt", "/moved", "/page"]);
    assert_eq!((&page.url, page.asked.len()), (&server.url("/page"), 2));
    assert_eq!(page.crawler.product_token().as_str(), "ExampleBot");
    let response = page.answer.expect("a page");
    assert_eq!((response.status, &response.body[..]), (200, PAGE.as_bytes()));
    assert_eq!(response.field("x-robots-tag"), Some("nosnippet"));
    assert!(server.heads()[2].contains("accept: text/html"), "{}", server.heads()[2]);
}

#[tokio::test]
async fn what_may_not_be_fetched_is_not() {
    let server = site(FILE).await;
    let page = builder().build().page(&server.url("/private/x")).await.expect("a URL");
    assert!(matches!(page.answer, Err(NoPage::Disallowed(Some(2)))), "{:?}", page.answer);
    assert_eq!(paths(&server), ["/robots.txt"]);
    let page = builder().build().page(&server.url("/to-private")).await.expect("a URL");
    assert!(matches!(page.answer, Err(NoPage::Disallowed(Some(2)))), "{:?}", page.answer);
    assert_eq!(paths(&server)[1..], ["/robots.txt", "/to-private"]);
    let broken = Server::saying(response("503 Service Unavailable", "", "")).await;
    let page = builder().build().page(&broken.url("/")).await.expect("a URL");
    assert!(matches!(page.answer, Err(NoPage::Unreachable(_))), "{:?}", page.answer);
    assert_eq!(paths(&broken), ["/robots.txt"]);
}

#[tokio::test]
async fn redirects_end() {
    let server = site("").await;
    let page = builder().build().page(&server.url("/round")).await.expect("a URL");
    assert!(matches!(page.answer, Err(NoPage::TooManyRedirects)), "{:?}", page.answer);
    assert_eq!(server.requests(), 1 + 6);
    for path in ["/ftp", "/port"] {
        let page = builder().build().page(&server.url(path)).await.expect("a URL");
        assert!(matches!(page.answer, Err(NoPage::Elsewhere(_))), "{path} {:?}", page.answer);
    }
    assert!(builder().build().page("mailto:a@example.com").await.is_err());
}

#[tokio::test]
async fn a_page_without_an_end_is_cut() {
    let server = Server::of_requests(|exchange| async move {
        if exchange.path() == "/robots.txt" {
            return exchange.say(ok("")).await;
        }
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
        exchange.say_for_ever(head, &vec![b'<'; 65_536], Duration::ZERO).await;
    })
    .await;
    let page = builder().build().page(&server.url("/")).await.expect("a URL");
    let response = page.answer.expect("a page");
    assert_eq!((response.body.len(), response.is_cut), (256 << 10, true));
}

#[tokio::test]
async fn a_site_is_left_alone_for_a_while() {
    let server = site("").await;
    let clock = Arc::new(Ahead::default());
    let fetcher = builder().clock(Arc::clone(&clock) as _).build();
    assert!(fetcher.page(&server.url("/")).await.expect("a URL").answer.is_ok());
    let page = fetcher.page(&server.url("/other")).await.expect("a URL");
    assert!(matches!(page.answer, Err(NoPage::TooSoon(_))), "{:?}", page.answer);
    assert_eq!(paths(&server), ["/robots.txt", "/"]);
    clock.go_on(Duration::from_secs(2));
    assert!(fetcher.page(&server.url("/other")).await.expect("a URL").answer.is_ok());
    let offline = builder().offline(true).build().page(&server.url("/")).await.expect("a URL");
    assert!(matches!(offline.answer, Err(NoPage::Offline)), "{:?}", offline.answer);
    // Whatever the guard refuses for robots.txt is refused for a page.
    let guarded = mayi_fetch::Fetcher::builder(USER_AGENT).expect("a name").build();
    let page = guarded.page(&server.url("/")).await.expect("a URL");
    assert!(matches!(page.answer, Err(NoPage::Unreachable(_))), "{:?}", page.answer);
    assert_eq!(server.requests(), 3);
}

#[tokio::test]
async fn a_file_is_asked_for_again_after_a_pause() {
    let server = Server::saying(ok(FILE)).await;
    let clock = Arc::new(Ahead::default());
    let fetcher = builder().clock(Arc::clone(&clock) as _).build();
    let least = Duration::from_secs(10);
    for requests in [1, 1] {
        assert_file(&fetcher.ask_again(&server.origin(), least).await);
        assert_eq!(server.requests(), requests);
    }
    clock.go_on(least);
    assert_file(&fetcher.ask_again(&server.origin(), least).await);
    assert_eq!(server.requests(), 2);

    // A site that is busy says when to come back, and that is kept to.
    let busy = Server::saying(response("503 Service Unavailable", "Retry-After: 100\r\n", "")).await;
    fetcher.ask_again(&busy.origin(), least).await;
    clock.go_on(Duration::from_mins(1));
    fetcher.ask_again(&busy.origin(), least).await;
    assert_eq!(busy.requests(), 1);
}
