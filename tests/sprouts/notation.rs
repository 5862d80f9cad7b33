//! The notation of positions.

use super::common::{Random, TestGame, random_game, respelled};
use konane::sprouts::MAX_VERTICES;
use konane::sprouts::{Position, TextError};
use proptest::prelude::*;

fn written(text: &str) -> String {
    text.parse::<Position>().unwrap_or_else(|error| panic!("{text}: {error}")).to_string()
}

#[test]
fn both_forms_are_read() {
    let cases = [
        ("!", "!"),
        ("0*12", "0*12"),
        (" 0.0\n", "0*2"),
        ("0*0", "!"),
        ("0*2.AB|1AB", "0*2.AB|1AB"),
        ("12+1a1a.2", "12+1a1a.2"),
        ("0.Z(3)B|BZ(3)", "0.AB|BA"),
        // For many letters SPOTS writes m for lower and n for upper case.
        ("1m(26)1m(26)", "1a1a"),
        ("0.n(26)|1n(26)", "0.A|1A"),
        ("n1n", "a1a"),
        // In different boundaries, and in different lands, a name denotes different spots.
        ("a1a.a2a", "a1a.a2a"),
        ("1A|2A+1A|2A", "1A|2A+1A|2A"),
        // The older form of GLOP.
        ("0*2.}]!", "0*2"),
        ("0.0.AB.}AB.1.}]12.}]!", "0*2.AB|AB.1+12"),
        ("!", "!"),
    ];
    for (text, expected) in cases {
        assert_eq!(written(text), expected, "{text}");
    }
}

#[test]
fn many_letters_have_names() {
    let letters: String = (0..60).map(|n| format!("A({n})")).collect();
    let lower: String = (0..40).map(|n| format!("a({n})1a({n})2")).collect();
    let text = format!("{letters}|{letters}+{lower}");
    let once = written(&text);
    assert!(once.starts_with("n(1)n(2)") && once.contains("n(60)") && !once.contains('A'));
    assert!(once.contains("+m(1)1m(1)2m(2)") && once.contains("m(40)"));
    assert_eq!(written(&once), once);
    // The limits of the single letters.
    let upper = |count: u32| -> String { (1..=count).map(|n| format!("n({n})")).collect() };
    let all: String = ('A'..='Y').collect();
    assert_eq!(written(&format!("{0}|{0}", upper(25))), format!("{all}|{all}"));
    assert_eq!(written(&format!("{0}|{0}", upper(26))), format!("{0}|{0}", upper(26)));
    let lower = |count: u32| -> String { (1..=count).map(|n| format!("m({n})1m({n})")).collect() };
    let all: String = ('a'..='l').map(|letter| format!("{letter}1{letter}")).collect();
    assert_eq!(written(&lower(12)), all);
    assert_eq!(written(&lower(13)), lower(13));
}

/// Returns the variant of an error and its offset.
fn refused(text: &str) -> (String, Option<usize>) {
    let error = text.parse::<Position>().expect_err(text);
    assert!(error.to_string().len() < 300);
    let variant = format!("{error:?}");
    let end = variant.find([' ', '{']).unwrap_or(variant.len());
    (variant[..end].into(), error.at())
}

#[test]
fn invalid_positions_are_refused_with_the_offset() {
    let cases = [
        ("", "Empty", None),
        (" \n", "Empty", None),
        ("0.AB|A", "Once", Some(3)),
        ("1a2", "Once", Some(1)),
        ("1a2.a", "Once", Some(1)),
        ("A|A|A", "ThreeTimes", Some(4)),
        ("1a2a3a", "ThreeTimes", Some(5)),
        ("04", "Digit", Some(1)),
        ("0.4", "Digit", Some(2)),
        ("15", "Digit", Some(1)),
        ("0..1", "EmptyBoundary", Some(2)),
        ("0.", "EmptyBoundary", Some(2)),
        ("|0", "EmptyBoundary", Some(0)),
        ("0++0", "EmptyBoundary", Some(2)),
        ("0*x", "Count", Some(2)),
        ("0*", "Count", Some(2)),
        ("0*-1", "Count", Some(2)),
        ("0*2a", "LooseSpot", Some(3)),
        ("00", "LooseSpot", Some(1)),
        ("10", "LooseSpot", Some(1)),
        ("0*99999999999999999999", "TooLarge", Some(0)),
        ("1*2", "Misplaced", Some(1)),
        ("0*2;1", "Unknown", Some(3)),
        ("0*2 1", "Unknown", Some(3)),
        ("0é", "Unknown", Some(1)),
        ("A(|A(", "Index", Some(2)),
        ("A(5|A(5", "Index", Some(3)),
        ("A(99999999999)", "Index", Some(2)),
        ("(((", "Misplaced", Some(0)),
        ("0!", "Misplaced", Some(1)),
        ("AA", "OneBoundary", Some(1)),
        ("1A.2A", "Ring", Some(4)),
        ("A.B|AB", "Ring", Some(5)),
        ("a1b2a1b2", "Crossing", Some(4)),
        ("0.}]", "Unfinished", Some(4)),
        ("0}]!", "Misplaced", Some(1)),
        ("0.]!", "Misplaced", Some(2)),
        ("0.}!]", "Misplaced", Some(3)),
        ("0.}]!0", "Misplaced", Some(5)),
        ("0.}}]!", "EmptyPart", Some(3)),
        ("0.}]]!", "EmptyPart", Some(4)),
        ("}]!", "EmptyPart", Some(0)),
        ("0.|1.}]!", "Misplaced", Some(2)),
    ];
    for (text, variant, at) in cases {
        assert_eq!(refused(text), (variant.into(), at), "{text}");
    }
}

#[test]
fn oversized_texts_are_refused() {
    for part in ["[", "]", "(", "}", "0.", "A(", "1", "a", "|", "0*9", "0|", "!"] {
        let text = part.repeat((10 << 20) / part.len());
        refused(&text);
    }
    let largest = format!("0*{MAX_VERTICES}");
    assert_eq!(written(&largest), largest);
    assert_eq!(refused(&format!("{largest}.1")), ("TooLarge".into(), Some(7)));
    let nested = format!("0*1.{}", "a".repeat(MAX_VERTICES - 1));
    assert!(matches!(nested.parse::<Position>(), Err(TextError::ThreeTimes { at: 6, .. })));
}

#[test]
fn printing_and_reading_are_inverse() {
    let mut sprouts = TestGame::new();
    let mut random = Random(7);
    for game in 0..40 {
        for text in random_game(&mut sprouts, 2 + game % 12, &mut random) {
            let other = respelled(&text, &mut random);
            let position: Position = other.parse().unwrap();
            let printed = position.to_string();
            assert_eq!(printed.parse::<Position>().as_ref(), Ok(&position), "{other}");
            assert_eq!(position.lives(), text.parse::<Position>().unwrap().lives());
        }
    }
}

proptest! {
    /// Any text is refused, or is a position whose printed text is equivalent.
    #[test]
    fn any_text(text in "[0-4aAbBn().|+!}\\]*2]{0,14}") {
        if let Ok(position) = text.parse::<Position>() {
            let printed = position.to_string();
            prop_assert_eq!(printed.parse::<Position>(), Ok(position.clone()));
            let mut sprouts = TestGame::new();
            prop_assert_eq!(sprouts.canonical(&printed), sprouts.canonical(&text));
        }
    }
}
