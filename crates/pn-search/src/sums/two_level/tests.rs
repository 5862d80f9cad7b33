//! A leader and workers with memories of their own and ids of their own, between which bytes are lost,
//! doubled and delayed, against plain recursion.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use ahash::HashMap;
use proptest::prelude::*;

use super::named::{Couple, GrundyNumber, Hints};
use super::*;
use crate::Value;
use crate::cluster::message::Request;
use crate::cluster::wire::{self, Kind};
use crate::cluster::{CoordinatorConfig, Delivery, RemoteCoordinator, RemoteWorker};
use crate::run::{Outcome, Reason};
use crate::split_mix::mix;
use crate::sums::game::{
    Atom, AtomFeatures, GameFull, Impartial, Keep, OptionList, Retained, Stop,
};
use crate::testing::impartial_games::Declared;

mod messages;

/// What a worker says.
type Said = Request<Vec<Hints>, GrundyNumber>;

/// A declared game in a process of its own: it gives ids out as atoms come up, and forgets.
struct Apart<'g> {
    game: &'g Declared,
    /// Atoms that it has room for.
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    atoms: Vec<Option<Atom>>,
    ids: HashMap<Atom, Atom>,
    free: Vec<Atom>,
}

impl<'g> Apart<'g> {
    fn new(game: &'g Declared, most: usize) -> Self {
        Apart { game, most, state: Mutex::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn intern(&self, atom: Atom) -> Result<Atom, GameFull> {
        let state = &mut *self.state();
        if let Some(&id) = state.ids.get(&atom) {
            return Ok(id);
        }
        if state.ids.len() == self.most {
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
        self.state().atoms[id as usize].expect("the id is somebody's")
    }
}

impl Impartial for Apart<'_> {
    type Scratch = ();

    fn options(&self, id: Atom, (): &mut (), options: &mut OptionList<'_>) -> Result<(), GameFull> {
        let mut declared = OptionList::default();
        self.game.options(self.declared(id), &mut (), &mut declared)?;
        for option in declared.iter() {
            let option: Result<Vec<Atom>, GameFull> =
                option.iter().map(|&atom| self.intern(atom)).collect();
            options.push(&option?);
            options.keep_on()?;
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
        for (id, place) in (0..).zip(&mut state.atoms) {
            let Some(atom) = *place else { continue };
            if stop() || keep(id) {
                retained.kept += 1;
            } else {
                *place = None;
                state.ids.remove(&atom);
                state.free.push(id);
                retained.forgotten += 1;
            }
        }
        retained
    }
}

impl Named for Apart<'_> {
    fn name(&self, id: Atom) -> String {
        format!("a{}", self.declared(id))
    }

    fn find(&self, name: &str, (): &mut ()) -> Result<Option<Atom>, GameFull> {
        let number = name.strip_prefix('a').and_then(|number| number.parse().ok());
        match number.filter(|&atom| atom < self.game.atoms() && format!("a{atom}") == name) {
            Some(atom) => self.intern(atom).map(Some),
            None => Ok(None),
        }
    }
}

/// All Grundy numbers, by recursion.
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

/// Hears of Grundy numbers.
struct Hearer<'g> {
    game: &'g Apart<'g>,
    numbers: Vec<(String, u32)>,
}

impl Observer for Hearer<'_> {
    fn grundy_numbers(&mut self, numbers: &[(Atom, u32)]) -> bool {
        self.numbers.extend(numbers.iter().map(|&(atom, number)| (self.game.name(atom), number)));
        true
    }
}

/// What goes wrong, each in 1/256.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    loss: u64,
    doubling: u64,
    death: u64,
    /// The longest delay of a message, in ticks.
    delay: u64,
}

const NONE: Trouble = Trouble { loss: 0, doubling: 0, death: 0, delay: 1 };

/// What is on its way.
enum Mail {
    Job(Delivery),
    Result(Vec<u8>),
    /// The news that a worker is dead.
    Death(u64),
}

const PATIENCE: u64 = 150;
const SEARCH: u64 = 77;

fn rules(job_nodes: u64) -> CoordinatorConfig {
    CoordinatorConfig { job_nodes, max_results_in_reply: 7, ..CoordinatorConfig::REMOTE }
}

