//! Measurements: runs command lines of the program and appends a record of each run to
//! docs/benchmarks/NAME.jsonl, one JSON object per line.
//!
//! A record has the command line, the program, the machine and its load, and the object that the
//! program printed. A run is skipped if there is a record by a program with the same signature
//! (`konane bench`) on the same kind of processor, so an interrupted measurement continues where it
//! stopped. The signature depends on node counts, not on speed: after work on speed or on threads, use
//! `--again`. Stop other programs first; the load average before each run is recorded. Memory and
//! processor time are recorded if GNU time is installed.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::builder::PossibleValuesParser;
use konane::system::parse_duration;
use serde::{Deserialize, Serialize};

use crate::{DeveloperError, ROOT};

/// Command lines with the same number of runs and the same limit.
struct Measurement {
    /// Name of the raw results: docs/benchmarks/NAME.jsonl.
    name: &'static str,
    /// Arguments without limits. `{a,b}` and `{1..9}` expand to several lines, `{FILE.csv}` to the
    /// boards and positions of a table in docs.
    lines: &'static [&'static str],
    /// Runs of each line on this program and machine.
    runs: u32,
    time_limit: Option<&'static str>,
    /// True if the result is of interest and not its cost. Then a run is skipped if there is a result by any
    /// version of the program.
    is_solved_once: bool,
}

const fn repeated(name: &'static str, runs: u32, lines: &'static [&'static str]) -> Measurement {
    Measurement { name, lines, runs, time_limit: None, is_solved_once: false }
}

const fn limited(
    name: &'static str,
    time_limit: &'static str,
    is_solved_once: bool,
    lines: &'static [&'static str],
) -> Measurement {
    Measurement { name, lines, runs: 1, time_limit: Some(time_limit), is_solved_once }
}

const MEASUREMENTS: &[Measurement] = &[
    repeated(
        "results",
        3,
        &[
            "perft 8x8 {10..12} --threads 1",
            "perft 8x8 {10..12} --plain --threads 1",
            "perft 5x5 10 --unique --threads 1",
            "perft 5x5 10 --unique --no-symmetry --threads 1",
            "solve {1x1,2x2,3x3} --algo pn2 --threads 1 --memory 1GiB",
            "solve {4x4,5x5,5x6,6x6} --algo {dfpn,pns,pn2,ab} --threads 1 --memory 1GiB",
            "solve 7x7 --algo dfpn --threads 1 --memory 512MiB",
            "solve {6x7,7x6,5x8,5x9} --algo dfpn --threads 1 --memory 1GiB",
            "solve 6x6 --algo {dfpn,pns,pn2} --profile thesis --threads 1 --memory 4GiB",
        ],
    ),
    limited(
        "results",
        "2h",
        false,
        &[
            "solve 7x7 --algo {pns,pn2} --threads 1 --memory 4GiB",
            "solve 6x6 --algo ab --profile thesis --threads 1 --memory 4GiB",
        ],
    ),
    repeated(
        "scaling",
        5,
        &[
            "solve 6x6 --algo {dfpn,pn2} --threads {1,2,4,8,12,16} --memory 1GiB --profile thesis",
            "solve {6x6,7x7,6x8} --algo {dfpn,pn2} --threads {1,2,4,8,12,16} --memory 1GiB",
        ],
    ),
    limited(
        "winners",
        "20m",
        true,
        &["solve {benchmarks/winners.csv} --algo dfpn --threads 1 --memory 2GiB"],
    ),
    limited(
        "openings",
        "1m",
        true,
        &["solve {openings.csv} --algo dfpn --threads 1 --memory 2GiB"],
    ),
    limited("narrow", "1m", true, &["solve {narrow.csv} --algo dfpn --threads 1 --memory 2GiB"]),
    limited("sprouts", "20m", false, &["sprouts solve 0*{1..65} --threads 2 --memory 4GiB"]),
];

