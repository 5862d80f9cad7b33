use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;

use pn_search::run::{Limits, Reason};

use super::*;

/// The published outcomes of starts.
const PUBLISHED: &str = include_str!("../../tests/data/misere_outcomes.csv");

/// Reference implementation: outcomes of sums of lands by the rules alone.
struct Plain {
    game: Sprouts,
    scratch: Scratch,
    lost: HashMap<Vec<Atom>, bool>,
}

impl Plain {
    fn new() -> Self {
        Plain { game: Sprouts::new(u64::MAX), scratch: Scratch::default(), lost: HashMap::new() }
    }

    fn is_lost(&mut self, sum: &[Atom]) -> bool {
        if let Some(&lost) = self.lost.get(sum) {
            return lost;
        }
        let children = self.game.children(sum, &mut self.scratch, &|| false).unwrap();
        let lost = !children.is_empty() && children.iter().all(|child| !self.is_lost(child));
        self.lost.insert(sum.to_vec(), lost);
        lost
    }

    fn sum(&mut self, text: &str) -> Vec<Atom> {
        self.game.atoms(&text.parse().unwrap(), &mut self.scratch).unwrap()
    }
}

/// Solves positions with one scratch memory.
struct Tested {
    solver: MisereSolver,
    scratch: MisereScratch,
}

impl Tested {
    fn new() -> Self {
        Tested { solver: MisereSolver::new(1 << 28).unwrap(), scratch: MisereScratch::default() }
    }

    fn assert_same(&mut self, plain: &mut Plain, text: &str) {
        let sum = plain.sum(text);
        let value = if plain.is_lost(&sum) { Value::Loss } else { Value::Win };
        let code = self.solver.game.code(&text.parse().unwrap(), &mut self.scratch).unwrap();
        let found = self.solver.value(code).map(|(value, _)| value).or_else(|| {
            let one = NonZeroUsize::MIN;
            self.solver.solve_code(code, one, Limits::default(), &mut ()).outcome.value()
        });
        assert_eq!(found, Some(value), "{text}");
    }
}

/// All positions that occur in games of `spots` spots, in the order of their texts.
fn reachable(plain: &mut Plain, spots: u32) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![plain.sum(&format!("0*{spots}"))];
    while let Some(sum) = open.pop() {
        if seen.insert(plain.game.text(&sum)) {
            open.extend(plain.game.children(&sum, &mut plain.scratch, &|| false).unwrap());
        }
    }
    seen
}

#[test]
fn outcomes_are_those_of_the_rules() {
    let (mut plain, mut tested) = (Plain::new(), Tested::new());
    for spots in 1..=5 {
        let all = reachable(&mut plain, spots);
        all.iter().for_each(|text| tested.assert_same(&mut plain, text));
    }
}

#[test]
fn outcomes_of_sums_are_those_of_the_rules() {
    let (mut plain, mut tested) = (Plain::new(), Tested::new());
    let lists = [(3, 6), (5, 8)].map(|(spots, lives)| {
        let all = reachable(&mut plain, spots).into_iter();
        let fits = |text: &String| text.parse::<Position>().unwrap().lives() <= lives;
        all.filter(|text| text != "!" && fits(text)).collect::<Vec<String>>()
    });
    let [small, large] = lists;
    let mut state = 1u64;
    let mut random = |count: usize| {
        state = split_mix::mix(state);
        state as usize % count
    };
    for _ in 0..1000 {
        let (one, other) = (&large[random(large.len())], &small[random(small.len())]);
        let third = ["1", "2", "0.2", "0*2", "1a1a", "22"][random(6)];
        tested.assert_same(&mut plain, &[one.as_str(), other].join("+"));
        tested.assert_same(&mut plain, &[one.as_str(), other, third].join("+"));
    }
}

