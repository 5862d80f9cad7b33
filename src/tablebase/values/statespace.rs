//! The state space: every position that a game can reach, by breadth-first search (thesis, 3.9.2
//! and appendix A).
//!
//! The positions of one ply are stored as rows of bits, like the values of the sweep: for every
//! canonical black pattern, one bit for each white pattern. The rows of a ply are computed from the
//! rows of the ply before; a jump is applied to a whole row at a time. Positions that were reached at an earlier
//! ply with the same side to move are removed.
//!
//! White's jumps lower the number of black stones, and no move raises it. So when no position of the
//! current ply has `b` or more black stones, the rows with `b` black stones are final: the observer receives
//! them, and their memory is freed.

use std::io;
use std::iter::Sum;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::jumps::{Jump, jumps};
pub use super::sweep::Band;
use super::sweep::row_ops::{RowJump, RowOps};
use super::sweep::{Images, Sweep, row_words};
use serde::Serialize;

use crate::error::ErrorKind;
use crate::konane::{Board, Colour, Dimensions, Position};
use crate::tablebase::index::{Index, stabiliser};

/// Counts of the positions of one ply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "json-schema",
    schemars(rename = "PlyJson", description = "A ply in the JSON of `statespace`.")
)]
pub struct Ply {
    /// Number of moves from the start.
    pub ply: u32,
    /// Counts of the positions of this ply.
    #[serde(flatten)]
    pub counts: PlyCounts,
}

/// Counts of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "json-schema", schemars(rename = "CountsJson"))]
pub struct PlyCounts {
    /// Positions reached for the first time. Symmetric positions count once.
    pub unique: u64,
    /// Number of these positions that Black wins.
    pub black_wins: u64,
    /// Number of these positions that White wins.
    pub white_wins: u64,
    /// Number of these positions without a move.
    pub terminals: u64,
}

impl Sum for PlyCounts {
    fn sum<I: Iterator<Item = PlyCounts>>(counts: I) -> PlyCounts {
        counts.fold(PlyCounts::default(), |sum, counts| PlyCounts {
            unique: sum.unique + counts.unique,
            black_wins: sum.black_wins + counts.black_wins,
            white_wins: sum.white_wins + counts.white_wins,
            terminals: sum.terminals + counts.terminals,
        })
    }
}

/// Error of a search of the state space.
#[derive(Debug, thiserror::Error)]
pub enum StateSpaceError {
    /// The board has too many squares.
    #[error(
        "a board of {board} has {} squares: the state space is searched on boards of up to \
         {MAX_SQUARES}", board.squares()
    )]
    TooLarge {
        /// The board.
        board: Dimensions,
    },
    /// Memory cannot be reserved.
    #[error("cannot reserve memory for the positions of a band: {0}")]
    Memory(#[from] io::Error),
    /// The stop flag was set, or the observer ended the search.
    #[error("interrupted")]
    Interrupted,
}

impl StateSpaceError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            StateSpaceError::TooLarge { .. } => ErrorKind::Usage,
            StateSpaceError::Memory(_) => ErrorKind::Limit,
            StateSpaceError::Interrupted => ErrorKind::Interrupted,
        }
    }
}

/// Maximum number of squares of a board whose state space is searched.
pub const MAX_SQUARES: u32 = 36;

