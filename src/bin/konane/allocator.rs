//! The system's allocator, which ends the program with a message when memory is refused.
//!
//! The standard library aborts after a failed allocation that its caller does not handle, and lets a
//! program install a hook for it only on nightly compilers. The allocator is the only other place that
//! sees the failure.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

use konane::system::is_allocation_fallible;

use crate::out_of_memory;

/// [`System`], but a failed allocation returns only to callers that handle it.
pub struct EndOnFailure;

/// Returns `memory`, unless it is null and the caller would abort.
#[inline]
fn checked(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() && !is_allocation_fallible() {
        out_of_memory::end(bytes);
    }
    memory
}

// SAFETY: `System` fulfils the contract, and its results are returned unchanged. `end` neither unwinds
// nor returns, and an allocation in it that fails ends the process at once.
unsafe impl GlobalAlloc for EndOnFailure {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that `System` needs.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as in `alloc`; `memory` comes from `System`.
        checked(unsafe { System.realloc(memory, layout, bytes) }, bytes)
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as in `realloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}
