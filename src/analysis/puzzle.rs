//! Puzzles: positions with exactly one winning move, which is not the obvious one.

use std::collections::HashSet;

use serde::Serialize;

use super::analyst::{AnalysisError, Analyst};
use crate::konane::{Colour, Dimensions, Move, Phase, Position};
use crate::search::Value;
use crate::search::run::Limits;
use crate::search::split_mix::{STEP, mix};

/// Minimum number of legal moves of a puzzle.
const MIN_MOVES: usize = 3;

/// Node limit of the analysis of a candidate. Positions that need more are skipped.
const MAX_NODES: u64 = 50_000;

/// Maximum number of positions of a proof whose moves are answered.
const MAX_PROOF: usize = 200;

/// Difficulty of a puzzle by the size of its proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "json-schema", schemars(inline))]
#[serde(rename_all = "lowercase")]
pub enum Difficulty {
    /// Fewer than 16 positions.
    Easy,
    /// 16 to 63 positions.
    Medium,
    /// 64 positions or more.
    Hard,
}

impl Difficulty {
    /// All difficulties.
    pub const ALL: [Difficulty; 3] = [Difficulty::Easy, Difficulty::Medium, Difficulty::Hard];

    /// `easy`, `medium` or `hard`.
    pub const fn name(self) -> &'static str {
        match self {
            Difficulty::Easy => "easy",
            Difficulty::Medium => "medium",
            Difficulty::Hard => "hard",
        }
    }

    /// Returns the difficulty of a puzzle whose proof has this number of positions.
    fn of(proof_positions: usize) -> Self {
        match proof_positions {
            ..16 => Difficulty::Easy,
            16..64 => Difficulty::Medium,
            64.. => Difficulty::Hard,
        }
    }
}

/// A position of a random game in which exactly one move wins. Another move leaves the opponent fewer replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Puzzle {
    /// Ranks x files.
    pub board: Dimensions,
    /// The position.
    pub position: Position,
    /// The player who moves and wins.
    pub to_move: Colour,
    /// Number of legal moves.
    pub moves: usize,
    /// The only winning move.
    pub solution: Move,
    /// Number of positions of the refutation that follows the solution. It ends after 200 positions whose moves are
    /// answered.
    pub proof_positions: usize,
    /// The difficulty, which follows from `proof_positions`.
    pub difficulty: Difficulty,
}

/// Generator of puzzles. The same seed gives the same puzzles.
#[derive(Clone, Debug)]
pub struct Puzzles {
    /// State of the random numbers.
    random: u64,
    /// Canonical codes of the positions that have been examined.
    seen: HashSet<u64>,
}

impl Puzzles {
    /// Creates a generator.
    pub fn new(seed: u64) -> Self {
        Puzzles { random: mix(seed), seen: HashSet::new() }
    }

    /// Returns a random number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.random = self.random.wrapping_add(STEP);
        ((u128::from(mix(self.random)) * bound as u128) >> 64) as usize
    }

    /// Returns the next puzzle of a difficulty, by default of any, on the analyst's board. No puzzle has the same position
    /// as an earlier one, nor one that is equal by symmetry. Returns `None` if a limit is reached; without a limit, the
    /// search does not end on a board without puzzles. `limits.nodes` is ignored.
    ///
    /// # Errors
    /// As [`Analyst::analyse`].
    pub fn next(
        &mut self,
        analyst: &mut Analyst,
        difficulty: Option<Difficulty>,
        limits: Limits<'_>,
    ) -> Result<Option<Puzzle>, AnalysisError> {
        while limits.reached().is_none() {
            if let Some(position) = self.candidate(analyst)
                && let Some(puzzle) = puzzle(analyst, &position, limits)?
                && difficulty.is_none_or(|wanted| puzzle.difficulty == wanted)
            {
                return Ok(Some(puzzle));
            }
        }
        Ok(None)
    }

    /// Returns a position of a random game that has not been examined, if it has enough moves.
    fn candidate(&mut self, analyst: &Analyst) -> Option<Position> {
        let board = analyst.board();
        let mut game = vec![Position::start(board)];
        loop {
            let position = game[game.len() - 1];
            let moves = position.moves(board);
            if moves.is_empty() {
                break;
            }
            game.push(position.play(board, moves[self.below(moves.len())]));
        }
        let position = game[self.below(game.len())];
        let is_fit = position.phase(board) == Phase::Jumping
            && position.count_moves(board) as usize >= MIN_MOVES
            && self.seen.insert(position.code(board));
        is_fit.then_some(position)
    }
}

