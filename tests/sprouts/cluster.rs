//! Cluster searches of Sprouts, with all processes in one and the bytes passed directly.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use konane::search::cluster::{
    CoordinatorConfig, Delivery, RemoteCoordinator, RemoteWorker, WireError,
};
use konane::search::sums::game::{Atom, Impartial, OptionList};
use konane::search::sums::{Named, SearchOptions};
use konane::sprouts::cluster::{
    Checkpoint, ClusterError, ClusterSearch, ClusterSolution, SHARED_WORK, coordinate, work,
};
use konane::sprouts::{MAX_NIMBER, Position, Scratch, Sprouts};
use konane::{Limits, Outcome, Reason, Value};
use proptest::prelude::*;

fn position(text: &str) -> Position {
    text.parse().unwrap()
}

fn search(position: &Position) -> ClusterSearch<'_> {
    ClusterSearch {
        position,
        nimber: 0,
        options: SearchOptions::TUNED,
        memory_bytes: 64 << 20,
        threads: NonZeroUsize::MIN,
        shared_work: SHARED_WORK,
    }
}

fn config() -> CoordinatorConfig {
    CoordinatorConfig { job_nodes: 300, ..CoordinatorConfig::REMOTE }
}

/// Calls `run` with `left` additional workers.
fn with_workers(
    search: ClusterSearch<'_>,
    left: usize,
    workers: &[&dyn RemoteWorker],
    run: &mut dyn FnMut(&[&dyn RemoteWorker]),
) -> Result<(), ClusterError> {
    if left == 0 {
        run(workers);
        return Ok(());
    }
    work(search, Limits::default(), |worker| {
        let more = [workers, &[worker]].concat();
        with_workers(search, left - 1, &more, run)
    })?
}

/// Delivers messages until the search is over, one job of each worker in turn. A worker joins in the round
/// with its number.
fn deliver(coordinator: &mut dyn RemoteCoordinator, workers: &[&dyn RemoteWorker]) {
    let mut next: Vec<Option<Delivery>> = vec![None; workers.len()];
    for round in 0.. {
        assert!(round < 100_000, "the search comes to an end");
        for (number, delivery) in next.iter_mut().enumerate().take(round + 1) {
            let before = delivery.take().unwrap_or_else(|| coordinator.handle_idle(number as u64));
            *delivery = before.job.map(|_| {
                let last = before.last.as_ref();
                let entries =
                    last.map(|(last, node)| workers[*last as usize].entries(node).unwrap());
                let worker = workers[number];
                let message = worker.search(before.worker, &before.reply, entries.as_deref());
                coordinator.handle(&message.unwrap()).unwrap()
            });
        }
        if coordinator.status().is_over {
            return;
        }
    }
}

fn solve(
    worker: ClusterSearch<'_>,
    coordinator: ClusterSearch<'_>,
    workers: usize,
) -> ClusterSolution {
    let mut solution = None;
    with_workers(worker, workers, &[], &mut |workers| {
        solution = Some(coordinate(coordinator, config(), None, &mut (), |coordinator| {
            deliver(coordinator, workers)
        }));
    })
    .unwrap();
    solution.unwrap().unwrap()
}

/// Returns the outcome with n spots: a win if n mod 6 is 3, 4 or 5 (Applegate, Jacobson and Sleator 1991).
fn of_spots(spots: u32) -> Outcome {
    Outcome::Known(if matches!(spots % 6, 3..=5) { Value::Win } else { Value::Loss })
}

#[test]
fn one_two_and_five_workers_find_the_outcome() {
    for spots in 1..=11 {
        let position = Position::start(spots).unwrap();
        let search = search(&position);
        for workers in [1, 2, 5] {
            let solution = solve(search, search, workers);
            assert_eq!(solution.report.outcome, of_spots(spots), "{spots}, {workers} workers");
            let counters = solution.report.counters;
            assert_eq!(counters.nodes, counters.first_level + counters.second_level);
        }
    }
}

