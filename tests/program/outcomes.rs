//! Exit codes, and which keys the JSON has.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::common::{Place, code, konane, stderr, stdout, words};
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

/// Fails if the program does not know an option or subcommand of the line. Rows about unknown names
/// contain the word `nonsense` or an empty argument.
fn assert_names_exist(line: &str, message: &str) {
    let is_unknown = ["unexpected argument", "unrecognized subcommand"]
        .iter()
        .any(|error| message.contains(error));
    let is_meant = words(line).iter().any(|word| word.contains("nonsense") || word.is_empty());
    assert!(!is_unknown || is_meant, "{line}: {message}");
}

#[test]
fn exit_codes() {
    let place = place();
    let mut text = String::new();
    for line in lines("exit_codes.txt") {
        let output = place.run(&words(&line));
        assert_names_exist(&line, &stderr(&output));
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
        assert_names_exist(&line, &stderr(&output));
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

/// The published schema is the one that the program prints; objects are valid by the schema of their
/// subcommand.
#[test]
fn objects_match_the_schema() {
    let schema = include_str!("../../docs/json.schema.json");
    if cfg!(feature = "explore") {
        let remedy = "write docs/json.schema.json again: cargo xtask pages json";
        assert!(stdout(&konane(&["json-schema"])) == schema, "{remedy}");
    }
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let place = place();
    for (command, line) in [
        ("solve", "solve 4x4 --algo pn2 --threads 1 --json"),
        ("solve", "solve 8x8 --max-nodes 1000 --threads 1 --json"),
        ("solve", "solve 4x4 --proof new.proof --checkpoint new.ckpt --lines --json --quiet"),
        ("perft", "perft 4x4 3 --divide --json"),
        ("perft", "perft 4x4 3 --unique --json"),
        ("builddb", "builddb 3x3 --out new --json --quiet"),
        ("builddb --plan", "builddb 6x6 --plan --json"),
        ("probe", "probe 3x3 --db db --moves \"\" --json"),
        ("analyse", "analyse 3x3 --json"),
        ("analyse", "analyse 1x3 --position \"1ox b\" --phase jump --json"),
        ("statespace", "statespace 3x3 --json --quiet"),
        ("verifydb", "verifydb db/3x3-complete --json --quiet"),
        ("verify-proof", "verify-proof 4x4.proof --json --quiet"),
        ("sprouts solve", "sprouts solve 0*5 --threads 1 --json"),
        ("sprouts solve", "sprouts solve 0*9 --max-nodes 100 --lines --json"),
        ("sprouts children", "sprouts children 0*3 --json"),
        ("sprouts children --values", "sprouts children 0*3 --values --json"),
        ("sprouts children --values", "sprouts children 0*12 --values --max-nodes 100 --json"),
        ("sprouts canonical", "sprouts canonical 0*3 --json"),
        ("sprouts grundy", "sprouts grundy 0*5 --threads 1 --json"),
        ("sprouts db export", "sprouts db export some.nimbers all.spr --json"),
        ("sprouts db stats", "sprouts db stats some.nimbers --json"),
    ] {
        let value: Value = serde_json::from_str(&stdout(&place.run(&words(line)))).expect(line);
        let wanted =
            json!({ "$defs": schema["$defs"], "$ref": schema["properties"][command]["$ref"] });
        let validator = jsonschema::validator_for(&wanted).expect("a schema");
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{line}: {errors:?}: {value}");
        // The schema names every key.
        let name = wanted["$ref"].as_str().expect("a name").rsplit('/').next().expect("a name");
        let properties = schema["$defs"][name]["properties"].as_object().expect("an object");
        for key in value.as_object().expect("an object").keys() {
            assert!(properties.contains_key(key), "{line}: {key} is not in the schema");
        }
    }
}
