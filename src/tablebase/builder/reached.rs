//! Building the database of the positions that games reach, from the state space.

use std::sync::atomic::AtomicBool;

use super::error::BuildError;
use super::observer::{BuildObserver, Stage};
use super::parts::Parts;
use super::plan::PlanError;
use super::workspace::Workspace;
use crate::konane::Colour;
use crate::tablebase::files::{BlockKey, BlockKind, ManifestLayer};
use crate::tablebase::index::Index;
use crate::tablebase::values::sweep::Layer;
use crate::tablebase::values::{Ply, Sink, StateSpaceError, statespace};

/// The method at work: the state space's sink.
pub(super) struct Reached<'a> {
    parts: Parts<'a>,
}

impl<'a> Reached<'a> {
    pub fn new(
        index: &'a Index,
        workspace: &'a Workspace<'a>,
        observer: &'a dyn BuildObserver,
        stop: &'a AtomicBool,
    ) -> Result<Self, BuildError> {
        // Once when the values of the rows are known, once when they are written.
        Ok(Reached { parts: Parts::new(index, workspace, 2, observer, stop)? })
    }

    /// All layers, and how many of them were there. What an interrupted run has written is not
    /// written again, but the search begins anew.
    pub fn run(mut self) -> Result<(Vec<ManifestLayer>, u32), BuildError> {
        let index = self.parts.index;
        let mut anything = false;
        for black in 0..=index.numbering().count(Colour::Black) {
            anything = anything || !self.parts.missing(black)?.is_empty();
        }
        if anything {
            let searched = statespace(index.board(), self.parts.outside.stop, &mut self);
            searched.map_err(|error| match error {
                StateSpaceError::Sink(error) => error,
                StateSpaceError::Interrupted => BuildError::Interrupted,
                StateSpaceError::Memory(error) => self.parts.memory_error()(error),
                StateSpaceError::TooLarge { .. } => {
                    let board = index.board().dimensions();
                    PlanError::ReachableTooLarge { board }.into()
                }
            })?;
        }
        self.parts.assemble()
    }
}

impl Sink for Reached<'_> {
    type Error = BuildError;

    fn swept(&mut self, black: u32, _: u32) {
        self.parts.outside.observer.stage(Stage::Rows { black });
        self.parts.advance(black);
    }

    fn ply(&mut self, ply: &Ply) {
        self.parts.outside.observer.stage(Stage::Ply { ply: ply.ply });
    }

    fn layer(&mut self, reached: [&Layer; 2], wins: [&Layer; 2]) -> Result<(), BuildError> {
        let black = reached[0].black();
        for keys in self.parts.missing(black)? {
            let BlockKey { kind, to_move, .. } = keys[0];
            let (reached, wins) = (reached[to_move.index()], wins[to_move.index()]);
            self.parts.write(&keys, 1, |at, row, _| {
                for ((out, reached), win) in row.iter_mut().zip(reached.row(at)).zip(wins.row(at)) {
                    *out = match kind {
                        BlockKind::Wins => reached & win,
                        BlockKind::Reached => *reached,
                        BlockKind::Remoteness(_) => unreachable!("outcomes only"),
                    };
                }
            })?;
        }
        self.parts.advance(black);
        Ok(())
    }
}
