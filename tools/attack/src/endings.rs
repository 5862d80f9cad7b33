//! Sudden ends of programs that write, and several of them with one output.

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use crate::run::{Attack, Call, End, Running, left_over};

/// A program that writes, how to see that what stands is whole, and how to go on.
struct Writer {
    what: &'static str,
    /// Runs that come before, in order.
    before: &'static [&'static str],
    args: &'static str,
    /// Milliseconds within which it is stopped.
    within: usize,
    /// The output, if there may be none yet.
    output: &'static str,
    /// Checks the output; exit code 0.
    check: &'static str,
    /// Goes on; exit code 0.
    again: &'static str,
    right: (&'static str, &'static str),
}

const SOLVE: &str =
    "solve 6x6 --threads 2 --checkpoint o.ckpt --checkpoint-interval 20ms --json --quiet";

const WRITERS: [Writer; 8] = [
    Writer {
        what: "solve --proof",
        before: &[],
        args: "solve 5x6 --proof o.proof --threads 2 --json --quiet",
        within: 300,
        output: "o.proof",
        check: "verify-proof o.proof --json --quiet",
        again: "solve 5x6 --proof o.proof --threads 2 --json --quiet",
        right: ("winner", "white"),
    },
    Writer {
        what: "solve --checkpoint",
        before: &[],
        args: SOLVE,
        within: 600,
        output: "o.ckpt",
        check: "solve 6x6 --checkpoint o.ckpt --resume --json --quiet",
        again: "solve 6x6 --checkpoint o.ckpt --resume --json --quiet",
        right: ("winner", "white"),
    },
    Writer {
        what: "solve --checkpoint, tree",
        before: &[],
        args: "solve 6x6 --algo pns --checkpoint o.ckpt --checkpoint-interval 20ms --json --quiet",
        within: 600,
        output: "o.ckpt",
        check: "solve 6x6 --algo pns --checkpoint o.ckpt --resume --json --quiet",
        again: "solve 6x6 --algo pns --checkpoint o.ckpt --resume --json --quiet",
        right: ("winner", "white"),
    },
    Writer {
        what: "builddb",
        before: &[],
        args: "builddb 4x5 --out o --json --quiet",
        within: 500,
        output: "o/4x5-complete/database.json",
        check: "verifydb o/4x5-complete --deep --json --quiet",
        again: "builddb 4x5 --out o --json --quiet",
        right: ("", ""),
    },
    Writer {
        what: "builddb --scope reachable",
        before: &[],
        args: "builddb 4x5 --out o --scope reachable --json --quiet",
        within: 500,
        output: "o/4x5-reachable/database.json",
        check: "verifydb o/4x5-reachable --deep --json --quiet",
        again: "builddb 4x5 --out o --scope reachable --json --quiet",
        right: ("", ""),
    },
    Writer {
        what: "sprouts solve --db",
        before: &[],
        args: "sprouts solve 0*12 --db o.nimbers --threads 2 --json --quiet",
        within: 500,
        output: "o.nimbers",
        check: "sprouts db stats o.nimbers --json",
        again: "sprouts solve 0*12 --db o.nimbers --threads 2 --json --quiet",
        right: ("outcome", "loss"),
    },
    Writer {
        what: "sprouts db import",
        before: &[
            "sprouts solve 0*6 --db s.nimbers --json --quiet",
            "sprouts db export s.nimbers s.spr",
        ],
        args: "sprouts db import o.nimbers s.spr --json",
        within: 50,
        output: "o.nimbers",
        check: "sprouts db stats o.nimbers --json",
        again: "sprouts db import o.nimbers s.spr --json",
        right: ("", ""),
    },
    Writer {
        what: "sprouts db export",
        before: &["sprouts solve 0*6 --db s.nimbers --json --quiet"],
        args: "sprouts db export s.nimbers o.spr --json",
        within: 50,
        output: "o.spr",
        check: "sprouts verify o.spr --json",
        again: "sprouts db export s.nimbers o.spr --json",
        right: ("", ""),
    },
];

