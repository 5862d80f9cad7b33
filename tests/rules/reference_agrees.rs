//! The bit-parallel rules and the kernels, compared with the reference implementation.

use konane::internals::code::WHITE_TO_MOVE;
use konane::internals::kernels::{Features, Isa, Jumps, Successors};
use konane::{Board, Colour, Move, Phase, Position, Symmetry};
use proptest::prelude::*;

use crate::positions::{all_dimensions, board, cases, dimensions, recipe};
use crate::reference::ReferencePosition;

fn instruction_sets() -> impl Iterator<Item = Isa> {
    let all = [Isa::Baseline, Isa::Avx2, Isa::Avx512];
    all.into_iter().filter(|&isa| isa as usize <= Isa::detect() as usize)
}

fn compare_rules(board: &Board, position: &Position) {
    let reference = ReferencePosition::of(board, position);
    assert_eq!(reference.position(), *position);
    let phase = position.phase(board);
    assert_eq!(phase == Phase::Jumping, reference.is_jumping());
    let moves = position.moves(board);
    let expected = reference.moves();
    assert_eq!(position.count_moves(board) as usize, expected.len());
    let mut sorted = moves.clone();
    sorted.sort();
    let mut translated: Vec<Move> = expected.iter().map(|&mv| reference.translate(mv)).collect();
    translated.sort();
    assert_eq!(sorted, translated, "{position:?}");
    for mv in expected {
        let child = position.play(board, reference.translate(mv));
        assert_eq!(child, reference.play(mv).position(), "{position:?} {mv:?}");
    }
    for side in [Colour::Black, Colour::White] {
        let jumps = reference.jumps(side).len();
        assert_eq!(position.count_jumps(board, side) as usize, jumps);
        let movable = reference.movable(side);
        assert_eq!(position.count_movable(board, side) as usize, movable);
    }
}

/// A successor with its features. Successors are sorted before they are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Successor {
    occupied: u64,
    least: u64,
    own: [usize; 4],
    other: [usize; 4],
}

fn features(reference: &ReferencePosition, side: Colour) -> [usize; 4] {
    [
        reference.jumps(side).len(),
        reference.landings(side),
        reference.movable(side),
        reference.contacts(side),
    ]
}

fn compare_kernels(board: &Board, position: &Position) {
    if position.phase(board) != Phase::Jumping {
        return;
    }
    let (occupied, mover) = (position.occupied(), position.to_move());
    let exchanges = board.dimensions().has_even_side() && board.symmetry() == Symmetry::All;
    let reference = ReferencePosition::of(board, position);
    let mut expected: Vec<Successor> = reference
        .moves()
        .into_iter()
        .map(|mv| {
            let next = reference.play(mv);
            let child = next.position();
            // On boards with exchange of colours the kernels assume that Black has moved, because
            // codes always stand for Black to move. So for either mover the image is the code of the stones with
            // White to move.
            let least = if exchanges {
                let white_next = Position::new_unchecked(board, child.occupied(), Colour::White);
                white_next.code(board)
            } else {
                let code = child.code(board);
                let white_next = child.to_move() == Colour::White;
                assert_eq!(code & WHITE_TO_MOVE != 0, white_next);
                code & !WHITE_TO_MOVE
            };
            if mover == Colour::Black && exchanges {
                assert_eq!(least, child.code(board));
            }
            Successor {
                occupied: child.occupied(),
                least,
                own: features(&next, !mover),
                other: features(&next, mover),
            }
        })
        .collect();
    expected.sort();
    for isa in instruction_sets() {
        let jumps = Jumps::with_isa(board, isa);
        assert_eq!(jumps.isa(), isa);
        let mut out = Successors::default();
        jumps.generate(occupied, mover, &mut out);
        jumps.describe(mover, &mut out);
        let features = |f: &Features, i: usize| {
            [f.moves[i], f.landings[i], f.movable[i], f.contacts[i]].map(usize::from)
        };
        let mut found: Vec<Successor> = (0..out.len)
            .map(|i| Successor {
                occupied: out.occupied[i],
                least: out.least[i],
                own: features(&out.own, i),
                other: features(&out.other, i),
            })
            .collect();
        found.sort();
        assert_eq!(found, expected, "{isa:?} {position:?}");
        for depth in 1..=3 {
            // The reference implementation would take too long for three plies of positions with many moves.
            if depth < 3 || expected.len() < 8 {
                let nodes = jumps.perft(&mut Vec::new(), occupied, mover, depth);
                assert_eq!(nodes, reference.perft(depth), "{isa:?} {position:?} {depth}");
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn moves_counts_and_play(dimensions in dimensions(), recipe in recipe()) {
        let board = Board::new(dimensions);
        compare_rules(&board, &recipe.position(&board));
    }

    #[test]
    fn a_whole_game(dimensions in dimensions(), choices in prop::collection::vec(any::<u8>(), 64)) {
        let board = Board::new(dimensions);
        let mut position = Position::start(&board);
        for choice in choices {
            compare_rules(&board, &position);
            let moves = position.moves(&board);
            if moves.is_empty() {
                return Ok(());
            }
            position = position.play(&board, moves[choice as usize % moves.len()]);
        }
        prop_assert!(false, "a game on 64 squares has fewer than 64 plies");
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn kernels(dimensions in dimensions(), recipe in recipe()) {
        for symmetry in Symmetry::ALL {
            if let Ok(board) = Board::new(dimensions).with_symmetry(symmetry) {
                compare_kernels(&board, &recipe.position(&board));
            }
        }
    }
}

#[test]
fn the_first_three_plies_of_every_board() {
    for dimensions in all_dimensions() {
        let board = Board::new(dimensions);
        let start = Position::start(&board);
        compare_rules(&board, &start);
        for mv in start.moves(&board) {
            let second = start.play(&board, mv);
            compare_rules(&board, &second);
            for mv in second.moves(&board) {
                let third = second.play(&board, mv);
                compare_rules(&board, &third);
                compare_kernels(&board, &third);
            }
        }
    }
}

#[test]
fn every_position_of_small_boards() {
    for text in ["1x9", "9x1", "2x4", "3x3", "2x5", "5x2", "3x4", "4x3"] {
        let board = board(text);
        for occupied in 0..=board.all() {
            for side in [Colour::Black, Colour::White] {
                let position = Position::new_unchecked(&board, occupied, side);
                if position.phase(&board) == Phase::Jumping {
                    compare_rules(&board, &position);
                    compare_kernels(&board, &position);
                }
            }
        }
    }
}

#[test]
fn the_longest_jumps() {
    // One stone of Black at the left end and a white stone on every second square.
    for (text, lengths) in [("1x64", 31), ("1x63", 31), ("64x1", 31), ("3x21", 10), ("21x3", 10)] {
        let board = board(text);
        let files = board.dimensions().files();
        let line = if files >= 3 { 1 } else { files };
        let length = files.max(board.dimensions().ranks());
        let (step, length) = if text == "21x3" { (3, 21) } else { (line, length) };
        let white: u64 = (1..length).step_by(2).map(|i| 1u64 << (i * step)).sum();
        let position = Position::new_unchecked(&board, white | 1, Colour::Black);
        assert_eq!(position.count_moves(&board), lengths, "{text}");
        compare_rules(&board, &position);
        compare_kernels(&board, &position);
    }
}
