//! The hot loops (*kernels*): expansion of a position with the codes and features of its successors, exact search of
//! nearly finished games, perft.
//!
//! Each kernel is written once, as plain safe code that processes several boards in a loop, one in each *lane* of a
//! vector register. It is compiled three times: for any processor, for AVX2 with POPCNT and BMI, and for AVX-512 with
//! vector population counts. The version is selected at run time ([`Isa::detect`]), so that one binary runs on every
//! processor.
//!
//! A kernel uses loops and forced inlining instead of iterator chains, because a function that the
//! compiler does not inline is compiled for the baseline instruction set.
//!
//! * [`Jumps`]: the tables of a board, with the kernels as methods.
//! * [`Successors`], [`Features`]: result of an expansion.
//! * [`LeafSolverMemory`]: budget and results of the leaf solver.
//! * [`WindowSums`]: look-up of the stones in small rectangles, for the leaf estimate.

#![allow(unsafe_code)]

mod expand;
mod leaf_solver;
mod perft;
mod windows;

#[cfg(feature = "testing")]
pub use expand::Features;
pub use expand::Successors;
pub use leaf_solver::LeafSolverMemory;
pub use windows::{WINDOW_SQUARES, Window, WindowSums};

use super::board::Board;
use super::geometry::{Colour, Direction};
use super::symmetry::ImageTable;
pub use crate::system::Isa;

/// Upper bound of the number of jumps of a position: four directions, with at most 32 landing squares each.
pub const MAX_JUMPS: usize = 128;

/// Step and edges of one of the two axes.
#[derive(Clone, Debug)]
struct Axis {
    /// Distance between neighbours, 0 on an axis that is too short for a jump.
    step: u32,
    /// Squares that a shift by `step` towards lower numbers does not move around an edge.
    above: u64,
    /// Squares that a shift by `step` towards higher numbers does not move around an edge.
    below: u64,
}

/// The masks of a board in the layout of the kernels.
///
/// Axis 0 is the longer one, so only this axis can have jumps over more than three stones. Directions 0 and 2 are
/// those of axis 0, directions 1 and 3 those of axis 1. Directions 0 and 1 go towards higher square numbers.
#[derive(Clone, Debug)]
pub struct Jumps {
    isa: Isa,
    /// Number of doubling rounds for the jumps of axis 0: 0 if no jump takes more than three stones, otherwise 3, 4
    /// or 5 for jumps over at most 8, 16 or 32 stones.
    rounds: usize,
    axes: [Axis; 2],
    colours: [u64; 2],
    /// Squares of a colour on which a jump can land, by colour and direction.
    landings: [[u64; 4]; 2],
    /// The symmetries for the codes of successors (`Symmetries::successor_table`).
    images: ImageTable,
    /// `patterns[class]` has the squares that a jump changes, shifted so that the lowest one is at bit 0. The class of
    /// a jump is its axis times `classes`, plus the number of stones taken, minus one.
    patterns: Box<[u64]>,
    /// Number of classes of each axis: the maximum number of stones that a jump takes, but at least three.
    classes: usize,
    /// Images under `images` of the squares that a jump changes, by class and lowest changed square.
    pattern_images: Box<[u64]>,
}

impl Jumps {
    /// Creates the tables of a board.
    pub fn new(board: &Board) -> Self {
        Self::with_isa(board, Isa::detect())
    }

    /// [`Jumps::new`] with a given instruction set, for tests.
    ///
    /// # Panics
    /// If the processor does not support the instruction set.
    pub fn with_isa(board: &Board, isa: Isa) -> Self {
        assert!(isa as usize <= Isa::detect() as usize, "this processor has no {isa:?}");
        use Direction::{East, North, South, West};
        let dimensions = board.dimensions();
        let order = if dimensions.ranks() > dimensions.files() {
            [South, East, North, West]
        } else {
            [East, South, West, North]
        };
        let longest = board.longest_jump();
        let classes = longest.max(3) as usize;
        let axis = |up: Direction| {
            let (above, below) = board.with_neighbours(up);
            Axis { step: board.step(up), above, below }
        };
        let axes = [axis(order[0]), axis(order[1])];
        let pattern = |class: usize| {
            let (step, taken) = (axes[class / classes].step, class as u32 % classes as u32 + 1);
            let bit = |at: u32| 1u64.checked_shl(at * step).unwrap_or(0);
            let stones = (0..taken).fold(0, |set, i| set | bit(2 * i + 1));
            stones | bit(0) | bit(2 * taken)
        };
        let patterns: Box<[u64]> = (0..2 * classes).map(pattern).collect();
        let images = board.symmetries().successor_table().clone();
        let mut pattern_images = Vec::with_capacity(patterns.len() * 64 * images.stride());
        for &pattern in &patterns {
            for low in 0..64 {
                let set = (pattern << low) & board.all();
                if images.stride() == 4 {
                    pattern_images.extend(images.images::<4>(set));
                } else {
                    pattern_images.extend(images.images::<8>(set));
                }
            }
        }
        let rounds = match longest {
            0..=3 => 0,
            4..=8 => 3,
            9..=16 => 4,
            _ => 5,
        };
        Jumps {
            isa,
            rounds,
            axes,
            colours: [board.squares_of(Colour::Black), board.squares_of(Colour::White)],
            landings: board.landings.map(|masks| order.map(|d| masks[d as usize])),
            images,
            patterns,
            classes,
            pattern_images: pattern_images.into(),
        }
    }

