//! The directory of a database while it is being built: the only state of a build.
//!
//! Finished layers stand in the directory itself, and everything else in `tasks` below it:
//!
//! | file | content |
//! |---|---|
//! | `wins-black-b05-w04-r00001024.kdb` | a *part*: rows of a block, from the given one on; a layer file with a single block |
//! | `entry-17.json` | the manifest's entry of a finished layer |
//! | `layout.txt` | the maximum number of rows of a part |
//! | `making-…` | a file that is not complete yet |
//!
//! A file gets its name when it is complete, so a process may be killed at any time, and two
//! processes that make the same file bring the same bytes. A file that is there without having been
//! made by this process is checked before it is used: layers when the build begins, parts when they
//! are read. The manifest, which makes a database of the directory, is written last.
//!
//! A file `lock`, locked through the operating system, keeps other builds out. Tasks run without it.

use std::collections::HashSet;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

use xxhash_rust::xxh3::xxh3_64;

use super::error::{BuildError, PlanError};
use super::monitor::{BuildMonitor, BuildObserver, Stage};
use super::tasks::{Slices, Task, Work};
use crate::file::{FileError, Lock, NewFile, open_regular};
use crate::konane::{Board, Colour, Dimensions};
use crate::tablebase::files::{
    BlockKey, BlockKind, DatabaseError, Histogram, Inflater, LayerFile, LayerHeader, LayerWriter,
    MANIFEST_NAME, Manifest, ManifestLayer, Metric, ROWS, Scope, count_layer, layer_entry,
    layer_name,
};
use crate::tablebase::index::{Index, Sizes};

const LOCK: &str = "lock";
const TASKS: &str = "tasks";
const MAKING: &str = "making-";
const LAYOUT: &str = "layout.txt";

/// Bytes of rows that are read together when a layer is assembled from slices.
const ASSEMBLY_BYTES: usize = 1 << 20;

/// Maximum length of an entry or layout.
const MAX_TEXT_BYTES: u64 = 1 << 12;

/// The directory in which a database is built, and the properties of the database.
#[derive(Debug)]
pub(super) struct Workspace {
    pub directory: PathBuf,
    pub scope: Scope,
    pub metric: Metric,
    pub max_stones: u32,
    pub index: Index,
    pub sizes: Sizes,
    /// Cut of the rows into parts.
    pub slices: Slices,
}

/// The parts of the directory.
impl Workspace {
    /// Describes a workspace. Touches no file.
    pub fn new(
        dimensions: Dimensions,
        scope: Scope,
        metric: Metric,
        max_stones: u32,
        directory: PathBuf,
        slices: Slices,
    ) -> Self {
        let index = Index::new(Board::new(dimensions), scope.exchanges());
        let sizes = Sizes::new(&index);
        Workspace { directory, scope, metric, max_stones, index, sizes, slices }
    }

    /// The same workspace with another cut of the rows.
    pub fn with_slices(&self, slices: Slices) -> Self {
        let (dimensions, directory) = (self.dimensions(), self.directory.clone());
        Workspace::new(dimensions, self.scope, self.metric, self.max_stones, directory, slices)
    }

    fn dimensions(&self) -> Dimensions {
        self.index.board().dimensions()
    }

    pub fn tasks_directory(&self) -> PathBuf {
        self.directory.join(TASKS)
    }

    pub fn layer_path(&self, stones: u32) -> PathBuf {
        self.directory.join(layer_name(stones))
    }

    fn entry_path(&self, stones: u32) -> PathBuf {
        self.tasks_directory().join(entry_name(stones))
    }

    /// The file of a part, from the row `first` on.
    pub fn part_path(&self, key: BlockKey, first: u32) -> PathBuf {
        self.tasks_directory().join(part_name(key, first))
    }

    /// Header of a layer's file.
    pub fn header(&self, stones: u32) -> LayerHeader {
        LayerHeader::new(&self.index, self.scope, self.metric, stones)
    }

    /// Header of a part. A block that is not stored, with White to move, is not allowed in scope
    /// complete, but in scope reachable.
    pub fn part_header(&self, key: BlockKey) -> LayerHeader {
        let scope = if self.stores(key.to_move) { self.scope } else { Scope::Reachable };
        LayerHeader::new(&self.index, scope, self.metric, key.black + key.white)
    }

