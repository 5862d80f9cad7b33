//! Bounded exact search: plain negamax for games that are nearly over.

use super::{Colour, Isa, Jumps, LANES, dispatch, versions};

/// The most moves of a position that is searched; one with more exhausts the budget at once.
const MOVES: usize = 16;

/// Results that are kept: 64 KiB, little enough for several workers that take turns on a core.
const SLOTS_LOG2: u32 = 12;

/// The budget of an exact search and its memory of earlier ones.
///
/// Independent parts of a board make the same few positions turn up in every order of play, within
/// one search and from one to the next; the memory halves the positions that are visited. It
/// holds whole positions, so it never mistakes one for another.
#[derive(Debug)]
pub struct Settling {
    /// Positions that may still be visited.
    pub left: u32,
    /// Occupied squares, and 2 + 2·mover + result, or 0 for an empty slot.
    slots: Box<[(u64, u64)]>,
}

impl Default for Settling {
    fn default() -> Self {
        Settling { left: 0, slots: vec![(0, 0); 1 << SLOTS_LOG2].into() }
    }
}

impl Settling {
    #[inline(always)]
    fn slot(occupied: u64, mover: usize) -> usize {
        let mixed = (occupied ^ mover as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> (64 - SLOTS_LOG2)) as usize
    }

    #[inline(always)]
    fn known(&self, slot: usize, occupied: u64, mover: usize) -> Option<bool> {
        let (stones, result) = self.slots[slot];
        (stones == occupied && result >> 1 == mover as u64 + 1).then_some(result & 1 == 1)
    }

    #[inline(always)]
    fn learn(&mut self, slot: usize, occupied: u64, mover: usize, won: bool) -> Option<bool> {
        self.slots[slot] = (occupied, (mover as u64 + 1) << 1 | u64::from(won));
        Some(won)
    }
}

impl Jumps {
    /// Plain negamax over at most `settling.left` positions, which are counted down: whether the
    /// mover wins, or `None` if the budget did not suffice. Fewest replies first. Some 30 ns per
    /// position.
    ///
    /// The memory must have been used with the same board only.
    pub fn settle(&self, occupied: u64, mover: Colour, settling: &mut Settling) -> Option<bool> {
        dispatch!(
            self,
            settle_avx512,
            settle_avx2,
            settle_baseline,
            (self, occupied, mover.index(), settling)
        )
    }

    /// Moves of `mover` on `LANES` boards at once.
    #[inline(always)]
    fn count_block<const ROUNDS: usize>(
        &self,
        boards: &[u64; LANES],
        mover: usize,
        counts: &mut [u8],
    ) {
        let mut block = [0u64; LANES];
        for lane in 0..LANES {
            block[lane] = u64::from(self.count::<ROUNDS>(boards[lane], mover));
        }
        for lane in 0..LANES {
            counts[lane] = block[lane] as u8;
        }
    }
}

macro_rules! settle {
    ($this:ident, $rounds:ident, $jumps:ident, $occupied:ident, $mover:ident, $settling:ident) => {{
        if $settling.left == 0 {
            return None;
        }
        $settling.left -= 1;
        let slot = Settling::slot($occupied, $mover);
        if let Some(won) = $settling.known(slot, $occupied, $mover) {
            return Some(won);
        }
        let mut list = [0u64; MOVES];
        let len = $jumps.list_successors::<$rounds, MOVES>($occupied, $mover, &mut list);
        if len == 0 {
            return Some(false);
        }
        if len > MOVES {
            return None;
        }
        let next = $mover ^ 1;
        let mut replies = [0u8; MOVES];
        for start in (0..len).step_by(LANES) {
            let boards = list[start..start + LANES].try_into().expect("a whole block");
            $jumps.count_block::<$rounds>(boards, next, &mut replies[start..start + LANES]);
        }
        if replies[..len].contains(&0) {
            return $settling.learn(slot, $occupied, $mover, true);
        }
        let mut order = [0u16; MOVES];
        for i in 0..len {
            order[i] = u16::from(replies[i]) << 8 | i as u16;
        }
        order[..len].sort_unstable();
        for &entry in &order[..len] {
            let successor = list[usize::from(entry & 0xff)];
            if !$this::<$rounds>($jumps, successor, next, $settling)? {
                return $settling.learn(slot, $occupied, $mover, true);
            }
        }
        $settling.learn(slot, $occupied, $mover, false)
    }};
}

versions!(settle_avx512, settle_avx2, settle_baseline, settle,
    (jumps: &Jumps, occupied: u64, mover: usize, settling: &mut Settling) -> Option<bool>);
