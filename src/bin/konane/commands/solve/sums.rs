//! `konane solve --add`: the winner of a sum.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::args::SolveArgs;
use crate::commands::value;
use crate::exit::{CliError, Exit};
use crate::output::{self, EndedJson};
use crate::progress::ProgressDisplay;
use konane::search::run::Reason;
use konane::value::{SumSolution, ValueProgress, solve_sum};

/// Solves a sum and prints the result.
pub fn run(args: &SolveArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    output::must_be_open()?;
    let (terms, to_move) =
        value::terms(Some(args.start.read()?), &args.add, args.start.begin.phase)?;
    let limits = args.search.limits.started_at(Instant::now(), stop);
    let progress = ProgressDisplay::new(args.output.quiet);
    let mut observer = |now: &ValueProgress| {
        progress.update(|_| format!("{} positions", output::grouped(now.positions)));
    };
    let memory = args.search.limits.memory.memory;
    value::must_suffice(memory)?;
    let found = solve_sum(&terms, to_move, limits, memory, &mut observer);
    drop(progress);
    let answered = found.map_err(value::sum_error).and_then(|found| {
        output::answer(args.output.json, &found, text)?;
        Ok(found.reason.into())
    });
    output::ended(args.output.json, answered, |reason| EndedJson { reason })
}

/// Returns the text of the result.
fn text(found: &SumSolution) -> String {
    let to_move = found.to_move;
    let mut rows: Vec<(&str, String)> = Vec::new();
    for (number, term) in (1..).zip(&found.terms) {
        rows.push((if number == 1 { "terms" } else { "" }, format!("{number}: {term}")));
    }
    match (found.winner, &found.best_move) {
        (Some(winner), best) => {
            let none = format!("none: every move of {to_move} loses");
            let best = best.as_ref().map(|best| format!("{}:{}", best.term, best.mv));
            rows.push(("winner", winner.to_string()));
            rows.push(("best move", best.unwrap_or(none)));
        }
        (None, _) => {
            let reason = found.reason.map_or("", Reason::text);
            rows.push(("winner", format!("unknown ({reason})")));
        }
    }
    let searched = match found.searched {
        0 => String::new(),
        searched => format!(", {searched} without a value: searched"),
    };
    rows.push(("components", format!("{}{searched}", found.components)));
    rows.push(("positions", output::grouped(found.nodes)));
    rows.push(("memory", output::bytes(found.memory_bytes)));
    rows.push(("time", output::time(found.seconds)));
    output::rows(&format!("sum of {} terms, {to_move} to move", found.terms.len()), &rows)
}
