//! Helpers for several benchmarks: boards, positions of random games, and short measurement times.

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use konane::{Board, Phase, Position};

/// Parses a board size such as `6x6`.
pub fn board(text: &str) -> Board {
    Board::new(text.parse().unwrap())
}

/// Creates a group with ten samples and two seconds per benchmark.
pub fn group<'a>(c: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    group
}

/// SplitMix64, used as a deterministic random number generator.
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns `count` jumping-phase positions from random games, including terminal ones.
pub fn game_positions(board: &Board, count: usize) -> Vec<Position> {
    let (mut positions, mut random) = (Vec::new(), 0);
    while positions.len() < count {
        let mut position = Position::start(board);
        loop {
            if position.phase(board) == Phase::Jumping {
                positions.push(position);
            }
            let moves = position.moves(board);
            if moves.is_empty() {
                break;
            }
            random += 1;
            let choice = mix(random) as usize % moves.len();
            position = position.play(board, moves[choice]);
        }
    }
    positions.truncate(count);
    positions
}
