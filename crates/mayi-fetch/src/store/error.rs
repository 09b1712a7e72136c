//! What went wrong with a store: a kind for code, and a message for people.

use std::fmt;
use std::sync::Arc;

/// The kinds of store errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// It does not answer, or not in time.
    Unreachable,
    /// It refuses access: a wrong password, a missing right.
    Refused,
    /// It has no room left: a full disk, a server at its `maxmemory`.
    Full,
    /// One entry fails its checksum. It counts as absent, and the next fetch overwrites it.
    DamagedEntry,
    /// The store itself is damaged.
    Damaged,
    /// Another process uses it, or it is being opened again.
    Busy,
    /// It is not a store, or has another version, or its name is not the name of a store.
    Unsuitable,
    /// This process lacks something that every store needs: file descriptors, memory, threads.
    Local,
    /// Anything else.
    Other,
}

impl StoreErrorKind {
    /// The kind in one word, as in metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Refused => "refused",
            Self::Full => "full",
            Self::DamagedEntry => "damaged-entry",
            Self::Damaged => "damaged",
            Self::Busy => "busy",
            Self::Unsuitable => "unsuitable",
            Self::Local => "local",
            Self::Other => "other",
        }
    }

    /// The kind of an error of the system.
    #[cfg(feature = "disk")]
    pub(crate) fn of_io(error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        if crate::fault::Lack::of(error).is_some() {
            return Self::Local;
        }
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Self::Full,
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Self::Refused,
            ErrorKind::TimedOut
            | ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::NotConnected
            | ErrorKind::BrokenPipe
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::UnexpectedEof => Self::Unreachable,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for StoreErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What went wrong with a store.
#[derive(Clone, Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    message: Box<str>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// An error with a message for people.
    pub fn new(message: impl fmt::Display) -> Self {
        Self::of(StoreErrorKind::Other, message)
    }

    /// An error of this kind, with a message for people.
    pub fn of(kind: StoreErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string().into(), source: None }
    }

    /// The same, with the error that it came from.
    #[must_use]
    pub fn caused_by(self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { source: Some(Arc::new(source)), ..self }
    }

    /// Its kind.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.source.as_deref()?;
        Some(source)
    }
}
