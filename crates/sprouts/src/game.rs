//! Sprouts as an impartial game whose atoms are lands.
//!
//! [`Sprouts`] is the game with its store of lands, [`Scratch`] the working memory of a thread with
//! [`ScratchCounters`], and `Interner` turns positions into ids.

use std::fmt::Write;

use pn_search::sums::Named;
use pn_search::sums::game::{
    Atom, AtomFeatures, GameFull, Impartial, Keep, Odds, OptionList, Retained, Stop,
};

use super::canonical::Canoniser;
use super::error::MovesError;
use super::flat::Region;
use super::flat::{Flat, LandReader, ONE};
use super::forecast;
use super::moves::Mover;
use super::names::write_land;
use super::notation::MAX_CANONICAL_VERTICES;
use super::option_set::OptionSet;
use super::position::Position;
use super::recent::Recent;
use super::simplify::Simplifier;
use super::spelling::spell;
use super::spots_spelling::spellings;
use super::store::{LandFeatures, LandStore};

/// The game, with all lands that have occurred, in canonical form with their ids. Shared by threads.
#[derive(Debug)]
pub struct Sprouts {
    store: LandStore,
}

/// Working memory of a thread, about 2 MB. It is kept between calls, so that only the first few calls
/// allocate memory. It must be used with one [`Sprouts`] only.
#[derive(Debug, Default)]
pub struct Scratch {
    mover: Mover,
    interner: Interner,
    land: Vec<u8>,
    found: OptionSet,
    received: LandReader,
}

/// Counters of the work done with a [`Scratch`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScratchCounters {
    /// Children before the removal of duplicates.
    pub raw_children: u64,
    /// Lands found in raw children and in positions.
    pub lands: u64,
    /// Lands that had to be brought into canonical form.
    pub canonised: u64,
}

impl Scratch {
    /// Returns the counters.
    pub fn counters(&self) -> ScratchCounters {
        self.interner.counters
    }
}

/// Turns positions into ids of lands.
#[derive(Debug, Default)]
struct Interner {
    simplifier: Simplifier,
    canoniser: Canoniser,
    recent: Recent,
    sum: Vec<Atom>,
    /// Epoch of the store in which the ids in `recent` are valid.
    epoch: u32,
    counters: ScratchCounters,
}

impl Interner {
    /// Clears the recent lands if the store has removed lands.
    fn clear_if_stale(&mut self, store: &LandStore) {
        if self.epoch != store.epoch() {
            self.epoch = store.epoch();
            self.recent.clear();
        }
    }

    /// Removes the `dead` letters from a position, simplifies it, and puts the sorted ids of its lands into
    /// `sum`.
    fn run(&mut self, store: &LandStore, raw: &Flat, dead: [u16; 2]) -> Result<(), GameFull> {
        self.simplifier.run(raw, dead);
        self.sum.clear();
        for land in self.simplifier.lands() {
            self.counters.lands += 1;
            let (key, known) = self.recent.get(land);
            let atom = match known {
                Some(atom) => atom,
                None => {
                    self.counters.canonised += 1;
                    let (canonical, flat) = self.canoniser.run(land);
                    // `flat` is the land before the canonical form. Its features are the same, because
                    // they do not depend on how a land is written.
                    let atom = store.intern(canonical, || land_features(flat))?;
                    self.recent.put(key, land, atom);
                    atom
                }
            };
            self.sum.push(atom);
        }
        self.sum.sort_unstable();
        Ok(())
    }
}

fn land_features(flat: &Flat) -> LandFeatures {
    LandFeatures { features: features(flat), phase: forecast::phase(flat) }
}

