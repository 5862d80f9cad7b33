//! Searches on several threads: the thesis' Table 4.3 with our figures, in Markdown and CSV.

use crate::published;
use crate::records::{Group, Results};
use crate::report::circumstances;
use crate::text::{cell, cpu_time, csv, grouped, short, table, time};

/// The algorithms that search on several threads, by the program's names and as people write them.
pub const PARALLEL: [(&str, &str); 2] = [("dfpn", "df-pn"), ("pn2", "PN²")];

/// Boards and parameters that are searched.
pub const SEARCHED: [(&str, &str); 4] =
    [("6x6", "thesis"), ("6x6", "tuned"), ("7x6", "tuned"), ("7x7", "tuned")];

/// Numbers of threads; 12 is the most of the thesis.
pub const THREADS: [u32; 6] = [1, 2, 4, 8, 12, 16];

/// Searches that differ in the number of threads only.
#[derive(Clone, Debug)]
pub struct Series {
    /// The program's name of the algorithm.
    pub algorithm: &'static str,
    /// The board.
    pub board: &'static str,
    /// `published`, or the profile.
    pub profile: &'static str,
    /// With the number of threads ascending; the first is one thread.
    pub points: Vec<Point>,
}

/// Searches on some number of threads. Ratios are of medians.
#[derive(Clone, Debug)]
pub struct Point {
    /// Threads.
    pub threads: u32,
    /// Median of the times.
    pub seconds: f64,
    /// Time on one thread by this time.
    pub speedup: f64,
    /// Speed-up by threads.
    pub efficiency: f64,
    /// Nodes by those on one thread.
    pub overhead: f64,
    /// What was measured; nothing for what is published.
    pub measured: Option<Measured>,
}

/// What is known of our own runs only.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Number of runs.
    pub runs: usize,
    /// Least and greatest time.
    pub range: (f64, f64),
    /// Median of the processor time of all threads.
    pub cpu_seconds: Option<f64>,
    /// Processor time by that on one thread.
    pub cpu_overhead: Option<f64>,
    /// Median of the nodes.
    pub nodes: u64,
    /// Nodes by time.
    pub nodes_per_second: f64,
    /// Greatest load average before a run.
    pub load: Option<f64>,
    /// The winner, if all runs have the same.
    pub outcome: Option<String>,
}

impl Point {
    /// Nodes per second by those on one thread.
    pub fn throughput(&self) -> f64 {
        self.speedup * self.overhead
    }
}

/// What is known of a group, compared with the same search on one thread.
fn measured(group: &Group, one: &Group) -> Measured {
    let load = group.records.iter().filter_map(|record| record.load_before).reduce(f64::max);
    let first = &group.answer().outcome;
    let agree = group.records.iter().all(|record| &record.result.outcome == first);
    Measured {
        runs: group.records.len(),
        range: group.range(),
        cpu_seconds: group.cpu_seconds(),
        cpu_overhead: group
            .cpu_seconds()
            .zip(one.cpu_seconds())
            .map(|(all, one)| all / one.max(0.01)),
        nodes: group.nodes(),
        nodes_per_second: group.nodes_per_second(),
        load,
        outcome: first.clone().filter(|_| agree),
    }
}