/// Returns the puzzle of a position, if it is one and its values are found within the limits.
fn puzzle(
    analyst: &mut Analyst,
    position: &Position,
    limits: Limits<'_>,
) -> Result<Option<Puzzle>, AnalysisError> {
    let of_candidate = Limits { nodes: Some(MAX_NODES), ..limits };
    let analysis = analyst.analyse(position, of_candidate, &mut |_| {})?;
    let Some((won, others)) = analysis.moves.split_first() else { return Ok(None) };
    let is_only = analysis.complete && analysis.count(Some(Value::Win)) == 1;
    if !is_only || !others.iter().any(|judged| judged.replies < won.replies) {
        return Ok(None);
    }
    let refutation = analyst.refutation(&won.after, MAX_PROOF, of_candidate)?;
    if limits.reached().is_some() {
        // The refutation may be incomplete.
        return Ok(None);
    }
    Ok(Some(Puzzle {
        board: analysis.board,
        position: *position,
        to_move: analysis.to_move,
        moves: analysis.moves.len(),
        solution: won.mv,
        proof_positions: refutation.len(),
        difficulty: Difficulty::of(refutation.len()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::Board;

    /// Negamax without a table.
    fn wins(board: &Board, position: &Position) -> bool {
        position.moves(board).into_iter().any(|mv| !wins(board, &position.play(board, mv)))
    }

    #[test]
    fn puzzles_have_one_winning_move_and_differ() {
        let mut analyst = Analyst::new("4x4".parse().unwrap(), 4 << 20).unwrap();
        let board = analyst.board().clone();
        let (mut puzzles, mut codes) = (Puzzles::new(1), HashSet::new());
        let mut found = Vec::new();
        for _ in 0..8 {
            let puzzle = puzzles.next(&mut analyst, None, Limits::default()).unwrap().unwrap();
            let after = |mv| puzzle.position.play(&board, mv);
            let moves = puzzle.position.moves(&board);
            let won: Vec<_> =
                moves.iter().copied().filter(|&mv| !wins(&board, &after(mv))).collect();
            assert_eq!(won, [puzzle.solution], "{}", puzzle.position);
            let replies = |mv| after(mv).count_moves(&board);
            assert!(moves.iter().any(|&mv| replies(mv) < replies(puzzle.solution)));
            assert_eq!((puzzle.moves, puzzle.to_move), (moves.len(), puzzle.position.to_move()));
            assert!(codes.insert(puzzle.position.code(&board)));
            found.push(puzzle);
        }
        // The same seed gives the same puzzles, and a difficulty selects from them.
        let mut again = Puzzles::new(1);
        let mut analyst = Analyst::new("4x4".parse().unwrap(), 4 << 20).unwrap();
        let next = again.next(&mut analyst, None, Limits::default()).unwrap().unwrap();
        assert_eq!(next.position, found[0].position);
        for wanted in [Difficulty::Easy, found[0].difficulty] {
            let mut puzzles = Puzzles::new(1);
            let next = puzzles.next(&mut analyst, Some(wanted), Limits::default());
            assert_eq!(next.unwrap().unwrap().difficulty, wanted);
        }
    }

    #[test]
    fn limits_end_the_search_for_puzzles() {
        let mut analyst = Analyst::new("1x1".parse().unwrap(), 1 << 20).unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_millis(20);
        let limits = Limits { deadline: Some(deadline), ..Limits::default() };
        assert_eq!(Puzzles::new(1).next(&mut analyst, None, limits).unwrap(), None);
    }
}
