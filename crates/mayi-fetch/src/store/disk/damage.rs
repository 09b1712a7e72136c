//! A file with a flipped bit: what is read from it is what was saved, or nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use super::file::{File, Trouble};
use super::writer::Change;
use crate::kept::Kept;
use crate::kept::milliseconds;
use crate::kept::tests::example;
use crate::store::StoreErrorKind;

const ORIGIN: &str = "https://example.com";

/// A file with one entry.
fn with_one_entry(path: &Path) -> Arc<Kept> {
    let kept = example(ORIGIN, b"User-agent: *\nDisallow: /private\n", 1_700_000_000_000);
    let file = File::open(path.to_owned(), 1 << 30).expect("a file");
    file.write(&[save(&kept)]).expect("written");
    Arc::new(kept)
}

fn save(kept: &Kept) -> Change {
    let at = milliseconds(kept.last.at);
    Change::Save { origin: kept.origin.to_string().into(), at, octets: kept.encode() }
}

/// What a file says that has these octets. The library may panic where it does not trust what it sees.
fn load(path: &Path, octets: &[u8]) -> Option<Result<Option<Arc<Kept>>, Trouble>> {
    std::fs::write(path, octets).expect("a file");
    catch_unwind(AssertUnwindSafe(|| File::open(path.to_owned(), 1 << 30)?.load(ORIGIN))).ok()
}

/// The places where the octets of a needle are.
fn places(hay: &[u8], needle: &[u8]) -> Vec<usize> {
    hay.windows(needle.len()).enumerate().filter(|(_, it)| *it == needle).map(|(at, _)| at).collect()
}

/// Every bit of an entry, one after the other: its origin, its time, its checksum, its octets.
#[test]
fn no_flipped_bit_of_an_entry_gives_another_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let kept = with_one_entry(&path);
    let whole = std::fs::read(&path).expect("a file");
    let time = milliseconds(kept.last.at).to_le_bytes();
    let (mut flipped, mut found) = (0, 0);
    for needle in [ORIGIN.as_bytes(), &time, &kept.encode()] {
        let places = places(&whole, needle);
        assert!(!places.is_empty(), "it is in the file as it was written");
        for bit in 0..needle.len() * 8 {
            let mut damaged = whole.clone();
            for place in &places {
                damaged[place + bit / 8] ^= 1 << (bit % 8);
            }
            flipped += 1;
            match load(&path, &damaged) {
                Some(Ok(Some(there))) => assert!(there == kept, "bit {bit} of {needle:?}: {there:?}"),
                Some(Err(trouble)) => {
                    let kind = trouble.error(&path).kind();
                    found += usize::from(kind == StoreErrorKind::DamagedEntry);
                }
                Some(Ok(None)) | None => {}
            }
        }
    }
    // Nearly all are found by the checksum, and counted; of the others the name or the version is another.
    assert!(flipped > 1000 && found > flipped * 3 / 4, "{found} of {flipped}");
}

/// Bits anywhere in the file, of the pages that the library keeps for itself as well.
#[test]
fn no_flipped_bit_of_a_file_gives_another_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let kept = with_one_entry(&path);
    let whole = std::fs::read(&path).expect("a file");
    // What is zero is not in use, mostly.
    let used: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0).collect();
    let mut dice = fastrand::Rng::with_seed(9309);
    for _ in 0..500 {
        let mut damaged = whole.clone();
        damaged[*dice.choice(&used).expect("some are in use")] ^= 1 << dice.u8(..8);
        if let Some(Ok(Some(there))) = load(&path, &damaged) {
            assert!(there == kept, "{there:?}");
        }
    }
}

/// An entry whose time was damaged into the far future keeps no later attempt out.
#[test]
fn a_damaged_entry_is_written_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let kept = with_one_entry(&path);
    let mut octets = std::fs::read(&path).expect("a file");
    let time = milliseconds(kept.last.at).to_le_bytes();
    for place in places(&octets, &time) {
        octets[place + 6] ^= 0x40;
    }
    assert!(matches!(load(&path, &octets), Some(Err(Trouble::Entry(_)))), "its time is another");
    let file = File::open(path, 1 << 30).expect("a file");
    let next = example(ORIGIN, b"# next\n", 1_700_000_001_000);
    file.write(&[save(&next)]).expect("written");
    assert_eq!(file.load(ORIGIN).expect("an answer"), Some(Arc::new(next)));
}
