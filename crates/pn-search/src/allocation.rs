//! Allocations whose failure the caller handles, and zeroed memory for tables.
//!
//! On stable Rust an allocator cannot distinguish `try_reserve` from an allocation whose failure
//! aborts the process. The allocator of a program such as `konane`, which prints a message instead
//! of aborting, has to distinguish them: only for `try_reserve` may it return null. The functions
//! of this module mark the allocations of `try_reserve`. clippy.toml forbids calls of the standard
//! functions, which do not mark them.

use std::cell::Cell;
use std::collections::{HashSet, TryReserveError};
use std::hash::{BuildHasher, Hash};
use std::hint::black_box;
use std::io;

use memmap2::MmapMut;

thread_local! {
    // The variable has neither a destructor nor a lazy initial value, so allocators may read it.
    static IS_FALLIBLE: Cell<bool> = const { Cell::new(false) };
}

/// Returns true if the current allocation of this thread was requested by code that handles a
/// failure. The global allocator of a program may call this function.
#[inline]
pub fn is_allocation_fallible() -> bool {
    IS_FALLIBLE.get()
}

/// Calls `allocate`, whose caller handles a failed allocation. `allocate` must not unwind.
fn fallible<T>(allocate: impl FnOnce() -> T) -> T {
    let outer = IS_FALLIBLE.replace(true);
    let allocated = allocate();
    IS_FALLIBLE.set(outer);
    allocated
}

/// Calls `Vec::try_reserve` as an allocation whose failure is handled.
///
/// # Errors
/// If the system does not provide the memory.
#[allow(clippy::disallowed_methods, reason = "marked here")]
pub fn try_reserve<T>(list: &mut Vec<T>, more: usize) -> Result<(), TryReserveError> {
    fallible(|| list.try_reserve(more))
}

/// Calls `Vec::try_reserve_exact` as an allocation whose failure is handled.
///
/// # Errors
/// If the system does not provide the memory.
#[allow(clippy::disallowed_methods, reason = "marked here")]
pub fn try_reserve_exact<T>(list: &mut Vec<T>, more: usize) -> Result<(), TryReserveError> {
    fallible(|| list.try_reserve_exact(more))
}

/// Calls `HashSet::try_reserve` as an allocation whose failure is handled.
///
/// # Errors
/// If the system does not provide the memory.
#[allow(clippy::disallowed_methods, reason = "marked here")]
pub fn try_reserve_in_set<T: Eq + Hash, S: BuildHasher>(
    set: &mut HashSet<T, S>,
    more: usize,
) -> Result<(), TryReserveError> {
    fallible(|| set.try_reserve(more))
}

/// Returns true if the system can provide `bytes` of address space in one piece. Nothing is written
/// to it.
pub fn is_available(bytes: u64) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| reserve_address_space(bytes).is_some())
}

/// Reserves address space until the result is dropped. Nothing is written to it.
pub fn reserve_address_space(bytes: usize) -> Option<Vec<u8>> {
    let mut space = Vec::new();
    try_reserve_exact(&mut space, bytes).ok()?;
    // Without `black_box`, the compiler could remove the allocation, because nothing uses it.
    Some(black_box(space))
}

/// Zeroed memory, in huge pages where the system provides them. Pages are allocated when they are
/// first written. With small pages, the first write to each page takes longer than the computation
/// of the data, and nearly every access to a large table misses the TLB.
///
/// # Errors
/// If the system does not provide the address space.
pub fn zeroed(bytes: usize) -> io::Result<MmapMut> {
    let map = MmapMut::map_anon(bytes)?;
    // An error is ignored: without huge pages the memory works too.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_allocations_whose_failure_is_handled_are_marked() {
        assert!(!is_allocation_fallible());
        assert!(fallible(|| fallible(is_allocation_fallible) && is_allocation_fallible()));
        assert!(!is_allocation_fallible());
    }

    #[test]
    fn impossible_sizes_are_rejected() {
        assert!(is_available(1 << 20));
        assert!(!is_available(1 << 62));
        assert!(!is_available(u64::MAX));
        assert!(try_reserve(&mut vec![1u64], usize::MAX / 16).is_err());
        assert!(try_reserve_in_set(&mut HashSet::from([1u64]), 1 << 56).is_err());
    }
}
