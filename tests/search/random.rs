//! Numbers and games that look random and are the same on every run.

use konane::search::testing::graph::GraphGame;
pub use konane::search::testing::random::Random;

/// So many thousand cases, a tenth of them in unoptimised builds.
pub fn thousands(number: u64) -> u64 {
    number * if cfg!(debug_assertions) { 100 } else { 1000 }
}

/// A random game of one of several shapes, by its number.
pub fn random_graph(number: u64) -> GraphGame {
    let mut random = Random(number);
    let (nodes, degree) = match number % 5 {
        0 => (1 + random.below(12), random.below(4)), // tiny, often degenerate
        1 => (60 + random.below(100), 2),             // long and narrow
        2 => (50 + random.below(300), 3 + random.below(4)),
        3 => (200 + random.below(400), 10 + random.below(10)), // wide, many transpositions
        _ => (30 + random.below(60), 1),                       // chains
    };
    let game = GraphGame::random(number, nodes as u32, degree as u32)
        .with_immediate_wins(random.below(3) > 0);
    let most = random.pick(&[1, 3, 30, 100_000, u32::MAX]);
    game.with_random_estimates(number, most)
}
