//! Copies of tables and snapshots of trees, during searches and after them.

use std::collections::HashSet;
use std::sync::mpsc::channel;

use proptest::prelude::*;

use super::*;
use crate::Value;
use crate::arena::{Allocator, ArenaMemory, ArrayId, ChildRecord};
use crate::numbers::Combination;
use crate::plain::Root;
use crate::plain::evaluate::Evaluator;
use crate::pns::tree::ProofTree;
use crate::pns::{self, PnsOptions, pns};
use crate::run::{Limits, Outcome, SearchMonitor};
use crate::split_mix::mix;
use crate::table::{Cursor, Entry, InverseHash, LinearMap, Table};
use crate::testing::RICH;
use crate::testing::graph::GraphGame;
use crate::testing::graph::{large_game, random_game};
use crate::testing::negamax::Negamax;

/// A search that is continued step by step.
struct Steps<'a> {
    tree: ProofTree,
    memory: ArenaMemory,
    evaluator: Evaluator<'a, GraphGame>,
}

impl<'a> Steps<'a> {
    fn new(
        game: &'a GraphGame,
        table: &'a Table,
        bytes: usize,
        options: PnsOptions,
        observer: &'a mut (),
    ) -> Self {
        let monitor = SearchMonitor::new(Limits::default(), observer);
        let evaluator = Evaluator::new(game, table, monitor, options.evaluation());
        let memory = ArenaMemory::new(bytes).unwrap();
        let allocator = Allocator::new(1, memory.units());
        let mut tree = ProofTree::new(options, 0);
        tree.adopt(&memory, allocator, 0, 0);
        Steps { tree, memory, evaluator }
    }

    /// Expands `expansions` nodes. Returns false if the root is solved or the memory is full
    /// before.
    fn advance(&mut self, expansions: u32) -> bool {
        let Steps { tree, memory, evaluator } = self;
        for _ in 0..expansions {
            let Some(code) = tree.select(memory, evaluator) else { return false };
            if tree.take_from_table(memory, evaluator, code) {
                continue;
            }
            evaluator.monitor.tick();
            if pns::expand(tree, memory, evaluator, code).is_err() {
                return false;
            }
        }
        true
    }
}

/// Simple recursive copy of a tree: codes, leaves' numbers and subtrees.
#[derive(Debug, PartialEq)]
enum Plain {
    Leaf(u64, u32, u32),
    Inner(u64, Vec<Plain>),
}

fn plain(memory: &ArenaMemory, array: ArrayId) -> Vec<Plain> {
    let at = |at| {
        let node = memory.node(array, at);
        match memory.child(array, at) {
            0 => Plain::Leaf(node.code, node.phi, node.delta),
            child => Plain::Inner(node.code, plain(memory, child)),
        }
    };
    if array == 0 { Vec::new() } else { (0..memory.count(array)).map(at).collect() }
}

/// Removes all but one of the children with the same code.
fn without_repeated(mut children: Vec<Plain>) -> Vec<Plain> {
    let code = |child: &Plain| match child {
        Plain::Leaf(code, ..) | Plain::Inner(code, _) => *code,
    };
    let mut codes = HashSet::new();
    for at in (0..children.len()).rev() {
        if !codes.insert(code(&children[at])) {
            children.swap_remove(at);
        }
    }
    let below = |child| match child {
        Plain::Inner(code, children) => Plain::Inner(code, without_repeated(children)),
        leaf => leaf,
    };
    children.into_iter().map(below).collect()
}

/// Numbers of a node by their definition.
fn numbers(children: &[Plain], combination: Combination) -> (u32, u32) {
    let all: Vec<(u32, u32)> = children
        .iter()
        .map(|child| match child {
            Plain::Leaf(_, phi, delta) => (*phi, *delta),
            Plain::Inner(_, children) => numbers(children, combination),
        })
        .collect();
    let phi = all.iter().map(|&(_, delta)| delta).min().unwrap();
    let max = all.iter().map(|&(phi, _)| phi).max().unwrap();
    (phi, combination.combine(max, all.iter().map(|&(phi, _)| u64::from(phi)).sum(), all.len()))
}

/// Checks that the numbers of inner nodes in a tree follow from those of the leaves.
fn check_numbers(memory: &ArenaMemory, array: ArrayId, combination: Combination) {
    for at in 0..memory.count(array) {
        let child = memory.child(array, at);
        if child != 0 {
            let node = memory.node(array, at);
            let expected = numbers(&plain(memory, child), combination);
            assert_eq!((node.phi, node.delta), expected);
            check_numbers(memory, child, combination);
        }
    }
}