    /// Returns true if the database has blocks with this side to move.
    pub fn stores(&self, to_move: Colour) -> bool {
        self.index.sides().contains(&to_move)
    }

    /// Returns true if the manifest exists, so that nothing is left to do.
    pub fn is_finished(&self) -> bool {
        self.directory.join(MANIFEST_NAME).exists()
    }

    /// Positions with one side to move, by number of black stones.
    pub fn row_positions(&self) -> impl Iterator<Item = u64> {
        let white = self.squares(Colour::White);
        (0..=self.squares(Colour::Black)).map(move |black| self.sizes.rows(black) << white)
    }

    /// Names of the files in `tasks`.
    fn names(&self) -> Result<HashSet<String>, BuildError> {
        let tasks = self.tasks_directory();
        let entries = match fs::read_dir(&tasks) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(HashSet::new()),
            Err(error) => return Err(BuildError::io("read", &tasks)(error)),
        };
        let name = |entry: io::Result<fs::DirEntry>| {
            Ok(entry.map_err(BuildError::io("read", &tasks))?.file_name().to_string_lossy().into())
        };
        entries.map(name).collect()
    }

    /// Creates and locks the directory, checks that its layers belong to this build, and removes
    /// incomplete files and parts that were cut in another way.
    ///
    /// # Errors
    /// [`BuildError::Busy`] if another process has the lock, [`PlanError::OtherWork`] if there are
    /// layers of another database, and errors of the operating system.
    pub fn lock(&self, observer: &dyn BuildObserver) -> Result<Lock, BuildError> {
        let directory = &self.directory;
        fs::create_dir_all(directory).map_err(BuildError::io("create", directory))?;
        let lock = Lock::take(&directory.join(LOCK))?;
        let lock = lock.ok_or_else(|| BuildError::Busy { path: directory.clone() })?;
        let read = || BuildError::io("read", directory);
        for entry in fs::read_dir(directory).map_err(read())? {
            let path = entry.map_err(read())?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.ends_with(".kdb.tmp") || name == format!("{MANIFEST_NAME}.tmp") {
                remove(&path)?;
            } else if name.ends_with(".kdb") {
                match LayerFile::open(&path) {
                    Ok(file) => self.check_identity(&name, &file)?,
                    // Removed when the layer is needed. A finished database is left as it is.
                    Err(error) if error.is_damage() => {}
                    Err(other) => return Err(other.into()),
                }
            }
        }
        if !self.is_finished() {
            self.prepare(observer)?;
        } else if self.tasks_directory().exists() {
            // The last build was killed after it had written the manifest.
            self.remove_tasks()?;
        }
        Ok(lock)
    }

    /// Prepares the directory `tasks`.
    fn prepare(&self, observer: &dyn BuildObserver) -> Result<(), BuildError> {
        let tasks = self.tasks_directory();
        fs::create_dir_all(&tasks).map_err(BuildError::io("create", &tasks))?;
        let same_layout = read_layout(&self.directory) == Some(self.slices);
        let mut removed = 0;
        for name in self.names()? {
            let useless = !same_layout && name.ends_with(".kdb");
            if useless || name.starts_with(MAKING) {
                remove(&tasks.join(&name))?;
                removed += usize::from(useless);
            }
        }
        if removed > 0 {
            observer.removed(removed);
        }
        if !same_layout {
            let path = tasks.join(LAYOUT);
            self.make(&path, |path| {
                let mut file = NewFile::create(path, 1 << 10)?;
                file.put(layout_text(self.slices).as_bytes())?;
                // Without a layout, the parts are removed.
                Ok(file.finish_provisionally()?)
            })?;
        }
        Ok(())
    }

    /// Checks that a layer belongs to this build.
    fn check_identity(&self, name: &str, file: &LayerFile) -> Result<(), BuildError> {
        let properties = |header: &LayerHeader, name: &str| {
            let LayerHeader { version, dimensions, scope, metric, chunk_bytes, squares, .. } =
                header;
            [
                ("board", dimensions.to_string()),
                ("scope", scope.name().to_owned()),
                ("metric", metric.name().to_owned()),
                ("format version", version.to_string()),
                ("chunk size", chunk_bytes.to_string()),
                ("order of the squares", format!("{squares:?}")),
                ("name", name.to_owned()),
            ]
        };
        let got = file.header();
        if got.stones > self.max_stones {
            let expected = format!("at most {}", self.max_stones);
            let (what, got) = ("number of stones", got.stones.to_string());
            return Err(
                PlanError::OtherWork { path: file.path().into(), what, expected, got }.into()
            );
        }
        let expected = properties(&self.header(got.stones), &layer_name(got.stones));
        Ok(check_same(file.path(), &expected, &properties(got, name))?)
    }

    /// Path under which a process writes a file that will be `target`. On any machine: the name is
    /// random.
    pub fn temporary(&self, target: &Path) -> PathBuf {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let random = RandomState::new().hash_one(std::process::id());
        self.tasks_directory().join(format!("{MAKING}{random:016x}-{name}"))
    }

    /// Gives a complete file its name.
    pub fn publish(&self, made: &Path, target: &Path) -> Result<(), BuildError> {
        fs::rename(made, target).map_err(BuildError::io("rename", made))
    }

    /// Writes a file at a temporary path and gives it its name.
    fn make(
        &self,
        target: &Path,
        write: impl FnOnce(&Path) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let temporary = self.temporary(target);
        write(&temporary)?;
        self.publish(&temporary, target)
    }

    /// Error for a file that should exist and be sound. A part is removed, so that it is made again.
    pub fn lost(&self, path: &Path, reason: DatabaseError) -> BuildError {
        let missing = matches!(
            &reason,
            DatabaseError::File(FileError::Io { source, .. })
                if source.kind() == io::ErrorKind::NotFound
        );
        // A file that was cut short may not even look like one.
        let damaged = matches!(
            &reason,
            DatabaseError::File(FileError::Damaged { .. } | FileError::OtherKind { .. })
        );
        if !path.starts_with(self.tasks_directory()) || !(missing || damaged) {
            return reason.into();
        }
        let _ = fs::remove_file(path);
        BuildError::Lost { path: path.to_owned(), reason: Box::new(reason) }
    }

    /// Opens the file that has `rows` of a block: its part, or the layer if that is finished. Returns
    /// the row of the file that is the first of these.
    ///
    /// # Errors
    /// [`BuildError::Lost`] if the part is damaged or missing.
    pub fn open_rows(
        &self,
        key: BlockKey,
        rows: &Range<u32>,
    ) -> Result<(LayerFile, u32), BuildError> {
        let stones = key.black + key.white;
        let part = self.part_path(key, rows.start);
        let in_layer =
            self.stores(key.to_move) && !part.exists() && self.entry_path(stones).exists();
        let (path, first) = match in_layer {
            true => (self.layer_path(stones), rows.start),
            false => (part, 0),
        };
        let check = |file: LayerFile| {
            let got = file.expect_block(key)?.rows();
            let header = self.part_header(key);
            if *file.header() != header {
                let got = file.header().to_string();
                return Err(DatabaseError::damaged(&path, "the header", header.to_string(), got));
            }
            if !in_layer && got != rows.len() as u64 {
                return Err(DatabaseError::damaged(&path, "the number of rows", rows.len(), got));
            }
            Ok(file)
        };
        let file = LayerFile::open(&path).and_then(check);
        Ok((file.map_err(|reason| self.lost(&path, reason))?, first))
    }

    /// Reads rows of a block that [`Workspace::open_rows`] has opened.
    pub fn read_rows(
        &self,
        file: &LayerFile,
        key: BlockKey,
        first: u32,
        inflater: &mut Inflater,
        out: &mut [u8],
    ) -> Result<(), BuildError> {
        let block = file.expect_block(key);
        let read = block.and_then(|block| file.read_rows(block, first.into(), inflater, out));
        read.map_err(|reason| self.lost(file.path(), reason))
    }

    /// Begins the part with `rows` of a block, whose file is not needed after a power failure.
    /// [`Workspace::end_part`] ends it.
    pub fn begin_part(&self, key: BlockKey, first: u32) -> Result<LayerWriter, BuildError> {
        let path = self.temporary(&self.part_path(key, first));
        let mut writer = LayerWriter::create(&path, self.part_header(key))?.provisional();
        writer.begin_block(key);
        Ok(writer)
    }

    /// Ends a part and gives it its name.
    pub fn end_part(
        &self,
        mut writer: LayerWriter,
        key: BlockKey,
        first: u32,
        monitor: &BuildMonitor<'_>,
    ) -> Result<(), BuildError> {
        writer.end_block()?;
        let (path, bytes) = writer.finish()?;
        monitor.written_bytes.fetch_add(bytes, Relaxed);
        self.publish(&path, &self.part_path(key, first))
    }
}

