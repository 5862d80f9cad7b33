//! The program as a player: its moves, and what it knows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::sentences::Reason;
use crate::exit::CliError;
use crate::output;
use crate::progress::Progress;
use crate::terminal_text::escape_line;
use konane::analysis::{Analysis, Analyst, ChosenMove, Level, ValueSource};
use konane::proof::{ProofError, ProofStrategy};
use konane::search::Value;
use konane::search::run::Limits;
use konane::{Colour, Move, Position};

/// Nodes of the look at a position when it is a person's turn: some 0.2 s.
const LOOK_NODES: u64 = 200_000;

/// Plays, by files and a search.
pub struct Opponent<'a> {
    /// What judges positions.
    pub analyst: Analyst,
    /// The names of its proofs.
    pub files: String,
    /// How strong it plays; perfectly where it can if there is none.
    pub level: Option<Level>,
    /// For a move.
    pub time: Duration,
    /// Ends what it does.
    pub stop: &'a AtomicBool,
}

impl<'a> Opponent<'a> {
    /// So much time from now on, until a signal comes.
    fn limits(&self, time: Duration) -> Limits<'a> {
        let deadline = Instant::now().checked_add(time);
        Limits { deadline, stop: Some(self.stop), ..Limits::default() }
    }

    /// Refuses a position to begin at of which the proofs, if there are any, say nothing.
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

    /// Whether it answers by the proofs whatever is played from this position: by them it is lost.
    pub fn answers_by_proof(&self, position: &Position) -> Result<bool, ProofError> {
        Ok(self.level.is_none() && self.is_lost(position)?)
    }

    /// Whether the side to move loses by one of the proofs.
    fn is_lost(&self, position: &Position) -> Result<bool, ProofError> {
        for proof in self.analyst.proofs_about(position) {
            if proof.is_lost(position)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a signal has come.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Who wins, as far as that is known within the time, and by what.
    pub fn winner(&mut self, position: &Position) -> Result<Option<(Colour, String)>, CliError> {
        let Some(judgement) = (match self.analyst.lookup(position)? {
            Some(known) => Some(known),
            None => {
                let choice = self.hint(position)?;
                choice.and_then(|choice| choice.judgement)
            }
        }) else {
            return Ok(None);
        };
        let winner = match judgement.outcome {
            Value::Win => position.to_move(),
            Value::Loss => !position.to_move(),
        };
        Ok(Some((winner, self.by(judgement.source))))
    }

    /// What a value is known by.
    fn by(&self, source: ValueSource) -> String {
        let proofs = self.analyst.proofs();
        match (source, self.analyst.database()) {
            (ValueSource::Database, Some(database)) => {
                let directory = database.directory().display().to_string();
                format!("the database {}", escape_line(&directory))
            }
            (ValueSource::Proof | ValueSource::Rules, _) if !proofs.is_empty() => {
                let positions = proofs.iter().map(ProofStrategy::positions).sum();
                let files = escape_line(&self.files);
                format!("the proof {files}, {} positions", output::grouped(positions))
            }
            (ValueSource::Rules, _) => "the rules".to_owned(),
            _ => "search".to_owned(),
        }
    }

    /// The program's move, and the reason. Without a level it plays by the proofs where they have an
    /// answer, as they must if the position before this one is lost by them. The game is not over.
    pub fn choose(
        &mut self,
        before: Option<&Position>,
        position: &Position,
    ) -> Result<(Move, Reason), CliError> {
        let board = self.analyst.board();
        let answer = if self.level.is_none() { self.answer(position)? } else { None };
        if let Some(mv) = answer {
            let reason = match position.play(board, mv).count_moves(board) {
                0 => Reason::NoReply,
                _ => Reason::InProof,
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
        let reason = match judgement.map(|judgement| judgement.outcome) {
            _ if replies == 0 => Reason::NoReply,
            Some(Value::Win) => Reason::Wins,
            Some(Value::Loss) => {
                let seen = self.analyst.lookup_moves(&after)?;
                let winning = (seen.count(None) == 0).then(|| seen.count(Some(Value::Win)));
                Reason::Loses { winning, replies }
            }
            None => Reason::Unknown,
        };
        Ok((mv, reason))
    }

    /// The winner's move by the proofs.
    pub fn answer(&self, position: &Position) -> Result<Option<Move>, ProofError> {
        let proofs = self.analyst.proofs_about(position);
        let answers = proofs.iter().map(|proof| proof.answer(position).transpose());
        answers.flatten().next().transpose()
    }

    /// Judges a person's moves by a short look.
    pub fn look(&mut self, position: &Position) -> Result<Analysis, CliError> {
        let limits = Limits { nodes: Some(LOOK_NODES), ..self.limits(self.time) };
        Ok(self.analyst.analyse(position, limits, &mut |_| {})?)
    }

    /// Judges them within a time.
    pub fn search(&mut self, position: &Position, time: Duration) -> Result<Analysis, CliError> {
        let _shown = Progress::new(false);
        Ok(self.analyst.analyse(position, self.limits(time), &mut |_| {})?)
    }

    /// The best move that is known within the time.
    pub fn hint(&mut self, position: &Position) -> Result<Option<ChosenMove>, CliError> {
        let _shown = Progress::new(false);
        Ok(self.analyst.choose(position, self.limits(self.time))?)
    }
}
