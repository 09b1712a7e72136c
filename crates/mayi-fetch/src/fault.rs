//! An error of the system → whether it is a fault of this machine.
//!
//! A process without free file descriptors can't connect to anybody. That says nothing about a site, so it
//! must not be cached as the result of a request. Failures of servers and of networks on the way are not
//! handled in this file.

use std::fmt;
use std::io;

/// What this machine, or this process, lacks to send a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lack {
    /// The process, or the whole system, has no free file descriptors (`EMFILE`, `ENFILE`).
    Descriptors,
    /// The system has no memory for it (`ENOMEM`, `ENOBUFS`).
    Memory,
    /// There is no free local port or address (`EADDRNOTAVAIL`).
    LocalAddress,
    /// This machine has no way to the network of the address (`ENETUNREACH`, `ENETDOWN`).
    Route,
    /// The system does not let this process connect (`EPERM`, `EACCES`).
    Right,
    /// The root certificates of the system can't be read.
    RootCertificates,
    /// Too many fetches already wait.
    Room,
}

impl Lack {
    /// What is lacking, if an error of the system is a fault of this machine.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        Some(match error.kind() {
            io::ErrorKind::OutOfMemory => Self::Memory,
            io::ErrorKind::AddrNotAvailable => Self::LocalAddress,
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::NetworkDown => Self::Route,
            // The library has no kinds for these. The numbers are those of Linux, the BSDs and macOS.
            _ => match error.raw_os_error()? {
                23 | 24 => Self::Descriptors,
                NO_BUFFERS => Self::Memory,
                _ => return None,
            },
        })
    }

    /// The same for an attempt to connect, where a missing right is a fault of this machine too.
    pub(crate) fn of_connecting(error: &io::Error) -> Option<Self> {
        let is_right = error.kind() == io::ErrorKind::PermissionDenied;
        Self::of(error).or_else(|| is_right.then_some(Self::Right))
    }

    /// The lack in one word, as in metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Descriptors => "descriptors",
            Self::Memory => "memory",
            Self::LocalAddress => "local-address",
            Self::Route => "route",
            Self::Right => "right",
            Self::RootCertificates => "root-certificates",
            Self::Room => "room",
        }
    }
}

#[cfg(target_os = "linux")]
const NO_BUFFERS: i32 = 105;
#[cfg(not(target_os = "linux"))]
const NO_BUFFERS: i32 = 55;

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Descriptors => "no free file descriptor",
            Self::Memory => "the system has no memory for another connection",
            Self::LocalAddress => "no free local address or port",
            Self::Route => "this machine has no route to the network of the site",
            Self::Right => "the system does not allow this process to connect",
            Self::RootCertificates => "the root certificates of the system can't be read",
            Self::Room => "too many fetches are waiting already",
        })
    }
}
