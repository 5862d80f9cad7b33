//! Every search algorithm against plain negamax, on random graphs and random Konane positions.
//!
//! What must hold of every report, whatever the parameters and however small the memory:
//!
//! * a known outcome is the oracle's;
//! * without limits, and with memory of a reasonable size, the outcome is known;
//! * the best child of a won root is lost;
//! * the same search twice counts the same nodes;
//! * a limit leads to `Unknown` with its own reason.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use konane::konane::game::{Estimate, Konane, Weights};
use konane::konane::profile::Profile;
use konane::konane::{Board, Colour, Phase, Position};
use konane::search::alphabeta::{AlphaBetaOptions, alphabeta};
use konane::search::control::{Limits, Observer, Outcome, Progress, Reason, Report};
use konane::search::dfpn::{DfpnOptions, dfpn};
use konane::search::game::{Child, Expansion, Game, Value};
use konane::search::graph::GraphGame;
use konane::search::negamax::Negamax;
use konane::search::numbers::Combination;
use konane::search::pn2::{Pn2Options, pn2};
use konane::search::pns::{PnsOptions, pns};
use konane::search::table::Table;

/// What an algorithm is run with; each takes what it knows.
#[derive(Clone, Copy, Debug)]
struct Setting {
    profile: Profile,
    table_bytes: usize,
    tree_bytes: usize,
    weight_64: u32,
    epsilon_1024: u32,
    settle_budget: u32,
    settle_effort: u32,
    step: u32,
    pn2_minimum: u64,
}

/// Nodes that suffice for every search with a table of reasonable size.
const MANY: u64 = 300_000;

/// Enough for the trees of nearly all searches here.
const TREE: usize = 16 << 20;

impl Setting {
    fn of(profile: Profile, table_bytes: usize) -> Self {
        let options = profile.dfpn();
        Setting {
            profile,
            table_bytes,
            tree_bytes: TREE,
            weight_64: options.combination.weight_64,
            epsilon_1024: options.epsilon_1024,
            settle_budget: options.settle_budget,
            settle_effort: options.settle_effort,
            step: profile.alphabeta().step,
            pn2_minimum: profile.pn2().budget_minimum,
        }
    }

    fn table(self) -> Table {
        Table::new(self.table_bytes).unwrap()
    }

    // What a setting does not vary is the profile's.

    fn dfpn(self) -> DfpnOptions {
        let mut options = self.profile.dfpn();
        options.combination = Combination { weight_64: self.weight_64 };
        options.epsilon_1024 = self.epsilon_1024;
        options.settle_budget = self.settle_budget;
        options.settle_effort = self.settle_effort;
        options
    }

    fn pns(self) -> PnsOptions {
        let mut options = self.profile.pns();
        options.combination = Combination { weight_64: self.weight_64 };
        options.settle_budget = self.settle_budget;
        options.settle_effort = self.settle_effort;
        options
    }

    fn pn2(self) -> Pn2Options {
        let mut options = self.profile.pn2();
        options.pns = self.pns();
        options.budget_minimum = self.pn2_minimum;
        options
    }

    fn alphabeta(self) -> AlphaBetaOptions {
        let mut options = self.profile.alphabeta();
        options.step = self.step;
        options.settle_budget = self.settle_budget;
        options.settle_effort = self.settle_effort;
        options
    }
}

