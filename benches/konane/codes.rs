//! Canonical codes and their Zobrist keys.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group};
use konane::Position;
use konane::internals::symmetry::permute;
use konane::internals::zobrist::Zobrist;

use super::common::{board, game_positions, group};

fn codes(c: &mut Criterion) {
    // Square boards of both parities with eight symmetries, and a rectangular board with four.
    for text in ["6x6", "7x7", "6x7", "8x8"] {
        let board = board(text);
        let symmetries = board.symmetries();
        let positions = game_positions(&board, 1000);
        let codes: Vec<u64> = positions.iter().map(|p| p.code(&board)).collect();
        for (position, &code) in positions.iter().zip(&codes) {
            let occupied = position.occupied();
            let image = |p| permute(p, occupied);
            let least = symmetries.preserving().iter().map(|p| image(p)).min();
            assert_eq!(symmetries.least_preserving(occupied), least.unwrap());
            assert_eq!(Position::from_code(&board, code).code(&board), code);
        }
        let mut group = group(c, &format!("codes/{text}"));
        group.throughput(Throughput::Elements(positions.len() as u64));
        group.bench_function("code", |b| {
            b.iter(|| positions.iter().fold(0, |all, p| all ^ black_box(p).code(&board)));
        });
        group.bench_function("decode", |b| {
            b.iter(|| {
                let occupied = |&code| Position::from_code(&board, black_box(code)).occupied();
                codes.iter().map(occupied).fold(0, |all, set| all ^ set)
            });
        });
        let zobrist = Zobrist::new(&board);
        group.bench_function("zobrist", |b| {
            b.iter(|| codes.iter().fold(0, |all, &code| all ^ zobrist.key(black_box(code))));
        });
    }
}

criterion_group!(benches, codes);
