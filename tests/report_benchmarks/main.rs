//! The reports: reading and grouping raw results, numbers as text, whole reports and their figures
//! from made-up results, and the command lines of the scripts.

#[path = "../../examples/report_benchmarks/chart.rs"]
mod chart;
#[path = "../../examples/report_benchmarks/draw.rs"]
mod draw;
#[path = "../../examples/report_benchmarks/published.rs"]
mod published;
#[path = "../../examples/report_benchmarks/records.rs"]
mod records;
#[path = "../../examples/report_benchmarks/report.rs"]
mod report;
#[path = "../../examples/report_benchmarks/scaling.rs"]
mod scaling;
#[path = "../../examples/report_benchmarks/scaling_chart.rs"]
mod scaling_chart;
#[path = "../../examples/report_benchmarks/tables.rs"]
mod tables;
#[path = "../../examples/report_benchmarks/text.rs"]
mod text;
#[path = "../../examples/report_benchmarks/winners.rs"]
mod winners;
#[path = "../../examples/report_benchmarks/winners_chart.rs"]
mod winners_chart;

mod committed;
#[cfg(target_os = "linux")]
mod resuming;
mod scaling_report;
#[cfg(target_os = "linux")]
mod scripts;
mod transpose;
mod winners_report;

use records::{Nodes, Results, median, parse};
use serde_json::{Value, json};

/// A line of raw results, as the script writes it.
fn line(args: &str, run: u32, result: Value) -> String {
    line_of(60381996, args, run, result)
}

fn line_of(signature: u64, args: &str, run: u32, result: Value) -> String {
    let record = json!({
        "args": args, "signature": signature, "cpu": "some processor", "run": run,
        "time_limit": null, "command": format!("konane {args} --json"), "exit_code": 0,
        "wall_seconds": 0.25, "peak_rss_bytes": 8 << 20, "load_before": 0.5,
        "date": format!("2025-01-0{}T12:00:00Z", run.min(9)), "commit": "0123456789ab", "cores": 2,
        "result": result,
    });
    format!("{record}\n")
}

fn solved(board: &str, algorithm: &str, profile: &str, nodes: u64, seconds: f64) -> Value {
    json!({
        "board": board, "algorithm": algorithm, "profile": profile, "outcome": "white",
        "nodes": nodes, "seconds": seconds, "memory_bytes": 1 << 30,
    })
}

fn unfinished(seconds: f64) -> Value {
    let mut result = solved("6x6", "ab", "thesis", 1000, seconds);
    result["outcome"] = "unknown".into();
    result["reason"] = "time limit".into();
    result
}

fn results(lines: &[String]) -> Results {
    Results::new(parse(&lines.concat()).expect("records"))
}

#[test]
fn medians() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[3.0]), Some(3.0));
    assert_eq!(median(&[4.0, 1.0]), Some(2.5));
    assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[5.0, 1.0, 4.0, 2.0]), Some(3.0));
}

#[test]
fn lines_are_read_and_bad_ones_named() {
    let perft = json!({"board": "8x8", "depth": 2, "nodes": [4, 12], "seconds": 0.5});
    let unique = json!({"board": "5x5", "unique": [2, 2, 3], "symmetry": true, "seconds": 0.5});
    let good = [
        line("perft 8x8 2", 1, perft),
        "\n".to_string(),
        line("perft 5x5 3 --unique", 1, unique),
        line("solve 6x6", 1, solved("6x6", "dfpn", "tuned", 250_000, 0.125)),
    ];
    let records = parse(&good.concat()).unwrap();
    let answers: Vec<_> = records.iter().map(|record| &record.result).collect();
    assert_eq!(answers[0].nodes, Nodes::ByPly(vec![4, 12]));
    assert_eq!(answers[1].nodes, Nodes::None);
    assert_eq!(answers[2].nodes, Nodes::Total(250_000));
    let totals: Vec<u64> = answers.iter().map(|answer| answer.total_nodes()).collect();
    assert_eq!(totals, [16, 7, 250_000]);

    let torn = good.concat() + "{\"args\":\"solve";
    let error = parse(&torn).unwrap_err();
    assert!(error.starts_with("line 5: "), "{error}");
}

#[test]
fn runs_are_grouped_by_arguments() {
    let solve = |run, seconds| line("solve", run, solved("5x5", "pns", "tuned", 100, seconds));
    let other = line("other", 1, solved("5x5", "pn2", "tuned", 7, 1.0));
    let results = results(&[solve(1, 4.0), other, solve(2, 1.0), solve(3, 2.0)]);
    assert_eq!(results.groups().len(), 2);
    let group = results.solve("5x5", "pns", "tuned").expect("a group");
    assert_eq!(group.records.len(), 3);
    assert_eq!(group.seconds(), 2.0);
    assert_eq!(group.range(), (1.0, 4.0));
    assert_eq!((group.nodes(), group.nodes_per_second()), (100, 50.0));
    assert_eq!(group.peak_bytes(), Some(f64::from(8 << 20)));
    assert_eq!(results.with_args("other").expect("a group").nodes(), 7);
    assert!(results.solve("5x5", "pns", "thesis").is_none());
}

