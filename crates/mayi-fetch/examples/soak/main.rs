//! A fetcher and very many origins on loopback, one in ten of them hostile: no answer may be wrong, and
//! memory has to stay flat.
//!
//! ```sh
//! cargo run --release --package mayi-fetch --example soak -- 100000
//! ```
//!
//! Ends with 1 where an answer was wrong or a connection was left behind. `docs/fetching.md` has the
//! figures of a whole run.

mod run;

use std::process::ExitCode;
use std::time::Duration;

use mayi_fetch::transport::Patience;

fn main() -> ExitCode {
    let origins = std::env::args().nth(1).map_or(Ok(100_000), |text| text.parse());
    let Ok(origins @ 1..=1_000_000) = origins else {
        eprintln!("usage: soak [number of origins, at most 1000000]");
        return ExitCode::from(2);
    };
    let mut patience = Patience::default();
    patience.connect = Duration::from_secs(10);
    patience.first_byte = Duration::from_secs(10);
    patience.total = Duration::from_secs(15);
    let plan = run::Plan { origins, at_once: 512, patience };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(run::run(plan)),
        Err(error) => {
            eprintln!("soak: no threads: {error}");
            return ExitCode::from(2);
        }
    };
    print!("{outcome}");
    if outcome.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
