//! Tests of a coordinator and workers, each with its own solver state and its own ids of atoms. Messages between them
//! are lost, duplicated and delayed. Results are compared with those of a recursive reference implementation.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use ahash::HashMap;
use proptest::prelude::*;

use super::named::{Couple, SharedCouple, couples_in};
use super::*;
use crate::Value;
use crate::cluster::message::Request;
use crate::cluster::wire::{self, Kind};
use crate::cluster::{CoordinatorConfig, RemoteCoordinator, RemoteWorker, WireWorker};
use crate::run::{Outcome, Reason};
use crate::sums::game::{
    Atom, AtomFeatures, GameFull, Impartial, Keep, OptionList, Retained, Stop,
};
use crate::testing::impartial_games::Declared;
use crate::testing::network::{FaultRates, NetworkEvents, run_network};

mod messages;

/// Request of a worker.
type SumRequest = Request<Vec<u8>>;

/// A declared game with ids of its own, as in a separate process. Ids are assigned when atoms are first used.
struct ProcessGame<'g> {
    game: &'g Declared,
    /// Maximum number of atoms in memory.
    max_atoms: usize,
    state: Mutex<AtomIds>,
}

#[derive(Default)]
struct AtomIds {
    /// Declared atom of each id.
    atoms: Vec<Option<Atom>>,
    /// Id of each declared atom.
    ids: HashMap<Atom, Atom>,
    /// Ids of evicted atoms.
    free: Vec<Atom>,
}

impl<'g> ProcessGame<'g> {
    fn new(game: &'g Declared, max_atoms: usize) -> Self {
        ProcessGame { game, max_atoms, state: Mutex::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, AtomIds> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn intern(&self, atom: Atom) -> Result<Atom, GameFull> {
        let state = &mut *self.state();
        if let Some(&id) = state.ids.get(&atom) {
            return Ok(id);
        }
        if state.ids.len() == self.max_atoms {
            return Err(GameFull);
        }
        let id = state.free.pop().unwrap_or(state.atoms.len() as Atom);
        let length = state.atoms.len().max(id as usize + 1);
        state.atoms.resize(length, None);
        state.atoms[id as usize] = Some(atom);
        state.ids.insert(atom, id);
        Ok(id)
    }

    fn declared(&self, id: Atom) -> Atom {
        self.state().atoms[id as usize].expect("the id is assigned")
    }
}

impl Impartial for ProcessGame<'_> {
    type Scratch = ();

    fn options(&self, id: Atom, (): &mut (), options: &mut OptionList<'_>) -> Result<(), GameFull> {
        let mut declared = OptionList::default();
        self.game.options(self.declared(id), &mut (), &mut declared)?;
        for option in declared.iter() {
            let option: Result<Vec<Atom>, GameFull> =
                option.iter().map(|&atom| self.intern(atom)).collect();
            options.push(&option?);
            options.poll()?;
        }
        Ok(())
    }

    fn features(&self, id: Atom) -> AtomFeatures {
        self.game.features(self.declared(id))
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn retain(&self, keep: &Keep<'_>, stop: &Stop<'_>) -> Retained {
        let state = &mut *self.state();
        let mut retained = Retained::default();
        for (id, slot) in (0..).zip(&mut state.atoms) {
            let Some(atom) = *slot else { continue };
            if stop() || keep(id) {
                retained.kept += 1;
            } else {
                *slot = None;
                state.ids.remove(&atom);
                state.free.push(id);
                retained.evicted += 1;
            }
        }
        retained
    }
}

impl Named for ProcessGame<'_> {
    fn append_name(&self, id: Atom, name: &mut Vec<u8>) {
        name.extend(self.atom_text(id).into_bytes());
    }

    fn find(&self, name: &[u8], (): &mut ()) -> Result<Option<Atom>, GameFull> {
        let number = str::from_utf8(name).ok().and_then(|name| name.strip_prefix('a'));
        let atom = number.and_then(|number| number.parse().ok());
        let has_name = |atom| format!("a{atom}").as_bytes() == name;
        match atom.filter(|&atom| atom < self.game.atoms() && has_name(atom)) {
            Some(atom) => self.intern(atom).map(Some),
            None => Ok(None),
        }
    }

    fn atom_text(&self, id: Atom) -> String {
        format!("a{}", self.declared(id))
    }
}

/// Computes all Grundy numbers by recursion.
fn oracle(game: &Declared) -> Vec<u32> {
    let mut numbers: Vec<u32> = Vec::new();
    for atom in 0..game.atoms() {
        let mut options = OptionList::default();
        game.options(atom, &mut (), &mut options).unwrap();
        let sum = |option: &[Atom]| option.iter().fold(0, |sum, &at| sum ^ numbers[at as usize]);
        let found: Vec<u32> = options.iter().map(sum).collect();
        numbers.push((0..).find(|number| !found.contains(number)).unwrap());
    }
    numbers
}

/// Observer that records Grundy numbers.
struct NumberRecorder<'g> {
    game: &'g ProcessGame<'g>,
    numbers: Vec<(String, u32)>,
}

