//! The canonical form of a land. Two lands have the same bytes exactly if they are isomorphic, that is, if
//! one becomes the other by rotating boundaries, reversing all boundaries of single regions, and permuting
//! boundaries, regions and names.
//!
//! Equal bytes mean isomorphic lands, because the bytes describe the land in full. The converse requires
//! choices that are the same for isomorphic lands. All of them follow from an order of the *ports*, which
//! are the occurrences of letters that link regions ("upper case"):
//!
//! * a boundary with ports is read from its least port; without ports, from its least rotation;
//! * boundaries without ports come first in a region, ordered by their words, then those with ports,
//!   ordered by their least ports; isolated spots are only counted;
//! * a region is read in the direction whose words are less; in this comparison, a port is its rank;
//! * regions with more isolated spots come first; among regions with equally many, those with lesser ports.
//!
//! The order of ports comes from colours (`colours`), which are refined in rounds until a round splits no
//! class of ports with equal colours. This is the method of individualisation and refinement (McKay,
//! "Practical graph isomorphism", 1981). If several ports have one colour, each of them in turn is given a
//! new colour, and the least bytes are used. If two choices lead to the same bytes, they show a symmetry.
//! The image of a tried choice under a symmetry is not tried. Colours are hashes. A collision only makes
//! another tie, which is tried like all ties.
//!
//! For some lands with many ties, trying all of them would take too long. Users can write such lands, but
//! they do not arise in games. After a work limit the least bytes so far are used. They describe the land
//! in full like any others, so no result is wrong. But isomorphic lands may get different bytes, and then
//! each of them is searched.
//!
//! A land of one region has no ports and takes a shorter path.
//!
//! [`Canoniser`] computes the canonical form, from [`Port`]s and from [`Border`]s, which are boundaries. A
//! [`Way`] is a direction of reading. A [`CanonicalLeaf`] is a complete sequence of choices.

mod colours;
mod words;

use super::flat::{Flat, LETTER, Packer, Token};
use super::simplify::DisjointSets;
use colours::Colours;
use std::cmp::Ordering;

/// Marks a missing index.
const NONE: u32 = u32::MAX;

/// An occurrence of a letter that links two regions.
#[derive(Clone, Copy, Debug, Default)]
struct Port {
    /// Index of the token.
    at: u32,
    /// The boundary.
    boundary: u32,
    /// The region.
    region: u32,
    /// The port with the same letter.
    partner: u32,
}

/// Location of a boundary in the tokens.
#[derive(Clone, Copy, Debug, Default)]
struct Border {
    start: u32,
    length: u32,
    /// Its ports are `ports.0..ports.1`.
    ports: (u32, u32),
    /// Index at which reading starts, forward and backward. In a boundary with ports it is the index of the
    /// least port.
    begin: [u32; 2],
}

impl Border {
    /// Returns the index in the backward tokens that corresponds to index `at` in the tokens.
    fn mirrored(&self, at: u32) -> u32 {
        2 * self.start + self.length - 1 - at
    }

    /// Reads the boundary from its start of reading.
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
    /// For each token that is a letter the index of its other occurrence, else [`NONE`].
    partner: Vec<u32>,
    /// First occurrence of each letter, its boundary, and its region. For letters that link regions, the
    /// first field becomes the port.
    seen: Vec<(u32, u32, u32)>,
    /// Tokens of every boundary, backward.
    backward: Vec<Token>,
    /// Properties of tokens that do not depend on rotation, forward and backward: a digit itself; for a
    /// letter within the boundary the distance to its other occurrence in the direction of reading; for a
    /// port [`PORT`], plus its rank once there is an order.
    symbols: [Vec<u32>; 2],
    borders: Vec<Border>,
    ports: Vec<Port>,
    /// Boundaries in the order in which they are written, region by region, forward and backward.
    order: [Vec<u32>; 2],
    /// Regions in the order in which they are written.
    regions: Vec<u32>,
    /// For each region the start of its boundaries with ports in `order`.
    free: Vec<u32>,
    /// For each region the next free index in `order`.
    filled: Vec<u32>,
    /// For each boundary true if `arrange` has put it into `order`.
    reached: Vec<bool>,
    colours: Colours,
    packer: Packer,
    best: Vec<u8>,
    /// Orbits of ports under the symmetries found.
    orbits: DisjointSets,
}

/// Result of a sequence of choices: the bytes, and the ports in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CanonicalLeaf {
    bytes: Vec<u8>,
    /// The ports in their order, each with its colour.
    order: Vec<(u64, u32)>,
}

impl CanonicalLeaf {
    /// Returns true if mapping the ports of one leaf onto the ports of the other by rank is a symmetry that
    /// keeps all colours. Such a symmetry also keeps the choices that both leaves have in common.
    fn matches(&self, other: &CanonicalLeaf) -> bool {
        self.bytes == other.bytes
            && self.order.iter().map(|port| port.0).eq(other.order.iter().map(|port| port.0))
    }
}

impl Canoniser {
    /// Returns the canonical bytes of a packed, simplified land, and the land itself, unpacked.
    ///
    /// Takes a few passes over the land, and about one more for each port that a symmetry maps onto another
    /// port; seconds at most.
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
            // Most lands: no two ports have the same colour.
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
        // This needs a second pass: letters within a boundary can be distinguished from links only now.
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

    /// Writes the land for an order of the ports.
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

    /// Orders regions and boundaries by their first ports.
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

    /// Returns the direction in which the words of a region are less. If the words are equal, both
    /// directions give the same bytes.
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

    /// Tries all sequences of choices that begin with the choices made so far; `cell` has the ports of the
    /// first tie. On the path of first choices (`first_line`), symmetries are recorded in `orbits`. Every
    /// symmetry recorded so far keeps the choices made so far.
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

    /// Chooses the first port of every tie until there are no ties.
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

    /// Returns true if a symmetry maps a port onto one of `others`.
    fn is_like_one_of(&mut self, port: u32, others: &[u32]) -> bool {
        let orbit = self.orbits.root(port);
        others.iter().any(|&other| self.orbits.root(other) == orbit)
    }
}

/// [`LETTER`] as a symbol.
const LETTERS: u32 = LETTER as u32;

/// Symbol of the port with rank 0. It is above all symbols of other tokens, except distances of letters in
/// lands that are larger than any that this program creates.
const PORT: u32 = 1 << 16;
