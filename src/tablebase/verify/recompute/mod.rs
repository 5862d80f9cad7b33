//! The deep check of a database: every value against those of its successors.
//!
//! The check decodes every address to its stones, plays all moves on the board, and looks up the positions after
//! the moves. The only code that it shares with the computation of databases is the numbering of positions
//! ([`Index`] and its parts), which has its own tests. Values are compared only with values of the same
//! database. The check is an induction: the values of a layer follow from those of the layers with fewer stones.
//!
//! A row is checked jump by jump ([`mod@jumps`]). Its positions share their black stones, so the jumps that these
//! allow are the same for the whole row. An [`Effect`] has the white patterns that allow a jump, as a bit for each,
//! and the places of the positions after it. It is computed once for all rows of a block. As soon as an outcome is
//! known to be a win, the position needs no further moves.
//!
//! The positions after a jump from a row share the stones of the colour that was black before the jump. So their
//! values lie in the same row of a block, or, if the index exchanges the colours, in a few columns of a block.
//! [`BlockValues`] stores these values in adjacent bytes. On 5x6, to check a position takes some 12 ns.

mod jumps;
mod remoteness;
mod values;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use jumps::{Change, Effect, Place, STRETCH, Stretch, jumps};
use values::{BlockValues, get_bit};

use crate::konane::symmetry::permute;
use crate::konane::{Board, Colour, Position};
use crate::tablebase::builder::{BuildMonitor, BuildObserver};
use crate::tablebase::database::Database;
use crate::tablebase::files::{BlockKey, BlockKind, DatabaseError, LayerFile, Metric, Scope};
use crate::tablebase::index::{Address, Index, SetMap, stabiliser};

/// All jumps of one side.
struct SideJumps {
    /// The changes of both colours. The number after them is equal for jumps with equal changes of the white stones.
    jumps: Vec<(Change, Change, usize)>,
    /// Number of different changes of the white stones.
    changes: usize,
}

impl SideJumps {
    fn new(index: &Index, side: Colour) -> Self {
        let mut changes: Vec<Change> = Vec::new();
        let jumps = jumps(index.board(), side).into_iter().map(|jump| {
            let [black, white] = [Colour::Black, Colour::White]
                .map(|colour| Change::new(index.numbering(), colour, jump));
            let number = changes.iter().position(|&other| other == white);
            let number = number.unwrap_or(changes.len());
            if number == changes.len() {
                changes.push(white);
            }
            (black, white, number)
        });
        SideJumps { jumps: jumps.collect(), changes: changes.len() }
    }
}

/// A jump that the black stones of a row allow, with the data to look up the positions after it.
struct RowJump<'a> {
    /// The change of the white stones.
    white: Change,
    /// Number of the change in [`SideJumps`].
    number: usize,
    /// The symmetry that maps the black stones after the jump to the canonical pattern. If the index exchanges the
    /// colours, it is 0, because the canonical pattern is that of the white stones.
    symmetry: u8,
    /// The values of the positions after the jump: outcomes or remotenesses.
    values: &'a [u8],
    /// In scope reachable: the marks of the positions after the jump.
    reached: Option<&'a [u8]>,
    /// By [`Place::line`]: index in `values` of the first value of the line that has the positions after the jump.
    lines: [usize; 8],
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
    /// The blocks that have been checked, as far down as jumps from the current layer can lead. If the index
    /// exchanges the colours, they are transposed.
    below: BTreeMap<BlockKey, BlockValues>,
    /// The positions after the two removals. The jumping phase of every game begins with one of them.
    starts: Vec<Address>,
    /// By side to move.
    jumps: [SideJumps; 2],
    /// By colour: maps a pattern to the pattern of the other colour after the exchange of the colours, if the
    /// index exchanges them.
    exchange: Option<[SetMap; 2]>,
}

