//! Certificates: sets of lost positions that prove the value of a position.
//!
//! A set of positions, each *lost for the side to move*, is closed if, after every move from a
//! position of the set, there is a reply that leads to a position of the set or ends the game. Games
//! are finite, so every position of a closed set is really lost. A checker that verifies that a set
//! is closed need not trust the search that found the set.
//!
//! A layer consists of the positions to which the caller assigns the same number, such as the number
//! of stones. Every move leads to a lower layer. The set is collected layer by layer, from the root
//! down. When a layer is processed, all of its won positions that need a reply have been found. A
//! reply into a position that is already in the set is preferred. Otherwise the reply leads to the
//! lost position in the table that took the least search effort.
//!
//! Sometimes the table contains no lost position after a won one: entries may have been replaced,
//! and results of the leaf solver are never stored. Then the oracle and the leaf solver are tried,
//! and finally a df-pn search with the same table. At the end, the set is thinned until none of its
//! positions is superfluous. Thinning does not use the table.
//!
//! * [`collect`] returns a [`ClosedSet`]; [`ClosedSet::thin`] returns a [`Certificate`].
//! * [`CertificateOptions`], [`CertificateProgress`], [`CertificateError`]: parameters and results.
//! * `Collection`: state of the collection. `PendingLayer`: positions found for a layer that is not
//!   processed yet.
//! * `ReplyFinder`: finds replies, shared by all threads. `Buffers`: working memory of a thread.
//! * `PackedLayer`, `PendingCodes` (in `layers`): codes of a finished layer, and codes for a later
//!   one.

mod layers;
mod thin;

use std::collections::HashSet;

use rayon::prelude::*;

use crate::allocation::try_reserve_exact;
use crate::dfpn::{DfpnOptions, dfpn};
use crate::error::ErrorKind;
use crate::plain::Root;
use crate::plain::game::{Child, Expansion, Game};
use crate::plain::oracle::OracleAnswer;
use crate::run::{Limits, Outcome, Reason};
use crate::table::Table;
use crate::{LeafSolverOptions, Value};
use layers::{LayerSet, NoMemory, PackedLayer, PendingCodes, insert};

/// Number of positions that are processed between two polls of the stop flag and the clock. The
/// possible replies to all these positions are found in parallel before replies are chosen.
const BATCH: usize = 1 << 14;

/// Number of positions that one thread takes at a time. For each such group the thread creates new
/// working memory. The game may keep data about earlier positions there, and the result must not
/// depend on which positions a thread has processed before.
const GRAIN: usize = 1 << 10;

/// Initial budget of the leaf solver for a reply, in positions. Most lost replies are found with
/// about this budget.
const FIRST_BUDGET: u32 = 60;

/// Parameters of the collection of a certificate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CertificateOptions {
    /// Parameters of the df-pn search for a lost reply that is missing in the table.
    pub dfpn: DfpnOptions,
    /// Options of the leaf solver that finds replies without a table entry.
    pub leaf_solver: LeafSolverOptions,
}

/// A closed set, and statistics of its collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// Codes of the lost positions, in increasing order. Positions without a move are left out. No
    /// code is superfluous: without it, the rest proves nothing. This requires that
    /// [`Game::expand`] reports every immediate win.
    pub codes: Vec<u64>,
    /// Number of positions that were collected and later found superfluous.
    pub superfluous: u64,
    /// Number of won positions for which a reply was chosen.
    pub answered: u64,
    /// Number of positions that df-pn had to search again.
    pub searched_again: u64,
    /// Number of expansions of the df-pn searches.
    pub expansions: u64,
}

/// Reason why there is no certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// A limit was reached.
    #[error("the certificate is not complete: {}", .0.text())]
    Stopped(Reason),
    /// The value of a position is not the stated one, because the value of the root, the table or
    /// the oracle is wrong.
    #[error(
        "the values contradict each other at the position with the code {code:#x}, which was said \
         to be {}", if *.won { "won" } else { "lost" }
    )]
    Contradiction {
        /// Code of the position.
        code: u64,
        /// True if the stated value is a win, false if it is a loss.
        won: bool,
    },
}

