//! Sprouts as an impartial game: lands are its atoms.

use std::fmt::Write;

use super::canonical::Canoniser;
use super::error::MovesError;
use super::flat::Region;
use super::flat::{Flat, ONE};
use super::forecast;
use super::moves::Mover;
use super::names::write_land;
use super::option_set::OptionSet;
use super::position::Position;
use super::recent::Recent;
use super::simplify::Simplifier;
use super::spelling::spell;
use super::spots_spelling::spellings;
use super::store::{LandFeatures, LandStore};
use crate::search::sums::Named;
use crate::search::sums::game::{
    Atom, AtomFeatures, GameFull, Impartial, Keep, Odds, OptionList, Retained, Stop,
};

/// The lands that have been met, each in canonical form and under its id. Shared by threads.
#[derive(Debug)]
pub struct Sprouts {
    store: LandStore,
}

/// Working memory of a thread; kept between calls, so that nothing is allocated after the first few.
/// About 2 MB. It may be used with one [`Sprouts`] only.
#[derive(Debug, Default)]
pub struct Scratch {
    mover: Mover,
    interner: Interner,
    land: Vec<u8>,
    found: OptionSet,
}

/// What has been done with a [`Scratch`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScratchCounters {
    /// Children before equal ones were dropped.
    pub raw_children: u64,
    /// Lands of raw children and positions.
    pub lands: u64,
    /// Of these, those that had to be brought into canonical form.
    pub canonised: u64,
}

impl Scratch {
    /// What has been done with it so far.
    pub fn counters(&self) -> ScratchCounters {
        self.interner.counters
    }
}

/// What turns a position into ids.
#[derive(Debug, Default)]
struct Interner {
    simplifier: Simplifier,
    canoniser: Canoniser,
    recent: Recent,
    sum: Vec<Atom>,
    /// The store's, when the recent lands were looked up.
    epoch: u32,
    counters: ScratchCounters,
}

impl Interner {
    /// Forgets recent lands if the store has forgotten any.
    fn clear_if_stale(&mut self, store: &LandStore) {
        if self.epoch != store.epoch() {
            self.epoch = store.epoch();
            self.recent.clear();
        }
    }

    /// Simplifies a position without the `dead` letters; its lands are in `sum` then, sorted.
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
                    // Isomorphic lands look the same.
                    let land_features =
                        || LandFeatures { features: features(flat), phase: forecast::phase(flat) };
                    let atom = store.intern(canonical, land_features)?;
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

/// Lives, and about how many moves there are: in each region the pairs of occurrences of spots,
/// those within a boundary times the ways to divide the other boundaries between two sides.
fn features(flat: &Flat) -> AtomFeatures {
    let mut estimate = 0u64;
    for (number, region) in flat.regions.iter().enumerate() {
        let boundaries = flat.boundaries(number);
        let isolated = u64::from(region.isolated);
        let others = (boundaries.len() as u32).saturating_sub(1);
        // Isolated spots are all alike.
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
    /// No land is known yet. When the tables of lands have grown to `max_bytes`, new lands are
    /// refused with [`GameFull`].
    pub fn new(max_bytes: u64) -> Sprouts {
        Sprouts { store: LandStore::new(max_bytes) }
    }

    /// Simplifies a position and splits it; the atoms are sorted.
    ///
    /// # Errors
    /// [`GameFull`] if a new land has no room.
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

    /// The canonical text of a land. Equal texts are the same land.
    ///
    /// # Panics
    /// If the id was not given out by this game.
    pub fn land_text(&self, atom: Atom) -> String {
        let mut regions = self.regions(atom);
        spell(&mut regions);
        let mut text = String::new();
        write_land(&mut text, &regions).expect("strings take any text");
        text
    }

    /// The texts under which SPOTS may look up a land, sorted; there are several where its sorting
    /// depends on how the land came about. Takes some 5 µs for most lands, and a hundred times that
    /// for one with several texts.
    ///
    /// # Panics
    /// If the id was not given out by this game.
    pub fn spots_texts(&self, atom: Atom) -> Vec<String> {
        spellings(self.regions(atom)).into_iter().collect()
    }

    fn regions(&self, atom: Atom) -> Vec<Region> {
        let mut packed = Vec::new();
        self.store.read(atom, &mut packed);
        let mut flat = Flat::default();
        flat.unpack(&packed);
        (0..flat.regions.len()).map(|region| flat.spots(region)).collect()
    }

    /// The canonical text of a sum of lands: their texts sorted, equal ones as often as they occur,
    /// or `!` for none.
    ///
    /// # Panics
    /// If an id was not given out by this game.
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

    /// The children of a sum of lands, each once and sorted: those of every land together with the
    /// other lands. Equal lands stay, though they cancel in play.
    ///
    /// # Errors
    /// [`MovesError::Full`] if a new land has no room or `stop` says so, which is asked now and then;
    /// [`MovesError::TooMany`] after half a minute.
    ///
    /// # Panics
    /// If an id was not given out by this game.
    pub fn children(
        &self,
        sum: &[Atom],
        scratch: &mut Scratch,
        stop: &Stop<'_>,
    ) -> Result<Vec<Vec<Atom>>, MovesError> {
        let mut children = Vec::new();
        let mut options = OptionList::until(stop);
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

    /// How many lands are known.
    pub fn lands(&self) -> u32 {
        self.store.len()
    }

    /// Changes whenever lands are forgotten. Ids from before mean nothing then, but for those that were
    /// to be kept.
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
        let Scratch { mover, interner, land, found } = scratch;
        self.store.read(atom, land);
        interner.clear_if_stale(&self.store);
        found.clear();
        mover.run(land, options.share(), |raw, dead| {
            interner.counters.raw_children += 1;
            options.keep_on()?;
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

/// A land is called by its canonical text.
impl Named for Sprouts {
    fn name(&self, atom: Atom) -> String {
        self.land_text(atom)
    }

    fn find(&self, name: &str, scratch: &mut Scratch) -> Result<Option<Atom>, GameFull> {
        let Ok(position) = Position::from_canonical(name) else { return Ok(None) };
        if position.lands().len() != 1 {
            return Ok(None);
        }
        Ok(match self.atoms(&position, scratch)?[..] {
            [land] if self.land_text(land) == name => Some(land),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::sums::game::OptionSubset;

    #[test]
    fn too_many_moves_are_told_from_no_room() {
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
