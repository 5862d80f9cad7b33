//! The report in Markdown.

use crate::published;
use crate::records::{Answer, Group, Nodes, Results};
use crate::text::{bytes, factor, grouped, short, table, time};

/// The algorithms by the program's names, and as people write them.
pub const ALGORITHMS: [(&str, &str); 4] =
    [("dfpn", "df-pn"), ("pns", "PNS"), ("pn2", "PN²"), ("ab", "α-β")];

/// The boards on which the algorithms are compared.
pub const COMPARED: [&str; 5] = ["4x4", "5x5", "5x6", "6x6", "7x7"];

/// Boards that only df-pn is run on.
const FURTHER: [&str; 5] = ["5x8", "6x7", "7x6", "5x9", "7x7"];

/// What stands where there is no figure.
const NONE: &str = "–";
const NOT_RUN: &str = "not run";

/// The whole report.
pub fn markdown(results: &Results) -> String {
    let sections = [
        introduction(),
        circumstances(results),
        targets(results),
        algorithms(results),
        table_4_2(results),
        table_4_4(results),
        table_b1(results),
        table_4_1(results),
        further(results),
        reading(),
        all_runs(results),
    ];
    sections.join("\n")
}

fn introduction() -> String {
    "# Benchmarks\n\n\
     Made by `scripts/benchmarks.sh`, which runs fixed command lines of the program and keeps the \
     [raw results](benchmarks/results.jsonl); change the script, not this page. \"The thesis\" is \
     B. Siefke, *Solving Konane Using Proof-Number Search and Extensions*, TU Berlin 2025. Its \
     machine has two Intel Xeon Gold 6326 (64 threads, 510 GB), so ratios of times compare \
     programs and machines together. All searches here run on one thread; \
     [Scaling](benchmarks/scaling.md) has those on several, and [Winners](winners.md) every board \
     that was solved. Times are medians over the runs.\n"
        .to_string()
}

/// The machine, the program, and whether the winners are those of the thesis.
pub fn circumstances(results: &Results) -> String {
    let join = |items: Vec<String>| items.join(", ");
    let of = |items: Vec<u64>| join(items.iter().map(u64::to_string).collect());
    let dates = results.distinct(|record| record.date.chars().take(10).collect::<String>());
    let date = match (dates.first(), dates.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(only), _) => only.clone(),
        _ => return "No results yet.\n".to_string(),
    };
    let loads = || results.records().filter_map(|record| record.load_before);
    let least = loads().fold(f64::INFINITY, f64::min);
    let load = if least.is_finite() {
        format!("{least:.2} to {:.2}", loads().fold(0.0, f64::max))
    } else {
        "not known".to_string()
    };
    let cpus = results.distinct(|record| format!("{} ({} cores)", record.cpu, record.cores));
    let row = |name: &str, value: String| vec![name.to_string(), value];
    let rows = [
        row("processor", join(cpus)),
        row("date", date),
        row("commit", join(results.distinct(|record| record.commit.clone()))),
        row("signature (`konane bench`)", of(results.distinct(|record| record.signature))),
        row("load average before a run", load),
    ];
    let mut text = format!("## Machine and program\n\n{}", table(&["", ""], &rows));
    text += "\nThe load average counts this script's own runs as well: as many as a run has threads \
             is a machine that does nothing else.\n";
    if results.groups().iter().any(|group| is_earlier(results, group)) {
        text += "Rows with † are of an earlier version of the program, with another signature.\n";
    }
    text + &winners(results)
}

/// Whether a group was measured with another program than the newest.
fn is_earlier(results: &Results, group: &Group) -> bool {
    Some(group.last().signature) != results.newest_signature()
}

/// Compares all winners with the published ones.
fn winners(results: &Results) -> String {
    let mut agreeing = std::collections::BTreeSet::new();
    let mut differing = Vec::new();
    for group in results.groups() {
        let answer = group.answer();
        let (Some(outcome), false) = (&answer.outcome, answer.is_unfinished()) else {
            continue;
        };
        match published::winner(&answer.board) {
            Some(winner) if winner == outcome => {
                agreeing.insert(&answer.board);
            }
            Some(_) => differing.push(format!("`{}`", group.args())),
            None => {}
        }
    }
    if !differing.is_empty() {
        return format!("\n**Winners that differ from the thesis:** {}.\n", differing.join(", "));
    }
    let boards = agreeing.len();
    format!("\nAll winners found are those of the thesis' Figure 4.3 ({boards} boards).\n")
}

