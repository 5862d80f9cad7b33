//! Builds by the sweep: reads rows from files, computes rows, and writes them to files.
//!
//! ```text
//! parts of fewer black stones ──▶ rows, some at a time ──▶ slice in memory ──▶ parts
//! ```
//!
//! A layer of a database has positions with the same number of stones; a *band* of the sweep or of the state
//! space has positions with the same number of black stones. So every row is split by the number of white
//! stones, and each piece is written to the file (*part*) of its block.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::directory::BuildDirectory;
use super::error::BuildError;
use super::estimate::{batch_rows, rows_read};
use super::monitor::{BuildMonitor, Stage};
use super::slices::{Slices, TaskProduct};
use crate::konane::Colour;
use crate::tablebase::files::{BlockKey, BlockKind, Inflater, LayerFile, LayerWriter, ROWS, Scope};
use crate::tablebase::values::remoteness::{exchange_ranks, ranks_of_moves};
use crate::tablebase::values::sweep::row_ops::{for_each_group, put_plane, take_plane};
use crate::tablebase::values::sweep::{Band, Columns, MappedWords, Sweep, row_words};
use crate::tablebase::values::{StateSpaceError, StateSpaceEvent, statespace};

/// A build by the sweep in a directory.
pub(super) struct SweepBuild<'a> {
    directory: &'a BuildDirectory,
    monitor: &'a BuildMonitor<'a>,
    sweep: Sweep<'a>,
    columns: Columns,
    white: u32,
}

/// Rows of one block in an open file.
struct BlockRows {
    file: LayerFile,
    key: BlockKey,
    /// Index of the bit of the values that the block holds.
    bit: usize,
    /// Index of the first row of the slice within the block of the file.
    first: u32,
    row_bytes: usize,
}

impl<'a> SweepBuild<'a> {
    pub fn new(directory: &'a BuildDirectory, monitor: &'a BuildMonitor<'a>) -> Self {
        let white = directory.index.squares(Colour::White);
        let sweep = Sweep::new(&directory.index);
        SweepBuild { directory, monitor, sweep, columns: Columns::new(white), white }
    }

    /// Makes the files of a task that do not exist yet.
    pub fn run(&self, product: TaskProduct) -> Result<(), BuildError> {
        let BuildDirectory { coverage, index, slices, .. } = self.directory;
        match product {
            TaskProduct::Layer { stones } => {
                if self.directory.read_entry(stones)?.is_some() {
                    return self.directory.remove_parts(stones);
                }
                // A layer file for which the manifest has no entry yet is checked. If the file is damaged, it
                // is removed, and a later task assembles the layer, because its parts may have to be made
                // first.
                match self.directory.layer_path(stones).exists() {
                    true => self.directory.find_layer(stones, self.monitor).map(drop),
                    false => self.directory.assemble(stones, self.monitor),
                }
            }
            TaskProduct::Rows { .. } if coverage.scope == Scope::Reachable => self.state_space(),
            TaskProduct::Rows { black, .. } if *slices == Slices::WHOLE => self.band(black),
            TaskProduct::Rows { black, to_move, slice } => {
                self.slice(black, to_move, slices.range(index.rows(black), slice))
            }
        }
    }

    /// Makes the rows with `black` black stones for both sides to move. White's rows stay in memory until
    /// Black's are written.
    fn band(&self, black: u32) -> Result<(), BuildError> {
        let index = &self.directory.index;
        let planes = self.planes(black);
        let rows = Band::of_planes(index, black, planes);
        let mut white_wins = rows.map_err(self.memory_error())?;
        self.fill(Colour::White, &mut white_wins)?;
        if planes > 1 {
            white_wins.for_each_group(planes, exchange_ranks);
        }
        if self.directory.stores(Colour::White) {
            let missing = self.missing(black, Colour::White, 0);
            self.write(missing, planes, |at, row, _| row.copy_from_slice(white_wins.row(at)))?;
        }
        if planes > 1 {
            white_wins.for_each_group(planes, ranks_of_moves);
        }
        let patterns = index.orbits(black).patterns();
        self.write(self.missing(black, Colour::Black, 0), planes, |at, row, scratch| {
            self.sweep.black_row(&white_wins, patterns[at as usize], row, scratch);
            if planes > 1 {
                for_each_group(row, planes, exchange_ranks);
            }
        })
    }

