//! A socket → requests, until the service is told to stop; then the answers to accepted requests.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use mayi_fetch::Fetcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::api::App;
use crate::config::{Config, ConfigError};
use crate::connections::{Connections, Held, REFUSAL};
use crate::gate::Gate;
use crate::keys::Keys;
use crate::pulse::{Pulse, Watched};
use crate::traces::Traces;
use crate::{routes, tls};

/// A service that has its socket but has not started to answer.
///
/// ```
/// use mayi_server::{Config, Server};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let mut config = Config::default();
/// config.listen.set_port(0);
/// let server = Server::bind(config).await?;
/// assert!(server.address().ip().is_loopback());
/// server.run_until(std::future::ready(())).await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// What every connection has.
struct Shared {
    app: Arc<App>,
    gate: Gate,
    router: axum::Router,
    connections: Arc<Connections>,
    acceptor: Option<RwLock<TlsAcceptor>>,
    visits: AtomicU64,
}

/// Makes a running service read its keys and certificates again.
#[derive(Clone)]
pub struct Reload(Arc<Shared>);

impl Reload {
    /// Reads the key file and the files of the certificate again. They apply to new requests and new
    /// connections; no connection is lost. If one file can't be used, nothing changes.
    ///
    /// # Errors
    /// When a file can't be read or used.
    pub fn reload(&self) -> Result<(), ConfigError> {
        let config = &self.0.app.config;
        let keys = config.keys.as_deref().map(Keys::open).transpose()?;
        let acceptor = config.tls.as_ref().map(tls::acceptor).transpose()?;
        if let Some(keys) = keys {
            self.0.gate.replace_keys(keys);
        }
        if let (Some(held), Some(acceptor)) = (&self.0.acceptor, acceptor) {
            *held.write().unwrap_or_else(PoisonError::into_inner) = acceptor;
        }
        Ok(())
    }
}

impl fmt::Debug for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reload").finish_non_exhaustive()
    }
}

impl Server {
    /// Opens the store and takes the socket.
    ///
    /// # Errors
    /// When the configuration can't be used, or the address is not available.
    pub async fn bind(config: Config) -> Result<Self, BindError> {
        config.check()?;
        let fetcher = config.fetcher()?;
        Self::bind_with(config, fetcher).await
    }

    /// The same with an existing fetcher.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub async fn bind_with(config: Config, fetcher: Fetcher) -> Result<Self, BindError> {
        config.check()?;
        let keys = config.keys.as_deref().map(Keys::open).transpose()?;
        let acceptor = config.tls.as_ref().map(tls::acceptor).transpose()?;
        let in_use = |error| BindError::Socket(config.listen, error);
        let listener = TcpListener::bind(config.listen).await.map_err(in_use)?;
        let address = listener.local_addr().map_err(in_use)?;
        let traces = Traces::start(&config.log)?;
        let gate = Gate::new(&config, keys);
        let limits = &config.limits;
        let connections = Connections::new(limits.connections, limits.connections_per_client);
        let app = Arc::new(App::new(config, fetcher, traces));
        let router = routes::router(&app);
        let acceptor = acceptor.map(RwLock::new);
        let visits = AtomicU64::new(0);
        let shared = Arc::new(Shared { app, gate, router, connections, acceptor, visits });
        Ok(Self { listener, address, shared })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its URL.
    pub fn url(&self) -> String {
        let scheme = if self.shared.acceptor.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/", self.address)
    }

    /// Makes it read its keys and certificates again while it runs.
    pub fn reload(&self) -> Reload {
        Reload(Arc::clone(&self.shared))
    }

