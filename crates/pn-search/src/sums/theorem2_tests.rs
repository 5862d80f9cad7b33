//! Test of Theorem 2 of Čížek, Balko and Schmid: the most-proving node is below a node of the
//! current path exactly if the numbers of this path node are within its thresholds.
//!
//! The whole tree is in memory. There is no table, there are no stored Grundy numbers, and no transpositions. Proof and
//! disproof numbers are computed from their definition after every step. For every node of the path, the test computes
//! [`Thresholds`] and the paper's own thresholds (pt, dt and mt with ps and ds: equations (10) to (12) of the full
//! version). The numbers of the node must be within the thresholds exactly if the most-proving node is below the node,
//! with both formulas for the numbers of a sum: over all parts, or over all but the last
//! ([`super::SearchOptions::sum_of_all_parts`]). The paper's thresholds are tested only for delta as a sum, as in the
//! paper.

use proptest::prelude::*;

use super::game::{Atom, Impartial, OptionList};
use super::store::cancel_pairs;
use crate::numbers::{Combination, Epsilon, INFINITY, Number, Pair};
use crate::testing::impartial_games::Declared;
use crate::thresholds::{Others, Thresholds};

/// A node of the tree. The paper also has Grundy nodes, for the Grundy number of an atom. Here, the *current couple* of
/// the atom represents this node: the couple with the least nimber that is not excluded yet.
enum Node {
    /// A sum of no atoms: won if the heap is not empty.
    Heap(u32),
    Couple {
        atom: Atom,
        nimber: u32,
        children: Option<Vec<usize>>,
    },
    /// A sum of at least two atoms.
    Sum {
        nimber: u32,
        /// The Grundy numbers of all parts but the last are computed.
        parts: Vec<Part>,
        /// Couple of the last part. It exists once the Grundy numbers of all other parts are known.
        last_couple: Option<usize>,
    },
}

struct Part {
    atom: Atom,
    /// Couples of the atom with nim heaps 0, 1, ...; the last one is the current couple.
    couples: Vec<usize>,
    grundy: Option<u32>,
}

struct Tree<'g> {
    game: &'g Declared,
    combination: Combination,
    sum_of_all_parts: bool,
    nodes: Vec<Node>,
}

impl Tree<'_> {
    fn add(&mut self, atoms: &[Atom], nimber: u32) -> usize {
        let mut atoms = atoms.to_vec();
        cancel_pairs(&mut atoms, |atom| self.game.features(atom).lives);
        let node = match atoms[..] {
            [] => Node::Heap(nimber),
            [atom] => Node::Couple { atom, nimber, children: None },
            _ => {
                let part = |&atom| {
                    let couple = self.add(&[atom], 0);
                    Part { atom, couples: vec![couple], grundy: None }
                };
                let parts = atoms.iter().map(part).collect();
                Node::Sum { nimber, parts, last_couple: None }
            }
        };
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Returns pn and dn of a node, computed from their definition.
    fn numbers(&self, node: usize) -> (Number, Number) {
        match &self.nodes[node] {
            Node::Heap(0) => (INFINITY, 0),
            Node::Heap(_) => (0, INFINITY),
            Node::Couple { children: None, .. } => (1, 1),
            Node::Couple { children: Some(children), .. } => {
                let numbers: Vec<_> = children.iter().map(|&child| self.numbers(child)).collect();
                let phi = numbers.iter().map(|&(_, delta)| delta).min().unwrap_or(INFINITY);
                let max = numbers.iter().map(|&(phi, _)| phi).max().unwrap_or(0);
                let sum = numbers.iter().map(|&(phi, _)| u64::from(phi)).sum();
                match phi {
                    0 => (0, INFINITY),
                    _ => (phi, self.combination.combine(max, sum, numbers.len())),
                }
            }
            Node::Sum { last_couple: Some(couple), .. } => self.numbers(*couple),
            Node::Sum { parts, .. } => {
                let counted = parts.len() - usize::from(!self.sum_of_all_parts);
                let open = parts[..counted].iter().filter(|part| part.grundy.is_none());
                let number = open.map(|part| self.least(*part.couples.last().unwrap())).sum();
                (number, number)
            }
        }
    }

    fn least(&self, node: usize) -> Number {
        let (phi, delta) = self.numbers(node);
        phi.min(delta)
    }

    /// Returns the selected child of a node, or `None` for a leaf.
    fn selected(&self, node: usize) -> Option<usize> {
        match &self.nodes[node] {
            Node::Heap(_) => None,
            Node::Couple { children, .. } => {
                children.as_ref()?.iter().copied().min_by_key(|&child| self.numbers(child).1)
            }
            Node::Sum { parts, last_couple, .. } => last_couple.or_else(|| {
                let part = parts.iter().find(|part| part.grundy.is_none())?;
                part.couples.last().copied()
            }),
        }
    }

    fn expand(&mut self, leaf: usize) {
        let Node::Couple { atom, nimber, children: None } = self.nodes[leaf] else {
            panic!("only open couples are leaves");
        };
        let mut options = OptionList::default();
        self.game.options(atom, &mut (), &mut options).unwrap();
        let mut children: Vec<usize> = Vec::new();
        for option in options.iter() {
            children.push(self.add(option, nimber));
        }
        children.extend((0..nimber).map(|smaller| self.add(&[atom], smaller)));
        self.nodes[leaf] = Node::Couple { atom, nimber, children: Some(children) };
    }

    /// Updates the sums of a path from its end upwards: a lost couple of a part determines the Grundy number, and a won
    /// couple is replaced by the next one.
    fn update_sums(&mut self, path: &[usize]) {
        for &node in path.iter().rev() {
            while let Node::Sum { parts, last_couple: None, .. } = &self.nodes[node] {
                let open = parts.iter().position(|part| part.grundy.is_none());
                let open = open.expect("the Grundy number of the last part is not computed");
                if open + 1 == parts.len() {
                    self.add_last_couple(node);
                    break;
                }
                let part = &parts[open];
                let (atom, next) = (part.atom, part.couples.len() as u32);
                match self.numbers(*part.couples.last().unwrap()) {
                    (_, 0) => self.parts(node)[open].grundy = Some(next - 1),
                    (0, _) => {
                        let couple = self.add(&[atom], next);
                        self.parts(node)[open].couples.push(couple);
                    }
                    _ => break,
                }
            }
        }
    }

    fn parts(&mut self, node: usize) -> &mut Vec<Part> {
        match &mut self.nodes[node] {
            Node::Sum { parts, .. } => parts,
            _ => panic!("a couple has no parts"),
        }
    }

    /// Adds the couple of the last atom of a sum.
    fn add_last_couple(&mut self, node: usize) {
        let Node::Sum { nimber, parts, .. } = &self.nodes[node] else { return };
        let grundy = parts.iter().filter_map(|part| part.grundy);
        let nimber = grundy.fold(*nimber, |sum, number| sum ^ number);
        let couple = self.add(&[parts[parts.len() - 1].atom], nimber);
        if let Node::Sum { last_couple, .. } = &mut self.nodes[node] {
            *last_couple = Some(couple);
        }
    }
}