    /// Makes a slice, and writes those of its parts that do not exist.
    fn slice(&self, black: u32, to_move: Colour, rows: Range<u32>) -> Result<(), BuildError> {
        let missing = self.missing(black, to_move, rows.start);
        if missing.is_empty() {
            return Ok(());
        }
        let slice = Band::slice(&self.directory.index, black, rows.clone());
        let mut slice = slice.map_err(self.memory_error())?;
        self.fill(to_move, &mut slice)?;
        slice.split(&self.columns);
        for key in missing {
            self.monitor.check()?;
            let mut writer = self.directory.begin_part(key, rows.start)?;
            for row in rows.clone() {
                writer.write(slice.block_row(row, &self.columns, key.white))?;
            }
            self.directory.end_part(writer, key, rows.start, self.monitor)?;
        }
        Ok(())
    }

    /// Fills rows with values, which are computed from the rows that jumps lead to. Rows of several planes
    /// receive ranks of remotenesses (`values::remoteness`) instead of remotenesses.
    fn fill(&self, to_move: Colour, band: &mut Band) -> Result<(), BuildError> {
        let BuildDirectory { index, slices, .. } = self.directory;
        let (black, planes) = (band.black(), band.row_words() / row_words(self.white));
        let whole = *slices == Slices::WHOLE;
        let step = match whole {
            true => rows_read(index, planes, rayon::current_num_threads()),
            false => ROWS,
        };
        let bands = self.sweep.source_bands(black, to_move);
        let wanted = (!whole).then(|| self.sweep.sources(black, to_move, band.row_numbers()));
        let targets = band.targets();
        for (nth, before) in bands.enumerate() {
            let patterns = index.orbits(before).patterns();
            let is_wanted = |row: u32| {
                let octet = |rows: &Vec<Vec<u8>>| rows[nth][row as usize / 8] >> (row % 8) & 1 == 1;
                wanted.as_ref().is_none_or(octet)
            };
            for range in slices.ranges(patterns.len() as u64) {
                let any_wanted =
                    |&first: &u32| whole || (first..range.end).take(ROWS).any(is_wanted);
                let firsts: Vec<u32> =
                    (range.start..range.end).step_by(step).filter(any_wanted).collect();
                if firsts.is_empty() {
                    continue;
                }
                let sources = self.sources(before, !to_move, &range)?;
                let reader = || RowReader::new(self, &sources, self.planes(before), planes);
                firsts.into_par_iter().try_for_each_init(reader, |reader, first| {
                    self.monitor.check()?;
                    let count = (range.end - first).min(step as u32);
                    reader.read(first - range.start, count)?;
                    for row in (first..first + count).filter(|&row| is_wanted(row)) {
                        let pattern = patterns[row as usize];
                        let (row, scratch) = reader.row((row - first) as usize);
                        self.sweep.scatter(&targets, to_move, pattern, row, scratch);
                    }
                    Ok::<_, BuildError>(())
                })?;
            }
        }
        Ok(())
    }

    /// Opens the blocks of rows with `black` black stones, one for each number of white stones and each bit. A
    /// layer of few stones may store fewer bits than the rows have in memory; the missing bits are 0.
    fn sources(
        &self,
        black: u32,
        to_move: Colour,
        rows: &Range<u32>,
    ) -> Result<Vec<BlockRows>, BuildError> {
        let mut sources = Vec::new();
        for white in 0..=self.white {
            let bits = self.directory.coverage.metric.bits(black + white) as usize;
            for bit in 0..bits.min(self.planes(black)) {
                let kind = BlockKind::of_bit(bit as u32);
                let key = BlockKey { kind, to_move, black, white };
                let (file, first) = self.directory.open_rows(key, rows)?;
                let row_bytes = self.columns.row_bytes(white);
                sources.push(BlockRows { file, key, bit, first, row_bytes });
            }
        }
        Ok(sources)
    }

    /// Planes of rows with `black` black stones.
    fn planes(&self, black: u32) -> usize {
        self.directory.coverage.metric.bits_of_rows(black, self.white) as usize
    }

