//! The committed pages, pages from made-up results, the command lines, and what measuring records and
//! leaves out.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;
use konane::{Algorithm, Board, Position, SolveOptions, Solver};
use serde_json::{Value, json};

use crate::measure::Bench;
use crate::records::{Record, Results, parse};
use crate::suites::{Choice, Suite, jobs, words};
use crate::{algorithms, docs, json as json_page, pages, raw_results, scaling, winners};

/// A line of raw results.
fn line(args: &str, run: u32, result: &Value) -> String {
    let record = json!({
        "args": args, "signature": 1, "cpu": "some processor", "run": run, "time_limit": "20m",
        "max_nodes": 900, "command": format!("konane {args} --json"), "exit_code": 0,
        "wall_seconds": 0.25, "peak_rss_bytes": 8 << 20, "load_before": 0.5,
        "date": format!("2025-01-0{run}T12:00:00Z"), "version": "0.1.0", "cores": 2,
        "result": result,
    });
    format!("{record}\n")
}

fn solved(board: &str, algorithm: &str, profile: &str, nodes: u64, seconds: f64) -> Value {
    json!({
        "board": board, "algorithm": algorithm, "profile": profile, "outcome": "white",
        "nodes": nodes, "seconds": seconds,
    })
}

/// A result with other values of some fields.
fn with(mut result: Value, fields: Value) -> Value {
    let fields = fields.as_object().expect("an object").clone();
    result.as_object_mut().expect("an object").extend(fields);
    result
}

fn unfinished(result: Value) -> Value {
    with(result, json!({"outcome": "unknown", "reason": "node limit", "pn": 12_345, "dn": 678}))
}

fn records(lines: &[String]) -> Vec<Record> {
    parse(&lines.concat()).expect("records")
}

fn results(lines: &[String]) -> Results {
    Results::new(records(lines))
}

/// The line of a text that begins with something.
fn line_with<'a>(text: &'a str, start: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}:\n{text}"))
}

#[test]
fn the_committed_pages_are_those_of_the_committed_results() {
    for &suite in Suite::value_variants() {
        let records = parse(&fs::read_to_string(raw_results(suite, &docs())).unwrap()).unwrap();
        let (files, wrong) = pages(suite, records).unwrap();
        assert!(wrong.is_empty(), "{wrong:?}");
        for (path, should) in files {
            let is = fs::read_to_string(docs().join(path)).unwrap();
            let differs = is.lines().zip(should.lines()).find(|(is, should)| is != should);
            assert_eq!(differs, None, "docs/{path}: write the pages again");
            assert_eq!(is.len(), should.len(), "docs/{path}: write the pages again");
        }
    }
}

/// The program that Cargo has built for the tests of the package `konane`.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().map(|folder| folder.join("konane")).find(|path| path.is_file());
    program.expect("no program in the target folder: run 'cargo build' first")
}

#[test]
fn the_program_accepts_the_command_lines() {
    let choice = Choice { max_nodes: vec![5000], from: 1, algo: "pn2".into(), ..Choice::default() };
    // One line for each set of options; `--help` ends the program after it has read the others.
    let mut seen = HashSet::new();
    for &suite in Suite::value_variants() {
        for job in jobs(suite, &choice) {
            let line = job.command();
            let words = words(&line);
            let is_option = |word: &&&str| word.starts_with("--");
            let options: Vec<_> =
                words.iter().filter(is_option).map(|&word| word.to_owned()).collect();
            if seen.insert((words[0].to_owned(), options)) {
                let output = Command::new(program()).args(words).arg("--help").output().unwrap();
                assert!(output.status.success(), "{line}");
            }
        }
    }
    let boards = jobs(Suite::Winners, &choice).into_iter().map(|job| job.args);
    let rows = winners::rows(&[]).unwrap();
    let expected = rows
        .iter()
        .map(|row| format!("solve {} --algo pn2 --threads 1 --memory 2GiB", row.board()));
    assert!(boards.eq(expected));
    let choice = Choice { boards: vec![(4, 4), (3, 4)], ..choice };
    let of = |suite| jobs(suite, &choice).into_iter().map(|job| job.args).collect::<Vec<_>>();
    assert_eq!((of(Suite::Winners).len(), of(Suite::Openings).len()), (2, 3 + 2 + 3));
    assert!(of(Suite::Narrow).iter().all(|args| args.starts_with("solve 3x4 --position ")));
}

