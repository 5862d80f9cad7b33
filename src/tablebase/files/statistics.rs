//! Statistics of the positions in a layer's file.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::error::DatabaseError;
use super::format::{BlockKey, BlockKind, Metric, Scope};
use super::layer_file::{Inflater, LayerFile};
use super::layer_index::{LayerBlock, count_ones};
use crate::konane::Colour;
use crate::tablebase::index::{Index, binomial, stabiliser};

/// Bytes of rows that are counted as one unit of parallel work.
const PIECE_BYTES: u64 = 1 << 18;

/// Number of values that a remoteness can have: 0 to 63.
const VALUES: usize = 64;

/// Numbers of positions.
///
/// In scope complete, every set of stones is counted with either side to move, and equivalent
/// positions are counted separately. In scope reachable, only positions of the jumping phase are
/// counted, and positions that a symmetry that keeps the colours maps to each other count as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "json-schema", schemars(rename = "Counts"))]
pub struct PositionCounts {
    /// Positions.
    pub positions: u64,
    /// Those with Black to move in which Black wins.
    pub black_to_move_wins: u64,
    /// Those with White to move in which White wins.
    pub white_to_move_wins: u64,
}

/// Text of the counts in error messages.
impl fmt::Display for PositionCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PositionCounts { positions, black_to_move_wins: black, white_to_move_wins: white } =
            self;
        write!(f, "{positions} positions, {black} won by Black to move, {white} by White to move")
    }
}

impl PositionCounts {
    /// The sums; `None` if one of them has more than 64 bits.
    pub fn checked_add(self, other: PositionCounts) -> Option<PositionCounts> {
        Some(PositionCounts {
            positions: self.positions.checked_add(other.positions)?,
            black_to_move_wins: self.black_to_move_wins.checked_add(other.black_to_move_wins)?,
            white_to_move_wins: self.white_to_move_wins.checked_add(other.white_to_move_wins)?,
        })
    }
}

/// Numbers of positions by remoteness, from 0 to the largest. Equivalent positions are counted separately.
// The histogram of a manifest counts the values in the files: every set of stones with either side to move, as a
// position of the jumping phase. All other results have that of `Database::histogram`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// With Black to move.
    pub black: Vec<u64>,
    /// With White to move.
    pub white: Vec<u64>,
}

impl Histogram {
    /// Adds the positions of another layer.
    pub fn add(&mut self, other: &Histogram) {
        add(&mut self.black, &other.black);
        add(&mut self.white, &other.white);
    }

    /// Counts a position.
    pub(in crate::tablebase) fn insert(&mut self, to_move: Colour, remoteness: u32) {
        let (numbers, at) = (self.of_side(to_move), remoteness as usize);
        numbers.resize(numbers.len().max(at + 1), 0);
        numbers[at] += 1;
    }

    /// Removes a position that has been counted. Returns false if none has this remoteness.
    pub(in crate::tablebase) fn remove(&mut self, to_move: Colour, remoteness: u32) -> bool {
        let numbers = self.of_side(to_move);
        let Some(number @ 1..) = numbers.get_mut(remoteness as usize) else { return false };
        *number -= 1;
        let used = numbers.iter().rposition(|&number| number > 0).map_or(0, |last| last + 1);
        numbers.truncate(used);
        true
    }

    fn of_side(&mut self, to_move: Colour) -> &mut Vec<u64> {
        match to_move {
            Colour::Black => &mut self.black,
            Colour::White => &mut self.white,
        }
    }

    /// The largest remoteness of a position.
    pub fn longest(&self) -> u32 {
        self.black.len().max(self.white.len()).saturating_sub(1) as u32
    }

    /// For each side to move: the number of positions, and the number of those that it wins. `None` if there
    /// are 2⁶⁴ positions or more.
    pub(super) fn totals(&self) -> Option<[(u64, u64); 2]> {
        let total = |side: &[u64]| {
            let all = side.iter().try_fold(0u64, |sum, &n| sum.checked_add(n))?;
            Some((all, wins(side)))
        };
        Some([total(&self.black)?, total(&self.white)?])
    }
}

/// Adds `numbers` to `to`, element by element. Extends `to` at most to the last number that is not
/// zero.
fn add(to: &mut Vec<u64>, numbers: &[u64]) {
    let used = numbers.iter().rposition(|&number| number > 0).map_or(0, |last| last + 1);
    to.resize(to.len().max(used), 0);
    to.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
}

