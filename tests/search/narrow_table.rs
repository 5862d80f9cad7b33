//! Tables whose entries become narrow, against maps and under fire from many threads.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use konane::Value;
use konane::search::numbers::{INFINITY, MAX};
use konane::search::table::{CELL_BYTES, CLUSTER, Entry, InverseHash, LinearMap, Stored, Table};
use proptest::prelude::*;

use konane::search::testing::random::key as mix;

/// Keys of codes of some bits that tell the codes.
struct Keys {
    bits: u32,
    keys: LinearMap,
    codes: InverseHash,
}

impl Keys {
    /// The first in a row of random ones.
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

    /// For the longest codes that a table of so many clusters can take.
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
        let table = Table::with_codes(clusters * CLUSTER * CELL_BYTES, &self.codes).unwrap();
        while table.used_bytes() < table.bytes() {
            table.grow(1, |code| self.key(code));
        }
        table
    }

    fn narrow_table(&self, clusters: usize) -> Table {
        let table = self.table(clusters);
        table.grow(1, |code| self.key(code));
        table
    }
}

fn value_of(code: u64) -> Value {
    if mix(!code) & 1 == 0 { Value::Win } else { Value::Loss }
}

/// One of the entries of a code, which narrow places keep as they are: phi tells the rest.
fn entry_of(code: u64, counter: u64) -> Entry {
    let phi = 1 + (counter % 127) as u32;
    let rest = mix(code ^ u64::from(phi) << 32);
    Entry { phi, delta: 1 + (rest % 127) as u32, work: rest >> 62 }
}

fn is_sound(code: u64, entry: Entry) -> bool {
    match entry.value() {
        Some(value) => value == value_of(code),
        None => entry == entry_of(code, u64::from(entry.phi) - 1),
    }
}

/// Whether an entry may have become this one by rounding.
fn is_near(wide: Entry, narrow: Entry) -> bool {
    let number = |wide: u32, narrow: u32| {
        // Rounded up, but for the largest ones.
        let enough = narrow >= wide.min(INFINITY / 32 * 31);
        let most = wide + wide / if wide < 1 << 18 { 64 } else { 16 };
        enough && narrow <= most && (narrow == INFINITY) == (wide == INFINITY)
    };
    number(wide.phi, narrow.phi)
        && number(wide.delta, narrow.delta)
        && narrow.work <= wide.work
        && narrow.work >= (wide.work - wide.work / 3).min(49_152)
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

/// Sizes of tables, some of which begin with a part of their clusters.
fn sizes() -> impl Strategy<Value = usize> {
    let most = if cfg!(miri) { 8 } else { 3000 };
    prop_oneof![4usize..most.min(70), 4usize..most]
}

const CASES: u32 = if cfg!(miri) { 1 } else { 100 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// The growth that makes entries narrow rounds numbers, keeps every entry, and makes room for as
    /// many again.
    #[test]
    fn entries_become_narrow(
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
        // Nothing is left to grow.
        table.grow(1, |code| keys.key(code));
        prop_assert_eq!(table.count(), count);
    }

    /// Entries become narrow long before all the memory is in use, and no growth after that changes any.
    #[test]
    #[cfg_attr(miri, ignore = "too large for the interpreter")]
    fn narrow_entries_stay_as_they_are_when_the_table_doubles(
        clusters in 2048usize..9000,
        bits in 16u32..48,
        salt: u64,
        entries in prop::collection::vec(any_entry(), 1..300),
    ) {
        let keys = Keys::new(bits, salt);
        let table = Table::with_codes(clusters * CLUSTER * CELL_BYTES, &keys.codes).unwrap();
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

    /// Codes as long as they may be, three for every place: whatever is found is of the code that
    /// was asked for.
    #[test]
    fn no_position_is_taken_for_another(clusters in sizes(), salt: u64) {
        let keys = Keys::longest(clusters, salt);
        let table = keys.narrow_table(clusters);
        // Half of them are neighbours, of which keys differ in a few of the words.
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
        // More than ever fit into wide cells.
        prop_assert!(stored > table.capacity() * 9 / 10);
        for number in numbers {
            let asked = code(number);
            if let Some(found) = table.lookup(keys.key(asked), asked) {
                prop_assert!(is_sound(asked, found), "{}: {:?}", asked, found);
            }
            let asked = keys.code(!number);
            if !known.contains_key(&asked) {
                prop_assert_eq!(table.lookup(keys.key(asked), asked), None);
            }
        }
        let mut left = 0;
        table.retain(|code, entry| {
            assert!(known.contains_key(&code) && is_sound(code, entry));
            left += u64::from(code % 3 == 0);
            code % 3 == 0
        });
        prop_assert_eq!(table.count().0, left);
        for code in known.into_keys() {
            let found = table.lookup(keys.key(code), code);
            prop_assert!(found.is_none_or(|found| code % 3 == 0 && is_sound(code, found)));
        }
    }
}

/// Keys with more bits than cluster and place hold leave the table as it would be without.
#[test]
fn codes_that_are_too_long_keep_wide_cells() {
    for (clusters, bits, fits) in
        [(4, 40, true), (4, 41, false), (3, 30, false), (1 << 10, 49, false)]
    {
        let keys = Keys::new(bits, 5);
        let table = keys.narrow_table(clusters);
        let places = if fits { 2 } else { 1 } * (clusters * CLUSTER) as u64;
        assert_eq!(table.capacity(), places);
        let entry = Entry { phi: 12_345, delta: 1, work: 0 };
        table.store(keys.key(7), 7, entry);
        assert_eq!(table.lookup(keys.key(7), 7) == Some(entry), !fits);
    }
}

#[test]
fn many_threads_never_see_a_mixture_or_lose_a_solved_position() {
    let operations = if cfg!(miri) { 100 } else { 40_000 };
    for (clusters, codes) in [(4, 12), (4, 100), (64, 300), (64, 5000)] {
        let keys = Keys::longest(clusters, 1);
        let table = keys.narrow_table(clusters);
        let solved: Vec<AtomicBool> = (0..codes).map(|_| AtomicBool::new(false)).collect();
        let filled = AtomicU64::new(0);
        // A dozen in four clusters of eight: then nothing may get lost.
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
                        // Read before the look-up: then the entry has been in the table before it.
                        let was_solved = solved[number as usize].load(Ordering::Acquire);
                        let found = table.lookup(keys.key(code), code);
                        assert!(found.is_none_or(|found| is_sound(code, found)), "{found:?}");
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
