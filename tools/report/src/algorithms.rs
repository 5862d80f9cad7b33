//! The page of the algorithms on one thread beside the thesis' tables, and the same as CSV.

use crate::published;
use crate::records::{Group, Nodes, Results, distinct};
use crate::row;
use crate::text::{
    NONE, bytes, cell, count, csv, factor, grouped, optional, page, short, table, time,
};

/// The algorithms by the program's names, and as people write them.
pub const ALGORITHMS: [(&str, &str); 4] =
    [("dfpn", "df-pn"), ("pns", "PNS"), ("pn2", "PN²"), ("ab", "α-β")];

/// The boards on which the algorithms are compared.
pub const COMPARED: [&str; 5] = ["4x4", "5x5", "5x6", "6x6", "7x7"];

/// Boards that only df-pn is run on.
const FURTHER: [&str; 5] = ["5x8", "6x7", "7x6", "5x9", "7x7"];

const NOT_RUN: &str = "not run";

pub fn markdown(results: &Results) -> String {
    page(
        include_str!("../pages/benchmarks.md"),
        &[
            ("circumstances", circumstances(results)),
            ("targets", targets(results)),
            ("algorithms", algorithms(results)),
            ("table 4.2", table_4_2(results)),
            ("table 4.4", table_4_4(results)),
            ("table B.1", table_b1(results)),
            ("table 4.1", table_4_1(results)),
            ("further", further(results)),
            ("all runs", all_runs(results)),
        ],
    )
}

/// The machine, the program, and whether the winners are those of the thesis.
pub fn circumstances(results: &Results) -> String {
    let loads = || results.records().filter_map(|record| record.load_before);
    let Some(first) = results.records().map(|record| &record.date[..10]).min() else {
        return "No results yet.\n".to_string();
    };
    let last = results.records().map(|record| &record.date[..10]).max().expect("there is a first");
    let load = loads().reduce(f64::min).zip(loads().reduce(f64::max));
    let load = load.map(|(least, most)| format!("{least:.2} to {most:.2}"));
    let rows = [
        row![
            "processor",
            distinct(results.records(), |r| format!("{} ({} cores)", r.cpu, r.cores))
        ],
        row!["date", if first == last { first.to_string() } else { format!("{first} to {last}") }],
        row!["version", distinct(results.records(), |record| record.version().to_owned())],
        row![
            "signature (`konane bench`)",
            distinct(results.records(), |r| r.signature.to_string())
        ],
        row!["load average before a run", load.as_deref().unwrap_or("not known")],
    ];
    let earlier = if results.0.iter().any(|group| results.is_earlier(group)) {
        "Rows with † are of an earlier version of the program, with another signature.\n"
    } else {
        ""
    };
    format!(
        "## Machine and program\n\n{}\nThe load average counts these runs themselves as well: as \
         many as a run has threads is a machine that does nothing else.\n{earlier}{}",
        table("|", &rows),
        winners(results)
    )
}

/// Compares all winners with the published ones.
fn winners(results: &Results) -> String {
    let mut agreeing = std::collections::BTreeSet::new();
    let mut differing = Vec::new();
    for group in &results.0 {
        let board = &*group.answer().board;
        let published = published::winner(board);
        match group.answer().found() {
            Some(_) if published.is_none() => {}
            found if found.is_none() || found == published => {
                agreeing.extend(found.map(|_| board));
            }
            _ => differing.push(format!("`{}`", group.last().args)),
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
    text + if results.is_earlier(group) { " †" } else { "" }
}

/// Something about a group that reached an answer.
fn finished(group: Option<&Group>, value: impl Fn(&Group) -> String) -> String {
    optional(group.filter(|group| !group.is_unfinished()), value)
}

fn nodes(group: &Group) -> String {
    grouped(group.nodes())
}

fn speed(group: &Group) -> String {
    short(group.nodes_per_second())
}

fn memory(group: &Group) -> String {
    optional(group.peak_bytes(), bytes)
}

fn winner(group: &Group) -> String {
    group.answer().result().unwrap_or_default().to_owned()
}

/// The group on one thread.
fn tuned<'a>(results: &'a Results, board: &str, algorithm: &str) -> Option<&'a Group> {
    results.solve(board, algorithm, "tuned", 1)
}

fn perft_8x8(results: &Results, depth: usize) -> Option<&Group> {
    results.with_args(&format!("perft 8x8 {depth} --threads 1"))
}

/// Every sequence one by one.
fn plain_perft_8x8(results: &Results, depth: usize) -> Option<&Group> {
    results.with_args(&format!("perft 8x8 {depth} --plain --threads 1"))
}

