//! Options of a search ([`SolveOptions`]), and the division of its memory between table and tree.

use std::num::NonZeroUsize;

use super::{Algorithm, SolveError};
use crate::konane::profile::{Overrides, Profile};
use crate::search::cluster::CoordinatorConfig;
use crate::search::dfpn::DfpnOptions;
use crate::search::pn2::Pn2Options;
use crate::search::pns::PnsOptions;
use crate::search::snapshot::TreeCapacity;
use crate::search::two_level::tree_capacity;

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
    /// the tree.
    pub(in crate::konane) fn divide_memory(&self) -> (u64, u64) {
        let all = self.memory_bytes;
        let tree = all - all / TABLE_DIVISOR;
        let memory = self.tree_memory(usize::try_from(tree).unwrap_or(usize::MAX));
        let tree = memory.map_or(0, |memory| match memory.bytes() {
            bytes if bytes <= TreeCapacity::MAX_BYTES => tree,
            // `bytes` is the size of the largest tree. If other trees share the memory, the sizes of all trees are
            // reduced in the same proportion.
            bytes => {
                (u128::from(tree) * u128::from(TreeCapacity::MAX_BYTES) / u128::from(bytes)) as u64
            }
        });
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

    /// Capacity of a tree in `bytes` bytes; `None` for an algorithm without a tree.
    pub(super) fn tree_memory(&self, bytes: usize) -> Option<TreeCapacity> {
        let memory = match self.algorithm {
            Algorithm::Pns => Some(self.pns().tree_capacity(bytes)),
            Algorithm::Pn2 => Some(self.pn2().tree_capacity(bytes, self.threads)),
            Algorithm::PnsPdfpn => Some(tree_capacity(bytes, self.dfpn().combination)),
            Algorithm::Dfpn | Algorithm::AlphaBeta => None,
        };
        memory.map(|memory| memory.with_total(self.memory_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_memory_that_exceeds_the_maximum_tree() {
        let divided = |algorithm, memory_bytes, threads| {
            let threads = NonZeroUsize::new(threads).unwrap();
            let options =
                SolveOptions { algorithm, memory_bytes, threads, ..SolveOptions::default() };
            let (table, tree) = options.divide_memory();
            assert_eq!(table + tree, memory_bytes);
            (table >> 30, tree.div_ceil(1 << 30))
        };
        const GIB: u64 = 1 << 30;
        assert_eq!(divided(Algorithm::Dfpn, 200 * GIB, 1), (200, 0));
        for algorithm in [Algorithm::Pns, Algorithm::Pn2, Algorithm::PnsPdfpn] {
            assert_eq!(divided(algorithm, 80 * GIB, 1), (20, 60));
            assert_eq!(divided(algorithm, 200 * GIB, 1), (136, 64));
        }
        // With two workers, the first level of PN² has half of the memory for trees. Two workers need two cores.
        if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
            assert_eq!(divided(Algorithm::Pn2, 160 * GIB, 2), (40, 120));
            assert_eq!(divided(Algorithm::Pn2, 200 * GIB, 2), (72, 128));
        }
    }
}