type Run<G> = fn(&G, u64, Setting, Limits<'_>, &mut dyn Observer) -> Report;

/// All algorithms: one line each.
fn algorithms<G: Game>() -> Vec<(&'static str, Run<G>)> {
    vec![
        ("PNS", |game, root, setting, limits, observer| {
            let (table, tree) = (setting.table(), setting.tree_bytes);
            pns(game, root, &table, tree, setting.pns(), limits, observer)
        }),
        ("PN²", |game, root, setting, limits, observer| {
            let (table, tree) = (setting.table(), setting.tree_bytes);
            pn2(game, root, &table, tree, setting.pn2(), limits, observer)
        }),
        ("df-pn", |game, root, setting, limits, observer| {
            dfpn(game, root, &setting.table(), setting.dfpn(), limits, observer)
        }),
        ("alpha-beta", |game, root, setting, limits, observer| {
            alphabeta(game, root, &setting.table(), setting.alphabeta(), limits, observer)
        }),
    ]
}

/// Runs every algorithm and compares it with the oracle. Returns how many outcomes were known.
fn check<G: Game>(
    game: &G,
    root: u64,
    oracle: &mut Negamax<'_, G>,
    setting: Setting,
    limits: Limits<'_>,
    context: &dyn Fn() -> String,
) -> usize {
    let expected = oracle.value(root);
    let mut known = 0;
    for (name, run) in algorithms() {
        let report = run(game, root, setting, limits, &mut ());
        let context = || format!("{name} {} {setting:?}: {report:?}", context());
        match report.outcome {
            Outcome::Known(value) => {
                assert_eq!(value, expected, "{}", context());
                known += 1;
                if value == Value::Win {
                    let best = report.best.unwrap_or_else(|| panic!("{}", context()));
                    assert_eq!(oracle.value(best), Value::Loss, "{}", context());
                    assert!(is_child(game, root, best), "{}", context());
                }
            }
            Outcome::Unknown(_) => {
                // A tree unfolds every transposition, so it may outgrow any memory and any time.
                let limited = if name.starts_with("PN") {
                    limits.nodes.is_some()
                        || limits.deadline.is_some()
                        || report.memory_bytes >= (setting.tree_bytes / 2) as u64
                } else {
                    limits.deadline.is_some() || limits.nodes.is_some_and(|n| n < MANY)
                };
                assert!(limited, "no limit was reached: {}", context());
                assert!(report.phi != 0 && report.delta != 0, "{}", context());
            }
        }
    }
    known
}

fn is_child<G: Game>(game: &G, parent: u64, code: u64) -> bool {
    let mut children = Vec::new();
    match game.expand(parent, &mut G::Scratch::default(), &mut children, |_| {}) {
        Expansion::Lost => false,
        Expansion::Won(child) => child == code,
        Expansion::Open => children.iter().any(|child| child.code == code),
    }
}

/// So many thousand cases, a tenth of them in unoptimised builds.
fn thousands(number: u64) -> u64 {
    number * if cfg!(debug_assertions) { 100 } else { 1000 }
}

/// SplitMix64: the tests are the same on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    fn setting(&mut self, table_bytes: usize) -> Setting {
        let settles = self.below(2) == 0;
        Setting {
            profile: self.pick(&[Profile::Tuned, Profile::Thesis]),
            table_bytes,
            tree_bytes: TREE,
            weight_64: self.below(65) as u32,
            epsilon_1024: self.below(513) as u32,
            settle_budget: if settles { 1 + self.below(80) as u32 } else { 0 },
            settle_effort: self.below(12) as u32,
            step: self.pick(&[1, 1, 2, 3, 64]),
            pn2_minimum: self.pick(&[1, 3, 100]),
        }
    }
}

/// A random game of one of several shapes, by its number.
fn random_graph(number: u64) -> GraphGame {
    let mut random = Random(number);
    let (nodes, degree) = match number % 5 {
        0 => (1 + random.below(12), random.below(4)), // tiny, often degenerate
        1 => (60 + random.below(100), 2),             // long and narrow
        2 => (50 + random.below(300), 3 + random.below(4)),
        3 => (200 + random.below(400), 10 + random.below(10)), // wide, many transpositions
        _ => (30 + random.below(60), 1),                       // chains
    };
    let game = GraphGame::random(number, nodes as u32, degree as u32)
        .with_immediate_wins(random.below(3) > 0);
    let most = random.pick(&[1, 3, 30, 100_000, u32::MAX]);
    game.with_random_estimates(number, most)
}

/// Konane played with nothing but positions and their move lists: no symmetry, no kernels, no
/// estimates. The oracle of the game that the searches play. Boards of at most 63 squares.
struct PlainKonane<'a>(&'a Board);

impl PlainKonane<'_> {
    fn code(position: &Position) -> u64 {
        position.occupied() | (position.to_move() as u64) << 63
    }
}