impl<'a> Recomputation<'a> {
    pub(super) fn new(
        database: &'a Database,
        observer: &'a dyn BuildObserver,
        stop: &'a AtomicBool,
    ) -> Self {
        let (index, board, numbering) =
            (database.index(), database.board(), database.index().numbering());
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
        // The index uses the same symmetry.
        let exchange = board.symmetries().exchanging().first().filter(|_| index.exchanges());
        let exchange = exchange.map(|symmetry| {
            [Colour::Black, Colour::White].map(|colour| {
                SetMap::new(numbering.count(colour) as usize, |number| {
                    let image = permute(&symmetry[..], numbering.unpack(colour, 1 << number));
                    u64::from(numbering.pack(image)[(!colour).index()])
                })
            })
        });
        Recomputation {
            database,
            index,
            board,
            scope: database.manifest().scope,
            monitor: BuildMonitor::new(observer, stop, total.try_into().unwrap_or(u64::MAX)),
            below: BTreeMap::new(),
            starts,
            jumps: [Colour::Black, Colour::White].map(|side| SideJumps::new(index, side)),
            exchange,
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
            let values = match self.database.metric() {
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
            self.block(file, key, &values, reached.as_ref().map(|(_, bits)| bits))?;
            for (key, values) in reached.into_iter().chain([(key, values)]) {
                let values = match self.exchange {
                    Some(_) => values.transposed(block.columns as usize),
                    None => values,
                };
                self.below.insert(key, values);
            }
        }
        Ok(())
    }

    fn read(&self, file: &LayerFile, key: BlockKey) -> Result<BlockValues, DatabaseError> {
        let row_bytes = file.header().row_bytes(key.white) as usize;
        Ok(BlockValues::of_bits(file.read_block(key)?, row_bytes))
    }

    fn block(
        &self,
        file: &LayerFile,
        key: BlockKey,
        values: &BlockValues,
        reached: Option<&BlockValues>,
    ) -> Result<(), DatabaseError> {
        let ranks = self.index.ranks(Colour::White);
        let whites: Vec<u32> = ranks.patterns(key.white).collect();
        let patterns = self.index.orbits(key.black).patterns();
        let (mut rows, mut first) = (patterns.len() as u32, None);
        // Every pass over the rows ends at the first row with a fault. So a later pass searches only the rows
        // before it.
        let mut pass = |check: &(dyn Fn(u32) -> Option<Fault> + Sync)| {
            let found = (0..rows).into_par_iter().find_map_first(|row| {
                if let Err(interrupted) = self.monitor.check() {
                    return Some(Err(interrupted));
                }
                check(row).map(|fault| Ok((row, fault)))
            });
            if let Some((row, fault)) = found.transpose()? {
                (rows, first) = (row, Some((row, fault)));
            }
            Ok::<_, DatabaseError>(())
        };
        let changes = self.jumps[key.to_move.index()].changes;
        for (number, whites) in whites.chunks(STRETCH).enumerate() {
            let first = (number * STRETCH) as u32;
            let stretch =
                Stretch::new(first, whites, changes * self.index.numbering().symmetries());
            pass(&|row| {
                let jumps = self.row_jumps(patterns[row as usize], key);
                let values = values.line(row);
                let fault = match self.database.metric() {
                    Metric::Outcome => {
                        self.outcomes(&stretch, &jumps, values, reached.map(|bits| bits.line(row)))
                    }
                    Metric::Remoteness => self.remotenesses(&stretch, &jumps, values),
                };
                self.monitor.advance(stretch.whites.len() as u64);
                fault
            })?;
        }
        if let Some(reached) = reached {
            pass(&|row| self.marks(key, row, patterns[row as usize], reached))?;
        }
        let Some((row, Fault { column, what, expected, got })) = first else { return Ok(()) };
        let BlockKey { to_move, black, white, .. } = key;
        let address = Address { to_move, black, white, row, column };
        let position = Position::new_unchecked(self.board, self.index.occupied(&address), to_move);
        let (path, position) = (file.path().to_owned(), position.to_string());
        Err(DatabaseError::WrongValue { path, position, what, expected, got })
    }

    /// Checks the outcomes of the positions of a row in a stretch. In scope reachable, also checks that the
    /// positions after all moves of a marked position are marked.
    fn outcomes(
        &self,
        stretch: &Stretch<'_>,
        jumps: &[RowJump<'_>],
        wins: &[u8],
        reached: Option<&[u8]>,
    ) -> Option<Fault> {
        let words = stretch.whites.len().div_ceil(64);
        let mut won = [0; STRETCH / 64];
        // The positions whose moves have to be examined.
        let mut open = [u64::MAX; STRETCH / 64];
        if let Some(reached) = reached {
            open[..words].iter_mut().zip(stretch.words(reached)).for_each(|(to, from)| *to = from);
        }
        for jump in jumps {
            let (values, lines, effect) = (jump.values, jump.lines, self.effect(stretch, jump));
            for word in 0..words {
                let (after, mut rest) = (&effect.after[word], effect.possible[word] & open[word]);
                let mut wins = 0;
                while rest != 0 {
                    let bit = rest.trailing_zeros();
                    rest &= rest - 1;
                    let index = after[bit as usize % 64].index(&lines);
                    wins |= u64::from(!get_bit(values, index)) << bit;
                    if jump.reached.is_some_and(|marks| !get_bit(marks, index)) {
                        let what = "the mark of a position after one move";
                        let column = stretch.first + word as u32 * 64 + bit;
                        return Some(Fault { what, ..Fault::reached(column, true) });
                    }
                }
                won[word] |= wins;
                if reached.is_none() {
                    open[word] &= !wins;
                }
            }
        }
        for ((word, got), expected) in (0..).zip(stretch.words(wins)).zip(won) {
            if got != expected {
                let bit = (got ^ expected).trailing_zeros();
                let won = expected >> bit & 1 == 1;
                return Some(Fault::value(stretch.first + word * 64 + bit, won, !won));
            }
        }
        None
    }

    /// Checks the marks of reached positions. The function `outcomes` has already checked that the positions after
    /// all moves of a marked position are marked.
    fn marks(&self, key: BlockKey, row: u32, pattern: u32, reached: &BlockValues) -> Option<Fault> {
        let is_reached = |column| get_bit(reached.line(row), column as usize);
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
                (is_start != is_reached(column)).then(|| Fault::reached(column, is_start))
            });
        }
        if own == 1 {
            return None;
        }
        columns.into_iter().find_map(|column| {
            let unlike = images(column).any(|image| is_reached(image) != is_reached(column));
            unlike.then_some(Fault {
                column,
                what: "the mark",
                expected: "that of the equivalent addresses".into(),
                got: "another".into(),
            })
        })
    }

    /// Returns the jumps that the black stones of a row allow.
    fn row_jumps(&self, black: u32, key: BlockKey) -> Vec<RowJump<'_>> {
        let (numbering, ranks) = (self.index.numbering(), self.index.ranks(Colour::White));
        let mut jumps = Vec::new();
        for &(of_black, white, number) in &self.jumps[key.to_move.index()].jumps {
            if !of_black.is_possible(black) || key.white < white.occupied.count_ones() {
                continue;
            }
            let after = black ^ of_black.changed;
            let white_stones = white.stones_after(key.white);
            let (to_move, mut lines) = (!key.to_move, [0; 8]);
            let (key, symmetry) = match &self.exchange {
                Some([of_black, _]) => {
                    let after = of_black.map(after.into()) as u32;
                    for (g, line) in lines[..numbering.symmetries()].iter_mut().enumerate() {
                        *line = ranks.rank(numbering.image(Colour::White, g, after));
                    }
                    let (black, white) = (white_stones, after.count_ones());
                    (BlockKey { kind: BlockKind::Wins, to_move: Colour::Black, black, white }, 0)
                }
                None => {
                    let (black, white) = (after.count_ones(), white_stones);
                    let black_ranks = self.index.ranks(Colour::Black);
                    let row = self.index.orbits(black).row(numbering, black_ranks, after);
                    lines[0] = row.index;
                    (BlockKey { kind: BlockKind::Wins, to_move, black, white }, row.symmetry)
                }
            };
            let values = self.below.get(&key).expect("the layers that jumps lead to are in memory");
            let reached = self.below.get(&BlockKey { kind: BlockKind::Reached, ..key });
            jumps.push(RowJump {
                white,
                number,
                symmetry,
                values: values.bytes(),
                reached: reached.map(BlockValues::bytes),
                lines: lines.map(|line| values.start(line)),
            });
        }
        jumps
    }

    /// Returns the effect of a jump on the white patterns of a stretch. All rows share it.
    fn effect<'s>(&self, stretch: &'s Stretch<'_>, jump: &RowJump<'_>) -> &'s Effect {
        let symmetry = usize::from(jump.symmetry);
        let at = jump.number * self.index.numbering().symmetries() + symmetry;
        stretch.effects[at].get_or_init(|| {
            let (numbering, ranks) = (self.index.numbering(), self.index.ranks(Colour::White));
            Box::new(Effect::new(jump.white, stretch.whites, |pattern| match &self.exchange {
                Some([_, of_white]) => {
                    let orbits = self.index.orbits(pattern.count_ones());
                    let (pattern, black) =
                        (of_white.map(pattern.into()), self.index.ranks(Colour::Black));
                    let row = orbits.row(numbering, black, pattern as u32);
                    Place::new(row.symmetry, row.index)
                }
                None => {
                    let image = numbering.image(Colour::White, symmetry, pattern);
                    Place::new(0, ranks.rank(image))
                }
            }))
        })
    }
}