/// The tasks of the build.
impl Workspace {
    fn task(&self, work: Work) -> Task {
        Task { dimensions: self.dimensions(), slice_rows: self.slices.most, work }
    }

    fn squares(&self, colour: Colour) -> u32 {
        self.sizes.squares(colour)
    }

    /// Parts of a slice, given by its first row, that exist neither as files nor in a finished layer.
    /// `exists` returns true for the names of the files in `tasks`.
    pub fn missing(
        &self,
        black: u32,
        to_move: Colour,
        first: u32,
        exists: &dyn Fn(&str) -> bool,
    ) -> impl Iterator<Item = BlockKey> {
        let stored = self.stores(to_move);
        let keys = (0..=self.squares(Colour::White)).flat_map(move |white| {
            let kinds = self.header(black + white).kinds();
            kinds.map(move |kind| BlockKey { kind, to_move, black, white })
        });
        keys.filter(move |&key| {
            let in_layer = stored && exists(&entry_name(key.black + key.white));
            !in_layer && !exists(&part_name(key, first))
        })
    }

    /// Tasks that lack a file. Those of a wave may run in any order, or at the same time, once all
    /// waves before are finished.
    pub fn waves(&self, exists: &dyn Fn(&str) -> bool) -> Vec<Vec<Task>> {
        let is_missing = |black: u32, to_move: Colour, first: u32| {
            self.missing(black, to_move, first, exists).next().is_some()
        };
        let mut waves = Vec::new();
        for black in 0..=self.squares(Colour::Black) {
            let task = |to_move, slice| self.task(Work::Rows { black, to_move, slice });
            if self.slices == Slices::WHOLE {
                // White's rows stay in memory: one task makes the rows of both sides.
                let missing = self.index.sides().iter().any(|&side| is_missing(black, side, 0));
                waves.extend(missing.then(|| vec![task(Colour::Black, 0)]));
                continue;
            }
            let of = |to_move| -> Vec<Task> {
                (0..)
                    .zip(self.slices.ranges(self.sizes.rows(black)))
                    .filter(|(_, rows)| is_missing(black, to_move, rows.start))
                    .map(|(slice, _)| task(to_move, slice))
                    .collect()
            };
            let of_black = of(Colour::Black);
            // Where White's rows are not stored, they are made for Black's.
            let needed = self.stores(Colour::White) || !of_black.is_empty();
            let of_white = if needed { of(Colour::White) } else { Vec::new() };
            waves.extend([of_white, of_black].into_iter().filter(|wave| !wave.is_empty()));
        }
        let layers = (0..=self.max_stones).filter(|&stones| !exists(&entry_name(stones)));
        let layers: Vec<Task> = layers.map(|stones| self.task(Work::Layer { stones })).collect();
        waves.extend(Some(layers).filter(|wave| !wave.is_empty()));
        waves
    }

