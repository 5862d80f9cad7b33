//! [`NumberedMove`]: its effect, its sides, and the moves of a position.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::{NumberedPosition, Walk, rotate_to_least};

/// An occurrence of a spot along the border of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub boundary: usize,
    pub index: usize,
}

/// A move in a [`NumberedPosition`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedMove {
    pub(super) region: usize,
    /// Start and end of the curve.
    pub(super) sites: [Site; 2],
    /// For a curve within a boundary: the other boundaries of the region that are on its right, seen from the
    /// start.
    pub(super) right: Vec<usize>,
}

impl NumberedMove {
    /// Returns true if the curve divides its region.
    pub(super) fn is_enclosing(&self) -> bool {
        self.sites[0].boundary == self.sites[1].boundary
    }
}

impl NumberedPosition {
    /// Returns the position after a move of this position.
    ///
    /// # Panics
    /// If the move is one of another position and does not fit into this one.
    pub fn play(&self, mv: &NumberedMove) -> NumberedPosition {
        let mut after = self.clone();
        for spot in self.connected(mv) {
            after.ends[spot as usize - 1] += 1;
        }
        after.ends.push(2);
        let fresh = after.last_spot();
        let others = |is_right: bool| {
            let others = self.others(mv).filter(move |&(_, right)| right == is_right);
            others.map(|(boundary, _)| self.regions[mv.region][boundary].clone())
        };
        let mut borders = self.borders(mv);
        borders.iter_mut().for_each(|border| border.push(fresh));
        let [left, right] = borders;
        if mv.is_enclosing() {
            after.regions[mv.region] = others(false).chain([left]).collect();
            after.regions.push(others(true).chain([right]).collect());
        } else {
            after.regions[mv.region] = others(false).chain([[left, right].concat()]).collect();
        }
        after
    }

    /// Calls `found` for the moves until it breaks. Boundaries of a region are interchangeable if their spots lie
    /// in no other region and the curves connect them in the same way; of moves that differ only by an exchange
    /// of such boundaries, one is listed. Their number may still be exponential in the number of boundaries.
    pub fn each_move(
        &self,
        mut found: impl FnMut(NumberedMove) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        (0..self.regions.len()).try_for_each(|region| self.each_in_region(region, &mut found))
    }