/// The time of a group as it stands in a table.
fn time_cell(results: &Results, group: Option<&Group>) -> String {
    let Some(group) = group else {
        return NOT_RUN.to_string();
    };
    let mut text = time(group.seconds());
    if let Some(reason) = &group.answer().reason {
        text = format!("unfinished after {text} ({reason})");
    }
    if is_earlier(results, group) {
        text += " †";
    }
    text
}

/// Something about a group, if there is one.
fn cell(group: Option<&Group>, value: impl Fn(&Group) -> String) -> String {
    group.map_or(NONE.to_string(), value)
}

/// Something about a group that reached an answer.
fn finished_cell(group: Option<&Group>, value: impl Fn(&Group) -> String) -> String {
    cell(group.filter(|group| !group.is_unfinished()), value)
}

fn memory(group: &Group) -> String {
    group.peak_bytes().map_or(NONE.to_string(), bytes)
}

fn speed(group: &Group) -> String {
    short(group.nodes_per_second())
}

fn perft_8x8(results: &Results, depth: usize) -> Option<&Group> {
    results.with_args(&format!("perft 8x8 {depth} --threads 1"))
}

fn targets(results: &Results) -> String {
    let solve = |board, algorithm| results.solve(board, algorithm, "tuned");
    let mut targets: Vec<(String, Option<&Group>, f64)> = vec![
        ("perft 8x8 10".into(), perft_8x8(results, 10), 0.10),
        ("perft 8x8 12".into(), perft_8x8(results, 12), 6.0),
        ("solve 6x6, df-pn".into(), solve("6x6", "dfpn"), 0.4),
        ("solve 7x7, df-pn, 512 MiB".into(), solve("7x7", "dfpn"), 20.0),
        ("solve 6x6, PN²".into(), solve("6x6", "pn2"), 5.0),
        ("solve 6x6, PNS".into(), solve("6x6", "pns"), 5.0),
        ("solve 6x6, α-β".into(), solve("6x6", "ab"), 120.0),
    ];
    for (algorithm, name) in ALGORITHMS {
        let thesis = published::search_6x6(algorithm).expect("the table has all four");
        let what = format!("solve 6x6, {name}, thesis profile");
        targets.push((what, results.solve("6x6", algorithm, "thesis"), thesis.seconds));
    }
    let rows: Vec<Vec<String>> = targets
        .into_iter()
        .map(|(what, group, most)| {
            let met = match group {
                None => NOT_RUN,
                Some(group) if group.is_unfinished() => "unfinished",
                Some(group) if group.seconds() <= most => "yes",
                Some(_) => "**no**",
            };
            vec![what, time(most), time_cell(results, group), met.to_string()]
        })
        .collect();
    let head = ["what", ">at most", ">median", "met"];
    format!(
        "## Targets\n\nOn one thread. For the thesis profile the target is the thesis' own \
         time.\n\n{}",
        table(&head, &rows)
    )
}

fn algorithms(results: &Results) -> String {
    let mut rows = Vec::new();
    for board in COMPARED {
        for (algorithm, name) in ALGORITHMS {
            let Some(group) = results.solve(board, algorithm, "tuned") else {
                continue;
            };
            rows.push(vec![
                board.to_string(),
                name.to_string(),
                group.answer().outcome.clone().unwrap_or_default(),
                grouped(group.nodes()),
                time_cell(results, Some(group)),
                speed(group),
                memory(group),
            ]);
        }
    }
    let head = ["board", "algorithm", "winner", ">nodes", ">time", ">nodes/s", ">peak memory"];
    format!(
        "## Algorithms\n\n![Nodes and time by board and algorithm](benchmarks/algorithms.svg)\n\n\
         Tuned parameters. α-β is not run on 7x7.\n\n{}",
        table(&head, &rows)
    )
}

