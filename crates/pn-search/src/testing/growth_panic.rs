//! A game that panics while a table grows.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use super::random::key;
use crate::plain::game::{Child, Expansion, Game};

/// Maximum number of keys that a search computes in one thread between two expansions. A search needs the keys of a
/// few dozen children; only a growing table needs more.
const MAX_SEARCH_KEYS: u32 = 500;

/// Number of children of a node.
const CHILDREN: u64 = 8;

thread_local! {
    /// Number of keys that the thread has computed since its last expansion.
    static KEYS: Cell<u32> = const { Cell::new(0) };
}

/// A uniform tree that is too large to be solved, whose [`Game::key`] panics while a table grows.
#[derive(Default)]
pub struct GrowthPanic {
    has_panicked: AtomicBool,
}

impl GrowthPanic {
    /// Code of the root.
    pub const ROOT: u64 = 1;

    /// Returns true if [`Game::key`] has panicked.
    pub fn has_panicked(&self) -> bool {
        self.has_panicked.load(Ordering::Relaxed)
    }
}

impl Game for GrowthPanic {
    type Scratch = ();

    fn expand(
        &self,
        code: u64,
        (): &mut (),
        children: &mut Vec<Child>,
        mut prefetch: impl FnMut(u64),
    ) -> Expansion {
        KEYS.set(0);
        if code.leading_zeros() < 3 {
            return Expansion::Lost;
        }
        for code in CHILDREN * code..CHILDREN * (code + 1) {
            prefetch(code);
            children.push(Child { code, phi: 1, delta: 1, effort: Child::NEVER_SOLVE });
        }
        Expansion::Open
    }

    fn key(&self, code: u64) -> u64 {
        KEYS.set(KEYS.get() + 1);
        if KEYS.get() > MAX_SEARCH_KEYS {
            self.has_panicked.store(true, Ordering::Relaxed);
            panic!("this game has no keys while the table grows");
        }
        key(code)
    }
}
