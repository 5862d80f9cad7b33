//! Parameters of a coordinator and its workers.

use std::num::NonZeroUsize;

use crate::pn2::Pn2Options;

/// Parameters of a coordinator and its workers. Those of shared results and entries have to be the same in all
/// processes of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoordinatorConfig {
    /// Maximum number of nodes evaluated by a job, at the start of the search.
    pub job_nodes: u64,
    /// Maximum number of nodes evaluated in all. In one process, the workers' own limits apply instead.
    pub node_limit: Option<u64>,
    /// Maximum number of shared results in a reply.
    pub max_results_in_reply: usize,
    /// Maximum number of shared results stored for workers that have not received them: 32 bytes each for a
    /// plain game, 40 bytes and the name for a Grundy number. The latest ones are kept.
    pub max_results_stored: usize,
    /// Maximum number of the best leaves examined for one whose parent has not been searched by another
    /// worker; at least 1.
    pub leaves_compared: usize,
    /// Plain games: minimum work of an entry, solved or open, that a worker with few threads shares
    /// ([`CoordinatorConfig::min_shared_work`]).
    pub shared_work: u64,
    /// Plain games: maximum number of table entries that a worker sends for a job, the nearest ones; 16 bytes
    /// each.
    pub max_entries: usize,
    /// Plain games: virtual loss that a worker below a node adds to the node's delta when a leaf is
    /// selected, in addition to 1: a share of the delta in 1/64.
    pub virtual_loss_64: u32,
    /// Plain games: expansions of all workers after which a selection reads a node's children from the table
    /// again; `u32::MAX` for never.
    pub refresh_age: u32,
    /// Plain games: the numbers of open nodes are also read from the table and stored there.
    pub open_entries: bool,
    /// The workers are in other processes. Then the coordinator's table is its own, and leaves are assigned to
    /// workers that have searched their parents.
    pub is_remote: bool,
    /// The jobs are second-level searches of PN² instead of searches of `job_nodes` nodes.
    pub pn2: Option<Pn2Options>,
}

impl CoordinatorConfig {
    /// Workers in other processes: jobs of 8000 nodes, 65 536 results in a reply, no limit.
    pub const REMOTE: CoordinatorConfig = CoordinatorConfig {
        job_nodes: 8000,
        node_limit: None,
        max_results_in_reply: 1 << 16,
        max_results_stored: 1 << 22,
        leaves_compared: 16,
        shared_work: 100,
        max_entries: 1 << 13,
        virtual_loss_64: 1,
        refresh_age: 100_000,
        open_entries: true,
        is_remote: true,
        pn2: None,
    };

    /// Workers in one process, which share a table: jobs of 10 000 nodes, and no shared results.
    pub const LOCAL: CoordinatorConfig = CoordinatorConfig {
        job_nodes: 10_000,
        max_results_in_reply: 0,
        max_results_stored: usize::MAX,
        leaves_compared: 1,
        virtual_loss_64: 2,
        refresh_age: 1000,
        is_remote: false,
        ..CoordinatorConfig::REMOTE
    };

    /// Minimum work of an entry that a worker with this number of threads shares: with 16 threads twice that of
    /// few, from there on growing with their square. A worker of many threads finds many entries in the time of a
    /// call, and the coordinator sends each to all others.
    pub fn min_shared_work(&self, threads: NonZeroUsize) -> u64 {
        let threads = threads.get() as u64;
        self.shared_work.saturating_mul((threads.saturating_mul(threads) / 128).max(1))
    }
}
