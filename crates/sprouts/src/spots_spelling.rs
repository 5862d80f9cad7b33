//! Texts of lands as SPOTS spells them.
//!
//! SPOTS (Čížek, Balko and Schmid) looks up Grundy numbers by the text of a land, after it has sorted the
//! land in these steps:
//!
//! 1. Letters are named in the order of their first occurrences.
//! 2. Boundaries are rotated, regions are reversed, and everything is sorted. In the first comparison, all
//!    lower-case letters are equal, and so are all upper-case letters. The names of letters decide ties.
//! 3. Letters are named again. If that changes a name, everything is sorted once more.
//!
//! The order of two regions or boundaries that differ only in the names of letters depends on the names in
//! step 1, that is, on how the land was written after the last move. So a land may have several texts.
//!
//! Therefore [`spellings`] writes the land in many ways, sorts each as SPOTS does, and collects the texts.
//! A land has one text if no name influenced its sorting.
//!
//! `Sorter` sorts [`RegionWords`] of [`Symbol`]s; `SpellingRandom` chooses the ways of writing.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use pn_search::split_mix::{STEP, mix};

use super::flat::{Region, Spot};
use super::names::{Alphabet, pair_locations, write_regions};

/// Maximum number of texts collected for a land. Lands that arise from 0*12 had up to nine.
const MAX_TEXTS: usize = 64;
/// The search for texts ends after this number of consecutive ways of writing that give no new text. With the
/// value 8, 0.4 % of the texts that SPOTS looked up while it solved 0*10 are missed; with 16, 0.1 %; with 32,
/// 0.01 %.
const MAX_MISSES: usize = 32;

/// A vertex as a number. SPOTS orders vertices as these numbers are ordered.
type Symbol = u16;
const LOWER: Symbol = 4;
const UPPER: Symbol = 1 << 12;
/// Ends of boundaries and regions take part in comparisons. They are greater than all vertices.
const BOUNDARY_END: [Symbol; 1] = [1 << 13];
const REGION_END: [Symbol; 1] = [BOUNDARY_END[0] + 1];

/// The boundaries of a region.
type RegionWords = Vec<Vec<Symbol>>;

/// Returns the texts that SPOTS may use as keys of a land. Rare texts may be missing.
pub(super) fn spellings(mut land: Vec<Region>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let (text, is_only) = spell(&land);
    found.insert(text);
    let mut random = SpellingRandom(0);
    let mut misses = if is_only { MAX_MISSES } else { 0 };
    while misses < MAX_MISSES && found.len() < MAX_TEXTS {
        respell(&mut land, &mut random);
        misses = if found.insert(spell(&land).0) { 0 } else { misses + 1 };
    }
    found
}

/// Returns the text that SPOTS writes for a land written like this, and true if it is the land's only text.
fn spell(land: &[Region]) -> (String, bool) {
    let mut regions = symbols(land);
    rename(&mut regions);
    let mut sorter = Sorter::default();
    sorter.sort(&mut regions);
    let is_only = !sorter.names_decided;
    let sorted = regions.clone();
    rename(&mut regions);
    if regions != sorted {
        sorter.sort(&mut regions);
    }
    (text(&regions), is_only)
}

fn symbols(land: &[Region]) -> Vec<RegionWords> {
    let pair_locations = pair_locations(land);
    let symbol = |spot: &Spot| match *spot {
        Spot::Single(ends) => Symbol::from(ends),
        Spot::Pair(pair) if pair_locations[&pair].is_lower => LOWER + pair as Symbol,
        Spot::Pair(pair) => UPPER + pair as Symbol,
    };
    let word = |boundary: &Vec<Spot>| boundary.iter().map(symbol).collect();
    land.iter().map(|region| region.iter().map(word).collect()).collect()
}

/// Returns the symbol for the first comparison, in which all lower-case letters are equal, and all upper-case
/// letters are equal.
fn kind(symbol: Symbol) -> Symbol {
    match symbol {
        0..LOWER => symbol,
        LOWER..UPPER => LOWER,
        _ if symbol < BOUNDARY_END[0] => UPPER,
        _ => symbol,
    }
}

/// Names letters in the order of their first occurrences. Lower-case names start again in each boundary.
fn rename(regions: &mut [RegionWords]) {
    let (mut lower, mut upper) = (HashMap::new(), HashMap::new());
    for boundary in regions.iter_mut().flatten() {
        lower.clear();
        for symbol in boundary {
            let first = kind(*symbol);
            let names = match first {
                LOWER => &mut lower,
                UPPER => &mut upper,
                _ => continue,
            };
            let next = first + names.len() as Symbol;
            *symbol = *names.entry(*symbol).or_insert(next);
        }
    }
}

#[derive(Default)]
struct Sorter {
    /// True if a comparison was decided by the names of letters.
    names_decided: bool,
}

