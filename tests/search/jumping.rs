//! Positions of the jumping phase that the standard rules do not have, compared with a negamax search on lists of squares
//! that uses no code of the library: with at most one empty square ([`Rules::Jumping`]), and with all stones on squares of
//! the other colour ([`Rules::OtherColouring`]).

use std::collections::HashMap;

use konane::analysis::Analyst;
use konane::notation::parse_position_as;
use konane::search::plain::oracle::{Oracle, OracleAnswer};
use konane::{
    Algorithm, Board, Colour, Dimensions, Perft, PhaseChoice, Position, Rules, SolveOptions,
    Solver, Value,
};

/// A board as a list of squares, rank by rank from the top: `x`, `o` or `.`.
type Cells = Vec<char>;

/// Reference implementation: plain negamax with the rules of the jumping phase only.
struct ReferenceJumps {
    ranks: i32,
    files: i32,
    memo: HashMap<(Cells, char), bool>,
}

impl ReferenceJumps {
    fn new(dimensions: Dimensions) -> Self {
        let (ranks, files) = (dimensions.ranks() as i32, dimensions.files() as i32);
        ReferenceJumps { ranks, files, memo: HashMap::new() }
    }

    /// Every move with the squares after it, in notation with the hyphen.
    fn moves(&self, cells: &Cells, mover: char) -> Vec<(String, Cells)> {
        let at = |rank: i32, file: i32| {
            let inside = (0..self.ranks).contains(&rank) && (0..self.files).contains(&file);
            inside.then(|| (rank * self.files + file) as usize)
        };
        let name = |rank: i32, file: i32| {
            format!("{}{}", char::from(b'a' + file as u8), self.ranks - rank)
        };
        let mut moves = Vec::new();
        for (rank, file) in (0..self.ranks).flat_map(|r| (0..self.files).map(move |f| (r, f))) {
            let from = at(rank, file).expect("a square");
            if cells[from] != mover {
                continue;
            }
            for (dr, df) in [(0, 1), (0, -1), (1, 0), (-1, 0)] {
                let mut after = cells.clone();
                after[from] = '.';
                let (mut r, mut f) = (rank, file);
                while let (Some(over), Some(to)) = (at(r + dr, f + df), at(r + 2 * dr, f + 2 * df))
                    && !['.', mover].contains(&after[over])
                    && after[to] == '.'
                {
                    after[over] = '.';
                    (r, f) = (r + 2 * dr, f + 2 * df);
                    let mut landed = after.clone();
                    landed[to] = mover;
                    moves.push((format!("{}-{}", name(rank, file), name(r, f)), landed));
                }
            }
        }
        moves
    }

    fn wins(&mut self, cells: &Cells, mover: char) -> bool {
        if let Some(&wins) = self.memo.get(&(cells.clone(), mover)) {
            return wins;
        }
        let moves = self.moves(cells, mover);
        let wins = moves.iter().any(|(_, after)| !self.wins(after, other(mover)));
        self.memo.insert((cells.clone(), mover), wins);
        wins
    }

    fn perft(&self, cells: &Cells, mover: char, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let moves = self.moves(cells, mover);
        moves.iter().map(|(_, after)| self.perft(after, other(mover), depth - 1)).sum()
    }

    fn text(&self, cells: &Cells, mover: char) -> String {
        let rank = |rank: &[char]| rank.iter().collect::<String>().replace('.', "1");
        let ranks: Vec<String> = cells.chunks(self.files as usize).map(rank).collect();
        format!("{} {}", ranks.join("/"), if mover == 'x' { 'b' } else { 'w' })
    }
}

fn other(mover: char) -> char {
    if mover == 'x' { 'o' } else { 'x' }
}

/// The full board, or that of the other colouring.
fn full(dimensions: Dimensions, is_other: bool) -> Cells {
    let files = dimensions.files();
    let is_even = |square: u32| (square / files + square % files).is_multiple_of(2);
    (0..dimensions.squares()).map(|s| if is_even(s) != is_other { 'x' } else { 'o' }).collect()
}

