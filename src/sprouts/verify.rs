//! Checks a database of Grundy numbers as a proof.
//!
//! The number of a land is g exactly if the couple of the land and a heap of g is lost for the player
//! to move: for every h below g some option of the land has the number h, and none has g. So a
//! number is *established* if this can be said with numbers that have been established before. Lands
//! are taken by increasing lives, and a move always takes a life, so everything that a land needs
//! comes before it.
//!
//! A proof that a search has left holds the numbers of the lost couples only. That a couple is won is
//! seen by a move to a lost one, which is there. What is not there is searched, depth first and with
//! a memory, by nothing but the definition; an entry may cost so many positions and no more, and
//! what it needed is then missing. No code is shared with the searches that write databases; the
//! rules and canonical forms are.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use super::game::{Scratch, Sprouts};
use super::position::Position;
use super::spr_file::{Entry, SprError};
use crate::error::ErrorKind;
use crate::search::sums::game::{Atom, Full, Impartial, Options};

/// Most moves that follow each other in a search; bounds the stack.
const DEPTH: u32 = 2000;
/// About what a number or a couple takes in memory.
const BYTES_OF_FACT: u64 = 24;
/// About what an entry of the file takes, and what has been said of its land.
const BYTES_OF_CLAIM: u64 = 200;

/// Limits.
#[derive(Clone, Copy, Debug)]
pub struct VerifyLimits {
    /// Positions that may be searched for one entry, or for the root.
    pub work: u64,
    /// Bytes for positions and what is known of them.
    pub memory: u64,
}

/// Why an entry is not established.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A move leads to the same number.
    #[error("the number is not {grundy}: the move to {child} has the number {grundy} too")]
    SameAsChild {
        /// The number claimed.
        grundy: u32,
        /// The position after the move.
        child: String,
    },
    /// The number is another one.
    #[error("the number is {found}, not {grundy}: no move has the number {found}")]
    Other {
        /// The number claimed.
        grundy: u32,
        /// The right one.
        found: u32,
    },
    /// Two lines about the same land contradict each other.
    #[error("the number is {grundy} here, but {other} in line {line}, of the same land")]
    Contradiction {
        /// The number claimed.
        grundy: u32,
        /// The number of the other line.
        other: u32,
        /// The other line.
        line: u64,
    },
    /// Too much is missing from the file.
    #[error(
        "the number {grundy} does not follow: numbers of its moves are missing, and {work} \
         positions were searched for them"
    )]
    Missing {
        /// The number claimed.
        grundy: u32,
        /// Positions that were searched.
        work: u64,
    },
}

/// An entry that is not established.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The line of the file.
    pub line: u64,
    /// The land in canonical form.
    pub land: String,
    /// What is wrong.
    pub problem: Problem,
}

/// What has come of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Entries of the file.
    pub entries: u64,
    /// Entries that are established.
    pub established: u64,
    /// The first hundred entries that are not, smallest positions first.
    pub findings: Vec<Finding>,
    /// Whether the root is lost for the player to move; None if no root was given, or if what the
    /// file proves does not decide it within the limit.
    pub root_lost: Option<bool>,
    /// Couples of a land that the file does not have and a heap that had to be searched.
    pub searched: u64,
}

impl VerifyReport {
    /// Whether every entry is established; a file without entries proves nothing.
    pub fn is_valid(&self) -> bool {
        self.entries > 0 && self.entries == self.established
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] SprError),
    /// The memory is used up.
    #[error("the database needs more than {0} bytes of memory to be checked: allow more")]
    Memory(u64),
    /// The stop flag was set.
    #[error("interrupted")]
    Interrupted,
}

impl VerifyError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            VerifyError::File(error) => error.kind(),
            VerifyError::Memory(_) => ErrorKind::Limit,
            VerifyError::Interrupted => ErrorKind::Interrupted,
        }
    }
}

/// Why a search ended without an answer.
enum Halt {
    Work,
    Error(VerifyError),
}

