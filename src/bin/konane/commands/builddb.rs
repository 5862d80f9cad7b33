//! `konane builddb`.

use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use crate::args::{MemoryLimitArg, OutputArgs, ThreadsArg, database, named, number};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::progress::ProgressDisplay;
use konane::file::FileError;
use konane::search::run::Reason;
use konane::system::peak_memory;
use konane::tablebase::classes::{ClassCounts, ClassLayer, count_classes, memory_needed};
use konane::tablebase::statespace::StateSpaceError;
use konane::tablebase::{
    BuildError, BuildOptions, BuildSummary, Coverage, Histogram, Metric, Misfit, Plan, Resource,
    Scope, build, plan,
};
use konane::{Board, Dimensions, ErrorKind};

/// Maximum number of stones on a board.
const MAX_STONES: u32 = 64;

/// `konane builddb`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "The same command continues an interrupted build. Without a board, the time and the space for some boards are\n",
    "listed.\n\n",
    "Examples:\n",
    "  konane builddb\n",
    "  konane builddb 4x5\n",
    "  konane builddb 5x5 --out databases --threads 1\n",
    "  konane builddb 4x5 --metric remoteness\n",
    "  konane builddb 4x5 --classes\n",
    "  konane builddb 7x7 --max-stones 4 --memory 1GiB --plan\n"
))]
pub struct BuilddbArgs {
    /// Ranks x files, such as 6x6.
    #[arg(value_name = "RxF")]
    pub board: Option<Dimensions>,
    /// The directory for databases. Each database is a subdirectory, such as db/6x6-complete.
    #[arg(short, long, value_name = "DIR", default_value = database::default_directory())]
    pub out: PathBuf,
    /// Positions that the database covers.
    #[arg(long, value_name = "NAME", default_value = "complete",
          value_parser = named(database::SCOPES, Scope::name))]
    pub scope: Scope,
    /// Value to store for each position.
    #[arg(long, value_name = "NAME", default_value = "outcome",
          value_parser = named(database::METRICS, Metric::name))]
    pub metric: Metric,
    /// Only positions with up to this many stones.
    #[arg(long, value_name = "N", value_parser = number(0, MAX_STONES), allow_negative_numbers = true)]
    pub max_stones: Option<u32>,
    #[command(flatten)]
    pub memory: MemoryLimitArg,
    #[command(flatten)]
    pub threads: ThreadsArg,
    /// Print the time, memory and disk space that the build needs, without building.
    #[arg(long, visible_alias = "dry-run")]
    pub plan: bool,
    /// Count the positions by number of stones and outcome class, without building: L (Black wins), R (White wins),
    /// N (the player to move wins), P (the player to move loses), and those of P in which both players have a move.
    #[arg(long, requires = "board",
          conflicts_with_all = ["out", "scope", "metric", "max_stones", "plan"])]
    pub classes: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The JSON of `builddb`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BuildJson {
    /// Ranks x files.
    pub board: Dimensions,
    /// Positions that the database covers.
    pub scope: Scope,
    /// Values in the database.
    pub metric: Metric,
    /// Maximum number of stones of its positions.
    pub max_stones: u32,
    /// Directory of the files.
    pub directory: String,
    /// Number of positions in the database; null if there is no database.
    pub positions: Option<u64>,
    /// Number of positions with Black to move that Black wins.
    pub black_to_move_wins: Option<u64>,
    /// Number of positions with White to move that White wins.
    pub white_to_move_wins: Option<u64>,
    /// With metric remoteness: numbers of the positions that can be looked up, by remoteness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
    /// Bytes of the files.
    pub bytes: Option<u64>,
    /// The reason why there is no database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Wall-clock time.
    pub seconds: f64,
    /// Peak memory; null if the system does not report it.
    pub peak_memory_bytes: Option<u64>,
}

/// The JSON of `builddb --classes`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClassesJson {
    /// Ranks x files.
    pub board: Dimensions,
    /// Counts of the positions by number of stones, from 0; empty if the count was not completed.
    pub layers: Vec<ClassLayer>,
    /// Sums over all numbers of stones; null if the count was not completed.
    pub total: Option<ClassCounts>,
    /// Reason why the count was not completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Plans, builds and prints.
pub fn run(args: &BuilddbArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    args.threads.install(|| match args.board {
        Some(board) if args.classes => classes(args, board, stop),
        Some(board) => plan_and_build(args, board, stop),
        None => list(args),
    })?
}

impl BuilddbArgs {
    fn options(&self) -> BuildOptions {
        BuildOptions {
            scope: self.scope,
            metric: self.metric,
            max_stones: self.max_stones,
            memory_bytes: self.memory.memory,
            ..BuildOptions::complete(self.out.clone())
        }
    }

