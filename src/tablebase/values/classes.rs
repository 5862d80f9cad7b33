//! Numbers of positions by outcome class, on a whole board, by one sweep that keeps no values.
//!
//! The rows of a black pattern for both sides to move give the class of every position: Black wins in any case (L),
//! White (R), the player to move (N), or the other player (P). Each row is divided by the number of white stones.

use std::io;
use std::iter::Sum;
use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::Serialize;

use super::sweep::{Band, Columns, Sweep, row_words};
use crate::konane::{Board, Colour, Position};
use crate::tablebase::index::{Index, binomial, stabiliser};

/// Numbers of positions by outcome class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct ClassCounts {
    /// Positions that Black wins, as first and as second player.
    #[serde(rename = "L")]
    pub left: u64,
    /// Positions that White wins, as first and as second player.
    #[serde(rename = "R")]
    pub right: u64,
    /// Positions that the player to move wins.
    #[serde(rename = "N")]
    pub next: u64,
    /// Positions that the player to move loses.
    #[serde(rename = "P")]
    pub previous: u64,
    /// Mutual zugzwangs: positions of class P in which both players have a move.
    pub zugzwangs: u64,
}

impl ClassCounts {
    /// Number of all positions.
    pub fn positions(&self) -> u64 {
        self.left + self.right + self.next + self.previous
    }
}

impl Sum for ClassCounts {
    fn sum<I: Iterator<Item = ClassCounts>>(counts: I) -> ClassCounts {
        counts.fold(ClassCounts::default(), |sum, counts| ClassCounts {
            left: sum.left + counts.left,
            right: sum.right + counts.right,
            next: sum.next + counts.next,
            previous: sum.previous + counts.previous,
            zugzwangs: sum.zugzwangs + counts.zugzwangs,
        })
    }
}

/// Numbers of positions with the same number of stones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct ClassLayer {
    /// Number of stones.
    pub stones: u32,
    /// Numbers of the positions. Equivalent positions are counted separately.
    #[serde(flatten)]
    pub counts: ClassCounts,
    /// A mutual zugzwang; null if there is none.
    pub zugzwang: Option<Position>,
}

