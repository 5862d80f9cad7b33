//! Tiny simulations.

use clap::{CommandFactory, Parser};

use super::{Args, Verb, solve, sprouts};
use crate::record::Record;

fn parsed(words: &str) -> Result<Verb, clap::Error> {
    let words = format!("konane-simulate {words}");
    Args::try_parse_from(words.split_whitespace()).map(|args| args.verb)
}

fn konane(words: &str) -> Record<solve::Winner> {
    let Ok(Verb::Solve(args)) = parsed(&format!("solve {words}")) else { panic!("{words}") };
    solve::run(&args).expect("there is memory")
}

fn of_sprouts(words: &str) -> Record<sprouts::Solved> {
    let Ok(Verb::Sprouts(args)) = parsed(&format!("sprouts {words}")) else { panic!("{words}") };
    sprouts::run(&args).expect("there is memory")
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

#[test]
fn simulations_with_one_thread_are_the_same_every_time() {
    let [one, other] = [(); 2].map(|()| konane("5x5 --machines 4 --job-nodes 500 --alone"));
    assert_eq!((one.seconds, one.found.nodes), (other.seconds, other.found.nodes));
    assert!(one.found.nodes >= one.found.alone.unwrap());
    let [one, other] = [(); 2].map(|()| of_sprouts("0*8 --machines 3 --job-nodes 500"));
    assert_eq!((one.seconds, one.found.nodes), (other.seconds, other.found.nodes));
    assert_eq!(one.found.outcome, "loss");
}