/// Carries messages for so many workers at a time, tick by tick. Whoever dies is followed by the next
/// worker, which knows nothing.
struct World<'d, 's, S> {
    leader: &'d mut dyn RemoteCoordinator,
    workers: &'s [S],
    trouble: Trouble,
    random: u64,
    now: u64,
    mail: Vec<(u64, Mail)>,
    /// The workers that live, and when each was last heard of.
    live: Vec<(u64, u64)>,
    born: u64,
    deaths: u64,
    /// Those that the coordinator knows to be dead.
    buried: Vec<u64>,
}

impl<S: RemoteWorker> World<'_, '_, S> {
    fn random(&mut self, below: u64) -> u64 {
        self.random += 1;
        mix(self.random) % below
    }

    /// Sends something; it comes never, once or twice.
    fn send(&mut self, make: impl Fn() -> Mail) {
        let Trouble { loss, doubling, delay, .. } = self.trouble;
        for chance in [256, doubling] {
            if self.random(256) < chance && self.random(256) >= loss {
                let due = self.now + 1 + self.random(delay);
                self.mail.push((due, make()));
            }
        }
    }

    fn worker(&self, worker: u64) -> Option<&S> {
        let is_live = self.live.iter().any(|&(live, _)| live == worker);
        self.workers.get(worker as usize).filter(|_| is_live)
    }

    fn run(&mut self, at_once: u64) {
        while !self.leader.status().is_over {
            self.now += 1;
            assert!(self.now < 1_000_000, "the search comes to an end");
            while self.live.len() < at_once as usize {
                let new = self.born.min(self.workers.len() as u64 - 1);
                assert!(self.live.iter().all(|&(live, _)| live != new), "workers are left");
                self.born += 1;
                self.live.push((new, 0));
            }
            // Who has not been heard of for long is asked again.
            for place in 0..self.live.len() {
                let (worker, heard) = &mut self.live[place];
                if *heard > self.now {
                    continue;
                }
                *heard = self.now + PATIENCE;
                let told = self.leader.handle_idle(*worker);
                match told.job.is_none() && !told.is_over {
                    true => self.live[place].1 = self.now + 20,
                    false => self.send(|| Mail::Job(told.clone())),
                }
            }
            let now = self.now;
            let due = |&(due, _): &(u64, Mail)| due <= now;
            while let Some(at) = self.mail.iter().position(due) {
                match self.mail.swap_remove(at).1 {
                    Mail::Job(told) => self.search(&told),
                    Mail::Result(bytes) => self.hear(&bytes),
                    Mail::Death(worker) => {
                        self.leader.remove_worker(worker);
                        self.buried.push(worker);
                    }
                }
            }
        }
    }

    fn search(&mut self, told: &Delivery) {
        if told.job.is_none() {
            return;
        }
        let number = told.worker;
        let Some(worker) = self.worker(number) else { return };
        let last = told.last.as_ref().and_then(|(last, node)| Some((self.worker(*last)?, node)));
        let entries = last.map(|(last, node)| last.entries(node).unwrap());
        let message = worker.search(told.worker, &told.reply, entries.as_deref()).unwrap();
        if self.random(256) < self.trouble.death && self.born < self.workers.len() as u64 {
            self.live.retain(|&(live, _)| live != number);
            self.deaths += 1;
            let due = self.now + 1 + self.random(PATIENCE);
            self.mail.push((due, Mail::Death(number)));
            return;
        }
        self.send(|| Mail::Result(message.clone()));
    }

    fn hear(&mut self, bytes: &[u8]) {
        let Ok(told) = self.leader.handle(bytes) else {
            let said: Said = wire::decode(Kind::Request, SEARCH, bytes).unwrap();
            assert!(self.buried.contains(&said.worker));
            return;
        };
        for (worker, job) in self.leader.take_cancelled() {
            if let Some(worker) = self.worker(worker) {
                worker.cancel(job);
            }
        }
        if told.job.is_none() && !told.is_over {
            return;
        }
        for (worker, heard) in &mut self.live {
            if *worker == told.worker {
                *heard = self.now + PATIENCE;
            }
        }
        self.send(|| Mail::Job(told.clone()));
    }
}

/// What came of a search.
struct Summary {
    report: Report,
    deaths: u64,
    facts: usize,
}

