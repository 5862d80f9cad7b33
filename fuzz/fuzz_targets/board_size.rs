//! Any text is parsed as a board size or rejected. A board size is unchanged after writing and
//! reading it.
#![no_main]

use konane::{Board, Dimensions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Dimensions>() {
        Ok(size) => {
            assert!((1..=64).contains(&size.squares()));
            assert_eq!(size.to_string().parse(), Ok(size));
            assert_eq!(Board::new(size).all().count_ones(), size.squares());
        }
        Err(error) => assert!(error.to_string().len() < 1000, "long texts are cut"),
    }
});