impl Game for PlainKonane<'_> {
    type Scratch = ();

    fn expand(
        &self,
        code: u64,
        _: &mut (),
        children: &mut Vec<Child>,
        announce: impl FnMut(u64),
    ) -> Expansion {
        let to_move = if code >> 63 == 0 { Colour::Black } else { Colour::White };
        let position = Position::new_unchecked(code & !(1 << 63), to_move);
        let moves = position.moves(self.0);
        if moves.is_empty() {
            return Expansion::Lost;
        }
        let codes: Vec<u64> =
            moves.iter().map(|&mv| Self::code(&position.play(self.0, mv))).collect();
        codes.iter().copied().for_each(announce);
        let child = |&code| Child { code, phi: 1, delta: 1, effort: 0 };
        children.extend(codes.iter().map(child));
        Expansion::Open
    }

    fn key(&self, code: u64) -> u64 {
        code
    }
}

fn board(text: &str) -> Board {
    Board::new(text.parse().unwrap())
}

/// Boards with the most stones for which the oracle is quick.
const BOARDS: &[(&str, u32)] = &[
    ("3x3", 9),
    ("3x4", 12),
    ("4x3", 12),
    ("4x4", 16),
    ("3x5", 15),
    ("5x3", 15),
    ("4x5", 15),
    ("5x4", 15),
    ("5x5", 13),
    ("1x1", 1),
    ("1x2", 2),
    ("1x9", 9),
    ("1x20", 20),
    ("13x1", 13),
    ("2x2", 4),
    ("2x7", 14),
    ("2x10", 16),
    ("9x2", 16),
    ("3x7", 14),
    ("7x7", 12),
    ("8x7", 12),
];

/// A jumping-phase position with at most `most` stones.
fn random_position(random: &mut Random, board: &Board, most: u32) -> Option<Position> {
    let mut occupied = board.all();
    let squares = board.dimensions().squares();
    let target = 1 + random.below(u64::from(most.min(squares))) as u32;
    while occupied.count_ones() > target {
        occupied &= !(1 << random.below(u64::from(squares)));
    }
    let position = Position::new_unchecked(occupied, random.pick(&[Colour::Black, Colour::White]));
    (position.phase(board) == Phase::Jumping).then_some(position)
}

const ROOMY: usize = 1 << 16;

#[test]
fn random_graphs_agree_with_negamax() {
    let (mut known, mut asked) = (0, 0);
    let limits = Limits { nodes: Some(MANY), ..Limits::default() };
    for number in 0..thousands(3) {
        let game = random_graph(number);
        let mut oracle = Negamax::new(&game);
        let mut random = Random(!number);
        for _ in 0..3 {
            let setting = random.setting(ROOMY);
            let root = random.below(game.nodes().min(8));
            let context = || format!("graph {number} from {root}");
            known += check(&game, root, &mut oracle, setting, limits, &context);
            asked += algorithms::<GraphGame>().len();
        }
    }
    assert!(known * 1000 >= asked * 995, "{known} of {asked}");
}

#[test]
fn nim_agrees_with_its_theory() {
    for piles in [&[1, 2, 3][..], &[4, 5, 6], &[7, 7], &[2, 2, 3, 3], &[5, 9, 12]] {
        let game = GraphGame::nim(piles);
        let sum = piles.iter().fold(0, |sum, pile| sum ^ pile);
        let expected = if sum == 0 { Value::Loss } else { Value::Win };
        for (name, run) in algorithms() {
            for profile in [Profile::Tuned, Profile::Thesis] {
                let setting = Setting::of(profile, 1 << 20);
                let report = run(&game, 0, setting, Limits::default(), &mut ());
                assert_eq!(report.outcome, Outcome::Known(expected), "{name} {piles:?}");
            }
        }
    }
}

#[test]
fn small_tables_never_change_an_outcome() {
    let mut known = [0; 2];
    let mut asked = 0;
    for number in 0..thousands(3) / 5 {
        let game = random_graph(number);
        let mut oracle = Negamax::new(&game);
        let mut random = Random(number ^ 0x5555);
        for (at, bytes) in [64, 1 << 10].into_iter().enumerate() {
            let setting = random.setting(bytes);
            let context = || format!("graph {number}");
            known[at] += check(&game, 0, &mut oracle, setting, forgetful(), &context);
        }
        asked += algorithms::<GraphGame>().len();
    }
    // Most of these games are small enough even for four entries. The figures leave room for a
    // busy machine: see the deadline.
    assert!(known[0] * 2 > asked && known[1] * 2 > asked, "{known:?} of {asked}");
}

