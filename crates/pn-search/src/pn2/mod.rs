//! PN² (Allis 1994; Breuker, Uiterwijk and van den Herik 1999; thesis, 2.3 and 3.7).
//!
//! The first level is a proof-number search that evaluates a node only when it is the most-proving
//! one: by a bounded second-level search from this node. The children of the node become nodes of
//! the first level, with the numbers that the second-level search has found; the rest of the
//! second-level tree is discarded. So memory grows with the first level only. The price is that
//! positions of discarded trees are searched again, unless the table contains their results.
//!
//! * [`pn2`] and [`pn2_parallel`] search a position with [`Pn2Options`].
//! * `SecondLevel`: the second-level tree of a worker.

#![forbid(unsafe_code)]

use std::fmt;
use std::str::FromStr;

mod parallel;
mod second;

pub use parallel::pn2_parallel;

use super::arena::{Arena, TreeError};
use super::plain::Root;
use super::plain::evaluate::Evaluator;
use super::plain::game::Game;
use super::pns::tree::ProofTree;
use super::pns::{self, PnsOptions};
use super::run::{Limits, Observer, Reason, Report};
use second::SecondLevel;

/// Parameters of PN².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pn2Options {
    /// Parameters of the proof-number searches of both levels.
    pub pns: PnsOptions,
    /// Budgets of the second-level searches.
    pub budget: Pn2Budget,
    /// With several threads: virtual loss in the selection of leaves. Each worker below a node adds
    /// 1 + delta · `virtual_loss_64` / 64 to the node's delta.
    pub virtual_loss_64: u32,
    /// With several threads: cancels second-level searches below a node that has been solved.
    pub cancel_jobs: bool,
}

/// Budget of a second-level search, in nodes, by the size of the first level's tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pn2Budget {
    /// The size of the first level's tree (Allis 1994).
    Size,
    /// A logistic share of the size (Breuker, Uiterwijk and van den Herik 1999).
    Logistic {
        /// Size of the tree at which the budget is half the size (a in the thesis).
        inflection: f64,
        /// Width of the transition, more than 0 (b in the thesis).
        slope: f64,
        /// Minimum budget.
        minimum: u64,
    },
}

impl Pn2Budget {
    /// Parameters of the thesis (sections 3.7 and 4).
    pub const THESIS: Pn2Budget =
        Pn2Budget::Logistic { inflection: 150_000.0, slope: 30_000.0, minimum: 100 };

    /// Budget while the first level's tree has `nodes` nodes.
    pub fn of(self, nodes: u64) -> u64 {
        match self {
            Pn2Budget::Size => nodes,
            Pn2Budget::Logistic { inflection, slope, minimum } => {
                let n = nodes as f64;
                let share = 1.0 / (1.0 + ((inflection - n) / slope).exp());
                ((n * share) as u64).max(minimum)
            }
        }
    }
}

/// `size`, or `logistic:A,B,MINIMUM`.
impl fmt::Display for Pn2Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pn2Budget::Size => f.write_str("size"),
            Pn2Budget::Logistic { inflection, slope, minimum } => {
                write!(f, "logistic:{inflection},{slope},{minimum}")
            }
        }
    }
}

impl FromStr for Pn2Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let logistic = || {
            let mut numbers = text.strip_prefix("logistic:")?.split(',');
            let mut next = || numbers.next();
            let inflection: f64 = next()?.parse().ok()?;
            let slope: f64 = next()?.parse().ok()?;
            let minimum = next()?.parse().ok()?;
            let is_valid =
                [inflection, slope].iter().all(|number| number.is_finite() && *number > 0.0);
            (is_valid && next().is_none()).then_some(Pn2Budget::Logistic {
                inflection,
                slope,
                minimum,
            })
        };
        if text == "size" {
            return Ok(Pn2Budget::Size);
        }
        logistic().ok_or_else(|| {
            "expected size, or logistic:A,B,MINIMUM with positive A and B, such as logistic:150000,30000,100"
                .to_owned()
        })
    }
}

