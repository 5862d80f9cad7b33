//! α-β with iterative deepening and a transposition table (thesis, 3.8).
//!
//! Scores are those of [`Game::evaluate`] at the horizon and ±`WON` for decided games. A score of
//! ±`WON` is only returned for a proven value, so the first iteration whose root score is ±`WON`
//! ends the search. With a step as long as the game there is one iteration, which never reaches its
//! horizon: a depth-first search for win or loss.
//!
//! The nodes of a level are counted in the first iteration that reaches the level. A node whose
//! value is in the table is not counted.
//!
//! * [`alphabeta`] searches a position with [`AlphaBetaOptions`].
//! * [`ScoreTable`]: a transposition table of scores. `Scored`: the score of an entry.

use super::numbers::{MAX, Number};
use super::plain::Root;
use super::plain::evaluate::{EvaluationOptions, Evaluator};
use super::plain::game::{EVALUATION_LIMIT, Game};
use super::run::{Limits, Observer, Outcome, Report};
use super::search_tree::Expanded;
use super::table::{Entry, Table, TableError};
use crate::{LeafSolverOptions, Value, split_mix};

/// Parameters of α-β.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaBetaOptions {
    /// Difference in plies between the depths of consecutive iterations. 0 means 1.
    pub step: u32,
    /// Options of the leaf solver for new children.
    pub leaf_solver: LeafSolverOptions,
    /// Seed of a random order of the children, which decides between equally good ones. `None` for the order of
    /// generation.
    pub seed: Option<u64>,
}

/// Score of a proven win.
const WON: i32 = 1 << 15;

const _: () = assert!(EVALUATION_LIMIT <= WON);

/// Maximum depth of an iteration in plies. With this limit, a depth fits into the delta of a table
/// entry. The limit is never reached in practice: no stack has space for that many levels.
const MAX_DEPTH: u32 = MAX - 1;

/// Relation of a score to the exact score at its depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Exact,
    Lower,
    Upper,
}

/// Score of an open position, stored in phi and delta of a table entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scored {
    /// Between -[`WON`] and [`WON`], both excluded.
    score: i32,
    bound: Bound,
    /// Plies to the horizon, at most [`MAX_DEPTH`].
    depth: u32,
}

/// Upper bound of the phi that [`Scored::pack`] returns.
const MAX_PACKED: Number = 1 + (2 * WON as Number) * 4 + 3;

const _: () = assert!(MAX_PACKED <= MAX);

impl Scored {
    /// Packs the score into an entry. Neither phi nor delta is 0 or infinite, so the entry is not
    /// mistaken for a solved one.
    fn pack(self, work: u64) -> Entry {
        let phi = 1 + ((self.score + WON) as Number) * 4 + self.bound as Number;
        Entry { phi, delta: 1 + self.depth, work }
    }

    /// Unpacks an open entry.
    fn unpack(entry: &Entry) -> Self {
        let bits = entry.phi - 1;
        let bound = match bits % 4 {
            0 => Bound::Exact,
            1 => Bound::Lower,
            _ => Bound::Upper,
        };
        Scored { score: (bits / 4) as i32 - WON, bound, depth: entry.delta - 1 }
    }
}

/// A transposition table with the scores of α-β.
///
/// It is a separate type because phi and delta of an open entry are a score and a depth here. A
/// proof-number search would mistake them for proof and disproof numbers. It does not accept this
/// type:
///
/// ```compile_fail,E0308
/// # fn root<G>(game: &G, table: &pn_search::alphabeta::ScoreTable) {
/// pn_search::plain::Root::new(game, 0, table);
/// # }
/// ```
#[derive(Debug)]
pub struct ScoreTable(Table);

impl ScoreTable {
    /// Creates an empty table of up to `bytes` bytes.
    ///
    /// # Errors
    /// The errors of [`Table::new`].
    pub fn new(bytes: usize) -> Result<Self, TableError> {
        Table::new(bytes).map(ScoreTable)
    }

    /// The table that stores the scores, for checkpoints and statistics.
    pub fn entries(&self) -> &Table {
        &self.0
    }
}

struct Searcher<'a, G: Game> {
    evaluator: Evaluator<'a, G>,
    /// Levels up to this one were reached by an earlier iteration, so their nodes have been
    /// counted.
    counted: u32,
}

