//! The verbs on databases: every flag, the JSON, exit codes, bad input, damaged
//! files, signals and builds that are killed.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::common::{Place, code, keys, one_object, signal, stderr, stdout, words};

fn build(place: &Place, args: &[&str]) -> Value {
    place.json(&[&["builddb"], args, &["--json", "--quiet"]].concat(), 0)
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).expect("a directory");
    let file = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, fs::read(entry.path()).expect("a file"))
    };
    entries.map(file).collect()
}

/// Changes a bit in every sixteenth byte of the compressed values of a layer file, and nothing in
/// its header, index and footer.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).expect("a file");
    let footer = bytes.len() - 40;
    let index = u64::from_le_bytes(bytes[footer..footer + 8].try_into().expect("8 bytes")) as usize;
    assert!(index > 88, "{index}");
    bytes[88..index].iter_mut().step_by(16).for_each(|byte| *byte ^= 1);
    fs::write(path, bytes).expect("the file is written");
}

#[test]
fn the_distance_to_the_end_is_built_probed_and_verified() {
    let place = Place::new();
    build(&place, &["4x4"]);
    let value = build(&place, &["4x4", "--metric", "remoteness"]);
    assert_eq!(value["metric"], "remoteness");
    assert!(value["directory"].as_str().unwrap().ends_with("4x4-complete-remoteness"));
    let histogram = &value["histogram"];
    assert_eq!(keys(histogram), ["black", "white"]);
    let numbers: Vec<u64> =
        histogram["black"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert_eq!(numbers.iter().sum::<u64>(), 1 << 16);
    assert_eq!(numbers.iter().skip(1).step_by(2).sum::<u64>(), 33_547);
    assert_eq!(numbers.len(), 13);

    // Both are there: the one that knows more is asked.
    let value = place.json(&["probe", "4x4", "--moves", "a4 a3", "--json"], 0);
    assert_eq!(keys(&value), ["board", "moves", "outcome", "position", "remoteness", "to_move"]);
    assert_eq!(keys(&value["moves"][0]), ["move", "outcome", "remoteness"]);
    let plies = value["remoteness"].as_u64().unwrap();
    assert_eq!(value["outcome"] == "win", plies % 2 == 1);
    assert_eq!(value["moves"][0]["remoteness"].as_u64(), Some(plies - 1));
    let text = stdout(&place.run(&["probe", "4x4", "--moves", "a4 a3"]));
    let verb = if plies % 2 == 1 { "wins" } else { "loses" };
    assert!(text.contains(&format!("Black {verb} in {plies}\n")), "{text}");
    let solved = place.json(&["solve", "4x4", "--moves", "a4 a3", "--db", "db", "--json"], 0);
    assert_eq!(value["outcome"] == "win", solved["outcome"] == "black");

    let directory = "db/4x4-complete-remoteness";
    let value = place.json(&["verifydb", directory, "--deep", "--json", "--quiet"], 0);
    assert_eq!((&value["valid"], &value["metric"]), (&true.into(), &"remoteness".into()));
    let refused = ["builddb", "4x4", "--metric", "remoteness", "--scope", "reachable"];
    let output = place.run(&refused);
    let error = stderr(&output);
    assert_eq!(code(&output), 2);
    assert!(error.contains("metric outcome only"), "{error}");
}

#[test]
fn a_database_is_built_probed_and_verified() {
    let place = Place::new();
    let value = build(&place, &["4x4"]);
    assert_eq!(
        keys(&value),
        [
            "black_to_move_wins",
            "board",
            "bytes",
            "directory",
            "max_stones",
            "metric",
            "peak_memory_bytes",
            "positions",
            "scope",
            "seconds",
            "white_to_move_wins"
        ]
    );
    assert_eq!(value["board"], "4x4");
    assert_eq!(value["scope"], "complete");
    assert_eq!(value["positions"], 2 << 16);
    assert_eq!(value["black_to_move_wins"], 33_547);
    assert_eq!(value["white_to_move_wins"], 33_547);
    let directory = place.path("db/4x4-complete");
    let layers = files(&directory).into_iter().filter(|(name, _)| name.ends_with(".kdb"));
    assert_eq!(value["bytes"], layers.map(|(_, bytes)| bytes.len() as u64).sum::<u64>());

    let value = place.json(&["probe", "4x4", "--moves", "b3 b4", "--json"], 0);
    assert_eq!(keys(&value), ["board", "moves", "outcome", "position", "to_move"]);
    assert_eq!(value["position"], "x1xo/o1ox/xoxo/oxox b");
    assert_eq!(value["to_move"], "black");
    let solved = place.json(&["solve", "4x4", "--moves", "b3 b4", "--json"], 0);
    assert_eq!(value["outcome"] == "win", solved["outcome"] == "black");
    assert_eq!(keys(&value["moves"][0]), ["move", "outcome"]);

    // The start; text and JSON, by moves and by position.
    let start = "xoxo/oxox/xoxo/oxox b";
    let value = place.json(&["probe", "4x4", "--position", start, "--json"], 0);
    assert_eq!(value, place.json(&["probe", "4x4", "--moves", "", "--json"], 0));
    assert_eq!(value["outcome"], "loss");
    assert_eq!(value["moves"].as_array().expect("moves").len(), 4);
    let text = stdout(&place.run(&["probe", "4x4", "--moves", "b3"]));
    assert!(
        text.starts_with("4x4, White to move\n  position    xoxo/o1ox/xoxo/oxox w\n"),
        "{text}"
    );
    assert!(text.contains("\n  winner      White\n  winning     "), "{text}");
    let text = stdout(&place.run(&["probe", "4x4", "--position", "4/4/4/4 b"]));
    assert!(text.contains("none: Black cannot move"), "{text}");

    for deep in [false, true] {
        let flags: &[&str] = if deep { &["--deep", "--threads", "1"] } else { &[] };
        let args = [&["verifydb", "db/4x4-complete", "--json", "--quiet"], flags].concat();
        let value = place.json(&args, 0);
        assert_eq!(value["valid"], true);
        assert_eq!(value["deep"], deep);
        assert_eq!(value["positions"], 2 << 16);
        assert_eq!(value["board"], "4x4");
    }
    let output = place.run(&["verifydb", "db/4x4-complete", "--deep"]);
    assert!(stdout(&output).contains("valid       yes"));
    assert!(stderr(&output).contains("7 stones"), "progress by layers");
}

#[test]
fn outcomes_of_moves_are_those_of_the_positions_after_them() {
    let place = Place::new();
    build(&place, &["3x5"]);
    let mut stack = vec![String::new()];
    let mut probed = 0;
    while let Some(moves) = stack.pop() {
        let value = place.json(&["probe", "3x5", "--moves", &moves, "--json"], 0);
        let listed = value["moves"].as_array().expect("moves");
        let outcomes: Vec<&str> =
            listed.iter().map(|rated| rated["outcome"].as_str().expect("text")).collect();
        assert!(outcomes.is_sorted_by_key(|&outcome| outcome != "win"), "best first");
        let best = outcomes.first().copied().unwrap_or("loss");
        assert_eq!(value["outcome"], best);
        for rated in listed.iter().take(3) {
            let line = format!("{moves} {}", rated["move"].as_str().expect("text"));
            let after = place.json(&["probe", "3x5", "--moves", &line, "--json"], 0);
            let opposite = if rated["outcome"] == "win" { "loss" } else { "win" };
            assert_eq!(after["outcome"], opposite, "{line}");
            if probed < 60 {
                stack.push(line);
            }
            probed += 1;
        }
    }
    assert!(probed > 30);
}

#[test]
fn positions_from_stdin_are_answered_line_by_line() {
    let place = Place::new();
    build(&place, &["3x4", "--out", "elsewhere"]);
    let good = ["xoxo/oxox/xoxo b", "4/1x2/4 w", "  xo1o/ox1x/4 w  ", "4/4/4 b"];
    let input = format!(
        "{}\n\nrubbish\n{}\r\n{}\nxoxo/oxox/xoxo w\n{}",
        good[0], good[1], good[2], good[3]
    );
    for marker in [&[][..], &["-"], &["--position", "-"]] {
        let args = [&["probe", "3x4", "--db", "elsewhere", "--json"], marker].concat();
        let output = place.with_input(&args, &input);
        assert_eq!(code(&output), 2);
        let text = stdout(&output);
        assert_eq!(text.lines().count(), good.len());
        for (line, position) in text.lines().zip(good) {
            let value: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(value["position"], position.trim());
            let args = ["probe", "3x4", "--db", "elsewhere", "--json", "--position", position];
            assert_eq!(value, place.json(&args, 0));
        }
        let errors = stderr(&output);
        let errors: Vec<&str> = errors.lines().collect();
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors[0].starts_with("error: line 3: this position has 1 rank"), "{errors:?}");
        assert!(errors[1].starts_with("error: line 6: no stone has been removed"), "{errors:?}");
    }
    let output = place.with_input(&["probe", "3x4", "--db", "elsewhere"], "xoxo/oxox/xoxo b\n");
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    assert!(text.starts_with("xoxo/oxox/xoxo b: "), "{text}");
    assert_eq!(text.lines().count(), 1);
    let output = place.with_input(&["probe", "3x4", "--db", "elsewhere", "-"], "");
    assert_eq!((code(&output), stdout(&output)), (0, String::new()));
    let output =
        place.with_input(&["probe", "3x4", "--db", "elsewhere"], "4/1x2/4 b\n\u{fffd}\0\n");
    assert_eq!(code(&output), 2);
    assert_eq!(stdout(&output), "4/1x2/4 b: loss; no moves\n");
}