/// Limits of a search whose table forgets nearly everything: it may count few new nodes and still
/// take for ever, so there is a deadline as well.
fn forgetful() -> Limits<'static> {
    Limits {
        nodes: Some(20_000),
        deadline: Some(Instant::now() + Duration::from_millis(50)),
        stop: None,
    }
}

#[test]
fn small_trees_never_change_an_outcome() {
    let mut full = 0;
    for number in 0..thousands(3) / 10 {
        let game = random_graph(number);
        let mut oracle = Negamax::new(&game);
        let mut random = Random(number ^ 0xaaaa);
        for tree_bytes in [0, 100, 1 << 10, 4 << 10, 32 << 10] {
            let setting = Setting { tree_bytes, ..random.setting(1 << 10) };
            let context = || format!("graph {number}");
            let limits = forgetful();
            let asked = algorithms::<GraphGame>().len();
            full += asked - check(&game, 0, &mut oracle, setting, limits, &context);
        }
    }
    assert!(full > 0, "the trees were not small at all");
}

#[test]
fn random_konane_positions_agree_with_negamax_over_move_lists() {
    let mut random = Random(1);
    let mut wins = [0u64; 2];
    for &(text, most) in BOARDS {
        let board = board(text);
        let plain = PlainKonane(&board);
        let games = [Profile::Tuned, Profile::Thesis].map(|p| Konane::new(&board, p.estimate()));
        let mut plain_oracle = Negamax::new(&plain);
        let mut oracles = [Negamax::new(&games[0]), Negamax::new(&games[1])];
        for number in 0..thousands(3) / 20 {
            let Some(position) = random_position(&mut random, &board, most) else {
                continue;
            };
            let code = board.symmetries().code(&position);
            let expected = plain_oracle.value(PlainKonane::code(&position));
            wins[usize::from(expected == Value::Win)] += 1;
            let context = || format!("{text} {number}: {position:?}");
            for (game, oracle) in games.iter().zip(&mut oracles) {
                assert_eq!(oracle.value(code), expected, "{}", context());
                let setting = random.setting(ROOMY);
                let limits = Limits::default();
                check(game, code, oracle, setting, limits, &context);
            }
            for (at, profile) in [Profile::Tuned, Profile::Thesis].into_iter().enumerate() {
                let setting = Setting::of(profile, ROOMY);
                let limits = Limits::default();
                check(&games[at], code, &mut oracles[at], setting, limits, &context);
            }
        }
    }
    let many = thousands(3) / 10;
    assert!(wins[0] > many && wins[1] > many, "{wins:?} lost and won");
}

#[test]
fn random_konane_positions_with_small_tables() {
    let mut random = Random(2);
    for &(text, most) in BOARDS {
        let board = board(text);
        let game = Konane::new(&board, Profile::Tuned.estimate());
        let mut oracle = Negamax::new(&game);
        for number in 0..thousands(3) / 75 {
            let Some(position) = random_position(&mut random, &board, most) else {
                continue;
            };
            let code = board.symmetries().code(&position);
            let bytes = random.pick(&[64, 128, 192, 1 << 10]);
            let setting = random.setting(bytes);
            let context = || format!("{text} {number}: {position:?}");
            check(&game, code, &mut oracle, setting, forgetful(), &context);
        }
    }
}

#[test]
fn whole_boards_agree_with_negamax_from_the_first_removal() {
    for text in [
        "1x1", "1x2", "2x1", "1x3", "1x5", "1x8", "1x12", "2x2", "2x3", "2x5", "2x8", "3x3", "3x4",
        "3x5", "5x3", "4x4", "3x6",
    ] {
        let board = board(text);
        let plain = PlainKonane(&board);
        let start = Position::start(&board);
        let expected = Negamax::new(&plain).value(PlainKonane::code(&start));
        let code = board.symmetries().code(&start);
        for profile in [Profile::Tuned, Profile::Thesis] {
            let game = Konane::new(&board, profile.estimate());
            let mut oracle = Negamax::new(&game);
            assert_eq!(oracle.value(code), expected, "{text}");
            let setting = Setting::of(profile, 1 << 20);
            let context = || text.to_string();
            check(&game, code, &mut oracle, setting, Limits::default(), &context);
        }
    }
}

