//! The check of a proof's set of positions.

use std::collections::TryReserveError;
use std::io::{Read, Seek};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use crate::rules::{Rules, Step, Stones};
use crate::{ProofError, ProofHeader, ProofReader, Side};

/// Number of positions checked between two polls of the stop flag.
const BATCH: usize = 4096;

/// Reason why an undamaged file is not a proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The root is not a legal position.
    #[error("the root {position} is not a legal position")]
    Root {
        /// The root in text form.
        position: String,
    },
    /// The side to move loses according to the header, but the root is not in the set.
    #[error("{side} is said to lose {position}, which is not in the proof")]
    RootMissing {
        /// The root in text form.
        position: String,
        /// The side to move.
        side: &'static str,
    },
    /// The side to move wins according to the header, but no move reaches the set.
    #[error(
        "{side} is said to win {position}, but none of its {moves} moves leads to a position of \
         the proof or ends the game"
    )]
    NoFirstMove {
        /// The root in text form.
        position: String,
        /// The side to move.
        side: &'static str,
        /// Number of its moves.
        moves: usize,
    },
    /// A number in the file is not the code of a position.
    #[error("{code:#x} is not the code of a position")]
    Code {
        /// The number.
        code: u64,
    },
    /// No reply to a move of the loser reaches the set.
    #[error(
        "in {position}, the move {mv} has no answer: none of the {replies} replies leads to a \
         position of the proof or ends the game"
    )]
    NoAnswer {
        /// A position of the set in text form.
        position: String,
        /// The loser's move in text form.
        mv: String,
        /// Number of replies.
        replies: usize,
    },
}

/// Result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// The claim of the proof.
    pub header: ProofHeader,
    /// The root in text form.
    pub root: String,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// Number of the loser's moves for which a reply was looked for.
    pub answered: u64,
    /// First flaw; `None` if the proof is valid.
    pub flaw: Option<Flaw>,
}

/// Checks a proof in the current thread pool of `rayon`.
///
/// Takes about 10 µs of processor time and 8 to 24 bytes of memory per position (8 bytes for large
/// proofs). `progress` receives the number of positions checked so far and the total. The result does
/// not depend on the number of threads: a flaw of the root is returned first, otherwise the flaw of the
/// position with the least code.
///
/// # Errors
/// If the file is damaged or needs more memory than allowed ([`ProofReader::limit_memory`]), or the stop
/// flag was set.
pub fn verify<R: Read + Seek>(
    reader: &mut ProofReader<R>,
    progress: &(dyn Fn(u64, u64) + Sync),
    stop: &AtomicBool,
) -> Result<Verification, ProofError> {
    let header = *reader.header();
    let words = header.positions.saturating_add(CodeSet::parts(header.positions) as u64);
    reader.check_memory(words.saturating_mul(8))?;
    let codes = reader.read_codes(stop)?;
    let rules = Rules::new(header.ranks, header.files);
    let root = Stones { occupied: header.root, to_move: header.to_move };
    let set = CodeSet::new(&codes).map_err(|error| reader.out_of_memory(error))?;
    let checker = Checker { rules: &rules, set: &set };
    let (done, answered) = (AtomicU64::new(0), AtomicU64::new(0));
    let mut flaw = checker.check_root(&root, header.winner);
    if flaw.is_none() {
        flaw = codes.par_chunks(BATCH).find_map_first(|codes| {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let found = checker.check_positions(codes, &answered);
            let before = done.fetch_add(codes.len() as u64, Ordering::Relaxed);
            progress(before + codes.len() as u64, header.positions);
            found
        });
    }
    if stop.load(Ordering::Relaxed) {
        return Err(ProofError::Interrupted);
    }
    let root = rules.position_text(&root);
    let answered = answered.into_inner();
    Ok(Verification { header, root, bytes: reader.bytes(), answered, flaw })
}

struct Checker<'a> {
    rules: &'a Rules,
    set: &'a CodeSet<'a>,
}

