//! Independent checker of proofs of who wins a position of Konane (Hawaiian checkers).
//!
//! The crate depends on no code of the solver. It has its own file reader and its own rules.
//!
//! # Proofs
//!
//! A proof is about a board, a position (the *root*) and a player (the *winner*). It consists of a set
//! of positions, each of them lost for the side to move (the *loser*). [`verify`] checks that
//!
//! 1. every number in the file is the code of a position;
//! 2. the set is closed: for each position of the set and each move of the loser, the winner has a reply
//!    that leads to a position of the set, or after which the loser has no move;
//! 3. the root is legal. If the loser is to move at the root, the root is in the set or has no move. If
//!    the winner is to move, one of the moves leads to a position of the set, or leaves the loser without
//!    a move.
//!
//! Every move removes a stone, so a game against these replies ends, and the loser is the player without
//! a move. The check depends only on the rules of the game, not on the search that found the set. [`Flaw`]
//! names the position and the move at which a check fails.
//!
//! Every byte of a file is covered by a checksum or has a fixed value ([`format`](mod@format)). A file with a
//! wrong checksum or contradictory sizes is damaged, which is a [`ProofError`]. docs/PROOF_FORMAT.md in
//! the repository specifies the rules, the codes and the file.
//!
//! # Rules
//!
//! The squares of a board are coloured like those of a chessboard, and the top-left square is black. At the
//! start each square has a stone of its colour. Black removes one of its stones, from a corner or from the
//! centre. White removes a stone next to the hole. Then the players alternate: a stone jumps along its rank
//! or file over an adjacent stone of the opponent onto the empty square behind it, and may go on in the same
//! direction. The stones jumped over are removed. A player without a move loses. [`rules`] implements these
//! rules square by square.
//!
//! # Example
//!
//! ```
//! use std::path::Path;
//! use std::sync::atomic::AtomicBool;
//!
//! use proof_check::{ProofReader, Side, verify};
//!
//! let mut reader = ProofReader::open(Path::new("tests/5x5.proof"))?;
//! let verification = verify(&mut reader, &|_, _| {}, &AtomicBool::new(false))?;
//! assert_eq!(verification.flaw, None);
//! assert_eq!(verification.header.winner, Side::Black);
//! # Ok::<(), proof_check::ProofError>(())
//! ```
//!
//! # Program
//!
//! `proof-check FILE` checks a file on all cores. `proof-check --help` lists the exit codes.
//!
//! ```console
//! $ cargo run --release -p proof-check -- 5x5.proof
//! valid: Black wins xoxox/oxoxo/xoxox/oxoxo/xoxox b on the 5x5 board
//! 273 positions, 552 moves of the loser answered
//! ```

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod error;
pub mod format;
mod reader;
pub mod rules;
mod verify;

pub use error::ProofError;
pub use format::{ProofHeader, Side};
pub use reader::ProofReader;
pub use verify::{Flaw, Verification, verify};
