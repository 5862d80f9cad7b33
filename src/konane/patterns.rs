//! Local patterns: a model of the odds that the side to move wins ([`Patterns`]).
//!
//! The logarithm of the odds is a sum of weights, one for each *local pattern*: the stones in the neighbourhood of a
//! square. Each square has three neighbourhoods: the strips of five squares along both axes, and the block of 3×3
//! squares, each without the squares outside the board. A weight depends on the pattern, on the distances of the square
//! from the borders and on whether the square has the colour of the side to move. Patterns are read away from the
//! nearest borders, so that positions that are images of each other have the same sum.
//!
//! The weights are in `patterns.bin`, which `cargo xtask fit-patterns` writes: numbers of one signed byte, in units of
//! 1/64, first for squares of the side to move, then for the others. In each half, every [class](CLASSES) has the weights
//! of both strips and of the block.
//!
//! A search needs the sum for every new position, so neighbourhoods are combined: [`windows`] covers them by a few
//! rectangles of at most twelve squares, and the sum of all weights in a rectangle is one look-up.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::board::Board;
use super::geometry::{Colour, Dimensions};
use super::kernels::{Isa, WINDOW_SQUARES, Window, WindowSums};

/// Greatest distance from a border that is distinguished.
const MAX_DISTANCE: u32 = 3;
/// Classes of squares: pairs of distances from the nearest border on each axis, without their order.
const CLASSES: usize = 10;
/// Weights of a class: two strips, by whether the distance along the strip is the greater one, and the block.
const CLASS_WEIGHTS: usize = 2 * STRIP + (1 << 9);
const STRIP: usize = 1 << 5;
/// Number of weights for a square of one side.
const SIDE_WEIGHTS: usize = CLASSES * CLASS_WEIGHTS;
/// Number of weights.
pub const WEIGHTS: usize = 2 * SIDE_WEIGHTS;
/// Units of the weights in the natural logarithm of the odds.
pub const UNIT: f64 = 64.0;

/// The weights in use.
static FITTED: &[u8; WEIGHTS] = include_bytes!("patterns.bin");

/// A neighbourhood of a square.
#[derive(Clone, Debug)]
pub struct Neighbourhood {
    /// The square.
    pub square: u32,
    /// The squares of the neighbourhood that are on the board.
    pub squares: u64,
    /// Index of the weight for each set of occupied squares (the lowest square at bit 0) if `square` has the colour of
    /// the side to move. [`SIDE_WEIGHTS`] is added for the other colour.
    weights: Vec<u16>,
}

impl Neighbourhood {
    /// Index of the weight for the stones on the board.
    #[cfg(feature = "testing")]
    pub fn weight(&self, board: &Board, occupied: u64, to_move: Colour) -> usize {
        let other = usize::from(board.colour_of(self.square) != to_move);
        other * SIDE_WEIGHTS + usize::from(self.weights[extract(occupied, self.squares)])
    }
}

/// The bits of `set` at the places of the bits of `mask`, next to each other.
fn extract(set: u64, mut mask: u64) -> usize {
    let (mut found, mut bit) = (0, 1);
    while mask != 0 {
        if set & mask & mask.wrapping_neg() != 0 {
            found |= bit;
        }
        bit <<= 1;
        mask &= mask - 1;
    }
    found
}

/// The sets of occupied squares within `mask`, in the order of [`extract`].
fn subsets(mask: u64) -> impl Iterator<Item = u64> {
    let mut next = Some(0u64);
    std::iter::from_fn(move || {
        let set = next?;
        let following = set.wrapping_sub(mask) & mask;
        next = (following != 0).then_some(following);
        Some(set)
    })
}

/// A coordinate of a square on one axis.
struct Place {
    at: i32,
    length: i32,
    /// Distance from the nearest border, at most [`MAX_DISTANCE`].
    distance: u32,
    /// Directions in which a pattern may be read: away from the nearest border, and both in the middle.
    signs: &'static [i32],
}

impl Place {
    fn new(at: u32, length: u32) -> Self {
        let back = length - 1 - at;
        let signs: &[i32] = match at.cmp(&back) {
            std::cmp::Ordering::Less => &[1],
            std::cmp::Ordering::Equal => &[1, -1],
            std::cmp::Ordering::Greater => &[-1],
        };
        let distance = at.min(back).min(MAX_DISTANCE);
        Place { at: at as i32, length: length as i32, distance, signs }
    }

