//! Workers of one process that share a table: the coordinator behind a mutex.
//!
//! A worker that needs a job locks the coordinator, brings the result of its last job, and takes the next.
//! If there is none, it waits on a condition variable until another worker has brought a result; every
//! few milliseconds it polls the limits and the observer. All data is exchanged under the mutex.
//!
//! The workers are members of one [`Team`](crate::run::Team), which has the limits, the totals and the
//! resize barrier. A worker that waits leaves the barrier. None waits at the barrier with the mutex
//! locked. A job that is cancelled is reported through the worker's mailbox.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::messages::{JobId, JobOutcome, Message, Notice, Order, Search};
use super::{FirstLevel, Leader, Rules};
use crate::numbers::Number;
use crate::run::{Control, Counters, RootChild, SharedTree};

/// Time between two polls of the limits by a worker that waits.
const PERIOD: Duration = Duration::from_millis(5);

/// Coordinator of the workers of one process.
pub(crate) struct Pool<F: FirstLevel> {
    leader: Mutex<Leader<F>>,
    changed: Condvar,
}

/// Result of a job.
pub(crate) struct Done<F: FirstLevel> {
    pub job: JobId,
    pub outcome: JobOutcome<F::Children>,
    pub spent: Counters,
}

impl<F: FirstLevel> Pool<F> {
    /// Creates a pool for a tree. The workers' team has the limits.
    pub fn new(tree: F, rules: Rules) -> Self {
        Pool { leader: Mutex::new(Leader::new(tree, rules, 0)), changed: Condvar::new() }
    }

    /// Locks the coordinator. A worker that panicked meanwhile has stopped the search, so its state is
    /// only read.
    pub fn lock(&self) -> MutexGuard<'_, Leader<F>> {
        self.leader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The coordinator, when all workers have ended.
    pub fn into_leader(self) -> Leader<F> {
        self.leader.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings the result of a worker's last job, and waits for its next. Returns `None` at the end of the
    /// search. The work of the coordinator is added to the worker's counters.
    pub fn next(&self, control: &mut Control<'_>, done: Option<Done<F>>) -> Option<Search<u64>> {
        let number = control.number();
        let spent = done.as_ref().map_or_else(Counters::default, |done| done.spent);
        let mut notice = match done {
            Some(Done { job, outcome, spent }) => Notice::Done { job, outcome, spent },
            None => Notice::Hello,
        };
        let mut spent = spent;
        loop {
            let mut leader = self.lock();
            let before = leader.counters();
            if let Some(reason) = control.stopped {
                leader.end(reason);
            }
            let has_result = !matches!(notice, Notice::Hello);
            let notice = std::mem::replace(&mut notice, Notice::Hello);
            let worker = number as u64;
            let order = leader.hear(Message { worker, facts: Vec::new(), read: 0, notice }).order;
            for (worker, _) in leader.take_stops() {
                control.team().signals.cancel(worker as usize);
            }
            if has_result || matches!(order, Order::Quit) {
                self.changed.notify_all();
            }
            for (atom, grundy) in leader.level.take_found() {
                control.found(atom, grundy);
            }
            let counted = leader.counters().since(&before).since(&std::mem::take(&mut spent));
            control.counters.add_since(&counted, &Counters::default());
            // A message about an earlier job.
            control.team().signals.take(number);
            match order {
                Order::Search(search) => return Some(search),
                Order::Quit => return None,
                Order::Wait => {}
            }
            control.leave_barrier();
            drop(self.changed.wait_timeout(leader, PERIOD));
            control.join_barrier();
            control.poll();
        }
    }
}

impl<F: FirstLevel + Send> SharedTree for Pool<F> {
    fn root(&self) -> (Number, Number, Option<u64>) {
        self.lock().level.root()
    }

    fn root_children(&self) -> Vec<RootChild> {
        self.lock().level.root_children()
    }
}