/// Everything there is: for each algorithm the thesis' figures, then ours; ours only where the
/// search on one thread came to an end, and only the numbers of threads that did.
pub fn series(results: &Results) -> Vec<Series> {
    let mut all = Vec::new();
    for (algorithm, _) in PARALLEL {
        let published = published::scaling_6x6(algorithm);
        let one_thread = published.first().map_or(f64::NAN, |row| row.seconds);
        let points = published.iter().map(|row| Point {
            threads: row.threads,
            seconds: row.seconds,
            speedup: row.speedup,
            // Of the times, as in the thesis: of the rounded speed-up it would differ at times.
            efficiency: one_thread / row.seconds / f64::from(row.threads),
            overhead: row.overhead,
            measured: None,
        });
        let points = points.collect();
        all.push(Series { algorithm, board: "6x6", profile: "published", points });
        for (board, profile) in SEARCHED {
            let on = |threads| {
                let group = results.solve_on(board, algorithm, profile, threads);
                group.filter(|group| !group.is_unfinished())
            };
            let Some(one) = on(1) else {
                continue;
            };
            let points = THREADS.into_iter().filter_map(|threads| {
                let group = on(threads)?;
                let speedup = one.seconds() / group.seconds().max(1e-9);
                Some(Point {
                    threads,
                    seconds: group.seconds(),
                    speedup,
                    efficiency: speedup / f64::from(threads),
                    overhead: group.nodes() as f64 / one.nodes().max(1) as f64,
                    measured: Some(measured(group, one)),
                })
            });
            all.push(Series { algorithm, board, profile, points: points.collect() });
        }
    }
    all
}

/// One row for each algorithm, board, profile and number of threads.
pub fn csv_table(results: &Results) -> String {
    let mut rows = Vec::new();
    for series in series(results) {
        for point in &series.points {
            let measured = point.measured.as_ref();
            rows.push(vec![
                series.algorithm.to_string(),
                series.board.to_string(),
                series.profile.to_string(),
                point.threads.to_string(),
                cell(Some(point.seconds)),
                cell(measured.map(|ours| ours.range.0)),
                cell(measured.map(|ours| ours.range.1)),
                cell(Some(point.speedup)),
                cell(Some(point.efficiency)),
                cell(Some(point.overhead)),
                cell(measured.map(|ours| ours.nodes as f64)),
                cell(measured.map(|ours| ours.nodes_per_second.round())),
                cell(measured.and_then(|ours| ours.cpu_seconds)),
                cell(measured.and_then(|ours| ours.cpu_overhead)),
                cell(measured.map(|ours| ours.runs as f64)),
                cell(measured.and_then(|ours| ours.load)),
                measured.and_then(|ours| ours.outcome.clone()).unwrap_or_default(),
            ]);
        }
    }
    let columns = [
        "algorithm",
        "board",
        "profile",
        "threads",
        "seconds",
        "least_seconds",
        "greatest_seconds",
        "speedup",
        "efficiency",
        "search_overhead",
        "nodes",
        "nodes_per_second",
        "cpu_seconds",
        "cpu_overhead",
        "runs",
        "greatest_load",
        "winner",
    ];
    csv(&columns, &rows)
}

