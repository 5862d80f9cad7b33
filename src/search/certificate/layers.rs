//! Positions of one layer: those that wait for their turn, and those of a set.

use std::collections::HashSet;
use std::sync::OnceLock;

use rayon::prelude::*;

/// Codes of one layer that are in the set.
pub(super) type Codes = HashSet<u64, ahash::RandomState>;

/// Codes that wait are not looked through for repeats before there are so many.
const FEW: usize = 1 << 20;

/// Codes that wait for the turn of their layer.
///
/// Many are named more than once. Repeats are removed whenever the list has doubled, so that it never
/// holds more than twice the different codes.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    codes: Vec<u64>,
    /// How many were left when repeats were last removed.
    different: usize,
}

impl Waiting {
    pub fn push(&mut self, code: u64) {
        if self.codes.len() >= (2 * self.different).max(FEW) {
            self.remove_repeats();
        }
        self.codes.push(code);
    }

    /// Takes all, each once, in increasing order.
    pub fn take(&mut self) -> Vec<u64> {
        self.remove_repeats();
        std::mem::take(self).codes
    }

    fn remove_repeats(&mut self) {
        self.codes.par_sort_unstable();
        self.codes.dedup();
        self.different = self.codes.len();
    }
}

/// The set in one layer, once it is complete: codes in increasing order, and a table of them from the
/// first question on.
#[derive(Debug, Default)]
pub(super) struct Finished {
    codes: Vec<u64>,
    table: OnceLock<Codes>,
}

impl Finished {
    pub fn new(codes: Vec<u64>) -> Self {
        Finished { codes, table: OnceLock::new() }
    }

    pub fn contains(&self, code: u64) -> bool {
        self.table.get_or_init(|| self.codes.iter().copied().collect()).contains(&code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_taken_once_and_in_order() {
        let mut waiting = Waiting::default();
        let named = 3 * FEW as u64;
        for i in 0..named {
            // Odd, so that every number below 2^20 comes up three times.
            waiting.push(i.wrapping_mul(0x9E37_79B1) % FEW as u64);
            assert!(waiting.codes.len() <= 2 * FEW);
        }
        assert_eq!(waiting.take(), (0..FEW as u64).collect::<Vec<_>>());
        assert!(waiting.take().is_empty());
    }

    #[test]
    fn a_finished_layer_has_its_codes() {
        let layer = Finished::new(vec![3, 5, 9]);
        let found: Vec<u64> = (0..12).filter(|&code| layer.contains(code)).collect();
        assert_eq!(found, [3, 5, 9]);
        assert!(!Finished::default().contains(0));
    }
}
