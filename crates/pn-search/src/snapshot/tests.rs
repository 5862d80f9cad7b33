//! Copies of tables and trees, with and without a search going on in them.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use super::tree::u32_at;
use super::walk::{MARK, Walk};
use super::*;
use crate::Value;
use crate::arena::{Block, Memory, Region};
use crate::numbers::Combination;
use crate::plain::Root;
use crate::plain::evaluate::Evaluator;
use crate::pns::tree::ProofTree;
use crate::pns::{self, PnsOptions, pns};
use crate::run::{Control, Limits, Outcome};
use crate::split_mix::mix;
use crate::table::{CodesOfKeys, Cursor, Entry, LinearMap, Table};
use crate::testing::RICH;
use crate::testing::graph::GraphGame;
use crate::testing::graph::{large_game, random_game};
use crate::testing::negamax::Negamax;

/// A search that is carried on step by step.
struct Steps<'a> {
    tree: ProofTree,
    memory: Memory,
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
        let control = Control::new(Limits::default(), observer);
        let mut evaluator = Evaluator::new(game, table, control, options.settle);
        evaluator.open_entries = options.store_open;
        let memory = Memory::new(bytes).unwrap();
        let region = Region::new(1, memory.units());
        let mut tree = ProofTree::new(options, 0);
        tree.adopt(&memory, region, 0, 0);
        Steps { tree, memory, evaluator }
    }

    /// Expands so many nodes, or fewer if the root is solved or the memory full. False then.
    fn go_on(&mut self, expansions: u32) -> bool {
        let Steps { tree, memory, evaluator } = self;
        for _ in 0..expansions {
            let Some(code) = tree.select(memory, evaluator) else { return false };
            if tree.take_from_table(memory, evaluator, code) {
                continue;
            }
            evaluator.control.tick();
            if pns::expand(tree, memory, evaluator, code).is_err() {
                return false;
            }
        }
        true
    }
}

/// What stands in a tree, written down by plain recursion: codes, leaves' numbers and subtrees.
#[derive(Debug, PartialEq)]
enum Plain {
    Leaf(u64, u32, u32),
    Inner(u64, Vec<Plain>),
}

fn plain(memory: &Memory, block: Block) -> Vec<Plain> {
    let at = |at| {
        let node = memory.node(block, at);
        match memory.child(block, at) {
            0 => Plain::Leaf(node.code, node.phi, node.delta),
            child => Plain::Inner(node.code, plain(memory, child)),
        }
    };
    if block == 0 { Vec::new() } else { (0..memory.count(block)).map(at).collect() }
}

/// A node's numbers by their definition.
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
    (phi, combination.combine(max, all.iter().map(|&(phi, _)| u64::from(phi)).sum()))
}

/// Checks that the numbers of inner nodes in a tree follow from those of the leaves.
fn check_numbers(memory: &Memory, block: Block, combination: Combination) {
    for at in 0..memory.count(block) {
        let child = memory.child(block, at);
        if child != 0 {
            let node = memory.node(block, at);
            let expected = numbers(&plain(memory, child), combination);
            assert_eq!((node.phi, node.delta), expected);
            check_numbers(memory, child, combination);
        }
    }
}

fn load(pieces: &[Piece], room: TreeRoom, nodes: u64) -> Result<SavedTree, Misfit> {
    let mut loader = TreeLoader::new(room).expect("memory");
    for piece in pieces {
        loader.feed(&piece.raw, piece.records)?;
    }
    loader.finish(nodes)
}

fn games() -> impl Iterator<Item = GraphGame> {
    let nim = [[5, 9, 12], [7, 10, 13], [6, 11, 14], [12, 21, 25]];
    (0..12).map(random_game).chain(nim.map(|piles| GraphGame::nim(&piles)))
}

