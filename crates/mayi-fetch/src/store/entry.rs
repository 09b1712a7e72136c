//! The octets of an entry, and what a store keeps beside them → the entry, or that it is damaged.
//!
//! The checksum is over the octets of the entry only. They include the origin and the time, so that what a
//! store keeps beside them can be checked.

use std::sync::Arc;

use super::{StoreError, StoreErrorKind};
use crate::kept::{Kept, Undecodable, milliseconds};

/// Reads the entry that a store has under an origin, with this time in milliseconds. An entry with another
/// schema version counts as none.
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
