//! History of the states of a game, with undo and redo.

use super::refused;
use crate::exit::CliError;

/// States of a game up to the current one, followed by those that were undone.
#[derive(Clone, Debug)]
pub struct GameHistory<S> {
    /// Never empty.
    states: Vec<S>,
    /// Index of the current state, which is the number of moves that lead to it.
    current: usize,
}

impl<S> GameHistory<S> {
    /// Returns a history without moves.
    pub fn new(start: S) -> Self {
        GameHistory { states: vec![start], current: 0 }
    }

    /// Returns the states from the first to the current one.
    pub fn played(&self) -> &[S] {
        &self.states[..=self.current]
    }

    /// Returns the current state.
    pub fn current(&self) -> &S {
        &self.states[self.current]
    }

    /// Returns the state before the last move.
    pub fn previous(&self) -> Option<&S> {
        self.states[..self.current].last()
    }

    /// Adds the state after a move. Discards undone states.
    pub fn push(&mut self, state: S) {
        self.current += 1;
        self.states.truncate(self.current);
        self.states.push(state);
    }

    /// Goes back to the latest earlier state for which `is_target` returns true. Its arguments are the number
    /// of moves before a state, and the state.
    pub fn undo_to(&mut self, is_target: impl Fn(usize, &S) -> bool) -> Result<(), CliError> {
        let target = (0..self.current).rfind(|&index| is_target(index, &self.states[index]));
        self.current = target.ok_or_else(|| refused("there is nothing to take back"))?;
        Ok(())
    }

    /// Goes forward to the next state for which `is_target` returns true, or to the last one.
    pub fn redo_to(&mut self, is_target: impl Fn(usize, &S) -> bool) -> Result<(), CliError> {
        let mut undone = self.current + 1..self.states.len();
        let Some(last) = undone.clone().next_back() else {
            return Err(refused("there is nothing to redo: no move was taken back"));
        };
        self.current = undone.find(|&index| is_target(index, &self.states[index])).unwrap_or(last);
        Ok(())
    }

    /// Goes back to the first state.
    pub fn restart(&mut self) {
        self.current = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares with two stacks. A state is the sequence of moves that leads to it.
        #[test]
        fn undo_and_redo_agree_with_two_stacks(steps in prop::collection::vec(0_u8..6, 0..60)) {
            let mut history = GameHistory::new(vec![]);
            let (mut played, mut undone): (Vec<u8>, Vec<u8>) = (vec![], vec![]);
            for (number, step) in steps.into_iter().enumerate() {
                let number = number as u8;
                match step {
                    0 | 1 => {
                        played.push(number);
                        undone.clear();
                        history.push(played.clone());
                    }
                    2 => {
                        let undo = history.undo_to(|_, _| true);
                        prop_assert_eq!(undo.is_ok(), !played.is_empty());
                        undone.extend(played.pop());
                    }
                    3 => {
                        let redo = history.redo_to(|_, _| true);
                        prop_assert_eq!(redo.is_ok(), !undone.is_empty());
                        played.extend(undone.pop());
                    }
                    // To the turn of the first player, who plays at even indices.
                    4 => {
                        let undo = history.undo_to(|moves, state| {
                            assert_eq!(moves, state.len());
                            moves % 2 == 0
                        });
                        prop_assert_eq!(undo.is_ok(), !played.is_empty());
                        undone.extend(played.pop());
                        if played.len() % 2 == 1 {
                            undone.extend(played.pop());
                        }
                    }
                    _ => {
                        let redo = history.redo_to(|moves, _| moves % 2 == 0);
                        prop_assert_eq!(redo.is_ok(), !undone.is_empty());
                        played.extend(undone.pop());
                        if played.len() % 2 == 1 {
                            played.extend(undone.pop());
                        }
                    }
                }
                prop_assert_eq!(history.current(), &played);
                let states: Vec<Vec<u8>> = (0..=played.len()).map(|len| played[..len].to_vec()).collect();
                prop_assert_eq!(history.played(), &states[..]);
            }
            history.restart();
            prop_assert_eq!(history.current(), &Vec::<u8>::new());
        }
    }
}
