//! The subcommands. Each file or folder has the arguments, help, implementation and JSON of one subcommand.
//! The arguments of `explore` are in [`web`](crate::web).

pub mod analyse;
pub mod annotate;
pub mod bench;
pub mod builddb;
pub mod complexity;
pub mod draw;
pub mod engine;
#[cfg(test)]
pub mod json_schema;
pub mod man;
pub mod perft;
pub mod play;
pub mod probe;
pub mod puzzle;
pub mod results;
pub mod solve;
pub mod sprouts;
pub mod statespace;
pub mod value;
pub mod verify_proof;
pub mod verifydb;

use std::sync::atomic::AtomicBool;

use clap::{CommandFactory as _, Subcommand};

use crate::exit::{CliError, Exit};

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find the winner of a board or position, and a winning move.
    Solve(solve::SolveArgs),
    /// Count move sequences, or distinct positions, ply by ply.
    Perft(perft::PerftArgs),
    /// Verify a proof written by `solve --proof`, using only the rules of the game.
    VerifyProof(verify_proof::VerifyProofArgs),
    /// Analyse positions interactively: the value of every move and a line of best play.
    #[command(alias = "analyze")]
    Analyse(analyse::AnalyseArgs),
    /// Play against the program, which plays perfectly where it can.
    Play(play::PlayArgs),
    /// Judge every move of a game record: mistakes, only moves and undecided moves.
    Annotate(annotate::AnnotateArgs),
    /// Find puzzles: positions with exactly one winning move, which is not the obvious one.
    Puzzle(puzzle::PuzzleArgs),
    /// Explore positions in the browser: the value of every move, searches as they run.
    #[cfg(feature = "explore")]
    Explore(crate::web::ExploreArgs),
    /// Answer requests of another program: one JSON object per line, several searches at a time.
    Engine(engine::EngineArgs),
    /// Look up the winner of a position and the value of every move in a database.
    Probe(probe::ProbeArgs),
    /// Files of results of solve --results: list, merge, verify.
    Results(results::ResultsArgs),
    /// Draw a position as an SVG document.
    Draw(draw::DrawArgs),
    /// Build a database of the values of all positions of a board, or of those with few stones.
    Builddb(builddb::BuilddbArgs),
    /// Check the files of a database.
    Verifydb(verifydb::VerifydbArgs),
    /// Count the reachable positions ply by ply, with winners and terminal positions.
    Statespace(statespace::StatespaceArgs),
    /// Value of a position as a combinatorial game: canonical form, temperature, sums of positions.
    Value(value::ValueArgs),
    /// Estimate the number of games on a board from random games.
    Complexity(complexity::ComplexityArgs),
    /// Sprouts: solve positions, canonical forms, moves, databases of Grundy numbers.
    Sprouts(sprouts::SproutsCommandArgs),
    /// Run a fixed benchmark on one thread; print speeds and a signature of node counts.
    Bench(bench::BenchArgs),
    /// Print a shell completion script.
    Completions(man::CompletionsArgs),
    /// Print a manual page in roff.
    Man(man::ManArgs),
}

/// Runs a subcommand.
pub fn run(command: &Command, stop: &AtomicBool) -> Result<Exit, CliError> {
    match command {
        Command::Solve(args) => solve::run(args, stop),
        Command::Perft(args) => perft::run(args, stop),
        Command::Probe(args) => probe::run(args, stop),
        Command::Analyse(args) => analyse::run(args, stop),
        Command::Play(args) => play::run(args, stop),
        Command::Annotate(args) => annotate::run(args, stop),
        Command::Puzzle(args) => puzzle::run(args, stop),
        #[cfg(feature = "explore")]
        Command::Explore(args) => crate::web::run(args, stop),
        Command::Engine(args) => engine::run(args, stop),
        Command::Results(args) => results::run(args, stop),
        Command::Draw(args) => draw::run(args),
        Command::VerifyProof(args) => verify_proof::run(args, stop),
        Command::Builddb(args) => builddb::run(args, stop),
        Command::Verifydb(args) => verifydb::run(args, stop),
        Command::Statespace(args) => statespace::run(args, stop),
        Command::Value(args) => value::run(args, stop),
        Command::Complexity(args) => complexity::run(args, stop),
        Command::Sprouts(args) => sprouts::run(args, stop),
        Command::Bench(args) => bench::run(args, stop),
        Command::Completions(args) => man::completions(args, &crate::Cli::command()),
        Command::Man(args) => man::man(args, crate::Cli::command()),
    }
}
