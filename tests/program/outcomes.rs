//! The help, the exit codes and the JSON of every subcommand.

use std::fs;

use super::common::{TestDir, code, konane, stderr, stdout, valid, words};

/// Creates a directory with one file of every kind, and copies with one byte changed.
fn prepared_dir() -> TestDir {
    let dir = TestDir::with_files();
    fs::create_dir(dir.path("damaged")).expect("a directory");
    for name in ["4x4.proof", "5x6.ckpt", "some.nimbers", "some.results", "some.spr"] {
        let mut bytes = fs::read(dir.path(name)).expect("it was written");
        // The changed byte is in the middle, because a log with a damaged last record is still valid.
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        fs::write(dir.path("damaged").join(name), bytes).expect("a copy");
    }
    dir
}

/// Returns the lines of a table without comments.
fn lines(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Fails if the program unexpectedly rejects an option or subcommand of the line as unknown.
fn assert_names_exist(line: &str, message: &str) {
    let is_unknown = ["unexpected argument", "unrecognized subcommand"]
        .iter()
        .any(|error| message.contains(error));
    let is_meant = words(line).iter().any(|word| word.contains("nonsense") || word.is_empty());
    assert!(!is_unknown || is_meant, "{line}: {message}");
}

#[test]
fn exit_codes() {
    let dir = prepared_dir();
    for row in lines(include_str!("exit_codes.txt")) {
        let (expected, line) = row.split_once("  ").expect("a code and a command line");
        let output = dir.run(&words(line));
        assert_names_exist(line, &stderr(&output));
        assert_eq!(code(&output).to_string(), expected, "{line}: {}", stderr(&output));
    }
}

/// Compares the objects with a snapshot. Fractional numbers are times and speeds, so they are not
/// compared.
#[test]
fn json_objects_match_the_snapshot_and_the_schema() {
    let dir = prepared_dir();
    let mut text = String::new();
    for line in lines(include_str!("json.txt")) {
        let output = dir.run(&words(line));
        assert_names_exist(line, &stderr(&output));
        text += &format!("$ konane {line}\n? {}\n{}", code(&output), stdout(&output));
        for object in stdout(&output).lines() {
            valid(&words(line), serde_json::from_str(object).expect(line));
        }
    }
    insta::with_settings!({ filters => vec![
        (r":\d+(\.\d+)?(e-\d+)|:\d+\.\d+", ":[fraction]"),
        (r#","program":\{[^}]*\}"#, ""),
        (r#"(peak_memory_bytes|memory_limit|disk_limit)":\d+"#, r#"$1":[machine]"#),
    ] }, { insta::assert_snapshot!("json", text) });
}

/// Returns the subcommands listed below `Commands:` in a help text, without `help` itself.
fn subcommands(help: &str) -> Vec<String> {
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    commands
        .take_while(|line| !line.is_empty())
        // A name is indented by two spaces, a continuation line by more.
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .map(|line| line.split_whitespace().next().expect("a name").to_owned())
        .filter(|name| name != "help")
        .collect()
}

/// Appends the help of a subcommand and of its own subcommands, in the order of the help.
pub fn collect(path: &[&str], text: &mut String) {
    let output = konane(&[path, &["--help"]].concat());
    assert_eq!(code(&output), 0, "{path:?}: {}", stderr(&output));
    let help = stdout(&output);
    *text += &format!("===== {} --help\n{help}\n", [&["konane"], path].concat().join(" "));
    for below in subcommands(&help) {
        collect(&[path, &[&below]].concat(), text);
    }
}

#[test]
fn help_of_every_subcommand() {
    let mut text = String::new();
    collect(&[], &mut text);
    for heading in ["===== konane solve --help", "===== konane sprouts db export --help"] {
        assert!(text.contains(heading), "{heading}");
    }
    insta::assert_snapshot!("help", text);
}
