//! A small run of the soak that `examples/soak` does at length.

#[path = "../../examples/soak/run.rs"]
mod run;

use std::time::Duration;

use mayi_fetch::transport::Patience;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_origins_and_no_wrong_answer() {
    let mut patience = Patience::default();
    patience.connect = Duration::from_secs(5);
    patience.first_byte = Duration::from_secs(3);
    patience.total = Duration::from_secs(4);
    let plan = run::Plan { origins: 2000, at_once: 64, patience };
    let outcome = run::run(plan).await;
    assert!(outcome.is_good(), "{outcome}");
    assert_eq!(outcome.decisions, 6000);
    // Each origin was asked once: six kinds are honest, of which one has no file, and of the ten
    // hostile ones the bomb has a file and the loop has none.
    let stats = &outcome.stats;
    assert_eq!(stats.successful + stats.unavailable + stats.unreachable, 2000, "{outcome}");
    assert_eq!(stats.unreachable, 160, "{outcome}");
}
