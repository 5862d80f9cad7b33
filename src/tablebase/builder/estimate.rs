//! What a build needs, worked out before anything is written.

use super::costs::{
    BASE_BYTES, COMPRESSED_SHARE_OF_FEW, compressed_share, orbit_bytes, present, saturated,
};
use super::parts;
use super::plan::{BuildOptions, Method, Misfit, Plan, PlanError, Resource};
use super::swept;
use super::tasks;
use super::workspace::{is_built, parts_in};
use crate::konane::{Board, Colour};
use crate::system::{disk_free, memory_available};
use crate::tablebase::files::{CHUNK_BYTES, Metric, Scope, database_name};
use crate::tablebase::index::{Index, Sizes, binomial};
use crate::tablebase::values::statespace;

/// Addresses per second and thread of the ranked method, writing included: a low figure, from 7x7
/// with 10 stones on two cores.
pub const RANKED_POSITIONS_PER_SECOND: f64 = 4.0e7;

/// Addresses per second and thread of the sweep, writing included: a low figure, from 6x6 on two
/// cores.
pub const SWEPT_POSITIONS_PER_SECOND: f64 = 1.5e8;

/// The same two with remotenesses: low figures, from 5x5 and 5x6.
const RANKED_REMOTENESSES_PER_SECOND: f64 = 1.0e7;
const SWEPT_REMOTENESSES_PER_SECOND: f64 = 4.0e7;

/// The same for the state space, which keeps more in memory and moves it more often.
pub const REACHED_POSITIONS_PER_SECOND: f64 = 1.0e8;

/// Boards with fewer squares are built by the ranked method: the sweep's hundreds of small parts
/// take longer than the values.
const SWEPT_FROM: u32 = 28;

/// Bytes of the index of a file for each of its chunks.
const INDEX_BYTES: u128 = 12;

/// Memory and disk of one way to build.
struct Needs {
    memory: u128,
    disk: u128,
    disk_peak: u128,
    stored: u128,
    seconds: f64,
}