impl Sorter {
    fn compare<'a, I>(&mut self, a: I, b: I) -> Ordering
    where
        I: Iterator<Item = &'a Symbol> + Clone,
    {
        let kinds = |symbols: &I| symbols.clone().map(|&symbol| kind(symbol));
        kinds(&a).cmp(kinds(&b)).then_with(|| {
            let order = a.cmp(b);
            self.names_decided |= order.is_ne();
            order
        })
    }

    fn sort(&mut self, regions: &mut [RegionWords]) {
        for region in regions.iter_mut() {
            self.sort_boundaries(region);
            let mut turned = region.clone();
            turned.iter_mut().for_each(|boundary| boundary.reverse());
            self.sort_boundaries(&mut turned);
            if self.compare(symbols_of(&turned), symbols_of(region)).is_lt() {
                *region = turned;
            }
        }
        regions.sort_by(|a, b| self.compare(symbols_of(a), symbols_of(b)));
    }

    fn sort_boundaries(&mut self, region: &mut RegionWords) {
        for boundary in region.iter_mut() {
            let from = |begin: usize| boundary[begin..].iter().chain(&boundary[..begin]);
            let mut best = 0;
            for begin in 1..boundary.len() {
                if self.compare(from(begin), from(best)).is_lt() {
                    best = begin;
                }
            }
            boundary.rotate_left(best);
        }
        region.sort_by(|a, b| {
            self.compare(a.iter().chain(&BOUNDARY_END), b.iter().chain(&BOUNDARY_END))
        });
    }
}

/// Returns the symbols of a region, with the ends of its boundaries and its own end.
fn symbols_of(region: &RegionWords) -> impl Iterator<Item = &Symbol> + Clone {
    region.iter().flat_map(|boundary| boundary.iter().chain(&BOUNDARY_END)).chain(&REGION_END)
}

fn text(regions: &[RegionWords]) -> String {
    let letters = |first: Symbol| {
        let all = regions.iter().flatten().flatten().filter(|&&symbol| kind(symbol) == first);
        all.map(|symbol| u32::from(symbol - first + 1)).max().unwrap_or(0)
    };
    let alphabet = Alphabet { lower: letters(LOWER), upper: letters(UPPER) };
    let name = |&symbol: &Symbol| match kind(symbol) {
        first @ (LOWER | UPPER) => alphabet.name((symbol - first).into(), first == LOWER),
        digit => digit.to_string(),
    };
    let mut text = String::new();
    write_regions(&mut text, regions, &[0], |word| word.iter().map(name).collect())
        .expect("strings take any text");
    text
}

struct SpellingRandom(u64);

