//! Thinning a closed set until none of its positions is superfluous.
//!
//! During the collection, a position is chosen as the reply to one move. Later, another position is
//! chosen as the reply to another move. If it answers both moves, the first position is
//! superfluous. So the set is traversed once more from the top. When a layer is reached, it is
//! already decided which positions of higher layers are kept, and therefore which won positions of
//! higher layers need a reply. A position of the layer is kept if it is the only remaining reply to
//! one of these won positions. Otherwise it is removed. The replies to the moves from a removed
//! position are then needed only if other positions need them too. Removed positions are never added
//! again. A kept position therefore remains the only reply to some won position, and without it the
//! result would not be closed.
//!
//! * [`thin`]: the traversal.
//! * `ThinningLayer`: won positions and replies of a layer, and counts of remaining replies.
//! * `Answer`: a position of the set as a reply to a won position.

use rayon::prelude::*;

use super::layers::{LayerSet, NoMemory, PackedLayer, PendingCodes, push};
use super::{BATCH, Buffers, CertificateError, in_parallel, moves};
use crate::Value;
use crate::plain::game::{Expansion, Game};

/// Positions of a layer, collected before the layer is processed.
#[derive(Clone, Debug, Default)]
struct ThinningLayer {
    /// Won positions that need a reply.
    won: PendingCodes,
    /// Positions of the set in this layer, once for each won position to which they are a reply.
    answers: Vec<Answer>,
    /// Number of remaining replies to each won position of this layer.
    remaining: Vec<u32>,
    /// Lowest layer with a reply to a won position of this layer.
    lowest: usize,
}

/// A position of the set as a reply to a won position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Answer {
    code: u64,
    /// Layer of the won position in the upper bits, and its index in [`ThinningLayer::remaining`] in
    /// the lower bits.
    won_position: u64,
}

/// Number of bits for the index of a won position in its layer. 32 bits are too few for the largest
/// sets.
const NUMBER_BITS: u32 = 40;

impl Answer {
    /// # Panics
    /// If `number` is at least 2⁴⁰, or `layer` at least 2²⁴.
    fn new(code: u64, layer: usize, number: usize) -> Self {
        let (layer, number) = (layer as u64, number as u64);
        assert!(number >> NUMBER_BITS == 0 && layer >> (64 - NUMBER_BITS) == 0);
        Answer { code, won_position: layer << NUMBER_BITS | number }
    }

    /// Number of remaining replies to the won position.
    fn remaining<'l>(&self, layers: &'l mut [ThinningLayer]) -> &'l mut u32 {
        let (layer, number) =
            (self.won_position >> NUMBER_BITS, self.won_position & ((1 << NUMBER_BITS) - 1));
        &mut layers[layer as usize].remaining[number as usize]
    }
}