/// Returns the number of lives and an estimate of the number of moves. The estimate counts the pairs of
/// vertices in each region. A pair within a boundary counts as often as there are ways to divide the other
/// boundaries between the two sides of the curve.
fn features(flat: &Flat) -> AtomFeatures {
    let mut estimate = 0u64;
    for (number, region) in flat.regions.iter().enumerate() {
        let boundaries = flat.boundaries(number);
        let isolated = u64::from(region.isolated);
        let others = (boundaries.len() as u32).saturating_sub(1);
        // Isolated spots are equivalent: only the number of them on each side matters.
        let ways = (isolated + 1).saturating_mul(1u64.checked_shl(others).unwrap_or(u64::MAX));
        let mut seen = 0u64;
        for boundary in boundaries {
            let tokens = &flat.tokens[flat.span(boundary)];
            let length = tokens.len() as u64;
            let loops = tokens.iter().filter(|&&token| token == ONE).count() as u64;
            let within = length * (length - 1) / 2 + loops;
            estimate = estimate.saturating_add(within.saturating_mul(ways));
            estimate = estimate.saturating_add(length * (seen + isolated.min(1)));
            seen += length;
        }
        if isolated > 0 {
            let loops = isolated.saturating_mul(1u64.checked_shl(others).unwrap_or(u64::MAX));
            estimate = estimate.saturating_add(loops).saturating_add(u64::from(isolated > 1));
        }
    }
    let estimated_options = u32::try_from(estimate).unwrap_or(u32::MAX);
    AtomFeatures { lives: flat.lives(), estimated_options }
}

impl Sprouts {
    /// Creates a game without lands. When the tables of lands have reached `max_bytes`, new lands are
    /// refused with [`GameFull`].
    pub fn new(max_bytes: u64) -> Sprouts {
        Sprouts { store: LandStore::new(max_bytes) }
    }

    /// Simplifies a position and splits it into lands. The atoms are sorted.
    ///
    /// # Errors
    /// [`GameFull`] if there is no memory for a new land.
    pub fn atoms(&self, position: &Position, scratch: &mut Scratch) -> Result<Vec<Atom>, GameFull> {
        let mut sum = Vec::new();
        scratch.interner.clear_if_stale(&self.store);
        for land in position.lands() {
            scratch.interner.run(&self.store, &Flat::of_land(land), [0; 2])?;
            sum.extend_from_slice(&scratch.interner.sum);
        }
        sum.sort_unstable();
        Ok(sum)
    }

    /// Returns the canonical text of a land. Equal texts mean equal lands.
    ///
    /// # Panics
    /// If this game has not assigned the id.
    pub fn land_text(&self, atom: Atom) -> String {
        let mut regions = self.regions(atom);
        spell(&mut regions);
        let mut text = String::new();
        write_land(&mut text, &regions).expect("strings take any text");
        text
    }

    /// Returns the texts that SPOTS may use as keys of a land, sorted. There are several if the text that
    /// SPOTS writes depends on the moves that led to the land. Takes about 5 µs for most lands, and a hundred
    /// times as long for a land with several texts.
    ///
    /// # Panics
    /// If this game has not assigned the id.
    pub fn spots_texts(&self, atom: Atom) -> Vec<String> {
        spellings(self.regions(atom)).into_iter().collect()
    }

    fn regions(&self, atom: Atom) -> Vec<Region> {
        let mut flat = Flat::default();
        self.store.with_bytes(atom, |packed| flat.unpack(packed));
        (0..flat.regions.len()).map(|region| flat.spots(region)).collect()
    }

    /// Returns the canonical text of a sum of lands: the sorted texts of the lands, each as often as the land
    /// occurs, or `!` for an empty sum.
    ///
    /// # Panics
    /// If this game has not assigned one of the ids.
    pub fn text(&self, sum: &[Atom]) -> String {
        let mut lands: Vec<String> = sum.iter().map(|&atom| self.land_text(atom)).collect();
        lands.sort_unstable();
        let mut text = String::new();
        for (number, land) in lands.iter().enumerate() {
            let plus = if number > 0 { "+" } else { "" };
            write!(text, "{plus}{land}").expect("strings take any text");
        }
        if text.is_empty() { "!".into() } else { text }
    }