/// Searches a random game with so many workers at once, others in the place of those that die, and
/// checks everything that was found. `most` are atoms for which the coordinator
/// and the workers have room.
fn run(seed: u64, at_once: u64, job_nodes: u64, most: [usize; 2], trouble: Trouble) -> Summary {
    let game = Declared::random(seed, 70, 6);
    let (atoms, nimber) = ([69, 68, 67], (seed % 3) as u32);
    let numbers = oracle(&game);
    let games: Vec<Apart<'_>> = (0..at_once + 20).map(|_| Apart::new(&game, most[1])).collect();
    let workspaces = games.iter().map(|game| SolverState::new(game, 1 << 20).unwrap());
    let options = SearchOptions::PAPER;
    let worker = |workspace| {
        SumWorker::new(workspace, options, NonZeroUsize::MIN, SEARCH, Limits::default())
    };
    let workers: Vec<SumWorker<'_, _>> = workspaces.map(worker).collect();
    let apart = Apart::new(&game, most[0]);
    // Ids differ everywhere.
    for (at, game) in games.iter().enumerate().skip(1) {
        game.intern(at as Atom % 3).unwrap();
    }
    let workspace = SolverState::new(&apart, 1 << 20).unwrap();
    let root = Sum::new(&apart, &atoms.map(|atom| apart.intern(atom).unwrap()), nimber);
    let mut hearer = Hearer { game: &apart, numbers: Vec::new() };
    let (mut deaths, mut facts) = (0, 0);
    let (report, contradiction) = coordinate_sum(
        &workspace,
        &root,
        options,
        rules(job_nodes),
        SEARCH,
        &mut hearer,
        |leader| {
            let mut world = World {
                leader,
                workers: &workers,
                trouble,
                random: seed,
                now: 0,
                mail: Vec::new(),
                live: Vec::new(),
                born: 0,
                deaths: 0,
                buried: Vec::new(),
            };
            world.run(at_once);
            deaths = world.deaths;
            facts = world.leader.status().results;
        },
    );
    assert_eq!(contradiction, None, "seed {seed}");
    let sum = atoms.iter().fold(nimber, |sum, &atom| sum ^ numbers[atom as usize]);
    let value = if sum == 0 { Value::Loss } else { Value::Win };
    match report.outcome {
        Outcome::Known(found) => assert_eq!(found, value, "seed {seed}"),
        Outcome::Unknown(reason) => {
            assert_eq!(reason, Reason::Memory, "seed {seed}");
            assert!(most[0] < 70, "seed {seed}");
        }
    }
    for (name, number) in &hearer.numbers {
        assert_eq!(*number, numbers[name[1..].parse::<usize>().unwrap()], "seed {seed}");
    }
    let counters = report.counters;
    assert_eq!(counters.nodes, counters.first_level + counters.second_level);
    assert_eq!(counters.grundy_numbers, hearer.numbers.len() as u64);
    for workspace in workers.iter().map(|worker| &worker.workspace).chain([&workspace]) {
        for (atom, number) in workspace.knowledge().iter() {
            let atom = workspace.game.declared(atom);
            assert_eq!(number, numbers[atom as usize], "seed {seed}");
        }
    }
    Summary { report, deaths, facts }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_happens_the_right_winner_comes_out(
        seed in 0u64..1000,
        workers in 1u64..6,
        job_nodes in 2u64..40,
        (loss, doubling, death) in (0u64..100, 0u64..150, 0u64..20),
        delay in 1u64..60,
    ) {
        run(seed, workers, job_nodes, [70; 2], Trouble { loss, doubling, death, delay });
    }

    #[test]
    fn little_memory_is_no_wrong_answer(
        seed in 0u64..1000,
        workers in 1u64..4,
        leader in 8usize..60,
        worker in 8usize..60,
    ) {
        run(seed, workers, 10, [leader, worker], Trouble { delay: 5, ..NONE });
    }
}

/// A report of several children finds the memory full, and then is taken over to its end.
#[test]
fn a_search_without_memory_stays_ended() {
    let Summary { report, .. } = run(357, 1, 10, [32, 40], Trouble { delay: 5, ..NONE });
    assert_eq!(report.outcome, Outcome::Unknown(Reason::Memory));
}

#[test]
fn the_troubles_of_the_tests_above_do_occur() {
    let trouble = Trouble { loss: 40, doubling: 60, death: 20, delay: 30 };
    let (mut deaths, mut facts, mut collected, mut solved) = (0, 0, 0, 0);
    for seed in 0..15 {
        let summary = run(seed, 4, 4, [70; 2], trouble);
        deaths += summary.deaths;
        facts += summary.facts;
        let summary = run(seed, 3, 10, [60, 30], NONE);
        collected += summary.report.counters.collections;
        solved += u64::from(summary.report.outcome.value().is_some());
    }
    let all = [deaths, facts as u64, collected, solved];
    assert!(deaths > 3 && facts > 50 && collected > 5 && solved > 5, "{all:?}");
}
