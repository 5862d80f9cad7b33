//! A leader takes whole messages with any content in, or refuses them: of Konane and of Sprouts. A worker
//! refuses entries and nodes that are none. No winner comes of a leader that nobody has told one.
#![no_main]

use std::time::Duration;

use konane::search::jobs::remote::wire::{Kind, seal};
use konane::search::jobs::remote::{Desk, DeskRules};
use konane::search::sums::SearchOptions;
use konane::sprouts::cluster::{ClusterSearch, lead};
use konane::{Board, Position, SolveOptions, Solver};
use libfuzzer_sys::fuzz_target;

/// Each piece of the data is the content of a message.
fn tell(desk: &mut dyn Desk, data: &[u8]) {
    let told = desk.hello(0, Duration::ZERO);
    let number = u64::from_le_bytes(told.answer[8..16].try_into().expect("eight bytes"));
    for content in data.split(|&byte| byte == 0xff) {
        let bytes = seal(Kind::Message, number, |bytes| bytes.extend(content));
        let _ = desk.hear(&bytes, Duration::ZERO);
        let _ = desk.hear(content, Duration::ZERO);
    }
    desk.hello(1, Duration::ZERO);
}

fuzz_target!(|data: &[u8]| {
    let rules = DeskRules::default();
    let Some((first, data)) = data.split_first() else { return };
    if first % 2 == 0 {
        let board = Board::new("3x4".parse().expect("a board"));
        let start = Position::start(&board);
        let options = SolveOptions { memory_bytes: 1 << 20, ..SolveOptions::default() };
        let solver = Solver::new(&board, &start).options(options);
        solver.lead(rules, &mut (), |desk| tell(desk, data)).expect("the memory is enough");
        solver
            .work(rules, |station| {
                let _ = station.entries(data);
                let _ = station.search(0, data, Some(data));
            })
            .expect("the memory is enough");
    } else {
        let position = "0*6".parse().expect("a position");
        let search = ClusterSearch {
            position: &position,
            nimber: 0,
            options: SearchOptions::TUNED,
            memory_bytes: 4 << 20,
            threads: std::num::NonZeroUsize::MIN,
        };
        lead(search, rules, None, &mut (), |desk| tell(desk, data)).expect("the memory is enough");
    }
});
