//! Remoteness by search, for positions of which no database has it: [`RemotenessSearch`].
//!
//! The search compares *ranks*. They number the remotenesses from the worst to the best for the side to move: 0, 2, 4, …
//! 62 have the ranks 0 to 31, and 63, … 5, 3, 1 have the ranks 32 to 63. A comparison of the rank of a position with a
//! number is a search of bounded depth: a rank of at least 63 is a win in 1 ply, one of at least 62 a win within 3. The
//! number of a won position is lowered from 63 and that of a lost position is raised from 1, until the answer changes. A
//! table has bounds of the ranks of all positions that were compared, so each iteration continues the one before.

use crate::konane::game::{Estimate, Konane, KonaneScratch};
use crate::konane::{Board, Position};
use crate::search::Value;
use crate::search::plain::game::{Child, Expansion, Game};
use crate::search::run::Limits;
use crate::system::try_reserve_exact;

/// Maximum number of stones of a position that is searched. With 32 stones the remoteness of most positions of 7x7 and
/// 8x8 is found within [`MAX_NODES`], and that of few positions of 6x6 (docs/research/tablebase.md).
const MAX_STONES: u32 = 32;

/// Node limit for a position and its moves. Such a search takes 0.4 to 0.9 s.
const MAX_NODES: u64 = 4_000_000;

/// Binary logarithm of the maximum number of entries of a table, which then has 16 MiB. In a search of [`MAX_NODES`]
/// nodes, at most every second entry that is stored replaces another one.
const MAX_ENTRIES_LOG2: u32 = 20;

/// Expansions between two polls of the clock and the stop flag: less than a millisecond.
const POLL_INTERVAL: u64 = 1024;

/// The highest rank: a win in 1 ply.
const HIGHEST: u8 = 63;

/// The lowest rank of a won position.
const LOWEST_WIN: u8 = 32;

/// Bounds of the rank of a position. In an empty entry they exclude no rank.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    code: u64,
    lowest: u8,
    highest: u8,
}

impl Bounds {
    const EMPTY: Bounds = Bounds { code: 0, lowest: 0, highest: HIGHEST };
}

/// A direct-mapped table of bounds for the search of a position and its moves. A new entry replaces the previous one.
#[derive(Debug)]
pub(super) struct RemotenessTable {
    position: Position,
    /// True if the remoteness of the position was not found within [`MAX_NODES`].
    is_exhausted: bool,
    /// Codes and remotenesses of the position and its moves, as far as they are found.
    found: Vec<(u64, u32)>,
    entries: Vec<Bounds>,
}

impl RemotenessTable {
    /// Returns an empty table. Returns `None` if the position has too many stones, or the memory cannot be allocated.
    pub fn new(position: &Position) -> Option<RemotenessTable> {
        let stones = position.occupied().count_ones();
        if stones > MAX_STONES {
            return None;
        }
        // The fewer stones, the fewer positions follow.
        let len = 1 << stones.clamp(8, MAX_ENTRIES_LOG2);
        let mut entries = Vec::new();
        try_reserve_exact(&mut entries, len).ok()?;
        entries.resize(len, Bounds::EMPTY);
        let (position, found) = (*position, Vec::new());
        Some(RemotenessTable { position, is_exhausted: false, found, entries })
    }

    /// Returns true if the table is for the search of this position.
    pub fn is_of(&self, position: &Position) -> bool {
        self.position == *position
    }

    /// Returns the remoteness of a position with this code, if it was found.
    pub fn remoteness(&self, code: u64) -> Option<u32> {
        let found = self.found.iter().find(|&&(found, _)| found == code);
        found.map(|&(_, plies)| plies)
    }

    fn bounds(&self, key: u64, code: u64) -> Bounds {
        let bounds = self.entries[self.index(key)];
        if bounds.code == code { bounds } else { Bounds::EMPTY }
    }

    fn index(&self, key: u64) -> usize {
        (key >> (u64::BITS - self.entries.len().ilog2())) as usize
    }
}

/// Search for the remoteness of a position and of the positions that follow.
pub(super) struct RemotenessSearch<'a> {
    game: Konane<'a>,
    board: &'a Board,
    scratch: KonaneScratch,
    /// Children of the positions on the path.
    children: Vec<Child>,
    table: RemotenessTable,
    limits: Limits<'a>,
    expansions: u64,
    nodes: u64,
    is_stopped: bool,
}

impl<'a> RemotenessSearch<'a> {
    /// Creates a search that ends when one of the limits is reached, or [`MAX_NODES`].
    pub fn new(board: &'a Board, table: RemotenessTable, limits: Limits<'a>) -> Self {
        RemotenessSearch {
            game: Konane::new(board, Estimate::Mobility),
            board,
            scratch: KonaneScratch::default(),
            children: Vec::new(),
            table,
            limits,
            expansions: 0,
            nodes: 0,
            is_stopped: false,
        }
    }

    /// Returns the table, and the number of nodes of this search.
    pub fn finish(self) -> (RemotenessTable, u64) {
        (self.table, self.nodes)
    }

    /// Returns the remoteness of the position of the table, like [`RemotenessSearch::remoteness`]. Does not repeat a
    /// search without result.
    pub fn root(&mut self, outcome: Value) -> Option<u32> {
        if self.table.is_exhausted {
            return None;
        }
        let position = self.table.position;
        let found = self.remoteness(&position, outcome);
        self.table.is_exhausted = found.is_none() && self.nodes >= MAX_NODES;
        found
    }

