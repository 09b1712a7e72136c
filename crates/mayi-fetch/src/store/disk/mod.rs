//! A store in a file of this machine, for one process that runs for long.
//!
//! What is acknowledged is on the disk: a separate thread collects the saves of a short time, writes them in
//! one durable transaction, and then acknowledges all of them. A process that is killed at any moment loses
//! only what was not acknowledged, and the file opens again at once, however large it is. When the disk is
//! full or fails, saving gives errors until it has recovered.
//!
//! The size is bounded. The entry that was saved longest ago is evicted first, with a second chance for
//! entries that were read since. That is stored only in memory, as one bit each: reading never writes.
//!
//! This store does not know what an entry means, except for the time of its attempt. An entry that fails its
//! checksum is an error when it is read, and does not prevent saving.

#[cfg(test)]
mod damage;
mod file;
#[cfg(test)]
mod power;
mod readers;
mod writer;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mayi::access::Origin;

use self::file::{File, Trouble};
use self::readers::Readers;
use self::writer::{Change, Writer};
use super::{Store, StoreError, StoreErrorKind, StoreSize, Storing};
use crate::kept::{Kept, milliseconds};

/// A store in one file, which one process at a time can open.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use mayi_fetch::store::{DiskStore, Store};
///
/// let folder = tempfile::tempdir()?;
/// let store = DiskStore::open(folder.path().join("robots.mayi"), 1 << 30)?;
/// assert_eq!(store.size().await?.origins, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub struct DiskStore {
    file: Arc<File>,
    // The threads stop, the writer after it has written everything, when these are dropped.
    writer: Writer,
    readers: Readers,
}

impl DiskStore {
    /// Opens the store in a file, or makes one, for at most so many octets.
    ///
    /// An entry counts for twice its compressed octets, which is about its share of the file. The file
    /// grows by doubling, so it can end at up to twice the bound. It does not shrink by itself, and its space
    /// is used again; [`compact`](Store::compact) returns it to the disk.
    ///
    /// # Errors
    /// When the file can't be opened or made, when it is something else than a store, or one of
    /// another schema version, and when another process has it open.
    pub fn open(path: impl AsRef<Path>, most_octets: u64) -> Result<Self, StoreError> {
        let path = PathBuf::from(path.as_ref());
        let file = File::open(path.clone(), most_octets).map_err(|it| it.error(&path))?;
        Self::of(file)
    }

    fn of(file: File) -> Result<Self, StoreError> {
        let file = Arc::new(file);
        let threads = "the threads of the store can't be started";
        let wrong = |error: io::Error| {
            StoreError::of(StoreErrorKind::Local, format_args!("{threads}: {error}")).caused_by(error)
        };
        let writer = Writer::start(Arc::clone(&file)).map_err(wrong)?;
        let readers = Readers::start().map_err(wrong)?;
        Ok(Self { file, writer, readers })
    }

    /// Uses the file on a thread where waiting for the disk delays nobody.
    fn reading<T: Send + 'static>(
        &self,
        job: impl FnOnce(&File) -> Result<T, Trouble> + Send + 'static,
    ) -> Storing<'_, T> {
        let file = Arc::clone(&self.file);
        Box::pin(async move {
            let read = self.readers.run(move || job(&file)).await;
            match read {
                Some(read) => read.map_err(|trouble| trouble.error(&self.file.path)),
                None => Err(StoreError::of(
                    StoreErrorKind::Damaged,
                    "a thread that reads the store has failed; the file may be damaged",
                )),
            }
        })
    }
}

impl Store for DiskStore {
    fn load<'a>(&'a self, origin: &'a Origin) -> Storing<'a, Option<Arc<Kept>>> {
        let origin = origin.to_string();
        self.reading(move |file| file.load(&origin))
    }

    fn save<'a>(&'a self, kept: &'a Arc<Kept>) -> Storing<'a, ()> {
        Box::pin(async move {
            let origin: Box<str> = kept.origin.to_string().into();
            let octets = kept.encode();
            let weight = file::weight(&origin, &octets);
            if weight > self.file.most_octets {
                let most = self.file.most_octets;
                let message = format!("{origin} needs {weight} octets, and the whole store has {most}");
                return Err(StoreError::of(StoreErrorKind::Full, message));
            }
            let at = milliseconds(kept.last.at);
            self.writer.change(Change::Save { origin, at, octets }).await.map(|_| ())
        })
    }

    fn remove<'a>(&'a self, origin: &'a Origin) -> Storing<'a, bool> {
        Box::pin(self.writer.change(Change::Remove { origin: origin.to_string().into() }))
    }

    fn list<'a>(&'a self, after: Option<&'a str>, limit: usize) -> Storing<'a, Vec<Arc<Kept>>> {
        let after = after.map(str::to_owned);
        self.reading(move |file| file.list(after.as_deref(), limit))
    }

    fn size(&self) -> Storing<'_, StoreSize> {
        let origins = self.file.origins.load(Ordering::Acquire);
        let octets = self.file.octets.load(Ordering::Acquire);
        Box::pin(async move { Ok(StoreSize::new(origins, octets)) })
    }

    fn clear(&self) -> Storing<'_, u64> {
        Box::pin(async move {
            let origins = self.file.origins.load(Ordering::Acquire);
            self.writer.change(Change::Clear).await.map(|_| origins)
        })
    }

    fn check(&self) -> Storing<'_, ()> {
        self.reading(File::check)
    }

    /// Afterwards the file is as small as possible. With many entries this takes a while, and meanwhile loads
    /// and lists give errors.
    fn compact(&self) -> Storing<'_, ()> {
        Box::pin(async move { self.writer.change(Change::Compact).await.map(|_| ()) })
    }

    fn describe(&self) -> String {
        format!("{}, at most {} octets", self.file.path.display(), self.file.most_octets)
    }
}

impl fmt::Debug for DiskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskStore").field("file", &self.describe()).finish_non_exhaustive()
    }
}
