//! Allocations whose failure the caller handles, and zeroed memory for tables.
//!
//! On stable Rust an allocator cannot distinguish `try_reserve` from an allocation whose failure
//! aborts the process. A program such as `konane`, which ends with a message instead, has to
//! distinguish them: its allocator returns null only for `try_reserve`. The functions here mark
//! such allocations; clippy.toml forbids the unmarked functions.

use std::cell::Cell;
use std::collections::{HashSet, TryReserveError};
use std::hash::{BuildHasher, Hash};
use std::hint::black_box;
use std::io;

use memmap2::MmapMut;

thread_local! {
    // Without a destructor and a lazy initial value, so allocators may read it.
    static IS_FALLIBLE: Cell<bool> = const { Cell::new(false) };
}

/// Returns true if the caller of the allocation that this thread is making handles its failure. For the global
/// allocators of programs.
#[inline]
pub fn is_allocation_fallible() -> bool {
    IS_FALLIBLE.get()
}

/// Runs an allocation whose failure is handled. It must not unwind.
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
    // The compiler may leave out an allocation that nothing uses.
    Some(black_box(space))
}

/// Zeroed memory, in huge pages where the system provides them. Pages are allocated when they are first
/// written. With small pages the first write to each page costs more than computing the data, and
/// nearly every access to a large table misses the TLB.
///
/// # Errors
/// If the system does not provide the address space.
pub fn zeroed(bytes: usize) -> io::Result<MmapMut> {
    let map = MmapMut::map_anon(bytes)?;
    // A system without huge pages ignores the advice.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_allocations_that_are_handled_are_marked() {
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