    /// The coordinate `by` squares away, if it is on the board.
    fn step(&self, by: i32) -> Option<u32> {
        (0..self.length).contains(&(self.at + by)).then_some((self.at + by) as u32)
    }
}

/// A reading of a neighbourhood: the square at each bit of the pattern, if it is on the board.
type Reading = Vec<Option<u32>>;

/// Returns the neighbourhoods of all squares.
pub fn neighbourhoods(dimensions: Dimensions) -> Vec<Neighbourhood> {
    let (ranks, files) = (dimensions.ranks(), dimensions.files());
    let mut found = Vec::new();
    for square in 0..ranks * files {
        let places = [Place::new(square / files, ranks), Place::new(square % files, files)];
        let at = |by: [i32; 2]| Some(places[0].step(by[0])? * files + places[1].step(by[1])?);
        let [low, high] = {
            let [a, b] = [places[0].distance, places[1].distance];
            [a.min(b), a.max(b)]
        };
        let class = (high * (high + 1) / 2 + low) as usize * CLASS_WEIGHTS;
        for axis in 0..2 {
            let reading = |&sign: &i32| -> Reading {
                (-2..=2)
                    .map(|k| at(if axis == 0 { [sign * k, 0] } else { [0, sign * k] }))
                    .collect()
            };
            let readings: Vec<Reading> = places[axis].signs.iter().map(reading).collect();
            let kind = usize::from(places[axis].distance > places[1 - axis].distance);
            found.push(neighbourhood(square, class + kind * STRIP, &readings));
        }
        // The first coordinate of a block is along the axis of the smaller distance, or along either.
        let orders: &[[usize; 2]] = match places[0].distance.cmp(&places[1].distance) {
            std::cmp::Ordering::Less => &[[0, 1]],
            std::cmp::Ordering::Equal => &[[0, 1], [1, 0]],
            std::cmp::Ordering::Greater => &[[1, 0]],
        };
        let mut readings = Vec::new();
        for order in orders {
            for &first in places[order[0]].signs {
                for &second in places[order[1]].signs {
                    let cells = (-1..=1).flat_map(|x| (-1..=1).map(move |y| [x, y]));
                    let mut by = [0, 0];
                    readings.push(Reading::from_iter(cells.map(|[x, y]| {
                        by[order[0]] = first * x;
                        by[order[1]] = second * y;
                        at(by)
                    })));
                }
            }
        }
        found.push(neighbourhood(square, class + 2 * STRIP, &readings));
    }
    found
}

/// The weight of a pattern has the least index of all readings.
fn neighbourhood(square: u32, first: usize, readings: &[Reading]) -> Neighbourhood {
    let squares = readings[0].iter().flatten().fold(0, |set, square| set | 1u64 << square);
    let weight = |occupied: u64| {
        let pattern = |reading: &Reading| {
            let is_occupied = |at: &Option<u32>| at.is_some_and(|at| occupied >> at & 1 == 1);
            (0..).zip(reading).map(|(bit, at)| usize::from(is_occupied(at)) << bit).sum::<usize>()
        };
        first + readings.iter().map(pattern).min().expect("a reading")
    };
    let weights = subsets(squares).map(|occupied| weight(occupied) as u16).collect();
    Neighbourhood { square, squares, weights }
}

