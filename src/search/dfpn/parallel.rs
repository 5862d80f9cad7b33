//! df-pn on many threads that share the table (Kaneko 2010).
//!
//! # Protocol
//!
//! Every worker runs the sequential search from the root; what keeps them apart and together is
//! this.
//!
//! **Virtual numbers.** A worker that goes below a node says so in [`Visits`]. Whoever chooses
//! between the children of a node that others are below, too, adds to the delta of each child for
//! every worker below that: 1, as Kaneko does, and a share of the delta itself, because our leaf
//! estimates are far greater than 1. It chooses the least virtual delta, and it stays with the
//! child until that would not be the least any more; in the child, real numbers are compared, so
//! the child's threshold is the one without its virtual part. Virtual numbers are for choosing
//! only: a node's own numbers, which go to the table and are compared with its thresholds, are
//! real. (Kaneko stores virtual ones. Then a worker leaves a node when others occupy its good
//! children; here it looks for the best of the free ones that keep within the node's threshold, and
//! if there are none, it joins somebody and parts from them further down.)
//!
//! **News.** Children's numbers stand on the worker's own stack, as in the sequential search. They
//! are read from the table again, and so is the node itself, when the node's word in `Visits` says
//! that others have come since the worker last looked, or have returned from a child while somebody
//! else was there. A worker that is alone below a node, which is nearly always so, pays one look at
//! the word.
//!
//! **Stop signals.** Whoever solves a node sends its key to all others if somebody is below it.
//! A worker that finds such a node on its path returns to it, storing true numbers on the way, and
//! finds the value in the table. If the table has lost it, it searches on as if nothing had been.
//!
//! **The end.** The first worker that solves the root tells the team; the others return as if a
//! limit had been reached.
//!
//! An entry is a true statement whoever writes it, so nothing that arrives late, or twice, or not
//! at all can make an answer false; see [`crate::search::table`] for the entries and
//! `parallel` for the orderings of everything else.

use std::num::NonZeroUsize;
use std::sync::Mutex;

use super::{DfpnOptions, Numbers, Worker, dfpn, outcome};
use crate::search::control::{Control, Counters, Limits, Observer, Report};
use crate::search::evaluate::Evaluator;
use crate::search::game::{Game, Value};
use crate::search::known::Answer;
use crate::search::numbers::{INFINITY, Number};
use crate::search::parallel::{Member, Seen, Team};
use crate::search::table::Table;

/// Stack of a worker. The search recurses as deep as the longest line, some 500 bytes a ply.
const STACK_BYTES: usize = 16 << 20;

/// Expansions in earlier visits without which a worker does not say that it goes below a node: most
/// nodes are done with after fewer, and not worth the others' attention.
const NOTABLE_WORK: u64 = 8;

/// Entries for which the part of the table that a team begins with has room; it takes 2 to 4 MiB,
/// which the cores' caches hold.
const FIRST_ENTRIES: u64 = 1 << 15;

