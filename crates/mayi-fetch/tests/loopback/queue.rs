//! The queue of fetches: what nobody waits for is given up, and no client holds up the others.

use std::sync::Arc;
use std::time::Duration;

use mayi::access::Origin;
use mayi_fetch::{Fetcher, Lack};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::support::*;

/// One of the many hosts of a server.
fn host(server: &Server, number: usize) -> Origin {
    Origin::of_url(&format!("http://h{number}.test:{}/", server.port())).expect("an origin")
}

fn ask_all(fetcher: &Fetcher, server: &Server, count: usize) -> JoinSet<mayi_fetch::Robots> {
    let mut tasks = JoinSet::new();
    for number in 0..count {
        let (fetcher, origin) = (fetcher.clone(), host(server, number));
        tasks.spawn(async move { fetcher.robots(&origin).await });
    }
    tasks
}

/// Something that has to end: the limit is only there so that a failure is no hang.
async fn ends<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_mins(1), future).await.expect("it ends")
}

#[tokio::test]
async fn fetches_that_nobody_waits_for_are_given_up() {
    let gate = Arc::new(Semaphore::new(0));
    let server = Server::gated(&gate).await;
    let fetcher = builder().connections(2, 4).build();
    let mut tasks = ask_all(&fetcher, &server, 200);
    eventually("all are asked about", || fetcher.stats().in_flight == 200).await;
    eventually("four are asked", || server.requests() == 4).await;
    // Whoever asked is gone.
    tasks.shutdown().await;
    eventually("the others are given up", || fetcher.stats().in_flight == 4).await;
    let stats = fetcher.stats();
    assert_eq!((stats.waiting, stats.abandoned), (0, 196));
    // What has begun goes on, and is kept.
    gate.add_permits(100);
    eventually("the four are done", || fetcher.stats().in_flight == 0).await;
    assert_eq!((server.requests(), fetcher.stats().successful), (4, 4));
    // What was given up can be asked about again.
    for number in 0..200 {
        assert_file(&fetcher.robots(&host(&server, number)).await);
    }
    assert_eq!(server.requests(), 200);
}

/// Who still waits for what others have left gets it.
#[tokio::test]
async fn the_last_who_waits_is_enough() {
    let gate = Arc::new(Semaphore::new(0));
    let server = Server::gated(&gate).await;
    let fetcher = builder().connections(1, 1).build();
    let first = tokio::spawn({
        let (fetcher, origin) = (fetcher.clone(), host(&server, 0));
        async move { fetcher.robots(&origin).await }
    });
    eventually("one is asked", || server.requests() == 1).await;
    let mut waiting = JoinSet::new();
    for client in 0..10 {
        let (fetcher, origin) = (fetcher.on_behalf_of(client), host(&server, 1));
        waiting.spawn(async move { fetcher.robots(&origin).await });
    }
    let last = {
        let (fetcher, origin) = (fetcher.on_behalf_of("the last"), host(&server, 1));
        tokio::spawn(async move { fetcher.robots(&origin).await })
    };
    eventually("they wait", || fetcher.stats().waiting == 1).await;
    waiting.shutdown().await;
    gate.add_permits(10);
    assert_file(&ends(last).await.expect("a task"));
    assert_file(&ends(first).await.expect("a task"));
    assert_eq!((server.requests(), fetcher.stats().abandoned), (2, 0));
}

/// One client asks for a hundred sites that never answer. Another one has its answer at once.
#[tokio::test]
async fn a_client_that_asks_for_much_holds_nobody_up() {
    let gate = Arc::new(Semaphore::new(0));
    let server = Server::gated(&gate).await;
    let honest = Server::saying(ok(FILE)).await;
    let fetcher = builder().connections(2, 8).build();
    let greedy = fetcher.on_behalf_of("greedy");
    let tasks = ask_all(&greedy, &server, 100);
    eventually("it has what it may have", || server.requests() == 6).await;
    let modest = fetcher.on_behalf_of("modest");
    for number in 0..30 {
        assert_file(&ends(modest.robots(&host(&honest, number))).await);
    }
    assert_eq!(server.requests(), 6, "no more than three quarters");
    drop(tasks);
}

/// A client that asks for more than may wait is told so at once; nothing of that is kept, and nobody else notices.
#[tokio::test]
async fn the_queue_is_bounded() {
    let gate = Arc::new(Semaphore::new(0));
    let server = Server::gated(&gate).await;
    let fetcher = builder().connections(2, 4).waiting(10).build();
    let mut tasks = ask_all(&fetcher.on_behalf_of("greedy"), &server, 100);
    for _ in 0..100 - 3 - 10 {
        let robots = ends(tasks.join_next()).await.expect("there are more").expect("a task");
        assert_eq!(robots.lack(), Some(Lack::Room));
        assert_failed(&robots, "local: too many fetches are waiting");
    }
    assert_eq!(fetcher.stats().waiting, 10);
    let other = Server::saying(ok(FILE)).await;
    let modest = fetcher.on_behalf_of("modest");
    assert_file(&ends(modest.robots(&other.origin())).await);
    gate.add_permits(1000);
    while let Some(robots) = ends(tasks.join_next()).await {
        assert_file(&robots.expect("a task"));
    }
    // What was refused is no failure of those sites.
    for number in 0..100 {
        assert_file(&ends(fetcher.robots(&host(&server, number))).await);
    }
    assert_eq!(server.requests(), 100);
}
