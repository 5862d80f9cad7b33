use std::collections::BTreeSet;
use std::ops::ControlFlow;

use proptest::prelude::*;

use pn_search::sums::game::OptionSubset;

use super::*;
use crate::canonical::Canoniser;
use crate::flat::{Flat, Packer, Token};
use crate::moves::Mover;
use crate::simplify::Simplifier;
use crate::{Scratch, Sprouts};

/// Games of tournaments from pages of the World Game of Sprouts Association (wgosa.org: Peltier8Plus, newtheoryn8,
/// RecentGames1, trny20067) and of its players (sproutsgame.blogspot.com, June 2010; takingthefun.com, January 2016).
const GAMES: &[(u32, &str)] = &[
    (8, "1(9)2 1(10)1[3,4] 3(11)10 2(12)5 5(13)5 6(14)6[7,8] 7(15)8 6(16@2)14"),
    (8, "1(9)2 1(10)1[3,4] 3(11)10 5(12)6 2(13)2 3(14)4 4(15)4 9(16)13[7,8] 5(17)5[6]"),
    (8, "1(9)2 1(10)1[3,4] 3(11)10 5(12)6 2(13)2 3(14)4 4(15)4 11(16)14 8(17)9 3(18)15 8(19)8[5]"),
    (
        14,
        "1(15)2 1(16)1[3-10] 3(17)16 2(18)11 11(19)14 2(20)18[14] 10(21)10[4-6] 10(22)21[7] 13(23)15 14(24)20",
    ),
    (
        16,
        "1(17)1[2-5] 6(18)7 1(19)17[6-8] 9(20)9[10-11] 18(21)19 10(22)11 10(23)11 10(24@9)22 11(25)23 4(26)5 \
         4(27)4[5,2]",
    ),
    (
        17,
        "1(18)1[2-6] 1(19)18[2-3] 7(20)7[8-12] 8(21)9 7(22)20[8-10] 13(23)13 14(24)14[15,16] 13(25@14)23 14(26)24[17] \
         15(27)16 12(28)22",
    ),
    (
        17,
        "1(18)1[2-6] 1(19)18[2-3] 7(20)7[8-12] 8(21)9 7(22)20[8-10] 13(23)13 14(24)14[15,16] 13(25)17 8(26)8[9,10] \
         22(27)26 2(28)19 17(29)25[23]",
    ),
    (
        22,
        "1(23)1[2-10] 1(24)23[11-14] 11(25)24 2(26)2 2(27)26[3] 15(28)16 15(29)16[17-19] 15(30)17 16(31)20 11(32)11[12] \
         20(33)31[21,22] 29(34)30[28] 17(35)17[18,19] 21(36)22 18(37)19 18(38)19 19(39@35)38 20(40)36 18(41)37[39] \
         4(42)4[5-8] 4(43)42[5] 3(44)3 3(45)27 9(46)9 9(47@10)46 21(48)22 21(49@33)48 40(50)49[22]",
    ),
];

/// Texts of [`GAMES`] whose lists omit a spot, because another spot of its boundary is listed.
const OTHER_LISTS: &[&str] = &["8(19)8[5]"];

fn start(spots: u32) -> NumberedPosition {
    NumberedPosition::from_start(&Position::start(spots).unwrap()).unwrap()
}

fn moves(position: &NumberedPosition) -> Vec<NumberedMove> {
    let mut moves = Vec::new();
    let end = position.each_move(|mv| {
        moves.push(mv);
        ControlFlow::Continue(())
    });
    assert_eq!(end, ControlFlow::Continue(()));
    moves
}

/// Plays the moves of a text.
fn after(spots: u32, game: &str) -> NumberedPosition {
    game.split_whitespace().fold(start(spots), |position, text| {
        let mv =
            position.read(text).unwrap_or_else(|error| panic!("{text} in {position}: {error}"));
        position.play(&mv)
    })
}

/// Returns the canonical bytes of the lands of a position from which the `dead` letters are removed, sorted.
fn canonical(flat: &Flat, dead: [Token; 2]) -> Vec<Vec<u8>> {
    let (mut simplifier, mut canoniser) = (Simplifier::default(), Canoniser::default());
    simplifier.run(flat, dead);
    let mut lands: Vec<_> = simplifier.lands().map(|land| canoniser.run(land).0.to_vec()).collect();
    lands.sort();
    lands
}

fn flat(position: &Position) -> Flat {
    position.lands().first().map(Flat::of_land).unwrap_or_default()
}