#[test]
fn a_tree_at_rest_is_copied_as_it_is() {
    let mut copied = 0;
    for (game, expansions) in games().flat_map(|game| [(game.clone(), 8), (game, 300)]) {
        for options in [PnsOptions::PLAIN, RICH] {
            let (table, observer) = (Table::new(1 << 16).unwrap(), &mut ());
            let mut steps = Steps::new(&game, &table, 1 << 20, options, observer);
            steps.go_on(expansions);
            if steps.tree.root_block() == 0 {
                continue;
            }
            let Steps { mut tree, mut memory, .. } = steps;
            tree.unwind(&mut memory);
            let root_block = tree.root_block();
            let (phi, delta, nodes) = (tree.phi, tree.delta, tree.region.nodes());
            let before = plain(&memory, root_block);
            let saved = tree.into_saved(memory);
            let mut pieces = Vec::new();
            let take = |piece| -> Result<(), Infallible> {
                pieces.push(piece);
                Ok(())
            };
            let Ok((copied_nodes, bytes)) = copy_whole(&saved, take);
            assert_eq!(copied_nodes, nodes);
            // Exactly as much memory as the records need, and one unit less.
            let room = |bytes| options.tree_room(bytes as usize);
            let needed = room(0).needed(bytes);
            assert_eq!(load(&pieces, room(needed - 1), nodes).unwrap_err(), Misfit::Full);
            let loaded = load(&pieces, room(needed), nodes).unwrap();
            assert_eq!(plain(&loaded.memory, loaded.root_block), before);
            check_numbers(&loaded.memory, loaded.root_block, options.combination);
            let root = numbers(&before, options.combination);
            assert_eq!(root, (phi, delta));
            copied += 1;
        }
    }
    assert!(copied > 20, "{copied}");
}

#[test]
fn an_unexpanded_root_is_a_tree_without_nodes() {
    let memory = Memory::new(1 << 10).unwrap();
    let region = Region::new(1, memory.units());
    let mut pieces = Vec::new();
    let saved = SavedTree { memory, region, root_block: 0, beside: Vec::new() };
    let take = |piece| -> Result<(), Infallible> {
        pieces.push(piece);
        Ok(())
    };
    assert_eq!(copy_whole(&saved, take), Ok((0, 0)));
    let loaded = load(&pieces, PnsOptions::PLAIN.tree_room(1 << 10), 0).unwrap();
    assert_eq!(loaded.root_block, 0);
}

/// Every child of a position that the record does not list is won.
fn check_record(game: &GraphGame, oracle: &mut Negamax<GraphGame>, code: u64, listed: &[u64]) {
    for &child in game.successors(code) {
        let child = u64::from(child);
        assert!(listed.contains(&child) || oracle.value(child) == Value::Win, "{code} {child}");
    }
}

/// Checks all records of a loaded tree, and returns the depth of the tree.
fn check_records(
    game: &GraphGame,
    oracle: &mut Negamax<GraphGame>,
    (memory, block): (&Memory, Block),
    code: u64,
) -> usize {
    let codes: Vec<u64> = (0..memory.count(block)).map(|at| memory.code(block, at)).collect();
    check_record(game, oracle, code, &codes);
    let mut depth = 0;
    for (at, &code) in codes.iter().enumerate() {
        let child = memory.child(block, at);
        if child != 0 {
            depth = depth.max(check_records(game, oracle, (memory, child), code));
        }
    }
    1 + depth
}