/// Works out what a build needs and whether it fits. Reads the sizes of memory and disk, writes
/// nothing. Microseconds; some milliseconds on the largest boards,
/// seconds where rows have to be cut into slices.
///
/// # Errors
/// If it does not fit, with what would; and if the directory has another database, or one that cannot be
/// read.
pub fn plan(board: &Board, options: &BuildOptions) -> Result<Plan, PlanError> {
    let dimensions = board.dimensions();
    let reachable = options.scope == Scope::Reachable;
    if reachable && options.max_stones.is_some() {
        return Err(PlanError::ReachableWithMaxStones);
    }
    if reachable && dimensions.squares() > statespace::MAX_SQUARES {
        return Err(PlanError::ReachableTooLarge { board: dimensions });
    }
    let metric = options.metric;
    if reachable && metric != Metric::Outcome {
        return Err(PlanError::ReachableWithRemoteness);
    }
    if metric != Metric::Outcome && options.method == Some(Method::Sliced) {
        return Err(PlanError::SlicedRemoteness { board: dimensions });
    }
    let index = Index::new(board.clone(), options.scope.exchanges());
    let sizes = Sizes::new(&index);
    let max_stones = options.max_stones.unwrap_or(u32::MAX).min(dimensions.squares());
    let directory = options.out.join(database_name(dimensions, options.scope, max_stones, metric));
    let finished = is_built(&directory, (dimensions, options.scope, metric), max_stones)?;
    let memory_limit = options.memory_bytes.or_else(memory_available);
    let disk_limit = disk_free(&directory)
        .map(|free| free.saturating_add(present(&directory) + tasks::present(&directory)));
    let threads = rayon::current_num_threads();

    let limits = [(Resource::Memory, memory_limit), (Resource::Disk, disk_limit)];
    let lacking = |needs: &Needs| {
        limits.into_iter().find_map(|(resource, limit)| {
            let need = match resource {
                Resource::Memory => needs.memory,
                Resource::Disk => needs.disk_peak,
            };
            let have = limit.filter(|&limit| need > u128::from(limit))?;
            Some((resource, have))
        })
    };
    let white = index.numbering().count(Colour::White);
    let whole = max_stones == dimensions.squares() && white <= swept::MAX_WHITE;
    let tables = BASE_BYTES + orbit_bytes(&sizes, max_stones);
    let swept = tables + swept::memory(&sizes, metric, threads);
    // A build goes on in the way in which it was begun, whatever is available now: no other one uses
    // what it has made, which may be the work of days.
    let in_slices = tasks::are_in(&directory);
    let in_memory = !in_slices && !parts_in(&directory).is_empty();
    let method = match options.method {
        _ if reachable => Method::Reached,
        _ if !whole => Method::Ranked,
        Some(method @ (Method::Swept | Method::Sliced)) => method,
        Some(Method::Ranked | Method::Reached) => Method::Ranked,
        None if in_slices => Method::Sliced,
        None if dimensions.squares() < SWEPT_FROM => Method::Ranked,
        None if metric != Metric::Outcome || in_memory => Method::Swept,
        None if memory_limit.is_none_or(|limit| swept <= u128::from(limit)) => Method::Swept,
        None => Method::Sliced,
    };
    let mut needs = ranked_needs(&index, &sizes, metric, max_stones, threads);
    let mut slices = None;
    match method {
        Method::Ranked => {}
        Method::Swept => {
            needs.memory = swept;
            let per_second = match metric {
                Metric::Outcome => SWEPT_POSITIONS_PER_SECOND,
                Metric::Remoteness => SWEPT_REMOTENESSES_PER_SECOND,
            };
            needs.seconds = needs.stored as f64 / (per_second * threads as f64);
        }
        Method::Sliced => {
            let figures = tasks::figures_here(board, &directory, memory_limit);
            needs.memory = figures.memory_bytes().into();
            needs.seconds = figures.thread_seconds / threads as f64;
            // Slices take as much as layers, and White's rows of one layer come on top.
            needs.disk_peak = needs.disk_peak.max(needs.disk + u128::from(figures.white_bytes));
            slices = Some(figures);
        }
        Method::Reached => {
            let passing = (0..=sizes.squares(Colour::Black))
                .map(|black| parts::memory(&sizes, metric, black, threads));
            needs.memory =
                tables + u128::from(statespace::memory_needed(board)) + passing.max().unwrap_or(0);
            needs.seconds = needs.stored as f64 / (REACHED_POSITIONS_PER_SECOND * threads as f64);
        }
    }
    if let (false, Some((resource, have))) = (finished, lacking(&needs)) {
        let begun = match method {
            Method::Sliced if in_slices => Some((directory.join(tasks::TASKS), "slices of rows")),
            Method::Swept if in_memory => Some((directory.clone(), "layers of rows")),
            _ => None,
        };
        // Whether it could be built anew, in small slices.
        let anew = metric == Metric::Outcome
            && resource == Resource::Memory
            && tasks::least_memory(&index, &sizes, threads) <= u128::from(have);
        if let Some((path, rows)) = begun.filter(|_| anew) {
            return Err(PlanError::Begun { path, rows, need: saturated(needs.memory), have });
        }
        let fits = (0..max_stones).rev().find(|&stones| {
            lacking(&ranked_needs(&index, &sizes, metric, stones, threads)).is_none()
        });
        let fits = fits.filter(|_| !reachable);
        let what = match max_stones < dimensions.squares() {
            _ if reachable => format!("the {dimensions} board with its reachable positions"),
            true => format!("{dimensions} with up to {max_stones} stones"),
            false => format!("the complete {dimensions} board"),
        };
        return Err(PlanError::DoesNotFit(Box::new(Misfit {
            what,
            scope: options.scope,
            memory: saturated(needs.memory),
            disk: saturated(needs.disk_peak),
            seconds: needs.seconds,
            threads,
            resource,
            have,
            fits,
        })));
    }
    Ok(Plan {
        dimensions,
        scope: options.scope,
        metric,
        max_stones,
        method,
        directory,
        finished,
        positions: (0..=max_stones).map(|n| 2 * sizes.layer_positions(n)).sum(),
        stored_positions: needs.stored,
        memory_bytes: saturated(needs.memory),
        memory_limit,
        disk_bytes: saturated(needs.disk),
        disk_peak_bytes: saturated(needs.disk_peak),
        disk_limit,
        slices,
        seconds: needs.seconds,
        threads,
    })
}

