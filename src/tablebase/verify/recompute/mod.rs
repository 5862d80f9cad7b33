//! The deep check of a database: every value against those of its successors.
//!
//! Every address is decoded to its stones, all moves are played on the board, and the positions after
//! the moves are looked up. The only code that the check shares with the computation of databases is the
//! numbering of positions ([`Index`] and its parts), which has its own tests. Values are compared only with
//! values of the same database. The check is an induction: the values of a layer follow from those of the
//! layers with fewer stones.
//!
//! The positions of a row share their black stones. So the jumps that the black stones allow, and a part
//! of the successors' addresses, are computed once for a row. To check a position takes some 30 ns.

mod remoteness;

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use crate::konane::symmetry::permute;
use crate::konane::{Board, Colour, Position};
use crate::tablebase::builder::{BuildMonitor, BuildObserver};
use crate::tablebase::database::Database;
use crate::tablebase::files::{BlockKey, BlockKind, DatabaseError, LayerFile, Metric, Scope};
use crate::tablebase::index::{Address, Index, Row, stabiliser};

/// Number of positions that are checked together. Their working memory takes 16 KiB, which stay in the L1
/// cache.
const STRETCH: usize = 2048;

/// The values of a block: a bit for each position, or a byte with its remoteness.
struct BlockValues {
    bytes: Vec<u8>,
    row_bytes: usize,
}

impl BlockValues {
    fn row(&self, row: u32) -> &[u8] {
        &self.bytes[row as usize * self.row_bytes..][..self.row_bytes]
    }

    #[inline(always)]
    fn get(&self, row: u32, column: u32) -> bool {
        get(&self.bytes[row as usize * self.row_bytes..], column)
    }
}

#[inline(always)]
fn get(row: &[u8], column: u32) -> bool {
    row[column as usize / 8] >> (column % 8) & 1 == 1
}

/// A jump of the side to move that the black stones of a row allow.
struct CheckedJump<'a> {
    /// White squares that must be occupied, as a white pattern.
    occupied: u32,
    /// White squares that must be empty.
    empty: u32,
    /// White squares that the jump changes.
    changed: u32,
    /// The values of the positions after the jump: outcomes or remotenesses.
    wins: &'a BlockValues,
    /// In scope reachable: the marks of the positions after the jump.
    reached: Option<&'a BlockValues>,
    lookup: RowLookup<'a>,
}

/// Look-up of the positions after a jump.
enum RowLookup<'a> {
    /// The positions after the jump have the same black stones, and therefore the same row.
    Same(Row),
    /// The addresses of the positions after the jump have exchanged colours. `rows` is indexed by the rank of
    /// the white pattern after the jump and before the exchange. `columns` is indexed by the symmetry of the row.
    Exchanged { rows: &'a [Row], columns: [u32; 8] },
}

/// A wrong value at an address.
struct Fault {
    column: u32,
    what: &'static str,
    expected: Box<str>,
    got: Box<str>,
}

impl Fault {
    fn value(column: u32, expected: bool, got: bool) -> Self {
        let name = |win| if win { "a win" } else { "a loss" }.into();
        Fault { column, what: "the value", expected: name(expected), got: name(got) }
    }

    fn reached(column: u32, expected: bool) -> Self {
        let name = |reached| if reached { "reached" } else { "unreached" }.into();
        Fault { column, what: "the mark", expected: name(expected), got: name(!expected) }
    }
}

/// A check in progress.
pub(super) struct Recomputation<'a> {
    database: &'a Database,
    index: &'a Index,
    board: &'a Board,
    scope: Scope,
    monitor: BuildMonitor<'a>,
    /// The blocks that have been checked, as far down as jumps from the current layer can lead.
    below: BTreeMap<BlockKey, BlockValues>,
    /// The positions after the two removals. The jumping phase of every game begins with one of them.
    starts: Vec<Address>,
    /// The symmetry that exchanges the colours, if the addresses of the database exchange them.
    exchange: Option<&'a [u8]>,
    /// By number of white stones: the result of the function `exchanged_rows`.
    exchanged_rows: Vec<OnceLock<Box<[Row]>>>,
}

