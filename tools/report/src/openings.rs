//! Who wins after each first and second removal, in Markdown and CSV.

use std::collections::BTreeMap;

use konane::{Board, Colour, Position};

use crate::published;
use crate::questions::{Answers, CELLS, Question, board};
use crate::row;
use crate::text::{NONE, csv, page, table};
use crate::winners::{MOST_SQUARES, boards, circumstances, ranges};

/// Moves that lead to the same position but for a symmetry, and the position after the first.
struct Class {
    names: Vec<String>,
    next: Position,
}

/// The moves of a position by what they lead to, in their order.
fn classes(board: &Board, position: &Position) -> Vec<Class> {
    let mut classes: Vec<(u64, Class)> = Vec::new();
    for mv in position.moves(board) {
        let next = position.play(board, mv);
        let code = next.code(board);
        let name = mv.to_string();
        match classes.iter_mut().find(|(other, _)| *other == code) {
            Some((_, class)) => class.names.push(name),
            None => classes.push((code, Class { names: vec![name], next })),
        }
    }
    classes.into_iter().map(|(_, class)| class).collect()
}

/// A removal by White and what it leads to.
pub struct Answer {
    /// The removal and those that are the same but for a symmetry.
    pub names: Vec<String>,
    /// The position after it.
    pub question: Question,
}

/// A removal by Black.
pub struct Opening {
    /// The removal and those that are the same but for a symmetry.
    pub names: Vec<String>,
    /// White's answers; none on 1x1.
    pub answers: Vec<Answer>,
}

/// The openings of a board, symmetric ones once.
pub fn openings(board: &Board) -> Vec<Opening> {
    let answer =
        |class: Class| Answer { names: class.names, question: Question::new(board, &class.next) };
    let opening = |class: Class| Opening {
        answers: classes(board, &class.next).into_iter().map(answer).collect(),
        names: class.names,
    };
    classes(board, &Position::start(board)).into_iter().map(opening).collect()
}

/// All positions after two removals, on boards of up to so many squares.
pub fn questions(most_squares: u32) -> impl Iterator<Item = Question> {
    boards(most_squares).flat_map(|(ranks, files)| {
        let answers =
            openings(&board(ranks, files)).into_iter().flat_map(|opening| opening.answers);
        answers.map(|answer| answer.question)
    })
}

/// Who wins if the mover can choose between these: nobody is known to if it depends on one that is
/// not.
fn choice<'a>(mover: Colour, ends: impl Iterator<Item = Option<&'a str>>) -> Option<&'a str> {
    let (wins, loses) = match mover {
        Colour::Black => ("black", "white"),
        Colour::White => ("white", "black"),
    };
    let mut best = Some(loses);
    for end in ends {
        match end {
            Some(winner) if winner == wins => return Some(wins),
            Some(_) => {}
            None => best = None,
        }
    }
    best
}

/// An opening with its winner.
struct Row {
    opening: Opening,
    winner: Option<String>,
}

/// A board with at least one answer.
struct Rows {
    name: String,
    winner: Option<String>,
    openings: Vec<Row>,
}

/// The boards of which something was searched, and those of which nothing was.
fn rows(answers: &Answers) -> (Vec<Rows>, Vec<String>) {
    let (mut searched, mut untried) = (Vec::new(), Vec::new());
    for (ranks, files) in boards(MOST_SQUARES) {
        let board = board(ranks, files);
        let row = |opening: Opening| {
            let ends = opening.answers.iter().map(|answer| answers.winner(&answer.question));
            let winner = choice(Colour::White, ends).map(str::to_string);
            Row { opening, winner }
        };
        let openings: Vec<Row> = openings(&board).into_iter().map(row).collect();
        let mut all = openings.iter().flat_map(|row| &row.opening.answers);
        let name = board.dimensions().to_string();
        // On 1x1 there is nothing to search.
        if ranks * files > 1 && all.all(|answer| answers.get(&answer.question).is_none()) {
            untried.push(name);
            continue;
        }
        let ends = openings.iter().map(|row| row.winner.as_deref());
        let winner = choice(Colour::Black, ends).map(str::to_string);
        searched.push(Rows { name, winner, openings });
    }
    (searched, untried)
}

const UNKNOWN: &str = "unknown";

/// One row for each opening and answer.
pub fn csv_table(answers: &Answers) -> String {
    let mut lines = Vec::new();
    for board in rows(answers).0 {
        for Row { opening, winner } in &board.openings {
            let head = row![
                board.name,
                board.winner.as_deref().unwrap_or(UNKNOWN),
                opening.names[0],
                opening.names[1..].join(" "),
                winner.as_deref().unwrap_or(UNKNOWN),
            ];
            for answer in &opening.answers {
                let mut line = head.clone();
                line.extend(row![
                    answer.names[0],
                    answer.names[1..].join(" "),
                    answers.winner(&answer.question).unwrap_or(UNKNOWN),
                    answer.question.position,
                ]);
                line.extend(answers.cells(&answer.question));
                lines.push(line);
            }
            if opening.answers.is_empty() {
                let rest = [const { String::new() }; 8];
                lines.push(head.into_iter().chain(rest).collect());
            }
        }
    }
    let head = "board,start_winner,first,first_same,first_winner,second,second_same,\
                second_winner,position";
    csv(&format!("{head},{CELLS}"), &lines)
}

