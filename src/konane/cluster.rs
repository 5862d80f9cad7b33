//! One search in several processes: a coordinator, and workers with one table each.

use xxhash_rust::xxh3::xxh3_64;

use super::game::Konane;
use super::solve::{Algorithm, Solution, SolveError, SolveOptions, Solver, new_table};
use crate::search::cluster::{CoordinatorConfig, RemoteCoordinator, RemoteWorker};
use crate::search::plain::oracle::{Oracle, WithOracle};
use crate::search::run::Observer;
use crate::search::two_level::{PlainWorker, coordinate_plain};

impl<K: Oracle> Solver<'_, K> {
    /// Coordinates this search on two levels ([`Algorithm::PnsPdfpn`], regardless of the options) with workers in
    /// other processes. They have to run [`Solver::work`] for the same position with the same profile and the
    /// same configuration.
    ///
    /// `run` transports the messages. It returns when the search is over ([`RemoteCoordinator::status`]), or to
    /// interrupt it. It polls the limits, except the node limit, which is in the configuration.
    ///
    /// The memory of the options is that of the coordinator: a quarter for the table of solved positions, the
    /// rest for the tree, some 22 bytes for each child of a job. The coordinator needs some 2 bytes more for each
    /// child, and memory for the shared results ([`CoordinatorConfig::max_results_stored`]).
    ///
    /// # Errors
    /// As [`Solver::run`].
    pub fn coordinate(
        &self,
        config: CoordinatorConfig,
        observer: &mut dyn Observer,
        run: impl FnOnce(&mut dyn RemoteCoordinator),
    ) -> Result<Solution, SolveError> {
        let solver = self.on_two_levels();
        let combination = solver.options.profile.dfpn().combination;
        let id = solver.search_id();
        let (solution, _) = solver.search_by(observer, |root, tree, observer, snapshots| {
            let tree = tree.expect("a search on two levels has memory for a tree");
            coordinate_plain(root, tree, combination, config, id, observer, snapshots, run)
        })?;
        Ok(solution)
    }

    /// Creates a worker for a coordinator in another process, and calls `run` with it, which transports jobs and
    /// results. The table has all the memory of the options, and the search uses their threads. The deadline
    /// applies to every job; the other limits are not used, because the coordinator ends the search.
    ///
    /// # Errors
    /// If the memory is less than [`MIN_MEMORY`](crate::MIN_MEMORY) or cannot be allocated.
    pub fn work<T>(
        &self,
        config: &CoordinatorConfig,
        run: impl FnOnce(&dyn RemoteWorker) -> T,
    ) -> Result<T, SolveError> {
        let solver = self.on_two_levels();
        let SolveOptions { profile, threads, .. } = solver.options;
        let konane = Konane::new(solver.board, profile.estimate());
        let game = WithOracle::new(&konane, solver.oracle);
        // The coordinator has the tree: a worker divides its memory as df-pn does.
        let dfpn = SolveOptions { algorithm: Algorithm::Dfpn, ..solver.options };
        let table = new_table(solver.board, dfpn.memory()?.0)?;
        let (limits, id) = (solver.limits, solver.search_id());
        Ok(run(&PlainWorker::new(&game, table, profile.dfpn(), threads, config, id, limits)))
    }

    /// This search, with the algorithm of coordinator and workers.
    fn on_two_levels(&self) -> Solver<'_, K> {
        let options = SolveOptions { algorithm: Algorithm::PnsPdfpn, ..self.options };
        Solver { options, ..*self }
    }

    /// Id in the messages of this search.
    fn search_id(&self) -> u64 {
        let identity = self.identity();
        let root = identity.root.to_string();
        let parts = [&identity.rules, &identity.board, &identity.profile, &root];
        xxh3_64(parts.map(String::as_str).join("/").as_bytes())
    }
}
