//! The store against definitions: games as trees, compared without stops, memo or canonical forms.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use pn_search::run::{Limits, Reason};
use proptest::prelude::*;

use super::*;

/// A game as a tree of options: the reference implementation.
#[derive(Debug, PartialEq)]
struct Tree {
    left: Vec<Rc<Tree>>,
    right: Vec<Rc<Tree>>,
}

impl Tree {
    fn new(left: Vec<Rc<Tree>>, right: Vec<Rc<Tree>>) -> Rc<Tree> {
        Rc::new(Tree { left, right })
    }

    /// g ≤ h, by the definition.
    fn is_at_most(&self, other: &Tree) -> bool {
        !self.left.iter().any(|left| other.is_at_most(left))
            && !other.right.iter().any(|right| right.is_at_most(self))
    }

    fn equals(&self, other: &Tree) -> bool {
        self.is_at_most(other) && other.is_at_most(self)
    }

    fn sum(self: &Rc<Tree>, other: &Rc<Tree>) -> Rc<Tree> {
        let side = |of: fn(&Tree) -> &Vec<Rc<Tree>>| {
            let first = of(self).iter().map(|option| option.sum(other));
            first.chain(of(other).iter().map(|option| self.sum(option))).collect()
        };
        Tree::new(side(|tree| &tree.left), side(|tree| &tree.right))
    }

    /// Canonical form, one removal after the other.
    fn canonical(&self) -> Rc<Tree> {
        let form = |options: &[Rc<Tree>]| options.iter().map(|option| option.canonical()).collect();
        let mut tree = Tree { left: form(&self.left), right: form(&self.right) };
        loop {
            let bypassed = |tree: &Tree| {
                let reverse =
                    |option: &Rc<Tree>| option.right.iter().find(|r| r.is_at_most(tree)).cloned();
                let found = tree
                    .left
                    .iter()
                    .enumerate()
                    .find_map(|(at, option)| Some((at, reverse(option)?)));
                let (at, reverse) = found?;
                let mut left = tree.left.clone();
                left.splice(at..=at, reverse.left.iter().cloned());
                Some(Tree { left, right: tree.right.clone() })
            };
            let undominated = |tree: &Tree| {
                let at = (0..tree.left.len()).find(|&at| {
                    (0..tree.left.len())
                        .any(|other| other != at && tree.left[at].is_at_most(&tree.left[other]))
                })?;
                let mut left = tree.left.clone();
                left.remove(at);
                Some(Tree { left, right: tree.right.clone() })
            };
            let step = |tree: &Tree| bypassed(tree).or_else(|| undominated(tree));
            let mirrored = |tree: &Tree| Some(step(&tree.negative())?.negative());
            match step(&tree).or_else(|| mirrored(&tree).map(Rc::unwrap_or_clone)) {
                Some(simpler) => tree = simpler,
                None => return Rc::new(tree),
            }
        }
    }

    fn negative(&self) -> Rc<Tree> {
        let negated =
            |options: &[Rc<Tree>]| options.iter().map(|option| option.negative()).collect();
        Tree::new(negated(&self.right), negated(&self.left))
    }

    fn game(&self, games: &mut GameStore<'_>) -> GameId {
        let mut options =
            |options: &[Rc<Tree>]| options.iter().map(|o| o.game(games)).collect::<Vec<_>>();
        let (left, right) = (options(&self.left), options(&self.right));
        games.game(&left, &right).unwrap()
    }

    /// The left stop and the right stop; a number is recognised by its canonical form.
    fn stops(&self, games: &mut GameStore<'_>) -> [Dyadic; 2] {
        let game = self.game(games);
        if let Some(number) = games.as_number(game) {
            return [number; 2];
        }
        let left = self.left.iter().map(|option| option.stops(games)[1]).max();
        let right = self.right.iter().map(|option| option.stops(games)[0]).min();
        [left.unwrap(), right.unwrap()]
    }
}

impl Clone for Tree {
    fn clone(&self) -> Self {
        Tree { left: self.left.clone(), right: self.right.clone() }
    }
}

/// The tree of a canonical form.
fn tree_of(games: &GameStore<'_>, game: GameId) -> Rc<Tree> {
    let left = games.left_options(game).map(|option| tree_of(games, option)).collect();
    let right = games.right_options(game).map(|option| tree_of(games, option)).collect();
    Tree::new(left, right)
}

