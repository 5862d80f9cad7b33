//! The game of Sprouts: spots are joined with curves that do not cross, every curve gets a new spot, a spot
//! has at most three curve ends, and a player who cannot move loses.
//!
//! ```text
//! text ──notation──▶ vertices ──▶ Position ──simplify──▶ lands ──canonical──▶ bytes ──store──▶ ids
//!                                                          ▲                                   │
//!                                                          └──────────────── moves ◀───────────┘
//! ```
//!
//! [`Position`] is a position as written, after all checks. [`Sprouts`] represents positions as sums of
//! lands. In this [`Impartial`](pn_search::sums::game::Impartial) game the atoms are lands, because lands
//! are played independently of each other.
//!
//! * Text: `notation`, `position`, `names`, `spelling`; `spots_spelling` writes the texts that SPOTS uses as
//!   keys of lands; [`draw`] draws a picture. [`numbered`] has positions with numbered spots, and moves as text.
//! * Lands: `flat` defines the representations of lands; `simplify`, `canonical` and `moves` compute with
//!   them; `store` assigns ids; `recent` is a cache of ids, and `option_set` removes duplicate children.
//! * The game of the search: `game`, [`forecast`].
//! * Sizes of trees: [`sprouts_complexity`].
//! * Searches: the [`Algorithm`]s, [`analysis`], and searches in several processes, [`cluster`].
//! * Files of Grundy numbers: [`grundy_file`], [`spr_file`], verified by [`verify`].
//!
//! ```
//! use konane_sprouts::{Position, Scratch, Sprouts};
//! use pn_search::sums::game::{Impartial, OptionList};
//!
//! let game = Sprouts::new(1 << 30);
//! let mut scratch = Scratch::default();
//! let two_spots: Position = "0*2".parse()?;
//! let sum = game.atoms(&two_spots, &mut scratch)?;
//! let mut options = OptionList::default();
//! game.options(sum[0], &mut scratch, &mut options)?;
//! let texts: Vec<String> = options.iter().map(|option| game.text(option)).collect();
//! assert_eq!(texts, ["0.AB|AB", "1a1a"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod algorithm;
pub mod analysis;
mod canonical;
pub mod cluster;
mod complexity;
pub mod draw;
mod error;
mod flat;
pub mod forecast;
mod game;
pub mod grundy_file;
pub mod misere;
mod moves;
mod names;
mod notation;
pub mod numbered;
mod option_set;
mod position;
mod recent;
mod simplify;
mod solution;
mod spelling;
mod spots_spelling;
pub mod spr_file;
mod store;
pub mod verify;

pub use algorithm::{Algorithm, AlgorithmError};
pub use complexity::{SproutsComplexity, sprouts_complexity};
pub use error::{MoveTextError, MovesError, TextError};
pub use flat::{Boundary, Land, Region, Spot};
pub use game::{Scratch, ScratchCounters, Sprouts};
pub use notation::{MAX_VERTICES, split_heap};
pub use position::Position;
pub use solution::{SearchFigures, SproutsMove, SproutsSolution};

/// Maximum size of a nim heap added to a position.
pub const MAX_NIMBER: u32 = 1000;
