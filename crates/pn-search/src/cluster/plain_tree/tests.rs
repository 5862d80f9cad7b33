use super::*;
use crate::numbers::Number;
use crate::plain::game::Expansion;
use crate::split_mix::mix;
use crate::testing::graph::GraphGame;
use crate::testing::graph::random_game;
use crate::testing::negamax::Negamax;

const PLAIN: (Combination, CoordinatorConfig) = (
    Combination::SUM,
    CoordinatorConfig {
        open_entries: false,
        refresh_age: u32::MAX,
        virtual_loss_64: 0,
        ..CoordinatorConfig::LOCAL
    },
);

const RICH: (Combination, CoordinatorConfig) = (
    Combination::mixed(8),
    CoordinatorConfig { refresh_age: 0, virtual_loss_64: 20, ..CoordinatorConfig::REMOTE },
);

/// Returns a tree below position 0.
fn tree<'a, G: Game>(
    game: &'a G,
    table: &'a Table,
    bytes: usize,
    (combination, config): (Combination, CoordinatorConfig),
) -> PlainTree<'a, G> {
    PlainTree::new(Root::new(game, 0, table), Arena::new(bytes).unwrap(), combination, config)
}

/// Checks phi and delta of all nodes in and below a child array against those of their children. Returns the number of
/// these nodes, and phi and delta of the array's parent.
fn check<G: Game>(tree: &PlainTree<'_, G>, array: ArrayId) -> (u64, Number, Number) {
    let arena = &tree.arena;
    let (mut nodes, mut phi, mut phis) = (0, u32::MAX, Vec::new());
    assert!(arena.count(array) > 0);
    for at in 0..arena.count(array) {
        let node = arena.node(array, at);
        assert!(node.phi > 0 && node.delta > 0);
        if arena.child(array, at) != 0 {
            let (below, phi, delta) = check(tree, arena.child(array, at));
            assert_eq!((node.phi, node.delta), (phi, delta));
            nodes += below;
        }
        nodes += 1;
        phi = phi.min(node.delta);
        phis.push(node.phi);
    }
    let (max, sum) = (*phis.iter().max().unwrap(), phis.iter().map(|&n| u64::from(n)).sum());
    (nodes, phi, tree.combination.combine(max, sum, phis.len()))
}

/// Checks the invariants of a tree whose leaves `out` are taken.
fn check_all<G: Game>(tree: &PlainTree<'_, G>, out: &[TakenLeaf]) {
    if tree.value.is_none() && tree.root_array != 0 {
        let (nodes, phi, delta) = check(tree, tree.root_array);
        assert_eq!(tree.nodes(), 1 + nodes);
        assert_eq!((tree.numbers.pair.phi, tree.numbers.pair.delta), (phi, delta));
    }
    let taken: AHashSet<u64> = out.iter().map(|leaf| leaf.code).collect();
    assert_eq!(taken.len(), out.len());
    assert_eq!(tree.taken, taken);
    let mut workers: AHashMap<ArrayId, u32> = AHashMap::new();
    for step in out.iter().flat_map(|leaf| &leaf.path) {
        *workers.entry(step.array).or_default() += 1;
    }
    assert_eq!(tree.workers, workers);
}

/// Returns the codes on the path to a leaf.
fn codes(leaf: &TakenLeaf) -> Vec<u64> {
    leaf.path.iter().map(|step| step.code).collect()
}

/// Simulates several workers on one thread.
#[test]
fn results_in_any_order_lead_to_the_value_of_negamax() {
    let mut stale = 0;
    let mut all_taken = 0;
    for seed in 0..150 {
        let game = random_game(seed);
        let mut oracle = Negamax::new(&game);
        let table = Table::new(1 << (6 + seed % 10)).unwrap();
        let options = if seed % 2 == 0 { PLAIN } else { RICH };
        let mut tree = tree(&game, &table, 1 << 18, options);
        let workers = 1 + seed as usize % 9;
        let mut out: Vec<TakenLeaf> = Vec::new();
        let mut lost_codes = AHashSet::new();
        // Worker that has expanded the node at the end of each path of codes.
        let mut searched_by: AHashMap<Vec<u64>, u64> = AHashMap::new();
        for step in 0.. {
            while out.len() < workers {
                match tree.select() {
                    Selection::Leaf { leaf, last, .. } => {
                        let path = codes(&leaf);
                        let parent = path.split_last().map(|(_, parent)| parent);
                        let expected = parent.map(|parent| searched_by[parent]);
                        let expected = expected.filter(|_| options.1.is_remote);
                        assert_eq!(last, expected);
                        out.push(leaf);
                    }
                    Selection::AllTaken => {
                        assert!(!out.is_empty(), "a free leaf is always found");
                        all_taken += 1;
                        break;
                    }
                    Selection::Solved => break,
                }
                check_all(&tree, &out);
            }
            if out.is_empty() {
                break;
            }
            let random = mix(seed << 32 | step) as usize;
            let index = random / 8 % out.len();
            let leaf = out.swap_remove(index);
            stale += u32::from(!tree.is_leaf(&leaf));
            tree.release(&leaf);
            let mut children = Vec::new();
            let expansion = game.expand(leaf.code, &mut (), &mut children, |_| {});
            match expansion {
                Expansion::Open => {
                    let before = tree.nodes();
                    let added = tree.attach(&leaf, &children, 1, step).unwrap();
                    if added > 0 {
                        searched_by.insert(codes(&leaf), step);
                    }
                    assert_eq!(tree.nodes(), before + added);
                }
                Expansion::Lost => tree.resolve(&leaf, Value::Loss, None, 1),
                Expansion::Won(child) => {
                    tree.resolve(&leaf, Value::Win, Some(child), 1);
                }
            }
            for (code, entry) in &tree.updates {
                if let Some(value) = entry.value() {
                    assert_eq!(value, oracle.value(*code), "seed {seed}");
                }
            }
            tree.publish(&mut Counters::default());
            let lost = tree.has_lost_leaves() || tree.value.is_some();
            for leaf in out.iter().filter(|leaf| !tree.is_leaf(leaf)) {
                assert!(
                    !lost_codes.insert(leaf.code) || lost,
                    "seed {seed}: a lost leaf was not reported"
                );
            }
            check_all(&tree, &out);
        }
        let value = oracle.value(0);
        assert_eq!(tree.value, Some(value), "seed {seed}");
        if value == Value::Win {
            assert_eq!(oracle.value(tree.numbers.best.unwrap()), Value::Loss, "seed {seed}");
        }
        assert!(tree.taken.is_empty());
    }
    assert!(stale > 100 && all_taken > 100, "{stale} {all_taken}");
}

