//! Games that are given as graphs, for tests of searches.
//!
//! * [`GraphGame`]: a game whose positions are the nodes of a graph.
//! * [`GraphError`]: the error of a graph that is not a game.
//! * [`Hooked`]: a [`GraphGame`] with a function that is called before each expansion.

use super::random::{Random, key};
use crate::Value;
use crate::numbers::{MAX, Number};
use crate::plain::game::{Child, EVALUATION_LIMIT, Expansion, Game, LeafSolution};

/// Error of a list of edges or estimates that is not a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// An edge touches a node that does not exist.
    #[error("the edge {from} -> {to} leaves the graph: its nodes are the numbers below {nodes}")]
    NoSuchNode {
        /// Start of the edge.
        from: u32,
        /// End of the edge.
        to: u32,
        /// Number of nodes.
        nodes: u32,
    },
    /// The graph has a cycle, so a game could be infinite.
    #[error("the graph has a cycle through node {node}: remove one of its edges")]
    Cycle {
        /// A node of the cycle.
        node: u32,
    },
    /// The number of estimates is not the number of nodes.
    #[error("{given} estimates were given for {nodes} nodes: exactly one for each is needed")]
    WrongNumberOfEstimates {
        /// Estimates given.
        given: usize,
        /// Nodes of the graph.
        nodes: u32,
    },
    /// An estimate is not between 1 and [`MAX`], the numbers of unsolved positions.
    #[error("the estimate ({phi}, {delta}) of node {node} must lie between 1 and {MAX}")]
    EstimateOutOfRange {
        /// The node.
        node: u32,
        /// Phi of the estimate.
        phi: Number,
        /// Delta of the estimate.
        delta: Number,
    },
}

/// A finite game without cycles: a directed graph on which two players move a token in turn.
///
/// Nodes are numbered from 0, and a node's number is its code. A node without edges is lost for the side to move.
/// The leaf estimates can be set ([`GraphGame::with_estimates`]), and the detection of immediate wins can be switched
/// off ([`GraphGame::with_immediate_wins`]).
///
/// A graph takes 4 bytes per edge and 12 bytes per node. The time of an expansion is linear in the node's edges.
#[derive(Clone, Debug)]
pub struct GraphGame {
    /// Node `n`'s edges are `targets[starts[n]..starts[n + 1]]`.
    starts: Vec<u32>,
    targets: Vec<u32>,
    estimates: Vec<(Number, Number)>,
    immediate_wins: bool,
}

impl GraphGame {
    /// Creates a game from its edges, in the order in which expansion lists them. Repeated edges are
    /// kept: a search must support a child that is listed twice. All estimates are (1, 1).
    ///
    /// Takes time linear in nodes and edges.
    ///
    /// # Errors
    /// [`GraphError::NoSuchNode`], [`GraphError::Cycle`].
    pub fn new(nodes: u32, edges: &[(u32, u32)]) -> Result<Self, GraphError> {
        let mut starts = vec![0u32; nodes as usize + 1];
        for &(from, to) in edges {
            if from >= nodes || to >= nodes {
                return Err(GraphError::NoSuchNode { from, to, nodes });
            }
            starts[from as usize + 1] += 1;
        }
        for node in 0..nodes as usize {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; edges.len()];
        for &(from, to) in edges {
            let at = &mut next[from as usize];
            targets[*at as usize] = to;
            *at += 1;
        }
        let game = GraphGame {
            starts,
            targets,
            estimates: vec![(1, 1); nodes as usize],
            immediate_wins: true,
        };
        match game.node_of_a_cycle() {
            Some(node) => Err(GraphError::Cycle { node }),
            None => Ok(game),
        }
    }

    /// Returns the smallest node of a cycle, if there is a cycle. Repeatedly removes nodes without incoming edges
    /// (Kahn's algorithm). From any remaining node, a walk against the edges ends on a cycle.
    fn node_of_a_cycle(&self) -> Option<u32> {
        let nodes = self.estimates.len();
        let mut incoming = vec![0u32; nodes];
        for &to in &self.targets {
            incoming[to as usize] += 1;
        }
        let mut free: Vec<u32> =
            (0..nodes as u32).filter(|&node| incoming[node as usize] == 0).collect();
        let mut removed = 0;
        while let Some(node) = free.pop() {
            removed += 1;
            for &to in self.successors(u64::from(node)) {
                incoming[to as usize] -= 1;
                if incoming[to as usize] == 0 {
                    free.push(to);
                }
            }
        }
        if removed == nodes {
            return None;
        }
        // Every remaining node has a remaining predecessor.
        let remains = |node: u32| incoming[node as usize] > 0;
        let mut predecessor = vec![0; nodes];
        for from in (0..nodes as u32).filter(|&node| remains(node)) {
            for &to in self.successors(u64::from(from)) {
                predecessor[to as usize] = from;
            }
        }
        let mut node = (0..nodes as u32).find(|&node| remains(node))?;
        for _ in 0..nodes {
            node = predecessor[node as usize];
        }
        let mut smallest = node;
        let mut at = predecessor[node as usize];
        while at != node {
            smallest = smallest.min(at);
            at = predecessor[at as usize];
        }
        Some(smallest)
    }

