//! Words → a fetcher.

use std::fmt;
use std::sync::Arc;

use mayi::report::Answering;
use rustls::pki_types::CertificateDer;

use crate::attempt::Means;
use crate::clock::{Clock, SystemClock};
use crate::dial::{Connector, Dialer, Resolver, SystemResolver, TcpConnector};
use crate::events::Listener;
use crate::fetcher::{Fetcher, Inner, ReadyWeight};
use crate::guard::Guard;
use crate::held;
use crate::http::Http;
use crate::lifecycle::Policy;
use crate::manners::Manners;
use crate::roots::InvalidRoots;
use crate::store::{MemoryStore, Store};
use crate::transport::{BySchemes, Patience, Transport};

/// A little more than the limit of a file is fetched, so that it is visible that the file is longer.
const BEHIND_THE_LIMIT: usize = 4;

/// What a fetcher is made from.
///
/// ```
/// use mayi_fetch::{Fetcher, guard::Guard};
///
/// let builder = Fetcher::builder("ExampleBot/1.0 (+https://example.com/bot)")?;
/// assert_eq!(builder.advice(), None);
/// let fetcher = builder.guard(Guard::default()).connections(4, 1000).build();
///
/// assert!(Fetcher::builder("").is_err());
/// let advice = Fetcher::builder("ExampleBot/1.0")?.advice();
/// assert!(advice.is_some_and(|advice| advice.contains("contact")));
/// # Ok::<(), mayi_fetch::InvalidUserAgent>(())
/// ```
#[must_use]
pub struct Builder {
    user_agent: Box<str>,
    answering: Answering,
    policy: Policy,
    patience: Patience,
    guard: Guard,
    roots: Vec<CertificateDer<'static>>,
    per_host: usize,
    in_total: usize,
    waiting: usize,
    ready_octets: u64,
    offline: bool,
    store: Option<Arc<dyn Store>>,
    listener: Option<Arc<dyn Listener>>,
    clock: Arc<dyn Clock>,
    resolver: Arc<dyn Resolver>,
    connector: Arc<dyn Connector>,
    transport: Option<Arc<dyn Transport>>,
}

impl Builder {
    pub(crate) const CONNECTIONS_PER_HOST: usize = 2;
    pub(crate) const CONNECTIONS: usize = 256;

    pub(crate) fn new(user_agent: &str) -> Result<Self, InvalidUserAgent> {
        let text = user_agent.trim();
        let can_be_sent = text.bytes().all(|octet| matches!(octet, b' '..=b'~'));
        // RFC 9110 §10.1.5: it begins with a product.
        let names_somebody = text.starts_with(|first: char| first.is_ascii_alphanumeric());
        if !can_be_sent || !names_somebody {
            return Err(InvalidUserAgent { text: text.into() });
        }
        Ok(Self {
            user_agent: text.into(),
            answering: Answering::default(),
            policy: Policy::default(),
            patience: Patience::default(),
            guard: Guard::default(),
            roots: Vec::new(),
            per_host: Self::CONNECTIONS_PER_HOST,
            in_total: Self::CONNECTIONS,
            waiting: 4096,
            ready_octets: 256 << 20,
            offline: false,
            store: None,
            listener: None,
            clock: Arc::new(SystemClock),
            resolver: Arc::new(SystemResolver),
            connector: Arc::new(TcpConnector),
            transport: None,
        })
    }

