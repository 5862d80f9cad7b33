//! The transposition table, compared with a map, and used by many threads.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use konane::Value;
use konane::search::numbers::{INFINITY, MAX};
use konane::search::table::{
    CELL_BYTES, CLUSTER, Entry, SAMPLE_CLUSTERS, Stored, Table, TableError,
};
use proptest::prelude::*;

use konane::search::testing::random::key as mix;

const CLUSTER_BYTES: usize = CLUSTER * CELL_BYTES;

fn table(clusters: usize) -> Table {
    Table::new(clusters * CLUSTER_BYTES).unwrap()
}

/// A key of the cluster with this number.
fn key_of(cluster: usize, clusters: usize) -> u64 {
    let key = ((cluster as u128) << 64).div_ceil(clusters as u128);
    u64::try_from(key).unwrap()
}

/// An open entry. A search effort below 16 is stored exactly, so these entries are read as they were stored.
fn open(phi: u32, delta: u32, work: u64) -> Entry {
    Entry { phi, delta, work }
}

fn any_entry() -> impl Strategy<Value = Entry> {
    prop_oneof![
        3 => (1..=MAX, 1..=MAX, 0u64..16).prop_map(|(phi, delta, work)| open(phi, delta, work)),
        1 => (any::<bool>(), 0u64..16).prop_map(|(won, work)| {
            Entry::solved(if won { Value::Win } else { Value::Loss }, work)
        }),
    ]
}

/// Stores an entry as a table without overflow does: an entry replaces that of the same code, except that a solved
/// one is only replaced by a solved one with a greater search effort.
fn store_in_model(model: &mut HashMap<u64, Entry>, code: u64, entry: Entry) {
    let known = model.get(&code).copied();
    let keeps = known.is_some_and(|known| {
        known.value().is_some() && (entry.value().is_none() || entry.work <= known.work)
    });
    if !keeps {
        model.insert(code, entry);
    }
}

