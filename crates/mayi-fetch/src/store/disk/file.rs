//! The file of a [`DiskStore`](super::DiskStore): its tables, its transactions, and the eviction when it is
//! full.
//!
//! | table | key | value |
//! | --- | --- | --- |
//! | `kept` | origin | time of the attempt, turn, octets of the entry |
//! | `turns` | turn | origin: the lowest goes first |
//! | `facts` | `schema`, `octets` | a number |

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, TryLockError};

use redb::{
    Database, DatabaseError, Durability, ReadableDatabase, ReadableTable, ReadableTableMetadata, Table,
    TableDefinition,
};

use super::writer::Change;
use crate::kept::Kept;
use crate::store::{StoreError, StoreErrorKind, entry};

const KEPT: TableDefinition<'_, &str, (u64, u64, &[u8])> = TableDefinition::new("kept");
const TURNS: TableDefinition<'_, u64, &str> = TableDefinition::new("turns");
const FACTS: TableDefinition<'_, &str, u64> = TableDefinition::new("facts");

/// The version of the tables. Entries have their own version; those with another one count as absent.
const SCHEMA: u64 = 1;

/// Pages that the library keeps in memory.
const CACHE: usize = 64 << 20;

/// The maximum number of entries that are evicted in one transaction, so that it stays short.
const MOST_EVICTED: usize = 4096;

/// What an entry costs besides its octets and its origin: numbers, offsets, its share of the tree.
const OVERHEAD: u64 = 64;

/// How many octets of the file an entry counts for. Its origin is in two tables; and a file whose pages
/// are never changed in place, which is what makes it survive, is half free or partly filled pages.
pub(super) fn weight(origin: &str, octets: &[u8]) -> u64 {
    2 * (2 * origin.len() as u64 + octets.len() as u64 + OVERHEAD)
}

/// The function that opens the file: tests use something other than a disk.
pub(super) type Opener = Box<dyn Fn() -> Result<Database, DatabaseError> + Send + Sync>;

/// A file that is open, or must be opened again after a failure.
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) most_octets: u64,
    pub(super) origins: AtomicU64,
    pub(super) octets: AtomicU64,
    /// Nothing after a failure, until it could be opened again.
    database: RwLock<Option<Database>>,
    opener: Opener,
    asked_for: AskedFor,
}

impl File {
    pub(super) fn open(path: PathBuf, most_octets: u64) -> Result<Self, Trouble> {
        let place = followed(&path)?;
        if is_unmade(&place)? {
            make(&place)?;
        }
        let there = path.clone();
        Self::over(path, most_octets, Box::new(move || builder().open(&there)))
    }

    /// The file that this opens.
    pub(super) fn over(path: PathBuf, most_octets: u64, opener: Opener) -> Result<Self, Trouble> {
        let (database, size) = open(&opener)?;
        Ok(Self {
            path,
            most_octets,
            origins: size.origins.into(),
            octets: size.octets.into(),
            database: RwLock::new(Some(database)),
            asked_for: AskedFor::new(),
            opener,
        })
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.octets.load(Ordering::Acquire) > self.most_octets
    }

    pub(super) fn load(&self, origin: &str) -> Result<Option<Arc<Kept>>, Trouble> {
        self.with_database(|database| {
            let kept = database.begin_read()?.open_table(KEPT)?;
            let Some(entry) = kept.get(origin)? else { return Ok(None) };
            let (at, _, octets) = entry.value();
            self.asked_for.note(origin);
            Ok(Some(entry::read(origin, Some(at), octets)))
        })?
        .map_or(Ok(None), |read| read.map_err(Trouble::Entry))
    }

    pub(super) fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<Arc<Kept>>, Trouble> {
        self.with_database(|database| {
            let kept = database.begin_read()?.open_table(KEPT)?;
            let start = after.map_or(Bound::Unbounded, Bound::Excluded);
            let mut found = Vec::new();
            for entry in kept.range::<&str>((start, Bound::Unbounded))? {
                if found.len() == limit {
                    break;
                }
                let (origin, value) = entry?;
                let (at, _, octets) = value.value();
                found.extend(entry::read(origin.value(), Some(at), octets).ok().flatten());
            }
            Ok(found)
        })
    }

    /// Whether the file can be read.
    pub(super) fn check(&self) -> Result<(), Trouble> {
        self.with_database(|database| {
            database.begin_read()?.open_table(FACTS)?;
            Ok(())
        })
    }

