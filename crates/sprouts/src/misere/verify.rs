//! Verification of a file of outcomes as a proof.
//!
//! A position is won if a move leads to a lost one, and lost if all moves lead to won ones. Records are checked by
//! increasing length of the longest game. So the positions after all moves have been checked before a position.
//! Positions that the file lacks are searched depth-first. No code is shared with the search that wrote the file, except
//! the rules, canonical forms and trees.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use pn_search::Value;
use pn_search::run::{Limits, Reason};

use super::outcome_file::{OUTCOMES, read_record};
use super::{MisereScratch, MisereSprouts};
use crate::Position;
use crate::verify::{
    Finding, GrundyProblem, Halt, MAX_DEPTH, MAX_FINDINGS, RootOutcome, VerifyError, VerifyLimits,
    VerifyProgress, VerifyReport,
};
use konane_base::record_file::{self, Record};

/// Estimated memory per outcome, in bytes.
const BYTES_PER_OUTCOME: u64 = 24;
/// Estimated memory per record, in bytes.
const BYTES_PER_RECORD: u64 = 150;

struct OutcomeVerifier<'a> {
    game: MisereSprouts,
    scratch: MisereScratch,
    /// Positions of the file.
    claimed: HashSet<u64>,
    /// Established outcomes.
    values: HashMap<u64, Value>,
    /// Positions searched for the current record.
    work: u64,
    /// Positions searched that are not in the file.
    searched: u64,
    /// Number of records read.
    entries: u64,
    /// Number of records checked; `None` until all are read.
    checked: Option<u64>,
    limits: VerifyLimits,
    stop: Limits<'a>,
    on_progress: &'a mut dyn FnMut(VerifyProgress),
}

/// Checks every record of a file of outcomes, then the root. In the report, the line of a finding is the number of its
/// record.
///
/// # Errors
/// If the file cannot be read, or if it has neither the outcome of the root nor those after its moves.
pub fn verify(
    path: &Path,
    root: Option<&Position>,
    limits: VerifyLimits,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(VerifyProgress),
) -> Result<VerifyReport, VerifyError> {
    let stop = Limits { deadline: limits.deadline, stop: Some(stop), ..Limits::default() };
    let mut verifier = OutcomeVerifier {
        game: MisereSprouts::new(limits.memory),
        scratch: MisereScratch::default(),
        claimed: HashSet::new(),
        values: HashMap::new(),
        work: 0,
        searched: 0,
        entries: 0,
        checked: None,
        limits,
        stop,
        on_progress,
    };
    let unknown = |root: &Position| RootOutcome { root: root.to_string(), outcome: None };
    let mut report = VerifyReport { root: root.map(unknown), ..VerifyReport::default() };
    let ended = verifier.run(path, root, &mut report);
    report.searched = verifier.searched;
    report.finish(ended)
}

impl OutcomeVerifier<'_> {
    fn run(
        &mut self,
        path: &Path,
        root: Option<&Position>,
        report: &mut VerifyReport,
    ) -> Result<(), Halt> {
        let mut claims = Vec::new();
        record_file::read(path, OUTCOMES, |record: Record<'_>| {
            let (positions, value) = read_record(path, &record)?;
            let code = self.game.code_of_text(&positions, &mut self.scratch)?;
            self.entries += 1;
            let length = self.game.longest_game(code);
            claims.push((length, self.entries, code, value, record.text.to_owned()));
            self.claimed.insert(code);
            self.checkpoint()
        })?;
        report.entries = Some(self.entries);
        if claims.is_empty() {
            return Ok(());
        }
        let root = root.map(|root| self.game.code(root, &mut self.scratch)).transpose()?;
        if let Some(root) = root {
            self.game.list_children(root, &mut self.scratch)?;
            let is_listed =
                |code| self.game.known_value(code).is_some() || self.claimed.contains(&code);
            if !is_listed(root) && !self.scratch.codes.iter().all(|&code| is_listed(code)) {
                let root = report.root.as_ref().map_or_else(String::new, |root| root.root.clone());
                return Err(Halt::Error(VerifyError::Root { root }));
            }
        }
        claims.sort_unstable_by_key(|&(length, line, ..)| (length, line));
        for ((_, line, code, value, land), done) in claims.into_iter().zip(0..) {
            self.checked = Some(done);
            self.work = 0;
            let (count, problem) = match self.value(code, 0) {
                Ok(found) if found == value => {
                    report.established += 1;
                    continue;
                }
                Ok(found) => (&mut report.wrong, GrundyProblem::Outcome { found }),
                Err(Halt::Work) => {
                    (&mut report.undecided, GrundyProblem::UndecidedOutcome { work: self.work })
                }
                Err(halt) => return Err(halt),
            };
            *count += 1;
            if *count <= MAX_FINDINGS {
                report.problems.push(Finding { line, land, problem });
            }
        }
        self.checked = Some(self.entries);
        if let (Some(code), Some(root)) = (root, &mut report.root) {
            self.work = 0;
            root.outcome = Some(self.value(code, 0)?);
        }
        Ok(())
    }

    /// Checks the limits and reports progress.
    fn checkpoint(&mut self) -> Result<(), Halt> {
        if let Some(reason) = self.stop.reached() {
            return Err(Halt::End(reason));
        }
        let outcomes = 2 * self.values.capacity() as u64 * BYTES_PER_OUTCOME;
        if self.game.bytes() + outcomes + self.entries * BYTES_PER_RECORD > self.limits.memory {
            return Err(Halt::End(Reason::Memory));
        }
        let (entries, checked, searched) = (self.entries, self.checked, self.searched);
        (self.on_progress)(VerifyProgress { entries, checked, searched });
        Ok(())
    }

    /// Returns the outcome of a position for the player to move.
    fn value(&mut self, code: u64, depth: u32) -> Result<Value, Halt> {
        let known = self.game.known_value(code);
        if let Some(value) = known.or_else(|| self.values.get(&code).copied()) {
            return Ok(value);
        }
        if !self.claimed.contains(&code) {
            if self.work == self.limits.work || depth > MAX_DEPTH {
                return Err(Halt::Work);
            }
            self.work += 1;
            self.searched += 1;
        }
        self.checkpoint()?;
        self.game.list_children(code, &mut self.scratch)?;
        let mut children = std::mem::take(&mut self.scratch.codes);
        // Known losses first, then short games.
        children.sort_by_cached_key(|&child| {
            let known = self.game.known_value(child).or_else(|| self.values.get(&child).copied());
            (known != Some(Value::Loss), self.game.longest_game(child))
        });
        let mut value = Value::Loss;
        for child in children {
            if self.value(child, depth + 1)? == Value::Loss {
                value = Value::Win;
                break;
            }
        }
        self.values.insert(code, value);
        Ok(value)
    }
}
