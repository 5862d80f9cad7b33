//! The inner loops of the sweep: one jump for a whole row of positions at once.
//!
//! A *row* has one bit for each white pattern, pattern `p` at bit `p % 64` of word `p / 64`. All
//! positions of a row share their black pattern, so a jump that is possible for the black pattern
//! relates each bit of a row to one bit of another row: the pattern with some bits flipped, among
//! the patterns that contain certain bits and lack others. Flipped bits above the sixth exchange
//! words; those below move bits within the words, all by the same distance.
//!
//! A row of numbers is as many *planes* of such bits. Those of a group of eight words stand one behind
//! the other, the lowest bits first, and then those of the next group. What planes mean says
//! [`remoteness`](crate::endgame::values::remoteness).
//!
//! The loops are plain code over eight words, compiled for three instruction sets like the kernels
//! of the move generator.

#![allow(unsafe_code)]

use crate::endgame::values::remoteness::greater;
use crate::system::Isa;

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

/// Walks the groups that take part in a relation, runs of neighbours together:
/// `$run(targets, sources)` gets slices of equal length.
macro_rules! for_each_run {
    ($jump:ident, $target:expr, $source:expr, $run:expr) => {{
        let (target, source) = ($target, $source);
        assert_eq!(target.len(), source.len());
        let fixed = $jump.group_fixed as usize;
        let flip = $jump.group_flip as usize;
        // The bits below the lowest fixed one are free.
        let run = if fixed == 0 { target.len() } else { 1 << fixed.trailing_zeros() };
        let mut start = $jump.group_need as usize;
        loop {
            let from = start ^ flip;
            $run(&mut target[start..start + run], &source[from..from + run]);
            // With the fixed bits set, the carry passes over them to the next free one.
            let next = (start | fixed) + run;
            if next >= target.len() {
                break;
            }
            start = next & !fixed | $jump.group_need as usize;
        }
    }};
}