    /// Tasks that are left, by the files in the directory. Removes part files that no task needs.
    pub fn pending(&self) -> Result<Vec<Vec<Task>>, BuildError> {
        let mut unchecked = Vec::new();
        for stones in 0..=self.max_stones {
            if self.read_entry(stones)?.is_none() && self.layer_path(stones).exists() {
                unchecked.push(self.task(Work::Layer { stones }));
            }
        }
        // Sound ones save the work of making them.
        if !unchecked.is_empty() {
            return Ok(vec![unchecked]);
        }
        let names = self.names()?;
        let waves = self.waves(&|name| names.contains(name));
        let is_left = |black: u32| {
            waves
                .iter()
                .flatten()
                .any(|task| matches!(task.work, Work::Rows { black: left, .. } if left == black))
        };
        let left: Vec<bool> = (0..=self.squares(Colour::Black)).map(is_left).collect();
        for name in &names {
            // White's rows that are not stored, once Black's exist.
            if let Some(BlockKey { to_move, black, .. }) = parse_part_name(name)
                && !self.stores(to_move)
                && left.get(black as usize) == Some(&false)
            {
                remove(&self.tasks_directory().join(name))?;
            }
        }
        Ok(waves)
    }

    /// The manifest's entry of a layer, if the layer is finished. Removes an entry that does not
    /// belong to the layer's file.
    pub fn read_entry(&self, stones: u32) -> Result<Option<ManifestLayer>, BuildError> {
        let path = self.entry_path(stones);
        let Ok(file) = open_regular(&path) else { return Ok(None) };
        let mut text = Vec::new();
        let read = file.take(MAX_TEXT_BYTES).read_to_end(&mut text);
        read.map_err(BuildError::io("read", &path))?;
        let text = String::from_utf8_lossy(&text);
        // The footer stands for the whole file, which was on the disk before its entry.
        let entry = parse_entry(&text).filter(|entry| {
            let file = LayerFile::footer(&self.layer_path(stones));
            entry.stones == stones
                && file.is_ok_and(|file| file == (entry.bytes, entry.footer_xxh3))
        });
        if entry.is_none() {
            remove(&path)?;
        }
        Ok(entry)
    }

