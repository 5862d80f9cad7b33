//! Colours of ports: hashes of everything about a port that does not depend on names.
//!
//! A round computes a new colour for every port. It depends on the colours and tokens around the port's
//! boundary, on the rest of the region, and on the other occurrence of the port's letter. Regions are read in
//! both directions. If the results differ, the one with the smaller hash is used; otherwise both contribute
//! equally.
//!
//! [`Colours`] holds the colours and the [`Ring`]s, which are the boundaries with ports.

use super::{Canoniser, NONE, Way};

/// An odd base of polynomial hashes of words, and its inverse modulo 2^64.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
const UNBASE: u64 = inverse(BASE);

const fn inverse(odd: u64) -> u64 {
    let mut inverse = 1u64;
    let mut round = 0;
    while round < 6 {
        // Newton's method: the number of correct bits doubles.
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        round += 1;
    }
    inverse
}

/// Mixes two words. The order matters.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x2D35_8DCC_AA6C_78A5) * u128::from(b ^ 0x8BB8_4B93_962E_ACC9);
    (product as u64) ^ (product >> 64) as u64
}

#[inline]
fn mix(value: u64) -> u64 {
    fold(value, BASE)
}

#[inline]
fn power(length: usize) -> u64 {
    (0..length).fold(1, |power: u64, _| power.wrapping_mul(BASE))
}

/// Number of ports read for one land after which no more choices are tried: about half a second's work. In
/// searches of up to 14 spots, no land takes a thousandth of it.
const MAX_WORK: u64 = 1 << 22;

/// Maximum number of ports that are sorted by counting smaller keys.
const MAX_COUNTING_SORT: usize = 64;

/// A boundary with ports.
#[derive(Clone, Copy, Debug, Default)]
struct Ring {
    /// The ports are `first..end`.
    first: u32,
    end: u32,
    region: u32,
    /// [`BASE`] to the power of the number of ports minus one.
    power: u64,
    /// True if the boundary is the same word in both directions, for any colours.
    even: bool,
}

/// The colours and the data from which they are computed.
#[derive(Debug, Default)]
pub(super) struct Colours {
    colour: Vec<u64>,
    next: Vec<u64>,
    /// Hash of the tokens between a port and the next port of its boundary, forward and backward.
    gaps: Vec<[u64; 2]>,
    /// Hashes of the boundary read from each port, forward and backward.
    read: Vec<[u64; 2]>,
    elements: Vec<u64>,
    rings: Vec<Ring>,
    /// Constant part of a region's hash: isolated spots and boundaries without ports.
    fixed: Vec<[u64; 2]>,
    region: Vec<[u64; 2]>,
    /// High half of each colour, by which ports are sorted. Equal halves are a tie like any other.
    keys: Vec<i32>,
    /// Ports by key.
    order: Vec<u32>,
    /// Number of choices made so far, from which the new colour of a chosen port is computed.
    choices: u64,
    /// Number of ports read since `begin`.
    work: u64,
}

impl Colours {
    /// Initialises the colours for a land.
    pub(super) fn begin(&mut self, land: &Canoniser) {
        self.work = 0;
        self.fixed.clear();
        self.rings.clear();
        self.gaps.clear();
        self.gaps.resize(land.ports.len(), [0; 2]);
        for region in 0..land.flat.regions.len() {
            let isolated = mix(u64::from(land.flat.regions[region].isolated) + 1);
            let mut fixed = [isolated; 2];
            for boundary in land.flat.boundaries(region) {
                let border = &land.borders[boundary];
                let (first, end) = border.ports;
                if first == end {
                    for way in [Way::Forward, Way::Backward] {
                        let mut hash = u64::from(border.length);
                        for &symbol in border.read(way, &land.symbols[way as usize]) {
                            hash = hash.wrapping_mul(BASE).wrapping_add(symbol.into());
                        }
                        let sum = &mut fixed[way as usize];
                        *sum = sum.wrapping_add(mix(hash));
                    }
                } else {
                    self.measure_gaps(land, boundary);
                    let power = power((end - first) as usize - 1);
                    let even = border.length <= 2;
                    self.rings.push(Ring { first, end, region: region as u32, power, even });
                }
            }
            self.fixed.push(fixed);
        }
        self.colour.clear();
        self.colour.resize(land.ports.len(), 1);
        self.choices = 0;
        self.split_exchangeable_pairs(land);
    }

