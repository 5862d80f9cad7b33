//! Growth of the table while several workers use it.
//!
//! [`Table::grow`] moves entries, so nobody else may touch the table meanwhile. Every worker holds a
//! [`Pass`] for as long as it uses the table, which is the read side of a lock, and comes to
//! [`Pass::keep_or_grow`] before each expansion. When the table is full enough, whoever notices
//! hands in its pass and tries to take the write side, again and again as long as there is something
//! to do. The others notice as well, since all of them compare the same two numbers: how many entries
//! there are and how many may be. The first to be alone with the table grows it; the others find
//! nothing left to do and go on.
//!
//! # Why nobody waits for ever
//!
//! A pass is held during an expansion, or while a worker waits for the tree or holds it, and those
//! who hold the tree never wait for a pass. So every holder comes to the check after finite time.
//! A worker that waits for a leaf has no pass.
//!
//! # Memory orderings
//!
//! The lock orders everything that growth writes before everything that is read after it. The count
//! of entries is relaxed: it only decides when to grow, and is compared again under the write side.

#![forbid(unsafe_code)]

#[cfg(loom)]
use loom::sync::{RwLock, RwLockReadGuard, atomic::AtomicU64, atomic::Ordering};
#[cfg(not(loom))]
use std::sync::{RwLock, RwLockReadGuard, atomic::AtomicU64, atomic::Ordering};

#[cfg(loom)]
use loom::thread::yield_now;
#[cfg(not(loom))]
use std::thread::yield_now;

use std::sync::{PoisonError, TryLockError};

use crate::search::table::Table;

/// New entries that a worker counts on its own before it tells the others. Small against the first
/// part of a table that is in use.
const BATCH: u64 = 16;

/// A table that may grow, and those who use it.
pub(in crate::search) struct Gate<'a> {
    table: &'a Table,
    lock: RwLock<()>,
    used: AtomicU64,
}

/// Leave to use the table.
pub(in crate::search) struct Pass<'g> {
    gate: &'g Gate<'g>,
    guard: Option<RwLockReadGuard<'g, ()>>,
    /// New entries that the gate has been told of.
    told: u64,
}

impl<'a> Gate<'a> {
    pub fn new(table: &'a Table) -> Self {
        Gate { table, lock: RwLock::new(()), used: AtomicU64::new(table.estimated_count()) }
    }

    /// A pass for a worker, which is not handed out yet.
    pub fn pass<'g>(&'g self) -> Pass<'g>
    where
        'a: 'g,
    {
        Pass { gate: self, guard: None, told: 0 }
    }
}

