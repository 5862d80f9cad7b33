//! Sprouts: spots are joined with curves that cross nothing, every curve gets a new spot, no spot
//! has more than three curve ends, and who cannot move loses.
//!
//! ```text
//! text ──notation──▶ Setup ──▶ Position ──simplify──▶ lands ──canonical──▶ bytes ──store──▶ ids
//!                                                       ▲                                   │
//!                                                       └──────────────── moves ◀───────────┘
//! ```
//!
//! [`Position`] is what a text says, once it has passed every check. [`Sprouts`] knows positions as
//! sums of lands, which are its atoms as an [`Impartial`](crate::search::sums::game::Impartial)
//! game: regions that do not touch are played independently of each other.
//!
//! * Text: `setup`, `notation`, `position`, `names`, `spelling`; as SPOTS looks lands up, `spots_spelling`;
//!   as a picture, [`draw`].
//! * Lands: `flat` is how they stand in memory, `parts` how a text has them; `simplify`, `canonical`,
//!   `moves`, with `disjoint` sets, `option_set` and the `recent` lands; `store` gives ids.
//! * The game of the search: `game`, `estimate`, [`forecast`].
//! * What users ask: a search by an [`Algorithm`], [`analysis`], and searches in many processes,
//!   [`cluster`].
//! * Files of Grundy numbers: [`grundy_db`], [`spr_file`], [`grundy_file`], checked by [`verify`].
//!
//! ```
//! use konane::search::sums::game::{Impartial, OptionList};
//! use konane::sprouts::{Position, Scratch, Sprouts};
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

mod algorithm;
pub mod analysis;
mod canonical;
pub mod cluster;
mod disjoint;
pub mod draw;
mod error;
mod estimate;
mod flat;
pub mod forecast;
mod game;
pub mod grundy_db;
pub mod grundy_file;
mod moves;
mod names;
mod notation;
mod option_set;
mod parts;
mod position;
mod recent;
mod setup;
mod simplify;
mod solution;
mod spelling;
mod spots_spelling;
pub mod spr_file;
mod store;
pub mod verify;

pub use algorithm::{Algorithm, AlgorithmError};
pub use error::{MovesError, TextError};
pub use game::{Counts, Scratch, Sprouts};
pub use notation::split_heap;
pub use parts::{Boundary, Land, Region, Spot};
pub use position::Position;
pub use setup::MOST_VERTICES;
pub use solution::{SearchFigures, SproutsMove, SproutsSolution};

/// The largest nim heap beside a position, wherever one is asked for.
pub const MOST_NIMBER: u32 = 1000;
