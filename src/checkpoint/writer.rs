//! Checkpoints of a running search.
//!
//! # Threads
//!
//! While the search runs, a separate thread sleeps until the interval has passed. Then it copies the table
//! into a file while the search continues to store in it. When the search ends, a copy in progress is
//! discarded, and a final checkpoint is written, even if the search has an answer: a later proof, or a search of a
//! move, then does not repeat the search.
//!
//! The thread reads the counters of the search from a mutex that the observer updates every few
//! milliseconds. The totals in a file are those at the start of the write. Entries that are stored during
//! the copy may be in the file although they are not counted.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::error::CheckpointError;
use super::file_writer::{FileWriter, WrittenCheckpoint};
use super::format::{CheckpointHeader, Identity, Totals};
use super::reader::CheckpointReader;
use crate::file::{Lock, refuse_other};
use crate::search::run::{CheckpointProgress, Counters, Observer, Progress, Report};
use crate::search::table::Table;
use crate::system::{STACK_BYTES, disk_free, thread};

/// Minimum automatic interval.
const MIN_INTERVAL: Duration = Duration::from_secs(5);

/// Automatic interval as a multiple of the time that the last checkpoint took. Copies then run for at most 2 % of the
/// time.
const INTERVAL_FACTOR: u32 = 50;

/// Writes checkpoints of one search to one file, and restores the search from it.
///
/// Holds a lock on the file `<path>.lock`, so that only one process writes a checkpoint file. The system
/// releases the lock when the process ends, even if it is killed.
#[derive(Debug)]
pub struct CheckpointWriter {
    path: PathBuf,
    interval: Option<Duration>,
    identity: Identity,
    bound: u64,
    before: Totals,
    /// Reader of the file to resume from, until it has been read.
    resumed: Mutex<Option<CheckpointReader>>,
    written: Mutex<Vec<Result<WrittenCheckpoint, CheckpointError>>>,
    searched: Mutex<Duration>,
    _lock: Lock,
}

impl CheckpointWriter {
    /// Returns a writer for a new search, or for one that resumes from the checkpoint in the file. Of that
    /// checkpoint only the header and the footer are read ([`CheckpointWriter::restore`] reads the rest).
    /// Checkpoints have at most `bound` bytes ([`size_bound`]). `interval` is the time between checkpoints; by
    /// default the maximum of 5 seconds and 50 times the duration of the last checkpoint.
    ///
    /// [`size_bound`]: super::format::size_bound
    ///
    /// # Errors
    /// If the disk has fewer than `bound` bytes free, another search writes its checkpoints to the file, or
    /// the file cannot be created. For a new search, if the path exists; otherwise, if header and footer are
    /// not those of a checkpoint of this search.
    pub fn new(
        path: &Path,
        resume: bool,
        identity: Identity,
        bound: u64,
        interval: Option<Duration>,
    ) -> Result<Self, CheckpointError> {
        // Checked before the lock is taken, so that no lock file is created for a path that cannot be used.
        // Checked again with the lock, because another process may have changed the file in between.
        resumed(path, resume, &identity)?;
        check_space(path, bound)?;
        let lock = lock_beside(path)?;
        let reader = resumed(path, resume, &identity)?;
        let before = reader.as_ref().map_or(Totals::default(), |reader| reader.header().totals);
        let writer = CheckpointWriter {
            path: path.to_owned(),
            interval,
            identity,
            bound,
            before,
            resumed: Mutex::new(reader),
            written: Mutex::default(),
            searched: Mutex::default(),
            _lock: lock,
        };
        // Reports a file that cannot be written before the search begins.
        drop(writer.file_writer(&Counters::default(), Duration::ZERO)?);
        Ok(writer)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the time between checkpoints, or `None` if it is automatic.
    pub fn interval(&self) -> Option<Duration> {
        self.interval
    }

    /// Returns the maximum size of a checkpoint in bytes.
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// Returns the totals of earlier runs, which are zero for a new search.
    pub fn before(&self) -> &Totals {
        &self.before
    }

    /// Returns the duration of the search, without the reading of a checkpoint before it and the writing of one
    /// after it. Zero before the end of the search.
    pub fn searched(&self) -> Duration {
        *lock(&self.searched)
    }

    /// Returns the totals of all runs, after the end of the search.
    pub fn totals(&self, counters: &Counters) -> Totals {
        self.before.and(counters, nanoseconds(self.searched()))
    }

    /// Returns the results of the writes since the last call, oldest first.
    pub fn take_written(&self) -> Vec<Result<WrittenCheckpoint, CheckpointError>> {
        std::mem::take(&mut *lock(&self.written))
    }

    /// Fills an empty table if there is a checkpoint to resume from.
    ///
    /// # Errors
    /// As [`CheckpointReader::load`], and if `stop` is set.
    pub fn restore(
        &self,
        table: &Table,
        key_of: impl Fn(u64) -> u64 + Sync,
        stop: Option<&AtomicBool>,
        observer: &mut dyn Observer,
    ) -> Result<(), CheckpointError> {
        let Some(reader) = lock(&self.resumed).take() else { return Ok(()) };
        reader.load(table, key_of, &mut |done, of| {
            observer.checkpoint(&CheckpointProgress { writing: false, done, of });
            !stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
        })
    }

    /// Runs a search and writes its checkpoints. Returns when the last one is on disk. The search receives an
    /// observer.
    ///
    /// A write error does not end the search; see [`CheckpointWriter::take_written`].
    ///
    /// # Errors
    /// Those of the search. Then no last checkpoint is written.
    pub fn run<E>(
        &self,
        table: &Table,
        observer: &mut dyn Observer,
        search: impl FnOnce(&mut dyn Observer) -> Result<Report, E>,
    ) -> Result<Report, E> {
        let latest = &Mutex::new(Counters::default());
        let begun = Instant::now();
        let report = std::thread::scope(|scope| {
            // `running` is dropped when the search ends or panics, which ends the checkpoint thread.
            let (running, ended) = channel::<()>();
            let work = move || self.write_regularly(table, latest, &ended, begun);
            let thread = thread("checkpoints", STACK_BYTES);
            if let Err(source) = thread.spawn_scoped(scope, work) {
                let error = CheckpointError::io("start a thread for", &self.path)(source);
                lock(&self.written).push(Err(error));
            }
            let report = search(&mut CountersObserver { observer, latest });
            *lock(&self.searched) = begun.elapsed();
            drop(running);
            report
        })?;
        // If the answer was read from the checkpoint, the file has it already and is not written again.
        let is_stored = self.before.runs > 0
            && report.outcome.value().is_some()
            && report.counters.expansions <= 1;
        if !is_stored {
            let written = self.write_last(table, &report.counters, observer);
            lock(&self.written).push(written);
        }
        Ok(report)
    }

    /// Writes a checkpoint after every interval until the search ends.
    fn write_regularly(
        &self,
        table: &Table,
        latest: &Mutex<Counters>,
        ended: &Receiver<()>,
        begun: Instant,
    ) {
        let mut interval = self.interval.unwrap_or(MIN_INTERVAL);
        while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            let start = Instant::now();
            let counters = *lock(latest);
            let written = self.write_running(table, &counters, ended, begun);
            let Some(written) = written.transpose() else { return };
            lock(&self.written).push(written);
            if self.interval.is_none() {
                interval = automatic_interval(start.elapsed());
            }
        }
    }