#[test]
fn bad_lines_are_named() {
    let good = line("solve", 1, &solved("5x5", "pns", "tuned", 100, 1.0));
    let error = parse(&format!("{good}\n{{\"args\":\"solve")).unwrap_err();
    assert!(error.starts_with("line 3: "), "{error}");
}

#[test]
fn runs_are_grouped_and_the_latest_program_counts() {
    let solve = |run, seconds| line("solve", run, &solved("5x5", "pns", "tuned", 100, seconds));
    let other = line("other", 1, &solved("5x5", "pn2", "tuned", 7, 1.0));
    let lines = [solve(1, 4.0), other, solve(2, 1.0), solve(3, 9.0), solve(3, 2.0)];
    let all = results(&lines);
    assert_eq!(all.0.len(), 2);
    let group = all.solve("5x5", "pns", "tuned", 1).expect("a group");
    assert_eq!((group.0.len(), group.seconds(), group.range()), (3, 2.0, (1.0, 4.0)));
    assert_eq!((group.nodes(), group.nodes_per_second()), (100, 50.0));
    assert_eq!(group.peak_bytes(), Some(f64::from(8 << 20)));
    // Of two runs the median is the mean.
    assert_eq!(results(&lines[..3]).with_args("solve").unwrap().seconds(), 2.5);

    let newer = solve(1, 5.0).replace("\"signature\":1", "\"signature\":2");
    let all = results(&[&lines[..], &[newer]].concat());
    let group = all.with_args("solve").unwrap();
    assert_eq!((group.0.len(), group.seconds()), (1, 5.0));

    // A run with an answer counts before one without, whichever came first.
    let long = |result| line("long", 1, &result);
    let done = || long(solved("6x6", "ab", "thesis", 5000, 70.0));
    let stopped = || long(unfinished(solved("6x6", "ab", "thesis", 1000, 60.0)));
    for lines in [[stopped(), done()], [done(), stopped()]] {
        assert_eq!(results(&lines).with_args("long").unwrap().seconds(), 70.0);
    }
}

#[test]
fn the_page_of_algorithms_sets_results_beside_the_published_ones() {
    let lines = [
        line("a", 1, &solved("6x6", "dfpn", "tuned", 463_600, 0.5)),
        line("b", 1, &solved("6x6", "pns", "tuned", 300_000, 0.25)),
        line("c", 1, &solved("6x6", "dfpn", "thesis", 4_636_000, 3.973)),
        line("d", 1, &unfinished(solved("6x6", "ab", "thesis", 1000, 7200.0))),
        line("e", 1, &with(solved("7x7", "pn2", "tuned", 9, 4.5), json!({"outcome": "white"}))),
    ];
    let all = results(&lines);
    let text = algorithms::markdown(&all);
    assert!(line_with(&text, "| solve 6x6, df-pn |").ends_with("| 0.500 s | **no** |"));
    assert!(line_with(&text, "| solve 6x6, PNS |").ends_with("| 0.250 s | yes |"));
    assert!(line_with(&text, "| solve 6x6, α-β |").ends_with("| not run | not run |"));
    let stopped = "| unfinished after 2.00 h (node limit) | unfinished |";
    assert!(line_with(&text, "| solve 6x6, α-β, thesis profile |").ends_with(stopped));
    let ours = "|  | here, thesis | 4,636,000 | 10.0 × | 3.97 s | 10.0 × | 1.17 M | 8.00 MiB |";
    assert!(text.contains(ours), "{text}");
    assert!(text.contains("**Winners that differ from the thesis:** `e`."));
    assert!(!text.contains("Rows with †"));
    let older = line("solve b", 1, &solved("6x6", "pns", "tuned", 300_000, 0.25));
    let older = older.replace("\"signature\":1", "\"signature\":2");
    let newer = |verb: &str| line(&format!("{verb} f"), 2, &solved("5x5", "pns", "tuned", 1, 1.0));
    let page = |verb| algorithms::markdown(&results(&[older.clone(), newer(verb)]));
    assert!(page("solve").contains("| 0.250 s † |"));
    // A count says nothing of searches.
    assert!(page("perft").contains("| 0.250 s |"));

    let counted = |args: &str, last: u64, seconds| {
        let mut nodes = vec![1; 9];
        nodes.push(last);
        let result = json!({"board": "8x8", "nodes": nodes, "seconds": seconds});
        line(&format!("perft 8x8 10{args} --threads 1"), 1, &result)
    };
    let row = |plain| {
        let lines = [counted("", 51_883_544, 0.05), counted(" --plain", plain, 0.2)];
        line_with(&algorithms::markdown(&results(&lines)), "| 10 | 51,883,544 |").to_string()
    };
    let cells = "| 0.996 s | 50.0 ms | 19.9 × | 8.00 MiB | 0.200 s | 4.98 × | 259 M | 8.00 MiB |";
    assert_eq!(row(51_883_544), format!("| 10 | 51,883,544 | yes {cells}"));
    assert!(row(51_883_545).starts_with("| 10 | 51,883,544 | **no** |"));

    let table = algorithms::csv_4_2(&all);
    assert!(table.contains("\ndfpn,tuned,463600,0.5,927200,8388608,1,white\n"), "{table}");
    assert!(
        table.contains("\nab,thesis,1000,7200,0,8388608,1,node limit\nab,tuned,,,,,,not run\n")
    );
}

