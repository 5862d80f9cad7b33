//! The work on one position: budgets that grow, over all that is still unknown.
//!
//! Each round gives every open child so many nodes, and the position itself as many as all of them
//! together, because its outcome says the most. A search that was stopped goes on where it was, and
//! what one finds serves the others. So what is easy is known first, and nothing takes much more than
//! it would alone.

use std::time::{Duration, Instant};

use super::{Analysis, ChildValue, Goal, LandValue, Source};
use crate::search::Value;
use crate::search::numbers::Pair;
use crate::search::run::{Counters, Limits, Observer, Outcome, Reason};
use crate::search::sums::game::{Atom, GameFull};
use crate::search::sums::{SearchOptions, SolverState, Sum, dfpn, grundy};
use crate::sprouts::{MovesError, Position, Scratch, Sprouts};

/// Nodes that a child gets in the first round: enough for numbers by which to compare them.
const FIRST_BUDGET: u64 = 50;
/// From round to round.
const GROWTH: u64 = 4;
/// Searches of fewer nodes are over before several threads are.
const LEAST_FOR_THREADS: u64 = 1 << 14;

/// Moves are listed for so long whatever the limits say: a search that has reached its own still tells
/// what it knows of them. Few positions have so many that this does not suffice.
const LISTING: Duration = Duration::from_millis(100);

/// Options of [`survey`].
#[derive(Clone, Copy)]
pub struct SurveyOptions<'l> {
    /// Values to find.
    pub goal: Goal,
    /// Size of the nim heap that is added to the position.
    pub nimber: u32,
    /// Options of the searches. They must be the same for all searches with the workspace.
    pub search: SearchOptions,
    /// Number of threads.
    pub threads: u32,
    /// Lands below this one have their Grundy numbers from a file.
    pub from_file: Atom,
    /// Limits of all searches together.
    pub limits: Limits<'l>,
}

/// Finds the values that the goal requests, within the limits. Calls `on_change` with each
/// intermediate result.
///
/// # Errors
/// [`MovesError`] if the moves cannot be listed.
pub fn survey(
    workspace: &SolverState<'_, Sprouts>,
    game: &Sprouts,
    position: &Position,
    options: SurveyOptions<'_>,
    scratch: &mut Scratch,
    observer: &mut dyn Observer,
    on_change: &mut dyn FnMut(&Analysis),
) -> Result<Analysis, MovesError> {
    let mut listed = list(game, position, options, scratch);
    let is_full = matches!(listed, Err(MovesError::Full(_)));
    if is_full && options.limits.reached().is_none() {
        // What earlier searches have met may stand in the way.
        workspace.collect_garbage();
        listed = list(game, position, options, scratch);
    }
    let (nodes, reason) = match (listed, options.limits.reached()) {
        (Ok(nodes), _) => (nodes, None),
        (Err(_), Some(reason)) => (itself(game, position, options, scratch)?, Some(reason)),
        (Err(error), None) => return Err(error),
    };
    let mut survey =
        Survey { workspace, game, options, scratch, observer, nodes, spent: 0, reason };
    if reason.is_some() {
        // Nothing follows from children that are not there.
        for node in &mut survey.nodes {
            node.look(workspace, options.from_file);
        }
        return Ok(survey.analysis());
    }
    survey.look();
    on_change(&survey.analysis());
    survey.run(on_change);
    Ok(survey.analysis())
}

/// The position and its lands.
fn itself(
    game: &Sprouts,
    position: &Position,
    options: SurveyOptions<'_>,
    scratch: &mut Scratch,
) -> Result<Vec<Node>, GameFull> {
    let atoms = game.atoms(position, scratch)?;
    let root = Node::new(Role::Root, game, &atoms, options.nimber);
    let lands = atoms.iter().map(|&atom| Node::new(Role::Land, game, &[atom], 0));
    Ok([root].into_iter().chain(lands).collect())
}

/// The position, its lands and the positions after its moves. [`MovesError::Full`] as well if a limit is
/// reached and they take longer than [`LISTING`].
fn list(
    game: &Sprouts,
    position: &Position,
    options: SurveyOptions<'_>,
    scratch: &mut Scratch,
) -> Result<Vec<Node>, MovesError> {
    let mut nodes = itself(game, position, options, scratch)?;
    let SurveyOptions { nimber, limits, .. } = options;
    let begun = Instant::now();
    let is_stopped = || begun.elapsed() > LISTING && limits.reached().is_some();
    let atoms = game.atoms(position, scratch)?;
    for child in game.children(&atoms, scratch, &is_stopped)? {
        if is_stopped() {
            return Err(GameFull.into());
        }
        nodes.push(Node::new(Role::Child, game, &child, nimber));
    }
    nodes.extend((0..nimber).map(|less| Node::new(Role::Child, game, &atoms, less)));
    Ok(nodes)
}

/// What a node is to the position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Root,
    Land,
    Child,
}

