//! A host and a port → a connection to an address that the guard allows.
//!
//! A name is resolved once for each connection, and only those of its addresses that the guard allows are
//! connected to. The resolver and the connector are traits, so that tests can script both and no test has to
//! connect to a foreign address.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::{JoinError, JoinHandle, JoinSet};

use crate::clock::{Clock, Later, within};
use crate::fault::Lack;
use crate::guard::{Guard, is_special};
use crate::transport::{TransportError, TransportErrorKind as Kind};

/// How long one address has before the next one is tried beside it (RFC 8305 has a quarter of a
/// second too).
const HEAD_START: Duration = Duration::from_millis(250);

/// More addresses than this of one name are not tried.
const MOST_ADDRESSES: usize = 8;

/// A connection.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Turns a name into addresses.
pub trait Resolver: Send + Sync + 'static {
    /// The addresses of a host that is not an address itself.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Later<'a, io::Result<Vec<SocketAddr>>>;
}

/// Opens connections.
pub trait Connector: Send + Sync + 'static {
    /// A connection to exactly this address.
    fn connect(&self, address: SocketAddr) -> Later<'_, io::Result<Box<dyn Stream>>>;
}

/// The resolver of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Later<'a, io::Result<Vec<SocketAddr>>> {
        let host = host.to_owned();
        let look_up = move || Ok((&*host, port).to_socket_addrs()?.collect());
        Box::pin(async move { on_a_thread(look_up).await.unwrap_or_else(|error| Err(error.into())) })
    }
}

/// Runs blocking work on a thread for it. Work that nobody waits for any more is not started; otherwise names
/// that are slow to resolve would leave a queue in which others wait.
async fn on_a_thread<T: Send + 'static>(
    job: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    struct Begun<T>(JoinHandle<T>);

    impl<T> Drop for Begun<T> {
        fn drop(&mut self) {
            self.0.abort();
        }
    }

    let mut begun = Begun(tokio::task::spawn_blocking(job));
    (&mut begun.0).await
}

/// TCP.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpConnector;

impl Connector for TcpConnector {
    fn connect(&self, address: SocketAddr) -> Later<'_, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        })
    }
}

/// Connects to hosts.
#[derive(Clone)]
pub(crate) struct Dialer {
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) guard: Arc<Guard>,
    pub(crate) timeout: Duration,
}

impl Dialer {
    /// Connects to a host; `named` is the port in the question.
    pub(crate) async fn dial(
        &self,
        host: &str,
        port: u16,
        named: u16,
    ) -> Result<(Box<dyn Stream>, SocketAddr), TransportError> {
        self.guard
            .check_port(port, named)
            .map_err(|error| TransportError::guarded(&error, format_args!("{host}: {error}")))?;
        let dialled = async {
            let (addresses, is_literal) = self.addresses(host, port).await?;
            self.first_of(addresses, is_literal).await
        };
        within(&*self.clock, self.timeout, dialled).await.unwrap_or_else(|| Err(self.late()))
    }

    /// Connects to an address that a connection has been made to already: what FTP needs.
    #[cfg(feature = "ftp")]
    pub(crate) async fn dial_again(
        &self,
        address: SocketAddr,
    ) -> Result<Box<dyn Stream>, TransportError> {
        let dialled = self.first_of(vec![address], false);
        let dialled = within(&*self.clock, self.timeout, dialled).await;
        dialled.unwrap_or_else(|| Err(self.late())).map(|(stream, _)| stream)
    }

    fn late(&self) -> TransportError {
        TransportError::new(Kind::Timeout, format_args!("no connection in {:?}", self.timeout))
    }

    /// The addresses of a host that the guard allows, and whether the host is an address itself.
    ///
    /// Clients outside must not learn which address a name has inside a network: it is in the details of an
    /// error and not in its message. An address that is in the URL is already known to the client.
    async fn addresses(
        &self,
        host: &str,
        port: u16,
    ) -> Result<(Vec<SocketAddr>, bool), TransportError> {
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse();
        let is_literal = literal.is_ok();
        let mut addresses = if let Ok(address) = literal {
            vec![SocketAddr::new(address, port)]
        } else {
            let resolved = self.resolver.resolve(host, port).await;
            resolved.map_err(|error| unresolved(host, error))?
        };
        let mut forbidden = None;
        addresses.retain(|address| match self.guard.check(address.ip()) {
            Ok(()) => true,
            Err(error) => {
                forbidden = Some(error);
                false
            }
        });
        // The port is the requested one, whatever a resolver returns.
        for address in &mut addresses {
            address.set_port(port);
        }
        addresses.truncate(MOST_ADDRESSES);
        match (addresses.is_empty(), forbidden) {
            (false, _) => Ok((addresses, is_literal)),
            (true, Some(forbidden)) if is_literal => {
                Err(TransportError::guarded(&forbidden, &forbidden))
            }
            (true, Some(forbidden)) => Err(TransportError::guarded(
                format_args!("{host} has no address that may be connected to"),
                format_args!("{host}: {forbidden}"),
            )),
            (true, None) => Err(TransportError::new(Kind::Dns, format_args!("{host} has no address"))),
        }
    }

