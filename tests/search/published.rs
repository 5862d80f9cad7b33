//! Compares PNS and df-pn with plain parameters with the algorithms of the thesis (section 2). These are written here
//! as published: with proof and disproof numbers at OR and AND nodes, and without NAND form, table, path and child
//! stack.
//!
//! The games are trees with random leaf estimates, which are rarely equal. If two children of a node are equally
//! good, the thesis does not say which one is selected, so games in which this happens are not compared. On boards, the
//! counts of an independent implementation that selects as this program does are compared.
//!
//! Algorithm 3 as printed has no loop at a node: SEARCH searches one child and returns. It is read as a loop that ends
//! when a threshold is reached, which section 2.4 describes.

use std::sync::Mutex;

use konane::game::Konane;
use konane::search::dfpn::{DfpnOptions, dfpn};
use konane::search::numbers::Epsilon;
use konane::search::plain::Root;
use konane::search::plain::game::Game;
use konane::search::pn2::pn2;
use konane::search::pns::{PnsOptions, pns};
use konane::search::run::{Limits, Report};
use konane::search::table::Table;
use konane::search::testing::graph::{GraphGame, Hooked};
use konane::{Position, Profile, Symmetry, Value};

use super::algorithms::Random;
use super::plain_konane::board;

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

    /// The node of the tree with this state.
    fn find(&self, state: u64) -> Option<&Node> {
        if self.state == state {
            return Some(self);
        }
        self.children.iter().find_map(|child| child.find(state))
    }

    /// States of the leaves below the node that are below no solved node.
    fn open_leaves(&self) -> Vec<u64> {
        match self.children[..] {
            _ if self.is_solved() => Vec::new(),
            [] => vec![self.state],
            _ => self.children.iter().flat_map(Node::open_leaves).collect(),
        }
    }

    /// Returns true if the node has the value `value` once all `leaves` have this value.
    fn has_value_with(&self, value: Value, leaves: &[u64]) -> bool {
        let number = if value == Value::Win { self.pn } else { self.dn };
        let mut children = self.children.iter();
        let has_value = |child: &Node| child.has_value_with(value, leaves);
        match self.children[..] {
            _ if self.is_solved() => number == 0.0,
            [] => leaves.contains(&self.state),
            _ if self.is_or == (value == Value::Win) => children.any(has_value),
            _ => children.all(has_value),
        }
    }

    /// All smallest sets of open leaves whose win proves the node, or whose loss disproves it.
    fn smallest_sets(&self, value: Value) -> Vec<Vec<u64>> {
        let leaves = self.open_leaves();
        let subsets = (0..1u32 << leaves.len()).map(|subset| {
            let in_subset = leaves.iter().enumerate().filter(|&(bit, _)| subset >> bit & 1 == 1);
            in_subset.map(|(_, &leaf)| leaf).collect()
        });
        let mut sets: Vec<Vec<u64>> =
            subsets.filter(|subset: &Vec<u64>| self.has_value_with(value, subset)).collect();
        let least = sets.iter().map(Vec::len).min();
        sets.retain(|set| Some(set.len()) == least);
        sets
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

    /// Expands the node with this state, below `node`. Returns false if there is none.
    fn expand_state(&mut self, node: &mut Node, state: u64) -> bool {
        if node.state == state {
            self.expand(node);
            return true;
        }
        let is_below = node.children.iter_mut().any(|child| self.expand_state(child, state));
        if is_below {
            back_up(node);
        }
        is_below
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
            let (root, limits) = (Root::new(game, 0, table), Limits::default());
            pns(root, 1 << 20, PnsOptions::PLAIN, limits, &mut ()).expect("memory")
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

/// Node counts of the profile `thesis` on small boards are those of an independent implementation, if the table keeps
/// every entry.
#[test]
fn counts_of_boards_are_those_of_an_independent_implementation() {
    let table = include_str!("../data/konane_counts_independent.csv");
    let rows = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut compared = 0;
    for row in rows {
        let columns: Vec<&str> = row.split(',').collect();
        let symmetry = Symmetry::ALL.into_iter().find(|s| s.name() == columns[1]).expect(row);
        let counts: Vec<u64> = columns[2..].iter().map(|count| count.parse().expect(row)).collect();
        let board = board(columns[0]).with_symmetry(symmetry).expect(row);
        let (game, start) =
            (Konane::new(&board, Profile::Thesis.estimate()), Position::start(&board));
        let root = start.code(&board);
        // A table of 64 MiB begins with 64 KiB. It grows before the search begins if `entries` need more.
        let table = |entries| {
            let table = Table::new(64 << 20).expect("memory");
            table.reserve(entries, 1, |code| game.key(code));
            table
        };
        const TREE: usize = 16 << 20;
        let search_pns = || {
            let (table, options) = (table(100_000), Profile::Thesis.pns());
            let root = Root::new(&game, root, &table);
            pns(root, TREE, options, Limits::default(), &mut ()).expect("memory")
        };
        let search_pn2 = || {
            let (table, options) = (table(100_000), Profile::Thesis.pn2());
            let root = Root::new(&game, root, &table);
            pn2(root, TREE, options, Limits::default(), &mut ()).expect("memory")
        };
        let search_dfpn = |entries| {
            let (table, options) = (table(entries), Profile::Thesis.dfpn());
            let counters =
                dfpn(Root::new(&game, root, &table), options, Limits::default(), &mut ()).counters;
            (counters.nodes, counters.expansions)
        };
        let pn2 = search_pn2().counters;
        assert_eq!(search_pns().counters.nodes, counts[0], "{row}");
        assert_eq!([pn2.first_level, pn2.second_level], counts[1..3], "{row}");
        assert_eq!(search_dfpn(100_000), (counts[3], counts[4]), "{row}");
        // A table that grows during the search replaces some entries on 5x5 without symmetries. The program with its
        // default memory visits 8745 nodes there, in 9040 expansions.
        let keeps_entries = !row.starts_with("5x5,none");
        assert_eq!(search_dfpn(0) == (counts[3], counts[4]), keeps_entries, "{row}");
        compared += 1;
    }
    assert_eq!(compared, 12);
}

/// The states that PNS with the published parameters expands, in this order, and its report.
fn expanded_by_pns(game: &GraphGame, limits: Limits<'_>) -> (Vec<u64>, Report) {
    let expanded = Mutex::new(Vec::new());
    let game = Hooked::new(game, |state| expanded.lock().expect("one thread").push(state));
    let table = Table::new(1 << 20).expect("memory");
    let root = Root::new(&game, 0, &table);
    let report = pns(root, 1 << 20, PnsOptions::PLAIN, limits, &mut ()).expect("memory");
    let mut expanded = expanded.into_inner().expect("one thread");
    // All children of a node that wins at once are evaluated in a second expansion.
    expanded.dedup();
    (expanded, report)
}

/// The sample tree of Allis's thesis, as far as its description in the Chess Programming Wiki determines it: A is the
/// root, nodes are named in the order of their depths, A has three children and the other inner nodes two. A, C are OR
/// nodes, B, D, G, H, J are AND nodes, K is won, O is lost, and the others are leaves.
///
/// In a [`GraphGame`] the player changes at every move. C' and J' are moves between two nodes of the same type; K' and
/// the moves below the leaves make K won and keep the leaves open.
#[test]
fn sample_tree_of_allis_has_its_numbers_and_its_most_proving_node() {
    const NAMES: [&str; 19] = [
        "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "C'", "J'",
        "K'",
    ];
    let state = |name| NAMES.iter().position(|&other| other == name).expect("a name") as u32;
    let inner = [
        ("A", ["D", "B", "C'"].as_slice()),
        ("D", &["I", "J'"]),
        ("B", &["E", "F"]),
        ("C'", &["C"]),
        ("C", &["G", "H"]),
        ("G", &["K", "L"]),
        ("H", &["M", "N"]),
        ("J'", &["J"]),
        ("J", &["O", "P"]),
        ("K", &["K'"]),
    ];
    let leaves = ["E", "F", "I", "L", "M", "N", "P"];
    let children = |&(parent, children): &(&'static str, &'static [&'static str])| {
        children.iter().map(move |&child| (state(parent), state(child)))
    };
    let mut edges: Vec<(u32, u32)> = inner.iter().flat_map(children).collect();
    // Three moves below each leaf, so that no leaf is solved by its expansion.
    let mut nodes = NAMES.len() as u32;
    for leaf in leaves {
        edges.extend([(state(leaf), nodes), (nodes, nodes + 1), (nodes + 1, nodes + 2)]);
        nodes += 3;
    }
    let game = GraphGame::new(nodes, &edges).expect("a tree");

    let estimates = vec![(1, 1); nodes as usize];
    let mut reference = Published { game: &game, estimates: &estimates, nodes: 0, expansions: 0 };
    let mut root = reference.evaluate(0, true);
    for (name, _) in inner {
        assert!(reference.expand_state(&mut root, state(name).into()), "{name}");
    }
    let expected = [
        ("A", 1.0, 3.0),
        ("B", 2.0, 1.0),
        ("C", 1.0, 2.0),
        ("D", INFINITE, 0.0),
        ("G", 1.0, 1.0),
        ("H", 2.0, 1.0),
        ("J", INFINITE, 0.0),
        ("K", 0.0, INFINITE),
        ("O", INFINITE, 0.0),
    ];
    let expected = expected.into_iter().chain(leaves.map(|name| (name, 1.0, 1.0)));
    for (name, pn, dn) in expected {
        let node = root.find(state(name).into()).expect("a node of the tree");
        assert_eq!((node.pn, node.dn), (pn, dn), "{name}");
    }

    // With estimates of 100 at the leaves only, PNS expands the inner nodes first. With 2 at K, it prefers D to G.
    let mut estimates = estimates.clone();
    estimates[state("K") as usize] = (2, 1);
    for leaf in leaves {
        estimates[state(leaf) as usize] = (100, 100);
    }
    let game = game.clone().with_estimates(estimates).expect("estimates");
    let limits = Limits { nodes: Some(NAMES.len() as u64), ..Limits::default() };
    let (expanded, report) = expanded_by_pns(&game, limits);
    assert_eq!((expanded.len(), report.phi, report.delta), (inner.len(), 100, 300));
    let (expanded, _) = expanded_by_pns(&game, Limits::default());
    assert_eq!(expanded[inner.len()], u64::from(state("L")));
}

/// Every smallest proof set and every smallest disproof set of a tree have exactly one leaf in common, and the leaf that
/// PNS expands is such a leaf (Allis 1994). The sets are found by trying all sets of leaves.
#[test]
fn pns_expands_the_common_leaf_of_a_proof_set_and_a_disproof_set() {
    let mut compared = 0;
    for seed in 0..200 {
        let (game, estimates) = random_tree(seed, 40);
        let estimates = vec![(1, 1); estimates.len()];
        let (expanded, _) = expanded_by_pns(&game, Limits::default());
        let mut reference =
            Published { game: &game, estimates: &estimates, nodes: 0, expansions: 0 };
        let mut root = reference.evaluate(0, true);
        for state in expanded {
            if root.open_leaves().len() > 10 {
                break;
            }
            let [proofs, disproofs] =
                [Value::Win, Value::Loss].map(|value| root.smallest_sets(value));
            assert_eq!((proofs[0].len() as f64, disproofs[0].len() as f64), (root.pn, root.dn));
            let mut common = Vec::new();
            for proof in &proofs {
                for disproof in &disproofs {
                    let both: Vec<_> =
                        proof.iter().filter(|leaf| disproof.contains(leaf)).collect();
                    assert_eq!(both.len(), 1, "tree {seed}");
                    common.push(*both[0]);
                }
            }
            assert!(common.contains(&state), "tree {seed}: {state} is not in {common:?}");
            assert!(reference.expand_state(&mut root, state));
            compared += 1;
        }
    }
    assert!(compared > 300, "only {compared} expansions");
}
