//! The directory of a database while it is being built.
//!
//! It holds the finished layer files, and for what is in work *parts*: layer files with a single
//! block each, such as `part-wins-black-b05-w04.kdb`. All of them get their names only when they are
//! whole, so whatever a dead process leaves behind is either sound or called `.tmp`; after a power
//! failure parts may be damaged, which shows. A layer is assembled by copying its parts' compressed
//! blocks, and the manifest, which makes a database of the directory, is written last. What is
//! found by a later run is checked before it is used.
//!
//! A file `lock`, locked through the operating system, keeps other builds out; the lock ends with
//! the process, however that ends.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::error::BuildError;
use super::observer::BuildObserver;
use super::plan::PlanError;
use crate::file::Lock;
use crate::konane::Dimensions;
use crate::tablebase::files::{
    BlockKey, BlockKind, DatabaseError, LayerFile, LayerHeader, LayerSummary, LayerWriter,
    MANIFEST_NAME, Manifest, ManifestLayer, Metric, Scope, layer_entry, layer_name,
};
use crate::tablebase::index::Index;

const LOCK_NAME: &str = "lock";

/// A locked directory in which one database is built.
pub struct Workspace<'a> {
    directory: PathBuf,
    scope: Scope,
    metric: Metric,
    max_stones: u32,
    index: &'a Index,
    observer: &'a dyn BuildObserver,
    stop: &'a AtomicBool,
    lock: Lock,
}

impl<'a> Workspace<'a> {
    /// Makes the directory if it is not there, and locks it; removes what was left unfinished, and
    /// checks that everything else there belongs to this build.
    ///
    /// # Errors
    /// [`BuildError::Busy`] if another process has it, [`PlanError::OtherWork`] if there are files
    /// of another board, scope or layout, and what the operating system refuses.
    pub fn open(
        index: &'a Index,
        directory: &Path,
        (scope, metric): (Scope, Metric),
        max_stones: u32,
        observer: &'a dyn BuildObserver,
        stop: &'a AtomicBool,
    ) -> Result<Self, BuildError> {
        let directory = directory.to_owned();
        fs::create_dir_all(&directory).map_err(BuildError::io("create", &directory))?;
        let lock = Lock::take(&directory.join(LOCK_NAME))?;
        let lock = lock.ok_or_else(|| BuildError::Busy { path: directory.clone() })?;
        let workspace =
            Workspace { directory, scope, metric, max_stones, index, observer, stop, lock };
        workspace.clean()?;
        Ok(workspace)
    }

