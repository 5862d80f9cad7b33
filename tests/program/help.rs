//! The help of every verb.

use super::common::{code, konane, stderr, stdout};
use super::snapshot;

/// What stands below `Commands:` in a help text, but for `help` itself.
fn verbs(help: &str) -> Vec<String> {
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    commands
        .take_while(|line| !line.is_empty())
        // A verb is indented by two; the lines that go on by more.
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .map(|line| line.split_whitespace().next().expect("a verb").to_owned())
        .filter(|verb| verb != "help")
        .collect()
}

/// The help of a verb and of the verbs below it, in the order of the help.
pub fn collect(verb: &[&str], text: &mut String) {
    let output = konane(&[verb, &["--help"]].concat());
    assert_eq!(code(&output), 0, "{verb:?}: {}", stderr(&output));
    let help = stdout(&output);
    *text += &format!("===== {} --help\n{help}\n", [&["konane"], verb].concat().join(" "));
    for below in verbs(&help) {
        collect(&[verb, &[&below]].concat(), text);
    }
}

#[test]
fn help_of_every_verb() {
    let mut text = String::new();
    collect(&[], &mut text);
    for heading in ["===== konane solve --help", "===== konane sprouts db export --help"] {
        assert!(text.contains(heading), "{heading}");
    }
    snapshot::check("help.txt", &text);
}
