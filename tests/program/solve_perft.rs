//! `konane solve`, `konane perft` and `konane complexity`: every flag, JSON, exit codes, invalid input and limits.

use std::fs;

use serde_json::Value;

use super::common::{TestDir, code, command, json, konane, one_object, stderr, stdout, words};

/// Checks that outcome, winner and best move in the JSON of `solve` are consistent.
pub fn check_solve(value: &Value) {
    let (outcome, winner) = (&value["outcome"], &value["winner"]);
    assert_eq!(value.get("reason").is_some(), outcome == "unknown", "{value}");
    assert_eq!(outcome == "unknown", winner == "unknown", "{value}");
    if outcome != "unknown" {
        assert_eq!(outcome == "win", *winner == value["to_move"], "{value}");
        assert_eq!(outcome == "win", value["best_move"].is_string(), "{value}");
    } else if value["algorithm"] != "ab" {
        assert!(value["pn"].as_u64() >= Some(1) && value["dn"].as_u64() >= Some(1), "{value}");
    }
}

#[test]
fn solve_agrees_with_the_published_winners_of_small_boards() {
    let rows = include_str!("../data/konane_winners.csv").lines();
    let mut solved = 0;
    for line in rows.filter(|line| !line.starts_with('#')).skip(1) {
        let (board, winner) = line.split_once(',').unwrap();
        let (ranks, files) = board.split_once('x').unwrap();
        let squares = ranks.parse::<u32>().unwrap() * files.parse::<u32>().unwrap();
        if squares > 20 {
            continue;
        }
        let value = json(&["solve", board, "--json", "--memory", "16MiB"], 0);
        check_solve(&value);
        assert_eq!(value["winner"], winner, "{board}");
        assert_eq!(value["board"], board);
        solved += 1;
    }
    assert!(solved > 30);
}

#[test]
fn solve_takes_every_algorithm_and_profile() {
    for algorithm in ["pns", "pn2", "dfpn", "ab"] {
        for profile in ["tuned", "thesis"] {
            let line = format!(
                "solve 4x5 --algo {algorithm} --profile {profile} --json --memory 64MiB --threads 1"
            );
            let value = json(&words(&line), 0);
            check_solve(&value);
            assert_eq!(value["winner"], "white", "{algorithm} {profile}");
            assert_eq!(value["algorithm"], algorithm);
            assert_eq!(value["profile"], profile);
            assert!(value["nodes"].as_u64().unwrap() > 1);
            assert!(value["memory_bytes"].as_u64().unwrap() <= 64 << 20);
        }
    }
}