fn store() -> GameStore<'static> {
    GameStore::new(Limits::default(), 1 << 30)
}

/// Games with up to `options` options on a side, each of which is one of the games before it.
fn trees(games: usize, options: usize) -> impl Strategy<Value = Vec<Rc<Tree>>> {
    let side = || prop::collection::vec(any::<prop::sample::Index>(), 0..=options);
    prop::collection::vec((side(), side()), 1..=games).prop_map(|forms| {
        let mut trees = vec![Tree::new(Vec::new(), Vec::new())];
        for (left, right) in forms {
            let chosen = |side: Vec<prop::sample::Index>| {
                side.iter().map(|at| Rc::clone(at.get(&trees))).collect()
            };
            let tree = Tree::new(chosen(left), chosen(right));
            trees.push(tree);
        }
        trees
    })
}

/// Left or right wall at a temperature.
fn wall_at(wall: &[[Dyadic; 2]], t: Dyadic) -> Dyadic {
    let above = wall.partition_point(|&[point, _]| point <= t);
    let [begin, x] = wall[above - 1];
    let Some(&[_, next]) = wall.get(above) else { return x };
    let distance = t.minus(begin).unwrap();
    match next.cmp(&x) {
        std::cmp::Ordering::Less => x.minus(distance).unwrap(),
        std::cmp::Ordering::Equal => x,
        std::cmp::Ordering::Greater => x.plus(distance).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn canonical_forms_agree_with_the_definition(trees in trees(6, 3)) {
        let mut games = store();
        for tree in &trees {
            let game = tree.game(&mut games);
            let canonical = tree.canonical();
            prop_assert!(canonical.equals(tree));
            let found = tree_of(&games, game);
            prop_assert!(found.equals(tree));
            prop_assert_eq!(found.left.len(), canonical.left.len());
            prop_assert_eq!(found.right.len(), canonical.right.len());
            prop_assert_eq!(games.stops(game), tree.stops(&mut games));
            prop_assert_eq!(tree.negative().game(&mut games), games.negative(game));
            let class = OutcomeClass::of(trees[0].is_at_most(tree), tree.is_at_most(&trees[0]));
            prop_assert_eq!(games.class(game), class);
        }
        for (a, b) in trees.iter().zip(&trees[1..]) {
            let (g, h) = (a.game(&mut games), b.game(&mut games));
            prop_assert_eq!(games.is_at_most(g, h).unwrap(), a.is_at_most(b));
            prop_assert_eq!(games.is_at_most(h, g).unwrap(), b.is_at_most(a));
            prop_assert_eq!(g == h, a.equals(b));
        }
    }

    #[test]
    fn sums_agree_with_the_definition(trees in trees(3, 2)) {
        let mut games = store();
        for (a, b) in trees.iter().zip(&trees[1..]) {
            let (g, h) = (a.game(&mut games), b.game(&mut games));
            let sum = games.sum(g, h).unwrap();
            prop_assert_eq!(sum, a.sum(b).game(&mut games));
            prop_assert_eq!(a.sum(&a.negative()).game(&mut games), games.zero());
        }
    }

    #[test]
    fn sums_obey_the_laws(trees in trees(9, 3)) {
        let mut games = store();
        let ids: Vec<GameId> = trees.iter().map(|tree| tree.game(&mut games)).collect();
        for three in ids.windows(3) {
            let [a, b, c] = [three[0], three[1], three[2]];
            let ab = games.sum(a, b).unwrap();
            prop_assert_eq!(ab, games.sum(b, a).unwrap());
            let bc = games.sum(b, c).unwrap();
            prop_assert_eq!(games.sum(ab, c).unwrap(), games.sum(a, bc).unwrap());
            let minus = games.negative(b);
            prop_assert_eq!(games.sum(ab, minus).unwrap(), a);
        }
    }

    #[test]
    fn thermographs_agree_with_stops_and_cooling(trees in trees(9, 3)) {
        let mut games = store();
        let ids: Vec<GameId> = trees.iter().map(|tree| tree.game(&mut games)).collect();
        for &game in &ids {
            let thermograph = games.thermograph(game).unwrap().unwrap();
            let stops = [&thermograph.left, &thermograph.right].map(|wall| wall_at(wall, Dyadic::ZERO));
            prop_assert_eq!(stops, games.stops(game));
            for quarters in 0..16 {
                let t = Dyadic::new(quarters, 2).unwrap();
                let cooled = games.cooled(game, t).unwrap().unwrap();
                let walls = [&thermograph.left, &thermograph.right].map(|wall| wall_at(wall, t));
                prop_assert_eq!(games.stops(cooled), walls, "{} cooled by {}", games.text(game), t);
                prop_assert_eq!(games.thermograph(cooled).unwrap().unwrap().mean, thermograph.mean);
            }
        }
        for (&g, &h) in ids.iter().zip(&ids[1..]) {
            let sum = games.sum(g, h).unwrap();
            let [g, h, sum] = [g, h, sum].map(|game| games.thermograph(game).unwrap().unwrap());
            prop_assert_eq!(g.mean.plus(h.mean).unwrap(), sum.mean);
            prop_assert!(sum.temperature <= g.temperature.max(h.temperature));
        }
    }

    #[test]
    fn texts_are_read_back(trees in trees(12, 3)) {
        let mut games = store();
        let mut other = store();
        for tree in &trees {
            let game = tree.game(&mut games);
            let text = games.text(game);
            prop_assert_eq!(games.parse(&text), Ok(game), "{}", text);
            let again = other.parse(&text).unwrap();
            prop_assert_eq!(other.text(again), text);
        }
    }
}

#[test]
fn well_known_games() {
    // Text, canonical text, class, mean, temperature: from Winning Ways and Siegel's book.
    let known = [
        ("{|}", "0", 'P', "0", "-1"),
        ("{0|}", "1", 'L', "1", "-1"),
        ("{0|1}", "1/2", 'L', "1/2", "-1/2"),
        ("{1/2|2}", "1", 'L', "1", "-1"),
        ("{-3|5/4}", "0", 'P', "0", "-1"),
        ("{5/4|2}", "3/2", 'L', "3/2", "-1/2"),
        ("{0|0}", "*", 'N', "0", "0"),
        ("{0,*|0,*}", "*2", 'N', "0", "0"),
        ("{0|*}", "^", 'L', "0", "0"),
        ("{0|^}", "^^*", 'L', "0", "0"),
        ("{0,*|0}", "^*", 'N', "0", "0"),
        ("{^|^}", "^^*", 'L', "0", "0"),
        ("{0|^*}", "^^", 'L', "0", "0"),
        ("{0|^^*}", "^3", 'L', "0", "0"),
        ("-{0|*3}", "v*2", 'R', "0", "0"),
        ("{1|1}", "1*", 'L', "1", "0"),
        ("{1*|1*}", "1", 'L', "1", "-1"),
        ("{1|1*}", "1^", 'L', "1", "0"),
        ("{0||0|-2}", "tiny(2)", 'L', "0", "0"),
        ("{{2|0}|0}", "miny(2)", 'R', "0", "0"),
        ("{0||0|-{2|1}}", "tiny({2|1})", 'L', "0", "0"),
        ("{1|-1}", "±1", 'N', "0", "1"),
        ("{4|1}", "{4|1}", 'L', "5/2", "3/2"),
        ("{2||1|0}", "{2||1|0}", 'L', "5/4", "3/4"),
        ("{{3|1}|{-1|-3}}", "±{3|1}", 'N', "0", "2"),
        ("{2|0||0|-1}", "0", 'P', "0", "-1"),
        ("{3|1||0|-1}", "{3|1||0|-1}", 'L', "3/4", "5/4"),
        ("{0,±1|{2|-1},5}", "1", 'L', "1", "-1"),
        ("±(1,{3|0})", "±(1,{3|0})", 'N', "0", "1"),
        ("{2|1/2*}", "{2|1/2*}", 'L', "5/4", "3/4"),
    ];
    let mut games = store();
    for (text, canonical, class, mean, temperature) in known {
        let game = games.parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(games.text(game), canonical, "{text}");
        assert_eq!(games.class(game).letter(), class, "{text}");
        let thermograph = games.thermograph(game).unwrap().unwrap();
        let found = (thermograph.mean.to_string(), thermograph.temperature.to_string());
        assert_eq!(found, (mean.to_owned(), temperature.to_owned()), "{text}");
    }
}

#[test]
fn other_spellings_are_read() {
    let mut games = store();
    for (text, canonical) in [
        ("+-1", "±1"),
        (" { 1 , 2 | 0 } ", "{2|0}"),
        ("3.^", "^3"),
        ("-2.v*", "^^*"),
        ("↑↑*3", "^^*3"),
        ("-1/2v", "-1/2v"),
        ("--*2", "*2"),
        ("{3|||2||1|0}", "{3|||2||1|0}"),
        ("{{3|{2|{1|0}}}||||-1}", "{3|||2||1|0||||-1}"),
        ("-tiny(1)", "miny(1)"),
        ("1*0", "1"),
        ("1 + ^", "1^"),
        ("{2|1}+*", "{2*|1*}"),
        ("0.5", "1/2"),
        ("-0.75^*", "-3/4^*"),
        ("⇑", "^^"),
        ("⇓⇓*", "v4*"),
        ("1/4⇑*2", "1/4^^*2"),
        ("⧾2", "tiny(2)"),
        ("⧿0.5", "miny(1/2)"),
        ("⧿0.5+1", "{3/2|1||1}"),
        ("⧾{2|1}", "tiny({2|1})"),
        ("tiny(1+1)", "tiny(2)"),
        ("1-1/2 - -1", "3/2"),
        ("1+-1", "0"),
        ("* + +-1", "±1*"),
        ("-(1+*)", "-1*"),
        ("{1+1,*|-(^)}", "{2|v}"),
        ("±(1+1, {3 | 0-1})", "±(2,{3|-1})"),
    ] {
        let game = games.parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(games.text(game), canonical, "{text}");
    }
}

#[test]
fn errors_name_the_character() {
    let mut games = store();
    for (text, column, expected) in [
        ("", 1, "a number"),
        ("x", 1, "a number"),
        ("-", 2, "a number"),
        ("{1|0", 5, "\"}\""),
        ("{1}", 3, "\"|\""),
        ("{3|2|1}", 5, "another length"),
        ("1 2", 3, "\"+\""),
        ("1 2", 3, "the end"),
        ("1/3", 1, "2^e"),
        ("0.1", 1, "0.75"),
        ("1 + 0.3", 5, "0.75"),
        ("1 +", 4, "a number"),
        ("(1", 3, "\")\""),
        ("⧾*", 2, "\"{\""),
        ("⧾2*", 3, "\"+\""),
        ("2.⇑", 3, "integer"),
        ("1/", 3, "power of 2"),
        ("4097", 1, "to 4096"),
        ("{0|-8193/2}", 4, "-4096"),
        ("*1001", 2, "up to 1000"),
        ("1/2.^", 5, "integer"),
        ("±(1", 4, "\")\""),
        ("{↑↑|x}", 5, "a number"),
    ] {
        let error = games.parse(text).unwrap_err();
        let GameTextError::Syntax { column: at, expected: found, .. } = &error else {
            panic!("{error}")
        };
        assert!(*at == column && found.contains(expected), "{text}: {error}");
    }
    let deep = "{".repeat(5000) + &"|}".repeat(5000);
    assert!(matches!(games.parse(&deep), Err(GameTextError::Syntax { column: 101, .. })));
}

#[test]
fn numbers_beyond_the_limit_are_no_games() {
    let mut games = store();
    for (a, b) in [("4096", "1"), ("-4096", "-1/2"), ("{4096|0}", "{4096|0}")] {
        let [a, b] = [a, b].map(|text| games.parse(text).unwrap());
        assert_eq!(games.sum(a, b), Err(Reason::Memory));
        let minus = games.negative(b);
        assert!(games.sum(a, minus).is_ok());
    }
    assert_eq!(games.parse("{4096|}"), Err(GameTextError::Limit(Reason::Memory)));
}

#[test]
fn limits_end_an_operation_and_leave_nothing_wrong() {
    let text = "±(3,{6|1||-4|-9})";
    let sum_of_three = |games: &mut GameStore<'_>| {
        let [a, b, c] = [text, "{7|2,±1}", "^3*2"].map(|text| games.parse(text));
        let sum = games.sum(a?, b?)?;
        games.sum(sum, c?).map_err(GameTextError::Limit)
    };
    let mut full = store();
    let expected = sum_of_three(&mut full).unwrap();
    let expected = full.text(expected);
    let needed = full.len() as u64;
    for nodes in 1..needed {
        let mut games = GameStore::new(Limits { nodes: Some(nodes), ..Limits::default() }, 1 << 30);
        match sum_of_three(&mut games) {
            Ok(sum) => assert_eq!(games.text(sum), expected),
            Err(error) => assert_eq!(error, GameTextError::Limit(Reason::NodeLimit)),
        }
    }
    let mut games = GameStore::new(Limits::default(), 1 << 17);
    assert_eq!(games.parse("4096"), Err(GameTextError::Limit(Reason::Memory)));
    assert!(games.memory_bytes() <= 1 << 17);
    let stop = AtomicBool::new(true);
    let deadline = Some(Instant::now());
    for (limits, reason) in [
        (Limits { stop: Some(&stop), ..Limits::default() }, Reason::Interrupted),
        (Limits { deadline, ..Limits::default() }, Reason::TimeLimit),
    ] {
        let mut games = GameStore::new(limits, 1 << 30);
        assert_eq!(games.parse("4096"), Err(GameTextError::Limit(reason)));
        // The same store computes small games correctly.
        let game = games.parse("{2||1|0}").unwrap();
        assert_eq!(games.text(game), "{2||1|0}");
    }
}