    /// Returns the children of a sum of lands, sorted and without duplicates. In each child, one land is
    /// replaced by the lands after a move. Pairs of equal lands are kept, although they cancel each other.
    ///
    /// # Errors
    /// [`MovesError::Full`] if there is no memory for a new land or `stop`, which is polled, returns true;
    /// [`MovesError::TooMany`] if a land has too many moves, which takes half a minute to find out.
    ///
    /// # Panics
    /// If this game has not assigned one of the ids.
    pub fn children(
        &self,
        sum: &[Atom],
        scratch: &mut Scratch,
        stop: &Stop<'_>,
    ) -> Result<Vec<Vec<Atom>>, MovesError> {
        let mut children = Vec::new();
        let mut options = OptionList::with_stop(stop);
        for (place, &atom) in sum.iter().enumerate() {
            // Equal lands have equal options.
            if sum[..place].contains(&atom) {
                continue;
            }
            options.clear();
            self.options(atom, scratch, &mut options).map_err(|full| {
                let too_many = scratch.mover.has_too_many_moves();
                if too_many { MovesError::TooMany } else { full.into() }
            })?;
            for option in options.iter() {
                let mut child = [&sum[..place], &sum[place + 1..], option].concat();
                child.sort_unstable();
                children.push(child);
            }
        }
        children.sort_unstable();
        children.dedup();
        Ok(children)
    }

    /// Returns the number of lands in the store.
    pub fn lands(&self) -> u32 {
        self.store.len()
    }

    /// Returns a number that changes whenever lands are removed. After a change, earlier ids are invalid,
    /// except those of lands that were kept.
    pub(super) fn epoch(&self) -> u32 {
        self.store.epoch()
    }
}

impl Impartial for Sprouts {
    type Scratch = Scratch;

    fn options(
        &self,
        atom: Atom,
        scratch: &mut Scratch,
        options: &mut OptionList<'_>,
    ) -> Result<(), GameFull> {
        let Scratch { mover, interner, land, found, .. } = scratch;
        self.store.read(atom, land);
        interner.clear_if_stale(&self.store);
        found.clear();
        mover.run(land, options.subset(), |raw, dead| {
            interner.counters.raw_children += 1;
            options.poll()?;
            interner.run(&self.store, raw, dead)?;
            if found.insert(&interner.sum) {
                options.push(&interner.sum);
            }
            Ok(())
        })
    }

    fn features(&self, atom: Atom) -> AtomFeatures {
        self.store.features(atom).features
    }

    fn odds(&self, atom: Atom) -> Option<&Odds> {
        let LandFeatures { features, phase } = self.store.features(atom);
        forecast::odds(features.lives, phase)
    }

    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn retain(&self, keep: &Keep<'_>, stop: &Stop<'_>) -> Retained {
        self.store.retain(keep, stop)
    }
}

/// The name of a land is its packed canonical form. [`Named::find`] takes the bytes as they are. If they are a land, but
/// not in canonical form, it returns a land that occurs in no position.
impl Named for Sprouts {
    fn append_name(&self, atom: Atom, name: &mut Vec<u8>) {
        self.store.with_bytes(atom, |packed| name.extend_from_slice(packed));
    }

    fn find(&self, name: &[u8], scratch: &mut Scratch) -> Result<Option<Atom>, GameFull> {
        if let Some(land) = self.store.get(name) {
            return Ok(Some(land));
        }
        let Some(flat) = scratch.received.read(name, MAX_CANONICAL_VERTICES) else {
            return Ok(None);
        };
        self.store.intern(name, || land_features(flat)).map(Some)
    }

    fn atom_text(&self, atom: Atom) -> String {
        self.land_text(atom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pn_search::sums::game::OptionSubset;

    #[test]
    fn too_many_moves_are_distinguished_from_full_memory() {
        let (game, mut scratch) = (Sprouts::new(u64::MAX), Scratch::default());
        // Twenty different boundaries.
        let many = "1.2.11.12.22.111.112.122.222.1111.1112.1122.1212.1222.2222.11111.11112.11122.11212.\
                    11222";
        for (text, too_many) in [(many, true), ("0*3", false)] {
            let land = game.atoms(&text.parse().unwrap(), &mut scratch).unwrap()[0];
            let mut packed = Vec::new();
            game.store.read(land, &mut packed);
            let listed = scratch.mover.run(&packed, OptionSubset::All, |_, _| Ok(()));
            assert_eq!((listed.is_err(), scratch.mover.has_too_many_moves()), (too_many, too_many));
        }
        let many = game.atoms(&many.parse().unwrap(), &mut scratch).unwrap();
        let stopped = game.children(&many, &mut scratch, &|| true);
        assert_eq!(stopped, Err(MovesError::Full(GameFull)));
    }
}
