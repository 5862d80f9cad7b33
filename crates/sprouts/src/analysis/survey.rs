//! Analysis of one position: searches of all unknown values with increasing budgets.
//!
//! In each round, the search of every open child has the same budget of nodes. The search of the position has
//! as large a budget as all open children together, because its outcome is the most important value. A search
//! that used up its budget is continued in the next round, and each search uses the results of the others.
//! Thus easy values are found early, and no value takes much longer than in a search for it alone.
//!
//! [`survey`] creates a `Survey` with a `SurveyNode` for the position, each land and each child. The `Role`
//! of a node says which of these it is. The `Target` of a search is the value that it finds.

use std::time::{Duration, Instant};

use pn_search::Value;
use pn_search::numbers::Pair;
use pn_search::run::{Counters, Limits, Observer, Outcome, Reason};
use pn_search::sums::game::{Atom, GameFull};
use pn_search::sums::{SearchOptions, SolverState, Sum, dfpn, grundy};

use super::{Analysis, ChildValue, Goal, LandValue, ValueSource};
use crate::{MovesError, Position, Scratch, Sprouts};

/// Budget of a child in the first round. The resulting φ and δ suffice to compare children.
const FIRST_BUDGET: u64 = 50;
/// Growth factor of the budget from round to round.
const BUDGET_GROWTH: u64 = 4;
/// Minimum budget of a search with several threads. A smaller search would end before the threads have
/// started.
const MIN_PARALLEL_BUDGET: u64 = 1 << 14;

/// Time for listing moves even if a limit has been reached. Thus a search that has reached its limit can
/// report what is known about the moves. The time suffices for nearly all positions.
const MIN_LISTING_TIME: Duration = Duration::from_millis(100);

/// Options of [`survey`].
#[derive(Clone, Copy)]
pub struct SurveyOptions<'l> {
    /// Values to find.
    pub goal: Goal,
    /// Size of the nim heap that is added to the position.
    pub nimber: u32,
    /// Options of the searches. They must be the same for all searches with the solver state.
    pub search: SearchOptions,
    /// Number of threads.
    pub threads: u32,
    /// Lands with smaller ids have their Grundy numbers from a file.
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
    state: &SolverState<Sprouts>,
    position: &Position,
    options: SurveyOptions<'_>,
    scratch: &mut Scratch,
    observer: &mut dyn Observer,
    on_change: &mut dyn FnMut(&Analysis),
) -> Result<Analysis, MovesError> {
    let game = state.game();
    let mut listed = list_nodes(game, position, options, scratch);
    let is_full = matches!(listed, Err(MovesError::Full(_)));
    if is_full && options.limits.reached().is_none() {
        // Lands of earlier searches may occupy the memory.
        state.collect_garbage();
        listed = list_nodes(game, position, options, scratch);
    }
    let (nodes, reason) = match (listed, options.limits.reached()) {
        (Ok(nodes), _) => (nodes, None),
        (Err(_), Some(reason)) => (root_and_lands(game, position, options, scratch)?, Some(reason)),
        (Err(error), None) => return Err(error),
    };
    let mut survey = Survey { state, options, scratch, observer, nodes, spent: 0, reason };
    if reason.is_some() {
        // `apply_rules` is not called, because a position whose children are not listed would count as lost.
        for node in &mut survey.nodes {
            node.update(state, options.from_file);
        }
        return Ok(survey.analysis());
    }
    survey.update();
    on_change(&survey.analysis());
    survey.run(on_change);
    Ok(survey.analysis())
}

/// Returns nodes for the position and its lands.
fn root_and_lands(
    game: &Sprouts,
    position: &Position,
    options: SurveyOptions<'_>,
    scratch: &mut Scratch,
) -> Result<Vec<SurveyNode>, GameFull> {
    let atoms = game.atoms(position, scratch)?;
    let root = SurveyNode::new(Role::Root, game, &atoms, options.nimber);
    let lands = atoms.iter().map(|&atom| SurveyNode::new(Role::Land, game, &[atom], 0));
    Ok([root].into_iter().chain(lands).collect())
}

/// Returns nodes for the position, its lands and the positions after its moves. The error is
/// [`MovesError::Full`] also if a limit is reached and listing moves takes longer than [`MIN_LISTING_TIME`].
fn list_nodes(
    game: &Sprouts,
    position: &Position,
    options: SurveyOptions<'_>,
    scratch: &mut Scratch,
) -> Result<Vec<SurveyNode>, MovesError> {
    let mut nodes = root_and_lands(game, position, options, scratch)?;
    let SurveyOptions { nimber, limits, .. } = options;
    let begun = Instant::now();
    let is_stopped = || begun.elapsed() > MIN_LISTING_TIME && limits.reached().is_some();
    let atoms = game.atoms(position, scratch)?;
    for child in game.children(&atoms, scratch, &is_stopped)? {
        if is_stopped() {
            return Err(GameFull.into());
        }
        nodes.push(SurveyNode::new(Role::Child, game, &child, nimber));
    }
    nodes.extend((0..nimber).map(|less| SurveyNode::new(Role::Child, game, &atoms, less)));
    Ok(nodes)
}

