//! Keeping checkpoints of a running search.
//!
//! # Threads
//!
//! While the search runs, a thread of the keeper sleeps until the interval is over, and then copies
//! the table into a file, in which everybody goes on storing, and after it the tree, piece by piece
//! as the search hands it over ([`TreePort`]). It has a processor to itself or shares one like any
//! other program; the search never waits for it. When the search is over, a copy in progress is given
//! up, and one more checkpoint is written from what the search has left, by all threads of the current
//! pool of `rayon`. That holds for a search with an answer too: a proof of it, or another question,
//! then does not take the search again.
//!
//! The thread learns what the search has counted through a mutex that the observer's calls update,
//! every few milliseconds. The totals in a file are those of the moment at which it was begun: what
//! is found while the table is copied may be in the file already, and is not counted yet.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::error::CheckpointError;
use super::format::{Header, Identity, Totals};
use super::reader::CheckpointReader;
use super::writer::{CheckpointWriter, Written};
use crate::file::{Lock, refuse_other};
use crate::search::run::{CheckpointProgress, Counters, Observer, Progress, Report};
use crate::search::snapshot::{SavedTree, Sent, TreePort, TreeRoom, copy_whole};
use crate::search::table::Table;
use crate::system::{STACK_BYTES, disk_free, thread};

/// How often a keeper that waits for the tree sees whether it shall go on.
const PATIENCE: Duration = Duration::from_millis(20);

/// A checkpoint that was written, or why it was not.
#[derive(Debug)]
pub struct Save {
    /// What became of it.
    pub result: Result<Written, CheckpointError>,
    /// How long that took.
    pub took: Duration,
}

/// Writes checkpoints of one search to one file, and brings back what is in it.
///
/// It holds a lock, the file `<path>.lock`, so that there is one keeper for a file at a time; the
/// lock ends with the process, however that ends.
#[derive(Debug)]
pub struct Keeper {
    path: PathBuf,
    interval: Duration,
    identity: Identity,
    bound: u64,
    before: Totals,
    /// The file to go on from, until it has been read.
    resumed: Mutex<Option<CheckpointReader>>,
    saves: Mutex<Vec<Save>>,
    searched: Mutex<Duration>,
    _lock: Lock,
}

impl Keeper {
    /// For a new search, whose checkpoints have at most `bound` bytes ([`size_bound`]).
    ///
    /// [`size_bound`]: super::format::size_bound
    ///
    /// # Errors
    /// If the disk has less room, there is a file already or something that is none, somebody else
    /// keeps checkpoints in it, or it cannot be created.
    pub fn begin(
        path: &Path,
        identity: Identity,
        bound: u64,
        interval: Duration,
    ) -> Result<Self, CheckpointError> {
        refuse_other(path)?;
        check_room(path, bound)?;
        if path.symlink_metadata().is_ok() {
            return Err(CheckpointError::Exists { path: path.to_owned() });
        }
        let lock = lock_beside(path)?;
        if path.symlink_metadata().is_ok() {
            return Err(CheckpointError::Exists { path: path.to_owned() });
        }
        Keeper::new(path, identity, bound, interval, lock, None)
    }

    /// For a search that goes on from the checkpoint in the file. Reads its header and footer only;
    /// [`Keeper::restore`] reads the rest.
    ///
    /// # Errors
    /// If the disk has less room than `bound`, there is no file, it is no sound checkpoint of this
    /// search, as far as header and footer tell, or somebody else keeps checkpoints in it.
    pub fn resume(
        path: &Path,
        identity: Identity,
        bound: u64,
        interval: Duration,
    ) -> Result<Self, CheckpointError> {
        check_room(path, bound)?;
        // Before the lock, which would leave something beside a file that is not there.
        CheckpointReader::open(path)?.expect(&identity)?;
        let lock = lock_beside(path)?;
        let reader = CheckpointReader::open(path)?;
        reader.expect(&identity)?;
        Keeper::new(path, identity, bound, interval, lock, Some(reader))
    }