/// Progress and results of [`statespace()`].
#[derive(Debug)]
pub enum StateSpaceEvent<'a> {
    /// The values of all positions with `black` black stones have been computed.
    Values {
        /// Number of black stones of these positions.
        black: u32,
        /// Number of black squares of the board, at which the computation ends.
        of: u32,
    },
    /// A ply is complete.
    Ply(&'a Ply),
    /// Estimate of the work that has been done and of all work. Sent after every [`StateSpaceEvent::Values`] and
    /// [`StateSpaceEvent::Ply`]. Games can end before all work is done.
    Work {
        /// Work that has been done.
        done: u64,
        /// All work.
        of: u64,
    },
    /// All reached positions with a certain number of black stones have been found. Sent for every number of
    /// black stones, the greatest first.
    Band {
        /// Rows of the reached positions, by side to move.
        reached: [&'a Band; 2],
        /// Rows of the positions that the side to move wins.
        wins: [&'a Band; 2],
    },
}

/// The positions of one ply that have the same number of black stones.
struct Frontier {
    /// The rows. A row has a meaning only if its element of `filled` is true.
    rows: Band,
    /// By row: true if the row contains a position.
    filled: Vec<bool>,
}

/// A jump of one side, with its effect on rows of reached positions.
struct ReachJump {
    jump: Jump,
    /// Relation that maps a row of reached positions before the jump to the positions after it.
    relation: RowJump,
    /// Relation that maps a row of ones to the positions in which the jump is possible.
    possible: RowJump,
}

/// Data that does not change during the search.
struct StateSpaceSearch<'a> {
    index: &'a Index,
    ops: RowOps,
    images: Images,
    /// The jumps, by the player who jumps.
    jumps: [Vec<ReachJump>; 2],
    /// A row with all bits set.
    ones: Vec<u64>,
    /// By stabiliser of a black pattern ([`stabiliser`]): the white patterns that are the least of the patterns to
    /// which the stabiliser maps them. These patterns are counted; equivalent ones are not. `None` for stabilisers
    /// that do not occur, and for the one that contains only the identity.
    least: Vec<Option<Vec<u64>>>,
}

/// Number of bytes of memory that the search of a board needs at its peak: 21/4 times the bytes of all rows of one
/// side to move. Values and reached positions have all rows of both sides to move, which is 4 times these bytes.
/// The rest is for two plies, which do not use all rows. Measured: 10.5 GiB on 6×6, and 20.3 GiB on 4×9, which has
/// half the symmetries. The estimates are 10.7 GiB and 21.1 GiB.
pub fn memory_needed(board: &Board) -> u64 {
    let index = Index::new(board.clone(), false);
    let black = 0..=index.squares(Colour::Black);
    let rows: u128 = black.map(|b| u128::from(index.rows(b))).sum();
    let row_bytes = ((1u128 << index.squares(Colour::White)) / 8).max(64);
    u64::try_from(rows * row_bytes * 21 / 4).unwrap_or(u64::MAX)
}

/// Searches the state space of a board of up to [`MAX_SQUARES`] squares. Returns the plies from 0
/// to the last with a position.
///
/// Needs [`memory_needed`] bytes of memory. The function does not check whether so much memory is available.
///
/// # Errors
/// If the board is too large, memory cannot be reserved, `stop` was set, or the observer returns
/// [`ControlFlow::Break`].
pub fn statespace(
    board: &Board,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(StateSpaceEvent<'_>) -> ControlFlow<()>,
) -> Result<Vec<Ply>, StateSpaceError> {
    if board.dimensions().squares() > MAX_SQUARES {
        return Err(StateSpaceError::TooLarge { board: board.dimensions() });
    }
    let index = Index::new(board.clone(), false);
    let black = index.numbering().count(Colour::Black);
    let (mut done, of) = (
        0,
        work_of_values(&index, 0..=black)
            + (0..=2 * black).map(|ply| work_of_ply(&index, ply)).sum::<u64>(),
    );
    let mut send = |event: StateSpaceEvent<'_>| {
        let work = match event {
            StateSpaceEvent::Values { black, .. } => work_of_values(&index, black..=black),
            StateSpaceEvent::Ply(ply) => work_of_ply(&index, ply.ply),
            StateSpaceEvent::Band { .. } | StateSpaceEvent::Work { .. } => 0,
        };
        done += work;
        let work = (work > 0).then_some(StateSpaceEvent::Work { done, of });
        match [Some(event), work].into_iter().flatten().try_for_each(&mut *observe) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(StateSpaceError::Interrupted),
        }
    };
    let sweep = Sweep::new(&index);
    let (mut black_wins, mut white_wins) = (Vec::new(), Vec::new());
    for b in 0..=black {
        check(stop)?;
        let white = sweep.white_wins(b, &black_wins)?;
        black_wins.push(sweep.black_wins(&white)?);
        white_wins.push(white);
        send(StateSpaceEvent::Values { black: b, of: black })?;
    }
    let search = StateSpaceSearch::new(&index);
    let wins = [black_wins, white_wins];
    let (mut plies, positions) = search.removals(&wins);
    for ply in &plies {
        send(StateSpaceEvent::Ply(ply))?;
    }
    search.run(search.frontier(&positions)?, wins, stop, &mut send, &mut plies)?;
    Ok(plies)
}

