//! [`konane_complexity`]: an estimate of the size of the game tree of a position.

use std::sync::atomic::Ordering;

use super::board::Board;
use super::position::Position;
use crate::complexity::{ComplexityEstimate, Samples, random_game};

/// Estimates the number of games from a position, which is the number of leaves of its game tree. Symmetric moves
/// count separately. Runs on the current rayon pool. Returns `None` if the stop flag was set.
///
/// # Panics
/// If the number of samples is 0.
pub fn konane_complexity(
    board: &Board,
    position: &Position,
    samples: &Samples<'_>,
) -> Option<ComplexityEstimate> {
    let logs = samples.run(|pick| {
        if samples.stop.load(Ordering::Relaxed) {
            return Err(());
        }
        random_game(*position, |position| Ok(children(board, position)), pick)
    });
    logs.ok().map(ComplexityEstimate::of)
}

fn children(board: &Board, position: &Position) -> Vec<Position> {
    position.moves(board).into_iter().map(|mv| position.play(board, mv)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::complexity::exact_mean;

    fn leaves(board: &Board, position: &Position) -> u64 {
        let children = children(board, position);
        let below: u64 = children.iter().map(|child| leaves(board, child)).sum();
        below.max(1)
    }

    #[test]
    fn the_mean_of_all_games_is_the_number_of_leaves() {
        for size in ["1x1", "2x3", "3x3", "3x4"] {
            let board = Board::new(size.parse().unwrap());
            let start = Position::start(&board);
            let mean = exact_mean(|pick| {
                random_game(start, |position| Ok::<_, ()>(children(&board, position)), pick)
                    .unwrap()
            });
            let leaves = leaves(&board, &start) as f64;
            assert!((mean / leaves - 1.0).abs() < 1e-9, "{size}: {mean}, not {leaves}");
        }
    }

    #[test]
    fn estimates_are_near_the_number_of_leaves_and_reproducible() {
        let board = Board::new("4x4".parse().unwrap());
        let start = Position::start(&board);
        let stop = AtomicBool::new(false);
        let estimate = |seed| {
            let samples = Samples { count: 2000, seed, stop: &stop, on_sample: &|| () };
            konane_complexity(&board, &start, &samples)
        };
        let [first, again, other] = [1, 1, 2].map(|seed| estimate(seed).unwrap());
        assert!(first == again && first != other);
        let leaves = (leaves(&board, &start) as f64).log10();
        assert!((first.log10_mean - leaves).abs() < 0.05, "{first:?}, not {leaves}");
        stop.store(true, Ordering::Relaxed);
        assert_eq!(estimate(1), None);
    }
}
