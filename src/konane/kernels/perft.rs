//! Perft without a table. The moves of the last ply are counted, not generated. They are counted for all grandchildren
//! of a position together, so that all lanes of the vector registers are used.

use super::{Colour, Isa, Jumps, MAX_JUMPS, dispatch, versions};

/// Capacity of the list of boards to be counted: 4 KiB.
const BULK: usize = 512;

/// Number of boards that are counted together, even where eight boards need two registers: with four boards, perft
/// takes 3 % longer.
const LANES: usize = 8;

impl Jumps {
    /// Number of jump sequences of exactly `depth` plies (1 or more). `stack` is the memory for the lists of successors
    /// and grows as needed.
    pub fn perft(&self, stack: &mut Vec<u64>, occupied: u64, mover: Colour, depth: u32) -> u64 {
        let needed = MAX_JUMPS * depth as usize + BULK;
        if stack.len() < needed {
            stack.resize(needed, 0);
        }
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

impl Jumps {
    /// Total number of moves of `mover` on the first `len` boards of a list. The list must have at least `LANES` more
    /// elements, which may be overwritten.
    #[inline(always)]
    fn count_all<const ROUNDS: usize>(&self, list: &mut [u64], len: usize, mover: usize) -> u64 {
        // The last block is filled up with boards without stones, which have no moves.
        let padded = len.next_multiple_of(LANES);
        list[len..padded].fill(0);
        let mut sums = [0u64; LANES];
        for block in list[..padded].chunks_exact(LANES) {
            for lane in 0..LANES {
                sums[lane] += u64::from(self.count::<ROUNDS>(block[lane], mover));
            }
        }
        sums.iter().sum()
    }
}

/// The part of the stack for the next list.
#[inline(always)]
fn window(stack: &mut [u64]) -> &mut [u64; MAX_JUMPS] {
    stack.first_chunk_mut().expect("the stack has space for every ply")
}

/// Counts sequences recursively. Writes the successors of the position to the front of the stack; the rest of the
/// stack is for deeper plies.
macro_rules! perft {
    ($this:ident, $rounds:ident, $lanes:literal, $jumps:ident, $occupied:ident, $mover:ident,
     $depth:ident, $stack:ident) => {{
        if $depth <= 1 {
            return u64::from($jumps.count::<$rounds>($occupied, $mover));
        }
        let next = $mover ^ 1;
        if $depth == 2 {
            let len =
                $jumps.list_successors::<$rounds, MAX_JUMPS>($occupied, $mover, window($stack));
            return $jumps.count_all::<$rounds>($stack, len, next);
        }
        let (list, rest) = $stack.split_at_mut(MAX_JUMPS);
        let len = $jumps.list_successors::<$rounds, MAX_JUMPS>($occupied, $mover, window(list));
        if $depth == 3 {
            let (mut nodes, mut waiting) = (0, 0);
            for &occupied in &list[..len] {
                let list = window(&mut rest[waiting..]);
                waiting += $jumps.list_successors::<$rounds, MAX_JUMPS>(occupied, next, list);
                if waiting > BULK - MAX_JUMPS {
                    nodes += $jumps.count_all::<$rounds>(rest, waiting, $mover);
                    waiting = 0;
                }
            }
            return nodes + $jumps.count_all::<$rounds>(rest, waiting, $mover);
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
