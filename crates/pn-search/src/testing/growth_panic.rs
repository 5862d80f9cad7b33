//! A game that panics while a table grows.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use super::random::key;
use crate::plain::game::{Child, Expansion, Game};

/// Keys that one thread asks for without an expansion in between, from which on a growth must be what
/// asks for them: searches ask for those of a few dozen children.
const KEYS_OF_A_GROWTH: u32 = 500;

/// Children of a node.
const CHILDREN: u64 = 8;

thread_local! {
    /// Keys that the thread has asked for since its last expansion.
    static KEYS: Cell<u32> = const { Cell::new(0) };
}

/// A uniform tree that is too large to be solved, whose [`Game::key`] panics while a table grows.
#[derive(Default)]
pub struct GrowthPanic {
    has_panicked: AtomicBool,
}

impl GrowthPanic {
    /// The code of the root.
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
        mut announce: impl FnMut(u64),
    ) -> Expansion {
        KEYS.set(0);
        if code.leading_zeros() < 3 {
            return Expansion::Lost;
        }
        for code in CHILDREN * code..CHILDREN * (code + 1) {
            announce(code);
            children.push(Child { code, phi: 1, delta: 1, effort: Child::NEVER_SOLVE });
        }
        Expansion::Open
    }

    fn key(&self, code: u64) -> u64 {
        KEYS.set(KEYS.get() + 1);
        if KEYS.get() > KEYS_OF_A_GROWTH {
            self.has_panicked.store(true, Ordering::Relaxed);
            panic!("no keys while the table grows");
        }
        key(code)
    }
}