/// A position whose value is wanted.
struct Node {
    role: Role,
    /// The text of its lands, by which it is found again when the memory was collected.
    lands: String,
    sum: Sum,
    /// For the player to move there.
    value: Option<Value>,
    grundy: Option<u32>,
    source: Option<Source>,
    /// Its proof numbers after the last search.
    pair: Option<Pair>,
    /// The memory does not suffice for it.
    given_up: bool,
}

impl Node {
    fn new(role: Role, game: &Sprouts, atoms: &[Atom], nimber: u32) -> Node {
        Node {
            role,
            lands: game.text(atoms),
            sum: Sum::new(game, atoms, nimber),
            value: None,
            grundy: None,
            source: None,
            pair: None,
            given_up: false,
        }
    }

    fn text(&self) -> String {
        match self.sum.nimber() {
            0 => self.lands.clone(),
            nimber => format!("{} + *{nimber}", self.lands),
        }
    }

    /// For the player who makes the move.
    fn outcome(&self) -> Option<Value> {
        self.value.map(|value| !value)
    }

    /// The less, the closer to a proof that whoever is to move there loses.
    fn promise(&self) -> u64 {
        self.pair.map_or(u64::MAX, |Pair { phi, delta }| {
            (u64::from(delta) << 32) / u64::from(phi.max(1))
        })
    }

    /// Notes what is known by now; whether that is news.
    fn look(&mut self, workspace: &SolverState<'_, Sprouts>, from_file: Atom) -> bool {
        let grundy = self.grundy.or_else(|| workspace.grundy(&self.sum));
        let value = self.value.or_else(|| workspace.value(&self.sum));
        let news = (grundy, value) != (self.grundy, self.value);
        if news {
            (self.grundy, self.value) = (grundy, value);
            self.source = Some(match self.sum.atoms() {
                [] => Source::Rules,
                atoms if grundy.is_some() && atoms.iter().all(|&atom| atom < from_file) => {
                    Source::File
                }
                _ => Source::Search,
            });
        }
        news
    }
}

/// What a search is to find.
#[derive(Clone, Copy)]
enum Question {
    Value,
    Grundy,
}

struct Survey<'w, 'g> {
    workspace: &'w SolverState<'g, Sprouts>,
    game: &'w Sprouts,
    options: SurveyOptions<'w>,
    scratch: &'w mut Scratch,
    observer: &'w mut dyn Observer,
    /// The position first.
    nodes: Vec<Node>,
    spent: u64,
    /// Why there is no going on.
    reason: Option<Reason>,
}

impl Survey<'_, '_> {
    fn run(&mut self, on_change: &mut dyn FnMut(&Analysis)) {
        let mut budget = FIRST_BUDGET;
        while self.reason.is_none() && !self.is_done() {
            if self.nodes.iter().all(|node| !self.is_open(node) || node.given_up) {
                self.reason = Some(Reason::Memory);
                return;
            }
            self.round(budget, on_change);
            budget = budget.saturating_mul(GROWTH);
        }
    }

    /// Whether something about a node is to be found out.
    fn is_open(&self, node: &Node) -> bool {
        match node.role {
            Role::Root => node.value.is_none(),
            Role::Child if self.options.goal != Goal::Numbers => node.value.is_none(),
            Role::Land if self.options.goal != Goal::Numbers => false,
            Role::Child | Role::Land => node.grundy.is_none(),
        }
    }

    fn is_done(&self) -> bool {
        let lost_child = || self.children().any(|child| child.value == Some(Value::Loss));
        match (self.options.goal, self.nodes[0].value) {
            (Goal::Winner, Some(Value::Loss)) => true,
            (Goal::Winner, Some(Value::Win)) => lost_child(),
            _ => !self.nodes.iter().any(|node| self.is_open(node)),
        }
    }

