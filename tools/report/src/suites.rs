//! What is measured: the command lines of each suite.

use clap::{Args, ValueEnum};

use crate::questions::is_same_question;
use crate::records::Record;
use crate::scaling::{PARALLEL, SEARCHED, THREADS};
use crate::winners::{MOST_SQUARES, boards, sides};
use crate::{narrow, openings};

/// A set of command lines with its raw results, `docs/benchmarks/NAME.jsonl`, and its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// The algorithms and perft on one thread (docs/benchmarks.md).
    Results,
    /// Searches on several threads (docs/benchmarks/scaling.md).
    Scaling,
    /// The winner of every board (docs/winners.md).
    Winners,
    /// The winner after each first and second removal (docs/openings.md).
    Openings,
    /// Setups of boards of one, two and three ranks (docs/narrow.md).
    Narrow,
    /// Starts of Sprouts (docs/benchmarks/sprouts.md).
    Sprouts,
}

impl Suite {
    pub fn name(self) -> &'static str {
        match self {
            Suite::Results => "results",
            Suite::Scaling => "scaling",
            Suite::Winners => "winners",
            Suite::Openings => "openings",
            Suite::Narrow => "narrow",
            Suite::Sprouts => "sprouts",
        }
    }
}

/// What of a suite is run, where it is not the usual.
#[derive(Args, Clone, Debug, Default)]
pub struct Choice {
    /// results: only boards of up to 6x6 with the tuned parameters, about a minute
    #[arg(long)]
    pub quick: bool,
    /// Repetitions of each run that is not long (results: 3, scaling: 5, others: 1)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    /// Limit of each long run (results: 2h, winners and sprouts: 20m, openings and narrow: 1m)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub time_limit: Option<String>,
    /// winners, openings, narrow: limits in nodes of one pass over all boards each, so that what is
    /// easy comes first
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub max_nodes: Vec<u64>,
    /// sprouts: the least number of spots
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value = "1")]
    pub from: u32,
    /// winners, openings, narrow: the most squares (64), sprouts: the most spots (35)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub to: Option<u32>,
    /// winners, openings, narrow: only these boards
    #[arg(long, value_name = "RxF,..", value_delimiter = ',', value_parser = board)]
    pub boards: Vec<(u32, u32)>,
    /// winners, openings, narrow: the algorithm
    #[arg(long, default_value = "dfpn")]
    pub algo: String,
    /// Threads of each search (winners, openings, narrow: 1, sprouts: 2)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Memory of each search (winners, openings, narrow: 2GiB, sprouts: 4GiB)
    #[arg(long, value_name = "BYTES")]
    pub memory: Option<String>,
}

/// A limit of time such as `90s`, `20m` or `2h`, in seconds.
fn seconds(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = [("s", 1), ("m", 60), ("h", 3600)].into_iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(unit.1).filter(|&seconds| seconds > 0)
}

/// A limit of time, as it is written.
fn time(text: &str) -> Result<String, String> {
    let remedy = "write a whole number and s, m or h, such as 20m";
    seconds(text).map(|_| text.to_string()).ok_or(remedy.to_string())
}

/// The sides of a board, the shorter one first.
fn board(text: &str) -> Result<(u32, u32), String> {
    sides(text).ok_or("write ranks x files of up to 64 squares, such as 6x7".to_string())
}

/// One run of the program.
#[derive(Clone, Debug)]
pub struct Job {
    /// Arguments without limits and `--json`.
    pub args: String,
    /// 1, 2, ... for repetitions.
    pub run: u32,
    pub time_limit: Option<String>,
    pub max_nodes: Option<u64>,
}

impl Job {
    fn new(args: String, run: u32) -> Self {
        Job { args, run, time_limit: None, max_nodes: None }
    }

    /// The arguments with the limits.
    pub fn command(&self) -> String {
        let mut text = self.args.clone();
        text += &self.time_limit.as_ref().map_or(String::new(), |t| format!(" --time-limit {t}"));
        text += &self.max_nodes.map_or(String::new(), |nodes| format!(" --max-nodes {nodes}"));
        text + " --json"
    }

    /// Whether a record of this very run makes it needless: one with an answer, or one that ran out
    /// of what there is no more of now.
    pub fn is_settled_by(&self, record: &Record) -> bool {
        let span = |limit: &Option<String>| limit.as_ref().and_then(|text| seconds(text));
        match record.result.reason.as_deref() {
            None => true,
            Some("node limit") => self.max_nodes.is_some_and(|most| Some(most) <= record.max_nodes),
            Some("time limit") => {
                self.time_limit.is_some() && span(&self.time_limit) <= span(&record.time_limit)
            }
            Some(_) => (&self.time_limit, self.max_nodes) == (&record.time_limit, record.max_nodes),
        }
    }
}

/// The board of a command line of `solve`.
fn board_of(args: &str) -> Option<(u32, u32)> {
    sides(args.split(' ').nth(1).unwrap_or_default())
}

/// Whether the record has what the suite looks for, whoever found it: the winner of the position, or
/// of the board or the one turned over the diagonal.
pub fn is_answered(suite: Suite, job: &Job, record: &Record) -> bool {
    let is_same = match suite {
        Suite::Winners => board_of(&job.args) == board_of(&record.args),
        Suite::Openings | Suite::Narrow => is_same_question(&job.args, &record.args),
        Suite::Results | Suite::Scaling | Suite::Sprouts => false,
    };
    is_same && record.result.found().is_some()
}

