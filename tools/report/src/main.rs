//! Measures the program and writes the pages of results.
//!
//! ```text
//! cargo run --release -p konane-report -- measure scaling
//! cargo run --release -p konane-report -- pages
//! cargo run -p konane-report -- trace FILE.jsonl --out FILE.svg
//! ```
//!
//! Raw results are JSON, one run a line: what was run, by which program, where, how loaded the machine
//! was, and the object that the program printed. A run with a record by a program of the same signature
//! (`konane bench`) on the same kind of processor is not repeated, so an interrupted `measure` goes on
//! where it stopped. The signature sees changed node counts on one thread, not changed speed: after
//! work on speed or on what threads do, use `--again`. Close other programs first: the load average
//! before each run is recorded. With GNU time memory and processor time are recorded too.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::{Args, Parser, Subcommand, ValueEnum};

mod algorithms;
mod cluster;
mod figures;
mod json;
mod measure;
mod narrow;
mod openings;
mod published;
mod questions;
mod records;
mod scaling;
mod sprouts;
mod suites;
mod svg;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_positions;
mod text;
mod trace;
mod winners;

use questions::Answers;
use records::{Record, Results};
use suites::{Choice, Suite, jobs};

type Failure = Box<dyn Error>;

/// The sources of the program.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Write the page of searches on many machines from the records of konane-simulate
    Cluster {
        /// Folder of the pages; raw results are in its folder benchmarks
        #[arg(long, default_value_os_t = docs())]
        docs: PathBuf,
    },
    /// Write the pages of the program's JSON objects from its types
    Json {
        /// Folder of the pages
        #[arg(long, default_value_os_t = docs())]
        docs: PathBuf,
    },
    /// Run what has no record yet, then write the page
    Measure(Measure),
    /// Draw what `konane solve --trace FILE` has written: the root's numbers and the table, over time
    Trace {
        /// The trace
        file: PathBuf,
        /// The figure
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Write the pages from the raw results
    Pages {
        /// All if none is given
        suites: Vec<Suite>,
        /// Folder of the pages; raw results are in its folder benchmarks
        #[arg(long, default_value_os_t = docs())]
        docs: PathBuf,
    },
}

#[derive(Args)]
struct Measure {
    suite: Suite,
    #[command(flatten)]
    choice: Choice,
    /// Measure all of these command lines anew, each in place of this program's and machine's earlier
    /// record
    #[arg(long)]
    again: bool,
    /// Print the command lines, and stop
    #[arg(long)]
    list: bool,
    /// Program [default: a release build of the sources]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Folder of the pages; raw results are in its folder benchmarks
    #[arg(long, default_value_os_t = docs())]
    docs: PathBuf,
}

fn docs() -> PathBuf {
    Path::new(ROOT).join("docs")
}

fn main() -> ExitCode {
    let done = match Cli::parse().verb {
        Verb::Cluster { docs } => write_cluster(&docs.join("benchmarks")),
        Verb::Json { docs } => write_json(&docs),
        Verb::Measure(args) => measure(&args),
        Verb::Trace { file, out } => draw_trace(&file, &out),
        Verb::Pages { suites, docs } => {
            let all = if suites.is_empty() { Suite::value_variants() } else { &suites };
            all.iter().try_for_each(|&suite| write_pages(suite, &docs))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(args: &Measure) -> Result<(), Failure> {
    let jobs = jobs(args.suite, &args.choice);
    if args.list {
        jobs.iter().for_each(|job| println!("konane {}", job.command()));
        return Ok(());
    }
    let results = raw_results(args.suite, &args.docs);
    fs::create_dir_all(args.docs.join("benchmarks"))?;
    let program = args.program.clone().map_or_else(build, Ok)?;
    let bench = measure::Bench::new(program, results)?;
    bench.run_all(args.suite, &jobs, args.again)?;
    write_pages(args.suite, &args.docs)
}

/// Builds the program; where it is.
fn build() -> Result<PathBuf, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let status = Command::new(cargo).current_dir(ROOT).args(["build", "--release"]).status()?;
    if !status.success() {
        return Err("the program does not build".into());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    Ok(target.unwrap_or(Path::new(ROOT).join("target")).join("release/konane"))
}

fn raw_results(suite: Suite, docs: &Path) -> PathBuf {
    docs.join(format!("benchmarks/{}.jsonl", suite.name()))
}

fn write_cluster(folder: &Path) -> Result<(), Failure> {
    let all = cluster::parse(&fs::read_to_string(folder.join("cluster.jsonl"))?)?;
    fs::write(folder.join("cluster.md"), cluster::markdown(&all))?;
    fs::write(folder.join("cluster.svg"), cluster::figure(&all))?;
    Ok(())
}

fn write_json(docs: &Path) -> Result<(), Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let arguments = ["run", "--quiet", "--", "json-schema"];
    let run = Command::new(cargo).current_dir(ROOT).args(arguments).output()?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into());
    }
    let schema = String::from_utf8(run.stdout)?;
    for (name, page) in json::pages(&schema)? {
        fs::write(docs.join(name), page)?;
    }
    fs::write(docs.join("json.schema.json"), schema)?;
    Ok(())
}