/// What the ranked method needs. Layer by layer the greatest of: the layers with the fewer stones
/// that its jumps lead to, for both sides to move (with those that these are computed from after an
/// interruption); and the layer itself, of which the last one needs one block at a time only.
fn ranked_needs(
    index: &Index,
    sizes: &Sizes,
    metric: Metric,
    max_stones: u32,
    threads: usize,
) -> Needs {
    let sides = index.sides().len() as u128;
    let longest = index.board().longest_jump();
    let planes = u128::from(metric.bits(max_stones));
    let layer = |stones: u32| planes * sizes.layer_bytes(stones);
    let mut values = 0;
    for stones in 0..=max_stones {
        let near = stones.saturating_sub(longest)..stones;
        let far = stones.saturating_sub(2 * longest)..near.start;
        let here = if stones < max_stones {
            2 * layer(stones)
        } else {
            planes * sizes.largest_block(stones)
        };
        let kept = near.map(|n| 2 * layer(n)).sum::<u128>() + far.map(layer).sum::<u128>();
        values = values.max(here + kept);
    }
    let white = index.numbering().count(Colour::White);
    let ranks: u128 = (0..=white.min(max_stones)).map(|w| u128::from(binomial(white, w))).sum();
    let permuted = 4 * (index.numbering().symmetries() as u128 - 1) * ranks;
    let orbits = orbit_bytes(sizes, max_stones);
    let longest_row = (0..=white.min(max_stones)).map(|w| binomial(white, w) / 8).max();
    let scratch = planes * u128::from(longest_row.unwrap_or(0)) * threads as u128;

    let raw_of = |stones: u32| u128::from(metric.bits(stones)) * sides * sizes.layer_bytes(stones);
    let raw: u128 = (0..=max_stones).map(raw_of).sum();
    let share = match max_stones == index.board().dimensions().squares() {
        true => compressed_share(raw, metric),
        false => COMPRESSED_SHARE_OF_FEW,
    };
    let index_of = |stones: u32| raw_of(stones) * INDEX_BYTES / u128::from(CHUNK_BYTES);
    let disk_of = |stones: u32| {
        let raw = raw_of(stones);
        // Small files are mostly header and index.
        let compressed = (raw as f64 * share) as u128;
        compressed + index_of(stones) + 4096
    };
    let index = (0..=max_stones).map(index_of).max().unwrap_or(0);
    let disk: u128 = (0..=max_stones).map(disk_of).sum();
    let largest = (0..=max_stones).map(disk_of).max().unwrap_or(0);
    let addresses: u128 = (0..=max_stones).map(|n| sizes.layer_addresses(n)).sum();
    // White to move is computed too where it is not stored, but not for the last layer.
    let computed = match sides {
        1 => 2 * addresses - sizes.layer_addresses(max_stones),
        _ => 2 * addresses,
    };
    let per_second = match metric {
        Metric::Outcome => RANKED_POSITIONS_PER_SECOND,
        Metric::Remoteness => RANKED_REMOTENESSES_PER_SECOND,
    };
    Needs {
        // The index of a file is in memory while its positions are counted.
        memory: BASE_BYTES + values + permuted + orbits + scratch + index,
        disk,
        disk_peak: disk + largest,
        stored: sides * addresses,
        seconds: computed as f64 / (per_second * threads as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn options(max_stones: Option<u32>, memory_bytes: Option<u64>) -> BuildOptions {
        let out = std::env::temp_dir().join("konane-plan-that-writes-nothing");
        BuildOptions { max_stones, memory_bytes, ..BuildOptions::complete(out) }
    }

    fn board(size: &str) -> Board {
        Board::new(size.parse().unwrap())
    }

    #[test]
    fn numbers_of_positions() {
        let planned = plan(&board("4x4"), &options(None, None)).unwrap();
        assert_eq!(planned.positions, 2 << 16);
        assert_eq!(planned.max_stones, 16);
        assert!(planned.directory.ends_with("4x4-complete"));
        assert!(planned.stored_positions >= planned.positions / 8);
        assert!(planned.stored_positions < planned.positions / 5);
        // No more stones than squares.
        let more = plan(&board("4x4"), &options(Some(40), None)).unwrap();
        assert_eq!((more.max_stones, more.directory), (16, planned.directory));
        // One empty square on either side, or one stone, with either side to move.
        let one = plan(&board("7x7"), &options(Some(1), None)).unwrap();
        assert_eq!(one.positions, 2 + 2 * 49);
        assert!(one.directory.ends_with("7x7-stones1"));
    }

    #[test]
    fn what_does_not_fit_says_what_would() {
        let limit = 1 << 30;
        let PlanError::DoesNotFit(misfit) =
            plan(&board("8x8"), &options(Some(14), Some(limit))).unwrap_err()
        else {
            panic!("another error");
        };
        assert_eq!((misfit.resource, misfit.have), (Resource::Memory, limit));
        assert!(misfit.need() > misfit.have);
        let fits = misfit.fits.expect("some number of stones fits");
        // That many do fit, and one more does not.
        assert!(plan(&board("8x8"), &options(Some(fits), Some(limit))).is_ok());
        assert!(plan(&board("8x8"), &options(Some(fits + 1), Some(limit))).is_err());
        // The whole board is beyond all memory, and says so without overflowing.
        let error = plan(&board("8x8"), &options(None, Some(limit))).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("the complete 8x8 board needs "), "{text}");
        assert!(text.contains(", but only 1 GiB of memory may be used: "), "{text}");
        assert!(text.contains(&format!("with up to {fits} stones it would fit")), "{text}");
        let error = plan(&board("8x8"), &options(Some(3), Some(1 << 20))).unwrap_err();
        assert!(error.to_string().ends_with("no number of stones would fit"), "{error}");
    }

    /// Batches and writers take no more than there is on the board.
    #[test]
    fn small_boards_need_little_memory() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for (size, scope, metric, mebibytes) in [
            ("4x4", Scope::Reachable, Metric::Outcome, 70),
            ("1x28", Scope::Complete, Metric::Outcome, 110),
            ("5x6", Scope::Complete, Metric::Outcome, 130),
            ("5x6", Scope::Complete, Metric::Remoteness, 300),
        ] {
            let options = BuildOptions { scope, metric, ..options(None, Some(mebibytes << 20)) };
            let planned = pool.install(|| plan(&board(size), &options)).unwrap();
            assert!(planned.method != Method::Sliced && planned.memory_bytes > 64 << 20, "{size}");
        }
    }

    #[test]
    fn the_remedy_is_for_what_is_lacking() {
        let mut reachable = options(None, Some(1 << 20));
        reachable.scope = Scope::Reachable;
        let PlanError::DoesNotFit(mut misfit) = plan(&board("4x4"), &reachable).unwrap_err() else {
            panic!("another error");
        };
        let text = |misfit: &Misfit| PlanError::DoesNotFit(Box::new(misfit.clone())).to_string();
        assert!(text(&misfit).ends_with("scope complete needs less memory"), "{}", text(&misfit));
        misfit.resource = Resource::Disk;
        assert_eq!(PlanError::DoesNotFit(misfit.clone()).kind(), ErrorKind::Limit);
        assert!(text(&misfit).ends_with("choose another disk"), "{}", text(&misfit));
    }

    #[test]
    fn reachable_positions_have_no_limit_of_stones() {
        let mut options = options(Some(4), None);
        options.scope = Scope::Reachable;
        let error = plan(&board("6x6"), &options).unwrap_err();
        assert!(matches!(error, PlanError::ReachableWithMaxStones), "{error}");
    }
}