impl SpellingRandom {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(STEP);
        (mix(self.0) % bound as u64) as usize
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

/// Writes a land in another way at random.
fn respell(land: &mut [Region], random: &mut SpellingRandom) {
    random.shuffle(land);
    for region in land {
        random.shuffle(region);
        let turn = random.below(2) == 0;
        for boundary in region {
            if turn {
                boundary.reverse();
            }
            let first = random.below(boundary.len());
            boundary.rotate_left(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Position;

    fn land(text: &str) -> Vec<Region> {
        let position: Position = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        position.lands()[0].clone()
    }

    /// Returns pairs: a land in some way of writing, and the text that SPOTS writes for it.
    fn published() -> impl Iterator<Item = (&'static str, &'static str)> {
        let lines = include_str!("../tests/data/spots_spellings.txt").lines();
        lines.filter_map(|line| line.split_once(' ').filter(|_| !line.starts_with('#')))
    }

    #[test]
    fn lands_are_spelled_as_spots_does() {
        for (written, spots) in published() {
            let (text, is_only) = spell(&land(written));
            assert_eq!(text, spots, "{written}");
            if is_only {
                assert_eq!(spellings(land(spots)), BTreeSet::from([text]), "{written}");
            }
        }
        assert_eq!(published().count(), 266);
    }

    #[test]
    fn texts_are_found_for_every_way_of_writing() {
        for (written, spots) in published() {
            assert!(spellings(land(written)).contains(spots), "{written}");
        }
    }

    /// Returns a land in all ways of writing it.
    fn all_ways(land: &[Region]) -> Vec<Vec<Region>> {
        let mut ways = vec![Vec::new()];
        for order in permutations(land.len()) {
            let mut lands = vec![Vec::new()];
            for region in order {
                let written = all_ways_of_region(&land[region]);
                let longer = |begun: &Vec<Region>| -> Vec<Vec<Region>> {
                    written
                        .iter()
                        .map(|way| [&begun[..], std::slice::from_ref(way)].concat())
                        .collect()
                };
                lands = lands.iter().flat_map(longer).collect();
            }
            ways.extend(lands);
        }
        ways.split_off(1)
    }

    fn all_ways_of_region(region: &Region) -> Vec<Region> {
        let mut turned = region.clone();
        turned.iter_mut().for_each(|boundary| boundary.reverse());
        let mut ways = Vec::new();
        for region in [region, &turned] {
            for order in permutations(region.len()) {
                let mut regions = vec![Region::new()];
                for boundary in order {
                    let mut word = region[boundary].clone();
                    let mut longer = Vec::new();
                    for _ in 0..word.len() {
                        word.rotate_left(1);
                        longer.extend(
                            regions
                                .iter()
                                .map(|begun| [&begun[..], std::slice::from_ref(&word)].concat()),
                        );
                    }
                    regions = longer;
                }
                ways.extend(regions);
            }
        }
        ways
    }

    fn permutations(count: usize) -> Vec<Vec<usize>> {
        if count == 0 {
            return vec![Vec::new()];
        }
        let with_last = |order: Vec<usize>| {
            (0..count).map(move |place| {
                let mut order = order.clone();
                order.insert(place, count - 1);
                order
            })
        };
        permutations(count - 1).into_iter().flat_map(with_last).collect()
    }

    /// Returns a land as characters. Letters are named in the order of `names`: lower-case letters from `a`
    /// in each boundary, upper-case letters from `A` in the land.
    fn named(land: &[Region], names: &[u32]) -> String {
        let pair_locations = pair_locations(land);
        let (lower, upper): (Vec<u32>, Vec<u32>) =
            names.iter().copied().partition(|pair| pair_locations[pair].is_lower);
        let mut text = String::new();
        for region in land {
            for boundary in region {
                let here = |pair: &&u32| boundary.contains(&Spot::Pair(**pair));
                let lower: Vec<u32> = lower.iter().filter(here).copied().collect();
                text.extend(boundary.iter().map(|spot| match *spot {
                    Spot::Single(ends) => char::from(b'0' + ends),
                    Spot::Pair(pair) => {
                        let is_lower = pair_locations[&pair].is_lower;
                        let (first, names) = if is_lower { (b'a', &lower) } else { (b'A', &upper) };
                        let place = names.iter().position(|&name| name == pair).unwrap();
                        char::from(first + place as u8)
                    }
                }));
                text.push('~');
            }
            text.push('\u{7f}');
        }
        text
    }

    /// Returns the spots that occur twice, in the order of their first occurrences.
    fn names(land: &[Region]) -> Vec<u32> {
        let mut names = Vec::new();
        for spot in land.iter().flatten().flatten() {
            if let Spot::Pair(pair) = *spot
                && !names.contains(&pair)
            {
                names.push(pair);
            }
        }
        names
    }

    /// Returns the smallest way of writing. The order is digits, lower case, upper case, ends; names decide
    /// ties.
    fn least(ways: &[Vec<Region>], names: &[u32]) -> Vec<Region> {
        let key = |way: &&Vec<Region>| {
            let text = named(way, names);
            let kinds = text.chars().map(|sign| match sign {
                'a'..='z' => ':',
                'A'..='Z' => ';',
                other => other,
            });
            (kinds.collect::<String>(), text)
        };
        ways.iter().min_by_key(key).unwrap().clone()
    }

    /// Reference implementation: takes the smallest of all ways to write the land, names the letters again,
    /// and repeats this once.
    fn reference_texts(land: &[Region]) -> BTreeSet<String> {
        let ways = all_ways(land);
        let orders: BTreeSet<Vec<u32>> = ways.iter().map(|way| names(way)).collect();
        let once: Vec<Vec<Region>> = orders.iter().map(|order| least(&ways, order)).collect();
        once.iter()
            .map(|once| {
                let order = names(once);
                let twice = least(&ways, &order);
                let text = named(&twice, &order);
                text.replace("~\u{7f}", "|").replace('~', ".").trim_end_matches('|').to_owned()
            })
            .collect()
    }

    #[test]
    fn texts_agree_with_the_reference_implementation() {
        let mut several = 0;
        for text in [
            "12",
            "0.AB|AB",
            "1A2B|AB",
            "1aAa|2A",
            "0.ABC|ABC",
            "ABCD|ABCD",
            "AB|AC|BC",
            "0.AB|12BA",
            "1ABC|2ACB",
            "0.AB|1A|2B",
            "0.ABC|1ABC",
            "ABC|AD|BCD",
            "1AB|2BC|AC",
            "0.1ABC|2ACB",
            "0.AB|1BAa1a",
            "1aABCa|2BCA",
            "0.AB|12aABa",
        ] {
            let land = land(text);
            let expected = reference_texts(&land);
            assert_eq!(spellings(land), expected, "{text}");
            several += usize::from(expected.len() > 1);
        }
        assert!(several >= 3, "{several}");
    }
}
