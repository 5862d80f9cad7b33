//! `statespace`.

use super::super::common::{TestDir, code, stderr, stdout};

#[test]
fn statespace_reproduces_the_published_table() {
    let dir = TestDir::new();
    let table = include_str!("../../data/statespace.csv");
    for board in ["3x3", "4x3", "4x4", "5x4", "5x5"] {
        let value = dir.json(&["statespace", board, "--json", "--quiet", "--threads", "1"], 0);
        let plies = value["plies"].as_array().expect("plies");
        let columns = ["ply", "unique", "black_wins", "white_wins", "terminals"];
        let mut compared = 0;
        for row in table.lines().filter_map(|row| row.strip_prefix(&format!("{board},"))) {
            let (ply, counts) = row.split_once(',').expect("a ply");
            let found = match ply.parse::<usize>() {
                Ok(ply) => &plies[ply],
                Err(_) => &value["total"],
            };
            for (column, count) in columns[1..].iter().zip(counts.split(',')) {
                assert_eq!(found[column].to_string(), count, "{board} {row}");
            }
            compared += 1;
        }
        assert_eq!(compared, plies.len() + 1, "{board}");
        for column in &columns[1..] {
            let sum: u64 = plies.iter().map(|ply| ply[column].as_u64().expect("a number")).sum();
            assert_eq!(value["total"][column], sum);
        }
    }
    let output = dir.run(&["statespace", "4x4"]);
    let text = stdout(&output);
    assert!(text.contains("\n   10              190               99               91"), "{text}");
    assert!(text.contains("\ntotal              978"), "{text}");
    assert_eq!(stderr(&output), "", "no progress of a short run");
    let output = dir.run(&["statespace", "7x7", "--json"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
    assert!(stderr(&output).contains("up to 36"), "{}", stderr(&output));
    let output = dir.run(&["statespace", "6x6", "--memory", "1GiB"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (3, ""));
    let expected = "6x6 needs 10.71 GiB of memory, but 1 GiB may be used";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
}
