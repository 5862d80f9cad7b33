//! Proof-number search (Allis 1994; thesis, 2.2 and 3.5).
//!
//! The tree is in memory. The most-proving leaf is expanded, its children are evaluated at once
//! (table, end of the game, leaf solver, leaf estimate), and the numbers are backed up along the
//! path. A solved subtree is removed from the tree and becomes one table entry. So a position that
//! several paths lead to is solved only once, as long as the table keeps its entry.
//!
//! * [`pns`] searches a position with [`PnsOptions`].
//! * `ProofTree` (in `tree`): the tree, with selection and back-up; also used by PN².

#![forbid(unsafe_code)]

mod options;
pub(super) mod tree;

pub use options::PnsOptions;

use super::arena::{Arena, TreeError};
use super::numbers::Pair;
use super::plain::Root;
use super::plain::evaluate::Evaluator;
use super::plain::game::Game;
use super::run::{Limits, Observer, Outcome, Reason, Report, RootNumbers};
use super::search_tree::Expanded;
use crate::Value;
use tree::{ArenaFull, ProofTree};

/// Searches a position by PNS on one thread.
///
/// The tree has at most `tree_bytes` bytes, some 22 per node. If they do not suffice, the outcome is `Unknown` for
/// [`Reason::Memory`]. However the search ends, the positions that it has solved are in the table, and with
/// [`PnsOptions::store_open`] also the open ones that it has left. [`Report::memory_bytes`] counts the
/// table and the part of the tree's memory that was ever in use.
///
/// The table may contain solved positions of any earlier search of the same game, and open ones of
/// proof-number searches.
///
/// # Errors
/// If the system does not provide the memory of the tree, or `tree_bytes` is less than 64.
///
/// # Panics
/// If the game or the observer does.
pub fn pns<G: Game>(
    root: Root<'_, G>,
    tree_bytes: usize,
    options: PnsOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Result<Report, TreeError> {
    let mut tree = ProofTree::new(Arena::new(tree_bytes)?, options, root.code);
    let mut evaluator = Evaluator::alone(root, limits, observer, options.evaluation());
    start(&mut tree, &mut evaluator);
    let reason = search(&mut tree, &mut evaluator, &options);
    tree.unwind();
    let bytes = tree.arena.used_bytes();
    Ok(report(&tree, reason, evaluator, bytes))
}

/// Expands most-proving nodes until the root is solved, or returns the reason why the search was
/// stopped.
fn search<G: Game>(
    tree: &mut ProofTree,
    evaluator: &mut Evaluator<G>,
    options: &PnsOptions,
) -> Option<Reason> {
    while let Some(code) = tree.select(evaluator) {
        evaluator.grow_if_full();
        evaluator.monitor.root = tree.numbers;
        let looks_up_again = options.refresh_age != u32::MAX;
        if looks_up_again && tree.take_from_table(evaluator, code) {
            continue;
        }
        if evaluator.monitor.tick_at(&|| tree.root_children()) {
            return evaluator.monitor.stopped;
        }
        if expand(tree, evaluator, code).is_err() {
            return Some(Reason::Memory);
        }
    }
    None
}

/// Begins a search: resolves the root if the oracle says that it is lost.
pub(crate) fn start<G: Game>(tree: &mut ProofTree, evaluator: &mut Evaluator<G>) {
    if evaluator.root_is_lost(tree.root) {
        tree.resolve(evaluator, Value::Loss, 0);
    }
}

/// Expands the selected node. If the memory is full ([`ArenaFull`]) or an oracle query fails, the
/// node is unchanged. After a failed query, the next tick stops the search.
pub(crate) fn expand<G: Game>(
    tree: &mut ProofTree,
    evaluator: &mut Evaluator<G>,
    code: u64,
) -> Result<(), ArenaFull> {
    evaluator.children.clear();
    match evaluator.expand(code, true) {
        Expanded::Solved(value) => tree.resolve(evaluator, value, 1),
        Expanded::Won(child) => {
            if tree.is_at_root() {
                tree.numbers.best = Some(child);
            }
            tree.resolve(evaluator, Value::Win, 1);
        }
        Expanded::Open(()) => {
            let expansions = evaluator.monitor.counters.expansions;
            return tree.attach(&evaluator.children, 1, expansions);
        }
        Expanded::Stopped => {}
    }
    Ok(())
}

/// Creates the report. `reason` is the reason why the search was stopped, if the root is not
/// solved.
pub(crate) fn report<G: Game>(
    tree: &ProofTree,
    reason: Option<Reason>,
    evaluator: Evaluator<G>,
    tree_bytes: usize,
) -> Report {
    let RootNumbers { pair: Pair { phi, delta }, best } = tree.numbers;
    Report {
        outcome: Outcome::of(tree.value, reason),
        phi,
        delta,
        best,
        counters: evaluator.monitor.counters,
        memory_bytes: (evaluator.table.bytes() + tree_bytes) as u64,
        threads: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use crate::numbers::Combination;
    use crate::table::Table;
    use crate::testing::negamax::Negamax;
    use crate::testing::{
        RICH,
        graph::{GraphGame, large_game, random_game},
    };
    use std::sync::atomic::AtomicBool;

    /// Options with each feature on its own, and with all together.
    fn variants() -> Vec<PnsOptions> {
        let PnsOptions { combination, leaf_solver, epsilon, store_open, refresh_age, .. } = RICH;
        let plain = PnsOptions::PLAIN;
        vec![
            plain,
            PnsOptions { combination, ..plain },
            PnsOptions { combination: Combination::WEAK, evaluate_all: false, ..plain },
            PnsOptions { leaf_solver, ..plain },
            PnsOptions { epsilon, ..plain },
            PnsOptions { store_open, ..plain },
            PnsOptions { refresh_age, ..plain },
            RICH,
            PnsOptions { refresh_age: 20, ..RICH },
        ]
    }

    fn run(game: &GraphGame, options: PnsOptions, limits: Limits) -> Report {
        run_in(&Table::new(1 << 14).unwrap(), 1 << 22, game, options, limits)
    }

    fn run_in(
        table: &Table,
        tree_bytes: usize,
        game: &GraphGame,
        options: PnsOptions,
        limits: Limits,
    ) -> Report {
        pns(Root::new(game, 0, table), tree_bytes, options, limits, &mut ()).unwrap()
    }

    #[test]
    fn random_games_have_the_value_of_negamax() {
        for seed in 0..60 {
            let game = random_game(seed);
            let mut oracle = Negamax::new(&game);
            let value = oracle.value(0);
            for options in variants() {
                let report = run(&game, options, Limits::default());
                assert_eq!(report.outcome, Outcome::Known(value), "seed {seed}, {options:?}");
                if value == Value::Win {
                    let best = report.best.expect("a won root has a lost child");
                    assert_eq!(oracle.value(best), Value::Loss, "seed {seed}, {options:?}");
                }
            }
        }
    }

    #[test]
    fn too_little_memory_never_gives_a_wrong_value() {
        let game = GraphGame::nim(&[5, 9, 12]);
        let mut failed = 0;
        for bytes in (7..24).map(|i| 3 << i >> 2) {
            let table = &Table::new(1 << 14).unwrap();
            let report = run_in(table, bytes, &game, PnsOptions::PLAIN, Limits::default());
            assert!(report.memory_bytes <= (table.bytes() + bytes) as u64);
            match report.outcome {
                Outcome::Unknown(reason) => {
                    assert_eq!(reason, Reason::Memory);
                    failed += 1;
                }
                Outcome::Known(value) => assert_eq!(value, Value::Loss),
            }
        }
        assert!((3..16).contains(&failed), "{failed}");
    }

    #[test]
    fn limits_stop_the_search_and_are_reported() {
        let game = large_game();
        for nodes in [0, 1, 2, 50, 3000] {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let report = run(&game, PnsOptions::PLAIN, limits);
            assert_eq!(report.outcome, Outcome::Unknown(Reason::NodeLimit));
            assert!(report.counters.nodes < nodes.max(1) + 60);
            assert!(report.phi > 0 && report.delta > 0);
        }
        let stop = AtomicBool::new(true);
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        let report = run(&game, PnsOptions::PLAIN, limits);
        assert_eq!(report.outcome, Outcome::Unknown(Reason::Interrupted));
    }

    #[test]
    fn an_interrupted_search_continues_with_the_same_table() {
        for seed in 0..20 {
            let game = random_game(seed);
            let value = Negamax::new(&game).value(0);
            for options in variants() {
                let table = Table::new(1 << 14).unwrap();
                for nodes in 1.. {
                    let nodes = Some(nodes * 10);
                    let limits = Limits { nodes, ..Limits::default() };
                    let report = run_in(&table, 1 << 20, &game, options, limits);
                    if let Some(found) = report.outcome.value() {
                        assert_eq!(found, value);
                        break;
                    }
                }
            }
        }
    }
}