#[test]
fn threads_sums_and_heaps_find_the_outcome() {
    let two = NonZeroUsize::new(2).unwrap();
    // 0*2, 0*3 and 0*4 have the numbers 0, 1 and 1.
    for (text, nimber, value) in [
        ("0*9", 0, Value::Win),
        ("0*9", 1, Value::Loss),
        ("0*6+0*7", 0, Value::Loss),
        ("0*3+0*4", 0, Value::Loss),
        ("0*3+0*4+0*5", 1, Value::Loss),
        ("!", 0, Value::Loss),
        ("!", 3, Value::Win),
    ] {
        let position = position(text);
        let search = ClusterSearch { nimber, threads: two, ..search(&position) };
        let solution = solve(search, search, 2);
        assert_eq!(solution.report.outcome, Outcome::Known(value), "{text} + *{nimber}");
    }
}

#[test]
fn the_size_of_heaps_is_limited() {
    let position = position("0*3+0*4");
    let of = |nimber| ClusterSearch { nimber, ..search(&position) };
    let solution = solve(of(MAX_NIMBER), of(MAX_NIMBER), 1);
    assert_eq!(solution.report.outcome, Outcome::Known(Value::Win));
    let refused = work(of(MAX_NIMBER + 1), Limits::default(), |_| ());
    assert!(matches!(refused, Err(ClusterError::Heap(1001))), "{refused:?}");
}

#[test]
fn too_little_memory_gives_no_wrong_outcome() {
    let position = Position::start(9).unwrap();
    let mut open = 0;
    for (coordinator, worker) in
        [(1 << 18, 64 << 20), (64 << 20, 1 << 18), (1 << 19, 1 << 19), (2 << 20, 2 << 20)]
    {
        let of = |memory_bytes| ClusterSearch { memory_bytes, ..search(&position) };
        let solution = solve(of(worker), of(coordinator), 2);
        match solution.report.outcome {
            Outcome::Unknown(reason) => {
                assert_eq!(reason, Reason::Memory, "{coordinator} {worker}");
                open += 1;
            }
            known => assert_eq!(known, of_spots(9), "{coordinator} {worker}"),
        }
    }
    assert!(open < 4, "{open}");
}

#[test]
fn altered_and_foreign_bytes_are_refused() {
    let (one, other) = (position("0*7"), position("0*8"));
    let (one, other) = (search(&one), search(&other));
    with_workers(one, 1, &[], &mut |workers| {
        let worker = workers[0];
        coordinate(one, config(), None, &mut (), |coordinator| {
            let delivery = coordinator.handle_idle(0);
            let mut altered = delivery.reply.clone();
            for at in 0..altered.len() {
                altered[at] ^= 1;
                assert!(worker.search(0, &altered, None).is_err());
                assert!(worker.search(0, &delivery.reply[..at], None).is_err());
                assert!(worker.entries(&altered).is_err());
                altered[at] ^= 1;
            }
            // A complete message that does not contain entries.
            assert!(worker.search(0, &delivery.reply, Some(&delivery.reply)).is_err());
            let message = worker.search(0, &delivery.reply, None).unwrap();
            let mut altered = message.clone();
            for at in (0..altered.len()).step_by(7) {
                altered[at] ^= 16;
                assert!(coordinator.handle(&altered).is_err());
                assert!(coordinator.handle(&message[..at]).is_err());
                altered[at] ^= 16;
            }
            assert!(coordinator.handle(&delivery.reply).is_err());
            let received = coordinator.handle(&message).unwrap();
            // A repeated message changes nothing. Its reply does not contain the job again.
            let again = coordinator.handle(&message).unwrap();
            assert_eq!((again.job, again.is_over), (None, false));
            assert_eq!(coordinator.handle_idle(0).job, received.job);
            deliver(coordinator, workers);
        })
        .unwrap();
        coordinate(other, config(), None, &mut (), |coordinator| {
            let delivery = coordinator.handle_idle(0);
            assert_eq!(worker.search(0, &delivery.reply, None), Err(WireError::OtherSearch));
        })
        .unwrap();
    })
    .unwrap();
}

