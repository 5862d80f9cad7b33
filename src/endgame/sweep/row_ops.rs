//! The inner loops of the sweep: one jump for a whole row of positions at once.
//!
//! A *row* has one bit for each white pattern, pattern `p` at bit `p % 64` of word `p / 64`. All
//! positions of a row share their black pattern, so a jump that is possible for the black pattern
//! relates each bit of a row to one bit of another row: the pattern with some bits flipped, among
//! the patterns that contain certain bits and lack others. Flipped bits above the sixth exchange
//! words; those below move bits within the words, all by the same distance.
//!
//! The loops are plain code over eight words, compiled for three instruction sets like the kernels
//! of the move generator.

#![allow(unsafe_code)]

use crate::konane::kernels::Isa;

/// Words that are handled together; rows are multiples of it.
pub const GROUP: usize = 8;

/// The words of a row over `white` squares: a bit for each pattern, at least one group.
pub fn row_words(white: u32) -> usize {
    ((1usize << white) / 64).max(GROUP)
}

/// The bits of a row's first word that stand for a pattern: all, from six squares on.
fn valid_bits(white: u32) -> u64 {
    if white >= 6 { u64::MAX } else { (1 << (1 << white)) - 1 }
}

/// A relation between the bits of two rows: target bit `p` belongs to source bit `p ^ flip`, for
/// the patterns `p` that contain `need` and have nothing of `forbid`. All flipped bits are in
/// `need` or `forbid`.
#[derive(Clone, Copy, Debug)]
pub struct RowJump {
    /// By lane of a group: the bits that take part.
    masks: [u64; GROUP],
    /// Distance from a source bit to its target bit within a word, to the left, modulo 64.
    rotation: u32,
    lane_flip: u32,
    group_flip: u32,
    group_need: u32,
    /// The bits of the group's number that are fixed.
    group_fixed: u32,
}

impl RowJump {
    /// Prepares a relation for rows over `white` squares.
    ///
    /// # Panics
    /// If a flipped bit is neither needed nor forbidden.
    pub fn new(white: u32, need: u32, forbid: u32, flip: u32) -> Self {
        assert_eq!(flip & !(need | forbid), 0, "a flipped bit has to be fixed");
        assert_eq!(need & forbid, 0, "no pattern has and lacks a bit");
        let low = |p: u32| p & 63;
        let mut word = 0u64;
        for p in 0..64 {
            if p & low(need) == low(need) && p & low(forbid) == 0 {
                word |= 1 << p;
            }
        }
        word &= valid_bits(white);
        let words = (1usize << white).div_ceil(64);
        let lane = |p: u32| p >> 6 & 7;
        let masks = std::array::from_fn(|l| {
            let fits = l as u32 & lane(need) == lane(need) && l as u32 & lane(forbid) == 0;
            if fits && l < words { word } else { 0 }
        });
        RowJump {
            masks,
            rotation: low(flip & need).wrapping_sub(low(flip & forbid)) & 63,
            lane_flip: lane(flip),
            group_flip: flip >> 9,
            group_need: need >> 9,
            group_fixed: (need | forbid) >> 9,
        }
    }
}

/// The relation applied to all groups of two rows of `target.len()` words.
macro_rules! apply_body {
    ($lane_flip:ident, $invert:ident, $target:ident, $source:ident, $jump:ident) => {{
        let (target, _) = $target.as_chunks_mut::<GROUP>();
        let (source, _) = $source.as_chunks::<GROUP>();
        assert_eq!(target.len(), source.len());
        let fixed = $jump.group_fixed as usize;
        let flip = $jump.group_flip as usize;
        // Numbers below the lowest fixed bit are free: runs of neighbouring groups.
        let run = if fixed == 0 { target.len() } else { 1 << fixed.trailing_zeros() };
        let mut start = $jump.group_need as usize;
        loop {
            let from = start ^ flip;
            let targets = &mut target[start..start + run];
            let sources = &source[from..from + run];
            for at in 0..run {
                let mut lanes = [0u64; GROUP];
                for l in 0..GROUP {
                    let word = sources[at][l ^ $lane_flip].rotate_left($jump.rotation);
                    lanes[l] = if $invert { !word } else { word };
                }
                for l in 0..GROUP {
                    targets[at][l] |= lanes[l] & $jump.masks[l];
                }
            }
            // With the fixed bits set, the carry passes over them to the next free one.
            let next = (start | fixed) + run;
            if next >= target.len() {
                break;
            }
            start = next & !fixed | $jump.group_need as usize;
        }
    }};
}

/// Words that are permuted together.
const BLOCK: usize = 64;

/// Two bits of a bit's number exchanged, for all bits of a word: the bits under `mask` and those
/// `distance` above them change places.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    mask: u64,
    distance: u32,
}

/// A permutation of the squares, as it acts on rows.
#[derive(Clone, Debug)]
pub struct RowPermutation {
    /// Exchanges within words that together permute the lower six bits.
    exchanges: Vec<Exchange>,
    /// The source word of a target word is `upper[word / 64] | lower[word % 64]`.
    lower: [u32; BLOCK],
    upper: Vec<u32>,
    /// Where each square goes, if words do not stay whole.
    scattered: Option<Vec<u8>>,
}

