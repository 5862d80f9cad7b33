//! Repeated searches, and several searches at the same time.

use konane::Position;
use konane::Profile;
use konane::game::Konane;
use konane::search::dfpn::dfpn;
use konane::search::plain::Root;
use konane::search::run::{Limits, Outcome};
use konane::search::table::Table;
use konane::search::testing::negamax::Negamax;

use crate::algorithms::{Random, Setting, algorithms, random_graph};
use crate::plain_konane::{board, random_position};

#[test]
fn a_repeated_search_has_the_same_counts() {
    for number in (0..400).step_by(7) {
        let game = random_graph(number);
        let setting = Setting::random(&mut Random(number), 1 << 12);
        for (name, run) in algorithms() {
            let limits = Limits { nodes: Some(5000), ..Limits::default() };
            let reports = [(); 2].map(|()| run(&game, 0, setting, limits, &mut ()));
            let [a, b] = reports.map(|r| (r.outcome, r.phi, r.delta, r.best, r.counters));
            assert_eq!(a, b, "{name} graph {number} {setting:?}");
        }
    }
    let board = board("5x5");
    let game = Konane::new(&board, Profile::Tuned.estimate());
    let code = Position::start(&board).code(&board);
    for (name, run) in algorithms() {
        let setting = Setting::of(Profile::Tuned, 1 << 20);
        let limits = Limits { nodes: Some(50_000), ..Limits::default() };
        let reports = [(); 2].map(|()| run(&game, code, setting, limits, &mut ()));
        assert_eq!(reports[0].counters, reports[1].counters, "{name}");
    }
}

#[test]
fn searches_may_share_a_table() {
    // Positions of a small board, in a table that has to grow several times: the searches of the threads share
    // entries and replace each other's entries, and each search has the right outcome.
    let board = board("4x5");
    let game = Konane::new(&board, Profile::Thesis.estimate());
    let mut oracle = Negamax::new(&game);
    let mut random = Random(3);
    for _ in 0..3 {
        let table = Table::new(1 << 22).unwrap();
        let positions: Vec<_> = (0..40)
            .filter_map(|_| random_position(&mut random, &board, 18))
            .map(|position| position.code(&board))
            .map(|code| (code, oracle.value(code)))
            .collect();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (game, table, positions) = (&game, &table, &positions);
                scope.spawn(move || {
                    let options = Setting::of(Profile::Thesis, 0).dfpn();
                    for (code, value) in positions.iter().skip(thread).chain(positions) {
                        let root = Root::new(game, *code, table);
                        let report = dfpn(root, options, Limits::default(), &mut ());
                        assert_eq!(report.outcome, Outcome::Known(*value), "{code:x}");
                    }
                });
            }
        });
    }
}

/// The entries of consecutive searches add up: the table grows as it would during one long search.
#[test]
fn a_table_grows_over_several_searches_as_over_one() {
    let board = board("5x6");
    let game = Konane::new(&board, Profile::Thesis.estimate());
    let code = Position::start(&board).code(&board);
    let options = Profile::Thesis.dfpn();
    let table = Table::new(1 << 22).unwrap();
    let mut searches = 0;
    loop {
        let limits = Limits { nodes: Some(2000), ..Limits::default() };
        let report = dfpn(Root::new(&game, code, &table), options, limits, &mut ());
        searches += 1;
        let (count, _) = table.count();
        // The estimate of the number of earlier entries may be too low by some per cent.
        assert!(!table.wants_growth(count * 7 / 8), "{count} entries after {searches} searches");
        assert!(report.counters.table_used.abs_diff(count) <= count / 8);
        if count > 20_000 || report.outcome.value().is_some() {
            break;
        }
    }
    assert!(searches > 10, "{searches}");
}
