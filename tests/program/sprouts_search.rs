//! `konane sprouts solve`, `grundy` and `db`.

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use konane::record_file::{Record, RecordFile, RecordFileError};
use konane::sprouts::grundy_file::GRUNDY_NUMBERS;
use serde_json::Value;

use super::common::{TestDir, ends_soon, valid, wait_for_work};

pub fn konane(args: &[&str]) -> Output {
    super::common::konane(&[&["sprouts"], args].concat())
}

fn object(args: &[&str], code: i32) -> Value {
    let output = konane(args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {errors}");
    let object = serde_json::from_slice(&output.stdout).expect("one JSON object");
    valid(&[&["sprouts"], args].concat(), object)
}

fn assert_error(args: &[&str], code: i32, parts: &[&str]) {
    let output = konane(args);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
    for part in parts {
        assert!(message.contains(part), "{args:?}: no {part:?} in {message}");
    }
}

/// Twenty different boundaries in one region: listing all moves would take half a minute.
pub const MILLIONS_OF_MOVES: &str = "1.2.11.12.22.111.112.122.222.1111.1112.1122.1212.1222.2222.11111.\
                                 11112.11122.11212.11222";

#[test]
fn limits_and_signals_apply_while_moves_are_listed() {
    let limited = [&["--time-limit", "300ms"][..], &["--max-nodes", "10", "--time-limit", "300ms"]];
    for args in [&["solve"][..], &["solve", "--lines"], &["children", "--values"]] {
        for limit in limited {
            // Listing all moves takes half a minute.
            let started = Instant::now();
            let found = object(&[args, &[MILLIONS_OF_MOVES, "--json"], limit].concat(), 3);
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "{args:?}: {:?}",
                started.elapsed()
            );
            assert_eq!(found["outcome"], "unknown", "{args:?}");
            assert!(found["reason"] == "time limit" || found["reason"] == "node limit", "{found}");
        }
    }
    // For ordinary positions the moves are listed even after the time limit.
    let found = object(&["solve", "0*40", "--lines", "--json", "--time-limit", "100ms"], 3);
    assert_eq!(found["moves"].as_array().unwrap().len(), 21);
    let child = super::common::command(&["sprouts", "children", MILLIONS_OF_MOVES]).spawn();
    let child = child.expect("the program runs");
    wait_for_work(&child, Duration::from_millis(300));
    super::common::signal(&child, "-INT");
    let output = ends_soon(child, "sprouts children");
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(130), &b""[..]));
}

#[test]
fn outcomes_and_grundy_numbers() {
    let solved = object(&["solve", "0*6", "--json"], 0);
    assert_eq!((&solved["position"], &solved["outcome"]), (&"0*6".into(), &"loss".into()));
    for field in ["expansions", "nodes", "generated", "grundy_numbers", "memory_bytes", "threads"] {
        assert!(solved[field].as_u64().unwrap() > 0, "{field}");
    }
    assert!(solved["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(solved["algorithm"], "dfpn");
    for algorithm in ["dfpn", "pns", "pns-pdfpn"] {
        for profile in ["paper", "tuned"] {
            for (nimber, outcome) in [("0", "win"), ("1", "loss"), ("2", "win")] {
                let flags = ["solve", "0*3", "--algo", algorithm, "--nimber", nimber, "--json"];
                let solved = object(&[&flags[..], &["--profile", profile]].concat(), 0);
                assert_eq!(solved["outcome"], outcome, "{algorithm} {profile} *{nimber}");
                assert_eq!(solved["profile"], profile);
                assert_eq!(solved["jobs"].is_u64(), algorithm == "pns-pdfpn");
            }
        }
    }
    let sum = object(&["grundy", "0*4+0*2+22", "--json", "--threads", "2"], 0);
    assert_eq!((&sum["grundy"], &sum["canonical"]), (&0.into(), &"0*2+0*4+22".into()));
    let over = object(&["solve", "!", "--json"], 0);
    assert_eq!((&over["outcome"], &over["expansions"]), (&"loss".into(), &0.into()));
    let text = String::from_utf8(konane(&["solve", "0*3"]).stdout).unwrap();
    assert!(text.contains("outcome     win: the player to move wins"), "{text}");
    let text = String::from_utf8(konane(&["grundy", "0*3"]).stdout).unwrap();
    assert!(text.contains("Grundy      1"), "{text}");
}

/// Returns the texts of the moves with an outcome.
fn moves<'v>(solved: &'v Value, outcome: &str) -> Vec<&'v str> {
    let moves = solved["moves"].as_array().expect("moves").iter();
    let with = moves.filter(|mv| mv["outcome"] == outcome);
    with.map(|mv| mv["move"].as_str().expect("a text")).collect()
}

