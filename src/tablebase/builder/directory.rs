//! The directory of a database while it is being built: the only state of a build.
//!
//! The directory itself has the finished layers. Its subdirectory `tasks` has everything else. A *block* has
//! the rows of a layer with the same number of black stones, for one side to move and one kind of bit.
//!
//! | file | content |
//! |---|---|
//! | `wins-black-b05-w04-r00001024.kdb` | a *part*: rows of one block, from row 1024 on, as a layer file of its own |
//! | `entry-17.json` | the manifest's entry of a finished layer |
//! | `layout.txt` | the maximum number of rows of a part |
//! | `making-…` | a file that is not complete yet |
//!
//! A file gets its name when it is complete, so a process may be killed at any time. Two processes that
//! make the same file write the same bytes. A file that this process has not made is checked before it
//! is used: layers when the build begins, parts when they are read. The manifest, which makes the
//! directory a database, is written last.
//!
//! A build locks the file `lock` through the operating system, which keeps other builds out. Tasks do not take
//! this lock.

use std::collections::HashSet;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

use xxhash_rust::xxh3::xxh3_64;

use super::error::BuildError;
use super::monitor::{BuildMonitor, BuildObserver};
use super::slices::Slices;
use crate::file::{FileError, Lock, NewFile, open_regular};
use crate::konane::{Board, Colour};
use crate::tablebase::files::{
    BlockKey, BlockKind, Coverage, DatabaseError, Inflater, LayerFile, LayerHeader, LayerWriter,
    MANIFEST_NAME, Manifest, ManifestLayer, ROWS, Scope, layer_name,
};
use crate::tablebase::index::Index;

const LOCK: &str = "lock";
const TASKS: &str = "tasks";
const MAKING: &str = "making-";
const LAYOUT: &str = "layout.txt";

/// Maximum length of the file of an entry or of the layout.
const MAX_TEXT_BYTES: u64 = 1 << 12;

/// The directory in which a database is built, and the properties of the database.
#[derive(Debug)]
pub(super) struct BuildDirectory {
    pub path: PathBuf,
    pub coverage: Coverage,
    pub index: Index,
    /// Division of the rows into slices. Each slice of a block is a part.
    pub slices: Slices,
}

/// Names and headers of the files.
impl BuildDirectory {
    /// Describes a directory. Accesses no file.
    pub fn new(path: PathBuf, coverage: Coverage, slices: Slices) -> Self {
        let index = Index::new(Board::new(coverage.dimensions), coverage.scope.exchanges());
        BuildDirectory { path, coverage, index, slices }
    }

    /// The subdirectory `tasks`.
    pub fn tasks(&self) -> PathBuf {
        self.path.join(TASKS)
    }

    pub fn layer_path(&self, stones: u32) -> PathBuf {
        self.path.join(layer_name(stones))
    }

    pub fn entry_path(&self, stones: u32) -> PathBuf {
        self.tasks().join(entry_name(stones))
    }

    /// The file of a part, from the row `first` on.
    pub fn part_path(&self, key: BlockKey, first: u32) -> PathBuf {
        self.tasks().join(part_name(key, first))
    }

    /// Header of a layer's file.
    pub fn header(&self, stones: u32) -> LayerHeader {
        LayerHeader::new(&self.index, self.coverage.scope, self.coverage.metric, stones)
    }

    /// Header of a part. In scope complete, a database of a board with an even side has no blocks with White
    /// to move, so a file with such a block would be rejected. The header of a part with White to move
    /// therefore states scope reachable, which allows these blocks.
    fn part_header(&self, key: BlockKey) -> LayerHeader {
        let scope = if self.stores(key.to_move) { self.coverage.scope } else { Scope::Reachable };
        LayerHeader::new(&self.index, scope, self.coverage.metric, key.black + key.white)
    }

    /// Returns true if the database has blocks with this side to move.
    pub fn stores(&self, to_move: Colour) -> bool {
        self.index.sides().contains(&to_move)
    }
}

