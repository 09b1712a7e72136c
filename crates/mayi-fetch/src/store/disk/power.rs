//! The power goes: what was not synced may be lost, in whole or in part and in any order, and what was
//! acknowledged is there.
//!
//! Under the file is a disk in memory. It keeps what is written apart until it is synced. When the power goes, it
//! loses all of that, or keeps some writes and loses others, or tears one in the middle of a sector's neighbours.
//! `MAYI_POWER_LOSSES` is how often that happens: 40 times in the tests, 200 by `scripts/power-loss`.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

use super::DiskStore;
use super::file::{File, Opener, builder, write_schema};
use crate::kept::tests::example;
use crate::kept::{Kept, milliseconds};
use crate::store::{Store, StoreErrorKind};

/// A disk writes this many octets at once, or none of them.
const SECTOR: usize = 512;

/// A disk that is there as long as its machine has power.
#[derive(Clone, Debug, Default)]
struct Disk(Arc<Mutex<Platters>>);

#[derive(Debug, Default)]
struct Platters {
    /// What is on the disk for good.
    synced: Vec<u8>,
    /// What everybody sees as long as there is power.
    seen: Vec<u8>,
    /// What was done since the last sync, in order.
    since: Vec<Step>,
    /// After so many more steps the power goes; nothing where it stays.
    steps_left: Option<usize>,
}

#[derive(Clone, Debug)]
enum Step {
    Write(usize, Vec<u8>),
    Length(usize),
}

impl Step {
    fn on(&self, octets: &mut Vec<u8>) {
        match self {
            Self::Length(length) => octets.resize(*length, 0),
            Self::Write(at, data) => {
                let end = at + data.len();
                if octets.len() < end {
                    octets.resize(end, 0);
                }
                octets[*at..end].copy_from_slice(data);
            }
        }
    }
}

impl Disk {
    fn platters(&self) -> MutexGuard<'_, Platters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more step, if there is still power.
    fn step(&self) -> io::Result<MutexGuard<'_, Platters>> {
        let mut platters = self.platters();
        match &mut platters.steps_left {
            Some(0) => return Err(io::Error::other("there is no power")),
            Some(left) => *left -= 1,
            None => {}
        }
        Ok(platters)
    }

    /// The power goes after so many steps.
    fn goes_after(&self, steps: usize) {
        self.platters().steps_left = Some(steps);
    }

    /// The power is back: of what was not synced there is what the dice say.
    fn comes_back(&self, dice: &mut fastrand::Rng) {
        let mut platters = self.platters();
        let since = std::mem::take(&mut platters.since);
        let mut left = platters.synced.clone();
        match dice.u8(..4) {
            // All of it is lost.
            0 => {}
            // The first steps were done, and the one after them in part.
            1 => {
                let done = dice.usize(..=since.len());
                since[..done].iter().for_each(|step| step.on(&mut left));
                if let Some(Step::Write(at, data)) = since.get(done) {
                    let sectors = dice.usize(..=data.len() / SECTOR);
                    Step::Write(*at, data[..sectors * SECTOR].to_vec()).on(&mut left);
                }
            }
            // Some were done, in their order.
            2 => since.iter().filter(|_| dice.bool()).for_each(|step| step.on(&mut left)),
            // Some sectors were written, in any order.
            _ => {
                let mut sectors = Vec::new();
                for step in &since {
                    match step {
                        Step::Length(_) => sectors.push(step.clone()),
                        Step::Write(at, data) => sectors.extend(
                            data.chunks(SECTOR)
                                .enumerate()
                                .map(|(n, data)| Step::Write(at + n * SECTOR, data.to_vec())),
                        ),
                    }
                }
                // Of two writes to one place the later one may be lost and the earlier one not, and never both kept
                // in the wrong order: a disk has one content in one place at one time.
                sectors.iter().filter(|_| dice.bool()).for_each(|step| step.on(&mut left));
            }
        }
        platters.synced.clone_from(&left);
        platters.seen = left;
        platters.steps_left = None;
    }

    fn store(&self) -> DiskStore {
        let disk = self.clone();
        let opener: Opener = Box::new(move || builder().create_with_backend(disk.clone()));
        let file = File::over(PathBuf::from("a disk in memory"), 1 << 30, opener);
        let file = file.unwrap_or_else(|trouble| panic!("{trouble:?}"));
        DiskStore::of(file).expect("its threads")
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.platters().seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let platters = self.platters();
        if platters.steps_left == Some(0) {
            return Err(io::Error::other("there is no power"));
        }
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let there = platters.seen.get(start..start + out.len());
        out.copy_from_slice(there.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(Step::Length(usize::try_from(len).map_err(io::Error::other)?))
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut platters = self.step()?;
        platters.since.clear();
        let Platters { synced, seen, .. } = &mut *platters;
        synced.clone_from(seen);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let at = usize::try_from(offset).map_err(io::Error::other)?;
        self.change(Step::Write(at, data.to_vec()))
    }
}

