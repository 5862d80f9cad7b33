//! The raw results: one JSON object a line, grouped by what was run.

use std::collections::BTreeSet;

use serde::Deserialize;

/// One run of the program.
#[derive(Clone, Debug, Deserialize)]
pub struct Record {
    /// Arguments without `--json` and `--time-limit`: what was measured.
    pub args: String,
    /// Signature of the program (`konane bench`).
    pub signature: u64,
    /// Model of the processor.
    pub cpu: String,
    /// 1, 2, ... for repetitions.
    pub run: u32,
    /// Limit of time, such as `20m`.
    #[serde(default)]
    pub time_limit: Option<String>,
    /// Limit of nodes.
    #[serde(default)]
    pub max_nodes: Option<u64>,
    /// The whole command line.
    pub command: String,
    /// Time from start to end of the process.
    pub wall_seconds: f64,
    /// Processor time of all threads, where it could be measured.
    #[serde(default)]
    pub cpu_seconds: Option<f64>,
    /// Most memory that the process used, where it could be measured.
    pub peak_rss_bytes: Option<u64>,
    /// Load average of the minute before.
    pub load_before: Option<f64>,
    /// When, in UTC, as in 2025-01-31T12:00:00Z.
    pub date: String,
    /// Version of the source.
    pub commit: String,
    /// Processors of the machine.
    pub cores: u32,
    /// What the program printed.
    pub result: Answer,
}

/// What `solve` or `perft` printed, as far as the report needs it.
#[derive(Clone, Debug, Deserialize)]
pub struct Answer {
    /// Ranks x files.
    pub board: String,
    /// Wall-clock time by the program's own account.
    pub seconds: f64,
    /// `solve`: a number; `perft`: one for each ply.
    #[serde(default)]
    pub nodes: Nodes,
    /// `perft --unique`: new positions by ply.
    pub unique: Option<Vec<u64>>,
    /// `solve`: `pns`, `pn2`, `dfpn` or `ab`.
    pub algorithm: Option<String>,
    /// `solve`: `tuned` or `thesis`.
    pub profile: Option<String>,
    /// `solve`: threads that searched.
    #[serde(default)]
    pub threads: Option<u32>,
    /// `solve`: `black`, `white` or `unknown`.
    pub outcome: Option<String>,
    /// Why there is no answer.
    pub reason: Option<String>,
    /// `solve`: positions visited by exact searches near the end of games.
    #[serde(default)]
    pub settle_positions: Option<u64>,
    /// The root's proof number for the side to move, where there is no answer.
    #[serde(default)]
    pub pn: Option<u32>,
    /// Its disproof number.
    #[serde(default)]
    pub dn: Option<u32>,
    /// PN²: nodes of the first level.
    pub l1_nodes: Option<u64>,
    /// PN²: nodes of all second levels.
    pub l2_nodes: Option<u64>,
}

/// The field `nodes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Nodes {
    /// Of a search.
    Total(u64),
    /// Of perft, for plies 1, 2, ...
    ByPly(Vec<u64>),
    /// There is no such field.
    #[default]
    None,
}

impl Answer {
    /// All nodes together.
    pub fn total_nodes(&self) -> u64 {
        match &self.nodes {
            Nodes::Total(total) => *total,
            Nodes::ByPly(plies) => plies.iter().sum(),
            Nodes::None => self.unique.iter().flatten().sum(),
        }
    }

    /// Whether the run reached no answer.
    pub fn is_unfinished(&self) -> bool {
        self.reason.is_some()
    }
}

/// Reads all lines.
///
/// # Errors
/// If a line is no record; the message has its number.
pub fn parse(text: &str) -> Result<Vec<Record>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", index + 1))
        })
        .collect()
}

/// All runs of one command line by one version of the program on one machine.
#[derive(Clone, Debug)]
pub struct Group {
    /// At least one; unfinished ones only if no run came to an end.
    pub records: Vec<Record>,
}

impl Group {
    /// Arguments without `--json` and `--time-limit`.
    pub fn args(&self) -> &str {
        &self.last().args
    }

    /// The latest record.
    pub fn last(&self) -> &Record {
        self.records.last().expect("a group has a record")
    }