    fn missing(&self, black: u32, to_move: Colour, first: u32) -> Vec<BlockKey> {
        let tasks = self.directory.tasks();
        self.directory.missing(black, to_move, first, &|name| tasks.join(name).exists()).collect()
    }

    fn memory_error(&self) -> impl FnOnce(std::io::Error) -> BuildError + use<> {
        BuildError::io("reserve memory for building", &self.directory.path)
    }

    /// Writes whole blocks with the same number of black stones and side to move. `fill` receives the index of
    /// a row, a zeroed row of `planes` planes to be filled, and scratch memory.
    fn write(
        &self,
        keys: Vec<BlockKey>,
        planes: usize,
        fill: impl Fn(u32, &mut [u64], &mut Vec<u64>) + Sync,
    ) -> Result<(), BuildError> {
        let Some(&BlockKey { black, .. }) = keys.first() else { return Ok(()) };
        let rows = self.directory.index.rows(black) as u32;
        let begin = |key: BlockKey| {
            let mut writer = self.directory.begin_part(key, 0)?;
            writer.reserve(rows as usize);
            Ok((key, writer))
        };
        let mut writers: Vec<(BlockKey, LayerWriter)> =
            keys.into_iter().map(begin).collect::<Result<_, BuildError>>()?;
        let (words, plane_words) = (self.columns.words(), row_words(self.white));
        // A layer may store a bit that no value of these rows has. It is written as zeros.
        let nothing = vec![0u64; words];
        let batch = batch_rows(&self.directory.index, planes);
        // Mapped memory is returned to the system at once. An allocator would keep some of it for each thread.
        let buffer = MappedWords::zeroed(batch * planes * words);
        let mut buffer = buffer.map_err(self.memory_error())?;
        for first in (0..rows).step_by(batch) {
            self.monitor.check()?;
            let rows = first..rows.min(first + batch as u32);
            let columns = &mut buffer.as_mut_slice()[..rows.len() * planes * words];
            columns.par_chunks_exact_mut(planes * words).zip(rows).for_each_init(
                || (vec![0; planes * plane_words], vec![0; plane_words], Vec::new()),
                |(row, plane, scratch), (columns, at)| {
                    row.fill(0);
                    fill(at, row, scratch);
                    for (nth, columns) in columns.chunks_exact_mut(words).enumerate() {
                        take_plane(row, planes, nth, plane);
                        self.columns.split(plane, columns);
                    }
                    columns.iter_mut().for_each(|word| *word = word.to_le());
                },
            );
            writers.par_iter_mut().try_for_each(|(key, writer)| {
                let block = self.columns.block(key.white);
                let bytes = self.columns.row_bytes(key.white);
                let plane = match key.kind {
                    BlockKind::Remoteness(bit) => usize::from(bit),
                    _ => 0,
                };
                columns.chunks_exact(planes * words).try_for_each(|row| {
                    let row = row.chunks_exact(words).nth(plane).unwrap_or(&nothing);
                    writer.write(&bytemuck::cast_slice(&row[block.clone()])[..bytes])
                })
            })?;
        }
        let mut end = |(key, writer)| self.directory.end_part(writer, key, 0, self.monitor);
        writers.into_iter().try_for_each(&mut end)
    }

