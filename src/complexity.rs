//! Estimates of the complexity of game trees from random games. The functions that estimate the trees of a game are
//! [`konane_complexity`](crate::konane_complexity) and
//! [`sprouts_complexity`](crate::sprouts::sprouts_complexity).

#[cfg(test)]
pub(crate) use konane_base::complexity::exact_mean;
pub(crate) use konane_base::complexity::random_game;
pub use konane_base::complexity::{ComplexityEstimate, Samples};
