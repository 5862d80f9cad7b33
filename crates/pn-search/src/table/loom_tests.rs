//! The table's protocol under the loom model checker, which runs every interleaving of the accesses
//! of a few threads to the cells (up to a number of preemptions).
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test --lib loom
//! ```
//!
//! Loom has no 128-bit atomics, so a cell is a mutex here. The models check the protocol on
//! indivisible cells: no solved value is lost, two writers of one code leave one entry, no look-up
//! returns wrong numbers, and all writers finish. The models do not check the processor's
//! instructions for cells, nor effects of relaxed memory ordering. The protocol does not depend on
//! the order in which different cells become visible: a cell publishes only its own content.

use loom::sync::Arc;
use loom::thread;

use super::{CELL_BYTES, CLUSTER, Entry, InverseHash, LinearMap, Stored, Table};
use crate::Value;

/// Explores interleavings with at most `preemptions` switches away from a thread that could
/// continue. Bugs that need more switches are rare, and the number of runs grows exponentially with
/// the bound.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Creates a table of one cluster that already holds `taken` entries of other positions, so that
/// the threads fill the rest.
fn one_cluster(taken: usize) -> Arc<Table> {
    let table = Table::new(CLUSTER * CELL_BYTES).unwrap();
    for other in 0..taken as u64 {
        assert_eq!(table.store(0, 100 + other, open(9, 15)), Stored::Filled);
    }
    Arc::new(table)
}

/// Open entry whose delta is three times its phi, so that a mixture of two entries is detected.
fn open(phi: u32, work: u64) -> Entry {
    Entry { phi, delta: phi * 3, work }
}

fn is_whole(entry: Entry) -> bool {
    entry.value().is_some() || entry.delta == entry.phi * 3
}

fn copies(table: &Table, code: u64) -> usize {
    let cells = table.memory.clusters()[0].0.iter();
    cells
        .map(|cell| cell.load())
        .filter(|&content| content as u64 == code && content >> 64 != 0)
        .count()
}

#[test]
fn loom_two_writers_of_one_code_fill_one_cell() {
    explore(6, || {
        let table = one_cluster(0);
        let writers = [1, 2].map(|phi| {
            let table = table.clone();
            thread::spawn(move || table.store(0, 7, open(phi, 1)))
        });
        let stored = writers.map(|writer| writer.join().unwrap());
        let filled = stored.iter().filter(|&&s| s == Stored::Filled).count();
        assert_eq!(filled, 1, "{stored:?}");
        assert_eq!(copies(&table, 7), 1);
        assert!(is_whole(table.lookup(0, 7).unwrap()));
    });
}

#[test]
fn loom_two_writers_of_two_codes_lose_neither_in_a_cluster_with_space() {
    explore(6, || {
        let table = one_cluster(CLUSTER - 2);
        let writers = [7, 8].map(|code| {
            let table = table.clone();
            thread::spawn(move || table.store(0, code, open(code as u32, 1)))
        });
        for writer in writers {
            assert_eq!(writer.join().unwrap(), Stored::Filled);
        }
        for code in [7, 8] {
            assert_eq!(table.lookup(0, code), Some(open(code as u32, 1)));
        }
        assert_eq!(table.count().0, CLUSTER as u64);
    });
}

#[test]
fn loom_a_solved_value_survives_a_late_estimate() {
    // The writer of the estimate may read the cell before the other thread stores the value. Then
    // the swap of the estimate has to fail.
    explore(6, || {
        let table = one_cluster(0);
        table.store(0, 7, open(1, 1));
        let solver = {
            let table = table.clone();
            thread::spawn(move || table.store(0, 7, Entry::solved(Value::Loss, 2)))
        };
        let guesser = {
            let table = table.clone();
            thread::spawn(move || table.store(0, 7, open(5, 9)))
        };
        assert_eq!(solver.join().unwrap(), Stored::Updated);
        assert_eq!(guesser.join().unwrap(), Stored::Updated);
        assert_eq!(table.lookup(0, 7).unwrap().value(), Some(Value::Loss));
        assert_eq!(copies(&table, 7), 1);
    });
}

#[test]
fn loom_a_solved_value_survives_a_race_for_the_first_cell() {
    explore(6, || {
        let table = one_cluster(0);
        let solver = {
            let table = table.clone();
            thread::spawn(move || table.store(0, 7, Entry::solved(Value::Win, 2)))
        };
        let guesser = {
            let table = table.clone();
            thread::spawn(move || table.store(0, 7, open(5, 9)))
        };
        solver.join().unwrap();
        guesser.join().unwrap();
        assert_eq!(table.lookup(0, 7).unwrap().value(), Some(Value::Win));
        assert_eq!(copies(&table, 7), 1);
    });
}