    /// Connects to the first of these addresses that answers: each has a head start on the next.
    async fn first_of(
        &self,
        addresses: Vec<SocketAddr>,
        is_literal: bool,
    ) -> Result<(Box<dyn Stream>, SocketAddr), TransportError> {
        let mut tries = JoinSet::new();
        let mut waiting = addresses.into_iter();
        let mut errors = Errors::default();
        loop {
            if let Some(address) = waiting.next() {
                let connector = Arc::clone(&self.connector);
                tries.spawn(async move { (address, connector.connect(address).await) });
            }
            let joined = if waiting.len() == 0 {
                Some(tries.join_next().await)
            } else {
                within(&*self.clock, HEAD_START, tries.join_next()).await
            };
            match joined {
                Some(Some(Ok((address, Ok(stream))))) => return Ok((stream, address)),
                Some(Some(Ok((address, Err(error))))) => errors.add(address, error),
                Some(Some(Err(error))) => {
                    return Err(TransportError::new(Kind::Connect, &error).caused_by(error));
                }
                Some(None) => break,
                None => {}
            }
        }
        Err(errors.sum(is_literal))
    }
}

/// What went wrong at the addresses of a host.
#[derive(Default)]
struct Errors {
    theirs: Option<(SocketAddr, io::Error)>,
    ours: Option<(SocketAddr, io::Error, Lack)>,
}

impl Errors {
    fn add(&mut self, address: SocketAddr, error: io::Error) {
        match Lack::of_connecting(&error) {
            Some(lack) => self.ours = Some((address, error, lack)),
            None => self.theirs = Some((address, error)),
        }
    }

    /// One error for all. A machine without IPv6 has no route to half of the addresses of most hosts, so
    /// one address that was asked and has failed makes it the host's failure.
    fn sum(self, is_literal: bool) -> TransportError {
        match (self.theirs, self.ours) {
            (Some((address, error)), _) if is_literal || !is_special(address.ip()) => {
                TransportError::new(Kind::Connect, format_args!("{address}: {error}")).caused_by(error)
            }
            (Some((_, error)), _) => TransportError::new(Kind::Connect, &error).caused_by(error),
            (None, Some((address, error, lack))) => {
                TransportError::lacking(lack, format_args!("{address}: {error}")).caused_by(error)
            }
            (None, None) => TransportError::new(Kind::Connect, "no address to connect to"),
        }
    }
}

/// Why a name has no address. A resolver that could not open a socket often reports only that it failed, so
/// this tests whether the process can still open one.
fn unresolved(host: &str, error: io::Error) -> TransportError {
    let can_open = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).err();
    let lack = Lack::of(&error).or_else(|| Lack::of(&can_open()?));
    match lack {
        Some(lack) => TransportError::lacking(lack, format_args!("{host}: {error}")),
        None => TransportError::new(Kind::Dns, format_args!("{host} has no address: {error}")),
    }
    .caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;

    #[test]
    fn what_nobody_waits_for_is_not_begun() {
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build();
        runtime.expect("a runtime").block_on(async {
            let (release, wait) = channel::<()>();
            let first = tokio::spawn(on_a_thread(move || wait.recv().is_err()));
            tokio::task::yield_now().await;
            let is_begun = Arc::new(AtomicBool::new(false));
            let begin = Arc::clone(&is_begun);
            let second = tokio::spawn(on_a_thread(move || begin.store(true, Ordering::SeqCst)));
            tokio::task::yield_now().await;
            second.abort();
            assert!(second.await.is_err_and(|error| error.is_cancelled()));
            drop(release);
            assert!(first.await.is_ok_and(|done| done.is_ok()));
            assert!(on_a_thread(|| ()).await.is_ok());
            assert!(!is_begun.load(Ordering::SeqCst));
        });
    }
}