/// Returns windows that contain all neighbourhoods, each with the indices of the neighbourhoods that are counted there.
/// The next window is always the one that contains most neighbourhoods that are not counted yet, without the ranks and
/// files that these do not need.
fn windows(dimensions: Dimensions, list: &[Neighbourhood]) -> Vec<(Window, Vec<usize>)> {
    let (board_ranks, board_files) = (dimensions.ranks(), dimensions.files());
    let rectangle = |rank: u32, file: u32, ranks: u32, files: u32| {
        let line = (u64::MAX >> (64 - files)) << file;
        let squares = (rank..rank + ranks).fold(0, |set, rank| set | line << (rank * board_files));
        Window { squares, ranks, files }
    };
    let mut candidates = Vec::new();
    for ranks in 1..=board_ranks.min(WINDOW_SQUARES) {
        let files = board_files.min(WINDOW_SQUARES / ranks);
        for rank in 0..=board_ranks - ranks {
            candidates
                .extend((0..=board_files - files).map(|file| rectangle(rank, file, ranks, files)));
        }
    }
    let mut left: Vec<usize> = (0..list.len()).collect();
    let mut found = Vec::new();
    while !left.is_empty() {
        let contained = |window: &Window, &at: &usize| list[at].squares & !window.squares == 0;
        let count = |window: &&Window| left.iter().filter(|at| contained(window, at)).count();
        let best = candidates.iter().max_by_key(count).expect("a window");
        let (inside, outside): (Vec<usize>, Vec<usize>) =
            left.iter().partition(|at| contained(best, at));
        let needed = inside.iter().fold(0, |set, &at| set | list[at].squares);
        let used = |from: u32, to: u32, is_used: &dyn Fn(u32) -> bool| {
            let first = (from..to).find(|&at| is_used(at)).expect("a square");
            let last = (from..to).rev().find(|&at| is_used(at)).expect("a square");
            (first, last + 1 - first)
        };
        let (rank, ranks) =
            used(0, board_ranks, &|at| needed & rectangle(at, 0, 1, board_files).squares != 0);
        let (file, files) =
            used(0, board_files, &|at| needed & rectangle(0, at, board_ranks, 1).squares != 0);
        left = outside;
        found.push((rectangle(rank, file, ranks, files), inside));
    }
    found
}

/// The model for one board: the sum of the weights of all neighbourhoods.
#[derive(Clone, Debug)]
pub struct Patterns(WindowSums);

impl Patterns {
    /// The model with the fitted weights. Takes a millisecond or two, and some 400 KiB on 8×8. The models of the last
    /// boards are kept, for programs that solve many small positions.
    pub fn of(board: &Board) -> Arc<Self> {
        static RECENT: Mutex<VecDeque<(Dimensions, u64, Arc<Patterns>)>> =
            Mutex::new(VecDeque::new());
        const KEPT: usize = 8;
        let (dimensions, black) = (board.dimensions(), board.squares_of(Colour::Black));
        let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., model)) = recent.iter().find(|(d, b, _)| (*d, *b) == (dimensions, black)) {
            return Arc::clone(model);
        }
        let model = Arc::new(Self::with_isa(board, Isa::detect()));
        recent.truncate(KEPT - 1);
        recent.push_front((dimensions, black, Arc::clone(&model)));
        model
    }

    /// Creates the model for a given instruction set.
    ///
    /// # Panics
    /// If the processor does not support the instruction set.
    pub fn with_isa(board: &Board, isa: Isa) -> Self {
        let list = neighbourhoods(board.dimensions());
        let (windows, counted): (Vec<Window>, Vec<Vec<usize>>) =
            windows(board.dimensions(), &list).into_iter().unzip();
        let values = |at: usize| {
            let window = &windows[at];
            let mut sums = [(); 2].map(|()| vec![0; 1 << window.squares.count_ones()]);
            for &neighbourhood in &counted[at] {
                add(&mut sums, window, &list[neighbourhood], board);
            }
            sums
        };
        Patterns(WindowSums::new(isa, board.dimensions().files(), &windows, values))
    }

    /// Logarithm of the odds that the side to move wins, in units of 1/64.
    #[inline]
    pub fn sum(&self, occupied: u64, to_move: Colour) -> i32 {
        self.0.sum(to_move.index(), occupied)
    }
}

