//! Lands by number: each distinct canonical form gets an id, dense from 0, and keeps it until it is
//! evicted; then another land of the same shard gets the id.
//!
//! # Protocol
//!
//! Lands are spread over shards by their hash. A shard, under its lock, holds the packed bytes and a
//! hash table of ids. Everything else about a land is in its entry, which never moves, so that entries
//! are read without a lock:
//!
//! * Who interns a land locks its shard, looks it up, and if it is new takes the next id, appends the
//!   bytes, writes the entry, and only then puts the id into the table. Whoever finds the id there
//!   has taken the same lock later, and so sees the entry.
//! * Other threads get an id from a thread that has interned it; however that happens, it has to
//!   order memory (a lock, or release and acquire), as it has to for anything else that is handed
//!   over. So whoever has an id sees all of its entry; entries are stored with release and loaded with
//!   acquire all the same.
//! * An entry means nothing unless its id came from [`Store::intern`] in the present epoch, or is of a
//!   land that was kept since then. Of others it may be empty, or another land's.
//! * Lands are evicted while one thread alone uses the store. Threads that begin later see that.
//! * The counters are only added to; nothing is decided by them but when to stop.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::search::sums::chunks::Chunks;
use crate::search::sums::game::{Atom, AtomFeatures, GameFull, Keep, MAX_ATOM, Retained, Stop};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use xxhash_rust::xxh3::xxh3_64;

const SHARDS: usize = 256;

/// What is known of a land.
#[derive(Debug, Default)]
struct Entry {
    /// Where the bytes are: `offset << 24 | length << 8 | shard`. Of an id that no land has: `next << 24`,
    /// with the next such id of the shard plus one.
    place: AtomicU64,
    /// `lives << 40 | phase << 32 | estimated options`.
    look: AtomicU64,
}

/// What a look at a land says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// Lives are below 2^24.
    pub features: AtomFeatures,
    /// As the forecast has it.
    pub phase: u8,
}

impl Look {
    fn pack(self) -> u64 {
        let AtomFeatures { lives, estimated_options } = self.features;
        u64::from(lives) << 40 | u64::from(self.phase) << 32 | u64::from(estimated_options)
    }

    fn unpack(packed: u64) -> Look {
        let features =
            AtomFeatures { lives: (packed >> 40) as u32, estimated_options: packed as u32 };
        Look { features, phase: (packed >> 32) as u8 }
    }
}

/// A place of a hash table; the id is stored plus one, 0 is free.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    tag: u32,
    id: u32,
}

#[derive(Debug, Default)]
struct Shard {
    bytes: Vec<u8>,
    table: Vec<Slot>,
    used: usize,
    /// The first id that may be given out again, plus one; its entry has the next, and so on.
    free: u64,
}

impl Shard {
    fn memory(&self) -> u64 {
        (self.bytes.capacity() + self.table.len() * size_of::<Slot>()) as u64
    }
}

/// Lands and their ids, shared by threads.
#[derive(Debug)]
pub(super) struct Store {
    shards: Box<[Mutex<Shard>]>,
    entries: Chunks<Entry>,
    /// Ids below this have been given out.
    next: AtomicU32,
    /// How many of these no land has.
    free: AtomicU32,
    epoch: AtomicU32,
    /// Bytes of the shards.
    bytes: AtomicU64,
    most_bytes: u64,
}

impl Store {
    /// A store that refuses new lands when it has grown to `most_bytes`.
    pub(super) fn new(most_bytes: u64) -> Store {
        Store {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            entries: Chunks::default(),
            next: AtomicU32::new(0),
            free: AtomicU32::new(0),
            epoch: AtomicU32::new(0),
            bytes: AtomicU64::new((SHARDS * size_of::<Mutex<Shard>>()) as u64),
            most_bytes,
        }
    }

    /// Number of lands.
    pub(super) fn len(&self) -> u32 {
        let next = self.next.load(Ordering::Relaxed).min(MAX_ATOM + 1);
        next - self.free.load(Ordering::Relaxed)
    }