/// Takes a snapshot: the bytes of a tree and the number of its nodes.
fn snapshot(memory: &mut ArenaMemory, tree: &ProofTree) -> (Vec<u8>, u64) {
    let (snapshots, (sender, receiver)) = (TreeSnapshots::new(), channel());
    snapshots.request(move |bytes, nodes| sender.send((bytes.to_vec(), nodes)).unwrap());
    snapshots.poll(memory, &tree.allocator, tree.root_array());
    receiver.recv().unwrap()
}

fn restore(bytes: &[u8], capacity: TreeCapacity) -> Result<SavedTree, TreeError> {
    let mut tree = SavedTree::empty(capacity)?;
    let length = bytes.len() as u64;
    tree.bytes_mut(length).expect("memory").copy_from_slice(bytes);
    tree.restore(capacity, length)?;
    Ok(tree)
}

fn games() -> impl Iterator<Item = GraphGame> {
    let nim = [[5, 9, 12], [7, 10, 13], [6, 11, 14], [12, 21, 25]];
    (0..12).map(random_game).chain(nim.map(|piles| GraphGame::nim(&piles)))
}

#[test]
fn a_tree_is_restored_as_it_was() {
    let (mut unchanged, mut changed) = (0, 0);
    for (game, expansions) in games().flat_map(|game| [(game.clone(), 8), (game, 300)]) {
        for options in [PnsOptions::PLAIN, RICH] {
            let (table, observer) = (Table::new(1 << 16).unwrap(), &mut ());
            let mut steps = Steps::new(&game, &table, 1 << 20, options, observer);
            steps.advance(expansions);
            if steps.tree.root_array() == 0 {
                continue;
            }
            let Steps { mut tree, mut memory, .. } = steps;
            tree.unwind(&mut memory);
            let (phi, delta, nodes) = (tree.phi, tree.delta, tree.allocator.nodes());
            let before = plain(&memory, tree.root_array());
            let mut saved = tree.into_saved(memory);
            let bytes = saved.bytes().to_vec();
            // The memory that `needed` returns suffices. One byte less does not.
            let capacity = |bytes| options.tree_capacity(bytes as usize);
            let needed = capacity(0).needed(bytes.len() as u64);
            let mut small = SavedTree::empty(capacity(needed - 1)).unwrap();
            assert!(small.bytes_mut(bytes.len() as u64).is_none());
            let loaded = restore(&bytes, capacity(needed)).unwrap();
            let after = plain(&loaded.memory, loaded.root_array);
            check_numbers(&loaded.memory, loaded.root_array, options.combination);
            if after == before {
                assert_eq!(loaded.nodes(), nodes);
                assert_eq!(numbers(&after, options.combination), (phi, delta));
                unchanged += 1;
            } else {
                assert_eq!(after, without_repeated(before));
                changed += 1;
            }
        }
    }
    assert!(unchanged > 12 && changed > 4, "{unchanged} {changed}");
}

#[test]
fn an_unexpanded_root_is_a_tree_without_nodes() {
    let capacity = PnsOptions::PLAIN.tree_capacity(1 << 10);
    let bytes = SavedTree::empty(capacity).unwrap().bytes().to_vec();
    let restored = restore(&bytes, capacity).unwrap();
    assert_eq!((restored.nodes(), restored.root_array), (0, 0));
}

/// Checks that every child of `code` that is not in `listed`, the codes of its array, is won.
fn check_array(game: &GraphGame, oracle: &mut Negamax<GraphGame>, code: u64, listed: &[u64]) {
    for &child in game.successors(code) {
        let child = u64::from(child);
        assert!(listed.contains(&child) || oracle.value(child) == Value::Win, "{code} {child}");
    }
}

/// Checks all arrays of a restored tree. Returns the depth of the tree.
fn check_arrays(
    game: &GraphGame,
    oracle: &mut Negamax<GraphGame>,
    (memory, array): (&ArenaMemory, ArrayId),
    code: u64,
) -> usize {
    let codes: Vec<u64> = (0..memory.count(array)).map(|at| memory.code(array, at)).collect();
    check_array(game, oracle, code, &codes);
    let mut depth = 0;
    for (at, &code) in codes.iter().enumerate() {
        let child = memory.child(array, at);
        if child != 0 {
            depth = depth.max(check_arrays(game, oracle, (memory, child), code));
        }
    }
    1 + depth
}