impl Observer for NumberRecorder<'_> {
    fn grundy_numbers(&mut self, numbers: &[(Atom, u32)]) -> bool {
        self.numbers
            .extend(numbers.iter().map(|&(atom, number)| (self.game.atom_text(atom), number)));
        true
    }
}

const SEARCH: u64 = 77;

type Worker<'l, 'g> = WireWorker<'l, SumWorker<ProcessGame<'g>>>;

fn worker<'g>(
    state: SolverState<ProcessGame<'g>>,
    options: SearchOptions,
    min_shared_work: u64,
) -> Worker<'static, 'g> {
    let worker = SumWorker::new(state, options, NonZeroUsize::MIN, min_shared_work);
    WireWorker::new(worker, SEARCH, Limits::default())
}

fn config(job_nodes: u64) -> CoordinatorConfig {
    CoordinatorConfig { job_nodes, max_results_in_reply: 7, ..CoordinatorConfig::REMOTE }
}

/// Result of a search.
struct Summary {
    report: Report,
    events: NetworkEvents,
    results: usize,
}

/// Searches a random game with `concurrent` workers at a time and checks all results. `max_atoms` are the numbers
/// of atoms that fit into the memory of the coordinator and of each worker.
fn run(
    seed: u64,
    concurrent: usize,
    job_nodes: u64,
    max_atoms: [usize; 2],
    faults: FaultRates,
) -> Summary {
    let game = Declared::random(seed, 70, 6);
    let (atoms, nimber) = ([69, 68, 67], (seed % 3) as u32);
    let numbers = oracle(&game);
    let games = (0..concurrent + 20).map(|_| ProcessGame::new(&game, max_atoms[1]));
    let states = games.map(|game| SolverState::new(Arc::new(game), 1 << 20).unwrap());
    let options = SearchOptions::PAPER;
    let worker = |state| worker(state, options, 2);
    let workers: Vec<Worker<'_, '_>> = states.map(worker).collect();
    let all: Vec<&dyn RemoteWorker> = workers.iter().map(|worker| worker as _).collect();
    let process_game = Arc::new(ProcessGame::new(&game, max_atoms[0]));
    // Makes the ids of atoms differ between processes.
    for (at, worker) in workers.iter().enumerate().skip(1) {
        worker.job_search.state.game().intern(at as Atom % 3).unwrap();
    }
    let state = SolverState::new(process_game.clone(), 1 << 20).unwrap();
    let root =
        Sum::new(&*process_game, &atoms.map(|atom| process_game.intern(atom).unwrap()), nimber);
    let mut recorder = NumberRecorder { game: &process_game, numbers: Vec::new() };
    let (mut events, mut results) = (NetworkEvents::default(), 0);
    let (report, contradiction) = coordinate_sum(
        &state,
        &root,
        options,
        config(job_nodes),
        SEARCH,
        &mut recorder,
        |coordinator| {
            events = run_network(coordinator, &all, concurrent, faults, seed);
            results = coordinator.status().results;
        },
    );
    assert_eq!(contradiction, None, "seed {seed}");
    let sum = atoms.iter().fold(nimber, |sum, &atom| sum ^ numbers[atom as usize]);
    let value = if sum == 0 { Value::Loss } else { Value::Win };
    match report.outcome {
        Outcome::Known(found) => assert_eq!(found, value, "seed {seed}"),
        Outcome::Unknown(reason) => {
            assert_eq!(reason, Reason::Memory, "seed {seed}");
            assert!(max_atoms[0] < 70, "seed {seed}");
        }
    }
    for (name, number) in &recorder.numbers {
        assert_eq!(*number, numbers[name[1..].parse::<usize>().unwrap()], "seed {seed}");
    }
    let counters = report.counters;
    assert_eq!(counters.nodes, counters.first_level + counters.second_level);
    assert_eq!(counters.grundy_numbers, recorder.numbers.len() as u64);
    for state in workers.iter().map(|worker| &worker.job_search.state).chain([&state]) {
        for (atom, number) in state.knowledge().iter() {
            let atom = state.game.declared(atom);
            assert_eq!(number, numbers[atom as usize], "seed {seed}");
        }
    }
    Summary { report, events, results }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn searches_with_faults_return_the_correct_value(
        seed in 0u64..1000,
        workers in 1usize..6,
        job_nodes in 2u64..40,
        (loss, duplication, alteration, crash) in (0u64..100, 0u64..150, 0u64..60, 0u64..20),
        max_delay in 1u64..60,
    ) {
        let faults = FaultRates { loss, duplication, alteration, crash, max_delay };
        run(seed, workers, job_nodes, [70; 2], faults);
    }

    #[test]
    fn searches_with_little_memory_return_no_wrong_value(
        seed in 0u64..1000,
        workers in 1usize..4,
        coordinator in 8usize..60,
        worker in 8usize..60,
    ) {
        run(seed, workers, 10, [coordinator, worker], FaultRates { max_delay: 5, ..FaultRates::NONE });
    }
}

