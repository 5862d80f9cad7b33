//! Certificates: from a solved position to a set of lost positions that proves its value.
//!
//! A set of positions, each *lost for the side to move*, is closed if after every move from one of
//! them there is a reply that leads to another one or ends the game. As games are finite, every
//! position of a closed set is lost indeed, and whoever checks that a set is closed need not trust
//! the search that found it.
//!
//! The set is collected layer by layer, from the root downwards. The positions of a layer that the
//! winner has to answer are known when its turn comes, each of them once. A reply into a position
//! that is in the set already costs nothing; otherwise, of those that the table knows, the one is
//! taken that needed the least work. What the table has lost since, and the small exact searches
//! whose results it never held, are searched again on the way: first by exact searches of the
//! replies, and where these do not suffice by df-pn with the same table. In the end the set is
//! thinned until none of its positions can go; that needs the table no more.

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
use layers::{Codes, Finished, NoMemory, Waiting, insert};

/// Positions that are answered between two looks at the stop flag and the clock, and whose answers
/// are looked for in parallel before the first of them is chosen.
const BATCH: usize = 1 << 14;

/// Positions that one thread takes at a time, for which it makes its working memory anew: what the
/// game remembers there of earlier positions must not depend on the number of threads.
const GRAIN: usize = 1 << 10;

/// Positions that the exact search of a reply may visit at first: about as many as find most of the
/// lost replies.
const FIRST_BUDGET: u32 = 60;

/// How a certificate is collected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CertificateOptions {
    /// The search for what the table has lost.
    pub dfpn: DfpnOptions,
    /// The exact searches that find replies without a table entry.
    pub settle: LeafSolverOptions,
}

/// A closed set and what it took to collect it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// Codes of lost positions, in increasing order. Those without a move are left out. Without any
    /// one of them the set is not closed, if [`Game::expand`] reports every win on the spot.
    pub codes: Vec<u64>,
    /// Positions that were collected, and that others turned out to make superfluous.
    pub superfluous: u64,
    /// Positions of the winner that were answered.
    pub answered: u64,
    /// Positions that df-pn had to search again.
    pub searched_again: u64,
    /// Expansions of these searches.
    pub expansions: u64,
}

/// Why there is no certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// A limit was reached.
    #[error("the certificate is not complete: {}", .0.text())]
    Stopped(Reason),
    /// A position has not the value that it was said to have: the value of the root, the table or
    /// the known values are wrong.
    #[error(
        "the values contradict each other at the position with the code {code:#x}, which was said \
         to be {}", if *.won { "won" } else { "lost" }
    )]
    Contradiction {
        /// The position.
        code: u64,
        /// What it was said to be.
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

/// How far the collection has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CertificateProgress {
    /// The layer in progress; 0 is the last.
    pub layer: u32,
    /// Lost positions so far, from the top again when they are thinned.
    pub positions: u64,
    /// All are collected, and those that can go are looked for.
    pub thinning: bool,
    /// Positions of the winner that were answered.
    pub answered: u64,
    /// Positions that df-pn had to search again.
    pub searched_again: u64,
}

/// A closed set of which some positions may be superfluous.
pub struct ClosedSet<L> {
    root: (u64, Value),
    layer_of: L,
    /// By layers, those without moves included.
    set: Vec<Finished>,
    /// Those of the set that have no moves.
    ended: Codes,
    /// Without the positions.
    done: Certificate,
}

/// Collects a closed set for `value`, the value of `root`.
///
/// The root's table is best the one with which df-pn found the value, or another proof-number search of the
/// same game; any other table of such searches will do, an empty one too, which then takes as long
/// as the search. `layer` tells positions apart in such a way that every move leads to a smaller
/// number, such as the number of stones. Of the limits, the deadline and the stop flag hold for all
/// of the work, and the number of nodes does not. Sorting the positions of a layer is not interrupted,
/// some seconds for a hundred million.
///
/// The result does not depend on the number of threads, as long as no known value or entry of the
/// table does. Memory on top of the table is about 3 bytes for each position of the set, and for the
/// layers that moves from the one in progress lead to some 16 bytes for each position of the set and
/// 8 to 32 for each one that waits for an answer.
///
/// # Errors
/// If a limit is reached, or if the value is wrong.
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
        view: View { game, table, options, limits: Limits { nodes: None, ..limits } },
        collected: 0,
        ended: HashSet::default(),
        layers: vec![Layer::default(); layers],
        layer_of: layer,
        done: Certificate::default(),
        observer,
    };
    match value {
        Value::Loss => collection.add_lost(root)?,
        Value::Win => collection.layers[layers - 1].won.push(root)?,
    }
    let mut set: Vec<Finished> = Vec::with_capacity(layers);
    for number in (0..layers).rev() {
        collection.answer(number)?;
        set.push(Finished::new(&collection.open(number)?)?);
    }
    set.reverse();
    let Collection { ended, layer_of, done, .. } = collection;
    Ok(ClosedSet { root: (root, value), layer_of, set, ended, done })
}

