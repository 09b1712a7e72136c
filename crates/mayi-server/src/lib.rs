//! The decision service of mayi: one process that answers for a whole crawl, over HTTP.
//!
//! It takes the requests of [`mayi::report`] and gives its reports, octet for octet the same as the command.
//! Files that are not part of a request are fetched by a [`mayi_fetch::Fetcher`], with its guard. It reads no
//! command line: a [`Config`] is a value.
//!
//! | module | what it turns into what |
//! | --- | --- |
//! | `server`, `pulse`, `tls` | a socket into requests, as long as there is activity and no shutdown |
//! | `gate`, `host`, `keys`, `rate` | a request into an accepted one, or into a problem |
//! | `routes`, `api` | a request into its answer |
//! | `prepared` | a request about a file in memory into its answer, fast |
//! | `batch` | many requests into their answers, in order and in bounded memory |
//! | `work` | costly work into its result, in turns and on separate threads |
//! | `bodies`, `answers` | octets into a share of the memory for all bodies and answers, or into a problem |
//! | `problem` | what went wrong into RFC 9457 |
//! | `metrics`, `logging`, `events`, `traces` | what happened into numbers, lines and spans |
//! | [`client`] | the other end: a question to a running service |

mod answers;
mod api;
mod batch;
mod bodies;
pub mod client;
mod config;
mod connections;
mod events;
mod gate;
mod host;
mod keys;
mod logging;
mod metrics;
mod page;
mod prepared;
mod problem;
mod pulse;
mod rate;
mod routes;
mod server;
mod tls;
#[cfg(feature = "traces")]
mod traces;
#[cfg(not(feature = "traces"))]
#[path = "no_traces.rs"]
mod traces;
mod work;

pub use config::{Config, ConfigError, Fetching, LogFormat, Logging, ReadSettings, ServiceLimits, Tls};
pub use keys::new_key;
pub use logging::{Log, start as start_logging};
pub use server::{BindError, Reload, Server};

/// The document that describes the interface, in OpenAPI 3.1.
pub const OPENAPI: &str = include_str!("openapi.json");
