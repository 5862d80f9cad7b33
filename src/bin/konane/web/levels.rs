//! Moves of opponents that do not play as well as they can.
//!
//! A [`Level`] searches so many nodes and uses nothing that others have found, so it needs no
//! [`Seat`](super::seat::Seat), and nobody who comes may cut it short: it would play worse than it
//! says. One searches at a time, since each has memory of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Mutex as Queue;
use tokio::task::spawn_blocking;

use super::reply::Problem;
use konane::analysis::{Choice, Level};
use konane::search::run::Limits;
use konane::{Board, Position};

/// Those who wait for a move, and the end of the program.
#[derive(Default)]
pub struct Levels {
    turn: Arc<Queue<()>>,
    ending: Arc<AtomicBool>,
}

impl Levels {
    /// A move on this level, on a thread where it may take its time; none if there is no move.
    pub async fn choose(
        &self,
        level: Level,
        board: Board,
        position: Position,
    ) -> Result<Option<Choice>, Problem> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let ending = Arc::clone(&self.ending);
        let chosen = spawn_blocking(move || {
            // Held here, as a search goes on whose client has gone away.
            let _turn = turn;
            level.choose(&board, &position, Limits { stop: Some(&ending), ..Limits::default() })
        });
        Ok(chosen.await.map_err(Problem::failed)??)
    }

    /// Ends the search, and all that come.
    pub fn stop(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }
}
