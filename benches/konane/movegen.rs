//! Move generation: lists, counts, and the expansion kernels of the search for each instruction
//! set.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group};
use konane::internals::kernels::{Isa, Jumps, Successors};

use super::common::{board, game_positions, group};

fn movegen(c: &mut Criterion) {
    for text in ["6x6", "8x8"] {
        let board = board(text);
        let positions = game_positions(&board, 1000);
        let moves: usize = positions.iter().map(|p| p.moves(&board).len()).sum();
        let counted: u32 = positions.iter().map(|p| p.count_moves(&board)).sum();
        assert_eq!(counted as usize, moves);

        let mut group = group(c, &format!("movegen/{text}"));
        group.throughput(Throughput::Elements(moves as u64));
        group.bench_function("moves", |b| {
            b.iter(|| positions.iter().map(|p| black_box(p.moves(&board)).len()).sum::<usize>());
        });
        group.throughput(Throughput::Elements(positions.len() as u64));
        group.bench_function("count_moves", |b| {
            b.iter(|| positions.iter().map(|p| p.count_moves(&board)).sum::<u32>());
        });
        group.throughput(Throughput::Elements(moves as u64));
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
            if isa as usize > Isa::detect() as usize {
                continue;
            }
            let jumps = Jumps::with_isa(&board, isa);
            let mut out = Successors::default();
            let mut expand_all = || {
                let mut total = 0;
                for p in &positions {
                    jumps.generate(p.occupied(), p.to_move(), &mut out);
                    jumps.describe(p.to_move(), &mut out);
                    total += black_box(&out).len;
                }
                total
            };
            assert_eq!(expand_all(), moves);
            group.bench_function(format!("expand/{isa:?}"), |b| b.iter(&mut expand_all));
        }
    }
}

criterion_group!(benches, movegen);