/// Returns the positions after all moves according to the search, without the numbers, in which the moves are
/// listed in another way. The position is not simplified first, because that removes some moves.
fn children(position: &Position) -> BTreeSet<Vec<Vec<u8>>> {
    let (mut packer, mut children) = (Packer::default(), BTreeSet::new());
    packer.write(&flat(position));
    let found = |child: &Flat, dead| {
        children.insert(canonical(child, dead));
        Ok(())
    };
    Mover::default().run(&packer.bytes, OptionSubset::All, found).unwrap();
    children
}

#[test]
fn published_games_are_read() {
    for &(spots, game) in GAMES {
        let mut position = start(spots);
        for text in game.split_whitespace() {
            let mv =
                position.read(text).unwrap_or_else(|error| panic!("{text} in {position}: {error}"));
            let after = position.play(&mv);
            // With all spots of the shorter list and without superfluous dashes.
            let written = position.write(&mv);
            assert!(written.len() <= text.len() || OTHER_LISTS.contains(&text), "{text} {written}");
            let again = position.read(&written).map(|mv| position.play(&mv).shape());
            assert_eq!(again, Ok(after.shape()));
            position = after;
        }
    }
}

#[test]
fn moves_from_three_spots() {
    let (game, mut scratch) = (Sprouts::new(u64::MAX), Scratch::default());
    for (moves, numbered, canonical) in [
        ("", "1;2;3", "0*3"),
        ("1(4)1", "2;3;1,4/1,4", "0*2.AB|AB"),
        ("1(4)1[2]", "3;1,4/2;1,4", "0.AB|0.AB"),
        ("1(4)2", "3;1,4,2,4", "0.1a1a"),
        ("1(4)2 4(5)3", "4,2,4,1,4,5,3,5", "11a1a"),
        ("1(4)2 4!(5)3", "4,1,4,2,4,5,3,5", "11a1a"),
        ("1(4)2 1(5)2", "3;1,4,2,5/2,4,1,5", "0.ABCD|ABCD"),
        ("1(4)2 1(5)2 1(6@3)5", "3;1,4,2,5,6/2,4,1,5/5,1,6", "0.2AB|AB"),
        ("1(4)2 1(5)2 1(6)5", "3;1,4,2,5/1,5,6/5,2,4,1,6", "0.AB|2AB"),
    ] {
        let position = after(3, moves);
        assert_eq!(position.to_string(), numbered, "{moves}");
        let atoms = game.atoms(&position.position(), &mut scratch).unwrap();
        assert_eq!(game.text(&atoms), canonical, "{moves}");
    }
}

/// Spots 1 and 3 are drawn in the south and 2 and 4 in the north, 5 and 6 between them in the west and in the east.
/// Without marks, a curve between 5 and 6 has 1 on its right and 3 on its left when it arrives. A walk around the
/// picture with the left hand on it is counterclockwise.
#[test]
fn marks_choose_the_sides_of_piers() {
    let before = "1(5)2 3(6)4";
    for (text, numbered) in [
        ("5(7)6", "5,2,5,1,5,7,6,4,6,3,6,7"),
        ("5!(7)6", "5,1,5,2,5,7,6,4,6,3,6,7"),
        ("5(7)6!", "5,2,5,1,5,7,6,3,6,4,6,7"),
        ("5!(7)6!", "5,1,5,2,5,7,6,3,6,4,6,7"),
    ] {
        let position = after(4, before);
        assert_eq!(position.play(&position.read(text).unwrap()).to_string(), numbered);
    }
}

#[test]
fn listed_spots_are_clockwise_where_nothing_else_determines_their_side() {
    // The boundary of 1 to 4 has no symmetry by reflection.
    let position = after(6, "1(7)2 3(8)4 7(9)8 5(10)6");
    let ring = "7,2,7,1,7,9,8,4,8,3,8,9";
    for (text, surrounding) in
        [("5(11)6[1-4]", "6,10,5,11"), ("6(11)5[1-4]", "5,10,6,11"), ("5(11)6", "5,10,6,11")]
    {
        let numbered = position.play(&position.read(text).unwrap()).to_string();
        let region = format!("{ring};{surrounding}");
        assert!(numbered.split('/').any(|found| found == region), "{text}: {numbered}");
    }
}

#[test]
fn lists_have_the_spots_of_one_side() {
    let position = after(8, "1(9)1[2-5] 2(10)3");
    for (texts, written) in [
        (&["2(11)10[4]", "2(11)10[4,4]", "2!(11)10![4]"][..], "2(11)10[4]"),
        (&["1(11)9[6]", "9(11)1[8,7]", "1(11)9[7-8]"], "1(11)9[6]"),
        (&["1(11)9[2-4]", "1(11)9[2,4]", "1(11)9[10,2-4]", "1(11)9[5]"], "1(11)9[5]"),
    ] {
        for text in texts {
            let mv = position.read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(position.write(&mv), written, "{text}");
        }
    }
}

