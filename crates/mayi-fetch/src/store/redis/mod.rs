//! A store that many processes share: Redis or Valkey, one server or a cluster.
//!
//! | key | value |
//! | --- | --- |
//! | `mayi:2:kept:{https://example.com}` | 20 digits, the time of the attempt; then the octets of the entry |
//! | `mayi:2:claim:{https://example.com}` | the token of the process that fetches the file now |
//!
//! The number is the schema version: processes of two versions don't see each other's entries. The
//! braces keep the keys of an origin on one node of a cluster. Entries expire if they are not saved again for
//! [`RedisOptions::keep`]. The size is limited by the server's `maxmemory`, with a policy that evicts;
//! without one, saving fails when memory is full, and the fetcher continues without it.
//!
//! Every operation ends within [`RedisOptions::timeout`]. After a failure the next operations fail at once
//! for [`RedisOptions::pause`], and then one tries again. Claims last as long as the server keeps them: a
//! fail-over to a replica can lose one, and then a file is fetched twice.

mod link;

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mayi::access::Origin;
use redis::{Cmd, FromRedisValue, cmd};

use self::link::{Link, Node};
use super::{ClaimToken, FetchClaim, Store, StoreError, StoreSize, Storing, entry};
use crate::clock::moment;
use crate::kept::{Kept, SCHEMA, milliseconds};

/// How a [`RedisStore`] deals with its server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RedisOptions {
    /// How long an operation may take; default: one second.
    pub timeout: Duration,
    /// How long no command is sent after a failure; default: 300 milliseconds.
    pub pause: Duration,
    /// How long an entry stays if it is not saved again; default: 40 days, which is longer than a copy may be
    /// used for (REP-20).
    pub keep: Duration,
    /// Certificates to trust beside those of the system, in PEM form, where the URL asks for TLS.
    pub extra_roots: Vec<u8>,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(1),
            pause: Duration::from_millis(300),
            keep: Duration::from_hours(40 * 24),
            extra_roots: Vec::new(),
        }
    }
}

/// A store in a Redis or Valkey server, or in a cluster of them.
///
/// ```
/// # let runtime = tokio::runtime::Runtime::new().unwrap();
/// # let _inside = runtime.enter();
/// use mayi_fetch::store::{RedisOptions, RedisStore, Store};
///
/// let url = "redis+cluster://user:secret@one.example,two.example:7001";
/// let store = RedisStore::connect(url, RedisOptions::default())?;
/// assert_eq!(store.describe(), "Redis cluster of one.example:6379, two.example:7001");
/// # Ok::<(), mayi_fetch::store::StoreError>(())
/// ```
pub struct RedisStore {
    link: Link,
    options: RedisOptions,
    ahead: Mutex<KeysAhead>,
}

/// Keys that a listing found beyond its page, so that the next page needs no scan.
#[derive(Default)]
struct KeysAhead {
    after: String,
    keys: VecDeque<String>,
    until: Option<Instant>,
    is_all: bool,
}

/// How many origins one scan gathers at least.
const AHEAD: usize = 50_000;

/// How long what a scan has gathered is used for.
const AHEAD_FOR: Duration = Duration::from_secs(30);

/// How many entries are read at once.
const PAGE: usize = 100;

/// How many digits a time has in front of an entry.
const DIGITS: usize = 20;

/// How many octets identify a value: the time, the schema version, the checksum.
const BEGINNING: usize = DIGITS + 1 + size_of::<u64>();

/// Saves an entry unless there is one of a later attempt.
const SAVE: &str = "\
local at = tonumber(redis.call('GETRANGE', KEYS[1], 0, 19))
if at and at > tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], 'PX', ARGV[3])
return 1";

/// Removes an entry that begins with these octets: a damaged one may have a time in the far future, and would
/// prevent every later save.
const FORGET: &str = "\
if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])";

/// Makes a claim, or finds the caller's own claim again: a process that lost the answer may send it twice.
const CLAIM: &str = "\
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
if redis.call('GET', KEYS[1]) == ARGV[1] then return 1 end
return 0";

/// Renews a claim if it still belongs to the caller, or to nobody.
const RENEW: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return 0";

/// Returns a claim if it still belongs to the caller.
const RELEASE: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0";

