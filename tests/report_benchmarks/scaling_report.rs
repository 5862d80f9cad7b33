//! The report of scaling from made-up results.

use serde_json::Value;

use crate::{csv_row, line, line_with, results, scaling, scaling_chart, solved};

/// Runs of one search, with their times and nodes.
fn runs(algorithm: &str, threads: u32, runs: &[(f64, u64)]) -> Vec<String> {
    let args = format!("solve 6x6 --algo {algorithm} --threads {threads} --memory 1GiB");
    let record = |(index, &(seconds, nodes)): (usize, &(f64, u64))| {
        let mut result = solved("6x6", algorithm, "tuned", nodes, seconds);
        result["threads"] = threads.into();
        let text = line(&args, index as u32 + 1, result);
        let mut record: Value = serde_json::from_str(&text).unwrap();
        record["cpu_seconds"] = (seconds * f64::from(threads)).into();
        format!("{record}\n")
    };
    runs.iter().enumerate().map(record).collect()
}

fn made_up() -> Vec<String> {
    let mut lines = runs("dfpn", 1, &[(4.0, 1000), (4.5, 1000), (3.5, 1000)]);
    lines.extend(runs("dfpn", 2, &[(2.0, 1100), (9.0, 1200), (2.5, 1300)]));
    lines
}

#[test]
fn ratios_are_of_medians() {
    let table = scaling::csv_table(&results(&made_up()));
    let one = csv_row(&table, "dfpn,6x6,tuned,1,");
    assert_eq!(one[4..10], ["4", "3.5", "4.5", "1", "1", "1"]);
    // 4 s by 2.5 s; by 2 threads; 1200 nodes by 1000; 1200 nodes in 2.5 s; 2 threads for 2.5 s,
    // which is 5 s by 4 s.
    let two = csv_row(&table, "dfpn,6x6,tuned,2,");
    assert_eq!(
        two[4..],
        ["2.5", "2", "9", "1.6", "0.8", "1.2", "1200", "480", "5", "1.25", "3", "0.5", "white"]
    );
    assert!(!table.contains("dfpn,7x7"));
}

#[test]
fn the_published_figures_stand_beside_ours() {
    let results = results(&made_up());
    let table = scaling::csv_table(&results);
    assert_eq!(table.lines().count(), 1 + 2 * 5 + 2);
    let published = csv_row(&table, "pn2,6x6,published,12,");
    assert_eq!(published[4..10], ["6.83", "", "", "14.62", "1.217301", "2.84"]);

    let text = scaling::markdown(&results);
    let published = line_with(&text, "|  |  | 12 | 15.2 s |");
    assert!(published.starts_with("|  |  | 12 | 15.2 s | 3.45 | 0.29 | 1.03 | – |"), "{published}");
    let ours = line_with(&text, "| 6x6 | tuned | 1 |");
    assert!(ours.contains("| 4.00 s | 1.00 | 1.00 | 1.00 | 1,000 | 250 |"), "{ours}");
    let ours = line_with(&text, "|  |  | 2 | 2.50 s |");
    assert!(ours.contains("| 1.60 | 0.80 | 1.20 | 1,200 | 480 | 5.00 s | 1.25 | 3 |"), "{ours}");
    let (dfpn, pn2) = text.split_once("## PN²").expect("two sections");
    assert!(!dfpn.contains("Not measured here") && pn2.contains("Not measured here"), "{text}");
}

/// The efficiencies of Table 4.3, which our data file leaves out.
#[test]
fn published_efficiencies() {
    let of = |algorithm| {
        let all = scaling::series(&results(&[]));
        let series = all.into_iter().find(|series| series.algorithm == algorithm).unwrap();
        let text = |point: &scaling::Point| format!("{:.2}", point.efficiency);
        series.points.iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(of("pn2"), ["1.00", "1.12", "1.17", "1.23", "1.22"]);
    assert_eq!(of("dfpn"), ["1.00", "0.77", "0.56", "0.33", "0.29"]);
}

#[test]
fn unfinished_and_missing_runs_are_left_out() {
    let mut unfinished = runs("dfpn", 4, &[(60.0, 7)]);
    unfinished[0] = unfinished[0]
        .replace("\"outcome\":\"white\"", "\"outcome\":\"unknown\",\"reason\":\"time limit\"");
    let mut lines = made_up();
    lines.extend(unfinished);
    // Without a search on one thread there is nothing to compare with.
    lines.extend(runs("pn2", 2, &[(1.0, 1)]));
    let table = scaling::csv_table(&results(&lines));
    assert!(table.contains("dfpn,6x6,tuned,2,"));
    assert!(!table.contains("dfpn,6x6,tuned,4,") && !table.contains("pn2,6x6,tuned"));
}

#[test]
fn different_winners_are_named() {
    let mut lines = made_up();
    let other = lines[4].replace("white", "black");
    assert_ne!(other, lines[4]);
    lines[4] = other;
    let results = results(&lines);
    let text = scaling::markdown(&results);
    assert!(text.contains("**Runs of 6x6 on 2 threads differ in the winner.**"), "{text}");
    assert_eq!(csv_row(&scaling::csv_table(&results), "dfpn,6x6,tuned,2,").last(), Some(&""));
}

#[test]
fn a_busy_machine_is_named() {
    let mut lines = made_up();
    assert!(!scaling::markdown(&results(&lines)).contains("busy with other work during"));
    lines[1] = lines[1].replace("\"load_before\":0.5", "\"load_before\":17.5");
    assert!(scaling::markdown(&results(&lines)).contains("busy with other work during"));
}

#[test]
fn the_figure() {
    for lines in [made_up(), Vec::new()] {
        let svg = scaling_chart::svg(&results(&lines)).unwrap();
        assert!(svg.ends_with("</svg>\n"));
        for label in ["Speed-up", "df-pn", "PN²", "12", "16", "here, 7x7, tuned"] {
            assert!(svg.contains(&format!("\n{label}\n")), "{label}: {svg}");
        }
    }
}
