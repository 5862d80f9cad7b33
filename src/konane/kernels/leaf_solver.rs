//! The leaf solver: plain negamax with a budget, for games that are nearly over.
//!
//! The successors of a position are searched in the order of their number of replies, fewest first.
//! [`LeafSolverMemory`] has the budget and a direct-mapped table of results, which persists between searches.

use super::{Colour, Isa, Jumps, dispatch, versions};

/// Capacity of a [`FewJumps`], which has one byte of a 64-bit word for each jump.
const MAX_FEW: usize = 8;

/// Maximum number of moves of a position that is searched. A search that reaches a position with more moves ends
/// without a result.
const MAX_MOVES: usize = 16;

/// Number of results in the table. The table takes 64 KiB, so that the tables of all workers on a core fit into the
/// caches of the core.
const SLOTS: usize = 1 << SLOTS_LOG2;
const SLOTS_LOG2: u32 = 12;

/// The budget of an exact search, and results of earlier searches.
///
/// If the stones form independent groups, all orders of play lead to the same few positions, within one search and
/// from one search to the next. Stored results halve the number of visited positions. A slot contains the whole
/// position, so the result of another position is never returned.
#[derive(Debug)]
pub struct LeafSolverMemory {
    /// Number of positions that may still be visited.
    pub left: u32,
    /// Occupied squares, and 2 + 2·mover + (1 if the mover wins). Both are 0 in an empty slot.
    /// The length is a constant, so that the index needs no bounds check.
    slots: Box<[(u64, u64); SLOTS]>,
}

impl Default for LeafSolverMemory {
    fn default() -> Self {
        let slots = vec![(0, 0); SLOTS].try_into().expect("a vector of this length");
        LeafSolverMemory { left: 0, slots }
    }
}

impl LeafSolverMemory {
    /// The slot of a position.
    #[inline(always)]
    fn slot(occupied: u64, mover: usize) -> usize {
        let mixed = (occupied ^ mover as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> (64 - SLOTS_LOG2)) as usize
    }

    /// Returns true if the mover wins, or `None` if the slot does not have this position.
    #[inline(always)]
    fn lookup(&self, slot: usize, occupied: u64, mover: usize) -> Option<bool> {
        let (stones, result) = self.slots[slot];
        (stones == occupied && result >> 1 == mover as u64 + 1).then_some(result & 1 == 1)
    }

    /// Stores a result and replaces the previous one of the slot.
    #[inline(always)]
    fn store(&mut self, slot: usize, occupied: u64, mover: usize, won: bool) {
        self.slots[slot] = (occupied, (mover as u64 + 1) << 1 | u64::from(won));
    }
}

/// The jumps of a position that has at most [`MAX_FEW`] jumps, none over more than three stones. They are ordered
/// by class: on axis 0 over one, two and three stones, then the same on axis 1.
struct FewJumps {
    /// Number of jumps.
    len: usize,
    /// For each class except the last, the index after its last jump.
    ends: [usize; 5],
    /// The lowest square that each jump changes, one byte for each jump.
    lows: u64,
}