    fn each_in_region(
        &self,
        region: usize,
        found: &mut impl FnMut(NumberedMove) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let classes = self.interchangeable(region);
        let live_sites = |boundary: usize| {
            let walk = self.regions[region][boundary].iter().enumerate();
            let live = walk.filter(|&(_, &spot)| self.is_live(spot));
            live.map(move |(index, &spot)| (Site { boundary, index }, spot)).collect::<Vec<_>>()
        };
        for (number, class) in classes.iter().enumerate() {
            let sites = live_sites(class[0]);
            for (place, &(from, spot)) in sites.iter().enumerate() {
                for &(to, other) in &sites[place..] {
                    if if from == to { self.ends_of(spot) < 2 } else { spot != other } {
                        self.each_division(region, [from, to], &classes, found)?;
                    }
                }
            }
            for (other, class) in classes.iter().enumerate().skip(number) {
                let Some(&second) = class.get(usize::from(other == number)) else { continue };
                for &(from, _) in &sites {
                    for &(to, _) in &live_sites(second) {
                        found(NumberedMove { region, sites: [from, to], right: Vec::new() })?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Lists the moves with a curve between two sites of a boundary: from each class, any number of the other
    /// boundaries is on its right.
    fn each_division(
        &self,
        region: usize,
        sites: [Site; 2],
        classes: &[Vec<usize>],
        found: &mut impl FnMut(NumberedMove) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let others = classes.iter().map(|class| {
            let others = class.iter().copied().filter(|&boundary| boundary != sites[0].boundary);
            others.collect::<Vec<_>>()
        });
        let others: Vec<Vec<usize>> = others.collect();
        let mut counts = vec![0; others.len()];
        loop {
            let chosen = others.iter().zip(&counts).flat_map(|(class, &count)| &class[..count]);
            found(NumberedMove { region, sites, right: chosen.copied().collect() })?;
            let Some(next) = (0..counts.len()).find(|&n| counts[n] < others[n].len()) else {
                return ControlFlow::Continue(());
            };
            counts[next] += 1;
            counts[..next].fill(0);
        }
    }

    /// Returns the boundaries of a region that have live spots, interchangeable ones together.
    fn interchangeable(&self, region: usize) -> Vec<Vec<usize>> {
        let mut classes: Vec<Vec<usize>> = Vec::new();
        let mut class_of: HashMap<Vec<usize>, usize> = HashMap::new();
        for (boundary, walk) in self.regions[region].iter().enumerate() {
            let live: Vec<u32> = walk.iter().copied().filter(|&spot| self.is_live(spot)).collect();
            let distance = |(place, &spot): (usize, &u32)| match self.ends_of(spot) {
                // To the other occurrence; 0 for a spot that lies in another region too.
                2 => {
                    let ahead = live[place + 1..].iter().chain(&live[..place]);
                    Some(2 + ahead.take_while(|&&other| other != spot).count())
                        .filter(|&distance| distance <= live.len())
                }
                ends => Some(ends.into()),
            };
            let word: Option<Vec<usize>> = live.iter().enumerate().map(distance).collect();
            match word {
                _ if live.is_empty() => {}
                Some(mut word) => {
                    rotate_to_least(&mut word);
                    let class = *class_of.entry(word).or_insert(classes.len());
                    match classes.get_mut(class) {
                        Some(class) => class.push(boundary),
                        None => classes.push(vec![boundary]),
                    }
                }
                None => classes.push(vec![boundary]),
            }
        }
        classes
    }

    /// Returns the spots at the ends of the curve.
    pub(super) fn connected(&self, mv: &NumberedMove) -> [u32; 2] {
        mv.sites.map(|site| self.regions[mv.region][site.boundary][site.index])
    }

    /// Returns the boundaries that the curve does not touch, each with true if it is on the right of the curve.
    fn others(&self, mv: &NumberedMove) -> impl Iterator<Item = (usize, bool)> {
        let touched = mv.sites.map(|site| site.boundary);
        let others = 0..self.regions[mv.region].len();
        let right: HashSet<usize> = mv.right.iter().copied().collect();
        others
            .filter(move |boundary| !touched.contains(boundary))
            .map(move |boundary| (boundary, right.contains(&boundary)))
    }

    /// Returns the parts into which the curve divides the boundaries that it touches, without the new spot. For a
    /// curve within a boundary, the first part is on its left and the second on its right.
    fn borders(&self, mv: &NumberedMove) -> [Walk; 2] {
        let rotated = |site: Site| {
            let mut walk = self.regions[mv.region][site.boundary].clone();
            walk.rotate_left(site.index);
            walk
        };
        // The walk around everything that is connected to the spot, back to it.
        let around = |site: Site| {
            let mut walk = rotated(site);
            if self.ends_of(walk[0]) > 0 {
                walk.push(walk[0]);
            }
            walk
        };
        let [from, to] = mv.sites;
        if !mv.is_enclosing() {
            return [around(from), around(to)];
        }
        if from == to {
            return [vec![self.connected(mv)[0]], around(from)];
        }
        let mut left = rotated(from);
        let mut right = left.split_off((to.index + left.len() - from.index) % left.len());
        left.push(right[0]);
        right.push(left[0]);
        [left, right]
    }

    /// Returns the live spots that are on one side of an enclosing curve and not on the other, in ascending order,
    /// each with true if it is a pier. The ends of the curve are on both sides.
    pub(super) fn separated(&self, mv: &NumberedMove, is_right: bool) -> Vec<(u32, bool)> {
        let [left, right] = self.borders(mv);
        let (mine, theirs) = if is_right { (right, left) } else { (left, right) };
        let theirs: HashSet<u32> = theirs.into_iter().collect();
        let others = self.others(mv).filter(|&(_, right)| right == is_right);
        let others = others.flat_map(|(boundary, _)| &self.regions[mv.region][boundary]);
        let spots = mine.iter().chain(others).copied();
        let mut spots: Vec<u32> =
            spots.filter(|&spot| self.is_live(spot) && !theirs.contains(&spot)).collect();
        spots.sort_unstable();
        spots.chunk_by(|a, b| a == b).map(|chunk| (chunk[0], chunk.len() == 2)).collect()
    }
}