#[test]
fn large_nimbers_obey_the_limits() {
    let mut games = store();
    let star = games.parse("*1000").unwrap();
    assert_eq!(games.text(star), "*1000");
    assert_eq!(games.left_options(star).len(), 1000);
    let forms: Vec<_> = ["*5", "2*5"].map(|text| games.parse(text).unwrap()).into();
    for form in forms {
        let options: Vec<_> = games.left_options(form).collect();
        assert_eq!(games.game(&options, &options).unwrap(), form);
    }
    // Its sums with other games take hours.
    let stop = AtomicBool::new(false);
    let limits = Limits { stop: Some(&stop), ..Limits::default() };
    let mut games = GameStore::new(limits, 1 << 30);
    let [star, hot] = ["*1000", "{1|-1}"].map(|text| games.parse(text).unwrap());
    stop.store(true, Ordering::Relaxed);
    assert_eq!(games.sum(star, hot), Err(Reason::Interrupted));
}

#[test]
fn numbers_out_of_range_are_unknown() {
    let mut games = store();
    let large = games.parse("3000").unwrap();
    assert_eq!(games.sum(large, large), Err(Reason::Memory));
    // Halving the finest fraction is not possible.
    let fine = games.parse("{1/1099511627776|0}").unwrap();
    assert_eq!(games.thermograph(fine), Ok(None));
    assert_eq!(games.cooled(fine, Dyadic::ZERO), Ok(None));
}