impl<L: Fn(u64) -> u32 + Sync> ClosedSet<L> {
    /// Thins the set until none of its positions can go. `game` is that of [`collect`], the limits
    /// and the observer are as there.
    ///
    /// Memory is 8 bytes for each position of the result and about 3 for each one of the set, and
    /// for the layers that moves from the one in progress lead to some 16 bytes for each position of the
    /// set, 8 to 32 for each one that needs an answer and 16 to 32 for each answer.
    ///
    /// # Errors
    /// If a limit is reached, or if the value is wrong.
    pub fn thin<G: Game>(
        self,
        game: &G,
        limits: Limits<'_>,
        observer: &mut dyn FnMut(&CertificateProgress),
    ) -> Result<Certificate, CertificateError> {
        let ClosedSet { root, layer_of, set, ended, done } = self;
        let limits = Limits { nodes: None, ..limits };
        let collected: u64 = set.iter().map(Finished::len).sum();
        let look = |layer: usize, stayed: usize| {
            observer(&CertificateProgress {
                layer: layer as u32,
                positions: stayed as u64,
                thinning: true,
                answered: done.answered,
                searched_again: done.searched_again,
            });
            look_at(&limits)
        };
        let mut codes = thin::thin(game, root, &layer_of, set, &ended, look)?;
        codes.par_sort_unstable();
        let superfluous = collected - (ended.len() + codes.len()) as u64;
        Ok(Certificate { codes, superfluous, ..done })
    }
}

/// Looks at the stop flag and the clock.
fn look_at(limits: &Limits<'_>) -> Result<(), CertificateError> {
    limits.reached().map_or(Ok(()), |reason| Err(CertificateError::Stopped(reason)))
}

/// What waits in a layer.
#[derive(Clone, Debug, Default)]
struct Layer {
    /// Positions of the set.
    lost: Codes,
    /// Positions that the winner has to answer.
    won: Waiting,
}

/// What positions are looked at with; shared by all threads.
struct View<'a, G: Game> {
    game: &'a G,
    table: &'a Table,
    options: &'a CertificateOptions,
    limits: Limits<'a>,
}

struct Collection<'a, G: Game, L> {
    view: View<'a, G>,
    layer_of: L,
    /// Positions of the set, those without moves included.
    collected: u64,
    /// Those of the set that have no moves.
    ended: Codes,
    /// By number. A layer is left empty when its turn is over.
    layers: Vec<Layer>,
    done: Certificate,
    observer: &'a mut dyn FnMut(&CertificateProgress),
}

