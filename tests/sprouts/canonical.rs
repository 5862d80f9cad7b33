//! Simplification and canonical forms.

use std::time::{Duration, Instant};

use konane::sprouts::Position;

use super::common::{Random, TestGame, random_game, respelled};

#[test]
fn irrelevant_parts_are_removed() {
    let cases = [
        ("!", "!"),
        ("0*0", "!"),
        ("0", "0"),
        ("0.0", "0*2"),
        // Dead spots, and equal adjacent letters.
        ("3", "!"),
        ("323", "!"),
        ("232", "22"),
        ("0.1aa", "0.12"),
        ("0.a1a", "0.12"),
        // Regions with fewer than two lives, and the effect of their removal on letters.
        ("2", "!"),
        ("2+1", "1"),
        ("0.A|A", "0.2"),
        ("A|A", "!"),
        // Regions of two and three lives.
        ("1.2", "12"),
        ("2.2.2", "222"),
        ("a2a2", "222"),
        ("0.AB|AB2", "0.AB|2AB"),
        ("0.AB|A.2|B.2", "0.AB|2A|2B"),
        // Lands.
        ("0|0", "0+0"),
        ("0*2.A|1A|22", "0*2.A|1A+22"),
        ("0.A.B|2A|2B", "0.A.B|2A|2B"),
    ];
    let mut sprouts = TestGame::new();
    for (text, canonical) in cases {
        assert_eq!(sprouts.canonical(text), canonical, "{text}");
    }
}

#[test]
fn canonical_forms_do_not_depend_on_the_spelling() {
    let mut sprouts = TestGame::new();
    let mut random = Random(1);
    for game in 0..150 {
        for text in random_game(&mut sprouts, 2 + game % 11, &mut random) {
            let canonical = sprouts.canonical(&text);
            assert_eq!(canonical, sprouts.canonical(&canonical));
            for _ in 0..4 {
                let other = respelled(&canonical, &mut random);
                assert_eq!(sprouts.canonical(&other), canonical, "{other}");
            }
        }
    }
}

/// Different parts that no refinement distinguishes: trees of three levels whose eight leaves are joined by
/// a ring, each in another order. All orders of the parts tie; trying all of them would take too long.
#[test]
fn a_land_with_too_many_ties_takes_seconds() {
    let (mut names, mut random) = ((0..).map(|number| format!("n({number})")), Random(5));
    let mut name = || names.next().expect("there is no end of names");
    let (mut roots, mut regions) = (Vec::new(), Vec::new());
    for _ in 0..6 {
        let mut level = vec![name()];
        roots.push(level[0].clone());
        while level.len() < 8 {
            let fork = |branch: String| {
                let (left, right) = (name(), name());
                regions.push(format!("{branch}{left}{right}"));
                [left, right]
            };
            level = level.into_iter().flat_map(fork).collect();
        }
        random.shuffle(&mut level);
        let ring: Vec<String> = (0..8).map(|_| name()).collect();
        for (at, leaf) in level.iter().enumerate() {
            regions.push(format!("{leaf}{}{}", ring[at], ring[(at + 1) % 8]));
        }
    }
    let text = format!("{}|{}", roots.join("."), regions.join("|"));
    let (begun, mut sprouts) = (Instant::now(), TestGame::new());
    let found = sprouts.canonical(&text);
    let lives = |text: &str| text.parse::<Position>().unwrap().lives();
    assert_eq!(lives(&found), lives(&text));
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

/// Every text by which SPOTS may look up a land is a text of this land.
#[test]
fn texts_of_spots_denote_the_same_land() {
    let mut sprouts = TestGame::new();
    let mut random = Random(5);
    for game in 0..40 {
        for text in random_game(&mut sprouts, 2 + game % 11, &mut random) {
            for land in sprouts.atoms(&text) {
                let texts = sprouts.game.spots_texts(land);
                assert!(!texts.is_empty(), "{text}");
                for text in texts {
                    assert_eq!(sprouts.atoms(&text), [land], "{text}");
                }
            }
        }
    }
}