#[test]
fn solve_names_moves() {
    for algorithm in ["dfpn", "pns", "pns-pdfpn"] {
        let solve =
            |args: &[&str]| object(&[&["solve", "--algo", algorithm, "--json"], args].concat(), 0);
        let won = solve(&["0*5"]);
        assert_eq!((&won["best_move"], &won["moves"]), (&"0*2.AB|0*2.AB".into(), &Value::Null));
        let won = solve(&["0*3", "--lines"]);
        assert_eq!(moves(&won, "win"), ["0.1a1a", "0.AB|0.AB"]);
        assert_eq!(moves(&won, "loss"), ["0*2.AB|AB"]);
        let lost = solve(&["0*2", "--lines"]);
        assert_eq!((&lost["best_move"], moves(&lost, "win").len()), (&Value::Null, 0));
        assert_eq!(moves(&lost, "loss"), ["0.AB|AB", "1a1a"]);
        // Two spots have Grundy number 0, and both children have 2. In the sum with a heap of 2,
        // the winning moves are both children and taking the whole heap.
        let heap = solve(&["0*2", "--nimber", "2", "--lines"]);
        assert_eq!(moves(&heap, "win"), ["0*2", "0.AB|AB + *2", "1a1a + *2"]);
        assert_eq!(moves(&heap, "loss"), ["0*2 + *1"]);
        let over = solve(&["!", "--lines"]);
        assert_eq!(
            (&over["best_move"], over["moves"].as_array().unwrap().len()),
            (&Value::Null, 0)
        );
    }
    for (args, part) in [
        (&["solve", "0*5"][..], "\n  best move   0*2.AB|0*2.AB\n"),
        (&["solve", "0*6"], "\n  best move   none: every move loses\n"),
        (&["solve", "!"], "\n  best move   none: no move is left\n"),
        (
            &["solve", "0*3", "--lines"],
            "\n  winning     0.1a1a\n              0.AB|0.AB\n  losing      0*2.AB|AB\n",
        ),
    ] {
        let text = String::from_utf8(konane(args).stdout).unwrap();
        assert!(text.contains(part), "{args:?}: {text}");
    }
    // Unknown outcomes are not printed.
    let open = object(&["solve", "0*40", "--max-nodes", "50", "--lines", "--json"], 3);
    assert_eq!((&open["outcome"], &open["best_move"]), (&"unknown".into(), &Value::Null));
    assert!(moves(&open, "win").is_empty() && moves(&open, "unknown").len() > 20);
}

#[test]
fn looking_up_moves_does_not_change_the_counts() {
    let args = ["solve", "0*9", "--nimber", "40", "--threads", "1", "--json"];
    let counts = |more: &[&str]| {
        let found = object(&[&args[..], more].concat(), 0);
        ["expansions", "nodes", "generated", "lands", "memory_bytes"]
            .map(|field| found[field].as_u64().unwrap())
    };
    let [alone, with_moves] = [&[][..], &["--lines"]].map(counts);
    assert_eq!(alone, with_moves);
}

/// A file with only the number of the start position has no values of its moves.
#[test]
fn a_move_missing_from_the_file_is_found() {
    let dir = TestDir::new();
    let [spr, file] = &dir.paths(["one.spr", "numbers"]);
    std::fs::write(spr, "[Positions+Nimber]\n0*5 1\n").unwrap();
    assert_eq!(konane(&["db", "import", file, spr]).status.code(), Some(0));
    let known = object(&["solve", "0*5", "--db", file, "--json"], 0);
    assert_eq!((&known["nodes"], &known["best_move"]), (&0.into(), &"0*2.AB|0*2.AB".into()));
    std::fs::remove_file(file).unwrap();
    assert_eq!(konane(&["db", "import", file, spr]).status.code(), Some(0));
    let limited = ["solve", "0*5", "--db", file, "--max-nodes", "1"];
    let output = konane(&limited);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("best move   unknown (node limit)"), "{text}");
    assert_eq!(output.status.code(), Some(0), "the winner is known");
    object(&[&limited[..], &["--lines", "--json"]].concat(), 3);
}

