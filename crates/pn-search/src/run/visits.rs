//! How many workers are below a node.
//!
//! One hashed array of 64-bit words for all nodes. The lower half of a word counts the workers
//! below the nodes that share it, the upper half how often somebody has come or has stored
//! something about a child. Somebody who remembers the word sees later whether anything has
//! happened there in between, and the entries of the table are worth another look.
//!
//! All accesses are relaxed: the words are only ever compared with themselves, and what is done
//! with them is a choice between nodes (see the parent module). Every subtraction follows an
//! addition to the same word by the same thread, so a count never falls below zero; it reaches 2³²
//! only with more workers times depth than there can be.

use super::sync::{AtomicU64, Ordering};

const COUNT: u64 = 0xffff_ffff;
const NEWS: u64 = 1 << 32;
const ONE_MORE: u64 = NEWS + 1;

/// See the module's head.
pub(crate) struct Visits {
    words: Box<[AtomicU64]>,
    shift: u32,
}

/// What somebody has seen of a node's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen(u64);

impl Seen {
    /// Workers below the node.
    pub fn count(self) -> u32 {
        (self.0 & COUNT) as u32
    }

    /// How often somebody has come or told, up to `self` and after `earlier`.
    pub fn news_since(self, earlier: Seen) -> u32 {
        ((self.0 >> 32) as u32).wrapping_sub((earlier.0 >> 32) as u32)
    }
}

impl Visits {
    /// For so many workers. Takes 512 KiB, and more with more than 64 workers; nothing for one, whom
    /// nobody asks.
    pub fn new(workers: usize) -> Self {
        let bits = (workers * 1024).next_power_of_two().ilog2().clamp(16, 22);
        Visits::with_bits(if workers > 1 { bits } else { 1 })
    }

    /// With 2^`bits` words, at least one bit.
    pub(super) fn with_bits(bits: u32) -> Self {
        Visits { words: (0..1 << bits).map(|_| AtomicU64::new(0)).collect(), shift: 64 - bits }
    }

    #[inline(always)]
    fn word(&self, key: u64) -> &AtomicU64 {
        // The upper bits choose the table's cluster, but any bits of a well-mixed key will do.
        &self.words[(key >> self.shift) as usize]
    }

    /// What is seen now.
    #[inline(always)]
    pub fn look(&self, key: u64) -> Seen {
        Seen(self.word(key).load(Ordering::Relaxed))
    }

    /// A worker goes below the node. Returns what it sees then, itself included.
    #[inline(always)]
    pub fn enter(&self, key: u64) -> Seen {
        Seen(self.word(key).fetch_add(ONE_MORE, Ordering::Relaxed).wrapping_add(ONE_MORE))
    }

    /// A worker that is below the node has news: it has stored something about a child. Returns what
    /// it sees then.
    #[inline(always)]
    pub fn tell(&self, key: u64) -> Seen {
        let before = self.word(key).fetch_add(NEWS, Ordering::Relaxed);
        Seen(before.wrapping_add(NEWS))
    }

    /// A worker comes back from below the node. Returns how many others remain.
    #[inline(always)]
    pub fn leave(&self, key: u64) -> u32 {
        Seen(self.word(key).fetch_sub(1, Ordering::Relaxed) - 1).count()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn counts_and_news_are_kept_apart() {
        let visits = Visits::with_bits(4);
        let key = 7 << 60;
        let first = visits.enter(key);
        assert_eq!(first.count(), 1);
        let second = visits.enter(key);
        assert_eq!(second.count(), 2);
        assert_eq!(second.news_since(first), 1);
        assert_eq!(visits.leave(key), 1);
        assert_eq!(visits.look(key).count(), 1);
        assert_eq!(visits.look(key).news_since(second), 0);
        let told = visits.tell(key);
        assert_eq!((told.count(), told.news_since(first)), (1, 2));
        assert_eq!(visits.look(8 << 60).count(), 0);
        assert_eq!(visits.leave(key), 0);
    }

    #[test]
    fn the_counter_of_news_wraps_without_touching_the_count() {
        let visits = Visits::with_bits(1);
        visits.words[0].store(COUNT << 32 | 5, Ordering::Relaxed);
        assert_eq!(visits.enter(0).count(), 6);
        assert_eq!(visits.leave(0), 5);
        assert_eq!(visits.look(0), Seen(5));
    }
}
