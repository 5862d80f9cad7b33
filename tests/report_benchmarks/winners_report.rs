//! The report of winners from made-up results.

use serde_json::Value;

use crate::records::{Record, parse};
use crate::winners::{Row, csv_table, markdown, ranges, rows};
use crate::{csv_row, line, line_with, solved, winners_chart};

fn won(board: &str, winner: &str) -> String {
    let mut result = solved(board, "dfpn", "tuned", 1234, 0.5);
    result["outcome"] = winner.into();
    result["settle_positions"] = 77.into();
    line(&format!("solve {board} --algo dfpn"), 1, result)
}

fn gave_up(board: &str, nodes: u64) -> String {
    let mut result = solved(board, "dfpn", "tuned", nodes, 2.5);
    for (name, value) in [
        ("outcome", Value::from("unknown")),
        ("reason", "node limit".into()),
        ("pn", 12_345.into()),
        ("dn", 678.into()),
    ] {
        result[name] = value;
    }
    let text = line(&format!("solve {board} --algo dfpn"), 1, result);
    let mut record: Value = serde_json::from_str(&text).unwrap();
    record["max_nodes"] = nodes.into();
    record["time_limit"] = "20m".into();
    format!("{record}\n")
}

fn records(lines: &[String]) -> Vec<Record> {
    parse(&lines.concat()).expect("records")
}

fn row(rows: &[Row], board: &str) -> Row {
    rows.iter().find(|row| row.board() == board).expect("the board").clone()
}

#[test]
fn every_board_has_a_row() {
    let rows = rows(&[]).unwrap();
    assert_eq!(rows.len(), 144);
    // With FxR these are all boards of up to 64 squares.
    let both = rows.iter().map(|row| if row.ranks == row.files { 1 } else { 2 }).sum::<u32>();
    let expected: u32 = (1..=64u32).map(|ranks| 64 / ranks).sum();
    assert_eq!(both, expected);
    assert!(rows.is_sorted_by_key(|row| (row.ranks * row.files, row.ranks)));
    assert_eq!(row(&rows, "6x6").published, Some("white"));
    assert_eq!((row(&rows, "7x8").published, row(&rows, "8x8").published), (None, None));
}

/// The thesis' winners of RxF and FxR are the same, so one of them stands for both.
#[test]
fn published_winners_are_those_of_the_turned_boards() {
    use crate::published::winner;
    for ranks in 1..=8 {
        for files in 1..=8 {
            let here = winner(&format!("{ranks}x{files}"));
            assert_eq!(here, winner(&format!("{files}x{ranks}")), "{ranks}x{files}");
            assert_eq!(here.is_none(), ranks.min(files) >= 7 && ranks * files > 49);
        }
    }
}

#[test]
fn what_counts_of_several_searches() {
    let lines = [gave_up("6x7", 900), won("7x6", "white"), gave_up("6x7", 5000)];
    let rows_ = rows(&records(&lines)).unwrap();
    let found = row(&rows_, "6x7");
    assert_eq!((found.winner(), found.is_new()), (Some("white"), false));

    let rows_ = rows(&records(&[gave_up("8x8", 5000), gave_up("8x8", 900)])).unwrap();
    let unsolved = row(&rows_, "8x8");
    assert_eq!((unsolved.winner(), unsolved.is_new()), (None, false));
    assert_eq!(unsolved.search.expect("a search").result.total_nodes(), 5000);

    let error = rows(&records(&[won("6x7", "white"), won("7x6", "black")])).unwrap_err();
    assert!(error.contains("solve 6x7") && error.contains("solve 7x6"), "{error}");
    let error = rows(&records(&[won("9x8", "white")])).unwrap_err();
    assert!(error.contains("solve 9x8"), "{error}");
}

#[test]
fn the_page_and_the_table() {
    let lines =
        [won("1x5", "black"), won("6x6", "white"), won("4x16", "white"), gave_up("7x8", 900)];
    let rows = rows(&records(&lines)).unwrap();
    let text = markdown(&rows);
    assert!(
        text.contains("Of the 144 boards (those with FxR not counted apart), 3 are solved, 1 of")
    );
    assert!(text.contains("All 2 winners that the thesis has as well agree with it."));
    assert!(text.contains("not solved here: 1x1, "), "{text}");
    let grid: Vec<&str> = line_with(&text, "| **6** |").split(" | ").collect();
    assert_eq!(grid.len(), 9);
    assert!(grid[6] == "White" && grid[7] == "?", "{grid:?}");
    assert!(line_with(&text, "| **5** | Black |").ends_with("| ? | ? |"));
    let new = line_with(&text, "| 4x16 |");
    assert!(
        new.starts_with("| 4x16 | **White** | new | 1,234 | 77 | 0.500 s | – | dfpn |"),
        "{new}"
    );
    let limit = line_with(&text, "| 7x8 |");
    assert!(
        limit.starts_with("| 7x8 | 20m, 900 nodes | node limit | 900 | 2.50 s | 12,345 | 678 |")
    );
    let sides = line_with(&text, "| 4 | 4–16 |");
    assert_eq!(sides, "| 4 | 4–16 | – | 16 | 4–15 |");
    assert!(text.contains("\n## Not tried\n"));

    let csv = csv_table(&rows);
    assert_eq!(csv.lines().count(), 145);
    let expected =
        ["64", "white", "unknown", "yes", "dfpn", "", "1234", "77", "0.5", "", "8388608"];
    assert_eq!(csv_row(&csv, "4x16,")[1..12], expected);
    let unsolved = csv_row(&csv, "7x8,");
    assert_eq!(unsolved[2..5], ["unknown", "unknown", "no"]);
    assert_eq!(unsolved[12..], ["node limit", "12345", "678"]);
}

#[test]
fn winners_that_differ_from_the_thesis_are_named() {
    let text = markdown(&rows(&records(&[won("6x6", "black")])).unwrap());
    assert!(text.contains("**Winners that differ from the thesis:** 6x6."));
    assert!(line_with(&text, "| 6x6 |").starts_with("| 6x6 | Black | **another** |"));
}

#[test]
fn numbers_in_ranges() {
    assert_eq!(ranges(&[]), "–");
    assert_eq!(ranges(&[7]), "7");
    assert_eq!(ranges(&[1, 2, 4, 5, 6, 9]), "1, 2, 4–6, 9");
}

#[test]
fn the_figure_has_a_cell_for_each_board() {
    let rows = rows(&records(&[won("1x5", "black"), won("4x16", "white")])).unwrap();
    let svg = winners_chart::svg(&rows).unwrap();
    assert!(svg.ends_with("</svg>\n"));
    // Background, 8 x 8 boards, 144 boards and 4 in the legend; each cell is drawn twice.
    assert_eq!(svg.matches("<rect ").count(), 1 + 2 * (64 + 144 + 4));
    // One new winner, which stands only among the long boards, and one in the legend.
    assert_eq!(svg.matches("<circle ").count(), 2);
}