/// Adds the weights of a neighbourhood to the values of a window, for each side to move.
fn add(sums: &mut [Vec<i16>; 2], window: &Window, part: &Neighbourhood, board: &Board) {
    // The index in the neighbourhood is put together from the parts of two halves of the window, so that not every bit
    // of every index has to be moved.
    let places = extract(part.squares, window.squares) as u64;
    let half = WINDOW_SQUARES / 2;
    let low_mask = (1u64 << half) - 1;
    let shift = (places & low_mask).count_ones();
    let low: Vec<usize> = (0..=low_mask).map(|set| extract(set, places & low_mask)).collect();
    let high: Vec<usize> =
        (0..=low_mask).map(|set| extract(set, places >> half) << shift).collect();
    let own = board.colour_of(part.square).index();
    for (side, sums) in sums.iter_mut().enumerate() {
        let weights = &FITTED[usize::from(side != own) * SIDE_WEIGHTS..][..SIDE_WEIGHTS];
        for (index, sum) in sums.iter_mut().enumerate() {
            let pattern = low[index & low_mask as usize] | high[index >> half];
            *sum += i16::from(weights[usize::from(part.weights[pattern])].cast_signed());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::konane::Rules;
    use crate::konane::symmetry::permute;

    fn boards() -> impl Strategy<Value = Board> {
        let sizes =
            ["1x1", "1x12", "2x9", "3x3", "4x7", "6x6", "7x5", "8x8", "1x64", "32x2", "5x12"];
        let rules = [Rules::Standard, Rules::OtherColouring];
        let boards = (prop::sample::select(sizes.to_vec()), prop::sample::select(rules.to_vec()));
        boards.prop_map(|(size, rules)| Board::with_rules(size.parse().expect("a board"), rules))
    }

    /// The pattern of a square read from the board, without masks: the reference implementation.
    fn plain_sum(board: &Board, occupied: u64, to_move: Colour) -> i32 {
        let (ranks, files) = (board.dimensions().ranks() as i32, board.dimensions().files() as i32);
        let at = |rank: i32, file: i32| {
            let on_board = (0..ranks).contains(&rank) && (0..files).contains(&file);
            usize::from(on_board && occupied >> (rank * files + file) & 1 == 1)
        };
        let mut sum = 0;
        for square in 0..ranks * files {
            let (rank, file) = (square / files, square % files);
            let (from_rank, from_file) = (rank.min(ranks - 1 - rank), file.min(files - 1 - file));
            let (a, b) = (from_rank.min(3), from_file.min(3));
            let class = (a.max(b) * (a.max(b) + 1) / 2 + a.min(b)) as usize * 576;
            let other = usize::from(board.colour_of(square as u32) != to_move);
            let signs = |from: i32, back: i32| match from.cmp(&back) {
                std::cmp::Ordering::Less => vec![1],
                std::cmp::Ordering::Greater => vec![-1],
                std::cmp::Ordering::Equal => vec![1, -1],
            };
            let (down, right) = (signs(rank, ranks - 1 - rank), signs(file, files - 1 - file));
            let strip = |cells: &dyn Fn(i32) -> usize, signs: &[i32]| {
                let read = |sign: &i32| (0..5).map(|k| cells(sign * (k - 2)) << k).sum::<usize>();
                signs.iter().map(read).min().expect("a reading")
            };
            let vertical = strip(&|k| at(rank + k, file), &down) + 32 * usize::from(a > b);
            let horizontal = strip(&|k| at(rank, file + k), &right) + 32 * usize::from(b > a);
            let mut block = usize::MAX;
            for &x in &down {
                for &y in &right {
                    let cells = |by_rank: bool| {
                        (0..9)
                            .map(|k| {
                                let (first, second) = (k / 3 - 1, k % 3 - 1);
                                let (r, f) =
                                    if by_rank { (first, second) } else { (second, first) };
                                at(rank + x * r, file + y * f) << k
                            })
                            .sum::<usize>()
                    };
                    if a <= b {
                        block = block.min(cells(true));
                    }
                    if b <= a {
                        block = block.min(cells(false));
                    }
                }
            }
            for pattern in [vertical, horizontal, 64 + block] {
                sum += i32::from(FITTED[other * 5760 + class + pattern].cast_signed());
            }
        }
        sum
    }

    proptest! {
        #[test]
        fn sums_agree_with_plain_reading(board in boards(), stones: [u64; 4], white: bool) {
            let to_move = if white { Colour::White } else { Colour::Black };
            for isa in [Isa::Baseline, Isa::Avx2] {
                if isa as usize > Isa::detect() as usize {
                    continue;
                }
                let patterns = Patterns::with_isa(&board, isa);
                for stones in stones {
                    let occupied = stones & board.all();
                    let expected = plain_sum(&board, occupied, to_move);
                    prop_assert_eq!(patterns.sum(occupied, to_move), expected, "{:?}", isa);
                }
            }
        }

        /// Positions with the same code have the same sum.
        #[test]
        fn symmetric_positions_have_the_same_sum(board in boards(), stones: u64, white: bool) {
            let to_move = if white { Colour::White } else { Colour::Black };
            let patterns = Patterns::of(&board);
            let occupied = stones & board.all();
            let symmetries = board.symmetries();
            for (family, mover) in
                [(symmetries.preserving(), to_move), (symmetries.exchanging(), !to_move)]
            {
                for permutation in family {
                    let image = permute(permutation, occupied);
                    prop_assert_eq!(patterns.sum(image, mover), patterns.sum(occupied, to_move));
                }
            }
        }
    }
}