fn table_4_2(results: &Results) -> String {
    let mut rows = Vec::new();
    for (algorithm, name) in ALGORITHMS {
        let thesis = published::search_6x6(algorithm).expect("the table has all four");
        let speed_there = short(thesis.nodes / thesis.seconds);
        rows.push(vec![
            name.to_string(),
            "the thesis".to_string(),
            format!("{:.2} M", thesis.nodes / 1e6),
            NONE.to_string(),
            time(thesis.seconds),
            NONE.to_string(),
            speed_there,
            NONE.to_string(),
        ]);
        for profile in ["thesis", "tuned"] {
            let group = results.solve("6x6", algorithm, profile);
            rows.push(vec![
                String::new(),
                format!("here, {profile}"),
                cell(group, |group| grouped(group.nodes())),
                finished_cell(group, |group| factor(thesis.nodes / group.nodes() as f64)),
                time_cell(results, group),
                finished_cell(group, |group| factor(thesis.seconds / group.seconds())),
                cell(group, speed),
                cell(group, memory),
            ]);
        }
    }
    let head = [
        "algorithm",
        "program, profile",
        ">nodes",
        ">fewer nodes",
        ">time",
        ">faster",
        ">nodes/s",
        ">peak memory",
    ];
    format!(
        "## 6x6 on one thread (Table 4.2)\n\n\
         The profile `thesis` runs the published variants: mobility as the leaf estimate, plain \
         sums, the published budgets and thresholds. [As CSV](benchmarks/table-4.2.csv).\n\n{}",
        table(&head, &rows)
    )
}

fn table_4_4(results: &Results) -> String {
    let rows: Vec<Vec<String>> = published::square_boards()
        .into_iter()
        .map(|thesis| {
            let group = results.solve(thesis.board, "pn2", "tuned");
            let count = |field: fn(&Answer) -> Option<u64>| {
                cell(group, |group| field(group.answer()).map_or(NONE.to_string(), grouped))
            };
            vec![
                thesis.board.to_string(),
                time(thesis.seconds),
                time_cell(results, group),
                finished_cell(group, |group| factor(thesis.seconds / group.seconds())),
                grouped(thesis.l1_nodes),
                count(|answer| answer.l1_nodes),
                grouped(thesis.l2_nodes),
                count(|answer| answer.l2_nodes),
                cell(group, memory),
            ]
        })
        .collect();
    let head = [
        "board",
        ">thesis, 64 threads",
        ">here, 1 thread",
        ">faster",
        ">L1 nodes, thesis",
        ">here",
        ">L2 nodes, thesis",
        ">here",
        ">peak memory",
    ];
    format!(
        "## Square boards by PN² (Table 4.4)\n\nTuned parameters. L1 and L2 are the levels of the \
         search. What fixed costs the thesis' times contain is not known; ours leave out the start \
         of the process, a few milliseconds (compare the wall times below). \
         [As CSV](benchmarks/table-4.4.csv).\n\n{}",
        table(&head, &rows)
    )
}

fn table_b1(results: &Results) -> String {
    let mut rows = Vec::new();
    for thesis in published::perft_8x8() {
        let group = perft_8x8(results, thesis.depth);
        let Some(group) = group else {
            continue;
        };
        let counts = match &group.answer().nodes {
            Nodes::ByPly(counts) => counts.last().copied(),
            _ => None,
        };
        rows.push(vec![
            thesis.depth.to_string(),
            grouped(thesis.nodes),
            if counts == Some(thesis.nodes) { "yes" } else { "**no**" }.to_string(),
            time(thesis.seconds),
            time_cell(results, Some(group)),
            factor(thesis.seconds / group.seconds()),
            speed(group),
            memory(group),
        ]);
    }
    let head = [
        ">depth",
        ">nodes, thesis",
        "equal here",
        ">time, thesis",
        ">time here",
        ">faster",
        ">nodes/s",
        ">peak memory",
    ];
    format!(
        "## Perft of 8x8 (Table B.1)\n\nThe time here is that of counting all depths up to the \
         given one in turn, and nodes/s counts the nodes of all of them. How many threads the \
         thesis' counts ran on is not known.\n\n{}",
        table(&head, &rows)
    )
}

