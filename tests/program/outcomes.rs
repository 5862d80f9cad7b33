//! Exit codes, and which keys the JSON has.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::common::{Place, code, stderr, stdout, words};
use super::snapshot;

/// A directory with one file of every kind in it, made by the program.
fn place() -> Place {
    let place = Place::new();
    for line in [
        "builddb 3x3 --out db --quiet",
        "solve 4x4 --proof 4x4.proof --quiet",
        "solve 5x6 --max-nodes 2000 --threads 1 --checkpoint 5x6.ckpt --quiet",
        "sprouts solve 0*5 --threads 1 --db some.nimbers --quiet",
        "sprouts db export some.nimbers some.spr",
    ] {
        let output = place.run(&words(line));
        assert!([0, 3].contains(&code(&output)), "{line}: {}", stderr(&output));
    }
    fs::create_dir(place.path("damaged")).expect("a directory");
    for name in ["4x4.proof", "5x6.ckpt", "some.nimbers", "some.spr"] {
        let mut bytes = fs::read(place.path(name)).expect("it was written");
        // Not the last byte: a log is whole without its last record.
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        fs::write(place.path("damaged").join(name), bytes).expect("a copy");
    }
    place
}

/// Command lines and nothing else; a `#` begins a comment.
fn lines(name: &str) -> Vec<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/program").join(name);
    let text = fs::read_to_string(path).expect("the table of commands");
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn exit_codes() {
    let place = place();
    let mut text = String::new();
    for line in lines("exit_codes.txt") {
        let output = place.run(&words(&line));
        writeln!(text, "{:>3}  {line}", code(&output)).expect("text grows");
    }
    snapshot::check("exit_codes.txt", &text);
}

/// The names of all fields, those of objects below them behind a point, those in a list once.
fn keys(value: &Value, above: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = format!("{above}{name}");
                keys(value, &format!("{name}."), found);
                found.push(name);
            }
        }
        Value::Array(values) => {
            for value in values {
                keys(value, above, found);
            }
        }
        _ => {}
    }
}

#[test]
fn json_keys() {
    let place = place();
    let mut text = String::new();
    for line in lines("json.txt") {
        let output = place.run(&words(&line));
        writeln!(text, "{line}\n    exit code {}", code(&output)).expect("text grows");
        let mut found = Vec::new();
        for object in stdout(&output).lines() {
            let value = serde_json::from_str(object)
                .unwrap_or_else(|error| panic!("{line}: {error}: {object}"));
            keys(&value, "", &mut found);
        }
        found.sort_unstable();
        found.dedup();
        for key in found {
            writeln!(text, "    {key}").expect("text grows");
        }
    }
    snapshot::check("json_keys.txt", &text);
}

/// What `--json` writes can be read back into the types of the library.
#[test]
fn objects_are_those_of_the_types() {
    use konane::cli::json::VerifyProofJson;
    use konane::cli::json::{ExportJson, GrundyJson, PerftJson, ProbeJson, SolveJson};
    use konane::cli::json::{SproutsSolveJson, StateSpaceJson, ValuesJson, VerifyJson};
    fn same<T: serde::de::DeserializeOwned + serde::Serialize>(place: &Place, line: &str) {
        let text = stdout(&place.run(&words(line)));
        let read: T = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{line}: {e}: {text}"));
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(serde_json::to_value(&read).expect("JSON"), value, "{line}");
    }
    let place = place();
    same::<SolveJson>(&place, "solve 4x4 --algo pn2 --threads 1 --json");
    same::<SolveJson>(&place, "solve 8x8 --max-nodes 1000 --threads 1 --json");
    same::<PerftJson>(&place, "perft 4x4 3 --divide --json");
    same::<ProbeJson>(&place, "probe 3x3 --db db --moves \"\" --json");
    same::<StateSpaceJson>(&place, "statespace 3x3 --json --quiet");
    same::<VerifyJson>(&place, "verifydb db/3x3-complete --json --quiet");
    same::<VerifyProofJson>(&place, "verify-proof 4x4.proof --json --quiet");
    same::<SproutsSolveJson>(&place, "sprouts solve 0*5 --threads 1 --json");
    same::<SproutsSolveJson>(&place, "sprouts solve 0*9 --max-nodes 100 --lines --json");
    same::<ValuesJson>(&place, "sprouts children 0*3 --values --json");
    same::<ValuesJson>(&place, "sprouts children 0*12 --values --max-nodes 100 --json");
    same::<GrundyJson>(&place, "sprouts grundy 0*5 --threads 1 --json");
    same::<ExportJson>(&place, "sprouts db export some.nimbers all.spr --json");
}
