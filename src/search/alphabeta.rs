//! α-β with iterative deepening and a transposition table (thesis, 3.8).
//!
//! Scores are [`Game::evaluate`]'s at the horizon and ±`WON` where the game is decided. A score
//! of ±`WON` is only ever returned for a proven value, so the first iteration whose root score is
//! one of them ends the search. With a step as long as the game there is one iteration and no
//! horizon: a depth-first search for win or loss.

use super::control::{Control, Limits, Observer, Outcome, Report};
use super::evaluate::{Evaluation, Evaluator, SettleOptions};
use super::game::{EVALUATION_LIMIT, Game, Value};
use super::numbers::Number;
use super::table::{Entry, Table};

/// The parameters of α-β.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaBetaOptions {
    /// Plies by which each iteration is deeper than the one before. At least 1.
    pub step: u32,
    /// Which new children a bounded exact search is tried on.
    pub settle: SettleOptions,
}

/// The score of a proven win.
const WON: i32 = 1 << 15;

const _: () = assert!(EVALUATION_LIMIT < WON);

/// What a score says about the true one at its depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Exact,
    Lower,
    Upper,
}

/// An unsolved position's score, as it is kept in the two numbers of a table entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scored {
    score: i32,
    bound: Bound,
    depth: u32,
}

impl Scored {
    fn pack(self, work: u64) -> Entry {
        let phi = 1 + ((self.score + WON) as Number) * 4 + self.bound as Number;
        Entry { phi, delta: 1 + self.depth, work }
    }

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

struct Searcher<'a, G: Game> {
    evaluator: Evaluator<'a, G>,
    /// Levels up to this one were reached by an earlier iteration; their nodes have been counted.
    counted: u32,
}

/// Searches a position by α-β on one thread. The table must not hold entries of another algorithm
/// other than solved ones.
pub fn alphabeta<G: Game>(
    game: &G,
    root: u64,
    table: &Table,
    options: AlphaBetaOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let evaluator = Evaluator::new(game, table, Control::new(limits, observer), options.settle);
    let mut searcher = Searcher { evaluator, counted: 0 };
    searcher.evaluator.control.counters.nodes = 1;
    let step = options.step.max(1);
    let mut depth = 0u32;
    let outcome = loop {
        searcher.counted = depth;
        depth = depth.saturating_add(step);
        searcher.evaluator.control.depth = depth;
        match searcher.search(root, depth, -WON, WON, 0) {
            None => {
                let reason =
                    searcher.evaluator.control.stopped.expect("an open search was stopped");
                break Outcome::Unknown(reason);
            }
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
        best: searcher.evaluator.control.root.2,
        counters: searcher.evaluator.control.counters,
        memory_bytes: table.bytes() as u64,
    }
}

impl<G: Game> Searcher<'_, G> {
    /// The score and the work of a position, or `None` if the search has to stop.
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
            return Some((evaluator.game.evaluate(code, &mut evaluator.scratch), 1));
        }
        evaluator.grow_if_full();
        let mut known_work = 0;
        if let Some(entry) = evaluator.lookup(code) {
            known_work = entry.work;
            // Solved children never get here: their parent has seen to them.
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
        if evaluator.control.tick() {
            return None;
        }
        let base = evaluator.children.len();
        match evaluator.expand(code, ply >= self.counted) {
            Evaluation::Lost => {
                return Some(self.solved(code, Value::Loss, 1 + known_work, ply, None));
            }
            Evaluation::Won(child) => {
                return Some(self.solved(code, Value::Win, 1 + known_work, ply, Some(child)));
            }
            Evaluation::Open => {}
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
                    self.evaluator.control.root.2 = Some(child);
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

    fn solved(
        &mut self,
        code: u64,
        value: Value,
        work: u64,
        ply: u32,
        child: Option<u64>,
    ) -> (i32, u64) {
        if ply == 0 && child.is_some() {
            self.evaluator.control.root.2 = child;
        }
        self.evaluator.store(code, Entry::solved(value, work));
        (if value == Value::Win { WON } else { -WON }, work)
    }

    /// Sorts the children at the top of the stack, worst for their side to move first: by their
    /// scores where the table has them from an earlier iteration, else by their leaf estimates.
    fn order(&mut self, base: usize) {
        let evaluator = &mut self.evaluator;
        let (game, table) = (evaluator.game, evaluator.table);
        evaluator.children[base..].sort_by_cached_key(|child| {
            let known = table.lookup(game.key(child.code), child.code);
            let score = known.map_or(0, |entry| Scored::unpack(&entry).score);
            let estimate = (u64::from(child.delta) << 20) / u64::from(child.phi.max(1));
            (score, estimate, child.code)
        });
    }
}