impl RowPermutation {
    /// From the number to which each white square goes.
    pub fn new(moved: &[u8]) -> Self {
        let white = moved.len();
        let whole = white >= 6 && moved[..6].iter().all(|&to| to < 6);
        let mut exchanges = Vec::new();
        // Selection sort of the lower six bits into their places.
        let mut at: Vec<u8> = moved.iter().copied().take(6).collect();
        for place in 0..at.len().min(if whole { 6 } else { 0 }) {
            let from = at.iter().position(|&to| usize::from(to) == place).expect("a permutation");
            if from != place {
                let (low, high) = (place.min(from), place.max(from));
                let mask = (0..64u64)
                    .filter(|p| p >> low & 1 == 1 && p >> high & 1 == 0)
                    .fold(0, |mask, p| mask | 1 << p);
                exchanges.push(Exchange { mask, distance: (1 << high) - (1 << low) });
                at.swap(place, from);
            }
        }
        let source = |word: usize| -> u32 {
            (6..white)
                .filter(|&n| word >> (moved[n] - 6) & 1 == 1)
                .fold(0, |from, n| from | 1 << (n - 6))
        };
        let words = if white > 6 { 1 << (white - 6) } else { 1 };
        let (lower, upper) = if whole {
            let lower = std::array::from_fn(|w| if w < words { source(w) } else { w as u32 });
            (lower, (0..words.div_ceil(BLOCK)).map(|w| source(w * BLOCK)).collect())
        } else {
            ([0; BLOCK], Vec::new())
        };
        RowPermutation {
            exchanges,
            lower,
            upper,
            scattered: (!whole).then(|| moved.to_vec()),
        }
    }

    fn permute_scattered(&self, target: &mut [u64], source: &[u64]) {
        let moved = self.scattered.as_deref().expect("only where words do not stay whole");
        target.fill(0);
        for p in 0..1usize << moved.len() {
            if source[p / 64] >> (p % 64) & 1 == 1 {
                let image = (0..moved.len())
                    .filter(|n| p >> n & 1 == 1)
                    .fold(0usize, |image, n| image | 1 << moved[n]);
                target[image / 64] |= 1 << (image % 64);
            }
        }
    }
}

macro_rules! permute_version {
    ($name:ident $(, $feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        fn $name(permutation: &RowPermutation, target: &mut [u64], source: &[u64]) {
            assert_eq!(target.len(), source.len());
            let size = BLOCK.min(target.len());
            for (block, &upper) in target.chunks_exact_mut(size).zip(&permutation.upper) {
                let mut words = [0u64; BLOCK];
                for at in 0..size {
                    words[at] = source[(upper | permutation.lower[at]) as usize];
                }
                for &Exchange { mask, distance } in &permutation.exchanges {
                    for word in &mut words {
                        let moving = (*word ^ (*word >> distance)) & mask;
                        *word ^= moving ^ (moving << distance);
                    }
                }
                block.copy_from_slice(&words[..size]);
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
permute_version!(permute_avx512, "avx2,avx512f,avx512bw,avx512dq,avx512vl");
#[cfg(target_arch = "x86_64")]
permute_version!(permute_avx2, "avx2");
permute_version!(permute_baseline);

/// Compiles a kernel for one instruction set and all lane flips.
macro_rules! apply_version {
    ($name:ident $(, $feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        fn $name<const INVERT: bool>(target: &mut [u64], source: &[u64], jump: &RowJump) {
            $(#[target_feature(enable = $feature)])?
            fn flipped<const FLIP: usize, const INVERT: bool>(
                target: &mut [u64],
                source: &[u64],
                jump: &RowJump,
            ) {
                apply_body!(FLIP, INVERT, target, source, jump)
            }
            match jump.lane_flip {
                0 => flipped::<0, INVERT>(target, source, jump),
                1 => flipped::<1, INVERT>(target, source, jump),
                2 => flipped::<2, INVERT>(target, source, jump),
                3 => flipped::<3, INVERT>(target, source, jump),
                4 => flipped::<4, INVERT>(target, source, jump),
                5 => flipped::<5, INVERT>(target, source, jump),
                6 => flipped::<6, INVERT>(target, source, jump),
                _ => flipped::<7, INVERT>(target, source, jump),
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
apply_version!(apply_avx512, "avx2,avx512f,avx512bw,avx512dq,avx512vl");
#[cfg(target_arch = "x86_64")]
apply_version!(apply_avx2, "avx2");
apply_version!(apply_baseline);

/// The kernels for one instruction set.
#[derive(Clone, Copy, Debug)]
pub struct RowOps {
    isa: Isa,
}

impl RowOps {
    /// The widest instruction set that the processor has.
    pub fn detect() -> Self {
        RowOps { isa: Isa::detect() }
    }

    /// A narrower one: for tests.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_isa(isa: Isa) -> Self {
        assert!(isa as usize <= Isa::detect() as usize, "this processor has no {isa:?}");
        RowOps { isa }
    }

    /// `target[p] |= source[p ^ flip]` for the patterns that take part in the relation; with
    /// `INVERT`, `target[p] |= !source[p ^ flip]`.
    ///
    /// # Panics
    /// If the rows have not the length for which the relation was made.
    pub fn apply<const INVERT: bool>(self, jump: &RowJump, target: &mut [u64], source: &[u64]) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has the instruction set, see the constructors.
            Isa::Avx512 => unsafe { apply_avx512::<INVERT>(target, source, jump) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx2 => unsafe { apply_avx2::<INVERT>(target, source, jump) },
            _ => apply_baseline::<INVERT>(target, source, jump),
        }
    }

    /// Writes the image of a row: `target[g(p)] = source[p]` for every pattern `p`.
    ///
    /// # Panics
    /// If the rows have not the length for which the permutation was made.
    pub fn permute(self, permutation: &RowPermutation, target: &mut [u64], source: &[u64]) {
        if permutation.scattered.is_some() {
            return permutation.permute_scattered(target, source);
        }
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx512 => unsafe { permute_avx512(permutation, target, source) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx2 => unsafe { permute_avx2(permutation, target, source) },
            _ => permute_baseline(permutation, target, source),
        }
    }
}