/// Checks every entry, then the root.
///
/// Cost: the moves of every entry and of every move's position, once each; memory for these.
///
/// # Errors
/// If an entry cannot be read, the memory does not suffice or `stop` is set.
pub fn verify(
    entries: impl Iterator<Item = Result<Entry, SprError>>,
    root: Option<&Position>,
    limits: VerifyLimits,
    stop: &AtomicBool,
) -> Result<VerifyReport, VerifyError> {
    let mut checker = Checker {
        game: Sprouts::new(limits.memory),
        scratch: Scratch::default(),
        numbers: HashMap::new(),
        wins: HashSet::new(),
        claimed: HashSet::new(),
        claims: 0,
        work: 0,
        searched: 0,
        most_work: limits.work,
        memory: limits.memory,
        stop,
    };
    let mut claims: Vec<Claim> = Vec::new();
    for entry in entries {
        checker.checkpoint()?;
        let Entry { line, position, grundy } = entry?;
        let sum = checker.atoms(&position)?;
        checker.claimed.extend(&sum);
        checker.claims += 1;
        let lives = sum.iter().map(|&atom| checker.game.features(atom).lives).sum();
        claims.push(Claim { lives, line, sum, grundy });
    }
    claims.sort_by_key(|claim| (claim.lives, claim.line));
    let mut report = VerifyReport { entries: claims.len() as u64, ..VerifyReport::default() };
    let mut said: HashMap<Vec<Atom>, (u32, u64)> = HashMap::new();
    for claim in &claims {
        let (grundy, line) = (claim.grundy, claim.line);
        let first = *said.entry(claim.sum.clone()).or_insert((grundy, line));
        let problem = if first.0 != grundy {
            Some(Problem::Contradiction { grundy, other: first.0, line: first.1 })
        } else {
            checker.check(claim)?
        };
        match problem {
            None => report.established += 1,
            Some(problem) if report.findings.len() < 100 => {
                let land = checker.game.text(&claim.sum);
                report.findings.push(Finding { line, land, problem });
            }
            Some(_) => {}
        }
    }
    if let Some(root) = root {
        let sum = checker.atoms(root)?;
        checker.work = 0;
        report.root_lost = match checker.is_lost(&sum, 0, 0) {
            Ok(lost) => Some(lost),
            Err(Halt::Work) => None,
            Err(Halt::Error(error)) => return Err(error),
        };
    }
    report.searched = checker.searched;
    Ok(report)
}

/// An entry with its land.
struct Claim {
    lives: u32,
    line: u64,
    /// One land, unless the entry has not been written in its simplest form.
    sum: Vec<Atom>,
    grundy: u32,
}

struct Checker<'a> {
    game: Sprouts,
    scratch: Scratch,
    /// Established numbers.
    numbers: HashMap<Atom, u32>,
    /// Couples of a land and a heap that are won.
    wins: HashSet<(Atom, u32)>,
    /// Lands that the file speaks of.
    claimed: HashSet<Atom>,
    /// Entries of the file.
    claims: u64,
    /// Positions searched for the present entry.
    work: u64,
    /// Positions searched that the file does not have.
    searched: u64,
    most_work: u64,
    memory: u64,
    stop: &'a AtomicBool,
}

