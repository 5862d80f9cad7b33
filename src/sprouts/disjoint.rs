//! Disjoint sets of numbers.

/// Each set is known by its least member, its root.
#[derive(Debug, Default)]
pub(super) struct DisjointSets {
    /// A member of the same set that is not greater; a root's is itself.
    up: Vec<u32>,
}

impl DisjointSets {
    /// Makes every number below `members` a set of its own.
    pub(super) fn begin(&mut self, members: usize) {
        self.up.clear();
        self.up.extend(0..members as u32);
    }

    pub(super) fn root(&mut self, mut member: u32) -> u32 {
        while self.up[member as usize] != member {
            let up = self.up[self.up[member as usize] as usize];
            self.up[member as usize] = up;
            member = up;
        }
        member
    }

    /// Returns whether they were apart.
    pub(super) fn unite(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.up[a.max(b) as usize] = a.min(b);
        a != b
    }
}