fn leaf(tree: &mut PlainTree<'_, GraphGame>) -> TakenLeaf {
    match tree.select() {
        Selection::Leaf { leaf, .. } => leaf,
        other => panic!("{other:?}"),
    }
}

#[test]
fn virtual_losses_spread_workers_and_selection_backtracks() {
    let game = GraphGame::new(7, &[]).unwrap();
    let table = Table::new(64).unwrap();
    let child = |code, phi, delta| Child { code, phi, delta, effort: 0 };
    // Node 1 gets delta 10 and node 2 gets 12. With a worker below node 1, its virtual delta is 11 or 13.
    for (virtual_loss_64, expected) in [(0, [3, 4, 5, 6]), (16, [3, 5, 4, 6])] {
        let options = (PLAIN.0, CoordinatorConfig { virtual_loss_64, ..PLAIN.1 });
        let mut tree = tree(&game, &table, 1 << 18, options);
        for children in [
            vec![child(1, 1, 1), child(2, 1, 2)],
            vec![child(3, 5, 7), child(4, 5, 8)],
            vec![child(5, 6, 7), child(6, 6, 8)],
        ] {
            let leaf = leaf(&mut tree);
            tree.release(&leaf);
            tree.attach(&leaf, &children, 1, 0).unwrap();
        }
        let out = [(); 4].map(|()| leaf(&mut tree));
        assert_eq!(out.each_ref().map(|leaf| leaf.code), expected);
        assert!(matches!(tree.select(), Selection::AllTaken));
        // The real numbers are backed up, not the virtual ones.
        assert_eq!((tree.numbers.pair.phi, tree.numbers.pair.delta), (10, 14));
        out.iter().for_each(|leaf| tree.release(leaf));
        assert!(tree.taken.is_empty());
    }
}

#[test]
fn a_full_memory_is_reported_and_changes_nothing() {
    let game = GraphGame::nim(&[5, 6, 7]);
    let table = Table::new(64).unwrap();
    let mut tree = tree(&game, &table, 200, PLAIN);
    let held = leaf(&mut tree);
    let mut children = Vec::new();
    game.expand(held.code, &mut (), &mut children, |_| {});
    assert!(tree.attach(&held, &children, 1, 0).is_none());
    assert!(tree.attach(&held, &Vec::new(), 1, 0).is_none());
    assert_eq!(tree.nodes(), 1);
    children.truncate(3);
    assert_eq!(tree.attach(&held, &children, 1, 0).unwrap(), 3);
}

#[test]
fn the_table_grows_by_its_own_entries_and_not_those_of_workers() {
    let game = GraphGame::nim(&[12, 21, 25]);
    let table = Table::new(1 << 20).unwrap();
    let mut tree = tree(&game, &table, 1 << 20, RICH);
    let first = table.used_bytes();
    let mut counters = Counters { table_used: 1 << 40, ..Counters::default() };
    let mut add = |codes: std::ops::Range<u64>| {
        for code in codes {
            let entry = TableEntry { phi: 3, delta: 4, work: 5 };
            let result = shared_entry::to_bytes(&[SharedEntry { code, entry }]);
            assert_eq!(tree.add_results(&result, &mut counters).count, 1);
            assert_eq!(tree.publish(&mut counters), None);
        }
        table.used_bytes()
    };
    assert_eq!(add(0..1000), first);
    assert_eq!(add(1000..2000), 2 * first);
    // A cluster that overflows drops an entry.
    assert!(table.estimated_count() > 1950);
}
