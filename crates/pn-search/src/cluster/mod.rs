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
//! workers. The `JobTree` is the tree whose leaves it assigns; `PlainTree` is that of games with codes,
//! [`crate::sums`] has that of impartial games.
//!
//! * In one process, `pool` puts the coordinator behind a mutex. The workers are threads that share a table.
//! * In several processes, a [`RemoteCoordinator`] receives and sends bytes (`wire`), and a
//!   [`RemoteWorker`] searches jobs that it receives as bytes. Neither has a network connection: the carrier
//!   of the messages reports lost workers, and may lose, duplicate and delay messages.
//!
//! ```text
//!   RemoteCoordinator ──Delivery──▶ carrier ──▶ RemoteWorker ──entries──▶ another RemoteWorker
//!                     ◀──bytes────          ◀──
//! ```
//!
//! Workers in other processes share no memory. They exchange three kinds of data instead:
//!
//! * *Shared results*: entries of more than a minimum of work, or Grundy numbers. They go to the coordinator with
//!   the job's result, and from its log to the other workers with their replies.
//! * *Entries*: if another worker has searched the job's node or its parent, the reply names it. The carrier
//!   requests all entries below the node from that worker ([`RemoteWorker::entries`]).
//! * *Cancelled jobs*, whose leaf has left the tree ([`RemoteCoordinator::take_cancelled`]).

mod config;
mod coordinator;
mod job_tree;
pub mod message;
mod plain_tree;
pub(super) mod pool;
mod remote_coordinator;
mod remote_worker;
mod shared_entry;
pub mod wire;

pub use config::CoordinatorConfig;
pub(super) use coordinator::Coordinator;
pub(super) use job_tree::{JobTree, Selection};
pub(super) use plain_tree::PlainTree;
pub(super) use remote_coordinator::coordinate;
pub use remote_coordinator::{CoordinatorStatus, Delivery, RemoteCoordinator};
pub use remote_worker::RemoteWorker;
pub(super) use remote_worker::WorkerJobs;
pub(super) use shared_entry::SharedEntry;
pub use wire::WireError;