/// The thresholds of the paper. `None` is infinity.
#[derive(Clone, Copy)]
struct PaperThresholds {
    pt: Option<i64>,
    dt: Option<i64>,
    mt: Option<i64>,
    ps: i64,
    ds: i64,
}

fn below(number: i64, threshold: Option<i64>) -> bool {
    number < i64::from(INFINITY) && threshold.is_none_or(|threshold| number < threshold)
}

fn lesser(thresholds: &[Option<i64>]) -> Option<i64> {
    thresholds.iter().copied().flatten().min()
}

impl PaperThresholds {
    const ROOT: PaperThresholds = PaperThresholds { pt: None, dt: None, mt: None, ps: 0, ds: 0 };

    fn hold(&self, (pn, dn): (Number, Number)) -> bool {
        let (pn, dn) = (i64::from(pn), i64::from(dn));
        below(pn, self.pt) && below(dn, self.dt) && below((pn + self.ps).min(dn + self.ds), self.mt)
    }

    /// Returns the thresholds of `w`, the selected child of `v`.
    fn below(&self, tree: &Tree, v: usize, w: usize) -> PaperThresholds {
        let numbers = |node| {
            let (pn, dn) = tree.numbers(node);
            (i64::from(pn), i64::from(dn))
        };
        let ((pn_v, dn_v), (pn_w, dn_w)) = (numbers(v), numbers(w));
        match &tree.nodes[v] {
            Node::Couple { children, .. } => {
                let others = children.iter().flatten().filter(|&&child| child != w);
                let second = others.map(|&child| numbers(child).1).min();
                let second = second.filter(|&dn| dn < i64::from(INFINITY));
                PaperThresholds {
                    pt: self.dt.map(|dt| dt - dn_v + pn_w),
                    dt: lesser(&[self.pt, second.map(|dn| dn + 1)]),
                    mt: self.mt,
                    ps: self.ds + dn_v - pn_w,
                    ds: self.ps,
                }
            }
            Node::Sum { last_couple: Some(_), .. } => *self,
            Node::Sum { .. } => {
                let t = lesser(&[self.pt, self.dt, self.mt.map(|mt| mt - self.ps.min(self.ds))]);
                let mt = t.map(|t| t - pn_v + pn_w.min(dn_w));
                PaperThresholds { pt: None, dt: None, mt, ps: 0, ds: 0 }
            }
            Node::Heap(_) => panic!("a heap has no children"),
        }
    }
}