impl<'a> Recomputation<'a> {
    pub(super) fn new(
        database: &'a Database,
        observer: &'a dyn BuildObserver,
        stop: &'a AtomicBool,
    ) -> Self {
        let (index, board) = (database.index(), database.board());
        let layers = 0..=database.manifest().max_stones();
        let addresses: u128 = layers.map(|stones| index.layer_addresses(stones)).sum();
        let total = addresses * index.sides().len() as u128;
        let mut starts = Vec::new();
        let start = Position::start(board);
        for first in start.moves(board) {
            let after = start.play(board, first);
            for second in after.moves(board) {
                let position = after.play(board, second);
                starts.push(index.address(position.occupied(), position.to_move()));
            }
        }
        Recomputation {
            database,
            index,
            board,
            scope: database.manifest().scope,
            monitor: BuildMonitor::new(observer, stop, total.try_into().unwrap_or(u64::MAX)),
            below: BTreeMap::new(),
            starts,
            // The index uses the same symmetry.
            exchange: board
                .symmetries()
                .exchanging()
                .first()
                .map(|g| &g[..])
                .filter(|_| index.exchanges()),
            exchanged_rows: (0..=index.numbering().count(Colour::White))
                .map(|_| OnceLock::new())
                .collect(),
        }
    }

    /// Number of addresses that have been checked.
    pub(super) fn done(&self) -> u64 {
        self.monitor.done()
    }

    /// Checks a layer. All layers with fewer stones must have been checked before.
    pub(super) fn layer(&mut self, stones: u32) -> Result<(), DatabaseError> {
        let file = self.database.layer(stones)?;
        let least = stones.saturating_sub(self.board.longest_jump());
        self.below.retain(|key, _| key.black + key.white >= least);
        for block in file.blocks() {
            let key = block.key;
            if key.kind != BlockKind::Wins {
                continue;
            }
            self.monitor.check()?;
            let wins = match self.database.metric() {
                Metric::Outcome => self.read(file, key)?,
                Metric::Remoteness => self.read_remotenesses(file, key)?,
            };
            let reached = match self.scope {
                Scope::Complete => None,
                Scope::Reachable => {
                    let key = BlockKey { kind: BlockKind::Reached, ..key };
                    Some((key, self.read(file, key)?))
                }
            };
            self.block(file, key, &wins, reached.as_ref().map(|(_, bits)| bits))?;
            self.below.insert(key, wins);
            self.below.extend(reached);
        }
        Ok(())
    }

    fn read(&self, file: &LayerFile, key: BlockKey) -> Result<BlockValues, DatabaseError> {
        let row_bytes = file.header().row_bytes(key.white) as usize;
        Ok(BlockValues { bytes: file.read_block(key)?, row_bytes })
    }

    fn block(
        &self,
        file: &LayerFile,
        key: BlockKey,
        wins: &BlockValues,
        reached: Option<&BlockValues>,
    ) -> Result<(), DatabaseError> {
        let ranks = self.index.ranks(Colour::White);
        let whites: Vec<u32> = ranks.patterns(key.white).collect();
        let patterns = self.index.orbits(key.black).patterns();
        let fault = (0..patterns.len() as u32).into_par_iter().find_map_first(|row| {
            if let Err(interrupted) = self.monitor.check() {
                return Some(interrupted);
            }
            let pattern = patterns[row as usize];
            let marks = reached.map(|bits| bits.row(row));
            let fault = self.row(key, row, pattern, &whites, wins.row(row), marks);
            self.monitor.advance(whites.len() as u64);
            fault.map(|Fault { column, what, expected, got }| {
                let BlockKey { to_move, black, white, .. } = key;
                let address = Address { to_move, black, white, row, column };
                let position =
                    Position::new_unchecked(self.board, self.index.occupied(&address), to_move);
                let position = position.to_string();
                let path = file.path().to_owned();
                DatabaseError::WrongValue { path, position, what, expected, got }
            })
        });
        fault.map_or(Ok(()), Err)
    }