fn targets(results: &Results) -> String {
    let mut targets = vec![
        ("perft 8x8 10".to_string(), perft_8x8(results, 10), 0.10),
        ("perft 8x8 12".to_string(), perft_8x8(results, 12), 1.2),
        ("perft 8x8 12, --plain".to_string(), plain_perft_8x8(results, 12), 6.0),
    ];
    for (what, board, algorithm, most) in [
        ("6x6, df-pn", "6x6", "dfpn", 0.4),
        ("7x7, df-pn, 512 MiB", "7x7", "dfpn", 20.0),
        ("6x6, PN²", "6x6", "pn2", 5.0),
        ("6x6, PNS", "6x6", "pns", 5.0),
        ("6x6, α-β", "6x6", "ab", 120.0),
    ] {
        targets.push((format!("solve {what}"), tuned(results, board, algorithm), most));
    }
    for (algorithm, name) in ALGORITHMS {
        let group = results.solve("6x6", algorithm, "thesis", 1);
        let what = format!("solve 6x6, {name}, thesis profile");
        targets.push((what, group, published::search_6x6(algorithm).seconds));
    }
    let rows: Vec<_> = targets
        .into_iter()
        .map(|(what, group, most)| {
            let met = match group {
                None => NOT_RUN,
                Some(group) if group.is_unfinished() => "unfinished",
                Some(group) if group.seconds() <= most => "yes",
                Some(_) => "**no**",
            };
            row![what, time(most), time_cell(results, group), met]
        })
        .collect();
    table("what|>at most|>median|met", &rows)
}

fn algorithms(results: &Results) -> String {
    let mut rows = Vec::new();
    for board in COMPARED {
        for (algorithm, name) in ALGORITHMS {
            if let Some(group) = tuned(results, board, algorithm) {
                let time = time_cell(results, Some(group));
                let (nodes, speed) = (nodes(group), speed(group));
                rows.push(row![board, name, winner(group), nodes, time, speed, memory(group)]);
            }
        }
    }
    table("board|algorithm|winner|>nodes|>time|>nodes/s|>peak memory", &rows)
}

fn table_4_2(results: &Results) -> String {
    let mut rows = Vec::new();
    for (algorithm, name) in ALGORITHMS {
        let thesis = published::search_6x6(algorithm);
        let millions = format!("{:.2} M", thesis.nodes / 1e6);
        let speed_there = short(thesis.nodes / thesis.seconds);
        let seconds = time(thesis.seconds);
        rows.push(row![name, "the thesis", millions, NONE, seconds, NONE, speed_there, NONE]);
        for profile in ["thesis", "tuned"] {
            let group = results.solve("6x6", algorithm, profile, 1);
            rows.push(row![
                "",
                format!("here, {profile}"),
                optional(group, nodes),
                finished(group, |group| factor(thesis.nodes / group.nodes() as f64)),
                time_cell(results, group),
                finished(group, |group| factor(thesis.seconds / group.seconds())),
                optional(group, speed),
                optional(group, memory),
            ]);
        }
    }
    let head = "algorithm|program, profile|>nodes|>fewer nodes|>time|>faster|>nodes/s|>peak memory";
    table(head, &rows)
}

fn table_4_4(results: &Results) -> String {
    let row = |thesis: published::SquareBoard| {
        let group = tuned(results, thesis.board, "pn2");
        let answer = group.map(Group::answer);
        row![
            thesis.board,
            time(thesis.seconds),
            time_cell(results, group),
            finished(group, |group| factor(thesis.seconds / group.seconds())),
            grouped(thesis.l1_nodes),
            optional(answer.and_then(|answer| answer.l1_nodes), grouped),
            grouped(thesis.l2_nodes),
            optional(answer.and_then(|answer| answer.l2_nodes), grouped),
            optional(group, memory),
        ]
    };
    let head = "board|>thesis, 64 threads|>here, 1 thread|>faster|>L1 nodes, thesis|>here\
                |>L2 nodes, thesis|>here|>peak memory";
    table(head, &published::square_boards().map(row).collect::<Vec<_>>())
}

fn table_b1(results: &Results) -> String {
    let mut rows = Vec::new();
    for thesis in published::perft_8x8() {
        let Some(group) = perft_8x8(results, thesis.depth) else {
            continue;
        };
        let plain = plain_perft_8x8(results, thesis.depth);
        let is_equal = |group: &Group| {
            matches!(&group.answer().nodes, Nodes::ByPly(counts)
            if counts.last() == Some(&thesis.nodes))
        };
        let equal = is_equal(group) && plain.is_none_or(is_equal);
        rows.push(row![
            thesis.depth,
            grouped(thesis.nodes),
            if equal { "yes" } else { "**no**" },
            time(thesis.seconds),
            time_cell(results, Some(group)),
            factor(thesis.seconds / group.seconds()),
            memory(group),
            time_cell(results, plain),
            optional(plain, |plain| factor(thesis.seconds / plain.seconds())),
            optional(plain, speed),
            optional(plain, memory),
        ]);
    }
    let head = ">depth|>nodes, thesis|equal here|>time, thesis|>time here|>faster|>peak memory\
                |>--plain|>faster|>nodes/s|>peak memory";
    table(head, &rows)
}

