//! The leaf solver: plain negamax with a budget, for games that are nearly over.
//!
//! The successors of a position are searched in the order of their number of replies, fewest first.
//! [`LeafSolverMemory`] has the budget and a direct-mapped table of results, which persists between searches.

use super::{Colour, Isa, Jumps, dispatch, versions};

/// Capacity of a [`FewJumps`]: its squares take one byte each of a word.
const MAX_FEW: usize = 8;

/// Maximum number of moves of a position that is searched. A search that reaches a position with more ends
/// without a result.
const MAX_MOVES: usize = 16;

/// Number of results in the table. It takes 64 KiB, so that those of several workers that share a core stay in
/// its caches.
const SLOTS: usize = 1 << SLOTS_LOG2;
const SLOTS_LOG2: u32 = 12;

/// The budget of an exact search, and results of earlier searches.
///
/// A board with independent parts leads to the same few positions in every order of play, within
/// one search and from one search to the next; the results halve the number of visited positions. They
/// are stored with whole positions, so collisions are impossible.
#[derive(Debug)]
pub struct LeafSolverMemory {
    /// Number of positions that may still be visited.
    pub left: u32,
    /// Occupied squares, and 2 + 2·mover + result, or 0 for an empty slot.
    /// The length is fixed, so that the index needs no bounds check.
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
    /// End of the jumps of each class except the last.
    ends: [usize; 5],
    /// The lowest square of each jump, in one byte.
    lows: u64,
}

/// The bits of a set of at most eight, in one byte each. The remaining bytes are 0.
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
    /// Searches a position by plain negamax over at most `memory.left` positions, which are counted down. Returns
    /// true if the mover wins, or `None` if the budget does not suffice or probably would not. Successors with
    /// the fewest replies come first. Takes some 25 ns per position.
    ///
    /// The memory must have been used with the same board only.
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

    /// The jumps, if they are few and short, as in most positions near the end of a game.
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
        // If all eight jumps come before, the set is empty, so the shift may wrap around.
        let packed = |class: usize| pack(sets[class]).wrapping_shl(8 * ends[class - 1] as u32);
        // Most jumps take one stone, on either axis.
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

    /// The successor of a position with one jump.
    #[inline(always)]
    fn forced(&self, occupied: u64, few: &FewJumps) -> u64 {
        let mut class = 0;
        for end in few.ends {
            class += usize::from(end == 0);
        }
        occupied ^ (self.few_patterns()[class] << (few.lows & 63))
    }

    /// The successors by few jumps and their keys, as in [`Jumps::list_with_replies`]. The replies are counted
    /// in registers: no board is read again before it is searched.
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
            for place in start..start + LANES {
                let mut pattern = patterns[5];
                for class in (0..5).rev() {
                    pattern = if place < few.ends[class] { patterns[class] } else { pattern };
                }
                let board = occupied ^ (pattern << (few.lows >> (8 * place) & 63));
                list[place] = board;
                wide[place] = key(self.count::<ROUNDS>(board, mover ^ 1), place, few.len);
            }
        }
        (list, narrow(&wide))
    }

    /// Lists the successors, and for each a key for the order of the search: the number of replies, and
    /// in the lower byte the index in the list. The keys after the last successor are the greatest. Returns the
    /// number of successors; if it exceeds [`MAX_MOVES`], the lists are incomplete.
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

/// The key of the successor at an index, from its replies and the number of successors.
#[inline(always)]
fn key(replies: u32, place: usize, len: usize) -> u64 {
    let beyond = if place < len { 0 } else { u64::from(u16::MAX) };
    u64::from(replies) << 8 | place as u64 | beyond
}

/// Truncates keys from lanes of the width of boards to 16 bits.
#[inline(always)]
fn narrow<const LANES: usize>(wide: &[u64; LANES]) -> [u16; LANES] {
    let mut keys = [0; LANES];
    for lane in 0..LANES {
        keys[lane] = wide[lane] as u16;
    }
    keys
}

/// Searches `len` successors in the order of their keys. Returns true if one of them is lost, or `None` if the
/// budget is exhausted or probably will be: if the remaining successors, at the mean cost of those so far, would
/// take more than one and a half times the rest of the budget.
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
        // Masked, so that the index by colour needs no bounds check.
        let (mut occupied, mut mover) = ($occupied, $mover & 1);
        // An only move is made in this loop, without recursion: a quarter of all positions have one move.
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

    /// Returns the listed successors and their replies, sorted. Checks that the lower bytes of the keys are the
    /// indices, and that the keys after the last successor are the greatest.
    fn sorted(list: &[u64], keys: &[u16], len: usize) -> Vec<(u64, u32)> {
        assert!((0..len).all(|place| usize::from(keys[place] & 0xff) == place));
        assert!(keys[len..].iter().all(|&key| key == u16::MAX));
        let mut found: Vec<_> =
            (0..len).map(|place| (list[place], u32::from(keys[place] >> 8))).collect();
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
        /// Positions with few jumps and with many.
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