    fn new(
        path: &Path,
        identity: Identity,
        bound: u64,
        interval: Duration,
        lock: Lock,
        resumed: Option<CheckpointReader>,
    ) -> Result<Self, CheckpointError> {
        let before = resumed.as_ref().map_or(Totals::default(), |reader| reader.header().totals);
        let keeper = Keeper {
            path: path.to_owned(),
            interval,
            identity,
            bound,
            before,
            resumed: Mutex::new(resumed),
            saves: Mutex::default(),
            searched: Mutex::default(),
            _lock: lock,
        };
        // A file that cannot be written is found out before the search.
        drop(keeper.writer(&Counters::default(), Duration::ZERO)?);
        Ok(keeper)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Between the end of a checkpoint and the beginning of the next one.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// The most bytes that a checkpoint can have.
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// What earlier runs took; all zero for a new search.
    pub fn before(&self) -> &Totals {
        &self.before
    }

    /// How long the search took, once it is over; nothing that the keeper does is counted.
    pub fn searched(&self) -> Duration {
        *lock(&self.searched)
    }

    /// All runs together, once the search is over.
    pub fn totals(&self, counters: &Counters) -> Totals {
        self.before.and(counters, nanoseconds(self.searched()))
    }

    /// The checkpoints since the last call, oldest first.
    pub fn take_saves(&self) -> Vec<Save> {
        std::mem::take(&mut *lock(&self.saves))
    }

    /// Fills an empty table and makes the tree, if there is a checkpoint to go on from.
    ///
    /// # Errors
    /// As [`CheckpointReader::load`], which does not go on once `stop` is set.
    pub fn restore(
        &self,
        table: &Table,
        key_of: impl Fn(u64) -> u64 + Sync,
        room: Option<TreeRoom>,
        stop: Option<&AtomicBool>,
        observer: &mut dyn Observer,
    ) -> Result<Option<SavedTree>, CheckpointError> {
        let Some(reader) = lock(&self.resumed).take() else { return Ok(None) };
        reader.load(table, key_of, room, &mut |done, of| {
            observer.checkpoint(&CheckpointProgress { writing: false, done, of });
            !stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
        })
    }

    /// Runs a search and keeps checkpoints of it; returns when the last one is on the disk. The search
    /// gets an observer and a port, which it need not use if it has no tree.
    ///
    /// What goes wrong with a checkpoint does not end the search, see [`Keeper::take_saves`].
    pub fn run(
        &self,
        table: &Table,
        observer: &mut dyn Observer,
        has_tree: bool,
        search: impl FnOnce(&mut dyn Observer, &TreePort) -> Report,
    ) -> Report {
        let port = TreePort::kept();
        let state = State::default();
        let begun = Instant::now();
        let report = std::thread::scope(|scope| {
            let guard = EndGuard(&state);
            let (state, port) = (&state, &port);
            let work = move || self.keep(table, has_tree.then_some(port), state, begun);
            let thread = thread("checkpoints", STACK_BYTES);
            if let Err(source) = thread.spawn_scoped(scope, work) {
                let error = CheckpointError::io("start a thread for", &self.path)(source);
                self.note(begun, Err(error));
            }
            let mut watched = Watched { observer, latest: &state.latest };
            let report = search(&mut watched, port);
            *lock(&self.searched) = begun.elapsed();
            drop(guard);
            report
        });
        // An answer that came from the checkpoint itself adds nothing to it.
        let is_there = self.before.runs > 0
            && report.outcome.value().is_some()
            && report.counters.expansions <= 1;
        if !is_there {
            let start = Instant::now();
            let left = port.left();
            let result = self.save_rest(table, left.as_ref(), &report.counters, observer);
            self.note(start, result);
        }
        report
    }

    /// Writes a checkpoint whenever the interval is over, until the search ends.
    fn keep(&self, table: &Table, port: Option<&TreePort>, state: &State, begun: Instant) {
        while state.wait(self.interval) {
            let start = Instant::now();
            let counters = *lock(&state.latest);
            match self.save_running(table, port, state, &counters, begun.elapsed()) {
                Ok(None) => return,
                Ok(Some(written)) => self.note(start, Ok(written)),
                Err(error) => self.note(start, Err(error)),
            }
        }
    }

    /// Nothing if the search ended before the checkpoint was whole.
    fn save_running(
        &self,
        table: &Table,
        port: Option<&TreePort>,
        state: &State,
        counters: &Counters,
        elapsed: Duration,
    ) -> Result<Option<Written>, CheckpointError> {
        let mut writer = self.writer(counters, elapsed)?;
        if !writer.table(table, 1, &mut |_, _| !state.has_ended())? {
            return Ok(None);
        }
        if let Some(port) = port {
            let receiver = port.request();
            loop {
                match receiver.recv_timeout(PATIENCE) {
                    Ok(Sent::Part(piece)) => writer.records(&piece)?,
                    Ok(Sent::End(piece, nodes, bytes)) => {
                        if nodes > 0 {
                            writer.records(&piece)?;
                        }
                        writer.set_tree(nodes, bytes);
                        break;
                    }
                    Err(_) if state.has_ended() => return Ok(None),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ok(None),
                }
            }
        }
        writer.finish().map(Some)
    }

    /// Writes what a search has left.
    fn save_rest(
        &self,
        table: &Table,
        tree: Option<&SavedTree>,
        counters: &Counters,
        observer: &mut dyn Observer,
    ) -> Result<Written, CheckpointError> {
        let mut writer = self.writer(counters, self.searched())?;
        // Nobody else needs the threads any more.
        let pieces = 8 * rayon::current_num_threads();
        writer.table(table, pieces, &mut |done, of| {
            observer.checkpoint(&CheckpointProgress { writing: true, done, of });
            true
        })?;
        if let Some(tree) = tree.filter(|tree| tree.has_nodes()) {
            let (nodes, bytes) = copy_whole(tree, |piece| writer.records(&piece))?;
            writer.set_tree(nodes, bytes);
        }
        writer.finish()
    }

    fn writer(
        &self,
        counters: &Counters,
        elapsed: Duration,
    ) -> Result<CheckpointWriter, CheckpointError> {
        let totals = self.before.and(counters, nanoseconds(elapsed));
        CheckpointWriter::create(&self.path, &Header { identity: self.identity.clone(), totals })
    }

    fn note(&self, start: Instant, result: Result<Written, CheckpointError>) {
        lock(&self.saves).push(Save { result, took: start.elapsed() });
    }
}

/// What the search and the keeper's thread tell each other.
#[derive(Default)]
struct State {
    latest: Mutex<Counters>,
    /// Read by the thread between blocks; nothing is published through it.
    ended: AtomicBool,
    /// The same for sleeping; the mutex publishes it.
    over: Mutex<bool>,
    wake: Condvar,
}

impl State {
    /// Sleeps; false if the search ends meanwhile.
    fn wait(&self, time: Duration) -> bool {
        let over = lock(&self.over);
        let waited = self.wake.wait_timeout_while(over, time, |over| !*over);
        !*waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

/// Tells the thread that the search is over, also if it panics.
struct EndGuard<'a>(&'a State);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Relaxed);
        *lock(&self.0.over) = true;
        self.0.wake.notify_all();
    }
}

/// Passes progress on and remembers the counters.
struct Watched<'a> {
    observer: &'a mut dyn Observer,
    latest: &'a Mutex<Counters>,
}

impl Observer for Watched<'_> {
    fn progress(&mut self, progress: &Progress) {
        *lock(self.latest) = progress.counters;
        self.observer.progress(progress);
    }
}

/// Whether so many bytes fit on the disk of a file, as far as the system says.
fn check_room(path: &Path, need: u64) -> Result<(), CheckpointError> {
    match disk_free(path) {
        Some(have) if have < need => {
            Err(CheckpointError::NoRoom { path: path.to_owned(), need, have })
        }
        _ => Ok(()),
    }
}

/// Locks the file `<path>.lock`.
fn lock_beside(path: &Path) -> Result<Lock, CheckpointError> {
    let mut name = OsString::from(path);
    name.push(".lock");
    Lock::take(name.as_ref())?.ok_or_else(|| CheckpointError::Busy { path: path.to_owned() })
}

fn nanoseconds(time: Duration) -> u64 {
    time.as_nanos().try_into().unwrap_or(u64::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