    /// Writes changes durably, all or none, and says of each whether there was something before.
    ///
    /// Only one thread may call it.
    pub(super) fn write(&self, changes: &[Change]) -> Result<Vec<bool>, StoreError> {
        self.reopen_after_failure()?;
        let written = self.with_database(|database| self.transaction(database, changes));
        match written {
            Ok((answers, size)) => {
                self.origins.store(size.origins, Ordering::Release);
                self.octets.store(size.octets, Ordering::Release);
                Ok(answers)
            }
            Err(trouble) => Err(self.failed(trouble.error(&self.path))),
        }
    }

    /// Returns the space of removed entries to the disk: the remaining entries are moved to the front, and
    /// the file is cut after them. Readers get an error in the meantime. A process that is killed in the
    /// meantime loses nothing, but the next one reads the whole file to open it.
    ///
    /// Only the thread that writes may call it.
    pub(super) fn compact(&self) -> Result<(), StoreError> {
        self.reopen_after_failure()?;
        let compacted = {
            let mut place = self.database.write().unwrap_or_else(PoisonError::into_inner);
            match place.as_mut() {
                Some(database) => database.compact().map_err(redb::Error::from).map_err(Trouble::from),
                None => Err(Trouble::Closed),
            }
        };
        compacted.map_err(|trouble| self.failed(trouble.error(&self.path)))?;
        // The library has left out the data that lets the file open at once after a crash; a write restores
        // it.
        self.write(&[]).map(|_| ())
    }

    /// Closes the file after a failure. The library trusts nothing that it has in memory then, not
    /// even for reading, so it is opened again at once where that is possible.
    pub(super) fn failed(&self, error: StoreError) -> StoreError {
        *self.database.write().unwrap_or_else(PoisonError::into_inner) = None;
        // The next caller tries again.
        let _ = self.reopen_after_failure();
        error
    }

    fn reopen_after_failure(&self) -> Result<(), StoreError> {
        // Readers are sent away while the place is locked, so it is locked only where it is empty.
        if self.database.read().unwrap_or_else(PoisonError::into_inner).is_some() {
            return Ok(());
        }
        let mut place = self.database.write().unwrap_or_else(PoisonError::into_inner);
        if place.is_none() {
            let (database, size) = open(&self.opener).map_err(|trouble| trouble.error(&self.path))?;
            self.origins.store(size.origins, Ordering::Release);
            self.octets.store(size.octets, Ordering::Release);
            *place = Some(database);
        }
        Ok(())
    }

    fn with_database<T>(
        &self,
        job: impl FnOnce(&Database) -> Result<T, redb::Error>,
    ) -> Result<T, Trouble> {
        let place = match self.database.try_read() {
            Ok(place) => place,
            Err(TryLockError::Poisoned(place)) => place.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(Trouble::Closed),
        };
        job(place.as_ref().ok_or(Trouble::Closed)?).map_err(Trouble::Library)
    }

    fn transaction(
        &self,
        database: &Database,
        changes: &[Change],
    ) -> Result<(Vec<bool>, Size), redb::Error> {
        let mut transaction = database.begin_write()?;
        transaction.set_durability(Durability::Immediate)?;
        // Without it, opening the file after a crash reads all of it.
        transaction.set_quick_repair(true);
        let answers;
        let size;
        {
            let mut facts = transaction.open_table(FACTS)?;
            let mut tables = Tables::of(transaction.open_table(KEPT)?, transaction.open_table(TURNS)?)?;
            tables.octets = facts.get("octets")?.map_or(0, |octets| octets.value());
            answers = changes.iter().map(|change| tables.apply(change)).collect::<Result<_, _>>()?;
            tables.evict(self.most_octets, &self.asked_for, changes.len())?;
            facts.insert("octets", tables.octets)?;
            size = Size { origins: tables.kept.len()?, octets: tables.octets };
        }
        transaction.commit()?;
        Ok((answers, size))
    }
}

/// The tables within a transaction.
struct Tables<'t> {
    kept: Table<'t, &'static str, (u64, u64, &'static [u8])>,
    turns: Table<'t, u64, &'static str>,
    next_turn: u64,
    octets: u64,
}

