//! Konane: random positions and starts of small boards.

use konane::Position;
use konane::Profile;
use konane::Symmetry;
use konane::Value;
use konane::game::{Estimate, FeatureWeights, Konane};
use konane::search::run::Limits;
use konane::search::testing::negamax::Negamax;

use crate::algorithms::{LARGE_TABLE, Random, Setting, check, small_table_limits, thousands};
use crate::plain_konane::{BOARDS, PlainKonane, board, random_position};

#[test]
fn random_konane_positions_agree_with_negamax_over_move_lists() {
    let mut random = Random(1);
    let mut wins = [0u64; 2];
    for &(text, most) in BOARDS {
        let board = board(text);
        let plain = PlainKonane(&board);
        let games = [Profile::Tuned, Profile::Thesis].map(|p| Konane::new(&board, p.estimate()));
        let mut plain_oracle = Negamax::new(&plain);
        let mut oracles = [Negamax::new(&games[0]), Negamax::new(&games[1])];
        for number in 0..thousands(3) / 20 {
            let Some(position) = random_position(&mut random, &board, most) else {
                continue;
            };
            let code = position.code(&board);
            let expected = plain_oracle.value(PlainKonane::code(&position));
            wins[usize::from(expected == Value::Win)] += 1;
            let context = || format!("{text} {number}: {position:?}");
            for (game, oracle) in games.iter().zip(&mut oracles) {
                assert_eq!(oracle.value(code), expected, "{}", context());
                let setting = Setting::random(&mut random, LARGE_TABLE);
                let limits = Limits::default();
                check(game, code, oracle, setting, limits, &context);
            }
            for (at, profile) in [Profile::Tuned, Profile::Thesis].into_iter().enumerate() {
                let setting = Setting::of(profile, LARGE_TABLE);
                let limits = Limits::default();
                check(&games[at], code, &mut oracles[at], setting, limits, &context);
            }
        }
    }
    let many = thousands(3) / 10;
    assert!(wins[0] > many && wins[1] > many, "{wins:?} lost and won");
}

#[test]
fn random_konane_positions_with_small_tables() {
    let mut random = Random(2);
    for &(text, most) in BOARDS {
        let board = board(text);
        let game = Konane::new(&board, Profile::Tuned.estimate());
        let mut oracle = Negamax::new(&game);
        for number in 0..thousands(3) / 75 {
            let Some(position) = random_position(&mut random, &board, most) else {
                continue;
            };
            let code = position.code(&board);
            let bytes = random.pick(&[64, 128, 192, 1 << 10]);
            let setting = Setting::random(&mut random, bytes);
            let context = || format!("{text} {number}: {position:?}");
            check(&game, code, &mut oracle, setting, small_table_limits(), &context);
        }
    }
}

#[test]
fn starts_of_boards_agree_with_negamax() {
    for text in [
        "1x1", "1x2", "2x1", "1x3", "1x5", "1x8", "1x12", "2x2", "2x3", "2x5", "2x8", "3x3", "3x4",
        "3x5", "5x3", "4x4", "3x6",
    ] {
        let board = board(text);
        let plain = PlainKonane(&board);
        let start = Position::start(&board);
        let expected = Negamax::new(&plain).value(PlainKonane::code(&start));
        for symmetry in Symmetry::ALL {
            let board = board.clone().with_symmetry(symmetry).expect("fewer than 64 squares");
            let code = start.code(&board);
            for profile in [Profile::Tuned, Profile::Thesis] {
                let game = Konane::new(&board, profile.estimate());
                let mut oracle = Negamax::new(&game);
                assert_eq!(oracle.value(code), expected, "{text}");
                let setting = Setting::of(profile, 1 << 20);
                let context = || format!("{text}, {symmetry}");
                check(&game, code, &mut oracle, setting, Limits::default(), &context);
            }
        }
    }
}

#[test]
fn outcomes_do_not_depend_on_the_estimate() {
    let board = board("4x4");
    let code = Position::start(&board).code(&board);
    let Estimate::Features(weights) = Profile::Tuned.estimate() else {
        panic!("the tuned estimate has no weights to vary");
    };
    for scale in [0.0, 1.0, 1e3, 1e6] {
        let estimate = Estimate::Features(FeatureWeights { scale, ..weights });
        let game = Konane::new(&board, estimate);
        let mut oracle = Negamax::new(&game);
        let mut random = Random(scale as u64);
        for _ in 0..6 {
            let setting = Setting::random(&mut random, 1 << 20);
            let context = || format!("4x4, scale {scale}");
            check(&game, code, &mut oracle, setting, Limits::default(), &context);
        }
    }
}
