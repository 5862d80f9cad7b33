//! `builddb` and `verifydb`: complete databases, plans and metrics.

use super::super::common::{TestDir, code, stderr, stdout, words};
use super::{build, files};

#[test]
fn a_database_of_remoteness_is_built_probed_and_verified() {
    let dir = TestDir::new();
    build(&dir, &["4x4"]);
    let value = build(&dir, &["4x4", "--metric", "remoteness"]);
    assert_eq!(value["metric"], "remoteness");
    assert!(value["directory"].as_str().unwrap().ends_with("4x4-complete-remoteness"));
    let histogram = &value["histogram"];
    let numbers: Vec<u64> =
        histogram["black"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    // Of the positions with fewer than two empty squares, only those of games count.
    assert_eq!(numbers.iter().sum::<u64>(), (1 << 16) - 17 + 1);
    assert_eq!(numbers.iter().skip(1).step_by(2).sum::<u64>(), 33_541);
    assert_eq!(numbers.len(), 13);

    // Both databases exist: the one with remoteness is used.
    let value = dir.json(&["probe", "4x4", "--moves", "a4 a3", "--json"], 0);
    let plies = value["remoteness"].as_u64().unwrap();
    assert_eq!(value["outcome"] == "win", plies % 2 == 1);
    // The remoteness of a move counts the move: the best one has that of the position.
    let best = &value["moves"][0];
    assert_eq!(best["remoteness"].as_u64(), Some(plies));
    let analysed = dir.json(&["analyse", "4x4", "--moves", "a4 a3", "--db", "db", "--json"], 0);
    assert_eq!(analysed["moves"][0]["remoteness"].as_u64(), Some(plies));
    let text = stdout(&dir.run(&["probe", "4x4", "--moves", "a4 a3"]));
    let number = format!("{} ({plies})", best["move"].as_str().unwrap());
    assert!(text.contains(&number), "{text}");
    let winner = if plies % 2 == 1 { "Black" } else { "White" };
    assert!(text.contains(&format!("  winner      {winner}, in {plies} plies\n")), "{text}");
    let solved = dir.json(&["solve", "4x4", "--moves", "a4 a3", "--db", "db", "--json"], 0);
    assert_eq!(value["outcome"] == "win", solved["winner"] == "black");

    let directory = "db/4x4-complete-remoteness";
    let value = dir.json(&["verifydb", directory, "--deep", "--json", "--quiet"], 0);
    assert_eq!((&value["valid"], &value["metric"]), (&true.into(), &"remoteness".into()));
    let rejected = ["builddb", "4x4", "--metric", "remoteness", "--scope", "reachable"];
    let output = dir.run(&rejected);
    let error = stderr(&output);
    assert_eq!(code(&output), 2);
    assert!(error.contains("or metric outcome"), "{error}");
}

#[test]
fn outcome_classes_are_counted_without_files() {
    let dir = TestDir::new();
    let value = dir.json(&["builddb", "4x4", "--classes", "--json", "--quiet"], 0);
    let layers = value["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 17);
    for class in ["L", "R", "N", "P", "zugzwangs"] {
        let sum: u64 = layers.iter().map(|layer| layer[class].as_u64().unwrap()).sum();
        assert_eq!(value["total"][class], sum, "{class}");
    }
    let total = |class: &str| value["total"][class].as_u64().unwrap();
    assert_eq!([total("L") + total("N"), total("R") + total("N")], [33_547; 2]);
    let text = stdout(&dir.run(&["builddb", "4x4", "--classes"]));
    assert!(text.contains("\n total          20,520          20,520          13,027"), "{text}");
    assert!(!dir.path("db").exists(), "no database is written");

    // The last position that the text names is a zugzwang.
    let zugzwang = layers.iter().rev().find_map(|layer| layer["zugzwang"].as_str()).unwrap();
    assert!(text.contains(&format!("\nzugzwang with the most stones: {zugzwang}\n")), "{text}");
    for side in ["b", "w"] {
        let position = format!("{}{side}", zugzwang.strip_suffix('b').unwrap());
        let value = dir.json(&["value", "--position", &position, "--json"], 0);
        assert_eq!((&value["class"], &value["outcome"]), (&"P".into(), &"loss".into()));
        assert!(!value["moves"].as_array().unwrap().is_empty(), "{value}");
    }
}

#[test]
fn a_database_is_built_probed_and_verified() {
    let dir = TestDir::new();
    let value = build(&dir, &["4x4"]);
    assert_eq!(value["board"], "4x4");
    assert_eq!(value["scope"], "complete");
    assert_eq!(value["positions"], 2 << 16);
    assert_eq!(value["black_to_move_wins"], 33_547);
    assert_eq!(value["white_to_move_wins"], 33_547);
    let directory = dir.path("db/4x4-complete");
    let layers = files(&directory).into_iter().filter(|(name, _)| name.ends_with(".kdb"));
    assert_eq!(value["bytes"], layers.map(|(_, bytes)| bytes.len() as u64).sum::<u64>());

    // The parent directory of databases is not a database.
    let output = dir.run(&["verifydb", "db"]);
    assert_eq!(code(&output), 4);
    let tip = "tip: the directory contains these databases: db/4x4-complete\n";
    assert!(stderr(&output).ends_with(tip), "{}", stderr(&output));

    let value = dir.json(&["probe", "4x4", "--moves", "b3 b4", "--json"], 0);
    assert_eq!(value["position"], "x1xo/o1ox/xoxo/oxox b");
    assert_eq!(value["to_move"], "black");
    let solved = dir.json(&["solve", "4x4", "--moves", "b3 b4", "--json"], 0);
    assert_eq!(value["outcome"] == "win", solved["winner"] == "black");

    // The start position in text and JSON, given by moves and by position.
    let start = "xoxo/oxox/xoxo/oxox b";
    let value = dir.json(&["probe", "4x4", "--position", start, "--json"], 0);
    assert_eq!(value, dir.json(&["probe", "4x4", "--moves", "", "--json"], 0));
    assert_eq!(value["outcome"], "loss");
    assert_eq!(value["moves"].as_array().expect("moves").len(), 4);
    let text = stdout(&dir.run(&["probe", "4x4", "--moves", "b3"]));
    assert!(
        text.starts_with("4x4, White to move\n  position    xoxo/o1ox/xoxo/oxox w\n"),
        "{text}"
    );
    assert!(text.contains("\n  winner      White\n  winning     "), "{text}");
    let text = stdout(&dir.run(&["probe", "4x4", "--position", "4/4/4/4 b"]));
    assert!(text.contains("none: Black cannot move"), "{text}");

    let text = stdout(&dir.run(&["builddb", "--threads", "1"]));
    let rows: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    assert!(rows.len() == 10 && rows[0].starts_with("board  memory"), "{text}");
    assert!(rows[1].starts_with("4x4 ") && rows[1].ends_with("the database exists"), "{text}");
    assert!(text.contains("Estimates for --scope complete --metric outcome on 1 thread"), "{text}");
    let text = stdout(&dir.run(&["builddb", "--scope", "reachable"]));
    assert!(text.contains("\n6x6 ") && !text.contains("\n7x7 "), "{text}");
    let text = stdout(&dir.run(&["builddb", "--max-stones", "4", "--metric", "remoteness"]));
    assert!(text.contains("\n7x7 ") && text.contains("--max-stones 4 on "), "{text}");
    for deep in [false, true] {
        let flags: &[&str] = if deep { &["--deep", "--threads", "1"] } else { &[] };
        let args = [&["verifydb", "db/4x4-complete", "--json", "--quiet"], flags].concat();
        let value = dir.json(&args, 0);
        assert_eq!(value["valid"], true);
        assert_eq!(value["deep"], deep);
        assert_eq!(value["positions"], 2 << 16);
        assert_eq!(value["board"], "4x4");
    }
    let output = dir.run(&["verifydb", "db/4x4-complete", "--deep"]);
    assert!(stdout(&output).contains("valid       yes"));
    assert_eq!(stderr(&output), "", "no progress of a short run");
}

#[test]
fn the_plan_is_printed_and_nothing_is_written() {
    let dir = TestDir::new();
    let line = "builddb 7x7 --max-stones 10 --plan --memory 16GiB --json";
    let value = dir.json(&words(line), 0);
    assert_eq!((&value["max_stones"], &value["finished"]), (&10.into(), &false.into()));
    assert_eq!(value["memory_limit"], 16u64 << 30);
    for key in ["memory_bytes", "disk_bytes", "disk_peak_bytes", "positions"] {
        assert!(value[key].as_u64().expect("a number") > 1 << 20, "{key}");
    }
    for flag in ["--plan", "--dry-run"] {
        let text = stdout(&dir.run(&["builddb", "4x4", flag]));
        for part in ["4x4, complete positions", "131,072", "memory", "disk", "time"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!dir.path("db").exists());
    }
    // A plan that does not fit exits with the code for limits, and the message suggests one that
    // fits.
    let output = dir.run(&["builddb", "8x8", "--max-stones", "20", "--memory", "1GiB"]);
    assert_eq!(code(&output), 3);
    assert_eq!(stdout(&output), "");
    let message = stderr(&output);
    assert!(message.contains("only 1 GiB of memory may be used"), "{message}");
    assert!(message.contains("--max-stones"), "{message}");
    assert!(!dir.path("db").exists());
}

#[test]
fn a_finished_database_is_not_rebuilt() {
    let dir = TestDir::new();
    let first = build(&dir, &["4x4", "--threads", "1"]);
    let before = files(&dir.path("db/4x4-complete"));
    let second = build(&dir, &["4x4", "--threads", "2", "--memory", "1GiB"]);
    for key in ["positions", "black_to_move_wins", "white_to_move_wins", "bytes"] {
        assert_eq!(first[key], second[key], "{key}");
    }
    let output = dir.run(&["builddb", "4x4"]);
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).contains("nothing to do"), "{}", stdout(&output));
    assert_eq!(before, files(&dir.path("db/4x4-complete")));
    // The bytes do not depend on the number of threads.
    build(&dir, &["4x4", "--threads", "3", "--out", "other"]);
    assert_eq!(before, files(&dir.path("other/4x4-complete")));
}