#[test]
fn the_latest_program_counts_and_a_repeated_run_once() {
    let of = |signature, run, seconds| {
        line_of(signature, "solve", run, solved("5x5", "pns", "tuned", 100, seconds))
    };
    let results = results(&[of(1, 1, 9.0), of(1, 2, 9.0), of(2, 1, 3.0), of(2, 1, 5.0)]);
    let group = results.with_args("solve").expect("a group");
    assert_eq!((group.records.len(), group.seconds()), (1, 5.0));
    assert_eq!(group.last().signature, 2);
}

#[test]
fn a_finished_run_counts_before_an_unfinished_one() {
    let long = |result| line("long", 1, result);
    let finished = || long(solved("6x6", "ab", "thesis", 5000, 70.0));
    for lines in [[long(unfinished(60.0)), finished()], [finished(), long(unfinished(60.0))]] {
        let results = results(&lines);
        let group = results.with_args("long").expect("a group");
        assert!(!group.is_unfinished());
        assert_eq!((group.records.len(), group.seconds()), (1, 70.0));
    }
}

#[test]
fn numbers_as_text() {
    assert_eq!(text::figures(0.0), "0.00000");
    assert_eq!(text::figures(0.0123), "0.0123");
    assert_eq!(text::figures(0.1234), "0.123");
    assert_eq!(text::figures(9.996), "10.0");
    assert_eq!(text::figures(99.96), "100");
    assert_eq!(text::figures(1234.5), "1,235");
    assert_eq!(text::time(0.000_31), "0.310 ms");
    assert_eq!(text::time(0.25), "0.250 s");
    assert_eq!(text::time(4432.66), "4,433 s");
    assert_eq!(text::time(7200.0), "2.00 h");
    assert_eq!(text::cpu_time(0.0), "< 10 ms");
    assert_eq!(text::cpu_time(0.01), "10.0 ms");
    assert_eq!(text::short(999.0), "999");
    assert_eq!(text::short(1_234_567.0), "1.23 M");
    assert_eq!(text::short(2.57e9), "2.57 G");
    assert_eq!(text::bytes(f64::from(36 << 20)), "36.0 MiB");
    assert_eq!(text::bytes(f64::from(1 << 30)), "1.00 GiB");
    assert_eq!(text::cell(Some(0.25)), "0.25");
    assert_eq!(text::cell(Some(1200.0)), "1200");
    assert_eq!(text::cell(Some(1.0 / 3.0)), "0.333333");
    assert_eq!(text::cell(None), "");
    assert_eq!(text::csv(&["a", "b"], &[vec!["x".into(), String::new()]]), "a,b\nx,\n");
    assert_eq!(
        text::table(&["a", ">b"], &[vec!["x".into(), "1".into()]]),
        "| a | b |\n|---|---:|\n| x | 1 |\n"
    );
}

#[test]
fn published_tables() {
    let dfpn = published::search_6x6("dfpn").unwrap();
    assert_eq!((dfpn.seconds, dfpn.nodes.round()), (39.73, 46_360_000.0));
    assert_eq!(published::search_6x6("ab").unwrap().seconds, 4432.66);
    assert_eq!(published::search_6x6("mcts"), None);
    let squares = published::square_boards();
    assert_eq!(squares.len(), 7);
    assert_eq!((squares[5].board, squares[5].seconds), ("6x6", 6.63));
    assert_eq!(published::perft_8x8()[9].nodes, 51_883_544);
    let [with, without] = published::unique_5x5();
    assert_eq!((with.len(), with[9], without[9]), (10, 10_784, 86_132));
    let dfpn = published::scaling_6x6("dfpn");
    let on_two = published::Scaling { threads: 2, seconds: 33.86, speedup: 1.54, overhead: 0.95 };
    assert_eq!((dfpn.len(), dfpn[1]), (5, on_two));
    assert_eq!(published::scaling_6x6("pn2")[4].overhead, 2.84);
    assert!(published::scaling_6x6("pns").is_empty());
    assert_eq!(published::winner("6x6"), Some("white"));
    assert_eq!(published::winner("8x8"), None);
    assert_eq!(published::winner("99x1"), None);
}

/// The line of a text that begins with something.
fn line_with<'a>(text: &'a str, start: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}:\n{text}"))
}

