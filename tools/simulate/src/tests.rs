//! Tiny simulations.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use clap::{CommandFactory, Parser};

use super::{Args, Verb, solve, sprouts};
use crate::record::Record;

/// Longer than any of these takes.
const PATIENCE: Duration = Duration::from_secs(120);

fn parsed(words: &str) -> Result<Verb, clap::Error> {
    let words = format!("konane-simulate {words}");
    Args::try_parse_from(words.split_whitespace()).map(|args| args.verb)
}

/// Fails if it does not end: threads that wait for each other wait for ever.
fn in_time<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, result) = channel();
    thread::spawn(move || sender.send(run()));
    result.recv_timeout(PATIENCE).expect("a simulation ends")
}

fn konane(words: &str) -> Record<solve::Winner> {
    let Ok(Verb::Solve(args)) = parsed(&format!("solve {words}")) else { panic!("{words}") };
    in_time(move || solve::run(&args).expect("there is memory"))
}

fn of_sprouts(words: &str) -> Record<sprouts::Solved> {
    let Ok(Verb::Sprouts(args)) = parsed(&format!("sprouts {words}")) else { panic!("{words}") };
    in_time(move || sprouts::run(&args).expect("there is memory"))
}

#[test]
fn arguments_are_checked() {
    Args::command().debug_assert();
    let help = Args::command().render_long_help().to_string();
    assert!(help.contains("solve") && help.contains("sprouts"), "{help}");
    for words in [
        "",
        "solve",
        "solve 7x",
        "solve 5x5 --machines 0",
        "solve 5x5 --threads 0",
        "solve 5x5 --node-ns 0",
        "solve 5x5 --call-us -1",
        "solve 5x5 --latency-us nan",
        "solve 5x5 --slow 0.5",
        "solve 5x5 --memory 0",
        "sprouts 0*x",
        "sprouts 0*4 --node-ns 5",
        "sprouts 0*4 --expansion-us 0",
        "sprouts 0*4 --collect-ns 5",
    ] {
        assert!(parsed(words).is_err(), "{words}");
    }
}

/// Their tables grow while they search, for which all threads have to come together.
#[test]
fn machines_of_several_threads_come_to_an_end() {
    // Konane's by what is searched between two small jobs, for which no room is made before.
    let record = konane("6x7 --machines 2 --threads 3 --job-nodes 1000 --latency-us 100000");
    assert_eq!(record.found.winner.as_deref(), Some("White"));
    for machines in [1, 3] {
        let words = format!("0*12 --machines {machines} --threads 3 --job-nodes 200000");
        let record = of_sprouts(&words);
        assert_eq!(record.found.outcome, "loss");
    }
}

#[test]
fn simulations_with_one_thread_are_the_same_every_time() {
    let [one, other] = [(); 2].map(|()| konane("5x5 --machines 4 --job-nodes 500 --alone"));
    assert_eq!((one.seconds, one.found.nodes), (other.seconds, other.found.nodes));
    assert!(one.found.nodes >= one.found.alone.unwrap());
    let [one, other] = [(); 2].map(|()| of_sprouts("0*8 --machines 3 --job-nodes 500"));
    assert_eq!((one.seconds, one.found.nodes), (other.seconds, other.found.nodes));
    assert_eq!(one.found.outcome, "loss");
}
