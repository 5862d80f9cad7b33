//! The values of the sweep, compared with plain recursion.

use crate::konane::kernels::Isa;
use crate::tablebase::index::Index;
use crate::tablebase::values::sweep::row_ops::RowOps;
use crate::tablebase::values::sweep::{Band, Columns, Sweep};
use crate::{Board, Colour};

/// Computes all bands of a board, by side to move.
fn swept(index: &Index, ops: RowOps) -> [Vec<Band>; 2] {
    let sweep = Sweep::with_ops(index, ops);
    let mut bands = [Vec::new(), Vec::new()];
    for black in 0..=index.numbering().count(Colour::Black) {
        let white = sweep.white_wins(black, &bands[0]).unwrap();
        bands[0].push(sweep.black_wins(&white).unwrap());
        bands[1].push(white);
    }
    bands
}

fn value(index: &Index, bands: &[Vec<Band>; 2], occupied: u64, to_move: Colour) -> bool {
    let [black, white] = index.numbering().pack(occupied);
    let stones = black.count_ones();
    let row = index.orbits(stones).row(index.numbering(), index.ranks(Colour::Black), black);
    let white = index.numbering().image(Colour::White, usize::from(row.symmetry), white);
    bands[to_move.index()][stones as usize].row_bits(row.index)[white as usize]
}

/// All successors by jumps, found square by square. Works with any number of empty squares.
pub(super) fn jumps(ranks: i32, files: i32, occupied: u64, mover: usize) -> Vec<u64> {
    let stone = |r: i32, f: i32| occupied >> (r * files + f) & 1 == 1;
    let inside = |r: i32, f: i32| (0..ranks).contains(&r) && (0..files).contains(&f);
    let mut successors = Vec::new();
    for r in 0..ranks {
        for f in 0..files {
            if (r + f) as usize % 2 != mover || !stone(r, f) {
                continue;
            }
            for (dr, df) in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
                let (mut r2, mut f2, mut after) = (r, f, occupied ^ 1 << (r * files + f));
                while inside(r2 + 2 * dr, f2 + 2 * df)
                    && stone(r2 + dr, f2 + df)
                    && !stone(r2 + 2 * dr, f2 + 2 * df)
                {
                    after ^= 1 << ((r2 + dr) * files + f2 + df);
                    (r2, f2) = (r2 + 2 * dr, f2 + 2 * df);
                    successors.push(after | 1 << (r2 * files + f2));
                }
            }
        }
    }
    successors
}

/// For each side to move and every set of stones: true if the side to move wins.
pub(super) fn recursion(ranks: u32, files: u32) -> [Vec<bool>; 2] {
    let squares = ranks * files;
    let mut order: Vec<u64> = (0..1 << squares).collect();
    order.sort_by_key(|set| set.count_ones());
    let mut wins = [vec![false; 1 << squares], vec![false; 1 << squares]];
    for occupied in order {
        for mover in 0..2 {
            let won = jumps(ranks as i32, files as i32, occupied, mover)
                .into_iter()
                .any(|after| !wins[1 - mover][after as usize]);
            wins[mover][occupied as usize] = won;
        }
    }
    wins
}

fn agrees_with_recursion(size: &str) {
    let board = Board::new(size.parse().unwrap());
    let index = Index::new(board.clone(), false);
    let bands = swept(&index, RowOps::detect());
    let wins = recursion(board.dimensions().ranks(), board.dimensions().files());
    for occupied in 0..=board.all() {
        for to_move in [Colour::Black, Colour::White] {
            assert_eq!(
                value(&index, &bands, occupied, to_move),
                wins[to_move.index()][occupied as usize],
                "{size} {occupied:b} {to_move}"
            );
        }
    }
}

#[test]
fn every_value_of_every_board_up_to_16_squares() {
    for ranks in 1..=16 {
        for files in 1..=16 / ranks {
            agrees_with_recursion(&format!("{ranks}x{files}"));
        }
    }
}

#[test]
fn every_value_of_boards_of_18_to_20_squares() {
    for size in ["3x6", "2x9", "1x18", "1x19", "4x5", "5x4", "20x1"] {
        agrees_with_recursion(size);
    }
}

