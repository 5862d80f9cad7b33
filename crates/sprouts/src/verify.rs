//! Verification of a database of Grundy numbers as a proof.
//!
//! The number of a land is g exactly if the couple of the land and a heap of g is lost for the player to
//! move: for every h below g some option of the land has the number h, and no option has g. A number is
//! *established* if this follows from numbers that were established before. Lands are processed by increasing
//! number of lives. A move always takes a life, so all numbers that a land depends on are processed before
//! it.
//!
//! A proof left by a search holds only the numbers of the lost couples. A won couple is recognised by a
//! move to a lost one, which is in the file. Missing numbers are computed, directly from the definition, by
//! a depth-first search that stores its results. The number of positions searched for one entry is limited;
//! an entry that reaches the limit is undecided, neither established nor wrong. No code is shared with the
//! searches that write databases, except the rules and canonical forms.
//!
//! [`verify`] runs a `GrundyVerifier` within [`VerifyLimits`], reports [`VerifyProgress`] and returns a
//! [`VerifyReport`] with [`Finding`]s, each with its [`GrundyProblem`], or a [`VerifyError`].

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use konane_base::json::{as_text, or_unknown};
use pn_search::ErrorKind;
use pn_search::Value;
use pn_search::run::{Limits, Reason};
use pn_search::sums::game::{Atom, GameFull, Impartial, OptionList};
use serde::Serialize;

use super::game::{Scratch, Sprouts};
use super::grundy_file::GrundyFileError;
use super::position::Position;
use super::spr_file::{SprEntry, SprError};
use konane_base::record_file::RecordFileError;

/// Maximum depth of a search in moves. Bounds the stack.
pub(super) const MAX_DEPTH: u32 = 2000;
/// Estimated memory per number or won couple, in bytes.
const BYTES_PER_RESULT: u64 = 24;
/// Estimated memory per entry of the file and the data about its land, in bytes.
const BYTES_PER_CLAIM: u64 = 200;
/// Maximum number of findings of each kind, wrong and undecided, that a report lists.
pub(super) const MAX_FINDINGS: u64 = 100;

/// Limits of a check.
#[derive(Clone, Copy, Debug)]
pub struct VerifyLimits {
    /// The work limit: maximum number of positions searched for one entry, or for the root.
    pub work: u64,
    /// Maximum memory for positions and results, in bytes.
    pub memory: u64,
    /// Time at which the check ends.
    pub deadline: Option<Instant>,
}

/// Progress of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyProgress {
    /// Entries read so far.
    pub entries: u64,
    /// Entries checked so far; `None` while the file is being read.
    pub checked: Option<u64>,
    /// Positions searched that are not in the file.
    pub searched: u64,
}

/// Reason for which an entry is not established.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrundyProblem {
    /// A move leads to the same number.
    #[error("the number is not {grundy}: the move to {child} has the number {grundy} too")]
    SameAsChild {
        /// The number claimed.
        grundy: u32,
        /// The position after the move.
        child: String,
    },
    /// The land has another number.
    #[error("the number is {found}, not {grundy}: no move has the number {found}")]
    Other {
        /// The number claimed.
        grundy: u32,
        /// The correct number.
        found: u32,
    },
    /// The number is wrong, and a limit was reached before the correct one was found.
    #[error("the number is not {grundy}; a limit was reached before the right one was found")]
    Wrong {
        /// The number claimed.
        grundy: u32,
    },
    /// Two lines about the same land contradict each other.
    #[error("the number is {grundy} here, but {other} in line {line}, which has the same land")]
    Contradiction {
        /// The number claimed.
        grundy: u32,
        /// The number of the other line.
        other: u32,
        /// The other line.
        line: u64,
    },
    /// A position of the misère game has another outcome.
    #[error("the player to move {}", if *found == Value::Win { "wins" } else { "loses" })]
    Outcome {
        /// The correct outcome.
        found: Value,
    },
    /// The work limit was reached: the outcome of a position of the misère game is undecided.
    #[error(
        "the outcome is undecided: the file lacks positions after moves, and the search for them reached its \
         limit after {work} positions"
    )]
    UndecidedOutcome {
        /// Positions that were searched.
        work: u64,
    },
    /// The work limit was reached: the entry is undecided.
    #[error(
        "the number {grundy} is undecided: the file lacks numbers of positions after moves, and the search \
         for them reached its limit after {work} positions"
    )]
    Undecided {
        /// The number claimed.
        grundy: u32,
        /// Positions that were searched.
        work: u64,
    },
}

/// An entry that is not established.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "json-schema", schemars(rename = "ProblemJson"))]
pub struct Finding {
    /// The line of the file; in a file of outcomes, the number of the record.
    pub line: u64,
    /// The land, or the position.
    #[serde(rename = "position")]
    pub land: String,
    /// The contradiction, or the limit that was reached.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub problem: GrundyProblem,
}