/// Searches a position by PN² on one thread.
///
/// The trees have at most `tree_bytes` bytes, some 22 per node: half of them are for the first level, half for the
/// second. A second-level search that runs out of memory ends as if its budget were spent. If the first level runs out
/// of memory, the outcome is `Unknown` for [`Reason::Memory`].
///
/// [`super::run::Counters::nodes`] is the sum of both levels' nodes. A second-level search stops
/// when the number of positions that it has evaluated, or of nodes that it has created, reaches the
/// budget. The last expansion may exceed the budget.
///
/// # Errors
/// If the system does not provide the memory of the trees, or `tree_bytes` is less than 128.
///
/// # Panics
/// If the game or the observer does.
pub fn pn2<G: Game>(
    root: Root<'_, G>,
    tree_bytes: usize,
    options: Pn2Options,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Result<Report, TreeError> {
    let second_bytes = tree_bytes / 2;
    let first = Arena::new(tree_bytes - second_bytes)?;
    let mut first = ProofTree::new(first, options.pns, root.code);
    let mut second = SecondLevel::new(Arena::new(second_bytes)?, options.pns);
    let mut evaluator = Evaluator::alone(root, limits, observer, options.pns.evaluation());
    evaluator.monitor.counters.first_level = 1;
    pns::start(&mut first, &mut evaluator);
    let reason = search(&mut first, &mut second, &mut evaluator, &options);
    first.unwind();
    let bytes = first.arena.used_bytes() + second.bytes;
    Ok(pns::report(&first, reason, evaluator, bytes))
}

/// Evaluates most-proving nodes of the first level until its root is solved, or returns the reason why the search was
/// stopped.
fn search<G: Game>(
    first: &mut ProofTree,
    second: &mut SecondLevel,
    evaluator: &mut Evaluator<G>,
    options: &Pn2Options,
) -> Option<Reason> {
    while let Some(code) = first.select(evaluator) {
        evaluator.monitor.root = first.numbers;
        if first.take_from_table(evaluator, code) {
            continue;
        }
        let budget = options.budget.of(1 + first.arena.node_count());
        let before = evaluator.monitor.counters;
        second.search(&|| first.root_children(), evaluator, code, budget, |evaluator| {
            evaluator.grow_if_full();
            false
        });
        let counters = &mut evaluator.monitor.counters;
        counters.second_level += counters.nodes - before.nodes;
        let work = counters.expansions - before.expansions;
        if let Some(value) = second.tree.value {
            if first.is_at_root() {
                first.numbers.best = second.tree.numbers.best;
            }
            first.resolve(evaluator, value, work);
            continue;
        }
        if evaluator.monitor.stopped.is_some() {
            return evaluator.monitor.stopped;
        }
        let children = second.children();
        let counters = &mut evaluator.monitor.counters;
        counters.first_level += children.len() as u64;
        counters.nodes += children.len() as u64;
        let expansions = counters.expansions;
        // Without children, there was no memory for the first expansion of the second level.
        if children.is_empty() || first.attach(&children, work, expansions).is_err() {
            return Some(Reason::Memory);
        }
    }
    None
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::Value;
    use crate::run::{Outcome, SearchMonitor};
    use crate::table::Table;
    use crate::testing::negamax::Negamax;
    use crate::testing::{
        RICH,
        graph::{large_game, random_game},
    };
    use std::sync::atomic::AtomicBool;

    pub const THESIS: Pn2Options = Pn2Options {
        pns: PnsOptions::PLAIN,
        budget: Pn2Budget::THESIS,
        virtual_loss_64: 0,
        cancel_jobs: false,
    };

    /// Options with first levels of several nodes even in small games.
    pub fn variants() -> Vec<Pn2Options> {
        let small = |pns, minimum| Pn2Options {
            pns,
            budget: Pn2Budget::Logistic { inflection: 40.0, slope: 10.0, minimum },
            virtual_loss_64: 8,
            cancel_jobs: true,
        };
        vec![
            THESIS,
            Pn2Options { pns: RICH, ..THESIS },
            Pn2Options { budget: Pn2Budget::Size, ..THESIS },
            small(PnsOptions::PLAIN, 0),
            small(PnsOptions::PLAIN, 8),
            small(RICH, 8),
        ]
    }

    #[test]
    fn random_games_have_the_value_of_negamax() {
        let mut large_first_levels = 0;
        for seed in 0..60 {
            let game = random_game(seed);
            let mut oracle = Negamax::new(&game);
            let value = oracle.value(0);
            for options in variants() {
                let table = Table::new(1 << 14).unwrap();
                let root = Root::new(&game, 0, &table);
                let report = pn2(root, 1 << 20, options, Limits::default(), &mut ()).unwrap();
                assert_eq!(report.outcome, Outcome::Known(value), "seed {seed}, {options:?}");
                if value == Value::Win {
                    let best = report.best.expect("a won root has a lost child");
                    assert_eq!(oracle.value(best), Value::Loss, "seed {seed}, {options:?}");
                }
                let counters = report.counters;
                assert_eq!(counters.nodes, counters.first_level + counters.second_level);
                large_first_levels += u32::from(counters.first_level > 10);
            }
        }
        assert!(large_first_levels > 10, "{large_first_levels}");
    }

    #[test]
    fn the_budget_is_logistic() {
        let budget = Pn2Budget::Logistic { inflection: 1000.0, slope: 100.0, minimum: 50 };
        assert_eq!([1, 500, 1000, 3000].map(|nodes| budget.of(nodes)), [50, 50, 500, 2999]);
        assert_eq!(Pn2Budget::Size.of(3000), 3000);
    }

    #[test]
    fn texts_of_budgets_are_read_back() {
        for text in ["size", "logistic:150000,30000,100", "logistic:1.5,0.25,0"] {
            assert_eq!(text.parse::<Pn2Budget>().expect("a budget").to_string(), text);
        }
        let invalid = ["", "logistic", "logistic:1,2", "logistic:1,0,3", "logistic:1,2,3,4"];
        for text in invalid.into_iter().chain([
            "logistic:-1,1,1",
            "logistic:0,1,1",
            "logistic:inf,2,3",
            "logistic:1,NaN,3",
            "logistic:1,2,-3",
        ]) {
            assert!(text.parse::<Pn2Budget>().is_err(), "{text}");
        }
    }

    #[test]
    fn second_level_searches_keep_to_their_budgets() {
        let game = large_game();
        let widest = 12 + 21 + 25;
        for pns in [PnsOptions::PLAIN, RICH] {
            for budget in [0, 1, 10, 100, 400] {
                let table = Table::new(1 << 18).unwrap();
                let arena = Arena::new(1 << 20).unwrap();
                let mut observer = ();
                let monitor = SearchMonitor::new(Limits::default(), &mut observer);
                let mut evaluator = Evaluator::new(&game, &table, monitor, pns.evaluation());
                let mut second = SecondLevel::new(arena, pns);
                second.search(&Vec::new, &mut evaluator, 0, budget, |_| false);
                let max = budget.max(1) + widest;
                assert!(evaluator.monitor.counters.nodes <= max);
                assert!(second.tree.created <= max + 1);
                assert!(second.tree.value.is_none());
                assert!(second.tree.created > budget, "the search does not end early");
            }
        }
    }

    #[test]
    fn limits_stop_the_search_and_are_reported() {
        let game = large_game();
        let run = |bytes, limits| {
            let table = Table::new(1 << 14).unwrap();
            let root = Root::new(&game, 0, &table);
            let report = pn2(root, bytes, THESIS, limits, &mut ()).unwrap();
            assert!(report.memory_bytes <= (table.bytes() + bytes) as u64);
            report.outcome
        };
        for nodes in [0, 1, 50, 3000] {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            assert_eq!(run(1 << 20, limits), Outcome::Unknown(Reason::NodeLimit));
        }
        for bytes in [128, 200, 1000] {
            assert_eq!(run(bytes, Limits::default()), Outcome::Unknown(Reason::Memory));
        }
        let stop = AtomicBool::new(true);
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        assert_eq!(run(1 << 20, limits), Outcome::Unknown(Reason::Interrupted));
    }
}
