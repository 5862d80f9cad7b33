//! Coordinators of Konane and Sprouts accept or reject sealed messages with any content. A worker
//! accepts or rejects jobs, entries and nodes with any content. Results may be wrong, since sealed
//! messages are trusted, but nothing may panic or hang.
#![no_main]

use konane::search::cluster::message::{Instruction, Reply};
use konane::search::cluster::wire::{Kind, decode, encode, seal};
use konane::search::cluster::{CoordinatorConfig, RemoteCoordinator, RemoteWorker};
use konane::search::sums::SearchOptions;
use konane::sprouts::cluster::{ClusterSearch, SHARED_WORK, coordinate};
use konane::{Board, Position, SolveOptions, Solver};
use libfuzzer_sys::fuzz_target;

/// Sends each piece of the data to the coordinator as the content of a message. Returns the number of the search,
/// which messages to workers need as well.
fn send(coordinator: &mut dyn RemoteCoordinator, data: &[u8]) -> u64 {
    let delivery = coordinator.handle_idle(0);
    let number = u64::from_le_bytes(delivery.reply[8..16].try_into().expect("eight bytes"));
    for content in data.split(|&byte| byte == 0xff) {
        let bytes = seal(Kind::Request, number, |bytes| bytes.extend(content));
        let _ = coordinator.handle(&bytes);
        let _ = coordinator.handle(content);
    }
    coordinator.handle_idle(1);
    number
}

/// Sends the pieces of the data to a worker as a node, entries and jobs.
fn send_to_worker(worker: &dyn RemoteWorker, number: u64, data: &[u8]) {
    let message = |kind, content: &[u8]| seal(kind, number, |bytes| bytes.extend(content));
    let mut pieces = data.split(|&byte| byte == 0xff);
    let node = message(Kind::Node, pieces.next().unwrap_or_default());
    let entries = message(Kind::Entries, pieces.next().unwrap_or_default());
    for content in pieces {
        let mut job = message(Kind::Reply, content);
        let answer = decode::<Reply<u64>>(Kind::Reply, number, &job);
        // Caps the expansion budget, which only the coordinator sets.
        if let Ok(Reply { instruction: Instruction::Search(mut search), results, received }) =
            answer
        {
            search.budget = search.budget.min(1000);
            let answer = Reply { instruction: Instruction::Search(search), results, received };
            job = encode(Kind::Reply, number, &answer);
        }
        let _ = worker.search(0, &job, Some(&entries));
        let _ = worker.search(1, &job, None);
        let _ = worker.search(0, content, Some(content));
    }
    let _ = worker.entries(&node);
    let _ = worker.entries(data);
}

fuzz_target!(|data: &[u8]| {
    let config = CoordinatorConfig::REMOTE;
    let Some((first, data)) = data.split_first() else { return };
    if first % 4 == 3 {
        let position = "0*6".parse().expect("a position");
        let search = ClusterSearch {
            position: &position,
            nimber: 0,
            options: SearchOptions::TUNED,
            memory_bytes: 4 << 20,
            threads: std::num::NonZeroUsize::MIN,
            shared_work: SHARED_WORK,
        };
        let run = |coordinator: &mut dyn RemoteCoordinator| {
            send(coordinator, data);
        };
        coordinate(search, config, None, &mut (), run).expect("the memory is enough");
        return;
    }
    // A board with an even side, and one with two odd sides, whose codes contain the side to move.
    let board = if first % 4 == 0 { "3x4" } else { "3x3" };
    let board = Board::new(board.parse().expect("a board"));
    let start = Position::start(&board);
    let options = SolveOptions { memory_bytes: 1 << 20, ..SolveOptions::default() };
    let solver = Solver::new(&board, &start).options(options);
    let (messages, jobs) = data.split_at(if first % 4 == 2 { 0 } else { data.len() });
    let mut number = 0;
    solver
        .coordinate(config, &mut (), |coordinator| number = send(coordinator, messages))
        .expect("the memory is enough");
    solver
        .work(&config, |worker| send_to_worker(worker, number, jobs))
        .expect("the memory is enough");
});
