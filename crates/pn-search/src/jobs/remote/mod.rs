//! Workers in other processes, each with a memory of its own.
//!
//! ```text
//!   RemoteLeader ──Told──▶ whoever carries bytes ──▶ RemoteWorker ──▶ another RemoteWorker
//!                ◀─bytes─                        ◀──              ◀──entries──
//! ```
//!
//! A [`RemoteLeader`] answers messages with jobs; a [`RemoteWorker`] searches them. Neither knows a
//! network, a clock or a file: whoever carries the bytes also says who is lost, and may lose, double and
//! delay them as he likes. A worker that waits for its next job goes on with the last one
//! ([`RemoteWorker::go_on`]).
//!
//! Three things make up for the memories that are not shared:
//!
//! * *Facts*: what took more than a little work, solved or open, goes to the leader with the result,
//!   and from its log to the others, with its answers.
//! * *Entries*: a job whose node, or its parent, another worker has searched says so; that worker is
//!   asked for all that it knows below the node ([`RemoteWorker::entries`]).
//! * *Jobs called off*: whose leaf has left the tree ([`RemoteLeader::take_stops`]).

mod leader;
pub mod wire;
mod worker;

pub(crate) use leader::WireLeader;
pub use leader::{Ordered, RemoteLeader, RemoteRules, Standing, Told};
pub use wire::WireError;
pub use worker::RemoteWorker;
pub(crate) use worker::WorkerJobs;
