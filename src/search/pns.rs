//! Proof-number search (Allis 1994; thesis, 2.2 and 3.5).
//!
//! The tree stands in memory; the most-proving leaf is expanded, its children are evaluated at once
//! (table, end of the game, bounded exact search, leaf estimate), and the numbers go up the path.
//! Solved subtrees leave the tree and become one table entry, so positions that several paths lead
//! to are solved once as long as the table keeps them.

#![forbid(unsafe_code)]

use super::arena::{Memory, Region, UNIT};
use super::control::{Control, Limits, Observer, Outcome, Reason, Report};
use super::evaluate::{Evaluation, Evaluator, Settling};
use super::game::{Game, Value};
use super::numbers::Combination;
use super::proof_tree::{Full, ProofTree};
use super::table::Table;

/// The parameters of PNS, and of both levels of PN².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PnsOptions {
    /// How delta follows from the children's phi.
    pub combination: Combination,
    /// Positions that one bounded exact search may visit; 0 for none.
    pub settle_budget: u32,
    /// The greatest [`super::game::Child::effort`] for which it is tried.
    pub settle_effort: u32,
    /// How long a child keeps the search: until its delta exceeds the second best by this factor,
    /// in 1/1024. 0 is PNS proper, which always expands a most-proving node.
    pub epsilon_1024: u32,
    /// Whether the numbers of open nodes go to the table as well when the search leaves them, and
    /// new nodes take theirs from it. Merges what is known about transpositions.
    pub store_open: bool,
    /// Expansions after which a node that the search returns to looks its children up in the table
    /// again, where they may have been solved or searched by another path since; `u32::MAX` for
    /// never.
    pub refresh_age: u32,
}

impl PnsOptions {
    pub(super) fn settling(&self) -> Settling {
        Settling {
            budget: self.settle_budget,
            effort: self.settle_effort,
        }
    }
}

/// Searches a position by PNS on one thread.
///
/// The tree takes at most `tree_bytes` bytes, some 22 for a node; the address space is reserved
/// at once, the memory used as the tree grows. If that is not enough, or if the system refuses it,
/// the outcome is `Unknown` for [`Reason::Memory`]. What has been solved until then, or until a
/// limit was reached, is in the table. [`Report::memory_bytes`] counts the table and the part of
/// the tree's memory that was ever in use.
pub fn pns<G: Game>(
    game: &G,
    root: u64,
    table: &Table,
    tree_bytes: usize,
    options: PnsOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let control = Control::new(limits, observer);
    let mut evaluator = Evaluator::new(game, table, control, options.settling());
    evaluator.open_entries = options.store_open;
    evaluator.control.counters.nodes = 1;
    let mut memory = Memory::new(tree_bytes);
    let units = memory.as_ref().map_or(0, Memory::units);
    let mut tree = ProofTree::new(Region::new(1, units), options, root);
    let mut reason = Some(Reason::Memory);
    let mut bytes = 0;
    if let Some(memory) = &mut memory {
        reason = search(&mut tree, memory, &mut evaluator);
        tree.unwind(memory);
        bytes = tree.region.top() as usize * UNIT;
    }
    report(&tree, reason, evaluator, bytes)
}

/// Expands most-proving nodes until the root is solved, or says why it stopped before.
fn search<G: Game>(
    tree: &mut ProofTree,
    memory: &mut Memory,
    evaluator: &mut Evaluator<G>,
) -> Option<Reason> {
    while let Some(code) = tree.select(memory, evaluator) {
        evaluator.grow_if_full();
        evaluator.control.root = (tree.phi, tree.delta, tree.best);
        if tree.take_from_table(memory, evaluator, code) {
            continue;
        }
        if evaluator.control.tick() {
            return evaluator.control.stopped;
        }
        if expand(tree, memory, evaluator, code).is_err() {
            return Some(Reason::Memory);
        }
    }
    None
}

/// Evaluates the selected node by its children.
pub(super) fn expand<G: Game>(
    tree: &mut ProofTree,
    memory: &mut Memory,
    evaluator: &mut Evaluator<G>,
    code: u64,
) -> Result<(), Full> {
    evaluator.children.clear();
    match evaluator.expand(code, true) {
        Evaluation::Lost => tree.resolve(memory, evaluator, Value::Loss, 1),
        Evaluation::Won(child) => {
            if tree.is_at_root() {
                tree.best = Some(child);
            }
            tree.resolve(memory, evaluator, Value::Win, 1);
        }
        Evaluation::Open => {
            let expansions = evaluator.control.counters.expansions;
            return tree.attach(memory, &evaluator.children, 1, expansions);
        }
    }
    Ok(())
}