    /// Counts the positions of a layer's file, which checks all of it, and writes its entry.
    pub fn write_entry(
        &self,
        stones: u32,
        monitor: &BuildMonitor<'_>,
    ) -> Result<ManifestLayer, BuildError> {
        let file = LayerFile::open(&self.layer_path(stones))?;
        let entry = layer_entry(&self.index, &file, monitor.stop)?;
        self.make(&self.entry_path(stones), |path| {
            let mut file = NewFile::create(path, 1 << 10)?;
            file.put(entry_text(&entry).as_bytes())?;
            // A damaged entry is removed, and its layer checked again.
            Ok(file.finish_provisionally()?)
        })?;
        Ok(entry)
    }

    /// The entry of a layer that an earlier run has finished. A file without an entry is checked
    /// completely; a damaged one is removed.
    pub fn find_layer(
        &self,
        stones: u32,
        monitor: &BuildMonitor<'_>,
    ) -> Result<Option<ManifestLayer>, BuildError> {
        let path = self.layer_path(stones);
        if let Some(entry) = self.read_entry(stones)? {
            return Ok(Some(entry));
        }
        if !path.exists() {
            return Ok(None);
        }
        let checked = LayerFile::open(&path).map_err(BuildError::from).and_then(|file| {
            let (expected, keys) = (self.header(stones), file.blocks().iter().map(|b| b.key()));
            if *file.header() == expected && keys.eq(expected.keys()) {
                return self.write_entry(stones, monitor);
            }
            let text = |header: &LayerHeader, blocks| format!("{header}, {blocks} blocks");
            let got = text(file.header(), file.blocks().len());
            let expected = text(&expected, expected.keys().len());
            let what = "the header or its blocks";
            Err(DatabaseError::damaged(&path, what, expected, got).into())
        });
        match checked {
            Err(BuildError::Database(error)) if error.is_damage() => {
                monitor.observer.discarded(&path, &error);
                remove(&path)?;
                Ok(None)
            }
            checked => checked.map(Some),
        }
    }

    /// Assembles a layer from its parts, whose checksums are checked, writes its entry and removes
    /// the parts.
    ///
    /// # Errors
    /// [`BuildError::Lost`] if a part is missing or damaged.
    pub fn assemble(&self, stones: u32, monitor: &BuildMonitor<'_>) -> Result<(), BuildError> {
        let path = self.layer_path(stones);
        let temporary = self.temporary(&path);
        match self.write_layer(stones, &temporary, monitor) {
            // Another process has made it, and removed the parts.
            Err(BuildError::Lost { .. }) if self.read_entry(stones)?.is_some() => return Ok(()),
            written => written?,
        }
        self.publish(&temporary, &path)?;
        #[cfg(unix)]
        {
            let directory = &self.directory;
            let opened = fs::File::open(directory).map_err(BuildError::io("open", directory))?;
            opened.sync_all().map_err(BuildError::io("write", directory))?;
        }
        let entry = self.write_entry(stones, monitor)?;
        monitor.observer.layer_finished(stones, entry.bytes);
        self.remove_parts(stones)
    }