#[test]
#[should_panic(expected = "another store")]
fn ids_belong_to_their_store() {
    let zero = store().zero();
    store().negative(zero);
}

#[test]
fn long_texts_are_abbreviated() {
    // The text of each game is twice as long as that of the game before it.
    let mut games = store();
    let mut game = games.parse("{1/128|-1/128*}").unwrap();
    for exponent in 1..=17 {
        let shift = games.number(Dyadic::new(1 << exponent, 7).unwrap()).unwrap();
        let back = games.negative(shift);
        let (left, right) = (games.sum(game, shift).unwrap(), games.sum(game, back).unwrap());
        game = games.game(&[left], &[right]).unwrap();
    }
    let text = games.text(game);
    assert!(text.contains('…') && text.len() < 3 << 20, "{}", text.len());
}

#[test]
fn a_drawing_has_two_walls_and_a_mast() {
    let mut games = store();
    for text in ["±{3|1}", "0", "-5/2", "4096", "{2||1|0}"] {
        let game = games.parse(text).unwrap();
        let svg = games.thermograph(game).unwrap().unwrap().svg("<a & b>");
        assert_eq!(
            svg.matches("<path").count() - svg.matches("stroke=\"#e0e0e0\"").count(),
            5,
            "{text}"
        );
        assert!(svg.contains("<title>&lt;a &amp; b&gt;</title>") && svg.len() < 10_000);
    }
}
