//! A connection → its place among the open ones, or none: one address can't take all of them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The response to a connection over the limit, without TLS. A browser or a proxy shows it.
pub(crate) const REFUSAL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\n\
    Content-Length: 65\r\nRetry-After: 1\r\nConnection: close\r\n\r\n\
    this address has as many connections as one client may have here\n";

/// How many connections there are, and whose.
pub(crate) struct Connections {
    all: Arc<Semaphore>,
    clients: Mutex<HashMap<IpAddr, usize>>,
    most_of_one: usize,
}

/// A place for a connection; given back when it is dropped.
pub(crate) struct Held {
    _permit: OwnedSemaphorePermit,
    client: IpAddr,
    connections: Arc<Connections>,
}

impl Connections {
    pub(crate) fn new(all: usize, most_of_one: Option<usize>) -> Arc<Self> {
        let most_of_one = most_of_one.unwrap_or(all.div_ceil(2));
        let all = Arc::new(Semaphore::new(all.min(Semaphore::MAX_PERMITS)));
        Arc::new(Self { all, clients: Mutex::default(), most_of_one })
    }

    /// Waits until there is room for one more connection of anybody.
    pub(crate) async fn room(&self) -> Option<OwnedSemaphorePermit> {
        // It fails when there are no permits at all any more, which is never.
        Arc::clone(&self.all).acquire_owned().await.ok()
    }

    /// The place of a connection from this address, unless it already has the maximum.
    pub(crate) fn admit(self: &Arc<Self>, permit: OwnedSemaphorePermit, peer: IpAddr) -> Option<Held> {
        let client = network_of(peer);
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let held = clients.entry(client).or_default();
        if *held >= self.most_of_one {
            return None;
        }
        *held += 1;
        Some(Held { _permit: permit, client, connections: Arc::clone(self) })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut clients = self.connections.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut held) = clients.entry(self.client) {
            *held.get_mut() -= 1;
            if *held.get() == 0 {
                held.remove();
            }
        }
    }
}

/// The client of an address. A /64 network of IPv6 is one client.
pub(crate) fn network_of(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_client_leaves_some_to_others_and_is_forgotten_with_its_last() {
        let connections = Connections::new(4, None);
        let of = async |address: &str| {
            let permit = connections.room().await.expect("there is room");
            connections.admit(permit, address.parse().expect("an address"))
        };
        let first = of("2001:db8::1").await;
        let second = of("2001:db8::2").await;
        assert!(first.is_some() && second.is_some());
        assert!(of("2001:db8::3").await.is_none(), "it is of the same network");
        assert!(of("2001:db8:0:1::1").await.is_some() && of("192.0.2.1").await.is_some());
        drop(first);
        let third = of("2001:db8::3").await;
        assert!(third.is_some());
        drop((second, third));
        assert!(connections.clients.lock().expect("no panic").is_empty());
        assert_eq!(connections.all.available_permits(), 4);
    }

    #[test]
    fn the_refusal_is_as_long_as_it_says() {
        let text = std::str::from_utf8(REFUSAL).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{}", body.len());
    }
}