    /// Returns the options that are not the default ones, as on the command line.
    fn given(&self) -> String {
        let out = (self.out.as_os_str() != database::default_directory())
            .then(|| self.out.display().to_string());
        let scope = (self.scope != Scope::Complete).then(|| self.scope.name().to_owned());
        let metric = (self.metric != Metric::Outcome).then(|| self.metric.name().to_owned());
        let options = [
            ("--out", out),
            ("--scope", scope),
            ("--metric", metric),
            ("--max-stones", self.max_stones.map(|stones| stones.to_string())),
            ("--memory", self.memory.memory.map(|bytes| format!("{}MiB", bytes.div_ceil(1 << 20)))),
            ("--threads", self.threads.threads.map(|threads| threads.to_string())),
        ];
        let given = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
        given.map(|(name, value)| format!(" {name} {value}")).collect()
    }
}

/// Counts the positions of a board by outcome class, and prints.
fn classes(args: &BuilddbArgs, board: Dimensions, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let result = count(args, board, stop);
    let reason = match &result {
        Ok(_) => None,
        Err(error) => Some(if error.kind() == ErrorKind::Interrupted {
            Reason::Interrupted
        } else {
            Reason::Memory
        }),
    };
    let layers = result.as_deref().unwrap_or_default();
    let total = layers.iter().map(|layer| layer.counts).sum();
    let seconds = begun.elapsed().as_secs_f64();
    let object = ClassesJson {
        board,
        layers: layers.to_vec(),
        total: reason.is_none().then_some(total),
        reason,
        seconds,
    };
    let layers = output::finish(args.output.json, &object, result, |layers| {
        classes_text(layers, total, seconds)
    })?;
    Ok(layers.map_or(Exit::Interrupted, |_| Exit::Answered))
}

