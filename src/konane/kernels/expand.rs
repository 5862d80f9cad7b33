//! Expansion: all [`Successors`] of a position with their codes and [`Features`].

use super::{Colour, Isa, Jumps, MAX_JUMPS, dispatch, versions};

/// Features of one side of each successor, for the leaf estimates.
#[derive(Clone, Debug)]
pub struct Features {
    /// Number of jumps that the side has, or would have if it were to move.
    pub moves: [u8; MAX_JUMPS],
    /// Number of distinct squares on which these jumps land.
    pub landings: [u8; MAX_JUMPS],
    /// Number of stones of the side that can jump.
    pub movable: [u8; MAX_JUMPS],
    /// Number of stones of the side with an occupied neighbouring square. The stone there always belongs to the
    /// opponent.
    pub contacts: [u8; MAX_JUMPS],
}

/// The successors of a position, as lists of equal length.
#[derive(Clone, Debug)]
pub struct Successors {
    /// Number of successors.
    pub len: usize,
    /// Occupied squares, in the orientation of the parent.
    pub occupied: [u64; MAX_JUMPS],
    /// Least image of the occupied squares under the symmetries of `Symmetries::successor_table`. After a move by
    /// Black, or on a board with two odd sides, this is the canonical code without the bit of the side to move.
    pub least: [u64; MAX_JUMPS],
    /// Features of the side to move after the move.
    pub own: Features,
    /// Features of the side that has moved.
    pub other: Features,
}

impl Default for Features {
    fn default() -> Self {
        let none = [0; MAX_JUMPS];
        Features { moves: none, landings: none, movable: none, contacts: none }
    }
}

impl Default for Successors {
    fn default() -> Self {
        let (occupied, least) = ([0; MAX_JUMPS], [0; MAX_JUMPS]);
        let (own, other) = (Features::default(), Features::default());
        Successors { len: 0, occupied, least, own, other }
    }
}

impl Jumps {
    /// Lists the successors of a jumping-phase position: occupied squares and least images. Does not change the
    /// features. Takes some 3 ns per successor.
    pub fn generate(&self, occupied: u64, mover: Colour, out: &mut Successors) {
        dispatch!(
            self,
            generate_avx512,
            generate_avx2,
            generate_baseline,
            (self, occupied, mover.index(), out)
        );
    }

    /// Computes the features of the listed successors; `mover` has just moved. Takes some 5 ns per successor
    /// with AVX-512.
    pub fn describe(&self, mover: Colour, out: &mut Successors) {
        dispatch!(
            self,
            describe_avx512,
            describe_avx2,
            describe_baseline,
            (self, mover.index(), out)
        );
    }

    #[inline(always)]
    fn generate_lanes<const G: usize, const ROUNDS: usize>(
        &self,
        occupied: u64,
        mover: usize,
        out: &mut Successors,
    ) {
        let images = self.images.images::<G>(occupied);
        let mut len = 0;
        self.for_each_jump::<ROUNDS>(occupied, mover, |class, low| {
            let row = (class * 64 + low as usize) * G;
            let changed = &self.pattern_images[row..row + G];
            let mut least = u64::MAX;
            for lane in 0..G {
                least = least.min(images[lane] ^ changed[lane]);
            }
            let at = len % MAX_JUMPS;
            out.occupied[at] = occupied ^ (self.patterns[class] << low);
            out.least[at] = least;
            len += 1;
        });
        out.len = len;
    }

    #[inline(always)]
    fn features_block<const ROUNDS: usize, const LANES: usize>(
        &self,
        boards: &[u64; LANES],
        side: usize,
        start: usize,
        out: &mut Features,
    ) {
        let [long, short] = &self.axes;
        let mut counts = [[0u64; LANES]; 4];
        for lane in 0..LANES {
            let occupied = boards[lane];
            let (mut moves, mut landings, mut starts) = (0, 0, 0);
            for d in 0..4 {
                let step = self.axes[d & 1].step;
                let targets = self.landings::<ROUNDS>(occupied, side, d);
                moves += targets.count_ones();
                landings |= targets;
                // Two squares back from a landing square is the start of the jump, or, for a jump over several stones,
                // the landing square before it. The latter is empty, so `starts & occupied` excludes it below.
                starts |= if d < 2 { targets >> (2 * step) } else { targets << (2 * step) };
            }
            let neighbours = ((occupied & long.below) << long.step)
                | ((occupied & long.above) >> long.step)
                | ((occupied & short.below) << short.step)
                | ((occupied & short.above) >> short.step);
            let contacts = occupied & neighbours & self.colours[side];
            counts[0][lane] = u64::from(moves);
            counts[1][lane] = u64::from(landings.count_ones());
            counts[2][lane] = u64::from((starts & occupied).count_ones());
            counts[3][lane] = u64::from(contacts.count_ones());
        }
        let block = start..start + LANES;
        let lists = [&mut out.moves, &mut out.landings, &mut out.movable, &mut out.contacts];
        for (list, counts) in lists.into_iter().zip(&counts) {
            let list: &mut [u8; LANES] = (&mut list[block.clone()]).try_into().expect("a block");
            for lane in 0..LANES {
                list[lane] = counts[lane] as u8;
            }
        }
    }
}

macro_rules! generate {
    ($this:ident, $rounds:ident, $lanes:literal, $jumps:ident, $occupied:ident, $mover:ident,
     $out:ident) => {
        // Only square boards with odd sides have eight colour-preserving symmetries. No jump on these boards takes more
        // than three stones, so `ROUNDS` is 0.
        if $jumps.images.stride() == 4 {
            $jumps.generate_lanes::<4, $rounds>($occupied, $mover, $out)
        } else {
            $jumps.generate_lanes::<8, 0>($occupied, $mover, $out)
        }
    };
}

versions!(generate_avx512, generate_avx2, generate_baseline, generate,
    (jumps: &Jumps, occupied: u64, mover: usize, out: &mut Successors) -> ());

macro_rules! describe {
    ($this:ident, $rounds:ident, $lanes:literal, $jumps:ident, $mover:ident, $out:ident) => {
        for start in (0..$out.len).step_by($lanes) {
            let boards = $out.occupied[start..start + $lanes].try_into().expect("a whole block");
            $jumps.features_block::<$rounds, $lanes>(boards, $mover ^ 1, start, &mut $out.own);
            $jumps.features_block::<$rounds, $lanes>(boards, $mover, start, &mut $out.other);
        }
    };
}

versions!(describe_avx512, describe_avx2, describe_baseline, describe,
    (jumps: &Jumps, mover: usize, out: &mut Successors) -> ());