    /// Sets one leaf estimate (phi, delta) for each node.
    ///
    /// # Errors
    /// [`GraphError::WrongNumberOfEstimates`], [`GraphError::EstimateOutOfRange`].
    pub fn with_estimates(mut self, estimates: Vec<(Number, Number)>) -> Result<Self, GraphError> {
        let nodes = self.estimates.len();
        if estimates.len() != nodes {
            return Err(GraphError::WrongNumberOfEstimates {
                given: estimates.len(),
                nodes: nodes as u32,
            });
        }
        for (node, &(phi, delta)) in (0..).zip(&estimates) {
            if !(1..=MAX).contains(&phi) || !(1..=MAX).contains(&delta) {
                return Err(GraphError::EstimateOutOfRange { node, phi, delta });
            }
        }
        self.estimates = estimates;
        Ok(self)
    }

    /// Sets random estimates between 1 and `max`. `max` is clamped to 1..=[`MAX`].
    pub fn with_random_estimates(mut self, seed: u64, max: Number) -> Self {
        let mut random = Random(seed);
        let mut number = || 1 + random.scaled(u64::from(max.clamp(1, MAX))) as Number;
        for estimate in &mut self.estimates {
            *estimate = (number(), number());
        }
        self
    }

    /// Sets the result of the expansion of a node that has a child without moves: [`Expansion::Won`] if
    /// `immediate_wins` is true (the default), otherwise [`Expansion::Open`] with this child in the list.
    pub fn with_immediate_wins(mut self, immediate_wins: bool) -> Self {
        self.immediate_wins = immediate_wins;
        self
    }

    /// Creates a random layered graph, which is the same for the same arguments in every build.
    ///
    /// Node 0 is the only node of the first layer. Layers are about as wide as `max_degree`. Most edges lead to the
    /// next layer, some to the one after that, so most nodes are reached on many paths. About one in sixteen of the
    /// nodes outside the last layer has no edges. With `max_degree` 0, no node has edges.
    ///
    /// # Panics
    /// If there are no nodes.
    pub fn random(seed: u64, nodes: u32, max_degree: u32) -> Self {
        assert!(nodes > 0, "a game needs a node to start from");
        let mut random = Random(seed ^ u64::from(nodes) << 32 ^ u64::from(max_degree));
        let mut layers = Vec::new();
        let mut end = 1;
        layers.push(0..end);
        while end < nodes {
            let start = end;
            let width = 1 + random.scaled(u64::from(max_degree.max(1)) * 3 / 2) as u32;
            end = nodes.min(start + width);
            layers.push(start..end);
        }
        let mut edges = Vec::new();
        for (index, layer) in layers.iter().enumerate() {
            for from in layer.clone() {
                // The root has edges unless `max_degree` is 0.
                if max_degree == 0 || (from > 0 && random.scaled(16) == 0) {
                    continue;
                }
                for _ in 0..=random.scaled(u64::from(max_degree)) {
                    let ahead = if random.scaled(8) == 0 { 2 } else { 1 };
                    let Some(next) = layers.get(index + ahead) else {
                        continue;
                    };
                    let width = u64::from(next.end - next.start);
                    edges.push((from, next.start + random.scaled(width) as u32));
                }
            }
        }
        Self::new(nodes, &edges).expect("edges lead to later layers only")
    }

    /// Creates a game of Nim: a move takes any number of pieces from one pile, and a player who cannot move loses. A
    /// position is lost exactly if the exclusive or of the piles is 0 (Bouton 1901), so tests need no oracle.
    ///
    /// Node 0 has the full piles; [`GraphGame::nim_piles`] returns those of other nodes.
    ///
    /// # Panics
    /// If there are more than 2³² positions.
    pub fn nim(piles: &[u32]) -> Self {
        let nodes: u64 = piles.iter().map(|&pile| u64::from(pile) + 1).product();
        let nodes = u32::try_from(nodes).expect("piles with fewer than 2^32 positions");
        let mut edges = Vec::new();
        for node in 0..nodes {
            let mut weight = 1;
            for (&full, left) in piles.iter().zip(Self::nim_piles(piles, node.into())) {
                edges.extend((1..=left).map(|taken| (node, node + taken * weight)));
                weight *= full + 1;
            }
        }
        Self::new(nodes, &edges).expect("pieces are only taken away")
    }