fn table_4_1(results: &Results) -> String {
    let [with, without] = published::unique_5x5();
    let mut rows = Vec::new();
    let options = [("with", "", with), ("without", " --no-symmetry", without)];
    let mut columns: Vec<String> = ["symmetry", "where"].map(String::from).to_vec();
    columns.extend((1..=10).map(|ply| format!(">ply {ply}")));
    columns.push(">time".to_string());
    for (name, option, published) in options {
        let cells = |who: &str, counts: Option<&Vec<u64>>, time: String| {
            let counts = |ply| counts.and_then(|counts: &Vec<u64>| counts.get(ply).copied());
            let mut row = vec![name.to_string(), who.to_string()];
            row.extend((0..10).map(|ply| counts(ply).map_or(NONE.to_string(), grouped)));
            row.push(time);
            row
        };
        let group = results.with_args(&format!("perft 5x5 10 --unique{option} --threads 1"));
        let counts = group.and_then(|group| group.answer().unique.as_ref());
        rows.push(cells("the thesis", Some(&published), NONE.to_string()));
        rows.push(cells("here", counts, time_cell(results, group)));
    }
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    format!(
        "## New positions of 5x5 by ply (Table 4.1)\n\nWith symmetry reduction, symmetric \
         positions count once.\n\n{}",
        table(&columns, &rows)
    )
}

fn further(results: &Results) -> String {
    let mut rows = Vec::new();
    for board in FURTHER {
        let group = results.solve(board, "dfpn", "tuned");
        rows.push(vec![
            board.to_string(),
            cell(group, |group| group.answer().outcome.clone().unwrap_or_default()),
            cell(group, |group| grouped(group.nodes())),
            time_cell(results, group),
            cell(group, speed),
            cell(group, memory),
        ]);
    }
    let head = ["board", "winner", ">nodes", ">time", ">nodes/s", ">peak memory"];
    format!("## Larger boards by df-pn\n\nTuned parameters.\n\n{}", table(&head, &rows))
}

fn reading() -> String {
    "## How to read the figures\n\n\
     * A node is a position that was evaluated. The tuned searches also look at positions in small \
     exact searches near the end of games; the program counts these apart (`settle_positions`), \
     and they are not in the nodes here.\n\
     * On boards with an even side the program also treats as one any two positions that a \
     reflection turns into each other together with an exchange of the colours; the thesis' \
     section 3.4 has the symmetries that keep the colours only. In PNS this saves a factor of \
     about 2.5 in nodes (measured). It accounts for a part of the difference between the thesis' \
     nodes on 6x6 and those of the profile `thesis`; what accounts for the rest is not known. \
     Boards with two odd sides, such as 5x5 and 7x7, have no such symmetries.\n\
     * Peak memory is the most that the process used (its resident set), program and all. It is \
     less than the `--memory` of the command line where the table did not fill.\n\
     * Times are the program's own, from the allocation of the table to the answer. The wall time \
     in the list of all runs is that of the whole process.\n\
     * An unfinished run claims nothing; its nodes and time are those until the limit.\n"
        .to_string()
}

fn all_runs(results: &Results) -> String {
    let rows: Vec<Vec<String>> = results
        .groups()
        .iter()
        .map(|group| {
            let (least, most) = group.range();
            let load = group.records.iter().filter_map(|record| record.load_before);
            let load = load.fold(f64::NAN, f64::max);
            vec![
                format!("`{}`", group.last().command),
                group.records.len().to_string(),
                grouped(group.nodes()),
                time_cell(results, Some(group)),
                if group.records.len() > 1 {
                    format!("{} to {}", time(least), time(most))
                } else {
                    NONE.to_string()
                },
                time(group.median_of(|record| record.wall_seconds)),
                speed(group),
                memory(group),
                if load.is_nan() { NONE.to_string() } else { format!("{load:.2}") },
            ]
        })
        .collect();
    let head = [
        "command line",
        ">runs",
        ">nodes",
        ">time",
        ">least to greatest",
        ">wall time",
        ">nodes/s",
        ">peak memory",
        ">greatest load",
    ];
    format!("## All runs\n\n{}", table(&head, &rows))
}