#[test]
fn ratios_of_scaling_are_of_medians() {
    let run = |threads: u32, run, seconds: f64, nodes| {
        let args = format!("solve 6x6 --algo dfpn --threads {threads}");
        let result = solved("6x6", "dfpn", "tuned", nodes, seconds);
        line(&args, run, &with(result, json!({"threads": threads})))
    };
    let mut lines = vec![run(1, 1, 4.0, 1000), run(2, 1, 2.0, 1100), run(2, 2, 9.0, 1200)];
    lines.extend([
        run(2, 3, 2.5, 1300),
        run(4, 1, 2.0, 1).replace("\"white\"", "\"unknown\",\"reason\":\"x\""),
    ]);
    let table = scaling::csv_table(&results(&lines));
    // 4 s by 2.5 s; by 2 threads; 1200 nodes by 1000; 1200 nodes in 2.5 s.
    assert!(table.contains("\ndfpn,6x6,tuned,2,2.5,2,9,1.6,0.8,1.2,1200,480,,,3,0.5,white\n"));
    assert!(!table.contains("dfpn,6x6,tuned,4,") && !table.contains("dfpn,7x7"), "{table}");
    assert!(table.contains("\npn2,6x6,published,12,6.83,,,14.62,1.217301,2.84,"), "{table}");
    let text = scaling::markdown(&results(&lines));
    let (dfpn, pn2) = text.split_once("## PN²").expect("two sections");
    assert!(!dfpn.contains("Not measured here") && pn2.contains("Not measured here"), "{text}");
    assert!(!text.contains("differ in the winner") && !text.contains("was busy"));

    lines[3] = lines[3].replace("white", "black").replace(":0.5,", ":17.5,");
    let text = scaling::markdown(&results(&lines));
    assert!(text.contains("**Runs of 6x6 on 2 threads differ in the winner.**"), "{text}");
    assert!(text.contains("was busy"), "{text}");
}

#[test]
fn the_page_of_winners() {
    let won = |board: &str, winner: &str| {
        let result = with(solved(board, "dfpn", "tuned", 1234, 0.5), json!({"outcome": winner}));
        line(&format!("solve {board} --algo dfpn"), 1, &result)
    };
    let gave_up = |board: &str, nodes| {
        let args = format!("solve {board} --algo dfpn");
        line(&args, 1, &unfinished(solved(board, "dfpn", "tuned", nodes, 2.5)))
    };
    let lines = [
        won("1x5", "black"),
        gave_up("6x7", 9000),
        won("7x6", "white"),
        gave_up("6x7", 9),
        won("4x16", "white"),
        gave_up("7x8", 900),
        gave_up("8x7", 90),
    ];
    let rows = winners::rows(&records(&lines)).unwrap();
    let text = winners::markdown(&rows);
    assert!(
        text.contains("Of the 144 boards (those with FxR not counted apart), 3 are solved, 1 of")
    );
    assert!(
        text.contains("All 2 winners that the thesis has as well agree with it. In the thesis")
    );
    assert!(line_with(&text, "| **7** |").starts_with("| **7** | ? | ? | ? | ? | ? | White | ? |"));
    let new = "| 4x16 | **White** | new | 1,234 | – | 0.500 s | – | dfpn | – | 0.50 |";
    assert_eq!(line_with(&text, "| 4x16 |"), new);
    let limit = "| 7x8 | 20m, 900 nodes | node limit | 900 | 2.50 s | 12,345 | 678 |";
    assert!(line_with(&text, "| 7x8 |").starts_with(limit));
    assert_eq!(line_with(&text, "| 4 | 4–16 |"), "| 4 | 4–16 | – | 16 | 4–15 |");
    let table = winners::csv_table(&rows);
    assert!(
        table
            .contains("\n7x8,56,unknown,unknown,no,dfpn,,900,,2.5,,8388608,node limit,12345,678\n")
    );

    let text = winners::markdown(&winners::rows(&records(&[won("6x6", "black")])).unwrap());
    assert!(text.contains("**Winners that differ from the thesis:** 6x6."));
    let error = winners::rows(&records(&[won("6x7", "white"), won("7x6", "black")])).err().unwrap();
    assert!(error.contains("solve 6x7") && error.contains("solve 7x6"), "{error}");
    assert!(winners::rows(&records(&[won("9x8", "white")])).is_err());
    assert_eq!(winners::ranges(&[1, 2, 4, 5, 6, 9]), "1, 2, 4–6, 9");
}

