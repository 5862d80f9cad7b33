//! The canonical form of a land: two lands get the same bytes exactly if they are isomorphic, that
//! is, if one becomes the other by rotating boundaries, reversing all boundaries of single regions,
//! and permuting boundaries, regions and names.
//!
//! That equal bytes mean isomorphic lands is plain, as the bytes describe the land in full. The
//! converse needs choices that isomorphic lands make alike. All of them follow from an order of the
//! *ports*, which are the occurrences of letters that link regions ("upper case"):
//!
//! * a boundary with ports is read from its least port; without, from its least rotation;
//! * boundaries without ports come first in a region, by their words, then those with ports, by
//!   their least ports; isolated spots are only counted;
//! * a region is read in the direction of which the words are less; ports count by their rank;
//! * regions with more isolated spots come first, else those with lesser ports.
//!
//! The order of ports comes from colours (`colours`), refined until no colour tells more: the
//! method of individualisation and refinement (McKay, "Practical graph isomorphism", 1981). Where
//! ports of one colour remain, each of them in turn is given a colour of its own, and the least
//! bytes count. Two choices that lead to the same bytes show a symmetry, and what a symmetry maps
//! onto choices that have been tried is not tried. Colours are hashes, but a hash that two different
//! things share only makes a tie of them, and ties are tried.
//!
//! There are lands with so many ties that trying them all would take longer than anybody waits; people
//! can write them, games do not lead to them. After some work the least bytes so far have to do. They
//! describe the land in full like any others, so no answer is wrong; but lands that are isomorphic may
//! be taken for two, and then each of them is searched.
//!
//! A land of one region has no ports and takes a shorter way.

mod colours;
mod words;

use super::flat::{Flat, LETTER, Packer, Token};
use super::simplify::DisjointSets;
use colours::Colours;
use std::cmp::Ordering;

/// No position in the tokens.
const NONE: u32 = u32::MAX;

/// An occurrence of a letter that links two regions.
#[derive(Clone, Copy, Debug, Default)]
struct Port {
    /// Where in the tokens.
    at: u32,
    /// The boundary.
    boundary: u32,
    /// The region.
    region: u32,
    /// The port with the same letter.
    partner: u32,
}

/// What canonical forms need to know about a boundary.
#[derive(Clone, Copy, Debug, Default)]
struct Border {
    start: u32,
    length: u32,
    /// Its ports are `ports.0..ports.1`.
    ports: (u32, u32),
    /// Where to begin in what is read forward and backward; of a boundary with ports, at the least.
    begin: [u32; 2],
}

impl Border {
    /// Where a place of the tokens is in what is read backward.
    fn mirrored(&self, at: u32) -> u32 {
        2 * self.start + self.length - 1 - at
    }

    /// What is read of the boundary, from where to begin.
    fn read<'t, T>(&self, way: Way, all: &'t [T]) -> impl Iterator<Item = &'t T> + use<'t, T> {
        let word = &all[self.start as usize..(self.start + self.length) as usize];
        let (end, begin) = word.split_at((self.begin[way as usize] - self.start) as usize);
        begin.iter().chain(end)
    }
}

/// Direction in which a region is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Forward = 0,
    Backward = 1,
}

/// Working memory, kept between calls.
#[derive(Debug, Default)]
pub(super) struct Canoniser {
    flat: Flat,
    /// Other occurrence of the letter at each place of the tokens, or [`NONE`].
    partner: Vec<u32>,
    /// First occurrence of each letter, its boundary, and its region; then, for those that link
    /// regions, its port.
    seen: Vec<(u32, u32, u32)>,
    /// Every boundary's tokens, backward.
    backward: Vec<Token>,
    /// What tokens say as far as rotation does not change it, forward and backward: digits; for a
    /// letter within the boundary the distance to its other occurrence in the direction of reading;
    /// for a port, once there is an order, the rank above everything else.
    symbols: [Vec<u32>; 2],
    borders: Vec<Border>,
    ports: Vec<Port>,
    /// Boundaries in the order in which they are written, region by region, forward and backward.
    order: [Vec<u32>; 2],
    regions: Vec<u32>,
    /// For each region, where the places of its boundaries with ports begin in `order`.
    free: Vec<u32>,
    /// The same, less those that have been filled.
    filled: Vec<u32>,
    reached: Vec<bool>,
    colours: Colours,
    packer: Packer,
    best: Vec<u8>,
    /// Ports that a symmetry maps onto each other.
    orbits: DisjointSets,
}

/// The end of a line of choices: the bytes, and the colours of the ports in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CanonicalLeaf {
    bytes: Vec<u8>,
    /// Colour and port.
    order: Vec<(u64, u32)>,
}

