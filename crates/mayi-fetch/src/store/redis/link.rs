//! The connection to a server or a cluster: sends commands, and returns answers or a quick error.
//!
//! It connects when it is first needed and again when the connection is lost. A command that lost its
//! connection is sent once more, so commands must be safe to repeat.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{RoutingInfo, SingleNodeRoutingInfo};
use redis::{
    Client, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, FromRedisValue, IntoConnectionInfo,
    RedisError, TlsCertificates, Value, cmd,
};

use super::RedisOptions;
use crate::clock::{at_most, moment};
use crate::roots;
use crate::store::{StoreError, StoreErrorKind};

/// How many slots a cluster has, and how many of them share a pause: a node that is down must not
/// keep anybody from the others.
const SLOTS: u16 = 16384;
const SLOTS_OF_A_PAUSE: u16 = 256;

/// The way to a server or to a cluster.
pub(super) struct Link {
    shown: String,
    timeout: Duration,
    pause: Duration,
    way: Way,
    /// Until when no command is sent, and why; one for a server, one for each range of slots of a cluster.
    paused: Box<[Pause]>,
}

/// Until when no command is sent, and the last error.
type Pause = Mutex<Option<(Instant, StoreErrorKind, String)>>;

/// A node of a cluster: its host and its port.
pub(super) type Node = (String, u16);

enum Way {
    Server(ConnectionManager),
    // The connection is there once it could be made.
    Cluster(Box<ClusterClient>, tokio::sync::Mutex<Option<ClusterConnection>>),
}

impl Link {
    pub(super) fn to(url: &str, options: &RedisOptions) -> Result<Self, StoreError> {
        let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
        let certificates = match scheme.split('+').next() {
            Some("rediss" | "valkeys") => Some(certificates(&options.extra_roots)?),
            _ => None,
        };
        match scheme.strip_suffix("+cluster") {
            Some(scheme) => Self::to_cluster(scheme, url, options, certificates),
            None => Self::to_server(url, options, certificates),
        }
    }

    fn to_server(
        url: &str,
        options: &RedisOptions,
        certificates: Option<TlsCertificates>,
    ) -> Result<Self, StoreError> {
        let info = read(url)?;
        let shown = format!("Redis at {}", info.addr());
        let client = match certificates {
            Some(certificates) => Client::build_with_tls(info, certificates),
            None => Client::open(info),
        };
        // The pause is the time between two attempts to connect.
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(1)
            .set_min_delay(Duration::from_millis(10))
            .set_max_delay(Duration::from_millis(50))
            .set_connection_timeout(Some(options.timeout))
            .set_response_timeout(Some(options.timeout));
        let manager = client
            .and_then(|client| ConnectionManager::new_lazy_with_config(client, config))
            .map_err(wrong)?;
        Ok(Self {
            shown,
            timeout: options.timeout,
            pause: options.pause,
            way: Way::Server(manager),
            paused: Box::new([Mutex::default()]),
        })
    }

    fn to_cluster(
        scheme: &str,
        url: &str,
        options: &RedisOptions,
        certificates: Option<TlsCertificates>,
    ) -> Result<Self, StoreError> {
        let nodes = url.split_once("://").map_or("", |(_, nodes)| nodes);
        let (user, nodes) = nodes.rsplit_once('@').unwrap_or(("", nodes));
        let at = if user.is_empty() { "" } else { "@" };
        let nodes = nodes.trim_end_matches('/').split(',');
        let nodes: Result<Vec<ConnectionInfo>, _> =
            nodes.map(|node| read(&format!("{scheme}://{user}{at}{node}"))).collect();
        let nodes = nodes?;
        let shown: Vec<_> = nodes.iter().map(|node| node.addr().to_string()).collect();
        let mut builder = ClusterClient::builder(nodes)
            .retries(3)
            .min_retry_wait(10)
            .max_retry_wait(100)
            .connection_timeout(options.timeout)
            .response_timeout(options.timeout);
        if let Some(certificates) = certificates {
            builder = builder.certs(certificates);
        }
        let client = builder.build().map_err(wrong)?;
        Ok(Self {
            shown: format!("Redis cluster of {}", shown.join(", ")),
            timeout: options.timeout,
            pause: options.pause,
            way: Way::Cluster(Box::new(client), tokio::sync::Mutex::default()),
            paused: (0..SLOTS / SLOTS_OF_A_PAUSE).map(|_| Mutex::default()).collect(),
        })
    }

    pub(super) fn describe(&self) -> String {
        self.shown.clone()
    }

    /// Sends a command, and reads its answer. Where it is about one origin, and a node that is asked
    /// about that one has just not answered, it does not wait.
    pub(super) async fn ask<T: FromRedisValue>(
        &self,
        origin: Option<&str>,
        command: &Cmd,
    ) -> Result<T, StoreError> {
        self.answer(self.pause_of(origin), command, None).await
    }

    /// Sends a command to a node as [`nodes`](Self::nodes) named it.
    pub(super) async fn ask_node<T: FromRedisValue>(
        &self,
        node: Option<&Node>,
        command: &Cmd,
    ) -> Result<T, StoreError> {
        self.answer(self.pause_of(None), command, node).await
    }

