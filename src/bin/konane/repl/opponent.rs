//! Choice of the program's moves in `konane play`, and reasons for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::limits;
use super::sentences::move_reason;
use crate::exit::CliError;
use crate::output;
use crate::progress::ProgressDisplay;
use crate::terminal_text::escape_line;
use konane::analysis::{Analysis, Analyst, ChosenMove, Level, ValueSource};
use konane::proof::ProofError;
use konane::search::Value;
use konane::search::run::Limits;
use konane::{Colour, Move, Position};

/// Maximum number of nodes of the search for the sentence about a position. It takes about 0.2 s.
const SITUATION_NODES: u64 = 200_000;

/// Chooses moves with files and a search.
pub struct Opponent<'a> {
    /// Evaluates positions.
    pub analyst: Analyst,
    /// Names of the proofs of the analyst.
    pub files: String,
    /// Strength; `None` for the best possible play.
    pub level: Option<Level>,
    /// Time for a move.
    pub time: Duration,
    /// Ends searches.
    pub stop: &'a AtomicBool,
}

impl Opponent<'_> {
    /// Returns an error if there are proofs and none of them contains the position or a reply in it. Games
    /// cannot begin in such a position.
    pub fn must_cover(&self, position: &Position) -> Result<(), CliError> {
        let Some(first) = self.analyst.proofs().first() else { return Ok(()) };
        if self.is_lost(position)? || self.answer(position)?.is_some() {
            return Ok(());
        }
        Err(CliError::NotInProof {
            file: self.files.clone(),
            position: position.to_string(),
            root: first.root().to_string(),
        })
    }

    /// Returns true if a proof shows that the side to move loses, and the program plays without a level. Then
    /// the proof has a reply to each move of that side.
    pub fn answers_by_proof(&self, position: &Position) -> Result<bool, ProofError> {
        Ok(self.level.is_none() && self.is_lost(position)?)
    }

    /// Returns true if one of the proofs shows that the side to move loses.
    fn is_lost(&self, position: &Position) -> Result<bool, ProofError> {
        for proof in self.analyst.proofs_about(position) {
            if proof.is_lost(position)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns true after a signal.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Returns the winner and the source of the result, if the winner is found within the time.
    pub fn winner(&mut self, position: &Position) -> Result<Option<(Colour, String)>, CliError> {
        let judgement = match self.analyst.lookup(position)? {
            None => self.hint(position)?.and_then(|choice| choice.judgement),
            known => known,
        };
        Ok(judgement.map(|judgement| {
            let winner = match judgement.outcome {
                Value::Win => position.to_move(),
                Value::Loss => !position.to_move(),
            };
            (winner, self.by(judgement.source))
        }))
    }

    /// Returns the text for a source.
    fn by(&self, source: ValueSource) -> String {
        let proofs = self.analyst.proofs();
        match (source, self.analyst.database()) {
            (ValueSource::Database, Some(database)) => {
                let directory = database.directory().display().to_string();
                format!("the database {}", escape_line(&directory))
            }
            (ValueSource::Proof | ValueSource::Rules, _) if !proofs.is_empty() => {
                let positions = proofs.iter().map(|proof| proof.positions()).sum();
                let files = escape_line(&self.files);
                format!("the proof {files}, {} positions", output::grouped(positions))
            }
            (ValueSource::Rules, _) => "the rules".to_owned(),
            _ => "search".to_owned(),
        }
    }

    /// Returns the program's move and the reason for it. Without a level, uses the reply of a proof if there is
    /// one. A reply must exist if a proof shows that the previous position, `before`, is lost. The game must not
    /// be over.
    pub fn choose(
        &mut self,
        before: Option<&Position>,
        position: &Position,
    ) -> Result<(Move, String), CliError> {
        let board = self.analyst.board();
        let answer = if self.level.is_none() { self.answer(position)? } else { None };
        if let Some(mv) = answer {
            let reason = match position.play(board, mv).count_moves(board) {
                0 => move_reason(Some(Value::Win), 0, None),
                _ => "the position after it is in the proof".to_owned(),
            };
            return Ok((mv, reason));
        }
        if let Some(before) = before
            && self.answers_by_proof(before)?
        {
            let position = position.to_string();
            return Err(CliError::NoAnswer { file: self.files.clone(), position });
        }
        let choice = match self.level {
            None => self.hint(position)?,
            Some(level) => {
                let limits = Limits { stop: Some(self.stop), ..Limits::default() };
                level.choose(board, position, limits)?
            }
        };
        let ChosenMove { mv, judgement } = choice.expect("the game is not over");
        let board = self.analyst.board();
        let after = position.play(board, mv);
        let replies = after.count_moves(board) as usize;
        let outcome = judgement.map(|judgement| judgement.outcome);
        let mut winning = None;
        if outcome == Some(Value::Loss) {
            let seen = self.analyst.lookup_moves(&after)?;
            winning = (seen.count(None) == 0).then(|| seen.count(Some(Value::Win)));
        }
        Ok((mv, move_reason(outcome, replies, winning)))
    }

    /// Returns the winner's move in the proofs.
    pub fn answer(&self, position: &Position) -> Result<Option<Move>, ProofError> {
        let proofs = self.analyst.proofs_about(position);
        let answers = proofs.iter().map(|proof| proof.answer(position).transpose());
        answers.flatten().next().transpose()
    }

    /// Evaluates the moves with a short search.
    pub fn look(&mut self, position: &Position) -> Result<Analysis, CliError> {
        let limits = Limits { nodes: Some(SITUATION_NODES), ..limits(self.time, self.stop) };
        Ok(self.analyst.analyse(position, limits, &mut |_| {})?)
    }

    /// Evaluates the moves within a time.
    pub fn search(&mut self, position: &Position, time: Duration) -> Result<Analysis, CliError> {
        let _shown = ProgressDisplay::new(false);
        Ok(self.analyst.analyse(position, limits(time, self.stop), &mut |_| {})?)
    }

    /// Returns the best move that is found within the time.
    pub fn hint(&mut self, position: &Position) -> Result<Option<ChosenMove>, CliError> {
        let _shown = ProgressDisplay::new(false);
        Ok(self.analyst.choose(position, limits(self.time, self.stop))?)
    }
}