/// If the memory is full, the remaining children of a result are still imported, which may succeed. The search must
/// not continue after that.
#[test]
fn a_search_that_ended_without_memory_does_not_continue() {
    let Summary { report, .. } =
        run(357, 1, 10, [32, 40], FaultRates { max_delay: 5, ..FaultRates::NONE });
    assert_eq!(report.outcome, Outcome::Unknown(Reason::Memory));
}

/// If a worker received its next job in the reply to every copy of a result, the number of messages would grow without
/// end.
#[test]
fn duplicated_results_are_not_answered_with_a_job() {
    for (seed, workers, loss, duplication, crash) in [(70, 5, 7, 100, 0), (459, 4, 17, 119, 18)] {
        run(
            seed,
            workers,
            3,
            [70; 2],
            FaultRates { loss, duplication, alteration: 0, crash, max_delay: 1 },
        );
    }
}

#[test]
fn the_faults_of_the_tests_above_occur() {
    let faults = FaultRates { loss: 40, duplication: 60, alteration: 30, crash: 20, max_delay: 30 };
    let (mut crashes, mut results, mut collected, mut solved) = (0, 0, 0, 0);
    for seed in 0..15 {
        let summary = run(seed, 4, 4, [70; 2], faults);
        crashes += summary.events.crashes;
        results += summary.results;
        let summary = run(seed, 3, 10, [60, 30], FaultRates::NONE);
        collected += summary.report.counters.collections;
        solved += u64::from(summary.report.outcome.value().is_some());
    }
    let all = [crashes, results as u64, collected, solved];
    assert!(crashes > 3 && results > 50 && collected > 5 && solved > 5, "{all:?}");
}