/// The squares of a set of at most eight squares, one in each byte. The remaining bytes are 0.
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
    /// Searches a position by plain negamax. Visits at most `memory.left` positions and subtracts the number of visited
    /// positions from it. Returns true if the mover wins, or `None` if the budget does not suffice or probably would
    /// not suffice. Successors with the fewest replies come first. Takes some 25 ns per position.
    ///
    /// `memory` must not have been used with another board.
    pub fn solve_leaf(
        &self,
        occupied: u64,
        mover: Colour,
        memory: &mut LeafSolverMemory,
    ) -> Option<bool> {
        dispatch!(
            self,
            solve_leaf_avx512,
            solve_leaf_avx2,
            solve_leaf_baseline,
            (self, occupied, mover.index(), memory)
        )
    }

    /// The jumps, if there are at most [`MAX_FEW`] and none takes more than three stones, as in most positions near the
    /// end of a game.
    #[inline(always)]
    fn few_jumps<const ROUNDS: usize>(&self, occupied: u64, mover: usize) -> Option<FewJumps> {
        let (sets, are_all) = self.short_jumps::<ROUNDS>(occupied, mover);
        let (mut ends, mut len) = ([0; 5], 0);
        for (class, set) in sets.iter().enumerate() {
            len += set.count_ones() as usize;
            if class < ends.len() {
                ends[class] = len;
            }
        }
        if !are_all || len > MAX_FEW {
            return None;
        }
        // If eight jumps precede this class, its set is empty, so the shift by 64 may wrap around.
        let packed = |class: usize| pack(sets[class]).wrapping_shl(8 * ends[class - 1] as u32);
        // In most positions all jumps take one stone: classes 0 and 3.
        let mut lows = pack(sets[0]) | packed(3);
        if sets[1] | sets[2] | sets[4] | sets[5] != 0 {
            lows |= packed(1) | packed(2) | packed(4) | packed(5);
        }
        Some(FewJumps { len, ends, lows })
    }

    /// The squares changed by the jumps of each class of [`FewJumps`], the lowest at bit 0.
    #[inline(always)]
    fn few_patterns(&self) -> [u64; 6] {
        let (all, short) = (&self.patterns, self.classes);
        [all[0], all[1], all[2], all[short], all[short + 1], all[short + 2]]
    }

    /// The successor of a position that has only one jump.
    #[inline(always)]
    fn forced(&self, occupied: u64, few: &FewJumps) -> u64 {
        let mut class = 0;
        for end in few.ends {
            class += usize::from(end == 0);
        }
        occupied ^ (self.few_patterns()[class] << (few.lows & 63))
    }

    /// The successors of a position with few jumps, and their keys as in [`Jumps::list_with_replies`]. A successor
    /// stays in a register while its replies are counted, and is not read from memory before it is searched.
    #[inline(always)]
    fn few_with_replies<const ROUNDS: usize, const LANES: usize>(
        &self,
        occupied: u64,
        mover: usize,
        few: &FewJumps,
    ) -> ([u64; MAX_FEW], [u16; MAX_FEW]) {
        let patterns = self.few_patterns();
        let (mut list, mut wide) = ([0; MAX_FEW], [u64::from(u16::MAX); MAX_FEW]);
        for start in (0..MAX_FEW).step_by(LANES) {
            if start > 0 && start >= few.len {
                break;
            }
            for index in start..start + LANES {
                let mut pattern = patterns[5];
                for class in (0..5).rev() {
                    pattern = if index < few.ends[class] { patterns[class] } else { pattern };
                }
                let board = occupied ^ (pattern << (few.lows >> (8 * index) & 63));
                list[index] = board;
                wide[index] = key(self.count::<ROUNDS>(board, mover ^ 1), index, few.len);
            }
        }
        (list, narrow(&wide))
    }

    /// Lists the successors, and for each successor a key that determines the order of the search: the number of
    /// replies in the upper byte, the index in the list in the lower byte. Keys after the last successor are
    /// [`u16::MAX`], with which the caller has to fill `keys`. Returns the number of successors; if it exceeds
    /// [`MAX_MOVES`], the lists are incomplete.
    #[inline(always)]
    fn list_with_replies<const ROUNDS: usize, const LANES: usize>(
        &self,
        occupied: u64,
        mover: usize,
        list: &mut [u64; MAX_MOVES],
        keys: &mut [u16; MAX_MOVES],
    ) -> usize {
        let len = self.list_successors::<ROUNDS, MAX_MOVES>(occupied, mover, list);
        for start in (0..len.min(MAX_MOVES)).step_by(LANES) {
            let boards: &[u64; LANES] = list[start..start + LANES].try_into().expect("a block");
            let mut wide = [0; LANES];
            for lane in 0..LANES {
                wide[lane] = key(self.count::<ROUNDS>(boards[lane], mover ^ 1), start + lane, len);
            }
            keys[start..start + LANES].copy_from_slice(&narrow(&wide));
        }
        len
    }
}

