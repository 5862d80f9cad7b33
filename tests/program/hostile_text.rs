//! Control sequences in file names, records and arguments never reach the terminal.
#![cfg(unix)]

use std::fs;
use std::process::Output;

use super::common::{TestDir, code, command, stderr, stdout};

/// A text that sets the terminal title, changes colours with C1 codes, reverses the writing
/// direction, and forges a line of output.
const HOSTILE: &str =
    "x\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\u{2066}\u{200f}\u{61c}\u{7f}\r\nFORGED";

/// The hostile text without line feeds, for a command, a header or a comment.
fn line() -> String {
    HOSTILE.replace(['\r', '\n'], "")
}

/// Checks that the output contains no control characters.
fn check_harmless(name: &str, output: &Output) {
    let (out, err) = (stdout(output), stderr(output));
    for text in [&out, &err] {
        let is_harmless = |found: char| {
            let is_bidirectional = "\u{61c}\u{200e}\u{200f}".contains(found)
                || ('\u{202a}'..='\u{202e}').contains(&found)
                || ('\u{2066}'..='\u{2069}').contains(&found);
            found == '\n' || !found.is_control() && !is_bidirectional
        };
        assert!(text.chars().all(is_harmless), "{name}: {text:?}");
        assert!(!text.lines().any(|line| line.starts_with("FORGED")), "{name}: {text:?}");
    }
}

/// Checks in addition that the output contains the hostile text in escaped form: in text, in JSON,
/// or in JSON that quotes an error.
fn check(name: &str, output: &Output) {
    check_harmless(name, output);
    let shown = stdout(output) + &stderr(output);
    let forms = ["x\\u{1b}]0;title", "x\\u001b]0;title", "x\\\\u{1b}]0;title"];
    assert!(forms.iter().any(|form| shown.contains(form)), "{name}: {shown:?}");
}

/// Creates a directory with files of every kind under hostile names.
fn prepared_dir() -> TestDir {
    let dir = TestDir::new();
    let name = |extension: &str| format!("{HOSTILE}{extension}");
    let record = format!(
        "Board: 4x4\nBlack: {0}\nWhite: {0}\nEvent: {0}\n\n{{{0}}} 1. a4 {{{0}}} b4 2. a2-a4\n",
        line()
    );
    fs::write(dir.path(&name(".game")), &record).unwrap();
    fs::write(dir.path("record"), &record).unwrap();
    fs::write(dir.path(&name(".bad")), format!("Board: 4x4\n\n1. {HOSTILE}\n")).unwrap();
    fs::write(dir.path(&name(".spr")), format!("0*2 {}\n", line())).unwrap();
    dir.json(&["solve", "4x4", "--proof", &name(".proof"), "--json", "-q"], 0);
    dir.json(&["builddb", "3x3", "--out", &name(".db"), "--json", "-q"], 0);
    dir
}

#[test]
fn file_names_are_escaped() {
    let dir = prepared_dir();
    for line in [
        "annotate @.none",
        "annotate @.bad",
        "annotate @.game --proof @.proof",
        "analyse --game @.none",
        "analyse --game @.bad --json",
        "analyse 4x4 --proof @.proof",
        "play 4x4 --proof @.proof --side black",
        "play 4x4 --proof @.none",
        "probe 3x3 --db @.none",
        "probe 4x4 --db @.db",
        "probe 3x3 --db @.db --moves b2",
        "solve 3x3 --db @.db",
        "solve 4x4 --db @.db",
        "solve 4x4 --proof @.proof2",
        "solve 4x4 --proof @.proof3 --json",
        "solve 4x4 --proof @.proof4 --trace @.proof4",
        "solve 4x4 --trace @.none/trace",
        "solve 4x4 --checkpoint @.checkpoint",
        "solve 4x4 --checkpoint @.checkpoint2 --json",
        "solve 4x4 --checkpoint @.none --resume",
        "solve 4x4 --checkpoint @.checkpoint3 -v",
        "solve 3x3 --db @.db -v",
        "builddb 3x3 --out @.new --dry-run",
        "builddb 3x3 --out @.game",
        "verifydb @.none",
        "verifydb @.db",
        "verify-proof @.none",
        "verify-proof @.game",
        "verify-proof @.proof --json",
        "draw 4x4 --out @.none/picture.svg",
        "sprouts verify @.none",
        "sprouts verify @.spr",
        "sprouts solve 0*2 --db @.game",
        "sprouts db import @.numbers @.spr",
        "sprouts db import @.game @.spr",
        "sprouts db stats @.none",
        "sprouts db export @.none @.spr2",
        "sprouts db merge @.numbers2 @.none",
    ] {
        let arguments: Vec<String> =
            line.split(' ').map(|word| word.replace('@', HOSTILE)).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        check(line, &dir.run(&arguments));
    }
}

#[test]
fn arguments_are_escaped() {
    for line in [
        "@",
        "solve @",
        "solve 4x4 @",
        "solve 4x4 --moves @",
        "solve 4x4 --memory @",
        "solve 4x4 --time-limit @",
        "solve 4x4 --@",
        "perft 4x4 @",
        "bench --expect @",
        "man @",
        "completions @",
        "sprouts @",
    ] {
        let arguments: Vec<String> =
            line.split(' ').map(|word| word.replace('@', HOSTILE)).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = command(&arguments).output().expect("the program runs");
        assert_eq!(code(&output), 2, "{line}: {output:?}");
        check(line, &output);
    }
}

#[test]
fn arguments_not_quoted_in_errors_are_harmless() {
    for arguments in [&["solve", "4x4", "--position", HOSTILE][..], &["sprouts", "solve", HOSTILE]]
    {
        let output = command(arguments).output().expect("the program runs");
        assert_eq!(code(&output), 2, "{output:?}");
        check_harmless(&arguments.join(" "), &output);
    }
}

#[test]
fn records_are_escaped() {
    let dir = prepared_dir();
    for arguments in [&["annotate", "record"][..], &["annotate", "record", "--json"]] {
        check(&arguments.join(" "), &dir.run(arguments));
    }
    let record = fs::read_to_string(dir.path("record")).unwrap();
    check("annotate -", &dir.with_input(&["annotate", "-"], &record));
}

#[test]
fn lines_of_standard_input_are_escaped() {
    let dir = prepared_dir();
    let hostile = line();
    for (arguments, commands) in [
        (&["analyse", "4x4"][..], &["save @", "load @2", "draw @3", "move @", "undo @"][..]),
        (&["analyse", "4x4", "--json"], &["save @", "load @2", "draw @3", "move @"]),
        (&["play", "4x4", "--side", "both"], &["save @", "load @", "load @2", "draw @3", "@"]),
        (&["sprouts", "play", "0*2"], &["new @", "@", "undo @", "save @", "load @", "load @2"]),
    ] {
        for command in commands {
            let input = command.replace('@', &hostile) + "\n";
            let name = format!("{arguments:?} {command}");
            check(&name, &dir.with_input(arguments, &input));
        }
    }
    let database = format!("{HOSTILE}.db");
    let arguments = ["probe", "3x3", "--db", &database, "-"];
    check_harmless("probe -", &dir.with_input(&arguments, &(hostile + "\n")));
}
