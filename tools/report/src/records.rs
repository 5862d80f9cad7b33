//! The raw results: one JSON object a line, grouped by what was run.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// One run of the program. The limits, where there are any, are those beside `args`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Record {
    /// Arguments without `--json` and limits: what was measured.
    pub args: String,
    /// Signature of the program (`konane bench`).
    pub signature: u64,
    /// Model of the processor.
    pub cpu: String,
    /// 1, 2, ... for repetitions.
    pub run: u32,
    /// Limit of time, such as `20m`.
    pub time_limit: Option<String>,
    pub max_nodes: Option<u64>,
    /// The whole command line.
    pub command: String,
    pub exit_code: i32,
    /// Time from start to end of the process.
    pub wall_seconds: f64,
    /// Processor time of all threads, where it could be measured.
    pub cpu_seconds: Option<f64>,
    /// Most memory that the process used, where it could be measured.
    pub peak_rss_bytes: Option<u64>,
    /// Load average of the minute before.
    pub load_before: Option<f64>,
    /// When, in UTC, as in 2025-01-31T12:00:00Z.
    pub date: String,
    /// Version of the program; records before 0.1.0 have none.
    #[serde(default)]
    pub version: String,
    /// Processors of the machine.
    pub cores: u32,
    /// What the program printed; it is written as it came.
    #[serde(skip_serializing)]
    pub result: Answer,
}

impl Record {
    /// Version of the program in words.
    pub fn version(&self) -> &str {
        if self.version.is_empty() { "not recorded" } else { &self.version }
    }
}

/// Output of `solve`, `perft` or `sprouts solve`, as far as the pages need it. Fields are optional, since
/// records of earlier versions are kept.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// Ranks x files.
    pub board: String,
    /// Of Sprouts.
    pub position: String,
    /// Wall-clock time by the program's own account.
    pub seconds: f64,
    pub nodes: Nodes,
    /// `perft --unique`: new positions by ply.
    pub unique: Vec<u64>,
    pub algorithm: String,
    pub profile: String,
    pub threads: Option<u32>,
    /// `win`, `loss` or `unknown`. Old records of Konane have the winner here.
    pub outcome: Option<String>,
    /// Konane: `black`, `white` or `unknown`.
    pub winner: Option<String>,
    /// Why there is no answer.
    pub reason: Option<String>,
    /// Positions visited by the leaf solver near the end of games.
    #[serde(alias = "settle_positions")]
    pub leaf_positions: Option<u64>,
    /// The root's proof and disproof number for the side to move, where there is no answer.
    pub pn: Option<u64>,
    pub dn: Option<u64>,
    /// PN²: nodes of the first level, and of all second levels.
    pub l1_nodes: Option<u64>,
    pub l2_nodes: Option<u64>,
    /// Sprouts. Records of earlier programs call the expansions `iterations`.
    #[serde(alias = "iterations")]
    pub expansions: u64,
    pub grundy_numbers: u64,
}

/// The field `nodes`: of a search one number, of perft one for each of the plies 1, 2, ...
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(untagged)]
pub enum Nodes {
    Total(u64),
    ByPly(Vec<u64>),
    #[default]
    None,
}

impl Answer {
    /// All nodes together.
    pub fn total_nodes(&self) -> u64 {
        match &self.nodes {
            Nodes::Total(total) => *total,
            Nodes::ByPly(plies) => plies.iter().sum(),
            Nodes::None => self.unique.iter().sum(),
        }
    }

    /// The winner of Konane or the outcome of Sprouts; may be `unknown`.
    pub fn result(&self) -> Option<&str> {
        self.winner.as_deref().or(self.outcome.as_deref())
    }

    /// The winner of Konane or the outcome of Sprouts; none if the run ended without an answer.
    pub fn found(&self) -> Option<&str> {
        self.result().filter(|_| self.reason.is_none())
    }
}

/// Reads all lines.
///
/// # Errors
/// If a line is no record; the message has its number.
pub fn parse(text: &str) -> Result<Vec<Record>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(index, line)| {
        serde_json::from_str(line).map_err(|error| format!("line {}: {error}", index + 1))
    };
    lines.map(read).collect()
}

/// All runs of one command line by one version of the program on one machine: at least one, and
/// unfinished ones only if no run came to an end.
#[derive(Clone, Debug)]
pub struct Group(pub Vec<Record>);