/// Every position of a board with at most one empty square, and its mover.
fn early(dimensions: Dimensions) -> impl Iterator<Item = (Cells, char)> {
    let full = full(dimensions, false);
    let mut boards = vec![full.clone()];
    for square in 0..full.len() {
        let mut cells = full.clone();
        cells[square] = '.';
        boards.push(cells);
    }
    boards.into_iter().flat_map(|cells| [(cells.clone(), 'x'), (cells, 'o')])
}

const BOARDS: [&str; 12] =
    ["1x3", "1x4", "1x5", "1x6", "1x7", "1x8", "1x9", "9x1", "3x3", "2x4", "3x4", "4x4"];

/// An oracle without values that panics for positions with at most one empty square, because values of the ordinary
/// board would be wrong for them.
struct NoEarlyPositions<'a>(&'a Board);

impl Oracle for NoEarlyPositions<'_> {
    fn value(&self, code: u64) -> OracleAnswer {
        let position = Position::from_code(self.0, code);
        let empty = (self.0.all() & !position.occupied()).count_ones();
        assert!(empty > 1, "values of the ordinary board are not about {code:#x}");
        OracleAnswer::Unknown
    }
}

#[test]
fn searches_agree_with_negamax_by_the_rules_of_the_jumping_phase() {
    let mut winners = [0, 0];
    for size in BOARDS {
        let dimensions: Dimensions = size.parse().expect("a board");
        let mut oracle = ReferenceJumps::new(dimensions);
        for (cells, mover) in early(dimensions) {
            let text = oracle.text(&cells, mover);
            let (board, position) = parse_position_as(dimensions, &text, PhaseChoice::Jump)
                .unwrap_or_else(|error| panic!("{size} {text}: {error}"));
            assert_eq!(position.to_string(), text.clone() + " jump");
            let again = parse_position_as(dimensions, &position.to_string(), PhaseChoice::Auto);
            assert_eq!(again.map(|(_, again)| again), Ok(position));
            let code = position.code(&board);
            let back = Position::from_code(&board, code);
            assert_eq!(back.code(&board), code, "{size} {text}");
            let moves = oracle.moves(&cells, mover);
            let names: Vec<_> = position.moves(&board).into_iter().collect();
            let mut found: Vec<_> = names.iter().map(|mv| mv.to_string()).collect();
            let mut expected: Vec<_> = moves.iter().map(|(name, _)| name.clone()).collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{size} {text}");

            let wins = oracle.wins(&cells, mover);
            let side = if mover == 'x' { Colour::Black } else { Colour::White };
            let winner = if wins { side } else { !side };
            winners[usize::from(winner == Colour::White)] += 1;
            for algorithm in Algorithm::ALL {
                let memory_bytes = 2 << 20;
                let options = SolveOptions { algorithm, memory_bytes, ..SolveOptions::default() };
                let values = NoEarlyPositions(&board);
                let solver = Solver::new(&board, &position).options(options).oracle(&values);
                let solution = solver.run().expect("memory");
                assert_eq!(solution.winner, Some(winner), "{algorithm} {size} {text}");
                let best = solution.best_move.map(|mv| mv.to_string());
                assert_eq!(best.is_some(), wins, "{algorithm} {size} {text}");
                if let Some(best) = best {
                    let after = moves.iter().find(|(name, _)| *name == best).expect("a legal move");
                    assert!(!oracle.wins(&after.1, other(mover)), "{algorithm} {size} {text}");
                }
            }
        }
    }
    assert!(winners.iter().all(|&count| count > 20), "{winners:?}");
}