impl<'t> Tables<'t> {
    fn of(
        kept: Table<'t, &'static str, (u64, u64, &'static [u8])>,
        turns: Table<'t, u64, &'static str>,
    ) -> Result<Self, redb::Error> {
        let next_turn = turns.last()?.map_or(0, |(turn, _)| turn.value() + 1);
        Ok(Self { kept, turns, next_turn, octets: 0 })
    }

    /// Makes a change, and says whether there was something before.
    fn apply(&mut self, change: &Change) -> Result<bool, redb::Error> {
        match change {
            Change::Save { origin, at, octets } => {
                let is_later = self.kept.get(&**origin)?.is_some_and(|there| {
                    let (its, _, octets) = there.value();
                    // An entry that can't be read does not prevent a save, whatever its time is.
                    its > *at && entry::read(origin, Some(its), octets).is_ok_and(|kept| kept.is_some())
                });
                if is_later {
                    return Ok(true);
                }
                let before = self.remove(origin)?;
                self.insert(origin, *at, octets)?;
                Ok(before)
            }
            Change::Remove { origin } => self.remove(origin),
            Change::Clear => self.clear(),
            // It is done after the transaction.
            Change::Compact => Ok(false),
        }
    }

    /// Removes everything, including entries that can't be read.
    fn clear(&mut self) -> Result<bool, redb::Error> {
        let was_empty = self.kept.is_empty()?;
        self.kept.retain(|_, _| false)?;
        self.turns.retain(|_, _| false)?;
        self.octets = 0;
        Ok(!was_empty)
    }

    fn insert(&mut self, origin: &str, at: u64, octets: &[u8]) -> Result<(), redb::Error> {
        self.kept.insert(origin, (at, self.next_turn, octets))?;
        self.turns.insert(self.next_turn, origin)?;
        self.next_turn += 1;
        self.octets += weight(origin, octets);
        Ok(())
    }

    fn remove(&mut self, origin: &str) -> Result<bool, redb::Error> {
        let Some(there) = self.kept.remove(origin)? else { return Ok(false) };
        let (_, turn, octets) = there.value();
        self.octets = self.octets.saturating_sub(weight(origin, octets));
        self.turns.remove(turn)?;
        Ok(true)
    }

    /// Evicts the oldest entries until the limit is kept. An entry that was read since its last turn gets
    /// another one, but no more of them than were changed, so that this ends.
    fn evict(&mut self, most: u64, asked_for: &AskedFor, changed: usize) -> Result<(), redb::Error> {
        let mut chances = changed;
        for _ in 0..MOST_EVICTED + chances {
            if self.octets <= most {
                break;
            }
            let oldest = self.turns.pop_first()?.map(|(_, origin)| origin.value().to_owned());
            let Some(origin) = oldest else { break };
            let there = self.kept.remove(&*origin)?.map(|there| {
                let (at, _, octets) = there.value();
                (at, octets.to_vec())
            });
            let Some((at, octets)) = there else { continue };
            self.octets = self.octets.saturating_sub(weight(&origin, &octets));
            if chances > 0 && asked_for.take(&origin) {
                chances -= 1;
                self.insert(&origin, at, &octets)?;
            }
        }
        Ok(())
    }
}

/// Which origins were read: one bit for all origins of one hash. An origin that shares its bit with another
/// may be spared once too often, and nothing worse.
struct AskedFor {
    hasher: RandomState,
    bits: Box<[AtomicU64]>,
}

impl AskedFor {
    fn new() -> Self {
        let bits = std::iter::repeat_with(AtomicU64::default).take(1 << 14).collect();
        Self { hasher: RandomState::new(), bits }
    }

    fn note(&self, origin: &str) {
        let (word, bit) = self.place(origin);
        // Most bits are already set, and a read does not move the word from the caches of other cores.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    fn take(&self, origin: &str) -> bool {
        let (word, bit) = self.place(origin);
        word.fetch_and(!bit, Ordering::Relaxed) & bit != 0
    }

    fn place(&self, origin: &str) -> (&AtomicU64, u64) {
        let hash = self.hasher.hash_one(origin);
        (&self.bits[(hash >> 6) as usize % self.bits.len()], 1 << (hash & 63))
    }
}

/// How much there is.
struct Size {
    origins: u64,
    octets: u64,
}

/// Opens a file that is there. The library takes some damage for a fault of its own, and panics.
fn open(opener: &Opener) -> Result<(Database, Size), Trouble> {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let database = opener().map_err(redb::Error::from)?;
        let size = read_size(&database)?;
        Ok((database, size))
    }));
    caught.unwrap_or(Err(Trouble::Damaged))
}

pub(super) fn builder() -> redb::Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE);
    builder
}

fn read_size(database: &Database) -> Result<Size, Trouble> {
    let transaction = database.begin_read().map_err(redb::Error::from)?;
    let facts = transaction.open_table(FACTS).map_err(|_| Trouble::SomethingElse)?;
    let fact = |name| facts.get(name).map(|fact| fact.map(|fact| fact.value()));
    match fact("schema").map_err(redb::Error::from)? {
        Some(SCHEMA) => {}
        Some(other) => return Err(Trouble::Schema(other)),
        None => return Err(Trouble::SomethingElse),
    }
    let octets = fact("octets").map_err(redb::Error::from)?.unwrap_or(0);
    let kept = transaction.open_table(KEPT).map_err(redb::Error::from)?;
    Ok(Size { origins: kept.len().map_err(redb::Error::from)?, octets })
}