/// Result of a check. A limit may have ended the check early.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct VerifyReport {
    /// Entries of the file; null if a limit or a signal ended the check before all were read.
    pub entries: Option<u64>,
    /// Entries that follow from the rules and from other entries.
    pub established: u64,
    /// Entries that contradict the rules or each other.
    pub wrong: u64,
    /// Entries that are neither established nor wrong, because the work limit was reached.
    pub undecided: u64,
    /// True if there are entries, every one is established, and the root, if one is given, is decided;
    /// false if an entry is wrong or there are no entries; null if only a limit or a signal left entries or
    /// the root undecided.
    pub valid: Option<bool>,
    /// The first hundred wrong and the first hundred undecided entries, smallest positions first.
    pub problems: Vec<Finding>,
    /// The limit that left an entry or the root undecided (`node limit` for the work limit), or
    /// `interrupted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The root, if one is given.
    #[serde(flatten)]
    pub root: Option<RootOutcome>,
    /// Couples searched whose land is not in the file.
    pub searched: u64,
}

/// The position whose outcome follows from the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct RootOutcome {
    /// If a root is given: the position.
    pub root: String,
    /// If a root is given: the outcome for the player to move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "konane_base::json::OrUnknown<Value>"))]
    pub outcome: Option<Value>,
}

/// Reason for which a file cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] SprError),
    /// The file of outcomes cannot be read.
    #[error(transparent)]
    Outcomes(#[from] GrundyFileError),
    /// The file does not decide the root.
    #[error(
        "the root {root:?} does not follow from the file: the file lacks numbers for the lands of this \
         position and for the positions after its moves; choose a position of the file"
    )]
    Root {
        /// The root in canonical form.
        root: String,
    },
}

impl VerifyError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            VerifyError::File(error) => error.kind(),
            VerifyError::Outcomes(error) => error.kind(),
            VerifyError::Root { .. } => ErrorKind::Usage,
        }
    }
}

/// Event that ends a search.
pub(super) enum Halt {
    /// The work limit.
    Work,
    /// Another limit or the stop flag: the whole check ends.
    End(Reason),
    Error(VerifyError),
}

impl From<GrundyFileError> for Halt {
    fn from(error: GrundyFileError) -> Self {
        match error {
            GrundyFileError::Full(GameFull) => Halt::End(Reason::Memory),
            error => Halt::Error(error.into()),
        }
    }
}

impl From<RecordFileError> for Halt {
    fn from(error: RecordFileError) -> Self {
        GrundyFileError::from(error).into()
    }
}

impl From<GameFull> for Halt {
    fn from(full: GameFull) -> Self {
        GrundyFileError::from(full).into()
    }
}

/// Number and line of the first entry of each sum of lands.
type ClaimedNumbers = HashMap<Vec<Atom>, (u32, u64)>;

/// Checks every entry, then the root. Calls `on_progress` for every position that is searched.
///
/// Cost: generates the moves of every entry and of every position after these moves, and stores all these
/// positions.
///
/// # Errors
/// If an entry cannot be read, or if the root has no entry and does not follow from entries by one
/// move. The root is examined before anything is searched.
pub fn verify(
    entries: impl Iterator<Item = Result<SprEntry, SprError>>,
    root: Option<&Position>,
    limits: VerifyLimits,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(VerifyProgress),
) -> Result<VerifyReport, VerifyError> {
    let VerifyLimits { work, memory, deadline } = limits;
    let mut verifier = GrundyVerifier {
        game: Sprouts::new(memory),
        scratch: Scratch::default(),
        numbers: HashMap::new(),
        wins: HashSet::new(),
        claimed: HashSet::new(),
        claims: 0,
        checked: None,
        work: 0,
        searched: 0,
        max_work: work,
        memory,
        limits: Limits { deadline, stop: Some(stop), ..Limits::default() },
        on_progress,
    };
    let unknown = |root: &Position| RootOutcome { root: root.to_string(), outcome: None };
    let mut report = VerifyReport { root: root.map(unknown), ..VerifyReport::default() };
    let ended = verifier.run(entries, root, &mut report);
    report.searched = verifier.searched;
    report.finish(ended)
}