    /// Answers requests until this future is done, and then finishes the accepted ones.
    pub async fn run_until(self, shutdown: impl Future<Output = ()>) {
        let Self { listener, shared, .. } = self;
        let graceful = GracefulShutdown::new();
        tokio::pin!(shutdown);
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut shutdown => break,
                accepted = accept(&listener, &shared.connections) => accepted,
            };
            let (stream, peer, held) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    // No free file descriptors: some have to be closed first.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                }
            };
            let Some(held) = held else {
                shared.app.metrics.connection_refused();
                tracing::debug!(%peer, "a connection was refused: this client already has the maximum");
                if shared.acceptor.is_none() {
                    // Only what can be sent at once: a rejected client must not cause waiting.
                    let _ = stream.try_write(REFUSAL);
                }
                continue;
            };
            let connection = Connection { shared: Arc::clone(&shared), peer: peer.ip() };
            let watcher = graceful.watcher();
            tokio::spawn(async move {
                connection.serve(stream, watcher).await;
                drop(held);
            });
        }
        drop(listener);
        shared.app.stop();
        let most = Duration::from_secs(shared.app.config.limits.shutdown_seconds);
        if tokio::time::timeout(most, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests were not answered in time and were dropped");
        }
        if let Some(traces) = &shared.app.traces {
            traces.flush().await;
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A connection, and its place, unless its client already has the maximum.
type Accepted = (TcpStream, SocketAddr, Option<Held>);

/// The next connection, once there is room for it.
async fn accept(listener: &TcpListener, connections: &Arc<Connections>) -> io::Result<Accepted> {
    let permit = connections.room().await;
    let (stream, peer) = listener.accept().await?;
    stream.set_nodelay(true)?;
    let held = permit.and_then(|permit| connections.admit(permit, peer.ip()));
    Ok((stream, peer, held))
}

struct Connection {
    shared: Arc<Shared>,
    peer: IpAddr,
}

type Watcher = hyper_util::server::graceful::Watcher;

impl Connection {
    async fn serve(self, stream: TcpStream, watcher: Watcher) {
        let shared = Arc::clone(&self.shared);
        let _gauge = shared.app.metrics.connection();
        let acceptor = shared.acceptor.as_ref();
        let acceptor = acceptor.map(|it| it.read().unwrap_or_else(PoisonError::into_inner).clone());
        match acceptor {
            None => self.speak(stream, watcher).await,
            Some(acceptor) => {
                let most = Duration::from_secs(shared.app.config.limits.header_seconds);
                match tokio::time::timeout(most, acceptor.accept(stream)).await {
                    Ok(Ok(stream)) => self.speak(stream, watcher).await,
                    Ok(Err(error)) => tracing::debug!(peer = %self.peer, %error, "no TLS"),
                    Err(_) => tracing::debug!(peer = %self.peer, "no TLS in time"),
                }
            }
        }
    }

    /// HTTP/1.1 or HTTP/2, by the first octets of the client.
    async fn speak<S>(self, stream: S, watcher: Watcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { shared, peer } = self;
        let limits = shared.app.config.limits;
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            // `pulse` has the timeouts; it distinguishes an idle keep-alive connection from a slow head.
            .header_read_timeout(None::<Duration>)
            .max_buf_size(64 * 1024)
            .http2()
            // No pings: an idle connection has to be silent, so that it is closed.
            .timer(TokioTimer::new())
            .max_header_list_size(64 * 1024)
            .max_concurrent_streams(256);
        let pulse = Pulse::new();
        let connection = shared.visits.fetch_add(1, Relaxed);
        let visit = Arc::new(shared.gate.visit(peer, connection, Arc::clone(&pulse)));
        let service = hyper::service::service_fn(|request: hyper::Request<Incoming>| {
            let (shared, visit) = (Arc::clone(&shared), Arc::clone(&visit));
            async move {
                let Shared { app, gate, router, .. } = &*shared;
                Ok::<_, Infallible>(gate.answer(app, router, &visit, request).await)
            }
        });
        let stream = Watched::new(stream, Arc::clone(&pulse));
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        let [idle, head] = [limits.idle_seconds, limits.header_seconds].map(Duration::from_secs);
        tokio::select! {
            biased;
            ended = watcher.watch(connection) => {
                if let Err(error) = ended {
                    tracing::debug!(%peer, %error, "a connection ended early");
                }
            }
            end = pulse.ended(idle, head) => {
                tracing::debug!(%peer, why = ?end, "a connection was closed because it was idle");
            }
        }
    }
}

/// Why a service could not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum BindError {
    /// Its configuration can't be used.
    Config(ConfigError),
    /// The address is not available.
    Socket(SocketAddr, io::Error),
}

impl From<ConfigError> for BindError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => write!(f, "{error}"),
            Self::Socket(address, error) => write!(f, "can't listen on {address}: {error}"),
        }
    }
}

impl std::error::Error for BindError {}
