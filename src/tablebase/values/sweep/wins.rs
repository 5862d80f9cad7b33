//! All values of a board, counted and forgotten.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;

use super::{Layer, Sweep};
use crate::konane::{Board, Colour};
use crate::tablebase::index::Index;

/// How many positions, of all sets of stones, the side to move wins: with Black to move, and with
/// White to move. Computes every value of the board, in the current pool of `rayon`, and keeps
/// none: on 6×6 some 2 GiB of memory, and seconds. `layer_done` is called with the numbers of black
/// stones that are done and of all; when it breaks, there is no result.
///
/// # Errors
/// If memory cannot be reserved.
pub fn count_wins(
    board: &Board,
    mut layer_done: impl FnMut(u32, u32) -> ControlFlow<()>,
) -> io::Result<Option<[u64; 2]>> {
    let index = Index::new(board.clone(), false);
    let sweep = Sweep::new(&index);
    let black = index.numbering().count(Colour::Black);
    let longest = board.longest_jump() as usize;
    let mut wins = [0, 0];
    let mut below: VecDeque<Layer> = VecDeque::new();
    for b in 0..=black {
        let white_wins = sweep.white_wins(b, below.make_contiguous())?;
        let black_wins = sweep.black_wins(&white_wins)?;
        wins[0] += sweep.count(&black_wins);
        wins[1] += sweep.count(&white_wins);
        below.push_back(black_wins);
        if below.len() > longest {
            below.pop_front();
        }
        if layer_done(b, black).is_break() {
            return Ok(None);
        }
    }
    Ok(Some(wins))
}
