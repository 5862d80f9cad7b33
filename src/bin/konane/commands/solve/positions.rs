//! `konane solve RxF -`: one result for each position on standard input.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::args::SolveArgs;
use super::report::SolveJson;
use crate::args::database;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::stdin::answer_lines;
use konane::notation::{is_partial_diagram, parse_position_as};
use konane::search::run::Reason;
use konane::tablebase::DatabaseValues;
use konane::{Board, Solution, SolveOptions, Solver};

/// Solves the positions one after the other, each with the options and within the limits of a single search.
pub fn run(args: &SolveArgs, options: SolveOptions, stop: &AtomicBool) -> Result<Exit, CliError> {
    let (dimensions, phase) = (args.start.board()?, args.start.begin.phase);
    let open = |directory| database::open(directory, dimensions, None);
    let database = args.db.as_deref().map(open).transpose()?;
    // Unbuffered: the search of the next position may take long.
    let is_partial = |text: &str| is_partial_diagram(dimensions, text);
    let answered = answer_lines(0, stop, is_partial, |line| {
        let read = parse_position_as(dimensions, line, phase);
        let (board, position) = read.map_err(|error| CliError::Usage(error.to_string()))?;
        let board = args.experiment.board(board)?;
        let solver = Solver::new(&board, &position).options(options);
        let solver = solver.limits(args.search.limits.started_at(Instant::now(), stop));
        let solution = match &database {
            None => solver.run()?,
            Some(database) => {
                let values = DatabaseValues::new(database).with_board(&board);
                let solution = solver.oracle(&values).run()?;
                values.into_error().map_or(Ok(solution), Err)?
            }
        };
        let text = match args.output.json {
            true => output::json(&SolveJson::new(&solution))?,
            false => text(&board, &solution),
        };
        Ok((text, solution.reason.into()))
    });
    Ok(answered?.1)
}

/// Returns the result as one line.
fn text(board: &Board, solution: &Solution) -> String {
    let (position, to_move) = (solution.position.to_string(), solution.to_move);
    let result = match (solution.winner, solution.best_move) {
        (Some(winner), Some(mv)) => format!("{winner} wins, best move {mv}"),
        (Some(winner), None) if solution.position.count_moves(board) == 0 => {
            format!("{winner} wins, {to_move} cannot move")
        }
        (Some(winner), None) => format!("{winner} wins, every move of {to_move} loses"),
        (None, best) => {
            let best = best.map_or(String::new(), |mv| format!(", best so far {mv}"));
            format!("unknown ({}){best}", solution.reason.map_or("", Reason::text))
        }
    };
    format!("{position}: {result}\n")
}