/// Searches a position by α-β on one thread.
///
/// The table may contain the entries of earlier α-β searches of the same game. Besides the table,
/// the search needs about 24 bytes times branching factor times depth for its list of children.
/// It recurses as deep as the longest line.
///
/// # Panics
/// If the game or the observer panics.
pub fn alphabeta<G: Game>(
    game: &G,
    root: u64,
    table: &ScoreTable,
    options: AlphaBetaOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let table = &table.0;
    let evaluation = EvaluationOptions {
        seed: options.seed,
        ..EvaluationOptions::with_leaf_solver(options.leaf_solver)
    };
    let evaluator = Evaluator::alone(Root::new(game, root, table), limits, observer, evaluation);
    let mut searcher = Searcher { evaluator, counted: 0 };
    let step = options.step.clamp(1, MAX_DEPTH);
    let mut depth = 0u32;
    let known_loss = searcher.evaluator.root_is_lost(root);
    let outcome = loop {
        if known_loss {
            searcher.solved(root, Value::Loss, 0, 0, None);
            break Outcome::Known(Value::Loss);
        }
        searcher.counted = depth;
        depth = (depth + step).min(MAX_DEPTH);
        searcher.evaluator.monitor.depth = depth;
        match searcher.search(root, depth, -WON, WON, 0) {
            None => break Outcome::of(None, searcher.evaluator.monitor.stopped),
            Some((WON, _)) => break Outcome::Known(Value::Win),
            Some((score, _)) if score == -WON => break Outcome::Known(Value::Loss),
            Some(_) => {}
        }
    };
    let entry = outcome.value().map(|value| Entry::solved(value, 0));
    Report {
        outcome,
        phi: entry.map_or(1, |e| e.phi),
        delta: entry.map_or(1, |e| e.delta),
        best: searcher.evaluator.monitor.root.best,
        counters: searcher.evaluator.monitor.counters,
        memory_bytes: table.bytes() as u64,
        threads: 1,
    }
}

