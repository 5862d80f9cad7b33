//! Look-up of many positions at once, in the order of the files.
//!
//! A database reads and decompresses a chunk for a position, unless the chunk is in its cache. So positions are
//! first sorted by their place in the files: then each chunk is read once, for any order of the codes.
//! Sorting takes some 0.3 microseconds for each position, a chunk some five.

use std::sync::atomic::{AtomicBool, Ordering};

use konane::tablebase::{Database, DatabaseError, DatabaseValues, Metric};
use konane::{Position, Value};
use rayon::prelude::*;

use crate::position::decode;

/// Number of positions that are sorted together. This takes 64 MB of memory, and a tenth of a second in which the
/// stop flag is not polled.
const SORTED_TOGETHER: usize = 1 << 21;

/// Number of positions that a thread looks up between two polls of the stop flag. This takes at most some tens of
/// milliseconds.
const BATCH: usize = 2048;

/// Maximum number of positions that are looked up on the calling thread. This takes at most some milliseconds.
pub const MAX_ON_CALLING_THREAD: usize = 1024;

/// Answer for a win of the side to move.
const WIN: i8 = 1;
/// Answer for a loss of the side to move.
const LOSS: i8 = 0;
/// Answer for a position that the database does not cover.
const NOT_COVERED: i8 = -1;

/// Position to be looked up.
#[derive(Clone, Copy)]
struct Query {
    /// Sort key, the order of the values in the files: (stones, side to move and black stones), then the group of
    /// eight rows, then the column.
    order: (u32, u32, u32),
    /// Index of the code, and of the answer.
    at: u32,
    code: u64,
    answer: i8,
}

/// Looks up at most [`MAX_ON_CALLING_THREAD`] codes, on this thread, in the given order. Threads and sorting
/// would cost more than they save.
///
/// # Errors
/// If a file is damaged.
pub fn look_up_on_calling_thread(
    database: &Database,
    metric: Metric,
    codes: &[u64],
    answers: &mut [i8],
) -> Result<(), DatabaseError> {
    let values = DatabaseValues::new(database);
    answers.fill(NOT_COVERED);
    for (&code, out) in codes.iter().zip(answers) {
        if let Some(position) = covered(database, code) {
            *out = answer(database, &values, metric, &position)?;
        }
    }
    Ok(())
}

/// Looks up codes on the current pool of `rayon`. `answers` has the same length. Returns early when `stop` is
/// true, with incomplete answers.
///
/// # Errors
/// If a file is damaged.
pub fn look_up(
    database: &Database,
    metric: Metric,
    codes: &[u64],
    answers: &mut [i8],
    stop: &AtomicBool,
) -> Result<(), DatabaseError> {
    let values = DatabaseValues::new(database);
    for (codes, answers) in codes.chunks(SORTED_TOGETHER).zip(answers.chunks_mut(SORTED_TOGETHER)) {
        answers.fill(NOT_COVERED);
        let query = |(at, &code)| {
            let position = covered(database, code)?;
            let order = database.look_up_order(&position);
            Some(Query { order, at: at as u32, code, answer: NOT_COVERED })
        };
        let mut queries: Vec<Query> = codes
            .par_iter()
            .enumerate()
            .take_any_while(|_| !stop.load(Ordering::Relaxed))
            .filter_map(query)
            .collect();
        queries.par_sort_unstable_by_key(|query| query.order);
        queries.par_chunks_mut(BATCH).try_for_each(|queries| {
            if !stop.load(Ordering::Relaxed) {
                for query in queries {
                    let position = Position::from_code(database.board(), query.code);
                    query.answer = answer(database, &values, metric, &position)?;
                }
            }
            Ok::<_, DatabaseError>(())
        })?;
        for query in queries {
            answers[query.at as usize] = query.answer;
        }
    }
    Ok(())
}

/// Returns the answer for a position. A remoteness is below 64, and only complete databases store it.
fn answer(
    database: &Database,
    values: &DatabaseValues<'_>,
    metric: Metric,
    position: &Position,
) -> Result<i8, DatabaseError> {
    Ok(match metric {
        Metric::Remoteness => {
            database.remoteness(position)?.map_or(NOT_COVERED, |plies| plies as i8)
        }
        Metric::Outcome => match values.look_up(position)? {
            Some(Value::Win) => WIN,
            Some(Value::Loss) => LOSS,
            None => NOT_COVERED,
        },
    })
}

/// Returns the position of a code; `None` if the database cannot contain it.
fn covered(database: &Database, code: u64) -> Option<Position> {
    let position = decode(database.board(), code)?;
    let stones = position.occupied().count_ones();
    (stones <= database.coverage().max_stones).then_some(position)
}