#[test]
fn texts_that_fit_no_move_or_several_are_errors_with_the_reason() {
    let games = ["", "1(5)1[2]", "1(5)2 2(6)3 2(7)4", "1(5)2 1(6)2[3]"];
    for (game, text, expected) in [
        (0, "", "character 1: expected the number of a spot"),
        (0, "a", "character 1: expected the number of a spot"),
        (0, "1", "character 2: expected '(' and the number"),
        (0, "1!!(5)2", "character 3: expected '('"),
        (0, "1(5@)2", "character 5: expected the number of a spot"),
        (0, "1(5 )2", "character 4: expected ')'"),
        (0, "1(5)", "character 5: expected the number of a spot"),
        (0, "1(99999999999)2", "character 3: expected the number of a spot"),
        (0, "1(5)1[", "character 7: expected the number of a spot"),
        (0, "1(5)1[2", "character 8: expected ',', '-' or ']'"),
        (0, "1(5)1[3-2]", "character 8: the numbers around '-' must be in ascending order"),
        (0, "1(5)1[2-4000000000]", "there is no spot 4000000000"),
        (0, "1(5)1[]", "character 7: expected the number of a spot"),
        (0, "1(5)2 3(6)4", "character 6: the move should end here"),
        (0, "1(5)2\u{e9}", "character 6: the move should end here"),
        (0, "0(5)2", "there is no spot 0: the spots have the numbers 1 to 4"),
        (0, "1(5)5", "there is no spot 5"),
        (0, "1(5@9)2", "there is no spot 9"),
        (0, "1(4)2", "the new spot is 5, not 4"),
        (0, "1(6)2", "the new spot is 5, not 6"),
        (0, "1(5)2[3]", "a curve from 1 to 2 separates no spots"),
        (0, "1(5)1[1]", "no curve from 1 to 1 separates exactly the listed spots"),
        (1, "2(6)3", "spots 2 and 3 lie in no common region"),
        (1, "1(6)1", "spot 1 has one life left, and a curve back to it needs two"),
        (1, "1(6)5[2,3]", "no curve from 1 to 5 separates exactly the listed spots"),
        (1, "2(6@3)1", "the new spot cannot be accessible to spot 3"),
        (1, "1(6)5", "several moves fit: write 1(6@3)5 or 1(6@2)5"),
        (2, "2(8)3", "spot 2 is dead: it has three curve ends"),
        (2, "1(8)3[2]", "spot 2 is dead"),
        (2, "1(8@2)3", "spot 2 is dead"),
        (2, "1(8)3[5]", "no curve from 1 to 3 separates exactly the listed spots"),
        (3, "1(7)2", "no curve from 1 to 2 separates exactly the listed spots"),
        (3, "1(7)2[5]", "several moves fit: write 1(7)2[4,6] or 1(7)2[3,6]"),
    ] {
        let position = after(4, games[game]);
        let error = position.read(text).expect_err(text);
        assert!(error.to_string().starts_with(expected), "{text:?}: {error}");
        assert_eq!(error.kind(), pn_search::ErrorKind::Usage);
    }
}

#[test]
fn positions_with_other_spots_have_no_numbers() {
    for (text, has_numbers) in [
        ("0*4", true),
        ("0.0", true),
        ("!", false),
        ("0+0", false),
        ("0.1a1a", false),
        ("1", false),
    ] {
        assert_eq!(NumberedPosition::from_start(&text.parse().unwrap()).is_some(), has_numbers);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn texts_are_read_back_and_moves_are_those_of_the_search(
        spots in 2_u32..=8,
        choices in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 24),
    ) {
        let mut position = start(spots);
        for (choice, sides) in choices {
            let all = moves(&position);
            let unnumbered = position.position();
            let text = unnumbered.to_string();
            prop_assert_eq!(text.parse().map(|position: Position| position.to_string()), Ok(text));
            let after = all.iter().map(|mv| flat(&position.play(mv).position()));
            let after: BTreeSet<_> = after.map(|flat| canonical(&flat, [0; 2])).collect();
            prop_assert_eq!(&after, &children(&unnumbered), "{}", position);
            if all.is_empty() {
                break;
            }
            for mv in &all {
                // Also with other boundaries on the right of the curve.
                let mut varied = mv.clone();
                if mv.is_enclosing() {
                    let boundaries = 0..position.regions[mv.region].len();
                    varied.right = boundaries.filter(|boundary| sides >> boundary & 1 == 1).collect();
                }
                for mv in [mv, &varied] {
                    let text = position.write(mv);
                    let read = position.read(&text).map(|mv| position.play(&mv).shape());
                    prop_assert_eq!(read, Ok(position.play(mv).shape()), "{} in {}", text, position);
                }
            }
            position = position.play(choice.get(&all));
        }
    }
}