    /// The same for the outcomes of a complete board and work that needs no more than the lock and
    /// the checks.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub fn lock(
        index: &Index,
        directory: &Path,
        observer: &dyn BuildObserver,
    ) -> Result<Lock, BuildError> {
        let squares = index.board().dimensions().squares();
        let (holds, stop) = ((Scope::Complete, Metric::Outcome), AtomicBool::new(false));
        Ok(Workspace::open(index, directory, holds, squares, observer, &stop)?.lock)
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether the manifest is there, so that nothing is left to do.
    pub fn is_finished(&self) -> bool {
        self.directory.join(MANIFEST_NAME).exists()
    }

    /// The header of a layer and of its parts.
    pub fn header(&self, stones: u32) -> LayerHeader {
        LayerHeader::new(self.index, self.scope, self.metric, stones)
    }

    /// The place of a layer.
    pub fn layer_path(&self, stones: u32) -> PathBuf {
        self.directory.join(layer_name(stones))
    }

    pub(super) fn part_path(&self, key: BlockKey) -> PathBuf {
        self.directory.join(part_name(key))
    }

    /// Removes temporary files and parts of finished layers, and looks whether all files that have
    /// the names of layers or parts are what these names say.
    fn clean(&self) -> Result<(), BuildError> {
        let read = || BuildError::io("read", &self.directory);
        for entry in fs::read_dir(&self.directory).map_err(read())? {
            let path = entry.map_err(read())?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            let name = name.unwrap_or_default();
            if name.ends_with(".kdb.tmp") || name == format!("{MANIFEST_NAME}.tmp") {
                remove(&path)?;
                continue;
            }
            if !name.ends_with(".kdb") {
                continue;
            }
            let file = match LayerFile::open(&path) {
                Ok(file) => file,
                // Reported and removed when the layer is asked for; a finished database is left
                // as it is.
                Err(error) if error.is_damage() => continue,
                Err(other) => return Err(other.into()),
            };
            self.check_identity(&name, &file)?;
            let stones = file.header().stones;
            if name.starts_with("part-") && self.layer_path(stones).exists() {
                remove(&path)?;
            }
        }
        Ok(())
    }

    /// Whether a file belongs to this build.
    fn check_identity(&self, name: &str, file: &LayerFile) -> Result<(), BuildError> {
        let got = file.header();
        let other = |what, expected, got| Err(other_work(file.path(), what, expected, got).into());
        let expected = self.header(got.stones);
        let holds = |header: &LayerHeader| (header.dimensions, header.scope, header.metric);
        check_holds(file.path(), holds(&expected), holds(got))?;
        if got.stones > self.max_stones {
            let expected = format!("at most {}", self.max_stones);
            return other("number of stones", expected, got.stones.to_string());
        }
        if got.chunk_bytes != expected.chunk_bytes {
            let [expected, got] = [expected.chunk_bytes, got.chunk_bytes].map(|b| b.to_string());
            return other("chunk size", expected, got);
        }
        if got.squares != expected.squares {
            let [expected, got] = [expected.squares, got.squares.clone()].map(|s| format!("{s:?}"));
            return other("order of the squares", expected, got);
        }
        let named = match file.blocks() {
            [block] if name.starts_with("part-") => part_name(block.key()),
            _ => layer_name(got.stones),
        };
        if named != name {
            return other("name", named, name.to_owned());
        }
        Ok(())
    }

    /// The entry of a finished layer, after a check of everything in it; one that is damaged is
    /// removed.
    ///
    /// # Errors
    /// What the operating system refuses, and [`BuildError::Interrupted`].
    pub fn layer(&self, stones: u32) -> Result<Option<ManifestLayer>, BuildError> {
        let (path, header) = (self.layer_path(stones), self.header(stones));
        let count = |file: LayerFile| layer_entry(self.index, &file, self.stop);
        sound(&path, &header, &header.keys(), count, |why| self.observer.discarded(&path, why))
    }

    /// A finished part, after a check of everything in it; one that is damaged is removed.
    ///
    /// # Errors
    /// As [`Workspace::layer`].
    pub fn part(&self, key: BlockKey) -> Result<Option<LayerFile>, BuildError> {
        let (path, header) = (self.part_path(key), self.header(key.black + key.white));
        let verify = |file: LayerFile| file.verify(self.stop).map(|()| file);
        sound(&path, &header, &[key], verify, |why| self.observer.discarded(&path, why))
    }

    /// The entry of a layer that was just written.
    ///
    /// # Errors
    /// If it is damaged, and [`BuildError::Interrupted`].
    pub fn entry(&self, stones: u32) -> Result<ManifestLayer, BuildError> {
        Ok(layer_entry(self.index, &LayerFile::open(&self.layer_path(stones))?, self.stop)?)
    }

    /// A writer for the part with a block. The block is begun, written, ended and the file finished
    /// by the caller.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn part_writer(&self, key: BlockKey) -> Result<LayerWriter, BuildError> {
        let header = self.header(key.black + key.white);
        Ok(LayerWriter::create(&self.part_path(key), header)?.provisional())
    }

    /// Writes a part at once.
    ///
    /// # Errors
    /// As [`LayerWriter::write`].
    pub fn write_part(&self, key: BlockKey, bytes: &[u8]) -> Result<(), BuildError> {
        let mut writer = self.part_writer(key)?;
        writer.write_block(key, bytes)?;
        writer.finish()?;
        Ok(())
    }

    /// A writer for a whole layer, for those too small to be worth parts.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn layer_writer(&self, stones: u32) -> Result<LayerWriter, BuildError> {
        Ok(LayerWriter::create(&self.layer_path(stones), self.header(stones))?)
    }

    /// Makes a layer of its parts, and removes these. Their checksums are checked on the way.
    ///
    /// # Errors
    /// If a part is missing or damaged, or the disk is full, and [`BuildError::Interrupted`].
    pub fn assemble(&self, stones: u32) -> Result<LayerSummary, BuildError> {
        let keys = self.header(stones).keys();
        let mut writer = self.layer_writer(stones)?;
        for &key in &keys {
            let part = LayerFile::open(&self.part_path(key))?;
            writer.copy_block(&part, key, self.stop)?;
        }
        let summary = writer.finish()?;
        for &key in &keys {
            remove(&self.part_path(key))?;
        }
        Ok(summary)
    }
}

