//! Tables with compact entries, compared with maps, and used by many threads.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use konane::Value;
use konane::search::numbers::{INFINITY, MAX};
use konane::search::table::{CELL_BYTES, CLUSTER, Entry, InverseHash, LinearMap, Stored, Table};
use proptest::prelude::*;

use konane::search::testing::random::key as mix;

/// Invertible keys of codes with a number of bits.
struct Keys {
    bits: u32,
    keys: LinearMap,
    codes: InverseHash,
}

impl Keys {
    /// The first invertible map in a sequence of random ones.
    fn new(bits: u32, salt: u64) -> Self {
        let words = |attempt: u64| {
            std::array::from_fn(|bit| mix(salt ^ attempt << 32 ^ (bit as u64) << 48))
        };
        let found = (0..).find_map(|attempt| {
            let words = words(attempt);
            InverseHash::new(u64::MAX >> (64 - bits), &words).map(|codes| (words, codes))
        });
        let (words, codes) = found.unwrap();
        Keys { bits, keys: LinearMap::new(&words), codes }
    }

    /// Keys of the longest codes that a table with this number of clusters supports.
    fn longest(clusters: usize, salt: u64) -> Self {
        Keys::new((clusters.ilog2() + 38).min(64), salt)
    }

    fn key(&self, code: u64) -> u64 {
        self.keys.apply(code)
    }

    /// A random code.
    fn code(&self, number: u64) -> u64 {
        mix(number) >> (64 - self.bits)
    }

    /// A table with all its memory in use.
    fn table(&self, clusters: usize) -> Table {
        let table = Table::with_inverse_hash(clusters * CLUSTER * CELL_BYTES, &self.codes).unwrap();
        while table.used_bytes() < table.bytes() {
            table.grow(1, |code| self.key(code));
        }
        table
    }

    fn compact_table(&self, clusters: usize) -> Table {
        let table = self.table(clusters);
        table.grow(1, |code| self.key(code));
        table
    }
}

fn value_of(code: u64) -> Value {
    if mix(!code) & 1 == 0 { Value::Win } else { Value::Loss }
}

/// One of 127 test entries for `code`; `counter` selects phi, which determines the other fields. Compact
/// entries store the numbers of these entries exactly.
fn entry_of(code: u64, counter: u64) -> Entry {
    let phi = 1 + (counter % 127) as u32;
    let rest = mix(code ^ u64::from(phi) << 32);
    Entry { phi, delta: 1 + (rest % 127) as u32, work: rest >> 62 }
}

fn is_valid(code: u64, entry: Entry) -> bool {
    match entry.value() {
        Some(value) => value == value_of(code),
        None => entry == entry_of(code, u64::from(entry.phi) - 1),
    }
}

/// Returns true if the compact entry may be the rounded full entry.
fn is_near(full: Entry, compact: Entry) -> bool {
    let number = |full: u32, compact: u32| {
        // Rounded up, except for the largest numbers.
        let enough = compact >= full.min(INFINITY / 32 * 31);
        let most = full + full / if full < 1 << 18 { 64 } else { 16 };
        enough && compact <= most && (compact == INFINITY) == (full == INFINITY)
    };
    number(full.phi, compact.phi)
        && number(full.delta, compact.delta)
        && compact.work <= full.work
        && compact.work >= (full.work - full.work / 3).min(49_152)
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let number = || prop_oneof![1..=MAX, 1..1u32 << 18];
    prop_oneof![
        3 => (number(), number(), 0u64..1 << 30)
            .prop_map(|(phi, delta, work)| Entry { phi, delta, work }),
        1 => (any::<bool>(), 0u64..1 << 30).prop_map(|(won, work)| {
            Entry::solved(if won { Value::Win } else { Value::Loss }, work)
        }),
    ]
}

/// Numbers of clusters. Tables with many clusters use only a part of them at first, and then grow.
fn sizes() -> impl Strategy<Value = usize> {
    let most = if cfg!(miri) { 8 } else { 3000 };
    prop_oneof![4usize..most.min(70), 4usize..most]
}

