//! Scheduling of a search's threads, for simulations.

use std::fmt;

/// Lets the threads of a df-pn search run one at a time in a fixed order, so that a simulation of many
/// processors on few has the same result every time.
pub trait Scheduler: Sync + fmt::Debug {
    /// Number of expansions between two calls of [`Scheduler::yield_turn`].
    fn interval(&self) -> u32;

    /// Adds the thread with this number.
    fn join(&self, number: usize);

    /// Ends a thread's turn and waits for its next.
    fn yield_turn(&self, number: usize);

    /// Ends the turn of a thread that waits at a barrier for all others.
    fn enter_barrier(&self, number: usize);

    /// Waits for the next turn of a thread that has passed the barrier. No turn begins before all threads have
    /// passed it.
    fn leave_barrier(&self, number: usize);

    /// Removes a thread.
    fn leave(&self, number: usize);
}