/// Each snapshot of a running search is valid, fits into the memory, and leads to the right value.
/// In a snapshot, the numbers of the nodes on the path of the search are not backed up.
#[test]
fn a_snapshot_of_a_growing_tree_is_valid() {
    let (mut restored, mut deepest, mut with_gaps) = (0, 0, 0);
    for (number, game) in games().enumerate() {
        let mut oracle = Negamax::new(&game);
        let value = oracle.value(0);
        for options in [PnsOptions::PLAIN, RICH] {
            for (between, bytes) in [(3, 1 << 20), (70, 1 << 20), (150, 12 << 10)] {
                let (table, observer) = (Table::new(1 << 16).unwrap(), &mut ());
                let mut steps = Steps::new(&game, &table, bytes, options, observer);
                let mut snapshots = 0;
                while steps.advance(between) && snapshots < 5 {
                    snapshots += 1;
                    if steps.tree.root_array() == 0 {
                        continue;
                    }
                    let capacity = options.tree_capacity(bytes);
                    let (bytes, nodes) = snapshot(&mut steps.memory, &steps.tree);
                    let loaded = restore(&bytes, capacity).unwrap();
                    assert!((1..=nodes).contains(&loaded.nodes()));
                    restored += 1;
                    with_gaps += usize::from(loaded.allocator.has_free_arrays());
                    let (memory, array) = (&loaded.memory, loaded.root_array);
                    check_numbers(memory, array, options.combination);
                    deepest = deepest.max(check_arrays(&game, &mut oracle, (memory, array), 0));
                    let fresh = &Table::new(1 << 16).unwrap();
                    let (root, snapshots) = (Root::new(&game, 0, fresh), TreeSnapshots::new());
                    let report = pns(root, loaded, options, limits(), &mut (), &snapshots);
                    match report.outcome {
                        Outcome::Known(found) => assert_eq!(found, value, "{number}"),
                        Outcome::Unknown(_) => {
                            assert!(game.nodes() > 1000 || capacity.bytes() < 1 << 20)
                        }
                    }
                }
            }
        }
    }
    assert!(restored > 40 && deepest > 4 && with_gaps > 10, "{restored} {deepest} {with_gaps}");
}

fn limits() -> Limits<'static> {
    Limits { nodes: Some(200_000), ..Limits::default() }
}

/// Bytes of little-endian words.
fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Unit 0, and an array of two children in units 1 to 4. The array of the first child is `child`.
fn two_children(child: u32) -> [u32; 20] {
    let mut words = [0; 20];
    words[0] = 1;
    words[4..8].copy_from_slice(&[2, 2, 9, 77]);
    words[8..18].copy_from_slice(&[3, 1, 2, 1, child, 0, 11, 0, 12, 0]);
    words
}

#[test]
fn bytes_that_are_not_those_of_a_tree_are_rejected() {
    let capacity = PnsOptions::PLAIN.tree_capacity(1 << 12);
    let nodes = |tree: &[u32]| restore(&words(tree), capacity).map(|tree| tree.nodes());
    let rejected = |tree: &[u32], unit: u32, part: &str| {
        let error = nodes(tree).expect_err(part).to_string();
        assert!(error.contains(&format!("unit {unit} ")) && error.contains(part), "{error}");
    };
    let leaves = two_children(0);
    assert_eq!(nodes(&leaves).unwrap(), 2);
    assert_eq!(nodes(&[0; 20]).unwrap(), 0);
    let changed = |at: usize, word: u32| {
        let mut tree = leaves;
        tree[at] = word;
        tree
    };
    rejected(&changed(0, 5), 5, "beyond its end");
    rejected(&changed(0, u32::MAX), u32::MAX, "beyond its end");
    for capacity in [3, 1 << 20, u32::MAX] {
        rejected(&changed(4, capacity), 1, "beyond its end");
    }
    for count in [0, 3, u32::MAX] {
        rejected(&changed(5, count), 1, "at most its capacity");
    }
    for (at, number) in [(8, 0), (9, 1 << 27), (10, 0), (11, u32::MAX)] {
        rejected(&changed(at, number), 1, "numbers of open nodes");
    }
    // The array of the first child is the root's array, then overlaps the root's array, then is
    // separate.
    rejected(&two_children(1), 1, "separate from all others");
    rejected(&two_children(3), 3, "beyond its end");
    let grandchild = [1, 1, 0, 0, 4, 5, 0, 13, 0, 0, 0, 0];
    let whole = [&two_children(5)[..], &grandchild].concat();
    let tree = restore(&words(&whole), capacity).unwrap();
    assert_eq!(tree.nodes(), 3);
    // The child's numbers are computed from those of its only child.
    assert_eq!(tree.memory.node(1, 0), ChildRecord { code: 11, phi: 4, delta: 5 });
    assert_eq!((tree.memory.stamp(1), tree.memory.stamp(5)), (0, 0));
    let mut shared = whole.clone();
    shared[13] = 5;
    rejected(&shared, 5, "separate from all others");
    let mut circle = whole;
    circle[26] = 1;
    rejected(&circle, 1, "separate from all others");
}

