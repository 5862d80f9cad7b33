//! What the threads of one search know of each other (Kaneko 2010; Čížek, Balko and Schmid,
//! "Second-Level Parallelization").
//!
//! Every thread searches from the root by itself. All share the knowledge, the options and the
//! table, and two things keep them apart:
//!
//! * **Virtual numbers.** A thread that searches below a child counts itself in the child's slot;
//!   whoever selects among children adds the count to their deltas. A slot is chosen by a hash of
//!   the child, so different children may share one: that only changes the order of the search.
//! * **Calls.** A thread that solves a couple in which others are searching raises the epoch. Every
//!   thread looks at the epoch between two children; when it has changed, it looks through its own
//!   path from the root and returns to the first couple that has been solved.
//!
//! The epoch is raised with release and read with acquire ordering, so that who sees a call also
//! sees the value that it is about. Everything else is relaxed: a count that is seen late changes
//! the order of the search only.

use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};

use super::workspace::key_of;
use crate::search::table::Table;

const SLOTS: usize = 1 << 16;

/// Shared by the threads of one search.
pub(super) struct Crew {
    slots: Box<[AtomicU16]>,
    epoch: AtomicU64,
    growth: Mutex<()>,
}

/// The place of a child's count.
pub(super) type Slot = u16;

/// The slot of a couple by its code, or of a sum by [`sum_code`].
#[inline]
pub(super) fn slot_of(code: u64) -> Slot {
    (key_of(code) >> 48) as Slot
}

/// A code of a sum of several atoms, for slots only.
#[inline]
pub(super) fn sum_code(atoms: &[u32], nimber: u32) -> u64 {
    let start = u64::from(nimber) << 32 | atoms.len() as u64;
    atoms.iter().fold(start, |code, &atom| key_of(code) ^ u64::from(atom))
}

impl Crew {
    pub fn new() -> Self {
        Crew {
            slots: (0..SLOTS).map(|_| AtomicU16::new(0)).collect(),
            epoch: AtomicU64::new(0),
            growth: Mutex::new(()),
        }
    }

    /// Threads that search below the children of a slot.
    #[inline]
    pub fn count(&self, slot: Slot) -> u32 {
        self.slots[usize::from(slot)].load(Ordering::Relaxed).into()
    }

    pub fn enter(&self, slot: Slot) {
        self.slots[usize::from(slot)].fetch_add(1, Ordering::Relaxed);
    }

    pub fn leave(&self, slot: Slot) {
        self.slots[usize::from(slot)].fetch_sub(1, Ordering::Relaxed);
    }

    /// Calls back everybody who is below something that has been solved.
    pub fn call(&self) {
        self.epoch.fetch_add(1, Ordering::Release);
    }

    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Lets the table grow, unless somebody is at it. Entries that others store meanwhile may get
    /// lost, which costs work and nothing else.
    pub fn grow(&self, table: &Table, used: u64) {
        match self.growth.try_lock() {
            Ok(_guard) if table.wants_growth(used) => table.grow(key_of),
            Ok(_) | Err(TryLockError::WouldBlock | TryLockError::Poisoned(_)) => {}
        }
    }
}
