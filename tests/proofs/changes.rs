//! Changed proofs: almost all are invalid, and valid ones are closed and contain lost positions only.

use konane::proof::{Flaw, ProofHeader, Side};
use konane::{Board, Position, notation};
use proptest::prelude::*;

use crate::plain::{RecursiveValues, check, colour, is_proof};
use crate::samples::{board, bytes_of, proof, random_position};

/// Checks a proof, and compares the result with the definition.
fn verdict(board: &Board, header: &ProofHeader, codes: &[u64]) -> Option<Flaw> {
    let header = ProofHeader { positions: codes.len() as u64, chunk_codes: 64, ..*header };
    let report = check(bytes_of(&header, codes)).expect("a sound file");
    assert_eq!(report.flaw.is_none(), is_proof(board, &header, codes), "{:?}", report.flaw);
    report.flaw
}

/// Proofs contain no unnecessary positions: each position is the only answer to some move. Without this position, the
/// proof is invalid, with the right flaw.
#[test]
fn a_proof_without_one_of_its_positions_is_invalid() {
    let mut removed = 0;
    for (size, moves) in
        [("4x5", ""), ("5x5", ""), ("4x6", ""), ("5x5", "c3 c2"), ("4x7", ""), ("5x6", "")]
    {
        let board = board(size);
        let found = proof(&board, &notation::parse_moves(&board, moves).unwrap());
        let codes = &found.certificate.codes;
        assert_eq!(verdict(&board, &found.header, codes), None);
        let step = codes.len().div_ceil(100);
        for at in (0..codes.len()).step_by(step) {
            let mut left = codes.clone();
            let gone = left.remove(at);
            removed += 1;
            // The flaw is a move to which the missing position was the answer.
            match verdict(&board, &found.header, &left).expect("refused") {
                Flaw::NoAnswer { position, mv, .. } => {
                    let position = notation::parse_position(&board, &position).unwrap();
                    let mv = notation::parse_move(&board, &position, &mv).unwrap();
                    let after = position.play(&board, mv);
                    let mut replies = after.moves(&board).into_iter();
                    let code = |mv| after.play(&board, mv).code(&board);
                    assert!(replies.any(|mv| code(mv) == gone), "{size}");
                }
                Flaw::RootMissing { .. } | Flaw::NoFirstMove { .. } => {}
                other => panic!("{other}"),
            }
        }
    }
    assert!(removed > 150, "{removed}");
}

#[test]
fn a_proof_of_the_wrong_winner_is_invalid() {
    for size in ["3x3", "4x5", "5x5", "5x6", "1x7"] {
        let board = board(size);
        let mut found = proof(&board, &Position::start(&board));
        found.header.winner = found.header.winner.other();
        let flaw = verdict(&board, &found.header, &found.certificate.codes).expect("refused");
        assert!(matches!(flaw, Flaw::RootMissing { .. } | Flaw::NoFirstMove { .. }), "{flaw}");
        let text = flaw.to_string();
        assert!(text.contains(&Position::start(&board).to_string()));
    }
}

#[test]
fn a_flaw_has_the_position_and_the_move() {
    // Black to move has a1-c1 only; White has no reply. So Black wins, and the claim is false.
    let board = board("1x5");
    let position = notation::parse_position(&board, "xo3 b").unwrap();
    let header = ProofHeader {
        ranks: 1,
        files: 5,
        root: position.occupied(),
        to_move: Side::Black,
        winner: Side::White,
        positions: 1,
        chunk_codes: 4,
    };
    let code = position.code(&board);
    let flaw = verdict(&board, &header, &[code]).expect("refused");
    let Flaw::NoAnswer { position, mv, replies } = &flaw else { panic!("{flaw}") };
    assert_eq!((mv.as_str(), *replies), ("a1-c1", 0));
    assert!(flaw.to_string().contains(&format!("in {position}, the move a1-c1 has no answer")));
    // A number that is not a code, and a position in another orientation than that of its code.
    for wrong in [1 << 40, 0b11000] {
        let mut codes = vec![code, wrong];
        codes.sort_unstable();
        let flaw = verdict(&board, &header, &codes).expect("refused");
        assert!(matches!(flaw, Flaw::Code { .. } | Flaw::NoAnswer { .. }), "{flaw}");
    }
    // A root that is not a position.
    let header = ProofHeader { root: 0b11111, to_move: Side::White, winner: Side::Black, ..header };
    assert!(matches!(verdict(&board, &header, &[]), Some(Flaw::Root { .. })));
}

