//! Small simulations.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use clap::{CommandFactory, Parser};

use super::{Simulate, Simulation, solve, sprouts};

/// Longer than any of these simulations takes.
const TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Parser)]
struct SimulateCommand {
    #[command(subcommand)]
    game: Simulate,
}

fn parsed(words: &str) -> Result<Simulate, clap::Error> {
    let words = format!("simulate {words}");
    SimulateCommand::try_parse_from(words.split_whitespace()).map(|command| command.game)
}

/// Fails after a timeout: a deadlock would never end.
#[allow(clippy::disallowed_methods, reason = "a test needs no large stack")]
fn in_time<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, result) = channel();
    thread::spawn(move || sender.send(run()));
    result.recv_timeout(TIMEOUT).expect("a simulation ends")
}

fn konane(words: &str) -> Simulation<solve::Winner> {
    let Ok(Simulate::Solve(args)) = parsed(&format!("solve {words}")) else { panic!("{words}") };
    in_time(move || solve::run(&args).expect("there is memory"))
}

fn of_sprouts(words: &str) -> Simulation<sprouts::Solved> {
    let Ok(Simulate::Sprouts(args)) = parsed(&format!("sprouts {words}")) else {
        panic!("{words}")
    };
    in_time(move || sprouts::run(&args).expect("there is memory"))
}

fn assert_sound<F>(record: &Simulation<F>) {
    let traffic = &record.traffic;
    assert!(record.seconds > 0.0 && traffic.jobs > 0);
    for (part, least) in [(traffic.busy, 1e-9), (traffic.driver, 1e-9), (traffic.waited, 0.0)] {
        assert!((least..=1.0 + 1e-9).contains(&part), "{traffic:?}");
    }
}

#[test]
fn arguments_are_checked() {
    SimulateCommand::command().debug_assert();
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
        "sprouts 0*4 --new-workers",
    ] {
        assert!(parsed(words).is_err(), "{words}");
    }
}

/// The tables grow during these searches. All threads wait at a barrier while a table grows, which must not
/// deadlock with the scheduler.
#[test]
fn simulations_with_several_threads_end() {
    // The table of Konane grows while a machine continues its search between two small jobs.
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
fn workers_that_keep_nothing_expand_more() {
    let words = "0*10 --machines 3 --job-nodes 200 --no-sharing --memory 16";
    let [kept, new] = ["", " --new-workers"].map(|more| of_sprouts(&format!("{words}{more}")));
    assert_eq!([&kept, &new].map(|record| record.found.outcome.as_str()), ["win"; 2]);
    assert!(new.found.expansions > kept.found.expansions);
    assert_sound(&new);
}

#[test]
fn a_search_ends_when_the_driver_receives_the_result() {
    let costs = "--latency-us 0 --call-us 0 --store-ns 0 --driver-megabytes 1e9";
    let record = konane(&format!("3x4 --machines 1 --job-us 1000 {costs}"));
    assert_eq!(record.traffic.jobs, 1);
    // Two messages to the coordinator (registration and result), and the search of all nodes but the root.
    let seconds = 2.0 * 0.001 + (record.found.nodes - 1) as f64 * 300e-9;
    assert!((record.seconds - seconds).abs() < 1e-6, "{} {seconds}", record.seconds);
}

#[test]
fn a_machine_is_busy_while_it_searches() {
    // Workers of Sprouts are idle while they wait for a job: two latencies of one second each. Then they search
    // for one second, the time that starting another thread takes. So they are busy for a third of the time.
    let costs = "--thread-us 1000000 --latency-us 1000000 --expansion-us 0.001";
    let record = of_sprouts(&format!("0*8 --machines 1 --threads 2 --job-nodes 300 {costs}"));
    assert!(record.traffic.jobs > 3);
    assert!((0.25..0.45).contains(&record.traffic.busy), "{:?}", record.traffic);
    // The part of a search after the end of the simulation is not counted as busy.
    let record = konane("5x5 --machines 4 --job-nodes 1000000000 --node-ns 1000000");
    assert_sound(&record);
}
