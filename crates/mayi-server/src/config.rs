//! The text of a configuration → values, with defaults.

mod check;
mod fetcher;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How a service runs. Settings that are not listed here are an error in a configuration file.
///
/// ```
/// use mayi_server::Config;
///
/// let config = Config::default();
/// assert!(config.listen.ip().is_loopback());
/// assert!(config.check().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Config {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Whether it may listen on another address than loopback with neither keys nor TLS.
    pub listen_openly: bool,
    /// Its host names, in addition to addresses and `localhost`: see `hosts` in docs/operations.md.
    pub hosts: Vec<String>,
    /// A file of keys, one of which a client has to send; without it no key is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<PathBuf>,
    /// TLS, if it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Limits.
    pub limits: ServiceLimits,
    /// How files are fetched and cached.
    pub fetch: Fetching,
    /// How files are read.
    pub reading: ReadSettings,
    /// Logs and traces.
    pub log: Logging,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 9309)),
            listen_openly: false,
            hosts: Vec::new(),
            keys: None,
            tls: None,
            limits: ServiceLimits::default(),
            fetch: Fetching::default(),
            reading: ReadSettings::default(),
            log: Logging::default(),
        }
    }
}

/// The files of a certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Tls {
    /// The certificate and the intermediate certificates, in PEM form.
    pub certificate: PathBuf,
    /// Its key, in PEM form.
    pub key: PathBuf,
}

impl Tls {
    /// These files.
    pub fn new(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self { certificate: certificate.into(), key: key.into() }
    }
}

/// Limits, so that an overloaded service gets slow and says so before it uses too much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ServiceLimits {
    /// Octets of a body; of a line where it is NDJSON.
    pub body_octets: usize,
    /// Octets of all bodies that are being read or answered, and of all answers that are not sent yet.
    pub all_bodies_octets: usize,
    /// Requests in an array.
    pub array: usize,
    /// Units of work that one request may cost, if its answer needs more than a pass over its input; a unit
    /// is about 40 instructions.
    pub work: u64,
    /// Requests that are being answered.
    pub in_flight: usize,
    /// Requests that wait for one of those slots.
    pub queue: usize,
    /// How long they wait at most.
    pub queue_milliseconds: u64,
    /// Connections.
    pub connections: usize,
    /// Connections of one address, or of one /64 network of IPv6; default: half of all. Behind a proxy all
    /// connections are the proxy's: set it to the number of all connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections_per_client: Option<usize>,
    /// Requests per second of one client; 0 means no limit.
    pub rate: u32,
    /// How many it may send at once after a pause; 0 means as many as `rate`.
    pub burst: u32,
    /// How long one request may take, its body included; NDJSON may take longer.
    pub request_seconds: u64,
    /// How long a client may take for its header fields.
    pub header_seconds: u64,
    /// How long a connection may be silent in both directions.
    pub idle_seconds: u64,
    /// How long shutdown waits for accepted requests.
    pub shutdown_seconds: u64,
}

impl Default for ServiceLimits {
    fn default() -> Self {
        Self {
            body_octets: 16 << 20,
            all_bodies_octets: 256 << 20,
            array: 10_000,
            work: 30_000_000,
            in_flight: 512,
            queue: 1024,
            queue_milliseconds: 1000,
            connections: 10_000,
            connections_per_client: None,
            rate: 0,
            burst: 0,
            request_seconds: 60,
            header_seconds: 10,
            idle_seconds: 75,
            shutdown_seconds: 30,
        }
    }
}

