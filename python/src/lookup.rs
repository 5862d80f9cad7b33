//! Many positions looked up at once, in the order in which they lie in the files.
//!
//! A database reads and decompresses a chunk for a position, unless it has the chunk in its cache.
//! So positions are sorted by their place first: each chunk is then read once, however the caller has
//! mixed them. The sorting takes some 0.3 microseconds a position, a chunk some five.

use std::sync::atomic::{AtomicBool, Ordering};

use konane::Value;
use konane::search::plain::oracle::{Oracle, OracleAnswer};
use konane::tablebase::{Database, DatabaseError, DatabaseValues};
use rayon::prelude::*;

use crate::position::decode;

/// Positions that are sorted together: 64 MB of memory, and a tenth of a second in which nobody looks
/// at the stop flag.
const SORTED: usize = 1 << 21;

/// Positions that a thread takes between two looks at the stop flag: at the worst some tens of
/// milliseconds.
const BATCH: usize = 2048;

/// Positions for which no thread is started: at the worst some milliseconds.
pub const FEW: usize = 1024;

/// The side to move wins.
const WIN: i8 = 1;
/// It loses.
const LOSS: i8 = 0;
/// The database does not say.
const NOT_COVERED: i8 = -1;

/// A position on its way through.
#[derive(Clone, Copy)]
struct Query {
    /// Where its value is: stones, side and black stones; eight rows; column.
    place: (u32, u32, u32),
    /// Where its answer goes.
    at: u32,
    code: u64,
    answer: i8,
}

/// Looks up to [`FEW`] codes up, on this thread, in the order in which they come: for these, threads
/// would cost more than they bring.
///
/// # Errors
/// If a file is damaged.
pub fn look_up_few(
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

/// Looks codes up, on the current pool of `rayon`; `answers` has the same length. Ends early when
/// `stop` is true, with the answers unfinished.
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
    for (codes, answers) in codes.chunks(SORTED).zip(answers.chunks_mut(SORTED)) {
        answers.fill(NOT_COVERED);
        let mut queries: Vec<Query> = codes
            .par_iter()
            .enumerate()
            .take_any_while(|_| !stop.load(Ordering::Relaxed))
            .filter_map(|(at, &code)| query(database, at as u32, code))
            .collect();
        queries.par_sort_unstable_by_key(|query| query.place);
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

/// Nothing at an error, which `values` keeps.
fn answer(values: &DatabaseValues<'_>, code: u64) -> Option<i8> {
    match values.value(code) {
        OracleAnswer::Known(Value::Win) => Some(WIN),
        OracleAnswer::Known(Value::Loss) => Some(LOSS),
        OracleAnswer::Unknown => Some(NOT_COVERED),
        OracleAnswer::Failed => None,
    }
}

/// Nothing for what the database cannot have.
fn query(database: &Database, at: u32, code: u64) -> Option<Query> {
    let position = decode(database.board(), code)?;
    let stones = position.occupied().count_ones();
    if stones > database.coverage().max_stones {
        return None;
    }
    Some(Query { place: database.look_up_order(&position), at, code, answer: NOT_COVERED })
}
