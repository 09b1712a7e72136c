//! The queues of clients, each by host, and the order in which they get a turn.
//!
//! It knows who waits, and how many connections each client has. The caller decides whether a connection may
//! be made.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::Client;

/// All lines.
#[derive(Default)]
pub(super) struct Lines {
    clients: HashMap<Client, Line>,
    /// The clients with waiting fetches and no connection, the longest without a turn first.
    idle: BTreeMap<u64, Client>,
    /// Those who have some.
    busy: BTreeMap<u64, Client>,
    clock: u64,
}

/// The line of a client.
#[derive(Default)]
struct Line {
    /// How many connections the client has.
    connections: usize,
    /// Who waits, by age, and for which host.
    waiting: BTreeMap<u64, Arc<str>>,
    /// Its place in the order of clients.
    stamp: u64,
    /// The hosts that are waited for, the longest without a turn first.
    order: BTreeMap<u64, Arc<str>>,
    /// Who waits for each, by age, and the place of the host in the order.
    hosts: HashMap<Arc<str>, (u64, BTreeSet<u64>)>,
}

impl Lines {
    /// How many clients have a connection or wait for one.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.clients.len()
    }

    /// How many connections a client has.
    pub(super) fn has(&self, client: Client) -> usize {
        self.clients.get(&client).map_or(0, |line| line.connections)
    }

    /// Somebody waits.
    pub(super) fn add(&mut self, client: Client, host: &Arc<str>, id: u64) {
        self.clock += 1;
        let clock = self.clock;
        let line = self.clients.entry(client).or_default();
        if line.waiting.is_empty() {
            line.stamp = clock;
        }
        line.waiting.insert(id, Arc::clone(host));
        let place = line.hosts.entry(Arc::clone(host)).or_insert_with(|| (clock, BTreeSet::new()));
        line.order.insert(place.0, Arc::clone(host));
        place.1.insert(id);
        self.put_in_order(client);
    }

    /// A fetch no longer waits.
    pub(super) fn remove(&mut self, client: Client, host: &str, id: u64) {
        let Some(line) = self.clients.get_mut(&client) else { return };
        let Some((stamp, waiting)) = line.hosts.get_mut(host) else { return };
        if !waiting.remove(&id) {
            return;
        }
        line.waiting.remove(&id);
        if waiting.is_empty() {
            line.order.remove(stamp);
            line.hosts.remove(host);
        } else {
            // It had its turn, or is gone: the other hosts come first.
            self.clock += 1;
            line.order.remove(stamp);
            *stamp = self.clock;
            line.order.insert(self.clock, host.into());
        }
        self.put_in_order(client);
    }

    /// A client has another connection, and its turn has ended.
    pub(super) fn began(&mut self, client: Client) {
        self.clock += 1;
        let clock = self.clock;
        let line = self.clients.entry(client).or_default();
        line.connections += 1;
        let before = std::mem::replace(&mut line.stamp, clock);
        self.idle.remove(&before);
        self.busy.remove(&before);
        self.put_in_order(client);
    }

    /// A connection of a client has ended.
    pub(super) fn ended(&mut self, client: Client) {
        let Some(line) = self.clients.get_mut(&client) else { return };
        line.connections = line.connections.saturating_sub(1);
        self.put_in_order(client);
    }

    /// Who is next: of the clients that may have a connection, for a host that is free.
    pub(super) fn next(
        &self,
        may_have: impl Fn(Client, usize) -> bool,
        is_free: impl Fn(&str) -> bool,
    ) -> Option<(u64, Client)> {
        self.idle.values().chain(self.busy.values()).find_map(|client| {
            let line = self.clients.get(client).filter(|line| may_have(*client, line.connections))?;
            let host = line.order.values().find(|host| is_free(host))?;
            let (_, waiting) = line.hosts.get(host)?;
            Some((*waiting.first()?, *client))
        })
    }

    /// The newest fetch of the named client with the most waiting fetches.
    pub(super) fn newest_of_longest(&self) -> Option<(u64, Client)> {
        let named = self.clients.iter().filter(|(client, _)| **client != Client::Ourselves);
        let (client, line) = named.max_by_key(|(client, line)| (line.waiting.len(), **client))?;
        let (newest, _) = line.waiting.last_key_value()?;
        Some((*newest, *client))
    }

    /// Puts a client where it belongs, or forgets it.
    fn put_in_order(&mut self, client: Client) {
        let Some(line) = self.clients.get(&client) else { return };
        let (stamp, waits, is_idle) = (line.stamp, !line.waiting.is_empty(), line.connections == 0);
        self.idle.remove(&stamp);
        self.busy.remove(&stamp);
        match (waits, is_idle) {
            (true, true) => drop(self.idle.insert(stamp, client)),
            (true, false) => drop(self.busy.insert(stamp, client)),
            (false, true) => drop(self.clients.remove(&client)),
            (false, false) => {}
        }
    }
}
