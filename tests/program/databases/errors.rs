//! Requests without an answer: invalid input, missing or damaged files, and limits.

use std::fs;
use std::path::Path;
use std::process::Output;

use super::super::common::{TestDir, code, one_object, stderr, stdout, words};
use super::build;

/// Flips a bit in every sixteenth byte of the compressed values of a layer file. The header, index
/// and footer stay valid.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).expect("a file");
    let footer = bytes.len() - 40;
    let index = u64::from_le_bytes(bytes[footer..footer + 8].try_into().expect("8 bytes")) as usize;
    assert!(index > 88, "{index}");
    bytes[88..index].iter_mut().step_by(16).for_each(|byte| *byte ^= 1);
    fs::write(path, bytes).expect("the file is written");
}

#[test]
fn invalid_input_exits_with_2_and_a_reason() {
    let dir = TestDir::new();
    build(&dir, &["7x7", "--max-stones", "3"]);
    build(&dir, &["3x3"]);
    let few = "7/7/7/7/7/7/xo5 b";
    let cases: &[(&[&str], &[&str])] = &[
        (&["probe", "7x7", "--moves", ""], &["7x7 board", "at most 3 stones"]),
        (&["probe", "7x7", "--moves", "d4 d5"], &["at most 3 stones"]),
        (&["probe", "7x7", "--position", "nonsense"], &["--position", "1 rank"]),
        (&["probe", "7x7", "--moves", "d3"], &["--moves", "corner"]),
        (&["probe", "7x7", "--position", few, "--moves", "a7-c7"], &["--moves", "move 1"]),
        (&["probe", "7x7", "-", "--moves", ""], &["--moves"]),
        (&["probe", "7x7", "positions.txt"], &["positions.txt"]),
        (&["probe", "3x4", "--db", "db/3x3-complete", "--moves", ""], &["3x3", "3x4"]),
        (&["builddb", "9x9"], &["81 squares"]),
        (&["builddb", "4x4", "--scope", "all"], &["complete, reachable"]),
        (&["builddb", "4x4", "--scope", "reachable", "--max-stones", "3"], &["--max-stones"]),
        (&["builddb", "4x4", "--max-stones", "-1"], &["--max-stones", "0 to 64"]),
        (&["builddb", "4x4", "--max-stones", "65"], &["--max-stones", "0 to 64"]),
        (&["builddb", "4x4", "--memory", "lots"], &["--memory", "4GiB"]),
        (&["builddb", "4x4", "--threads", "0"], &["--threads", "1 to 1024"]),
        (&["verifydb"], &["<DIR>"]),
        (&["verifydb", "db/3x3-complete", "--threads", "0"], &["--threads", "1 to 1024"]),
    ];
    for (args, parts) in cases {
        let output = dir.run(args);
        let message = stderr(&output);
        assert_eq!(code(&output), 2, "{args:?}: {message}");
        assert_eq!(stdout(&output), "", "{args:?}");
        for part in *parts {
            assert!(message.contains(part), "{args:?}: no {part:?} in {message}");
        }
    }
    // A position that the same database covers.
    let value = dir.json(&["probe", "7x7", "--position", few, "--json"], 0);
    assert_eq!(value["outcome"], "win");
}

#[test]
fn missing_files_exit_with_4_and_are_named() {
    let dir = TestDir::new();
    let cases: &[&[&str]] = &[
        &["probe", "4x4", "--moves", ""],
        &["probe", "4x4", "--db", "nowhere", "--moves", ""],
        &["probe", "4x4", "--db", "nowhere", "-"],
        &["solve", "4x4", "--db", "nowhere"],
        &["verifydb", "nowhere"],
    ];
    for args in cases {
        let output = dir.run(args);
        let message = stderr(&output);
        assert_eq!(code(&output), 4, "{args:?}: {message}");
        assert_eq!(stdout(&output), "", "{args:?}");
        assert!(message.contains(if args.contains(&"nowhere") { "nowhere" } else { "db" }));
        assert!(message.contains("builddb"), "{message}");
    }
    build(&dir, &["3x3"]);
    fs::remove_file(dir.path("db/3x3-complete/stones-04.kdb")).expect("the file is there");
    for args in [&["probe", "3x3", "--moves", ""][..], &["verifydb", "db/3x3-complete"]] {
        let output = dir.run(args);
        assert_eq!(code(&output), 4);
        assert!(stderr(&output).contains("stones-04.kdb"), "{}", stderr(&output));
    }
}

