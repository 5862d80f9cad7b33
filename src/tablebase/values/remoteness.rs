//! The remoteness of positions, as bit planes: plies to the end with best play.
//!
//! A position without a move has remoteness 0. A position with a move to a lost one, of even
//! remoteness, is won: 1 more than the least of these. Every other position is lost: 1 more than the
//! greatest, which is that of a won position, of odd remoteness.
//!
//! # One order for both players
//!
//! For the side to move, remotenesses from the worst to the best are 0, 2, 4, .. and then .., 5, 3, 1.
//! The *rank* of a remoteness r in p bits has this order: its highest bit is the lowest of r (won),
//! and the others are those of r / 2, inverted if it is won. So a position's rank is the greatest
//! rank of its moves, and 0 without a move. The rank of a move to a position of remoteness r is the
//! rank of r + 1. With one bit, ranks are outcomes, the greatest is the union, and r + 1 is the
//! inverse: the sweep and the ranked method as they are for outcomes.
//!
//! A row of p-bit numbers is p *planes*: plane k has bit k of each remoteness. Plane k of the ranks is
//! made of plane k of the remotenesses, so plane 0 always distinguishes wins from losses.

/// Maximum number of planes: a remoteness on 64 squares is below 64.
pub const MAX_PLANES: usize = 6;

/// The remoteness of a position from those of the positions after its moves.
pub fn remoteness(after: impl IntoIterator<Item = u32>) -> u32 {
    let (mut least_lost, mut greatest_won) = (None, None);
    for r in after {
        match r % 2 {
            0 => least_lost = Some(least_lost.map_or(r, |least: u32| least.min(r))),
            _ => greatest_won = greatest_won.max(Some(r)),
        }
    }
    least_lost.or(greatest_won).map_or(0, |r| r + 1)
}

/// Turns planes of some words each between remotenesses and ranks, either way.
#[inline(always)]
pub fn exchange_ranks<const WORDS: usize>(planes: &mut [[u64; WORDS]]) {
    let (won, rest) = planes.split_first_mut().expect("a plane");
    for plane in rest {
        for (bits, won) in plane.iter_mut().zip(won.iter()) {
            *bits ^= won;
        }
    }
}

/// Turns planes of remotenesses into the ranks of moves to the positions. A carry out of the last plane is
/// dropped: a position has planes for 1 more than the positions after its moves have.
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

/// The places where ranks are greater than others.
#[inline(always)]
pub fn greater(ranks: &[u64], others: &[u64]) -> u64 {
    let mut greater = 0;
    let (Some((&won, rest)), Some((&other_won, other_rest))) =
        (ranks.split_first(), others.split_first())
    else {
        return 0;
    };
    // The highest bit that differs decides.
    for (&a, &b) in rest.iter().zip(other_rest) {
        greater = a & !b | greater & !(a ^ b);
    }
    won & !other_won | greater & !(won ^ other_won)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word of planes from 64 numbers, and back.
    fn planes(numbers: &[u32; 64], count: usize) -> Vec<[u64; 1]> {
        let bit = |k: usize, at: usize| u64::from(numbers[at] >> k & 1) << at;
        (0..count).map(|k| [(0..64).map(|at| bit(k, at)).sum()]).collect()
    }

    fn number(planes: &[[u64; 1]], at: usize) -> u32 {
        (0..planes.len()).map(|k| ((planes[k][0] >> at & 1) as u32) << k).sum()
    }

    #[test]
    fn ranks_have_the_order_of_what_players_prefer() {
        for count in 1..=MAX_PLANES {
            let most = 1 << count;
            let evens = (0..most).step_by(2);
            let odds = (1..most).step_by(2).collect::<Vec<u32>>().into_iter().rev();
            let order: Vec<u32> = evens.chain(odds).collect();
            for (place, &a) in order.iter().enumerate() {
                for (other, &b) in order.iter().enumerate() {
                    let [mut x, mut y] = [a, b].map(|r| planes(&[r; 64], count));
                    exchange_ranks(&mut x);
                    exchange_ranks(&mut y);
                    let expected = if place > other { u64::MAX } else { 0 };
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
    fn ranks_of_moves_are_those_of_one_ply_more() {
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
    fn the_greatest_rank_is_the_remoteness() {
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
            assert_eq!(number(&best, 7), remoteness(after.iter().copied()), "{after:?}");
        }
        assert_eq!(remoteness([]), 0);
        assert_eq!(remoteness([3, 1]), 4);
        assert_eq!(remoteness([3, 4, 1, 2]), 3);
    }
}
