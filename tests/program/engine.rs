//! `konane engine`: requests and answers, errors, limits, `stop`, many requests, its end.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use konane::notation::parse_position;
use konane::{Board, Position, Solver};
use serde_json::{Value, json};

use super::common::{TestDir, code, ends_soon, stderr, stdout, valid};

/// Runs the engine with these lines. Returns its answers, validated against the schema. Requests without
/// a limit get one, because the end of input would stop them.
fn answers(dir: &TestDir, args: &[&str], lines: &[String]) -> Vec<Value> {
    let mut input = String::new();
    for line in lines {
        let is_unlimited = line.contains(r#""board""#) && !line.contains(r#""time_limit""#);
        input += &match line.strip_suffix('}') {
            Some(fields) if is_unlimited => format!("{fields},\"time_limit\":\"10m\"}}\n"),
            _ => format!("{line}\n"),
        };
    }
    let output = dir.with_input(&[&["engine"], args].concat(), &input);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    stdout(&output).lines().map(|line| checked(serde_json::from_str(line).expect(line))).collect()
}

/// Validates a line of output.
fn checked(line: Value) -> Value {
    let kind = match () {
        () if line.get("error").is_some() => "(error)",
        () if line.get("progress").is_some() => "(progress)",
        () if line.get("protocol").is_some() => "(version)",
        () => return valid(&["engine"], line),
    };
    valid(&["engine", kind], line)
}

/// An engine that is answered line by line.
struct Session {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Session {
    fn begin(args: &[&str]) -> Self {
        let dir = TestDir::new();
        let args = [&["engine"], args].concat();
        let mut child = dir.command(&args).stdin(Stdio::piped()).spawn().expect("it runs");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Session { child, input, output }
    }

    fn send(&mut self, line: Value) {
        writeln!(self.input, "{line}").expect("the engine reads");
    }

    fn read(&mut self) -> Value {
        let line = self.output.next().expect("an answer").expect("text");
        checked(serde_json::from_str(&line).expect("JSON"))
    }

    /// Returns the first line that is not a report of progress.
    fn answer(&mut self) -> Value {
        loop {
            let line = self.read();
            if line.get("progress").is_none() {
                return line;
            }
        }
    }
}

#[test]
fn answers_have_the_requested_values() {
    let dir = TestDir::with_files();
    let lines = [
        json!({"id": "start", "board": "5x5"}),
        json!({"id": 2, "board": "4x4", "moves": "b3 b4", "values": true, "line": true}),
        json!({"id": 4, "board": "1x4", "position": "4 b", "values": true, "line": true}),
        json!({"id": -3, "board": "1x3", "position": "1ox b", "phase": "jump"}),
        json!({"id": "db", "board": "3x3"}),
        json!({"id": "nodes", "board": "8x8", "max_nodes": 1000, "values": true, "line": true}),
        json!({"id": "time", "board": "8x8", "time_limit": "50ms", "progress": "1h"}),
    ];
    let found = answers(&dir, &["--threads", "2"], &lines.map(|line| line.to_string()));
    let by_id: BTreeMap<String, &Value> =
        found.iter().map(|answer| (answer["id"].to_string(), answer)).collect();
    assert_eq!((found.len(), by_id.len()), (7, 7));
    let start = by_id["\"start\""];
    assert_eq!((&start["outcome"], &start["winner"]), (&json!("win"), &json!("black")));
    assert!(start["best_move"].is_string() && start.get("moves").is_none());
    assert!(start.get("line").is_none() && start.get("reason").is_none());
    let lost = by_id["2"];
    let outcomes: Vec<&Value> =
        lost["moves"].as_array().unwrap().iter().map(|mv| &mv["outcome"]).collect();
    assert!(!outcomes.is_empty() && outcomes.iter().all(|&outcome| outcome != "unknown"));
    let (expected, line) = (lost["outcome"].clone(), lost["line"].as_array().unwrap());
    assert_eq!(outcomes[0], &expected);
    assert_eq!(line[0], lost["best_move"]);
    // The player without a move at the end of the line has lost.
    assert_eq!(line.len() % 2 == 1, expected == "win");
    let over = by_id["4"];
    assert_eq!((&over["outcome"], &over["source"]), (&json!("loss"), &json!("rules")));
    assert_eq!((&over["moves"], &over["line"]), (&json!([]), &json!([])));
    assert_eq!((&over["best_move"], &over["winner"]), (&Value::Null, &json!("white")));
    assert_eq!(by_id["-3"]["best_move"], "c1-a1");
    let probed = by_id["\"db\""];
    assert_eq!((&probed["source"], &probed["nodes"]), (&json!("database"), &json!(0)));
    assert_eq!(probed["winner"], "white");
    assert!(probed["best_move"].is_string(), "a lost position has a move to play");
    for (id, reason) in [("\"nodes\"", "node limit"), ("\"time\"", "time limit")] {
        let open = by_id[id];
        assert_eq!((&open["outcome"], &open["reason"]), (&json!("unknown"), &json!(reason)));
        assert_eq!(open["winner"], "unknown");
        assert!(open["best_move"].is_string());
    }
    assert_eq!(by_id["\"nodes\""]["line"], json!([]));
    let nodes = by_id["\"nodes\""]["nodes"].as_u64().unwrap();
    assert!((1000..1200).contains(&nodes), "{nodes}");
}

#[test]
fn wrong_lines_are_errors_that_name_the_field() {
    let long = format!("{{\"id\":1,\"board\":\"{}\"}}", "5".repeat(1 << 16));
    let rows = [
        ("nonsense", "null", "the line is not valid JSON (expected ident at column"),
        ("{\"id\":1", "null", "the line is not valid JSON (EOF"),
        ("[1]", "null", "the line is not a JSON object"),
        (r#"{"board":"5x5"}"#, "null", "missing field `id`"),
        (r#"{"id":[1],"board":"5x5"}"#, "null", "id: [1] is not a text or a whole number"),
        (r#"{"id":1e20,"board":"5x5"}"#, "null", "id: 1e+20 is not a text or a whole number"),
        (r#"{"id":1}"#, "1", "missing field `board`"),
        (r#"{"id":1,"board":"5x5","bord":1}"#, "1", "unknown field `bord`, expected one of `id`"),
        (r#"{"id":1,"board":"5x5","id":2}"#, "2", "duplicate field `id`"),
        (r#"{"id":1,"board":5}"#, "1", "board: 5 is not a text"),
        (
            r#"{"id":1,"board":"5x5","max_nodes":"9"}"#,
            "1",
            "max_nodes: \"9\" is not a whole number",
        ),
        (r#"{"id":1,"board":"5x5","values":1}"#, "1", "values: 1 is not true or false"),
        (r#"{"id":1,"board":"5x5","time_limit":5}"#, "1", "time_limit: 5 is not a time"),
        (r#"{"id":1,"board":"5x5","time_limit":"5x"}"#, "1", "time_limit: "),
        (r#"{"id":1,"board":"5x5","progress":"0s"}"#, "1", "progress: "),
        (r#"{"id":1,"board":"9x9"}"#, "1", "9x9"),
        (r#"{"id":1,"board":"5x5","moves":"c3 c9"}"#, "1", "c9"),
        (r#"{"id":1,"board":"5x5","position":"xo b"}"#, "1", "rank"),
        (r#"{"id":1,"board":"5x5","phase":"jump"}"#, "1", "phase: jump requires a position"),
        (r#"{"id":1,"board":"5x5","phase":"middle"}"#, "1", "phase: "),
        (r#"{"action":"pause"}"#, "null", r#"action: "pause" is not "stop", "quit" or"#),
        (r#"{"action":"quit","wait":1}"#, "null", "wait: 1 is not true or false"),
        (r#"{"id":1,"board":"5x5","priority":"x"}"#, "1", "priority: \"x\" is not a whole number"),
        (r#"{"action":"stop","id":"x"}"#, "\"x\"", "id: no request with this id is in flight"),
        (r#"{"action":"quit","board":"5x5"}"#, "null", "unknown field `board`"),
        (&long, "null", "the line has more than 65536 bytes"),
        ("\u{0}", "null", "the line is not valid JSON"),
    ];
    let lines: Vec<String> = rows.iter().map(|row| row.0.to_owned()).collect();
    let found = answers(&TestDir::new(), &[], &lines);
    for ((line, id, text), answer) in rows.iter().zip(&found) {
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(error.contains(text), "{line}: {answer}");
        assert!(!error.contains(" at line "), "{line}: {answer}");
        assert_eq!(&answer["id"].to_string(), id, "{line}");
    }
    assert_eq!(found.len(), rows.len());
}

#[test]
fn lines_after_errors_and_empty_lines_are_answered() {
    let lines = ["", "  ", "{", r#"{"id":1,"board":"1x3"}"#, "\u{feff}", "\r"];
    let found = answers(&TestDir::new(), &[], &lines.map(str::to_owned));
    assert_eq!(found.iter().filter(|answer| answer.get("error").is_some()).count(), 2);
    assert!(found.iter().any(|answer| answer["id"] == 1 && answer["outcome"] != "unknown"));
}

#[test]
fn ten_thousand_requests_are_all_answered() {
    let board = Board::new("3x5".parse().unwrap());
    let (mut lines, mut choice) = (Vec::new(), 1u64);
    while lines.len() < 10_000 {
        let mut position = Position::start(&board);
        loop {
            let id = lines.len();
            lines.push(
                json!({"id": id, "board": "3x5", "position": position.to_string(), "time_limit": "10m"})
                    .to_string(),
            );
            let moves = position.moves(&board);
            if moves.is_empty() {
                break;
            }
            choice = choice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            position = position.play(&board, moves[(choice >> 33) as usize % moves.len()]);
        }
    }
    lines.truncate(10_000);
    let args = ["engine", "--threads", "3", "--memory", "4MiB"];
    let output = TestDir::new().with_input(&args, &(lines.join("\n") + "\n"));
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    let found: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let ids: HashSet<u64> = found.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    assert_eq!((found.len(), ids.len()), (10_000, 10_000));
    let mut winners: HashMap<String, Value> = HashMap::new();
    for answer in &found {
        let text = answer["position"].as_str().unwrap();
        let expected = winners.entry(text.to_owned()).or_insert_with(|| {
            let position = parse_position(&board, text).unwrap();
            let options = konane::SolveOptions { memory_bytes: 1 << 20, ..Default::default() };
            let solution = Solver::new(&board, &position).options(options).run().unwrap();
            json!(solution.winner.unwrap().name())
        });
        assert_eq!(&answer["winner"], expected, "{answer}");
    }
    assert!(winners.len() > 100, "{} positions", winners.len());
}

/// More boards than the engine keeps tables for, with more memory in use than a table of each would have.
#[test]
fn tables_of_other_boards_are_freed() {
    let boards = ["3x3", "3x4", "4x4", "4x5", "3x6", "2x7", "1x9", "5x4"];
    let lines: Vec<String> = (0..40)
        .map(|id| json!({"id": id, "board": boards[id * 3 % boards.len()]}).to_string())
        .collect();
    let found = answers(&TestDir::new(), &["--threads", "4", "--memory", "1MiB"], &lines);
    let winners: HashSet<String> =
        found.iter().map(|answer| format!("{} {}", answer["board"], answer["winner"])).collect();
    assert_eq!((found.len(), winners.len()), (40, boards.len()));
    assert!(found.iter().all(|answer| answer["outcome"] != "unknown"));
}

#[test]
fn progress_is_reported_and_searches_are_stopped() {
    let mut session = Session::begin(&["--threads", "1", "--memory", "8MiB"]);
    session.send(json!({"id": "long", "board": "8x8", "progress": "20ms"}));
    let (first, second) = (session.read(), session.read());
    for report in [&first, &second] {
        assert_eq!((&report["id"], &report["progress"]), (&json!("long"), &json!(true)));
        assert!(report["pn"].is_number() && report["dn"].is_number(), "{report}");
        assert!(report["table"]["used"].as_u64() > Some(0), "{report}");
        assert_eq!(report["moves"].as_array().unwrap().len(), 4);
    }
    assert!(second["nodes"].as_u64() > first["nodes"].as_u64());
    // The only thread is in use, so these wait.
    session.send(json!({"id": "waits", "board": "8x8"}));
    session.send(json!({"id": "waits", "board": "4x4"}));
    let error = session.answer();
    assert_eq!(error["error"], "id: a request with this id has no answer yet; choose another id");
    session.send(json!({"action": "stop", "id": "waits"}));
    let stopped = session.answer();
    assert_eq!((&stopped["id"], &stopped["nodes"]), (&json!("waits"), &json!(0)));
    assert_eq!((&stopped["reason"], &stopped["best_move"]), (&json!("interrupted"), &Value::Null));
    session.send(json!({"action": "stop", "id": "long"}));
    let stopped = session.answer();
    assert_eq!((&stopped["id"], &stopped["reason"]), (&json!("long"), &json!("interrupted")));
    assert!(stopped["nodes"].as_u64() >= second["nodes"].as_u64());
    assert!(stopped["best_move"].is_string());
    // The id can be used again.
    session.send(json!({"id": "long", "board": "4x4", "values": true, "max_nodes": 100_000}));
    session.send(json!({"action": "quit", "wait": true}));
    assert_eq!(session.answer()["winner"], "white");
    let Session { child, input, .. } = session;
    // The input stays open: `quit` has ended the engine.
    assert_eq!(code(&ends_soon(child, "engine")), 0);
    drop(input);
}

/// Runs the engine with an input of other programs. Returns the reasons in its answers by their ids.
fn reasons(input: &str) -> BTreeMap<String, Value> {
    let output = TestDir::new().with_input(&["engine", "--threads", "1"], input);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    let answers = stdout(&output);
    let answers = answers.lines().map(|line| checked(serde_json::from_str(line).expect(line)));
    answers.map(|answer| (answer["id"].to_string(), answer["reason"].clone())).collect()
}

#[test]
fn the_end_stops_searches_without_limits() {
    let interrupted = BTreeMap::from([("1".to_owned(), json!("interrupted"))]);
    for input in [
        "{\"id\":1,\"board\":\"8x8\"}\n",
        "{\"id\":1,\"board\":\"8x8\"}\n{\"action\":\"quit\"}\n",
        "{\"id\":1,\"board\":\"8x8\"}\n{\"action\":\"quit\",\"wait\":true}\n",
        "{\"id\":1,\"board\":\"8x8\",\"time_limit\":\"1h\"}\n{\"action\":\"quit\"}\n",
    ] {
        assert_eq!(reasons(input), interrupted, "{input}");
    }
    let limited = "{\"id\":2,\"board\":\"8x8\",\"max_nodes\":1000}\n";
    let all = [("1".to_owned(), json!("interrupted")), ("2".to_owned(), json!("node limit"))];
    for end in ["", "{\"action\":\"quit\",\"wait\":true}\n"] {
        let input = format!("{{\"id\":1,\"board\":\"8x8\"}}\n{limited}{end}");
        assert_eq!(reasons(&input), BTreeMap::from(all.clone()), "{input}");
    }
}

/// The end of input and `quit` are read although more requests than the engine reads ahead wait for a search without a
/// limit. The answers are not validated, because there are many.
#[test]
fn the_end_is_read_behind_many_requests() {
    let quit = "{\"action\":\"quit\",\"wait\":true}\n";
    for (limit, end, reason) in [("", "", "interrupted"), (",\"max_nodes\":1", quit, "node limit")]
    {
        let mut input = "{\"id\":0,\"board\":\"8x8\"}\n".to_owned();
        for id in 1..=1100 {
            input += &format!("{{\"id\":{id},\"board\":\"8x8\"{limit}}}\n");
        }
        let output = TestDir::new().with_input(&["engine", "--threads", "1"], &(input + end));
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
        let answers = stdout(&output);
        assert_eq!(answers.lines().count(), 1101);
        for line in answers.lines() {
            let answer: Value = serde_json::from_str(line).expect(line);
            let expected = if answer["id"] == 0 { "interrupted" } else { reason };
            assert_eq!(answer["reason"], expected, "{line}");
        }
    }
}

#[test]
fn one_stop_ends_all_and_priority_orders_the_queue() {
    let mut session = Session::begin(&["--threads", "1"]);
    session.send(json!({"action": "version", "id": "v"}));
    let version = session.read();
    assert_eq!((&version["id"], &version["protocol"]), (&json!("v"), &json!(1)));
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    assert!(version["signature"].is_u64());
    session.send(json!({"id": 0, "board": "8x8", "progress": "10ms"}));
    session.read();
    // The only thread is in use, so these wait.
    for (id, priority) in [(1, -1), (2, 0), (3, 5), (4, 5)] {
        session.send(json!({"id": id, "board": "3x3", "priority": priority}));
    }
    session.send(json!({"action": "stop", "id": 0}));
    let ids = [(); 5].map(|()| session.answer()["id"].as_u64().expect("a number"));
    assert_eq!(ids, [0, 3, 4, 2, 1]);
    for id in 5..8 {
        session.send(json!({"id": id, "board": "8x8"}));
    }
    session.send(json!({"action": "stop"}));
    for _ in 5..8 {
        assert_eq!(session.answer()["reason"], "interrupted");
    }
    session.send(json!({"action": "quit"}));
    assert_eq!(code(&ends_soon(session.child, "engine")), 0);
}

#[test]
fn reports_during_the_search_of_moves_have_no_numbers() {
    let mut session = Session::begin(&["--threads", "1"]);
    session.send(json!({"id": 1, "board": "8x8", "values": true, "progress": "1ms"}));
    let mut kinds = HashSet::new();
    let mut nodes = 0;
    while kinds.len() < 2 {
        let report = session.read();
        kinds.insert(report.get("pn").is_some());
        assert_eq!(report.get("pn").is_some(), report.get("moves").is_some(), "{report}");
        assert!(report["nodes"].as_u64().unwrap() >= nodes, "{report}");
        nodes = report["nodes"].as_u64().unwrap();
    }
    session.send(json!({"action": "stop", "id": 1}));
    let answer = session.answer();
    assert_eq!((&answer["reason"], &answer["outcome"]), (&json!("interrupted"), &json!("unknown")));
    drop(session.input);
    assert_eq!(code(&ends_soon(session.child, "engine")), 0);
}

/// The engine ends when its output is closed, even if it has no answer to write.
#[cfg(unix)]
#[test]
fn the_engine_ends_with_the_reader_of_its_answers() {
    for line in [None, Some(json!({"id": 1, "board": "8x8"}))] {
        let mut session = Session::begin(&[]);
        line.into_iter().for_each(|line| session.send(line));
        let Session { child, input, output } = session;
        drop(output);
        let begun = Instant::now();
        let output = ends_soon(child, "engine");
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
        assert!(begun.elapsed() < Duration::from_secs(20));
        drop(input);
    }
}

#[cfg(unix)]
#[test]
fn a_signal_interrupts_all_searches() {
    let mut session = Session::begin(&["--threads", "2"]);
    for id in 0..5 {
        session.send(json!({"id": id, "board": "8x8", "progress": "10ms"}));
    }
    session.read();
    super::common::signal(&session.child, "-INT");
    let ids: HashSet<u64> = (0..5)
        .map(|_| {
            let answer = session.answer();
            assert_eq!(answer["reason"], "interrupted");
            answer["id"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(ids.len(), 5);
    assert_eq!(code(&ends_soon(session.child, "engine")), 130);
}

#[test]
fn wrong_arguments_are_rejected() {
    let dir = TestDir::new();
    let rows = [
        (&["--memory", "64"][..], 2, "too small"),
        (&["--db", "missing"], 4, "missing"),
        (&["--threads", "0"], 2, "--threads"),
    ];
    for (args, expected, text) in rows {
        let output = dir.run(&[&["engine"], args].concat());
        assert_eq!(code(&output), expected, "{args:?}");
        assert!(stderr(&output).contains(text), "{args:?}: {}", stderr(&output));
    }
}

/// The sessions in docs/engine.md: those of the blocks `engine` are compared except for the times, in those of the
/// blocks `jsonl`, which depend on the speed, each answer is validated.
#[test]
fn the_documented_sessions_are_true() {
    let text = include_str!("../../docs/engine.md");
    let blocks = |name: &str| -> Vec<Vec<(char, Value)>> {
        let begin = format!("```{name}\n");
        let blocks =
            text.split(&begin).skip(1).map(|rest| rest.split("```").next().expect("an end"));
        let line = |line: &str| {
            (line.chars().next().unwrap(), serde_json::from_str(&line[2..]).expect(line))
        };
        blocks.map(|block| block.lines().map(line).collect()).collect()
    };
    let without_times = |mut line: Value| {
        line.as_object_mut().expect("an object").remove("seconds");
        line
    };
    let (mut sent, mut expected) = (Vec::new(), Vec::new());
    for (sign, line) in blocks("engine").into_iter().flatten() {
        match sign {
            '>' => sent.push(line.to_string()),
            _ => expected.push(without_times(checked(line))),
        }
    }
    assert!(sent.len() > 3 && !expected.is_empty());
    let found = answers(&TestDir::new(), &["--threads", "1"], &sent);
    let mut found: Vec<Value> = found.into_iter().map(without_times).collect();
    // Errors may come before the answers to earlier requests.
    for lines in [&mut found, &mut expected] {
        lines.sort_by_key(|line| line["id"].to_string());
    }
    assert_eq!(
        found,
        expected,
        "{}",
        found.iter().map(|line| format!("{line}\n")).collect::<String>()
    );
    let others: Vec<(char, Value)> = blocks("jsonl").into_iter().flatten().collect();
    assert!(others.iter().filter(|(sign, _)| *sign == '<').count() > 1);
    for (_, line) in others.into_iter().filter(|(sign, _)| *sign == '<') {
        checked(line);
    }
}