/// Estimated work for all values with these numbers of black stones. A row takes some three times as long as a row of
/// a ply, measured on 5x6.
fn work_of_values(index: &Index, black: RangeInclusive<u32>) -> u64 {
    3 * black.map(|black| index.rows(black)).sum::<u64>()
}

/// Estimated work for a ply: the number of rows with as many black stones as most positions of the ply have. Each of
/// White's jumps takes at least one of them, and rarely takes two.
fn work_of_ply(index: &Index, ply: u32) -> u64 {
    let (all, jumps) = (index.numbering().count(Colour::Black), ply / 2);
    let left = |taken: u32| all.saturating_sub(taken);
    (left(jumps * 3 / 2)..=left(jumps)).map(|black| index.rows(black)).sum()
}

fn check(stop: &AtomicBool) -> Result<(), StateSpaceError> {
    if stop.load(Ordering::Relaxed) { Err(StateSpaceError::Interrupted) } else { Ok(()) }
}

impl<'a> StateSpaceSearch<'a> {
    fn new(index: &'a Index) -> Self {
        let (board, numbering) = (index.board(), index.numbering());
        let white = numbering.count(Colour::White);
        let reaching = |mover: Colour| {
            let make = |jump: Jump| {
                let Jump { from, to, landings, taken } = jump;
                let (relation, possible) = match mover {
                    // Leads from (B, W) to (B', W without the taken stones).
                    Colour::Black => {
                        (RowJump::new(white, 0, taken, taken), RowJump::new(white, taken, 0, 0))
                    }
                    // Leads from (B, W) to (B without the taken stones, W with the stone moved).
                    Colour::White => (
                        RowJump::new(white, to, landings ^ to | from, from | to),
                        RowJump::new(white, from, landings, 0),
                    ),
                };
                ReachJump { jump, relation, possible }
            };
            jumps(board, numbering, mover).into_iter().map(make).collect()
        };
        let row_words = row_words(white);
        let mut search = StateSpaceSearch {
            index,
            ops: RowOps::detect(),
            images: Images::new(numbering),
            jumps: [reaching(Colour::Black), reaching(Colour::White)],
            ones: vec![u64::MAX; row_words],
            least: vec![None; 256],
        };
        for black in 0..=numbering.count(Colour::Black) {
            for &pattern in index.orbits(black).patterns() {
                let set = stabiliser(numbering, pattern);
                if set != 1 && search.least[usize::from(set)].is_none() {
                    let mut row = vec![0u64; row_words];
                    for p in 0..1u64 << white {
                        let image = |g| numbering.image(Colour::White, g, p as u32);
                        let mut members = (0..8).filter(|g| set >> g & 1 == 1);
                        if members.all(|g| u64::from(image(g)) >= p) {
                            row[p as usize / 64] |= 1 << (p % 64);
                        }
                    }
                    search.least[usize::from(set)] = Some(row);
                }
            }
        }
        search
    }

    /// Counts the positions of plies 0 and 1 one by one. Returns these plies and the positions of ply 2.
    fn removals(&self, wins: &[Vec<Band>; 2]) -> (Vec<Ply>, Vec<Position>) {
        let board = self.index.board();
        let mut plies = Vec::new();
        let mut positions = vec![Position::start(board)];
        for ply in 0..2 {
            let mut here = PlyCounts::default();
            for position in &positions {
                let black = self.wins(wins, position) == (position.to_move() == Colour::Black);
                here.unique += 1;
                here.black_wins += u64::from(black);
                here.white_wins += u64::from(!black);
                here.terminals += u64::from(position.moves(board).is_empty());
            }
            if here.unique > 0 {
                plies.push(Ply { ply, counts: here });
            }
            positions = successors(board, &positions);
        }
        (plies, positions)
    }

