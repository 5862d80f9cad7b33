//! Workers in other processes, each with a memory of its own.
//!
//! ```text
//!   Desk (the leader) ──Told──▶ whoever carries bytes ──▶ Station (a worker) ──▶ another Station
//!                     ◀─bytes─                        ◀──                   ◀──entries──
//! ```
//!
//! A [`Desk`] answers messages with jobs; a [`Station`] searches them. Neither knows a network, a
//! clock or a file: whoever carries the bytes also says who is lost, and may lose, double and delay
//! them as he likes. A worker that waits for its next job goes on with the last one
//! ([`Station::go_on`]), or has several names, so that the next job lies ready when one is done.
//!
//! Three things make up for the memories that are not shared:
//!
//! * *Facts*: what took more than a little work, solved or open, goes to the leader with the result,
//!   and from its log to the others, with the answers to the first name of each.
//! * *Entries*: a job whose node, or its parent, another worker has searched says so; that worker is
//!   asked for all that it knows below the node ([`Station::entries`]).
//! * *Jobs called off*: whose leaf has left the tree ([`Desk::take_stops`]).

mod desk;
mod station;
pub mod wire;

pub(in crate::search) use desk::LeaderDesk;
pub use desk::{Desk, DeskRules, Ordered, Standing, Told};
pub use station::Station;
pub(in crate::search) use station::StationJobs;
pub use wire::WireError;