/// The page.
pub fn markdown(results: &Results) -> String {
    let mut text = "# Scaling\n\n\
        How the searches gain by threads: the thesis' Table 4.3 and Figure 4.2 with this program. \
        Made by `scripts/benchmarks.sh --scaling` from the [raw results](scaling.jsonl); change the \
        script, not this page. The figures are also [a table](scaling.csv). \"The thesis\" is \
        B. Siefke, *Solving Konane Using Proof-Number Search and Extensions*, TU Berlin 2025; its \
        machine has two Intel Xeon Gold 6326 (64 threads).\n\n"
        .to_string();
    text += &circumstances(results);
    text += &busy(results);
    text += "\n![Speed-up and node throughput by threads](scaling.svg)\n\n\
        * Speed-up is the time on one thread by the time on so many; efficiency is the speed-up by \
        the threads; search overhead is the nodes by those on one thread. All are ratios of \
        medians. CPU time is the processor time of all threads, and CPU overhead that by the one \
        on one thread: its inverse is the efficiency that threads with a core each would have if \
        none of them ever waited.\n\
        * The searches make no random choices, so there are no seeds to vary. On several threads \
        runs differ by how the system schedules the threads: repeated runs take the place of \
        seeds.\n\
        * More threads than the machine has cores cannot be faster: these rows show what the \
        coordination of the threads costs. On a machine with other work the threads do not get \
        all cores either: where the load is well above what the threads of these runs make, \
        speed-up and nodes per second say how the cores were shared out, and search overhead and \
        CPU overhead are what remains meaningful.\n\
        * By the thesis' definitions, speed-up times search overhead is the gain in nodes per \
        second; the right half of the figure shows it. For PN² its table gives 41.5 on 12 threads, \
        more than so many threads can do of the same work; what it counted differently on one \
        thread and on several is not known.\n\
        * The profile `thesis` runs the algorithms as published, on its board: that is the \
        like-for-like comparison.\n";
    let all = series(results);
    for (algorithm, name) in PARALLEL {
        text += &format!("\n## {name}\n\n");
        let ours = |series: &&Series| series.algorithm == algorithm;
        let mut rows = Vec::new();
        for series in all.iter().filter(ours) {
            for (index, point) in series.points.iter().enumerate() {
                rows.push(row(series, index, point));
            }
        }
        let head = [
            "board",
            "profile",
            ">threads",
            ">time",
            ">speed-up",
            ">efficiency",
            ">search overhead",
            ">nodes",
            ">nodes/s",
            ">CPU time",
            ">CPU overhead",
            ">runs",
            ">least to greatest time",
            ">greatest load",
        ];
        text += &table(&head, &rows);
        for series in all.iter().filter(ours) {
            let differs =
                |point: &&Point| point.measured.as_ref().is_some_and(|ours| ours.outcome.is_none());
            for point in series.points.iter().filter(differs) {
                text += &format!(
                    "\n**Runs of {} on {} threads differ in the winner.**\n",
                    series.board, point.threads
                );
            }
        }
        if !all.iter().filter(ours).any(|series| most_threads(series) > 1 && is_ours(series)) {
            text += "\nNot measured here on several threads.\n";
        }
    }
    text
}

/// What to say where the machine had other work: where the load was more than all threads of these
/// runs make.
fn busy(results: &Results) -> String {
    let most_threads = f64::from(THREADS[THREADS.len() - 1]);
    let loads = || results.records().filter_map(|record| Some((record.load_before?, record.cores)));
    let is_busy = |(load, cores): (f64, u32)| load > most_threads.max(f64::from(cores)) + 1.0;
    if !loads().any(is_busy) {
        return String::new();
    }
    "\n**The machine was busy with other work during these runs**, as the load shows: the speed-ups \
     are not those of the program.\n"
        .to_string()
}

fn is_ours(series: &Series) -> bool {
    series.profile != "published"
}

fn most_threads(series: &Series) -> u32 {
    series.points.iter().map(|point| point.threads).max().unwrap_or(0)
}

fn row(series: &Series, index: usize, point: &Point) -> Vec<String> {
    const NONE: &str = "–";
    let measured = |value: &dyn Fn(&Measured) -> Option<String>| {
        point.measured.as_ref().and_then(value).unwrap_or(NONE.to_string())
    };
    let first = |name: &str| if index == 0 { name.to_string() } else { String::new() };
    let profile = if is_ours(series) { series.profile } else { "the thesis" };
    vec![
        first(series.board),
        first(profile),
        point.threads.to_string(),
        time(point.seconds),
        format!("{:.2}", point.speedup),
        format!("{:.2}", point.efficiency),
        format!("{:.2}", point.overhead),
        measured(&|ours| Some(grouped(ours.nodes))),
        measured(&|ours| Some(short(ours.nodes_per_second))),
        measured(&|ours| ours.cpu_seconds.map(cpu_time)),
        measured(&|ours| ours.cpu_overhead.map(|ratio| format!("{ratio:.2}"))),
        measured(&|ours| Some(ours.runs.to_string())),
        measured(&|ours| Some(format!("{} to {}", time(ours.range.0), time(ours.range.1)))),
        measured(&|ours| ours.load.map(|load| format!("{load:.2}"))),
    ]
}