/// Thins a closed set that proves the value of `root`. `set` contains the layers of the set by
/// number, and `terminal` the positions of the set without moves. `poll` is called regularly, with
/// the layer and the number of positions kept so far. Returns the kept positions that have moves.
///
/// The memory of a layer is freed when the layer has been processed.
pub(super) fn thin<G: Game>(
    game: &G,
    (root, value): (u64, Value),
    layer_of: &(impl Fn(u64) -> u32 + Sync),
    mut set: Vec<PackedLayer>,
    terminal: &LayerSet,
    mut poll: impl FnMut(usize, usize) -> Result<(), CertificateError>,
) -> Result<Vec<u64>, CertificateError> {
    let count = set.len();
    let mut layers = vec![ThinningLayer::default(); count];
    let mut kept = Vec::new();
    match value {
        Value::Win => layers[count - 1].won.push(root)?,
        // A lost root counts as the only reply to a won position, so it is kept.
        Value::Loss => {
            let top = &mut layers[count - 1];
            top.answers.push(Answer::new(root, count - 1, 0));
            top.remaining.push(1);
        }
    }
    for number in (0..count).rev() {
        let won = layers[number].won.take();
        let (has, mut lowest) = (|code| set[layer_of(code) as usize].contains(code), number);
        for batch in won.chunks(BATCH) {
            poll(number, kept.len())?;
            let found: Vec<Result<Option<Vec<u64>>, CertificateError>> =
                in_parallel(batch, |buffers: &mut Buffers<G>, code| {
                    answers(game, code, has, terminal, buffers)
                });
            for (&code, found) in batch.iter().zip(found) {
                let Some(found) = found? else { continue };
                if found.is_empty() {
                    return Err(CertificateError::Contradiction { code, won: true });
                }
                let won_position = layers[number].remaining.len();
                for &code in &found {
                    let layer = layer_of(code) as usize;
                    lowest = lowest.min(layer);
                    push(&mut layers[layer].answers, Answer::new(code, number, won_position))?;
                }
                push(&mut layers[number].remaining, found.len() as u32)?;
            }
        }
        layers[number].lowest = lowest;

        let mut answers = std::mem::take(&mut layers[number].answers);
        answers.par_sort_unstable();
        let first = kept.len();
        for (at, uses) in answers.chunk_by(|a, b| a.code == b.code).enumerate() {
            if at.is_multiple_of(BATCH) {
                poll(number, kept.len())?;
            }
            if uses.iter().any(|answer| *answer.remaining(&mut layers) == 1) {
                push(&mut kept, uses[0].code)?;
            } else {
                for answer in uses {
                    *answer.remaining(&mut layers) -= 1;
                }
            }
        }
        drop(answers);
        set[number] = PackedLayer::default();
        for layer in layers.iter_mut().filter(|layer| layer.lowest >= number) {
            layer.remaining = Vec::new();
        }
        for start in (first..kept.len()).step_by(BATCH) {
            poll(number, kept.len())?;
            let batch = &kept[start..kept.len().min(start + BATCH)];
            let moves: Vec<Result<Vec<u64>, CertificateError>> =
                in_parallel(batch, |buffers: &mut Buffers<G>, code| moves(game, code, buffers));
            for moves in moves {
                for code in moves? {
                    layers[layer_of(code) as usize].won.push(code)?;
                }
            }
        }
    }
    kept.retain(|code| !terminal.contains(code));
    Ok(kept)
}

/// Returns the positions of the set to which replies to the won position `code` lead, each once.
/// Returns `None` if a reply ends the game: then no position of the set is needed.
fn answers<G: Game>(
    game: &G,
    code: u64,
    is_in_set: impl Fn(u64) -> Result<bool, NoMemory>,
    terminal: &LayerSet,
    buffers: &mut Buffers<G>,
) -> Result<Option<Vec<u64>>, CertificateError> {
    let Buffers { scratch, children } = buffers;
    children.clear();
    match game.expand(code, scratch, children, |_| {}) {
        // The caller reports an empty list as a contradiction: a won position has a reply.
        Expansion::Lost => return Ok(Some(Vec::new())),
        Expansion::Won(_) => return Ok(None),
        Expansion::Open => {}
    }
    let mut found = Vec::new();
    for child in children {
        if is_in_set(child.code)? {
            found.push(child.code);
        }
    }
    if found.iter().any(|code| terminal.contains(code)) {
        return Ok(None);
    }
    found.sort_unstable();
    found.dedup();
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_sorted_by_code_then_layer_then_number() {
        assert_eq!(size_of::<Answer>(), 16);
        let won = [(0, 0), (0, u32::MAX as usize + 7), (3, 1), (64, (1 << NUMBER_BITS) - 1)];
        let answers = |code| won.map(|(layer, number)| Answer::new(code, layer, number));
        assert!([answers(1), answers(2)].concat().is_sorted_by(|a, b| a < b));
        let mut layers = vec![ThinningLayer::default(); 4];
        layers[3].remaining = vec![5, 6];
        *Answer::new(1, 3, 1).remaining(&mut layers) -= 2;
        assert_eq!(layers[3].remaining, [5, 4]);
    }
}