#[test]
fn many_lines_keep_their_order_and_a_reader_may_go_away() {
    let place = Place::new();
    build(&place, &["3x4"]);
    let ranks = ["4", "1o2", "xo2", "1ox1", "x3", "3o", "xoxo", "2xo"];
    let lines: Vec<String> = (0..20_000usize)
        .map(|number| {
            let (first, last) = (ranks[number % 8], ranks[number / 8 % 8]);
            format!("{first}/4/{last} {}", ["b", "w"][number % 7 / 4])
        })
        .collect();
    let input = lines.join("\n") + "\n";
    let output = place.with_input(&["probe", "3x4", "--json"], &input);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert_eq!(text.lines().count(), lines.len());
    let side = |line: &str| if line.ends_with('b') { "black" } else { "white" };
    for (answer, line) in text.lines().zip(&lines) {
        assert!(answer.contains(&format!("\"to_move\":\"{}\"", side(line))), "{line}: {answer}");
    }

    let mut child = place.command(&["probe", "3x4"]).stdin(Stdio::piped()).spawn().expect("runs");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || {
        // Ends when the program does.
        while stdin.write_all(input.as_bytes()).is_ok() {}
    });
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("no panic");
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
}

#[test]
fn bad_input_exits_with_2_and_says_what_is_wrong() {
    let place = Place::new();
    build(&place, &["7x7", "--max-stones", "3"]);
    build(&place, &["3x3"]);
    let few = "7/7/7/7/7/7/xo5 b";
    let cases: &[(&[&str], &[&str])] = &[
        (&["probe", "7x7", "--moves", ""], &["7x7 board", "at most 3 stones"]),
        (&["probe", "7x7", "--moves", "d4 d5"], &["at most 3 stones"]),
        (&["probe", "7x7", "--position", "nonsense"], &["--position", "1 rank"]),
        (&["probe", "7x7", "--moves", "d3"], &["--moves", "corner"]),
        (&["probe", "7x7", "--position", few, "--moves", "a7-c7"], &["--moves", "move 1"]),
        (&["probe", "7x7", "-", "--moves", ""], &["--moves"]),
        (&["probe", "7x7", "positions.txt"], &["positions.txt"]),
        (&["probe"], &["<RxF>"]),
        (&["probe", "3x4", "--db", "db/3x3-complete", "--moves", ""], &["3x3", "3x4"]),
        (&["builddb"], &["<RxF>"]),
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
        let output = place.run(args);
        let message = stderr(&output);
        assert_eq!(code(&output), 2, "{args:?}: {message}");
        assert_eq!(stdout(&output), "", "{args:?}");
        for part in *parts {
            assert!(message.contains(part), "{args:?}: no {part:?} in {message}");
        }
    }
    // On the same database, a position that it covers.
    let value = place.json(&["probe", "7x7", "--position", few, "--json"], 0);
    assert_eq!(value["outcome"], "win");
}

