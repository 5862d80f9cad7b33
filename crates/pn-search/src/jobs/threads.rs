//! A leader for workers that are threads of this process and share a table.
//!
//! The leader is behind a lock ([`Turns`]). A worker that comes for a job brings the last one's result
//! along, in one turn, and sleeps if there is none. Jobs that are called off are told at once, by a
//! flag for each worker, which is written in turns only; it is relaxed, as it says no more than
//! itself, and whoever sees it late only searches a little longer.
//!
//! The calling thread does not search. It looks at the limits every few milliseconds, calls the
//! observer, and waits for the others. Where the system gives fewer threads than are asked for,
//! there are fewer workers; where it gives none, the calling thread is the one worker.
//!
//! While a worker has a job or takes a turn, it uses the table, and the [`Gate`] counts it in; who
//! sleeps has left. Nobody waits at the gate with the leader in his hands.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::messages::{JobId, JobOutcome, Message, Notice, Order, Search};
use super::turns::{Turn, Turns};
use super::{FirstLevel, Leader};
use crate::numbers::Number;
use crate::run::Gate;
use crate::run::{Counters, Limits, Observer, Progress, Reason, RootChild, RootChildren};
use crate::table::Table;
use crate::threads::start_worker;

/// Between two looks at the limits.
const PERIOD: Duration = Duration::from_millis(5);

/// The workers of one search.
pub(crate) struct Threads<'a, F: FirstLevel> {
    turns: Turns<Leader<F>>,
    limits: Limits<'a>,
    /// For each worker, whether it should give its job up.
    stops: Box<[AtomicBool]>,
    gate: Gate,
    /// Whether the only worker has to look at the limits.
    is_alone: AtomicBool,
}

/// One worker's place.
pub(crate) struct Seat<'t, 'a, F: FirstLevel> {
    threads: &'t Threads<'a, F>,
    number: usize,
    /// Entries in the table, as far as everybody had told by this worker's last turn.
    pub table_used: u64,
}

/// What came of a job.
pub(crate) struct Done<F: FirstLevel> {
    pub job: JobId,
    pub outcome: JobOutcome<F::Node, F::Children>,
    pub spent: Counters,
}

impl<'a, F: FirstLevel<Node = u64> + Send> Threads<'a, F> {
    /// So many workers for a leader.
    pub fn new(leader: Leader<F>, workers: usize, limits: Limits<'a>) -> Self {
        Threads {
            turns: Turns::new(leader),
            limits,
            stops: (0..workers).map(|_| AtomicBool::new(false)).collect(),
            gate: Gate::new(),
            is_alone: AtomicBool::new(false),
        }
    }

    /// Runs the workers, on threads with so much stack, until the search is over, and gives the
    /// leader back.
    ///
    /// # Panics
    /// If a worker or the observer does; everybody else is stopped first.
    pub fn run(
        self,
        stack_bytes: usize,
        observer: &mut dyn Observer,
        work: impl Fn(&mut Seat<'_, 'a, F>) + Sync,
    ) -> Leader<F> {
        if let Some(reason) = self.limits.reached() {
            self.end(reason);
        }
        thread::scope(|scope| {
            let _watch = Watch(&self);
            let (alive, ended) = mpsc::channel::<()>();
            let mut handles = Vec::with_capacity(self.stops.len());
            for number in 0..self.stops.len() {
                let (alive, threads, work) = (alive.clone(), &self, &work);
                let worker = move || {
                    threads.work(number, work);
                    drop(alive);
                };
                match start_worker(scope, "jobs", stack_bytes, worker) {
                    Some(handle) => handles.push(handle),
                    None => break,
                }
            }
            drop(alive);
            if handles.is_empty() {
                self.is_alone.store(true, Ordering::Relaxed);
                self.work(0, &work);
            }
            let mut shown = 0;
            // Nobody sends; the channel closes when the last worker ends, be it by a panic.
            while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                let (is_over, progress) = self.look();
                if is_over {
                    continue;
                }
                if let Some(reason) = self.limits.reached() {
                    self.end(reason);
                } else if progress.counters.expansions > shown {
                    shown = progress.counters.expansions;
                    observer.progress(&Progress { children: Some(&self), ..progress });
                }
            }
            for handle in handles {
                if let Err(panic) = handle.join() {
                    std::panic::resume_unwind(panic);
                }
            }
        });
        self.turns.into_state()
    }

    fn work(&self, number: usize, work: &impl Fn(&mut Seat<'_, 'a, F>)) {
        let _counted = CountedIn::at(&self.gate);
        // Dropped first: a worker that panics ends the search before the others pass the barrier.
        let _watch = Watch(self);
        work(&mut Seat { threads: self, number, table_used: 0 });
    }

    fn look(&self) -> (bool, Progress<'static>) {
        let mut turn = self.turns.take();
        let leader = turn.state();
        let (phi, delta, best) = leader.level.root();
        let counters = leader.counters();
        (leader.is_over(), Progress { phi, delta, best, counters, ..Progress::default() })
    }
}

