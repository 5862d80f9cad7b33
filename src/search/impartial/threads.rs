//! Runs the threads of a search, again after the memory was full.

use super::collect::Collector;
use super::control::Shared;
use super::crew::Crew;
use super::game::{Atom, Impartial};
use super::options::SearchOptions;
use super::worker::Worker;
use super::workspace::Workspace;
use crate::search::control::Reason;

/// Stack of a thread, for every move that may be made below the root, and beside that.
const STACK_BYTES_A_MOVE: usize = 4096;
const STACK_BYTES: usize = 4 << 20;

/// What workers do: search until they have an answer or the search is stopped.
type Search<'x, 'w, G, T> = dyn Fn(&mut Worker<'w, '_, '_, G>) -> Option<T> + Sync + 'x;

/// The threads of a search.
pub(super) struct Threads<'w, G: Impartial> {
    workspace: &'w Workspace<'w, G>,
    options: SearchOptions,
    count: u32,
    crew: Option<Crew>,
}

impl<'w, G: Impartial> Threads<'w, G> {
    /// So many threads, at least one. They know each other if they are several.
    pub fn new(workspace: &'w Workspace<'w, G>, options: SearchOptions, count: u32) -> Self {
        Threads { workspace, options, count: count.max(1), crew: (count > 1).then(Crew::new) }
    }

    /// The same with a crew also for one thread.
    pub fn with_crew(self) -> Self {
        Threads { crew: self.crew.or_else(|| Some(Crew::new())), ..self }
    }

    /// Runs workers until one has an answer or the search is stopped, and makes room whenever memory
    /// is what stops it.
    pub fn search<T: Send>(
        &self,
        atoms: &[Atom],
        shared: &mut Shared<'_>,
        search: &Search<'_, 'w, G, T>,
    ) -> Option<T> {
        let mut collector = Collector::default();
        loop {
            let found = self.until_stopped(atoms, shared, search);
            if found.is_some()
                || shared.reason() != Reason::Memory
                || !collector.collect(self.workspace, atoms, self.count)
            {
                return found;
            }
            shared.resume(self.workspace.table.count().0);
        }
    }

    /// Runs workers until one has an answer or the search is stopped.
    fn until_stopped<T: Send>(
        &self,
        atoms: &[Atom],
        shared: &Shared<'_>,
        search: &Search<'_, 'w, G, T>,
    ) -> Option<T> {
        let workspace = self.workspace;
        let work = || {
            let mut worker = Worker::new(workspace, shared, self.crew.as_ref(), self.options);
            let found = search(&mut worker);
            if found.is_some() {
                shared.finish();
            }
            worker.evaluator.control.finish(workspace.bytes() + worker.own_bytes);
            found
        };
        let lives = |&atom: &Atom| workspace.game.features(atom).lives as usize;
        let moves: usize = atoms.iter().map(lives).sum();
        let stack = STACK_BYTES.saturating_add(moves.saturating_mul(STACK_BYTES_A_MOVE));
        std::thread::scope(|scope| {
            let spawn = |_| {
                let builder = std::thread::Builder::new().stack_size(stack);
                builder.spawn_scoped(scope, work).ok()
            };
            let handles: Vec<_> = (0..self.count).map_while(spawn).collect();
            // A system that gives no thread at all still has this one.
            let here = if handles.is_empty() { work() } else { None };
            let join = |handle: std::thread::ScopedJoinHandle<'_, Option<T>>| match handle.join() {
                Ok(found) => found,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            handles.into_iter().map(join).fold(here, Option::or)
        })
    }
}