    /// Returns the piles at a node of [`GraphGame::nim`]. The node's number encodes the pieces that have been taken,
    /// one digit per pile. The first pile has the lowest digit.
    pub fn nim_piles(piles: &[u32], node: u64) -> Vec<u32> {
        let mut rest = node;
        let left = |&full: &u32| {
            let base = u64::from(full) + 1;
            let taken = (rest % base) as u32;
            rest /= base;
            full - taken
        };
        piles.iter().map(left).collect()
    }

    /// Returns the number of nodes. All codes are below this number.
    pub fn nodes(&self) -> u64 {
        self.estimates.len() as u64
    }

    /// Returns the successors of a node, in the order of the edges.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn successors(&self, node: u64) -> &[u32] {
        let node = node as usize;
        &self.targets[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    fn is_terminal(&self, node: u64) -> bool {
        self.successors(node).is_empty()
    }

    /// Solves a node by negamax, without storing results. Subtracts the number of visited nodes from `budget`. Returns
    /// `None` if the budget is used up.
    fn solve_node(&self, node: u64, budget: &mut u32) -> Option<Value> {
        *budget = budget.checked_sub(1)?;
        for &child in self.successors(node) {
            if self.solve_node(u64::from(child), budget)? == Value::Loss {
                return Some(Value::Win);
            }
        }
        Some(Value::Loss)
    }
}

impl Game for GraphGame {
    type Scratch = ();

    fn expand(
        &self,
        code: u64,
        _: &mut (),
        children: &mut Vec<Child>,
        mut prefetch: impl FnMut(u64),
    ) -> Expansion {
        let successors = self.successors(code);
        if successors.is_empty() {
            return Expansion::Lost;
        }
        successors.iter().for_each(|&node| prefetch(node.into()));
        let lost = successors.iter().find(|&&node| self.is_terminal(node.into()));
        if let (true, Some(&node)) = (self.immediate_wins, lost) {
            return Expansion::Won(node.into());
        }
        children.extend(successors.iter().map(|&node| {
            let (phi, delta) = self.estimates[node as usize];
            Child {
                code: node.into(),
                phi,
                delta,
                effort: self.successors(node.into()).len() as u32,
            }
        }));
        Expansion::Open
    }

    fn key(&self, code: u64) -> u64 {
        key(code)
    }

    fn solve_leaf(&self, code: u64, budget: u32, _: &mut ()) -> LeafSolution {
        let mut left = budget;
        let value = self.solve_node(code, &mut left);
        LeafSolution { value, positions: budget - left }
    }

    /// Returns delta minus phi: large if a win is easy to prove and a loss is not.
    fn evaluate(&self, code: u64, _: &mut ()) -> i32 {
        let (phi, delta) = self.estimates[code as usize];
        (delta as i32 - phi as i32).clamp(1 - EVALUATION_LIMIT, EVALUATION_LIMIT - 1)
    }
}

/// A game with a function that is called with the code of the node before each expansion.
pub struct Hooked<'a, F> {
    game: &'a GraphGame,
    hook: F,
}

impl<'a, F: Fn(u64) + Sync> Hooked<'a, F> {
    pub fn new(game: &'a GraphGame, hook: F) -> Self {
        Hooked { game, hook }
    }
}

impl<F: Fn(u64) + Sync> Game for Hooked<'_, F> {
    type Scratch = ();

    fn expand(
        &self,
        code: u64,
        scratch: &mut (),
        children: &mut Vec<Child>,
        prefetch: impl FnMut(u64),
    ) -> Expansion {
        (self.hook)(code);
        self.game.expand(code, scratch, children, prefetch)
    }

    fn key(&self, code: u64) -> u64 {
        self.game.key(code)
    }

    fn solve_leaf(&self, code: u64, budget: u32, scratch: &mut ()) -> LeafSolution {
        self.game.solve_leaf(code, budget, scratch)
    }
}

/// Returns a random game of about ten plies with many transpositions. In some of these games, expansion does not
/// detect immediate wins. The games are not deeper, because a search tree without transpositions could exceed any
/// memory.
pub fn random_game(seed: u64) -> GraphGame {
    let degree = 3 + seed as u32 % 8;
    GraphGame::random(seed, degree * (6 + seed as u32 % 3), degree)
        .with_random_estimates(seed, 3)
        .with_immediate_wins(!seed.is_multiple_of(3))
}

