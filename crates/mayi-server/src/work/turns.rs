//! Queued work → what is started next: clients take turns, and a client that has used little time
//! lately is quick.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::{By, QUICK, SMALL, Slot};

/// How much processor time a client may have used lately and still be quick, and the half-life of that
/// figure.
const LITTLE: Duration = Duration::from_millis(40);
const HALF_LIFE: Duration = Duration::from_secs(1);

/// Clients that have used almost nothing lately are forgotten when there are more than this.
const MANY_CLIENTS: usize = 4096;

/// The queued work, by lane.
#[derive(Default)]
pub(super) struct Queue {
    quick: Lane,
    small: Lane,
    large: Lane,
    accounts: Accounts,
    /// Whether a thread that takes small and large work took a large piece the last time.
    was_large: bool,
    pub(super) has_ended: bool,
}

/// What a thread takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// Small work of clients that have used little time lately.
    Quick,
    Small,
    SmallAndLarge,
}

impl Queue {
    /// Puts work in its lane, and says which threads may take it.
    pub(super) fn push(&mut self, by: By, octets: usize, slot: Slot, now: Instant) -> Takes {
        let (lane, takes) = if octets <= QUICK && self.accounts.had(by.client, now) <= LITTLE {
            (&mut self.quick, Takes::Quick)
        } else if octets <= SMALL {
            (&mut self.small, Takes::Small)
        } else {
            (&mut self.large, Takes::SmallAndLarge)
        };
        lane.push(by, octets, slot);
        takes
    }

    /// What comes next; a thread that takes small and large work takes them in turn.
    pub(super) fn pop(&mut self, takes: Takes) -> Option<(By, Slot)> {
        match takes {
            Takes::Quick => self.quick.pop(),
            Takes::Small => self.small.pop(),
            Takes::SmallAndLarge => {
                self.was_large = !self.was_large;
                if self.was_large {
                    self.large.pop().or_else(|| self.small.pop())
                } else {
                    self.small.pop().or_else(|| self.large.pop())
                }
            }
        }
    }

    /// A client has used this much processor time.
    pub(super) fn charge(&mut self, client: u64, took: Duration, now: Instant) {
        self.accounts.charge(client, took, now);
    }

    /// How much work is queued, needed or not.
    pub(super) fn len(&self) -> usize {
        self.quick.len + self.small.len + self.large.len
    }

    /// Forgets the places of work that was taken back.
    pub(super) fn forget_unwanted(&mut self) {
        for lane in [&mut self.quick, &mut self.small, &mut self.large] {
            lane.forget_unwanted();
        }
    }
}

/// The processor time that clients have used lately.
#[derive(Default)]
struct Accounts(HashMap<u64, Account>);

#[derive(Clone, Copy)]
struct Account {
    had: Duration,
    at: Instant,
}

impl Account {
    /// What remains of it now: half of it after each half-life.
    fn by(self, now: Instant) -> Duration {
        let halvings = now.saturating_duration_since(self.at).as_secs_f64() / HALF_LIFE.as_secs_f64();
        self.had.mul_f64(0.5_f64.powf(halvings))
    }
}

impl Accounts {
    fn had(&self, client: u64, now: Instant) -> Duration {
        self.0.get(&client).map_or(Duration::ZERO, |account| account.by(now))
    }

    fn charge(&mut self, client: u64, took: Duration, now: Instant) {
        if self.0.len() > MANY_CLIENTS {
            // The remaining clients have used more than this in the last seconds, so there can't be many.
            self.0.retain(|_, account| account.by(now) > Duration::from_millis(1));
        }
        let had = self.had(client, now) + took;
        self.0.insert(client, Account { had, at: now });
    }
}

/// Work of all clients, who take turns.
#[derive(Default)]
struct Lane {
    turns: VecDeque<u64>,
    clients: HashMap<u64, Client>,
    len: usize,
}

/// Work of one client. Each connection has a counter that grows by the octets of its work, and the lowest
/// counter goes first; a new connection starts where the others are.
#[derive(Default)]
struct Client {
    now: u64,
    marks: HashMap<u64, u64>,
    jobs: BinaryHeap<Reverse<Waiting>>,
    count: u64,
}

struct Waiting {
    mark: u64,
    number: u64,
    connection: u64,
    slot: Slot,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.mark, self.number).cmp(&(other.mark, other.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        (self.mark, self.number) == (other.mark, other.number)
    }
}

impl Eq for Waiting {}

