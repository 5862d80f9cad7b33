//! What a running search knows about the root's moves.

use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RootMoveJson", description = "A move of the root and its numbers.")]
pub struct RootMove {
    /// The move.
    #[serde(rename = "move")]
    pub mv: Move,
    /// Its proof number; 0 if it is proven to win, null if infinite.
    #[serde(serialize_with = "as_finite")]
    #[schemars(with = "Option<Number>")]
    pub pn: Number,
    /// Its disproof number; 0 if it is proven to lose, null if infinite.
    #[serde(serialize_with = "as_finite")]
    #[schemars(with = "Option<Number>")]
    pub dn: Number,
}

impl Position {
    /// The moves of a search's root, this position, with the numbers that the search has for them
    /// now; the most promising first: by proof number, the greater disproof number first among equals.
    /// Moves to equivalent positions share their numbers.
    ///
    /// α-β has no numbers and lists moves that are solved only. Once a move is proven to win, others
    /// may be missing. Costs an expansion of the position, some microseconds, and the search that
    /// calls the observer waits for it.
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

/// Lets an observer ask for the root's children.
pub(super) struct Watched<'s, G> {
    observer: &'s mut dyn Observer,
    view: RootView<'s, G>,
    /// Children of the last call: the tree is gone when the search has ended.
    tree: Vec<RootChild>,
}

impl<'s, G: Game> Watched<'s, G> {
    pub fn new(observer: &'s mut dyn Observer, view: RootView<'s, G>) -> Self {
        Watched { observer, view, tree: Vec::new() }
    }
}

impl<G: Game> Observer for Watched<'_, G> {
    fn progress(&mut self, progress: &Progress) {
        let Watched { observer, view, tree } = self;
        let root = Pair { phi: progress.phi, delta: progress.delta };
        let table_capacity = view.root.table.capacity();
        // The entries at the beginning of the search are an estimate.
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

/// Children of the root, by the table and by the tree's own list.
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
        // A search does not return from an only child, so it has stored no numbers of it.
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

    /// Asks at every look.
    struct Asks<'a> {
        board: &'a Board,
        position: &'a Position,
        heard: Vec<(Progress<'static>, Vec<RootMove>)>,
    }

    impl Observer for Asks<'_> {
        fn progress(&mut self, progress: &Progress) {
            let moves = self.position.root_moves(self.board, progress);
            self.heard.push((progress.without_children(), moves));
        }
    }

    /// By every algorithm, stopped early and not: what is called solved is so, every move that has
    /// numbers has them once, and asking changes no search.
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
        let mut asked = 0;
        for algorithm in Algorithm::ALL {
            for profile in [Profile::Tuned, Profile::Thesis] {
                for (nodes, threads) in [(Some(6000), 1), (None, 1), (None, 2)] {
                    let threads = if threads == 1 { std::num::NonZeroUsize::MIN } else { two };
                    let options = SolveOptions { algorithm, profile, threads, ..options };
                    let limits = Limits { nodes, ..Limits::default() };
                    let solver = Solver::new(&board, &position).options(options).limits(limits);
                    let mut asks = Asks { board: &board, position: &position, heard: Vec::new() };
                    let solution = solver.run_observed(&mut asks).unwrap();
                    let name = format!("{algorithm} {} {nodes:?} {threads}", profile.name());
                    if threads.get() == 1 {
                        let counters = solver.run().unwrap().report.counters;
                        assert_eq!(solution.report.counters, counters, "{name}");
                    }
                    asked += asks.heard.len();
                    let (last, at_end) = asks.heard.last().expect("the end is told");
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
                    for (_, moves) in &asks.heard {
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
        assert!(asked > 40, "{asked}");
    }

    /// All openings of 5x7 are one by symmetry, so that the search never comes back to the root.
    #[test]
    fn an_only_move_has_the_numbers_of_the_search() {
        let board = Board::new("5x7".parse().unwrap());
        let position = Position::start(&board);
        for threads in [1, 2] {
            let threads = std::num::NonZeroUsize::new(threads).unwrap();
            let options = SolveOptions { threads, ..SolveOptions::default() };
            let mut asks = Asks { board: &board, position: &position, heard: Vec::new() };
            Solver::new(&board, &position).options(options).run_observed(&mut asks).unwrap();
            let mut told = std::collections::HashSet::new();
            for (progress, moves) in asks.heard {
                let Progress { phi, delta, .. } = progress;
                if phi != 0 && delta != 0 {
                    assert_eq!(moves.len(), 4);
                    assert!(moves.iter().all(|mv| (mv.pn, mv.dn) == (phi, delta)), "{moves:?}");
                    told.insert((phi, delta));
                }
            }
            assert!(told.len() > 3, "{told:?}");
        }
    }
}
