//! The hot loops: expansion with codes and mobilities, and perft.
//!
//! Each is written once, as plain safe code over fixed-size lanes, and compiled three times: for
//! any processor, for AVX2 with POPCNT and BMI, and for AVX-512 with vector population counts. The
//! processor decides at run time ([`Isa::detect`]), so that one binary runs everywhere.

#![allow(unsafe_code)]

use super::board::{Board, Colour};
use super::symmetry::ImageTable;

/// The most jumps that a position can have, rounded up: four directions, at most 32 landing
/// squares each.
pub const MAX_JUMPS: usize = 128;

const LANES: usize = 8;

/// The instruction sets for which the kernels are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// What every processor of the target has.
    Baseline,
    /// x86-64 with AVX2, BMI1, BMI2, LZCNT and POPCNT.
    Avx2,
    /// AVX2's set and AVX-512 F, BW, DQ, VL and VPOPCNTDQ.
    Avx512,
}

impl Isa {
    /// The widest set that this processor has.
    pub fn detect() -> Isa {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vpopcntdq");
            if avx512 {
                return Isa::Avx512;
            }
            if avx2 {
                return Isa::Avx2;
            }
        }
        Isa::Baseline
    }
}

/// A board's masks in the form in which the kernels want them.
#[derive(Clone, Debug)]
pub struct Jumps {
    isa: Isa,
    shifts: [u32; 2],
    landings: [[u64; 4]; 2],
    /// Whether no jump takes more than three stones, so that loops can be unrolled.
    short: bool,
    /// Squares that a jump taking `i + 1` stones changes, the lowest of them at bit 0, by axis.
    patterns: [Box<[u64]>; 2],
    /// Images of these squares under the successors' symmetries, by axis, length and lowest square.
    pattern_images: Box<[u64]>,
    lanes: usize,
    longest: usize,
}

/// The successors of a position, as lists of equal length.
#[derive(Clone, Debug)]
pub struct Successors {
    /// How many there are.
    pub len: usize,
    /// Occupied squares, in the orientation of the parent.
    pub occupied: [u64; MAX_JUMPS],
    /// Least image under the successors' symmetries: the canonical code but for the side to move.
    pub least: [u64; MAX_JUMPS],
    /// Moves of the side to move after the move.
    pub own: [u8; MAX_JUMPS],
    /// Moves that the side that has just moved would have.
    pub other: [u8; MAX_JUMPS],
}

impl Default for Successors {
    fn default() -> Self {
        Successors {
            len: 0,
            occupied: [0; MAX_JUMPS],
            least: [0; MAX_JUMPS],
            own: [0; MAX_JUMPS],
            other: [0; MAX_JUMPS],
        }
    }
}

/// Budget and memory
#[derive(Debug)]
pub struct Settling {
    /// positions left
    pub left: u32,
    slots: Box<[(u64, u64)]>,
}

const SLOTS: usize = 1 << 15;

impl Default for Settling {
    fn default() -> Self {
        Settling { left: 0, slots: vec![(0, 0); SLOTS].into() }
    }
}

impl Settling {
    #[inline(always)]
    fn slot(occupied: u64, mover: Colour) -> usize {
        ((occupied ^ mover as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - 15)) as usize
    }
    #[inline(always)]
    fn known(&self, slot: usize, occupied: u64, mover: Colour) -> Option<bool> {
        let (key, meta) = self.slots[slot];
        (key == occupied && meta >> 1 == mover as u64 + 1).then_some(meta & 1 == 1)
    }
    #[inline(always)]
    fn learn(&mut self, slot: usize, occupied: u64, mover: Colour, won: bool) {
        self.slots[slot] = (occupied, (mover as u64 + 1) << 1 | u64::from(won));
    }
}

impl Jumps {
    /// Derives the tables from a board.
    pub fn new(board: &Board) -> Self {
        Self::with_isa(board, Isa::detect())
    }