fn draw_trace(file: &Path, out: &Path) -> Result<(), Failure> {
    let named = |path: &Path, error: Failure| format!("{}: {error}", path.display());
    let text = fs::read_to_string(file).map_err(|error| named(file, error.into()))?;
    let lines = trace::parse(&text).map_err(|error| named(file, error))?;
    fs::write(out, trace::figure(&lines)).map_err(|error| named(out, error.into()))?;
    Ok(())
}

/// Writes the files of a suite.
fn write_pages(suite: Suite, docs: &Path) -> Result<(), Failure> {
    let name = raw_results(suite, docs);
    let text = fs::read_to_string(&name).map_err(|error| format!("{}: {error}", name.display()))?;
    let records = records::parse(&text).map_err(|error| format!("{}: {error}", name.display()))?;
    let (files, wrong) = pages(suite, records)?;
    for (path, content) in files {
        let path = docs.join(path);
        fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("{}", path.display());
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("not as published: {}", wrong.join(" ")).into()),
    }
}

/// Files by their places in the folder.
type Files = Vec<(&'static str, String)>;

/// The files of a suite, and the starts with another outcome than the published one.
fn pages(suite: Suite, records: Vec<Record>) -> Result<(Files, Vec<String>), Failure> {
    let files = match suite {
        Suite::Results => {
            let results = Results::new(records);
            vec![
                ("benchmarks.md", algorithms::markdown(&results)),
                ("benchmarks/algorithms.svg", figures::algorithms(&results)),
                ("benchmarks/table-4.2.csv", algorithms::csv_4_2(&results)),
                ("benchmarks/table-4.4.csv", algorithms::csv_4_4(&results)),
            ]
        }
        Suite::Scaling => {
            let results = Results::new(records);
            vec![
                ("benchmarks/scaling.md", scaling::markdown(&results)),
                ("benchmarks/scaling.csv", scaling::csv_table(&results)),
                ("benchmarks/scaling.svg", figures::scaling(&results)),
            ]
        }
        Suite::Winners => {
            let rows = winners::rows(&records)?;
            vec![
                ("winners.md", winners::markdown(&rows)),
                ("benchmarks/winners.csv", winners::csv_table(&rows)),
                ("benchmarks/winners.svg", figures::winners(&rows)),
            ]
        }
        Suite::Openings => {
            let answers = Answers::new(records)?;
            let files = vec![
                ("openings.md", openings::markdown(&answers)),
                ("openings.csv", openings::csv_table(&answers)),
            ];
            return Ok((files, openings::not_as_published(&answers)));
        }
        Suite::Narrow => {
            let answers = Answers::new(records)?;
            vec![
                ("narrow.md", narrow::markdown(&answers)),
                ("narrow.csv", narrow::csv_table(&answers)),
            ]
        }
        Suite::Sprouts => {
            let (page, wrong) = sprouts::markdown(&records)?;
            return Ok((vec![("benchmarks/sprouts.md", page)], wrong));
        }
    };
    Ok((files, Vec::new()))
}