#[test]
fn published_outcomes_of_starts() {
    let lines = PUBLISHED.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    for line in lines.take(11) {
        let (spots, outcome) = line.split_once(',').unwrap();
        let value = if outcome == "W" { Value::Win } else { Value::Loss };
        // Two threads share the tables of lands, trees and groups.
        let solver = MisereSolver::new(1 << 30).unwrap();
        let position = format!("0*{spots}").parse().unwrap();
        let two = NonZeroUsize::new(2).unwrap();
        let report = solver.solve(&position, two, Limits::default(), &mut ()).unwrap();
        assert_eq!(report.outcome.value(), Some(value), "{line}");
    }
}

#[test]
fn outcomes_of_moves_follow_the_rules() {
    let (mut plain, mut analyst) =
        (Plain::new(), crate::analysis::Analyst::misere(1 << 26).unwrap());
    for text in ["!", "1", "0*2", "0*3", "0*4", "0*3+0*2", "0*5"] {
        let position = text.parse().unwrap();
        let mut changes = 0;
        let found = analyst.analyse(&position, Limits::default(), &mut |_| changes += 1).unwrap();
        let sum = plain.sum(text);
        assert_eq!(found.outcome == Some(Value::Loss), plain.is_lost(&sum), "{text}");
        let count = plain.game.children(&sum, &mut plain.scratch, &|| false).unwrap().len();
        assert!(found.children.len() == count && changes >= count, "{text}");
        for child in &found.children {
            let sum = plain.sum(&child.position);
            assert_eq!(child.outcome == Some(Value::Win), plain.is_lost(&sum), "{text}: {child:?}");
        }
    }
}

#[test]
fn limits_end_the_search() {
    let one = NonZeroUsize::MIN;
    let position = "0*12".parse().unwrap();
    let solver = MisereSolver::new(1 << 20).unwrap();
    let report = solver.solve(&position, one, Limits::default(), &mut ()).unwrap();
    assert_eq!(report.outcome.reason(), Some(Reason::Memory));
    let solver = MisereSolver::new(1 << 28).unwrap();
    let limits = Limits { nodes: Some(100), ..Limits::default() };
    let report = solver.solve(&position, one, limits, &mut ()).unwrap();
    assert_eq!(report.outcome.reason(), Some(Reason::NodeLimit));
}

/// Trees of nim heaps: the heap of n has the heaps below n as options.
fn heaps(trees: &Trees, count: usize) -> Vec<Tree> {
    let mut heaps = vec![ZERO];
    while heaps.len() < count {
        heaps.push(trees.canonical(&mut heaps.clone()).unwrap());
    }
    heaps
}

#[test]
fn heaps_of_one_cancel_and_heaps_of_two_do_not() {
    let (trees, mut recent) = (Trees::new(), RecentSums::default());
    let heaps = heaps(&trees, 4);
    let mut sum = |a, b| trees.sum(a, b, &mut recent).unwrap();
    assert_eq!(sum(heaps[1], heaps[1]), ZERO);
    let two = sum(heaps[2], heaps[2]);
    assert!(two != ZERO && sum(heaps[1], two) != heaps[1]);
    // Under misère play 2+2 is lost, 2+2+2+2 too, and 2+1 is the heap of three.
    assert!(trees.node(two).is_lost && trees.node(sum(two, two)).is_lost);
    assert_eq!(sum(heaps[2], heaps[1]), heaps[3]);
    // The options 2 are reversible through 0 only if the game is won.
    let only_one = trees.canonical(&mut vec![heaps[1]]).unwrap();
    assert_eq!(only_one, ZERO);
    assert_ne!(trees.canonical(&mut vec![heaps[2]]).unwrap(), ZERO);
}

/// A game without any theory: sorted options.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct RawGame(Vec<RawGame>);

fn raw_is_lost(sum: &mut Vec<RawGame>, known: &mut HashMap<Vec<RawGame>, bool>) -> bool {
    sum.sort_unstable();
    if let Some(&lost) = known.get(sum) {
        return lost;
    }
    let mut is_over = true;
    let mut lost = true;
    for place in 0..sum.len() {
        for option in &sum[place].0 {
            is_over = false;
            let mut child = sum.clone();
            child[place] = option.clone();
            lost &= !raw_is_lost(&mut child, known);
        }
    }
    lost &= !is_over;
    known.insert(sum.clone(), lost);
    lost
}