#[test]
fn missing_files_exit_with_4_and_are_named() {
    let place = Place::new();
    let cases: &[&[&str]] = &[
        &["probe", "4x4", "--moves", ""],
        &["probe", "4x4", "--db", "nowhere", "--moves", ""],
        &["probe", "4x4", "--db", "nowhere", "-"],
        &["solve", "4x4", "--db", "nowhere"],
        &["verifydb", "nowhere"],
    ];
    for args in cases {
        let output = place.run(args);
        let message = stderr(&output);
        assert_eq!(code(&output), 4, "{args:?}: {message}");
        assert_eq!(stdout(&output), "", "{args:?}");
        assert!(message.contains(if args.contains(&"nowhere") { "nowhere" } else { "db" }));
        assert!(message.contains("builddb"), "{message}");
    }
    build(&place, &["3x3"]);
    fs::remove_file(place.path("db/3x3-complete/stones-04.kdb")).expect("the file is there");
    for args in [&["probe", "3x3", "--moves", ""][..], &["verifydb", "db/3x3-complete"]] {
        let output = place.run(args);
        assert_eq!(code(&output), 4);
        assert!(stderr(&output).contains("stones-04.kdb"), "{}", stderr(&output));
    }
}

#[test]
fn the_plan_is_printed_and_nothing_is_written() {
    let place = Place::new();
    for flag in ["--plan", "--dry-run"] {
        let args = ["builddb", "7x7", "--max-stones", "10", flag, "--memory", "16GiB", "--json"];
        let value = place.json(&args, 0);
        assert_eq!(value["board"], "7x7");
        assert_eq!(value["max_stones"], 10);
        assert_eq!(value["finished"], false);
        assert_eq!(value["memory_limit"], 16u64 << 30);
        for key in ["memory_bytes", "disk_bytes", "disk_peak_bytes", "positions"] {
            assert!(value[key].as_u64().expect("a number") > 1 << 20, "{key}");
        }
        assert!(value["seconds"].as_f64().expect("a number") > 0.1);
        let text = stdout(&place.run(&["builddb", "4x4", flag]));
        for part in ["4x4, complete positions", "131,072", "memory", "disk", "time"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!place.path("db").exists());
    }
    // What does not fit is a limit, and the message says what would.
    let output = place.run(&["builddb", "8x8", "--max-stones", "20", "--memory", "1GiB"]);
    assert_eq!(code(&output), 3);
    assert_eq!(stdout(&output), "");
    let message = stderr(&output);
    assert!(message.contains("only 1.00 GiB of memory may be used"), "{message}");
    assert!(message.contains("--max-stones"), "{message}");
    assert!(!place.path("db").exists());
}

