//! How many random positions a database answers in a second, on one thread:
//! `cargo run --release --example lookup_speed -- db/6x6-complete [CACHE_MIB]`.

use std::path::PathBuf;
use std::time::Instant;

use konane::endgame::{Database, DatabaseOptions, Lookup};
use konane::konane::{Colour, Position};

/// Positions of one round.
const POSITIONS: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(arguments.next().ok_or("which database?")?);
    let cache_bytes = match arguments.next() {
        Some(mebibytes) => mebibytes.parse::<u64>()? << 20,
        None => DatabaseOptions::default().cache_bytes,
    };
    let started = Instant::now();
    let database = Database::open(&directory, DatabaseOptions { cache_bytes })?;
    println!("opened in {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
    let board = database.board();
    let mut state = 1u64;
    for round in 1..=5 {
        let (started, mut won) = (Instant::now(), 0u64);
        for n in 0..POSITIONS {
            state = state.wrapping_mul(0xD129_42A6_4C4D_9F2D).wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut occupied = (state ^ state >> 29).rotate_left(17) & board.all();
            while occupied.count_ones() > database.coverage().max_stones {
                occupied &= occupied - 1;
            }
            // Two empty squares: the jumping phase.
            while (board.all() & !occupied).count_ones() < 2 {
                occupied &= occupied - 1;
            }
            let to_move = if n % 2 == 0 { Colour::Black } else { Colour::White };
            let position = Position::new_unchecked(occupied, to_move);
            won += u64::from(database.value(&position)? == Lookup::Win);
        }
        let seconds = started.elapsed().as_secs_f64();
        let rate = POSITIONS as f64 / seconds;
        println!("round {round}: {rate:.0} positions/s, {won} won by the side to move");
    }
    Ok(())
}