    /// The instruction set in use.
    #[cfg(feature = "testing")]
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Landing squares of the jumps of all lengths in direction `d`.
    ///
    /// If no jump takes more than three stones, the landing squares are computed stone by stone. Otherwise they are
    /// computed by doubling: after `i` rounds, the set has the landing squares of jumps over up to 2^i stones. The
    /// shifts stay below 64: where axis 0 has more than eight squares, axis 1 has at most seven, so the step of axis 0
    /// is at most seven.
    #[inline(always)]
    fn landings<const ROUNDS: usize>(&self, occupied: u64, mover: usize, d: usize) -> u64 {
        let step = self.axes[d & 1].step;
        let target = self.landings[mover][d];
        let shift = |set: u64, by: u32| if d < 2 { set << by } else { set >> by };
        let passable = shift(occupied, step) & !occupied & target;
        let first = shift(occupied, 2 * step) & passable;
        if ROUNDS == 0 || d & 1 == 1 {
            let second = shift(first, 2 * step) & passable;
            let third = shift(second, 2 * step) & passable;
            first | second | third
        } else {
            let (mut all, mut passable, mut by) = (first, passable, 2 * step);
            for _ in 0..ROUNDS {
                all |= shift(all, by) & passable;
                passable &= shift(passable, by);
                by *= 2;
            }
            all
        }
    }

    #[inline(always)]
    fn count<const ROUNDS: usize>(&self, occupied: u64, mover: usize) -> u32 {
        self.landings::<ROUNDS>(occupied, mover, 0).count_ones()
            + self.landings::<ROUNDS>(occupied, mover, 1).count_ones()
            + self.landings::<ROUNDS>(occupied, mover, 2).count_ones()
            + self.landings::<ROUNDS>(occupied, mover, 3).count_ones()
    }

    /// Calls `visit(class, lowest changed square)` for every jump. The class is an index into the
    /// pattern tables.
    #[inline(always)]
    fn for_each_jump<const ROUNDS: usize>(
        &self,
        occupied: u64,
        mover: usize,
        visit: impl FnMut(usize, u32),
    ) {
        if ROUNDS == 0 {
            self.for_each_short_jump(occupied, mover, visit);
        } else {
            self.for_each_long_jump(occupied, mover, visit);
        }
    }

    /// Returns six sets with the lowest squares of jumps: over one, two and three stones on axis 0, then the same on
    /// axis 1. Also returns true if these are all jumps, that is, if no jump takes more than three stones.
    ///
    /// Both directions of an axis share a set: of the jumps there and back between two squares, at most one is
    /// possible, because it starts on an occupied square and ends on an empty one.
    #[inline(always)]
    fn short_jumps<const ROUNDS: usize>(&self, occupied: u64, mover: usize) -> ([u64; 6], bool) {
        let (mut sets, mut longer) = ([0; 6], 0);
        for axis in 0..2 {
            let step = self.axes[axis].step;
            let hop = 2 * step;
            let passable = (occupied << step) & !occupied & self.landings[mover][axis];
            let first = (occupied << hop) & passable;
            let second = (first << hop) & passable;
            let third = (second << hop) & passable;
            // On an axis that is too short for jumps over two or three stones, `second` or `third` is empty, so the
            // shifts may wrap around.
            let up = [first >> hop, second.wrapping_shr(2 * hop), third.wrapping_shr(3 * hop)];
            if ROUNDS != 0 && axis == 0 {
                longer |= (third << hop) & passable;
            }
            let passable = (occupied >> step) & !occupied & self.landings[mover][axis + 2];
            let first = (occupied >> hop) & passable;
            let second = (first >> hop) & passable;
            let third = (second >> hop) & passable;
            let down = [first, second, third];
            if ROUNDS != 0 && axis == 0 {
                longer |= (third >> hop) & passable;
            }
            for length in 0..3 {
                sets[3 * axis + length] = up[length] | down[length];
            }
        }
        (sets, ROUNDS == 0 || longer == 0)
    }