    /// Writes a checkpoint of a running search. Returns `None` if the search ended during the write.
    fn write_running(
        &self,
        table: &Table,
        counters: &Counters,
        ended: &Receiver<()>,
        begun: Instant,
    ) -> Result<Option<WrittenCheckpoint>, CheckpointError> {
        let has_ended = || ended.try_recv() == Err(TryRecvError::Disconnected);
        let mut writer = self.file_writer(counters, begun.elapsed())?;
        if !writer.table(table, 1, &mut |_, _| !has_ended())? {
            return Ok(None);
        }
        Ok(Some(writer.finish()?))
    }

    /// Writes the final table of a search.
    fn write_last(
        &self,
        table: &Table,
        counters: &Counters,
        observer: &mut dyn Observer,
    ) -> Result<WrittenCheckpoint, CheckpointError> {
        let mut writer = self.file_writer(counters, self.searched())?;
        // The search has ended, so all threads are available.
        let pieces = 8 * rayon::current_num_threads();
        writer.table(table, pieces, &mut |done, of| {
            observer.checkpoint(&CheckpointProgress { writing: true, done, of });
            true
        })?;
        writer.finish()
    }

    fn file_writer(
        &self,
        counters: &Counters,
        elapsed: Duration,
    ) -> Result<FileWriter, CheckpointError> {
        let totals = self.before.and(counters, nanoseconds(elapsed));
        FileWriter::create(
            &self.path,
            &CheckpointHeader { identity: self.identity.clone(), totals },
        )
    }
}

/// Forwards progress to an observer and stores the counters.
struct CountersObserver<'a> {
    observer: &'a mut dyn Observer,
    latest: &'a Mutex<Counters>,
}

impl Observer for CountersObserver<'_> {
    fn progress(&mut self, progress: &Progress) {
        *lock(self.latest) = progress.counters;
        self.observer.progress(progress);
    }
}

/// Returns the time to the next checkpoint after one that took `took`.
pub(super) fn automatic_interval(took: Duration) -> Duration {
    MIN_INTERVAL.max(took.saturating_mul(INTERVAL_FACTOR))
}

/// Opens the checkpoint to resume from. For a new search, checks that there is no file.
fn resumed(
    path: &Path,
    resume: bool,
    identity: &Identity,
) -> Result<Option<CheckpointReader>, CheckpointError> {
    if resume {
        let reader = CheckpointReader::open(path)?;
        reader.expect(identity)?;
        return Ok(Some(reader));
    }
    refuse_other(path)?;
    match path.symlink_metadata() {
        Ok(_) => Err(CheckpointError::Exists { path: path.to_owned() }),
        Err(_) => Ok(None),
    }
}

/// Checks that the disk of a file has `need` bytes free, if the system reports its free space.
fn check_space(path: &Path, need: u64) -> Result<(), CheckpointError> {
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
