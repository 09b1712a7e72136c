//! Which fetch may connect next: how many connections there may be at once, to one host and to all, and
//! the order of those that wait.
//!
//! The order is fair between clients, and within a client between hosts. A client without a connection comes
//! before those that have some; the others take turns. No named client gets the last quarter of the free
//! connections, so hosts that never answer can't delay everybody else. The number of waiting fetches of named
//! clients is limited: if there are too many, the client with the most loses its newest one.

mod line;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use self::line::Lines;

/// The client that something is fetched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Client {
    /// The process of the fetcher itself: only its own memory limits how many fetches wait.
    Ourselves,
    /// One of many strangers.
    Named(u64),
}

/// How many connections a named client may have for each free one.
const SHARE: usize = 3;

/// The maximum number of clients that are stored for one waiting fetch.
const MOST_CLIENTS: usize = 16;

/// Gives turns.
#[derive(Clone)]
pub(crate) struct Manners(Arc<Shared>);

struct Shared {
    per_host: usize,
    most_waiting: usize,
    state: Mutex<State>,
}

struct State {
    free: usize,
    /// Connections by host, where there are any.
    hosts: HashMap<Arc<str>, usize>,
    lines: Lines,
    waiting: HashMap<u64, Waiting>,
    /// How many of those are for named clients.
    named: usize,
    next: u64,
}

/// Somebody who waits.
struct Waiting {
    host: Arc<str>,
    /// The clients in whose queues it is; it leaves all queues when it gets a turn in one.
    clients: Vec<Client>,
    is_named: bool,
    granted: oneshot::Sender<Client>,
}

/// All who wait for the same thing: their clients, and the place where they wait now.
#[derive(Default)]
pub(crate) struct Party(Mutex<(Vec<Client>, Option<u64>)>);

/// A turn: it ends when this is dropped.
pub(crate) struct Turn {
    shared: Arc<Shared>,
    host: Arc<str>,
    client: Client,
}

/// Too many wait already.
#[derive(Debug)]
pub(crate) struct NoRoom;

impl Manners {
    pub(crate) fn new(per_host: usize, in_total: usize, most_waiting: usize) -> Self {
        let state = State {
            free: in_total.max(1),
            hosts: HashMap::new(),
            lines: Lines::default(),
            waiting: HashMap::new(),
            named: 0,
            next: 0,
        };
        Self(Arc::new(Shared { per_host: per_host.max(1), most_waiting, state: Mutex::new(state) }))
    }

    /// Waits for a turn with a host. A caller that stops waiting leaves nothing behind.
    pub(crate) async fn turn(&self, host: &str, party: &Party) -> Result<Turn, NoRoom> {
        let mut place = {
            let mut party = party.0.lock().unwrap_or_else(PoisonError::into_inner);
            let (id, granted) = self.0.enter(host, &party.0);
            party.1 = Some(id);
            Place { shared: Arc::clone(&self.0), host: host.into(), id, granted }
        };
        // A fetch that loses its place learns it by the end of the channel.
        let client = (&mut place.granted).await.map_err(|_| NoRoom)?;
        Ok(Turn { shared: Arc::clone(&self.0), host: Arc::clone(&place.host), client })
    }

    /// Another client waits for the same fetch: the fetch gets the earlier turn of the two.
    pub(crate) fn join(&self, party: &Party, client: Client) {
        let mut party = party.0.lock().unwrap_or_else(PoisonError::into_inner);
        if party.0.contains(&client) || party.0.len() >= MOST_CLIENTS {
            return;
        }
        party.0.push(client);
        if let Some(id) = party.1 {
            self.0.enter_another_line(id, client);
        }
    }

    /// How many wait for a turn.
    pub(crate) fn waiting(&self) -> usize {
        self.0.state().waiting.len()
    }

    #[cfg(test)]
    fn busy(&self) -> usize {
        let state = self.0.state();
        state.hosts.len() + state.waiting.len() + state.lines.len()
    }
}

