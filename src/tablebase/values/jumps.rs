//! All jumps that fit on a board, as bit masks for the patterns of both colours.

use crate::konane::{Board, Colour, Direction};
use crate::tablebase::index::SquareNumbers;

/// A jump that fits on the board. Whether it is possible depends on the stones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// The stone that jumps, a bit of the mover's pattern.
    pub from: u32,
    /// The last landing square, a bit of the mover's pattern.
    pub to: u32,
    /// All landing squares including `to`, bits of the mover's pattern. They have to be empty.
    pub landings: u32,
    /// The stones that the jump takes, bits of the opponent's pattern.
    pub taken: u32,
}

/// Returns all jumps of a colour. Jumps that take the same stones are adjacent in the list.
pub fn jumps(board: &Board, numbering: &SquareNumbers, mover: Colour) -> Vec<Jump> {
    let (ranks, files) = (board.dimensions().ranks() as i32, board.dimensions().files() as i32);
    let pattern = |colour: Colour, square: i32| numbering.pack(1 << square)[colour.index()];
    let mut jumps = Vec::new();
    for &start in numbering.squares(mover) {
        let (rank, file) = (i32::from(start) / files, i32::from(start) % files);
        for direction in Direction::ALL {
            let (dr, df) = match direction {
                Direction::East => (0, 1),
                Direction::South => (1, 0),
                Direction::West => (0, -1),
                Direction::North => (-1, 0),
            };
            let square = |steps: i32| {
                let (r, f) = (rank + dr * steps, file + df * steps);
                let inside = (0..ranks).contains(&r) && (0..files).contains(&f);
                inside.then_some(r * files + f)
            };
            let from = pattern(mover, i32::from(start));
            let (mut landings, mut taken) = (0, 0);
            for length in 1.. {
                let Some(landing) = square(2 * length) else { break };
                let over = square(2 * length - 1).expect("between two squares of the board");
                taken |= pattern(!mover, over);
                let to = pattern(mover, landing);
                landings |= to;
                jumps.push(Jump { from, to, landings, taken });
            }
        }
    }
    jumps.sort_by_key(|jump| (jump.taken.count_ones(), jump.taken, jump.from));
    jumps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::{Move, Position};

    #[test]
    fn jumps_are_the_moves_of_all_positions() {
        for size in ["1x7", "3x3", "3x4", "2x6", "4x4"] {
            let board = Board::new(size.parse().unwrap());
            let numbering = SquareNumbers::new(&board);
            for mover in [Colour::Black, Colour::White] {
                let jumps = jumps(&board, &numbering, mover);
                for occupied in 0..=board.all() {
                    if (board.all() & !occupied).count_ones() < 2 {
                        continue;
                    }
                    let patterns = numbering.pack(occupied);
                    let (own, other) = (patterns[mover.index()], patterns[(!mover).index()]);
                    let mut expected: Vec<(u64, u64)> =
                        Position::new_unchecked(&board, occupied, mover)
                            .moves(&board)
                            .into_iter()
                            .map(|m| match m {
                                Move::Jump { from, to } => (from.bit(), to.bit()),
                                Move::Remove { .. } => unreachable!("two squares are empty"),
                            })
                            .collect();
                    let mut found: Vec<(u64, u64)> = jumps
                        .iter()
                        .filter(|j| own & j.from != 0 && own & j.landings == 0)
                        .filter(|j| other & j.taken == j.taken)
                        .map(|j| (numbering.unpack(mover, j.from), numbering.unpack(mover, j.to)))
                        .collect();
                    expected.sort_unstable();
                    found.sort_unstable();
                    assert_eq!(found, expected, "{size} {mover} {occupied:b}");
                }
            }
        }
    }
}