    fn children(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.role == Role::Child)
    }

    /// Gives every open node the budget.
    fn round(&mut self, budget: u64, on_change: &mut dyn FnMut(&Analysis)) {
        let open = self.children().filter(|child| self.is_open(child)).count() as u64;
        if self.nodes[0].value.is_none() {
            self.ask(0, Question::Value, budget.saturating_mul(open.max(1)), on_change);
        }
        let mut order: Vec<usize> = (1..self.nodes.len()).collect();
        order.sort_by_key(|&at| self.nodes[at].promise());
        for &at in &order {
            if self.nodes[at].role == Role::Child && self.nodes[at].value.is_none() {
                self.ask(at, Question::Value, budget, on_change);
            }
        }
        if self.options.goal == Goal::Numbers {
            for &at in &order {
                if self.nodes[at].grundy.is_none() {
                    self.ask(at, Question::Grundy, budget, on_change);
                }
            }
        }
    }

    /// Searches one node, unless the work has ended.
    fn ask(
        &mut self,
        at: usize,
        question: Question,
        budget: u64,
        on_change: &mut dyn FnMut(&Analysis),
    ) {
        if self.reason.is_some() || self.is_done() || self.nodes[at].given_up {
            return;
        }
        let left =
            self.options.limits.nodes.map_or(u64::MAX, |most| most.saturating_sub(self.spent));
        if left == 0 {
            self.reason = Some(Reason::NodeLimit);
            return;
        }
        let limits = Limits { nodes: Some(budget.min(left)), ..self.options.limits };
        let SurveyOptions { search, threads, .. } = self.options;
        let threads = if budget < LEAST_FOR_THREADS { 1 } else { threads };
        let epoch = self.game.epoch();
        let node = &mut self.nodes[at];
        let (counters, stopped): (Counters, Option<Reason>) = match question {
            Question::Value => {
                let (workspace, observer) = (self.workspace, &mut *self.observer);
                let report = dfpn(workspace, &node.sum, search, threads, limits, observer);
                node.pair = Some(Pair { phi: report.phi, delta: report.delta });
                let stopped = match report.outcome {
                    Outcome::Known(value) => {
                        // Heaps that are too large for exclusions are known to the table alone.
                        node.value = Some(value);
                        node.source = Some(Source::Search);
                        None
                    }
                    Outcome::Unknown(reason) => Some(reason),
                };
                (report.counters, stopped)
            }
            Question::Grundy => {
                let (workspace, observer) = (self.workspace, &mut *self.observer);
                let atoms = node.sum.atoms();
                let report = grundy(workspace, atoms, search, threads, limits, observer);
                (report.counters, report.grundy.err())
            }
        };
        self.spent += counters.nodes;
        match stopped {
            Some(Reason::Memory) => self.nodes[at].given_up = true,
            // The budget; what was allowed in all is looked at before the next search.
            None | Some(Reason::NodeLimit) => {}
            Some(_) => self.reason = stopped,
        }
        let answered = stopped.is_none();
        // An id may be another land's now, of which other things are known.
        let news = match self.game.epoch() == epoch || self.find_again() {
            true => self.look(),
            false => self.conclude(),
        };
        if news || answered {
            on_change(&self.analysis());
        }
    }

    /// Notes all that is known by now, and what follows from it by the rules; whether that is news.
    fn look(&mut self) -> bool {
        let Survey { workspace, options, nodes, .. } = self;
        let mut news = false;
        for node in nodes {
            news |= node.look(workspace, options.from_file);
        }
        news | self.conclude()
    }

    /// Notes what follows by the rules from what has been noted; whether that is news.
    fn conclude(&mut self) -> bool {
        let mut news = false;
        let Some((root, others)) = self.nodes.split_first_mut() else { return news };
        let mut children = others.iter_mut().filter(|node| node.role == Role::Child);
        if root.value.is_none() {
            let mut all_won = true;
            for child in &mut children {
                all_won &= child.value == Some(Value::Win);
                if child.value == Some(Value::Loss) {
                    (root.value, root.source) = (Some(Value::Win), child.source);
                }
            }
            if all_won {
                (root.value, root.source) = (Some(Value::Loss), Some(Source::Search));
            }
            news |= root.value.is_some();
        } else if root.value == Some(Value::Loss) {
            for child in children.filter(|child| child.value.is_none()) {
                (child.value, child.source) = (Some(Value::Win), root.source);
                news = true;
            }
        }
        news
    }

    /// Gets the ids of all lands anew, which may have lost theirs. If there is no room for them, the
    /// work ends, and false is returned: ids are of no use any more.
    fn find_again(&mut self) -> bool {
        for node in &mut self.nodes {
            let position = Position::from_canonical(&node.lands);
            let position = position.expect("a canonical text is a position");
            let Ok(atoms) = self.game.atoms(&position, self.scratch) else {
                self.reason = self.reason.or(Some(Reason::Memory));
                return false;
            };
            node.sum = Sum::new(self.game, &atoms, node.sum.nimber());
        }
        true
    }

    /// What is known now, in order.
    fn analysis(&self) -> Analysis {
        let root = &self.nodes[0];
        let lands = self.nodes.iter().filter(|node| node.role == Role::Land);
        let land = |land: &Node| {
            let Node { grundy, source, .. } = *land;
            LandValue { position: land.text(), grundy, source: source.filter(|_| grundy.is_some()) }
        };
        let mut lands: Vec<LandValue> = lands.map(land).collect();
        lands.sort_by(|a, b| a.position.cmp(&b.position));
        let mut children: Vec<(u64, ChildValue)> = self
            .children()
            .map(|child| {
                let Node { grundy, source, .. } = *child;
                let outcome = child.outcome();
                let position = child.text();
                (child.promise(), ChildValue { position, grundy, outcome, source })
            })
            .collect();
        children.sort_by(|(promise, a), (other, b)| {
            let place = |child: &ChildValue| match child.outcome {
                Some(Value::Win) => 0,
                Some(Value::Loss) => 1,
                None => 2,
            };
            let order = place(a).cmp(&place(b));
            let order = if a.outcome.is_none() { order.then(promise.cmp(other)) } else { order };
            order.then_with(|| a.position.cmp(&b.position))
        });
        Analysis {
            canonical: root.text(),
            lands,
            grundy: root.grundy,
            outcome: root.value,
            children: children.into_iter().map(|(_, child)| child).collect(),
            reason: self.reason,
            nodes: self.spent,
        }
    }
}