fn table_4_1(results: &Results) -> String {
    let mut rows = Vec::new();
    let kinds = [("with", ""), ("without", " --no-symmetry")];
    for ((name, option), published) in kinds.into_iter().zip(published::unique_5x5()) {
        let mut add = |who: &str, counts: &[u64], time: String| {
            let mut cells = row![name, who];
            cells.extend((0..10).map(|ply| optional(counts.get(ply).copied(), grouped)));
            cells.push(time);
            rows.push(cells);
        };
        let group = results.with_args(&format!("perft 5x5 10 --unique{option} --threads 1"));
        add("the thesis", &published, NONE.to_string());
        let counts = group.map_or(&[][..], |group| &group.answer().unique);
        add("here", counts, time_cell(results, group));
    }
    let plies: String = (1..=10).map(|ply| format!("|>ply {ply}")).collect();
    table(&format!("symmetry|where{plies}|>time"), &rows)
}

fn further(results: &Results) -> String {
    let row = |board: &str| {
        let group = tuned(results, board, "dfpn");
        row![
            board,
            optional(group, winner),
            optional(group, nodes),
            time_cell(results, group),
            optional(group, speed),
            optional(group, memory),
        ]
    };
    table("board|winner|>nodes|>time|>nodes/s|>peak memory", &FURTHER.map(row))
}

fn all_runs(results: &Results) -> String {
    let row = |group: &Group| {
        let (least, most) = group.range();
        let range = (group.0.len() > 1).then(|| format!("{} to {}", time(least), time(most)));
        row![
            format!("`{}`", group.last().command),
            group.0.len(),
            nodes(group),
            time_cell(results, Some(group)),
            range.as_deref().unwrap_or(NONE),
            time(group.wall_seconds()),
            speed(group),
            memory(group),
            optional(group.load(), |load| format!("{load:.2}")),
        ]
    };
    let head = "command line|>runs|>nodes|>time|>least to greatest|>wall time|>nodes/s\
                |>peak memory|>greatest load";
    table(head, &results.0.iter().map(row).collect::<Vec<_>>())
}

/// What became of a search: the winner, the reason why there is none, or `not run`.
fn outcome(group: Option<&Group>) -> &str {
    let answer = group.map(Group::answer);
    let word = answer.map(|answer| answer.reason.as_deref().or(answer.result()));
    word.map_or(NOT_RUN, Option::unwrap_or_default)
}

/// Table 4.2 as CSV, with our figures in rows of their own.
pub fn csv_4_2(results: &Results) -> String {
    let mut rows = Vec::new();
    for (algorithm, _) in ALGORITHMS {
        let thesis = published::search_6x6(algorithm);
        let speed = cell((thesis.nodes / thesis.seconds).round());
        let winner = published::winner("6x6").expect("6x6 is solved");
        let (nodes, seconds) = (cell(thesis.nodes), cell(thesis.seconds));
        rows.push(row![algorithm, "published", nodes, seconds, speed, "", "", winner]);
        for profile in ["thesis", "tuned"] {
            let group = results.solve("6x6", algorithm, profile, 1);
            rows.push(row![
                algorithm,
                profile,
                count(group.map(Group::nodes)),
                cell(group.map(Group::seconds)),
                cell(group.map(|group| group.nodes_per_second().round())),
                cell(group.and_then(Group::peak_bytes)),
                count(group.map(|group| group.0.len() as u64)),
                outcome(group),
            ]);
        }
    }
    csv("algorithm,profile,nodes,seconds,nodes_per_second,peak_memory_bytes,runs,outcome", &rows)
}

/// Table 4.4 as CSV: the thesis on 64 threads, here on one.
pub fn csv_4_4(results: &Results) -> String {
    let mut rows = Vec::new();
    for thesis in published::square_boards() {
        let (board, winner) = (thesis.board, published::winner(thesis.board).unwrap_or_default());
        let (seconds, l1, l2) = (cell(thesis.seconds), thesis.l1_nodes, thesis.l2_nodes);
        rows.push(row![board, "published", 64, seconds, l1, l2, "", "", winner]);
        let group = tuned(results, board, "pn2");
        let answer = group.map(Group::answer);
        rows.push(row![
            board,
            "tuned",
            1,
            cell(group.map(Group::seconds)),
            count(answer.and_then(|answer| answer.l1_nodes)),
            count(answer.and_then(|answer| answer.l2_nodes)),
            cell(group.and_then(Group::peak_bytes)),
            count(group.map(|group| group.0.len() as u64)),
            outcome(group),
        ]);
    }
    csv("board,profile,threads,seconds,l1_nodes,l2_nodes,peak_memory_bytes,runs,outcome", &rows)
}
