//! The octets of an entry, and what stands beside them → what is kept, or that the entry is damaged.
//!
//! The checksum is over the octets of the entry alone. Whose entry it is, and of which time, is in those octets as
//! well, so that what a store has beside them can be held against them.

use std::sync::Arc;

use super::{StoreError, StoreErrorKind};
use crate::kept::{Kept, Undecodable, milliseconds};

/// Reads the entry that a store has under the name of an origin, and says is of this time, in milliseconds. One of another
/// schema version is none.
pub(super) fn read(
    origin: &str,
    at: Option<u64>,
    octets: &[u8],
) -> Result<Option<Arc<Kept>>, StoreError> {
    let damaged = |what: &str| {
        let message = format_args!("the entry of {} is damaged: {what}", origin.escape_debug());
        Err(StoreError::of(StoreErrorKind::DamagedEntry, message))
    };
    match Kept::decode(octets) {
        Err(Undecodable::OtherSchema) => Ok(None),
        Err(Undecodable::Damaged(what)) => damaged(what),
        Ok(kept) if kept.origin.to_string() != origin => damaged("it belongs to another site"),
        Ok(kept) if at != Some(milliseconds(kept.last.at)) => damaged("its time is wrong"),
        Ok(kept) => Ok(Some(Arc::new(kept))),
    }
}