#[test]
fn numbers_are_written_to_a_file_and_read_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers");
    let position = Position::start(9).unwrap();
    let search = search(&position);
    let mut found = Vec::new();
    for resume in [false, true] {
        let checkpoint = Some(Checkpoint { path: &path, resume });
        with_workers(search, 2, &[], &mut |workers| {
            let run = |coordinator: &mut dyn RemoteCoordinator| deliver(coordinator, workers);
            let solution = coordinate(search, config(), checkpoint, &mut (), run).unwrap();
            assert_eq!(solution.report.outcome, of_spots(9));
            let numbers = solution.numbers.unwrap().unwrap();
            assert_eq!(numbers.added, solution.report.counters.grundy_numbers);
            found.push((numbers, solution.report.counters.expansions));
        })
        .unwrap();
    }
    assert!(found[0].0.added > 30 && found[0].0.loaded == 0, "{found:?}");
    // The root is won and has no number, but all numbers that decide it are in the file.
    assert_eq!((found[1].0.added, found[1].0.loaded, found[1].1), (0, found[0].0.added, 1));

    // A new search does not add to an existing file, and a resumed one does not create a file.
    let refused = |path, resume| {
        let checkpoint = Some(Checkpoint { path, resume });
        coordinate(search, config(), checkpoint, &mut (), |_| panic!("nothing is searched"))
            .unwrap_err()
    };
    assert!(matches!(refused(&path, false), ClusterError::Exists { .. }));
    let other = folder.path().join("other");
    assert!(matches!(refused(&other, true), ClusterError::Missing { .. }));
    assert!(!other.exists());
}

#[test]
fn an_interrupted_search_resumes_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers");
    let position = Position::start(10).unwrap();
    let search = search(&position);
    let mut loaded = 0;
    for runs in 0.. {
        let mut over = false;
        let checkpoint = Some(Checkpoint { path: &path, resume: runs > 0 });
        with_workers(search, 1, &[], &mut |workers| {
            let solution = coordinate(search, config(), checkpoint, &mut (), |coordinator| {
                // After some jobs, more in each run, the coordinator ends. Open couples are lost.
                for _ in 0..5 * (runs + 1) {
                    let delivery = coordinator.handle_idle(0);
                    if delivery.is_over {
                        return;
                    }
                    let message = workers[0].search(0, &delivery.reply, None).unwrap();
                    coordinator.handle(&message).unwrap();
                }
            })
            .unwrap();
            let numbers = solution.numbers.unwrap().unwrap();
            assert!(numbers.loaded >= loaded);
            loaded = numbers.loaded;
            match solution.report.outcome {
                Outcome::Unknown(reason) => assert_eq!(reason, Reason::Interrupted),
                known => {
                    assert_eq!(known, of_spots(10));
                    over = true;
                }
            }
        })
        .unwrap();
        if over {
            assert!(runs > 0, "it was interrupted");
            return;
        }
        assert!(runs < 100);
    }
}

/// Also ends during a garbage collection, which is most of the time with 6 MiB.
#[test]
fn a_cancelled_job_ends_soon() {
    let position = Position::start(30).unwrap();
    let search = ClusterSearch { memory_bytes: 6 << 20, ..search(&position) };
    let config = CoordinatorConfig { job_nodes: 1 << 40, ..CoordinatorConfig::REMOTE };
    work(search, Limits::default(), |worker| {
        coordinate(search, config, None, &mut (), |coordinator| {
            for (round, job) in (1..9).enumerate() {
                let delivery = coordinator.handle_idle(0);
                let waited = std::thread::scope(|scope| {
                    let searching = scope.spawn(|| worker.search(0, &delivery.reply, None));
                    std::thread::sleep(Duration::from_millis(40 * round as u64));
                    let begun = Instant::now();
                    worker.cancel(job);
                    searching.join().unwrap().unwrap();
                    begun.elapsed()
                });
                // The whole job would take days.
                assert!(waited < Duration::from_secs(30), "{waited:?}");
                coordinator.remove_worker(0);
            }
        })
        .unwrap();
    })
    .unwrap();
}

