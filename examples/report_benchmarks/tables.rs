//! The thesis' Tables 4.2 and 4.4 as CSV, with our figures in rows of their own: times in seconds,
//! memory in bytes. Our rows without a result have `not run` or the reason in their last column.

use crate::published;
use crate::records::{Group, Results};
use crate::report::ALGORITHMS;
use crate::text::{cell, csv};

/// What became of a search: the winner, the reason why there is none, or `not run`.
fn outcome(group: Option<&Group>) -> String {
    let Some(group) = group else {
        return "not run".to_string();
    };
    let answer = group.answer();
    answer.reason.as_ref().or(answer.outcome.as_ref()).cloned().unwrap_or_default()
}

/// Table 4.2: 6x6 on one thread.
pub fn table_4_2(results: &Results) -> String {
    let mut rows = Vec::new();
    for (algorithm, _) in ALGORITHMS {
        let thesis = published::search_6x6(algorithm).expect("the table has all four");
        rows.push(vec![
            algorithm.to_string(),
            "published".to_string(),
            cell(Some(thesis.nodes)),
            cell(Some(thesis.seconds)),
            cell(Some((thesis.nodes / thesis.seconds).round())),
            String::new(),
            String::new(),
            published::winner("6x6").expect("6x6 is solved").to_string(),
        ]);
        for profile in ["thesis", "tuned"] {
            let group = results.solve("6x6", algorithm, profile);
            rows.push(vec![
                algorithm.to_string(),
                profile.to_string(),
                cell(group.map(|group| group.nodes() as f64)),
                cell(group.map(Group::seconds)),
                cell(group.map(|group| group.nodes_per_second().round())),
                cell(group.and_then(Group::peak_bytes)),
                cell(group.map(|group| group.records.len() as f64)),
                outcome(group),
            ]);
        }
    }
    let columns = [
        "algorithm",
        "profile",
        "nodes",
        "seconds",
        "nodes_per_second",
        "peak_memory_bytes",
        "runs",
        "outcome",
    ];
    csv(&columns, &rows)
}

/// Table 4.4: square boards by PN², the thesis on 64 threads, here on one.
pub fn table_4_4(results: &Results) -> String {
    let mut rows = Vec::new();
    for thesis in published::square_boards() {
        rows.push(vec![
            thesis.board.to_string(),
            "published".to_string(),
            "64".to_string(),
            cell(Some(thesis.seconds)),
            thesis.l1_nodes.to_string(),
            thesis.l2_nodes.to_string(),
            String::new(),
            String::new(),
            published::winner(thesis.board).unwrap_or_default().to_string(),
        ]);
        let group = results.solve(thesis.board, "pn2", "tuned");
        let answer = group.map(Group::answer);
        let count = |nodes: Option<u64>| cell(nodes.map(|nodes| nodes as f64));
        rows.push(vec![
            thesis.board.to_string(),
            "tuned".to_string(),
            "1".to_string(),
            cell(group.map(Group::seconds)),
            count(answer.and_then(|answer| answer.l1_nodes)),
            count(answer.and_then(|answer| answer.l2_nodes)),
            cell(group.and_then(Group::peak_bytes)),
            cell(group.map(|group| group.records.len() as f64)),
            outcome(group),
        ]);
    }
    let columns = [
        "board",
        "profile",
        "threads",
        "seconds",
        "l1_nodes",
        "l2_nodes",
        "peak_memory_bytes",
        "runs",
        "outcome",
    ];
    csv(&columns, &rows)
}