impl VerifyReport {
    /// Adds the verdict to the report of a check that has ended.
    ///
    /// # Errors
    /// The error that has ended the check.
    pub(super) fn finish(mut self, ended: Result<(), Halt>) -> Result<Self, VerifyError> {
        self.reason = match ended {
            Ok(()) => (self.undecided > 0).then_some(Reason::NodeLimit),
            Err(Halt::Work) => Some(Reason::NodeLimit),
            Err(Halt::End(reason)) => Some(reason),
            Err(Halt::Error(error)) => return Err(error),
        };
        self.valid = match (self.wrong, self.entries, self.reason) {
            (1.., _, _) | (_, Some(0), _) => Some(false),
            (0, _, Some(_)) => None,
            (0, _, None) => Some(true),
        };
        Ok(self)
    }
}

/// An entry with its lands.
struct Claim {
    lives: u32,
    line: u64,
    /// One land, unless the entry is not written in its simplest form.
    sum: Vec<Atom>,
    grundy: u32,
}

struct GrundyVerifier<'a> {
    game: Sprouts,
    scratch: Scratch,
    /// Established numbers.
    numbers: HashMap<Atom, u32>,
    /// Couples of a land and a heap that are won.
    wins: HashSet<(Atom, u32)>,
    /// Lands with an entry in the file.
    claimed: HashSet<Atom>,
    /// Number of entries read.
    claims: u64,
    /// Number of entries checked; `None` until all are read.
    checked: Option<u64>,
    /// Positions searched for the current entry.
    work: u64,
    /// Positions searched that are not in the file.
    searched: u64,
    max_work: u64,
    memory: u64,
    /// The deadline and the stop flag.
    limits: Limits<'a>,
    on_progress: &'a mut dyn FnMut(VerifyProgress),
}

