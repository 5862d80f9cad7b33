//! `konane sprouts canonical`, `children`, `solve`, `verify` and `draw`: positions as text.

use serde_json::{Value, json};

use super::common::TestDir;
use super::sprouts_search::konane;

fn answer(args: &[&str]) -> String {
    let output = konane(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}");
    assert!(output.stderr.is_empty());
    String::from_utf8(output.stdout).unwrap()
}

fn object(args: &[&str], code: i32) -> Value {
    super::common::json(&[&["sprouts"], args].concat(), code)
}

#[test]
fn canonical() {
    assert_eq!(answer(&["canonical", "0*2.BA|AB1"]), "0*2.AB|1AB\n");
    assert_eq!(answer(&["canonical", "3"]), "!\n");
    assert_eq!(
        object(&["canonical", "0.0.}]!", "--json"], 0),
        json!({"position": "0.0.}]!", "canonical": "0*2"})
    );
}

#[test]
fn children() {
    assert_eq!(answer(&["children", "0*2"]), "0.AB|AB\n1a1a\n");
    assert_eq!(answer(&["children", "!"]), "");
    assert_eq!(answer(&["children", "22+22"]), "22\n");
    assert_eq!(
        object(&["children", "22", "--json"], 0),
        json!({"position": "22", "children": ["!"]})
    );
}