impl Pass<'_> {
    /// Waits until the table may be used.
    pub fn enter(&mut self) {
        if self.guard.is_none() {
            self.guard = Some(self.gate.lock.read().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Gives the pass up for a while.
    pub fn leave(&mut self) {
        self.guard = None;
    }

    /// To be called now and then by whoever holds the pass, with the number of entries that it has
    /// filled so far: tells the others, and lets the table grow if it is time.
    #[inline]
    pub fn keep_or_grow(&mut self, filled: u64, key_of: impl Fn(u64) -> u64) {
        self.tell(filled, BATCH, key_of);
    }

    #[inline]
    fn tell(&mut self, filled: u64, batch: u64, key_of: impl Fn(u64) -> u64) {
        let gate = self.gate;
        if filled - self.told >= batch {
            gate.used.fetch_add(filled - self.told, Ordering::Relaxed);
            self.told = filled;
        }
        if gate.table.wants_growth(gate.used.load(Ordering::Relaxed)) {
            self.grow(key_of);
        }
    }

    /// Waits until the table may be used, and lets it grow before if `more` new entries would make
    /// it grow: whoever holds the pass may then fill so many without [`Pass::keep_or_grow`]. The
    /// number of entries is judged by a sample, and a quarter is added to it.
    pub fn make_room(&mut self, more: u64, key_of: impl Fn(u64) -> u64) {
        let table = self.gate.table;
        let is_tight = || {
            let count = table.estimated_count().saturating_add(more).min(table.capacity());
            table.wants_growth(count + count / 4)
        };
        self.enter();
        if is_tight() {
            self.leave();
            let alone = self.gate.lock.write().unwrap_or_else(PoisonError::into_inner);
            while is_tight() {
                table.grow(&key_of);
            }
            drop(alone);
            self.enter();
        }
    }

    #[cold]
    fn grow(&mut self, key_of: impl Fn(u64) -> u64) {
        let gate = self.gate;
        self.leave();
        // Not a wait for the write side: once somebody else has grown the table, all others hold
        // passes again, and whoever still waited would wait until the next growth.
        while gate.table.wants_growth(gate.used.load(Ordering::Relaxed)) {
            match gate.lock.try_write() {
                Ok(_alone) => gate.table.grow(&key_of),
                Err(TryLockError::Poisoned(alone)) => {
                    let _alone = alone.into_inner();
                    gate.table.grow(&key_of);
                }
                Err(TryLockError::WouldBlock) => yield_now(),
            }
        }
        self.enter();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::search::split_mix::mix;
    use crate::search::table::{Entry, Stored};
    use std::thread;

    /// What the threads have stored is all there, wherever growth has moved it.
    #[test]
    fn nothing_is_lost_when_a_table_grows_under_its_users() {
        const THREADS: u64 = 40;
        const EACH: u64 = 1000;
        let table = Table::new(1 << 23).unwrap();
        let gate = Gate::new(&table);
        let replaced = AtomicU64::new(0);
        let store = |code| {
            let entry = Entry { phi: 3, delta: 5, work: code };
            table.store(mix(code), code, entry)
        };
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (gate, replaced, store) = (&gate, &replaced, &store);
                scope.spawn(move || {
                    let mut pass = gate.pass();
                    let mut filled = 0;
                    for number in 0..EACH {
                        if number % 100 == 0 {
                            pass.leave();
                        }
                        pass.enter();
                        match store(1 + thread * EACH + number) {
                            Stored::Filled => filled += 1,
                            Stored::Replaced => _ = replaced.fetch_add(1, Ordering::Relaxed),
                            Stored::Updated => panic!("every code is stored once"),
                        }
                        pass.keep_or_grow(filled, mix);
                    }
                });
            }
        });
        let all = THREADS * EACH;
        let (count, _) = table.count();
        assert_eq!(count + replaced.into_inner(), all);
        let found = (1..=all).filter(|&code| table.lookup(mix(code), code).is_some());
        assert_eq!(found.count() as u64, count);
        // Clusters overflow rarely at the filling at which tables grow.
        assert!(count > all * 98 / 100, "{count} of {all}");
        assert!(!table.wants_growth(count - THREADS * BATCH));
        assert!(table.wants_growth(2 * count), "it has not grown further than it had to");
    }
}

/// The gate under the loom model checker:
///
/// ```text
/// RUSTFLAGS="--cfg loom" cargo test --release --lib loom
/// ```
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::search::table::{Entry, Stored};

    /// Two users of one table each store an entry, growing the table when it is full enough. A
    /// growth that met a store would lose or misplace an entry, or the checker would find the two
    /// threads at one cell of the table without order; threads that wait for each other are found
    /// as a deadlock.
    #[test]
    fn loom_growth_is_alone_with_the_table() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let table: &'static Table = Box::leak(Box::new(Table::growing_from_one_cluster()));
            let gate: &'static Gate = Box::leak(Box::new(Gate::new(table)));
            // The codes' upper bits say into which half they belong.
            let threads = [1u64, 1 << 63].map(|code| {
                loom::thread::spawn(move || {
                    let mut pass = gate.pass();
                    pass.enter();
                    let entry = Entry { phi: 1, delta: 1, work: 1 };
                    assert_eq!(table.store(code, code, entry), Stored::Filled);
                    pass.tell(1, 1, |code| code);
                })
            });
            for thread in threads {
                thread.join().unwrap();
            }
            for code in [1, 1 << 63] {
                assert!(table.lookup(code, code).is_some());
            }
        });
    }
}
