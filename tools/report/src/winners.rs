//! The winners of all boards that were searched, in Markdown and CSV.

use std::collections::BTreeMap;

use crate::published;
use crate::records::{Record, distinct};
use crate::row;
use crate::text::{NONE, cell, count, cpu_time, csv, grouped, optional, page, short, table, time};

/// Most squares of a board.
pub const MOST_SQUARES: u32 = 64;

/// A board with no more ranks than files; the one turned over the diagonal is the same game.
pub struct Row {
    pub ranks: u32,
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
        self.search.as_ref()?.result.found()
    }

    /// Whether the winner is found here and not in the thesis.
    pub fn is_new(&self) -> bool {
        self.winner().is_some() && self.published.is_none()
    }

    /// The word for the winner in a cell; bold if it is new.
    fn word(&self) -> String {
        let name = match self.winner() {
            Some("black") => "Black",
            Some("white") => "White",
            _ => return "?".to_string(),
        };
        if self.is_new() { format!("**{name}**") } else { name.to_string() }
    }
}

/// All boards of so many squares and fewer, by squares and then by ranks, which are no more than the
/// files.
pub fn boards(most_squares: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..=most_squares).flat_map(|squares| {
        let ranks = (1..=squares).take_while(move |ranks| ranks * ranks <= squares);
        ranks.filter(move |ranks| squares % ranks == 0).map(move |ranks| (ranks, squares / ranks))
    })
}

/// The sides of a board such as `7x6`, the shorter one first.
pub fn sides(board: &str) -> Option<(u32, u32)> {
    let (ranks, files) = board.split_once('x')?;
    let (ranks, files): (u32, u32) = (ranks.parse().ok()?, files.parse().ok()?);
    let squares = ranks.checked_mul(files)?;
    (1..=MOST_SQUARES).contains(&squares).then_some((ranks.min(files), ranks.max(files)))
}

/// A row for every board.
///
/// # Errors
/// If two searches of a board, or of it turned over the diagonal, found different winners; the
/// message has their command lines. If a record is of no such board.
pub fn rows(records: &[Record]) -> Result<Vec<Row>, String> {
    let mut searches: BTreeMap<(u32, u32), &Record> = BTreeMap::new();
    for record in records {
        let board = sides(&record.result.board)
            .ok_or_else(|| format!("{}: no board of up to 64 squares", record.command))?;
        let earlier = *searches.entry(board).or_insert(record);
        let nodes = |record: &Record| record.result.total_nodes();
        match (earlier.result.found(), record.result.found()) {
            (Some(before), Some(after)) if before != after => {
                let (one, other) = (&earlier.command, &record.command);
                return Err(format!("different winners by {one:?} and {other:?}"));
            }
            (Some(_), None) => {}
            (None, None) if nodes(earlier) > nodes(record) => {}
            _ => {
                searches.insert(board, record);
            }
        }
    }
    let row = |(ranks, files)| Row {
        ranks,
        files,
        published: published::winner(&format!("{ranks}x{files}")),
        search: searches.get(&(ranks, files)).copied().cloned(),
    };
    Ok(boards(MOST_SQUARES).map(row).collect())
}

/// One row for each board.
pub fn csv_table(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let search = row.search.as_ref();
        let answer = search.map(|record| &record.result);
        row![
            row.board(),
            row.ranks * row.files,
            row.winner().unwrap_or("unknown"),
            row.published.unwrap_or("unknown"),
            if row.is_new() { "yes" } else { "no" },
            answer.map_or("", |answer| &answer.algorithm),
            count(answer.and_then(|answer| answer.threads).map(u64::from)),
            count(answer.map(|answer| answer.total_nodes())),
            count(answer.and_then(|answer| answer.leaf_positions)),
            cell(answer.map(|answer| answer.seconds)),
            cell(search.and_then(|record| record.cpu_seconds)),
            count(search.and_then(|record| record.peak_rss_bytes)),
            answer.and_then(|answer| answer.reason.as_deref()).unwrap_or_default(),
            count(answer.and_then(|answer| answer.pn)),
            count(answer.and_then(|answer| answer.dn)),
        ]
    };
    let head = "board,squares,winner,published,new,algorithm,threads,nodes,leaf_positions,seconds,\
                cpu_seconds,peak_memory_bytes,reason,root_pn,root_dn";
    csv(head, &rows.iter().map(line).collect::<Vec<_>>())
}

pub fn markdown(rows: &[Row]) -> String {
    let solved = rows.iter().filter(|row| row.winner().is_some()).count();
    let new = rows.iter().filter(|row| row.is_new()).count();
    page(
        include_str!("../pages/winners.md"),
        &[
            ("boards", rows.len().to_string()),
            ("solved", solved.to_string()),
            ("new", new.to_string()),
            ("agreement", agreement(rows)),
            ("circumstances", circumstances(rows.iter().filter_map(|row| row.search.as_ref()))),
            ("small boards", small_boards(rows)),
            ("long boards", long_boards(rows)),
            ("solved boards", solved_boards(rows)),
            ("unsolved boards", unsolved_boards(rows)),
        ],
    )
}