/// Puts together what a search found.
pub(super) fn report<G: Game>(
    tree: &ProofTree,
    reason: Option<Reason>,
    evaluator: Evaluator<G>,
    tree_bytes: usize,
) -> Report {
    let outcome = match (tree.value, reason) {
        (Some(value), _) => Outcome::Known(value),
        (None, reason) => Outcome::Unknown(reason.unwrap_or(Reason::Memory)),
    };
    Report {
        outcome,
        phi: tree.phi,
        delta: tree.delta,
        best: tree.best,
        counters: evaluator.control.counters,
        memory_bytes: (evaluator.table.bytes() + tree_bytes) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::game::{Estimate, Konane};
    use crate::konane::profile::Profile;
    use crate::konane::{Board, Position};
    use crate::search::testing::{RandomGame, mix, negamax};
    use std::collections::HashMap;
    use std::sync::atomic::AtomicBool;

    /// Thesis, tuned, and every option on its own.
    fn variants() -> Vec<PnsOptions> {
        let (plain, tuned) = (Profile::Thesis.pns(), Profile::Tuned.pns());
        let (refresh_age, store_open) = (0, true);
        vec![
            plain,
            tuned,
            PnsOptions {
                refresh_age,
                ..plain
            },
            PnsOptions {
                store_open,
                ..plain
            },
            PnsOptions {
                epsilon_1024: 300,
                refresh_age,
                store_open,
                ..tuned
            },
            PnsOptions {
                settle_budget: 5,
                settle_effort: 6,
                ..plain
            },
        ]
    }

    fn run<G: Game>(game: &G, root: u64, options: PnsOptions, limits: Limits) -> Report {
        let table = Table::new(1 << 14).unwrap();
        pns(game, root, &table, 1 << 22, options, limits, &mut ())
    }

    #[test]
    fn random_games_have_the_value_of_negamax() {
        for seed in 0..60 {
            let game = RandomGame {
                seed,
                layers: 8 + seed % 6,
                most_moves: 2 + seed % 4,
            };
            let mut memo = HashMap::new();
            let value = game.negamax(0, &mut memo);
            for options in variants() {
                let report = run(&game, 0, options, Limits::default());
                assert_eq!(
                    report.outcome,
                    Outcome::Known(value),
                    "seed {seed}, {options:?}"
                );
                let expected = (value == Value::Win).then_some(Value::Loss);
                if let (Some(expected), Some(best)) = (expected, report.best) {
                    assert_eq!(game.negamax(best, &mut memo), expected, "seed {seed}");
                }
                assert!(value == Value::Loss || report.best.is_some());
            }
        }
    }

    #[test]
    fn boards_have_the_value_of_negamax() {
        for size in ["1x1", "1x5", "2x2", "2x3", "3x3", "3x4", "4x4", "4x5"] {
            let board = Board::new(size.parse().unwrap());
            let mut memo = HashMap::new();
            for game in (0..12).map(|seed| random_game(&board, seed)) {
                let value = negamax(&board, game, &mut memo);
                let root = board.symmetries().code(&game);
                for profile in [Profile::Tuned, Profile::Thesis] {
                    let konane = Konane::new(&board, profile.estimate());
                    let report = run(&konane, root, profile.pns(), Limits::default());
                    assert_eq!(report.outcome, Outcome::Known(value), "{size} {game:?}");
                }
            }
        }
    }

    /// The position after `seed / 2` random moves, or at the game's end.
    fn random_game(board: &Board, seed: u64) -> Position {
        let mut position = Position::start(board);
        for ply in 0..seed / 2 {
            let moves = position.moves(board);
            if moves.is_empty() {
                break;
            }
            let at = mix(seed << 32 | ply) as usize % moves.len();
            position = position.play(board, moves[at]);
        }
        position
    }

    #[test]
    fn too_little_memory_is_no_answer() {
        let board = Board::new("4x5".parse().unwrap());
        let konane = Konane::new(&board, Estimate::Mobility);
        let root = board.symmetries().code(&Position::start(&board));
        let options = Profile::Thesis.pns();
        let mut failed = 0;
        for bytes in (0..24).map(|i| 3 << i >> 2) {
            let table = &Table::new(1 << 10).unwrap();
            let report = pns(
                &konane,
                root,
                table,
                bytes,
                options,
                Limits::default(),
                &mut (),
            );
            assert!(report.memory_bytes <= (table.bytes() + bytes) as u64);
            match report.outcome {
                Outcome::Unknown(reason) => {
                    assert_eq!(reason, Reason::Memory);
                    failed += 1;
                }
                Outcome::Known(value) => assert_eq!(value, Value::Loss),
            }
        }
        assert!((6..23).contains(&failed), "{failed}");
    }

    #[test]
    fn limits_stop_the_search_and_are_named() {
        let board = Board::new("5x6".parse().unwrap());
        let konane = Konane::new(&board, Estimate::Mobility);
        let root = board.symmetries().code(&Position::start(&board));
        let options = Profile::Thesis.pns();
        for nodes in [0, 1, 2, 50, 3000] {
            let limits = Limits {
                nodes: Some(nodes),
                ..Limits::default()
            };
            let report = run(&konane, root, options, limits);
            assert_eq!(report.outcome, Outcome::Unknown(Reason::NodeLimit));
            assert!(report.counters.nodes < nodes.max(1) + 60);
            assert!(report.phi > 0 && report.delta > 0);
        }
        let stop = AtomicBool::new(true);
        let limits = Limits {
            stop: Some(&stop),
            ..Limits::default()
        };
        let report = run(&konane, root, options, limits);
        assert_eq!(report.outcome, Outcome::Unknown(Reason::Interrupted));
    }

    #[test]
    fn an_interrupted_search_goes_on_with_the_same_table() {
        for seed in 0..20 {
            let game = RandomGame {
                seed,
                layers: 14,
                most_moves: 5,
            };
            let value = game.negamax(0, &mut HashMap::new());
            for options in variants() {
                let table = Table::new(1 << 14).unwrap();
                for nodes in 1.. {
                    let nodes = Some(nodes * 10);
                    let limits = Limits {
                        nodes,
                        ..Limits::default()
                    };
                    let report = pns(&game, 0, &table, 1 << 20, options, limits, &mut ());
                    if let Some(found) = report.outcome.value() {
                        assert_eq!(found, value);
                        break;
                    }
                }
            }
        }
    }
}
