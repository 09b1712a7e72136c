//! Options → a fetcher: the one way from a command line or a configuration.

use std::fmt;
use std::time::Duration;

use crate::builder::{Builder, InvalidUserAgent};
use crate::guard::{AddressRange, Guard};
use crate::roots::InvalidRoots;
use crate::transport::Patience;

/// The options of a fetcher.
///
/// ```
/// use std::time::Duration;
/// use mayi_fetch::FetchOptions;
///
/// let mut options = FetchOptions::new("ExampleBot/1.0 (+https://example.com/bot)");
/// options.timeout = Duration::from_secs(10);
/// options.offline = true;
/// let fetcher = options.builder()?.connections(4, 1000).build();
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
    /// Root certificates to trust in addition to the system's, in PEM form; none if it is empty.
    pub roots: Vec<u8>,
    /// Whether to send no request.
    pub offline: bool,
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
        }
    }

    /// A builder with these options. The caller sets the store, and how requests are answered.
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
        let builder = builder.guard(guard).patience(patience).offline(self.offline);
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
}

impl fmt::Display for InvalidOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UserAgent(error) => error.fmt(f),
            Self::Roots(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InvalidOption {}
