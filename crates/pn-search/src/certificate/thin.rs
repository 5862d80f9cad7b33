//! Thinning a closed set until none of its positions can go.
//!
//! While a set is collected, a position may be taken as an answer to one move that a later answer to
//! another move would have served as well. So the set is walked through once more from the top. When
//! its layer is reached, everything above is settled: which positions stay there, and so which of the
//! winner's positions need an answer. A position stays if one of these has no other answer left, and
//! goes otherwise, with all that only it needed. Answers never come back, so what has stayed is
//! needed in the end too: without any one of its positions the result is not closed.

use rayon::prelude::*;

use super::layers::{Codes, Finished, NoMemory, Waiting, push};
use super::{BATCH, Buffers, CertificateError, in_parallel, moves};
use crate::Value;
use crate::plain::game::{Expansion, Game};

/// What waits in a layer.
#[derive(Clone, Debug, Default)]
struct Layer {
    /// Positions of the winner that need an answer.
    won: Waiting,
    /// Positions of the set that are answers.
    answers: Vec<Answer>,
    /// Answers that are left, by the number of what they answer in this layer.
    left: Vec<u32>,
    /// The lowest layer in which one of them is.
    lowest: usize,
}

/// A position of the set and what it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Answer {
    code: u64,
    /// The layer of what it answers, and in the lower bits the number there.
    asked: u64,
}

/// Bits of a number in a layer; 32 are too few for the largest sets.
const NUMBER_BITS: u32 = 40;

impl Answer {
    /// # Panics
    /// From 2⁴⁰ positions in a layer on, or 2²⁴ layers.
    fn new(code: u64, layer: usize, number: usize) -> Self {
        let (layer, number) = (layer as u64, number as u64);
        assert!(number >> NUMBER_BITS == 0 && layer >> (64 - NUMBER_BITS) == 0);
        Answer { code, asked: layer << NUMBER_BITS | number }
    }

    /// How many answers are left for what it answers.
    fn left<'l>(&self, layers: &'l mut [Layer]) -> &'l mut u32 {
        let (layer, number) = (self.asked >> NUMBER_BITS, self.asked & ((1 << NUMBER_BITS) - 1));
        &mut layers[layer as usize].left[number as usize]
    }
}

/// Thins a set that is closed for `root`, given by layers; `ended` are positions of it without moves.
/// `look` is called now and then, with the layer and the positions that have stayed.
///
/// A layer is freed when its turn is over.
pub(super) fn thin<G: Game>(
    game: &G,
    (root, value): (u64, Value),
    layer_of: &(impl Fn(u64) -> u32 + Sync),
    mut set: Vec<Finished>,
    ended: &Codes,
    mut look: impl FnMut(usize, usize) -> Result<(), CertificateError>,
) -> Result<Vec<u64>, CertificateError> {
    let count = set.len();
    let mut layers = vec![Layer::default(); count];
    let mut stayed = Vec::new();
    match value {
        Value::Win => layers[count - 1].won.push(root)?,
        // An answer to the question itself, the only one.
        Value::Loss => {
            let top = &mut layers[count - 1];
            top.answers.push(Answer::new(root, count - 1, 0));
            top.left.push(1);
        }
    }
    for number in (0..count).rev() {
        let won = layers[number].won.take();
        let (has, mut lowest) = (|code| set[layer_of(code) as usize].contains(code), number);
        for batch in won.chunks(BATCH) {
            look(number, stayed.len())?;
            let found: Vec<Result<Option<Vec<u64>>, CertificateError>> =
                in_parallel(batch, |buffers: &mut Buffers<G>, code| {
                    answers(game, code, has, ended, buffers)
                });
            for (&code, found) in batch.iter().zip(found) {
                let Some(found) = found? else { continue };
                if found.is_empty() {
                    return Err(CertificateError::Contradiction { code, won: true });
                }
                let asked = layers[number].left.len();
                for &code in &found {
                    let layer = layer_of(code) as usize;
                    lowest = lowest.min(layer);
                    push(&mut layers[layer].answers, Answer::new(code, number, asked))?;
                }
                push(&mut layers[number].left, found.len() as u32)?;
            }
        }
        layers[number].lowest = lowest;

        let mut answers = std::mem::take(&mut layers[number].answers);
        answers.par_sort_unstable();
        let first = stayed.len();
        for (at, uses) in answers.chunk_by(|a, b| a.code == b.code).enumerate() {
            if at.is_multiple_of(BATCH) {
                look(number, stayed.len())?;
            }
            if uses.iter().any(|answer| *answer.left(&mut layers) == 1) {
                push(&mut stayed, uses[0].code)?;
            } else {
                for answer in uses {
                    *answer.left(&mut layers) -= 1;
                }
            }
        }
        drop(answers);
        set[number] = Finished::default();
        for layer in layers.iter_mut().filter(|layer| layer.lowest >= number) {
            layer.left = Vec::new();
        }
        for start in (first..stayed.len()).step_by(BATCH) {
            look(number, stayed.len())?;
            let batch = &stayed[start..stayed.len().min(start + BATCH)];
            let moves: Vec<Result<Vec<u64>, CertificateError>> =
                in_parallel(batch, |buffers: &mut Buffers<G>, code| moves(game, code, buffers));
            for moves in moves {
                for code in moves? {
                    layers[layer_of(code) as usize].won.push(code)?;
                }
            }
        }
    }
    stayed.retain(|code| !ended.contains(code));
    Ok(stayed)
}

/// Positions of the set that replies lead to, each once; `None` if a reply ends the game.
fn answers<G: Game>(
    game: &G,
    code: u64,
    is_in_set: impl Fn(u64) -> Result<bool, NoMemory>,
    ended: &Codes,
    buffers: &mut Buffers<G>,
) -> Result<Option<Vec<u64>>, CertificateError> {
    let Buffers { scratch, children } = buffers;
    children.clear();
    match game.expand(code, scratch, children, |_| {}) {
        // No answers at all: a contradiction, as for any position without answers.
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
    if found.iter().any(|code| ended.contains(code)) {
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
    fn answers_are_sorted_by_code_layer_and_number_however_many_there_are() {
        assert_eq!(size_of::<Answer>(), 16);
        let places = [(0, 0), (0, u32::MAX as usize + 7), (3, 1), (64, (1 << NUMBER_BITS) - 1)];
        let asked = |code| places.map(|(layer, number)| Answer::new(code, layer, number));
        assert!([asked(1), asked(2)].concat().is_sorted_by(|a, b| a < b));
        let mut layers = vec![Layer::default(); 4];
        layers[3].left = vec![5, 6];
        *Answer::new(1, 3, 1).left(&mut layers) -= 2;
        assert_eq!(layers[3].left, [5, 4]);
    }
}