    /// Returns the remoteness of a position with this outcome, or `None` if a limit is reached, or if the outcome, which
    /// may come from a file, is wrong.
    pub fn remoteness(&mut self, position: &Position, outcome: Value) -> Option<u32> {
        let code = position.code(self.board);
        let plies = match self.table.remoteness(code) {
            Some(plies) => plies,
            None => {
                let plies = plies(self.rank(code, outcome)?);
                self.table.found.push((code, plies));
                plies
            }
        };
        ((plies % 2 == 1) == (outcome == Value::Win)).then_some(plies)
    }

    /// The rank of a position that is expected to have this outcome.
    fn rank(&mut self, code: u64, outcome: Value) -> Option<u8> {
        let mut rank;
        match outcome {
            Value::Win => {
                rank = HIGHEST;
                while !self.is_at_least(code, rank)? {
                    rank -= 1;
                }
            }
            Value::Loss => {
                rank = 0;
                while self.is_at_least(code, rank + 1)? {
                    rank += 1;
                }
            }
        }
        Some(rank)
    }

    /// Returns true if a move to `after` is best play in a position of this remoteness, which must be that of the
    /// position before the move. Returns `None` if a limit is reached.
    pub fn is_best(&mut self, after: &Position, remoteness: u32) -> Option<bool> {
        let half = (remoteness / 2) as u8;
        let rank = if remoteness % 2 == 1 { HIGHEST - half } else { half };
        Some(!self.is_at_least(after.code(self.board), needed_after(rank))?)
    }

    /// Compares the rank of a position. Returns `None` if a limit is reached.
    fn is_at_least(&mut self, code: u64, rank: u8) -> Option<bool> {
        if let Some(known) = self.known(code, rank) {
            return Some(known);
        }
        if self.must_stop() {
            return None;
        }
        self.expansions += 1;
        let base = self.children.len();
        match self.game.expand(code, &mut self.scratch, &mut self.children, |_| {}) {
            Expansion::Lost => {
                self.nodes += 1;
                self.store(code, 0, 0);
                Some(false)
            }
            Expansion::Won(_) => {
                self.nodes += 1;
                self.store(code, HIGHEST, HIGHEST);
                Some(true)
            }
            // There is a move, and none ends the game: neither the lowest nor the highest rank.
            Expansion::Open => {
                self.nodes += (self.children.len() - base) as u64;
                let found = match rank {
                    1 => Some(true),
                    HIGHEST => Some(false),
                    _ => self.is_any_below(base, needed_after(rank)),
                };
                self.children.truncate(base);
                match found? {
                    true => self.store(code, rank, HIGHEST - 1),
                    false => self.store(code, 1, rank - 1),
                }
                found
            }
        }
    }

    /// Returns true if one of the children from `base` on has a rank below this one. Those with the fewest moves come
    /// first.
    fn is_any_below(&mut self, base: usize, rank: u8) -> Option<bool> {
        self.children[base..].sort_by_key(|child| child.delta);
        let mut open = base;
        for index in base..self.children.len() {
            let child = self.children[index];
            match self.known(child.code, rank) {
                Some(false) => return Some(true),
                Some(true) => {}
                None => {
                    self.children[open] = child;
                    open += 1;
                }
            }
        }
        for index in base..open {
            if !self.is_at_least(self.children[index].code, rank)? {
                return Some(true);
            }
        }
        Some(false)
    }

    fn must_stop(&mut self) -> bool {
        let max_nodes = self.limits.nodes.map_or(MAX_NODES, |nodes| nodes.min(MAX_NODES));
        self.is_stopped |= self.nodes >= max_nodes
            || self.expansions.is_multiple_of(POLL_INTERVAL) && self.limits.reached().is_some();
        self.is_stopped
    }

    /// The comparison, if it follows from the bounds in the table.
    fn known(&self, code: u64, rank: u8) -> Option<bool> {
        let bounds = self.table.bounds(self.game.key(code), code);
        if bounds.lowest >= rank {
            Some(true)
        } else if bounds.highest < rank {
            Some(false)
        } else {
            None
        }
    }

    fn store(&mut self, code: u64, lowest: u8, highest: u8) {
        let index = self.table.index(self.game.key(code));
        let bounds = &mut self.table.entries[index];
        if bounds.code != code {
            *bounds = Bounds { code, ..Bounds::EMPTY };
        }
        bounds.lowest = bounds.lowest.max(lowest);
        bounds.highest = bounds.highest.min(highest);
    }
}

/// The remoteness of a rank.
fn plies(rank: u8) -> u32 {
    if rank >= LOWEST_WIN { 2 * u32::from(HIGHEST - rank) + 1 } else { 2 * u32::from(rank) }
}

/// A position has at least the rank `rank`, which is not 0, exactly if the position after one of its moves has a rank
/// below the returned one. If a position has the rank `rank`, the position after a move has to be below it for the move
/// to be best play.
///
/// A move to a position of an even remoteness r is a win in r + 1 plies: the ranks of both add up to 63. For odd
/// remotenesses the sum is 64.
fn needed_after(rank: u8) -> u8 {
    if rank >= LOWEST_WIN { HIGHEST + 1 - rank } else { HIGHEST + 2 - rank }
}