/// The tree is copied while the search goes on between any two pieces: what comes out is true, fits
/// the memory, and leads to the right value.
#[test]
fn a_copy_of_a_growing_tree_holds_true_records() {
    let (mut copies, mut deepest, mut cut) = (0, 0, 0);
    for (number, game) in games().enumerate() {
        let mut oracle = Negamax::new(&game);
        let value = oracle.value(0);
        for options in [PnsOptions::PLAIN, RICH] {
            for (begin, between, bytes) in [(2, 1, 1 << 20), (60, 2, 1 << 20), (300, 9, 12 << 10)] {
                let (table, observer) = (Table::new(1 << 16).unwrap(), &mut ());
                let mut steps = Steps::new(&game, &table, bytes, options, observer);
                steps.go_on(begin);
                let (mut walk, mut pieces) = (Walk::new(), Vec::new());
                let mut goes_on = true;
                while !walk.is_done() {
                    let mut piece = Piece::default();
                    let place = (&steps.memory, &steps.tree.region);
                    walk.copy(place, steps.tree.root_block(), &mut piece, 1);
                    pieces.push(piece);
                    goes_on = goes_on && steps.go_on(between);
                }
                let room = options.tree_room(bytes);
                let loaded = load(&pieces, room, walk.nodes()).unwrap();
                if loaded.root_block == 0 {
                    continue;
                }
                copies += 1;
                let (memory, block) = (&loaded.memory, loaded.root_block);
                check_numbers(memory, block, options.combination);
                deepest = deepest.max(check_records(&game, &mut oracle, (memory, block), 0));
                let empty = pieces.iter().filter(|piece| piece.raw == [0; 4]).count();
                cut += usize::from(empty > 0);
                let fresh = &Table::new(1 << 16).unwrap();
                let (root, port) = (Root::new(&game, 0, fresh), TreePort::idle());
                let report = pns(root, loaded, options, LIMITS, &mut (), &port);
                match report.outcome {
                    Outcome::Known(found) => assert_eq!(found, value, "{number}"),
                    Outcome::Unknown(_) => assert!(game.nodes() > 1000 || bytes < 1 << 20),
                }
            }
        }
    }
    assert!(copies > 20 && deepest > 4 && cut > 3, "{copies} {deepest} {cut}");
}

const LIMITS: Limits<'_> = Limits { nodes: Some(200_000), deadline: None, stop: None, pace: None };

#[test]
fn records_that_contradict_each_other_are_refused() {
    let record = |children: &[(u64, u32, u32)]| {
        let mut raw = (children.len() as u32).to_le_bytes().to_vec();
        raw.extend(7u32.to_le_bytes());
        for (code, phi, delta) in children {
            raw.extend(code.to_le_bytes());
            raw.extend(phi.to_le_bytes());
            raw.extend(delta.to_le_bytes());
        }
        raw
    };
    let empty = 0u32.to_le_bytes().to_vec();
    let room = PnsOptions::PLAIN.tree_room(1 << 12);
    let fed = |parts: &[&[u8]], records: u32, nodes: u64| {
        load(&[Piece { raw: parts.concat(), records }], room, nodes).map(|tree| tree.region.nodes())
    };
    let (leaf, inner) = (record(&[(1, 2, 3)]), record(&[(1, 2 | MARK, 3), (2, 1, 1)]));
    assert_eq!(u32_at(&inner, 16) & MARK, MARK);
    assert_eq!(fed(&[&leaf], 1, 1), Ok(1));
    assert_eq!(fed(&[&inner, &leaf], 2, 3), Ok(3));
    assert_eq!(fed(&[&inner, &empty], 2, 2), Ok(2));
    let unsound = |result: Result<u64, Misfit>| {
        assert!(matches!(result, Err(Misfit::Unsound(..))), "{result:?}");
    };
    unsound(fed(&[&leaf], 1, 2));
    unsound(fed(&[&leaf], 2, 1));
    unsound(fed(&[], 0, 0));
    unsound(fed(&[&inner], 1, 2));
    unsound(fed(&[&leaf, &leaf], 2, 2));
    unsound(fed(&[&inner, &leaf, &empty], 3, 3));
    for end in 1..leaf.len() {
        unsound(fed(&[&leaf[..end]], 1, 1));
    }
    for (phi, delta) in [(0, 1), (1, 0), (1 << 27, 1), (1, 1 << 27), (1, 1 | MARK)] {
        unsound(fed(&[&record(&[(1, phi, delta)])], 1, 1));
    }
    unsound(fed(&[&u32::MAX.to_le_bytes()], 1, 1));
}

/// All codes in a copy of the table.
fn codes(cells: &[u128]) -> HashSet<u64> {
    cells.iter().map(|&cell| cell as u64).collect()
}