fn count(
    args: &BuilddbArgs,
    dimensions: Dimensions,
    stop: &AtomicBool,
) -> Result<Vec<ClassLayer>, CliError> {
    let board = Board::new(dimensions);
    args.memory.must_suffice(memory_needed(&board), || {
        format!("the count of all positions of {dimensions}")
    })?;
    let progress = ProgressDisplay::new(args.output.quiet);
    let counted = count_classes(&board, &mut |done, of| {
        progress.part(done, of);
        match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    let layers = counted.map_err(StateSpaceError::Memory)?;
    Ok(layers.ok_or(StateSpaceError::Interrupted)?)
}

fn classes_text(layers: &[ClassLayer], total: ClassCounts, seconds: f64) -> String {
    let mut text = String::new();
    let mut row = |name: &str, cells: [String; 5]| {
        let [left, right, next, previous, zugzwangs] = cells;
        let _ = writeln!(
            text,
            "{name:>6}  {left:>14}  {right:>14}  {next:>14}  {previous:>14}  {zugzwangs:>14}"
        );
    };
    let numbers = |counts: ClassCounts| {
        let ClassCounts { left, right, next, previous, zugzwangs } = counts;
        [left, right, next, previous, zugzwangs].map(output::grouped)
    };
    row("stones", ["L", "R", "N", "P", "zugzwangs"].map(str::to_owned));
    for layer in layers {
        row(&layer.stones.to_string(), numbers(layer.counts));
    }
    row("total", numbers(total));
    if let Some(zugzwang) = layers.iter().rev().find_map(|layer| layer.zugzwang) {
        let _ = writeln!(text, "zugzwang with the most stones: {zugzwang}");
    }
    let _ = writeln!(text, "time {}", output::time(seconds));
    text
}

/// Boards that [`list`] lists.
const LISTED_BOARDS: [&str; 9] = ["4x4", "4x5", "5x5", "5x6", "6x6", "5x7", "5x8", "6x7", "7x7"];

/// Prints the estimated time, memory and disk space of some boards.
fn list(args: &BuilddbArgs) -> Result<Exit, CliError> {
    if args.output.json {
        return Err(CliError::Usage("no board: write one, such as 6x6, or omit --json".to_owned()));
    }
    let memory = args.memory.available();
    // Whole bands of rows: the layout in slices would take seconds to plan.
    let options = BuildOptions { memory_bytes: Some(u64::MAX), ..args.options() };
    let mut text = format!("{:<7}{:<11}{:<11}time\n", "board", "memory", "disk");
    let mut disk = None;
    for name in LISTED_BOARDS {
        let board: Dimensions = name.parse().expect("a board");
        let (memory_bytes, disk_bytes, seconds, note) = match plan(&Board::new(board), &options) {
            Ok(plan) => {
                disk = plan.disk_limit;
                let is_lacking = memory.is_some_and(|memory| plan.memory_bytes > memory);
                let note = match () {
                    () if plan.finished => "the database exists",
                    () if is_lacking => "memory does not suffice",
                    () => "",
                };
                (plan.memory_bytes, plan.disk_peak_bytes, plan.seconds, note)
            }
            Err(BuildError::DoesNotFit(misfit)) => {
                let Misfit { memory_bytes, disk_peak_bytes, seconds, .. } = *misfit;
                (memory_bytes, disk_peak_bytes, seconds, "does not fit on the disk")
            }
            Err(BuildError::ReachableTooLarge { .. } | BuildError::Unsupported { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        let [memory_bytes, disk_bytes] = [memory_bytes, disk_bytes].map(output::bytes);
        let time = output::time(seconds);
        let row = format!("{name:<7}{memory_bytes:<11}{disk_bytes:<11}{time:<15}{note}");
        text += row.trim_end();
        text += "\n";
    }
    let threads = output::threads(rayon::current_num_threads() as u32, None);
    let (scope, metric) = (args.scope.name(), args.metric.name());
    let stones = args.max_stones.map_or(String::new(), |stones| format!(" --max-stones {stones}"));
    text += &format!("\nEstimates for --scope {scope} --metric {metric}{stones} on {threads}");
    for (limit, what) in [(memory, "memory available"), (disk, "disk space free")] {
        text +=
            &limit.map_or(String::new(), |limit| format!(",\n{} of {what}", output::bytes(limit)));
    }
    let given = args.given();
    let space = if given.is_empty() { " " } else { "\n" };
    text += &format!(
        ".\n`konane builddb 5x5{given}` builds a database,{space}\
         `konane builddb 6x7{given} --plan` only plans.\n\
         With less memory, large boards are built in slices, which takes longer.\n"
    );
    if args.max_stones.is_none() {
        text += "--max-stones N covers only positions with few stones.\n";
    }
    output::write_text(text)?;
    Ok(Exit::Answered)
}

fn plan_and_build(
    args: &BuilddbArgs,
    dimensions: Dimensions,
    stop: &AtomicBool,
) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let board = Board::new(dimensions);
    let options = args.options();
    let no_database =
        |reason: &str| no_database(args, dimensions, reason, begun.elapsed().as_secs_f64());
    let plan = match plan(&board, &options) {
        Ok(plan) => plan,
        Err(error) => {
            if error.lacking() == Some(Resource::Disk) && !args.plan {
                must_be_creatable(&args.out)?;
            }
            if let (true, Some(resource)) = (args.output.json, error.lacking()) {
                output::write_json(&no_database(match resource {
                    Resource::Memory => "memory",
                    Resource::Disk => "disk limit",
                }))?;
            }
            return Err(error.into());
        }
    };
    if args.plan && args.output.json {
        output::write_json(&plan)?;
    } else if !args.output.json {
        output::write_text(plan_text(&plan))?;
    }
    if args.plan {
        return Ok(Exit::Answered);
    }
    let progress = ProgressDisplay::new(args.output.quiet);
    let result = build(&board, &plan, &progress, stop);
    drop(progress);
    match result {
        Ok(summary) => {
            output::answer(args.output.json, &object(args, dimensions, &summary), |_| {
                text(&plan, &summary)
            })?;
            Ok(Exit::Answered)
        }
        Err(BuildError::Interrupted) => {
            output::answer(args.output.json, &no_database(Reason::Interrupted.text()), |_| {
                "interrupted: the same command continues the build\n".to_owned()
            })?;
            Ok(Exit::Interrupted)
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns an error if a directory neither exists nor can be created. The file system of such a path may have no
/// free space, as /proc has none.
fn must_be_creatable(directory: &Path) -> Result<(), FileError> {
    if !directory.is_dir() {
        fs::create_dir_all(directory).map_err(FileError::io("create", directory))?;
        fs::remove_dir(directory).map_err(FileError::io("remove", directory))?;
    }
    Ok(())
}

fn plan_text(plan: &Plan) -> String {
    let limit = |limit: Option<u64>, what| match limit {
        Some(bytes) => format!(" of {} {what}", output::bytes(bytes)),
        None => String::new(),
    };
    let Coverage { dimensions, scope, metric, max_stones } = plan.coverage;
    let head = database::heading(dimensions, scope, max_stones, metric);
    let mut rows = vec![
        ("directory", plan.directory.display().to_string()),
        ("positions", output::large(plan.positions)),
        ("stored", format!("{} (symmetric ones once)", output::large(plan.stored_positions))),
    ];
    if plan.finished {
        rows.push(("plan", "nothing to do: the database exists".to_string()));
    } else {
        let memory = limit(plan.memory_limit, "available");
        rows.push(("memory", output::bytes(plan.memory_bytes) + &memory));
        let (files, most) = (output::bytes(plan.disk_bytes), output::bytes(plan.disk_peak_bytes));
        let disk = limit(plan.disk_limit, "free");
        rows.push(("disk", format!("about {files}, at most {most} at a time{disk}")));
        if let Some(slices) = &plan.slices {
            let (read, written) = (slices.read_bytes, slices.written_bytes);
            rows.push(("slices", format!("of {} rows, {} tasks", slices.slice_rows, slices.tasks)));
            let [read, written] = [read, written].map(output::bytes);
            rows.push(("traffic", format!("about {read} read and {written} written")));
        }
        let (time, threads) =
            (output::time(plan.seconds), output::threads(plan.threads as u32, None));
        rows.push(("time", format!("about {time} on {threads}")));
    }
    output::rows(&head, &rows)
}

fn object(args: &BuilddbArgs, board: Dimensions, summary: &BuildSummary) -> BuildJson {
    BuildJson {
        positions: Some(summary.counts.positions),
        black_to_move_wins: Some(summary.counts.black_to_move_wins),
        white_to_move_wins: Some(summary.counts.white_to_move_wins),
        histogram: summary.histogram.clone(),
        bytes: Some(summary.bytes),
        reason: None,
        peak_memory_bytes: summary.peak_memory_bytes,
        ..no_database(args, board, "", summary.seconds)
    }
}

fn no_database(args: &BuilddbArgs, board: Dimensions, reason: &str, seconds: f64) -> BuildJson {
    let squares = board.squares();
    let max_stones = args.max_stones.map_or(squares, |stones| stones.min(squares));
    let (dimensions, scope, metric) = (board, args.scope, args.metric);
    let directory = Coverage { dimensions, scope, metric, max_stones }.name();
    BuildJson {
        board,
        scope: args.scope,
        metric: args.metric,
        max_stones,
        directory: args.out.join(directory).display().to_string(),
        positions: None,
        black_to_move_wins: None,
        white_to_move_wins: None,
        histogram: None,
        bytes: None,
        reason: Some(reason.to_owned()),
        seconds,
        peak_memory_bytes: peak_memory(),
    }
}

fn text(plan: &Plan, summary: &BuildSummary) -> String {
    let head = if plan.finished { "found" } else { "built" };
    let wins = [summary.counts.black_to_move_wins, summary.counts.white_to_move_wins];
    let [black, white] = wins.map(output::grouped);
    let mut rows = vec![
        ("positions", output::grouped(summary.counts.positions)),
        ("Black wins", format!("{black} with Black to move")),
        ("White wins", format!("{white} with White to move")),
        ("files", output::bytes(summary.bytes)),
        ("time", output::time(summary.seconds)),
    ];
    if let Some(histogram) = &summary.histogram {
        rows.insert(3, ("longest", format!("{} plies", histogram.longest())));
        rows.insert(4, ("plies", lengths(histogram)));
    }
    if summary.layers_found > 0 && !plan.finished {
        rows.push(("resumed", format!("{} layers from an earlier run", summary.layers_found)));
    }
    if let Some(bytes) = summary.peak_memory_bytes {
        rows.push(("memory", output::bytes(bytes)));
    }
    output::rows(head, &rows)
}

/// Returns the shares of the positions by remoteness in percent, for both sides to move together. Small
/// shares at the end are combined.
fn lengths(histogram: &Histogram) -> String {
    let number = |side: &[u64], plies: usize| side.get(plies).copied().unwrap_or(0);
    let plies = 0..=histogram.longest() as usize;
    let numbers: Vec<u64> = plies
        .map(|plies| number(&histogram.black, plies) + number(&histogram.white, plies))
        .collect();
    let all = numbers.iter().sum::<u64>().max(1) as f64;
    let percent = |number: u64| 100.0 * number as f64 / all;
    let shown = numbers.iter().rposition(|&n| percent(n) >= 0.95).map_or(0, |last| last + 1);
    let (shown, rest) = numbers.split_at(shown);
    let share = |(plies, &number): (usize, &u64)| format!("{plies}: {:.0} %", percent(number));
    let mut parts: Vec<String> = shown.iter().enumerate().map(share).collect();
    if !rest.is_empty() {
        parts.push(format!("more: {:.1} %", percent(rest.iter().sum())));
    }
    parts.join(", ")
}
