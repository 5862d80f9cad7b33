//! df-pn over plain games.

use std::num::NonZeroUsize;
use std::sync::Mutex;

use super::{Choosing, Worker};
use crate::nand::Nand;
use crate::numbers::{Combination, Pair};
use crate::plain::Root;
use crate::plain::evaluate::{Evaluator, Growth, Listener};
use crate::plain::game::{Child, Game};
use crate::plain::known::Answer;
use crate::run::{Control, Counters, Limits, Member, Observer, Outcome, Reason, Report, Team};
use crate::table::Table;
use crate::threads::start_worker;
use crate::{SettleOptions, Value};

/// The parameters of df-pn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DfpnOptions {
    /// How delta follows from the children's phi.
    pub combination: Combination,
    /// The 1+ε trick: a child keeps the search until its delta exceeds the second best by this
    /// factor, in 1/1024. 154 is the thesis' 0.15.
    pub epsilon_1024: u32,
    /// Which new children a bounded exact search is tried on.
    pub settle: SettleOptions,
    /// How many children of one expansion are looked at for it in vain, those of least delta first;
    /// also those count that the table knows, or that it would take too long for. On the others it is
    /// tried when the search comes to them.
    pub tries: u32,
    /// On several threads: how much greater a child's delta appears for every other worker below
    /// it, in 1/1024 of itself, beside the 1 of Kaneko (2010).
    pub virtual_1024: u32,
}

impl DfpnOptions {
    fn choosing(&self) -> Choosing {
        let &DfpnOptions { combination, epsilon_1024, virtual_1024, .. } = self;
        Choosing { combination, epsilon_1024, virtual_1024 }
    }
}

/// Stack of a worker. The search recurses as deep as the longest line, some 500 bytes a ply.
const STACK_BYTES: usize = 16 << 20;

/// Entries for which the part of the table that a team begins with has room; it takes 2 to 4 MiB,
/// which the cores' caches hold.
const FIRST_ENTRIES: u64 = 1 << 15;

/// Searches a position by df-pn on one thread.
///
/// The table may hold entries of earlier proof-number searches of the same game; what they know is
/// used. So a search that was stopped goes on where it was when it is called again with the same
/// table. Recurses as deep as the longest line that it looks at.
///
/// # Panics
/// If the game or the observer does.
pub fn dfpn<G: Game>(
    root: Root<'_, G>,
    options: DfpnOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    dfpn_heard_by(&(), root, Growth::Allowed, options, NonZeroUsize::MIN, limits, observer)
}

/// Searches a position by df-pn on `threads` threads: the calling one and scoped ones. On one it
/// is [`dfpn`], node for node.
///
/// The outcome does not depend on the number of threads; numbers and counters do, and vary between
/// runs. The observer is called from the calling thread. Needs [`dfpn`]'s memory for each thread,
/// and 512 KiB to 32 MiB for the team. If the system starts fewer threads, the others search without
/// them.
///
/// # Panics
/// If the game or the observer does. The other threads are stopped first.
pub fn dfpn_parallel<G: Game>(
    root: Root<'_, G>,
    options: DfpnOptions,
    threads: NonZeroUsize,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    dfpn_heard_by(&(), root, Growth::Allowed, options, threads, limits, observer)
}

