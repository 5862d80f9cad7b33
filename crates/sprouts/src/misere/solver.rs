//! [`MisereSolver`]: winners of positions and of their moves under misère play.

use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::time::Instant;

use pn_search::Value;
use pn_search::dfpn::{DfpnOptions, VirtualLoss, dfpn_parallel};
use pn_search::numbers::{Combination, Epsilon, Pair};
use pn_search::plain::Root;
use pn_search::run::{Counters, Limits, Observer, Outcome, Reason, Report};
use pn_search::sums::game::GameFull;
use pn_search::table::{Table, TableError};

use super::{MisereScratch, MisereSprouts};
use crate::analysis::{Analysis, ChildValue, Goal, LandValue, ValueSource};
use crate::{MovesError, Position, Scratch, SearchFigures};

/// Parameters of df-pn. With a weight of 24/64, twelve spots take half of the time that they take with 8/64.
const OPTIONS: DfpnOptions = DfpnOptions {
    combination: Combination::mixed(24),
    epsilon: Epsilon::new(0.25),
    evaluate_all: false,
    virtual_loss: VirtualLoss::Selection { share_1024: 0 },
    ..DfpnOptions::PLAIN
};

/// Solves positions under misère play. Keeps all results for later searches.
#[derive(Debug)]
pub struct MisereSolver {
    pub(super) game: MisereSprouts,
    pub(super) table: Table,
}

impl MisereSolver {
    /// Creates a solver. A fifth of `memory` (bytes) is for the table of outcomes, the rest for positions and their
    /// moves.
    ///
    /// # Errors
    /// If there is not enough memory for the table.
    pub fn new(memory: u64) -> Result<Self, TableError> {
        let table = usize::try_from(memory / 5).unwrap_or(usize::MAX);
        Ok(MisereSolver {
            game: MisereSprouts::new(memory - memory / 5),
            table: Table::new(table)?,
        })
    }

    /// Returns the game.
    pub fn game(&self) -> &MisereSprouts {
        &self.game
    }

    /// Returns an estimate of the memory in use, in bytes.
    pub fn bytes(&self) -> u64 {
        self.table.used_bytes() as u64 + self.game.bytes()
    }

    /// Returns the number of entries that fit into the table.
    pub fn table_capacity(&self) -> u64 {
        self.table.capacity()
    }

    /// Returns the canonical text of a position.
    ///
    /// # Errors
    /// If there is no memory for its lands.
    pub fn canonical(&self, position: &Position) -> Result<String, GameFull> {
        let sum = self.game.lands.atoms(position, &mut Scratch::default())?;
        Ok(self.game.lands.text(&sum))
    }