impl CertificateError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            CertificateError::Stopped(reason) => reason.kind(),
            CertificateError::Contradiction { .. } => ErrorKind::File,
        }
    }
}

/// Progress of the collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CertificateProgress {
    /// Layer in progress. The layers are processed from the highest down to 0.
    pub layer: u32,
    /// Number of lost positions so far. While the set is thinned, the number of positions that have
    /// been kept so far.
    pub positions: u64,
    /// True if the set is complete and is being thinned.
    pub thinning: bool,
    /// Number of won positions for which a reply was chosen.
    pub answered: u64,
    /// Number of positions that df-pn had to search again.
    pub searched_again: u64,
}

/// A closed set, some of whose positions may be superfluous.
pub struct ClosedSet<L> {
    root: (u64, Value),
    layer_of: L,
    /// Layers by number. They include the positions without moves.
    set: Vec<PackedLayer>,
    /// Positions of the set that have no moves.
    terminal: LayerSet,
    /// Statistics of the collection, without codes.
    statistics: Certificate,
}

/// Collects a closed set for `value`, the value of `root`.
///
/// The table of `root` should be the one with which df-pn or another proof-number search of the same
/// game found the value. Any other table of such searches works too. With an empty table, the
/// collection takes as long as the search. `layer` maps positions to numbers such that every move
/// leads to a smaller number, for example to the number of stones. The deadline and the stop flag of
/// `limits` apply to the whole collection; the node limit is ignored. The sorting of a layer cannot
/// be interrupted; it takes some seconds for a hundred million positions.
///
/// The result does not depend on the number of threads, as long as the oracle and the table do not.
/// Besides the table, the collection needs about 3 bytes of memory for each position of the set. In
/// layers that moves have reached but that are not processed yet, it also needs some 16 bytes for
/// each position of the set and 8 to 32 bytes for each position that needs a reply.
///
/// # Errors
/// If a limit is reached, or a position has another value than stated.
pub fn collect<G: Game, L: Fn(u64) -> u32 + Sync>(
    root: Root<'_, G>,
    value: Value,
    layer: L,
    options: &CertificateOptions,
    limits: Limits<'_>,
    observer: &mut dyn FnMut(&CertificateProgress),
) -> Result<ClosedSet<L>, CertificateError> {
    let Root { game, code: root, table } = root;
    let layers = layer(root) as usize + 1;
    let mut collection = Collection {
        finder: ReplyFinder { game, table, options, limits: Limits { nodes: None, ..limits } },
        collected: 0,
        terminal: HashSet::default(),
        layers: vec![PendingLayer::default(); layers],
        layer_of: layer,
        statistics: Certificate::default(),
        observer,
    };
    match value {
        Value::Loss => collection.add_lost(root)?,
        Value::Win => collection.layers[layers - 1].won.push(root)?,
    }
    let mut set: Vec<PackedLayer> = Vec::with_capacity(layers);
    for number in (0..layers).rev() {
        collection.answer(number)?;
        set.push(PackedLayer::new(&collection.open(number)?)?);
    }
    set.reverse();
    let Collection { terminal, layer_of, statistics, .. } = collection;
    Ok(ClosedSet { root: (root, value), layer_of, set, terminal, statistics })
}