/// Keys of codes of some bits that tell the codes.
fn telling_keys(bits: u32) -> (LinearMap, CodesOfKeys) {
    let words = |attempt: u64| std::array::from_fn(|bit| mix(attempt << 32 | bit as u64));
    (0..)
        .find_map(|attempt| {
            let words = words(attempt);
            Some((LinearMap::new(&words), CodesOfKeys::new(u64::MAX >> (64 - bits), &words)?))
        })
        .unwrap()
}

#[test]
fn a_table_that_grows_while_it_is_copied_loses_nothing() {
    // Short codes are in narrow cells while the table doubles. Long ones become narrow when all the memory
    // is in use, with the most at the beginning under way.
    let runs = [(11_900, 0), (11_900, 1), (11_900, 1500), (11_900, 6000), (44_000, 1500)];
    for ((begin, stores), bits) in runs.into_iter().flat_map(|run| [(run, 44), (run, 53)]) {
        let (keys, codes_of_keys) = telling_keys(bits);
        let key = |code| keys.apply(code);
        // Not a power of two, so that clusters are scaled.
        let table = Table::with_codes(40_000 * 64, &codes_of_keys).unwrap();
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
        // What was there all the time; the rest was replaced.
        let after: HashSet<u64> = before.into_iter().filter(has).collect();
        assert!(after.is_subset(&copied) && after.len() > 1000, "{stores}: {}", after.len());
        assert_eq!(copied.len(), cells.len(), "no entry is there twice");
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

/// On a game without transpositions everything is in the tree: a search that takes it up makes the
/// other half of the nodes, with a table that knows nothing.
#[test]
fn a_tree_saves_the_work_that_made_it() {
    let nodes = (3u32.pow(11) - 1) / 2;
    let edges: Vec<(u32, u32)> = (1..nodes).map(|node| ((node - 1) / 3, node)).collect();
    let game = GraphGame::new(nodes, &edges).unwrap();
    let value = Negamax::new(&game).value(0);
    for options in [PnsOptions::PLAIN, RICH] {
        let empty = || SavedTree::empty(options.tree_room(1 << 26)).unwrap();
        let run = |tree, nodes| {
            let port = TreePort::kept();
            let table = &Table::new(1 << 20).unwrap();
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let report = pns(Root::new(&game, 0, table), tree, options, limits, &mut (), &port);
            (report, port.left())
        };
        let (whole, _) = run(empty(), u64::MAX);
        assert_eq!(whole.outcome, Outcome::Known(value));
        let all = whole.counters.nodes;
        let (half, tree) = run(empty(), all / 2);
        assert_eq!(half.outcome.value(), None);
        let tree = tree.expect("a search without an answer leaves its tree");
        assert!(tree.region.nodes() > 0);
        let (rest, _) = run(tree, u64::MAX);
        assert_eq!(rest.outcome, Outcome::Known(value));
        let rest = rest.counters.nodes;
        assert!((all * 4 / 10..all * 6 / 10).contains(&rest), "{rest} of {all}");
    }
}

/// A search that hands its tree over is not changed by it.
#[test]
fn handing_over_changes_nothing() {
    let game = large_game();
    let run = |port: &TreePort| {
        let table = &Table::new(1 << 16).unwrap();
        let limits = Limits { nodes: Some(60_000), ..Limits::default() };
        let tree = SavedTree::empty(RICH.tree_room(1 << 24)).unwrap();
        pns(Root::new(&game, 0, table), tree, RICH, limits, &mut (), port).counters
    };
    let alone = run(&TreePort::idle());
    let port = TreePort::kept();
    let receiver = port.request();
    assert_eq!(run(&port), alone);
    let mut pieces = HashMap::new();
    for (number, sent) in receiver.try_iter().enumerate() {
        let (Sent::Part(piece) | Sent::End(piece, ..)) = sent;
        pieces.insert(number, piece.records);
    }
    assert!(pieces.values().sum::<u32>() > 100, "{pieces:?}");
}
