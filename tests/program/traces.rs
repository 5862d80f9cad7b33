//! `--trace`, and drawings of positions.

use std::fs;

use serde_json::Value;

use super::common::{TestDir, code, one_object, stderr, stdout};

fn lines(dir: &TestDir, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(dir.path(name)).expect("a trace");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_trace_ends_with_the_answer() {
    let dir = TestDir::new();
    for algorithm in ["dfpn", "pns", "pn2", "pns-pdfpn"] {
        let args = ["solve", "5x6", "--algo", algorithm, "--trace", "a.jsonl", "--json"];
        let solved = dir.json(&args, 0);
        let lines = lines(&dir, "a.jsonl");
        let last = lines.last().unwrap();
        // White wins, so every move of Black ends up lost.
        assert_eq!((&last["pn"], &last["dn"]), (&Value::Null, &0.into()), "{algorithm}");
        assert_eq!(last["nodes"], solved["nodes"]);
        assert_eq!(last["table"], solved["table"]);
        for line in &lines {
            assert!(line["seconds"].as_f64().unwrap() < 60.0);
            for mv in line["moves"].as_array().unwrap() {
                assert_ne!(mv["pn"], 0, "{algorithm}: {mv}");
            }
        }
    }
    let args = ["solve", "5x6", "--moves", "c3", "--trace", "a.jsonl", "--json"];
    let solved = dir.json(&args, 0);
    let last = lines(&dir, "a.jsonl").pop().unwrap();
    assert_eq!((&last["pn"], &last["dn"]), (&0.into(), &Value::Null));
    assert_eq!(last["best_move"], solved["best_move"]);
    assert_eq!(
        (&last["moves"][0]["move"], &last["moves"][0]["pn"]),
        (&solved["best_move"], &0.into())
    );
}

#[test]
fn a_trace_agrees_with_the_search() {
    let dir = TestDir::new();
    let limited = ["solve", "8x8", "--max-nodes", "50k", "--trace", "a.jsonl", "--json"];
    let solved = dir.json(&limited, 3);
    let last = lines(&dir, "a.jsonl").pop().unwrap();
    assert_eq!((&last["pn"], &last["dn"]), (&solved["pn"], &solved["dn"]));
    assert_eq!(last["best_move"], solved["best_move"]);
    for mv in last["moves"].as_array().unwrap() {
        assert!(mv["pn"].as_u64().unwrap() > 0 && mv["dn"].as_u64().unwrap() > 0, "{mv}");
    }
    dir.json(&["solve", "5x5", "--algo", "ab", "--trace", "a.jsonl", "--json"], 0);
    let last = lines(&dir, "a.jsonl").pop().unwrap();
    assert!(last["depth"].is_u64() && last.get("pn").is_none(), "{last}");
    // A finished game needs no search.
    dir.json(&["solve", "1x1", "--position", "1 w", "--trace", "a.jsonl", "--json"], 0);
    assert_eq!(lines(&dir, "a.jsonl").len(), 1);
    let sprouts = ["sprouts", "solve", "0*6", "--trace", "a.jsonl", "--json"];
    let solved = dir.json(&sprouts, 0);
    let last = lines(&dir, "a.jsonl").pop().unwrap();
    assert_eq!((&last["pn"], &last["dn"]), (&Value::Null, &0.into()));
    assert_eq!((&last["nodes"], last.get("moves")), (&solved["nodes"], None));
}

#[test]
fn an_unwritable_trace_keeps_the_answer() {
    let dir = TestDir::new();
    for (name, exit) in [(".", 2), ("nowhere/a.jsonl", 4)] {
        let output = dir.run(&["solve", "4x4", "--trace", name]);
        assert_eq!((code(&output), stdout(&output).as_str()), (exit, ""), "{name}");
        assert!(stderr(&output).contains(name), "{}", stderr(&output));
    }
    #[cfg(unix)]
    for line in ["solve 5x5 --trace a.jsonl --json", "sprouts solve 0*5 --trace a.jsonl --json"] {
        let output = dir.shell(&format!("ulimit -f 0; exec konane {line}")).output().unwrap();
        assert_eq!(code(&output), 4, "{line}: {}", stderr(&output));
        assert!(one_object(&stdout(&output))["outcome"].is_string());
        assert!(stderr(&output).contains("a.jsonl"), "{}", stderr(&output));
    }
}

#[test]
fn positions_are_drawn() {
    let dir = TestDir::new();
    let start = stdout(&dir.run(&["draw", "3x3"]));
    assert!(start.starts_with("<svg") && start.ends_with("</svg>\n"));
    assert_eq!(start.matches("<circle").count(), 9);
    // A ring around the last removed stone.
    let output = dir.run(&["draw", "3x3", "--moves", "B2,b3", "--out", "a.svg"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, ""), "{}", stderr(&output));
    let drawn = fs::read_to_string(dir.path("a.svg")).unwrap();
    assert_eq!(drawn.matches("<circle").count(), 8);
    let same = dir.run(&["draw", "3x3", "--position", "xox/o1o/xox w", "--moves", "b3"]);
    assert_eq!(stdout(&same), drawn);
    let output = dir.run(&["draw", "3x3", "--out", "nowhere/a.svg"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (4, ""));
    let output = dir.run(&["draw", "3x3", "--moves", "b2 c1"]);
    assert_eq!(code(&output), 2);
    let output = dir.run(&["sprouts", "draw", "0*3", "-o", "b.svg"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, ""), "{}", stderr(&output));
    assert!(fs::read_to_string(dir.path("b.svg")).unwrap().starts_with("<svg"));
}
