//! Certificates of games on graphs are closed, for any entries in the table.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use konane::Value;
use konane::search::LeafSolverOptions;
use konane::search::certificate::{Certificate, CertificateError, CertificateOptions, collect};
use konane::search::dfpn::{DfpnOptions, dfpn};
use konane::search::numbers::Epsilon;
use konane::search::plain::Root;
use konane::search::plain::game::Game;
use konane::search::plain::oracle::{Oracle, OracleAnswer, WithOracle};
use konane::search::run::{Limits, Reason};
use konane::search::table::Table;
use konane::search::testing::graph::GraphGame;
use konane::search::testing::negamax::Negamax;
use proptest::prelude::*;

const OPTIONS: CertificateOptions = CertificateOptions {
    dfpn: DfpnOptions { epsilon: Epsilon::new(0.15), ..DfpnOptions::PLAIN },
    leaf_solver: LeafSolverOptions { budget: 5, effort: u32::MAX - 1 },
};

fn certificate<G: Game>(
    root: Root<'_, G>,
    value: Value,
    layer: impl Fn(u64) -> u32 + Sync,
    limits: Limits<'_>,
) -> Result<Certificate, CertificateError> {
    let game = root.game;
    collect(root, value, layer, &OPTIONS, limits, &mut |_| {})?.thin(game, limits, &mut |_| {})
}

fn is_closed(game: &GraphGame, root: u64, value: Value, codes: &[u64]) -> bool {
    let set: HashSet<u64> = codes.iter().copied().collect();
    let successors = |node: u64| game.successors(node).iter().map(|&to| u64::from(to));
    let proven = |node: u64| set.contains(&node) || successors(node).next().is_none();
    let reaches = |node: u64| successors(node).any(proven);
    let begins = if value == Value::Win { reaches(root) } else { proven(root) };
    begins && codes.iter().all(|&node| successors(node).all(reaches))
}

/// True values of some nodes.
struct PartialValues(Vec<OracleAnswer>);

impl Oracle for PartialValues {
    fn value(&self, code: u64) -> OracleAnswer {
        self.0[code as usize]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 100 } else { 1000 }))]

    #[test]
    fn random_graphs_have_closed_certificates(
        seed: u64,
        nodes in 1u32..400,
        degree in 1u32..12,
        immediate: bool,
        searched: bool,
        share in 0u64..4,
    ) {
        let game = GraphGame::random(seed, nodes, degree).with_immediate_wins(immediate);
        let mut oracle = Negamax::new(&game);
        let values = (0..u64::from(nodes)).map(|node| {
            let known = node.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 62 < share;
            if known { OracleAnswer::Known(oracle.value(node)) } else { OracleAnswer::Unknown }
        });
        let values = PartialValues(values.collect());
        let game_with_oracle = WithOracle::new(&game, Some(&values));
        let value = oracle.value(0);
        // A few clusters only, so most entries are replaced.
        let table = Table::new(1 << 9).unwrap();
        if searched {
            dfpn(Root::new(&game_with_oracle, 0, &table), OPTIONS.dfpn, Limits::default(), &mut ());
        }
        // Every edge of a random graph leads to a node with a greater number.
        let layer = |code: u64| nodes - 1 - code as u32;
        let root = Root::new(&game_with_oracle, 0, &table);
        let found = certificate(root, value, layer, Limits::default()).unwrap();
        prop_assert!(is_closed(&game, 0, value, &found.codes));
        prop_assert!(found.codes.is_sorted_by(|a, b| a < b));
        for &code in &found.codes {
            prop_assert_eq!(oracle.value(code), Value::Loss);
            prop_assert!(!game.successors(code).is_empty());
        }
        if immediate {
            for at in 0..found.codes.len() {
                let mut left = found.codes.clone();
                left.remove(at);
                prop_assert!(!is_closed(&game, 0, value, &left), "{} can go", found.codes[at]);
            }
        }
        // A wrong value has no certificate.
        let table = Table::new(1 << 12).unwrap();
        let root = Root::new(&game_with_oracle, 0, &table);
        let error = certificate(root, !value, layer, Limits::default());
        prop_assert!(matches!(error, Err(CertificateError::Contradiction { .. })), "{:?}", error);
    }
}

#[test]
fn a_limit_gives_no_certificate() {
    let game = GraphGame::nim(&[9, 10, 11]);
    let stones = |code: u64| GraphGame::nim_piles(&[9, 10, 11], code).iter().sum::<u32>();
    let table = Table::new(1 << 16).unwrap();
    let stop = AtomicBool::new(true);
    let limits = Limits { stop: Some(&stop), ..Limits::default() };
    let value = Negamax::new(&game).value(0);
    let attempt = |limits| certificate(Root::new(&game, 0, &table), value, stones, limits);
    assert_eq!(attempt(limits), Err(CertificateError::Stopped(Reason::Interrupted)));
    let deadline = Some(std::time::Instant::now());
    let limits = Limits { deadline, ..Limits::default() };
    assert_eq!(attempt(limits), Err(CertificateError::Stopped(Reason::TimeLimit)));
    let found = attempt(Limits::default()).unwrap();
    assert!(is_closed(&game, 0, value, &found.codes));
    assert!(!found.codes.is_empty());
}

#[test]
fn known_values_that_cannot_be_read_give_no_certificate() {
    let game = GraphGame::nim(&[3, 4]);
    let failing = PartialValues(vec![OracleAnswer::Failed; game.nodes() as usize]);
    let game_with_oracle = WithOracle::new(&game, Some(&failing));
    let stones = |code: u64| GraphGame::nim_piles(&[3, 4], code).iter().sum::<u32>();
    let table = Table::new(1 << 12).unwrap();
    let root = Root::new(&game_with_oracle, 0, &table);
    let found = certificate(root, Value::Win, stones, Limits::default());
    assert_eq!(found, Err(CertificateError::Stopped(Reason::FileError)));
}

/// An oracle may read from a slow disk, so there are no look-ups after the stop flag has been set.
#[test]
fn a_stopped_certificate_looks_up_no_more_values() {
    struct Slow {
        values: Vec<OracleAnswer>,
        lookups: AtomicUsize,
        stop: AtomicBool,
    }
    impl Oracle for Slow {
        fn value(&self, code: u64) -> OracleAnswer {
            let lookups = self.lookups.fetch_add(1, Ordering::Relaxed);
            self.stop.fetch_or(lookups > 100, Ordering::Relaxed);
            self.values[code as usize]
        }
    }
    // After each of a thousand moves one reply leads to a lost position, whose value only the oracle has.
    let many = (1..=1000).flat_map(|node| [(0, node), (node, 1001)]);
    let edges: Vec<(u32, u32)> = many.chain([(1001, 1002), (1002, 1003)]).collect();
    let game = GraphGame::new(1004, &edges).unwrap();
    let layer = |code: u64| if code == 0 { 4 } else { 1003 - code.max(1000) as u32 };
    let mut oracle = Negamax::new(&game);
    let values = (0..game.nodes()).map(|node| OracleAnswer::Known(oracle.value(node))).collect();
    let known = Slow { values, lookups: AtomicUsize::new(0), stop: AtomicBool::new(false) };
    let game_with_oracle = WithOracle::new(&game, Some(&known));
    let table = Table::new(1 << 12).unwrap();
    let root = Root::new(&game_with_oracle, 0, &table);
    let limits = Limits { stop: Some(&known.stop), ..Limits::default() };
    let found = certificate(root, Value::Loss, layer, limits);
    assert_eq!(found, Err(CertificateError::Stopped(Reason::Interrupted)));
    assert!(known.lookups.into_inner() < 200);
}
