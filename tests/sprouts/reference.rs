//! Reference implementation: spots, their curve ends, and the walks along the borders of regions, with
//! nothing omitted and no symmetry used; simplification rule by rule; isomorphism by exhaustive search.

use konane::sprouts::{Position, Spot};
use std::collections::HashMap;

/// A drawing: for each region its boundaries, for each of these the spots along it.
#[derive(Clone, Debug)]
pub struct Drawing {
    pub regions: Vec<Vec<Vec<usize>>>,
    /// Curve ends of each spot.
    pub ends: Vec<u8>,
}

impl Drawing {
    /// Returns the drawing of all lands of a position together.
    pub fn new(position: &Position) -> Drawing {
        let mut drawing = Drawing { regions: Vec::new(), ends: Vec::new() };
        for land in position.lands() {
            let mut pairs: HashMap<u32, usize> = HashMap::new();
            for region in land {
                let mut boundaries = Vec::new();
                for boundary in region {
                    let mut walk = Vec::new();
                    for spot in boundary {
                        let next = drawing.ends.len();
                        let (id, ends) = match *spot {
                            Spot::Single(ends) => (next, ends),
                            Spot::Pair(pair) => (*pairs.entry(pair).or_insert(next), 2),
                        };
                        if id == next {
                            drawing.ends.push(ends);
                        }
                        walk.push(id);
                    }
                    boundaries.push(walk);
                }
                drawing.regions.push(boundaries);
            }
        }
        drawing
    }

    /// Returns the drawings after every move, by the definition.
    pub fn children(&self) -> Vec<Drawing> {
        let mut children = Vec::new();
        for (number, region) in self.regions.iter().enumerate() {
            for (b, walk) in region.iter().enumerate() {
                for i in 0..walk.len() {
                    for j in i..walk.len() {
                        if let Some(ends) = self.curve(walk[i], walk[j]) {
                            self.cut(number, b, (i, j), &ends, &mut children);
                        }
                    }
                }
                for (c, other) in region.iter().enumerate().skip(b + 1) {
                    for (i, &x) in walk.iter().enumerate() {
                        for (j, &y) in other.iter().enumerate() {
                            if let Some(ends) = self.curve(x, y) {
                                children.push(self.join(number, (b, i), (c, j), ends));
                            }
                        }
                    }
                }
            }
        }
        children
    }

    /// Returns the curve ends after a curve between two spots, the last entry for the new spot on it;
    /// `None` if a spot would have more than three.
    fn curve(&self, x: usize, y: usize) -> Option<Vec<u8>> {
        let mut ends = self.ends.clone();
        ends[x] += 1;
        ends[y] += 1;
        ends.push(2);
        ends.iter().all(|&ends| ends <= 3).then_some(ends)
    }

    /// Returns the walk from a place of a boundary around to the same place.
    fn around(&self, walk: &[usize], i: usize) -> Vec<usize> {
        match self.ends[walk[i]] {
            // A spot without curves has no walk around it.
            0 => vec![walk[i]],
            _ => [&walk[i..], &walk[..=i]].concat(),
        }
    }

    fn cut(
        &self,
        number: usize,
        b: usize,
        (i, j): (usize, usize),
        ends: &[u8],
        children: &mut Vec<Drawing>,
    ) {
        let region = &self.regions[number];
        let (walk, fresh) = (&region[b], self.ends.len());
        let mut sides = match i == j {
            true => [vec![walk[i]], self.around(walk, i)],
            false => [walk[i..=j].to_vec(), [&walk[j..], &walk[..=i]].concat()],
        };
        sides.iter_mut().for_each(|side| side.push(fresh));
        let others: Vec<&Vec<usize>> =
            region.iter().enumerate().filter(|&(c, _)| c != b).map(|(_, walk)| walk).collect();
        for subset in 0..1usize << others.len() {
            let mut regions = self.regions.clone();
            let (mut first, mut second) = (vec![sides[0].clone()], vec![sides[1].clone()]);
            for (bit, walk) in others.iter().enumerate() {
                let side = if subset >> bit & 1 == 1 { &mut first } else { &mut second };
                side.push((*walk).clone());
            }
            regions[number] = first;
            regions.push(second);
            children.push(Drawing { regions, ends: ends.to_vec() });
        }
    }

    fn join(
        &self,
        number: usize,
        (b, i): (usize, usize),
        (c, j): (usize, usize),
        ends: Vec<u8>,
    ) -> Drawing {
        let mut regions = self.regions.clone();
        let fresh = self.ends.len();
        let region = &mut regions[number];
        let mut walk = self.around(&region[b], i);
        walk.push(fresh);
        walk.extend(self.around(&region[c], j));
        walk.push(fresh);
        region.remove(c);
        region[b] = walk;
        Drawing { regions, ends }
    }

    /// Returns the text of the drawing, dead spots included.
    pub fn text(&self) -> String {
        if self.regions.is_empty() {
            return "!".into();
        }
        let spot = |&spot: &usize| {
            let walks: Vec<&Vec<usize>> =
                self.regions.iter().flatten().filter(|walk| walk.contains(&spot)).collect();
            let twice = walks.iter().map(|walk| walk.iter().filter(|&&s| s == spot).count());
            match (self.ends[spot], twice.sum::<usize>(), walks.len()) {
                (2, 2, 1) => format!("a({spot})"),
                (2, 2, 2) => format!("A({spot})"),
                (ends, _, _) => ends.to_string(),
            }
        };
        let boundary = |walk: &Vec<usize>| walk.iter().map(spot).collect::<String>();
        let region =
            |region: &Vec<Vec<usize>>| region.iter().map(boundary).collect::<Vec<_>>().join(".");
        self.regions.iter().map(region).collect::<Vec<_>>().join("|")
    }

