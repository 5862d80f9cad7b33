//! Number of workers below each node.
//!
//! One hashed array of 64-bit words for all nodes; several nodes may share a word. The lower half of a word is the
//! number of workers below its nodes. The upper half is a version: it grows whenever a worker enters one of these
//! nodes or reports a result for a child of one. A worker keeps the value of the word that it last read, and reads
//! the table again if the version has changed since.
//!
//! All accesses are relaxed: a word is compared only with earlier values of the same word, and the words decide
//! only which node is searched (see the parent module). Every subtraction follows an addition to the same
//! word by the same thread, so a count is never negative. A count cannot reach 2³², because the number of workers
//! times the depth of the search is less.

use super::sync::{AtomicU64, Ordering};

const COUNT_MASK: u64 = 0xffff_ffff;
const ONE_VERSION: u64 = 1 << 32;
const ONE_WORKER: u64 = ONE_VERSION + 1;

/// Numbers of workers below nodes, by the nodes' keys.
pub(crate) struct VirtualLossTable {
    words: Box<[AtomicU64]>,
    shift: u32,
}

/// Value of a node's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeActivity(u64);

impl NodeActivity {
    /// Number of workers below the node.
    pub fn count(self) -> u32 {
        (self.0 & COUNT_MASK) as u32
    }

    /// Number of updates of the word since it had the value `earlier`.
    pub fn updates_since(self, earlier: NodeActivity) -> u32 {
        ((self.0 >> 32) as u32).wrapping_sub((earlier.0 >> 32) as u32)
    }
}

impl VirtualLossTable {
    /// Creates the table of `workers` workers. It takes 512 KiB, for more than 64 workers up to 32 MiB. A single
    /// worker does not use the table, which then takes 16 bytes.
    pub fn new(workers: usize) -> Self {
        let bits = (workers * 1024).next_power_of_two().ilog2().clamp(16, 22);
        VirtualLossTable::with_bits(if workers > 1 { bits } else { 1 })
    }

    /// Creates a table of 2^`bits` words. `bits` is at least 1.
    pub(super) fn with_bits(bits: u32) -> Self {
        VirtualLossTable {
            words: (0..1 << bits).map(|_| AtomicU64::new(0)).collect(),
            shift: 64 - bits,
        }
    }

    #[inline(always)]
    fn word(&self, key: u64) -> &AtomicU64 {
        // The upper bits also choose the cluster of the transposition table. The two indices need not be
        // independent.
        &self.words[(key >> self.shift) as usize]
    }

    /// Value of the node's word.
    #[inline(always)]
    pub fn get(&self, key: u64) -> NodeActivity {
        NodeActivity(self.word(key).load(Ordering::Relaxed))
    }

    /// Adds a worker below the node. Returns the new value.
    #[inline(always)]
    pub fn add(&self, key: u64) -> NodeActivity {
        NodeActivity(
            self.word(key).fetch_add(ONE_WORKER, Ordering::Relaxed).wrapping_add(ONE_WORKER),
        )
    }

    /// Reports that a worker below the node has stored a result about a child. Returns the new value.
    #[inline(always)]
    pub fn notify(&self, key: u64) -> NodeActivity {
        let before = self.word(key).fetch_add(ONE_VERSION, Ordering::Relaxed);
        NodeActivity(before.wrapping_add(ONE_VERSION))
    }

    /// Removes a worker below the node. Returns the number of remaining workers.
    #[inline(always)]
    pub fn remove(&self, key: u64) -> u32 {
        NodeActivity(self.word(key).fetch_sub(1, Ordering::Relaxed) - 1).count()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn counts_and_versions_are_separate() {
        let virtual_losses = VirtualLossTable::with_bits(4);
        let key = 7 << 60;
        let first = virtual_losses.add(key);
        assert_eq!(first.count(), 1);
        let second = virtual_losses.add(key);
        assert_eq!(second.count(), 2);
        assert_eq!(second.updates_since(first), 1);
        assert_eq!(virtual_losses.remove(key), 1);
        assert_eq!(virtual_losses.get(key).count(), 1);
        assert_eq!(virtual_losses.get(key).updates_since(second), 0);
        let third = virtual_losses.notify(key);
        assert_eq!((third.count(), third.updates_since(first)), (1, 2));
        assert_eq!(virtual_losses.get(8 << 60).count(), 0);
        assert_eq!(virtual_losses.remove(key), 0);
    }

    #[test]
    fn the_version_wraps_without_changing_the_count() {
        let virtual_losses = VirtualLossTable::with_bits(1);
        virtual_losses.words[0].store(COUNT_MASK << 32 | 5, Ordering::Relaxed);
        assert_eq!(virtual_losses.add(0).count(), 6);
        assert_eq!(virtual_losses.remove(0), 5);
        assert_eq!(virtual_losses.get(0), NodeActivity(5));
    }
}
