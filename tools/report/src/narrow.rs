//! Who wins on boards of one, two and three ranks, from several setups, in Markdown and CSV.

use std::collections::BTreeSet;

use konane::{Board, Colour, Position};

use crate::questions::{Answers, CELLS, Question, board};
use crate::row;
use crate::text::{NONE, csv, page, table};
use crate::winners::{MOST_SQUARES, circumstances, ranges};

/// Most ranks of a narrow board.
const RANKS: u32 = 3;

/// Which stones are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    /// None: the usual beginning, with Black to remove a stone.
    Start,
    /// The corner's and the next in its rank.
    CornerHorizontal,
    /// The corner's and the next in its file.
    CornerVertical,
    /// The middle one's and the next in its rank.
    MiddleHorizontal,
    /// The middle one's and the next in its file.
    MiddleVertical,
}

use Setup::{CornerHorizontal, CornerVertical, MiddleHorizontal, MiddleVertical, Start};

impl Setup {
    const ALL: [Setup; 5] =
        [Start, CornerHorizontal, CornerVertical, MiddleHorizontal, MiddleVertical];

    fn name(self) -> &'static str {
        match self {
            Start => "start",
            CornerHorizontal => "corner-horizontal",
            CornerVertical => "corner-vertical",
            MiddleHorizontal => "middle-horizontal",
            MiddleVertical => "middle-vertical",
        }
    }

    /// The positions with either side to move, of which the start has one; none where the gap does
    /// not fit.
    fn positions(self, board: &Board) -> Vec<Position> {
        let (ranks, files) = (board.dimensions().ranks(), board.dimensions().files());
        let middle = ((ranks - 1) / 2, (files - 1) / 2);
        let (first, step) = match self {
            Start => return vec![Position::start(board)],
            CornerHorizontal => ((0, 0), (0, 1)),
            CornerVertical => ((0, 0), (1, 0)),
            MiddleHorizontal => (middle, (0, 1)),
            MiddleVertical => (middle, (1, 0)),
        };
        let second = (first.0 + step.0, first.1 + step.1);
        if second.0 >= ranks || second.1 >= files {
            return Vec::new();
        }
        let square = |(rank, file): (u32, u32)| 1u64 << (rank * files + file);
        let occupied = board.all() & !square(first) & !square(second);
        [Colour::Black, Colour::White]
            .map(|side| Position::new_unchecked(board, occupied, side))
            .into()
    }
}

/// A setup of a board with the side to move.
struct Case {
    setup: Setup,
    to_move: Colour,
    question: Question,
}

/// The boards, by ranks and then by files, which are no fewer.
fn boards(most_squares: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..=RANKS)
        .flat_map(move |ranks| (ranks..=most_squares / ranks).map(move |files| (ranks, files)))
}

fn cases(ranks: u32, files: u32) -> Vec<Case> {
    let board = &board(ranks, files);
    let of = |setup: Setup| {
        setup.positions(board).into_iter().map(move |position| Case {
            setup,
            to_move: position.to_move(),
            question: Question::new(board, &position),
        })
    };
    Setup::ALL.into_iter().flat_map(of).collect()
}

/// All positions, on boards of up to so many squares.
pub fn questions(most_squares: u32) -> impl Iterator<Item = Question> {
    let cases = boards(most_squares).flat_map(|(ranks, files)| cases(ranks, files));
    cases.map(|case| case.question)
}

/// One row for each setup and side to move.
pub fn csv_table(answers: &Answers) -> String {
    let mut lines = Vec::new();
    for (ranks, files) in boards(MOST_SQUARES) {
        for case in cases(ranks, files) {
            let winner = answers.winner(&case.question);
            let player = winner.map(|winner| match winner == case.to_move.name() {
                true => "first",
                false => "second",
            });
            let mut line = row![
                case.question.board,
                case.setup.name(),
                case.to_move.name(),
                case.question.position,
                winner.unwrap_or("unknown"),
                player.unwrap_or("unknown"),
            ];
            line.extend(answers.cells(&case.question));
            lines.push(line);
        }
    }
    csv(&format!("board,setup,to_move,position,winner,player,{CELLS}"), &lines)
}

/// What a setup is worth to whom: the one who begins (`N`), the other (`P`), Black (`B`) or White
/// (`W`) whoever begins. Of the start, where Black begins, the winner.
fn class(answers: &Answers, cases: &[&Case]) -> Option<char> {
    let winners: Option<Vec<&str>> =
        cases.iter().map(|case| answers.winner(&case.question)).collect();
    match winners?[..] {
        ["black"] | ["black", "black"] => Some('B'),
        ["white"] | ["white", "white"] => Some('W'),
        ["black", "white"] => Some('N'),
        ["white", "black"] => Some('P'),
        _ => None,
    }
}

/// Classes by files, from `first` on; `None` where there is none.
struct Sequence {
    setup: Setup,
    first: u32,
    classes: Vec<Option<char>>,
}

