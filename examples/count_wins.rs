//! Counts the positions of a board that the side to move wins, over all sets of stones:
//! `cargo run --release --example count_wins -- 6x6`.

use std::ops::ControlFlow;
use std::time::Instant;

use konane::endgame::resources::{bytes_text, peak_memory};
use konane::endgame::sweep::count_wins;
use konane::konane::Board;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let size = std::env::args().nth(1).unwrap_or_else(|| "5x5".to_owned());
    let board = Board::new(size.parse()?);
    let started = Instant::now();
    let wins = count_wins(&board, |done, of| {
        eprint!("\r{done} of {of} black stones");
        ControlFlow::Continue(())
    })?;
    let [black, white] = wins.expect("nobody breaks it off");
    eprintln!();
    println!("{size}: Black to move wins {black}, White to move wins {white}");
    println!("of {} positions each", 1u64 << board.dimensions().squares());
    println!("{:.1} s", started.elapsed().as_secs_f64());
    if let Some(bytes) = peak_memory() {
        println!("{} of memory", bytes_text(bytes));
    }
    Ok(())
}
