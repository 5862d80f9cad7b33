//! The program as a player: its moves, and what it knows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::sentences::Reason;
use crate::analysis::{Analysis, Analyst, Choice, Level, Source};
use crate::cli::exit::CliError;
use crate::cli::output;
use crate::cli::progress::Progress;
use crate::konane::notation::format_position;
use crate::konane::{Colour, Move, Position};
use crate::proof::{Guide, ProofError};
use crate::search::Value;
use crate::search::run::Limits;

/// Nodes of the look at a position when it is a person's turn: some 0.2 s.
const LOOK_NODES: u64 = 200_000;

/// Plays, by files and a search.
pub struct Opponent<'a> {
    /// What judges positions.
    pub analyst: Analyst,
    /// The names of its proofs.
    pub files: String,
    /// The side that wins the game by the proofs, unless it does not play by them.
    pub proven: Option<Colour>,
    /// How strong it plays; perfectly where it can if there is none.
    pub level: Option<Level>,
    /// For a move.
    pub time: Duration,
    /// Ends what it does.
    pub stop: &'a AtomicBool,
}

/// Whether a proof says who wins a position.
fn covers(proof: &Guide, position: &Position) -> Result<bool, ProofError> {
    Ok(proof.is_lost(position)? || proof.answer(position)?.is_some())
}

impl<'a> Opponent<'a> {
    /// So much time from now on, until a signal comes.
    fn limits(&self, time: Duration) -> Limits<'a> {
        let deadline = Instant::now().checked_add(time);
        Limits { deadline, stop: Some(self.stop), ..Limits::default() }
    }

    /// Prepares for a game from this position. Refuses one of which the proofs, if there are any, say
    /// nothing.
    pub fn begin(&mut self, position: &Position) -> Result<(), CliError> {
        let proofs = self.analyst.proofs();
        let Some(first) = proofs.first() else { return Ok(()) };
        let mut covering = None;
        for proof in proofs {
            if covers(proof, position)? {
                covering = Some(proof);
                break;
            }
        }
        let Some(proof) = covering else {
            return Err(CliError::NotInProof {
                file: self.files.clone(),
                position: format_position(self.analyst.board(), position),
                root: format_position(self.analyst.board(), &first.root()),
            });
        };
        self.proven = Some(proof.winner()).filter(|_| self.level.is_none());
        Ok(())
    }

    /// Whether a signal has come.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Who wins, as far as that is known within the time, and by what.
    pub fn winner(&mut self, position: &Position) -> Result<Option<(Colour, String)>, CliError> {
        let Some(judgement) = (match self.analyst.known(position)? {
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
    fn by(&self, source: Source) -> String {
        let proofs = self.analyst.proofs();
        match (source, self.analyst.database()) {
            (Source::Database, Some(database)) => {
                format!("the database {}", database.directory().display())
            }
            (Source::Proof | Source::Rules, _) if !proofs.is_empty() => {
                let positions = proofs.iter().map(Guide::positions).sum();
                format!("the proof {}, {} positions", self.files, output::grouped(positions))
            }
            (Source::Rules, _) => "the rules".to_owned(),
            _ => "search".to_owned(),
        }
    }

    /// The program's move, and the reason. The game is not over.
    pub fn choose(&mut self, position: &Position) -> Result<(Move, Reason), CliError> {
        let board = self.analyst.board();
        if self.proven == Some(position.to_move()) {
            let mv = self.answer(position)?.ok_or_else(|| CliError::NoAnswer {
                file: self.files.clone(),
                position: format_position(board, position),
            })?;
            return Ok((
                mv,
                match position.play(board, mv).count_moves(board) {
                    0 => Reason::NoReply,
                    _ => Reason::InProof,
                },
            ));
        }
        let choice = match self.level {
            None => self.hint(position)?,
            Some(level) => {
                let limits = Limits { stop: Some(self.stop), ..Limits::default() };
                level.choose(board.dimensions(), position, limits)?
            }
        };
        let Choice { mv, judgement } = choice.expect("the game is not over");
        let board = self.analyst.board();
        let after = position.play(board, mv);
        let replies = after.count_moves(board) as usize;
        let reason = match judgement.map(|judgement| judgement.outcome) {
            _ if replies == 0 => Reason::NoReply,
            Some(Value::Win) => Reason::Wins,
            Some(Value::Loss) => {
                let seen = self.analyst.look(&after)?;
                let winning = (seen.count(None) == 0).then(|| seen.count(Some(Value::Win)));
                Reason::Loses { winning, replies }
            }
            None => Reason::Unknown,
        };
        Ok((mv, reason))
    }

    /// The winner's move by the proofs.
    pub fn answer(&self, position: &Position) -> Result<Option<Move>, ProofError> {
        let answers = self.analyst.proofs().iter().map(|proof| proof.answer(position).transpose());
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
    pub fn hint(&mut self, position: &Position) -> Result<Option<Choice>, CliError> {
        let _shown = Progress::new(false);
        Ok(self.analyst.choose(position, self.limits(self.time))?)
    }
}
