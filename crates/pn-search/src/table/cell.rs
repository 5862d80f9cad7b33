//! A 128-bit atomic cell, with one interface and several implementations.
//!
//! * Normally `portable_atomic::AtomicU128`. It is lock-free on x86-64 by `cmpxchg16b`, which only
//!   the very first processors lack (detected at run time). On aarch64 it is lock-free by `casp` or
//!   by load- and store-exclusive pairs. On other processors the library uses sharded sequence
//!   locks, which are correct but slower; see [`is_lock_free`]. On x86-64 with AVX the load is
//!   inlined here, because the load of the library goes through a function pointer, which took 14 %
//!   of a search's time. Aligned 16-byte loads are atomic on processors with AVX (Intel SDM 3A,
//!   9.1.1; AMD APM 2, 7.3.2).
//! * Under loom, a mutex: loom has no 128-bit atomics. The mutex models the only property that the
//!   protocol relies on: every access to a cell is indivisible.

#[cfg(not(loom))]
#[allow(unsafe_code)]
mod imp {
    use portable_atomic::{AtomicU128, Ordering};

    /// A cell with one full entry or two compact ones. Relaxed accesses suffice everywhere: see the
    /// protocol in the parent module.
    #[repr(transparent)]
    pub struct Cell(AtomicU128);

    impl Cell {
        #[inline(always)]
        pub fn load(&self) -> u128 {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            if loads_are_inlined() {
                // SAFETY: `loads_are_inlined` has returned true.
                return unsafe { self.load_inlined() };
            }
            self.0.load(Ordering::Relaxed)
        }

        /// Loads each of these cells. Checks the processor's features only once.
        #[inline(always)]
        pub fn load_all<const N: usize>(cells: &[Cell; N]) -> [u128; N] {
            let mut contents = [0; N];
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            if loads_are_inlined() {
                for (content, cell) in contents.iter_mut().zip(cells) {
                    // SAFETY: `loads_are_inlined` has returned true.
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
        /// `loads_are_inlined` has to return true.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        #[inline(always)]
        unsafe fn load_inlined(&self) -> u128 {
            let cell: std::arch::x86_64::__m128i;
            // SAFETY: the pointer comes from a live AtomicU128, which is 16-byte aligned. With AVX
            // the load is one atomic access. Nothing is written.
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

        /// Replaces the content by `new` if it is `current`. Otherwise returns the content as an error.
        #[inline(always)]
        pub fn replace(&self, current: u128, new: u128) -> Result<(), u128> {
            self.0.compare_exchange(current, new, Ordering::Relaxed, Ordering::Relaxed).map(|_| ())
        }
    }

    /// Returns true if the processor has AVX and cmpxchg16b. With AVX an aligned load of 16 bytes
    /// is one atomic access. Without cmpxchg16b the library would write under a lock, which an
    /// inlined load does not take.
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

/// Returns true if cells are read and written without locks on this processor.
pub fn is_lock_free() -> bool {
    imp::is_lock_free()
}