/// The file that a path leads to, through links to files that are not there yet.
fn followed(path: &Path) -> Result<PathBuf, Trouble> {
    let mut place = path.to_owned();
    // As many as systems follow at most.
    for _ in 0..40 {
        let Ok(link) = std::fs::read_link(&place) else { return Ok(place) };
        // A link is relative to its own folder.
        place = place.parent().map_or_else(|| link.clone(), |folder| folder.join(&link));
    }
    Err(Trouble::Library(redb::Error::Io(io::Error::other(
        "it is a symbolic link that points to itself",
    ))))
}

/// Whether there is no file yet. An empty file counts as none: scripts create one to choose a name.
fn is_unmade(path: &Path) -> Result<bool, Trouble> {
    match std::fs::metadata(path) {
        Ok(there) => Ok(there.len() == 0 && there.is_file()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Trouble::Library(redb::Error::Io(error))),
    }
}

/// Makes a new file under another name, and renames it when it is complete: a process that is killed in
/// between leaves nothing that can't be opened.
///
/// Only one process makes the file at a time, because the library locks it under its first name too. The second
/// one checks whether the file is still needed: it must not replace a file that is already in use, because all
/// data there would be lost.
fn make(path: &Path) -> Result<(), Trouble> {
    let io = |error| Trouble::Library(redb::Error::Io(error));
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    while is_unmade(path)? {
        let database = match Database::create(&unfinished) {
            Err(DatabaseError::Storage(_)) => {
                // A file that a killed process left behind.
                gone_already(std::fs::remove_file(&unfinished)).map_err(io)?;
                Database::create(&unfinished)
            }
            created => created,
        };
        let database = database.map_err(redb::Error::from)?;
        write_schema(&database).map_err(Trouble::Library)?;
        let published = if is_unmade(path)? {
            std::fs::rename(&unfinished, path)
        } else {
            std::fs::remove_file(&unfinished)
        };
        // If it no longer has that name, another process has renamed it.
        gone_already(published).map_err(io)?;
        drop(database);
    }
    // The name of the file has to last as well.
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(io)?;
    }
    Ok(())
}

/// It is not an error if the file does not exist.
fn gone_already(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

pub(super) fn write_schema(database: &Database) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    transaction.open_table(FACTS)?.insert("schema", SCHEMA)?;
    transaction.open_table(KEPT)?;
    transaction.open_table(TURNS)?;
    transaction.commit()?;
    Ok(())
}

/// What went wrong with a file.
#[derive(Debug)]
pub(super) enum Trouble {
    Library(redb::Error),
    SomethingElse,
    Schema(u64),
    Damaged,
    Entry(StoreError),
    Closed,
}

impl Trouble {
    pub(super) fn error(self, path: &Path) -> StoreError {
        let message = format!("{}: {}", path.display(), self.message());
        let error = StoreError::of(self.kind(), message);
        match self {
            Self::Library(library) => error.caused_by(library),
            Self::Entry(entry) => error.caused_by(entry),
            _ => error,
        }
    }

    fn kind(&self) -> StoreErrorKind {
        match self {
            Self::Library(redb::Error::DatabaseAlreadyOpen) | Self::Closed => StoreErrorKind::Busy,
            Self::Library(redb::Error::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                StoreErrorKind::Unsuitable
            }
            Self::Library(redb::Error::Io(error)) => StoreErrorKind::of_io(error),
            Self::Library(redb::Error::Corrupted(_)) | Self::Damaged => StoreErrorKind::Damaged,
            Self::Library(_) => StoreErrorKind::Other,
            Self::Entry(error) => error.kind(),
            Self::SomethingElse | Self::Schema(_) => StoreErrorKind::Unsuitable,
        }
    }

    fn message(&self) -> String {
        let something_else = "this file is not a store of mayi; name another file";
        let damaged = "this store is damaged; name another file, or remove this one: its files will \
                       be fetched again";
        match self {
            Self::Library(redb::Error::DatabaseAlreadyOpen) => {
                "another process has this store open, and only one process at a time can open it".into()
            }
            Self::Library(redb::Error::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                something_else.into()
            }
            Self::Library(redb::Error::Corrupted(what)) => format!("{damaged} ({what})"),
            Self::Library(error) => error.to_string(),
            Self::Damaged => damaged.into(),
            Self::Entry(error) => error.to_string(),
            Self::SomethingElse => something_else.into(),
            Self::Schema(other) => format!(
                "this store has schema version {other}, and this program knows {SCHEMA}; name another \
                 file, or remove this one: its files will be fetched again"
            ),
            Self::Closed => {
                "this store is closed after a failure, until a write can open it again".into()
            }
        }
    }
}

impl From<redb::Error> for Trouble {
    fn from(error: redb::Error) -> Self {
        Self::Library(error)
    }
}
