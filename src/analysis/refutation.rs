//! Refutations: an answer to every move of the player who loses.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::Serialize;

use super::analyst::{AnalysisError, Analyst, ChosenMove};
use super::judgement::Judgement;
use crate::json::as_text;
use crate::konane::{Move, Position};
use crate::search::Value;
use crate::search::run::Limits;

/// A position in which the player to move loses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct LostPosition {
    /// The position.
    pub position: Position,
    /// Its canonical code as decimal text. Positions that are equal by symmetry have the same code, and only one of
    /// them is in the refutation.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub code: u64,
    /// Number of moves of the player who loses.
    pub moves: u32,
    /// All moves with their answers, in the order of `moves` in an analysis. Absent if a limit was reached before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defences: Option<Vec<Defence>>,
}

/// A move of the player who loses, and the answer that wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Defence {
    /// The move.
    #[serde(rename = "move")]
    pub mv: Move,
    /// The position after the move.
    pub after: Position,
    /// The answer.
    pub answer: Move,
    /// The position after the answer.
    pub then: Position,
    /// Index in the refutation of this position or of one that is equal by symmetry.
    pub next: usize,
}

impl Analyst {
    /// The refutation of a lost position: the position and all positions that follow when the winner plays the chosen
    /// answers, each once, layer by layer. At most `max_positions` of them have their defences, and fewer if a limit
    /// is reached before.
    ///
    /// # Errors
    /// As [`Analyst::analyse`].
    pub fn refutation(
        &mut self,
        position: &Position,
        max_positions: usize,
        limits: Limits<'_>,
    ) -> Result<Vec<LostPosition>, AnalysisError> {
        let mut found = vec![self.lost_position(*position)];
        let mut indices = HashMap::from([(found[0].code, 0)]);
        let mut index = 0;
        while index < found.len().min(max_positions) {
            // Look-ups do not poll the limits. The first position is always attempted, so that repeated calls advance.
            if index > 0 && limits.reached().is_some() {
                break;
            }
            let analysis = self.ranked(self.unsorted(&found[index].position)?)?;
            let (before, mut defences) = (found.len(), Vec::with_capacity(analysis.moves.len()));
            for judged in &analysis.moves {
                let answer = self.choose(&judged.after, limits)?;
                let Some(ChosenMove {
                    mv: answer,
                    judgement: Some(Judgement { outcome: Value::Win, .. }),
                }) = answer
                else {
                    break;
                };
                let then = judged.after.play(self.board(), answer);
                let lost = self.lost_position(then);
                let next = match indices.entry(lost.code) {
                    Entry::Occupied(index) => *index.get(),
                    Entry::Vacant(entry) => {
                        found.push(lost);
                        *entry.insert(found.len() - 1)
                    }
                };
                defences.push(Defence { mv: judged.mv, after: judged.after, answer, then, next });
            }
            if defences.len() < analysis.moves.len() {
                // A limit was reached.
                found.truncate(before);
                break;
            }
            found[index].defences = Some(defences);
            index += 1;
        }
        Ok(found)
    }

    fn lost_position(&self, position: Position) -> LostPosition {
        let (code, moves) = (position.code(self.board()), position.count_moves(self.board()));
        LostPosition { position, code, moves, defences: None }
    }
}