impl<L: Fn(u64) -> u32 + Sync> ClosedSet<L> {
    /// Thins the set until none of its positions is superfluous. `game` has to be the game of
    /// [`collect`]. `limits` and `observer` have the same meaning as there.
    ///
    /// Needs 8 bytes of memory for each position of the result and about 3 bytes for each position
    /// of the set. In layers that moves have reached but that are not processed yet, it also needs
    /// some 16 bytes for each position of the set, 8 to 32 bytes for each position that needs a
    /// reply, and 16 to 32 bytes for each reply.
    ///
    /// # Errors
    /// If a limit is reached, or a position has another value than stated.
    pub fn thin<G: Game>(
        self,
        game: &G,
        limits: Limits<'_>,
        observer: &mut dyn FnMut(&CertificateProgress),
    ) -> Result<Certificate, CertificateError> {
        let ClosedSet { root, layer_of, set, terminal, statistics } = self;
        let limits = Limits { nodes: None, ..limits };
        let collected: u64 = set.iter().map(PackedLayer::len).sum();
        let poll = |layer: usize, kept: usize| {
            observer(&CertificateProgress {
                layer: layer as u32,
                positions: kept as u64,
                thinning: true,
                answered: statistics.answered,
                searched_again: statistics.searched_again,
            });
            check_limits(&limits)
        };
        let mut codes = thin::thin(game, root, &layer_of, set, &terminal, poll)?;
        codes.par_sort_unstable();
        let superfluous = collected - (terminal.len() + codes.len()) as u64;
        Ok(Certificate { codes, superfluous, ..statistics })
    }
}

/// Polls the stop flag and the clock.
fn check_limits(limits: &Limits<'_>) -> Result<(), CertificateError> {
    limits.reached().map_or(Ok(()), |reason| Err(CertificateError::Stopped(reason)))
}

/// Positions found for a layer that is not processed yet.
#[derive(Clone, Debug, Default)]
struct PendingLayer {
    /// Positions of the set.
    lost: LayerSet,
    /// Won positions for which a reply is needed.
    won: PendingCodes,
}

/// Finds replies to won positions. All threads share it.
struct ReplyFinder<'a, G: Game> {
    game: &'a G,
    table: &'a Table,
    options: &'a CertificateOptions,
    limits: Limits<'a>,
}

struct Collection<'a, G: Game, L> {
    finder: ReplyFinder<'a, G>,
    layer_of: L,
    /// Number of positions of the set, including those without moves.
    collected: u64,
    /// Positions of the set that have no moves.
    terminal: LayerSet,
    /// Layers by number. A processed layer is empty.
    layers: Vec<PendingLayer>,
    /// Statistics so far, without codes.
    statistics: Certificate,
    observer: &'a mut dyn FnMut(&CertificateProgress),
}

/// Replies to a won position.
enum Replies {
    /// A reply ends the game or leads to a position of the set. No other reply is needed.
    Answered,
    /// Lost positions to which replies lead, each with the estimated cost of its proof. May be empty.
    Lost(Vec<(u64, u64)>),
}

impl From<NoMemory> for CertificateError {
    fn from(_: NoMemory) -> Self {
        CertificateError::Stopped(Reason::Memory)
    }
}

/// Working memory of one thread.
struct Buffers<G: Game> {
    scratch: G::Scratch,
    children: Vec<Child>,
}

impl<G: Game> Buffers<G> {
    fn new() -> Self {
        Buffers { scratch: G::Scratch::default(), children: Vec::new() }
    }
}

/// Calls `visit` for some positions in parallel. Returns the results in the order of the positions.
fn in_parallel<G: Game, T: Send>(
    codes: &[u64],
    visit: impl Fn(&mut Buffers<G>, u64) -> T + Sync,
) -> Vec<T> {
    let grains = codes.par_chunks(GRAIN).map(|grain| {
        let mut buffers = Buffers::new();
        grain.iter().map(|&code| visit(&mut buffers, code)).collect::<Vec<T>>()
    });
    grains.collect::<Vec<Vec<T>>>().into_iter().flatten().collect()
}