impl Disk {
    fn change(&self, step: Step) -> io::Result<()> {
        let mut platters = self.step()?;
        step.on(&mut platters.seen);
        platters.since.push(step);
        Ok(())
    }
}

/// What is saved of an origin at a time: it follows from both, so that it can be looked for later.
fn entry(number: usize, at: u64) -> Kept {
    let body = format!("User-agent: *\nDisallow: /{number}/{at}\n").repeat(1 + number % 40);
    example(&format!("https://site-{number}.example"), body.as_bytes(), at)
}

#[test]
fn what_was_acknowledged_outlives_the_power() {
    let losses = std::env::var("MAYI_POWER_LOSSES").ok();
    let losses: usize = losses.map_or(40, |losses| losses.parse().expect("a number"));
    let mut dice = fastrand::Rng::with_seed(9309);
    let disk = Disk::default();
    {
        let database = builder().create_with_backend(disk.clone()).expect("a database");
        write_schema(&database).expect("its tables");
    }
    // By origin: the time of the last save that was acknowledged, and of the last that was begun.
    let told: Arc<Mutex<HashMap<usize, (u64, u64)>>> = Arc::default();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let mut at = 1_700_000_000_000;
    for loss in 0..losses {
        at += 1_000;
        runtime.block_on(async {
            let store = Arc::new(disk.store());
            check(&store, &told, loss).await;
            disk.goes_after(dice.usize(1..400));
            let mut tasks = tokio::task::JoinSet::new();
            for task in 0..8 {
                let (store, told) = (Arc::clone(&store), Arc::clone(&told));
                let acknowledged = Arc::clone(&acknowledged);
                tasks.spawn(async move {
                    // The power goes at some point, and then nothing is saved any more.
                    for round in 0..400 {
                        let number = task * 25 + round % 25;
                        let time = at + round as u64;
                        {
                            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                            let (last, begun) = told.get(&number).copied().unwrap_or_default();
                            told.insert(number, (last, begun.max(time)));
                        }
                        let kept = Arc::new(entry(number, time));
                        if let Err(error) = store.save(&kept).await {
                            assert_ne!(error.kind(), StoreErrorKind::DamagedEntry, "{error}");
                            break;
                        }
                        acknowledged.fetch_add(1, Ordering::Relaxed);
                        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                        told.entry(number).and_modify(|it| it.0 = time);
                    }
                });
            }
            while let Some(task) = tasks.join_next().await {
                task.expect("a task that ends");
            }
        });
        disk.comes_back(&mut dice);
    }
    runtime.block_on(async { check(&Arc::new(disk.store()), &told, losses).await });
    let acknowledged = acknowledged.load(Ordering::Relaxed);
    println!("{losses} power losses, {acknowledged} acknowledged saves, none lost");
    assert!(acknowledged > losses, "something was acknowledged: {acknowledged}");
}

/// Everything that was acknowledged is there: as it was saved, or as a later save has it that was begun.
async fn check(store: &Arc<DiskStore>, told: &Mutex<HashMap<usize, (u64, u64)>>, loss: usize) {
    let told = told.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for (number, (last, begun)) in told {
        let origin = entry(number, 1).origin;
        let there = store.load(&origin).await.unwrap_or_else(|error| panic!("after {loss}: {error}"));
        let Some(there) = there else {
            assert_eq!(last, 0, "after {loss} losses site {number} is lost");
            continue;
        };
        let at = milliseconds(there.last.at);
        assert!(
            (last..=begun).contains(&at),
            "after {loss} losses site {number} is of {at}, not {last}"
        );
        assert!(*there == entry(number, at), "after {loss} losses site {number} is another");
    }
}