    /// Bytes taken.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed) + self.entries.bytes()
    }

    /// The id of a canonical land; `look` is asked about new ones.
    ///
    /// # Errors
    /// [`GameFull`] if the land is new and there is no memory or id for it.
    pub(super) fn intern(
        &self,
        land: &[u8],
        look: impl FnOnce() -> Look,
    ) -> Result<Atom, GameFull> {
        let hash = xxh3_64(land);
        let number = hash as usize % SHARDS;
        let tag = (hash >> 32) as u32;
        let mut shard = self.shards[number].lock().unwrap_or_else(PoisonError::into_inner);
        let shard = &mut *shard;
        if let Some(id) = self.find(shard, tag, land) {
            return Ok(id);
        }
        if shard.used * 4 >= shard.table.len() * 3 {
            self.grow(shard)?;
        }
        self.room_for_bytes(shard, land.len())?;
        let id = self.new_id(shard)?;
        let entry = self.entries.get_or_allocate(id);
        entry.look.store(look().pack(), Ordering::Release);
        let (offset, length) = (shard.bytes.len() as u64, land.len() as u64);
        entry.place.store(offset << 24 | length << 8 | number as u64, Ordering::Release);
        shard.bytes.extend_from_slice(land);
        insert(&mut shard.table, Slot { tag, id: id + 1 });
        shard.used += 1;
        Ok(id)
    }

    /// An id that no land has, and memory for its entry.
    fn new_id(&self, shard: &mut Shard) -> Result<Atom, GameFull> {
        if shard.free != 0 {
            let id = (shard.free - 1) as Atom;
            shard.free = self.entry(id).place.load(Ordering::Relaxed) >> 24;
            self.free.fetch_sub(1, Ordering::Relaxed);
            return Ok(id);
        }
        self.room_for_entry()?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        if id > MAX_ATOM {
            self.next.fetch_sub(1, Ordering::Relaxed);
            return Err(GameFull);
        }
        Ok(id)
    }

    /// Forgets lands, whose ids are given out again. Nobody else may use the store meanwhile.
    /// Shards that have not been looked at when `stop` says so stay as they are.
    pub(super) fn retain(&self, keep: &Keep<'_>, stop: &Stop<'_>) -> Retained {
        self.epoch.fetch_add(1, Ordering::Relaxed);
        let in_shard = |shard| self.retain_in(shard, keep, stop);
        let kept = self.shards.par_iter().map(in_shard).sum();
        let free = u64::from(self.next.load(Ordering::Relaxed)) - kept;
        let before = self.free.swap(free as u32, Ordering::Relaxed);
        Retained { kept, evicted: free - u64::from(before) }
    }

    /// Forgets lands of a shard and gives memory back. Returns how many it has left.
    fn retain_in(&self, shard: &Mutex<Shard>, keep: &Keep<'_>, stop: &Stop<'_>) -> u64 {
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
        // In the order of their bytes, which slide towards the front.
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

    /// Changes whenever ids are given to other lands.
    pub(super) fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// Looks a land up in its shard. The tag's bits are not those that chose the shard.
    fn find(&self, shard: &Shard, tag: u32, land: &[u8]) -> Option<Atom> {
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

    /// The bytes of a land.
    ///
    /// # Panics
    /// If the id was not given out by this store; with debug assertions also if no land has it now.
    pub(super) fn read(&self, id: Atom, out: &mut Vec<u8>) {
        let (offset, length, number) = self.place(id);
        let shard = self.shards[number].lock().unwrap_or_else(PoisonError::into_inner);
        out.clear();
        out.extend_from_slice(&shard.bytes[offset..offset + length]);
    }

    /// What was said of a land when it was new. Takes no lock.
    ///
    /// # Panics
    /// If the id was not given out by this store.
    pub(super) fn look(&self, id: Atom) -> Look {
        Look::unpack(self.entry(id).look.load(Ordering::Acquire))
    }

    fn stored<'a>(&self, shard: &'a Shard, id: Atom) -> &'a [u8] {
        let (offset, length, _) = self.place(id);
        &shard.bytes[offset..offset + length]
    }

    fn place(&self, id: Atom) -> (usize, usize, usize) {
        let place = self.entry(id).place.load(Ordering::Acquire);
        let length = (place >> 8) as usize & 0xFFFF;
        debug_assert!(length > 0, "no land has the id {id}");
        ((place >> 24) as usize, length, place as usize & 0xFF)
    }

    fn entry(&self, id: Atom) -> &Entry {
        self.entries.get(id).expect("the id was given out by this store")
    }

    fn count(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn check(&self, more: u64) -> Result<(), GameFull> {
        if self.bytes().saturating_add(more) > self.most_bytes { Err(GameFull) } else { Ok(()) }
    }

    /// Checks that there is memory for the next entry.
    fn room_for_entry(&self) -> Result<(), GameFull> {
        self.check(self.entries.bytes_to_allocate(self.next.load(Ordering::Relaxed).min(MAX_ATOM)))
    }

    /// Doubles a shard's table.
    fn grow(&self, shard: &mut Shard) -> Result<(), GameFull> {
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

    /// Makes room for a land's bytes.
    fn room_for_bytes(&self, shard: &mut Shard, length: usize) -> Result<(), GameFull> {
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

/// Puts a slot into a hash table that has a free place.
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

    fn look_of(number: u32) -> Look {
        let features = AtomFeatures { lives: number, estimated_options: number * 2 };
        Look { features, phase: number as u8 }
    }

    #[test]
    fn ids_are_dense_and_kept() {
        let store = Store::new(u64::MAX);
        let lands: Vec<Vec<u8>> = (0..5000u32).map(|n| n.to_string().into_bytes()).collect();
        for (land, number) in lands.iter().zip(0..) {
            assert_eq!(store.intern(land, || look_of(number)), Ok(number));
        }
        let mut bytes = Vec::new();
        for (land, number) in lands.iter().zip(0..) {
            assert_eq!(store.intern(land, || unreachable!()), Ok(number));
            store.read(number, &mut bytes);
            assert_eq!(&bytes, land);
            assert_eq!(store.look(number), look_of(number));
        }
        assert_eq!(store.len(), 5000);
    }

    #[test]
    fn threads_agree_about_ids() {
        let store = Store::new(u64::MAX);
        let intern_all = |step: u32| {
            let numbers = (0..3000u32).map(move |n| n * step % 3001);
            let intern = |n: u32| {
                let id = store.intern(&n.to_le_bytes(), || look_of(n)).unwrap();
                assert_eq!(store.look(id), look_of(n));
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

    /// Against a map, through rounds in which other lands are forgotten and new ones come.
    #[test]
    fn lands_are_forgotten_and_their_ids_given_out_again() {
        let store = Store::new(u64::MAX);
        let text = |n: u32| n.to_string().repeat(n as usize % 5 + 1).into_bytes();
        let mut ids = std::collections::HashMap::new();
        let mut full = 0;
        for round in 0..6u32 {
            for n in 0..4000 {
                let n = round * 1500 + n;
                let id = store.intern(&text(n), || look_of(n)).unwrap();
                assert_eq!(*ids.entry(n).or_insert(id), id);
            }
            let distinct: std::collections::HashSet<Atom> = ids.values().copied().collect();
            assert_eq!((distinct.len(), store.len()), (ids.len(), ids.len() as u32));
            if round == 0 {
                full = store.bytes();
            }
            // Of the 11 500 lands no more than 4600 are there at a time.
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
                assert_eq!((&bytes, store.look(id)), (&text(n), look_of(n)));
            }
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "no land has the id 7")]
    fn ids_of_forgotten_lands_are_not_read() {
        let store = Store::new(u64::MAX);
        for n in 0..20u32 {
            store.intern(&n.to_le_bytes(), || look_of(n)).unwrap();
        }
        store.retain(&|id| id != 7, &|| false);
        store.read(8, &mut Vec::new());
        store.read(7, &mut Vec::new());
    }

    #[test]
    fn memory_is_bounded() {
        let most = 1_000_000;
        let store = Store::new(most);
        let intern = |n: u64| store.intern(&n.to_le_bytes(), Look::default);
        let full = (0..1 << 20).find(|&n| intern(n).is_err()).expect("memory is limited");
        assert!(full > 5000, "{full}");
        assert!(store.bytes() <= most);
        // What is known is still found, everything of it.
        assert!((0..full).all(|n| intern(n) == Ok(n as Atom)));
    }

    #[test]
    fn who_is_told_to_stop_forgets_nothing_more() {
        let store = Store::new(u64::MAX);
        let ids: Vec<Atom> =
            (0..5000u32).map(|n| store.intern(&n.to_le_bytes(), || look_of(n)).unwrap()).collect();
        let asked = AtomicU32::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= SHARDS as u32 / 2;
        let Retained { kept, evicted } = store.retain(&|_| false, &stop);
        assert_eq!((kept + evicted, kept), (5000, store.len().into()));
        assert!(kept > 1000 && evicted > 1000, "{kept} {evicted}");
        // What is left is what it was, and what went comes again.
        for (n, &id) in (0..).zip(&ids) {
            let again = store.intern(&u32::to_le_bytes(n), || look_of(n)).unwrap();
            assert_eq!(store.look(again), look_of(n));
            assert!(again < 5000 && (id == again || kept < 5000));
        }
        assert_eq!(store.len(), 5000);
    }
}