/// Exit code 0 and the right answer.
fn is_right(end: &End, right: (&str, &str)) -> bool {
    end.code == Some(0) && (right.0.is_empty() || end.member(right.0).as_deref() == Some(right.1))
}

/// What is wrong with the output: nothing if it is not there.
fn broken(attack: &Attack, writer: &Writer, folder: &Path) -> Option<String> {
    if !folder.join(writer.output).exists() {
        return None;
    }
    let end = attack.run(writer.check, folder);
    (end.code != Some(0)).then(|| format!("output not whole ({})", end.stderr.trim_end()))
}

/// Prepares a folder for a writer.
fn prepared(attack: &Attack, writer: &Writer) -> tempfile::TempDir {
    let folder = attack.folder();
    for args in writer.before {
        let end = attack.run(args, folder.path());
        assert_eq!(end.code, Some(0), "konane {args}: {end:?}");
    }
    folder
}

pub fn killed(attack: &mut Attack) {
    while attack.goes_on() {
        let writer = attack.random.pick(&WRITERS);
        let folder = prepared(attack, writer);
        let signal = *attack.random.pick(&[
            Signal::KILL,
            Signal::KILL,
            Signal::TERM,
            Signal::INT,
            Signal::HUP,
        ]);
        let after = Duration::from_micros(1000 * attack.random.below(writer.within) as u64);
        let call = Call { args: writer.args.to_string(), ..Call::default() };
        let Ok(running) = attack.start(&call, folder.path()) else {
            continue;
        };
        let end = running.wait(Some((after, signal)));
        // Before the program listens, the signal ends it; KILL does so always.
        let own = end.signal == Some(signal.as_raw()) && !end.caught;
        let fault = end.fault().filter(|_| !own || end.hung);
        let unlike = end.code == Some(0) && !is_right(&end, writer.right);
        let fault = fault
            .or_else(|| unlike.then(|| "wrong answer".to_string()))
            // A program that was killed leaves temporary files; one that was told to stop does not.
            .or_else(|| left_over(folder.path()).filter(|_| end.signal.is_none()))
            .or_else(|| broken(attack, writer, folder.path()))
            .or_else(|| {
                let there = folder.path().join(writer.output).exists();
                let resumes = writer.args.contains("--checkpoint ") && there;
                let next =
                    attack.run(if resumes { writer.again } else { writer.args }, folder.path());
                let wrong = !is_right(&next, writer.right);
                wrong.then(|| format!("cannot go on ({})", next.stderr.trim_end()))
            })
            .or_else(|| left_over(folder.path()))
            .or_else(|| broken(attack, writer, folder.path()));
        let story = format!("{signal:?} after {after:?}, konane {}", writer.args);
        attack.count(writer.what, &end, fault, &story);
    }
}

pub fn writers(attack: &mut Attack) {
    while attack.goes_on() {
        let writer = attack.random.pick(&WRITERS);
        let folder = prepared(attack, writer);
        let call = Call { args: writer.args.to_string(), ..Call::default() };
        let mut running: Vec<Running> = Vec::new();
        for _ in 0..2 + attack.random.below(2) {
            running.extend(attack.start(&call, folder.path()));
            std::thread::sleep(Duration::from_millis(attack.random.below(30) as u64));
        }
        let ends: Vec<End> = running.into_iter().map(|running| running.wait(None)).collect();
        let answered = ends.iter().find(|end| end.code == Some(0));
        let missing = answered.is_some() && !folder.path().join(writer.output).exists();
        let fault = ends
            .iter()
            .find_map(End::fault)
            .or_else(|| missing.then(|| "exit code 0 without the output".to_string()))
            .or_else(|| {
                let wrong = answered.is_some_and(|end| !is_right(end, writer.right));
                wrong.then(|| "wrong answer".to_string())
            })
            .or_else(|| left_over(folder.path()))
            .or_else(|| broken(attack, writer, folder.path()));
        let story = format!("{} at once, konane {}", ends.len(), writer.args);
        attack.count(writer.what, answered.unwrap_or(&ends[0]), fault, &story);
    }
}