#[test]
fn one_thread_is_deterministic() {
    let counts = |extra: &[&str]| {
        let flags = ["solve", "0*7", "--threads", "1", "--json"];
        let solved = object(&[&flags[..], extra].concat(), 0);
        ["expansions", "nodes", "generated", "grundy_numbers"].map(|name| solved[name].clone())
    };
    assert_eq!(counts(&[]), counts(&[]));
    let (on, off) = (counts(&["--heuristic"]), counts(&["--heuristic=off"]));
    assert_ne!(on, off);
    assert_eq!(counts(&["--heuristic=on"]), on);
    // The flag does not consume the position as its value.
    let before = object(&["solve", "--heuristic", "0*7", "--threads", "1", "--json"], 0);
    assert_eq!(before["expansions"], on[0]);
}

#[test]
fn invalid_input_exits_with_2() {
    assert_error(&["solve", "0*x"], 2, &["position", "character 3"]);
    assert_error(&["grundy", "0.AB|1A"], 2, &["position"]);
    assert_error(&["solve", "0*3", "--algo", "pns", "--threads", "2"], 2, &["--threads", "pns"]);
    let refusal = ["--job-length", "pns-pdfpn", "dfpn"];
    assert_error(&["solve", "0*3", "--iterations", "2"], 2, &refusal);
    let jobs = ["solve", "0*3", "--algo", "pns-pdfpn", "--threads", "2"];
    assert_error(&[&jobs[..], &["--job-length", "0"]].concat(), 2, &["--job-length"]);
    assert_error(&["solve", "0*3", "--nimber", "1001"], 2, &["--nimber"]);
    assert_error(&["solve", "0*3", "--memory", "1000"], 2, &["memory"]);
    assert_error(&["solve", "0*3", "--heuristic=maybe"], 2, &["--heuristic"]);
    assert_error(&["db"], 2, &["import"]);
}

#[test]
fn limits_exit_with_3() {
    for algorithm in ["dfpn", "pns", "pns-pdfpn"] {
        let flags = ["solve", "0*200", "--algo", algorithm, "--json"];
        for (limit, reason) in [
            (["--max-nodes", "50"], "node limit"),
            (["--time-limit", "50ms"], "time limit"),
            (["--memory", "1MiB"], "memory"),
        ] {
            let solved = object(&[&flags[..], &limit].concat(), 3);
            assert_eq!(
                (&solved["outcome"], &solved["reason"]),
                (&"unknown".into(), &reason.into())
            );
        }
    }
    let unknown = object(&["grundy", "0*40", "--time-limit", "50ms", "--json"], 3);
    assert_eq!((&unknown["grundy"], &unknown["reason"]), (&Value::Null, &"time limit".into()));
}

/// Starts a long search with a database, and waits until it has written some numbers.
fn running(database: &Path) -> std::process::Child {
    let bytes = || std::fs::metadata(database).map_or(0, |data| data.len());
    let before = bytes();
    let mut command = super::common::command(&["sprouts", "solve", "0*44", "--quiet", "--json"]);
    let child = command.arg("--db").arg(database).spawn().unwrap();
    let started = Instant::now();
    while bytes() < before + 2000 {
        assert!(started.elapsed() < Duration::from_secs(60), "no numbers were found");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[cfg(unix)]
#[test]
fn interrupts_and_kills_lose_no_written_entries() {
    let dir = TestDir::new();
    let (file, [name]) = (dir.path("numbers"), &dir.paths(["numbers"]));
    let mut child = running(&file);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = object(&["db", "stats", name, "--json"], 0);
    assert!(before["lands"].as_u64().unwrap() > 20);

    // An incomplete frame at the end of the file.
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() - 5]).unwrap();
    assert_error(&["db", "stats", name], 0, &["warning", "are ignored"]);
    assert_error(&["solve", "0*3", "--db", name], 0, &["warning", "are ignored"]);
    let after = object(&["db", "stats", name, "--json"], 0);
    assert!(after["torn_bytes"] == 0 && after["lands"].as_u64() > Some(0));

    let child = running(&file);
    super::common::signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let solved: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(solved["reason"], "interrupted");
    let added = solved["database"]["added"].as_u64().unwrap();
    let lands = object(&["db", "stats", name, "--json"], 0)["lands"].as_u64().unwrap();
    assert_eq!(lands, after["lands"].as_u64().unwrap() + added);
}