impl<G: Game> Searcher<'_, G> {
    /// Returns the score of a position and the number of nodes visited for it, or `None` if the
    /// search has to stop.
    fn search(
        &mut self,
        code: u64,
        depth: u32,
        mut alpha: i32,
        beta: i32,
        ply: u32,
    ) -> Option<(i32, u64)> {
        let evaluator = &mut self.evaluator;
        if depth == 0 {
            let score = evaluator.game.evaluate(code, &mut evaluator.scratch);
            // An evaluation must not be mistaken for a proof.
            return Some((score.clamp(1 - EVALUATION_LIMIT, EVALUATION_LIMIT - 1), 1));
        }
        evaluator.grow_if_full();
        if let Some(entry) = evaluator.lookup(code) {
            // The root is always expanded, to find its best child. A solved entry of another
            // position is not used either. Such an entry was stored after the expansion of the
            // parent, because the expansion removes solved children.
            if entry.value().is_none() && ply > 0 {
                let known = Scored::unpack(&entry);
                let cuts = match known.bound {
                    Bound::Exact => true,
                    Bound::Lower => known.score >= beta,
                    Bound::Upper => known.score <= alpha,
                };
                if known.depth == depth && cuts {
                    return Some((known.score, 1));
                }
            }
        }
        if evaluator.monitor.tick() {
            return None;
        }
        let base = evaluator.children.len();
        match evaluator.expand(code, ply >= self.counted) {
            Expanded::Solved(value) => {
                return Some(self.solved(code, value, 1, ply, None));
            }
            Expanded::Won(child) => {
                return Some(self.solved(code, Value::Win, 1, ply, Some(child)));
            }
            Expanded::Stopped => return None,
            Expanded::Open(()) => {}
        }
        self.order(base);

        let (mut best, mut work, original) = (-WON, 1, alpha);
        for index in base..self.evaluator.children.len() {
            let child = self.evaluator.children[index].code;
            let result = self.search(child, depth - 1, -beta, -alpha, ply + 1);
            let Some((score, child_work)) = result else {
                self.evaluator.children.truncate(base);
                return None;
            };
            let score = -score;
            work += child_work;
            if score > best || index == base {
                best = score;
                if ply == 0 {
                    self.evaluator.monitor.root.best = Some(child);
                }
            }
            if best == WON {
                self.evaluator.children.truncate(base);
                return Some(self.solved(code, Value::Win, work, ply, Some(child)));
            }
            alpha = alpha.max(best);
            if alpha >= beta {
                break;
            }
        }
        self.evaluator.children.truncate(base);
        if best == -WON {
            return Some(self.solved(code, Value::Loss, work, ply, None));
        }
        let bound = if best >= beta {
            Bound::Lower
        } else if best <= original {
            Bound::Upper
        } else {
            Bound::Exact
        };
        self.evaluator.store(code, Scored { score: best, bound, depth }.pack(work));
        Some((best, work))
    }

    /// Stores a value. Returns the score that stands for it, and `work`. `child` is a lost child,
    /// if one is known.
    fn solved(
        &mut self,
        code: u64,
        value: Value,
        work: u64,
        ply: u32,
        child: Option<u64>,
    ) -> (i32, u64) {
        if ply == 0 && child.is_some() {
            self.evaluator.monitor.root.best = child;
        }
        self.evaluator.store(code, Entry::solved(value, work));
        (if value == Value::Win { WON } else { -WON }, work)
    }

    /// Sorts the children at the top of the stack. Those that are worst for their side to move come
    /// first. The order is by score, and then by the ratio of the leaf estimates delta/phi. The
    /// score is from an earlier iteration if the table contains it, otherwise 0.
    fn order(&mut self, base: usize) {
        let evaluator = &mut self.evaluator;
        let (game, table, seed) = (evaluator.game, evaluator.table, evaluator.options.seed);
        evaluator.children[base..].sort_by_cached_key(|child| {
            let known = table.lookup(game.key(child.code), child.code);
            // Another search that shares the table may have solved the child in the meantime.
            let open = known.filter(|entry| entry.value().is_none());
            let score = open.map_or(0, |entry| Scored::unpack(&entry).score);
            let estimate = (u64::from(child.delta) << 20) / u64::from(child.phi.max(1));
            (score, estimate, seed.map_or(child.code, |seed| split_mix::mix(child.code ^ seed)))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plain::game::{Child, Expansion};
    use crate::run::{Progress, Reason};
    use crate::testing::graph::GraphGame;
    use crate::testing::negamax::Negamax;

    const BOUNDS: [Bound; 3] = [Bound::Exact, Bound::Lower, Bound::Upper];

    #[test]
    fn packing_keeps_scores_and_never_makes_them_proofs() {
        let scores = [1 - WON, 1 - EVALUATION_LIMIT, -1, 0, 1, EVALUATION_LIMIT - 1, WON - 1];
        for score in scores {
            for bound in BOUNDS {
                for depth in [0, 1, 64, 65_535, MAX_DEPTH - 1, MAX_DEPTH] {
                    let scored = Scored { score, bound, depth };
                    let entry = scored.pack(7);
                    assert_eq!(Scored::unpack(&entry), scored);
                    assert_eq!((entry.value(), entry.work), (None, 7));
                    assert!(entry.phi <= MAX_PACKED && entry.delta <= MAX, "{scored:?}");
                    let table = Table::new(64).unwrap();
                    table.store(0, 0, entry);
                    assert_eq!(table.lookup(0, 0), Some(entry));
                }
            }
        }
    }

    fn options(step: u32) -> AlphaBetaOptions {
        AlphaBetaOptions { step, leaf_solver: LeafSolverOptions::NEVER, seed: None }
    }

    #[test]
    fn every_step_finds_the_value_of_negamax() {
        for seed in 0..80 {
            let game = GraphGame::random(seed, 60 + 4 * seed as u32, 1 + seed as u32 % 7)
                .with_random_estimates(seed, 1000)
                .with_immediate_wins(!seed.is_multiple_of(3));
            let mut oracle = Negamax::new(&game);
            let value = oracle.value(0);
            for step in [0, 1, 2, 64, MAX_DEPTH, u32::MAX] {
                for bytes in [1 << 10, 1 << 16] {
                    let table = ScoreTable::new(bytes).unwrap();
                    let limits = Limits { nodes: Some(1 << 20), ..Limits::default() };
                    let report = alphabeta(&game, 0, &table, options(step), limits, &mut ());
                    assert_eq!(report.outcome, Outcome::Known(value), "seed {seed}, step {step}");
                    if value == Value::Win {
                        let best = report.best.expect("a won root has a lost child");
                        assert_eq!(oracle.value(best), Value::Loss, "seed {seed}, step {step}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_shallow_step_takes_several_iterations_and_a_deep_one_takes_one() {
        /// Records the depth of the last iteration.
        struct Depth(u32);
        impl Observer for Depth {
            fn progress(&mut self, progress: &Progress) {
                self.0 = progress.depth;
            }
        }
        let game = GraphGame::nim(&[12, 21, 25]);
        for (step, expected) in [(1, 2..20), (2, 2..20), (64, 64..65), (u32::MAX, MAX_DEPTH..MAX)] {
            let table = ScoreTable::new(1 << 16).unwrap();
            let limits = Limits { nodes: Some(100_000), ..Limits::default() };
            let mut depth = Depth(0);
            let report = alphabeta(&game, 0, &table, options(step), limits, &mut depth);
            assert!(matches!(
                report.outcome,
                Outcome::Known(Value::Loss) | Outcome::Unknown(Reason::NodeLimit)
            ));
            assert!(expected.contains(&depth.0), "step {step}: {}", depth.0);
        }
    }

    /// A game whose evaluations exceed [`EVALUATION_LIMIT`].
    struct Boaster(GraphGame);

    impl Game for Boaster {
        type Scratch = ();

        fn expand(
            &self,
            code: u64,
            scratch: &mut (),
            children: &mut Vec<Child>,
            prefetch: impl FnMut(u64),
        ) -> Expansion {
            self.0.expand(code, scratch, children, prefetch)
        }

        fn key(&self, code: u64) -> u64 {
            self.0.key(code)
        }

        fn evaluate(&self, code: u64, _: &mut ()) -> i32 {
            if code.is_multiple_of(2) { i32::MAX } else { i32::MIN }
        }
    }

    #[test]
    fn no_evaluation_is_a_proof() {
        for seed in 0..40 {
            let game = Boaster(GraphGame::random(seed, 100, 4));
            let value = Negamax::new(&game).value(0);
            let table = ScoreTable::new(1 << 16).unwrap();
            let report = alphabeta(&game, 0, &table, options(1), Limits::default(), &mut ());
            assert_eq!(report.outcome, Outcome::Known(value), "seed {seed}");
        }
    }
}