impl<G: Game> ReplyFinder<'_, G> {
    /// Finds lost positions that are one move away from the won position `code`.
    fn replies(
        &self,
        code: u64,
        is_in_set: impl Fn(u64) -> bool,
        buffers: &mut Buffers<G>,
    ) -> Result<Replies, CertificateError> {
        let Buffers { scratch, children } = buffers;
        children.clear();
        match self.game.expand(code, scratch, children, |_| {}) {
            Expansion::Lost => return Err(CertificateError::Contradiction { code, won: true }),
            Expansion::Won(_) => return Ok(Replies::Answered),
            Expansion::Open => {}
        }
        if children.iter().any(|child| is_in_set(child.code)) {
            return Ok(Replies::Answered);
        }
        let mut lost = Vec::new();
        let mut open = 0;
        for index in 0..children.len() {
            let child = children[index];
            let entry = self.table.lookup(self.game.key(child.code), child.code);
            match entry.and_then(|entry| entry.value()) {
                Some(Value::Loss) => lost.push((child.code, entry.map_or(0, |entry| entry.work))),
                Some(Value::Win) => {}
                None => {
                    children[open] = child;
                    open += 1;
                }
            }
        }
        children.truncate(open);
        if !lost.is_empty() {
            return Ok(Replies::Lost(lost));
        }
        // The limits are checked here because an oracle may read from a disk, and the leaf solver
        // takes time too.
        check_limits(&self.limits)?;
        let mut unknown = 0;
        for index in 0..children.len() {
            let child = children[index];
            match self.game.oracle_value(child.code) {
                // The cost of the proof is unknown, and the leaf estimate is a guess. With 2³²
                // added, every result of the leaf solver, whose cost is known, is preferred.
                OracleAnswer::Known(Value::Loss) => {
                    lost.push((child.code, (1 << 32) + u64::from(child.delta)));
                }
                OracleAnswer::Known(Value::Win) => {}
                OracleAnswer::Failed => return Err(CertificateError::Stopped(Reason::FileError)),
                OracleAnswer::Unknown => {
                    children[unknown] = child;
                    unknown += 1;
                }
            }
        }
        children.truncate(unknown);
        children.sort_by_key(|child| child.delta);
        lost.extend(self.solve_leaf(children, scratch));
        Ok(Replies::Lost(lost))
    }

    /// Returns the code of the child that the leaf solver proves lost with the fewest positions, and
    /// the number of these positions. The budget starts small and grows fourfold. This way, children
    /// that need many positions do not delay a child that needs few.
    fn solve_leaf(&self, children: &[Child], scratch: &mut G::Scratch) -> Option<(u64, u64)> {
        let options = &self.options.leaf_solver;
        let max_budget = options.budget;
        let mut best = None;
        let mut budget = FIRST_BUDGET.min(max_budget);
        loop {
            for child in children.iter().filter(|child| options.admits(child)) {
                let solution = self.game.solve_leaf(child.code, budget, scratch);
                if solution.value == Some(Value::Loss) {
                    best = Some((child.code, solution.positions.into()));
                    // From now on, only a child that needs fewer positions is better.
                    budget = solution.positions.saturating_sub(1);
                }
            }
            if best.is_some() || budget >= max_budget {
                return best;
            }
            budget = (4 * budget).min(max_budget);
        }
    }
}

/// Returns the positions after all moves from the lost position `code`.
fn moves<G: Game>(
    game: &G,
    code: u64,
    buffers: &mut Buffers<G>,
) -> Result<Vec<u64>, CertificateError> {
    let Buffers { scratch, children } = buffers;
    children.clear();
    match game.expand(code, scratch, children, |_| {}) {
        Expansion::Lost => Ok(Vec::new()),
        Expansion::Won(_) => Err(CertificateError::Contradiction { code, won: false }),
        Expansion::Open => Ok(children.iter().map(|child| child.code).collect()),
    }
}

