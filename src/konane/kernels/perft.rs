//! Perft without a table: the last ply is counted, not generated.

use super::{Colour, Isa, Jumps, LANES, MAX_JUMPS, dispatch, versions};

impl Jumps {
    /// The number of jump sequences of exactly `depth` plies (1 or more). No table.
    pub fn perft(&self, occupied: u64, mover: Colour, depth: u32) -> u64 {
        let mut stack = vec![0; MAX_JUMPS * depth.max(1) as usize];
        let stack = stack.as_mut_slice();
        dispatch!(
            self,
            perft_avx512,
            perft_avx2,
            perft_baseline,
            (self, occupied, mover.index(), depth, stack)
        )
    }
}

/// The successors go to the front of the stack, whose rest the deeper levels use.
macro_rules! perft {
    ($this:ident, $rounds:ident, $jumps:ident, $occupied:ident, $mover:ident, $depth:ident,
     $stack:ident) => {{
        if $depth <= 1 {
            return u64::from($jumps.count::<$rounds>($occupied, $mover));
        }
        let (list, rest) = $stack.split_at_mut(MAX_JUMPS);
        let len = $jumps.list_successors($occupied, $mover, list);
        let next = $mover ^ 1;
        if $depth == 2 {
            // The lanes after the last successor hold a board without stones, which has no moves.
            let padded = len.next_multiple_of(LANES);
            list[len..padded].fill(0);
            let mut sums = [0u64; LANES];
            for block in list[..padded].chunks_exact(LANES) {
                for lane in 0..LANES {
                    sums[lane] += u64::from($jumps.count::<$rounds>(block[lane], next));
                }
            }
            return sums.iter().sum();
        }
        let mut nodes = 0;
        for &occupied in &list[..len] {
            nodes += $this::<$rounds>($jumps, occupied, next, $depth - 1, rest);
        }
        nodes
    }};
}

versions!(perft_avx512, perft_avx2, perft_baseline, perft,
    (jumps: &Jumps, occupied: u64, mover: usize, depth: u32, stack: &mut [u64]) -> u64);