/// Number of sets of stones in which the side to move wins: with Black to move, and with White to move.
fn counts(size: &str, ops: RowOps) -> [u64; 2] {
    let index = Index::new(Board::new(size.parse().unwrap()), false);
    let sweep = Sweep::with_ops(&index, ops);
    swept(&index, ops).map(|bands| bands.iter().map(|band| sweep.count(band)).sum())
}

#[test]
fn win_counts_of_whole_boards() {
    // The counts of 4x4 and 5x5 come from an independent program, the others from an earlier run of this one.
    for (size, black, white) in [
        ("4x4", 33_547, 33_547),
        ("4x5", 557_278, 557_278),
        ("5x5", 26_673_313, 9_159_240),
        ("5x6", 586_238_976, 586_238_976),
    ] {
        assert_eq!(counts(size, RowOps::detect()), [black, white], "{size}");
    }
}

#[test]
#[ignore = "seconds and 2 GiB each"]
fn win_counts_of_large_boards() {
    for (size, wins) in [("5x7", [27_010_758_956, 10_086_610_426]), ("6x6", [37_909_325_558; 2])] {
        assert_eq!(counts(size, RowOps::detect()), wins, "{size}");
    }
}

#[test]
fn all_instruction_sets_find_the_same_values() {
    let widest = Isa::detect();
    for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
        if isa as usize <= widest as usize {
            for size in ["3x5", "4x5", "5x5"] {
                let expected = counts(size, RowOps::detect());
                assert_eq!(counts(size, RowOps::with_isa(isa)), expected, "{size} {isa:?}");
            }
        }
    }
}

/// Scattering, in reverse order and slice by slice, makes the same rows as gathering.
#[test]
fn slices_have_the_rows_of_bands() {
    for size in ["3x3", "3x4", "4x4", "1x9", "3x5"] {
        let index = Index::new(Board::new(size.parse().unwrap()), true);
        let sweep = Sweep::new(&index);
        let columns = Columns::new(index.numbering().count(Colour::White));
        let [black_wins, white_wins] = swept(&index, RowOps::detect());
        let mut scratch = Vec::new();
        for (black, (gathered_black, gathered_white)) in
            (0..).zip(black_wins.iter().zip(&white_wins))
        {
            let rows = gathered_black.row_numbers().end;
            for rows in [0..rows.div_ceil(3), rows.div_ceil(3)..rows] {
                let mut slices =
                    [(); 2].map(|()| Band::slice(&index, black, rows.clone()).unwrap());
                let longest = index.board().longest_jump();
                let targets = slices[1].targets();
                for before in (black.saturating_sub(longest)..black).rev() {
                    let patterns = index.orbits(before).patterns();
                    for (row, &pattern) in
                        (0u32..).zip(patterns).collect::<Vec<_>>().into_iter().rev()
                    {
                        let row = black_wins[before as usize].row(row);
                        sweep.scatter(&targets, Colour::White, pattern, row, &mut scratch);
                    }
                }
                drop(targets);
                let targets = slices[0].targets();
                for (row, &pattern) in (0u32..)
                    .zip(index.orbits(black).patterns())
                    .collect::<Vec<_>>()
                    .into_iter()
                    .rev()
                {
                    let row = gathered_white.row(row);
                    sweep.scatter(&targets, Colour::Black, pattern, row, &mut scratch);
                }
                drop(targets);
                for (slice, gathered) in slices.iter_mut().zip([gathered_black, gathered_white]) {
                    slice.split(&columns);
                    for row in rows.clone() {
                        let mut split = vec![0; columns.words()];
                        columns.split(gathered.row(row), &mut split);
                        for white in 0..=index.numbering().count(Colour::White) {
                            let words: Vec<u8> = split[columns.block(white)]
                                .iter()
                                .flat_map(|word| word.to_le_bytes())
                                .collect();
                            let expected = &words[..columns.row_bytes(white)];
                            assert_eq!(slice.block_row(row, &columns, white), expected, "{size}");
                        }
                    }
                }
            }
        }
    }
}