impl<G: Game, L: Fn(u64) -> u32 + Sync> Collection<'_, G, L> {
    fn add_lost(&mut self, code: u64) -> Result<(), CertificateError> {
        let layer = (self.layer_of)(code) as usize;
        self.collected += u64::from(insert(&mut self.layers[layer].lost, code)?);
        Ok(())
    }

    /// Returns true if a position of a layer that is not processed yet is in the set.
    fn has(&self, code: u64) -> bool {
        self.layers[(self.layer_of)(code) as usize].lost.contains(&code)
    }

    /// Reports progress, and polls the clock and the stop flag.
    fn poll(&mut self, layer: usize) -> Result<(), CertificateError> {
        (self.observer)(&CertificateProgress {
            layer: layer as u32,
            positions: self.collected,
            thinning: false,
            answered: self.statistics.answered,
            searched_again: self.statistics.searched_again,
        });
        check_limits(&self.finder.limits)
    }

    /// Chooses a reply for every won position of a layer.
    fn answer(&mut self, layer: usize) -> Result<(), CertificateError> {
        let won = self.layers[layer].won.take();
        for batch in won.chunks(BATCH) {
            self.poll(layer)?;
            let Collection { finder, layers, layer_of, .. } = &*self;
            let has = |code: u64| layers[layer_of(code) as usize].lost.contains(&code);
            let replies: Vec<Result<Replies, CertificateError>> =
                in_parallel(batch, |buffers: &mut Buffers<G>, code| {
                    finder.replies(code, has, buffers)
                });
            for (&code, replies) in batch.iter().zip(replies) {
                if let Replies::Lost(lost) = replies? {
                    self.choose(code, lost)?;
                }
            }
            self.statistics.answered += batch.len() as u64;
        }
        Ok(())
    }

    /// Chooses a reply to the won position `code`: one that leads into the set, else the one to the
    /// position of least cost in `lost`. If `lost` is empty, a search finds a reply.
    fn choose(&mut self, code: u64, lost: Vec<(u64, u64)>) -> Result<(), CertificateError> {
        if lost.iter().any(|&(code, _)| self.has(code)) {
            return Ok(());
        }
        let cheapest = lost.into_iter().min_by_key(|&(code, cost)| (cost, code));
        let reply = match cheapest {
            Some((reply, _)) => reply,
            None => self.search(code)?,
        };
        self.add_lost(reply)
    }

    /// Searches a won position again by df-pn. Returns a lost child.
    fn search(&mut self, code: u64) -> Result<u64, CertificateError> {
        let finder = &self.finder;
        let report = dfpn(
            Root::new(finder.game, code, finder.table),
            finder.options.dfpn,
            finder.limits,
            &mut (),
        );
        self.statistics.searched_again += 1;
        self.statistics.expansions += report.counters.expansions;
        match (report.outcome, report.best) {
            (Outcome::Known(Value::Win), Some(best)) => Ok(best),
            (Outcome::Unknown(reason), _) => Err(CertificateError::Stopped(reason)),
            _ => Err(CertificateError::Contradiction { code, won: true }),
        }
    }

    /// Expands the lost positions of a layer: adds their children to the positions that need a
    /// reply. Returns the lost positions in increasing order.
    fn open(&mut self, layer: usize) -> Result<Vec<u64>, CertificateError> {
        let set = std::mem::take(&mut self.layers[layer].lost);
        let mut lost = Vec::new();
        try_reserve_exact(&mut lost, set.len()).map_err(NoMemory::from)?;
        lost.extend(set);
        lost.par_sort_unstable();
        for batch in lost.chunks(BATCH) {
            self.poll(layer)?;
            let game = self.finder.game;
            let moves: Vec<Result<Vec<u64>, CertificateError>> =
                in_parallel(batch, |buffers: &mut Buffers<G>, code| moves(game, code, buffers));
            for (&code, moves) in batch.iter().zip(moves) {
                let moves = moves?;
                if moves.is_empty() {
                    insert(&mut self.terminal, code)?;
                }
                for child in moves {
                    self.layers[(self.layer_of)(child) as usize].won.push(child)?;
                }
            }
        }
        Ok(lost)
    }
}