/// How files are fetched and cached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Fetching {
    /// The User-Agent string to fetch with; it should have a contact.
    pub fetch_as: String,
    /// Where files are cached: `memory`, a path, or `redis://host:port` (`rediss` for TLS).
    pub store: String,
    /// How many octets a local store may use; a shared store has its own limit.
    pub store_octets: u64,
    /// How many octets of files are held in memory, read and ready, in front of the store.
    pub ready_octets: u64,
    /// Whether no site is contacted: answers use the cache, however old it is.
    pub offline: bool,
    /// Whether private, loopback and other special addresses are connected to, and any port.
    pub allow_private: bool,
    /// Special addresses that may be connected to, such as `10.0.0.0/8`.
    pub allow_addresses: Vec<String>,
    /// How many seconds a site has for its complete response.
    pub timeout_seconds: u64,
    /// How many connections there may be to one host.
    pub connections_per_host: usize,
    /// How many connections there may be in all.
    pub connections: usize,
    /// Root certificates to trust in addition to the system's, in PEM form, for sites and for the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<PathBuf>,
}

impl Default for Fetching {
    fn default() -> Self {
        Self {
            fetch_as: concat!("mayi/", env!("CARGO_PKG_VERSION")).to_owned(),
            store: "memory".to_owned(),
            store_octets: 4 << 30,
            ready_octets: 512 << 20,
            offline: false,
            allow_private: false,
            allow_addresses: Vec::new(),
            timeout_seconds: 30,
            connections_per_host: 2,
            connections: 256,
            roots: None,
        }
    }
}

/// How files are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ReadSettings {
    /// The default dialect of requests.
    pub dialect: String,
    /// Extensions that are switched off.
    pub no_extensions: Vec<String>,
    /// Registry files that extend the built-in registries.
    pub registries: Vec<PathBuf>,
    /// Whether only registered purposes are accepted, whatever a request says.
    pub registered_purposes_only: bool,
    /// Whether a crawler's own entry of a structured Robots-Tag is combined with the global one, whatever a
    /// request says.
    pub union: bool,
}

impl Default for ReadSettings {
    fn default() -> Self {
        Self {
            dialect: mayi::Dialect::default().name().to_owned(),
            no_extensions: Vec::new(),
            registries: Vec::new(),
            registered_purposes_only: false,
            union: false,
        }
    }
}

/// What is written about the service, to standard error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Logging {
    /// Which lines: `error`, `warn`, `info`, `debug`, or a filter such as `mayi_server=debug,warn`.
    pub level: String,
    /// In which form.
    pub format: LogFormat,
    /// Whether every request is logged; internal errors always are.
    pub requests: bool,
    /// Where traces are sent, as OTLP over HTTP: the URL of a collector, such as `http://127.0.0.1:4318`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traces: Option<String>,
    /// Header fields for the collector, as `name=value`.
    pub trace_headers: Vec<String>,
    /// The name of the service in traces.
    pub service_name: String,
}

impl Default for Logging {
    fn default() -> Self {
        Self {
            level: "info".to_owned(),
            format: LogFormat::Text,
            requests: false,
            traces: None,
            trace_headers: Vec::new(),
            service_name: "mayi".to_owned(),
        }
    }
}

/// The form of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs, one object per line.
    Json,
}

