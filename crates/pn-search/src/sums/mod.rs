//! Impartial games: proof-number search with Grundy numbers.
//!
//! A position is a sum of atoms ([`game`]); a player who cannot move loses. By the theory of Sprague and
//! Grundy every atom is equivalent to a nim heap. So a sum is solved by computing the Grundy numbers of its
//! atoms one by one instead of searching the whole sum. The searches work on the NAND tree with Grundy
//! numbers (Lemoine and Viennot 2012; Čížek, Balko and Schmid, "Massively Parallel Proof-Number
//! Search for Impartial Games and Beyond"). The stored nodes of this tree are couples. A couple is the sum of
//! an atom and a nim heap; the size of the heap is the couple's *nimber*. The nimber of the heap to which an
//! atom is equivalent is always called the atom's Grundy number.
//!
//! # Overview of types
//!
//! - [`Impartial`] is the interface of a game; [`OptionList`] receives the options of an atom.
//! - [`Sum`] is a position. [`SolverState`] is the state that searches of a game share: [`GrundyStore`] has the
//!   exact results.
//! - [`SearchOptions`] are the parameters of [`dfpn()`], [`grundy`], [`pns()`] and [`two_level()`].
//! - [`Named`] is a game whose atoms have names; [`SumWorker`] and [`coordinate_sum`] search it in several
//!   processes.
//!
//! ```text
//! Sum ──▶ dfpn, pns, two levels ──▶ Report
//!              │  ▲
//!              ▼  │
//!          SolverState: knowledge (Grundy numbers, never evicted), store (options), table (open couples)
//!              │
//!              ▼
//!          Impartial (the game): options of atoms, features
//! ```

pub mod chunks;
mod collect;
mod dfpn;
mod evaluate;
mod expand;
pub mod game;
mod group;
mod knowledge;
mod options;
mod pns;
mod solver_state;
mod store;
#[cfg(test)]
mod theorem2_tests;
mod tree;
mod two_level;

pub use dfpn::{GrundyReport, dfpn, grundy};
pub use game::{
    Atom, AtomFeatures, GameFull, Impartial, Keep, OptionList, OptionSubset, Retained, Stop,
};
pub use knowledge::{GrundyInfo, GrundyStore, MAX_GRUNDY, TRACKED};
pub use options::{LeafEstimate, PartOrder, SearchOptions};
pub use pns::pns;
pub use solver_state::{SolverState, Sum};
pub use two_level::{
    Contradiction, DEFAULT_JOB_EXPANSIONS, Named, SumWorker, coordinate_sum, two_level,
};
