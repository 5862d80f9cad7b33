//! Plays a game with perfect moves for both sides from a database:
//!
//! ```text
//! cargo run --release --example perfect_game -- tests/data/databases/v1/3x4-complete
//! ```
//!
//! The optional second argument is the initial position, such as `"xoxo/ox2/x1xo w"`.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use konane::tablebase::{Database, DatabaseOptions, perfect_game, probe};
use konane::{Position, notation};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("usage: perfect_game DIRECTORY [POSITION]")?;
    let database = Database::open(Path::new(&directory), DatabaseOptions::default())?;
    let board = database.board();
    println!("The database holds {}.", database.coverage());

    let from = match arguments.next() {
        Some(text) => notation::parse_position(board, &text)?,
        None => Position::start(board),
    };
    let mut game = perfect_game(&database, from);
    // The loop borrows the iterator, which has the final position afterwards.
    for step in &mut game {
        let (position, mv) = step?;
        let answer = probe(&database, &position)?;
        let winning = answer.moves.iter().filter(|rated| rated.outcome == answer.outcome).count();
        println!(
            "{:20} {} is to move: a {}; {} of {} moves keep it, such as {}",
            position,
            position.to_move(),
            answer.outcome.name(),
            winning,
            answer.moves.len(),
            mv,
        );
    }
    let end = game.position().ok_or("the game ended with an error")?;
    println!("{:20} {} cannot move and has lost.", end, end.to_move());
    Ok(())
}