/// Searches a position by df-pn on `threads` threads: the calling one and scoped ones. On one it
/// is [`dfpn`], node for node.
///
/// The outcome does not depend on the number of threads; numbers and counters do, and vary between
/// runs. The observer is called from the calling thread. Needs [`dfpn`]'s memory for each thread,
/// and 512 KiB to 32 MiB for the team.
///
/// # Panics
/// If the system gives no threads, or a worker panics.
pub fn dfpn_parallel<G: Game>(
    game: &G,
    root: u64,
    table: &Table,
    options: DfpnOptions,
    threads: NonZeroUsize,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let threads = threads.get();
    // A known value of the root is one expansion's work.
    if threads == 1 || game.known(root) != Answer::Unknown {
        return dfpn(game, root, table, options, limits, observer);
    }
    table.reserve(FIRST_ENTRIES, |code| game.key(code));
    let team = Team::new(threads, limits, table.estimated_count());
    // All places are taken before anybody begins: the gate waits for those who are still to come.
    let mut members: Vec<_> = (0..threads).map(|number| Member::new(&team, number)).collect();
    let first = members.remove(0);
    let solution: Mutex<Option<(Numbers, Option<u64>)>> = Mutex::new(None);
    let work = |member, observer: &mut dyn Observer| {
        let control = Control::of_member(member, observer);
        let evaluator = Evaluator::new(game, table, control, options.settle);
        let mut worker = Worker::<G, true>::new(evaluator, options);
        let numbers = worker.search_root(root);
        let control = &mut worker.evaluator.control;
        if numbers.phi == 0 || numbers.delta == 0 {
            team.finish();
            let mut solution = solution.lock().expect("nobody panics with it");
            solution.get_or_insert((numbers, control.root.2));
        }
        control.look();
        (numbers, control.root.2)
    };
    let (mut numbers, mut best) = std::thread::scope(|scope| {
        for member in members {
            let work = &work;
            std::thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, move || work(member, &mut ()))
                .expect("the system gives a thread");
        }
        work(first, observer)
    });
    if let Some(solution) = solution.into_inner().expect("nobody panics with it") {
        (numbers, best) = solution;
    }
    let counters: Counters = team.counters();
    Report {
        outcome: outcome(numbers, team.reason()),
        phi: numbers.phi,
        delta: numbers.delta,
        best,
        counters,
        memory_bytes: table.bytes() as u64,
    }
}

/// The nodes that the worker has said to be below, with what it knows about others there.
#[derive(Default)]
pub(super) struct Path {
    nodes: Vec<Step>,
    /// Depth of a node that others have solved: everything below it is given up.
    end: Option<usize>,
}

struct Step {
    depth: usize,
    key: u64,
    /// The node's word when the worker last looked.
    seen: Seen,
}

impl Path {
    /// Whether the worker has said to be below its node of this depth, the deepest one now.
    #[inline(always)]
    pub fn is_below(&self, depth: usize) -> bool {
        self.nodes.last().is_some_and(|step| step.depth == depth)
    }

    /// Whether the worker has to return to a node above this depth.
    #[inline(always)]
    pub fn ends_above(&self, depth: usize) -> bool {
        self.end.is_some_and(|end| end < depth)
    }
}

/// What a look at the others' results at a node says.
pub(super) enum Meeting {
    /// The node is solved.
    Solved(Value),
    /// It is open; whether others are below it.
    Open {
        /// See above.
        others: bool,
    },
}

/// A child and how long to stay with it.
pub(super) struct Choice {
    pub child: usize,
    pub delta_threshold: Number,
}