impl Party {
    pub(crate) fn of(client: Client) -> Self {
        Self(Mutex::new((vec![client], None)))
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, host: &str, clients: &[Client]) -> (u64, oneshot::Receiver<Client>) {
        let (granted, receiver) = oneshot::channel();
        let mut state = self.state();
        let id = state.next;
        state.next += 1;
        let host: Arc<str> =
            state.hosts.get_key_value(host).map_or_else(|| host.into(), |it| it.0.clone());
        let is_named = !clients.contains(&Client::Ourselves);
        state.named += usize::from(is_named);
        let waiting = Waiting { host: Arc::clone(&host), clients: Vec::new(), is_named, granted };
        state.waiting.insert(id, waiting);
        for client in clients {
            state.add_to_line(id, *client);
        }
        // The fetches that already wait can't start, so it is this one or none.
        if let Some(client) = clients.iter().find(|client| state.may_go(self, &host, **client)) {
            state.grant(id, *client);
        }
        while state.named > self.most_waiting && state.put_one_out() {}
        (id, receiver)
    }

    fn enter_another_line(&self, id: u64, client: Client) {
        let mut state = self.state();
        let Some(waiting) = state.waiting.get_mut(&id) else { return };
        let host = Arc::clone(&waiting.host);
        if client == Client::Ourselves && std::mem::take(&mut waiting.is_named) {
            state.named -= 1;
        }
        state.add_to_line(id, client);
        if state.may_go(self, &host, client) {
            state.grant(id, client);
        }
    }

    /// A connection has ended: the next fetches start.
    fn give_back(&self, host: &str, client: Client) {
        let mut state = self.state();
        state.free += 1;
        state.lines.ended(client);
        if let Some(connections) = state.hosts.get_mut(host) {
            *connections -= 1;
            if *connections == 0 {
                state.hosts.remove(host);
            }
        }
        while state.free > 0 {
            let State { lines, hosts, free, .. } = &*state;
            let is_free = |host: &str| hosts.get(host).is_none_or(|count| *count < self.per_host);
            let Some((id, client)) = lines.next(|client, has| may_have(client, has, *free), is_free)
            else {
                break;
            };
            state.grant(id, client);
        }
    }
}

/// Whether a client with this many connections may have another one of those that are free.
fn may_have(client: Client, has: usize, free: usize) -> bool {
    free > 0 && (client == Client::Ourselves || has < SHARE * free)
}

impl State {
    fn may_go(&self, shared: &Shared, host: &str, client: Client) -> bool {
        let is_free = self.hosts.get(host).is_none_or(|count| *count < shared.per_host);
        is_free && may_have(client, self.lines.has(client), self.free)
    }

    fn add_to_line(&mut self, id: u64, client: Client) {
        let Some(waiting) = self.waiting.get_mut(&id) else { return };
        waiting.clients.push(client);
        self.lines.add(client, &waiting.host, id);
    }

    fn grant(&mut self, id: u64, client: Client) {
        let Some(waiting) = self.leave(id) else { return };
        // Who has just stopped waiting gives it back: see the end of a place.
        self.free -= 1;
        *self.hosts.entry(waiting.host).or_default() += 1;
        self.lines.began(client);
        let _ = waiting.granted.send(client);
    }

    /// Removes a waiting fetch from all queues.
    fn leave(&mut self, id: u64) -> Option<Waiting> {
        let waiting = self.waiting.remove(&id)?;
        self.named -= usize::from(waiting.is_named);
        for client in &waiting.clients {
            self.lines.remove(*client, &waiting.host, id);
        }
        Some(waiting)
    }

    /// The client with the most waiting fetches loses the newest one. If other clients wait for the same, it stays.
    /// Returns whether there was one.
    fn put_one_out(&mut self) -> bool {
        let Some((id, client)) = self.lines.newest_of_longest() else { return false };
        let Some(waiting) = self.waiting.get_mut(&id) else { return false };
        waiting.clients.retain(|other| *other != client);
        let host = Arc::clone(&waiting.host);
        let is_last = waiting.clients.is_empty();
        self.lines.remove(client, &host, id);
        if is_last {
            self.leave(id);
        }
        true
    }
}

