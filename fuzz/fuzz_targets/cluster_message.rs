//! A leader takes whole messages with any content in, or refuses them: of Konane and of Sprouts. A
//! worker takes jobs, entries and nodes with any content, or refuses them. What comes out may be
//! wrong, since whoever can seal a message is believed, but nothing breaks.
#![no_main]

use konane::search::jobs::messages::{Answer, Order};
use konane::search::jobs::remote::wire::{Kind, decode, encode, seal};
use konane::search::jobs::remote::{RemoteLeader, RemoteRules, RemoteWorker};
use konane::search::sums::SearchOptions;
use konane::search::two_level::PlainRules;
use konane::sprouts::cluster::{ClusterSearch, lead};
use konane::{Board, Position, SolveOptions, Solver};
use libfuzzer_sys::fuzz_target;

/// Each piece of the data is the content of a message.
fn tell(leader: &mut dyn RemoteLeader, data: &[u8]) -> u64 {
    let told = leader.hello(0);
    let number = u64::from_le_bytes(told.answer[8..16].try_into().expect("eight bytes"));
    for content in data.split(|&byte| byte == 0xff) {
        let bytes = seal(Kind::Message, number, |bytes| bytes.extend(content));
        let _ = leader.hear(&bytes);
        let _ = leader.hear(content);
    }
    leader.hello(1);
    number
}

/// What others have found out about a position, sound or not: the bytes of a table's cell.
type Fact = [u8; 16];

/// The pieces are a node, entries and jobs.
fn order(worker: &dyn RemoteWorker, number: u64, data: &[u8]) {
    let whole = |kind, content: &[u8]| seal(kind, number, |bytes| bytes.extend(content));
    let mut pieces = data.split(|&byte| byte == 0xff);
    let node = whole(Kind::Node, pieces.next().unwrap_or_default());
    let entries = whole(Kind::Entries, pieces.next().unwrap_or_default());
    for content in pieces {
        let mut job = whole(Kind::Answer, content);
        let answer = decode::<Answer<u64, Fact>>(Kind::Answer, number, &job);
        // What a job may take is the leader's to say.
        if let Ok(Answer { order: Order::Search(mut search), facts, read }) = answer {
            search.budget = search.budget.min(1000);
            let answer = Answer { order: Order::Search(search), facts, read };
            job = encode(Kind::Answer, number, &answer);
        }
        let _ = worker.search(0, &job, Some(&entries));
        let _ = worker.search(1, &job, None);
        let _ = worker.search(0, content, Some(content));
    }
    let _ = worker.entries(&node);
    let _ = worker.entries(data);
}

fuzz_target!(|data: &[u8]| {
    let rules = RemoteRules::default();
    let Some((first, data)) = data.split_first() else { return };
    if first % 4 == 3 {
        let position = "0*6".parse().expect("a position");
        let search = ClusterSearch {
            position: &position,
            nimber: 0,
            options: SearchOptions::TUNED,
            memory_bytes: 4 << 20,
            threads: std::num::NonZeroUsize::MIN,
        };
        let run = |leader: &mut dyn RemoteLeader| {
            tell(leader, data);
        };
        lead(search, rules, None, &mut (), run).expect("the memory is enough");
        return;
    }
    // An even board, and an odd one, where codes have a mark.
    let board = if first % 4 == 0 { "3x4" } else { "3x3" };
    let board = Board::new(board.parse().expect("a board"));
    let start = Position::start(&board);
    let options = SolveOptions { memory_bytes: 1 << 20, ..SolveOptions::default() };
    let solver = Solver::new(&board, &start).options(options);
    let (messages, jobs) = data.split_at(if first % 4 == 2 { 0 } else { data.len() });
    let mut number = 0;
    let plain = PlainRules::default();
    solver
        .lead(rules, plain, &mut (), |leader| number = tell(leader, messages))
        .expect("the memory is enough");
    solver.work(plain, |worker| order(worker, number, jobs)).expect("the memory is enough");
});
