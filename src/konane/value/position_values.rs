//! Values of positions: a memo from positions to games.

use ahash::RandomState;
use hashbrown::HashMap;

use super::super::board::Board;
use super::super::geometry::{Colour, Direction, squares};
use super::super::moves::for_each_landing_set;
use super::regions::regions;
use crate::cgt::{GameId, GameStore};
use crate::search::run::Reason;

/// Values of the positions of one board, and of all positions that follow from them.
pub(super) struct PositionValues<'a> {
    pub board: &'a Board,
    /// The value of each position by its code (see [`Self::code`]).
    memo: HashMap<u64, GameId, RandomState>,
    /// Splits every position into regions. On boards of one or two ranks or files, most positions fall into regions; on
    /// others, the splitting takes longer than it saves.
    pub splits_all: bool,
    /// Codes of the successors of the positions on the current path ([`Self::code`]), and their values.
    successors: Vec<((u64, bool), Option<GameId>)>,
    /// Values of the successors of one position.
    values: Vec<GameId>,
}

/// Counts and limits of an evaluation.
pub(super) struct Evaluation<'e, 'a> {
    pub games: &'e mut GameStore<'a>,
    /// Positions evaluated.
    pub positions: u64,
    pub max_positions: Option<u64>,
    pub observer: &'e mut dyn FnMut(&ValueProgress),
}

/// Progress of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct ValueProgress {
    /// Positions evaluated.
    pub positions: u64,
    /// Different values and their positions.
    pub games: u64,
    /// Bytes in use.
    pub memory_bytes: u64,
}

/// Positions between two calls of the observer.
const OBSERVER_INTERVAL: u64 = 1 << 12;

