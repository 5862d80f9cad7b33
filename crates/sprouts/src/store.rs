//! The store of lands: each distinct canonical form has an id. Ids are dense from 0. A land keeps its id
//! until it is removed; then another land of the same shard may get the id.
//!
//! [`LandStore`] consists of [`LandShard`]s with [`Slot`]s, and of a [`LandEntry`] for each id, which
//! contains the land's [`LandFeatures`].
//!
//! # Protocol
//!
//! Lands are distributed over shards by their hash. A shard, protected by its lock, holds the packed bytes
//! and a hash table of ids. Everything else about a land is in its entry. Entries never move, so they are
//! read without a lock:
//!
//! * A thread that interns a land locks the shard and looks the land up. If it is new, the thread takes the
//!   next id, appends the bytes, writes the entry, and only then puts the id into the table. A thread that
//!   finds the id there has taken the same lock later, and therefore sees the entry.
//! * Other threads receive an id from a thread that has interned it. Any such transfer must order memory (a
//!   lock, or release and acquire), like the transfer of any other data. Therefore every thread that has an
//!   id sees all of its entry. Entries are nevertheless stored with release and loaded with acquire.
//! * An entry is valid only if [`LandStore::intern`] has returned its id in the current epoch, or in an
//!   earlier epoch if the land has been kept since then. Other entries may be empty or belong to another
//!   land.
//! * Lands are removed while a single thread uses the store. Threads that start later see the removals.
//! * The counters are statistics: they decide nothing except when memory is exhausted.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use pn_search::sums::chunks::Chunks;
use pn_search::sums::game::{Atom, AtomFeatures, GameFull, Keep, MAX_ATOM, Retained, Stop};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use xxhash_rust::xxh3::xxh3_64;

const SHARDS: usize = 256;

/// Stored data of a land.
#[derive(Debug, Default)]
struct LandEntry {
    /// Location of the bytes: `offset << 24 | length << 8 | shard`. For a free id: `next << 24`, where
    /// `next` is the next free id of the shard plus one.
    place: AtomicU64,
    /// `lives << 40 | phase << 32 | estimated options`.
    features: AtomicU64,
}

/// Cached features of a land.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LandFeatures {
    /// Lives must be below 2^24.
    pub features: AtomFeatures,
    /// Phase of the land for the forecast of Grundy numbers.
    pub phase: u8,
}

impl LandFeatures {
    fn pack(self) -> u64 {
        let AtomFeatures { lives, estimated_options } = self.features;
        u64::from(lives) << 40 | u64::from(self.phase) << 32 | u64::from(estimated_options)
    }

    fn unpack(packed: u64) -> LandFeatures {
        let features =
            AtomFeatures { lives: (packed >> 40) as u32, estimated_options: packed as u32 };
        LandFeatures { features, phase: (packed >> 32) as u8 }
    }
}

/// A slot of a hash table. The id is stored plus one; 0 marks an empty slot.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    tag: u32,
    id: u32,
}

#[derive(Debug, Default)]
struct LandShard {
    bytes: Vec<u8>,
    table: Vec<Slot>,
    used: usize,
    /// First free id plus one. The entry of each free id contains the next one.
    free: u64,
}

impl LandShard {
    fn memory(&self) -> u64 {
        (self.bytes.capacity() + self.table.len() * size_of::<Slot>()) as u64
    }
}

/// Lands and their ids, shared by threads.
#[derive(Debug)]
pub(super) struct LandStore {
    shards: Box<[Mutex<LandShard>]>,
    entries: Chunks<LandEntry>,
    /// Upper bound of the ids in use, exclusive.
    next: AtomicU32,
    /// Number of free ids below `next`.
    free: AtomicU32,
    epoch: AtomicU32,
    /// Memory of the shards in bytes.
    bytes: AtomicU64,
    max_bytes: u64,
}

