//! Files of results: searches that share one, and searches that are killed while they add to it.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use konane::results;
use konane::search::Value;

use super::common::{TestDir, json, signal, valid};

/// Reads the outcomes in a file, by position.
fn outcomes(path: &Path) -> BTreeMap<String, Value> {
    let mut outcomes = BTreeMap::new();
    results::read(path, |solved| {
        assert!(outcomes.insert(solved.position.to_string(), solved.value).is_none());
    })
    .unwrap();
    outcomes
}

/// The engine, the analysis and a proof use what a search has added.
#[test]
fn results_are_used_by_all_searches() {
    let dir = TestDir::new();
    let solve = ["solve", "6x7", "--threads", "1", "--quiet", "--json", "--results", "a.results"];
    let run = |args: &[&str]| valid(args, serde_json::from_slice(&dir.run(args).stdout).unwrap());
    let first = run(&solve);
    assert!(first["nodes"].as_u64() > Some(500_000) && first["winner"] == "white", "{first}");
    assert!(first["results"]["added"].as_u64() > Some(1), "{first}");
    for algorithm in ["dfpn", "pns", "pn2", "pns-pdfpn"] {
        let again = run(&[&solve[..], &["--algo", algorithm]].concat());
        assert_eq!((&again["winner"], &again["results"]["added"]), (&first["winner"], &0.into()));
        assert!(again["nodes"].as_u64() < Some(10), "{again}");
    }
    let analysis = run(&["analyse", "6x7", "--results", "a.results", "--json", "--time", "1ms"]);
    assert_eq!(analysis["winner"], "white");
    let request = "{\"id\":1,\"board\":\"6x7\",\"max_nodes\":9}\n";
    let output = dir.with_input(&["engine", "--results", "a.results"], request);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["winner"], "white");
    let proof = run(&[&solve[..], &["--proof", "a.proof"]].concat());
    assert!(
        proof["nodes"].as_u64() < Some(10) && proof["proof"]["positions"].as_u64() > Some(1000)
    );
    assert_eq!(dir.run(&["verify-proof", "a.proof"]).status.code(), Some(0));
}

/// Two searches add to one file, and are killed at random times. The file stays readable and loses nothing, and all of
/// it is right.
#[test]
fn killed_searches_lose_no_results() {
    let dir = TestDir::new();
    let path = dir.path("a.results");
    let mut before = BTreeMap::new();
    for round in 0..10 {
        let start = |board: &str, seed: &str| {
            let file = ["--results", "a.results", "--checkpoint-interval", "1ms"];
            let search = ["solve", board, "--threads", "1", "--memory", "32MiB", "--quiet"];
            dir.spawn(&[&search[..], &file, &["--seed", seed]].concat())
        };
        let seed = round.to_string();
        let mut searches = [start("6x7", &seed), start("7x6", &seed)];
        sleep(Duration::from_millis(60 * round));
        for search in &mut searches {
            signal(search, "-KILL");
            search.wait().unwrap();
        }
        if !path.exists() {
            continue;
        }
        let now = outcomes(&path);
        assert!(before.iter().all(|(position, value)| now.get(position) == Some(value)));
        before = now;
    }
    assert!(dir.run(&["solve", "6x7", "--results", "a.results"]).status.success());
    let path = path.to_str().unwrap();
    let verified = json(&["results", "verify", path, "--all", "--json", "--quiet"], 0);
    assert_eq!((&verified["valid"], &verified["wrong"]), (&true.into(), &serde_json::json!([])));
    assert!(verified["records"].as_u64() >= Some(before.len() as u64));
}
