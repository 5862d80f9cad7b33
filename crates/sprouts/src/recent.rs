//! [`Recent`]: a cache of recently used lands, in the form that the simplification returns.
//!
//! Related positions have similar children, and their lands are often identical already in this form. A hit
//! saves the computation of the canonical form.

use pn_search::sums::game::Atom;
use xxhash_rust::xxh3::xxh3_64;

/// Number of slots. The hash of a land determines its slot.
const PLACES: usize = 1 << 15;
/// Maximum length of a cached land in bytes.
const MAX_LENGTH: usize = 51;

/// A slot of the cache. It fills one cache line of the processor.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct RecentLand {
    hash: u64,
    atom: Atom,
    length: u8,
    land: [u8; MAX_LENGTH],
}

/// A direct-mapped cache. A new land replaces the one in its slot.
#[derive(Debug)]
pub(super) struct Recent {
    places: Box<[RecentLand]>,
}

/// An empty slot. It matches no land, because lands are never empty.
const EMPTY: RecentLand = RecentLand { hash: 0, atom: 0, length: 0, land: [0; MAX_LENGTH] };

impl Default for Recent {
    fn default() -> Recent {
        Recent { places: vec![EMPTY; PLACES].into_boxed_slice() }
    }
}

impl Recent {
    /// Returns the hash of a land, and its id if it is cached.
    pub(super) fn get(&self, land: &[u8]) -> (u64, Option<Atom>) {
        let hash = xxh3_64(land);
        let place = &self.places[hash as usize % PLACES];
        let same = place.hash == hash && &place.land[..usize::from(place.length)] == land;
        (hash, same.then_some(place.atom))
    }

    /// Removes all lands.
    pub(super) fn clear(&mut self) {
        self.places.fill(EMPTY);
    }

    /// Stores the id of a land.
    pub(super) fn put(&mut self, hash: u64, land: &[u8], atom: Atom) {
        if land.len() > MAX_LENGTH {
            return;
        }
        let place = &mut self.places[hash as usize % PLACES];
        place.hash = hash;
        place.atom = atom;
        place.length = land.len() as u8;
        place.land[..land.len()].copy_from_slice(land);
    }
}