/// What was found out about a position of the winner without changing anything.
enum Replies {
    /// A reply ends the game or leads to a position that is in the set already.
    Answered,
    /// Lost positions that replies lead to, with what is known of the work behind them; possibly
    /// none.
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

/// What `look` finds about each of some positions, in their order.
fn in_parallel<G: Game, T: Send>(
    codes: &[u64],
    look: impl Fn(&mut Buffers<G>, u64) -> T + Sync,
) -> Vec<T> {
    let grains = codes.par_chunks(GRAIN).map(|grain| {
        let mut buffers = Buffers::new();
        grain.iter().map(|&code| look(&mut buffers, code)).collect::<Vec<T>>()
    });
    grains.collect::<Vec<Vec<T>>>().into_iter().flatten().collect()
}

impl<G: Game> View<'_, G> {
    /// Looks for lost positions after the moves from a won one.
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
        // Known values may have to be read from a disk, and exact searches take long, too.
        look_at(&self.limits)?;
        let mut unknown = 0;
        for index in 0..children.len() {
            let child = children[index];
            match self.game.known(child.code) {
                // Nobody knows the work; the leaf estimate is a guess, and exact searches are
                // preferred to it.
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
        lost.extend(self.settle(children, scratch));
        Ok(Replies::Lost(lost))
    }

    /// The child that an exact search finds lost with the fewest positions, and how many these are.
    /// Budgets grow fourfold, so that children that need many do not hold up one that needs few.
    fn settle(&self, children: &[Child], scratch: &mut G::Scratch) -> Option<(u64, u64)> {
        let options = &self.options.settle;
        let most = options.budget;
        let mut best = None;
        let mut budget = FIRST_BUDGET.min(most);
        loop {
            for child in children.iter().filter(|child| options.admits(child)) {
                let settled = self.game.settle(child.code, budget, scratch);
                if settled.value == Some(Value::Loss) {
                    best = Some((child.code, settled.positions.into()));
                    // Only one that needs fewer is of use now.
                    budget = settled.positions.saturating_sub(1);
                }
            }
            if best.is_some() || budget >= most {
                return best;
            }
            budget = (4 * budget).min(most);
        }
    }
}

/// The positions after the moves from a lost one.
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

    /// Whether a position of a layer that is not over is in the set.
    fn has(&self, code: u64) -> bool {
        self.layers[(self.layer_of)(code) as usize].lost.contains(&code)
    }

    /// Looks at the clock and the stop flag, and reports.
    fn look(&mut self, layer: usize) -> Result<(), CertificateError> {
        (self.observer)(&CertificateProgress {
            layer: layer as u32,
            positions: self.collected,
            thinning: false,
            answered: self.done.answered,
            searched_again: self.done.searched_again,
        });
        look_at(&self.view.limits)
    }

    /// Chooses a reply for every position of the winner in a layer.
    fn answer(&mut self, layer: usize) -> Result<(), CertificateError> {
        let won = self.layers[layer].won.take();
        for batch in won.chunks(BATCH) {
            self.look(layer)?;
            let Collection { view, layers, layer_of, .. } = &*self;
            let has = |code: u64| layers[layer_of(code) as usize].lost.contains(&code);
            let replies: Vec<Result<Replies, CertificateError>> =
                in_parallel(batch, |buffers: &mut Buffers<G>, code| {
                    view.replies(code, has, buffers)
                });
            for (&code, replies) in batch.iter().zip(replies) {
                if let Replies::Lost(lost) = replies? {
                    self.choose(code, lost)?;
                }
            }
            self.done.answered += batch.len() as u64;
        }
        Ok(())
    }

    /// Answers a won position: by a position of the set, else by the cheapest lost one.
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

    /// Searches a won position again for a lost child.
    fn search(&mut self, code: u64) -> Result<u64, CertificateError> {
        let view = &self.view;
        let report =
            dfpn(Root::new(view.game, code, view.table), view.options.dfpn, view.limits, &mut ());
        self.done.searched_again += 1;
        self.done.expansions += report.counters.expansions;
        match (report.outcome, report.best) {
            (Outcome::Known(Value::Win), Some(best)) => Ok(best),
            (Outcome::Unknown(reason), _) => Err(CertificateError::Stopped(reason)),
            _ => Err(CertificateError::Contradiction { code, won: true }),
        }
    }

    /// Lists the moves from the lost positions of a layer, which the winner has to answer. Returns
    /// these positions, in order.
    fn open(&mut self, layer: usize) -> Result<Vec<u64>, CertificateError> {
        let set = std::mem::take(&mut self.layers[layer].lost);
        let mut lost = Vec::new();
        try_reserve_exact(&mut lost, set.len()).map_err(NoMemory::from)?;
        lost.extend(set);
        lost.par_sort_unstable();
        for batch in lost.chunks(BATCH) {
            self.look(layer)?;
            let game = self.view.game;
            let moves: Vec<Result<Vec<u64>, CertificateError>> =
                in_parallel(batch, |buffers: &mut Buffers<G>, code| moves(game, code, buffers));
            for (&code, moves) in batch.iter().zip(moves) {
                let moves = moves?;
                if moves.is_empty() {
                    insert(&mut self.ended, code)?;
                }
                for child in moves {
                    self.layers[(self.layer_of)(child) as usize].won.push(child)?;
                }
            }
        }
        Ok(lost)
    }
}