    /// How the User-Agent string could be improved, if it could.
    pub fn advice(&self) -> Option<&'static str> {
        let has_contact = ["http://", "https://", "@"].iter().any(|it| self.user_agent.contains(it));
        (!has_contact).then_some(
            "the User-Agent string has no contact: add a URL or an address where site owners can \
             report problems, as in `ExampleBot/1.0 (+https://example.com/bot)`",
        )
    }

    /// How requests are answered: the dialect, the registry, the limits of a file.
    pub fn answering(self, answering: Answering) -> Self {
        Self { answering, ..self }
    }

    /// How files are kept.
    pub fn policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// How long a server may take, and how much it may send.
    pub fn patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// What may be connected to.
    pub fn guard(self, guard: Guard) -> Self {
        Self { guard, ..self }
    }

    /// Trusts the certificates of a PEM file in addition to those of the system.
    ///
    /// # Errors
    /// When the text has none, or one that can't be read.
    pub fn extra_roots(mut self, pem: &[u8]) -> Result<Self, InvalidRoots> {
        self.roots.extend(crate::roots::read(pem)?);
        Ok(self)
    }

    /// How many connections there may be at once, to one host and in total.
    pub fn connections(self, per_host: usize, in_total: usize) -> Self {
        Self { per_host, in_total, ..self }
    }

    /// How many fetches may wait for a connection for clients that were named
    /// ([`Fetcher::on_behalf_of`]), 4096 by default. If there are more, the client with the most waiting
    /// fetches loses the newest one: its caller gets the answer that the file is unreachable.
    pub fn waiting(self, waiting: usize) -> Self {
        Self { waiting, ..self }
    }

    /// Where fetched files are cached; default: in memory.
    pub fn store(self, store: Arc<dyn Store>) -> Self {
        Self { store: Some(store), ..self }
    }

    /// Reports events to this listener: failures of the store, faults of this machine, and what the guard
    /// refused.
    pub fn listener(self, listener: Arc<dyn Listener>) -> Self {
        Self { listener: Some(listener), ..self }
    }

    /// How many octets of parsed files are held in memory, in front of the store.
    pub fn ready_octets(self, octets: u64) -> Self {
        Self { ready_octets: octets, ..self }
    }

    /// Sends no request: answers from the cache, however old its entries are.
    pub fn offline(self, offline: bool) -> Self {
        Self { offline, ..self }
    }

    /// Uses this clock.
    pub fn clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Resolves names with this resolver.
    pub fn resolver(self, resolver: Arc<dyn Resolver>) -> Self {
        Self { resolver, ..self }
    }

    /// Opens connections with this connector. It is called only for addresses that the guard allows.
    pub fn connector(self, connector: Arc<dyn Connector>) -> Self {
        Self { connector, ..self }
    }

    /// Sends requests with this transport instead of HTTP. The guard does not apply to it.
    pub fn transport(self, transport: Arc<dyn Transport>) -> Self {
        Self { transport: Some(transport), ..self }
    }

    /// The fetcher.
    pub fn build(self) -> Fetcher {
        let dialer = Dialer {
            resolver: self.resolver,
            connector: self.connector,
            clock: Arc::clone(&self.clock),
            guard: Arc::new(self.guard),
            timeout: self.patience.connect,
        };
        let (patience, roots) = (self.patience, self.roots);
        let transport = self.transport.unwrap_or_else(|| {
            Arc::new(BySchemes {
                #[cfg(feature = "ftp")]
                ftp: Arc::new(crate::ftp::Ftp::new(dialer.clone(), patience)),
                http: Arc::new(Http::new(dialer, patience, roots)),
            })
        });
        let limits = self.answering.limits();
        let means = Means {
            transport,
            clock: Arc::clone(&self.clock),
            manners: Manners::new(self.per_host, self.in_total, self.waiting),
            user_agent: self.user_agent,
            body_octets: limits.file_octets() + BEHIND_THE_LIMIT,
            total: self.patience.total,
        };
        // A ready file takes about three times its size.
        let largest = limits.file_octets().saturating_mul(3) as u64;
        Fetcher::from_inner(Inner {
            policy: self.policy,
            answering: self.answering,
            means,
            clock: self.clock,
            store: self.store.unwrap_or_else(|| Arc::new(MemoryStore::new(256 << 20))),
            ready: held::cache(self.ready_octets, 4096, largest, ReadyWeight),
            offline: self.offline,
            counters: crate::stats::Counters::told_to(self.listener),
            flights: std::sync::Mutex::default(),
            routeless: quick_cache::sync::Cache::new(4096),
            paged: quick_cache::sync::Cache::new(4096),
            clients: std::hash::RandomState::new(),
        })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("user_agent", &self.user_agent).finish_non_exhaustive()
    }
}

/// A User-Agent string that can't be sent, or names no product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidUserAgent {
    text: Box<str>,
}

impl fmt::Display for InvalidUserAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.escape_debug();
        write!(
            f,
            "`{text}` can't be the User-Agent string of a crawler: it begins with the crawler's name \
             and is plain ASCII, as `ExampleBot/1.0 (+https://example.com/bot)`"
        )
    }
}

impl std::error::Error for InvalidUserAgent {}
