//! Garbage collection: what a search forgets when its memory is full, so that it can go on.
//!
//! Most of the memory are atoms, and of most atoms nothing is known: they were options of others,
//! and nobody looked further. What is worth keeping, by what it would take to find it again:
//!
//! 1. Grundy numbers: the answer stands on them, so they are never forgotten.
//! 2. Open couples in the table, by the expansions that went into them.
//! 3. Couples that are known to be won. The options of one atom show that again, because the option
//!    that is lost has a Grundy number.
//! 4. Atoms of which nothing is known, and the lists of options.
//!
//! The last kind goes always; the third goes too, and the least of the second, if more than half of
//! the atoms would stay.

use bitvec::vec::BitVec;

use super::game::{Atom, Impartial, Retained, Stop};
use super::workspace::{SolverState, couple_of};
use crate::table::{Cursor, Entry};
use crate::threads::thread_pool;

/// Collections in a row between which nothing is found, after which a search gives up. One is not
/// enough: in little memory, several threads can fill it with the options of what they are searching
/// before any of them has ended.
const MOST_IN_VAIN: u32 = 3;

/// Entries between two looks at whether to stop: less than a millisecond.
const LOOK: u32 = 1 << 14;

/// What the last collections left.
#[derive(Debug, Default)]
pub(super) struct Collector {
    /// Grundy numbers that were known at the last collection.
    numbers: Option<u64>,
    /// Collections since these were found.
    in_vain: u32,
}

impl Collector {
    /// Makes room in a workspace that nobody uses meanwhile; atoms of `root` stay. False if the
    /// search should not go on: nothing has been found over the last [`MOST_IN_VAIN`] collections,
    /// or what has to stay fills the memory. Once `stop` says so, nothing more is forgotten.
    pub fn collect<G: Impartial>(
        &mut self,
        workspace: &SolverState<'_, G>,
        root: &[Atom],
        threads: u32,
        stop: &Stop<'_>,
    ) -> bool {
        let numbers = Some(workspace.knowledge.numbers());
        self.in_vain = if self.numbers == numbers { self.in_vain + 1 } else { 0 };
        self.numbers = numbers;
        if self.in_vain >= MOST_IN_VAIN {
            return false;
        }
        let collect = || collect(workspace, root, stop);
        match thread_pool(threads.max(1) as usize).build() {
            Ok(pool) => pool.install(collect),
            Err(_) => collect(),
        }
    }
}

impl<G: Impartial> SolverState<'_, G> {
    /// Forgets what can be found again, as a search does that has used up its memory: only while
    /// nobody uses the workspace. Atoms without a Grundy number may lose their ids.
    pub fn make_room(&self) {
        collect(self, &[], &|| false);
    }
}

fn collect<G: Impartial>(workspace: &SolverState<'_, G>, root: &[Atom], stop: &Stop<'_>) -> bool {
    workspace.store.set_budget(0);
    let Retained { kept, forgotten } = retain(workspace, root, 0, true, stop);
    let all = kept + forgotten;
    tracing::debug!(kept, forgotten, "forgot what nothing was known of");
    if kept <= all / 2 || stop() {
        return forgotten > 0 || stop();
    }
    let couples = (all / 2).saturating_sub(workspace.knowledge.numbers());
    let least_work = least_work(workspace, couples);
    let Retained { kept, forgotten } = retain(workspace, root, least_work, false, stop);
    tracing::debug!(kept, forgotten, least_work, "forgot won couples, and open ones of less work");
    kept <= all / 4 * 3 || stop()
}

/// Keeps Grundy numbers, open couples of some work, the root, and won couples or not.
fn retain<G: Impartial>(
    workspace: &SolverState<'_, G>,
    root: &[Atom],
    least_work: u64,
    won: bool,
    stop: &Stop<'_>,
) -> Retained {
    let SolverState { game, knowledge, table, .. } = workspace;
    let mut kept: BitVec<usize> = BitVec::new();
    let mut keep = |atom: Atom| {
        let at = atom as usize;
        if kept.len() <= at {
            kept.resize((at + 1).max(kept.len() * 2), false);
        }
        kept.set(at, true);
    };
    root.iter().copied().for_each(&mut keep);
    let mut pace = 0u32;
    let mut is_stopped = false;
    table.retain(|code, entry| {
        pace += 1;
        is_stopped |= pace.is_multiple_of(LOOK) && stop();
        if is_stopped {
            return true;
        }
        let (atom, nimber) = couple_of(code);
        let known = knowledge.get(atom);
        let decided = known.grundy().is_some() || known.excludes(nimber);
        let stays = !decided && entry.work >= least_work;
        if stays {
            keep(atom);
        }
        stays
    });
    if is_stopped {
        // Whose entries have been kept since is not known.
        return Retained::default();
    }
    let kept = |atom: Atom| kept.get(atom as usize).is_some_and(|kept| *kept);
    if !won {
        knowledge.retain(kept);
    }
    game.retain(&|atom| !knowledge.get(atom).is_nothing() || kept(atom), stop)
}

/// The least power of two so that at most so many couples in the table have taken that much work.
fn least_work<G: Impartial>(workspace: &SolverState<'_, G>, couples: u64) -> u64 {
    let mut by_work = [0u64; u64::BITS as usize];
    let (mut cursor, mut cells) = (Cursor::default(), Vec::new());
    while workspace.table.copy_cells(&mut cursor, 1, &mut cells) {
        for cell in cells.drain(..) {
            by_work[Entry::unpack(cell).work.max(1).ilog2() as usize] += 1;
        }
    }
    let mut room = couples;
    let fits = |&&count: &&u64| {
        let fits = count <= room;
        room = room.saturating_sub(count);
        fits
    };
    let kept = by_work.iter().rev().take_while(fits).count() as u32;
    1u64.checked_shl(u64::BITS - kept).unwrap_or(u64::MAX)
}
