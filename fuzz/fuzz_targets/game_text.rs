//! Any text is read as a short game or rejected. The text of a game is read back as the same game, and a game minus
//! itself is 0.
#![no_main]

use konane::Limits;
use konane::cgt::GameStore;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut games = GameStore::new(Limits { nodes: Some(20_000), ..Limits::default() }, 8 << 20);
    match games.parse(text) {
        Ok(game) => {
            let written = games.text(game);
            if !written.contains('…') {
                assert!(games.parse(&written).is_ok_and(|again| again == game), "{written}");
            }
            let negative = games.negative(game);
            assert!(games.sum(game, negative) == Ok(games.zero()));
        }
        Err(error) => assert!(error.to_string().len() < 1000, "long texts are cut"),
    }
});
