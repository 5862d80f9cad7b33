//! Compares PNS and df-pn with plain parameters with the algorithms of the thesis (section 2). These are written here
//! as published: with proof and disproof numbers at OR and AND nodes, and without NAND form, table, path and child
//! stack.
//!
//! The games are trees with random leaf estimates, which are rarely equal. If two children of a node are equally
//! good, the thesis does not say which one is selected, so games in which this happens are not compared.

use konane::Value;
use konane::search::dfpn::{DfpnOptions, dfpn};
use konane::search::numbers::Epsilon;
use konane::search::plain::Root;
use konane::search::pns::{PnsOptions, pns};
use konane::search::run::{Limits, Report};
use konane::search::snapshot::{SavedTree, TreeSnapshots};
use konane::search::table::Table;
use konane::search::testing::graph::GraphGame;

use super::algorithms::Random;

const INFINITE: f64 = f64::INFINITY;

/// A node of the published tree. The root is an OR node.
struct Node {
    state: u64,
    is_or: bool,
    pn: f64,
    dn: f64,
    children: Vec<Node>,
}

impl Node {
    fn is_solved(&self) -> bool {
        self.pn == 0.0 || self.dn == 0.0
    }

    /// The number that decides between the children of an OR node or of an AND node.
    fn number(&self, parent_is_or: bool) -> f64 {
        if parent_is_or { self.pn } else { self.dn }
    }
}

/// Two children of a node were equally good.
struct Tie;

struct Published<'a> {
    game: &'a GraphGame,
    estimates: &'a [(u32, u32)],
    nodes: u64,
    expansions: u64,
}

impl Published<'_> {
    /// Creates a node and evaluates it: a position without moves is lost for its player; for others, the estimate is
    /// (phi, delta) for its player.
    fn evaluate(&mut self, state: u64, is_or: bool) -> Node {
        self.nodes += 1;
        let (phi, delta) = match self.game.successors(state) {
            [] => (INFINITE, 0.0),
            _ => {
                let (phi, delta) = self.estimates[state as usize];
                (f64::from(phi), f64::from(delta))
            }
        };
        let (pn, dn) = if is_or { (phi, delta) } else { (delta, phi) };
        Node { state, is_or, pn, dn, children: Vec::new() }
    }

    fn expand(&mut self, node: &mut Node) {
        let successors = self.game.successors(node.state).to_vec();
        let is_or = !node.is_or;
        node.children =
            successors.into_iter().map(|state| self.evaluate(state.into(), is_or)).collect();
        back_up(node);
    }

    /// Algorithm 1: expands the most-proving node below `node`.
    fn expand_most_proving(&mut self, node: &mut Node) -> Result<(), Tie> {
        if node.children.is_empty() {
            self.expansions += 1;
            self.expand(node);
        } else {
            let (best, _) = two_best(node)?;
            self.expand_most_proving(&mut node.children[best])?;
            back_up(node);
        }
        Ok(())
    }

    /// Algorithm 3 with equations 2.1 to 2.5. Every visit counts as an expansion: the search that is compared does not
    /// keep the children of a node.
    fn search(&mut self, node: &mut Node, pt: f64, dt: f64, epsilon: f64) -> Result<(), Tie> {
        self.expansions += 1;
        if node.children.is_empty() {
            self.expand(node);
        }
        while !node.is_solved() && node.pn < pt && node.dn < dt {
            let (best, second) = two_best(node)?;
            let (pn, dn, is_or) = (node.pn, node.dn, node.is_or);
            let child = &mut node.children[best];
            let (child_pt, child_dt) = if is_or {
                let relaxed = (second * (1.0 + epsilon)).ceil().max(second + 1.0);
                (pt.min(relaxed), dt - dn + child.dn)
            } else {
                (pt - pn + child.pn, dt.min(second + 1.0))
            };
            self.search(child, child_pt, child_dt, epsilon)?;
            back_up(node);
        }
        Ok(())
    }
}