/// Number of won positions: those with an odd value, which is the remoteness, or 1 for a win.
fn wins(by_value: &[u64]) -> u64 {
    by_value.iter().skip(1).step_by(2).sum()
}

/// Counts the positions of a layer file. In scope complete, all positions are counted; in scope reachable,
/// equivalent positions count as one. The histogram is empty if the database stores only outcomes. Reads the
/// whole file and checks it as [`LayerFile::verify`] does, in parallel, in the current pool of `rayon`.
///
/// # Errors
/// As [`LayerFile::verify`], and if a block does not have the number of rows that `index` states.
///
/// # Panics
/// If `index` is for another board.
pub fn count_layer(
    index: &Index,
    file: &LayerFile,
    stop: &AtomicBool,
) -> Result<(PositionCounts, Histogram), DatabaseError> {
    let header = file.header();
    assert_eq!(index.board().dimensions(), header.dimensions, "the index is for another board");
    let (mut counts, mut histogram) = (PositionCounts::default(), Histogram::default());
    for block in file.blocks() {
        let key = block.key;
        let bits = match key.kind {
            BlockKind::Wins => 0..header.bits(),
            BlockKind::Reached => 0..1,
            // These bits are read together with those of the block of wins.
            BlockKind::Remoteness(_) => continue,
        };
        let bit = |bit| match bit {
            0 => Ok(block),
            bit => file.expect_block(BlockKey { kind: BlockKind::of_bit(bit), ..key }),
        };
        let blocks = bits.map(bit).collect::<Result<Vec<_>, DatabaseError>>()?;
        let by_value = count_values(index, file, &blocks, stop)?;
        let (of_side, histogram) = match key.to_move {
            Colour::Black => (&mut counts.black_to_move_wins, &mut histogram.black),
            Colour::White => (&mut counts.white_to_move_wins, &mut histogram.white),
        };
        match key.kind {
            BlockKind::Reached => counts.positions += by_value[1],
            _ => *of_side += wins(&by_value),
        }
        if header.metric == Metric::Remoteness {
            add(histogram, &by_value);
        }
    }
    if header.scope == Scope::Complete {
        // Both sides to move for every set of stones.
        let sets = |black| {
            let white = binomial(header.count(Colour::White), header.stones - black);
            binomial(header.count(Colour::Black), black) * white
        };
        counts.positions = 2 * (0..=header.stones).map(sets).sum::<u64>();
        if index.exchanges() {
            counts.white_to_move_wins = counts.black_to_move_wins;
            histogram.white = histogram.black.clone();
        }
    }
    Ok((counts, histogram))
}

/// Counts positions by value. `blocks[i]` has bit `i` of the value of every position. Compares the number of set
/// bits of each block with the index of the file.
fn count_values(
    index: &Index,
    file: &LayerFile,
    blocks: &[&LayerBlock],
    stop: &AtomicBool,
) -> Result<[u64; VALUES], DatabaseError> {
    let BlockKey { black, white, .. } = blocks[0].key;
    let patterns = index.orbits(black).patterns();
    for block in blocks {
        if block.rows != patterns.len() as u64 {
            let what = format!("the rows of {}", block.key);
            return Err(DatabaseError::damaged(file.path(), what, patterns.len(), block.rows));
        }
    }
    let (columns, row_bytes) = (blocks[0].columns, blocks[0].row_bytes() as usize);
    let rows = patterns.len() as u64;
    let each = (PIECE_BYTES / row_bytes as u64 + 1).next_multiple_of(8);
    let count = |state: &mut (Inflater, Vec<Vec<u8>>), rows: Range<u64>| {
        DatabaseError::check_stop(stop)?;
        let (inflater, buffers) = state;
        let (mut by_value, mut set_bits) = ([0; VALUES], [0; VALUES]);
        for (block, buffer) in blocks.iter().zip(&mut *buffers) {
            buffer.resize((rows.end - rows.start) as usize * row_bytes, 0);
            file.read_rows(block, rows.start, inflater, buffer)?;
        }
        for (nth, row) in rows.enumerate() {
            let place = nth * row_bytes..(nth + 1) * row_bytes;
            let pattern = patterns[row as usize];
            let wins = count_ones(&buffers[0][place.clone()]);
            set_bits[0] += wins;
            for (buffer, set) in buffers.iter().zip(&mut set_bits).skip(1) {
                *set += count_ones(&buffer[place.clone()]);
            }
            if file.header().scope == Scope::Reachable {
                by_value[1] += count_orbits(index, pattern, white, &buffers[0][place]);
                continue;
            }
            let symmetries = index.numbering().symmetries() as u64;
            let images =
                symmetries / u64::from(stabiliser(index.numbering(), pattern).count_ones());
            if buffers.len() == 1 {
                by_value[0] += images * (columns - wins);
                by_value[1] += images * wins;
                continue;
            }
            let bits: Vec<&[u8]> = buffers.iter().map(|buffer| &buffer[place.clone()]).collect();
            let counted = count_row(&bits, columns);
            by_value.iter_mut().zip(counted).for_each(|(sum, n)| *sum += images * n);
        }
        Ok::<_, DatabaseError>((by_value, set_bits))
    };
    let sum = |mut a: [u64; VALUES], b: [u64; VALUES]| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let (by_value, set_bits) = (0..rows.div_ceil(each))
        .into_par_iter()
        .map(|piece| piece * each..rows.min((piece + 1) * each))
        .map_init(|| (Inflater::new(), vec![Vec::new(); blocks.len()]), count)
        .try_reduce(
            || ([0; VALUES], [0; VALUES]),
            |one, other| Ok((sum(one.0, other.0), sum(one.1, other.1))),
        )?;
    for (block, set_bits) in blocks.iter().zip(set_bits) {
        file.check_set_bits(block, set_bits)?;
    }
    Ok(by_value)
}