impl Config {
    /// Reads a configuration from TOML.
    ///
    /// ```
    /// use mayi_server::Config;
    ///
    /// let config = Config::from_toml("[limits]\narray = 100\n").expect("a configuration");
    /// assert_eq!(config.limits.array, 100);
    /// let error = Config::from_toml("lissen = '127.0.0.1:80'\n").unwrap_err();
    /// assert!(error.to_string().contains("unknown field `lissen`"));
    /// ```
    ///
    /// # Errors
    /// When it is not TOML, or a setting is unknown or wrong.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| ConfigError::new(in_words(&error.to_string())))
    }

    /// The same for TOML that was put together from several sources: an error names the setting and no line.
    ///
    /// # Errors
    /// When it is not TOML, or a setting is unknown or wrong.
    pub fn from_merged_toml(text: &str) -> Result<Self, ConfigError> {
        let wrong = |error: toml::de::Error| ConfigError::new(in_words(&error.to_string()));
        text.parse::<toml::Table>().and_then(toml::Table::try_into).map_err(wrong)
    }

    /// The path of every setting, for environment variables and command-line options.
    pub const MEMBERS: &[&str] = &[
        "listen",
        "listen_openly",
        "hosts",
        "keys",
        "tls.certificate",
        "tls.key",
        "limits.body_octets",
        "limits.all_bodies_octets",
        "limits.array",
        "limits.work",
        "limits.in_flight",
        "limits.queue",
        "limits.queue_milliseconds",
        "limits.connections",
        "limits.connections_per_client",
        "limits.rate",
        "limits.burst",
        "limits.request_seconds",
        "limits.header_seconds",
        "limits.idle_seconds",
        "limits.shutdown_seconds",
        "fetch.fetch_as",
        "fetch.store",
        "fetch.store_octets",
        "fetch.ready_octets",
        "fetch.offline",
        "fetch.allow_private",
        "fetch.allow_addresses",
        "fetch.timeout_seconds",
        "fetch.connections_per_host",
        "fetch.connections",
        "fetch.roots",
        "reading.dialect",
        "reading.no_extensions",
        "reading.registries",
        "reading.registered_purposes_only",
        "reading.union",
        "log.level",
        "log.format",
        "log.requests",
        "log.traces",
        "log.trace_headers",
        "log.service_name",
    ];

    /// The settings that are strings, whatever they look like.
    pub const TEXTS: &[&str] = &[
        "listen",
        "keys",
        "tls.certificate",
        "tls.key",
        "fetch.fetch_as",
        "fetch.store",
        "fetch.roots",
        "reading.dialect",
        "log.level",
        "log.format",
        "log.traces",
        "log.service_name",
    ];

    /// The settings that are lists of strings.
    pub const LISTS: &[&str] = &[
        "hosts",
        "fetch.allow_addresses",
        "reading.no_extensions",
        "reading.registries",
        "log.trace_headers",
    ];
}

/// The message of the TOML parser, in words for people.
fn in_words(error: &str) -> String {
    let mut words = error.to_owned();
    for (kind, said) in [
        ("usize", "a whole number"),
        ("u64", "a whole number"),
        ("u32", "a whole number"),
        ("a boolean", "true or false"),
        ("a sequence", "a list"),
        ("path string", "a path"),
        ("a string", "a text"),
        ("socket address", "an address with a port, such as 127.0.0.1:9309"),
    ] {
        words = words.replace(&format!("expected {kind}"), &format!("expected {said}"));
    }
    if let Some(start) = words.find("expected struct ") {
        let rest = &words[start + "expected struct ".len()..];
        let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
        words = format!("{}expected a table{}", &words[..start], &rest[end..]);
    }
    words
}

impl Config {
    /// The configuration as TOML, without secrets.
    ///
    /// # Panics
    /// Never: every member can be written.
    pub fn to_toml(&self) -> String {
        let mut shown = self.clone();
        shown.fetch.store = without_password(&shown.fetch.store);
        shown.log.traces = shown.log.traces.as_deref().map(without_password);
        for field in &mut shown.log.trace_headers {
            let name = field.split('=').next().unwrap_or_default();
            *field = format!("{name}=***");
        }
        toml::to_string(&shown).expect("a configuration is TOML")
    }
}

/// A URL without the password that it may have.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let Some((login, hosts)) = rest.rsplit_once('@') else { return url.to_owned() };
    let user = login.split(':').next().unwrap_or_default();
    format!("{scheme}://{user}:***@{hosts}")
}

