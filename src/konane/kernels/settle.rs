//! Bounded exact search: plain negamax for games that are nearly over.

use super::{Colour, Isa, Jumps, dispatch, versions};

/// Jumps that a [`FewJumps`] holds: their squares fit into a word, a byte each.
const FEW: usize = 8;

/// The most moves of a position that is searched; one with more exhausts the budget at once.
const MOST_MOVES: usize = 16;

/// Number of results that are kept: 64 KiB, little enough for several workers that take turns on a core.
const SLOTS: usize = 1 << SLOTS_LOG2;
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
    /// Of fixed length, so that the compiler needs no check of the index.
    slots: Box<[(u64, u64); SLOTS]>,
}

impl Default for Settling {
    fn default() -> Self {
        let slots = vec![(0, 0); SLOTS].try_into().expect("a vector of this length");
        Settling { left: 0, slots }
    }
}

impl Settling {
    /// The place of a position.
    #[inline(always)]
    fn slot(occupied: u64, mover: usize) -> usize {
        let mixed = (occupied ^ mover as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> (64 - SLOTS_LOG2)) as usize
    }

    /// Whether the mover wins, if the slot holds this position.
    #[inline(always)]
    fn known(&self, slot: usize, occupied: u64, mover: usize) -> Option<bool> {
        let (stones, result) = self.slots[slot];
        (stones == occupied && result >> 1 == mover as u64 + 1).then_some(result & 1 == 1)
    }

    /// Keeps a result in place of what the slot held.
    #[inline(always)]
    fn learn(&mut self, slot: usize, occupied: u64, mover: usize, won: bool) {
        self.slots[slot] = (occupied, (mover as u64 + 1) << 1 | u64::from(won));
    }
}