#[cfg(unix)]
#[test]
fn signals_end_the_reading_of_databases() {
    let dir = TestDir::new();
    let [db, spr, new] = dir.paths(["db", "a.spr", "new"]);
    let (land, records) = ("1.2.12.22.112.122.222.1112.1122.1222", 2_000_000);
    std::fs::write(
        &spr,
        "[Positions+Nimber]\n".to_owned() + &format!("{land} 1\n").repeat(records),
    )
    .unwrap();
    let ignore = |_: Record<'_>| Ok::<(), RecordFileError>(());
    let (mut file, _) = RecordFile::open(Path::new(&db), GRUNDY_NUMBERS, ignore).unwrap();
    (0..records).for_each(|_| file.append(land, 1).unwrap());
    file.close().unwrap();
    for args in [
        &["import", &new, &spr, "--json"][..],
        &["merge", &new, &db, "--json"],
        &["export", &db, &new, "--json"],
        &["stats", &db, "--json"],
        &["stats", &db],
    ] {
        let child = super::common::command(&[&["sprouts", "db"], args].concat()).spawn().unwrap();
        wait_for_work(&child, Duration::from_millis(100));
        super::common::signal(&child, "-TERM");
        let output = ends_soon(child, &args.join(" "));
        assert_eq!(output.status.code(), Some(130), "{args:?}");
        assert!(output.stderr.is_empty(), "{args:?}: {output:?}");
        if args.contains(&"--json") {
            let object: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
            assert_eq!(object["reason"], "interrupted", "{args:?}");
        } else {
            assert!(output.stdout.is_empty(), "{args:?}: {output:?}");
        }
        assert!(!Path::new(&new).exists(), "{args:?}");
    }
}

/// A file of Grundy numbers that cannot be written ends the search; a trace does not.
#[cfg(unix)]
#[test]
fn unwritable_files_are_named() {
    let dir = TestDir::new();
    let limited = |blocks: u32, file: &str| {
        let line = "exec konane sprouts solve '0*12' --threads 1 --json";
        let mut shell = dir.shell(&format!("ulimit -f {blocks}; {line} {file} full"));
        let output = shell.output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{file}: {message}");
        assert!(message.contains("error: cannot write") && message.contains("full"), "{message}");
        serde_json::from_slice::<Value>(&output.stdout).expect("one JSON object")
    };
    let open = limited(1, "--db");
    assert_eq!(open["outcome"], "unknown");
    let reason = open["reason"].as_str().unwrap();
    assert!(["file error", "database error"].contains(&reason), "{reason}");
    let solved = limited(0, "--trace");
    assert_eq!((&solved["outcome"], &solved["reason"]), (&"loss".into(), &Value::Null));
}