/// [`dfpn_parallel`] that reports its stores to a listener, and lets the table grow only if it may.
pub(crate) fn dfpn_heard_by<G: Game, L: Listener>(
    listener: &L,
    root: Root<'_, G>,
    growth: Growth,
    options: DfpnOptions,
    threads: NonZeroUsize,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let Root { game, code, table } = root;
    let threads = threads.get();
    // A known value of the root is one expansion's work.
    if threads == 1 || game.known(code) != Answer::Unknown {
        let mut control = Control::new(limits, observer);
        control.counters = first(table);
        let (pair, control) = search::<G, L, false>(listener, root, growth, options, control);
        return report(table, pair, control.stopped, control.root.2, control.counters, 1);
    }
    if growth == Growth::Allowed {
        table.reserve(FIRST_ENTRIES, threads, |code| game.key(code));
    }
    let team = Team::new(threads, limits, first(table));
    let mut members: Vec<_> = Member::all(&team).collect();
    let first = members.remove(0);
    let solution: Mutex<Option<(Pair, Option<u64>)>> = Mutex::new(None);
    let work = |member, observer: Option<&mut dyn Observer>| {
        let observer = observer.map(|observer| observer as &mut dyn Observer);
        let control = Control::of_worker(member, observer);
        let (pair, mut control) = search::<G, L, true>(listener, root, growth, options, control);
        let found = (pair, control.root.2);
        if pair.value().is_some() {
            team.finish();
            solution.lock().expect("nobody panics with it").get_or_insert(found);
        }
        control.finish();
        found
    };
    let mut started = 1;
    let (mut pair, mut best) = std::thread::scope(|scope| {
        for member in members {
            let work = &work;
            // Who cannot be started leaves the team; the others do without.
            let worker = move || work(member, None);
            started += u32::from(start_worker(scope, "search", STACK_BYTES, worker).is_some());
        }
        work(first, Some(observer))
    });
    if let Some(solution) = solution.into_inner().expect("nobody panics with it") {
        (pair, best) = solution;
    }
    report(table, pair, team.reason(), best, team.counters(), started)
}

/// What is counted before the search: the root, and what the table has.
fn first(table: &Table) -> Counters {
    Counters { nodes: 1, table_used: table.estimated_count(), ..Counters::default() }
}

fn search<'a, G: Game, L: Listener, const TEAM: bool>(
    listener: &'a L,
    root: Root<'a, G>,
    growth: Growth,
    options: DfpnOptions,
    control: Control<'a>,
) -> (Pair, Control<'a>) {
    let Root { game, code: root, table } = root;
    let mut evaluator = Evaluator::heard_by(listener, game, table, growth, control, options.settle);
    evaluator.open_entries = true;
    evaluator.tries = options.tries;
    if evaluator.root_is_lost(root) {
        evaluator.solved(root, Value::Loss, 0);
        return (Pair::LOSS, evaluator.control);
    }
    let mut worker = Worker::<_, TEAM>::new(evaluator, options.choosing());
    let root = Child { code: root, phi: 1, delta: 1, effort: Child::NEVER_SETTLE };
    let pair = worker.solve(&(), &root);
    (pair, worker.tree.control)
}

/// What the root's numbers say; if nothing, the search was stopped.
fn report(
    table: &Table,
    Pair { phi, delta }: Pair,
    stopped: Option<Reason>,
    best: Option<u64>,
    counters: Counters,
    threads: u32,
) -> Report {
    let outcome = Outcome::of((Pair { phi, delta }).value(), stopped);
    let memory_bytes = table.bytes() as u64;
    Report { outcome, phi, delta, best, counters, memory_bytes, threads }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::graph::GraphGame;

    /// With leaf estimates of 1000, no number of an open position is less, so whatever a stopped
    /// search leaves in the table must not be either.
    #[test]
    fn a_stopped_search_leaves_true_numbers() {
        let game = GraphGame::nim(&[12, 21, 25]);
        let estimates = vec![(1000, 1000); game.nodes() as usize];
        let game = game.with_estimates(estimates).unwrap();
        let options = DfpnOptions {
            combination: Combination::SUM,
            epsilon_1024: 154,
            settle: SettleOptions::NEVER,
            tries: 0,
            virtual_1024: 0,
        };
        for nodes in [100, 300, 1000, 3000] {
            let table = Table::new(1 << 20).unwrap();
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let report = dfpn(Root::new(&game, 0, &table), options, limits, &mut ());
            assert_eq!(report.outcome.value(), None);
            assert!(report.phi >= 1000 && report.delta >= 1000, "{nodes}");
            let known = (0..game.nodes()).filter_map(|code| table.lookup(game.key(code), code));
            for entry in known.filter(|entry| entry.value().is_none()) {
                assert!(entry.phi >= 1000 && entry.delta >= 1000, "{nodes}: {entry:?}");
            }
        }
    }
}