#[test]
fn solve_names_a_winning_move_as_text_and_as_json() {
    let value = json(&["solve", "5x5", "--json", "-m", "64MiB", "--threads", "1"], 0);
    assert_eq!(value["winner"], "black");
    let best = value["best_move"].as_str().unwrap().to_string();
    assert!(["a1", "a5", "c3", "e1", "e5"].contains(&best.as_str()));
    // After the best move, White is to move and Black still wins.
    let value = json(&["solve", "5x5", "--json", "-m", "64MiB", "--moves", &best], 0);
    check_solve(&value);
    assert_eq!(value["to_move"], "white");
    assert_eq!(value["winner"], "black");

    let output = konane(&["solve", "5x5", "-m", "64MiB", "--threads", "1"]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    assert!(text.starts_with("5x5, Black to move\n  winner      Black\n"), "{text}");
    assert!(text.contains(&format!("  best move   {best}\n")), "{text}");
    let output = konane(&["solve", "4x4", "-m", "64MiB"]);
    let text = stdout(&output);
    assert!(text.contains("none: every move of Black loses"), "{text}");
}

#[test]
fn a_position_and_the_moves_to_it_are_the_same() {
    let by_moves = json(&["solve", "4x4", "--json", "--threads", "1", "--moves", "b3 b4 b1-b3"], 0);
    let text = by_moves["position"].as_str().unwrap();
    assert_eq!(text, "x1xo/oxox/x1xo/o1ox w");
    let by_text = json(&["solve", "4x4", "--json", "--threads", "1", "--position", text], 0);
    for key in ["position", "to_move", "outcome", "best_move", "nodes"] {
        assert_eq!(by_moves[key], by_text[key], "{key}");
    }
    // An empty list of moves is the start position.
    let value = json(&["solve", "4x4", "--json", "--moves", ""], 0);
    assert_eq!(value["position"], "xoxo/oxox/xoxo/oxox b");
}

#[test]
fn the_board_follows_from_the_position() {
    for (board, position) in
        [("4x4", "xoxo/ox1x/x1xo/oxox b"), ("1x12", "10xo b"), ("2x3", "3/.x. w")]
    {
        let short = json(&["solve", "--position", position, "--threads", "1", "--json"], 0);
        let long = json(&["solve", board, "--position", position, "--threads", "1", "--json"], 0);
        assert_eq!((&short["board"], &short["nodes"]), (&board.into(), &long["nodes"]));
    }
    for (position, expected) in [
        ("64/64 b", "no board has the ranks and files of 64/64 b\n"),
        // A character without a meaning is reported, not the board that it leaves unknown.
        ("nonsense", "rank 1, character 1: 'n' is none of x or b"),
        ("zwbw/wbwb/bwbw/wbwb b", "rank 4, character 1: 'z' is none of x or b"),
    ] {
        let output = konane(&["solve", "--position", position]);
        assert_eq!(code(&output), 2);
        let error = stderr(&output);
        assert!(error.starts_with(&format!("error: --position: {expected}")), "{error}");
    }
}

#[test]
fn positions_on_standard_input_are_solved_line_by_line() {
    let dir = TestDir::new();
    let lines = [
        "xoxo/ox1x/x1xo/oxox b # a comment",
        "",
        "# a comment",
        "nonsense",
        "xoxo/oxox/xoxo/oxox b",
        "4/4/4/4 w",
        "xoxo/o1ox/xoxo/oxox w",
    ];
    let input = lines.join("\n");
    let output = dir.with_input(&["solve", "4x4", "-", "--threads", "1"], &input);
    let text = stdout(&output);
    assert_eq!(code(&output), 2);
    let expected = "xoxo/ox1x/x1xo/oxox b: White wins, Black cannot move\n\
                    xoxo/oxox/xoxo/oxox b: White wins, every move of Black loses\n\
                    4/4/4/4 w: Black wins, White cannot move\n";
    assert!(text.starts_with(expected) && text.lines().count() == 4, "{text}");
    assert!(stderr(&output).starts_with("error: line 4: ") && stderr(&output).lines().count() == 1);
    // Each object is that of a separate run.
    let args = ["solve", "4x4", "--threads", "1", "--json"];
    let output = dir.with_input(&[&args[..], &["-"]].concat(), &input);
    let objects: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 4);
    for object in objects {
        let alone = [&args[..], &["--position", object["position"].as_str().unwrap()]].concat();
        let alone = json(&alone, 0);
        for key in ["board", "winner", "best_move", "nodes", "table"] {
            assert_eq!(object[key], alone[key], "{object}");
        }
        super::common::valid(&["solve"], object);
    }
    // So are the moves and the line of best play.
    let args = ["solve", "4x4", "--threads", "1", "--lines", "--json"];
    let output = dir.with_input(&[&args[..], &["-"]].concat(), &input);
    for line in stdout(&output).lines() {
        let object: Value = serde_json::from_str(line).unwrap();
        let alone = [&args[..], &["--position", object["position"].as_str().unwrap()]].concat();
        let alone = json(&alone, 0);
        assert_eq!((&object["moves"], &object["line"]), (&alone["moves"], &alone["line"]));
        assert!(object["line"].is_array(), "{object}");
        super::common::valid(&["solve"], object);
    }
    let start = "xoxo/oxox/xoxo/oxox b";
    let output = dir.with_input(&["solve", "4x4", "-", "--lines", "--threads", "1"], start);
    let text = stdout(&output);
    let expected = format!("{start}: White wins, every move of Black loses; losing ");
    assert!(text.starts_with(&expected) && text.contains("; line "), "{text}");
    // The limits apply to each line.
    let output = dir.with_input(
        &["solve", "8x8", "-", "--max-nodes", "1000"],
        &"xoxoxoxo/oxoxoxox/xoxoxoxo/oxoxoxox/xoxoxoxo/oxoxoxox/xoxoxoxo/oxoxoxox b\n".repeat(2),
    );
    assert_eq!((code(&output), stderr(&output).as_str()), (3, ""));
    assert_eq!(stdout(&output).matches(": unknown (node limit), best so far ").count(), 2);
}