    /// Returns true if the side to move wins. Positions of the removal phase are searched up to the jumping
    /// phase.
    fn wins(&self, wins: &[Vec<Band>; 2], position: &Position) -> bool {
        let board = self.index.board();
        if (board.all() & !position.occupied()).count_ones() >= 2 {
            let address = self.index.address(position.occupied(), position.to_move());
            let band = &wins[address.to_move.index()][address.black as usize];
            let pattern = self.index.ranks(Colour::White).unrank(address.white, address.column);
            return band.row_bits(address.row)[pattern as usize];
        }
        position.moves(board).into_iter().any(|m| !self.wins(wins, &position.play(board, m)))
    }

    /// Searches the jumping phase. `frontier` has the positions of its first ply (ply 2), with Black to move.
    fn run(
        &self,
        mut frontier: Vec<Option<Frontier>>,
        mut wins: [Vec<Band>; 2],
        stop: &AtomicBool,
        send: &mut dyn FnMut(StateSpaceEvent<'_>) -> Result<(), StateSpaceError>,
        plies: &mut Vec<Ply>,
    ) -> Result<(), StateSpaceError> {
        let black = self.index.numbering().count(Colour::Black);
        let mut reached = [Vec::new(), Vec::new()];
        for b in 0..=black {
            for side in &mut reached {
                side.push(Band::zeroed(self.index, b)?);
            }
        }
        let mut spare: Vec<Option<Frontier>> = frontier.iter().map(|_| None).collect();
        let mut mover = Colour::Black;
        let mut ply = 2;
        loop {
            // The maximum number of black stones in the frontier. Bands with more are complete.
            let top = frontier.iter().rposition(|f| f.as_ref().is_some_and(|f| f.any()));
            while wins[0].len() > top.map_or(0, |top| top + 1) {
                let mut pop =
                    |bands: &mut Vec<Band>| bands.pop().expect("as many bands as `wins` has");
                let (r, w) = (reached.each_mut().map(&mut pop), wins.each_mut().map(&mut pop));
                // Frees the memory of these frontiers, which contain no positions.
                (spare[wins[0].len()], frontier[wins[0].len()]) = (None, None);
                send(StateSpaceEvent::Band { reached: r.each_ref(), wins: w.each_ref() })?;
            }
            if top.is_none() {
                return Ok(());
            }
            let mut here = PlyCounts::default();
            let side = mover.index();
            for (b, frontier) in frontier.iter_mut().enumerate() {
                check(stop)?;
                if let Some(frontier) = frontier {
                    self.count_new(
                        frontier,
                        &mut reached[side][b],
                        &wins[side][b],
                        mover,
                        &mut here,
                    );
                }
            }
            if here.unique > 0 {
                let here = Ply { ply, counts: here };
                plies.push(here);
                send(StateSpaceEvent::Ply(&here))?;
            }
            let mut next = Vec::with_capacity(frontier.len());
            for (b, spare) in (0..=black).zip(&mut spare) {
                check(stop)?;
                next.push(self.gather(&frontier, mover, b, spare)?);
            }
            // The memory of this ply's rows is used again for the ply after the next.
            for (old, spare) in std::mem::replace(&mut frontier, next).into_iter().zip(&mut spare) {
                *spare = old.or(spare.take());
            }
            mover = !mover;
            ply += 1;
        }
    }

    /// Returns rows with the given positions.
    fn frontier(&self, positions: &[Position]) -> io::Result<Vec<Option<Frontier>>> {
        let numbering = self.index.numbering();
        let mut frontier: Vec<Option<Frontier>> =
            (0..=numbering.count(Colour::Black)).map(|_| None).collect();
        for position in positions {
            let [black, white] = numbering.pack(position.occupied());
            // All images are added: if a symmetry maps a black pattern to itself, it must map the row to itself
            // as well.
            for g in 0..numbering.symmetries() {
                let black = numbering.image(Colour::Black, g, black);
                let white = numbering.image(Colour::White, g, white);
                let stones = black.count_ones();
                let patterns = self.index.orbits(stones).patterns();
                let Ok(row) = patterns.binary_search(&black) else { continue };
                let slot = &mut frontier[stones as usize];
                if slot.is_none() {
                    *slot = Some(Frontier::new(self.index, stones)?);
                }
                let band = slot.as_mut().expect("made above");
                band.filled[row] = true;
                band.rows.row_mut(row as u32)[white as usize / 64] |= 1 << (white % 64);
            }
        }
        Ok(frontier)
    }

    /// Returns the rows with `black` black stones to which the mover's jumps from a frontier lead; `None` if the
    /// frontier has no source rows for them. The memory of `spare` is used again if there is any, because
    /// overwriting old pages is faster than getting new ones from the system.
    fn gather(
        &self,
        frontier: &[Option<Frontier>],
        mover: Colour,
        black: u32,
        spare: &mut Option<Frontier>,
    ) -> io::Result<Option<Frontier>> {
        let sources = |taken: u32| -> Option<&Frontier> {
            let from = match mover {
                Colour::Black => black,
                Colour::White => black + taken,
            };
            frontier.get(from as usize)?.as_ref()
        };
        let longest = self.index.board().longest_jump();
        if (1..=longest).all(|taken| sources(taken).is_none()) {
            return Ok(None);
        }
        let mut next = match spare.take() {
            Some(mut frontier) => {
                frontier.filled.fill(false);
                frontier
            }
            None => Frontier::new(self.index, black)?,
        };
        let patterns = self.index.orbits(black).patterns();
        let numbering = self.index.numbering();
        let rows = (next.rows.par_rows_mut(), &mut next.filled, patterns).into_par_iter();
        rows.for_each_init(Vec::new, |scratch, (row, filled, &pattern)| {
            // White's jumps over the same stones have the same source row.
            let same = |a: &ReachJump, b: &ReachJump| {
                mover == Colour::White && a.jump.taken == b.jump.taken
            };
            for group in self.jumps[mover.index()].chunk_by(same) {
                let Jump { from, to, landings, taken } = group[0].jump;
                let before = match mover {
                    Colour::Black if pattern & (landings | from) == to => pattern ^ from ^ to,
                    Colour::White if pattern & taken == 0 => pattern | taken,
                    _ => continue,
                };
                let Some(source) = sources(taken.count_ones()) else { continue };
                let orbits = self.index.orbits(before.count_ones());
                let at = orbits.row(numbering, self.index.ranks(Colour::Black), before);
                if !source.filled[at.index as usize] {
                    continue;
                }
                if !*filled {
                    row.fill(0);
                    *filled = true;
                }
                let rows = source.rows.row(at.index);
                let source = self.images.row(self.ops, rows, at.symmetry, scratch);
                for ReachJump { relation, .. } in group {
                    self.ops.apply::<false>(relation, row, source);
                }
            }
        });
        Ok(Some(next))
    }

    /// Removes from a frontier all positions that have been reached before. Adds the remaining positions to
    /// `reached`, and counts them.
    fn count_new(
        &self,
        frontier: &mut Frontier,
        reached: &mut Band,
        wins: &Band,
        mover: Colour,
        count: &mut PlyCounts,
    ) {
        let numbering = self.index.numbering();
        let patterns = self.index.orbits(wins.black()).patterns();
        let (rows, filled) = (frontier.rows.par_rows_mut(), &mut frontier.filled);
        let [unique, won, terminals] =
            (rows, filled, reached.par_rows_mut(), wins.par_rows(), patterns)
                .into_par_iter()
                .filter(|(_, filled, ..)| **filled)
                .map_init(
                    || vec![0u64; wins.row_words()],
                    |movable, (row, filled, reached, wins, &pattern)| {
                        let mut any = 0;
                        for (new, old) in row.iter_mut().zip(reached) {
                            *new &= !*old;
                            *old |= *new;
                            any |= *new;
                        }
                        *filled = any != 0;
                        if any == 0 {
                            return [0; 3];
                        }
                        self.movable(pattern, mover, movable);
                        let set = stabiliser(numbering, pattern);
                        let least = self.least[usize::from(set)].as_deref().unwrap_or(&self.ones);
                        let (mut unique, mut won, mut terminal) = (0, 0, 0);
                        for (((new, least), win), movable) in
                            row.iter().zip(least).zip(wins).zip(movable)
                        {
                            let new = new & least;
                            unique += u64::from(new.count_ones());
                            won += u64::from((new & win).count_ones());
                            terminal += u64::from((new & !*movable).count_ones());
                        }
                        [unique, won, terminal]
                    },
                )
                .reduce(|| [0; 3], |a, b| [0, 1, 2].map(|at| a[at] + b[at]));
        count.unique += unique;
        count.terminals += terminals;
        let [by_mover, by_other] = match mover {
            Colour::Black => [&mut count.black_wins, &mut count.white_wins],
            Colour::White => [&mut count.white_wins, &mut count.black_wins],
        };
        *by_mover += won;
        *by_other += unique - won;
    }

    /// Writes to `row` the white patterns with which the mover has a jump. `pattern` is the black pattern.
    fn movable(&self, pattern: u32, mover: Colour, row: &mut [u64]) {
        row.fill(0);
        for ReachJump { jump, possible, .. } in &self.jumps[mover.index()] {
            let possible_here = match mover {
                Colour::Black => pattern & jump.from != 0 && pattern & jump.landings == 0,
                Colour::White => pattern & jump.taken == jump.taken,
            };
            if possible_here {
                self.ops.apply::<false>(possible, row, &self.ones);
            }
        }
    }
}

impl Frontier {
    fn new(index: &Index, black: u32) -> io::Result<Self> {
        let rows = Band::zeroed(index, black)?;
        Ok(Frontier { rows, filled: vec![false; index.rows(black) as usize] })
    }