/// The words of a command line, as a shell reads them: a text in double quotes is one.
pub fn words(line: &str) -> Vec<&str> {
    let quoted = line.split('"').enumerate();
    let of = |(index, part)| {
        if index % 2 == 1 { vec![part] } else { str::split_whitespace(part).collect() }
    };
    quoted.flat_map(of).collect()
}

/// The runs of a suite in their order. Repetitions go in rounds, so that a busy minute spoils one run
/// of each rather than all runs of one.
pub fn jobs(suite: Suite, choice: &Choice) -> Vec<Job> {
    let rounds = |runs: u32, lines: Vec<String>| -> Vec<Job> {
        let runs = 1..=choice.runs.unwrap_or(runs);
        runs.flat_map(|run| lines.iter().map(move |args| Job::new(args.clone(), run))).collect()
    };
    let limited = |args: String, limit: &str| Job {
        time_limit: Some(choice.time_limit.clone().unwrap_or(limit.to_string())),
        ..Job::new(args, 1)
    };
    let threads = |usual| choice.threads.unwrap_or(usual);
    let memory = |usual: &str| choice.memory.clone().unwrap_or(usual.to_string());
    match suite {
        Suite::Results => {
            let (short, long) = results(choice.quick);
            let mut jobs = rounds(3, short);
            jobs.extend(long.into_iter().map(|args| limited(args, "2h")));
            jobs
        }
        Suite::Scaling => rounds(5, scaling()),
        Suite::Winners | Suite::Openings | Suite::Narrow => {
            let most = choice.to.unwrap_or(MOST_SQUARES).min(MOST_SQUARES);
            let (searched, limit): (Vec<String>, _) = match suite {
                Suite::Openings => (openings::questions(most).map(|q| q.args()).collect(), "1m"),
                Suite::Narrow => (narrow::questions(most).map(|q| q.args()).collect(), "1m"),
                _ => {
                    let args = |(ranks, files)| format!("solve {ranks}x{files}");
                    (boards(most).map(args).collect(), "20m")
                }
            };
            let (algorithm, threads, memory) = (&choice.algo, threads(1), memory("2GiB"));
            let options = format!("--algo {algorithm} --threads {threads} --memory {memory}");
            let pass = |max_nodes| {
                let is_chosen = |args: &&String| {
                    let chosen = |&board| Some(board) == board_of(args);
                    choice.boards.is_empty() || choice.boards.iter().any(chosen)
                };
                let job = |args: &String| Job {
                    max_nodes,
                    ..limited(format!("{args} {options}"), limit)
                };
                searched.iter().filter(is_chosen).map(job).collect::<Vec<_>>()
            };
            match &choice.max_nodes[..] {
                [] => pass(None),
                limits => limits.iter().flat_map(|&nodes| pass(Some(nodes))).collect(),
            }
        }
        Suite::Sprouts => {
            let (threads, memory) = (threads(2), memory("4GiB"));
            let args = |n| format!("sprouts solve 0*{n} --threads {threads} --memory {memory}");
            let spots = choice.from..=choice.to.unwrap_or(35);
            spots.map(|spots| limited(args(spots), "20m")).collect()
        }
    }
}

/// The short and the long runs on one thread.
fn results(quick: bool) -> (Vec<String>, Vec<String>) {
    let mut short: Vec<String> =
        [10, 11, 12].map(|depth| format!("perft 8x8 {depth} --threads 1")).into();
    short.extend([10, 11, 12].map(|depth| format!("perft 8x8 {depth} --plain --threads 1")));
    short.push("perft 5x5 10 --unique --threads 1".to_string());
    short.push("perft 5x5 10 --unique --no-symmetry --threads 1".to_string());
    let solve = |board: &str, algorithm: &str, memory: &str| {
        format!("solve {board} --algo {algorithm} --threads 1 --memory {memory}")
    };
    short.extend(["1x1", "2x2", "3x3"].map(|board| solve(board, "pn2", "1GiB")));
    for board in ["4x4", "5x5", "5x6", "6x6"] {
        short.extend(["dfpn", "pns", "pn2", "ab"].map(|name| solve(board, name, "1GiB")));
    }
    if quick {
        return (short, Vec::new());
    }
    short.push(solve("7x7", "dfpn", "512MiB"));
    short.extend(["6x7", "7x6", "5x8", "5x9"].map(|board| solve(board, "dfpn", "1GiB")));
    let thesis =
        |name| format!("solve 6x6 --algo {name} --profile thesis --threads 1 --memory 4GiB");
    short.extend(["dfpn", "pns", "pn2"].map(thesis));
    let long = [solve("7x7", "pns", "4GiB"), solve("7x7", "pn2", "4GiB"), thesis("ab")];
    (short, long.into())
}

/// All that the page of scaling shows.
fn scaling() -> Vec<String> {
    let mut lines = Vec::new();
    for (algorithm, _) in PARALLEL {
        for threads in THREADS {
            for (board, profile) in SEARCHED {
                let profile = if profile == "tuned" { "" } else { " --profile thesis" };
                lines.push(format!(
                    "solve {board} --algo {algorithm} --threads {threads} --memory 1GiB{profile}"
                ));
            }
        }
    }
    lines
}
