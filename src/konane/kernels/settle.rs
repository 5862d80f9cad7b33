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

/// The jumps of a position that has at most [`LANES`], each over one stone.
struct Few {
    len: usize,
    /// How many of them are on axis 0; these come first.
    first: usize,
    /// The lowest square of each, a byte each.
    lows: u64,
}

/// The bits of a set of at most eight, a byte each. The bytes beyond are 0.
#[inline(always)]
fn pack(mut set: u64) -> u64 {
    let mut bytes = 0;
    for i in 0..4 {
        bytes |= u64::from(set.trailing_zeros() & 63) << (8 * i);
        set &= set.wrapping_sub(1);
    }
    if set != 0 {
        for i in 4..8 {
            bytes |= u64::from(set.trailing_zeros() & 63) << (8 * i);
            set &= set.wrapping_sub(1);
        }
    }
    bytes
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

    /// The jumps, if they are few and short: most positions near the end of a game have no others.
    /// In the order of [`Jumps::list_successors`].
    #[inline(always)]
    fn few(&self, occupied: u64, mover: usize) -> Option<Few> {
        let mut sets = [0u64; 2];
        let mut longer = 0;
        for (axis, set) in sets.iter_mut().enumerate() {
            let step = self.axes[axis].step;
            let hop = 2 * step;
            let passable = (occupied << step) & !occupied & self.landings[mover][axis];
            let up = (occupied << hop) & passable;
            longer |= (up << hop) & passable;
            let passable = (occupied >> step) & !occupied & self.landings[mover][axis + 2];
            let down = (occupied >> hop) & passable;
            longer |= (down >> hop) & passable;
            *set = (up >> hop) | down;
        }
        let first = sets[0].count_ones() as usize;
        let len = first + sets[1].count_ones() as usize;
        if longer != 0 || len > LANES {
            return None;
        }
        // With all on axis 0 the other set is empty, so that the shift may wrap around.
        let lows = pack(sets[0]) | pack(sets[1]).wrapping_shl(8 * first as u32);
        Some(Few { len, first, lows })
    }

    /// Lists the successors, and for each a key by which they are to be searched: the replies, and
    /// below them the place in the list. Beyond the successors, keys are the greatest. Returns the
    /// number of successors; above [`MOVES`] the lists are not whole.
    #[inline(always)]
    fn list_with_replies<const ROUNDS: usize>(
        &self,
        occupied: u64,
        mover: usize,
        list: &mut [u64; MOVES],
        keys: &mut [u16; MOVES],
    ) -> usize {
        if ROUNDS == 0
            && let Some(Few { len, first, lows }) = self.few(occupied, mover)
        {
            // From bits to counts in registers: no board is read again before it is searched.
            let patterns = [self.patterns[0], self.patterns[self.classes]];
            let mut replies = [0u64; LANES];
            for lane in 0..LANES {
                let pattern = if lane < first { patterns[0] } else { patterns[1] };
                let board = occupied ^ (pattern << (lows >> (8 * lane) & 63));
                list[lane] = board;
                replies[lane] = u64::from(self.count::<ROUNDS>(board, mover ^ 1));
            }
            write_keys(&replies, 0, len, keys);
            return len;
        }
        let len = self.list_successors::<ROUNDS, MOVES>(occupied, mover, list);
        for start in (0..len.min(MOVES)).step_by(LANES) {
            let boards: &[u64; LANES] = list[start..start + LANES].try_into().expect("a block");
            let mut replies = [0u64; LANES];
            for lane in 0..LANES {
                replies[lane] = u64::from(self.count::<ROUNDS>(boards[lane], mover ^ 1));
            }
            write_keys(&replies, start, len, keys);
        }
        len
    }
}

#[inline(always)]
fn write_keys(replies: &[u64; LANES], start: usize, len: usize, keys: &mut [u16; MOVES]) {
    let mut wide = [0u64; LANES];
    for lane in 0..LANES {
        let beyond = if start + lane < len { 0 } else { u64::from(u16::MAX) };
        wide[lane] = replies[lane] << 8 | (start + lane) as u64 | beyond;
    }
    for lane in 0..LANES {
        keys[start + lane] = wide[lane] as u16;
    }
}

/// The least key that is not below a bound; the greatest number if there is none.
#[inline(always)]
fn least_from(bound: u16, keys: &[u16; MOVES]) -> u16 {
    let mut least = u16::MAX;
    for &key in keys {
        least = least.min(if key >= bound { key } else { u16::MAX });
    }
    least
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
        let (mut list, mut keys) = ([0u64; MOVES], [u16::MAX; MOVES]);
        let len = $jumps.list_with_replies::<$rounds>($occupied, $mover, &mut list, &mut keys);
        if len == 0 {
            return Some(false);
        }
        if len > MOVES {
            return None;
        }
        let mut key = least_from(0, &keys);
        if key >> 8 == 0 {
            return $settling.learn(slot, $occupied, $mover, true);
        }
        while key != u16::MAX {
            let successor = list[usize::from(key) % MOVES];
            if !$this::<$rounds>($jumps, successor, $mover ^ 1, $settling)? {
                return $settling.learn(slot, $occupied, $mover, true);
            }
            key = least_from(key + 1, &keys);
        }
        $settling.learn(slot, $occupied, $mover, false)
    }};
}

versions!(settle_avx512, settle_avx2, settle_baseline, settle,
    (jumps: &Jumps, occupied: u64, mover: usize, settling: &mut Settling) -> Option<bool>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::{Board, Position};
    use proptest::prelude::*;

    proptest! {
        /// Of positions with few jumps and with many, by the rules.
        #[test]
        fn successors_are_listed_with_their_replies(
            size in prop::sample::select(vec!["5x5", "6x7", "7x7", "8x8", "3x8", "8x3", "4x11", "2x30"]),
            stones: u64,
            more: u64,
            white: bool,
        ) {
            let board = Board::new(size.parse().expect("a board"));
            let mover = if white { Colour::White } else { Colour::Black };
            let position = Position::new_unchecked(board.all() & (stones | more) & !0b101, mover);
            let jumps = Jumps::new(&board);
            let (mut list, mut keys) = ([0; MOVES], [u16::MAX; MOVES]);
            let (occupied, side) = (position.occupied(), mover.index());
            let len = match jumps.rounds {
                0 => jumps.list_with_replies::<0>(occupied, side, &mut list, &mut keys),
                3 => jumps.list_with_replies::<3>(occupied, side, &mut list, &mut keys),
                4 => jumps.list_with_replies::<4>(occupied, side, &mut list, &mut keys),
                _ => jumps.list_with_replies::<5>(occupied, side, &mut list, &mut keys),
            };
            let moves = position.moves(&board);
            prop_assert_eq!(len, moves.len());
            if len > MOVES {
                return Ok(());
            }
            let mut expected: Vec<_> = moves
                .into_iter()
                .map(|mv| position.play(&board, mv))
                .map(|next| (next.occupied(), next.count_moves(&board)))
                .collect();
            let replies = |place: usize| u32::from(keys[place] >> 8);
            let mut found: Vec<_> = (0..len).map(|place| (list[place], replies(place))).collect();
            prop_assert!((0..len).all(|place| usize::from(keys[place] & 0xff) == place));
            prop_assert!(keys[len..].iter().all(|&key| key == u16::MAX));
            expected.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
