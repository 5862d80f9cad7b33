//! Tablebases: sweep, state space, addresses and look-ups.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use criterion::{Criterion, Throughput, criterion_group};
use konane::internals::{Index, Sweep};
use konane::tablebase::Method;
use konane::tablebase::statespace;
use konane::tablebase::{BuildOptions, Database, DatabaseOptions, build, plan};
use konane::{Board, Colour, Phase, Value};

use super::common::{board, game_positions, group};

/// Counts the wins with Black to move and with White to move, over all sets of stones.
fn count_wins(board: &Board) -> [u64; 2] {
    let index = Index::new(board.clone(), false);
    let sweep = Sweep::new(&index);
    let (mut below, mut wins) = (Vec::new(), [0; 2]);
    for black in 0..=index.numbering().count(Colour::Black) {
        let white_wins = sweep.white_wins(black, &below).unwrap();
        let black_wins = sweep.black_wins(&white_wins).unwrap();
        wins[0] += sweep.count(&black_wins);
        wins[1] += sweep.count(&white_wins);
        below.push(black_wins);
    }
    wins
}

fn whole_boards(c: &mut Criterion) {
    let mut group = group(c, "tablebase");
    let large = board("5x6");
    group.throughput(Throughput::Elements(2 << 30));
    group.bench_function("sweep 5x6", |b| {
        b.iter(|| {
            assert_eq!(count_wins(&large), [586_238_976; 2]);
        });
    });
    let (square, stop) = (board("5x5"), AtomicBool::new(false));
    group.throughput(Throughput::Elements(270_692));
    group.bench_function("statespace 5x5", |b| {
        b.iter(|| {
            let plies = statespace(&square, &stop, &mut |_| ControlFlow::Continue(())).unwrap();
            assert_eq!(plies.iter().map(|ply| ply.counts.unique).sum::<u64>(), 270_692);
        });
    });
    group.finish();
}

fn databases(c: &mut Criterion) {
    let board = board("5x5");
    let out = tempfile::tempdir().unwrap();
    let options =
        BuildOptions { method: Some(Method::Ranked), ..BuildOptions::complete(out.path().into()) };
    let plan = plan(&board, &options).unwrap();
    build(&board, &plan, &(), &AtomicBool::new(false)).unwrap();
    let mut positions = game_positions(&board, 10_000);
    positions.retain(|position| position.phase(&board) == Phase::Jumping);

    let index = Index::new(board.clone(), true);
    let mut group = group(c, "look-up 5x5");
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("address", |b| {
        b.iter(|| {
            let column =
                |p: &konane::Position| index.address(black_box(p.occupied()), p.to_move()).column;
            positions.iter().map(column).fold(0, |all, column| all ^ column)
        });
    });
    for (name, cache_bytes) in [("cached", 64 << 20), ("decompressed each time", 1)] {
        let database = Database::open(&plan.directory, DatabaseOptions { cache_bytes }).unwrap();
        group.bench_function(name, |b| {
            b.iter(|| {
                let won = |p| database.value(black_box(p)).unwrap() == Some(Value::Win);
                positions.iter().filter(|p| won(p)).count()
            });
        });
    }
}

criterion_group!(benches, whole_boards, databases);