impl Thresholds {
    fn below(&self, tree: &Tree, v: usize, w: usize) -> Thresholds {
        match &tree.nodes[v] {
            Node::Couple { children, .. } => {
                let others = children.iter().flatten().filter(|&&child| child != w);
                let numbers: Vec<_> = others.map(|&child| tree.numbers(child)).collect();
                let others = Others {
                    min_delta: numbers.iter().map(|n| n.1).min().unwrap_or(INFINITY),
                    max_phi: numbers.iter().map(|n| n.0).max().unwrap_or(0),
                    sum_phi: numbers.iter().map(|n| u64::from(n.0)).sum(),
                    count: numbers.len(),
                };
                self.of_child(others, tree.combination, Epsilon::ZERO, true)
            }
            Node::Sum { last_couple: Some(_), .. } => *self,
            Node::Sum { .. } => self.of_part(u64::from(tree.numbers(v).0 - tree.least(w))),
            Node::Heap(_) => panic!("a heap has no children"),
        }
    }
}

/// Solves a position in the order of df-pn, one expansion at a time, and checks the theorem after each expansion. A
/// check takes time linear in the number of nodes. Returns three values: true if the root is won (`None` if there are
/// more than `max_nodes` nodes), the number of checks, and the number of steps from a node up to its parent.
fn check(
    game: &Declared,
    atoms: &[Atom],
    nimber: u32,
    combination: Combination,
    sum_of_all_parts: bool,
    max_nodes: usize,
) -> (Option<bool>, usize, usize) {
    let mut tree = Tree { game, combination, sum_of_all_parts, nodes: Vec::new() };
    let root = tree.add(atoms, nimber);
    let mut path = vec![(root, Thresholds::ROOT, PaperThresholds::ROOT)];
    let (mut checks, mut ups) = (0, 0);
    loop {
        let (phi, delta) = tree.numbers(root);
        if phi == 0 || delta == 0 {
            return (Some(phi == 0), checks, ups);
        }
        if tree.nodes.len() > max_nodes {
            return (None, checks, ups);
        }
        while let (v, ours, paper) = path[path.len() - 1]
            && let Some(w) = tree.selected(v)
        {
            path.push((w, ours.below(&tree, v, w), paper.below(&tree, v, w)));
        }
        tree.expand(path[path.len() - 1].0);
        let nodes: Vec<usize> = path.iter().map(|&(node, ..)| node).collect();
        tree.update_sums(&nodes);

        let mut inside = !matches!(tree.numbers(root), (0, _) | (_, 0));
        for (depth, &(node, ours, paper)) in path.iter().enumerate() {
            if let Some(parent) = depth.checked_sub(1).map(|above| nodes[above]) {
                inside &= match &tree.nodes[parent] {
                    // The child on the path may be any child with the least disproof number.
                    Node::Couple { children, .. } => {
                        let least = children.iter().flatten().map(|&child| tree.numbers(child).1);
                        tree.numbers(node).1 == least.min().unwrap()
                    }
                    _ => tree.selected(parent) == Some(node),
                };
            }
            let (phi, delta) = tree.numbers(node);
            assert_eq!(
                ours.hold(Pair { phi, delta }, true),
                inside,
                "depth {depth}, {phi} {delta}, {ours:?}"
            );
            if combination == Combination::SUM {
                assert_eq!(paper.hold((phi, delta)), inside, "depth {depth}, {phi} {delta}");
            }
            checks += 1;
        }
        while let Some(&(node, ours, _)) = path.last()
            && path.len() > 1
            && {
                let (phi, delta) = tree.numbers(node);
                !ours.hold(Pair { phi, delta }, true)
            }
        {
            path.pop();
            ups += 1;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_most_proving_node_is_within_the_thresholds(
        seed: u64,
        degree in 2u32..5,
        count in 1usize..4,
        nimber in 0u32..3,
        weight_64 in prop_oneof![Just(64u32), 0u32..64],
        sum_of_all_parts: bool,
    ) {
        let game = Declared::random(seed, 14, degree);
        let highest: Vec<Atom> = (0..count as Atom).map(|index| 13 - 2 * index).collect();
        check(&game, &highest, nimber, Combination::mixed(weight_64), sum_of_all_parts, 10_000);
    }
}

/// Checks that the random trees above are not all trivial, and that the roots have the outcomes of the game.
#[test]
fn trees_are_large_and_correct() {
    let (mut checks, mut ups) = (0, 0);
    for seed in 0..40 {
        let game = Declared::random(seed, 14, 4);
        let mut numbers: Vec<u32> = Vec::new();
        for atom in 0..game.atoms() {
            let mut options = OptionList::default();
            game.options(atom, &mut (), &mut options).unwrap();
            let values: Vec<u32> = options
                .iter()
                .map(|option| option.iter().fold(0, |sum, &part| sum ^ numbers[part as usize]))
                .collect();
            numbers.push((0..).find(|number| !values.contains(number)).unwrap());
        }
        for all in [false, true] {
            let (won, these, up) = check(&game, &[13, 12, 9], 1, Combination::SUM, all, usize::MAX);
            assert_eq!(won, Some(numbers[13] ^ numbers[12] ^ numbers[9] ^ 1 != 0), "{seed} {all}");
            checks += these;
            ups += up;
        }
    }
    assert!(checks > 10_000 && ups > 1_000, "{checks} {ups}");
}
