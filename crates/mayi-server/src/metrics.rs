//! What happened → numbers, in the text form of Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use axum::http::StatusCode;
use mayi_fetch::Stats;

/// The upper ends of the buckets that request times are counted in, in microseconds.
const BUCKETS: [u64; 12] =
    [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000, 5_000_000, 30_000_000];

/// The statuses that the service gives; another one is counted as the last.
const STATUSES: [u16; 16] =
    [200, 304, 400, 401, 403, 404, 405, 413, 415, 421, 422, 429, 500, 503, 504, 0];

/// What the service has done since it started.
#[derive(Default)]
pub(crate) struct Metrics {
    allowed: AtomicU64,
    disallowed: AtomicU64,
    wrong: AtomicU64,
    requests: [AtomicU64; STATUSES.len()],
    times: [AtomicU64; BUCKETS.len() + 1],
    microseconds: AtomicU64,
    too_costly: AtomicU64,
    in_flight: AtomicU64,
    connections: AtomicU64,
    refused: AtomicU64,
}

/// Figures from other parts of the service.
#[derive(Default)]
pub(crate) struct Levels {
    pub(crate) body_octets: u64,
    pub(crate) work_waiting: u64,
    pub(crate) lines_dropped: u64,
    /// How many spans were dropped, if there are traces.
    pub(crate) spans_dropped: Option<u64>,
}

/// The result of a decision.
#[derive(Clone, Copy)]
pub(crate) enum Outcome {
    Allowed,
    Disallowed,
    /// The request was wrong.
    Wrong,
}

/// How many decisions had which result: batches count here first.
#[derive(Default)]
pub(crate) struct Outcomes {
    allowed: u64,
    disallowed: u64,
    wrong: u64,
}

impl Outcomes {
    pub(crate) fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Allowed => self.allowed += 1,
            Outcome::Disallowed => self.disallowed += 1,
            Outcome::Wrong => self.wrong += 1,
        }
    }
}

impl Metrics {
    pub(crate) fn decided(&self, outcome: Outcome) {
        let mut outcomes = Outcomes::default();
        outcomes.add(outcome);
        self.decided_all(&outcomes);
    }

    pub(crate) fn decided_all(&self, outcomes: &Outcomes) {
        let pairs = [
            (&self.allowed, outcomes.allowed),
            (&self.disallowed, outcomes.disallowed),
            (&self.wrong, outcomes.wrong),
        ];
        for (counter, count) in pairs.into_iter().filter(|(_, count)| *count > 0) {
            counter.fetch_add(count, Relaxed);
        }
    }

    pub(crate) fn answered(&self, status: StatusCode, took: Duration) {
        let status = status.as_u16();
        let place = STATUSES.iter().position(|known| *known == status).unwrap_or(STATUSES.len() - 1);
        self.requests[place].fetch_add(1, Relaxed);
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.iter().position(|end| microseconds <= *end).unwrap_or(BUCKETS.len());
        self.times[bucket].fetch_add(1, Relaxed);
        self.microseconds.fetch_add(microseconds, Relaxed);
    }

    /// A request cost more than its limit.
    pub(crate) fn too_costly(&self) {
        self.too_costly.fetch_add(1, Relaxed);
    }