    /// Checks all positions of a row.
    fn row(
        &self,
        key: BlockKey,
        row: u32,
        pattern: u32,
        whites: &[u32],
        wins: &[u8],
        reached: Option<&[u8]>,
    ) -> Option<Fault> {
        let jumps = self.jumps(pattern, key);
        if self.database.metric() == Metric::Remoteness {
            return self.remotenesses(&jumps, whites, wins);
        }
        let mut won = [0u8; STRETCH];
        let mut open = [0u8; STRETCH];
        let mut list = [0u16; STRETCH];
        for (stretch, whites) in whites.chunks(STRETCH).enumerate() {
            let first = (stretch * STRETCH) as u32;
            let won = &mut won[..whites.len()];
            won.fill(0);
            match reached {
                None => open.fill(1),
                Some(marks) => {
                    for (column, open) in (first..).zip(&mut open[..whites.len()]) {
                        *open = u8::from(get(marks, column));
                    }
                }
            }
            for jump in &jumps {
                // First the positions in which the jump is possible are listed, without branches. The
                // look-ups after this are independent of each other, so the processor can wait for many of
                // them at the same time.
                let mut jumping = 0;
                for (at, (&white, &open)) in (0u16..).zip(whites.iter().zip(&open)) {
                    list[jumping] = at;
                    let may = white & jump.occupied == jump.occupied && white & jump.empty == 0;
                    jumping += usize::from(may & (open != 0));
                }
                for &at in &list[..jumping] {
                    let (row, column) = self.look_up(jump, whites[usize::from(at)] ^ jump.changed);
                    won[usize::from(at)] |= u8::from(!jump.wins.get(row, column));
                    if jump.reached.is_some_and(|marks| !marks.get(row, column)) {
                        let what = "the mark of a position after one move";
                        return Some(Fault { what, ..Fault::reached(first + u32::from(at), true) });
                    }
                }
                if reached.is_none() {
                    // A position that is already won needs no further moves.
                    for (open, &won) in open.iter_mut().zip(won.iter()) {
                        *open = won ^ 1;
                    }
                }
            }
            for (column, &won) in (first..).zip(won.iter()) {
                if get(wins, column) != (won != 0) {
                    return Some(Fault::value(column, won != 0, won == 0));
                }
            }
        }
        reached.and_then(|reached| self.marks(key, row, pattern, reached))
    }

    /// Checks the marks of reached positions. The function `row` has already checked that the positions after
    /// all moves of a marked position are marked.
    fn marks(&self, key: BlockKey, row: u32, pattern: u32, reached: &[u8]) -> Option<Fault> {
        let columns = 0..self.index.ranks(Colour::White).count(key.white);
        let squares = self.board.dimensions().squares();
        let (ranks, numbering) = (self.index.ranks(Colour::White), self.index.numbering());
        let own = stabiliser(numbering, pattern);
        let images = |column| {
            let white = ranks.unrank(key.white, column);
            let own = (0..numbering.symmetries()).filter(move |g| own >> g & 1 == 1);
            own.map(move |g| ranks.rank(numbering.image(Colour::White, g, white)))
        };
        if key.black + key.white + 2 >= squares {
            // Games reach no other positions of these layers than those after the two removals.
            let BlockKey { to_move, black, white, .. } = key;
            return columns.into_iter().find_map(|column| {
                let is_start = images(column).any(|column| {
                    self.starts.contains(&Address { to_move, black, white, row, column })
                });
                (is_start != get(reached, column)).then(|| Fault::reached(column, is_start))
            });
        }
        if own == 1 {
            return None;
        }
        columns.into_iter().find_map(|column| {
            let unlike = images(column).any(|image| get(reached, image) != get(reached, column));
            unlike.then_some(Fault {
                column,
                what: "the mark",
                expected: "that of the equivalent addresses".into(),
                got: "another".into(),
            })
        })
    }

