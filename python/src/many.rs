//! Calls for lists of positions: each thread takes one position after the other ([`run`]).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use konane::MIN_MEMORY;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::argument::{name, wrong_type};
use crate::error::Failure;
use crate::interrupt;
use crate::options::{
    MemoryArg, ProgressCallback, SecondsArg, ThreadCountArg, memory_or_default, on_pool,
    threads_or_cores,
};
use crate::progress::{BatchProgress, Latest, ProgressReporter};

/// Reads the items of an iterable argument. The error of an item names its index.
///
/// # Errors
/// If the argument is not an iterable, or `read` rejects an item.
pub fn read_items<'py, T>(
    value: &Bound<'py, PyAny>,
    mut read: impl FnMut(Bound<'py, PyAny>) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    if value.is_instance_of::<PyString>() || !value.hasattr("__iter__")? {
        return Err(wrong_type::<name::Positions>(value, "a list of positions").into());
    }
    let mut items = Vec::new();
    for (index, item) in value.try_iter()?.enumerate() {
        items.push(read(item?).map_err(|error| error.of_item(value.py(), index))?);
    }
    Ok(items)
}

/// Threads, memory and progress of a call for a list.
pub struct ManyArguments<'py> {
    threads: Option<ThreadCountArg>,
    memory: u64,
    callback: Option<ProgressCallback<'py>>,
}

impl<'py> ManyArguments<'py> {
    /// Checks the arguments.
    ///
    /// # Errors
    /// If `progress` is not callable.
    pub fn new(
        threads: Option<ThreadCountArg>,
        memory: Option<MemoryArg>,
        progress: Option<Bound<'py, PyAny>>,
        interval: Option<SecondsArg<name::Interval>>,
    ) -> Result<Self, Failure> {
        let callback = ProgressCallback::new(progress, interval)?;
        Ok(ManyArguments { threads, memory: memory_or_default(memory), callback })
    }

    /// Number of threads for a list of `items`. Each has at least [`MIN_MEMORY`].
    fn threads(&self, items: usize) -> usize {
        let most = usize::try_from(self.memory / MIN_MEMORY).unwrap_or(usize::MAX).min(items);
        threads_or_cores(self.threads).get().min(most).max(1)
    }

    /// Memory of each thread in bytes, for a list of `items`.
    pub fn memory_of_thread(&self, items: usize) -> u64 {
        self.memory / self.threads(items) as u64
    }
}

/// Calls `work` for each item, on threads without the GIL, and returns the results in the order of the items.
///
/// Items with equal keys follow each other on a thread and share a set-up.
///
/// # Errors
/// The error of an item, with its index. Else as [`interrupt::run`].
pub fn run<T: Sync, K: Ord, S, R: Send>(
    py: Python<'_>,
    arguments: ManyArguments<'_>,
    items: &[T],
    key: impl Fn(&T) -> K + Sync,
    set_up: impl Fn(&T) -> Result<S, Failure> + Sync,
    work: impl Fn(&mut S, &T, &AtomicBool) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    let total = items.len();
    let mut order: Vec<usize> = (0..total).collect();
    order.sort_by_key(|&index| key(&items[index]));
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let latest = Latest::default();
    let worker = |stop: &AtomicBool| {
        let (mut results, mut current) = (Vec::new(), None);
        while !stop.load(Ordering::Relaxed)
            && let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let item = &items[index];
            let result = set_up_for(&mut current, key(item), || set_up(item))
                .and_then(|state| work(state, item, stop));
            // The other threads end soon. Their results are not used.
            let result = result.inspect_err(|_| stop.store(true, Ordering::Relaxed));
            results.push((index, result.map_err(|error| (index, error))?));
            latest.put(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
        Ok(results)
    };
    let threads = arguments.threads(total).try_into().expect("at least one thread");
    let mut reporter = ProgressReporter::new(arguments.callback, &latest);
    let object = BatchProgress::object(total);
    let found = interrupt::run(
        py,
        reporter.period(),
        || reporter.tick(object),
        |stop| on_pool(threads, || rayon::broadcast(|_| worker(stop))),
    )??;
    let found = found.into_iter().collect::<Result<Vec<_>, (usize, Failure)>>();
    let found = found.map_err(|(index, error)| error.of_item(py, index))?;
    reporter.end(total, object)?;
    let mut found: Vec<(usize, R)> = found.into_iter().flatten().collect();
    found.sort_unstable_by_key(|&(index, _)| index);
    Ok(found.into_iter().map(|(_, result)| result).collect())
}

/// Returns the current set-up if it has the key. Otherwise replaces it.
fn set_up_for<K: PartialEq, S>(
    current: &mut Option<(K, S)>,
    key: K,
    set_up: impl FnOnce() -> Result<S, Failure>,
) -> Result<&mut S, Failure> {
    if current.as_ref().is_none_or(|(of, _)| *of != key) {
        // Releases the memory of the last set-up before the new one is made.
        *current = None;
        *current = Some((key, set_up()?));
    }
    let (_, state) = current.as_mut().expect("it was made above");
    Ok(state)
}
