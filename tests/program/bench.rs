//! `konane bench`: the node counts of every search on one thread.

use super::common::{code, json, konane, one_object, stderr, stdout};

/// Returns the signature in `--version`, after a check of its other lines.
fn signature_of_version() -> String {
    let output = konane(&["--version", "-v"]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(' ')).collect();
    let [("konane", version), ("commit:", commit), ("signature:", signature)] = lines[..] else {
        panic!("{text}")
    };
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    let is_hash = commit.len() >= 12 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(commit == "unknown" || is_hash, "{text}");
    assert_eq!(stdout(&konane(&["-V"])), format!("konane {version}\n"));
    signature.to_owned()
}

/// The snapshot contains the counts of each search, so a difference shows which search has changed.
#[test]
fn counts_match_the_snapshot_and_add_up_to_the_signature() {
    let value = json(&["bench", "--json"], 0);
    let mut table = String::new();
    let mut sum = 0;
    for item in value["items"].as_array().unwrap() {
        let nodes = item["nodes"].as_u64().unwrap();
        let expansions = item.get("expansions").map(|count| count.as_u64().unwrap());
        let name = item["name"].as_str().unwrap();
        table += &match expansions {
            Some(expansions) => format!("{name}: {nodes} nodes, {expansions} expansions\n"),
            None => format!("{name}: {nodes} nodes\n"),
        };
        sum += nodes + expansions.unwrap_or(0);
        assert!(item["seconds"].is_f64() && item["nodes_per_second"].is_f64());
    }
    assert_eq!(value["signature"], sum);
    assert_eq!(signature_of_version(), sum.to_string(), "SIGNATURE in commands/bench.rs");
    table += &format!("signature: {sum}\n");
    insta::assert_snapshot!("bench", table);
}

#[test]
fn the_expected_signature_is_compared() {
    let output = konane(&["bench", "--json", "--expect", "1"]);
    assert_eq!(code(&output), 1);
    let signature = one_object(&stdout(&output))["signature"].to_string();
    assert!(stderr(&output).contains(&format!("{signature}, not 1")));
    let output = konane(&["bench", "--expect", &signature]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).ends_with(&format!("\nsignature: {signature}\n")));
}

/// Expansions (iterations in the paper) of 0*8, 0*10 and, with the tuned profile, 0*12 on one thread.
#[test]
fn sprouts_expansion_counts_are_unchanged() {
    let counts = [
        ("tuned", "dfpn", &[3_216, 1_534, 13_934][..]),
        ("tuned", "pns", &[1_504, 994, 8_010]),
        ("tuned", "pns-pdfpn", &[3_216, 1_534, 13_433]),
        ("paper", "dfpn", &[6_657, 3_532]),
        ("paper", "pns", &[4_753, 2_295]),
        ("paper", "pns-pdfpn", &[6_657, 3_532]),
    ];
    for (profile, algorithm, counts) in counts {
        for (spots, &expansions) in ["0*8", "0*10", "0*12"].into_iter().zip(counts) {
            let search = ["sprouts", "solve", spots, "--profile", profile, "--algo", algorithm];
            let value = json(&[&search[..], &["--threads", "1", "--json", "--quiet"]].concat(), 0);
            assert_eq!(value["expansions"], expansions, "{profile} {algorithm} {spots}");
        }
    }
}
