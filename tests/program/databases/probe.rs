//! Database look-ups by `probe`, for one position and for many, and by `solve`.

use std::io::Write;
#[cfg(unix)]
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;

use konane::{Board, Position};
use serde_json::Value;

use super::super::common::{ROOT, TestDir, code, command, one_object, stderr, stdout, valid};
#[cfg(unix)]
use super::super::common::{ends_soon, signal};
use super::{build, files};

#[test]
fn outcomes_of_moves_match_the_positions_after_them() {
    let dir = TestDir::new();
    build(&dir, &["3x5"]);
    let mut stack = vec![String::new()];
    let mut probed = 0;
    while let Some(moves) = stack.pop() {
        let value = dir.json(&["probe", "3x5", "--moves", &moves, "--json"], 0);
        let listed = value["moves"].as_array().expect("moves");
        let outcomes: Vec<&str> =
            listed.iter().map(|rated| rated["outcome"].as_str().expect("text")).collect();
        assert!(outcomes.is_sorted_by_key(|&outcome| outcome != "win"), "best first");
        let best = outcomes.first().copied().unwrap_or("loss");
        assert_eq!(value["outcome"], best);
        for rated in listed.iter().take(3) {
            let line = format!("{moves} {}", rated["move"].as_str().expect("text"));
            let after = dir.json(&["probe", "3x5", "--moves", &line, "--json"], 0);
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
fn csv_has_the_columns_of_the_json() {
    let dir = TestDir::new();
    build(&dir, &["3x3", "--metric", "remoteness"]);
    let header = "position,winner,remoteness,winning,losing,class";
    let lines = "xox/oxo/xox b\nxox/o1o/xox w\nxox/oxo/x2 b\n";
    let text = stdout(&dir.with_input(&["probe", "3x3", "--csv", "-"], lines));
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!((rows[0], rows.len()), (header, 4), "{text}");
    assert!(rows[1].ends_with(',') && rows[3].ends_with(",P"), "{text}");
    for (row, position) in rows[1..].iter().zip(lines.lines()) {
        let json = dir.json(&["probe", "3x3", "--position", position, "--json"], 0);
        let moves = |outcome: &str| {
            let all = json["moves"].as_array().unwrap().iter();
            let moves = all.filter(|rated| rated["outcome"] == outcome);
            moves.map(|rated| rated["move"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
        };
        let (winner, plies) = (json["winner"].as_str().unwrap(), &json["remoteness"]);
        let class = json["class"].as_str().unwrap_or_default();
        let fields = [winner, &plies.to_string(), &moves("win"), &moves("loss"), class].join(",");
        assert_eq!(*row, format!("{position},{fields}"));
        let one = stdout(&dir.run(&["probe", "3x3", "--position", position, "--csv"]));
        assert_eq!(one, format!("{header}\n{row}\n"));
    }
}

#[test]
fn environment_variables_replace_defaults() {
    let dir = TestDir::new();
    build(&dir, &["3x3", "--out", "elsewhere"]);
    let run = |line: &str, variable: &str, value: &str| {
        let args: Vec<&str> = line.split(' ').collect();
        dir.command(&args).env(variable, value).output().unwrap()
    };
    let probe = "probe 3x3 --moves b2 --json";
    assert_eq!(code(&run(probe, "KONANE_DB", "")), 4);
    let found = one_object(&stdout(&run(probe, "KONANE_DB", "elsewhere")));
    assert_eq!(found["winner"], "white");
    // A search uses the database if it has the board.
    let solved = one_object(&stdout(&run("solve 3x3 --json", "KONANE_DB", "elsewhere")));
    assert_eq!(solved["database_hits"], 1);
    let solved = one_object(&stdout(&run("solve 3x4 --json", "KONANE_DB", "elsewhere")));
    assert!(solved["database_hits"].is_null() && solved["winner"].is_string(), "{solved}");

    let threads = |line| one_object(&stdout(&run(line, "KONANE_THREADS", "3")))["threads"].clone();
    assert_eq!(threads("solve 6x6 --json"), 3);
    assert_eq!(threads("solve 6x6 --json --threads 2"), 2);
    assert_eq!(threads("solve 4x4 --json --algo pns"), 1);
    for (variable, value, argument) in
        [("KONANE_THREADS", "0", "KONANE_THREADS"), ("KONANE_MEMORY", "5 lots", "--memory")]
    {
        let output = run("solve 4x4", variable, value);
        assert_eq!((code(&output), stdout(&output)), (2, String::new()));
        assert!(stderr(&output).contains(argument), "{}", stderr(&output));
    }
    let small = run("solve 8x8 --algo pns --json", "KONANE_MEMORY", "1MiB");
    assert_eq!(one_object(&stdout(&small))["reason"], "memory");
}

#[test]
fn without_a_board_the_databases_are_listed() {
    let dir = TestDir::new();
    let output = dir.run(&["probe"]);
    assert_eq!(code(&output), 4);
    assert!(stderr(&output).contains("db is no database: there is no such directory"));
    assert!(stderr(&output).contains("`konane builddb RxF` builds"), "{}", stderr(&output));
    build(&dir, &["3x3"]);
    build(&dir, &["4x4", "--max-stones", "5", "--metric", "remoteness"]);
    let text = stdout(&dir.run(&["probe"]));
    assert!(text.contains("3x3, complete positions\n  directory   db/3x3-complete\n"), "{text}");
    assert!(text.contains("4x4, complete positions with up to 5 stones, with remoteness\n"));
    assert!(text.contains("  files       6 layers, "), "{text}");
    // The example works.
    let (_, example) = text.split_once("konane probe ").expect("an example");
    let output = dir.run(&["probe", "3x3", "--position", example.split('"').nth(1).unwrap()]);
    assert_eq!(code(&output), 0, "{example}: {}", stderr(&output));
    let text = stdout(&dir.run(&["probe", "--db", "db/3x3-complete"]));
    assert!(text.ends_with(" b\" --db db/3x3-complete\n") && !text.contains("4x4"), "{text}");
}

/// Of several directories, the first one that has a database of the board is used.
#[test]
fn directories_are_searched_in_order() {
    let dir = TestDir::new();
    build(&dir, &["3x3", "--out", "a"]);
    build(&dir, &["3x4", "--out", "b"]);
    build(&dir, &["3x3", "--out", "b", "--metric", "remoteness"]);
    let directories = ["--db", "a", "--db", "b"];
    let text = stdout(&dir.run(&[&["probe"][..], &directories].concat()));
    assert_eq!(text.matches("  directory   ").count(), 3, "{text}");
    assert!(text.ends_with(" --db a --db b\n"), "{text}");
    for (board, database) in [("3x3", "a/3x3-complete"), ("3x4", "b/3x4-complete")] {
        let probed = dir.run(&[&["probe", board, "--moves", ""][..], &directories].concat());
        assert!(stdout(&probed).contains(&format!("  database    {database}\n")), "{probed:?}");
        for arguments in [&["solve", board, "--quiet"][..], &["solve", board, "-"]] {
            let input = Board::new(board.parse().unwrap());
            let input = Position::start(&input).to_string();
            let json = [arguments, &directories, &["--json"]].concat();
            let solved: Value =
                serde_json::from_str(&stdout(&dir.with_input(&json, &input))).unwrap();
            assert_eq!(solved["database_hits"], 1, "{solved}");
        }
        let analysed = [&["analyse", board, "--json"][..], &directories].concat();
        let answer = one_object(&stdout(&dir.with_input(&analysed, "")));
        assert_eq!(answer["source"], "database", "{answer}");
        let request = format!("{{\"id\":1,\"board\":\"{board}\",\"max_nodes\":9}}\n");
        let answer = dir.with_input(&[&["engine"][..], &directories].concat(), &request);
        assert!(stdout(&answer).contains("\"source\":\"database\""), "{answer:?}");
    }
    let missing = dir.run(&[&["probe", "5x5", "--moves", ""][..], &directories].concat());
    assert_eq!(code(&missing), 4);
    assert!(stderr(&missing).contains("neither it nor b has a database of 5x5"), "{missing:?}");
}

/// The repository has the database of 4x5 with remoteness, so `probe` and its example answer in a clone.
#[test]
fn the_shipped_database_answers() {
    let root = Path::new(ROOT);
    let run = |args: &[&str]| {
        let output = command(args).current_dir(root).output().expect("runs");
        assert_eq!(code(&output), 0, "{args:?}: {}", stderr(&output));
        stdout(&output)
    };
    let text = run(&["probe"]);
    assert!(text.contains("4x5, complete positions, with remoteness\n"), "{text}");
    let (_, example) = text.split_once("konane probe ").expect("an example");
    let (board, position) = example.split_once(" --position ").expect("a position");
    let position = position.split('"').nth(1).expect("a text");
    assert!(run(&["probe", board, "--position", position]).contains("  winner      "));
    let shipped = "db/4x5-complete-remoteness";
    assert!(run(&["verifydb", shipped, "--deep", "--quiet"]).contains("  valid       yes\n"));
    // The current version builds the same bytes.
    let dir = TestDir::new();
    build(&dir, &["4x5", "--metric", "remoteness"]);
    assert!(
        files(&root.join(shipped)) == files(&dir.path(shipped)),
        "{shipped} differs: delete it, and run `konane builddb 4x5 --metric remoteness`"
    );
}

#[test]
fn positions_from_stdin_are_answered_line_by_line() {
    let dir = TestDir::new();
    build(&dir, &["3x4", "--out", "elsewhere"]);
    let good = ["xoxo/oxox/xoxo b", "4/1x2/4 w", "  xo1o/ox1x/4 w  ", "4/4/4 b"];
    let input = format!(
        "{}\n\nrubbish\n{}\r\n{}\nxoxo/oxox/xoxo w\n{}",
        good[0], good[1], good[2], good[3]
    );
    for marker in [&[][..], &["-"], &["--position", "-"]] {
        let args = [&["probe", "3x4", "--db", "elsewhere", "--json"], marker].concat();
        let output = dir.with_input(&args, &input);
        assert_eq!(code(&output), 2);
        let text = stdout(&output);
        assert_eq!(text.lines().count(), good.len());
        for (line, position) in text.lines().zip(good) {
            let value = valid(&["probe"], serde_json::from_str(line).expect("JSON"));
            assert_eq!(value["position"], position.trim());
            let args = ["probe", "3x4", "--db", "elsewhere", "--json", "--position", position];
            assert_eq!(value, dir.json(&args, 0));
        }
        let errors = stderr(&output);
        let errors: Vec<&str> = errors.lines().collect();
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors[0].starts_with("error: line 3: this position has 1 rank"), "{errors:?}");
        assert!(errors[1].starts_with("error: line 6: no stone has been removed"), "{errors:?}");
    }
    let output = dir.with_input(&["probe", "3x4", "--db", "elsewhere"], "xoxo/oxox/xoxo b\n");
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    assert!(text.starts_with("xoxo/oxox/xoxo b: "), "{text}");
    assert_eq!(text.lines().count(), 1);
    let output = dir.with_input(&["probe", "3x4", "--db", "elsewhere", "-"], "");
    assert_eq!((code(&output), stdout(&output)), (0, String::new()));
    let output = dir.with_input(&["probe", "3x4", "--db", "elsewhere"], "4/1x2/4 b\n\u{fffd}\0\n");
    assert_eq!(code(&output), 2);
    assert_eq!(stdout(&output), "4/1x2/4 b: loss, class P; no moves\n");
}

#[test]
fn output_keeps_the_order_of_lines_and_a_closed_pipe_is_no_error() {
    let dir = TestDir::new();
    build(&dir, &["3x4"]);
    let ranks = ["4", "1o2", "xo2", "1ox1", "x3", "3o", "xoxo", "2xo"];
    let lines: Vec<String> = (0..20_000usize)
        .map(|number| {
            let (first, last) = (ranks[number % 8], ranks[number / 8 % 8]);
            format!("{first}/4/{last} {}", ["b", "w"][number % 7 / 4])
        })
        .collect();
    let input = lines.join("\n") + "\n";
    let output = dir.with_input(&["probe", "3x4", "--json"], &input);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert_eq!(text.lines().count(), lines.len());
    let side = |line: &str| if line.ends_with('b') { "black" } else { "white" };
    for (answer, line) in text.lines().zip(&lines) {
        assert!(answer.contains(&format!("\"to_move\":\"{}\"", side(line))), "{line}: {answer}");
    }

    let mut child = dir.command(&["probe", "3x4"]).stdin(Stdio::piped()).spawn().expect("runs");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || {
        // Writing fails as soon as the program has ended.
        while stdin.write_all(input.as_bytes()).is_ok() {}
    });
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("no panic");
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_probing_while_it_waits_for_lines() {
    let dir = TestDir::new();
    build(&dir, &["3x4"]);
    let mut child = dir.command(&["probe", "3x4"]).stdin(Stdio::piped()).spawn().expect("runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"4/4/4 b\n").expect("the program reads");
    let mut answers = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut answer = String::new();
    answers.read_line(&mut answer).expect("text");
    assert_eq!(answer, "4/4/4 b: loss, class P; no moves\n");
    signal(&child, "-INT");
    assert_eq!(code(&ends_soon(child, "probe 3x4")), 130);
    assert_eq!(answers.read_to_string(&mut answer).expect("text"), 0, "{answer}");
    drop(stdin);
}

#[test]
fn probe_reports_missing_arguments() {
    let dir = TestDir::new();
    build(&dir, &["3x3"]);
    let output = dir.run(&["probe", "3x3"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
    for part in ["--position", "--moves", "standard input"] {
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
    // An empty list of requests has an empty answer.
    let output = dir.run(&["probe", "3x3", "-"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, ""));
    let output = dir.with_input(&["probe", "3x3"], "xox/oxo/xox b\n");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let answer = stdout(&output);
    let marked = dir.with_input(&["probe", "3x3"], "\u{feff}xox/oxo/xox b\n");
    assert_eq!((code(&marked), stdout(&marked)), (0, answer.clone()), "{}", stderr(&marked));
    // Comments are ignored, but they count in line numbers.
    let list = "# The start:\n\n  # ..\nxox/oxo/xox b # first\nxox # short\n";
    let output = dir.with_input(&["probe", "3x3", "-"], list);
    assert_eq!((code(&output), stdout(&output)), (2, answer));
    assert!(stderr(&output).starts_with("error: line 5: "), "{}", stderr(&output));
}

#[test]
fn solve_takes_values_from_a_database() {
    let dir = TestDir::new();
    build(&dir, &["4x5"]);
    build(&dir, &["5x5", "--max-stones", "14"]);
    for algorithm in ["dfpn", "pns", "pn2", "ab"] {
        let args = ["solve", "4x5", "--algo", algorithm, "--json", "-m", "16MiB", "--db", "db"];
        let value = dir.json(&args, 0);
        assert_eq!(value["winner"], "white");
        assert!(value["database_hits"].as_u64() >= Some(1));
        assert_eq!(value["nodes"], 1, "{algorithm}");
        let value = dir.json(&[&args[..], &["--moves", "a4"]].concat(), 0);
        assert_eq!(value["winner"], "white");
        assert!(value["best_move"].is_string());

        // Leaves are looked up in the available layers.
        let args = ["solve", "5x5", "--algo", algorithm, "--json", "-m", "16MiB"];
        let plain = dir.json(&args, 0);
        assert!(plain.get("database_hits").is_none());
        let value = dir.json(&[&args[..], &["--db", "db/5x5-stones14"]].concat(), 0);
        assert_eq!(value["outcome"], plain["outcome"], "{algorithm}");
    }
    let args = ["solve", "5x5", "--json", "-m", "16MiB", "--profile", "thesis", "--db", "db"];
    let value = dir.json(&args, 0);
    assert_eq!(value["winner"], "black");
    assert!(value["database_hits"].as_u64() >= Some(1), "{value}");
    let text = stdout(&dir.run(&["solve", "4x5", "--db", "db"]));
    assert!(text.contains("  database    1 value from db/4x5-complete\n"), "{text}");
}
