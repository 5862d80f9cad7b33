//! The rules of the checker, compared with those of the library.

use std::collections::BTreeSet;

use konane::proof::Side;
use konane::{Board, Colour, Position};
use proof_check::rules::{Rules, Stones};
use proptest::prelude::*;

use crate::samples::{board, random_position};

const SIZES: [&str; 18] = [
    "1x1", "1x2", "2x1", "2x2", "3x3", "3x4", "4x3", "4x4", "5x5", "6x5", "6x6", "7x7", "8x7",
    "8x8", "1x64", "64x1", "2x32", "3x21",
];

fn rules(board: &Board) -> Rules {
    Rules::new(board.dimensions().ranks() as u8, board.dimensions().files() as u8)
}

fn stones(position: &Position) -> Stones {
    let to_move = if position.to_move() == Colour::Black { Side::Black } else { Side::White };
    Stones { occupied: position.occupied(), to_move }
}

/// Compares everything about a position and the positions after its moves.
fn compare(board: &Board, rules: &Rules, position: &Position) {
    let plain = stones(position);
    assert!(rules.is_position(&plain));
    assert_eq!(rules.position_text(&plain), position.to_string());
    let code = position.code(board);
    assert_eq!(rules.code(&plain), code);
    let decoded = rules.decode(code).expect("a code");
    assert_eq!(decoded, stones(&Position::from_code(board, code)));
    let mut steps = Vec::new();
    rules.list_moves(&plain, &mut steps);
    assert_eq!(rules.can_move(&plain), !steps.is_empty());
    let plain: BTreeSet<(String, u64, bool)> = steps
        .iter()
        .map(|&step| {
            let after = rules.play(&plain, step);
            (rules.move_text(step), after.occupied, after.to_move == Side::White)
        })
        .collect();
    assert_eq!(plain.len(), steps.len(), "every move once");
    let fast: BTreeSet<(String, u64, bool)> = position
        .moves(board)
        .into_iter()
        .map(|mv| {
            let after = position.play(board, mv);
            let text = mv.to_string();
            (text, after.occupied(), after.to_move() == Colour::White)
        })
        .collect();
    assert_eq!(plain, fast);
}

#[test]
fn the_removals_agree() {
    for size in SIZES {
        let board = board(size);
        let rules = rules(&board);
        let start = Position::start(&board);
        compare(&board, &rules, &start);
        for mv in start.moves(&board) {
            let second = start.play(&board, mv);
            compare(&board, &rules, &second);
            for mv in second.moves(&board) {
                compare(&board, &rules, &second.play(&board, mv));
            }
        }
    }
}

#[test]
fn positions_before_the_jumping_phase_are_identified() {
    for size in SIZES {
        let board = board(size);
        let rules = rules(&board);
        let white = Stones { occupied: board.all(), to_move: Side::White };
        assert!(!rules.is_position(&white) || board.all() == 0, "{size}");
        for hole in 0..board.dimensions().squares() {
            let occupied = board.all() & !(1 << hole);
            let white = Stones { occupied, to_move: Side::White };
            assert_eq!(rules.is_position(&white), board.openings() >> hole & 1 == 1, "{size}");
            assert!(!rules.is_position(&Stones { to_move: Side::Black, ..white }), "{size}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 100 } else { 2000 }))]

    #[test]
    fn jumps_codes_and_texts_agree(size in prop::sample::select(SIZES.to_vec()), bits: u64, thinning: u64, white: bool) {
        let board = board(size);
        let rules = rules(&board);
        let mut position = random_position(&board, bits, thinning, white);
        prop_assume!(board.dimensions().squares() > 4);
        // A game from there; the bits select its moves.
        for choice in 0.. {
            compare(&board, &rules, &position);
            let moves = position.moves(&board);
            let Some(&mv) = moves.get((bits.rotate_left(choice) % moves.len().max(1) as u64) as usize)
            else {
                break;
            };
            position = position.play(&board, mv);
        }
    }

    /// A number is a code exactly if it is the code of its position.
    #[test]
    fn only_codes_are_decoded(size in prop::sample::select(SIZES.to_vec()), number: u64, mask: u64, marked: bool) {
        let board = board(size);
        let rules = rules(&board);
        let number = number & if mask & 1 == 0 { mask } else { board.all() } | u64::from(marked) << 63;
        if let Some(decoded) = rules.decode(number) {
            prop_assert_eq!(rules.code(&decoded), number);
            let to_move = if decoded.to_move == Side::Black { Colour::Black } else { Colour::White };
            let position = Position::new_unchecked(&board, decoded.occupied, to_move);
            prop_assert_eq!(position.code(&board), number);
            prop_assert_eq!(Position::from_setup(&board, position.to_setup(&board)), Ok(position));
        }
    }
}
