//! The committed results: the pages and tables are those that the code makes of them, and another
//! algorithm finds the winners of the easier boards again.

use std::fs;

use konane::konane::{Algorithm, Board, Dimensions, Position, SolveOptions, Verdict, solve};
use konane::search::control::Limits;

use crate::records::{Record, Results, parse};
use crate::{chart, report, scaling, scaling_chart, tables, winners, winners_chart};

fn read(path: &str) -> String {
    let path = format!("{}/docs/{path}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn records(name: &str) -> Vec<Record> {
    parse(&read(&format!("benchmarks/{name}.jsonl"))).expect("records")
}

/// Compares files with what they should be; does not print whole files.
fn same(files: &[(&str, String)]) {
    for (path, expected) in files {
        let is = read(path);
        let differs = is.lines().zip(expected.lines()).find(|(is, should)| is != should);
        assert_eq!(differs, None, "docs/{path}: make the reports again");
        assert_eq!(is.len(), expected.len(), "docs/{path}: make the reports again");
    }
}

#[test]
fn the_pages_are_those_of_the_results() {
    let results = Results::new(records("results"));
    same(&[
        ("benchmarks.md", report::markdown(&results)),
        ("benchmarks/algorithms.svg", chart::svg(&results).unwrap()),
        ("benchmarks/table-4.2.csv", tables::table_4_2(&results)),
        ("benchmarks/table-4.4.csv", tables::table_4_4(&results)),
    ]);
    let results = Results::new(records("scaling"));
    same(&[
        ("benchmarks/scaling.md", scaling::markdown(&results)),
        ("benchmarks/scaling.csv", scaling::csv_table(&results)),
        ("benchmarks/scaling.svg", scaling_chart::svg(&results).unwrap()),
    ]);
    let rows = winners::rows(&records("winners")).unwrap();
    same(&[
        ("winners.md", winners::markdown(&rows)),
        ("benchmarks/winners.csv", winners::csv_table(&rows)),
        ("benchmarks/winners.svg", winners_chart::svg(&rows).unwrap()),
    ]);
}

#[test]
fn another_algorithm_finds_the_same_winners() {
    let mut checked = 0;
    for row in winners::rows(&records("winners")).unwrap() {
        let Some(expected) = row.winner() else {
            continue;
        };
        if row.search.as_ref().unwrap().result.total_nodes() > 1000 {
            continue;
        }
        // The board turned over the diagonal.
        let board = Board::new(Dimensions::new(row.files, row.ranks).unwrap());
        let options = SolveOptions {
            algorithm: Algorithm::Pns,
            memory_bytes: 64 << 20,
            ..SolveOptions::default()
        };
        let start = Position::start(&board);
        let solution = solve(&board, &start, &options, Limits::default(), &mut ()).unwrap();
        let Verdict::Winner(colour) = solution.verdict else {
            panic!("{}: {:?}", row.board(), solution.verdict);
        };
        assert_eq!(colour.name(), expected, "{}", row.board());
        checked += 1;
    }
    assert!(checked > 90, "only {checked} boards are easy");
}