#[test]
fn a_finished_database_is_found_and_left_as_it_is() {
    let place = Place::new();
    let first = build(&place, &["4x4", "--threads", "1"]);
    let before = files(&place.path("db/4x4-complete"));
    let second = build(&place, &["4x4", "--threads", "2", "--memory", "1GiB"]);
    for key in ["positions", "black_to_move_wins", "white_to_move_wins", "bytes"] {
        assert_eq!(first[key], second[key], "{key}");
    }
    let output = place.run(&["builddb", "4x4"]);
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).contains("nothing to do"), "{}", stdout(&output));
    assert_eq!(before, files(&place.path("db/4x4-complete")));
    // The same bytes by any number of threads.
    build(&place, &["4x4", "--threads", "3", "--out", "other"]);
    assert_eq!(before, files(&place.path("other/4x4-complete")));
}

#[test]
fn a_damaged_file_is_named_and_gives_no_answer() {
    let place = Place::new();
    build(&place, &["4x4"]);
    damage(&place.path("db/4x4-complete/stones-13.kdb"));
    let output = place.run(&["verifydb", "db/4x4-complete", "--json", "--quiet"]);
    assert_eq!(code(&output), 4);
    let value = one_object(&stdout(&output));
    assert_eq!(value["valid"], false);
    let problem = value["problem"].as_str().expect("text");
    assert!(problem.contains("stones-13.kdb") && problem.contains("damaged"), "{problem}");
    assert!(problem.contains(" to move, won should be "), "{problem}");
    assert!(!problem.contains('{'), "{problem}");
    assert!(stderr(&output).contains("stones-13.kdb"));
    let output = place.run(&["verifydb", "db/4x4-complete", "--quiet"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (4, ""));

    // A position in the damaged layer: from the command line and among others.
    let position = "x2o/oxox/x1xo/oxox b";
    let output = place.run(&["probe", "4x4", "--position", position]);
    assert_eq!((code(&output), stdout(&output).as_str()), (4, ""));
    assert!(stderr(&output).contains("stones-13.kdb"));
    let input = format!("rubbish\n{position}\n4/1x2/4/4 b\n");
    let output = place.with_input(&["probe", "4x4"], &input);
    assert_eq!(code(&output), 4);
    assert_eq!(stdout(&output), "4/1x2/4/4 b: loss; no moves\n");
    assert!(stderr(&output).contains("line 2: "), "{}", stderr(&output));

    // In a search: no outcome, the reason, and the file.
    for algorithm in ["dfpn", "pns", "pn2", "ab"] {
        let args =
            ["solve", "4x4", "--db", "db", "--position", position, "--algo", algorithm, "--json"];
        let output = place.run(&args);
        assert_eq!(code(&output), 4);
        let value = one_object(&stdout(&output));
        assert_eq!(value["outcome"], "unknown", "{algorithm}");
        assert_eq!(value["reason"], "database error", "{algorithm}");
        assert!(stderr(&output).contains("stones-13.kdb"), "{}", stderr(&output));
    }
}

#[test]
fn solve_takes_values_from_a_database() {
    let place = Place::new();
    build(&place, &["4x5"]);
    build(&place, &["5x5", "--max-stones", "14"]);
    for algorithm in ["dfpn", "pns", "pn2", "ab"] {
        let args = ["solve", "4x5", "--algo", algorithm, "--json", "-m", "16MiB", "--db", "db"];
        let value = place.json(&args, 0);
        assert_eq!(value["outcome"], "white");
        assert!(value["database_hits"].as_u64() >= Some(1));
        assert_eq!(value["nodes"], 1, "{algorithm}");
        let value = place.json(&[&args[..], &["--moves", "a4"]].concat(), 0);
        assert_eq!(value["outcome"], "white");
        assert!(value["best_move"].is_string());

        // Leaves from the layers that there are.
        let args = ["solve", "5x5", "--algo", algorithm, "--json", "-m", "16MiB"];
        let plain = place.json(&args, 0);
        assert!(plain.get("database_hits").is_none());
        let value = place.json(&[&args[..], &["--db", "db/5x5-stones14"]].concat(), 0);
        assert_eq!(value["outcome"], plain["outcome"], "{algorithm}");
    }
    let args = ["solve", "5x5", "--json", "-m", "16MiB", "--profile", "thesis", "--db", "db"];
    let value = place.json(&args, 0);
    assert_eq!(value["outcome"], "black");
    assert!(value["database_hits"].as_u64() >= Some(1), "{value}");
    let text = stdout(&place.run(&["solve", "4x5", "--db", "db"]));
    assert!(text.contains("  database    1 value from db/4x5-complete\n"), "{text}");
}

/// A build that takes a moment, on one thread.
const LONG: [&str; 7] = ["builddb", "7x7", "--max-stones", "7", "--threads", "1", "--quiet"];

/// Waits until a file is there, or the program has ended.
fn wait_for(child: &mut Child, path: &Path) {
    let begun = Instant::now();
    while !path.exists() && child.try_wait().expect("a child").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(120), "no {}", path.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Interrupted by Ctrl-C, killed, and refused while another builds: the files are in the end those
/// of a build that nobody disturbed, and never before a database.
#[cfg(unix)]
#[test]
fn builds_that_end_early_go_on_and_leave_the_same_files() {
    let undisturbed = Place::new();
    assert_eq!(code(&undisturbed.run(&LONG)), 0);
    let expected = files(&undisturbed.path("db/7x7-stones7"));

    let place = Place::new();
    let directory = place.path("db/7x7-stones7");
    let (mut interrupted, mut killed, mut refused) = (0, 0, 0);
    for (layer, how) in
        [("stones-03.kdb", "-KILL"), ("stones-05.kdb", "-INT"), ("stones-06.kdb", "-KILL")]
    {
        let mut child = place.command(&[&LONG[..], &["--json"]].concat()).spawn().expect("runs");
        wait_for(&mut child, &directory.join(layer));
        let second = place.run(&LONG);
        if code(&second) == 4 {
            assert!(stderr(&second).contains("another program is building"));
            refused += 1;
        }
        if child.try_wait().expect("a child").is_none() {
            signal(&child, how);
        }
        let output = child.wait_with_output().expect("the program ends");
        match output.status.code() {
            None => killed += 1,
            Some(130) => {
                let value = one_object(&stdout(&output));
                assert_eq!(value["reason"], "interrupted");
                assert_eq!(value["positions"], Value::Null);
                interrupted += 1;
            }
            // The layer was there from before, and the second one came first.
            Some(4) => {
                assert!(stderr(&output).contains("another program is building"));
                refused += 1;
            }
            // It was done before the signal came.
            Some(other) => assert_eq!(other, 0, "{}", stderr(&output)),
        }
        if !directory.join("database.json").exists() {
            let output = place.run(&["probe", "7x7", "--position", "7/7/7/7/7/7/xo5 b"]);
            assert_eq!(code(&output), 4, "no database yet");
        }
    }
    assert!(interrupted + killed > 0 && refused > 0, "{interrupted} {killed} {refused}");
    let output = place.run(&LONG);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found = files(&directory);
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert!(found == expected, "other bytes");
}

#[cfg(unix)]
#[test]
fn an_interrupted_build_says_how_to_go_on() {
    let place = Place::new();
    let mut child = place.command(&LONG).spawn().expect("runs");
    wait_for(&mut child, &place.path("db/7x7-stones7/stones-06.kdb"));
    if child.try_wait().expect("a child").is_none() {
        signal(&child, "-INT");
    }
    let output = child.wait_with_output().expect("the program ends");
    if code(&output) == 130 {
        let text = stdout(&output);
        assert!(text.ends_with("interrupted: the same command goes on from here\n"), "{text}");
    } else {
        assert_eq!(code(&output), 0);
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_probing_while_it_waits_for_lines() {
    let place = Place::new();
    build(&place, &["3x4"]);
    let mut child = place.command(&["probe", "3x4"]).stdin(Stdio::piped()).spawn().expect("runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"4/4/4 b\n").expect("the program reads");
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "-INT");
    let begun = Instant::now();
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(code(&output), 130);
    assert_eq!(stdout(&output), "4/4/4 b: loss; no moves\n");
    assert!(begun.elapsed() < Duration::from_secs(20));
    drop(stdin);
}

#[test]
fn statespace_reproduces_the_published_table() {
    let place = Place::new();
    let table = include_str!("../data/statespace.csv");
    for board in ["4x4", "5x4"] {
        let value = place.json(&["statespace", board, "--json", "--quiet", "--threads", "1"], 0);
        assert_eq!(keys(&value), ["board", "plies", "seconds", "total"]);
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
    let output = place.run(&["statespace", "4x4"]);
    let text = stdout(&output);
    assert!(text.contains("\n   10              190               99               91"), "{text}");
    assert!(text.contains("\ntotal              978"), "{text}");
    assert!(stderr(&output).contains("ply 10: 190 positions"));
    let output = place.run(&["statespace", "7x7", "--json"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
    assert!(stderr(&output).contains("up to 36"), "{}", stderr(&output));
    let output = place.run(&["statespace", "6x6", "--memory", "1GiB"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (3, ""));
    let expected = "6x6 needs 10.7 GiB of memory, but 1.00 GiB may be used";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
}

/// At a limit there is an object as well, in which nothing is claimed.
#[test]
fn limits_leave_an_object_without_counts() {
    let place = Place::new();
    let output = place.run(&["statespace", "6x6", "--memory", "1GiB", "--json"]);
    assert_eq!(code(&output), 3);
    let value = one_object(&stdout(&output));
    assert_eq!(value["reason"], "memory limit");
    assert!(value["plies"].as_array().unwrap().is_empty() && value["total"].is_null(), "{value}");
    for flag in ["--quiet", "--plan"] {
        let output = place.run(&["builddb", "8x8", "--memory", "1GiB", "--json", flag]);
        assert_eq!(code(&output), 3);
        let value = one_object(&stdout(&output));
        assert_eq!(value["reason"], "memory limit");
        assert_eq!(value["directory"], "db/8x8-complete");
        for key in ["positions", "black_to_move_wins", "white_to_move_wins", "bytes"] {
            assert!(value[key].is_null(), "{value}");
        }
    }
    build(&place, &["3x3"]);
    let verify = ["verifydb", "db/3x3-complete", "--deep", "--json", "--quiet", "--memory"];
    let output = place.run(&[&verify[..], &["16"]].concat());
    assert_eq!(code(&output), 3);
    let value = one_object(&stdout(&output));
    assert!(value["valid"].is_null() && value["board"] == "3x3", "{value}");
    assert!(stderr(&output).contains("tip: --memory"), "{}", stderr(&output));
    place.json(&[&verify[..], &["1KiB"]].concat(), 0);
}

#[test]
fn probe_asks_for_what_was_forgotten() {
    let place = Place::new();
    build(&place, &["3x3"]);
    let output = place.run(&["probe", "3x3"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
    for part in ["--position", "--moves", "standard input"] {
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
    // An empty list that was asked for has an empty answer.
    let output = place.run(&["probe", "3x3", "-"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, ""));
    let output = place.with_input(&["probe", "3x3"], "xox/oxo/xox b\n");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let answer = stdout(&output);
    // Comments are no positions, and lines are counted with them.
    let list = "# The start:\n\n  # ..\nxox/oxo/xox b # first\nxox # short\n";
    let output = place.with_input(&["probe", "3x3", "-"], list);
    assert_eq!((code(&output), stdout(&output)), (2, answer));
    assert!(stderr(&output).starts_with("error: line 5: "), "{}", stderr(&output));
}

#[test]
fn the_examples_of_the_help_work() {
    let place = Place::new();
    let mut run = 0;
    for verb in ["builddb", "probe", "verifydb", "statespace"] {
        let help = stdout(&place.run(&[verb, "--help"]));
        for line in help.lines().filter_map(|line| line.strip_prefix("  konane ")) {
            let (line, input) = match line.split_once(" < ") {
                Some((line, _)) => (line, "xoxox/oxoxo/xoxox/oxoxo b\n"),
                None => (line, ""),
            };
            let args = words(line);
            let output = place.with_input(&args, input);
            assert_eq!(code(&output), 0, "{line}: {}", stderr(&output));
            run += 1;
        }
    }
    assert!(run >= 9, "{run} examples");
}
