//! Searches on several threads: the thesis' Table 4.3 with our figures, in Markdown and CSV.

use crate::algorithms::circumstances;
use crate::published;
use crate::records::{Group, Results};
use crate::row;
use crate::text::{cell, count, cpu_time, csv, grouped, optional, page, short, table, time};

/// The algorithms that are searched on several threads, by the program's names and as people write
/// them.
pub const PARALLEL: [(&str, &str); 2] = [("dfpn", "df-pn"), ("pn2", "PN²")];

/// Boards and parameters that are searched. The thesis has 6x6; the profile `thesis` runs what was
/// published.
pub const SEARCHED: [(&str, &str); 4] =
    [("6x6", "thesis"), ("6x6", "tuned"), ("7x7", "tuned"), ("6x8", "tuned")];

/// Numbers of threads; 12 is the most of the thesis.
pub const THREADS: [u32; 6] = [1, 2, 4, 8, 12, 16];

/// Searches that differ in the number of threads only.
pub struct Series<'a> {
    /// The program's name of the algorithm.
    pub algorithm: &'static str,
    pub board: &'static str,
    /// `published`, or the profile.
    pub profile: &'static str,
    /// With the number of threads ascending; the first is one thread.
    pub points: Vec<Point<'a>>,
}

/// Searches on some number of threads. Ratios are of medians.
pub struct Point<'a> {
    pub threads: u32,
    pub seconds: f64,
    /// Time on one thread by this time.
    pub speedup: f64,
    /// Speed-up by threads.
    pub efficiency: f64,
    /// Nodes by those on one thread.
    pub overhead: f64,
    /// Processor time by that on one thread, where it was measured.
    cpu_overhead: Option<f64>,
    /// What was measured; nothing for what is published.
    group: Option<&'a Group>,
}

impl Point<'_> {
    /// Nodes per second by those on one thread.
    pub fn throughput(&self) -> f64 {
        self.speedup * self.overhead
    }

    /// The winner, if all runs have the same.
    fn outcome(&self) -> Option<&str> {
        let group = self.group?;
        let first = group.answer().result();
        let agree = group.0.iter().all(|record| record.result.result() == first);
        first.filter(|_| agree)
    }
}

impl Series<'_> {
    pub fn is_ours(&self) -> bool {
        self.profile != "published"
    }
}