#[test]
fn loom_two_writers_of_one_code_in_a_full_cluster_drop_one_entry() {
    explore(6, || {
        let table = one_cluster(CLUSTER);
        let writers = [1, 2].map(|phi| {
            let table = table.clone();
            thread::spawn(move || table.store(0, 7, open(phi, 15)))
        });
        let stored = writers.map(|writer| writer.join().unwrap());
        assert!(stored.contains(&Stored::Replaced) && stored.contains(&Stored::Updated));
        assert_eq!(copies(&table, 7), 1);
        assert_eq!(table.count().0, CLUSTER as u64);
        let kept = (0..CLUSTER as u64).filter(|other| table.lookup(0, 100 + other).is_some());
        assert_eq!(kept.count(), CLUSTER - 1);
    });
}

#[test]
fn loom_a_reader_sees_whole_entries_of_its_code_or_none() {
    explore(4, || {
        // One cell is free, so the second writer replaces an entry.
        let table = one_cluster(CLUSTER - 1);
        let writers = [(7, 1), (8, 2)].map(|(code, phi)| {
            let table = table.clone();
            thread::spawn(move || table.store(0, code, open(phi, 3)))
        });
        for (code, phi) in [(7, 1), (8, 2)] {
            if let Some(found) = table.lookup(0, code) {
                assert_eq!(found, open(phi, 3));
            }
        }
        for other in 100..100 + CLUSTER as u64 - 1 {
            if let Some(found) = table.lookup(0, other) {
                assert_eq!(found, open(9, 15));
            }
        }
        let stored = writers.map(|writer| writer.join().unwrap());
        // The second writer replaces the entry of the first writer, which has the least work.
        assert!(stored.contains(&Stored::Filled) && stored.contains(&Stored::Replaced));
        assert_eq!(table.count().0, CLUSTER as u64);
    });
}

#[test]
fn loom_a_reader_of_a_solved_code_always_finds_it() {
    explore(4, || {
        let table = one_cluster(1);
        table.store(0, 7, Entry::solved(Value::Loss, 1));
        let writer = |entry: Entry| {
            let table = table.clone();
            thread::spawn(move || table.store(0, 7, entry))
        };
        let (solver, guesser) = (writer(Entry::solved(Value::Loss, 12)), writer(open(4, 14)));
        let found = table.lookup(0, 7).expect("a solved entry stays in the cell");
        assert_eq!(found.value(), Some(Value::Loss));
        assert!(found.work == 1 || found.work == 12);
        solver.join().unwrap();
        guesser.join().unwrap();
        assert_eq!(table.lookup(0, 7), Some(Entry::solved(Value::Loss, 12)));
    });
}

#[test]
fn loom_three_writers_all_finish() {
    explore(4, || {
        let table = one_cluster(CLUSTER - 1);
        let spawn = |code: u64, entry: Entry| {
            let table = table.clone();
            thread::spawn(move || table.store(0, code, entry))
        };
        let writers = [spawn(7, open(1, 4)), spawn(7, open(2, 4))];
        // The third writer is this thread.
        table.store(0, 8, Entry::solved(Value::Win, 15));
        for writer in writers {
            writer.join().unwrap();
        }
        // The entry of code 8 has the highest replacement priority: it is solved, and took much work.
        assert_eq!(table.lookup(0, 8), Some(Entry::solved(Value::Win, 15)));
        for phi in [1, 2] {
            let found = table.lookup(0, 7);
            assert!(found.is_none_or(is_whole), "{phi} {found:?}");
        }
        assert!(copies(&table, 7) <= 2);
        assert_eq!(table.count().0, CLUSTER as u64);
    });
}

/// Two compact entries share a cell. A writer must not undo the store of the other one.
#[test]
fn loom_writers_of_two_slots_of_a_compact_cell_lose_neither() {
    explore(4, || {
        let words: [u64; 64] = std::array::from_fn(|bit| 1 << (63 - bit));
        let keys = LinearMap::new(&words);
        let inverse = InverseHash::new((1 << 37) - 1, &words).unwrap();
        let table = Table::with_inverse_hash(4 * CLUSTER * CELL_BYTES, &inverse).unwrap();
        table.grow(1, |code| keys.apply(code));
        // The two lowest bits of a code choose the cluster, so 4 and 8 share one.
        let table = Arc::new(table);
        let writers = [4u64, 8].map(|code| {
            let (table, key) = (table.clone(), keys.apply(code));
            thread::spawn(move || table.store(key, code, open(code as u32, 1)))
        });
        for writer in writers {
            assert_eq!(writer.join().unwrap(), Stored::Filled);
        }
        for code in [4u64, 8] {
            assert_eq!(table.lookup(keys.apply(code), code), Some(open(code as u32, 1)));
        }
        assert_eq!(table.count().0, 2);
    });
}
