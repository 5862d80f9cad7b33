//! Counts the positions of boards that the side to move wins, over all sets of stones, with a line
//! of Markdown for each board: `cargo run --release --example count_wins -- 5x6 6x6`.

use std::ops::ControlFlow;
use std::time::Instant;

use konane::endgame::resources::{bytes_text, peak_memory};
use konane::endgame::sweep::count_wins;
use konane::konane::Board;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for size in std::env::args().skip(1) {
        let board = Board::new(size.parse()?);
        let started = Instant::now();
        let wins = count_wins(&board, |_, _| ControlFlow::Continue(()))?;
        let [black, white] = wins.expect("nobody breaks it off");
        let all = 2f64.powi(board.dimensions().squares() as i32);
        let share = 100.0 * (black + white) as f64 / (2.0 * all);
        let seconds = started.elapsed().as_secs_f64();
        println!("| {size} | {black} | {white} | {share:.1} % | {seconds:.2} s |");
    }
    if let Some(bytes) = peak_memory() {
        eprintln!("{} of memory", bytes_text(bytes));
    }
    Ok(())
}