#[test]
fn one_of_several_children_with_the_same_code_is_kept() {
    let capacity = PnsOptions::PLAIN.tree_capacity(1 << 12);
    let mut tree = [&two_children(5)[..], &[1, 1, 0, 0, 4, 5, 0, 13, 0, 0, 0, 0]].concat();
    tree[14..18].copy_from_slice(&[11, 0, 11, 0]);
    let restored = restore(&words(&tree), capacity).unwrap();
    assert_eq!((restored.nodes(), restored.memory.count(1)), (1, 1));
    assert_eq!(restored.memory.node(1, 0), ChildRecord { code: 11, phi: 1, delta: 1 });
    // The other child's array is unreachable now, and free.
    assert_eq!(restored.allocator.top(), 5);
}

proptest! {
    /// Damaged bytes are rejected, or are a tree with consistent numbers.
    #[test]
    fn any_bytes_are_rejected_or_are_a_tree(
        expansions in 2u32..60,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let game = large_game();
        let (table, observer) = (Table::new(1 << 16).unwrap(), &mut ());
        let mut steps = Steps::new(&game, &table, 1 << 16, PnsOptions::PLAIN, observer);
        steps.advance(expansions);
        let (mut bytes, _) = snapshot(&mut steps.memory, &steps.tree);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(tree) = restore(&bytes, PnsOptions::PLAIN.tree_capacity(1 << 16)) {
            check_numbers(&tree.memory, tree.root_array, PnsOptions::PLAIN.combination);
        }
    }
}

/// Codes in a copy of the table.
fn codes(cells: &[u128]) -> HashSet<u64> {
    cells.iter().map(|&cell| cell as u64).collect()
}

/// Returns an invertible key function for codes of `bits` bits, and its inverse.
fn invertible_keys(bits: u32) -> (LinearMap, InverseHash) {
    let words = |attempt: u64| std::array::from_fn(|bit| mix(attempt << 32 | bit as u64));
    (0..)
        .find_map(|attempt| {
            let words = words(attempt);
            Some((LinearMap::new(&words), InverseHash::new(u64::MAX >> (64 - bits), &words)?))
        })
        .unwrap()
}

#[test]
fn a_table_that_grows_while_it_is_copied_loses_nothing() {
    // With short codes, cells are compact while the table doubles. With long codes, they become
    // compact only after all of the memory is in use, as it is at the beginning of the last run.
    let runs = [(11_900, 0), (11_900, 1), (11_900, 1500), (11_900, 6000), (44_000, 1500)];
    for ((begin, stores), bits) in runs.into_iter().flat_map(|run| [(run, 44), (run, 53)]) {
        let (keys, inverse) = invertible_keys(bits);
        let key = |code| keys.apply(code);
        // The number of clusters is not a power of two, so that cluster indices are scaled.
        let table = Table::with_inverse_hash(40_000 * 64, &inverse).unwrap();
        let store = |code: u64| table.store(key(code), code, Entry { phi: 1, delta: 2, work: 3 });
        let mut used = begin;
        table.reserve(used, 1, key);
        let is_all_in_use = table.used_bytes() == table.bytes();
        assert_eq!(is_all_in_use, begin > 40_000 && bits == 53);
        for code in 0..used {
            store(code);
        }
        let has = |&code: &u64| table.lookup(key(code), code).is_some();
        let before: HashSet<u64> = (0..used).filter(has).collect();
        assert!(before.len() as u64 > begin / 10 * 9);
        let (mut cursor, mut cells, mut steps) = (Cursor::default(), Vec::new(), 0);
        let mut growths = 0;
        while table.copy_cells(&mut cursor, 1, &mut cells) {
            while table.wants_growth(used + stores) {
                table.grow(1, key);
                growths += 1;
            }
            for code in used..used + stores {
                store(code);
            }
            used += stores;
            steps += 1;
        }
        let copied = codes(&cells);
        // Entries that were in the table during the whole copy. The other ones were replaced.
        let after: HashSet<u64> = before.into_iter().filter(has).collect();
        assert!(after.is_subset(&copied) && after.len() > 1000, "{stores}: {}", after.len());
        assert_eq!(copied.len(), cells.len(), "an entry was copied twice");
        assert!(copied.iter().all(|&code| code < used));
        assert!(steps >= 1 && (growths > 0) == (stores > 1), "{stores}: {steps}, {growths}");
    }
}

