//! `konane builddb`.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::CliError;
use super::args::BuilddbArgs;
use super::build_progress::BuildProgress;
use super::database::{self, BuildJson, PlanJson};
use super::exit::Exit;
use super::output;
use crate::endgame::build::{BuildSummary, build};
use crate::endgame::build_error::BuildError;
use crate::endgame::plan::{BuildOptions, Plan, plan};
use crate::endgame::resources::peak_memory;
use crate::konane::Board;

/// Plans, builds and prints.
pub fn run(args: &BuilddbArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    database::on_threads(args.threads, || plan_and_build(args, stop))?
}

fn plan_and_build(args: &BuilddbArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let board = Board::new(args.board);
    let options = BuildOptions {
        scope: args.scope.into(),
        max_stones: args.max_stones,
        memory_bytes: args.memory,
        ..BuildOptions::complete(args.out.clone())
    };
    let plan = plan(&board, &options)?;
    if args.plan && args.json {
        output::write_json(&plan_object(&plan))?;
    } else if !args.json {
        output::write_text(&plan_text(&plan))?;
    }
    if args.plan {
        return Ok(Exit::Answered);
    }
    let begun = Instant::now();
    let progress = BuildProgress::new(args.quiet);
    let result = build(&board, &plan, &progress, stop);
    drop(progress);
    match result {
        Ok(summary) => {
            if args.json {
                output::write_json(&object(&plan, &summary))?;
            } else {
                output::write_text(&text(&plan, &summary))?;
            }
            Ok(Exit::Answered)
        }
        Err(BuildError::Interrupted) => {
            let seconds = begun.elapsed().as_secs_f64();
            if args.json {
                output::write_json(&interrupted_object(&plan, seconds))?;
            } else {
                output::write_text("interrupted: the same command goes on from here\n")?;
            }
            Ok(Exit::Interrupted)
        }
        Err(error) => Err(error.into()),
    }
}

fn name(directory: &Path) -> String {
    directory.display().to_string()
}

fn plan_object(plan: &Plan) -> PlanJson {
    PlanJson {
        board: plan.dimensions.to_string(),
        scope: plan.scope.name(),
        max_stones: plan.max_stones,
        directory: name(&plan.directory),
        finished: plan.finished,
        positions: plan.positions,
        stored_positions: plan.stored_positions,
        memory_bytes: plan.memory_bytes,
        memory_limit: plan.memory_limit,
        disk_bytes: plan.disk_bytes,
        disk_peak_bytes: plan.disk_peak_bytes,
        disk_limit: plan.disk_limit,
        seconds: plan.seconds,
        threads: plan.threads,
    }
}

fn plan_text(plan: &Plan) -> String {
    let limit = |limit: Option<u64>, what| match limit {
        Some(bytes) => format!(" of {} {what}", output::bytes(bytes)),
        None => String::new(),
    };
    let mut head = format!("{}, {} positions", plan.dimensions, plan.scope.name());
    if plan.max_stones < plan.dimensions.squares() {
        head += &format!(" with up to {} stones", plan.max_stones);
    }
    let mut rows = vec![
        ("directory", name(&plan.directory)),
        ("positions", database::large(plan.positions)),
        ("stored", format!("{} (symmetric ones once)", database::large(plan.stored_positions))),
    ];
    if plan.finished {
        rows.push(("plan", "nothing to do: the database is there".to_string()));
    } else {
        let memory = limit(plan.memory_limit, "available");
        rows.push(("memory", output::bytes(plan.memory_bytes) + &memory));
        let (files, most) = (output::bytes(plan.disk_bytes), output::bytes(plan.disk_peak_bytes));
        let disk = limit(plan.disk_limit, "free");
        rows.push(("disk", format!("about {files}, at most {most} at a time{disk}")));
        let threads = if plan.threads == 1 { "thread" } else { "threads" };
        let time = output::time(plan.seconds);
        rows.push(("time", format!("about {time} on {} {threads}", plan.threads)));
    }
    database::rows(&head, &rows)
}

fn object(plan: &Plan, summary: &BuildSummary) -> BuildJson {
    BuildJson {
        board: summary.dimensions.to_string(),
        scope: summary.scope.name(),
        max_stones: summary.max_stones,
        directory: name(&plan.directory),
        positions: Some(summary.positions),
        black_to_move_wins: Some(summary.black_to_move_wins),
        white_to_move_wins: Some(summary.white_to_move_wins),
        bytes: Some(summary.bytes),
        reason: None,
        seconds: summary.seconds,
        peak_memory_bytes: summary.peak_memory_bytes,
    }
}

fn interrupted_object(plan: &Plan, seconds: f64) -> BuildJson {
    BuildJson {
        board: plan.dimensions.to_string(),
        scope: plan.scope.name(),
        max_stones: plan.max_stones,
        directory: name(&plan.directory),
        positions: None,
        black_to_move_wins: None,
        white_to_move_wins: None,
        bytes: None,
        reason: Some("interrupted"),
        seconds,
        peak_memory_bytes: peak_memory(),
    }
}

fn text(plan: &Plan, summary: &BuildSummary) -> String {
    let head = if plan.finished { "found" } else { "built" };
    let mut rows = vec![
        ("positions", output::grouped(summary.positions)),
        (
            "Black wins",
            format!("{} with Black to move", output::grouped(summary.black_to_move_wins)),
        ),
        (
            "White wins",
            format!("{} with White to move", output::grouped(summary.white_to_move_wins)),
        ),
        ("files", output::bytes(summary.bytes)),
        ("time", output::time(summary.seconds)),
    ];
    if summary.layers_found > 0 && !plan.finished {
        rows.push(("resumed", format!("{} layers were there", summary.layers_found)));
    }
    if let Some(bytes) = summary.peak_memory_bytes {
        rows.push(("memory", output::bytes(bytes)));
    }
    database::rows(head, &rows)
}
