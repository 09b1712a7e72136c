//! Options → a fetcher: the one way from a command line or a configuration.

use std::fmt;
use std::time::Duration;

use crate::builder::{Builder, InvalidUserAgent};
use crate::guard::{AddressRange, Guard};
use crate::roots::InvalidRoots;
use crate::store::{self, StoreError};
use crate::transport::Patience;

/// The options of a fetcher.
///
/// ```
/// use std::time::Duration;
/// use mayi_fetch::FetchOptions;
///
/// let mut options = FetchOptions::new("ExampleBot/1.0 (+https://example.com/bot)");
/// options.timeout = Duration::from_secs(10);
/// options.store = Some("memory".to_owned());
/// let fetcher = options.builder_with_store()?.build();
/// # Ok::<(), mayi_fetch::InvalidOption>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FetchOptions {
    /// The User-Agent string to fetch with.
    pub fetch_as: String,
    /// Whether to connect to private, loopback and other special addresses too, and to any port.
    pub allow_private: bool,
    /// Special addresses that may be connected to.
    pub allow_addresses: Vec<AddressRange>,
    /// How long a server has for its whole answer.
    pub timeout: Duration,
    /// Root certificates to trust in addition to the system's, in PEM form, for sites and for the store; none if it is empty.
    pub roots: Vec<u8>,
    /// Whether to send no request.
    pub offline: bool,
    /// How many connections there may be at once to one host.
    pub connections_per_host: usize,
    /// How many connections there may be at once in total.
    pub connections: usize,
    /// The store, as [`store::open`] names them; without one, files are cached in memory.
    pub store: Option<String>,
    /// How many octets the store may take.
    pub store_octets: u64,
}

impl FetchOptions {
    /// The defaults.
    pub fn new(fetch_as: &str) -> Self {
        Self {
            fetch_as: fetch_as.to_owned(),
            allow_private: false,
            allow_addresses: Vec::new(),
            timeout: Patience::default().total,
            roots: Vec::new(),
            offline: false,
            connections_per_host: Builder::CONNECTIONS_PER_HOST,
            connections: Builder::CONNECTIONS,
            store: None,
            store_octets: 4 << 30,
        }
    }

    /// A builder with these options and with the store, which is opened. A shared store needs the call to be inside a tokio
    /// runtime.
    ///
    /// # Errors
    /// As those of [`builder`](Self::builder), and when the store can't be opened.
    pub fn builder_with_store(&self) -> Result<Builder, InvalidOption> {
        let builder = self.builder()?;
        let Some(name) = &self.store else { return Ok(builder) };
        let opened = store::open_trusting(name, self.store_octets, &self.roots);
        Ok(builder.store(opened.map_err(InvalidOption::Store)?))
    }

    /// A builder with these options, but without the store.
    ///
    /// # Errors
    /// When the User-Agent string or the certificates can't be used.
    pub fn builder(&self) -> Result<Builder, InvalidOption> {
        let guard = if self.allow_private { Guard::allowing_all() } else { Guard::default() };
        let guard = self.allow_addresses.iter().fold(guard, |guard, range| guard.allowing(*range));
        let mut patience = Patience::default();
        patience.total = self.timeout;
        patience.connect = patience.connect.min(patience.total);
        patience.first_byte = patience.first_byte.min(patience.total);
        let builder = Builder::new(&self.fetch_as).map_err(InvalidOption::UserAgent)?;
        let builder = builder
            .guard(guard)
            .patience(patience)
            .offline(self.offline)
            .connections(self.connections_per_host, self.connections);
        if self.roots.is_empty() {
            return Ok(builder);
        }
        builder.extra_roots(&self.roots).map_err(InvalidOption::Roots)
    }
}

/// An option that can't be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum InvalidOption {
    /// The User-Agent string can't be sent, or names no product.
    UserAgent(InvalidUserAgent),
    /// The certificates can't be read.
    Roots(InvalidRoots),
    /// The store can't be opened.
    Store(StoreError),
}

impl fmt::Display for InvalidOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UserAgent(error) => error.fmt(f),
            Self::Roots(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InvalidOption {
    /// What is behind the error that it shows.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::UserAgent(error) => error.source(),
            Self::Roots(error) => error.source(),
            Self::Store(error) => error.source(),
        }
    }
}
