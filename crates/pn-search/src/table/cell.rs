//! A 128-bit atomic cell, with one interface and several implementations.
//!
//! * Normally `portable_atomic::AtomicU128`: lock-free by `cmpxchg16b` on every x86-64 but the very
//!   first ones, detected at run time, and by `casp` or load- and store-exclusive pairs on aarch64.
//!   On other processors it falls back to sharded sequence locks, which are correct but slower; see
//!   [`is_lock_free`]. On x86-64 with AVX the load is inlined here: aligned 16-byte AVX loads are
//!   atomic there (Intel SDM 3A, 9.1.1; AMD APM 2, 7.3.2), and the library's own load goes through
//!   a function pointer, which took 14 % of a search's time.
//! * Under loom, a mutex: loom has no 128-bit atomics. The mutex models the only property that the
//!   protocol relies on: every access to a cell is indivisible.

#[cfg(not(loom))]
#[allow(unsafe_code)]
mod imp {
    use portable_atomic::{AtomicU128, Ordering};

    /// One or two entries. Relaxed accesses suffice everywhere: see the protocol in the parent
    /// module.
    #[repr(transparent)]
    pub struct Cell(AtomicU128);

    impl Cell {
        #[inline(always)]
        pub fn load(&self) -> u128 {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            if loads_are_inlined() {
                // SAFETY: as `loads_are_inlined` says.
                return unsafe { self.load_inlined() };
            }
            self.0.load(Ordering::Relaxed)
        }

        /// Loads each of some cells once. Checks the processor's features only once.
        #[inline(always)]
        pub fn load_all<const N: usize>(cells: &[Cell; N]) -> [u128; N] {
            let mut contents = [0; N];
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            if loads_are_inlined() {
                for (content, cell) in contents.iter_mut().zip(cells) {
                    // SAFETY: as `loads_are_inlined` says.
                    *content = unsafe { cell.load_inlined() };
                }
                return contents;
            }
            for (content, cell) in contents.iter_mut().zip(cells) {
                *content = cell.0.load(Ordering::Relaxed);
            }
            contents
        }

        /// # Safety
        /// Only where `loads_are_inlined`.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        #[inline(always)]
        unsafe fn load_inlined(&self) -> u128 {
            let cell: std::arch::x86_64::__m128i;
            // SAFETY: the pointer comes from a live AtomicU128, which is 16-byte aligned; with AVX
            // the load is one atomic access; nothing is written.
            unsafe {
                std::arch::asm!(
                    "vmovdqa {cell}, xmmword ptr [{from}]",
                    from = in(reg) self.0.as_ptr(),
                    cell = lateout(xmm_reg) cell,
                    options(nostack, preserves_flags, readonly),
                );
                std::mem::transmute::<std::arch::x86_64::__m128i, u128>(cell)
            }
        }

        /// Overwrites the cell. No other thread may use the table.
        pub fn set(&self, new: u128) {
            self.0.store(new, Ordering::Relaxed);
        }

        /// Replaces `current` by `new`. Fails with the content if that is another one.
        #[inline(always)]
        pub fn replace(&self, current: u128, new: u128) -> Result<(), u128> {
            self.0.compare_exchange(current, new, Ordering::Relaxed, Ordering::Relaxed).map(|_| ())
        }
    }

    /// Returns true if the processor has AVX and cmpxchg16b. With AVX an aligned load of 16 bytes
    /// is one atomic access. Without cmpxchg16b the library would write under a lock, which such a
    /// load does not respect.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[inline(always)]
    fn loads_are_inlined() -> bool {
        is_x86_feature_detected!("avx") && is_x86_feature_detected!("cmpxchg16b")
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

        pub fn load_all<const N: usize>(cells: &[Cell; N]) -> [u128; N] {
            std::array::from_fn(|index| cells[index].load())
        }

        pub fn set(&self, new: u128) {
            *self.0.lock().unwrap() = new;
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

/// Returns true if entries are read and written by single instructions on this processor.
pub fn is_lock_free() -> bool {
    imp::is_lock_free()
}
