//! Any text is read as a move between numbered spots or rejected, in positions of games. A move that was read is
//! found again from its text, and leads to a position.
#![no_main]

use std::ops::ControlFlow;

use arbitrary::Arbitrary;
use konane::sprouts::Position;
use konane::sprouts::numbered::{NumberedMove, NumberedPosition};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    spots: u8,
    /// Chooses the moves that lead to the position.
    choices: [u8; 12],
    plies: u8,
    /// Selects a move, whose text is placed before the other text.
    legal: Option<u8>,
    text: &'a str,
}

fuzz_target!(|input: Input| {
    let start = Position::start(u32::from(input.spots) % 8).expect("a few spots");
    // Without spots there is nothing to number.
    let Some(mut position) = NumberedPosition::from_start(&start) else { return };
    for &choice in &input.choices[..usize::from(input.plies) % 13] {
        let Some(mv) = nth_move(&position, choice) else { break };
        position = position.play(&mv);
    }
    let legal = input.legal.and_then(|choice| nth_move(&position, choice));
    let text = legal.map(|mv| position.write(&mv)).unwrap_or_default() + input.text;
    if let Ok(mv) = position.read(&text) {
        let after = position.play(&mv).position().to_string();
        assert!(after.parse::<Position>().is_ok(), "{after}");
        let written = position.write(&mv);
        assert!(position.read(&written).is_ok(), "{written}");
    }
});

/// Returns the move with a number, or the last move if there are fewer.
fn nth_move(position: &NumberedPosition, number: u8) -> Option<NumberedMove> {
    let (mut found, mut left) = (None, number);
    let _ = position.each_move(|mv| {
        found = Some(mv);
        match left.checked_sub(1) {
            Some(fewer) => {
                left = fewer;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        }
    });
    found
}
