//! Look-up of many positions at once, in the order of the files.
//!
//! A database reads and decompresses a chunk for a position, unless the chunk is in its cache. So positions are
//! first sorted by their place in the files: then each chunk is read once, for any order of the codes.
//! Sorting takes some 0.3 microseconds for each position, a chunk some five.

use std::sync::atomic::{AtomicBool, Ordering};

use konane::Value;
use konane::search::plain::oracle::{Oracle, OracleAnswer};
use konane::tablebase::{Database, DatabaseError, DatabaseValues};
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
    codes: &[u64],
    answers: &mut [i8],
) -> Result<(), DatabaseError> {
    let values = DatabaseValues::new(database);
    answers.fill(NOT_COVERED);
    for (&code, out) in codes.iter().zip(answers) {
        if query(database, 0, code).is_some() {
            let Some(answer) = answer(&values, code) else { break };
            *out = answer;
        }
    }
    values.into_error().map_or(Ok(()), Err)
}

/// Looks up codes on the current pool of `rayon`. `answers` has the same length. Returns early when `stop` is
/// true, with incomplete answers.
///
/// # Errors
/// If a file is damaged.
pub fn look_up(
    database: &Database,
    codes: &[u64],
    answers: &mut [i8],
    stop: &AtomicBool,
) -> Result<(), DatabaseError> {
    let values = DatabaseValues::new(database);
    let failed = AtomicBool::new(false);
    for (codes, answers) in codes.chunks(SORTED_TOGETHER).zip(answers.chunks_mut(SORTED_TOGETHER)) {
        answers.fill(NOT_COVERED);
        let mut queries: Vec<Query> = codes
            .par_iter()
            .enumerate()
            .take_any_while(|_| !stop.load(Ordering::Relaxed))
            .filter_map(|(at, &code)| query(database, at as u32, code))
            .collect();
        queries.par_sort_unstable_by_key(|query| query.order);
        queries.par_chunks_mut(BATCH).for_each(|queries| {
            if stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
                return;
            }
            for query in queries {
                match answer(&values, query.code) {
                    Some(answer) => query.answer = answer,
                    None => return failed.store(true, Ordering::Relaxed),
                }
            }
        });
        for query in queries {
            answers[query.at as usize] = query.answer;
        }
    }
    values.into_error().map_or(Ok(()), Err)
}

/// Returns the answer for a code; `None` after an error, which `values` stores.
fn answer(values: &DatabaseValues<'_>, code: u64) -> Option<i8> {
    match values.value(code) {
        OracleAnswer::Known(Value::Win) => Some(WIN),
        OracleAnswer::Known(Value::Loss) => Some(LOSS),
        OracleAnswer::Unknown => Some(NOT_COVERED),
        OracleAnswer::Failed => None,
    }
}

/// Returns the query for a code; `None` if the database cannot contain it.
fn query(database: &Database, at: u32, code: u64) -> Option<Query> {
    let position = decode(database.board(), code)?;
    let stones = position.occupied().count_ones();
    if stones > database.coverage().max_stones {
        return None;
    }
    Some(Query { order: database.look_up_order(&position), at, code, answer: NOT_COVERED })
}