impl LandStore {
    /// Creates a store that refuses new lands when it has reached `max_bytes`.
    pub(super) fn new(max_bytes: u64) -> LandStore {
        LandStore {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            entries: Chunks::default(),
            next: AtomicU32::new(0),
            free: AtomicU32::new(0),
            epoch: AtomicU32::new(0),
            bytes: AtomicU64::new((SHARDS * size_of::<Mutex<LandShard>>()) as u64),
            max_bytes,
        }
    }

    /// Returns the number of lands.
    pub(super) fn len(&self) -> u32 {
        let next = self.next.load(Ordering::Relaxed).min(MAX_ATOM + 1);
        next - self.free.load(Ordering::Relaxed)
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed) + self.entries.bytes()
    }

    /// Returns the id of a land, if the store contains it.
    pub(super) fn get(&self, land: &[u8]) -> Option<Atom> {
        let (number, tag) = shard_and_tag(land);
        let shard = self.shards[number].lock().unwrap_or_else(PoisonError::into_inner);
        self.find(&shard, tag, land)
    }

    /// Returns the id of a canonical land. `features` is called for new lands only.
    ///
    /// # Errors
    /// [`GameFull`] if the land is new and there is no memory or id for it.
    pub(super) fn intern(
        &self,
        land: &[u8],
        features: impl FnOnce() -> LandFeatures,
    ) -> Result<Atom, GameFull> {
        let (number, tag) = shard_and_tag(land);
        let mut shard = self.shards[number].lock().unwrap_or_else(PoisonError::into_inner);
        let shard = &mut *shard;
        if let Some(id) = self.find(shard, tag, land) {
            return Ok(id);
        }
        if shard.used * 4 >= shard.table.len() * 3 {
            self.grow(shard)?;
        }
        self.reserve_bytes(shard, land.len())?;
        let id = self.new_id(shard)?;
        let entry = self.entries.get_or_allocate(id);
        entry.features.store(features().pack(), Ordering::Release);
        let (offset, length) = (shard.bytes.len() as u64, land.len() as u64);
        entry.place.store(offset << 24 | length << 8 | number as u64, Ordering::Release);
        shard.bytes.extend_from_slice(land);
        insert(&mut shard.table, Slot { tag, id: id + 1 });
        shard.used += 1;
        Ok(id)
    }

    /// Returns a free id with memory for its entry.
    fn new_id(&self, shard: &mut LandShard) -> Result<Atom, GameFull> {
        if shard.free != 0 {
            let id = (shard.free - 1) as Atom;
            shard.free = self.entry(id).place.load(Ordering::Relaxed) >> 24;
            self.free.fetch_sub(1, Ordering::Relaxed);
            return Ok(id);
        }
        self.check_entry_space()?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        if id > MAX_ATOM {
            self.next.fetch_sub(1, Ordering::Relaxed);
            return Err(GameFull);
        }
        Ok(id)
    }

    /// Removes the lands that `keep` rejects; their ids are reused. No other thread may use the store
    /// meanwhile. Shards that have not been processed when `stop` returns true stay unchanged.
    pub(super) fn retain(&self, keep: &Keep<'_>, stop: &Stop<'_>) -> Retained {
        self.epoch.fetch_add(1, Ordering::Relaxed);
        let in_shard = |shard| self.retain_in(shard, keep, stop);
        let kept = self.shards.par_iter().map(in_shard).sum();
        let free = u64::from(self.next.load(Ordering::Relaxed)) - kept;
        let before = self.free.swap(free as u32, Ordering::Relaxed);
        Retained { kept, evicted: free - u64::from(before) }
    }

    /// Removes lands of a shard and releases memory. Returns the number of lands left.
    fn retain_in(&self, shard: &Mutex<LandShard>, keep: &Keep<'_>, stop: &Stop<'_>) -> u64 {
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let shard = &mut *shard;
        if stop() {
            return shard.used as u64;
        }
        let before = shard.memory();
        let mut kept: Vec<(u64, Slot)> = Vec::new();
        for slot in std::mem::take(&mut shard.table).into_iter().filter(|slot| slot.id != 0) {
            let place = &self.entry(slot.id - 1).place;
            if keep(slot.id - 1) {
                kept.push((place.load(Ordering::Relaxed), slot));
            } else {
                place.store(shard.free << 24, Ordering::Relaxed);
                shard.free = slot.id.into();
            }
        }
        // The bytes of the lands move towards the front. In the order of their offsets, no land overwrites
        // the bytes of a land that is still to be moved.
        kept.sort_unstable_by_key(|&(place, _)| place);
        shard.table = vec![Slot::default(); (kept.len() * 2).next_power_of_two().max(16)];
        shard.used = kept.len();
        let mut end = 0;
        for &(place, slot) in &kept {
            let (offset, length) = ((place >> 24) as usize, (place >> 8) as usize & 0xFFFF);
            shard.bytes.copy_within(offset..offset + length, end);
            let place = (end as u64) << 24 | place & 0xFF_FFFF;
            self.entry(slot.id - 1).place.store(place, Ordering::Release);
            insert(&mut shard.table, slot);
            end += length;
        }
        shard.bytes.truncate(end);
        shard.bytes.shrink_to_fit();
        self.bytes.fetch_sub(before, Ordering::Relaxed);
        self.bytes.fetch_add(shard.memory(), Ordering::Relaxed);
        kept.len() as u64
    }

    /// Returns a number that changes whenever lands are removed.
    pub(super) fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// Looks up a land in its shard.
    fn find(&self, shard: &LandShard, tag: u32, land: &[u8]) -> Option<Atom> {
        let mask = shard.table.len().checked_sub(1)?;
        let mut at = tag as usize & mask;
        while shard.table[at].id != 0 {
            let slot = shard.table[at];
            if slot.tag == tag && self.stored(shard, slot.id - 1) == land {
                return Some(slot.id - 1);
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// Copies the bytes of a land.
    ///
    /// # Panics
    /// As [`Self::with_bytes`].
    pub(super) fn read(&self, id: Atom, out: &mut Vec<u8>) {
        out.clear();
        self.with_bytes(id, |bytes| out.extend_from_slice(bytes));
    }

    /// Calls `read` with the bytes of a land. The land's shard is locked until `read` returns.
    ///
    /// # Panics
    /// If this store has not assigned the id; with debug assertions also if the id is free.
    pub(super) fn with_bytes<T>(&self, id: Atom, read: impl FnOnce(&[u8]) -> T) -> T {
        let (offset, length, number) = self.place(id);
        let shard = self.shards[number].lock().unwrap_or_else(PoisonError::into_inner);
        read(&shard.bytes[offset..offset + length])
    }

    /// Returns the features of a land. Takes no lock.
    ///
    /// # Panics
    /// If this store has not assigned the id.
    pub(super) fn features(&self, id: Atom) -> LandFeatures {
        LandFeatures::unpack(self.entry(id).features.load(Ordering::Acquire))
    }

    fn stored<'a>(&self, shard: &'a LandShard, id: Atom) -> &'a [u8] {
        let (offset, length, _) = self.place(id);
        &shard.bytes[offset..offset + length]
    }

    fn place(&self, id: Atom) -> (usize, usize, usize) {
        let place = self.entry(id).place.load(Ordering::Acquire);
        let length = (place >> 8) as usize & 0xFFFF;
        debug_assert!(length > 0, "no land has the id {id}");
        ((place >> 24) as usize, length, place as usize & 0xFF)
    }

    fn entry(&self, id: Atom) -> &LandEntry {
        self.entries.get(id).expect("this store has assigned the id")
    }

    fn count(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn check(&self, more: u64) -> Result<(), GameFull> {
        if self.bytes().saturating_add(more) > self.max_bytes { Err(GameFull) } else { Ok(()) }
    }

    /// Checks that there is memory for the next entry.
    fn check_entry_space(&self) -> Result<(), GameFull> {
        self.check(self.entries.bytes_to_allocate(self.next.load(Ordering::Relaxed).min(MAX_ATOM)))
    }

    /// Doubles a shard's table.
    fn grow(&self, shard: &mut LandShard) -> Result<(), GameFull> {
        let length = (shard.table.len() * 2).max(16);
        let more = (length - shard.table.len()) * size_of::<Slot>();
        self.check(more as u64)?;
        let mut table = vec![Slot::default(); length];
        for slot in shard.table.iter().filter(|slot| slot.id != 0) {
            insert(&mut table, *slot);
        }
        shard.table = table;
        self.count(more);
        Ok(())
    }

    /// Reserves memory for the bytes of a land.
    fn reserve_bytes(&self, shard: &mut LandShard, length: usize) -> Result<(), GameFull> {
        let (used, capacity) = (shard.bytes.len(), shard.bytes.capacity());
        if used + length <= capacity {
            return Ok(());
        }
        let more = (capacity / 2).max(256).max(length);
        self.check(more as u64)?;
        shard.bytes.reserve_exact(used + length + more - used);
        self.count(shard.bytes.capacity() - capacity);
        Ok(())
    }
}

/// Returns the number of a land's shard, and its tag in the shard's table, which consists of other bits of the hash.
fn shard_and_tag(land: &[u8]) -> (usize, u32) {
    let hash = xxh3_64(land);
    (hash as usize % SHARDS, (hash >> 32) as u32)
}

/// Inserts a slot into a hash table that has an empty slot.
fn insert(table: &mut [Slot], slot: Slot) {
    let mask = table.len() - 1;
    let mut at = slot.tag as usize & mask;
    while table[at].id != 0 {
        at = (at + 1) & mask;
    }
    table[at] = slot;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features_of(number: u32) -> LandFeatures {
        let features = AtomFeatures { lives: number, estimated_options: number * 2 };
        LandFeatures { features, phase: number as u8 }
    }

    #[test]
    fn ids_are_dense_and_kept() {
        let store = LandStore::new(u64::MAX);
        let lands: Vec<Vec<u8>> = (0..5000u32).map(|n| n.to_string().into_bytes()).collect();
        for (land, number) in lands.iter().zip(0..) {
            assert_eq!(store.get(land), None);
            assert_eq!(store.intern(land, || features_of(number)), Ok(number));
            assert_eq!(store.get(land), Some(number));
        }
        let mut bytes = Vec::new();
        for (land, number) in lands.iter().zip(0..) {
            assert_eq!(store.intern(land, || unreachable!()), Ok(number));
            store.read(number, &mut bytes);
            assert_eq!(&bytes, land);
            assert_eq!(store.features(number), features_of(number));
        }
        assert_eq!(store.len(), 5000);
    }

    #[test]
    fn threads_agree_about_ids() {
        let store = LandStore::new(u64::MAX);
        let intern_all = |step: u32| {
            let numbers = (0..3000u32).map(move |n| n * step % 3001);
            let intern = |n: u32| {
                let id = store.intern(&n.to_le_bytes(), || features_of(n)).unwrap();
                assert_eq!(store.features(id), features_of(n));
                (n, id)
            };
            let mut ids: Vec<(u32, Atom)> = numbers.map(intern).collect();
            ids.sort_unstable();
            ids
        };
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                [1, 2, 5, 7].map(|step| scope.spawn(move || intern_all(step))).into();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let ids: std::collections::HashMap<u32, Atom> = results.concat().into_iter().collect();
        for (n, id) in results.concat() {
            assert_eq!(ids[&n], id);
        }
        let mut given: Vec<Atom> = ids.into_values().collect();
        given.sort_unstable();
        assert_eq!(given, (0..store.len()).collect::<Vec<_>>());
    }

    /// Compares the store with a map, in rounds in which lands are removed and new ones are added.
    #[test]
    fn lands_are_removed_and_their_ids_reused() {
        let store = LandStore::new(u64::MAX);
        let text = |n: u32| n.to_string().repeat(n as usize % 5 + 1).into_bytes();
        let mut ids = std::collections::HashMap::new();
        let mut full = 0;
        for round in 0..6u32 {
            for n in 0..4000 {
                let n = round * 1500 + n;
                let id = store.intern(&text(n), || features_of(n)).unwrap();
                assert_eq!(*ids.entry(n).or_insert(id), id);
            }
            let distinct: std::collections::HashSet<Atom> = ids.values().copied().collect();
            assert_eq!((distinct.len(), store.len()), (ids.len(), ids.len() as u32));
            if round == 0 {
                full = store.bytes();
            }
            // At most 4600 of the 11 500 lands are in the store at a time.
            assert!(distinct.iter().all(|&id| id < 6000) && store.bytes() < full / 2 * 3);

            let kept = |n: u32| n % 7 == round % 7;
            let keep: std::collections::HashSet<Atom> =
                ids.iter().filter(|&(&n, _)| kept(n)).map(|(_, &id)| id).collect();
            let epoch = store.epoch();
            let Retained { kept: left, evicted } =
                store.retain(&|id| keep.contains(&id), &|| false);
            assert_eq!((left, evicted), (keep.len() as u64, (ids.len() - keep.len()) as u64));
            assert!(store.epoch() != epoch && store.bytes() < full / 4 * 3);
            ids.retain(|&n, _| kept(n));
            let mut bytes = Vec::new();
            for (&n, &id) in &ids {
                store.read(id, &mut bytes);
                assert_eq!((&bytes, store.features(id)), (&text(n), features_of(n)));
            }
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "no land has the id 7")]
    fn ids_of_removed_lands_are_not_read() {
        let store = LandStore::new(u64::MAX);
        for n in 0..20u32 {
            store.intern(&n.to_le_bytes(), || features_of(n)).unwrap();
        }
        store.retain(&|id| id != 7, &|| false);
        store.read(8, &mut Vec::new());
        store.read(7, &mut Vec::new());
    }

    #[test]
    fn memory_is_bounded() {
        let max = 1_000_000;
        let store = LandStore::new(max);
        let intern = |n: u64| store.intern(&n.to_le_bytes(), LandFeatures::default);
        let full = (0..1 << 20).find(|&n| intern(n).is_err()).expect("memory is limited");
        assert!(full > 5000, "{full}");
        assert!(store.bytes() <= max);
        // Lands in the store are still found.
        assert!((0..full).all(|n| intern(n) == Ok(n as Atom)));
    }

    #[test]
    fn a_stopped_removal_leaves_the_other_shards_unchanged() {
        let store = LandStore::new(u64::MAX);
        let ids: Vec<Atom> = (0..5000u32)
            .map(|n| store.intern(&n.to_le_bytes(), || features_of(n)).unwrap())
            .collect();
        let polled = AtomicU32::new(0);
        let stop = || polled.fetch_add(1, Ordering::Relaxed) >= SHARDS as u32 / 2;
        let Retained { kept, evicted } = store.retain(&|_| false, &stop);
        assert_eq!((kept + evicted, kept), (5000, store.len().into()));
        assert!(kept > 1000 && evicted > 1000, "{kept} {evicted}");
        // The remaining lands are unchanged, and removed ones can be added again.
        for (n, &id) in (0..).zip(&ids) {
            let again = store.intern(&u32::to_le_bytes(n), || features_of(n)).unwrap();
            assert_eq!(store.features(again), features_of(n));
            assert!(again < 5000 && (id == again || kept < 5000));
        }
        assert_eq!(store.len(), 5000);
    }
}
