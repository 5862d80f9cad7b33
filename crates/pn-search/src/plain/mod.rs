//! Plain games: trees of positions with exact codes, such as Konane.
//!
//! What comes in is a [`game::Game`], perhaps with values that are known before ([`oracle`]), and the
//! [`Root`] of a search; what goes out is an evaluator of positions, which all searches of plain games
//! share, and which is a NAND tree for df-pn (`search::search_tree`).

pub(super) mod evaluate;
pub mod game;
pub mod oracle;
mod root;

pub use root::{Root, RootView};
