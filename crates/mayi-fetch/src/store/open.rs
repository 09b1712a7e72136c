//! The name of a store → the store.

use std::sync::Arc;

use super::{MemoryStore, Store, StoreError};

/// Opens the store that a text names, for at most this many octets.
///
/// | text | store |
/// | --- | --- |
/// | `memory` | the memory of the process |
/// | `redis://[user:password@]host[:port][/number]` | a Redis or Valkey server; its `maxmemory` is the bound |
/// | `redis+cluster://[user:password@]host[:port][,host[:port]…]` | a cluster, by some of its nodes |
/// | `rediss://…`, `rediss+cluster://…` | the same by TLS |
/// | anything else without `://` | a file |
///
/// `valkey` may replace `redis` in a URL. Redis needs the call to be inside a tokio runtime. A file with the
/// name `memory` is `./memory`.
///
/// ```
/// let store = mayi_fetch::store::open("memory", 64 << 20)?;
/// assert_eq!(store.describe(), "memory, at most 67108864 octets");
/// let error = mayi_fetch::store::open("mysql://localhost", 0).err().expect("no such store");
/// assert!(error.to_string().starts_with("mysql: there is no such store"));
/// # Ok::<(), mayi_fetch::store::StoreError>(())
/// ```
///
/// # Errors
/// When the text names no store, when this build has no such store, and when it can't be opened.
pub fn open(name: &str, most_octets: u64) -> Result<Arc<dyn Store>, StoreError> {
    open_trusting(name, most_octets, b"")
}

/// The same, with certificates in PEM form to trust beside those of the system, for a store that is
/// reached by TLS.
///
/// # Errors
/// As those of [`open`], and when there are octets but no certificates in them.
pub fn open_trusting(
    name: &str,
    most_octets: u64,
    extra_roots: &[u8],
) -> Result<Arc<dyn Store>, StoreError> {
    match name.split_once("://") {
        None if name == "memory" => Ok(Arc::new(MemoryStore::new(most_octets))),
        None if name.is_empty() => Err(StoreError::new(format_args!("no store is named; {KNOWN}"))),
        None => disk(name, most_octets),
        Some((scheme, _)) if scheme.starts_with("redis") || scheme.starts_with("valkey") => {
            redis(name, extra_roots)
        }
        Some((scheme, _)) => {
            let scheme = scheme.escape_debug();
            Err(StoreError::new(format_args!("{scheme}: there is no such store; {KNOWN}")))
        }
    }
}

const KNOWN: &str = "give `memory`, the path of a file, redis://host:port or \
                     redis+cluster://host:port,host:port (rediss for TLS)";

#[cfg(feature = "disk")]
fn disk(path: &str, most_octets: u64) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(super::DiskStore::open(path, most_octets)?))
}

#[cfg(not(feature = "disk"))]
fn disk(_path: &str, _most_octets: u64) -> Result<Arc<dyn Store>, StoreError> {
    Err(StoreError::new("this build has no store in a file: it was built without the feature `disk`"))
}

#[cfg(feature = "redis")]
fn redis(url: &str, extra_roots: &[u8]) -> Result<Arc<dyn Store>, StoreError> {
    let options =
        super::RedisOptions { extra_roots: extra_roots.to_vec(), ..super::RedisOptions::default() };
    Ok(Arc::new(super::RedisStore::connect(url, options)?))
}

#[cfg(not(feature = "redis"))]
fn redis(_url: &str, _extra_roots: &[u8]) -> Result<Arc<dyn Store>, StoreError> {
    Err(StoreError::new("this build has no store in Redis: it was built without the feature `redis`"))
}