impl Group {
    /// The latest record.
    pub fn last(&self) -> &Record {
        self.0.last().expect("a group has a record")
    }

    /// What the program answered, in the latest run.
    pub fn answer(&self) -> &Answer {
        &self.last().result
    }

    pub fn is_unfinished(&self) -> bool {
        self.answer().reason.is_some()
    }

    /// The median of what was measured, over the runs where it was.
    fn median(&self, value: impl Fn(&Record) -> Option<f64>) -> Option<f64> {
        let mut sorted: Vec<f64> = self.0.iter().filter_map(value).collect();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match sorted.len() {
            0 => None,
            length if length.is_multiple_of(2) => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
            _ => Some(sorted[middle]),
        }
    }

    /// Time by the program's own account.
    pub fn seconds(&self) -> f64 {
        self.median(|record| Some(record.result.seconds)).expect("a group has a record")
    }

    /// Time of the whole process.
    pub fn wall_seconds(&self) -> f64 {
        self.median(|record| Some(record.wall_seconds)).expect("a group has a record")
    }

    /// Least and greatest time.
    pub fn range(&self) -> (f64, f64) {
        let seconds = || self.0.iter().map(|record| record.result.seconds);
        (seconds().fold(f64::INFINITY, f64::min), seconds().fold(0.0, f64::max))
    }

    /// Nodes; on one thread they are equal in all runs of the same program.
    pub fn nodes(&self) -> u64 {
        let nodes = self.median(|record| Some(record.result.total_nodes() as f64));
        nodes.expect("a group has a record") as u64
    }

    pub fn nodes_per_second(&self) -> f64 {
        self.nodes() as f64 / self.seconds().max(1e-9)
    }

    pub fn cpu_seconds(&self) -> Option<f64> {
        self.median(|record| record.cpu_seconds)
    }

    pub fn peak_bytes(&self) -> Option<f64> {
        self.median(|record| record.peak_rss_bytes.map(|bytes| bytes as f64))
    }

    /// Greatest load average before a run.
    pub fn load(&self) -> Option<f64> {
        self.0.iter().filter_map(|record| record.load_before).reduce(f64::max)
    }
}

/// All groups, in the order in which they first appear.
pub struct Results(pub Vec<Group>);

impl Results {
    /// Groups records: of each command line the runs by the latest program and machine that ran it.
    pub fn new(records: Vec<Record>) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for record in records {
            let Some(group) = groups.iter_mut().find(|group| group.last().args == record.args)
            else {
                groups.push(Group(vec![record]));
                continue;
            };
            let last = group.last();
            let same_program = (last.signature, &last.cpu) == (record.signature, &record.cpu);
            match (same_program, group.is_unfinished(), record.result.reason.is_some()) {
                (false, ..) | (true, true, false) => *group = Group(vec![record]),
                (true, false, true) => {}
                _ => {
                    // A run that was repeated counts once.
                    group.0.retain(|earlier| earlier.run != record.run);
                    group.0.push(record);
                }
            }
        }
        Results(groups)
    }

    /// All records that the pages use.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.0.iter().flat_map(|group| &group.0)
    }

    /// The search of a whole board, if it was run; the first one of several with unequal memory.
    pub fn solve(
        &self,
        board: &str,
        algorithm: &str,
        profile: &str,
        threads: u32,
    ) -> Option<&Group> {
        self.0.iter().find(|group| {
            let answer = group.answer();
            (&*answer.board, &*answer.algorithm, &*answer.profile, answer.threads.unwrap_or(1))
                == (board, algorithm, profile, threads)
        })
    }

    /// The group with these arguments.
    pub fn with_args(&self, args: &str) -> Option<&Group> {
        self.0.iter().find(|group| group.last().args == args)
    }

    /// Whether a group was measured with another program than the newest record of the same verb: a
    /// count of sequences says nothing about searches.
    pub fn is_earlier(&self, group: &Group) -> bool {
        let verb = |record: &Record| record.args.split(' ').next().map(str::to_string);
        let same = self.records().filter(|record| verb(record) == verb(group.last()));
        let newest = same.max_by(|a, b| a.date.cmp(&b.date));
        newest.is_some_and(|newest| newest.signature != group.last().signature)
    }
}

/// The different texts of a field, sorted, with commas.
pub fn distinct<'a>(
    records: impl Iterator<Item = &'a Record>,
    field: impl Fn(&Record) -> String,
) -> String {
    records.map(field).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}