impl CanonicalLeaf {
    /// Whether mapping the ports of one onto those of the other, by rank, is a symmetry that keeps
    /// colours, and with them the choices that both have in common.
    fn matches(&self, other: &CanonicalLeaf) -> bool {
        self.bytes == other.bytes
            && self.order.iter().map(|port| port.0).eq(other.order.iter().map(|port| port.0))
    }
}

impl Canoniser {
    /// The canonical bytes of a packed land that has been simplified, and the land as it came.
    ///
    /// Cost: a few passes over the land, and for lands with ports in many symmetric places as many
    /// more as there are such places; seconds at most.
    pub(super) fn run(&mut self, packed: &[u8]) -> (&[u8], &Flat) {
        self.flat.unpack(packed);
        self.find_ports();
        self.read_boundaries_without_ports();
        self.orbits.begin(self.ports.len());
        if self.ports.is_empty() {
            self.regions.clear();
            self.regions.push(0);
            self.write();
            std::mem::swap(&mut self.packer.bytes, &mut self.best);
            return (&self.best, &self.flat);
        }
        let mut colours = std::mem::take(&mut self.colours);
        colours.begin(self);
        match colours.refine(self) {
            // Most lands: no two ports are alike.
            None => {
                self.write_in_order(colours.order());
                std::mem::swap(&mut self.packer.bytes, &mut self.best);
            }
            Some(cell) => {
                self.best.clear();
                self.search(&mut colours, cell, true);
            }
        }
        self.colours = colours;
        (&self.best, &self.flat)
    }

    /// Finds partners, boundaries and ports.
    fn find_ports(&mut self) {
        let flat = &self.flat;
        self.partner.clear();
        self.partner.resize(flat.tokens.len(), NONE);
        self.seen.clear();
        self.seen.resize(usize::from(flat.letters), (NONE, 0, 0));
        self.borders.clear();
        self.ports.clear();
        let linked = flat.regions.len() > 1;
        for region in 0..flat.regions.len() {
            for boundary in flat.boundaries(region) {
                let span = flat.span(boundary);
                for at in span.clone() {
                    let token = flat.tokens[at];
                    if token < LETTER {
                        continue;
                    }
                    let seen = &mut self.seen[usize::from(token - LETTER)];
                    if seen.0 == NONE {
                        *seen = (at as u32, boundary as u32, region as u32);
                    } else {
                        self.partner[at] = seen.0;
                        self.partner[seen.0 as usize] = at as u32;
                    }
                }
                let (start, length) = (span.start as u32, span.len() as u32);
                self.borders.push(Border { start, length, ..Border::default() });
            }
        }
        // Once more, now that letters within a boundary can be told from links.
        self.symbols.iter_mut().for_each(Vec::clear);
        self.backward.clear();
        for region in 0..flat.regions.len() {
            for boundary in flat.boundaries(region) {
                let first = self.ports.len() as u32;
                let border = &mut self.borders[boundary];
                let Border { start, length, .. } = *border;
                for at in flat.span(boundary) {
                    let token = flat.tokens[at];
                    if token < LETTER {
                        self.symbols[0].push(token.into());
                        continue;
                    }
                    let (at, other) = (at as u32, self.partner[at]);
                    if other.wrapping_sub(start) < length {
                        let ahead = if other > at { other - at } else { other + length - at };
                        self.symbols[0].push(u32::from(LETTER) + ahead);
                        continue;
                    }
                    self.symbols[0].push(PORT);
                    if !linked {
                        continue;
                    }
                    let here = self.ports.len() as u32;
                    let mut port = Port {
                        at,
                        boundary: boundary as u32,
                        region: region as u32,
                        partner: NONE,
                    };
                    let seen = &mut self.seen[usize::from(token - LETTER)].0;
                    if at < other {
                        *seen = here;
                    } else {
                        port.partner = *seen;
                        self.ports[*seen as usize].partner = here;
                    }
                    self.ports.push(port);
                }
                border.ports = (first, self.ports.len() as u32);
                let span = flat.span(boundary);
                self.backward.extend(flat.tokens[span.clone()].iter().rev());
                let [forward, backward] = &mut self.symbols;
                let reverse = |&symbol: &u32| match symbol {
                    PORT => PORT,
                    LETTERS.. => 2 * LETTERS + length - symbol,
                    digit => digit,
                };
                backward.extend(forward[span].iter().rev().map(reverse));
            }
        }
    }

    /// Writes the land by an order of the ports.
    fn write_in_order(&mut self, order: &[u32]) {
        self.arrange(order);
        self.write();
    }