#[derive(clap::Args)]
pub struct MeasureArgs {
    /// Name of the raw results and of their pages
    #[arg(value_parser = PossibleValuesParser::new(
        ["results", "scaling", "winners", "openings", "narrow", "sprouts"]))]
    name: String,
    /// Only command lines with one of these words, such as 6x7 or '0*40'
    #[arg(long, value_name = "WORD,..", value_delimiter = ',')]
    only: Vec<String>,
    /// Leave out the runs that have a time limit
    #[arg(long)]
    quick: bool,
    /// Runs of each command line
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Time limit of the runs that have one
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time_limit: Option<String>,
    /// Node limits; with several, all command lines run with the first one, then with the next
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    max_nodes: Vec<u64>,
    /// Algorithm, in place of the usual one
    #[arg(long)]
    algo: Option<String>,
    /// Threads of each search, in place of the usual number
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    /// Memory of each search, in place of the usual size
    #[arg(long, value_name = "BYTES")]
    memory: Option<String>,
    /// Repeat runs that have a record. The pages use the latest record.
    #[arg(long)]
    again: bool,
    /// Print the command lines, and stop
    #[arg(long)]
    list: bool,
    /// Program [default: a build of the sources with the profile `dist`]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

fn parse_time(text: &str) -> Result<String, String> {
    parse_duration(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// One run of the program that a measurement asks for.
struct PlannedRun {
    /// Arguments without limits and without `--json`.
    args: String,
    /// 1, 2, … for repetitions.
    number: u32,
    time_limit: Option<String>,
    max_nodes: Option<u64>,
    is_solved_once: bool,
}

/// One run of the program as a line of the raw results.
#[derive(Deserialize, Serialize)]
struct RunRecord {
    /// Arguments without limits and without `--json`: the subject of the measurement.
    args: String,
    /// Signature of the program (`konane bench`).
    signature: u64,
    /// Model of the processor.
    cpu: String,
    /// 1, 2, … for repetitions.
    run: u32,
    /// Time limit, such as `20m`.
    time_limit: Option<String>,
    max_nodes: Option<u64>,
    /// The whole command line.
    command: String,
    exit_code: i32,
    /// Time from start to end of the process.
    wall_seconds: f64,
    /// Processor time of all threads, if measured.
    cpu_seconds: Option<f64>,
    /// Maximum memory of the process, if measured.
    peak_rss_bytes: Option<u64>,
    /// Load average of the minute before the run.
    load_before: Option<f64>,
    /// Time of the run in UTC, as in 2025-01-31T12:00:00Z.
    date: String,
    /// Version of the program. Records before 0.1.0 have none.
    #[serde(default)]
    version: String,
    /// Processors of the machine.
    cores: u32,
    /// The object that the program printed, written as printed.
    #[serde(skip_serializing)]
    result: PrintedResult,
}

/// The part of a printed object that decides whether a run is repeated.
#[derive(Deserialize)]
struct PrintedResult {
    /// Reason why there is no result.
    reason: Option<String>,
}

pub fn run(args: &MeasureArgs) -> Result<(), DeveloperError> {
    let runs = runs(args)?;
    if args.list {
        runs.iter().for_each(|run| println!("konane {}", run.command()));
        return Ok(());
    }
    let program = args.program.clone().map_or_else(build, Ok)?;
    let results = Path::new(ROOT).join(format!("docs/benchmarks/{}.jsonl", args.name));
    Bench::new(program, results)?.run_all(&runs, args.again)?;
    crate::pages(std::slice::from_ref(&args.name))
}

/// Builds the program and returns its path.
fn build() -> Result<PathBuf, DeveloperError> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let status =
        Command::new(cargo).current_dir(ROOT).args(["build", "--profile", "dist"]).status()?;
    if !status.success() {
        return Err("the program does not build".into());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    Ok(target.unwrap_or(Path::new(ROOT).join("target")).join("dist/konane"))
}

/// Returns the runs of a measurement in order. Every line runs once before any line is repeated, so that a
/// busy minute affects one run of each line and not all runs of one line.
fn runs(args: &MeasureArgs) -> Result<Vec<PlannedRun>, DeveloperError> {
    let mut runs = Vec::new();
    for measurement in MEASUREMENTS {
        let is_left_out = args.quick && measurement.time_limit.is_some();
        if measurement.name != args.name || is_left_out {
            continue;
        }
        let mut lines = Vec::new();
        for line in measurement.lines {
            lines.extend(expand(&with_options(line, args))?);
        }
        lines.retain(|line| {
            args.only.is_empty()
                || words(line).iter().any(|word| args.only.iter().any(|o| o == word))
        });
        let passes: Vec<Option<u64>> = match &args.max_nodes[..] {
            [] => vec![None],
            limits => limits.iter().copied().map(Some).collect(),
        };
        for max_nodes in passes {
            for number in 1..=args.runs.unwrap_or(measurement.runs) {
                runs.extend(lines.iter().map(|line| {
                    PlannedRun {
                        args: line.clone(),
                        number,
                        time_limit: measurement
                            .time_limit
                            .map(|limit| args.time_limit.clone().unwrap_or(limit.to_owned())),
                        max_nodes,
                        is_solved_once: measurement.is_solved_once,
                    }
                }));
            }
        }
    }
    Ok(runs)
}

/// Returns `line` with the values of `--algo`, `--threads` and `--memory` in `args` in place of its own.
fn with_options(line: &str, args: &MeasureArgs) -> String {
    let threads = args.threads.map(|threads| threads.to_string());
    let mut words: Vec<&str> = line.split(' ').collect();
    for (name, value) in
        [("--algo", &args.algo), ("--threads", &threads), ("--memory", &args.memory)]
    {
        if let (Some(place), Some(value)) = (words.iter().position(|word| *word == name), value) {
            words[place + 1] = value;
        }
    }
    words.join(" ")
}

/// Returns all lines to which the braces in `line` expand.
fn expand(line: &str) -> Result<Vec<String>, DeveloperError> {
    let Some((head, rest)) = line.split_once('{') else { return Ok(vec![line.to_owned()]) };
    let (inside, tail) = rest.split_once('}').expect("braces come in pairs");
    let values: Vec<String> = if inside.ends_with(".csv") {
        positions(inside)?
    } else if let Some((first, last)) = inside.split_once("..") {
        (first.parse::<u32>()?..=last.parse()?).map(|number| number.to_string()).collect()
    } else {
        inside.split(',').map(str::to_owned).collect()
    };
    let mut lines = Vec::new();
    for value in values {
        lines.extend(expand(&format!("{head}{value}{tail}"))?);
    }
    Ok(lines)
}

/// Returns the boards of a table in docs, each with its position if the table has positions.
fn positions(table: &str) -> Result<Vec<String>, DeveloperError> {
    let text = fs::read_to_string(Path::new(ROOT).join("docs").join(table))
        .map_err(|error| format!("docs/{table}: {error}"))?;
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap_or_default();
    let column = |name: &str| head.iter().position(|column| *column == name);
    let board = column("board").ok_or_else(|| format!("docs/{table}: no column 'board'"))?;
    Ok(rows
        .filter_map(|row| match column("position").map(|column| row[column]) {
            None => Some(row[board].to_owned()),
            // White cannot remove a stone on 1x1.
            Some("") => None,
            Some(position) => Some(format!("{} --position \"{position}\"", row[board])),
        })
        .collect())
}

/// Returns the words of a command line. Text in double quotes is one word.
fn words(line: &str) -> Vec<&str> {
    let quoted = line.split('"').enumerate();
    let of = |(index, part)| {
        if index % 2 == 1 { vec![part] } else { str::split_whitespace(part).collect() }
    };
    quoted.flat_map(of).collect()
}

/// Returns the sides of the board, the shorter one first, and the position if there is one. A board RxF and
/// a board FxR are the same game.
fn searched_position(args: &str) -> (Vec<&str>, Option<&str>) {
    let words = words(args);
    let mut sides: Vec<&str> = words.get(1).map_or(Vec::new(), |board| board.split('x').collect());
    sides.sort_by_key(|side| side.parse::<u32>().ok());
    let place = words.iter().position(|word| *word == "--position");
    (sides, place.map(|place| words[place + 1]))
}

impl PlannedRun {
    /// The arguments with limits.
    fn command(&self) -> String {
        let mut text = self.args.clone();
        if let Some(limit) = &self.time_limit {
            text += &format!(" --time-limit {limit}");
        }
        if let Some(nodes) = self.max_nodes {
            text += &format!(" --max-nodes {nodes}");
        }
        text + " --json"
    }

    /// True if this run is not necessary after the run of `record`, which had the same arguments: it found
    /// a result, or the limit that it reached has not been raised.
    fn adds_nothing_to(&self, record: &RunRecord) -> bool {
        let time = |limit: &Option<String>| -> Option<Duration> {
            limit.as_ref().and_then(|text| parse_duration(text).ok())
        };
        match record.result.reason.as_deref() {
            None => true,
            Some("node limit") => {
                self.max_nodes.is_some_and(|nodes| Some(nodes) <= record.max_nodes)
            }
            Some("time limit") => {
                self.time_limit.is_some() && time(&self.time_limit) <= time(&record.time_limit)
            }
            Some(_) => (&self.time_limit, self.max_nodes) == (&record.time_limit, record.max_nodes),
        }
    }
}

/// The program, the machine, and the file of the records.
struct Bench {
    program: PathBuf,
    results: PathBuf,
    signature: u64,
    cpu: String,
    cores: u32,
    version: String,
    /// True if GNU time is installed.
    has_time: bool,
}

impl Bench {
    fn new(program: PathBuf, results: PathBuf) -> Result<Self, DeveloperError> {
        let bench = output(Command::new(&program).args(["bench", "--json"]))
            .ok_or_else(|| format!("'{} bench --json' failed", program.display()))?;
        let bench: serde_json::Value = serde_json::from_str(&bench)?;
        let cpu = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(": ")?.1.to_owned())
        });
        let version = output(Command::new(&program).arg("-V")).unwrap_or_default();
        let time = output(Command::new("time").arg("--version"));
        Ok(Bench {
            program,
            results,
            signature: bench["signature"].as_u64().ok_or("'konane bench' was interrupted")?,
            cpu: cpu.or_else(|| output(Command::new("uname").arg("-m"))).unwrap_or_default(),
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            version: version.trim_start_matches("konane ").to_owned(),
            has_time: time.is_some_and(|text| text.contains("GNU")),
        })
    }

    fn records(&self) -> Result<Vec<RunRecord>, DeveloperError> {
        if !self.results.exists() {
            return Ok(Vec::new());
        }
        let text = fs::read_to_string(&self.results)?;
        let read = |(number, line)| {
            serde_json::from_str(line).map_err(|error| {
                format!("{}: line {number}: {error}", self.results.display()).into()
            })
        };
        (1..).zip(text.lines()).map(read).collect()
    }

    /// Makes all runs that have no record yet; with `again`, all runs.
    fn run_all(&self, runs: &[PlannedRun], again: bool) -> Result<(), DeveloperError> {
        let mut records = if again { Vec::new() } else { self.records()? };
        for run in runs {
            let is_done = |record: &RunRecord| {
                let is_same = (&record.args, record.signature, &record.cpu, record.run)
                    == (&run.args, self.signature, &self.cpu, run.number);
                let is_solved = || {
                    record.result.reason.is_none()
                        && searched_position(&run.args) == searched_position(&record.args)
                };
                is_same && run.adds_nothing_to(record) || run.is_solved_once && is_solved()
            };
            if !records.iter().any(is_done) {
                records.push(self.run(run)?);
            }
        }
        Ok(())
    }

    /// Runs the program and appends the record.
    fn run(&self, run: &PlannedRun) -> Result<RunRecord, DeveloperError> {
        let line = run.command();
        eprintln!("run {}: konane {line}", run.number);
        let usage = tempfile::NamedTempFile::new()?;
        let mut command =
            Command::new(if self.has_time { "time".as_ref() } else { &*self.program });
        if self.has_time {
            command.args(["--format=%M %U %S", "--output"]).arg(usage.path()).arg(&self.program);
        }
        let load = fs::read_to_string("/proc/loadavg").ok();
        let begin = Instant::now();
        let done = command.args(words(&line)).stdin(Stdio::null()).output()?;
        let wall_seconds = round(begin.elapsed().as_secs_f64(), 6);
        let exit_code = done.status.code().unwrap_or(130);
        // Exit code 3 means that a limit was reached, which is recorded too. Other codes are errors.
        if !matches!(exit_code, 0 | 3) {
            let messages = String::from_utf8_lossy(&done.stderr);
            return Err(format!("{messages}konane {line} ended with exit code {exit_code}").into());
        }
        let printed = String::from_utf8(done.stdout)?;
        // GNU time writes its figures to the last line, possibly after a message about the exit code.
        let usage = fs::read_to_string(usage.path())?;
        let usage = usage.lines().last().unwrap_or_default().split(' ');
        let usage: Vec<f64> = usage.filter_map(|number| number.parse().ok()).collect();
        let (kibibytes, cpu_seconds) = match usage[..] {
            [kibibytes, user, system] => (Some(kibibytes as u64), Some(round(user + system, 2))),
            _ => (None, None),
        };
        let record = RunRecord {
            args: run.args.clone(),
            signature: self.signature,
            cpu: self.cpu.clone(),
            run: run.number,
            time_limit: run.time_limit.clone(),
            max_nodes: run.max_nodes,
            command: format!("konane {line}"),
            exit_code,
            wall_seconds,
            cpu_seconds,
            peak_rss_bytes: kibibytes.map(|kibibytes| kibibytes * 1024),
            load_before: load.and_then(|text| text.split(' ').next()?.parse().ok()),
            date: output(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]))
                .ok_or("'date' failed")?,
            version: self.version.clone(),
            cores: self.cores,
            result: serde_json::from_str(&printed)?,
        };
        let head = serde_json::to_string(&record)?;
        let head = head.strip_suffix('}').expect("a record is an object");
        let mut file = File::options().append(true).create(true).open(&self.results)?;
        file.write_all(format!("{head},\"result\":{}}}\n", printed.trim_end()).as_bytes())?;
        Ok(record)
    }
}

