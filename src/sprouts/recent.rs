//! The lands that have been looked up last, as they came from the moves: children of related
//! positions are alike, and often the same before anything is sorted.

use crate::search::sums::game::Atom;
use xxhash_rust::xxh3::xxh3_64;

/// Places; each land has one place where it can be.
const PLACES: usize = 1 << 15;
/// Longer lands are not kept.
const MAX_LENGTH: usize = 51;

/// A cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct RecentLand {
    hash: u64,
    atom: Atom,
    length: u8,
    land: [u8; MAX_LENGTH],
}

/// A table that forgets: a land takes the place of the one that was there.
#[derive(Debug)]
pub(super) struct Recent {
    places: Box<[RecentLand]>,
}

/// Lands are never empty, so this matches nothing.
const EMPTY: RecentLand = RecentLand { hash: 0, atom: 0, length: 0, land: [0; MAX_LENGTH] };

impl Default for Recent {
    fn default() -> Recent {
        Recent { places: vec![EMPTY; PLACES].into_boxed_slice() }
    }
}

impl Recent {
    /// The hash of a land, and its id if it is here.
    pub(super) fn get(&self, land: &[u8]) -> (u64, Option<Atom>) {
        let hash = xxh3_64(land);
        let place = &self.places[hash as usize % PLACES];
        let same = place.hash == hash && &place.land[..usize::from(place.length)] == land;
        (hash, same.then_some(place.atom))
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.places.fill(EMPTY);
    }

    /// Keeps the id of a land.
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