/// Relation of a node to the position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Root,
    Land,
    Child,
}

/// A position whose value is searched.
struct SurveyNode {
    role: Role,
    /// Canonical text of its lands, which identifies them after a garbage collection.
    lands: String,
    sum: Sum,
    /// Outcome for the player to move in this position.
    value: Option<Value>,
    grundy: Option<u32>,
    source: Option<ValueSource>,
    /// φ and δ after the last search.
    pair: Option<Pair>,
    /// True if a search of this node has run out of memory. The node is not searched again.
    is_out_of_memory: bool,
}

impl SurveyNode {
    fn new(role: Role, game: &Sprouts, atoms: &[Atom], nimber: u32) -> SurveyNode {
        SurveyNode {
            role,
            lands: game.text(atoms),
            sum: Sum::new(game, atoms, nimber),
            value: None,
            grundy: None,
            source: None,
            pair: None,
            is_out_of_memory: false,
        }
    }

    fn text(&self) -> String {
        match self.sum.nimber() {
            0 => self.lands.clone(),
            nimber => format!("{} + *{nimber}", self.lands),
        }
    }

    /// Returns the outcome for the player whose move leads to this position.
    fn outcome(&self) -> Option<Value> {
        self.value.map(|value| !value)
    }

    /// Returns δ/φ in fixed point. It becomes smaller as a proof that the player to move loses comes nearer.
    fn proof_ratio(&self) -> u64 {
        self.pair.map_or(u64::MAX, |Pair { phi, delta }| {
            (u64::from(delta) << 32) / u64::from(phi.max(1))
        })
    }

    /// Copies the known values from the solver state. Returns true if that changed anything.
    fn update(&mut self, state: &SolverState<Sprouts>, from_file: Atom) -> bool {
        let grundy = self.grundy.or_else(|| state.grundy(&self.sum));
        let value = self.value.or_else(|| state.value(&self.sum));
        let changed = (grundy, value) != (self.grundy, self.value);
        if changed {
            (self.grundy, self.value) = (grundy, value);
            self.source = Some(match self.sum.atoms() {
                [] => ValueSource::Rules,
                atoms if grundy.is_some() && atoms.iter().all(|&atom| atom < from_file) => {
                    ValueSource::File
                }
                _ => ValueSource::Search,
            });
        }
        changed
    }
}

/// Value that a search determines.
#[derive(Clone, Copy)]
enum Target {
    Value,
    Grundy,
}

struct Survey<'w> {
    state: &'w SolverState<Sprouts>,
    options: SurveyOptions<'w>,
    scratch: &'w mut Scratch,
    observer: &'w mut dyn Observer,
    /// The position is the first node.
    nodes: Vec<SurveyNode>,
    /// Number of nodes evaluated by all searches.
    spent: u64,
    /// Reason for which no more values are searched; `None` if there is no such reason.
    reason: Option<Reason>,
}