/// All games of birthday at most 3: G and H with the same tree have the same outcome in every sum.
#[test]
fn games_with_equal_trees_are_exchangeable() {
    let mut games = vec![RawGame(Vec::new())];
    for _ in 0..3 {
        let born: Vec<RawGame> = (0..1u32 << games.len())
            .map(|set| {
                let chosen = games.iter().enumerate().filter(|&(at, _)| set >> at & 1 == 1);
                RawGame(chosen.map(|(_, game)| game.clone()).collect())
            })
            .collect();
        games = born;
        games.sort_unstable();
    }
    assert_eq!(games.len(), 16);
    // Some games of birthday 4.
    let mut larger = games.clone();
    let mut state = 1;
    for _ in 0..200 {
        state = split_mix::mix(state);
        let chosen = games.iter().enumerate().filter(|&(at, _)| state >> (2 * at) & 3 == 0);
        larger.push(RawGame(chosen.map(|(_, game)| game.clone()).collect()));
    }
    let trees = Trees::new();
    fn tree(trees: &Trees, game: &RawGame) -> Tree {
        let mut options = game.0.iter().map(|option| tree(trees, option)).collect();
        trees.canonical(&mut options).unwrap()
    }
    let known = &mut HashMap::new();
    let mut rows: HashMap<Tree, Vec<bool>> = HashMap::new();
    for game in &larger {
        let outcomes: Vec<bool> = games
            .iter()
            .map(|other| raw_is_lost(&mut vec![game.clone(), other.clone()], known))
            .collect();
        let tree = tree(&trees, game);
        assert_eq!(trees.node(tree).is_lost, outcomes[0], "{game:?}");
        assert_eq!(rows.entry(tree).or_insert_with(|| outcomes.clone()), &outcomes, "{game:?}");
    }
    let distinct: BTreeSet<&Vec<bool>> = rows.values().collect();
    println!("{} trees, in {} classes by sums with birthday 3", rows.len(), distinct.len());
    assert!(rows.len() > 15 && distinct.len() > 5);
}

/// Conway, On Numbers and Games, chapter 12: 1, 2, 3, 5 and 22 games are born by the days 0 to 4.
#[test]
fn as_many_trees_are_born_as_published() {
    let trees = Trees::new();
    let mut born = BTreeSet::from([ZERO]);
    for published in [2, 3, 5, 22] {
        let earlier: Vec<Tree> = born.iter().copied().collect();
        for set in 0..1u32 << earlier.len() {
            let options = (0..earlier.len()).filter(|at| set >> at & 1 == 1);
            let mut options = options.map(|at| earlier[at]).collect();
            born.insert(trees.canonical(&mut options).unwrap());
        }
        assert_eq!(born.len(), published);
    }
}

/// The tree of a sum is that of the game with the options of the sum.
#[test]
fn trees_of_sums_are_those_of_their_options() {
    let mut scratch = MisereScratch::default();
    let game = MisereSprouts::new(u64::MAX);
    let mut plain = Plain::new();
    for text in reachable(&mut plain, 3) {
        let code = game.code(&text.parse().unwrap(), &mut scratch).unwrap();
        let sum = game.lands.atoms(&text.parse().unwrap(), &mut scratch.moves).unwrap();
        let children = game.lands.children(&sum, &mut scratch.moves, &|| false).unwrap();
        let trees = children.iter().map(|child| game.code_of_sum(child, &mut scratch).unwrap());
        let mut trees: Vec<Tree> = trees.map(|code| parts(code).0).collect();
        assert_eq!(parts(code), (game.trees.canonical(&mut trees).unwrap(), NO_ITEMS), "{text}");
    }
}