/// Counts the positions of a row whose bits are set; equivalent positions count as one. Two positions of the
/// row are equivalent if a symmetry that maps the black pattern to itself maps one white pattern to the other.
/// Of equivalent positions, the one with the least white pattern counts.
fn count_orbits(index: &Index, pattern: u32, white: u32, row: &[u8]) -> u64 {
    let numbering = index.numbering();
    let own = stabiliser(numbering, pattern);
    if own == 1 {
        return count_ones(row);
    }
    let ranks = index.ranks(Colour::White);
    let patterns = ranks.patterns(white).zip(0usize..);
    let is_least = |&(pattern, column): &(u32, usize)| {
        row[column / 8] >> (column % 8) & 1 == 1
            && (1..numbering.symmetries())
                .filter(|g| own >> g & 1 == 1)
                .all(|g| numbering.image(Colour::White, g, pattern) >= pattern)
    };
    patterns.filter(is_least).count() as u64
}

/// Counts the columns of a row by value. `bits[i]` has bit `i` of the value of every column.
fn count_row(bits: &[&[u8]], columns: u64) -> [u64; VALUES] {
    let mut counts = [0; VALUES];
    let mut words = vec![0u64; bits.len()];
    let mut left = columns;
    for at in (0..bits[0].len()).step_by(8) {
        for (word, bytes) in words.iter_mut().zip(bits) {
            let mut buffer = [0; 8];
            let taken = &bytes[at..bytes.len().min(at + 8)];
            buffer[..taken.len()].copy_from_slice(taken);
            *word = u64::from_le_bytes(buffer);
        }
        let valid = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
        left = left.saturating_sub(64);
        split(&words, valid, 0, &mut counts);
    }
    counts
}

/// Counts by value the columns of a word that `among` marks. `words[i]` has bit `i` of their values. `value` has
/// the higher bits, which are the same for all these columns.
fn split(words: &[u64], among: u64, value: usize, counts: &mut [u64; VALUES]) {
    if among == 0 {
        return;
    }
    match words.split_last() {
        None => counts[value] += u64::from(among.count_ones()),
        Some((word, lower)) => {
            split(lower, among & !word, value, counts);
            split(lower, among & word, value | 1 << lower.len(), counts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_column_by_column() {
        for columns in [1u64, 7, 8, 63, 64, 65, 200] {
            for planes in 1..=6usize {
                let row_bytes = columns.div_ceil(8) as usize;
                let mut bits = vec![vec![0u8; row_bytes]; planes];
                let mut expected = [0; VALUES];
                for column in 0..columns as usize {
                    let value = (column * column * 31 + column) % (1 << planes);
                    expected[value] += 1;
                    for (plane, bytes) in bits.iter_mut().enumerate() {
                        bytes[column / 8] |= ((value >> plane & 1) as u8) << (column % 8);
                    }
                }
                let bits: Vec<&[u8]> = bits.iter().map(|b| &b[..]).collect();
                assert_eq!(count_row(&bits, columns), expected);
            }
        }
    }
}