/// The key of the successor at `index`. After the last successor (`index >= len`), the lower 16 bits are all set.
#[inline(always)]
fn key(replies: u32, index: usize, len: usize) -> u64 {
    let beyond = if index < len { 0 } else { u64::from(u16::MAX) };
    u64::from(replies) << 8 | index as u64 | beyond
}

/// Truncates keys to 16 bits. Keys are computed in 64 bits, the width of a board, so that both have the same lanes.
#[inline(always)]
fn narrow<const LANES: usize>(wide: &[u64; LANES]) -> [u16; LANES] {
    let mut keys = [0; LANES];
    for lane in 0..LANES {
        keys[lane] = wide[lane] as u16;
    }
    keys
}

/// Searches `len` successors in the order of their keys. Returns true if one of them is lost. Returns `None` if the
/// budget is exhausted, or probably will be: if the remaining successors, at the mean cost of the successors searched
/// so far, would take more than 1.5 times the remaining budget.
#[inline(always)]
fn any_lost<const N: usize>(
    list: &[u64; N],
    mut keys: [u16; N],
    len: usize,
    memory: &mut LeafSolverMemory,
    mut wins: impl FnMut(u64, &mut LeafSolverMemory) -> Option<bool>,
) -> Option<bool> {
    let mut key = u16::MAX;
    for &other in &keys {
        key = key.min(other);
    }
    // A side without a reply has lost. There is at least one successor, so the least key belongs to one.
    if key >> 8 == 0 {
        return Some(true);
    }
    let budget = memory.left;
    let (mut searched, mut to_come) = (0u64, len as u64);
    while key != u16::MAX {
        if !wins(list[usize::from(key) % N], memory)? {
            return Some(true);
        }
        (searched, to_come) = (searched + 1, to_come - 1);
        let (spent, left) = (u64::from(budget - memory.left), u64::from(memory.left));
        if spent * to_come * 2 > left * searched * 3 {
            return None;
        }
        let mut next = u16::MAX;
        for other in &mut keys {
            *other = if *other == key { u16::MAX } else { *other };
            next = next.min(*other);
        }
        key = next;
    }
    Some(false)
}

macro_rules! solve_leaf {
    ($this:ident, $rounds:ident, $lanes:literal, $jumps:ident, $occupied:ident, $mover:ident,
     $memory:ident) => {{
        // The mask makes bounds checks of indices by colour unnecessary.
        let (mut occupied, mut mover) = ($occupied, $mover & 1);
        // If there is only one move, this loop makes it without recursion. A quarter of all positions have only one
        // move.
        while $memory.left != 0 {
            $memory.left -= 1;
            let for_the_caller = |won: bool| Some(won == (mover == $mover));
            let slot = LeafSolverMemory::slot(occupied, mover);
            if let Some(won) = $memory.lookup(slot, occupied, mover) {
                return for_the_caller(won);
            }
            let wins =
                |next, memory: &mut LeafSolverMemory| $this::<$rounds>($jumps, next, mover ^ 1, memory);
            let won = if let Some(few) = $jumps.few_jumps::<$rounds>(occupied, mover) {
                match few.len {
                    0 => return for_the_caller(false),
                    1 => {
                        occupied = $jumps.forced(occupied, &few);
                        mover = (mover ^ 1) & 1;
                        continue;
                    }
                    _ => {
                        let (list, keys) =
                            $jumps.few_with_replies::<$rounds, $lanes>(occupied, mover, &few);
                        any_lost(&list, keys, few.len, $memory, wins)?
                    }
                }
            } else {
                let (mut list, mut keys) = ([0u64; MAX_MOVES], [u16::MAX; MAX_MOVES]);
                let len = $jumps
                    .list_with_replies::<$rounds, $lanes>(occupied, mover, &mut list, &mut keys);
                if len > MAX_MOVES {
                    return None;
                }
                any_lost(&list, keys, len, $memory, wins)?
            };
            $memory.store(slot, occupied, mover, won);
            return for_the_caller(won);
        }
        None
    }};
}