    /// Searches the state space, and writes all parts that do not exist.
    fn state_space(&self) -> Result<(), BuildError> {
        let mut failed = None;
        let board = self.directory.index.board();
        let searched = statespace(board, self.monitor.stop, &mut |event| {
            failed = self.write_event(event).err();
            if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match (failed, searched) {
            (Some(error), _) => Err(error),
            (None, Ok(_)) => Ok(()),
            (None, Err(StateSpaceError::Interrupted)) => Err(BuildError::Interrupted),
            (None, Err(StateSpaceError::Memory(error))) => Err(self.memory_error()(error)),
            (None, Err(StateSpaceError::TooLarge { board })) => {
                Err(BuildError::ReachableTooLarge { board })
            }
        }
    }

    fn write_event(&self, event: StateSpaceEvent<'_>) -> Result<(), BuildError> {
        let advance = |black| self.monitor.advance(self.directory.index.row_positions(black));
        match event {
            StateSpaceEvent::Values { black, .. } => {
                self.monitor.observer.stage(Stage::Rows { black });
                advance(black);
            }
            StateSpaceEvent::Ply(ply) => self.monitor.observer.stage(Stage::Ply { ply: ply.ply }),
            // The monitor counts positions.
            StateSpaceEvent::Work { .. } => {}
            StateSpaceEvent::Band { reached, wins } => {
                let black = reached[0].black();
                for to_move in [Colour::Black, Colour::White] {
                    let (reached, wins) = (reached[to_move.index()], wins[to_move.index()]);
                    let missing = self.missing(black, to_move, 0).into_iter();
                    let (won, marked): (Vec<_>, Vec<_>) =
                        missing.partition(|key| key.kind == BlockKind::Wins);
                    self.write(won, 1, |at, row, _| {
                        let rows = reached.row(at).iter().zip(wins.row(at));
                        row.iter_mut().zip(rows).for_each(|(out, (r, w))| *out = r & w);
                    })?;
                    self.write(marked, 1, |at, row, _| row.copy_from_slice(reached.row(at)))?;
                }
                advance(black);
            }
        }
        Ok(())
    }
}

/// Reads some rows at a time and joins each of them from its blocks. Every thread has its own reader.
struct RowReader<'a> {
    build: &'a SweepBuild<'a>,
    sources: &'a [BlockRows],
    /// Number of planes that are read from the blocks, and number of planes of the joined rows.
    planes: [usize; 2],
    inflater: Inflater,
    /// Bytes of the rows that were read, by source.
    blocks: Vec<Vec<u8>>,
    split: Vec<u64>,
    plane: Vec<u64>,
    row: Vec<u64>,
    scratch: Vec<u64>,
}

impl<'a> RowReader<'a> {
    fn new(
        build: &'a SweepBuild<'a>,
        sources: &'a [BlockRows],
        stored_planes: usize,
        planes: usize,
    ) -> Self {
        let plane_words = row_words(build.white);
        RowReader {
            build,
            sources,
            planes: [stored_planes, planes],
            inflater: Inflater::new(),
            blocks: vec![Vec::new(); sources.len()],
            split: vec![0; build.columns.words()],
            plane: vec![0; if planes > 1 { plane_words } else { 0 }],
            row: vec![0; planes * plane_words],
            scratch: Vec::new(),
        }
    }

    /// Reads `count` rows, from the row `first` of the slice on.
    fn read(&mut self, first: u32, count: u32) -> Result<(), BuildError> {
        let SweepBuild { directory, monitor, white, .. } = self.build;
        for (source, bytes) in self.sources.iter().zip(&mut self.blocks) {
            bytes.resize(count as usize * source.row_bytes, 0);
            let first = source.first + first;
            directory.read_rows(&source.file, source.key, first, &mut self.inflater, bytes)?;
        }
        let bytes = (u64::from(count).next_multiple_of(ROWS as u64) << white) / 8;
        monitor.read_bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Joins row `nth` of the rows that were read. Returns it, over all white patterns, and scratch memory for
    /// its images under symmetries. A row of several planes holds the ranks of moves to its positions
    /// ([`ranks_of_moves`]).
    fn row(&mut self, nth: usize) -> (&[u64], &mut Vec<u64>) {
        let columns = &self.build.columns;
        let [stored_planes, planes] = self.planes;
        if planes > 1 {
            self.row.fill(0);
        }
        for bit in 0..stored_planes {
            if planes > 1 {
                self.split.fill(0);
            }
            for (source, bytes) in self.sources.iter().zip(&self.blocks) {
                if source.bit == bit {
                    let n = source.row_bytes;
                    let bytes = &bytes[nth * n..(nth + 1) * n];
                    columns.put_block(&mut self.split, source.key.white, bytes);
                }
            }
            match planes {
                1 => columns.join(&self.split, &mut self.row),
                _ => {
                    columns.join(&self.split, &mut self.plane);
                    put_plane(&mut self.row, planes, bit, &self.plane);
                }
            }
        }
        if planes > 1 {
            for_each_group(&mut self.row, planes, ranks_of_moves);
        }
        (&self.row, &mut self.scratch)
    }
}
