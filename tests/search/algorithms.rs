//! All algorithms with the same signature, their parameters, the comparison with negamax, and random games.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use konane::Profile;
use konane::Value;
use konane::search::LeafSolverOptions;
use konane::search::alphabeta::{AlphaBetaOptions, ScoreTable, alphabeta};
use konane::search::dfpn::{DfpnOptions, VirtualLoss, dfpn, dfpn_parallel};
use konane::search::numbers::{Combination, Epsilon};
use konane::search::plain::Root;
use konane::search::plain::game::{Expansion, Game};
use konane::search::pn2::{Pn2Budget, Pn2Options, pn2, pn2_parallel};
use konane::search::pns::{PnsOptions, pns};
use konane::search::run::{Limits, Observer, Outcome, Report};
use konane::search::table::Table;
use konane::search::testing::graph::GraphGame;
use konane::search::testing::negamax::Negamax;
pub use konane::search::testing::random::Random;

/// Parameters of all algorithms; each algorithm uses some of them.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    profile: Profile,
    table_bytes: usize,
    pub tree_bytes: usize,
    combination: Combination,
    epsilon: Epsilon,
    leaf_solver: LeafSolverOptions,
    max_attempts: u32,
    step: u32,
    pn2_budget: Pn2Budget,
    pub virtual_loss: VirtualLoss,
    /// For [`parallel_algorithms`].
    pub threads: NonZeroUsize,
}

/// Node limit that suffices for every search with a table of reasonable size.
pub const ENOUGH_NODES: u64 = 300_000;

/// Bytes that suffice for the trees of nearly all searches.
const TREE_BYTES: usize = 16 << 20;

impl Setting {
    pub fn of(profile: Profile, table_bytes: usize) -> Self {
        let options = profile.dfpn();
        Setting {
            profile,
            table_bytes,
            tree_bytes: TREE_BYTES,
            combination: options.combination,
            epsilon: options.epsilon,
            leaf_solver: options.leaf_solver,
            max_attempts: options.max_attempts,
            step: profile.alphabeta().step,
            pn2_budget: profile.pn2().budget,
            virtual_loss: options.virtual_loss,
            threads: NonZeroUsize::MIN,
        }
    }

    /// One of the two profiles, with random numbers for the most important parameters.
    pub fn random(random: &mut Random, table_bytes: usize) -> Self {
        let has_leaf_solver = random.below(2) == 0;
        Setting {
            profile: random.pick(&[Profile::Tuned, Profile::Thesis]),
            combination: match random.below(4) {
                0 => Combination::WEAK,
                _ => Combination::mixed(random.below(65) as u32),
            },
            epsilon: Epsilon::new(random.below(513) as f64 / 1024.0),
            leaf_solver: LeafSolverOptions {
                budget: if has_leaf_solver { 1 + random.below(80) as u32 } else { 0 },
                effort: random.below(12) as u32,
            },
            max_attempts: random.pick(&[0, 1, 2, u32::MAX]),
            step: random.pick(&[1, 1, 2, 3, 64]),
            pn2_budget: match random.below(4) {
                0 => Pn2Budget::Size,
                _ => Pn2Budget::Logistic {
                    inflection: 150_000.0,
                    slope: 30_000.0,
                    minimum: random.pick(&[1, 3, 100]),
                },
            },
            ..Setting::of(Profile::Tuned, table_bytes)
        }
    }

    fn table(self) -> Table {
        Table::new(self.table_bytes).unwrap()
    }

    // The other parameters are those of the profile.

    pub fn dfpn(self) -> DfpnOptions {
        let mut options = self.profile.dfpn();
        options.combination = self.combination;
        options.epsilon = self.epsilon;
        options.leaf_solver = self.leaf_solver;
        options.max_attempts = self.max_attempts;
        options.virtual_loss = self.virtual_loss;
        options
    }

    fn pns(self) -> PnsOptions {
        let mut options = self.profile.pns();
        options.combination = self.combination;
        options.leaf_solver = self.leaf_solver;
        options
    }

    fn pn2(self) -> Pn2Options {
        let mut options = self.profile.pn2();
        options.pns = self.pns();
        options.budget = self.pn2_budget;
        options
    }

    fn alphabeta(self) -> AlphaBetaOptions {
        let mut options = self.profile.alphabeta();
        options.step = self.step;
        options.leaf_solver = self.leaf_solver;
        options
    }
}

