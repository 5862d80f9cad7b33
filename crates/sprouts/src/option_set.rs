//! [`OptionSet`]: a set of sums of lands.

use pn_search::sums::game::Atom;

/// A set of sorted lists of atoms. Keeps its memory when it is cleared.
#[derive(Debug, Default)]
pub(super) struct OptionSet {
    atoms: Vec<Atom>,
    /// End of each list in `atoms`.
    ends: Vec<u32>,
    /// Open-addressing hash table of the numbers of lists plus one; 0 marks an empty slot. The size is a
    /// power of two and at least twice the number of lists.
    table: Vec<u32>,
}

impl OptionSet {
    /// Removes all lists.
    pub(super) fn clear(&mut self) {
        // The new size is bounded, so that one land with many options does not make later calls slow.
        let places = (self.ends.len() * 4).next_power_of_two().max(64);
        self.table.clear();
        self.table.resize(places.min(1024), 0);
        self.atoms.clear();
        self.ends.clear();
    }

    /// Adds a list. Returns true if it is new.
    pub(super) fn insert(&mut self, list: &[Atom]) -> bool {
        if self.ends.len() * 2 >= self.table.len() {
            self.grow();
        }
        let mut at = self.place(list);
        while self.table[at] != 0 {
            if self.list(self.table[at] as usize - 1) == list {
                return false;
            }
            at = (at + 1) & (self.table.len() - 1);
        }
        self.atoms.extend_from_slice(list);
        self.ends.push(self.atoms.len() as u32);
        self.table[at] = self.ends.len() as u32;
        true
    }

    fn list(&self, number: usize) -> &[Atom] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.atoms[start as usize..self.ends[number] as usize]
    }

    fn place(&self, list: &[Atom]) -> usize {
        let step = |hash: u64, &atom: &Atom| {
            (hash ^ u64::from(atom)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
        };
        let hash = list.iter().fold(list.len() as u64 + 1, step);
        (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (self.table.len() - 1)
    }

    fn grow(&mut self) {
        let places = (self.table.len() * 2).max(64);
        self.table.clear();
        self.table.resize(places, 0);
        for number in 0..self.ends.len() {
            let mut at = self.place(self.list(number));
            while self.table[at] != 0 {
                at = (at + 1) & (places - 1);
            }
            self.table[at] = number as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn agrees_with_a_set_of_lists() {
        let mut set = OptionSet::default();
        for round in 0..3u32 {
            set.clear();
            let mut reference: HashSet<Vec<Atom>> = HashSet::new();
            for number in 0..3000u32 {
                let value = number.wrapping_mul(2_654_435_761) >> 20;
                let list: Vec<Atom> = (0..value % 4).map(|k| (value >> 3) + k * round).collect();
                assert_eq!(set.insert(&list), reference.insert(list.clone()));
            }
        }
    }
}