/// What a database says of which positions of which board.
pub(super) type Holds = (Dimensions, Scope, Metric);

/// Whether the database is in its directory already.
///
/// # Errors
/// If its manifest cannot be read, or is one of another database.
pub(super) fn is_built(directory: &Path, holds: Holds, max_stones: u32) -> Result<bool, PlanError> {
    let path = directory.join(MANIFEST_NAME);
    if !path.exists() {
        return Ok(false);
    }
    let got = Manifest::read(directory)?;
    check_holds(&path, holds, (got.dimensions, got.scope, got.metric()))?;
    if got.max_stones() != max_stones {
        let [expected, got] = [max_stones, got.max_stones()].map(|stones| stones.to_string());
        return Err(other_work(&path, "number of stones", expected, got));
    }
    Ok(true)
}

fn check_holds(path: &Path, expected: Holds, got: Holds) -> Result<(), PlanError> {
    let [expected, got] = [expected, got].map(|(board, scope, metric)| {
        let (scope, metric) = (scope.name().to_owned(), metric.name().to_owned());
        [("board", board.to_string()), ("scope", scope), ("metric", metric)]
    });
    match expected.into_iter().zip(got).find(|(expected, got)| expected != got) {
        Some(((what, expected), (_, got))) => Err(other_work(path, what, expected, got)),
        None => Ok(()),
    }
}

fn other_work(path: &Path, what: &'static str, expected: String, got: String) -> PlanError {
    PlanError::OtherWork { path: path.to_owned(), what, expected, got }
}

/// The files of parts in a directory.
pub(super) fn parts_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_part = |name: &str| name.starts_with("part-") && name.ends_with(".kdb");
    paths.filter(|path| path.file_name().and_then(OsStr::to_str).is_some_and(is_part)).collect()
}

/// The name of the file of a part, such as `part-wins-black-b05-w04.kdb`.
fn part_name(key: BlockKey) -> String {
    let kind = match key.kind {
        BlockKind::Wins => "wins",
        BlockKind::Reached => "reached",
        BlockKind::Remoteness(bit) => &format!("bit{bit}"),
    };
    let BlockKey { to_move, black, white, .. } = key;
    format!("part-{kind}-{}-b{black:02}-w{white:02}.kdb", to_move.name())
}

/// What `check` makes of a file if it is there and has this header and these blocks; one that is
/// damaged is removed.
///
/// # Errors
/// What `check` finds that is no damage, and what the operating system refuses.
pub(super) fn sound<T>(
    path: &Path,
    header: &LayerHeader,
    keys: &[BlockKey],
    check: impl FnOnce(LayerFile) -> Result<T, DatabaseError>,
    discarded: impl FnOnce(&DatabaseError),
) -> Result<Option<T>, BuildError> {
    if !path.exists() {
        return Ok(None);
    }
    let checked = LayerFile::open(path).and_then(|file| {
        let got = file.blocks().iter().map(|block| block.key());
        if file.header() == header && got.eq(keys.iter().copied()) {
            return check(file);
        }
        let text = |header: &LayerHeader, blocks: usize| format!("{header}, {blocks} blocks");
        let expected = text(header, keys.len());
        let got = text(file.header(), file.blocks().len());
        Err(DatabaseError::damaged(path, "the header or its blocks", expected, got))
    });
    match checked {
        Ok(sound) => Ok(Some(sound)),
        Err(error) if error.is_damage() => {
            discarded(&error);
            remove(path)?;
            Ok(None)
        }
        Err(other) => Err(other.into()),
    }
}

/// Removes a file, unless somebody else has.
pub(super) fn remove(path: &Path) -> Result<(), BuildError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(BuildError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