#[test]
fn a_finished_game_is_solved() {
    let value = json(&["solve", "3x3", "--json", "--position", "3/3/3 w"], 0);
    check_solve(&value);
    assert_eq!(value["winner"], "black");
    assert_eq!(value["best_move"], Value::Null);
    let output = konane(&["solve", "3x3", "--position", "3/3/3 b"]);
    assert!(stdout(&output).contains("none: Black cannot move"));
    // The result is known even with a limit of one node.
    let args = ["solve", "3x3", "--json", "--position", "3/3/3 w", "--max-nodes", "1"];
    assert_eq!(json(&args, 0)["winner"], "black");
}

#[test]
fn limits_give_unknown_with_a_reason() {
    for algorithm in ["pns", "pn2", "dfpn", "ab"] {
        for (flag, limit, reason) in
            [("--max-nodes", "10", "node limit"), ("--time-limit", "1ms", "time limit")]
        {
            let args = ["solve", "8x8", "--json", "--algo", algorithm, flag, limit, "-m", "64MiB"];
            let value = json(&args, 3);
            check_solve(&value);
            assert_eq!(value["outcome"], "unknown", "{algorithm} {flag}");
            assert_eq!(value["reason"], reason, "{algorithm} {flag}");
            let args = ["solve", "8x8", "--algo", algorithm, flag, limit, "-m", "64MiB"];
            let output = konane(&args);
            assert_eq!(code(&output), 3);
            let text = stdout(&output);
            assert!(text.contains(&format!("unknown ({reason})")), "{text}");
        }
    }
}

#[test]
fn a_tree_that_is_full_gives_unknown() {
    let args = ["solve", "8x8", "--json", "--algo", "pns", "-m", "1MiB"];
    let value = json(&args, 3);
    assert_eq!(value["outcome"], "unknown");
    assert_eq!(value["reason"], "memory");
}

#[test]
fn node_counts_do_not_depend_on_the_run() {
    let args = ["solve", "5x5", "--json", "-m", "16MiB", "--threads", "1"];
    let nodes = || json(&args, 0)["nodes"].clone();
    assert_eq!(nodes(), nodes());
}