    fn occurrences(&self, spot: usize) -> usize {
        self.regions.iter().flatten().flatten().filter(|&&other| other == spot).count()
    }

    /// Returns the lives of a region. A spot that occurs twice in it counts `twice` times.
    fn lives(&self, region: &[Vec<usize>], twice: usize) -> usize {
        let mut spots: Vec<usize> = region.iter().flatten().copied().collect();
        let all = spots.len();
        spots.sort_unstable();
        spots.dedup();
        let single: usize = spots.iter().map(|&spot| 3 - usize::from(self.ends[spot])).sum();
        single + (all - spots.len()) * (twice - 1)
    }

    /// Applies the rules one at a time until none applies.
    pub fn simplified(mut self) -> Drawing {
        while self.step() {}
        self
    }

    fn step(&mut self) -> bool {
        for region in &mut self.regions {
            for walk in region.iter_mut() {
                if let Some(dead) = walk.iter().position(|&spot| self.ends[spot] == 3) {
                    walk.remove(dead);
                    return true;
                }
                let length = walk.len();
                let equal = |&at: &usize| walk[at] == walk[(at + 1) % length];
                if length > 1
                    && let Some(at) = (0..length).find(equal)
                {
                    walk.remove(at);
                    return true;
                }
            }
            if let Some(empty) = region.iter().position(Vec::is_empty) {
                region.remove(empty);
                return true;
            }
        }
        if let Some(barren) = self.regions.iter().position(|region| self.lives(region, 2) < 2) {
            self.regions.remove(barren);
            return true;
        }
        for number in 0..self.regions.len() {
            let region = &self.regions[number];
            if self.lives(region, 1) > 3 {
                continue;
            }
            let mut merged: Vec<usize> = region.concat();
            merged.sort_unstable();
            merged.dedup();
            if region.len() > 1 || region[0].len() > merged.len() {
                self.regions[number] = vec![merged];
                return true;
            }
        }
        false
    }

    /// Returns the lands. Regions that share no spot, directly or through other regions, are separate.
    pub fn lands(&self) -> Vec<Drawing> {
        let mut parts: Vec<Vec<Vec<Vec<usize>>>> = Vec::new();
        for region in &self.regions {
            let mut part = vec![region.clone()];
            let (touching, apart): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| {
                part.iter().flatten().flatten().any(|spot| region.concat().contains(spot))
            });
            parts = apart;
            part.extend(touching.concat());
            parts.push(part);
        }
        let land = |regions| Drawing { regions, ends: self.ends.clone() };
        parts.into_iter().map(land).collect()
    }

    /// Returns true if two simplified lands are isomorphic.
    pub fn is_isomorphic(&self, other: &Drawing) -> bool {
        let total = |drawing: &Drawing| drawing.regions.iter().flatten().flatten().count();
        self.regions.len() == other.regions.len()
            && total(self) == total(other)
            && self.match_region(other, 0, &mut vec![false; other.regions.len()], &mut Vec::new())
    }

    /// Finds an image for a region and all regions after it.
    fn match_region(
        &self,
        other: &Drawing,
        number: usize,
        used: &mut Vec<bool>,
        images: &mut Vec<(usize, usize)>,
    ) -> bool {
        if number == self.regions.len() {
            return true;
        }
        for candidate in 0..other.regions.len() {
            if used[candidate] || other.regions[candidate].len() != self.regions[number].len() {
                continue;
            }
            used[candidate] = true;
            for reversed in [false, true] {
                let mut walks = other.regions[candidate].clone();
                if reversed {
                    walks.iter_mut().for_each(|walk| walk.reverse());
                }
                if self.match_walk(other, (number, 0), &mut walks, used, images) {
                    return true;
                }
            }
            used[candidate] = false;
        }
        false
    }

    /// Finds an image among `walks` for a boundary of a region and all boundaries after it.
    fn match_walk(
        &self,
        other: &Drawing,
        (number, boundary): (usize, usize),
        walks: &mut Vec<Vec<usize>>,
        used: &mut Vec<bool>,
        images: &mut Vec<(usize, usize)>,
    ) -> bool {
        let Some(walk) = self.regions[number].get(boundary) else {
            return self.match_region(other, number + 1, used, images);
        };
        for candidate in 0..walks.len() {
            if walks[candidate].len() != walk.len() {
                continue;
            }
            let image = walks.remove(candidate);
            for turn in 0..image.len() {
                let before = images.len();
                let fits = walk.iter().enumerate().all(|(place, &spot)| {
                    let to = image[(place + turn) % image.len()];
                    let known = images.iter().find(|pair| pair.0 == spot || pair.1 == to);
                    match known {
                        Some(&pair) => pair == (spot, to),
                        None => {
                            images.push((spot, to));
                            self.ends[spot] == other.ends[to]
                                && self.occurrences(spot) == other.occurrences(to)
                        }
                    }
                });
                if fits && self.match_walk(other, (number, boundary + 1), walks, used, images) {
                    return true;
                }
                images.truncate(before);
            }
            walks.insert(candidate, image);
        }
        false
    }
}