    fn write(&mut self) {
        self.packer.begin(self.flat.letters);
        for number in 0..self.regions.len() {
            let region = self.regions[number] as usize;
            if number > 0 {
                self.packer.next_region();
            }
            let way = self.better_way(region);
            self.packer.isolated(self.flat.regions[region].isolated);
            let boundaries = self.flat.boundaries(region);
            for place in boundaries.clone() {
                if place > boundaries.start {
                    self.packer.next_boundary();
                }
                let border = &self.borders[self.order[way as usize][place] as usize];
                let tokens = [&self.flat.tokens, &self.backward][way as usize];
                border.read(way, tokens).for_each(|&token| self.packer.token(token));
            }
        }
    }

    /// Orders regions and boundaries as their first ports come.
    fn arrange(&mut self, order: &[u32]) {
        self.regions.clear();
        self.filled.clear();
        self.filled.extend_from_slice(&self.free);
        self.reached.clear();
        self.reached.resize(self.borders.len(), false);
        for (rank, &port) in (0..).zip(order) {
            let Port { at, boundary, region, .. } = self.ports[port as usize];
            let border = &mut self.borders[boundary as usize];
            let places = [at, border.mirrored(at)];
            self.symbols[0][places[0] as usize] = PORT + rank;
            self.symbols[1][places[1] as usize] = PORT + rank;
            if std::mem::replace(&mut self.reached[boundary as usize], true) {
                continue;
            }
            border.begin = places;
            let next = &mut self.filled[region as usize];
            if *next == self.free[region as usize] {
                self.regions.push(region);
            }
            self.order[0][*next as usize] = boundary;
            self.order[1][*next as usize] = boundary;
            *next += 1;
        }
        let isolated = |&region: &u32| self.flat.regions[region as usize].isolated;
        self.regions.sort_by_key(|region| std::cmp::Reverse(isolated(region)));
    }

    /// The way in which a region's words are less; equal words are written alike.
    fn better_way(&self, region: usize) -> Way {
        let boundaries = self.flat.boundaries(region);
        if self.borders[boundaries.clone()].iter().all(|border| border.length <= 2) {
            return Way::Forward;
        }
        for place in boundaries {
            let [forward, backward] = [&self.order[0], &self.order[1]].map(|order| order[place]);
            match self.compare((forward, Way::Forward), (backward, Way::Backward)) {
                Ordering::Less => return Way::Forward,
                Ordering::Equal => {}
                Ordering::Greater => return Way::Backward,
            }
        }
        Way::Forward
    }

    /// Tries the choices below the present colours, of which `cell` is a tie.
    /// On the first line of choices symmetries are remembered in `orbits`: all that have been found
    /// so far keep the choices above.
    fn search(&mut self, colours: &mut Colours, cell: Vec<u32>, first_line: bool) -> CanonicalLeaf {
        let mut first: Option<CanonicalLeaf> = None;
        let mut tried: Vec<u32> = Vec::new();
        let saved = colours.save();
        for port in cell {
            if first.is_some() && colours.is_exhausted() {
                break;
            }
            if first_line && self.is_like_one_of(port, &tried) {
                continue;
            }
            tried.push(port);
            colours.choose(port);
            match &first {
                None => {
                    first = Some(match colours.refine(self) {
                        None => self.leaf(colours),
                        Some(cell) => self.search(colours, cell, first_line),
                    });
                }
                Some(first) => {
                    let leaf = self.descend(colours);
                    if !first.matches(&leaf) {
                        colours.restore(&saved);
                        colours.choose(port);
                        if let Some(cell) = colours.refine(self) {
                            self.search(colours, cell, false);
                        }
                    } else if first_line {
                        for (&(_, a), &(_, b)) in first.order.iter().zip(&leaf.order) {
                            self.orbits.unite(a, b);
                        }
                    }
                }
            }
            colours.restore(&saved);
        }
        first.expect("a tie has members")
    }

    /// Follows the first choices to a leaf.
    fn descend(&mut self, colours: &mut Colours) -> CanonicalLeaf {
        while let Some(cell) = colours.refine(self) {
            colours.choose(cell[0]);
        }
        self.leaf(colours)
    }

    fn leaf(&mut self, colours: &mut Colours) -> CanonicalLeaf {
        self.write_in_order(colours.order());
        if self.best.is_empty() || self.packer.bytes < self.best {
            self.best.clone_from(&self.packer.bytes);
        }
        let order = colours.order().iter().map(|&port| (colours.of(port), port)).collect();
        CanonicalLeaf { bytes: self.packer.bytes.clone(), order }
    }

    /// Whether a symmetry maps a port onto one of these.
    fn is_like_one_of(&mut self, port: u32, others: &[u32]) -> bool {
        let orbit = self.orbits.root(port);
        others.iter().any(|&other| self.orbits.root(other) == orbit)
    }
}

/// [`LETTER`] as a symbol.
const LETTERS: u32 = LETTER as u32;

/// Ranks of ports begin here: above every other symbol, but letters' distances in lands that are
/// larger than any that this program makes.
const PORT: u32 = 1 << 16;
