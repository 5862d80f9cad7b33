//! The winners of all boards that were searched, in Markdown and CSV.

use std::collections::BTreeMap;

use crate::published;
use crate::records::Record;
use crate::text::{cell, cpu_time, csv, grouped, short, table, time};

/// What stands where there is no figure.
const NONE: &str = "–";

/// Most squares of a board.
pub const MOST_SQUARES: u32 = 64;

/// A board with no more ranks than files; the one turned over the diagonal is the same game.
#[derive(Clone, Debug)]
pub struct Row {
    /// Ranks; not more than files.
    pub ranks: u32,
    /// Files.
    pub files: u32,
    /// The winner that the thesis gives.
    pub published: Option<&'static str>,
    /// The latest search that found the winner; else the one with the most nodes; nothing if the
    /// board was not searched.
    pub search: Option<Record>,
}

impl Row {
    /// Ranks x files.
    pub fn board(&self) -> String {
        format!("{}x{}", self.ranks, self.files)
    }

    /// `black` or `white`, if a search found it.
    pub fn winner(&self) -> Option<&str> {
        let answer = &self.search.as_ref()?.result;
        answer.outcome.as_deref().filter(|_| !answer.is_unfinished())
    }

    /// Whether the winner is found here and not in the thesis.
    pub fn is_new(&self) -> bool {
        self.winner().is_some() && self.published.is_none()
    }
}

/// All boards of up to 64 squares, by squares and then by ranks.
///
/// # Errors
/// If two searches of a board, or of it turned over the diagonal, found different winners; the
/// message has their command lines. If a record is of no such board.
pub fn rows(records: &[Record]) -> Result<Vec<Row>, String> {
    let mut searches: BTreeMap<(u32, u32), &Record> = BTreeMap::new();
    for record in records {
        let board = sides(&record.result.board)
            .ok_or_else(|| format!("{}: no board of up to 64 squares", record.command))?;
        let Some(earlier) = searches.insert(board, record) else {
            continue;
        };
        let (before, after) = (&earlier.result, &record.result);
        match (before.is_unfinished(), after.is_unfinished()) {
            (false, false) if before.outcome != after.outcome => {
                let (one, other) = (&earlier.command, &record.command);
                return Err(format!("different winners by {one:?} and {other:?}"));
            }
            (false, true) => {
                searches.insert(board, earlier);
            }
            (true, true) if before.total_nodes() > after.total_nodes() => {
                searches.insert(board, earlier);
            }
            _ => {}
        }
    }
    let mut rows = Vec::new();
    for squares in 1..=MOST_SQUARES {
        for ranks in (1..=squares).take_while(|ranks| ranks * ranks <= squares) {
            if squares % ranks == 0 {
                let files = squares / ranks;
                rows.push(Row {
                    ranks,
                    files,
                    published: published::winner(&format!("{ranks}x{files}")),
                    search: searches.get(&(ranks, files)).map(|&record| record.clone()),
                });
            }
        }
    }
    Ok(rows)
}

/// The sides of a board such as `7x6`, the shorter one first.
fn sides(board: &str) -> Option<(u32, u32)> {
    let (ranks, files) = board.split_once('x')?;
    let (ranks, files): (u32, u32) = (ranks.parse().ok()?, files.parse().ok()?);
    let squares = ranks.checked_mul(files)?;
    (1..=MOST_SQUARES).contains(&squares).then_some((ranks.min(files), ranks.max(files)))
}

/// One row for each board.
pub fn csv_table(rows: &[Row]) -> String {
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let search = row.search.as_ref();
            let answer = search.map(|record| &record.result);
            let word = |text: Option<&String>| text.cloned().unwrap_or_default();
            let number = |number: Option<f64>| cell(number);
            vec![
                row.board(),
                (row.ranks * row.files).to_string(),
                row.winner().unwrap_or("unknown").to_string(),
                row.published.unwrap_or("unknown").to_string(),
                if row.is_new() { "yes" } else { "no" }.to_string(),
                word(answer.and_then(|answer| answer.algorithm.as_ref())),
                number(answer.and_then(|answer| answer.threads).map(f64::from)),
                number(answer.map(|answer| answer.total_nodes() as f64)),
                number(answer.and_then(|answer| answer.settle_positions).map(|n| n as f64)),
                number(answer.map(|answer| answer.seconds)),
                number(search.and_then(|record| record.cpu_seconds)),
                number(search.and_then(|record| record.peak_rss_bytes).map(|bytes| bytes as f64)),
                word(answer.and_then(|answer| answer.reason.as_ref())),
                number(answer.and_then(|answer| answer.pn).map(f64::from)),
                number(answer.and_then(|answer| answer.dn).map(f64::from)),
            ]
        })
        .collect();
    let columns = [
        "board",
        "squares",
        "winner",
        "published",
        "new",
        "algorithm",
        "threads",
        "nodes",
        "settle_positions",
        "seconds",
        "cpu_seconds",
        "peak_memory_bytes",
        "reason",
        "root_pn",
        "root_dn",
    ];
    csv(&columns, &cells)
}