impl GrundyVerifier<'_> {
    fn run(
        &mut self,
        entries: impl Iterator<Item = Result<SprEntry, SprError>>,
        root: Option<&Position>,
        report: &mut VerifyReport,
    ) -> Result<(), Halt> {
        let (mut claims, mut first_claims) = (Vec::new(), ClaimedNumbers::new());
        for entry in entries {
            self.checkpoint()?;
            let SprEntry { line, position, grundy } =
                entry.map_err(|error| Halt::Error(error.into()))?;
            let sum = self.atoms(&position)?;
            self.claimed.extend(&sum);
            self.claims += 1;
            first_claims.entry(sum.clone()).or_insert((grundy, line));
            let lives = sum.iter().map(|&atom| self.game.features(atom).lives).sum();
            claims.push(Claim { lives, line, sum, grundy });
        }
        report.entries = Some(self.claims);
        if claims.is_empty() {
            return Ok(());
        }
        let root = root.map(|root| self.atoms(root)).transpose()?;
        if let Some(root) = &root
            && !self.follows(root, &first_claims)?
        {
            return Err(Halt::Error(VerifyError::Root { root: self.game.text(root) }));
        }
        claims.sort_by_key(|claim| (claim.lives, claim.line));
        for (claim, done) in claims.iter().zip(0..) {
            self.checked = Some(done);
            self.checkpoint()?;
            let (grundy, (other, line)) = (claim.grundy, first_claims[&claim.sum]);
            let problem = if other != grundy {
                Some(GrundyProblem::Contradiction { grundy, other, line })
            } else {
                self.check(claim)?
            };
            let Some(problem) = problem else {
                report.established += 1;
                continue;
            };
            let count = match problem {
                GrundyProblem::Undecided { .. } => &mut report.undecided,
                _ => &mut report.wrong,
            };
            *count += 1;
            if *count <= MAX_FINDINGS {
                let land = self.game.text(&claim.sum);
                report.problems.push(Finding { line: claim.line, land, problem });
            }
        }
        self.checked = Some(self.claims);
        if let (Some(sum), Some(root)) = (root, &mut report.root) {
            self.work = 0;
            root.outcome = Some(if self.is_lost(&sum, 0, 0)? { Value::Loss } else { Value::Win });
        }
        Ok(())
    }

    /// Returns true if the entries decide a sum, provided that they are correct. This is so if they have the
    /// number of the sum, the number 0 for one of its children, or numbers for all its children.
    fn follows(&mut self, sum: &[Atom], claims: &ClaimedNumbers) -> Result<bool, Halt> {
        if claimed_number(sum, claims).is_some() {
            return Ok(true);
        }
        let mut all = true;
        for mut child in self.children(sum)? {
            child.sort_unstable();
            match claimed_number(&child, claims) {
                Some(0) => return Ok(true),
                number => all &= number.is_some(),
            }
        }
        Ok(all)
    }

    /// Checks the limits and reports progress.
    fn checkpoint(&mut self) -> Result<(), Halt> {
        if let Some(reason) = self.limits.reached() {
            return Err(Halt::End(reason));
        }
        // The factor 2 is for empty slots of the hash tables.
        let facts = 2 * (self.numbers.capacity() + self.wins.capacity()) as u64;
        let bytes = facts * BYTES_PER_RESULT + self.claims * BYTES_PER_CLAIM;
        if self.game.bytes() + bytes > self.memory {
            return Err(Halt::End(Reason::Memory));
        }
        let (entries, checked, searched) = (self.claims, self.checked, self.searched);
        (self.on_progress)(VerifyProgress { entries, checked, searched });
        Ok(())
    }

    /// Returns the children of a sum.
    fn children(&mut self, sum: &[Atom]) -> Result<Vec<Vec<Atom>>, Halt> {
        let limits = self.limits;
        let is_stopped = || limits.reached().is_some();
        let children = self.game.children(sum, &mut self.scratch, &is_stopped);
        children.map_err(|_| self.listing_failure())
    }

    /// Returns the reason for which moves could not be listed.
    fn listing_failure(&mut self) -> Halt {
        self.checkpoint().err().unwrap_or(Halt::End(Reason::Memory))
    }

    fn atoms(&mut self, position: &Position) -> Result<Vec<Atom>, Halt> {
        let sum = self.game.atoms(position, &mut self.scratch);
        sum.map_err(|GameFull| Halt::End(Reason::Memory))
    }

    fn check(&mut self, claim: &Claim) -> Result<Option<GrundyProblem>, Halt> {
        self.work = 0;
        let grundy = claim.grundy;
        match self.is_lost(&claim.sum, grundy, 0) {
            Ok(true) => Ok(None),
            // The entry is wrong, even if a limit is reached before more is known.
            Ok(false) => {
                let problem = self.find_problem(&claim.sum, grundy);
                Ok(Some(problem.unwrap_or(GrundyProblem::Wrong { grundy })))
            }
            Err(Halt::Work) => Ok(Some(GrundyProblem::Undecided { grundy, work: self.work })),
            Err(halt) => Err(halt),
        }
    }

    /// Returns the problem of an entry that is known to be wrong.
    fn find_problem(&mut self, sum: &[Atom], grundy: u32) -> Result<GrundyProblem, Halt> {
        let mut number = 0;
        for &atom in sum {
            // If the number is known, the search has found that the couple with this nimber is lost.
            match self.numbers.get(&atom) {
                Some(&known) => number ^= known,
                None => return self.same_as_child(sum, grundy),
            }
        }
        Ok(GrundyProblem::Other { grundy, found: number })
    }

    fn same_as_child(&mut self, sum: &[Atom], grundy: u32) -> Result<GrundyProblem, Halt> {
        for child in self.children(sum)? {
            if self.is_lost(&child, grundy, 1)? {
                let child = self.game.text(&child);
                return Ok(GrundyProblem::SameAsChild { grundy, child });
            }
        }
        // No child has the claimed number. It was rejected because it is greater than any number that the
        // land can have.
        let mut found = 0;
        for &atom in sum {
            found ^= self.number(atom, 0)?;
        }
        Ok(GrundyProblem::Other { grundy, found })
    }

    /// Replaces lands with established numbers by these numbers, and removes pairs of equal lands.
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

    /// Returns true if a sum of lands and a heap is lost for the player to move.
    fn is_lost(&mut self, sum: &[Atom], nimber: u32, depth: u32) -> Result<bool, Halt> {
        let (mut unknown, mut nimber) = self.reduce(sum, nimber);
        // The numbers of all lands except the largest are computed. Then the outcome of one couple of the
        // largest land decides, which takes less work than the number of this land.
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
        // A Grundy number never exceeds the number of lives.
        if nimber > self.game.features(atom).lives || self.wins.contains(&(atom, nimber)) {
            return Ok(false);
        }
        self.work += 1;
        self.searched += u64::from(!self.claimed.contains(&atom));
        if self.work > self.max_work || depth > MAX_DEPTH {
            return Err(Halt::Work);
        }
        self.checkpoint()?;
        let limits = self.limits;
        let is_stopped = || limits.reached().is_some();
        let mut options = OptionList::with_stop(&is_stopped);
        let listed = self.game.options(atom, &mut self.scratch, &mut options);
        listed.map_err(|GameFull| self.listing_failure())?;
        let is_won = |verifier: &GrundyVerifier<'_>, option: &[Atom]| {
            let (unknown, nimber) = verifier.reduce(option, nimber);
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

/// Returns the number of a sum according to the entries, which may be wrong.
fn claimed_number(sum: &[Atom], claims: &ClaimedNumbers) -> Option<u32> {
    if let Some(&(number, _)) = claims.get(sum) {
        return Some(number);
    }
    let mut number = 0;
    // Equal lands are adjacent, and cancel in pairs.
    for equal in sum.chunk_by(|one, other| one == other).filter(|equal| equal.len() % 2 == 1) {
        number ^= claims.get(&equal[..1])?.0;
    }
    Some(number)
}