    pub(crate) fn in_flight(&self) -> Gauge<'_> {
        Gauge::up(&self.in_flight)
    }

    /// A client already had the maximum of connections.
    pub(crate) fn connection_refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    pub(crate) fn connection(&self) -> Gauge<'_> {
        Gauge::up(&self.connections)
    }

    /// All metrics, including those of the fetcher and of other parts.
    pub(crate) fn text(&self, fetcher: &Stats, levels: &Levels) -> String {
        let mut page = Page(String::with_capacity(4096));
        let read = |counter: &AtomicU64| counter.load(Relaxed);
        page.family("mayi_decisions_total", "counter", "Decisions, by result.");
        page.row("mayi_decisions_total{outcome=\"allowed\"}", read(&self.allowed));
        page.row("mayi_decisions_total{outcome=\"disallowed\"}", read(&self.disallowed));
        page.row("mayi_decisions_total{outcome=\"error\"}", read(&self.wrong));
        page.family("mayi_http_requests_total", "counter", "HTTP requests, by status.");
        for (status, counter) in STATUSES.iter().zip(&self.requests) {
            let status = if *status == 0 { "other".to_owned() } else { status.to_string() };
            page.row(&format!("mayi_http_requests_total{{status=\"{status}\"}}"), read(counter));
        }
        page.family("mayi_http_request_seconds", "histogram", "Time to the start of an answer.");
        let mut sum = 0;
        for (place, counter) in self.times.iter().enumerate() {
            sum += read(counter);
            let end = BUCKETS.get(place).map_or("+Inf".to_owned(), |end| seconds(*end));
            page.row(&format!("mayi_http_request_seconds_bucket{{le=\"{end}\"}}"), sum);
        }
        page.row("mayi_http_request_seconds_sum", seconds(read(&self.microseconds)));
        page.row("mayi_http_request_seconds_count", sum);
        let gauges = [
            ("mayi_http_requests_in_flight", "Requests in progress.", read(&self.in_flight)),
            ("mayi_http_connections", "Open connections.", read(&self.connections)),
            ("mayi_fetches_in_flight", "Fetches in progress.", fetcher.in_flight as u64),
            ("mayi_ready_origins", "Origins whose file is in memory.", fetcher.ready as u64),
            (
                "mayi_ready_octets",
                "Approximate octets of memory for these files.",
                fetcher.ready_octets,
            ),
            ("mayi_body_octets", "Octets of bodies and answers that are counted.", levels.body_octets),
            ("mayi_work_waiting", "Tasks that wait for a thread.", levels.work_waiting),
        ];
        for (name, help, value) in gauges {
            page.family(name, "gauge", help);
            page.row(name, value);
        }
        page.family("mayi_files_total", "counter", "Files used, by source.");
        page.row("mayi_files_total{from=\"kept\"}", fetcher.answered_from_kept);
        page.row("mayi_files_total{from=\"fetch\"}", fetcher.answered_by_fetch);
        page.family("mayi_fetches_total", "counter", "Fetches, by result.");
        page.row("mayi_fetches_total{result=\"successful\"}", fetcher.successful);
        page.row("mayi_fetches_total{result=\"unavailable\"}", fetcher.unavailable);
        page.row("mayi_fetches_total{result=\"unreachable\"}", fetcher.unreachable);
        page.family("mayi_fetch_seconds_total", "counter", "Total time of all fetches.");
        let micros = u64::try_from(fetcher.fetch_time.as_micros()).unwrap_or(u64::MAX);
        page.row("mayi_fetch_seconds_total", seconds(micros));
        page.family("mayi_fetches_guarded_total", "counter", "Fetches that the guard ended.");
        page.row("mayi_fetches_guarded_total", fetcher.guarded);
        page.family("mayi_store_errors_total", "counter", "Failures of the store.");
        page.row("mayi_store_errors_total", fetcher.store_errors);
        page.family("mayi_store_damaged_total", "counter", "Entries of the store that were damaged.");
        page.row("mayi_store_damaged_total", fetcher.damaged_entries);
        page.family("mayi_local_faults_total", "counter", "Fetches that this machine could not make.");
        page.row("mayi_local_faults_total", fetcher.local_faults);
        page.family("mayi_too_costly_total", "counter", "Requests that cost more than limits.work.");
        page.row("mayi_too_costly_total", read(&self.too_costly));
        let help = "Connections refused because their client already had the maximum.";
        page.family("mayi_connections_refused_total", "counter", help);
        page.row("mayi_connections_refused_total", read(&self.refused));
        page.family(
            "mayi_log_lines_dropped_total",
            "counter",
            "Log lines that were dropped because the reader was too slow.",
        );
        page.row("mayi_log_lines_dropped_total", levels.lines_dropped);
        if let Some(dropped) = levels.spans_dropped {
            page.family(
                "mayi_spans_dropped_total",
                "counter",
                "Spans that the collector did not accept.",
            );
            page.row("mayi_spans_dropped_total", dropped);
        }
        page.0
    }
}

/// A gauge that counts one while this value is held.
pub(crate) struct Gauge<'m>(&'m AtomicU64);

impl<'m> Gauge<'m> {
    fn up(gauge: &'m AtomicU64) -> Self {
        gauge.fetch_add(1, Relaxed);
        Self(gauge)
    }
}

impl Drop for Gauge<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Microseconds as seconds, without the rounding errors of binary fractions.
fn seconds(microseconds: u64) -> String {
    let text = format!("{}.{:06}", microseconds / 1_000_000, microseconds % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}")
            .expect("writing to memory does not fail");
    }

    fn row(&mut self, name: &str, value: impl std::fmt::Display) {
        writeln!(self.0, "{name} {value}").expect("writing to memory does not fail");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative() {
        let metrics = Metrics::default();
        metrics.answered(StatusCode::OK, Duration::from_micros(100));
        metrics.answered(StatusCode::OK, Duration::from_micros(101));
        metrics.answered(StatusCode::IM_A_TEAPOT, Duration::from_mins(1));
        metrics.decided(Outcome::Disallowed);
        let text = metrics.text(&Stats::default(), &Levels::default());
        for line in [
            "mayi_http_request_seconds_bucket{le=\"0.0001\"} 1",
            "mayi_http_request_seconds_bucket{le=\"0.00025\"} 2",
            "mayi_http_request_seconds_bucket{le=\"30\"} 2",
            "mayi_http_request_seconds_bucket{le=\"+Inf\"} 3",
            "mayi_http_request_seconds_sum 60.000201",
            "mayi_http_requests_total{status=\"200\"} 2",
            "mayi_http_requests_total{status=\"other\"} 1",
            "mayi_decisions_total{outcome=\"disallowed\"} 1",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
        }
    }
}