fn agreement(rows: &[Row]) -> String {
    let names = |keep: &dyn Fn(&Row) -> bool| {
        let boards: Vec<String> = rows.iter().filter(|row| keep(row)).map(Row::board).collect();
        boards.join(", ")
    };
    let both = |row: &Row| row.winner().is_some() && row.published.is_some();
    let differing = names(&|row| both(row) && row.winner() != row.published);
    if !differing.is_empty() {
        return format!("\n**Winners that differ from the thesis:** {differing}.");
    }
    let compared = rows.iter().filter(|row| both(row)).count();
    let missing = names(&|row| row.published.is_some() && row.winner().is_none());
    let rest = if missing.is_empty() {
        "There is none that the thesis solves and this program did not.".to_string()
    } else {
        format!("In the thesis and not solved here: {missing}.")
    };
    format!("All {compared} winners that the thesis has as well agree with it. {rest}")
}

/// Where, when and by which programs searches were made.
pub fn circumstances<'a>(searches: impl Iterator<Item = &'a Record> + Clone) -> String {
    let records = || searches.clone();
    let loads = || records().filter_map(|record| record.load_before);
    let mut text = format!(
        "Measured on {} ({}), signature of `konane bench` {}.",
        distinct(records(), |record| format!("{} ({} cores)", record.cpu, record.cores)),
        distinct(records(), |record| record.date.chars().take(10).collect()),
        distinct(records(), |record| record.signature.to_string()),
    );
    if let (Some(least), Some(most)) = (loads().reduce(f64::min), loads().reduce(f64::max)) {
        text += &format!(
            " The load average before a run was {least:.2} to {most:.2}; where it is above the \
             number of cores the machine was busy with other work, and the times are longer than \
             the search needs. Node counts of searches on one thread do not depend on that, and \
             CPU time does much less."
        );
    }
    text
}

/// The boards of up to 8x8, as in the thesis' figure.
fn small_boards(rows: &[Row]) -> String {
    let find = |ranks: u32, files: u32| {
        let sides = (ranks.min(files), ranks.max(files));
        rows.iter().find(|row| (row.ranks, row.files) == sides)
    };
    let line = |ranks| {
        let mut line = row![format!("**{ranks}**")];
        let words = (1..=8).map(|files| find(ranks, files).map_or("?".to_string(), Row::word));
        line.extend(words);
        line
    };
    table("ranks \\ files|1|2|3|4|5|6|7|8", &(1..=8).map(line).collect::<Vec<_>>())
}

/// All boards by their shorter side.
fn long_boards(rows: &[Row]) -> String {
    let line = |ranks: u32| {
        let of = |keep: &dyn Fn(&Row) -> bool| {
            let boards = rows.iter().filter(|row| row.ranks == ranks && keep(row));
            ranges(&boards.map(|row| row.files).collect::<Vec<_>>())
        };
        let won = |winner| of(&|row| row.winner() == winner);
        row![ranks, of(&|_| true), won(Some("black")), won(Some("white")), won(None)]
    };
    let head = ">shorter side|longer side|Black wins|White wins|not solved";
    table(head, &(1..=8).map(line).collect::<Vec<_>>())
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

fn solved_boards(rows: &[Row]) -> String {
    let mut lines = Vec::new();
    for row in rows.iter().filter(|row| row.winner().is_some()) {
        let search = row.search.as_ref().expect("a solved board was searched");
        let answer = &search.result;
        let published = match row.published {
            None => "new",
            Some(winner) if Some(winner) == row.winner() => "the same",
            Some(_) => "**another**",
        };
        lines.push(row![
            row.board(),
            row.word(),
            published,
            grouped(answer.total_nodes()),
            optional(answer.leaf_positions, grouped),
            time(answer.seconds),
            optional(search.cpu_seconds, cpu_time),
            answer.algorithm,
            optional(answer.threads, |threads| threads.to_string()),
            optional(search.load_before, |load| format!("{load:.2}")),
        ]);
    }
    let head = "board|winner|the thesis|>nodes|>in exact searches|>time|>CPU time|algorithm\
                |>threads|>load before";
    table(head, &lines)
}

fn unsolved_boards(rows: &[Row]) -> String {
    let (mut lines, mut untried) = (Vec::new(), Vec::new());
    for row in rows.iter().filter(|row| row.winner().is_none()) {
        let Some(search) = &row.search else {
            untried.push(row.board());
            continue;
        };
        let answer = &search.result;
        let nodes = search.max_nodes.map(|nodes| format!("{} nodes", short(nodes as f64)));
        let limits: Vec<String> = search.time_limit.clone().into_iter().chain(nodes).collect();
        lines.push(row![
            row.board(),
            optional((!limits.is_empty()).then_some(limits), |limits| limits.join(", ")),
            answer.reason.as_deref().unwrap_or_default(),
            grouped(answer.total_nodes()),
            time(answer.seconds),
            optional(answer.pn, grouped),
            optional(answer.dn, grouped),
            format!("`{}`", search.args),
        ]);
    }
    let mut text = String::new();
    if !lines.is_empty() {
        let head = "board|limits|stopped by|>nodes|>time|>root pn|>root dn|search";
        text += &format!(
            "\n## Not solved within the limits\n\nThese runs claim nothing. pn and dn are the \
             root's proof and disproof numbers for Black, who is to move, at the end of the run. \
             Measuring again with greater limits tries these boards again.\n\n{}",
            table(head, &lines)
        );
    }
    if !untried.is_empty() {
        text += &format!("\n## Not tried\n\n{}.\n", untried.join(", "));
    }
    text
}