    /// Finds the winner of a position.
    ///
    /// # Errors
    /// If there is no memory for the position.
    pub fn solve(
        &self,
        position: &Position,
        threads: NonZeroUsize,
        limits: Limits<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Report, GameFull> {
        let code = self.game.code(position, &mut MisereScratch::default())?;
        Ok(self.solve_code(code, threads, limits, observer))
    }

    pub(super) fn solve_code(
        &self,
        code: u64,
        threads: NonZeroUsize,
        limits: Limits<'_>,
        observer: &mut dyn Observer,
    ) -> Report {
        let (game, table) = (&self.game, &self.table);
        let known = game.known_value(code);
        let mut report = match known.map_or_else(|| limits.reached().map(Err), |v| Some(Ok(v))) {
            // Such positions are never expanded.
            Some(end) => {
                let Pair { phi, delta } = end.map_or(Pair { phi: 1, delta: 1 }, Pair::of);
                Report {
                    outcome: end.map_or_else(Outcome::Unknown, Outcome::Known),
                    phi,
                    delta,
                    best: None,
                    counters: Counters { nodes: 1, ..Counters::default() },
                    memory_bytes: 0,
                    threads: 1,
                }
            }
            None => {
                let root = Root::new(game, code, table);
                dfpn_parallel(root, OPTIONS, threads, limits, observer)
            }
        };
        if game.is_full() && report.outcome == Outcome::Unknown(Reason::FileError) {
            report.outcome = Outcome::Unknown(Reason::Memory);
        }
        report.memory_bytes = self.bytes();
        report
    }

    /// Returns the value of a position that is known without a search.
    pub(super) fn value(&self, code: u64) -> Option<(Value, ValueSource)> {
        let solved = || {
            let key = pn_search::plain::game::Game::key(&self.game, code);
            Some((self.table.lookup(key, code)?.value()?, ValueSource::Search))
        };
        self.game.known_value(code).map(|value| (value, ValueSource::Rules)).or_else(solved)
    }

    /// Finds the outcomes of a position and, unless the goal is the winner, of all moves. The result has no Grundy numbers. Calls
    /// `on_change` after every outcome that is found.
    ///
    /// # Errors
    /// If there is no memory for the moves, or there are too many.
    pub fn analyse(
        &self,
        position: &Position,
        goal: Goal,
        threads: NonZeroUsize,
        limits: Limits<'_>,
        on_change: &mut dyn FnMut(&Analysis),
    ) -> Result<Analysis, MovesError> {
        let report = self.solve(position, threads, limits, &mut ())?;
        let nodes = limits.nodes.map(|nodes| nodes.saturating_sub(report.counters.nodes));
        let limits = Limits { nodes, ..limits };
        self.analyse_moves(position, &report, goal, threads, limits, on_change)
    }

    /// Finds the outcomes of the moves of a position that [`Self::solve`] has searched with this report.
    ///
    /// # Errors
    /// If there is no memory for the moves, or there are too many.
    pub fn analyse_moves(
        &self,
        position: &Position,
        report: &Report,
        goal: Goal,
        threads: NonZeroUsize,
        limits: Limits<'_>,
        on_change: &mut dyn FnMut(&Analysis),
    ) -> Result<Analysis, MovesError> {
        let (game, scratch) = (&self.game, &mut MisereScratch::default());
        let mut nodes_left = limits.nodes;
        let sum = game.lands.atoms(position, &mut scratch.moves)?;
        let is_stopped = || limits.reached().is_some();
        let children = game.lands.children(&sum, &mut scratch.moves, &is_stopped)?;
        let land =
            |&land| LandValue { position: game.lands.land_text(land), grundy: None, source: None };
        let mut analysis = Analysis {
            canonical: game.lands.text(&sum),
            lands: sum.iter().map(land).collect(),
            grundy: None,
            outcome: report.outcome.value(),
            children: Vec::with_capacity(children.len()),
            reason: report.outcome.reason(),
            nodes: report.counters.nodes,
        };
        let mut codes = Vec::with_capacity(children.len());
        for child in &children {
            let code = game.code_of_sum(child, scratch)?;
            let position = game.lands.text(child);
            codes.push((position.clone(), code));
            let (outcome, source) = (None, None);
            analysis.children.push(ChildValue { position, grundy: None, outcome, source });
        }
        codes.sort_unstable();
        analysis.children.sort_unstable_by(|one, other| one.position.cmp(&other.position));
        let proven = report.best.filter(|_| analysis.outcome == Some(Value::Win));
        let lost = proven.map(|code| (code, (Value::Loss, ValueSource::Search)));
        for searches in [false, true] {
            if searches && (goal == Goal::Winner || analysis.reason.is_some()) {
                break;
            }
            for (at, (_, code)) in codes.iter().enumerate() {
                if analysis.children[at].outcome.is_some() {
                    continue;
                }
                let mut value = lost.filter(|(lost, _)| lost == code).map(|(_, value)| value);
                value = value.or_else(|| self.value(*code));
                if value.is_none() && searches {
                    let limits = Limits { nodes: nodes_left, ..limits };
                    let report = self.solve_code(*code, threads, limits, &mut ());
                    nodes_left =
                        nodes_left.map(|nodes| nodes.saturating_sub(report.counters.nodes));
                    analysis.nodes += report.counters.nodes;
                    analysis.reason = report.outcome.reason();
                    value = report.outcome.value().map(|value| (value, ValueSource::Search));
                }
                let child = &mut analysis.children[at];
                child.outcome = value.map(|(value, _)| !value);
                child.source = value.map(|(_, source)| source);
                if analysis.reason.is_some() && searches {
                    break;
                }
                on_change(&analysis);
            }
        }
        let rank = |child: &ChildValue| match child.outcome {
            Some(Value::Win) => 0,
            Some(Value::Loss) => 1,
            None => 2,
        };
        analysis.children.sort_by_key(rank);
        on_change(&analysis);
        Ok(analysis)
    }

    /// Returns the figures of a search that began at `begun`.
    pub fn figures(&self, report: &Report, begun: Instant) -> SearchFigures {
        SearchFigures {
            profile: "tuned",
            threads: report.threads,
            lands: self.game.lands.lands(),
            generated: self.game.generated.load(Ordering::Relaxed),
            memory_bytes: report.memory_bytes,
            ..SearchFigures::new(
                &report.counters,
                self.table.capacity(),
                begun.elapsed().as_secs_f64(),
            )
        }
    }
}