/// The page.
pub fn markdown(rows: &[Row]) -> String {
    let sections = [introduction(rows), small_boards(rows), long_boards(rows), solved(rows)];
    let mut text = sections.join("\n");
    text += &unsolved(rows);
    text
}

fn introduction(rows: &[Row]) -> String {
    let mut text = "# Winners\n\n\
        Who wins from the start of a board, for every board of up to 64 squares that a search with \
        a limit solves. Made by `scripts/winners.sh` from the \
        [raw results](benchmarks/winners.jsonl); change the script, not this page. The figures are \
        also [a table](benchmarks/winners.csv). \"The thesis\" is B. Siefke, *Solving Konane Using \
        Proof-Number Search and Extensions*, TU Berlin 2025; its Figure 4.3 has the boards of up \
        to 8x8.\n\n\
        A board RxF (ranks x files) and FxR are the same game: turning the board over the diagonal \
        through the top-left square keeps the colours of the squares, takes corners to corners, \
        the centre to the centre, and lines to lines. So a board stands here once, with no more \
        ranks than files, and the row holds for both; `tests/report_benchmarks` plays games on \
        both boards at once and compares all moves.\n\n"
        .to_string();
    let solved = rows.iter().filter(|row| row.winner().is_some()).count();
    let new = rows.iter().filter(|row| row.is_new()).count();
    text += &format!(
        "Of the {} boards (those with FxR not counted apart), {solved} are solved, {new} of them \
         not in the thesis.\n",
        rows.len()
    );
    text += &agreement(rows);
    text + &circumstances(rows)
}

fn agreement(rows: &[Row]) -> String {
    let both = |row: &&Row| row.winner().is_some() && row.published.is_some();
    let differing: Vec<String> = rows
        .iter()
        .filter(both)
        .filter(|row| row.winner() != row.published)
        .map(Row::board)
        .collect();
    if !differing.is_empty() {
        return format!("\n**Winners that differ from the thesis:** {}.\n", differing.join(", "));
    }
    let compared = rows.iter().filter(both).count();
    let missing = rows.iter().filter(|row| row.published.is_some() && row.winner().is_none());
    let missing: Vec<String> = missing.map(Row::board).collect();
    let rest = if missing.is_empty() {
        "There is none that the thesis solves and this program did not.".to_string()
    } else {
        format!("In the thesis and not solved here: {}.", missing.join(", "))
    };
    format!("All {compared} winners that the thesis has as well agree with it. {rest}\n")
}

fn circumstances(rows: &[Row]) -> String {
    let records = || rows.iter().filter_map(|row| row.search.as_ref());
    let distinct = |value: &dyn Fn(&Record) -> String| {
        records().map(value).collect::<std::collections::BTreeSet<_>>()
    };
    let join = |value: &dyn Fn(&Record) -> String| {
        distinct(value).into_iter().collect::<Vec<_>>().join(", ")
    };
    let loads = || records().filter_map(|record| record.load_before);
    let mut text = format!(
        "\nMeasured on {} ({}), signature of `konane bench` {}, commit {}.",
        join(&|record| format!("{} ({} cores)", record.cpu, record.cores)),
        join(&|record| record.date.chars().take(10).collect()),
        join(&|record| record.signature.to_string()),
        join(&|record| record.commit.clone()),
    );
    if let (Some(least), Some(most)) = (loads().reduce(f64::min), loads().reduce(f64::max)) {
        text += &format!(
            " The load average before a run was {least:.2} to {most:.2}; where it is above the \
             number of cores the machine was busy with other work, and the times are longer than \
             the search needs. Node counts of searches on one thread do not depend on that, and \
             CPU time does much less."
        );
    }
    text + "\n"
}

/// The word for a winner in a cell; bold if it is new.
fn word(row: &Row) -> String {
    let name = match row.winner() {
        Some("black") => "Black",
        Some("white") => "White",
        _ => return "?".to_string(),
    };
    if row.is_new() { format!("**{name}**") } else { name.to_string() }
}

fn find(rows: &[Row], ranks: u32, files: u32) -> Option<&Row> {
    let sides = (ranks.min(files), ranks.max(files));
    rows.iter().find(|row| (row.ranks, row.files) == sides)
}

