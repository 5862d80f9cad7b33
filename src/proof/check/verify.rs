//! Checking a proof: whether its positions are closed, by the rules alone.
//!
//! Every position of the file is lost for the side to move, if after each of its moves there is a
//! reply that leads to another position of the file or to one without moves: then the winner always
//! has an answer, and as every move takes a stone off the board, it is the loser who is left without
//! one. Nothing that the search has found out is believed, and none of its code is used.

use std::collections::TryReserveError;
use std::io::{Read, Seek};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use super::error::ProofError;
use super::format::{ProofHeader, Side};
use super::reader::ProofReader;
use super::rules::{Rules, Step, Stones};

/// Positions that are checked between two looks at the stop flag.
const BATCH: usize = 4096;

/// What is wrong with a proof. Positions and moves are texts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The position that the proof is about is none.
    #[error("the root {position} is no position of a game")]
    Root {
        /// The position.
        position: String,
    },
    /// The side to move at the root is said to lose, and the root is not in the proof.
    #[error("{side} is said to lose {position}, which is not in the proof")]
    RootMissing {
        /// The position.
        position: String,
        /// The side to move.
        side: &'static str,
    },
    /// The side to move at the root is said to win, and none of its moves leads into the proof.
    #[error(
        "{side} is said to win {position}, but none of its {moves} moves leads to a position of \
         the proof or ends the game"
    )]
    NoFirstMove {
        /// The position.
        position: String,
        /// The side to move.
        side: &'static str,
        /// Its moves.
        moves: usize,
    },
    /// A number in the file is not the code of a position.
    #[error("{code:#x} is not the code of a position")]
    Code {
        /// The number.
        code: u64,
    },
    /// The winner has no answer to a move of the loser.
    #[error(
        "in {position}, the move {mv} has no answer: none of the {replies} replies leads to a \
         position of the proof or ends the game"
    )]
    NoAnswer {
        /// The position of the proof.
        position: String,
        /// The loser's move.
        mv: String,
        /// The replies that there are.
        replies: usize,
    },
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// What the proof is about.
    pub header: ProofHeader,
    /// The position that it is about, as text.
    pub root: String,
    /// Length of the file.
    pub bytes: u64,
    /// Moves of the loser that were seen to have an answer.
    pub answered: u64,
    /// What is wrong; the proof is valid if nothing is.
    pub flaw: Option<Flaw>,
}

/// How far a check has come: positions checked, and all of them.
pub type VerifyProgress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Checks a proof, in the current pool of `rayon`. Takes 8 to 24 bytes of memory and some 10 µs of
/// processor time for each position, of many positions 8 bytes.
///
/// Of several flaws the one of the least code is reported, whatever the number of threads.
///
/// # Errors
/// If the file is damaged or too large ([`ProofReader::read_codes`]), or the stop flag was set.
pub fn verify<R: Read + Seek>(
    reader: &mut ProofReader<R>,
    progress: VerifyProgress<'_>,
    stop: &AtomicBool,
) -> Result<Verification, ProofError> {
    let header = *reader.header();
    let need = header.positions.saturating_add(Set::parts(header.positions) as u64);
    reader.allow(need.saturating_mul(8))?;
    let codes = reader.read_codes(stop)?;
    let rules = Rules::new(header.ranks, header.files);
    let root = Stones { occupied: header.root, to_move: header.to_move };
    let set = Set::new(&codes).map_err(|error| reader.no_memory(error))?;
    let checker = Checker { rules: &rules, set: &set };
    let (done, answered) = (AtomicU64::new(0), AtomicU64::new(0));
    let mut flaw = checker.root(&root, header.winner);
    if flaw.is_none() {
        flaw = codes.par_chunks(BATCH).find_map_first(|codes| {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let found = checker.positions(codes, &answered);
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
    set: &'a Set<'a>,
}

impl Checker<'_> {
    /// The root is in the set or a first move leads there.
    fn root(&self, root: &Stones, winner: Side) -> Option<Flaw> {
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

    /// Whether a position is in the set, or lost because the side to move has no move.
    fn is_proven(&self, stones: &Stones) -> bool {
        self.set.contains(self.rules.code(stones)) || !self.rules.can_move(stones)
    }

    /// The first flaw of some positions of the set.
    fn positions(&self, codes: &[u64], answered: &AtomicU64) -> Option<Flaw> {
        let (mut moves, mut replies, mut count) = (Vec::new(), Vec::new(), 0);
        let flaw = codes.iter().find_map(|&code| {
            let Some(stones) = self.rules.decode(code) else { return Some(Flaw::Code { code }) };
            self.rules.list_moves(&stones, &mut moves);
            count += moves.len() as u64;
            let open = moves.iter().find(|&&step| !self.is_answered(&stones, step, &mut replies));
            open.map(|&step| Flaw::NoAnswer {
                position: self.rules.position_text(&stones),
                mv: self.rules.move_text(step),
                replies: replies.len(),
            })
        });
        answered.fetch_add(count, Ordering::Relaxed);
        flaw
    }

    /// Whether a move of the loser has an answer. Lists the replies.
    fn is_answered(&self, stones: &Stones, step: Step, replies: &mut Vec<Step>) -> bool {
        let after = self.rules.play(stones, step);
        self.rules.list_moves(&after, replies);
        replies.iter().any(|&reply| self.is_proven(&self.rules.play(&after, reply)))
    }
}

/// Sorted codes to be looked up.
struct Set<'a> {
    codes: &'a [u64],
    /// Where the codes begin that are at least `i << shift`.
    starts: Vec<usize>,
    shift: u32,
}

impl<'a> Set<'a> {
    /// Parts of so many codes: about one for each if they were spread evenly, but of many not more
    /// than take 128 MiB.
    fn parts(codes: u64) -> usize {
        const MOST: u64 = 1 << 24;
        codes.min(MOST).next_power_of_two().max(2) as usize
    }

    fn new(codes: &'a [u64]) -> Result<Self, TryReserveError> {
        let parts = Self::parts(codes.len() as u64);
        let bits = codes.last().map_or(1, |last| 64 - last.leading_zeros()).max(1);
        let shift = bits.saturating_sub(parts.ilog2());
        let mut starts = Vec::new();
        #[allow(clippy::disallowed_methods, reason = "the checker uses nothing of the crate")]
        let room = starts.try_reserve_exact(parts + 1);
        room?;
        let mut at = 0;
        for part in 0..=(u64::MAX >> (64 - bits) >> shift) {
            while at < codes.len() && codes[at] >> shift < part {
                at += 1;
            }
            starts.push(at);
        }
        starts.push(codes.len());
        Ok(Set { codes, starts, shift })
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
            let looked_up = Set::new(&codes).unwrap();
            let near = set.iter().flat_map(|&code| [code, code.wrapping_add(1), code.wrapping_sub(1)]);
            for code in near.chain(others).chain([0, 1, u64::MAX]) {
                prop_assert_eq!(looked_up.contains(code), set.contains(&code), "{}", code);
            }
        }
    }
}