const CASES: u32 = if cfg!(miri) { 1 } else { 100 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// The growth that converts full entries to compact ones rounds numbers and preserves every entry. The capacity
    /// does not change: it counts compact entries from the start.
    #[test]
    fn entries_become_compact(
        clusters in sizes(),
        salt: u64,
        entries in prop::collection::vec(any_entry(), 1..300),
    ) {
        let keys = Keys::longest(clusters, salt);
        let table = keys.table(clusters);
        for (number, &entry) in (0..).zip(&entries) {
            let code = keys.code(salt ^ number);
            table.store(keys.key(code), code, entry);
        }
        let found = |number: u64| {
            let code = keys.code(salt ^ number);
            table.lookup(keys.key(code), code)
        };
        let before: Vec<_> = (0..entries.len() as u64).map(found).collect();
        let (count, capacity, bytes) = (table.count(), table.capacity(), table.bytes());
        prop_assert_eq!(capacity as usize * CELL_BYTES, 2 * bytes);
        prop_assert_eq!(table.wants_growth(count.0), count.0 * 20 > capacity * 3);
        table.grow(1, |code| keys.key(code));
        prop_assert_eq!((table.count(), table.capacity(), table.bytes()), (count, capacity, bytes));
        prop_assert!(!table.wants_growth(capacity));
        for (number, before) in (0..).zip(before) {
            let after = found(number);
            prop_assert_eq!(before.is_some(), after.is_some());
            if let (Some(before), Some(after)) = (before, after) {
                prop_assert!(is_near(before, after), "{:?} became {:?}", before, after);
            }
        }
        // The table cannot grow further.
        table.grow(1, |code| keys.key(code));
        prop_assert_eq!(table.count(), count);
    }

    /// Entries become compact long before all the memory is in use, and later growth does not change them.
    #[test]
    #[cfg_attr(miri, ignore = "too large for the interpreter")]
    fn doubling_the_table_does_not_change_compact_entries(
        clusters in 2048usize..9000,
        bits in 16u32..48,
        salt: u64,
        entries in prop::collection::vec(any_entry(), 1..300),
    ) {
        let keys = Keys::new(bits, salt);
        let table = Table::with_inverse_hash(clusters * CLUSTER * CELL_BYTES, &keys.codes).unwrap();
        let begin = table.used_bytes();
        let numbers = 0..table.capacity() / 2;
        let mut count = 0;
        let mut found = HashMap::new();
        for number in numbers.clone() {
            let code = keys.code(salt ^ number);
            let entry = entries[number as usize % entries.len()];
            count += u64::from(table.store(keys.key(code), code, entry) == Stored::Filled);
            if !table.wants_growth(count) {
                continue;
            }
            let rounds = table.used_bytes() == begin && found.is_empty();
            let all = (0..=number).map(|number| keys.code(salt ^ number));
            found = all.map(|code| (code, table.lookup(keys.key(code), code))).collect();
            table.grow(1, |code| keys.key(code));
            prop_assert_eq!(table.count().0, count);
            for (&code, &before) in &found {
                let after = table.lookup(keys.key(code), code);
                match (before, after) {
                    (Some(before), Some(after)) if rounds => prop_assert!(is_near(before, after)),
                    _ => prop_assert_eq!(before, after),
                }
            }
        }
        prop_assert!(table.used_bytes() > begin && !table.wants_growth(count));
        let stored: HashSet<u64> = numbers.clone().map(|number| keys.code(salt ^ number)).collect();
        let others = numbers.map(|number| keys.code(salt ^ !number));
        for code in others.filter(|code| !stored.contains(code)) {
            prop_assert_eq!(table.lookup(keys.key(code), code), None);
        }
    }

    /// Codes of the maximum length, three for every entry of the table: a look-up returns an entry of the right code.
    #[test]
    fn no_position_is_confused_with_another(clusters in sizes(), salt: u64) {
        let keys = Keys::longest(clusters, salt);
        let table = keys.compact_table(clusters);
        // Half of the codes differ in their low bits only, so their keys differ by the exclusive or of a few
        // random words.
        let code = |number: u64| match number % 2 {
            0 => keys.code(salt ^ number),
            _ => keys.code(salt) ^ number >> 1,
        };
        let numbers = 0..table.capacity() * 3;
        let (mut stored, mut known) = (0, HashMap::new());
        for number in numbers.clone() {
            let code = code(number);
            let entry = if number % 5 == 0 {
                Entry::solved(value_of(code), 1)
            } else {
                entry_of(code, number)
            };
            stored += u64::from(table.store(keys.key(code), code, entry) == Stored::Filled);
            known.insert(code, entry);
        }
        prop_assert_eq!(table.count().0, stored);
        // More than the capacity for full entries.
        prop_assert!(stored > table.capacity() * 9 / 10);
        for number in numbers {
            let asked = code(number);
            if let Some(found) = table.lookup(keys.key(asked), asked) {
                prop_assert!(is_valid(asked, found), "{}: {:?}", asked, found);
            }
            let asked = keys.code(!number);
            if !known.contains_key(&asked) {
                prop_assert_eq!(table.lookup(keys.key(asked), asked), None);
            }
        }
        let mut left = 0;
        table.retain(|code, entry| {
            assert!(known.contains_key(&code) && is_valid(code, entry));
            left += u64::from(code % 3 == 0);
            code % 3 == 0
        });
        prop_assert_eq!(table.count().0, left);
        for code in known.into_keys() {
            let found = table.lookup(keys.key(code), code);
            prop_assert!(found.is_none_or(|found| code % 3 == 0 && is_valid(code, found)));
        }
    }
}