    /// The same for a narrower instruction set than the processor's: for tests.
    ///
    /// # Panics
    /// If the processor does not have the set.
    pub fn with_isa(board: &Board, isa: Isa) -> Self {
        assert!(
            isa as usize <= Isa::detect() as usize,
            "this processor has no {isa:?}"
        );
        let longest = board.longest_jump().max(1) as usize;
        let patterns = board.shifts.map(|step| {
            let pattern = |taken: usize| {
                let taken = taken as u32;
                let bit = |at: u32| 1u64.checked_shl(at * step).unwrap_or(0);
                let stones: u64 = (0..taken).fold(0, |set, i| set | bit(2 * i + 1));
                stones | bit(0) | bit(2 * taken)
            };
            (1..=longest).map(pattern).collect::<Box<[u64]>>()
        });
        let table = board.symmetries().successor_table();
        let lanes = table.stride();
        let mut pattern_images = Vec::with_capacity(2 * longest * 64 * lanes);
        for axis in &patterns {
            for &pattern in axis {
                for low in 0..64 {
                    let set = (pattern << low) & board.all();
                    if lanes == 4 {
                        pattern_images.extend(table.images::<4>(set));
                    } else {
                        pattern_images.extend(table.images::<8>(set));
                    }
                }
            }
        }
        Jumps {
            isa,
            shifts: board.shifts,
            landings: board.landings,
            short: longest <= 3,
            patterns,
            pattern_images: pattern_images.into(),
            lanes,
            longest,
        }
    }

    /// The instruction set in use.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Fills in all successors of a jumping-phase position.
    ///
    /// Some 5 ns per successor with AVX-512.
    #[inline]
    pub fn expand(&self, board: &Board, occupied: u64, mover: Colour, out: &mut Successors) {
        macro_rules! dispatch {
            ($($isa:pat => $four:ident, $eight:ident;)*) => {
                let table = board.symmetries().successor_table();
                match (self.isa, self.lanes) {
                    // SAFETY: `isa` is one that the processor has (see `with_isa`).
                    $(($isa, 4) => unsafe { $four(self, table, occupied, mover, out) }
                    // SAFETY: as above.
                    ($isa, _) => unsafe { $eight(self, table, occupied, mover, out) })*
                }
            };
        }
        #[cfg(target_arch = "x86_64")]
        dispatch! {
            Isa::Avx512 => expand4_avx512, expand8_avx512;
            Isa::Avx2 => expand4_avx2, expand8_avx2;
            Isa::Baseline => expand4_baseline, expand8_baseline;
        }
        #[cfg(not(target_arch = "x86_64"))]
        dispatch! { _ => expand4_baseline, expand8_baseline; }
    }

    /// The number of jump sequences of exactly `depth` plies (1 or more). No table.
    pub fn perft(&self, occupied: u64, mover: Colour, depth: u32) -> u64 {
        let mut stack = vec![0; MAX_JUMPS * depth.max(1) as usize];
        #[cfg(target_arch = "x86_64")]
        match (self.isa, self.short) {
            // SAFETY: `isa` is one that the processor has (see `with_isa`).
            (Isa::Avx512, true) => {
                return unsafe { perft_short_avx512(self, occupied, mover, depth, &mut stack) };
            }
            // SAFETY: as above.
            (Isa::Avx2, true) => {
                return unsafe { perft_short_avx2(self, occupied, mover, depth, &mut stack) };
            }
            _ => {}
        }
        if self.short {
            perft_short_baseline(self, occupied, mover, depth, &mut stack)
        } else {
            perft_long_baseline(self, occupied, mover, depth, &mut stack)
        }
    }

    /// Plain negamax over at most `budget` positions, which are counted down: whether the mover
    /// wins, or `None` if the budget did not suffice. Fewest replies first.
    pub fn settle(&self, occupied: u64, mover: Colour, limit: &mut Settling) -> Option<bool> {
        #[cfg(target_arch = "x86_64")]
        match (self.isa, self.short) {
            // SAFETY: `isa` is one that the processor has (see `with_isa`).
            (Isa::Avx512, true) => return unsafe { settle_avx512(self, occupied, mover, limit) },
            // SAFETY: as above.
            (Isa::Avx2, true) => return unsafe { settle_avx2(self, occupied, mover, limit) },
            _ => {}
        }
        if self.short {
            settle_baseline(self, occupied, mover, limit)
        } else {
            settle_long(self, occupied, mover, limit)
        }
    }

    /// Landing squares of all lengths in direction `d`, where `SHORT` allows at most three jumps.
    #[inline(always)]
    fn landings<const SHORT: bool>(&self, occupied: u64, mover: usize, d: usize) -> u64 {
        let step = self.shifts[d & 1];
        let target = self.landings[mover][d];
        let shift = |set: u64, by: u32| if d < 2 { set << by } else { set >> by };
        let passable = shift(occupied, step) & !occupied & target;
        let first = shift(occupied, 2 * step) & passable;
        if SHORT {
            let second = shift(first, 2 * step) & passable;
            let third = shift(second, 2 * step) & passable;
            first | second | third
        } else {
            let (mut all, mut last) = (first, first);
            while last != 0 {
                last = shift(last, 2 * step) & passable;
                all |= last;
            }
            all
        }
    }