    /// Returns the jumps from the positions of a row, with the data to look up the positions after the jumps.
    fn jumps(&self, pattern: u32, key: BlockKey) -> Vec<CheckedJump<'_>> {
        let (numbering, ranks) = (self.index.numbering(), self.index.ranks(Colour::White));
        let black = numbering.unpack(Colour::Black, pattern);
        let side = !key.to_move;
        let white_of = |set: u64| numbering.pack(set)[Colour::White.index()];
        let mut jumps = Vec::new();
        for [occupied, empty, changed] in self.squares_of_jumps(black, key.to_move) {
            let lost = (occupied & changed).count_ones();
            let taken = if key.to_move == Colour::Black { lost } else { 0 };
            if key.white < occupied.count_ones() {
                continue;
            }
            let after = black ^ changed & self.board.squares_of(Colour::Black);
            let (to_move, white) = (side, key.white - taken);
            let (key, lookup) = match self.exchange.filter(|_| side == Colour::White) {
                Some(exchange) => {
                    let after = white_of(permute(exchange, after));
                    let column = |g| match g < numbering.symmetries() {
                        true => ranks.rank(numbering.image(Colour::White, g, after)),
                        false => 0,
                    };
                    let columns = std::array::from_fn(column);
                    let rows = self.exchanged_rows(exchange, white);
                    let (to_move, black, white) = (Colour::Black, white, after.count_ones());
                    let kind = BlockKind::Wins;
                    let lookup = RowLookup::Exchanged { rows, columns };
                    (BlockKey { kind, to_move, black, white }, lookup)
                }
                None => {
                    let after = numbering.pack(after)[Colour::Black.index()];
                    let black = after.count_ones();
                    let black_ranks = self.index.ranks(Colour::Black);
                    let row = self.index.orbits(black).row(numbering, black_ranks, after);
                    (
                        BlockKey { kind: BlockKind::Wins, to_move, black, white },
                        RowLookup::Same(row),
                    )
                }
            };
            let wins = self.below.get(&key).expect("the layers that jumps lead to are in memory");
            let reached = self.below.get(&BlockKey { kind: BlockKind::Reached, ..key });
            let [occupied, empty, changed] = [occupied, empty, changed].map(white_of);
            jumps.push(CheckedJump { occupied, empty, changed, wins, reached, lookup });
        }
        jumps
    }

    /// Returns the row and the column of the position after a jump, whose white pattern is `white`. The result
    /// is that of [`Index::address`], but the parts that depend on the black stones have been computed before.
    #[inline(always)]
    fn look_up(&self, jump: &CheckedJump<'_>, white: u32) -> (u32, u32) {
        let ranks = self.index.ranks(Colour::White);
        match &jump.lookup {
            RowLookup::Same(Row { index, symmetry }) => {
                let symmetry = usize::from(*symmetry);
                let image = self.index.numbering().image(Colour::White, symmetry, white);
                (*index, ranks.rank(image))
            }
            RowLookup::Exchanged { rows, columns } => {
                let row = rows[ranks.rank(white) as usize];
                (row.index, columns[usize::from(row.symmetry) % 8])
            }
        }
    }

    /// Returns the rows of positions with `white` white stones after the exchange of the colours, which turns
    /// the white stones into black ones. The index of a row is the rank of the white pattern.
    fn exchanged_rows(&self, exchange: &[u8], white: u32) -> &[Row] {
        self.exchanged_rows[white as usize].get_or_init(|| {
            let (numbering, orbits) = (self.index.numbering(), self.index.orbits(white));
            let row = |pattern| {
                let squares = permute(exchange, numbering.unpack(Colour::White, pattern));
                let pattern = numbering.pack(squares)[Colour::Black.index()];
                orbits.row(numbering, self.index.ranks(Colour::Black), pattern)
            };
            self.index.ranks(Colour::White).patterns(white).map(row).collect()
        })
    }

    /// Returns the jumps of a side that the black stones allow. A jump has three sets of squares: the white
    /// squares that must be occupied, the white squares that must be empty, and the squares of both colours
    /// that change.
    fn squares_of_jumps(&self, black: u64, to_move: Colour) -> Vec<[u64; 3]> {
        let dimensions = self.board.dimensions();
        let (ranks, files) = (dimensions.ranks() as i32, dimensions.files() as i32);
        let square = |rank: i32, file: i32| 1u64 << (rank * files + file);
        let mut jumps = Vec::new();
        for start in 0..dimensions.squares() {
            let from = 1u64 << start;
            let is_black = to_move == Colour::Black;
            if self.board.colour_of(start) != to_move || is_black && black & from == 0 {
                continue;
            }
            for (rank_step, file_step) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
                let (mut rank, mut file) = (start as i32 / files, start as i32 % files);
                let [mut occupied, mut empty, mut changed] =
                    [if is_black { 0 } else { from }, 0, from];
                let mut last = from;
                loop {
                    let (over_rank, over_file) = (rank + rank_step, file + file_step);
                    (rank, file) = (rank + 2 * rank_step, file + 2 * file_step);
                    if !(0..ranks).contains(&rank) || !(0..files).contains(&file) {
                        break;
                    }
                    let (over, to) = (square(over_rank, over_file), square(rank, file));
                    match to_move {
                        Colour::Black if black & to != 0 => break,
                        Colour::Black => occupied |= over,
                        Colour::White if black & over == 0 => break,
                        Colour::White => empty |= to,
                    }
                    // The stone does not stay on the landing square of the shorter jump.
                    if last != from {
                        changed ^= last;
                    }
                    changed ^= over | to;
                    last = to;
                    jumps.push([occupied, empty, changed]);
                }
            }
        }
        jumps
    }
}
