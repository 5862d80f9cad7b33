//! Sprouts move generation: options of lands that occur in searches.

use std::collections::HashSet;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group};
use konane::search::sums::game::{Atom, Impartial, OptionList};
use konane::sprouts::{Position, Scratch, Sprouts};

use super::common::group;

/// Returns the distinct lands of random games from `spots` spots, in order of first occurrence.
fn lands(spots: u32, games: usize) -> (Sprouts, Vec<Atom>) {
    let game = Sprouts::new(u64::MAX);
    let mut scratch = Scratch::default();
    let start = Position::start(spots).expect("few spots");
    let start = game.atoms(&start, &mut scratch).expect("memory is not limited");
    let (mut seen, mut lands) = (HashSet::new(), Vec::new());
    let mut state = 1u64;
    for _ in 0..games {
        let mut sum = start.clone();
        while let Some(atom) = sum.pop() {
            if seen.insert(atom) {
                lands.push(atom);
            }
            let mut options = OptionList::default();
            game.options(atom, &mut scratch, &mut options).expect("memory is not limited");
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let chosen = (state >> 33) as usize % options.len();
            sum.extend_from_slice(options.iter().nth(chosen).expect("a land has options"));
        }
    }
    (game, lands)
}

fn options(c: &mut Criterion) {
    for spots in [6, 12, 29] {
        let (game, lands) = lands(spots, 60);
        let mut scratch = Scratch::default();
        let mut options = OptionList::default();
        // Raw children are the results of all moves before duplicates are removed.
        let before = scratch.counters().raw_children;
        for &land in &lands {
            options.clear();
            game.options(land, &mut scratch, &mut options).expect("memory is not limited");
        }
        let raw = scratch.counters().raw_children - before;
        let mut group = group(c, &format!("sprouts/{spots}"));
        group.throughput(Throughput::Elements(raw));
        group.bench_function("raw children", |b| {
            b.iter(|| {
                lands.iter().for_each(|&land| {
                    options.clear();
                    game.options(black_box(land), &mut scratch, &mut options).expect("memory");
                });
            });
        });
        group.bench_function("raw children, new game", |b| {
            // The game is new, so every land is canonicalised and interned for the first time.
            let texts: Vec<Position> = lands
                .iter()
                .map(|&land| game.land_text(land).parse().expect("canonical"))
                .collect();
            b.iter(|| {
                let game = Sprouts::new(u64::MAX);
                let mut scratch = Scratch::default();
                for text in &texts {
                    let sum = game.atoms(text, &mut scratch).expect("memory");
                    options.clear();
                    game.options(sum[0], &mut scratch, &mut options).expect("memory");
                }
                game.lands()
            });
        });
    }
}

criterion_group!(benches, options);