#[test]
fn databases_are_used_exported_and_imported() {
    let dir = TestDir::new();
    let [a, b, c, spr] = dir.paths(["a", "b", "c", "a.spr"]);
    let first = object(&["solve", "0*7", "--db", &a, "--json", "--threads", "1"], 0);
    assert_eq!(first["database"]["added"], first["grundy_numbers"]);
    let again = object(&["solve", "0*7", "--db", &a, "--json"], 0);
    assert_eq!((&again["outcome"], &again["expansions"]), (&first["outcome"], &0.into()));
    assert_eq!(again["database"]["loaded"], first["grundy_numbers"]);

    let lands = first["grundy_numbers"].as_u64().unwrap();
    assert_eq!(object(&["db", "export", &a, &spr, "--json"], 0)["lands"], lands);
    let text = std::fs::read_to_string(&spr).unwrap();
    assert!(text.starts_with("[Positions+Nimber]\n") && text.ends_with('\n'));
    assert!(text.lines().any(|line| line == "0*7 0"), "{text}");
    assert_eq!(object(&["db", "import", &b, &spr, "--json"], 0)["added"], lands);
    assert_eq!(object(&["db", "import", &b, &spr, "--json"], 0)["added"], 0);
    let (stats_a, stats_b) =
        (object(&["db", "stats", &a, "--json"], 0), object(&["db", "stats", &b, "--json"], 0));
    for field in ["lands", "by_nimber", "by_lives"] {
        assert_eq!(stats_a[field], stats_b[field]);
    }
    // The independent checker, which does not use the search, accepts the certificate.
    let checked = object(&["verify", &spr, "--root", "0*7", "--json"], 0);
    assert_eq!((&checked["valid"], &checked["outcome"]), (&true.into(), &"loss".into()));

    object(&["solve", "0*8", "--db", &c, "--json"], 0);
    let merged = object(&["db", "merge", &b, &c, &a, "--json"], 0);
    assert!(merged["added"].as_u64() > Some(0) && merged["had"] == lands);
    assert_eq!(object(&["solve", "0*8", "--db", &b, "--json"], 0)["expansions"], 0);
}

/// SPOTS sorts 12 before 1, and looks up a land only by the text that SPOTS itself writes. If the order depends
/// on the names of spots, SPOTS may write several texts for the same land.
#[test]
fn exported_files_have_the_texts_of_spots() {
    let dir = TestDir::new();
    let [db, from, into] = dir.paths(["db", "from.spr", "into.spr"]);
    std::fs::write(&from, "[Positions+Nimber]\n1.12 2\n0.AB|12BA 5\n").unwrap();
    assert_eq!(object(&["db", "import", &db, &from, "--json"], 0)["added"], 2);
    let report = object(&["db", "export", &db, &into, "--json"], 0);
    let text = std::fs::read_to_string(&into).unwrap();
    assert_eq!(
        (&report["lands"], &report["entries"]),
        (&2.into(), &(text.lines().count() - 1).into())
    );
    assert_eq!(text, "[Positions+Nimber]\n12.1 2\n0.AB|12AB 5\n0.AB|12BA 5\n");
    assert_eq!(object(&["db", "import", &db, &into, "--json"], 0)["added"], 0);
}

/// The program does not wait for pipes and does not replace special files. A failed export leaves
/// no file.
#[test]
#[cfg(unix)]
fn pipes_are_rejected_immediately() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let dir = TestDir::new();
    let [db, pipe, into, new] = dir.paths(["db", "pipe", "folder", "new.spr"]);
    object(&["solve", "0*5", "--db", &db, "--json"], 0);
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    std::fs::create_dir(&into).unwrap();
    for args in [
        &["verify", &pipe][..],
        &["solve", "0*5", "--db", &pipe],
        &["db", "stats", &pipe],
        &["db", "import", &db, &pipe],
        &["db", "merge", &db, &pipe],
        &["db", "export", &pipe, &new],
        &["db", "export", &db, &pipe],
        &["db", "export", &db, &into],
    ] {
        let mut command = super::common::command(&[&["sprouts"], args].concat());
        let output = ends_soon(command.spawn().unwrap(), &args.join(" "));
        let expected = if args[1] == "export" && args[3] != new { 2 } else { 4 };
        assert_eq!(output.status.code(), Some(expected), "{args:?}: {output:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(
            message.contains("a named pipe") || message.contains("a directory"),
            "{args:?}: {message}"
        );
    }
    assert_eq!(dir.files(), ["db", "folder", "pipe"]);
}