/// Boards whose openings give another winner than the thesis does.
pub fn not_as_published(answers: &Answers) -> Vec<String> {
    let differs = |board: &Rows| {
        let (here, there) = (board.winner.as_deref(), published::winner(&board.name));
        here.is_some() && there.is_some() && here != there
    };
    rows(answers).0.into_iter().filter(differs).map(|board| board.name).collect()
}

pub fn markdown(answers: &Answers) -> String {
    let (searched, untried) = rows(answers);
    let known = searched.iter().filter(|board| board.winner.is_some()).count();
    let complete = |board: &&Rows| {
        let mut all = board.openings.iter().flat_map(|row| &row.opening.answers);
        all.all(|answer| answers.winner(&answer.question).is_some())
    };
    let untried = match &untried[..] {
        [] => String::new(),
        names => format!("Not searched: {}.", names.join(", ")),
    };
    let left_out = format!("{}\n{untried}", left_out(answers, &searched));
    page(
        include_str!("../pages/openings.md"),
        &[
            ("boards", boards(MOST_SQUARES).count().to_string()),
            ("complete", searched.iter().filter(complete).count().to_string()),
            ("known", known.to_string()),
            ("left out", left_out),
            ("circumstances", circumstances(answers.records())),
            ("who opens well", black_wins(&searched)),
            ("openings", table_of(answers, &searched)),
        ],
    )
}

/// Boards with pairs of removals that have no winner yet, and why.
fn left_out(answers: &Answers, searched: &[Rows]) -> String {
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for board in searched {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for answer in board.openings.iter().flat_map(|row| &row.opening.answers) {
            if answers.winner(&answer.question).is_none() {
                *counts.entry(answers.reason(&answer.question)).or_default() += 1;
            }
        }
        for (reason, count) in counts {
            reasons.entry(reason).or_default().push(format!("{} ({count})", board.name));
        }
    }
    let line =
        |(reason, boards): (&String, &Vec<String>)| format!("- {reason}: {}", boards.join(", "));
    let lines: Vec<String> = reasons.iter().map(line).collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!(
            "Left out are, by the limit of the search and with their numbers of pairs:\n\n{}\n",
            lines.join("\n")
        ),
    }
}

/// Boards on which Black wins, and with which removals.
fn black_wins(searched: &[Rows]) -> String {
    let is = |row: &&Row, colour: &str| row.winner.as_deref() == Some(colour);
    let names = |board: &Rows, colour: &str| {
        let rows = board.openings.iter().filter(|row| is(row, colour));
        let names: Vec<String> = rows.map(|row| row.opening.names.join(" ")).collect();
        if names.is_empty() { NONE.to_string() } else { names.join(", ") }
    };
    let lines = searched.iter().filter(|board| board.winner.as_deref() == Some("black"));
    // Long boards are a list of their own.
    let (long, short): (Vec<&Rows>, Vec<&Rows>) =
        lines.partition(|board| board.name.starts_with("1x"));
    let files: Vec<u32> = long.iter().filter_map(|board| board.name[2..].parse().ok()).collect();
    let line = |board: &Rows| row![board.name, names(board, "black"), names(board, "white")];
    let short: Vec<_> = short.into_iter().map(line).collect();
    format!(
        "One rank: with {} files.\n\n{}",
        ranges(&files),
        table("board|removals that win|removals that lose", &short)
    )
}

fn table_of(answers: &Answers, searched: &[Rows]) -> String {
    let mut lines = Vec::new();
    for board in searched {
        for Row { opening, winner } in &board.openings {
            let with = |winner: Option<&str>| {
                let all = opening.answers.iter();
                let found = all.filter(|answer| answers.winner(&answer.question) == winner);
                let names: Vec<String> = found.map(|answer| answer.names.join(" ")).collect();
                if names.is_empty() { NONE.to_string() } else { names.join(", ") }
            };
            lines.push(row![
                board.name,
                opening.names.join(" "),
                match winner.as_deref() {
                    Some("black") => "**Black**",
                    Some(_) => "White",
                    None => "?",
                },
                with(Some("white")),
                with(Some("black")),
                with(None),
            ]);
        }
    }
    let head = "board|first removal|winner|answers that win|answers that lose|not solved";
    table(head, &lines)
}
