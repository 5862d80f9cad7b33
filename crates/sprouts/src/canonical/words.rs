//! Boundaries as cyclic words.

use super::{Border, Canoniser, Way};
use std::cmp::Ordering;

impl Canoniser {
    /// Compares two boundaries, each read in the given direction. Shorter boundaries come first.
    pub(super) fn compare(&self, (a, a_way): (u32, Way), (b, b_way): (u32, Way)) -> Ordering {
        let length = |boundary: u32| self.borders[boundary as usize].length;
        let word = |boundary: u32, way: Way| {
            self.borders[boundary as usize].read(way, &self.symbols[way as usize])
        };
        length(a).cmp(&length(b)).then_with(|| word(a, a_way).cmp(word(b, b_way)))
    }

    /// Finds the least rotations of the boundaries without ports, and the order of these boundaries in each
    /// region, in both directions. In `order`, the boundaries with ports follow them.
    pub(super) fn read_boundaries_without_ports(&mut self) {
        for boundary in 0..self.borders.len() {
            let border = self.borders[boundary];
            if border.ports.0 == border.ports.1 {
                let begin = [Way::Forward, Way::Backward].map(|way| self.least_begin(border, way));
                self.borders[boundary].begin = begin;
            }
        }
        let mut order = std::mem::take(&mut self.order);
        order.iter_mut().for_each(Vec::clear);
        self.free.clear();
        for region in 0..self.flat.regions.len() {
            let boundaries = self.flat.boundaries(region);
            for boundary in boundaries.clone() {
                let (first, end) = self.borders[boundary].ports;
                if first == end {
                    order.iter_mut().for_each(|order| order.push(boundary as u32));
                }
            }
            let free = order[0].len();
            self.free.push(free as u32);
            if free - boundaries.start > 1 {
                for (way, order) in [Way::Forward, Way::Backward].into_iter().zip(&mut order) {
                    order[boundaries.start..]
                        .sort_unstable_by(|&a, &b| self.compare((a, way), (b, way)));
                }
            }
            // Elements for the boundaries with ports, which `arrange` sets.
            order.iter_mut().for_each(|order| order.resize(boundaries.end, 0));
        }
        self.order = order;
    }

    /// Returns the index at which reading has to start to give the least word.
    fn least_begin(&self, border: Border, way: Way) -> u32 {
        let word = |begin: u32| {
            Border { begin: [begin; 2], ..border }.read(way, &self.symbols[way as usize])
        };
        let mut best = border.start;
        for at in border.start + 1..border.start + border.length {
            if word(at).lt(word(best)) {
                best = at;
            }
        }
        best
    }
}
