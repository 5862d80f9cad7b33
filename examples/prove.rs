//! Solves a board, writes and verifies a proof, and plays a game with it:
//!
//! ```text
//! cargo run --release --example prove -- 5x5 5x5.proof
//! ```

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use konane::proof::{ProofReader, ProofStrategy, ProofWriter, prove, verify};
use konane::{Board, Position, Solver};

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
    let usage = "usage: prove RxF FILE";
    let board = Board::new(arguments.next().ok_or(usage)?.parse()?);
    let path = arguments.next().ok_or(usage)?;
    let path = Path::new(&path);

    let start = Position::start(&board);
    let writer = ProofWriter::create(path)?;
    let proved = prove(&Solver::new(&board, &start), &mut ())?;
    let proof = proved.proof.ok_or("a limit was reached")??;
    let written = writer.finish(&proof.header, &proof.certificate.codes)?;
    println!("{}: {} positions, {} bytes", path.display(), written.positions, written.bytes);

    let stop = AtomicBool::new(false);
    let checked = verify(&mut ProofReader::open(path)?, &|_, _| {}, &stop)?;
    if let Some(flaw) = checked.flaw {
        return Err(flaw.into());
    }
    println!("{} wins {}: {} answers", checked.header.winner, checked.root, checked.answered);

    // The loser plays its first legal move each time, and the winner replies from the proof.
    let guide = ProofStrategy::open(path)?;
    let mut position = guide.root();
    loop {
        let moves = position.moves(&board);
        let mv = if position.to_move() == guide.winner() {
            guide.answer(&position)?
        } else {
            moves.first().copied()
        };
        let Some(mv) = mv else { break };
        println!("{}: {mv}", position.to_move());
        position = position.play(&board, mv);
    }
    println!("{} cannot move and has lost.", position.to_move());
    Ok(())
}
