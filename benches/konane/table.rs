//! The transposition table in the processor cache (256 KiB) and in main memory (512 MiB).

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group};
use konane::search::table::{CLUSTER, Entry, Table};

use super::common::{group, mix};

/// Returns a key that differs from the code, as in a game.
fn key(code: u64) -> u64 {
    mix(code ^ 0x5bd1_e995)
}

fn entry(code: u64) -> Entry {
    Entry { phi: 1 + (code >> 40) as u32 % 1000, delta: 2, work: code >> 60 }
}

/// Returns a table with a quarter of its cells filled with the codes `mix(0..)`, and the number of
/// codes.
fn filled(bytes: usize) -> (Table, u64) {
    let table = Table::new(bytes).unwrap();
    // Grow the table to its full size first.
    while table.wants_growth(table.capacity()) {
        table.grow(1, key);
    }
    let codes = table.capacity() / 4;
    for code in (0..codes).map(mix) {
        table.store(key(code), code, entry(code));
    }
    (table, codes)
}

fn table(c: &mut Criterion) {
    const BATCH: u64 = 4096;
    for (name, bytes) in [("256KiB", 256 << 10), ("512MiB", 512 << 20)] {
        let (table, codes) = filled(bytes);
        let mut group = group(c, &format!("table/{name}"));
        group.throughput(Throughput::Elements(BATCH));

        // Each batch looks up other codes, so that entries of a large table are not cached.
        let mut start = 0;
        let mut hits = || {
            start += BATCH;
            (start..start + BATCH)
                .map(|number| mix(number % codes))
                .filter(|&code| table.lookup(key(code), black_box(code)).is_some())
                .count()
        };
        // The table is a quarter full, so few clusters overflow.
        assert!(hits() as u64 > BATCH * 95 / 100);
        group.bench_function("lookup, hit", |b| b.iter(&mut hits));

        let mut hits = || {
            start += BATCH;
            let numbers = start..start + BATCH;
            for number in numbers.clone() {
                table.prefetch(key(mix(number % codes)));
            }
            numbers
                .map(|number| mix(number % codes))
                .filter(|&code| table.lookup(key(code), black_box(code)).is_some())
                .count()
        };
        group.bench_function("lookup, hit, prefetched", |b| b.iter(&mut hits));

        let mut misses = || {
            start += BATCH;
            (start..start + BATCH)
                .map(|number| mix(!number))
                .filter(|&code| table.lookup(key(code), black_box(code)).is_none())
                .count()
        };
        assert_eq!(misses() as u64, BATCH);
        group.bench_function("lookup, miss", |b| b.iter(&mut misses));

        let mut updates = || {
            start += BATCH;
            for code in (start..start + BATCH).map(|number| mix(number % codes)) {
                table.store(key(code), code, entry(!code));
            }
        };
        group.bench_function("store, update", |b| b.iter(&mut updates));

        // New codes fill the free cells first and then replace entries.
        let mut number = 1 << 40;
        let mut stores = || {
            number += BATCH;
            for code in (number..number + BATCH).map(mix) {
                table.store(key(code), code, entry(code));
            }
        };
        group.bench_function("store, new", |b| b.iter(&mut stores));
        // A filter may skip the measurement, so entries are stored here too.
        stores();
        let last = mix(number + BATCH - 1);
        assert_eq!(table.lookup(key(last), last).map(|e| e.phi), Some(entry(last).phi));
        assert!(table.count().0 <= table.capacity());
        assert_eq!(table.capacity() % CLUSTER as u64, 0);
    }
}

criterion_group!(benches, table);
