//! Symmetries and canonical codes, compared with maps of coordinates.

use std::collections::{BTreeSet, HashMap};

use konane::internals::symmetry::permute;
use konane::internals::zobrist::Zobrist;
use konane::{Board, Colour, Dimensions, Phase, Position, Symmetry};
use proptest::prelude::*;

use crate::positions::{all_dimensions, board, cases, dimensions, recipe};

/// A map of the board onto itself, as the images of all squares.
type Map = Vec<u8>;

fn map_of(d: Dimensions, image: impl Fn(u32, u32) -> (u32, u32)) -> Map {
    let images = (0..d.squares()).map(|square| {
        let (row, file) = image(square / d.files(), square % d.files());
        (row * d.files() + file) as u8
    });
    images.collect()
}

fn horizontal_flip(d: Dimensions) -> Map {
    map_of(d, |row, file| (row, d.files() - 1 - file))
}

fn vertical_flip(d: Dimensions) -> Map {
    map_of(d, |row, file| (d.ranks() - 1 - row, file))
}

fn half_turn(d: Dimensions) -> Map {
    map_of(d, |row, file| (d.ranks() - 1 - row, d.files() - 1 - file))
}

/// The reflections of a square board in its diagonals.
fn diagonals(d: Dimensions) -> [Map; 2] {
    let last = d.files() - 1;
    [map_of(d, |row, file| (file, row)), map_of(d, |row, file| (last - file, last - row))]
}

/// The turns by 90 and 270 degrees of a square board.
fn quarter_turns(d: Dimensions) -> [Map; 2] {
    let last = d.files() - 1;
    [map_of(d, |row, file| (file, last - row)), map_of(d, |row, file| (last - file, row))]
}

/// The colour-preserving symmetries listed in the thesis, section 3.4.
fn thesis_list(d: Dimensions) -> BTreeSet<Map> {
    let mut maps = BTreeSet::from([map_of(d, |row, file| (row, file))]);
    if d.files() % 2 == 1 {
        maps.insert(horizontal_flip(d));
    }
    if d.ranks() % 2 == 1 {
        maps.insert(vertical_flip(d));
    }
    if (d.ranks() + d.files()).is_multiple_of(2) {
        maps.insert(half_turn(d));
    }
    if d.ranks() == d.files() {
        maps.extend(diagonals(d));
        if d.ranks() % 2 == 1 {
            maps.extend(quarter_turns(d));
        }
    }
    maps
}

/// Every map of the rectangle onto itself.
fn all_maps(d: Dimensions) -> BTreeSet<Map> {
    let mut maps = BTreeSet::from([map_of(d, |row, file| (row, file))]);
    maps.extend([horizontal_flip(d), vertical_flip(d), half_turn(d)]);
    if d.ranks() == d.files() {
        maps.extend(diagonals(d));
        maps.extend(quarter_turns(d));
    }
    maps
}

fn set_of(permutations: &[Box<[u8]>]) -> BTreeSet<Map> {
    permutations.iter().map(|p| p.to_vec()).collect()
}

/// A board with the given symmetries, or with all if it has 64 squares.
fn board_with(dimensions: Dimensions, symmetry: Symmetry) -> Board {
    let board = Board::new(dimensions).with_symmetry(symmetry);
    board.unwrap_or_else(|_| Board::new(dimensions))
}

/// The images of a position under all maps that preserve its meaning and are among the symmetries of the board.
fn equivalents(board: &Board, position: &Position) -> Vec<Position> {
    let identity: Map = (0..board.dimensions().squares() as u8).collect();
    let maps = all_maps(board.dimensions())
        .into_iter()
        .filter(|map| board.symmetry() != Symmetry::None || *map == identity);
    let images = maps.filter_map(|map| {
        let mut occupied = 0;
        for (square, &image) in map.iter().enumerate() {
            if position.occupied() >> square & 1 == 1 {
                occupied += 1u64 << image;
            }
        }
        // On 1x1 every map is the identity. On other boards, the image of the top-left square determines the
        // kind of map.
        let keeps_colours = board.colour_of(map[0].into()) == Colour::Black;
        match (keeps_colours, position.phase(board)) {
            (true, _) => Some(Position::new_unchecked(board, occupied, position.to_move())),
            (false, Phase::Jumping) if board.symmetry() == Symmetry::All => {
                Some(Position::new_unchecked(board, occupied, !position.to_move()))
            }
            (false, _) => None,
        }
    });
    images.collect()
}