#[test]
fn a_damaged_file_is_named_and_gives_no_answer() {
    let dir = TestDir::new();
    build(&dir, &["4x4"]);
    damage(&dir.path("db/4x4-complete/stones-13.kdb"));
    let output = dir.run(&["verifydb", "db/4x4-complete", "--json", "--quiet"]);
    assert_eq!(code(&output), 4);
    let value = one_object(&stdout(&output));
    assert_eq!(value["valid"], false);
    let problem = value["problem"].as_str().expect("text");
    assert!(problem.contains("stones-13.kdb") && problem.contains("damaged"), "{problem}");
    assert!(problem.contains(" to move, won should be "), "{problem}");
    assert!(!problem.contains('{'), "{problem}");
    assert!(stderr(&output).contains("stones-13.kdb"));
    let output = dir.run(&["verifydb", "db/4x4-complete", "--quiet"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (4, ""));

    // A position in the damaged layer, given on the command line and in a list.
    let position = "x2o/oxox/x1xo/oxox b";
    let output = dir.run(&["probe", "4x4", "--position", position]);
    assert_eq!((code(&output), stdout(&output).as_str()), (4, ""));
    assert!(stderr(&output).contains("stones-13.kdb"));
    let input = format!("rubbish\n{position}\n4/1x2/4/4 b\n");
    let output = dir.with_input(&["probe", "4x4"], &input);
    assert_eq!(code(&output), 4);
    assert_eq!(stdout(&output), "4/1x2/4/4 b: loss, class P; no moves\n");
    assert!(stderr(&output).contains("line 2: "), "{}", stderr(&output));

    // A search has no outcome and reports the reason and the file.
    for algorithm in ["dfpn", "pns", "pn2", "ab"] {
        let args =
            ["solve", "4x4", "--db", "db", "--position", position, "--algo", algorithm, "--json"];
        let output = dir.run(&args);
        assert_eq!(code(&output), 4);
        let value = one_object(&stdout(&output));
        assert_eq!(value["outcome"], "unknown", "{algorithm}");
        assert_eq!(value["reason"], "file error", "{algorithm}");
        assert!(stderr(&output).contains("stones-13.kdb"), "{}", stderr(&output));
    }
}

/// The winner is printed even if the values of the moves cannot be read.
#[test]
fn damage_found_during_the_search_for_lines_keeps_the_winner() {
    let dir = TestDir::new();
    build(&dir, &["4x4"]);
    damage(&dir.path("db/4x4-complete/stones-13.kdb"));
    let line = "solve 4x4 --moves b3,c3 --db db --lines --quiet";
    let output = dir.run(&words(line));
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    let text = stdout(&output);
    for part in ["  winner      White\n", "  database    1 value from db/4x4-complete\n"] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert!(stderr(&output).contains("stones-13.kdb"), "{}", stderr(&output));
    let output = dir.run(&words(&format!("{line} --json")));
    assert_eq!(code(&output), 4);
    let value = one_object(&stdout(&output));
    assert_eq!((&value["winner"], &value["database_hits"]), (&"white".into(), &1.into()));
    assert!(value.get("moves").is_none() && value.get("line").is_none(), "{value}");
}

/// The remedy printed for a damaged database works: after its directory is deleted, it can be
/// rebuilt.
#[test]
fn the_remedy_for_a_damaged_database_works() {
    let dir = TestDir::new();
    let remedy = "restore the file, or delete its directory and build the database again";
    for name in ["stones-13.kdb", "database.json"] {
        build(&dir, &["4x4"]);
        let path = dir.path("db/4x4-complete").join(name);
        if name == "database.json" {
            fs::write(path, "{").unwrap()
        } else {
            damage(&path)
        }
        let output = dir.run(&["verifydb", "db/4x4-complete", "--quiet"]);
        assert_eq!(code(&output), 4);
        let message = stderr(&output);
        assert!(message.contains(name) && message.trim_end().ends_with(remedy), "{message}");
        fs::remove_dir_all(dir.path("db/4x4-complete")).unwrap();
    }
    build(&dir, &["4x4"]);
    assert_eq!(code(&dir.run(&["verifydb", "db/4x4-complete", "--quiet"])), 0);
}

/// `verifydb` reports a missing or invalid layer as damage. Other versions and unreadable files
/// give no verdict.
#[test]
fn unreadable_databases_get_no_verdict() {
    let dir = TestDir::new();
    build(&dir, &["3x3"]);
    let directory = dir.path("db/3x3-complete");
    let (manifest, layer) = (directory.join("database.json"), directory.join("stones-04.kdb"));
    let whole = [&manifest, &layer].map(|path| fs::read(path).unwrap());
    let line = "verifydb db/3x3-complete --json --quiet";
    let verdict = |output: &Output| {
        let text = stdout(output);
        assert_eq!(code(output), 4, "{text}");
        assert!(stderr(output).contains("3x3-complete"), "{}", stderr(output));
        (!text.is_empty()).then(|| one_object(&text)["valid"].as_bool().expect("a verdict"))
    };
    let run = || verdict(&dir.run(&words(line)));
    fs::remove_file(&layer).unwrap();
    assert_eq!(run(), Some(false));
    fs::create_dir(&layer).unwrap();
    assert_eq!(run(), Some(false));
    fs::remove_dir(&layer).unwrap();
    fs::write(&layer, "something else").unwrap();
    assert_eq!(run(), Some(false));
    fs::write(&layer, &whole[1]).unwrap();
    let other = String::from_utf8_lossy(&whole[0]).replace("\"version\": 1", "\"version\": 9");
    fs::write(&manifest, other).unwrap();
    assert_eq!(run(), None);
    fs::write(&manifest, &whole[0]).unwrap();
    #[cfg(unix)]
    {
        let output = dir.shell(&format!("ulimit -n 5; exec konane {line}")).output().unwrap();
        assert_eq!(verdict(&output), None, "the limit of open files is too low");
    }
    assert_eq!(dir.json(&words(line), 0)["valid"], true);
}

#[test]
fn the_error_for_too_little_memory_states_the_required_memory() {
    let dir = TestDir::new();
    let planned = |line: &str, memory: &str| {
        let args = [&["builddb", "--plan", "--memory", memory], &words(line)[..]].concat();
        dir.run(&args)
    };
    for line in ["4x5", "6x6", "5x6 --metric remoteness", "7x7 --max-stones 9"] {
        let message = stderr(&planned(line, "1MiB"));
        let tip = message.split_once("tip: at least --memory ").expect("a tip").1;
        let least: u32 = tip.trim().strip_suffix("MiB").unwrap().parse().unwrap();
        assert_eq!(code(&planned(line, &format!("{least}MiB"))), 0, "{line}: {message}");
        assert_eq!(code(&planned(line, &format!("{}MiB", least - 1))), 3, "{line}: {message}");
    }
    // The message also suggests a smaller number of stones. This is the only remedy if no amount of
    // memory is enough.
    let message = stderr(&planned("6x7", "100MiB"));
    assert!(message.contains("MiB, or --max-stones 9"), "{message}");
    assert!(stderr(&planned("8x8", "1GiB")).ends_with("tip: --max-stones 8\n"));
}

#[test]
fn a_database_of_the_transposed_board_is_named() {
    let dir = TestDir::new();
    build(&dir, &["4x3"]);
    let named = "db/4x3-complete has the transposed board, 4x3";
    // Both ways to specify the directory, and a position that is not symmetric.
    for (db, exit) in [("db", 4), ("db/4x3-complete", 2)] {
        let output = dir.run(&["probe", "3x4", "--db", db, "--moves", "a3 b3"]);
        let message = stderr(&output);
        assert_eq!(code(&output), exit, "{message}");
        let tip = "tip: write 4x3 --position \"1ox/1xo/xox/oxo b\", with ranks";
        assert!(message.contains(named) && message.contains(tip), "{message}");
        let output = dir.with_input(&["probe", "3x4", "--db", db, "-"], "");
        assert!(stderr(&output).contains("tip: write 4x3, with ranks"), "{}", stderr(&output));
        let output = dir.run(&["solve", "3x4", "--db", db, "--moves", "a3 b3"]);
        assert!(stderr(&output).contains(tip), "{}", stderr(&output));
    }
    // Both are the same game.
    let outcome = |args: &[&str]| dir.json(&[args, &["--json"]].concat(), 0)["outcome"].take();
    let there = outcome(&["probe", "4x3", "--position", "1ox/1xo/xox/oxo b"]);
    build(&dir, &["3x4"]);
    assert_eq!(there, outcome(&["probe", "3x4", "--moves", "a3 b3"]));
}

/// At a limit the program still prints an object, with null in place of counts.
#[test]
fn limits_leave_an_object_without_counts() {
    let dir = TestDir::new();
    let output = dir.run(&["statespace", "6x6", "--memory", "1GiB", "--json"]);
    assert_eq!(code(&output), 3);
    let value = one_object(&stdout(&output));
    assert_eq!(value["reason"], "memory");
    assert!(value["plies"].as_array().unwrap().is_empty() && value["total"].is_null(), "{value}");
    for flag in ["--quiet", "--plan"] {
        let output = dir.run(&["builddb", "8x8", "--memory", "1GiB", "--json", flag]);
        assert_eq!(code(&output), 3);
        let value = one_object(&stdout(&output));
        assert_eq!(value["reason"], "memory");
        assert_eq!(value["directory"], "db/8x8-complete");
        for key in ["positions", "black_to_move_wins", "white_to_move_wins", "bytes"] {
            assert!(value[key].is_null(), "{value}");
        }
    }
    build(&dir, &["3x3"]);
    let verify = ["verifydb", "db/3x3-complete", "--deep", "--json", "--quiet", "--memory"];
    let output = dir.run(&[&verify[..], &["16"]].concat());
    assert_eq!(code(&output), 3);
    let value = one_object(&stdout(&output));
    assert!(value["valid"].is_null() && value["board"] == "3x3", "{value}");
    assert!(stderr(&output).contains("tip: --memory"), "{}", stderr(&output));
    dir.json(&[&verify[..], &["1KiB"]].concat(), 0);
}
