//! Plain games: trees of positions with exact codes, such as Konane.
//!
//! * [`game::Game`]: rules of a game; [`oracle`] adds values that are known without search.
//! * [`Root`]: the position, game and table of a search; [`RootView`] lists its children while a
//!   search runs.
//! * `Evaluator`: evaluates positions for all searches of plain games. It is the `SearchTree` that
//!   df-pn searches.

pub(super) mod evaluate;
pub mod game;
pub mod oracle;
mod root;

pub use root::{Root, RootView};
