//! Memory of a table: zeroed, aligned to cache lines, in huge pages where the system provides them.

#![allow(unsafe_code)]

use super::{CLUSTER, Cell, Cluster};
use crate::table::TableError;

#[cfg(not(any(loom, miri)))]
pub(super) struct TableMemory {
    map: memmap2::MmapRaw,
    clusters: usize,
}

#[cfg(not(any(loom, miri)))]
impl TableMemory {
    pub fn new(clusters: usize) -> Result<Self, TableError> {
        let bytes = clusters * size_of::<Cluster>();
        let map = crate::allocation::zeroed(bytes)
            .map_err(|source| TableError::Memory { bytes, source })?;
        Ok(TableMemory { map: map.into(), clusters })
    }

    #[inline(always)]
    pub fn clusters(&self) -> &[Cluster] {
        // SAFETY: the mapping is writable and page-aligned, lives as long as `self`, and holds
        // `clusters` clusters. It is accessed only through this function, which returns shared
        // references. The pointer is that of the mapping and not derived from a shared slice, so the
        // cells may write through it. Every bit pattern is a valid cluster.
        unsafe {
            std::slice::from_raw_parts(self.map.as_mut_ptr().cast::<Cluster>(), self.clusters)
        }
    }
}

#[cfg(any(loom, miri))]
pub(super) struct TableMemory(Box<[Cluster]>);

#[cfg(any(loom, miri))]
impl TableMemory {
    pub fn new(clusters: usize) -> Result<Self, TableError> {
        Ok(TableMemory((0..clusters).map(|_| super::empty_cluster()).collect()))
    }

    pub fn clusters(&self) -> &[Cluster] {
        &self.0
    }
}

/// Prefetches a cluster into the cache.
#[inline(always)]
pub(super) fn prefetch(cluster: &[Cell; CLUSTER]) {
    #[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is only a hint and valid for any address. SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(cluster).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(any(loom, miri)))))]
    let _ = cluster;
}

const _: () = assert!(size_of::<Cluster>() == 16 * CLUSTER || cfg!(loom));
