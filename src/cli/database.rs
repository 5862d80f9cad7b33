//! What the verbs on databases share.

use std::path::Path;

use super::exit::CliError;
use super::flags::values;
use crate::endgame::{Database, DatabaseOptions, Metric, Scope};
use crate::konane::Dimensions;

/// Opens the database of a board in a directory, or the directory's own.
pub fn open(directory: &Path, board: Dimensions) -> Result<Database, CliError> {
    let database = Database::find(directory, board, DatabaseOptions::default())?;
    tracing::debug!(?database, "database opened");
    Ok(database)
}

/// What a database has, as a heading.
pub fn heading(board: Dimensions, scope: Scope, max_stones: u32, metric: Metric) -> String {
    let mut head = format!("{board}, {} positions", scope.name());
    if max_stones < board.squares() {
        head += &format!(" with up to {max_stones} stones");
    }
    match metric {
        Metric::Outcome => head,
        Metric::Remoteness => head + ", with remoteness",
    }
}

values!(Scope {
    Scope::Complete: "Every set of stones with either side to move",
    Scope::Reachable: "The positions that a game from the start can reach",
});

values!(Metric {
    Metric::Outcome: "Who wins",
    Metric::Remoteness: "Who wins, and after how many plies: the winner hurries, the loser delays",
});