/// The state of the directory.
impl BuildDirectory {
    /// Returns true if the manifest exists, so that nothing is left to do.
    pub fn is_finished(&self) -> bool {
        self.path.join(MANIFEST_NAME).exists()
    }

    /// Returns true if the directory has the finished database.
    ///
    /// # Errors
    /// If the manifest cannot be read, or belongs to another database.
    pub fn has_database(&self) -> Result<bool, BuildError> {
        if self.is_finished() {
            let path = self.path.join(MANIFEST_NAME);
            let got = Manifest::read(&self.path)?.coverage();
            self.check_same(&path, got)?;
        }
        Ok(self.is_finished())
    }

    /// Returns an error if `got`, the coverage of a file, differs from that of this database.
    fn check_same(&self, path: &Path, got: Coverage) -> Result<(), BuildError> {
        if got == self.coverage {
            return Ok(());
        }
        let (what, expected) = ("database", self.coverage.name());
        Err(BuildError::OtherWork { path: path.to_owned(), what, expected, got: got.name() })
    }

    /// Checks that a layer belongs to this build.
    fn check_layer(&self, name: &str, file: &LayerFile) -> Result<(), BuildError> {
        let got = file.header();
        let LayerHeader { dimensions, scope, metric, stones, .. } = *got;
        let max_stones = stones.max(self.coverage.max_stones);
        self.check_same(file.path(), Coverage { dimensions, scope, metric, max_stones })?;
        let (header, layer_name) = (self.header(stones), layer_name(stones));
        if *got == header && name == layer_name {
            return Ok(());
        }
        let text = |name: &str, header: &LayerHeader| format!("{name}, {header}");
        let (expected, got) = (text(&layer_name, &header), text(name, got));
        let (path, what) = (file.path().to_owned(), "name or header");
        Err(BuildError::OtherWork { path, what, expected, got })
    }

    /// Total size of the files of an unfinished database, in bytes.
    pub fn bytes(&self) -> u64 {
        let entries =
            [&self.path, &self.tasks()].map(|path| fs::read_dir(path).into_iter().flatten());
        let lengths = entries.into_iter().flatten().filter_map(|entry| entry.ok()?.metadata().ok());
        lengths.map(|metadata| metadata.len()).sum()
    }

    /// Names of the files in `tasks`; none if there is no such directory.
    pub fn task_files(&self) -> Result<HashSet<String>, BuildError> {
        let tasks = self.tasks();
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

    /// Returns true if there are part files.
    pub fn has_parts(&self) -> bool {
        self.task_files().is_ok_and(|names| names.iter().any(|name| name.ends_with(".kdb")))
    }

    /// Division of the rows into slices by an earlier run, if `layout.txt` exists and is valid.
    pub fn layout(&self) -> Option<Slices> {
        let text = read_text(&self.tasks().join(LAYOUT)).ok()??;
        let rows = text.strip_prefix("konane tasks 2, ")?.strip_suffix(" rows\n")?;
        let slices = Slices { max_rows: rows.parse().ok()? };
        let is_cut = slices == Slices::WHOLE
            || slices.max_rows > 0 && slices.max_rows.is_multiple_of(ROWS as u32);
        (is_cut && layout_text(slices) == text).then_some(slices)
    }

    /// Creates and locks the directory, checks that its layers belong to this build, and removes
    /// incomplete files. If an earlier run has cut the rows into other slices, its parts are removed, too.
    ///
    /// # Errors
    /// [`BuildError::Busy`] if another process has the lock, [`BuildError::OtherWork`] if there are
    /// layers of another database, and errors of the operating system.
    pub fn lock(&self, observer: &dyn BuildObserver) -> Result<Lock, BuildError> {
        let directory = &self.path;
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
                    Ok(file) => self.check_layer(&name, &file)?,
                    // A damaged layer is removed later, when the build needs it. In a finished database, it
                    // stays.
                    Err(error) if error.is_damage() => {}
                    Err(other) => return Err(other.into()),
                }
            }
        }
        if !self.is_finished() {
            self.prepare(observer)?;
        } else if self.tasks().exists() {
            // The last build was killed after it had written the manifest.
            self.remove_tasks()?;
        }
        Ok(lock)
    }

    /// Creates the subdirectory `tasks`, and removes files that this build cannot use from it.
    fn prepare(&self, observer: &dyn BuildObserver) -> Result<(), BuildError> {
        let tasks = self.tasks();
        fs::create_dir_all(&tasks).map_err(BuildError::io("create", &tasks))?;
        let same_layout = self.layout() == Some(self.slices);
        let mut removed = 0;
        for name in self.task_files()? {
            let useless = !same_layout && name.ends_with(".kdb");
            if useless || name.starts_with(MAKING) {
                remove(&tasks.join(&name))?;
                removed += usize::from(useless);
            }
        }
        if removed > 0 {
            observer.removed(removed);
        }
        // The layout is written last. If the process is killed before that, the next run finds another layout or
        // none, and removes the remaining parts.
        let text = layout_text(self.slices);
        if same_layout { Ok(()) } else { self.write_text(&tasks.join(LAYOUT), &text) }
    }

    pub fn remove_tasks(&self) -> Result<(), BuildError> {
        let tasks = self.tasks();
        fs::remove_dir_all(&tasks).map_err(BuildError::io("remove", &tasks))
    }
}

