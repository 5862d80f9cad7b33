//! Options of a search ([`SolveOptions`]), and the division of its memory between table and tree.

use std::num::NonZeroUsize;

use super::{Algorithm, SolveError};
use crate::konane::profile::{Overrides, Profile};
use crate::search::MAX_TREE_BYTES;
use crate::search::cluster::CoordinatorConfig;
use crate::search::dfpn::DfpnOptions;
use crate::search::pn2::Pn2Options;
use crate::search::pns::PnsOptions;

/// Minimum memory of a [`Solver`](super::Solver), for every algorithm: 1 MiB.
pub const MIN_MEMORY: u64 = 1 << 20;

/// The table of a search with a tree has the memory divided by this number, and the tree has the rest.
const TABLE_DIVISOR: u64 = 4;

/// Options of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveOptions {
    /// The search algorithm.
    pub algorithm: Algorithm,
    /// Parameters of the algorithm.
    pub profile: Profile,
    /// Changes of single parameters.
    pub overrides: Overrides,
    /// Bytes of table and tree together, at least [`MIN_MEMORY`].
    pub memory_bytes: u64,
    /// Number of threads. Algorithms that are not [parallel](Algorithm::is_parallel) use one.
    pub threads: NonZeroUsize,
    /// Maximum number of nodes evaluated by a job of [`Algorithm::PnsPdfpn`], at least 2.
    pub job_nodes: u64,
}

impl Default for SolveOptions {
    /// df-pn with the tuned profile, 1 GiB and one thread.
    fn default() -> Self {
        SolveOptions {
            algorithm: Algorithm::Dfpn,
            profile: Profile::Tuned,
            overrides: Overrides::default(),
            memory_bytes: 1 << 30,
            threads: NonZeroUsize::MIN,
            job_nodes: CoordinatorConfig::LOCAL.job_nodes,
        }
    }
}

impl SolveOptions {
    /// The parameters of df-pn.
    pub fn dfpn(&self) -> DfpnOptions {
        self.overrides.dfpn(self.profile.dfpn())
    }

    /// The parameters of PNS.
    pub fn pns(&self) -> PnsOptions {
        self.overrides.pns(self.profile.pns())
    }

    /// The parameters of PN².
    pub fn pn2(&self) -> Pn2Options {
        self.overrides.pn2(self.profile.pn2())
    }

    /// Divides the memory into bytes of the table and of the tree. df-pn and α-β have no tree. With the other
    /// algorithms ([`Algorithm::keeps_tree`]), the table has a quarter of the memory, because solved positions are
    /// removed from the tree and stored in the table. The table also has the memory that exceeds the maximum size of
    /// the tree, or of the trees of both levels of PN².
    pub(in crate::konane) fn divide_memory(&self) -> (u64, u64) {
        let all = self.memory_bytes;
        let maximum = match self.algorithm {
            Algorithm::Dfpn | Algorithm::AlphaBeta => 0,
            Algorithm::Pns | Algorithm::PnsPdfpn => MAX_TREE_BYTES,
            Algorithm::Pn2 => 2 * MAX_TREE_BYTES,
        };
        let tree = (all - all / TABLE_DIVISOR).min(maximum);
        (all - tree, tree)
    }

    /// Bytes of the table and of the tree.
    ///
    /// # Errors
    /// If the memory is less than [`MIN_MEMORY`] or more than can be addressed.
    pub(in crate::konane) fn memory(&self) -> Result<(usize, usize), SolveError> {
        let bytes = self.memory_bytes;
        if bytes < MIN_MEMORY {
            return Err(SolveError::TooLittleMemory { bytes });
        }
        let (table, tree) = self.divide_memory();
        let addressable = |part: u64| {
            let part = usize::try_from(part).ok();
            let part = part.filter(|&part| part <= isize::MAX as usize);
            part.ok_or(SolveError::TooMuchMemory { bytes })
        };
        Ok((addressable(table)?, addressable(tree)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_memory_that_exceeds_the_maximum_tree() {
        let divided = |algorithm, memory_bytes| {
            let options = SolveOptions { algorithm, memory_bytes, ..SolveOptions::default() };
            let (table, tree) = options.divide_memory();
            assert_eq!(table + tree, memory_bytes);
            (table >> 30, tree.div_ceil(1 << 30))
        };
        const GIB: u64 = 1 << 30;
        assert_eq!(divided(Algorithm::Dfpn, 200 * GIB), (200, 0));
        for (algorithm, trees) in
            [(Algorithm::Pns, 1), (Algorithm::PnsPdfpn, 1), (Algorithm::Pn2, 2)]
        {
            assert_eq!(divided(algorithm, 80 * GIB), (20, 60));
            assert_eq!(divided(algorithm, 200 * GIB), (200 - 64 * trees, 64 * trees));
        }
    }
}
