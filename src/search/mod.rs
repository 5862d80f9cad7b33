//! Search algorithms for two-player games without draws and cycles. Nothing here knows a game.

pub mod alphabeta;
mod arena;
pub mod certificate;
pub mod checkpoint;
pub mod control;
pub mod dfpn;
mod evaluate;
pub mod game;
pub mod graph;
pub mod impartial;
mod job_tree;
pub mod known;
pub mod negamax;
pub mod numbers;
mod parallel;
pub mod pn2;
pub mod pns;
mod proof_tree;
pub(crate) mod split_mix;
pub mod table;
mod tally;
pub mod two_level;

pub use evaluate::SettleOptions;
