//! Complete searches of small boards with every algorithm and the tuned parameters.

use criterion::{Criterion, Throughput, criterion_group};
use konane::Profile;
use konane::Value;
use konane::game::Konane;
use konane::search::alphabeta::{ScoreTable, alphabeta};
use konane::search::dfpn::dfpn;
use konane::search::plain::Root;
use konane::search::pn2::pn2;
use konane::search::pns::pns;
use konane::search::run::{Limits, Outcome, Report};
use konane::search::table::Table;
use konane::{Colour, Position};

use super::common::{board, group};

const TABLE: usize = 64 << 20;
const TREE: usize = 64 << 20;

type Run = fn(&Konane<'_>, u64) -> Report;

fn table() -> Table {
    Table::new(TABLE).unwrap()
}

/// All algorithms with their names.
const ALGORITHMS: &[(&str, Run)] = &[
    ("pns", |game, root| {
        let table = table();
        let root = Root::new(game, root, &table);
        let options = Profile::Tuned.pns();
        pns(root, TREE, options, Limits::default(), &mut ()).unwrap()
    }),
    ("pn2", |game, root| {
        let table = table();
        let root = Root::new(game, root, &table);
        let options = Profile::Tuned.pn2();
        pn2(root, TREE, options, Limits::default(), &mut ()).unwrap()
    }),
    ("dfpn", |game, root| {
        dfpn(Root::new(game, root, &table()), Profile::Tuned.dfpn(), Limits::default(), &mut ())
    }),
    ("alphabeta", |game, root| {
        let table = ScoreTable::new(TABLE).unwrap();
        alphabeta(game, root, &table, Profile::Tuned.alphabeta(), Limits::default(), &mut ())
    }),
];

/// Boards with their winners (thesis, table of small boards).
const BOARDS: &[(&str, Colour)] = &[("5x5", Colour::Black), ("5x6", Colour::White)];

fn algorithms(c: &mut Criterion) {
    for &(text, winner) in BOARDS {
        let board = board(text);
        let game = Konane::new(&board, Profile::Tuned.estimate());
        let root = Position::start(&board).code(&board);
        let mut group = group(c, &format!("algorithms/{text}"));
        for &(name, run) in ALGORITHMS {
            let search = || run(&game, root);
            let report = search();
            let expected = if winner == Colour::Black { Value::Win } else { Value::Loss };
            assert_eq!(report.outcome, Outcome::Known(expected), "{name} {text}");
            let again = search().counters;
            assert_eq!(report.counters, again, "{name} {text}: the counters differ");
            group.throughput(Throughput::Elements(report.counters.nodes));
            group.bench_function(name, |b| b.iter(search));
        }
    }
}

criterion_group!(benches, algorithms);