/// Number of bytes that [`count_classes`] needs for rows.
pub fn memory_needed(board: &Board) -> u64 {
    let index = Index::new(board.clone(), false);
    let rows = |black: u32| u128::from(index.rows(black));
    // White's rows, Black's rows, and Black's rows with fewer black stones from which these are computed.
    let kept = |black: u32| {
        let below = black.saturating_sub(board.longest_jump())..=black;
        rows(black) + below.map(rows).sum::<u128>()
    };
    let most = (0..=index.squares(Colour::Black)).map(kept).max().unwrap_or(0);
    let bytes = most * 8 * row_words(index.squares(Colour::White)) as u128;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Counts the sets of stones of a board by outcome class and number of stones, from 0 stones on. Each set is a
/// position of the jumping phase, reachable or not.
///
/// Needs [`memory_needed`] bytes of memory, and does not check whether so much is available. `observe` receives the
/// number of positions that have been counted and that of all positions. If it returns [`ControlFlow::Break`], the
/// result is `None`. Runs on the rayon pool in which it is called.
///
/// # Errors
/// If memory cannot be reserved.
pub fn count_classes(
    board: &Board,
    observe: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> io::Result<Option<Vec<ClassLayer>>> {
    let index = Index::new(board.clone(), false);
    let sweep = Sweep::new(&index);
    let [blacks, whites] = [Colour::Black, Colour::White].map(|colour| index.squares(colour));
    let mut layers: Vec<ClassLayer> = (0..=blacks + whites)
        .map(|stones| ClassLayer { stones, ..ClassLayer::default() })
        .collect();
    let (mut below, mut done) = (Vec::new(), 0);
    let of = (0..=blacks).map(|black| index.row_positions(black)).sum();
    for black in 0..=blacks {
        if observe(done, of).is_break() {
            return Ok(None);
        }
        let white_wins = sweep.white_wins(black, &below)?;
        let black_wins = sweep.black_wins(&white_wins)?;
        add(&mut layers[black as usize..], &count_band(&sweep, &black_wins, &white_wins));
        below.push(black_wins);
        if below.len() > board.longest_jump() as usize {
            below.remove(0);
        }
        done += index.row_positions(black);
    }
    Ok(Some(layers))
}

/// Adds the numbers of `counted` to those of `layers`.
fn add(layers: &mut [ClassLayer], counted: &[ClassLayer]) {
    for (layer, counted) in layers.iter_mut().zip(counted) {
        layer.counts = [layer.counts, counted.counts].into_iter().sum();
        layer.zugzwang = layer.zugzwang.or(counted.zugzwang);
    }
}

/// Counts the positions with the same number of black stones, by number of white stones.
fn count_band(sweep: &Sweep<'_>, black_wins: &Band, white_wins: &Band) -> Vec<ClassLayer> {
    let index = sweep.index();
    let whites = index.squares(Colour::White);
    let columns = Columns::new(whites);
    let none = || vec![ClassLayer::default(); whites as usize + 1];
    let rows = black_wins.par_rows().zip(white_wins.par_rows());
    let rows = rows.zip(index.orbits(black_wins.black()).patterns());
    let counted = rows.fold(none, |mut layers, ((black, white), &pattern)| {
        let [mut zugzwangs, mobile] =
            [Colour::Black, Colour::White].map(|player| sweep.mobile_row(player, pattern));
        for (at, word) in zugzwangs.iter_mut().enumerate() {
            *word &= mobile[at] & !(black[at] | white[at]);
        }
        let rows = [black, white, &zugzwangs].map(|row| {
            let mut blocks = vec![0; columns.words()];
            columns.split(row, &mut blocks);
            blocks
        });
        let block = |white| {
            let rows = rows.each_ref().map(|row| &row[columns.block(white)]);
            count_block(index, pattern, white, rows)
        };
        add(&mut layers, &(0..=whites).map(block).collect::<Vec<_>>());
        layers
    });
    counted.reduce(none, |mut layers, other| {
        add(&mut layers, &other);
        layers
    })
}

/// Counts the positions with a black pattern and `white` white stones. The rows have the wins of Black, the wins of
/// White and the mutual zugzwangs: one bit for each rank of a white pattern.
fn count_block(index: &Index, pattern: u32, white: u32, rows: [&[u64]; 3]) -> ClassLayer {
    let [black_wins, white_wins, zugzwangs] = rows;
    let numbering = index.numbering();
    let images =
        numbering.symmetries() as u64 / u64::from(stabiliser(numbering, pattern).count_ones());
    let next = images * ones(black_wins.iter().zip(white_wins).map(|(black, white)| black & white));
    let left = images * ones(black_wins.iter().copied()) - next;
    let right = images * ones(white_wins.iter().copied()) - next;
    let positions = images * binomial(index.squares(Colour::White), white);
    let previous = positions - left - right - next;
    let first = zugzwangs.iter().position(|&word| word != 0);
    let zugzwang = first.map(|at| {
        let rank = 64 * at as u32 + zugzwangs[at].trailing_zeros();
        let set = index.ranks(Colour::White).unrank(white, rank);
        let occupied =
            numbering.unpack(Colour::Black, pattern) | numbering.unpack(Colour::White, set);
        Position::new_unchecked(index.board(), occupied, Colour::Black)
    });
    let zugzwangs = images * ones(zugzwangs.iter().copied());
    let counts = ClassCounts { left, right, next, previous, zugzwangs };
    ClassLayer { stones: pattern.count_ones() + white, counts, zugzwang }
}

/// Number of set bits.
fn ones(words: impl Iterator<Item = u64>) -> u64 {
    words.map(|word| u64::from(word.count_ones())).sum()
}