fn round(number: f64, decimals: i32) -> f64 {
    let factor = 10f64.powi(decimals);
    (number * factor).round() / factor
}

/// The output of a command, if it succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok().filter(|o| o.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use clap::Parser;
    use konane::{Board, Perft, Position, notation};

    use super::*;

    #[derive(Parser)]
    struct MeasureCommand {
        #[command(flatten)]
        args: MeasureArgs,
    }

    fn planned(line: &str) -> Vec<PlannedRun> {
        let words = std::iter::once("measure").chain(line.split(' '));
        runs(&MeasureCommand::parse_from(words).args).expect("the tables are in docs")
    }

    #[test]
    fn lines_expand_to_runs() {
        let lines = expand("a {x,y} 0*{1..2}").unwrap();
        assert_eq!(lines, ["a x 0*1", "a x 0*2", "a y 0*1", "a y 0*2"]);
        let all = planned("scaling --only 6x8 --threads 3 --runs 2");
        assert_eq!(all.len(), 2 * 2);
        assert_eq!(all[0].command(), "solve 6x8 --algo dfpn --threads 3 --memory 1GiB --json");
        let narrow = planned("narrow --only 1x5 --max-nodes 7,8")[5].command();
        let expected = "solve 1x5 --position \"xoxox b\" --algo dfpn --threads 1 --memory 2GiB \
                        --time-limit 1m --max-nodes 8 --json";
        assert_eq!(narrow, expected);
        assert_eq!(words(&narrow)[3], "xoxox b");
        assert_eq!(
            searched_position("solve 7x6 --algo pns"),
            searched_position("solve 6x7 --algo dfpn")
        );
        assert_ne!(
            searched_position("solve 6x7 --position \"1 b\""),
            searched_position("solve 6x7")
        );
    }

    /// The table of openings has each position after the two opening removals once, up to symmetry, so it
    /// has as many as perft counts. The positions of both tables are valid.
    #[test]
    fn tables_of_positions_are_complete() {
        let mut openings: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        for name in ["narrow", "openings"] {
            for run in planned(name) {
                let words = words(&run.args);
                let board = Board::new(words[1].parse().expect("a board"));
                let position = notation::parse_position(&board, words[3]).expect("a position");
                if name == "openings" {
                    let codes = openings.entry(words[1].to_owned()).or_default();
                    assert!(codes.insert(position.code(&board)), "{}", run.args);
                }
            }
        }
        assert_eq!(openings.len(), 143, "every board of up to 64 squares but 1x1");
        for (name, codes) in openings {
            let board = Board::new(name.parse().expect("a board"));
            let counts = Perft::new(&board).unique(&Position::start(&board), 2, true);
            assert_eq!(codes.len() as u64, counts[1], "{name}");
        }
    }

    /// Measures with a shell script as the program.
    fn bench(folder: &Path, script: &str) -> Bench {
        let program = folder.join("konane");
        let text =
            format!("#!/bin/sh\n[ $1 = bench ] && echo '{{\"signature\":42}}' && exit\n{script}\n");
        // Another process writes the file: while this one has it open for writing, a child that another test starts
        // inherits it, and the system refuses to run the script.
        let write = "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"";
        let status = Command::new("sh")
            .args(["-c", write])
            .args([program.as_os_str(), text.as_ref()])
            .status();
        assert!(status.unwrap().success());
        Bench::new(program, folder.join("results")).unwrap()
    }

    #[test]
    fn runs_with_a_record_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        // Solves 1x4 and 6x8, and 1x5 with 3000 nodes.
        let script = "case \"$*\" in *1x4*|*6x8*|*\"1x5 \"*3000*) r=null;; *) r='\"node limit\"';; esac\n\
                      echo \"{\\\"reason\\\":$r}\"";
        let bench = bench(folder.path(), script);
        let records = |line: &str, again| {
            bench.run_all(&planned(line), again).unwrap();
            bench.records().unwrap().len()
        };
        let only = "winners --only 1x4,1x5";
        assert_eq!(records(&format!("{only} --max-nodes 3"), false), 2);
        let first = &bench.records().unwrap()[0];
        assert_eq!((first.signature, first.max_nodes, first.exit_code), (42, Some(3), 0));
        assert_eq!(
            records(&format!("{only} --max-nodes 2"), false),
            2,
            "a lower limit adds nothing"
        );
        assert_eq!(
            records(&format!("{only} --max-nodes 3000"), false),
            3,
            "1x5 is solved with more nodes"
        );
        assert_eq!(
            records(&format!("{only} --algo pns"), false),
            3,
            "any algorithm solves a board"
        );
        assert_eq!(records(only, true), 5);
        assert_eq!(records("scaling --only 6x8 --runs 1", false), 5 + 12);
        assert_eq!(records("scaling --only 6x8 --runs 2", false), 5 + 24);
    }

    #[test]
    fn a_failing_program_leaves_no_record() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path(), "echo 'no memory' >&2; exit 4");
        let error = bench.run_all(&planned("scaling"), false).unwrap_err().to_string();
        assert!(error.contains("no memory") && error.ends_with("exit code 4"), "{error}");
        assert!(bench.records().unwrap().is_empty());
    }
}
