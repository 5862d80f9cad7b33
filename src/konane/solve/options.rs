//! How to solve, and how the memory is divided.

use std::num::NonZeroUsize;

use super::{Algorithm, SolveError};
use crate::konane::profile::Profile;
use crate::search::cluster::CoordinatorConfig;
use crate::search::snapshot::TreeCapacity;
use crate::search::two_level::tree_capacity;

/// The least memory that a [`Solver`](super::Solver) accepts, for every algorithm: 1 MiB.
pub const LEAST_MEMORY: u64 = 1 << 20;

/// Searches with a tree give this part of their memory to the table, one over it; the tree has the rest.
const TABLE_PART: u64 = 4;

/// How to solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolveOptions {
    /// The search.
    pub algorithm: Algorithm,
    /// Its parameters.
    pub profile: Profile,
    /// Bytes for table and tree together, at least [`LEAST_MEMORY`].
    pub memory_bytes: u64,
    /// Threads to search with, where the algorithm can ([`Algorithm::is_parallel`]).
    pub threads: NonZeroUsize,
    /// Maximum number of nodes evaluated by a job of [`Algorithm::PnsPdfpn`], at least 2.
    pub job_nodes: u64,
}

impl Default for SolveOptions {
    /// df-pn, tuned, 1 GiB, one thread.
    fn default() -> Self {
        SolveOptions {
            algorithm: Algorithm::Dfpn,
            profile: Profile::Tuned,
            memory_bytes: 1 << 30,
            threads: NonZeroUsize::MIN,
            job_nodes: CoordinatorConfig::LOCAL.job_nodes,
        }
    }
}

/// Memory divided between a table and a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::konane) struct MemoryPlan {
    /// Bytes of the table.
    pub table: u64,
    /// Bytes of the tree; 0 for the algorithms that keep none.
    pub tree: u64,
}

impl SolveOptions {
    /// Divides the memory: df-pn and α-β have a table only; the others, which keep a tree
    /// ([`Algorithm::keeps_tree`]), leave the table a quarter, where solved positions outlive their part
    /// of the tree, and what is of no use for the tree.
    pub(in crate::konane) fn memory_plan(&self) -> MemoryPlan {
        let all = self.memory_bytes;
        let tree = all - all / TABLE_PART;
        let room = self.tree_capacity(usize::try_from(tree).unwrap_or(usize::MAX));
        let tree = room.map_or(0, |room| match room.bytes() {
            bytes if bytes <= TreeCapacity::MAX_BYTES => tree,
            // Where several trees share the memory, this is the part of the largest one.
            bytes => {
                (u128::from(tree) * u128::from(TreeCapacity::MAX_BYTES) / u128::from(bytes)) as u64
            }
        });
        MemoryPlan { table: all - tree, tree }
    }

    /// Bytes of the table and of the tree, if they can be had at all.
    pub(in crate::konane) fn memory(&self) -> Result<(usize, usize), SolveError> {
        let bytes = self.memory_bytes;
        if bytes < LEAST_MEMORY {
            return Err(SolveError::TooLittleMemory { bytes });
        }
        let plan = self.memory_plan();
        let addressable = |part: u64| {
            let part = usize::try_from(part).ok();
            let part = part.filter(|&part| part <= isize::MAX as usize);
            part.ok_or(SolveError::TooMuchMemory { bytes })
        };
        Ok((addressable(plan.table)?, addressable(plan.tree)?))
    }

    /// Capacity of the tree, for the algorithms that have one.
    pub(super) fn tree_capacity(&self, bytes: usize) -> Option<TreeCapacity> {
        let capacity = match self.algorithm {
            Algorithm::Pns => Some(self.profile.pns().tree_capacity(bytes)),
            Algorithm::Pn2 => Some(self.profile.pn2().tree_capacity(bytes, self.threads)),
            Algorithm::PnsPdfpn => Some(tree_capacity(bytes, self.profile.dfpn().combination)),
            Algorithm::Dfpn | Algorithm::AlphaBeta => None,
        };
        capacity.map(|capacity| capacity.with_total(self.memory_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_what_no_tree_can_use() {
        let plan = |algorithm, memory_bytes, threads| {
            let threads = NonZeroUsize::new(threads).unwrap();
            let options =
                SolveOptions { algorithm, memory_bytes, threads, ..SolveOptions::default() };
            let MemoryPlan { table, tree } = options.memory_plan();
            assert_eq!(table + tree, memory_bytes);
            (table >> 30, tree.div_ceil(1 << 30))
        };
        const GIB: u64 = 1 << 30;
        assert_eq!(plan(Algorithm::Dfpn, 200 * GIB, 1), (200, 0));
        for algorithm in [Algorithm::Pns, Algorithm::Pn2, Algorithm::PnsPdfpn] {
            assert_eq!(plan(algorithm, 80 * GIB, 1), (20, 60));
            assert_eq!(plan(algorithm, 200 * GIB, 1), (136, 64));
        }
        // The first level has half of it, on a machine with two cores.
        if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
            assert_eq!(plan(Algorithm::Pn2, 160 * GIB, 2), (40, 120));
            assert_eq!(plan(Algorithm::Pn2, 200 * GIB, 2), (72, 128));
        }
    }
}
