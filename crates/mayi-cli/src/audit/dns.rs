//! Forward-confirmed reverse DNS: an address belongs to a crawler if one of its names is under a domain that
//! the operator publishes, and that name resolves to the address. Each address is looked up once, many at a
//! time, up to a limit.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;

use mayi::registry::{Agent, Registry};
use mayi_audit::{Confirmations, Identity, host_names_of, is_host_of};

use super::resolver::Resolver;

/// How many addresses are looked up at a time.
const AT_ONCE: usize = 32;

/// How many names of an address are confirmed.
const MOST_NAMES: usize = 4;

/// What DNS says about addresses.
pub(crate) struct Dns {
    resolver: Resolver,
    registry: Arc<Registry>,
    limit: usize,
    /// The confirmed names of addresses; none if there was no answer.
    known: RwLock<HashMap<IpAddr, Option<Vec<String>>>>,
    /// Held during look-ups: others that need the same addresses wait for the answers.
    asking: Mutex<()>,
    left_out: AtomicUsize,
    failed: AtomicUsize,
}

impl Dns {
    pub(crate) fn new(resolver: Resolver, registry: Arc<Registry>, limit: usize) -> Self {
        Self {
            resolver,
            registry,
            limit,
            known: RwLock::default(),
            asking: Mutex::default(),
            left_out: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
        }
    }

    /// Looks up the addresses of crawlers, which are given by their places in the registry.
    pub(crate) fn learn(&self, wanted: &[(usize, IpAddr)]) {
        let has_names = |place: usize| !host_names_of(&self.registry.agents()[place]).is_empty();
        let mut new: Vec<_> =
            wanted.iter().filter(|(place, _)| has_names(*place)).map(|(_, address)| *address).collect();
        let _asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            new.retain(|address| !known.contains_key(address));
            new.sort_unstable();
            new.dedup();
            let room = self.limit.saturating_sub(known.len());
            if new.len() > room {
                self.left_out.fetch_add(new.len() - room, Ordering::Relaxed);
                new.truncate(room);
            }
        }
        let queue = Mutex::new(new.iter());
        thread::scope(|scope| {
            for _ in 0..new.len().min(AT_ONCE) {
                scope.spawn(|| {
                    loop {
                        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some(address) = next else { break };
                        let names = self.confirmed_names(*address);
                        if names.is_none() {
                            self.failed.fetch_add(1, Ordering::Relaxed);
                        }
                        self.known
                            .write()
                            .unwrap_or_else(PoisonError::into_inner)
                            .insert(*address, names);
                    }
                });
            }
        });
    }

    /// The names of an address that resolve to the address; none if there was no answer.
    fn confirmed_names(&self, address: IpAddr) -> Option<Vec<String>> {
        let mut names = self.resolver.names_of(address).ok()?;
        names.truncate(MOST_NAMES);
        let mut confirmed = Vec::new();
        for name in names {
            if self.resolver.has(&name, address).ok()? {
                confirmed.push(name);
            }
        }
        Some(confirmed)
    }

    /// Addresses that were not asked about, and those without an answer.
    pub(crate) fn left_out(&self) -> (usize, usize) {
        (self.left_out.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }
}

/// What an audit is given.
pub(crate) struct Shared(pub(crate) Arc<Dns>);

impl Confirmations for Shared {
    fn identity(&self, agent: &Agent, address: IpAddr) -> Identity {
        if host_names_of(agent).is_empty() {
            return Identity::Unverified;
        }
        let known = self.0.known.read().unwrap_or_else(PoisonError::into_inner);
        match known.get(&address) {
            Some(Some(names)) if names.iter().any(|name| is_host_of(agent, name)) => Identity::Verified,
            Some(Some(_)) => Identity::Contradicted,
            Some(None) | None => Identity::Unverified,
        }
    }
}
