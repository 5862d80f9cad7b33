//! Remedies that the program prints below an error: the `tip:` line.

use std::path::Path;

use super::exit::CliError;
use crate::checkpoint::CheckpointError;
use crate::konane::notation::PositionError;
use crate::konane::{SetupError, SolveError};
use crate::sprouts::TextError;
use crate::sprouts::grundy_db::{self, GrundyDbError};
use crate::sprouts::grundy_file::GrundyFileError;
use crate::sprouts::spr_file::{LineProblem, SprError};
use crate::system::memory_available;
use crate::tablebase::{Database, DatabaseError, PlanError, Resource, VerifyError};

impl CliError {
    /// Returns a change of the command line that avoids this error, if there is one. The texts of the
    /// library do not mention options of the command line.
    pub fn tip(&self) -> Option<String> {
        let tip = match self {
            CliError::Solve(SolveError::TooLittleMemory { .. }) => {
                "write --memory with a unit, such as --memory 1GiB"
            }
            CliError::Solve(
                SolveError::TooMuchMemory { .. }
                | SolveError::Table(_)
                | SolveError::Tree(_)
                | SolveError::Checkpoint(CheckpointError::Tree(_)),
            ) => "choose a smaller --memory",
            CliError::OtherRecord { expected, got, .. } => {
                return Some(format!("write {got} in place of {expected}, or leave it out"));
            }
            CliError::Transposed { board, position, .. } => {
                let position = position.as_ref().map(|text| format!(" --position {text:?}"));
                let position = position.unwrap_or_default();
                return Some(format!("write {board}{position}: ranks and files change places"));
            }
            CliError::Position(PositionError::Setup(
                SetupError::OneEmptyBlackToMove { .. } | SetupError::ImpossibleOpening { .. },
            )) => "--phase jump reads it as a position in the jumping phase",
            CliError::Memory { need, .. } if is_there(*need) => "--memory allows more",
            CliError::SproutsFull(_) | CliError::GrundyFile(GrundyFileError::Full(_)) => {
                "--memory allows more"
            }
            #[cfg(feature = "explore")]
            CliError::Port { .. } => "choose another --port; --port 0 takes a free one",
            CliError::Plan(PlanError::DoesNotFit(misfit)) => {
                let memory =
                    (misfit.resource == Resource::Memory).then_some(misfit.plan.memory_bytes);
                let stones = misfit.fits.map(|stones| format!("--max-stones {stones}"));
                let tips: Vec<String> =
                    memory.and_then(memory_that_is_there).into_iter().chain(stones).collect();
                return (!tips.is_empty()).then(|| tips.join(", or "));
            }
            CliError::Plan(PlanError::Begun { need, .. }) => return memory_that_is_there(*need),
            CliError::Plan(PlanError::ReachableWithMaxStones) => {
                "leave out --max-stones, or choose --scope complete"
            }
            CliError::Plan(PlanError::ReachableTooLarge { .. }) => {
                "choose --scope complete and --max-stones N"
            }
            CliError::Verify(VerifyError::Database(DatabaseError::NoDatabase { path, .. }))
                if let Some(names) = databases_in(path) =>
            {
                return Some(format!("the databases in it: {names}"));
            }
            CliError::Database(DatabaseError::NoDatabase { .. })
            | CliError::Verify(VerifyError::Database(DatabaseError::NoDatabase { .. })) => {
                "`konane builddb` makes databases, and continues builds"
            }
            CliError::Checkpoint(error) | CliError::Solve(SolveError::Checkpoint(error)) => {
                match error {
                    CheckpointError::Missing { .. } => "without --resume a new search begins",
                    CheckpointError::Exists { .. } => "--resume goes on from it",
                    _ => return None,
                }
            }
            CliError::SprFile(SprError::Line {
                path, problem: LineProblem::Header(line), ..
            }) if line.as_bytes() == grundy_db::MAGIC.trim_ascii_end() => {
                let path = path.display();
                return Some(format!(
                    "`konane sprouts db export {path} FILE.spr` writes such a file"
                ));
            }
            CliError::GrundyDb(GrundyDbError::NotADatabase { path })
            | CliError::GrundyFile(GrundyFileError::File(GrundyDbError::NotADatabase { path }))
                if path.extension().is_some_and(|extension| extension == "spr") =>
            {
                let path = path.display();
                return Some(format!(
                    "`konane sprouts db import DATABASE {path}` makes a database of a .spr file"
                ));
            }
            CliError::SproutsText { error: TextError::Heap { .. }, .. } => {
                "`konane sprouts solve` takes one heap beside a position"
            }
            CliError::SproutsText { text, .. } => {
                let spots = text.trim();
                let digits = !spots.is_empty() && spots.bytes().all(|byte| byte.is_ascii_digit());
                return digits.then(|| format!("write 0*{spots} for {spots} spots"));
            }
            _ => return None,
        };
        Some(tip.to_owned())
    }
}

/// Returns false if the system has less memory than `bytes`: a higher `--memory` is no remedy then.
fn is_there(bytes: u64) -> bool {
    memory_available().is_none_or(|have| bytes <= have)
}

/// The option that allows `need` bytes, if the system has them. It rounds up, while the texts of the
/// library round to the nearest.
fn memory_that_is_there(need: u64) -> Option<String> {
    is_there(need).then(|| format!("at least --memory {}MiB", need.div_ceil(1 << 20)))
}

/// Names of the databases in a directory, if there are any.
fn databases_in(path: &Path) -> Option<String> {
    let found = Database::list(path).ok()?;
    let names = found.iter().map(|(directory, _)| directory.display().to_string());
    (!found.is_empty()).then(|| names.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tip_asks_for_memory_that_the_system_does_not_have() {
        let of = |need| CliError::Memory { what: "it".to_owned(), need, have: 1 };
        assert_eq!(of(2).tip().as_deref(), Some("--memory allows more"));
        assert_eq!(of(u64::MAX).tip().is_none(), memory_available().is_some());
    }
}
