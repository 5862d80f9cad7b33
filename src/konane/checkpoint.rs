//! What a checkpoint of a Konane search says that it is of.

use super::notation::format_position;
use super::{Board, Position, Profile, SolveOptions};
use crate::search::checkpoint::Identity;

/// The name of the rules, which docs/PROOF_FORMAT.md states.
const RULES: &str = "konane-corner-or-centre";

/// The identity of a search. Neither memory nor threads, limits and known values are part of it: a
/// search may go on with others.
///
/// Positions that a symmetry of the board maps to each other have the same root, so a checkpoint of
/// one goes on for the other.
pub fn identity(board: &Board, position: &Position, options: &SolveOptions) -> Identity {
    Identity {
        rules: RULES.to_owned(),
        board: board.dimensions().to_string(),
        algorithm: options.algorithm.name().to_owned(),
        profile: match options.profile {
            Profile::Tuned => "tuned".to_owned(),
            Profile::Thesis => "thesis".to_owned(),
        },
        position: format_position(board, position),
        root: board.symmetries().code(position),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::{Algorithm, Dimensions};
    use crate::search::checkpoint::Totals;
    use crate::search::checkpoint::format::Header;
    use std::path::Path;

    #[test]
    fn identities_of_every_board_fit_into_a_header() {
        for ranks in 1..=64 {
            for files in 1..=64 / ranks {
                let board = Board::new(Dimensions::new(ranks, files).unwrap());
                for algorithm in Algorithm::ALL {
                    let options = SolveOptions { algorithm, ..SolveOptions::default() };
                    let identity = identity(&board, &Position::start(&board), &options);
                    let header = Header { identity, totals: Totals::default() };
                    let bytes = header.encode();
                    assert_eq!(Header::decode(Path::new("a"), &bytes).unwrap(), header);
                }
            }
        }
    }

    #[test]
    fn the_rules_are_those_of_proofs() {
        assert_eq!(RULES, crate::proof::format::RULES);
    }
}