#[test]
fn the_report_sets_results_beside_the_published_ones() {
    let lines = [
        line("a", 1, solved("6x6", "dfpn", "tuned", 463_600, 0.5)),
        line("b", 1, solved("6x6", "pns", "tuned", 300_000, 0.25)),
        line("c", 1, solved("6x6", "dfpn", "thesis", 4_636_000, 3.973)),
        line("d", 1, unfinished(7200.0)),
    ];
    let text = report::markdown(&results(&lines));
    assert!(line_with(&text, "| solve 6x6, df-pn |").ends_with("| 0.500 s | **no** |"));
    assert!(line_with(&text, "| solve 6x6, PNS |").ends_with("| 0.250 s | yes |"));
    assert!(line_with(&text, "| solve 6x6, α-β |").ends_with("| not run | not run |"));
    let unfinished = "| unfinished after 2.00 h (time limit) | unfinished |";
    assert!(line_with(&text, "| solve 6x6, α-β, thesis profile |").ends_with(unfinished));
    let expected = "|  | here, thesis | 4,636,000 | 10.0 × | 3.97 s | 10.0 × | 1.17 M | 8.00 MiB |";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("All winners found are those of the thesis' Figure 4.3 (1 boards)."));
    assert!(!text.contains("Rows with †"));
}

#[test]
fn the_report_names_what_disagrees_or_is_older() {
    let mut wrong = solved("6x6", "dfpn", "tuned", 1, 0.5);
    wrong["outcome"] = "black".into();
    let lines = [
        line_of(1, "wrong", 1, wrong),
        line_of(2, "solve", 2, solved("6x6", "pns", "tuned", 300_000, 0.25)),
    ];
    let text = report::markdown(&results(&lines));
    assert!(text.contains("**Winners that differ from the thesis:** `wrong`."));
    assert!(text.contains("Rows with †"));
    assert!(text.contains("| 0.500 s † |"));
}

#[test]
fn a_report_and_a_figure_without_results() {
    let none = results(&[]);
    let text = report::markdown(&none);
    assert!(text.contains("No results yet."));
    assert!(text.contains("| perft 8x8 10 | 0.100 s | not run | not run |"));
    assert!(chart::svg(&none).unwrap().ends_with("</svg>\n"));
}

#[test]
fn the_figure_shows_every_board_and_algorithm() {
    let lines: Vec<String> = [("4x4", 8, 0.0003), ("6x6", 250_000, 0.1), ("7x7", 21_000_000, 14.0)]
        .into_iter()
        .map(|(board, nodes, seconds)| {
            line(board, 1, solved(board, "dfpn", "tuned", nodes, seconds))
        })
        .collect();
    let svg = chart::svg(&results(&lines)).unwrap();
    assert!(svg.starts_with("<svg "));
    for label in ["df-pn", "PN²", "α-β", "4x4", "5x6", "7x7", "100 µs", "10,000 s", "100 M"] {
        assert!(svg.contains(&format!("\n{label}\n")), "{label}: {svg}");
    }
}

/// The cells of the row of a CSV that begins with something.
fn csv_row<'a>(csv: &'a str, start: &str) -> Vec<&'a str> {
    line_with(csv, start).split(',').collect()
}

#[test]
fn the_csv_tables_have_the_published_rows_and_ours() {
    let mut squares = solved("7x7", "pn2", "tuned", 2_000, 4.5);
    squares["l1_nodes"] = 500.into();
    squares["l2_nodes"] = 1_500.into();
    let results = results(&[
        line("a", 1, solved("6x6", "dfpn", "tuned", 463_600, 0.5)),
        line("b", 1, unfinished(7200.0)),
        line("c", 1, squares),
    ]);
    let table = tables::table_4_2(&results);
    assert_eq!(table.lines().count(), 1 + 4 * 3);
    let published = csv_row(&table, "pns,published,");
    assert_eq!(published[2..5], ["136830000", "70.96", "1928269"]);
    let ours = csv_row(&table, "dfpn,tuned,");
    assert_eq!(ours[2..], ["463600", "0.5", "927200", "8388608", "1", "white"]);
    assert_eq!(csv_row(&table, "ab,thesis,").last(), Some(&"time limit"));
    assert_eq!(csv_row(&table, "ab,tuned,")[2..], ["", "", "", "", "", "not run"]);

    let table = tables::table_4_4(&results);
    assert_eq!(table.lines().count(), 1 + 7 * 2);
    let published = csv_row(&table, "7x7,published,64,");
    assert_eq!(published[3..6], ["4596.03105", "33827638", "518131212527"]);
    let ours = csv_row(&table, "7x7,tuned,1,");
    assert_eq!(ours[3..], ["4.5", "500", "1500", "8388608", "1", "white"]);
}
