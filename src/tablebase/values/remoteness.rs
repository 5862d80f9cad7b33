//! The remoteness of positions, as bit planes: plies to the end with best play.
//!
//! - Without a move, the remoteness is 0.
//! - If some move leads to a lost position, the position is won. The remoteness is 1 more than the least
//!   remoteness of the lost positions after its moves.
//! - Otherwise the position is lost, and all moves lead to won positions. The remoteness is 1 more than the
//!   greatest remoteness after its moves.
//!
//! So the remoteness of lost positions is even, and that of won positions is odd.
//!
//! # Ranks
//!
//! For the side to move, remotenesses from the worst to the best are 0, 2, 4, … and then …, 5, 3, 1. The
//! *rank* of a remoteness r of p bits is a number of p bits that has this order. Its highest bit is the lowest
//! bit of r, which is 1 for won positions. Its other bits are those of ⌊r / 2⌋, inverted for won positions.
//!
//! The rank of a move to a position of remoteness r is the rank of r + 1. The rank of a position is the
//! greatest rank of its moves, or 0 if there is no move. With p = 1, remotenesses and ranks are outcomes, the
//! greater of two ranks is their union (OR), and r + 1 is the inverted bit. In this form, the sweep and the
//! ranked method compute outcomes.
//!
//! # Planes
//!
//! A row of p-bit numbers consists of p *planes*: plane k has bit k of each remoteness. Ranks are stored in
//! the same planes. Plane 0 is the same for remotenesses and ranks: it is set for won positions, and it is the
//! highest bit of a rank. Every other plane of the ranks is the same plane of the remotenesses, inverted for
//! won positions.

/// Maximum number of planes: a remoteness on 64 squares is below 64.
pub const MAX_PLANES: usize = 6;

/// Returns the remoteness of a position from those of its moves. The remoteness of a move counts the move: it is 1 more
/// than that of the position after it.
pub fn remoteness(moves: impl IntoIterator<Item = u32>) -> u32 {
    let (mut quickest_win, mut longest_loss) = (None, 0);
    for r in moves {
        match r % 2 {
            0 => longest_loss = longest_loss.max(r),
            _ => quickest_win = Some(quickest_win.map_or(r, |least: u32| least.min(r))),
        }
    }
    quickest_win.unwrap_or(longest_loss)
}

/// Converts planes of remotenesses to planes of ranks, or planes of ranks to planes of remotenesses. A plane has
/// `WORDS` words.
#[inline(always)]
pub fn exchange_ranks<const WORDS: usize>(planes: &mut [[u64; WORDS]]) {
    let (won, rest) = planes.split_first_mut().expect("a plane");
    for plane in rest {
        for (bits, won) in plane.iter_mut().zip(won.iter()) {
            *bits ^= won;
        }
    }
}

/// Converts planes of the remotenesses of positions to the ranks of moves to these positions: a remoteness r
/// becomes the rank of r + 1. A carry out of the last plane is dropped. So for every position that some move
/// leads to, there must be enough planes for r + 1.
#[inline(always)]
pub fn ranks_of_moves<const WORDS: usize>(planes: &mut [[u64; WORDS]]) {
    let (won, rest) = planes.split_first_mut().expect("a plane");
    let mut carry = *won;
    won.iter_mut().for_each(|won| *won = !*won);
    for plane in rest {
        for (word, bits) in plane.iter_mut().enumerate() {
            let sum = *bits ^ carry[word];
            carry[word] &= *bits;
            *bits = sum ^ won[word];
        }
    }
}

/// Returns the bits at which `ranks` are greater than `others`. Both have one word of each plane of ranks.
#[inline(always)]
pub fn greater(ranks: &[u64], others: &[u64]) -> u64 {
    let mut greater = 0;
    let (Some((&won, rest)), Some((&other_won, other_rest))) =
        (ranks.split_first(), others.split_first())
    else {
        return 0;
    };
    // From the lowest bit of the ranks (plane 1) to the highest (plane 0): the last difference decides.
    for (&a, &b) in rest.iter().zip(other_rest) {
        greater = a & !b | greater & !(a ^ b);
    }
    won & !other_won | greater & !(won ^ other_won)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one word of each plane for 64 numbers.
    fn planes(numbers: &[u32; 64], count: usize) -> Vec<[u64; 1]> {
        let bit = |k: usize, at: usize| u64::from(numbers[at] >> k & 1) << at;
        (0..count).map(|k| [(0..64).map(|at| bit(k, at)).sum()]).collect()
    }

    /// Returns one of these numbers.
    fn number(planes: &[[u64; 1]], at: usize) -> u32 {
        (0..planes.len()).map(|k| ((planes[k][0] >> at & 1) as u32) << k).sum()
    }

    #[test]
    fn ranks_are_ordered_from_the_worst_to_the_best_remoteness() {
        for count in 1..=MAX_PLANES {
            let most = 1 << count;
            let evens = (0..most).step_by(2);
            let odds = (1..most).step_by(2).collect::<Vec<u32>>().into_iter().rev();
            let order: Vec<u32> = evens.chain(odds).collect();
            for (index, &a) in order.iter().enumerate() {
                for (other, &b) in order.iter().enumerate() {
                    let [mut x, mut y] = [a, b].map(|r| planes(&[r; 64], count));
                    exchange_ranks(&mut x);
                    exchange_ranks(&mut y);
                    let expected = if index > other { u64::MAX } else { 0 };
                    assert_eq!(
                        greater(x.as_flattened(), y.as_flattened()),
                        expected,
                        "{a} {b} in {count} planes"
                    );
                }
            }
        }
    }

    #[test]
    fn ranks_of_moves_are_ranks_of_one_ply_more() {
        for count in 1..=MAX_PLANES {
            let numbers: [u32; 64] = std::array::from_fn(|at| at as u32 % ((1 << count) - 1));
            let mut found = planes(&numbers, count);
            ranks_of_moves(&mut found);
            exchange_ranks(&mut found);
            for (at, plies) in numbers.into_iter().enumerate() {
                assert_eq!(number(&found, at), plies + 1, "{count} planes");
            }
        }
    }

    #[test]
    fn the_greatest_rank_of_the_moves_gives_the_remoteness() {
        let mut state = 1u64;
        let mut random = |below: u32| {
            state = state.wrapping_mul(0xD129_42A6_4C4D_9F2D).wrapping_add(0x5851_F42D);
            (state >> 33) as u32 % below
        };
        for _ in 0..1000 {
            let after: Vec<u32> = (0..random(5)).map(|_| random(15)).collect();
            let mut best = vec![[0]; 4];
            for &r in &after {
                let mut ranks = planes(&[r; 64], 4);
                ranks_of_moves(&mut ranks);
                let greater = greater(ranks.as_flattened(), best.as_flattened());
                let choose =
                    |(b, r): (&mut [u64; 1], [u64; 1])| b[0] = b[0] & !greater | r[0] & greater;
                best.iter_mut().zip(ranks).for_each(choose);
            }
            exchange_ranks(&mut best);
            let moves = after.iter().map(|r| r + 1);
            assert_eq!(number(&best, 7), remoteness(moves), "{after:?}");
        }
        assert_eq!(remoteness([]), 0);
        assert_eq!(remoteness([4, 2]), 4);
        assert_eq!(remoteness([4, 5, 2, 3]), 3);
    }
}
