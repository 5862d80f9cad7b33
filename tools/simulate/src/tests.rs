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
#[allow(clippy::disallowed_methods, reason = "a test needs no large stack")]
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

fn assert_sound<F>(record: &Record<F>) {
    let traffic = &record.traffic;
    assert!(record.seconds > 0.0 && traffic.jobs > 0);
    for (part, least) in [(traffic.busy, 1e-9), (traffic.driver, 1e-9), (traffic.waited, 0.0)] {
        assert!((least..=1.0 + 1e-9).contains(&part), "{traffic:?}");
    }
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
    assert_sound(&record);
    for machines in [1, 3] {
        let words = format!("0*12 --machines {machines} --threads 3 --job-nodes 200000");
        let record = of_sprouts(&words);
        assert_eq!(record.found.outcome, "loss");
        assert_sound(&record);
    }
}

#[test]
fn simulations_with_one_thread_are_the_same_every_time() {
    let [one, other] = [(); 2].map(|()| konane("5x5 --machines 4 --job-nodes 500 --alone"));
    assert_eq!((one.seconds, one.found.nodes), (other.seconds, other.found.nodes));
    assert!(one.found.nodes >= one.found.alone.unwrap());
    assert_sound(&one);
    let [one, other] = [(); 2].map(|()| of_sprouts("0*8 --machines 3 --job-nodes 500"));
    assert_eq!((one.seconds, one.found.nodes), (other.seconds, other.found.nodes));
    assert_eq!(one.found.outcome, "loss");
    assert_sound(&one);
}

#[test]
fn a_search_ends_when_the_driver_has_heard_of_it() {
    let costs = "--latency-us 0 --call-us 0 --store-ns 0 --driver-megabytes 1e9";
    let record = konane(&format!("3x4 --machines 1 --job-us 1000 {costs}"));
    assert_eq!(record.traffic.jobs, 1);
    // A hello, the job, of which the root is not one of the nodes, and its result.
    let seconds = 2.0 * 0.001 + (record.found.nodes - 1) as f64 * 300e-9;
    assert!((record.seconds - seconds).abs() < 1e-6, "{} {seconds}", record.seconds);
}

#[test]
fn a_machine_is_busy_while_it_searches() {
    // Workers of Sprouts do nothing while they wait, twice as long as a thread takes to begin.
    let costs = "--thread-us 1000000 --latency-us 1000000 --expansion-us 0.001";
    let record = of_sprouts(&format!("0*8 --machines 1 --threads 2 --job-nodes 300 {costs}"));
    assert!(record.traffic.jobs > 3);
    assert!((0.25..0.45).contains(&record.traffic.busy), "{:?}", record.traffic);
    // What is searched beyond the end does not count.
    let record = konane("5x5 --machines 4 --job-nodes 1000000000 --node-ns 1000000");
    assert_sound(&record);
}
