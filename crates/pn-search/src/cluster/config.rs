//! Parameters of a coordinator and its workers.

use std::num::NonZeroUsize;

use crate::pn2::Pn2Options;

/// Parameters of a coordinator and its workers. `shared_work` and `max_entries`, which the workers use, have to be the
/// same in all processes of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoordinatorConfig {
    /// Budget of a job, in nodes, at the start of the search (changed by
    /// [`super::RemoteCoordinator::set_job_nodes`]).
    pub job_nodes: u64,
    /// Maximum number of nodes evaluated in the whole search. In one process, the workers' own limits apply instead.
    pub node_limit: Option<u64>,
    /// Maximum number of shared results in a reply. The results of a single request are not divided, so a reply may
    /// contain more if one request did.
    pub max_results_in_reply: usize,
    /// Maximum number of shared results stored for workers that have not received them. The latest results are
    /// kept. The results of a request are dropped together, when all of them are older than these. A result takes 16
    /// bytes in a plain game, and 4 bytes plus the name of its atom in an impartial game.
    pub max_results_stored: usize,
    /// Maximum number of leaves compared for a worker that requests a job, at least 1. These are the best leaves of
    /// the tree. The worker gets the best of them that is not deferred to another worker, which has searched the
    /// leaf's parent. If all of them are deferred, the worker gets the best leaf.
    pub leaves_compared: usize,
    /// Plain games: minimum search effort of an entry, solved or open, that a worker with fewer than 16 threads
    /// shares ([`CoordinatorConfig::min_shared_work`]).
    pub shared_work: u64,
    /// Plain games: maximum number of table entries that one worker sends to another for a job, 16 bytes each. The
    /// entries nearest to the job's node are sent.
    pub max_entries: usize,
    /// Plain games: virtual loss in the selection of leaves. Each worker below a node adds
    /// 1 + delta · `virtual_loss_64` / 64 to the node's delta.
    pub virtual_loss_64: u32,
    /// Plain games: number of expansions, of all workers together, after which a selection that reaches a node
    /// looks up the node's children in the table again. `u32::MAX` means never.
    pub refresh_age: u32,
    /// Plain games: true if phi and delta of open nodes are read from the table and stored there. Values of solved
    /// nodes are always read and stored.
    pub open_entries: bool,
    /// True if the workers are in other processes. Then the coordinator has a table of its own, and leaves are
    /// preferably assigned to workers that have searched the leaves' parents.
    pub is_remote: bool,
    /// If set, the jobs are the second-level searches of PN². Their budgets follow from these options instead of
    /// `job_nodes`.
    pub pn2: Option<Pn2Options>,
}

impl CoordinatorConfig {
    /// Workers in other processes: jobs of 8000 nodes, at most 65 536 shared results in a reply, no node limit.
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

    /// Minimum search effort of an entry that a worker with this number of threads shares:
    /// `shared_work` · max(1, ⌊threads² / 128⌋). It grows with the number of threads, because a worker with many
    /// threads finds many entries while it searches a job, and the coordinator sends each of them to all other
    /// workers.
    pub fn min_shared_work(&self, threads: NonZeroUsize) -> u64 {
        let threads = threads.get() as u64;
        self.shared_work.saturating_mul((threads.saturating_mul(threads) / 128).max(1))
    }
}
