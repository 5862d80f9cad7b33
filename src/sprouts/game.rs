//! Sprouts as an impartial game: lands are its atoms.

use std::fmt::Write;

use super::canonical::Canoniser;
use super::error::MovesError;
use super::estimate::features;
use super::flat::Flat;
use super::forecast;
use super::moves::Mover;
use super::names::write_land;
use super::option_set::OptionSet;
use super::parts::Region;
use super::position::Position;
use super::recent::Recent;
use super::simplify::Simplifier;
use super::spelling::spell;
use super::spots_spelling::spellings;
use super::store::{Look, Store};
use crate::search::sums::Named;
use crate::search::sums::game::{
    Atom, AtomFeatures, GameFull, Impartial, Keep, Odds, OptionList, Retained, Stop,
};

/// The lands that have been met, each in canonical form and under its id. Shared by threads.
#[derive(Debug)]
pub struct Sprouts {
    store: Store,
}

/// Working memory of a thread; kept between calls, so that nothing is allocated after the first few.
/// About 2 MB. It may be used with one [`Sprouts`] only.
#[derive(Debug, Default)]
pub struct Scratch {
    mover: Mover,
    workshop: Workshop,
    land: Vec<u8>,
    found: OptionSet,
    counts: Counts,
}

/// What has been done with a [`Scratch`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Children before equal ones were dropped.
    pub raw_children: u64,
    /// Lands of raw children and positions.
    pub lands: u64,
    /// Of these, those that had to be brought into canonical form.
    pub canonised: u64,
}

impl Scratch {
    /// What has been done with it so far.
    pub fn counts(&self) -> Counts {
        Counts { lands: self.workshop.lands, canonised: self.workshop.canonised, ..self.counts }
    }
}

/// What turns a position into ids.
#[derive(Debug, Default)]
struct Workshop {
    simplifier: Simplifier,
    canoniser: Canoniser,
    recent: Recent,
    sum: Vec<Atom>,
    /// The store's, when the recent lands were looked up.
    epoch: u32,
    lands: u64,
    canonised: u64,
}

impl Workshop {
    /// Forgets recent lands if the store has forgotten any.
    fn follow(&mut self, store: &Store) {
        if self.epoch != store.epoch() {
            self.epoch = store.epoch();
            self.recent.clear();
        }
    }

    /// Simplifies a position without the `dead` letters; its lands are in `sum` then, sorted.
    fn run(&mut self, store: &Store, raw: &Flat, dead: [u16; 2]) -> Result<(), GameFull> {
        self.simplifier.run(raw, dead);
        self.sum.clear();
        for land in self.simplifier.lands() {
            self.lands += 1;
            let (key, known) = self.recent.get(land);
            let atom = match known {
                Some(atom) => atom,
                None => {
                    self.canonised += 1;
                    let (canonical, flat) = self.canoniser.run(land);
                    // Isomorphic lands look the same.
                    let look = || Look { features: features(flat), phase: forecast::phase(flat) };
                    let atom = store.intern(canonical, look)?;
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

impl Sprouts {
    /// No land is known yet. When the tables of lands have grown to `most_bytes`, new lands are
    /// refused with [`GameFull`].
    pub fn new(most_bytes: u64) -> Sprouts {
        Sprouts { store: Store::new(most_bytes) }
    }

    /// Simplifies a position and splits it; the atoms are sorted.
    ///
    /// # Errors
    /// [`GameFull`] if a new land has no room.
    pub fn atoms(&self, position: &Position, scratch: &mut Scratch) -> Result<Vec<Atom>, GameFull> {
        let mut sum = Vec::new();
        scratch.workshop.follow(&self.store);
        for land in position.lands() {
            scratch.workshop.run(&self.store, &Flat::of_land(land), [0; 2])?;
            sum.extend_from_slice(&scratch.workshop.sum);
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
        let mut options = OptionList::with_stop(stop);
        for (place, &atom) in sum.iter().enumerate() {
            // Equal lands have equal options.
            if sum[..place].contains(&atom) {
                continue;
            }
            options.clear();
            self.options(atom, scratch, &mut options).map_err(|full| {
                let too_many = scratch.mover.has_given_up();
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
        let Scratch { mover, workshop, land, found, counts } = scratch;
        self.store.read(atom, land);
        workshop.follow(&self.store);
        found.clear();
        mover.run(land, options.subset(), |raw, dead| {
            counts.raw_children += 1;
            options.poll()?;
            workshop.run(&self.store, raw, dead)?;
            if found.insert(&workshop.sum) {
                options.push(&workshop.sum);
            }
            Ok(())
        })
    }

    fn features(&self, atom: Atom) -> AtomFeatures {
        self.store.look(atom).features
    }

    fn odds(&self, atom: Atom) -> Option<&Odds> {
        let Look { features, phase } = self.store.look(atom);
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
            assert_eq!((listed.is_err(), scratch.mover.has_given_up()), (too_many, too_many));
        }
        let many = game.atoms(&many.parse().unwrap(), &mut scratch).unwrap();
        let stopped = game.children(&many, &mut scratch, &|| true);
        assert_eq!(stopped, Err(MovesError::Full(GameFull)));
    }
}