impl RedisStore {
    /// A store at `redis://[user:password@]host[:port][/number]`, or in the cluster that the nodes in
    /// `redis+cluster://[user:password@]host[:port][,host[:port]…]` belong to. `rediss` in place of `redis`
    /// asks for TLS: a certificate that is not trusted, or is for another host, ends the connection. TLS uses
    /// the cryptography provider that the process has chosen; if it has chosen none, this chooses one.
    ///
    /// No connection is made yet: a server may be down now, or later. It needs to be
    /// called within the tokio runtime.
    ///
    /// # Errors
    /// When the URL is none of these, and when the extra roots can't be used.
    pub fn connect(url: &str, options: RedisOptions) -> Result<Self, StoreError> {
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(StoreError::new("a Redis store can only be opened within the tokio runtime"));
        }
        let link = Link::to(url, &options)?;
        Ok(Self { link, options, ahead: Mutex::default() })
    }

    /// Asks about one origin.
    async fn ask<T: FromRedisValue>(&self, origin: &str, command: &Cmd) -> Result<T, StoreError> {
        self.link.ask(Some(origin), command).await
    }

    /// The keys of the entries after `after`, at least `limit` of them where there are so many.
    async fn keys(&self, after: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        if let Some(keys) = self.take_ahead(after, limit) {
            return Ok(keys);
        }
        let most = limit.max(AHEAD);
        let mut is_all = true;
        // A set, since a scan may give a key twice.
        let mut found = BTreeSet::new();
        for node in self.link.nodes().await? {
            let mut cursor = 0_u64;
            loop {
                let (next, keys) = self.scan(node.as_ref(), cursor).await?;
                let origins = keys.iter().filter_map(|key| origin_of(key));
                for origin in origins.filter(|origin| **origin > *after) {
                    found.insert(origin.to_owned());
                    if found.len() > most {
                        found.pop_last();
                        is_all = false;
                    }
                }
                cursor = next;
                if cursor == 0 {
                    break;
                }
            }
        }
        let mut found: Vec<String> = found.into_iter().collect();
        let rest = found.split_off(limit.min(found.len()));
        self.put_ahead(found.last().map_or(after, |last| last), rest, is_all);
        Ok(found)
    }

    fn take_ahead(&self, after: &str, limit: usize) -> Option<Vec<String>> {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = ahead.until.is_some_and(|until| moment() < until);
        let is_enough = ahead.keys.len() >= limit || (ahead.is_all && !ahead.keys.is_empty());
        if !is_current || ahead.after != after || !is_enough {
            return None;
        }
        let count = limit.min(ahead.keys.len());
        let keys: Vec<String> = ahead.keys.drain(..count).collect();
        ahead.after.clone_from(keys.last()?);
        Some(keys)
    }

    fn put_ahead(&self, after: &str, keys: Vec<String>, is_all: bool) {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let until = Some(moment() + AHEAD_FOR);
        *ahead = KeysAhead { after: after.to_owned(), keys: keys.into(), until, is_all };
    }

    async fn scan(&self, node: Option<&Node>, cursor: u64) -> Result<(u64, Vec<String>), StoreError> {
        let mut command = cmd("SCAN");
        let pattern = format!("mayi:{SCHEMA}:kept:*");
        command.arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(1000);
        self.link.ask_node(node, &command).await
    }

    async fn entries(&self, origins: &[String]) -> Result<Vec<Arc<Kept>>, StoreError> {
        let mut entries = Vec::with_capacity(origins.len());
        for page in origins.chunks(PAGE) {
            let mut command = cmd("MGET");
            for origin in page {
                command.arg(kept_key(origin));
            }
            let values: Vec<Option<Vec<u8>>> = self.link.ask(None, &command).await?;
            let found = page.iter().zip(values).filter_map(|(origin, value)| Some((origin, value?)));
            entries.extend(found.filter_map(|(origin, value)| read(origin, &value).ok().flatten()));
        }
        Ok(entries)
    }
}

impl Store for RedisStore {
    fn load<'a>(&'a self, origin: &'a Origin) -> Storing<'a, Option<Arc<Kept>>> {
        Box::pin(async move {
            let origin = origin.to_string();
            let mut command = cmd("GET");
            command.arg(kept_key(&origin));
            let value: Option<Vec<u8>> = self.ask(&origin, &command).await?;
            let Some(value) = value else { return Ok(None) };
            let read = read(&origin, &value);
            if read.is_err() {
                let mut command = script(FORGET, &kept_key(&origin));
                command.arg(&value[..value.len().min(BEGINNING)]);
                // If that fails, the next caller tries again.
                let _ = self.ask::<i64>(&origin, &command).await;
            }
            read
        })
    }

    fn save<'a>(&'a self, kept: &'a Arc<Kept>) -> Storing<'a, ()> {
        Box::pin(async move {
            let origin = kept.origin.to_string();
            let at = format!("{:0DIGITS$}", milliseconds(kept.last.at));
            let mut command = script(SAVE, &kept_key(&origin));
            command.arg(at).arg(kept.encode()).arg(whole_milliseconds(self.options.keep));
            self.ask::<i64>(&origin, &command).await.map(|_| ())
        })
    }

    fn remove<'a>(&'a self, origin: &'a Origin) -> Storing<'a, bool> {
        Box::pin(async move {
            let origin = origin.to_string();
            let mut command = cmd("DEL");
            command.arg(kept_key(&origin));
            Ok(self.ask::<i64>(&origin, &command).await? > 0)
        })
    }