/// If codes have more bits than a compact entry and its place in the table can determine, all entries are full.
#[test]
fn codes_that_are_too_long_have_full_entries() {
    for (clusters, bits, fits) in
        [(4, 40, true), (4, 41, false), (3, 30, false), (1 << 10, 49, false)]
    {
        let keys = Keys::new(bits, 5);
        let table = keys.compact_table(clusters);
        let places = if fits { 2 } else { 1 } * (clusters * CLUSTER) as u64;
        assert_eq!(table.capacity(), places);
        let entry = Entry { phi: 12_345, delta: 1, work: 0 };
        table.store(keys.key(7), 7, entry);
        assert_eq!(table.lookup(keys.key(7), 7) == Some(entry), !fits);
    }
}

#[test]
fn many_threads_never_read_mixed_entries_or_lose_a_solved_position() {
    let operations = if cfg!(miri) { 100 } else { 40_000 };
    for (clusters, codes) in [(4, 12), (4, 100), (64, 300), (64, 5000)] {
        let keys = Keys::longest(clusters, 1);
        let table = keys.compact_table(clusters);
        let solved: Vec<AtomicBool> = (0..codes).map(|_| AtomicBool::new(false)).collect();
        let filled = AtomicU64::new(0);
        // A dozen codes in four clusters of eight places: then no entry may be lost.
        let fits = codes == 12;
        std::thread::scope(|scope| {
            for thread in 0..if cfg!(miri) { 2 } else { 8 } {
                let (keys, table, solved, filled) = (&keys, &table, &solved, &filled);
                scope.spawn(move || {
                    let mut random = mix(thread);
                    for _ in 0..operations {
                        random = mix(random);
                        let number = (random >> 8) % codes;
                        let code = keys.code(number);
                        // Read before the look-up. If it is true, the entry was stored before the look-up.
                        let was_solved = solved[number as usize].load(Ordering::Acquire);
                        let found = table.lookup(keys.key(code), code);
                        assert!(found.is_none_or(|found| is_valid(code, found)), "{found:?}");
                        let has_value = found.is_some_and(|found| found.value().is_some());
                        assert!(!fits || !was_solved || has_value, "{code} was solved");
                        let wins = random & 31 == 0;
                        let entry = match wins {
                            true => Entry::solved(value_of(code), random >> 6 & 3),
                            false => entry_of(code, random >> 32),
                        };
                        let stored = table.store(keys.key(code), code, entry);
                        assert!(!fits || stored != Stored::Replaced);
                        filled.fetch_add(u64::from(stored == Stored::Filled), Ordering::Relaxed);
                        if wins {
                            solved[number as usize].store(true, Ordering::Release);
                        }
                    }
                });
            }
        });
        assert_eq!(table.count().0, filled.into_inner());
    }
}
