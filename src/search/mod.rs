//! Search algorithms for two-player games without draws and cycles. Nothing here knows a game.

pub mod alphabeta;
mod arena;
pub mod certificate;
pub mod dfpn;
pub mod jobs;
mod nand;
pub mod numbers;
pub mod plain;
pub mod pn2;
pub mod pns;
pub mod run;
pub mod snapshot;
pub(crate) mod split_mix;
pub mod sums;
pub mod table;
mod thresholds;
pub mod two_level;
mod value;

pub use plain::game::SettleOptions;
pub use value::Value;
