//! What the program says in a game. Nothing is claimed that is not proven.

use crate::output;
use konane::Colour;
use konane::analysis::Analysis;
use konane::search::Value;

/// Why the program moves as it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The opponent cannot move.
    NoReply,
    /// The position after it is in the proof.
    InProof,
    /// The opponent loses.
    Wins,
    /// Every move loses: so many of the opponent's replies win, if that is known, of so many.
    Loses { winning: Option<usize>, replies: usize },
    /// Nothing is proven.
    Unknown,
}

impl Reason {
    /// To the person who is beaten.
    pub fn to_person(self) -> String {
        match self {
            Reason::NoReply => "it leaves you no move".to_owned(),
            Reason::InProof => "the position after it is in the proof".to_owned(),
            Reason::Wins => "you lose whatever you do".to_owned(),
            Reason::Loses { winning: None, .. } => "all my moves lose".to_owned(),
            Reason::Loses { winning: Some(winning), replies } => match (winning, replies) {
                (1, 1) => "all my moves lose; your only reply wins".to_owned(),
                (n, of) if n == of => format!("all my moves lose: your {of} replies all win"),
                (1, of) => format!("all my moves lose, but only 1 of your {of} replies wins"),
                (n, of) => format!("all my moves lose, but only {n} of your {of} replies win"),
            },
            Reason::Unknown => "I do not know yet who wins".to_owned(),
        }
    }

    /// To people who watch.
    pub fn to_all(self) -> &'static str {
        match self {
            Reason::NoReply => "it leaves no move",
            Reason::InProof => "the position after it is in the proof",
            Reason::Wins => "it wins",
            Reason::Loses { .. } => "all moves lose",
            Reason::Unknown => "it is not known yet who wins",
        }
    }
}

/// How a person whose turn it is stands.
pub fn situation(analysis: &Analysis) -> String {
    let (wins, count) = (analysis.count(Some(Value::Win)), analysis.moves.len());
    let open = match analysis.count(None) {
        0 => String::new(),
        open => format!(", {open} not decided yet"),
    };
    let plies = analysis.judgement.and_then(|judgement| judgement.remoteness);
    let plies = plies.map(|count| format!(" in {}", output::plies(count))).unwrap_or_default();
    match (analysis.outcome(), wins, count) {
        (None, ..) => "I do not know yet who wins.".to_owned(),
        (Some(Value::Loss), _, 1) => format!("Your only move loses{plies}."),
        (Some(Value::Loss), ..) => format!("Your {count} moves all lose{plies}."),
        (Some(Value::Win), 0, _) => {
            "You are winning, but I do not know yet by which move.".to_owned()
        }
        (Some(Value::Win), 1, 1) => format!("You win{plies}: your only move does."),
        (Some(Value::Win), 1, _) => {
            format!("You are winning{plies}: 1 of your {count} moves wins{open}.")
        }
        (Some(Value::Win), n, _) => {
            format!("You are winning{plies}: {n} of your {count} moves win{open}.")
        }
    }
}

/// How a person stands whose moves all have to have an answer in the proof.
pub fn proof_situation(open: usize, count: usize) -> String {
    match (open, count) {
        (0, 1) => "Your only move has an answer in the proof.".to_owned(),
        (0, _) => format!("Your {count} moves all have an answer in the proof."),
        _ => format!("{open} of your {count} moves have no answer: it is no proof."),
    }
}

/// Who wins, said at the beginning: to the person who plays `person`, or to all.
pub fn prospect(winner: Option<Colour>, person: Option<Colour>, is_perfect: bool) -> String {
    match (winner, person) {
        (None, None) => "Nobody knows yet who wins".to_owned(),
        (None, Some(_)) => "I do not know yet who wins".to_owned(),
        (Some(winner), None) => format!("{winner} can win"),
        (Some(winner), Some(person)) if winner == person => "You can win".to_owned(),
        (Some(_), Some(_)) if is_perfect => "I win".to_owned(),
        (Some(_), Some(_)) => "I can win".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_game_is_described_as_it_is() {
        let why = |winning, replies| Reason::Loses { winning, replies }.to_person();
        assert_eq!(why(Some(1), 1), "all my moves lose; your only reply wins");
        assert_eq!(why(Some(1), 3), "all my moves lose, but only 1 of your 3 replies wins");
        assert_eq!(why(Some(2), 3), "all my moves lose, but only 2 of your 3 replies win");
        assert!(!why(Some(3), 3).contains("only"), "{}", why(Some(3), 3));
        assert_eq!(why(None, 3), "all my moves lose");
    }

    #[test]
    fn nothing_is_promised_that_is_not_known() {
        let (black, white) = (Some(Colour::Black), Some(Colour::White));
        assert_eq!(prospect(black, white, true), "I win");
        assert_eq!(prospect(black, white, false), "I can win");
        assert_eq!(prospect(black, black, false), "You can win");
        assert_eq!(prospect(None, black, true), "I do not know yet who wins");
        assert_eq!(prospect(white, None, true), "White can win");
    }
}
