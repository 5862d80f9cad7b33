//! One search in several processes: a coordinator, and workers with one table each.

use xxhash_rust::xxh3::xxh3_64;

use super::game::Konane;
use super::solve::{Algorithm, Solution, SolveError, SolveOptions, Solver, new_table};
use crate::search::cluster::{CoordinatorConfig, RemoteCoordinator, RemoteWorker, WireWorker};
use crate::search::plain::oracle::WithOracle;
use crate::search::run::Observer;
use crate::search::two_level::{PlainWorker, coordinate_plain};

impl Solver<'_> {
    /// Coordinates this search with workers in other processes. The algorithm is [`Algorithm::PnsPdfpn`], regardless
    /// of the options. The workers have to run [`Solver::work`] for the same position with the same profile and the
    /// same configuration.
    ///
    /// `run` transports the messages and polls the limits, except the node limit, which is in `config`. It returns
    /// when the search is over ([`RemoteCoordinator::status`]). If it returns earlier, the search is interrupted.
    ///
    /// [`SolveOptions::memory_bytes`] is the memory of the coordinator: a quarter for the table of solved positions,
    /// the rest for the tree, which takes some 22 bytes for each child that a job returns. In addition to this memory,
    /// the coordinator needs some 2 bytes for each child, and memory for the shared results
    /// ([`CoordinatorConfig::max_results_stored`]).
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
        let combination = solver.options.dfpn().combination;
        let id = solver.search_id();
        let (_, tree_bytes) = solver.options.memory()?;
        if let Some(solution) = solver.finished_game(observer) {
            return Ok(solution);
        }
        solver.search_with(&solver.new_table()?, observer, |root, observer| {
            coordinate_plain(root, tree_bytes, combination, config, id, observer, run)
        })
    }

    /// Creates a worker for a coordinator in another process and passes it to `run`, which transports jobs and
    /// results. The table takes all of [`SolveOptions::memory_bytes`], and the search uses [`SolveOptions::threads`].
    /// The deadline applies to every job. The other limits are not used, because the coordinator ends the search.
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
        // Only the coordinator has a tree. As with df-pn, all memory of a worker is for the table.
        let dfpn = SolveOptions { algorithm: Algorithm::Dfpn, ..solver.options };
        let table = new_table(solver.board, dfpn.memory()?.0)?;
        let (limits, id) = (solver.limits, solver.search_id());
        let worker = PlainWorker::new(&game, table, solver.options.dfpn(), threads, config);
        Ok(run(&WireWorker::new(worker, id, limits)))
    }

    /// This solver with the algorithm [`Algorithm::PnsPdfpn`].
    fn on_two_levels(&self) -> Solver<'_> {
        let options = SolveOptions { algorithm: Algorithm::PnsPdfpn, ..self.options };
        Solver { options, ..*self }
    }

    /// Id of this search, by which messages of other searches are recognised and rejected.
    fn search_id(&self) -> u64 {
        let identity = self.identity();
        let root = identity.root.to_string();
        let parts = [&identity.rules, &identity.board, &identity.profile, &root];
        xxh3_64(parts.map(String::as_str).join("/").as_bytes())
    }
}
