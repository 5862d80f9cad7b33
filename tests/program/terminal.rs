//! Terminal output while the program runs.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Action, Winsize, tcflow, tcgetattr, tcsetwinsize};

use super::common::{code, command, ends_soon, one_object, signal, stdout};

/// Opens a terminal of 80 columns. Returns the program's end, the user's end, and all output so
/// far.
fn terminal() -> (File, File, Arc<Mutex<String>>) {
    let controller =
        openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
    grantpt(&controller).expect("ours");
    unlockpt(&controller).expect("ours");
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&controller, size).expect("a size");
    let name = ptsname(&controller, Vec::new()).expect("a name").into_string().expect("text");
    let user = OpenOptions::new().read(true).write(true).open(name).expect("the other end");
    let shown = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&shown);
    let person = File::from(controller);
    let mut seen = person.try_clone().expect("another handle");
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        // Fails when the other end has been closed.
        while let Ok(count) = seen.read(&mut bytes) {
            kept.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    });
    (user, person, shown)
}

/// Waits until the terminal output satisfies `wanted`.
fn wait(shown: &Mutex<String>, wanted: impl Fn(&str) -> bool) -> String {
    let started = Instant::now();
    loop {
        let text = shown.lock().unwrap().clone();
        if wanted(&text) {
            return text;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{text:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns true if the editor of lines waits for a line: the last output is an empty line with the prompt.
fn is_at_prompt(text: &str) -> bool {
    console::strip_ansi_codes(text).ends_with("\r> \r")
}

#[test]
fn the_live_line_has_no_full_bar_and_is_cleared_on_interrupt() {
    let (user, _person, shown) = terminal();
    let mut command = command(&["statespace", "5x6", "--threads", "1", "--json"]);
    command.env("TERM", "xterm").stderr(user);
    let child = command.spawn().expect("the program runs");
    // The command also keeps the terminal open.
    drop(command);
    // The terminal echoes Ctrl-C at the cursor. The cursor is at the start of the live line, so the
    // echo is cleared with it. At the end of a full line, the echo would start a new line and the
    // live line would stay.
    let text = wait(&shown, |text| text.contains('%') && text.ends_with('\r'));
    let percent = text.split(" %").next().unwrap().rsplit(' ').next().unwrap();
    assert_ne!(percent, "100", "{text:?}");
    signal(&child, "-INT");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(code(&output), 130, "the run takes several seconds");
    let value = one_object(&stdout(&output));
    assert_eq!(value["reason"], "interrupted");
    assert!(value["total"].is_null() && value["plies"].as_array().unwrap().is_empty(), "{value}");
    wait(&shown, |text| text.trim_end_matches('\r').ends_with("\u{1b}[2K"));
}

#[test]
fn the_live_line_of_a_known_amount_of_work_shows_the_remaining_time() {
    for (args, work) in [
        (["statespace", "5x6", "--threads", "1"].as_slice(), "positions"),
        (&["perft", "8x8", "20", "--memory", "64MiB"], "counting ply"),
        (&["perft", "8x8", "20", "--plain"], "counting ply"),
        (&["complexity", "8x8", "--samples", "1000000"], "random games"),
    ] {
        let (user, _person, shown) = terminal();
        let mut command = command(args);
        let child = command.env("TERM", "xterm").stderr(user).spawn().expect("the program runs");
        drop(command);
        let estimated =
            |line: &str| line.contains(work) && line.contains(" %, ") && line.contains(" left ");
        wait(&shown, |text| text.split('\r').any(estimated));
        signal(&child, "-INT");
        assert_eq!(code(&child.wait_with_output().expect("the program ends")), 130, "{args:?}");
    }
}

#[test]
fn ctrl_c_ends_a_search_of_analyse_and_a_second_one_ends_the_program() {
    let (user, mut person, shown) = terminal();
    let mut command = command(&["analyse", "8x8", "--time", "1ms", "--threads", "1"]);
    let ends = [user.try_clone().expect("a handle"), user.try_clone().expect("a handle")];
    let [input, output] = ends;
    command.env("TERM", "xterm").stdin(input).stdout(output).stderr(user);
    let mut child = command.spawn().expect("the program runs");
    drop(command);
    wait(&shown, is_at_prompt);
    for _ in 0..2 {
        let before = shown.lock().unwrap().len();
        person.write_all(b"search 60s\n").expect("a line");
        wait(&shown, |text| text[before..].contains("moves decided"));
        signal(&child, "-INT");
        let text = wait(&shown, |text| is_at_prompt(&text[before..]));
        assert!(text[before..].contains("source"), "the moves are shown: {text:?}");
        // The next signal must count as a separate request.
        std::thread::sleep(Duration::from_millis(600));
    }
    signal(&child, "-INT");
    assert_eq!(child.wait().expect("the program ends").code(), Some(130));
}

#[test]
fn lines_are_edited_with_history_and_completion() {
    let (user, mut person, shown) = terminal();
    let before = tcgetattr(&user).expect("a terminal").local_modes;
    let mut command = command(&["play", "4x4", "--side", "both", "--time", "100ms"]);
    let ends = [user.try_clone().expect("a handle"), user.try_clone().expect("a handle")];
    let [input, output] = ends;
    command
        .env("TERM", "xterm")
        .stdin(input)
        .stdout(output)
        .stderr(user.try_clone().expect("a handle"));
    let mut child = command.spawn().expect("the program runs");
    drop(command);
    wait(&shown, is_at_prompt);
    for (keys, expected) in [
        // Tab completes a command and a move, which is taken back by a command of the history.
        ("posi\t\n", "xoxo/oxox/xoxo/oxox b\r\n"),
        ("move a\t\n", "White ("),
        ("posi\t\n", "1oxo/oxox/xoxo/oxox w\r\n"),
        ("undo\n", "Black ("),
        // The second line of the history, with its end replaced.
        ("\u{1b}[A\u{1b}[A\u{1b}[A\u{7f}\u{7f}d1\n", "White ("),
        ("position\n", "xoxo/oxox/xoxo/oxo1 w\r\n"),
    ] {
        let begin = shown.lock().unwrap().len();
        person.write_all(keys.as_bytes()).expect("a line");
        let text = wait(&shown, |text| is_at_prompt(&text[begin..]));
        assert!(text[begin..].contains(expected), "{keys:?}: {:?}", &text[begin..]);
    }
    // A signal during a line restores the mode of the terminal.
    person.write_all(b"unfinished").expect("a line");
    wait(&shown, |text| text.ends_with("unfinished"));
    signal(&child, "-TERM");
    assert_eq!(child.wait().expect("the program ends").code(), Some(130));
    assert_eq!(tcgetattr(&user).expect("a terminal").local_modes, before);
}

#[test]
fn a_second_ctrl_c_ends_the_program_if_the_terminal_is_blocked() {
    let (user, _person, shown) = terminal();
    let mut command = command(&["solve", "8x8", "--threads", "1"]);
    command.env("TERM", "xterm").stderr(user.try_clone().expect("a handle"));
    let mut child = command.spawn().expect("the program runs");
    drop(command);
    wait(&shown, |text| text.contains("nodes"));
    tcflow(&user, Action::OOff).expect("a terminal");
    // Wait until the live line is redrawn.
    std::thread::sleep(Duration::from_secs(1));
    signal(&child, "-INT");
    std::thread::sleep(Duration::from_secs(1));
    assert!(child.try_wait().expect("a child").is_none(), "the program is blocked by the terminal");
    signal(&child, "-INT");
    assert_eq!(code(&ends_soon(child, "solve 8x8")), 130);
}
