//! One search in many processes: a leader, and workers with memories of their own.

use xxhash_rust::xxh3::xxh3_64;

use super::game::Konane;
use super::solve::{Algorithm, Solution, SolveError, SolveOptions, Solver, new_table};
use crate::search::jobs::remote::{RemoteLeader, RemoteRules, RemoteWorker};
use crate::search::plain::known::{Informed, Known};
use crate::search::run::Observer;
use crate::search::two_level::{PlainRules, PlainWorker, WorkerOptions, lead};

impl<K: Known> Solver<'_, K> {
    /// Leads this search on two levels ([`Algorithm::PnsPdfpn`], whatever the options say) with workers
    /// elsewhere, which have to be [`Solver::work`]ing on the same position with the same profile and
    /// the same [`PlainRules`].
    ///
    /// `run` carries the messages and returns when the search is over ([`RemoteLeader::standing`]), or
    /// to interrupt it. The memory is the leader's own: a quarter for the table of solved positions, the
    /// rest for the tree, some 22 bytes for each child of a job. Beside it the leader keeps some 2 bytes
    /// for each child, and the facts ([`RemoteRules::facts_kept`]). Limits are `run`'s to watch, but that
    /// of nodes, which is among the rules.
    ///
    /// # Errors
    /// As [`Solver::run`].
    pub fn lead(
        &self,
        rules: RemoteRules,
        plain: PlainRules,
        observer: &mut dyn Observer,
        run: impl FnOnce(&mut dyn RemoteLeader),
    ) -> Result<Solution, SolveError> {
        let solver = self.on_two_levels();
        let combination = solver.options.profile.dfpn().combination;
        let number = solver.number();
        let (solution, _) = solver.search_by(observer, |root, tree, observer, snapshots| {
            let tree = tree.expect("a search on two levels has room for a tree");
            lead(root, tree, combination, rules, plain, number, observer, snapshots, run)
        })?;
        Ok(solution)
    }

    /// Works for a leader elsewhere while `run` runs, which brings the jobs and carries the results:
    /// with all the options' memory as a table, on the options' threads. Of the limits only the
    /// [`pace`](crate::Limits::pace) counts: when to end is the leader's.
    ///
    /// # Errors
    /// If the memory is less than [`LEAST_MEMORY`](crate::LEAST_MEMORY), or the system does not give it.
    pub fn work<T>(
        &self,
        rules: PlainRules,
        run: impl FnOnce(&dyn RemoteWorker) -> T,
    ) -> Result<T, SolveError> {
        let solver = self.on_two_levels();
        let SolveOptions { profile, threads, .. } = solver.options;
        let konane = Konane::new(solver.board, profile.estimate());
        let game = Informed::new(&konane, solver.known);
        // The tree is the leader's: a worker divides its memory as df-pn does.
        let dfpn = SolveOptions { algorithm: Algorithm::Dfpn, ..solver.options };
        let table = new_table(solver.board, dfpn.memory()?.0)?;
        let options = WorkerOptions { dfpn: profile.dfpn(), threads, rules };
        let pace = solver.limits.pace;
        Ok(run(&PlainWorker::new(&game, table, options, solver.number(), pace)))
    }

    /// This search, by the algorithm of leaders and workers.
    fn on_two_levels(&self) -> Solver<'_, K> {
        let options = SolveOptions { algorithm: Algorithm::PnsPdfpn, ..self.options };
        Solver { options, ..*self }
    }

    /// The number by which messages of this search are known from those of others.
    fn number(&self) -> u64 {
        let identity = self.identity();
        let root = identity.root.to_string();
        let parts = [&identity.rules, &identity.board, &identity.profile, &root];
        xxh3_64(parts.map(String::as_str).join("/").as_bytes())
    }
}