impl Survey<'_> {
    fn run(&mut self, on_change: &mut dyn FnMut(&Analysis)) {
        let mut budget = FIRST_BUDGET;
        while self.reason.is_none() && !self.is_done() {
            if self.nodes.iter().all(|node| !self.is_open(node) || node.is_out_of_memory) {
                self.reason = Some(Reason::Memory);
                return;
            }
            self.round(budget, on_change);
            budget = budget.saturating_mul(BUDGET_GROWTH);
        }
    }

    /// Returns true if a value of the node is still needed.
    fn is_open(&self, node: &SurveyNode) -> bool {
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

    fn children(&self) -> impl Iterator<Item = &SurveyNode> {
        self.nodes.iter().filter(|node| node.role == Role::Child)
    }

    /// Searches every open node: children and lands with this budget, the position with this budget for every
    /// open child.
    fn round(&mut self, budget: u64, on_change: &mut dyn FnMut(&Analysis)) {
        let open = self.children().filter(|child| self.is_open(child)).count() as u64;
        if self.nodes[0].value.is_none() {
            self.search(0, Target::Value, budget.saturating_mul(open.max(1)), on_change);
        }
        let mut order: Vec<usize> = (1..self.nodes.len()).collect();
        order.sort_by_key(|&at| self.nodes[at].proof_ratio());
        for &at in &order {
            if self.nodes[at].role == Role::Child && self.nodes[at].value.is_none() {
                self.search(at, Target::Value, budget, on_change);
            }
        }
        if self.options.goal == Goal::Numbers {
            for &at in &order {
                if self.nodes[at].grundy.is_none() {
                    self.search(at, Target::Grundy, budget, on_change);
                }
            }
        }
    }

    /// Searches one node, unless the survey has ended or the node is out of memory.
    fn search(
        &mut self,
        at: usize,
        target: Target,
        budget: u64,
        on_change: &mut dyn FnMut(&Analysis),
    ) {
        if self.reason.is_some() || self.is_done() || self.nodes[at].is_out_of_memory {
            return;
        }
        let left = self.options.limits.nodes.map_or(u64::MAX, |max| max.saturating_sub(self.spent));
        if left == 0 {
            self.reason = Some(Reason::NodeLimit);
            return;
        }
        let limits = Limits { nodes: Some(budget.min(left)), ..self.options.limits };
        let SurveyOptions { search, threads, .. } = self.options;
        let threads = if budget < MIN_PARALLEL_BUDGET { 1 } else { threads };
        let epoch = self.state.game().epoch();
        let node = &mut self.nodes[at];
        let (counters, stopped): (Counters, Option<Reason>) = match target {
            Target::Value => {
                let (state, observer) = (self.state, &mut *self.observer);
                let report = dfpn(state, &node.sum, search, threads, limits, observer);
                node.pair = Some(Pair { phi: report.phi, delta: report.delta });
                let stopped = match report.outcome {
                    Outcome::Known(value) => {
                        // `SurveyNode::update` would miss a win with a large heap: such a win is stored in
                        // the table, but not in the results about Grundy numbers.
                        node.value = Some(value);
                        node.source = Some(ValueSource::Search);
                        None
                    }
                    Outcome::Unknown(reason) => Some(reason),
                };
                (report.counters, stopped)
            }
            Target::Grundy => {
                let (state, observer) = (self.state, &mut *self.observer);
                let atoms = node.sum.atoms();
                let report = grundy(state, atoms, search, threads, limits, observer);
                (report.counters, report.grundy.err())
            }
        };
        self.spent += counters.nodes;
        match stopped {
            Some(Reason::Memory) => self.nodes[at].is_out_of_memory = true,
            // Only the budget of this search is used up. The total limit is checked before the next search.
            None | Some(Reason::NodeLimit) => {}
            Some(_) => self.reason = stopped,
        }
        let answered = stopped.is_none();
        // After a garbage collection, an id may belong to another land. Then values are not copied until the
        // ids have been looked up again.
        let changed = match self.state.game().epoch() == epoch || self.renew_ids() {
            true => self.update(),
            false => self.apply_rules(),
        };
        if changed || answered {
            on_change(&self.analysis());
        }
    }

    /// Copies all known values from the solver state and applies the rules. Returns true if that changed
    /// anything.
    fn update(&mut self) -> bool {
        let Survey { state, options, nodes, .. } = self;
        let mut changed = false;
        for node in nodes {
            changed |= node.update(state, options.from_file);
        }
        changed | self.apply_rules()
    }

    /// Derives the outcome of the position from the outcomes of its children, and the reverse. Returns true
    /// if that changed anything.
    fn apply_rules(&mut self) -> bool {
        let mut changed = false;
        let Some((root, others)) = self.nodes.split_first_mut() else { return changed };
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
                (root.value, root.source) = (Some(Value::Loss), Some(ValueSource::Search));
            }
            changed |= root.value.is_some();
        } else if root.value == Some(Value::Loss) {
            for child in children.filter(|child| child.value.is_none()) {
                (child.value, child.source) = (Some(Value::Win), root.source);
                changed = true;
            }
        }
        changed
    }

    /// Looks up the ids of all lands again, because they may have changed. If there is not enough memory,
    /// ends the survey and returns false; then the ids are invalid.
    fn renew_ids(&mut self) -> bool {
        for node in &mut self.nodes {
            let position = Position::from_canonical(&node.lands);
            let position = position.expect("a canonical text is a position");
            let Ok(atoms) = self.state.game().atoms(&position, self.scratch) else {
                self.reason = self.reason.or(Some(Reason::Memory));
                return false;
            };
            node.sum = Sum::new(self.state.game(), &atoms, node.sum.nimber());
        }
        true
    }

    /// Returns the current results, with lands and children in the order of the report.
    fn analysis(&self) -> Analysis {
        let root = &self.nodes[0];
        let lands = self.nodes.iter().filter(|node| node.role == Role::Land);
        let land = |land: &SurveyNode| {
            let SurveyNode { grundy, source, .. } = *land;
            LandValue { position: land.text(), grundy, source: source.filter(|_| grundy.is_some()) }
        };
        let mut lands: Vec<LandValue> = lands.map(land).collect();
        lands.sort_by(|a, b| a.position.cmp(&b.position));
        let mut children: Vec<(u64, ChildValue)> = self
            .children()
            .map(|child| {
                let SurveyNode { grundy, source, .. } = *child;
                let outcome = child.outcome();
                let position = child.text();
                (child.proof_ratio(), ChildValue { position, grundy, outcome, source })
            })
            .collect();
        children.sort_by(|(proof_ratio, a), (other, b)| {
            let place = |child: &ChildValue| match child.outcome {
                Some(Value::Win) => 0,
                Some(Value::Loss) => 1,
                None => 2,
            };
            let order = place(a).cmp(&place(b));
            let order =
                if a.outcome.is_none() { order.then(proof_ratio.cmp(other)) } else { order };
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