/// Writing and reading files.
impl BuildDirectory {
    /// Path for writing a file that will be renamed to `target`. It is random, so that no two processes use
    /// the same path, even on different machines.
    pub fn temporary(&self, target: &Path) -> PathBuf {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let random = RandomState::new().hash_one(std::process::id());
        self.tasks().join(format!("{MAKING}{random:016x}-{name}"))
    }

    /// Renames a complete file to its final name.
    pub fn publish(&self, made: &Path, target: &Path) -> Result<(), BuildError> {
        fs::rename(made, target).map_err(BuildError::io("rename", made))
    }

    /// Writes a small file without syncing it to the disk. After a power failure it may be damaged; this is
    /// detected when it is read.
    fn write_text(&self, target: &Path, text: &str) -> Result<(), BuildError> {
        let temporary = self.temporary(target);
        let mut file = NewFile::create(&temporary, 1 << 10)?;
        file.put(text.as_bytes())?;
        file.finish_provisionally()?;
        self.publish(&temporary, target)
    }

    /// Returns the error for a file that cannot be used because of `reason`. If the file is a damaged or
    /// missing part, removes it and returns [`BuildError::Lost`], so that the part is made again.
    pub fn lost(&self, path: &Path, reason: DatabaseError) -> BuildError {
        let DatabaseError::File(error) = &reason else { return reason.into() };
        let is_lost = match error {
            FileError::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            // A truncated part may lack even the signature of a layer file, and is then
            // reported as a file of another kind.
            FileError::Damaged { .. } | FileError::OtherKind { .. } => true,
            _ => false,
        };
        if !is_lost || !path.starts_with(self.tasks()) {
            return reason.into();
        }
        let _ = fs::remove_file(path);
        BuildError::Lost { path: path.to_owned(), reason: Box::new(reason) }
    }