versions!(solve_leaf_avx512, solve_leaf_avx2, solve_leaf_baseline, solve_leaf,
    (jumps: &Jumps, occupied: u64, mover: usize, memory: &mut LeafSolverMemory) -> Option<bool>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::{Board, Position};
    use proptest::prelude::*;

    /// Returns the listed successors and their numbers of replies, sorted. Checks that the lower bytes of the keys are
    /// the indices, and that all bits of the keys after the last successor are set.
    fn sorted(list: &[u64], keys: &[u16], len: usize) -> Vec<(u64, u32)> {
        assert!((0..len).all(|index| usize::from(keys[index] & 0xff) == index));
        assert!(keys[len..].iter().all(|&key| key == u16::MAX));
        let mut found: Vec<_> =
            (0..len).map(|index| (list[index], u32::from(keys[index] >> 8))).collect();
        found.sort_unstable();
        found
    }

    fn check_lists<const ROUNDS: usize, const LANES: usize>(board: &Board, position: &Position) {
        let jumps = Jumps::new(board);
        let (occupied, mover) = (position.occupied(), position.to_move().index());
        let moves = position.moves(board);
        let mut expected: Vec<_> = moves
            .iter()
            .map(|&mv| position.play(board, mv))
            .map(|next| (next.occupied(), next.count_moves(board)))
            .collect();
        expected.sort_unstable();

        let (mut list, mut keys) = ([0; MAX_MOVES], [u16::MAX; MAX_MOVES]);
        let len = jumps.list_with_replies::<ROUNDS, LANES>(occupied, mover, &mut list, &mut keys);
        assert_eq!(len, moves.len());
        if len <= MAX_MOVES {
            assert_eq!(sorted(&list, &keys, len), expected);
        }

        let changed = |next: &u64| (next ^ occupied).count_ones();
        let short = expected.iter().all(|(next, _)| changed(next) <= 5);
        let few = jumps.few_jumps::<ROUNDS>(occupied, mover);
        assert_eq!(few.is_some(), len <= MAX_FEW && short);
        if let Some(few) = few {
            assert_eq!(few.len, len);
            let (list, keys) = jumps.few_with_replies::<ROUNDS, LANES>(occupied, mover, &few);
            assert_eq!(sorted(&list, &keys, len), expected);
            if len == 1 {
                assert_eq!(jumps.forced(occupied, &few), expected[0].0);
            }
        }
    }

    fn check_lists_for_lanes<const ROUNDS: usize>(board: &Board, position: &Position) {
        check_lists::<ROUNDS, 4>(board, position);
        check_lists::<ROUNDS, 8>(board, position);
    }

    proptest! {
        /// Checks positions with few jumps and positions with many jumps.
        #[test]
        fn successors_are_listed_with_their_replies(
            size in prop::sample::select(vec!["5x5", "6x7", "7x7", "8x8", "3x8", "8x3", "4x11", "2x30"]),
            stones: u64,
            more: u64,
            many: bool,
            white: bool,
        ) {
            let board = Board::new(size.parse().expect("a board"));
            let mover = if white { Colour::White } else { Colour::Black };
            let stones = if many { stones | more } else { stones & more };
            let position = Position::new_unchecked(&board, board.all() & stones & !0b101, mover);
            match Jumps::new(&board).rounds {
                0 => check_lists_for_lanes::<0>(&board, &position),
                3 => check_lists_for_lanes::<3>(&board, &position),
                4 => check_lists_for_lanes::<4>(&board, &position),
                _ => check_lists_for_lanes::<5>(&board, &position),
            }
        }
    }
}