    fn write_layer(
        &self,
        stones: u32,
        path: &Path,
        monitor: &BuildMonitor<'_>,
    ) -> Result<(), BuildError> {
        let header = self.header(stones);
        let keys = header.keys();
        let mut writer = LayerWriter::create(path, header)?;
        let (mut inflater, mut bytes) = (Inflater::new(), Vec::new());
        for key in keys {
            let rows = self.sizes.rows(key.black);
            if self.slices.count(rows) == 1 {
                let (part, _) = self.open_rows(key, &(0..rows as u32))?;
                let copied = writer.copy_block(&part, key, monitor.stop);
                copied.map_err(|reason| self.lost(part.path(), reason))?;
                continue;
            }
            writer.begin_block(key);
            for range in self.slices.ranges(rows) {
                let (part, _) = self.open_rows(key, &range)?;
                let row_bytes = part.header().row_bytes(key.white) as usize;
                let batch = (ASSEMBLY_BYTES / row_bytes).next_multiple_of(ROWS).max(ROWS);
                for first in (0..range.len()).step_by(batch) {
                    monitor.check()?;
                    bytes.resize(batch.min(range.len() - first) * row_bytes, 0);
                    self.read_rows(&part, key, first as u32, &mut inflater, &mut bytes)?;
                    monitor.read_bytes.fetch_add(bytes.len() as u64, Relaxed);
                    writer.write(&bytes)?;
                }
            }
            writer.end_block()?;
        }
        let (_, bytes) = writer.finish()?;
        monitor.written_bytes.fetch_add(bytes, Relaxed);
        Ok(())
    }

    /// Removes the parts of a finished layer.
    pub fn remove_parts(&self, stones: u32) -> Result<(), BuildError> {
        for key in self.header(stones).keys() {
            for range in self.slices.ranges(self.sizes.rows(key.black)) {
                remove(&self.part_path(key, range.start))?;
            }
        }
        Ok(())
    }

    /// Writes the manifest and removes the directory `tasks`.
    pub fn finish(&self, monitor: &BuildMonitor<'_>) -> Result<Manifest, BuildError> {
        let directory = &self.directory;
        let entries = (0..=self.max_stones).map(|stones| self.read_entry(stones));
        let layers = entries.collect::<Result<Option<Vec<_>>, _>>()?;
        let layers = layers.ok_or_else(|| BuildError::Unfinished { path: directory.clone() })?;
        let mut histogram = (self.metric == Metric::Remoteness).then(Histogram::default);
        if let Some(histogram) = &mut histogram {
            for stones in 0..=self.max_stones {
                monitor.observer.stage(Stage::Counting { stones });
                let file = LayerFile::open(&self.layer_path(stones))?;
                histogram.add(&count_layer(&self.index, &file, monitor.stop)?.1);
            }
        }
        let (version, scope) = (self.metric.format_version(), self.scope);
        let dimensions = self.dimensions();
        let manifest = Manifest { version, dimensions, scope, layers, histogram };
        manifest.write(directory)?;
        self.remove_tasks()?;
        Ok(manifest)
    }

    fn remove_tasks(&self) -> Result<(), BuildError> {
        let tasks = self.tasks_directory();
        fs::remove_dir_all(&tasks).map_err(BuildError::io("remove", &tasks))
    }
}

/// Returns true if the directory has the finished database.
///
/// # Errors
/// If the manifest cannot be read, or belongs to another database.
pub(super) fn is_built(
    directory: &Path,
    dimensions: Dimensions,
    scope: Scope,
    metric: Metric,
    max_stones: u32,
) -> Result<bool, PlanError> {
    let path = directory.join(MANIFEST_NAME);
    if !path.exists() {
        return Ok(false);
    }
    let properties = |dimensions: Dimensions, scope: Scope, metric: Metric, max_stones: u32| {
        [
            ("board", dimensions.to_string()),
            ("scope", scope.name().to_owned()),
            ("metric", metric.name().to_owned()),
            ("number of stones", max_stones.to_string()),
        ]
    };
    let got = Manifest::read(directory)?;
    let got = properties(got.dimensions, got.scope, got.metric(), got.max_stones());
    check_same(&path, &properties(dimensions, scope, metric, max_stones), &got)?;
    Ok(true)
}