impl Checker<'_> {
    fn checkpoint(&self) -> Result<(), VerifyError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(VerifyError::Interrupted);
        }
        // Hash tables keep some of their places free.
        let facts = 2 * (self.numbers.capacity() + self.wins.capacity()) as u64;
        let bytes = facts * BYTES_OF_FACT + self.claims * BYTES_OF_CLAIM;
        if self.game.bytes() + bytes > self.memory {
            return Err(VerifyError::Memory(self.memory));
        }
        Ok(())
    }

    /// Why moves could not be listed.
    fn no_moves(&self) -> Halt {
        let memory = VerifyError::Memory(self.memory);
        Halt::Error(self.checkpoint().err().unwrap_or(memory))
    }

    fn atoms(&mut self, position: &Position) -> Result<Vec<Atom>, VerifyError> {
        let sum = self.game.atoms(position, &mut self.scratch);
        sum.map_err(|Full| VerifyError::Memory(self.memory))
    }

    fn check(&mut self, claim: &Claim) -> Result<Option<Problem>, VerifyError> {
        self.work = 0;
        let grundy = claim.grundy;
        match self.find_problem(&claim.sum, grundy) {
            Ok(problem) => Ok(problem),
            Err(Halt::Work) => Ok(Some(Problem::Missing { grundy, work: self.work })),
            Err(Halt::Error(error)) => Err(error),
        }
    }

    fn find_problem(&mut self, sum: &[Atom], grundy: u32) -> Result<Option<Problem>, Halt> {
        if self.is_lost(sum, grundy, 0)? {
            return Ok(None);
        }
        let mut number = 0;
        for &atom in sum {
            // A couple with a smaller nimber that is lost has been met on the way.
            match self.numbers.get(&atom) {
                Some(&known) => number ^= known,
                None => return self.same_as_child(sum, grundy),
            }
        }
        Ok(Some(Problem::Other { grundy, found: number }))
    }

    fn same_as_child(&mut self, sum: &[Atom], grundy: u32) -> Result<Option<Problem>, Halt> {
        let stop = self.stop;
        let is_stopped = || stop.load(Ordering::Relaxed);
        let children = self.game.children(sum, &mut self.scratch, &is_stopped);
        let children = children.map_err(|_| self.no_moves())?;
        for child in children {
            if self.is_lost(&child, grundy, 1)? {
                let child = self.game.text(&child);
                return Ok(Some(Problem::SameAsChild { grundy, child }));
            }
        }
        // Greater than the number of moves: no land has such a number.
        let mut found = 0;
        for &atom in sum {
            found ^= self.number(atom, 0)?;
        }
        Ok(Some(Problem::Other { grundy, found }))
    }

    /// Replaces what is known by its numbers; equal lands cancel.
    fn reduce(&self, sum: &[Atom], nimber: u32) -> (Vec<Atom>, u32) {
        let (mut unknown, mut nimber) = (Vec::new(), nimber);
        let mut sorted = sum.to_vec();
        sorted.sort_unstable();
        for &atom in &sorted {
            match self.numbers.get(&atom) {
                Some(number) => nimber ^= number,
                None if unknown.last() == Some(&atom) => {
                    unknown.pop();
                }
                None => unknown.push(atom),
            }
        }
        (unknown, nimber)
    }

    /// Whether a sum of lands and a heap is lost for the player to move.
    fn is_lost(&mut self, sum: &[Atom], nimber: u32, depth: u32) -> Result<bool, Halt> {
        let (mut unknown, mut nimber) = self.reduce(sum, nimber);
        // The numbers of all but the largest, of which only one number matters.
        unknown.sort_by_key(|&atom| self.game.features(atom).lives);
        let Some(largest) = unknown.pop() else { return Ok(nimber == 0) };
        for atom in unknown {
            nimber ^= self.number(atom, depth)?;
        }
        self.is_couple_lost(largest, nimber, depth)
    }

    fn number(&mut self, atom: Atom, depth: u32) -> Result<u32, Halt> {
        let mut nimber = 0;
        while !self.is_couple_lost(atom, nimber, depth)? {
            nimber += 1;
        }
        Ok(nimber)
    }

    fn is_couple_lost(&mut self, atom: Atom, nimber: u32, depth: u32) -> Result<bool, Halt> {
        if let Some(&number) = self.numbers.get(&atom) {
            return Ok(number == nimber);
        }
        // A number is at most the number of moves that can still be made.
        if nimber > self.game.features(atom).lives || self.wins.contains(&(atom, nimber)) {
            return Ok(false);
        }
        self.work += 1;
        self.searched += u64::from(!self.claimed.contains(&atom));
        if self.work > self.most_work || depth > DEPTH {
            return Err(Halt::Work);
        }
        self.checkpoint().map_err(Halt::Error)?;
        let stop = self.stop;
        let is_stopped = || stop.load(Ordering::Relaxed);
        let mut options = Options::until(&is_stopped);
        let listed = self.game.options(atom, &mut self.scratch, &mut options);
        listed.map_err(|Full| self.no_moves())?;
        let is_won = |checker: &Checker<'_>, option: &[Atom]| {
            let (unknown, nimber) = checker.reduce(option, nimber);
            unknown.is_empty() && nimber == 0
        };
        if options.iter().any(|option| is_won(self, option)) {
            self.wins.insert((atom, nimber));
            return Ok(false);
        }
        for smaller in 0..nimber {
            if self.is_couple_lost(atom, smaller, depth + 1)? {
                return Ok(false);
            }
        }
        let mut open: Vec<(usize, u32, &[Atom])> = Vec::with_capacity(options.len());
        for option in options.iter() {
            let (unknown, _) = self.reduce(option, nimber);
            let lives = unknown.iter().map(|&atom| self.game.features(atom).lives).sum();
            open.push((unknown.len(), lives, option));
        }
        open.sort_unstable();
        for (_, _, option) in open {
            if self.is_lost(option, nimber, depth + 1)? {
                self.wins.insert((atom, nimber));
                return Ok(false);
            }
        }
        self.numbers.insert(atom, nimber);
        Ok(true)
    }
}
