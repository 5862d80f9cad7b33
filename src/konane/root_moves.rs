//! Proof and disproof numbers of the root's moves while a search runs ([`RootMove`]).

use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use super::board::Board;
use super::moves::Move;
use super::position::Position;
use crate::json::as_finite;
use crate::search::numbers::{Number, Pair};
use crate::search::plain::RootView;
use crate::search::plain::game::Game;
use crate::search::run::{
    CheckpointProgress, Counters, ListChildren, Observer, Progress, RootChild,
};

/// A move of the root and its numbers, for the side that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "json-schema",
    schemars(rename = "RootMoveJson", description = "A move of the root and its numbers.")
)]
pub struct RootMove {
    /// The move.
    #[serde(rename = "move")]
    pub mv: Move,
    /// Its proof number; 0 if it is proven to win, null if infinite.
    #[serde(serialize_with = "as_finite")]
    #[cfg_attr(feature = "json-schema", schemars(with = "Option<Number>"))]
    pub pn: Number,
    /// Its disproof number; 0 if it is proven to lose, null if infinite.
    #[serde(serialize_with = "as_finite")]
    #[cfg_attr(feature = "json-schema", schemars(with = "Option<Number>"))]
    pub dn: Number,
}

impl Position {
    /// The moves of this position, the root of a search, with their current proof and disproof numbers. The moves are
    /// sorted by increasing proof number, then by decreasing disproof number.
    /// Moves to equivalent positions have the same numbers.
    ///
    /// α-β has no proof numbers, so only solved moves are listed. Once a move is proven to win, other moves may be
    /// missing. The call expands the position, which takes some microseconds. The search waits during the call.
    pub fn root_moves(&self, board: &Board, progress: &Progress<'_>) -> Vec<RootMove> {
        let children = progress.children.map_or_else(Vec::new, |list| list());
        let numbers = |mv| {
            let code = self.play(board, mv).code(board);
            let &RootChild { phi, delta, .. } = children.iter().find(|child| child.code == code)?;
            Some(RootMove { mv, pn: delta, dn: phi })
        };
        let mut moves: Vec<RootMove> = self.moves(board).into_iter().filter_map(numbers).collect();
        moves.sort_by_key(|RootMove { pn, dn, .. }| (*pn, std::cmp::Reverse(*dn)));
        moves
    }
}

/// Adds the list of the root's children to the progress that an observer receives.
pub(super) struct RootMoveObserver<'s, G> {
    observer: &'s mut dyn Observer,
    view: RootView<'s, G>,
    /// Children of the root in the search's tree, as they were last listed. This list is used at the end of the search,
    /// when the tree no longer exists.
    tree: Vec<RootChild>,
}

impl<'s, G: Game> RootMoveObserver<'s, G> {
    pub fn new(observer: &'s mut dyn Observer, view: RootView<'s, G>) -> Self {
        RootMoveObserver { observer, view, tree: Vec::new() }
    }
}

impl<G: Game> Observer for RootMoveObserver<'_, G> {
    fn progress(&mut self, progress: &Progress) {
        let RootMoveObserver { observer, view, tree } = self;
        let root = Pair { phi: progress.phi, delta: progress.delta };
        let table_capacity = view.root.table.capacity();
        // `table_used` includes an estimate of the number of entries at the beginning of the search, so it could exceed
        // the capacity.
        let table_used = progress.counters.table_used.min(table_capacity);
        let counters = Counters { table_used, ..progress.counters };
        let tree = Mutex::new(tree);
        let children = || {
            let tree = &mut **tree.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(list) = progress.children {
                *tree = list();
            }
            root_children(view, tree, root)
        };
        let children = Some(&children as &ListChildren<'_>);
        observer.progress(&Progress { counters, table_capacity, children, ..*progress });
    }

    fn checkpoint(&mut self, progress: &CheckpointProgress) {
        self.observer.checkpoint(progress);
    }
}

