//! Checkpoints of Konane searches: their identity and maximum size.

use std::path::Path;
use std::time::Duration;

use super::solve::table_capacity;
use super::{Rules, Solver, Symmetry};
use crate::checkpoint::format::size_bound;
use crate::checkpoint::{CheckpointError, CheckpointWriter, Identity};

/// The name of the standard rules in docs/PROOF_FORMAT.md.
const RULES: &str = "konane-corner-or-centre";

/// The name of rules in checkpoints.
const fn name(rules: Rules) -> &'static str {
    match rules {
        Rules::Standard => RULES,
        Rules::Jumping => "konane-jumping",
        Rules::OtherColouring => "konane-other-colouring",
    }
}

impl Solver<'_> {
    /// Creates a writer of checkpoints of this search to the file `path`, for [`Solver::checkpoint_writer`]. If
    /// `resume` is true, the search resumes from the checkpoint in that file, otherwise it is new. Without an
    /// `interval`, the time from one checkpoint to the next depends on how long it takes to write a checkpoint.
    ///
    /// # Errors
    /// As [`CheckpointWriter::new`].
    pub fn checkpoints(
        &self,
        path: &Path,
        resume: bool,
        interval: Option<Duration>,
    ) -> Result<CheckpointWriter, CheckpointError> {
        let (table, _) = self.options.divide_memory();
        let bytes = usize::try_from(table).unwrap_or(usize::MAX);
        let entries = table_capacity(self.board, bytes, self.options.algorithm);
        let bound = size_bound(entries);
        CheckpointWriter::new(path, resume, self.identity(), bound, interval)
    }

    /// The profile, and the symmetries unless these are all: they determine the codes in the checkpoint.
    fn profile_text(&self) -> String {
        let profile = self.options.profile.name();
        match self.board.symmetry() {
            Symmetry::All => profile.to_owned(),
            symmetry => format!("{profile} --symmetry {symmetry}"),
        }
    }

    /// The identity of this search in checkpoints. It does not include memory, threads, limits, the oracle and
    /// [`Overrides`](super::Overrides), so a search may be resumed with different ones.
    ///
    /// Positions that a symmetry of the board maps to each other have the same root code, so a search of one of them
    /// can be resumed from a checkpoint of the other.
    pub(super) fn identity(&self) -> Identity {
        Identity {
            rules: name(self.position.rules()).to_owned(),
            board: self.board.dimensions().to_string(),
            algorithm: self.options.algorithm.name().to_owned(),
            profile: self.profile_text(),
            position: self.position.to_string(),
            root: self.position.code(self.board),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Totals;
    use crate::checkpoint::format::CheckpointHeader;
    use crate::konane::{Algorithm, Board, Dimensions, Position, SolveOptions};
    use std::path::Path;

    #[test]
    fn identities_of_every_board_fit_into_a_header() {
        for ranks in 1..=64 {
            for files in 1..=64 / ranks {
                let board = Board::new(Dimensions::new(ranks, files).unwrap());
                // The longest text of the symmetries.
                let board = board.clone().with_symmetry(Symmetry::Colours).unwrap_or(board);
                for algorithm in Algorithm::ALL {
                    let options = SolveOptions { algorithm, ..SolveOptions::default() };
                    let solver = Solver::new(&board, &Position::start(&board)).options(options);
                    let identity = solver.identity();
                    let header = CheckpointHeader { identity, totals: Totals::default() };
                    let bytes = header.encode();
                    assert_eq!(CheckpointHeader::decode(Path::new("a"), &bytes).unwrap(), header);
                }
            }
        }
    }

    #[test]
    fn the_name_of_the_rules_is_that_of_proof_files() {
        assert_eq!(RULES, proof_check::format::RULES);
    }
}