impl Lane {
    fn push(&mut self, by: By, octets: usize, slot: Slot) {
        let client = self.clients.entry(by.client).or_insert_with(|| {
            self.turns.push_back(by.client);
            Client::default()
        });
        let mark = client.marks.entry(by.connection).or_default();
        // However small it is, looking at it is work.
        *mark = client.now.max(*mark) + octets as u64 + 1024;
        client.count += 1;
        let (mark, number, connection) = (*mark, client.count, by.connection);
        client.jobs.push(Reverse(Waiting { mark, number, connection, slot }));
        self.len += 1;
    }

    fn pop(&mut self) -> Option<(By, Slot)> {
        let id = self.turns.pop_front()?;
        let client = self.clients.get_mut(&id)?;
        let Reverse(next) = client.jobs.pop()?;
        client.now = next.mark;
        self.len -= 1;
        if client.jobs.is_empty() {
            // A client without queued work is forgotten, so that the list does not grow for ever.
            self.clients.remove(&id);
        } else {
            self.turns.push_back(id);
        }
        Some((By { client: id, connection: next.connection }, next.slot))
    }

    /// Forgets the places of work that was taken back.
    fn forget_unwanted(&mut self) {
        let is_wanted = |Reverse(waiting): &Reverse<Waiting>| {
            waiting.slot.lock().unwrap_or_else(PoisonError::into_inner).is_some()
        };
        self.clients.retain(|_, client| {
            client.jobs.retain(is_wanted);
            !client.jobs.is_empty()
        });
        let clients = &self.clients;
        self.turns.retain(|id| clients.contains_key(id));
        self.len = clients.values().map(|client| client.jobs.len()).sum();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    fn names(lane: &mut Lane, heard: &Arc<Mutex<Vec<&'static str>>>) -> Vec<&'static str> {
        while let Some((_, slot)) = lane.pop() {
            let job = slot.lock().expect("no panic").take();
            job.expect("it is wanted")();
        }
        std::mem::take(&mut heard.lock().expect("no panic"))
    }

    #[test]
    fn clients_take_turns_and_small_work_goes_before_large_work_of_others() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let mut lane = Lane::default();
        let mut push = |client, connection, octets, name: &'static str| {
            let heard = Arc::clone(&heard);
            let job = move || heard.lock().expect("no panic").push(name);
            let slot: Slot = Arc::new(Mutex::new(Some(Box::new(job))));
            lane.push(By { client, connection }, octets, Arc::clone(&slot));
            slot
        };
        for name in ["a1", "a2", "a3"] {
            push(1, 1, 50_000, name);
        }
        // Two that nobody waits for: one of a client that has others, and all of another client.
        for client in [1, 3] {
            push(client, 9, 1, "unwanted").lock().expect("no panic").take();
        }
        push(2, 2, 50_000, "b1");
        push(1, 3, 100, "small of a");
        push(2, 2, 50_000, "b2");
        lane.forget_unwanted();
        assert_eq!(lane.len, 6);
        assert_eq!(names(&mut lane, &heard), ["small of a", "b1", "a1", "b2", "a2", "a3"]);
        assert!(lane.clients.is_empty() && lane.turns.is_empty() && lane.len == 0);
    }

    #[test]
    fn whoever_has_had_much_is_not_quick_for_a_while() {
        let mut queue = Queue::default();
        let start = Instant::now();
        let mut lane_of = |client, octets, at| {
            let slot: Slot = Arc::new(Mutex::new(Some(Box::new(|| ()))));
            queue.charge(9, Duration::ZERO, at);
            queue.push(By { client, connection: 1 }, octets, slot, at)
        };
        assert_eq!(lane_of(1, QUICK, start), Takes::Quick);
        assert_eq!(lane_of(1, QUICK + 1, start), Takes::Small);
        assert_eq!(lane_of(1, SMALL + 1, start), Takes::SmallAndLarge);
        queue.charge(1, Duration::from_millis(70), start);
        let mut lane_of = |client, at| {
            let slot: Slot = Arc::new(Mutex::new(Some(Box::new(|| ()))));
            queue.push(By { client, connection: 1 }, 1, slot, at)
        };
        assert_eq!(lane_of(1, start), Takes::Small);
        assert_eq!(lane_of(2, start), Takes::Quick, "others are");
        assert_eq!(lane_of(1, start + HALF_LIFE), Takes::Quick, "half of it is forgotten");
    }

    #[test]
    fn clients_that_have_had_nothing_are_forgotten() {
        let mut accounts = Accounts::default();
        let start = Instant::now();
        for client in 0..2 * MANY_CLIENTS as u64 {
            accounts.charge(client, Duration::from_micros(10), start);
        }
        assert!(accounts.0.len() <= MANY_CLIENTS + 1);
    }
}