/// Children of the root with the numbers from the table and from the tree.
fn root_children<G: Game>(
    view: &RootView<'_, G>,
    tree: &[RootChild],
    root: Pair,
) -> Vec<RootChild> {
    let mut children = view.children(tree);
    let is_open = |child: &&mut RootChild| child.phi != 0 && child.delta != 0;
    let open: Vec<&mut RootChild> = children.iter_mut().filter(is_open).collect();
    let is_only = open.windows(2).all(|pair| pair[0].code == pair[1].code);
    if is_only && view.open_entries && root.value().is_none() {
        // If the root has only one open child, the search stays below it and stores no numbers for it. Its numbers
        // follow from those of the root.
        for child in open {
            (child.phi, child.delta) = (root.delta, root.phi);
        }
    }
    children
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::notation::parse_moves;
    use crate::konane::{Algorithm, Profile, SolveOptions, Solver};
    use crate::search::run::Limits;

    /// Computes the root moves at every call.
    struct RootMoveRecorder<'a> {
        board: &'a Board,
        position: &'a Position,
        recorded: Vec<(Progress<'static>, Vec<RootMove>)>,
    }

    impl Observer for RootMoveRecorder<'_> {
        fn progress(&mut self, progress: &Progress) {
            let moves = self.position.root_moves(self.board, progress);
            self.recorded.push((progress.without_children(), moves));
        }
    }

    /// Runs every algorithm, with and without a node limit. Checks that solved moves have the right value, that no move
    /// is listed twice, and that listing the moves does not change the search.
    #[test]
    fn moves_have_numbers_while_a_search_runs() {
        let board = Board::new("5x6".parse().unwrap());
        let position = parse_moves(&board, "c3 c4").unwrap();
        let options = SolveOptions { memory_bytes: 64 << 20, ..SolveOptions::default() };
        let wins = |&mv: &Move| {
            let after = position.play(&board, mv);
            let solution = Solver::new(&board, &after).options(options).run().unwrap();
            solution.winner.unwrap() == position.to_move()
        };
        let all = position.moves(&board);
        let truth: Vec<(Move, bool)> = all.iter().map(|mv| (*mv, wins(mv))).collect();
        let two = std::num::NonZeroUsize::new(2).unwrap();
        let mut calls = 0;
        for algorithm in Algorithm::ALL {
            for profile in [Profile::Tuned, Profile::Thesis] {
                for (nodes, threads) in [(Some(6000), 1), (None, 1), (None, 2)] {
                    let threads = if threads == 1 { std::num::NonZeroUsize::MIN } else { two };
                    let options = SolveOptions { algorithm, profile, threads, ..options };
                    let limits = Limits { nodes, ..Limits::default() };
                    let solver = Solver::new(&board, &position).options(options).limits(limits);
                    let mut recorder = RootMoveRecorder {
                        board: &board,
                        position: &position,
                        recorded: Vec::new(),
                    };
                    let solution = solver.run_observed(&mut recorder).unwrap();
                    let name = format!("{algorithm} {} {nodes:?} {threads}", profile.name());
                    if threads.get() == 1 {
                        let counters = solver.run().unwrap().report.counters;
                        assert_eq!(solution.report.counters, counters, "{name}");
                    }
                    calls += recorder.recorded.len();
                    let (last, at_end) = recorder.recorded.last().expect("a call at the end");
                    assert_eq!((last.phi, last.delta), {
                        let report = &solution.report;
                        (report.phi, report.delta)
                    });
                    assert_eq!(last.table_capacity, solution.table.capacity);
                    if let Some(best) = solution.best_move
                        && solution.winner.is_some()
                    {
                        let listed = at_end.iter().find(|listed| listed.mv == best);
                        assert_eq!(listed.map(|listed| listed.pn), Some(0), "{name}");
                    }
                    for (_, moves) in &recorder.recorded {
                        let won = moves.first().is_some_and(|first| first.pn == 0);
                        if algorithm != Algorithm::AlphaBeta && !won {
                            assert_eq!(moves.len(), all.len(), "{name}");
                        }
                        for (at, &RootMove { mv, pn, dn }) in moves.iter().enumerate() {
                            assert!(moves[..at].iter().all(|earlier| earlier.mv != mv));
                            assert!(at == 0 || moves[at - 1].pn <= pn, "{name}");
                            let (_, wins) = truth.iter().find(|(other, _)| *other == mv).unwrap();
                            assert!(pn != 0 || *wins, "{name}");
                            assert!(dn != 0 || !*wins, "{name}");
                        }
                    }
                }
            }
        }
        assert!(calls > 40, "{calls}");
    }

    /// All first moves on 5x7 are equivalent, so the root has only one child, and the search returns to the root only
    /// when it ends.
    #[test]
    fn an_only_move_has_the_numbers_of_the_search() {
        let board = Board::new("5x7".parse().unwrap());
        let position = Position::start(&board);
        for threads in [1, 2] {
            let threads = std::num::NonZeroUsize::new(threads).unwrap();
            let options = SolveOptions { threads, ..SolveOptions::default() };
            let mut recorder =
                RootMoveRecorder { board: &board, position: &position, recorded: Vec::new() };
            Solver::new(&board, &position).options(options).run_observed(&mut recorder).unwrap();
            let mut seen = std::collections::HashSet::new();
            for (progress, moves) in recorder.recorded {
                let Progress { phi, delta, .. } = progress;
                if phi != 0 && delta != 0 {
                    assert_eq!(moves.len(), 4);
                    assert!(moves.iter().all(|mv| (mv.pn, mv.dn) == (phi, delta)), "{moves:?}");
                    seen.insert((phi, delta));
                }
            }
            assert!(seen.len() > 3, "{seen:?}");
        }
    }
}
