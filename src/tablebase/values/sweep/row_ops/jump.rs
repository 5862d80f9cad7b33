//! A jump as a relation between the bits of two rows. It applies to the patterns in which certain bits are set
//! and others are not, and flips some of these bits. If one of the six lowest bits of a pattern is flipped, the
//! pattern's bit in the row moves within its word; all bits move by the same distance. If a higher bit is
//! flipped, whole words are exchanged.

#![allow(unsafe_code)]

use super::GROUP;
use crate::tablebase::values::remoteness::greater;

/// The bits of a row's first word that belong to a pattern: all bits, if there are at least six white squares.
fn valid_bits(white: u32) -> u64 {
    if white >= 6 { u64::MAX } else { (1 << (1 << white)) - 1 }
}

/// A relation between the bits of two rows: target bit `p` belongs to source bit `p ^ flip`, for
/// the patterns `p` that have all bits of `need` and no bit of `forbid`. All flipped bits are in
/// `need` or `forbid`.
///
/// Bits 0 to 5 of a pattern select the bit in a word, bits 6 to 8 the *lane*, which is the index of the word in
/// its group of eight words, and the other bits the group.
#[derive(Clone, Copy, Debug)]
pub struct RowJump {
    /// By lane: the bits of a word that take part in the relation.
    masks: [u64; GROUP],
    /// Number of bits by which a source word is rotated to the left.
    rotation: u32,
    /// The bits of `flip` for the lane.
    lane_flip: u32,
    /// The bits of `flip` for the group.
    group_flip: u32,
    /// The bits of `need` for the group.
    group_need: u32,
    /// The fixed bits of the group: those of `need` and `forbid`.
    group_fixed: u32,
}

impl RowJump {
    /// Prepares a relation for rows over `white` squares.
    ///
    /// # Panics
    /// If a flipped bit is neither in `need` nor in `forbid`, or if a bit is in both.
    pub fn new(white: u32, need: u32, forbid: u32, flip: u32) -> Self {
        assert_eq!(flip & !(need | forbid), 0, "a flipped bit has to be fixed");
        assert_eq!(need & forbid, 0, "a bit cannot be both needed and forbidden");
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

/// Calls `$run(targets, sources)` for all groups that take part in a relation. Adjacent groups are passed
/// together, as slices of equal length.
macro_rules! for_each_run {
    ($jump:ident, $target:expr, $source:expr, $run:expr) => {{
        let (target, source) = ($target, $source);
        assert_eq!(target.len(), source.len());
        let fixed = $jump.group_fixed as usize;
        let flip = $jump.group_flip as usize;
        // The index bits below the lowest fixed bit are free, so the groups of a run are adjacent.
        let run = if fixed == 0 { target.len() } else { 1 << fixed.trailing_zeros() };
        let mut start = $jump.group_need as usize;
        loop {
            let from = start ^ flip;
            $run(&mut target[start..start + run], &source[from..from + run]);
            // While the fixed bits are set, a carry passes over them to the next free bit.
            let next = (start | fixed) + run;
            if next >= target.len() {
                break;
            }
            start = next & !fixed | $jump.group_need as usize;
        }
    }};
}

pub(super) fn apply_baseline<const INVERT: bool>(
    jump: &RowJump,
    target: &mut [u64],
    source: &[u64],
) {
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
pub(super) fn apply_avx2<const INVERT: bool>(jump: &RowJump, target: &mut [u64], source: &[u64]) {
    use std::arch::x86_64::*;
    let load = |words: &[u64; 4]| {
        // SAFETY: the array has 32 bytes; the load needs no alignment.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    };
    // A register has half a group, four words. The permutation instruction moves 32-bit elements, so each word is
    // a pair of elements.
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
pub(super) fn apply_avx512<const INVERT: bool>(jump: &RowJump, target: &mut [u64], source: &[u64]) {
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

pub(super) fn greatest_baseline<const P: usize>(
    jump: &RowJump,
    target: &mut [u64],
    source: &[u64],
) {
    let flip = jump.lane_flip as usize;
    for_each_run!(
        jump,
        target.as_chunks_mut::<GROUP>().0.as_chunks_mut::<P>().0,
        source.as_chunks::<GROUP>().0.as_chunks::<P>().0,
        |targets: &mut [[[u64; GROUP]; P]], sources: &[[[u64; GROUP]; P]]| {
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
pub(super) fn greatest_avx2<const P: usize>(jump: &RowJump, target: &mut [u64], source: &[u64]) {
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
        |targets: &mut [[[u64; GROUP]; P]], sources: &[[[u64; GROUP]; P]]| {
            for (target, source) in targets.iter_mut().zip(sources) {
                for (half, &mask) in masks.iter().enumerate() {
                    let (mut here, mut differs) =
                        ([_mm256_setzero_si256(); P], [_mm256_setzero_si256(); P]);
                    let mut greater = _mm256_setzero_si256();
                    // From the lowest bit of a rank to the highest. Plane 0 is last, because it has the highest
                    // bit.
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
pub(super) fn greatest_avx512<const P: usize>(jump: &RowJump, target: &mut [u64], source: &[u64]) {
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
        |targets: &mut [[[u64; GROUP]; P]], sources: &[[[u64; GROUP]; P]]| {
            for (target, source) in targets.iter_mut().zip(sources) {
                let (mut here, mut moves) =
                    ([_mm512_setzero_si512(); P], [_mm512_setzero_si512(); P]);
                let mut greater = _mm512_setzero_si512();
                // From the lowest bit of a rank to the highest. Plane 0 is last, because it has the highest
                // bit.
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