#[test]
fn pages_without_results_say_so() {
    for &suite in Suite::value_variants() {
        let (files, _) = pages(suite, Vec::new()).unwrap();
        assert!(files.iter().all(|(_, text)| !text.is_empty()), "{suite:?}");
    }
    assert!(algorithms::markdown(&results(&[])).contains("No results yet."));
}

/// A place with a program that is a shell script, but for `bench`.
fn place(program: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let text = format!(
        "#!/bin/sh\n[ $1 = bench ] && echo '{{\"items\":[],\"signature\":42,\"seconds\":0}}' && exit\n{program}\n"
    );
    fs::write(place.path().join("konane"), text).unwrap();
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(place.path().join("konane"), executable).unwrap();
    place
}

fn bench(place: &Path) -> Bench {
    Bench::new(place.join("konane"), place.join("results")).unwrap()
}

#[test]
fn what_has_a_record_is_not_run_again() {
    // Runs out of 3 nodes on boards of five and more squares.
    let place = place(
        "case $2 in 1x[1-4] | 2x2) why= ;; *) case $* in *--max-nodes\\ 3\\ *) why=',\"reason\":\"node limit\"' ;; esac ;; esac\n\
         echo \"{\\\"board\\\":\\\"$2\\\",\\\"outcome\\\":\\\"white\\\"$why,\\\"seconds\\\":0.5}\"",
    );
    let bench = bench(place.path());
    let run = |nodes: u64, time: &str| {
        let choice = Choice {
            to: Some(6),
            algo: "dfpn".into(),
            max_nodes: vec![nodes],
            time_limit: Some(time.into()),
            ..Choice::default()
        };
        bench.run_all(Suite::Winners, &jobs(Suite::Winners, &choice), false).unwrap();
        bench.records().unwrap()
    };
    let first = run(3, "20m");
    assert_eq!((first.len(), first[0].signature, first[0].max_nodes), (8, 42, Some(3)));
    assert!(first[0].wall_seconds > 0.0 && first[0].date.starts_with("20"));
    let open = first.iter().filter(|record| record.result.reason.is_some());
    assert_eq!(open.map(|record| &*record.result.board).collect::<Vec<_>>(), ["1x5", "1x6", "2x3"]);
    // Nothing new with the same limits, a lower one, or more of what did not run out.
    for (nodes, time) in [(3, "20m"), (2, "20m"), (3, "9h")] {
        assert_eq!(run(nodes, time).len(), 8, "{nodes} {time}");
    }
    assert_eq!(run(2000, "20m").len(), 11);
    // Runs that the time stopped are repeated for more time, not for more nodes.
    let text = fs::read_to_string(place.path().join("results")).unwrap();
    let text = text.lines().take(8).map(|line| line.replace("node limit", "time limit") + "\n");
    fs::write(place.path().join("results"), text.collect::<String>()).unwrap();
    assert_eq!(run(2000, "20m").len(), 8);
    assert_eq!(run(2000, "1h").len(), 11);

    let twice = jobs(Suite::Scaling, &Choice { runs: Some(2), ..Choice::default() });
    bench.run_all(Suite::Scaling, &twice[..2], false).unwrap();
    bench.run_all(Suite::Scaling, &twice[..3], false).unwrap();
    assert_eq!(bench.records().unwrap().len(), 14);
}