    #[inline(always)]
    fn count<const SHORT: bool>(&self, occupied: u64, mover: usize) -> u32 {
        (0..4)
            .map(|d| self.landings::<SHORT>(occupied, mover, d).count_ones())
            .sum()
    }

    /// Counts the moves on `LANES` boards at once. Loops, not closures: what the compiler does not
    /// inline would be compiled for the baseline.
    #[inline(always)]
    fn count_block<const SHORT: bool>(
        &self,
        boards: &[u64],
        start: usize,
        mover: usize,
        counts: &mut [u8],
    ) {
        let boards: &[u64; LANES] = boards[start..start + LANES].try_into().expect("whole block");
        let mut block = [0u64; LANES];
        for lane in 0..LANES {
            block[lane] = u64::from(self.count::<SHORT>(boards[lane], mover));
        }
        for lane in 0..LANES {
            counts[start + lane] = block[lane] as u8;
        }
    }

    /// Calls `visit(axis, taken - 1, lowest changed square)` for every jump.
    #[inline(always)]
    fn for_each_jump(&self, occupied: u64, mover: usize, mut visit: impl FnMut(usize, usize, u32)) {
        for d in 0..4 {
            let step = self.shifts[d & 1];
            let target = self.landings[mover][d];
            let shift = |set: u64, by: u32| if d < 2 { set << by } else { set >> by };
            let passable = shift(occupied, step) & !occupied & target;
            let mut landings = shift(occupied, 2 * step) & passable;
            let mut length = 0;
            while landings != 0 {
                let back = if d < 2 {
                    2 * step * (length as u32 + 1)
                } else {
                    0
                };
                let mut rest = landings >> back;
                while rest != 0 {
                    visit(d & 1, length, rest.trailing_zeros());
                    rest &= rest - 1;
                }
                landings = shift(landings, 2 * step) & passable;
                length += 1;
            }
        }
    }
}

#[inline(always)]
fn expand_kernel<const G: usize, const SHORT: bool>(
    jumps: &Jumps,
    table: &ImageTable,
    occupied: u64,
    mover: Colour,
    out: &mut Successors,
) {
    let images = table.images::<G>(occupied);
    let mut len = 0;
    let longest = jumps.longest;
    jumps.for_each_jump(occupied, mover.index(), |axis, length, low| {
        let row = ((axis * longest + length) * 64 + low as usize) * G;
        let changed = &jumps.pattern_images[row..row + G];
        let mut least = u64::MAX;
        for (image, change) in images.iter().zip(changed) {
            least = least.min(image ^ change);
        }
        let at = len % MAX_JUMPS;
        out.occupied[at] = occupied ^ (jumps.patterns[axis][length] << low);
        out.least[at] = least;
        len += 1;
    });
    out.len = len;
    let (own, other) = ((!mover).index(), mover.index());
    for start in (0..len).step_by(LANES) {
        jumps.count_block::<SHORT>(&out.occupied, start, own, &mut out.own);
        jumps.count_block::<SHORT>(&out.occupied, start, other, &mut out.other);
    }
}

#[inline(always)]
fn expand_any<const G: usize>(
    jumps: &Jumps,
    table: &ImageTable,
    occupied: u64,
    mover: Colour,
    out: &mut Successors,
) {
    if jumps.short {
        expand_kernel::<G, true>(jumps, table, occupied, mover, out);
    } else {
        expand_kernel::<G, false>(jumps, table, occupied, mover, out);
    }
}

