use super::*;
use crate::plain::game::Expansion;
use crate::snapshot::TreeRoom;
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
    Combination { weight_64: 8 },
    CoordinatorConfig { refresh_age: 0, virtual_loss_64: 20, ..CoordinatorConfig::REMOTE },
);

/// The root is position 0.
fn tree<'a, G: Game>(
    game: &'a G,
    table: &'a Table,
    port: &'a TreeSnapshots,
    bytes: usize,
    (combination, config): (Combination, CoordinatorConfig),
) -> PlainTree<'a, G> {
    let room = TreeRoom::new(bytes, 4, combination);
    let empty = SavedTree::empty(room).unwrap();
    PlainTree::new(Root::new(game, 0, table), empty, combination, config, port)
}

/// Checks the numbers of every node against its children, slowly, and returns how many there
/// are below the block.
fn check<G: Game>(tree: &PlainTree<'_, G>, block: Block) -> (u64, Number, Number) {
    let memory = &tree.memory;
    let (mut nodes, mut phi, mut phis) = (0, u32::MAX, Vec::new());
    assert!(memory.count(block) > 0);
    for at in 0..memory.count(block) {
        let node = memory.node(block, at);
        assert!(node.phi > 0 && node.delta > 0);
        if memory.child(block, at) != 0 {
            let (below, phi, delta) = check(tree, memory.child(block, at));
            assert_eq!((node.phi, node.delta), (phi, delta));
            nodes += below;
        }
        nodes += 1;
        phi = phi.min(node.delta);
        phis.push(node.phi);
    }
    let (max, sum) = (*phis.iter().max().unwrap(), phis.iter().map(|&n| u64::from(n)).sum());
    (nodes, phi, tree.combination.combine(max, sum))
}

/// Checks everything that has to hold between two turns.
fn check_all<G: Game>(tree: &PlainTree<'_, G>, out: &[TakenLeaf]) {
    if tree.value.is_none() && tree.root_block != 0 {
        let (nodes, phi, delta) = check(tree, tree.root_block);
        assert_eq!(tree.nodes(), 1 + nodes);
        assert_eq!((tree.phi, tree.delta), (phi, delta));
    }
    let taken: AHashSet<u64> = out.iter().map(|leaf| leaf.code).collect();
    assert_eq!(taken.len(), out.len());
    assert_eq!(tree.taken, taken);
    let mut workers: AHashMap<Block, u32> = AHashMap::new();
    for step in out.iter().flat_map(|leaf| &leaf.path) {
        *workers.entry(step.block).or_default() += 1;
    }
    assert_eq!(tree.workers, workers);
}

/// The codes on the way to a leaf.
fn codes(leaf: &TakenLeaf) -> Vec<u64> {
    leaf.path.iter().map(|step| step.code).collect()
}

/// Many workers on one thread, which come back in any order.
#[test]
fn results_in_any_order_lead_to_the_value_of_negamax() {
    let mut stale = 0;
    let mut busy = 0;
    for seed in 0..150 {
        let game = random_game(seed);
        let mut oracle = Negamax::new(&game);
        let table = Table::new(1 << (6 + seed % 10)).unwrap();
        let options = if seed % 2 == 0 { PLAIN } else { RICH };
        let port = TreeSnapshots::new();
        let mut tree = tree(&game, &table, &port, 1 << 18, options);
        let workers = 1 + seed as usize % 9;
        let mut out: Vec<TakenLeaf> = Vec::new();
        let mut gone = AHashSet::new();
        // Who has expanded the node at the end of a path of codes.
        let mut searched_by: AHashMap<Vec<u64>, u64> = AHashMap::new();
        for step in 0.. {
            while out.len() < workers {
                match tree.select() {
                    Selection::Leaf { leaf, last, .. } => {
                        let path = codes(&leaf);
                        let parent = path.split_last().map(|(_, parent)| parent);
                        let known_by = parent.map(|parent| searched_by[parent]);
                        let known_by = known_by.filter(|_| options.1.is_remote);
                        assert_eq!(last, known_by);
                        out.push(leaf);
                    }
                    Selection::AllTaken => {
                        assert!(!out.is_empty(), "a free leaf is always found");
                        busy += 1;
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
            let place = random / 8 % out.len();
            let leaf = out.swap_remove(place);
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
                assert!(!gone.insert(leaf.code) || lost, "seed {seed}: nobody was told");
            }
            check_all(&tree, &out);
        }
        let value = oracle.value(0);
        assert_eq!(tree.value, Some(value), "seed {seed}");
        if value == Value::Win {
            assert_eq!(oracle.value(tree.best.unwrap()), Value::Loss, "seed {seed}");
        }
        assert!(tree.taken.is_empty());
    }
    assert!(stale > 100 && busy > 100, "{stale} {busy}");
}

fn leaf(tree: &mut PlainTree<'_, GraphGame>) -> TakenLeaf {
    match tree.select() {
        Selection::Leaf { leaf, .. } => leaf,
        other => panic!("{other:?}"),
    }
}

#[test]
fn workers_push_each_other_away_and_back_from_where_all_is_taken() {
    let game = GraphGame::new(7, &[]).unwrap();
    let table = Table::new(64).unwrap();
    let port = TreeSnapshots::new();
    let child = |code, phi, delta| Child { code, phi, delta, effort: 0 };
    // Node 1 gets delta 10 and node 2 gets 12. One worker below node 1 makes it 11 or 13.
    for (virtual_loss_64, expected) in [(0, [3, 4, 5, 6]), (16, [3, 5, 4, 6])] {
        let options = (PLAIN.0, CoordinatorConfig { virtual_loss_64, ..PLAIN.1 });
        let mut tree = tree(&game, &table, &port, 1 << 18, options);
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
        // What is backed up are the nodes' own numbers.
        assert_eq!((tree.phi, tree.delta), (10, 14));
        out.iter().for_each(|leaf| tree.release(leaf));
        assert!(tree.taken.is_empty());
    }
}

#[test]
fn no_room_is_said_and_changes_nothing() {
    let game = GraphGame::nim(&[5, 6, 7]);
    let table = Table::new(64).unwrap();
    let port = TreeSnapshots::new();
    let mut tree = tree(&game, &table, &port, 200, PLAIN);
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
fn the_table_grows_by_what_stands_in_it_and_not_in_those_of_workers() {
    let game = GraphGame::nim(&[12, 21, 25]);
    let (table, port) = (Table::new(1 << 20).unwrap(), TreeSnapshots::new());
    let mut tree = tree(&game, &table, &port, 1 << 20, RICH);
    let first = table.used_bytes();
    let mut counters = Counters { table_used: 1 << 40, ..Counters::default() };
    let mut learn = |codes: std::ops::Range<u64>| {
        for code in codes {
            let entry = TableEntry { phi: 3, delta: 4, work: 5 };
            assert_eq!(tree.add_results(vec![SharedEntry { code, entry }], &mut counters).len(), 1);
            assert_eq!(tree.publish(&mut counters), None);
        }
        table.used_bytes()
    };
    assert_eq!(learn(0..1000), first);
    assert_eq!(learn(1000..2000), 2 * first);
    // A cluster that overflows drops an entry.
    assert!(table.estimated_count() > 1950);
}
