//! `konane solve RxF -`: one result for each position on standard input.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::args::SolveArgs;
use super::lines::MovesAndLine;
use super::report::SolveJson;
use crate::args::database;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::stdin::answer_lines;
use konane::analysis::Analyst;
use konane::notation::{is_partial_diagram, parse_position_as};
use konane::search::run::Reason;
use konane::tablebase::DatabaseValues;
use konane::{Board, Solution, SolveOptions, Solver};

/// Solves the positions one after the other, each with the options and within the limits of a single search.
pub fn run(args: &SolveArgs, options: SolveOptions, stop: &AtomicBool) -> Result<Exit, CliError> {
    let (dimensions, phase) = (args.start.board()?, args.start.begin.phase);
    let database = database::open_named(&args.db, dimensions, None)?.map(Arc::new);
    // Unbuffered: the search of the next position may take long.
    let is_partial = |text: &str| is_partial_diagram(dimensions, text);
    let answered = answer_lines(0, stop, is_partial, |line| {
        let read = parse_position_as(dimensions, line, phase);
        let (board, position) = read.map_err(|error| CliError::Usage(error.to_string()))?;
        let board = args.experiment.board(board)?;
        let solver = Solver::new(&board, &position).options(options);
        let limits = args.search.limits.started_at(Instant::now(), stop);
        let values =
            database.as_deref().map(|database| DatabaseValues::new(database).with_board(&board));
        let mut solver = solver.limits(limits);
        if let Some(values) = &values {
            solver = solver.oracle(values);
        }
        let (solution, table) = solver.search(&mut ())?;
        if let Some(error) = values.and_then(DatabaseValues::into_error) {
            return Err(error.into());
        }
        let lines = match args.lines {
            true => {
                let mut analyst = Analyst::after(&board, table, options)?;
                if let Some(database) = &database {
                    analyst = analyst.with_database(Arc::clone(database))?;
                }
                Some(MovesAndLine::find(analyst, &solution, limits, args.output.quiet)?)
            }
            false => None,
        };
        let text = match args.output.json {
            true => output::json(&SolveJson::new(&solution).with_lines(lines.as_ref()))?,
            false => text(&board, &solution, lines.as_ref()),
        };
        Ok((text, solution.reason.into()))
    });
    Ok(answered?.1)
}

/// Returns the result as one line.
fn text(board: &Board, solution: &Solution, lines: Option<&MovesAndLine>) -> String {
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
    let rows = lines.into_iter().flat_map(MovesAndLine::rows);
    let rows = rows.map(|(name, moves)| {
        let moves: String = moves.iter().map(|mv| format!(" {mv}")).collect();
        format!("; {name}{moves}")
    });
    format!("{position}: {result}{}\n", rows.collect::<String>())
}