#[test]
fn estimates_of_all_sizes_agree() {
    let board = board("4x4");
    let code = board.symmetries().code(&Position::start(&board));
    let Estimate::Features(weights) = Profile::Tuned.estimate() else {
        panic!("the tuned estimate has no weights to vary");
    };
    for scale in [0.0, 1.0, 1e3, 1e6] {
        let estimate = Estimate::Features(Weights { scale, ..weights });
        let game = Konane::new(&board, estimate);
        let mut oracle = Negamax::new(&game);
        let mut random = Random(scale as u64);
        for _ in 0..6 {
            let setting = random.setting(1 << 20);
            let context = || format!("4x4, scale {scale}");
            check(&game, code, &mut oracle, setting, Limits::default(), &context);
        }
    }
}

/// A game that no search settles within a few milliseconds, unless it is at fault.
fn endless() -> (Board, Estimate) {
    (board("8x8"), Profile::Thesis.estimate())
}

fn run_limited(limits: Limits<'_>, observer: &mut dyn Observer, reason: Reason) {
    let (board, estimate) = endless();
    let game = Konane::new(&board, estimate);
    let code = board.symmetries().code(&Position::start(&board));
    let setting = Setting::of(Profile::Thesis, 1 << 22);
    for (name, run) in algorithms() {
        let report = run(&game, code, setting, limits, observer);
        assert_eq!(report.outcome, Outcome::Unknown(reason), "{name}");
        assert!(report.phi != 0 && report.delta != 0, "{name} {report:?}");
    }
}

#[test]
fn the_node_limit_is_kept_and_named() {
    let (board, estimate) = endless();
    let game = Konane::new(&board, estimate);
    let code = board.symmetries().code(&Position::start(&board));
    for nodes in [0, 1, 2, 10, 1000, 30_000] {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        run_limited(limits, &mut (), Reason::NodeLimit);
        for (name, run) in algorithms() {
            let setting = Setting::of(Profile::Thesis, 1 << 22);
            let counted = run(&game, code, setting, limits, &mut ()).counters.nodes;
            // One expansion adds at most as many nodes as a position has moves.
            assert!(counted <= nodes + 128, "{name}: {counted} of {nodes}");
        }
    }
}

#[test]
fn a_deadline_in_the_past_ends_the_search_at_once() {
    let started = Instant::now();
    let limits = Limits { deadline: Some(started), ..Limits::default() };
    run_limited(limits, &mut (), Reason::TimeLimit);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_deadline_in_the_future_is_kept() {
    let (board, estimate) = endless();
    let game = Konane::new(&board, estimate);
    let code = board.symmetries().code(&Position::start(&board));
    for (name, run) in algorithms() {
        let setting = Setting::of(Profile::Thesis, 1 << 22);
        let started = Instant::now();
        let limits =
            Limits { deadline: Some(started + Duration::from_millis(100)), ..Limits::default() };
        let report = run(&game, code, setting, limits, &mut ());
        assert_eq!(report.outcome, Outcome::Unknown(Reason::TimeLimit), "{name}");
        // Generous: a loaded machine may not run us for a while.
        assert!(started.elapsed() < Duration::from_secs(10), "{name}");
        assert!(started.elapsed() >= Duration::from_millis(100), "{name}");
    }
}

#[test]
fn a_stop_flag_set_before_ends_the_search_at_once() {
    let stop = AtomicBool::new(true);
    let limits = Limits { stop: Some(&stop), ..Limits::default() };
    run_limited(limits, &mut (), Reason::Interrupted);
    // The flag goes before everything else: it is the user's own will.
    let limits = Limits { deadline: Some(Instant::now()), ..limits };
    run_limited(limits, &mut (), Reason::Interrupted);
}

#[test]
fn a_stop_flag_set_by_another_thread_ends_the_search() {
    let (board, estimate) = endless();
    let game = Konane::new(&board, estimate);
    let code = board.symmetries().code(&Position::start(&board));
    let stop = AtomicBool::new(false);
    for (name, run) in algorithms() {
        stop.store(false, Ordering::Relaxed);
        let report = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                stop.store(true, Ordering::Relaxed);
            });
            let limits = Limits { stop: Some(&stop), ..Limits::default() };
            let setting = Setting::of(Profile::Thesis, 1 << 22);
            run(&game, code, setting, limits, &mut ())
        });
        assert_eq!(report.outcome, Outcome::Unknown(Reason::Interrupted), "{name}");
        assert!(report.best.is_some(), "{name}");
    }
}

