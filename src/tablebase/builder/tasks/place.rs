//! The directory that all machines see: names, what is there, and how a file gets there whole.
//!
//! In the directory of the database are the layers; in `tasks` below it what passes from task to
//! task. Whoever makes a file makes it in a directory of its own, `making-…`, and renames it into
//! place, so that two who make the same one do not meet: both bring the same bytes, and either may
//! be last.

use std::collections::HashSet;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use crate::file::FileError;
use crate::konane::{Colour, Dimensions};
use crate::tablebase::builder::error::BuildError;
use crate::tablebase::files::{
    BlockKey, BlockKind, DatabaseError, LayerFile, Metric, Scope, database_name, layer_name,
};

/// The directory with the tasks' files, in that of the database.
pub(in crate::tablebase::builder) const TASKS: &str = "tasks";

/// Directories of files in the making.
const MAKING: &str = "making-";

/// How the rows are cut, written by the first run.
const LAYOUT: &str = "layout.txt";

/// The directory of a database that tasks build.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Of the database.
    pub directory: PathBuf,
}

impl Place {
    /// Of a board's database, which tasks build whole, in the directory that holds databases.
    pub fn of(out: &Path, board: Dimensions) -> Self {
        let (scope, metric) = (Scope::Complete, Metric::Outcome);
        Place { directory: out.join(database_name(board, scope, board.squares(), metric)) }
    }

    /// The directory with what passes from task to task.
    pub fn tasks(&self) -> PathBuf {
        self.directory.join(TASKS)
    }

    /// The file of a slice's block.
    pub fn slice(&self, key: BlockKey, first: u32) -> PathBuf {
        self.tasks().join(slice_name(key, first))
    }

    /// The file of a layer.
    pub fn layer(&self, stones: u32) -> PathBuf {
        self.directory.join(layer_name(stones))
    }

    /// What the manifest will say of a layer. There once the layer is finished.
    pub fn entry(&self, stones: u32) -> PathBuf {
        self.tasks().join(entry_name(stones))
    }

    /// How the rows are cut.
    pub fn layout(&self) -> PathBuf {
        self.tasks().join(LAYOUT)
    }

    /// The names of all files of the tasks.
    pub fn names(&self) -> Result<HashSet<String>, BuildError> {
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

    /// Removes what tasks that ended left half made. Not while tasks are running.
    pub fn clean(&self) -> Result<(), BuildError> {
        for name in self.names()?.iter().filter(|name| name.starts_with(MAKING)) {
            let path = self.tasks().join(name);
            fs::remove_dir_all(&path).map_err(BuildError::io("remove", &path))?;
        }
        Ok(())
    }

    /// A directory of its own, for files in the making.
    pub fn making(&self) -> Result<Making, BuildError> {
        // On whichever machine: the name is drawn, and taken only if it is new.
        loop {
            let drawn = RandomState::new().hash_one(std::process::id());
            let path = self.tasks().join(format!("{MAKING}{drawn:016x}"));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Making { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let tasks = self.tasks();
                    fs::create_dir_all(&tasks).map_err(BuildError::io("create", &tasks))?;
                }
                Err(error) => return Err(BuildError::io("create", &path)(error)),
            }
        }
    }

    /// What to do about a file that should be there, and whole: if it is one of the tasks', it is
    /// removed, and can be made again.
    pub fn lost(&self, path: &Path, reason: DatabaseError) -> BuildError {
        let missing = matches!(
            &reason,
            DatabaseError::File(FileError::Io { source, .. })
                if source.kind() == io::ErrorKind::NotFound
        );
        // Cut short, a file may not even look like one.
        let damaged = matches!(
            &reason,
            DatabaseError::File(FileError::Damaged { .. } | FileError::OtherKind { .. })
        );
        if !path.starts_with(self.tasks()) || !(missing || damaged) {
            return reason.into();
        }
        let _ = fs::remove_file(path);
        BuildError::Lost { path: path.to_owned(), reason: Box::new(reason) }
    }
}

/// A directory of files in the making, removed with what is in it.
pub(super) struct Making {
    path: PathBuf,
}

impl Making {
    /// Where to make a file that will have a name elsewhere.
    pub fn file(&self, target: &Path) -> PathBuf {
        self.path.join(target.file_name().expect("the name of a file"))
    }

    /// Gives a file that is finished its name.
    pub fn done(&self, target: &Path) -> Result<(), BuildError> {
        let made = self.file(target);
        fs::rename(&made, target).map_err(BuildError::io("rename", &made))
    }

    /// The same, and waits until the disk has the name.
    pub fn done_durably(&self, target: &Path) -> Result<(), BuildError> {
        self.done(target)?;
        #[cfg(unix)]
        if let Some(directory) = target.parent() {
            let opened = fs::File::open(directory).map_err(BuildError::io("open", directory))?;
            opened.sync_all().map_err(BuildError::io("write", directory))?;
        }
        Ok(())
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The name of the file of a slice's block, such as `white-b05-r00001024-w04.kdb`: side to move,
/// black stones, first row, white stones.
pub(super) fn slice_name(key: BlockKey, first: u32) -> String {
    let BlockKey { to_move, black, white, .. } = key;
    format!("{}-b{black:02}-r{first:08}-w{white:02}.kdb", to_move.name())
}

/// Side to move and black stones, from the name of a slice's block.
pub(super) fn parse_slice_name(name: &str) -> Option<(BlockKey, u32)> {
    let mut parts = name.strip_suffix(".kdb")?.split('-');
    let to_move = match parts.next()? {
        "black" => Colour::Black,
        "white" => Colour::White,
        _ => return None,
    };
    let mut number = |prefix| parts.next()?.strip_prefix(prefix)?.parse().ok();
    let (black, first, white) = (number('b')?, number('r')?, number('w')?);
    Some((BlockKey { kind: BlockKind::Wins, to_move, black, white }, first))
}

/// The name of a layer's entry, such as `entry-17.json`.
pub(super) fn entry_name(stones: u32) -> String {
    format!("entry-{stones:02}.json")
}

/// Opens a file that tasks have made.
pub(super) fn open(place: &Place, path: &Path) -> Result<LayerFile, BuildError> {
    LayerFile::open(path).map_err(|reason| place.lost(path, reason))
}
