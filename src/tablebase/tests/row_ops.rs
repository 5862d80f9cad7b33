//! Operations on rows, compared with the same operations bit by bit.

use crate::konane::kernels::Isa;
use crate::tablebase::index::SquareNumbers;
use crate::tablebase::values::sweep::row_ops::{
    RowJump, RowOps, RowPermutation, put_plane, row_words, take_plane,
};
use crate::{Board, Colour};
use proptest::prelude::*;

fn all_ops() -> Vec<RowOps> {
    let widest = Isa::detect() as usize;
    let sets = [Isa::Baseline, Isa::Avx2, Isa::Avx512];
    sets.into_iter().filter(|&isa| isa as usize <= widest).map(RowOps::with_isa).collect()
}

/// A row of random bits for the patterns of `white` squares. Unused bits at its end are random, too.
fn row(white: u32, seed: u64) -> Vec<u64> {
    let mut state = seed;
    (0..row_words(white))
        .map(|_| {
            state = state.wrapping_mul(0xD129_42A6_4C4D_9F2D).wrapping_add(0x9E37_79B9_7F4A_7C15);
            state ^ state >> 29
        })
        .collect()
}

fn bit(row: &[u64], p: u32) -> bool {
    row[p as usize / 64] >> (p % 64) & 1 == 1
}

/// Joins planes into a row.
fn together(planes: &[Vec<u64>]) -> Vec<u64> {
    let mut row = vec![0; planes.len() * planes[0].len()];
    for (nth, plane) in planes.iter().enumerate() {
        put_plane(&mut row, planes.len(), nth, plane);
    }
    row
}

/// Splits a row into its planes.
fn apart(row: &[u64], count: usize) -> Vec<Vec<u64>> {
    let plane = |nth| {
        let mut plane = vec![0; row.len() / count];
        take_plane(row, count, nth, &mut plane);
        plane
    };
    (0..count).map(plane).collect()
}

fn random_planes(white: u32, count: usize, seed: u64) -> Vec<Vec<u64>> {
    (0..count as u64).map(|nth| row(white, seed ^ nth << 32)).collect()
}

/// The rank of a pattern. Plane 0 has its highest bit; planes 1, 2, … have the other bits, from the lowest on.
fn rank(planes: &[Vec<u64>], p: u32) -> u32 {
    let order = planes[1..].iter().chain([&planes[0]]);
    order.zip(0..).map(|(plane, k)| u32::from(bit(plane, p)) << k).sum()
}

proptest! {
    #[test]
    fn jumps_of_rows_of_planes(
        white in 0u32..=14,
        kinds in prop::collection::vec(0u8..5, 14),
        count in 2usize..=6,
        seed: u64,
    ) {
        let set = |wanted: &[u8]| -> u32 {
            (0..white).filter(|&n| wanted.contains(&kinds[n as usize])).map(|n| 1 << n).sum()
        };
        let (need, forbid, flip) = (set(&[1, 2]), set(&[3, 4]), set(&[2, 4]));
        let jump = RowJump::new(white, need, forbid, flip);
        let (source, before) =
            (random_planes(white, count, seed), random_planes(white, count, !seed));
        for ops in all_ops() {
            let mut target = together(&before);
            ops.greatest(count, &jump, &mut target, &together(&source));
            let after = apart(&target, count);
            for p in 0..1 << white {
                let (old, new) = (rank(&before, p), rank(&source, p ^ flip));
                let applies = p & need == need && p & forbid == 0;
                prop_assert_eq!(rank(&after, p), if applies { old.max(new) } else { old });
            }
        }
    }

    #[test]
    fn jumps_of_rows(
        white in 0u32..=14,
        kinds in prop::collection::vec(0u8..5, 14),
        seed: u64,
    ) {
        // Every square is free, needed or forbidden. Needed and forbidden squares may be flipped.
        let set = |wanted: &[u8]| -> u32 {
            (0..white).filter(|&n| wanted.contains(&kinds[n as usize])).map(|n| 1 << n).sum()
        };
        let (need, forbid, flip) = (set(&[1, 2]), set(&[3, 4]), set(&[2, 4]));
        let jump = RowJump::new(white, need, forbid, flip);
        let (source, before) = (row(white, seed), row(white, !seed));
        for ops in all_ops() {
            for invert in [false, true] {
                let mut target = before.clone();
                if invert {
                    ops.apply::<true>(&jump, &mut target, &source);
                } else {
                    ops.apply::<false>(&jump, &mut target, &source);
                }
                for p in 0..1 << white {
                    let applies = p & need == need && p & forbid == 0;
                    let value = applies && bit(&source, p ^ flip) != invert;
                    prop_assert_eq!(bit(&target, p), bit(&before, p) || value);
                }
            }
        }
    }

    #[test]
    fn images_of_rows(
        moved in (0u8..=13).prop_flat_map(|white| Just(Vec::from_iter(0..white)).prop_shuffle()),
        seed: u64,
    ) {
        assert_permutes(&moved, seed);
    }
}

#[test]
fn images_of_rows_under_the_symmetries_of_boards() {
    let boards = [
        "1x1", "1x4", "2x3", "3x3", "3x4", "4x4", "3x5", "1x17", "4x5", "5x5", "3x7", "4x7",
        "2x14", "5x6",
    ];
    for board in boards {
        let numbering = SquareNumbers::new(&Board::new(board.parse().unwrap()));
        for g in 0..numbering.symmetries() {
            assert_permutes(numbering.moved(Colour::White, g), g as u64);
        }
    }
}

/// Compares [`RowOps::permute`], for the permutation that maps each square `n` to `moved[n]`, with an image bit
/// by bit.
fn assert_permutes(moved: &[u8], seed: u64) {
    let white = moved.len() as u32;
    let image = |p: u32| (0..white).map(|n| (p >> n & 1) << moved[n as usize]).sum();
    let permutation = RowPermutation::new(moved);
    let source = row(white, seed);
    for ops in all_ops() {
        let mut target = row(white, !seed);
        ops.permute(&permutation, &mut target, &source);
        for p in 0..1 << white {
            assert_eq!(bit(&target, image(p)), bit(&source, p), "{moved:?}");
        }
        // In a row of several planes, every plane is permuted separately.
        let planes = random_planes(white, 3, seed);
        let mut target = together(&random_planes(white, 3, !seed));
        ops.permute(&permutation, &mut target, &together(&planes));
        for (found, plane) in apart(&target, 3).iter().zip(&planes) {
            for p in 0..1 << white {
                assert_eq!(bit(found, image(p)), bit(plane, p), "{moved:?}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "a flipped bit has to be fixed")]
fn a_flip_of_a_free_square() {
    RowJump::new(9, 1, 2, 4);
}