impl<F: FirstLevel> Threads<'_, F> {
    /// Ends the search without an answer.
    fn end(&self, reason: Reason) {
        let mut turn = self.turns.take();
        turn.state().end(reason);
        self.deliver_stops(turn.state());
        turn.end();
    }

    fn deliver_stops(&self, leader: &mut Leader<F>) {
        for (worker, _) in leader.take_stops() {
            self.stops[worker as usize].store(true, Ordering::Relaxed);
        }
    }
}

impl<F: FirstLevel<Node = u64> + Send> RootChildren for Threads<'_, F> {
    fn root_children(&self) -> Vec<RootChild> {
        let mut turn = self.turns.take();
        let children = turn.state().level.root_children();
        children.map_or_else(Vec::new, RootChildren::root_children)
    }
}

/// Ends the search when its thread panics, so that no other thread waits for it.
struct Watch<'s, 'a, F: FirstLevel>(&'s Threads<'a, F>);

impl<F: FirstLevel> Drop for Watch<'_, '_, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end(Reason::Interrupted);
        }
    }
}

/// A worker's membership of the barrier, which ends when it is dropped, also by a panic.
struct CountedIn<'g>(&'g Gate);

impl<'g> CountedIn<'g> {
    fn at(gate: &'g Gate) -> Self {
        gate.join();
        CountedIn(gate)
    }
}

impl Drop for CountedIn<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl<'t, F: FirstLevel> Seat<'t, '_, F> {
    /// Whether the job that the worker has should be given up.
    pub fn stop(&self) -> &'t AtomicBool {
        &self.threads.stops[self.number]
    }

    /// Brings what came of the last job, and gets the next as soon as there is one. `None` at the end
    /// of the search.
    pub fn next(&mut self, done: Option<Done<F>>) -> Option<Search<F::Node>> {
        let threads = self.threads;
        let mut notice = Notice::Hello;
        if let Some(Done { job, outcome, spent }) = done {
            notice = Notice::Done { job, outcome, spent };
        }
        loop {
            let mut turn = threads.turns.take();
            if !matches!(notice, Notice::Hello) {
                turn.changed();
            }
            self.stop().store(false, Ordering::Relaxed);
            match self.say(&mut turn, std::mem::replace(&mut notice, Notice::Hello)) {
                Order::Search(search) => {
                    turn.leave();
                    return Some(search);
                }
                Order::Wait => {
                    let version = turn.leave_without_job();
                    threads.gate.leave();
                    threads.turns.sleep(version);
                    threads.gate.join();
                }
                Order::Quit => {
                    turn.end();
                    return None;
                }
            }
        }
    }

    /// Tells how far the worker has come with its job.
    pub fn slice(&mut self, job: JobId, numbers: Option<(Number, Number)>, spent: Counters) {
        let mut turn = self.threads.turns.take();
        self.tell(&mut turn, |leader| leader.slice(job, numbers, &spent));
    }

    fn say(
        &mut self,
        turn: &mut Turn<'_, Leader<F>>,
        notice: Notice<F::Node, F::Children>,
    ) -> Order<F::Node> {
        let worker = self.number as u64;
        let message = Message { worker, facts: Vec::new(), read: 0, notice };
        self.tell(turn, |leader| leader.hear(message)).order
    }

    /// Calls `tell` with the leader, and passes on what follows from that.
    fn tell<T>(
        &mut self,
        turn: &mut Turn<'_, Leader<F>>,
        tell: impl FnOnce(&mut Leader<F>) -> T,
    ) -> T {
        let threads = self.threads;
        let leader = turn.state();
        if threads.is_alone.load(Ordering::Relaxed)
            && let Some(reason) = threads.limits.reached()
        {
            leader.end(reason);
        }
        let told = tell(leader);
        self.table_used = leader.counters().table_used;
        threads.deliver_stops(leader);
        told
    }

    /// Lets the table grow if it is full enough, this worker having filled so many cells that it has
    /// not told of. To be called now and then by whoever has a job.
    #[inline]
    pub fn grow_if_full(&self, table: &Table, filled: u64, key_of: impl Fn(u64) -> u64 + Sync) {
        self.at_gate(table.wants_growth(self.table_used + filled), || {
            table.grow(self.threads.stops.len(), &key_of);
            false
        });
    }

    /// Lets the table grow before a job if `more` new entries would make it grow. Then the job may
    /// fill so many as it likes. The number of entries is judged by a sample, and a quarter is added
    /// to it.
    pub fn make_room(&self, table: &Table, more: u64, key_of: impl Fn(u64) -> u64 + Sync) {
        let is_tight = || {
            let count = table.estimated_count().saturating_add(more).min(table.capacity());
            table.wants_growth(count + count / 4)
        };
        self.at_gate(is_tight(), || {
            let grows = is_tight();
            if grows {
                table.grow(self.threads.stops.len(), &key_of);
            }
            grows
        });
    }

    /// Calls all workers to the gate if this one wants it, where one of them does the work as long as
    /// there is more of it and no limit is reached: while it goes on, nobody looks at the stop flag.
    #[inline]
    fn at_gate(&self, wants: bool, mut work: impl FnMut() -> bool) {
        let Threads { gate, limits, .. } = self.threads;
        let may_go_on = || limits.reached().is_none();
        if wants && may_go_on() {
            gate.request();
        }
        if gate.is_wanted() {
            gate.pass(|| while may_go_on() && work() {});
        }
    }
}