/// A configuration that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self(message.to_string())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A configuration with every setting.
    fn full() -> Config {
        let mut config = Config {
            keys: Some("keys.toml".into()),
            tls: Some(Tls { certificate: "a.pem".into(), key: "b.pem".into() }),
            ..Config::default()
        };
        config.limits.connections_per_client = Some(100);
        config.fetch.roots = Some("roots.pem".into());
        config.log.traces = Some("http://127.0.0.1:4318/v1/traces".to_owned());
        config
    }

    fn paths(table: &toml::Table, before: &str, found: &mut Vec<(String, toml::Value)>) {
        for (name, value) in table {
            match value {
                toml::Value::Table(inner) => paths(inner, &format!("{before}{name}."), found),
                value => found.push((format!("{before}{name}"), value.clone())),
            }
        }
    }

    #[test]
    fn every_member_is_listed() {
        let table: toml::Table = full().to_toml().parse().expect("TOML");
        let mut found = Vec::new();
        paths(&table, "", &mut found);
        let sorted = |paths: &mut Vec<&str>| {
            paths.sort_unstable();
            paths.join("\n")
        };
        let mut all: Vec<_> = found.iter().map(|(path, _)| &**path).collect();
        assert_eq!(sorted(&mut all), sorted(&mut Config::MEMBERS.to_vec()));
        for (is, listed) in [
            (toml::Value::is_str as fn(&_) -> _, Config::TEXTS),
            (toml::Value::is_array, Config::LISTS),
        ] {
            let mut those: Vec<_> =
                found.iter().filter(|(_, value)| is(value)).map(|(path, _)| &**path).collect();
            assert_eq!(sorted(&mut those), sorted(&mut listed.to_vec()));
        }
        assert_eq!(Config::from_merged_toml(&table.to_string()), Ok(full()));
    }

    #[test]
    fn a_password_is_not_shown() {
        let mut config = Config::default();
        config.fetch.store = "redis://me:pass@word@host:6379/0".to_owned();
        config.log.traces = Some("https://me:password@host/".to_owned());
        config.log.trace_headers = vec!["authorization=Basic word".to_owned()];
        let shown = config.to_toml();
        assert!(shown.contains("redis://me:***@host:6379/0") && !shown.contains("word"), "{shown}");
        assert!(
            shown.contains("https://me:***@host/") && shown.contains("authorization=***"),
            "{shown}"
        );
    }

    #[test]
    fn what_cannot_be_meant_is_refused_in_words() {
        for (text, words) in [
            ("[fetch]\ntimeout_seconds = 0", "fetch.timeout_seconds is 0"),
            ("[limits]\nidle_seconds = 0", "from 1 to 86400 seconds"),
            ("[limits]\nrequest_seconds = 9223372036854775807", "from 1 to 86400 seconds"),
            ("[limits]\nwork = 0", "limits.work is 0"),
            ("[fetch]\nconnections = 0", "fetch.connections is 0"),
            ("[log]\nlevel = 'loud'", "`loud` is not a level"),
            ("hosts = ['https://mayi.example']", "is a URL"),
            ("hosts = ['mayi.example:80']", "has a port"),
            ("hosts = ['']", "is not a host name"),
            ("[limits]\narray = 'many'", "expected a whole number"),
            ("[limits]\narray = -1", "expected a whole number"),
            ("[limits]\nrate = 1.5", "expected a whole number"),
            ("limits = 5", "expected a table"),
            ("listen_openly = 1", "expected true or false"),
            ("hosts = 'a'", "expected a list"),
            ("listen = 'x'", "address"),
        ] {
            let read = Config::from_toml(text).and_then(|config| config.check());
            let error = read.expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
            for kind in ["usize", "u64", "u32", "struct"] {
                assert!(!error.contains(kind), "{text}: {error}");
            }
        }
    }

    #[test]
    fn a_service_is_open_to_others_only_by_intent() {
        let listen = "0.0.0.0:9309".parse().expect("an address");
        let mut config = Config { listen, ..Config::default() };
        assert!(config.check().unwrap_err().to_string().contains("listen_openly"));
        assert_eq!(Config { listen_openly: true, ..config.clone() }.check(), Ok(()));
        assert_eq!(Config { keys: Some("keys".into()), ..config.clone() }.check(), Ok(()));
        config.listen = "[::1]:9309".parse().expect("an address");
        assert_eq!(config.check(), Ok(()));
        config.limits.in_flight = 0;
        assert!(config.check().is_err());
    }
}