    fn any(&self) -> bool {
        self.filled.contains(&true)
    }
}

/// Returns the positions after one move, one of each set of equivalent positions.
fn successors(board: &Board, positions: &[Position]) -> Vec<Position> {
    let mut codes: Vec<u64> = positions
        .iter()
        .flat_map(|p| p.moves(board).into_iter().map(|m| p.play(board, m)))
        .map(|p| p.code(board))
        .collect();
    codes.sort_unstable();
    codes.dedup();
    codes.into_iter().map(|code| Position::from_code(board, code)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_of_a_frontier_may_be_empty() {
        let board = Board::new("3x4".parse().unwrap());
        let index = Index::new(board, false);
        let (search, sweep) = (StateSpaceSearch::new(&index), Sweep::new(&index));
        let (mut black_wins, mut white_wins) = (Vec::new(), Vec::new());
        for black in 0..=6 {
            white_wins.push(sweep.white_wins(black, &black_wins).unwrap());
            black_wins.push(sweep.black_wins(&white_wins[black as usize]).unwrap());
        }
        let (wins, mut plies) = ([black_wins, white_wins], Vec::new());
        let mut frontier = search.frontier(&search.removals(&wins).1).unwrap();
        let top = frontier.iter().rposition(Option::is_some).unwrap();
        frontier[top + 1] = Some(Frontier::new(&index, top as u32 + 1).unwrap());
        let (stop, mut ignore) = (AtomicBool::new(false), |_: StateSpaceEvent<'_>| Ok(()));
        search.run(frontier, wins, &stop, &mut ignore, &mut plies).unwrap();
        let all = statespace(index.board(), &stop, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(plies, all[2..]);
    }
}
