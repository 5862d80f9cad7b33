//! Perft on one thread and on all cores.

use std::sync::atomic::AtomicBool;

use criterion::{Criterion, Throughput, criterion_group};
use konane::{Board, Perft, Position};

use super::common::{board, group};

/// Reference implementation of perft: generates and plays moves one at a time.
fn plain(board: &Board, position: &Position, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let moves = position.moves(board);
    moves.iter().map(|&mv| plain(board, &position.play(board, mv), depth - 1)).sum()
}

fn perft(c: &mut Criterion) {
    for (text, depth) in [("6x6", 8), ("8x8", 7)] {
        let board = board(text);
        let start = Position::start(&board);
        let perft = Perft::new(&board);
        let nodes = perft.count(&start, depth);
        assert_eq!(perft.count(&start, depth - 2), plain(&board, &start, depth - 2));
        let divided: u64 = perft.divide(&start, depth).iter().map(|&(_, nodes)| nodes).sum();
        assert_eq!(divided, nodes);
        let never = AtomicBool::new(false);
        let merged = || perft.merged(&start, depth, u64::MAX, &|_, _| (), &never);
        assert_eq!(merged(), Ok(nodes));
        let mut group = group(c, &format!("perft/{text}/{depth}"));
        group.throughput(Throughput::Elements(nodes));
        group.bench_function("one thread", |b| b.iter(|| perft.count(&start, depth)));
        group.bench_function("all cores", |b| b.iter(|| perft.divide(&start, depth)));
        group.bench_function("merged", |b| b.iter(merged));
    }
}

criterion_group!(benches, perft);