fn sequence(answers: &Answers, ranks: u32, setup: Setup) -> Sequence {
    let files = ranks..=MOST_SQUARES / ranks;
    let class_of = |files| {
        let cases = cases(ranks, files);
        class(answers, &cases.iter().filter(|case| case.setup == setup).collect::<Vec<_>>())
    };
    Sequence { setup, first: ranks, classes: files.map(class_of).collect() }
}

/// The least beginning and period, `(skipped, period)`, that the known part of a sequence, up to the
/// first gap after it began, has: at least three periods, and at least half of the sequence.
pub fn period(classes: &[Option<char>]) -> Option<(usize, usize)> {
    let absent = classes.iter().take_while(|class| class.is_none()).count();
    let known: Vec<char> = classes[absent..].iter().map_while(|&class| class).collect();
    let fits = |&(skipped, period): &(usize, usize)| {
        let rest = &known[skipped..];
        rest.len() >= 3 * period && rest.iter().zip(&rest[period..]).all(|(a, b)| a == b)
    };
    let most = known.len() / 2;
    let all = (0..=most).flat_map(|skipped| (1..=most.max(1)).map(move |period| (skipped, period)));
    let found = all.filter(fits).min_by_key(|&(skipped, period)| (skipped + period, period));
    found.map(|(skipped, period)| (absent + skipped, period))
}

impl Sequence {
    /// The numbers of files by class, where they follow no rule that is seen.
    fn numbers(&self) -> String {
        let classes: BTreeSet<char> = self.classes.iter().copied().flatten().collect();
        let of = |class| {
            let files = (self.first..).zip(&self.classes);
            let files: Vec<u32> =
                files.filter(|(_, is)| **is == Some(class)).map(|(files, _)| files).collect();
            format!("{class}: {}", ranges(&files))
        };
        let all: Vec<String> = classes.into_iter().map(of).collect();
        format!("no period; {}", all.join("; "))
    }

    /// What is seen, in words.
    fn pattern(&self) -> String {
        let Some((skipped, period)) = period(&self.classes) else {
            return self.numbers();
        };
        let seen = &self.classes[skipped..skipped + period];
        let word: String = seen.iter().flatten().collect();
        let from = self.first as usize + skipped;
        let known = self.classes[skipped..].iter().map_while(|&class| class).count();
        let last = from + known - 1;
        match period {
            1 => format!("{word} from {from} to {last}"),
            _ => format!("{word} repeated from {from} to {last}"),
        }
    }
}

fn sequences(answers: &Answers, ranks: u32) -> Vec<Sequence> {
    let all = Setup::ALL.into_iter().filter(|&setup| {
        let gap = |files| !setup.positions(&board(ranks, files)).is_empty();
        (ranks..=MOST_SQUARES / ranks).any(gap)
    });
    all.map(|setup| sequence(answers, ranks, setup)).collect()
}

/// The positions without a winner, and why.
fn left_out(answers: &Answers) -> String {
    let all = boards(MOST_SQUARES).flat_map(|(ranks, files)| cases(ranks, files));
    let open = all.filter(|case| answers.winner(&case.question).is_none());
    let name = |case: Case| {
        let (board, reason) = (&case.question.board, answers.reason(&case.question));
        format!("{board} {} for {} ({reason})", case.setup.name(), case.to_move.name())
    };
    let names: Vec<String> = open.map(name).collect();
    if names.is_empty() { String::new() } else { format!(", without {}", names.join(", ")) }
}

pub fn markdown(answers: &Answers) -> String {
    let all = || boards(MOST_SQUARES).flat_map(|(ranks, files)| cases(ranks, files));
    let known = all().filter(|case| answers.winner(&case.question).is_some()).count();
    let mut sections = String::new();
    for ranks in 1..=RANKS {
        let sequences = sequences(answers, ranks);
        let patterns: Vec<_> =
            sequences.iter().map(|of| row![of.setup.name(), of.pattern()]).collect();
        let files = ranks..=MOST_SQUARES / ranks;
        let line = |(at, files): (usize, u32)| {
            let cell =
                |of: &Sequence| of.classes[at].map_or(NONE.to_string(), |class| class.to_string());
            let cells = sequences.iter().map(cell);
            std::iter::once(files.to_string()).chain(cells).collect()
        };
        let lines: Vec<Vec<String>> = (0..).zip(files).map(line).collect();
        let names: String = sequences.iter().map(|of| format!("|{}", of.setup.name())).collect();
        sections += &format!(
            "## {ranks}xn\n\n{}\n{}\n",
            table("setup|seen by n", &patterns),
            table(&format!(">n{names}"), &lines)
        );
    }
    page(
        include_str!("../pages/narrow.md"),
        &[
            ("known", known.to_string()),
            ("cases", all().count().to_string()),
            ("left out", left_out(answers)),
            ("circumstances", circumstances(answers.records())),
            ("sections", sections),
        ],
    )
}