    /// The nodes that have keys; a server is one that needs no name.
    pub(super) async fn nodes(&self) -> Result<Vec<Option<Node>>, StoreError> {
        if let Way::Server(_) = self.way {
            return Ok(vec![None]);
        }
        let mut command = cmd("CLUSTER");
        command.arg("SLOTS");
        let ranges: Vec<Vec<Value>> = self.ask(None, &command).await?;
        let mut nodes = Vec::new();
        let mut slots = 0_u32;
        for range in ranges {
            let (first, last, node) = read_range(range).ok_or_else(|| {
                self.error(StoreErrorKind::Other, "the cluster does not list its nodes")
            })?;
            slots += u32::from(last.saturating_sub(first)) + 1;
            if !nodes.contains(&Some(node.clone())) {
                nodes.push(Some(node));
            }
        }
        if slots < u32::from(SLOTS) {
            return Err(
                self.error(StoreErrorKind::Unreachable, "some slots of the cluster have no node")
            );
        }
        Ok(nodes)
    }

    async fn answer<T: FromRedisValue>(
        &self,
        pause: Option<&Pause>,
        command: &Cmd,
        node: Option<&Node>,
    ) -> Result<T, StoreError> {
        let lately = |pause: &Pause| {
            let paused = pause.lock().unwrap_or_else(PoisonError::into_inner);
            let (_, kind, why) = paused.as_ref().filter(|(until, ..)| moment() < *until)?;
            Some(self.error(*kind, &format!("it did not respond a moment ago: {why}")))
        };
        if let Some(error) = pause.and_then(lately) {
            return Err(error);
        }
        let answer = at_most(self.timeout, async {
            match self.send(command, node).await {
                Err(error) if error.is_connection_dropped() => self.send(command, node).await,
                answer => answer,
            }
        });
        let (message, is_down, kind) = match answer.await {
            Some(Ok(value)) => match T::from_redis_value(value) {
                Ok(value) => return Ok(value),
                Err(error) => (error.to_string(), false, StoreErrorKind::Other),
            },
            Some(Err(error)) => {
                let is_down = error.is_io_error()
                    || error.is_timeout()
                    || error.is_connection_dropped()
                    || error.kind() == ErrorKind::ClusterConnectionNotFound;
                (error.to_string(), is_down, kind(&error, is_down))
            }
            None => {
                let message = format!("no response within {:?}", self.timeout);
                (message, true, StoreErrorKind::Unreachable)
            }
        };
        if let Some(pause) = pause.filter(|_| is_down) {
            let until = moment() + self.pause;
            *pause.lock().unwrap_or_else(PoisonError::into_inner) =
                Some((until, kind, message.clone()));
        }
        Err(self.error(kind, &message))
    }

    async fn send(&self, command: &Cmd, node: Option<&Node>) -> Result<Value, RedisError> {
        match &self.way {
            Way::Server(manager) => command.query_async(&mut manager.clone()).await,
            Way::Cluster(client, place) => {
                let mut connection = connection(client, place).await?;
                match node {
                    // By its address: a slot whose node is away would be routed to any other.
                    Some((host, port)) => {
                        let (host, port) = (host.clone(), *port);
                        let node = SingleNodeRoutingInfo::ByAddress { host, port };
                        connection.route_command(command.clone(), RoutingInfo::SingleNode(node)).await
                    }
                    None => command.query_async(&mut connection).await,
                }
            }
        }
    }

    fn pause_of(&self, origin: Option<&str>) -> Option<&Pause> {
        match &self.way {
            Way::Server(_) => self.paused.first(),
            Way::Cluster(..) => self.paused.get((slot(origin?) / SLOTS_OF_A_PAUSE) as usize),
        }
    }

    fn error(&self, kind: StoreErrorKind, message: &str) -> StoreError {
        StoreError::of(kind, format_args!("{}: {message}", self.shown))
    }
}

/// What kind of trouble an error of the server or of the way to it is. A server says it in the first word.
fn kind(error: &RedisError, is_down: bool) -> StoreErrorKind {
    if error.kind() == ErrorKind::AuthenticationFailed {
        return StoreErrorKind::Refused;
    }
    match error.code() {
        Some("NOAUTH" | "WRONGPASS" | "NOPERM" | "DENIED") => StoreErrorKind::Refused,
        Some("OOM") => StoreErrorKind::Full,
        Some("LOADING" | "BUSY" | "TRYAGAIN" | "CLUSTERDOWN" | "MASTERDOWN" | "READONLY") => {
            StoreErrorKind::Busy
        }
        // A wrong password can also be reported during the handshake, as text only.
        _ if !error.is_io_error()
            && [
                "WRONGPASS",
                "NOAUTH",
                "NOPERM",
                "invalid password",
                "Password authentication failed",
            ]
            .iter()
            .any(|sign| error.to_string().contains(sign)) =>
        {
            StoreErrorKind::Refused
        }
        // So is a script that finds no memory.
        _ if !error.is_io_error() && error.to_string().contains("OOM ") => StoreErrorKind::Full,
        _ if is_down => {
            let cause = std::error::Error::source(error);
            let cause = cause.and_then(|cause| cause.downcast_ref::<std::io::Error>());
            let is_ours = cause.is_some_and(|cause| crate::fault::Lack::of(cause).is_some());
            if is_ours { StoreErrorKind::Local } else { StoreErrorKind::Unreachable }
        }
        _ => StoreErrorKind::Other,
    }
}