#[test]
fn invalid_input_exits_with_2_and_a_remedy() {
    let solve = |rest: &[&'static str]| [&["solve"], rest].concat();
    // Arguments and required parts of the message.
    let cases: Vec<(Vec<&str>, &[&str])> = vec![
        (vec![], &["Usage", "solve"]),
        (vec!["frobnicate", "6x6"], &["frobnicate"]),
        (vec!["solve"], &["<RxF>"]),
        (solve(&["0x5"]), &["'0x5'", "at least 1"]),
        (solve(&["9x8"]), &["'9x8'", "72 squares", "at most 64"]),
        (solve(&["5x13"]), &["'5x13'", "65 squares", "at most 64"]),
        (solve(&["6"]), &["'6'", "6x6"]),
        (solve(&["sixbysix"]), &["sixbysix", "6x6"]),
        (solve(&["-6x6"]), &["-6"]),
        (solve(&["6x6x6"]), &["6x6x6"]),
        (solve(&["♟♟♟"]), &["♟♟♟", "6x6"]),
        (solve(&["4x4", "5x5"]), &["'5x5'"]),
        (solve(&["4x4", "--frob"]), &["--frob"]),
        (solve(&["4x4", "--algo", "minimax"]), &["minimax", "pns, pn2, dfpn, ab"]),
        (solve(&["4x4", "--profile", "best"]), &["best", "tuned, thesis"]),
        (solve(&["4x4", "--memory", "1"]), &["1 B", "1 MiB", "--memory 1GiB"]),
        (solve(&["4x4", "--memory", "0"]), &["--memory", "more than 0"]),
        (solve(&["4x4", "--memory", "-1GiB"]), &["--memory", "4GiB"]),
        (solve(&["4x4", "--memory", "much"]), &["'much'", "4GiB"]),
        (solve(&["4x4", "--memory", "4XiB"]), &["XiB", "GiB"]),
        (solve(&["4x4", "--memory", "1000000TiB"]), &["less memory"]),
        (solve(&["4x4", "--memory", "99999999TiB"]), &["too large"]),
        (solve(&["4x4", "--threads", "0"]), &["--threads", "1 to 1024"]),
        (solve(&["4x4", "--threads", "-2"]), &["--threads", "1 to 1024"]),
        (solve(&["4x4", "--threads", "1025"]), &["--threads", "1 to 1024"]),
        (solve(&["4x4", "--threads", "two"]), &["--threads", "1 to 1024"]),
        (
            solve(&["4x4", "--algo", "ab", "--threads", "2"]),
            &["--threads", "ab", "--algo pn2, dfpn"],
        ),
        (solve(&["4x4", "--max-nodes", "0"]), &["--max-nodes", "more than 0"]),
        (solve(&["4x4", "--max-nodes", "-5"]), &["--max-nodes", "1e6"]),
        (solve(&["4x4", "--max-nodes", "1.5"]), &["--max-nodes", "whole number"]),
        (solve(&["4x4", "--time-limit", "0"]), &["--time-limit", "more than 0"]),
        (solve(&["4x4", "--time-limit", "-3s"]), &["--time-limit", "60s"]),
        (solve(&["4x4", "--max-nodes", "1kk"]), &["kk", "k, M, G or T"]),
        (solve(&["4x4", "--time-limit", "1h30"]), &["1h30m"]),
        (solve(&["4x4", "--time-limit", "soon"]), &["--time-limit", "60s"]),
        (solve(&["4x4", "--time-limit", "5 parsecs"]), &["parsecs", "ms, s, m, h or d"]),
        (solve(&["4x4", "--position"]), &["--position"]),
        (solve(&["4x4", "--position", ""]), &["--position", "missing"]),
        (
            solve(&["3x3", "--position", "xox/oxo/xox b", "--moves", "a1 c3"]),
            &["--moves", "move 2", "c3"],
        ),
        // A position of another board.
        (solve(&["4x4", "--position", "xox/oxo/xox b"]), &["3 ranks", "4x4"]),
        (solve(&["3x3", "--position", "xoxo/oxox/xoxo b"]), &["rank 3", "too long"]),
        // A stone on the wrong colour.
        (solve(&["3x3", "--position", "oox/o1o/xo1 b"]), &["white stone", "a3"]),
        (solve(&["3x3", "--position", "xox/o?o/xox b"]), &["rank 2", "'?'"]),
        (solve(&["3x3", "--position", "xox/oxo/xox"]), &["b", "w"]),
        (solve(&["3x3", "--position", "xox/oxo/xox w"]), &["Black is to move"]),
        (solve(&["3x3", "--position", "xo1/oxo/xox b"]), &["White is to move"]),
        (solve(&["3x3", "--position", "x1x/oxo/xox w"]), &["b3", "a3, c3, b2, a1, c1"]),
        (solve(&["3x3", "--position", "🦀/\u{202e}/x b"]), &["--position"]),
        // Moves.
        (solve(&["4x4", "--moves", "zz"]), &["--moves", "move 1", "zz"]),
        (solve(&["4x4", "--moves", "a1"]), &["move 1", "a1", "corner"]),
        (solve(&["4x4", "--moves", "b3 d1"]), &["move 2", "d1", "b3"]),
        (solve(&["4x4", "--moves", "b3 b4 a1-a2"]), &["move 3", "a1"]),
        (solve(&["4x4", "--moves", "b3 b4 b1-b9"]), &["move 3", "b9", "4x4"]),
        (solve(&["4x4", "--moves", "−¹ \u{0}"]), &[]),
        (vec!["perft", "4x4"], &["<DEPTH>"]),
        (vec!["perft", "4x4", "deep"], &["<DEPTH>", "1 to 64"]),
        (vec!["perft", "4x4", "0"], &["<DEPTH>", "1 to 64"]),
        (vec!["perft", "4x4", "65"], &["<DEPTH>", "1 to 64"]),
        (vec!["perft", "4x4", "-3"], &["<DEPTH>", "1 to 64"]),
        (vec!["perft", "4x4", "3", "--threads", "0"], &["1 to 1024"]),
        (vec!["perft", "4x4", "3", "--threads", "2000"], &["1 to 1024"]),
        (vec!["perft", "4x4", "3", "--no-symmetry"], &["--unique"]),
        (vec!["perft", "4x4", "3", "--unique", "--divide"], &["--divide"]),
        (vec!["perft", "4x4", "3", "--unique", "--plain"], &["--plain"]),
        (vec!["perft", "4x4", "3", "--moves", "a1"], &["--moves", "corner"]),
        (vec!["complexity"], &["<RxF>"]),
        (vec!["complexity", "6x6", "--samples", "0"], &["--samples", "1 to 1000000"]),
        (vec!["complexity", "6x6", "--samples", "-3"], &["--samples", "1 to 1000000"]),
        (vec!["complexity", "6x6", "--seed", "x"], &["--seed", "at least 0"]),
        (vec!["sprouts", "complexity", "0*3", "0*x"], &["position", "character 3"]),
        (vec!["bench", "--expect", "many"], &["--expect"]),
        (vec!["completions", "tcsh"], &["tcsh", "bash"]),
        (vec!["man", "dance"], &["dance", "solve, perft"]),
    ];
    for (args, parts) in cases {
        if args.iter().any(|arg| arg.contains('\0')) {
            continue; // operating systems reject NUL bytes in arguments
        }
        for extra in [&[][..], &["--json"]] {
            if !extra.is_empty() && !matches!(args.first(), Some(&("solve" | "perft" | "bench"))) {
                continue;
            }
            let args = [&args[..], extra].concat();
            let output = konane(&args);
            let message = stderr(&output);
            assert_eq!(code(&output), 2, "{args:?}: {message}");
            assert_eq!(stdout(&output), "", "{args:?}");
            if args.first() == Some(&"solve") && args.last() == Some(&"--json") && args.len() == 2 {
                continue;
            }
            for part in parts {
                assert!(message.contains(part), "{args:?}: no {part:?} in {message}");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn non_utf8_arguments_are_rejected() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let mut command = command(&["solve", "4x4", "--moves"]);
    let output = command.arg(OsStr::from_bytes(b"\xff\xfe")).output().unwrap();
    assert_eq!(code(&output), 2);
    assert_eq!(stdout(&output), "");
}

#[test]
fn perft_counts_as_published_with_any_number_of_threads() {
    let published: Vec<u64> = include_str!("../data/perft_8x8.csv")
        .lines()
        .filter_map(|line| line.split(',').nth(1)?.parse().ok())
        .take(8)
        .collect();
    for (threads, kind) in [("1", "--quiet"), ("3", "--quiet"), ("1", "--plain"), ("3", "--plain")]
    {
        let value = json(&["perft", "8x8", "8", "--json", "--threads", threads, kind], 0);
        assert_eq!(value["nodes"], Value::from(published.clone()));
    }
}

#[test]
fn perft_divide_adds_up() {
    let args = ["perft", "6x6", "5", "--divide", "--json", "--moves", "c4 c5"];
    let value = json(&args, 0);
    let plain = json(&[&args[..], &["--plain"]].concat(), 0);
    assert_eq!((&plain["nodes"], &plain["divide"]), (&value["nodes"], &value["divide"]));
    let divide = value["divide"].as_array().unwrap();
    let sum: u64 = divide.iter().map(|item| item["nodes"].as_u64().unwrap()).sum();
    assert_eq!(sum, value["nodes"][4].as_u64().unwrap());
    assert_eq!(divide.len() as u64, value["nodes"][0].as_u64().unwrap());
    assert!(divide.iter().all(|item| item["move"].as_str().unwrap().contains('-')));

    let output = konane(&["perft", "6x6", "4", "--divide"]);
    let text = stdout(&output);
    assert!(text.contains("by first move, at depth 4:"), "{text}");
    assert!(text.contains("       c4"), "{text}");
}

#[test]
fn perft_unique_with_and_without_symmetry() {
    let value = json(&["perft", "4x4", "6", "--unique", "--json"], 0);
    assert_eq!(value["unique"], Value::from(vec![2, 3, 4, 11, 24, 61]));
    assert_eq!(value["symmetry"], true);
    assert!(value.get("nodes").is_none());
    let value = json(&["perft", "4x4", "6", "--unique", "--no-symmetry", "--json"], 0);
    assert_eq!(value["unique"], Value::from(vec![4, 12, 16, 42, 92, 244]));
    assert_eq!(value["symmetry"], false);
}

#[test]
fn perft_of_a_finished_game_counts_nothing() {
    let args = ["perft", "3x3", "3", "--json", "--position", "3/3/3 b"];
    assert_eq!(json(&args, 0)["nodes"], Value::from(vec![0, 0, 0]));
    let args = ["perft", "1x1", "3", "--unique", "--json"];
    assert_eq!(json(&args, 0)["unique"], Value::from(vec![1, 0, 0]));
}

#[test]
fn complexity_depends_on_the_seed_and_not_on_the_threads() {
    for start in [&["complexity", "3x3", "4x4"][..], &["sprouts", "complexity", "0*2", "0*4"]] {
        let of = |seed, threads| {
            let options = ["--samples", "50", "--seed", seed, "--threads", threads, "--json"];
            json(&[start, &options].concat(), 0)
        };
        let one = of("1", "1");
        assert_eq!((&one["samples"], &one["seed"]), (&50.into(), &1.into()));
        assert_eq!(of("1", "3")["starts"], one["starts"]);
        assert_ne!(of("2", "1")["starts"], one["starts"]);
        let second = &one["starts"][1];
        assert_eq!(second["start"], *start.last().unwrap());
        assert_eq!(second.get("grundy_tree").is_some(), start[0] == "sprouts");
        let tree = |key: &str| second["game_tree"][key].as_f64().unwrap();
        assert!(tree("log10_percentile_1") < tree("log10_mean"), "{second}");
        assert!(tree("log10_percentile_1") < tree("log10_percentile_99"), "{second}");
        let text = stdout(&konane(&[start, &["--samples", "50"]].concat()));
        assert!(
            text.starts_with("start  leaves (log10) ") && text.contains("  game tree "),
            "{text}"
        );
        assert_eq!(text.contains("  Grundy numbers "), start[0] == "sprouts", "{text}");
        let mean = format!("{:.2}", tree("log10_mean"));
        assert!(text.contains(&mean), "{mean} in {text}");
    }
}

#[test]
fn the_examples_of_the_help_work() {
    let mut run = 0;
    for subcommand in ["solve", "perft", "complexity"] {
        let help = stdout(&konane(&[subcommand, "--help"]));
        let examples = help.lines().filter_map(|line| line.strip_prefix("  konane "));
        for line in examples.filter(|line| !line.contains(" < ")) {
            let mut args = words(line);
            // The long example only has to start.
            let long = args.contains(&"--time-limit");
            if long {
                args.extend(["--max-nodes", "1000"]);
            }
            let output = konane(&args);
            assert_eq!(code(&output), if long { 3 } else { 0 }, "{}", stderr(&output));
            run += 1;
        }
    }
    assert!(run >= 8, "{run} examples");
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish", "nushell", "powershell", "elvish"] {
        let output = konane(&["completions", shell]);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("max-nodes"), "{shell}");
    }
    // Every page that a page refers to exists.
    let mut pages = vec!["konane".to_owned()];
    let mut shown = 0;
    while let Some(name) = pages.pop() {
        let subcommands: Vec<&str> = name.split('-').skip(1).collect();
        // A hyphen also joins the words of one subcommand.
        let joined = name.strip_prefix("konane-").unwrap_or_default();
        let args = [&["man"], &subcommands[..]].concat();
        let args = if joined == "verify-proof" { vec!["man", joined] } else { args };
        let output = konane(&args);
        assert_eq!(code(&output), 0, "{name}: {}", stderr(&output));
        let page = stdout(&output);
        let version = env!("CARGO_PKG_VERSION");
        let citation = include_str!("../../CITATION.cff");
        let (_, date) = citation.split_once("date-released: \"").expect("a date");
        let date = &date[..10];
        let title = format!(".TH {name} 1 {date} \"konane {version}");
        assert!(page.replace("\\-", "-").contains(&title), "{page}");
        for line in page.lines().filter_map(|line| line.strip_suffix("(1)")) {
            pages.push(line.replace("\\-", "-"));
        }
        shown += 1;
    }
    assert!(shown > 20, "{shown} pages");
    // `--out` writes the same pages.
    let dir = TestDir::new();
    let directory = dir.path("share/man1");
    let output = konane(&["man", "--out", directory.to_str().expect("text")]);
    assert_eq!((code(&output), stdout(&output)), (0, String::new()));
    assert_eq!(fs::read_dir(&directory).expect("a directory").count(), shown);
    let page = fs::read_to_string(directory.join("konane-solve.1")).expect("a page");
    assert_eq!(page, stdout(&konane(&["man", "solve"])));
    let output = konane(&["man", "--out", "/dev/null/man"]);
    assert_eq!(code(&output), 4);
    assert!(stderr(&output).contains("/dev/null/man"), "{}", stderr(&output));
    let output = konane(&["man", "sprouts", "nonsense"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("grundy"), "{}", stderr(&output));
}

#[test]
fn every_algorithm_obeys_the_seed() {
    let count = |line: String| {
        let output = konane(&words(&line));
        let value = one_object(&stdout(&output));
        let count = value.get("expansions").or(value.get("nodes"));
        count.and_then(serde_json::Value::as_u64).expect(&line)
    };
    let konane = ["ab", "dfpn", "pns", "pn2", "pns-pdfpn"];
    let lines = konane.map(|name| format!("solve 5x5 --profile thesis --algo {name}"));
    let sprouts =
        ["dfpn", "pns", "pns-pdfpn"].map(|name| format!("sprouts solve 0*9 --algo {name}"));
    for line in lines.into_iter().chain(sprouts) {
        let of = |seed: &str| count(format!("{line} {seed} --threads 1 --json --quiet"));
        let counts = [of(""), of("--seed 1"), of("--seed 2")];
        assert!(counts[0] != counts[1] || counts[0] != counts[2], "{line}: {counts:?}");
        assert_eq!(of("--seed 1"), counts[1], "{line}");
    }
}

#[test]
fn logging_goes_to_stderr_on_request() {
    let output = konane(&["solve", "3x3", "--json", "-v"]);
    one_object(&stdout(&output));
    assert!(stderr(&output).contains("the search of xox/oxo/xox b begins: dfpn, "));
    let mut command = command(&["solve", "3x3", "--quiet"]);
    let output = command.env("RUST_LOG", "konane=debug").output().unwrap();
    assert!(stderr(&output).contains("the search ends: the position is a loss, "));
}

#[test]
fn perft_respects_its_memory_limit_and_quiet() {
    let args = ["perft", "6x6", "10", "--unique", "--memory", "1MiB", "--quiet"];
    let output = konane(&args);
    assert_eq!((code(&output), stderr(&output).as_str()), (3, ""));
    let text = stdout(&output);
    assert!(text.ends_with("\nmemory: --memory allows more\n"), "{text}");
    let value = json(&[&args[..], &["--json"]].concat(), 3);
    assert_eq!(value["reason"], "memory");
    let counts = value["unique"].as_array().unwrap();
    let whole = json(&["perft", "6x6", "8", "--unique", "--json", "--quiet"], 0);
    assert!((4..8).contains(&counts.len()), "{value}");
    assert_eq!(counts[..], whole["unique"].as_array().unwrap()[..counts.len()]);
    // Move sequences can be counted with any amount of memory.
    let [little, much] = ["1KiB", "1GiB"].map(|memory| {
        json(&["perft", "6x6", "9", "--memory", memory, "--json", "--quiet"], 0)["nodes"].clone()
    });
    assert_eq!(little, much);
}

/// A flag has the same help text in every subcommand.
#[test]
fn shared_flags_read_the_same() {
    let subcommands: [&[&str]; 8] = [
        &["solve"],
        &["perft"],
        &["builddb"],
        &["verifydb"],
        &["statespace"],
        &["verify-proof"],
        &["sprouts", "solve"],
        &["sprouts", "grundy"],
    ];
    for flag in ["--threads <N>", "--json", "--quiet"] {
        let text = |subcommand: &&[&str]| {
            let help = stdout(&konane(&[*subcommand, &["--help"]].concat()));
            let rest = help.split_once(flag).unwrap_or_else(|| panic!("{subcommand:?} {flag}")).1;
            let words: Vec<&str> = rest.split_whitespace().collect();
            words.join(" ").split(" -").next().unwrap().to_owned()
        };
        for subcommand in &subcommands {
            assert_eq!(text(subcommand), text(&subcommands[0]), "{subcommand:?} {flag}");
        }
    }
}

/// The library's messages about limits do not mention flags. The program adds the flag that helps.
#[test]
fn errors_come_with_tips() {
    for (args, tip) in [
        (&["solve", "4x4", "--memory", "4"][..], "--memory 1GiB"),
        (&["builddb", "8x8", "--memory", "1GiB"], "--max-stones "),
        (&["builddb", "4x4", "--scope", "reachable", "--max-stones", "3"], "--scope complete"),
        (&["statespace", "5x5", "--memory", "1MiB"], "--memory allows more"),
        (&["solve", "4x4", "--checkpoint", "none.ckpt", "--resume"], "without --resume"),
        (&["sprouts", "solve", "8"], "write 0*8 for 8 spots"),
    ] {
        let message = stderr(&konane(args));
        let (error, found) = message.split_once("\n  tip: ").unwrap_or_else(|| panic!("{message}"));
        assert!(found.contains(tip), "{args:?}: {message}");
        assert!(!error.contains("--"), "{args:?}: {message}");
    }
}