    /// Redis has no order of keys, so a page needs a scan of all keys; the next pages use the same scan if it
    /// is recent. It is for people and exports.
    fn list<'a>(&'a self, after: Option<&'a str>, limit: usize) -> Storing<'a, Vec<Arc<Kept>>> {
        Box::pin(async move {
            let mut after = after.unwrap_or_default().to_owned();
            let mut found = Vec::new();
            // Entries that were removed since the scan must not make a page shorter: a short page means the
            // last one.
            while found.len() < limit {
                let wanted = limit - found.len();
                let keys = self.keys(&after, wanted).await?;
                found.extend(self.entries(&keys).await?);
                let Some(last) = keys.last().filter(|_| keys.len() == wanted) else { break };
                after.clone_from(last);
            }
            Ok(found)
        })
    }

    /// Entries that can't be read are removed too; entries of other schema versions are not touched.
    fn clear(&self) -> Storing<'_, u64> {
        Box::pin(async move {
            let (mut forgotten, mut after) = (0, String::new());
            loop {
                let origins = self.keys(&after, AHEAD).await?;
                for page in origins.chunks(PAGE) {
                    let mut command = cmd("DEL");
                    for origin in page {
                        command.arg(kept_key(origin));
                    }
                    forgotten += self.link.ask::<u64>(None, &command).await?;
                }
                match origins.last() {
                    Some(last) if origins.len() == AHEAD => after.clone_from(last),
                    _ => return Ok(forgotten),
                }
            }
        })
    }

    /// A scan of all keys counts the origins. The octets are those of up to a thousand entries, and
    /// as many for each of the others.
    fn size(&self) -> Storing<'_, StoreSize> {
        Box::pin(async move {
            let (mut origins, mut sampled, mut octets) = (0_u64, 0_u64, 0_u64);
            for node in self.link.nodes().await? {
                let mut cursor = 0_u64;
                loop {
                    let (next, keys) = self.scan(node.as_ref(), cursor).await?;
                    origins += keys.len() as u64;
                    for key in keys.iter().take(if sampled < 1000 { 50 } else { 0 }) {
                        let mut command = cmd("STRLEN");
                        command.arg(key);
                        let length: u64 = self.link.ask(origin_of(key), &command).await?;
                        sampled += 1;
                        octets += length + key.len() as u64;
                    }
                    cursor = next;
                    if cursor == 0 {
                        break;
                    }
                }
            }
            let all = u128::from(octets) * u128::from(origins) / u128::from(sampled.max(1));
            Ok(StoreSize::new(origins, u64::try_from(all).unwrap_or(u64::MAX)))
        })
    }

    fn claim<'a>(&'a self, origin: &'a Origin, at_most: Duration) -> Storing<'a, FetchClaim> {
        Box::pin(async move {
            let origin = origin.to_string();
            let token = fastrand::u64(..);
            let mut command = script(CLAIM, &claim_key(&origin));
            command.arg(token.to_string()).arg(whole_milliseconds(at_most));
            Ok(match self.ask::<i64>(&origin, &command).await? {
                0 => FetchClaim::Taken,
                _ => FetchClaim::Granted(ClaimToken(token)),
            })
        })
    }

    fn renew<'a>(
        &'a self,
        origin: &'a Origin,
        token: ClaimToken,
        at_most: Duration,
    ) -> Storing<'a, bool> {
        Box::pin(async move {
            let origin = origin.to_string();
            let mut command = script(RENEW, &claim_key(&origin));
            command.arg(token.0.to_string()).arg(whole_milliseconds(at_most));
            Ok(self.ask::<i64>(&origin, &command).await? != 0)
        })
    }

    fn release<'a>(&'a self, origin: &'a Origin, token: ClaimToken) -> Storing<'a, ()> {
        Box::pin(async move {
            let origin = origin.to_string();
            let mut command = script(RELEASE, &claim_key(&origin));
            command.arg(token.0.to_string());
            self.ask::<i64>(&origin, &command).await.map(|_| ())
        })
    }

    fn check(&self) -> Storing<'_, ()> {
        Box::pin(async move { self.link.ask::<redis::Value>(None, &cmd("PING")).await.map(|_| ()) })
    }

    fn describe(&self) -> String {
        self.link.describe()
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore").field("link", &self.describe()).finish_non_exhaustive()
    }
}

fn kept_key(origin: &str) -> String {
    format!("mayi:{SCHEMA}:kept:{{{origin}}}")
}

fn claim_key(origin: &str) -> String {
    format!("mayi:{SCHEMA}:claim:{{{origin}}}")
}

fn origin_of(kept_key: &str) -> Option<&str> {
    kept_key.split_once('{')?.1.strip_suffix('}')
}

/// What the value of a key contains.
fn read(origin: &str, value: &[u8]) -> Result<Option<Arc<Kept>>, StoreError> {
    let (digits, octets) = value.split_at(value.len().min(DIGITS));
    let at = std::str::from_utf8(digits).ok().filter(|digits| digits.len() == DIGITS);
    entry::read(origin, at.and_then(|at| at.parse().ok()), octets)
}

/// A script with its key. Its text is sent each time: it is short, and a restarted server knows no scripts.
fn script(text: &str, key: &str) -> Cmd {
    let mut command = cmd("EVAL");
    command.arg(text).arg(1).arg(key);
    command
}

/// The server takes whole milliseconds, and no zero.
fn whole_milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).clamp(1, 1 << 50)
}