fn name_of(game: &Sprouts, land: Atom) -> Vec<u8> {
    let mut name = Vec::new();
    game.append_name(land, &mut name);
    name
}

#[test]
fn bytes_that_are_not_a_land_are_not_a_name() {
    let (game, mut scratch) = (Sprouts::new(1 << 28), Scratch::default());
    let names: [&[u8]; 12] = [
        b"",
        b"0*3",
        // No isolated spots, no region, no boundary.
        &[4, 0],
        &[4, 3, 0],
        &[3, 4, 3],
        // Isolated spots twice, and after a boundary.
        &[4, 1, 4, 1],
        &[1, 4, 1],
        // Letters that occur once or three times, or are not numbered from 0.
        &[5],
        &[5, 5, 5, 1],
        &[6, 6],
        &[6, 5, 0, 5, 6],
        // More than 12 000 spots.
        &[4, 255].repeat(48),
    ];
    for name in names {
        assert_eq!(game.find(name, &mut scratch), Ok(None), "{name:?}");
    }
    assert_eq!(game.find(&vec![1; 1 << 20], &mut scratch), Ok(None));
    assert_eq!(game.lands(), 0);
    let land = game.find(&[4, 3], &mut scratch).unwrap().unwrap();
    assert_eq!((game.land_text(land), name_of(&game, land)), ("0*3".to_owned(), vec![4, 3]));
}

proptest! {
    /// Another game finds a land by the name that one game has given it, with the same features.
    #[test]
    fn names_mean_the_same_land_in_every_game(spots in 2u32..9, moves in prop::collection::vec(any::<prop::sample::Index>(), 0..20)) {
        let games = [(); 2].map(|()| Sprouts::new(1 << 26));
        let mut scratches = [(); 2].map(|()| Scratch::default());
        let mut sum = games[0].atoms(&Position::start(spots).unwrap(), &mut scratches[0]).unwrap();
        for chosen in moves {
            let children = games[0].children(&sum, &mut scratches[0], &|| false).unwrap();
            if children.is_empty() {
                break;
            }
            sum = chosen.get(&children).clone();
            for &land in &sum {
                let name = name_of(&games[0], land);
                let found = games[1].find(&name, &mut scratches[1]).unwrap().unwrap();
                prop_assert_eq!(name_of(&games[1], found), name);
                prop_assert_eq!(games[1].land_text(found), games[0].land_text(land));
                prop_assert_eq!(games[1].features(found), games[0].features(land));
                // The name is the canonical form: reading the text leads to the same land.
                let text: Position = games[0].land_text(land).parse().unwrap();
                prop_assert_eq!(games[1].atoms(&text, &mut scratches[1]), Ok(vec![found]));
            }
        }
    }

    /// `find` accepts or rejects any bytes without a panic.
    #[test]
    fn any_bytes_are_a_land_or_not(name in prop::collection::vec(prop_oneof![0u8..9, 220u8..230], 0..14)) {
        let (game, mut scratch) = (Sprouts::new(1 << 24), Scratch::default());
        if let Ok(Some(land)) = game.find(&name, &mut scratch) {
            prop_assert_eq!(name_of(&game, land), name);
            let text = game.land_text(land);
            prop_assert!(text.parse::<Position>().is_ok(), "{}", text);
            let mut options = OptionList::default();
            prop_assert!(game.options(land, &mut scratch, &mut options).is_ok());
        }
    }
}