/// The place of a waiting fetch.
struct Place {
    shared: Arc<Shared>,
    host: Arc<str>,
    id: u64,
    granted: oneshot::Receiver<Client>,
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.shared.state().leave(self.id).is_some() {
            return;
        }
        // It got its turn, and nobody has used it.
        if let Ok(client) = self.granted.try_recv() {
            self.shared.give_back(&self.host, client);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.shared.give_back(&self.host, self.client);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Waker};

    const A: Client = Client::Named(1);
    const B: Client = Client::Named(2);

    fn ourselves() -> Party {
        Party::of(Client::Ourselves)
    }

    /// Asks a future once.
    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_more_at_once_than_may_be() {
        let manners = Manners::new(2, 5, 1000);
        let at_one = Arc::new(AtomicUsize::new(0));
        let at_all = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..200)
            .map(|n| {
                let (manners, at_all) = (manners.clone(), Arc::clone(&at_all));
                let at_one = (n % 4 == 0).then(|| Arc::clone(&at_one));
                tokio::spawn(async move {
                    let host = if n % 4 == 0 { "one".to_owned() } else { format!("h{n}") };
                    let party = Party::of(if n % 3 == 0 { A } else { Client::Ourselves });
                    let _turn = manners.turn(&host, &party).await.expect("there is room");
                    let all = at_all.fetch_add(1, Ordering::SeqCst);
                    let one = at_one.as_ref().map_or(0, |one| one.fetch_add(1, Ordering::SeqCst));
                    tokio::task::yield_now().await;
                    at_all.fetch_sub(1, Ordering::SeqCst);
                    if let Some(one) = at_one {
                        one.fetch_sub(1, Ordering::SeqCst);
                    }
                    assert!(all < 5 && one < 2, "{all} others, {one} with the same host");
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("the bounds hold");
        }
        assert_eq!(manners.busy(), 0, "who is idle is forgotten");
    }

    #[tokio::test]
    async fn a_turn_that_is_given_up_is_forgotten_too() {
        let manners = Manners::new(1, 2, 10);
        let party = ourselves();
        let first = manners.turn("a", &party).await.expect("there is room");
        {
            let mut second = pin!(manners.turn("a", &party));
            assert!(poll(second.as_mut()).is_none(), "the host has one turn only");
            assert_eq!(manners.waiting(), 1);
        }
        assert_eq!(manners.waiting(), 0);
        {
            let mut granted = pin!(manners.turn("a", &party));
            assert!(poll(granted.as_mut()).is_none());
            drop(first);
            // It has its turn now, and never learns of it.
        }
        assert_eq!(manners.busy(), 0, "a client that gave up waiting has left no trace");
        drop(manners.turn("a", &party).await.expect("there is room"));
    }

    /// A client whose hosts never answer leaves a quarter to the others, however much it asks for.
    #[tokio::test]
    async fn one_client_never_has_everything() {
        let manners = Manners::new(2, 16, 1000);
        let b = Party::of(B);
        let mut stalled = Vec::new();
        let mut waiting = Vec::new();
        // No more than the runtime lets a task do at once: it has nothing to wait for here.
        for n in 0..50 {
            let host = format!("stalled-{n}");
            let (manners, party) = (manners.clone(), Party::of(A));
            let mut turn = Box::pin(async move { manners.turn(&host, &party).await });
            match poll(turn.as_mut()) {
                Some(turn) => stalled.push(turn.expect("there is room")),
                None => waiting.push(turn),
            }
        }
        assert_eq!(stalled.len(), 12, "three quarters of sixteen");
        for n in 0..50 {
            let host = format!("honest-{n}");
            let mut turn = pin!(manners.turn(&host, &b));
            assert!(poll(turn.as_mut()).is_some(), "another client does not wait");
        }
        // The program that runs the fetcher may have all of them.
        let ours: Vec<_> = (0..4).map(|n| format!("ours-{n}")).collect();
        for host in &ours {
            let party = ourselves();
            let mut turn = pin!(manners.turn(host, &party));
            let turn = poll(turn.as_mut()).expect("it does not wait").expect("there is room");
            stalled.push(turn);
        }
        let mut honest = pin!(manners.turn("honest", &b));
        assert!(poll(honest.as_mut()).is_none(), "now there is none left");
        // Who has nothing comes before who has much, although that one came first.
        stalled.pop();
        assert!(poll(honest.as_mut()).is_some());
    }

    /// Two clients that wait come in turn, and within a client its hosts do.
    #[tokio::test]
    async fn in_turn() {
        let manners = Manners::new(1, 1, 1000);
        let held = manners.turn("x", &ourselves()).await.expect("there is room");
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for (name, client) in [("a1", A), ("a1", A), ("a1", A), ("a2", A), ("b1", B), ("b2", B)] {
            let (manners, order) = (manners.clone(), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                let turn = manners.turn(name, &Party::of(client)).await.expect("there is room");
                order.lock().expect("a lock").push(name);
                tokio::task::yield_now().await;
                drop(turn);
            }));
            tokio::task::yield_now().await;
        }
        drop(held);
        for task in tasks {
            task.await.expect("a turn");
        }
        assert_eq!(*order.lock().expect("a lock"), ["a1", "b1", "a2", "b2", "a1", "a1"]);
        assert_eq!(manners.busy(), 0);
    }

