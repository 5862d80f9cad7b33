//! Garbage collection: eviction when the memory of a search is full.
//!
//! Most of the memory is used by atoms, and most atoms have no results: they were generated as options and not
//! searched. The kinds of data, in descending order of the cost of computing them again:
//!
//! 1. Grundy numbers. Results are based on them, so they are never evicted.
//! 2. Open couples in the table: the greater the search effort of a couple, the greater the cost.
//! 3. Couples that are known to be won. To prove such a win again, it suffices to generate the options of the atom: the
//!    option that wins is lost for the opponent, and this follows from Grundy numbers, which are kept.
//! 4. Atoms without results, and the lists of options.
//!
//! A collection always evicts the fourth kind. If that leaves more than half of the atoms, it also evicts the third
//! kind, and the couples of the second kind with the least search effort.

use bitvec::vec::BitVec;

use super::game::{Atom, Impartial, Retained, Stop};
use super::solver_state::{SolverState, couple_of};
use crate::table::{Cursor, Entry};
use crate::threads::thread_pool;

/// A search ends after this many consecutive collections without a new Grundy number. One such collection is no reason
/// to end: several threads can fill a small memory with the options of the couples that they are searching before any
/// of them has finished.
const MAX_FRUITLESS_COLLECTIONS: u32 = 3;

/// Number of entries between two polls of the stop condition. They take less than a millisecond.
const POLL_INTERVAL: u32 = 1 << 14;

/// State between the collections of a search.
#[derive(Debug, Default)]
pub(super) struct Collector {
    /// Number of Grundy numbers that were known at the last collection.
    numbers: Option<u64>,
    /// Number of collections since the last new Grundy number.
    fruitless: u32,
}

impl Collector {
    /// Frees memory of a solver state. No other thread may use the solver state at the same time. Keeps the atoms of
    /// `root`. Returns false if the search should end: there was no new Grundy number after any of the last
    /// [`MAX_FRUITLESS_COLLECTIONS`] collections, or the data that has to be kept fills the memory. When `stop` returns
    /// true, nothing more is evicted.
    pub fn collect<G: Impartial>(
        &mut self,
        state: &SolverState<G>,
        root: &[Atom],
        threads: u32,
        stop: &Stop<'_>,
    ) -> bool {
        let numbers = Some(state.knowledge.numbers());
        self.fruitless = if self.numbers == numbers { self.fruitless + 1 } else { 0 };
        self.numbers = numbers;
        if self.fruitless >= MAX_FRUITLESS_COLLECTIONS {
            return false;
        }
        let collect = || collect(state, root, stop);
        match thread_pool(threads.max(1) as usize).build() {
            Ok(pool) => pool.install(collect),
            Err(_) => collect(),
        }
    }
}

impl<G: Impartial> SolverState<G> {
    /// Evicts data that can be computed again, as a search does when its memory is full. No other thread may use the
    /// solver state at the same time. Atoms without a Grundy number may lose their ids.
    pub fn collect_garbage(&self) {
        collect(self, &[], &|| false);
    }
}

fn collect<G: Impartial>(state: &SolverState<G>, root: &[Atom], stop: &Stop<'_>) -> bool {
    state.store.set_budget(0);
    let Retained { kept, evicted } = retain(state, root, 0, true, stop);
    let all = kept + evicted;
    tracing::debug!(kept, evicted, "evicted atoms without results");
    if kept <= all / 2 || stop() {
        return evicted > 0 || stop();
    }
    let couples = (all / 2).saturating_sub(state.knowledge.numbers());
    let min_work = min_work(state, couples);
    let Retained { kept, evicted } = retain(state, root, min_work, false, stop);
    tracing::debug!(kept, evicted, min_work, "evicted won couples, and open ones below min_work");
    kept <= all / 4 * 3 || stop()
}

/// Evicts everything except Grundy numbers, open couples with a search effort of at least `min_work`, the atoms of
/// `root`, and, if `won` is true, couples that are known to be won.
fn retain<G: Impartial>(
    state: &SolverState<G>,
    root: &[Atom],
    min_work: u64,
    won: bool,
    stop: &Stop<'_>,
) -> Retained {
    let SolverState { game, knowledge, table, .. } = state;
    let mut kept: BitVec<usize> = BitVec::new();
    let mut keep = |atom: Atom| {
        let at = atom as usize;
        if kept.len() <= at {
            kept.resize((at + 1).max(kept.len() * 2), false);
        }
        kept.set(at, true);
    };
    root.iter().copied().for_each(&mut keep);
    let mut entries = 0u32;
    let mut is_stopped = false;
    table.retain(|code, entry| {
        entries += 1;
        is_stopped |= entries.is_multiple_of(POLL_INTERVAL) && stop();
        if is_stopped {
            return true;
        }
        let (atom, nimber) = couple_of(code);
        let known = knowledge.get(atom);
        let decided = known.grundy().is_some() || known.excludes(nimber);
        let stays = !decided && entry.work >= min_work;
        if stays {
            keep(atom);
        }
        stays
    });
    if is_stopped {
        // The remaining entries of the table were kept without marking their atoms, so no atom may be evicted.
        return Retained::default();
    }
    let kept = |atom: Atom| kept.get(atom as usize).is_some_and(|kept| *kept);
    if !won {
        knowledge.retain(kept);
    }
    game.retain(&|atom| !knowledge.get(atom).is_empty() || kept(atom), stop)
}

/// Returns the least power of two such that at most `couples` couples in the table have a search effort of at least
/// this power.
fn min_work<G: Impartial>(state: &SolverState<G>, couples: u64) -> u64 {
    let mut by_work = [0u64; u64::BITS as usize];
    let (mut cursor, mut cells) = (Cursor::default(), Vec::new());
    while state.table.copy_cells(&mut cursor, 1, &mut cells) {
        for cell in cells.drain(..) {
            by_work[Entry::unpack(cell).work.max(1).ilog2() as usize] += 1;
        }
    }
    let mut remaining = couples;
    let fits = |&&count: &&u64| {
        let fits = count <= remaining;
        remaining = remaining.saturating_sub(count);
        fits
    };
    let kept = by_work.iter().rev().take_while(fits).count() as u32;
    1u64.checked_shl(u64::BITS - kept).unwrap_or(u64::MAX)
}