/// Returns a game that is lost, because 12 xor 21 xor 25 is 0, and too large to be solved within some thousand nodes.
pub fn large_game() -> GraphGame {
    GraphGame::nim(&[12, 21, 25])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_invalid_graphs_name_the_edge_or_the_node() {
        assert_eq!(
            GraphGame::new(2, &[(0, 2)]).unwrap_err(),
            GraphError::NoSuchNode { from: 0, to: 2, nodes: 2 }
        );
        assert_eq!(GraphGame::new(1, &[(0, 0)]).unwrap_err(), GraphError::Cycle { node: 0 });
        // The cycle is 2 -> 3 -> 4 -> 2. Nodes 0 and 1 lead into it, and node 5 is reached from it.
        let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 2), (4, 5)];
        assert_eq!(GraphGame::new(6, &edges).unwrap_err(), GraphError::Cycle { node: 2 });
    }

    #[test]
    fn invalid_estimates_are_rejected() {
        let game = GraphGame::new(2, &[(0, 1)]).unwrap();
        assert_eq!(
            game.clone().with_estimates(vec![(1, 1)]).unwrap_err(),
            GraphError::WrongNumberOfEstimates { given: 1, nodes: 2 }
        );
        for (phi, delta) in [(0, 1), (1, MAX + 1)] {
            assert_eq!(
                game.clone().with_estimates(vec![(1, 1), (phi, delta)]).unwrap_err(),
                GraphError::EstimateOutOfRange { node: 1, phi, delta }
            );
        }
        let game = game.with_estimates(vec![(1, 2), (3, MAX)]).unwrap();
        assert_eq!((game.estimates[0], game.estimates[1]), ((1, 2), (3, MAX)));
    }

    #[test]
    fn expansion_lists_children_or_the_winning_one_and_keeps_the_list() {
        let game = GraphGame::new(4, &[(0, 1), (0, 1), (0, 2), (1, 3)]).unwrap();
        let mut list = Vec::new();
        assert_eq!(game.expand(0, &mut (), &mut list, |_| {}), Expansion::Won(2));
        assert_eq!(game.expand(3, &mut (), &mut list, |_| {}), Expansion::Lost);
        assert!(list.is_empty());
        let game = game.with_immediate_wins(false);
        assert_eq!(game.expand(0, &mut (), &mut list, |_| {}), Expansion::Open);
        let codes: Vec<u64> = list.iter().map(|child| child.code).collect();
        assert_eq!(codes, [1, 1, 2]);
        let efforts: Vec<u32> = list.iter().map(|child| child.effort).collect();
        assert_eq!(efforts, [1, 1, 0]);
    }

    #[test]
    fn random_graphs_repeat_and_have_transpositions() {
        for (nodes, degree) in [(1, 0), (1, 3), (40, 0), (40, 1), (300, 5), (1000, 12)] {
            let (a, b) = (GraphGame::random(7, nodes, degree), GraphGame::random(7, nodes, degree));
            assert_eq!((&a.starts, &a.targets), (&b.starts, &b.targets));
            assert_eq!(a.nodes(), u64::from(nodes));
            let widest = (0..a.nodes()).map(|n| a.successors(n).len()).max().unwrap();
            assert!(widest <= degree as usize);
            if degree >= 5 {
                assert!(a.targets.len() > 2 * a.nodes() as usize, "{nodes} {degree}");
                let other = GraphGame::random(8, nodes, degree);
                assert_ne!(a.targets, other.targets);
            }
        }
    }

    #[test]
    fn exact_search_is_correct_within_its_budget() {
        let nim = GraphGame::nim(&[2, 3]);
        for node in 0..nim.nodes() {
            let left = GraphGame::nim_piles(&[2, 3], node);
            let value = if left[0] == left[1] { Value::Loss } else { Value::Win };
            assert_eq!(nim.solve_leaf(node, 10_000, &mut ()).value, Some(value));
            for budget in 0..40 {
                let solution = nim.solve_leaf(node, budget, &mut ());
                assert!(solution.positions <= budget);
                assert!(solution.value.is_none_or(|known| known == value));
                assert!(solution.value.is_some() || solution.positions == budget);
            }
        }
    }

    #[test]
    fn evaluations_are_within_their_bounds() {
        let game =
            GraphGame::new(2, &[(0, 1)]).unwrap().with_estimates(vec![(1, MAX), (MAX, 1)]).unwrap();
        for node in 0..2 {
            assert!(game.evaluate(node, &mut ()).abs() < EVALUATION_LIMIT);
        }
    }
}
