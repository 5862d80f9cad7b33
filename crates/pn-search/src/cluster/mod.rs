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
//!   [`RemoteWorker`] searches jobs that it receives as bytes. Neither has a network connection: the caller
//!   transports the messages, as their *carrier*. The carrier reports lost workers to the coordinator. It may lose,
//!   duplicate and delay messages.
//!
//! ```text
//!   RemoteCoordinator ──Delivery──▶ carrier ──▶ RemoteWorker ──entries──▶ another RemoteWorker
//!                     ◀──bytes────          ◀──
//! ```
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
pub use remote_worker::RemoteWorker;
pub(super) use remote_worker::WorkerJobs;
pub use wire::WireError;