impl Checker<'_> {
    /// Checks that the root is in the set, or that a first move of the winner reaches it.
    fn check_root(&self, root: &Stones, winner: Side) -> Option<Flaw> {
        let position = self.rules.position_text(root);
        let side = root.to_move.name();
        if !self.rules.is_position(root) {
            return Some(Flaw::Root { position });
        }
        if root.to_move != winner {
            return (!self.is_proven(root)).then_some(Flaw::RootMissing { position, side });
        }
        let mut moves = Vec::new();
        self.rules.list_moves(root, &mut moves);
        if moves.iter().any(|&step| self.is_proven(&self.rules.play(root, step))) {
            return None;
        }
        Some(Flaw::NoFirstMove { position, side, moves: moves.len() })
    }

    /// Returns true if the position is in the set, or lost because the side to move has no move.
    fn is_proven(&self, stones: &Stones) -> bool {
        self.set.contains(self.rules.code(stones)) || !self.rules.can_move(stones)
    }

    /// Returns the first flaw of some positions of the set. Adds the number of the loser's moves there to
    /// `answered`.
    fn check_positions(&self, codes: &[u64], answered: &AtomicU64) -> Option<Flaw> {
        let (mut moves, mut replies, mut count) = (Vec::new(), Vec::new(), 0);
        let flaw = codes.iter().find_map(|&code| {
            let Some(stones) = self.rules.decode(code) else { return Some(Flaw::Code { code }) };
            self.rules.list_moves(&stones, &mut moves);
            count += moves.len() as u64;
            let unanswered =
                moves.iter().find(|&&step| !self.is_answered(&stones, step, &mut replies));
            unanswered.map(|&step| Flaw::NoAnswer {
                position: self.rules.position_text(&stones),
                mv: self.rules.move_text(step),
                replies: replies.len(),
            })
        });
        answered.fetch_add(count, Ordering::Relaxed);
        flaw
    }

    /// Returns true if some reply to the loser's move reaches the set. Stores all replies in `replies`.
    fn is_answered(&self, stones: &Stones, step: Step, replies: &mut Vec<Step>) -> bool {
        let after = self.rules.play(stones, step);
        self.rules.list_moves(&after, replies);
        replies.iter().any(|&reply| self.is_proven(&self.rules.play(&after, reply)))
    }
}

/// A set of sorted codes with an index on their leading bits.
struct CodeSet<'a> {
    codes: &'a [u64],
    /// `starts[i]` is the index in `codes` of the first code that is at least `i << shift`.
    starts: Vec<usize>,
    shift: u32,
}

impl<'a> CodeSet<'a> {
    /// Returns the number of elements of `starts` for this number of codes: about one per code, and at
    /// most 2²⁴, which take 128 MiB.
    fn parts(codes: u64) -> usize {
        const MAX_PARTS: u64 = 1 << 24;
        codes.min(MAX_PARTS).next_power_of_two().max(2) as usize
    }

    fn new(codes: &'a [u64]) -> Result<Self, TryReserveError> {
        let parts = Self::parts(codes.len() as u64);
        let bits = codes.last().map_or(1, |last| 64 - last.leading_zeros()).max(1);
        let shift = bits.saturating_sub(parts.ilog2());
        let mut starts = Vec::new();
        starts.try_reserve_exact(parts + 1)?;
        let mut at = 0;
        for part in 0..=(u64::MAX >> (64 - bits) >> shift) {
            while at < codes.len() && codes[at] >> shift < part {
                at += 1;
            }
            starts.push(at);
        }
        starts.push(codes.len());
        Ok(CodeSet { codes, starts, shift })
    }

    fn contains(&self, code: u64) -> bool {
        let part = (code >> self.shift) as usize;
        if part >= self.starts.len() - 1 {
            return false;
        }
        self.codes[self.starts[part]..self.starts[part + 1]].binary_search(&code).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_set_contains_its_codes_and_nothing_else(
            set in prop::collection::btree_set(any::<u64>(), 0..200),
            others in prop::collection::vec(any::<u64>(), 20),
            shift in 0u32..64,
        ) {
            let set: BTreeSet<u64> = set.into_iter().map(|code| code >> shift).collect();
            let codes: Vec<u64> = set.iter().copied().collect();
            let looked_up = CodeSet::new(&codes).unwrap();
            let near = set.iter().flat_map(|&code| [code, code.wrapping_add(1), code.wrapping_sub(1)]);
            for code in near.chain(others).chain([0, 1, u64::MAX]) {
                prop_assert_eq!(looked_up.contains(code), set.contains(&code), "{}", code);
            }
        }
    }
}