    fn measure_gaps(&mut self, land: &Canoniser, boundary: usize) {
        let border = &land.borders[boundary];
        let (first, end) = border.ports;
        let last_at = border.start + border.length - 1;
        for port in first..end {
            let from = land.ports[port as usize].at;
            let next = if port + 1 == end { first } else { port + 1 };
            let to = land.ports[next as usize].at;
            // The tokens between the two ports: forward from this port, and backward from the next one.
            let (mut ahead, mut back) = (0u64, 0u64);
            let mut factor = 1u64;
            let mut at = from;
            loop {
                at = if at == last_at { border.start } else { at + 1 };
                if at == to {
                    break;
                }
                let forward = land.symbols[0][at as usize];
                let backward = land.symbols[1][border.mirrored(at) as usize];
                ahead = ahead.wrapping_mul(BASE).wrapping_add(forward.into());
                back = back.wrapping_add(factor.wrapping_mul(backward.into()));
                factor = factor.wrapping_mul(BASE);
            }
            self.gaps[port as usize][0] = mix(ahead);
            self.gaps[next as usize][1] = mix(back);
        }
    }

    /// Gives different colours to the letters `A` and `B` of two boundaries `AB` and `AB` in different
    /// regions. These letters can always be exchanged without changing anything else, so either may come
    /// first.
    fn split_exchangeable_pairs(&mut self, land: &Canoniser) {
        for ring in &self.rings {
            if ring.end - ring.first != 2 {
                continue;
            }
            let [a, b] = [ring.first, ring.first + 1].map(|port| land.ports[port as usize]);
            let [c, d] = [a, b].map(|port| land.ports[port.partner as usize].boundary);
            let alone = |boundary: u32| land.borders[boundary as usize].length == 2;
            if c == d && a.boundary < c && alone(a.boundary) && alone(c) {
                self.colour[ring.first as usize] = 2;
                self.colour[a.partner as usize] = 2;
            }
        }
    }

    /// Refines the colours until every port has a colour of its own, or until a round does not split any
    /// class of ports with equal colours. In the second case, returns the ports of the first such class.
    pub(super) fn refine(&mut self, land: &Canoniser) -> Option<Vec<u32>> {
        let ports = self.colour.len();
        self.round(land);
        let mut classes = self.sort();
        while classes < ports {
            self.round(land);
            let now = self.sort();
            if now == classes {
                return Some(self.first_tie());
            }
            classes = now;
        }
        None
    }

