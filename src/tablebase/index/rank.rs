//! Combinadic ranks: the bijection between patterns of `k` stones and `0..C(n, k)`.
//!
//! The rank of a pattern with stones on the squares c₁ < c₂ < … < cₖ is C(c₁,1) + C(c₂,2) + … +
//! C(cₖ,k) (thesis, 3.9.1). Of two patterns with the same number of stones, the one that is the greater
//! integer has the greater rank.

/// Maximum number of squares of one colour.
const MAX: usize = 32;

/// Number of bits of a pattern whose contribution to the rank is found by one table look-up.
const CHUNK: usize = 8;

/// The binomial coefficient `n` over `k`; 0 for `k > n`.
///
/// # Panics
/// In debug builds, if an intermediate product exceeds 64 bits. This does not happen for `n` up to 62.
pub fn binomial(n: u32, k: u32) -> u64 {
    if k > n {
        return 0;
    }
    (0..u64::from(k.min(n - k))).fold(1, |c, i| c * (u64::from(n) - i) / (i + 1))
}

/// Ranks patterns over a fixed number of squares.
#[derive(Clone, Debug)]
pub struct Combinadics {
    squares: u32,
    /// `binomials[n][k]`, `n` and `k` up to 32.
    binomials: Box<[[u32; MAX + 1]; MAX + 1]>,
    /// One table for each chunk and each number of stones below the chunk. It has the contribution to the
    /// rank for every value of the chunk's bits.
    tables: Box<[[u32; 1 << CHUNK]]>,
}

impl Combinadics {
    /// Creates the tables for patterns of `squares` squares, at most 57 KiB.
    ///
    /// # Panics
    /// For more than 32 squares.
    pub fn new(squares: u32) -> Self {
        assert!(squares as usize <= MAX, "a colour has at most 32 squares");
        let row = |n| std::array::from_fn(|k| binomial(n as u32, k as u32) as u32);
        let binomials: Box<[[u32; MAX + 1]; MAX + 1]> = Box::new(std::array::from_fn(row));
        let chunks = (squares as usize).div_ceil(CHUNK);
        let mut tables = Vec::new();
        for chunk in 0..chunks {
            for below in 0..=chunk * CHUNK {
                tables.push(std::array::from_fn(|bits: usize| {
                    let (mut rank, mut stones) = (0u32, below);
                    for bit in (0..CHUNK).filter(|bit| bits >> bit & 1 == 1) {
                        stones += 1;
                        let number = chunk * CHUNK + bit;
                        if number < squares as usize {
                            rank += binomials[number][stones];
                        }
                    }
                    rank
                }));
            }
        }
        Combinadics { squares, binomials, tables: tables.into() }
    }

    /// Binomial coefficients `[n][k]` of `n` and `k` up to 32.
    pub fn binomials(&self) -> &[[u32; MAX + 1]; MAX + 1] {
        &self.binomials
    }

    /// Returns the index of the first table of a chunk. Chunk `c` has a table for each number of stones below it,
    /// from 0 to 8c.
    #[inline(always)]
    const fn table(chunk: usize) -> usize {
        chunk + CHUNK * (chunk * chunk.saturating_sub(1) / 2)
    }

    /// The number of patterns with `stones` stones.
    #[inline]
    pub fn count(&self, stones: u32) -> u32 {
        if stones > self.squares {
            0
        } else {
            self.binomials[self.squares as usize][stones as usize]
        }
    }

    /// Returns the rank of a pattern among all patterns with the same number of stones. Takes some 3 ns.
    #[inline]
    pub fn rank(&self, pattern: u32) -> u32 {
        let (mut rank, mut below, mut rest) = (0, 0, pattern);
        let mut chunk = 0;
        while rest != 0 {
            let bits = rest as usize & ((1 << CHUNK) - 1);
            rank += self.tables[Self::table(chunk) + below][bits];
            below += bits.count_ones() as usize;
            rest >>= CHUNK;
            chunk += 1;
        }
        rank
    }

    /// Returns the pattern with `stones` stones whose rank is `rank`.
    ///
    /// # Panics
    /// If the rank is not below [`Combinadics::count`].
    pub fn unrank(&self, stones: u32, rank: u32) -> u32 {
        assert!(rank < self.count(stones), "rank {rank} of {} patterns", self.count(stones));
        let (mut pattern, mut rest, mut number) = (0, rank, self.squares as usize);
        for k in (1..=stones as usize).rev() {
            // Find the greatest number whose binomial coefficient does not exceed the rest of the rank.
            number -= 1;
            while self.binomials[number][k] > rest {
                number -= 1;
            }
            rest -= self.binomials[number][k];
            pattern |= 1 << number;
        }
        pattern
    }

    /// All patterns with `stones` stones, in the order of their ranks.
    pub fn patterns(&self, stones: u32) -> impl Iterator<Item = u32> + use<> {
        let first = (1u64 << stones) - 1;
        let end = 1u64 << self.squares;
        std::iter::successors(Some(first), |&pattern| next_pattern(pattern))
            .take_while(move |&pattern| pattern < end)
            .map(|pattern| pattern as u32)
    }
}

/// Returns the next larger integer with the same number of set bits; `None` for zero.
#[inline]
fn next_pattern(pattern: u64) -> Option<u64> {
    if pattern == 0 {
        return None;
    }
    let low = pattern & pattern.wrapping_neg();
    let carried = pattern + low;
    Some(carried | (((pattern ^ carried) >> 2) / low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slow_rank(pattern: u32) -> u64 {
        let numbers = (0..32).filter(|n| pattern >> n & 1 == 1);
        (1..).zip(numbers).map(|(k, n)| binomial(n, k)).sum()
    }

    #[test]
    fn ranks_are_a_bijection_in_the_order_of_the_patterns() {
        for squares in 0..=18 {
            let combinadics = Combinadics::new(squares);
            let mut seen = 0u64;
            for stones in 0..=squares {
                let mut expected = 0;
                for pattern in combinadics.patterns(stones) {
                    assert_eq!(pattern.count_ones(), stones);
                    assert_eq!(combinadics.rank(pattern), expected);
                    assert_eq!(combinadics.unrank(stones, expected), pattern);
                    expected += 1;
                }
                assert_eq!(expected, combinadics.count(stones));
                seen += u64::from(expected);
            }
            assert_eq!(seen, 1 << squares);
            assert_eq!(combinadics.count(squares + 1), 0);
        }
    }

    proptest! {
        #[test]
        fn ranks_of_large_boards(pattern: u32, squares in 1u32..=32) {
            let pattern = pattern >> (32 - squares);
            let combinadics = Combinadics::new(squares);
            let rank = combinadics.rank(pattern);
            prop_assert_eq!(u64::from(rank), slow_rank(pattern));
            prop_assert_eq!(combinadics.unrank(pattern.count_ones(), rank), pattern);
        }
    }

    #[test]
    #[should_panic(expected = "rank 6 of 6 patterns")]
    fn ranks_beyond_the_last_pattern() {
        Combinadics::new(4).unrank(2, 6);
    }
}