/// The boards of up to 8x8, as in the thesis' figure.
fn small_boards(rows: &[Row]) -> String {
    let lines: Vec<Vec<String>> = (1..=8)
        .map(|ranks| {
            let mut line = vec![format!("**{ranks}**")];
            line.extend(
                (1..=8).map(|files| find(rows, ranks, files).map_or("?".to_string(), word)),
            );
            line
        })
        .collect();
    let head = ["ranks \\ files", "1", "2", "3", "4", "5", "6", "7", "8"];
    format!(
        "## Boards of up to 8x8 (Figure 4.3)\n\n![Winners by board](benchmarks/winners.svg)\n\n\
         Bold: not in the thesis. `?`: not solved.\n\n{}",
        table(&head, &lines)
    )
}

/// All boards by their shorter side.
fn long_boards(rows: &[Row]) -> String {
    let lines: Vec<Vec<String>> = (1..=8)
        .map(|ranks| {
            let of = |winner: Option<&str>| {
                let files = rows
                    .iter()
                    .filter(|row| row.ranks == ranks && row.winner() == winner)
                    .map(|row| row.files);
                ranges(&files.collect::<Vec<_>>())
            };
            let all = rows.iter().filter(|row| row.ranks == ranks).map(|row| row.files);
            let all = ranges(&all.collect::<Vec<_>>());
            vec![ranks.to_string(), all, of(Some("black")), of(Some("white")), of(None)]
        })
        .collect();
    let head = [">shorter side", "longer side", "Black wins", "White wins", "not solved"];
    format!("## All boards by their sides\n\n{}", table(&head, &lines))
}

/// Ascending numbers as `1, 3–5`.
pub fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let texts = runs.into_iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}–{last}"),
    });
    let text = texts.collect::<Vec<_>>().join(", ");
    if text.is_empty() { NONE.to_string() } else { text }
}

fn optional(number: Option<f64>, text: impl Fn(f64) -> String) -> String {
    number.map_or(NONE.to_string(), text)
}

fn solved(rows: &[Row]) -> String {
    let mut lines = Vec::new();
    for row in rows.iter().filter(|row| row.winner().is_some()) {
        let search = row.search.as_ref().expect("a solved board was searched");
        let answer = &search.result;
        let published = match row.published {
            None => "new",
            Some(winner) if Some(winner) == row.winner() => "the same",
            Some(_) => "**another**",
        };
        lines.push(vec![
            row.board(),
            word(row),
            published.to_string(),
            grouped(answer.total_nodes()),
            answer.settle_positions.map_or(NONE.to_string(), grouped),
            time(answer.seconds),
            optional(search.cpu_seconds, cpu_time),
            answer.algorithm.clone().unwrap_or_default(),
            optional(answer.threads.map(f64::from), |threads| threads.to_string()),
            optional(search.load_before, |load| format!("{load:.2}")),
        ]);
    }
    let head = [
        "board",
        "winner",
        "the thesis",
        ">nodes",
        ">in exact searches",
        ">time",
        ">CPU time",
        "algorithm",
        ">threads",
        ">load before",
    ];
    format!(
        "## Solved boards\n\nNodes are positions evaluated; those that the small exact searches \
         near the end of games visit are counted apart. CPU time is that of the whole process.\n\n{}",
        table(&head, &lines)
    )
}

/// The limits of a search as the command line has them.
fn limits(record: &Record) -> String {
    let nodes = record.max_nodes.map(|nodes| format!("{} nodes", short(nodes as f64)));
    let parts: Vec<String> = record.time_limit.clone().into_iter().chain(nodes).collect();
    parts.join(", ")
}

fn unsolved(rows: &[Row]) -> String {
    let mut lines = Vec::new();
    let mut untried = Vec::new();
    for row in rows.iter().filter(|row| row.winner().is_none()) {
        let Some(search) = &row.search else {
            untried.push(row.board());
            continue;
        };
        let answer = &search.result;
        lines.push(vec![
            row.board(),
            limits(search),
            answer.reason.clone().unwrap_or_default(),
            grouped(answer.total_nodes()),
            time(answer.seconds),
            optional(answer.pn.map(f64::from), |pn| grouped(pn as u64)),
            optional(answer.dn.map(f64::from), |dn| grouped(dn as u64)),
            format!("`{}`", search.args),
        ]);
    }
    let mut text = String::new();
    if !lines.is_empty() {
        let head =
            ["board", "limits", "stopped by", ">nodes", ">time", ">root pn", ">root dn", "search"];
        text += &format!(
            "\n## Not solved within the limits\n\nThese runs claim nothing. pn and dn are the \
             root's proof and disproof numbers for Black, who is to move, at the end of the run. A \
             later run of the script with greater limits tries these boards again.\n\n{}",
            table(&head, &lines)
        );
    }
    if !untried.is_empty() {
        text += &format!("\n## Not tried\n\n{}.\n", untried.join(", "));
    }
    text
}
