//! Whether a service can run with a configuration.

use super::{Config, ConfigError};

impl Config {
    /// Whether a service can run with it.
    ///
    /// # Errors
    /// When it would be open to a network by accident, or a limit would reject everything.
    pub fn check(&self) -> Result<(), ConfigError> {
        let is_closed = self.keys.is_some() || self.tls.is_some();
        if !self.listen.ip().is_loopback() && !is_closed && !self.listen_openly {
            return Err(ConfigError::new(format_args!(
                "{} can be reached from other machines, and any client could make it fetch files: require \
                 keys (--keys), use TLS (--tls-certificate, --tls-key), or confirm that this is intended \
                 (--listen-openly; listen_openly in the configuration)",
                self.listen
            )));
        }
        let limits = &self.limits;
        for (name, value) in [
            ("body_octets", limits.body_octets),
            ("all_bodies_octets", limits.all_bodies_octets),
            ("array", limits.array),
            ("in_flight", limits.in_flight),
            ("connections", limits.connections),
            ("connections_per_client", limits.connections_per_client.unwrap_or(1)),
        ] {
            if value == 0 {
                return Err(ConfigError::new(format_args!(
                    "limits.{name} is 0, so no request could be answered"
                )));
            }
        }
        if limits.all_bodies_octets < limits.body_octets {
            let message = "limits.all_bodies_octets is less than limits.body_octets: a body of the allowed size could never be read";
            return Err(ConfigError::new(message));
        }
        let fetch = &self.fetch;
        for (name, value) in [
            ("limits.work", limits.work),
            ("fetch.connections_per_host", fetch.connections_per_host as u64),
            ("fetch.connections", fetch.connections as u64),
        ] {
            if value == 0 {
                let why = "is 0, so no request could be answered";
                return Err(ConfigError::new(format_args!("{name} {why}")));
            }
        }
        for (name, seconds) in [
            ("limits.request_seconds", limits.request_seconds),
            ("limits.header_seconds", limits.header_seconds),
            ("limits.idle_seconds", limits.idle_seconds),
            ("fetch.timeout_seconds", fetch.timeout_seconds),
        ] {
            if !(1..=MOST_SECONDS).contains(&seconds) {
                return Err(ConfigError::new(format_args!(
                    "{name} is {seconds}: a time limit has to be from 1 to {MOST_SECONDS} seconds"
                )));
            }
        }
        for (name, time, most) in [
            ("limits.shutdown_seconds", limits.shutdown_seconds, MOST_SECONDS),
            ("limits.queue_milliseconds", limits.queue_milliseconds, MOST_SECONDS * 1000),
        ] {
            if time > most {
                return Err(ConfigError::new(format_args!(
                    "{name} is {time}, but at most {most} is allowed"
                )));
            }
        }
        self.hosts.iter().try_for_each(|name| check_host(name))?;
        crate::logging::filter(&self.log.level).map(drop)
    }
}

/// No time limit may be longer than a day.
const MOST_SECONDS: u64 = 24 * 60 * 60;

/// Whether a name is one that a request can have in its Host field.
fn check_host(name: &str) -> Result<(), ConfigError> {
    let shown = name.escape_debug();
    let wrong = |why: &str| Err(ConfigError::new(format_args!("hosts: `{shown}` {why}")));
    if name.contains("://") || name.contains('/') {
        return wrong("is a URL: give only the name, such as mayi.example");
    }
    if name.contains(':') {
        return wrong(
            "has a port or is an address: give only the name, such as mayi.example; \
             addresses always work",
        );
    }
    let fits = |octet: u8| octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_');
    if name.is_empty() || !name.bytes().all(fits) {
        return wrong(
            "is not a host name: give it in ASCII, such as mayi.example or xn--bcher-kva.example",
        );
    }
    Ok(())
}