    /// Returns the ports in the order of their colours.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    pub(super) fn of(&self, port: u32) -> u64 {
        self.colour[port as usize]
    }

    /// Assigns a new colour to a port.
    pub(super) fn choose(&mut self, port: u32) {
        self.choices += 1;
        let colour = &mut self.colour[port as usize];
        *colour = fold(*colour, self.choices);
    }

    pub(super) fn save(&self) -> (Vec<u64>, u64) {
        (self.colour.clone(), self.choices)
    }

    pub(super) fn restore(&mut self, saved: &(Vec<u64>, u64)) {
        self.colour.clone_from(&saved.0);
        self.choices = saved.1;
    }

    /// Sorts the ports and returns the number of different colours.
    fn sort(&mut self) -> usize {
        let Colours { colour, keys, order, .. } = self;
        keys.clear();
        // Keys are signed, because some processors can only compare signed numbers several at a time.
        let key = |&colour: &u64| (colour >> 32) as i32 ^ i32::MIN;
        keys.extend(colour.iter().map(key));
        order.clear();
        if keys.len() > MAX_COUNTING_SORT {
            order.extend(0..keys.len() as u32);
            order.sort_unstable_by_key(|&port| (keys[port as usize], port));
            return order.chunk_by(|&a, &b| keys[a as usize] == keys[b as usize]).count();
        }
        // Smaller keys are counted without branches, so the compiler vectorises the comparison.
        order.resize(keys.len(), NONE);
        let mut classes = 0;
        for (port, own) in (0..).zip(keys.iter()) {
            let less = keys.iter().map(|key| u32::from(key < own)).sum::<u32>() as usize;
            // Ports with the same key and smaller numbers are in `order` already.
            let equal = order[less..].iter().take_while(|&&other| other != NONE).count();
            order[less + equal] = port;
            classes += usize::from(equal == 0);
        }
        classes
    }

    fn first_tie(&self) -> Vec<u32> {
        let same = |&a: &u32, &b: &u32| self.keys[a as usize] == self.keys[b as usize];
        let mut ties = self.order.chunk_by(same).filter(|class| class.len() > 1);
        ties.next().expect("fewer colours than ports").to_vec()
    }

    /// Returns true if the work limit is exceeded.
    pub(super) fn is_exhausted(&self) -> bool {
        self.work > MAX_WORK
    }

    fn round(&mut self, land: &Canoniser) {
        self.work += land.ports.len() as u64;
        self.region.clone_from(&self.fixed);
        self.read.resize(self.colour.len(), [0; 2]);
        self.elements.resize(self.colour.len(), 0);
        for number in 0..self.rings.len() {
            let ring = self.rings[number];
            let forward = self.read_ring(ring, 0);
            let backward = if ring.even { forward } else { self.read_ring(ring, 1) };
            if ring.even {
                let ports = ring.first as usize..ring.end as usize;
                self.read[ports].iter_mut().for_each(|read| read[1] = read[0]);
            }
            let region = &mut self.region[ring.region as usize];
            region[0] = region[0].wrapping_add(mix(forward));
            region[1] = region[1].wrapping_add(mix(backward));
        }
        self.next.clear();
        self.next.extend(land.ports.iter().zip(&self.read).map(|(port, read)| {
            let region = self.region[port.region as usize];
            match region[0].cmp(&region[1]) {
                std::cmp::Ordering::Less => fold(read[0], region[0]),
                std::cmp::Ordering::Equal => {
                    fold(read[0], region[0]).wrapping_add(fold(read[1], region[0]))
                }
                std::cmp::Ordering::Greater => fold(read[1], region[1]),
            }
        }));
        for ((port, own), colour) in land.ports.iter().zip(&self.next).zip(&mut self.colour) {
            *colour = fold(*own, self.next[port.partner as usize].rotate_left(32));
        }
    }

    /// Reads a boundary from each of its ports. Returns a hash of all these words together.
    fn read_ring(&mut self, ring: Ring, way: usize) -> u64 {
        let (first, end) = (ring.first as usize, ring.end as usize);
        let (colour, gaps) = (&self.colour[first..end], &self.gaps[first..end]);
        let read = &mut self.read[first..end];
        let element = |port: usize| fold(colour[port], gaps[port][way]);
        match colour.len() {
            1 => {
                read[0][way] = element(0);
                return element(0);
            }
            2 => {
                let (a, b) = (element(0), element(1));
                let words = [fold(a, b.rotate_left(32)), fold(b, a.rotate_left(32))];
                read[0][way] = words[0];
                read[1][way] = words[1];
                return words[0].wrapping_add(words[1]);
            }
            _ => {}
        }
        let elements = &mut self.elements[first..end];
        for (port, place) in elements.iter_mut().enumerate() {
            *place = element(port);
        }
        // A word's hash is the sum of element · BASE^distance, with distances from the start of reading. When
        // reading starts one port later, the first element becomes the last.
        let horner = |word: u64, &element: &u64| word.wrapping_mul(BASE).wrapping_add(element);
        let mut sum = 0u64;
        let step = |word: &mut u64, element: u64, read: &mut [u64; 2]| {
            read[way] = mix(*word);
            let rest = word.wrapping_sub(element).wrapping_mul(UNBASE);
            *word = rest.wrapping_add(element.wrapping_mul(ring.power));
            read[way]
        };
        if way == 0 {
            let mut word = elements.iter().rev().fold(0, horner);
            for (&element, read) in elements.iter().zip(read) {
                sum = sum.wrapping_add(step(&mut word, element, read));
            }
        } else {
            let mut word = elements.iter().fold(0, horner);
            for (&element, read) in elements.iter().zip(read).rev() {
                sum = sum.wrapping_add(step(&mut word, element, read));
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_sorted_by_their_keys() {
        let mut state = 1u64;
        for ports in [1, 2, 5, 17, MAX_COUNTING_SORT, MAX_COUNTING_SORT + 1, 200] {
            for kinds in [1, 3, 40, u64::MAX] {
                let colour: Vec<u64> = (0..ports)
                    .map(|_| {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        mix((state >> 20) % kinds)
                    })
                    .collect();
                let mut colours = Colours { colour: colour.clone(), ..Colours::default() };
                let classes = colours.sort();
                let mut reference: Vec<(u64, u32)> =
                    colour.iter().zip(0..).map(|(&colour, port)| (colour >> 32, port)).collect();
                reference.sort_unstable();
                let order: Vec<u32> = reference.iter().map(|&(_, port)| port).collect();
                assert_eq!(colours.order(), order);
                reference.dedup_by_key(|&mut (colour, _)| colour);
                assert_eq!(classes, reference.len());
            }
        }
    }
}