/// Sets the stop flag on its third call, and checks what it is shown.
struct StopsAfterThree<'a> {
    stop: &'a AtomicBool,
    calls: u32,
    expansions: u64,
}

impl Observer for StopsAfterThree<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.calls += 1;
        assert!(progress.counters.expansions > self.expansions);
        self.expansions = progress.counters.expansions;
        if self.calls == 3 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn the_observer_is_called_and_may_stop_the_search() {
    let (board, estimate) = endless();
    let game = Konane::new(&board, estimate);
    let code = board.symmetries().code(&Position::start(&board));
    for (name, run) in algorithms() {
        let stop = AtomicBool::new(false);
        let mut observer = StopsAfterThree { stop: &stop, calls: 0, expansions: 0 };
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        let setting = Setting::of(Profile::Thesis, 1 << 22);
        let report = run(&game, code, setting, limits, &mut observer);
        assert_eq!(report.outcome, Outcome::Unknown(Reason::Interrupted), "{name}");
        assert!((3..=4).contains(&observer.calls), "{name}: {}", observer.calls);
    }
}

#[test]
fn a_search_that_ends_before_its_limits_is_not_disturbed_by_them() {
    let stop = AtomicBool::new(false);
    let game = GraphGame::nim(&[3, 4, 5]);
    let limits = Limits {
        nodes: Some(1 << 40),
        deadline: Some(Instant::now() + Duration::from_secs(3600)),
        stop: Some(&stop),
    };
    for (name, run) in algorithms() {
        let setting = Setting::of(Profile::Tuned, 1 << 20);
        let plain = run(&game, 0, setting, Limits::default(), &mut ());
        let limited = run(&game, 0, setting, limits, &mut ());
        assert_eq!(plain.outcome, limited.outcome, "{name}");
        assert_eq!(plain.counters, limited.counters, "{name}");
    }
}

#[test]
fn counts_are_the_same_twice() {
    for number in (0..400).step_by(7) {
        let game = random_graph(number);
        let setting = Random(number).setting(1 << 12);
        for (name, run) in algorithms() {
            let limits = Limits { nodes: Some(5000), ..Limits::default() };
            let reports = [(); 2].map(|()| run(&game, 0, setting, limits, &mut ()));
            let [a, b] = reports.map(|r| (r.outcome, r.phi, r.delta, r.best, r.counters));
            assert_eq!(a, b, "{name} graph {number} {setting:?}");
        }
    }
    let board = board("5x5");
    let game = Konane::new(&board, Profile::Tuned.estimate());
    let code = board.symmetries().code(&Position::start(&board));
    for (name, run) in algorithms() {
        let setting = Setting::of(Profile::Tuned, 1 << 20);
        let limits = Limits { nodes: Some(50_000), ..Limits::default() };
        let reports = [(); 2].map(|()| run(&game, code, setting, limits, &mut ()));
        assert_eq!(reports[0].counters, reports[1].counters, "{name}");
    }
}

#[test]
fn searches_may_share_a_table() {
    // Small boards in a table that has to grow several times meanwhile: the threads' searches help
    // and disturb each other, and each still gets its own answer.
    let board = board("4x5");
    let game = Konane::new(&board, Profile::Thesis.estimate());
    let mut oracle = Negamax::new(&game);
    let mut random = Random(3);
    for _ in 0..3 {
        let table = Table::new(1 << 22).unwrap();
        let positions: Vec<_> = (0..40)
            .filter_map(|_| random_position(&mut random, &board, 18))
            .map(|position| board.symmetries().code(&position))
            .map(|code| (code, oracle.value(code)))
            .collect();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (game, table, positions) = (&game, &table, &positions);
                scope.spawn(move || {
                    let options = Setting::of(Profile::Thesis, 0).dfpn();
                    for (code, value) in positions.iter().skip(thread).chain(positions) {
                        let report = dfpn(game, *code, table, options, Limits::default(), &mut ());
                        assert_eq!(report.outcome, Outcome::Known(*value), "{code:x}");
                    }
                });
            }
        });
    }
}