/// The jumps of a position that has at most [`FEW`], none over more than three stones, by class:
/// axis 0 over one, two and three stones, then axis 1 the same.
struct FewJumps {
    /// How many there are.
    len: usize,
    /// Where the jumps of each class but the last end.
    ends: [usize; 5],
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
    /// mover wins, or `None` if the budget did not suffice or hardly would. Fewest replies first. Some
    /// 25 ns per position.
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
        if !are_all || len > FEW {
            return None;
        }
        // Where all eight jumps are before, the set is empty, so that the shift may wrap around.
        let packed = |class: usize| pack(sets[class]).wrapping_shl(8 * ends[class - 1] as u32);
        // Most take one stone, on either axis.
        let mut lows = pack(sets[0]) | packed(3);
        if sets[1] | sets[2] | sets[4] | sets[5] != 0 {
            lows |= packed(1) | packed(2) | packed(4) | packed(5);
        }
        Some(FewJumps { len, ends, lows })
    }

    /// What the jumps of each class of [`FewJumps`] change, the lowest square at bit 0.
    #[inline(always)]
    fn few_patterns(&self) -> [u64; 6] {
        let (all, short) = (&self.patterns, self.classes);
        [all[0], all[1], all[2], all[short], all[short + 1], all[short + 2]]
    }

    /// The successor by the only jump.
    #[inline(always)]
    fn forced(&self, occupied: u64, few: &FewJumps) -> u64 {
        let mut class = 0;
        for end in few.ends {
            class += usize::from(end == 0);
        }
        occupied ^ (self.few_patterns()[class] << (few.lows & 63))
    }

    /// The successors by few jumps and their keys, as [`Jumps::list_with_replies`] has them. From
    /// bits to counts in registers: no board is read again before it is searched.
    #[inline(always)]
    fn few_with_replies<const ROUNDS: usize, const LANES: usize>(
        &self,
        occupied: u64,
        mover: usize,
        few: &FewJumps,
    ) -> ([u64; FEW], [u16; FEW]) {
        let patterns = self.few_patterns();
        let (mut list, mut wide) = ([0; FEW], [u64::from(u16::MAX); FEW]);
        for start in (0..FEW).step_by(LANES) {
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

    /// Lists the successors, and for each a key by which they are to be searched: the replies, and
    /// below them the place in the list. Beyond the successors, keys are the greatest. Returns the
    /// number of successors; above [`MOST_MOVES`] the lists are not whole.
    #[inline(always)]
    fn list_with_replies<const ROUNDS: usize, const LANES: usize>(
        &self,
        occupied: u64,
        mover: usize,
        list: &mut [u64; MOST_MOVES],
        keys: &mut [u16; MOST_MOVES],
    ) -> usize {
        let len = self.list_successors::<ROUNDS, MOST_MOVES>(occupied, mover, list);
        for start in (0..len.min(MOST_MOVES)).step_by(LANES) {
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

/// The key of the successor at a place, from its replies and the number of successors.
#[inline(always)]
fn key(replies: u32, place: usize, len: usize) -> u64 {
    let beyond = if place < len { 0 } else { u64::from(u16::MAX) };
    u64::from(replies) << 8 | place as u64 | beyond
}

/// Keys as they are compared, from lanes as wide as the boards.
#[inline(always)]
fn narrow<const LANES: usize>(wide: &[u64; LANES]) -> [u16; LANES] {
    let mut keys = [0; LANES];
    for lane in 0..LANES {
        keys[lane] = wide[lane] as u16;
    }
    keys
}

/// Whether one of so many successors is lost, searched in the order of their keys. Gives up before the
/// budget is used up when it would hardly do: when the successors to come, each at the mean of those so
/// far, would take one and a half times what is left of it.
#[inline(always)]
fn any_lost<const N: usize>(
    list: &[u64; N],
    mut keys: [u16; N],
    len: usize,
    settling: &mut Settling,
    mut wins: impl FnMut(u64, &mut Settling) -> Option<bool>,
) -> Option<bool> {
    let mut key = u16::MAX;
    for &other in &keys {
        key = key.min(other);
    }
    // Who has no reply has lost. There is a successor, so the least key is that of one.
    if key >> 8 == 0 {
        return Some(true);
    }
    let budget = settling.left;
    let (mut searched, mut to_come) = (0u64, len as u64);
    while key != u16::MAX {
        if !wins(list[usize::from(key) % N], settling)? {
            return Some(true);
        }
        (searched, to_come) = (searched + 1, to_come - 1);
        let (spent, left) = (u64::from(budget - settling.left), u64::from(settling.left));
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

macro_rules! settle {
    ($this:ident, $rounds:ident, $lanes:literal, $jumps:ident, $occupied:ident, $mover:ident,
     $settling:ident) => {{
        // Masked, so that the compiler needs no check of the colour's index.
        let (mut occupied, mut mover) = ($occupied, $mover & 1);
        // A move without a choice is made here and now: a quarter of all positions have no other.
        while $settling.left != 0 {
            $settling.left -= 1;
            let for_the_asker = |won: bool| Some(won == (mover == $mover));
            let slot = Settling::slot(occupied, mover);
            if let Some(won) = $settling.known(slot, occupied, mover) {
                return for_the_asker(won);
            }
            let wins =
                |next, settling: &mut Settling| $this::<$rounds>($jumps, next, mover ^ 1, settling);
            let won = if let Some(few) = $jumps.few_jumps::<$rounds>(occupied, mover) {
                match few.len {
                    0 => return for_the_asker(false),
                    1 => {
                        occupied = $jumps.forced(occupied, &few);
                        mover = (mover ^ 1) & 1;
                        continue;
                    }
                    _ => {
                        let (list, keys) =
                            $jumps.few_with_replies::<$rounds, $lanes>(occupied, mover, &few);
                        any_lost(&list, keys, few.len, $settling, wins)?
                    }
                }
            } else {
                let (mut list, mut keys) = ([0u64; MOST_MOVES], [u16::MAX; MOST_MOVES]);
                let len = $jumps
                    .list_with_replies::<$rounds, $lanes>(occupied, mover, &mut list, &mut keys);
                if len > MOST_MOVES {
                    return None;
                }
                any_lost(&list, keys, len, $settling, wins)?
            };
            $settling.learn(slot, occupied, mover, won);
            return for_the_asker(won);
        }
        None
    }};
}

versions!(settle_avx512, settle_avx2, settle_baseline, settle,
    (jumps: &Jumps, occupied: u64, mover: usize, settling: &mut Settling) -> Option<bool>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::{Board, Position};
    use proptest::prelude::*;

    /// The listed successors and their replies, sorted. Their keys count the places, and the others
    /// are the greatest.
    fn sorted(list: &[u64], keys: &[u16], len: usize) -> Vec<(u64, u32)> {
        assert!((0..len).all(|place| usize::from(keys[place] & 0xff) == place));
        assert!(keys[len..].iter().all(|&key| key == u16::MAX));
        let mut found: Vec<_> =
            (0..len).map(|place| (list[place], u32::from(keys[place] >> 8))).collect();
        found.sort_unstable();
        found
    }

    fn listed_as_by_the_rules<const ROUNDS: usize, const LANES: usize>(
        board: &Board,
        position: &Position,
    ) {
        let jumps = Jumps::new(board);
        let (occupied, mover) = (position.occupied(), position.to_move().index());
        let moves = position.moves(board);
        let mut expected: Vec<_> = moves
            .iter()
            .map(|&mv| position.play(board, mv))
            .map(|next| (next.occupied(), next.count_moves(board)))
            .collect();
        expected.sort_unstable();

        let (mut list, mut keys) = ([0; MOST_MOVES], [u16::MAX; MOST_MOVES]);
        let len = jumps.list_with_replies::<ROUNDS, LANES>(occupied, mover, &mut list, &mut keys);
        assert_eq!(len, moves.len());
        if len <= MOST_MOVES {
            assert_eq!(sorted(&list, &keys, len), expected);
        }

        let changed = |next: &u64| (next ^ occupied).count_ones();
        let short = expected.iter().all(|(next, _)| changed(next) <= 5);
        let few = jumps.few_jumps::<ROUNDS>(occupied, mover);
        assert_eq!(few.is_some(), len <= FEW && short);
        if let Some(few) = few {
            assert_eq!(few.len, len);
            let (list, keys) = jumps.few_with_replies::<ROUNDS, LANES>(occupied, mover, &few);
            assert_eq!(sorted(&list, &keys, len), expected);
            if len == 1 {
                assert_eq!(jumps.forced(occupied, &few), expected[0].0);
            }
        }
    }

    fn listed<const ROUNDS: usize>(board: &Board, position: &Position) {
        listed_as_by_the_rules::<ROUNDS, 4>(board, position);
        listed_as_by_the_rules::<ROUNDS, 8>(board, position);
    }

    proptest! {
        /// Of positions with few jumps and with many.
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
                0 => listed::<0>(&board, &position),
                3 => listed::<3>(&board, &position),
                4 => listed::<4>(&board, &position),
                _ => listed::<5>(&board, &position),
            }
        }
    }
}