/// Compares the properties of this build with those of a file.
fn check_same(
    path: &Path,
    expected: &[(&'static str, String)],
    got: &[(&'static str, String)],
) -> Result<(), PlanError> {
    match expected.iter().zip(got).find(|(expected, got)| expected != got) {
        Some(((what, expected), (_, got))) => {
            let (expected, got) = (expected.clone(), got.clone());
            Err(PlanError::OtherWork { path: path.to_owned(), what, expected, got })
        }
        None => Ok(()),
    }
}

/// Size of the files in the directory of an unfinished database.
pub(super) fn present(directory: &Path) -> u64 {
    let files = |directory: &Path| fs::read_dir(directory).into_iter().flatten();
    let entries = files(directory).chain(files(&directory.join(TASKS)));
    entries.filter_map(|entry| entry.ok()?.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// Returns true if the directory of an unfinished database has part files.
pub(super) fn has_parts(directory: &Path) -> bool {
    let entries = fs::read_dir(directory.join(TASKS)).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_string_lossy().ends_with(".kdb"))
}

fn layout_text(slices: Slices) -> String {
    format!("konane tasks 2, {} rows\n", slices.most)
}

/// Cut of the rows in the directory of an unfinished database.
pub(super) fn read_layout(directory: &Path) -> Option<Slices> {
    let mut text = String::new();
    let file = open_regular(&directory.join(TASKS).join(LAYOUT)).ok()?;
    file.take(MAX_TEXT_BYTES).read_to_string(&mut text).ok()?;
    let most = text.strip_prefix("konane tasks 2, ")?.strip_suffix(" rows\n")?.parse().ok()?;
    let slices = Slices { most };
    let is_cut = slices == Slices::WHOLE || most > 0 && most.is_multiple_of(ROWS as u32);
    (is_cut && layout_text(slices) == text).then_some(slices)
}

/// Name of the entry of a layer, such as `entry-17.json`.
fn entry_name(stones: u32) -> String {
    format!("entry-{stones:02}.json")
}

/// Name of a part's file, such as `wins-black-b05-w04-r00001024.kdb`: kind, side to move, black and
/// white stones, first row.
fn part_name(key: BlockKey, first: u32) -> String {
    let kind = match key.kind {
        BlockKind::Wins => "wins",
        BlockKind::Reached => "reached",
        BlockKind::Remoteness(bit) => &format!("bit{bit}"),
    };
    let BlockKey { to_move, black, white, .. } = key;
    format!("{kind}-{}-b{black:02}-w{white:02}-r{first:08}.kdb", to_move.name())
}

/// Block of a part that has wins, from the name of its file.
fn parse_part_name(name: &str) -> Option<BlockKey> {
    let mut words = name.strip_prefix("wins-")?.strip_suffix(".kdb")?.split('-');
    let to_move = match words.next()? {
        "black" => Colour::Black,
        "white" => Colour::White,
        _ => return None,
    };
    let mut number = |prefix| words.next()?.strip_prefix(prefix)?.parse().ok();
    let (black, white) = (number('b')?, number('w')?);
    Some(BlockKey { kind: BlockKind::Wins, to_move, black, white })
}

/// Text of an entry: JSON, and its XXH3.
fn entry_text(entry: &ManifestLayer) -> String {
    let json = serde_json::to_string(entry).expect("texts and numbers");
    format!("{json} {:016x}\n", xxh3_64(json.as_bytes()))
}

fn parse_entry(text: &str) -> Option<ManifestLayer> {
    let entry = serde_json::from_str(text.rsplit_once(' ')?.0).ok()?;
    (entry_text(&entry) == text).then_some(entry)
}

/// Removes a file, unless another process has.
fn remove(path: &Path) -> Result<(), BuildError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(BuildError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