/// One level of perft: the successors go to the front of `stack`, whose rest the deeper levels
/// use. The last level is counted in blocks without being generated.
macro_rules! perft_body {
    ($name:ident, $short:literal, $jumps:ident, $occupied:ident, $mover:ident, $depth:ident,
     $stack:ident) => {{
        if $depth == 1 {
            return u64::from($jumps.count::<$short>($occupied, $mover.index()));
        }
        let (list, rest) = $stack.split_at_mut(MAX_JUMPS);
        let mut len = 0;
        $jumps.for_each_jump($occupied, $mover.index(), |axis, length, low| {
            list[len % MAX_JUMPS] = $occupied ^ ($jumps.patterns[axis][length] << low);
            len += 1;
        });
        let next = !$mover;
        if $depth == 2 {
            // The lanes after the last successor hold a board without stones, which has no moves.
            let padded = len.next_multiple_of(LANES);
            list[len..padded].fill(0);
            let mut sums = [0u64; LANES];
            for block in list[..padded].chunks_exact(LANES) {
                for lane in 0..LANES {
                    sums[lane] += u64::from($jumps.count::<$short>(block[lane], next.index()));
                }
            }
            return sums.iter().sum();
        }
        let mut nodes = 0;
        for &occupied in &list[..len] {
            nodes += $name($jumps, occupied, next, $depth - 1, rest);
        }
        nodes
    }};
}

const SETTLE_MOVES: usize = 16;

macro_rules! settle_body {
    ($name:ident, $short:literal, $jumps:ident, $occupied:ident, $mover:ident, $budget:ident) => {{
        if $budget.left == 0 {
            return None;
        }
        $budget.left -= 1;
        let slot = Settling::slot($occupied, $mover);
        if let Some(value) = $budget.known(slot, $occupied, $mover) {
            return Some(value);
        }
        let mut list = [0u64; SETTLE_MOVES];
        let mut len = 0;
        $jumps.for_each_jump($occupied, $mover.index(), |axis, length, low| {
            list[len % SETTLE_MOVES] = $occupied ^ ($jumps.patterns[axis][length] << low);
            len += 1;
        });
        if len > SETTLE_MOVES {
            return None;
        }
        let next = !$mover;
        let mut replies = [0u8; SETTLE_MOVES];
        for start in (0..len).step_by(LANES) {
            $jumps.count_block::<$short>(&list, start, next.index(), &mut replies);
        }
        if len == 0 {
            return Some(false);
        }
        if replies[..len].contains(&0) {
            $budget.learn(slot, $occupied, $mover, true);
            return Some(true);
        }
        let mut order = [0u16; SETTLE_MOVES];
        for i in 0..len {
            order[i] = u16::from(replies[i]) << 8 | i as u16;
        }
        order[..len].sort_unstable();
        for &entry in &order[..len] {
            match $name($jumps, list[usize::from(entry & 0xff)], next, $budget) {
                Some(false) => {
                    $budget.learn(slot, $occupied, $mover, true);
                    return Some(true);
                }
                Some(true) => {}
                None => return None,
            }
        }
        $budget.learn(slot, $occupied, $mover, false);
        Some(false)
    }};
}

macro_rules! kernels {
    ($($(#[$attr:meta])* $expand4:ident $expand8:ident $perft:ident $settle:ident $short:literal;)*) => {
        $(
            $(#[$attr])*
            fn $expand4(j: &Jumps, t: &ImageTable, o: u64, m: Colour, out: &mut Successors) {
                expand_any::<4>(j, t, o, m, out);
            }

            $(#[$attr])*
            fn $expand8(j: &Jumps, t: &ImageTable, o: u64, m: Colour, out: &mut Successors) {
                expand_any::<8>(j, t, o, m, out);
            }

            $(#[$attr])*
            fn $perft(j: &Jumps, occ: u64, mover: Colour, depth: u32, stack: &mut [u64]) -> u64 {
                perft_body!($perft, $short, j, occ, mover, depth, stack)
            }

            $(#[$attr])*
            fn $settle(j: &Jumps, occ: u64, mover: Colour, limit: &mut Settling) -> Option<bool> {
                settle_body!($settle, $short, j, occ, mover, limit)
            }
        )*
    };
}

#[cfg(target_arch = "x86_64")]
kernels! {
    #[target_feature(enable =
        "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
    expand4_avx512 expand8_avx512 perft_short_avx512 settle_avx512 true;
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    expand4_avx2 expand8_avx2 perft_short_avx2 settle_avx2 true;
}

kernels! {
    expand4_baseline expand8_baseline perft_short_baseline settle_baseline true;
}

fn perft_long_baseline(j: &Jumps, occ: u64, mover: Colour, depth: u32, stack: &mut [u64]) -> u64 {
    perft_body!(perft_long_baseline, false, j, occ, mover, depth, stack)
}

fn settle_long(j: &Jumps, occ: u64, mover: Colour, limit: &mut Settling) -> Option<bool> {
    settle_body!(settle_long, false, j, occ, mover, limit)
}
