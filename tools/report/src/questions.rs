//! Positions whose winner is asked for: those of the openings and of narrow boards.

use std::collections::BTreeMap;

use konane::{Board, Dimensions, Position};

use crate::records::Record;
use crate::row;
use crate::text::{cell, count, grouped};

/// A position of a board.
#[derive(Clone, Debug)]
pub struct Question {
    /// Ranks x files.
    pub board: String,
    /// The position as `konane solve` takes it.
    pub position: String,
}

/// The board of these sides.
///
/// # Panics
/// If there is none.
pub fn board(ranks: u32, files: u32) -> Board {
    Board::new(Dimensions::new(ranks, files).expect("sides of a board"))
}

impl Question {
    pub fn new(board: &Board, position: &Position) -> Self {
        Question { board: board.dimensions().to_string(), position: position.to_string() }
    }

    /// The beginning of a command line that answers it.
    pub fn args(&self) -> String {
        format!("solve {} --position \"{}\"", self.board, self.position)
    }
}

/// Whether two command lines ask the same question, whatever searches for the answer.
pub fn is_same_question(one: &str, other: &str) -> bool {
    let question =
        |args: &str| args.split_once(" --algo").map(|(question, _)| question.to_string());
    question(one).is_some() && question(one) == question(other)
}

/// The searches by board and position.
pub struct Answers(BTreeMap<(String, String), Record>);

impl Answers {
    /// Of several searches of a position the latest that found the winner counts, else the latest.
    ///
    /// # Errors
    /// If two searches found different winners; the message has their command lines.
    pub fn new(records: Vec<Record>) -> Result<Self, String> {
        let mut answers: BTreeMap<_, Record> = BTreeMap::new();
        for record in records {
            let key = (record.result.board.clone(), record.result.position.clone());
            let earlier = answers.get(&key);
            match (earlier.and_then(|earlier| earlier.result.found()), record.result.found()) {
                (Some(before), Some(after)) if before != after => {
                    let before = earlier.map_or("", |earlier| &earlier.command);
                    return Err(format!(
                        "different winners by {before:?} and {:?}",
                        record.command
                    ));
                }
                (Some(_), None) => {}
                _ => {
                    answers.insert(key, record);
                }
            }
        }
        Ok(Answers(answers))
    }

    pub fn get(&self, question: &Question) -> Option<&Record> {
        self.0.get(&(question.board.clone(), question.position.clone()))
    }

    /// `black` or `white`, if a search found it.
    pub fn winner(&self, question: &Question) -> Option<&str> {
        self.get(question)?.result.found()
    }

    /// Why a position has no winner: the limit that its search reached.
    pub fn reason(&self, question: &Question) -> String {
        let Some(record) = self.get(question) else { return "not searched".to_string() };
        let reason = record.result.reason.as_deref().unwrap_or_default();
        match (reason, &record.time_limit, record.max_nodes) {
            ("time limit", Some(time), _) => format!("{reason} of {time}"),
            ("node limit", _, Some(nodes)) => format!("{reason} of {}", grouped(nodes)),
            _ => reason.to_string(),
        }
    }

    /// All searches that count.
    pub fn records(&self) -> impl Iterator<Item = &Record> + Clone {
        self.0.values()
    }

    /// Cells of a table: nodes, positions of exact searches, seconds, why there is no answer.
    pub fn cells(&self, question: &Question) -> Vec<String> {
        let answer = self.get(question).map(|record| &record.result);
        row![
            count(answer.map(|answer| answer.total_nodes())),
            count(answer.and_then(|answer| answer.leaf_positions)),
            cell(answer.map(|answer| answer.seconds)),
            answer.map_or("not searched", |answer| answer.reason.as_deref().unwrap_or_default()),
        ]
    }
}

/// The headings of [`Answers::cells`].
pub const CELLS: &str = "nodes,leaf_positions,seconds,reason";
