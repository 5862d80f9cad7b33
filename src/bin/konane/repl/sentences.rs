//! Messages about games of Konane and Sprouts. They state only proven results.

use std::fmt::Display;

use crate::output;
use konane::analysis::Judgement;
use konane::search::Value;

/// Returns the reason for a move of the program. The arguments are the outcome for the program, the number of
/// replies, and the number of winning replies if known.
pub fn move_reason(outcome: Option<Value>, replies: usize, winning: Option<usize>) -> String {
    match (outcome, replies, winning) {
        (_, 0, _) => "it leaves no move".to_owned(),
        (None, ..) => "the winner is not known yet".to_owned(),
        (Some(Value::Win), ..) => "it wins".to_owned(),
        (Some(Value::Loss), _, None) => "all moves lose".to_owned(),
        (Some(Value::Loss), 1, Some(1)) => "all moves lose; the only reply wins".to_owned(),
        (Some(Value::Loss), all, Some(winning)) if winning == all => {
            format!("all moves lose: all {all} replies win")
        }
        (Some(Value::Loss), all, Some(1)) => {
            format!("all moves lose, but only 1 of {all} replies wins")
        }
        (Some(Value::Loss), all, Some(winning)) => {
            format!("all moves lose, but only {winning} of {all} replies win")
        }
    }
}

/// Returns a sentence about a position for the user to move. The arguments are the outcome, the numbers of
/// winning and of undecided moves, the number of all moves (0 if they are not listed), and the remoteness.
pub fn situation(
    outcome: Option<Value>,
    [winning, open]: [usize; 2],
    count: usize,
    remoteness: Option<u32>,
) -> String {
    let plies = remoteness.map(|plies| format!(" in {}", output::plies(plies))).unwrap_or_default();
    let all_open = open;
    let open = if open == 0 { String::new() } else { format!(", {open} not decided yet") };
    match (outcome, winning, count) {
        (None, _, count) if all_open < count => {
            let lost = count - all_open;
            let verb = if lost == 1 { "loses" } else { "lose" };
            format!("The winner is not known yet: {lost} of your {count} moves {verb}{open}.")
        }
        (None, ..) => "The winner is not known yet.".to_owned(),
        (Some(Value::Loss), _, 0) => format!("You lose{plies}."),
        (Some(Value::Loss), _, 1) => format!("Your only move loses{plies}."),
        (Some(Value::Loss), ..) => format!("Your {count} moves all lose{plies}."),
        (Some(Value::Win), 0, _) => {
            "You are winning, but the winning move is not known yet.".to_owned()
        }
        (Some(Value::Win), 1, 1) => format!("You win{plies}: your only move does."),
        (Some(Value::Win), 1, _) => {
            format!("You are winning{plies}: 1 of your {count} moves wins{open}.")
        }
        (Some(Value::Win), ..) => {
            format!("You are winning{plies}: {winning} of your {count} moves win{open}.")
        }
    }
}

/// Returns a sentence for a user who loses according to the proof. `open` moves have no reply in it.
pub fn proof_situation(open: usize, count: usize) -> String {
    match (open, count) {
        (0, 1) => "Your only move has a reply in the proof.".to_owned(),
        (0, _) => format!("Your {count} moves all have a reply in the proof."),
        _ => format!("{open} of your {count} moves have no reply: the proof is not valid."),
    }
}

/// Returns a text about the expected winner for the user who plays `person`, or for spectators.
pub fn prospect<P: PartialEq + Display>(
    winner: Option<P>,
    person: Option<P>,
    is_perfect: bool,
) -> String {
    match (winner, person) {
        (None, _) => "The winner is not known yet".to_owned(),
        (Some(winner), None) => format!("{winner} can win"),
        (Some(winner), Some(person)) if winner == person => "You can win".to_owned(),
        (Some(_), Some(_)) if is_perfect => "I win".to_owned(),
        (Some(_), Some(_)) => "I can win".to_owned(),
    }
}

/// Returns a text about the winner of a finished game for the user who plays `person`, or for spectators.
pub fn winner_text<P: PartialEq + Display>(winner: P, person: Option<P>) -> String {
    match person {
        None => format!("{winner} has won."),
        Some(person) if person == winner => "You have won.".to_owned(),
        Some(_) => "I have won.".to_owned(),
    }
}

/// Returns `wins`, `loses` or `unknown`, for the player who makes a move.
pub fn outcome_verb(outcome: Option<Value>) -> &'static str {
    match outcome {
        Some(Value::Win) => "wins",
        Some(Value::Loss) => "loses",
        None => "unknown",
    }
}

/// Returns a line that suggests a move. Only a remoteness proves that a losing move delays the loss longest.
pub fn hint_text(mv: Option<impl Display>, judgement: Option<Judgement>) -> String {
    let Some(mv) = mv else { return "There is no move.\n".to_owned() };
    match judgement {
        None => format!("{mv} is the best so far; the winner is not known yet.\n"),
        Some(Judgement { outcome: Value::Win, .. }) => format!("{mv} wins.\n"),
        Some(Judgement { remoteness: Some(_), .. }) => {
            format!("Every move loses; {mv} delays the loss longest.\n")
        }
        Some(_) => format!("Every move loses; {mv} seems hardest to answer.\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use konane::Colour;

    #[test]
    fn a_lost_game_is_described_as_it_is() {
        let why = |winning, replies| move_reason(Some(Value::Loss), replies, winning);
        assert_eq!(why(Some(1), 1), "all moves lose; the only reply wins");
        assert_eq!(why(Some(1), 3), "all moves lose, but only 1 of 3 replies wins");
        assert_eq!(why(Some(2), 3), "all moves lose, but only 2 of 3 replies win");
        assert!(!why(Some(3), 3).contains("only"), "{}", why(Some(3), 3));
        assert_eq!(why(None, 3), "all moves lose");
    }

    #[test]
    fn nothing_is_promised_that_is_not_known() {
        let (black, white) = (Some(Colour::Black), Some(Colour::White));
        assert_eq!(prospect(black, white, true), "I win");
        assert_eq!(prospect(black, white, false), "I can win");
        assert_eq!(prospect(black, black, false), "You can win");
        assert_eq!(prospect(None, black, true), "The winner is not known yet");
        assert_eq!(prospect(white, None, true), "White can win");
    }
}