#[derive(Clone, Debug)]
enum Edit {
    Remove(prop::sample::Index),
    Replace(prop::sample::Index, u64, u64),
    Add(u64, u64),
    Flip(prop::sample::Index, u8),
    Winner,
    Root(u64, u64),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        4 => any::<prop::sample::Index>().prop_map(Edit::Remove),
        2 => any::<(prop::sample::Index, u64, u64)>().prop_map(|(i, a, b)| Edit::Replace(i, a, b)),
        2 => any::<(u64, u64)>().prop_map(|(a, b)| Edit::Add(a, b)),
        2 => (any::<prop::sample::Index>(), 0u8..64).prop_map(|(i, bit)| Edit::Flip(i, bit)),
        1 => Just(Edit::Winner),
        1 => any::<(u64, u64)>().prop_map(|(a, b)| Edit::Root(a, b)),
    ];
    prop::collection::vec(edit, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 50 } else { 500 }))]

    #[test]
    fn no_position_of_a_proof_can_be_removed(
        size in prop::sample::select(vec!["5x5", "4x6", "5x6", "2x14", "6x6"]),
        bits: u64,
        thinning: u64,
        white: bool,
        at: prop::sample::Index,
        other: (u64, u64),
    ) {
        let board = board(size);
        let found = proof(&board, &random_position(&board, bits, thinning, white));
        let codes = found.certificate.codes;
        prop_assume!(!codes.is_empty());
        let mut left = codes.clone();
        left.remove(at.index(codes.len()));
        prop_assert!(verdict(&board, &found.header, &left).is_some());
        let code = random_position(&board, other.0 & other.1, 0, white).code(&board);
        if !codes.contains(&code) {
            left.push(code);
            left.sort_unstable();
            // The changed proof is probably invalid. It is valid if the new position is an answer, too.
            verdict(&board, &found.header, &left);
        }
    }

    /// A proof with any changes is valid exactly if it is closed, and then its positions are lost and its winner is
    /// right.
    #[test]
    fn valid_proofs_are_true(
        size in prop::sample::select(vec!["4x4", "3x5", "5x4", "5x5", "4x6", "1x12"]),
        bits: u64,
        thinning: u64,
        white: bool,
        edits in edits(),
    ) {
        let board = board(size);
        let root = random_position(&board, bits, thinning, white);
        let found = proof(&board, &root);
        let (mut header, mut codes) = (found.header, found.certificate.codes);
        let original = (header, codes.clone());
        for edit in edits {
            let code = |a: u64, b: u64| {
                random_position(&board, a & b, 0, a > b).code(&board)
            };
            let len = codes.len();
            match edit {
                Edit::Remove(at) if len > 0 => drop(codes.remove(at.index(len))),
                Edit::Replace(at, a, b) if len > 0 => codes[at.index(len)] = code(a, b),
                Edit::Flip(at, bit) if len > 0 => codes[at.index(len)] ^= 1 << bit,
                Edit::Add(a, b) => codes.push(code(a, b)),
                Edit::Winner => header.winner = header.winner.other(),
                Edit::Root(a, b) => header.root = random_position(&board, a, b, true).occupied(),
                _ => {}
            }
            codes.sort_unstable();
            codes.dedup();
        }
        let flaw = verdict(&board, &header, &codes);
        if (header, &codes) == (original.0, &original.1) {
            prop_assert_eq!(&flaw, &None);
        }
        if flaw.is_none() {
            let mut oracle = RecursiveValues::default();
            let root = Position::new_unchecked(&board, header.root, colour(header.to_move));
            let wins = oracle.wins(&board, &root);
            prop_assert_eq!(wins, header.winner == header.to_move);
            for &code in &codes {
                prop_assert!(!oracle.wins(&board, &Position::from_code(&board, code)));
            }
        }
    }
}
