//! What the verbs on databases share.

use std::path::Path;

use super::exit::CliError;
use super::flags::values;
use crate::endgame::{Database, DatabaseOptions, Scope};
use crate::konane::Dimensions;

/// Opens the database of a board in a directory, or the directory's own.
pub fn open(directory: &Path, board: Dimensions) -> Result<Database, CliError> {
    let database = Database::find(directory, board, DatabaseOptions::default())?;
    tracing::debug!(?database, "database opened");
    Ok(database)
}

/// What a database has, as a heading.
pub fn heading(board: Dimensions, scope: Scope, max_stones: u32) -> String {
    let mut head = format!("{board}, {} positions", scope.name());
    if max_stones < board.squares() {
        head += &format!(" with up to {max_stones} stones");
    }
    head
}

values!(Scope {
    Scope::Complete: "Every set of stones with either side to move",
    Scope::Reachable: "The positions that a game from the start can reach",
});