fn wrong(error: RedisError) -> StoreError {
    StoreError::of(StoreErrorKind::Unsuitable, format_args!("not a URL of Redis: {error}"))
        .caused_by(error)
}

/// Reads the URL of a server. Certificates are always checked, whatever it says.
fn read(url: &str) -> Result<ConnectionInfo, StoreError> {
    let info = url.into_connection_info().map_err(wrong)?;
    if matches!(info.addr(), ConnectionAddr::TcpTls { insecure: true, .. }) {
        return Err(StoreError::new(
            "the certificate of a Redis server is always checked: trust the one that signed it, and \
             leave `#insecure` out",
        ));
    }
    Ok(info)
}

/// The trusted certificates, in the form that the library needs.
fn certificates(extra_roots: &[u8]) -> Result<TlsCertificates, StoreError> {
    // The library takes the provider of the process, and panics where several are built in and none was
    // chosen. Who has chosen one keeps it.
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let _ = roots::provider().install_default();
    }
    let extra = if extra_roots.is_empty() { Ok(Vec::new()) } else { roots::read(extra_roots) };
    let extra = extra.map_err(StoreError::new)?;
    let roots = roots::pem_with_those_of_the_system(&extra).map_err(StoreError::new)?;
    Ok(TlsCertificates { client_tls: None, root_cert: Some(roots) })
}

/// A range of slots: the first one, the last one, and its nodes, the primary first: host, port, ….
fn read_range(range: Vec<Value>) -> Option<(u16, u16, Node)> {
    let mut range = range.into_iter();
    let first = u16::from_redis_value(range.next()?).ok()?;
    let last = u16::from_redis_value(range.next()?).ok()?;
    let mut primary = Vec::<Value>::from_redis_value(range.next()?).ok()?.into_iter();
    let host = String::from_redis_value(primary.next()?).ok().filter(|host| !host.is_empty())?;
    let port = u16::from_redis_value(primary.next()?).ok()?;
    Some((first, last, (host, port)))
}

async fn connection(
    client: &ClusterClient,
    place: &tokio::sync::Mutex<Option<ClusterConnection>>,
) -> Result<ClusterConnection, RedisError> {
    let mut place = place.lock().await;
    if let Some(connection) = &*place {
        return Ok(connection.clone());
    }
    let connection = client.get_async_connection().await?;
    *place = Some(connection.clone());
    Ok(connection)
}

/// The slot that the keys of an origin are in: a CRC of what is between the braces.
fn slot(origin: &str) -> u16 {
    let tag = origin.split('}').next().unwrap_or_default();
    let crc = tag.bytes().fold(0_u16, |crc, octet| {
        (0..8).fold(crc ^ u16::from(octet) << 8, |crc, _| {
            let next = crc << 1;
            if crc & 0x8000 == 0 { next } else { next ^ 0x1021 }
        })
    });
    crc % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_cluster_specification() {
        assert_eq!(slot("123456789"), 0x31c3);
        assert_eq!(slot("foo"), 12182);
        assert_eq!(slot("foo}bar"), 12182);
    }

    #[tokio::test]
    async fn only_urls_of_redis_are_taken_and_no_password_is_shown() {
        let options = RedisOptions::default();
        for (url, message) in [
            ("http://localhost", "not a URL of Redis"),
            ("redist://localhost", "not a URL of Redis"),
            ("redis+cluster://", "not a URL of Redis"),
            ("rediss+cluster://", "not a URL of Redis"),
            ("rediss+others://localhost", "not a URL of Redis"),
            ("rediss://localhost/#insecure", "always checked"),
            ("valkeys+cluster://a.example,b.example/#insecure", "always checked"),
        ] {
            let error = Link::to(url, &options).err().map(|error| error.to_string());
            assert!(error.as_ref().is_some_and(|error| error.contains(message)), "{url}: {error:?}");
        }
        let link = Link::to("rediss+cluster://user:secret@one.example,two.example:7/", &options);
        let shown = link.expect("a URL").describe();
        assert_eq!(shown, "Redis cluster of one.example:6379, two.example:7");
        for scheme in ["redis", "valkey", "rediss", "valkeys"] {
            let url = format!("{scheme}://user:secret@localhost:7/3");
            let link = Link::to(&url, &options).expect("a URL");
            assert_eq!(link.describe(), "Redis at localhost:7");
            let error = link.ask::<Value>(None, &cmd("PING")).await.expect_err("nobody is there");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        let extra_roots = b"no certificate".to_vec();
        let options = RedisOptions { extra_roots, ..RedisOptions::default() };
        let error = Link::to("rediss://localhost", &options).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.contains("no root certificates in PEM form")));
    }
}
