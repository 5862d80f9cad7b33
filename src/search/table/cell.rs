//! A 128-bit atomic cell, in three versions with one face.
//!
//! * Normally `portable_atomic::AtomicU128`: lock-free by `cmpxchg16b` on every x86-64 but the very
//!   first ones, found at run time, and by `casp` or load- and store-exclusive pairs on aarch64.
//!   On other processors it falls back to sharded sequence locks, which are correct but slower;
//!   [`is_lock_free`] tells.
//! * Under loom, a mutex: loom has no 128-bit atomics. The mutex models what the protocol relies
//!   on, that every access to a cell is indivisible.

#[cfg(not(loom))]
mod imp {
    use portable_atomic::{AtomicU128, Ordering};

    /// One entry's place. Relaxed is enough everywhere: see the protocol in the parent module.
    #[repr(transparent)]
    pub struct Cell(AtomicU128);

    impl Cell {
        #[inline(always)]
        pub fn load(&self) -> u128 {
            self.0.load(Ordering::Relaxed)
        }

        /// Replaces `current` by `new`, or says what is there instead.
        #[inline(always)]
        pub fn replace(&self, current: u128, new: u128) -> Result<(), u128> {
            self.0
                .compare_exchange(current, new, Ordering::Relaxed, Ordering::Relaxed)
                .map(|_| ())
        }
    }

    pub fn is_lock_free() -> bool {
        AtomicU128::is_lock_free()
    }
}

#[cfg(loom)]
mod imp {
    use loom::sync::Mutex;

    pub struct Cell(Mutex<u128>);

    impl Cell {
        pub fn new() -> Self {
            Cell(Mutex::new(0))
        }

        pub fn load(&self) -> u128 {
            *self.0.lock().unwrap()
        }

        pub fn replace(&self, current: u128, new: u128) -> Result<(), u128> {
            let mut guard = self.0.lock().unwrap();
            if *guard != current {
                return Err(*guard);
            }
            *guard = new;
            Ok(())
        }
    }

    pub fn is_lock_free() -> bool {
        false
    }
}

pub(super) use imp::Cell;

/// Whether entries are read and written by single instructions on this processor.
pub fn is_lock_free() -> bool {
    imp::is_lock_free()
}
