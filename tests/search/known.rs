//! Oracle values in every algorithm: right outcomes, no search if everything is known, and no
//! outcome if a value cannot be read.

use std::sync::atomic::{AtomicU64, Ordering};

use konane::Value;
use konane::notation::parse_moves;
use konane::search::plain::Root;
use konane::search::plain::game::Game;
use konane::search::plain::oracle::{Oracle, OracleAnswer, WithOracle};
use konane::search::run::{Limits, Outcome, Reason};
use konane::search::testing::graph::GraphGame;
use konane::search::testing::negamax::Negamax;
use konane::{Algorithm, Board, Position, Profile, SolveOptions, Solver};

use crate::algorithms::{
    ENOUGH_NODES, LARGE_TABLE, Random, Setting, algorithms, check, random_graph, thousands,
};

/// Values of nodes, with counters of look-ups and of known answers.
struct Values {
    values: Vec<OracleAnswer>,
    hits: AtomicU64,
    /// Number of the look-up that fails, from 0; larger than the number of look-ups if none fails.
    failing: AtomicU64,
    lookups: AtomicU64,
}

impl Values {
    /// True values of a random subset of about `share` of 8 nodes.
    fn of(game: &GraphGame, oracle: &mut Negamax<'_, GraphGame>, share: u64, seed: u64) -> Self {
        let mut random = Random(seed);
        let values = (0..game.nodes()).map(|node| {
            if random.below(8) < share {
                OracleAnswer::Known(oracle.value(node))
            } else {
                OracleAnswer::Unknown
            }
        });
        let values = values.collect();
        Values { values, hits: 0.into(), failing: u64::MAX.into(), lookups: 0.into() }
    }

    fn reset(&self, failing: u64) {
        self.failing.store(failing, Ordering::Relaxed);
        self.hits.store(0, Ordering::Relaxed);
        self.lookups.store(0, Ordering::Relaxed);
    }
}

impl Oracle for Values {
    fn value(&self, code: u64) -> OracleAnswer {
        if self.lookups.fetch_add(1, Ordering::Relaxed) == self.failing.load(Ordering::Relaxed) {
            return OracleAnswer::Failed;
        }
        let answer = self.values[code as usize];
        self.hits.fetch_add(u64::from(answer != OracleAnswer::Unknown), Ordering::Relaxed);
        answer
    }
}

/// Known values do not change outcomes, and the best child of a won root is lost.
#[test]
fn random_subsets_of_the_values_change_no_outcome() {
    let limits = Limits { nodes: Some(ENOUGH_NODES), ..Limits::default() };
    for number in 0..thousands(1) {
        let game = random_graph(number);
        let mut oracle = Negamax::new(&game);
        let mut random = Random(number ^ 0x1111);
        let share = random.below(9);
        let values = Values::of(&game, &mut oracle, share, number);
        let game_with_oracle = WithOracle::new(&game, Some(&values));
        let root = random.below(game.nodes().min(8));
        let setting = Setting::random(&mut random, LARGE_TABLE);
        let context = || format!("graph {number} from {root}, {share}/8 known");
        check(
            &game_with_oracle,
            root,
            &mut Negamax::new(&game_with_oracle),
            setting,
            limits,
            &context,
        );
    }
}

#[test]
fn hits_are_counted_and_save_nodes() {
    let (mut saved, mut hits) = (0, 0);
    let limits = Limits { nodes: Some(5000), ..Limits::default() };
    for number in 0..thousands(1) / 10 {
        let game = random_graph(number);
        let mut oracle = Negamax::new(&game);
        let values = Values::of(&game, &mut oracle, 4, number);
        for (name, run) in algorithms::<WithOracle<GraphGame>>() {
            values.reset(u64::MAX);
            let setting = Setting::of(Profile::Thesis, 1 << 20);
            let game_with_oracle = WithOracle::new(&game, Some(&values));
            let counters = run(&game_with_oracle, 0, setting, limits, &mut ()).counters;
            let found = values.hits.load(Ordering::Relaxed);
            // The known value of a won root is counted, but not used.
            let root = u64::from(values.values[0] == OracleAnswer::Known(Value::Win));
            assert_eq!(counters.known_hits + root, found, "{name} {number}");
            hits += found;
            let nothing = WithOracle::new(&game, None);
            let (_, plain) = algorithms().into_iter().find(|(other, _)| *other == name).unwrap();
            let without = plain(&nothing, 0, setting, limits, &mut ()).counters;
            assert_eq!(without.known_hits, 0);
            saved += without.nodes.saturating_sub(counters.nodes);
        }
    }
    assert!(hits > thousands(1) / 10 && saved > thousands(1), "{hits} {saved}");
}

#[test]
fn with_all_values_one_expansion_suffices() {
    for number in 0..thousands(1) / 5 {
        let game = random_graph(number);
        let mut oracle = Negamax::new(&game);
        let values = Values::of(&game, &mut oracle, 8, 0);
        let game_with_oracle = WithOracle::new(&game, Some(&values));
        for root in 0..game.nodes().min(8) {
            for (name, run) in algorithms() {
                let setting = Setting::of(Profile::Thesis, LARGE_TABLE);
                let report = run(&game_with_oracle, root, setting, Limits::default(), &mut ());
                let expected = oracle.value(root);
                assert_eq!(report.outcome, Outcome::Known(expected), "{name} {number} {root}");
                let most = u64::from(expected == Value::Win);
                assert_eq!(report.counters.expansions, most, "{name} {number} {root}");
                if expected == Value::Win {
                    assert_eq!(oracle.value(report.best.unwrap()), Value::Loss);
                }
            }
        }
    }
}