/// Everything there is: for each algorithm the thesis' figures, then ours; ours only where the
/// search on one thread came to an end, and only the numbers of threads that did.
pub fn series(results: &Results) -> Vec<Series<'_>> {
    let mut all = Vec::new();
    for (algorithm, _) in PARALLEL {
        let published = published::scaling_6x6(algorithm);
        let one_thread = published[0].seconds;
        let points = published.iter().map(|row| Point {
            threads: row.threads,
            seconds: row.seconds,
            speedup: row.speedup,
            // Of the times, as in the thesis: of the rounded speed-up it would differ at times.
            efficiency: one_thread / row.seconds / f64::from(row.threads),
            overhead: row.overhead,
            cpu_overhead: None,
            group: None,
        });
        let points = points.collect();
        all.push(Series { algorithm, board: "6x6", profile: "published", points });
        for (board, profile) in SEARCHED {
            let on = |threads| {
                let group = results.solve(board, algorithm, profile, threads);
                group.filter(|group| !group.is_unfinished())
            };
            let Some(one) = on(1) else {
                continue;
            };
            let points = THREADS.into_iter().filter_map(|threads| {
                let group = on(threads)?;
                let speedup = one.seconds() / group.seconds().max(1e-9);
                let cpu = group.cpu_seconds().zip(one.cpu_seconds());
                Some(Point {
                    threads,
                    seconds: group.seconds(),
                    speedup,
                    efficiency: speedup / f64::from(threads),
                    overhead: group.nodes() as f64 / one.nodes().max(1) as f64,
                    cpu_overhead: cpu.map(|(all, one)| all / one.max(0.01)),
                    group: Some(group),
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
            let group = point.group;
            rows.push(row![
                series.algorithm,
                series.board,
                series.profile,
                point.threads,
                cell(point.seconds),
                cell(group.map(|group| group.range().0)),
                cell(group.map(|group| group.range().1)),
                cell(point.speedup),
                cell(point.efficiency),
                cell(point.overhead),
                count(group.map(Group::nodes)),
                cell(group.map(|group| group.nodes_per_second().round())),
                cell(group.and_then(Group::cpu_seconds)),
                cell(point.cpu_overhead),
                count(group.map(|group| group.0.len() as u64)),
                cell(group.and_then(Group::load)),
                point.outcome().unwrap_or_default(),
            ]);
        }
    }
    let head = "algorithm,board,profile,threads,seconds,least_seconds,greatest_seconds,speedup,\
                efficiency,search_overhead,nodes,nodes_per_second,cpu_seconds,cpu_overhead,runs,\
                greatest_load,winner";
    csv(head, &rows)
}

pub fn markdown(results: &Results) -> String {
    let all = series(results);
    page(
        include_str!("../pages/scaling.md"),
        &[
            ("circumstances", circumstances(results)),
            ("busy", busy(results).to_string()),
            ("dfpn", section(&all, "dfpn")),
            ("pn2", section(&all, "pn2")),
        ],
    )
}

/// The table of an algorithm, and what has to be said of it.
fn section(all: &[Series<'_>], algorithm: &str) -> String {
    let (mut rows, mut notes) = (Vec::new(), String::new());
    for series in all.iter().filter(|series| series.algorithm == algorithm) {
        for (index, point) in series.points.iter().enumerate() {
            rows.push(row(series, index, point));
            if point.group.is_some() && point.outcome().is_none() {
                let (board, threads) = (series.board, point.threads);
                notes +=
                    &format!("\n**Runs of {board} on {threads} threads differ in the winner.**\n");
            }
        }
    }
    let several = |series: &Series<'_>| {
        let ours = series.algorithm == algorithm && series.is_ours();
        ours && series.points.iter().any(|point| point.threads > 1)
    };
    if !all.iter().any(several) {
        notes += "\nNot measured here on several threads.\n";
    }
    let head = "board|profile|>threads|>time|>speed-up|>efficiency|>search overhead|>nodes|>nodes/s\
                |>CPU time|>CPU overhead|>runs|>least to greatest time|>greatest load";
    table(head, &rows) + &notes
}

fn row(series: &Series<'_>, index: usize, point: &Point<'_>) -> Vec<String> {
    let first = |name| if index == 0 { name } else { "" };
    let ratio = |ratio: f64| format!("{ratio:.2}");
    let group = point.group;
    row![
        first(series.board),
        first(if series.is_ours() { series.profile } else { "the thesis" }),
        point.threads,
        time(point.seconds),
        ratio(point.speedup),
        ratio(point.efficiency),
        ratio(point.overhead),
        optional(group, |group| grouped(group.nodes())),
        optional(group, |group| short(group.nodes_per_second())),
        optional(group.and_then(Group::cpu_seconds), cpu_time),
        optional(point.cpu_overhead, ratio),
        optional(group, |group| group.0.len().to_string()),
        optional(group.map(Group::range), |(a, b)| format!("{} to {}", time(a), time(b))),
        optional(group.and_then(Group::load), ratio),
    ]
}

/// What to say where the machine had other work: where the load was more than all threads of these
/// runs make.
fn busy(results: &Results) -> &'static str {
    let most = f64::from(THREADS[THREADS.len() - 1]);
    let loads = results.records().filter_map(|record| Some((record.load_before?, record.cores)));
    if loads.into_iter().any(|(load, cores)| load > most.max(f64::from(cores)) + 1.0) {
        "\n\n**The machine was busy with other work during these runs**, as the load shows: the \
         speed-ups are not those of the program.\n"
    } else {
        ""
    }
}