fn back_up(node: &mut Node) {
    let least =
        |number: fn(&Node) -> f64| node.children.iter().map(number).fold(INFINITE, f64::min);
    let sum = |number: fn(&Node) -> f64| node.children.iter().map(number).sum();
    (node.pn, node.dn) = if node.is_or {
        (least(|child| child.pn), sum(|child| child.dn))
    } else {
        (sum(|child| child.pn), least(|child| child.dn))
    };
}

/// The child with the least number, and the least number of the others.
fn two_best(node: &Node) -> Result<(usize, f64), Tie> {
    let numbers: Vec<f64> = node.children.iter().map(|child| child.number(node.is_or)).collect();
    let best = (0..numbers.len()).min_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    let best = best.expect("a child");
    let others = numbers.iter().enumerate().filter(|&(index, _)| index != best);
    let second = others.map(|(_, &number)| number).fold(INFINITE, f64::min);
    if second == numbers[best] { Err(Tie) } else { Ok((best, second)) }
}

/// A random tree of `nodes` nodes, and a random estimate for each node.
fn random_tree(seed: u64, nodes: u32) -> (GraphGame, Vec<(u32, u32)>) {
    let mut random = Random(seed);
    let edges: Vec<(u32, u32)> = (1..nodes)
        .map(|node| (random.below(u64::from(node).min(40)) as u32 + node - node.min(40), node))
        .collect();
    let estimates = (0..nodes)
        .map(|_| (1 + random.below(5000) as u32, 1 + random.below(5000) as u32))
        .collect();
    (GraphGame::new(nodes, &edges).expect("a tree"), estimates)
}

/// Compares a search with a published one on many trees. `published` searches the root until it is solved.
fn compare(
    published: impl Fn(&mut Published<'_>, &mut Node) -> Result<(), Tie>,
    search: impl Fn(&GraphGame, &Table) -> Report,
) {
    let mut compared = 0;
    for seed in 0..300 {
        let (game, estimates) = random_tree(seed, 30 + seed as u32 * 3);
        let mut reference =
            Published { game: &game, estimates: &estimates, nodes: 0, expansions: 0 };
        let mut root = reference.evaluate(0, true);
        if published(&mut reference, &mut root).is_err() {
            continue;
        }
        let expected = if root.pn == 0.0 { Value::Win } else { Value::Loss };
        let game = game.clone().with_estimates(estimates.clone()).expect("estimates");
        let report = search(&game, &Table::new(1 << 20).expect("memory"));
        assert_eq!(report.outcome.value(), Some(expected), "tree {seed}");
        let found = (report.counters.nodes, report.counters.expansions);
        assert_eq!(found, (reference.nodes, reference.expansions), "tree {seed}");
        compared += 1;
    }
    assert!(compared > 100, "only {compared} trees without ties");
}

#[test]
fn pns_is_algorithm_1_of_the_thesis() {
    compare(
        |reference, root| {
            while !root.is_solved() {
                reference.expand_most_proving(root)?;
            }
            Ok(())
        },
        |game, table| {
            let options = PnsOptions::PLAIN;
            let tree = SavedTree::empty(options.tree_capacity(1 << 20)).expect("memory");
            let root = Root::new(game, 0, table);
            pns(root, tree, options, Limits::default(), &mut (), &TreeSnapshots::new())
        },
    );
}

#[test]
fn dfpn_is_algorithm_3_of_the_thesis() {
    for epsilon in [0.0, 0.15] {
        compare(
            |reference, root| reference.search(root, INFINITE, INFINITE, epsilon),
            |game, table| {
                let options = DfpnOptions {
                    epsilon: Epsilon::new(epsilon),
                    epsilon_at_or_nodes: true,
                    ..DfpnOptions::PLAIN
                };
                dfpn(Root::new(game, 0, table), options, Limits::default(), &mut ())
            },
        );
    }
}
