//! Any text is parsed as a Sprouts position or rejected. A parsed position is unchanged after
//! writing and reading it. The canonical form of a canonical form is the same text. The SPOTS texts of
//! its lands parse to the same lands.
#![no_main]

use konane::sprouts::{Position, Scratch, Sprouts};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Position>() {
        Err(error) => {
            assert!(error.to_string().len() < 1000, "long texts are cut");
            assert!(error.at().is_none_or(|at| at <= text.len()));
        }
        Ok(position) => {
            let printed = position.to_string();
            assert_eq!(printed.parse::<Position>().as_ref(), Ok(&position));
            if position.lives() > 60 {
                return;
            }
            let game = Sprouts::new(1 << 26);
            let mut scratch = Scratch::default();
            let sum = game.atoms(&position, &mut scratch).expect("one small position");
            let canonical = game.text(&sum);
            let again: Position = canonical.parse().expect("canonical forms are positions");
            assert_eq!(game.atoms(&again, &mut scratch), Ok(sum.clone()));
            for land in sum {
                for text in game.spots_texts(land) {
                    let again: Position = text.parse().expect("SPOTS' texts are positions");
                    assert_eq!(game.atoms(&again, &mut scratch), Ok(vec![land]));
                }
            }
        }
    }
});