/// In each search, a later look-up fails than in the search before, until a search ends before that look-up. No
/// search with a failed look-up has an outcome, and all have the right reason.
#[test]
fn a_failed_look_up_is_never_an_outcome() {
    let mut failed = 0;
    for number in 0..thousands(1) / 10 {
        let game = random_graph(number);
        let mut oracle = Negamax::new(&game);
        let share = number % 5;
        let values = Values::of(&game, &mut oracle, share, number);
        let mut random = Random(number);
        let setting = Setting::random(&mut random, LARGE_TABLE);
        for (name, run) in algorithms::<WithOracle<GraphGame>>() {
            let mut failing = 0;
            loop {
                values.reset(failing);
                let game_with_oracle = WithOracle::new(&game, Some(&values));
                let limits = Limits { nodes: Some(ENOUGH_NODES / 10), ..Limits::default() };
                let report = run(&game_with_oracle, 0, setting, limits, &mut ());
                let context = format!("{name} {number}, look-up {failing}: {report:?}");
                if values.lookups.load(Ordering::Relaxed) <= failing {
                    if let Outcome::Known(value) = report.outcome {
                        assert_eq!(value, oracle.value(0), "{context}");
                    }
                    break;
                }
                assert_eq!(report.outcome, Outcome::Unknown(Reason::FileError), "{context}");
                assert!(report.phi != 0 && report.delta != 0, "{context}");
                // There is no look-up after the failed one.
                assert_eq!(values.lookups.load(Ordering::Relaxed), failing + 1, "{context}");
                failed += 1;
                failing += 1 + failing / 3 + random.below(3);
            }
        }
    }
    assert!(failed > thousands(1) / 2, "{failed}");
}

/// The table of a search that was stopped by a failed look-up has no wrong entries: the same search continues with it
/// and finds the value.
#[test]
fn the_table_of_a_failed_search_is_valid() {
    use konane::search::dfpn::dfpn;
    use konane::search::table::Table;
    let mut failed = 0;
    for number in 0..thousands(1) / 5 {
        let game = random_graph(number);
        let mut oracle = Negamax::new(&game);
        let values = Values::of(&game, &mut oracle, 2, number);
        let table = Table::new(LARGE_TABLE).unwrap();
        let mut random = Random(number);
        let options = Setting::random(&mut random, LARGE_TABLE).dfpn();
        for failing in [random.below(4), random.below(40), random.below(400), u64::MAX] {
            values.reset(failing);
            let game_with_oracle = WithOracle::new(&game, Some(&values));
            let report =
                dfpn(Root::new(&game_with_oracle, 0, &table), options, Limits::default(), &mut ());
            failed += u32::from(report.outcome == Outcome::Unknown(Reason::FileError));
            for node in 0..game.nodes() {
                let entry = table.lookup(game.key(node), node);
                if let Some(value) = entry.and_then(|entry| entry.value()) {
                    assert_eq!(value, oracle.value(node), "graph {number}, node {node}");
                }
            }
            if failing == u64::MAX {
                assert_eq!(report.outcome, Outcome::Known(oracle.value(0)), "graph {number}");
            }
        }
    }
    assert!(failed > 10, "{failed}");
}

/// Values of the positions with few stones, by solving each of them.
struct FewStones<'a> {
    board: &'a Board,
    most: u32,
}

impl Oracle for FewStones<'_> {
    fn value(&self, code: u64) -> OracleAnswer {
        let position = Position::from_code(self.board, code);
        if position.occupied().count_ones() > self.most {
            return OracleAnswer::Unknown;
        }
        let options = SolveOptions { memory_bytes: 1 << 20, ..SolveOptions::default() };
        let solution = Solver::new(self.board, &position).options(options).run();
        match solution.expect("memory").report.outcome {
            Outcome::Known(value) => OracleAnswer::Known(value),
            Outcome::Unknown(_) => OracleAnswer::Failed,
        }
    }
}

#[test]
fn konane_searches_use_values_of_positions_with_few_stones() {
    for (size, lines) in [("4x4", &["", "b3 b4", "b3 b4 b1-b3"][..]), ("3x5", &["", "a3 b3"])] {
        let board = Board::new(size.parse().unwrap());
        for line in lines {
            let position = parse_moves(&board, line).unwrap();
            for algorithm in Algorithm::ALL {
                let options =
                    SolveOptions { algorithm, memory_bytes: 4 << 20, ..SolveOptions::default() };
                let plain = Solver::new(&board, &position).options(options).run().unwrap();
                for most in [4, 8, 12, 16] {
                    let known = FewStones { board: &board, most };
                    let solver = Solver::new(&board, &position).options(options);
                    let solution = solver.oracle(&known).run().unwrap();
                    assert_eq!(solution.winner, plain.winner, "{size} {line} {algorithm}");
                    if let Some(best) = solution.best_move {
                        let after = position.play(&board, best);
                        let reply = Solver::new(&board, &after).options(options).run().unwrap();
                        assert_eq!(reply.winner, plain.winner, "{size} {line} {algorithm}");
                    }
                }
            }
        }
    }
}