#[test]
fn values_of_all_moves_agree_with_negamax() {
    for size in ["1x5", "1x8", "1x9", "3x3", "2x4"] {
        let dimensions: Dimensions = size.parse().expect("a board");
        let mut oracle = ReferenceJumps::new(dimensions);
        let mut analyst = Analyst::on_board(Board::with_rules(dimensions, Rules::Jumping), 2 << 20)
            .expect("memory");
        for (cells, mover) in early(dimensions) {
            let text = oracle.text(&cells, mover);
            let read = parse_position_as(dimensions, &text, PhaseChoice::Jump);
            let (board, position) = read.expect("a position");
            let limits = konane::Limits::default();
            let analysis = analyst.analyse(&position, limits, &mut |_| {}).expect("no files");
            for judged in &analysis.moves {
                let name = judged.mv.to_string();
                let moves = oracle.moves(&cells, mover);
                let after = moves.into_iter().find(|(found, _)| *found == name).expect("legal").1;
                let wins = !oracle.wins(&after, other(mover));
                let expected = if wins { Value::Win } else { Value::Loss };
                assert_eq!(judged.outcome(), Some(expected), "{size} {text} {name}");
            }
            let perft = Perft::new(&board);
            for depth in 1..=5 {
                let expected = oracle.perft(&cells, mover, depth);
                assert_eq!(perft.count(&position, depth), expected, "{size} {text} {depth}");
            }
        }
    }
}

/// Positions have the same code exactly if a symmetry maps one to the other. The test checks that positions
/// with the same code have the same value and the same number of moves.
#[test]
fn codes_of_early_positions_identify_them() {
    for size in BOARDS {
        let dimensions: Dimensions = size.parse().expect("a board");
        let mut oracle = ReferenceJumps::new(dimensions);
        let mut by_code: HashMap<u64, (bool, usize, u64)> = HashMap::new();
        for (cells, mover) in early(dimensions) {
            let text = oracle.text(&cells, mover);
            let read = parse_position_as(dimensions, &text, PhaseChoice::Jump);
            let (board, position) = read.expect("a position");
            let moves = oracle.moves(&cells, mover).len();
            let facts = (oracle.wins(&cells, mover), moves, oracle.perft(&cells, mover, 3));
            let code = position.code(&board);
            let same = *by_code.entry(code).or_insert(facts);
            assert_eq!(same, facts, "{size} {text}");
        }
        // At least three codes: the full board, an empty square of the mover's colour, and an empty square of
        // the other colour. Positions may be the same up to an exchange of the colours.
        assert!(by_code.len() >= 3, "{size}: {by_code:?}");
    }
}

/// Positions with two empty squares are the same on both kinds of boards.
#[test]
fn all_other_positions_are_those_of_the_standard_board() {
    for (size, text) in
        [("1x6", "1oxo1o b"), ("3x3", "xox/o1o/x1x w"), ("4x4", "xoxo/1xox/x1xo/oxox b")]
    {
        let dimensions: Dimensions = size.parse().expect("a board");
        let read = |phase| parse_position_as(dimensions, text, phase).expect("a position");
        let (standard, position) = read(PhaseChoice::Auto);
        let (jumping, same) = read(PhaseChoice::Jump);
        assert_eq!(position, same);
        assert!(same.is_standard());
        assert_eq!(position.code(&standard), same.code(&jumping));
        assert_eq!(position.moves(&standard), same.moves(&jumping));
    }
}

/// A set of squares that looks random, the same in every run.
fn random_set(seed: u64) -> u64 {
    let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ mixed >> 32
}

/// The mirrored position, which has the standard colouring if one side is even.
fn mirrored(dimensions: Dimensions, cells: &Cells) -> Option<Cells> {
    let rows = cells.chunks(dimensions.files() as usize);
    match (dimensions.ranks() % 2, dimensions.files() % 2) {
        (_, 0) => Some(rows.flat_map(|row| row.iter().rev().copied()).collect()),
        (0, _) => Some(rows.rev().flatten().copied().collect()),
        _ => None,
    }
}