    /// Opens the file that has `rows` of a block: the part, or the layer if the layer is finished. Returns the
    /// file, and the index of the first of these rows within the block of the file.
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
            let got = file.expect_block(key)?.rows;
            let header = self.part_header(key);
            if *file.header() != header {
                return Err(DatabaseError::damaged(&path, "the header", header, file.header()));
            }
            if !in_layer && got != rows.len() as u64 {
                return Err(DatabaseError::damaged(&path, "the number of rows", rows.len(), got));
            }
            Ok(file)
        };
        let file = LayerFile::open(&path).and_then(check);
        Ok((file.map_err(|reason| self.lost(&path, reason))?, first))
    }

    /// Reads rows from a file that [`BuildDirectory::open_rows`] has opened: from row `first` of the block in
    /// the file on, as many as fit into `out`.
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

    /// Begins a part, which [`BuildDirectory::end_part`] ends. The file is not synced to the disk: a part that
    /// a power failure damages is made again.
    pub fn begin_part(&self, key: BlockKey, first: u32) -> Result<LayerWriter, BuildError> {
        let path = self.temporary(&self.part_path(key, first));
        let mut writer = LayerWriter::create(&path, self.part_header(key))?.provisional();
        writer.begin_block(key);
        Ok(writer)
    }

    /// Ends a part and renames its file to the final name.
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

    /// The manifest's entry of a layer, if the layer is finished. Removes an entry that does not
    /// belong to the layer's file.
    pub fn read_entry(&self, stones: u32) -> Result<Option<ManifestLayer>, BuildError> {
        let path = self.entry_path(stones);
        let text = read_text(&path).map_err(BuildError::io("read", &path))?;
        let Some(text) = text else { return Ok(None) };
        // The footer identifies the content of the layer's file. The file was synced to the disk before the
        // entry was written, so the rest of the file need not be read again.
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

    /// Writes the entry of a layer. If a power failure damages the entry, the next run removes it and checks
    /// the layer again.
    pub fn write_entry(&self, entry: &ManifestLayer) -> Result<(), BuildError> {
        self.write_text(&self.entry_path(entry.stones), &entry_text(entry))
    }
}

/// Reads the beginning of a small file; `None` if it cannot be opened.
fn read_text(path: &Path) -> io::Result<Option<String>> {
    let Ok(file) = open_regular(path) else { return Ok(None) };
    let mut text = Vec::new();
    file.take(MAX_TEXT_BYTES).read_to_end(&mut text)?;
    Ok(Some(String::from_utf8_lossy(&text).into_owned()))
}

fn layout_text(slices: Slices) -> String {
    format!("konane tasks 2, {} rows\n", slices.max_rows)
}

/// Name of the entry of a layer, such as `entry-17.json`.
pub(super) fn entry_name(stones: u32) -> String {
    format!("entry-{stones:02}.json")
}

/// Name of a part's file, such as `wins-black-b05-w04-r00001024.kdb`: kind, side to move, black and
/// white stones, first row.
pub(super) fn part_name(key: BlockKey, first: u32) -> String {
    let kind = match key.kind {
        BlockKind::Wins => "wins",
        BlockKind::Reached => "reached",
        BlockKind::Remoteness(bit) => &format!("bit{bit}"),
    };
    let BlockKey { to_move, black, white, .. } = key;
    format!("{kind}-{}-b{black:02}-w{white:02}-r{first:08}.kdb", to_move.name())
}

/// Parses the file name of a part of kind wins: returns its side to move and number of black stones. Returns
/// `None` for all other names.
pub(super) fn parse_part_name(name: &str) -> Option<(Colour, u32)> {
    let mut words = name.strip_prefix("wins-")?.strip_suffix(".kdb")?.split('-');
    let to_move = match words.next()? {
        "black" => Colour::Black,
        "white" => Colour::White,
        _ => return None,
    };
    Some((to_move, words.next()?.strip_prefix('b')?.parse().ok()?))
}

/// Text of an entry: JSON, and its XXH3.
fn entry_text(entry: &ManifestLayer) -> String {
    let json = serde_json::to_string(entry).expect("texts and numbers can be written as JSON");
    format!("{json} {:016x}\n", xxh3_64(json.as_bytes()))
}

fn parse_entry(text: &str) -> Option<ManifestLayer> {
    let entry = serde_json::from_str(text.rsplit_once(' ')?.0).ok()?;
    (entry_text(&entry) == text).then_some(entry)
}

/// Removes a file. It is not an error if another process has already removed it.
pub(super) fn remove(path: &Path) -> Result<(), BuildError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(BuildError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