    /// Where too many wait, the one that asks for the most loses its newest, and nobody else loses anything.
    #[tokio::test]
    async fn too_many_who_wait() {
        let manners = Manners::new(1, 1, 10);
        let _held = manners.turn("x", &ourselves()).await.expect("there is room");
        let wait = |host: String, client: Client| {
            let manners = manners.clone();
            Box::pin(async move { manners.turn(&host, &Party::of(client)).await })
        };
        let mut of_a: Vec<_> = (0..10).map(|n| wait(format!("a{n}"), A)).collect();
        assert!(of_a.iter_mut().all(|turn| poll(turn.as_mut()).is_none()), "they wait");
        let mut another = wait("a10".to_owned(), A);
        assert!(poll(another.as_mut()).is_some_and(|turn| turn.is_err()), "there is no room for more");
        let mut of_b: Vec<_> = (0..5).map(|n| wait(format!("b{n}"), B)).collect();
        assert!(
            of_b.iter_mut().all(|turn| poll(turn.as_mut()).is_none()),
            "there is for another client"
        );
        let lost = of_a.iter_mut().filter_map(|turn| poll(turn.as_mut())).count();
        assert_eq!((lost, manners.waiting()), (5, 10));
        // The program that runs the fetcher is bounded by nothing but memory.
        let mut ours: Vec<_> = (0..50).map(|n| wait(format!("o{n}"), Client::Ourselves)).collect();
        assert!(ours.iter_mut().all(|turn| poll(turn.as_mut()).is_none()));
        assert_eq!(manners.waiting(), 60);
    }

    /// Who waits for the same as another client does not stand behind all that this one asks for.
    #[tokio::test]
    async fn two_clients_who_want_the_same() {
        let manners = Manners::new(1, 1, 1000);
        let held = manners.turn("x", &ourselves()).await.expect("there is room");
        let parties: Vec<_> = (0..50).map(|_| Party::of(A)).collect();
        let hosts: Vec<_> = (0..50).map(|n| format!("h{n}")).collect();
        let mut turns: Vec<_> = parties
            .iter()
            .zip(&hosts)
            .map(|(party, host)| Box::pin(manners.turn(host, party)))
            .collect();
        assert!(turns.iter_mut().all(|turn| poll(turn.as_mut()).is_none()));
        manners.join(&parties[49], B);
        manners.join(&parties[49], B);
        drop(held);
        let first =
            poll(turns[0].as_mut()).expect("the first of the first client").expect("there is room");
        drop(first);
        assert!(poll(turns[49].as_mut()).is_some(), "the first of the second client");
    }
}
