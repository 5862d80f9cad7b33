//! A proof-number tree whose leaves are jobs for workers: PN² and PNS-PDFPN on several threads, and
//! PNS-PDFPN in several processes.
//!
//! ```text
//!            Request: idle or done, shared results
//!  worker ─────────────────────────────────────────▶ Coordinator ── select, attach, resolve ──▶ JobTree
//!         ◀─────────────────────────────────────────
//!            Reply: search, wait or quit; shared results
//! ```
//!
//! The `Coordinator` (the papers' master) has no thread, clock or file, and receives only requests from its
//! workers. The `JobTree` is the tree whose leaves the coordinator assigns: `PlainTree` for games with codes, and a
//! tree in [`crate::sums`] for impartial games.
//!
//! * In one process, `pool` puts the coordinator behind a mutex. The workers are threads that share a table.
//! * In several processes, a [`RemoteCoordinator`] receives and sends bytes (`wire`), and a
//!   [`RemoteWorker`] searches jobs that it receives as bytes; [`JobSearch`] is its part that depends on the game.
//!   Neither has a network connection: the caller transports the messages, as their *carrier*. The carrier reports
//!   lost workers to the coordinator. It may lose, duplicate and delay messages.
//!
//! ```text
//!   RemoteCoordinator ──Delivery──▶ carrier ──▶ RemoteWorker ──entries──▶ another RemoteWorker
//!                     ◀──bytes────          ◀──
//! ```
//!
//! # The way of a job
//!
//! 1. A worker sends a [`Request`](message::Request): it is idle, or its last job has ended. `Coordinator::handle`
//!    imports its shared results.
//! 2. `Coordinator::finish` adds the result of the job to the tree: children of the leaf (`JobTree::attach`) or its value
//!    (`JobTree::resolve`). Both back the numbers up to the root.
//! 3. `Coordinator::next_instruction` takes the best free leaf (`JobTree::select`), notes it as the worker's job, and
//!    replies with the leaf's node and a budget. If all leaves are taken, the worker has to wait.
//! 4. The worker searches the node: `Pool::run_jobs` calls df-pn, or the second level of PN², with the shared table; in
//!    another process, [`WireWorker`] calls [`JobSearch::search`], which is df-pn with a table of its own.
//! 5. If a node above the leaf is solved meanwhile, the leaf leaves the tree. `Coordinator::cancel_jobs` cancels the
//!    job, and its result is not added.
//!
//! # Other processes
//!
//! Workers in other processes share no memory. They exchange three kinds of data instead:
//!
//! * *Shared results*: table entries with at least a minimum of search effort, or Grundy numbers. A worker sends them
//!   to the coordinator with the result of a job. The coordinator stores them in a log, and sends them to the other
//!   workers in its replies.
//! * *Entries*: if another worker has searched the parent of the job's node, the reply contains the id of that
//!   worker. The carrier requests the entries below the node from that worker ([`RemoteWorker::entries`]).
//! * *Cancelled jobs*: jobs whose leaf has left the tree, and at the end of the search all jobs
//!   ([`RemoteCoordinator::take_cancelled`]).

mod config;
mod coordinator;
mod job_tree;
pub mod message;
mod plain_tree;
pub(super) mod pool;
mod remote_coordinator;
mod remote_worker;
pub(super) mod shared_entry;
pub mod wire;

pub use config::CoordinatorConfig;
pub(super) use coordinator::Coordinator;
pub(super) use job_tree::{JobTree, Selection};
pub(super) use plain_tree::PlainTree;
pub(super) use remote_coordinator::coordinate;
pub use remote_coordinator::{CoordinatorStatus, Delivery, RemoteCoordinator};
pub use remote_worker::{JobResult, JobSearch, RemoteWorker, WireWorker};
pub use wire::WireError;