/// The behaviour described in the help of `import`.
#[test]
fn lost_positions_are_imported_and_misere_files_rejected() {
    let dir = TestDir::new();
    let [db, lost, misere, other] = dir.paths(["db", "lost.spr", "misere.spr", "other.spr"]);
    // The outcome of a sum of two lands does not determine the value of either.
    std::fs::write(&lost, "[WinLoss:Losing_Position]\n0*2\n12\n0.AB|AB+1a1a\n").unwrap();
    let report = object(&["db", "import", &db, &lost, "--json"], 0);
    assert_eq!((&report["added"], &report["skipped"]), (&2.into(), &1.into()));
    assert_eq!(object(&["db", "stats", &db, "--json"], 0)["by_nimber"], serde_json::json!([2]));
    let report = object(&["verify", &lost, "--root", "0*2", "--json"], 0);
    assert_eq!((&report["established"], &report["outcome"]), (&3.into(), &"loss".into()));
    std::fs::write(&lost, "[WinLoss:Losing_Position]\n0*3\n").unwrap();
    object(&["verify", &lost, "--json"], 1);

    std::fs::write(&misere, "[WinLoss_Misere:Losing_Position]\n0*2\n").unwrap();
    std::fs::write(&other, "[Positions+RCT]\n0*2 0\n").unwrap();
    for subcommand in [&["db", "import", &db][..], &["verify"]] {
        assert_error(&[subcommand, &[&misere]].concat(), 4, &[&misere, "line 1", "misère play"]);
        assert_error(
            &[subcommand, &[&other]].concat(),
            4,
            &["[Positions+RCT]", "[WinLoss:Losing_Position]"],
        );
    }
}

#[test]
fn contradictions_and_damage_are_named() {
    let dir = TestDir::new();
    let [a, b, wrong, bad, new, none] =
        dir.paths(["a", "b", "wrong.spr", "bad.spr", "new", "none"]);
    object(&["solve", "0*5", "--db", &a, "--json"], 0);
    std::fs::write(&wrong, "[Positions+Nimber]\n22 1\n0*2 1\n").unwrap();
    assert_error(&["db", "import", &a, &wrong], 4, &["0*2", &a, "byte", &wrong, "line 3"]);
    assert_eq!(object(&["db", "import", &b, &wrong, "--json"], 0)["added"], 2);
    assert_error(&["db", "merge", &a, &b], 4, &["two Grundy numbers for", &a, &b]);
    std::fs::write(&bad, "[Positions+Nimber]\n0*2\n").unwrap();
    assert_error(&["db", "import", &a, &bad], 4, &[&bad, "line 2"]);

    let whole = std::fs::read(&a).unwrap();
    let mut changed = whole.clone();
    changed[100] ^= 4;
    std::fs::write(&a, &changed).unwrap();
    for args in [&["solve", "0*3", "--db", &a][..], &["db", "stats", &a], &["db", "export", &a, &b]]
    {
        assert_error(args, 4, &[&a, "byte"]);
    }
    assert_eq!(std::fs::read(&a).unwrap(), changed);
    assert_error(&["db", "stats", &none], 4, &["none"]);
    std::fs::write(&a, "something else entirely").unwrap();
    assert_error(&["solve", "0*3", "--db", &a], 4, &["not a database"]);
    // A failed import leaves no database.
    for args in [&["db", "import", &new, &bad][..], &["db", "merge", &new, &none]] {
        assert_error(args, 4, &[]);
        assert!(!std::path::Path::new(&new).exists(), "{args:?}");
    }
    // A Grundy number too large for the number of lives, with which searches would not end.
    std::fs::write(&bad, "[Positions+Nimber]\n22 1\n1 3\n").unwrap();
    assert_error(&["db", "import", &new, &bad], 4, &[&bad, "line 3", "2 lives", "not 3"]);
    let ignore = |_: Record<'_>| Ok::<(), RecordFileError>(());
    let (mut forged, _) = RecordFile::open(Path::new(&new), GRUNDY_NUMBERS, ignore).unwrap();
    forged.append("1", 500).unwrap();
    forged.close().unwrap();
    for args in [&["solve", "0*3", "--db", &new][..], &["db", "stats", &new]] {
        assert_error(args, 4, &[&new, "byte", "2 lives", "not 500"]);
    }
    // A text file instead of a database.
    for args in [&["solve", "0*3", "--db", &wrong][..], &["db", "stats", &wrong]] {
        assert_error(args, 4, &["not a database", "sprouts db import DATABASE", &wrong]);
    }
}