impl<'a, G: Game, const TEAM: bool> Worker<'a, G, TEAM> {
    fn member(&self) -> &Member<'a> {
        self.evaluator.control.member().expect("a worker of a team")
    }

    /// Reads the mailbox and says whether to return to a node that others have solved.
    #[inline(always)]
    pub(super) fn is_called_back(&mut self) -> bool {
        let member = self.member();
        if let Some(key) = member.team.signals.take(member.number)
            && let Some(step) = self.path.nodes.iter().find(|step| step.key == key)
        {
            self.path.end = Some(step.depth);
        }
        self.path.end.is_some()
    }

    /// Tells that the worker goes below a node, on which `before` expansions were spent earlier, for
    /// the first time on this visit. Returns whether others are there.
    #[inline(always)]
    pub(super) fn go_below(&mut self, code: u64, before: u64, depth: usize) -> bool {
        if before < NOTABLE_WORK && depth > 0 {
            return false;
        }
        let key = self.evaluator.game.key(code);
        let seen = self.member().team.visits.enter(key);
        self.path.nodes.push(Step { depth, key, seen });
        seen.count() > 1
    }

    /// Tells that the worker leaves the node that it is below, and those who are still there if it
    /// is solved.
    pub(super) fn come_back(&mut self, solved: bool) {
        let Step { key, .. } = self.path.nodes.pop().expect("the worker is below the node");
        let member = self.member();
        let others = member.team.visits.leave(key);
        if solved && others > 0 {
            member.team.signals.send(member.number, key);
        }
    }

    /// Reads from the table what others have found out about a node and its children from `base`,
    /// if there are or were any others.
    #[inline(always)]
    pub(super) fn meet(&mut self, code: u64, base: usize, depth: usize) -> Meeting {
        let &Step { key, seen: before, .. } =
            self.path.nodes.last().expect("the worker is below the node");
        let visits = &self.member().team.visits;
        let mut seen = visits.look(key);
        let others = seen.count() > 1;
        let mut own = 0;
        if others {
            // The result of the child that the worker has just left.
            seen = visits.tell(key);
            own = 1;
        }
        let called = self.path.end == Some(depth);
        let news = seen.news_since(before) > own;
        self.path.nodes.last_mut().expect("see above").seen = seen;
        if !called && !news {
            return Meeting::Open { others };
        }
        self.path.end = self.path.end.filter(|_| !called);
        self.read_again(code, base, depth).map_or(Meeting::Open { others }, Meeting::Solved)
    }

    /// Replaces the numbers of the children from `base` by the table's and drops those that are
    /// won; returns the node's value if the table has it.
    fn read_again(&mut self, code: u64, base: usize, depth: usize) -> Option<Value> {
        let evaluator = &mut self.evaluator;
        // The root's value alone does not name its best child.
        if depth > 0
            && let Some(value) = evaluator.value(code)
        {
            return Some(value);
        }
        for child in &evaluator.children[base..] {
            evaluator.table.prefetch(evaluator.game.key(child.code));
        }
        let mut kept = base;
        for at in base..evaluator.children.len() {
            let mut child = evaluator.children[at];
            if let Some(entry) = evaluator.lookup(child.code) {
                (child.phi, child.delta) = (entry.phi, entry.delta);
            }
            if child.phi != 0 {
                evaluator.children[kept] = child;
                kept += 1;
            }
        }
        evaluator.children.truncate(kept);
        None
    }

    /// Chooses among the children from `base` by virtual numbers.
    pub(super) fn choose(&self, base: usize, phi_threshold: Number) -> Choice {
        let evaluator = &self.evaluator;
        let visits = &self.member().team.visits;
        let (mut chosen, mut least, mut second) = (base, u64::MAX, u64::MAX);
        let mut workers = 0;
        for (index, child) in evaluator.children[base..].iter().enumerate() {
            let count = u64::from(visits.look(evaluator.game.key(child.code)).count());
            let number = self.virtual_delta(child.delta, count);
            // What lies beyond the threshold is not worth a visit, but tells how good the rest is.
            if number < least && child.delta < phi_threshold {
                second = second.min(least);
                least = number;
                chosen = base + index;
                workers = count;
            } else {
                second = second.min(number);
            }
        }
        let delta = evaluator.children[chosen].delta;
        let mut threshold = u64::from(phi_threshold);
        if second < u64::from(INFINITY) {
            let slack = (second * u64::from(self.options.epsilon_1024)) >> 10;
            threshold = threshold.min(self.real_delta(second + slack + 1, workers));
        }
        let delta_threshold = (threshold as Number).max(delta + 1);
        Choice { child: chosen, delta_threshold }
    }

    /// A delta as it appears with so many workers below the node.
    fn virtual_delta(&self, delta: Number, workers: u64) -> u64 {
        let share = workers * u64::from(self.options.virtual_1024);
        u64::from(delta) + workers + ((u64::from(delta) * share) >> 10)
    }

    /// The delta that appears as `number` with so many workers below the node.
    fn real_delta(&self, number: u64, workers: u64) -> u64 {
        let share = workers * u64::from(self.options.virtual_1024);
        (number.saturating_sub(workers) << 10) / (1024 + share)
    }
}
