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
//! A land of one region has no ports and takes a shorter way.

mod colours;
mod words;

use super::disjoint::DisjointSets;
use super::flat::{Flat, LETTER, Packer};
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
    /// Where to begin, forward and backward; of a boundary with ports, the least one.
    begin: [u32; 2],
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
    met: Vec<(u32, u32, u32)>,
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
    /// Rank of each port in the order that is being tried.
    rank: Vec<u32>,
    colours: Colours,
    packer: Packer,
    best: Vec<u8>,
    /// Ports that a symmetry maps onto each other.
    orbits: DisjointSets,
}

/// The end of a line of choices: the bytes, and the colours of the ports in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Leaf {
    bytes: Vec<u8>,
    /// Colour and port.
    order: Vec<(u64, u32)>,
}

impl Leaf {
    /// Whether mapping the ports of one onto those of the other, by rank, is a symmetry that keeps
    /// colours, and with them the choices that both have in common.
    fn matches(&self, other: &Leaf) -> bool {
        self.bytes == other.bytes
            && self.order.iter().map(|port| port.0).eq(other.order.iter().map(|port| port.0))
    }
}

impl Canoniser {
    /// The canonical bytes of a packed land that has been simplified.
    ///
    /// Cost: a few passes over the land, and for lands with ports in many symmetric places as many
    /// more as there are such places.
    pub(super) fn run(&mut self, packed: &[u8]) -> &[u8] {
        self.flat.unpack(packed);
        self.survey();
        self.read_boundaries_without_ports();
        self.orbits.begin(self.ports.len());
        if self.ports.is_empty() {
            self.regions.clear();
            self.regions.push(0);
            self.write();
            std::mem::swap(&mut self.packer.bytes, &mut self.best);
            return &self.best;
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
        &self.best
    }

    /// Finds partners, boundaries and ports.
    fn survey(&mut self) {
        let flat = &self.flat;
        self.partner.clear();
        self.partner.resize(flat.tokens.len(), NONE);
        self.met.clear();
        self.met.resize(usize::from(flat.letters), (NONE, 0, 0));
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
                    let met = &mut self.met[usize::from(token - LETTER)];
                    if met.0 == NONE {
                        *met = (at as u32, boundary as u32, region as u32);
                    } else {
                        self.partner[at] = met.0;
                        self.partner[met.0 as usize] = at as u32;
                    }
                }
                let (start, length) = (span.start as u32, span.len() as u32);
                self.borders.push(Border { start, length, ..Border::default() });
            }
        }
        if !linked {
            return;
        }
        // Once more, now that letters within a region can be told from links.
        for region in 0..flat.regions.len() {
            for boundary in flat.boundaries(region) {
                let first = self.ports.len() as u32;
                for at in flat.span(boundary) {
                    let token = flat.tokens[at];
                    if token < LETTER {
                        continue;
                    }
                    let met = &mut self.met[usize::from(token - LETTER)];
                    let other = self.partner[at];
                    let border = &self.borders[boundary];
                    if (border.start..border.start + border.length).contains(&other) {
                        continue;
                    }
                    let here = self.ports.len() as u32;
                    let mut port = Port {
                        at: at as u32,
                        boundary: boundary as u32,
                        region: region as u32,
                        partner: NONE,
                    };
                    if (at as u32) < other {
                        met.0 = here;
                    } else {
                        port.partner = met.0;
                        self.ports[met.0 as usize].partner = here;
                    }
                    self.ports.push(port);
                }
                self.borders[boundary].ports = (first, self.ports.len() as u32);
            }
        }
    }

    /// What stands at a place, as far as rotation does not change it: digits; for a letter within
    /// the boundary the distance to its other occurrence in the direction of reading; for a port
    /// the rank above everything else.
    #[inline]
    fn symbol(&self, border: &Border, at: u32, way: Way) -> u32 {
        let token = self.flat.tokens[at as usize];
        if token < LETTER {
            return u32::from(token);
        }
        let partner = self.partner[at as usize];
        let offset = partner.wrapping_sub(border.start);
        if offset >= border.length {
            return PORT + self.rank[self.port_at(border, at)];
        }
        let ahead = if partner > at { partner - at } else { partner + border.length - at };
        u32::from(LETTER) + if way == Way::Forward { ahead } else { border.length - ahead }
    }

    fn port_at(&self, border: &Border, at: u32) -> usize {
        let (first, end) = border.ports;
        let ports = &self.ports[first as usize..end as usize];
        first as usize + ports.iter().position(|port| port.at == at).expect("a port is listed")
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
                for at in words::places(border, way) {
                    self.packer.token(self.flat.tokens[at as usize]);
                }
            }
        }
    }

    /// Orders regions and boundaries as their first ports come.
    fn arrange(&mut self, order: &[u32]) {
        self.rank.resize(self.ports.len(), 0);
        self.regions.clear();
        self.filled.clear();
        self.filled.extend_from_slice(&self.free);
        self.reached.clear();
        self.reached.resize(self.borders.len(), false);
        for (rank, &port) in (0..).zip(order) {
            self.rank[port as usize] = rank;
            let Port { at, boundary, region, .. } = self.ports[port as usize];
            if std::mem::replace(&mut self.reached[boundary as usize], true) {
                continue;
            }
            self.borders[boundary as usize].begin = [at; 2];
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
    fn search(&mut self, colours: &mut Colours, cell: Vec<u32>, first_line: bool) -> Leaf {
        let mut first: Option<Leaf> = None;
        let mut tried: Vec<u32> = Vec::new();
        let saved = colours.save();
        for port in cell {
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
    fn descend(&mut self, colours: &mut Colours) -> Leaf {
        while let Some(cell) = colours.refine(self) {
            colours.choose(cell[0]);
        }
        self.leaf(colours)
    }

    fn leaf(&mut self, colours: &mut Colours) -> Leaf {
        self.write_in_order(colours.order());
        if self.best.is_empty() || self.packer.bytes < self.best {
            self.best.clone_from(&self.packer.bytes);
        }
        let order = colours.order().iter().map(|&port| (colours.of(port), port)).collect();
        Leaf { bytes: self.packer.bytes.clone(), order }
    }

    /// Whether a symmetry maps a port onto one of these.
    fn is_like_one_of(&mut self, port: u32, others: &[u32]) -> bool {
        let orbit = self.orbits.root(port);
        others.iter().any(|&other| self.orbits.root(other) == orbit)
    }
}

/// Ranks of ports begin here: above every other symbol, but letters' distances in lands that are
/// larger than any that this program makes.
const PORT: u32 = 1 << 16;