    /// [`Jumps::for_each_jump`] on boards where no jump takes more than three stones.
    ///
    /// One loop visits the squares of all sets, and its only branch is the loop condition. With a loop for each set,
    /// several branches per position would be mispredicted.
    #[inline(always)]
    fn for_each_short_jump(&self, occupied: u64, mover: usize, mut visit: impl FnMut(usize, u32)) {
        let (sets, _) = self.short_jumps::<0>(occupied, mover);
        let mut queue = [0u64; 8];
        let mut classes = [0u8; 8];
        let (mut filled, mut jumps) = (0, 0);
        for (class, set) in (0..).zip(sets) {
            queue[filled] = set;
            classes[filled] = class;
            filled += usize::from(set != 0);
            jumps += set.count_ones();
        }
        let (mut at, mut set) = (0, queue[0]);
        for _ in 0..jumps {
            visit(usize::from(classes[at % 8]), set.trailing_zeros());
            set &= set.wrapping_sub(1);
            let next = u64::from(set == 0);
            at += next as usize;
            set |= queue[at % 8] & next.wrapping_neg();
        }
    }

    #[inline(always)]
    fn for_each_long_jump(&self, occupied: u64, mover: usize, mut visit: impl FnMut(usize, u32)) {
        for d in 0..4 {
            let step = self.axes[d & 1].step;
            let target = self.landings[mover][d];
            let shift = |set: u64, by: u32| if d < 2 { set << by } else { set >> by };
            let passable = shift(occupied, step) & !occupied & target;
            let mut landings = shift(occupied, 2 * step) & passable;
            let mut length = 0;
            while landings != 0 {
                let back = if d < 2 { 2 * step * (length as u32 + 1) } else { 0 };
                let mut rest = landings >> back;
                while rest != 0 {
                    visit((d & 1) * self.classes + length, rest.trailing_zeros());
                    rest &= rest - 1;
                }
                landings = shift(landings, 2 * step) & passable;
                length += 1;
            }
        }
    }

    /// Writes the occupied squares after every jump to `list` and returns the number of jumps. `N`, the length of the
    /// list, must be a power of two. If there are more than `N` jumps, later ones overwrite the first ones.
    #[inline(always)]
    fn list_successors<const ROUNDS: usize, const N: usize>(
        &self,
        occupied: u64,
        mover: usize,
        list: &mut [u64; N],
    ) -> usize {
        let mut len = 0;
        self.for_each_jump::<ROUNDS>(occupied, mover, |class, low| {
            list[len % N] = occupied ^ (self.patterns[class] << low);
            len += 1;
        });
        len
    }
}

/// Calls the version of a kernel for the processor's instruction set and the board's number of rounds, such as
/// `$avx512::<3>($args)`.
macro_rules! dispatch {
    ($jumps:expr, $avx512:ident, $avx2:ident, $baseline:ident, ($($arg:expr),*)) => {{
        macro_rules! by_rounds {
            ($kernel:ident) => {
                match $jumps.rounds {
                    0 => $kernel::<0>($($arg),*),
                    3 => $kernel::<3>($($arg),*),
                    4 => $kernel::<4>($($arg),*),
                    _ => $kernel::<5>($($arg),*),
                }
            };
        }
        match $jumps.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor supports `isa` (see `with_isa`).
            Isa::Avx512 => unsafe { by_rounds!($avx512) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx2 => unsafe { by_rounds!($avx2) },
            _ => by_rounds!($baseline),
        }
    }};
}

/// Defines a kernel for the three instruction sets from one body. `$body` is a macro. It receives the name of the
/// version (for recursive calls), `ROUNDS`, the number of lanes, that is, how many boards are processed together, and
/// the arguments of the kernel. More lanes than a register holds would be wasted work if there are few boards.
macro_rules! versions {
    ($avx512:ident, $avx2:ident, $baseline:ident, $body:ident,
     ($($arg:ident: $ty:ty),*) -> $ret:ty) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable =
            "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
        fn $avx512<const ROUNDS: usize>($($arg: $ty),*) -> $ret {
            $body!($avx512, ROUNDS, 8, $($arg),*)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn $avx2<const ROUNDS: usize>($($arg: $ty),*) -> $ret {
            $body!($avx2, ROUNDS, 4, $($arg),*)
        }

        fn $baseline<const ROUNDS: usize>($($arg: $ty),*) -> $ret {
            $body!($baseline, ROUNDS, 4, $($arg),*)
        }
    };
}

use {dispatch, versions};
