//! Replaces `traces` in a build without the feature `traces`: nothing is recorded, and a configuration
//! that asks for traces is refused.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::header::HeaderValue;
use axum::http::{Request, StatusCode};
use mayi_fetch::events::Watcher;

use crate::config::{ConfigError, Logging};

/// There are none of it.
#[derive(Clone)]
pub(crate) enum Traces {}

/// There are none of it.
pub(crate) enum Span {}

impl Traces {
    pub(crate) fn start(logging: &Logging) -> Result<Option<Self>, ConfigError> {
        match &logging.traces {
            Some(_) => {
                Err(ConfigError::new("log.traces: this build was made without the feature `traces`"))
            }
            None => Ok(None),
        }
    }

    pub(crate) fn dropped(&self) -> u64 {
        match *self {}
    }

    pub(crate) async fn flush(&self) {
        match *self {}
    }

    pub(crate) fn span<B>(&self, _: &HeaderValue, _: IpAddr, _: &Request<B>) -> Option<Arc<Span>> {
        match *self {}
    }
}

impl Span {
    pub(crate) fn answered(&self, _: StatusCode) {
        match *self {}
    }
}

pub(crate) async fn for_span<T>(_: Option<&Arc<Span>>, work: impl Future<Output = T>) -> T {
    work.await
}

pub(crate) fn carried<T>(work: impl Future<Output = T>) -> impl Future<Output = T> {
    work
}

pub(crate) fn watcher() -> Option<Arc<dyn Watcher>> {
    None
}