#[test]
fn many_threads_may_store_while_a_table_is_copied() {
    let table = &Table::new(1 << 20).unwrap();
    for code in 0..5000u64 {
        table.store(mix(code), code, Entry { phi: 1, delta: 2, work: 60_000 });
    }
    let cells = std::thread::scope(|scope| {
        for thread in 1..4u64 {
            scope.spawn(move || {
                for code in (0..30_000).map(|n| thread << 32 | n) {
                    table.store(mix(code), code, Entry { phi: thread as u32, delta: 7, work: 1 });
                }
            });
        }
        let (mut cursor, mut cells) = (Cursor::default(), Vec::new());
        while table.copy_cells(&mut cursor, 1, &mut cells) {}
        cells
    });
    for cell in cells {
        let (code, entry) = (cell as u64, Entry::unpack(cell));
        let expected = if code < 5000 { (1, 2) } else { ((code >> 32) as u32, 7) };
        assert_eq!((entry.phi, entry.delta), expected, "{code}");
    }
}

/// In a game without transpositions, the tree contains all results of a search. A search is stopped
/// after half of the nodes. Another search continues its tree with an empty table and creates only
/// the other half.
#[test]
fn a_search_that_continues_a_tree_does_not_repeat_work() {
    let nodes = (3u32.pow(11) - 1) / 2;
    let edges: Vec<(u32, u32)> = (1..nodes).map(|node| ((node - 1) / 3, node)).collect();
    let game = GraphGame::new(nodes, &edges).unwrap();
    let value = Negamax::new(&game).value(0);
    for options in [PnsOptions::PLAIN, RICH] {
        let empty = || SavedTree::empty(options.tree_capacity(1 << 26)).unwrap();
        let run = |tree, nodes| {
            let snapshots = TreeSnapshots::new();
            let table = &Table::new(1 << 20).unwrap();
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let report =
                pns(Root::new(&game, 0, table), tree, options, limits, &mut (), &snapshots);
            (report, snapshots.take_tree())
        };
        let (whole, _) = run(empty(), u64::MAX);
        assert_eq!(whole.outcome, Outcome::Known(value));
        let all = whole.counters.nodes;
        let (half, tree) = run(empty(), all / 2);
        assert_eq!(half.outcome.value(), None);
        let tree = tree.expect("a stopped search stores its tree");
        assert!(tree.allocator.nodes() > 0);
        let (rest, _) = run(tree, u64::MAX);
        assert_eq!(rest.outcome, Outcome::Known(value));
        let rest = rest.counters.nodes;
        assert!((all * 4 / 10..all * 6 / 10).contains(&rest), "{rest} of {all}");
    }
}

/// A search waits while a snapshot is taken, and has the same counters as without one.
#[test]
fn a_snapshot_does_not_change_the_search() {
    let game = large_game();
    let run = |snapshots: &TreeSnapshots| {
        let table = &Table::new(1 << 16).unwrap();
        let limits = Limits { nodes: Some(60_000), ..Limits::default() };
        let tree = SavedTree::empty(RICH.tree_capacity(1 << 24)).unwrap();
        pns(Root::new(&game, 0, table), tree, RICH, limits, &mut (), snapshots).counters
    };
    let alone = run(&TreeSnapshots::new());
    let (snapshots, (sender, receiver)) = (TreeSnapshots::new(), channel());
    snapshots.request(move |_, nodes| sender.send(nodes).unwrap());
    assert_eq!(run(&snapshots), alone);
    assert!(receiver.recv().unwrap() > 100);
    assert!(snapshots.take_tree().unwrap().nodes() > 100);
}

#[test]
fn a_request_that_is_cancelled_is_dropped() {
    let (snapshots, (sender, receiver)) = (TreeSnapshots::new(), channel());
    snapshots.request(move |_, nodes| sender.send(nodes).unwrap());
    snapshots.cancel();
    assert!(receiver.recv().is_err());
}
