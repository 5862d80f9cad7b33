//! What a terminal shows while the program works.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::common::{code, command, one_object, signal, stdout};

/// A terminal of 80 columns: what a program writes to, and all that it has written.
fn terminal() -> (File, Arc<Mutex<String>>) {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&controller).expect("ours");
    unlockpt(&controller).expect("ours");
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&controller, size).expect("a size");
    let name = ptsname(&controller, Vec::new()).expect("a name").into_string().expect("text");
    let user = OpenOptions::new().read(true).write(true).open(name).expect("the other end");
    let shown = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&shown);
    std::thread::spawn(move || {
        let (mut controller, mut bytes) = (File::from(controller), [0; 4096]);
        // Fails when nobody has the other end any more.
        while let Ok(count) = controller.read(&mut bytes) {
            kept.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    });
    (user, shown)
}

/// Waits until the terminal shows what is wanted.
fn wait(shown: &Mutex<String>, wanted: impl Fn(&str) -> bool) -> String {
    let begun = Instant::now();
    loop {
        let text = shown.lock().unwrap().clone();
        if wanted(&text) {
            return text;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{text:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_live_line_has_no_full_bar_and_goes_when_the_program_is_interrupted() {
    let (user, shown) = terminal();
    let mut command = command(&["statespace", "5x6", "--threads", "1", "--json"]);
    command.env("TERM", "xterm").stderr(user);
    let child = command.spawn().expect("the program runs");
    // The command keeps the terminal open as well.
    drop(command);
    // A Ctrl-C is echoed where the cursor stands: at the beginning of the line, which is cleared, and
    // not behind its end, where a new line would begin and this one stay.
    let text = wait(&shown, |text| text.contains('%') && text.ends_with('\r'));
    let percent = text.split(" %").next().unwrap().rsplit(' ').next().unwrap();
    assert_ne!(percent, "100", "{text:?}");
    signal(&child, "-INT");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(code(&output), 130, "the board takes seconds");
    let value = one_object(&stdout(&output));
    assert_eq!(value["reason"], "interrupted");
    assert!(value["total"].is_null() && value["plies"].as_array().unwrap().is_empty(), "{value}");
    wait(&shown, |text| text.trim_end_matches('\r').ends_with("\u{1b}[2K"));
}