/// Number of cases of each property.
const CASES: u32 = if cfg!(miri) {
    1
} else if cfg!(debug_assertions) {
    100
} else {
    400
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// At most four codes per cluster: no entry may be lost, and all entries are those of the map.
    #[test]
    fn without_overflow_the_table_is_a_map(
        clusters in 1usize..9,
        salt: u64,
        steps in prop::collection::vec((0usize..32, any_entry()), 1..200),
    ) {
        let table = table(clusters);
        let mut model = HashMap::new();
        for (number, entry) in steps {
            let number = number % (clusters * CLUSTER);
            let key = key_of(number / CLUSTER, clusters);
            let code = mix(salt ^ number as u64);
            let expected = if model.contains_key(&code) { Stored::Updated } else { Stored::Filled };
            prop_assert_eq!(table.store(key, code, entry), expected);
            store_in_model(&mut model, code, entry);
            prop_assert_eq!(table.lookup(key, code), model.get(&code).copied());
        }
        for number in 0..clusters * CLUSTER {
            let code = mix(salt ^ number as u64);
            let found = table.lookup(key_of(number / CLUSTER, clusters), code);
            prop_assert_eq!(found, model.get(&code).copied());
        }
        let solved = model.values().filter(|entry| entry.value().is_some()).count() as u64;
        prop_assert_eq!(table.count(), (model.len() as u64, solved));
    }

    /// Any number of codes in a cluster: an entry may be missing, but an existing one is the last one stored for
    /// this code, and an entry that has just been stored exists.
    #[test]
    fn with_overflow_the_table_replaces_but_never_confuses_entries(
        clusters in 1usize..4,
        codes in prop::collection::vec(any::<u64>(), 1..40),
        steps in prop::collection::vec((0usize..40, any_entry()), 1..300),
    ) {
        let table = table(clusters);
        let key = |code: u64| mix(code);
        let mut model: HashMap<u64, Entry> = HashMap::new();
        let mut filled = 0;
        for (number, entry) in steps {
            let code = codes[number % codes.len()];
            let held = table.lookup(key(code), code);
            let stored = table.store(key(code), code, entry);
            if held.is_none() {
                // An entry that was dropped must not reappear.
                model.remove(&code);
            }
            store_in_model(&mut model, code, entry);
            match stored {
                Stored::Filled => { filled += 1; prop_assert!(held.is_none()); }
                Stored::Replaced => prop_assert!(held.is_none()),
                Stored::Updated => prop_assert!(held.is_some()),
            }
            prop_assert_eq!(table.lookup(key(code), code), model.get(&code).copied());
            for &code in &codes {
                if let Some(found) = table.lookup(key(code), code) {
                    prop_assert_eq!(Some(&found), model.get(&code));
                }
            }
            prop_assert_eq!(table.count().0, filled);
            prop_assert!(filled <= table.capacity());
        }
    }

    /// Five entries in one cluster: the replaced one is the first of lowest priority among the previous four.
    #[test]
    fn replacement_drops_the_entry_of_lowest_priority(
        works in prop::array::uniform4(0u64..16),
        solved in prop::array::uniform4(any::<bool>()),
        new in any_entry(),
    ) {
        let table = table(1);
        for (code, (&work, &solved)) in (0..).zip(works.iter().zip(&solved)) {
            let entry = if solved { Entry::solved(Value::Win, work) } else { open(2, 3, work) };
            prop_assert_eq!(table.store(0, code, entry), Stored::Filled);
        }
        prop_assert_eq!(table.store(0, 99, new), Stored::Replaced);
        prop_assert_eq!(table.lookup(0, 99), Some(new));
        // Replacement priority, in steps of the encoded search effort. Eight steps double the effort.
        let priority = |code: usize| works[code] + u64::from(solved[code]) * 8;
        let victim = (0..CLUSTER).min_by_key(|&code| priority(code)).unwrap();
        for code in 0..CLUSTER {
            prop_assert_eq!(table.lookup(0, code as u64).is_none(), code == victim);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too large for the interpreter")]
    fn the_size_is_the_requested_one_in_whole_clusters(
        bytes in prop_oneof![0usize..1 << 12, 0usize..1 << 17, 0usize..1 << 28],
    ) {
        match Table::new(bytes) {
            Ok(table) => {
                prop_assert!(bytes >= CLUSTER_BYTES);
                let whole = bytes - bytes % CLUSTER_BYTES;
                prop_assert!(table.bytes() <= whole && table.bytes() >= whole - whole / 1000);
                prop_assert_eq!(table.bytes() % CLUSTER_BYTES, 0);
                prop_assert_eq!(table.capacity() as usize * CELL_BYTES, table.bytes());
                prop_assert_eq!(table.count(), (0, 0));
            }
            Err(TableError::TooSmall { bytes: named }) => {
                prop_assert!(bytes < CLUSTER_BYTES && named == bytes);
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 6 } else { 60 }))]

    /// Growth moves every entry to the new cluster of its key, and changes nothing else.
    #[test]
    #[cfg_attr(miri, ignore = "too large for the interpreter")]
    fn growth_keeps_every_entry(
        clusters in 1usize..9000,
        salt: u64,
        filling in 1u64..20_000,
        bits in 0u32..3,
    ) {
        let table = table(clusters);
        // In some cases only the upper eight bits of the keys vary, in others all bits except these: then there
        // are clusters with many codes.
        let key = |code: u64| match bits {
            0 => mix(code),
            1 => mix(code) << 56,
            _ => mix(code) >> 8,
        };
        let codes: Vec<u64> = (0..filling).map(|number| mix(salt ^ number)).collect();
        let mut next = 0;
        loop {
            let upto = codes.len().min(next + 1 + codes.len() / 4);
            for &code in &codes[next..upto] {
                table.store(key(code), code, entry_of(code, code >> 40));
                if code % 5 == 0 {
                    table.store(key(code), code, Entry::solved(value_of(code), 3));
                }
            }
            next = upto;
            let found = |code: &u64| table.lookup(key(*code), *code);
            let before: Vec<Option<Entry>> = codes.iter().map(found).collect();
            let count = table.count();
            let (bytes, capacity) = (table.bytes(), table.capacity());
            table.grow(1, key);
            prop_assert_eq!(table.count(), count);
            prop_assert_eq!((table.bytes(), table.capacity()), (bytes, capacity));
            let after: Vec<Option<Entry>> = codes.iter().map(found).collect();
            prop_assert_eq!(before, after);
            if next == codes.len() {
                break;
            }
        }
        // Growth of a table whose memory is all in use is a no-op.
        for _ in 0..20 {
            table.grow(1, key);
        }
        prop_assert!(!table.wants_growth(table.capacity()));
    }
}

#[test]
fn retain_drops_entries() {
    let table = table(64);
    let codes: Vec<u64> = (1..=table.capacity()).collect();
    for &code in &codes {
        table.store(mix(code), code, entry_of(code, code));
    }
    let before: Vec<Option<Entry>> =
        codes.iter().map(|&code| table.lookup(mix(code), code)).collect();
    let mut asked = 0;
    table.retain(|code, entry| {
        asked += 1;
        assert_eq!(Some(entry), before[code as usize - 1]);
        code % 3 == 0
    });
    assert_eq!(asked, before.iter().flatten().count());
    for (&code, before) in codes.iter().zip(before) {
        let kept = before.filter(|_| code % 3 == 0);
        assert_eq!(table.lookup(mix(code), code), kept, "{code}");
    }
    // Free cells are filled before entries are replaced.
    let free = table.capacity() - table.count().0;
    let stored = (1000..1000 + free).map(|code| table.store(mix(code), code, open(1, 1, 1)));
    let filled = stored.filter(|&stored| stored == Stored::Filled).count() as u64;
    assert_eq!(table.count().0, table.capacity() - free + filled);
    assert!(filled > free / 2);
}

#[test]
#[cfg_attr(miri, ignore = "too large for the interpreter")]
fn a_table_that_grows_in_time_loses_little() {
    // A quarter of the entries would not fit into the part that is in use at the start.
    let table = table(4096);
    let codes: Vec<u64> = (0..table.capacity() / 3).map(mix).collect();
    let (mut used, mut growths) = (0, 0);
    for &code in &codes {
        if table.wants_growth(used) {
            table.grow(1, mix);
            growths += 1;
        }
        used += u64::from(table.store(mix(code), code, entry_of(code, 1)) == Stored::Filled);
    }
    assert!((1..=2).contains(&growths), "{growths}");
    // Growth starts when the table has lost about one entry in a hundred.
    let lost = codes.iter().filter(|&&code| table.lookup(mix(code), code).is_none());
    let lost = lost.count();
    assert!(lost * 50 < codes.len(), "{lost} of {}", codes.len());
}

/// A reserved table, empty or not, has the same shape and the same entries as one that grew.
#[test]
#[cfg_attr(miri, ignore = "too large for the interpreter")]
fn a_reserved_table_is_one_that_grew() {
    for before in [0, 300] {
        for entries in [1, 5_000, 50_000, u64::MAX] {
            let tables = [table(1 << 14), table(1 << 14)];
            let fill = |codes: std::ops::Range<u64>| {
                for (code, table) in codes.flat_map(|code| tables.each_ref().map(|t| (code, t))) {
                    table.store(mix(code), code, entry_of(code, code));
                }
            };
            fill(0..before);
            tables[0].reserve(entries, 2, mix);
            while tables[1].wants_growth(entries.min(tables[1].capacity())) {
                tables[1].grow(3, mix);
            }
            assert_eq!(tables[0].used_bytes(), tables[1].used_bytes(), "{before} {entries}");
            fill(before..before + entries.min(5_000));
            for code in 0..before + entries.min(5_000) {
                let [reserved, grown] =
                    tables.each_ref().map(|table| table.lookup(mix(code), code));
                assert_eq!(reserved, grown, "{before} {entries} {code}");
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too many entries")]
fn the_estimated_count_is_exact_for_small_tables_and_close_for_large_ones() {
    let (clusters, mut doublings) = (SAMPLE_CLUSTERS << 4, 0);
    let table = table(clusters);
    assert_eq!(table.estimated_count(), 0);
    for code in 1..=(clusters as u64) {
        table.store(mix(code), code, open(1, 1, 1));
        if code.is_power_of_two() || code.is_multiple_of(1000) {
            let (count, estimate) = (table.count().0, table.estimated_count());
            if doublings == 0 {
                assert_eq!(estimate, count);
            } else {
                assert!(estimate.abs_diff(count) * 8 < count, "{estimate} for {count}");
            }
            if table.wants_growth(count) {
                table.grow(1, mix);
                doublings += 1;
            }
        }
    }
    assert!(doublings >= 2);
}

#[test]
#[cfg_attr(miri, ignore = "too large for the interpreter")]
fn a_store_that_came_after_a_growth_does_no_harm() {
    // A thread that computed its cluster before a growth may store after it. Then the entry is in the wrong cluster,
    // and the next growth must handle that.
    let table = table(4096);
    for code in 0..4u64 {
        table.store(u64::MAX / 4 * code, code, entry_of(code, 1));
    }
    table.grow(1, |code| u64::MAX / 4 * (3 - code));
    table.grow(1, |code| u64::MAX / 4 * (3 - code));
    for code in 0..4 {
        let found = table.lookup(u64::MAX / 4 * (3 - code), code);
        assert!(found.is_none_or(|entry| is_valid(code, entry)));
    }
}

#[test]
#[cfg_attr(miri, ignore = "too large for the interpreter")]
fn keys_are_mapped_to_all_clusters_of_the_table() {
    for clusters in [1, 2, 3, 7, 1000, 4096] {
        let table = table(clusters);
        for _ in 0..3 {
            table.grow(1, |code| code);
        }
        for cluster in 0..clusters {
            let first = key_of(cluster, clusters);
            let last =
                if cluster + 1 == clusters { u64::MAX } else { key_of(cluster + 1, clusters) - 1 };
            let code = cluster as u64;
            assert_eq!(table.store(first, code, open(1, 1, 1)), Stored::Filled);
            // The first and the last key of the cluster are mapped to it, the adjacent keys are not.
            assert!(table.lookup(last, code).is_some());
            if cluster > 0 {
                assert!(table.lookup(first - 1, code).is_none());
            }
        }
        assert_eq!(table.count(), (clusters as u64, 0));
    }
}

#[test]
fn code_zero_and_the_largest_code_are_valid() {
    let table = table(1);
    assert_eq!(table.lookup(0, 0), None);
    for code in [0, u64::MAX] {
        table.store(0, code, open(MAX, 1, 0));
        assert_eq!(table.lookup(0, code), Some(open(MAX, 1, 0)));
    }
    assert_eq!(table.count(), (2, 0));
}

#[test]
fn a_solved_position_keeps_its_value_and_its_greatest_work() {
    for value in [Value::Win, Value::Loss] {
        let table = table(1);
        table.store(0, 5, Entry::solved(value, 3));
        table.store(0, 5, open(7, 8, 15));
        assert_eq!(table.lookup(0, 5), Some(Entry::solved(value, 3)));
        table.store(0, 5, Entry::solved(value, 9));
        assert_eq!(table.lookup(0, 5), Some(Entry::solved(value, 9)));
        table.store(0, 5, Entry::solved(value, 2));
        assert_eq!(table.lookup(0, 5), Some(Entry::solved(value, 9)));
        assert_eq!(table.count(), (1, 1));
    }
}

#[test]
#[cfg_attr(miri, ignore = "too large for the interpreter")]
fn more_memory_than_available_is_an_error_with_the_size() {
    let bytes = 1 << 60;
    match Table::new(bytes) {
        Err(TableError::Memory { bytes: named, .. }) => assert_eq!(named, bytes),
        other => panic!("{other:?}"),
    }
}

/// One of the entries for `code` that the threads below store; `counter` selects phi. Delta and work follow
/// from code and phi, so a mixture of two stores is detected.
fn entry_of(code: u64, counter: u64) -> Entry {
    let phi = 1 + (counter % u64::from(MAX)) as u32;
    let bound = mix(code ^ u64::from(phi) << 32);
    let delta = 1 + (bound % u64::from(MAX)) as u32;
    open(phi, delta, bound >> 60)
}

fn value_of(code: u64) -> Value {
    if mix(!code) & 1 == 0 { Value::Win } else { Value::Loss }
}

fn is_valid(code: u64, entry: Entry) -> bool {
    match entry.value() {
        Some(value) => {
            let whole = Entry::solved(value, 0);
            value == value_of(code) && (entry.phi, entry.delta) == (whole.phi, whole.delta)
        }
        None => entry.phi < INFINITY && entry == entry_of(code, u64::from(entry.phi) - 1),
    }
}

#[test]
fn mixed_entries_are_detected() {
    let entry = entry_of(12, 34);
    assert!(is_valid(12, entry));
    assert!(!is_valid(13, entry));
    assert!(!is_valid(12, open(entry.phi, entry_of(12, 35).delta, entry.work)));
    assert!(is_valid(12, Entry::solved(value_of(12), 0)));
    assert!(!is_valid(12, Entry::solved(!value_of(12), 0)));
}

/// Number of operations between two reads of the clock.
const BATCH: u64 = if cfg!(miri) { 100 } else { 1024 };

/// Threads store and look up random codes until `time` has passed. If no cluster has more codes
/// than cells, no solved entry may be lost either. Returns the number of operations.
fn stress(threads: u64, clusters: usize, codes: u64, time: Duration) -> u64 {
    let table = table(clusters);
    let fits = codes <= (clusters * CLUSTER) as u64;
    // If all codes fit, they are distributed evenly to the clusters.
    let key = |code: u64| {
        if fits { key_of(code as usize % clusters, clusters) } else { mix(code) }
    };
    let solved: Vec<AtomicBool> = (0..codes).map(|_| AtomicBool::new(false)).collect();
    let operations = AtomicU64::new(0);
    let (filled, deadline) = (AtomicU64::new(0), Instant::now() + time);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (table, solved, operations, filled) = (&table, &solved, &operations, &filled);
            scope.spawn(move || {
                let mut random = mix(thread);
                let mut counter = 0;
                // At least one batch, even if a busy machine starts the thread late.
                while counter == 0 || counter % BATCH != 0 || Instant::now() < deadline {
                    random = mix(random);
                    counter += 1;
                    let code = (random >> 8) % codes;
                    // Read before the look-up. If it is true, the entry was stored before the look-up.
                    let was_solved = solved[code as usize].load(Ordering::Acquire);
                    if let Some(found) = table.lookup(key(code), code) {
                        assert!(is_valid(code, found), "{code}: {found:?}");
                        assert!(!fits || !was_solved || found.value().is_some());
                    } else {
                        assert!(!fits || !was_solved, "{code} was solved and is gone");
                    }
                    let stored = if random & 63 == 0 {
                        let entry = Entry::solved(value_of(code), (random >> 6) & 15);
                        let stored = table.store(key(code), code, entry);
                        solved[code as usize].store(true, Ordering::Release);
                        stored
                    } else if random & 3 != 0 {
                        table.store(key(code), code, entry_of(code, random >> 32))
                    } else {
                        continue;
                    };
                    assert!(!fits || stored != Stored::Replaced);
                    if stored == Stored::Filled {
                        filled.fetch_add(1, Ordering::Relaxed);
                    }
                }
                operations.fetch_add(counter, Ordering::Relaxed);
            });
        }
    });
    // The sum of the counts of the threads is the number of cells in use.
    assert_eq!(table.count().0, filled.into_inner());
    for code in 0..codes {
        if let Some(entry) = table.lookup(key(code), code) {
            assert!(is_valid(code, entry), "{code}: {entry:?}");
        }
    }
    operations.into_inner()
}

fn stress_all(time: Duration) {
    let sizes = [(1, 4), (1, 9), (2, 8), (4, 64), (64, 200), (64, 5000)];
    for threads in if cfg!(miri) { [2, 3] } else { [8, 16] } {
        for (clusters, codes) in sizes.into_iter().take(if cfg!(miri) { 3 } else { 6 }) {
            let operations = stress(threads, clusters, codes, time);
            assert!(operations >= threads * BATCH, "{operations} operations");
        }
    }
}

#[test]
fn many_threads_never_read_mixed_entries_or_lose_a_solved_position() {
    stress_all(Duration::from_millis(if cfg!(debug_assertions) { 60 } else { 250 }));
}

#[test]
#[cfg_attr(miri, ignore = "too large for the interpreter")]
fn growth_during_use_may_lose_entries_but_never_mixes_them() {
    for _ in 0..if cfg!(debug_assertions) { 5 } else { 50 } {
        let table = table(1 << 13);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let table = &table;
                scope.spawn(move || {
                    let mut random = mix(thread);
                    for step in 0..4000 {
                        random = mix(random);
                        let code = (random >> 8) % 3000;
                        if let Some(found) = table.lookup(mix(code), code) {
                            assert!(is_valid(code, found), "{code}: {found:?}");
                        }
                        let entry = if random & 7 == 0 {
                            Entry::solved(value_of(code), 3)
                        } else {
                            entry_of(code, random >> 32)
                        };
                        table.store(mix(code), code, entry);
                        // Two threads grow the table, sometimes at the same time.
                        if thread < 2 && step % 900 == 899 {
                            table.grow(1, mix);
                        }
                    }
                });
            }
        });
        // The next search without concurrent growth finds a valid table.
        for code in 0..3000 {
            table.store(mix(code), code, Entry::solved(value_of(code), 15));
            let found = table.lookup(mix(code), code);
            assert_eq!(found, Some(Entry::solved(value_of(code), 15)));
        }
    }
}

#[test]
#[ignore = "takes two minutes"]
fn many_threads_for_a_long_time() {
    stress_all(Duration::from_secs(10));
}