pub type Run<G> = fn(&G, u64, Setting, Limits<'_>, &mut dyn Observer) -> Report;

/// All algorithms by name.
pub fn algorithms<G: Game>() -> Vec<(&'static str, Run<G>)> {
    vec![
        ("PNS", |game, root, setting, limits, observer| {
            let (table, tree) = (setting.table(), setting.tree_bytes);
            let root = Root::new(game, root, &table);
            pns(root, tree, setting.pns(), limits, observer).unwrap()
        }),
        ("PN²", |game, root, setting, limits, observer| {
            let (table, tree) = (setting.table(), setting.tree_bytes);
            let root = Root::new(game, root, &table);
            pn2(root, tree, setting.pn2(), limits, observer).unwrap()
        }),
        ("df-pn", |game, root, setting, limits, observer| {
            dfpn(Root::new(game, root, &setting.table()), setting.dfpn(), limits, observer)
        }),
        ("alpha-beta", |game, root, setting, limits, observer| {
            let table = ScoreTable::new(setting.table_bytes).unwrap();
            alphabeta(game, root, &table, setting.alphabeta(), limits, observer)
        }),
    ]
}

/// The algorithms that can search on several threads, by name.
pub fn parallel_algorithms<G: Game>() -> Vec<(&'static str, Run<G>)> {
    vec![
        ("df-pn on threads", |game, root, setting, limits, observer| {
            let (table, threads) = (setting.table(), setting.threads);
            dfpn_parallel(Root::new(game, root, &table), setting.dfpn(), threads, limits, observer)
        }),
        ("PN² on threads", |game, root, setting, limits, observer| {
            let (table, tree) = (setting.table(), setting.tree_bytes);
            let (options, threads) = (setting.pn2(), setting.threads);
            let root = Root::new(game, root, &table);
            pn2_parallel(root, tree, options, threads, limits, observer).unwrap()
        }),
    ]
}

/// Runs every algorithm and compares the outcome with negamax. Returns the number of known outcomes.
pub fn check<G: Game>(
    game: &G,
    root: u64,
    oracle: &mut Negamax<'_, G>,
    setting: Setting,
    limits: Limits<'_>,
    context: &dyn Fn() -> String,
) -> usize {
    check_these(algorithms(), game, root, oracle, setting, limits, context)
}

/// [`check`] of some algorithms.
pub fn check_these<G: Game>(
    algorithms: Vec<(&'static str, Run<G>)>,
    game: &G,
    root: u64,
    oracle: &mut Negamax<'_, G>,
    setting: Setting,
    limits: Limits<'_>,
    context: &dyn Fn() -> String,
) -> usize {
    let expected = oracle.value(root);
    let mut known = 0;
    for (name, run) in algorithms {
        let report = run(game, root, setting, limits, &mut ());
        let context = || format!("{name} {} {setting:?}: {report:?}", context());
        match report.outcome {
            Outcome::Known(value) => {
                assert_eq!(value, expected, "{}", context());
                known += 1;
                if value == Value::Win {
                    let best = report.best.unwrap_or_else(|| panic!("{}", context()));
                    assert_eq!(oracle.value(best), Value::Loss, "{}", context());
                    assert!(is_child(game, root, best), "{}", context());
                }
            }
            Outcome::Unknown(_) => {
                // A tree has a node for every path to a position, so it may exceed any memory and any time.
                let limited = if name.starts_with("PN") {
                    limits.nodes.is_some()
                        || limits.deadline.is_some()
                        || report.memory_bytes >= (setting.tree_bytes / 2) as u64
                } else {
                    limits.deadline.is_some() || limits.nodes.is_some_and(|n| n < ENOUGH_NODES)
                };
                assert!(limited, "no limit was reached: {}", context());
                assert!(report.phi != 0 && report.delta != 0, "{}", context());
            }
        }
    }
    known
}

fn is_child<G: Game>(game: &G, parent: u64, code: u64) -> bool {
    let mut children = Vec::new();
    match game.expand(parent, &mut G::Scratch::default(), &mut children, |_| {}) {
        Expansion::Lost => false,
        Expansion::Won(child) => child == code,
        Expansion::Open => children.iter().any(|child| child.code == code),
    }
}

/// Bytes of a table for nearly all positions of a game.
pub const LARGE_TABLE: usize = 1 << 16;

/// Limits of a search with a table that replaces nearly all entries. Such a search may count few new nodes and not
/// end, so there is also a deadline.
pub fn small_table_limits() -> Limits<'static> {
    Limits {
        nodes: Some(20_000),
        deadline: Some(Instant::now() + Duration::from_millis(50)),
        ..Limits::default()
    }
}

/// `number` thousand cases, or a tenth of that in unoptimised builds.
pub fn thousands(number: u64) -> u64 {
    number * if cfg!(debug_assertions) { 100 } else { 1000 }
}

/// A random game of one of several shapes, by its number.
pub fn random_graph(number: u64) -> GraphGame {
    let mut random = Random(number);
    let (nodes, degree) = match number % 5 {
        0 => (1 + random.below(12), random.below(4)), // tiny, often degenerate
        1 => (60 + random.below(100), 2),             // long and narrow
        2 => (50 + random.below(300), 3 + random.below(4)),
        3 => (200 + random.below(400), 10 + random.below(10)), // wide, many transpositions
        _ => (30 + random.below(60), 1),                       // chains
    };
    let game = GraphGame::random(number, nodes as u32, degree as u32)
        .with_immediate_wins(random.below(3) > 0);
    let most = random.pick(&[1, 3, 30, 100_000, u32::MAX]);
    game.with_random_estimates(number, most)
}