#[test]
fn the_group_is_the_list_of_the_thesis() {
    for d in all_dimensions() {
        let board = Board::new(d);
        let symmetries = board.symmetries();
        let identity: Map = (0..d.squares() as u8).collect();
        assert_eq!(symmetries.preserving()[0].to_vec(), identity, "{d}");
        let preserving = set_of(symmetries.preserving());
        assert_eq!(preserving, thesis_list(d), "{d}");
        assert_eq!(preserving.len(), symmetries.preserving().len(), "{d}");
        let exchanging = set_of(symmetries.exchanging());
        assert_eq!(exchanging.len(), symmetries.exchanging().len(), "{d}");
        let rest: BTreeSet<Map> = all_maps(d).difference(&preserving).cloned().collect();
        assert_eq!(exchanging, rest, "{d}");
        assert_eq!(exchanging.is_empty(), !d.has_even_side(), "{d}");
        if d.squares() < 64 {
            let colours = board_with(d, Symmetry::Colours);
            assert_eq!(set_of(colours.symmetries().preserving()), preserving, "{d}");
            assert!(colours.symmetries().exchanging().is_empty(), "{d}");
            let none = board_with(d, Symmetry::None);
            assert_eq!(none.symmetries().preserving().len(), 1, "{d}");
        } else {
            assert!(board.clone().with_symmetry(Symmetry::Colours).is_err(), "{d}");
        }
        let black = board.squares_of(Colour::Black);
        for map in symmetries.preserving() {
            assert_eq!(permute(map, black), black, "{d}");
        }
        for map in symmetries.exchanging() {
            assert_eq!(permute(map, black), board.squares_of(Colour::White), "{d}");
        }
    }
}

fn symmetry() -> impl Strategy<Value = Symmetry> {
    prop::sample::select(&Symmetry::ALL[..])
}

proptest! {
    #![proptest_config(cases(5000))]

    #[test]
    fn codes_and_keys_are_invariant(
        dimensions in dimensions(), symmetry in symmetry(), recipe in recipe(),
    ) {
        let board = board_with(dimensions, symmetry);
        let position = recipe.position(&board);
        let symmetries = board.symmetries();
        let zobrist = Zobrist::new(&board);
        let code = position.code(&board);
        let orbit = equivalents(&board, &position);
        for image in &orbit {
            prop_assert_eq!(image.code(&board), code);
            prop_assert_eq!(zobrist.key(image.code(&board)), zobrist.key(code));
            // Equivalent positions have the same number of moves.
            prop_assert_eq!(image.count_moves(&board), position.count_moves(&board));
        }
        let decoded = Position::from_code(&board, code);
        prop_assert!(orbit.contains(&decoded), "{:?} became {:?}", position, decoded);
        prop_assert_eq!(decoded.code(&board), code);
        let preserving = symmetries.preserving().iter();
        let least = preserving.map(|map| permute(map, position.occupied())).min();
        prop_assert_eq!(Some(symmetries.least_preserving(position.occupied())), least);
    }

    #[test]
    fn equal_codes_mean_equivalent_positions(
        dimensions in dimensions(), symmetry in symmetry(), one in recipe(), two in recipe(),
    ) {
        let board = board_with(dimensions, symmetry);
        let (one, two) = (one.position(&board), two.position(&board));
        let equivalent = equivalents(&board, &one).contains(&two);
        prop_assert_eq!(one.code(&board) == two.code(&board), equivalent);
    }
}

/// Every position of small boards: equivalent positions (an orbit) have one code, and two orbits never share a code.
#[test]
fn codes_are_exact() {
    for text in
        ["1x1", "1x2", "2x1", "1x5", "1x6", "2x2", "2x3", "3x2", "3x3", "3x4", "4x3", "2x6", "4x4"]
    {
        for symmetry in Symmetry::ALL {
            let board = board(text).with_symmetry(symmetry).expect("fewer than 64 squares");
            let mut code_of_orbit: HashMap<(u64, Colour), u64> = HashMap::new();
            let mut orbit_of_code: HashMap<u64, (u64, Colour)> = HashMap::new();
            for occupied in 0..=board.all() {
                for side in [Colour::Black, Colour::White] {
                    let position = Position::new_unchecked(&board, occupied, side);
                    if Position::from_setup(&board, position.to_setup(&board)).is_err() {
                        continue;
                    }
                    let orbit = equivalents(&board, &position)
                        .into_iter()
                        .map(|p| (p.occupied(), p.to_move()))
                        .min()
                        .expect("the identity is a symmetry");
                    let code = position.code(&board);
                    assert_eq!(*code_of_orbit.entry(orbit).or_insert(code), code, "{text}");
                    assert_eq!(*orbit_of_code.entry(code).or_insert(orbit), orbit, "{text}");
                }
            }
            assert_eq!(code_of_orbit.len(), orbit_of_code.len(), "{text}");
            let zobrist = Zobrist::new(&board);
            let keys: BTreeSet<u64> = orbit_of_code.keys().map(|&c| zobrist.key(c)).collect();
            assert_eq!(keys.len(), orbit_of_code.len(), "{text}: keys of small boards differ");
        }
    }
}