#[test]
fn what_is_measured_again_replaces_its_own_record_when_it_is_there() {
    // Fails on a board for which there is a file.
    let place = place(
        "cd ${0%/*}; [ -e $2 ] && exit 4\n\
         echo \"{\\\"board\\\":\\\"$2\\\",\\\"outcome\\\":\\\"white\\\",\\\"seconds\\\":$(cat seconds)}\"",
    );
    let bench = bench(place.path());
    let seconds = |seconds: &str| fs::write(place.path().join("seconds"), seconds).unwrap();
    let all = || -> Vec<(u32, f64)> {
        bench.records().unwrap().iter().map(|r| (r.run, r.result.seconds)).collect()
    };
    let choice = Choice { to: Some(3), max_nodes: vec![5, 6], ..Choice::default() };
    let boards = jobs(Suite::Winners, &choice);
    assert_eq!(boards.len(), 6);
    seconds("1");
    bench.run_all(Suite::Winners, &boards, false).unwrap();
    // What others have found is no record of this program, and stays.
    let results = place.path().join("results");
    let others = fs::read_to_string(&results).unwrap().replace(":42,", ":41,");
    let own = fs::read_to_string(&results).unwrap();
    fs::write(&results, own + &others).unwrap();
    seconds("2");
    // An interrupted run leaves the records of what it has not come to.
    fs::write(place.path().join("1x3"), "").unwrap();
    bench.run_all(Suite::Winners, &boards, true).unwrap_err();
    assert_eq!(all(), [1.0, 1.0, 1.0, 1.0, 2.0, 2.0].map(|seconds| (1, seconds)));
    fs::remove_file(place.path().join("1x3")).unwrap();
    bench.run_all(Suite::Winners, &boards, true).unwrap();
    // Each board once, although there are two passes.
    assert_eq!(all(), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0].map(|seconds| (1, seconds)));
    fs::remove_file(&results).unwrap();
    // Repetitions one by one, and those that are too many now with the first.
    let lines = |runs| -> Vec<_> {
        let choice = Choice { runs: Some(runs), ..Choice::default() };
        let all = jobs(Suite::Scaling, &choice);
        let first = all[0].args.clone();
        all.into_iter().filter(|job| job.args == first).collect()
    };
    bench.run_all(Suite::Scaling, &lines(4), false).unwrap();
    seconds("3");
    bench.run_all(Suite::Scaling, &lines(2), true).unwrap();
    assert_eq!(all(), [(1, 3.0), (2, 3.0)]);
}

#[test]
fn a_program_that_fails_leaves_no_record() {
    let place = place("echo 'out of luck' >&2; exit 4");
    let bench = bench(place.path());
    let error = bench.run_all(Suite::Scaling, &jobs(Suite::Scaling, &Choice::default()), false);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("out of luck") && error.ends_with("exit code 4"), "{error}");
    assert!(bench.records().unwrap().is_empty());
}

#[test]
fn the_committed_pages_of_json_objects_are_those_of_the_types() {
    let schema = fs::read_to_string(docs().join("json.schema.json")).expect("the schema");
    let written = json_page::pages(&schema).expect("pages");
    for (name, page) in &written {
        let committed = fs::read_to_string(docs().join(name)).expect("the committed page");
        assert!(committed == *page, "write {name} anew: cargo run -p konane-report -- json");
    }
    let (_, page) = &written[0];
    // What a type calls absent, null, a list or another object is called so.
    for row in [
        "| `board` | text | Ranks x files. |",
        "| `best_move` | text or null |",
        "| `moves` | list: [RatedMove](#ratedmove) |",
        "| `unique` | number | Positions met for the first time, symmetric ones once. |",
    ] {
        assert!(page.contains(row), "{row}");
    }
}

/// Times and bytes differ from machine to machine.
#[test]
fn the_example_of_a_search_is_what_a_run_gives() {
    let page = include_str!("../pages/json.md");
    let example: Value = serde_json::from_str(line_with(page, "{\"board\"")).unwrap();
    let board = Board::new(example["board"].as_str().unwrap().parse().unwrap());
    let memory_bytes = example["memory_bytes"].as_u64().unwrap();
    let options =
        SolveOptions { algorithm: Algorithm::Pn2, memory_bytes, ..SolveOptions::default() };
    let found = Solver::new(&board, &Position::start(&board)).options(options).run().unwrap();
    let mut found = serde_json::to_value(&found).unwrap();
    for varying in ["seconds", "nodes_per_second", "memory_bytes"] {
        found[varying] = example[varying].clone();
    }
    found["table"]["capacity"] = example["table"]["capacity"].clone();
    assert_eq!(found, example);
}
