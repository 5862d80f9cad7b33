//! Random graphs and Nim: outcomes do not depend on parameters or memory.

use konane::Profile;
use konane::Value;
use konane::search::run::{Limits, Outcome};
use konane::search::testing::graph::GraphGame;
use konane::search::testing::negamax::Negamax;

use crate::algorithms::{
    ENOUGH_NODES, LARGE_TABLE, Random, Setting, algorithms, check, random_graph,
    small_table_limits, thousands,
};

#[test]
fn random_graphs_agree_with_negamax() {
    let (mut known, mut asked) = (0, 0);
    let limits = Limits { nodes: Some(ENOUGH_NODES), ..Limits::default() };
    for number in 0..thousands(3) {
        let game = random_graph(number);
        let mut oracle = Negamax::new(&game);
        let mut random = Random(!number);
        for _ in 0..3 {
            let setting = Setting::random(&mut random, LARGE_TABLE);
            let root = random.below(game.nodes().min(8));
            let context = || format!("graph {number} from {root}");
            known += check(&game, root, &mut oracle, setting, limits, &context);
            asked += algorithms::<GraphGame>().len();
        }
    }
    assert!(known * 100 >= asked * 99, "{known} of {asked}");
}

#[test]
fn nim_agrees_with_the_theorem_of_bouton() {
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
            let setting = Setting::random(&mut random, bytes);
            let context = || format!("graph {number}");
            known[at] += check(&game, 0, &mut oracle, setting, small_table_limits(), &context);
        }
        asked += algorithms::<GraphGame>().len();
    }
    // Most of these games are small enough even for four entries. The bound is low, because a busy machine may reach
    // the deadline.
    assert!(known[0] * 2 > asked && known[1] * 2 > asked, "{known:?} of {asked}");
}

#[test]
fn small_trees_never_change_an_outcome() {
    let mut full = 0;
    for number in 0..thousands(3) / 10 {
        let game = random_graph(number);
        let mut oracle = Negamax::new(&game);
        let mut random = Random(number ^ 0xaaaa);
        for tree_bytes in [128, 200, 1 << 10, 4 << 10, 32 << 10] {
            let mut setting = Setting::random(&mut random, 1 << 10);
            setting.tree_bytes = tree_bytes;
            let context = || format!("graph {number}");
            let limits = small_table_limits();
            let asked = algorithms::<GraphGame>().len();
            full += asked - check(&game, 0, &mut oracle, setting, limits, &context);
        }
    }
    assert!(full > 0, "the trees were not small at all");
}