    /// What the program answered, in the latest run.
    pub fn answer(&self) -> &Answer {
        &self.last().result
    }

    /// Whether no run reached an answer.
    pub fn is_unfinished(&self) -> bool {
        self.answer().is_unfinished()
    }

    /// The median of something over the runs.
    pub fn median_of(&self, value: impl Fn(&Record) -> f64) -> f64 {
        let values: Vec<f64> = self.records.iter().map(value).collect();
        median(&values).expect("a group has a record")
    }

    /// Median of the times by the program's own account.
    pub fn seconds(&self) -> f64 {
        self.median_of(|record| record.result.seconds)
    }

    /// Least and greatest time.
    pub fn range(&self) -> (f64, f64) {
        let seconds = || self.records.iter().map(|record| record.result.seconds);
        (seconds().fold(f64::INFINITY, f64::min), seconds().fold(0.0, f64::max))
    }

    /// Median of the node counts; on one thread they are equal in all runs of the same program.
    pub fn nodes(&self) -> u64 {
        self.median_of(|record| record.result.total_nodes() as f64) as u64
    }

    /// Nodes by time, medians both.
    pub fn nodes_per_second(&self) -> f64 {
        self.nodes() as f64 / self.seconds().max(1e-9)
    }

    /// Median of the processor time over the runs where it was measured.
    pub fn cpu_seconds(&self) -> Option<f64> {
        let measured: Vec<f64> =
            self.records.iter().filter_map(|record| record.cpu_seconds).collect();
        median(&measured)
    }

    /// Median of the peak memory over the runs where it was measured.
    pub fn peak_bytes(&self) -> Option<f64> {
        let measured = self.records.iter().filter_map(|record| record.peak_rss_bytes);
        median(&measured.map(|bytes| bytes as f64).collect::<Vec<_>>())
    }
}

/// All groups, in the order in which they first appear.
#[derive(Clone, Debug)]
pub struct Results {
    groups: Vec<Group>,
}

impl Results {
    /// Groups records: of each command line the runs by the latest program and machine that ran it.
    pub fn new(records: Vec<Record>) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for record in records {
            let Some(group) = groups.iter_mut().find(|group| group.args() == record.args) else {
                groups.push(Group { records: vec![record] });
                continue;
            };
            let last = group.last();
            let same_program = (last.signature, &last.cpu) == (record.signature, &record.cpu);
            let unfinished = (group.is_unfinished(), record.result.is_unfinished());
            match (same_program, unfinished) {
                (false, _) | (true, (true, false)) => group.records = vec![record],
                (true, (false, true)) => {}
                (true, _) => {
                    // A run that was repeated counts once.
                    group.records.retain(|earlier| earlier.run != record.run);
                    group.records.push(record);
                }
            }
        }
        Results { groups }
    }

    /// All groups.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// All records that the report uses.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.groups.iter().flat_map(|group| &group.records)
    }

    /// The search of a whole board on one thread, if it was run; the first one of several with
    /// unequal memory.
    pub fn solve(&self, board: &str, algorithm: &str, profile: &str) -> Option<&Group> {
        self.solve_on(board, algorithm, profile, 1)
    }

    /// As [`Results::solve`], on so many threads.
    pub fn solve_on(
        &self,
        board: &str,
        algorithm: &str,
        profile: &str,
        threads: u32,
    ) -> Option<&Group> {
        self.groups.iter().find(|group| {
            let answer = group.answer();
            answer.board == board
                && answer.algorithm.as_deref() == Some(algorithm)
                && answer.profile.as_deref() == Some(profile)
                && answer.threads.unwrap_or(1) == threads
        })
    }

    /// The group with these arguments.
    pub fn with_args(&self, args: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.args() == args)
    }

    /// The different values of a field, sorted.
    pub fn distinct<T: Ord>(&self, field: impl Fn(&Record) -> T) -> Vec<T> {
        self.records().map(field).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Signature of the program that made the latest of the records.
    pub fn newest_signature(&self) -> Option<u64> {
        let newest = self.records().max_by(|a, b| a.date.cmp(&b.date));
        newest.map(|record| record.signature)
    }
}

/// The middle value, or the mean of the two in the middle; nothing of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length.is_multiple_of(2) => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
        _ => Some(sorted[middle]),
    }
}
