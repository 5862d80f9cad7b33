//! Thinning a closed set until none of its positions can go.
//!
//! While a set is collected, a position may be taken as an answer to one move that a later answer to
//! another move would have served as well. So the set is walked through once more from the top. When
//! its layer is reached, everything above is settled: which positions stay there, and so which of the
//! winner's positions need an answer. A position stays if one of these has no other answer left, and
//! goes otherwise, with all that only it needed. Answers never come back, so what has stayed is
//! needed in the end too: without any one of its positions the result is not closed.

use rayon::prelude::*;

use super::{BATCH, CertificateError, Codes, Hand, View, in_parallel};
use crate::search::game::{Expansion, Game, Value};

/// What waits in a layer.
#[derive(Clone, Debug, Default)]
struct Layer {
    /// Positions of the winner that need an answer; some more than once.
    won: Vec<u64>,
    /// Positions of the set that are answers, and the number of what they answer.
    answers: Vec<(u64, usize)>,
}

/// Thins a set that is closed for `root`; `ended` are positions of it without moves. `look` is
/// called now and then, with the layer and the positions that have stayed.
pub(super) fn thin<G: Game>(
    view: &View<'_, G>,
    (root, value): (u64, Value),
    layer_of: &(impl Fn(u64) -> u32 + Sync),
    set: &Codes,
    ended: &Codes,
    mut look: impl FnMut(usize, usize) -> Result<(), CertificateError>,
) -> Result<Vec<u64>, CertificateError> {
    let count = layer_of(root) as usize + 1;
    let mut layers = vec![Layer::default(); count];
    // Answers that are left, by number.
    let mut left: Vec<u32> = Vec::new();
    let mut stayed = Vec::new();
    match value {
        Value::Win => layers[count - 1].won.push(root),
        // An answer to the question itself, the only one.
        Value::Loss => {
            layers[count - 1].answers.push((root, 0));
            left.push(1);
        }
    }
    for number in (0..count).rev() {
        let Layer { mut won, mut answers } = std::mem::take(&mut layers[number]);
        won.par_sort_unstable();
        won.dedup();
        for batch in won.chunks(BATCH) {
            look(number, stayed.len())?;
            let found: Vec<Option<Vec<u64>>> =
                in_parallel(batch, |hand: &mut Hand<G>, code| view.answers(code, set, ended, hand));
            for (&code, found) in batch.iter().zip(found) {
                let Some(found) = found else { continue };
                if found.is_empty() {
                    return Err(CertificateError::Contradiction { code, won: true });
                }
                for &answer in &found {
                    layers[layer_of(answer) as usize].answers.push((answer, left.len()));
                }
                left.push(found.len() as u32);
            }
        }

        answers.par_sort_unstable();
        let first = stayed.len();
        for uses in answers.chunk_by(|a, b| a.0 == b.0) {
            if uses.iter().any(|&(_, use_)| left[use_] == 1) {
                stayed.push(uses[0].0);
            } else {
                uses.iter().for_each(|&(_, use_)| left[use_] -= 1);
            }
        }
        for start in (first..stayed.len()).step_by(BATCH) {
            look(number, stayed.len())?;
            let batch = &stayed[start..stayed.len().min(start + BATCH)];
            let moves: Vec<Result<Vec<u64>, CertificateError>> =
                in_parallel(batch, |hand: &mut Hand<G>, code| view.moves(code, hand));
            for moves in moves {
                for code in moves? {
                    layers[layer_of(code) as usize].won.push(code);
                }
            }
        }
    }
    stayed.retain(|code| !ended.contains(code));
    Ok(stayed)
}

impl<G: Game> View<'_, G> {
    /// Positions of the set that replies lead to, each once; `None` if a reply ends the game.
    fn answers(
        &self,
        code: u64,
        set: &Codes,
        ended: &Codes,
        hand: &mut Hand<G>,
    ) -> Option<Vec<u64>> {
        let Hand { scratch, children } = hand;
        children.clear();
        match self.game.expand(code, scratch, children, |_| {}) {
            // No answers at all: a contradiction, as for any position without answers.
            Expansion::Lost => return Some(Vec::new()),
            Expansion::Won(_) => return None,
            Expansion::Open => {}
        }
        let codes = children.iter().map(|child| child.code);
        let mut found: Vec<u64> = codes.filter(|code| set.contains(code)).collect();
        if found.iter().any(|code| ended.contains(code)) {
            return None;
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }
}
