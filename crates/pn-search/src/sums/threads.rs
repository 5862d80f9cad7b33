//! Runs the workers of a search, again after the memory was full.

use std::sync::{Arc, Mutex, PoisonError};

use super::collect::Collector;
use super::evaluate::Evaluator;
use super::game::{Atom, Impartial};
use super::options::SearchOptions;
use super::workspace::Workspace;
use crate::dfpn;
use crate::numbers::Pair;
use crate::run::{Control, Counters, Limits, Member, Observer, Outcome, Reason, Report, Team};
use crate::table::Table;
use crate::threads::start_worker;

/// Stack of a thread, for every move that may be made below the root, and beside that.
const STACK_BYTES_A_MOVE: usize = 4096;
const STACK_BYTES: usize = 4 << 20;

/// Expansions between two looks at the clock, the stop flag and the memory. Those of large
/// positions take a millisecond each.
pub(super) const INTERVAL: u32 = 64;

/// df-pn over sums.
pub(super) type Worker<'a, G, const TEAM: bool> = dfpn::Worker<Evaluator<'a, G, &'a Table>, TEAM>;

/// What workers do.
pub(super) trait Task<G: Impartial>: Sync {
    /// What they look for.
    type Answer: Send;

    /// Searches until there is an answer or the search is stopped.
    fn run<'a, const TEAM: bool>(&self, worker: &mut Worker<'a, G, TEAM>) -> Option<Self::Answer>;
}

/// The workers of a search.
pub(super) struct Threads<'w, G: Impartial> {
    pub workspace: &'w Workspace<'w, G>,
    pub options: SearchOptions,
    /// At least one is started.
    pub count: u32,
    /// Whether one worker alone behaves as one of several.
    pub team_of_one: bool,
}

/// What workers have found.
pub(super) struct Searched<T> {
    pub answer: Result<T, Reason>,
    /// The root's numbers, as the first worker saw them last.
    pub root: Pair,
    pub counters: Counters,
    /// Workers that were started; the most if they were started again.
    pub threads: u32,
}

impl Searched<Pair> {
    /// The report on a root whose numbers were looked for.
    pub fn report(self, memory_bytes: u64) -> Report {
        let (outcome, pair) = match self.answer.map(|pair| (pair.value(), pair)) {
            Ok((Some(value), pair)) => (Outcome::Known(value), pair),
            Ok((None, _)) => unreachable!("numbers are an answer if they are those of a value"),
            Err(reason) => (Outcome::Unknown(reason), self.root),
        };
        let Pair { phi, delta } = pair;
        let Searched { counters, threads, .. } = self;
        Report { outcome, phi, delta, best: None, counters, memory_bytes, threads }
    }
}

impl<G: Impartial> Threads<'_, G> {
    /// Runs workers until one has an answer or the search is stopped, and makes room whenever memory
    /// is what stops it. `root` are atoms that stay.
    pub fn search<T: Task<G>>(
        &self,
        task: &T,
        root: &[Atom],
        limits: Limits<'_>,
        observer: &mut (dyn Observer + Send),
    ) -> Searched<T::Answer> {
        let count = self.count.max(1) as usize;
        let table = &self.workspace.table;
        let begin = Counters { table_used: table.estimated_count(), ..Counters::default() };
        let is_team = count > 1 || self.team_of_one;
        let team = Team::new(if is_team { count.max(2) } else { 1 }, limits, begin);
        let mut collector = Collector::default();
        let mut threads = 1;
        loop {
            let (found, root_pair, started) = match is_team {
                false => self.until_stopped::<T, false>(task, root, &team, observer),
                true => self.until_stopped::<T, true>(task, root, &team, observer),
            };
            threads = started.max(threads);
            let left = team.take_found();
            if !left.is_empty() && !observer.grundy_numbers(&left) {
                team.stop(Reason::FileError);
            }
            if found.is_none()
                && team.reason() == Some(Reason::Memory)
                && collector
                    .collect(self.workspace, root, self.count, &|| limits.reached().is_some())
            {
                team.resume(table.count().0);
                continue;
            }
            let stopped = || team.reason().expect("a search without an answer was stopped");
            let answer = found.ok_or_else(stopped);
            return Searched { answer, root: root_pair, counters: team.counters(), threads };
        }
    }

    /// Runs workers until one has an answer or the search is stopped, and returns their number with
    /// what they found. The first of them reports to the observer; if there is no thread for it, the
    /// observer receives what was found at the end.
    fn until_stopped<T: Task<G>, const TEAM: bool>(
        &self,
        task: &T,
        root: &[Atom],
        team: &Arc<Team<'_>>,
        observer: &mut (dyn Observer + Send),
    ) -> (Option<T::Answer>, Pair, u32) {
        let &Threads { workspace, options, .. } = self;
        let observer = Mutex::new(Some(observer));
        let work = |member: Member<'_>| {
            let first = member.number() == 0;
            let own = first.then(|| observer.lock().unwrap_or_else(PoisonError::into_inner).take());
            let observer = own.flatten().map(|observer| observer as &mut dyn Observer);
            let control = Control::of_member(member, observer, INTERVAL);
            let evaluator = Evaluator::new(workspace, &workspace.table, control, options, TEAM);
            let mut worker = Worker::<G, TEAM>::new(evaluator, options.choosing());
            let found = task.run(&mut worker);
            let control = &mut worker.tree.control;
            if found.is_some() {
                control.team().finish();
            }
            control.finish();
            let (phi, delta, _) = control.root;
            (found, Pair { phi, delta })
        };
        let lives = |&atom: &Atom| workspace.game.features(atom).lives as usize;
        let moves: usize = root.iter().map(lives).sum();
        let stack = STACK_BYTES.saturating_add(moves.saturating_mul(STACK_BYTES_A_MOVE));
        // All places are taken before anybody begins.
        let count = self.count.max(1) as usize;
        let members: Vec<_> = Member::all(team).take(count).collect();
        std::thread::scope(|scope| {
            let start = |member| {
                let work = &work;
                // Who cannot be started leaves the team; the others do without.
                start_worker(scope, "search", stack, move || work(member))
            };
            let handles: Vec<_> = members.into_iter().filter_map(start).collect();
            if handles.is_empty() {
                // A system that gives no thread at all still has this one.
                let (found, pair) = work(Member::first(team));
                return (found, pair, 1);
            }
            let mut all = (None, Pair { phi: 1, delta: 1 }, handles.len() as u32);
            for (number, handle) in handles.into_iter().enumerate() {
                match handle.join() {
                    Ok((found, pair)) => {
                        all.0 = all.0.or(found);
                        if number == 0 {
                            all.1 = pair;
                        }
                    }
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        })
    }
}