#[test]
fn children_with_values() {
    let value = object(&["children", "0*2+0*3", "--values", "--json"], 0);
    assert_eq!((&value["position"], &value["canonical"]), (&"0*2+0*3".into(), &"0*2+0*3".into()));
    assert_eq!((&value["outcome"], &value["grundy"]), (&"win".into(), &1.into()));
    let lands = json!([
        {"position": "0*2", "grundy": 0, "source": "search"},
        {"position": "0*3", "grundy": 1, "source": "search"}
    ]);
    assert_eq!(value["lands"], lands);
    let child = |position: &str, grundy: u32, outcome: &str| json!({"position": position, "grundy": grundy, "outcome": outcome, "source": "search"});
    let children = json!([
        child("0*2+0.1a1a", 0, "win"),
        child("0*2+0.AB|0.AB", 0, "win"),
        child("0*2+0*2.AB|AB", 2, "loss"),
        child("0*3+0.AB|AB", 3, "loss"),
        child("0*3+1a1a", 3, "loss")
    ]);
    assert_eq!(value["children"], children);
    assert!(value["seconds"].as_f64().unwrap() > 0.0 && value.get("reason").is_none());
    let text = answer(&["children", "0*3", "--values"]);
    let lines = "win        0  0.1a1a\nwin        0  0.AB|0.AB\nloss       2  0*2.AB|AB\n";
    assert!(text.starts_with("0*3\n  outcome     win: ") && text.ends_with(lines), "{text}");
    let rules = object(&["children", "1", "--values", "--json"], 0);
    assert_eq!(rules["children"][0]["source"], "rules");
    let over = object(&["children", "!", "--values", "--json"], 0);
    assert_eq!((&over["outcome"], &over["children"]), (&"loss".into(), &json!([])));
    // Children unknown at a limit come last.
    let open = object(&["children", "0*30", "--values", "--max-nodes", "300", "--json"], 3);
    assert_eq!((&open["outcome"], &open["reason"]), (&"unknown".into(), &"node limit".into()));
    let last = open["children"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["outcome"], &last["grundy"]), (&"unknown".into(), &Value::Null));
    let output = konane(&["children", "0*30", "--values", "--time-limit", "50ms"]);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("unknown (time limit)") && text.contains(" are unknown"), "{text}");
    for flag in [["--time-limit", "1s"], ["--max-nodes", "1"], ["--memory", "1GiB"], ["--db", "a"]]
    {
        let output = konane(&[&["children", "0*2"], &flag[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{flag:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("--values"));
    }
}

#[test]
fn children_take_numbers_from_a_file_and_add_to_it() {
    let dir = TestDir::new();
    let [file] = &dir.paths(["numbers"]);
    let children = || object(&["children", "0*5", "--values", "--json", "--db", file], 0);
    let (found, known) = (children(), children());
    assert!(found["nodes"].as_u64().unwrap() > 0 && known["nodes"] == 0);
    for (found, known) in [(&found, "search"), (&known, "file")] {
        for child in found["children"].as_array().unwrap() {
            assert_eq!(child["source"], known);
        }
    }
}

#[test]
fn invalid_positions_exit_with_2_and_the_location() {
    for subcommand in ["canonical", "children", "draw"] {
        for (text, dir) in
            [("0*2.AB|1A", "character 6"), ("0*x", "character 3"), ("-", "character 1")]
        {
            let output = konane(&[subcommand, text]);
            assert_eq!(output.status.code(), Some(2), "{subcommand} {text}");
            assert!(output.stdout.is_empty());
            let message = String::from_utf8(output.stderr).unwrap();
            assert!(message.starts_with("error: position: ") && message.contains(dir), "{message}");
        }
    }
}

#[test]
fn solve_reads_the_heaps_that_it_writes() {
    let solved = |args: &[&str]| {
        let mut value = object(&[&["solve"], args, &["--threads", "1", "--json"]].concat(), 0);
        let fields = ["position", "canonical", "nimber", "outcome", "best_move", "nodes"];
        fields.map(|field| value[field].take())
    };
    let flag = solved(&["0*3", "--nimber", "2"]);
    assert_eq!((&flag[0], &flag[2], &flag[4]), (&"0*3".into(), &2.into(), &"0*3 + *1".into()));
    for text in ["0*3 + *2", "0*3+*2", " 0*3 +  *2\n"] {
        assert_eq!(solved(&[text]), flag, "{text}");
    }
    for subcommand in ["grundy", "children", "canonical"] {
        assert_eq!(object(&[subcommand, " 0*3 ", "--json"], 0)["position"], "0*3", "{subcommand}");
    }
    // The position after the best move is lost.
    assert_eq!(solved(&["0*3 + *1"])[3], "loss");
    for (args, parts) in [
        (&["solve", "0*3 + *1", "--nimber", "2"][..], ["--nimber", "give only one"]),
        (&["solve", "0*3 + *1001"], ["size of the heap", "0 to 1000"]),
        (&["solve", "0*3 + *1 + *2"], ["character 7", "heap"]),
        (&["solve", "0*3 + *x"], ["character 4", "meaning"]),
        (&["children", "0*3 + *1"], ["character 7", "`konane sprouts solve`"]),
        (&["grundy", "!+*1"], ["character 3", "give the position alone"]),
    ] {
        let output = konane(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(parts.iter().all(|part| message.contains(part)), "{args:?}: {message}");
    }
}

/// Writes a file to a temporary directory. The directory is deleted when `TestDir` is dropped.
fn file(content: &str) -> (TestDir, String) {
    let dir = TestDir::new();
    let [path] = dir.paths(["numbers.spr"]);
    std::fs::write(&path, content).unwrap();
    (dir, path)
}

#[test]
fn verify_names_the_problem() {
    let (_kept, path) = file("[Positions+Nimber]\n0*2 0\n0.AB.}AB.}]! 3\nAB|AB 1\n");
    let value = object(&["verify", &path, "--root", "0*2", "--json"], 1);
    assert_eq!((&value["entries"], &value["established"]), (&json!(3), &json!(2)));
    assert_eq!((&value["wrong"], &value["undecided"]), (&json!(1), &json!(0)));
    assert_eq!((&value["valid"], &value["outcome"]), (&json!(false), &json!("loss")));
    assert_eq!((&value["problems"][0]["line"], &value["reason"]), (&json!(3), &Value::Null));
    // An unfinished check gives no verdict.
    let output = konane(&["verify", &path, "--json", "--memory", "1"]);
    assert_eq!(output.status.code(), Some(3));
    let value: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let memory = konane::search::run::Reason::Memory.text();
    assert_eq!((&value["valid"], &value["reason"]), (&Value::Null, &json!(memory)));
    assert_eq!((&value["entries"], &value["established"]), (&Value::Null, &json!(0)));
    // A file without entries proves nothing, even for a root that is quick to search.
    for header in ["[Positions+Nimber]\n", "[WinLoss:Losing_Position]\n\n"] {
        let (_kept, path) = file(header);
        for root in [&[][..], &["--root", "0*2"]] {
            let args = [&["verify", &path], root].concat();
            let value = object(&[&args[..], &["--json"]].concat(), 1);
            assert_eq!((&value["entries"], &value["valid"]), (&json!(0), &json!(false)));
            assert_eq!(value["reason"], Value::Null);
            let output = konane(&args);
            assert_eq!(output.status.code(), Some(1));
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.contains("no: without entries the file proves nothing"), "{text}");
        }
    }
    let (_kept, path) = file("[Positions+Nimber]\n0*2 0\nAB|AB 1\n");
    let text = answer(&["verify", &path, "--root", "0*2"]);
    assert!(text.contains("outcome     loss") && text.contains("valid       yes"), "{text}");
}

/// Reaching a limit gives no verdict. A contradiction does, even if a limit was also reached.
#[test]
fn verify_gives_no_verdict_at_a_limit() {
    let (_long, long) = file("[Positions+Nimber]\n0*30 0\n");
    let (_kept, correct) = file("[Positions+Nimber]\n0*2 0\n0*4 1\n0*5 1\n");
    assert_eq!(object(&["verify", &correct, "--json"], 0)["valid"], json!(true));
    for (path, limit, reason, remedy) in [
        (&correct, ["--max-work", "1"], "node limit", "--max-work"),
        (&long, ["--time-limit", "50ms"], "time limit", "--time-limit"),
    ] {
        let args = [&["verify", path.as_str()][..], &limit].concat();
        let value = object(&[&args[..], &["--json"]].concat(), 3);
        assert_eq!((&value["valid"], &value["reason"]), (&Value::Null, &json!(reason)));
        assert_eq!(value["wrong"], 0);
        let output = konane(&args);
        assert_eq!(output.status.code(), Some(3));
        let text = String::from_utf8(output.stdout).unwrap();
        let valid = format!("valid       unknown ({reason}); {remedy} allows more\n");
        assert!(text.contains(&valid), "{text}");
    }
    let (_wrong, wrong) = file("[Positions+Nimber]\n0*2 1\n0*4 1\n0*2 0\n");
    let value = object(&["verify", &wrong, "--max-work", "1", "--json"], 1);
    assert_eq!((&value["valid"], &value["reason"]), (&json!(false), &json!("node limit")));
    assert!(value["undecided"].as_u64() > Some(0) && value["wrong"].as_u64() > Some(0), "{value}");
}

/// A root that is missing from the file is detected before the search.
#[test]
fn verify_rejects_a_root_missing_from_the_file() {
    let (_kept, path) = file("[Positions+Nimber]\n0*2 0\n0*4 1\n0.AB|AB 2\n1a1a 2\n");
    // With a work limit of 0, the error cannot come from a search.
    let output = konane(&["verify", &path, "--root", "0*14", "--json", "--max-work", "1"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b""[..]), "{message}");
    for part in ["root", "0*14", "choose a position of the file"] {
        assert!(message.contains(part), "{message}");
    }
    // Lands in the file, equal lands, and a position with a move to lands in the file.
    for (root, outcome) in
        [("0*2+0*4", "win"), ("0*9+0*9", "loss"), ("0*9+0*9+0*2", "loss"), ("0*2+22", "win")]
    {
        let value = object(&["verify", &path, "--root", root, "--json"], 0);
        assert_eq!(value["outcome"], outcome, "{root}");
    }
}

#[test]
fn unreadable_files_exit_with_4() {
    let (_kept, path) = file("[Positions+Nimber]\n0*2 0\n0*x 1\n");
    let output = konane(&["verify", &path]);
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 3: position: character 3"));
    assert_eq!(konane(&["verify", "/nonexistent.spr"]).status.code(), Some(4));
    // The database written by a search has another format.
    let (kept, _) = file("");
    let [database] = &kept.paths(["kept.nimbers"]);
    answer(&["solve", "0*3", "--db", database]);
    let output = konane(&["verify", database]);
    assert_eq!(output.status.code(), Some(4));
    let tip = format!("tip: `konane sprouts db export {database} FILE.spr`");
    assert!(String::from_utf8_lossy(&output.stderr).contains(&tip));
}

#[test]
fn draw() {
    let picture = answer(&["draw", "0*2.AB|1aABa"]);
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    // Two panels with six occurrences of letters and three other spots.
    assert_eq!(picture.matches("rx=\"10\"").count(), 2);
    assert_eq!(picture.matches("text-anchor").count(), 9);
    assert!(answer(&["draw", "!"]).contains("nothing is left"));
}