fn apply_baseline<const INVERT: bool>(jump: &RowJump, target: &mut [u64], source: &[u64]) {
    let flip = jump.lane_flip as usize;
    let invert = if INVERT { u64::MAX } else { 0 };
    for_each_run!(
        jump,
        target.as_chunks_mut::<GROUP>().0,
        source.as_chunks::<GROUP>().0,
        |targets: &mut [[u64; GROUP]], sources: &[[u64; GROUP]]| {
            for (target, source) in targets.iter_mut().zip(sources) {
                for l in 0..GROUP {
                    let word = source[(l ^ flip) % GROUP].rotate_left(jump.rotation);
                    target[l] |= (word ^ invert) & jump.masks[l];
                }
            }
        }
    );
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn apply_avx2<const INVERT: bool>(jump: &RowJump, target: &mut [u64], source: &[u64]) {
    use std::arch::x86_64::*;
    let load = |words: &[u64; 4]| {
        // SAFETY: the array has 32 bytes; the load needs no alignment.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    };
    // A half of a group has four words; its order is that of eight 32-bit lanes in pairs.
    let flip = 2 * (jump.lane_flip & 3) as i32;
    let order =
        _mm256_xor_si256(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(flip));
    let other_half = jump.lane_flip as usize >> 2;
    let left = _mm_cvtsi32_si128(jump.rotation as i32);
    let right = _mm_cvtsi32_si128(64 - jump.rotation as i32);
    let (halves, _) = jump.masks.as_chunks::<4>();
    let masks = [load(&halves[0]), load(&halves[1])];
    for_each_run!(
        jump,
        target.as_chunks_mut::<GROUP>().0,
        source.as_chunks::<GROUP>().0,
        |targets: &mut [[u64; GROUP]], sources: &[[u64; GROUP]]| {
            for (target, source) in targets.iter_mut().zip(sources) {
                let (target, _) = target.as_chunks_mut::<4>();
                let (source, _) = source.as_chunks::<4>();
                for half in 0..2 {
                    let words =
                        _mm256_permutevar8x32_epi32(load(&source[half ^ other_half]), order);
                    let words = _mm256_or_si256(
                        _mm256_sll_epi64(words, left),
                        _mm256_srl_epi64(words, right),
                    );
                    let bits = if INVERT {
                        _mm256_andnot_si256(words, masks[half])
                    } else {
                        _mm256_and_si256(words, masks[half])
                    };
                    let sum = _mm256_or_si256(load(&target[half]), bits);
                    // SAFETY: as for the loads.
                    unsafe { _mm256_storeu_si256(target[half].as_mut_ptr().cast(), sum) };
                }
            }
        }
    );
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn apply_avx512<const INVERT: bool>(jump: &RowJump, target: &mut [u64], source: &[u64]) {
    use std::arch::x86_64::*;
    let load = |words: &[u64; GROUP]| {
        // SAFETY: the array has 64 bytes; the load needs no alignment.
        unsafe { _mm512_loadu_epi64(words.as_ptr().cast()) }
    };
    let order = _mm512_xor_epi64(
        _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
        _mm512_set1_epi64(i64::from(jump.lane_flip)),
    );
    let rotation = _mm512_set1_epi64(i64::from(jump.rotation));
    let masks = load(&jump.masks);
    for_each_run!(
        jump,
        target.as_chunks_mut::<GROUP>().0,
        source.as_chunks::<GROUP>().0,
        |targets: &mut [[u64; GROUP]], sources: &[[u64; GROUP]]| {
            for (target, source) in targets.iter_mut().zip(sources) {
                let words = _mm512_permutexvar_epi64(order, load(source));
                let words = _mm512_rolv_epi64(words, rotation);
                let sum = if INVERT {
                    // target | (!words & masks)
                    _mm512_ternarylogic_epi64::<0xF2>(load(target), words, masks)
                } else {
                    // target | (words & masks)
                    _mm512_ternarylogic_epi64::<0xF8>(load(target), words, masks)
                };
                // SAFETY: as for the loads.
                unsafe { _mm512_storeu_epi64(target.as_mut_ptr().cast(), sum) };
            }
        }
    );
}

/// The planes of a group, one behind the other.
type Planes<const P: usize> = [[u64; GROUP]; P];

fn greatest_baseline<const P: usize>(jump: &RowJump, target: &mut [u64], source: &[u64]) {
    let flip = jump.lane_flip as usize;
    for_each_run!(
        jump,
        target.as_chunks_mut::<GROUP>().0.as_chunks_mut::<P>().0,
        source.as_chunks::<GROUP>().0.as_chunks::<P>().0,
        |targets: &mut [Planes<P>], sources: &[Planes<P>]| {
            for (target, source) in targets.iter_mut().zip(sources) {
                for (l, mask) in jump.masks.iter().enumerate() {
                    let from = (l ^ flip) % GROUP;
                    let moves: [u64; P] =
                        std::array::from_fn(|k| source[k][from].rotate_left(jump.rotation));
                    let here: [u64; P] = std::array::from_fn(|k| target[k][l]);
                    let greater = greater(&moves, &here) & mask;
                    for k in 0..P {
                        target[k][l] ^= (moves[k] ^ here[k]) & greater;
                    }
                }
            }
        }
    );
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn greatest_avx2<const P: usize>(jump: &RowJump, target: &mut [u64], source: &[u64]) {
    use std::arch::x86_64::*;
    let load = |words: &[u64; 4]| {
        // SAFETY: the array has 32 bytes; the load needs no alignment.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    };
    let flip = 2 * (jump.lane_flip & 3) as i32;
    let order =
        _mm256_xor_si256(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(flip));
    let other_half = jump.lane_flip as usize >> 2;
    let left = _mm_cvtsi32_si128(jump.rotation as i32);
    let right = _mm_cvtsi32_si128(64 - jump.rotation as i32);
    let (halves, _) = jump.masks.as_chunks::<4>();
    let masks = [load(&halves[0]), load(&halves[1])];
    for_each_run!(
        jump,
        target.as_chunks_mut::<GROUP>().0.as_chunks_mut::<P>().0,
        source.as_chunks::<GROUP>().0.as_chunks::<P>().0,
        |targets: &mut [Planes<P>], sources: &[Planes<P>]| {
            for (target, source) in targets.iter_mut().zip(sources) {
                for (half, &mask) in masks.iter().enumerate() {
                    let (mut here, mut differs) =
                        ([_mm256_setzero_si256(); P], [_mm256_setzero_si256(); P]);
                    let mut greater = _mm256_setzero_si256();
                    // From the lowest plane of a rank to the highest, which is the first.
                    for k in (0..P).map(|n| (n + 1) % P) {
                        let words = load(&source[k].as_chunks::<4>().0[half ^ other_half]);
                        let words = _mm256_permutevar8x32_epi32(words, order);
                        let words = _mm256_or_si256(
                            _mm256_sll_epi64(words, left),
                            _mm256_srl_epi64(words, right),
                        );
                        here[k] = load(&target[k].as_chunks::<4>().0[half]);
                        differs[k] = _mm256_xor_si256(words, here[k]);
                        let change = _mm256_and_si256(differs[k], _mm256_xor_si256(greater, words));
                        greater = _mm256_xor_si256(greater, change);
                    }
                    greater = _mm256_and_si256(greater, mask);
                    for k in 0..P {
                        let words =
                            _mm256_xor_si256(here[k], _mm256_and_si256(differs[k], greater));
                        let to = &mut target[k].as_chunks_mut::<4>().0[half];
                        // SAFETY: as for the loads.
                        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), words) };
                    }
                }
            }
        }
    );
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn greatest_avx512<const P: usize>(jump: &RowJump, target: &mut [u64], source: &[u64]) {
    use std::arch::x86_64::*;
    let load = |words: &[u64; GROUP]| {
        // SAFETY: the array has 64 bytes; the load needs no alignment.
        unsafe { _mm512_loadu_epi64(words.as_ptr().cast()) }
    };
    let order = _mm512_xor_epi64(
        _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
        _mm512_set1_epi64(i64::from(jump.lane_flip)),
    );
    let rotation = _mm512_set1_epi64(i64::from(jump.rotation));
    let masks = load(&jump.masks);
    for_each_run!(
        jump,
        target.as_chunks_mut::<GROUP>().0.as_chunks_mut::<P>().0,
        source.as_chunks::<GROUP>().0.as_chunks::<P>().0,
        |targets: &mut [Planes<P>], sources: &[Planes<P>]| {
            for (target, source) in targets.iter_mut().zip(sources) {
                let (mut here, mut moves) =
                    ([_mm512_setzero_si512(); P], [_mm512_setzero_si512(); P]);
                let mut greater = _mm512_setzero_si512();
                // From the lowest plane of a rank to the highest, which is the first.
                for k in (0..P).map(|n| (n + 1) % P) {
                    let words = _mm512_permutexvar_epi64(order, load(&source[k]));
                    moves[k] = _mm512_rolv_epi64(words, rotation);
                    here[k] = load(&target[k]);
                    // The majority of moves, !here and greater.
                    greater = _mm512_ternarylogic_epi64::<0xB2>(moves[k], here[k], greater);
                }
                greater = _mm512_and_si512(greater, masks);
                for k in 0..P {
                    // greater ? moves : here
                    let words = _mm512_ternarylogic_epi64::<0xCA>(greater, moves[k], here[k]);
                    // SAFETY: as for the loads.
                    unsafe { _mm512_storeu_epi64(target[k].as_mut_ptr().cast(), words) };
                }
            }
        }
    );
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
    /// Words of a plane.
    row_words: usize,
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
        let scattered = (!whole).then(|| moved.to_vec());
        RowPermutation { exchanges, lower, upper, scattered, row_words: row_words(white as u32) }
    }

    fn permute_scattered(&self, planes: usize, target: &mut [u64], source: &[u64]) {
        let moved = self.scattered.as_deref().expect("only where words do not stay whole");
        target.fill(0);
        for p in 0..1usize << moved.len() {
            let image = (0..moved.len())
                .filter(|n| p >> n & 1 == 1)
                .fold(0usize, |image, n| image | 1 << moved[n]);
            for plane in 0..planes {
                let at = |p: usize| place(p / 64, planes) + plane * GROUP;
                target[at(image)] |= (source[at(p)] >> (p % 64) & 1) << (image % 64);
            }
        }
    }
}

/// Where word `word` of plane 0 is in a row of so many planes. The places of words that have no bits
/// of their numbers in common add up.
#[inline(always)]
const fn place(word: usize, planes: usize) -> usize {
    word / GROUP * GROUP * planes + word % GROUP
}

/// Takes a plane out of a row of several.
pub fn take_plane(row: &[u64], planes: usize, plane: usize, out: &mut [u64]) {
    let groups = row.chunks_exact(planes * GROUP).zip(out.chunks_exact_mut(GROUP));
    groups.for_each(|(from, to)| to.copy_from_slice(&from[plane * GROUP..(plane + 1) * GROUP]));
}

/// Puts a plane into a row of several.
pub fn put_plane(row: &mut [u64], planes: usize, plane: usize, from: &[u64]) {
    let groups = row.chunks_exact_mut(planes * GROUP).zip(from.chunks_exact(GROUP));
    groups.for_each(|(to, from)| to[plane * GROUP..(plane + 1) * GROUP].copy_from_slice(from));
}

/// Calls `change` for the planes of every group of a row.
pub fn for_each_group(row: &mut [u64], planes: usize, change: impl Fn(&mut [[u64; GROUP]])) {
    row.as_chunks_mut::<GROUP>().0.chunks_exact_mut(planes).for_each(change);
}

macro_rules! permute_version {
    ($name:ident $(, $feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        fn $name(
            permutation: &RowPermutation,
            planes: usize,
            target: &mut [u64],
            source: &[u64],
        ) {
            assert_eq!(target.len(), source.len());
            let lower = permutation.lower.map(|word| place(word as usize, planes));
            let size = BLOCK.min(permutation.row_words);
            for (block, &upper) in target.chunks_exact_mut(size * planes).zip(&permutation.upper) {
                for plane in 0..planes {
                    let upper = place(upper as usize, planes) + plane * GROUP;
                    let mut words = [0u64; BLOCK];
                    for at in 0..size {
                        words[at] = source[upper + lower[at]];
                    }
                    for &Exchange { mask, distance } in &permutation.exchanges {
                        for word in &mut words {
                            let moving = (*word ^ (*word >> distance)) & mask;
                            *word ^= moving ^ (moving << distance);
                        }
                    }
                    put_plane(block, planes, plane, &words[..size]);
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
permute_version!(permute_avx512, "avx2,avx512f,avx512bw,avx512dq,avx512vl");
#[cfg(target_arch = "x86_64")]
permute_version!(permute_avx2, "avx2");
permute_version!(permute_baseline);

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
            Isa::Avx512 => unsafe { apply_avx512::<INVERT>(jump, target, source) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx2 => unsafe { apply_avx2::<INVERT>(jump, target, source) },
            _ => apply_baseline::<INVERT>(jump, target, source),
        }
    }

    /// For rows of several planes of ranks: `target[p]` becomes the greater of itself and
    /// `source[p ^ flip]`, for the patterns that take part in the relation.
    ///
    /// # Panics
    /// If the rows have not the length for which the relation was made, times the planes, or there
    /// are fewer than two planes or more than
    /// [`MAX_PLANES`](crate::endgame::values::remoteness::MAX_PLANES).
    pub fn greatest(self, planes: usize, jump: &RowJump, target: &mut [u64], source: &[u64]) {
        match planes {
            2 => self.greatest_of::<2>(jump, target, source),
            3 => self.greatest_of::<3>(jump, target, source),
            4 => self.greatest_of::<4>(jump, target, source),
            5 => self.greatest_of::<5>(jump, target, source),
            6 => self.greatest_of::<6>(jump, target, source),
            _ => panic!("{planes} planes of ranks"),
        }
    }

    fn greatest_of<const P: usize>(self, jump: &RowJump, target: &mut [u64], source: &[u64]) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has the instruction set, see the constructors.
            Isa::Avx512 => unsafe { greatest_avx512::<P>(jump, target, source) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx2 => unsafe { greatest_avx2::<P>(jump, target, source) },
            _ => greatest_baseline::<P>(jump, target, source),
        }
    }

    /// Writes the image of a row: `target[g(p)] = source[p]` for every pattern `p`, in every plane.
    ///
    /// # Panics
    /// If the rows have not the length for which the permutation was made, times some planes.
    pub fn permute(self, permutation: &RowPermutation, target: &mut [u64], source: &[u64]) {
        let planes = source.len() / permutation.row_words;
        if permutation.scattered.is_some() {
            return permutation.permute_scattered(planes, target, source);
        }
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx512 => unsafe { permute_avx512(permutation, planes, target, source) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx2 => unsafe { permute_avx2(permutation, planes, target, source) },
            _ => permute_baseline(permutation, planes, target, source),
        }
    }
}