#[test]
fn positions_of_the_other_colouring_agree_with_negamax_and_with_the_mirrored_position() {
    let mut winners = [0, 0];
    for size in BOARDS {
        let dimensions: Dimensions = size.parse().expect("a board");
        let mut oracle = ReferenceJumps::new(dimensions);
        let full = full(dimensions, true);
        for seed in 0..40 {
            let set = if seed == 0 { 0 } else { random_set(seed) & random_set(seed + 100) };
            let cells: Cells = full
                .iter()
                .enumerate()
                .map(|(square, &stone)| if set >> square & 1 == 1 { '.' } else { stone })
                .collect();
            if cells.iter().all(|&cell| cell == '.') {
                continue;
            }
            let mover = if seed % 2 == 0 { 'x' } else { 'o' };
            let text = oracle.text(&cells, mover).replace('1', ".");
            let read = parse_position_as(dimensions, &text, PhaseChoice::Jump);
            let (board, position) = read.unwrap_or_else(|error| panic!("{size} {text}: {error}"));
            assert_eq!(position.rules(), Rules::OtherColouring, "{size} {text}");
            let again = parse_position_as(dimensions, &position.to_string(), PhaseChoice::Auto);
            assert_eq!(again.map(|(_, again)| again), Ok(position), "{size} {text}");
            let code = position.code(&board);
            assert_eq!(Position::from_code(&board, code).code(&board), code, "{size} {text}");
            let mut found: Vec<_> =
                position.moves(&board).iter().map(ToString::to_string).collect();
            let mut expected: Vec<_> =
                oracle.moves(&cells, mover).into_iter().map(|(name, _)| name).collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{size} {text}");

            let wins = oracle.wins(&cells, mover);
            let side = if mover == 'x' { Colour::Black } else { Colour::White };
            let winner = if wins { side } else { !side };
            winners[usize::from(winner == Colour::White)] += 1;
            let perft = Perft::new(&board).count(&position, 4);
            assert_eq!(perft, oracle.perft(&cells, mover, 4), "{size} {text}");
            let mirrored = mirrored(dimensions, &cells).map(|cells| oracle.text(&cells, mover));
            let mirrored = mirrored.map(|text| {
                let text = text.replace('1', ".");
                parse_position_as(dimensions, &text, PhaseChoice::Jump).expect("a position")
            });
            for algorithm in Algorithm::ALL {
                let memory_bytes = 2 << 20;
                let options = SolveOptions { algorithm, memory_bytes, ..SolveOptions::default() };
                let values = NoStones;
                let solver = Solver::new(&board, &position).options(options).oracle(&values);
                let solution = solver.run().expect("memory");
                assert_eq!(solution.winner, Some(winner), "{algorithm} {size} {text}");
                if let Some((board, mirrored)) = &mirrored {
                    assert_ne!(mirrored.rules(), Rules::OtherColouring, "{size} {text}");
                    let solution = Solver::new(board, mirrored).options(options).run();
                    let found = solution.expect("memory").winner;
                    assert_eq!(found, Some(winner), "{algorithm} {size} {mirrored}");
                }
            }
        }
    }
    assert!(winners.iter().all(|&count| count > 20), "{winners:?}");
}

/// An oracle without values that panics for every position with stones.
struct NoStones;

impl Oracle for NoStones {
    fn value(&self, code: u64) -> OracleAnswer {
        assert_eq!(code << 1, 0, "a value of the standard board");
        OracleAnswer::Unknown
    }
}

#[test]
fn stones_on_squares_of_both_colours_are_refused() {
    for (size, text) in [("1x6", "1x1o2 b"), ("3x3", "xox/xox/3 w"), ("4x4", "x3/x3/4/4 b")] {
        let dimensions: Dimensions = size.parse().expect("a board");
        let read = parse_position_as(dimensions, text, PhaseChoice::Jump);
        let error = read.expect_err("stones on squares of both colours").to_string();
        assert!(error.contains("a square of the other colour, and other stones do not"), "{error}");
    }
    let read =
        parse_position_as("3x3".parse().expect("a board"), "oxo/x1x/oxo w", PhaseChoice::Auto);
    let error = read.expect_err("a removal").to_string();
    assert!(error.contains("possible in the jumping phase only"), "{error}");
}