impl<'a> PositionValues<'a> {
    pub fn new(board: &'a Board) -> Self {
        let dimensions = board.dimensions();
        PositionValues {
            board,
            memo: HashMap::with_hasher(RandomState::with_seeds(1, 2, 3, 4)),
            splits_all: dimensions.ranks().min(dimensions.files()) <= 2,
            successors: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Returns the value of a position that is not split into regions.
    pub fn region_value(
        &mut self,
        occupied: u64,
        run: &mut Evaluation<'_, '_>,
    ) -> Result<GameId, Reason> {
        let result = self.evaluate(occupied, run);
        // An error leaves the list of the path.
        self.successors.clear();
        result
    }

    /// Returns the value of a position, if an earlier evaluation has found it.
    pub fn known(&self, occupied: u64, games: &GameStore<'_>) -> Option<GameId> {
        let (code, is_exchanged) = self.code(occupied);
        let value = *self.memo.get(&code)?;
        Some(if is_exchanged { games.negative(value) } else { value })
    }

    /// Returns the code of a position: its least image under all symmetries. The flag is true if a symmetry that exchanges
    /// the colours leads to this image, which then has the negative of the value.
    #[inline]
    pub fn code(&self, occupied: u64) -> (u64, bool) {
        let symmetries = self.board.symmetries();
        let least = symmetries.least_preserving(occupied);
        match symmetries.least_exchanging(occupied) {
            Some(exchanged) if exchanged < least => (exchanged, true),
            _ => (least, false),
        }
    }

    fn evaluate(&mut self, occupied: u64, run: &mut Evaluation<'_, '_>) -> Result<GameId, Reason> {
        let (code, is_exchanged) = self.code(occupied);
        let value = self.value_of(code, run)?;
        Ok(if is_exchanged { run.games.negative(value) } else { value })
    }

    /// Returns the value of the position with a code.
    fn value_of(&mut self, code: u64, run: &mut Evaluation<'_, '_>) -> Result<GameId, Reason> {
        if let Some(&value) = self.memo.get(&code) {
            return Ok(value);
        }
        let value = self.split(code, run)?;
        self.reserve(run.games)?;
        self.memo.insert(code, value);
        Ok(value)
    }

    /// Returns true if a position is evaluated as a whole. Otherwise calls `visit` with the codes of its regions.
    pub fn is_whole(&self, occupied: u64, mut visit: impl FnMut(u64)) -> bool {
        if !self.splits_all {
            return true;
        }
        let regions = regions(self.board, occupied);
        let is_whole = matches!(regions.as_slice(), [region] if region.occupied == occupied);
        if !is_whole {
            regions.into_iter().for_each(|region| visit(self.code(region.occupied).0));
        }
        is_whole
    }

    /// Returns the value of a position that is not in the memo.
    fn split(&mut self, occupied: u64, run: &mut Evaluation<'_, '_>) -> Result<GameId, Reason> {
        if !self.splits_all {
            return self.expand(occupied, run);
        }
        match regions(self.board, occupied).as_slice() {
            [] => Ok(run.games.zero()),
            [region] if region.occupied == occupied => self.expand(occupied, run),
            regions => {
                let mut sum = run.games.zero();
                for region in regions {
                    let value = self.evaluate(region.occupied, run)?;
                    sum = run.games.sum(sum, value)?;
                }
                Ok(sum)
            }
        }
    }

    /// Returns the value of a position from the values of its successors.
    fn expand(&mut self, occupied: u64, run: &mut Evaluation<'_, '_>) -> Result<GameId, Reason> {
        if run.max_positions.is_some_and(|max| run.positions >= max) {
            return Err(Reason::NodeLimit);
        }
        run.positions += 1;
        if run.positions.is_multiple_of(OBSERVER_INTERVAL) {
            let (games, memory_bytes) = (run.games.len() as u64, run.games.memory_bytes() as u64);
            (run.observer)(&ValueProgress { positions: run.positions, games, memory_bytes });
        }
        let first = self.successors.len();
        let [_, middle] = [Colour::Black, Colour::White].map(|colour| {
            let begin = self.successors.len();
            for_each_successor(self.board, occupied, colour, |after| {
                self.successors.push(((after, false), None));
            });
            begin
        });
        // The codes first, then all look-ups, then the searches: so the processor works on several of them at once.
        for place in first..self.successors.len() {
            self.successors[place].0 = self.code(self.successors[place].0.0);
        }
        for ((code, _), value) in &mut self.successors[first..] {
            *value = self.memo.get(code).copied();
        }
        for place in first..self.successors.len() {
            if let ((code, _), None) = self.successors[place] {
                self.successors[place].1 = Some(self.value_of(code, run)?);
            }
        }
        self.values.clear();
        for &((_, is_exchanged), value) in &self.successors[first..] {
            let value = value.expect("all successors are known");
            self.values.push(if is_exchanged { run.games.negative(value) } else { value });
        }
        let (left, right) = self.values.split_at(middle - first);
        let value = run.games.game(left, right)?;
        self.successors.truncate(first);
        Ok(value)
    }

    /// Returns the memory that the memo needs for a number of positions.
    pub fn memo_bytes(positions: u64) -> u64 {
        // Tables are full at 7/8, and one byte describes each place. While an entry of the last table but one moves to the
        // last, three tables of the former size are reserved.
        let places = (positions.saturating_mul(8) / 7).max(4).checked_next_power_of_two();
        let place_bytes = size_of::<(u64, GameId)>() as u64 + 1;
        places.map_or(u64::MAX, |places| (places / 2).saturating_mul(3 * place_bytes))
    }

    /// Reserves memory for an entry of the memo.
    fn reserve(&mut self, games: &mut GameStore<'_>) -> Result<(), Reason> {
        if self.memo.len() == self.memo.capacity() {
            let before = self.memo.allocation_size();
            // The old table is freed after the new one has been filled.
            games.reserve((2 * before).max(1 << 10))?;
            let reserved = self.memo.try_reserve(1).map_err(|_| Reason::Memory);
            games.release((2 * before).max(1 << 10));
            reserved?;
            games.reserve(self.memo.allocation_size() - before)?;
        }
        Ok(())
    }
}

/// Calls `visit` with the occupied squares after each jump of a colour.
#[inline]
pub(super) fn for_each_successor(
    board: &Board,
    occupied: u64,
    colour: Colour,
    mut visit: impl FnMut(u64),
) {
    for direction in Direction::ALL {
        let step = board.step(direction);
        for_each_landing_set(board, occupied, colour, direction, |taken, landings| {
            // Squares that a jump to square 0 or from it changes.
            let taken_stones =
                (0..taken).fold(0, |set, stone| set | 1u64 << ((2 * stone + 1) * step));
            let changed = 1 | taken_stones | 1u64 << (2 * taken * step);
            for to in squares(landings) {
                let low = if direction.is_forward() {
                    u32::from(to) - 2 * taken * step
                } else {
                    to.into()
                };
                visit(occupied ^ changed << low);
            }
        });
    }
}
